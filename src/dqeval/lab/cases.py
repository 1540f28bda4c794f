"""Short series for questions about metrics: every one up to some length, random ones, and how they are drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations_with_replacement, pairwise, product
from random import Random
from typing import Literal

import numpy as np

from dqeval.core.types import BoolArray, FloatArray

Levels = tuple[int, ...]


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


def runs(flags: Sequence[int]) -> list[range]:
    """Return the runs of what is not 0.

    Examples
    --------
    >>> runs((1, 1, 0, 1))
    [range(0, 2), range(3, 4)]
    """
    padded = (0, *(1 if flag else 0 for flag in flags), 0)
    borders = [i for i, (before, after) in enumerate(pairwise(padded)) if before != after]
    return [range(start, stop) for start, stop in zip(borders[::2], borders[1::2], strict=True)]


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
    found = [_random_case(random, 0 if takes == "detections" else 9) for _ in range(count)]
    return tuple(sorted(found, key=len))


def _random_case(random: Random, noise: int) -> Case:
    """Return a random series; if there is noise, with scores, which are higher where there would be detections."""
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
    if noise:
        found = [random.randint(0, noise) + 5 * point for point in found]
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
