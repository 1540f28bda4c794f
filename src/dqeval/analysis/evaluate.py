"""From labels and scores, or detections, to a result that says how good the detector is and why."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, Literal

import numpy as np

from dqeval.analysis.timed_result import alarms_at, on_clock
from dqeval.core import validate
from dqeval.core.durations import Length
from dqeval.core.levels import detection_levels
from dqeval.core.sampling import Clock
from dqeval.core.scaling import Scale
from dqeval.core.types import Combined, DQEResult, Numbers
from dqeval.core.validate import Undefined
from dqeval.metrics import dqe


def evaluate(
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
) -> DQEResult:
    """Evaluate the scores of an anomaly detector over all thresholds, event by event.

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
    DQEResult

    Notes
    -----
    Section 3 of the paper. A point is detected at a threshold if its score is at or above it. Constant scores separate
    no point from another, so nothing is detected and every score is 0.

    Examples
    --------
    Two events, the first captured, the second answered two points late:

    >>> y_true = [0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0]
    >>> y_score = [0, 0, 0, 5, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0]
    >>> print(dqeval.evaluate(y_true, y_score, near=4))
    event       DQE  capture  near miss  false alarm
    ------------------------------------------------
    all 2     0.615    0.500      0.566        0.900
    [3, 5)    1.000    1.000      1.000        1.000
    [10, 12)  0.229    0.000      0.131        0.800
    near 4, 100 thresholds
    1 is best, 0 is worst. Near miss: higher for closer ones; without any, 1 if there is nothing but a capture, else 0.
    False alarm: 1 if there is none; 0 if nothing at all is detected.
    """
    count = validate.thresholds(thresholds)
    points = dqe.points_with_scores(
        y_true,
        y_score,
        scale=scale,
        undefined=undefined,
        near=near,
        period=period,
        values=values,
        clock=Clock(times, resolution, max_gap),
    )
    result = dqe.result_of(dqe.scaled_levels(points, scale, count), count)
    return on_clock(result, points.labelled, points.notes)


def evaluate_detections(
    y_true: Numbers,
    y_pred: Numbers,
    *,
    near: Length | None = None,
    period: Length | None = None,
    values: Numbers | None = None,
    times: Any = None,
    resolution: Length | None = None,
    max_gap: Length | None = None,
    undefined: Undefined = "raise",
) -> DQEResult:
    """Evaluate plain detections, that is a detector at a single threshold, event by event.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly. A run of ones is an event.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
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
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly: raise `UndefinedError`, or return NaN with a warning.

    Returns
    -------
    DQEResult
        With ``times``, a `TimedResult`, which tells what operators ask for too.

    Examples
    --------
    >>> dqeval.evaluate_detections([0, 0, 1, 1, 0, 0], [0, 0, 0, 1, 0, 0], near=2).dqe
    1.0
    """
    points = dqe.points_with_detections(
        y_true,
        y_pred,
        undefined=undefined,
        near=near,
        period=period,
        values=values,
        clock=Clock(times, resolution, max_gap),
    )
    result = dqe.result_of(detection_levels(points.found, points.regions), 1)
    alarms = partial(alarms_at, points.labelled, points.found, points.near.points)
    return on_clock(result, points.labelled, points.notes, alarms)


def combine(results: Iterable[DQEResult]) -> Combined:
    """Combine the results of several series into means over the series and over their events.

    Parameters
    ----------
    results : iterable of DQEResult
        Series without an anomaly (NaN) are counted, and left out of the means.

    Returns
    -------
    Combined

    Examples
    --------
    >>> one = dqeval.evaluate([0, 1, 0, 0, 0, 1], [0, 9, 0, 0, 0, 9], near=1)
    >>> two = dqeval.evaluate([0, 0, 0, 1, 0, 0], [0, 9, 0, 0, 0, 0], near=1)
    >>> both = dqeval.combine([one, two])
    >>> both.by_series.dqe, round(both.by_event.dqe, 3)
    (0.5, 0.667)
    """
    every = validate.results(results)
    defined = [result for result in every if len(result.event_columns)]
    if not defined:
        raise validate.UndefinedError(f"none of the {len(every)} results to combine has an event: there is no mean")
    series = np.array([(one.dqe, one.capture, one.near_miss, one.false_alarm) for one in defined])
    events = np.concatenate([result.event_columns.scores for result in defined])
    return Combined(
        by_series=dqe.mean_scores(series),
        by_event=dqe.mean_scores(events),
        n_series=len(defined),
        n_events=len(events),
        n_undefined=len(every) - len(defined),
    )
