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
from dqeval.core.scaling import Linear
from dqeval.core.types import Events, FloatArray, IntArray, PrecisionRecall
from dqeval.kernels import runs
from dqeval.kernels import sweep as kernel
from dqeval.kernels.levels import levels_above
from dqeval.support.on_demand import cached_property

Tally = NDArray[np.longlong]

MOST_RUNS = 0.125  # that touch events, per point, as a rule


@dataclass(frozen=True, eq=False)
class Groups:
    """The levels of the points of some stretches of a series, such as the events.

    Attributes
    ----------
    levels : array of int
        Those of each group, descending, one group after the other.
    firsts, ends : array of int
        Where each group begins and ends in these.
    """

    levels: NDArray[np.intc]
    firsts: IntArray
    ends: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """Detected runs that touch events, where runs are kept apart.

    Attributes
    ----------
    found : array of int, shape (4, n)
        Of each run the first point, the one behind the last, and the levels: detected from one down to just above
        another.
    counts, roots : array of float
        How many runs there are at each threshold, whatever they touch, and the sum of the roots of their lengths.
    """

    found: NDArray[np.intc]
    counts: FloatArray
    roots: FloatArray

    @property
    def starts(self) -> NDArray[np.intc]:
        """The first point of each run."""
        return np.asarray(self.found[0])

    @property
    def stops(self) -> NDArray[np.intc]:
        """The point behind each run."""
        return np.asarray(self.found[1])

    @property
    def highs(self) -> NDArray[np.intc]:
        """The level at which each run appears."""
        return np.asarray(self.found[2])

    @property
    def lows(self) -> NDArray[np.intc]:
        """The level at which it has grown into another one; 0 if it does not."""
        return np.asarray(self.found[3])


@dataclass(frozen=True, eq=False)
class Sweep(Shared, ABC):
    """Labels, and scores at descending thresholds, as metrics take them that are computed for all thresholds at once.

    At the k-th threshold from below, the points of level k and above are detected. What a metric returns begins with
    the highest threshold.

    Attributes
    ----------
    labelled : Labelled
    count : int
        How many thresholds there are.
    """

    labelled: Labelled
    count: int

    def __post_init__(self) -> None:
        validate.countable("the points of a series", len(self.labelled.labels), advice="take a part of it")

    @property
    @abstractmethod
    def levels(self) -> NDArray[np.intc]:
        """How many of the thresholds each point reaches."""

    @property
    def ranks(self) -> NDArray[np.intc]:
        """At how many thresholds each point is not detected: from 0 for what is detected at all of them."""
        return np.subtract(self.count, self.levels, dtype=np.intc)

    @cached_property
    def detected(self) -> FloatArray:
        """How many points are detected at each threshold."""
        return self.down(self.counted(self.levels))

    @cached_property
    def hits(self) -> FloatArray:
        """How many labelled points are detected at each threshold."""
        return self.down(self.counted(self.events.levels))

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
        return self.runs_touching(self.apart.events)

    def runs_touching(self, events: Events) -> Runs:
        """Return the detected runs that touch one of some events, which are kept apart as the levels are."""
        levels, scale = self.apart.levels, fixed_point(len(self.levels))
        room, count = 0, int(MOST_RUNS * len(levels)) + 1
        while count > room:  # if they do not fit, they are found again
            room, (counts, roots) = count, self.tallies(2)
            found = np.empty((4, room), dtype=np.intc)
            count = runs.find_runs(levels, events.starts, events.stops, self.stack(3), scale, counts, roots, found)
        return Runs(found[:, :count].copy(), self.down(counts), self.down(roots, scale))

    def sum_between(self, found: Runs, amounts: NDArray[Any]) -> FloatArray:
        """Return the sum of what runs amount to, each at most 1, over those that are detected at each threshold."""
        scale, (tally,) = fixed_point(len(self.levels)), self.tallies(1)
        fixed = np.rint(amounts * scale).astype(np.longlong)
        np.add.at(tally, found.highs, fixed)
        np.subtract.at(tally, found.lows, fixed)
        return self.down(tally, scale)

    def counted(self, levels: NDArray[np.intc], weights: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return how many, or how much, is of each level."""
        return np.bincount(levels, weights, minlength=self.count + 1)

    def down(self, tally: NDArray[Any], scale: float = 1.0) -> FloatArray:
        """Return what was tallied at each threshold and those above it, from the highest down."""
        summed = np.cumsum(tally[:0:-1]).astype(np.float64, copy=False)
        return summed if scale == 1 else summed / scale

    def groups(self, starts: IntArray, stops: IntArray) -> Groups:
        """Return the levels of the points at [start, stop) of each group; groups may overlap."""
        sizes = stops - starts
        ends = np.cumsum(sizes)
        firsts = ends - sizes
        ordered, owners = np.empty((2, ends[-1]), dtype=np.intc)
        places = np.zeros(self.count + 1, dtype=np.intp)
        kernel.levels_by_group(self.levels, starts, stops, firsts.copy(), places, owners, ordered)
        return Groups(ordered, firsts, ends)

    def tallies(self, rows: int) -> Tally:
        """Return room to tally by level."""
        return np.zeros((rows, self.count + 1), dtype=np.longlong)

    def stack(self, rows: int) -> IntArray:
        """Return room for the levels that a stack of them can hold, the lowest of all included."""
        return np.empty((rows, min(self.count, len(self.levels)) + 1), dtype=np.intp)


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
        return np.subtract(self.count, self.scored.ranks, dtype=np.intc)

    @property
    def ranks(self) -> NDArray[np.intc]:
        """At how many thresholds each point is not detected."""
        return self.scored.ranks

    # Not kept: together with the scores, they would take much memory.
    @property
    def detected(self) -> FloatArray:
        """How many points are detected at each threshold."""
        return self.scored.distinct.detected.astype(np.float64)

    @property
    def hits(self) -> FloatArray:
        """How many labelled points are detected at each threshold."""
        return self.scored.distinct.hits.astype(np.float64)

    def scores_at(self, position: int) -> tuple[float, float]:
        """Return the lowest score detected at a threshold, and the highest that is not."""
        return self.scored.distinct.value(position), self.scored.distinct.value(position + 1)


@dataclass(frozen=True, eq=False)
class EvenlySpaced(ScoreSweep):
    """Detected is what lies above evenly spaced values from the lowest score to the highest, but for the highest."""

    @cached_property
    def levels(self) -> NDArray[np.intc]:
        """How many of the thresholds each point reaches."""
        return levels_above_evenly_spaced(self.scored.counting, self.count + 1)

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
    before : array of int, shape (n_events + 1,)
        How many points are labelled before each event, and behind the last.
    """

    levels: NDArray[np.intc]
    events: Events
    before: IntArray

    def touched(self, found: Runs) -> tuple[IntArray, IntArray]:
        """Return the first event that each run touches, and the one behind the last."""
        return (
            np.searchsorted(self.events.stops, found.starts, side="right"),
            np.searchsorted(self.events.starts, found.stops, side="left"),
        )

    def labelled_in(self, found: Runs) -> IntArray:
        """Return how many points of each run are labelled."""
        return self._labelled_before(found.stops) - self._labelled_before(found.starts)

    def _labelled_before(self, points: NDArray[np.intc]) -> IntArray:
        event = np.searchsorted(self.events.starts, points, side="left")
        # The last event that begins before the point counts as far as it goes.
        complete = self.before[np.maximum(event - 1, 0)]
        begun = np.minimum(points, self.events.stops[event - 1]) - self.events.starts[event - 1]
        return np.where(event > 0, complete + begun, 0)

    @classmethod
    def of(cls, levels: NDArray[np.intc], labelled: Labelled) -> Apart:
        """Return the levels of a series in this form."""
        breaks, events = labelled.breaks, labelled.events
        found = np.insert(levels, breaks, 0) if len(breaks) else levels
        before = np.concatenate([[0], np.cumsum(labelled.lengths)])
        starts = labelled.apart(events.starts)
        places = Events(starts, starts + labelled.lengths, events.length + len(breaks))
        return cls(np.append(found, np.intc(0)), places, before)


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


def levels_above_evenly_spaced(scores: Linear, count: int) -> NDArray[np.intc]:
    """Return above how many of evenly spaced values, from the lowest score to the highest, each score lies."""
    values = np.linspace(scores.lowest, scores.highest, count)
    span = values[-1] - values[0]
    per_unit = (count - 1) / span if 1e-300 < span < math.inf else 0.0
    levels = np.empty(len(scores.scores), dtype=np.intc)
    levels_above(scores.scores, scores.low, scores.width, values, per_unit, levels)
    return levels


def fixed_point(terms: int) -> float:
    """Return the largest power of two by which so many numbers up to 1 can be multiplied and added up in 63 bits."""
    return math.ldexp(1.0, 62 - terms.bit_length())


def ratio(part: NDArray[Any], whole: NDArray[Any]) -> FloatArray:
    """Return a share at each threshold, 0 where there is nothing to have a share of."""
    return np.asarray(np.divide(part, whole, out=np.zeros(len(part)), where=whole > 0))
