# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False
"""The loop that compares labelled events with detected ones, both sorted and half-open."""

from __future__ import annotations

try:
    import cython
except ImportError:
    from dqeval.kernels import _plain as cython

compiled = cython.compiled


def overlaps(
    starts: cython.Py_ssize_t[::1],
    stops: cython.Py_ssize_t[::1],
    other_starts: cython.Py_ssize_t[::1],
    other_stops: cython.Py_ssize_t[::1],
    first: cython.Py_ssize_t[::1],
    second: cython.Py_ssize_t[::1],
    points: cython.Py_ssize_t[::1],
):
    """Write the pairs of events that share points, and how many they share; return the number of pairs.

    There are fewer pairs than events on both sides together.
    """
    i: cython.Py_ssize_t = 0
    j: cython.Py_ssize_t = 0
    count: cython.Py_ssize_t = 0
    low: cython.Py_ssize_t
    high: cython.Py_ssize_t
    with cython.nogil:
        while i < starts.shape[0] and j < other_starts.shape[0]:
            low = max(starts[i], other_starts[j])
            high = min(stops[i], other_stops[j])
            if low < high:
                first[count] = i
                second[count] = j
                points[count] = high - low
                count += 1
            if stops[i] < other_stops[j]:
                i += 1
            else:
                j += 1
    return count
