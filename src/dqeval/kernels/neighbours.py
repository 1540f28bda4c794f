# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False
"""The search for the nearest windows of a series, along the diagonals of the matrix of their distances."""

from __future__ import annotations

try:
    import cython
except ImportError:
    from dqeval.kernels import _plain as cython

compiled = cython.compiled


def nearest_bounds(
    x: cython.double[::1],
    terms: cython.double[:, ::1],
    worst: cython.double[::1],
    later: cython.double[:, ::1],
    lags: cython.Py_ssize_t[::1],
    heaps: cython.double[:, ::1],
    others: cython.int[:, ::1],
):
    """Write for each window the others with the lowest bounds, as a heap whose root is the highest of them.

    Only windows are compared whose distance in time is one of ``lags`` or up to 31 more. With D the squared distance
    between the values of the windows i and j, the bound is D itself where ``terms`` has no rows. Else these are norm,
    scale, level and spread, and the bound is ``norm[i] + norm[j] + scale[i] * scale[j] * (D - (level[i] - level[j]) **
    2 - (spread[i] + spread[j]))``.

    D is a sum of squares over a window, which is what is left of a block of as many values, and what of the next block
    comes before the window's end. Both are running sums, and nothing is ever taken off, so that they stay exact.
    ``later``, of 32 columns, is for the former: a row for each value of a block, a column for each of the lags that are
    gone through together. ``heaps`` and ``worst`` come filled with infinity. At their ends, ``x``, ``terms`` and
    ``worst`` have 32 more: ``worst`` minus infinity, the norm infinity and the rest zeros, or ``x`` infinity where
    there are no terms, so that every bound beyond the end is infinite.
    """
    windows: cython.Py_ssize_t = heaps.shape[0]
    place: cython.Py_ssize_t
    start: cython.Py_ssize_t
    with cython.nogil:
        for place in range(lags.shape[0]):
            start = 0
            while start < windows - lags[place]:
                _sum_to_the_end(x, start, lags[place], later)
                _go_along(x, start, lags[place], terms, worst, later, heaps, others)
                start += later.shape[0]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _sum_to_the_end(
    x: cython.double[::1], start: cython.Py_ssize_t, lag: cython.Py_ssize_t, later: cython.double[:, ::1]
) -> cython.void:
    """Write the squared differences at each of the lags, summed from each value of the block to its end."""
    t: cython.Py_ssize_t
    k: cython.Py_ssize_t
    here: cython.double
    difference: cython.double
    # Of a size that the compiler knows, and nobody else's, so that it can use vector instructions.
    sums = cython.declare(cython.double[32])
    for k in range(32):
        sums[k] = 0.0
    for t in range(later.shape[0] - 1, -1, -1):
        here = x[start + t]
        for k in range(32):
            difference = here - x[start + t + lag + k]
            sums[k] += difference * difference
        for k in range(32):
            later[t, k] = sums[k]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _go_along(
    x: cython.double[::1],
    start: cython.Py_ssize_t,
    lag: cython.Py_ssize_t,
    terms: cython.double[:, ::1],
    worst: cython.double[::1],
    later: cython.double[:, ::1],
    heaps: cython.double[:, ::1],
    others: cython.int[:, ::1],
) -> cython.void:
    """Offer the pairs of windows at these lags whose first one starts in the block to the heaps of both."""
    stop: cython.Py_ssize_t = min(start + later.shape[0], heaps.shape[0] - lag)
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    hits: cython.longlong
    own_worst: cython.double
    limit: cython.double
    here: cython.double
    difference: cython.double
    sums = cython.declare(cython.double[32])
    bounds = cython.declare(cython.double[32])
    for k in range(32):
        sums[k] = 0.0
    for i in range(start, stop):
        j = i + lag
        for k in range(32):
            bounds[k] = later[i - start, k] + sums[k]
        if terms.shape[0]:
            for k in range(32):
                difference = terms[2, i] - terms[2, j + k]
                bounds[k] = (terms[0, i] + terms[0, j + k]) + (terms[1, i] * terms[1, j + k]) * (
                    bounds[k] - difference * difference - (terms[3, i] + terms[3, j + k])
                )
        # Counted without a branch, so that several are compared at once: hits are rare.
        hits = 0
        own_worst = worst[i]
        for k in range(32):
            limit = worst[j + k]
            limit = limit if limit > own_worst else own_worst
            hits += 1 if bounds[k] < limit else 0
        # The window that starts one later ends one later too.
        here = x[i + later.shape[0]]
        for k in range(32):
            difference = here - x[j + later.shape[0] + k]
            sums[k] += difference * difference
        if hits:
            for k in range(32):
                if bounds[k] < worst[i]:
                    worst[i] = _replace_highest(heaps, others, i, bounds[k], j + k)
                if bounds[k] < worst[j + k]:
                    worst[j + k] = _replace_highest(heaps, others, j + k, bounds[k], i)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _replace_highest(
    heaps: cython.double[:, ::1],
    others: cython.int[:, ::1],
    row: cython.Py_ssize_t,
    bound: cython.double,
    other: cython.Py_ssize_t,
) -> cython.double:
    """Put a bound in place of the highest of a row's heap; return the highest then."""
    size: cython.Py_ssize_t = heaps.shape[1]
    place: cython.Py_ssize_t = 0
    child: cython.Py_ssize_t = 1
    while child < size:
        if child + 1 < size and heaps[row, child + 1] > heaps[row, child]:
            child += 1
        if heaps[row, child] <= bound:
            break
        heaps[row, place] = heaps[row, child]
        others[row, place] = others[row, child]
        place = child
        child = 2 * place + 1
    heaps[row, place] = bound
    others[row, place] = other
    return heaps[row, 0]


def squared_distances(
    x: cython.double[::1],
    weights: cython.double[::1],
    rows: cython.Py_ssize_t[::1],
    candidates: cython.int[:, ::1],
    squares: cython.double[:, ::1],
):
    """Write the squared distances of some windows to their candidates, each place times its weight."""
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    with cython.nogil:
        for i in range(rows.shape[0]):
            for j in range(candidates.shape[1]):
                squares[i, j] = _weighted_square(x, weights, rows[i], candidates[i, j])


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _weighted_square(
    x: cython.double[::1], weights: cython.double[::1], i: cython.Py_ssize_t, j: cython.Py_ssize_t
) -> cython.double:
    """Return the squared distance between two windows."""
    size: cython.Py_ssize_t = weights.shape[0]
    t: cython.Py_ssize_t = 0
    k: cython.Py_ssize_t
    difference: cython.double
    total: cython.double = 0.0
    # Eight sums, so that none has to wait for another; always the same ones, so that machines agree to the last digit.
    sums = cython.declare(cython.double[8])
    for k in range(8):
        sums[k] = 0.0
    while t + 8 <= size:
        for k in range(8):
            difference = x[i + t + k] - x[j + t + k]
            sums[k] += weights[t + k] * (difference * difference)
        t += 8
    for k in range(8):
        total += sums[k]
    while t < size:
        difference = x[i + t] - x[j + t]
        total += weights[t] * (difference * difference)
        t += 1
    return total
