"""``dqeval bench``: run benchmarks, follow them, and look at their results."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dqeval.cli import output
from dqeval.cli.help import App
from dqeval.cli.options import Modules, Output, Page
from dqeval.cli.options import PlainForm as Form
from dqeval.cli.output_formats import OutputFormat

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from dqeval.bench import State
    from dqeval.render.tables import Page as Shown

ENDINGS = (".csv", ".parquet")
UNFINISHED = 3  # the exit code where jobs failed or are left: 1 is a verdict, 2 an error
NO_WORKER = "the cluster has no worker: waiting for one"

bench = App(help="Run benchmarks: series × detectors × metrics.")


class By(StrEnum):
    """What counts once in a ranking."""

    SERIES = "series"
    EVENT = "event"


Folder = Annotated[Path, typer.Argument(help="The folder of a run.", metavar="DIR")]
Target = Annotated[
    Path,
    typer.Option(
        "-o", "--output", help="The folder; it is created if it does not exist.", metavar="DIR", file_okay=False
    ),
]
Workers = Annotated[
    int | None,
    typer.Option(
        help="Number of processes; 0 runs in this process, without per-job limits.",
        min=0,
        show_default="one per CPU",
        metavar="NUMBER",
    ),
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        help="Address of a Dask scheduler whose workers run the jobs, such as tcp://host:8786.", metavar="ADDRESS"
    ),
]
ExecutorName = Annotated[
    str | None,
    typer.Option(
        "--executor",
        help="A function without arguments that returns a concurrent.futures executor to run the jobs.",
        metavar="MODULE:NAME",
    ),
]
AtOnce = Annotated[
    int | None,
    typer.Option(
        help="On how many series CNN and TimesNet train in the same steps, beside the jobs; 1 trains each alone.",
        min=1,
        show_default="256 with a GPU, else 1",
        metavar="NUMBER",
    ),
]
AnyVersion = Annotated[
    bool,
    typer.Option("--any-version", help="Accept workers with other versions of dqeval, NumPy or Python."),
]


@dataclass(frozen=True, slots=True)
class Failures:
    """The failures of a run; JSON and CSV include the tracebacks."""

    rows: Sequence[dict[str, Any]]

    def page(self) -> Shown:
        """Return a table, one row per failure."""
        from dqeval.render.tables import Page, Table

        if not self.rows:
            return Page(["Nothing failed."])
        header = ("series", "detector", "seed", "metric", "reason")
        cells = [[" ".join(str(row[name]).split()) for name in header] for row in self.rows]
        return Page([Table(header, cells, text_columns=len(header))])

    def records(self) -> list[dict[str, Any]]:
        """Return one row per failure."""
        names = ("series", "dataset", "detector", "seed", "metric", "reason", "traceback")
        return [{name: row[name] for name in names} for row in self.rows]

    def numbers(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {"failures": self.records()}


class Watch:
    """The progress of a run: the run updates it after each job, and it is read whenever it is shown."""

    def __init__(self) -> None:
        self.state: State | None = None
        self._began, self._done_before = 0.0, 0

    def tell(self, state: State) -> None:
        """Store the current state of the run."""
        if self.state is None or self.state.threads != state.threads:
            # The speed with other workers does not predict when it will end.
            self._began, self._done_before = time.monotonic(), self.state.done if self.state else 0
            if state.threads == 0 and not sys.stderr.isatty():
                output.tell(NO_WORKER)  # at once, not within a minute
        if state.problem and (self.state is None or self.state.problem != state.problem):
            output.tell(f"many series at once did not work, and each job works alone: {state.problem}")
        self.state = state

    def count(self) -> str:
        """Return how many jobs are done, have failed, and are left."""
        return "counting the jobs" if self.state is None else str(self.state)

    def line(self) -> str:
        """Return the count, the jobs per minute and the estimated end; or that there is no worker."""
        if self.state is None or not self.state.left:
            return self.count()
        if self.state.threads == 0:
            return f"{self.count()}; {NO_WORKER}"
        done = self.state.done - self._done_before
        if not done:
            return self.count()
        rate = done / (time.monotonic() - self._began)
        end = time.strftime("%Y-%m-%d %H:%M", time.localtime(time.time() + self.state.left / rate))
        return f"{self.count()}; {60 * rate:,.1f} per minute, ends about {end}"


@bench.command()
def init(
    place: Annotated[
        Path, typer.Argument(help="The plan to write: a file that ends with .toml, or a folder for it.", metavar="PLAN")
    ] = Path("plan.toml"),
    data: Annotated[
        Path | None,
        typer.Option(
            help="A folder or a file with labelled series.",
            metavar="PATH",
            exists=True,
            show_default="generated series",
        ),
    ] = None,
) -> None:
    """Write a plan that runs as it is, with comments that explain what can be changed."""
    from dqeval.cli.bench_init import write_plan

    path = place if place.suffix.lower() == ".toml" else place / "plan.toml"
    write_plan(path, data)
    output.tell(f"wrote {path}; to run it: dqeval bench run {shlex.quote(str(path))} -o runs/today")


@bench.command()
def run(
    plan: Annotated[Path, typer.Argument(help="The plan, a TOML file.", metavar="PLAN")],
    folder: Target,
    workers: Workers = None,
    scheduler: Scheduler = None,
    executor: ExecutorName = None,
    shard: Annotated[
        str, typer.Option(help="Run only a part of the jobs, such as 1/3 for the first third.", metavar="PART/PARTS")
    ] = "1/1",
    at_once: AtOnce = None,
    any_version: AnyVersion = False,
    module: Modules = None,
) -> None:
    """Run the detectors of a plan on its series, or resume a run: exit code 3 if jobs failed or are left."""
    from dqeval.bench import run

    part = _shard(shard)
    start = partial(run, plan, folder, modules=module or (), shard=part, at_once=at_once, any_version=any_version)
    _work(folder, start, workers, scheduler, executor)


@bench.command()
def retry(
    folder: Folder,
    workers: Workers = None,
    scheduler: Scheduler = None,
    executor: ExecutorName = None,
    at_once: AtOnce = None,
    any_version: AnyVersion = False,
) -> None:
    """Re-run failed and pending jobs.

    The exit code is 3 if jobs failed or are left.
    """
    from dqeval.bench.runner import retry

    _work(folder, partial(retry, folder, at_once=at_once, any_version=any_version), workers, scheduler, executor)


@bench.command()
def status(folder: Folder) -> None:
    """Show how many jobs are done, failed and left."""
    from dqeval.bench import Store
    from dqeval.bench.runner import progress_of
    from dqeval.render.tables import count_of

    with Store(folder) as store:
        count = store.count(planned=True)
    try:
        sentence = str(progress_of(folder))
    except (ValueError, OSError) as error:
        # What is done is worth knowing where the data is not, such as in a copy of the folder.
        done = f"{count_of(count.done, 'job')} done, {count.failed:,} failed"
        sentence = f"{done}; the number of jobs left is unknown ({error})"
    output.say_sentences(sentence)


@bench.command()
def failures(folder: Folder, form: Form = OutputFormat.TABLE, path: Output = None) -> None:
    """List the failures and their reasons; JSON and CSV include tracebacks."""
    from dqeval.bench import Store

    with Store(folder) as store:
        found = Failures(store.failures(planned=True))
    output.emit(found, form, path, found.numbers)


@bench.command()
def rank(
    folder: Folder,
    by: Annotated[
        By, typer.Option(help="What counts once: each series, or each event (DQE only).", metavar="series|event")
    ] = By.SERIES,
    dataset: Annotated[str | None, typer.Option(help="Only the series of this dataset.", metavar="NAME")] = None,
    form: Form = OutputFormat.TABLE,
    path: Output = None,
    module: Modules = None,
) -> None:
    """Rank the detectors: means with confidence intervals, ranks, significance tests, agreement of the metrics."""
    from dqeval.analysis.receipts import jsonable
    from dqeval.bench.ranking import rank

    found = rank(folder, by=by.value, dataset=dataset)
    output.emit(found, form, path, lambda: jsonable(found.numbers()))


@bench.command()
def export(
    folder: Folder,
    path: Annotated[
        Path,
        typer.Option(
            "-o", "--output", help="The file to write; it ends with .csv or .parquet.", metavar="FILE", dir_okay=False
        ),
    ],
) -> None:
    """Write all results to a table, one row per series, detector, seed and metric."""
    from dqeval.bench import export

    if path.suffix.lower() not in ENDINGS:
        raise ValueError(f"-o {path}: the file should end with {' or '.join(ENDINGS)}")
    with output.write_and_say(path) as place:
        export(folder, place)


@bench.command()
def merge(
    folders: Annotated[list[Path], typer.Argument(help="The folders of the runs to merge.", metavar="DIR")],
    folder: Target,
) -> None:
    """Merge the results of several runs, such as shards, into one folder."""
    from dqeval.bench import merge
    from dqeval.render.tables import count_of

    for given in folders:
        if given.resolve() == folder.resolve():
            raise ValueError(f"-o {folder} is one of the runs to merge; name another folder")
    merge(folders, folder)
    output.tell(f"merged {count_of(len(folders), 'run')} into {folder}")


@bench.command()
def report(folder: Folder, path: Page, module: Modules = None) -> None:
    """Write a report on the run: an HTML file, and beside it a folder with pages of up to 50 series.

    The folder of bench.html is bench_series. The series are those where the metrics disagree most. No page needs a
    network.
    """
    from dqeval.render.bench_page import bench_report

    # Not to a place beside it, as the pages of the series lie in a folder that is named after the file.
    with output.sentences("ranking the detectors") as say:
        pages = bench_report(
            folder, path, progress=lambda done, total: say(f"{done:,} of {total:,} pages of series drawn")
        )
    output.tell(f"wrote {path}{f' and {pages}/' if pages else ''}")


def _shard(text: str) -> tuple[int, int]:
    try:
        part, parts = map(int, text.split("/"))
    except ValueError:
        raise ValueError(f"--shard {text}: write it as 1/3, the first third of the jobs") from None
    if not 1 <= part <= parts:
        raise ValueError(f"--shard {text}: the part is counted from 1 to the number of parts, as in 1/3")
    return part, parts


def processes(workers: int | None, **others: str | None) -> int:
    """Return the number of processes on this machine: by default one per CPU; none of the others may be given too."""
    from dqeval.core import arguments

    arguments.at_most_one(workers=workers, **others)
    return (os.cpu_count() or 1) if workers is None else workers


@contextmanager
def _executor(text: str | None) -> Iterator[Executor | None]:
    """Make the executor that was asked for, and shut it down in the end."""
    if text is None:
        yield None
        return
    from concurrent.futures import Executor

    from dqeval.support.modules import named_object

    hint = "it is looked for among what is installed, and in the current folder"
    make = named_object(text, str(Path.cwd()), called="--executor", hint=hint)
    if not callable(make):
        raise ValueError(f"--executor {text}: it must be a function without arguments that returns an executor")
    try:
        found = make()
    except Exception as error:
        raise ValueError(f"--executor {text}: it cannot be made: {type(error).__name__}: {error}") from error
    if not isinstance(found, Executor):
        got = type(found).__name__
        raise ValueError(f"--executor {text}: it must return a concurrent.futures.Executor: got {got}")
    from dqeval.bench.crew import shut_down_after

    with shut_down_after(found):
        yield found


def _work(
    folder: Path, start: Callable[..., State], workers: int | None, scheduler: str | None, executor: str | None
) -> None:
    """Run the jobs, show the progress, and exit with code 3 if jobs failed or are left."""
    from dqeval.bench.crew import CrewLostError
    from dqeval.render.tables import count_of

    watch, count = Watch(), processes(workers, scheduler=scheduler, executor=executor)
    try:
        with _executor(executor) as given, _show_progress(watch):
            start(workers=count, scheduler=scheduler, executor=given, progress=watch.tell)
    except KeyboardInterrupt:
        if watch.state is not None:
            output.tell(f"stopped: {watch.count()}; run the same command to resume")
        raise
    except CrewLostError as error:
        output.tell(f"{error}: {watch.count()}")
        raise typer.Exit(UNFINISHED) from None
    output.tell(watch.count())
    failed, left = (0, 0) if watch.state is None else (watch.state.failed_in_all, watch.state.left)
    if failed:
        output.tell(f"{count_of(failed, 'job')} failed: dqeval bench failures {folder} shows why")
    if left:
        output.tell(f"{count_of(left, 'job')} left: run the same command to resume")
    if failed or left:
        raise typer.Exit(UNFINISHED)


@contextmanager
def _show_progress(watch: Watch) -> Iterator[None]:
    """Show the progress: a bar on a terminal, and otherwise one line per minute."""
    if not sys.stderr.isatty():
        with output.repeat_every(output.INTERVAL, lambda: output.tell(watch.line())):
            yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

    columns = (SpinnerColumn(), BarColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task(watch.line(), total=None)

        def move() -> None:
            if watch.state is not None:
                done = watch.state.total - watch.state.left
                bar.update(task, description=watch.line(), completed=done, total=watch.state.total)

        with output.repeat_every(output.REFRESH, move):
            yield
