# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False
"""The loop of eTaPR: overlaps of events and detected runs that are too small for either are dropped, at every level.

The threshold goes down, and with each point a run begins, grows, or joins two. Most runs touch no event, or lie inside
one: those stand and fall with their event. The others *cross* the border of an event. Whatever a crossing run covers
whole stands and falls with the run. So all that must be decided are chains of crossing runs and of the events between
them, which they cover in part; and of these only the chains that have changed.

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

# Rows of what is known of each event.
INNER_POINTS = cython.declare(cython.Py_ssize_t, 0)  # how many of its points lie in runs that do not leave it
INNER_WEIGHT = cython.declare(cython.Py_ssize_t, 1)  # what these runs weigh
INNER_WORTH = cython.declare(cython.Py_ssize_t, 2)  # what they add to precision now
WORTH = cython.declare(cython.Py_ssize_t, 3)  # what the event adds to recall now
PREFIX_STOP = cython.declare(cython.Py_ssize_t, 4)  # where the run ends that comes into it from before, if there is one
INSIDE = cython.declare(cython.Py_ssize_t, 5)  # whether it lies inside a crossing run
CHANGED = cython.declare(cython.Py_ssize_t, 6)  # whether it is among those that have changed
EVENT_ROWS = 7
# Rows of what is known of crossing runs: in column 2 * i + 1 of one that begins inside event i, behind its first point,
# and in column 2 * i of any other one of which event i is the first.
RUN_WORTH = cython.declare(cython.Py_ssize_t, 0)  # what the run adds to precision now
RUN_RECALL = cython.declare(cython.Py_ssize_t, 1)  # what the events inside it add to recall now
RUN_START = cython.declare(cython.Py_ssize_t, 2)  # where it begins, and 1 more; 0 if there is none
RUN_CHANGED = cython.declare(cython.Py_ssize_t, 3)
RUN_ROWS = 4
# Rows of a chain.
COVERED = cython.declare(cython.Py_ssize_t, 0)
LENGTH = cython.declare(cython.Py_ssize_t, 1)
SHARED = cython.declare(cython.Py_ssize_t, 2)  # with the next one of the chain
DROPPED = cython.declare(cython.Py_ssize_t, 3)
PLACE = cython.declare(cython.Py_ssize_t, 4)  # the event, or where the run begins
CHAIN_ROWS = 5


def sweep(
    order: cython.int[::1],
    levels: cython.int[::1],
    event_at: cython.int[::1],
    starts: cython.Py_ssize_t[::1],
    stops: cython.Py_ssize_t[::1],
    before: cython.Py_ssize_t[::1],
    theta_p: cython.double,
    theta_r: cython.double,
    scale: cython.double,
    far: cython.int[::1],
    events: cython.longlong[:, ::1],
    crossing: cython.longlong[:, ::1],
    chain: cython.Py_ssize_t[:, ::1],
    changed: cython.Py_ssize_t[:, ::1],
    sums: cython.longlong[:, ::1],
):
    """Write for every level, times ``scale``: what events and runs are worth, and what the runs weigh together.

    ``order`` has the points by descending level; the last point of the series must not be among them. ``event_at[t]``
    is the first event that ends behind point t; ``before[i]`` counts the labelled points before event i. The rows of
    ``sums`` are recall, precision and weight. The others are working space: ``far``, -1 on entry, has an entry for
    each point. ``events``, ``crossing``, ``chain`` and ``changed`` are zero on entry. The first has a column for each
    event, the others have two and one more. ``changed`` has a row for events, and one for runs.
    """
    state: State = State(event_at, starts, stops, before, theta_p, theta_r, scale)
    state.far = far
    state.events = events
    state.crossing = crossing
    state.chain = chain
    state.changed = changed
    level: cython.Py_ssize_t
    j: cython.Py_ssize_t = 0
    with cython.nogil:
        state.begin()
        for level in range(sums.shape[1] - 1, 0, -1):
            while j < order.shape[0] and levels[order[j]] == level:
                state.detect(order[j])
                j += 1
            state.decide()
            sums[0, level] = state.recall
            sums[1, level] = state.precision
            sums[2, level] = state.weight


@cython.cclass
class State:
    """What is detected at a level, and what it is worth."""

    event_at: cython.int[::1]
    starts: cython.Py_ssize_t[::1]
    stops: cython.Py_ssize_t[::1]
    before: cython.Py_ssize_t[::1]
    count: cython.Py_ssize_t
    theta_p: cython.double
    theta_r: cython.double
    scale: cython.double
    far: cython.int[::1]  # at either end of a run, its other end; elsewhere, whether a point is detected
    events: cython.longlong[:, ::1]
    crossing: cython.longlong[:, ::1]
    chain: cython.Py_ssize_t[:, ::1]
    changed: cython.Py_ssize_t[:, ::1]
    changed_events: cython.Py_ssize_t
    changed_runs: cython.Py_ssize_t
    recall: cython.longlong
    precision: cython.longlong
    weight: cython.longlong

    def __init__(
        self,
        event_at: cython.int[::1],
        starts: cython.Py_ssize_t[::1],
        stops: cython.Py_ssize_t[::1],
        before: cython.Py_ssize_t[::1],
        theta_p: cython.double,
        theta_r: cython.double,
        scale: cython.double,
    ):
        self.event_at = event_at
        self.starts = starts
        self.stops = stops
        self.before = before
        self.count = starts.shape[0]
        self.theta_p = theta_p
        self.theta_r = theta_r
        self.scale = scale

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def begin(self) -> cython.void:
        """Begin with nothing detected."""
        i: cython.Py_ssize_t
        self.changed_events = self.changed_runs = 0
        self.recall = self.precision = self.weight = 0
        for i in range(self.count):
            self.events[WORTH, i] = self.fixed(_half_for_enough(0, 1, self.theta_r))
            self.recall += self.events[WORTH, i]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def fixed(self, worth: cython.double) -> cython.longlong:
        """Return a worth in multiples of the unit."""
        return cython.cast(cython.longlong, worth * self.scale + 0.5)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def detect(self, t: cython.Py_ssize_t) -> cython.void:
        """Detect one more point: a run begins, grows, or joins two."""
        first: cython.Py_ssize_t = t
        last: cython.Py_ssize_t = t
        if t > 0 and self.far[t - 1] >= 0:
            first = self.far[t - 1]
            self.change(first, t, -1)
        if self.far[t + 1] >= 0:
            last = self.far[t + 1]
            self.change(t + 1, last + 1, -1)
        self.far[t] = t
        self.far[first] = last
        self.far[last] = first
        if self.change(first, last + 1, 1):
            # Only these two may be new inside a run that crosses their borders.
            self.enclose(self.event_at[t], first, last + 1)
            self.enclose(self.event_at[max(t - 1, 0)], first, last + 1)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def change(self, start: cython.Py_ssize_t, stop: cython.Py_ssize_t, sign: cython.Py_ssize_t) -> cython.bint:
        """Add a run, or take it away; tell whether it crosses the border of an event."""
        root: cython.double = sqrt(cython.cast(cython.double, stop - start))
        event: cython.Py_ssize_t = self.event_at[start]
        self.weight += sign * self.fixed(root)
        if event == self.count or self.starts[event] >= stop:
            if self.theta_p <= 0:  # then a run needs no event to be worth one half
                self.precision += sign * self.fixed(root / 2)
            return False
        if self.starts[event] <= start and stop <= self.stops[event]:
            self.events[INNER_POINTS, event] += sign * (stop - start)
            self.events[INNER_WEIGHT, event] += sign * self.fixed(root)
            self.mark_event(event)
            return False
        self.change_crossing(start, stop, event, sign)
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def mark_event(self, event: cython.Py_ssize_t) -> cython.void:
        """Remember that an event has changed."""
        if self.events[CHANGED, event] == 0:
            self.events[CHANGED, event] = 1
            self.changed[0, self.changed_events] = event
            self.changed_events += 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def change_crossing(
        self, start: cython.Py_ssize_t, stop: cython.Py_ssize_t, event: cython.Py_ssize_t, sign: cython.Py_ssize_t
    ) -> cython.void:
        """Add a crossing run, whose first event is given, or take it away with what it is worth."""
        run: cython.Py_ssize_t = self.column(start)
        last: cython.Py_ssize_t = self.event_at[stop - 1]
        if sign < 0:
            self.precision -= self.crossing[RUN_WORTH, run]
            self.recall -= self.crossing[RUN_RECALL, run]
            self.crossing[RUN_WORTH, run] = self.crossing[RUN_RECALL, run] = self.crossing[RUN_START, run] = 0
            return
        self.crossing[RUN_START, run] = start + 1
        if self.crossing[RUN_CHANGED, run] == 0:
            self.crossing[RUN_CHANGED, run] = 1
            self.changed[1, self.changed_runs] = run
            self.changed_runs += 1
        if self.ends_inside(last, stop):
            self.events[PREFIX_STOP, last] = stop

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def column(self, start: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the column of the crossing run that begins at a point."""
        event: cython.Py_ssize_t = self.event_at[start]
        return 2 * event + 1 if self.starts[event] < start else 2 * event

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def ends_inside(self, event: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.bint:
        """Tell whether a crossing run ends inside the event that is at its last point, and not with it."""
        return event < self.count and self.starts[event] < stop and stop < self.stops[event]

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def enclose(self, event: cython.Py_ssize_t, start: cython.Py_ssize_t, stop: cython.Py_ssize_t) -> cython.void:
        """Take away what an event is worth by itself, if it lies inside a crossing run."""
        if event < self.count and start <= self.starts[event] and self.stops[event] <= stop:
            self.recall -= self.events[WORTH, event]
            self.precision -= self.events[INNER_WORTH, event]
            self.events[WORTH, event] = self.events[INNER_WORTH, event] = 0
            self.events[INSIDE, event] = 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def decide(self) -> cython.void:
        """Prune the chains of the runs and the events that have changed."""
        j: cython.Py_ssize_t
        run: cython.Py_ssize_t
        event: cython.Py_ssize_t
        for j in range(self.changed_runs):
            run = self.changed[1, j]
            # Joined with another one, a run may have ceased to be; and its chain may have been pruned already.
            if self.crossing[RUN_CHANGED, run] and self.crossing[RUN_START, run]:
                self.prune_from(-1, self.crossing[RUN_START, run] - 1)
            self.crossing[RUN_CHANGED, run] = 0
        for j in range(self.changed_events):
            event = self.changed[0, j]
            if self.events[CHANGED, event] and not self.events[INSIDE, event]:
                self.prune_from(event, -1)
            self.events[CHANGED, event] = 0
        self.changed_runs = self.changed_events = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def prune_from(self, event: cython.Py_ssize_t, run: cython.Py_ssize_t) -> cython.void:
        """Prune the chain of an event, or else of a run, and find what its members are worth."""
        # To the left end of the chain, and then through it.
        while True:
            if event < 0:
                if self.starts[self.event_at[run]] >= run:
                    break
                event = self.event_at[run]
            if self.events[PREFIX_STOP, event] == 0:
                break
            run = self.far[self.events[PREFIX_STOP, event] - 1]
            event = -1
        begins_with_run: cython.bint = event < 0
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
        stop: cython.Py_ssize_t
        while True:
            chain[DROPPED, length] = chain[SHARED, length] = 0
            if event >= 0:
                chain[PLACE, length] = event
                chain[LENGTH, length] = self.stops[event] - self.starts[event]
                chain[COVERED, length] = self.events[INNER_POINTS, event]
                if self.events[PREFIX_STOP, event]:
                    chain[COVERED, length] += self.events[PREFIX_STOP, event] - self.starts[event]
                run = self.crossing[RUN_START, 2 * event + 1] - 1
                if run >= 0:
                    chain[SHARED, length] = self.stops[event] - run
                    chain[COVERED, length] += chain[SHARED, length]
                event = -1
            else:
                stop = self.far[run] + 1
                chain[PLACE, length] = run
                chain[LENGTH, length] = stop - run
                chain[COVERED, length] = self.labelled_before(stop) - self.labelled_before(run)
                event = self.event_at[stop - 1]
                if self.ends_inside(event, stop):
                    chain[SHARED, length] = stop - self.starts[event]
                else:
                    event = -1
                run = -1
            length += 1
            if event < 0 and run < 0:
                return length

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def labelled_before(self, point: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return how many points are labelled before one."""
        event: cython.Py_ssize_t = self.event_at[point]
        if event < self.count and self.starts[event] < point:
            return self.before[event] + point - self.starts[event]
        return self.before[event]

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
            if chain[COVERED, j] == 0 or cython.cast(cython.double, chain[COVERED, j]) / chain[LENGTH, j] >= theta:
                j += 1
                continue
            chain[DROPPED, j] = 1
            chain[COVERED, j] = 0
            if j + 1 < length and not chain[DROPPED, j + 1]:
                chain[COVERED, j + 1] -= chain[SHARED, j]
            if j > 0:
                if not chain[DROPPED, j - 1]:
                    chain[COVERED, j - 1] -= chain[SHARED, j - 1]
                j -= 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def settle_run(self, j: cython.Py_ssize_t) -> cython.void:
        """Find what a run of the chain is worth, and the events inside it, which stand and fall with it."""
        start: cython.Py_ssize_t = self.chain[PLACE, j]
        stop: cython.Py_ssize_t = self.far[start] + 1
        run: cython.Py_ssize_t = self.column(start)
        first: cython.Py_ssize_t = self.event_at[start] + run % 2
        behind: cython.Py_ssize_t = self.event_at[stop - 1]
        if behind < self.count and self.stops[behind] == stop:
            behind += 1
        root: cython.double = sqrt(cython.cast(cython.double, stop - start))
        worth: cython.double = _half_for_enough(self.chain[COVERED, j], self.chain[LENGTH, j], self.theta_p)
        each: cython.double = _half_for_enough(0 if self.chain[DROPPED, j] else 1, 1, self.theta_r)
        self.precision -= self.crossing[RUN_WORTH, run]
        self.recall -= self.crossing[RUN_RECALL, run]
        self.crossing[RUN_WORTH, run] = self.fixed(root * worth)
        self.crossing[RUN_RECALL, run] = (behind - first) * self.fixed(each)
        self.precision += self.crossing[RUN_WORTH, run]
        self.recall += self.crossing[RUN_RECALL, run]
        self.crossing[RUN_CHANGED, run] = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def settle_event(self, j: cython.Py_ssize_t) -> cython.void:
        """Find what an event of the chain is worth, and the runs inside it, which stand and fall with it."""
        event: cython.Py_ssize_t = self.chain[PLACE, j]
        worth: cython.double = _half_for_enough(self.chain[COVERED, j], self.chain[LENGTH, j], self.theta_r)
        inner: cython.longlong = self.events[INNER_WEIGHT, event]
        if self.chain[DROPPED, j]:
            inner = inner // 2 if self.theta_p <= 0 else 0
        self.recall += self.fixed(worth) - self.events[WORTH, event]
        self.precision += inner - self.events[INNER_WORTH, event]
        self.events[WORTH, event] = self.fixed(worth)
        self.events[INNER_WORTH, event] = inner
        self.events[CHANGED, event] = 0


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _half_for_enough(covered: cython.double, length: cython.double, theta: cython.double) -> cython.double:
    """Return one half, and half of the covered share, if that reaches theta; otherwise 0."""
    share: cython.double = covered / length
    return (1 + share) / 2 if share >= theta else 0.0
