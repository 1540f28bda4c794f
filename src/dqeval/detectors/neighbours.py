"""The nearest windows of every window of a series, exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dqeval.core import validate
from dqeval.core.types import FloatArray, IntArray
from dqeval.detectors import windows
from dqeval.kernels import neighbours as kernel

_LAGS = 32  # gone through together, so that the compiler can use vector instructions
_GROUP = 16  # of columns that are searched by their minimum first
_ELEMENTS = 1 << 24  # of the largest temporary arrays
_MOST_CANDIDATES = 4  # where the bounds are loose, as a multiple of what is taken otherwise


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """The windows of a series as points: their values times weights, or each in its own standard units.

    Attributes
    ----------
    values : array of float, shape (n,)
    window : int
    weights : array of float, shape (window,), or None
        What the squared differences at each place of a window are multiplied by; None for windows that are each in
        standard units of their own.
    """

    values: FloatArray
    window: int
    weights: FloatArray | None

    def __len__(self) -> int:
        return len(self.values) - self.window + 1

    def points(self, which: slice | IntArray | NDArray[np.intc]) -> FloatArray:
        """Return some of the windows as points of a Euclidean space."""
        rows = windows.sliding(self.values, self.window)[which]
        return windows.normalise(rows) if self.weights is None else rows * np.sqrt(self.weights)


@dataclass(frozen=True, slots=True, eq=False)
class Neighbours:
    """The nearest other windows of each window, nearest first, and how far away they are."""

    indices: NDArray[np.intc]
    distances: FloatArray


def nearest(space: Space, count: int) -> Neighbours:
    """Return the nearest other windows of each window."""
    validate.countable("the windows of a series", len(space), advice="take a part of it")
    if not kernel.compiled:
        return by_products(space, np.arange(len(space)), count)
    return by_diagonals(space, count)


def by_diagonals(space: Space, count: int) -> Neighbours:
    """Return the nearest other windows of each, by bounds that follow from the next window's in a few operations."""
    candidates, bounds = _with_lowest_bounds(space, _worth_refining(space, count))
    found = _refine(space, np.arange(len(space)), candidates, count)
    # A window that is no candidate is at least as far away as the bound says; nothing is nearer than 0.
    farthest = found.distances[:, -1]
    unsure = np.flatnonzero((farthest**2 > bounds) & (farthest > 0))
    if candidates.shape[1] < len(space) - 1 and len(unsure):
        again = by_products(space, unsure, count)
        found.indices[unsure], found.distances[unsure] = again.indices, again.distances
    return found


def _worth_refining(space: Space, count: int) -> int:
    """Return how many candidates a window needs for the nearest to be among them, in all likelihood."""
    taken = count + count // 3
    if space.weights is not None and space.weights.min() > 0:
        # The more the weights differ, the looser are the bounds, up to where they are not worth it.
        looser = min((space.weights.max() / space.weights.min()) ** 8, _MOST_CANDIDATES)
        taken = int(taken * looser)
    return min(taken, len(space) - 1)


def _with_lowest_bounds(space: Space, count: int) -> tuple[NDArray[np.intc], FloatArray]:
    """Return for each window those with the lowest bounds on the squared distance, and the highest of these bounds."""
    size, shape = len(space), (len(space), count)
    terms, scale = _terms_of_bounds(space)
    worst = np.pad(np.full(size, np.inf), (0, _LAGS), constant_values=-np.inf)
    heaps, others = np.full(shape, np.inf), np.empty(shape, np.intc)
    beyond = np.inf if space.weights is not None else 0.0
    padded, later = np.pad(space.values, (0, _LAGS), constant_values=beyond), np.empty((space.window, _LAGS))
    kernel.nearest_bounds(padded, terms, worst, later, np.arange(1, size, _LAGS), heaps, others)
    return others, worst[:size] * scale


def _terms_of_bounds(space: Space) -> tuple[FloatArray, float]:
    """Return the terms from which the kernel makes bounds, a row each, and what to multiply these by."""
    size, window = len(space), space.window
    # Sums of so many squares, and what follows from them, are exact to this factor, with room to spare.
    rounding = max(1e-12, 4 * (window + 8) * np.finfo(float).eps)
    if space.weights is not None:
        return np.empty((0, 0)), space.weights.min() * (1 - rounding)
    mean, deviation = np.empty(size), np.empty(size)
    step = max(1, _ELEMENTS // window)
    for start in range(0, size, step):
        rows = windows.sliding(space.values, window)[start : start + step]
        shifted = rows - rows[:, :1]
        mean[start : start + step] = shifted.mean(axis=1) + rows[:, 0]
        deviation[start : start + step] = shifted.std(axis=1, ddof=1)
    # |a - b|² = |a|² + |b|² - 2ab, where 2ab follows from the squared distance of the windows as they are.
    varies = deviation > 0
    norm = np.where(varies, window - 1.0, 0.0)
    scale = np.divide(1, deviation, where=varies, out=np.zeros(size))
    # What is taken off is made a little larger, so that rounding only ever makes the bound lower.
    level, spread = mean * np.sqrt(window * (1 + rounding)), (window - 1) * (1 + rounding) * deviation**2
    terms = np.pad([norm, scale, level, spread], ((0, 0), (0, _LAGS)))
    terms[0, size:] = np.inf
    return terms, 1.0


def by_products(space: Space, rows: IntArray, count: int) -> Neighbours:
    """Return the nearest other windows of some of them, by all distances, from matrix products."""
    size = len(space)
    taken = min(count + 8, size - 1)
    candidates = np.empty((len(rows), taken), np.intc)
    step = max(1, _ELEMENTS // size)
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        squares = _squared_distances(space, part)
        squares[np.arange(len(part)), part] = np.inf
        candidates[start : start + step] = _lowest(squares, taken)
    return _refine(space, rows, candidates, count)


def _squared_distances(space: Space, rows: IntArray) -> FloatArray:
    """Return the squared distances, but for what is the same in a whole row, of some windows to all.

    Infinite distances follow up to a multiple of 16.
    """
    points = space.points(rows)
    # Zeros, not infinity, where products are to come: some BLAS libraries multiply what was there by 0 before.
    squares = np.zeros((len(rows), -(-len(space) // _GROUP) * _GROUP))
    squares[:, len(space) :] = np.inf
    step = max(1, _ELEMENTS // 16 // space.window)
    for start in range(0, len(space), step):
        others = space.points(slice(start, start + step))
        part = squares[:, start : start + len(others)]
        np.matmul(points, -2 * others.T, out=part)
        part += np.einsum("ij,ij->i", others, others)
    return squares


def _lowest(squares: FloatArray, count: int) -> IntArray:
    """Return for each row the columns of its lowest values, in any order."""
    # In groups of 16 columns: as many groups as values are wanted, those with the lowest minima, hold them all.
    groups = squares.reshape(len(squares), _GROUP, -1)
    strides = groups.shape[2]
    taken = min(count, strides)
    holding = np.argpartition(groups.min(axis=1), taken - 1, axis=1)[:, :taken]
    columns = (holding[:, None, :] + strides * np.arange(_GROUP)[:, None]).reshape(len(squares), -1)
    lowest = np.argpartition(np.take_along_axis(squares, columns, axis=1), count - 1, axis=1)[:, :count]
    return np.take_along_axis(columns, lowest, axis=1)


def _refine(space: Space, rows: IntArray, candidates: NDArray[np.intc], count: int) -> Neighbours:
    """Return the nearest of the candidates of some windows, by distances from differences, which are exact."""
    squares = np.empty(candidates.shape)
    step = max(1, (1 << 15) // space.window)
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        points = space.points(rows[part])
        for place in range(candidates.shape[1]):
            difference = space.points(candidates[part, place])
            difference -= points
            squares[part, place] = np.einsum("ij,ij->i", difference, difference)
    order = np.argsort(squares, axis=1, kind="stable")[:, :count]
    nearest_ones = np.take_along_axis(candidates, order, axis=1)
    return Neighbours(nearest_ones, np.sqrt(np.take_along_axis(squares, order, axis=1)))
