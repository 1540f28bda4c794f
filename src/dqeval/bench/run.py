"""Running the jobs of a plan, on this machine or on many, and picking up where an earlier run stopped."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

from dqeval import validate
from dqeval.bench.jobs import FROM_FILE, Job, Outcome, failed, jobs_of, work
from dqeval.bench.kept import check_place, keep, kept, whole_path
from dqeval.bench.lock import locked
from dqeval.bench.plan import Plan, make_plan, read_plan
from dqeval.bench.pool import InProcess, Limits, LocalPool, Worker, WorkFailedError
from dqeval.bench.store import Store, check_same_data, versions

AHEAD = 4  # jobs handed over for each worker, so that none waits for the driver
OTHERS = 100  # jobs handed to an executor whose workers are not known

Progress = Callable[["State"], None]


@dataclass(frozen=True, slots=True)
class State:
    """How far a run is.

    Attributes
    ----------
    done, failed : int
        Jobs that were done now, and how many of them failed.
    earlier, failed_earlier : int
        Jobs that were done before, and how many of them failed.
    total : int
        All jobs there are.
    """

    done: int
    failed: int
    earlier: int
    total: int
    failed_earlier: int = 0

    @property
    def left(self) -> int:
        """How many jobs are left."""
        return self.total - self.done - self.earlier

    @property
    def failed_in_all(self) -> int:
        """How many jobs failed, now or before."""
        return self.failed + self.failed_earlier

    def __str__(self) -> str:
        """Say it in words, in which a job that failed is not done."""
        before = self.earlier - self.failed_earlier
        done = before + self.done - self.failed
        told = f"{done:,} of {self.total:,} jobs done{f' ({before:,} before)' if before else ''}"
        return f"{told}, {self.failed_in_all:,} failed, {self.left:,} left"


def run(
    plan: Plan | Mapping[str, Any] | str | Path,
    folder: str | Path,
    *,
    workers: int = 0,
    scheduler: str | None = None,
    executor: Executor | None = None,
    shard: tuple[int, int] = (1, 1),
    progress: Progress | None = None,
) -> State:
    """Run a benchmark: every detector on every series, evaluated with every metric.

    Parameters
    ----------
    plan : Plan, mapping, str or Path
        A plan, what its file holds, or the file.
    folder : str or Path
        Where results and scores are kept. What was done there before is not done again.
    workers : int, default 0
        How many processes; 0 to work in this one, where jobs have no limits of time and memory.
    scheduler : str, optional
        The address of a Dask scheduler whose workers do the work; they must see the same folders.
    executor : concurrent.futures.Executor, optional
        Any other that shall do the work, in place of ``workers`` and ``scheduler``; it is not shut down. Jobs have no
        limits there but its own.
    shard : (int, int), default (1, 1)
        ``(2, 3)`` does the second third of the jobs.
    progress : callable, optional
        Called with a `State` after each job.

    Returns
    -------
    State
    """
    checked, folder = _read(plan), Path(folder)
    if not 1 <= shard[0] <= shard[1]:
        raise ValueError(f"shard must be a part and how many there are, such as (1, 3): got {shard}")
    check_place(folder)
    tell = progress or (lambda state: None)
    # The store comes last: where there is nobody to work, nothing is written.
    chosen = executor_for(workers, scheduler, checked.limits) if executor is None else nullcontext((executor, OTHERS))
    with chosen as (doing, ahead), locked(folder), Store(folder, create=True) as store:
        keep(plan, folder, shard)
        # Twice through the jobs, to count them and to do them: there may be too many to keep.
        state = _state(store, checked, folder, shard)
        store.plan(_labels(checked), (series.source.name for series in checked.series))
        to_do = (job for job in _jobs(checked, folder, *shard) if not store.status(job.id))
        tell(state)
        made_with = versions()
        for job, id, outcome in _outcomes(doing, to_do, ahead, scheduler is not None, checked.limits):
            store.add(job, id, outcome, made_with)
            state = replace(state, done=state.done + 1, failed=state.failed + outcome.failed)
            tell(state)
    return state


def retry(
    folder: str | Path, *, workers: int = 0, scheduler: str | None = None, progress: Progress | None = None
) -> State:
    """Do the jobs of a run again that failed, and what else is left of it.

    Parameters
    ----------
    folder : str or Path
        Of a run that keeps its plan: one that was started from a file, or from what a file holds.
    workers, scheduler, progress
        As in `run`.

    Returns
    -------
    State
    """
    folder = Path(folder)
    last = kept(folder)  # which says what is wrong with it by now, before failures are forgotten
    with locked(folder), Store(folder, create=True) as store:
        store.forget_failures()
    return run(last.path, folder, workers=workers, scheduler=scheduler, shard=last.shard, progress=progress)


def progress_of(folder: str | Path) -> State:
    """Return how far a run is, by the plan that it was last started with."""
    folder = Path(folder)
    with Store(folder) as store:
        last = kept(folder)
        found = _state(store, last.plan, folder, last.shard)
    return State(found.earlier, found.failed_earlier, 0, found.total)


def _state(store: Store, plan: Plan, folder: Path, shard: tuple[int, int]) -> State:
    count = Counter(store.status(job.id) for job in _jobs(plan, folder, *shard))
    return State(0, 0, count["done"] + count["failed"], count.total(), count["failed"])


def _labels(plan: Plan) -> list[str]:
    """Return what the store calls the detectors of a plan."""
    files = [FROM_FILE] if any(series.scored for series in plan.series) else []
    return [each.label for each in (*plan.detectors, *files)]


def _jobs(plan: Plan, folder: Path, part: int, parts: int) -> Iterator[Job]:
    whole, made_with = folder.resolve(), version("dqeval")
    for i, series in enumerate(plan.series):
        # Each series is dealt from another part on, or one part would get all jobs of one detector.
        of_series = jobs_of(replace(plan, series=(series,)), whole, made_with)
        yield from (job for j, job in enumerate(of_series) if (i + j) % parts == part - 1)


def merge(folders: Iterable[str | Path], into: str | Path) -> None:
    """Put the results of several runs, such as the shards of one, into one folder."""
    folders = list(folders)
    check_same_data(folders)
    with locked(into), Store(into, create=True) as store:
        store.take(folders)


def _read(plan: Plan | Mapping[str, Any] | str | Path) -> Plan:
    if isinstance(plan, Plan):
        return plan
    # Whole paths: jobs are told apart by them, wherever they are started from, and a cluster's workers are elsewhere.
    return make_plan(plan, folder=Path.cwd()) if isinstance(plan, Mapping) else read_plan(whole_path(plan))


def _outcomes(
    executor: Executor, left: Iterator[Job], ahead: int, guard: bool, limits: Limits
) -> Iterator[tuple[Job, str, Outcome]]:
    """Yield each job and its id with what came of it, as they end; only some are handed over at a time."""
    running: dict[Future[Outcome], tuple[Job, str]] = {}
    while True:
        for job in islice(left, ahead - len(running)):
            id = job.id  # before the work: its file may be changed meanwhile
            future = executor.submit(_guarded, (job, limits)) if guard else executor.submit(work, job)
            running[future] = job, id
        if not running:
            return
        ended, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in ended:
            job, id = running.pop(future)
            yield job, id, _outcome(job, future)


def _outcome(job: Job, future: Future[Outcome]) -> Outcome:
    try:
        return future.result()
    except WorkFailedError as error:
        return failed(job, error.reason, error.where)
    except CancelledError:
        raise ValueError("the scheduler is gone: start it again, and the run, which goes on where it was") from None
    except Exception as error:
        # A cluster lost the job, and gave up on it.
        return failed(job, f"{type(error).__name__}: {error}", "")


_own = threading.local()


def _guarded(task: tuple[Job, Limits]) -> Outcome:
    """Work in a process beside a cluster's worker, which so outlives jobs that hang or die."""
    job, limits = task
    if not hasattr(_own, "worker"):
        _own.worker = Worker(limits)
    try:
        outcome: Outcome = _own.worker.call(work, job)
    except WorkFailedError as error:
        # Not raised: the cluster would do the job again, and again.
        return failed(job, error.reason, error.where)
    return outcome


@contextmanager
def executor_for(workers: int, scheduler: str | None, limits: Limits) -> Iterator[tuple[Executor, int]]:
    """Give something to work with, and how many jobs to hand it at a time."""
    if scheduler is not None:
        with _cluster(scheduler) as found:
            yield found
        return
    count = validate.whole("workers", workers, least=0)
    executor: Executor = LocalPool(count, limits) if count else InProcess()
    try:
        yield executor, AHEAD * count or 1
    except BaseException:
        executor.shutdown(cancel_futures=True)
        raise
    executor.shutdown()


@contextmanager
def _cluster(address: str) -> Iterator[tuple[Executor, int]]:
    try:
        from distributed import Client
    except ImportError:
        raise ValueError("a cluster needs Dask: pip install 'dqeval[cluster]'") from None
    try:
        client = Client(address, timeout="10s")
    except OSError as error:
        raise ValueError(f"there is no Dask scheduler at {address}: {error}") from None
    with client:
        threads = sum(client.nthreads().values())
        yield client.get_executor(pure=False, retries=3), AHEAD * max(threads, 1)
