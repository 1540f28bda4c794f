"""The work of workers: one job, or several in turn, with the requested versions."""

from __future__ import annotations

import platform
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dqeval.bench.jobs import Job, JobResult, failure_of, run_job
from dqeval.bench.pool import Limits, Worker, WorkFailedError, answer
from dqeval.support.versions import versions

SLICE = 0.5  # seconds of work that are handed over at once


@dataclass(frozen=True, slots=True)
class Task:
    """A job to do.

    Attributes
    ----------
    job : Job
    id : str
        Of the job when the run began: its file may be changed meanwhile.
    expected : str
        The versions that it must be done with; empty for any.
    """

    job: Job
    id: str
    expected: str


@dataclass(frozen=True, slots=True)
class Batch:
    """Tasks for a worker of a cluster, to be done one after the other.

    Attributes
    ----------
    tasks : sequence of Task
    limits : Limits
        Of each of them.
    run : str
        Which run they are of. Another one has its own processes: detectors may have been changed in between.
    """

    tasks: Sequence[Task]
    limits: Limits
    run: str


def run_task(task: Task) -> JobResult:
    """Return the result of a job; one without rows if this process has other versions than expected."""
    began = time.perf_counter()
    outcome = run_job(task.job) if task.expected in ("", versions()) else JobResult()
    return replace(outcome, versions=versions(), host=platform.node(), seconds=time.perf_counter() - began)


def do_all(tasks: Sequence[Task]) -> list[JobResult]:
    """Return the results of jobs, also of those that fail."""
    return [_do_one(task) for task in tasks]


def _do_one(task: Task) -> JobResult:
    done, reply = answer(run_task, task)
    return reply if done else failure_here(task.job, WorkFailedError(*reply))


_own = threading.local()
_lock = threading.Lock()
_workers: dict[str, list[Worker]] = {}  # of all threads of this process, by run
_over: set[str] = set()  # runs


def do_guarded(batch: Batch) -> list[JobResult]:
    """Return the results of the first jobs of a batch, as many as run in about the time of a slice.

    They are done in a process beside a cluster's worker, which so outlives jobs that hang or die.
    """
    worker, began = _worker(batch), time.perf_counter()
    outcomes: list[JobResult] = []
    for task in batch.tasks:
        if outcomes and time.perf_counter() - began > SLICE:
            break
        outcomes.append(_do_in_process(worker, task))
    return outcomes


def end_run(run: str) -> None:
    """End the processes beside this one that do jobs of a run, whatever they do; jobs that come too late fail."""
    with _lock:
        _over.add(run)
        for worker in _workers.pop(run, []):
            worker.kill()


def _worker(batch: Batch) -> Worker:
    """Return the process of this thread."""
    if getattr(_own, "run", None) != batch.run:
        if hasattr(_own, "worker"):
            _own.worker.stop()
        with _lock:
            _own.run, _own.worker = batch.run, Worker(batch.limits)
            _workers.setdefault(batch.run, []).append(_own.worker)
            if batch.run in _over:
                _own.worker.kill()
    found: Worker = _own.worker
    return found


def _do_in_process(worker: Worker, task: Task) -> JobResult:
    began = time.perf_counter()
    try:
        outcome: JobResult = worker.call(run_task, task)
    except WorkFailedError as error:
        # Not raised: the cluster would do the job again, and again.
        return replace(failure_here(task.job, error), seconds=time.perf_counter() - began)
    return outcome


def failure_here(job: Job, error: WorkFailedError) -> JobResult:
    """Return the result of a job that failed in a process of this machine."""
    return replace(failure_of(job, error.reason, error.where), versions=versions(), host=platform.node())
