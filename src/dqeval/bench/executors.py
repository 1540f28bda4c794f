"""Where jobs run: in this process, in others beside it, or on a cluster, whose workers come and go."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager, suppress
from os.path import exists
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from dqeval.bench.jobs import JobResult
from dqeval.bench.pool import InProcess, Limits, LocalPool
from dqeval.bench.series_cache import forget_series
from dqeval.bench.tasks import Batch, Task, do_all, do_guarded, end_run
from dqeval.core import arguments
from dqeval.support import extras
from dqeval.support.versions import versions

AHEAD = 4  # pieces of work handed over for each worker, so that none waits for the driver
OTHERS = 100  # the same for an executor whose workers are not known, in all
TOGETHER = 100  # jobs that a cluster gets as one piece of work, if they are short
PAUSE = 1.0  # seconds after which it is looked again who is there
REACHED = "10s"  # the time within which a scheduler must answer

Piece = TypeVar("Piece")


class CrewLostError(ConnectionError):
    """The executor or the cluster is gone, and jobs are left."""


class Crew:
    """An executor, and how much to hand it at a time.

    Attributes
    ----------
    together : int
        How many jobs may be one piece of work.
    lanes : int
        Of how many series jobs shall be handed over at a time.
    threads : int or None
        How many pieces are worked on at the same time; None if that is not known.
    """

    together = 1
    lanes = 1
    threads: int | None = None

    def __init__(self, executor: Executor, ahead: int) -> None:
        self._executor, self._ahead = executor, ahead

    def __str__(self) -> str:
        return "the executor"

    def ahead(self) -> int:
        """Return how many pieces of work to have handed over at the moment."""
        return self._ahead

    def submit(self, function: Callable[[Any], Any], argument: Any) -> Future[Any]:
        """Hand over one piece of work."""
        return self._executor.submit(function, argument)

    def submit_jobs(self, tasks: Sequence[Task]) -> Future[list[JobResult]]:
        """Hand over jobs, which give an outcome each; if there is not one for all, the last are to be done again."""
        return self.submit(do_all, tasks)

    def check_sees(self, file: Path) -> None:
        """Check that those who run jobs see a file of the run, as far as that can be told: on this machine, they do."""

    def lost_error(self) -> CrewLostError:
        """Return the error for an executor or a cluster that is gone."""
        return CrewLostError(f"{self} is gone: start it again, and then this run, which resumes")


class Processes(Crew):
    """Processes on this machine, each of which has jobs of its own series, as long as there are any."""

    def __init__(self, pool: LocalPool, count: int) -> None:
        super().__init__(pool, AHEAD * count)
        self._pool, self.lanes = pool, count

    def submit_jobs(self, tasks: Sequence[Task]) -> Future[list[JobResult]]:
        """Hand over jobs, to the process that has their series, if it is free."""
        return self._pool.submit(do_all, tasks, group=tasks[0].job.series)


class Cluster(Crew):
    """The workers of a Dask scheduler: as many as there are at the moment.

    Parameters
    ----------
    client : distributed.Client
    limits : Limits
        Of each job.
    """

    together = TOGETHER

    def __init__(self, client: Any, limits: Limits) -> None:
        super().__init__(client.get_executor(pure=False, retries=3), AHEAD)
        self._client, self._limits, self._run = client, limits, uuid4().hex
        self._address = client.scheduler.address
        self._asked = -PAUSE

    def __str__(self) -> str:
        return f"the scheduler at {self._address}"

    def ahead(self) -> int:
        """Return how many pieces of work to have handed over at the moment; without a worker, for the first to come."""
        if time.monotonic() - self._asked >= PAUSE:
            self.threads = sum(self._reach(self._client.nthreads).values())
            self._asked = time.monotonic()
        return AHEAD * max(self.threads or 0, 1)

    def submit(self, function: Callable[[Any], Any], argument: Any) -> Future[Any]:
        """Hand over one piece of work."""
        future: Future[Any] = self._reach(super().submit, function, argument)
        return future

    def submit_jobs(self, tasks: Sequence[Task]) -> Future[list[JobResult]]:
        """Hand over jobs, each of which is guarded on its worker."""
        return self.submit(do_guarded, Batch(tasks, self._limits, self._run))

    def check_sees(self, file: Path) -> None:
        """Check that all workers who are there see a file of the run."""
        for worker, found in self._reach(self._client.run, exists, str(file)).items():
            if not found:
                why = "where scores are stored that this machine makes on many series at once"
                advice = "give a folder that all share, or at_once=1 (--at-once 1), and workers make them"
                raise ValueError(f"the worker {worker} does not see the folder {file.parent}, {why}: {advice}")

    def end(self) -> None:
        """End the processes that its workers have for this run, with the jobs that nobody waits for any more."""
        with suppress(Exception):  # of workers that have gone, those processes are gone too
            self._client.run(end_run, self._run, on_error="ignore")

    def _reach(self, call: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return call(*arguments)
        except Exception as error:
            # Dask has many errors for it. The connection may be broken before the client knows.
            if self._client.status == "running" and not isinstance(error, OSError):
                raise
            raise self.lost_error() from None


def work_off(
    crew: Crew, start: Callable[[], tuple[Future[Any], Piece] | None], beside: Future[None] | None = None
) -> Iterator[list[tuple[Piece, Any]]]:
    """Run pieces of work, and yield those that ended, with their futures, or none, at least once per second.

    ``start`` hands over the next one, and returns its future and whatever it shall be known by; None if there is none
    at the moment. Until ``beside`` is done, there may be more.
    """
    running: dict[Future[Any], Piece] = {}
    more = [] if beside is None else [beside]
    while True:
        last = all(future.done() for future in more)  # before it is looked for more
        while len(running) < crew.ahead() and (started := start()) is not None:
            running[started[0]] = started[1]
        if not running and last:
            return
        ended, _ = wait(running or more, timeout=PAUSE, return_when=FIRST_COMPLETED)
        if any(future.cancelled() for future in ended):
            raise crew.lost_error()
        yield [(running.pop(future), future) for future in ended if future in running]


@contextmanager
def crew_for(workers: int, scheduler: str | None, limits: Limits, executor: Executor | None = None) -> Iterator[Crew]:
    """Open what runs the jobs: an executor, a cluster, processes, or this process."""
    if executor is not None:
        yield Crew(executor, OTHERS)
    elif scheduler is not None:
        with _client(scheduler) as client:
            cluster = Cluster(client, limits)
            try:
                yield cluster
            finally:
                cluster.end()
    else:
        count = arguments.whole_number("workers", workers, least=0)
        with _processes(count, limits) if count else _this_process() as own:
            yield own


@contextmanager
def _this_process() -> Iterator[Crew]:
    try:
        yield Crew(InProcess(), 1)
    finally:
        forget_series()


@contextmanager
def _processes(count: int, limits: Limits) -> Iterator[Crew]:
    executor = LocalPool(count, limits)
    with shut_down_after(executor):
        yield Processes(executor, count)


@contextmanager
def shut_down_after(executor: Executor) -> Iterator[None]:
    """Shut an executor down in the end; after an error or Ctrl-C, without the calls that wait in its queue."""
    try:
        yield
    except BaseException:
        try:
            executor.shutdown(cancel_futures=True)
        except TypeError:  # that of Dask takes no such argument, and cancels if it does not wait
            executor.shutdown(wait=False)
        raise
    executor.shutdown()


@contextmanager
def _client(address: str) -> Iterator[Any]:
    try:
        from distributed import Client
    except ImportError:
        raise ValueError(f"a cluster needs Dask: {extras.install('cluster')}") from None
    with _quiet("distributed", "distributed.client", "tornado", "tornado.application"):
        try:
            client = Client(address, timeout=REACHED)
        except OSError as error:
            raise ValueError(f"there is no Dask scheduler at {address}: {error}") from None
        with client:
            _check_installed(client)
            yield client


def _check_installed(client: Any) -> None:
    """Check the scheduler and the workers before any work is submitted: a worker without dqeval would die."""
    try:
        there = {"the scheduler": client.run_on_scheduler(versions)}
    except Exception as error:
        there = {"the scheduler": error}
    there |= {f"the worker {address}": found for address, found in client.run(versions, on_error="return").items()}
    for who, found in there.items():
        if isinstance(found, Exception):
            raise ValueError(f"{who} cannot run dqeval: {found}; install the same version of dqeval there")


@contextmanager
def _quiet(*names: str) -> Iterator[None]:
    """Silence loggers: for a scheduler that is gone, Dask logs pages where one sentence will do."""
    loggers = [logging.getLogger(name) for name in names]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
