"""What the pages of a benchmark run share: its plan, its rankings, a verdict on them, and what has no value."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dqeval.bench.jobs import DETECT, EVALUATE
from dqeval.bench.kept_plan import read_kept_plan
from dqeval.bench.plan import Plan
from dqeval.bench.ranking import rank_store
from dqeval.bench.ranking_result import Ranking
from dqeval.bench.statistics import LEVEL, Significance, Standing
from dqeval.bench.store import Store
from dqeval.core.registry import label_of
from dqeval.render.tables import in_words
from dqeval.support.short_paths import without_folders

Lacking = Counter[tuple[str, str, str, str]]  # how often, by status, detector, metric and reason


def plan_of_run(folder: Path) -> Plan | str:
    """Return the plan of a run, or why there is none; no module that it names is imported."""
    try:
        return read_kept_plan(folder, imports=False).plan
    except (OSError, ValueError) as error:
        return without_folders(str(error).removeprefix(f"{folder}: "))


def ranking_or_reason(store: Store, **options: Any) -> Ranking | str:
    """Return a ranking, or why there is none."""
    try:
        return rank_store(store, **options)
    except ValueError as error:
        return f"There is no ranking: {without_folders(str(error), [str(store.path.parent.parent)])}."


def verdict_on(ranking: Ranking, metric: str, found: Significance) -> str:
    """Say which detector is best by a metric, by how much, and from which others it is told apart."""
    standing = ranking.standings[metric]
    first, *others = np.argsort(-standing.mean, kind="stable").tolist()
    best, names = ranking.detectors[first], [ranking.detectors[i] for i in others]
    over = f"{ranking.n:,} {'series' if ranking.by == 'series' else 'events'}"
    lead = f"{best} is best by {label_of(metric)}: {standing.mean[first]:.3f} on average over {over}"
    interval = interval_in_words(standing, first)
    if not others:
        return f"{lead} ({interval})."
    p_values = {(set(pair) - {best}).pop(): p for pair, p in found.pairs.items() if best in pair}
    alike = [other for other in names if p_values[other] >= LEVEL]
    surely = f"is not told apart from {in_words(alike)}" if alike else "differs from every other by more than chance"
    test = f"Wilcoxon's test, corrected after Holm, level {LEVEL:g}"
    return f"{lead} ({interval}), followed by {names[0]} ({standing.mean[others[0]]:.3f}). It {surely} ({test})."


def interval_in_words(standing: Standing, i: int) -> str:
    """Return the interval of a detector's mean, and what seeds do to it, in words."""
    interval = standing.intervals[i]
    seeds = standing.seed_deviation[i]
    words = f"95 % interval {interval}" if interval.is_known else f"no interval, {interval}"
    return words if np.isnan(seeds) else f"{words}, ± {seeds:.3f} by seed"


def lacking_values(rows: Iterable[Mapping[str, Any]]) -> Lacking:
    """Return how often there is no value."""
    lacking = (row for row in rows if row["status"] != "ok")
    return Counter((row["status"], row["detector"], row["metric"], row["reason"]) for row in lacking)


def what_lacks(metric: str) -> str:
    """Return what has no value, in words."""
    return {DETECT: "the detector", EVALUATE: "the evaluation"}.get(metric) or label_of(metric)
