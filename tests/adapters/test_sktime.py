"""sktime: the same numbers as on labels, for points and segments, positions and dates."""

import numpy as np
import pytest

import dqeval

pytest.importorskip("sktime")

import pandas as pd
from sktime.detection.naive import ThresholdDetector
from sktime.utils.estimator_checks import check_estimator

from dqeval.adapters.sktime import DetectionQuality

N = 60
DATES = pd.date_range("2026-01-01", periods=N, freq="min")
X = pd.DataFrame({"value": np.sin(np.arange(N))})
DATED = X.set_index(DATES)
LABELS, DETECTIONS = np.zeros(N, dtype=int), np.zeros(N, dtype=int)
LABELS[10:14] = LABELS[40:43] = 1
DETECTIONS[11:13] = DETECTIONS[45:47] = DETECTIONS[57] = 1


def points(flags):
    return pd.DataFrame({"ilocs": np.flatnonzero(flags)})


def runs(flags):
    edges = np.flatnonzero(np.diff(flags, prepend=0, append=0))
    return edges[::2], edges[1::2]


def segments(flags, closed="left"):
    starts, stops = runs(flags)
    left, right = starts - (closed in ("right", "neither")), stops - (closed in ("right", "both"))
    return pd.DataFrame({"ilocs": pd.IntervalIndex.from_arrays(left, right, closed=closed)})


def dated_segments(flags):
    starts, stops = runs(flags)
    return pd.DataFrame({"ilocs": pd.IntervalIndex.from_arrays(DATES[starts], DATES[stops - 1], closed="both")})


FORMS = {
    "points": points,
    "segments": segments,
    "right": lambda flags: segments(flags, "right"),
    "both": lambda flags: segments(flags, "both"),
    "neither": lambda flags: segments(flags, "neither"),
    "dates": lambda flags: pd.DataFrame({"ilocs": DATES[np.flatnonzero(flags)]}),
    "segments of dates": dated_segments,
}


@pytest.mark.parametrize("truth", FORMS)
@pytest.mark.parametrize("found", FORMS)
def test_every_form_gives_the_number_of_the_labels(truth, found):
    y_true, y_pred = FORMS[truth](LABELS), FORMS[found](DETECTIONS)
    expected = dqeval.evaluate_detections(LABELS, DETECTIONS, near=5).dqe
    assert 0 < expected < 1
    assert DetectionQuality(near=5)(y_true, y_pred, DATED) == pytest.approx(expected, abs=1e-15)
    assert DetectionQuality(near="5min")(y_true, y_pred, DATED) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("metric", [metric.name for metric in dqeval.METRICS])
def test_every_metric(metric):
    expected = dqeval.panel(LABELS, DETECTIONS, metrics=[metric], period=10)
    given = points(LABELS), segments(DETECTIONS), X
    if metric in expected.failures:  # UCR, of two events
        with pytest.raises(dqeval.UndefinedError, match=f"{metric} is undefined"):
            DetectionQuality(metric, period=10)(*given)
    else:
        assert DetectionQuality(metric, period=10)(*given) == expected[metric]


def test_periods_are_dates():
    hourly = X.set_index(pd.period_range("2026-01-01", periods=N, freq="h"))
    expected = dqeval.evaluate_detections(LABELS, DETECTIONS, near=5).dqe
    assert DetectionQuality(near="5h")(points(LABELS), points(DETECTIONS), hourly) == pytest.approx(expected, abs=1e-15)


def test_no_detection_and_no_anomaly():
    assert DetectionQuality(near=5)(points(LABELS), points(np.zeros(N)), X) == 0
    with pytest.raises(dqeval.UndefinedError, match="has no anomaly"):
        DetectionQuality()(points(np.zeros(N)), points(DETECTIONS), X)


def test_the_detectors_of_sktime():
    y_pred = ThresholdDetector(upper=0.9, lower=None).fit_predict(X)
    flags = (X["value"] > 0.9).to_numpy().astype(int)
    expected = dqeval.evaluate_detections(LABELS, flags, near=5).dqe
    assert DetectionQuality(near=5)(points(LABELS), y_pred, X) == pytest.approx(expected, abs=1e-15)


def test_the_checks_of_sktime():
    failed = {name: found for name, found in check_estimator(DetectionQuality).items() if found != "PASSED"}
    assert failed == {}


@pytest.mark.parametrize(
    ("y_pred", "message"),
    [
        (pd.DataFrame({"labels": [0, 1]}), r"y_pred must have a column ilocs, .*: it has labels"),
        (pd.DataFrame({"ilocs": [3, 99]}), r"y_pred has points that X does not have: 1, the first at 99"),
        (
            pd.DataFrame({"ilocs": DATES[:2] + pd.Timedelta("1s")}),
            r"y_pred has points that X does not have: 2, the first",
        ),
        (
            pd.DataFrame({"ilocs": pd.IntervalIndex.from_tuples([(90, 95)], closed="left")}),
            r"y_pred has segments without a point of X: 1, the first \[90, 95\)",
        ),
    ],
)
def test_errors_say_what_is_wrong(y_pred, message):
    with pytest.raises(ValueError, match=message):
        DetectionQuality()(points(LABELS), y_pred, DATED)
