"""Areas under curves through all thresholds, point by point: AUC-ROC and AUC-PR."""

from __future__ import annotations

import numpy as np

from dqeval.core.matching import score_of
from dqeval.core.prepared import Scored
from dqeval.core.registry import metric
from dqeval.core.types import Numbers
from dqeval.core.validate import Undefined


def _auc_roc(scored: Scored) -> float:
    hits, alarms = scored.distinct.hits, scored.distinct.detected - scored.distinct.hits
    # Twice the area, in whole numbers: exact up to the division.
    twice = (np.diff(alarms, prepend=0) * (hits + np.append(0, hits[:-1]))).sum()
    return float(twice / (2 * hits[-1] * alarms[-1]))


def _auc_pr(scored: Scored) -> float:
    hits, detected = scored.distinct.hits, scored.distinct.detected
    return float((np.diff(hits, prepend=0) * hits / detected).sum() / hits[-1])


@metric(
    label="AUC-ROC",
    takes="scores",
    compute=_auc_roc,
    needs_normal=True,
    citation="Hanley and McNeil 1982",
    same_as="scikit-learn roc_auc_score",
    cost=0.32,
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
    citation="Davis and Goadrich 2006",
    same_as="scikit-learn average_precision_score",
    cost=0.32,
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
