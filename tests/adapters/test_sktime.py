"""sktime: the same numbers as on labels, for points and segments, positions and dates."""

import inspect

import numpy as np
import pytest

import dqeval

pytest.importorskip("sktime")

import pandas as pd
from sktime.detection.naive import ThresholdDetector
from sktime.utils.estimator_checks import check_estimator

from dqeval.adapters.sktime import DetectionQuality
from keywords import ON_A_CLOCK, check_keyword

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


def test_undefined_is_nan_where_that_is_asked_for():
    for metric, labels in (("dqe", np.zeros(N)), ("ucr_score", LABELS)):
        with pytest.warns(dqeval.UndefinedWarning, match="NaN is returned"):
            assert np.isnan(DetectionQuality(metric, undefined="nan")(points(labels), points(DETECTIONS), X))


def test_time_is_counted_in_cells():
    options = {"resolution": "2min", "max_gap": 1, "near": "6min"}
    expected = dqeval.evaluate_detections(LABELS, DETECTIONS, times=DATES, **options).dqe
    given = points(LABELS), points(DETECTIONS)
    assert DetectionQuality(**options)(*given, DATED) == pytest.approx(expected, abs=1e-15)
    with pytest.raises(ValueError, match="resolution needs dates, and the index of X has none"):
        DetectionQuality(resolution="2min")(*given, X)


def test_a_metric_takes_its_own_parameters():
    found = DetectionQuality("delay_point_adjusted_f1", parameters={"k": 0})(points(LABELS), points(DETECTIONS), X)
    assert found == dqeval.metrics.delay_point_adjusted_f1(LABELS, DETECTIONS, k=0)
    assert found != dqeval.metrics.delay_point_adjusted_f1(LABELS, DETECTIONS)
    with pytest.raises(ValueError, match="the metric dqe has no 'k'"):
        DetectionQuality(parameters={"k": 0})(points(LABELS), points(DETECTIONS), X)
    with pytest.raises(ValueError, match="'events' is a group of metrics"):
        DetectionQuality("events")(points(LABELS), points(DETECTIONS), X)


BERLIN = DATES.tz_localize("Europe/Berlin")
WITHOUT = "y_pred has dates without a time zone, and the index of X has dates with a time zone: give both with one"
WITH = "y_pred has dates with a time zone, and the index of X has dates without a time zone: give both with one"


@pytest.mark.parametrize(
    ("dates", "index", "message"),
    [
        (DATES, BERLIN, WITHOUT),
        (BERLIN, DATES, WITH),
        (DATES, X.index, "y_pred has dates, and the index of X has none: give positions"),
    ],
)
def test_dates_of_another_kind_than_the_index(dates, index, message):
    both = [dates[[3, 7]], pd.IntervalIndex.from_arrays(dates[[3, 7]], dates[[5, 9]], closed="left")]
    for places in both:
        with pytest.raises(ValueError, match=message):
            DetectionQuality()(points(LABELS), pd.DataFrame({"ilocs": places}), X.set_index(index))
    moved = DATED.tz_localize("UTC").index.tz_convert("Asia/Tokyo")  # the same moments, in another zone
    found = DetectionQuality(near=5)(points(LABELS), pd.DataFrame({"ilocs": moved[[3]]}), DATED.tz_localize("UTC"))
    assert found == DetectionQuality(near=5)(points(LABELS), pd.DataFrame({"ilocs": [3]}), X)


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
        (
            pd.DataFrame({"ilocs": ["2026-01-01 00:03"]}),
            r"the column ilocs of y_pred must hold positions or dates: its dtype is (str|object)",
        ),
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


def test_wrong_values_are_refused_in_a_sentence_that_names_the_keyword():
    def called(**options):
        return DetectionQuality(**options)(points(LABELS), points(DETECTIONS), DATED)

    keywords = set(inspect.signature(DetectionQuality).parameters) - {"parameters"}
    assert keywords > {"near", "period", "resolution", "max_gap", "undefined"}
    for keyword in sorted(keywords):
        check_keyword(called, (), {}, keyword, ON_A_CLOCK.get(keyword, set()))
