"""The paper's five detectors on some series, as a benchmark run: it can be resumed, and stores the scores."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path

import numpy as np

from dqeval.bench.jobs import Job, data_of, kept_scores, scores_of
from dqeval.bench.lock import folder_lock
from dqeval.bench.plan import Generated, Plan, PlannedDetector, PlannedSeries
from dqeval.bench.pool import Limits
from dqeval.bench.results_file import FILE
from dqeval.bench.runner import run
from dqeval.bench.series_cache import read_series
from dqeval.bench.store import Store
from dqeval.core.event_scores import EventScores
from dqeval.core.near import period_or_fallback
from dqeval.core.registry import DETECTORS
from dqeval.core.types import BoolArray, FloatArray, Series
from dqeval.datasets.loading import Source
from dqeval.experiments.outcome import OURS, PAPER_METRICS, PUBLISHED, By
from dqeval.experiments.setting import PAPER_COUNTS, NoDataError, Setting, draw_sample, find_series
from dqeval.render.tables import count_of
from dqeval.support import extras

# The paper's detectors, by what its tables call them. The others are the same in print and here.
NAMES = {"KMeansAD": "kmeans_ad", "TimesNet": "timesnet", "CNN": "cnn", "Sub-LOF": "sub_lof", "FFT": "fft"}
VARIED = ("TimesNet", "CNN", "FFT")
BEYOND = {"SR": "sr"}  # detectors that the paper's tables do not have
QUICK_SUBSET = 2  # series of each dataset


def usable_detectors() -> tuple[str, ...]:
    """Return which of the paper's detectors can be run: two need PyTorch."""
    return tuple(label for label, name in NAMES.items() if not extras.missing(DETECTORS[name].extra))


def draws_random(detector: str) -> bool:
    """Return whether a detector draws random numbers, so that its scores depend on a seed.

    Examples
    --------
    >>> draws_random("CNN"), draws_random("FFT")
    (True, False)
    """
    return "seed" in DETECTORS[_registered(detector)].parameters


def missing_sentence(detectors: Sequence[str]) -> str:
    """Say which of the paper's detectors were left out, and what to install; nothing if none was."""
    left_out = [label for label in NAMES if label not in detectors]
    return (
        f"{' and '.join(left_out)} need PyTorch, which is not installed: {extras.install('deep')}." if left_out else ""
    )


@dataclass(frozen=True, slots=True)
class DetectorRun:
    """What a detector made of a series, in one of the two forms, with one seed.

    Attributes
    ----------
    series : PlannedSeries
    detector : str
        What the paper calls it.
    by : "dqeval" or "as published"
    seed : int
    """

    series: PlannedSeries
    detector: str
    by: By
    seed: int

    @property
    def name(self) -> str:
        """The name of the series."""
        return self.series.source.name

    @property
    def label(self) -> str:
        """What the run calls the detector: one that is the same in both forms has one name."""
        return _label(self.detector, self.by)


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
    seeds : tuple of int
        Of the detectors that draw random numbers; the others ran with the first alone.
    beyond : tuple of str
        Detectors that the paper does not have.
    """

    folder: Path
    series: tuple[PlannedSeries, ...]
    detectors: tuple[str, ...]
    metrics: tuple[str, ...]
    seeds: tuple[int, ...]
    beyond: tuple[str, ...] = ()

    def seeds_of(self, detector: str) -> tuple[int, ...]:
        """Return the seeds that a detector ran with."""
        return self.seeds if draws_random(detector) else self.seeds[:1]

    def each_run(
        self, by: By, *, series: Sequence[PlannedSeries] | None = None, seeds: int | None = None, beyond: bool = False
    ) -> Iterator[DetectorRun]:
        """Yield what there is to work on: every series, detector and seed, or the first so many seeds of each."""
        for each in self.series if series is None else series:
            for detector in (*self.detectors, *(self.beyond if beyond else ())):
                for seed in self.seeds_of(detector)[:seeds]:
                    yield DetectorRun(each, detector, by, seed)

    def first(self, series: PlannedSeries, detector: str, by: By) -> DetectorRun:
        """Return what a detector made of a series with the first seed."""
        return DetectorRun(series, detector, by, self.seeds[0])

    def with_seed(self, series: PlannedSeries, detector: str, by: By, seed: int) -> DetectorRun:
        """Return what a detector made of a series with a seed; with the first, if it draws no random numbers."""
        return DetectorRun(series, detector, by, seed if draws_random(detector) else self.seeds[0])

    def every_run(self) -> list[DetectorRun]:
        """Return all that was asked for, in both forms."""
        return [*self.each_run(OURS, beyond=True), *self.each_run(PUBLISHED)]

    @cached_property
    def jobs(self) -> int:
        """How many jobs that are: a detector that is the same in both forms runs once."""
        return len({(each.name, each.label, each.seed) for each in self.every_run()})

    def job(self, of: DetectorRun) -> Job:
        """Return the job of the run that made a detector's scores."""
        place = str(self.folder.resolve() / "scores")
        planned = _planned_detector(of.detector, of.by)
        return Job(of.series, planned, of.seed, self.metrics, None, None, place, version("dqeval"))

    def key(self, of: DetectorRun) -> str:
        """Return a digest of all that the scores follow from, wherever the series and the run lie."""
        detector = _planned_detector(of.detector, of.by)
        made_with = self.made_with.get((of.name, of.label, of.seed), version("dqeval"))
        origin = [self.data[of.name], detector.name, detector.parameters, of.seed, made_with]
        return hashlib.sha256(json.dumps(origin).encode()).hexdigest()[:32]

    def keeps(self, of: DetectorRun) -> bool:
        """Return whether the scores themselves are there, and not only what the metrics say of them."""
        return kept_scores(self.job(of), read_series(of.series.source)) is not None

    def scores(self, of: DetectorRun, read: Series | None = None) -> FloatArray:
        """Return a detector's scores of a series, which the run has kept; ``read`` is the series, if it is at hand."""
        return scores_of(self.job(of), read or read_series(of.series.source))

    def value(self, of: DetectorRun, metric: str) -> float | None:
        """Return the value of a metric; None if it is undefined, or the detector failed."""
        return self._values.get((of.name, of.label, of.seed, metric))

    def values(self, of: DetectorRun) -> dict[str, float]:
        """Return the value of each metric; NaN where it is undefined."""
        found = {metric: self.value(of, metric) for metric in self.metrics}
        return {metric: float("nan") if value is None else value for metric, value in found.items()}

    def has(self, of: DetectorRun) -> bool:
        """Return whether there are scores, and events to evaluate them by."""
        return self.value(of, "dqe") is not None

    def events(self, of: DetectorRun) -> list[EventScores]:
        """Return DQE of each event of a series."""
        return self._events.get((of.name, of.label, of.seed), [])

    @cached_property
    def data(self) -> Mapping[str, str]:
        """Digests of the series, by name."""
        return {each.source.name: data_of(read_series(each.source)) for each in self.series}

    @cached_property
    def made_with(self) -> Mapping[tuple[str, str, int], str]:
        """The versions of dqeval that made the scores, by series, what the run calls the detector, and seed."""
        with Store(self.folder) as store:
            return store.made_with()

    @cached_property
    def failures(self) -> list[str]:
        """What failed, a sentence each."""
        names = {each.source.name for each in self.series}
        with Store(self.folder) as store:
            rows = [row for row in store.failures() if row["series"] in names]
        return [f"{row['detector']} on {row['series']}: {row['reason']}" for row in rows]

    @cached_property
    def _values(self) -> Mapping[tuple[str, str, int, str], float]:
        with Store(self.folder) as store:
            rows = store.values()
            return {(row["series"], row["detector"], row["seed"], row["metric"]): row["value"] for row in rows}

    @cached_property
    def _events(self) -> Mapping[tuple[str, str, int], list[EventScores]]:
        found: dict[tuple[str, str, int], list[EventScores]] = {}
        with Store(self.folder) as store:
            for row in store.events():
                scores = (row[part] for part in ("start", "stop", "dqe", "capture", "near_miss", "false_alarm"))
                found.setdefault((row["series"], row["detector"], row["seed"]), []).append(EventScores(*scores))
        return found

    def left(self) -> list[PlannedSeries]:
        """Return the series for which not everything is there that was asked for, of the data that they have now.

        What is there is told by its data, not by the path that it was read from: a run may have been made elsewhere.
        """
        if not (self.folder / FILE).exists():
            return list(self.series)
        with Store(self.folder) as store:
            done = store.evaluated()
        missing = {
            of.name
            for of in self.every_run()
            if not set(self.metrics) <= done.get((of.name, of.label, of.seed, self.data[of.name]), set())
        }
        return [each for each in self.series if each.source.name in missing]


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
    beyond: Sequence[str] = (),
) -> Runs:
    """Run the paper's detectors on some series, in both forms, unless that was done before in the same folder.

    All seeds and both forms are one benchmark run, so that networks are trained together. Detectors ``beyond`` the
    paper run in this library's form.
    """
    chosen = tuple(usable_detectors() if detectors is None else detectors)
    folder = setting.folder / "runs"
    runs = Runs(folder, tuple(series), chosen, tuple(metrics), setting.detector_seeds, tuple(beyond))
    left = runs.left()
    if left or not (runs.folder / FILE).exists():
        _run_left(runs, left, setting)
    else:
        _tell(runs, setting, 0, 0)
    return runs


def _run_left(runs: Runs, left: Sequence[PlannedSeries], setting: Setting) -> None:
    planned = {each.label: _planned_detector(each.detector, each.by) for each in runs.every_run()}
    plan = Plan(runs.metrics, runs.seeds, None, None, Limits(), (), tuple(left), tuple(planned.values()))
    run(
        plan,
        runs.folder,
        workers=setting.workers,
        scheduler=setting.scheduler,
        retry_failed=True,
        progress=lambda state: _tell(runs, setting, state.left, state.failed),
    )
    with folder_lock(runs.folder), Store(runs.folder, create=True) as store:
        # Also of what was done before, so that commands on the folder know all of it.
        store.plan(planned, (each.source.name for each in runs.series))


def _tell(runs: Runs, setting: Setting, left: int, failed: int) -> None:
    setting.progress(f"detectors: {runs.jobs - left:,} of {runs.jobs:,} jobs, {failed:,} failed")


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
    """Return the series to work on, by dataset, and notes on them; generated ones without a folder of data."""
    subset = QUICK_SUBSET if setting.quick and setting.subset is None else setting.subset
    every: dict[str, list[Source]] = {}
    missing = {}
    for dataset in PAPER_COUNTS:
        try:
            every[dataset] = find_series(setting.data, dataset)
        except NoDataError as error:
            missing[dataset] = str(error)
    if not every and setting.data is not None:
        raise NoDataError("; ".join(missing.values()))
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


def run_on_datasets(
    setting: Setting, *, beyond: Sequence[str] = ()
) -> tuple[dict[str, list[PlannedSeries]], Runs, list[str]]:
    """Run the paper's detectors on all series of a setting; return these by dataset, the runs, and notes on them."""
    datasets, notes = series_by_dataset(setting)
    every = (each for series in datasets.values() for each in series)
    return datasets, run_detectors(every, setting, beyond=beyond), notes


def shortfalls(runs: Runs) -> list[str]:
    """Return sentences on what did not run: detectors that were left out, and runs that failed; none if all did."""
    return [sentence for sentence in (missing_sentence(runs.detectors), failures_sentence(runs)) if sentence]


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
    return PlannedDetector(_label(detector, by), _registered(detector), parameters)


def _registered(detector: str) -> str:
    return {**NAMES, **BEYOND}[detector]
