"""A metric that fails: an error that says which, and in a benchmark run a failed row."""

import dataclasses
import math
import pickle

import pytest

import dqeval
from commands import caller, write_demo
from dqeval import bench
from dqeval.analysis.panel import panels_and_errors
from dqeval.bench.store import Store
from dqeval.core.registry import METRICS
from dqeval.core.validate import UndefinedError

SERIES = dqeval.datasets.demo()
SENTENCE = "the metric auc_pr failed, which is no fault of the input: AttributeError: no attribute 'double'"


def broken(monkeypatch, error):
    """Have AUC-PR fail, as if its code were wrong."""

    def fail(scored):
        raise error

    monkeypatch.setitem(METRICS._entries, "auc_pr", dataclasses.replace(METRICS["auc_pr"], compute=fail, joined=None))


@pytest.fixture
def _broken(monkeypatch):
    broken(monkeypatch, AttributeError("no attribute 'double'"))


@pytest.fixture
def call(monkeypatch, capsys):
    return caller(monkeypatch, capsys)


@pytest.mark.usefixtures("_broken")
def test_the_library_raises():
    with pytest.raises(dqeval.MetricError) as raised:
        dqeval.panel(SERIES.labels, SERIES.scores["late"], period=48)
    assert str(raised.value) == SENTENCE
    assert not isinstance(raised.value, ValueError)  # which would be bad input
    assert isinstance(raised.value.__cause__, AttributeError)
    copy = pickle.loads(pickle.dumps(raised.value))
    assert (str(copy), copy.reason) == (SENTENCE, "AttributeError: no attribute 'double'")
    assert dqeval.panel(SERIES.labels, SERIES.scores["late"], period=48, metrics=["dqe"])["dqe"] > 0.5


@pytest.mark.parametrize("error", [ImportError("x"), ValueError("x"), ZeroDivisionError("x")])
def test_whatever_it_fails_with(error, monkeypatch):
    broken(monkeypatch, error)
    with pytest.raises(dqeval.MetricError, match=rf"^the metric auc_pr failed, .*: {type(error).__name__}: x$"):
        dqeval.panel(SERIES.labels, SERIES.scores["late"], period=48, metrics=["auc_pr"])


def test_short_memory_is_no_fault_of_the_metric(monkeypatch):
    broken(monkeypatch, MemoryError())
    with pytest.raises(MemoryError):
        dqeval.panel(SERIES.labels, SERIES.scores["late"], period=48, metrics=["auc_pr"])
    with pytest.raises(MemoryError):
        list(panels_and_errors(SERIES.labels, SERIES.scores, near=24, metrics=["auc_pr"]))


def test_what_a_metric_calls_undefined_is_not_a_number(monkeypatch):
    broken(monkeypatch, UndefinedError("it is Monday"))
    found = dqeval.panel(SERIES.labels, SERIES.scores["late"], period=48, metrics=["auc_pr", "auc_roc"])
    assert found.failures == {"auc_pr": "undefined, because it is Monday"}
    assert math.isnan(found["auc_pr"])
    assert found["auc_roc"] > 0.5


def test_chance_levels_raise_too(monkeypatch):
    found = dqeval.panel(SERIES.labels, SERIES.scores["late"], period=48, metrics=["auc_pr"])
    broken(monkeypatch, AttributeError("no attribute 'double'"))
    with pytest.raises(dqeval.MetricError, match=SENTENCE):
        found.chance(repeats=1)


@pytest.mark.usefixtures("_broken")
@pytest.mark.parametrize("command", ["score", "compare", "report"])
def test_the_command_line_says_so_and_exits_with_2(command, call, tmp_path):
    file = write_demo(tmp_path / "demo.csv")
    options = ["-o", tmp_path / "page.html"] if command == "report" else []
    done = call(command, file, "--period", "48", *options)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"dqeval: this is a bug in dqeval: MetricError: {SENTENCE}; ")
    assert len(done.err.splitlines()) == 1
    assert not (tmp_path / "page.html").exists()


def test_what_is_no_bug_in_dqeval(call, tmp_path, monkeypatch):
    file = write_demo(tmp_path / "demo.csv")
    broken(monkeypatch, ImportError("No module named 'x'"))
    advice = "DQEVAL_DEBUG=1 shows the traceback"
    done = call("score", file, "--period", "48")
    assert (done.code, done.err) == (
        2,
        f"dqeval: the metric auc_pr failed: ImportError: No module named 'x'; {advice}\n",
    )
    broken(monkeypatch, KeyError("x"))
    own = dataclasses.replace(METRICS["auc_pr"], function=lambda y_true, y_score: 0.0)
    monkeypatch.setitem(METRICS._entries, "auc_pr", own)
    done = call("score", file, "--period", "48")
    assert (done.code, done.err) == (2, f"dqeval: the metric auc_pr failed: KeyError: 'x'; {advice}\n")


@pytest.mark.usefixtures("_broken")
def test_a_benchmark_run_keeps_the_other_metrics(tmp_path):
    data = [{"generator": "synthetic", "count": 1, "n": 600, "period": 24, "events": 3}]
    plan = {"metrics": ["dqe", "auc_pr", "auc_roc"], "data": data, "detector": [{"name": "fft"}]}
    assert bench.run(plan, tmp_path / "run").failed == 1
    with Store(tmp_path / "run") as store:
        rows = {row["metric"]: row for row in store.rows()}
        (failure,) = store.failures()
    assert {metric: row["status"] for metric, row in rows.items() if metric != "detect"} == {
        "dqe": "ok",
        "auc_pr": "failed",
        "auc_roc": "ok",
    }
    assert rows["auc_pr"]["value"] is None
    assert rows["dqe"]["value"] > 0
    assert failure["reason"] == "AttributeError: no attribute 'double'"
    assert "in fail" in failure["traceback"]


def test_a_near_range_that_one_metric_cannot_take_fails_that_metric_alone(tmp_path):
    data = [{"generator": "synthetic", "count": 1, "n": 600, "period": 24, "events": 3}]
    plan = {"metrics": ["dqe", "vus_pr"], "near": 1e9, "data": data, "detector": [{"name": "fft"}]}
    assert bench.run(plan, tmp_path / "run").failed == 1
    with Store(tmp_path / "run") as store:
        (failure,) = store.failures()
    assert (failure["metric"], failure["parameters"]) == ("vus_pr", "{}")
    assert failure["reason"].startswith("ValueError: near 1e+09 will not do for vus_pr: window must be at most 10,000,")


def test_a_metric_of_detections_that_fails_harms_no_other(monkeypatch):
    """Though all are computed together, threshold by threshold; after its error it is not computed any more."""
    seen = []

    def fail(match):
        seen.append(match)
        raise ZeroDivisionError("x")

    whole = dqeval.panel(SERIES.labels, SERIES.scores["late"], near=24, metrics=["range_f1", "tapr_f1"])
    entry = dataclasses.replace(
        METRICS["range_f1"], compute=fail, at_every_level=None, joined=None, from_near={}, defaults={}
    )
    monkeypatch.setitem(METRICS._entries, "range_f1", entry)
    monkeypatch.setitem(METRICS._entries, "tapr_f1", dataclasses.replace(METRICS["tapr_f1"], at_every_level=None))
    scores = {"late": SERIES.scores["late"]}
    ((_, found),) = panels_and_errors(SERIES.labels, scores, near=24, metrics=["range_f1", "tapr_f1"])
    assert list(found.errors) == ["range_f1"]
    assert found.evaluation["tapr_f1"] == whole["tapr_f1"]
    assert len(seen) == 1
