"""Every metric on the same validated input, and the best threshold for one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from typing import Any, Literal

import numpy as np

from dqeval import thresholds as sweeping
from dqeval import validate
from dqeval.period import near_range
from dqeval.registry import METRICS, Metric
from dqeval.scored import Match, Scored
from dqeval.types import BestThreshold, BoolArray, Chance, DQEResult, Evaluation, FloatArray, Numbers
from dqeval.validate import Undefined


def panel(
    y_true: Numbers,
    y_score: Numbers,
    *,
    near: float | None = None,
    period: float | None = None,
    values: Numbers | None = None,
    metrics: Sequence[str] | None = None,
    undefined: Undefined = "raise",
) -> Evaluation:
    """Evaluate scores, or detections, with every metric.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_score : array-like of numbers, shape (n,)
        The detector's scores, the larger, the more anomalous; or its detections, 0 and 1.
    near, period, values
        The near range, or what it follows from: see `evaluate`. The windows and buffers of the other metrics follow
        from it as in the paper. For scores: VUS window the period, PATE buffers half of it. For detections: all of them
        the near range.
    metrics : sequence of str, optional
        Which metrics; all if not given. ``dqeval metrics`` lists them.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly: raise `UndefinedError`, or return NaN with a warning.

    Returns
    -------
    Evaluation
        A metric of detections has, for scores, its best value over thresholds. A metric that fails on this input is NaN
        there, with the reason in ``failures``; the others go on.

    Examples
    --------
    >>> series = dqeval.datasets.demo()
    >>> print(dqeval.panel(series.labels, series.scores["late"], period=48, metrics=["dqe", "auc_roc", "range_f1"]))
    metric   value  at threshold
    ----------------------------
    DQE      0.577
    AUC-ROC  0.660
    RF       0.438       0.22233
    near 24
    """
    chosen = [METRICS[name] for name in (METRICS.names if metrics is None else _names(metrics))]
    labels, raw = validate.labels_and_raw_scores(y_true, y_score)
    scored = Scored(labels, scores=validate.scaled(raw))
    near = near_range(labels, near=near, period=period, values=values)
    is_defined = validate.defined(scored.events, undefined)
    binary = bool(np.isin(raw, (0, 1)).all())
    run = _Run(scored, raw, near, binary, is_defined)
    for metric in chosen:
        run.add(metric)
    return run.evaluation()


def best_threshold(
    metric: str,
    y_true: Numbers,
    y_score: Numbers,
    *,
    thresholds: int | Literal["all"] | None = None,
    undefined: Undefined = "raise",
    **parameters: Any,
) -> BestThreshold:
    """Return the best value of a metric of detections over the thresholds of some scores, and where it lies.

    Parameters
    ----------
    metric : str
        The name of a metric of detections: ``dqeval metrics`` lists them.
    y_true : array-like of 0 and 1, shape (n,)
    y_score : array-like of numbers, shape (n,)
        The larger, the more anomalous.
    thresholds : int or "all", optional
        How many, evenly spaced from the lowest score to the highest; or every distinct score. If not given, as in the
        paper: every distinct score for ``point_f1``, 100 for the others.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly.
    **parameters
        Those of the metric.

    Returns
    -------
    BestThreshold

    Notes
    -----
    With a number of thresholds, detected is what lies strictly above one, as in the paper's code. The threshold that is
    returned is the lowest score detected, so that ``y_score >= threshold`` gives the same points in either case.

    Examples
    --------
    >>> best = dqeval.best_threshold("point_f1", [0, 0, 1, 1, 0], [1, 3, 9, 8, 5])
    >>> best.value, best.threshold
    (1.0, 8.0)
    """
    chosen = METRICS[metric]
    if chosen.takes != "detections":
        detecting = ", ".join(m.name for m in METRICS if m.takes == "detections")
        raise ValueError(f"{metric} takes scores and needs no threshold; those that do are {detecting}")
    if thresholds is not None and thresholds != "all":
        thresholds = validate.whole("thresholds", thresholds, least=2)
    labels, raw = validate.labels_and_raw_scores(y_true, y_score)
    scored = Scored(labels, scores=validate.scaled(raw))
    if not validate.defined(scored.events, undefined):
        return BestThreshold(np.nan, np.nan, np.nan, np.nan)
    # The public function checks the parameters, and knows which there are.
    chosen.function(labels, labels, **parameters)
    return _best(
        chosen, scored, raw, chosen.sweep if thresholds is None else thresholds, {**chosen.defaults, **parameters}
    )


def _best(
    metric: Metric, scored: Scored, raw: FloatArray, thresholds: int | Literal["all"], parameters: dict[str, Any]
) -> BestThreshold:
    if thresholds == "all" and metric.at_every_score is not None:
        found = sweeping.best_at_every_score(scored, *metric.at_every_score(scored, **parameters))
    else:
        found = sweeping.best(scored, partial(metric.compute, **parameters), thresholds)
    lowest = np.inf if found.lowest is None else raw[scored.scores >= found.lowest].min()
    return BestThreshold(found.parts.f1, float(lowest), found.parts.precision, found.parts.recall)


def _names(metrics: Sequence[str]) -> list[str]:
    if isinstance(metrics, str):
        raise ValueError(f'metrics must be a sequence of names: write metrics=["{metrics}"]')
    return list(metrics)


class _Run:
    """A panel while its metrics are computed, one after the other."""

    def __init__(self, scored: Scored, raw: FloatArray, near: float, binary: bool, is_defined: bool) -> None:
        self.scored, self.raw, self.near, self.binary, self.is_defined = scored, raw, near, binary, is_defined
        self.values: dict[str, float] = {}
        self.seconds: dict[str, float] = {}
        self.failures: dict[str, str] = {}
        self.parameters: dict[str, dict[str, Any]] = {}
        self.best: dict[str, BestThreshold] = {}
        self.labels: dict[str, str] = {}
        self.dqe: DQEResult | None = None

    def add(self, metric: Metric) -> None:
        """Compute a metric; if it fails, say so and go on."""
        self.labels[metric.name] = metric.label
        self.parameters[metric.name] = metric.parameters(self.near, binary=self.binary)
        began = time.perf_counter()
        try:
            self.values[metric.name] = self.value(metric) if self.is_defined else np.nan
        except Exception as error:
            # Whatever one metric fails on, the others are still wanted.
            self.values[metric.name] = np.nan
            self.failures[metric.name] = f"{type(error).__name__}: {error}"
        self.seconds[metric.name] = time.perf_counter() - began

    def value(self, metric: Metric) -> float:
        """Return the metric's value: from the scores, from the detections, or the best over thresholds."""
        parameters = self.parameters[metric.name]
        validate.defined(self.scored.events, "raise", needs_normal=metric.needs_normal)
        if metric.takes == "scores":
            found = metric.compute(self.scored, **parameters)
            if isinstance(found, DQEResult):
                self.dqe = found
                return found.dqe
            return float(found)
        if self.binary:
            detections: BoolArray = self.raw == 1
            return float(metric.compute(Match(self.scored, detections), **parameters).f1)
        self.best[metric.name] = _best(metric, self.scored, self.raw, metric.sweep, parameters)
        return self.best[metric.name].value

    def evaluation(self) -> Evaluation:
        """Return what was computed."""
        return Evaluation(
            values=self.values,
            seconds=self.seconds,
            failures=self.failures,
            parameters=self.parameters,
            best=self.best,
            near=self.near,
            binary=self.binary,
            dqe=self.dqe,
            labels=self.labels,
            make_chance=partial(_chance, self.scored.labels, int(np.count_nonzero(self.raw)) if self.binary else None),
        )


def _chance(labels: BoolArray, detected: int | None, evaluation: Evaluation, repeats: int, seed: int) -> Chance:
    """Return the chance level: random scores, or as many random detections as there were."""
    random = np.random.default_rng(seed)
    names = list(evaluation.values)
    rows = []
    for _ in range(validate.whole("repeats", repeats, least=1)):
        scores = random.random(len(labels))
        if detected is not None:
            scores = (np.argsort(np.argsort(scores)) < detected).astype(float)
        drawn = panel(labels, scores, near=evaluation.near, metrics=names)
        rows.append([drawn.values[name] for name in names])
    mean, spread = np.mean(rows, axis=0), np.std(rows, axis=0)
    return Chance(
        values=evaluation.values,
        mean=dict(zip(names, mean.tolist(), strict=True)),
        spread=dict(zip(names, spread.tolist(), strict=True)),
        repeats=repeats,
        labels=evaluation.labels,
    )
