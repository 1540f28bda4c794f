# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False
"""The loops that turn scores into levels.

A *level* says how many thresholds a point's score reaches: of a region's thresholds in ascending order, the point is
detected at the first ``level``. Level 0 is never detected.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from dqeval.kernels import _plain as cython

compiled = cython.compiled

ROUNDING = cython.declare(cython.double, 1e-14)  # more than what guessing a level can be off by, per threshold
MOST_PER_UNIT = cython.declare(cython.double, 1e300)
AT_ONCE = cython.declare(cython.Py_ssize_t, 128)  # points whose levels are guessed before one is looked at again
BLOCK_BITS = cython.declare(cython.Py_ssize_t, 6)
LOW_HALF = cython.declare(cython.longlong, 0xFFFFFFFF)
BLOCK = 1 << 6  # points, for each of which it is known in which region they begin


def levels_on_grid(
    scores: cython.const[cython.double][::1],
    low: cython.double,
    width: cython.double,
    grid: cython.double[::1],
    levels: cython.int[::1],
):
    """Write to ``levels`` how many values of the ascending ``grid`` are at or below each score, as it counts.

    A score counts as ``(score - low) / width``, a number in [0, 1]. The same as ``searchsorted(grid, scores,
    side="right")`` of what counts. The grid is nearly even, so a guess is right or one off; comparing with the grid
    itself decides. Where guesses a little lower and a little higher agree, they are right, which needs no division.
    """
    with cython.nogil:
        _levels_from(scores, low, width, grid, 0, levels.shape[0], levels)


def levels_on_grid_in_parts(
    scores: cython.const[cython.double][::1],
    starts: cython.Py_ssize_t[::1],
    low: cython.double[::1],
    width: cython.double[::1],
    grid: cython.double[::1],
    levels: cython.int[::1],
):
    """Do the same for parts of the scores that count differently: part i begins at ``starts[i]``, the first at 0."""
    parts: cython.Py_ssize_t = starts.shape[0]
    lowest: cython.double
    span: cython.double
    stop: cython.Py_ssize_t
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(parts):
            stop = starts[i + 1] if i + 1 < parts else levels.shape[0]
            # Of NumPy's numbers, the quotient would warn where it is infinite.
            lowest = cython.cast(cython.double, low[i])
            span = cython.cast(cython.double, width[i])
            _levels_from(scores, lowest, span, grid, starts[i], stop, levels)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _levels_from(
    scores: cython.const[cython.double][::1],
    low: cython.double,
    width: cython.double,
    grid: cython.double[::1],
    begin: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    levels: cython.int[::1],
) -> cython.void:
    """Write the levels of the points from one up to another."""
    count: cython.Py_ssize_t = grid.shape[0]
    per_unit: cython.double = cython.cast(cython.double, count) / width
    guessing: cython.bint = per_unit < MOST_PER_UNIT
    end: cython.Py_ssize_t
    while begin < stop:
        end = min(begin + AT_ONCE, stop)
        if not guessing or not _guess_levels(scores, low, per_unit, count * ROUNDING, begin, end, levels):
            _compare_with_grid(scores, low, width, grid, begin, end, levels)
        begin = end


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _guess_levels(
    scores: cython.const[cython.double][::1],
    low: cython.double,
    per_unit: cython.double,
    margin: cython.double,
    begin: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    levels: cython.int[::1],
) -> cython.bint:
    """Write the levels of some points, and tell whether rounding can have made none of them wrong.

    There is no branch in the loop, so that a compiler has it go through several points at once.
    """
    differ: cython.int = 0
    lower: cython.int
    upper: cython.int
    guess: cython.double
    t: cython.Py_ssize_t
    for t in range(begin, end):
        guess = (scores[t] - low) * per_unit
        lower = cython.cast(cython.int, guess - margin)
        upper = cython.cast(cython.int, guess + margin)
        levels[t] = lower
        differ |= lower ^ upper
    return differ == 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _compare_with_grid(
    scores: cython.const[cython.double][::1],
    low: cython.double,
    width: cython.double,
    grid: cython.double[::1],
    begin: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    levels: cython.int[::1],
) -> cython.void:
    """Write the levels of some points, each as a comparison with the grid finds it."""
    count: cython.Py_ssize_t = grid.shape[0]
    level: cython.Py_ssize_t
    score: cython.double
    t: cython.Py_ssize_t
    for t in range(begin, end):
        score = (scores[t] - low) / width
        level = cython.cast(cython.Py_ssize_t, score * count)
        while level < count and grid[level] <= score:
            level += 1
        while level > 0 and grid[level - 1] > score:
            level -= 1
        levels[t] = level


def levels_above(
    scores: cython.const[cython.double][::1],
    values: cython.const[cython.double][::1],
    per_unit: cython.double,
    levels: cython.int[::1],
):
    """Write to ``levels`` how many of the ascending ``values`` lie below each score.

    The same as ``searchsorted(values, scores, side="left")``. The values are nearly even, ``per_unit`` of them in a
    unit, so a guess is right or one off; comparing with the values themselves decides. With 0, none is made.
    """
    count: cython.Py_ssize_t = values.shape[0]
    level: cython.Py_ssize_t = 0
    t: cython.Py_ssize_t
    with cython.nogil:
        for t in range(levels.shape[0]):
            if per_unit > 0:
                level = cython.cast(cython.Py_ssize_t, (scores[t] - values[0]) * per_unit)
            while level < count and values[level] < scores[t]:
                level += 1
            while level > 0 and values[level - 1] >= scores[t]:
                level -= 1
            levels[t] = level


def levels_among(scores: cython.const[cython.double][::1], values: cython.double[::1], levels: cython.int[::1]):
    """Write to ``levels`` how many of the ascending ``values`` lie below each score: they may be spaced in any way.

    The same as ``searchsorted(values, scores, side="left")``. There must be a power of two of them less one, of which
    the last may be infinite, so that each search has as many steps, and no processor needs to guess when it ends.
    """
    half: cython.Py_ssize_t = (values.shape[0] + 1) // 2
    level: cython.Py_ssize_t
    step: cython.Py_ssize_t
    t: cython.Py_ssize_t
    with cython.nogil:
        for t in range(levels.shape[0]):
            level = 0
            step = half
            while step > 0:
                level += step if values[level + step - 1] < scores[t] else 0
                step >>= 1
            levels[t] = level


def levels_by_rank(
    order: cython.int[::1],
    scores: cython.const[cython.double][::1],
    first: cython.Py_ssize_t[::1],
    last: cython.Py_ssize_t[::1],
    shift: cython.Py_ssize_t[::1],
    levels: cython.int[::1],
    thresholds: cython.double[::1],
    counts: cython.Py_ssize_t[::1],
):
    """Rank the positive scores within each local region, ties together, and collect the region's thresholds.

    ``order`` has the points of region i by ascending score from ``first[i]`` up to ``last[i]``. Point t of it has its
    level at ``t + shift[i]``. The region's thresholds, ascending, begin at ``first[i]`` too; ``counts`` becomes their
    number.
    """
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    t: cython.Py_ssize_t
    level: cython.Py_ssize_t
    highest: cython.double
    with cython.nogil:
        for i in range(first.shape[0]):
            level = 0
            highest = 0.0
            for k in range(first[i], last[i]):
                t = order[k]
                if scores[t] > highest:
                    highest = scores[t]
                    thresholds[first[i] + level] = highest
                    level += 1
                levels[t + shift[i]] = level
            counts[i] = level


def points_by_region(
    order: cython.int[::1],
    tied: cython.const[cython.uchar][::1],
    borders: cython.Py_ssize_t[::1],
    blocks: cython.int[::1],
    starts: cython.Py_ssize_t[::1],
    stops: cython.Py_ssize_t[::1],
    begins: cython.Py_ssize_t[::1],
    items: cython.longlong[::1],
):
    """Write the points of each region by ascending score, and how many points of its series score at least as much.

    ``order`` has the points by ascending score, of one series after the other: from one of the ``borders`` to the next.
    ``tied`` tells which score as much as the one before. Regions lie at [starts[i], stops[i]), and at most two have a
    point in common. An item is the number of points that score as much, and in the lower 32 bits the point. Those of
    region i are written from ``begins[i]`` down, which becomes where they begin; points that score lowest are left out.
    ``blocks``, an entry for each ``BLOCK`` points, is working space.
    """
    regions: cython.Py_ssize_t = starts.shape[0]
    points: cython.Py_ssize_t
    group: cython.Py_ssize_t
    lowest: cython.Py_ssize_t
    count: cython.longlong = 0
    part: cython.Py_ssize_t
    k: cython.Py_ssize_t
    t: cython.Py_ssize_t
    i: cython.Py_ssize_t
    with cython.nogil:
        _first_regions(stops, blocks)
        for part in range(borders.shape[0] - 1):
            group = points = borders[part + 1]
            lowest = borders[part] + 1
            while lowest < points and tied[lowest] != 0:
                lowest += 1
            for k in range(points - 1, lowest - 1, -1):
                if k < group:
                    group = _first_of_equal(tied, k)
                    count = cython.cast(cython.longlong, points - group) << 32
                t = cython.cast(cython.Py_ssize_t, order[k])  # NumPy's short numbers cannot be combined with long ones
                i = blocks[t >> BLOCK_BITS]
                while i < regions and stops[i] <= t:
                    i += 1
                while i < regions and starts[i] <= t:
                    begins[i] -= 1
                    items[begins[i]] = count | t
                    i += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _first_of_equal(tied: cython.const[cython.uchar][::1], k: cython.Py_ssize_t) -> cython.Py_ssize_t:
    while tied[k] != 0:
        k -= 1
    return k


def levels_of_items(
    items: cython.longlong[::1],
    begins: cython.Py_ssize_t[::1],
    ends: cython.Py_ssize_t[::1],
    shift: cython.Py_ssize_t[::1],
    needed: cython.Py_ssize_t[::1],
    alarm_stop: cython.Py_ssize_t[::1],
    alarm_start: cython.Py_ssize_t[::1],
    levels: cython.int[::1],
    thresholds: cython.double[::1],
    first: cython.Py_ssize_t[::1],
    counts: cython.Py_ssize_t[::1],
):
    """Rank the points of each local region, ties together, and collect how many points its thresholds detect.

    Region i has the ``items`` at [begins[i], ends[i]), see `points_by_region`. Its thresholds, of which it has
    ``counts[i]``, ascending, go to ``first[i]`` and on. Point t has its level at ``t + shift[i]``. With as many false
    alarms as ``needed[i]``, what scores less makes no difference, and stays at level 0, which all have on entry. They
    are the points before ``alarm_stop[i]`` and from ``alarm_start[i]`` on. Return how many thresholds there are.
    """
    found: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    t: cython.Py_ssize_t
    alarms: cython.Py_ssize_t
    count: cython.longlong
    with cython.nogil:
        for i in range(ends.shape[0]):
            alarms = 0
            k = ends[i]
            while k > begins[i] and (alarms < needed[i] or items[k - 1] >> 32 == items[k] >> 32):
                k -= 1
                t = cython.cast(cython.Py_ssize_t, items[k] & LOW_HALF)
                alarms += 1 if t < alarm_stop[i] or t >= alarm_start[i] else 0
            first[i] = found
            count = 0
            while k < ends[i]:
                if items[k] >> 32 != count:
                    count = items[k] >> 32
                    thresholds[found] = cython.cast(cython.double, count)
                    found += 1
                levels[cython.cast(cython.Py_ssize_t, items[k] & LOW_HALF) + shift[i]] = found - first[i]
                k += 1
            counts[i] = found - first[i]
    return found


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _first_regions(stops: cython.Py_ssize_t[::1], blocks: cython.int[::1]) -> cython.void:
    """Write the first region that ends behind the first point of each block."""
    block: cython.Py_ssize_t
    i: cython.Py_ssize_t = 0
    for block in range(blocks.shape[0]):
        while i < stops.shape[0] and stops[i] <= block << BLOCK_BITS:
            i += 1
        blocks[block] = i
