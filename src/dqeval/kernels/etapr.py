# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False
"""The loop of eTaPR: overlaps of events and detected runs that are too small for either are dropped, at every level.

The threshold goes down, and runs that touch events appear, and vanish as they grow into others. Most lie inside an
event: those stand and fall with it. The others *cross* the border of an event. Whatever a crossing run covers whole
stands and falls with the run. So all that must be decided are chains of crossing runs and of the events between them,
which they cover in part; and of these only the chains that have changed. A *lone* run, which crosses and covers no
event in part, is a chain by itself. It is settled before the sweep, in time order, where all that it needs is at hand.

A chain is pruned from left to right; where something is dropped, one step back, because its neighbour has lost by it.
An event or a run is dropped at most once, so that takes at most three steps for each of the chain.

Worths are added up in whole multiples of a small unit, ``1 / scale``: what was added and taken away again leaves
nothing behind.
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

# Columns of what is known of each event.
EVENT_START = cython.declare(cython.Py_ssize_t, 0)
EVENT_STOP = cython.declare(cython.Py_ssize_t, 1)
INNER_POINTS = cython.declare(cython.Py_ssize_t, 2)  # how many of its points lie in runs that do not leave it
INNER_WEIGHT = cython.declare(cython.Py_ssize_t, 3)  # what these runs weigh
INNER_WORTH = cython.declare(cython.Py_ssize_t, 4)  # what they add to precision now
WORTH = cython.declare(cython.Py_ssize_t, 5)  # what the event adds to recall now
FROM_BEFORE = cython.declare(cython.Py_ssize_t, 6)  # the run that comes into it from before and ends inside
TO_BEHIND = cython.declare(cython.Py_ssize_t, 7)  # the run that begins inside it and goes on behind
EVENT_COLUMNS = 8
# What may be true of an event.
CHANGED = cython.declare(cython.int, 1)  # at this level, other runs lie inside it than above
ENCLOSED = cython.declare(cython.int, 2)  # it lies inside a crossing run
# Columns of what is found of each run (``find_runs`` in ``kernels/runs.py``).
START = cython.declare(cython.Py_ssize_t, 0)
STOP = cython.declare(cython.Py_ssize_t, 1)
HIGH = cython.declare(cython.Py_ssize_t, 2)
LOW = cython.declare(cython.Py_ssize_t, 3)
FIRST = cython.declare(cython.Py_ssize_t, 4)
BEHIND = cython.declare(cython.Py_ssize_t, 5)
LABELLED = cython.declare(cython.Py_ssize_t, 6)
# Columns of what a crossing run that is not lone adds now, and of what is tallied by level: by how much recall and
# precision rise there, as far as that is known.
RECALL = cython.declare(cython.Py_ssize_t, 0)
PRECISION = cython.declare(cython.Py_ssize_t, 1)
TALLY_COLUMNS = 2
# A column of such runs only: whether its chain is still to be pruned.
PENDING = cython.declare(cython.Py_ssize_t, 2)
RUN_COLUMNS = 3
# Columns of a chain.
COVERED = cython.declare(cython.Py_ssize_t, 0)
LENGTH = cython.declare(cython.Py_ssize_t, 1)
SHARED = cython.declare(cython.Py_ssize_t, 2)  # with the next one of the chain
DROPPED = cython.declare(cython.Py_ssize_t, 3)
MEMBER = cython.declare(cython.Py_ssize_t, 4)  # the event, or the run
CHAIN_COLUMNS = 5
NONE = cython.declare(cython.Py_ssize_t, -1)
AHEAD = cython.declare(cython.Py_ssize_t, 64)  # runs that are fetched at the same time


def settle_lone_runs(
    runs: cython.int[:, ::1],
    starts: cython.Py_ssize_t[::1],
    stops: cython.Py_ssize_t[::1],
    theta_p: cython.double,
    theta_r: cython.double,
    scale: cython.double,
    outside: cython.int[::1],
    enclosed: cython.int[::1],
    appear: cython.int[::1],
    vanish: cython.int[::1],
    tally: cython.longlong[:, ::1],
):
    """Tally what lone runs are worth, and write at which levels something else happens.

    ``runs`` are all that touch an event. ``enclosed`` gets the level at which each event comes to lie inside a crossing
    run; ``appear`` the level of each run that is not lone; ``vanish`` the level at which each run inside an event has
    grown into another. Where nothing happens, these remain zero. ``outside`` counts the events, from 0.
    """
    run: cython.Py_ssize_t
    start: cython.Py_ssize_t
    stop: cython.Py_ssize_t
    event: cython.Py_ssize_t
    behind: cython.Py_ssize_t
    with cython.nogil:
        for run in range(runs.shape[0]):
            start = runs[run, START]
            stop = runs[run, STOP]
            event = runs[run, FIRST]
            behind = runs[run, BEHIND]
            if starts[event] <= start and stop <= stops[event]:
                appear[run] = runs[run, HIGH]
                vanish[run] = runs[run, LOW]
                continue
            if starts[event] < start or stop < stops[behind - 1]:
                appear[run] = runs[run, HIGH]
                event += 1 if starts[event] < start else 0
                behind -= 1 if stop < stops[behind - 1] else 0
            else:
                _settle_lone_run(runs, run, theta_p, theta_r, scale, tally)
            # A run comes before those that it grows into, so this is the highest level for each event.
            event = _next_outside(outside, event, behind)
            while event < behind:
                enclosed[event] = runs[run, HIGH]
                outside[event] = event + 1
                event = _next_outside(outside, event, behind)


def sweep(
    runs: cython.int[:, ::1],
    appear: cython.int[::1],
    appear_ends: cython.int[::1],
    vanish: cython.int[::1],
    vanish_ends: cython.int[::1],
    enclosed: cython.int[::1],
    enclosed_ends: cython.int[::1],
    starts: cython.Py_ssize_t[::1],
    stops: cython.Py_ssize_t[::1],
    series: cython.Py_ssize_t[::1],
    theta_p: cython.double,
    theta_r: cython.double,
    scale: cython.double,
    events: cython.longlong[:, ::1],
    conditions: cython.uchar[::1],
    changed: cython.int[::1],
    of_runs: cython.longlong[:, ::1],
    pending: cython.int[::1],
    chain: cython.Py_ssize_t[:, ::1],
    tally: cython.longlong[:, ::1],
    sums: cython.double[:, ::1],
):
    """Write for every level, the highest first, what events and runs are worth.

    If several series are joined, this is written of one after the other; ``series`` has the first event of each, and
    how many there are.

    ``appear`` are the runs that are not lone, ``vanish`` those of them that lie inside an event, and ``enclosed``
    events, in the order of the levels at which these happen, the highest first (`settle_lone_runs`). Behind each is
    where every level ends in it. ``tally`` has what lone runs are worth. The rows of ``sums`` are recall and precision.

    The others are working space: ``events`` and ``conditions``, zero on entry, and ``changed`` have a row for each
    event, ``pending`` two, ``chain`` two and one more; ``of_runs``, zero on entry, has one for each run.
    """
    state: State = State(runs, theta_p, theta_r, scale)
    state.events = events
    state.conditions = conditions
    state.changed = changed
    state.of_runs = of_runs
    state.pending = pending
    state.chain = chain
    state.tally = tally
    each: cython.Py_ssize_t = sums.shape[1] // (series.shape[0] - 1)  # levels of a series
    s: cython.Py_ssize_t
    at: cython.Py_ssize_t
    level: cython.Py_ssize_t
    i: cython.Py_ssize_t = 0
    j: cython.Py_ssize_t = 0
    k: cython.Py_ssize_t = 0
    with cython.nogil:
        for s in range(series.shape[0] - 2, -1, -1):
            # The runs of another series make no difference to its events, and need not be taken away.
            state.begin(starts, stops, series[s], series[s + 1])
            at = s * each
            for level in range((s + 1) * each, s * each, -1):
                state.recall += tally[level, RECALL]
                state.precision += tally[level, PRECISION]
                state.enclose(enclosed, i, enclosed_ends[level])
                state.take_away(vanish, j, vanish_ends[level])
                state.add(appear, k, appear_ends[level])
                state.decide()
                i = enclosed_ends[level]
                j = vanish_ends[level]
                k = appear_ends[level]
                sums[0, at] = cython.cast(cython.double, state.recall) / scale
                sums[1, at] = cython.cast(cython.double, state.precision) / scale
                at += 1


@cython.final
@cython.cclass
class State:
    """What is detected at a level, and what it is worth."""

    runs: cython.int[:, ::1]
    theta_p: cython.double
    theta_r: cython.double
    scale: cython.double
    events: cython.longlong[:, ::1]
    conditions: cython.uchar[::1]
    changed: cython.int[::1]
    changed_count: cython.Py_ssize_t
    of_runs: cython.longlong[:, ::1]
    pending: cython.int[::1]
    pending_count: cython.Py_ssize_t
    chain: cython.Py_ssize_t[:, ::1]
    tally: cython.longlong[:, ::1]
    recall: cython.longlong
    precision: cython.longlong
    seen: cython.longlong

    def __init__(self, runs: cython.int[:, ::1], theta_p: cython.double, theta_r: cython.double, scale: cython.double):
        self.runs = runs
        self.theta_p = theta_p
        self.theta_r = theta_r
        self.scale = scale

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def begin(
        self,
        starts: cython.Py_ssize_t[::1],
        stops: cython.Py_ssize_t[::1],
        first: cython.Py_ssize_t,
        behind: cython.Py_ssize_t,
    ) -> cython.void:
        """Begin with some events, and nothing detected."""
        i: cython.Py_ssize_t
        worth: cython.longlong = _fixed(_half_for_enough(0, 1, self.theta_r), self.scale)
        self.changed_count = self.pending_count = 0
        self.recall = worth * (behind - first)
        self.precision = 0
        for i in range(first, behind):
            self.events[i, EVENT_START] = starts[i]
            self.events[i, EVENT_STOP] = stops[i]
            self.events[i, WORTH] = worth
            self.events[i, FROM_BEFORE] = self.events[i, TO_BEHIND] = NONE

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def fetch(self, order: cython.int[::1], begin: cython.Py_ssize_t, behind: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Read what is known of some runs from one on, and of their events, and return the next one.

        All this is far apart in memory. Read for one after the other, with nothing between, it is fetched at the same
        time.
        """
        end: cython.Py_ssize_t = min(begin + AHEAD, behind)
        k: cython.Py_ssize_t
        seen: cython.longlong = 0
        for k in range(begin, end):
            seen |= self.events[self.runs[order[k], FIRST], EVENT_START]
        self.seen = seen  # or a compiler would leave all of this out
        return end

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def crosses(self, run: cython.Py_ssize_t) -> cython.bint:
        """Tell whether a run does not lie inside its first event."""
        event: cython.Py_ssize_t = self.runs[run, FIRST]
        return (
            self.runs[run, START] < self.events[event, EVENT_START]
            or self.events[event, EVENT_STOP] < self.runs[run, STOP]
        )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def begins_inside(self, run: cython.Py_ssize_t) -> cython.bint:
        """Tell whether a crossing run begins inside its first event, and not with it."""
        return self.events[self.runs[run, FIRST], EVENT_START] < self.runs[run, START]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def ends_inside(self, run: cython.Py_ssize_t) -> cython.bint:
        """Tell whether a crossing run ends inside its last event, and not with it."""
        return self.runs[run, STOP] < self.events[self.runs[run, BEHIND] - 1, EVENT_STOP]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def enclose(self, order: cython.int[::1], first: cython.Py_ssize_t, behind: cython.Py_ssize_t) -> cython.void:
        """Take away what events are worth by themselves that lie inside a crossing run from now on."""
        event: cython.Py_ssize_t
        k: cython.Py_ssize_t
        for k in range(first, behind):
            event = order[k]
            self.recall -= self.events[event, WORTH]
            self.precision -= self.events[event, INNER_WORTH]
            self.conditions[event] = ENCLOSED

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def take_away(self, order: cython.int[::1], first: cython.Py_ssize_t, behind: cython.Py_ssize_t) -> cython.void:
        """Take away runs inside events that have grown into others."""
        fetched: cython.Py_ssize_t = first
        k: cython.Py_ssize_t
        for k in range(first, behind):
            if k == fetched:
                fetched = self.fetch(order, k, behind)
            self.change_inner(order[k], -1)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add(self, order: cython.int[::1], first: cython.Py_ssize_t, behind: cython.Py_ssize_t) -> cython.void:
        """Add runs that are not lone."""
        fetched: cython.Py_ssize_t = first
        k: cython.Py_ssize_t
        for k in range(first, behind):
            if k == fetched:
                fetched = self.fetch(order, k, behind)
            if self.crosses(order[k]):
                self.add_crossing(order[k])
            else:
                self.change_inner(order[k], 1)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add_crossing(self, run: cython.Py_ssize_t) -> cython.void:
        """Add a run that covers an event in part."""
        self.of_runs[run, PENDING] = 1
        self.pending[self.pending_count] = run
        self.pending_count += 1
        if self.begins_inside(run):
            self.events[self.runs[run, FIRST], TO_BEHIND] = run
        if self.ends_inside(run):
            self.events[self.runs[run, BEHIND] - 1, FROM_BEFORE] = run

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def change_inner(self, run: cython.Py_ssize_t, sign: cython.Py_ssize_t) -> cython.void:
        """Add a run to those inside its event, or take it away."""
        event: cython.Py_ssize_t = self.runs[run, FIRST]
        length: cython.Py_ssize_t = self.runs[run, STOP] - self.runs[run, START]
        self.events[event, INNER_POINTS] += sign * length
        self.events[event, INNER_WEIGHT] += sign * _fixed(sqrt(length), self.scale)
        if not self.conditions[event]:
            self.conditions[event] = CHANGED
            self.changed[self.changed_count] = event
            self.changed_count += 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def decide(self) -> cython.void:
        """Prune the chains of the runs that have appeared, and of the events that have changed, each chain once."""
        k: cython.Py_ssize_t
        for k in range(self.pending_count):
            if self.of_runs[self.pending[k], PENDING]:
                self.prune_chain_of(NONE, self.pending[k])
        for k in range(self.changed_count):
            if self.conditions[self.changed[k]]:
                self.prune_chain_of(self.changed[k], NONE)
        self.pending_count = self.changed_count = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def prune_chain_of(self, event: cython.Py_ssize_t, run: cython.Py_ssize_t) -> cython.void:
        """Prune the chain of an event, or else of a run, and find what its members are worth."""
        while True:  # to the left end of the chain
            if event == NONE:
                if not self.begins_inside(run):
                    break
                event = self.runs[run, FIRST]
            if self.events[event, FROM_BEFORE] == NONE:
                break
            run = self.events[event, FROM_BEFORE]
            event = NONE
        begins_with_run: cython.bint = event == NONE
        length: cython.Py_ssize_t = self.collect(event, run)
        self.prune(length, begins_with_run)
        j: cython.Py_ssize_t
        for j in range(length):
            if (j % 2 == 0) == begins_with_run:
                self.settle_run(j)
            else:
                self.settle_event(j)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def collect(self, event: cython.Py_ssize_t, run: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Write the chain that begins with an event, or else with a run; return its length."""
        chain: cython.Py_ssize_t[:, ::1] = self.chain
        length: cython.Py_ssize_t = 0
        while event != NONE or run != NONE:
            chain[length, DROPPED] = chain[length, SHARED] = 0
            if event != NONE:
                chain[length, MEMBER] = event
                chain[length, LENGTH] = self.events[event, EVENT_STOP] - self.events[event, EVENT_START]
                chain[length, COVERED] = self.events[event, INNER_POINTS]
                if self.events[event, FROM_BEFORE] != NONE:
                    run = self.events[event, FROM_BEFORE]
                    chain[length, COVERED] += self.runs[run, STOP] - self.events[event, EVENT_START]
                run = self.events[event, TO_BEHIND]
                if run != NONE:
                    chain[length, SHARED] = self.events[event, EVENT_STOP] - self.runs[run, START]
                    chain[length, COVERED] += chain[length, SHARED]
                event = NONE
            else:
                chain[length, MEMBER] = run
                chain[length, LENGTH] = self.runs[run, STOP] - self.runs[run, START]
                chain[length, COVERED] = self.runs[run, LABELLED]
                if self.ends_inside(run):
                    event = self.runs[run, BEHIND] - 1
                    chain[length, SHARED] = self.runs[run, STOP] - self.events[event, EVENT_START]
                run = NONE
            length += 1
        return length

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def prune(self, length: cython.Py_ssize_t, begins_with_run: cython.bint) -> cython.void:
        """Drop what is covered too little, until nothing changes."""
        chain: cython.Py_ssize_t[:, ::1] = self.chain
        j: cython.Py_ssize_t = 0
        theta: cython.double
        while j < length:
            theta = self.theta_p if (j % 2 == 0) == begins_with_run else self.theta_r
            if chain[j, COVERED] == 0 or cython.cast(cython.double, chain[j, COVERED]) / chain[j, LENGTH] >= theta:
                j += 1
                continue
            chain[j, DROPPED] = 1
            chain[j, COVERED] = 0
            if j + 1 < length and not chain[j + 1, DROPPED]:
                chain[j + 1, COVERED] -= chain[j, SHARED]
            if j > 0:
                if not chain[j - 1, DROPPED]:
                    chain[j - 1, COVERED] -= chain[j - 1, SHARED]
                j -= 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def settle_run(self, j: cython.Py_ssize_t) -> cython.void:
        """Find what a run of the chain is worth, and the events inside it, which stand and fall with it."""
        run: cython.Py_ssize_t = self.chain[j, MEMBER]
        # NumPy's short numbers cannot be combined with long ones.
        inside: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, self.runs[run, BEHIND] - self.runs[run, FIRST])
        if self.begins_inside(run):
            inside -= 1
        if self.ends_inside(run):
            inside -= 1
        worth: cython.double = _run_worth(self.chain[j, COVERED], self.chain[j, LENGTH], self.theta_p)
        each: cython.double = _half_for_enough(0 if self.chain[j, DROPPED] else 1, 1, self.theta_r)
        self.of_runs[run, PENDING] = 0
        self.recall += self.change_run(run, RECALL, inside * _fixed(each, self.scale))
        self.precision += self.change_run(run, PRECISION, _fixed(worth, self.scale))

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def change_run(self, run: cython.Py_ssize_t, column: cython.Py_ssize_t, worth: cython.longlong) -> cython.longlong:
        """Set what a crossing run adds until it has grown into another, and return how much more that is."""
        more: cython.longlong = worth - self.of_runs[run, column]
        self.of_runs[run, column] = worth
        if self.runs[run, LOW] > 0:
            self.tally[self.runs[run, LOW], column] -= more
        return more

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def settle_event(self, j: cython.Py_ssize_t) -> cython.void:
        """Find what an event of the chain is worth, and the runs inside it, which stand and fall with it."""
        event: cython.Py_ssize_t = self.chain[j, MEMBER]
        covered: cython.double = _half_for_enough(self.chain[j, COVERED], self.chain[j, LENGTH], self.theta_r)
        worth: cython.longlong = _fixed(covered, self.scale)
        inner: cython.longlong = self.events[event, INNER_WEIGHT]
        if self.chain[j, DROPPED]:
            inner = inner // 2 if self.theta_p <= 0 else 0
        self.recall += worth - self.events[event, WORTH]
        self.precision += inner - self.events[event, INNER_WORTH]
        self.events[event, WORTH] = worth
        self.events[event, INNER_WORTH] = inner
        self.conditions[event] = 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _settle_lone_run(
    runs: cython.int[:, ::1],
    run: cython.Py_ssize_t,
    theta_p: cython.double,
    theta_r: cython.double,
    scale: cython.double,
    tally: cython.longlong[:, ::1],
) -> cython.void:
    """Tally what a lone run is worth, and the events inside it, from its highest level down to its lowest."""
    covered: cython.Py_ssize_t = runs[run, LABELLED]
    length: cython.Py_ssize_t = runs[run, STOP] - runs[run, START]
    # NumPy's short numbers cannot be combined with long ones.
    inside: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, runs[run, BEHIND] - runs[run, FIRST])
    is_enough: cython.bint = cython.cast(cython.double, covered) / length >= theta_p
    worth: cython.longlong = _fixed(_run_worth(covered, length, theta_p), scale)
    recall: cython.longlong = inside * _fixed(_half_for_enough(1 if is_enough else 0, 1, theta_r), scale)
    tally[runs[run, HIGH], RECALL] += recall
    tally[runs[run, HIGH], PRECISION] += worth
    if runs[run, LOW] > 0:
        tally[runs[run, LOW], RECALL] -= recall
        tally[runs[run, LOW], PRECISION] -= worth


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _next_outside(outside: cython.int[::1], event: cython.Py_ssize_t, behind: cython.Py_ssize_t) -> cython.Py_ssize_t:
    """Return the first event from one on that lies in no crossing run, or one that is not before another.

    ``outside`` has each such event itself, and for the others some event behind it.
    """
    found: cython.Py_ssize_t = event
    following: cython.Py_ssize_t
    while found < behind and outside[found] != found:
        found = outside[found]
    while event < behind and outside[event] != event:  # so that it is found in one step next time
        following = outside[event]
        outside[event] = found
        event = following
    return found


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _fixed(worth: cython.double, scale: cython.double) -> cython.longlong:
    """Return a worth in multiples of the unit."""
    return cython.cast(cython.longlong, worth * scale + 0.5)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _run_worth(covered: cython.double, length: cython.double, theta: cython.double) -> cython.double:
    """Return what a run adds to precision: its weight, the root of its length, times what it is covered."""
    return sqrt(length) * _half_for_enough(covered, length, theta)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _half_for_enough(covered: cython.double, length: cython.double, theta: cython.double) -> cython.double:
    """Return one half, and half of the covered share, if that reaches theta; otherwise 0."""
    share: cython.double = covered / length
    return (1 + share) / 2 if share >= theta else 0.0
