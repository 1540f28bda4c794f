"""Benchmark runs on the command line: every command, what goes wrong, and what is shown meanwhile."""

import csv
import importlib
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import typer

from commands import caller, run
from dqeval.bench import State, Store, make_plan
from dqeval.bench import run as start
from dqeval.bench.executors import CrewLostError
from dqeval.cli import bench_work, output
from dqeval.cli.app import app
from dqeval.datasets import synthetic

TESTS = Path(__file__).parent
PLAN = """
metrics = ["dqe", "auc_roc"]

[[data]]
generator = "synthetic"
count = 3
n = 400
period = 16
events = 3

[[detector]]
name = "fft"

[[detector]]
name = "sr"
"""
FILES = """
metrics = ["auc_roc"]
near = 8

[[scores]]
path = "series"
"""
ALL_DONE = "dqeval: 6 of 6 jobs done, 0 failed, 0 left\n"
DONE_BEFORE = "dqeval: 6 of 6 jobs done (6 before), 0 failed, 0 left\n"


@pytest.fixture
def call(monkeypatch, capsys, tmp_path):
    """Run the command line, in a folder with a small plan, on one worker or none."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "cpu_count", lambda: 1)
    (tmp_path / "plan.toml").write_text(PLAN)
    (tmp_path / "files.toml").write_text(FILES)
    return caller(monkeypatch, capsys)


@pytest.fixture
def done(call):
    """Have the small plan done, in the folder ``run``."""
    assert call("bench", "run", "plan.toml", "-o", "run", "--workers", 0).err == ALL_DONE
    return call


def write_series(path, *, seed=0, **scores):
    """Write a generated series, with scores or without."""
    series = synthetic(n=400, period=16, events=3, seed=seed)
    columns = {"value": series.values, "label": series.labels.astype(int), **scores}
    path.parent.mkdir(exist_ok=True)
    rows = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(rows) + "\n")


@pytest.mark.unmeasured
def test_as_people_run_it(tmp_path):
    (tmp_path / "plan.toml").write_text(PLAN)

    def bench(*arguments):
        found = run("bench", *arguments, cwd=tmp_path)
        assert found.returncode == 0, found.stderr
        return found

    assert bench("run", "plan.toml", "-o", "run", "--workers", "2").stderr == ALL_DONE
    assert bench("rank", "run").stdout.startswith("Means over 3 series. Higher is better, by every metric.\n")
    assert bench("report", "run", "-o", "bench.html").stderr == "dqeval: wrote bench.html and bench_series/\n"
    assert "<html" in (tmp_path / "bench.html").read_text(encoding="utf-8")


@pytest.mark.unmeasured
def test_once_more_and_what_follows(call):
    assert call("bench", "run", "plan.toml", "-o", "run", "--workers", 0).err == ALL_DONE
    assert call("bench", "run", "plan.toml", "-o", "run").err == DONE_BEFORE
    assert f"dqeval: {call('bench', 'status', 'run').out}" == ALL_DONE
    assert call("bench", "failures", "run").out == "Nothing failed.\n"
    assert call("bench", "retry", "run", "--workers", 0).err == DONE_BEFORE
    assert call("bench", "export", "run", "-o", "all.csv").err == "dqeval: wrote all.csv\n"
    assert call("bench", "merge", "run", "-o", "merged").err == "dqeval: merged 1 run into merged\n"


def test_processes_by_default(call, monkeypatch):
    seen = []
    monkeypatch.setattr("dqeval.bench.run", lambda *_, **options: seen.append(options["workers"]))
    monkeypatch.setattr(bench_work.Watch, "count", lambda watch: "nothing done")
    for count, expected in ((3, 3), (None, 1)):
        monkeypatch.setattr(os, "cpu_count", lambda count=count: count)
        call("bench", "run", "plan.toml", "-o", "run")
        assert seen.pop() == expected


def test_a_group_that_fails_is_told_once(call, monkeypatch):
    def run(*_, at_once, progress, **options):
        for problem in ("", "no card", "no card"):
            progress(State(0, 0, 0, 1, made_together=at_once, problem=problem))

    monkeypatch.setattr("dqeval.bench.run", run)
    done = call("bench", "run", "plan.toml", "-o", "run", "--at-once", 7)
    told = "dqeval: many series at once did not work, and each job works alone: no card\n"
    assert done.err.startswith(f"{told}dqeval: 0 of 1 jobs done, 0 failed, 1 left; scores of 7 jobs made together\n")


def test_what_failed(call, tmp_path):
    write_series(tmp_path / "series" / "a.csv", mine=range(400))
    write_series(tmp_path / "series" / "b.csv", mine=["nan", *range(399)])
    found = call("bench", "run", "files.toml", "-o", "run", "--workers", 0)
    failed = "dqeval: 1 job failed: dqeval bench failures run shows why\n"
    assert (found.code, found.err) == (3, f"dqeval: 1 of 2 jobs done, 1 failed, 0 left\n{failed}")
    assert call("bench", "status", "run").out == "1 of 2 jobs done, 1 failed, 0 left\n"
    again = call("bench", "run", "files.toml", "-o", "run", "--workers", 0)
    assert (again.code, again.err) == (3, f"dqeval: 1 of 2 jobs done (1 before), 1 failed, 0 left\n{failed}")
    header, _, row = call("bench", "failures", "run").out.splitlines()
    assert header.split() == ["series", "detector", "seed", "metric", "reason"]
    assert row.split()[:4] == ["b", "mine", "0", "evaluate"]
    assert "  ValueError: y_score must be finite: 1 of 400 values" in row
    assert "Traceback" not in row
    (record,) = json.loads(call("bench", "failures", "run", "--format", "json").out)["failures"]
    assert (record["series"], record["dataset"], record["detector"]) == ("b", "series", "mine")
    assert "Traceback" in record["traceback"]
    assert call("bench", "failures", "run", "--format", "csv", "-o", "failed.csv").code == 0
    with (tmp_path / "failed.csv").open() as file:
        assert next(csv.DictReader(file))["traceback"] == record["traceback"]


@pytest.mark.unmeasured
def test_failed_jobs_alone_are_done_again(call, tmp_path, monkeypatch):
    write_series(tmp_path / "series" / "a.csv", mine=range(400))
    write_series(tmp_path / "series" / "b.csv", mine=["nan", *range(399)])
    call("bench", "run", "files.toml", "-o", "run", "--workers", 0)
    monkeypatch.chdir("run")  # the plan that is kept does not depend on where one is
    found = call("bench", "retry", tmp_path / "run", "--workers", 0)
    assert (found.code, found.err.splitlines()[0]) == (3, "dqeval: 1 of 2 jobs done (1 before), 1 failed, 0 left")
    write_series(tmp_path / "series" / "b.csv", mine=range(400))
    assert call("bench", "status", ".").out == "1 of 2 jobs done, 0 failed, 1 left\n"
    assert call("bench", "retry", ".", "--workers", 0).code == 0
    assert call("bench", "status", ".").out == "2 of 2 jobs done, 0 failed, 0 left\n"
    assert call("bench", "failures", ".").out == "Nothing failed.\n"


def test_a_plan_that_does_not_hold_any_more_forgets_nothing(call, tmp_path):
    write_series(tmp_path / "series" / "b.csv", mine=["nan", *range(399)])
    call("bench", "run", "files.toml", "-o", "run", "--workers", 0)
    (tmp_path / "series" / "b.csv").unlink()
    found = call("bench", "retry", "run")
    assert found.code == 2
    assert "there is no series here" in found.err
    assert "0 jobs done, 1 failed; the number of jobs left is unknown (" in call("bench", "status", "run").out


def test_which_plan_is_kept(done, tmp_path):
    kept = json.loads((tmp_path / "run" / "plan.json").read_text())
    assert (kept["kept_by"], kept["shard"], kept["plan"]["metrics"]) == ("dqeval bench run", [1, 1], ["dqe", "auc_roc"])
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "plan.toml").write_text(PLAN)
    assert done("bench", "run", "own/plan.toml", "-o", "own", "--workers", 0).code == 0
    assert (tmp_path / "own" / "plan.toml").read_text() == PLAN
    assert f"dqeval: {done('bench', 'status', 'own').out}" == ALL_DONE
    write_series(tmp_path / "series" / "a.csv", mine=range(400))
    (tmp_path / "plan.json").write_text('{"my": "own"}')
    refused = done("bench", "run", "files.toml", "-o", ".", "--workers", 0)
    told = "dqeval: plan.json is not from a run, and would be overwritten: choose another folder\n"
    assert (refused.code, refused.err, (tmp_path / "plan.json").read_text()) == (2, told, '{"my": "own"}')
    assert not (tmp_path / "results.sqlite").exists()


def test_a_run_does_not_go_to_its_data(done, tmp_path):
    write_series(tmp_path / "series" / "a.csv", mine=range(400))
    for folder in ("series", "run/../series"):
        refused = done("bench", "run", "files.toml", "-o", folder, "--workers", 0)
        told = f"{folder} holds data of the plan, such as a.csv: choose another folder for the run"
        assert (refused.code, refused.err) == (2, f"dqeval: {told}\n")
    assert [path.name for path in (tmp_path / "series").iterdir()] == ["a.csv"]
    (tmp_path / "run" / "results.sqlite").rename(tmp_path / "series" / "results.sqlite")
    assert done("bench", "run", "files.toml", "-o", "series", "--workers", 0).code == 0


@pytest.mark.unmeasured
def test_a_plan_from_python_is_kept(call, tmp_path):
    (tmp_path / "series").mkdir()
    write_series(tmp_path / "series" / "a.csv")
    content = {"detector": [{"name": "fft"}], "data": [{"path": Path("series")}], "seeds": np.arange(2).tolist()}
    start(content, tmp_path / "python")
    assert call("bench", "status", "python").out == "1 of 1 jobs done, 0 failed, 0 left\n"
    assert call("bench", "retry", "python", "--workers", 0).code == 0
    start(make_plan(content), tmp_path / "python")  # a Plan does not say how it was made
    told = "python: no plan is stored here: merged runs, and runs started from a Plan, have none"
    assert call("bench", "status", "python").out == (
        f"1 job done, 0 failed; the number of jobs left is unknown ({told})\n"
    )


def test_jobs_are_the_same_wherever_one_is(call, tmp_path, monkeypatch):
    plan = '[[data]]\npath = "series"\n[[data]]\ngenerator = "synthetic"\nn = 400\nperiod = 16\nevents = 3\n'
    (tmp_path / "mixed.toml").write_text(f'metrics = ["auc_roc"]\n{plan}[[detector]]\nname = "fft"\n')
    write_series(tmp_path / "series" / "ä b.csv", seed=3)
    assert call("bench", "run", "mixed.toml", "-o", "run", "--workers", 0).code == 0
    monkeypatch.chdir("series")
    monkeypatch.setattr(Store, "add", lambda *_: pytest.fail("done again"))
    for arguments in (["run", "../mixed.toml", "-o", "../run"], ["retry", "../run"]):
        found = call("bench", *arguments, "--workers", 0)
        assert (found.code, found.err) == (0, "dqeval: 2 of 2 jobs done (2 before), 0 failed, 0 left\n")


@pytest.mark.unmeasured
def test_shards_and_merging(done, tmp_path):
    for part in (1, 2):
        assert done("bench", "run", "plan.toml", "-o", f"part{part}", "--shard", f"{part}/2", "--workers", 0).code == 0
        assert done("bench", "status", f"part{part}").out == "3 of 3 jobs done, 0 failed, 0 left\n"
        assert done("bench", "retry", f"part{part}", "--workers", 0).err.startswith("dqeval: 3 of 3 jobs done")
    assert done("bench", "merge", "part1", "part2", "-o", "merged").err == "dqeval: merged 2 runs into merged\n"
    assert done("bench", "rank", "merged").out == done("bench", "rank", "run").out
    assert done("bench", "run", "plan.toml", "-o", "merged", "--workers", 0).err == DONE_BEFORE


def test_rankings(done, tmp_path):
    table = done("bench", "rank", "run").out
    assert "DQE, 95 % interval" in table
    assert done("bench", "rank", "run", "--dataset", "synthetic").out == table
    assert done("bench", "rank", "run", "--by", "event").out.startswith("Means over 9 events. Higher")
    numbers = json.loads(done("bench", "rank", "run", "--format", "json").out)
    assert (numbers["n"], numbers["friedman"], numbers["metrics"]) == (3, None, ["dqe", "auc_roc"])
    assert "\\begin{tabular}" in done("bench", "rank", "run", "--format", "latex").out
    assert done("bench", "rank", "run", "--format", "csv", "-o", "rank.csv").err == "dqeval: wrote rank.csv\n"
    with (tmp_path / "rank.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 4


def test_export(done, tmp_path):
    pytest.importorskip("pyarrow")
    from pyarrow import parquet

    for name in ("all.csv", "all.parquet"):
        assert done("bench", "export", "run", "-o", name).err == f"dqeval: wrote {name}\n"
    with (tmp_path / "all.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 18
    assert {row["metric"] for row in rows} == {"detect", "dqe", "auc_roc"}
    assert parquet.read_table(tmp_path / "all.parquet").column_names == list(rows[0])


def test_report(done, monkeypatch):
    told = []
    module = importlib.import_module("dqeval.render.bench_page")
    monkeypatch.setattr(module, "bench_report", lambda *given, progress: told.extend(given))  # no page of a series
    told_of = "dqeval: wrote bench.html; it has no pages of series, and says why\n"
    assert done("bench", "report", "run", "-o", "bench.html").err == told_of
    assert told == [Path("run"), Path("bench.html")]


def test_how_far_the_report_is(done, monkeypatch):
    told = []
    monkeypatch.setattr(output, "INTERVAL", 0.01)
    monkeypatch.setattr(output, "tell", told.append)
    module = importlib.import_module("dqeval.render.bench_page")

    def slow(folder, path, *, progress):
        time.sleep(0.1)
        progress(1, 3)
        time.sleep(0.1)
        return path.with_name("bench_series")

    monkeypatch.setattr(module, "bench_report", slow)
    assert done("bench", "report", "run", "-o", "bench.html").code == 0
    assert list(dict.fromkeys(told)) == [
        "ranking the detectors",
        "1 of 3 pages of series drawn",
        "wrote bench.html and bench_series/",
    ]
    assert "up to 50 series" in " ".join(done("bench", "report", "--help").out.split())


BAD_PLANS = {
    "unknown detector": (PLAN.replace('"sr"', '"fftt"'), "unknown detector 'fftt'; did you mean 'fft'?"),
    "unknown metric": (PLAN.replace('"dqe"', '"dqee"'), "unknown metric 'dqee'; did you mean 'dqe'?"),
    "unknown key": (f"timeouts = 3\n{PLAN}", "the plan has no 'timeouts': did you mean 'timeout'?"),
    "unknown parameter": (f"{PLAN}windw = 3\n", "the detector sr has no 'windw'"),
    "two of a name": (PLAN.replace('"sr"', '"fft"'), "two detectors are called 'fft'"),
    "two series of a name": ('[[data]]\npath = "twice"\n[[detector]]\nname = "fft"\n', "two series are called 'a'"),
    "empty folder": ('[[scores]]\npath = "empty"\n', "empty: there is no series here"),
    "no such folder": ('[[scores]]\npath = "nowhere"\n', "nowhere: No such file or directory"),
    "odd file": ('[[scores]]\npath = "note.md"\n', "note.md: this fits no known format"),
    "nothing": ("", "there is nothing to do"),
    "no TOML": ("metrics: dqe", "this is not a plan in TOML"),
    "no text": (b"\xff\xfe", "this is not a plan in TOML"),
    "no file": (None, "bad.toml: No such file or directory"),
}


@pytest.mark.parametrize(("plan", "message"), BAD_PLANS.values(), ids=BAD_PLANS)
def test_bad_plans_stop_before_anything_is_written(call, tmp_path, plan, message):
    (tmp_path / "empty").mkdir()
    write_series(tmp_path / "twice" / "a.csv")
    (tmp_path / "twice" / "b").mkdir()
    write_series(tmp_path / "twice" / "b" / "a.csv")
    (tmp_path / "note.md").write_text("a note")
    if plan is not None:
        (tmp_path / "bad.toml").write_bytes(plan if isinstance(plan, bytes) else plan.encode())
    before = sorted(tmp_path.rglob("*"))
    found = call("bench", "run", "bad.toml", "-o", "run")
    assert (found.code, found.out, found.err.count("\n")) == (2, "", 1)
    assert message in found.err
    assert sorted(tmp_path.rglob("*")) == before


def test_a_file_that_may_not_be_read(call, tmp_path, monkeypatch):
    write_series(tmp_path / "series" / "a.csv")
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).suffix != ".csv")
    found = call("bench", "run", "files.toml", "-o", "run")
    assert (found.code, found.err.count("\n")) == (2, 1)
    assert "a.csv: no permission to read this file" in found.err
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "plan.toml"], "Missing option '-o'"),
        (["run", "plan.toml", "-o", "plan.toml"], "is a file"),
        (["run", "plan.toml", "-o", "new", "--workers", "-1"], "Invalid value for '--workers'"),
        (["run", "plan.toml", "-o", "new", "--shard", "third"], "--shard third: write it as 1/3"),
        (["run", "plan.toml", "-o", "new", "--shard", "1/2/3"], "--shard 1/2/3: write it as 1/3"),
        (["run", "plan.toml", "-o", "new", "--shard", "4/3"], "--shard 4/3: the part is counted from 1 to the number"),
        (["run", "plan.toml", "-o", "new", "--workers", "1", "--scheduler", "x"], "at most one of workers, scheduler"),
        (["status", "new"], "new: there is no run here; dqeval bench run PLAN -o new starts one"),
        (["failures", "new"], "new: there is no run here"),
        (["retry", "new"], "new: no plan is stored here"),
        (["rank", "new"], "new: there is no run here"),
        (["rank", "run", "--dataset", "x"], "run: there are no results of the dataset x to rank"),
        (["rank", "run", "--by", "point"], "Invalid value for '--by'"),
        (["export", "new", "-o", "new.csv"], "new: there is no run here"),
        (["export", "run", "-o", "new.txt"], "-o new.txt: the file should end with .csv or .parquet"),
        (["export", "run", "-o", "new/new.csv"], "new.csv: No such file or directory"),
        (["merge", "run", "old", "-o", "new"], "old: there is no run here"),
        (["merge", "run", "-o", "run"], "-o run is one of the runs to merge; name another folder"),
        (["report", "run", "-o", "new.pdf"], "should end with .html"),
        (["status", "bad"], "bad: its results file cannot be used: file is not a database"),
    ],
)
def test_what_cannot_be_done(done, tmp_path, arguments, message):
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "results.sqlite").write_text("this is no database" * 100)
    found = done("bench", *arguments)
    assert (found.code, found.out, found.err.count("\n")) == (2, "", 1)
    assert message in found.err
    assert not list(tmp_path.glob("new*"))


def test_a_plain_line_now_and_then(call, monkeypatch):
    monkeypatch.setattr(output, "INTERVAL", 0.05)

    def slow(*_, progress, **__):
        time.sleep(0.12)
        for state in (State(0, 0, 2, 10), State(1, 1, 2, 10)):
            progress(state)
            time.sleep(0.12)

    monkeypatch.setattr("dqeval.bench.run", slow)
    Store(Path("run"), create=True).close()
    lines = call("bench", "run", "plan.toml", "-o", "run").err.splitlines()
    assert lines[0] == "dqeval: counting the jobs"
    assert "dqeval: 2 of 10 jobs done (2 before), 0 failed, 8 left" in lines
    pace = r"[\d,.]+ per minute, ends about \d{4}-\d\d-\d\d \d\d:\d\d"
    told = r"dqeval: 2 of 10 jobs done \(2 before\), 1 failed, 7 left; "
    assert any(re.fullmatch(told + pace, line) for line in lines)
    assert lines[-3:] == [
        "dqeval: 2 of 10 jobs done (2 before), 1 failed, 7 left",
        "dqeval: 1 job failed: dqeval bench failures run shows why",
        "dqeval: 7 jobs left: run the same command to resume",
    ]


def test_a_cluster_without_a_worker(call, monkeypatch):
    monkeypatch.setattr(output, "INTERVAL", 0.05)

    def deserted(*_, progress, **__):
        for state in (State(0, 0, 2, 10, threads=8), State(1, 0, 2, 10, threads=8), State(1, 0, 2, 10, threads=0)):
            progress(state)
            time.sleep(0.2)
        progress(State(1, 0, 2, 10, threads=4))
        time.sleep(0.2)
        raise CrewLostError("the scheduler is gone")

    monkeypatch.setattr("dqeval.bench.run", deserted)
    Store(Path("run"), create=True).close()
    found = call("bench", "run", "plan.toml", "-o", "run", "--scheduler", "tcp://here:1")
    lines = found.err.splitlines()
    told, waiting = "dqeval: 3 of 10 jobs done (2 before), 0 failed, 7 left", bench_work.NO_WORKER
    alone = lines.index(f"dqeval: {waiting}")  # at once
    assert any("ends about" in line for line in lines[:alone])
    assert f"{told}; {waiting}" in lines[alone:]
    assert told in lines[alone:]  # with others, it begins anew to measure how fast it goes
    assert not any("ends about" in line for line in lines[alone:])
    assert (found.code, lines[-1]) == (3, f"dqeval: the scheduler is gone: {told.removeprefix('dqeval: ')}")


def test_no_line_within_a_minute(done):
    assert output.INTERVAL == 60
    assert done("bench", "retry", "run", "--workers", 0).err.count("\n") == 1


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_bar_on_a_terminal(call, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "150")
    monkeypatch.setattr(output, "REFRESH", 0.01)

    def slow(*_, progress, **__):
        time.sleep(0.2)
        progress(State(1, 0, 2, 10))
        time.sleep(0.3)

    monkeypatch.setattr("dqeval.bench.run", slow)
    Store(Path("run"), create=True).close()
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    assert call("bench", "run", "plan.toml", "-o", "run").code == 3
    assert "counting the jobs" in terminal.getvalue()
    assert re.search(r"3 of 10 jobs done \(2 before\), 0 failed, 7 left; [\d,.]+ per minute", terminal.getvalue())
    left = "dqeval: 7 jobs left: run the same command to resume\n"
    assert terminal.getvalue().endswith(f"dqeval: 3 of 10 jobs done (2 before), 0 failed, 7 left\n{left}")


@pytest.mark.parametrize("state", [None, State(2, 0, 1, 5)])
def test_interrupted(call, monkeypatch, state):
    def interrupted(*_, progress, **__):
        if state is not None:
            progress(state)
        raise KeyboardInterrupt

    monkeypatch.setattr("dqeval.bench.run", interrupted)
    found = call("bench", "run", "plan.toml", "-o", "run")
    stopped = "dqeval: stopped: 3 of 5 jobs done (1 before), 0 failed, 2 left; run the same command to resume\n"
    assert (found.code, found.out) == (130, "")
    assert found.err == f"{stopped if state else ''}dqeval: interrupted\n"


LONG = """
modules = ["odd_detectors"]
metrics = ["auc_roc"]
[[data]]
generator = "synthetic"
count = 60
n = 400
period = 16
events = 3
[[detector]]
name = "slow"
seconds = 0.05
"""


@pytest.mark.skipif(os.name != "posix", reason="other systems have other signals")
@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.unmeasured
def test_ctrl_c_and_going_on(tmp_path, workers):
    (tmp_path / "plan.toml").write_text(LONG)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])}
    arguments = ["bench", "run", "plan.toml", "-o", "run", "--workers", str(workers)]
    command = [sys.executable, "-m", "dqeval", *arguments]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    running = subprocess.Popen(command, cwd=tmp_path, env=environment, start_new_session=True, **streams)
    wait_for_jobs(tmp_path / "run", 10)
    os.killpg(running.pid, signal.SIGINT)  # as a terminal does: to all processes
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, "")
    told = r"dqeval: stopped: (\d+) of 60 jobs done, 0 failed, (\d+) left; run the same command to resume"
    *_, stopped, last = err.splitlines()  # after lines on how far it is, if it took long
    done, left = map(int, re.fullmatch(told, stopped).groups())
    assert (last, done + left) == ("dqeval: interrupted", 60)
    assert 10 <= done < 60
    assert (
        run("bench", "status", "run", "--module", "odd_detectors", cwd=tmp_path, env=environment).stdout
        == f"{done} of 60 jobs done, 0 failed, {left} left\n"
    )
    again = run(*arguments, cwd=tmp_path, env=environment)
    *_, last = again.stderr.splitlines()
    assert (again.returncode, last) == (0, f"dqeval: 60 of 60 jobs done ({done} before), 0 failed, 0 left")


def wait_for_jobs(folder, count):
    until = time.monotonic() + 60
    while time.monotonic() < until:
        time.sleep(0.02)
        if (folder / "plan.json").exists():  # the tables are there
            with Store(folder) as store:
                if store.count().done >= count:
                    return
    pytest.fail(f"fewer than {count} jobs were done in a minute")


def test_the_page_shows_commands_that_exist():
    page = (TESTS.parent / "docs" / "bench.md").read_text(encoding="utf-8")
    commands = typer.main.get_command(app).commands["bench"].commands
    shown = re.findall(r"\bdqeval bench ([a-z][^`#·\n]*)", page)
    assert {line.split()[0] for line in shown} == set(commands)
    for line in shown:
        name, *rest = shlex.split(line)
        options = {option for parameter in commands[name].params for option in parameter.opts}
        assert {part for part in rest if part.startswith("-")} <= options, line


# An executor by name --------------------------------------------------------------------------------------------------

EXECUTORS = """
from concurrent.futures import ThreadPoolExecutor
from threading import Event

made = []


def two_threads():
    made.append(ThreadPoolExecutor(2))
    return made[-1]


class Interrupted(ThreadPoolExecutor):
    def __init__(self):
        super().__init__(1)
        self.released, self.futures = Event(), []
        super().submit(self.released.wait)  # so that jobs wait in the queue
        made.append(self)

    def submit(self, function, /, *args, **kwargs):
        self.futures.append(super().submit(function, *args, **kwargs))
        raise KeyboardInterrupt

    def shutdown(self, wait=True, *, cancel_futures=False):
        super().shutdown(wait=False, cancel_futures=cancel_futures)
        self.released.set()
        super().shutdown(wait=wait)


class LikeDask(Interrupted):
    def shutdown(self, wait=True):
        super().shutdown(wait=wait, cancel_futures=not wait)


def none_there():
    raise ConnectionError("nobody answers")


number = 3
"""


@pytest.fixture
def executors(call, tmp_path):
    """Have a file of executors in the current folder; forget it afterwards."""
    (tmp_path / "some_executors.py").write_text(EXECUTORS)
    before = list(sys.path)
    yield call
    sys.path[:] = before
    sys.modules.pop("some_executors", None)


@pytest.mark.parametrize("module", ["some_executors.py", "some_executors"])
def test_an_executor_by_name(executors, module):
    given = ("--executor", f"{module}:two_threads")
    assert executors("bench", "run", "plan.toml", "-o", "there", *given).err == ALL_DONE
    (made,) = sys.modules["some_executors"].made
    with pytest.raises(RuntimeError, match="after shutdown"):
        made.submit(abs, -1)
    assert executors("bench", "retry", "there", *given).err == DONE_BEFORE
    executors("bench", "run", "plan.toml", "-o", "here", "--workers", 0)
    tables = []
    for folder in ("there", "here"):
        with Store(folder) as store:
            tables.append(sorted((r["series"], r["detector"], r["metric"], r["value"]) for r in store.values()))
    assert tables[0] == tables[1]


@pytest.mark.parametrize("kind", ["Interrupted", "LikeDask"])
def test_ctrl_c_does_not_wait_for_jobs_in_the_queue_of_an_executor(executors, kind):
    stopped = executors("bench", "run", "plan.toml", "-o", "run", "--executor", f"some_executors.py:{kind}")
    assert stopped.code == 130
    (made,) = sys.modules["some_executors"].made
    (waiting,) = made.futures
    assert waiting.cancelled()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--executor", "two_threads"], "--executor two_threads: write it as MODULE:NAME or FILE.py:NAME"),
        (["--executor", "some_executors:"], "--executor some_executors:: write it as MODULE:NAME or FILE.py:NAME"),
        (
            ["--executor", "nowhere_at_all:f"],
            "--executor nowhere_at_all:f: nowhere_at_all cannot be imported: No module named 'nowhere_at_all'; "
            "it is looked for among what is installed, and in the current folder",
        ),
        (["--executor", "some_executors.py:f"], "--executor some_executors.py:f: some_executors.py has no f"),
        (
            ["--executor", "some_executors:number"],
            "--executor some_executors:number: it must be a function without arguments that returns an executor",
        ),
        (
            ["--executor", "some_executors:none_there"],
            "--executor some_executors:none_there: it cannot be made: ConnectionError: nobody answers",
        ),
        (
            ["--executor", "builtins:list"],
            "--executor builtins:list: it must return a concurrent.futures.Executor: got list",
        ),
        (
            ["--executor", "some_executors:two_threads", "--workers", 2],
            "give at most one of workers, scheduler, executor: got workers and executor",
        ),
    ],
)
def test_an_executor_that_is_none(executors, given, message):
    failed = executors("bench", "run", "plan.toml", "-o", "run", *given)
    assert failed.code == 2
    assert failed.err == f"dqeval: {message}\n"
    assert not Path("run").exists()
