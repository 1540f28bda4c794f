# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False
"""The loop of eTaPR: overlaps of events and detected runs that are too small for either are dropped, at every level.

The threshold goes down, and runs that touch events appear, and vanish as they grow into others. Most lie inside an
event: those stand and fall with it. The others *cross* the border of an event. Whatever a crossing run covers whole
stands and falls with the run. So all that must be decided are chains of crossing runs and of the events between them,
which they cover in part; and of these only the chains that have changed.

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
INNER_POINTS = cython.declare(cython.Py_ssize_t, 0)  # how many of its points lie in runs that do not leave it
INNER_WEIGHT = cython.declare(cython.Py_ssize_t, 1)  # what these runs weigh
INNER_WORTH = cython.declare(cython.Py_ssize_t, 2)  # what they add to precision now
WORTH = cython.declare(cython.Py_ssize_t, 3)  # what the event adds to recall now
FROM_BEFORE = cython.declare(cython.Py_ssize_t, 4)  # the run that comes into it from before and ends inside
TO_BEHIND = cython.declare(cython.Py_ssize_t, 5)  # the run that begins inside it and goes on behind
CHANGED = cython.declare(cython.Py_ssize_t, 6)  # whether it is among those that have changed
EVENT_COLUMNS = 7
# Columns of what is found of each run (``find_runs`` in ``kernels/runs.py``).
START = cython.declare(cython.Py_ssize_t, 0)
STOP = cython.declare(cython.Py_ssize_t, 1)
HIGH = cython.declare(cython.Py_ssize_t, 2)
LOW = cython.declare(cython.Py_ssize_t, 3)
FIRST = cython.declare(cython.Py_ssize_t, 4)
BEHIND = cython.declare(cython.Py_ssize_t, 5)
LABELLED = cython.declare(cython.Py_ssize_t, 6)
# Columns of what becomes known of it.
RUN_WORTH = cython.declare(cython.Py_ssize_t, 0)  # what the run adds to precision now
RUN_RECALL = cython.declare(cython.Py_ssize_t, 1)  # what the events inside it add to recall now
PENDING = cython.declare(cython.Py_ssize_t, 2)  # whether its chain is still to be pruned
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


def sweep(
    runs: cython.int[:, ::1],
    appear: cython.int[::1],
    vanish: cython.int[::1],
    starts: cython.Py_ssize_t[::1],
    stops: cython.Py_ssize_t[::1],
    series: cython.Py_ssize_t[::1],
    theta_p: cython.double,
    theta_r: cython.double,
    scale: cython.double,
    events: cython.longlong[:, ::1],
    of_runs: cython.longlong[:, ::1],
    chain: cython.Py_ssize_t[:, ::1],
    changed: cython.Py_ssize_t[::1],
    outside: cython.int[::1],
    sums: cython.double[:, ::1],
):
    """Write for every level, the highest first: what events and runs are worth, and what these runs weigh together.

    If several series are joined, this is written of one after the other; ``series`` has the first event of each, and
    how many there are.

    ``runs`` are all that touch an event. ``appear`` and ``vanish`` are these in the order of the levels at which they
    do so, the highest first. The rows of ``sums`` are recall, precision and weight. The others are working space, zero
    on entry: ``events`` has a row for each event, ``of_runs`` for each run, ``chain`` two for each event and one more,
    and ``changed`` and ``outside`` have an entry for each event.
    """
    state: State = State(runs, starts, stops, theta_p, theta_r, scale)
    state.events = events
    state.of_runs = of_runs
    state.chain = chain
    state.changed = changed
    state.outside = outside
    each: cython.Py_ssize_t = sums.shape[1] // (series.shape[0] - 1)  # levels of a series
    s: cython.Py_ssize_t
    at: cython.Py_ssize_t
    level: cython.Py_ssize_t
    first: cython.Py_ssize_t
    fetched_appearing: cython.Py_ssize_t = 0
    fetched_vanishing: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t = 0
    j: cython.Py_ssize_t = 0
    with cython.nogil:
        for s in range(series.shape[0] - 2, -1, -1):
            # The runs of another series make no difference to its events, and need not be taken away.
            state.begin(series[s], series[s + 1])
            at = s * each
            for level in range((s + 1) * each, s * each, -1):
                while j < vanish.shape[0]:
                    if j >= fetched_vanishing:
                        fetched_vanishing = state.fetch(vanish, j)
                    if runs[vanish[j], LOW] != level:
                        break
                    state.take_away(vanish[j])
                    j += 1
                first = i
                while i < appear.shape[0]:
                    if i >= fetched_appearing:
                        fetched_appearing = state.fetch(appear, i)
                    if runs[appear[i], HIGH] != level:
                        break
                    state.add(appear[i])
                    i += 1
                state.decide(appear, first, i)
                sums[0, at] = cython.cast(cython.double, state.recall) / scale
                sums[1, at] = cython.cast(cython.double, state.precision) / scale
                sums[2, at] = cython.cast(cython.double, state.weight) / scale
                at += 1


@cython.final
@cython.cclass
class State:
    """What is detected at a level, and what it is worth."""

    runs: cython.int[:, ::1]
    starts: cython.Py_ssize_t[::1]
    stops: cython.Py_ssize_t[::1]
    theta_p: cython.double
    theta_r: cython.double
    scale: cython.double
    events: cython.longlong[:, ::1]
    of_runs: cython.longlong[:, ::1]
    chain: cython.Py_ssize_t[:, ::1]
    changed: cython.Py_ssize_t[::1]
    outside: cython.int[::1]  # for each event itself, or if it lies inside a crossing run, some event behind it
    changed_count: cython.Py_ssize_t
    recall: cython.longlong
    precision: cython.longlong
    weight: cython.longlong
    seen: cython.longlong

    def __init__(
        self,
        runs: cython.int[:, ::1],
        starts: cython.Py_ssize_t[::1],
        stops: cython.Py_ssize_t[::1],
        theta_p: cython.double,
        theta_r: cython.double,
        scale: cython.double,
    ):
        self.runs = runs
        self.starts = starts
        self.stops = stops
        self.theta_p = theta_p
        self.theta_r = theta_r
        self.scale = scale

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def begin(self, first: cython.Py_ssize_t, behind: cython.Py_ssize_t) -> cython.void:
        """Begin with some events, and nothing detected."""
        i: cython.Py_ssize_t
        self.changed_count = 0
        self.recall = self.precision = self.weight = 0
        for i in range(first, behind):
            self.events[i, FROM_BEFORE] = self.events[i, TO_BEHIND] = NONE
            self.outside[i] = i
            self.events[i, WORTH] = self.fixed(_half_for_enough(0, 1, self.theta_r))
            self.recall += self.events[i, WORTH]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def fetch(self, order: cython.int[::1], begin: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Read what is known of some runs from one on, and of their events, and return the next one.

        All this is far apart in memory. Read for one after the other, with nothing between, it is fetched at the same
        time.
        """
        end: cython.Py_ssize_t = min(begin + AHEAD, order.shape[0])
        event: cython.Py_ssize_t
        k: cython.Py_ssize_t
        seen: cython.longlong = 0
        for k in range(begin, end):
            event = self.runs[order[k], FIRST]
            seen |= self.of_runs[order[k], RUN_WORTH]
            seen |= self.events[event, INNER_POINTS] | self.events[event, CHANGED]  # its row may be in two places
            seen |= self.starts[event] | self.stops[event]
        self.seen = seen  # or a compiler would leave all of this out
        return end

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def fixed(self, worth: cython.double) -> cython.longlong:
        """Return a worth in multiples of the unit."""
        return cython.cast(cython.longlong, worth * self.scale + 0.5)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def root(self, run: cython.Py_ssize_t) -> cython.double:
        """Return the root of a run's length: its weight."""
        return sqrt(cython.cast(cython.double, self.runs[run, STOP] - self.runs[run, START]))

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def crosses(self, run: cython.Py_ssize_t) -> cython.bint:
        """Tell whether a run does not lie inside its first event."""
        event: cython.Py_ssize_t = self.runs[run, FIRST]
        return self.runs[run, START] < self.starts[event] or self.stops[event] < self.runs[run, STOP]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def begins_inside(self, run: cython.Py_ssize_t) -> cython.bint:
        """Tell whether a crossing run begins inside its first event, and not with it."""
        return self.starts[self.runs[run, FIRST]] < self.runs[run, START]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def ends_inside(self, run: cython.Py_ssize_t) -> cython.bint:
        """Tell whether a crossing run ends inside its last event, and not with it."""
        return self.runs[run, STOP] < self.stops[self.runs[run, BEHIND] - 1]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def take_away(self, run: cython.Py_ssize_t) -> cython.void:
        """Take away a run that has grown into another."""
        self.weight -= self.fixed(self.root(run))
        if self.crosses(run):
            self.precision -= self.of_runs[run, RUN_WORTH]
            self.recall -= self.of_runs[run, RUN_RECALL]
        else:
            self.change_inner(run, -1)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add(self, run: cython.Py_ssize_t) -> cython.void:
        """Add a run."""
        self.weight += self.fixed(self.root(run))
        if not self.crosses(run):
            self.change_inner(run, 1)
            return
        first: cython.Py_ssize_t = self.runs[run, FIRST]
        behind: cython.Py_ssize_t = self.runs[run, BEHIND]
        self.of_runs[run, PENDING] = 1
        if self.begins_inside(run):
            self.events[first, TO_BEHIND] = run
            first += 1
        if self.ends_inside(run):
            behind -= 1
            self.events[behind, FROM_BEFORE] = run
        first = self.next_outside(first, behind)
        while first < behind:
            self.enclose(first)
            first = self.next_outside(first, behind)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def next_outside(self, event: cython.Py_ssize_t, behind: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the first event from one on that lies in no crossing run, or one that is not before another."""
        found: cython.Py_ssize_t = event
        following: cython.Py_ssize_t
        while found < behind and self.outside[found] != found:
            found = self.outside[found]
        while event < behind and self.outside[event] != event:  # so that it is found in one step next time
            following = self.outside[event]
            self.outside[event] = found
            event = following
        return found

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def enclose(self, event: cython.Py_ssize_t) -> cython.void:
        """Take away what an event is worth by itself, as it lies inside a crossing run from now on."""
        self.recall -= self.events[event, WORTH]
        self.precision -= self.events[event, INNER_WORTH]
        self.outside[event] = event + 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def change_inner(self, run: cython.Py_ssize_t, sign: cython.Py_ssize_t) -> cython.void:
        """Add a run to those inside its event, or take it away."""
        event: cython.Py_ssize_t = self.runs[run, FIRST]
        self.events[event, INNER_POINTS] += sign * (self.runs[run, STOP] - self.runs[run, START])
        self.events[event, INNER_WEIGHT] += sign * self.fixed(self.root(run))
        if not self.events[event, CHANGED]:
            self.events[event, CHANGED] = 1
            self.changed[self.changed_count] = event
            self.changed_count += 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def decide(self, appear: cython.int[::1], first: cython.Py_ssize_t, behind: cython.Py_ssize_t) -> cython.void:
        """Prune the chains of the runs that have appeared, and of the events that have changed, each chain once."""
        j: cython.Py_ssize_t
        event: cython.Py_ssize_t
        # Few have been read just before.
        fetched: cython.Py_ssize_t = first if behind - first > AHEAD else behind
        for j in range(first, behind):
            if j >= fetched:
                fetched = self.fetch(appear, j)
            if self.of_runs[appear[j], PENDING]:
                self.prune_chain_of(NONE, appear[j])
        for j in range(self.changed_count):
            event = self.changed[j]
            if self.events[event, CHANGED] and self.outside[event] == event:
                self.prune_chain_of(event, NONE)
            self.events[event, CHANGED] = 0
        self.changed_count = 0

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
                chain[length, LENGTH] = self.stops[event] - self.starts[event]
                chain[length, COVERED] = self.events[event, INNER_POINTS]
                if self.events[event, FROM_BEFORE] != NONE:
                    chain[length, COVERED] += self.runs[self.events[event, FROM_BEFORE], STOP] - self.starts[event]
                run = self.events[event, TO_BEHIND]
                if run != NONE:
                    chain[length, SHARED] = self.stops[event] - self.runs[run, START]
                    chain[length, COVERED] += chain[length, SHARED]
                event = NONE
            else:
                chain[length, MEMBER] = run
                chain[length, LENGTH] = self.runs[run, STOP] - self.runs[run, START]
                chain[length, COVERED] = self.runs[run, LABELLED]
                if self.ends_inside(run):
                    event = self.runs[run, BEHIND] - 1
                    chain[length, SHARED] = self.runs[run, STOP] - self.starts[event]
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
        worth: cython.double = _half_for_enough(self.chain[j, COVERED], self.chain[j, LENGTH], self.theta_p)
        each: cython.double = _half_for_enough(0 if self.chain[j, DROPPED] else 1, 1, self.theta_r)
        self.precision -= self.of_runs[run, RUN_WORTH]
        self.recall -= self.of_runs[run, RUN_RECALL]
        self.of_runs[run, RUN_WORTH] = self.fixed(self.root(run) * worth)
        self.of_runs[run, RUN_RECALL] = inside * self.fixed(each)
        self.precision += self.of_runs[run, RUN_WORTH]
        self.recall += self.of_runs[run, RUN_RECALL]
        self.of_runs[run, PENDING] = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def settle_event(self, j: cython.Py_ssize_t) -> cython.void:
        """Find what an event of the chain is worth, and the runs inside it, which stand and fall with it."""
        event: cython.Py_ssize_t = self.chain[j, MEMBER]
        worth: cython.double = _half_for_enough(self.chain[j, COVERED], self.chain[j, LENGTH], self.theta_r)
        inner: cython.longlong = self.events[event, INNER_WEIGHT]
        if self.chain[j, DROPPED]:
            inner = inner // 2 if self.theta_p <= 0 else 0
        self.recall += self.fixed(worth) - self.events[event, WORTH]
        self.precision += inner - self.events[event, INNER_WORTH]
        self.events[event, WORTH] = self.fixed(worth)
        self.events[event, INNER_WORTH] = inner
        self.events[event, CHANGED] = 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _half_for_enough(covered: cython.double, length: cython.double, theta: cython.double) -> cython.double:
    """Return one half, and half of the covered share, if that reaches theta; otherwise 0."""
    share: cython.double = covered / length
    return (1 + share) / 2 if share >= theta else 0.0
