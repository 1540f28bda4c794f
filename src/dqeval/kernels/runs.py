# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False
"""The loops over detected runs, and over what is detected of events, at every level at once (``kernels/sweep.py``).

A run of points is detected from the lowest level of its points down to just above the higher of its two neighbours. So
there are fewer different runs than points, at all levels together. A stack of levels finds each of them once, in time
order: what a run is worth is added at its highest level, and taken away at the one where it has grown. In the same way,
what an event is worth changes only at the levels of its own points. A running sum over the levels, from the highest
down, then gives all thresholds.

Worths are tallied in whole multiples of a small unit, ``1 / scale``: what was added and taken away again leaves
nothing behind, whatever else was added between.
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


def find_runs(
    levels: cython.int[::1],
    starts: cython.Py_ssize_t[::1],
    stops: cython.Py_ssize_t[::1],
    stack: cython.Py_ssize_t[:, ::1],
    scale: cython.double,
    counts: cython.longlong[::1],
    roots: cython.longlong[::1],
    found: cython.int[:, ::1],
):
    """Tally by level how many runs there are, and the roots of their lengths; write those that touch an event.

    The rows of ``found`` are the first point, the one behind the last, the highest level, and the one below the lowest.
    Return how many there are; those that there is no room for are not written. The last point must be of level 0.
    ``stack`` has three rows, and columns for all levels that points have.
    """
    count: cython.Py_ssize_t = 0
    depth: cython.Py_ssize_t = 0
    event: cython.Py_ssize_t = 0
    first: cython.Py_ssize_t  # event that ends behind the first point
    start: cython.Py_ssize_t
    high: cython.Py_ssize_t
    low: cython.Py_ssize_t
    level: cython.Py_ssize_t
    t: cython.Py_ssize_t
    root: cython.longlong
    stack[0, 0] = 0
    with cython.nogil:
        for t in range(levels.shape[0]):
            level = levels[t]
            while event < stops.shape[0] and stops[event] <= t:
                event += 1
            start = t
            first = event
            while stack[0, depth] > level:
                high = stack[0, depth]
                start = stack[1, depth]
                first = stack[2, depth]
                depth -= 1
                low = max(level, stack[0, depth])
                root = cython.cast(cython.longlong, sqrt(cython.cast(cython.double, t - start)) * scale + 0.5)
                counts[high] += 1
                counts[low] -= 1
                roots[high] += root
                roots[low] -= root
                if first < starts.shape[0] and starts[first] < t:
                    if count < found.shape[1]:
                        found[0, count] = start
                        found[1, count] = t
                        found[2, count] = high
                        found[3, count] = low
                    count += 1
            if stack[0, depth] < level:
                depth += 1
                stack[0, depth] = level
                stack[1, depth] = start
                stack[2, depth] = first
    return count


def tally_range_recall(
    levels: cython.int[::1],
    starts: cython.Py_ssize_t[::1],
    stops: cython.Py_ssize_t[::1],
    ends: cython.Py_ssize_t[::1],
    ordered: cython.int[::1],
    tally: cython.Py_ssize_t[:, ::1],
    alpha: cython.double,
    scale: cython.double,
    worths: cython.longlong[::1],
):
    """Tally by level what range-based recall gives each event: alpha, and the rest for the share covered, by pieces.

    Event i has its levels, descending, in ``ordered``, up to ``ends[i]``. ``tally``, zero on entry and on return, has
    two rows: the points of an event by level, and the pieces that begin at a level, less those that are joined there.
    """
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t = 0
    t: cython.Py_ssize_t
    level: cython.Py_ssize_t
    previous: cython.Py_ssize_t
    covered: cython.Py_ssize_t
    pieces: cython.Py_ssize_t
    length: cython.double
    old: cython.longlong
    new: cython.longlong
    with cython.nogil:
        for i in range(starts.shape[0]):
            previous = covered = pieces = 0
            old = 0
            length = stops[i] - starts[i]
            for t in range(starts[i], stops[i]):
                level = levels[t]
                tally[0, level] += 1
                if level > previous:
                    tally[1, level] += 1
                    tally[1, previous] -= 1
                previous = level
            while j < ends[i]:
                level = ordered[j]
                j += tally[0, level]
                covered += tally[0, level]
                pieces += tally[1, level]
                tally[0, level] = tally[1, level] = 0
                if level > 0:
                    new = cython.cast(
                        cython.longlong, (alpha + (1 - alpha) * (covered / length / pieces)) * scale + 0.5
                    )
                    worths[level] += new - old
                    old = new
            tally[1, 0] = 0


def tally_covered(
    levels: cython.int[::1],
    starts: cython.Py_ssize_t[::1],
    stops: cython.Py_ssize_t[::1],
    zone_stops: cython.Py_ssize_t[::1],
    partly: cython.longlong[::1],
    ends: cython.Py_ssize_t[::1],
    ordered: cython.int[::1],
    tally: cython.longlong[:, ::1],
    theta: cython.double,
    scale: cython.double,
    shares: cython.longlong[::1],
    enough: cython.longlong[::1],
):
    """Tally by level the covered share of each event, at most 1, and how many shares are at least ``theta``.

    The points behind event i, up to ``zone_stops[i]``, count in part: ``partly`` has, times ``scale``, what each does,
    of one event after the other. Event and zone have their levels, descending, in ``ordered``, up to ``ends[i]``.
    ``tally``, zero on entry and on return, has two rows: the points by level, and what they count.
    """
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t = 0
    k: cython.Py_ssize_t = 0
    t: cython.Py_ssize_t
    level: cython.Py_ssize_t
    length: cython.double
    share: cython.double
    whole: cython.longlong = cython.cast(cython.longlong, scale)
    covered: cython.longlong
    old: cython.longlong
    new: cython.longlong
    reached: cython.bint
    with cython.nogil:
        for i in range(starts.shape[0]):
            for t in range(starts[i], stops[i]):
                tally[0, levels[t]] += 1
                tally[1, levels[t]] += whole
            for t in range(stops[i], zone_stops[i]):
                tally[0, levels[t]] += 1
                tally[1, levels[t]] += partly[k]
                k += 1
            length = stops[i] - starts[i]
            covered = old = 0
            reached = theta <= 0
            while j < ends[i]:
                level = ordered[j]
                j += tally[0, level]
                covered += tally[1, level]
                tally[0, level] = tally[1, level] = 0
                if level == 0:
                    break
                share = min(covered / scale, length) / length
                new = cython.cast(cython.longlong, share * scale + 0.5)
                shares[level] += new - old
                old = new
                if not reached and share >= theta:
                    enough[level] += 1
                    reached = True
            j = ends[i]


def tally_pate_missed(
    levels: cython.int[::1],
    starts: cython.Py_ssize_t[::1],
    stops: cython.Py_ssize_t[::1],
    ends: cython.Py_ssize_t[::1],
    ordered: cython.int[::1],
    tally: cython.Py_ssize_t[:, ::1],
    stack: cython.Py_ssize_t[:, ::1],
    scale: cython.double,
    missed: cython.longlong[::1],
):
    """Tally by level by how much the weighted false negatives of PATE change; above all levels, all points are missed.

    Event i has its levels, descending, in ``ordered``, up to ``ends[i]``. ``tally``, zero on entry and on return, has
    four rows by level: the points of an event, the sum of their offsets in it, and where the first run begins, and how
    long it is, at this level and below. ``stack`` has three rows, and columns for all levels that points have.
    """
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t = 0
    level: cython.Py_ssize_t
    length: cython.Py_ssize_t
    first: cython.Py_ssize_t
    run: cython.Py_ssize_t
    points: cython.Py_ssize_t
    offsets: cython.Py_ssize_t
    old: cython.longlong
    new: cython.longlong
    with cython.nogil:
        for i in range(starts.shape[0]):
            _tally_first_runs(levels, starts[i], stops[i], tally, stack)
            points = length = stops[i] - starts[i]
            offsets = length * (length - 1) // 2
            first = run = 0
            old = cython.cast(cython.longlong, length * scale + 0.5)
            while j < ends[i]:
                level = ordered[j]
                j += tally[0, level]
                points -= tally[0, level]
                offsets -= tally[1, level]
                if tally[3, level] > 0:
                    first = tally[2, level]
                    run = tally[3, level]
                tally[0, level] = tally[1, level] = tally[2, level] = tally[3, level] = 0
                if level > 0:
                    new = cython.cast(
                        cython.longlong, _partly_missed(length, first, run, points, offsets) * scale + 0.5
                    )
                    missed[level] += new - old
                    old = new


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _tally_first_runs(
    levels: cython.int[::1],
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    tally: cython.Py_ssize_t[:, ::1],
    stack: cython.Py_ssize_t[:, ::1],
) -> cython.void:
    """Tally the points of an event, and its first run from the level on at which it is the first: above all before it.

    The stack has the level of each run that goes on, its first point, and the highest level before that.
    """
    t: cython.Py_ssize_t
    level: cython.Py_ssize_t
    begin: cython.Py_ssize_t
    above: cython.Py_ssize_t
    highest: cython.Py_ssize_t = 0
    depth: cython.Py_ssize_t = 0
    stack[0, 0] = 0
    for t in range(start, stop + 1):
        level = 0
        if t < stop:
            level = levels[t]
            tally[0, level] += 1
            tally[1, level] += t - start
        begin = t
        above = highest
        while stack[0, depth] > level:
            begin = stack[1, depth]
            above = stack[2, depth]
            if stack[0, depth] > above:
                tally[2, stack[0, depth]] = begin - start
                tally[3, stack[0, depth]] = t - begin
            depth -= 1
        if stack[0, depth] < level:
            depth += 1
            stack[0, depth] = level
            stack[1, depth] = begin
            stack[2, depth] = above
        highest = max(highest, level)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _partly_missed(
    length: cython.Py_ssize_t,
    first: cython.Py_ssize_t,
    run: cython.Py_ssize_t,
    points: cython.Py_ssize_t,
    offsets: cython.Py_ssize_t,
) -> cython.double:
    """Return the false negatives of an event of which some points are detected, weighted by its first run.

    ``points`` are missed, with the sum ``offsets`` of their distances from the start. Those farther than ``run`` count
    less, and the nearer ones lie before the run, or are the one right behind it.
    """
    nearer: cython.Py_ssize_t = min(first, run + 1)
    nearer_offsets: cython.Py_ssize_t = nearer * (nearer - 1) // 2
    if first == 0 and run < length:
        nearer = 1
        nearer_offsets = run
    if points == nearer:
        return points
    half: cython.double = run / 2.0
    farther: cython.double = offsets - nearer_offsets - half * (points - nearer)
    return points - (run + 1) * farther / (length * (length - 1) / 2.0)
