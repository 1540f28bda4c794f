# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False
"""Points by ascending score, of a whole series or of each of its parts: a radix sort.

A score's *key* is a whole number of 64 bits that is ordered as the scores are. An *item* is one number for a point: the
upper bits of its key, and below them its place in the part. Items are put in the order of their highest digits, the
lowest of these first. What is then out of order differs in lower bits, and is seldom far from its place: it is moved
there one by one. Where that would take long, the part is sorted by all bits instead.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from dqeval.kernels import _plain as cython

compiled = cython.compiled

SIGN = cython.declare(cython.ulonglong, 0x8000000000000000)
ALL_BITS = cython.declare(cython.ulonglong, 0xFFFFFFFFFFFFFFFF)
LOW_HALF = cython.declare(cython.ulonglong, 0xFFFFFFFF)
BITS = cython.declare(cython.Py_ssize_t, 64)
DIGITS = cython.declare(cython.Py_ssize_t, 3)
WIDE_DIGIT = cython.declare(cython.Py_ssize_t, 11)
MIDDLE_DIGIT = cython.declare(cython.Py_ssize_t, 10)
NARROW_DIGIT = cython.declare(cython.Py_ssize_t, 8)
# Parts that are shorter have narrower digits. With 10 bits, what a pass writes to stays in the fastest cache; with 8,
# counts are soon added up. The shortest need no digits. The longest need more bits to be nearly sorted.
LONG = cython.declare(cython.Py_ssize_t, 2_000_000)
SHORT = cython.declare(cython.Py_ssize_t, 1500)
SHORTEST = cython.declare(cython.Py_ssize_t, 32)
# How many places items may be moved one by one, on average, before all bits are sorted.
MOVES = cython.declare(cython.Py_ssize_t, 4)
ROOM = 3 << 11  # of the working space ``counts``


def sort_parts(
    bits: cython.const[cython.ulonglong][::1],
    starts: cython.Py_ssize_t[::1],
    stops: cython.Py_ssize_t[::1],
    first: cython.Py_ssize_t[::1],
    items: cython.ulonglong[:, ::1],
    counts: cython.Py_ssize_t[::1],
    order: cython.int[::1],
    tied: cython.uchar[::1],
):
    """Write the points of each part [starts[i], stops[i]) by ascending score, equal ones by time, from first[i] on.

    ``tied``, unless it is empty, gets a 1 for each that scores as much as the one before, and a 0 for the others.
    ``bits`` are those of the scores, finite floats. ``items``, two rows as long as the longest part, and ``counts``,
    ``ROOM`` long, are working space.
    """
    if not cython.compiled:
        # So their elements are numbers of Python: NumPy 1 refuses to combine its own unsigned ones with these.
        bits, items = memoryview(bits), memoryview(items)
    sorter: Sorter = Sorter(bits, items, counts)
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(starts.shape[0]):
            sorter.sort(starts[i], stops[i] - starts[i], first[i], order)
            if tied.shape[0] > 0:
                sorter.find_ties(first[i], tied)


@cython.final
@cython.cclass
class Sorter:
    """One part of a series while it is sorted."""

    bits: cython.const[cython.ulonglong][::1]
    items: cython.ulonglong[:, ::1]
    counts: cython.Py_ssize_t[::1]
    start: cython.Py_ssize_t
    points: cython.Py_ssize_t
    row: cython.Py_ssize_t
    # The bits of an item that are its place, and whether they hide any of the keys' bits that differ.
    place: cython.ulonglong
    hidden: cython.bint

    def __init__(
        self,
        bits: cython.const[cython.ulonglong][::1],
        items: cython.ulonglong[:, ::1],
        counts: cython.Py_ssize_t[::1],
    ):
        self.bits = bits
        self.items = items
        self.counts = counts

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sort(
        self,
        start: cython.Py_ssize_t,
        points: cython.Py_ssize_t,
        first: cython.Py_ssize_t,
        order: cython.int[::1],
    ) -> cython.void:
        """Sort a part that begins at a point, and write its points from ``first`` on."""
        k: cython.Py_ssize_t
        width: cython.Py_ssize_t = WIDE_DIGIT if points > LONG else MIDDLE_DIGIT if points > SHORT else NARROW_DIGIT
        self.start = start
        self.points = points
        self.row = 0
        self.place = 0
        while cython.cast(cython.ulonglong, points) > self.place + 1:
            self.place = 2 * self.place + 1
        self.make_items(self.common_bits())
        if points > SHORTEST:
            self.sort_digits(BITS - DIGITS * width, width)
        if not self.move_to_place():
            self.sort_all_bits()
        for k in range(points):
            order[first + k] = start + cython.cast(cython.Py_ssize_t, self.items[self.row, k] & self.place)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def common_bits(self) -> cython.Py_ssize_t:
        """Return how many of the highest bits all keys share, and see what places will hide of the others."""
        key: cython.ulonglong = _key(self.bits[self.start]) if self.points > 0 else 0
        differing: cython.ulonglong = 0
        common: cython.Py_ssize_t = 0
        k: cython.Py_ssize_t
        for k in range(self.points):
            differing |= key ^ _key(self.bits[self.start + k])
        while common < BITS and differing < SIGN >> common:
            common += 1
        common = min(common, BITS - 1)  # all of them, where all keys are equal
        self.hidden = ((differing << common) & self.place) != 0
        return common

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def make_items(self, common: cython.Py_ssize_t) -> cython.void:
        """Make the items in time order, of the bits of their keys behind the common ones."""
        k: cython.Py_ssize_t
        key: cython.ulonglong
        for k in range(self.points):
            key = (_key(self.bits[self.start + k]) << common) & ALL_BITS
            self.items[0, k] = (key | self.place) ^ self.place | cython.cast(cython.ulonglong, k)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sort_digits(self, lowest: cython.Py_ssize_t, width: cython.Py_ssize_t) -> cython.void:
        """Sort by three digits of so many bits, from the lowest bit on; the order among equal ones stays."""
        mask: cython.ulonglong = (cython.cast(cython.ulonglong, 1) << width) - 1
        size: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, 1) << width
        row: cython.Py_ssize_t = self.row
        item: cython.ulonglong
        digit: cython.Py_ssize_t
        at: cython.Py_ssize_t
        before: cython.Py_ssize_t
        d: cython.Py_ssize_t
        k: cython.Py_ssize_t
        for k in range(DIGITS * size):
            self.counts[k] = 0
        for k in range(self.points):
            item = self.items[row, k] >> lowest
            self.counts[cython.cast(cython.Py_ssize_t, item & mask)] += 1
            self.counts[size + cython.cast(cython.Py_ssize_t, (item >> width) & mask)] += 1
            self.counts[2 * size + cython.cast(cython.Py_ssize_t, (item >> 2 * width) & mask)] += 1
        for d in range(DIGITS):
            digit = d * size + cython.cast(cython.Py_ssize_t, (self.items[row, 0] >> (lowest + d * width)) & mask)
            if self.counts[digit] == self.points:
                continue
            before = 0
            for k in range(d * size, (d + 1) * size):
                before += self.counts[k]
                self.counts[k] = before - self.counts[k]
            for k in range(self.points):
                item = self.items[row, k]
                at = d * size + cython.cast(cython.Py_ssize_t, (item >> (lowest + d * width)) & mask)
                self.items[1 - row, self.counts[at]] = item
                self.counts[at] += 1
            row = 1 - row
        self.row = row

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def move_to_place(self) -> cython.bint:
        """Move every item down to its place, unless that takes too many moves; tell whether all are there."""
        left: cython.Py_ssize_t = MOVES * max(self.points, SHORTEST * SHORTEST)
        item: cython.ulonglong
        k: cython.Py_ssize_t
        at: cython.Py_ssize_t
        for k in range(1, self.points):
            item = self.items[self.row, k]
            at = k
            while at > 0 and self.is_below(item, self.items[self.row, at - 1]):
                self.items[self.row, at] = self.items[self.row, at - 1]
                at -= 1
            self.items[self.row, at] = item
            left -= k - at
            if left < 0:
                return False
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def is_below(self, one: cython.ulonglong, other: cython.ulonglong) -> cython.bint:
        """Tell whether an item scores less than another."""
        if not self.hidden or (one ^ other) > self.place:
            return one < other
        return self.key_of(one) < self.key_of(other)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def find_ties(self, first: cython.Py_ssize_t, tied: cython.uchar[::1]) -> cython.void:
        """Write which of the sorted items score as much as the one before, from ``first`` on."""
        same: cython.bint
        k: cython.Py_ssize_t
        for k in range(self.points):
            same = k > 0 and (self.items[self.row, k] ^ self.items[self.row, k - 1]) <= self.place
            if same and self.hidden:
                same = self.key_of(self.items[self.row, k]) == self.key_of(self.items[self.row, k - 1])
            tied[first + k] = same

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def key_of(self, item: cython.ulonglong) -> cython.ulonglong:
        """Return the whole key of an item."""
        return _key(self.bits[self.start + cython.cast(cython.Py_ssize_t, item & self.place)])

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sort_all_bits(self) -> cython.void:
        """Sort by the lower and then by the upper half of the keys."""
        half: cython.Py_ssize_t
        k: cython.Py_ssize_t
        key: cython.ulonglong
        self.make_items(0)
        self.row = 0
        self.hidden = True  # the lower half, in the end
        for half in range(2):
            for k in range(self.points):
                key = self.key_of(self.items[self.row, k])
                key = (key & LOW_HALF) << 32 if half == 0 else (key >> 32) << 32
                self.items[self.row, k] = key | (self.items[self.row, k] & self.place)
            self.sort_digits(BITS - 33, WIDE_DIGIT)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _key(bits: cython.ulonglong) -> cython.ulonglong:
    """Return a number that is ordered as the float of these bits is; the two zeros are one."""
    # Without a branch, as no processor can guess the signs of noise.
    return (bits ^ ((bits >> 63) * ALL_BITS | SIGN)) + (1 if bits == SIGN else 0)


def distinct_scores(
    order: cython.int[::1],
    tied: cython.const[cython.uchar][::1],
    labels: cython.const[cython.uchar][::1],
    detected: cython.int[::1],
    hits: cython.int[::1],
):
    """Write how many points and labelled points score at least each distinct score, from the highest down.

    ``order`` has the points by ascending score, and ``tied`` tells which score as much as the one before. ``labels``
    are bits, eight in a byte, of which a fast cache holds more. Return how many distinct scores there are.
    """
    points: cython.Py_ssize_t = order.shape[0]
    found: cython.Py_ssize_t = 0
    hit: cython.Py_ssize_t = 0
    t: cython.Py_ssize_t
    k: cython.Py_ssize_t
    with cython.nogil:
        for k in range(points - 1, -1, -1):
            t = cython.cast(cython.Py_ssize_t, order[k])
            hit += (cython.cast(cython.Py_ssize_t, labels[t >> 3]) >> (t & 7)) & 1
            # What is not the last of its value is written over.
            detected[found] = points - k
            hits[found] = hit
            found += 1 - cython.cast(cython.Py_ssize_t, tied[k])
    return found


def reached_by_points(order: cython.int[::1], detected: cython.int[::1], levels: cython.int[::1]):
    """Write how many of the distinct scores each point reaches.

    ``order`` has the points by ascending score, and ``detected`` how many have at least each distinct score.
    """
    points: cython.Py_ssize_t = order.shape[0]
    level: cython.Py_ssize_t
    k: cython.Py_ssize_t = 0
    with cython.nogil:
        for level in range(detected.shape[0], 0, -1):
            while k < detected[detected.shape[0] - level]:
                levels[order[points - 1 - k]] = level
                k += 1


def values_of_distinct(
    order: cython.int[::1],
    detected: cython.int[::1],
    scores: cython.const[cython.double][::1],
    values: cython.double[::1],
):
    """Write the distinct scores, from the highest down; the others as for `reached_by_points`."""
    k: cython.Py_ssize_t
    with cython.nogil:
        for k in range(detected.shape[0]):
            values[k] = scores[order[order.shape[0] - detected[k]]]


def levels_of_points(
    order: cython.int[::1],
    scores: cython.const[cython.double][::1],
    low: cython.double,
    width: cython.double,
    thresholds: cython.double[::1],
    levels: cython.int[::1],
    below: cython.Py_ssize_t[::1],
):
    """Write how many of the ascending thresholds each point reaches, and how many points reach fewer than 0, 1, 2, ...

    ``order`` has the points by ascending score. A score counts as ``(score - low) / width``.
    """
    count: cython.Py_ssize_t = thresholds.shape[0]
    k: cython.Py_ssize_t = 0
    level: cython.Py_ssize_t
    until: cython.Py_ssize_t
    with cython.nogil:
        below[0] = 0
        for level in range(count + 1):
            until = order.shape[0]
            if level < count:
                until = below[level + 1] = _first_at_least(thresholds[level], order, scores, low, width, k)
            while k < until:
                levels[order[k]] = level
                k += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _first_at_least(
    threshold: cython.double,
    order: cython.int[::1],
    scores: cython.const[cython.double][::1],
    low: cython.double,
    width: cython.double,
    begin: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Return where the points that reach a threshold begin, from a place on that they are not before."""
    end: cython.Py_ssize_t = order.shape[0]
    middle: cython.Py_ssize_t
    while begin < end:
        middle = (begin + end) // 2
        if (scores[order[middle]] - low) / width < threshold:
            begin = middle + 1
        else:
            end = middle
    return begin
