"""Rankings over many series: means, ranks, tests, agreement."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dqeval import bench
from dqeval.bench.ranking import rank_rows
from dqeval.bench.statistics import groups, holm, seeds_of, standing_of


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
CUBE /= 2


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
    assert all(interval.low < mean < interval.high for mean, interval in zip(dqe.mean, dqe.intervals, strict=True))
    error = CUBE[:, order, 0].std(axis=0, ddof=1) / np.sqrt(30)
    widths = [interval.high - interval.low for interval in dqe.intervals]
    assert widths == pytest.approx(2 * stats.t.ppf(0.975, 29) * error, rel=0.1)
    assert np.isnan(dqe.seed_deviation).all()


def test_significance(ranking):
    by_name = {f"d{j}": CUBE[:, j, 0] for j in range(4)}
    assert ranking.significance.friedman == pytest.approx(stats.friedmanchisquare(*by_name.values()).pvalue)
    pairs = ranking.significance.pairs
    raw = [stats.wilcoxon(by_name[a], by_name[b]).pvalue for a, b in pairs]
    assert list(pairs.values()) == pytest.approx(holm(raw))
    assert ("d1", "d2") in ranking.significance.groups or ("d2", "d1") in ranking.significance.groups
    assert "Not told apart by DQE (5 % level, Wilcoxon, Holm over 6 pairs): " in str(ranking)


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


def test_a_mean_of_nab_is_not_the_score_of_a_corpus():
    assert "NAB: a mean over series is not the score of a corpus" in str(rank_rows(rows(CUBE, ("dqe", "nab_score"))))


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
    assert "All pairs are told apart by DQE" in rank_rows(rows(cube)).sentence()


def test_too_few_series_for_the_tests():
    """Eight detectors are 28 pairs: with ten series, p is 28 / 2 ** 9 at least, with eleven half of that."""
    cube = np.arange(8.0) / 8 + np.linspace(0, 0.01, 11)[:, None] * np.linspace(1, 2, 8)  # the same order everywhere
    said = "10 series are too few for this test to tell any two of them apart."
    assert said in rank_rows(rows(cube[:10, :, None], metrics=("dqe",))).sentence()
    found = rank_rows(rows(cube[:, :, None], metrics=("dqe",))).sentence()
    assert "too few" not in found
    assert "All pairs are told apart by DQE (5 % level, Wilcoxon, Holm over 28 pairs)" in found


def test_records_and_numbers(ranking):
    assert len(ranking.records()) == 8
    numbers = ranking.numbers()
    assert [{**row, "seed_deviation": None} for row in numbers["standings"]] == [
        {**row, "seed_deviation": None} for row in ranking.records()
    ]
    assert numbers["metrics"] == ["dqe", "auc_roc"]
    assert len(numbers["pairs"]) == 6


def by_event(random, n_series, n_events, between=0.2, within=0.05):
    """Return rows of events that are alike in each series."""
    level = np.repeat(random.normal(0.5, between, n_series), n_events)
    values = np.clip(level[:, None] + [0, 0.02] + random.normal(0, within, (n_series * n_events, 2)), 0, 1)
    return [
        {"unit": (f"s{i // n_events}", i), "detector": f"d{j}", "metric": "dqe", "value": float(values[i, j])}
        for i in range(len(values))
        for j in range(2)
    ]


def test_by_event_whole_series_are_drawn():
    found = rank_rows(by_event(np.random.RandomState(1), 12, 10), by="event")
    apart = rank_rows([{**row, "unit": str(row["unit"])} for row in by_event(np.random.RandomState(1), 12, 10)])
    dqe, naive = found.standings["dqe"], apart.standings["dqe"]
    assert dqe.mean == pytest.approx(naive.mean)
    assert {(interval.units, interval.unit) for interval in dqe.intervals} == {(12, "series")}
    for clustered, independent in zip(dqe.intervals, naive.intervals, strict=True):
        assert clustered.high - clustered.low > 2 * (independent.high - independent.low)
    # The tests too: twelve series do not tell apart what 120 independent events would.
    assert found.significance.pairs["d1", "d0"] > apart.significance.pairs["d1", "d0"]
    assert "Wilcoxon on the means per series" in found.sentence()


def test_too_few_series_have_no_interval():
    found = rank_rows(by_event(np.random.RandomState(1), 3, 50), by="event")
    assert [row[-2] for row in found.table().rows] == ["too few: 3 series"] * 2
    assert all(np.isnan(row["low"]) and np.isnan(row["high"]) for row in found.records())


def seeded(shift, noise, n_series=40, n_seeds=4):
    """Return rows of two detectors: one with several seeds, each of which shifts all series alike, and one without."""
    random = np.random.RandomState(3)
    series = random.normal(0.5, 0.1, n_series)
    values = series[:, None] + shift * np.arange(n_seeds) + random.normal(0, noise, (n_series, n_seeds))
    common = [{"unit": f"s{i}", "detector": "still", "metric": "dqe", "value": float(v)} for i, v in enumerate(series)]
    return values, common + [
        {"unit": f"s{i}", "detector": "drawn", "metric": "dqe", "seed": k, "value": float(values[i, k])}
        for i in range(n_series)
        for k in range(n_seeds)
    ]


def test_several_seeds_are_a_component_of_the_variance():
    values, given_rows = seeded(shift=0.1, noise=0.0)
    found = rank_rows(given_rows)
    dqe, place = found.standings["dqe"], found.detectors.index("drawn")
    assert dqe.mean[place] == pytest.approx(values.mean())
    assert dqe.seed_deviation[place] == pytest.approx(values.mean(axis=0).std(ddof=1))
    assert np.isnan(dqe.seed_deviation[1 - place])
    # From the definition: the variance of the mean is that of the series plus that of the few seeds.
    errors = values.mean(axis=1).std(ddof=1) / np.sqrt(40), values.mean(axis=0).std(ddof=1) / np.sqrt(4)
    reach = np.hypot(stats.t.ppf(0.975, 39) * errors[0], stats.t.ppf(0.975, 3) * errors[1])
    drawn, still = dqe.intervals[place], dqe.intervals[1 - place]
    assert drawn.high - drawn.low == pytest.approx(2 * reach, rel=0.05)
    assert still.high - still.low < 0.6 * (drawn.high - drawn.low)
    text = str(found)
    assert "DQE, ± by seed" in text
    assert "± by seed: the standard deviation of the mean from seed to seed" in text


def test_what_seeds_change_in_each_series_by_itself_counts_once():
    """It is among the differences between series already, which are drawn again."""
    values, given_rows = seeded(shift=0.0, noise=0.1)
    found = seeds_of(values, np.arange(len(values)))
    assert found.deviation > 0
    assert found.variance < 0.25 * found.deviation**2 / 4
    assert np.isnan(seeds_of(values[:, :1], np.arange(40)).deviation)
    lost = [row for row in given_rows if (row["unit"], row.get("seed")) != ("s0", 1)]
    assert rank_rows(lost).n == 40


def test_seeds_of_a_run_that_is_not_finished():
    values, _ = seeded(shift=0.1, noise=0.05)
    gaps = values.copy()
    gaps[0, 1] = np.nan
    assert seeds_of(gaps, np.arange(40)) == seeds_of(values[1:], np.arange(39))
    gaps = values.copy()
    gaps[1:, 2:] = np.nan  # two of four seeds have got to the first series only
    assert seeds_of(gaps, np.arange(40)) == seeds_of(values[:, :2], np.arange(40))
    gaps[1:, 1] = np.nan
    assert np.isnan(seeds_of(gaps, np.arange(40)).deviation)
    assert seeds_of(values, np.zeros(40, dtype=int)).variance == 0  # a single series tells nothing of the others
    alike = np.tile([0.5, 0.6, 0.7], (10, 1))
    rows_alike = [
        {"unit": f"s{i}", "detector": "d", "metric": "dqe", "seed": k, "value": v}
        for i, row in enumerate(alike.tolist())
        for k, v in enumerate(row)
    ]
    (interval,) = rank_rows(rows_alike).standings["dqe"].intervals
    assert interval.low == pytest.approx(0.6 - stats.t.ppf(0.975, 2) * 0.1 / np.sqrt(3))


@pytest.mark.slow
@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("series", "seeds", "between_seeds"), [(30, 3, 0.05), (30, 5, 0.05), (100, 3, 0.02), (30, 3, 0)]
)
def test_how_often_an_interval_holds_with_several_seeds(series, seeds, between_seeds):
    random = np.random.default_rng(seeds)
    held = []
    for _ in range(400):
        by_seed = 0.5 + random.normal(0, 0.1, (series, 1, 1)) + random.normal(0, between_seeds, (1, 1, seeds))
        by_seed = by_seed + random.normal(0, 0.02, (series, 1, seeds))
        standing = standing_of("dqe", by_seed.mean(axis=2), by_seed, np.arange(series), resamples=400, seed=0)
        held.append(0.5 in standing.intervals[0])
    assert 0.92 < np.mean(held) < 0.99  # with three seeds, a little wide rather than narrow


def test_a_metric_of_somebodys_own_may_have_any_limits():
    by_metric = rank_rows(rows(CUBE * 3 + 0.4, metrics=("dqe", "my_own"))).standings
    assert all(interval.high <= 1 for interval in by_metric["dqe"].intervals)
    assert any(interval.high > 1 for interval in by_metric["my_own"].intervals)


def test_the_number_of_draws_is_checked():
    with pytest.raises(ValueError, match="repeats must be a whole number of at least 1"):
        rank_rows(rows(CUBE), repeats=0)


@given(st.integers(2, 5), st.integers(2, 4), st.integers(1, 3), st.integers(0, 99))
def test_the_component_of_seeds_by_analysis_of_variance(n_series, n_seeds, n_events, seed):
    """Two-way: mean squares of seeds, less those of what is left, each summed over whole series."""
    values = np.random.RandomState(seed).rand(n_series * n_events, n_seeds)
    sums = values.reshape(n_series, n_events, n_seeds).sum(axis=1)
    left = sums - sums.mean(axis=0) - sums.mean(axis=1, keepdims=True) + sums.mean()
    mean_square = (left**2).sum() / (n_series - 1) / (n_seeds - 1)
    of_seeds = n_series * sums.mean(axis=0).var(ddof=1)
    component = max(of_seeds - mean_square, 0) / n_series / n_seeds / n_events**2
    found = seeds_of(values, np.repeat(np.arange(n_series), n_events))
    assert found.variance == pytest.approx(component)
    assert found.deviation == pytest.approx(values.mean(axis=0).std(ddof=1))


def test_near_ranges_that_are_a_fallback_are_told(tmp_path):
    rows_of_ramp = (f"{point},{int(point % 100 > 95)}" for point in range(600))
    (tmp_path / "ramp.csv").write_text("\n".join(["value,label", *rows_of_ramp]))
    data = [{"path": str(tmp_path / "ramp.csv")}, {"generator": "synthetic", "n": 500, "period": 24, "events": 2}]
    bench.run({"data": data, "detector": [{"name": "fft"}, {"name": "sr"}], "metrics": ["dqe"]}, tmp_path / "run")
    found = bench.rank(tmp_path / "run")
    assert found.n_fallback == found.numbers()["n_fallback"] == 1
    assert "No period was found in 1 series: near 62.5 is a fallback there." in str(found)
    assert bench.rank(tmp_path / "run", dataset="synthetic").n_fallback == 0
    given = {"data": data, "near": 20, "detector": [{"name": "fft"}], "metrics": ["dqe"]}
    bench.run(given, tmp_path / "given")
    assert bench.rank(tmp_path / "given").n_fallback == 0


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
    with pytest.raises(ValueError, match=r"; there are results of synthetic$"):
        bench.rank(tmp_path, dataset="other")
    with pytest.raises(ValueError, match='by must be "series" or "event"'):
        bench.rank(tmp_path, by="point")


def test_without_scipy(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "scipy", None)
    with pytest.raises(ValueError, match=r"rankings need SciPy: pip install 'scipy>=1.11'"):
        rank_rows(rows(CUBE))
