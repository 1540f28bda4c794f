"""Lloyd's algorithm for k-means, which looks only at points that may have another nearest centre than before."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from dqeval.core.types import FloatArray

# Points, a row each. The last column is 1, so that products count them too, and add a constant to each.
Block = NDArray[np.float32]
Blocks = Iterable[Block]
Labels = NDArray[np.intc]

_MOST_STEPS = 300
_ROWS = 4096
_FEW = 1500  # points, for which calls take longer than what they compute
_ROUNDING = 2.0**-24  # of a 32-bit number, relative to it


def settled(points: Blocks, start: FloatArray, tolerance: float) -> FloatArray:
    """Return the centres to which Lloyd's algorithm comes from others: until all moves, squared, are this or less."""
    centres = start
    parts = [_Part(block, centres) for block in points]
    sums = np.sum([sums_by_label(block, part.labels, len(start)) for block, part in zip(points, parts, strict=True)], 0)
    for _ in range(_MOST_STEPS):
        before, centres = centres, means(sums)
        moves = np.sqrt(((centres - before) ** 2).sum(axis=1))
        if (moves**2).sum() <= tolerance:
            break
        used_up = _used_up(moves)
        for block, part in zip(points, parts, strict=True):
            sums += part.follow(block, centres, used_up)
    return centres


class _Part:
    """What is known of a block of points: the label of the nearest centre, and how much farther the next is at least.

    These are Hamerly's bounds: a centre that has moved by d is at most d nearer or farther than before. A point keeps
    its centre until all moves since it was last looked at, and rounding, may have used up the gap. So what has a gap
    above 0 has no nearer centre than its own.
    """

    def __init__(self, block: Block, centres: FloatArray) -> None:
        self.norms = squared_norms(block)
        nearest = Nearest(block, centres)
        self.labels, self.gaps = nearest.labels, nearest.gaps(self.norms)

    def follow(self, block: Block, centres: FloatArray, used_up: NDArray[np.float32]) -> FloatArray:
        """Take notice of centres that have moved; return what this adds to the sums of their points."""
        self.gaps -= np.take(used_up, self.labels)
        unsure = np.flatnonzero(self.gaps <= 0)
        part = np.take(block, unsure, axis=0)
        nearest = Nearest(part, centres)
        self.gaps[unsure] = nearest.gaps(self.norms[unsure])
        other = np.flatnonzero(nearest.labels != self.labels[unsure])
        moving, joined, left = part[other], nearest.labels[other], self.labels[unsure[other]]
        self.labels[unsure[other]] = joined
        return sums_by_label(moving, joined, len(centres)) - sums_by_label(moving, left, len(centres))


def _used_up(moves: FloatArray) -> NDArray[np.float32]:
    """Return by how much the gaps of each cluster's points may have shrunk: by its own move, and the longest other."""
    longest = int(moves.argmax())
    others = np.full(len(moves), moves[longest])
    others[longest] = np.delete(moves, longest).max(initial=0)
    used_up: NDArray[np.float32] = (moves + others).astype(np.float32)
    return used_up


class Nearest:
    """Which centre each point is nearest to, the first of equally near ones, and how near it and the next one are.

    The nearness of a centre c to a point p is pc - cc/2, half of what is taken off the squared norm of the point to
    give the squared distance.
    """

    def __init__(self, points: Block, centres: FloatArray) -> None:
        weights = np.column_stack([centres, -(centres**2).sum(axis=1) / 2]).astype(np.float32)
        rows = weights @ points.T
        # Two sums of as many products, and a few steps, each of which rounds: so much of two squared norms, at most.
        self.rounding = np.float32(2 * (points.shape[1] + 8) * _ROUNDING)
        self.largest = np.float32(-2 * weights[:, -1].min())
        self.labels, self.first, self.second = (_two_highest if len(points) > _FEW else _two_highest_of_few)(rows)

    def total(self) -> float:
        """Return the nearness of all points to their centres, added up."""
        return float(self.first.sum(dtype=float))

    def gaps(self, norms: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return by how much the second nearest centre is farther away than the nearest, at least.

        Rounding may have put both nearer or farther, or have exchanged them: where it may, the gap is below 0. Up to
        the last step, moves are taken off the gap, each time with rounding.
        """
        off = (norms + self.largest) * self.rounding
        near = np.sqrt(np.maximum(norms + off - 2 * self.first, 0))
        far = np.sqrt(np.maximum(norms - off - 2 * self.second, 0))
        gaps: NDArray[np.float32] = (far - near) * np.float32(1 - 4 * _MOST_STEPS * _ROUNDING)
        return gaps


def _two_highest(rows: Block) -> tuple[Labels, NDArray[np.float32], NDArray[np.float32]]:
    """Return for each column the first row of the highest value, this value, and the next."""
    labels, first, second = np.zeros(rows.shape[1], np.intc), rows[0], np.full(rows.shape[1], -np.inf, np.float32)
    for label, row in enumerate(rows[1:], start=1):
        np.maximum(second, np.minimum(first, row), out=second)
        # The label grows, so that the higher one is the later one.
        np.maximum(labels, (row > first) * np.intc(label), out=labels)
        first = np.maximum(first, row)
    return labels, first, second


def _two_highest_of_few(rows: Block) -> tuple[Labels, NDArray[np.float32], NDArray[np.float32]]:
    """Return the same in fewer calls, each of which takes longer for a value."""
    labels, columns = rows.argmax(axis=0), np.arange(rows.shape[1])
    first = rows[labels, columns]
    rows[labels, columns] = -np.inf
    return labels.astype(np.intc), first, rows.max(axis=0)


def squared_norms(points: Block) -> NDArray[np.float32]:
    """Return the squared norm of each point, without its last column."""
    norms: NDArray[np.float32] = np.einsum("ij,ij->i", points[:, :-1], points[:, :-1])
    return norms


def sums_by_label(points: Block, labels: Labels, clusters: int) -> FloatArray:
    """Return the sum of the points of each cluster, with their number in the last column."""
    sums = np.zeros((clusters, points.shape[1]))
    for start in range(0, len(points), _ROWS):  # not too many 32-bit numbers in a row
        members = np.arange(clusters, dtype=np.intc)[:, None] == labels[start : start + _ROWS]
        sums += members.astype(np.float32) @ points[start : start + _ROWS]
    return sums


def means(sums: FloatArray) -> FloatArray:
    """Return the means of clusters; of one without points the origin, where it can do no harm."""
    return sums[:, :-1] / np.maximum(sums[:, -1:], 1)
