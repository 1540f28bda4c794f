"""A benchmark run of generated numbers, of any size within seconds: no series, no detector is run."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dqeval.bench.jobs import Job, JobResult, Row
from dqeval.bench.plan import Generated, PlannedDetector, PlannedSeries
from dqeval.bench.store import Store
from dqeval.core.event_scores import EventScores

DATASETS = ("WSD", "UCR", "Yahoo")
DETECTORS = (
    *("Sub-LOF", "KMeansAD", "FFT", "SR", "moving z-score", "absolute difference", "distance from the median"),
    *("moving average", "matrix profile", "CNN", "TimesNet", "random scores"),
)
SEEDED = 3  # of the detectors, the last
METRICS = (
    *("dqe", "dqe_log_rank", "auc_roc", "auc_pr", "vus_roc", "vus_pr", "pate", "point_f1", "point_adjusted_f1"),
    *("range_f1", "etapr_f1", "affiliation_f1", "event_f1", "composite_f1"),
)


def write_run(
    folder: Path,
    *,
    series: Sequence[str] | int = 300,
    detectors: Sequence[str] = DETECTORS,
    metrics: Sequence[str] = METRICS,
    datasets: Sequence[str] = DATASETS,
    seeds: int = 5,
    events: int = 8,
    bounds: Sequence[str] = (),
) -> None:
    """Write the results of a run: a detector is the better the earlier it is named, but not on every series.

    Parameters
    ----------
    folder : Path
    series : sequence of str or int
        Names, or how many.
    detectors, metrics, datasets : sequence of str
        Series take turns in the datasets.
    seeds : int
        For the last three detectors.
    events : int
        Up to so many in a series.
    bounds : sequence of str
        Detectors whose values are all 1, or, but for the first, all 0.
    """
    random = np.random.RandomState(0)
    names = [f"series {i:03d}" for i in range(series)] if isinstance(series, int) else list(series)
    with Store(folder, create=True) as store:
        store.plan([*detectors, *bounds], names)
        for i, name in enumerate(names):
            planned = PlannedSeries(datasets[i % len(datasets)], Generated(name, "synthetic", ()))
            starts = np.sort(random.choice(5000, 1 + i % events, replace=False)).tolist()
            difficulty = random.rand()
            for j, detector in enumerate([*detectors, *bounds]):
                seeded = len(detectors) - SEEDED <= j < len(detectors)
                skill = 0.9 - 0.6 * j / len(detectors) - 0.4 * difficulty
                for seed in range(seeds if seeded else 1):
                    job = Job(
                        planned, PlannedDetector(detector, detector, ()), seed, tuple(metrics), None, None, "", ""
                    )
                    exact = float(detector == bounds[0]) if detector in bounds else None
                    store.add(job, f"{i} {j} {seed}", _outcome(job, starts, skill, exact, random))


def _outcome(
    job: Job, starts: Sequence[int], skill: float, exact: float | None, random: np.random.RandomState
) -> JobResult:
    def drawn(spread: float) -> float:
        return float(np.clip(skill + spread * random.randn(), 0, 1)) if exact is None else exact

    place = (job.series.source.name, job.series.dataset, job.detector.label, job.seed)
    seconds = float(random.gamma(2.0))
    rows = [Row(*place, "detect", None, seconds, "ok", parameters=json.dumps({"window": 100}))]
    rows += [Row(*place, metric, drawn(0.15), 0.001, "ok") for metric in job.metrics]
    if random.rand() < 0.002 and exact is None:
        rows[-1] = Row(*place, job.metrics[-1], None, 0.001, "undefined", "all scores are the same")
    parts = [[drawn(0.3) for _ in range(4)] for _ in starts]
    events = [
        (job.detector.label, EventScores(start, start + 20, *four)) for start, four in zip(starts, parts, strict=True)
    ]
    return JobResult(rows, events, data=f"{job.series.source.name}:")
