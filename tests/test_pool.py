"""Processes that work for others: what they start ends with them, and no answer is taken for another."""

import io
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import dqeval
from dqeval import bench
from dqeval.bench import pool as pool_module
from dqeval.bench import tasks as tasks_module
from dqeval.bench.pool import InProcess, Limits, Line, Worker, WorkFailedError
from dqeval.bench.store import Store
from dqeval.bench.tasks import Batch, Task, do_guarded, end_run
from dqeval.cli.exit_codes import _ended_in_order
from dqeval.lab import matrix
from test_bench import SMALL, one_job

TESTS = Path(__file__).parent
DAMAGED = "the answer was damaged: something in the process wrote to, or closed, a file descriptor"
ONE = [{"generator": "synthetic", "n": 400, "period": 16, "events": 2}]
posix = pytest.mark.skipif(os.name != "posix", reason="other systems have no groups of processes")


@pytest.fixture(autouse=True, scope="module")
def _odd_detectors(odd_detectors):
    """Have the detectors that plans here name."""


@pytest.fixture
def worker():
    worker = Worker(Limits())
    yield worker
    worker.stop()


def wait_until(holds):
    until = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.02)


def running(folder):
    """Return which of the processes that left a file in a folder are still running."""
    numbers = [path.name for path in folder.iterdir()]
    asked = subprocess.run(["ps", "-o", "pid=,stat=", "-p", ",".join(numbers) or "0"], capture_output=True, text=True)
    return [line for line in asked.stdout.splitlines() if line.split()[1][0] != "Z"]


@pytest.fixture
def began(tmp_path):
    """A folder in which processes leave files; none of them is left in the end."""
    folder = tmp_path / "began"
    folder.mkdir()
    yield folder
    assert len(list(folder.iterdir())) >= 2
    wait_until(lambda: not running(folder))


def reasons(folder):
    with Store(folder) as store:
        return {(row["detector"], row["reason"].partition(";")[0]) for row in store.failures()}


# Processes of a detector's own ----------------------------------------------------------------------------------------


@posix
@pytest.mark.unmeasured
def test_a_detector_that_forks_and_hangs_costs_its_job_alone(tmp_path, began):
    detectors = [{"name": "forks", "folder": str(began)}, {"name": "quick"}]
    state = bench.run({**SMALL, "timeout": 3, "seeds": [0], "detector": detectors}, tmp_path / "run", workers=2)
    assert (state.done, state.failed, state.left) == (6, 3, 0)
    assert reasons(tmp_path / "run") == {("forks", "took longer than the limit of 3 seconds")}


@posix
@pytest.mark.unmeasured
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGKILL"])
def test_a_command_that_is_ended_leaves_no_process(tmp_path, began, name):
    """SIGKILL leaves it no time; the processes notice that by themselves."""
    plan = 'modules = ["odd_detectors"]\n[[data]]\ngenerator = "synthetic"\nn = 400\nperiod = 16\n[[detector]]\nname = '
    (tmp_path / "plan.toml").write_text(f'{plan}"forks"\nfolder = "{began}"\n')
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])}
    command = [sys.executable, "-m", "dqeval", "bench", "run", "plan.toml", "-o", "run", "--workers", "1"]
    # What nohup ignores stays ignored in all that it starts, these tests among them.
    options = {
        "preexec_fn": lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),
        "stderr": subprocess.PIPE,
        "text": True,
    }
    process = subprocess.Popen(command, cwd=tmp_path, env=environment, **options)
    wait_until(lambda: len(running(began)) == 2 or process.poll() is not None)
    process.send_signal(getattr(signal, name))
    told = process.communicate(timeout=60)[1]
    if name == "SIGKILL":
        assert process.returncode == -signal.SIGKILL
    else:
        assert (process.returncode, told.splitlines()[-1]) == (130, "dqeval: interrupted")


@posix
@pytest.mark.unmeasured
def test_a_metric_that_forks_and_hangs_is_stopped(began, monkeypatch, request):
    monkeypatch.setattr(matrix, "PATIENCE", 1)
    monkeypatch.setenv("BEGAN", str(began))
    before = dict(dqeval.METRICS._entries)
    request.addfinalizer(lambda: setattr(dqeval.METRICS, "_entries", before))
    module = began.parent / "forking_metric.py"
    module.write_text(
        "import multiprocessing, os\nimport dqeval, odd_detectors\n\n"
        "@dqeval.metric(takes='scores')\ndef forking(y_true, y_score):\n"
        "    with multiprocessing.Pool(2) as pool:\n"
        "        pool.map(odd_detectors._nap, [os.environ['BEGAN']] * 2)\n"
    )
    sys.path.append(str(began.parent))
    request.addfinalizer(lambda: sys.path.remove(str(began.parent)))
    __import__("forking_metric")
    found = dqeval.properties(["forking"], questions=["order"], seconds=2, workers=1, modules=["forking_metric"])
    assert found.answer("forking", "order").word == "too slow"


@posix
def test_an_idle_process_ends_what_it_has_started(began):
    """As after a job that leaves processes behind: those that belong to the group end with it."""
    worker = Worker(Limits())
    worker.call(_leave_processes, str(began))
    wait_until(lambda: len(running(began)) == 2)
    assert worker.call(abs, -3) == 3
    worker.stop()


def _leave_processes(folder):
    import odd_detectors

    for _ in range(2):
        if os.fork() == 0:
            odd_detectors._nap(folder)


@posix
def test_a_process_that_dies_is_noticed_though_another_holds_its_line(monkeypatch):
    """As one that compiled code has started may."""
    ours, theirs = socket.socketpair()
    monkeypatch.setattr(pool_module, "_PAUSE", 0.01)
    alive = iter([True, True, False])
    with ours, theirs, pytest.raises(EOFError):
        Line(ours, lambda: next(alive)).receive()
    assert list(alive) == []


def test_jobs_of_a_cluster_end_with_their_run(tmp_path):
    hangs, quick = (Task(one_job(tmp_path, name), name, "") for name in ("hangs", "quick"))
    found = []
    thread = threading.Thread(target=lambda: found.extend(do_guarded(Batch([hangs, quick], Limits(), "mine"))))
    thread.start()
    wait_until(lambda: tasks_module._workers.get("mine", [None])[0] is not None)
    time.sleep(0.5)  # in which it may begin, or not: it ends in either case
    end_run("mine")
    thread.join(60)
    late = do_guarded(Batch([quick], Limits(), "mine"))
    assert [outcome.failed for outcome in (*found, *late)] == [True] * 2
    assert late[0].rows[0].reason == "it was stopped before it began"
    end_run("another")


@posix
@pytest.mark.unmeasured
def test_a_run_on_a_cluster_that_is_interrupted_leaves_no_process(tmp_path, began):
    pytest.importorskip("distributed")
    from test_bench_cluster import Processes

    def interrupt(state):
        if state.done:
            wait_until(lambda: len(running(began)) == 2)
            raise KeyboardInterrupt

    detectors = [{"name": "forks", "folder": str(began)}, {"name": "quick"}]
    plan = {**SMALL, "modules_in": str(TESTS), "seeds": [0], "data": ONE, "detector": detectors}
    with Processes(tmp_path) as processes:
        processes.worker(threads=2)
        with pytest.raises(KeyboardInterrupt):
            bench.run(plan, tmp_path / "run", scheduler=processes.address, progress=interrupt)
        wait_until(lambda: not running(began))
        assert all(process.poll() is None for process in processes.started)


@posix
def test_other_requests_to_end_do_what_ctrl_c_does():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        with _ended_in_order():
            os.kill(os.getpid(), signal.SIGHUP)
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_worker_that_was_killed_starts_nothing(worker):
    worker.kill()
    with pytest.raises(WorkFailedError, match="it was stopped before it began"):
        worker.call(abs, -3)


def test_nothing_is_imported_from_the_current_folder(tmp_path, monkeypatch, worker):
    (tmp_path / "struct.py").write_text("raise SystemExit(9)")
    monkeypatch.chdir(tmp_path)
    assert worker.call(abs, -3) == 3


# Answers --------------------------------------------------------------------------------------------------------------


@pytest.mark.unmeasured
def test_a_detector_that_writes_into_descriptors_costs_its_jobs_alone(tmp_path):
    detectors = [{"name": name} for name in ("scribbles", "interrupts", "quick")]
    state = bench.run({**SMALL, "seeds": [0, 1, 2, 3], "detector": detectors}, tmp_path, workers=1)
    assert (state.done, state.failed) == (27, 15)
    found = reasons(tmp_path)
    assert {(name, reason[: len(DAMAGED)]) for name, reason in found} == {
        ("scribbles", DAMAGED),
        ("interrupts", "KeyboardInterrupt: enough"),
    }


def _interrupt(_):
    raise KeyboardInterrupt("enough")


def _scribble(_):
    import odd_detectors

    odd_detectors.scribbles(-1)


def _close(_):
    os.closerange(3, 64)
    time.sleep(3600)


def _close_and_end(_):
    os.closerange(3, 64)


def _lock(_):
    return threading.Lock()


class MuteError(Exception):
    def __str__(self):
        raise ValueError


def _fail_without_words(_):
    raise MuteError


class Foreign:
    """What can be read in the process that made it alone."""

    def __reduce__(self):
        return _check_home, (os.getpid(),)


def _check_home(number):
    if os.getpid() != number:
        raise LookupError("not here")


def _foreign(_):
    return Foreign()


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (_interrupt, "KeyboardInterrupt: enough"),
        (_scribble, DAMAGED),
        (_close, DAMAGED),
        (_close_and_end, DAMAGED),
        (os._exit, "the process ended before it had answered"),
        (_lock, "TypeError: cannot pickle '_thread.lock' object"),
        (_foreign, "its answer cannot be read here: LookupError: not here"),
        (_fail_without_words, "MuteError"),
    ],
)
def test_a_wrong_answer_is_an_error_of_its_call_alone(worker, monkeypatch, function, reason):
    monkeypatch.setattr(pool_module, "_PAUSE", 0.2)
    for _ in range(2):
        with pytest.raises(WorkFailedError) as error:
            worker.call(function, 0)
        assert error.value.reason.startswith(reason)
        assert worker.call(abs, -3) == 3


def _scribble_later(_):
    import odd_detectors

    threading.Timer(0.1, odd_detectors.scribbles, [-1]).start()
    return os.getpid()


def test_what_comes_after_an_answer_harms_no_other_call(worker):
    before = worker.call(_scribble_later, None)
    wait_until(lambda: not worker._child.line.is_idle())
    assert worker.call(abs, -3) == 3
    assert worker.call(_own_number, None) != before


def _own_number(_):
    return os.getpid()


def _count(most):
    yield from range(most)


def test_items_that_nobody_wants_are_not_taken_for_an_answer(worker):
    items = worker.stream(_count, 10_000)
    assert next(items) == 0
    items.close()
    assert worker.call(abs, -3) == 3


def test_an_error_of_the_caller_ends_the_process(worker, monkeypatch):
    """Such as Ctrl-C, after which it is in the middle of a call."""
    monkeypatch.setattr(Line, "receive", lambda *_: _interrupt(None))
    with pytest.raises(KeyboardInterrupt):
        worker.call(abs, -3)
    assert worker._child is None


def test_ctrl_c_in_this_process_is_no_error_of_a_job():
    with pytest.raises(KeyboardInterrupt):
        InProcess().submit(_interrupt, None)


def test_an_error_that_cannot_be_said():
    with pytest.raises(WorkFailedError) as error:
        InProcess().submit(_fail_without_words, None).result()
    assert error.value.reason == "MuteError"


def test_lines_check_what_they_carry():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        line, other = Line(ours), Line(theirs)
        assert line.is_idle()
        other.send(7, b"seven")
        assert not line.is_idle()
        assert line.receive(7) == (7, b"seven")
        for stray in (b"\0" * 20, pool_module._HEAD.pack(7, 5, 0) + b"seven"):
            other.send(6, b"six")
            theirs.sendall(stray)
            assert line.receive() == (6, b"six")
            with pytest.raises(pool_module._AnswerError, match=DAMAGED):
                line.receive(7)
        with pytest.raises(TimeoutError):
            line.send(8, bytes(2**24), time.monotonic() + 0.05)
        line.hang_up()
        line.close()
        line.hang_up()
        assert not line.is_idle()


# Other systems --------------------------------------------------------------------------------------------------------


class Started:
    """Stands for a process on Windows."""

    pid = 5

    def __init__(self, command, **options):
        self.options = options
        self.stdin = io.BytesIO()

    def wait(self, timeout=None):
        return 0


def test_windows_has_no_groups_and_no_inherited_sockets(monkeypatch):
    ran, shared = [], []
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 512, raising=False)
    monkeypatch.setattr(subprocess, "Popen", Started)
    monkeypatch.setattr(subprocess, "run", lambda command, **_: ran.append(command))
    monkeypatch.setattr(socket.socket, "share", lambda self, pid: shared.append(pid) or b"it", raising=False)
    child = pool_module._Child(0)
    assert child.end() == 0
    child.kill()  # its number may be that of another process now
    assert shared == [5]
    assert ran == [["taskkill", "/F", "/T", "/PID", "5"]]
    options = child._process.options
    assert (options["pass_fds"], options["start_new_session"], options["creationflags"]) == ((), False, 512)
