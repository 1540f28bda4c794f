"""Darts: the same numbers as on arrays, at the times that labels and scores share."""

import inspect

import numpy as np
import pytest

import dqeval

pytest.importorskip("darts")

import pandas as pd
from darts import TimeSeries
from darts.ad.utils import eval_metric_from_scores as of_darts

from dqeval.adapters.darts import eval_metric_from_scores, evaluate_series
from keywords import ON_A_CLOCK, check_keyword

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


def test_events_that_have_no_score_are_noted():
    labels = series(LABELS)  # with events from 10 to 14 and from 40 to 43
    found = evaluate_series(labels, series(SCORES[12:], DATES[12:]), near=5)
    cut = "1 of 2 events cut, as there is no score for a part"
    assert found.notes == ("12 of 60 labels have no score, and are left out", cut)
    with pytest.warns(UserWarning, match=f"^{cut}$"):
        assert eval_metric_from_scores(labels, series(SCORES[12:], DATES[12:]), near=5) == found.dqe
    assert evaluate_series(labels, series(SCORES[14:], DATES[14:]), near=5).notes[-1] == (
        "1 of 2 events left out, as there is no score"
    )


def test_whole_events_are_no_cause_for_a_warning(recwarn):
    eval_metric_from_scores(series(LABELS), series(SCORES[5:], DATES[5:]), near=5)
    assert not recwarn.list


def test_time_is_counted_in_cells():
    for metric in ("dqe", "range_f1"):
        options = {"resolution": "2min", "max_gap": 1, "near": "6min"}
        found = eval_metric_from_scores(series(LABELS), series(SCORES), metric=metric, **options)
        assert found == dqeval.panel(LABELS, SCORES, times=DATES, metrics=[metric], **options)[metric]


def test_a_metric_takes_its_own_parameters():
    found = eval_metric_from_scores(series(LABELS), series(SCORES), metric="delay_point_adjusted_f1", k=1)
    assert found == dqeval.best_threshold("delay_point_adjusted_f1", LABELS, SCORES, k=1).value
    with pytest.raises(ValueError, match="the metric dqe has no 'k': there are thresholds"):
        eval_metric_from_scores(series(LABELS), series(SCORES), k=1)
    with pytest.raises(ValueError, match="'events' is a group of metrics"):
        eval_metric_from_scores(series(LABELS), series(SCORES), metric="events")


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


@pytest.mark.parametrize("function", [evaluate_series, eval_metric_from_scores])
def test_wrong_values_are_refused_in_a_sentence_that_names_the_keyword(function):
    keywords = set(inspect.signature(function).parameters) - {"anomalies", "pred_scores", "parameters"}
    assert keywords > {"near", "period", "resolution", "max_gap", "undefined"}
    for keyword in sorted(keywords):
        check_keyword(function, (series(LABELS), series(SCORES)), {}, keyword, ON_A_CLOCK.get(keyword, set()))
