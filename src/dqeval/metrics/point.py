"""Metrics that count points: F1, point-adjusted F1, and PA-K."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dqeval.core import arguments
from dqeval.core.arguments import Check
from dqeval.core.joined import Joined, at_best
from dqeval.core.matching import Match, harmonic, parts_of, reaches
from dqeval.core.registry import metric
from dqeval.core.sweep import Sweep, ratio
from dqeval.core.thresholds import Best
from dqeval.core.types import BoolArray, FloatArray, Numbers, PrecisionRecall
from dqeval.core.validate import Undefined

_CHECKS: dict[str, Check] = {"k": arguments.share}


def _point(match: Match) -> PrecisionRecall:
    return _filled(match, np.zeros(len(match.covered), dtype=bool))


def _point_adjusted(match: Match) -> PrecisionRecall:
    return _filled(match, match.covered > 0)


def _point_adjusted_k(match: Match, k: float) -> PrecisionRecall:
    return _filled(match, (match.covered > 0) & reaches(match.covered, match.labelled.lengths, k))


def _filled(match: Match, filled: BoolArray) -> PrecisionRecall:
    """Count points after all points of the filled events have been taken as detected."""
    hits = np.where(filled, match.labelled.lengths, match.covered).sum()
    alarms = match.found_lengths.sum() - match.covered.sum()
    return harmonic(hits / (hits + alarms) if hits else 0.0, hits / match.labelled.lengths.sum())


def _point_sweep(sweep: Sweep) -> tuple[FloatArray, FloatArray]:
    return sweep.precision_and_recall()


def _point_joined(joined: Joined) -> list[Best]:
    if joined.binary:
        return at_best(_point_sweep)(joined)
    found = joined.distinct
    hits = found.own(found.hits)
    return found.best_of_each(ratio(hits, found.own(found.detected)), hits / found.in_all(found.hits))


def _point_adjusted_sweep(sweep: Sweep) -> tuple[FloatArray, FloatArray]:
    return _filled_sweep(sweep, sweep.highest_in_events)


def _point_adjusted_k_sweep(sweep: Sweep, k: float) -> tuple[FloatArray, FloatArray]:
    lengths = sweep.labelled.lengths
    needed = np.maximum(np.floor(k * lengths), 1)
    needed += ~reaches(needed, lengths, k)
    return _filled_sweep(sweep, sweep.events.levels[sweep.events.firsts + needed.astype(np.intp) - 1])


def _filled_sweep(sweep: Sweep, filled_at: NDArray[np.intc]) -> tuple[FloatArray, FloatArray]:
    """Count points if all those of an event are taken as detected from a level down."""
    lengths = sweep.labelled.lengths
    levels = np.maximum(sweep.events.levels, np.repeat(filled_at, lengths))
    hits = sweep.down(sweep.counted(levels))
    return ratio(hits, hits + sweep.detected - sweep.hits), hits / sweep.labelled_points


@metric(
    label="Original-F",
    takes="detections",
    compute=_point,
    sweep="all",
    at_every_level=_point_sweep,
    joined=_point_joined,
    citation="van Rijsbergen 1979",
    same_as="scikit-learn f1_score",
    cost=0.09,
)
def point_f1(y_true: Numbers, y_pred: Numbers, *, undefined: Undefined = "raise") -> float:
    """F1 of the points: the harmonic mean of pointwise precision and recall.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly.

    Returns
    -------
    float
        From 0 to 1; 0 without a detection.

    Examples
    --------
    >>> dqeval.metrics.point_f1([0, 1, 1, 0], [0, 1, 0, 1])
    0.5
    """
    return point_parts(y_true, y_pred, undefined=undefined).f1


def point_parts(y_true: Numbers, y_pred: Numbers, *, undefined: Undefined = "raise") -> PrecisionRecall:
    """Precision and recall of the points, with `point_f1`.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly.

    Returns
    -------
    PrecisionRecall
        ``precision``, ``recall``, and ``f1``, their harmonic mean; all from 0 to 1.

    Examples
    --------
    >>> parts = dqeval.metrics.point_parts([0, 1, 1, 1, 1, 0], [0, 1, 1, 0, 0, 1])
    >>> round(parts.precision, 3), round(parts.recall, 3)
    (0.667, 0.5)
    """
    return parts_of(_point, y_true, y_pred, undefined)


@metric(
    label="PA-F1",
    takes="detections",
    compute=_point_adjusted,
    at_every_level=_point_adjusted_sweep,
    joined=at_best(_point_adjusted_sweep),
    citation="Xu et al. 2018",
    same_as="the code of the DQE paper, but for an event at index 0, which is filled here",
    cost=0.04,
)
def point_adjusted_f1(y_true: Numbers, y_pred: Numbers, *, undefined: Undefined = "raise") -> float:
    """F1 of the points after every event that is hit once counts as detected throughout.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly.

    Returns
    -------
    float
        From 0 to 1; 0 without a detection. Noise scores high: see `dqeval.panel` for the chance level.

    Examples
    --------
    >>> dqeval.metrics.point_adjusted_f1([0, 1, 1, 1, 0], [0, 0, 1, 0, 0])
    1.0
    """
    return point_adjusted_parts(y_true, y_pred, undefined=undefined).f1


def point_adjusted_parts(y_true: Numbers, y_pred: Numbers, *, undefined: Undefined = "raise") -> PrecisionRecall:
    """Precision and recall after point adjustment, with `point_adjusted_f1`.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly.

    Returns
    -------
    PrecisionRecall
        ``precision``, ``recall``, and ``f1``, their harmonic mean; all from 0 to 1.

    Examples
    --------
    >>> parts = dqeval.metrics.point_adjusted_parts([0, 1, 1, 1, 1, 0], [0, 1, 1, 0, 0, 1])
    >>> round(parts.precision, 3), round(parts.recall, 3)
    (0.8, 1.0)
    """
    return parts_of(_point_adjusted, y_true, y_pred, undefined)


@metric(
    label="PA-K",
    takes="detections",
    compute=_point_adjusted_k,
    at_every_level=_point_adjusted_k_sweep,
    joined=at_best(_point_adjusted_k_sweep),
    checks=_CHECKS,
    citation="Kim et al. 2022",
    same_as="the code of the DQE paper, but where detections cover the whole series, on which it fails",
    cost=0.04,
)
def point_adjusted_k_f1(y_true: Numbers, y_pred: Numbers, *, k: float = 0.2, undefined: Undefined = "raise") -> float:
    """F1 of the points after every event of which a share of at least k is hit counts as detected throughout.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    k : float, default 0.2
        From 0 to 1. The paper's single value, not the area over k that Kim et al. recommend.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly.

    Returns
    -------
    float
        From 0 to 1; 0 without a detection.

    Examples
    --------
    >>> dqeval.metrics.point_adjusted_k_f1([0, 1, 1, 1, 0], [0, 0, 1, 0, 0], k=0.5)
    0.5
    """
    return point_adjusted_k_parts(y_true, y_pred, k=k, undefined=undefined).f1


def point_adjusted_k_parts(
    y_true: Numbers, y_pred: Numbers, *, k: float = 0.2, undefined: Undefined = "raise"
) -> PrecisionRecall:
    """Precision and recall after the adjustment of PA-K, with `point_adjusted_k_f1`.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    k : float, default 0.2
        From 0 to 1. The paper's single value, not the area over k that Kim et al. recommend.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly.

    Returns
    -------
    PrecisionRecall
        ``precision``, ``recall``, and ``f1``, their harmonic mean; all from 0 to 1.

    Examples
    --------
    >>> parts = dqeval.metrics.point_adjusted_k_parts([0, 1, 1, 1, 1, 0], [0, 1, 1, 0, 0, 1], k=0.5)
    >>> round(parts.precision, 3), round(parts.recall, 3)
    (0.8, 1.0)
    """
    return parts_of(_point_adjusted_k, y_true, y_pred, undefined, **arguments.checked(_CHECKS, k=k))
