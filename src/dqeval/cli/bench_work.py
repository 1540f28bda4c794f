"""Jobs of a benchmark run at work: who does them, what is shown meanwhile, and the exit code in the end."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dqeval.cli import output

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from dqeval.bench import State

UNFINISHED = 3  # the exit code where jobs failed or are left: 1 is a verdict, 2 an error
NO_WORKER = "the cluster has no worker: waiting for one"

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
            if state.threads == 0 and not output.on_terminal(sys.stderr):
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
    from dqeval.bench.executors import shut_down_after

    with shut_down_after(found):
        yield found


def work(
    folder: Path, start: Callable[..., State], workers: int | None, scheduler: str | None, executor: str | None
) -> None:
    """Run the jobs, show the progress, and exit with code 3 if jobs failed or are left."""
    from dqeval.bench.executors import CrewLostError
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
    if not output.on_terminal(sys.stderr):
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
