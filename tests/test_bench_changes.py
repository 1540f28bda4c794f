"""Plans that change from one run to the next: times stay true, and what is ranked is what is still planned."""

import re
import shutil
import sqlite3
from collections import Counter

import numpy as np
import pytest

import dqeval
from commands import caller
from dqeval import bench
from dqeval.bench.jobs import kept_scores, scores_of
from dqeval.bench.runner import State, _jobs
from dqeval.datasets import synthetic
from dqeval.render.bench_page import bench_report
from test_bench import one_job

SLOW, QUICK, RAISES = {"name": "slow", "seconds": 0.2}, {"name": "quick"}, {"name": "raises"}
PLAN = {
    "modules": ["odd_detectors"],
    "metrics": ["dqe"],
    "data": [{"generator": "synthetic", "count": 3, "n": 400, "period": 16, "events": 3}],
    "detector": [QUICK, {"name": "fft"}],
}


@pytest.fixture(autouse=True, scope="module")
def _odd_detectors(odd_detectors):
    """Have the detectors that plans here name."""


def plan(*detectors, **changes):
    return {**PLAN, "detector": list(detectors), **changes}


def write_scores(path, *, value=False, n=200, **scores):
    """Write a file of scores, with values or without."""
    labels = np.arange(n) % 50 > 44
    columns = {"value": np.sin(np.arange(n) / 3)} if value else {}
    columns |= {"label": labels.astype(int), **scores}
    path.parent.mkdir(exist_ok=True)
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")


# Times ---------------------------------------------------------------------------------------------------------------


def times(folder):
    with bench.Store(folder) as store:
        return {(row["series"], row["seed"]): row["seconds"] for row in store.rows() if row["metric"] == "detect"}


@pytest.mark.parametrize("shards", [1, 2])
def test_the_time_of_a_detector_is_that_of_making_its_scores(tmp_path, shards):
    def run(metrics):
        parts = [tmp_path / f"part{i}" for i in range(shards)]
        for i, part in enumerate(parts):
            bench.run(plan(SLOW, metrics=metrics), part, shard=(i + 1, shards))
        bench.merge(parts, tmp_path / "all")
        return times(tmp_path / "all")

    first = run(["dqe"])
    assert all(seconds >= 0.2 for seconds in first.values())
    assert run(["dqe", "auc_roc"]) == first


def test_scores_are_kept_as_numpy_files(tmp_path):
    series = synthetic(n=400, period=16, events=2)
    job = one_job(tmp_path, "quick")
    scores = scores_of(job, series)
    (path,) = tmp_path.rglob("*.npy")
    assert np.load(path).tolist() == scores.tolist() == kept_scores(job, series).tolist()
    np.save(path, scores[::-1])  # by somebody else, without a digest
    assert kept_scores(job, series) is None
    assert scores_of(job, series).tolist() == scores.tolist()


# What is ranked ------------------------------------------------------------------------------------------------------


@pytest.mark.unmeasured
def test_a_detector_that_is_no_longer_planned_is_not_ranked(tmp_path):
    bench.run(plan(QUICK, {"name": "fft"}), tmp_path)
    assert bench.run(plan(QUICK, {"name": "sr"}, metrics=["dqe", "auc_roc"]), tmp_path).done == 6
    found = bench.rank(tmp_path)
    assert set(found.detectors) == {"quick", "sr"}
    assert (found.not_planned, found.n, found.n_left_out) == (("fft",), 3, 0)
    assert "\n\nNo longer in the plan, and so not ranked: fft.\n\n" in str(found)
    assert found.numbers()["not_planned"] == ["fft"]
    assert set(bench.rank(tmp_path, by="event").detectors) == {"quick", "sr"}
    bench.merge([tmp_path], tmp_path / "merged")
    assert bench.rank(tmp_path / "merged").not_planned == ("fft",)
    bench_report(tmp_path, tmp_path / "bench.html")
    text = (tmp_path / "bench.html").read_text(encoding="utf-8")
    assert "<p>No longer in the plan, and so not ranked: fft.</p>" in text
    assert "6 jobs done, 0 failed" in text


def test_files_of_scores_that_are_no_longer_planned(tmp_path):
    write_scores(tmp_path / "mine" / "a.csv", mine=range(200))
    scores = {"metrics": ["dqe"], "near": 5, "scores": [{"path": str(tmp_path / "mine")}]}
    bench.run(scores, tmp_path / "run")
    assert bench.rank(tmp_path / "run").detectors == ("mine",)
    bench.run(plan(QUICK), tmp_path / "run")
    assert bench.rank(tmp_path / "run").not_planned == ("mine",)


def test_a_folder_that_does_not_say_what_was_planned(tmp_path):
    bench.run(plan(QUICK, {"name": "fft"}), tmp_path)
    with sqlite3.connect(tmp_path / "results.sqlite") as database:
        database.execute("DROP TABLE plan")
    assert set(bench.rank(tmp_path).detectors) == {"quick", "fft"}


def test_a_detector_that_never_gave_a_value(tmp_path):
    bench.run(plan(QUICK, RAISES), tmp_path)
    found = bench.rank(tmp_path)
    assert (found.detectors, found.without_value) == (("quick",), ("raises",))
    assert "Without any value, and so not ranked: raises." in str(found)
    bench.run(plan(RAISES), tmp_path / "alone")
    with pytest.raises(ValueError, match=r"no results to rank; dqeval bench failures .* says what failed"):
        bench.rank(tmp_path / "alone")


def test_series_that_failed_for_all_count_as_left_out(tmp_path):
    for name, first in (("a", 0), ("b", "nan")):
        write_scores(tmp_path / "mine" / f"{name}.csv", mine=[first, *range(199)])
    (tmp_path / "mine" / "c.csv").write_text("label,mine\n0,x\n")
    content = {"metrics": ["dqe"], "near": 5, "scores": [{"path": str(tmp_path / "mine")}]}
    bench.run(content, tmp_path / "run")
    found = bench.rank(tmp_path / "run")
    assert (found.n, found.n_left_out, found.without_value) == (1, 2, ())


def test_metrics_that_only_some_detectors_have(tmp_path):
    bench.run(plan(QUICK, {"name": "fft"}), tmp_path / "one")
    bench.run(plan({"name": "sr"}, metrics=["dqe", "auc_roc"]), tmp_path / "other")
    bench.merge([tmp_path / "one", tmp_path / "other"], tmp_path / "all")
    found = bench.rank(tmp_path / "all")
    assert (set(found.detectors), list(found.standings)) == ({"quick", "fft", "sr"}, ["dqe"])
    assert "Left out: AUC-ROC, which has no value for fft and quick." in str(found)
    assert found.numbers()["metrics_left_out"] == {"auc_roc": ["fft", "quick"]}


def test_no_metric_that_all_detectors_have(tmp_path):
    bench.run(plan(QUICK), tmp_path / "one")
    bench.run(plan({"name": "sr"}, metrics=["auc_roc"]), tmp_path / "other")
    bench.merge([tmp_path / "one", tmp_path / "other"], tmp_path / "all")
    told = "no metric of which every detector has a value \\(DQE is lacking for sr; AUC-ROC is lacking for quick\\)"
    with pytest.raises(ValueError, match=told):
        bench.rank(tmp_path / "all")


def test_failures_of_what_is_no_longer_planned_are_not_told(tmp_path, monkeypatch, capsys):
    call = caller(monkeypatch, capsys)
    text = (
        'metrics = ["auc_roc"]\n[[data]]\ngenerator = "synthetic"\nn = 500\nperiod = 16\n[[detector]]\nname = "fft"\n'
    )
    bad = text + '[[detector]]\nname = "kmeans_ad"\nclusters = 9999\n'
    for content, code in ((bad, 3), (text, 0)):
        (tmp_path / "plan.toml").write_text(content)
        assert call("bench", "run", tmp_path / "plan.toml", "-o", tmp_path / "run", "--workers", 0).code == code
    assert call("bench", "failures", tmp_path / "run").out == "Nothing failed.\n"
    assert call("bench", "status", tmp_path / "run").out == "1 of 1 jobs done, 0 failed, 0 left\n"
    shutil.move(tmp_path / "run" / "plan.json", tmp_path / "gone.json")
    assert call("bench", "status", tmp_path / "run").out.startswith(
        "1 job done, 0 failed; the number of jobs left is unknown"
    )


# How far a run is ----------------------------------------------------------------------------------------------------


def test_how_far_a_run_is_in_words():
    assert str(State(3, 1, 0, 5)) == "2 of 5 jobs done, 1 failed, 2 left"
    assert str(State(3, 1, 4, 1207, 2)) == "4 of 1,207 jobs done (2 before), 3 failed, 1,200 left"


def test_what_failed_before_is_told_again(tmp_path):
    bench.run(plan(QUICK, RAISES), tmp_path)
    assert bench.run(plan(QUICK, RAISES), tmp_path) == State(0, 0, 6, 6, 3)


# Shards --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
@pytest.mark.parametrize("seeds", [[0], [0, 1]])
def test_shards_have_every_job_once_and_spread_the_detectors(tmp_path, parts, seeds):
    checked = bench.make_plan(plan(QUICK, {"name": "slow"}, seeds=seeds))
    dealt = [list(_jobs(checked, tmp_path, part, parts)) for part in range(1, parts + 1)]
    every = Counter(job.id for jobs in dealt for job in jobs)
    assert len(every) == 6 * len(seeds)
    assert set(every.values()) == {1}
    if parts < 4:
        assert all({job.detector.name for job in jobs} == {"quick", "slow"} for jobs in dealt)
        assert max(map(len, dealt)) - min(map(len, dealt)) <= 1


# Scores without values -----------------------------------------------------------------------------------------------


def test_scores_without_values_need_near_or_period(tmp_path):
    write_scores(tmp_path / "mine" / "a.csv", mine=range(200))
    content = {"metrics": ["dqe"], "scores": [{"path": "mine"}]}
    told = (
        r"a\.csv: without one column of finite values the period cannot be estimated: give near or period in the plan"
    )
    with pytest.raises(ValueError, match=told):
        bench.make_plan(content, folder=tmp_path)
    for given in ("near", "period"):
        assert bench.make_plan({**content, given: 5}, folder=tmp_path).series
    write_scores(tmp_path / "mine" / "a.csv", value=True, mine=range(200))
    assert bench.make_plan(content, folder=tmp_path).series


def test_where_that_shows_only_when_the_file_is_read(tmp_path):
    (tmp_path / "mine").mkdir()
    np.savez(tmp_path / "mine" / "a.npz", label=np.arange(200) % 50 > 44, mine=np.arange(200.0))
    checked = bench.make_plan({"metrics": ["dqe"], "scores": [{"path": "mine"}]}, folder=tmp_path)
    assert bench.run(checked, tmp_path / "run").failed == 1
    with bench.Store(tmp_path / "run") as store:
        (row,) = store.failures()
    assert row["reason"].startswith("without one column of finite values the period cannot be estimated")


def test_a_missing_value_changes_no_near_range(tmp_path):
    write_scores(tmp_path / "mine" / "a.csv", value=True, mine=np.random.default_rng(0).random(200))
    path = tmp_path / "mine" / "a.csv"
    lines = path.read_text().splitlines()
    lines[100] = "," + lines[100].partition(",")[2]
    path.write_text("\n".join(lines) + "\n")
    bench.run({"metrics": ["dqe"], "scores": [{"path": str(path.parent)}]}, tmp_path / "run")
    with bench.Store(tmp_path / "run") as store:
        (row,) = store.rows()
    found = dqeval.compare(path, repeats=1)
    assert found.near.source == "half the estimated period, 1 missing value filled"
    assert row["value"] == found.panels["mine"].values["dqe"]


def test_values_that_tell_no_period_are_a_failed_row(tmp_path):
    write_scores(tmp_path / "mine" / "a.csv", value=True, mine=range(200))
    path = tmp_path / "mine" / "a.csv"
    path.write_text(path.read_text().replace("0.0,", "inf,", 1))
    assert bench.run({"metrics": ["dqe"], "scores": [{"path": str(path.parent)}]}, tmp_path / "run").failed == 1
    with bench.Store(tmp_path / "run") as store:
        (row,) = store.failures()
    assert re.search("values .* inf", row["reason"])
