"""One metric by its name, as other libraries call it."""

import math
import pickle

import numpy as np
import pytest

import dqeval
from dqeval.analysis.metric_function import MetricFunction
from dqeval.core.sampling import Clock

TWO_EVENTS, SCORES = [0, 1, 0, 0, 1, 0], [0, 9, 0, 0, 5, 1]


def test_a_metric_of_the_panel():
    assert MetricFunction("auc_pr")(TWO_EVENTS, SCORES) == dqeval.metrics.auc_pr(TWO_EVENTS, SCORES)


@pytest.mark.parametrize(("metric", "labels"), [("ucr_score", TWO_EVENTS), ("dqe", [0] * 6)])
def test_undefined_for_a_reason_of_the_metric_or_of_the_labels(metric, labels):
    with pytest.raises(dqeval.UndefinedError, match='pass undefined="nan" to get NaN with a warning instead'):
        MetricFunction(metric)(labels, SCORES)
    with pytest.warns(dqeval.UndefinedWarning, match="NaN is returned"):
        assert math.isnan(MetricFunction(metric, undefined="nan")(labels, SCORES))


SERIES = dqeval.datasets.demo()
LABELS, LATE = SERIES.labels, SERIES.scores["late"]


def test_a_metric_takes_its_own_parameters():
    for metric, parameters in {
        "nab_score": {"profile": "reward_low_FP", "probation": 0.1},
        "delay_point_adjusted_f1": {"k": 2.0},
        "point_adjusted_k_f1": {"k": 0.7},
    }.items():
        found = MetricFunction(metric, parameters=parameters)(LABELS, LATE)
        assert found == dqeval.best_threshold(metric, LABELS, LATE, **parameters).value
        assert found != MetricFunction(metric)(LABELS, LATE)
        detections = LATE > 0.5
        assert MetricFunction(metric, parameters=parameters)(LABELS, detections) == getattr(dqeval.metrics, metric)(
            LABELS, detections, **parameters
        )
    for metric, parameters in {
        "dqe": {"thresholds": "exact"},
        "vus_pr": {"window": 10.0, "thresholds": 17},
        "pate": {"early": 3, "late": 5.0, "thresholds": 17},
    }.items():
        found = MetricFunction(metric, period=48, parameters=parameters)(LABELS, LATE)
        function = dqeval.METRICS[metric].function
        near = {"near": 24} if metric == "dqe" else {}
        assert found == pytest.approx(function(LABELS, LATE, **near, **parameters), abs=1e-12)
        assert found != MetricFunction(metric, period=48)(LABELS, LATE)


def test_a_window_that_is_given_does_not_follow_from_the_near_range():
    assert MetricFunction("vus_pr", near=3, parameters={"window": 10})(LABELS, LATE) == MetricFunction(
        "vus_pr", near=5
    )(LABELS, LATE)


def test_parameters_of_their_default_change_nothing():
    for metric in dqeval.METRICS:
        labels = LABELS if metric.name != "ucr_score" else np.arange(len(LABELS)) == 400
        expected = MetricFunction(metric.name)(labels, LATE)
        assert MetricFunction(metric.name, parameters=metric.defaults)(labels, LATE) == expected


@pytest.mark.parametrize(
    ("metric", "parameters", "said"),
    [
        ("nab_score", {"profil": "standard"}, "the metric nab_score has no 'profil': did you mean 'profile'?"),
        ("auc_pr", {"window": 3}, "the metric auc_pr has no 'window': there are none"),
        ("dqe", {"scale": "none"}, "the metric dqe has no 'scale': there are thresholds"),
        ("nab_score", {"profile": "low"}, "profile must be .*: got 'low'"),
        ("delay_point_adjusted_f1", {"k": -1}, "k must be a whole number of at least 0: got -1"),
        ("dqe", {"thresholds": 0}, "thresholds must be a whole number of at least 1"),
        ("vus_roc", {"window": -1}, "window must be a whole number of at least 0"),
        ("vus_pr", {"thresholds": 1.5}, "thresholds must be a whole number of at least 2"),
        ("pate", {"early": -1}, "early must be a whole number of at least 0"),
        ("ucr_score", {"rule": "any"}, "rule must be 'contest' or 'closed': got 'any'"),
        ("ucr_score", {"tolerance": -1}, "tolerance must be a whole number of at least 0"),
    ],
)
def test_wrong_parameters_are_refused_at_once(metric, parameters, said):
    with pytest.raises(ValueError, match=said):
        MetricFunction(metric, parameters=parameters)


def test_durations_need_a_clock():
    with pytest.raises(ValueError, match="is a duration, and there is no clock"):
        MetricFunction("dqe", near="10min")
    times = np.datetime64("2026-01-01") + np.arange(len(LABELS)) * np.timedelta64(1, "m")
    found = MetricFunction("vus_pr", near="10min", on_clock=True)(LABELS, LATE, clock=Clock(times))
    assert found == MetricFunction("vus_pr", near=10)(LABELS, LATE)
    with pytest.raises(ValueError, match="give at most one of near, period"):
        MetricFunction("dqe", near="10min", period="1h", on_clock=True)


def test_it_has_the_name_of_the_metric_and_can_be_sent_away():
    function = MetricFunction("nab_score", parameters={"probation": 0.1})
    assert function.__name__ == "nab_score"
    assert MetricFunction.__name__ == "MetricFunction"
    assert pickle.loads(pickle.dumps(function)) == function
    assert "nab_score" in repr(function)


def test_a_label_will_do_and_a_group_will_not():
    assert MetricFunction("Event-F1") == MetricFunction("event_f1")
    with pytest.raises(ValueError, match=r"'events' is a group of metrics: composite_f1, .*; choose one"):
        MetricFunction("events")
