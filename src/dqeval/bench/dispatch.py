"""Submit jobs, and collect their results."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future

from dqeval.bench.executors import Crew, work_off
from dqeval.bench.jobs import JobResult, failure_of
from dqeval.bench.pool import WorkFailedError
from dqeval.bench.tasks import SLICE, Task, failure_here
from dqeval.bench.training_ahead import Training
from dqeval.support.versions import NOBODY, difference

AHEAD = 10_000  # tasks that are looked at to find those of another series


def job_results(
    crew: Crew, tasks: Iterator[Task], training: Training | None = None
) -> Iterator[list[tuple[Task, JobResult]]]:
    """Yield tasks with their results, as they end; now and then an empty list.

    Parameters
    ----------
    crew : Crew
    tasks : iterator of Task
        Series by series. Only some are taken at a time: there may be millions.
    training : Training, optional
        Where more tasks come from, when their scores are there.
    """
    waiting = Waiting(tasks, crew.together, crew.lanes, training)

    def start() -> tuple[Future[list[JobResult]], list[Task]] | None:
        tasks = waiting.take()
        return (crew.submit_jobs(tasks), tasks) if tasks else None

    for ended in work_off(crew, start, None if training is None else training.over):
        yield [pair for tasks, future in ended for pair in waiting.back(tasks, _results(tasks, future))]


class Lanes:
    """The tasks of several series at a time: one series for each worker, which so reads it once.

    Parameters
    ----------
    tasks : iterator of Task
        Series by series.
    count : int
        Of how many series there shall be tasks, if there are so many.
    """

    def __init__(self, tasks: Iterator[Task], count: int) -> None:
        self._tasks, self._count = tasks, count
        self._open: dict[tuple[bool, str], deque[Task]] = {}  # by series
        self._handed: Counter[tuple[bool, str]] = Counter()  # tasks that are being done, by series

    def next(self) -> Task | None:
        """Return a task of the series with the fewest running ones; None if none is left."""
        self._fill()
        if not self._open:
            return None
        series = min(self._open, key=self._handed.__getitem__)
        task = self._open[series].popleft()
        if not self._open[series]:
            del self._open[series]
        self.hand(task)
        return task

    def hand(self, task: Task) -> None:
        """Record that a task is running, also one from elsewhere."""
        self._handed[_series_of(task)] += 1

    def release(self, task: Task) -> None:
        """Record that a task is no longer running."""
        series = _series_of(task)
        self._handed[series] -= 1
        if not self._handed[series]:
            del self._handed[series]

    def _fill(self) -> None:
        while len(self._open) < self._count and sum(map(len, self._open.values())) < AHEAD:
            task = next(self._tasks, None)
            if task is None:
                return
            self._open.setdefault(_series_of(task), deque()).append(task)


def _series_of(task: Task) -> tuple[bool, str]:
    """Return what tells the series of a plan apart: scores of one's own may be those of another series of the plan."""
    return task.job.series.scored, task.job.series.source.name


class Waiting:
    """The tasks that are left, taken in batches of what is likely to be done in a slice of time.

    Parameters
    ----------
    tasks : iterator of Task
        Series by series.
    together : int
        The most that a batch may hold.
    lanes : int, default 1
        Of how many series tasks are taken at a time.
    training : Training, optional
        Where more tasks come from, which go first.
    """

    def __init__(self, tasks: Iterator[Task], together: int, lanes: int = 1, training: Training | None = None) -> None:
        self._lanes, self._together, self._training = Lanes(tasks, lanes), together, training
        self._returned: deque[Task] = deque()
        self._alone: deque[Task] = deque()
        self._seconds: dict[str, float] = {}  # that a job of a detector is expected to take

    def take(self) -> list[Task]:
        """Return the next batch; an empty one if nothing is left at the moment."""
        if self._alone:
            return [self._alone.popleft()]
        batch: list[Task] = []
        free = SLICE
        while len(batch) < self._together and (task := self._next()) is not None:
            free -= self._seconds.get(task.job.detector.label, math.inf)
            if batch and free < 0:
                # It would keep back what came of the others.
                self._returned.appendleft(task)
                break
            batch.append(task)
        return batch

    def back(self, tasks: Sequence[Task], outcomes: Sequence[JobResult]) -> list[tuple[Task, JobResult]]:
        """Return the finished tasks with their results, and take back the others."""
        left = tasks[len(outcomes) :]
        for task in tasks[: len(outcomes)]:
            self._lanes.release(task)
        # Of a batch that was lost, it shows which task it was when each is alone.
        (self._returned if outcomes else self._alone).extend(left)
        done = list(zip(tasks, outcomes, strict=False))
        for task, outcome in done:
            self._learn(task.job.detector.label, outcome.seconds)
        return done

    def _next(self) -> Task | None:
        if self._returned:
            return self._returned.popleft()
        ready = None if self._training is None else self._training.next()
        if ready is None:
            return self._lanes.next()
        self._lanes.hand(ready)
        return ready

    def _learn(self, label: str, seconds: float) -> None:
        # The last ones count most, as series that are alike often follow each other.
        before = self._seconds.get(label, seconds)
        self._seconds[label] = 0.75 * before + 0.25 * seconds


def _results(tasks: Sequence[Task], future: Future[list[JobResult]]) -> list[JobResult]:
    """Return the results of the first tasks; nothing if it is not known which of several failed."""
    try:
        found = future.result()
    except WorkFailedError as error:
        return [failure_here(tasks[0].job, error)]
    except (ImportError, AttributeError) as error:
        # Jobs have their errors caught where they are done: this is about dqeval itself.
        raise ValueError(f"a worker cannot run the jobs: {error}; install the same version of dqeval there") from error
    except Exception as error:
        # A cluster lost the jobs, and gave up on them.
        return [] if len(tasks) > 1 else [failure_of(tasks[0].job, f"{type(error).__name__}: {error}", "")]
    for task, outcome in zip(tasks, found, strict=False):
        _check(task, outcome)
    return found


def _check(task: Task, outcome: JobResult) -> None:
    lost = outcome.failed and outcome.versions == NOBODY
    if task.expected and outcome.versions != task.expected and not lost:
        raise ValueError(
            f"a worker on {outcome.host} has other versions: {difference(outcome.versions, task.expected)}; "
            "install the same everywhere and restart the workers, or allow it with --any-version "
            "(any_version=True)"
        )
