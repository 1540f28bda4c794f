# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False
"""The loops over detected runs, at every level at once (``kernels/sweep.py``).

A run of points is detected from the lowest level of its points down to just above the higher of its two neighbours. So
there are fewer different runs than points, at all levels together. A stack of levels finds each of them once, in time
order: what a run is worth is added at its highest level, and taken away at the one where it has grown. A running sum
over the levels, from the highest down, then gives all thresholds.

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

# Columns of what is known of each run: its first point, the one behind the last, the highest level, the one below the
# lowest, the first event that it touches, the one behind the last of these, and how many of its points are labelled.
START = cython.declare(cython.Py_ssize_t, 0)
STOP = cython.declare(cython.Py_ssize_t, 1)
HIGH = cython.declare(cython.Py_ssize_t, 2)
LOW = cython.declare(cython.Py_ssize_t, 3)
FIRST = cython.declare(cython.Py_ssize_t, 4)
BEHIND = cython.declare(cython.Py_ssize_t, 5)
LABELLED = cython.declare(cython.Py_ssize_t, 6)
RUN_COLUMNS = 7
# Columns of what is tallied by level: how many runs there are, and the roots of their lengths.
COUNT = cython.declare(cython.Py_ssize_t, 0)
ROOT = cython.declare(cython.Py_ssize_t, 1)
# Columns of the stack of runs that go on.
STACKED_LEVEL = cython.declare(cython.Py_ssize_t, 0)
STACKED_START = cython.declare(cython.Py_ssize_t, 1)
STACKED_FIRST = cython.declare(cython.Py_ssize_t, 2)  # event that ends behind the first point
STACKED_LABELLED = cython.declare(cython.Py_ssize_t, 3)  # how many points are labelled before the first one
STACK_COLUMNS = 4
AHEAD = cython.declare(cython.Py_ssize_t, 128)  # points whose tally is fetched at the same time


def find_runs(
    levels: cython.int[::1],
    starts: cython.Py_ssize_t[::1],
    stops: cython.Py_ssize_t[::1],
    zone_stops: cython.Py_ssize_t[::1],
    stack: cython.Py_ssize_t[:, ::1],
    scale: cython.double,
    tally: cython.longlong[:, ::1],
    found: cython.int[:, ::1],
):
    """Tally by level how many runs there are, and the roots of their lengths; write those that touch an event.

    They also touch it at the points behind, up to ``zone_stops[i]``, which are not labelled. Return how many there are;
    those that there is no room for in ``found`` are not written. The last point must be of level 0. ``stack`` has a row
    for each level that points have.
    """
    count: cython.Py_ssize_t = 0
    depth: cython.Py_ssize_t = 0
    event: cython.Py_ssize_t = 0
    behind: cython.Py_ssize_t = 0  # the last event that has begun
    counted: cython.Py_ssize_t = 0
    labelled: cython.Py_ssize_t = 0  # points before this one
    labelled_to: cython.Py_ssize_t = -1
    begins: cython.Py_ssize_t = starts[0] + 1 if starts.shape[0] > 0 else 0  # from where on the next event is there
    before: cython.Py_ssize_t  # the first one of a run
    first: cython.Py_ssize_t  # event that ends behind the first point
    start: cython.Py_ssize_t
    high: cython.Py_ssize_t
    low: cython.Py_ssize_t
    level: cython.Py_ssize_t
    t: cython.Py_ssize_t
    root: cython.longlong
    stack[0, STACKED_LEVEL] = 0
    with cython.nogil:
        for t in range(levels.shape[0]):
            if t == counted:
                counted = _count_runs(levels, t, tally)
            level = levels[t]
            while event < starts.shape[0] and zone_stops[event] <= t:
                event += 1
            if t == begins:
                labelled_to = stops[behind]
                behind += 1
                begins = starts[behind] + 1 if behind < starts.shape[0] else 0
            labelled += 1 if t <= labelled_to else 0
            start = t
            first = event
            before = labelled
            while stack[depth, STACKED_LEVEL] > level:
                high = stack[depth, STACKED_LEVEL]
                start = stack[depth, STACKED_START]
                first = stack[depth, STACKED_FIRST]
                before = stack[depth, STACKED_LABELLED]
                depth -= 1
                low = max(level, stack[depth, STACKED_LEVEL])
                root = cython.cast(cython.longlong, sqrt(cython.cast(cython.double, t - start)) * scale + 0.5)
                tally[high, ROOT] += root
                tally[low, ROOT] -= root if low > 0 else 0  # of what is never detected, sums might not fit
                if first < behind:
                    if count < found.shape[0]:
                        found[count, START] = start
                        found[count, STOP] = t
                        found[count, HIGH] = high
                        found[count, LOW] = low
                        found[count, FIRST] = first
                        found[count, BEHIND] = behind
                        found[count, LABELLED] = labelled - before
                    count += 1
            if stack[depth, STACKED_LEVEL] < level:
                depth += 1
                stack[depth, STACKED_LEVEL] = level
                stack[depth, STACKED_START] = start
                stack[depth, STACKED_FIRST] = first
                stack[depth, STACKED_LABELLED] = before
    return count


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _count_runs(levels: cython.int[::1], begin: cython.Py_ssize_t, tally: cython.longlong[:, ::1]) -> cython.Py_ssize_t:
    """Tally by level the runs that begin at some points from one on, less those that have grown; return the next point.

    No branch depends on the levels. So a processor fetches what is far apart in memory at the same time, and for these
    points the tally is at hand.
    """
    end: cython.Py_ssize_t = min(begin + AHEAD, levels.shape[0])
    before: cython.Py_ssize_t = levels[begin - 1] if begin > 0 else 0
    level: cython.Py_ssize_t
    rises: cython.longlong
    t: cython.Py_ssize_t
    for t in range(begin, end):
        level = levels[t]
        rises = 1 if level > before else 0
        tally[level, COUNT] += rises
        tally[before, COUNT] -= rises
        before = level
    return end


def tally_false_alarms(
    levels: cython.int[::1],
    starts: cython.Py_ssize_t[::1],
    stops: cython.Py_ssize_t[::1],
    alone: cython.const[cython.uchar][::1],
    reaching: cython.const[cython.uchar][::1],
    tally: cython.int[::1],
):
    """Tally by level the runs that touch no zone; [starts[i], stops[i]) are the stretches between zones.

    They are those that begin in a stretch, less those of them that reach the zone behind it. ``alone`` tells before
    which stretches no run can be, and ``reaching`` behind which there is a zone.
    """
    i: cython.Py_ssize_t
    t: cython.Py_ssize_t
    level: cython.Py_ssize_t
    before: cython.Py_ssize_t
    lowest: cython.Py_ssize_t
    reached: cython.Py_ssize_t
    rises: cython.int
    with cython.nogil:
        for i in range(starts.shape[0]):
            before = lowest = 0 if alone[i] else levels[starts[i] - 1]
            # A point begins a run from its level down to that of the point before it.
            for t in range(starts[i], stops[i]):
                level = levels[t]
                rises = 1 if level > before else 0
                tally[level] += rises
                tally[before] -= rises
                lowest = min(lowest, level)
                before = level
            if reaching[i]:
                # Where all points are detected, and the one before them, too, the run has begun in the zone before.
                reached = min(before, levels[stops[i]])
                tally[reached] -= 1
                tally[min(lowest, reached)] += 1


def tally_between(
    found: cython.int[:, ::1], amounts: cython.double[::1], scale: cython.double, tally: cython.longlong[:, ::1]
):
    """Tally by level what runs amount to, times ``scale``: from the highest level of each down to its lowest."""
    amount: cython.longlong
    k: cython.Py_ssize_t
    with cython.nogil:
        for k in range(found.shape[0]):
            amount = cython.cast(cython.longlong, amounts[k] * scale + 0.5)  # rounded as the roots above
            tally[found[k, HIGH], 0] += amount
            tally[found[k, LOW], 0] -= amount if found[k, LOW] > 0 else 0
