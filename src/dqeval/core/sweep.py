"""Scores at many thresholds at once: the level that each point reaches, and what metrics tally by level."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dqeval.core import validate
from dqeval.core.matching import Match, harmonic
from dqeval.core.prepared import Labelled, Scored, Shared
from dqeval.core.scaling import extremes
from dqeval.core.sorting import ascending_in
from dqeval.core.types import Events, FloatArray, IntArray, PrecisionRecall
from dqeval.kernels import runs
from dqeval.kernels import sweep as kernel
from dqeval.kernels.levels import levels_above
from dqeval.support.on_demand import cached_property

Tally = NDArray[np.longlong]

MOST_RUNS, RUNS_PER_EVENT = 0.125, 4  # that touch events, per point and per event, as a rule
MOST_LEVELS = 1 << 12  # by which points of a group are tallied, so that these are in a fast cache
COUNTED_AT_ONCE = 4  # points, each of which has counts of its own


@dataclass(frozen=True, eq=False)
class Groups:
    """The levels of the points of some stretches of a series, such as the events.

    Within a group, points have levels of its *own*. They are the same levels, or, if there are many thresholds, ranks
    among those of the group: what is tallied by them stays in a fast cache.

    Attributes
    ----------
    levels, own : array of int
        The levels of each group, and its own levels, descending, one group after the other.
    firsts, ends : array of int
        Where each group begins and ends in these.
    points, shifts : array of int
        Point t of group i has its own level at ``points[t + shifts[i]]``.
    count : int
        The highest own level there may be.
    """

    levels: NDArray[np.intc]
    own: NDArray[np.intc]
    firsts: IntArray
    ends: IntArray
    points: NDArray[np.intc]
    shifts: IntArray
    count: int

    def tally(self, columns: int, kind: type[Any] = np.intp) -> NDArray[Any]:
        """Return room to tally by own level."""
        return np.zeros((self.count + 1, columns), dtype=kind)


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Detected runs that touch events, where runs are kept apart.

    Attributes
    ----------
    found : array of int, shape (n, 7)
        A row for each run, as ``kernels/runs.py`` writes it.
    counts, roots : array of float
        How many runs there are at each threshold, whatever they touch, and the sum of the roots of their lengths.
    """

    found: NDArray[np.intc]
    counts: FloatArray
    roots: FloatArray

    @property
    def starts(self) -> NDArray[np.intc]:
        """The first point of each run."""
        return np.asarray(self.found[:, 0])

    @property
    def stops(self) -> NDArray[np.intc]:
        """The point behind each run."""
        return np.asarray(self.found[:, 1])

    @property
    def lengths(self) -> NDArray[np.intc]:
        """How many points each run has."""
        return np.asarray(self.stops - self.starts)

    @property
    def firsts(self) -> NDArray[np.intc]:
        """The first event that each run touches."""
        return np.asarray(self.found[:, 4])

    @property
    def behinds(self) -> NDArray[np.intc]:
        """The event behind the last one that it touches."""
        return np.asarray(self.found[:, 5])

    @property
    def labelled(self) -> NDArray[np.intc]:
        """How many points of each run are labelled."""
        return np.asarray(self.found[:, 6])


@dataclass(frozen=True, eq=False)
class Sweep(Shared, ABC):
    """Labels, and scores at descending thresholds, as metrics take them that are computed for all thresholds at once.

    At the k-th threshold from below, the points of level k and above are detected. What a metric returns begins with
    the highest threshold.

    Several series may be joined, one behind the other, each with ``each`` thresholds. The levels of the first one are
    1, 2, … ``each``, those of the next one go on from there, and what is never detected has level 0. A metric then
    returns what it says of the first series, from its highest threshold down, of the next, and so on.

    Attributes
    ----------
    labelled : Labelled
    count : int
        How many thresholds there are, of all series together.
    """

    labelled: Labelled
    count: int

    def __post_init__(self) -> None:
        validate.countable("the points of a series", len(self.labelled.labels), advice="take a part of it")

    @property
    def each(self) -> int:
        """How many thresholds each series has."""
        return self.count

    # For several series, these are arrays with a number for each threshold.
    @property
    def points(self) -> int | IntArray:
        """How many points there are."""
        return len(self.labelled.labels)

    @cached_property
    def labelled_points(self) -> int | IntArray:
        """How many points are labelled."""
        return int(self.labelled.lengths.sum())

    @property
    def event_count(self) -> int | IntArray:
        """How many events there are."""
        return len(self.labelled.events)

    @property
    @abstractmethod
    def levels(self) -> NDArray[np.intc]:
        """How many of the thresholds each point reaches."""

    def ranks(self, points: IntArray | slice) -> NDArray[np.intc]:
        """Return at how many thresholds each of some points is not detected."""
        return np.subtract(self.count, self.levels[points], dtype=np.intc)

    @cached_property
    def detected(self) -> FloatArray:
        """How many points are detected at each threshold."""
        return self.down(self.counted(self.levels))

    @cached_property
    def hits(self) -> FloatArray:
        """How many labelled points are detected at each threshold."""
        return self.down(self.counted(self.events.levels))

    def precision_and_recall(self) -> tuple[FloatArray, FloatArray]:
        """Return precision and recall of the points at each threshold."""
        return ratio(self.hits, self.detected), self.hits / self.labelled_points

    @cached_property
    def events(self) -> Groups:
        """The levels in each event."""
        events = self.labelled.events
        return self.groups(events.starts, events.stops)

    @cached_property
    def highest_in_events(self) -> NDArray[np.intc]:
        """The highest level in each event."""
        return self.events.levels[self.events.firsts]

    @cached_property
    def apart(self) -> Apart:
        """The levels with a point that is never detected at each break, and at the end."""
        return Apart.of(self.levels, self.labelled)

    @cached_property
    def runs(self) -> Runs:
        """The detected runs that touch an event, at any threshold, and how many there are at each."""
        return self.runs_touching(self.apart.events.stops)

    def runs_touching(self, zone_stops: IntArray) -> Runs:
        """Return the detected runs that touch an event or the points behind it, kept apart, up to some point."""
        levels, events, scale = self.apart.levels, self.apart.events, self.point_scale
        # As many levels as a stack of them can hold, the lowest of all included.
        stack = np.empty((min(self.count, len(self.levels)) + 1, runs.STACK_COLUMNS), dtype=np.intp)
        room, count = 0, int(MOST_RUNS * len(levels)) + RUNS_PER_EVENT * len(events)
        while count > room:  # if they do not fit, they are found again
            room, tally = count, self.tallies(2)
            found = np.empty((room, runs.RUN_COLUMNS), dtype=np.intc)
            count = runs.find_runs(levels, events.starts, events.stops, zone_stops, stack, scale, tally, found)
        return Runs(found[:count].copy(), *self.sums(tally, 1.0, scale))

    def sum_between(self, found: Runs, amounts: NDArray[Any]) -> FloatArray:
        """Return the sum of what runs amount to over those that are detected at each threshold.

        A run amounts to at least 0, and to no more than it has points.
        """
        scale, tally = self.point_scale, self.tallies(1)
        runs.tally_between(found.found, np.asarray(amounts, dtype=np.float64), scale, tally)
        return np.asarray(self.sums(tally, scale)[0])

    @property
    def point_scale(self) -> float:
        """In which multiples of a small unit to tally what points, or runs of them, are worth: see `fixed_point`."""
        return fixed_point(self.labelled.most_points)

    @property
    def event_scale(self) -> float:
        """The same for what events are worth."""
        return fixed_point(self.labelled.most_events)

    def counted(self, levels: NDArray[np.intc], weights: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return how many, or how much, is of each level."""
        if weights is not None:
            return np.bincount(levels, weights, minlength=self.count + 1)
        # Not np.bincount, which copies the levels, and keeps Python's lock meanwhile.
        counts = np.zeros((COUNTED_AT_ONCE if self.count < MOST_LEVELS else 1, self.count + 1), dtype=np.longlong)
        kernel.count_levels(levels, counts)
        return np.asarray(counts.sum(axis=0, dtype=np.intp))

    def down(self, tally: NDArray[Any], kind: type[Any] = np.float64) -> NDArray[Any]:
        """Return what was tallied at each threshold and those above it, from the highest down."""
        if self.each == self.count:
            return np.cumsum(tally[:0:-1], dtype=kind)
        by_series = tally[1:].reshape(-1, self.each)[:, ::-1]
        return np.cumsum(by_series, axis=1, dtype=kind).reshape(-1)

    def sums(self, tally: Tally, *scales: float) -> FloatArray:
        """Return the same of several columns, each over its scale: a row for each."""
        found = np.empty((len(scales), self.count))
        kernel.sum_down(tally, np.array(scales), self.each, np.empty(len(scales), dtype=np.longlong), found)
        return found

    def groups(self, starts: IntArray, stops: IntArray) -> Groups:
        """Return the levels of the points at [start, stop) of each group; groups may overlap."""
        sizes = stops - starts
        ends = np.cumsum(sizes)
        firsts = ends - sizes
        if self.count > MOST_LEVELS:
            return _groups_of_ranks(self.levels, starts, firsts, ends)
        ordered, owners = np.empty((2, ends[-1]), dtype=np.intc)
        places = np.zeros(self.count + 1, dtype=np.intc)
        kernel.levels_by_group(self.levels, starts, stops, firsts.copy(), places, owners, ordered)
        return Groups(ordered, ordered, firsts, ends, self.levels, np.zeros_like(firsts), self.count)

    def tallies(self, columns: int) -> Tally:
        """Return room to tally by level."""
        return np.zeros((self.count + 1, columns), dtype=np.longlong)


def _groups_of_ranks(levels: NDArray[np.intc], starts: IntArray, firsts: IntArray, ends: IntArray) -> Groups:
    """Return groups with ranks for levels of their own: each is sorted by itself."""
    points, own, ordered = np.empty((3, ends[-1]), dtype=np.intc)
    kernel.levels_in_groups(levels, starts, firsts, ends, points)
    # The bits of whole numbers, read as floats, are in the same order.
    order = ascending_in(points.astype(np.uint64).view(np.float64), firsts, ends)
    count = kernel.rank_in_groups(order, firsts, ends, points, own, ordered)
    return Groups(ordered, own, firsts, ends, points, firsts - starts, count)


@dataclass(frozen=True, eq=False)
class ScoreSweep(Sweep, ABC):
    """Thresholds that are made from scores."""

    scored: Scored

    @abstractmethod
    def scores_at(self, position: int) -> tuple[float, float]:
        """Return the lowest score detected at a threshold, and the highest that is not; minus infinity for none."""


@dataclass(frozen=True, eq=False)
class EveryScore(ScoreSweep):
    """The thresholds are the distinct scores."""

    @cached_property
    def levels(self) -> NDArray[np.intc]:
        """How many of the thresholds each point reaches."""
        return self.scored.reached()

    # Not kept: together with the scores, they would take much memory.
    @property
    def detected(self) -> FloatArray:
        """How many points are detected at each threshold."""
        return self.scored.distinct.detected.astype(np.float64)

    @property
    def hits(self) -> FloatArray:
        """How many labelled points are detected at each threshold."""
        return self.scored.distinct.hits.astype(np.float64)

    def precision_and_recall(self) -> tuple[FloatArray, FloatArray]:
        """Return precision and recall of the points at each threshold, without the counts as floats in between."""
        found = self.scored.distinct
        return ratio(found.hits, found.detected), found.hits / self.labelled.lengths.sum()

    def scores_at(self, position: int) -> tuple[float, float]:
        """Return the lowest score detected at a threshold, and the highest that is not."""
        return self.scored.distinct.value(position), self.scored.distinct.value(position + 1)


@dataclass(frozen=True, eq=False)
class EvenlySpaced(ScoreSweep):
    """Detected is what lies above evenly spaced values from the lowest score to the highest, but for the highest."""

    @cached_property
    def levels(self) -> NDArray[np.intc]:
        """How many of the thresholds each point reaches."""
        return levels_above_evenly_spaced(self.scored.threshold_scores, self.count + 1)

    @cached_property
    def _ends(self) -> tuple[FloatArray, FloatArray]:
        """The lowest score at each level and above, and the highest at each level and below."""
        lowest, highest = np.full(self.count + 1, math.inf), np.full(self.count + 1, -math.inf)
        kernel.ends_of_levels(self.levels, self.scored.raw, lowest, highest)
        return np.minimum.accumulate(lowest[::-1])[::-1], np.maximum.accumulate(highest)

    def scores_at(self, position: int) -> tuple[float, float]:
        """Return the lowest score detected at a threshold, and the highest that is not."""
        lowest, highest = self._ends
        level = self.count - position
        return float(lowest[level]), float(highest[level - 1])


@dataclass(frozen=True, eq=False)
class GivenLevels(Sweep):
    """The levels are given, whatever the thresholds are."""

    given: NDArray[np.intc]

    @property
    def levels(self) -> NDArray[np.intc]:
        """How many of the thresholds each point reaches."""
        return self.given


@dataclass(frozen=True, eq=False)
class Apart:
    """Levels in which a point that is never detected stands at each break, and at the end: there, every run ends.

    Attributes
    ----------
    levels : array of int
    events : Events
        Where the events are among these points.
    """

    levels: NDArray[np.intc]
    events: Events

    @classmethod
    def of(cls, levels: NDArray[np.intc], labelled: Labelled) -> Apart:
        """Return the levels of a series in this form."""
        breaks, events = labelled.breaks, labelled.events
        found = np.insert(levels, breaks, 0) if len(breaks) else levels
        starts = labelled.apart(events.starts)
        places = Events(starts, starts + labelled.lengths, events.length + len(breaks))
        return cls(np.append(found, np.intc(0)), places)


def sweep_of(scored: Scored, thresholds: int | Literal["all"]) -> ScoreSweep:
    """Return scores at every distinct score, or above so many evenly spaced values: at the highest, nothing is."""
    if thresholds == "all":
        return EveryScore(scored.labelled, len(scored.distinct), scored)
    return EvenlySpaced(scored.labelled, thresholds - 1, scored)


def at_one_threshold(
    compute: Callable[..., tuple[FloatArray, FloatArray]], match: Match, **parameters: Any
) -> PrecisionRecall:
    """Return what a metric that is computed for all thresholds at once says of a single one."""
    precision, recall = compute(GivenLevels(match.labelled, 1, match.flags.astype(np.intc)), **parameters)
    return harmonic(precision[0], recall[0])


def levels_above_evenly_spaced(scores: FloatArray, count: int) -> NDArray[np.intc]:
    """Return above how many values of ``numpy.linspace``, from the lowest score to the highest, each score lies."""
    low, high = extremes(scores)
    per_unit = (count - 1) / (high - low) if high - low > 1e-300 else 0.0
    levels = np.empty(len(scores), dtype=np.intc)
    levels_above(scores, np.linspace(low, high, count), per_unit, levels)
    return levels


def fixed_point(terms: int) -> float:
    """Return a power of two by which so many numbers up to 1 can be multiplied and added up in 63 bits.

    It is the largest one, but for few terms: of up to 31, of up to 1,023 and of up to 32,767, it is that of the most.
    So series that are about as long can be joined, and give the same numbers as each by itself.
    """
    return math.ldexp(1.0, 62 - precision_class(terms))


def precision_class(terms: int) -> int:
    """Return in how many bits so many terms can be counted; of few, in 5, 10 or 15.

    Examples
    --------
    >>> [precision_class(terms) for terms in (1, 31, 32, 32767, 32768)]
    [5, 5, 10, 15, 16]
    """
    bits = terms.bit_length()
    return bits if bits > 15 else max(-(-bits // 5) * 5, 5)


def ratio(part: NDArray[Any], whole: Any) -> FloatArray:
    """Return a share at each threshold, 0 where there is nothing to have a share of."""
    return np.asarray(np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0))
