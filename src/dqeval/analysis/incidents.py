"""Incidents and alerts with a start and an end, on a clock, in place of labels and detections for each point."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from dqeval.core import arguments, durations, validate
from dqeval.core.events import find_events
from dqeval.core.near import FALLBACK_NEAR
from dqeval.core.partition import cut
from dqeval.core.timeline import Closed, Spans, TimeAxis, axis_of, cells_of_duration, spans_of, ticks_of
from dqeval.core.types import BoolArray, Curve, DQEResult, Events, EventScores, FloatArray, Numbers
from dqeval.core.validate import Undefined
from dqeval.metrics import dqe
from dqeval.metrics.dqe_of_parts import scores_of_parts
from dqeval.metrics.operators import Alarms, alarms_of
from dqeval.render.tables import count_of


@dataclass(frozen=True, slots=True)
class TimedEventScores(EventScores):
    """DQE and its three parts for one incident, and when it was.

    Attributes
    ----------
    start_time, stop_time : datetime64 or int
        The first moment of its first cell, and the end of its last cell.
    """

    start_time: Any = None
    stop_time: Any = None

    @property
    def place(self) -> str:
        """When it was, in words."""
        return f"{_shown(self.start_time)} – {_shown(self.stop_time)}"


@dataclass(frozen=True)
class TimedResult(DQEResult):
    """A result on a clock.

    Attributes
    ----------
    axis : TimeAxis
        The cells in which time is counted.
    notes : tuple of str
        What was left out, and why.
    alarms : Alarms
        What operators ask for: delays, false alarms per day, the share of time in alarm. An alert counts as early if it
        is within the near range.
    """

    axis: TimeAxis | None = None
    notes: tuple[str, ...] = ()
    alarms: Alarms | None = field(default=None, compare=False)

    def _note(self) -> str:
        assert self.axis is not None
        near = f"near {self.near:g} cells"
        if self.axis.dated:
            near = f"near {durations.in_words(round(self.near * self.axis.resolution), exact=True)}"
        return "; ".join([f"{near}, {self.axis}", *self.notes])


def evaluate_intervals(
    incidents: Any,
    alerts: Any,
    *,
    span: tuple[Any, Any] | None = None,
    resolution: Any = None,
    near: Any = None,
    closed: Closed = "left",
    undefined: Undefined = "raise",
) -> TimedResult:
    """Evaluate alerts against incidents, both with a start and an end, incident by incident.

    Parameters
    ----------
    incidents, alerts : sequence, mapping or DataFrame
        Pairs of start and end; or single moments; or columns called ``start`` and ``end``, or ``start`` and
        ``duration``; or an IntervalIndex of pandas. Times are dates of any kind, all with a time zone or all without,
        or whole numbers. Those that overlap or touch are one.
    span : pair of times, optional
        The observed time, from when to when; by default from the first start to the last end of all.
    resolution : str, timedelta or number, optional
        The length of a cell, in which time is counted: such as "1min", or a number of seconds. By default the largest
        of a day, an hour, a minute, a second and so on in which all times are whole; 1 where they are numbers. An
        interval takes all cells that it overlaps. DQE depends on it: false alarms are counted in cells.
    near : str, timedelta or number, optional
        How long before and after an incident an alert still is a near miss: a duration such as "10min", or a number of
        cells; 0 for none. 125 cells by default.
    closed : "left" or "both", default "left"
        Whether ends are outside their intervals, or inside, as in sources with inclusive ends.
    undefined : "raise" or "nan", default "raise"
        What to do if there is no incident in the span: raise `UndefinedError`, or return NaN with a warning.

    Returns
    -------
    TimedResult
        A `DQEResult` whose events have ``start_time`` and ``stop_time``; ``notes`` says what lay outside the span.

    Examples
    --------
    >>> found = dqeval.evaluate_intervals(
    ...     incidents=[("2026-01-01 10:00", "2026-01-01 10:30"), ("2026-01-02 08:00", "2026-01-02 09:00")],
    ...     alerts=[("2026-01-01 10:05", "2026-01-01 10:10"), ("2026-01-02 07:50", "2026-01-02 07:55")],
    ...     span=("2026-01-01", "2026-01-03"),
    ...     near="30min",
    ... )
    >>> print(found)
    event                                  DQE  capture  near miss  false alarm
    ---------------------------------------------------------------------------
    all 2                                0.768    0.500      0.786        1.000
    2026-01-01T10:00 – 2026-01-01T10:30  1.000    1.000      1.000        1.000
    2026-01-02T08:00 – 2026-01-02T09:00  0.535    0.000      0.573        1.000
    near 30 min, 2,880 cells of 1 min
    1 is best, 0 is worst. Near miss: higher for closer ones; without any, 1 if there is nothing but a capture, else 0.
    False alarm: 1 if there is none; 0 if nothing at all is detected.
    """
    arguments.one_of("closed", closed, ("left", "both"))
    spans = {"incidents": spans_of("incidents", incidents), "alerts": spans_of("alerts", alerts)}
    axis = axis_of(spans.values(), span=span, resolution=resolution)
    events, events_outside = axis.cells(spans["incidents"], closed)
    found, alerts_outside = axis.cells(spans["alerts"], closed)
    validate.check_defined(events, undefined)
    regions = cut(events, _near(near, axis))
    local = np.minimum(scores_of_parts(found, regions), 1.0)
    outside = {"incident": events_outside, "alert": alerts_outside}
    return TimedResult(
        *_means(local),
        near=regions.near,
        thresholds=1,
        per_event=tuple(_timed(events, local, axis)),
        axis=axis,
        notes=tuple(f"{count_of(n, what)} outside the span left out" for what, n in outside.items() if n),
        alarms=_alarms(events, found, regions.near, axis),
        make_curve=partial(_curve, local),
    )


def _alarms(events: Events, found: Events, near: float, axis: TimeAxis) -> Alarms:
    early = int(min(near, axis.length))
    return alarms_of(events, found, early=early, resolution=axis.resolution if axis.dated else None)


def alarms(
    y_true: Numbers,
    y_pred: Numbers,
    *,
    early: int = 0,
    max_delay: int | None = None,
    resolution: Any = None,
) -> Alarms:
    """Tell what operators ask of detections: events detected, delays, false alarms, and time in alarm.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly. A run of ones is an event.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm. A run of ones is an alarm.
    early : int, default 0
        How many points before an event an alarm already counts for it.
    max_delay : int, optional
        How many points behind the start of an event an alarm still counts for it; by default all of the event.
    resolution : str or timedelta, optional
        How long a point lasts, such as "1min": then delays are shown as durations, and false alarms per day.

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
    longest = len(labels)  # what is longer says no more
    before = min(arguments.whole_number("early", early, least=0), longest)
    limit = None if max_delay is None else min(arguments.whole_number("max_delay", max_delay, least=0), longest)
    lasts = None if resolution is None else durations.nanoseconds("resolution", resolution)
    if lasts == 0:
        raise ValueError("resolution must be above 0")
    return alarms_of(find_events(labels), find_events(detections), early=before, max_delay=limit, resolution=lasts)


def labels_from_intervals(intervals: Any, times: Numbers, *, closed: Closed = "left") -> BoolArray:
    """Return which points of a series lie in some intervals: labels from incidents, or detections from alerts.

    Parameters
    ----------
    intervals : sequence, mapping or DataFrame
        Pairs of start and end; or single moments; or columns called ``start`` and ``end``, or ``start`` and
        ``duration``; or an IntervalIndex of pandas.
    times : array-like, shape (n,)
        When each point begins, in ascending order; it lasts as long as most do (the median step). A point is in an
        interval if they overlap.
    closed : "left" or "both", default "left"
        Whether ends are outside their intervals, or inside.

    Returns
    -------
    array of bool, shape (n,)

    Examples
    --------
    >>> hours = np.array("2026-01-01", dtype="datetime64[h]") + np.arange(6)
    >>> dqeval.labels_from_intervals([("2026-01-01 01:30", "2026-01-01 03:00")], hours).astype(int)
    array([0, 1, 1, 0, 0, 0])
    """
    arguments.one_of("closed", closed, ("left", "both"))
    spans = spans_of("intervals", intervals)
    ticks, dated, step = _clock(times)
    labels = np.zeros(len(ticks), dtype=np.bool_)
    if len(spans) and len(ticks):
        if spans.dated != dated:
            raise ValueError("intervals and times must both be dates, or both numbers")
        for first, last in zip(*_points(spans, ticks, step, closed), strict=True):
            labels[first:last] = True
    return labels


def intervals_from_labels(labels: Numbers, times: Numbers) -> list[tuple[Any, Any]]:
    """Return the intervals of time in which labels, or detections, are 1: half-open, in order.

    Parameters
    ----------
    labels : array-like of 0 and 1, shape (n,)
        1 marks a point of an interval.
    times : array-like, shape (n,)
        When each point begins, in ascending order; it lasts as long as most do (the median step).

    Returns
    -------
    list of (start, end)
        Dates (``datetime64``), or numbers, as the times are.

    Examples
    --------
    >>> dqeval.intervals_from_labels([0, 1, 1, 0, 1], [0, 10, 20, 30, 40])
    [(10, 30), (40, 50)]
    """
    flags = validate.labels(labels)
    ticks, dated, step = _clock(times)
    if len(flags) != len(ticks):
        raise ValueError(f"labels and times must have the same length: got {len(flags):,} and {len(ticks):,}")
    ends = [(ticks[a], ticks[b - 1] + step) for a, b in find_events(flags)]
    return [(_as_given(a, dated), _as_given(b, dated)) for a, b in ends]


def _clock(times: Numbers) -> tuple[Any, bool, int]:
    """Return the times as ticks, whether they are dates, and the median step."""
    given = np.asarray(times)
    if not len(given):
        return np.zeros(0, dtype=np.int64), False, 1
    ticks, dated = ticks_of("times", given)
    steps = np.diff(ticks)
    if (steps <= 0).any():
        i = int(np.argmax(steps <= 0))
        what = "the same as" if steps[i] == 0 else "before"
        raise ValueError(f"times must ascend: the one at position {i + 1}, {given[i + 1]}, is {what} the one before it")
    return ticks, dated, int(np.median(steps)) if len(steps) else 1


def _points(spans: Spans, ticks: Any, step: int, closed: Closed) -> tuple[list[int], list[int]]:
    """Return the first point that each interval overlaps, and the first behind it."""
    first = np.searchsorted(ticks + step, spans.starts, side="right")
    ends_inside = spans.instants | (closed == "both")
    last = np.where(
        ends_inside,
        np.searchsorted(ticks, spans.stops, side="right"),
        np.searchsorted(ticks, spans.stops, side="left"),
    )
    return first.tolist(), last.tolist()


def _near(given: Any, axis: TimeAxis) -> float:
    if given is None:
        return FALLBACK_NEAR
    if durations.is_duration(given):
        return cells_of_duration("near", given, axis)
    advice = 'it is a duration such as "10min", or a number of cells; 0 for no near misses'
    return arguments.real_number("near", given, least=0.0, advice=advice)


def _timed(events: Events, local: FloatArray, axis: TimeAxis) -> Sequence[TimedEventScores]:
    return [
        TimedEventScores(start, stop, a, b, c, d, axis.time_of(start), axis.time_of(stop))
        for (start, stop), (a, b, c, d) in zip(events, local.tolist(), strict=True)
    ]


def _means(local: FloatArray) -> tuple[float, float, float, float]:
    found = dqe.mean_scores(local)
    return found.dqe, found.capture, found.near_miss, found.false_alarm


def _curve(local: FloatArray) -> Curve:
    """Return the curve of plain detections: one threshold."""
    if not len(local):
        return Curve(*np.zeros((5, 0)))
    per_event = tuple(_point(row) for row in local)
    return replace(_point(local.mean(axis=0)), per_event=per_event)


def _point(scores: FloatArray) -> Curve:
    sdqe, capture, near_miss, false_alarm = scores[:, None]
    return Curve(np.ones(1), sdqe, capture, near_miss, false_alarm)


def _as_given(ticks: int, dated: bool) -> Any:
    """Return a moment as a number, or as a date without more digits than it needs."""
    if not dated:
        return int(ticks)
    return np.datetime64(np.datetime_as_string(np.datetime64(int(ticks), "ns"), unit="auto"))


def _shown(moment: Any) -> str:
    """Return a moment as text: of dates, to the minute, or with as many digits as it needs."""
    if not isinstance(moment, np.datetime64):
        return f"{moment:,}"
    whole_minutes = moment == moment.astype("datetime64[m]")
    return str(np.datetime_as_string(moment, unit="m" if whole_minutes else "auto"))
