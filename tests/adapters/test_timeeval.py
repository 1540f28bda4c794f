"""TimeEval: our metrics in its experiments, with a period for each series."""

import json
import sys
from dataclasses import replace

import numpy as np
import pytest

import dqeval

pytest.importorskip("timeeval")

from timeeval import Algorithm, DatasetManager, DefaultMetrics, InputDimensionality, TimeEval, TrainingType
from timeeval.adapters import FunctionAdapter

from dqeval.adapters.timeeval import DqevalMetric, periods
from keywords import RIGHT, check_keyword

SERIES = {"first": dqeval.datasets.synthetic(seed=1), "second": dqeval.datasets.synthetic(seed=2)}
PERIODS = {"first": 20, "second": None}


def scores_of(values):
    return np.abs(np.asarray(values, dtype=float).ravel() - np.mean(values))


def with_gap(values):
    scores = scores_of(values)
    scores[5] = np.nan
    return scores


def algorithm(name, function):
    return Algorithm(
        name=name,
        main=FunctionAdapter(lambda values, _: function(values)),
        training_type=TrainingType.UNSUPERVISED,
        input_dimensionality=InputDimensionality.UNIVARIATE,
        data_as_file=False,
    )


def manager_of(folder, series, known):
    entries = {}
    for name, one in series.items():
        rows = zip(range(len(one.values)), one.values, one.labels.astype(int), strict=True)
        lines = [f"{i},{value!r},{label}" for i, value, label in ((i, float(v), int(y)) for i, v, y in rows)]
        (folder / f"{name}.csv").write_text("\n".join(["timestamp,value,is_anomaly", *lines]))
        entries[name] = {"test_path": f"{name}.csv", **({"period": known[name]} if known[name] else {})}
    (folder / "datasets.json").write_text(json.dumps(entries))
    return DatasetManager(folder, custom_datasets_file=folder / "datasets.json", create_if_missing=True)


@pytest.fixture
def manager(tmp_path):
    return manager_of(tmp_path, SERIES, PERIODS)


def results_of(manager, tmp_path, metrics, function=scores_of):
    run = TimeEval(
        manager, manager.select(), [algorithm("own", function)], metrics=metrics, results_path=tmp_path / "results"
    )
    run.run()
    return run.get_results(aggregated=False).set_index("dataset")


def test_every_series_has_its_own_period(manager, tmp_path):
    metric = DqevalMetric("dqe", period=periods(manager, manager.select()))
    assert metric.name == "DQE"
    found = results_of(manager, tmp_path, [metric, DefaultMetrics.ROC_AUC])
    for name, one in SERIES.items():
        period = PERIODS[name] or dqeval.find_period(one.values).points
        expected = dqeval.dqe_score(one.labels, scores_of(one.values), period=period)
        assert found["DQE"][name] == pytest.approx(expected, abs=1e-9)
    assert np.isfinite(found["ROC_AUC"]).all()


def test_one_period_for_all_and_the_names_of_columns(manager, tmp_path):
    metrics = [DqevalMetric("dqe", period=48), DqevalMetric("dqe", near=5), DqevalMetric("auc_roc")]
    found = results_of(manager, tmp_path, [*metrics, DefaultMetrics.ROC_AUC])
    assert [metric.name for metric in metrics] == ["DQE (period 48)", "DQE (near 5)", "AUC-ROC"]
    assert found["AUC-ROC"].to_numpy() == pytest.approx(found["ROC_AUC"].to_numpy())
    one = SERIES["first"]
    expected = dqeval.dqe_score(one.labels, scores_of(one.values), near=5)
    assert found["DQE (near 5)"]["first"] == pytest.approx(expected, abs=1e-9)


def test_missing_scores_have_no_value_and_are_not_taken_for_0(manager, tmp_path):
    found = results_of(manager, tmp_path, [DqevalMetric("auc_roc"), DefaultMetrics.ROC_AUC], with_gap)
    assert "AUC-ROC" not in found  # TimeEval leaves out a column without any value
    assert found["ROC_AUC"].notna().all()  # theirs takes NaN for 0


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_scores_that_are_not_finite_are_an_error(bad):
    with pytest.raises(ValueError, match="y_score must be finite: 1 of 3 values is not"):
        DqevalMetric("auc_roc")(np.array([0, 1, 0]), np.array([0.1, bad, 0.2]))


def test_constant_scores_and_scores_that_are_whole_numbers():
    assert DqevalMetric("auc_roc")([0, 1, 0], [2.0, 2.0, 2.0]) == 0.5
    metric = DqevalMetric("auc_roc")
    assert metric([0.0, 1.0, 0.0], [1, 3, 2]) == metric.score([0, 1, 0], [1, 3, 2]) == 1
    assert metric.supports_continuous_scorings()


def test_no_anomaly():
    with pytest.raises(dqeval.UndefinedError, match="has no anomaly"):
        DqevalMetric("dqe")([0, 0, 0], [1, 2, 3])
    with pytest.warns(dqeval.UndefinedWarning, match="NaN is returned"):
        assert np.isnan(DqevalMetric("dqe", undefined="nan")([0, 0, 0], [1, 2, 3]))


def test_a_metric_takes_its_own_parameters():
    metric = DqevalMetric("nab_score", near=3, profile="reward_low_FP")
    assert metric.name == "NAB (near 3) (profile reward_low_FP)"
    one = SERIES["first"]
    expected = dqeval.best_threshold("nab_score", one.labels, scores_of(one.values), profile="reward_low_FP").value
    assert metric(one.labels, scores_of(one.values)) == expected
    with pytest.raises(ValueError, match="the metric dqe has no 'profile'"):
        DqevalMetric("dqe", profile="standard")
    with pytest.raises(ValueError, match="'events' is a group of metrics"):
        DqevalMetric("events")
    assert DqevalMetric("vus-pr").name == "VUS-PR"


def test_labels_of_no_known_dataset(manager):
    metric = DqevalMetric("dqe", period=periods(manager, manager.select()))
    with pytest.raises(ValueError, match="the labels are those of no dataset"):
        metric([0, 1, 0], [1, 2, 3])


def test_a_series_without_any_period(tmp_path):
    flat = replace(SERIES["first"], values=np.arange(len(SERIES["first"].labels)) * 1.0)
    manager = manager_of(tmp_path, {"flat": flat}, {"flat": None})
    metric = DqevalMetric("dqe", period=periods(manager, manager.select()))
    scores = scores_of(SERIES["first"].values)
    assert metric(flat.labels, scores) == dqeval.dqe_score(flat.labels, scores)


def test_the_same_labels_with_different_periods(tmp_path):
    twins = {"one": SERIES["first"], "two": SERIES["first"]}
    manager = manager_of(tmp_path, twins, {"one": 20, "two": 30})
    with pytest.raises(ValueError, match=r"'one'\) and .*'two'\) have the same labels, but the periods 20.* and 30"):
        periods(manager, manager.select())
    assert len(periods(manager, manager.select()[:1])) == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"metric": "dqee"}, "did you mean 'dqe'"),
        ({"period": -1}, "period must be a finite number above 0"),
        ({"near": 3, "period": {}}, "give at most one of near, period"),
    ],
)
def test_wrong_settings_are_said_when_the_metric_is_made(options, said):
    with pytest.raises(ValueError, match=said):
        DqevalMetric(**{"metric": "dqe", **options})


def test_without_timeeval_the_error_says_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "dqeval.adapters.timeeval")
    monkeypatch.setitem(sys.modules, "timeeval.metrics.metric", None)
    with pytest.raises(ModuleNotFoundError, match="install it with pip install TimeEval"):
        __import__("dqeval.adapters.timeeval")


@pytest.mark.parametrize("keyword", ["near", "period", "undefined"])
def test_wrong_values_are_refused_in_a_sentence_that_names_the_keyword(keyword):
    of_each_series = {"mapping"} if keyword == "period" else set()
    check_keyword(DqevalMetric, ("dqe",), {}, keyword, RIGHT.get(keyword, set()) | of_each_series)
