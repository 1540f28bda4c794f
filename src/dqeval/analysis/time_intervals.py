"""Intervals of time as arrays, which are pairs of start and end where they are asked for one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from dqeval.core.moments import Kind, Ticks, zone_shown
from dqeval.core.spans import Spans
from dqeval.core.zones import UTC, on_clocks
from dqeval.render.tables import Table, count_of
from dqeval.support.frames import Framed, Library, frame_of, in_frame

MOST_SHOWN = 10
UNITS = ("D", "m", "s", "ms", "us", "ns")  # in which dates are shown

Pair = tuple[Any, Any]


@dataclass(frozen=True, slots=True, eq=False)
class TimeIntervals(Framed, Sequence[Pair]):
    """Intervals of time: half-open, in order, and apart from each other.

    They are a sequence of pairs of start and end, equal to a list of the same pairs. ``to_frame()`` has a row for each.

    Attributes
    ----------
    start, end : array of datetime64 or int, shape (n,)
        Dates in nanoseconds, or numbers. Dates with a time zone are in UTC, and do not say so, as ``datetime64`` has no
        zone. The table of ``to_frame()`` has them in their zone, and functions that take intervals know it of this
        object.
    kind : "number", "local" or "universal"
        Whether these are numbers, dates without a time zone, or dates that had one.
    zone : str
        The time zone in which dates that had one are shown: that in which they were given.

    Examples
    --------
    >>> found = dqeval.intervals_from_labels([0, 1, 1, 0, 1], [0, 10, 20, 30, 40])
    >>> found[0], list(found), len(found)
    ((10, 30), [(10, 30), (40, 50)], 2)
    """

    start: NDArray[Any]
    end: NDArray[Any]
    kind: Kind
    zone: str = UTC

    @classmethod
    def of_ticks(cls, starts: Ticks, ends: Ticks, kind: Kind, zone: str = UTC) -> TimeIntervals:
        """Return intervals of numbers, or of nanoseconds since 1970."""
        if kind == "number":
            return cls(starts, ends, kind)
        return cls(starts.astype("datetime64[ns]"), ends.astype("datetime64[ns]"), kind, zone)

    def spans(self) -> Spans:
        """Return them as everything that takes intervals does."""
        starts, ends = self.start.astype(np.int64), self.end.astype(np.int64)
        return Spans(starts, ends, self.kind if len(self) else None, starts == ends, zone=self.zone)

    def __len__(self) -> int:
        return len(self.start)

    def __iter__(self) -> Iterator[Pair]:
        return zip(_items(self.start), _items(self.end), strict=True)

    @overload
    def __getitem__(self, index: int) -> Pair: ...
    @overload
    def __getitem__(self, index: slice) -> TimeIntervals: ...
    def __getitem__(self, index: int | slice) -> Pair | TimeIntervals:
        start, end = self.start[index], self.end[index]
        if isinstance(index, slice):
            return TimeIntervals(start, end, self.kind, self.zone)
        return (int(start), int(end)) if self.kind == "number" else (start, end)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, TimeIntervals):
            known = len(self) == len(other) and self.kind == other.kind
            return known and bool((self.start == other.start).all() and (self.end == other.end).all())
        return list(self) == other if isinstance(other, list) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def to_frame(self, library: Library = "pandas") -> Any:
        """Return a DataFrame with a row for each interval; dates that had a time zone are in it there."""
        ends = {"start": self.start, "end": self.end}
        return frame_of({name: in_frame(times, self._zone) for name, times in ends.items()}, library)

    @property
    def _zone(self) -> str | None:
        return zone_shown(self.kind, self.zone)

    def _table(self) -> Table:
        ends = np.stack([self.start[:MOST_SHOWN], self.end[:MOST_SHOWN]], axis=1)
        texts = _shown(ends if self._zone is None else on_clocks(ends, self._zone)[0])
        rows = [(str(start), str(end)) for start, end in texts]
        more = f"the first {MOST_SHOWN} of {count_of(len(self), 'interval')}" if len(self) > MOST_SHOWN else ""
        zone = f", {self._zone}" if self._zone else ""
        return Table((f"start{zone}", f"end{zone}"), rows, more, text_columns=2)

    def __str__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()


def _items(times: NDArray[Any]) -> Iterator[Any]:
    """Yield numbers of Python, or dates of NumPy."""
    return iter(times.tolist()) if times.dtype.kind != "M" else iter(times)


def _shown(times: NDArray[Any]) -> NDArray[Any]:
    """Return numbers as they are, and dates in the coarsest unit that holds all of them."""
    if times.dtype.kind != "M":
        return times
    return next(dates for unit in UNITS if ((dates := times.astype(f"datetime64[{unit}]")) == times).all())
