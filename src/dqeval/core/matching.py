"""Labelled events against what is detected at a threshold, and what metrics of either kind share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dqeval.core import validate
from dqeval.core.prepared import Labelled, Scored
from dqeval.core.types import BoolArray, Events, FloatArray, IntArray, Numbers, PrecisionRecall
from dqeval.core.validate import Undefined, UndefinedError
from dqeval.kernels import ranges
from dqeval.support.on_demand import cached_property

Number = TypeVar("Number", bound=np.generic)
Parts = TypeVar("Parts")


@dataclass(frozen=True, eq=False)
class Match:
    """Labelled events against what is detected at one threshold.

    Attributes
    ----------
    labelled : Labelled
    flags : array of bool
        The detected points.
    """

    labelled: Labelled
    flags: BoolArray

    @cached_property
    def found(self) -> Events:
        """The detected events."""
        return self.labelled.runs(self.flags)

    @cached_property
    def found_lengths(self) -> IntArray:
        """The length of each detected event."""
        return self.found.stops - self.found.starts

    @cached_property
    def pairs(self) -> tuple[IntArray, IntArray, IntArray]:
        """The labelled and the detected event of each pair that overlaps, and the points they share."""
        return overlaps(self.labelled.events, self.found)

    @cached_property
    def covered(self) -> FloatArray:
        """How many points of each labelled event are detected."""
        labelled, _, points = self.pairs
        return np.bincount(labelled, points, minlength=len(self.labelled.events)).astype(np.float64, copy=False)

    @cached_property
    def found_covered(self) -> FloatArray:
        """How many points of each detected event are labelled."""
        _, detected, points = self.pairs
        return np.bincount(detected, points, minlength=len(self.found)).astype(np.float64, copy=False)


def overlaps(one: Events, other: Events) -> tuple[IntArray, IntArray, IntArray]:
    """Return which event of one kind and of another each pair that overlaps is of, and the points they share."""
    room = np.empty((3, len(one) + len(other)), dtype=np.intp)
    count = ranges.overlaps(one.starts, one.stops, other.starts, other.stops, *room)
    first, second, points = room[:, :count]
    return first, second, points


def parts_of(
    compute: Callable[..., PrecisionRecall], y_true: Numbers, y_pred: Numbers, undefined: Undefined, **parameters: Any
) -> PrecisionRecall:
    """Validate labels and detections, and return a metric and its parts; NaN where undefined, if that was asked."""
    return parts_or(PrecisionRecall(np.nan, np.nan, np.nan), compute, y_true, y_pred, undefined, **parameters)


def parts_or(
    unknown: Parts,
    compute: Callable[..., Parts],
    y_true: Numbers,
    y_pred: Numbers,
    undefined: Undefined,
    **parameters: Any,
) -> Parts:
    """Return what `parts_of` does for a metric with parts of its own, of which some are for where it is undefined."""
    labels, detections = validate.labels_and_detections(y_true, y_pred)
    match = Match(Labelled(labels), detections)
    if not validate.check_defined(match.labelled.events, undefined):
        return unknown
    return or_undefined(unknown, partial(compute, match, **parameters), undefined)


def or_undefined(unknown: Parts, compute: Callable[[], Parts], undefined: Undefined) -> Parts:
    """Return what is computed; if that is undefined, what stands for it, with a warning, or raise, as was asked."""
    try:
        return compute()
    except UndefinedError as error:
        validate.go_on_undefined(str(error), undefined)
        return unknown


def score_of(
    compute: Callable[..., float],
    y_true: Numbers,
    y_score: Numbers,
    undefined: Undefined,
    *,
    needs_normal: bool = False,
    **parameters: Any,
) -> float:
    """Validate labels and scores, and return a metric; NaN where it is undefined and that was asked."""
    labels, raw = validate.labels_and_raw_scores(y_true, y_score)
    scored = Scored(Labelled(labels), raw)
    if not validate.check_defined(scored.events, undefined, needs_normal=needs_normal):
        return float("nan")
    return compute(scored, **parameters)


def harmonic(precision: float, recall: float) -> PrecisionRecall:
    """Return precision and recall with their harmonic mean, 0 where both are 0."""
    total = precision + recall
    return PrecisionRecall(float(2 * precision * recall / total) if total > 0 else 0.0, float(precision), float(recall))


def reaches(covered: FloatArray, lengths: IntArray, cutoff: float) -> BoolArray:
    """Tell whether the covered share of each event is at least a cut-off.

    A cut-off stands for any number that is written so: 0.1 for one tenth, 5/7 for five sevenths, though both floats lie
    a little off. The share is a single division of what is exact, so it is rounded as the cut-off was, and the two are
    equal where they should be. A product of cut-off and length is not: 0.07 * 100 > 7.
    """
    return covered / lengths >= cutoff


def highest_in_events(points: NDArray[Number], events: Events) -> NDArray[Number]:
    """Return the highest of what points have in each event: levels, scores, or whether they are detected."""
    if not len(events):
        return points[:0]
    borders: IntArray = np.column_stack([events.starts, events.stops]).ravel()
    # Where the series ends with an event, there is no border behind it.
    highest = np.maximum.reduceat(points, borders[borders < events.length])
    return np.ascontiguousarray(highest[::2])
