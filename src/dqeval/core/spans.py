"""Intervals of time, from whatever people have: pairs, single moments, or columns of a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dqeval.core import arguments, durations
from dqeval.core.arguments import quote
from dqeval.core.events import flags_of
from dqeval.core.moments import LARGEST, Kind, Moments, Ticks, moments_of, same_kind
from dqeval.core.types import BoolArray, Events, IntArray
from dqeval.core.zones import UTC, shared_zone

Closed = Literal["left", "both"]

# What columns are called, in small letters.
STARTS = ("start", "starts", "begin", "left", "from", "start_time", "starttime", "started_at", "starts_at", "startsat")
STOPS = (
    *("end", "stop", "ends", "stops", "right", "to", "finish", "end_time", "endtime", "stop_time"),
    *("ended_at", "ends_at", "endsat", "finished_at", "resolved_at"),
)
LENGTHS = ("duration",)

_EARLIEST = int(np.iinfo(np.int64).min)


@dataclass(frozen=True, slots=True, eq=False)
class PointTimes:
    """When points begin, in ascending order. Each lasts a step, or until the next begins; if they are even, both."""

    ticks: Ticks
    step: int
    even: bool

    def at(self, points: IntArray) -> Ticks:
        """Return when some points begin."""
        if not self.even:
            return self.ticks[points]
        begin: Ticks = points * self.step + self.ticks[0]
        return begin

    def ends(self, points: IntArray) -> Ticks:
        """Return when some points end."""
        ends = self.at(points) + self.step
        if not self.even:
            others = points < len(self.ticks) - 1
            ends[others] = np.minimum(ends[others], self.ticks[points[others] + 1])
        return ends

    def count_over(self, moments: Ticks) -> IntArray:
        """Return how many points are over at each moment."""
        # A step before the earliest time that numbers can hold, there is none.
        over = self.count_before(np.maximum(moments, _EARLIEST + self.step) - self.step, inclusive=True)
        return over if self.even else np.maximum(over, self.count_before(moments, inclusive=True) - 1)

    def count_before(self, moments: Ticks, *, inclusive: bool = False) -> IntArray:
        """Return how many points begin before each moment, or at it, if inclusive."""
        if not self.even:
            return np.searchsorted(self.ticks, moments, side="right" if inclusive else "left")
        # Differences of moments farther away might not fit into a number.
        begin, end = self.ticks[0], self.ticks[-1]
        since = np.clip(moments, begin, end) - begin
        count = since // self.step + (inclusive | (since % self.step > 0))
        return np.where(moments < begin, 0, np.where(moments > end, len(self.ticks), count))


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """Intervals of time: half-open, in any order, as ticks of a clock.

    Attributes
    ----------
    starts, stops : array of int, shape (n,)
        Nanoseconds since 1970 for dates; otherwise the numbers.
    kind : "number", "local", "universal" or None
        What the times are: see `Moments`; None where there is no interval.
    instants : array of bool, shape (n,)
        Those that were given as a moment, or end when they start: they take one cell.
    closed : "left" or "both", optional
        Whether ends are outside their intervals, or inside, where the source says it.
    names : tuple of str
        What each is called, where the source says it.
    step : int
        How many ticks a cell lasts by default; 0 if the times tell it.
    zone : str
        The time zone in which dates with one are shown.
    """

    starts: Ticks
    stops: Ticks
    kind: Kind | None
    instants: NDArray[np.bool_]
    closed: Closed | None = None
    names: tuple[str, ...] = ()
    step: int = 0
    zone: str = UTC

    def reaches(self, moment: int, closed: Closed) -> bool:
        """Tell whether a moment, at which an interval ends, is inside of it."""
        ends_inside = self.instants | ((self.closed or closed) == "both")
        return bool((ends_inside & (self.stops == moment)).any())

    def points(self, times: PointTimes, closed: Closed = "left") -> BoolArray:
        """Tell which points overlap an interval."""
        first = times.count_over(self.starts)
        ends_inside = (self.closed or closed) == "both"
        last = times.count_before(self.stops, inclusive=ends_inside)
        if not ends_inside and self.instants.any():
            last[self.instants] = times.count_before(self.stops[self.instants], inclusive=True)
        order = np.argsort(first, kind="stable")
        return flags_of(Events(first[order], last[order], len(times.ticks)))

    def __len__(self) -> int:
        return len(self.starts)


def spans_of(name: str, given: Any) -> Spans:
    """Return intervals from whatever people have: pairs, instants, columns, or an IntervalIndex of pandas.

    Parameters
    ----------
    name : str
        What to call them in an error.
    given : sequence, mapping or DataFrame
        Pairs of start and end, which something else may follow; single moments; columns called start and end, or start
        and duration; or what was read from a file.
    """
    if isinstance(given, Spans):
        return given
    if hasattr(given, "spans"):
        found: Spans = given.spans()
        return found
    starts, stops, instants = _columns_of(name, given)
    if not len(starts.ticks):
        return Spans(np.zeros(0, np.int64), np.zeros(0, np.int64), None, np.zeros(0, np.bool_))
    kind = same_kind({f"the starts of {name}": starts.kind, "the ends": stops.kind})
    first, last = starts.ticks, stops.ticks
    if (wrong := np.flatnonzero(last < first)).size:
        i = int(wrong[0])
        times = f"{starts.shown(i)} to {stops.shown(i)}"
        raise ValueError(f"{name}: the one at position {i} ends before it starts: {times}")
    return Spans(first, last, kind, instants | (first == last), zone=shared_zone(starts.zone, stops.zone))


def _columns_of(name: str, given: Any) -> tuple[Moments, Moments, BoolArray]:
    """Return starts and ends, and which were given as a single moment."""
    if hasattr(given, "left") and hasattr(given, "right"):  # an IntervalIndex
        if given.closed != "left":
            advice = 'give it as .set_closed("left"), or as pairs of start and end with closed="both"'
            raise ValueError(f"{name} is an IntervalIndex that is closed on {given.closed!r}: {advice}")
        return _pairs(name, given.left, given.right)
    if isinstance(given, Mapping) or hasattr(given, "columns"):
        return _from_table(name, given)
    if isinstance(given, np.ndarray) and given.ndim == 2 and given.shape[1] >= 2:
        return _pairs(name, given[:, 0], given[:, 1])
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise ValueError(f"{name} must be pairs of start and end, times, or columns: got {quote(given)}")
    rows = list(given)
    if rows and all(_begins_with_pair(row) for row in rows):
        return _pairs(name, [row[0] for row in rows], [row[1] for row in rows])
    if any(_begins_with_pair(row) for row in rows):
        raise ValueError(f"{name}: some are pairs of start and end, and others are not")
    moments = moments_of(name, rows)
    return moments, moments, np.ones(len(rows), dtype=np.bool_)


def _from_table(name: str, table: Any) -> tuple[Moments, Moments, BoolArray]:
    names = {str(column).lower(): column for column in (table.columns if hasattr(table, "columns") else table)}
    start, stop, length = (next((n for n in known if n in names), None) for known in (STARTS, STOPS, LENGTHS))
    if start is None or (stop is None and length is None):
        there = ", ".join(map(str, names.values())) or "none"
        raise ValueError(f"{name} needs the columns start and end, or start and duration: got {there}")
    if stop is not None:
        return _pairs(name, table[names[start]], table[names[stop]])
    starts = moments_of(name, table[names[start]])
    lengths = [length_of(name, each, starts.kind != "number") for each in table[names[str(length)]]]
    _same_length(name, len(starts.ticks), len(lengths))
    stops = replace(starts, ticks=starts.ticks + np.array(lengths, dtype=np.int64), known_steps=None)
    return starts, stops, np.zeros(len(lengths), dtype=np.bool_)


def length_of(name: str, given: Any, dated: bool) -> int:
    """Return a duration in ticks: of dates, a number is one of seconds."""
    what = f"{name}, duration"
    if not dated:
        return arguments.whole_number(what, given, least=0, most=LARGEST)
    found = durations.nanoseconds_or_seconds(what, given)
    if not 0 <= found < LARGEST:
        raise ValueError(f"{what} must be at least 0, and less than a century: got {quote(given)}")
    return found


def _pairs(name: str, starts: Any, stops: Any) -> tuple[Moments, Moments, BoolArray]:
    first, last = moments_of(f"{name}, starts", starts), moments_of(f"{name}, ends", stops)
    _same_length(name, len(first.ticks), len(last.ticks))
    return first, last, np.zeros(len(first.ticks), dtype=np.bool_)


def _same_length(name: str, starts: int, ends: int) -> None:
    if starts != ends:
        raise ValueError(f"{name} must have an end for each start: got {starts:,} and {ends:,}")


def is_pair(row: Any) -> bool:
    """Tell whether something may be a start and an end."""
    return _begins_with_pair(row) and len(row) == 2


def _begins_with_pair(row: Any) -> bool:
    """Tell whether something may be a start and an end, and whatever else is known of the interval."""
    return isinstance(row, (tuple, list, np.ndarray)) and len(row) >= 2
