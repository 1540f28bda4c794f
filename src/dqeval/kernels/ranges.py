# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False
"""The loops of the metrics that compare labelled events with detected ones, both sorted and half-open."""

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


def affiliation(
    starts: cython.Py_ssize_t[::1],
    stops: cython.Py_ssize_t[::1],
    left: cython.double[::1],
    right: cython.double[::1],
    found_starts: cython.Py_ssize_t[::1],
    found_stops: cython.Py_ssize_t[::1],
    precision: cython.double[::1],
    recall: cython.double[::1],
):
    """Write precision and recall of each event's zone [left, right); precision is -1 where nothing is detected."""
    i: cython.Py_ssize_t
    first: cython.Py_ssize_t = 0
    j: cython.Py_ssize_t
    with cython.nogil:
        for i in range(starts.shape[0]):
            while first < found_starts.shape[0] and found_stops[first] <= left[i]:
                first += 1
            j = first
            while j < found_starts.shape[0] and found_starts[j] < right[i]:
                j += 1
            if j == first:
                precision[i] = -1.0
                recall[i] = 0.0
                continue
            precision[i] = _zone_precision(starts[i], stops[i], left[i], right[i], found_starts, found_stops, first, j)
            recall[i] = _zone_recall(starts[i], stops[i], left[i], right[i], found_starts, found_stops, first, j)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _zone_precision(
    start: cython.double,
    stop: cython.double,
    left: cython.double,
    right: cython.double,
    found_starts: cython.Py_ssize_t[::1],
    found_stops: cython.Py_ssize_t[::1],
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
) -> cython.double:
    """Return the mean, over what is detected, of the chance that a random point is farther from the event."""
    duration: cython.double = 0.0
    lost: cython.double = 0.0
    reach: cython.double = min(start - left, right - stop)
    low: cython.double
    high: cython.double
    j: cython.Py_ssize_t
    for j in range(first, last):
        low = max(cython.cast(cython.double, found_starts[j]), left)
        high = min(cython.cast(cython.double, found_stops[j]), right)
        duration += high - low
        if low < start:
            lost += _farther(start - low, reach, stop - start) - _farther(start - min(high, start), reach, stop - start)
        if high > stop:
            lost += _farther(high - stop, reach, stop - start) - _farther(max(low, stop) - stop, reach, stop - start)
    return 1 - lost / (right - left) / duration


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _farther(distance: cython.double, reach: cython.double, length: cython.double) -> cython.double:
    """Return the integral of length + d + min(d, reach) over the distances d from 0 on."""
    capped: cython.double = min(distance, reach)
    return length * distance + distance * distance / 2 + capped * capped / 2 + reach * (distance - capped)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _zone_recall(
    start: cython.double,
    stop: cython.double,
    left: cython.double,
    right: cython.double,
    found_starts: cython.Py_ssize_t[::1],
    found_stops: cython.Py_ssize_t[::1],
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
) -> cython.double:
    """Return the mean, over the event, of the chance that a random point is farther from what is detected."""
    lost: cython.double = 0.0
    low: cython.double = max(cython.cast(cython.double, found_starts[first]), left)
    high: cython.double = min(cython.cast(cython.double, found_stops[last - 1]), right)
    j: cython.Py_ssize_t
    if low > start:
        lost += _nearer(low - start, low - left) - _nearer(max(0.0, low - stop), low - left)
    if high < stop:
        lost += _nearer(stop - high, right - high) - _nearer(max(0.0, start - high), right - high)
    for j in range(first, last - 1):
        lost += _gap(found_stops[j], found_starts[j + 1], start, stop, left, right)
    return 1 - lost / (right - left) / (stop - start)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _gap(
    low: cython.double,
    high: cython.double,
    start: cython.double,
    stop: cython.double,
    left: cython.double,
    right: cython.double,
) -> cython.double:
    """Return what the undetected part [low, high) between two detections costs: its halves look to either side."""
    middle: cython.double = (low + high) / 2
    lost: cython.double = 0.0
    begin: cython.double = max(low, start)
    end: cython.double = min(middle, stop)
    if begin < end:
        lost += _nearer(end - low, right - low) - _nearer(begin - low, right - low)
    begin = max(middle, start)
    end = min(high, stop)
    if begin < end:
        lost += _nearer(high - begin, high - left) - _nearer(high - end, high - left)
    return lost


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _nearer(distance: cython.double, room: cython.double) -> cython.double:
    """Return the integral of d + min(d, room - d) over the distances d from 0 on."""
    if distance <= room / 2:
        return distance * distance
    return room * room / 4 + room * (distance - room / 2)
