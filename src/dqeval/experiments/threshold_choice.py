"""Whether results depend on which thresholds are taken (L4): few, many, all, evenly spaced or by rank, or the best."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from dqeval.analysis.evaluate import evaluate
from dqeval.analysis.panel import panel_of
from dqeval.bench.jobs import Job
from dqeval.core.prepared import Labelled, Scored
from dqeval.core.registry import experiment, label_of
from dqeval.core.scaling import min_max
from dqeval.core.types import BoolArray, FloatArray
from dqeval.experiments.by_choice import ByChoice, by_choice
from dqeval.experiments.detector_runs import (
    BEYOND,
    DetectorRun,
    Runs,
    ScoredSeries,
    folder_name,
    run_on_datasets,
    scored_series,
    shortfalls,
)
from dqeval.experiments.outcome import OURS, Cell, Claim, Outcome
from dqeval.experiments.score_work import work_on_scores
from dqeval.experiments.setting import Setting
from dqeval.experiments.verdicts import decision
from dqeval.metrics.dqe import dqe_score
from dqeval.render.tables import Table

NAME = "threshold-choice"
FEW, USUAL, MANY = 10, 100, 250
ALL, RANKS, LOG_RANKS = "all", "100 by rank", "all, by the logarithm of the rank"
SQUARES, ROOTS = "100, of squared scores", "100, of square roots"
COUNTS = (str(FEW), str(USUAL), str(MANY))
BEST_DQE = "best dqe"
LABELS = {"dqe": "DQE", BEST_DQE: "DQE at its best threshold"}
# What each metric is computed with, the usual choice first.
CHOICES: dict[str, tuple[str, ...]] = {
    "dqe": ("100", "10", "250", ALL, RANKS, SQUARES, ROOTS, LOG_RANKS),
    BEST_DQE: (ALL, *COUNTS, RANKS),
    "point_f1": (ALL, *COUNTS, RANKS),
    "vus_roc": ("100", "10", "250"),
    "vus_pr": ("100", "10", "250"),
    "pate": ("100", "10", "250"),
}
HOW = (
    "DQE is a mean over thresholds, here of 10, 100, 250 and of all, evenly spaced from the lowest score to the "
    "highest; of 100 at quantiles of the scores; and of scores that were squared or whose root was taken first, which "
    "changes no order of points. Original-F is reported at its best threshold, and so, for comparison, is DQE. VUS and "
    "PATE take their thresholds at quantiles."
)
_SECTION = "2.4"


@experiment(name=NAME, label="The choice of thresholds", published="the limitation L4")
def threshold_choice(setting: Setting) -> Iterator[Outcome]:
    """Compute DQE and other metrics from few, many and all thresholds, evenly spaced or by rank, or at the best one."""
    datasets, runs, notes = run_on_datasets(setting, beyond=tuple(BEYOND))
    found = choose_thresholds(runs, setting)
    values = {
        (dataset, metric): by_choice(found, dataset, runs.detectors, choices, partial(_numbers, metric, choices))
        for dataset in datasets
        for metric, choices in CHOICES.items()
    }
    yield outcome(values, [*notes, HOW, *shortfalls(runs)])


def choose_thresholds(runs: Runs, setting: Setting) -> dict[DetectorRun, Any]:
    """Return metrics with several choices of thresholds, for every series, detector and seed."""
    every = runs.each_run(OURS, beyond=True)
    return work_on_scores(
        runs,
        every,
        choices_of,
        setting,
        file="threshold_choice.jsonl",
        what="choices of thresholds",
        also=f"{sum(map(len, CHOICES.values()))} choices",
    )


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
        for metric, of_metric in values.items():
            of_metric[str(count)] = panel.values[metric]
    return values


def _numbers(metric: str, choices: Sequence[str], line: Mapping[str, Any]) -> list[float]:
    return [line[metric][choice] for choice in choices]


def outcome(values: Mapping[tuple[str, str], ByChoice], notes: Sequence[str]) -> Outcome:
    """Return what the choice of thresholds changes, by dataset and metric."""
    values = {key: of for key, of in values.items() if of.series}
    datasets = list(dict.fromkeys(dataset for dataset, _ in values))
    of_datasets = {dataset: {m: values[dataset, m] for m in CHOICES} for dataset in datasets}
    return Outcome(
        folder_name(NAME, datasets),
        "Metrics with other thresholds",
        {f"Thresholds on {dataset}": _table(of) for dataset, of in of_datasets.items()},
        [
            Cell(NAME, f"thresholds on {dataset}", detector, f"{metric}, {choice}", float(of.means[i, j]))
            for (dataset, metric), of in values.items()
            for i, detector in enumerate(of.detectors)
            for j, choice in enumerate(of.choices)
        ],
        [claim for dataset, of in of_datasets.items() for claim in _claims(dataset, of)],
        [note for note in notes if note],
    )


def _table(of: Mapping[str, ByChoice]) -> Table:
    rows = []
    for metric, values in of.items():
        usual = values.choices[0]
        for choice in values.choices:
            rows.append(
                (
                    _label(metric),
                    choice,
                    " > ".join(values.order(choice)),
                    f"{values.moves(choice, usual).mean():.3f}",
                    f"{100 * values.other_best(choice, usual).mean():.0f} %",
                )
            )
    header = ("metric", "thresholds", "order by the mean", "mean change", "series with another best")
    count = len(next(iter(of.values())).series)
    return Table(header, rows, note=f"{count:,} series; changes are against the first row of a metric", text_columns=3)


def _label(metric: str) -> str:
    return LABELS.get(metric) or label_of(metric)


def _claims(dataset: str, of: Mapping[str, ByChoice]) -> Iterator[Claim]:
    dqe, f1 = of["dqe"], of["point_f1"]
    decide = partial(decision, dqe.resamples)
    off_f1, off_dqe = (np.mean([values.moves(choice, ALL) for choice in COUNTS]) for values in (f1, dqe))
    drawn_f1, drawn_dqe = (np.sum([v.resampled_moves(choice, ALL) for choice in COUNTS], axis=0) for v in (f1, dqe))
    text = (
        f"on {dataset}, which thresholds are searched (10, 100 or 250 instead of all) changes Original-F at its best "
        "one more than DQE, the mean over them"
    )
    found = f"Original-F changes by {off_f1:.3f}, DQE by {off_dqe:.3f}, on average"
    yield decide(found, lambda i: bool(drawn_f1[i] > drawn_dqe[i])).as_claim(_SECTION, text)
    for text, choices in (
        (f"on {dataset}, DQE orders the detectors alike with 100, 250 and all thresholds", ("100", "250", ALL)),
        (f"on {dataset}, DQE orders them alike if thresholds are quantiles of the scores", ("100", RANKS)),
        (f"on {dataset}, DQE orders them alike if scores are squared first", ("100", SQUARES)),
    ):
        orders = "; ".join(f"{choice}: {' > '.join(dqe.order(choice))}" for choice in choices)
        yield decide(orders, partial(dqe.same_order, choices)).as_claim("3.5", text)


def ranks(scores: FloatArray) -> FloatArray:
    """Return scores as the share of points that score as much or less: thresholds that are even in them are quantiles.

    Examples
    --------
    >>> ranks(np.array([0.1, 5.0, 0.1, 0.3])).tolist()
    [0.5, 1.0, 0.5, 0.75]
    """
    return np.asarray(np.searchsorted(np.sort(scores), scores, side="right") / len(scores))
