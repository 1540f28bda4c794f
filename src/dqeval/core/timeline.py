"""A time axis: a regular grid of cells over a span, and intervals of time on it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dqeval.core import durations
from dqeval.core.arguments import quote
from dqeval.core.events import split_at
from dqeval.core.moments import LARGEST, Kind, Ticks, moments_of, same_kind, shown_between, zone_shown
from dqeval.core.spans import Closed, Spans, is_pair
from dqeval.core.types import BoolArray, Events, FloatArray, IntArray
from dqeval.core.zones import UTC, shared_zone
from dqeval.render.tables import count_of
from dqeval.support.frames import in_frame

_COARSEST = ("d", "h", "min", "s", "ms", "us", "ns")  # for a clock of which nothing is known but its moments
_MOST_CELLS = 2**53  # positions of cells are floats
_MOST_TICKS = 2**63  # between any two moments


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """A grid of cells: cell k is [origin + k · resolution, origin + (k + 1) · resolution). Some were not observed.

    A position counts the cells that were observed.

    Attributes
    ----------
    origin, resolution : int
        In ticks: nanoseconds for dates.
    length : int
        How many cells were observed.
    kind : "number", "local" or "universal"
        What the times are: see `Moments`.
    breaks : tuple of int
        The position behind each gap, that is behind cells that were not observed.
    gaps : tuple of int
        How many cells each gap has.
    zone : str
        The time zone in which dates with one are shown: that in which they were given.
    """

    origin: int
    resolution: int
    length: int
    kind: Kind
    breaks: tuple[int, ...] = ()
    gaps: tuple[int, ...] = ()
    zone: str = field(default=UTC, compare=False, repr=False)

    @property
    def dated(self) -> bool:
        """Whether the times are dates."""
        return self.kind != "number"

    @property
    def zone_shown(self) -> str | None:
        """In which zone dates are shown; None for those without one, and for numbers."""
        return zone_shown(self.kind, self.zone)

    @property
    def cells(self) -> int:
        """How many cells there are, observed or not."""
        return self.length + sum(self.gaps)

    def positions(self, spans: Spans, closed: Closed) -> Found:
        """Return the positions of the cells that intervals overlap, and what became of the intervals."""
        first = (spans.starts - self.origin) // self.resolution
        if (spans.closed or closed) == "both":
            last = (spans.stops - self.origin) // self.resolution + 1
        else:
            last = -((self.origin - spans.stops) // self.resolution)
        last[spans.instants] = first[spans.instants] + 1
        outside = (first >= self.cells) | (last <= 0)
        starts, stops = self._observed(np.clip(first, 0, self.cells)), self._observed(np.clip(last, 0, self.cells))
        observed = starts < stops
        breaks = np.array(self.breaks, dtype=np.intp)
        joined = _joined(starts[observed], stops[observed], self.length, breaks)
        events = split_at(joined, breaks)
        names = _names(spans, events, starts, stops) if spans.names else ()
        members = np.bincount(np.searchsorted(joined.starts, starts[observed], side="right"))
        several = members[members > 1]
        counts = len(events) - len(joined), names, int(several.sum()), len(several)
        ends_inside = (spans.closed or closed) == "both"
        last_tick = spans.stops + (ends_inside & ~spans.instants)
        end = self.origin + self.cells * self.resolution
        ends = (np.clip(ticks[observed], self.origin, end) for ticks in (spans.starts, last_tick))
        lengths = _lengths(*ends) / self.resolution
        return Found(events, outside, ~observed & ~outside, *counts, lengths)

    def _observed(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the position of cells; of one that was not observed, that of the next."""
        if not self.breaks:
            return cells
        ends = np.array(self.breaks, dtype=np.int64) + np.cumsum(self.gaps, dtype=np.int64)  # of gaps, in cells
        passed = np.searchsorted(ends, cells, side="right")
        position = cells - self._skipped()[passed]
        # In a gap, or before one: not beyond the position behind it.
        return np.asarray(np.minimum(position, np.append(self.breaks, self.length).astype(np.int64)[passed]))

    def _skipped(self) -> NDArray[np.int64]:
        """Return how many cells were not observed before each stretch without a gap."""
        return np.concatenate([[0], np.cumsum(self.gaps, dtype=np.int64)])

    def cells_at(self, positions: IntArray, *, end: bool = False) -> NDArray[np.int64]:
        """Return the cells at positions; or those behind the cells before them, where something ends."""
        passed = np.searchsorted(np.array(self.breaks, dtype=np.intp), positions, side="left" if end else "right")
        return np.asarray(positions + self._skipped()[passed])

    def starts_of(self, positions: IntArray) -> NDArray[Any]:
        """Return when what starts at each position starts."""
        return self._moments(self.cells_at(positions))

    def ends_of(self, positions: IntArray) -> NDArray[Any]:
        """Return when what ends at each position ends."""
        return self._moments(self.cells_at(positions, end=True))

    def columns(self, starts: IntArray, stops: IntArray) -> dict[str, Any]:
        """Return when what starts and stops at some positions does so, as columns of a table."""
        ends = {"start_time": self.starts_of(starts), "stop_time": self.ends_of(stops)}
        return {name: in_frame(times, self.zone_shown) for name, times in ends.items()}

    def start_of(self, position: float) -> Any:
        """Return when what starts at a position starts: of dates with a time zone, in universal time."""
        return each_moment(self.starts_of(np.array([int(position)])))[0]

    def end_of(self, position: float) -> Any:
        """Return when what ends at a position ends: of dates with a time zone, in universal time."""
        return each_moment(self.ends_of(np.array([int(position)])))[0]

    def between(self, start: float, stop: float) -> str:
        """Return from when to when something lasts, in words."""
        return shown_between(self.start_of(start), self.end_of(stop), self.zone_shown)

    def part(self, start: int, stop: int) -> TimeAxis:
        """Return the axis of the positions from one to another.

        Examples
        --------
        >>> TimeAxis(100, 10, 6, "number", breaks=(2, 4), gaps=(3, 1)).part(3, 6)
        TimeAxis(origin=160, resolution=10, length=3, kind='number', breaks=(1,), gaps=(1,))
        """
        origin = self.origin + int(self.cells_at(np.array([start]))[0]) * self.resolution
        inner = [i for i, place in enumerate(self.breaks) if start < place < stop]
        breaks, gaps = tuple(self.breaks[i] - start for i in inner), tuple(self.gaps[i] for i in inner)
        return TimeAxis(origin, self.resolution, stop - start, self.kind, breaks, gaps, self.zone)

    def times(self) -> NDArray[Any]:
        """Return when each observed cell begins."""
        return self.starts_of(np.arange(self.length))

    def _moments(self, cells: NDArray[np.int64]) -> NDArray[Any]:
        ticks = self.origin + cells * self.resolution
        return ticks.astype("datetime64[ns]") if self.dated else ticks

    def lasting(self, points: float, *, exact: bool = False) -> str:
        """Return how long some cells last, in words."""
        if self.dated:
            return durations.in_words(round(points * self.resolution), exact=exact)
        return f"{points:,g} cells"

    def __str__(self) -> str:
        step = durations.in_words(self.resolution, exact=True) if self.dated else f"{self.resolution:,}"
        return f"{count_of(self.length, 'cell')} of {step}"


def each_moment(moments: NDArray[Any]) -> list[Any]:
    """Return moments one by one: dates, or whole numbers of Python."""
    return list(moments) if moments.dtype.kind == "M" else moments.tolist()


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Intervals on a time axis.

    Attributes
    ----------
    events : Events
        The positions that they take, joined where they touch, cut where there is a gap.
    outside, in_gap : array of bool
        Which intervals lie outside the span, and which where nothing was observed.
    cuts : int
        How many cuts at gaps there are.
    joined, of_joined : int
        How many intervals touch or overlap others, and how many they are together.
    lengths : array of float
        How long the observed part of each event lasts, in cells and fractions of them. Intervals that touch or overlap
        are one event.
    names : tuple of str
        What each event is called, where the source says it.
    """

    events: Events
    outside: BoolArray
    in_gap: BoolArray
    cuts: int
    names: tuple[str, ...] = ()
    joined: int = 0
    of_joined: int = 0
    lengths: FloatArray = field(default_factory=lambda: np.zeros(0))

    def notes(self, what: str) -> Iterator[str]:
        """Say what was left out."""
        if outside := int(np.count_nonzero(self.outside)):
            yield f"{count_of(outside, what)} outside the span left out"
        if unseen := int(np.count_nonzero(self.in_gap)):
            yield f"{count_of(unseen, what)} where nothing was observed left out"
        if self.joined:
            yield f"{self.joined:,} {what}s that touch or overlap count as {count_of(self.of_joined, what)}"
        if self.cuts:
            yield f"{count_of(self.cuts, 'gap')} inside {what}s: the parts before and behind count as two"


def axis_of(
    spans: Mapping[str, Spans], *, span: Any = None, resolution: Any = None, closed: Closed = "left"
) -> TimeAxis:
    """Return the grid that some intervals lie on.

    Parameters
    ----------
    spans : mapping of str to Spans
        By what to call them in an error.
    span : pair of moments, optional
        The observed time; by default from the first start to the last end. Without a time zone, it is in universal time
        where the intervals have one.
    resolution : duration or int, optional
        The length of a cell; by default, for dates the largest of a day, an hour, a minute, a second and so on in which
        all moments are whole, or the step that some intervals have, if that is shorter; 1 for numbers.
    """
    borders = [border for each in spans.values() if len(each) for border in (each.starts, each.stops)]
    inside = False  # whether the last moment is in the span
    zones = [each.zone for each in spans.values()]
    kind = same_kind({name: each.kind for name, each in spans.items()})
    if span is not None:
        ends = moments_of("span", _pair(span))
        kind = same_kind({"intervals": kind, "the ends of the span": _as(kind, ends.kind)})
        low, high = ends.ticks.tolist()
        zones.append(ends.zone)
    elif borders:
        low, high = int(min(b.min() for b in borders)), int(max(b.max() for b in borders))
        inside = any(each.reaches(high, closed) for each in spans.values())
    else:
        raise ValueError("there is no interval and no span: give span=(start, end)")
    assert kind is not None
    if high <= low and not inside:
        raise ValueError("span must end after it starts")
    every = [*borders, np.array([low, high])]
    if max(int(b.max()) for b in every) - min(int(b.min()) for b in every) >= _MOST_TICKS:
        raise ValueError("the times are too far apart: dates may span 292 years")
    steps = [each.step for each in spans.values() if each.step]
    told = [border for each in spans.values() if len(each) and not each.step for border in (each.starts, each.stops)]
    if span is not None:
        told.append(np.array([low, high]))
    step = _resolution(resolution, told, steps, kind != "number")
    length = -(-(high + inside - low) // step)
    if length > _MOST_CELLS:
        raise ValueError(f"the span has {length:,} cells of the resolution: give a coarser resolution")
    return TimeAxis(low, step, length, kind, zone=shared_zone(*zones))


def _as(kind: Kind | None, other: Kind) -> Kind:
    """Return the kind of a span: its ends are seldom given with a time zone."""
    return "universal" if (kind, other) == ("universal", "local") else other


def _resolution(given: Any, borders: list[Ticks], steps: list[int], dated: bool) -> int:
    if given is None:
        if not dated:
            return 1
        divisor = gcd(*(int(np.gcd.reduce(each)) for each in borders))
        return min([next(durations.UNITS[unit] for unit in _COARSEST if divisor % durations.UNITS[unit] == 0), *steps])
    return given_resolution(given, dated=dated)


def given_resolution(given: Any, *, dated: bool) -> int:
    """Return the length of a cell that somebody wants, in ticks."""
    if dated:
        step = durations.nanoseconds_or_seconds("resolution", given)
    elif isinstance(given, (int, np.integer)) and not isinstance(given, bool):
        step = int(given)
    else:
        raise ValueError(f"resolution must be a whole number, as the times are: got {quote(given)}")
    if not 1 <= step < LARGEST:
        raise ValueError(f"resolution must be above 0, and not beyond all times: got {quote(given)}")
    return step


def cells_of_duration(name: str, given: Any, axis: TimeAxis | None) -> float:
    """Return a duration in cells."""
    if axis is None:
        advice = "give the times too, or a number of points"
        raise ValueError(f"{name} {quote(given)} is a duration, and there is no clock: {advice}")
    if not axis.dated:
        raise ValueError(f"{name} {quote(given)} is a duration, but the times are numbers, not dates: give a number")
    return durations.nanoseconds(name, given) / axis.resolution


def near_in_cells(given: Any, axis: TimeAxis | None) -> float:
    """Return a near range that is given as a duration in cells; nothing would be a false alarm if it were longer."""
    cells = cells_of_duration("near", given, axis)
    if axis is not None and cells > axis.cells:
        raise ValueError(f"near {quote(given)} is longer than the whole time, {axis.lasting(axis.cells)}")
    return cells


def _pair(given: Any) -> tuple[Any, Any]:
    if not is_pair(given):
        raise ValueError(f"span must be a pair of start and end: got {quote(given)}")
    return given[0], given[1]


def _names(spans: Spans, events: Events, starts: Ticks, stops: Ticks) -> tuple[str, ...]:
    """Return the names of the intervals that each event is made of."""
    found: list[dict[str, None]] = [{} for _ in range(len(events))]
    first, last = np.searchsorted(events.stops, starts, side="right"), np.searchsorted(events.starts, stops)
    for i in np.argsort(starts, kind="stable").tolist():
        for event in found[first[i] : last[i]] if spans.names[i] else ():
            event[spans.names[i]] = None
    return tuple("; ".join(names) for names in found)


def _lengths(starts: Ticks, stops: Ticks) -> Ticks:
    """Return how long intervals last, those that touch or overlap as one."""
    starts, stops = np.sort(starts), np.sort(stops)  # each for itself, as in `_joined`
    apart = starts[1:] > stops[:-1]
    ends = np.ones((2, len(starts)), dtype=np.bool_)
    ends[0, 1:] = ends[1, :-1] = apart
    return np.asarray(stops[ends[1]] - starts[ends[0]])


def _joined(starts: Ticks, stops: Ticks, length: int, breaks: IntArray) -> Events:
    """Return cells as events, joined where they overlap, or touch without a break."""
    # Each for itself: an event ends where as many intervals have stopped as have started.
    starts, stops = np.sort(starts), np.sort(stops)
    apart = starts[1:] > stops[:-1]
    if len(breaks):
        apart |= (starts[1:] == stops[:-1]) & np.isin(starts[1:], breaks)
    ends = np.ones((2, len(starts)), dtype=np.bool_)
    ends[0, 1:] = ends[1, :-1] = apart
    return Events(starts[ends[0]].astype(np.intp, copy=False), stops[ends[1]].astype(np.intp, copy=False), length)
