"""Confidence intervals hold as often as they say, and say nothing where they cannot."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dqeval
from dqeval.core import confidence
from dqeval.core.confidence import FEWEST, Interval, mean_interval, mean_intervals

shares = st.lists(st.floats(0, 1), min_size=FEWEST, max_size=30)


@given(shares)
def test_an_interval_lies_in_what_is_possible_and_holds_the_mean(values):
    found = mean_interval(np.array(values), resamples=200)
    assert 0 <= found.low <= found.high <= 1
    assert found.low - 1e-9 <= np.mean(values) <= found.high + 1e-9


@given(shares, st.integers(0, 2**32))
def test_the_same_seed_gives_the_same_interval(values, seed):
    one, other = (mean_interval(np.array(values), resamples=50, seed=seed) for _ in range(2))
    assert one == other


@pytest.mark.parametrize("count", range(FEWEST))
def test_too_few(count):
    found = mean_interval(np.linspace(0, 1, count) if count else np.zeros(0))
    assert math.isnan(found.low)
    assert math.isnan(found.high)
    assert not found.is_known
    assert str(found) == f"too few: {count} event{'s' * (count != 1)}"
    assert str(Interval(np.nan, np.nan, 0.95, 3, "series")) == "too few: 3 series"


def test_alike():
    found = mean_interval(np.full(8, 0.25))
    assert (found.low, found.high) == (0.25, 0.25)
    assert str(found) == "[0.250, 0.250]"


def test_draws_in_parts_are_the_same_draws(monkeypatch):
    values = np.random.default_rng(0).random(20)
    whole = mean_interval(values, resamples=100)
    monkeypatch.setattr("dqeval.core.confidence._AT_ONCE", 60)
    monkeypatch.setattr("dqeval.core.confidence._KEPT", 0)
    parts = mean_interval(values, resamples=100)
    assert (parts.low, parts.high) == pytest.approx((whole.low, whole.high), rel=1e-12)
    monkeypatch.setattr("dqeval.core.confidence._KEPT_SMALL", 0)
    assert mean_interval(values, resamples=100) == parts  # whether they are kept or not


def test_many_events_are_drawn_less_often_unless_asked_for(monkeypatch):
    values = np.random.default_rng(1).random(50)
    often, seldom = (mean_interval(values, resamples=count) for count in (2000, 30))
    assert mean_interval(values) == often != seldom
    monkeypatch.setattr(confidence, "MOST_DRAWS", 50 * 30)
    monkeypatch.setattr(confidence, "FEWEST_RESAMPLES", 10)
    assert mean_interval(values) == seldom
    assert mean_interval(values, resamples=2000) == often
    monkeypatch.setattr(confidence, "FEWEST_RESAMPLES", 2000)
    assert mean_interval(values) == often


def test_higher_levels_are_wider():
    values = np.random.default_rng(1).random(30)
    widths = [(found := mean_interval(values, level=level)).high - found.low for level in (0.5, 0.9, 0.99)]
    assert widths == sorted(widths)


def clustered(random, series):
    """Return DQE of events, in series that are more or less hard as a whole."""
    sizes = random.integers(1, 11, size=series)
    missed = random.beta(0.5, 1.5, size=series)
    groups = np.repeat(np.arange(series), sizes)
    found = np.clip(random.normal(0.75, 0.1, len(groups)), 0, 1)
    return np.where(random.random(len(groups)) < missed[groups], 0.0, found), groups


@pytest.mark.slow
@pytest.mark.unmeasured
@pytest.mark.parametrize("series", [8, 20, 60])
def test_how_often_an_interval_holds_with_events_in_series(series):
    random = np.random.default_rng(series)
    true = np.mean([clustered(random, 5000)[0].mean() for _ in range(20)])
    held = []
    for _ in range(1000):
        values, groups = clustered(random, series)
        held.append(true in mean_intervals(values[:, None], groups=groups, resamples=500, unit="series")[0])
    assert 0.92 < np.mean(held) < 0.98  # 93 to 97 %, and what 1,000 trials may be off


def test_events_of_one_series_are_drawn_together():
    values, groups = clustered(np.random.default_rng(3), 40)
    apart, (together,) = mean_interval(values), mean_intervals(values[:, None], groups=groups, unit="series")
    assert together.units == 40
    assert together.high - together.low > 1.2 * (apart.high - apart.low)


def test_results_have_intervals():
    series = dqeval.datasets.demo()
    result = dqeval.evaluate(series.labels, series.scores["jumpy"], period=48)
    for part in ("dqe", "capture", "near_miss", "false_alarm"):
        expected = mean_interval(np.array([getattr(event, part) for event in result.per_event]))
        assert result.interval(part) == expected
        assert getattr(result, part) in expected
    assert not dqeval.evaluate([0, 1, 0], [0, 1, 0], near=1).interval().is_known


def test_detectors_that_events_do_not_tell_apart():
    demo = dqeval.compare(dqeval.datasets.demo(), repeats=1)
    events = {name: np.array([event.dqe for event in panel.dqe.per_event]) for name, panel in demo.panels.items()}
    for name, found in demo.differences.items():
        gaps = events["sharp"] - events[name]
        assert found.mean == gaps.mean()
        assert found.interval == mean_interval(gaps, least=-1)
        assert not found.is_told_apart
        assert str(found) == f"{found.mean:.3f} {found.interval}"
    assert demo.page().text().count("not told apart") == 2
    assert "jumpy (0.557), but the events tell it apart from none of them;" in demo.verdict
    assert demo.numbers()["behind_the_best"]["late"]["interval"]["units"] == 6


def test_detectors_that_events_tell_apart():
    labels = np.arange(1000) % 100 >= 95
    good, bad = labels.astype(float), np.roll(labels, 40).astype(float)
    good[0], bad[1] = 0.5, 0.5  # scores, not detections
    found = dqeval.compare({"label": labels.astype(int), "good": good, "bad": bad}, repeats=1)
    assert found.differences["bad"].is_told_apart
    assert "tell it apart" not in found.verdict
    assert "told apart" in found.interval_table().text()
    assert "not told apart" not in found.interval_table().text()


def test_one_of_two_that_events_tell_apart():
    labels = np.arange(1000) % 100 >= 95
    good, bad = labels.astype(float), np.roll(labels, 40).astype(float)
    same = good.copy()
    good[0], bad[1], same[2] = 0.5, 0.5, 0.6
    found = dqeval.compare({"label": labels.astype(int), "good": good, "bad": bad, "same": same}, repeats=1)
    assert "but the events do not tell it apart from same;" in found.verdict
    found = dqeval.compare({"label": labels.astype(int), "good": good, "same": same}, repeats=1)
    assert "but the events do not tell it apart from same;" in found.verdict


def test_equals_that_events_do_not_tell_from_others():
    labels = np.arange(1000) % 100 >= 95
    draw = np.random.default_rng(0)
    one, two, three = (draw.random(1000) + labels for _ in range(3))
    columns = {"label": labels.astype(int), "one": one, "equal": one, "two": two}
    verdict = dqeval.compare(columns, repeats=1).verdict
    assert verdict.startswith("one and equal are best: ")
    assert "but the events do not tell one apart from two;" in verdict
    verdict = dqeval.compare({**columns, "three": three}, repeats=1).verdict
    assert "but the events tell one apart from none of them;" in verdict


def test_few_events_tell_nothing_apart():
    found = dqeval.compare({"label": [0, 1, 0, 0], "good": [0, 9, 1, 0], "bad": [9, 0, 1, 0]}, repeats=1)
    assert not found.differences["bad"].is_told_apart
    assert "too few: 1 event" in found.page().text()


@pytest.mark.parametrize("tiny", [1e-150, 1e-161, 3e-162, 5e-324])
def test_values_whose_squares_are_nothing(tiny):
    found = mean_interval(np.array([0, 0, 0, 0, 0, 0, tiny]))
    assert 0 <= found.low <= found.high <= 1e-100
