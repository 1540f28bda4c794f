"""A time axis: a regular grid of cells over a span, and intervals of time on it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dqeval.core import durations
from dqeval.core.arguments import quote
from dqeval.core.times import are_known, parse_times
from dqeval.core.types import Events
from dqeval.render.tables import count_of

Closed = Literal["left", "both"]
Ticks = NDArray[np.int64]

STARTS, STOPS, LENGTHS = ("start", "starts", "begin", "left"), ("end", "stop", "ends", "stops", "right"), ("duration",)
_COARSEST = ("d", "h", "min", "s", "ms", "us", "ns")  # for a clock of which nothing is known but its moments
_MOST_CELLS = 2**53  # positions of cells are floats
_LONGEST_STEP = 2**62


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """Intervals of time: half-open, sorted, as ticks of a clock.

    Attributes
    ----------
    starts, stops : array of int, shape (n,)
        Nanoseconds since 1970 for dates; otherwise the numbers.
    dated : bool or None
        Whether these are dates; None where there is no interval.
    instants : array of bool, shape (n,)
        Those that were given as a moment, or end when they start: they take one cell.
    """

    starts: Ticks
    stops: Ticks
    dated: bool | None
    instants: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.starts)


@dataclass(frozen=True, slots=True)
class TimeAxis:
    """A grid of cells: cell k is [origin + k · resolution, origin + (k + 1) · resolution).

    Attributes
    ----------
    origin, resolution : int
        In ticks: nanoseconds for dates.
    length : int
        How many cells there are.
    dated : bool
    """

    origin: int
    resolution: int
    length: int
    dated: bool

    def cells(self, spans: Spans, closed: Closed) -> tuple[Events, int]:
        """Return the cells that intervals overlap, joined where they touch, and how many intervals lie outside."""
        first = (spans.starts - self.origin) // self.resolution
        open_end = (spans.stops - self.origin + self.resolution - 1) // self.resolution
        closed_end = (spans.stops - self.origin) // self.resolution + 1
        last = np.where(spans.instants, first + 1, closed_end if closed == "both" else open_end)
        inside = (first < self.length) & (last > 0)
        starts, stops = np.maximum(first[inside], 0), np.minimum(last[inside], self.length)
        return _joined(starts, stops, self.length), int(np.count_nonzero(~inside))

    def time_of(self, cell: int) -> Any:
        """Return when a cell begins."""
        ticks = self.origin + cell * self.resolution
        return np.datetime64(ticks, "ns") if self.dated else ticks

    def __str__(self) -> str:
        step = durations.in_words(self.resolution, exact=True) if self.dated else f"{self.resolution:,}"
        return f"{count_of(self.length, 'cell')} of {step}"


def spans_of(name: str, given: Any) -> Spans:
    """Return intervals from whatever people have: pairs, instants, columns, or an IntervalIndex of pandas.

    Parameters
    ----------
    name : str
        What to call them in an error.
    given : sequence, mapping or DataFrame
        Pairs of start and end; single moments; columns called start and end, or start and duration.
    """
    starts, stops, instants = _columns_of(name, given)
    if not len(starts):
        return Spans(np.zeros(0, np.int64), np.zeros(0, np.int64), None, np.zeros(0, np.bool_))
    both, dated = ticks_of(name, np.concatenate([starts, stops]))
    first, last = np.split(both, 2)
    if (wrong := np.flatnonzero(last < first)).size:
        i = int(wrong[0])
        raise ValueError(f"{name}: the one at position {i} ends before it starts: {starts[i]} to {stops[i]}")
    order = np.argsort(first, kind="stable")
    return Spans(first[order], last[order], dated, (instants | (first == last))[order])


def ticks_of(name: str, given: NDArray[Any]) -> tuple[Ticks, bool]:
    """Return moments as whole numbers, and whether they are dates."""
    times = parse_times(given)
    if not are_known(times):
        example = f"such as {quote(str(given[0]))}"
        advice = "give numbers, or dates such as 2026-01-31T12:00:00, all with a time zone or all without"
        raise ValueError(f"{name}: the times, {example}, cannot be read together: {advice}")
    if times.dtype.kind == "M":
        if np.isnat(times).any():
            raise ValueError(f"{name}: the time at position {int(np.argmax(np.isnat(times)))} is missing")
        ticks = times.astype("datetime64[ns]")
        if (far := ticks.astype(times.dtype) != times).any():
            raise ValueError(f"{name}: {times[np.argmax(far)]} is too far away: dates must be from 1678 to 2261")
        return ticks.astype(np.int64), True
    if not np.isfinite(times.astype(np.float64)).all():
        raise ValueError(f"{name}: the time at position {int(np.argmin(np.isfinite(times)))} is not finite")
    if (np.abs(times.astype(np.float64)) >= _LONGEST_STEP).any():
        raise ValueError(
            f"{name}: the time {times[np.argmax(np.abs(times))]} is too large: give smaller numbers, or dates"
        )
    if (times != np.floor(times)).any():
        advice = "give whole numbers, such as milliseconds, or dates"
        raise ValueError(f"{name}: the time {times[np.argmax(times != np.floor(times))]} is not whole: {advice}")
    return times.astype(np.int64), False


def axis_of(spans: Iterable[Spans], *, span: Any = None, resolution: Any = None) -> TimeAxis:
    """Return the grid that some intervals lie on.

    Parameters
    ----------
    spans : iterable of Spans
    span : pair of moments, optional
        The observed time; by default from the first start to the last end.
    resolution : duration or int, optional
        The length of a cell; by default, for dates the largest of a day, an hour, a minute, a second and so on in which
        all moments are whole; 1 for numbers.
    """
    found = [each for each in spans if len(each)]
    borders = [border for each in found for border in (each.starts, each.stops)]
    kinds = {each.dated for each in found}
    if span is not None:
        ends, dated = ticks_of("span", np.asarray([_moment(moment) for moment in _pair(span)]))
        kinds.add(dated)
        low, high = (int(end) for end in ends)
    elif borders:
        low, high = int(min(b.min() for b in borders)), int(max(b.max() for b in borders))
    else:
        raise ValueError("there is no interval and no span: give span=(start, end)")
    if len(kinds) > 1:
        raise ValueError("some times are dates and others are numbers: give all in the same form")
    (is_dated,) = kinds
    if high <= low:
        raise ValueError("span must end after it starts")
    step = _resolution(resolution, [*borders, np.array([low, high])], bool(is_dated))
    length = -(-(high - low) // step)
    if length > _MOST_CELLS:
        raise ValueError(f"the span has {length:,} cells of the resolution: give a coarser resolution")
    return TimeAxis(low, step, length, bool(is_dated))


def _resolution(given: Any, borders: list[Ticks], dated: bool) -> int:
    if given is None:
        if not dated:
            return 1
        divisor = gcd(*(int(np.gcd.reduce(each)) for each in borders))
        return next(durations.UNITS[unit] for unit in _COARSEST if divisor % durations.UNITS[unit] == 0)
    if dated:
        step = durations.nanoseconds("resolution", given if durations.is_duration(given) else _as_seconds(given))
    elif isinstance(given, (int, np.integer)) and not isinstance(given, bool):
        step = int(given)
    else:
        raise ValueError(f"resolution must be a whole number, as the times are: got {quote(given)}")
    if not 1 <= step < _LONGEST_STEP:
        raise ValueError(f"resolution must be above 0, and not beyond all times: got {quote(given)}")
    return step


def _as_seconds(given: Any) -> Any:
    """Return a number of seconds as a duration; anything else as it is."""
    number = isinstance(given, (int, float, np.integer, np.floating)) and not isinstance(given, bool)
    return np.timedelta64(round(Fraction(float(given)) * 10**9), "ns") if number and np.isfinite(given) else given


def cells_of_duration(name: str, given: Any, axis: TimeAxis) -> float:
    """Return a duration in cells."""
    if not axis.dated:
        raise ValueError(f"{name} {quote(given)} is a duration, but the times are numbers, not dates: give a number")
    return durations.nanoseconds(name, given) / axis.resolution


def _columns_of(name: str, given: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
    """Return starts and ends as they are given, and which were given as a single moment."""
    if hasattr(given, "left") and hasattr(given, "right"):  # an IntervalIndex
        if given.closed != "left":
            advice = 'give it as .set_closed("left"), or as pairs of start and end with closed="both"'
            raise ValueError(f"{name} is an IntervalIndex that is closed on {given.closed!r}: {advice}")
        return _pairs(_moments(given.left), _moments(given.right))
    if isinstance(given, Mapping) or hasattr(given, "columns"):
        return _from_table(name, given)
    if isinstance(given, np.ndarray) and given.ndim == 2 and given.shape[1] == 2:
        return _pairs(_moments(given[:, 0]), _moments(given[:, 1]))
    rows = list(given)
    if rows and all(_is_pair(row) for row in rows):
        return _pairs(_moments(row[0] for row in rows), _moments(row[1] for row in rows))
    if any(_is_pair(row) for row in rows):
        raise ValueError(f"{name}: some are pairs of start and end, and others are not")
    moments = _moments(rows)
    return moments, moments, np.ones(len(moments), dtype=np.bool_)


def _from_table(name: str, table: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
    names = {str(column).lower(): column for column in (table.columns if hasattr(table, "columns") else table)}
    start, stop, length = (next((n for n in known if n in names), None) for known in (STARTS, STOPS, LENGTHS))
    if start is None or (stop is None and length is None):
        there = ", ".join(map(str, names.values())) or "none"
        raise ValueError(f"{name} needs the columns start and end, or start and duration: got {there}")
    starts = _moments(table[names[start]])
    if stop is not None:
        return _pairs(starts, _moments(table[names[stop]]))
    ticks, dated = ticks_of(name, starts) if len(starts) else (np.zeros(0, np.int64), False)
    lengths = [_length(name, each, dated) for each in table[names[str(length)]]]
    ends = ticks + np.array(lengths, dtype=np.int64)
    return _pairs(*((t.astype("datetime64[ns]") if dated else t) for t in (ticks, ends)))


def _length(name: str, given: Any, dated: bool) -> int:
    if not dated:
        return int(given)
    return durations.nanoseconds(f"{name}, duration", given if durations.is_duration(given) else _as_seconds(given))


def _pairs(starts: NDArray[Any], stops: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
    return starts, stops, np.zeros(len(starts), dtype=np.bool_)


def _moments(given: Any) -> NDArray[Any]:
    """Return moments as an array: dates with a time zone in text, which says it."""
    found = np.asarray(given if hasattr(given, "dtype") else list(given))
    if found.dtype.kind == "O":
        found = np.array([_moment(each) for each in found])
    return found


def _moment(given: Any) -> Any:
    return given.isoformat() if hasattr(given, "isoformat") else given


def _pair(given: Any) -> tuple[Any, Any]:
    if not _is_pair(given):
        raise ValueError(f"span must be a pair of start and end: got {quote(given)}")
    return given[0], given[1]


def _is_pair(row: Any) -> bool:
    return isinstance(row, (tuple, list, np.ndarray)) and len(row) == 2


def _joined(starts: Ticks, stops: Ticks, length: int) -> Events:
    """Return cells as events, joined where they touch or overlap; the starts are sorted."""
    reach = np.maximum.accumulate(stops) if len(stops) else stops
    new = np.append(True, starts[1:] > reach[:-1]) if len(starts) else np.zeros(0, np.bool_)
    firsts = np.flatnonzero(new)
    lasts = np.append(firsts[1:], len(starts))[: len(firsts)] - 1
    return Events(starts[firsts].astype(np.intp), reach[lasts].astype(np.intp), length)
