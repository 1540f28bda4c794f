"""Darts: the same numbers as on arrays, at the times that labels and scores share."""

import numpy as np
import pytest

import dqeval

pytest.importorskip("darts")

import pandas as pd
from darts import TimeSeries
from darts.ad.utils import eval_metric_from_scores as of_darts

from dqeval.adapters.darts import eval_metric_from_scores, evaluate_series

N = 60
DATES = pd.date_range("2026-01-01", periods=N, freq="min")
LABELS = np.zeros(N)
LABELS[10:14] = LABELS[40:43] = 1
SCORES = np.random.default_rng(0).random(N).round(2) + 0.5 * LABELS


def series(values, times=DATES):
    return TimeSeries.from_times_and_values(times, np.asarray(values, dtype=float))


def test_numbers_are_those_of_evaluate():
    found = evaluate_series(series(LABELS), series(SCORES), near="5min")
    expected = dqeval.evaluate(LABELS, SCORES, near=5)
    assert found.dqe == expected.dqe
    assert found.notes == ()
    assert found.per_event[0].start_time == np.datetime64("2026-01-01T00:10")
    assert found.curve.dqe.tolist() == expected.curve.dqe.tolist()


def test_only_common_times_are_evaluated():
    found = evaluate_series(series(LABELS[:50], DATES[:50]), series(SCORES[5:], DATES[5:]), near=5)
    assert found.dqe == dqeval.evaluate(LABELS[5:50], SCORES[5:50], near=5).dqe
    assert found.notes == (
        "5 of 50 labels have no score, and are left out",
        "10 of 55 scores have no label, and are left out",
    )


def test_numbered_times():
    numbered = TimeSeries.from_values(LABELS), TimeSeries.from_values(SCORES)
    assert evaluate_series(*numbered, near=5).dqe == dqeval.evaluate(LABELS, SCORES, near=5).dqe


def test_a_metric_agrees_with_that_of_darts():
    assert eval_metric_from_scores(series(LABELS), series(SCORES), metric="auc_roc") == pytest.approx(
        of_darts(series(LABELS), series(SCORES), metric="AUC_ROC"), abs=1e-15
    )


@pytest.mark.parametrize("metric", ["dqe", "auc_pr", "range_f1"])
def test_shapes_are_those_of_darts(metric):
    labels, scores = series(LABELS), series(SCORES)
    both, two = labels.stack(labels), scores.stack(series(SCORES[::-1]))
    value = dqeval.panel(LABELS, SCORES, metrics=[metric], near=5)[metric]
    other = dqeval.panel(LABELS, SCORES[::-1], metrics=[metric], near=5)[metric]
    for given, expected in [
        ((labels, scores), value),
        ((labels, [scores, scores]), [value, value]),
        (([labels], [scores]), [value]),
        ((both, two), [value, other]),
        ((labels, two), [value, other]),
        ((both, [two]), [[value, other]]),
    ]:
        assert eval_metric_from_scores(*given, metric=metric, near=5) == expected


def test_undefined():
    with pytest.raises(dqeval.UndefinedError, match="has no anomaly"):
        evaluate_series(series(LABELS), series(SCORES[:5], DATES[:5]))
    with pytest.warns(dqeval.UndefinedWarning):
        assert np.isnan(eval_metric_from_scores(series(0 * LABELS), series(SCORES), undefined="nan"))


def sampled():
    return TimeSeries.from_times_and_values(DATES, np.zeros((N, 1, 3)))


@pytest.mark.parametrize(
    ("anomalies", "scores", "message"),
    [
        (LABELS, series(SCORES), r"anomalies must be a TimeSeries of Darts: got ndarray"),
        (series(LABELS), sampled(), r"pred_scores must have one sample per time: got 3; take their mean\(\) first"),
        (series(LABELS), series(np.zeros((N, 2))), r"pred_scores must have one component: got 2; choose one"),
        (series(LABELS), TimeSeries.from_values(SCORES), r"must both have dates, or both numbers"),
        (
            series(LABELS),
            series(SCORES, DATES + pd.Timedelta("1D")),
            r"no time is in both: anomalies are from 2026-01-01",
        ),
    ],
)
def test_errors_say_what_is_wrong(anomalies, scores, message):
    with pytest.raises(ValueError, match=message):
        evaluate_series(anomalies, scores)


def test_numbers_of_series_and_components_must_fit():
    with pytest.raises(ValueError, match="there must be labels for each of the 1 scores: got 2"):
        eval_metric_from_scores([series(LABELS)] * 2, [series(SCORES)])
    with pytest.raises(ValueError, match="anomalies must have 1 component, or 3 as the scores: got 2"):
        eval_metric_from_scores(series(np.zeros((N, 2))), series(np.zeros((N, 3))))
