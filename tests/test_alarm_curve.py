"""Events detected and false alarms at every threshold, and the best threshold within a budget of false alarms."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib import pyplot

import dqeval
import naive
from dqeval.analysis.alarms import operating_point_of
from dqeval.core.events import find_events, split_at
from dqeval.core.prepared import Labelled, Scored
from dqeval.core.timeline import TimeAxis
from dqeval.metrics import alarm_curve as alarm_curves
from dqeval.metrics.alarm_curve import alarm_curve_of
from dqeval.metrics.alarms_at_threshold import alarms_of
from dqeval.render import drawing
from strategies import breaks, labelled, runs, scores

LABELS = [0, 0, 1, 1, 0, 0, 0, 1, 0, 0]
SCORES = [1, 5, 1, 9, 1, 7, 1, 3, 1, 5]


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


def scored_of(labels, given, gaps=(), resolution=60 * 10**9):
    axis = TimeAxis(0, resolution, len(labels), "local", tuple(gaps), (9,) * len(gaps))
    return Scored(Labelled(np.asarray(labels, dtype=bool), axis), np.asarray(given, dtype=float))


@st.composite
def cases(draw):
    """Draw labels, which may hold no event, scores with many ties or few, breaks and the early points."""
    labels, given = draw(labelled(scores) | runs().flatmap(lambda y: st.tuples(st.just(y), scores(len(y)))))
    return labels, given * draw(st.sampled_from([1.0, -3.0, 1e6])), draw(breaks(len(labels))), draw(st.integers(0, 6))


@given(cases())
@pytest.mark.unmeasured
def test_equals_the_definition(case):
    labels, given, gaps, early = case
    curve = alarm_curve_of(scored_of(labels, given, gaps), early=early)
    columns = (curve.thresholds, curve.detected, curve.false_alarms, curve.alarm_points)
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    assert rows == naive.alarm_curve(labels.tolist(), given.tolist(), early, gaps)
    assert (curve.n_events, curve.points) == (len(naive.split_runs(labels.tolist(), gaps)), len(labels))


@given(cases())
@pytest.mark.unmeasured
def test_equals_the_alarms_at_each_threshold(case):
    labels, given, gaps, early = case
    curve = alarm_curve_of(scored_of(labels, given, gaps), early=early)
    events = split_at(find_events(labels.astype(bool)), np.array(gaps, dtype=int))
    for k, threshold in enumerate(curve.thresholds):
        at = alarms_of(events, find_events(given >= threshold), early=early, breaks=gaps, resolution=60 * 10**9)
        assert (curve.detected[k], curve.false_alarms[k]) == (np.count_nonzero(at.detected), at.false_alarms)
        assert curve.alarm_points[k] == at.alarm_points
        assert curve.events_detected[k] == pytest.approx(at.events_detected, nan_ok=True)
        assert curve.false_alarms_per_day[k] == pytest.approx(at.false_alarms_per_day)
        assert curve.false_alarms_per_1000[k] == pytest.approx(1000 * at.false_alarm_rate)


@given(cases(), st.integers(0, 4))
@pytest.mark.unmeasured
def test_the_threshold_equals_the_definition(case, most):
    labels, given, gaps, early = case
    scored = scored_of(labels, given, gaps)
    found = operating_point_of(scored, 1000 * most / len(labels), per="1,000 points", early=early)
    expected = naive.threshold_within(labels.tolist(), given.tolist(), early, gaps, most)
    if not labels.any():
        assert math.isnan(found.threshold)
    elif expected is None:
        assert found.threshold == math.inf
    else:
        assert (given >= found.threshold).tolist() == (given >= expected).tolist()
    assert found.alarms.alarm_points == np.count_nonzero(given >= found.threshold)
    if len(labels) and not math.isnan(found.threshold):
        detected, false = naive.alarm_counts(labels, given >= found.threshold, early, gaps)
        assert (np.count_nonzero(found.alarms.detected), found.alarms.false_alarms) == (detected, false)
        assert false <= most


def test_by_hand():
    """At 5 there are alarms at 1, 3, 5 and 9, of which 3 is in an event; at 1 there is one alarm, over everything."""
    curve = dqeval.alarm_curve(LABELS, SCORES, resolution="1h")
    assert curve.thresholds.tolist() == [9, 7, 5, 3, 1]
    assert curve.detected.tolist() == [1, 1, 1, 2, 2]
    assert curve.false_alarms.tolist() == [0, 1, 3, 3, 0]
    assert curve.alarm_points.tolist() == [1, 2, 4, 5, 10]
    assert curve.false_alarms_per_1000.tolist() == [0, 100, 300, 300, 0]
    assert curve.false_alarms_per_day.tolist() == [0, 2.4, 7.2, 7.2, 0]
    assert curve.gains.tolist() == [0, 3]


def test_early_alarms_by_hand():
    """With two early points the alarms at 1 and 5 count for the events: only that at 9 is false."""
    curve = dqeval.alarm_curve(LABELS, SCORES, early=2)
    assert curve.detected.tolist() == [1, 2, 2, 2, 2]
    assert curve.false_alarms.tolist() == [0, 0, 1, 1, 0]


def test_breaks_by_hand():
    """Behind a break at 6, the alarm at 5 is not an early one any more; behind one at 8, the endless alarm is two."""
    assert alarm_curve_of(scored_of(LABELS, SCORES, [6]), early=9).false_alarms.tolist() == [0, 1, 2, 2, 0]
    assert alarm_curve_of(scored_of(LABELS, SCORES, [8]), early=0).false_alarms.tolist() == [0, 1, 3, 3, 1]
    halves = alarm_curve_of(scored_of(LABELS, SCORES, [3]), early=0)
    assert (halves.n_events, halves.detected.tolist()) == (3, [1, 1, 1, 2, 3])


BUDGETS = [(0, 9), (99, 9), (100, 9), (299, 9), (300, 3), (10**6, 3)]


@pytest.mark.parametrize(("budget", "threshold"), BUDGETS)
def test_thresholds_by_hand(budget, threshold):
    """The alarm that never ends, at 1, detects all without a false alarm: it is never the one."""
    found = dqeval.threshold_for(LABELS, SCORES, false_alarms_per_1000=budget)
    assert (found.threshold, found.budget, found.per) == (threshold, budget, "1,000 points")
    assert found.alarms.detected.sum() == (1 if threshold == 9 else 2)


def test_a_budget_is_the_number_as_it_is_written():
    """Three false alarms in ten days are 0.3 per day, though 3 * 0.1 is more than 0.3; and 1 in 7 are 1/7."""
    labels, given = np.zeros(10, dtype=int), np.zeros(10)
    labels[9], given[[1, 3, 5, 9]] = 1, [3, 3, 3, 2]
    assert dqeval.threshold_for(labels, given, false_alarms_per_day=0.3, resolution="1d").threshold == 2
    assert dqeval.threshold_for(labels, given, false_alarms_per_day=0.29, resolution="1d").threshold == math.inf
    week, alarm = [0, 0, 0, 0, 0, 0, 1], [0, 3, 0, 0, 0, 0, 2]
    assert dqeval.threshold_for(week, alarm, false_alarms_per_day=1 / 7, resolution="1d").threshold == 2


def test_where_nothing_may_be_raised():
    """The highest score is a false alarm; or so are all that the budget allows."""
    for budget in (0, 250):
        found = dqeval.threshold_for([0, 0, 1, 0], [9, 0, 1, 0], false_alarms_per_1000=budget)
        assert (found.threshold == math.inf) == (budget == 0)
    found = dqeval.threshold_for([0, 0, 1, 0, 0], [9, 0, 0, 0, 9], false_alarms_per_1000=0)
    assert (found.threshold, found.alarms.alarm_points) == (math.inf, 0)
    assert "threshold                      inf: no alarm is raised" in str(found)


def test_without_an_event():
    curve = dqeval.alarm_curve([0, 0, 0], [1, 0, 2])
    assert curve.false_alarms.tolist() == [1, 2, 1]
    assert np.isnan(curve.events_detected).all()
    assert np.isnan(curve.false_alarms_per_day).all()
    with pytest.raises(dqeval.UndefinedError, match="y_true has no anomaly"):
        dqeval.threshold_for([0, 0, 0], [1, 0, 2], false_alarms_per_1000=1)
    with pytest.warns(dqeval.UndefinedWarning, match="NaN is returned"):
        found = dqeval.threshold_for([0, 0, 0], [1, 0, 2], false_alarms_per_1000=1, undefined="nan")
    assert math.isnan(found.threshold)
    assert found.alarms.alarm_points == 0
    assert "threshold                      nan\n" in str(found)


def test_everything_is_an_event():
    curve = dqeval.alarm_curve([1, 1], [3, 4], early=5)
    assert (curve.detected.tolist(), curve.false_alarms.tolist()) == ([1, 1], [0, 0])


def test_the_threshold_has_few_digits():
    found = dqeval.threshold_for([0, 1, 0, 0], [0.712, 0.78391, 0.1, 0.2], false_alarms_per_1000=0)
    assert found.threshold == 0.78


def test_scores_serve_several_budgets():
    scored = scored_of(LABELS, SCORES, resolution=3600 * 10**9)
    found = [operating_point_of(scored, budget, per="day", early=0) for budget in (0, 8)]
    assert [each.threshold for each in found] == [9, 3]
    assert found[1].alarms.false_alarms_per_day == pytest.approx(7.2)


@pytest.mark.parametrize("budget", [0.0, 1.0, 30.0, 200.0])
def test_the_threshold_is_that_of_the_curve(budget, monkeypatch):
    """Also where false alarms are counted in several blocks."""
    monkeypatch.setattr(alarm_curves, "AT_ONCE", 7)
    rng = np.random.default_rng(3)
    labels, scores = rng.random(300) < 0.05, rng.integers(0, 90, 300) / 7
    curve = dqeval.alarm_curve(labels, scores)
    passed = np.append(np.flatnonzero(curve.false_alarms_per_1000 > budget), len(curve.thresholds))[0]
    gains = curve.gains[curve.gains < passed]
    found = dqeval.threshold_for(labels, scores, false_alarms_per_1000=budget)
    assert found.threshold == (curve.rounded_threshold(gains[-1]) if len(gains) else math.inf)


def test_shown():
    found = dqeval.threshold_for(LABELS, SCORES, false_alarms_per_day=8, resolution="1h")
    assert "false alarms at most           8 per day" in str(found)
    assert "false alarms                   3 (7.2 per day)" in str(found)
    assert "<td>8 per day</td>" in found._repr_html_()
    curve = dqeval.alarm_curve(LABELS, SCORES, resolution="1h")
    assert "2 of 2                 3.0             3      7.2        50.00 %" in str(curve)
    assert "<td>50.00 %</td>" in curve._repr_html_()


NOT_ONE = "give one of false_alarms_per_day and false_alarms_per_1000: got "


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, NOT_ONE + "none"),
        ({"false_alarms_per_day": 1, "false_alarms_per_1000": 1}, NOT_ONE + "both"),
        ({"false_alarms_per_day": 1}, 'false_alarms_per_day needs a clock: give times .*resolution="1min"; or give'),
        ({"false_alarms_per_1000": math.nan}, "false_alarms_per_1000 must be a finite number of at least 0: got nan"),
        ({"false_alarms_per_1000": -1}, "false_alarms_per_1000 must be a finite number of at least 0: got -1"),
        ({"false_alarms_per_day": "1"}, "false_alarms_per_day must be a finite number of at least 0: got '1'"),
        ({"false_alarms_per_1000": 1, "early": -1}, "early must be a whole number of at least 0"),
        ({"false_alarms_per_1000": 1, "resolution": "0s"}, "resolution must be above 0"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message) as caught:
        dqeval.threshold_for(LABELS, SCORES, **options)
    assert "\n" not in str(caught.value)


def line_of(ax):
    (line,) = ax.get_lines()
    assert line.get_drawstyle() == "steps-post"
    return line.get_xdata().tolist(), line.get_ydata().tolist()


def test_plot_of_few_false_alarms():
    """One event is free; the other one costs 7.2 false alarms per day, at half of the points in alarm."""
    ax = dqeval.alarm_curve(LABELS, SCORES, resolution="1h").plot()
    assert line_of(ax) == ([0, 7.2, pytest.approx(9.36)], [0.5, 1, 1])
    assert (ax.get_xscale(), ax.get_xlabel()) == ("linear", "false alarms per day, at most")


def test_plot_of_many_false_alarms():
    """0 is on the axis. The last event is detected only where nearly everything is in alarm: it is not drawn."""
    labels, given = np.zeros(400, dtype=int), np.zeros(400)
    given[:200:4] = 2.0
    labels[[210, 300, 399]], given[[210, 300]] = 1, [3, 1]
    ax = dqeval.alarm_curve(labels, given).plot(pyplot.figure().add_subplot())
    assert line_of(ax) == ([0, 125, pytest.approx(162.5)], pytest.approx([1 / 3, 2 / 3, 2 / 3]))
    assert (ax.get_xscale(), ax.get_xlim()[0]) == ("symlog", 0)
    assert ax.get_xlabel() == "false alarms per 1,000 points, at most"


TICKS = [
    (0.5, 6, ["0", "0.5", "1", "2", "5"]),
    (0.0012, 6, ["0", "0.01", "0.1", "1"]),
    (1e-6, 2000, ["0", "1e-06", "0.0001", "0.01", "1", "100"]),
]


@pytest.mark.parametrize(("smallest", "largest", "expected"), TICKS)
def test_ticks_are_round(smallest, largest, expected):
    ax = pyplot.figure().add_subplot()
    drawing.draw_shares(ax, np.array([0.0, largest]), np.array([0.5, 1.0]), smallest=smallest)
    assert [label.get_text() for label in ax.get_xticklabels()] == expected


def test_plot_where_nothing_is_detected():
    """Constant scores detect everything at once, by one alarm over all points; without an event nothing is found."""
    for labels in ([0, 1, 0], [0, 0, 0]):
        assert line_of(dqeval.alarm_curve(labels, [1, 1, 1]).plot())[1] == [0, 0]
