"""What small changes of the labels do to the metrics (L1): borders that move by a point or more, labels that lack."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from dqeval.analysis.panel import panel
from dqeval.core.events import flags_of
from dqeval.core.prepared import Labelled
from dqeval.core.registry import experiment
from dqeval.core.scaling import min_max
from dqeval.core.types import BoolArray
from dqeval.experiments.detector_runs import (
    DetectorRun,
    Runs,
    folder_name,
    run_on_datasets,
    scored_series,
    shortfalls,
)
from dqeval.experiments.outcome import OURS, PAPER_METRICS, Claim, Outcome
from dqeval.experiments.robustness import SEEDS
from dqeval.experiments.score_work import SeededJob, work_on_scores
from dqeval.experiments.setting import Setting
from dqeval.experiments.varied import SeriesSpreads, Varied, draw, spreads_in_words
from dqeval.experiments.verdicts import decision
from dqeval.lab.perturbations import JITTER, MISSING, Random, moved, split

NAME = "label-changes"
DRAWS = 10
POINTWISE = ("point_f1", "auc_pr", "point_adjusted_k_f1", "dqe")  # the metrics that count points, and DQE
_SECTION = "2.1"
KINDS = {
    "point": "borders moved by a point",
    "period": f"borders moved by {100 * JITTER:g} % of the period",
    "split": "labels missing in the middle",
}


@experiment(name=NAME, label="Metrics under changed labels", published="the limitation L1")
def label_changes(setting: Setting) -> Iterator[Outcome]:
    """Measure how far each metric moves when the borders of labels move a little, or some labels are missing."""
    datasets, runs, notes = run_on_datasets(setting)
    found = change_labels(runs, setting)
    by_dataset: dict[str, list[SeriesSpreads]] = {dataset: [] for dataset in datasets}
    for each, changes in found.items():
        moves = {kind: {m: [of[m][1]] for m in PAPER_METRICS} for kind, of in changes.items()}
        by_dataset[each.series.dataset].append(
            SeriesSpreads(each.name, moves, each.detector, each.seed, runs.values(each))
        )
    yield outcome(by_dataset, [*notes, HOW, *shortfalls(runs)])


HOW = (
    "Each number is by how much a metric moves, up or down, averaged over the changed copies, the series and the "
    f"detectors, in dqeval's form. Borders move at random, by a point or by up to {100 * JITTER:g} % of the period, "
    f"{DRAWS} times each; or {', '.join(map(str, MISSING))} labels are missing in the middle of events."
)


def outcome(by_dataset: Mapping[str, Sequence[SeriesSpreads]], notes: Sequence[str]) -> Outcome:
    """Return how far metrics move, as they are and beside the spread between detectors."""
    groups = {dataset: Varied(list(found), KINDS) for dataset, found in by_dataset.items()}
    tables = {}
    for dataset, varied in groups.items():
        tables[f"Changed labels, {dataset}"] = varied.table()
        tables[f"Changed labels, intervals, {dataset}"] = varied.interval_table()
        tables[f"Changed labels beside the spread between detectors, {dataset}"] = varied.relative_table()
    return Outcome(
        folder_name(NAME, by_dataset),
        "How far metrics move when labels are changed a little",
        tables,
        [cell for dataset, varied in groups.items() for cell in varied.cells(NAME, f"changed labels, {dataset}")],
        [claim for dataset, varied in groups.items() for claim in _claims(dataset, varied)],
        [note for note in notes if note],
        {"label_changes": partial(draw, groups, "mean change")},
    )


def _claims(dataset: str, varied: Varied) -> Iterator[Claim]:
    text = f"on {dataset}, a border that moves by a point moves Original-F, AUC-PR and PA-K more than DQE"
    enough = varied.resamples.enough
    moving = list(varied.resampled("point")) if enough else []
    found = spreads_in_words(varied.means["point"], POINTWISE)
    yield decision(varied.resamples, found, lambda i: _calmest(moving[i])).as_claim(_SECTION, text)
    text = f"on {dataset}, so it does if each is divided by the spread between the detectors"
    shares = list(varied.resampled_relative("point")) if enough else []
    found = spreads_in_words(varied.relative["point"], POINTWISE)
    yield decision(varied.resamples, found, lambda i: _calmest(shares[i])).as_claim(_SECTION, text)


def _calmest(moves: Mapping[str, float]) -> bool:
    """Return whether DQE moves least."""
    return all(moves["dqe"] < moves[metric] for metric in POINTWISE if metric != "dqe")


def change_labels(runs: Runs, setting: Setting) -> dict[DetectorRun, Any]:
    """Return how the metrics answer to changed labels, for every series, detector and seed."""
    return work_on_scores(
        runs,
        runs.each_run(OURS, seeds=SEEDS),
        changes_of,
        setting,
        file="label_changes.jsonl",
        what="changed labels",
        task=lambda job: SeededJob(job, setting.seed),
        also=f"labels {setting.seed}",
    )


def changes_of(task: SeededJob) -> dict[str, dict[str, list[float]]]:
    """Return the standard deviation of each metric over the copies of each kind, and how far it moves on average."""
    found = scored_series(task.job)
    scores, labelled = min_max(found.scores), Labelled(found.labels)
    before = _values(found.labels, scores, found.period)
    changed = {}
    for number, kind in enumerate(KINDS):
        random = task.stream(number)
        copies = [
            _values(labels, scores, found.period) for labels in changed_labels(kind, labelled, found.period, random)
        ]
        if copies:
            spread = np.std(copies, axis=0)
            moves = np.abs(np.array(copies) - before).mean(axis=0)
            changed[kind] = dict(zip(PAPER_METRICS, np.stack([spread, moves], axis=1).tolist(), strict=True))
    return changed


def changed_labels(kind: str, labelled: Labelled, period: float, random: Random) -> Iterator[BoolArray]:
    """Yield changed copies of labels; none where no event is long enough to be split."""
    if kind == "split":
        copies = (split(labelled, missing) for missing in MISSING)
        yield from (labels for labels in copies if labels is not None)
        return
    reach = 1 if kind == "point" else max(1, round(JITTER * period))
    for _ in range(DRAWS):
        moves = random.integers(-reach, reach + 1, size=2 * len(labelled.events))
        yield flags_of(moved(labelled.events, moves, labelled.breaks))


def _values(labels: BoolArray, scores: Any, period: float) -> list[float]:
    found = panel(labels, scores, period=period, metrics=PAPER_METRICS, workers=1)
    return [found.values[metric] for metric in PAPER_METRICS]
