"""What is known of each event, in columns, of which `dqeval.explain` makes an object per event when it is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dqeval.analysis.explain_result import EventExplanation
from dqeval.core.pieces import Parts
from dqeval.core.timeline import TimeAxis
from dqeval.core.types import BoolArray, DQEResult, FloatArray

_FEWEST_DIGITS = 4
_ALL_DIGITS = 17
OUTSIDE = ("near miss", "false alarm")  # what is not in an event


class Digits:
    """How many digits tell scores, which are given in ascending order, from each other; four at least."""

    def __init__(self, ascending: FloatArray) -> None:
        self._ordered = ascending

    def shown(self, score: float) -> str:
        """Return a score as text."""
        return self.heights(np.array([score])).texts()[0]

    def heights(self, scores: FloatArray) -> Heights:
        """Return a score at each event with the digits it needs; minus infinity stands for none."""
        first, stop = (np.searchsorted(self._ordered, scores, side=side) for side in ("left", "right"))
        last = len(self._ordered) - 1
        below = np.where(first > 0, self._ordered[np.maximum(first - 1, 0)], -np.inf)
        above = np.where(stop <= last, self._ordered[np.minimum(stop, last)], np.inf)
        needed = list(map(_digits_needed, scores.tolist(), below.tolist(), above.tolist()))
        return Heights(scores, np.array(needed, dtype=np.int8))


def _digits_needed(score: float, below: float, above: float) -> int:
    """Return how many digits tell a score from the next lower and the next higher one; 0 for minus infinity."""
    if score == -np.inf:
        return 0
    fewer = range(_FEWEST_DIGITS, _ALL_DIGITS)
    return next((digits for digits in fewer if below < float(_text(score, digits)) < above), _ALL_DIGITS)


def _text(score: float, digits: int) -> str:
    return repr(score) if digits == _ALL_DIGITS else f"{score:.{digits}g}"


@dataclass(frozen=True, slots=True, eq=False)
class Heights:
    """A score at each event, and the digits it is shown with; 0 digits where there is none.

    Attributes
    ----------
    scores : array of float
    digits : array of int
    """

    scores: FloatArray
    digits: NDArray[np.int8]

    def texts(self) -> list[str]:
        """Return the score at each event as text; empty where there is none."""
        pairs = zip(self.scores.tolist(), self.digits.tolist(), strict=True)
        return [_text(score, digits) if digits else "" for score, digits in pairs]


@dataclass(frozen=True, slots=True, eq=False)
class ExplainedEvents:
    """What is known of each event.

    Attributes
    ----------
    result : DQEResult
    captured : array of bool, shape (n_events,)
    captured_to, first_near_miss, first_false_alarm : Heights
    parts, overhang : Parts
        What is detected apart from alarms that capture events, and what these have beyond the events.
    costs : mapping of str to array of float
    axis : TimeAxis, optional
    binary : bool
        These and the above as in `EventExplanation`.
    """

    result: DQEResult
    captured: BoolArray
    captured_to: Heights
    first_near_miss: Heights
    first_false_alarm: Heights
    parts: Parts
    overhang: Parts
    costs: Mapping[str, FloatArray]
    axis: TimeAxis | None
    binary: bool

    def made(self) -> tuple[EventExplanation, ...]:
        """Return the events as objects, which take ten times as much memory."""
        return tuple(self._each())

    def _each(self) -> Iterator[EventExplanation]:
        events = self.result.per_event
        heights = (self.captured_to, self.first_near_miss, self.first_false_alarm)
        rows = zip(
            events,
            self.captured.tolist(),
            *(found.texts() for found in heights),
            *(self.parts.of_each(kind, len(events)) for kind in OUTSIDE),
            *(self.overhang.of_each(kind, len(events)) for kind in OUTSIDE),
            zip(*(costs.tolist() for costs in self.costs.values()), strict=True),
            strict=True,
        )
        for scores, captured, to, first_near, first_false, near_misses, false_alarms, nearer, beyond, costs in rows:
            yield EventExplanation(
                scores=scores,
                captured=captured,
                captured_to=to,
                near_misses=tuple(near_misses),
                false_alarms=tuple(false_alarms),
                early=duration(part for part in (*nearer, *beyond) if part[0] < scores.start),
                late=duration(part for part in (*nearer, *beyond) if part[0] >= scores.stop),
                beyond=duration(beyond),
                first_near_miss=first_near,
                first_false_alarm=first_false,
                costs=dict(zip(self.costs, costs, strict=True)),
                axis=self.axis,
                binary=self.binary,
            )


def duration(parts: Iterable[tuple[float, float]]) -> float:
    """Return how long some parts are in all."""
    return sum(stop - start for start, stop in parts)
