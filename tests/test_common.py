"""What every registered metric must do, and which of them have which property."""

import math
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import dqeval
import naive
import strategies as own
from dqeval.core.registry import Registry
from dqeval.core.types import PrecisionRecall

NEAR = 3
NAMES = dqeval.METRICS.names
every_metric = pytest.mark.parametrize("name", NAMES)

# A new metric must say here what it is; test_the_properties_cover_the_registry holds that. What each word means:
# scores: takes scores, not detections. range: has a window or buffers. reversible: time reversal changes nothing.
# ranks: an increasing transform of the scores changes nothing. normal: needs a normal point. single: needs exactly one
# event. timed: depends on when an event is detected. borrows: has no best threshold, but that of another metric.
# negative: may be below 0.
PROPERTIES = {
    "dqe": {"scores", "range", "reversible"},
    "dqe_log_rank": {"scores", "range", "reversible", "ranks"},
    "auc_roc": {"scores", "reversible", "ranks", "normal"},
    "auc_pr": {"scores", "reversible", "ranks"},
    "vus_roc": {"scores", "range", "reversible", "ranks", "normal"},
    "vus_pr": {"scores", "range", "reversible", "ranks", "normal"},
    "pate": {"scores", "range"},
    "pate_f1": {"range"},
    "point_f1": {"reversible", "ranks"},
    "point_adjusted_f1": {"reversible"},
    "point_adjusted_k_f1": {"reversible"},
    "range_f1": {"reversible"},
    "etapr_f1": {"reversible"},
    "tapr_f1": {"reversible"},
    "affiliation_f1": {"reversible"},
    "composite_f1": {"reversible"},
    "event_f1": {"reversible"},
    "event_corrected_f05": {"reversible"},
    "revised_point_adjusted_f1": {"reversible"},
    "delay_point_adjusted_f1": {"timed"},
    "adtqc": {"timed", "borrows"},
    "nab_score": {"timed", "ranks", "negative"},
    "ucr_score": {"scores", "reversible", "ranks", "single"},
}


def having(word):
    """Parametrize a test with the metrics that have a property."""
    return pytest.mark.parametrize("name", [name for name in PROPERTIES if word in PROPERTIES[name]])


def lacking(word):
    """Parametrize a test with the metrics that do not have a property."""
    return pytest.mark.parametrize("name", [name for name in PROPERTIES if word not in PROPERTIES[name]])


def call(name, y_true, y_other, **options):
    """Call the public function with the parameters of the paper."""
    metric = dqeval.METRICS[name]
    return metric.function(y_true, y_other, **metric.parameters(NEAR, binary=metric.takes == "detections"), **options)


def value(name, y_true, y_score):
    """Return the metric of some scores: for a metric of detections, the best over its thresholds.

    A metric for a single event gets the first one; one that has no threshold of its own may have none here.
    """
    if "single" in PROPERTIES[name]:
        y_true = only_first_event(y_true)
    found = dqeval.panel(y_true, y_score, near=NEAR, metrics=[name])
    if "borrows" in PROPERTIES[name] and found.failures:
        reject()
    assert not found.failures
    return found[name]


def only_first_event(y_true):
    """Return labels with all events but the first taken out."""
    ends = np.flatnonzero(np.diff(np.asarray(y_true), append=0) == -1)
    return np.where(np.arange(len(y_true)) <= ends[0], y_true, 0)


def test_the_properties_cover_the_registry():
    assert tuple(PROPERTIES) == NAMES
    assert set().union(*PROPERTIES.values()) == {
        *("scores", "range", "reversible", "ranks", "normal"),
        *("single", "timed", "borrows", "negative"),
    }


@every_metric
def test_what_the_registry_says_is_so(name):
    metric = dqeval.METRICS[name]
    assert (metric.takes == "scores") == ("scores" in PROPERTIES[name])
    assert bool(metric.from_near) == ("range" in PROPERTIES[name])
    assert metric.needs_normal == ("normal" in PROPERTIES[name])
    assert (metric.threshold_of is not None) == ("borrows" in PROPERTIES[name])
    assert metric.higher_is_better
    assert metric.citation
    assert metric.same_as
    assert metric.summary.endswith(".")
    assert metric.function is getattr(dqeval.metrics, metric.function.__name__)


with_normal_point = own.labelled(own.scores).filter(lambda case: not case[0].all())


@every_metric
@given(with_normal_point)
@pytest.mark.unmeasured
def test_a_float_from_0_to_what_is_perfect(name, case):
    found = value(name, *case)
    assert type(found) is float
    assert found <= dqeval.METRICS[name].perfect + 1e-12
    assert found >= -1e-12 or "negative" in PROPERTIES[name]


@every_metric
@given(own.labels().filter(lambda y_true: not y_true.all()))
@pytest.mark.unmeasured
def test_a_perfect_detector(name, y_true):
    if "single" in PROPERTIES[name]:
        y_true = only_first_event(y_true)
    assert value(name, y_true, y_true) == pytest.approx(dqeval.METRICS[name].perfect, abs=1e-12)


@having("reversible")
@given(with_normal_point)
@pytest.mark.unmeasured
def test_time_reversal(name, case):
    y_true, y_score = case
    if "single" in PROPERTIES[name]:  # the first event is another one in reverse
        y_true = only_first_event(y_true)
    if name.startswith("dqe"):  # unchanged where all regions have whole lengths: see test_properties.py
        y_true, y_score = np.repeat(y_true, 2), np.repeat(y_score, 2)
    assert value(name, y_true, y_score) == pytest.approx(value(name, y_true[::-1], y_score[::-1]), abs=1e-9)


@having("timed")
def test_when_an_event_is_detected_matters(name):
    y_true, y_score = np.zeros(30, int), np.zeros(30)
    y_true[5:20], y_score[7] = 1, 2
    assert value(name, y_true, y_score) != pytest.approx(value(name, y_true[::-1], y_score[::-1]), abs=1e-3)


@pytest.mark.parametrize("name", ["pate", "pate_f1"])
def test_time_reversal_matters(name):
    """An early detection counts only if its event is hit, a late one always."""
    y_true, y_score = np.array([0, 0, 0, 1, 1, 0, 0, 0]), np.array([0, 0, 0, 0, 0, 1, 0.5, 0])
    assert value(name, y_true, y_score) != pytest.approx(value(name, y_true[::-1], y_score[::-1]), abs=1e-3)


@having("ranks")
@given(with_normal_point)
@pytest.mark.unmeasured
def test_an_increasing_transform(name, case):
    y_true, y_score = case
    ranks = np.unique(y_score, return_inverse=True)[1]
    assert value(name, y_true, ranks + 2.0) == pytest.approx(value(name, y_true, (ranks + 2.0) ** 3), abs=1e-9)


@lacking("ranks")
def test_an_increasing_transform_matters(name):
    random = np.random.default_rng(3)
    y_true = (np.arange(400) % 80 > 70).astype(int)
    y_score = random.random(400) + 0.4 * y_true
    if name == "event_f1":  # for which it is perfect if all alarms join to one: no threshold may do that
        y_score[::2] = 0
    assert value(name, y_true, y_score) != pytest.approx(value(name, y_true, y_score**80), abs=1e-6)


@lacking("single")
@given(st.permutations(range(4)), st.data())
@pytest.mark.unmeasured
def test_the_order_of_the_events_does_not_matter(name, order, data):
    """Blocks of an event with as much room on either side, wide enough for every buffer, may change places."""
    length = 2 * NEAR + 4
    y_true = np.zeros(length, int)
    y_true[length // 2 - 1 : length // 2 + 1] = 1
    blocks = [data.draw(st.lists(st.integers(0, 9), min_size=length, max_size=length)) for _ in range(4)]
    for block in blocks:
        block[0] = block[-1] = 0  # so that no detection crosses from block to block
    blocks[0][1] = 9
    one, other = np.concatenate(blocks), np.concatenate([blocks[i] for i in order])
    labels = np.tile(y_true, 4)
    assert value(name, labels, one / 9 + 1) == pytest.approx(value(name, labels, other / 9 + 1), abs=1e-9)


FORMS = [
    list,
    np.array,
    pd.Series,
    pl.Series,
    pa.array,
    lambda x: np.array(x, dtype=np.float32),
    lambda x: np.array(x, bool),
]
Y_TRUE, Y_PRED = [0, 0, 1, 1, 0, 0, 0, 0, 1, 0], [0, 0, 0, 1, 0, 0, 1, 0, 0, 0]


def labels_for(name):
    return Y_TRUE[:7] + [0] * 3 if "single" in PROPERTIES[name] else Y_TRUE


@every_metric
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.unmeasured
def test_forms_of_input(name, form):
    assert call(name, form(labels_for(name)), form(Y_PRED)) == call(name, labels_for(name), Y_PRED)


@every_metric
def test_input_is_not_changed(name):
    y_true, y_other = np.array(labels_for(name)), np.array(Y_PRED, dtype=float)
    call(name, y_true, y_other)
    assert y_true.tolist() == labels_for(name)
    assert y_other.tolist() == Y_PRED


@every_metric
def test_bad_input(name):
    other = "y_score" if "scores" in PROPERTIES[name] else "y_pred"
    with pytest.raises(ValueError, match="y_true must contain only 0 and 1"):
        call(name, [0, 2, 1], [0, 1, 0])
    with pytest.raises(ValueError, match="look swapped"):
        call(name, [0, 0.5, 1], [0, 1, 0])
    with pytest.raises(ValueError, match=f"y_true and {other} must have the same length: got 3 and 2"):
        call(name, [0, 1, 0], [0, 1])
    with pytest.raises(ValueError, match="y_true is empty"):
        call(name, [], [])
    with pytest.raises(ValueError, match=f"{other} must be one-dimensional"):
        call(name, [0, 1], [[0, 1]])
    with pytest.raises(ValueError, match=f"{other} must (be finite|contain only 0 and 1): 1 of 3 values is not"):
        call(name, [0, 1, 0], [0, math.nan, 0])
    with pytest.raises(ValueError, match='undefined must be "raise" or "nan"'):
        call(name, [0, 1, 0], [0, 1, 0], undefined="zero")


@every_metric
def test_no_anomaly(name):
    with pytest.raises(dqeval.UndefinedError, match="y_true has no anomaly"):
        call(name, [0, 0, 0], [0, 1, 0])
    with pytest.warns(dqeval.UndefinedWarning, match="NaN is returned") as caught:
        assert math.isnan(call(name, [0, 0, 0], [0, 1, 0], undefined="nan"))
    assert caught[0].filename == __file__


@lacking("normal")
def test_no_normal_point_is_needed(name):
    assert 0 < call(name, [1, 1, 1], [1, 1, 0]) <= dqeval.METRICS[name].perfect


@having("normal")
def test_no_normal_point(name):
    with pytest.raises(dqeval.UndefinedError, match="y_true has no normal point"):
        call(name, [1, 1, 1], [0, 1, 0])
    with pytest.warns(dqeval.UndefinedWarning):
        assert math.isnan(call(name, [1, 1, 1], [0, 1, 0], undefined="nan"))


@lacking("scores")
def test_parts_in_one_way_for_all(name):
    metric, parts = dqeval.METRICS[name], getattr(dqeval.metrics, re.sub("_(f1|f05|score)$", "", name) + "_parts")
    parameters = metric.parameters(NEAR, binary=True)
    found = parts(Y_TRUE, Y_PRED, **parameters)
    assert found.value == metric.function(Y_TRUE, Y_PRED, **parameters)
    if isinstance(found, PrecisionRecall):
        assert found.f1 == pytest.approx(2 / (1 / found.precision + 1 / found.recall))
        assert found.value == pytest.approx(found.f_beta(parameters.get("beta", 1)))
    with pytest.warns(dqeval.UndefinedWarning):
        nothing = parts([0, 0], [0, 1], undefined="nan", **parameters)
    assert math.isnan(nothing.value)
    assert math.isnan(nothing.precision)
    assert math.isnan(nothing.recall)


BAD_PARAMETERS = [
    ("vus_roc", {"window": -1}, "window must be a whole number of at least 0: got -1"),
    ("vus_pr", {"window": 2.5}, "window must be a whole number of at least 0: got 2.5"),
    ("vus_pr", {"window": 2, "thresholds": 1}, "thresholds must be a whole number of at least 2: got 1"),
    ("pate", {"early": 1, "late": "x"}, "late must be a whole number of at least 0: got 'x'"),
    ("pate", {"early": 1, "late": 1, "thresholds": 0}, "thresholds must be a whole number of at least 2: got 0"),
    ("pate_f1", {"early": True, "late": 1}, "early must be a whole number of at least 0: got True"),
    ("point_adjusted_k_f1", {"k": 1.5}, "k must be a number from 0 to 1: got 1.5"),
    ("range_f1", {"alpha": -0.1}, "alpha must be a number from 0 to 1: got -0.1"),
    ("range_f1", {"alpha": math.nan}, "alpha must be a number from 0 to 1: got nan"),
    ("etapr_f1", {"theta_p": "half"}, "theta_p must be a number from 0 to 1: got 'half'"),
    ("etapr_f1", {"theta_r": True}, "theta_r must be a number from 0 to 1: got True"),
    ("event_f1", {"beta": 0}, "beta must be a finite number above 0: got 0"),
    ("event_corrected_f05", {"beta": 1e9}, "beta must be at most 1,000: got 1e\\+09"),
    ("adtqc", {"exponent": -1}, "exponent must be a finite number above 0: got -1"),
    ("revised_point_adjusted_f1", {"delay": -1}, "delay must be a whole number of at least 0: got -1"),
    ("nab_score", {"profile": "strict"}, "profile must be 'standard', 'reward_low_FP' or 'reward_low_FN': got"),
    ("nab_score", {"probation": 2}, "probation must be a number from 0 to 1: got 2"),
    ("ucr_score", {"tolerance": -1}, "tolerance must be a whole number of at least 0: got -1"),
    ("ucr_score", {"tolerance": 5, "margin": 2}, "margin stands in place of tolerance and rule: give margin alone"),
    ("ucr_score", {"rule": "closed", "margin": 2}, "margin stands in place of tolerance and rule: give margin alone"),
    ("tapr_f1", {"delta": 0.5}, "delta must be a whole number of at least 0: got 0.5"),
]


@pytest.mark.parametrize(("name", "parameters", "message"), BAD_PARAMETERS)
def test_bad_parameters(name, parameters, message):
    with pytest.raises(ValueError, match=message):
        dqeval.METRICS[name].function(Y_TRUE, Y_PRED, **parameters)


def test_windows_longer_than_the_series(monkeypatch):
    monkeypatch.setattr("dqeval.metrics.vus._WINDOWS_AT_ONCE", 3)
    assert dqeval.metrics.vus_pr(Y_TRUE, Y_PRED, window=50.0) == pytest.approx(naive.vus(Y_TRUE, Y_PRED, 50, 100)[1])
    assert 0 < dqeval.metrics.tapr_f1(Y_TRUE, Y_PRED, delta=10**12) <= 1


def test_a_name_that_is_not_there():
    with pytest.raises(ValueError, match="unknown metric 'vus_rp'; did you mean 'vus_pr'\\?"):
        dqeval.METRICS["vus_rp"]
    with pytest.raises(ValueError, match="unknown metric 'xyzzy'; choose from dqe, dqe_log_rank, auc_roc"):
        dqeval.METRICS["xyzzy"]
    assert len(dqeval.METRICS) == len(NAMES)
    assert len(Registry("thing")) == 0
