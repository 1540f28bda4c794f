# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False
"""What points by ascending score tell: the distinct scores, and how many of them, or of thresholds, each reaches."""

from __future__ import annotations

try:
    import cython
except ImportError:
    from dqeval.kernels import _plain as cython

compiled = cython.compiled


def distinct_scores(
    order: cython.int[::1],
    tied: cython.const[cython.uchar][::1],
    labels: cython.const[cython.uchar][::1],
    detected: cython.int[::1],
    hits: cython.int[::1],
):
    """Write how many points and labelled points score at least each distinct score, from the highest down.

    ``order`` has the points by ascending score, and ``tied`` tells which score as much as the one before. ``labels``
    are bits, eight in a byte, of which a fast cache holds more. Return how many distinct scores there are.
    """
    points: cython.Py_ssize_t = order.shape[0]
    found: cython.Py_ssize_t = 0
    hit: cython.Py_ssize_t = 0
    t: cython.Py_ssize_t
    k: cython.Py_ssize_t
    with cython.nogil:
        for k in range(points - 1, -1, -1):
            t = cython.cast(cython.Py_ssize_t, order[k])
            hit += (cython.cast(cython.Py_ssize_t, labels[t >> 3]) >> (t & 7)) & 1
            # What is not the last of its value is written over.
            detected[found] = points - k
            hits[found] = hit
            found += 1 - cython.cast(cython.Py_ssize_t, tied[k])
    return found


def reached_by_points(order: cython.int[::1], detected: cython.int[::1], levels: cython.int[::1]):
    """Write how many of the distinct scores each point reaches.

    ``order`` has the points by ascending score, and ``detected`` how many have at least each distinct score.
    """
    points: cython.Py_ssize_t = order.shape[0]
    level: cython.Py_ssize_t
    k: cython.Py_ssize_t = 0
    with cython.nogil:
        for level in range(detected.shape[0], 0, -1):
            while k < detected[detected.shape[0] - level]:
                levels[order[points - 1 - k]] = level
                k += 1


def values_of_distinct(
    order: cython.int[::1],
    detected: cython.int[::1],
    scores: cython.const[cython.double][::1],
    values: cython.double[::1],
):
    """Write the distinct scores, from the highest down; the others as for `reached_by_points`."""
    k: cython.Py_ssize_t
    with cython.nogil:
        for k in range(detected.shape[0]):
            values[k] = scores[order[order.shape[0] - detected[k]]]


def levels_of_points(
    order: cython.int[::1],
    scores: cython.const[cython.double][::1],
    thresholds: cython.double[::1],
    levels: cython.int[::1],
    below: cython.Py_ssize_t[::1],
):
    """Write how many of the ascending thresholds each point reaches, and how many points reach fewer than 0, 1, 2, ...

    ``order`` has the points by ascending score.
    """
    count: cython.Py_ssize_t = thresholds.shape[0]
    k: cython.Py_ssize_t = 0
    level: cython.Py_ssize_t
    until: cython.Py_ssize_t
    with cython.nogil:
        below[0] = 0
        for level in range(count + 1):
            until = order.shape[0]
            if level < count:
                until = below[level + 1] = _first_at_least(thresholds[level], order, scores, k)
            while k < until:
                levels[order[k]] = level
                k += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _first_at_least(
    threshold: cython.double,
    order: cython.int[::1],
    scores: cython.const[cython.double][::1],
    begin: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Return where the points that reach a threshold begin, from a place on that they are not before."""
    end: cython.Py_ssize_t = order.shape[0]
    middle: cython.Py_ssize_t
    while begin < end:
        middle = (begin + end) // 2
        if scores[order[middle]] < threshold:
            begin = middle + 1
        else:
            end = middle
    return begin
