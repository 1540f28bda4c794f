"""Metrics that count whole events: composite F1, and event-wise F, plain and corrected for false alarms."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dqeval.core import arguments
from dqeval.core.arguments import Check
from dqeval.core.joined import at_best
from dqeval.core.matching import Match, harmonic, parts_of, parts_or
from dqeval.core.registry import metric
from dqeval.core.sweep import Sweep, ratio
from dqeval.core.types import FloatArray, Numbers, PrecisionRecall
from dqeval.core.validate import Undefined
from dqeval.metrics.alarm_curve import alarm_counts

_CHECKS: dict[str, Check] = {"beta": arguments.weight}


@dataclass(frozen=True, slots=True)
class EventParts(PrecisionRecall):
    """Event-wise precision and recall, and their F.

    Attributes
    ----------
    f1, precision, recall : float
        As for other metrics: F1 is the harmonic mean of the other two.
    beta : float
        How much recall counts beside precision in ``value``, the metric.
    """

    beta: float

    @property
    def value(self) -> float:
        """The F of these parts for ``beta``."""
        return self.f_beta(self.beta)


@dataclass(frozen=True, slots=True)
class CorrectedEventParts(EventParts):
    """The parts of the corrected event-wise F.

    Attributes
    ----------
    f1, precision, recall : float
        The precision is corrected: it is the plain one times ``true_negative_rate``.
    beta : float
        How much recall counts beside precision in ``value``, the metric.
    true_negative_rate : float
        The share of the normal points that are not detected; 1 where there is none.
    alarming_precision : float
        The detected events, as a share of them and of all alarms beyond the first in each; NaN if none is detected.
    """

    true_negative_rate: float
    alarming_precision: float


def _composite(match: Match) -> PrecisionRecall:
    hits, detected = match.covered.sum(), match.found_lengths.sum()
    return harmonic(hits / detected if detected else 0.0, _event_recall(match))


def _composite_sweep(sweep: Sweep) -> tuple[FloatArray, FloatArray]:
    events = sweep.down(sweep.counted(sweep.highest_in_events))
    return ratio(sweep.hits, sweep.detected), events / sweep.event_count


def _event_recall(match: Match) -> float:
    return float((match.covered > 0).mean())


def _event(match: Match, beta: float) -> EventParts:
    hits, false_alarms = np.count_nonzero(match.covered), np.count_nonzero(match.found_covered == 0)
    precision, recall = float(hits / (hits + false_alarms)) if hits else 0.0, _event_recall(match)
    return EventParts(harmonic(precision, recall).f1, precision, recall, beta)


def _event_sweep(sweep: Sweep, beta: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    precision, recall = _event_curves(sweep)
    return precision, recall, _f_beta(precision, recall, beta)


def _event_curves(sweep: Sweep) -> tuple[FloatArray, FloatArray]:
    events = sweep.labelled.events
    detected, false_alarms = sweep.once("alarms", lambda: alarm_counts(sweep, events))
    return ratio(detected, detected + false_alarms), detected / sweep.event_count


def _f_beta(precision: FloatArray, recall: FloatArray, beta: float) -> FloatArray:
    return ratio((1 + beta**2) * precision * recall, beta**2 * precision + recall)


def _event_corrected(match: Match, beta: float) -> CorrectedEventParts:
    plain = _event(match, beta)
    false_points = match.found_lengths.sum() - match.covered.sum()
    normal = len(match.flags) - match.labelled.lengths.sum()
    specificity = float(1 - false_points / normal) if normal else 1.0
    precision = plain.precision * specificity
    f1 = harmonic(precision, plain.recall).f1
    return CorrectedEventParts(f1, precision, plain.recall, beta, specificity, _alarming_precision(match))


def _alarming_precision(match: Match) -> float:
    """Return how many of the alarms in events are needed: one for each event that is detected."""
    labelled, _, _ = match.pairs
    hits = np.count_nonzero(match.covered)
    return float(hits / len(labelled)) if hits else math.nan


def _event_corrected_sweep(sweep: Sweep, beta: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    precision, recall = _event_curves(sweep)
    normal = sweep.points - sweep.labelled_points
    precision = precision * (1 - ratio(sweep.detected - sweep.hits, normal))
    return precision, recall, _f_beta(precision, recall, beta)


@metric(
    label="Composite-F1",
    takes="detections",
    compute=_composite,
    at_every_level=_composite_sweep,
    joined=at_best(_composite_sweep),
    by_default=False,
    citation="Garg et al. 2021",
    same_as="TSB-AD Event-based-F1 and Garg's fc_score, but for an event at the last index, which is whole here",
    cost=0.04,
)
def composite_f1(y_true: Numbers, y_pred: Numbers, *, undefined: Undefined = "raise") -> float:
    """F1 of the precision of points and the recall of events, called Event-based-F1 by TSB-AD.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly.

    Returns
    -------
    float
        From 0 to 1; 0 without a detection.

    Examples
    --------
    One of two events is hit, and one of two detected points is labelled:

    >>> dqeval.metrics.composite_f1([0, 1, 1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 0, 0, 0, 1])
    0.5
    """
    return composite_parts(y_true, y_pred, undefined=undefined).f1


def composite_parts(y_true: Numbers, y_pred: Numbers, *, undefined: Undefined = "raise") -> PrecisionRecall:
    """Precision of points and recall of events, with `composite_f1`.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly.

    Returns
    -------
    PrecisionRecall
        ``precision``, ``recall``, and ``f1``, their harmonic mean; all from 0 to 1.

    Examples
    --------
    >>> parts = dqeval.metrics.composite_parts([0, 1, 1, 0, 0, 1, 0, 0], [0, 1, 0, 1, 0, 1, 0, 1])
    >>> parts.precision, parts.recall
    (0.5, 1.0)
    """
    return parts_of(_composite, y_true, y_pred, undefined)


@metric(
    label="Event-F1",
    takes="detections",
    compute=_event,
    at_every_level=_event_sweep,
    joined=at_best(_event_sweep),
    checks=_CHECKS,
    by_default=False,
    citation="Hundman et al. 2018",
    same_as="the code of the DQE paper (segment-wise) and tsadmetrics SegmentwiseFScore; not dtaianomaly EventWise",
    cost=0.05,
)
def event_f1(y_true: Numbers, y_pred: Numbers, *, beta: float = 1.0, undefined: Undefined = "raise") -> float:
    """F1 of events: those detected against those missed, and against alarms that touch no event.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    beta : float, default 1
        How much recall counts beside precision: 1 for as much, 0.5 for half as much. The name of the function is that
        of its default: with ``beta=2``, the value is an F2.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly.

    Returns
    -------
    float
        From 0 to 1; 0 without a detection. One alarm over the whole series gets 1: `event_corrected_f05` does not.

    Examples
    --------
    One of two events is detected, and there is one false alarm:

    >>> dqeval.metrics.event_f1([0, 1, 1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 0, 0, 0, 1])
    0.5
    """
    return event_parts(y_true, y_pred, beta=beta, undefined=undefined).value


def event_parts(y_true: Numbers, y_pred: Numbers, *, beta: float = 1.0, undefined: Undefined = "raise") -> EventParts:
    """Precision and recall of events, with `event_f1`.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    beta : float, default 1
        How much recall counts beside precision: 1 for as much, 0.5 for half as much.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly.

    Returns
    -------
    EventParts
        ``precision``, ``recall``, their harmonic mean ``f1``, and ``value``, the metric for ``beta``.

    Examples
    --------
    >>> parts = dqeval.metrics.event_parts([0, 1, 1, 0, 0, 1, 0, 0], [1, 0, 1, 0, 1, 0, 0, 1])
    >>> round(parts.precision, 3), parts.recall
    (0.25, 0.5)
    """
    checked = arguments.checked(_CHECKS, beta=beta)
    unknown = EventParts(math.nan, math.nan, math.nan, **checked)
    return parts_or(unknown, _event, y_true, y_pred, undefined, **checked)


@metric(
    label="Event-F0.5-corrected",
    takes="detections",
    compute=_event_corrected,
    at_every_level=_event_corrected_sweep,
    joined=at_best(_event_corrected_sweep),
    checks=_CHECKS,
    by_default=False,
    citation="Sehili and Zhang 2023",
    same_as="dtaianomaly EventWiseFBeta(beta=0.5); ESA-ADB ESAScores if labels end where the next point starts",
    cost=0.05,
)
def event_corrected_f05(
    y_true: Numbers, y_pred: Numbers, *, beta: float = 0.5, undefined: Undefined = "raise"
) -> float:
    """F0.5 of events, in which precision falls with the share of normal points in alarm: the metric of ESA-ADB.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    beta : float, default 0.5
        How much recall counts beside precision: 1 for as much, 0.5 for half as much. The name of the function is that
        of its default: with ``beta=2``, the value is an F2.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly.

    Returns
    -------
    float
        From 0 to 1; 0 without a detection, and for an alarm over the whole series.

    Examples
    --------
    One of two events is detected, there is one false alarm, and one of five normal points is in alarm:

    >>> round(dqeval.metrics.event_corrected_f05([0, 1, 1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 0, 0, 0, 1]), 3)
    0.417
    """
    return event_corrected_parts(y_true, y_pred, beta=beta, undefined=undefined).value


def event_corrected_parts(
    y_true: Numbers, y_pred: Numbers, *, beta: float = 0.5, undefined: Undefined = "raise"
) -> CorrectedEventParts:
    """Corrected precision, recall, true negative rate and alarming precision, with `event_corrected_f05`.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    beta : float, default 0.5
        How much recall counts beside precision: 1 for as much, 0.5 for half as much.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly.

    Returns
    -------
    CorrectedEventParts
        ``precision``, ``recall``, ``true_negative_rate``, ``alarming_precision``, which is NaN if no event is detected,
        ``f1``, and ``value``, the metric for ``beta``.

    Examples
    --------
    >>> parts = dqeval.metrics.event_corrected_parts([0, 1, 1, 1, 0, 1, 0, 0], [0, 1, 0, 1, 0, 0, 0, 1])
    >>> round(parts.precision, 3), parts.recall, parts.true_negative_rate, parts.alarming_precision
    (0.375, 0.5, 0.75, 0.5)
    """
    checked = arguments.checked(_CHECKS, beta=beta)
    unknown = CorrectedEventParts(
        math.nan, math.nan, math.nan, **checked, true_negative_rate=math.nan, alarming_precision=math.nan
    )
    return parts_or(unknown, _event_corrected, y_true, y_pred, undefined, **checked)
