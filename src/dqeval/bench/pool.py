"""Work in processes of its own, where it may fail, hang, or die of memory without harm to anything else."""

from __future__ import annotations

import contextlib
import io
import os
import pickle
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import partial
from typing import Any

_MEGABYTE = 2**20
_THREAD_COUNTS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


def one_thread_each() -> dict[str, str]:
    """Return the environment in which processes use one thread, or as many as OMP_NUM_THREADS says.

    How sums are split among threads shows in their last digits, and a neural network makes these larger. So results
    would depend on the machine and on how many processes share it; and threads of several processes hinder each other.
    """
    threads = os.environ.get("OMP_NUM_THREADS", "1")
    return {name: os.environ.get(name, threads) for name in _THREAD_COUNTS}


@dataclass(frozen=True, slots=True)
class Limits:
    """What a job may take: None for no limit.

    Attributes
    ----------
    seconds : float or None
    megabytes : int or None
        Of address space, which is more than what is in use.
    """

    seconds: float | None = None
    megabytes: int | None = None


_here: Limits | None = None  # in a worker's own process, which does nothing but one call after the other: its limits


class _Printed(io.StringIO):
    """What one thread prints; what others do, such as one that an earlier job has left behind, goes nowhere."""

    def __init__(self) -> None:
        super().__init__()
        self._thread = threading.get_ident()

    def write(self, text: str) -> int:
        return super().write(text) if threading.get_ident() == self._thread else len(text)


@contextlib.contextmanager
def catch_output() -> Iterator[io.StringIO]:
    """Catch what a job prints, in a worker's own process.

    Anywhere else nothing is caught: standard output is for the whole process, where others may print too.
    """
    caught = _Printed()
    with contextlib.nullcontext() if _here is None else contextlib.redirect_stdout(caught):
        yield caught


class WorkFailedError(Exception):
    """Work that failed: the reason in a sentence, and where it happened.

    Attributes
    ----------
    reason, where : str
        ``where`` is the traceback; empty if the process ended without one.
    """

    def __init__(self, reason: str, where: str = "") -> None:
        super().__init__(reason, where)
        self.reason, self.where = reason, where


@dataclass(frozen=True, slots=True)
class _Yielded:
    """One of the answers of a generator, of which more may follow."""

    item: Any


class Worker:
    """A process that works on one call after the other; one that hangs or dies is replaced.

    It is started by its own command, not by `multiprocessing`, which would run the caller's script again, and may not
    start anything inside a cluster's worker.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._process: subprocess.Popen[bytes] | None = None
        self._expired = False

    def call(self, function: Callable[[Any], Any], argument: Any) -> Any:
        """Return what the function returns, or raise `WorkFailedError`."""
        return self._exchange(_pickled(function, argument))

    def stream(self, function: Callable[[Any], Iterator[Any]], argument: Any) -> Iterator[Any]:
        """Yield what a generator function yields, as it comes, or raise `WorkFailedError`."""
        reply = self._exchange(_pickled(function, argument))
        while isinstance(reply, _Yielded):
            yield reply.item
            reply = self._exchange(b"")

    def _exchange(self, message: bytes) -> Any:
        """Send a call, if there is one, and return the next answer."""
        new = self._process is None
        process = self._process = self._process or self._start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            if new:
                pickle.load(process.stdout)  # it is ready: its start takes no job's time
            with self._clock():
                process.stdin.write(message)
                process.stdin.flush()
                done, reply = pickle.load(process.stdout)
        except (EOFError, OSError, pickle.UnpicklingError):
            raise WorkFailedError(self._end()) from None
        if not done:
            raise WorkFailedError(*reply)
        return reply

    def kill(self) -> None:
        """End the process, whatever it does; may come from another thread than the call that waits for it."""
        process = self._process
        if process is not None:
            process.kill()

    def stop(self) -> None:
        """End the process, and forget it: the next call starts another."""
        if self._process is not None:
            self._process.kill()
            with contextlib.suppress(BrokenPipeError):
                self._process.communicate()
            self._process = None

    def _start(self) -> subprocess.Popen[bytes]:
        self._expired = False
        return subprocess.Popen(
            [sys.executable, "-c", _START, str(self._limits.megabytes or 0)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **one_thread_each(), "PYTHONPATH": os.pathsep.join(sys.path)},
        )

    @contextlib.contextmanager
    def _clock(self) -> Iterator[None]:
        if self._limits.seconds is None:
            yield
            return
        timer = threading.Timer(self._limits.seconds, self._expire)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()

    def _expire(self) -> None:
        self._expired = True
        self.kill()

    def _end(self) -> str:
        """Return why the process is gone, and forget it."""
        assert self._process is not None
        code = self._process.wait()
        expired = self._expired
        self.stop()
        if expired:
            return f"took longer than the limit of {self._limits.seconds:g} seconds"
        return f"the process died ({f'signal {-code}' if code < 0 else f'exit code {code}'}): out of memory, or a crash"


_START = "import sys; from dqeval.bench.pool import serve; serve(int(sys.argv[1]))"


def _pickled(function: Callable[[Any], Any], argument: Any) -> bytes:
    """Return a call as it is sent to another process, or say why it cannot be."""
    try:
        return pickle.dumps((function, argument))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        advice = "define detectors and metrics by def, at the top of a module that the run imports"
        raise WorkFailedError(f"the work cannot be sent to another process ({error}): {advice}") from None


def serve(megabytes: int) -> None:
    """Answer the calls that come on standard input until it ends, as it does when the caller was killed."""
    global _here
    _here = Limits(megabytes=megabytes or None)
    calls = sys.stdin.buffer
    own = os.dup(sys.stdout.fileno())
    with contextlib.suppress(EOFError, OSError, KeyboardInterrupt), os.fdopen(own, "wb") as answers:
        # Whatever prints, also from compiled code, must not come between the answers.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
        if megabytes:
            _limit_memory(megabytes * _MEGABYTE)

        def send(reply: Any) -> None:
            pickle.dump(reply, answers)
            answers.flush()

        send("ready")
        while True:
            function, argument = pickle.load(calls)
            send(answer(partial(_in_turn, function, send), argument))


def _in_turn(function: Callable[[Any], Any], send: Callable[[Any], None], argument: Any) -> Any:
    """Return what a function gives; of a generator, send one item after the other."""
    found = function(argument)
    if not isinstance(found, Generator):
        return found
    for item in found:
        send((True, _Yielded(item)))
    return None


def _end_with(parent: int) -> None:
    """End this process, whatever it does, when the one that started it is gone."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


def answer(function: Callable[[Any], Any], argument: Any) -> tuple[bool, Any]:
    """Return True and what a function gives; or False, and why it failed and where."""
    try:
        return True, function(argument)
    except MemoryError:
        limit = f"the limit of {_here.megabytes} MB" if _here and _here.megabytes else "there is"
        return False, (f"needs more memory than {limit}", traceback.format_exc())
    except WorkFailedError as error:
        return False, (error.reason, error.where)
    except (Exception, SystemExit) as error:
        return False, (f"{type(error).__name__}: {error}", traceback.format_exc())


def _limit_memory(most: int) -> None:
    try:
        import resource
    except ImportError:  # Windows has no such limits
        return
    # macOS refuses a limit below what is reserved already, which is more than most machines have.
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


@dataclass(frozen=True, slots=True)
class _Call:
    """A call that waits for a process, and the group of calls that one process does best one after the other."""

    future: Future[Any]
    function: Callable[[Any], Any]
    argument: Any
    group: Any


def next_of(waiting: Sequence[Any], mine: Any, others: Sequence[Any]) -> int:
    """Return which of the groups that wait a process takes: its own, one that no other process has, or the first.

    Examples
    --------
    >>> next_of(["a", "b", "b"], mine="b", others=["a"])
    1
    >>> next_of(["a", "a", "c"], mine="b", others=["a"])
    2
    >>> next_of(["a", "a"], mine="b", others=["a"])
    0
    """
    own = (i for i, group in enumerate(waiting) if group == mine)
    free = (i for i, group in enumerate(waiting) if group not in others)
    return next(own, next(free, 0))


class LocalPool(Executor):
    """An executor of processes on this machine that keeps to limits.

    Unlike `concurrent.futures.ProcessPoolExecutor`, it ends what takes too long, outlives a process that dies, and has
    calls of one group done by the same process where none has to wait for it.

    Parameters
    ----------
    workers : int
    limits : Limits
    """

    def __init__(self, workers: int, limits: Limits) -> None:
        self._calls: list[_Call] = []
        self._changed = threading.Condition()
        self._closed = False
        self._groups: list[Any] = [None] * workers  # of the call that each process did last
        self._workers = [Worker(limits) for _ in range(workers)]
        self._threads = [threading.Thread(target=self._feed, args=(i,), daemon=True) for i in range(workers)]
        for thread in self._threads:
            thread.start()

    def submit(self, function: Callable[..., Any], /, *args: Any, group: Any = None, **kwargs: Any) -> Future[Any]:
        """Call a function of one argument in one of the processes: in that of the group, if it is free."""
        (argument,) = args
        call = _Call(Future(), function, argument, group)
        with self._changed:
            self._calls.append(call)
            self._changed.notify()
        return call.future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes: after what was submitted, or at once."""
        with self._changed:
            self._closed = True
            if cancel_futures:
                for call in self._calls:
                    call.future.cancel()
                self._calls.clear()
            self._changed.notify_all()
        if not wait or cancel_futures:
            for worker in self._workers:
                worker.kill()
        for thread in self._threads:
            thread.join()

    def _feed(self, place: int) -> None:
        worker = self._workers[place]
        while (call := self._next(place)) is not None:
            if not call.future.set_running_or_notify_cancel():
                continue
            try:
                call.future.set_result(worker.call(call.function, call.argument))
            except BaseException as error:
                call.future.set_exception(error)
        worker.stop()

    def _next(self, place: int) -> _Call | None:
        """Wait for a call that this process shall do; None if there will be no more."""
        with self._changed:
            self._changed.wait_for(lambda: self._calls or self._closed)
            if not self._calls:
                return None
            others = self._groups[:place] + self._groups[place + 1 :]
            call = self._calls.pop(next_of([each.group for each in self._calls], self._groups[place], others))
            self._groups[place] = call.group
            return call


class InProcess(Executor):
    """An executor that works at once, here: nothing is started, and nothing can be limited."""

    def submit(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call the function, and return a finished future."""
        future: Future[Any] = Future()
        (argument,) = args
        done, reply = answer(function, argument)
        if done:
            future.set_result(reply)
        else:
            future.set_exception(WorkFailedError(*reply))
        return future
