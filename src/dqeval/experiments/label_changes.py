"""What small changes of the labels do to the metrics (L1): borders that move by a point or more, labels that lack."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqeval.analysis.panel import panel
from dqeval.bench.jobs import Job
from dqeval.core.events import flags_of
from dqeval.core.prepared import Labelled
from dqeval.core.scaling import min_max
from dqeval.core.types import BoolArray
from dqeval.experiments.detector_runs import DetectorRun, Runs, scored_series
from dqeval.experiments.outcome import OURS, PAPER_METRICS
from dqeval.experiments.robustness import SEEDS, stream_of
from dqeval.experiments.score_work import work_on_scores
from dqeval.experiments.setting import Setting
from dqeval.lab.perturbations import JITTER, MISSING, Random, moved, split

NAME = "label-changes"
DRAWS = 10
KINDS = {
    "point": "borders moved by a point",
    "period": f"borders moved by {100 * JITTER:g} % of the period",
    "split": "labels missing in the middle",
}


@dataclass(frozen=True, slots=True)
class Task:
    """A detector's scores, whose labels are changed, and the seed of the changes."""

    job: Job
    seed: int


def change_labels(runs: Runs, setting: Setting) -> dict[DetectorRun, Any]:
    """Return how the metrics answer to changed labels, for every series, detector and seed."""
    return work_on_scores(
        runs,
        runs.each_run(OURS, seeds=SEEDS),
        changes_of,
        setting,
        file="label_changes.jsonl",
        what="changed labels",
        task=lambda job: Task(job, setting.seed),
        also=f"labels {setting.seed}",
    )


def changes_of(task: Task) -> dict[str, dict[str, list[float]]]:
    """Return the standard deviation of each metric over the copies of each kind, and how far it moves on average."""
    found = scored_series(task.job)
    scores, labelled = min_max(found.scores), Labelled(found.labels)
    before = _values(found.labels, scores, found.period)
    changed = {}
    for number, kind in enumerate(KINDS):
        random = stream_of(task.job.series.source.name, task.seed, number)
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
    found = panel(labels, scores, period=period, metrics=PAPER_METRICS)
    return [found.values[metric] for metric in PAPER_METRICS]
