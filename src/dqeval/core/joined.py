"""Several short series with scores, joined one behind the other: what Python adds to the loops is paid once for all.

Where two series meet there is a break, as where a clock has a gap: nothing goes on over it. Metrics of detections get a
`Sweep` on which each series has levels of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dqeval.core.prepared import Labelled, Scored, Shared
from dqeval.core.regions import cut
from dqeval.core.scaling import LinearParts, linear_parts
from dqeval.core.sorting import ascending_in
from dqeval.core.sweep import Groups, Sweep, levels_above_evenly_spaced, precision_class
from dqeval.core.thresholds import Best, Swept, best_or_nothing, best_values
from dqeval.core.types import Events, FloatArray, IntArray, Partition
from dqeval.kernels import distinct as distinct_kernel
from dqeval.kernels import sweep as sweep_kernel
from dqeval.support import threads
from dqeval.support.on_demand import cached_property

Item = TypeVar("Item")

POINTS_TOGETHER = 1 << 16  # of all together: what is made of them stays in a cache
LEAST_ROOM = 250  # points, as what is known of each threshold takes as much memory however short a series is
MOST_LEVELS = 1 << 19  # thresholds of all together: with more, arrays by threshold would be the largest


@dataclass(frozen=True, eq=False)
class JoinedLabelled(Labelled):
    """The labels of several series, one behind the other; each has an event.

    Attributes
    ----------
    members : tuple of Labelled
    """

    members: tuple[Labelled, ...] = ()

    @classmethod
    def of(cls, members: Sequence[Labelled]) -> JoinedLabelled:
        """Join the labels of some series."""
        return cls(np.concatenate([member.labels for member in members]), members=tuple(members))

    @cached_property
    def sizes(self) -> IntArray:
        """How many points each series has."""
        return np.array([len(member.labels) for member in self.members])

    @cached_property
    def counts(self) -> IntArray:
        """How many events each series has."""
        return np.array([len(member.events) for member in self.members])

    @cached_property
    def borders(self) -> IntArray:
        """Where each series begins, and where the last one ends."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.intp)

    @cached_property
    def breaks(self) -> IntArray:
        """The points before which something was not observed, or a series begins."""
        own = [member.breaks + begin for member, begin in zip(self.members, self.borders.tolist(), strict=False)]
        return np.sort(np.concatenate([self.borders[1:-1], *own]).astype(np.intp))

    @cached_property
    def events(self) -> Events:
        """The events of all series."""
        shifts = np.repeat(self.borders[:-1], self.counts)
        starts = np.concatenate([member.events.starts for member in self.members]) + shifts
        stops = np.concatenate([member.events.stops for member in self.members]) + shifts
        return Events(starts, stops, int(self.borders[-1]))

    @cached_property
    def zones(self) -> Partition:
        """The points of its series that are nearer to each event than to any other."""
        observed_throughout = len(self.breaks) == len(self.members) - 1
        return self.regions(0.0) if observed_throughout else cut(self.events, 0.0, self.borders[1:-1])

    @cached_property
    def begin(self) -> IntArray:
        """Where the series of each event begins."""
        return np.repeat(self.borders[:-1], self.counts)

    @cached_property
    def end(self) -> IntArray:
        """Where the series of each event ends."""
        return np.repeat(self.borders[1:], self.counts)

    def of_events(self, points: Sequence[int]) -> IntArray:
        """Return a number of points of each series, at most all, for each event."""
        return np.repeat([min(some, size) for some, size in zip(points, self.sizes.tolist(), strict=True)], self.counts)

    @property
    def most_points(self) -> int:
        """How many points the longest series has."""
        return int(self.sizes.max())

    @property
    def most_events(self) -> int:
        """How many events the series has that has most."""
        return int(self.counts.max())

    @cached_property
    def event_bounds(self) -> IntArray:
        """The first event of each series, and how many there are."""
        return np.concatenate([[0], np.cumsum(self.counts)]).astype(np.intp)

    def of_points(self, step: int) -> NDArray[np.intc]:
        """Return 0 for the points of the first series, a step for those of the second, twice that for the third."""
        return np.repeat(np.arange(len(self.sizes), dtype=np.intc) * np.intc(step), self.sizes)

    def of_series(self, by_event: NDArray[Any]) -> list[NDArray[Any]]:
        """Return what there is of each event, series by series."""
        return np.split(by_event, self.event_bounds[1:-1])


@dataclass(frozen=True, eq=False)
class Joined(Shared):
    """Several series with scores, or with detections, joined one behind the other.

    Attributes
    ----------
    members : tuple of Scored
    """

    members: tuple[Scored, ...]

    @property
    def binary(self) -> bool:
        """Whether there are detections."""
        return self.members[0].binary

    @cached_property
    def labelled(self) -> JoinedLabelled:
        """The labels of all series."""
        return JoinedLabelled.of([member.labelled for member in self.members])

    @cached_property
    def raw(self) -> FloatArray:
        """The scores of all series."""
        return np.concatenate([member.raw for member in self.members])

    @cached_property
    def threshold_scores(self) -> FloatArray:
        """The scores that thresholds lie between: see `Scored.threshold_scores`."""
        return np.concatenate([member.threshold_scores for member in self.members])

    @cached_property
    def counting(self) -> LinearParts:
        """The scores, and how those of each series are scaled to [0, 1]."""
        if self.binary:
            low, width = np.repeat([[0.0], [1.0]], len(self.members), axis=1)
            return LinearParts(self.raw, self.labelled.borders[:-1], low, width)
        return linear_parts(self.raw, self.labelled.borders[:-1])

    @cached_property
    def in_order(self) -> tuple[NDArray[np.intc], NDArray[np.uint8]]:
        """The points of each series by ascending score, and which of them score as much as the one before."""
        tied = np.empty(len(self.raw), dtype=np.uint8)
        return ascending_in(self.raw, self.labelled.borders[:-1], self.labelled.borders[1:], tied), tied

    @cached_property
    def distinct(self) -> JoinedDistinct:
        """What is detected at each distinct score of each series."""
        detected, hits = np.empty((2, len(self.raw)), dtype=np.intc)
        bits = np.packbits(self.labelled.labels, bitorder="little")
        count = distinct_kernel.distinct_scores(*self.in_order, bits, detected, hits)
        return JoinedDistinct(self, detected[:count], hits[:count])

    def levels(self, scores: FloatArray, thresholds: FloatArray) -> tuple[NDArray[np.intc], IntArray]:
        """Return how many thresholds, a row for each series, each point reaches: see `Scored.levels`."""
        count, most = thresholds.shape
        levels, below = np.empty(len(self.raw), dtype=np.intc), np.empty((count, most + 1), dtype=np.intp)
        order, _ = self.in_order
        borders = self.labelled.borders.tolist()
        for begin, end, own, fewer in zip(borders, borders[1:], thresholds, below, strict=False):
            distinct_kernel.levels_of_points(order[begin:end], scores, own, levels, fewer)
        return levels, below

    def sweep(self, thresholds: int) -> JoinedSweep:
        """Return the scores above evenly spaced thresholds, as `sweep_of` does of a single series."""
        return self.once(("sweep", thresholds), lambda: self._sweep(thresholds))

    @cached_property
    def detections(self) -> JoinedSweep:
        """The detections, as a single threshold that the detected points reach."""
        return JoinedSweep.of(self.labelled, (self.raw == 1).astype(np.intc), 1)

    def _sweep(self, thresholds: int) -> JoinedSweep:
        own = [levels_above_evenly_spaced(member.threshold_scores, thresholds) for member in self.members]
        return JoinedSweep.of(self.labelled, np.concatenate(own), thresholds - 1)


@dataclass(frozen=True, eq=False)
class JoinedSweep(Sweep):
    """Several series at descending thresholds, as many for each.

    Attributes
    ----------
    own : array of int
        How many thresholds of its series each point reaches.
    """

    labelled: JoinedLabelled
    own: NDArray[np.intc]

    @classmethod
    def of(cls, labelled: JoinedLabelled, own: NDArray[np.intc], each: int) -> JoinedSweep:
        """Return the sweep of points of which it is known how many of ``each`` thresholds they reach."""
        return cls(labelled, each * len(labelled.members), own)

    @property
    def each(self) -> int:
        """How many thresholds each series has."""
        return self.count // len(self.labelled.members)

    @property
    def _below(self) -> IntArray:
        """How many levels there are below those of each series."""
        return np.arange(len(self.labelled.members)) * self.each

    @cached_property
    def levels(self) -> NDArray[np.intc]:
        """The level of each point, among those of all series."""
        return _raised(self.own, self._below, self.labelled.sizes)

    @cached_property
    def points(self) -> IntArray:
        """How many points there are, at each threshold."""
        return np.repeat(self.labelled.sizes, self.each)

    @cached_property
    def labelled_points(self) -> IntArray:
        """How many points are labelled, at each threshold."""
        return np.repeat(np.add.reduceat(self.labelled.lengths, self.labelled.event_bounds[:-1]), self.each)

    @cached_property
    def event_count(self) -> IntArray:
        """How many events there are, at each threshold."""
        return np.repeat(self.labelled.counts, self.each)

    def groups(self, starts: IntArray, stops: IntArray) -> Groups:
        """Return the levels of the points at [start, stop) of each group: their own are those of their series."""
        sizes = stops - starts
        ends = np.cumsum(sizes)
        firsts = ends - sizes
        ordered, owners = np.empty((2, ends[-1]), dtype=np.intc)
        places = np.zeros(self.each + 1, dtype=np.intc)
        sweep_kernel.levels_by_group(self.own, starts, stops, firsts.copy(), places, owners, ordered)
        series = np.searchsorted(self.labelled.borders, starts, side="right") - 1
        levels = _raised(ordered, self._below[series], sizes)
        return Groups(levels, ordered, firsts, ends, self.own, np.zeros_like(firsts), self.each)

    def best_of_each(self, raw: FloatArray, found: Sequence[FloatArray]) -> list[Best]:
        """Return the best of each series over its thresholds, from what a metric says at each: see `best_in_sweep`."""
        precision, recall, values = best_values(found, self.count)
        series = np.arange(len(self.labelled.members))
        at = values.reshape(-1, self.each).argmax(axis=1)
        parts = (column.reshape(-1, self.each)[series, at].tolist() for column in (values, precision, recall))
        ends = self._scores_at(raw, at)
        return [best_or_nothing(Swept(*of_one), *own) for *of_one, own in zip(*parts, ends, strict=True)]

    def _scores_at(self, raw: FloatArray, positions: IntArray) -> list[tuple[float, float]]:
        """Return the lowest score detected at a threshold of each series, and the highest that is not."""
        shape = len(positions), self.each + 1
        by_series = self.own + self.labelled.of_points(shape[1])
        lowest, highest = np.full(shape, math.inf), np.full(shape, -math.inf)
        sweep_kernel.ends_of_levels(by_series, raw, lowest.reshape(-1), highest.reshape(-1))
        levels = self.each - positions
        series = np.arange(len(positions))
        detected = np.minimum.accumulate(lowest[:, ::-1], axis=1)[series, positions]
        others = np.maximum.accumulate(highest, axis=1)[series, levels - 1]
        return list(zip(detected.tolist(), others.tolist(), strict=True))


@dataclass(frozen=True, eq=False)
class JoinedDistinct:
    """What is detected at each distinct score, from the highest down: first of the last series, then of those before.

    Attributes
    ----------
    joined : Joined
    detected, hits : array of int
        How many points, and how many labelled ones, score at least as much, or are of a later series.
    """

    joined: Joined
    detected: NDArray[np.intc]
    hits: NDArray[np.intc]

    @cached_property
    def bounds(self) -> IntArray:
        """Where each series begins here, the last one first, and where the first one ends."""
        later = self.joined.labelled.borders[-1] - self.joined.labelled.borders[::-1]
        return np.asarray(np.searchsorted(self.detected, later, side="right"))

    def own(self, counts: NDArray[np.intc]) -> NDArray[np.intc]:
        """Return counts, such as ``hits``, without those of later series."""
        later = np.concatenate([[0], counts[self.bounds[1:-1] - 1]]).astype(np.intc)
        return counts - np.repeat(later, np.diff(self.bounds))

    def in_all(self, counts: NDArray[np.intc]) -> IntArray:
        """Return what counts, such as ``hits``, come to in the series of each distinct score."""
        return np.repeat(np.diff(counts[self.bounds[1:] - 1], prepend=0), np.diff(self.bounds))

    def of_series(self, first_of_each: IntArray | None = None) -> Iterator[slice]:
        """Yield where each series lies, or where some of its positions do, from the first series on."""
        bounds = (self.bounds if first_of_each is None else first_of_each).tolist()
        return (slice(begin, end) for begin, end in zip(bounds[-2::-1], bounds[:0:-1], strict=True))

    def best_of_each(self, precision: FloatArray, recall: FloatArray) -> list[Best]:
        """Return the best F1 of each series over its distinct scores."""
        *_, values = best_values((precision, recall), len(self.detected))
        found = []
        for own in self.of_series():
            at = own.start + int(np.argmax(values[own]))
            parts = Swept(float(values[at]), float(precision[at]), float(recall[at]))
            below = self._value(at + 1) if at + 1 < own.stop else -math.inf
            found.append(best_or_nothing(parts, self._value(at), below))
        return found

    def _value(self, position: int) -> float:
        order, _ = self.joined.in_order
        return float(self.joined.raw[order[len(order) - self.detected[position]]])


@dataclass(frozen=True, slots=True)
class at_best:  # noqa: N801 - it is called like a function
    """A metric of several series, each at its best threshold, from what it is of all thresholds at once.

    Detections have a single threshold.

    Attributes
    ----------
    at_every_level : callable
        As ``metric(at_every_level=…)`` takes it.
    sweep : int
        How many thresholds; that of the metric.
    """

    at_every_level: Callable[..., Sequence[FloatArray]]
    sweep: int = 100

    def __call__(self, joined: Joined, **parameters: Any) -> list[Best]:
        """Return the best of each series."""
        sweep = joined.detections if joined.binary else joined.sweep(self.sweep)
        return sweep.best_of_each(joined.raw, self.at_every_level(sweep, **parameters))


def likeness(scored: Scored, *, detections: bool = False) -> Hashable:
    """Return what series must have in common to be joined: then each gets the same numbers, to the last digit.

    None for a series that is not to be joined. Metrics of detections add up in another order than where these are all
    there is, and may differ by a last digit: so detections are joined only if they are wanted.
    """
    points, events = len(scored.raw), len(scored.events)
    if (scored.binary and not detections) or not events or points >= threads.LEAST_POINTS:  # which threads may take
        return None
    return scored.binary, precision_class(points), precision_class(events)


def chunks(items: Iterable[Item], points: Callable[[Item], int]) -> Iterator[list[Item]]:
    """Yield short items together, until there is enough to do at once, and each long one by itself.

    If the source of the items fails, those before come first.

    Examples
    --------
    >>> list(chunks([1, 2, 30_000, 30_000, 3], points=lambda item: item))
    [[1, 2], [30000], [30000], [3]]
    """
    some: list[Item] = []
    room = POINTS_TOGETHER
    try:
        for item in items:
            size = max(points(item), LEAST_ROOM)
            if some and (size >= threads.LEAST_POINTS or size > room):
                yield some
                some, room = [], POINTS_TOGETHER
            some.append(item)
            room -= size
            if size >= threads.LEAST_POINTS:
                yield some
                some, room = [], POINTS_TOGETHER
    except Exception:
        if some:
            yield some
        raise
    if some:
        yield some


def _raised(own: NDArray[np.intc], below: IntArray, sizes: IntArray) -> NDArray[np.intc]:
    """Return own levels, of one part after the other, above other levels; those that are 0 stay so."""
    raised = own + np.repeat(below.astype(np.intc), sizes)
    raised[own == 0] = 0
    return raised
