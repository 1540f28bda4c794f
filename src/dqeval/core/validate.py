"""Checks of what callers give: an error says what was wrong, where, and what to do."""

from __future__ import annotations

import math
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

import numpy as np

from dqeval.core.arguments import at_most, quote, real_number, whole_number, written_out
from dqeval.core.numeric_arrays import (
    array_of,
    as_array,
    bad_values,
    binary_array,
    finite_array,
    float_array,
    same_length,
)
from dqeval.core.scaling import Linear, LinearParts, Scale, linear, linear_parts, log_rank, min_max
from dqeval.core.times import index_of
from dqeval.core.types import BoolArray, DQEResult, Events, FloatArray, IntArray, Numbers

Undefined = Literal["raise", "nan"]
SCALES = get_args(Scale)

# Kernels count points and thresholds in numbers of C's int.
MOST_COUNTED = int(np.iinfo(np.intc).max)
# More than anybody needs, as exact thresholds take no longer than a few hundred; some 100 MB of memory.
MOST_THRESHOLDS = 1_000_000
# The largest window of VUS, which goes through all of them; some 200 MB of memory.
MOST_WINDOW = 10_000_000
_EVENT_LENGTHS = re.compile(r"\d{1,9}(\.\d{1,9})?ev", re.ASCII)


class UndefinedError(ValueError):
    """The score is not defined for this input: the labels hold no anomaly."""


class NoSeriesError(ValueError):
    """A table is none of a series."""


class NoScoresError(ValueError):
    """There are no scores of a detector."""


@contextmanager
def errors_about(name: str) -> Iterator[None]:
    """Have errors of the input say what they are about; the kinds that callers tell apart stay what they are."""
    try:
        yield
    except ValueError as error:
        kind = type(error) if isinstance(error, (UndefinedError, NoScoresError, NoSeriesError)) else ValueError
        raise kind(f"{name}: {error}") from error


def errors_about_one_of(given: Sequence[Any], number: int, *, name: str = "data") -> AbstractContextManager[None]:
    """Have errors of the input say which of several series they are about; of a single one that is clear."""
    return errors_about(f"{name}[{number}]") if len(given) > 1 else nullcontext()


class UndefinedWarning(UserWarning):
    """NaN was returned because the score is not defined for this input."""


_SCALED = {"min-max": min_max, "log-rank": log_rank}


def scaling(scale: Scale | bool) -> Callable[[FloatArray], FloatArray]:
    """Return what puts scores in [0, 1]: it scales them, or checks that they are there already."""
    return _SCALED.get(scale_name(scale), _in_unit_interval)


def scale_name(given: Any) -> Scale:
    """Return how scores are scaled; True and False stand for min-max and none."""
    if isinstance(given, (bool, np.bool_)):
        return "min-max" if given else "none"
    if not (isinstance(given, str) and given in SCALES):
        raise ValueError(f"scale must be {', '.join(map(repr, SCALES))}, True or False: got {quote(given)}")
    return cast(Scale, given)


@dataclass(frozen=True, slots=True)
class Called:
    """What a caller calls labels, scores and detections, which of them comes first, and what to do with scores."""

    labels: str = "y_true"
    scores: str = "y_score"
    detections: str = "y_pred"
    first: str = "y_true"
    for_scores: str = "for real-valued scores use evaluate or best_threshold"


_CALLED = Called()


def labels_and_raw_scores(
    y_true: Numbers, y_score: Numbers, *, called: Called = _CALLED
) -> tuple[BoolArray, FloatArray]:
    """Return labels, and scores in their own units."""
    labels = binary_array(called.labels, y_true, beside=(called.scores, y_score), first=called.first)
    return labels, scores_beside(y_true, labels, y_score, called=called)


def scores_beside(y_true: Numbers, labels: BoolArray, y_score: Numbers, *, called: Called = _CALLED) -> FloatArray:
    """Return scores, in their own units, that stand beside labels, here as given and as they are."""
    scores = finite_array(called.scores, y_score)
    same_length(called.labels, labels, called.scores, scores)
    same_index(called.labels, y_true, called.scores, y_score)
    return scores


def labels_and_detections(y_true: Numbers, y_pred: Numbers, *, called: Called = _CALLED) -> tuple[BoolArray, BoolArray]:
    """Return labels and detections."""
    labels = binary_array(called.labels, y_true, beside=(called.detections, y_pred), first=called.first)
    advice = f"1 marks a detected point, 0 any other; {called.for_scores}"
    detections = binary_array(called.detections, y_pred, advice=advice)
    same_length(called.labels, labels, called.detections, detections)
    same_index(called.labels, y_true, called.detections, y_pred)
    return labels, detections


def labels(y_true: Numbers) -> BoolArray:
    """Return labels."""
    return binary_array("y_true", y_true)


def values(given: Numbers) -> FloatArray:
    """Return the values of one series."""
    return finite_array("values", given, one_column=True)


def scores(given: Numbers) -> FloatArray:
    """Return scores that stand beside no labels."""
    return finite_array("scores", given)


def linear_scores(given: Numbers, starts: IntArray) -> Linear | LinearParts:
    """Return scores of series one behind the other, of which each counts as `min_max` scales it.

    Their lowest and highest tell whether all are finite.
    """
    found = float_array("scores", given)
    counting = linear(found) if len(starts) == 1 else linear_parts(found, starts)
    if not counting.is_finite:
        scores(found)
    return counting


def values_of_columns(given: Numbers) -> FloatArray:
    """Return the values of a series of one or several columns; which of them may be missing, its detector says."""
    array = as_array("values", given)
    if array.ndim == 2 and array.shape[1] > 1:
        array = np.column_stack([array_of("values", column) for column in array.T])
    else:
        array = array_of("values", array, one_column=True)
    return np.ascontiguousarray(array, dtype=np.float64)


def one_score_per_point(given: Any, points: int) -> FloatArray:
    """Return what a detector gave for so many points: as many finite scores."""
    array = as_array("what the detector gave", given)
    if array.shape != (points,):
        raise ValueError(f"the detector gave scores of shape {array.shape} for {points:,} points")
    scores = np.ascontiguousarray(array_of("what the detector gave", array), dtype=np.float64)
    bad = np.flatnonzero(~np.isfinite(scores))
    if len(bad):
        raise ValueError(f"the detector gave {len(bad):,} scores that are not finite, the first at point {bad[0]:,}")
    return scores


def values_with_gaps(given: Numbers, *, name: str = "values") -> FloatArray:
    """Return the values of one series to estimate its period from: NaN, a missing value, is filled.

    Missing values lie on a straight line between their neighbours; before the first value and after the last, the
    nearest one stands. The period is all that follows from them.
    """
    found = np.ascontiguousarray(array_of(name, given, one_column=True), dtype=np.float64)
    missing = np.isnan(found)
    if missing.all():
        raise ValueError(f"{name} holds no number, only NaN: leave it out, or give near or period")
    finite_array(name, np.where(missing, 0.0, found) if missing.any() else found)
    return filled(found)


def filled(found: FloatArray) -> FloatArray:
    """Return values with straight lines where some are missing."""
    missing = np.isnan(found)
    if not missing.any():
        return found
    points, known = np.arange(len(found)), found[~missing]
    low, high = float(known.min()), float(known.max())
    if not math.isinf(high - low):
        return np.interp(points, points[~missing], known)
    # Halves of finite numbers do not overflow; a line that is rounded must not go beyond its ends when it is doubled.
    return 2 * np.clip(np.interp(points, points[~missing], known / 2), low / 2, high / 2)


def values_beside(y_true: Numbers, labels: BoolArray, given: Numbers) -> FloatArray:
    """Return the values of a series, with its gaps filled, that stand beside labels, here as given and as they are."""
    found = values_with_gaps(given)
    same_length("y_true", labels, "values", found)
    same_index("y_true", y_true, "values", given)
    return found


def same_index(name: str, one: Any, other_name: str, other: Any) -> None:
    """Check that two columns which both have an index, as those of pandas and xarray do, have the same one.

    Points are matched by position. Where the indexes differ, that may pair scores with the wrong labels, and to align
    them in silence may drop or repeat points: the caller knows which is right.
    """
    mine, others = index_of(one), index_of(other)
    if mine is None or others is None or mine.equals(others):
        return
    differs = next((i for i, (a, b) in enumerate(zip(mine, others, strict=True)) if a != b), 0)
    found = f"position {differs} is {quote(mine[differs])} in {name} and {quote(others[differs])} in {other_name}"
    way = f"{other_name}.reindex({name}.index)" if hasattr(other, "index") else f"xarray.align({name}, {other_name})"
    advice = f"align them first, as with {way}, or pass .to_numpy() to match by position"
    raise ValueError(f"{name} and {other_name} have different indexes: {found}; {advice}")


def enough_windows(series: FloatArray, window: int, *, count: int, why: str) -> None:
    """Check that a series has so many windows of a length, which are needed for a reason."""
    least = window + count - 1
    if len(series) < least:
        advice = f"{count} windows of {window} points are needed {why}; give a smaller window, or more points"
        raise ValueError(f"values must have at least {least:,} points: got {len(series):,}; {advice}")


def train_stop(given: Any, series: FloatArray, *, least: int = 1, detector: str = "training") -> int:
    """Return how many of the first points of a series a detector may learn from, which needs so many."""
    stop = whole_number("train_stop", given, least=1)
    if stop > len(series):
        raise ValueError(f"train_stop must be at most the number of values, {len(series):,}: got {written_out(stop)}")
    if stop < least:
        raise ValueError(f"train_stop must be at least {least:,}, as many points as {detector} needs: got {stop:,}")
    return stop


def representable(scores: FloatArray) -> FloatArray:
    """Check that scores could be computed from values of any size."""
    if not np.isfinite(scores).all():
        raise ValueError("values are too far from those before train_stop to compute with: clip or transform them")
    return scores


def near(given: Any) -> float | str:
    """Return the near-miss range: a number of points, or of event lengths such as "2ev"."""
    if isinstance(given, str) and _EVENT_LENGTHS.fullmatch(given):
        return given
    advice = 'it is a number of points, 0 for none, event lengths such as "2ev", or a duration such as "10min"'
    return real_number("near", given, least=0.0, advice=advice)


def period(given: Any) -> float:
    """Return the period."""
    advice = "it is a number of points; give the series' values instead to have it estimated"
    return real_number("period", given, least=math.ulp(0.0), advice=advice)


def thresholds(given: Any) -> int | Literal["exact"]:
    """Return the number of thresholds, or "exact"."""
    if isinstance(given, str) and given == "exact":
        return "exact"
    return _thresholds(given, least=1, or_else="exact")


def names_in(name: str, given: Any) -> list[str]:
    """Return a sequence of names."""
    names = _items(given)
    if isinstance(given, (str, Mapping)) or not all(isinstance(item, str) for item in names):
        raise ValueError(f"{name} must be a sequence of names: got {quote(given)}")
    return names


def _items(given: Any) -> list[Any]:
    """Return what can be gone through one by one; anything else as the only item."""
    try:
        return list(given)
    except TypeError:
        return [given]


def sweep_thresholds(given: Any) -> int | Literal["all"]:
    """Return the number of thresholds to try for a metric of detections, or "all"."""
    if isinstance(given, str) and given == "all":
        return "all"
    return _thresholds(given, least=2, or_else="all")


def sampled_thresholds(given: Any) -> int:
    """Return the number of thresholds of a metric that has no other choice."""
    return whole_number("thresholds", given, least=2, most=MOST_THRESHOLDS)


def _thresholds(given: Any, *, least: int, or_else: str) -> int:
    try:
        count = whole_number("thresholds", given, least=least)
    except ValueError:
        rule = f'thresholds must be a whole number of at least {least}, or "{or_else}"'
        raise ValueError(f"{rule}: got {quote(given)}") from None
    return at_most("thresholds", count, MOST_THRESHOLDS, advice=f'; "{or_else}" takes every distinct score')


def window(given: Any) -> int:
    """Return the largest window of VUS, in points."""
    return whole_number("window", given, least=0, most=MOST_WINDOW)


def countable(what: str, count: int, *, advice: str) -> None:
    """Check that kernels can count so many."""
    if count > MOST_COUNTED:
        raise ValueError(f"{what} must be at most {MOST_COUNTED:,}: got {count:,}; {advice}")


def results(given: Any) -> list[DQEResult]:
    """Return the results to combine."""
    every = _items(given)
    for index, item in enumerate(every):
        if not isinstance(item, DQEResult):
            raise ValueError(f"combine takes results of evaluate: item {index} is {quote(item)}")
    return every


NO_ANOMALY = "y_true has no anomaly (no value is 1)"
NO_NORMAL_POINT = "y_true has no normal point (every value is 1)"


def why_undefined(events: Events, *, needs_normal: bool = False, none: str = NO_ANOMALY) -> str | None:
    """Return why a score is not defined for these labelled events, and what to say of none; None if it is."""
    if not len(events):
        return none
    # Events that are split at gaps may be several, and yet leave no point between them.
    if needs_normal and int((events.stops - events.starts).sum()) == events.length:
        return NO_NORMAL_POINT
    return None


def check_defined(events: Events, undefined: Any, *, needs_normal: bool = False, none: str = NO_ANOMALY) -> bool:
    """Tell whether a score is defined for these labelled events; if not, raise or warn, as the caller asked."""
    undefined_choice(undefined)
    why = why_undefined(events, needs_normal=needs_normal, none=none)
    if why is None:
        return True
    go_on_undefined(why, undefined)
    return False


def undefined_choice(given: Any) -> None:
    """Check what the caller asks to do where a score is undefined."""
    if not (isinstance(given, str) and given in ("raise", "nan")):
        raise ValueError(f'undefined must be "raise" or "nan": got {quote(given)}')


def go_on_undefined(why: str, undefined: Any) -> None:
    """Warn that a score is undefined if the caller asked to go on, and raise otherwise."""
    rule = f"{why}, so the score is undefined"
    if undefined == "raise":
        raise UndefinedError(f'{rule}; pass undefined="nan" to get NaN with a warning instead')
    warnings.warn(f"{rule}: NaN is returned", UndefinedWarning, stacklevel=caller_level())


def caller_level() -> int:
    """Return how many frames up the first one outside this package is, for a warning to point there."""
    frame, depth = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "dqeval":
        frame, depth = frame.f_back, depth + 1
    return depth


def column(name: str, given: Any, *, or_several: bool = False) -> np.ndarray[Any, Any]:
    """Return what was given as an array of one dimension, whatever is in it; or of two, if there may be several."""
    array = as_array(name, given)
    return array if array.ndim == 1 or (or_several and array.ndim == 2) else array_of(name, given)


def _in_unit_interval(scores: FloatArray) -> FloatArray:
    bad = (scores < 0) | (scores > 1)
    if bad.any():
        advice = "leave out scale=False to have them scaled"
        raise ValueError(f"y_score must lie in [0, 1] when scale=False: {bad_values(scores, bad)}; {advice}")
    return scores
