"""Areas under curves through all thresholds, point by point: AUC-ROC and AUC-PR."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dqeval.core.joined import Joined
from dqeval.core.matching import score_of
from dqeval.core.prepared import Scored
from dqeval.core.registry import metric
from dqeval.core.types import FloatArray, IntArray, Numbers
from dqeval.core.validate import Undefined


def _auc_roc(scored: Scored) -> float:
    detected, hits = scored.distinct.detected, scored.distinct.hits
    rises, at = _rises(hits)
    alarms = (detected[at] - hits[at]).astype(np.float64)
    alarms_before = np.where(at > 0, detected[at - 1] - hits[at - 1], 0).astype(np.float64)
    normal = float(detected[-1] - hits[-1])
    # Twice the area, in whole numbers: exact up to the division.
    twice = (rises * (normal - alarms + normal - alarms_before)).sum()
    return float(twice / (2 * float(hits[-1]) * normal))


def _auc_roc_joined(joined: Joined) -> list[float]:
    found = joined.distinct
    rises, at = _rises(found.hits)
    alarms = found.own(found.detected) - found.own(found.hits)
    normal = (found.in_all(found.detected) - found.in_all(found.hits)).astype(np.float64)
    before = np.append(0, alarms[:-1])
    before[found.bounds[:-1]] = 0
    twice = np.add.reduceat(
        rises * (normal[at] - alarms[at] + normal[at] - before[at]), np.searchsorted(at, found.bounds[:-1])
    )
    last = found.bounds[1:] - 1
    areas: list[float] = (twice / (2 * found.in_all(found.hits)[last].astype(np.float64) * normal[last])).tolist()
    return areas[::-1]


def _auc_pr(scored: Scored) -> float:
    detected, hits = scored.distinct.detected, scored.distinct.hits
    rises, at = _rises(hits)
    return float((rises * hits[at] / detected[at]).sum() / float(hits[-1]))


def _auc_pr_joined(joined: Joined) -> list[float]:
    found = joined.distinct
    rises, at = _rises(found.hits)
    hits = found.own(found.hits)
    gained = rises * hits[at] / found.own(found.detected)[at]
    own = found.of_series(np.searchsorted(at, found.bounds))
    # Each by itself: NumPy adds up in another order where several are added up at once.
    sums = np.array([gained[part].sum() for part in own])
    precisions: list[float] = (sums / hits[found.bounds[:0:-1] - 1].astype(np.float64)).tolist()
    return precisions


def _rises(hits: NDArray[np.intc]) -> tuple[FloatArray, IntArray]:
    """Return by how much the hits rise, and where they do."""
    rising = np.empty(len(hits), dtype=np.bool_)
    rising[0] = hits[0] > 0
    np.greater(hits[1:], hits[:-1], out=rising[1:])
    at = np.flatnonzero(rising)
    return np.diff(hits[at].astype(np.float64), prepend=0), at


@metric(
    label="AUC-ROC",
    takes="scores",
    compute=_auc_roc,
    joined=_auc_roc_joined,
    needs_normal=True,
    citation="Hanley and McNeil 1982",
    same_as="scikit-learn roc_auc_score",
    cost=0.07,
)
def auc_roc(y_true: Numbers, y_score: Numbers, *, undefined: Undefined = "raise") -> float:
    """Area under the ROC curve: the chance that an anomalous point scores above a normal one.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_score : array-like of numbers, shape (n,)
        The larger, the more anomalous.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly, or nothing else.

    Returns
    -------
    float
        From 0 to 1; 0.5 for constant scores.

    Examples
    --------
    >>> dqeval.metrics.auc_roc([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.75
    """
    return score_of(_auc_roc, y_true, y_score, undefined, needs_normal=True)


@metric(
    label="AUC-PR",
    takes="scores",
    compute=_auc_pr,
    joined=_auc_pr_joined,
    citation="Davis and Goadrich 2006",
    same_as="scikit-learn average_precision_score",
    cost=0.07,
)
def auc_pr(y_true: Numbers, y_score: Numbers, *, undefined: Undefined = "raise") -> float:
    """Average precision: the mean of the precision over recall, in steps.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_score : array-like of numbers, shape (n,)
        The larger, the more anomalous.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly.

    Returns
    -------
    float
        From 0 to 1; the share of anomalous points for constant scores.

    Examples
    --------
    >>> dqeval.metrics.auc_pr([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    0.8333333333333333
    """
    return score_of(_auc_pr, y_true, y_score, undefined)
