# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False
"""The loops over what is detected of each event, at every level at once (``kernels/sweep.py``).

What an event is worth changes only at the levels of its own points. Worths are tallied as in ``kernels/runs.py``.

What is tallied by the levels of one event is tallied by its *own* levels (``Groups`` in ``core/sweep.py``): point t of
event i has its own level at ``points[t + shifts[i]]``. ``own`` and ``ordered`` have the own levels, and the levels, of
event i, descending, up to ``ends[i]``.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from dqeval.kernels import _plain as cython

compiled = cython.compiled

# Columns of the stack of runs that go on.
STACKED_LEVEL = cython.declare(cython.Py_ssize_t, 0)
STACKED_START = cython.declare(cython.Py_ssize_t, 1)
STACKED_ABOVE = cython.declare(cython.Py_ssize_t, 2)  # the highest level before the run, in its event
STACK_COLUMNS = 3


def tally_range_recall(
    points: cython.int[::1],
    shifts: cython.Py_ssize_t[::1],
    starts: cython.Py_ssize_t[::1],
    stops: cython.Py_ssize_t[::1],
    ends: cython.Py_ssize_t[::1],
    own: cython.int[::1],
    ordered: cython.int[::1],
    tally: cython.Py_ssize_t[:, ::1],
    alpha: cython.double,
    scale: cython.double,
    worths: cython.longlong[:, ::1],
):
    """Tally by level what range-based recall gives each event: alpha, and the rest for the share covered, by pieces.

    ``tally``, zero on entry and on return, has two columns by own level: the points of an event, and the pieces that
    begin at a level, less those that are joined there.
    """
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t = 0
    t: cython.Py_ssize_t
    level: cython.Py_ssize_t
    step: cython.Py_ssize_t
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
            for t in range(starts[i] + shifts[i], stops[i] + shifts[i]):
                level = points[t]
                tally[level, 0] += 1
                if level > previous:
                    tally[level, 1] += 1
                    tally[previous, 1] -= 1
                previous = level
            while j < ends[i]:
                level = ordered[j]
                step = own[j]
                j += tally[step, 0]
                covered += tally[step, 0]
                pieces += tally[step, 1]
                tally[step, 0] = tally[step, 1] = 0
                if level > 0:
                    new = cython.cast(
                        cython.longlong, (alpha + (1 - alpha) * (covered / length / pieces)) * scale + 0.5
                    )
                    worths[level, 0] += new - old
                    old = new
            tally[0, 1] = 0


def tally_covered(
    points: cython.int[::1],
    shifts: cython.Py_ssize_t[::1],
    starts: cython.Py_ssize_t[::1],
    stops: cython.Py_ssize_t[::1],
    zone_stops: cython.Py_ssize_t[::1],
    partly: cython.longlong[::1],
    ends: cython.Py_ssize_t[::1],
    own: cython.int[::1],
    ordered: cython.int[::1],
    tally: cython.longlong[:, ::1],
    theta: cython.double,
    scale: cython.double,
    worths: cython.longlong[:, ::1],
):
    """Tally by level the covered share of each event, at most 1, and how many shares are at least ``theta``.

    The points behind event i, up to ``zone_stops[i]``, count in part: ``partly`` has, times ``scale``, what each does,
    of one event after the other. Event and zone have their own levels together. ``tally``, zero on entry and on return,
    has two columns by these: the points, and what they count.
    """
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t = 0
    k: cython.Py_ssize_t = 0
    t: cython.Py_ssize_t
    level: cython.Py_ssize_t
    step: cython.Py_ssize_t
    length: cython.double
    share: cython.double
    whole: cython.longlong = cython.cast(cython.longlong, scale)
    covered: cython.longlong
    old: cython.longlong
    new: cython.longlong
    reached: cython.bint
    with cython.nogil:
        for i in range(starts.shape[0]):
            for t in range(starts[i] + shifts[i], stops[i] + shifts[i]):
                tally[points[t], 0] += 1
                tally[points[t], 1] += whole
            for t in range(stops[i] + shifts[i], zone_stops[i] + shifts[i]):
                tally[points[t], 0] += 1
                tally[points[t], 1] += partly[k]
                k += 1
            length = stops[i] - starts[i]
            covered = old = 0
            reached = theta <= 0
            while j < ends[i]:
                level = ordered[j]
                step = own[j]
                j += tally[step, 0]
                covered += tally[step, 1]
                tally[step, 0] = tally[step, 1] = 0
                if level == 0:
                    break
                share = min(covered / scale, length) / length
                new = cython.cast(cython.longlong, share * scale + 0.5)
                worths[level, 0] += new - old
                old = new
                if not reached and share >= theta:
                    worths[level, 1] += 1
                    reached = True
            j = ends[i]


def tally_pate_missed(
    points: cython.int[::1],
    shifts: cython.Py_ssize_t[::1],
    starts: cython.Py_ssize_t[::1],
    stops: cython.Py_ssize_t[::1],
    ends: cython.Py_ssize_t[::1],
    own: cython.int[::1],
    ordered: cython.int[::1],
    tally: cython.Py_ssize_t[:, ::1],
    stack: cython.Py_ssize_t[:, ::1],
    scale: cython.double,
    missed: cython.longlong[:, ::1],
):
    """Tally by level by how much the weighted false negatives of PATE change; above all levels, all points are missed.

    ``tally``, zero on entry and on return, has four columns by own level: the points of an event, the sum of their
    offsets in it, and where the first run begins, and how long it is, at this level and below. ``stack`` has a row for
    each level that points have.
    """
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t = 0
    level: cython.Py_ssize_t
    step: cython.Py_ssize_t
    length: cython.Py_ssize_t
    first: cython.Py_ssize_t
    run: cython.Py_ssize_t
    left: cython.Py_ssize_t  # points that are still missed
    offsets: cython.Py_ssize_t
    old: cython.longlong
    new: cython.longlong
    with cython.nogil:
        for i in range(starts.shape[0]):
            _tally_first_runs(points, starts[i] + shifts[i], stops[i] + shifts[i], tally, stack)
            left = length = stops[i] - starts[i]
            offsets = length * (length - 1) // 2
            first = run = 0
            old = cython.cast(cython.longlong, length * scale + 0.5)
            while j < ends[i]:
                level = ordered[j]
                step = own[j]
                j += tally[step, 0]
                left -= tally[step, 0]
                offsets -= tally[step, 1]
                if tally[step, 3] > 0:
                    first = tally[step, 2]
                    run = tally[step, 3]
                tally[step, 0] = tally[step, 1] = tally[step, 2] = tally[step, 3] = 0
                if level > 0:
                    new = cython.cast(cython.longlong, _partly_missed(length, first, run, left, offsets) * scale + 0.5)
                    missed[level, 0] += new - old
                    old = new


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _tally_first_runs(
    points: cython.int[::1],
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
    stack[0, STACKED_LEVEL] = 0
    for t in range(start, stop + 1):
        level = 0
        if t < stop:
            level = points[t]
            tally[level, 0] += 1
            tally[level, 1] += t - start
        begin = t
        above = highest
        while stack[depth, STACKED_LEVEL] > level:
            begin = stack[depth, STACKED_START]
            above = stack[depth, STACKED_ABOVE]
            if stack[depth, STACKED_LEVEL] > above:
                tally[stack[depth, STACKED_LEVEL], 2] = begin - start
                tally[stack[depth, STACKED_LEVEL], 3] = t - begin
            depth -= 1
        if stack[depth, STACKED_LEVEL] < level:
            depth += 1
            stack[depth, STACKED_LEVEL] = level
            stack[depth, STACKED_START] = begin
            stack[depth, STACKED_ABOVE] = above
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
