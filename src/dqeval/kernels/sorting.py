# cython: language_level=3, wraparound=False, cdivision=True, initializedcheck=False
"""Points by ascending score, of a whole series or of each of its parts: a radix sort.

A score's *key* is a whole number of 64 bits that is ordered as the scores are. An *item* is one number for a point: the
upper bits of its key, and below them its place in the part. Items are put in the order of their highest digits, the
lowest of these first. What is then out of order differs in lower bits, and is seldom far from its place: it is moved
there one by one. Where that would take long, the part is sorted by all bits instead.

To sort by a digit reads and writes all items, which takes long where no cache holds them. So a long part is dealt out
to *buckets* first, by a digit that has most of the bits that tell scores apart; each is then sorted in a cache.
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
# counts are soon added up. The shortest need no digits.
SHORT = cython.declare(cython.Py_ssize_t, 1500)
SHORTEST = cython.declare(cython.Py_ssize_t, 32)
# By how many bits items are dealt out.
BUCKET_BITS = cython.declare(cython.Py_ssize_t, 16)
BUCKET_DIGITS = cython.declare(cython.Py_ssize_t, 1 << 16)
# How often what is long, or all points, are halved for a bucket: more than a thousand would not stay in fast caches.
OF_LONG = cython.declare(cython.Py_ssize_t, 4)
OF_POINTS = cython.declare(cython.Py_ssize_t, 9)
# A bucket is sorted by one digit more if it is several times as large, or if its digits differ in many bits: all of its
# points may have a few of these digits.
LARGE_BUCKET = cython.declare(cython.Py_ssize_t, 4)
MANY_BITS = cython.declare(cython.Py_ssize_t, 8)
# How many places items may be moved one by one, on average, before all bits are sorted.
MOVES = cython.declare(cython.Py_ssize_t, 4)
# Of the working space: ``counts``, also if parts are long, and what is known of each bucket. Any two neighbours hold
# more points than one should.
ROOM, ROOM_FOR_LONG = 3 << 11, 1 << 16
BUCKETS = (2 << 9) + 4


def sort_parts(
    bits: cython.const[cython.ulonglong][::1],
    starts: cython.Py_ssize_t[::1],
    stops: cython.Py_ssize_t[::1],
    first: cython.Py_ssize_t[::1],
    long: cython.Py_ssize_t,
    items: cython.ulonglong[:, ::1],
    counts: cython.int[::1],
    buckets: cython.Py_ssize_t[:, ::1],
    order: cython.int[::1],
    tied: cython.uchar[::1],
):
    """Write the points of each part [starts[i], stops[i]) by ascending score, equal ones by time, from first[i] on.

    ``tied``, unless it is empty, gets a 1 for each that scores as much as the one before, and a 0 for the others.
    ``bits`` are those of the scores, finite floats. Parts of more points than ``long`` are dealt out to buckets.
    ``items``, two rows as long as the longest part, ``counts``, ``ROOM`` long, or ``ROOM_FOR_LONG``, and ``buckets``,
    four rows ``BUCKETS`` long, are working space.
    """
    if not cython.compiled:
        # So their elements are numbers of Python: NumPy 1 refuses to combine its own unsigned ones with these.
        bits, items = memoryview(bits), memoryview(items)
    sorter: Sorter = Sorter(bits, items, counts, buckets, order, tied)
    i: cython.Py_ssize_t
    with cython.nogil:
        for i in range(starts.shape[0]):
            sorter.sort(starts[i], stops[i] - starts[i], first[i], long)


@cython.final
@cython.cclass
class Sorter:
    """One part of a series while it is sorted."""

    bits: cython.const[cython.ulonglong][::1]
    items: cython.ulonglong[:, ::1]
    counts: cython.int[::1]
    # Of each bucket where it begins, where its next item goes, its lowest digit, and the one behind its highest.
    buckets: cython.Py_ssize_t[:, ::1]
    order: cython.int[::1]
    tied: cython.uchar[::1]
    # The part: its first point, and where it is to be written.
    start: cython.Py_ssize_t
    first: cython.Py_ssize_t
    # The bits of an item that are its place, and whether they hide any of the keys' bits that differ.
    place: cython.ulonglong
    hidden: cython.bint
    # The items to sort: all of the part, or a bucket. They begin at ``begin`` in row 1, or at 0 in row 0; ``row`` tells
    # where they are. None is below ``base``.
    points: cython.Py_ssize_t
    begin: cython.Py_ssize_t
    row: cython.Py_ssize_t
    base: cython.ulonglong

    def __init__(
        self,
        bits: cython.const[cython.ulonglong][::1],
        items: cython.ulonglong[:, ::1],
        counts: cython.int[::1],
        buckets: cython.Py_ssize_t[:, ::1],
        order: cython.int[::1],
        tied: cython.uchar[::1],
    ):
        self.bits = bits
        self.items = items
        self.counts = counts
        self.buckets = buckets
        self.order = order
        self.tied = tied

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sort(
        self, start: cython.Py_ssize_t, points: cython.Py_ssize_t, first: cython.Py_ssize_t, long: cython.Py_ssize_t
    ) -> cython.void:
        """Sort a part that begins at a point, and write its points from ``first`` on."""
        common: cython.Py_ssize_t
        width: cython.Py_ssize_t = MIDDLE_DIGIT if points > SHORT else NARROW_DIGIT
        self.start = start
        self.first = first
        self.points = points
        self.begin = 0
        self.row = 0
        self.base = 0
        self.place = 0
        while cython.cast(cython.ulonglong, points) > self.place + 1:
            self.place = 2 * self.place + 1
        common = self.common_bits()
        if points > long:
            if not self.sort_buckets(common, 1 + max(long >> OF_LONG, points >> OF_POINTS)):
                self.points = points
                self.sort_all_bits()
            return
        self.make_items(common)
        if points > SHORTEST:
            self.sort_digits(BITS - DIGITS * width, width, DIGITS)
        if self.move_to_place():
            self.write()
        else:
            self.sort_all_bits()

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
        """Make the items in time order."""
        k: cython.Py_ssize_t
        place: cython.ulonglong = self.place
        start: cython.Py_ssize_t = self.start
        for k in range(self.points):
            self.items[0, k] = _item(self.bits[start + k], k, common, place)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sort_buckets(self, common: cython.Py_ssize_t, most: cython.Py_ssize_t) -> cython.bint:
        """Sort by buckets of so many points; tell whether all could be sorted."""
        count: cython.Py_ssize_t
        b: cython.Py_ssize_t = 0
        _count_bucket_digits(self.bits, self.start, self.points, common, self.counts)
        count = self.make_buckets(most)
        _deal_out(self.bits, self.start, self.points, common, self.place, self.counts, self.buckets, self.items)
        while b < count and self.sort_bucket(b, LARGE_BUCKET * most):
            b += 1
        return b == count

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def make_buckets(self, most: cython.Py_ssize_t) -> cython.Py_ssize_t:
        """Put digits that follow one another together, and note for each its bucket in place of how many it has.

        A bucket has at most so many points, or a single digit. Return how many there are. Behind the last is the end.
        """
        b: cython.Py_ssize_t = 0
        begin: cython.Py_ssize_t = 0
        size: cython.Py_ssize_t = 0
        digit: cython.Py_ssize_t
        for digit in range(BUCKET_DIGITS):
            if size > 0 and size + self.counts[digit] > most:
                begin += size
                size = 0
                b += 1
            if size == 0:
                self.buckets[0, b] = self.buckets[1, b] = begin
                self.buckets[2, b] = digit
            if self.counts[digit] > 0:
                self.buckets[3, b] = digit + 1
            size += self.counts[digit]
            self.counts[digit] = b
        self.buckets[0, b + 1] = begin + size
        return b + 1

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sort_bucket(self, b: cython.Py_ssize_t, large: cython.Py_ssize_t) -> cython.bint:
        """Sort the items of a bucket, and write their points; tell whether they could be sorted."""
        differing: cython.Py_ssize_t = BITS - BUCKET_BITS  # bits
        digits: cython.Py_ssize_t = DIGITS - 1
        width: cython.Py_ssize_t = MIDDLE_DIGIT
        span: cython.Py_ssize_t = self.buckets[3, b] - self.buckets[2, b]  # of its digits
        self.begin = self.buckets[0, b]
        self.points = self.buckets[0, b + 1] - self.begin
        self.row = 1
        self.base = cython.cast(cython.ulonglong, self.buckets[2, b]) << (BITS - BUCKET_BITS)
        while span > 1:
            span = (span + 1) >> 1
            differing += 1
        if self.points > large or differing > BITS - BUCKET_BITS + MANY_BITS:
            digits = DIGITS
            width = WIDE_DIGIT
        if self.points > SHORTEST:
            self.sort_digits(differing - digits * width, width, digits)
        if not self.move_to_place():
            return False
        self.write()
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def sort_digits(
        self, lowest: cython.Py_ssize_t, width: cython.Py_ssize_t, digits: cython.Py_ssize_t
    ) -> cython.void:
        """Sort by some digits of so many bits, from the lowest bit on; the order among equal ones stays."""
        mask: cython.ulonglong = (cython.cast(cython.ulonglong, 1) << width) - 1
        d: cython.Py_ssize_t
        begin: cython.Py_ssize_t = self.begin if self.row == 1 else 0
        _count_digits(self.items, self.row, begin, self.points, self.base, lowest, width, digits, self.counts)
        for d in range(digits):
            begin = self.begin if self.row == 1 else 0
            if _sort_digit(
                self.items,
                self.row,
                begin,
                self.begin - begin,
                self.points,
                self.base,
                lowest + d * width,
                mask,
                d << width,
                self.counts,
            ):
                self.row = 1 - self.row

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def move_to_place(self) -> cython.bint:
        """Move every item down to its place, unless that takes too many moves; tell whether all are there."""
        left: cython.Py_ssize_t = MOVES * max(self.points, SHORTEST * SHORTEST)
        begin: cython.Py_ssize_t = self.begin if self.row == 1 else 0
        item: cython.ulonglong
        k: cython.Py_ssize_t
        at: cython.Py_ssize_t
        for k in range(begin + 1, begin + self.points):
            item = self.items[self.row, k]
            at = k
            while at > begin and self.is_below(item, self.items[self.row, at - 1]):
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
    def write(self) -> cython.void:
        """Write the points of the sorted items, and which of them score as much as the one before.

        The first item of a bucket has another digit than those before, so it scores more.
        """
        begin: cython.Py_ssize_t = self.begin if self.row == 1 else 0
        first: cython.Py_ssize_t = self.first + self.begin
        item: cython.ulonglong
        previous: cython.ulonglong
        same: cython.bint
        k: cython.Py_ssize_t
        for k in range(self.points):
            item = self.items[self.row, begin + k]
            self.order[first + k] = self.start + cython.cast(cython.Py_ssize_t, item & self.place)
        if self.tied.shape[0] == 0:
            return
        for k in range(self.points):
            item = self.items[self.row, begin + k]
            previous = self.items[self.row, begin + k - 1] if k > 0 else 0
            same = k > 0 and (item ^ previous) <= self.place
            if same and self.hidden:
                same = self.key_of(item) == self.key_of(previous)
            self.tied[first + k] = same

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
        """Sort all of the part by the lower and then by the upper half of the keys, and write its points."""
        half: cython.Py_ssize_t
        k: cython.Py_ssize_t
        key: cython.ulonglong
        self.make_items(0)
        self.begin = 0
        self.row = 0
        self.base = 0
        self.hidden = True  # the lower half, in the end
        for half in range(2):
            for k in range(self.points):
                key = self.key_of(self.items[self.row, k])
                key = (key & LOW_HALF) << 32 if half == 0 else (key >> 32) << 32
                self.items[self.row, k] = key | (self.items[self.row, k] & self.place)
            self.sort_digits(BITS - 33, WIDE_DIGIT, DIGITS)
        self.write()


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _item(
    bits: cython.ulonglong, k: cython.Py_ssize_t, common: cython.Py_ssize_t, place: cython.ulonglong
) -> cython.ulonglong:
    """Return the item of the k-th point, of the bits of its key behind the common ones."""
    return ((_key(bits) << common) & ALL_BITS | place) ^ place | cython.cast(cython.ulonglong, k)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _count_bucket_digits(
    bits: cython.const[cython.ulonglong][::1],
    start: cython.Py_ssize_t,
    points: cython.Py_ssize_t,
    common: cython.Py_ssize_t,
    counts: cython.int[::1],
) -> cython.void:
    """Count how many points have each digit by which they are dealt out."""
    k: cython.Py_ssize_t
    for k in range(BUCKET_DIGITS):
        counts[k] = 0
    for k in range(points):
        counts[_bucket_digit(_key(bits[start + k]) << common)] += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _deal_out(
    bits: cython.const[cython.ulonglong][::1],
    start: cython.Py_ssize_t,
    points: cython.Py_ssize_t,
    common: cython.Py_ssize_t,
    place: cython.ulonglong,
    of_digits: cython.int[::1],
    buckets: cython.Py_ssize_t[:, ::1],
    items: cython.ulonglong[:, ::1],
) -> cython.void:
    """Make the items, and deal them out to the buckets of their digits, in time order."""
    item: cython.ulonglong
    b: cython.Py_ssize_t
    k: cython.Py_ssize_t
    for k in range(points):
        item = _item(bits[start + k], k, common, place)
        b = of_digits[_bucket_digit(item)]
        items[1, buckets[1, b]] = item
        buckets[1, b] += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _bucket_digit(shifted: cython.ulonglong) -> cython.Py_ssize_t:
    """Return the digit by which a point is dealt out."""
    return cython.cast(cython.Py_ssize_t, (shifted & ALL_BITS) >> (BITS - BUCKET_BITS))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _count_digits(
    items: cython.ulonglong[:, ::1],
    row: cython.Py_ssize_t,
    begin: cython.Py_ssize_t,
    points: cython.Py_ssize_t,
    base: cython.ulonglong,
    lowest: cython.Py_ssize_t,
    width: cython.Py_ssize_t,
    digits: cython.Py_ssize_t,
    counts: cython.int[::1],
) -> cython.void:
    """Count how many items have each digit, for two or three digits at once."""
    size: cython.Py_ssize_t = cython.cast(cython.Py_ssize_t, 1) << width
    mask: cython.ulonglong = size - 1
    item: cython.ulonglong
    k: cython.Py_ssize_t
    for k in range(digits * size):
        counts[k] = 0
    for k in range(begin, begin + points):
        item = (items[row, k] - base) >> lowest
        counts[cython.cast(cython.Py_ssize_t, item & mask)] += 1
        counts[size + cython.cast(cython.Py_ssize_t, (item >> width) & mask)] += 1
        if digits > 2:
            counts[2 * size + cython.cast(cython.Py_ssize_t, (item >> 2 * width) & mask)] += 1


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _sort_digit(
    items: cython.ulonglong[:, ::1],
    row: cython.Py_ssize_t,
    begin: cython.Py_ssize_t,
    other_begin: cython.Py_ssize_t,
    points: cython.Py_ssize_t,
    base: cython.ulonglong,
    lowest: cython.Py_ssize_t,
    mask: cython.ulonglong,
    counted: cython.Py_ssize_t,
    counts: cython.int[::1],
) -> cython.bint:
    """Sort by one digit, into the other row, unless all items have the same; tell whether they are there.

    How many have each digit is in ``counts``, from ``counted`` on.
    """
    item: cython.ulonglong
    digit: cython.Py_ssize_t
    before: cython.int = 0
    k: cython.Py_ssize_t
    digit = cython.cast(cython.Py_ssize_t, ((items[row, begin] - base) >> lowest) & mask)
    if counts[counted + digit] == points:
        return False
    for k in range(counted, counted + cython.cast(cython.Py_ssize_t, mask) + 1):
        before += counts[k]
        counts[k] = before - counts[k]
    for k in range(begin, begin + points):
        item = items[row, k]
        digit = cython.cast(cython.Py_ssize_t, ((item - base) >> lowest) & mask)
        items[1 - row, other_begin + counts[counted + digit]] = item
        counts[counted + digit] += 1
    return True


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _key(bits: cython.ulonglong) -> cython.ulonglong:
    """Return a number that is ordered as the float of these bits is; the two zeros are one."""
    # Without a branch, as no processor can guess the signs of noise.
    return (bits ^ ((bits >> 63) * ALL_BITS | SIGN)) + (1 if bits == SIGN else 0)
