# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False
"""The loop of affiliation precision and recall, at every level at once (``kernels/sweep.py``).

In the zone of an event, precision is a mean over the detected points, so each point adds to it at its own level. Recall
follows from the gaps between detections that reach into the event: a gap is there from the lower of its two neighbours
down to just above the highest point in it. A stack of levels finds each gap once, in time order.

Zones end at points or half-way between them, so all lengths and areas here are exact.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from dqeval.kernels import _plain as cython

if cython.compiled:
    from cython.cimports.libc.math import ceil, floor
else:
    from math import ceil, floor

compiled = cython.compiled

# Columns of the tally, whose rows are the levels of a zone: what lowering the threshold to that level adds in it.
POINTS = cython.declare(cython.Py_ssize_t, 0)
DURATION = cython.declare(cython.Py_ssize_t, 1)
LOST = cython.declare(cython.Py_ssize_t, 2)
GAPS = cython.declare(cython.Py_ssize_t, 3)
TALLY_COLUMNS = 4
# Columns of what is tallied for all zones.
HIT = cython.declare(cython.Py_ssize_t, 0)
PRECISION = cython.declare(cython.Py_ssize_t, 1)
RECALL = cython.declare(cython.Py_ssize_t, 2)
WORTHS = 3
AHEAD = cython.declare(cython.Py_ssize_t, 128)  # levels whose worths are fetched at the same time
FEW = cython.declare(cython.Py_ssize_t, 1000)  # levels, which a fast cache holds anyway


def tally_zones(
    points: cython.int[::1],
    shifts: cython.Py_ssize_t[::1],
    starts: cython.Py_ssize_t[::1],
    stops: cython.Py_ssize_t[::1],
    left: cython.double[::1],
    right: cython.double[::1],
    ends: cython.Py_ssize_t[::1],
    own: cython.int[::1],
    ordered: cython.int[::1],
    tally: cython.double[:, ::1],
    stack: cython.Py_ssize_t[::1],
    scale: cython.double,
    worths: cython.longlong[:, ::1],
):
    """Tally by level in how many zones something is detected, and the precision and the recall of zones.

    Event i lies at [starts[i], stops[i]) in its zone [left[i], right[i]). Point t of it has a level among those of the
    zone, its own one, at ``points[t + shifts[i]]``. ``own`` and ``ordered`` have the own levels, and the levels, of the
    zone, descending, up to ``ends[i]``. Precision and recall are in multiples of ``1 / scale``. ``tally``, zero on
    entry and on return, by own level, and ``stack``, as long as the longest zone, are working space.
    """
    zone: Zone = Zone(points, tally, stack)
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t = 0
    level: cython.Py_ssize_t
    step: cython.Py_ssize_t
    fetched: cython.Py_ssize_t = 0 if worths.shape[0] > FEW else ordered.shape[0]
    old_precision: cython.longlong
    old_recall: cython.longlong
    new: cython.longlong
    with cython.nogil:
        for i in range(starts.shape[0]):
            zone.shift = shifts[i]
            zone.enter(starts[i], stops[i], left[i], right[i])
            old_precision = old_recall = 0
            if j < ends[i] and ordered[j] > 0:
                worths[ordered[j], HIT] += 1
            while j < ends[i]:
                if j >= fetched:
                    fetched = zone.fetch(worths, ordered, j)
                level = ordered[j]
                step = own[j]
                j += cython.cast(cython.Py_ssize_t, tally[step, POINTS])
                zone.lower_to(step)
                if level > 0:
                    new = cython.cast(cython.longlong, zone.precision() * scale + 0.5)
                    worths[level, PRECISION] += new - old_precision
                    old_precision = new
                    new = cython.cast(cython.longlong, zone.recall() * scale + 0.5)
                    worths[level, RECALL] += new - old_recall
                    old_recall = new
            tally[0, GAPS] = 0.0


@cython.final
@cython.cclass
class Zone:
    """The zone of an event, and what is detected in it while the threshold goes down."""

    points: cython.int[::1]
    tally: cython.double[:, ::1]
    stack: cython.Py_ssize_t[::1]
    shift: cython.Py_ssize_t
    start: cython.double
    stop: cython.double
    left: cython.double
    right: cython.double
    duration: cython.double
    lost: cython.double
    gaps: cython.double
    seen: cython.longlong

    def __init__(self, points: cython.int[::1], tally: cython.double[:, ::1], stack: cython.Py_ssize_t[::1]):
        self.points = points
        self.tally = tally
        self.stack = stack

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def enter(
        self, start: cython.double, stop: cython.double, left: cython.double, right: cython.double
    ) -> cython.void:
        """Go to the zone of an event, with nothing detected yet, and tally its points and gaps."""
        self.start = start
        self.stop = stop
        self.left = left
        self.right = right
        self.duration = self.lost = self.gaps = 0.0
        first: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, floor(left))
        behind: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, ceil(right))
        self.tally_points(first, behind)
        self.tally_gaps(first, behind)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def fetch(
        self, worths: cython.longlong[:, ::1], ordered: cython.int[::1], begin: cython.Py_ssize_t
    ) -> cython.Py_ssize_t:
        """Read the worths of some levels from one on, and return the next one.

        They are far apart in memory. Read one after the other, with nothing between, they are fetched at the same time.
        """
        end: cython.Py_ssize_t = min(begin + AHEAD, ordered.shape[0])
        k: cython.Py_ssize_t
        seen: cython.longlong = 0
        for k in range(begin, end):
            seen |= worths[ordered[k], PRECISION]
        self.seen = seen  # or a compiler would leave all of this out
        return end

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def count_points(self, begin: cython.Py_ssize_t, behind: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Count some points from one on by their levels, and return the next one; this fetches the tally for them."""
        end: cython.Py_ssize_t = min(begin + AHEAD, behind)
        t: cython.Py_ssize_t
        for t in range(begin, end):
            self.tally[self.points[t + self.shift], POINTS] += 1
        return end

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def tally_points(self, first: cython.Py_ssize_t, behind: cython.Py_ssize_t) -> cython.void:
        """Tally how long each point is inside the zone, and how much it loses as it is away from the event."""
        reach: cython.double = min(self.start - self.left, self.right - self.stop)
        length: cython.double = self.stop - self.start
        counted: cython.Py_ssize_t = first
        near: cython.double = 0.0
        far: cython.double
        low: cython.double
        high: cython.double
        level: cython.Py_ssize_t
        t: cython.Py_ssize_t
        for t in range(first, behind):
            if t == counted:
                counted = self.count_points(t, behind)
            level = self.points[t + self.shift]
            low = max(cython.cast(cython.double, t), self.left)
            high = min(cython.cast(cython.double, t + 1), self.right)
            self.tally[level, DURATION] += high - low
            if high <= self.start:
                far = _farther(self.start - low, reach, length)
                self.tally[level, LOST] += far - _farther(self.start - high, reach, length)
            elif low >= self.stop:
                far = _farther(high - self.stop, reach, length)
                self.tally[level, LOST] += far - near
                near = far

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def tally_gaps(self, first: cython.Py_ssize_t, behind: cython.Py_ssize_t) -> cython.void:
        """Tally the gaps between detections, and those to the ends of the zone, that reach into the event.

        The stack has the points that have no higher one behind them, up to now; each is a level above the next. Behind
        the event, a point matters only if it is higher than all since then: else no gap that ends there reaches back.
        """
        start: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, self.start)
        stop: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, self.stop)
        depth: cython.Py_ssize_t = self.stack_before(start, first)
        highest: cython.Py_ssize_t = 0  # behind the event
        level: cython.Py_ssize_t
        inside: cython.Py_ssize_t  # the highest level in the gap
        last: cython.Py_ssize_t
        hidden: cython.bint
        t: cython.Py_ssize_t
        for t in range(start, behind):
            level = self.points[t + self.shift]
            if t >= stop:
                if level <= highest:
                    continue
                highest = level
            inside = 0
            hidden = level == 0
            while depth > 0 and not hidden:
                last = self.stack[depth - 1]
                self.gap(min(level, self.points[last + self.shift]), inside, last + 1, t)
                inside = self.points[last + self.shift]
                hidden = inside >= level
                if inside <= level:
                    depth -= 1
            if not hidden:
                self.gap(level, inside, self.left, max(cython.cast(cython.double, t), self.left))
            if level > 0:
                self.stack[depth] = t
                depth += 1
        inside = 0
        while depth > 0:
            depth -= 1
            last = self.stack[depth]
            self.gap(
                self.points[last + self.shift],
                inside,
                min(cython.cast(cython.double, last + 1), self.right),
                self.right,
            )
            inside = self.points[last + self.shift]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def stack_before(self, start: cython.Py_ssize_t, first: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Stack the points before the event that have no higher one between, the nearest on top; return how many."""
        depth: cython.Py_ssize_t = 0
        highest: cython.Py_ssize_t = 0
        level: cython.Py_ssize_t
        t: cython.Py_ssize_t
        for t in range(start - 1, first - 1, -1):
            level = self.points[t + self.shift]
            if level > highest:
                highest = level
                self.stack[depth] = t
                depth += 1
        for t in range(depth // 2):
            self.stack[t], self.stack[depth - 1 - t] = self.stack[depth - 1 - t], self.stack[t]
        return depth

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def gap(
        self, high: cython.Py_ssize_t, low: cython.Py_ssize_t, begin: cython.double, end: cython.double
    ) -> cython.void:
        """Tally what a gap [begin, end) loses, from a level down to just above another; zones end with nothing."""
        middle: cython.double = (begin + end) / 2
        lost: cython.double = 0.0
        if end <= self.start or begin >= self.stop or begin >= end:
            return
        if begin <= self.left:
            middle = begin
        if end >= self.right:
            middle = end
        since: cython.double = max(begin, self.start)
        to: cython.double = min(middle, self.stop)
        if since < to:
            lost += _nearer(to - begin, self.right - begin) - _nearer(since - begin, self.right - begin)
        since = max(middle, self.start)
        to = min(end, self.stop)
        if since < to:
            lost += _nearer(end - since, end - self.left) - _nearer(end - to, end - self.left)
        self.tally[high, GAPS] += lost
        self.tally[low, GAPS] -= lost

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def lower_to(self, level: cython.Py_ssize_t) -> cython.void:
        """Lower the threshold to a level: its points become detected."""
        self.duration += self.tally[level, DURATION]
        self.lost += self.tally[level, LOST]
        self.gaps += self.tally[level, GAPS]
        self.tally[level, POINTS] = self.tally[level, DURATION] = 0.0
        self.tally[level, LOST] = self.tally[level, GAPS] = 0.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def precision(self) -> cython.double:
        """Return the mean, over what is detected, of the chance that a random point is farther from the event."""
        return 1 - self.lost / (self.right - self.left) / self.duration

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def recall(self) -> cython.double:
        """Return the mean, over the event, of the chance that a random point is farther from what is detected."""
        return 1 - self.gaps / (self.right - self.left) / (self.stop - self.start)


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
def _nearer(distance: cython.double, room: cython.double) -> cython.double:
    """Return the integral of d + min(d, room - d) over the distances d from 0 on."""
    if distance <= room / 2:
        return distance * distance
    return room * room / 4 + room * (distance - room / 2)
