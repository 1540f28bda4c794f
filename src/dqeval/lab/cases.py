"""Short series for questions about metrics: every one up to some length, random ones, and how they are drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import combinations_with_replacement, pairwise, product
from random import Random
from typing import Literal

import numpy as np

from dqeval.core.types import BoolArray, FloatArray

Levels = tuple[int, ...]

LONGEST_STRIP = 60  # points that are drawn one by one
MOST_RUNS = 8  # that are named one by one


@dataclass(frozen=True, slots=True)
class Case:
    """Labels with detections or scores, and the near range.

    Attributes
    ----------
    labels : tuple of int
        1 marks an anomaly.
    found : tuple of int
        The detections, 0 or 1; or the scores.
    near : int
    """

    labels: Levels
    found: Levels
    near: int

    def __len__(self) -> int:
        return len(self.labels)

    def with_found(self, found: Sequence[int]) -> Case:
        """Return the same labels with other detections or scores."""
        return replace(self, found=tuple(found))

    def with_point(self, i: int, found: int) -> Case:
        """Return the case with another detection or score at one point."""
        return self.with_found((*self.found[:i], found, *self.found[i + 1 :]))

    def with_labels(self, labels: Sequence[int]) -> Case:
        """Return the same detections with other labels."""
        return replace(self, labels=tuple(labels))

    @property
    def events(self) -> list[range]:
        """The labelled events."""
        return runs(self.labels)

    @property
    def alarms(self) -> list[range]:
        """The detected runs of points."""
        return runs(self.found)

    @property
    def wrong(self) -> list[range]:
        """The detected runs without a point of an event."""
        return [alarm for alarm in self.alarms if not any(self.labels[alarm.start : alarm.stop])]

    @property
    def far(self) -> set[int]:
        """The points that are farther than the near range from every event."""
        close = {i for event in self.events for i in range(event.start - self.near, event.stop + self.near)}
        return set(range(len(self))) - close

    @property
    def false_alarms(self) -> list[range]:
        """The detected runs that are farther than the near range from every event."""
        far = self.far
        return [alarm for alarm in self.alarms if far.issuperset(alarm)]

    def arrays(self) -> tuple[BoolArray, FloatArray]:
        """Return labels and detections or scores as metrics take them."""
        return np.array(self.labels, dtype=bool), np.array(self.found, dtype=np.float64)

    def strips(self) -> tuple[str, str]:
        """Return labels and detections, or scores, as a character per point.

        Examples
        --------
        >>> Case((0, 1, 1, 0), (0, 0, 1, 1), near=1).strips()
        ('.##.', '..^^')
        >>> Case((0, 1, 1, 0), (0, 2, 10, 1), near=1).strips()
        ('.##.', '0 2 10 1')
        """
        labels = "".join(".#"[label] for label in self.labels)
        if max(self.found, default=0) <= 1:
            return labels, "".join(".^"[point] for point in self.found)
        return labels, " ".join(map(str, self.found)) if max(self.found) > 9 else "".join(map(str, self.found))

    def drawn(self) -> tuple[str, str]:
        """Return labels and detections point by point, or where they are, if they are long."""
        if len(self) <= LONGEST_STRIP:
            return self.strips()
        return f"{_places(self.events)} of {len(self):,} points", _places(self.alarms)


def _places(found: list[range]) -> str:
    named = [f"[{run.start}, {run.stop})" for run in found[:MOST_RUNS]]
    more = f" and {len(found) - MOST_RUNS} more" if len(found) > MOST_RUNS else ""
    return f"{', '.join(named) or 'nothing'}{more}"


def runs(flags: Sequence[int]) -> list[range]:
    """Return the runs of what is not 0.

    Examples
    --------
    >>> runs((1, 1, 0, 1))
    [range(0, 2), range(3, 4)]
    """
    return list(_runs(tuple(flags)))


@lru_cache(maxsize=4096)  # properties ask for those of the same short series again and again
def _runs(flags: Levels) -> tuple[range, ...]:
    padded = (0, *(1 if flag else 0 for flag in flags), 0)
    borders = [i for i, (before, after) in enumerate(pairwise(padded)) if before != after]
    return tuple(range(start, stop) for start, stop in zip(borders[::2], borders[1::2], strict=True))


def every_detection(length: int, near: int) -> Iterator[Case]:
    """Yield all labels of a length that have an event and a normal point, with all detections; few points first."""
    points = sorted(product((0, 1), repeat=length), key=lambda flags: (sum(flags), flags))
    yield from (Case(labels, found, near) for labels in points[1:-1] for found in points)


def one_event_one_alarm(length: int, near: int, longest: int) -> Iterator[Case]:
    """Yield all labels of a length with one event, with one alarm or none; neither lasts more than some points."""
    flags = [_flags(length, run) for run in every_run(length) if len(run) <= longest]
    nothing = (0,) * length
    yield from (Case(labels, found, near) for labels in flags for found in (nothing, *flags))


def every_run(length: int) -> list[range]:
    """Return every run of points of a series, short ones first."""
    found = [range(a, b) for a, b in combinations_with_replacement(range(length + 1), 2) if a < b]
    return sorted(found, key=len)


def every_score(length: int, near: int, levels: int = 3) -> Iterator[Case]:
    """Yield all labels of a length that have an event and a normal point, with all scores of some levels."""
    scores = [found for found in product(range(levels), repeat=length) if len(set(found)) == max(found) + 1]
    labelled = sorted(product((0, 1), repeat=length), key=sum)
    yield from (Case(labels, found, near) for labels in labelled[1:-1] for found in scores)


@cache
def random_cases(takes: Literal["detections", "scores"], count: int) -> tuple[Case, ...]:
    """Return random series, short ones first: events that are hit or missed, misses near them, false alarms."""
    random = Random(0)
    if takes == "scores":
        found = [_with_scores(random, _random_case(random)) for _ in range(count)]
    else:
        kinds = (_random_case, _random_case, _one_of_each, _two_in_the_middle)
        found = [kinds[i % len(kinds)](random) for i in range(count)]
    return tuple(sorted(found, key=len))


def _with_scores(random: Random, case: Case) -> Case:
    """Return a case with scores, which are higher where there are detections."""
    return case.with_found([random.randint(0, 9) + 5 * point for point in case.found])


def _one_of_each(random: Random) -> Case:
    """Return an event in the middle of a series, with one alarm beside it or on it, or none."""
    around, size = random.randint(6, 20), random.randint(1, 12)
    length, near = 2 * around + size, random.randint(1, 10)
    alarm = range(0)
    if random.random() < 0.8:
        start = random.choice((around, max(0, around - random.randint(2, near + 1)), random.randint(0, length - 3)))
        alarm = range(start, min(length, start + random.randint(1, 3)))
    return Case(_flags(length, range(around, around + size)), _flags(length, alarm), near)


def _two_in_the_middle(random: Random) -> Case:
    """Return two events that are as far from each other as twice from the ends of the series, and some alarms."""
    around, sizes = random.randint(2, 8), (random.randint(1, 5), random.randint(1, 5))
    second = 3 * around + sizes[0]
    length = second + sizes[1] + around
    labels = [0] * length
    labels[around : around + sizes[0]] = [1] * sizes[0]
    labels[second : second + sizes[1]] = [1] * sizes[1]
    found = [int(random.random() < 0.2) for _ in range(length)]
    for quiet in (0, 2 * around + sizes[0] - 1, 2 * around + sizes[0], length - 1):
        found[quiet] = 0
    return Case(tuple(labels), tuple(found), random.randint(1, 5))


def _random_case(random: Random) -> Case:
    """Return a random series with up to three events, some of them hit, and up to four other alarms."""
    length, near = random.randint(8, 50), random.randint(1, 5)
    labels, found = [0] * length, [0] * length
    for _ in range(random.randint(1, 3)):
        event = _random_run(random, length - 1, 6)
        labels[event.start : event.stop] = [1] * len(event)
        if random.random() < 0.7:
            part = _random_run(random, len(event), len(event))
            found[event.start + part.start : event.start + part.stop] = [1] * len(part)
    for _ in range(random.randint(0, 4)):
        alarm = _random_run(random, length, 4)
        found[alarm.start : alarm.stop] = [1] * len(alarm)
    return Case(tuple(labels), tuple(found), near)


def _random_run(random: Random, length: int, longest: int) -> range:
    size = random.randint(1, min(longest, length))
    start = random.randint(0, length - size)
    return range(start, start + size)


def simplified(case: Case) -> Iterator[Case]:
    """Yield cases that are a little simpler: without some points, with a shorter near range, with lower scores."""
    n = len(case)
    sizes = dict.fromkeys(size for size in (n // 2, n // 4, n // 8, 1) if size)
    for size in sizes:
        for start in range(0, n - size + 1, size):
            labels, found = (flags[:start] + flags[start + size :] for flags in (case.labels, case.found))
            if len(set(labels)) == 2:
                yield Case(labels, found, case.near)
    if case.near > 1:
        yield replace(case, near=case.near - 1)
    yield from (case.with_point(i, score - 1) for i, score in enumerate(case.found) if score)


def _flags(length: int, run: range) -> Levels:
    return tuple(1 if i in run else 0 for i in range(length))
