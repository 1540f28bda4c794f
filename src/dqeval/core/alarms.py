"""Detections as alarms, in the numbers on which operators choose a detector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dqeval.core.durations import UNITS, in_words
from dqeval.core.types import BoolArray, FloatArray, IntArray
from dqeval.render.tables import Table, count_of, percent
from dqeval.support.frames import Framed

Missed = Literal["omit", "length"]

HEADER = ("events detected", "median delay", "delay of 90 % at most", "false alarms", "time in alarm")


@dataclass(frozen=True, slots=True, eq=False)
class Alarms(Framed):
    """Detections as alarms, against events; lengths are in points.

    ``to_frame()`` has a row per event: where it is, whether it is detected, with which delay, and how many alarms there
    are. On a clock, ``delay_time`` is the delay as a duration.

    Attributes
    ----------
    detected : array of bool, shape (n_events,)
        Whether there is an alarm in the zone of each event: from ``early`` points before it, but not in the one before,
        to its end, or ``max_delay`` points behind its start.
    delays : array of float, shape (n_events,)
        From the start of an event to the first alarm in its zone, negative if that is early; NaN for missed ones.
    starts, lengths : array of int, shape (n_events,)
        The first point of each event, and its length.
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
    notes : tuple of str
        What was left out on a clock, and why.
    """

    detected: BoolArray
    delays: FloatArray
    starts: IntArray
    lengths: IntArray
    alarms_per_event: IntArray
    false_alarms: int
    alarm_points: int
    false_alarm_points: int
    normal_points: int
    points: int
    longest_quiet: int
    resolution: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def events_detected(self) -> float:
        """The share of events that are detected; NaN where there is none."""
        return float(self.detected.mean()) if len(self.detected) else float("nan")

    @property
    def mean_delay(self) -> float:
        """The mean delay of the events that are detected; NaN where none is."""
        delays = self.counted_delays()
        return float(delays.mean()) if len(delays) else float("nan")

    @property
    def median_delay(self) -> float:
        """The median delay of the events that are detected; NaN where none is."""
        return self.delay_quantile(0.5)

    def delay_quantile(self, share: float) -> float:
        """Return the delay that a share of the detected events do not exceed; NaN where none is detected."""
        delays = self.counted_delays()
        return float(np.quantile(delays, share)) if len(delays) else float("nan")

    def counted_delays(self, missed: Missed = "omit") -> FloatArray:
        """Return the delays that means are made of: missed events are left out, or count with their lengths."""
        if missed == "length":
            return np.where(self.detected, self.delays, self.lengths)
        return self.delays[self.detected]

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

    def _columns(self) -> dict[str, Any]:
        places = {"start": self.starts, "stop": self.starts + self.lengths}
        columns = places | {"detected": self.detected, "delay": self.delays, "alarms": self.alarms_per_event}
        if self.resolution is None:
            return columns
        lengths = np.full(len(self.delays), np.timedelta64("NaT", "ns"))
        # Delays are whole numbers of points.
        lengths[self.detected] = (self.delays[self.detected].astype(np.int64) * self.resolution).astype("m8[ns]")
        return columns | {"delay_time": lengths}

    def table(self) -> Table:
        """Return the numbers, on a clock where there is one."""
        detected, *delays, false_alarms, time = self.cells()
        rows = [
            (HEADER[0], detected),
            *zip(HEADER[1:3], delays, strict=True),
            ("alarms per detected event", _number(self.alarms_per_detected_event)),
            (HEADER[3], false_alarms),
            (HEADER[4], time),
            ("longest time without an alarm", self._length(self.longest_quiet)),
        ]
        return Table(("alarms", ""), rows, note="; ".join(self.notes), text_columns=2)

    @property
    def sentence(self) -> str:
        """The numbers in a sentence."""
        count, detected = len(self.detected), int(np.count_nonzero(self.detected))
        found = f"{detected:,} of {count_of(count, 'event')} detected"
        if detected:
            found += f", with a median delay of {self._length(self.median_delay)}"
        share = percent(self.time_in_alarm, 1)
        return f"{found}; {count_of(self.false_alarms, 'false alarm')} ({self.rate}); in alarm for {share} of the time."

    @property
    def rate(self) -> str:
        """How often there is a false alarm, in words."""
        if self.resolution is None:
            return f"{1000 * self.false_alarm_rate:.3g} per 1,000 points"
        return f"{self.false_alarms_per_day:.3g} per day"

    def cells(self) -> tuple[str, ...]:
        """Return the numbers that tell detectors apart as cells of a table: see `HEADER`."""
        return (
            f"{int(np.count_nonzero(self.detected)):,} of {len(self.detected):,}",
            self._length(self.median_delay),
            self._length(self.delay_quantile(0.9)),
            f"{self.false_alarms:,} ({self.rate})",
            percent(self.time_in_alarm, 2),
        )

    def numbers(self) -> dict[str, Any]:
        """Return the numbers, ready for JSON: delays are in points, or in seconds where there is a clock."""
        scale = 1.0 if self.resolution is None else self.resolution / UNITS["s"]
        return {
            "unit": "points" if self.resolution is None else "seconds",
            "events": len(self.detected),
            "events_detected": int(np.count_nonzero(self.detected)),
            "delays": [None if np.isnan(delay) else delay * scale for delay in self.delays.tolist()],
            "mean_delay": self.mean_delay * scale,
            "median_delay": self.median_delay * scale,
            "delay_of_90_percent": self.delay_quantile(0.9) * scale,
            "alarms_per_detected_event": self.alarms_per_detected_event,
            "false_alarms": self.false_alarms,
            "false_alarms_per_1000_points": 1000 * self.false_alarm_rate,
            "false_alarms_per_day": self.false_alarms_per_day,
            "time_in_alarm": self.time_in_alarm,
            "false_time_in_alarm": self.false_time_in_alarm,
            "longest_quiet": self.longest_quiet * scale,
        }

    def _length(self, points: float) -> str:
        """Return a number of points in words, as a duration where there is a clock."""
        if np.isnan(points):
            return "none"
        if self.resolution is None:
            return f"{points:,g} point{'' if points == 1 else 's'}"
        return in_words(round(points * self.resolution))

    def __str__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table().html()


def _number(value: float) -> str:
    return "none" if np.isnan(value) else f"{value:.3g}"
