"""DQE, the detection quality evaluation: the metric as a number, and the computation behind every form of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dqeval.core import levels as levelling
from dqeval.core import validate
from dqeval.core.durations import Length
from dqeval.core.entries import FromNear
from dqeval.core.event_scores import EventColumns
from dqeval.core.events import flags_of
from dqeval.core.joined import Joined
from dqeval.core.levels import Levels
from dqeval.core.prepared import Labelled, Points, Scored, points_of
from dqeval.core.registry import metric
from dqeval.core.sampling import NO_CLOCK, Clock
from dqeval.core.scaling import Linear, LinearParts, Scale, linear, scaled
from dqeval.core.sorting import ascending, group_ends
from dqeval.core.types import Curve, DQEResult, Events, FloatArray, Numbers, Partition, Scores
from dqeval.core.validate import Undefined
from dqeval.kernels import dqe as plain_kernel
from dqeval.kernels._widest import widest

kernel = widest(plain_kernel)
_LOGS = np.array([math.log2(number) for number in range(1, 1 << 11)])


def _dqe(scored: Scored, near: float, thresholds: int | Literal["exact"]) -> DQEResult:
    return result_of(levels_of(scored.counting, scored.labelled.regions(near), thresholds), thresholds)


def _dqe_joined(joined: Joined, near: Sequence[float], thresholds: int | Literal["exact"]) -> list[DQEResult]:
    if thresholds == "exact":  # each region is sorted by itself
        return [_dqe(scored, own, thresholds) for scored, own in zip(joined.members, near, strict=True)]
    labelled = joined.labelled
    levels = levels_of(joined.counting, labelled.regions(0.0), thresholds)
    local = local_scores(levels, np.repeat(near, labelled.counts))
    # Copies, as each may outlive the others.
    points = [own.copy() for own in np.split(levels.of_point, labelled.borders[1:-1])]
    scores = [own.copy() for own in labelled.of_series(local)]
    parts = zip(labelled.members, near, scores, points, strict=True)
    return [
        result_with(
            own, member.events, distance, thresholds, partial(_curve_of, member, distance, of_point, thresholds)
        )
        for member, distance, own, of_point in parts
    ]


def _curve_of(labelled: Labelled, near: float, of_point: NDArray[np.intc], thresholds: int) -> Curve:
    return curve(levelling.levels_of_points(of_point, labelled.regions(near), thresholds))


@metric(
    name="dqe",
    label="DQE",
    takes="scores",
    compute=_dqe,
    joined=_dqe_joined,
    checks={"thresholds": lambda _, given: validate.thresholds(given)},
    from_near={"near": FromNear(float, float, "half the period (for detections, near)")},
    citation="Li et al.",
    same_as="the definition of the paper; docs/metrics/dqe.md says where the authors' code differs",
    cost=0.03,
)
def dqe_score(
    y_true: Numbers,
    y_score: Numbers,
    *,
    near: Length | None = None,
    period: Length | None = None,
    values: Numbers | None = None,
    times: Any = None,
    resolution: Length | None = None,
    max_gap: Length | None = None,
    thresholds: int | Literal["exact"] = 100,
    scale: Scale | bool = "min-max",
    undefined: Undefined = "raise",
) -> float:
    """Score the quality of detection: capture, near misses and false alarms around each event, over all thresholds.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly. A run of ones is an event.
    y_score : array-like of numbers, shape (n,)
        The detector's scores: the larger, the more anomalous.
    near : float, str or timedelta, optional
        How many points before and after an event a detection still is a near miss; 0 for none, "2ev" for twice the
        median length of an event, or with ``times`` a duration such as "10min".
    period : float, str or timedelta, optional
        The period of the series, in points or as a duration; ``near`` is then half of it.
    values : array-like of numbers, shape (n,), optional
        The values of the series, to estimate the period from with `find_period`, which fills missing ones (NaN). Give
        at most one of ``near``, ``period`` and ``values``; with none of them, ``near`` is 125, or
        with times the median length of an event.
    times : array-like, shape (n,), optional
        When each point is, in ascending order: dates of any kind, or numbers. Then time is counted in cells: a cell has
        the highest score of the samples in it, and the result knows when events were.
        Pandas columns with an index of dates need none: durations, ``resolution`` and ``max_gap`` use the index.
    resolution : str, timedelta or number, optional
        The length of a cell, such as "1min", or in seconds; the median step of the times by default. DQE depends on it.
    max_gap : int, str or timedelta, default 3
        Over how many cells without a sample, or how long, the one before stands for them. What is missing longer was
        not observed: no region crosses it, and nothing in it is scored.
    thresholds : int or "exact", default 100
        The number M of thresholds 1, 1 - 1/M, ..., 1/M to average over, or "exact" for the integral over all of them.
    scale : "min-max", "log-rank" or "none", default "min-max"
        How scores become thresholds from 0 to 1: by their minimum and maximum; by how many points score as much, see
        `dqeval.metrics.dqe_log_rank`; or not at all, and they must lie there already. True and False stand for
        "min-max" and "none".
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly: raise `UndefinedError`, or return NaN with a warning.

    Returns
    -------
    float
        Between 0 (worst) and 1 (best). `evaluate` gives its parts too.

    Examples
    --------
    >>> dqeval.dqe_score([0, 0, 1, 1, 0, 0], [0, 0, 0, 9, 0, 0], near=2)
    1.0
    """
    count = validate.thresholds(thresholds)
    points = points_with_scores(
        y_true,
        y_score,
        scale=scale,
        undefined=undefined,
        near=near,
        period=period,
        values=values,
        clock=Clock(times, resolution, max_gap),
    )
    if count == "exact" or validate.scale_name(scale) == "log-rank":
        return mean_dqe(scaled_levels(points, scale, count))
    return _mean_dqe_by_part(_counting(points, scale), points.regions, count)


def dqe_at(scored: Scored, near: float) -> float:
    """Return DQE with a near range, of what is checked already."""
    return _mean_dqe_by_part(scored.counting, scored.labelled.regions(near), 100)


def _dqe_log_rank(scored: Scored, near: float) -> float:
    return mean_dqe(levelling.log_rank_levels(scored, scored.labelled.regions(near)))


def _dqe_log_rank_joined(joined: Joined, near: Sequence[float]) -> list[float]:
    labelled = joined.labelled
    of_events, series = np.repeat(near, labelled.counts), np.repeat(np.arange(len(near)), labelled.counts)
    levels = levelling.log_rank_levels_of_each(
        *joined.in_order, labelled.borders, labelled.regions(0.0), of_events, series
    )
    local = local_scores(levels, of_events, dqe_only=True)
    return [mean_scores(own).dqe for own in labelled.of_series(local)]


@metric(
    label="DQE-LR",
    takes="scores",
    compute=_dqe_log_rank,
    joined=_dqe_log_rank_joined,
    from_near={"near": FromNear(float, float, "half the period (for detections, near)")},
    citation="dqeval",
    same_as="no public package",
    cost=0.13,
)
def dqe_log_rank(
    y_true: Numbers,
    y_score: Numbers,
    *,
    near: Length | None = None,
    period: Length | None = None,
    values: Numbers | None = None,
    undefined: Undefined = "raise",
) -> float:
    """DQE over thresholds that are even in the logarithm of the share of points detected.

    It depends only on the order of the scores: any strictly increasing function of them gives the same number.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly. A run of ones is an event.
    y_score : array-like of numbers, shape (n,)
        The detector's scores: the larger, the more anomalous.
    near : float or str, optional
        How many points before and after an event a detection still is a near miss; 0 for none, "2ev" for twice the
        median length of an event.
    period : float, optional
        The period of the series; ``near`` is then half of it.
    values : array-like of numbers, shape (n,), optional
        The values of the series, to estimate the period from with `dqeval.find_period`, which fills missing ones (NaN).
        Give at most one of ``near``, ``period`` and ``values``; with none of them, ``near`` is 125.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly: raise `dqeval.UndefinedError`, or return NaN with a warning.

    Returns
    -------
    float
        Between 0 (worst) and 1 (best).

    Notes
    -----
    The share of points that are detected runs from that of the highest score to all points; the integral over its
    logarithm is exact. Points of equal scores are detected together. With two distinct scores, such as 0 and 1, there
    is one threshold, and the number is that of `dqeval.sdqe_score`.

    Examples
    --------
    >>> labels, scores = [0, 0, 1, 1, 0, 0], np.array([1, 2, 3, 9, 4, 1])
    >>> round(dqeval.metrics.dqe_log_rank(labels, scores, near=2), 3)
    0.916
    >>> round(dqeval.metrics.dqe_log_rank(labels, np.exp(scores), near=2), 3)
    0.916
    """
    labels, raw = validate.labels_and_raw_scores(y_true, y_score)
    points = points_of(y_true, labels, raw, near=near, period=period, values=values, clock=NO_CLOCK, y_score=y_score)
    validate.check_defined(points.labelled.events, undefined)
    return _dqe_log_rank(Scored(points.labelled, points.found), points.near.points)


def sdqe_score(
    y_true: Numbers,
    y_pred: Numbers,
    *,
    near: Length | None = None,
    period: Length | None = None,
    values: Numbers | None = None,
    undefined: Undefined = "raise",
) -> float:
    """Return SDQE: DQE of plain detections, that is at a single threshold.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly. A run of ones is an event.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    near : float or str, optional
        How many points before and after an event a detection still is a near miss; 0 for none, "2ev" for twice the
        median length of an event.
    period : float, optional
        The period of the series; ``near`` is then half of it.
    values : array-like of numbers, shape (n,), optional
        The values of the series, to estimate the period from with `find_period`, which fills missing ones (NaN). Give
        at most one of ``near``, ``period`` and ``values``; with none of them, ``near`` is 125.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly: raise `UndefinedError`, or return NaN with a warning.

    Returns
    -------
    float
        Between 0 (worst) and 1 (best). `evaluate_detections` gives its parts too.

    Examples
    --------
    A near miss, one point behind the event; by hand: the square root of (0 + (1 - 0/2)(1 - 0.5/2)(1 - 1/4)) / 2.

    >>> dqeval.sdqe_score([0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 1, 0], near=2)
    0.5303300858899106
    """
    points = points_with_detections(
        y_true, y_pred, undefined=undefined, near=near, period=period, values=values, clock=NO_CLOCK
    )
    return mean_dqe(levelling.detection_levels(points.found, points.regions))


def points_with_scores(
    y_true: Numbers, y_score: Numbers, *, scale: Scale | bool, undefined: Undefined, **options: Any
) -> Points:
    """Validate labels and scores, and return them; the options are those of `points_of`."""
    validate.scaling(scale)
    labels, raw = validate.labels_and_raw_scores(y_true, y_score)
    points = points_of(y_true, labels, raw, y_score=y_score, **options)
    validate.check_defined(points.labelled.events, undefined)
    return points


def points_with_detections(y_true: Numbers, y_pred: Numbers, *, undefined: Undefined, **options: Any) -> Points:
    """Validate labels and detections, and return them; the options are those of `points_of`."""
    labels, detections = validate.labels_and_detections(y_true, y_pred)
    points = points_of(y_true, labels, detections, y_score=y_pred, **options)
    validate.check_defined(points.labelled.events, undefined)
    return points


def result_of(levels: Levels, thresholds: int | Literal["exact"]) -> DQEResult:
    """Return the result of a sweep over the levels of each event's region."""
    regions, local = levels.partition, local_scores(levels)
    return result_with(local, regions.events, regions.near, thresholds, partial(curve, levels))


def result_with(
    local: FloatArray,
    events: Events,
    near: float,
    thresholds: int | Literal["exact"],
    make_curve: Callable[[], Curve],
) -> DQEResult:
    """Return the result that goes with the scores of each event."""
    means = mean_scores(local)
    return DQEResult(
        dqe=means.dqe,
        capture=means.capture,
        near_miss=means.near_miss,
        false_alarm=means.false_alarm,
        near=near,
        thresholds=thresholds,
        per_event=EventColumns(events.starts, events.stops, local),
        make_curve=make_curve,
    )


def local_scores(levels: Levels, near: FloatArray | None = None, *, dqe_only: bool = False) -> FloatArray:
    """Return DQE, capture, near miss and false alarm as columns, a row per event; each may have its near range.

    If only DQE is wanted, the other columns are of no use.
    """
    found = levelling.without_very_many(levels)
    local, _ = _sweep(found, ranking=levelling.few_are_needed(found), near=near, dqe_only=dqe_only)
    # Rounding can carry a sum of exact weights over the whole by a last digit.
    return np.minimum(local / levels.total, 1.0)


def values_at_thresholds(levels: Levels) -> FloatArray:
    """Return DQE and its parts of each event at each of the thresholds that all events share, ascending.

    Returns
    -------
    array of float, shape (n_events, n_thresholds, 4)
    """
    return _sweep(levels, curve_columns=4)[1].reshape(len(levels.counts), -1, 4)


def curve(levels: Levels) -> Curve:
    """Return DQE and its parts against the threshold, for the whole series and for each event."""
    if not len(levels.partition.events):
        return Curve(*np.zeros((5, 0)))
    if levels.shared:
        return _shared_curve(levels)
    _, values = _sweep(levels, curve_columns=4)
    stops = np.cumsum(levels.counts)
    per_event = []
    for first, count, stop in zip(levels.first, levels.counts, stops, strict=True):
        thresholds = levels.thresholds[first : first + count][::-1]
        per_event.append(Curve(thresholds, *values[stop - count : stop][::-1].T))
    return _mean_curve(per_event)


def _shared_curve(levels: Levels) -> Curve:
    """Return the curve of levels whose thresholds all events share."""
    thresholds, values = levels.thresholds[::-1], values_at_thresholds(levels)[:, ::-1]
    dqe, capture, near_miss, false_alarm = values.mean(axis=0).T
    per_event = tuple(Curve(thresholds, *each.T) for each in values)
    return Curve(thresholds, dqe, capture, near_miss, false_alarm, per_event)


def dqe_at_every_score(scores: FloatArray, regions: Partition) -> tuple[FloatArray, FloatArray]:
    """Return all distinct scores above 0, from the highest down, and the mean DQE of the events from each to the next.

    The same as in the `curve` of exact levels, but for rounding, in a quarter of the memory.
    """
    levels = levelling.exact_levels(scores, regions)
    steps = _sweep(levels, curve_columns=1)[1][:, 0]
    in_use = Events(levels.first, levels.first + levels.counts, len(levels.thresholds))
    thresholds = levels.thresholds[flags_of(in_use)]
    tops = np.cumsum(levels.counts)[levels.counts > 0] - 1
    del levels
    # What DQE of an event gains at each of its thresholds over the next higher one.
    highest = steps[tops]
    steps[:-1] -= steps[1:]
    steps[tops] = highest
    order = ascending(thresholds)[::-1]
    thresholds, gained = thresholds[order], steps[order]
    del steps, order
    ends = group_ends(thresholds)
    # Adding and subtracting steps leaves rounding errors around 0 and 1.
    means = np.cumsum(gained, out=gained)[ends] / len(regions.events)
    return thresholds[ends], np.clip(means, 0.0, 1.0, out=means)


def mean_scores(local: FloatArray) -> Scores:
    """Return the means over the events; NaN where there is none."""
    return Scores(*(local.mean(axis=0) if len(local) else np.full(4, np.nan)).tolist())


def levels_of(
    scores: FloatArray | Linear | LinearParts, regions: Partition, thresholds: int | Literal["exact"]
) -> Levels:
    """Return the threshold levels of each event's region."""
    if thresholds == "exact":
        return levelling.exact_levels(scaled(scores), regions)
    return levelling.sample_levels(scores, regions, thresholds)


def scaled_levels(points: Points, scale: Scale | bool, thresholds: int | Literal["exact"]) -> Levels:
    """Return the threshold levels of scores that are as they were given."""
    if validate.scale_name(scale) == "log-rank" and thresholds != "exact":
        return levelling.sample_log_rank_levels(points.found, points.regions, thresholds)
    return levels_of(_counting(points, scale), points.regions, thresholds)


def _counting(points: Points, scale: Scale | bool) -> FloatArray | Linear:
    """Return scores, which are as they were given, as they count."""
    return linear(points.found) if validate.scale_name(scale) == "min-max" else validate.scaling(scale)(points.found)


def mean_dqe(levels: Levels) -> float:
    """Return DQE of a sweep over the levels of each event's region."""
    return mean_scores(local_scores(levels, dqe_only=True)).dqe


def _mean_dqe_by_part(scores: FloatArray | Linear, regions: Partition, thresholds: int) -> float:
    """Return the same at sampled thresholds, one part of a long series after the other."""
    parts = levelling.sample_levels_by_part(scores, regions, thresholds)
    local = [local_scores(part, dqe_only=True) for part in parts]
    return mean_scores(local[0] if len(local) == 1 else np.concatenate(local)).dqe


def _sweep(
    levels: Levels,
    *,
    ranking: bool = False,
    curve_columns: int = 0,
    near: FloatArray | None = None,
    dqe_only: bool = False,
) -> tuple[FloatArray, FloatArray]:
    """Return the sums of each event, and its values at each threshold; ranking is for more thresholds than points."""
    regions = levels.partition
    events = regions.events
    if len(levels.of_point) > kernel.MOST_POINTS:
        raise ValueError(f"DQE takes at most {kernel.MOST_POINTS:,} points: got {len(levels.of_point):,}; take a part")
    most = int(levels.counts.max(initial=0))
    words = most // kernel.WORD + 1 if ranking else 0
    longest = int((np.ceil(regions.right) - np.floor(regions.left)).max(initial=0)) if ranking else 0
    rows = 1 + (longest if ranking else most)
    local = np.empty((len(events), 4))
    values = np.empty((int(levels.counts.sum()) if curve_columns else 0, curve_columns))
    kernel.sweep(
        levels.of_point,
        levels.starts,
        levels.stops,
        events.starts - regions.left,
        regions.right - events.stops,
        np.full(len(events), regions.near, dtype=np.float64) if near is None else near,
        levels.heights,
        levels.first,
        levels.counts,
        np.zeros(rows * kernel.ALARM_COLUMNS, dtype=np.longlong),
        np.zeros(rows * kernel.NEAR_COLUMNS, dtype=np.longlong),
        np.zeros(words, dtype=np.uint64),
        np.empty(words, dtype=np.intc),
        np.empty(longest, dtype=np.intc),
        np.empty(longest + 1),
        local,
        values,
        dqe_only,
        _LOGS,
    )
    return local, values


def _mean_curve(per_event: list[Curve]) -> Curve:
    """Return the mean of the events' curves, which are steps: a value holds from its threshold down to the next."""
    thresholds = np.concatenate([c.thresholds for c in per_event])
    steps = np.concatenate([np.diff(_columns(c), axis=0, prepend=np.zeros((1, 4))) for c in per_event])
    order = ascending(thresholds)[::-1]
    ends = group_ends(thresholds[order])
    # Adding and subtracting steps leaves rounding errors around 0 and 1.
    means = np.clip(np.cumsum(steps[order], axis=0)[ends] / len(per_event), 0.0, 1.0)
    dqe, capture, near_miss, false_alarm = means.T
    return Curve(thresholds[order][ends], dqe, capture, near_miss, false_alarm, tuple(per_event))


def _columns(curve: Curve) -> FloatArray:
    return np.column_stack([curve.dqe, curve.capture, curve.near_miss, curve.false_alarm])
