"""What operators ask of detections: which events are noticed, how soon, and how often there is an alarm for nothing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dqeval.core.durations import UNITS, in_words
from dqeval.core.types import BoolArray, Events, FloatArray, IntArray
from dqeval.render.tables import Table


@dataclass(frozen=True, slots=True, eq=False)
class Alarms:
    """Detections as alarms, against events; lengths are in points.

    Attributes
    ----------
    detected : array of bool, shape (n_events,)
        Whether there is an alarm in the zone of each event: from ``early`` points before it, but not in the one before,
        to its end, or ``max_delay`` points behind its start.
    delays : array of float, shape (n_events,)
        From the start of an event to the first alarm in its zone, negative if that is early; NaN for missed ones.
    alarms_per_event : array of int, shape (n_events,)
        How many alarms touch each zone.
    false_alarms : int
        Alarms that touch no event, and not the ``early`` points before one either.
    alarm_points, false_alarm_points : int
        How many points are in alarm, and how many of them are normal.
    normal_points, points : int
        How many points are normal, and how many there are.
    longest_quiet : int
        The longest stretch without an alarm.
    resolution : int or None
        How many nanoseconds a point lasts; None where there is no clock.
    """

    detected: BoolArray
    delays: FloatArray
    alarms_per_event: IntArray
    false_alarms: int
    alarm_points: int
    false_alarm_points: int
    normal_points: int
    points: int
    longest_quiet: int
    resolution: int | None = None

    @property
    def events_detected(self) -> float:
        """The share of events that are detected; NaN where there is none."""
        return float(self.detected.mean()) if len(self.detected) else float("nan")

    @property
    def mean_delay(self) -> float:
        """The mean delay of the events that are detected; NaN where none is."""
        return float(self.delays[self.detected].mean()) if self.detected.any() else float("nan")

    @property
    def median_delay(self) -> float:
        """The median delay of the events that are detected; NaN where none is."""
        return self.delay_quantile(0.5)

    def delay_quantile(self, share: float) -> float:
        """Return the delay that a share of the detected events do not exceed; NaN where none is detected."""
        return float(np.quantile(self.delays[self.detected], share)) if self.detected.any() else float("nan")

    @property
    def false_alarm_rate(self) -> float:
        """False alarms per point."""
        return self.false_alarms / self.points

    @property
    def false_alarms_per_day(self) -> float:
        """False alarms per day; NaN where there is no clock."""
        return float("nan") if self.resolution is None else self.false_alarm_rate * UNITS["d"] / self.resolution

    @property
    def time_in_alarm(self) -> float:
        """The share of points in alarm."""
        return self.alarm_points / self.points

    @property
    def false_time_in_alarm(self) -> float:
        """The share of normal points in alarm; NaN where no point is normal."""
        return self.false_alarm_points / self.normal_points if self.normal_points else float("nan")

    @property
    def alarms_per_detected_event(self) -> float:
        """How many alarms there are for each event that is detected; NaN where none is."""
        return float(self.alarms_per_event[self.detected].mean()) if self.detected.any() else float("nan")

    def table(self) -> Table:
        """Return the numbers, on a clock where there is one."""
        count, detected = len(self.detected), int(np.count_nonzero(self.detected))
        rate = f"{1000 * self.false_alarm_rate:.3g} per 1,000 points"
        if self.resolution is not None:
            rate = f"{self.false_alarms_per_day:.3g} per day"
        rows = [
            ("events detected", f"{detected:,} of {count:,}"),
            ("median delay", self._length(self.median_delay)),
            ("delay of 90 % at most", self._length(self.delay_quantile(0.9))),
            ("alarms per detected event", _number(self.alarms_per_detected_event)),
            ("false alarms", f"{self.false_alarms:,} ({rate})"),
            ("time in alarm", f"{self.time_in_alarm:.2%}".replace("%", " %")),
            ("longest time without an alarm", self._length(self.longest_quiet)),
        ]
        return Table(("alarms", ""), rows, text_columns=2)

    def _length(self, points: float) -> str:
        """Return a number of points in words, as a duration where there is a clock."""
        if np.isnan(points):
            return "none"
        if self.resolution is None:
            return f"{points:,g} points"
        return in_words(round(points * self.resolution))

    def __str__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table().html()


def alarms_of(
    events: Events, found: Events, *, early: int = 0, max_delay: int | None = None, resolution: int | None = None
) -> Alarms:
    """Return detections as alarms, against events; the work grows with their number, not with that of the points."""
    before = np.concatenate([[0], events.stops[:-1]])[: len(events)]
    starts = np.maximum(events.starts - early, before)
    stops = events.stops if max_delay is None else np.minimum(events.stops, events.starts + max_delay + 1)
    # The first alarm that ends behind the start of a zone, and the first that starts at its end or later.
    first, last = np.searchsorted(found.stops, starts, side="right"), np.searchsorted(found.starts, stops, side="left")
    touching = np.maximum(last - first, 0)
    detected = touching > 0
    delays = np.full(len(events), np.nan)
    delays[detected] = np.maximum(found.starts[first[detected]], starts[detected]) - events.starts[detected]
    inside = _shared_points(events, found)
    points = int((found.stops - found.starts).sum())
    normal = events.length - int((events.stops - events.starts).sum())
    return Alarms(
        detected=detected,
        delays=delays,
        alarms_per_event=touching,
        false_alarms=int(np.count_nonzero(~_touch(found, starts, events.stops))),
        alarm_points=points,
        false_alarm_points=points - inside,
        normal_points=normal,
        points=events.length,
        longest_quiet=_longest_quiet(found),
        resolution=resolution,
    )


def _number(value: float) -> str:
    return "none" if np.isnan(value) else f"{value:.3g}"


def _touch(found: Events, starts: IntArray, stops: IntArray) -> BoolArray:
    """Tell which alarms touch any of some zones, which do not overlap."""
    zone = np.searchsorted(stops, found.starts, side="right")
    there = zone < len(stops)
    touches = np.zeros(len(found), dtype=np.bool_)
    touches[there] = starts[zone[there]] < found.stops[there]
    return touches


def _shared_points(events: Events, found: Events) -> int:
    """Return how many points of alarms lie in events."""
    lengths = np.concatenate([[0], np.cumsum(events.stops - events.starts)])

    def before(points: IntArray) -> IntArray:
        """Return how many points of events lie before some points."""
        complete = np.searchsorted(events.stops, points, side="right")
        current = np.minimum(complete, len(events) - 1)
        partial = np.clip(points - events.starts[current], 0, None) * (complete < len(events))
        return np.asarray(lengths[complete] + partial)

    return int((before(found.stops) - before(found.starts)).sum()) if len(events) else 0


def _longest_quiet(found: Events) -> int:
    starts = np.append(found.starts, found.length)
    stops = np.concatenate([[0], found.stops])
    return int((starts - stops).max())
