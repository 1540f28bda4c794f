"""Detections cut at the borders of the pieces they fall into."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dqeval.core.types import BoolArray, Events, FloatArray, IntArray, Partition
from dqeval.support.on_demand import cached_property

PIECES = ("false alarm", "near miss", "capture", "near miss", "false alarm")  # of a region, in time order


@dataclass(frozen=True, eq=False)
class Parts:
    """What of each detection lies in which piece, in time order.

    Attributes
    ----------
    event, piece : array of int, shape (n,)
        The event whose region it is, and which of its five pieces: ``PIECES[piece]`` is the kind.
    starts, stops : array of float, shape (n,)
    """

    event: IntArray
    piece: IntArray
    starts: FloatArray
    stops: FloatArray

    def __len__(self) -> int:
        return len(self.event)

    def of(self, event: int, kind: str) -> list[tuple[float, float]]:
        """Return the parts of one kind in the region of an event."""
        first, starts, stops = self._by_kind[kind]
        if event + 1 >= len(first) or first[event] == first[event + 1]:
            return []
        at = slice(first[event], first[event + 1])
        return list(zip(starts[at].tolist(), stops[at].tolist(), strict=True))

    def of_each(self, kind: str, events: int) -> list[list[tuple[float, float]]]:
        """Return the same for each of the events."""
        first, starts, stops = self._by_kind[kind]
        found = list(zip(starts.tolist(), stops.tolist(), strict=True))
        there = [found[begin:end] for begin, end in pairwise(first.tolist())]
        return there + [[] for _ in range(events - len(there))]

    def of_kinds(self, kinds: Collection[str]) -> tuple[IntArray, FloatArray, FloatArray]:
        """Return the events, starts and stops of all parts of some kinds."""
        some = np.isin(self.piece, [i for i, each in enumerate(PIECES) if each in kinds])
        return self.event[some], self.starts[some], self.stops[some]

    @cached_property
    def _by_kind(self) -> dict[str, tuple[IntArray, FloatArray, FloatArray]]:
        """Of each kind where the parts of each event begin, up to the last one that has any, and all these parts."""
        found = {}
        for kind in dict.fromkeys(PIECES):
            event, starts, stops = self.of_kinds([kind])
            first = np.searchsorted(event, np.arange(event.max(initial=-1) + 2))
            found[kind] = first, starts, stops
        return found

    def without(self, owned: BoolArray) -> Parts:
        """Return the others than some."""
        return Parts(self.event[~owned], self.piece[~owned], self.starts[~owned], self.stops[~owned])


def belonging_to_captures(parts: Parts) -> BoolArray:
    """Tell which parts are the rest of an alarm that captures an event: they go on, without a gap, from the event.

    An alarm is not followed into the region of the next event: what it is there, it is to that event.
    """
    kinds = np.array(PIECES)[parts.piece]
    joined = (parts.stops[:-1] == parts.starts[1:]) & (parts.event[:-1] == parts.event[1:])
    owned = kinds == "capture"
    for _ in range(2):  # to the near-miss piece, and from there to the false-alarm piece, on both sides
        owned[1:] |= joined & owned[:-1]
        owned[:-1] |= joined & owned[1:]
    return np.asarray(owned & (kinds != "capture"))


def parts_in(detections: Events, regions: Partition) -> Parts:
    """Cut detections at the borders of the pieces of some regions."""
    events = regions.events
    cuts = (regions.left, regions.near_start, events.starts, events.stops, regions.near_stop, regions.right)
    # What lies before, between and behind regions is a piece of nothing.
    borders = np.concatenate([[0.0], np.column_stack(cuts).ravel(), [float(events.length)]])
    first = np.searchsorted(borders, detections.starts, side="right") - 1
    last = np.searchsorted(borders, detections.stops, side="left") - 1
    counts = last - first + 1
    run = np.repeat(np.arange(len(counts)), counts)
    cell = np.arange(len(run)) - np.repeat(np.cumsum(counts) - counts, counts) + first[run]
    starts = np.maximum(detections.starts[run], borders[cell])
    stops = np.minimum(detections.stops[run], borders[cell + 1])
    event, piece = np.divmod(cell - 1, len(PIECES) + 1)
    there = (starts < stops) & (piece < len(PIECES)) & (event >= 0)  # pieces may be empty
    return Parts(event[there], piece[there], starts[there], stops[there])
