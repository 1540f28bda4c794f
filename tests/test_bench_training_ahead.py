"""Detectors that work on many series at once: the same results, made ahead of the jobs."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dqeval
from dqeval import bench
from dqeval.bench import training_ahead
from dqeval.bench.jobs import jobs_of, run_job
from dqeval.bench.plan import PlannedDetector, make_plan
from dqeval.bench.pool import Limits, Worker, WorkFailedError
from dqeval.bench.store import Store
from dqeval.bench.training_ahead import NOTE, Group, groups_for, make_scores
from dqeval.detectors import deep

TESTS = Path(__file__).parent


@pytest.fixture(autouse=True, scope="module")
def _odd_detectors(odd_detectors):
    """Have the detectors that plans here name."""


def plan(count=3, seeds=(0, 1), **parameters):
    return {
        "modules": ["odd_detectors"],
        "modules_in": str(TESTS),
        "metrics": ["dqe", "auc_roc"],
        "seeds": list(seeds),
        "data": [{"generator": "synthetic", "count": count, "n": 400, "period": 20, "events": 2}],
        "detector": [{"name": "gathered", **parameters}, {"name": "fft"}],
    }


def rows(folder):
    with Store(folder) as store:
        return {(row["series"], row["detector"], row["seed"], row["metric"]): row for row in store.rows()}


def numbers(folder):
    return {key: row["value"] for key, row in rows(folder).items()}


def jobs(place, **options):
    found = jobs_of(make_plan(plan(**options)), Path(place), "1")
    return [job for job in found if job.detector.name == "gathered"]


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("alone")
    assert bench.run(plan(), folder, at_once=1).failed == 0
    return folder


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.unmeasured)])
def test_the_same_numbers(alone, tmp_path, workers):
    told = []
    state = bench.run(plan(folder=""), tmp_path, workers=workers, at_once=4, progress=told.append)
    assert (state.done, state.failed, state.left, state.made_together) == (9, 0, 0, 6)
    assert numbers(tmp_path) == numbers(alone)
    found = rows(tmp_path)
    assert {
        row["reason"] for (_, name, _, metric), row in found.items() if (name, metric) == ("gathered", "detect")
    } == {NOTE.format(5)}
    assert found["synthetic_0", "fft", 0, "detect"]["reason"] == ""
    assert str(state).endswith("; scores of 6 jobs made together")
    assert told[0].made_together == 0


def test_one_group_has_all_series_and_seeds(tmp_path):
    calls = tmp_path / "calls"
    calls.mkdir()
    bench.run(plan(folder=str(calls)), tmp_path / "run", at_once=4)
    assert [path.name for path in calls.iterdir()] == ["6 4 0"]


def test_seconds_are_shares(tmp_path, monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr(training_ahead.time, "perf_counter", lambda: float(next(clock)))
    group = jobs(tmp_path)
    assert list(make_scores(Group(group, 4))) == [(number, True) for number in range(6)]
    found = [next(row for row in run_job(job).rows if row.metric == "detect") for job in group]
    assert [row.seconds for row in found] == [0.5] * 6
    assert {row.reason for row in found} == {NOTE.format(5)}


def test_what_is_there_is_not_made_again(tmp_path):
    group = jobs(tmp_path)
    run_job(group[2])
    first, *others = make_scores(Group(group, 4))
    assert (first, len(others)) == ((2, False), 5)
    assert list(make_scores(Group(group, 4))) == [(number, False) for number in range(6)]


def test_groups_of_so_many_points(tmp_path, monkeypatch):
    calls = tmp_path / "calls"
    calls.mkdir()
    monkeypatch.setattr(training_ahead, "POINTS", 1000)
    group = jobs(tmp_path / "scores", folder=str(calls), count=5, seeds=[0])
    assert [number for number, _ in make_scores(Group(group, 4))] == list(range(5))
    assert sorted(path.name for path in calls.iterdir()) == ["1 4 2", "2 4 0", "2 4 1"]


def test_fewer_at_once_where_memory_runs_out(tmp_path):
    calls = tmp_path / "calls"
    calls.mkdir()
    group = jobs(tmp_path / "scores", fails="memory", folder=str(calls))
    assert list(make_scores(Group(group, 8))) == [(number, True) for number in range(6)]
    assert sorted(path.name for path in calls.iterdir()) == ["4 2 2", "5 4 1", "6 8 0"]


def test_that_memory_ran_out_is_not_forgotten(tmp_path, monkeypatch):
    calls = tmp_path / "calls"
    calls.mkdir()
    monkeypatch.setattr(training_ahead, "POINTS", 1000)
    group = jobs(tmp_path / "scores", fails="memory", folder=str(calls), count=5, seeds=[0])
    assert list(make_scores(Group(group, 4))) == [(number, True) for number in range(5)]
    assert sorted(path.name for path in calls.iterdir()) == ["1 2 1", "1 2 3", "2 2 2", "2 4 0"]


def test_a_series_that_cannot_be_read_is_left_to_its_job(tmp_path):
    path = tmp_path / "data" / "a.csv"
    path.parent.mkdir()
    path.write_text("value,label\n1,0\n2,1\n")
    content = {**plan(seeds=[0]), "data": [{"path": str(path)}]}
    group = [job for job in jobs_of(make_plan(content), tmp_path, "1") if job.detector.name == "gathered"]
    path.write_text("value\n1\n")
    assert list(make_scores(Group(group, 4))) == [(0, False)]
    path.write_text("value,label\nx,0\n")
    assert list(make_scores(Group(group, 4))) == [(0, False)]


def test_errors_in_a_group(tmp_path):
    """Of one series, which is left to its job, and of all."""
    assert list(make_scores(Group(jobs(tmp_path, fails="some"), 4))) == [(number, False) for number in range(6)]
    with pytest.raises(RuntimeError, match="no group today"):
        list(make_scores(Group(jobs(tmp_path, fails="all"), 4)))
    assert not list(tmp_path.glob("scores/*/*.npy"))


@pytest.mark.parametrize(
    ("fails", "failed", "made", "problem"),
    [
        ("some", 6, 0, ""),
        ("twice", 0, 6, ""),
        ("all", 0, 0, "RuntimeError: no group today"),
        ("dies", 0, 0, "the process died (signal 9): out of memory, or a crash"),
    ],
)
def test_jobs_that_no_group_could_help_work_alone(tmp_path, fails, failed, made, problem):
    state = bench.run(plan(fails=fails), tmp_path, at_once=4)
    assert (state.done, state.failed, state.made_together, state.problem) == (9, failed, made, problem)
    reasons = {row["reason"] for key, row in rows(tmp_path).items() if key[1] == "gathered" and key[3] == "detect"}
    assert reasons == {"ValueError: not this" if failed else NOTE.format(5) if made else ""}


def test_a_run_that_is_killed_keeps_what_the_group_has_made(tmp_path):
    """Of a group of six, four have come out when everything is killed."""
    script = f"""
import sys
sys.path.insert(0, {str(TESTS)!r})
from dqeval import bench
import test_bench_training_ahead as tests
bench.run(tests.plan(fails="hangs"), {str(tmp_path / "run")!r}, at_once=4)
"""
    process = subprocess.Popen([sys.executable, "-c", script], start_new_session=True)
    until = time.monotonic() + 60
    while len(list((tmp_path / "run").glob("scores/*/*.npy"))) < 4 + 3 and time.monotonic() < until:  # and those of fft
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    state = bench.run(plan(fails="hangs"), tmp_path / "run", at_once=1)
    assert (state.left, state.failed) == (0, 0)
    notes = [
        row["reason"] for key, row in rows(tmp_path / "run").items() if key[1] == "gathered" and key[3] == "detect"
    ]
    assert sorted(notes) == ["", "", *[NOTE.format(5)] * 4]


def test_an_error_of_the_run_stops_the_groups(tmp_path):
    """The one that is at work, and the one that waits."""

    def refuse(state):
        if state.done:
            raise KeyboardInterrupt

    content = plan(fails="hangs", count=4)
    second = {**content["detector"][0], "label": "second", "folder": str(tmp_path)}
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        bench.run({**content, "detector": [*content["detector"], second]}, tmp_path, at_once=4, progress=refuse)
    assert time.monotonic() - began < 60


def test_an_error_in_the_thread_is_raised(tmp_path, monkeypatch):
    monkeypatch.setattr(training_ahead.Training, "_make", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        bench.run(plan(), tmp_path, at_once=4)


def test_another_metric_finds_the_scores(tmp_path):
    bench.run(plan(), tmp_path, at_once=4)
    state = bench.run({**plan(), "metrics": ["dqe"]}, tmp_path, at_once=4)
    assert (state.done, state.made_together) == (9, 0)


class TestWhoWorksOnMany:
    ABLE = PlannedDetector("cnn", "cnn", ())
    ON_CPU = PlannedDetector("cpu", "timesnet", (("device", "cpu"),))
    OWN = PlannedDetector("gathered", "gathered", ())
    PLAIN = PlannedDetector("fft", "fft", ())
    ALL = (ABLE, ON_CPU, OWN, PLAIN)

    def test_as_told(self):
        assert groups_for(1, self.ALL).detectors == frozenset()
        assert groups_for(7, self.ALL) == training_ahead.Groups(frozenset(self.ALL[:3]), 7)
        with pytest.raises(ValueError, match="at_once must be a whole number of at least 1: got 0"):
            groups_for(0, self.ALL)

    @pytest.mark.parametrize(("card", "expected"), [(True, {ABLE}), (False, set())])
    def test_those_that_may_use_a_card_if_there_is_one(self, monkeypatch, card, expected):
        monkeypatch.setattr(training_ahead, "find_spec", lambda name: name)  # as if PyTorch were installed
        monkeypatch.setattr(Worker, "call", lambda self, function, argument: card)
        assert groups_for(None, self.ALL) == training_ahead.Groups(frozenset(expected), 256)

    def test_nobody_is_asked_where_nothing_follows(self, monkeypatch):
        monkeypatch.setattr(training_ahead, "_card_in_own_process", lambda: pytest.fail("asked"))
        assert groups_for(None, self.ALL[1:]).detectors == frozenset()

    def test_without_pytorch(self, monkeypatch):
        monkeypatch.setattr(training_ahead, "find_spec", lambda name: None)
        assert groups_for(None, self.ALL).detectors == frozenset()

    def test_a_broken_pytorch(self, monkeypatch):
        def broken(*_):
            raise WorkFailedError("ImportError: libcudart")

        monkeypatch.setattr(Worker, "call", broken)
        assert groups_for(None, self.ALL).detectors == frozenset()

    def test_the_card(self, monkeypatch):
        torch = pytest.importorskip("torch")
        monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
        assert training_ahead.has_card(None) is True


def test_items_come_one_after_the_other():
    worker = Worker(Limits())
    try:
        assert list(worker.stream(range_of, 3)) == [0, 1, 2]
        assert worker.call(abs, -2) == 2
        found = worker.stream(range_of, -1)
        with pytest.raises(WorkFailedError, match="no such range"):
            list(found)
    finally:
        worker.stop()


def test_a_group_takes_no_longer_than_its_jobs_may(tmp_path):
    state = bench.run({**plan(fails="hangs", seeds=[0]), "timeout": 1}, tmp_path, at_once=4)
    assert (state.done, state.failed, state.made_together) == (6, 0, 3)
    assert state.problem == "took longer than the limit of 3 seconds"


def range_of(count):
    """Yield some numbers."""
    if count < 0:
        raise ValueError("no such range")
    yield from range(count)


@pytest.mark.torch
@pytest.mark.slow
def test_networks(tmp_path, monkeypatch, request):
    """TimesNet of two series and two seeds: as alone but for rounding."""
    torch = pytest.importorskip("torch")
    whole = deep.errors_of_all
    monkeypatch.setattr(deep, "errors_of_all", lambda network, *a, **o: whole(replace(network, epochs=1), *a, **o))
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    request.addfinalizer(lambda: torch.set_num_threads(threads))
    data = [{"generator": "synthetic", "count": 2, "n": 800, "period": 20, "events": 2}]
    content = {**plan(), "data": data, "detector": [{"name": "timesnet"}]}
    group = list(jobs_of(make_plan(content), tmp_path, "1"))
    assert sorted(make_scores(Group(group, 3))) == [(number, True) for number in range(4)]
    for job in group:
        series = job.series.source.read()
        kept = training_ahead.kept_scores(job, series)
        alone = dqeval.detect(series, "timesnet", seed=job.seed)
        assert np.corrcoef(kept, alone)[0, 1] > 1 - 1e-6
