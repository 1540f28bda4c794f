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
    norm: cython.double[::1],
    scale: cython.double[::1],
    level: cython.double[::1],
    spread: cython.double[::1],
    worst: cython.double[::1],
    later: cython.double[:, ::1],
    sums: cython.double[::1],
    bounds: cython.double[::1],
    heaps: cython.double[:, ::1],
    others: cython.int[:, ::1],
):
    """Write for each window the others with the lowest bounds, as a heap whose root is the highest of them.

    With D the squared distance between the values of the windows i and j, the bound is ``norm[i] + norm[j] + scale[i] *
    scale[j] * (D - (level[i] - level[j]) ** 2 - (spread[i] + spread[j]))``.

    D is a sum of squares over a window, which is what is left of a block of as many values, and what of the next block
    comes before the window's end. Both are running sums, and nothing is ever taken off, so that they stay exact.
    ``later`` holds the former: a row for each value of a block, a column for each of the lags that are gone through
    together. ``sums`` and ``bounds`` are as long as its rows, and so is the padding at the end of ``x`` (zeros),
    ``norm`` (infinite), ``worst`` (minus infinity) and the rest (zeros). ``heaps`` and ``worst`` come filled with
    infinity.
    """
    windows: cython.Py_ssize_t = heaps.shape[0]
    lag: cython.Py_ssize_t = 1
    start: cython.Py_ssize_t
    with cython.nogil:
        while lag < windows:
            start = 0
            while start < windows - lag:
                _sum_to_the_end(x, start, lag, later, sums)
                _go_along(x, start, lag, norm, scale, level, spread, worst, later, sums, bounds, heaps, others)
                start += later.shape[0]
            lag += later.shape[1]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _sum_to_the_end(
    x: cython.double[::1],
    start: cython.Py_ssize_t,
    lag: cython.Py_ssize_t,
    later: cython.double[:, ::1],
    sums: cython.double[::1],
) -> cython.void:
    """Write the squared differences at each of the lags, summed from each value of the block to its end."""
    lags: cython.Py_ssize_t = later.shape[1]
    t: cython.Py_ssize_t
    k: cython.Py_ssize_t
    here: cython.double
    difference: cython.double
    for k in range(lags):
        sums[k] = 0.0
    for t in range(later.shape[0] - 1, -1, -1):
        here = x[start + t]
        for k in range(lags):
            difference = here - x[start + t + lag + k]
            sums[k] += difference * difference
            later[t, k] = sums[k]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _go_along(
    x: cython.double[::1],
    start: cython.Py_ssize_t,
    lag: cython.Py_ssize_t,
    norm: cython.double[::1],
    scale: cython.double[::1],
    level: cython.double[::1],
    spread: cython.double[::1],
    worst: cython.double[::1],
    later: cython.double[:, ::1],
    sums: cython.double[::1],
    bounds: cython.double[::1],
    heaps: cython.double[:, ::1],
    others: cython.int[:, ::1],
) -> cython.void:
    """Offer the pairs of windows at these lags whose first one starts in the block to the heaps of both."""
    lags: cython.Py_ssize_t = later.shape[1]
    stop: cython.Py_ssize_t = min(start + later.shape[0], heaps.shape[0] - lag)
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    hits: cython.longlong
    own_norm: cython.double
    own_scale: cython.double
    own_level: cython.double
    own_spread: cython.double
    own_worst: cython.double
    bound: cython.double
    limit: cython.double
    here: cython.double
    difference: cython.double
    for k in range(lags):
        sums[k] = 0.0
    for i in range(start, stop):
        j = i + lag
        own_norm, own_scale, own_level, own_spread, own_worst = norm[i], scale[i], level[i], spread[i], worst[i]
        for k in range(lags):
            difference = own_level - level[j + k]
            bounds[k] = (own_norm + norm[j + k]) + (own_scale * scale[j + k]) * (
                (later[i - start, k] + sums[k]) - difference * difference - (own_spread + spread[j + k])
            )
        # Counted without a branch, so that several are compared at once: hits are rare.
        hits = 0
        for k in range(lags):
            bound = bounds[k]
            limit = worst[j + k]
            limit = limit if limit > own_worst else own_worst
            hits += 1 if bound < limit else 0
        # The window that starts one later ends one later too.
        here = x[i + later.shape[0]]
        for k in range(lags):
            difference = here - x[j + later.shape[0] + k]
            sums[k] += difference * difference
        if hits:
            for k in range(lags):
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
