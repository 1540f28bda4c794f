# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False
"""The loops that prepare a sweep over many thresholds: what is known of each level, and points in the order of levels.

A point's *level* (``kernels/levels.py``) is how many of the thresholds it reaches: at the k-th threshold from below,
the points of level k and above are detected. A point of level 0 never is.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from dqeval.kernels import _plain as cython

compiled = cython.compiled


def ends_of_levels(
    levels: cython.int[::1],
    scores: cython.const[cython.double][::1],
    lowest: cython.double[::1],
    highest: cython.double[::1],
):
    """Write the lowest and the highest score of the points of each level; what is there for none stays."""
    t: cython.Py_ssize_t
    with cython.nogil:
        for t in range(levels.shape[0]):
            lowest[levels[t]] = min(lowest[levels[t]], scores[t])
            highest[levels[t]] = max(highest[levels[t]], scores[t])


def count_levels(levels: cython.int[::1], counts: cython.longlong[:, ::1]):
    """Count the points of each level: of every few points the first in the first row, and so on.

    Neighbours often have the same level. In a row each, none of them waits for the count of the one before.
    """
    rows: cython.Py_ssize_t = counts.shape[0]
    t: cython.Py_ssize_t
    row: cython.Py_ssize_t = 0
    with cython.nogil:
        for t in range(levels.shape[0]):
            counts[row, levels[t]] += 1
            row += 1
            if row == rows:
                row = 0


def points_by_level(levels: cython.int[:], places: cython.int[::1], order: cython.int[::1]):
    """Write the points by descending level, in time order where that is equal, without those of level 0.

    ``places``, zero on entry, has an entry for each level, and becomes where its points end. Return how many there are.
    """
    t: cython.Py_ssize_t
    found: cython.Py_ssize_t
    with cython.nogil:
        for t in range(levels.shape[0]):
            places[levels[t]] += 1
        found = levels.shape[0] - places[0]
        _begin_highest_first(places)
        for t in range(levels.shape[0]):
            if levels[t] > 0:
                order[places[levels[t]]] = t
                places[levels[t]] += 1
    return found


def levels_by_group(
    levels: cython.int[::1],
    starts: cython.Py_ssize_t[::1],
    stops: cython.Py_ssize_t[::1],
    following: cython.Py_ssize_t[::1],
    places: cython.int[::1],
    groups: cython.int[::1],
    ordered: cython.int[::1],
):
    """Write the levels of the points of each group, those at [start, stop), descending.

    ``following[i]`` is where group i goes in ``ordered``, and becomes where it ends. ``places``, zero on entry, has an
    entry for each level. ``groups`` is working space, as long as ``ordered``. Groups may overlap.
    """
    i: cython.Py_ssize_t
    t: cython.Py_ssize_t
    level: cython.Py_ssize_t
    at: cython.Py_ssize_t = 0
    with cython.nogil:
        for i in range(starts.shape[0]):
            for t in range(starts[i], stops[i]):
                places[levels[t]] += 1
        _begin_highest_first(places)
        for i in range(starts.shape[0]):
            for t in range(starts[i], stops[i]):
                groups[places[levels[t]]] = i
                places[levels[t]] += 1
        for level in range(places.shape[0] - 1, -1, -1):
            while at < places[level]:
                i = groups[at]
                ordered[following[i]] = level
                following[i] += 1
                at += 1


def levels_in_groups(
    levels: cython.int[::1],
    starts: cython.Py_ssize_t[::1],
    firsts: cython.Py_ssize_t[::1],
    ends: cython.Py_ssize_t[::1],
    found: cython.int[::1],
):
    """Write the levels of the points of each group in time order: those of group i, from starts[i] on, at firsts[i]."""
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    with cython.nogil:
        for i in range(firsts.shape[0]):
            for k in range(firsts[i], ends[i]):
                found[k] = levels[starts[i] + (k - firsts[i])]


def rank_in_groups(
    order: cython.int[::1],
    firsts: cython.Py_ssize_t[::1],
    ends: cython.Py_ssize_t[::1],
    of_points: cython.int[::1],
    own: cython.int[::1],
    ordered: cython.int[::1],
):
    """Replace levels by ranks among those of the group, from 1 for the lowest; level 0 stays.

    Group i has its points at [firsts[i], ends[i]), and these by ascending level in ``order``. Ranks and levels are also
    written in descending order, to ``own`` and ``ordered``. Return the highest rank.
    """
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    at: cython.Py_ssize_t
    rank: cython.Py_ssize_t
    level: cython.Py_ssize_t
    previous: cython.Py_ssize_t
    highest: cython.Py_ssize_t = 0
    with cython.nogil:
        for i in range(firsts.shape[0]):
            rank = previous = 0
            at = ends[i]
            for k in range(firsts[i], ends[i]):
                level = of_points[order[k]]
                rank += 1 if level != previous else 0
                previous = level
                at -= 1
                of_points[order[k]] = own[at] = rank
                ordered[at] = level
            highest = max(highest, rank)
    return highest


def sum_down(
    tally: cython.longlong[:, ::1],
    scales: cython.double[::1],
    each: cython.Py_ssize_t,
    sums: cython.longlong[::1],
    found: cython.double[:, ::1],
):
    """Write what is tallied at each level and those above it, over the scale, from the highest down to 1.

    Each column of ``tally`` has its scale, and becomes a row of ``found``. If several series are joined, ``each`` of
    them has so many levels, and sums of its own. ``sums`` is working space.
    """
    behind: cython.Py_ssize_t = 1  # the level behind the last one of the series
    level: cython.Py_ssize_t
    column: cython.Py_ssize_t
    with cython.nogil:
        while behind < tally.shape[0]:
            behind += each
            for column in range(tally.shape[1]):
                sums[column] = 0
            for level in range(behind - 1, behind - each - 1, -1):
                for column in range(tally.shape[1]):
                    sums[column] += tally[level, column]
                    found[column, 2 * behind - each - 2 - level] = (
                        cython.cast(cython.double, sums[column]) / scales[column]
                    )


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _begin_highest_first(places: cython.int[::1]) -> cython.void:
    """Turn how many points each level has into where they begin, if those of the highest level are first."""
    level: cython.Py_ssize_t
    amount: cython.Py_ssize_t
    at: cython.Py_ssize_t = 0
    for level in range(places.shape[0] - 1, -1, -1):
        amount = places[level]
        places[level] = at
        at += amount
