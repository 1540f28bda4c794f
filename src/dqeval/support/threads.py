"""Several pieces of work at once, in threads: kernels and NumPy let go of Python's lock while they compute."""

from __future__ import annotations

import os
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, copy_context
from functools import partial
from itertools import chain, islice
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any, TypeVar

from dqeval.core import arguments
from dqeval.support.on_demand import shared_by_threads

Item = TypeVar("Item")
Made = TypeVar("Made")

MOST_WORKERS = 1024  # more than any machine has cores, and as many as any system lets a process have threads
LEAST_POINTS = 20_000  # below this, threads mostly wait for Python's lock; such series are joined (core/joined.py)
_AHEAD = 2  # pieces of work a thread that are begun before the first of them is asked for: some take longer than others
_NOTICED = 0.1  # seconds after which Ctrl-C is noticed at the latest: some systems do not wake up the one who waits
_warned: ContextVar[list[tuple[Any, ...]] | None] = ContextVar("_warned", default=None)


def worker_count(given: Any, *, points: int | None = None) -> int:
    """Return how many threads to use: as many as asked for, or as many cores as this process may use.

    Parameters
    ----------
    given : int or None
        What the caller asks for as ``workers``; None for all cores.
    points : int, optional
        How long the series are that a piece of work is about: for short ones, threads do not pay.

    Examples
    --------
    >>> worker_count(3), worker_count(3, points=100)
    (3, 1)
    """
    count = _cores() if given is None else arguments.whole_number("workers", given, least=1, most=MOST_WORKERS)
    return count if points is None or points >= LEAST_POINTS else 1


def _cores() -> int:
    """Return how many cores this process may use, where the system tells."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(work: Callable[[Item], Made], items: Iterable[Item], workers: int) -> Iterator[Made]:
    """Yield what comes of each item, in their order, worked on by so many threads; with one, by none.

    Everything else is as in a loop. Items are taken one after the other, by the caller's thread, and not many more of
    them than there are threads before the first of their results is asked for. An error comes in its turn, and so do
    warnings. After an error, or if the caller stops, nothing more is begun, and what has begun comes to its end;
    only Ctrl-C does not wait for that.

    Examples
    --------
    >>> list(in_order(lambda x: x * x, range(5), workers=2))
    [0, 1, 4, 9, 16]
    """
    source = iter(items)
    first = list(islice(source, 2)) if workers > 1 else []
    if len(first) < 2:
        yield from map(work, chain(first, source))
        return
    with shared_by_threads(), _Crew(work, chain(first, source), workers) as crew:
        yield from crew.results()


class _Crew:
    """Threads, and what they have to do.

    The threads are daemons, so that a program can end after Ctrl-C while they still compute.
    """

    def __init__(self, work: Callable[[Any], Any], items: Iterator[Any], workers: int) -> None:
        self._work, self._items, self._workers = work, items, workers
        self._begun: deque[_Task] = deque()
        self._queue: SimpleQueue[_Task | None] = SimpleQueue()
        self._wanted = True
        self._threads = [Thread(target=self._run, daemon=True) for _ in range(workers)]

    def __enter__(self) -> _Crew:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._wanted = False
        for _thread in self._threads:
            self._queue.put(None)
        if kind is None or not issubclass(kind, KeyboardInterrupt):
            for thread in self._threads:
                thread.join()

    def results(self) -> Iterator[Any]:
        """Yield the results in order; warnings are shown when it is their turn."""
        with _warnings.kept() as show:
            self._hand_out()
            while self._begun:
                made, warned = self._begun[0].wait()
                self._begun.popleft()
                for warning in warned:
                    show(*warning)
                if isinstance(made, _Failed):
                    raise made.error
                self._hand_out()
                yield made

    def _hand_out(self) -> None:
        """Give the threads as much to do as they may have."""
        while len(self._begun) < _AHEAD * self._workers:
            try:
                item = next(self._items)
            except StopIteration:
                return
            except Exception as error:  # its turn has not come
                self._begin(partial(_raise, error))
                self._items = iter(())
                return
            self._begin(partial(self._work, item))

    def _begin(self, call: Callable[[], Any]) -> None:
        task = _Task(call)
        self._begun.append(task)
        self._queue.put(task)

    def _run(self) -> None:
        while (task := self._queue.get()) is not None:
            if self._wanted:
                task.run()


class _Task:
    """A call, and what comes of it. It costs next to nothing: a lock, where a future takes as long as short work."""

    def __init__(self, call: Callable[[], Any]) -> None:
        # In the state of the caller's thread, such as what NumPy is to do about overflows.
        self._call, self._context = call, copy_context()
        self._running = Lock()
        self._running.acquire()

    def run(self) -> None:
        self._made = self._context.run(_with_warnings, self._call)
        self._running.release()

    def wait(self) -> tuple[Any, list[tuple[Any, ...]]]:
        """Return what came of the call, once it is done."""
        while not self._running.acquire(timeout=_NOTICED):
            pass
        return self._made


class _Failed:
    """What comes of work that failed."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


def _with_warnings(call: Callable[[], Any]) -> tuple[Any, list[tuple[Any, ...]]]:
    """Return what a call gives, or how it failed, and the warnings on the way."""
    kept: list[tuple[Any, ...]] = []
    _warned.set(kept)
    try:
        return call(), kept
    except BaseException as error:
        return _Failed(error), kept


def _raise(error: Exception) -> None:
    raise error


class _Warnings:
    """The warnings of threads, kept until their turn comes.

    Python has one function that shows warnings, for all threads. So it is replaced once, however many crews there are,
    and put back by the last of them.
    """

    def __init__(self) -> None:
        self._lock, self._crews, self._show = Lock(), 0, warnings.showwarning

    @contextmanager
    def kept(self) -> Iterator[Callable[..., None]]:
        """Keep the warnings of a crew; yield what shows one."""
        with self._lock:
            self._crews += 1
            if warnings.showwarning != self._keep:
                self._show = warnings.showwarning
                warnings.showwarning = self._keep  # type: ignore[assignment]
        try:
            yield self._keep
        finally:
            with self._lock:
                self._crews -= 1
                if not self._crews:
                    warnings.showwarning = self._show

    def _keep(self, *warning: Any) -> None:
        """Keep a warning for the one who waits for this work, or show it if nobody does."""
        kept = _warned.get()
        if kept is None:
            self._show(*warning)
        else:
            kept.append(warning)


_warnings = _Warnings()
