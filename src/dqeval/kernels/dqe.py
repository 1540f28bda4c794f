# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False
"""The loop of DQE: one descending sweep over the levels (``kernels/levels.py``) of each local region.

Sampled thresholds, all distinct scores (exact), and plain detections differ only in their levels, so one sweep serves
all three.

The sweep rests on one observation. Two neighbouring points of a piece with levels p < v have a border of a part between
them at exactly the levels p + 1 to v. So one pass over a piece in time order, adding at v and subtracting at p, tallies
for every level at once the number of parts and the sum of their borders' distances, in whole numbers; the descending
sweep then only adds up. Each point is in two pairs of neighbours, one on either side, where level 0 stands beyond the
ends. So what is subtracted at the lower levels of all pairs follows from the points, and need not be tallied: it is
twice what the points of a level amount to, less what is added there.

A piece's own border may fall inside a point (a half-integer midpoint, a fractional near range): such a point is tallied
whole, and exchanged for the part of it inside the piece when the scores are computed.

Distances are measured outwards from the anomaly, so that the early and the late side are one code: cell c of a side is
the point that covers the distances c to c + 1, found at ``origin + step * c``.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from dqeval.kernels import _plain as cython

if cython.compiled:
    from cython.cimports.libc.math import ceil, floor, log2, sqrt
else:
    from math import ceil, floor, log2, sqrt

compiled = cython.compiled

# Columns of the tally, whose rows are levels: what lowering the threshold to that level adds.
NEAR_POINTS = cython.declare(cython.Py_ssize_t, 0)
NEAR_PAIRS = cython.declare(cython.Py_ssize_t, 1)
POINT_DISTANCES = cython.declare(cython.Py_ssize_t, 2)
PAIR_DISTANCES = cython.declare(cython.Py_ssize_t, 3)
NEAR_CLOSENESS = cython.declare(cython.Py_ssize_t, 4)
ALARM_POINTS = cython.declare(cython.Py_ssize_t, 5)
EVEN_ALARM_PAIRS = cython.declare(cython.Py_ssize_t, 6)
ODD_ALARM_PAIRS = cython.declare(cython.Py_ssize_t, 7)
TALLY_COLUMNS = 8


def sweep(
    levels: cython.int[::1],
    start: cython.Py_ssize_t[::1],
    stop: cython.Py_ssize_t[::1],
    early: cython.double[::1],
    late: cython.double[::1],
    near: cython.double[::1],
    heights: cython.double[::1],
    first: cython.Py_ssize_t[::1],
    counts: cython.Py_ssize_t[::1],
    tally: cython.longlong[:, ::1],
    local: cython.double[:, ::1],
    curve: cython.double[:, ::1],
    dqe_only: cython.bint,
    logs: cython.const[cython.double][::1],
):
    """Sum DQE and its three parts over the thresholds of each event, each threshold with its weight.

    Event i lies at [start[i], stop[i]) in ``levels``; its local region reaches ``early[i]`` before and ``late[i]``
    behind it, and its near range is ``near[i]``. Its ``counts[i]`` thresholds have their ``heights`` from ``first[i]``
    on, in ascending order: what lies between two heights, or below the first, is the weight of the upper one. The
    columns of ``local`` and ``curve`` are dqe, capture, near miss, false alarm: ``local``, zero on entry, gets the
    sums; ``curve``, if it has rows, the values at each threshold of event i from row ``sum(counts[:i])`` on, or dqe
    alone if it has one column. ``tally``, zero on entry, is working space, ``TALLY_COLUMNS`` wide, with one row more
    than the longest of the ``counts``. If only dqe is wanted, and no curve, the rest of ``local`` is of no use.
    ``logs`` are the binary logarithms of the first numbers from 1 on, as many as are given: to look one up takes less
    time than to compute it.
    """
    region: Region = Region(levels, tally, logs)
    keep_curve: cython.bint = curve.shape[0] > 0
    keep_parts: cython.bint = keep_curve and curve.shape[1] > 1
    row: cython.Py_ssize_t = 0
    top: cython.double
    i: cython.Py_ssize_t
    level: cython.Py_ssize_t
    with cython.nogil:
        for i in range(start.shape[0]):
            region.near = cython.cast(cython.double, near[i])  # NumPy's floats warn of overflow
            region.enter(start[i], stop[i], early[i], late[i])
            top = heights[first[i] + counts[i] - 1] if counts[i] > 0 else 0.0
            for level in range(counts[i], 0, -1):
                # What holds for several levels is added once: levels at which nothing changes make no difference.
                if not region.passes_over(level):
                    region.add_to(local, i, top - heights[first[i] + level - 1])
                    top = heights[first[i] + level - 1]
                    region.lower_to(level)
                    if dqe_only and region.drowned():
                        region.leave(level)
                        break
                if keep_curve:
                    curve[row + level - 1, 0] = region.dqe
                if keep_parts:
                    curve[row + level - 1, 1] = region.capture
                    curve[row + level - 1, 2] = region.near_miss
                    curve[row + level - 1, 3] = region.false_alarm
            region.add_to(local, i, top)
            row += counts[i]


@cython.final
@cython.cclass
class Region:
    """One local region, and what is detected in it while the threshold goes down."""

    levels: cython.int[::1]
    tally: cython.longlong[:, ::1]
    logs: cython.const[cython.double][::1]
    near: cython.double

    # The event, how far its pieces reach on each side, and the ends of the false-alarm bin that holds 0.
    start: cython.Py_ssize_t
    stop: cython.Py_ssize_t
    near_early: cython.double
    near_late: cython.double
    early: cython.double
    late: cython.double
    whole: cython.bint
    alarm_room: cython.double
    log_bins: cython.double
    bin_start: cython.double
    bin_stop: cython.double
    capture_level: cython.Py_ssize_t

    # What is detected so far, counted in whole points.
    near_points: cython.longlong
    near_borders: cython.longlong
    near_distances: cython.longlong
    near_closeness: cython.longlong
    alarm_points: cython.longlong
    alarm_borders: cython.longlong

    dqe: cython.double
    capture: cython.double
    near_miss: cython.double
    false_alarm: cython.double

    def __init__(self, levels: cython.int[::1], tally: cython.longlong[:, ::1], logs: cython.const[cython.double][::1]):
        self.levels = levels
        self.tally = tally
        self.logs = logs

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def enter(
        self, start: cython.Py_ssize_t, stop: cython.Py_ssize_t, early: cython.double, late: cython.double
    ) -> cython.void:
        """Go to the event at [start, stop), with nothing detected yet, and tally its region."""
        self.start = start
        self.stop = stop
        self.early = early
        self.late = late
        self.near_early = min(self.near, early)
        self.near_late = min(self.near, late)
        self.whole = floor(self.near) == self.near and floor(early) == early and floor(late) == late
        self.place_bins()
        self.near_points = self.near_borders = self.near_distances = self.near_closeness = 0
        self.alarm_points = self.alarm_borders = 0
        self.dqe = self.capture = self.near_miss = self.false_alarm = 0.0
        reach: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, self.near_reach())
        _clear(self.tally, 0)
        _tally_near(self.levels, start - 1, -1, self.near_early, reach, self.tally)
        _tally_near(self.levels, stop, 1, self.near_late, reach, self.tally)
        _tally_alarm(self.levels, start - 1, -1, self.near_early, early, self.tally)
        _tally_alarm(self.levels, stop, 1, self.near_late, late, self.tally)
        self.capture_level = _highest(self.levels, start, stop)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def near_reach(self) -> cython.double:
        """Return how many points the longer near-miss piece touches."""
        return ceil(max(self.near_early, self.near_late))

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def place_bins(self) -> cython.void:
        """Cut the false-alarm pieces, joined at 0, into bins at most 1 wide, and find the bin that holds 0."""
        before: cython.double = self.early - self.near_early
        behind: cython.double = self.late - self.near_late
        self.alarm_room = before + behind
        bins: cython.double = ceil(self.alarm_room)
        self.log_bins = log2(bins) if bins > 1 else 0.0
        self.bin_start = self.bin_stop = 0.0
        if before <= 0 or behind <= 0 or bins <= 1:
            return
        # Edges as numpy.linspace(-before, behind, bins + 1) computes them; the search begins one too low, to be safe.
        width: cython.double = self.alarm_room / bins
        index: cython.double = max(0.0, floor(before / width) - 1)
        while (index + 1) * width - before <= 0:
            index += 1
        self.bin_start = index * width - before
        # The last bin is closed: a middle less than 1 away, as it always is in there, is inside.
        self.bin_stop = (index + 1) * width - before if index + 1 < bins else 1.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def passes_over(self, level: cython.Py_ssize_t) -> cython.bint:
        """Pass over a level at which no score can change; tell whether it is one.

        Where there are so many false alarms that their score is 0, more of them make no difference.
        """
        if level == self.capture_level or self.tally[level, NEAR_POINTS] != 0:
            return False
        if self.tally[level, ALARM_POINTS] != 0:
            if not self.drowned():
                return False
            _clear(self.tally, level)
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add_to(self, local: cython.double[:, ::1], row: cython.Py_ssize_t, weight: cython.double) -> cython.void:
        """Add the scores, each with the weight, to a row."""
        local[row, 0] += weight * self.dqe
        local[row, 1] += weight * self.capture
        local[row, 2] += weight * self.near_miss
        local[row, 3] += weight * self.false_alarm

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def lower_to(self, level: cython.Py_ssize_t) -> cython.void:
        """Lower the threshold to a level at which something changes: points become detected, and the scores follow."""
        # All of the tally is read before anything is written: so a compiler looks up once where it lies.
        near_points: cython.longlong = self.tally[level, NEAR_POINTS]
        near_pairs: cython.longlong = self.tally[level, NEAR_PAIRS]
        distances: cython.longlong = self.tally[level, PAIR_DISTANCES] - self.tally[level, POINT_DISTANCES]
        closeness: cython.longlong = self.tally[level, NEAR_CLOSENESS]
        alarm_points: cython.longlong = self.tally[level, ALARM_POINTS]
        alarm_pairs: cython.longlong = self.tally[level, EVEN_ALARM_PAIRS] + self.tally[level, ODD_ALARM_PAIRS]
        first_alarms: cython.bint = self.alarm_points == 0
        _clear(self.tally, level)
        self.near_points += near_points
        self.near_borders += 2 * (near_pairs - near_points)
        self.near_distances += distances
        self.near_closeness = max(self.near_closeness, closeness)
        self.alarm_points += alarm_points
        self.alarm_borders += 2 * (alarm_pairs - alarm_points)
        self.capture = 1.0 if level <= self.capture_level else 0.0
        # Without new points of a kind, its score stays; until there are any, it depends on the others. What so many
        # false alarms have made 0 stays 0.
        if near_points > 0 or self.near_points == 0:
            self.near_miss = self.near_miss_score(level)
        if first_alarms or (alarm_points > 0 and self.false_alarm > 0):
            self.false_alarm = self.false_alarm_score(level)
        self.dqe = 0.0 if self.false_alarm == 0 else sqrt((self.capture + self.near_miss) / 2 * self.false_alarm)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def drowned(self) -> cython.bint:
        """Tell whether there are so many false alarms that dqe is 0, and stays 0 at all lower levels."""
        return self.alarm_points > 0 and self.false_alarm == 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def leave(self, level: cython.Py_ssize_t) -> cython.void:
        """Leave the region before its lower levels, with nothing tallied for the next one."""
        below: cython.Py_ssize_t
        for below in range(1, level):
            _clear(self.tally, below)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def near_miss_score(self, level: cython.Py_ssize_t) -> cython.double:
        """Score the near misses in their context."""
        if self.near_points == 0:
            return 1.0 if self.capture > 0 and self.alarm_points == 0 else 0.0
        near: cython.double = self.near
        duration: cython.double = self.near_points
        distances: cython.double = self.near_distances
        if not self.whole:
            duration = self.duration(0.0, self.near_early, 0.0, self.near_late, self.near_points, level)
            distances = self.distances(level)
        closest: cython.double = self.near_reach() - self.near_closeness
        # Rounding can make a factor slightly negative where it should be 0.
        return (
            max(0.0, 1 - closest / near)
            * max(0.0, 1 - distances / self.near_borders / near)
            * max(0.0, 1 - duration / (2 * near))
        )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def false_alarm_score(self, level: cython.Py_ssize_t) -> cython.double:
        """Score the false alarms. Something is detected in the region, so its context changes nothing."""
        if self.alarm_points == 0:
            return 1.0
        duration: cython.double = self.alarm_points
        if not self.whole:
            duration = self.duration(self.near_early, self.early, self.near_late, self.late, self.alarm_points, level)
        burden: cython.double = max(0.0, 1 - duration / (self.alarm_room / 2))
        if self.log_bins == 0 or burden == 0:
            return burden
        # Two parts on one side are an undetected point apart and never share a bin, so the parts count the bins.
        bins: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, self.alarm_borders // 2)
        if self.bin_start < 0 and self.shares_bin(level):
            bins -= 1
        log_of_bins: cython.double = self.logs[bins - 1] if bins <= self.logs.shape[0] else log2(bins)
        return burden * (1 - log_of_bins / self.log_bins)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def duration(
        self,
        inner_early: cython.double,
        early: cython.double,
        inner_late: cython.double,
        late: cython.double,
        points: cython.longlong,
        level: cython.Py_ssize_t,
    ) -> cython.double:
        """Return how long the detected ``points`` of two pieces are, the first and last ones as the pieces cut them."""
        points -= _ends(self.levels, self.start - 1, -1, inner_early, early, level)
        points -= _ends(self.levels, self.stop, 1, inner_late, late, level)
        # The whole points are subtracted before anything is added, so that a short piece is not lost in rounding.
        return points + (
            _length_of_ends(self.levels, self.start - 1, -1, inner_early, early, level)
            + _length_of_ends(self.levels, self.stop, 1, inner_late, late, level)
        )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def distances(self, level: cython.Py_ssize_t) -> cython.double:
        """Return the sum of the near-miss borders' distances, the outermost as the pieces cut them."""
        whole: cython.double = self.near_distances
        cut: cython.double = 0.0
        if self.near_early > 0 and _reaches(self.levels, self.start - 1, -1, self.near_early, level):
            whole -= ceil(self.near_early)
            cut += self.near_early
        if self.near_late > 0 and _reaches(self.levels, self.stop, 1, self.near_late, level):
            whole -= ceil(self.near_late)
            cut += self.near_late
        return whole + cut

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def shares_bin(self, level: cython.Py_ssize_t) -> cython.bint:
        """Tell whether the last early and the first late false alarm have their middles in the bin that holds 0."""
        early: cython.double = _first_middle(self.levels, self.start - 1, -1, self.near_early, self.early, level)
        late: cython.double = _first_middle(self.levels, self.stop, 1, self.near_late, self.late, level)
        return -early >= self.bin_start and late < self.bin_stop


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _clear(tally: cython.longlong[:, ::1], level: cython.Py_ssize_t) -> cython.void:
    column: cython.Py_ssize_t
    for column in range(8):  # a number that the compiler knows
        tally[level, column] = 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _highest(levels: cython.int[::1], start: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.Py_ssize_t:
    highest: cython.Py_ssize_t = 0
    t: cython.Py_ssize_t
    for t in range(start, stop):
        highest = max(highest, levels[t])
    return highest


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _tally_near(
    levels: cython.int[::1],
    origin: cython.Py_ssize_t,
    step: cython.Py_ssize_t,
    outer: cython.double,
    reach: cython.Py_ssize_t,
    tally: cython.longlong[:, ::1],
) -> cython.void:
    """Tally one near-miss piece.

    Closeness is ``reach`` less the distance: the closest is the largest, and 0 is none. The cell c is in two pairs of
    neighbours, whose borders have the distances c and c + 1.
    """
    cells: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, ceil(outer))
    level: cython.Py_ssize_t
    upper: cython.Py_ssize_t
    previous: cython.Py_ssize_t = 0
    highest: cython.Py_ssize_t = 0
    c: cython.Py_ssize_t
    for c in range(cells):
        level = levels[origin + step * c]
        upper = max(previous, level)
        tally[level, NEAR_POINTS] += 1
        tally[level, POINT_DISTANCES] += 2 * c + 1
        tally[upper, NEAR_PAIRS] += 1
        tally[upper, PAIR_DISTANCES] += 2 * c
        previous = level
        if level > highest:
            highest = level
            tally[level, NEAR_CLOSENESS] = max(tally[level, NEAR_CLOSENESS], reach - c)
    tally[previous, NEAR_PAIRS] += 1
    tally[previous, PAIR_DISTANCES] += 2 * cells


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _tally_alarm(
    levels: cython.int[::1],
    origin: cython.Py_ssize_t,
    step: cython.Py_ssize_t,
    inner: cython.double,
    outer: cython.double,
    tally: cython.longlong[:, ::1],
) -> cython.void:
    """Tally one false-alarm piece.

    Two pairs that have a point in common are often of one level. So every other pair is tallied in a column of its
    own: no sum waits until the one before is stored.
    """
    level: cython.Py_ssize_t
    following: cython.Py_ssize_t
    previous: cython.Py_ssize_t = 0
    if inner >= outer:
        return
    c: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, floor(inner))
    cells: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, ceil(outer))
    while c + 1 < cells:
        level = levels[origin + step * c]
        following = levels[origin + step * (c + 1)]
        tally[level, ALARM_POINTS] += 1
        tally[following, ALARM_POINTS] += 1
        tally[max(previous, level), EVEN_ALARM_PAIRS] += 1
        tally[max(level, following), ODD_ALARM_PAIRS] += 1
        previous = following
        c += 2
    if c < cells:
        level = levels[origin + step * c]
        tally[level, ALARM_POINTS] += 1
        tally[max(previous, level), EVEN_ALARM_PAIRS] += 1
        previous = level
    tally[previous, ODD_ALARM_PAIRS] += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _reaches(
    levels: cython.int[::1],
    origin: cython.Py_ssize_t,
    step: cython.Py_ssize_t,
    outer: cython.double,
    level: cython.Py_ssize_t,
) -> cython.bint:
    """Tell whether the last point up to ``outer`` is detected."""
    return levels[origin + step * (cython.cast(cython.Py_ssize_t, ceil(outer)) - 1)] >= level


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _ends(
    levels: cython.int[::1],
    origin: cython.Py_ssize_t,
    step: cython.Py_ssize_t,
    inner: cython.double,
    outer: cython.double,
    level: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Return how many of the first and the last point of a piece are detected; they may be the same one."""
    if inner >= outer:
        return 0
    detected: cython.Py_ssize_t = 1 if _reaches(levels, origin, step, outer, level) else 0
    if floor(inner) < ceil(outer) - 1 and _reaches(levels, origin, step, floor(inner) + 1, level):
        detected += 1
    return detected


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _length_of_ends(
    levels: cython.int[::1],
    origin: cython.Py_ssize_t,
    step: cython.Py_ssize_t,
    inner: cython.double,
    outer: cython.double,
    level: cython.Py_ssize_t,
) -> cython.double:
    """Return how much of the first and the last point of a piece, if they are detected, lies inside it."""
    if inner >= outer:
        return 0.0
    length: cython.double = 0.0
    if _reaches(levels, origin, step, outer, level):
        length += outer - max(inner, ceil(outer) - 1)
    if floor(inner) < ceil(outer) - 1 and _reaches(levels, origin, step, floor(inner) + 1, level):
        length += floor(inner) + 1 - inner
    return length


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _first_middle(
    levels: cython.int[::1],
    origin: cython.Py_ssize_t,
    step: cython.Py_ssize_t,
    inner: cython.double,
    outer: cython.double,
    level: cython.Py_ssize_t,
) -> cython.double:
    """Return how far behind ``inner`` the first part of a false-alarm piece has its middle; from 1 on, roughly."""
    c: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, floor(inner))
    cells: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, ceil(outer))
    while c < cells and c < inner + 1 and levels[origin + step * c] < level:
        c += 1
    if c == cells:
        return 1.0
    part_start: cython.double = max(inner, c)
    while c < cells and c < inner + 2 and levels[origin + step * c] >= level:
        c += 1
    part_stop: cython.double = min(outer, c)
    return (part_start - inner + part_stop - inner) / 2
