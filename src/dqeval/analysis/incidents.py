"""Incidents and alerts with a start and an end, on a clock, in place of labels and detections for each point."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dqeval.analysis.time_intervals import TimeIntervals
from dqeval.analysis.timed_result import TimedEventColumns, TimedResult
from dqeval.core import arguments, durations, validate
from dqeval.core.events import find_events
from dqeval.core.moments import Moments, moments_of, same_kind
from dqeval.core.near import NO_LENGTH, median_length
from dqeval.core.numeric_arrays import binary_array
from dqeval.core.regions import cut
from dqeval.core.sampling import even_step, median_step
from dqeval.core.spans import Closed, PointTimes, spans_of
from dqeval.core.timeline import TimeAxis, axis_of, near_in_cells
from dqeval.core.types import BoolArray, Curve, FloatArray, Numbers
from dqeval.core.validate import Undefined
from dqeval.datasets.interval_files import IntervalFile
from dqeval.metrics import dqe
from dqeval.metrics.alarms_at_threshold import alarms_of
from dqeval.metrics.dqe_of_intervals import scores_of_intervals


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
        Pairs of start and end, which something else may follow; or single moments; or columns called ``start`` and
        ``end``, or ``start`` and ``duration``; or an IntervalIndex of pandas; or what `dqeval.datasets.read_intervals`
        has read. Times are dates of any kind, all with a time zone or all without, or whole numbers. Those that overlap
        or touch are one.
    span : pair of times, optional
        The observed time, from when to when; by default from the first start to the last end of all.
    resolution : str, timedelta or number, optional
        The length of a cell, in which time is counted: such as "1min", or a number of seconds. By default the largest
        of a day, an hour, a minute, a second and so on in which all times are whole; 1 where they are numbers. The
        fractions of a second of Prometheus, Grafana and Alertmanager do not count: there it is the step of the query,
        or a second. An interval takes all cells that it overlaps. DQE depends on it: false alarms are counted in cells.
    near : str, timedelta or number, optional
        How long before and after an incident an alert still is a near miss: a duration such as "10min", or a number of
        cells; 0 for none. By default the median length of an incident, which is 0 if most are moments.
    closed : "left" or "both", default "left"
        Whether ends are outside their intervals, or inside, as in sources with inclusive ends. Files know it.
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
    event                       DQE  capture  near miss  false alarm
    ----------------------------------------------------------------
    all 2                     0.768    0.500      0.786        1.000
    2026-01-01 10:00 – 10:30  1.000    1.000      1.000        1.000
    2026-01-02 08:00 – 09:00  0.535    0.000      0.573        1.000
    near 30 min, 2,880 cells of 1 min
    1 is best, 0 is worst. Near miss: higher for closer ones; without any, 1 if there is nothing but a capture, else 0.
    False alarm: 1 if there is none; 0 if nothing at all is detected.
    """
    arguments.one_of("closed", closed, ("left", "both"))
    spans = {"incidents": spans_of("incidents", incidents), "alerts": spans_of("alerts", alerts)}
    axis = axis_of(spans, span=span, resolution=resolution, closed=closed)
    events, found = axis.positions(spans["incidents"], closed), axis.positions(spans["alerts"], closed)
    validate.check_defined(events.events, undefined, none="there is no incident in the span")
    regions = cut(events.events, _near(near, axis, events.lengths))
    has_no_length = [NO_LENGTH] if near is None and regions.near == 0 and len(events.events) else []
    local = np.minimum(scores_of_intervals(found.events, regions), 1.0)
    return TimedResult(
        *_means(local),
        near=regions.near,
        thresholds=1,
        per_event=TimedEventColumns(events.events.starts, events.events.stops, local, axis, events.names),
        axis=axis,
        notes=(
            *_remarks(incidents),
            *_remarks(alerts),
            *events.notes("incident"),
            *found.notes("alert"),
            *has_no_length,
        ),
        make_alarms=partial(
            alarms_of,
            events.events,
            found.events,
            early=int(min(regions.near, axis.length)),
            resolution=axis.resolution if axis.dated else None,
        ),
        make_curve=partial(_curve, local),
    )


def _remarks(given: Any) -> tuple[str, ...]:
    """Return what was left out or assumed where a file was read."""
    return given.remarks if isinstance(given, IntervalFile) else ()


def labels_from_intervals(intervals: Any, times: Numbers, *, closed: Closed = "left") -> BoolArray:
    """Return which points of a series lie in some intervals: labels from incidents, or detections from alerts.

    Parameters
    ----------
    intervals : sequence, mapping or DataFrame
        Pairs of start and end; or single moments; or columns called ``start`` and ``end``, or ``start`` and
        ``duration``; or an IntervalIndex of pandas.
    times : array-like, shape (n,)
        When each point begins, in ascending order: dates, or whole numbers. It lasts until the next begins, but no
        longer than most do (the median step). A point is in an interval if they overlap.
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
    moments, points = _point_times(times)
    if len(points.ticks):
        same_kind({"intervals": spans.kind, "times": moments.kind})
    return spans.points(points, closed)


def intervals_from_labels(labels: Numbers, times: Numbers) -> TimeIntervals:
    """Return the intervals of time in which labels, or detections, are 1: half-open, in order.

    Parameters
    ----------
    labels : array-like of 0 and 1, shape (n,)
        1 marks a point of an interval.
    times : array-like, shape (n,)
        When each point begins, in ascending order: dates, or whole numbers. It lasts until the next begins, but no
        longer than most do (the median step).

    Returns
    -------
    TimeIntervals
        A sequence of pairs of start and end, with ``start`` and ``end`` as arrays, and ``to_frame()``: of dates
        (``datetime64``), or of numbers, as the times are. `labels_from_intervals` takes it, or that table, and gives
        the labels again. Dates that had a time zone are in UTC, which ``datetime64`` cannot say; the table has their
        zone.

    Examples
    --------
    >>> list(dqeval.intervals_from_labels([0, 1, 1, 0, 1], [0, 10, 20, 30, 40]))
    [(10, 30), (40, 50)]
    """
    flags = binary_array("labels", labels)
    moments, points = _point_times(times)
    if len(flags) != len(points.ticks):
        raise ValueError(f"labels and times must have the same length: got {len(flags):,} and {len(points.ticks):,}")
    events = find_events(flags)
    starts, ends = points.at(events.starts), points.ends(events.stops - 1)
    return TimeIntervals.of_ticks(starts, ends, moments.kind, moments.zone)


def _point_times(times: Any) -> tuple[Moments, PointTimes]:
    """Return times as moments, and when points begin and how long they last."""
    clock = moments_of("times", times)
    even = even_step(clock)
    step = median_step(np.diff(clock.ticks)) if even is None else even
    return clock, PointTimes(clock.ticks, step, even is not None)


def _near(given: Any, axis: TimeAxis, lengths: FloatArray) -> float:
    if given is None:
        return median_length(lengths)
    if durations.is_duration(given):
        return near_in_cells(given, axis)
    advice = 'it is a duration such as "10min", or a number of cells; 0 for no near misses'
    return arguments.real_number("near", given, least=0.0, advice=advice)


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
