"""Short series that are joined: every metric says of each what it says of it alone, to the last digit."""

import dataclasses
import math
import types

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dqeval
import strategies as own
from dqeval.analysis import chance, panel_run
from dqeval.analysis.each_detector import Detected, panels_of_detectors
from dqeval.analysis.panel import panel_of, panels_and_errors, panels_of, values_of_metric
from dqeval.analysis.receipts import jsonable
from dqeval.analysis.score import panels, score
from dqeval.core import joined as module
from dqeval.core.joined import Joined, JoinedSweep, at_best, chunks, likeness
from dqeval.core.prepared import Labelled, Scored
from dqeval.core.registry import METRICS
from dqeval.core.sweep import sweep_of
from dqeval.core.thresholds import Best, Swept, best_in_sweep
from dqeval.datasets.door import prepare
from dqeval.lab.cases import Case
from dqeval.lab.judge import Judge
from dqeval.support import threads
from test_sweep import axis_with

ONE_BY_ONE = {"nab_score", "ucr_score", "adtqc"}  # that are not in the default panel, and have no joined form


def same(one, other):
    """Tell whether two numbers are equal, or both unknown."""
    return one == other or (math.isnan(one) and math.isnan(other))


def assert_same_panels(one, other):
    assert list(one.values) == list(other.values)
    for metric in one:
        assert same(one[metric], other[metric]), metric
    assert one.parameters == other.parameters
    assert one.failures == other.failures
    assert list(one.best) == list(other.best)
    for metric, best in one.best.items():
        pairs = zip(dataclasses.astuple(best), dataclasses.astuple(other.best[metric]), strict=True)
        assert all(same(*pair) for pair in pairs), metric
    assert one.dqe.per_event == other.dqe.per_event
    assert (one.dqe.dqe, one.dqe.near, one.dqe.thresholds) == (other.dqe.dqe, other.dqe.near, other.dqe.thresholds)
    curves = [(found.dqe.curve, *found.dqe.curve.per_event) for found in (one, other)]
    for a, b in zip(*curves, strict=True):
        for part in ("thresholds", "dqe", "capture", "near_miss", "false_alarm"):
            np.testing.assert_array_equal(getattr(a, part), getattr(b, part))


@pytest.fixture
def together(monkeypatch):
    """Return of which metrics how many series have been joined."""
    found = []
    add = panel_run._add_together

    def noted(metric, compute, joined, runs):
        add(metric, compute, joined, runs)
        if all(metric.name in run.values for run in runs):
            found.append((metric.name, len(runs)))

    monkeypatch.setattr(panel_run, "_add_together", noted)
    return found


@pytest.fixture(autouse=True)
def _nothing_falls_back(request, monkeypatch):
    """Have what fails in a joined form fail the test, but for tests of what happens then."""
    if request.node.get_closest_marker("falls_back"):
        return
    add = panel_run._add_together

    def strict(metric, compute, joined, runs):
        errors = []

        def noting(*given, **parameters):
            try:
                return compute(*given, **parameters)
            except Exception as error:
                errors.append(error)
                raise

        add(metric, noting, joined, runs)
        assert errors == []
        assert all(metric.name in run.values for run in runs), metric.name

    monkeypatch.setattr(panel_run, "_add_together", strict)


@st.composite
def cases(draw, scores):
    """Draw labels with scores, sometimes with gaps of a clock, and a near range."""
    y_true, y_score = draw(own.labelled(scores, most=6))
    gaps = draw(own.breaks(len(y_true)))
    axis = axis_with(gaps, len(y_true)) if gaps else None
    return Labelled(y_true.astype(bool), axis), y_score.astype(float), draw(own.exact_near | own.any_near)


def odd(length):
    """Draw scores far apart, very close, or constant, too."""
    factors = st.sampled_from([1.0, 1e-320, 1e308, -3.0])
    across_all_numbers = own.scores(length).map(lambda scores: (scores - 0.5) * 1.7e308 * 2)
    return st.tuples(own.scores(length), factors).map(lambda pair: pair[0] * pair[1]) | across_all_numbers


def scored(case):
    labels, scores, _ = case
    return labels.scored(scores)


@given(st.lists(cases(odd), min_size=2, max_size=6), st.sampled_from([100, 7, 5000, "exact"]))
def test_panels_of_several_series_are_those_of_each(several, thresholds):
    several = [case for case in several if not scored(case).binary]
    found = panels_of([(scored(case), case[2]) for case in several], metrics="all", thresholds=thresholds)
    for case, panel in zip(several, found, strict=True):
        assert_same_panels(panel, panel_of(scored(case), case[2], metrics="all", thresholds=thresholds))


@pytest.mark.parametrize("name", [metric.name for metric in METRICS if metric.joined is not None])
@given(st.lists(cases(own.detections), min_size=2, max_size=6))
def test_a_metric_of_detections_of_several_series(name, several):
    """Where there are detections alone, each metric adds up in another order than where they follow from scores."""
    metric = METRICS[name]
    known = values_of_metric(metric, [(scored(case), case[2]) for case in several])
    for case, value in zip(several, known, strict=True):
        if value is not None:
            alone = panel_of(scored(case), case[2], metrics=[name])[name]
            assert value == pytest.approx(alone, abs=1e-12)


def test_every_metric_of_the_default_panel_can_be_joined(together):
    series = [random_series(500, seed) for seed in range(3)]
    panels_of([(each, 20.0) for each in series], metrics="all")
    assert together == [(metric.name, 3) for metric in METRICS if metric.name not in ONE_BY_ONE]
    assert not any(METRICS[name].by_default for name in ONE_BY_ONE)


def random_series(points, seed, every=100):
    random = np.random.default_rng(seed)
    return Labelled(np.arange(points) % every == every // 2).scored(random.random(points))


@pytest.mark.parametrize("points", [30, 900, 5_000])
@pytest.mark.unmeasured
def test_longer_series(points):
    """Of other lengths, with other numbers of events, and near ranges of their own."""
    series = [random_series(points + 7 * seed, seed, every=20 + 3 * seed) for seed in range(5)]
    ties = [Labelled(each.labels).scored(np.round(each.raw, 1)) for each in series]
    several = [(each, 3.7 * k) for k, each in enumerate([*series, *ties])]
    for (each, near), found in zip(several, panels_of(several, metrics="all"), strict=True):
        assert_same_panels(found, panel_of(each.labelled.scored(each.raw), near, metrics="all"))


def test_distinct_scores_that_scaling_makes_equal():
    """PATE takes the scores at which the number of hits changes, once these are scaled."""
    labels = Labelled(np.arange(300) % 2 == 1)
    near_each_other = np.concatenate([[-1.0], 1e-20 * np.arange(294), [0.6, 0.7, 0.8, 0.9, 1.0]])
    several = [(labels.scored(near_each_other), 3.0), (labels.scored(np.arange(300.0)), 3.0)]
    for (each, near), found in zip(several, panels_of(several, metrics=["dqe", "pate"]), strict=True):
        assert_same_panels(found, panel_of(labels.scored(each.raw), near, metrics=["dqe", "pate"]))


@pytest.mark.parametrize(
    ("points", "every"),
    [(1_100, 110), (1_000, 20)],
    ids=["of other units for what points are worth", "of other units for what events are worth"],
)
def test_series_that_are_not_alike_are_not_joined(together, points, every):
    """Or units in which worths are added up would differ, and with them the last digits."""
    series = [random_series(1_000, 0, every=100), random_series(points, 1, every=every)]
    assert likeness(series[0]) != likeness(series[1])
    panels = panels_of([(each, 5.0) for each in series], metrics="all")
    assert together == []
    for each, panel in zip(series, panels, strict=True):
        assert_same_panels(panel, panel_of(each, 5.0, metrics="all"))


def test_what_is_never_joined(together):
    series = random_series(500, 0)
    detections = Labelled(series.labels).scored((series.raw > 0.5).astype(float))
    no_event = Labelled(np.zeros(500, dtype=bool)).scored(series.raw)
    long = random_series(threads.LEAST_POINTS, 0)
    assert [likeness(each) for each in (detections, no_event, long)] == [None] * 3
    assert likeness(detections, detections=True) != likeness(series)
    panels_of([(each, 5.0) for each in (series, detections, detections, long, long)], metrics=["dqe"])
    assert together == []


def test_where_all_points_are_anomalous_metrics_that_need_others_are_asked_one_by_one(together):
    normal = random_series(40, 0)
    anomalous = Labelled(np.ones(40, dtype=bool)).scored(normal.raw)
    found = panels_of([(random_series(40, 1, every=39), 5.0), (anomalous, 5.0)], metrics=["dqe", "auc_roc", "auc_pr"])
    assert [name for name, _ in together] == ["dqe", "auc_pr"]
    assert math.isnan(found[1]["auc_roc"])
    assert "auc_roc" in found[1].failures
    assert found[0]["auc_roc"] > 0


def test_chunks_hold_as_many_points_as_stay_in_a_cache():
    many = list(chunks(range(200), lambda _: 1_000))
    assert [len(each) for each in many] == [65, 65, 65, 5]
    assert [item for each in many for item in each] == list(range(200))
    assert list(chunks([threads.LEAST_POINTS] * 3, lambda points: points)) == [[threads.LEAST_POINTS]] * 3
    assert list(chunks([], len)) == []


def failing_source(name):
    raise OSError(name)


def test_sources_that_fail_do_so_behind_what_came_before():
    def source():
        yield from "ab"
        raise OSError("the third")

    found = chunks(source(), lambda _: 10)
    assert next(found) == ["a", "b"]
    with pytest.raises(OSError, match="the third"):
        next(found)
    with pytest.raises(OSError, match="the first"):
        next(chunks(map(failing_source, ["the first"]), len))


def test_the_thresholds_of_a_joined_form_are_those_of_the_metric(monkeypatch):
    def at_every_level(sweep):
        return sweep.precision_and_recall()

    with pytest.raises(ValueError, match="joined is for 100 thresholds, and sweep is 10: give both the same number"):
        dqeval.metric(takes="detections", sweep=10, at_every_level=at_every_level, joined=at_best(at_every_level))

    monkeypatch.setattr(METRICS, "_entries", dict(METRICS._entries))

    @dqeval.metric(takes="detections", sweep=10, at_every_level=at_every_level, joined=at_best(at_every_level, 10))
    def ten(y_true, y_pred):
        raise AssertionError("nobody asks for a single threshold")

    several = [(random_series(300, seed), 5.0) for seed in range(2)]
    for (series, near), found in zip(several, panels_of(several, metrics=["dqe", "ten"]), strict=True):
        assert_same_panels(found, panel_of(series, near, metrics=["dqe", "ten"]))


def test_metrics_with_very_many_thresholds_are_asked_one_by_one(together, monkeypatch):
    """Or what is known of each threshold of each series would take more memory than all else."""
    at_every_level, sweep = METRICS["range_f1"].at_every_level, 1_000
    many = dataclasses.replace(METRICS["range_f1"], sweep=sweep, joined=at_best(at_every_level, sweep))
    monkeypatch.setitem(METRICS._entries, "range_f1", many)
    few, most = ([random_series(20, seed, every=10) for seed in range(count)] for count in (2, 525))
    for several in (few, most):
        panels_of([(each, 2.0) for each in several], metrics=["range_f1", "auc_pr"])
    assert together == [("range_f1", 2), ("auc_pr", 2), ("auc_pr", 525)]


PARAMETERS = {
    "tapr_f1": [{"alpha": 0.5, "theta": theta, "delta": delta} for theta in (0, 0.5) for delta in (0, 3, 10**9)],
    "etapr_f1": [{"theta_p": theta_p, "theta_r": theta_r} for theta_p in (0, 0.5) for theta_r in (0.01, 1)],
    "delay_point_adjusted_f1": [{"k": k} for k in (0, 7, 10**6)],
    "revised_point_adjusted_f1": [{"early": early, "delay": delay} for early in (0, 500) for delay in (None, 4)],
    "range_f1": [{"alpha": alpha} for alpha in (0, 1)],
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_that_no_panel_gives(name):
    metric = METRICS[name]
    several = [random_series(60 + 7 * seed, seed, every=15 + seed) for seed in range(6)]
    for some in PARAMETERS[name]:
        parameters = {**metric.defaults, **some}
        for each, found in zip(several, metric.joined(Joined(tuple(several)), **parameters), strict=True):
            sweep = sweep_of(each, metric.sweep)
            alone = best_in_sweep(sweep, metric.at_every_level(sweep, **parameters))
            assert dataclasses.astuple(found.parts) == dataclasses.astuple(alone.parts), some
            assert (found.lowest, found.below) == (alone.lowest, alone.below), some


def test_each_series_has_seconds_and_parameters_of_its_own():
    one, other = panels_of([(random_series(300, seed), 5.0) for seed in range(2)], metrics=["dqe", "auc_pr"])
    assert one.seconds["dqe"] > 0
    assert one.parameters["dqe"] == other.parameters["dqe"]
    assert one.parameters["dqe"] is not other.parameters["dqe"]


# Who joins series


def series_of(count, points=300):
    random = np.random.default_rng(0)
    labels = np.arange(points) % 60 == 30
    scores = ({name: random.random(points) for name in "ab"} for _ in range(count))
    return [dqeval.Series(f"s{i}", labels, each) for i, each in enumerate(scores)]


def alone(call, monkeypatch):
    """Return what a call gives where nothing is joined."""
    chance._chance_levels.clear()
    with monkeypatch.context() as patched:
        patched.setattr(panel_run, "likeness", lambda *given, **options: None)
        found = call()
    chance._chance_levels.clear()
    return found


def test_score_joins_series_and_detectors(together, monkeypatch):
    def call():
        return score(series_of(4), metrics=["dqe", "range_f1"], near=5)

    expected = alone(call, monkeypatch)
    assert together == []
    assert call() == expected
    assert together == [("auc_roc", 8), ("dqe", 8), ("range_f1", 8)]  # the first tells of scores the wrong way round


def test_compare_joins_detectors_and_random_scores(together, monkeypatch):
    def call():
        return dqeval.compare(series_of(1)[0], metrics=["dqe", "auc_pr"], near=5)

    expected = alone(call, monkeypatch)
    assert jsonable(call().numbers()) == jsonable(expected.numbers())  # where what is NaN equals itself
    assert together == [("dqe", 2), ("auc_pr", 2), ("dqe", 10), ("auc_pr", 10)]


@pytest.mark.parametrize("binary", [False, True])
def test_chance_joins_random_scores(together, monkeypatch, binary):
    series = series_of(1)[0]
    scores = series.scores["a"] > 0.5 if binary else series.scores["a"]

    def call():
        return dqeval.panel(series.labels, scores, near=5, metrics=["dqe", "tapr_f1"]).chance(repeats=7)

    assert call() == alone(call, monkeypatch)
    assert together == ([] if binary else [("dqe", 7), ("tapr_f1", 7)])


def test_benchmark_runs_join_the_detectors_of_a_file(together):
    series = series_of(1)[0]
    wrong = np.full(300, np.nan)
    scores = {**series.scores, "wrong": wrong}
    found = dict(panels_and_errors(series.labels, scores, near=5, metrics=["dqe", "auc_pr"]))
    assert together == [("dqe", 2), ("auc_pr", 2)]
    assert list(found) == ["a", "b", "wrong"]
    assert found["wrong"].error.startswith("y_score must be finite")
    assert "in finite_array" in found["wrong"].traceback
    assert found["wrong"].seconds > 0
    assert found["b"].errors == {}
    assert found["b"].evaluation == dqeval.panel(series.labels, series.scores["b"], near=5, metrics=["dqe", "auc_pr"])


def test_what_comes_before_an_error_is_told(monkeypatch):
    """Of detectors that are worked on together, those before the one that fails have their turn."""
    compute = METRICS["auc_pr"].compute

    def fail(scored):
        if scored.raw[0] == 0.5:
            raise ZeroDivisionError("half")
        return compute(scored)

    monkeypatch.setitem(METRICS._entries, "auc_pr", dataclasses.replace(METRICS["auc_pr"], compute=fail, joined=None))
    series = series_of(1)[0]
    series.scores["b"][0] = 0.5
    told = []
    found = panels(prepare(series, near=5), metrics=["auc_pr"], progress=lambda done, _: told.append(done))
    assert next(found)[0] == "a"
    with pytest.raises(dqeval.MetricError, match="half"):
        next(found)
    assert told == [1]


def test_properties_join_short_series(together):
    judge = Judge(METRICS["dqe"], seconds=60)
    few = [Case((0, 1, 0), found, near=1) for found in ((0, 1, 0), (1, 0, 0), (0, 0, 0), (0, 1, 0))]
    judge.look_ahead(few)
    assert together == [("dqe", 3)]
    assert [judge.value(case) for case in few] == [Judge(METRICS["dqe"], 60).value(case) for case in few]
    judge.look_ahead(few)  # all is known
    assert len(together) == 1


def test_a_judge_asks_metrics_with_a_limit_in_points_one_by_one(together):
    """The near range of the case is their limit, and not the one that a panel has."""
    judge = Judge(METRICS["delay_point_adjusted_f1"], seconds=60)
    late, later = (Case((0, 1, 1, 1, 1, 0), found, near=1) for found in ((0, 0, 0, 1, 0, 0), (0, 0, 1, 0, 0, 0)))
    judge.look_ahead([late, later])
    assert together == []
    assert [judge.value(late), judge.value(later)] == [0.0, 1.0]


def test_what_is_asked_of_a_judge_together_is_what_is_asked_one_by_one():
    several = [random_series(400, seed) for seed in range(3)]
    judge = Judge(METRICS["pate"], seconds=60)
    expected = [judge.value_of(each, 5, lambda: "it") for each in several]
    assert judge.values_of(several, 5, lambda: "it") == expected


# What goes wrong


def failing(joined, **parameters):
    raise ZeroDivisionError("of nothing")


def undefined(joined, **parameters):
    raise dqeval.UndefinedError("nobody knows")


def without_precision(joined):
    return [Best(parts=types.SimpleNamespace(value=0.5), lowest=0.5, below=0.4) for _ in joined.members]


def of_infinite_recall(joined):
    return [Best(Swept(0.5, 0.5, math.inf), lowest=0.5, below=0.4) for _ in joined.members]


def panels_with_joined(monkeypatch, metric, joined):
    """Return the panels of a metric whose joined form is another one, and what they should be."""
    several = [(random_series(300, seed), 5.0) for seed in range(2)]
    expected = panels_of(several, metrics=["dqe", metric])
    wrong = dataclasses.replace(METRICS[metric], joined=lambda found, **parameters: joined(found))
    monkeypatch.setitem(METRICS._entries, metric, wrong)
    return panels_of(several, metrics=["dqe", metric]), expected


@pytest.mark.falls_back
@pytest.mark.parametrize(
    ("metric", "joined", "why"),
    [
        ("auc_pr", failing, "ZeroDivisionError: of nothing"),
        ("auc_pr", lambda joined: [0.5], "ValueError: it gave 1 result for 2 series"),
        ("auc_pr", lambda joined: [0.5, "much"], "TypeError: "),
        ("auc_pr", lambda joined: None, "TypeError: "),
        ("range_f1", lambda joined: [0.5, 0.5], "TypeError: it gave float, and no Best, for a metric of detections"),
        ("range_f1", without_precision, "AttributeError: "),
    ],
)
def test_where_joining_fails_a_warning_says_why_and_metrics_are_asked_one_by_one(monkeypatch, metric, joined, why):
    with pytest.warns(dqeval.PluginWarning, match=f"^the metric {metric} cannot .* joined function failed: {why}"):
        found, expected = panels_with_joined(monkeypatch, metric, joined)
    assert found == expected
    assert [panel.best for panel in found] == [panel.best for panel in expected]


@pytest.mark.falls_back
@pytest.mark.parametrize(
    ("metric", "joined"),
    [("auc_pr", lambda joined: [0.5, math.nan]), ("auc_pr", undefined), ("range_f1", of_infinite_recall)],
)
def test_what_is_not_finite_is_asked_one_by_one(monkeypatch, metric, joined):
    """The metric itself says why it is undefined, and of which series."""
    found, expected = panels_with_joined(monkeypatch, metric, joined)
    assert found == expected
    assert [panel.best for panel in found] == [panel.best for panel in expected]


@pytest.mark.falls_back
def test_errors_say_which_series_and_which_detector():
    several = [Detected(name, random_series(300, 0), 1e9, series="s") for name in "ab"]
    with pytest.raises(ValueError, match=r"^s: column a: near 1e\+09 will not do for vus_pr"):
        list(panels_of_detectors(several, ["vus_pr"], 100))


@pytest.mark.falls_back
def test_short_memory_is_not_taken_for_a_fault(monkeypatch):
    def short(joined, **parameters):
        raise MemoryError

    monkeypatch.setitem(METRICS._entries, "auc_pr", dataclasses.replace(METRICS["auc_pr"], joined=short))
    several = [Detected(name, random_series(300, 0), 5.0) for name in "ab"]
    with pytest.raises(MemoryError):
        list(panels_of_detectors(several, ["auc_pr"], 100))


# What is joined


def test_levels_of_joined_series_follow_each_other():
    labelled = Joined(tuple(Scored(Labelled(np.array([False, True])), np.zeros(2)) for _ in range(2))).labelled
    sweep = JoinedSweep.of(labelled, np.array([0, 2, 3, 0], dtype=np.intc), 3)
    assert sweep.levels.tolist() == [0, 2, 6, 0]
    assert (sweep.count, sweep.each) == (6, 3)
    assert sweep.detected.tolist() == [0, 1, 1, 1, 1, 1]
    assert sweep.hits.tolist() == [0, 1, 1, 0, 0, 0]
    assert labelled.breaks.tolist() == [2]


def test_regions_of_joined_series_do_not_reach_into_each_other():
    members = [Labelled(np.array(labels, dtype=bool)) for labels in ([0, 1, 0, 0], [0, 0, 0, 1])]
    regions = module.JoinedLabelled.of(members).regions(0.0)
    assert regions.left.tolist() == [0, 4]
    assert regions.right.tolist() == [4, 8]
