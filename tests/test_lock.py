"""One process at a time works in the folder of a run."""

import errno
import json
import os
import platform
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from commands import caller
from dqeval import bench
from dqeval.bench import lock
from dqeval.bench.lock import NAME, folder_lock

PLAN = """
metrics = ["auc_roc"]
[[data]]
generator = "synthetic"
n = 500
period = 16
[[detector]]
name = "sr"
"""
HOLDER = """
import sys, time
from dqeval.bench.lock import folder_lock
sys.argv = ["dqeval", "bench", "run", "plan.toml"]
with folder_lock("run"):
    print("here", flush=True)
    time.sleep(600)
"""


@pytest.fixture
def holder(tmp_path):
    """Have another process at work in the folder ``run``."""
    process = subprocess.Popen([sys.executable, "-c", HOLDER], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "here\n"
    yield process
    process.kill()
    process.communicate()


@pytest.mark.unmeasured
def test_the_second_is_told_who_has_it_and_takes_over_from_the_dead(tmp_path, holder, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.toml").write_text(PLAN)
    call = caller(monkeypatch, capsys)
    found = call("bench", "run", "plan.toml", "-o", "run", "--workers", 0)
    who = f"dqeval bench run plan.toml (process {holder.pid} on {platform.node()}, since "
    assert found.code == 2
    assert found.err.startswith(f"dqeval: run: another process is running here: {who}")
    assert found.err.endswith(f"wait for it, or stop it; its lock is {os.path.join('run', NAME)}\n")
    assert not (tmp_path / "run" / "results.sqlite").exists()
    bench.run(bench.read_plan("plan.toml"), "other")
    with pytest.raises(ValueError, match="another process is running here"):
        bench.merge(["other"], "run")
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    assert (tmp_path / "run" / NAME).read_text()  # of the dead
    assert call("bench", "run", "plan.toml", "-o", "run", "--workers", 0).code == 0
    assert not (tmp_path / "run" / NAME).exists()


@pytest.mark.unmeasured
def test_two_drivers_do_each_job_once(tmp_path):
    count = PLAN.replace("n = 500", "count = 20\nn = 500")
    (tmp_path / "plan.toml").write_text(count)
    command = [sys.executable, "-m", "dqeval", "bench", "run", "plan.toml", "-o", "run", "--workers", "0"]
    both = [subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    told = sorted((process.communicate()[1], process.returncode) for process in both)
    assert ("dqeval: 20 of 20 jobs done, 0 failed, 0 left\n", 0) in told
    # The other one was refused, or came when all was done.
    assert all(code == (2 if "another process is running here" in text else 0) for text, code in told)


def test_not_even_two_threads(tmp_path):
    with folder_lock(tmp_path), pytest.raises(ValueError, match=f"process {os.getpid()} on"), folder_lock(tmp_path):
        pytest.fail("both are in")
    with folder_lock(tmp_path):
        assert json.loads((tmp_path / NAME).read_text())["process"] == os.getpid()
    assert list(tmp_path.iterdir()) == []


def test_another_machine_must_be_asked(tmp_path):
    (tmp_path / NAME).write_text('{"process": 1, "host": "elsewhere", "since": "\\u001b[2J", "command": "x"}')
    with pytest.raises(ValueError, match=r"since \\x1b\[2J\).*if it no longer runs, delete .*run\.lock"):
        folder_lock(tmp_path).__enter__()
    (tmp_path / NAME).unlink()
    with folder_lock(tmp_path):
        pass


@pytest.mark.parametrize("text", ["", '{"proc', "[1]", "[" * 5000])
def test_what_a_kill_left_of_a_lock_is_nobodys(tmp_path, text):
    (tmp_path / NAME).write_text(text)
    with folder_lock(tmp_path):
        assert json.loads((tmp_path / NAME).read_text())["process"] == os.getpid()


def test_a_lock_that_was_deleted_meanwhile_is_taken_anew(tmp_path, monkeypatch):
    real, deleted = lock._lock, []

    def meddling(file):
        if len(deleted) < 2:
            (tmp_path / NAME).unlink()
            deleted.append(file)
            if len(deleted) == 2:
                (tmp_path / NAME).write_text("")
        return real(file)

    monkeypatch.setattr(lock, "_lock", meddling)
    with folder_lock(tmp_path):
        assert json.loads((tmp_path / NAME).read_text())["process"] == os.getpid()
        (tmp_path / NAME).unlink()
        (tmp_path / NAME).write_text("of somebody else")
    assert (tmp_path / NAME).read_text() == "of somebody else"


# Where the system has other locks, or none ---------------------------------------------------------------------------


def without_locks(monkeypatch):
    def none(*_):
        raise OSError(errno.ENOLCK, "no locks available")

    monkeypatch.setattr("fcntl.flock", none)


@pytest.mark.skipif(os.name != "posix", reason="Windows has locks")
def test_without_locks_the_process_is_looked_for(tmp_path, holder, monkeypatch):
    without_locks(monkeypatch)
    with pytest.raises(ValueError, match=f"process {holder.pid} on"):
        folder_lock(tmp_path / "run").__enter__()
    monkeypatch.setattr(os, "kill", lambda *_: (_ for _ in ()).throw(PermissionError))
    with pytest.raises(ValueError, match=f"process {holder.pid} on"):
        folder_lock(tmp_path / "run").__enter__()
    monkeypatch.undo()
    without_locks(monkeypatch)
    holder.kill()
    holder.wait()
    with folder_lock(tmp_path / "run"):
        pass


@pytest.mark.parametrize("taken", [False, True])
def test_on_windows(tmp_path, monkeypatch, taken):
    seen = []

    def locking(file, mode, count):
        seen.append((os.lseek(file, 0, os.SEEK_CUR), mode, count))
        if taken:
            raise OSError(errno.EACCES, "Permission denied")

    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(LK_NBLCK=2, locking=locking))
    monkeypatch.setattr(Path, "unlink", lambda path: (_ for _ in ()).throw(PermissionError))
    (tmp_path / NAME).write_text(json.dumps({"process": 7, "host": platform.node(), "command": "x"}))
    if taken:
        with pytest.raises(ValueError, match=r"x \(process 7 on .*, since not known\)"):
            folder_lock(tmp_path).__enter__()
    else:
        with folder_lock(tmp_path):
            assert json.loads((tmp_path / NAME).read_text())["process"] == os.getpid()
        assert (tmp_path / NAME).read_text() == ""
    assert seen == [(2**30, 2, 1)]


def test_retrying_locks_once(tmp_path, monkeypatch):
    (tmp_path / "plan.toml").write_text(PLAN)
    bench.run(tmp_path / "plan.toml", tmp_path / "run")
    times = []
    monkeypatch.setattr("dqeval.bench.runner.folder_lock", lambda folder: times.append(folder) or folder_lock(folder))
    bench.retry(tmp_path / "run")
    assert times == [tmp_path / "run"]


@pytest.mark.unmeasured
def test_retrying_is_locked_too(tmp_path, holder):
    (tmp_path / "plan.toml").write_text(PLAN)
    bench.run(tmp_path / "plan.toml", tmp_path / "done")
    (tmp_path / "run" / "plan.json").write_bytes((tmp_path / "done" / "plan.json").read_bytes())
    (tmp_path / "run" / "results.sqlite").write_bytes((tmp_path / "done" / "results.sqlite").read_bytes())
    with pytest.raises(ValueError, match="another process is running here"):
        bench.retry(tmp_path / "run")
    with bench.Store(tmp_path / "run") as store:  # readers need no lock
        assert store.count().done == 1
