"""Thresholds of scores: where a metric of detections is best, and the shortest number that stands for one."""

from __future__ import annotations

import math
import time
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from typing import Literal, Protocol

import numpy as np

from dqeval.core.matching import Match
from dqeval.core.prepared import Scored
from dqeval.core.sweep import ScoreSweep, levels_above_evenly_spaced, ratio
from dqeval.core.types import BoolArray, FloatArray

_MOST_DIGITS = 17  # of a number, which tell it from all others
_FLOOR = Context(prec=400, rounding=ROUND_FLOOR)


class Parts(Protocol):
    """A metric of detections, and its precision and recall, which are NaN if it has none."""

    @property
    def value(self) -> float:
        """The metric."""
        ...

    @property
    def precision(self) -> float:
        """As the metric defines it."""
        ...

    @property
    def recall(self) -> float:
        """As the metric defines it."""
        ...


@dataclass(frozen=True, slots=True)
class Swept:
    """A metric of detections at the best of many thresholds, and its parts there."""

    value: float
    precision: float
    recall: float


@dataclass(frozen=True, slots=True)
class Best:
    """The best that a metric of detections reached, and where.

    Attributes
    ----------
    parts : Parts
    lowest : float or None
        The lowest score detected there, as given; None if none was.
    below : float
        The highest score that is not detected there; minus infinity if all were.
    """

    parts: Parts
    lowest: float | None
    below: float = -math.inf


def nothing_detected(parts: Parts) -> Best:
    """Return what is best if no threshold is better than to detect nothing: 0, and no part that the metric lacks."""
    precision, recall = (math.nan if math.isnan(part) else 0.0 for part in (parts.precision, parts.recall))
    return Best(Swept(0.0, precision, recall), None)


NOTHING = nothing_detected(Swept(0.0, 0.0, 0.0))
AT_ONCE = 1 << 14  # thresholds of which the best is sought at once: more would need more memory


def detections_at(scored: Scored, count: int | Literal["all"]) -> Iterator[BoolArray]:
    """Yield the detections at each threshold, from the highest down, each different from the one before.

    With a count, detected is what lies above an evenly spaced value from the lowest score to the highest, so nothing at
    the highest. With "all", what is at or above each distinct score.
    """
    if count == "all":
        for value in scored.distinct.values:
            yield scored.raw >= value
        return
    yield from above_evenly_spaced(scored.threshold_scores, count)


def above_evenly_spaced(scores: FloatArray, count: int) -> Iterator[BoolArray]:
    """Yield what lies above each of so many values from the lowest score to the highest, from the highest down.

    Where nothing lies above, or nothing more than above the value before, nothing is yielded.
    """
    levels = levels_above_evenly_spaced(scores, count)
    for level in np.flatnonzero(np.bincount(levels))[::-1]:
        if level > 0:
            yield levels >= level


class Search:
    """The search for the best value of a metric of detections, one threshold after the other.

    Attributes
    ----------
    best : Best
    seconds : float
        How long the metric has taken.
    """

    def __init__(self, compute: Callable[[Match], Parts]) -> None:
        self._compute = compute
        self._error: Exception | None = None
        self.best = NOTHING
        self.seconds = 0.0

    def take(self, match: Match, raw: FloatArray) -> None:
        """Compute the metric for what is detected; not any more after an error, which is kept for later."""
        if self._error is not None:
            return
        began = time.perf_counter()
        try:
            parts = self._compute(match)
        except Exception as error:
            self._error = error
            return
        self.seconds += time.perf_counter() - began
        if self.best is NOTHING:
            self.best = nothing_detected(parts)  # now it is known which parts there are
        if parts.value > self.best.parts.value:
            below = raw[~match.flags].max(initial=-math.inf)
            self.best = Best(parts, float(raw[match.flags].min()), float(below))

    def found(self) -> Best:
        """Return the best; at a tie, at the highest threshold. If the metric has failed, raise its error."""
        if self._error is not None:
            raise self._error
        return self.best


def search(scored: Scored, searches: Collection[Search], count: int | Literal["all"]) -> None:
    """Compute metrics at each threshold, from the highest down: what is detected there is looked at once for all."""
    for flags in detections_at(scored, count):
        match = Match(scored.labelled, flags)
        for each in searches:
            each.take(match, scored.raw)


def best_in_sweep(sweep: ScoreSweep, found: Sequence[FloatArray]) -> Best:
    """Return the best over the thresholds, from precision and recall at each, and the metric if it is no F1.

    At a tie, it is the highest threshold.
    """
    precision, recall, *value = _one_per_threshold(found, sweep.count)
    best, at = -math.inf, 0
    for first in range(0, sweep.count, AT_ONCE):
        some = slice(first, first + AT_ONCE)
        values = value[0][some] if value else _f1(precision[some], recall[some])
        highest = int(np.argmax(values))
        if values[highest] > best:
            best, at = float(values[highest]), first + highest
    return best_or_nothing(Swept(best, float(precision[at]), float(recall[at])), *sweep.scores_at(at))


def best_or_nothing(parts: Swept, lowest: float, below: float) -> Best:
    """Return the best, with the scores around its threshold; to detect nothing is as good where it is 0."""
    return Best(parts, lowest, below) if parts.value > 0 else nothing_detected(parts)


def best_values(found: Sequence[FloatArray], count: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return precision and recall at so many thresholds, and the metric, which is their F1 if nothing else is given."""
    precision, recall, *value = _one_per_threshold(found, count)
    return precision, recall, value[0] if value else _f1(precision, recall)


def _one_per_threshold(found: Sequence[FloatArray], count: int) -> Sequence[FloatArray]:
    """Check what a metric returned, which may be anyone's: another length would give the wrong threshold."""
    shapes = [np.shape(part) for part in found] if isinstance(found, (tuple, list)) else [np.shape(found)]
    if len(shapes) not in (2, 3) or set(shapes) != {(count,)}:
        got = " and ".join(map(str, shapes[:4]))
        rule = f"at_every_level must return two arrays, or three, with one number for each of {count:,} thresholds"
        raise ValueError(f"{rule}: got {'shapes' if len(shapes) > 1 else 'a single shape'} {got}")
    parts = [np.asarray(part, dtype=np.float64) for part in found]
    # Where there is the metric itself, precision and recall may be unknown.
    if any(math.isnan(part.sum()) for part in parts[2:] or parts):
        raise ValueError("at_every_level returned NaN: where nothing is defined, raise dqeval.UndefinedError")
    return parts


def _f1(precision: FloatArray, recall: FloatArray) -> FloatArray:
    return ratio(2 * precision * recall, precision + recall)


def shortest_threshold(scores: FloatArray, lowest: float, *, around: float | None = None) -> float:
    """Return the number with the fewest digits that separates the scores from ``lowest`` on from those below.

    It is ``around`` shortened, or ``lowest`` if that is not given, or separates nothing.

    Examples
    --------
    >>> scores = np.array([0.1, 0.7123, 0.7839, 0.9])
    >>> shortest_threshold(scores, lowest=0.7839), shortest_threshold(scores, lowest=0.7839, around=0.7301)
    (0.78, 0.73)
    """
    below = scores[scores < lowest]
    highest_below = float(below.max()) if len(below) else -np.inf
    exact = Decimal(lowest if around is None else around)

    def rounded(digits: int) -> float:
        return float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - digits + 1), context=_FLOOR))

    # More digits give no smaller number, so those that are not too small come last.
    enough = 1 + bisect_left(range(1, _MOST_DIGITS + 1), True, key=lambda digits: rounded(digits) > highest_below)
    return found if enough <= _MOST_DIGITS and (found := rounded(enough)) <= lowest else lowest
