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

compiled = cython.compiled


def tally_runs(
    levels: cython.int[::1],
    starts: cython.Py_ssize_t[::1],
    stops: cython.Py_ssize_t[::1],
    before: cython.Py_ssize_t[::1],
    partly: cython.longlong[::1],
    theta: cython.double,
    stack: cython.Py_ssize_t[:, ::1],
    scale: cython.double,
    counts: cython.longlong[::1],
    shares: cython.longlong[::1],
    by_pieces: cython.longlong[::1],
    enough: cython.longlong[::1],
):
    """Tally by level how many runs there are, and how much of each is labelled.

    ``shares`` are the labelled shares, ``by_pieces`` the same divided by the number of events that a run touches,
    ``enough`` how many shares are at least ``theta``. ``before[i]`` counts the labelled points before event i, and has
    an entry behind the last. ``partly[t]``, if given, is what points before t count in part, times ``scale``. The last
    point must be of level 0. ``stack`` has three rows, and columns for all levels that points have.
    """
    runs: Runs = Runs(levels, starts, stops, before, partly, stack)
    t: cython.Py_ssize_t
    worth: cython.longlong
    with cython.nogil:
        for t in range(levels.shape[0]):
            runs.come_to(t)
            while runs.close():
                counts[runs.high] += 1
                counts[runs.low] -= 1
                runs.cover(scale)
                if runs.share >= theta:
                    enough[runs.high] += 1
                    enough[runs.low] -= 1
                if runs.share > 0:
                    worth = cython.cast(cython.longlong, runs.share * scale + 0.5)
                    shares[runs.high] += worth
                    shares[runs.low] -= worth
                if runs.pieces > 0:
                    worth = cython.cast(cython.longlong, runs.share / runs.pieces * scale + 0.5)
                    by_pieces[runs.high] += worth
                    by_pieces[runs.low] -= worth
            runs.open()


@cython.cclass
class Runs:
    """The runs that end at a point, one after the other, while time goes on."""

    levels: cython.int[::1]
    starts: cython.Py_ssize_t[::1]
    stops: cython.Py_ssize_t[::1]
    before: cython.Py_ssize_t[::1]
    partly: cython.longlong[::1]
    stack: cython.Py_ssize_t[:, ::1]  # the level, the first point, and the event there, of each run that goes on
    depth: cython.Py_ssize_t
    event: cython.Py_ssize_t

    # The point, and the last run that ended there: its levels, its first point, and the first event that ends behind.
    point: cython.Py_ssize_t
    level: cython.Py_ssize_t
    high: cython.Py_ssize_t
    low: cython.Py_ssize_t
    start: cython.Py_ssize_t
    first: cython.Py_ssize_t

    pieces: cython.Py_ssize_t
    share: cython.double

    def __init__(
        self,
        levels: cython.int[::1],
        starts: cython.Py_ssize_t[::1],
        stops: cython.Py_ssize_t[::1],
        before: cython.Py_ssize_t[::1],
        partly: cython.longlong[::1],
        stack: cython.Py_ssize_t[:, ::1],
    ):
        self.levels = levels
        self.starts = starts
        self.stops = stops
        self.before = before
        self.partly = partly
        self.stack = stack
        self.stack[0, 0] = 0
        self.depth = 0
        self.event = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def come_to(self, point: cython.Py_ssize_t) -> cython.void:
        """Go on to the next point."""
        self.point = self.start = point
        self.level = self.levels[point]
        while self.event < self.stops.shape[0] and self.stops[self.event] <= point:
            self.event += 1
        self.first = self.event

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def close(self) -> cython.bint:
        """Tell whether one more run ends at the point; the shorter ones first."""
        self.high = self.stack[0, self.depth]
        if self.high <= self.level:
            return False
        self.start = self.stack[1, self.depth]
        self.first = self.stack[2, self.depth]
        self.depth -= 1
        self.low = max(self.level, self.stack[0, self.depth])
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def open(self) -> cython.void:
        """Begin the run that has the point's level, unless it goes on already: where the last one that ended began."""
        if self.high < self.level:
            self.depth += 1
            self.stack[0, self.depth] = self.level
            self.stack[1, self.depth] = self.start
            self.stack[2, self.depth] = self.first

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def cover(self, scale: cython.double) -> cython.void:
        """Find how much of the run is labelled, and how many events it touches."""
        covered: cython.double = self.labelled_before(self.point, self.event) - self.labelled_before(
            self.start, self.first
        )
        if self.partly.shape[0] > 0:
            covered += (self.partly[self.point] - self.partly[self.start]) / scale
        self.share = covered / (self.point - self.start)
        self.pieces = self.event - self.first
        if self.event < self.starts.shape[0] and self.starts[self.event] < self.point:
            self.pieces += 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def labelled_before(self, point: cython.Py_ssize_t, event: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return how many points are labelled before one, of which the first event that ends behind it is known."""
        if event < self.starts.shape[0] and self.starts[event] < point:
            return self.before[event] + point - self.starts[event]
        return self.before[event]


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
