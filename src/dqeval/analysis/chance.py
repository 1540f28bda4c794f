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
from dqeval.core.events import find_events, flags_of
from dqeval.core.joined import chunks
from dqeval.core.prepared import Labelled, Scored
from dqeval.core.registry import METRICS
from dqeval.core.types import Events, FloatArray, IntArray
from dqeval.support.threads import in_order, worker_count

# Some scores, the near range, the thresholds of DQE and metrics, to what these say of each.
ValuesOf = Callable[[Sequence[Scored], float, int | Literal["exact"], Sequence[Metric]], list[list[float]]]

# What is drawn: alerts of these lengths, or so many points that are detected; None for scores.
Drawn = IntArray | int | None

_IN_WORDS = {
    type(None): "random scores",
    int: "as many random detections",
    np.ndarray: "as many random alerts",
}
MOST_CHANCE_LEVELS = 16
# The last ones: who tries one detector after the other on the same labels needs the same chance level each time.
_chance_levels: dict[Hashable, tuple[list[Metric], list[list[float]]]] = {}


def drawn_like(scored: Scored) -> Drawn:
    """Return what random draws for the chance level have in common with these scores.

    Finer cells have more cells per alert, not more alerts: so on a clock, alerts are drawn, as long as the detector's.
    """
    if not scored.binary:
        return None
    if not scored.labelled.on_clock:
        return int(np.count_nonzero(scored.raw))
    alerts = find_events(scored.raw == 1)
    return np.asarray(alerts.stops - alerts.starts)


def _random_alerts(random: np.random.Generator, lengths: IntArray, points: int) -> FloatArray:
    """Draw alerts of some lengths, in any order and anywhere, but apart from each other; gaps may cut them."""
    lasting = random.permutation(lengths)
    free = points - int(lasting.sum())
    before = np.sort(random.choice(free + 1, len(lasting), replace=False))  # free points before each alert
    stops = before + np.cumsum(lasting)
    return flags_of(Events(stops - lasting, stops, points)).astype(np.float64)


def _random_rows(
    values_of: ValuesOf,
    labelled: Labelled,
    drawn: Drawn,
    near: float,
    thresholds: int | Literal["exact"],
    metrics: Sequence[Metric],
    count: int,
    seed: int,
    progress: Callable[[int, int], None] | None,
    workers: int,
) -> list[list[float]]:
    """Return what the metrics say of random scores or detections, one row per repeat."""
    random, points = np.random.default_rng(seed), len(labelled.labels)

    def draw() -> FloatArray:
        return _random_alerts(random, drawn, points) if isinstance(drawn, np.ndarray) else random.random(points)

    def work(several: list[FloatArray]) -> list[list[float]]:
        if isinstance(drawn, int):
            several = [(np.argsort(np.argsort(scores)) < drawn).astype(float) for scores in several]
        scored = [Scored(labelled, scores, binary=drawn is not None) for scores in several]
        return values_of(scored, near, thresholds, metrics)

    rows: list[list[float]] = []
    several = chunks((draw() for _ in range(count)), len)
    for row in chain.from_iterable(in_order(work, several, workers)):
        rows.append(row)
        if progress is not None:
            progress(len(rows), count)
    return rows


def chance_of(
    values_of: ValuesOf,
    labelled: Labelled,
    drawn: Drawn,
    thresholds: int | Literal["exact"],
    evaluation: Evaluation,
    repeats: int,
    seed: int,
    progress: Callable[[int, int], None] | None,
    workers: int | None,
) -> Chance:
    """Return the chance level: random scores, or random alerts (see `drawn_like`)."""
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
        drawn.tobytes() if isinstance(drawn, np.ndarray) else drawn,
        evaluation.near,
        thresholds,
        tuple(map(id, metrics)),
        count,
        start,
    )
    if key not in _chance_levels:
        rows = _random_rows(
            values_of, labelled, drawn, evaluation.near, thresholds, metrics, count, start, progress, threads
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
        drawn=_IN_WORDS[type(drawn)],
    )
