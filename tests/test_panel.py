"""The panel: every metric from one call, with what it took, where it is best, and what chance gets."""

import dataclasses
import math
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dqeval
import naive
from dqeval.analysis.chance import _random_alerts
from dqeval.core import prepared, thresholds
from dqeval.core.events import find_events
from dqeval.core.metric_choice import default_metrics
from dqeval.core.thresholds import shortest_threshold

SERIES = dqeval.datasets.demo()
Y_TRUE, Y_SCORE = SERIES.labels, SERIES.scores["jumpy"]


@pytest.fixture(scope="module")
def evaluation():
    return dqeval.panel(Y_TRUE, Y_SCORE, period=48)


def test_all_metrics_with_the_papers_parameters(evaluation):
    assert tuple(evaluation.values) == default_metrics() == tuple(evaluation.seconds)
    assert evaluation.failures == {}
    assert not evaluation.binary
    assert evaluation.parameters["vus_pr"] == {"window": 48, "thresholds": 100}
    assert evaluation.parameters["pate"] == {"early": 24, "late": 24, "thresholds": 100}
    assert evaluation.parameters["dqe"] == {"near": 24.0, "thresholds": 100}
    assert evaluation["vus_pr"] == dqeval.metrics.vus_pr(Y_TRUE, Y_SCORE, window=48)
    assert evaluation["pate"] == dqeval.metrics.pate(Y_TRUE, Y_SCORE, early=24, late=24)
    assert evaluation["range_f1"] == dqeval.best_threshold("range_f1", Y_TRUE, Y_SCORE).value
    assert evaluation.dqe == dqeval.evaluate(Y_TRUE, Y_SCORE, period=48)
    assert evaluation["dqe"] == evaluation.dqe.dqe


def test_exact_thresholds_are_of_dqe_alone(evaluation):
    found = dqeval.panel(Y_TRUE, Y_SCORE, period=48, thresholds="exact")
    assert found.dqe == dqeval.evaluate(Y_TRUE, Y_SCORE, period=48, thresholds="exact")
    assert found.parameters["dqe"] == {"near": 24.0, "thresholds": "exact"}
    others = [name for name in found if name != "dqe"]
    assert {name: found[name] for name in others} == {name: evaluation[name] for name in others}
    few = dqeval.panel(Y_TRUE, Y_SCORE, period=48, thresholds=7, metrics=["dqe"])
    assert few["dqe"] == dqeval.dqe_score(Y_TRUE, Y_SCORE, period=48, thresholds=7)
    chance = [dqeval.panel(Y_TRUE, Y_SCORE, period=48, thresholds=t, metrics=["dqe"]).chance(repeats=1) for t in (7, 8)]
    assert chance[0].mean != chance[1].mean
    with pytest.raises(ValueError, match='thresholds must be a whole number of at least 1, or "exact"'):
        dqeval.panel(Y_TRUE, Y_SCORE, period=48, thresholds="all")


def test_an_odd_period():
    found = dqeval.panel(Y_TRUE, Y_SCORE, period=25, metrics=["dqe", "vus_roc", "pate"])
    assert found.parameters["vus_roc"]["window"] == 25
    assert found.parameters["pate"]["early"] == 12
    assert found.near == found.parameters["dqe"]["near"] == 12.5


def test_detections_use_the_papers_other_parameters():
    found = dqeval.panel(Y_TRUE, Y_SCORE > 0.7, near=10)
    assert found.binary
    assert found.best == {}
    assert found.parameters["vus_roc"] == {"window": 10, "thresholds": 250}
    assert found.parameters["pate"] == {"early": 10, "late": 10, "thresholds": 250}
    assert found["range_f1"] == dqeval.metrics.range_f1(Y_TRUE, Y_SCORE > 0.7)
    assert found["dqe"] == pytest.approx(dqeval.sdqe_score(Y_TRUE, Y_SCORE > 0.7, near=10))
    with pytest.raises(KeyError, match="'range_f1' has no best threshold here: no metric has"):
        found.threshold("range_f1")


def test_thresholds_are_in_the_units_of_the_scores(evaluation):
    moved = dqeval.panel(Y_TRUE, 1024 * Y_SCORE - 256, period=48)
    for name in evaluation.best:
        assert moved[name] == pytest.approx(evaluation[name], abs=1e-12)
        moved_pred = moved.threshold(name) <= 1024 * Y_SCORE - 256
        np.testing.assert_array_equal(moved_pred, evaluation.threshold(name) <= Y_SCORE)
        y_pred = evaluation.threshold(name) <= Y_SCORE
        metric = dqeval.METRICS[name]
        assert metric.function(Y_TRUE, y_pred, **evaluation.parameters[name]) == pytest.approx(evaluation[name])
    with pytest.raises(KeyError, match="'dqe' has no best threshold here: pate_f1, point_f1"):
        evaluation.threshold("dqe")


def test_some_metrics():
    found = dqeval.panel(Y_TRUE, Y_SCORE, period=48, metrics=["vus_pr", "auc_roc"])
    assert list(found.values) == ["vus_pr", "auc_roc"]
    assert found.dqe is None
    with pytest.raises(KeyError, match="'dqe' is not among the metrics of this panel: vus_pr, auc_roc"):
        found["dqe"]
    with pytest.raises(ValueError, match="did you mean 'vus_pr'"):
        dqeval.panel(Y_TRUE, Y_SCORE, period=48, metrics=["vuspr"])
    assert list(dqeval.panel(Y_TRUE, Y_SCORE, period=48, metrics="dqe")) == ["dqe"]
    with pytest.raises(ValueError, match="metrics is empty"):
        dqeval.panel(Y_TRUE, Y_SCORE, period=48, metrics=[])


def test_a_panel_is_like_a_mapping(evaluation):
    assert list(evaluation) == list(evaluation.values)
    assert "dqe" in evaluation
    assert len(evaluation) == len(default_metrics())
    assert evaluation == dqeval.panel(Y_TRUE, Y_SCORE, period=48)


def test_constant_scores_of_1_are_scores_like_all_constant_ones():
    """Everything that takes scores has one rule; what takes detections takes them for detections."""
    y_true, ones = [0, 1, 1, 0, 0], [1, 1, 1, 1, 1]
    found = dqeval.panel(y_true, ones, near=2)
    assert not found.binary
    assert found.values == dqeval.panel(y_true, [7, 7, 7, 7, 7], near=2).values
    frame = dqeval.evaluate_frame(pd.DataFrame({"label": y_true, "ones": ones}), scores=["ones"], near=2)
    many = dqeval.evaluate_many([y_true], [ones], near=2)
    assert found["dqe"] == dqeval.evaluate(y_true, ones, near=2).dqe == 0
    assert frame["dqe"].tolist() == many.dqe.ravel().tolist() == [0]
    assert dqeval.sdqe_score(y_true, ones, near=2) > 0.5


def test_printed_thresholds_can_be_used(evaluation):
    for line in str(evaluation).splitlines()[2:-1]:
        label, value, *threshold = line.split()
        metric = next(metric for metric in dqeval.METRICS if metric.label == label)
        if threshold:
            y_pred = float(threshold[0]) <= Y_SCORE
            assert f"{metric.function(Y_TRUE, y_pred, **evaluation.parameters[metric.name]):.3f}" == value


def test_scores_far_apart_keep_their_ranks():
    """Scaled to [0, 1], the last four would be equal."""
    y_true, y_score = [0, 0, 0, 1, 1], [-1e17, 0.1, 0.2, 0.8, 0.9]
    found = dqeval.panel(y_true, y_score, near=1, metrics=["auc_roc", "auc_pr", "point_f1", "vus_roc", "vus_pr"])
    assert set(found.values.values()) == {1.0}
    assert found.threshold("point_f1") == 0.8


def test_one_metric_that_is_undefined_does_not_stop_the_others():
    found = dqeval.panel([1, 1, 1], [0.1, 0.9, 0.5], near=1)
    assert set(found.failures) == {"auc_roc", "vus_roc", "vus_pr"}
    assert "y_true has no normal point" in found.failures["auc_roc"]
    assert math.isnan(found["auc_roc"])
    assert found["point_f1"] == 1
    assert "undefined, because y_true has no normal point" in str(found)


def test_no_anomaly():
    with pytest.raises(dqeval.UndefinedError):
        dqeval.panel([0, 0], [0.1, 0.9], near=1)
    with pytest.warns(dqeval.UndefinedWarning) as caught:
        found = dqeval.panel([0, 0], [0.1, 0.9], near=1, undefined="nan")
    assert caught[0].filename == __file__
    assert all(map(math.isnan, found.values.values()))
    assert found.dqe is None
    assert math.isnan(found.chance(repeats=2).mean["dqe"])


def test_prints_with_the_papers_labels(evaluation):
    lines = str(evaluation).splitlines()
    assert lines[0].split() == ["metric", "value", "at", "threshold"]
    assert [line.split()[0] for line in lines[2:-1]] == [dqeval.METRICS[name].label for name in default_metrics()]
    assert lines[-1] == "near 24"
    assert evaluation._repr_html_().count("<tr>") == len(default_metrics()) + 1


@pytest.mark.skipif(not dqeval.kernels.compiled, reason="many panels, which is slow with interpreted kernels")
def test_chance():
    """Uniform noise: half for AUC-ROC, and far above 0 for the metrics that are kind to it."""
    found = dqeval.panel(Y_TRUE, Y_SCORE, period=48, metrics=["auc_roc", "point_adjusted_f1", "affiliation_f1", "dqe"])
    chance = found.chance(repeats=5, seed=1)
    assert chance.mean["auc_roc"] == pytest.approx(0.5, abs=0.03)
    assert chance.mean["affiliation_f1"] > 0.6
    assert chance.mean["point_adjusted_f1"] > 0.6
    assert chance.mean["dqe"] < 0.25
    assert all(spread > 0 for spread in chance.spread.values())
    assert chance == found.chance(repeats=5, seed=1)
    assert chance != found.chance(repeats=5, seed=2)
    assert "by chance" in str(chance)
    assert "5 random repeats" in chance._repr_html_()
    with pytest.raises(ValueError, match="repeats must be a whole number of at least 1: got 0"):
        found.chance(repeats=0)


def test_chance_of_detections_detects_as_many_points():
    y_pred = Y_SCORE > 0.7
    chance = dqeval.panel(Y_TRUE, y_pred, near=24, metrics=["point_f1", "auc_roc"]).chance(repeats=20)
    share = y_pred.mean()
    assert chance.mean["point_f1"] == pytest.approx(2 * share * Y_TRUE.mean() / (share + Y_TRUE.mean()), abs=0.03)
    assert chance.mean["auc_roc"] == pytest.approx(0.5, abs=0.03)


@given(st.lists(st.integers(1, 6), max_size=8), st.integers(0, 30), st.integers(0, 99))
def test_random_alerts_last_as_long_and_are_apart(lengths, more, seed):
    points = sum(lengths) + max(len(lengths) - 1, 0) + more or 1
    drawn = _random_alerts(np.random.default_rng(seed), np.array(lengths, dtype=np.intp), points)
    assert len(drawn) == points
    runs = find_events(drawn == 1)
    assert sorted((runs.stops - runs.starts).tolist()) == sorted(lengths)


def test_random_alerts_lie_anywhere():
    random = np.random.default_rng(0)
    draws = [_random_alerts(random, np.array([2, 1]), 6) for _ in range(600)]
    every = {tuple(draw.astype(int).tolist()) for draw in draws}
    assert len(every) == 12  # of two alerts in two orders, with three free points, of which one is between them
    assert np.mean(draws, axis=0) == pytest.approx(np.mean(list(every), axis=0), abs=0.07)


FINE = np.datetime64("2026-01-01") + np.arange(6 * 60 * 24) * np.timedelta64(10, "s")
INCIDENT = np.isin(np.arange(len(FINE)) // 180, [7, 20, 31, 44])
ALERT = np.isin(np.arange(len(FINE)) // 60, [22, 40, 62, 79, 100, 101, 118, 140])


@pytest.mark.skipif(not dqeval.kernels.compiled, reason="many panels, which is slow with interpreted kernels")
def test_chance_of_alerts_hardly_depends_on_the_resolution():
    """Single points would be an alert each, of which finer cells have more."""

    def chance(resolution, **options):
        panel = dqeval.panel(INCIDENT, ALERT, times=FINE, resolution=resolution, metrics=["dqe"], **options)
        return panel.chance(repeats=60)

    for options in ({"near": "15min"}, {}):
        levels = [chance(resolution, **options) for resolution in ("10s", "1min", "5min")]
        assert {level.drawn for level in levels} == {"as many random alerts"}
        assert np.ptp([level.mean["dqe"] for level in levels]) < 0.05
    points = [
        dqeval.panel(INCIDENT[::step], ALERT[::step], near=90 / step, metrics=["dqe"]).chance(repeats=60)
        for step in (1, 6, 30)
    ]
    assert {each.drawn for each in points} == {"as many random detections"}
    assert np.ptp([each.mean["dqe"] for each in points]) > 0.2


def test_an_index_that_nobody_asked_for_changes_no_chance_level():
    index = pd.DatetimeIndex(FINE[: len(Y_TRUE)])
    options = {"near": 24, "metrics": ["dqe", "point_f1"]}
    plain = dqeval.panel(Y_TRUE, Y_SCORE > 0.7, **options).chance(repeats=2)
    assert dqeval.panel(pd.Series(Y_TRUE, index=index), Y_SCORE > 0.7, **options).chance(repeats=2) == plain


def test_chance_without_a_detection():
    labels, times = np.arange(60) // 10 == 3, FINE[:60]
    found = dqeval.panel(labels, np.zeros(60), times=times, near=2, metrics=["dqe", "point_f1"])
    chance = found.chance(repeats=2)
    assert chance.mean == found.values
    assert set(chance.spread.values()) == {0.0}


@pytest.mark.skipif(not dqeval.kernels.compiled, reason="many panels, which is slow with interpreted kernels")
def test_evaluations_travel_between_processes(evaluation):
    copy = pickle.loads(pickle.dumps(evaluation))
    assert copy == evaluation
    assert copy.chance(repeats=1) == evaluation.chance(repeats=1)


def test_a_changed_copy_has_no_chance_level(evaluation):
    with pytest.raises(ValueError, match="a changed copy of an evaluation has no chance level"):
        dataclasses.replace(evaluation, near=7.0).chance()


def test_best_threshold():
    best = dqeval.best_threshold("range_f1", Y_TRUE, Y_SCORE, alpha=0.5)
    parts = dqeval.metrics.range_parts(Y_TRUE, best.threshold <= Y_SCORE, alpha=0.5)
    assert (best.value, best.precision, best.recall) == (parts.f1, parts.precision, parts.recall)
    every = dqeval.best_threshold("range_f1", Y_TRUE, Y_SCORE, alpha=0.5, thresholds="all")
    assert every.value >= best.value
    assert dqeval.best_threshold("range_f1", Y_TRUE, Y_SCORE, thresholds=3).value <= every.value
    with pytest.raises(ValueError, match="auc_roc takes scores and needs no threshold; those that do are pate_f1"):
        dqeval.best_threshold("auc_roc", Y_TRUE, Y_SCORE)
    with pytest.raises(ValueError, match='thresholds must be a whole number of at least 2, or "all": got 1'):
        dqeval.best_threshold("range_f1", Y_TRUE, Y_SCORE, thresholds=1)
    with pytest.raises(ValueError, match="alpha must be a number from 0 to 1"):
        dqeval.best_threshold("range_f1", Y_TRUE, Y_SCORE, alpha=2)
    with pytest.raises(TypeError, match="beta"):
        dqeval.best_threshold("range_f1", [0, 0], [0, 1], beta=2, undefined="nan")
    with pytest.raises(ValueError, match='thresholds must be a whole number of at least 2, or "all": got array'):
        dqeval.best_threshold("range_f1", Y_TRUE, Y_SCORE, thresholds=np.array([0.1, 0.2]))
    with pytest.warns(dqeval.UndefinedWarning):
        assert math.isnan(dqeval.best_threshold("range_f1", [0, 0], [0, 1], undefined="nan").value)


def test_parameters_are_computed_with_as_they_were_checked():
    whole, real = (dqeval.best_threshold("delay_point_adjusted_f1", Y_TRUE, Y_SCORE, k=k) for k in (2, 2.0))
    assert whole == real
    windows = [(int(Y_TRUE.argmax()), int(Y_TRUE.argmax()) + 5)]
    given, once = (dqeval.best_threshold("nab_score", Y_TRUE, Y_SCORE, windows=w) for w in (windows, iter(windows)))
    assert given.value == once.value > 0
    with pytest.raises(ValueError, match=r"late must be a whole number of at least 0: got 0.5"):
        dqeval.best_threshold("pate_f1", Y_TRUE, Y_SCORE, early=1, late=0.5)
    with pytest.raises(TypeError, match=r"pate_f1 missing a required .*argument: 'early'"):
        dqeval.best_threshold("pate_f1", Y_TRUE, Y_SCORE)


@pytest.mark.parametrize("metric", [metric for metric in dqeval.METRICS if metric.takes == "detections"])
def test_every_parameter_of_a_metric_of_detections_is_checked(metric):
    assert set(metric.checks) == {*metric.defaults, *metric.from_near}


def test_the_help_on_best_thresholds_names_the_metrics_that_are_special():
    text = " ".join(dqeval.best_threshold.__doc__.split())
    every = [
        f"``{metric.name}``" for metric in dqeval.METRICS if metric.sweep == "all" and metric.takes == "detections"
    ]
    assert f"every distinct score for {' and '.join(every)}, 100 for the others" in text
    for metric in dqeval.METRICS:
        if metric.perfect != 1 and metric.takes == "detections":
            assert f"up to {metric.perfect:g} for ``{metric.name}``" in text
        if metric.threshold_of is not None:
            assert f"``{metric.name}`` is not maximised: it is taken where ``{metric.threshold_of}`` is best" in text


def test_the_highest_of_equally_good_thresholds():
    y_score = np.array([0.0, 0.9, 0.6, 0.3])
    assert dqeval.best_threshold("point_adjusted_f1", [0, 1, 1, 1], y_score).threshold == 0.9
    best = dqeval.best_threshold("point_f1", [0, 1, 0, 1, 1, 1], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4])
    assert best.threshold == 0.4
    best = dqeval.best_threshold("point_f1", [1, 0, 0, 1], [0.9, 0.8, 0.7, 0.6])
    assert (best.value, best.threshold) == (pytest.approx(2 / 3), 0.9)  # as good as 0.6, which detects everything


def test_labels_may_change_after_the_panel():
    y_true = Y_TRUE.copy()
    found = dqeval.panel(y_true, Y_SCORE, period=48, metrics=["auc_roc"])
    expected = found.chance(repeats=2)
    y_true[:800] = True
    assert found.chance(repeats=2) == expected


def test_ranges_beyond_all_bounds():
    assert dqeval.panel(Y_TRUE, Y_SCORE, near=1e308, metrics=["dqe", "pate"])["dqe"] > 0
    with pytest.raises(ValueError, match=r"^near 1e\+308 will not do for vus_pr: window must be a whole number"):
        dqeval.panel(Y_TRUE, Y_SCORE, near=1e308, metrics=["dqe", "vus_pr"])
    with pytest.raises(ValueError, match=r"^near 2e\+07 .* window must be at most 10,000,000: got 20,000,000$"):
        dqeval.panel(Y_TRUE, Y_SCORE > 0.5, near=2e7, metrics=["vus_roc"])
    with pytest.raises(ValueError, match=r"^window must be at most 10,000,000: got 10,000,001$"):
        dqeval.metrics.vus_pr(Y_TRUE, Y_SCORE, window=10**7 + 1)
    y_true, y_pred = [0, 0, 1, 1, 0, 0], [0, 0, 0, 1, 1, 0]
    far = dqeval.metrics.pate_f1(y_true, y_pred, early=10**20, late=2**63 - 1)
    assert far == dqeval.metrics.pate_f1(y_true, y_pred, early=6, late=6)
    nearly = naive.tapr_f1(y_true, y_pred, delta=10**6)
    assert dqeval.metrics.tapr_f1(y_true, y_pred, delta=2**63 - 1) == pytest.approx(nearly, abs=1e-5)


def test_a_threshold_between_neighbouring_floats():
    """Where nothing shorter separates them, the lowest detected score itself is the threshold."""
    for lowest in np.random.default_rng(0).random(200):
        assert shortest_threshold(np.array([np.nextafter(lowest, 0), lowest]), lowest) == lowest


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=9), st.data())
def test_the_shortest_threshold_separates(scores, data):
    lowest = data.draw(st.sampled_from(scores))
    threshold = shortest_threshold(np.array(scores), lowest)
    assert [s >= threshold for s in scores] == [s >= lowest for s in scores]


def test_what_is_detected_at_a_threshold_is_looked_at_once(monkeypatch):
    looked = []
    monkeypatch.setattr(prepared, "find_events", lambda flags: looked.append(flags) or find_events(flags))
    dqeval.panel(Y_TRUE, Y_SCORE, near=24)
    assert len(looked) == 1  # labels
    for name in ("range_f1", "affiliation_f1"):
        metric = replace(dqeval.METRICS[name], at_every_level=None)
        monkeypatch.setitem(dqeval.METRICS._entries, name, metric)
    levels = len(list(thresholds.detections_at(prepared.Labelled(Y_TRUE).scored(Y_SCORE), 100)))
    looked.clear()
    dqeval.panel(Y_TRUE, Y_SCORE, near=24)
    assert len(looked) == 1 + levels  # labels, and detections


@pytest.mark.unmeasured
def test_metrics_with_other_thresholds_are_searched_apart(monkeypatch):
    metric = replace(dqeval.METRICS["range_f1"], at_every_level=None)
    for name in ("range_f1", "tapr_f1"):
        monkeypatch.setitem(dqeval.METRICS._entries, name, replace(dqeval.METRICS[name], at_every_level=None))
    alone = dqeval.panel(Y_TRUE, Y_SCORE, near=24, metrics=["tapr_f1", "range_f1"])
    few = dqeval.best_threshold("range_f1", Y_TRUE, Y_SCORE, thresholds=5)
    monkeypatch.setitem(dqeval.METRICS._entries, "few", replace(metric, name="few", sweep=5))
    found = dqeval.panel(Y_TRUE, Y_SCORE, near=24, metrics=["range_f1", "few", "tapr_f1"])
    assert found.best["few"] == few
    assert {name: found.best[name] for name in alone.best} == alone.best


def test_the_chance_level_of_the_same_labels_is_computed_once(monkeypatch):
    monkeypatch.setattr("dqeval.analysis.chance._chance_levels", {})
    computed, seen = [], []
    rows = dqeval.analysis.chance._random_rows

    def counted(*given):
        computed.append(given)
        return rows(*given)

    monkeypatch.setattr("dqeval.analysis.chance._random_rows", counted)
    names = ["auc_roc", "point_f1"]
    one, other = (dqeval.panel(Y_TRUE, scores, period=48, metrics=names) for scores in (Y_SCORE, -Y_SCORE))
    first = one.chance(repeats=2)
    again = other.chance(repeats=2, progress=lambda done, total: seen.append((done, total)))
    assert (first.mean, first.spread) == (again.mean, again.spread)
    assert again.values == other.values
    assert (len(computed), seen) == (1, [(1, 2), (2, 2)])
    for changed in ({"seed": 1}, {"repeats": 3}):
        assert one.chance(**{"repeats": 2, **changed}).mean != first.mean
    assert dqeval.panel(~Y_TRUE.astype(bool), Y_SCORE, period=48, metrics=names).chance(repeats=2).mean != first.mean
    assert len(computed) == 4


def test_few_chance_levels_are_kept(monkeypatch):
    kept = {}
    monkeypatch.setattr("dqeval.analysis.chance._chance_levels", kept)
    monkeypatch.setattr("dqeval.analysis.chance.MOST_CHANCE_LEVELS", 2)
    found = dqeval.panel(Y_TRUE, Y_SCORE, period=48, metrics=["point_f1"])
    for seed in range(4):
        found.chance(repeats=1, seed=seed)
    assert [key[-1] for key in kept] == [2, 3]
