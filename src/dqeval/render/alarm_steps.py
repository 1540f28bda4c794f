"""What operators ask for, at each of the thresholds that a page knows: false alarms, events detected, and delays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dqeval.core.prepared import Scored
from dqeval.core.types import FloatArray, IntArray
from dqeval.metrics.alarm_curve import AlarmCurve
from dqeval.metrics.alarms_at_threshold import zone_starts
from dqeval.render.packing import packed
from dqeval.render.tables import percent

NEVER = -(2**31)  # in place of a delay, where an event is not detected


@dataclass(frozen=True, slots=True, eq=False)
class AlarmSteps:
    """What operators ask for at some thresholds, ascending.

    Attributes
    ----------
    needed : array of int, shape (n,)
        How many false alarms one must put up with for a threshold: the most at any threshold from it on up.
    false_alarms, detected : array of int, shape (n,)
    in_alarm : array of float, shape (n,)
        The share of points in alarm.
    delays : array of float, shape (n_events, n)
        From the start of each event to the first alarm; NaN where it is not detected.
    """

    needed: IntArray
    false_alarms: IntArray
    detected: IntArray
    in_alarm: FloatArray
    delays: FloatArray

    @property
    def median_delays(self) -> FloatArray:
        """The median delay of the events that are detected at each threshold; NaN where none is."""
        ordered, steps = np.sort(self.delays, axis=0), np.arange(self.delays.shape[1])  # NaN is last
        count = np.count_nonzero(~np.isnan(self.delays), axis=0)
        return np.asarray((ordered[np.maximum(count - 1, 0) // 2, steps] + ordered[count // 2, steps]) / 2)

    def as_json(self) -> dict[str, Any]:
        """Return all of it, ready for a page."""
        found = ~np.isnan(self.delays)
        return {
            "needed": self.needed.tolist(),
            "falseAlarms": self.false_alarms.tolist(),
            "detected": self.detected.tolist(),
            "inAlarm": [percent(share, 2) for share in self.in_alarm.tolist()],
            "medianDelay": [None if np.isnan(delay) else delay for delay in self.median_delays.tolist()],
            "delays": packed(np.where(found, self.delays, NEVER), "<i4"),
        }


def alarm_steps(scored: Scored, curve: AlarmCurve, levels: NDArray[Any], count: int, *, early: int) -> AlarmSteps:
    """Return what operators ask for at so many thresholds.

    Parameters
    ----------
    scored : Scored
    curve : AlarmCurve
        The same at every threshold there is.
    levels : array of int, shape (n,)
        How many of the thresholds each point reaches.
    count : int
    early : int
        By how many points an alarm may be early.
    """
    reached = np.cumsum(np.bincount(levels, minlength=count + 1)[:0:-1])[::-1]
    # At a threshold of the curve, the same points are in alarm; at none of them, where none is.
    at = np.searchsorted(curve.alarm_points, reached, side="right") - 1
    return AlarmSteps(
        needed=_at(np.maximum.accumulate(curve.false_alarms), at),
        false_alarms=_at(curve.false_alarms, at),
        detected=_at(curve.detected, at),
        in_alarm=reached / curve.points,
        delays=_delays(scored, levels, count, early),
    )


def _at(numbers: IntArray, places: IntArray) -> IntArray:
    """Return the numbers at some places; 0 at the place before the first."""
    return np.where(places >= 0, numbers[places], 0)


def _delays(scored: Scored, levels: NDArray[Any], count: int, early: int) -> FloatArray:
    """Return from the start of each event to the first point in alarm in its zone, by threshold."""
    events = scored.events
    starts = zone_starts(events, early, scored.labelled.breaks)
    lengths = events.stops - starts
    stops = np.cumsum(lengths)
    first = stops - lengths
    # All zones in one row, each with levels of its own above those of the zone before: one running maximum serves all.
    own = (count + 1) * np.arange(len(events))
    highest = np.repeat(own, lengths)
    highest += levels[np.repeat(starts - first, lengths) + np.arange(len(highest))]
    np.maximum.accumulate(highest, out=highest)
    found = np.searchsorted(highest, np.add.outer(own, np.arange(1, count + 1)))
    delays = found + (starts - first - events.starts)[:, None]
    return np.where(found < stops[:, None], delays, np.nan)
