"""The nearest windows of every window of a series, looked for among a part of the others, and what is sure of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dqeval.core.types import FloatArray, IntArray
from dqeval.detectors.neighbours import Neighbours, Space, nearest_among

_COMPONENTS = 16
_LARGEST_CELL = 256
_MOST_MEASURED = 20_000  # windows whose principal components are taken
_ROWS = 4096
_MORE = 4  # times as many cells as are searched have bounds for each window, and the rest one bound for all
_EPSILON = float(np.finfo(float).eps)


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Near windows of each window, and a distance within which there are no others than those."""

    neighbours: Neighbours
    complete_to: FloatArray


def by_cells(space: Space, count: int, most_compared: int) -> Found:
    """Return for each window the nearest of about so many others that are near it in a few dimensions.

    Points with few dimensions, the first principal components, are sorted into cells of points that are near each
    other. A window is compared with those of the nearest cells. Neither a projection nor what the triangle inequality
    leaves of the distance to a cell is ever farther than the window itself: what is left out has a bound.
    """
    cells = _Cells(*_reduced(space))
    sizes = [len(own) for own in cells.members]
    # A window itself is no neighbour, so that one more is needed.
    searched = max(-(-most_compared // max(sizes)), -(-(count + 1) // min(sizes)))
    found = Neighbours(np.empty((len(space), count), np.intc), np.empty((len(space), count)))
    complete_to = np.empty(len(space))
    for cell, own in enumerate(cells.members):
        visited, beyond = cells.nearest(cell, searched)
        others = np.concatenate([cells.members[each] for each in visited])
        part = nearest_among(space, own, others, count)
        found.indices[own], found.distances[own] = part.indices, part.distances
        complete_to[own] = beyond
    return Found(found, complete_to)


def _reduced(space: Space) -> tuple[FloatArray, float]:
    """Return the first principal components of the windows, and by how much distances between them may be too long."""
    some = space.points(slice(None, None, -(-len(space) // _MOST_MEASURED)))
    directions = np.linalg.eigh(np.cov(some, rowvar=False, ddof=0).reshape(space.window, space.window)).eigenvectors
    basis = directions[:, -_COMPONENTS:]
    reduced, longest = np.empty((len(space), basis.shape[1])), 0.0
    for start in range(0, len(space), _ROWS):
        points = space.points(slice(start, start + _ROWS))
        np.matmul(points, basis, out=reduced[start : start + _ROWS])
        longest = max(longest, float(np.einsum("ij,ij->i", points, points).max()))
    return reduced, 8 * (space.window + _COMPONENTS) * _EPSILON * np.sqrt(longest)


class _Cells:
    """Points in cells of at most 256, each within a radius around its centre."""

    def __init__(self, points: FloatArray, rounding: float) -> None:
        self.points, self.rounding = points, rounding
        self.members = _halved(points)
        self.centres = np.array([points[own].mean(axis=0) for own in self.members])
        self.radii = np.array(
            [
                np.linalg.norm(points[own] - centre, axis=1).max()
                for own, centre in zip(self.members, self.centres, strict=True)
            ]
        )

    def nearest(self, cell: int, searched: int) -> tuple[IntArray, FloatArray]:
        """Return so many cells, and how far away from each point of a cell all points of others are at least."""
        # Seen from the centre of the cell, numbers are small, and differences of squares lose few digits.
        points, centres = self.points[self.members[cell]] - self.centres[cell], self.centres - self.centres[cell]
        between = np.linalg.norm(centres, axis=1) - self.radii
        order = np.argsort(between, kind="stable")
        close, rest = order[: _MORE * searched], order[_MORE * searched :]
        gaps = np.sqrt(_squared_distances(points, centres[close])) - self.radii[close] * (1 + 8 * _EPSILON)
        nearest = np.argsort(gaps.mean(axis=0), kind="stable")
        beyond = gaps[:, nearest[searched:]].min(axis=1, initial=np.inf)
        farther = (between[rest] - self.radii[cell]).min(initial=np.inf)
        return close[nearest[:searched]], np.maximum(np.minimum(beyond, farther) - self.rounding, 0)


def _halved(points: FloatArray) -> list[IntArray]:
    """Return points in cells: halves of halves, each cut across its longest side."""
    cells, left = [], [np.arange(len(points), dtype=np.intp)]
    while left:
        own = left.pop()
        if len(own) <= _LARGEST_CELL:
            cells.append(np.sort(own))
            continue
        inside = points[own]
        middle = len(own) // 2
        order = np.argpartition(inside[:, np.ptp(inside, axis=0).argmax()], middle)
        left += [own[order[middle:]], own[order[:middle]]]
    return cells


def _squared_distances(points: FloatArray, others: FloatArray) -> FloatArray:
    """Return the squared distances of some points to others, made shorter by all that rounding may add."""
    own, other = (np.einsum("ij,ij->i", each, each) * (1 - 64 * _EPSILON) for each in (points, others))
    squares: FloatArray = points @ (-2 * others.T)
    squares += own[:, None]
    squares += other
    np.maximum(squares, 0, out=squares)
    return squares
