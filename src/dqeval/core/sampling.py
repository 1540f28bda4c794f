"""Samples on a clock: which cell of a time axis each one is in, and what was observed there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dqeval.core import arguments, durations
from dqeval.core.events import find_events, split_at
from dqeval.core.moments import Kind, Moments, Ticks, moments_of
from dqeval.core.spans import PointTimes
from dqeval.core.timeline import TimeAxis, given_resolution
from dqeval.core.types import BoolArray, FloatArray, IntArray
from dqeval.core.zones import UTC, shared_zone
from dqeval.render.tables import count_of, percent

JITTER = 0.02  # of a step: what is closer to a round duration is meant to be that
_FEW_TICKS = 100_000  # which tell where in a step samples are
_ROUND = sorted(
    n * durations.UNITS[unit]
    for unit, counts in {
        "ms": (1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500),
        "s": (1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30),
        "min": (1, 2, 3, 4, 5, 6, 10, 12, 15, 20, 30),
        "h": (1, 2, 3, 4, 6, 8, 12),
        "d": (1, 7),
    }.items()
    for n in counts
)
MAX_GAP = 3  # cells over which a sample is carried forward, by default
_MOST_CELLS = 2**31  # that were observed, as arrays of all of them are made
_FEW = 1_000  # steps that give a first idea of all
_HOUR = durations.UNITS["h"]

Values = TypeVar("Values", bound=np.generic)


@dataclass(frozen=True, slots=True, eq=False)
class Sampling:
    """Samples on a clock.

    Attributes
    ----------
    axis : TimeAxis
    first : array of int, optional
        The first sample of each cell that has one; None where no two samples share a cell.
    lasting : array of int, optional
        For how many cells it stands, as it is carried forward where samples are missing; None where none is.
    times : PointTimes
        When samples are.
    breaks : array of int
        The samples before which something was not observed.
    """

    axis: TimeAxis
    first: IntArray | None
    lasting: IntArray | None
    times: PointTimes
    breaks: IntArray = field(default_factory=lambda: np.zeros(0, np.intp))

    @property
    def samples(self) -> int:
        """How many samples there are."""
        return len(self.times.ticks)

    def event_lengths(self, labels: BoolArray) -> FloatArray:
        """Return how long each event lasts, in cells, which may be a fraction of one: until its last sample is over."""
        events = split_at(find_events(labels), self.breaks)
        lasting = self.times.ends(events.stops - 1) - self.times.at(events.starts)
        return np.asarray(lasting / self.axis.resolution)

    def highest(self, points: NDArray[Values]) -> NDArray[Values]:
        """Return the highest of the samples in each cell: of scores, or of labels."""
        return self._carried(points if self.first is None else np.maximum.reduceat(points, self.first))

    def last(self, points: NDArray[Values]) -> NDArray[Values]:
        """Return the last of the samples in each cell: of values, of which several have no highest."""
        return self._carried(points if self.first is None else points[np.append(self.first[1:], self.samples) - 1])

    def in_cells(self, points: float) -> float:
        """Return how many cells so many samples take, on average."""
        return points * self.axis.length / self.samples

    def _carried(self, cells: NDArray[Values]) -> NDArray[Values]:
        return cells if self.lasting is None else np.repeat(cells, self.lasting, axis=0)

    def notes(self) -> Iterator[str]:
        """Say what was left out, and what was put together."""
        if self.first is not None:
            shared = count_of(self.samples - len(self.first), "sample")
            yield f"{shared} in a cell with another: the highest score of a cell counts"
        if self.lasting is not None:
            carried = count_of(int(self.lasting.sum()) - len(self.lasting), "cell")
            yield f"{carried} without a sample: that of the cell before counts"
        if self.axis.gaps:
            missing = sum(self.axis.gaps)
            share = percent(missing / self.axis.cells, 1)
            gaps = count_of(len(self.axis.gaps), "gap")
            yield f"{self.axis.lasting(missing)} ({share}) not observed, in {gaps}, left out"
            if 2 * missing > self.axis.cells and len(self.axis.gaps) > self.samples / 2:
                yield "cells are much finer than the samples: give a coarser resolution, or a longer max_gap"


@dataclass(frozen=True, slots=True, eq=False)
class Clock:
    """What a caller says of the clock of some points.

    Attributes
    ----------
    times : array-like, optional
        When each point is.
    resolution, max_gap : optional
        See `sampling_of`.
    kind : "local" or "universal", optional
        Whether dates have a time zone, where the times themselves do not say so.
    zone : str
        In which zone dates with one are shown, beside that of the times.
    """

    times: Any = None
    resolution: Any = None
    max_gap: Any = None
    kind: Kind | None = None
    zone: str = UTC

    @property
    def asked(self) -> list[str]:
        """What the caller says of it, by name; points are put on a clock if there is anything."""
        given = {"times": self.times, "resolution": self.resolution, "max_gap": self.max_gap}
        return [name for name, value in given.items() if value is not None]

    def sampling(self, samples: int) -> Sampling | None:
        """Return where so many points lie on the time axis; None where there is no clock."""
        if self.times is None:
            if self.asked:
                raise ValueError(f"{self.asked[-1]} is about a clock: give times too")
            return None
        moments = moments_of("times", self.times)
        if len(moments.ticks) != samples:
            raise ValueError(f"times must have one moment per point: got {len(moments.ticks):,} for {samples:,} points")
        if self.kind is not None and moments.kind == "local":
            moments = replace(moments, kind=self.kind)
        moments = replace(moments, zone=shared_zone(self.zone, moments.zone))
        return sampling_of(moments, resolution=self.resolution, max_gap=self.max_gap)


NO_CLOCK = Clock()


def even_axis(times: NDArray[Any], kind: Kind | None = None, zone: str = UTC) -> TimeAxis | None:
    """Return the time axis of dates that are all a step apart; None where there is none."""
    if times.dtype.kind != "M" or len(times) < 2 or np.isnat(times).any():
        return None
    with suppress(ValueError):  # too far away, or backwards
        moments = moments_of("times", times)
        step = even_step(moments)
        if step is not None:
            return TimeAxis(int(moments.ticks[0]), step, len(times), kind or moments.kind, zone=zone)
    return None


def sampling_of(moments: Moments, *, resolution: Any = None, max_gap: Any = None) -> Sampling:
    """Return where samples lie on a time axis.

    Parameters
    ----------
    moments : Moments
        When each sample was taken, in ascending order; at least one.
    resolution : duration or int, optional
        The length of a cell; the median step by default.
    max_gap : duration or int, default 3 cells
        Over how many cells without a sample one is carried forward; what is missing longer was not observed.
    """
    ticks, kind = moments.ticks, moments.kind
    even = even_step(moments)
    usual = _usual_step(np.diff(ticks), kind) if even is None else even
    step = _resolution(resolution, usual, kind)
    longest = _longest_gap(max_gap, step, kind != "number")
    if step == even:
        axis = TimeAxis(int(ticks[0]), step, len(ticks), kind, zone=moments.zone)
        return Sampling(axis, None, None, PointTimes(ticks, step, even=True))
    # Samples that jitter should not fall on both sides of where cells begin. Who gives a resolution may sample finer.
    origin = int(ticks[0]) - (_before_first(ticks, step) if resolution is None else 0)
    times = PointTimes(ticks, usual or step, even is not None)
    return _uneven(moments, times, origin, step, longest)


def _resolution(given: Any, usual: int | None, kind: Kind) -> int:
    """Return the length of a cell: as given, or the usual step, which a single date does not tell."""
    if given is not None:
        return given_resolution(given, dated=kind != "number")
    if usual is not None:
        return usual
    if kind != "number":
        raise ValueError('times has a single date, which does not tell how long a cell is: give resolution="1min"')
    return 1


def _usual_step(steps: Ticks, kind: Kind) -> int | None:
    """Return the median step; of dates, the round duration that is meant, as clocks that jitter are slightly off it."""
    if not len(steps):
        return None
    median = median_step(steps)
    near = [each for each in _ROUND if abs(each - median) <= JITTER * each] if kind != "number" else []
    return near[0] if near else median


def _before_first(ticks: Ticks, step: int) -> int:
    """Return how long before the first sample cells begin: where there is no sample for the longest part of a step."""
    phases = np.unique((ticks[:_FEW_TICKS] - ticks[0]) % step)
    without = np.diff(phases, prepend=phases[-1] - step)
    begin = int(phases[np.argmax(without)])
    return (step - begin) % step


def even_step(moments: Moments) -> int | None:
    """Return the step from each moment to the next, if all are the same; an error names the first that is not above 0.

    None where they differ, or where there is none.
    """
    steps = moments.steps
    if steps is None:
        return None
    if steps.shortest <= 0:
        _refuse_step(moments, int(np.argmax(np.diff(moments.ticks) <= 0)))
    return steps.shortest if steps.shortest == steps.longest else None


def _refuse_step(moments: Moments, i: int) -> None:
    """Raise the error that says which moment does not come behind the one before, at a position."""
    step = int(moments.ticks[i + 1] - moments.ticks[i])
    before, after = moments.shown(i), moments.shown(i + 1)
    what = "is there twice" if step == 0 else f"comes behind {before}"
    raise ValueError(f"times must ascend: at position {i + 1:,}, {after} {what}; {_advice(step, moments.kind)}")


def _advice(step: int, kind: Kind) -> str:
    """Say what to do about a step of 0, or back: local clocks may have been put back."""
    sort = "sort the points, and keep one for each time"
    if kind != "local" or step < -_HOUR:
        return sort
    return f"{sort}; if clocks were put back there at the end of summer time, give times with a time zone, or in UTC"


def median_step(steps: Ticks) -> int:
    """Return the median step, of two in the middle the shorter, whatever the unit; 1 where there is none."""
    if not len(steps):
        return 1
    middle = (len(steps) - 1) // 2
    some = np.sort(steps[:: len(steps) // _FEW + 1])
    guess = some[(len(some) - 1) // 2]  # most steps are the same, and to prove it is faster than to sort them
    if np.count_nonzero(steps < guess) <= middle < np.count_nonzero(steps <= guess):
        return int(guess)
    return int(np.partition(steps, middle)[middle])


def _longest_gap(given: Any, step: int, dated: bool) -> int:
    """Return over how many cells a sample is carried forward."""
    if given is None:
        return MAX_GAP
    if durations.is_duration(given):
        if not dated:
            raise ValueError("max_gap is a duration, but the times are numbers, not dates: give a number of cells")
        return durations.nanoseconds("max_gap", given) // step
    return arguments.whole_number("max_gap", given, least=0, most=_MOST_CELLS)


def _uneven(moments: Moments, times: PointTimes, origin: int, step: int, longest: int) -> Sampling:
    """Return samples of which some share a cell, or some cells have none."""
    ticks = moments.ticks
    cells = (ticks - origin) // step
    ahead, first = np.diff(cells), None
    if len(ahead) and ahead.min() == 0:
        new = ahead > 0
        ahead, first = ahead[new], np.flatnonzero(np.append(True, new))
    wide = np.flatnonzero(ahead > 1)
    missing = ahead[wide] - 1
    is_gap: BoolArray = missing > longest
    carried = np.where(is_gap, 0, missing)
    count = len(ahead) + 1
    length = count + int(carried.sum())
    if length >= _MOST_CELLS:
        raise ValueError(f"the times take {length:,} cells of the resolution: give a coarser resolution")
    lasting = None
    if length > count:
        lasting = np.ones(count, dtype=np.intp)
        lasting[wide] += carried
    breaks, gaps = (wide + 1 + np.cumsum(carried))[is_gap].tolist(), missing[is_gap].tolist()
    axis = TimeAxis(origin, step, length, moments.kind, tuple(breaks), tuple(gaps), moments.zone)
    behind = wide[is_gap] + 1
    return Sampling(axis, first, lasting, times, behind if first is None else first[behind])
