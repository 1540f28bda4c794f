"""Run the jobs of a plan, on this machine or on many, and resume earlier runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import partial
from importlib.metadata import version
from itertools import groupby
from pathlib import Path
from typing import Any

from dqeval.bench.bounds import BOUNDS
from dqeval.bench.dispatch import job_results
from dqeval.bench.executors import Crew, crew_for
from dqeval.bench.jobs import FROM_FILE, ID_BYTES, Job, JobResult, jobs_of
from dqeval.bench.kept_plan import check_place, keep, read_kept_plan, whole_path
from dqeval.bench.lock import folder_lock
from dqeval.bench.plan import Plan, PlannedDetector, make_plan, read_plan, to_json_types, with_modules
from dqeval.bench.store import Store, check_same_data
from dqeval.bench.tasks import Task
from dqeval.bench.training_ahead import Training, groups_for, training_of
from dqeval.render.tables import count_of
from dqeval.support.modules import found_from_anywhere
from dqeval.support.versions import versions

Progress = Callable[["State"], None]


@dataclass(frozen=True, slots=True)
class State:
    """The progress of a run.

    Attributes
    ----------
    done, failed : int
        Jobs that were done now, and how many of them failed.
    earlier, failed_earlier : int
        Jobs that were done before, and how many of them failed.
    total : int
        All jobs there are.
    threads : int or None
        How many jobs the workers of a cluster can do at the same time now; None without a cluster.
    made_together : int
        For how many jobs a detector has made scores now, on many series at once.
    problem : str
        Why detectors that work on many series at once could not, and work on one after the other; empty if they can.
    """

    done: int
    failed: int
    earlier: int
    total: int
    failed_earlier: int = 0
    threads: int | None = field(default=None, repr=False, compare=False)
    made_together: int = field(default=0, repr=False, compare=False)
    problem: str = field(default="", repr=False, compare=False)

    @property
    def left(self) -> int:
        """How many jobs are left."""
        return self.total - self.done - self.earlier

    @property
    def failed_in_all(self) -> int:
        """How many jobs failed, now or before."""
        return self.failed + self.failed_earlier

    def __str__(self) -> str:
        """Return the progress in words; a job that failed does not count as done."""
        before = self.earlier - self.failed_earlier
        done = before + self.done - self.failed
        count = f"{done:,} of {self.total:,} jobs done{f' ({before:,} before)' if before else ''}"
        made = f"; scores of {count_of(self.made_together, 'job')} made together" if self.made_together else ""
        return f"{count}, {self.failed_in_all:,} failed, {self.left:,} left{made}"


def run(
    plan: Plan | Mapping[str, Any] | str | Path,
    folder: str | Path,
    *,
    workers: int = 0,
    scheduler: str | None = None,
    executor: Executor | None = None,
    modules: Iterable[str] = (),
    shard: tuple[int, int] = (1, 1),
    at_once: int | None = None,
    any_version: bool = False,
    retry_failed: bool = False,
    progress: Progress | None = None,
) -> State:
    """Run a benchmark: every detector on every series, evaluated with every metric.

    Parameters
    ----------
    plan : Plan, mapping, str or Path
        A plan, what its file holds, or the file.
    folder : str or Path
        Where results and scores are stored. Jobs that were done there before are not run again.
    workers : int, default 0
        Number of processes; 0 runs in this process, without per-job limits.
    scheduler : str, optional
        The address of a Dask scheduler whose workers run the jobs; they must see the same folders. They may come and
        go. If the scheduler itself is lost, `ConnectionError` is raised.
    executor : concurrent.futures.Executor, optional
        Any other executor to run the jobs, instead of ``workers`` and ``scheduler``; it is not shut down. The limits of
        the plan do not apply there.
    modules : iterable of str, optional
        Modules, or Python files, to import first, in every process, beside those of the plan: there, people register
        metrics and detectors of their own. Files are relative to the current folder.
    shard : (int, int), default (1, 1)
        ``(2, 3)`` runs the second third of the jobs.
    at_once : int, optional
        On how many series detectors work in the same steps, if they can, as CNN and TimesNet can: in a process of this
        machine, beside the jobs, which then only evaluate. 1 has each job do its own work. By default 256 where PyTorch
        finds a graphics card, and 1 elsewhere. The more, the faster, and the more memory is needed; where it runs out,
        half as many are worked on. The scores are stored in the folder, where the workers of a cluster find them.
    any_version : bool, default False
        Whether workers may have other versions of dqeval, NumPy and Python than this process. They are refused
        otherwise. Each row says what computed it.
    retry_failed : bool, default False
        Whether to re-run jobs that failed before.
    progress : callable, optional
        Called with a `State` after each job, and when the number of a cluster's threads changes.

    Returns
    -------
    State
        How many jobs were done, failed, were done before, and are left.

    Examples
    --------
    >>> plan = {
    ...     "metrics": ["dqe", "auc_roc"],
    ...     "data": [{"generator": "synthetic", "count": 2, "n": 500, "period": 20, "events": 3}],
    ...     "detector": [{"name": "fft"}, {"name": "sr"}],
    ... }
    >>> print(dqeval.bench.run(plan, "runs/today"))
    4 of 4 jobs done, 0 failed, 0 left
    """
    more = found_from_anywhere(modules)
    checked, folder = _read(plan, more), Path(folder)
    if not 1 <= shard[0] <= shard[1]:
        raise ValueError(f"shard must be a part and the number of parts, such as (1, 3): got {shard}")
    check_place(folder, checked)
    tell = progress or (lambda state: None)
    expected = "" if any_version else versions()
    # The store comes last: where there is nobody to work, nothing is written.
    with (
        crew_for(workers, scheduler, checked.limits, executor) as crew,
        folder_lock(folder),
        Store(folder, create=True) as store,
    ):
        keep(plan, folder, shard, more)
        if retry_failed:
            store.forget_failures()
        # Twice through the jobs, to count them and to do them: there may be too many to keep.
        outlook = _outlook(store, _jobs(checked, folder, *shard))
        store.plan(_labels(checked), (series.source.name for series in checked.series))
        tell(outlook.state)
        groups = groups_for(at_once, outlook.detectors)
        if groups.detectors:
            crew.check_sees(store.path.resolve())

        def tasks(in_groups: bool) -> Iterator[Task]:
            all_left = outlook.tasks(_jobs(checked, folder, *shard), expected)
            return (task for task in all_left if groups.have(task) is in_groups)

        with training_of(tasks(True), groups, checked.limits.seconds) as training:
            return _do(store, job_results(crew, tasks(False), training), outlook.state, tell, crew, training)


def _do(
    store: Store,
    results: Iterable[list[tuple[Task, JobResult]]],
    state: State,
    tell: Progress,
    crew: Crew,
    training: Training | None,
) -> State:
    """Store results as they come, tell what has changed, and return how it ended."""
    for ended in results:
        now = replace(state, threads=crew.threads)
        if training is not None:
            now = replace(now, made_together=training.made, problem=training.problem)
        if _besides(now) != _besides(state):
            tell(now)
        state = now
        for task, outcome in ended:
            store.add(task.job, task.id, outcome)
            state = replace(state, done=state.done + 1, failed=state.failed + outcome.failed)
            tell(state)
    if training is not None:
        training.over.result()
    return state


def _besides(state: State) -> tuple[Any, ...]:
    """Return what changes without a job that is done."""
    return state.threads, state.made_together, state.problem


def retry(
    folder: str | Path,
    *,
    workers: int = 0,
    scheduler: str | None = None,
    executor: Executor | None = None,
    at_once: int | None = None,
    any_version: bool = False,
    progress: Progress | None = None,
) -> State:
    """Re-run failed and pending jobs.

    Parameters
    ----------
    folder : str or Path
        The folder of a run that stores its plan: one that was started from a file, or from what a file holds.
    workers : int, default 0
        Number of processes; 0 runs in this process, without per-job limits.
    scheduler : str, optional
        The address of a Dask scheduler whose workers run the jobs; they must see the same folders.
    executor : concurrent.futures.Executor, optional
        Any other executor to run the jobs, instead of ``workers`` and ``scheduler``; it is not shut down. The limits of
        the plan do not apply there.
    at_once : int, optional
        On how many series detectors work in the same steps, if they can, as CNN and TimesNet can; 1 has each job do its
        own work. By default 256 where PyTorch finds a graphics card, and 1 elsewhere.
    any_version : bool, default False
        Whether workers may have other versions of dqeval, NumPy and Python than this process.
    progress : callable, optional
        Called with a `State` after each job, and when the number of a cluster's threads changes.

    Returns
    -------
    State
        How many jobs were done, failed, were done before, and are left.

    Examples
    --------
    >>> plan = {
    ...     "metrics": ["dqe", "auc_roc"],
    ...     "data": [{"generator": "synthetic", "count": 2, "n": 500, "period": 20, "events": 3}],
    ...     "detector": [{"name": "fft"}, {"name": "sr"}],
    ... }
    >>> state = dqeval.bench.run(plan, "runs/today")
    >>> print(dqeval.bench.retry("runs/today"))
    4 of 4 jobs done (4 before), 0 failed, 0 left
    """
    folder = Path(folder)
    last = read_kept_plan(folder, imports=True)
    again = partial(run, last.path, folder, shard=last.shard, at_once=at_once, retry_failed=True)
    return again(workers=workers, scheduler=scheduler, executor=executor, any_version=any_version, progress=progress)


def progress_of(folder: str | Path) -> State:
    """Return the progress of a run, by the plan that it was last started with, of which no module is imported."""
    folder = Path(folder)
    with Store(folder) as store:
        last = read_kept_plan(folder, imports=False)
        found = _outlook(store, _jobs(last.plan, folder, *last.shard)).state
    return State(found.earlier, found.failed_earlier, 0, found.total)


@dataclass(frozen=True, slots=True)
class _Outlook:
    """The progress of a run, the ids of the jobs that are left, zeros in place of the others, and their detectors.

    Each id is computed once. As there may be millions, they are kept as bytes, one after the other.
    """

    state: State
    ids: bytes
    detectors: frozenset[PlannedDetector]

    def tasks(self, jobs: Iterable[Job], expected: str) -> Iterator[Task]:
        """Yield those of the same jobs that are left, to be done with the versions that are expected."""
        for i, job in enumerate(jobs):
            found = self.ids[i * ID_BYTES : (i + 1) * ID_BYTES]
            if any(found):
                yield Task(job, found.hex(), expected)


def _outlook(store: Store, jobs: Iterable[Job]) -> _Outlook:
    count: Counter[str | None] = Counter()
    ids = bytearray()
    detectors = set()
    for job in jobs:
        own = job.id
        status = store.status(own)
        count[status] += 1
        ids += bytes(ID_BYTES) if status else bytes.fromhex(own)
        if not status and job.detector.name:
            detectors.add(job.detector)
    state = State(0, 0, count["done"] + count["failed"], count.total(), count["failed"])
    return _Outlook(state, bytes(ids), frozenset(detectors))


def _labels(plan: Plan) -> list[str]:
    """Return what the store calls the detectors of a plan."""
    files = [FROM_FILE] if any(series.scored for series in plan.series) else []
    return [*(each.label for each in (*plan.detectors, *files)), *(BOUNDS if plan.bounds else ())]


def _jobs(plan: Plan, folder: Path, part: int, parts: int) -> Iterator[Job]:
    of_series = groupby(jobs_of(plan, folder.resolve(), version("dqeval")), key=lambda job: id(job.series))
    for i, (_, jobs) in enumerate(of_series):
        # Each series is dealt from another part on, or one part would get all jobs of one detector.
        yield from (job for j, job in enumerate(jobs) if (i + j) % parts == part - 1)


def merge(folders: Iterable[str | Path], into: str | Path) -> None:
    """Merge the results of several runs, such as shards, into one folder.

    Parameters
    ----------
    folders : iterable of str or Path
        The folders of the runs. Series of one name must hold the same data in all of them.
    into : str or Path
        The folder for the merged results; it is created if it does not exist.

    Examples
    --------
    >>> plan = {
    ...     "metrics": ["dqe", "auc_roc"],
    ...     "data": [{"generator": "synthetic", "count": 2, "n": 500, "period": 20, "events": 3}],
    ...     "detector": [{"name": "fft"}, {"name": "sr"}],
    ... }
    >>> for part in (1, 2):
    ...     state = dqeval.bench.run(plan, f"runs/part{part}", shard=(part, 2))
    >>> dqeval.bench.merge(["runs/part1", "runs/part2"], "runs/whole")
    >>> dqeval.bench.rank("runs/whole").n
    2
    """
    folders = list(folders)
    check_same_data(folders)
    with folder_lock(into), Store(into, create=True) as store:
        store.take(folders)


def _read(plan: Plan | Mapping[str, Any] | str | Path, modules: tuple[str, ...]) -> Plan:
    if isinstance(plan, Plan):
        return replace(plan, modules=(*plan.modules, *modules))
    # Whole paths: jobs are told apart by them, wherever they are started from, and a cluster's workers are elsewhere.
    if isinstance(plan, Mapping):
        return make_plan(with_modules(to_json_types(plan), modules), folder=Path.cwd())
    return read_plan(whole_path(plan), modules=modules)
