# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False
"""SDQE of detections that are given as intervals: one pass over them, event by event, whatever time they span."""

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


def score(
    starts: cython.Py_ssize_t[::1],
    stops: cython.Py_ssize_t[::1],
    cuts: cython.double[:, ::1],
    near: cython.double,
    local: cython.double[:, ::1],
):
    """Write dqe, capture, near miss and false alarm of each event into its row of ``local``.

    Detection j lies at [starts[j], stops[j]): in ascending order, apart from each other. The columns of ``cuts`` are
    those of `Partition`, in time order.
    """
    region: Region = Region(near)
    first: cython.Py_ssize_t = 0
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    with cython.nogil:
        for i in range(cuts.shape[0]):
            region.enter(cuts[i, 0], cuts[i, 1], cuts[i, 2], cuts[i, 3], cuts[i, 4], cuts[i, 5])
            while first < starts.shape[0] and stops[first] <= cuts[i, 0]:
                first += 1
            j = first
            while j < starts.shape[0] and starts[j] < cuts[i, 5]:
                region.add(starts[j], stops[j])
                j += 1
            local[i, 1] = 1.0 if region.captured else 0.0
            local[i, 2] = region.near_miss_score()
            local[i, 3] = region.false_alarm_score()
            local[i, 0] = sqrt((local[i, 1] + local[i, 2]) / 2 * local[i, 3])


@cython.final
@cython.cclass
class Region:
    """One local region, and what is detected in it."""

    near: cython.double
    left: cython.double
    near_start: cython.double
    start: cython.double
    stop: cython.double
    near_stop: cython.double
    right: cython.double

    # The false-alarm pieces, joined where the near-miss pieces begin, are cut into bins at most 1 wide.
    alarm_room: cython.double
    bins: cython.double
    bin_width: cython.double
    last_bin: cython.double

    captured: cython.bint
    near_parts: cython.Py_ssize_t
    near_closest: cython.double
    near_distances: cython.double
    near_duration: cython.double
    alarm_duration: cython.double
    alarm_bins: cython.Py_ssize_t

    def __init__(self, near: cython.double):
        self.near = near

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def enter(
        self,
        left: cython.double,
        near_start: cython.double,
        start: cython.double,
        stop: cython.double,
        near_stop: cython.double,
        right: cython.double,
    ) -> cython.void:
        """Go to a region, with nothing detected yet."""
        self.left = left
        self.near_start = near_start
        self.start = start
        self.stop = stop
        self.near_stop = near_stop
        self.right = right
        self.alarm_room = (near_start - left) + (right - near_stop)
        self.bins = ceil(self.alarm_room)
        self.bin_width = self.alarm_room / max(self.bins, 1.0)
        self.last_bin = -1.0
        self.captured = False
        self.near_parts = self.alarm_bins = 0
        self.near_closest = self.near_distances = self.near_duration = self.alarm_duration = 0.0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add(self, start: cython.double, stop: cython.double) -> cython.void:
        """Add the next detection: each piece takes what lies in it."""
        start = max(start, self.left)
        stop = min(stop, self.right)
        if start < self.near_start:
            self.add_false_alarm(start - self.near_start, min(stop, self.near_start) - self.near_start)
        if max(start, self.near_start) < min(stop, self.start):  # nothing, if there is no near range
            self.add_near_miss(self.start - min(stop, self.start), self.start - max(start, self.near_start))
        if start < self.stop and stop > self.start:
            self.captured = True
        if max(start, self.stop) < min(stop, self.near_stop):
            self.add_near_miss(max(start, self.stop) - self.stop, min(stop, self.near_stop) - self.stop)
        if stop > self.near_stop:
            self.add_false_alarm(max(start, self.near_stop) - self.near_stop, stop - self.near_stop)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add_near_miss(self, closest: cython.double, farthest: cython.double) -> cython.void:
        """Add a near miss by its distances from the event."""
        self.near_closest = min(self.near_closest, closest) if self.near_parts > 0 else closest
        self.near_parts += 1
        self.near_distances += (closest + farthest) / 2
        self.near_duration += farthest - closest

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add_false_alarm(self, start: cython.double, stop: cython.double) -> cython.void:
        """Add a false alarm: what is before the event counts from the near-miss piece there, down to less than 0."""
        self.alarm_duration += stop - start
        middle: cython.double = (start + stop) / 2
        before: cython.double = self.near_start - self.left
        number: cython.double = floor((middle + before) / self.bin_width)
        # The quotient may be rounded over an edge. Edges are those of numpy.linspace(-before, behind, bins + 1).
        while (number + 1) * self.bin_width - before <= middle:
            number += 1
        while number > 0 and number * self.bin_width - before > middle:
            number -= 1
        number = min(number, self.bins - 1)
        # The one before may be in the same bin, which reaches over the event.
        if number != self.last_bin:
            self.alarm_bins += 1
            self.last_bin = number

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def near_miss_score(self) -> cython.double:
        """Score the near misses: how close, how far on average, and how long they are."""
        if self.near_parts == 0:
            return 1.0 if self.captured and self.alarm_bins == 0 else 0.0
        return (
            max(0.0, 1 - self.near_closest / self.near)
            * max(0.0, 1 - self.near_distances / self.near_parts / self.near)
            * max(0.0, 1 - self.near_duration / (2 * self.near))
        )

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def false_alarm_score(self) -> cython.double:
        """Score the false alarms: in how many bins they lie, and how long they are."""
        if self.alarm_bins == 0:
            return 1.0 if self.captured or self.near_parts > 0 else 0.0
        burden: cython.double = max(0.0, 1 - self.alarm_duration / (self.alarm_room / 2))
        if self.bins <= 1:
            return burden
        return burden * (1 - log2(self.alarm_bins) / log2(self.bins))
