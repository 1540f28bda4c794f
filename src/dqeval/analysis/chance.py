"""The chance level of a panel: what its metrics say of random scores on the same labels."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Sequence
from itertools import chain
from typing import Literal

import numpy as np

from dqeval.analysis.panel_result import Chance, Evaluation
from dqeval.core import arguments, validate
from dqeval.core.entries import Metric
from dqeval.core.joined import chunks
from dqeval.core.prepared import Labelled, Scored
from dqeval.core.registry import METRICS
from dqeval.core.types import FloatArray
from dqeval.support.threads import in_order, worker_count

# Some scores, the near range, the thresholds of DQE and metrics, to what these say of each.
ValuesOf = Callable[[Sequence[Scored], float, int | Literal["exact"], Sequence[Metric]], list[list[float]]]

MOST_CHANCE_LEVELS = 16
# The last ones: who tries one detector after the other on the same labels needs the same chance level each time.
_chance_levels: dict[Hashable, tuple[list[Metric], list[list[float]]]] = {}


def _random_rows(
    values_of: ValuesOf,
    labelled: Labelled,
    detected: int | None,
    near: float,
    thresholds: int | Literal["exact"],
    metrics: Sequence[Metric],
    count: int,
    seed: int,
    progress: Callable[[int, int], None] | None,
    workers: int,
) -> list[list[float]]:
    """Return what the metrics say of random scores or detections, one row per repeat."""
    random = np.random.default_rng(seed)

    def work(several: list[FloatArray]) -> list[list[float]]:
        if detected is not None:
            several = [(np.argsort(np.argsort(scores)) < detected).astype(float) for scores in several]
        scored = [Scored(labelled, scores, binary=detected is not None) for scores in several]
        return values_of(scored, near, thresholds, metrics)

    rows: list[list[float]] = []
    several = chunks((random.random(len(labelled.labels)) for _ in range(count)), len)
    for row in chain.from_iterable(in_order(work, several, workers)):
        rows.append(row)
        if progress is not None:
            progress(len(rows), count)
    return rows


def chance_of(
    values_of: ValuesOf,
    labelled: Labelled,
    detected: int | None,
    thresholds: int | Literal["exact"],
    evaluation: Evaluation,
    repeats: int,
    seed: int,
    progress: Callable[[int, int], None] | None,
    workers: int | None,
) -> Chance:
    """Return the chance level: random scores, or as many random detections as there were."""
    count = arguments.whole_number("repeats", repeats, least=1, most=validate.MOST_COUNTED)
    start = arguments.seed(seed)
    arguments.callback("progress", progress)
    threads = worker_count(workers, points=len(labelled.labels))
    names = list(evaluation.values)
    metrics = [METRICS[name] for name in names]
    points = hashlib.sha256(labelled.labels.tobytes()).digest()
    key = (
        points,
        labelled.breaks.tobytes(),
        detected,
        evaluation.near,
        thresholds,
        tuple(map(id, metrics)),
        count,
        start,
    )
    if key not in _chance_levels:
        rows = _random_rows(
            values_of, labelled, detected, evaluation.near, thresholds, metrics, count, start, progress, threads
        )
        while len(_chance_levels) >= MOST_CHANCE_LEVELS:
            _chance_levels.pop(next(iter(_chance_levels)))
        _chance_levels[key] = metrics, rows  # with the metrics, so that no others get their ids
    elif progress is not None:
        for done in range(1, count + 1):
            progress(done, count)
    _, rows = _chance_levels[key]
    # A metric in a row of its own: its mean must not depend on how many others there are, not even in the last digit.
    columns = np.ascontiguousarray(np.transpose(rows))
    mean, spread = np.mean(columns, axis=1), np.std(columns, axis=1)
    return Chance(
        values=evaluation.values,
        mean=dict(zip(names, mean.tolist(), strict=True)),
        spread=dict(zip(names, spread.tolist(), strict=True)),
        repeats=repeats,
        labels=evaluation.labels,
    )
