"""``dqeval detect``: run detectors on series of any format."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dqeval.cli import output
from dqeval.cli.options import Detectors, Label, Modules, OutputFolder, SeriesColumn, SeriesFiles, Value
from dqeval.cli.series_files import series_columns, sources_of, write_columns
from dqeval.support.naming import file_names

if TYPE_CHECKING:
    from concurrent.futures import Future

    from dqeval.core.entries import Detector
    from dqeval.core.types import FloatArray, Series
    from dqeval.datasets.loading import Source

MOST_LEFT_OUT = 4  # series and detectors that are named
NO_TRAINING = "it needs training, and the file does not say where that ends: give --train-stop"


@dataclass(frozen=True, slots=True)
class Choice:
    """The detectors to run, and whether all were requested: then those that do not fit a series are left out."""

    detectors: tuple[Detector, ...]
    every: bool


@dataclass(frozen=True, slots=True)
class DetectTask:
    """A series to run detectors on, and where its scores go."""

    source: Source
    target: Path
    choice: Choice
    train_stop: int | None
    options: Mapping[str, Any]
    columns: Mapping[str, str]

    @property
    def in_place(self) -> bool:
        """Whether scores are added to the file that is read."""
        return self.target.resolve() == self.source.path.resolve()


@dataclass(frozen=True, slots=True)
class DetectResult:
    """The result of a task: what was done to the target, if anything; what failed, and what was left out."""

    target: Path
    done: str = ""
    failures: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def detect(
    files: SeriesFiles,
    detector: Detectors,
    folder: OutputFolder,
    label: Label = None,
    value: Value = None,
    series: SeriesColumn = None,
    train_stop: Annotated[
        int | None,
        typer.Option(
            help="Train on the points before this one, not on the training part that the file names.",
            min=1,
            metavar="POINT",
        ),
    ] = None,
    device: Annotated[
        str, typer.Option(help="Where neural networks run: auto, cpu or cuda.", metavar="DEVICE")
    ] = "auto",
    seed: Annotated[int, typer.Option(help="Seed of detectors that draw random numbers.", min=0, metavar="NUMBER")] = 0,
    jobs: Annotated[
        int, typer.Option(help="Number of series to process at once, with one thread each.", min=1, metavar="NUMBER")
    ] = 1,
    module: Modules = None,
) -> None:
    """Run detectors on series, and write CSV files with their scores to a folder: exit code 2 if some failed.

    An existing file of the same series keeps its scores, and gets the new ones too.
    """
    choice = _choice(detector)
    options = {"seed": seed, "device": device}
    columns = {role: name for role, name in (("label", label), ("value", value)) if name is not None}
    # Only tables have columns with names of their own.
    targets = _targets(sources_of(files, "table" if columns else "auto", series), folder).items()
    planned = [DetectTask(source, target, choice, train_stop, options, columns) for source, target in targets]
    folder.mkdir(parents=True, exist_ok=True)
    outcomes = []
    on_terminal = output.on_terminal(sys.stderr)
    with output.progress("detect") as tell, closing(_outcomes(planned, jobs)) as done:
        for outcome in done:
            outcomes.append(outcome)
            tell(len(outcomes), len(planned))
            if outcome.done and not on_terminal:
                output.tell(f"{outcome.done} {outcome.target}")
    if on_terminal:
        output.tell(_summary(outcomes, folder))
    found = {outcome.target: outcome for outcome in outcomes}
    in_order = [found[job.target] for job in planned]  # they came as they were done
    for sentence in _left_out_sentences(in_order):
        output.tell(sentence)
    output.finish([failure for outcome in in_order for failure in outcome.failures])


def _choice(names: Sequence[str]) -> Choice:
    """Return the requested detectors; of all, those that can run here."""
    from dqeval.core.metric_groups import ALL
    from dqeval.core.registry import split_names
    from dqeval.detectors import DETECTORS
    from dqeval.support import extras

    found = DETECTORS.choose(names)
    if split_names(names, ()) != [ALL]:
        return Choice(tuple(found), every=False)
    missing = {detector.name: module for detector in found if (module := extras.missing(detector.extra))}
    for module in dict.fromkeys(missing.values()):
        absent = ", ".join(name for name, needed in missing.items() if needed == module)
        output.tell(f"left out, as {module} is not installed: {absent}")
    return Choice(tuple(detector for detector in found if detector.name not in missing), every=True)


def _targets(found: Sequence[Source], folder: Path) -> dict[Source, Path]:
    """Return the file to write for each series: none is written twice, and no input is overwritten but a table."""
    inputs = {source.path.resolve(): source for source in found}
    targets: dict[Path, Source] = {}
    # Names of series in a pack may hold anything, also what would lead out of the folder.
    names = file_names([source.name for source in found], "csv")
    for source, target in zip(found, map(folder.joinpath, names), strict=True):
        if target in targets:
            raise ValueError(
                f"{targets[target].path} and {source.path} would both be written to {target}: run them one by one, "
                "into two folders"
            )
        is_input = target.resolve() in inputs
        # Columns are added to a table in its own place, not through a link from elsewhere.
        if is_input and (inputs[target.resolve()] != source or source.format != "table" or target.is_symlink()):
            raise ValueError(f"{target} would overwrite an input file: choose another folder")
        targets[target] = source
    return {source: target for target, source in targets.items()}


def _outcomes(tasks: Sequence[DetectTask], processes: int) -> Generator[DetectResult, None, None]:
    """Run the tasks in the processes of benchmark runs, and yield the result of each as it ends."""
    from dqeval.bench.executors import crew_for, work_off
    from dqeval.bench.pool import Limits

    left = iter(tasks)
    with crew_for(min(processes, len(tasks)), None, Limits()) as crew:

        def start() -> tuple[Future[DetectResult], DetectTask] | None:
            task = next(left, None)
            return None if task is None else (crew.submit(_detect_and_write, task), task)

        for ended in work_off(crew, start):
            yield from (_result(task, future) for task, future in ended)


def _result(task: DetectTask, future: Future[DetectResult]) -> DetectResult:
    """Return the result of a task; a process that died has failed at this one alone."""
    from dqeval.bench.pool import WorkFailedError

    try:
        return future.result()
    except WorkFailedError as error:
        advice = "; try fewer --jobs" if "memory" in error.reason else ""
        return DetectResult(task.target, failures=(f"{task.source.name}: {error.reason}{advice}",))


def _detect_and_write(job: DetectTask) -> DetectResult:
    """Run the detectors on a series, and write the scores of those that do not fail."""
    from dqeval.analysis.detect import UnfitError

    failures: list[str] = []
    left_out: list[str] = []
    try:
        series = job.source.read(**job.columns)
        if series.values is None:
            raise ValueError(
                f"{job.source.path}: there are no values to run a detector on: name a column value, or give --value"
            )
        if job.in_place:
            _check_nothing_is_lost(job.target, series_columns(series))
        scores = {}
        for detector in job.choice.detectors:
            try:
                scores[detector.name] = _scores(detector, series, job)
            except UnfitError as error:
                (left_out if job.choice.every else failures).append(output.sentence_of(error))
            except ValueError as error:
                failures.append(output.sentence_of(error))
        done = _put(job.target, _as_written(job.source, series), series.values, scores) if scores else ""
    except Exception as error:  # one bad file must not end the work on all others
        return DetectResult(job.target, failures=(*failures, output.sentence_of(error)))
    if not scores and not failures:
        failures, left_out = left_out, []  # all would have been left out
    return DetectResult(job.target, done, tuple(failures), tuple(left_out))


def _check_nothing_is_lost(path: Path, columns: Mapping[str, Any]) -> None:
    """Check that all columns of a file that is to be overwritten are among the new ones."""
    from dqeval.datasets.files import column_names
    from dqeval.datasets.guard import some_names

    lost = [name for name in column_names(path) if name not in columns]
    if lost:
        raise ValueError(f"{path} would be overwritten and lose its columns {some_names(lost)}: choose another folder")


def _as_written(source: Source, series: Series) -> Series:
    """Return a series with its dates as they are in its file: as moments, they would be written without their zone."""
    from dqeval.datasets.files import column_names, read_with_times
    from dqeval.datasets.long_tables import TablePart

    dated = series.timestamps is not None and series.timestamps.dtype.kind == "M"
    path = source.path
    if not dated or path.is_dir() or not column_names(path):  # no dates, or in no text file
        return series
    return replace(series, timestamps=source.times() if isinstance(source, TablePart) else read_with_times(path)[1])


def _put(path: Path, series: Series, values: FloatArray, scores: Mapping[str, FloatArray]) -> str:
    """Write a series with its scores, beside those of an existing file of the same series; say what was done."""
    existed = path.exists()
    earlier = _earlier_scores(path, series, values) if existed else None
    write_columns(path, series_columns(series, {**(earlier or {}), **scores}))
    if not existed:
        return "wrote"
    return "replaced" if earlier is None else "added to"


def _earlier_scores(path: Path, series: Series, values: FloatArray) -> dict[str, FloatArray] | None:
    """Return the scores in a file; None if it is of another series, or of none."""
    import numpy as np

    from dqeval.datasets import load

    try:
        there = load(path, "table")
    except ValueError:
        return None
    if there.values is None or not np.array_equal(there.values, values, equal_nan=True):
        return None
    return dict(there.scores) if np.array_equal(there.labels, series.labels) else None


def _scores(detector: Detector, series: Series, job: DetectTask) -> FloatArray:
    """Return the scores of a detector; whatever goes wrong is an error that says where."""
    from dqeval.analysis.detect import NoTrainingError, UnfitError, detect
    from dqeval.bench.pool import errors_of_work

    options = {name: value for name, value in job.options.items() if name in detector.parameters}
    try:
        return detect(series, detector, train_stop=job.train_stop, **options)
    except errors_of_work() as error:  # one detector that fails on one series must not end the work on all others
        reason = NO_TRAINING if isinstance(error, NoTrainingError) else output.sentence_of(error)
        kind = UnfitError if isinstance(error, UnfitError) else ValueError
        raise kind(f"{series.name}: {detector.name}: {reason}") from error


def _summary(outcomes: Sequence[DetectResult], folder: Path) -> str:
    from dqeval.render.tables import count_of

    done = [outcome.done for outcome in outcomes if outcome.done]
    rest = [f"{done.count(what):,} of them {what}" for what in ("replaced", "added to") if what in done]
    return ", ".join([f"wrote {count_of(len(done), 'file')} to {folder}", *rest])


def _left_out_sentences(outcomes: Sequence[DetectResult]) -> Iterator[str]:
    """Yield a sentence per series and detector that do not fit; of many, the first ones and a count."""
    found = [sentence for outcome in outcomes for sentence in outcome.left_out]
    yield from (f"left out: {sentence}" for sentence in found[:MOST_LEFT_OUT])
    if len(found) > MOST_LEFT_OUT:
        yield f"left out for the same or similar reasons: {len(found) - MOST_LEFT_OUT:,} more"
