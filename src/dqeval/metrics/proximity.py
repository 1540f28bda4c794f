"""PATE: proximity-aware precision and recall, with buffers before and after each event."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dqeval.core import arguments, validate
from dqeval.core.arguments import Check
from dqeval.core.entries import FromNear
from dqeval.core.events import points_in
from dqeval.core.joined import Joined, JoinedSweep, at_best
from dqeval.core.matching import Match, parts_of, score_of
from dqeval.core.prepared import Labelled, Scored
from dqeval.core.registry import metric
from dqeval.core.sweep import GivenLevels, Sweep, at_one_threshold, ratio
from dqeval.core.types import BoolArray, FloatArray, IntArray, Numbers, PrecisionRecall
from dqeval.core.validate import Undefined
from dqeval.kernels import covered as kernel

_BUFFER = FromNear(int, int, "half the period, rounded down (for detections, near)")
_CHECKS: dict[str, Check] = dict.fromkeys(("early", "late"), partial(arguments.whole_number, least=0))
_PATE_CHECKS: dict[str, Check] = _CHECKS | {"thresholds": lambda _, given: validate.sampled_thresholds(given)}
_TIE = 1e-12  # recalls that differ by less are the same number added up in another order


@dataclass(frozen=True, slots=True, eq=False)
class _Buffers:
    """The unlabelled points that count in part, and how much; early ones only if their event is hit."""

    late_points: IntArray
    late_weights: FloatArray
    early_points: IntArray
    early_weights: FloatArray
    early_event: IntArray


def _pate(scored: Scored, early: int, late: int, thresholds: int) -> float:
    chosen = _thresholds(scored, thresholds)
    ascending = np.sort(chosen)
    levels, _ = scored.levels(scored.threshold_scores, ascending)
    precision, recall = _curve(GivenLevels(scored.labelled, thresholds, levels), early, late)
    at = _position(ascending, chosen)
    return _areas(precision[None, at], recall[None, at])[0]


def _pate_joined(joined: Joined, early: tuple[int, ...], late: tuple[int, ...], thresholds: int) -> list[float]:
    chosen = _thresholds_of_each(joined, thresholds)
    ascending = np.sort(chosen)
    levels, _ = joined.levels(joined.threshold_scores, ascending)
    sweep = JoinedSweep.of(joined.labelled, levels, thresholds)
    precision, recall = (found.reshape(-1, thresholds) for found in _curve(sweep, early, late))
    at = np.stack([_position(*rows) for rows in zip(ascending, chosen, strict=True)])
    return _areas(np.take_along_axis(precision, at, axis=1), np.take_along_axis(recall, at, axis=1))


def _position(ascending: FloatArray, chosen: FloatArray) -> IntArray:
    """Return where thresholds stand among the same, from the highest down."""
    positions: IntArray = len(chosen) - 1 - np.searchsorted(ascending, chosen, side="left")
    return positions


def _pate_detections(match: Match, early: int, late: int) -> PrecisionRecall:
    return at_one_threshold(_curve, match, early=early, late=late)


def _curve(sweep: Sweep, early: int | Sequence[int], late: int | Sequence[int]) -> tuple[FloatArray, FloatArray]:
    """Return precision and recall at each threshold, from the highest down."""
    labelled, levels = sweep.labelled, sweep.levels
    zones = labelled.once(("pate", early, late), lambda: _buffers(labelled, early, late))
    early_levels = np.minimum(levels[zones.early_points], sweep.highest_in_events[zones.early_event])
    gained = sweep.counted(sweep.events.levels).astype(np.float64)
    gained += sweep.counted(levels[zones.late_points], zones.late_weights)
    gained += sweep.counted(early_levels, zones.early_weights)
    hits = sweep.down(gained)
    return ratio(hits, sweep.detected), ratio(hits, hits + _missed(sweep))


def _missed(sweep: Sweep) -> FloatArray:
    """Return the weighted false negatives at each threshold."""
    events, groups = sweep.labelled.events, sweep.events
    scale, changes = sweep.point_scale, sweep.tallies(1)
    kernel.tally_pate_missed(
        groups.points,
        groups.shifts,
        events.starts,
        events.stops,
        groups.ends,
        groups.own,
        groups.levels,
        groups.tally(4),
        np.empty((groups.count + 1, kernel.STACK_COLUMNS), dtype=np.intp),
        scale,
        changes,
    )
    missed = sweep.sums(changes, scale)[0]
    missed += sweep.labelled_points
    return np.asarray(missed)


def _buffers(labelled: Labelled, early: int | Sequence[int], late: int | Sequence[int]) -> _Buffers:
    events = labelled.events
    before, behind = labelled.of_events(early), labelled.of_events(late)
    first, last = events.starts, events.stops - 1
    centre = (first + last) / 2
    late_end = np.minimum(last + behind, np.minimum(np.append(first[1:], events.length), labelled.end) - 1)
    # Where two buffers meet, the late one of the earlier event goes first.
    early_start = np.maximum(np.maximum(first - before, labelled.begin), np.append(0, late_end[:-1] + 1))
    late_event, late_points = points_in(last + 1, late_end + 1)
    early_event, early_points = points_in(early_start, first)
    return _Buffers(
        late_points,
        (late_end[late_event] - late_points) / (late_end - centre)[late_event],
        early_points,
        (early_points - early_start[early_event]) / (centre - early_start)[early_event],
        early_event,
    )


def _thresholds(scored: Scored, count: int) -> FloatArray:
    """Return percentiles, descending, of the distinct scores beside which the number of hits changes, and both ends."""
    detected = scored.distinct.detected[_are_beside_changes(scored.distinct.hits)]
    values = scored.threshold_scores[scored.ascending[len(scored.raw) - detected]]
    thresholds: FloatArray = _percentiles(values[::-1], np.array([len(values)]), count)[0]
    return thresholds


def _thresholds_of_each(joined: Joined, count: int) -> FloatArray:
    """Return the same of each series, as rows."""
    found = joined.distinct
    chosen = _are_beside_changes(found.hits)
    chosen[found.bounds[:-1]] = chosen[found.bounds[1:] - 1] = True
    sizes = np.add.reduceat(chosen, found.bounds[:-1], dtype=np.intp)
    order, _ = joined.in_order
    values = joined.threshold_scores[order[len(order) - found.detected[chosen]]]
    return _percentiles(values[::-1], sizes[::-1], count)


def _percentiles(ascending: FloatArray, sizes: IntArray, count: int) -> FloatArray:
    """Return percentiles, descending, of so many values of each series in turn, as rows."""
    # As published, to the last digit: a percentile that should hit a score may miss it, and then that point.
    percent = 100 + np.arange(count) * (-100 / (count - 1))
    percent[-1] = 0.0
    last = sizes[:, None] - 1
    position = last * (percent / 100)
    below = np.floor(position).astype(np.intp)
    share = position - below
    first = (np.cumsum(sizes) - sizes)[:, None]
    low, high = ascending[first + below], ascending[first + np.minimum(below + 1, last)]
    return np.asarray(np.where(share < 0.5, low + (high - low) * share, high - (high - low) * (1 - share)))


def _are_beside_changes(hits: NDArray[np.intc]) -> BoolArray:
    changes = np.not_equal(hits[1:], hits[:-1])
    return np.asarray(np.append(True, changes) | np.append(changes, True))


def _areas(precision: FloatArray, recall: FloatArray) -> list[float]:
    """Return the area under each row of points from (0, 1) on whose recall is not below that of the last one kept."""
    last_recall = np.concatenate([np.zeros((len(recall), 1)), recall[:, :-1]], axis=1)
    last_precision = np.concatenate([np.ones((len(recall), 1)), precision[:, :-1]], axis=1)
    steps = (recall - last_recall) * (precision + last_precision) / 2
    areas: list[float] = np.cumsum(steps, axis=1)[:, -1].tolist()
    for row in np.flatnonzero((recall < last_recall - _TIE).any(axis=1)).tolist():
        areas[row] = _area_of_kept(precision[row], recall[row])
    return areas


def _area_of_kept(precision: FloatArray, recall: FloatArray) -> float:
    area, last_precision, last_recall = 0.0, 1.0, 0.0
    for p, r in zip(precision.tolist(), recall.tolist(), strict=True):
        if r >= last_recall - _TIE:
            area += (r - last_recall) * (p + last_precision) / 2
            last_precision, last_recall = p, r
    return area


@metric(
    label="PATE",
    takes="scores",
    compute=_pate,
    joined=_pate_joined,
    checks=_PATE_CHECKS,
    from_near={"early": _BUFFER, "late": _BUFFER},
    binary_defaults={"thresholds": 250},
    citation="Ghorbani et al. 2024",
    same_as="the PATE package with one pair of buffers and include_zero=False",
    cost=0.09,
)
def pate(
    y_true: Numbers,
    y_score: Numbers,
    *,
    early: int,
    late: int,
    thresholds: int = 100,
    undefined: Undefined = "raise",
) -> float:
    """Proximity-aware area under the precision-recall curve: detections near an event count in part.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_score : array-like of numbers, shape (n,)
        The larger, the more anomalous.
    early, late : int
        The buffers before and after an event, in points; half the period in the paper.
    thresholds : int, default 100
        How many thresholds, at percentiles of the scores.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly.

    Returns
    -------
    float

    Examples
    --------
    >>> dqeval.metrics.pate([0, 0, 1, 1, 0, 0], [0.1, 0.2, 0.9, 0.8, 0.3, 0.0], early=1, late=1)
    1.0
    """
    checked = arguments.checked(_PATE_CHECKS, early=early, late=late, thresholds=thresholds)
    return score_of(_pate, y_true, y_score, undefined, **checked)


@metric(
    label="PATE-F1",
    takes="detections",
    compute=_pate_detections,
    at_every_level=_curve,
    joined=at_best(_curve),
    checks=_CHECKS,
    from_near={"early": _BUFFER, "late": _BUFFER},
    citation="Ghorbani et al. 2024",
    same_as="the PATE package with binary_scores=True and one pair of buffers",
    cost=0.05,
)
def pate_f1(y_true: Numbers, y_pred: Numbers, *, early: int, late: int, undefined: Undefined = "raise") -> float:
    """Proximity-aware F1: detections near an event count in part.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    early, late : int
        The buffers before and after an event, in points.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly.

    Returns
    -------
    float
        From 0 to 1; 0 without a detection.

    Examples
    --------
    >>> dqeval.metrics.pate_f1([0, 0, 1, 1, 0, 0], [0, 0, 1, 1, 0, 0], early=1, late=1)
    1.0
    """
    return pate_parts(y_true, y_pred, early=early, late=late, undefined=undefined).f1


def pate_parts(
    y_true: Numbers, y_pred: Numbers, *, early: int, late: int, undefined: Undefined = "raise"
) -> PrecisionRecall:
    """Proximity-aware precision and recall, with `pate_f1`.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    early, late : int
        The buffers before and after an event, in points.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly.

    Returns
    -------
    PrecisionRecall
        ``precision``, ``recall``, and ``f1``, their harmonic mean; all from 0 to 1.

    Examples
    --------
    >>> parts = dqeval.metrics.pate_parts([0, 1, 1, 1, 1, 0], [0, 1, 1, 0, 0, 1], early=1, late=1)
    >>> round(parts.precision, 3), round(parts.recall, 3)
    (0.667, 0.667)
    """
    return parts_of(_pate_detections, y_true, y_pred, undefined, **arguments.checked(_CHECKS, early=early, late=late))
