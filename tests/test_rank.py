"""Rankings over many series: means, ranks, tests, agreement."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dqeval import bench
from dqeval.bench.ranking import rank_rows
from dqeval.bench.statistics import groups, holm


def rows(cube, metrics=("dqe", "auc_roc")):
    """Return rows from values as series × detectors × metrics."""
    return [
        {"unit": f"s{i}", "detector": f"d{j}", "metric": metric, "value": float(cube[i, j, k])}
        for i in range(cube.shape[0])
        for j in range(cube.shape[1])
        for k, metric in enumerate(metrics)
    ]


CUBE = np.random.RandomState(0).rand(30, 4, 2)
CUBE[:, 1, 0] += 0.4
CUBE[:, 2, 0] += 0.38


@pytest.fixture(scope="module")
def ranking():
    return rank_rows(rows(CUBE))


def test_means_ranks_and_intervals(ranking):
    assert ranking.detectors[0] == "d1"
    order = [int(name[1:]) for name in ranking.detectors]
    dqe = ranking.standings["dqe"]
    assert dqe.mean == pytest.approx(CUBE[:, order, 0].mean(axis=0))
    assert dqe.rank.tolist() == [1, 2, 3, 4]
    assert dqe.average_rank == pytest.approx(stats.rankdata(-CUBE[:, order, 0], axis=1).mean(axis=0))
    assert (dqe.low < dqe.mean).all()
    assert (dqe.mean < dqe.high).all()
    error = CUBE[:, order, 0].std(axis=0) / np.sqrt(30)
    assert dqe.high - dqe.low == pytest.approx(2 * 1.96 * error, rel=0.15)


def test_significance(ranking):
    by_name = {f"d{j}": CUBE[:, j, 0] for j in range(4)}
    assert ranking.significance.friedman == pytest.approx(stats.friedmanchisquare(*by_name.values()).pvalue)
    pairs = ranking.significance.pairs
    raw = [stats.wilcoxon(by_name[a], by_name[b]).pvalue for a, b in pairs]
    assert list(pairs.values()) == pytest.approx(holm(raw))
    assert ("d1", "d2") in ranking.significance.groups or ("d2", "d1") in ranking.significance.groups
    assert "Not told apart by DQE (5 % level, Wilcoxon, Holm): " in str(ranking)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_is_the_step_down_rule(p_values):
    corrected = holm(p_values)
    # From the definition: the largest of (m - j + 1) p_(j) over all that are not larger.
    ordered = sorted(p_values)
    for p, found in zip(p_values, corrected, strict=True):
        steps = [min(1.0, (len(ordered) - j) * q) for j, q in enumerate(ordered) if q <= p]
        assert found >= max(steps[: ordered.index(p) + 1]) - 1e-15
        assert found <= max(steps) + 1e-15


def test_agreement_is_the_mean_of_kendalls_tau(ranking):
    taus = [stats.kendalltau(unit[:, 0], unit[:, 1]).statistic for unit in CUBE]
    assert ranking.agreement[0, 1] == pytest.approx(np.mean(taus))
    assert np.diag(ranking.agreement) == pytest.approx([1, 1])


def test_agreement_where_a_metric_says_nothing():
    cube = CUBE[:3].copy()
    cube[:, :, 1] = 0.5
    found = rank_rows(rows(cube))
    assert np.isnan(found.agreement[0, 1])
    assert found.agreement[0, 0] == 1


def test_series_without_all_values_are_left_out():
    cube = CUBE.copy()
    cube[3, 2, 1] = np.nan
    found = rank_rows(rows(cube))
    assert (found.n, found.n_left_out) == (29, 1)
    assert "Means over 29 series; 1 left out, for which not every detector has a value." in str(found)
    with pytest.raises(ValueError, match=r"no metric of which .* \(DQE is lacking for d0 and d1; AUC-ROC is"):
        rank_rows(rows(np.full((2, 2, 2), np.nan)))
    with pytest.raises(ValueError, match="there is no value, and so there is nothing to compare"):
        rank_rows([])
    cube[::2, 1, 0] = cube[1::2, 2, 1] = np.nan
    told = r"no series .* \(DQE, AUC-ROC\) for every detector \(d0 has them on 30, d1 has them on 15, d2"
    with pytest.raises(ValueError, match=told):
        rank_rows(rows(cube))


def test_a_metric_that_some_detector_lacks_is_left_out():
    cube = CUBE.copy()
    cube[:, 2, 0] = np.nan
    found = rank_rows(rows(cube))
    assert (list(found.standings), found.n, found.metrics_left_out) == (["auc_roc"], 30, {"dqe": ("d2",)})
    assert "Left out: DQE, which has no value for d2." in str(found)


def test_no_minus_zero():
    found = rank_rows(rows(CUBE))
    found.agreement[0, 1] = -0.001
    assert found.agreement_table().rows[0][2] == "0.00"


def test_two_detectors_and_equals():
    same = np.repeat(CUBE[:10, :1], 2, axis=1)
    found = rank_rows(rows(same))
    assert np.isnan(found.significance.friedman)
    assert found.significance.pairs == {("d0", "d1"): 1.0}
    assert found.standings["dqe"].rank.tolist() == [1.5, 1.5]
    three = rank_rows(rows(np.repeat(CUBE[:10, :1], 3, axis=1)))
    assert np.isnan(three.significance.friedman)
    alone = rank_rows(rows(CUBE[:, :1]))
    assert alone.significance.groups == (("d0",),)
    assert alone.sentence() == "d0 is the only detector."
    assert "Kendall" not in str(alone)


def test_groups_are_stretches_no_two_of_which_differ():
    differ = {("a", "c"), ("a", "d"), ("b", "d")}
    found = groups("abcd", lambda x, y: (x, y) in differ)
    assert found == (("a", "b"), ("b", "c"), ("c", "d"))
    assert groups("abc", lambda x, y: False) == (("a", "b", "c"),)
    assert groups("abc", lambda x, y: True) == (("a",), ("b",), ("c",))


def test_metrics_that_are_not_known_here():
    found = rank_rows(rows(CUBE, metrics=("my_own", "dqe")))
    assert list(found.standings) == ["dqe", "my_own"]
    assert found.table().header[2] == "my_own"


def test_all_pairs_differ():
    cube = CUBE[:, :2].copy()
    cube[:, 0] += 5
    assert "All pairs differ by DQE" in rank_rows(rows(cube)).sentence()


def test_records_and_numbers(ranking):
    assert len(ranking.records()) == 8
    numbers = ranking.numbers()
    assert numbers["standings"] == ranking.records()
    assert numbers["metrics"] == ["dqe", "auc_roc"]
    assert len(numbers["pairs"]) == 6


def test_of_a_run_by_series_and_by_event(tmp_path):
    data = [{"generator": "synthetic", "count": 4, "n": 500, "period": 24, "events": 2}]
    plan = {"data": data, "detector": [{"name": "fft"}, {"name": "sr"}], "metrics": ["dqe", "auc_roc"]}
    bench.run(plan, tmp_path)
    assert bench.rank(tmp_path).n == 4
    by_event = bench.rank(tmp_path, by="event")
    assert by_event.n == 8
    assert list(by_event.standings) == ["dqe", "capture", "near_miss", "false_alarm"]
    assert "Means over 8 events." in str(by_event)
    assert bench.rank(tmp_path, dataset="synthetic").n == 4
    with pytest.raises(ValueError, match="there are no results of the dataset other to rank"):
        bench.rank(tmp_path, dataset="other")
    with pytest.raises(ValueError, match='by must be "series" or "event"'):
        bench.rank(tmp_path, by="point")


def test_without_scipy(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "scipy", None)
    with pytest.raises(ValueError, match=r"rankings need SciPy: pip install 'scipy>=1.11'"):
        rank_rows(rows(CUBE))
