"""The levels of points: how many thresholds their scores reach, in the form that the kernels of DQE take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dqeval.core import validate
from dqeval.core.prepared import Scored
from dqeval.core.scaling import Linear, LinearParts, log_shares
from dqeval.core.sorting import ascending, ascending_in
from dqeval.core.types import BoolArray, FloatArray, IntArray, Partition
from dqeval.kernels.levels import (
    BLOCK,
    levels_among,
    levels_by_rank,
    levels_of_items,
    levels_on_grid,
    levels_on_grid_in_parts,
    points_by_region,
)

# Thresholds of all events together, per point: from the first on, to rank levels within regions takes less time, and
# from the second on, to sort them for that.
_MANY, _VERY_MANY = 2, 600
POINTS_OF_A_PART = 1 << 19  # at most, unless a single region has more
_CUT = 8  # points of false alarms, more than those whose ends regions and near ranges can cut off, and rounding


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """The points of each local region as threshold levels, as the kernels take them.

    Attributes
    ----------
    partition : Partition
    of_point : array of int
        How many thresholds of its region a point reaches. Event i lies at [starts[i], stops[i]).
    starts, stops : array of int, shape (n_events,)
    thresholds, heights : array of float
        Region i has ``counts[i]`` of them from ``first[i]`` on, in ascending order. A threshold counts for what lies
        between its height and the next lower one, or 0.
    first, counts : array of int, shape (n_events,)
    total : float
        The height of the threshold 1.
    shared : bool
        Whether all regions have the same thresholds.
    """

    partition: Partition
    of_point: NDArray[np.intc]
    starts: IntArray
    stops: IntArray
    thresholds: FloatArray
    heights: FloatArray
    first: IntArray
    counts: IntArray
    total: float
    shared: bool


def grid(count: int) -> FloatArray:
    """Return the sampled thresholds, ascending: 1/count to 1.

    They are the values of ``numpy.linspace(1, 0, count + 1)``, as in the authors' code. Not all of them are the nearest
    float to k/count: a score of 0.29 is first detected at 0.28.
    """
    return np.ascontiguousarray(np.linspace(1, 0, count + 1)[-2::-1])


def sample_levels(scores: FloatArray | Linear | LinearParts, partition: Partition, count: int) -> Levels:
    """Return the levels on a grid of ``count`` thresholds, of equal weight."""
    thresholds = grid(count)
    if isinstance(scores, LinearParts):
        of_point = np.empty(len(scores.scores), dtype=np.intc)
        levels_on_grid_in_parts(scores.scores, scores.starts, scores.low, scores.width, thresholds, of_point)
        return _shared(partition, of_point, thresholds)
    return _shared(partition, _on_grid(scores, thresholds), thresholds)


def sample_levels_by_part(scores: FloatArray | Linear, partition: Partition, count: int) -> Iterator[Levels]:
    """Yield the same part by part, each with some of the regions: levels that stay in a cache, and are not kept."""
    found = _scores_of(scores)
    if len(found) <= POINTS_OF_A_PART or not len(partition.events):
        yield sample_levels(scores, partition, count)
        return
    thresholds = grid(count)
    begins, ends = np.floor(partition.left).astype(np.intp), np.ceil(partition.right).astype(np.intp)
    first = 0
    while first < len(begins):
        begin = begins[first]
        last = max(int(np.searchsorted(ends, begin + POINTS_OF_A_PART, side="right")), first + 1)
        of_point = _on_grid(scores, thresholds, slice(begin, ends[last - 1]))
        yield _shared(partition.of_some(slice(first, last)), of_point, thresholds)
        first = last


def _scores_of(scores: FloatArray | Linear) -> FloatArray:
    return scores if isinstance(scores, np.ndarray) else scores.scores


def _on_grid(scores: FloatArray | Linear, thresholds: FloatArray, some: slice = slice(None)) -> NDArray[np.intc]:
    """Return how many thresholds points reach, or some of them."""
    found = _scores_of(scores)[some]
    low, width = (scores.low, scores.width) if isinstance(scores, Linear) else (0.0, 1.0)
    of_point = np.empty(len(found), dtype=np.intc)
    levels_on_grid(found, low, width, thresholds, of_point)
    return of_point


def levels_of_points(of_point: NDArray[np.intc], partition: Partition, count: int) -> Levels:
    """Return levels on the same grid, of points of which they are known."""
    return _shared(partition, of_point, grid(count))


def sample_log_rank_levels(scores: FloatArray, partition: Partition, count: int) -> Levels:
    """Return what `sample_levels` does of the scores by `log_rank`, without these.

    A threshold is reached by the points of which at most so many score as much: they score more than the first one that
    is too many. So a score for each threshold tells the levels of all points, in time order.
    """
    validate.countable('the points for scale="log-rank"', len(scores), advice="leave out scale")
    thresholds, points = grid(count), len(scores)
    order = ascending(scores)
    highest = int(np.count_nonzero(scores == scores[order[-1]]))
    of_point = np.zeros(points, dtype=np.intc)
    if highest < points:
        too_many = points - 1 - _most_detected(thresholds, highest, points)
        values = np.full((1 << count.bit_length()) - 1, np.inf)
        values[:count] = scores[order[too_many]]
        levels_among(scores, values, of_point)
    return _shared(partition, of_point, thresholds)


def _most_detected(thresholds: FloatArray, highest: int, points: int) -> IntArray:
    """Return how many of all points may score as much as one that reaches a threshold by `log_rank`.

    The highest score, which so many points have, reaches all thresholds; the lowest, which all reach, is below them.
    """
    top = log_shares(np.array([highest]), points)
    about = np.rint(points * np.exp(-top * thresholds)).astype(np.intp)
    # Rounding may be one off: which of a few counts are few enough is told as the scores themselves are computed.
    counts = np.clip(about[:, None] + np.arange(-2, 3), highest, points - 1)
    few_enough = log_shares(counts, points) / top >= thresholds[:, None]
    most: IntArray = np.where(few_enough, counts, highest).max(axis=1)
    return most


def detection_levels(detections: BoolArray, partition: Partition) -> Levels:
    """Return the levels of plain detections: a single threshold that the detected points reach."""
    return _shared(partition, detections.astype(np.intc), np.ones(1))


def exact_levels(scores: FloatArray, partition: Partition) -> Levels:
    """Return the ranks of the scores within each local region: every distinct score is a threshold.

    A threshold counts for the interval from the next lower one, or 0, up to itself.
    """
    validate.countable('the points for thresholds="exact"', len(scores), advice="give a number of thresholds")
    if not len(partition.events):
        return _shared(partition, np.zeros(0, dtype=np.intc), np.zeros(0))
    return _ranked(scores, partition, total=1.0)


def few_are_needed(levels: Levels) -> bool:
    """Tell whether there are many more thresholds than regions have points.

    Between the levels of its points, nothing in a region changes. So the next higher threshold counts for those that
    are left out, and the scores of the events stay what they are.
    """
    return levels.shared and _thresholds_per_point(levels) > _MANY


def without_very_many(levels: Levels) -> Levels:
    """Return levels on the thresholds that each region needs, if there are so many that sorting is quickest."""
    if not levels.shared or _thresholds_per_point(levels) <= _VERY_MANY:
        return levels
    return _ranked(levels.of_point.astype(np.float64), levels.partition, total=levels.total)


def _thresholds_per_point(levels: Levels) -> float:
    return len(levels.thresholds) * len(levels.partition.events) / max(len(levels.of_point), 1)


def _ranked(scores: FloatArray, partition: Partition, *, total: float) -> Levels:
    """Return the ranks of scores within each region, whose thresholds are these scores."""
    own = _OwnLevels(partition)
    order = ascending_in(scores, own.starts, own.stops)
    levels_by_rank(order, scores, own.first, own.last, own.shift, *own.found)
    return own.levels(total=total)


class _OwnLevels:
    """Room for levels of which each region has its own, its points one behind the other."""

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.starts, self.stops = np.floor(partition.left).astype(np.intp), np.ceil(partition.right).astype(np.intp)
        self.last = np.cumsum(self.stops - self.starts)
        self.first = self.last - (self.stops - self.starts)
        self.shift = self.first - self.starts
        points = self.last[-1]
        # Levels, thresholds, and how many each region has of these.
        self.found = np.empty(points, np.intc), np.empty(points), np.empty(len(self.first), np.intp)

    def levels(self, *, total: float) -> Levels:
        of_point, thresholds, counts = self.found
        return _by_region(self.partition, of_point, thresholds, self.shift, self.first, counts, total)


def log_rank_levels(scored: Scored, partition: Partition) -> Levels:
    """Return what `exact_levels` does of the scores by `log_rank`, as far down as DQE is above 0.

    All points are sorted, and no region by itself. Further down, where so many points of a region are false alarms that
    DQE is 0, its points are never detected, as they make no difference to DQE.
    """
    whole, first = np.array([0, len(scored.raw)]), np.zeros(len(partition.events), dtype=np.intp)
    return log_rank_levels_of_each(*scored.in_order, whole, partition, partition.near, first)


def log_rank_levels_of_each(
    order: NDArray[np.intc],
    tied: NDArray[np.uint8],
    borders: IntArray,
    partition: Partition,
    near: float | FloatArray,
    series: IntArray,
) -> Levels:
    """Return the same of several series, one behind the other.

    Parameters
    ----------
    order, tied : array
        The points of each series by ascending score, and which of them score as much as the one before.
    borders : array of int
        Where each series begins, and where the last one ends.
    partition : Partition
        The regions of all events.
    near : float or array of float
        Of all events, or of each.
    series : array of int
        Which series each event is of.
    """
    if not len(partition.events):
        return _shared(partition, np.zeros(0, dtype=np.intc), np.zeros(0))
    starts, stops = np.floor(partition.left).astype(np.intp), np.ceil(partition.right).astype(np.intp)
    last = np.cumsum(stops - starts)
    begins, shift = last.copy(), last - stops
    items, blocks = np.empty(last[-1], dtype=np.longlong), np.empty(len(order) // BLOCK + 1, dtype=np.intc)
    points_by_region(order, tied, borders, blocks, starts, stops, begins, items)
    of_point, thresholds = np.zeros(last[-1], dtype=np.intc), np.empty(last[-1])
    first, counts = np.empty((2, len(last)), dtype=np.intp)
    alarms = _alarms_of_regions(partition, near)
    found = levels_of_items(items, begins, last, shift, *alarms, of_point, thresholds, first, counts)
    # Heights are 1 for the highest score, which so many points have.
    bounds = zip(borders[:-1].tolist(), borders[1:].tolist(), strict=True)
    highest = np.array([np.argmin(tied[begin:end][::-1]) + 1.0 for begin, end in bounds])
    sizes = np.diff(borders)
    heights, points, tops = thresholds[:found], sizes, log_shares(highest, sizes)
    if len(sizes) > 1:
        points, tops = (np.repeat(each[series], counts) for each in (sizes, tops))
    log_shares(heights, points, out=heights)
    heights /= tops
    return _by_region(partition, of_point, heights, shift, first, counts, total=1.0)


def _alarms_of_regions(partition: Partition, near: float | FloatArray) -> tuple[IntArray, IntArray, IntArray]:
    """Return with how many false alarms DQE of a region is 0, before which point they lie, and from which on."""
    events = partition.events
    near_early = np.minimum(near, events.starts - partition.left)
    near_late = np.minimum(near, partition.right - events.stops)
    room = (events.starts - partition.left - near_early) + (partition.right - events.stops - near_late)
    stop, start = events.starts - np.floor(near_early), events.stops + np.floor(near_late)
    return (room // 2 + _CUT).astype(np.intp), stop.astype(np.intp), start.astype(np.intp)


def _by_region(
    partition: Partition,
    of_point: NDArray[np.intc],
    thresholds: FloatArray,
    shift: IntArray,
    first: IntArray,
    counts: IntArray,
    total: float,
) -> Levels:
    """Return levels of which each region has its own, on thresholds of its own."""
    events = partition.events
    return Levels(
        partition,
        of_point,
        events.starts + shift,
        events.stops + shift,
        thresholds,
        thresholds,
        first,
        counts,
        total,
        shared=False,
    )


def _shared(partition: Partition, of_point: NDArray[np.intc], thresholds: FloatArray) -> Levels:
    """Return levels on thresholds that all regions share."""
    events = partition.events
    first = np.zeros(len(events), dtype=np.intp)
    counts = np.full(len(events), len(thresholds), dtype=np.intp)
    heights = np.arange(1.0, len(thresholds) + 1)
    return Levels(
        partition,
        of_point,
        events.starts,
        events.stops,
        thresholds,
        heights,
        first,
        counts,
        len(thresholds),
        shared=True,
    )
