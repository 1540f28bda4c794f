"""Generated series: what was asked for is there, where it should be, and the same every time."""

from itertools import pairwise

import numpy as np
import pytest

import dqeval
from dqeval.core.events import find_events
from dqeval.datasets import synthetic

CASES = [{}, {"n": 1000, "period": 20, "events": 3}, {"n": 300, "period": 8, "events": 14}, {"n": 3000, "seed": 5}]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_events_are_where_they_should_be(case):
    series = synthetic(**case)
    period, count = case.get("period", 48), case.get("events", 8)
    events = list(find_events(series.labels))
    assert len(series.values) == case.get("n", 5000)
    assert len(events) == count
    assert 0 < series.train_stop == len(series.values) // 4 <= events[0][0]
    edges = [*events, (len(series.values), 0)]
    assert all(after[0] - before[1] >= period for before, after in pairwise(edges))
    assert [stop - start for start, stop in events[:3]] == [max(1, period // 10), period, period]
    assert (series.name, series.scores, series.period) == ("synthetic", {}, period)


def test_the_period_can_be_found():
    for period in (12, 48, 100):
        assert dqeval.find_period(synthetic(n=8000, period=period).values).points == pytest.approx(period, abs=1)


@pytest.mark.parametrize("kind", ["spike", "level", "pattern"])
def test_each_kind_is_what_it_says(kind):
    series = synthetic(n=4000, period=50, events=6, kinds=(kind,), seed=3)
    phase = np.arange(4000) / 50
    odd = series.values - np.sin(2 * np.pi * phase) - 0.3 * np.cos(4 * np.pi * phase)
    assert np.abs(odd[~series.labels]).max() < 0.3
    for start, stop in find_events(series.labels):
        low, high = {"spike": (2.7, 4.3), "level": (1.3, 2.2), "pattern": (0.5, 1.0)}[kind]
        assert low < np.abs(odd[start:stop]).mean() < high
        assert (np.ptp(odd[start:stop]) > 1) == (kind == "pattern")


def test_the_same_seed_gives_the_same_series():
    assert (synthetic(seed=7).values == synthetic(seed=7).values).all()
    assert (synthetic(seed=7).values != synthetic(seed=8).values).any()
    # Pinned: it must be the same with every version of NumPy.
    series = synthetic(n=400, period=10, events=3)
    assert series.values[[0, 100, 399]] == pytest.approx(EXPECTED_VALUES, abs=1e-12)
    assert list(find_events(series.labels)) == EXPECTED_EVENTS


EXPECTED_VALUES = [0.3882026172983832, 0.39415753485281024, -0.45245255700694564]
EXPECTED_EVENTS = [(118, 119), (271, 281), (302, 312)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 100}, "8 events of up to 48 points, as far apart, need at least 1,023 points: got n=100"),
        ({"n": 0}, "n must be a whole number of at least 1: got 0"),
        ({"events": 0}, "events must be a whole number of at least 1: got 0"),
        ({"period": 7}, "period must be a whole number of at least 8: got 7"),
        ({"seed": -1}, "seed must be a whole number of at least 0: got -1"),
        ({"kinds": ("spike", "dip")}, "kinds must be of spike, level, pattern: got 'dip'"),
        ({"kinds": ()}, "kinds must be of spike, level, pattern: got none"),
    ],
)
def test_what_cannot_be(options, message):
    with pytest.raises(ValueError, match=message):
        synthetic(**options)


def test_the_least_that_fits():
    assert len(find_events(synthetic(n=1023).labels)) == 8
    with pytest.raises(ValueError, match="need at least 1,023 points"):
        synthetic(n=1022)
