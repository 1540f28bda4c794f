"""The perfect and the silent detector: evaluated with the others, and not ranked among them."""

import json
import math
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest

import dqeval
from dqeval import bench
from dqeval.bench.bounds import BOUNDS, bound_scores
from dqeval.bench.ranking import rank_rows
from dqeval.bench.store import Store
from dqeval.render.bench_page import bench_report

PLAN = {
    "metrics": ["dqe", "auc_roc", "auc_pr"],
    "bounds": True,
    "data": [{"generator": "synthetic", "count": 3, "n": 400, "period": 20, "events": 2}],
    "detector": [{"name": "fft"}, {"name": "sr"}],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("run")
    state = bench.run(PLAN, place)
    assert (state.done, state.failed, state.total) == (12, 0, 12)
    return place


def values(folder):
    with Store(folder) as store:
        return {(row["series"], row["detector"], row["metric"]): row["value"] for row in store.rows()}


def test_the_scores():
    labels = np.array([False, True])
    assert {name: bound_scores(name, labels).tolist() for name in BOUNDS} == {"perfect": [0, 1], "silent": [0, 0]}


def test_what_metrics_say(folder):
    found = values(folder)
    for number in range(3):
        labels = dqeval.datasets.synthetic(n=400, period=20, events=2, seed=number).labels
        series = f"synthetic_{number}"
        assert [found[series, "perfect", metric] for metric in PLAN["metrics"]] == [1, 1, 1]
        silent = [found[series, "silent", metric] for metric in PLAN["metrics"]]
        assert silent == pytest.approx([0, 0.5, labels.mean()])
        assert (series, "perfect", "detect") not in found


def test_ranks_and_tests_are_those_without_bounds(folder, tmp_path):
    bench.run({**PLAN, "bounds": False}, tmp_path)
    for by in ("series", "event"):
        with_bounds, without = (bench.rank(place, by=by) for place in (folder, tmp_path))
        assert without.bounds == {}
        one, other = with_bounds.numbers(), without.numbers()
        assert one.pop("bounds") == with_bounds.bounds
        del other["bounds"]
        assert json.dumps(one) == json.dumps(other)  # NaN is not equal to itself
        assert with_bounds.bounds["perfect"]["dqe"] == 1
        assert with_bounds.bounds["silent"]["dqe"] == 0


def test_they_are_shown_apart(folder, tmp_path):
    text = str(bench.rank(folder))
    assert re.search(r"^perfect +1\.000 +1\.000 +1\.000$", text, re.MULTILINE)
    assert re.search(r"^silent +0\.000 +0\.500 +0\.\d{3}$", text, re.MULTILINE)
    assert "Bounds are not ranked: perfect has the labels as scores" in text
    bench_report(folder, tmp_path / "bench.html")
    page = (tmp_path / "bench.html").read_text(encoding="utf-8")
    assert page.count("Bounds are not ranked") == 1
    board = page[page.index("Leaderboard") : page.index("Bounds are not ranked")]
    assert board.index("fft") < board.index("perfect")
    assert all("perfect" not in each.read_text(encoding="utf-8") for each in (tmp_path / "bench_series").glob("*.html"))


def test_a_plan_that_loses_its_bounds(folder, tmp_path):
    bench.run(PLAN, tmp_path)
    bench.run({**PLAN, "bounds": False}, tmp_path)
    found = bench.rank(tmp_path)
    assert (found.bounds, found.not_planned, found.without_value) == ({}, (), ())


def test_only_bounds_have_values(tmp_path):
    """A detector that fails leaves nothing to rank."""
    plan = {**PLAN, "detector": [{"name": "moving_z_score", "window": 5000}]}
    assert bench.run(plan, tmp_path).failed == 3
    with pytest.raises(ValueError, match="there are no results to rank"):
        bench.rank(tmp_path)


def test_means_are_over_what_is_ranked_and_undefined_where_a_value_is_lacking():
    rows = [
        {"unit": unit, "detector": name, "metric": "dqe", "value": value}
        for name, of_name in {"a": {"x": 0.2, "y": 0.4}, "b": {"x": 0.1, "y": 0.3, "z": 0.3}}.items()
        for unit, value in of_name.items()
    ]
    bounds = [("perfect", "x", 1.0), ("perfect", "y", 0.5), ("perfect", "z", 0.0), ("silent", "x", 0.0)]
    rows += [{"unit": unit, "detector": name, "metric": "dqe", "value": value} for name, unit, value in bounds]
    found = rank_rows(rows)
    assert (found.detectors, found.n, found.n_left_out) == (("a", "b"), 2, 1)
    assert found.bounds["perfect"] == {"dqe": 0.75}
    assert math.isnan(found.bounds["silent"]["dqe"])
    assert re.search(r"^silent +undefined$", str(found), re.MULTILINE)


def test_the_plan_of_the_leaderboard():
    content = tomllib.loads((Path(__file__).parent.parent / "docs" / "leaderboard" / "plan.toml").read_text())
    assert content.pop("data") == [{"path": "data/ucr.npz"}, {"path": "data/wsd.npz"}]
    plan = bench.make_plan({**content, "data": PLAN["data"]})
    assert [each.name for each in plan.detectors] == list(dqeval.detectors.DETECTORS.names)
    assert not any(each.parameters for each in plan.detectors)  # the correct forms
    assert plan.metrics == bench.make_plan({**PLAN, "metrics": ["default"]}).metrics
    assert (plan.seeds, plan.bounds) == ((0, 1, 2, 3, 4), True)


def write(path, **scores):
    series = dqeval.datasets.synthetic(n=400, period=20, events=2)
    columns = {"value": series.values, "label": series.labels, **scores}
    np.savetxt(path, np.column_stack(list(columns.values())), delimiter=",", header=",".join(columns), comments="")


def test_scores_of_ones_own_have_bounds_too(tmp_path):
    """Once, also where detectors work on the same series."""
    for name in ("both", "scores"):
        (tmp_path / name).mkdir()
    write(tmp_path / "both" / "a.csv")
    write(tmp_path / "scores" / "a.csv", own=np.arange(400))
    write(tmp_path / "scores" / "b.csv", own=np.arange(400))
    content = {"metrics": ["dqe"], "bounds": True, "scores": [{"path": "scores"}]}
    only = bench.make_plan(content, folder=tmp_path)
    assert bench.run(only, tmp_path / "run").done == 6
    both = bench.make_plan({**content, "data": [{"path": "both"}], "detector": [{"name": "fft"}]}, folder=tmp_path)
    state = bench.run(both, tmp_path / "mixed")
    assert (state.done, state.failed) == (7, 0)
    assert bench.run(both, tmp_path / "mixed").done == 0
    assert values(tmp_path / "mixed")["b", "perfect", "dqe"] == 1


def test_names_that_are_taken(tmp_path):
    with pytest.raises(ValueError, match="the label of the detector fft may not be 'silent'"):
        bench.make_plan({**PLAN, "detector": [{"name": "fft", "label": "silent"}]})
    with pytest.raises(ValueError, match="bounds must be true or false: got 1"):
        bench.make_plan({**PLAN, "bounds": 1})
    (tmp_path / "scores").mkdir()
    write(tmp_path / "scores" / "a.csv", perfect=np.arange(400))
    state = bench.run(bench.make_plan({"scores": [{"path": "scores"}]}, folder=tmp_path), tmp_path / "run")
    assert state.failed == 1
    with Store(tmp_path / "run") as store:
        (failure,) = store.failures()
    assert failure["reason"] == "a column of scores is called 'perfect', as bounds are in the results: rename it"
