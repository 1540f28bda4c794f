"""Benchmark runs: the same table however they are run, and nothing lost whatever happens."""

import io
import os
import pickle
import random
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import dqeval
from dqeval import bench
from dqeval.bench import executors
from dqeval.bench import pool as pool_module
from dqeval.bench.jobs import Job, run_job
from dqeval.bench.plan import Generated, PlannedDetector, PlannedSeries
from dqeval.bench.pool import InProcess, Limits, Line, LocalPool, Worker, WorkFailedError
from dqeval.bench.store import Store
from dqeval.core.registry import DETECTORS

TESTS = Path(__file__).parent
SMALL = {
    "modules": ["odd_detectors"],
    "metrics": ["dqe", "auc_roc"],
    "seeds": [0, 1],
    "data": [{"generator": "synthetic", "count": 3, "n": 600, "period": 24, "events": 3}],
    "detector": [{"name": "quick"}, {"name": "quick", "label": "squared", "power": 2.0}, {"name": "fft"}],
}


@pytest.fixture(autouse=True, scope="module")
def _odd_detectors(odd_detectors):
    """Have the detectors that plans here name."""


def table(folder):
    """Return the results of a run, but for the time that they took."""
    with Store(folder) as store:
        rows = [{name: value for name, value in row.items() if name != "seconds"} for row in store.rows()]
        return rows, list(store.events())


@pytest.fixture(scope="module")
def done(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run") / "here"
    state = bench.run(SMALL, folder)
    assert (state.done, state.failed, state.earlier, state.total, state.left) == (15, 0, 0, 15, 0)
    return folder


def test_values_are_those_of_a_panel(done):
    rows, events = table(done)
    assert len(rows) == 15 * 3  # two metrics, and how the detector fared
    found = {(row["series"], row["detector"], row["seed"], row["metric"]): row for row in rows}
    series = dqeval.datasets.synthetic(n=600, period=24, events=3, seed=1)
    scores = DETECTORS["quick"].function(series.values, power=2.0, seed=1)
    panel = dqeval.panel(series.labels, scores, period=series.period, metrics=["dqe", "auc_roc"])
    for metric in ("dqe", "auc_roc"):
        assert found["synthetic_1", "squared", 1, metric]["value"] == panel[metric]
    assert found["synthetic_1", "squared", 1, "detect"]["parameters"] == '{"power": 2.0}'
    own = [e for e in events if (e["series"], e["detector"]) == ("synthetic_1", "fft")]
    fft = dqeval.panel(series.labels, dqeval.detectors.fft(series.values), period=series.period, metrics=["dqe"])
    assert [(e["start"], e["dqe"]) for e in own] == [(e.start, e.dqe) for e in fft.dqe.per_event]


def test_a_second_run_has_nothing_to_do(done):
    state = bench.run(SMALL, done)
    assert (state.done, state.earlier) == (0, 15)


@pytest.mark.unmeasured
def test_processes_and_shards_give_the_same_table(done, tmp_path):
    bench.run(SMALL, tmp_path / "processes", workers=2)
    assert table(tmp_path / "processes") == table(done)
    for part in (1, 2, 3):
        bench.run(SMALL, tmp_path / f"shard{part}", shard=(part, 3))
    bench.merge([tmp_path / f"shard{part}" for part in (1, 2, 3)], tmp_path / "merged")
    assert table(tmp_path / "merged") == table(done)
    assert bench.run(SMALL, tmp_path / "merged").earlier == 15


def test_any_executor_gives_the_same_table(done, tmp_path):
    with ThreadPoolExecutor(2) as threads:
        bench.run(SMALL, tmp_path / "threads", executor=threads)
        assert threads.submit(abs, -1).result() == 1
    assert table(tmp_path / "threads") == table(done)


def test_another_metric_evaluates_without_detecting(tmp_path, monkeypatch):
    bench.run(SMALL, tmp_path)
    monkeypatch.setattr("dqeval.bench.jobs._run_detector", lambda *_: pytest.fail("detected again"))
    state = bench.run({**SMALL, "metrics": ["dqe", "auc_roc", "range_f1"]}, tmp_path)
    assert (state.done, state.failed) == (15, 0)
    assert {row["metric"] for row in table(tmp_path)[0]} == {"detect", "dqe", "auc_roc", "range_f1"}


def test_changed_data_is_done_again(tmp_path):
    path = tmp_path / "data" / "a.csv"
    write_series(path, seed=0)
    plan = {"data": [{"path": "data"}], "detector": [{"name": "sr"}], "metrics": ["auc_roc"]}
    plan = bench.make_plan(plan, folder=tmp_path)
    assert bench.run(plan, tmp_path / "run").done == 1
    first = table(tmp_path / "run")
    write_series(path, seed=5)
    assert bench.run(plan, tmp_path / "run").done == 1
    assert table(tmp_path / "run") != first


def write_series(path, *, seed, scores=None):
    path.parent.mkdir(exist_ok=True)
    series = dqeval.datasets.synthetic(n=500, period=24, events=2, seed=seed)
    columns = {"value": series.values, "label": series.labels, **(scores or {})}
    rows = np.column_stack(list(columns.values()))
    np.savetxt(path, rows, delimiter=",", header=",".join(columns), comments="")


def test_scores_that_are_there(tmp_path):
    random_scores = np.random.RandomState(0).rand(500)
    bad = random_scores.copy()
    bad[7] = np.nan
    write_series(
        tmp_path / "mine" / "a.csv", seed=0, scores={"one": random_scores, "two": random_scores**2, "bad": bad}
    )
    write_series(tmp_path / "mine" / "b.csv", seed=1, scores={"one": bad})
    plan = bench.make_plan({"scores": [{"path": "mine"}], "metrics": ["dqe"], "near": 12}, folder=tmp_path)
    state = bench.run(plan, tmp_path / "run")
    assert (state.done, state.failed) == (2, 2)
    rows = {(row["series"], row["detector"], row["metric"]): row for row in table(tmp_path / "run")[0]}
    labels = dqeval.datasets.synthetic(n=500, period=24, events=2, seed=0).labels
    assert rows["a", "two", "dqe"]["value"] == dqeval.dqe_score(labels, random_scores**2, near=12)
    assert "y_score must be finite" in rows["a", "bad", "evaluate"]["reason"]
    write_series(tmp_path / "mine" / "b.csv", seed=1, scores={"other": random_scores})
    (tmp_path / "mine" / "a.csv").write_text("value,label,one\n1,0,x\n")
    assert bench.run(plan, tmp_path / "run").failed == 1
    assert {(r["series"], r["detector"], r["metric"]) for r in table(tmp_path / "run")[0]} == {
        ("a", "*", "detect"),
        ("b", "other", "dqe"),
    }
    (tmp_path / "mine" / "a.csv").write_text("value,label\n1,0\n2,1\n")
    bench.run(plan, tmp_path / "run")
    assert table(tmp_path / "run")[0][0]["reason"] == "a has no column of scores"


def test_own_scores_beside_detectors(tmp_path):
    write_series(tmp_path / "data" / "a.csv", seed=0)
    write_series(tmp_path / "mine" / "a.csv", seed=0, scores={"own": np.random.RandomState(0).rand(500)})
    content = {"data": [{"path": "data"}], "scores": [{"path": "mine"}], "detector": [{"name": "fft"}]}
    bench.run(bench.make_plan({**content, "metrics": ["dqe"]}, folder=tmp_path), tmp_path / "run")
    assert set(bench.rank(tmp_path / "run").detectors) == {"fft", "own"}


def test_a_file_that_changes_during_the_work_is_done_again(tmp_path):
    path = tmp_path / "data" / "a.csv"
    write_series(path, seed=0)
    plan = {**SMALL, "data": [{"path": "data"}], "detector": [{"name": "quick"}], "seeds": [0]}
    plan = bench.make_plan(plan, folder=tmp_path)
    real = DETECTORS["quick"].function

    def meddling(values, **options):
        write_series(path, seed=9)
        return real(values, **options)

    object.__setattr__(DETECTORS["quick"], "function", meddling)
    try:
        bench.run(plan, tmp_path / "run")
    finally:
        object.__setattr__(DETECTORS["quick"], "function", real)
    assert bench.run(plan, tmp_path / "run").done == 1


def test_scores_that_were_cut_short_are_made_again(tmp_path):
    bench.run(SMALL, tmp_path)
    expected = table(tmp_path)
    for path in (tmp_path / "scores").rglob("*.npy"):
        path.write_bytes(b"")
    bench.run({**SMALL, "metrics": ["dqe"]}, tmp_path)
    bench.run(SMALL, tmp_path)
    assert table(tmp_path) == expected


def test_merging_again_takes_what_is_new(tmp_path):
    bad = {**SMALL, "detector": [{"name": "raises"}], "data": [{"generator": "synthetic", "n": 600, "period": 24}]}
    bench.run(bad, tmp_path / "a")
    bench.merge([tmp_path / "a"], tmp_path / "all")
    good = {**bad, "detector": [{"name": "quick", "label": "raises"}]}
    bench.run(good, tmp_path / "a")
    bench.merge([tmp_path / "a"], tmp_path / "all")
    assert table(tmp_path / "all") == table(tmp_path / "a")
    with Store(tmp_path / "all") as store:
        assert store.count().failed == 0


FAILURES = {
    "raises": "RuntimeError: no such luck",
    "hangs": "took longer than the limit of 3 seconds",
    "gives_nan": "the detector gave 1 scores that are not finite, the first at point 3",
    "too_short": "the detector gave scores of shape (599,) for 600 points",
    "prints": "the detector printed to standard output, which it must not: 'hello\\n'",
    "hungry": "needs more memory than the limit of 4000 MB",
    "dies": "the process died (signal 9): out of memory, or a crash",
}


@pytest.mark.parametrize(
    ("failures", "options", "timeout", "memory"),
    [(FAILURES, {}, 3, 4000), ({"cnn": "ValueError: "}, {"device": "nowhere"}, 60, 20_000)],
    ids=["odd", "cnn"],
)
@pytest.mark.unmeasured(but=["odd"])
def test_what_fails_is_one_row_and_stops_nothing(tmp_path, failures, options, timeout, memory):
    plan = {**SMALL, "timeout": timeout, "memory": memory, "seeds": [0]}
    plan["detector"] = [*({"name": name, **options} for name in failures), {"name": "quick"}]
    plan["data"] = [{"generator": "synthetic", "n": 600, "period": 24, "events": 2}]
    state = bench.run(plan, tmp_path, workers=1)
    assert (state.done, state.failed) == (len(failures) + 1, len(failures))
    with Store(tmp_path) as store:
        rows = {row["detector"]: row for row in store.failures()}
        assert set(rows) == set(failures)
        for name, reason in failures.items():
            assert (rows[name]["metric"], rows[name]["value"]) == ("detect", None)
            assert rows[name]["reason"].startswith(reason)
            assert ("Traceback" in rows[name]["traceback"]) == (name in ("raises", "hungry", "cnn"))
        assert store.count().failed == len(failures)
        assert {r["status"] for r in store.rows() if r["detector"] == "quick"} == {"ok"}
    with Store(tmp_path, create=True) as store:
        assert store.forget_failures() == len(failures)


def test_what_failed_and_was_forgotten_is_done_again(tmp_path):
    plan = {**SMALL, "detector": [{"name": "raises"}, {"name": "quick"}], "seeds": [0]}
    failed = bench.run(plan, tmp_path).failed
    with Store(tmp_path, create=True) as store:
        assert store.forget_failures() == failed > 0
    assert bench.run(plan, tmp_path).done == failed


def test_failures_are_kept_where_there_is_nobody_to_retry_them(tmp_path):
    plan = {**SMALL, "detector": [{"name": "raises"}], "seeds": [0]}
    failed = bench.run(plan, tmp_path).failed
    with pytest.raises(ValueError, match="workers must be a whole number of at least 0"):
        bench.retry(tmp_path, workers=-1)
    with Store(tmp_path) as store:
        assert store.count().failed == failed > 0
    assert bench.run(plan, tmp_path).done == 0
    assert bench.run(plan, tmp_path, retry_failed=True).done == failed


def test_what_is_undefined_is_no_zero(tmp_path):
    path = tmp_path / "data" / "none.csv"
    write_series(path, seed=0)
    path.write_text("\n".join(",".join([line.split(",")[0], "0"]) for line in path.read_text().splitlines()[1:]))
    path.write_text("value,label\n" + path.read_text())
    plan = {"data": [{"path": "data"}], "detector": [{"name": "fft"}], "metrics": ["dqe"]}
    assert bench.run(bench.make_plan(plan, folder=tmp_path), tmp_path / "run").failed == 0
    rows = {row["metric"]: row for row in table(tmp_path / "run")[0]}
    assert (rows["dqe"]["value"], rows["dqe"]["status"]) == (None, "undefined")
    with pytest.raises(ValueError, match="there are no results to rank"):
        bench.rank(tmp_path / "run")


BAD_PLANS = {
    "unknown detector": ({"detector": [{"name": "fff"}]}, "unknown detector 'fff'; did you mean 'fft'?"),
    "unknown metric": ({"metrics": ["vuspr"]}, "unknown metric 'vuspr'; did you mean 'vus_pr'?"),
    "unknown key": ({"metric": []}, "the plan has no 'metric': did you mean 'metrics'?"),
    "unknown parameter": (
        {"detector": [{"name": "sub_lof", "neighbors": 3}]},
        "the detector sub_lof has no 'neighbors': did you mean 'neighbours'?",
    ),
    "no name": ({"detector": [{"neighbours": 3}]}, "[[detector]] needs a name"),
    "same label": ({"detector": [{"name": "fft"}, {"name": "fft"}]}, "two detectors are called 'fft'"),
    "same series": (
        {"data": [{"generator": "synthetic"}] * 2},
        "two series are called 'synthetic_0', which is their name in the results: the generator synthetic and",
    ),
    "same file": ({"data": [{"path": "blank.csv"}] * 2}, "blank.csv; rename a file, leave one out"),
    "no path": ({"data": [{}]}, "[[data]] needs a path or a generator"),
    "no scores path": ({"scores": [{}]}, "[[scores]] needs a path"),
    "empty folder": ({"data": [{"path": "empty"}]}, "there is no series here"),
    "no such folder": ({"data": [{"path": "nowhere"}]}, "nowhere"),
    "nothing in it": ({"data": [{"path": "blank.csv"}], "detector": []}, "there is data but no detector"),
    "odd file": ({"data": [{"path": "odd.csv"}]}, "odd.csv: no numeric column is called label or is_anomaly"),
    "unreadable file": ({"data": [{"path": "odd.npz"}]}, "odd.npz"),
    "unknown generator": ({"data": [{"generator": "magic"}]}, "unknown generator 'magic'; choose from synthetic"),
    "generator's parameter": ({"data": [{"generator": "synthetic", "m": 1}]}, "the generator synthetic has no 'm'"),
    "nothing": ({"data": []}, "there is nothing to do"),
    "no detector": ({"detector": []}, "there is data but no detector"),
    "seed": ({"seeds": [-1]}, "a seed must be a whole number"),
    "limit": ({"timeout": 0}, "timeout must be a whole number of at least 1"),
    "no list": ({"seeds": 0}, "seeds must be a list: got 0; write seeds = […]"),
    "one table": ({"data": {"path": "x"}}, "data must be a list: got {'path': 'x'}; write [[data]]"),
    "no table": ({"data": ["x"]}, "each [[data]] must be a table of keys and values: got ['x']"),
    "a number": ({"data": [{"path": 3}]}, "[[data]] needs a path or a generator"),
    "first seed": ({"data": [{"generator": "synthetic", "seed": "a"}]}, "seed must be a whole number"),
    "none": ({"metrics": []}, "metrics must have at least one entry, and no entry twice: got []"),
    "twice": ({"seeds": [0, 0]}, "seeds must have at least one entry, and no entry twice: got [0, 0]"),
    "a seed of its own": (
        {"detector": [{"name": "quick", "seed": 3}]},
        "set seeds for the whole plan, not",
    ),
    "a seed in vain": ({"detector": [{"name": "fft", "seed": 3}]}, "the detector fft takes no seed"),
    "no scores": ({"scores": [{"path": "none.csv"}]}, "none.csv: no column of scores"),
    "near and period": ({"near": 1, "period": 2}, "give at most one of near, period"),
    "module": ({"modules": ["no_such_module"]}, "the module no_such_module of the plan cannot be imported"),
}


@pytest.mark.parametrize(("changes", "message"), BAD_PLANS.values(), ids=BAD_PLANS)
def test_bad_plans(tmp_path, changes, message):
    (tmp_path / "empty").mkdir()
    (tmp_path / "odd.csv").write_text("this,is\nno,table")
    (tmp_path / "odd.npz").write_text("this is no npz")
    (tmp_path / "none.csv").write_text("value,label\n1,0\n")
    (tmp_path / "blank.csv").write_text("")
    with pytest.raises((ValueError, OSError)) as error:
        bench.make_plan({**SMALL, **changes}, folder=tmp_path)
    assert message in str(error.value)


def test_a_file_that_may_not_be_read(tmp_path, monkeypatch):
    write_series(tmp_path / "data" / "a.csv", seed=0)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(ValueError, match=r"a\.csv: no permission to read this file"):
        bench.make_plan({**SMALL, "data": [{"path": "data"}]}, folder=tmp_path)


def test_plan_files(tmp_path):
    write_series(tmp_path / "data" / "001_WSD_x_tr_100_1st_200.csv", seed=0)
    text = 'period = 24\n[[data]]\npath = "data"\nformat = "table"\n[[detector]]\nname = "fft"\n'
    (tmp_path / "plan.toml").write_text(text)
    plan = bench.read_plan(tmp_path / "plan.toml")
    assert plan.period == 24
    assert [series.dataset for series in plan.series] == ["WSD"]
    (tmp_path / "plan.toml").write_text(text.replace('format = "table"', 'name = "mine"'))
    (tmp_path / "plan.toml").write_text("this is no TOML")
    with pytest.raises(ValueError, match=r"plan\.toml: this is not a plan in TOML"):
        bench.read_plan(tmp_path / "plan.toml")
    (tmp_path / "plan.toml").write_text("metrics = [1]\n")
    with pytest.raises(ValueError, match=r"plan\.toml: "):
        bench.read_plan(tmp_path / "plan.toml")


def test_bad_arguments(tmp_path):
    with pytest.raises(ValueError, match="shard must be a part and the number of parts"):
        bench.run(SMALL, tmp_path, shard=(4, 3))
    with pytest.raises(ValueError, match="workers must be a whole number of at least 0"):
        bench.run(SMALL, tmp_path, workers=-1)
    with pytest.raises(ValueError, match="there is no run here"):
        bench.Store(tmp_path / "nowhere")


def test_export(done, tmp_path):
    assert bench.export(str(done), str(tmp_path / "all.csv")) == 45
    assert len((tmp_path / "all.csv").read_text().splitlines()) == 46
    pytest.importorskip("pyarrow")
    assert bench.export(done, tmp_path / "all.parquet") == 45
    from pyarrow import parquet

    assert parquet.read_table(tmp_path / "all.parquet").num_rows == 45


def test_export_without_pyarrow(done, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ValueError, match=r"Parquet files need pyarrow"):
        bench.export(done, tmp_path / "all.parquet")


def test_seconds_of_detectors(done):
    with Store(done) as store:
        assert set(store.seconds()) == {"fft", "quick", "squared"}


# Whatever happens ---------------------------------------------------------------------------------------------------

LONG = {
    **SMALL,
    "metrics": ["auc_roc"],
    "seeds": list(range(7)),
    "data": [{"generator": "synthetic", "count": 30, "n": 300, "period": 12, "events": 2}],
    "detector": [{"name": "slow", "seconds": 0.01}],
}
DRIVER = """
import sys
sys.path.insert(0, sys.argv[1])
from test_bench import LONG
from dqeval import bench
if __name__ == "__main__":
    bench.run(LONG, sys.argv[2], workers=2)
"""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("long") / "run"
    state = bench.run({**LONG, "detector": [{"name": "slow", "seconds": 0.01}]}, folder, workers=2)
    assert (state.done, state.failed) == (210, 0)
    return table(folder)


@pytest.mark.unmeasured
def test_a_driver_that_is_killed_loses_nothing(tmp_path, undisturbed):
    (tmp_path / "driver.py").write_text(DRIVER)
    command = [sys.executable, str(tmp_path / "driver.py"), str(TESTS), str(tmp_path / "run")]
    moments = random.Random(0)
    for _ in range(4):
        driver = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for_jobs(tmp_path / "run", more=moments.randint(5, 30), driver=driver)
        driver.send_signal(signal.SIGKILL)
        driver.wait()
    with Store(tmp_path / "run") as store:
        before = store.count().done
    assert 0 < before < 210
    state = bench.run(LONG, tmp_path / "run", workers=2)
    assert (state.done, state.earlier, state.failed) == (210 - before, before, 0)
    assert table(tmp_path / "run") == undisturbed
    with sqlite3.connect(tmp_path / "run" / "results.sqlite") as database:
        assert database.execute("SELECT COUNT(*), COUNT(DISTINCT id) FROM jobs").fetchone() == (210, 210)


def wait_for_jobs(folder, *, more, driver):
    """Wait until a run has done so many jobs more than when this is called."""

    def count():
        try:
            with Store(folder) as store:
                return store.count().done
        except (ValueError, sqlite3.OperationalError):
            return 0

    start = count()
    until = time.monotonic() + 60
    while count() < start + more and driver.poll() is None and time.monotonic() < until:
        time.sleep(0.02)


@pytest.mark.unmeasured
def test_workers_that_are_killed_cost_their_job_alone(tmp_path, undisturbed):
    pool = []
    real = executors.LocalPool

    class Watched(real):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            pool.append(self)

    killed = []

    def kill_now_and_then(state):
        if state.done in (20, 60, 120):
            process = pool[0]._workers[state.done % 2]._child._process
            killed.append(process.pid)
            os.kill(process.pid, signal.SIGKILL)

    executors.LocalPool = Watched
    try:
        state = bench.run(LONG, tmp_path, workers=2, progress=kill_now_and_then)
    finally:
        executors.LocalPool = real
    assert len(killed) == 3
    assert state.done == 210
    assert 1 <= state.failed <= 3
    with Store(tmp_path) as store:
        assert {row["reason"].partition(":")[0] for row in store.failures()} == {"the process died (signal 9)"}
    with Store(tmp_path, create=True) as store:
        store.forget_failures()
    assert bench.run(LONG, tmp_path, workers=2).failed == 0
    assert table(tmp_path) == undisturbed


@pytest.mark.unmeasured
def test_an_interrupted_run_stops_its_processes(tmp_path):
    def interrupt(state):
        if state.done == 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bench.run(LONG, tmp_path, workers=2, progress=interrupt)
    with Store(tmp_path) as store:
        assert store.count().done == 10


# The pool -------------------------------------------------------------------------------------------------------------


def out_of_memory(_):
    raise MemoryError


@pytest.mark.unmeasured
def test_a_pool_is_an_executor():
    with LocalPool(2, Limits()) as pool:
        assert list(pool.map(abs, range(-5, 5))) == [5, 4, 3, 2, 1, 0, 1, 2, 3, 4]
        with pytest.raises(WorkFailedError, match="TypeError"):
            pool.submit(abs, "x").result()


def test_what_is_cancelled_is_not_done():
    pool = LocalPool(1, Limits())
    futures = [pool.submit(time.sleep, 0.2) for _ in range(5)]
    futures[-1].cancel()
    time.sleep(0.5)
    pool.shutdown(cancel_futures=True)
    assert futures[-1].cancelled()
    assert any(future.cancelled() for future in futures[1:-1])


def test_what_cannot_be_sent_to_a_process_is_one_sentence():
    worker = Worker(Limits())
    try:
        with pytest.raises(WorkFailedError, match=r"cannot be sent to another process .* at the top of a module"):
            worker.call(abs, lambda: None)
        assert worker.call(abs, -3) == 3
    finally:
        worker.stop()


def test_a_worker_that_was_never_used_can_be_stopped():
    worker = Worker(Limits())
    worker.kill()
    worker.stop()


def test_the_start_of_a_process_takes_no_jobs_time(monkeypatch):
    monkeypatch.setattr(pool_module, "_START", f"import time; time.sleep(2); {pool_module._START}")
    worker = Worker(Limits(seconds=1.5))
    try:
        assert worker.call(abs, -3) == 3
    finally:
        worker.stop()


def test_a_process_that_does_not_start(monkeypatch):
    monkeypatch.setattr(pool_module, "_START", "raise SystemExit(7)")
    with pytest.raises(WorkFailedError, match=r"the process died \(exit code 7\)"):
        Worker(Limits()).call(abs, -3)


def test_a_worker_ends_with_the_process_that_started_it(monkeypatch):
    ended, parents = [], iter([2, 2, 1])
    monkeypatch.setattr(os, "getppid", lambda: next(parents))
    monkeypatch.setattr(pool_module.time, "sleep", lambda seconds: None)
    monkeypatch.setattr(pool_module, "kill_group", ended.append)
    pool_module._end_with(2)
    assert ended == [os.getpid()]


def test_in_process():
    with pytest.raises(WorkFailedError, match="SystemExit: 3"):
        InProcess().submit(sys.exit, 3).result()
    with pytest.raises(WorkFailedError, match="needs more memory than there is"):
        InProcess().submit(out_of_memory, 0).result()
    assert InProcess().submit(abs, -3).result() == 3
    with pytest.raises(WorkFailedError) as error:
        InProcess().submit(abs, "x").result()
    assert "Traceback" in error.value.where


# The same in this process, where no worker that is ended takes what was measured with it -----------------------------


def one_job(folder, detector, source=None):
    series = PlannedSeries("made", source or Generated("a", "synthetic", (("n", 400), ("period", 16), ("events", 2))))
    planned = PlannedDetector(detector, detector, ())
    return Job(series, planned, 0, ("auc_roc",), None, None, str(folder), "0", ("odd_detectors",))


@dataclass(frozen=True)
class Given:
    series: dqeval.Series
    name: str = "given"

    def files(self):
        return []

    def read(self):
        return self.series


@pytest.mark.parametrize(
    ("detector", "reason"),
    [
        ("gives_nan", "the detector gave 1 scores that are not finite"),
        ("too_short", "the detector gave scores of shape"),
        ("cnn", "the detector needs training, and the series does not say"),
    ],
)
def test_what_a_detector_must_not_do(tmp_path, detector, reason):
    labels = np.arange(400) % 100 < 5
    job = one_job(tmp_path, detector, Given(dqeval.Series("given", labels, {}, np.sin(np.arange(400.0)))))
    with pytest.raises(WorkFailedError, match=re.escape(reason)):
        run_job(job)


def test_what_is_printed_in_a_process_of_its_own(tmp_path, monkeypatch, capsys):
    """Only there it is caught: elsewhere standard output is not one job's alone."""
    assert not run_job(one_job(tmp_path / "here", "prints")).failed
    assert capsys.readouterr().out == "hello\n"
    monkeypatch.setattr(pool_module, "_here", Limits())
    with pytest.raises(WorkFailedError, match="the detector printed to standard output, which it must not: 'hello"):
        run_job(one_job(tmp_path / "own", "prints"))
    with pool_module.catch_output() as caught, ThreadPoolExecutor(1) as other:
        other.submit(print, "from another thread").result()
        print("from this one")
    assert (caught.getvalue(), capsys.readouterr().out) == ("from this one\n", "")


@pytest.mark.unmeasured
def test_a_thread_that_prints_harms_no_other_job(tmp_path):
    detectors = [{"name": "chatters"}, {"name": "quick"}, {"name": "slow", "seconds": 0.05}]
    assert bench.run({**SMALL, "detector": detectors}, tmp_path, workers=1).failed == 0


def test_threads_leave_standard_output_alone(tmp_path, capsys):
    before, ended = sys.stdout, threading.Event()

    def chatter():
        while not ended.is_set():
            print("x", end="")
            time.sleep(0.0001)

    with ThreadPoolExecutor(5) as threads:
        talk = threads.submit(chatter)
        try:
            state = bench.run({**SMALL, "seeds": list(range(5))}, tmp_path / "threads", executor=threads)
            assert bench.run(SMALL, tmp_path / "here").failed == 0
        finally:
            ended.set()
            talk.result()
    assert state.failed == 0
    assert sys.stdout is before
    assert set(capsys.readouterr().out) == {"x"}


def test_no_values_to_work_on(tmp_path):
    job = one_job(tmp_path, "quick", Given(dqeval.Series("given", np.array([0, 1]), {})))
    with pytest.raises(WorkFailedError, match="the series has no values"):
        run_job(job)


def test_training_goes_up_to_where_the_series_says(tmp_path):
    told = {}
    real = DETECTORS["cnn"].function
    object.__setattr__(DETECTORS["cnn"], "function", lambda values, **o: told.update(o) or np.abs(values))
    try:
        outcome = run_job(one_job(tmp_path, "cnn"))
    finally:
        object.__setattr__(DETECTORS["cnn"], "function", real)
    assert told["train_stop"] == dqeval.datasets.synthetic(n=400, period=16, events=2).train_stop
    assert not outcome.failed


def test_limits_of_memory(monkeypatch):
    limits = []
    monkeypatch.setattr("resource.setrlimit", lambda kind, pair: limits.append(pair))
    pool_module._limit_memory(5)
    assert limits == [(5, 5)]
    monkeypatch.setitem(sys.modules, "resource", None)
    pool_module._limit_memory(5)
    assert len(limits) == 1


@pytest.mark.parametrize(("megabytes", "expected"), [(3, [3 * 2**20]), (0, [])])
@pytest.mark.parametrize("system", ["linux", "win32"])
def test_serving_with_and_without_a_limit(monkeypatch, system, megabytes, expected):
    limits, ended = [], []
    monkeypatch.setattr(pool_module, "_here", None)  # and afterwards again
    monkeypatch.setattr(pool_module, "_limit_memory", limits.append)
    monkeypatch.setattr(pool_module, "_end_with", ended.append)
    monkeypatch.setattr(sys, "platform", system)
    ours, theirs = socket.socketpair()
    monkeypatch.setattr(socket, "fromshare", {b"described": theirs}.get, raising=False)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"described")))
    line = Line(ours)
    calls = [(abs, -2), (two_items, 0), (interrupt, 0), (sys.exit, 3)]
    for number, call in enumerate(calls, start=1):
        line.send(number, pickle.dumps(call))
    ours.shutdown(socket.SHUT_WR)
    pool_module.serve(megabytes, theirs.detach() if system == "linux" else -1)
    assert line.receive(0) == (0, b"")
    answers = [pickle.loads(line.receive(number)[1]) for number in (1, 2, 2, 2, 3, 4)]
    ours.close()
    kinds = ["done", "item", "item", "done", "failed", "failed"]
    assert [kind for kind, _ in answers] == kinds
    assert [pickle.loads(reply) for kind, reply in answers if kind != "failed"] == [2, "a", "b", None]
    assert [reply[0] for kind, reply in answers if kind == "failed"] == ["KeyboardInterrupt: ", "SystemExit: 3"]
    assert limits == expected
    assert ended == [os.getppid()] * 2


def two_items(_):
    yield from "ab"


def interrupt(_):
    raise KeyboardInterrupt


def test_what_is_cancelled_before_it_starts_is_passed_over():
    pool = LocalPool(1, Limits())
    first, second = pool.submit(time.sleep, 0.3), pool.submit(time.sleep, 0)
    assert second.cancel()
    pool.shutdown()
    assert first.done()
    assert second.cancelled()


@pytest.mark.parametrize(("given", "expected"), [(None, "1"), ("3", "3")])
@pytest.mark.unmeasured
def test_a_worker_uses_one_thread_unless_told_otherwise(monkeypatch, given, expected):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    if given:
        monkeypatch.setenv("OMP_NUM_THREADS", given)
    worker = Worker(Limits())
    try:
        assert worker.call(os.getenv, "OMP_NUM_THREADS") == expected
    finally:
        worker.stop()
