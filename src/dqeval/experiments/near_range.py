"""The question of the paper's outlook, over all series: what the choice of the near range does to DQE."""

from __future__ import annotations

from typing import Any

import numpy as np

from dqeval.bench.jobs import Job
from dqeval.bench.series_cache import read_series
from dqeval.core.near import candidate_periods
from dqeval.core.prepared import Labelled, Scored
from dqeval.experiments.detector_runs import DetectorRun, Runs, scored_series
from dqeval.experiments.outcome import OURS
from dqeval.experiments.score_work import work_on_scores
from dqeval.experiments.setting import Setting
from dqeval.metrics.dqe import dqe_at

NAME = "near-range"
# Of the paper's near range; from 0.2 to 2 as in the authors' later code.
SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 4.0, 8.0)
POINTS = (5.0, 10.0, 25.0, 50.0, 62.5, 100.0, 125.0, 250.0, 500.0, 720.0)
LENGTHS = (1.0, 2.0)  # of the median event


def vary_near(runs: Runs, setting: Setting) -> dict[DetectorRun, Any]:
    """Return DQE with many near ranges, for every series, detector and seed."""
    every = runs.each_run(OURS, beyond=True)
    return work_on_scores(runs, every, ranges_of, setting, file="near_range.jsonl", what="near ranges")


def ranges_of(job: Job) -> dict[str, Any]:
    """Return DQE of a detector's scores with many near ranges, and with half the strongest period at any lag."""
    found = scored_series(job)
    scored = Scored(Labelled(found.labels), found.scores)
    half, length = found.period / 2, float(np.median(scored.labelled.lengths))
    own = _strongest_period(job)
    return {
        "near": half,
        "shares": [dqe_at(scored, share * half) for share in SHARES],
        "points": [dqe_at(scored, near) for near in POINTS],
        "lengths": [dqe_at(scored, times * length) for times in LENGTHS],
        "own": None if own is None else [own / 2, dqe_at(scored, own / 2)],
    }


def _strongest_period(job: Job) -> float | None:
    """Return the lag up to a third of the series at which it repeats best; None if it does at none."""
    values = read_series(job.series.source).values
    assert values is not None
    found = candidate_periods(np.asarray(values, dtype=np.float64).ravel(), most=1)
    return None if not found else float(found[0].or_fallback)
