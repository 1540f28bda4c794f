# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False
"""The loops of VUS, which has buffers around the events.

A point's *level* is how many of the thresholds its score reaches: at the k-th threshold from below, the points of level
k and above are detected.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from dqeval.kernels import _plain as cython

compiled = cython.compiled


FAR = cython.declare(cython.Py_ssize_t, 1 << 60)


@cython.final
@cython.cclass
class Windows:
    """The extended labels of VUS while the window grows.

    A point in the buffer of one event, at the distance d from it, counts sqrt(1 - d / window), which is at least the
    root of a half. So where two buffers overlap, a point counts 1, the most that it can. The root is a polynomial in
    d / window; so it is enough to know, by level, the sums of the powers of all distances. As the window grows, each
    point comes in once, with its distance, and goes out once, when a second event reaches it: then it counts 1 for
    good.

    A zone is an event with its buffers, or several where they meet: found by its first event, from ``zone_of`` on.
    """

    levels: cython.int[::1]
    starts: cython.Py_ssize_t[::1]
    stops: cython.Py_ssize_t[::1]
    detected: cython.double[::1]
    hits: cython.double[::1]
    coefficients: cython.const[cython.double][::1]
    # By level: points that count 1, sums of powers of distances in units of the longest, what comes in, and zones.
    whole: cython.double[::1]
    powers: cython.double[:, ::1]
    coming: cython.double[::1]
    coming_levels: cython.int[::1]
    zones: cython.double[::1]
    extension: cython.double[::1]
    # By event: the highest level in its zone, if the event is its first, and an event further up in its zone.
    highest: cython.int[::1]
    zone_of: cython.Py_ssize_t[::1]
    # The gaps between events, before the first and behind the last, in which something still changes.
    gaps: cython.Py_ssize_t[::1]
    gap_count: cython.Py_ssize_t
    coming_count: cython.Py_ssize_t
    half: cython.Py_ssize_t
    longest: cython.double

    def __init__(
        self,
        levels: cython.int[::1],
        starts: cython.Py_ssize_t[::1],
        stops: cython.Py_ssize_t[::1],
        detected: cython.double[::1],
        hits: cython.double[::1],
        coefficients: cython.const[cython.double][::1],
        longest: cython.double,
        powers: cython.double[:, ::1],
        by_level: cython.double[:, ::1],
        coming_levels: cython.int[::1],
        highest: cython.int[::1],
        zone_of: cython.Py_ssize_t[::1],
        gaps: cython.Py_ssize_t[::1],
    ):
        """Begin with the window 0.

        ``detected[k]`` and ``hits[k]`` count the points, and the labelled ones, of level k and above; ``highest`` has
        the highest level in each event; ``zone_of`` and ``gaps`` count up from 0, and there is one gap more.
        ``longest`` is the longest distance. Working space are ``powers``, zeros, with a row for each of the
        ``coefficients``, and ``by_level``, zeros, four rows, all of them with a column a level, and ``coming_levels``.
        """
        i: cython.Py_ssize_t
        self.levels = levels
        self.starts = starts
        self.stops = stops
        self.detected = detected
        self.hits = hits
        self.coefficients = coefficients
        self.longest = longest
        self.powers = powers
        self.whole = by_level[0]
        self.coming = by_level[1]
        self.zones = by_level[2]
        self.extension = by_level[3]
        self.coming_levels = coming_levels
        self.highest = highest
        self.zone_of = zone_of
        self.gaps = gaps
        self.gap_count = gaps.shape[0]
        self.coming_count = 0
        self.half = 0
        for i in range(highest.shape[0]):
            self.zones[highest[i]] += 1

    def areas(self, first: cython.Py_ssize_t, roc: cython.double[::1], pr: cython.double[::1]):
        """Write the areas under the ROC and the PR curve for the windows from ``first`` on that there is room for."""
        w: cython.Py_ssize_t
        with cython.nogil:
            for w in range(roc.shape[0]):
                while self.half < (first + w) // 2:
                    self.grow()
                self.extend(first + w)
                _areas(self.levels.shape[0], self.detected, self.hits, self.extension, self.zones, roc, pr, w)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def extend(self, window: cython.Py_ssize_t) -> cython.void:
        """Add up the extended labels by level."""
        levels: cython.Py_ssize_t = self.whole.shape[0]
        ratio: cython.double = self.longest / max(window, 1)
        power: cython.double = 1.0
        factor: cython.double
        j: cython.Py_ssize_t
        k: cython.Py_ssize_t
        for k in range(levels):
            self.extension[k] = self.whole[k]
        for j in range(self.powers.shape[0]):
            factor = self.coefficients[j] * power
            for k in range(levels):
                self.extension[k] += factor * self.powers[j, k]
            power *= ratio

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def grow(self) -> cython.void:
        """Make all buffers one point longer."""
        kept: cython.Py_ssize_t = 0
        k: cython.Py_ssize_t
        self.half += 1
        for k in range(self.gap_count):
            if self.grow_into(self.gaps[k]):
                self.gaps[kept] = self.gaps[k]
                kept += 1
        self.gap_count = kept
        for k in range(self.coming_count):
            self.count(self.coming_levels[k], self.half, self.coming[self.coming_levels[k]])
            self.coming[self.coming_levels[k]] = 0.0
        self.coming_count = 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def grow_into(self, i: cython.Py_ssize_t) -> cython.bint:
        """Let both buffers of the gap before event i grow; tell whether anything can change in it later."""
        count: cython.Py_ssize_t = self.starts.shape[0]
        start: cython.Py_ssize_t = self.stops[i - 1] if i > 0 else 0
        stop: cython.Py_ssize_t = self.starts[i] if i < count else self.levels.shape[0]
        between: cython.bint = i > 0 and i < count
        # How much further away the second event on either side is than the first.
        before: cython.Py_ssize_t = self.stops[i - 1] - self.stops[i - 2] if i > 1 else FAR
        behind: cython.Py_ssize_t = self.starts[i + 1] - self.starts[i] if i + 1 < count else FAR
        if i > 0:
            self.reach(start, 1, stop - start, before, behind, between, i - 1)
        if i < count:
            self.reach(stop - 1, -1, stop - start, behind, before, between, i)
        if between:
            if 2 * self.half > stop - start:
                self.join(i - 1, i)
            return self.half < stop - start
        # Before the first event and behind the last, the second one goes on reaching points.
        return self.half < stop - start + (before if i > 1 else behind if i == 0 and count > 1 else 0)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def reach(
        self,
        first: cython.Py_ssize_t,
        step: cython.Py_ssize_t,
        points: cython.Py_ssize_t,
        second: cython.Py_ssize_t,
        other_second: cython.Py_ssize_t,
        between: cython.bint,
        event: cython.Py_ssize_t,
    ) -> cython.void:
        """Let the buffer of an event grow into a gap, whose points begin with ``first`` and go on by ``step``."""
        other: cython.Py_ssize_t
        distance: cython.Py_ssize_t = self.half
        level: cython.int
        if distance <= points:
            level = self.levels[first + step * (distance - 1)]
            other = points - distance + 1 if between else FAR  # how far away the event on the other side is
            if other > distance:
                self.come_in(level)
                self.rise(event, level)
            elif other == distance:
                if step > 0:  # both sides reach it at once
                    self.whole[level] += 1
                    self.rise(event, level)
            elif other + other_second >= distance:
                self.go_out(level, other)
        distance = self.half - second  # where the second event on this side reaches now
        if 0 < distance <= points and (not between or points - distance + 1 > self.half):
            self.go_out(self.levels[first + step * (distance - 1)], distance)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def come_in(self, level: cython.int) -> cython.void:
        """Note a point at the distance that the buffers reach now."""
        if self.coming[level] == 0:
            self.coming_levels[self.coming_count] = level
            self.coming_count += 1
        self.coming[level] += 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def go_out(self, level: cython.int, distance: cython.Py_ssize_t) -> cython.void:
        """Let a point count 1."""
        self.count(level, distance, -1.0)
        self.whole[level] += 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def count(self, level: cython.int, distance: cython.Py_ssize_t, points: cython.double) -> cython.void:
        """Add so many points of one distance."""
        share: cython.double = distance / self.longest
        j: cython.Py_ssize_t
        for j in range(self.powers.shape[0]):
            self.powers[j, level] += points
            points *= share

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def zone(self, event: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Return the first event of the zone of an event, and make the way there shorter."""
        while self.zone_of[event] != event:
            self.zone_of[event] = self.zone_of[self.zone_of[event]]
            event = self.zone_of[event]
        return event

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def rise(self, event: cython.Py_ssize_t, level: cython.int) -> cython.void:
        """Let the zone of an event have a point of a level."""
        zone: cython.Py_ssize_t = self.zone(event)
        if level > self.highest[zone]:
            self.zones[self.highest[zone]] -= 1
            self.zones[level] += 1
            self.highest[zone] = level

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def join(self, event: cython.Py_ssize_t, following: cython.Py_ssize_t) -> cython.void:
        """Make the zones of two neighbouring events one, unless they are one already."""
        zone: cython.Py_ssize_t = self.zone(event)
        other: cython.Py_ssize_t = self.zone(following)
        if zone != other:
            self.rise(zone, self.highest[other])
            self.zones[self.highest[other]] -= 1
            self.zone_of[other] = zone


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _areas(
    n: cython.Py_ssize_t,
    detected: cython.double[::1],
    hits: cython.double[::1],
    extension: cython.double[::1],
    zones: cython.double[::1],
    roc: cython.double[::1],
    pr: cython.double[::1],
    w: cython.Py_ssize_t,
) -> cython.void:
    """Go down the thresholds of one window, and add up the areas."""
    k: cython.Py_ssize_t
    positives: cython.double = hits[0]
    zone_count: cython.double = 0.0
    reached: cython.double = 0.0
    extended: cython.double = 0.0
    fpr: cython.double = 0.0
    tpr: cython.double = 0.0
    next_fpr: cython.double
    next_tpr: cython.double
    tp: cython.double
    area: cython.double = 0.0
    area_pr: cython.double = 0.0
    for k in range(zones.shape[0]):
        zone_count += zones[k]
    for k in range(detected.shape[0] - 1, 0, -1):
        extended += extension[k]
        reached += zones[k]
        tp = hits[k] + extended
        next_tpr = min(tp / (positives + extended / 2), 1.0) * (reached / zone_count)
        next_fpr = (detected[k] - tp) / (n - positives - extended / 2)
        area += (next_fpr - fpr) * (next_tpr + tpr) / 2
        area_pr += (next_tpr - tpr) * (tp / detected[k])
        fpr = next_fpr
        tpr = next_tpr
    roc[w] = area + (1 - fpr) * (1 + tpr) / 2
    pr[w] = area_pr
