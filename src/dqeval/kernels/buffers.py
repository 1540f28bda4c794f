# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False
"""The loops of VUS, which has buffers around the events.

A point's *level* is how many of the thresholds its score reaches: at the k-th threshold from below, the points of level
k and above are detected.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from dqeval.kernels import _plain as cython

if cython.compiled:
    from cython.cimports.libc.math import sqrt
else:
    from math import sqrt

compiled = cython.compiled


def vus_areas(
    levels: cython.int[::1],
    starts: cython.Py_ssize_t[::1],
    stops: cython.Py_ssize_t[::1],
    peaks: cython.int[::1],
    detected: cython.double[::1],
    hits: cython.double[::1],
    extension: cython.double[::1],
    zones: cython.double[::1],
    first: cython.Py_ssize_t,
    roc: cython.double[::1],
    pr: cython.double[::1],
):
    """Write the areas under the ROC and the PR curve for the windows from ``first`` on that there is room for.

    ``peaks`` holds the highest level in each event; ``detected[k]`` and ``hits[k]`` count the points, and the labelled
    ones, of level k and above. ``extension`` and ``zones``, as long as these, are working space.
    """
    w: cython.Py_ssize_t
    k: cython.Py_ssize_t
    with cython.nogil:
        for w in range(roc.shape[0]):
            for k in range(extension.shape[0]):
                extension[k] = 0.0
                zones[k] = 0.0
            _tally_window(levels, starts, stops, peaks, first + w, extension, zones)
            _areas(levels.shape[0], detected, hits, extension, zones, roc, pr, w)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _tally_window(
    levels: cython.int[::1],
    starts: cython.Py_ssize_t[::1],
    stops: cython.Py_ssize_t[::1],
    peaks: cython.int[::1],
    window: cython.Py_ssize_t,
    extension: cython.double[::1],
    zones: cython.double[::1],
) -> cython.void:
    """Tally by level the extended labels of the points around the events, and the zones by the highest level in them.

    A zone is an event with its buffers, or several where they meet. What one event adds to a point's label is at least
    the root of a half, so two of them make it 1, the most that it can be.
    """
    half: cython.Py_ssize_t = window // 2
    count: cython.Py_ssize_t = starts.shape[0]
    gap_start: cython.Py_ssize_t = 0
    gap_stop: cython.Py_ssize_t
    late_stop: cython.Py_ssize_t
    highest: cython.int = 0
    i: cython.Py_ssize_t
    t: cython.Py_ssize_t
    for i in range(count + 1):
        gap_stop = starts[i] if i < count else levels.shape[0]
        late_stop = min(gap_stop, gap_start + half) if i > 0 else gap_start
        for t in range(gap_start, late_stop):
            highest = max(highest, levels[t])
            if (i < count and starts[i] - t <= half) or (i > 1 and t - stops[i - 2] + 1 <= half):
                extension[levels[t]] += 1
            else:
                extension[levels[t]] += sqrt(1 - cython.cast(cython.double, t - gap_start + 1) / window)
        if i > 0 and (i == count or gap_start - 1 + half < gap_stop - half):
            zones[highest] += 1
            highest = 0
        if i < count:
            for t in range(max(late_stop, gap_stop - half), gap_stop):
                highest = max(highest, levels[t])
                if i + 1 < count and starts[i + 1] - t <= half:
                    extension[levels[t]] += 1
                else:
                    extension[levels[t]] += sqrt(1 - cython.cast(cython.double, gap_stop - t) / window)
            highest = max(highest, peaks[i])
            gap_start = stops[i]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _areas(
    n: cython.Py_ssize_t,
    detected: cython.double[::1],
    hits: cython.double[::1],
    extension: cython.double[::1],
    zones: cython.double[::1],
    roc: cython.double[::1],
    pr: cython.double[::1],
    w: cython.Py_ssize_t,
) -> cython.void:
    """Go down the thresholds of one window, and add up the areas."""
    k: cython.Py_ssize_t
    positives: cython.double = hits[0]
    zone_count: cython.double = 0.0
    reached: cython.double = 0.0
    extended: cython.double = 0.0
    fpr: cython.double = 0.0
    tpr: cython.double = 0.0
    next_fpr: cython.double
    next_tpr: cython.double
    tp: cython.double
    area: cython.double = 0.0
    area_pr: cython.double = 0.0
    for k in range(zones.shape[0]):
        zone_count += zones[k]
    for k in range(detected.shape[0] - 1, 0, -1):
        extended += extension[k]
        reached += zones[k]
        tp = hits[k] + extended
        next_tpr = min(tp / (positives + extended / 2), 1.0) * (reached / zone_count)
        next_fpr = (detected[k] - tp) / (n - positives - extended / 2)
        area += (next_fpr - fpr) * (next_tpr + tpr) / 2
        area_pr += (next_tpr - tpr) * (tp / detected[k])
        fpr = next_fpr
        tpr = next_tpr
    roc[w] = area + (1 - fpr) * (1 + tpr) / 2
    pr[w] = area_pr
