"""Whether results depend on which thresholds are taken (L4): few, many, all, evenly spaced or by rank, or the best."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dqeval.analysis.evaluate import evaluate
from dqeval.analysis.panel import panel_of
from dqeval.bench.jobs import Job
from dqeval.core.prepared import Labelled, Scored
from dqeval.core.scaling import min_max
from dqeval.core.types import BoolArray, FloatArray
from dqeval.experiments.detector_runs import DetectorRun, Runs, ScoredSeries, scored_series
from dqeval.experiments.outcome import OURS
from dqeval.experiments.score_work import work_on_scores
from dqeval.experiments.setting import Setting
from dqeval.metrics.dqe import dqe_score

NAME = "threshold-choice"
FEW, USUAL, MANY = 10, 100, 250
ALL, RANKS, LOG_RANKS = "all", "100 by rank", "all, by the logarithm of the rank"
SQUARES, ROOTS = "100, of squared scores", "100, of square roots"


def choose_thresholds(runs: Runs, setting: Setting) -> dict[DetectorRun, Any]:
    """Return metrics with several choices of thresholds, for every series, detector and seed."""
    every = runs.each_run(OURS, beyond=True)
    return work_on_scores(runs, every, choices_of, setting, file="threshold_choice.jsonl", what="choices of thresholds")


def choices_of(job: Job) -> dict[str, dict[str, float]]:
    """Return metrics of a detector's scores, by metric and by which thresholds they are computed from."""
    found = scored_series(job)
    return {"dqe": _dqe(found), "best dqe": _best_dqe(found), "point_f1": _best_f1(found), **_other_metrics(found)}


def _dqe(found: ScoredSeries) -> dict[str, float]:
    """Return the mean over thresholds, which is what DQE is; and that of scores on other scales, in the same order."""
    near, scaled = found.period / 2, min_max(found.scores)
    score = partial(dqe_score, found.labels, near=near)
    by_count = {str(count): score(scaled, thresholds=count) for count in (FEW, USUAL, MANY)}
    scales = {RANKS: ranks(found.scores), SQUARES: scaled**2, ROOTS: np.sqrt(scaled)}
    by_scale = {name: score(each, thresholds=USUAL) for name, each in scales.items()}
    log_ranks = score(found.scores, scale="log-rank", thresholds="exact")
    return {**by_count, ALL: score(scaled, thresholds="exact"), **by_scale, LOG_RANKS: log_ranks}


def _best_dqe(found: ScoredSeries) -> dict[str, float]:
    """Return DQE at the best of some thresholds, as other metrics are reported."""
    near = found.period / 2
    evaluated = partial(evaluate, found.labels, near=near)
    results = {str(count): evaluated(found.scores, thresholds=count) for count in (FEW, USUAL, MANY)}
    results[ALL] = evaluated(found.scores, thresholds="exact")
    results[RANKS] = evaluated(ranks(found.scores), thresholds=USUAL)
    return {name: float(result.curve.dqe.max()) for name, result in results.items()}


def _best_f1(found: ScoredSeries) -> dict[str, float]:
    scaled = min_max(found.scores)
    evenly = {str(count): np.arange(1, count + 1) / count for count in (FEW, USUAL, MANY)}
    by_rank = np.quantile(scaled, np.arange(1, USUAL + 1) / USUAL)
    thresholds = {**evenly, ALL: np.unique(scaled), RANKS: np.unique(by_rank)}
    return {name: best_f1(found.labels, scaled, each) for name, each in thresholds.items()}


def best_f1(labels: BoolArray, scores: FloatArray, thresholds: FloatArray) -> float:
    """Return the highest F1, point by point, over thresholds that points at or above are detected by.

    Examples
    --------
    >>> labels, scores = np.array([0, 1, 1, 0], dtype=bool), np.array([0.2, 0.4, 0.9, 0.6])
    >>> round(best_f1(labels, scores, np.array([0.5, 1.0])), 2), best_f1(labels, scores, np.array([0.4]))
    (0.5, 0.8)
    """
    detected = len(scores) - np.searchsorted(np.sort(scores), thresholds, side="left")
    hits = np.count_nonzero(labels) - np.searchsorted(np.sort(scores[labels]), thresholds, side="left")
    return float((2 * hits / (detected + np.count_nonzero(labels))).max())


def _other_metrics(found: ScoredSeries) -> dict[str, dict[str, float]]:
    """Return the metrics that sample thresholds at ranks of the scores, with the usual number and with more."""
    scored = Scored(Labelled(found.labels), found.scores)
    values: dict[str, dict[str, float]] = {"vus_roc": {}, "vus_pr": {}, "pate": {}}
    for count in (FEW, USUAL, MANY):
        given = {metric: {"thresholds": count} for metric in values}
        panel = panel_of(scored, found.period / 2, metrics=tuple(values), parameters=given)
        for metric, by_choice in values.items():
            by_choice[str(count)] = panel.values[metric]
    return values


def ranks(scores: FloatArray) -> FloatArray:
    """Return scores as the share of points that score as much or less: thresholds that are even in them are quantiles.

    Examples
    --------
    >>> ranks(np.array([0.1, 5.0, 0.1, 0.3])).tolist()
    [0.5, 1.0, 0.5, 0.75]
    """
    return np.asarray(np.searchsorted(np.sort(scores), scores, side="right") / len(scores))
