"""Points by ascending score, of a series or of each of its parts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dqeval.core.types import BoolArray, FloatArray, IntArray
from dqeval.kernels import sorting

NO_TIES = np.empty(0, dtype=np.uint8)
LONG = 1 << 17  # points, of which the items are no longer in a processor's own cache


def ascending(scores: FloatArray) -> NDArray[np.intc]:
    """Return the points by ascending score, equal ones by time; the scores are finite.

    Examples
    --------
    >>> ascending(np.array([0.5, -1.0, 0.5, 0.0])).tolist()
    [1, 3, 0, 2]
    """
    whole = np.array([0, len(scores)])
    return ascending_in(scores, whole[:1], whole[1:])


def ascending_with_ties(scores: FloatArray) -> tuple[NDArray[np.intc], NDArray[np.uint8]]:
    """Return the same, and 1 for each that scores as much as the one before, 0 for the others.

    To see that while they are sorted takes less time than to read scores later that lie far apart in memory.

    Examples
    --------
    >>> order, tied = ascending_with_ties(np.array([0.5, -1.0, 0.5, 0.0]))
    >>> tied.tolist()
    [0, 0, 0, 1]
    """
    whole = np.array([0, len(scores)])
    tied = np.empty(len(scores), dtype=np.uint8)
    return ascending_in(scores, whole[:1], whole[1:], tied), tied


def ascending_in(
    scores: FloatArray, starts: IntArray, stops: IntArray, tied: NDArray[np.uint8] = NO_TIES
) -> NDArray[np.intc]:
    """Return the points of each part [starts[i], stops[i]) by ascending score, part after part.

    Which of them score as much as the one before is written to ``tied``, unless it is empty.

    Examples
    --------
    >>> ascending_in(np.array([3.0, 2.0, 1.0, 0.0]), np.array([0, 1]), np.array([2, 4])).tolist()
    [1, 0, 3, 2, 1]
    """
    ends = np.cumsum(stops - starts)
    first = ends - (stops - starts)
    order = np.empty(ends[-1], dtype=np.intc)
    if not sorting.compiled:  # interpreted, NumPy is much faster
        for start, stop, end in zip(starts.tolist(), stops.tolist(), ends.tolist(), strict=True):
            order[end - (stop - start) : end] = start + np.argsort(scores[start:stop], kind="stable")
        if len(tied):
            ordered = scores[order]
            np.equal(ordered[1:], ordered[:-1], out=tied[1:].view(np.bool_))
            tied[first] = 0
        return order
    longest = int((stops - starts).max())
    room, buckets = np.empty((2, longest), dtype=np.uint64), np.empty((4, sorting.BUCKETS), dtype=np.intp)
    counts = np.empty(sorting.ROOM_FOR_LONG if longest > LONG else sorting.ROOM, dtype=np.intc)
    sorting.sort_parts(scores.view(np.uint64), starts, stops, first, LONG, room, counts, buckets, order, tied)
    return order


def group_ends(ordered: FloatArray) -> BoolArray:
    """Tell of each of some scores in order whether it is the last of those that are equal.

    Examples
    --------
    >>> group_ends(np.array([0.1, 0.1, 0.4, 0.5, 0.5])).astype(int)
    array([0, 1, 1, 0, 1])
    """
    last = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=last[:-1])
    return last
