"""The paper's five detectors on some series, as a benchmark run: it can be resumed, and stores the scores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.metadata import version
from pathlib import Path

import numpy as np

from dqeval.bench.jobs import Job, scores_of
from dqeval.bench.plan import Generated, Plan, PlannedDetector, PlannedSeries
from dqeval.bench.pool import Limits
from dqeval.bench.runner import State, run
from dqeval.bench.series_cache import read_series
from dqeval.bench.store import Store
from dqeval.core.near import period_or_fallback
from dqeval.core.registry import DETECTORS
from dqeval.core.types import BoolArray, EventScores, FloatArray, Series
from dqeval.datasets.loading import Source
from dqeval.experiments.outcome import OURS, PAPER_METRICS, PUBLISHED, By
from dqeval.experiments.setting import PAPER_COUNTS, NoDataError, Setting, draw_sample, find_series
from dqeval.render.tables import count_of
from dqeval.support import extras

# The paper's detectors, by what its tables call them. The others are the same in print and here.
NAMES = {"KMeansAD": "kmeans_ad", "TimesNet": "timesnet", "CNN": "cnn", "Sub-LOF": "sub_lof", "FFT": "fft"}
VARIED = ("TimesNet", "CNN", "FFT")
QUICK_SUBSET = 2  # series of each dataset


def usable_detectors() -> tuple[str, ...]:
    """Return which of the paper's detectors can be run: two need PyTorch."""
    return tuple(label for label, name in NAMES.items() if not extras.missing(DETECTORS[name].extra))


def missing_sentence(detectors: Sequence[str]) -> str:
    """Say which of the paper's detectors were left out, and what to install; nothing if none was."""
    left_out = [label for label in NAMES if label not in detectors]
    return (
        f"{' and '.join(left_out)} need PyTorch, which is not installed: {extras.install('deep')}." if left_out else ""
    )


@dataclass(frozen=True)
class Runs:
    """What the detectors gave, each as this library has it and as the paper's numbers were made.

    Attributes
    ----------
    folder : Path
        Of the benchmark run.
    series : tuple of PlannedSeries
    detectors : tuple of str
        Their labels in the paper.
    metrics : tuple of str
    seed : int
    """

    folder: Path
    series: tuple[PlannedSeries, ...]
    detectors: tuple[str, ...]
    metrics: tuple[str, ...]
    seed: int

    def job(self, series: PlannedSeries, detector: str, by: By) -> Job:
        """Return the job of the run that made a detector's scores."""
        place = str(self.folder.resolve() / "scores")
        return Job(
            series, _planned_detector(detector, by), self.seed, self.metrics, None, None, place, version("dqeval")
        )

    def scores(self, series: PlannedSeries, detector: str, by: By, read: Series | None = None) -> FloatArray:
        """Return a detector's scores of a series, which the run has kept; ``read`` is the series, if it is at hand."""
        return scores_of(self.job(series, detector, by), read or read_series(series.source))

    def value(self, series: str, detector: str, by: By, metric: str) -> float | None:
        """Return the value of a metric; None if it is undefined, or the detector failed."""
        return self._values.get((series, _label(detector, by), metric))

    def has(self, series: PlannedSeries, detector: str, by: By) -> bool:
        """Return whether there are scores, and events to evaluate them by."""
        return self.value(series.source.name, detector, by, "dqe") is not None

    def events(self, series: str, detector: str, by: By) -> list[EventScores]:
        """Return DQE of each event of a series."""
        return self._events.get((series, _label(detector, by)), [])

    @cached_property
    def failures(self) -> list[str]:
        """What failed, a sentence each."""
        names = {each.source.name for each in self.series}
        with Store(self.folder) as store:
            rows = [row for row in store.failures() if row["series"] in names]
        return [f"{row['detector']} on {row['series']}: {row['reason']}" for row in rows]

    @cached_property
    def _values(self) -> Mapping[tuple[str, str, str], float]:
        with Store(self.folder) as store:
            return {(row["series"], row["detector"], row["metric"]): row["value"] for row in store.values()}

    @cached_property
    def _events(self) -> Mapping[tuple[str, str], list[EventScores]]:
        found: dict[tuple[str, str], list[EventScores]] = {}
        with Store(self.folder) as store:
            for row in store.events():
                scores = (row[part] for part in ("start", "stop", "dqe", "capture", "near_miss", "false_alarm"))
                found.setdefault((row["series"], row["detector"]), []).append(EventScores(*scores))
        return found


@dataclass(frozen=True, slots=True)
class ScoredSeries:
    """A detector's scores of a series, and what they are evaluated with."""

    labels: BoolArray
    scores: FloatArray
    period: float


def run_detectors(
    series: Iterable[PlannedSeries],
    setting: Setting,
    *,
    detectors: Sequence[str] | None = None,
    metrics: Sequence[str] = PAPER_METRICS,
) -> Runs:
    """Run the paper's detectors on some series, in both forms, unless that was done before in the same folder."""
    chosen = tuple(usable_detectors() if detectors is None else detectors)
    # A folder per seed, so that each value is of one.
    runs = Runs(setting.folder / "runs" / f"seed{setting.seed}", tuple(series), chosen, tuple(metrics), setting.seed)
    planned = {_label(detector, by): _planned_detector(detector, by) for detector in chosen for by in (OURS, PUBLISHED)}
    plan = Plan(runs.metrics, (setting.seed,), None, None, Limits(), (), runs.series, tuple(planned.values()))

    def tell(state: State) -> None:
        setting.progress(f"detectors: {state.total - state.left:,} of {state.total:,} jobs, {state.failed:,} failed")

    again = partial(run, plan, runs.folder, retry_failed=True, progress=tell)
    again(workers=setting.workers, scheduler=setting.scheduler)
    return runs


def scored_series(job: Job) -> ScoredSeries:
    """Return the scores of a job that was done, with the labels and the period of its series."""
    series = read_series(job.series.source)
    labels = np.asarray(series.labels, dtype=np.bool_)
    return ScoredSeries(labels, scores_of(job, series), period_or_fallback(series))


def folder_name(experiment: str, datasets: Iterable[str]) -> str:
    """Return what the outcome of an experiment is called: what generated series give is kept apart from the real."""
    return experiment if set(datasets) <= set(PAPER_COUNTS) else f"{experiment}-generated"


def real_series(dataset: str, found: Iterable[Source]) -> list[PlannedSeries]:
    """Return series of a dataset as a benchmark run takes them."""
    return [PlannedSeries(dataset, source) for source in found]


def generated_series(
    count: int, *, n: int = 3000, period: int = 48, events: int = 6, seed: int = 0
) -> list[PlannedSeries]:
    """Return generated series, for where the real ones are not there."""
    parameters = {"n": n, "period": period, "events": events}
    return [
        PlannedSeries(
            "synthetic", Generated(f"synthetic_{n}_{i}", "synthetic", tuple(sorted({**parameters, "seed": i}.items())))
        )
        for i in range(seed, seed + count)
    ]


def series_by_dataset(setting: Setting) -> tuple[dict[str, list[PlannedSeries]], list[str]]:
    """Return the series to work on, by dataset, and notes on them; generated ones without data."""
    subset = QUICK_SUBSET if setting.quick and setting.subset is None else setting.subset
    every, missing = {}, {}
    for dataset in PAPER_COUNTS:
        try:
            every[dataset] = find_series(setting.data, dataset)
        except NoDataError as error:
            missing[dataset] = str(error)
    if not every:
        note = f"On generated series, as there are no others: {next(iter(missing.values()))}."
        return {"synthetic": generated_series(subset or 2 * QUICK_SUBSET, seed=setting.seed)}, [note]
    chosen = {
        dataset: real_series(dataset, draw_sample(found, subset, setting.seed)) for dataset, found in every.items()
    }
    counts = [_count(dataset, len(series), len(every[dataset])) for dataset, series in chosen.items()]
    sample = f", sampled with seed {setting.seed}" if any(len(chosen[d]) < len(every[d]) for d in every) else ""
    return chosen, [f"On {' and '.join(counts)}{sample}.", *(f"{d} is left out: {why}." for d, why in missing.items())]


def _count(dataset: str, chosen: int, there: int) -> str:
    of = f"{chosen} of {there}" if chosen < there else f"{there}"
    return f"{of} {dataset} series (the paper has {PAPER_COUNTS[dataset]})"


def failures_sentence(runs: Runs) -> str:
    """Say how many detector runs failed, and one reason; nothing if none did."""
    if not runs.failures:
        return ""
    return f"{count_of(len(runs.failures), 'detector run')} failed, such as {runs.failures[0].rstrip('.')}."


def _label(detector: str, by: By) -> str:
    """Return what a detector is called in the run: one that is the same in both forms has one name."""
    return f"{detector}, {PUBLISHED}" if by == PUBLISHED and detector in VARIED else detector


def _planned_detector(detector: str, by: By) -> PlannedDetector:
    parameters = (("variant", "published"),) if by == PUBLISHED and detector in VARIED else ()
    return PlannedDetector(_label(detector, by), NAMES[detector], parameters)
