# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False
"""The loop of DQE: one descending sweep over the levels (``kernels/levels.py``) of each local region.

Sampled thresholds, all distinct scores (exact), and plain detections differ only in their levels, so one sweep serves
all three.

The sweep rests on one observation. A point that becomes detected begins a part, makes one longer, or joins two: as many
of its two neighbours are detected already, none, one or both. These are the ones of a higher level, and of the same
level the one that is visited behind it. So one pass over a piece in time order tallies for every level at once how many
points become detected there, how many of their neighbours are not detected yet, and how the distances of borders
change, in whole numbers; the descending sweep then only adds up. Beyond the ends of a piece nothing is ever detected.

Most levels add nothing but a false alarm. A loop of its own goes through these (`Region.lower_by_alarms`). Where there
are many more levels than points of a region, each region has those alone that occur in it (`_rank`).

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

# The tally of false alarms has two numbers per level, for every other cell: so no sum waits until the one before is
# stored, though neighbours are often of one level. The lower 31 bits count points, and those above them the neighbours
# that are not detected yet: at most two per point, which is why a series may have no more than `MOST_POINTS`.
ALARM_COLUMNS = 2
MOST_POINTS = (1 << 30) - 1
# A bit of the first number: more may change at this level than how many false alarms there are.
MORE = cython.declare(cython.longlong, 1 << 62)

# The tally of near misses has three numbers per level: points and neighbours as above, by how much the sum of their
# borders' distances changes, and the largest closeness.
NEAR_COLUMNS = 3
DISTANCES = cython.declare(cython.Py_ssize_t, 1)
CLOSENESS = cython.declare(cython.Py_ssize_t, 2)

# Points of false alarms, more than those whose ends pieces can cut off, and rounding.
CUT = cython.declare(cython.Py_ssize_t, 8)

# Levels that occur, each of which is a bit: level & 63 of the word level >> 6. These two are written as they are, since
# to shift by a number that the compiler knows takes less time.
WORD = 64
ONE = cython.declare(cython.ulonglong, 1)
ALL_BITS = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)

# Columns of scores.
DQE = cython.declare(cython.Py_ssize_t, 0)
CAPTURE = cython.declare(cython.Py_ssize_t, 1)
NEAR_MISS = cython.declare(cython.Py_ssize_t, 2)
FALSE_ALARM = cython.declare(cython.Py_ssize_t, 3)


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
    alarms: cython.longlong[::1],
    nears: cython.longlong[::1],
    words: cython.ulonglong[::1],
    before: cython.int[::1],
    ranks: cython.int[::1],
    in_use: cython.double[::1],
    local: cython.double[:, ::1],
    curve: cython.double[:, ::1],
    dqe_only: cython.bint,
    logs: cython.const[cython.double][::1],
):
    """Sum DQE and its three parts over the thresholds of each event, each threshold with its weight.

    Event i lies at [start[i], stop[i]) in ``levels``; its local region reaches ``early[i]`` before and ``late[i]``
    behind it, and its near range is ``near[i]``. Its ``counts[i]`` thresholds have their ``heights`` from ``first[i]``
    on, in ascending order: what lies between two heights, or below the first, is the weight of the upper one. The
    columns of ``local`` and ``curve`` are dqe, capture, near miss, false alarm: ``local`` gets the sums; ``curve``, if
    it has rows, the values at each threshold of event i from row ``sum(counts[:i])`` on, or dqe alone if it has one
    column. If only dqe is wanted, and no curve, the rest of ``local`` is of no use. ``logs`` are the binary logarithms
    of the first numbers from 1 on, as many as are given: to look one up takes less time than to compute it.

    The rest is working space. ``alarms`` and ``nears``, zero on entry, have ``ALARM_COLUMNS`` and ``NEAR_COLUMNS``
    numbers for each level, and for 0. If there are any ``words``, zero on entry, a bit for each level, regions have the
    levels alone that occur in them, and heights must be 1, 2, ... ``before`` is as long as these, ``ranks`` as the
    longest region, and ``in_use`` one longer. A curve has every level, so with words there is none.
    """
    if not cython.compiled and len(words):
        # So their elements are numbers of Python, of which any can be combined.
        levels, words = memoryview(levels), memoryview(words)
    ranking: cython.bint = words.shape[0] > 0
    region: Region = Region(ranks if ranking else levels, in_use if ranking else heights, alarms, nears, logs)
    keep_curve: cython.bint = curve.shape[0] > 0
    row: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    origin: cython.Py_ssize_t
    end: cython.Py_ssize_t
    count: cython.Py_ssize_t
    with cython.nogil:
        for i in range(start.shape[0]):
            region.near = cython.cast(cython.double, near[i])  # NumPy's floats warn of overflow
            if ranking:
                origin = start[i] - cython.cast(cython.Py_ssize_t, ceil(early[i]))
                end = stop[i] + cython.cast(cython.Py_ssize_t, ceil(late[i]))
                count = _rank(levels, origin, end, words, before, ranks, in_use)
                region.enter(start[i] - origin, stop[i] - origin, early[i], late[i], 1, count)
            else:
                count = counts[i]
                region.enter(start[i], stop[i], early[i], late[i], first[i], count)
            if keep_curve:
                region.trace(count, curve, row)
            else:
                region.descend(count, dqe_only)
            region.add_up(0.0)
            local[i, DQE] = region.dqe_sum
            local[i, CAPTURE] = region.capture_sum
            local[i, NEAR_MISS] = region.near_miss_sum
            local[i, FALSE_ALARM] = region.false_alarm_sum
            row += count


@cython.final
@cython.cclass
class Region:
    """One local region, and what is detected in it while the threshold goes down."""

    levels: cython.int[::1]
    heights: cython.double[::1]
    alarms: cython.longlong[::1]
    nears: cython.longlong[::1]
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
    reach: cython.Py_ssize_t
    half_room: cython.double
    log_bins: cython.double
    log_unit: cython.double
    per_product: cython.double
    bin_start: cython.double
    bin_stop: cython.double
    capture_level: cython.Py_ssize_t

    # What is detected so far, counted in whole points.
    near_points: cython.longlong
    near_borders: cython.longlong
    near_distances: cython.longlong
    near_closeness: cython.longlong
    alarm_points: cython.longlong
    alarm_parts: cython.longlong

    # How many of the false alarms the pieces cut, how long these are, and how many parts share a bin with another.
    cut_points: cython.longlong
    cut_length: cython.double
    shared_bins: cython.longlong

    # The scores, from which height on they hold, and their sums over the heights above it. A level's height is that far
    # behind the base.
    dqe: cython.double
    capture: cython.double
    near_miss: cython.double
    false_alarm: cython.double
    base: cython.Py_ssize_t
    top: cython.double
    dqe_sum: cython.double
    capture_sum: cython.double
    near_miss_sum: cython.double
    false_alarm_sum: cython.double

    def __init__(
        self,
        levels: cython.int[::1],
        heights: cython.double[::1],
        alarms: cython.longlong[::1],
        nears: cython.longlong[::1],
        logs: cython.const[cython.double][::1],
    ):
        self.levels = levels
        self.heights = heights
        self.alarms = alarms
        self.nears = nears
        self.logs = logs

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def enter(
        self,
        start: cython.Py_ssize_t,
        stop: cython.Py_ssize_t,
        early: cython.double,
        late: cython.double,
        first: cython.Py_ssize_t,
        count: cython.Py_ssize_t,
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
        self.alarm_points = self.alarm_parts = self.cut_points = self.shared_bins = 0
        self.dqe = self.capture = self.near_miss = self.false_alarm = self.cut_length = 0.0
        self.dqe_sum = self.capture_sum = self.near_miss_sum = self.false_alarm_sum = 0.0
        self.base = first - 1
        self.top = self.heights[self.base + count] if count > 0 else 0.0
        self.reach = cython.cast(cython.Py_ssize_t, ceil(max(self.near_early, self.near_late)))
        _tally_near(self.levels, start - 1, -1, self.near_early, self.reach, self.alarms, self.nears)
        _tally_near(self.levels, stop, 1, self.near_late, self.reach, self.alarms, self.nears)
        floor_level: cython.Py_ssize_t = self.lowest_of_alarms(count)
        _tally_alarm(self.levels, start - 1, -1, self.near_early, early, floor_level, self.alarms)
        _tally_alarm(self.levels, stop, 1, self.near_late, late, floor_level, self.alarms)
        if not self.whole:
            _mark_ends(self.levels, start - 1, -1, self.near_early, early, self.alarms)
            _mark_ends(self.levels, stop, 1, self.near_late, late, self.alarms)
        self.capture_level = _highest(self.levels, start, stop)
        self.alarms[2 * self.capture_level] |= MORE
        _clear(self.alarms, self.nears, 0)  # which is never detected

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def lowest_of_alarms(self, count: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return a level of so many above which there are so many false alarms that their score is 0, if it finds one.

        All false alarms further down can be tallied there. Of a long region with nearly as many levels as points, half
        of the tally is then left alone, which no cache holds.
        """
        early: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, ceil(self.near_early))
        late: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, ceil(self.near_late))
        needed: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, ceil(self.half_room)) + CUT
        # Where each level is that of a point, so many levels have as many false alarms, whatever the others are.
        level: cython.Py_ssize_t = count - needed - early - late - (self.stop - self.start)
        if level <= 0:
            return 0
        outer: cython.Py_ssize_t = self.start - cython.cast(cython.Py_ssize_t, ceil(self.early))
        inner: cython.Py_ssize_t = self.start - cython.cast(cython.Py_ssize_t, floor(self.near_early))
        found: cython.Py_ssize_t = _count_above(self.levels, outer, inner, level)
        inner = self.stop + cython.cast(cython.Py_ssize_t, floor(self.near_late))
        outer = self.stop + cython.cast(cython.Py_ssize_t, ceil(self.late))
        found += _count_above(self.levels, inner, outer, level)
        return level if found >= needed else 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def descend(self, level: cython.Py_ssize_t, dqe_only: cython.bint) -> cython.void:
        """Lower the threshold from a level to the last, and add up the scores."""
        found: cython.longlong
        while level > 0:
            found = self.alarms[2 * level] + self.alarms[2 * level + 1]
            if 0 < found < MORE and self.alarm_points > 0:
                level = self.lower_by_alarms(level, self.alarms, self.heights)
            else:
                if found > 0:
                    self.lower_to(level)
                level -= 1
            if dqe_only and self.drowned():
                break
        _clear_up_to(level, self.alarms, self.nears)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def trace(self, level: cython.Py_ssize_t, curve: cython.double[:, ::1], row: cython.Py_ssize_t) -> cython.void:
        """Do the same level by level, and write the scores at each to a curve, from a row on."""
        while level > 0:
            if self.alarms[2 * level] + self.alarms[2 * level + 1] > 0:
                self.lower_to(level)
            level -= 1
            curve[row + level, DQE] = self.dqe
            if curve.shape[1] > 1:
                curve[row + level, CAPTURE] = self.capture
                curve[row + level, NEAR_MISS] = self.near_miss
                curve[row + level, FALSE_ALARM] = self.false_alarm

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def lower_by_alarms(
        self, level: cython.Py_ssize_t, alarms: cython.longlong[::1], heights: cython.double[::1]
    ) -> cython.Py_ssize_t:
        """Lower the threshold while it adds nothing but false alarms to those there are, and return where that ends.

        What changes is in variables of this function, which a compiler keeps in registers.
        """
        others: cython.double = (self.capture + self.near_miss) / 2
        points: cython.longlong = self.alarm_points
        parts: cython.longlong = self.alarm_parts
        dqe: cython.double = self.dqe
        false_alarm: cython.double = self.false_alarm
        dqe_sum: cython.double = self.dqe_sum
        false_alarm_sum: cython.double = self.false_alarm_sum
        top: cython.double = self.top
        height: cython.double
        found: cython.longlong = 0
        while level > 0 and found < MORE and false_alarm > 0:
            found = alarms[2 * level] + alarms[2 * level + 1]
            if found == 0:
                level -= 1
            elif found < MORE:
                alarms[2 * level] = 0
                alarms[2 * level + 1] = 0
                height = heights[self.base + level]
                dqe_sum += (top - height) * dqe
                false_alarm_sum += (top - height) * false_alarm
                top = height
                points += found & 0x7FFFFFFF
                parts += (found >> 31) - (found & 0x7FFFFFFF)
                false_alarm = self.score_of_alarms(points, parts)
                dqe = sqrt(others * false_alarm)
                level -= 1
        self.capture_sum += (self.top - top) * self.capture
        self.near_miss_sum += (self.top - top) * self.near_miss
        self.alarm_points = points
        self.alarm_parts = parts
        self.dqe = dqe
        self.false_alarm = false_alarm
        self.dqe_sum = dqe_sum
        self.false_alarm_sum = false_alarm_sum
        self.top = top
        # Where there are so many false alarms that their score is 0, more of them make no difference.
        while level > 0 and alarms[2 * level] < MORE and false_alarm <= 0:
            alarms[2 * level] = 0
            alarms[2 * level + 1] = 0
            level -= 1
        return level

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def place_bins(self) -> cython.void:
        """Cut the false-alarm pieces, joined at 0, into bins at most 1 wide, and find the bin that holds 0."""
        before: cython.double = self.early - self.near_early
        behind: cython.double = self.late - self.near_late
        room: cython.double = before + behind
        bins: cython.double = ceil(room)
        self.half_room = room / 2
        # With a single bin, how many have false alarms makes no difference.
        self.log_bins = log2(bins) if bins > 1 else 1.0
        self.log_unit = 1.0 if bins > 1 else 0.0
        self.per_product = 1 / (self.half_room * self.log_bins) if bins > 0 else 0.0
        self.bin_start = self.bin_stop = 0.0
        if before <= 0 or behind <= 0 or bins <= 1:
            return
        # Edges as numpy.linspace(-before, behind, bins + 1) computes them; the search begins one too low, to be safe.
        width: cython.double = room / bins
        index: cython.double = max(0.0, floor(before / width) - 1)
        while (index + 1) * width - before <= 0:
            index += 1
        self.bin_start = index * width - before
        # The last bin is closed: a middle less than 1 away, as it always is in there, is inside.
        self.bin_stop = (index + 1) * width - before if index + 1 < bins else 1.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add_up(self, height: cython.double) -> cython.void:
        """Add up the scores, which hold down to a height."""
        weight: cython.double = self.top - height
        self.top = height
        self.dqe_sum += weight * self.dqe
        self.capture_sum += weight * self.capture
        self.near_miss_sum += weight * self.near_miss
        self.false_alarm_sum += weight * self.false_alarm

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def lower_to(self, level: cython.Py_ssize_t) -> cython.void:
        """Lower the threshold to a level at which something changes: points become detected, and the scores follow."""
        alarms: cython.longlong = (self.alarms[2 * level] + self.alarms[2 * level + 1]) & ~MORE
        alarm_points: cython.longlong = alarms & 0x7FFFFFFF
        near_points: cython.longlong = self.nears[3 * level] & 0x7FFFFFFF
        first_alarms: cython.bint = self.alarm_points == 0
        self.add_up(self.heights[self.base + level])
        self.alarm_points += alarm_points
        self.alarm_parts += (alarms >> 31) - alarm_points
        self.near_points += near_points
        self.near_borders += 2 * ((self.nears[3 * level] >> 31) - near_points)
        self.near_distances += self.nears[3 * level + DISTANCES]
        self.near_closeness = max(self.near_closeness, self.nears[3 * level + CLOSENESS])
        _clear(self.alarms, self.nears, level)
        self.capture = 1.0 if level <= self.capture_level else 0.0
        # Without new points of a kind, its score stays; until there are any, it depends on the others. What so many
        # false alarms have made 0 stays 0.
        if near_points > 0 or self.near_points == 0:
            self.near_miss = self.near_miss_score(level)
        if first_alarms or (alarm_points > 0 and self.false_alarm > 0):
            self.false_alarm = self.false_alarm_score(level)
        self.dqe = sqrt((self.capture + self.near_miss) / 2 * self.false_alarm)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def drowned(self) -> cython.bint:
        """Tell whether there are so many false alarms that dqe is 0, and stays 0 at all lower levels."""
        return self.alarm_points > 0 and self.false_alarm == 0

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
            duration -= _ends(self.levels, self.start - 1, -1, 0.0, self.near_early, level)
            duration -= _ends(self.levels, self.stop, 1, 0.0, self.near_late, level)
            # Lengths are added up by themselves, so that a short one is not lost in rounding.
            duration += _length_of_ends(self.levels, self.start - 1, -1, 0.0, self.near_early, level) + _length_of_ends(
                self.levels, self.stop, 1, 0.0, self.near_late, level
            )
            distances = self.distances(level)
        closest: cython.double = self.reach - self.near_closeness
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
        if not self.whole:
            self.cut_points = _ends(self.levels, self.start - 1, -1, self.near_early, self.early, level)
            self.cut_points += _ends(self.levels, self.stop, 1, self.near_late, self.late, level)
            self.cut_length = _length_of_ends(self.levels, self.start - 1, -1, self.near_early, self.early, level)
            self.cut_length += _length_of_ends(self.levels, self.stop, 1, self.near_late, self.late, level)
            self.shared_bins = 1 if self.bin_start < 0 and self.shares_bin(level) else 0
        return self.score_of_alarms(self.alarm_points, self.alarm_parts)

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def score_of_alarms(self, points: cython.longlong, parts: cython.longlong) -> cython.double:
        """Score false alarms of so many points, in so many parts, of which the pieces cut the same ones as before.

        It is (1 - duration / half the room) * (1 - log(bins) / log(all bins)), with one product in place of divisions,
        which take longer than all the rest.
        """
        # The whole points are subtracted before anything is added, so that a short piece is not lost in rounding.
        duration: cython.double = (points - self.cut_points) + self.cut_length
        # Two parts on one side are an undetected point apart and never share a bin, so the parts count the bins.
        bins: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, parts - self.shared_bins)
        log_of_bins: cython.double = self.logs[bins - 1] if bins <= self.logs.shape[0] else log2(bins)
        return max(0.0, self.half_room - duration) * (self.log_bins - self.log_unit * log_of_bins) * self.per_product

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
def _rank(
    levels: cython.int[::1],
    start: cython.Py_ssize_t,
    stop: cython.Py_ssize_t,
    words: cython.ulonglong[::1],
    before: cython.int[::1],
    ranks: cython.int[::1],
    in_use: cython.double[::1],
) -> cython.Py_ssize_t:
    """Write the ranks of the points' levels at [start, stop), without sorting: each level is a bit of ``words``.

    Write the level of each rank, too, and return how many there are. ``words`` is zero on entry, and in the end again.
    """
    size: cython.Py_ssize_t = words.shape[0]
    level: cython.Py_ssize_t
    rank: cython.Py_ssize_t = 0
    w: cython.Py_ssize_t
    t: cython.Py_ssize_t
    for t in range(start, stop):
        words[levels[t] >> 6] |= ONE << (levels[t] & 63)
    words[0] &= ALL_BITS - 1  # level 0 is no threshold
    for w in range(size):
        rank += _bits_in(words[w])
        before[w] = rank
    count: cython.Py_ssize_t = rank
    for t in range(start, stop):
        level = levels[t]
        w = level >> 6
        rank = before[w] - _bits_in((words[w] >> (level & 63)) >> 1)  # less those above it
        ranks[t - start] = rank
        in_use[rank] = level
    for w in range(size):
        words[w] = 0
    return count


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _bits_in(word: cython.ulonglong) -> cython.int:
    """Return how many bits of a word are 1."""
    count: cython.int
    if cython.compiled:
        # Of every two bits, every four, and every eight, in one number for all of them, which a product adds up.
        ones: cython.ulonglong = ~cython.cast(cython.ulonglong, 0)
        word -= (word >> 1) & (ones // 3)
        word = (word & (ones // 5)) + ((word >> 2) & (ones // 5))
        word = (word + (word >> 4)) & (ones // 17)
        count = cython.cast(cython.int, (word * (ones // 255)) >> 56)
    else:
        count = word.bit_count()
    return count


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _clear(alarms: cython.longlong[::1], nears: cython.longlong[::1], level: cython.Py_ssize_t) -> cython.void:
    alarms[2 * level] = 0
    alarms[2 * level + 1] = 0
    nears[3 * level] = 0
    nears[3 * level + DISTANCES] = 0
    nears[3 * level + CLOSENESS] = 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _clear_up_to(level: cython.Py_ssize_t, alarms: cython.longlong[::1], nears: cython.longlong[::1]) -> cython.void:
    k: cython.Py_ssize_t
    for k in range(2 * level + 2):
        alarms[k] = 0
    for k in range(3 * level + 3):
        nears[k] = 0


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
def _count_above(
    levels: cython.int[::1], start: cython.Py_ssize_t, stop: cython.Py_ssize_t, level: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    count: cython.Py_ssize_t = 0
    t: cython.Py_ssize_t
    for t in range(start, stop):
        count += 1 if levels[t] > level else 0
    return count


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _tally_near(
    levels: cython.int[::1],
    origin: cython.Py_ssize_t,
    step: cython.Py_ssize_t,
    outer: cython.double,
    reach: cython.Py_ssize_t,
    alarms: cython.longlong[::1],
    nears: cython.longlong[::1],
) -> cython.void:
    """Tally one near-miss piece, and mark its levels.

    Closeness is ``reach`` less the distance: the closest is the largest, and 0 is none. The cell c has its borders at
    the distances c and c + 1.
    """
    cells: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, ceil(outer))
    level: cython.Py_ssize_t
    following: cython.Py_ssize_t = levels[origin] if cells > 0 else 0
    previous: cython.Py_ssize_t = 0
    highest: cython.Py_ssize_t = 0
    before: cython.longlong
    behind: cython.longlong
    c: cython.Py_ssize_t
    for c in range(cells):
        level = following
        following = levels[origin + step * (c + 1)] if c + 1 < cells else 0
        # Whether its neighbours are not detected yet: then a border appears, else one disappears.
        before = 1 if previous <= level else 0
        behind = 1 if following < level else 0
        nears[3 * level] += 1 + ((before + behind) << 31)
        nears[3 * level + DISTANCES] += c * (2 * before - 1) + (c + 1) * (2 * behind - 1)
        alarms[2 * level] |= MORE
        previous = level
        if level > highest:
            highest = level
            nears[3 * level + CLOSENESS] = max(nears[3 * level + CLOSENESS], reach - c)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _tally_alarm(
    levels: cython.int[::1],
    origin: cython.Py_ssize_t,
    step: cython.Py_ssize_t,
    inner: cython.double,
    outer: cython.double,
    lowest: cython.Py_ssize_t,
    alarms: cython.longlong[::1],
) -> cython.void:
    """Tally one false-alarm piece, and what is below a level at this level."""
    if inner >= outer:
        return
    c: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, floor(inner))
    cells: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, ceil(outer))
    previous: cython.Py_ssize_t = 0
    level: cython.Py_ssize_t = max(levels[origin + step * c], lowest)
    following: cython.Py_ssize_t
    free: cython.longlong  # neighbours that are not detected yet
    while c + 1 < cells:
        following = max(levels[origin + step * (c + 1)], lowest)
        free = (1 if previous <= level else 0) + (1 if following < level else 0)
        alarms[2 * level + (c & 1)] += 1 + (free << 31)
        previous = level
        level = following
        c += 1
    free = 2 if previous <= level else 1
    alarms[2 * level + (c & 1)] += 1 + (free << 31)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _mark_ends(
    levels: cython.int[::1],
    origin: cython.Py_ssize_t,
    step: cython.Py_ssize_t,
    inner: cython.double,
    outer: cython.double,
    alarms: cython.longlong[::1],
) -> cython.void:
    """Mark the levels of the points at the ends of a false-alarm piece, whose score depends on which of these it has.

    The piece cuts the first and the last. The first three decide where the middle of its first part is.
    """
    if inner >= outer:
        return
    first: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, floor(inner))
    cells: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, ceil(outer))
    c: cython.Py_ssize_t
    for c in range(first, min(first + 3, cells)):
        alarms[2 * levels[origin + step * c]] |= MORE
    alarms[2 * levels[origin + step * (cells - 1)]] |= MORE


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
