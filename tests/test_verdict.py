"""Verdicts: the tests of all pairs beside slow, obvious versions, what they do not depend on, and the sentences."""

import itertools
import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dqeval
from commands import caller
from conftest import DATA
from dqeval.analysis.rank import SAME_DETECTOR, p_in_words
from dqeval.core.agreement import agreement_of
from dqeval.core.paired import compare_all, mean_intervals, seed_effects, student
from dqeval.datasets.files import read_cells

RANDOM = np.random.default_rng(3)
MINE = [0.91, 0.72, 0.85, 0.66, 0.93, 0.78, 0.81, 0.59]
BASELINE = [0.62, 0.70, 0.51, 0.48, 0.77, 0.45, 0.69, 0.31]
LATE = [0.90, 0.75, 0.83, 0.68, 0.91, 0.80, 0.78, 0.61]
TABLE = {"baseline": BASELINE, "late": LATE, "mine": MINE}


@pytest.fixture
def call(monkeypatch, capsys):
    return caller(monkeypatch, capsys)


# Slow and obvious ------------------------------------------------------------------------------------------------


def hall(differences):
    """Return Student's statistic of one pair, corrected for its skewness: the more, the more units there are."""
    n, mean = len(differences), sum(differences) / len(differences)
    squares = sum(d**2 for d in differences) / n
    spread = max(sum((d - mean) ** 2 for d in differences) / n, squares / 1000)
    if spread == 0 or n == 1:
        return 0.0
    t = mean / math.sqrt(spread / (n - 1))
    skewness = sum((d - mean) ** 3 for d in differences) / n / spread**1.5
    a = max(1 - 5 / n, 0) * skewness / (3 * math.sqrt(n))
    return t + a * t**2 + a**2 * t**3 / 3 + a / 2


def naive_p(values):
    """Return the adjusted p-value of each pair, by its definition, from all flips of the signs."""
    n, k = values.shape
    pairs = list(itertools.combinations(range(k), 2))
    differences = [[values[u][i] - values[u][j] for u in range(n)] for i, j in pairs]
    observed = [abs(hall(each)) for each in differences]
    flipped = [
        [abs(hall([s * d for s, d in zip(signs, each, strict=True)])) for each in differences]
        for signs in itertools.product((1, -1), repeat=n)
    ]
    adjusted = [0.0] * len(pairs)
    least = 0.0
    left = set(range(len(pairs)))
    while left:  # step down: from the largest statistic on
        first = max(left, key=lambda i: (observed[i], i))
        reached = [max(row[i] for i in left) >= observed[first] - 1e-6 for row in flipped]
        least = adjusted[first] = max(least, sum(reached) / len(flipped))
        left.remove(first)
    return adjusted


@given(st.integers(1, 7), st.integers(2, 4), st.integers(0, 1000))
def test_p_values_of_few_units_are_those_of_all_flips(n, k, seed):
    random = np.random.default_rng(seed)
    values = np.round(random.random((n, k)), random.integers(1, 4))  # coarse: with ties
    assert compare_all(values).p.tolist() == pytest.approx(naive_p(values))


@given(st.integers(0, 1000))
def test_random_flips_estimate_those_of_all_flips(seed):
    values = np.random.default_rng(seed).normal(size=(9, 3))
    whole, drawn = compare_all(values), compare_all(values, flips=200)
    assert (whole.n_flips, drawn.n_flips) == (256, 200)
    assert drawn.p == pytest.approx(whole.p, abs=0.2)
    assert (drawn.p >= 1 / 200).all()


def test_the_statistic_inverted_is_the_interval():
    """A difference at an end of the interval is one that the same critical value just accepts."""
    values = RANDOM.exponential(size=(40, 2)) ** 2
    found = compare_all(values)
    assert found.low[0] < found.difference[0] < found.high[0]
    differences = values[:, 0] - values[:, 1]
    low, high = (hall(differences - end) for end in (found.low[0], found.high[0]))
    assert low == pytest.approx(-high)
    assert low > 1.5


def test_intervals_of_means_have_pseudo_units():
    values = RANDOM.random((12, 1))
    whole = np.concatenate([values[:, 0], [0, 0, 1, 1]])
    weights = np.array([1.0] * 12 + [0.5] * 4)
    mean = np.average(whole, weights=weights)
    error = math.sqrt((weights * (whole - mean) ** 2).sum() / 13 / 14)
    low, high = mean_intervals(values)
    assert (low[0], high[0]) == pytest.approx((mean - student(0.95, 13) * error, mean + student(0.95, 13) * error))


@pytest.mark.parametrize("freedom", [1, 2, 3, 9, 50, 400, 20_000])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_student_is_that_of_scipy(level, freedom):
    stats = pytest.importorskip("scipy.stats")
    assert student(level, freedom) == pytest.approx(stats.t.ppf((1 + level) / 2, freedom), rel=1e-4)


# What verdicts do not depend on ----------------------------------------------------------------------------------


def same(one, other, *, scale=1.0):
    """Return whether two rankings say the same, but for the means."""
    pairs, others = ({(p.first, p.second): p for p in each.pairs} for each in (one, other))
    return pairs.keys() == others.keys() and all(
        pair.p == others[key].p
        and np.allclose(
            np.array([pair.difference, pair.low, pair.high]) * scale, astuple_of(others[key]), atol=1e-9, equal_nan=True
        )
        for key, pair in pairs.items()
    )


def astuple_of(pair):
    return [pair.difference, pair.low, pair.high]


@given(st.integers(2, 40), st.integers(2, 5), st.integers(0, 1000))
def test_the_order_of_units_and_of_columns_does_not_matter(n, k, seed):
    random = np.random.default_rng(seed)
    table = {f"d{i}": random.random(n).round(2) for i in range(k)}
    order, names = random.permutation(n), random.permutation(list(table)).tolist()
    moved = dqeval.rank({name: table[name][order] for name in names})
    assert moved.verdict == dqeval.rank(table).verdict
    assert same(moved, dqeval.rank(table))


def test_a_shift_and_a_scale_change_no_verdict():
    table = {name: np.array(values) for name, values in TABLE.items()}
    whole = dqeval.rank(table)
    assert same(whole, dqeval.rank({name: values + 3 for name, values in table.items()}))
    assert same(whole, dqeval.rank({name: 1e99 * values for name, values in table.items()}), scale=1e99)
    turned = dqeval.rank({name: -values for name, values in table.items()}, higher_is_better=False)
    assert [m.detector for m in turned.means] == [m.detector for m in whole.means]
    assert [p.p for p in turned.pairs] == [p.p for p in whole.pairs]
    assert [p.difference for p in turned.pairs] == pytest.approx([-p.difference for p in whole.pairs])


def test_groups_of_one_are_no_groups():
    assert dqeval.rank(TABLE, groups=range(8)) == replace(dqeval.rank(TABLE), agreement=dqeval.rank(TABLE).agreement)


def test_copies_in_a_group_tell_nothing_more():
    twice = {name: [*values, *values] for name, values in TABLE.items()}
    grouped = dqeval.rank(twice, groups=[*range(8), *range(8)])
    assert same(grouped, dqeval.rank(TABLE))
    assert [m.low for m in grouped.means] == pytest.approx([m.low for m in dqeval.rank(TABLE).means])
    assert "over 16 units in 8 groups" in grouped.verdict
    assert "paired differences over 8 groups of 16 units" in str(grouped)
    assert dqeval.rank(twice).pair("mine", "baseline").p < grouped.pair("mine", "baseline").p


def test_equal_seeds_are_no_seeds():
    twice = {name: [*values, *values] for name, values in TABLE.items()}
    seeded = dqeval.rank(twice, seeds=[1] * 8 + [2] * 8)
    assert same(replace(seeded, notes=()), dqeval.rank(TABLE))
    assert seeded.n_units == 8
    assert seeded.notes == ("Values are means over seeds; what a seed changes in all units alike is part of the test.",)


def test_what_a_seed_changes_in_all_units_is_part_of_the_test():
    units = RANDOM.normal(0.5, 0.02, (300, 1))
    a, b = (units + RANDOM.normal(0, 0.005, (300, 2)) + off for off in ([0.00, 0.06], [0.04, 0.08]))
    seeds = np.repeat(["s1", "s2"], 300)
    found = dqeval.rank({"a": a.T.ravel(), "b": b.T.ravel()}, seeds=seeds)
    alone = dqeval.rank({"a": a.mean(axis=1), "b": b.mean(axis=1)})
    assert alone.pairs[0].p < 0.001
    assert found.pairs[0].p > 0.05
    assert found.pairs[0].low < 0 < found.pairs[0].high
    assert found.means[0].low < alone.means[0].low


def test_the_variance_of_seeds():
    cube = np.array([[[0.5, 0.2], [0.7, np.nan]], [[0.1, 0.4], [0.3, np.nan]], [[0.2, 0.4], [0.4, np.nan]]])
    variance, freedom = seed_effects(cube)
    assert variance == pytest.approx([0.01, 0])
    assert freedom.tolist() == [1, 0]
    patchy = np.where(np.eye(4)[:, :, None] == 1, np.nan, 0.5)  # no unit has all seeds
    assert [each.tolist() for each in seed_effects(patchy)] == [[0], [0]]


# Degenerate input ------------------------------------------------------------------------------------------------


def test_equal_detectors_are_not_told_apart_and_no_interval_is_a_point():
    found = dqeval.rank({"a": [1.0] * 8, "b": [1.0] * 8})
    assert found.pairs[0].p == 1
    assert found.means[0].rank == 1.5
    assert found.pairs[0].low == found.pairs[0].high == 0  # all values of the table are equal
    assert 0.6 < found.means[0].low < found.means[0].high == 1
    found = dqeval.rank({"a": MINE, "b": MINE})
    assert found.pairs[0].low == -found.pairs[0].high < -0.1
    assert str(found.pairs[0]) == "not told apart (p = 1.000)"


def test_a_constant_difference_is_told_apart():
    found = dqeval.rank({"a": np.array(MINE) - 0.1, "b": MINE}).pairs[0]
    assert (found.first, found.told_apart, found.p) == ("b", True, 2 / 2**8)
    assert 0 < found.low < 0.1 < found.high


@pytest.mark.parametrize("n", [1, 2, 4, 5])
def test_few_units_say_so(n):
    found = dqeval.rank({name: values[:n] for name, values in TABLE.items()})
    noun = "unit is" if n == 1 else "units are"
    assert f"{n} {noun} too few to tell any two apart: it takes at least 6." in found.verdict
    assert not any(pair.told_apart for pair in found.pairs)
    assert all(math.isnan(mean.low) for mean in found.means) == (n < 5)
    assert all(math.isnan(pair.low) for pair in found.pairs) == (n < 5)
    assert "nan" not in str(found)


def test_few_groups_say_so():
    found = dqeval.rank({"a": MINE, "b": BASELINE}, groups=[1, 1, 2, 2, 3, 3, 3, 3])
    assert found.verdict.endswith(" 3 groups are too few to tell any two apart: it takes at least 6.")


def test_one_detector():
    found = dqeval.rank({"mine": MINE})
    assert found.verdict == (
        "mine has 0.781 [0.522, 0.928] over 8 units; there is no other detector to compare it with."
    )
    assert (found.pairs, found.groups) == ((), (("mine",),))
    assert str(found).endswith("There is nothing to test.")


def test_units_without_a_value_of_every_detector_are_left_out():
    some = dqeval.rank({"a": [*MINE, np.nan, 0.1], "b": [*BASELINE, 0.2, np.nan], "c": [np.nan] * 10})
    assert same(some, dqeval.rank({"a": MINE, "b": BASELINE}))
    assert some.notes == (
        "Left out, without any value: c.",
        "2 of 10 units left out, where not every detector has a value.",
    )


def test_values_beyond_0_and_1():
    found = dqeval.rank({"a": np.array(MINE) * 10, "b": np.array(BASELINE) * 10}, higher_is_better=False)
    assert found.verdict.startswith("b (5.662) is ahead of a (7.812) by 2.150 [1.145, 3.056]")
    assert " over 8 units (lower is better): told apart (p = 0.008)." in found.verdict
    assert found.notes == (
        "Values lie outside [0, 1]: intervals of means take it that all values lie between 3.1 and 9.3, as those of "
        "the table do.",
    )


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ({}, {}, "every detector needs a value for each unit, in the same order: got nothing"),
        ({"a": [], "b": []}, {}, "got a 0 and b 0"),
        ({"a": [1, 2], "b": [1]}, {}, "got a 2 and b 1"),
        ({"a": [[1, 2]]}, {}, r"a must be one-dimensional: its shape is \(1, 2\)"),
        ({"a": ["x", "y"]}, {}, "there are no numbers to rank: the columns are a"),
        ({"a": [1, np.inf]}, {}, r"values must be numbers up to 1e\+100"),
        ({"a": [1, np.nan], "b": [np.nan, 1]}, {}, r"no unit has a value of every detector .*a 1, b 1"),
        ({"a": [1]}, {"level": 1}, "level must lie between 0 and 1: got 1"),
        ({"a": [1]}, {"higher_is_better": "no"}, "higher_is_better must be True or False"),
        ({"a": [1]}, {"groups": "x"}, "the table, of which groups names a column, has no 'x'"),
        ({"a": [1]}, {"seeds": "x"}, "the table, of which seeds names a column, has no 'x'"),
        ({"a": [1]}, {"groups": [1, 2]}, "groups must have a value for each of 1 rows: got 2"),
        ({"a": [1]}, {"groups": {"s": 1}}, "groups by the names of series need these names"),
        ({"label": [1], "a": [0.4]}, {}, "the column label is of a series with scores, a row per point"),
        ({"a": [1], "series": ["s"]}, {"groups": {"t": 1}}, "groups must name series of the table: they have t"),
        ({"a": [1], "series": ["s"]}, {"groups": {}}, "groups must name series of the table: they have none"),
        (
            {"a": [1, 2], "series": ["s", "s"]},
            {},
            "there is more than one value of series s: give one, or a column seed",
        ),
        ({"detector": ["a"], "value": [1]}, {}, "a long table needs the columns series, detector and value"),
        ({"detector": ["a"], "series": ["s"], "value": ["x"]}, {}, "there are no numbers to rank"),
        (
            {"series": ["s", "s"], "detector": ["a", "b"], "value": [1, 2], "group": [1, 2]},
            {},
            "a series is in one group: row 2 has 2, a row before 1",
        ),
    ],
)
def test_errors(values, options, message):
    with pytest.raises(ValueError, match=message):
        dqeval.rank(values, **options)


# Tables ----------------------------------------------------------------------------------------------------------


def long_table(table=TABLE, **more):
    rows = [
        {"series": f"s{i}", "detector": name, "value": value, **{key: of[i] for key, of in more.items()}}
        for name, values in table.items()
        for i, value in enumerate(values)
    ]
    return pd.DataFrame(rows)


def test_wide_and_long_tables_say_the_same():
    wide = dqeval.rank(TABLE)
    long = dqeval.rank(long_table())
    assert (long.unit, wide.unit) == ("series", "unit")
    assert same(wide, long)
    assert same(wide, dqeval.rank(pl.DataFrame(long_table().to_dict("list"))))
    assert same(wide, dqeval.rank(pd.DataFrame(TABLE)))
    assert same(wide, dqeval.rank(pl.DataFrame(TABLE)))
    assert same(long, dqeval.rank(long_table().sample(frac=1, random_state=1)))
    some = long_table().astype({"value": "Float64"})
    some.loc[0, "value"] = pd.NA
    assert dqeval.rank(some).n_units == 7


def test_columns_that_are_no_detectors():
    table = {
        "file": [f"f{i}" for i in range(8)],
        **TABLE,
        "ts_len": [9] * 8,
        "remark": ["x", None] * 4,
        "group": [1] * 8,
    }
    found = dqeval.rank(table)
    assert {mean.detector for mean in found.means} == set(TABLE)
    assert found.notes[0] == "Columns that are no detectors: ts_len and remark."
    assert found.n_groups == 1


def test_groups_by_name_column_and_row():
    labels = ["x", "x", "y", "y", "", "", "z", "z"]
    by_row = dqeval.rank(TABLE, groups=labels)
    assert by_row.n_groups == 5  # those without a name are groups of their own
    assert same(by_row, dqeval.rank({**TABLE, "recording": labels}, groups="recording"))
    assert same(by_row, dqeval.rank({**TABLE, "group": labels}))
    named = {"s0.csv": "x", "s1": "x", "s2": "y", "s3": "y", "s6": "z", "s7": "z"}
    assert same(by_row, dqeval.rank(long_table(), groups=named))
    assert same(by_row, dqeval.rank({**TABLE, "series": np.arange(8.0)}, groups={n[1]: g for n, g in named.items()}))


def test_seeds_by_column():
    long = pd.concat([long_table().assign(run=1), long_table().assign(run=2)])
    long.loc[(long.run == 2) & (long.detector == "mine"), "value"] = np.nan
    found = dqeval.rank(long, seeds="run")
    assert found.notes[0].endswith("part of the test, but for mine, with a single seed.")
    assert same(found, dqeval.rank(TABLE))


def test_several_metrics():
    found = dqeval.rank(pd.concat([long_table().assign(metric="dqe"), long_table().assign(metric="auc_roc")]))
    assert list(found.metrics) == ["dqe", "auc_roc"]
    assert found.verdict == found.metrics["dqe"].verdict
    assert found.verdict.startswith("By DQE, late (0.782) is ahead of baseline over 8 series")
    assert found.agreement.tolist() == [[1, 1], [1, 1]]
    assert "Kendall's tau" in str(found)
    assert len(found.to_frame()) == 6
    assert set(found.to_frame().columns) >= {"metric", "detector", "mean"}
    numbers = found.numbers()
    assert numbers["metrics"]["auc_roc"]["verdict"].startswith("By AUC-ROC, ")
    turned = long_table({name: -np.array(values) for name, values in TABLE.items()}).assign(metric="auc_roc")
    other = dqeval.rank(pd.concat([long_table().assign(metric="dqe"), turned]))
    assert other.agreement.tolist() == agreement_of(np.array([[[1.0, 3.0], [2.0, 2.0], [3.0, 1.0]]])).tolist()


def test_datasets_that_go_opposite_ways():
    n = 40
    noise = RANDOM.normal(0, 0.02, (2, 2 * n))
    here = np.repeat([0.05, -0.05], n)
    table = {"a": 0.5 + here + noise[0], "b": 0.5 + noise[1], "dataset": np.repeat(["yahoo", "wsd"], n)}
    found = dqeval.rank(table)
    assert "not told apart" in found.verdict
    (opposite,) = found.opposites
    assert {opposite.ahead_on[0], opposite.behind_on[0]} == {"yahoo", "wsd"}
    assert found.verdict.endswith(str(opposite))
    assert "go opposite ways" in found.verdict
    assert list(found.datasets) == ["wsd", "yahoo"]
    assert found.numbers()["datasets"]["wsd"]["n_units"] == n
    assert found.numbers()["opposites"][0]["behind_on"][1]["told_apart"]
    assert "pairs told apart" in str(found)
    assert len(found.to_frame("polars")) == 6


def test_many_opposites_are_counted():
    here = np.repeat([0.1, -0.1], 20) * np.arange(4)[:, None]
    table = {f"d{i}": 0.5 + here[i] + RANDOM.normal(0, 0.01, 40) for i in range(4)}
    found = dqeval.rank({**table, "dataset": np.repeat(["x", "y"], 20)})
    assert len(found.opposites) == 6
    assert found.verdict.endswith("So do 3 more pairs.")


def test_a_dataset_without_a_whole_unit_is_named():
    table = {
        "a": [*MINE, np.nan],
        "b": [*BASELINE, 1],
        "c": [np.nan] * 9,
        "dataset": ["x"] * 8 + ["y"],
        "group": [*range(8), 8],
    }
    found = dqeval.rank(table)
    assert list(found.datasets) == ["x"]
    assert found.notes[-1] == "No unit of y has a value of every detector."


# Sentences -------------------------------------------------------------------------------------------------------


def test_p_values_in_words():
    assert [p_in_words(p) for p in (0.0004, 0.001, 0.0312, 1.0)] == ["p < 0.001", "p = 0.001", "p = 0.031", "p = 1.000"]
    assert SAME_DETECTOR == "the same detector on another scale"


def verdict(**offsets):
    """Return the verdict on detectors that differ by so much in the mean."""
    noise = np.random.default_rng(1).normal(0, 0.01, (30, len(offsets)))
    noise -= noise.mean(axis=0)
    return dqeval.rank({n: 0.5 + off + noise[:, i] for i, (n, off) in enumerate(offsets.items())}).verdict


def test_sentences_of_two():
    assert dqeval.rank({"mine": MINE, "late": LATE}).verdict == (
        "late (0.782) and mine (0.781) are not told apart (p = 0.961) over 8 units: the difference is "
        "0.001 [-0.018, 0.020]."
    )
    assert dqeval.rank({"mine": MINE, "baseline": BASELINE}).verdict == (
        "mine (0.781) is ahead of baseline (0.566) by 0.215 [0.115, 0.306] over 8 units: told apart (p = 0.008)."
    )


def test_sentences_of_many():
    assert verdict(a=0.2, b=0.1, c=0).endswith(
        "a (0.700) is ahead of all 2 others over 30 units: told apart from each (p < 0.001)."
    )
    assert verdict(a=0.2, b=0.2, c=0).startswith(
        "a (0.700) is ahead of c over 30 units, told apart (p < 0.001), and not told apart from b (p = "
    )
    assert verdict(a=0.2, b=0.2, c=0, d=0, e=0, f=0).startswith(
        "a (0.700) is ahead of 4 of 5 others over 30 units, told apart (p < 0.001)"
    )
    assert verdict(a=0, b=0, c=0).startswith("No two of 3 detectors are told apart over 30 units (smallest p = ")
    values = RANDOM.normal(0.5, 0.01, (30, 2))
    wild = {"a": np.where(np.arange(30) % 2, 1, 0.2), "b": values[:, 0] + 0.05, "c": values[:, 1]}
    assert dqeval.rank(wild).verdict.endswith(
        "has the highest mean over 30 units, but is not told apart from any other; 1 pair of 3 is told apart."
    )


def test_every_told_apart_lies_on_one_side_of_0():
    for seed in range(40):
        random = np.random.default_rng(seed)
        table = {f"d{i}": random.normal(0.02 * i, 0.05, 15) for i in range(5)}
        for pair in dqeval.rank(table).pairs:
            assert pair.told_apart == (pair.p <= 0.05)
            assert pair.told_apart or pair.low <= 0 <= pair.high
            assert not pair.told_apart or pair.low >= 0


def test_groups_are_stretches_of_the_order():
    found = dqeval.rank(TABLE)
    assert found.groups == (("late", "mine"), ("baseline",))
    assert "Not told apart: late and mine." in str(found)
    assert "Every two neighbours are told apart." in str(dqeval.rank({"a": MINE, "b": BASELINE}))
    assert "late to mine (3)" in str(dqeval.rank({"late": LATE, "mine": MINE, "middle": (np.array(LATE) + MINE) / 2}))


def test_a_plot_has_a_row_per_detector_and_a_bar_per_group():
    pytest.importorskip("matplotlib")
    from matplotlib.figure import Figure

    axes = dqeval.rank(TABLE).plot(Figure().subplots())
    assert [label.get_text() for label in axes.get_yticklabels()] == ["late", "mine", "baseline"]
    assert sum(line.get_label() == "group" for line in axes.lines) == 1


@pytest.mark.unmeasured
def test_large_tables_are_compared_with_fewer_flips():
    values = RANDOM.normal(size=(6000, 40))
    assert compare_all(values).n_flips == 2564
    assert compare_all(values[:, :2]).n_flips == 5000


def test_skewness_is_as_good_in_half_the_digits(monkeypatch):
    values = RANDOM.exponential(size=(60, 4))
    whole = compare_all(values)
    monkeypatch.setattr("dqeval.core.paired._AT_ONCE", 100)
    pieces = compare_all(values, flips=5000)
    assert pieces.p == pytest.approx(whole.p, abs=0.03)
    assert (pieces.p >= 1 / 5000).all()
    seeds = {"seed_variance": np.full(4, 1e-9), "seed_freedom": np.full(4, 9.0)}
    assert compare_all(values, **seeds).p == pytest.approx(whole.p, abs=0.03)


# The command -----------------------------------------------------------------------------------------------------


@pytest.fixture
def wide(tmp_path):
    path = tmp_path / "wide.csv"
    names = [f"{i:03}_{'UCR' if i % 2 else 'WSD'}_id_{i}_x_tr_1_1st_2.csv" for i in range(8)]
    pd.DataFrame({"file": names, **TABLE, "ts_len": 9}).to_csv(path, index=False)
    return path


def test_a_wide_table(call, wide):
    done = call("rank", wide)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(dqeval.rank(long_table()).verdict)
    assert "Columns that are no detectors: ts_len." in done.out
    assert len(done.out.splitlines()) < 25


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_a_long_table_of_any_kind(call, tmp_path, ending):
    path = tmp_path / f"long.{ending}"
    table = pd.concat([long_table().assign(metric="dqe"), long_table().assign(metric="vus_pr")])
    {
        "csv": lambda: table.to_csv(path, index=False),
        "parquet": lambda: table.to_parquet(path),
        "jsonl": lambda: table.to_json(path, orient="records", lines=True),
    }[ending]()
    done = call("rank", path, "--metric", "vus_pr", "--detector", "mine,late", "--lower-is-better", "--level", "0.9")
    assert done.err == ""
    assert done.out.startswith("By VUS-PR, mine (0.781) and late (0.782) are not told apart")
    assert "(lower is better)" in done.out
    assert "90 % interval" in done.out


def test_options_of_the_command(call, wide, tmp_path):
    groups = tmp_path / "groups.csv"
    groups.write_text("series,recording\n000_WSD_id_0_x_tr_1_1st_2,r\n001_UCR_id_1_x_tr_1_1st_2,r\n")
    done = call("rank", wide, "--group", groups, "--dataset", "file", "--format", "json", "--detector", "mine,late")
    found = json.loads(done.out)
    assert (found["n_groups"], list(found["datasets"])) == (7, ["UCR", "WSD"])
    assert [mean["detector"] for mean in found["means"]] == ["late", "mine"]
    assert "in 8 groups" not in call("rank", wide, "--group", "file").out
    other = call("rank", wide, "--dataset", "ts_len")
    assert "pairs told apart" not in other.out  # there is one dataset
    rows = call("rank", wide, "--format", "csv").out.splitlines()
    assert rows[0] == "detector,mean,low,high,rank,n_units"
    assert len(rows) == 4
    assert "\\toprule" in call("rank", wide, "--format", "latex").out == dqeval_latex(wide)


def dqeval_latex(path):
    return f"{dqeval.rank(pd.read_csv(path)).to_latex()}\n"


def test_seeds_of_the_command(call, tmp_path):
    path = tmp_path / "seeds.csv"
    pd.concat([long_table().assign(run=i) for i in (1, 2)]).to_csv(path, index=False)
    assert "Values are means over seeds" in call("rank", path, "--seed", "run").out


def test_a_figure_of_the_command(call, wide, tmp_path):
    done = call("rank", wide, "--figure", tmp_path / "f.svg", "-o", tmp_path / "t.txt")
    assert (tmp_path / "f.svg").read_text().startswith("<?xml")
    assert (tmp_path / "t.txt").read_text().startswith("late (0.782) is ahead of baseline")
    assert "wrote" in done.err
    assert call("rank", wide, "--figure", tmp_path / "f.gif").code == 2


def test_pages_and_frames():
    found = dqeval.rank(TABLE)
    assert found._repr_html_().startswith("<p")
    assert list(found.to_frame().columns) == ["detector", "mean", "low", "high", "rank", "n_units"]
    assert len(pd.DataFrame(found.pairs)) == 3


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("a,b\n1,x\n2,3\n", [], "there are no numbers"),
        ("a,b\n1,2\n2,x\n", [], "column b must hold numbers: row 2 below the header is 'x'"),
        ("a,a\n1,2\n", [], "two columns have the same name: a, a"),
        ("a,b\n", [], "the file needs a line that names the columns, and at least one row below it"),
        ("a,b\n1,2\n", ["--detector", "c"], "the table has no 'c'"),
        ("a,b\n1,2\n", ["--metric", "dqe"], "the table has no 'metric'"),
        ("a,b,metric\n1,2,dqe\n", ["--metric", "vus"], "the column metric has no 'vus'"),
        ("a,b\n1,2\n", ["--dataset", "c"], "the table has no 'c'"),
        (
            "a,b\n1,2\n",
            ["--group", "c"],
            "--group names a column or a file: there is no file c, and the columns are a, b",
        ),
        ("a,b\n1,2\n", ["--level", "2"], "level must be a number from 0 to 1"),
    ],
)
def test_errors_of_the_command(call, tmp_path, content, options, message):
    path = tmp_path / "t.csv"
    path.write_text(content)
    done = call("rank", path, *options)
    if message == "there are no numbers":  # a column of text beside one of numbers is left out, and named
        assert "Columns that are no detectors: b." in done.out
        return
    assert (done.code, done.out) == (2, "")
    assert f"{path}: {message}" in " ".join(done.err.split())


def test_a_file_of_groups_needs_two_columns(call, wide, tmp_path):
    groups = tmp_path / "groups.csv"
    groups.write_text("series\na\n")
    assert "must have two columns: the series, and their groups" in call("rank", wide, "--group", groups).err


def test_the_table_is_not_written_over(call, wide):
    before = wide.read_bytes()
    assert call("rank", wide, "-o", wide).code == 2
    assert wide.read_bytes() == before


def test_cells_as_they_are(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("name,x,empty\na,1,\nb,NA,\n")
    found = read_cells(path)
    assert found["name"].tolist() == ["a", "b"]
    assert found["x"].tolist() == pytest.approx([1, np.nan], nan_ok=True)
    assert np.isnan(found["empty"]).all()
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="not a text file in UTF-8"):
        read_cells(path)


@pytest.mark.data
@pytest.mark.skipif(not (DATA / "tsb_ad_results").exists(), reason=f"no published tables in {DATA}")
def test_the_published_table_of_tsb_ad(call):
    table = DATA / "tsb_ad_results" / "uni_vus_pr.csv"
    done = call("rank", table, "--group", DATA / "recordings.csv")
    assert done.out.startswith("Sub-PCA (0.423) is ahead of ")
    assert "over 350 series in 335 groups" in done.out
