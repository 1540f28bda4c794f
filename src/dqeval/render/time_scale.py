"""Where points are drawn on the axis of time: to scale, with the width of what was not observed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dqeval.core.durations import UNITS
from dqeval.core.moments import shown, shown_between
from dqeval.core.prepared import Prepared
from dqeval.core.timeline import TimeAxis, each_moment
from dqeval.core.types import FloatArray, IntArray
from dqeval.core.zones import offset_in_words, offsets_between
from dqeval.render.tables import count_of

# A float that counts milliseconds or days since 1970 cannot tell moments apart that are closer.
FINEST_DATED = 10 * UNITS["us"]


@dataclass(frozen=True, slots=True, eq=False)
class TimeScale:
    """Positions of points, and where they are drawn: x = origin + cell · step.

    Attributes
    ----------
    origin, step : float
        Where the first cell begins, and how wide a cell is. Without a clock, 0 and 1.
    length : int
        How many cells were observed.
    breaks, gaps : array of int, shape (n,)
        The position behind each gap, and how many cells were not observed there.
    kind : "points", "numbers" or "dates"
        What x is.
    label : str
        What to write at the axis.
    """

    origin: float
    step: float
    length: int
    breaks: IntArray
    gaps: IntArray
    kind: Literal["points", "numbers", "dates"]
    label: str

    def starts(self, positions: FloatArray | IntArray) -> FloatArray:
        """Return where what starts at some positions is drawn: behind a gap there."""
        return self._at(positions, np.searchsorted(self.breaks, positions, side="right"))

    def ends(self, positions: FloatArray | IntArray) -> FloatArray:
        """Return where what ends at some positions is drawn: before a gap there."""
        return self._at(positions, np.searchsorted(self.breaks, positions, side="left"))

    def _at(self, positions: FloatArray | IntArray, passed: IntArray) -> FloatArray:
        skipped = np.concatenate([[0], np.cumsum(self.gaps)])
        return np.asarray(self.origin + self.step * (positions + skipped[passed]), dtype=np.float64)

    @property
    def limits(self) -> tuple[float, float]:
        """Where the axis begins and ends."""
        return self.origin, float(self.ends(np.array([self.length]))[0])

    def unobserved(self, dots: int) -> FloatArray:
        """Return from where to where nothing was observed, shape (n, 2).

        Gaps that are less apart than one of so many dots of the width are drawn as one.
        """
        left, right = self.ends(self.breaks), self.starts(self.breaks)
        low, high = self.limits
        apart = (left[1:] - right[:-1]) * dots > high - low
        return np.column_stack([left[np.append(True, apart)[: len(left)]], right[np.append(apart, True)[: len(left)]]])

    def cuts(self, cuts: FloatArray) -> FloatArray:
        """Return where the six cuts of regions are drawn: no region reaches over a gap."""
        return np.column_stack([self.starts(cuts[:, :3]), self.ends(cuts[:, 3:])])

    def line(self, positions: IntArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the line through some points, each in the middle of its cell: it is broken where there is a gap.

        A point between two gaps is drawn as wide as its cell, so that it can be seen.
        """
        x = self.starts(positions.astype(np.float64) + 0.5)
        stretch = np.searchsorted(self.breaks, positions, side="right")
        new = np.flatnonzero(np.diff(stretch)) + 1
        if not len(new):
            return x, values
        begins, ends = np.append(True, np.diff(stretch) > 0), np.append(np.diff(stretch) > 0, True)
        alone = np.flatnonzero(begins & ends)
        x[alone] = self.starts(positions[alone])
        x, y = (
            np.insert(column, alone + 1, added)
            for column, added in ((x, self.ends(positions[alone] + 1)), (values, values[alone]))
        )
        new += np.searchsorted(alone, new)
        return np.insert(x, new, np.nan), np.insert(y, new, np.nan)


def scale_of(prepared: Prepared, *, origin: float | None = None, unit: int = UNITS["ms"]) -> TimeScale:
    """Return where the points of a series are drawn.

    Parameters
    ----------
    prepared : Prepared
    origin : float, optional
        Where the first moment of dates is drawn; by default, so many units after 1970.
    unit : int
        How many nanoseconds are as wide as 1: a millisecond, as browsers count them, by default.
    """
    axis, length = prepared.labelled.axis, len(prepared.labelled.labels)
    if axis is None:
        return TimeScale(0.0, 1.0, length, np.zeros(0, np.intp), np.zeros(0, np.intp), "points", "point")
    breaks, gaps = np.array(axis.breaks, dtype=np.intp), np.array(axis.gaps, dtype=np.intp)
    if not axis.dated:
        return TimeScale(float(axis.origin), float(axis.resolution), length, breaks, gaps, "numbers", "time")
    if axis.resolution < FINEST_DATED:
        label = f"nanoseconds since {shown(axis.start_of(0), axis.zone_shown)}"
        return TimeScale(0.0, float(axis.resolution), length, breaks, gaps, "numbers", label)
    ahead = seconds_ahead(axis)
    label = "time" if axis.zone_shown is None else f"time (UTC{offset_in_words(ahead).removesuffix('Z')})"
    first = axis.origin / unit if origin is None else origin
    return TimeScale(first + ahead * UNITS["s"] / unit, axis.resolution / unit, length, breaks, gaps, "dates", label)


def seconds_ahead(axis: TimeAxis) -> int:
    """Return how far the clock that is drawn is ahead of universal time: that of the zone, if it is never put forward.

    Cells are all as wide, and hours that are left out or there twice would not be. So it is that of UTC otherwise.
    """
    if axis.zone_shown is None:
        return 0
    last = axis.origin + axis.cells * axis.resolution
    offsets = offsets_between(axis.zone, axis.origin, last)
    return offsets[0][1] if len(offsets) == 1 else 0


def size_in_words(axis: TimeAxis | None, points: int) -> str:
    """Return how long a series is: in cells, where there is a clock."""
    return count_of(points, "point") if axis is None else str(axis)


def event_times(axis: TimeAxis, starts: IntArray, stops: IntArray) -> list[str]:
    """Return from when to when each event lasts."""
    times = each_moment(axis.starts_of(starts)), each_moment(axis.ends_of(stops))
    return [shown_between(start, stop, axis.zone_shown) for start, stop in zip(*times, strict=True)]
