"""What operators ask for: alarms at a threshold, at all of them, and the best one within a budget of false alarms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dqeval.analysis.timed_result import alarms_on
from dqeval.core import arguments, durations, validate
from dqeval.core.alarms import Alarms
from dqeval.core.durations import Length
from dqeval.core.near import AS_GIVEN, Near
from dqeval.core.prepared import Labelled, Points, Scored, points_of
from dqeval.core.sampling import Clock
from dqeval.core.timeline import TimeAxis, cells_of_duration, given_resolution
from dqeval.core.times import dates_of_index
from dqeval.core.types import BoolArray, Numbers
from dqeval.core.validate import Undefined
from dqeval.metrics.alarm_curve import AlarmCurve, Per, alarm_curve_of, threshold_within
from dqeval.render.tables import Table
from dqeval.support.frames import Framed, columns_of_records


@dataclass(frozen=True, slots=True, eq=False)
class OperatingPoint(Framed):
    """A threshold within a budget of false alarms, and what it gives.

    ``to_frame()`` has a single row; ``alarms.to_frame()`` has one per event.

    Attributes
    ----------
    threshold : float
        Detected is what scores at least as much. Infinite where no threshold within the budget detects an event: then
        it is best to raise no alarm. NaN where there is no event.
    alarms : Alarms
        Events detected, delays, false alarms and time in alarm at the threshold.
    budget : float
        How many false alarms there may be.
    per : "day" or "1,000 points"
        In which time.
    """

    threshold: float
    alarms: Alarms
    budget: float
    per: Per

    def _columns(self) -> dict[str, Any]:
        found = self.alarms
        row = {
            "threshold": self.threshold,
            "budget": self.budget,
            "per": self.per,
            "events_detected": found.events_detected,
            "median_delay": found.median_delay,
            "false_alarms": found.false_alarms,
            "false_alarms_per_1000": 1000 * found.false_alarm_rate,
            "false_alarms_per_day": found.false_alarms_per_day,
            "time_in_alarm": found.time_in_alarm,
        }
        return columns_of_records([row])

    def table(self) -> Table:
        """Return the budget, the threshold, and the numbers of the alarms."""
        threshold = f"{self.threshold}: no alarm is raised" if np.isinf(self.threshold) else str(self.threshold)
        rows = [("threshold", threshold), ("false alarms at most", f"{self.budget:g} per {self.per}")]
        return replace(self.alarms.table(), header=("operating point", ""), rows=[*rows, *self.alarms.table().rows])

    def __str__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table().html()


def alarms(
    y_true: Numbers,
    y_pred: Numbers,
    *,
    early: Length = 0,
    max_delay: Length | None = None,
    times: Any = None,
    resolution: Length | None = None,
    max_gap: Length | None = None,
) -> Alarms:
    """Tell what operators ask of detections: events detected, delays, false alarms, and time in alarm.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly. A run of ones is an event.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm. A run of ones is an alarm.
    early : int, str or timedelta, default 0
        How many points, or how long, before an event an alarm already counts for it.
    max_delay : int, str or timedelta, optional
        How many points, or how long, behind the start of an event an alarm still counts for it; by default all of the
        event.
    times : array-like, shape (n,), optional
        When each point is, in ascending order: dates of any kind, or numbers. Then time is counted in cells, as by
        `evaluate`. Pandas columns with an index of dates need none: evenly spaced dates count as times.
    resolution : str, timedelta or number, optional
        How long a point lasts, such as "1min", or in seconds: then delays are durations, and false alarms are counted
        per day. With ``times``, the length of a cell; the median step by default.
    max_gap : int, str or timedelta, default 3
        Over how many cells without a sample, or how long, the one before stands for them. What is missing longer was
        not observed.

    Returns
    -------
    Alarms

    Examples
    --------
    >>> print(dqeval.alarms([0, 0, 1, 1, 1, 0, 0, 0, 1, 0], [0, 0, 0, 1, 0, 0, 1, 0, 0, 0], resolution="1h"))
    alarms
    ------
    events detected                1 of 2
    median delay                   1 h
    delay of 90 % at most          1 h
    alarms per detected event      1
    false alarms                   1 (2.4 per day)
    time in alarm                  20.00 %
    longest time without an alarm  3 h
    """
    labels, detections = validate.labels_and_detections(y_true, y_pred)
    clock = Clock(times, resolution, max_gap)
    points = _on_clock(y_true, y_pred, labels, detections, clock, early, max_delay)
    labelled = points.labelled
    before = _length("early", early, labelled)
    limit = None if max_delay is None else _length("max_delay", max_delay, labelled)
    found = alarms_on(labelled, labelled.runs(points.found), early=before, max_delay=limit)
    return replace(found, notes=points.notes)


def alarm_curve(
    y_true: Numbers,
    y_score: Numbers,
    *,
    early: Length = 0,
    times: Any = None,
    resolution: Length | None = None,
    max_gap: Length | None = None,
) -> AlarmCurve:
    """Tell at every threshold how many events are detected, and how many false alarms there are.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly. A run of ones is an event.
    y_score : array-like of numbers, shape (n,)
        The larger, the more anomalous. A run of points that score at least a threshold is an alarm.
    early : int, str or timedelta, default 0
        How many points, or how long, before an event an alarm already counts for it.
    times : array-like, shape (n,), optional
        When each point is, in ascending order: dates of any kind, or numbers. Then time is counted in cells, as by
        `evaluate`. Pandas columns with an index of dates need none: evenly spaced dates count as times.
    resolution : str, timedelta or number, optional
        How long a point lasts, such as "1min", or in seconds: then delays are durations, and false alarms are counted
        per day. With ``times``, the length of a cell; the median step by default.
    max_gap : int, str or timedelta, default 3
        Over how many cells without a sample, or how long, the one before stands for them. What is missing longer was
        not observed.

    Returns
    -------
    AlarmCurve

    Examples
    --------
    >>> curve = dqeval.alarm_curve([0, 0, 1, 1, 0, 0, 0, 1, 0, 0], [1, 5, 1, 9, 1, 7, 1, 3, 1, 5])
    >>> curve.thresholds, curve.detected, curve.false_alarms
    (array([9., 7., 5., 3., 1.]), array([1, 1, 1, 2, 2]), array([0, 1, 3, 3, 0]))
    >>> print(curve)
    events detected  threshold  false alarms  per 1,000 points  time in alarm
    -------------------------------------------------------------------------
    1 of 2                 9.0             0                 0        10.00 %
    2 of 2                 3.0             3               300        50.00 %
    """
    scored, notes = _scored(y_true, y_score, Clock(times, resolution, max_gap), early)
    return alarm_curve_of(scored, early=_length("early", early, scored.labelled), notes=notes)


def threshold_for(
    y_true: Numbers,
    y_score: Numbers,
    *,
    false_alarms_per_day: float | None = None,
    false_alarms_per_1000: float | None = None,
    early: Length = 0,
    times: Any = None,
    resolution: Length | None = None,
    max_gap: Length | None = None,
    undefined: Undefined = "raise",
) -> OperatingPoint:
    """Find the threshold that detects most events within a budget of false alarms.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly. A run of ones is an event.
    y_score : array-like of numbers, shape (n,)
        The larger, the more anomalous. A run of points that score at least a threshold is an alarm.
    false_alarms_per_day : float, optional
        The budget: how many alarms for nothing there may be per day. It needs ``times``, or ``resolution``.
    false_alarms_per_1000 : float, optional
        The budget per 1,000 points instead. Give one of the two.
    early : int, str or timedelta, default 0
        How many points, or how long, before an event an alarm already counts for it.
    times : array-like, shape (n,), optional
        When each point is, in ascending order: dates of any kind, or numbers. Then time is counted in cells, as by
        `evaluate`. Pandas columns with an index of dates need none: evenly spaced dates count as times.
    resolution : str, timedelta or number, optional
        How long a point lasts, such as "1min", or in seconds: then delays are durations, and false alarms are counted
        per day. With ``times``, the length of a cell; the median step by default.
    max_gap : int, str or timedelta, default 3
        Over how many cells without a sample, or how long, the one before stands for them. What is missing longer was
        not observed.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly: raise `UndefinedError`, or return NaN with a warning.

    Returns
    -------
    OperatingPoint
        The threshold, and the alarms at it.

    Notes
    -----
    The threshold is lowered from the highest score until the budget is exceeded for the first time. Further down there
    may be few false alarms again, but only because alarms merge, in the end to a single one that never ends. Of the
    thresholds before, it is the highest that detects the most events. It is given as the number with the fewest digits
    at which the same points are detected.

    Examples
    --------
    >>> labels, scores = [0, 0, 1, 1, 0, 0, 0, 1, 0, 0], [1, 5, 1, 9, 1, 7, 1, 3, 1, 5]
    >>> dqeval.threshold_for(labels, scores, false_alarms_per_1000=200).threshold
    9.0
    >>> print(dqeval.threshold_for(labels, scores, false_alarms_per_day=8, resolution="1h"))
    operating point
    ---------------
    threshold                      3.0
    false alarms at most           8 per day
    events detected                2 of 2
    median delay                   30 min
    delay of 90 % at most          54 min
    alarms per detected event      1
    false alarms                   3 (7.2 per day)
    time in alarm                  50.00 %
    longest time without an alarm  1 h
    """
    budget, per = _budget(false_alarms_per_day, false_alarms_per_1000)
    scored, notes = _scored(y_true, y_score, Clock(times, resolution, max_gap), early)
    if per == "day" and scored.labelled.resolution is None:
        advice = 'give times that are dates, or how long a point lasts, such as resolution="1min"'
        raise ValueError(f"false_alarms_per_day needs a clock: {advice}; or give false_alarms_per_1000")
    validate.check_defined(scored.events, undefined)
    found = operating_point_of(scored, budget, per=per, early=_length("early", early, scored.labelled))
    return replace(found, alarms=replace(found.alarms, notes=notes))


def operating_point_of(scored: Scored, budget: float, *, per: Per, early: int) -> OperatingPoint:
    """Return what `threshold_for` does, of scores that are checked."""
    threshold = threshold_within(scored, budget, per=per, early=early)
    alarms = alarms_on(scored.labelled, scored.labelled.runs(scored.raw >= threshold), early=early)
    return OperatingPoint(threshold, alarms, budget, per)


def _scored(y_true: Numbers, y_score: Numbers, clock: Clock, early: Any) -> tuple[Scored, tuple[str, ...]]:
    """Return labels and scores, and what was left out on a clock."""
    labels, raw = validate.labels_and_raw_scores(y_true, y_score)
    points = _on_clock(y_true, y_score, labels, raw, clock, early)
    return Scored(points.labelled, points.found), points.notes


def _on_clock(
    y_true: Numbers, y_score: Numbers, labels: BoolArray, found: NDArray[Any], clock: Clock, *lengths: Any
) -> Points:
    """Return labels, and what was found, on a clock; one that only says how long a point lasts will do."""
    if clock.asked != ["resolution"] or dates_of_index(y_true, y_score) is not None:
        options: dict[str, Any] = {"near": 0, "period": None, "values": None, "clock": clock, "lengths": lengths}
        return points_of(y_true, labels, found, y_score=y_score, **options)
    axis = TimeAxis(0, given_resolution(clock.resolution, dated=True), len(labels), "local")
    return Points(Labelled(labels, axis), found, Near(0.0, AS_GIVEN))


def _length(name: str, given: Any, labelled: Labelled) -> int:
    """Return a number of points, from a duration if it is one: what is longer than the series says no more."""
    if durations.is_duration(given):
        given = int(min(cells_of_duration(name, given, labelled.axis), len(labelled.labels)))
    return min(arguments.whole_number(name, given, least=0), len(labelled.labels))


def _budget(per_day: Any, per_1000: Any) -> tuple[float, Per]:
    """Return the budget, and what it is for."""
    given: dict[str, tuple[Any, Per]] = {
        "false_alarms_per_day": (per_day, "day"),
        "false_alarms_per_1000": (per_1000, "1,000 points"),
    }
    named = [(name, value, per) for name, (value, per) in given.items() if value is not None]
    if len(named) != 1:
        raise ValueError(f"give one of {' and '.join(given)}: got {'both' if named else 'none'}")
    ((name, value, per),) = named
    return arguments.real_number(name, value, least=0.0, advice="it is the most that you accept, such as 0.5"), per
