"""Scores to [0, 1], where the thresholds are: by their size, or by how many points score as much."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dqeval.core.sorting import ascending, group_ends
from dqeval.core.types import FloatArray, IntArray

Scale = Literal["min-max", "log-rank", "none"]


AT_ONCE = 1 << 17  # points that stay in a cache, and so many that threads seldom wait for Python's lock


@dataclass(frozen=True, slots=True, eq=False)
class Linear:
    """Scores that count as ``(scores - low) / width``, which kernels compute as they go, and the ends of that."""

    scores: FloatArray
    low: float
    width: float
    lowest: float
    highest: float

    @property
    def is_finite(self) -> bool:
        """Whether all scores are finite."""
        return math.isfinite(self.low) and math.isfinite(self.width)


@dataclass(frozen=True, slots=True, eq=False)
class LinearParts:
    """Scores of which each part, from one of ``starts`` to the next, counts by a ``low`` and a ``width`` of its own."""

    scores: FloatArray
    starts: IntArray
    low: FloatArray
    width: FloatArray

    @property
    def is_finite(self) -> bool:
        """Whether all scores are finite."""
        return bool(np.isfinite(self.low).all() and np.isfinite(self.width).all())


def as_given(scores: FloatArray) -> Linear:
    """Return scores that count as they are."""
    return Linear(scores, 0.0, 1.0, *extremes(scores))


def linear(scores: FloatArray) -> Linear:
    """Return scores that count as `min_max` scales them."""
    low, high = extremes(scores)
    if low == high:
        return Linear(scores, low, 1.0, 0.0, 0.0)
    if math.isinf(high - low):  # halves of finite numbers do not overflow
        scores, low, high = scores / 2, low / 2, high / 2
    return Linear(scores, low, high - low, 0.0, 1.0)


def min_max(scores: FloatArray) -> FloatArray:
    """Return the scores min-max scaled to [0, 1]; constant ones, which separate nothing, become zeros."""
    return scaled(linear(scores))


def linear_parts(scores: FloatArray, starts: IntArray) -> LinearParts:
    """Return scores each part of which, from one start to the next, counts as `min_max` scales it."""
    low = np.minimum.reduceat(scores, starts)
    with np.errstate(over="ignore", invalid="ignore"):
        width = np.maximum.reduceat(scores, starts) - low
    too_wide = np.flatnonzero(np.isinf(width)).tolist()
    width[width == 0] = 1.0
    scores = scores.copy() if too_wide else scores
    stops = np.append(starts[1:], len(scores))
    for index in too_wide:
        own = slice(starts[index], stops[index])
        found = linear(scores[own])
        scores[own], low[index], width[index] = found.scores, found.low, found.width
    return LinearParts(scores, starts, low, width)


def scaled(counting: FloatArray | Linear | LinearParts) -> FloatArray:
    """Return scores as they count; those that are an array count as they are."""
    if isinstance(counting, np.ndarray):
        return counting
    if isinstance(counting, LinearParts):
        sizes = np.diff(counting.starts, append=len(counting.scores))
        found: FloatArray = counting.scores - np.repeat(counting.low, sizes)
        found /= np.repeat(counting.width, sizes)
        return found
    if (counting.low, counting.width) == (0.0, 1.0):
        return counting.scores
    shifted = counting.scores - counting.low
    shifted /= counting.width
    return shifted


def extremes(scores: FloatArray) -> tuple[float, float]:
    """Return the lowest and the highest of some scores; NaN for both if there is one. Memory is read once.

    Examples
    --------
    >>> extremes(np.array([2.0, -1.0, 5.0]))
    (-1.0, 5.0)
    """
    parts = [scores[first : first + AT_ONCE] for first in range(0, len(scores), AT_ONCE)]
    ends = np.array([(part.min(), part.max()) for part in parts])
    return float(ends[:, 0].min()), float(ends[:, 1].max())


def log_rank(scores: FloatArray) -> FloatArray:
    """Return for each point how few score at least as much: 1 for the highest score, 0 for the lowest, by logarithms.

    Of n points, c score at least as much as a point, and f have the highest score. The point gets
    log(n / c) / log(n / f). So thresholds that are even from 0 to 1 are even in the logarithm of the share of points
    that they detect. Constant scores, which separate nothing, become zeros.

    Parameters
    ----------
    scores : array of float, shape (n,)

    Examples
    --------
    >>> log_rank(np.array([0.1, 0.9, 0.5, 0.2])).tolist()
    [0.0, 1.0, 0.5, 0.20751874963942185]
    >>> log_rank(np.array([0.0, 7.0, 7.0, 0.0])).tolist()
    [0.0, 1.0, 1.0, 0.0]
    """
    order = ascending(scores)[::-1]
    ends = group_ends(scores[order])
    # Where all scores differ, which is common, there is nothing to look for, and nothing to repeat.
    counts = np.arange(1.0, len(scores) + 1) if ends.all() else np.flatnonzero(ends) + 1.0
    heights = log_shares(counts, len(scores))
    if len(heights) > 1:
        heights /= heights[0]
    found = np.empty(len(scores))
    found[order] = heights if len(heights) == len(found) else np.repeat(heights, np.diff(counts, prepend=0).astype(int))
    return found


def log_shares(counts: NDArray[Any], points: int | IntArray, *, out: FloatArray | None = None) -> FloatArray:
    """Return how few of all points some counts are, by logarithms: 0 for all of them."""
    shares: FloatArray = np.divide(points, counts, out=out)
    return np.log(shares, out=shares)
