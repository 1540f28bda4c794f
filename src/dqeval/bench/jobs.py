"""One piece of a benchmark run: the scores of a detector on a series, and what the metrics say of them."""

from __future__ import annotations

import hashlib
import io
import json
import time
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np

from dqeval.analysis.detect import NO_VALUES, DetectorError, detect
from dqeval.analysis.panel import Unusable, panels_and_errors
from dqeval.analysis.panel_result import Evaluation, MetricError
from dqeval.bench.bounds import BOUNDS, bound_scores
from dqeval.bench.plan import NO_PERIOD, Plan, PlannedDetector, PlannedSeries, import_modules
from dqeval.bench.pool import WorkFailedError, catch_output
from dqeval.bench.series_cache import read_series, stamp_of
from dqeval.core.event_scores import EventScores
from dqeval.core.near import BY_DEFAULT, Near, near_of
from dqeval.core.prepared import part_of
from dqeval.core.registry import DETECTORS
from dqeval.core.types import FloatArray, Series
from dqeval.core.validate import UndefinedWarning
from dqeval.support.short_paths import short_traceback, without_folders
from dqeval.support.versions import NOBODY
from dqeval.support.writing import atomic_write

# What rows that are of no single metric have in its place: the detector's own work, and scores that have no value.
DETECT, EVALUATE = "detect", "evaluate"
UNKNOWN = "*"  # the detectors of a file that cannot be read
FROM_FILE = PlannedDetector("", "", ())  # the scores are in the series' file
OF_BOUNDS = tuple(PlannedDetector(name, "", ()) for name in BOUNDS)  # the scores follow from the labels
MADE_AGAIN = "the stored scores were damaged, and were computed again"
ID_BYTES = 16
_DIGEST = 32  # bytes


@dataclass(frozen=True, slots=True)
class Job:
    """A series and a detector.

    Attributes
    ----------
    series : PlannedSeries
    detector : PlannedDetector
        `FROM_FILE` if the scores are there already, one of `OF_BOUNDS` if they follow from the labels.
    seed : int
    metrics : tuple of str
    near : float, str or None
        In points, or in event lengths such as "2ev".
    period : float or None
    folder : str
        Where scores are kept.
    version : str
        Of dqeval.
    modules : tuple of str
        What is imported first.
    modules_in : str
        The folder where modules are looked for too.
    part : "all" or "test"
        Which part of the series is evaluated.
    """

    series: PlannedSeries
    detector: PlannedDetector
    seed: int
    metrics: tuple[str, ...]
    near: float | str | None
    period: float | None
    folder: str
    version: str
    modules: tuple[str, ...] = ()
    modules_in: str = ""
    part: str = "all"

    @property
    def id(self) -> str:
        """A digest of all that the outcome follows from; of files, their sizes and when they were changed."""
        content = [
            repr(self.series),
            repr(self.detector),
            self.seed,
            self.metrics,
            self.near,
            self.period,
            self.version,
            *([] if self.part == "all" else [self.part]),
            *(number for _, *numbers in stamp_of(self.series.source) for number in numbers),
        ]
        return hashlib.sha256(json.dumps(content).encode()).hexdigest()[: 2 * ID_BYTES]


@dataclass(frozen=True, slots=True)
class Row:
    """A number of the results, or why there is none.

    Attributes
    ----------
    series, dataset, detector : str
    seed : int
    metric : str
        Or "detect": how the detector itself fared.
    value : float or None
    seconds : float
        How long the metric took, or the detector, when the scores were made.
    status : "ok", "undefined" or "failed"
    reason, where : str
        Why there is no value, and the traceback.
    parameters : str
        JSON.
    """

    series: str
    dataset: str
    detector: str
    seed: int
    metric: str
    value: float | None
    seconds: float
    status: str
    reason: str = ""
    where: str = ""
    parameters: str = "{}"


@dataclass(frozen=True, slots=True)
class Made:
    """Scores, the seconds that the detector took for them, and a note on them."""

    scores: FloatArray
    seconds: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class JobResult:
    """The result of a job.

    Attributes
    ----------
    rows : list of Row
    events : list of (detector, EventScores)
        DQE of each event.
    data : str
        Which data it is about: see `data_of`. Empty if it could not be read.
    versions : str
        Of the process that did it, JSON.
    host : str
        The machine that did it.
    seconds : float
        How long the whole job took, as far as that is known.
    """

    rows: list[Row] = field(default_factory=list)
    events: list[tuple[str, EventScores]] = field(default_factory=list)
    data: str = ""
    versions: str = NOBODY
    host: str = ""
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        """Whether anything failed."""
        return any(row.status == "failed" for row in self.rows)


def jobs_of(plan: Plan, folder: Path, version: str) -> Iterator[Job]:
    """Yield the jobs of a plan, one after the other: there may be millions."""
    common = (plan.metrics, plan.near, plan.period, str(folder / "scores"), version)
    modules = (plan.modules, plan.modules_in, plan.part)
    # A series that detectors work on may have scores of one's own too, but its bounds are the same.
    unscored = {series.source.name for series in plan.series if not series.scored}
    for series in plan.series:
        if plan.bounds and not (series.scored and series.source.name in unscored):
            yield from (Job(series, bound, 0, *common, *modules) for bound in OF_BOUNDS)
        if series.scored:
            yield Job(series, FROM_FILE, 0, *common, *modules)
            continue
        for detector in plan.detectors:
            seeded = "seed" in DETECTORS[detector.name].parameters
            for seed in plan.seeds if seeded else plan.seeds[:1]:
                yield Job(series, detector, seed, *common, *modules)


def run_job(job: Job) -> JobResult:
    """Run a job: detect, unless that was done before, and evaluate. What goes wrong becomes a row, not an error."""
    import_modules(job.modules, job.modules_in)
    series = read_series(job.series.source)
    outcome = JobResult(data=data_of(series))
    if job.detector in OF_BOUNDS:
        labels = np.asarray(series.labels, dtype=np.bool_)
        scores = {job.detector.label: bound_scores(job.detector.label, labels)}
    elif job.detector == FROM_FILE:
        scores = _own_scores(job, series)
    else:
        made = _make_or_read(job, series)
        scores = {job.detector.label: made.scores}
        label, parameters = job.detector.label, json.dumps(dict(job.detector.parameters))
        outcome.rows.append(_row(job, label, DETECT, None, made.seconds, "ok", made.note, parameters=parameters))
    try:
        evaluated = part_of(replace(series, scores=scores), job.part)
    except ValueError as error:
        raise WorkFailedError(str(error)) from None
    _evaluate(job, evaluated, _near(job, series), outcome)
    return outcome


def failure_of(job: Job, reason: str, where: str) -> JobResult:
    """Return the result of a job that failed as a whole."""
    return JobResult([_row(job, job.detector.label or UNKNOWN, DETECT, None, 0.0, "failed", reason, where)])


def data_of(series: Series) -> str:
    """Return digests of the labels and of the values of a series, which tell it from others of its name."""
    labels = hashlib.sha256(np.asarray(series.labels, dtype=np.bool_).tobytes()).hexdigest()[:16]
    if series.values is None:
        return f"{labels}:"
    return f"{labels}:{hashlib.sha256(np.ascontiguousarray(series.values).tobytes()).hexdigest()[:16]}"


def is_other_data(one: str, other: str) -> bool:
    """Return whether two series differ, as far as is known: files of scores may have no values."""
    (labels, _, values), (other_labels, _, other_values) = one.partition(":"), other.partition(":")
    return labels != other_labels or bool(values and other_values and values != other_values)


def _own_scores(job: Job, series: Series) -> dict[str, FloatArray]:
    if not series.scores:
        raise WorkFailedError(f"{job.series.source.name} has no column of scores")
    for name in BOUNDS:
        if name in series.scores:
            raise WorkFailedError(f"a column of scores is called {name!r}, as bounds are in the results: rename it")
    return dict(series.scores)


def _near(job: Job, series: Series) -> Near:
    """Return the near range of a series; scores that come without one are not evaluated with the default."""
    try:
        found = near_of(series, np.asarray(series.labels, dtype=np.bool_), near=job.near, period=job.period)
    except ValueError as error:
        raise WorkFailedError(str(error)) from None
    if found.source == BY_DEFAULT and job.series.scored:
        raise WorkFailedError(NO_PERIOD)
    return found


def scores_of(job: Job, series: Series) -> FloatArray:
    """Return the scores of a detector, from the folder where they are stored, or computed now and stored there."""
    kept = kept_scores(job, series)
    return _make_or_read(job, series).scores if kept is None else kept


def kept_scores(job: Job, series: Series) -> FloatArray | None:
    """Return the stored scores of a detector, or None if there are none, or they are damaged."""
    kept = None if series.values is None else _read(Path(job.folder) / _address(job, series))
    return None if kept is None else kept.scores


def keep_scores(job: Job, series: Series, made: Made) -> None:
    """Store the scores of a detector, with the note on them, where its job will look for them."""
    _keep(made, Path(job.folder) / _address(job, series), made.note)


def _make_or_read(job: Job, series: Series) -> Made:
    if series.values is None:
        raise WorkFailedError(NO_VALUES)
    path = Path(job.folder) / _address(job, series)
    kept = _read(path)
    if kept is not None:
        return kept
    note = MADE_AGAIN if path.exists() else ""
    began = time.perf_counter()
    scores = _run_detector(job, series)
    made = Made(scores, time.perf_counter() - began, note)
    _keep(made, path)
    return made


def _keep(made: Made, path: Path, lasting_note: str = "") -> None:
    """Write scores, and behind them, where `numpy.load` does not look, the time that they took and a digest of both.

    A note that tells how they were made is written too; others are for the row of this job alone.
    """
    content = io.BytesIO()
    np.save(content, made.scores)
    np.save(content, made.seconds)
    if lasting_note:
        np.save(content, np.array(lasting_note))
    path.parent.mkdir(parents=True, exist_ok=True)
    # What a crash of the machine leaves of it does not have the right digest, so there is no need to wait for the disk.
    with atomic_write(path, lasting=False) as place:
        place.write_bytes(content.getvalue() + hashlib.sha256(content.getvalue()).digest())


def _read(path: Path) -> Made | None:
    """Return scores that were kept; None if there are none, or any bit of them has changed."""
    try:
        found = path.read_bytes()
    except FileNotFoundError:
        return None
    content, digest = found[:-_DIGEST], found[-_DIGEST:]
    if hashlib.sha256(content).digest() != digest:
        return None
    arrays = io.BytesIO(content)
    scores, seconds = np.asarray(np.load(arrays)), float(np.load(arrays))
    return Made(scores, seconds, str(np.load(arrays)) if arrays.tell() < len(content) else "")


def _address(job: Job, series: Series) -> str:
    """Return where scores are kept: a digest of all that they follow from."""
    assert series.values is not None
    origin = [series.values.shape, series.train_stop, job.detector.name, job.detector.parameters, job.seed, job.version]
    digest = hashlib.sha256(json.dumps(origin).encode())
    digest.update(np.ascontiguousarray(series.values).tobytes())
    name = digest.hexdigest()
    return f"{name[:2]}/{name[2:34]}.npy"


def _run_detector(job: Job, series: Series) -> FloatArray:
    options = {"seed": job.seed, **dict(job.detector.parameters)}
    try:
        with catch_output() as caught:
            scores = detect(series, job.detector.name, **options)
    except DetectorError as error:
        raise WorkFailedError(str(error)) from None
    if caught.getvalue():
        raise WorkFailedError(
            f"the detector printed to standard output, which it must not: {caught.getvalue()[:100]!r}"
        )
    return scores


def _evaluate(job: Job, series: Series, near: Near, outcome: JobResult) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedWarning)
        for detector, found in panels_and_errors(series.labels, series.scores, near=near.points, metrics=job.metrics):
            if isinstance(found, Unusable):  # the other detectors of a file are still wanted
                why = found.seconds, "failed", f"ValueError: {found.error}", found.traceback
                outcome.rows.append(_row(job, detector, EVALUATE, None, *why))
                continue
            outcome.rows.extend(_metric_rows(job, detector, found.evaluation, found.errors, near))
            if found.evaluation.dqe is not None:
                outcome.events.extend((detector, event) for event in found.evaluation.dqe.per_event)


def _metric_rows(job: Job, detector: str, found: Evaluation, errors: dict[str, Exception], near: Near) -> Iterator[Row]:
    for metric, value in found.values.items():
        origin = {"near_from": near.source} if "near" in found.parameters[metric] else {}
        parameters = json.dumps(found.parameters[metric] | origin)
        row = partial(_row, job, detector, metric, seconds=found.seconds[metric], parameters=parameters)
        if metric in errors:
            where = "".join(traceback.format_exception(errors[metric]))
            yield row(value=None, status="failed", reason=_reason(errors[metric]), where=where)
        elif metric in found.failures:
            yield row(value=None, status="undefined", reason=found.failures[metric])
        else:
            yield row(value=value, status="ok")


def _reason(error: Exception) -> str:
    return error.reason if isinstance(error, MetricError) else f"{type(error).__name__}: {error}"


def _row(
    job: Job,
    detector: str,
    metric: str,
    value: float | None,
    seconds: float,
    status: str,
    reason: str = "",
    where: str = "",
    parameters: str = "{}",
) -> Row:
    name, dataset = job.series.source.name, job.series.dataset
    # Results are given away: what they say of this machine is of no use to others.
    reason, where = without_folders(reason, _folders(job)), short_traceback(where, _folders(job))
    return Row(name, dataset, detector, job.seed, metric, value, seconds, status, reason, where, parameters)


def _folders(job: Job) -> list[str]:
    path = getattr(job.series.source, "path", None)
    return [job.folder, job.modules_in, *([] if path is None else [str(path.parent)])]
