"""Work in processes of its own, where it may fail, hang, or die of memory without harm to anything else."""

from __future__ import annotations

import contextlib
import io
import math
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import traceback
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass
from functools import partial
from typing import Any

_MEGABYTE = 2**20
_PAUSE = 1.0  # seconds after which it is looked again who is still there
_SHORTEST = 0.001  # seconds to wait for a message, where none are left
_HEAD = struct.Struct("!QQI")  # of a message: the number of its call, its length, and its checksum
_DONE, _ITEM, _FAILED = "done", "item", "failed"  # kinds of answers: after an item, more follow
_DAMAGED = (
    "the answer was damaged: something in the process wrote to, or closed, a file descriptor that it had not opened"
)
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


class _AnswerError(Exception):
    """What came in place of an answer, in a sentence."""


class Line:
    """One end of a connection between two processes.

    Each message carries the number of its call, its length and a checksum, so that bytes which the work itself writes
    into the connection are noticed, and are never taken for an answer.

    Parameters
    ----------
    end : socket.socket
    is_there : callable, optional
        Says whether the other process is still there: one that it has started may keep the connection open.
    """

    def __init__(self, end: socket.socket, is_there: Callable[[], bool] = lambda: True) -> None:
        self._end, self._is_there = end, is_there

    def send(self, number: int, content: bytes, until: float = math.inf) -> None:
        """Send a message of a call; it is a `TimeoutError` if that takes too long."""
        self._end.settimeout(None if until == math.inf else max(until - time.monotonic(), _SHORTEST))
        self._end.sendall(_HEAD.pack(number, len(content), zlib.crc32(content)) + content)

    def receive(self, number: int | None = None, until: float = math.inf) -> tuple[int, bytes]:
        """Return the number of a call and the next message, which must be of the given call, if there is one."""
        found, length, check = _HEAD.unpack(self._read(_HEAD.size, until))
        if number not in (None, found):
            raise _AnswerError(_DAMAGED)
        content = self._read(length, until)
        if zlib.crc32(content) != check:
            raise _AnswerError(_DAMAGED)
        return found, content

    def is_idle(self) -> bool:
        """Return whether there is nothing to read: no message, no stray bytes, no end."""
        try:
            self._end.settimeout(0)
            self._end.recv(1, socket.MSG_PEEK)
        except OSError as error:
            return isinstance(error, BlockingIOError)
        return False

    def hang_up(self) -> None:
        """Have whoever reads from the line, in any thread, come to its end at once."""
        with contextlib.suppress(OSError):
            self._end.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Give the descriptor back."""
        self._end.close()

    def _read(self, size: int, until: float) -> bytes:
        content = bytearray()
        while len(content) < size:
            self._end.settimeout(min(max(until - time.monotonic(), _SHORTEST), _PAUSE))
            try:
                piece = self._end.recv(min(size - len(content), _MEGABYTE))
            except TimeoutError:
                if time.monotonic() >= until:
                    raise
                if self._is_there():
                    continue
                piece = b""
            if not piece:
                raise EOFError
            content += piece
        return bytes(content)


class _Child:
    """A process that leads a group of its own, to which all that it starts belongs, and the line to it."""

    def __init__(self, megabytes: int) -> None:
        ours, theirs = socket.socketpair()
        windows = sys.platform == "win32"  # where sockets are handed over in another way
        with theirs:
            self._process = subprocess.Popen(
                # Nothing is imported from the current folder (-P): a file there may have the name of any module.
                [sys.executable, "-P", "-c", _START, str(megabytes), str(theirs.fileno())],
                stdin=subprocess.PIPE if windows else subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, **one_thread_each(), "PYTHONPATH": os.pathsep.join(sys.path)},
                pass_fds=() if windows else (theirs.fileno(),),
                start_new_session=not windows,
                creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
            )
            if sys.platform == "win32":
                with self._process.stdin as description:
                    description.write(theirs.share(self._process.pid))
        self.line = Line(ours, lambda: self._process.poll() is None)
        self._lock, self._ended = threading.Lock(), False

    def kill(self) -> None:
        """End the process and its group, whatever they do; from any thread."""
        with self._lock:
            if not self._ended:  # afterwards, its number may be that of another process
                kill_group(self._process.pid)
        self.line.hang_up()

    def end(self, patience: float = 0.0) -> int | None:
        """End the process and its group, and give all back.

        Return its exit code; None if it did not end by itself after so many seconds.
        """
        try:
            code: int | None = self._process.wait(patience)
        except subprocess.TimeoutExpired:
            code = None
        self.kill()
        with self._lock:
            self._ended = True
            self._process.wait()
        self.line.close()
        return code


class Worker:
    """A process that works on one call after the other; one that hangs, dies or answers wrongly is replaced.

    It is started by its own command, not by `multiprocessing`, which would run the caller's script again, and may not
    start anything inside a cluster's worker. It ends together with all processes that it has started.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._child: _Child | None = None
        self._number = 0  # of the call
        self._seconds: float | None = None  # that it may take
        self._until = math.inf
        self._lock, self._killed = threading.Lock(), False

    def call(self, function: Callable[[Any], Any], argument: Any) -> Any:
        """Return what the function returns, or raise `WorkFailedError`."""
        self._send(function, argument, self._limits.seconds)
        return self._receive()[1]

    def stream(
        self, function: Callable[[Any], Iterator[Any]], argument: Any, seconds: float | None = None
    ) -> Iterator[Any]:
        """Yield what a generator function yields, as it comes, or raise `WorkFailedError`.

        ``seconds`` is what all of it may take together; the limit of a single call does not apply.
        """
        self._send(function, argument, seconds)
        try:
            while (answer := self._receive())[0] == _ITEM:
                yield answer[1]
        except GeneratorExit:
            self.stop()  # what nobody wants any more would come in place of the next answer
            raise

    def kill(self) -> None:
        """End the process, whatever it does, for good; may come from another thread than the call that waits for it."""
        with self._lock:
            self._killed = True
            if self._child is not None:
                self._child.kill()

    def stop(self) -> None:
        """End the process, and forget it: the next call starts another."""
        self._end()

    def _send(self, function: Callable[[Any], Any], argument: Any, seconds: float | None) -> None:
        """Send a call to the process; start one if there is none, or none that waits for a call."""
        message = _pickled(function, argument)
        if self._child is not None and not self._child.line.is_idle():
            self.stop()
        if self._child is None:
            self._start()
        self._number += 1
        self._seconds, self._until = seconds, math.inf if seconds is None else time.monotonic() + seconds
        with self._ended_by_errors() as line:
            line.send(self._number, message, self._until)

    def _receive(self) -> tuple[str, Any]:
        """Return the kind of the next answer, and the answer."""
        with self._ended_by_errors() as line:
            content = line.receive(self._number, self._until)[1]
            try:
                kind, reply = pickle.loads(content)
                found = reply if kind == _FAILED else pickle.loads(reply)
            except Exception as error:
                raise _AnswerError(f"its answer cannot be read here: {_said(error)}") from None
        if kind == _FAILED:
            raise WorkFailedError(*found)
        return kind, found

    def _start(self) -> None:
        with self._lock:
            if self._killed:
                raise WorkFailedError("it was stopped before it began")
            self._child = _Child(self._limits.megabytes or 0)
        with self._ended_by_errors() as line:
            line.receive(0)  # it is ready: its start takes no job's time

    @contextlib.contextmanager
    def _ended_by_errors(self) -> Iterator[Line]:
        """Give the line to the process, which ends with any error; that is a `WorkFailedError` which says why."""
        assert self._child is not None
        try:
            yield self._child.line
        except TimeoutError:
            self._end()
            raise WorkFailedError(f"took longer than the limit of {self._seconds:g} seconds") from None
        except (EOFError, OSError):
            raise WorkFailedError(_why_it_ended(self._end(_PAUSE))) from None
        except _AnswerError as error:
            self._end()
            raise WorkFailedError(str(error)) from None
        except BaseException:
            self._end()
            raise

    def _end(self, patience: float = 0.0) -> int | None:
        with self._lock:
            child, self._child = self._child, None
        return None if child is None else child.end(patience)


def _why_it_ended(code: int | None) -> str:
    if code is None:
        return _DAMAGED
    if code == 0:
        return "the process ended before it had answered"
    return f"the process died ({f'signal {-code}' if code < 0 else f'exit code {code}'}): out of memory, or a crash"


_START = "import sys; from dqeval.bench.pool import serve; serve(*map(int, sys.argv[1:]))"


def kill_group(leader: int) -> None:
    """End a process and all that belong to its group, whatever they do; of a group that is gone, nothing."""
    if sys.platform == "win32":  # which has no such groups: those whose parents are still there
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(leader)], capture_output=True, check=False)
        return
    with contextlib.suppress(OSError):
        os.killpg(leader, signal.SIGKILL)


def _pickled(function: Callable[[Any], Any], argument: Any) -> bytes:
    """Return a call as it is sent to another process, or say why it cannot be."""
    try:
        return pickle.dumps((function, argument))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        advice = "define detectors and metrics by def, at the top of a module that the run imports"
        raise WorkFailedError(f"the work cannot be sent to another process ({error}): {advice}") from None


def serve(megabytes: int, place: int) -> None:
    """Answer the calls that come over a socket until it ends, as it does when the caller is gone.

    Parameters
    ----------
    megabytes : int
        The limit of memory; 0 for none.
    place : int
        The file descriptor of the socket; on Windows, it is described on standard input.
    """
    global _here
    _here = Limits(megabytes=megabytes or None)
    if sys.platform == "win32":
        end = socket.fromshare(sys.stdin.buffer.read())
    else:
        end = socket.socket(fileno=place)
        end.set_inheritable(False)
        os.register_at_fork(after_in_child=end.close)  # or what the work leaves behind would keep the line open
    line, caller = Line(end), os.getppid()
    with contextlib.suppress(EOFError, OSError, KeyboardInterrupt), end:
        threading.Thread(target=_end_with, args=(caller,), daemon=True).start()
        if megabytes:
            _limit_memory(megabytes * _MEGABYTE)
        line.send(0, b"")
        while True:
            number, message = line.receive()
            done, reply = answer(partial(_in_turn, partial(line.send, number)), message)
            line.send(number, pickle.dumps((_DONE if done else _FAILED, reply)))
    _end_with(caller)  # a caller that is still there ends this process and its group itself


def _in_turn(send: Callable[[bytes], None], message: bytes) -> bytes:
    """Return what a call gives, pickled; of a generator, send one item after the other."""
    function, argument = pickle.loads(message)
    found = function(argument)
    if isinstance(found, Generator):
        for item in found:
            send(pickle.dumps((_ITEM, pickle.dumps(item))))
        found = None
    return pickle.dumps(found)


def _end_with(parent: int) -> None:
    """End this process and its group, whatever they do, when the process that started it is gone."""
    while os.getppid() == parent:
        time.sleep(_PAUSE)
    kill_group(os.getpid())


def answer(function: Callable[[Any], Any], argument: Any) -> tuple[bool, Any]:
    """Return True and what a function gives; or False, and why it failed and where."""
    try:
        return True, function(argument)
    except MemoryError:
        limit = f"the limit of {_here.megabytes} MB" if _here and _here.megabytes else "there is"
        return False, (f"needs more memory than {limit}", traceback.format_exc())
    except WorkFailedError as error:
        return False, (error.reason, error.where)
    except errors_of_work() as error:
        return False, (_said(error), traceback.format_exc())


def errors_of_work() -> tuple[type[BaseException], ...]:
    """Return which exceptions are errors of the work: in a worker's own process all, anywhere else not Ctrl-C."""
    return (Exception, SystemExit) if _here is None else (BaseException,)


def _said(error: BaseException) -> str:
    """Return what an error says, if it can say anything."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


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
