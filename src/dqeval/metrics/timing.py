"""ADTQC: how well alarms are timed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dqeval.core import arguments, validate
from dqeval.core.arguments import Check
from dqeval.core.matching import Match, or_undefined
from dqeval.core.prepared import Labelled
from dqeval.core.registry import metric
from dqeval.core.types import Events, FloatArray, Numbers
from dqeval.core.validate import Undefined, UndefinedError
from dqeval.render.tables import count_of
from dqeval.support.frames import Framed

_CHECKS: dict[str, Check] = {"exponent": arguments.weight}


@dataclass(frozen=True, slots=True, eq=False)
class TimingParts(Framed):
    """The timing of the alarms of each event.

    ``to_frame()`` has a row per event: the quality and the latency, NaN for missed ones.

    Attributes
    ----------
    value : float
        The mean quality of the detected events: the metric. NaN if none is detected.
    qualities : array of float, shape (n_events,)
        From 0 to 1, 1 for an alarm that begins with the event; NaN for missed ones.
    latencies : array of float, shape (n_events,)
        From the start of an event to that of the first alarm that touches it, in points; negative if the alarm began
        before the event, NaN for missed ones.
    """

    value: float
    qualities: FloatArray
    latencies: FloatArray

    @property
    def after_rate(self) -> float:
        """The share of the detected events whose alarm does not begin before them."""
        detected = self.latencies[~np.isnan(self.latencies)]
        return float((detected >= 0).mean()) if len(detected) else math.nan

    @property
    def recall(self) -> float:
        """The share of events that are detected; times ``value``, it is the mean quality with 0 for missed events."""
        return float((~np.isnan(self.latencies)).mean()) if len(self.latencies) else math.nan

    @property
    def precision(self) -> float:
        """NaN: timing has no precision."""
        return math.nan

    def _columns(self) -> dict[str, Any]:
        return {"quality": self.qualities, "latency": self.latencies}

    def __str__(self) -> str:
        detected = np.count_nonzero(~np.isnan(self.latencies))
        early = np.count_nonzero(self.latencies < 0)
        events = f"{detected:,} of {count_of(len(self.latencies), 'event')} detected"
        return f"{self.value:.3f} ({events}, {early:,} of them early)"


def _adtqc(match: Match, exponent: float) -> TimingParts:
    events = match.labelled.events
    if not match.covered.any():
        raise UndefinedError("no event is detected, and there is nothing to time")
    latencies = np.full(len(events), np.nan)
    labelled, detected, _ = match.pairs
    event, first = np.unique(labelled, return_index=True)  # in time order, so the first of each is the earliest
    latencies[event] = match.found.starts[detected[first]] - events.starts[event]
    qualities = _qualities(latencies, events, exponent)
    return TimingParts(float(np.nanmean(qualities)), qualities, latencies)


def _qualities(latencies: FloatArray, events: Events, exponent: float) -> FloatArray:
    """Return what each latency is worth: from 1 at the start of the event down to 0, before it and at its last point.

    An alarm may be early by the length of the event, but not before the start of the event before.
    """
    latest = (events.stops - events.starts - 1).astype(np.float64)
    earliest = latest.copy()
    earliest[1:] = np.minimum(latest[1:], np.diff(events.starts))
    qualities = np.where(np.isnan(latencies), np.nan, 0.0)
    early = (-earliest < latencies) & (latencies <= 0)
    qualities[early] = (1 + latencies[early] / earliest[early]) ** exponent
    late = (latencies > 0) & (latencies < latest)
    with np.errstate(over="ignore"):  # infinitely late is worth nothing
        qualities[late] = 1 / (1 + (latencies[late] / (latest[late] - latencies[late])) ** exponent)
    qualities[latencies == 0] = 1.0  # also of events of a single point
    return qualities


@metric(
    label="ADTQC",
    takes="detections",
    compute=_adtqc,
    checks=_CHECKS,
    threshold_of="event_corrected_f05",
    by_default=False,
    citation="Kotowski et al. 2024",
    same_as="telemeval adtqc; ESA-ADB ADTQC with labels from the first to the last point of an event",
    cost=0.06,
)
def adtqc(y_true: Numbers, y_pred: Numbers, *, exponent: float = math.e, undefined: Undefined = "raise") -> float:
    """ADTQC, the timing quality of ESA-ADB: how close to the start of detected events their first alarms begin.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    exponent : float, default e
        How steeply the quality falls.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly, or none is detected.

    Returns
    -------
    float
        From 0 to 1. Missed events do not count: read it with the share of events detected.

    Examples
    --------
    An alarm that begins with the event, and one half-way through it:

    >>> y_true = [0, 1, 1, 1, 1, 1, 0]
    >>> [dqeval.metrics.adtqc(y_true, y_pred) for y_pred in ([0, 1, 0, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0, 0])]
    [1.0, 0.5]
    """
    return adtqc_parts(y_true, y_pred, exponent=exponent, undefined=undefined).value


def adtqc_parts(
    y_true: Numbers, y_pred: Numbers, *, exponent: float = math.e, undefined: Undefined = "raise"
) -> TimingParts:
    """Quality and latency of each event, and how many alarms come after the start, with `adtqc`.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    exponent : float, default e
        How steeply the quality falls.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly, or none is detected.

    Returns
    -------
    TimingParts
        ``value``, the metric; ``qualities`` and ``latencies`` of the events, NaN for missed ones; ``after_rate``, the
        share of the detected events whose alarm does not begin before them; ``recall``, the share of events detected.

    Examples
    --------
    >>> parts = dqeval.metrics.adtqc_parts([0, 1, 1, 1, 1, 1, 0, 0, 1], [0, 0, 0, 1, 0, 0, 0, 0, 0])
    >>> parts.qualities.tolist(), parts.latencies.tolist(), parts.after_rate
    ([0.5, nan], [2.0, nan], 1.0)
    """
    checked = arguments.checked(_CHECKS, exponent=exponent)
    labels, detections = validate.labels_and_detections(y_true, y_pred)
    match = Match(Labelled(labels), detections)
    missed = np.full(len(match.labelled.events), np.nan)
    unknown = TimingParts(math.nan, missed, missed)
    if not validate.check_defined(match.labelled.events, undefined):
        return unknown
    return or_undefined(unknown, partial(_adtqc, match, **checked), undefined)
