"""The nearest windows of every window of a series, exactly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dqeval.core import validate
from dqeval.core.types import FloatArray, IntArray
from dqeval.detectors import windows
from dqeval.kernels import neighbours as plain_kernel
from dqeval.kernels._widest import widest

kernel = widest(plain_kernel)

_LAGS = 32  # gone through together, so that the compiler can use vector instructions
_GROUP = 16  # of columns that are searched by their minimum first
_ELEMENTS = 1 << 24  # of the largest temporary arrays
_SPARE = 8  # candidates more than are wanted, where distances are exact but for rounding
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
        return by_products(space, np.arange(len(space), dtype=np.intp), count)
    return by_diagonals(space, count)


def by_diagonals(space: Space, count: int) -> Neighbours:
    """Return the nearest other windows of each, by bounds that follow from the next window's in a few operations."""
    candidates, bounds = _with_lowest_bounds(space, _worth_refining(space, count))
    found = refine(space, np.arange(len(space), dtype=np.intp), candidates, count)
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
    kernel.nearest_bounds(padded, terms, worst, later, np.arange(1, size, _LAGS, dtype=np.intp), heaps, others)
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
    taken = min(count + _SPARE, size - 1)
    candidates = np.empty((len(rows), taken), np.intc)
    step = max(1, _ELEMENTS // size)
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        squares = _squared_distances(space, part)
        squares[np.arange(len(part)), part] = np.inf
        candidates[start : start + step] = lowest(squares, taken)
    return refine(space, rows, candidates, count)


def nearest_among(space: Space, rows: IntArray, others: IntArray, count: int) -> Neighbours:
    """Return the nearest of some other windows, at least one more than are wanted, of some windows that are alike."""
    points, among = space.points(rows), space.points(others)
    # Seen from their middle, numbers are small, and differences of squares lose few digits.
    middle = points.mean(axis=0)
    points -= middle
    among -= middle
    squares = points @ (-2 * among.T)
    squares += np.einsum("ij,ij->i", among, among)
    squares[others == rows[:, None]] = np.inf
    taken = min(count + _SPARE, len(others) - 1)
    return refine(space, rows, others[lowest(squares, taken)].astype(np.intc), count)


def _squared_distances(space: Space, rows: IntArray) -> FloatArray:
    """Return the squared distances, but for what is the same in a whole row, of some windows to all."""
    points = space.points(rows)
    # Zeros, not infinity, where products are to come: some BLAS libraries multiply what was there by 0 before.
    squares = np.zeros((len(rows), len(space)))
    step = max(1, _ELEMENTS // 16 // space.window)
    for start in range(0, len(space), step):
        others = space.points(slice(start, start + step))
        part = squares[:, start : start + len(others)]
        np.matmul(points, -2 * others.T, out=part)
        part += np.einsum("ij,ij->i", others, others)
    return squares


def lowest(squares: FloatArray, count: int) -> IntArray:
    """Return for each row the columns of its lowest values, in any order."""
    whole = squares.shape[1] // _GROUP * _GROUP
    if count * _GROUP > whole:
        return np.argpartition(squares, count - 1, axis=1)[:, :count]
    # In groups of 16 columns: as many groups as values are wanted, those with the lowest minima, hold them all.
    groups = squares[:, :whole].reshape(len(squares), _GROUP, -1)
    strides = groups.shape[2]
    holding = np.argpartition(groups.min(axis=1), count - 1, axis=1)[:, :count]
    columns = (holding[:, None, :] + strides * np.arange(_GROUP)[:, None]).reshape(len(squares), -1)
    beyond = np.broadcast_to(np.arange(whole, squares.shape[1]), (len(squares), squares.shape[1] - whole))
    columns = np.concatenate([columns, beyond], axis=1)
    best = np.argpartition(np.take_along_axis(squares, columns, axis=1), count - 1, axis=1)[:, :count]
    return np.take_along_axis(columns, best, axis=1)


def refine(space: Space, rows: IntArray, candidates: NDArray[np.intc], count: int) -> Neighbours:
    """Return the nearest of the candidates of some windows, by distances from differences, which are exact."""
    found = Neighbours(np.empty((len(rows), count), np.intc), np.empty((len(rows), count)))
    step = max(1, (1 << 15) // space.window)
    for start in range(0, len(rows), step):
        part = slice(start, start + step)
        near = candidates[part]
        squares = _squared_differences(space, rows[part], near)
        order = np.argsort(squares, axis=1, kind="stable")[:, :count]
        found.indices[part] = np.take_along_axis(near, order, axis=1)
        found.distances[part] = np.sqrt(np.take_along_axis(squares, order, axis=1))
    return found


def _squared_differences(space: Space, rows: IntArray, candidates: NDArray[np.intc]) -> FloatArray:
    """Return the squared distances of some windows to the candidates of each, from differences."""
    squares = np.empty(candidates.shape)
    if kernel.compiled and space.weights is not None:
        kernel.squared_distances(space.values, space.weights, rows, candidates, squares)
        return squares
    points = space.points(rows)
    for place in range(candidates.shape[1]):
        difference = space.points(candidates[:, place])
        difference -= points
        squares[:, place] = np.einsum("ij,ij->i", difference, difference)
    return squares
