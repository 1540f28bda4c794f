"""Point adjustment with a limit on the delay: k-delay F1, and revised point-adjusted F1."""

from __future__ import annotations

from functools import partial

import numpy as np

from dqeval.core import arguments
from dqeval.core.arguments import Check
from dqeval.core.events import flags_of
from dqeval.core.joined import at_best
from dqeval.core.matching import Match, harmonic, highest_in_events, overlaps, parts_of
from dqeval.core.prepared import Labelled
from dqeval.core.registry import metric
from dqeval.core.sweep import Sweep, ratio
from dqeval.core.types import BoolArray, Events, FloatArray, Numbers, PrecisionRecall
from dqeval.core.validate import Undefined
from dqeval.metrics.alarms_at_threshold import zones_of

_WHOLE = partial(arguments.whole_number, least=0)
_REVISED_CHECKS: dict[str, Check] = {"early": _WHOLE, "delay": arguments.or_none(_WHOLE)}
_DELAY_CHECKS: dict[str, Check] = {"k": _WHOLE}


def _zones(labelled: Labelled, early: int, delay: int | None) -> Events:
    """Return where a detection counts for each event."""
    make = partial(zones_of, labelled.events, early, delay, labelled.breaks)
    return labelled.once(("zones", early, delay), make)


def _hit(match: Match, zones: Events) -> tuple[BoolArray, int]:
    """Return which zones hold a detected point, and how many detected points lie in zones."""
    zone, _, points = overlaps(zones, match.found)
    return np.bincount(zone, minlength=len(zones)) > 0, int(points.sum())


def _revised(match: Match, early: int, delay: int | None) -> PrecisionRecall:
    hit, inside = _hit(match, _zones(match.labelled, early, delay))
    hits, false_points = np.count_nonzero(hit), match.found_lengths.sum() - inside
    return harmonic(hits / (hits + false_points) if hits else 0.0, hits / len(hit))


def _revised_sweep(sweep: Sweep, early: int, delay: int | None) -> tuple[FloatArray, FloatArray]:
    zones = _zones(sweep.labelled, early, delay)
    hits = sweep.down(sweep.counted(highest_in_events(sweep.levels, zones)))
    false_points = sweep.down(sweep.counted(sweep.levels[~flags_of(zones)]))
    return ratio(hits, hits + false_points), hits / sweep.event_count


def _delay_adjusted(match: Match, k: int) -> PrecisionRecall:
    hit, _ = _hit(match, _zones(match.labelled, 0, k))
    lengths = match.labelled.lengths
    hits, false_points = lengths[hit].sum(), match.found_lengths.sum() - match.covered.sum()
    return harmonic(hits / (hits + false_points) if hits else 0.0, hits / lengths.sum())


def _delay_adjusted_sweep(sweep: Sweep, k: int) -> tuple[FloatArray, FloatArray]:
    lengths = sweep.labelled.lengths
    in_time = highest_in_events(sweep.levels, _zones(sweep.labelled, 0, k))
    hits = sweep.down(sweep.counted(in_time, lengths))
    # Of an event that is detected too late nothing is left, so that there may be nothing at all.
    return ratio(hits, hits + sweep.detected - sweep.hits), hits / sweep.labelled_points


@metric(
    label="RPA-F1",
    takes="detections",
    compute=_revised,
    at_every_level=_revised_sweep,
    joined=at_best(_revised_sweep),
    checks=_REVISED_CHECKS,
    by_default=False,
    citation="Bhatnagar et al. 2021",
    same_as="Merlion TSADMetric.F1; with limits (max_delay_sec is delay + 1) it differs at the end and in short gaps",
    cost=0.04,
)
def revised_point_adjusted_f1(
    y_true: Numbers, y_pred: Numbers, *, early: int = 0, delay: int | None = None, undefined: Undefined = "raise"
) -> float:
    """Revised point-adjusted F1 of Merlion: each event counts once, and each detected point outside events once.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    early : int, default 0
        How many points before an event, but behind the one before it, a detection counts for it already.
    delay : int, optional
        How many points after the start of an event a detection still counts; if not given, up to its end. What is
        detected later is false.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly.

    Returns
    -------
    float
        From 0 to 1; 0 without a detection.

    Examples
    --------
    Both events are detected, and two detected points lie outside:

    >>> round(dqeval.metrics.revised_point_adjusted_f1([0, 1, 1, 0, 0, 1, 0, 0], [0, 1, 1, 1, 0, 1, 0, 1]), 3)
    0.667
    """
    return revised_point_adjusted_parts(y_true, y_pred, early=early, delay=delay, undefined=undefined).f1


def revised_point_adjusted_parts(
    y_true: Numbers, y_pred: Numbers, *, early: int = 0, delay: int | None = None, undefined: Undefined = "raise"
) -> PrecisionRecall:
    """Precision and recall of revised point adjustment, with `revised_point_adjusted_f1`.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    early : int, default 0
        How many points before an event, but behind the one before it, a detection counts for it already.
    delay : int, optional
        How many points after the start of an event a detection still counts; if not given, up to its end. What is
        detected later is false.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly.

    Returns
    -------
    PrecisionRecall
        ``precision``, ``recall``, and ``f1``, their harmonic mean; all from 0 to 1.

    Examples
    --------
    >>> parts = dqeval.metrics.revised_point_adjusted_parts([0, 1, 1, 0, 0, 1, 0, 0], [0, 1, 1, 1, 0, 1, 0, 1])
    >>> parts.precision, parts.recall
    (0.5, 1.0)
    """
    checked = arguments.checked(_REVISED_CHECKS, early=early, delay=delay)
    return parts_of(_revised, y_true, y_pred, undefined, **checked)


@metric(
    label="k-delay-F1",
    takes="detections",
    compute=_delay_adjusted,
    at_every_level=_delay_adjusted_sweep,
    joined=at_best(_delay_adjusted_sweep),
    checks=_DELAY_CHECKS,
    by_default=False,
    citation="Ren et al. 2019",
    same_as="the evaluation script of the AIOps challenge 2018 (iops); in EasyTSAD and tsadmetrics, give k + 1",
    cost=0.04,
)
def delay_point_adjusted_f1(y_true: Numbers, y_pred: Numbers, *, k: int = 7, undefined: Undefined = "raise") -> float:
    """Point-adjusted F1 with a limit on the delay: an event that is not detected within k points is missed.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    k : int, default 7
        The largest delay, in points after the start of an event, with which it still is detected.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly.

    Returns
    -------
    float
        From 0 to 1; 0 without a detection.

    Examples
    --------
    An event that is detected two points after its start:

    >>> y_true, y_pred = [0, 1, 1, 1, 1, 0], [0, 0, 0, 1, 0, 0]
    >>> [dqeval.metrics.delay_point_adjusted_f1(y_true, y_pred, k=k) for k in (2, 1)]
    [1.0, 0.0]
    """
    return delay_point_adjusted_parts(y_true, y_pred, k=k, undefined=undefined).f1


def delay_point_adjusted_parts(
    y_true: Numbers, y_pred: Numbers, *, k: int = 7, undefined: Undefined = "raise"
) -> PrecisionRecall:
    """Precision and recall of point adjustment with a limit on the delay, with `delay_point_adjusted_f1`.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    k : int, default 7
        The largest delay, in points after the start of an event, with which it still is detected.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly.

    Returns
    -------
    PrecisionRecall
        ``precision``, ``recall``, and ``f1``, their harmonic mean; all from 0 to 1.

    Examples
    --------
    >>> parts = dqeval.metrics.delay_point_adjusted_parts([0, 1, 1, 1, 1, 0], [0, 0, 0, 1, 0, 1], k=2)
    >>> parts.precision, parts.recall
    (0.8, 1.0)
    """
    return parts_of(_delay_adjusted, y_true, y_pred, undefined, **arguments.checked(_DELAY_CHECKS, k=k))
