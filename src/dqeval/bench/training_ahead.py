"""Detectors that are faster on many series at once: their scores are made ahead of the jobs, in a process beside them.

The scores are kept where jobs look for them. So the jobs are the same as ever, and only find the detector's work done.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from threading import Thread

from dqeval.analysis.detect import detect_as_ready
from dqeval.bench.jobs import Job, Made, keep_scores, kept_scores
from dqeval.bench.plan import PlannedDetector, import_modules
from dqeval.bench.pool import Limits, Worker, WorkFailedError
from dqeval.bench.series_cache import read_series
from dqeval.bench.tasks import Task
from dqeval.core import arguments
from dqeval.core.registry import DETECTORS
from dqeval.core.types import Series

AT_ONCE = 256  # networks on a graphics card, which need some gigabytes; fewer where these are not there
JOBS = 10_000  # that a group may have
POINTS = 2**27  # of all series of a group: a gigabyte for the values, and as much again for copies
NOTE = "made together with {} others: the seconds are its share"


def groups_for(at_once: int | None, detectors: Iterable[PlannedDetector]) -> Groups:
    """Return which detectors of a plan work on many series at once, and on how many.

    Parameters
    ----------
    at_once : int or None
        On how many; 1 if each shall work alone. If None, 256 where there is a graphics card for it, and 1 elsewhere.
    detectors : iterable of PlannedDetector
    """
    able = [each for each in detectors if DETECTORS[each.name].many is not None]
    if at_once is not None:
        count = arguments.whole_number("at_once", at_once, least=1)
        return Groups(frozenset(able if count > 1 else ()), count)
    on_card = [each for each in able if _may_use_card(each)]
    return Groups(frozenset(on_card if on_card and _card_in_own_process() else ()), AT_ONCE)


@dataclass(frozen=True, slots=True)
class Groups:
    """The detectors that work on many series at once, and on how many."""

    detectors: frozenset[PlannedDetector]
    at_once: int

    def have(self, task: Task) -> bool:
        """Return whether the scores of a task are made in a group."""
        return task.job.detector in self.detectors


def _may_use_card(detector: PlannedDetector) -> bool:
    return dict(detector.parameters).get("device", DETECTORS[detector.name].parameters.get("device")) not in (
        None,
        "cpu",
    )


def _card_in_own_process() -> bool:
    """Return whether PyTorch finds a graphics card; this process shall not have to import it."""
    if find_spec("torch") is None:
        return False
    worker = Worker(Limits())
    try:
        return bool(worker.call(has_card, None))
    except WorkFailedError:  # an installation that is broken: jobs say so
        return False
    finally:
        worker.stop()


def has_card(_: None) -> bool:
    """Return whether PyTorch finds a graphics card."""
    import torch

    return bool(torch.cuda.is_available())


class Training:
    """The work on groups, in a thread that waits for a process, and the tasks whose scores it has made.

    Parameters
    ----------
    tasks : iterator of Task
        Of detectors that work on many series at once.
    at_once : int
    seconds : float or None
        The time limit of a job: a group may take as long as all of its jobs together.
    """

    def __init__(self, tasks: Iterator[Task], at_once: int, seconds: float | None) -> None:
        self.made = 0  # scores
        self.problem = ""  # why groups were given up
        self.over: Future[None] = Future()
        self._tasks, self._at_once, self._seconds = tasks, at_once, seconds
        self._ready: deque[Task] = deque()
        self._worker, self._stopped = Worker(Limits()), False
        self._thread = Thread(target=self._work, daemon=True)
        self._thread.start()

    def next(self) -> Task | None:
        """Return a task that can be done now: its scores are there, or it must make them by itself."""
        return self._ready.popleft() if self._ready else None

    def stop(self) -> None:
        """End the process and the thread; what was made is kept."""
        self._stopped = True
        self._worker.kill()
        self._thread.join()
        self._worker.stop()

    def _work(self) -> None:
        try:
            while tasks := list(islice(self._tasks, JOBS)):
                for detector in dict.fromkeys(task.job.detector for task in tasks):
                    if self._stopped:
                        return
                    self._make([task for task in tasks if task.job.detector == detector])
        except BaseException as error:
            self.over.set_exception(error)
        else:
            self.over.set_result(None)

    def _make(self, tasks: Sequence[Task]) -> None:
        """Have the scores of tasks made, and hand the tasks on, also those that get none."""
        left = dict(enumerate(tasks))
        group = Group([task.job for task in tasks], self._at_once)
        seconds = None if self._seconds is None else self._seconds * len(tasks)
        try:
            for number, made in self._worker.stream(make_scores, group, seconds):
                if number in left:  # a detector may give the scores of a series twice
                    self.made += made
                    self._ready.append(left.pop(number))
        except WorkFailedError as error:
            self.problem = error.reason
        self._ready.extend(left.values())


@contextmanager
def training_of(tasks: Iterator[Task], groups: Groups, seconds: float | None) -> Iterator[Training | None]:
    """Have scores made beside the jobs, as long as this lasts; None if no detector works on many series."""
    if not groups.detectors:
        yield None
        return
    training = Training(tasks, groups.at_once, seconds)
    try:
        yield training
    finally:
        training.stop()


@dataclass(frozen=True, slots=True)
class Group:
    """Jobs of one detector, and on how many series it works at once."""

    jobs: Sequence[Job]
    at_once: int


@dataclass(frozen=True, slots=True)
class _Wanted:
    """A job without scores: its number in the group, and the series."""

    number: int
    job: Job
    series: Series


def make_scores(group: Group) -> Iterator[tuple[int, bool]]:
    """Make and keep the scores of jobs, and yield the number of each as soon as it can be done.

    Beside it stands whether scores were made now. Jobs for which none can be made come too: they will say why.
    """
    wanted: list[_Wanted] = []
    points, at_once = 0, group.at_once
    for number, job in enumerate(group.jobs):
        series = _readable(job)
        if series is None or series.values is None or kept_scores(job, series) is not None:
            yield number, False
            continue
        if wanted and points + series.values.size > POINTS:
            at_once = yield from _make(wanted, at_once)
            wanted, points = [], 0
        wanted.append(_Wanted(number, job, series))
        points += series.values.size
    yield from _make(wanted, at_once)


def _readable(job: Job) -> Series | None:
    try:
        import_modules(job.modules, job.modules_in)
        return read_series(job.series.source)
    except Exception:
        return None


def _make(wanted: list[_Wanted], at_once: int) -> Generator[tuple[int, bool], None, int]:
    """Make the scores of some jobs; on fewer series at once where memory runs out. Return on how many it did not."""
    while wanted:
        done: set[int] = set()
        try:
            for number, made in _make_at_once(wanted, at_once):
                done.add(number)
                yield number, made
            return at_once
        except Exception as error:
            if at_once == 1 or "memory" not in f"{type(error).__name__}: {error}".lower():
                raise
            at_once //= 2
        wanted = [each for each in wanted if each.number not in done]
    return at_once


def _make_at_once(wanted: Sequence[_Wanted], at_once: int) -> Iterator[tuple[int, bool]]:
    detector = wanted[0].job.detector
    note = NOTE.format(f"{len(wanted) - 1:,}")
    began = time.perf_counter()
    for ready in detect_as_ready(
        [each.series for each in wanted],
        detector.name,
        train_stops=[None] * len(wanted),
        seeds=[each.job.seed for each in wanted],
        at_once=at_once,
        **dict(detector.parameters),
    ):
        spent = time.perf_counter() - began
        points = sum(len(wanted[i].series.labels) for i, _ in ready)
        for i, scores in ready:
            one = wanted[i]
            if not isinstance(scores, Exception):
                keep_scores(one.job, one.series, Made(scores, spent * len(scores) / points, note))
            yield one.number, not isinstance(scores, Exception)
        began = time.perf_counter()
