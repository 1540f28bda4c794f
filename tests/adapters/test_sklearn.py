"""scikit-learn and PyOD: scorers, scores of either direction, and scores of windows."""

import pickle
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dqeval
import naive

pytest.importorskip("pyod")

from pyod.models.iforest import IForest
from pyod.models.knn import KNN
from sklearn.cluster import KMeans
from sklearn.covariance import EllipticEnvelope
from sklearn.ensemble import IsolationForest, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, KFold, TimeSeriesSplit, cross_val_score, cross_validate
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from dqeval.adapters.sklearn import anomaly_scores, scorer, windows_to_points

SERIES = dqeval.datasets.demo()
VALUES, LABELS = SERIES.values[:, None], SERIES.labels.astype(int)
FAR = np.array([[0.0]] * 50 + [[99.0]] + [[0.1]] * 49)  # one point far from the others


@pytest.mark.parametrize(
    "model",
    [
        IsolationForest(random_state=0),
        LocalOutlierFactor(novelty=True),
        OneClassSVM(gamma=0.1),
        EllipticEnvelope(random_state=0),
        IForest(random_state=0),
        KNN(n_neighbors=3),
        make_pipeline(StandardScaler(), IsolationForest(random_state=0)),
        make_pipeline(StandardScaler(), KNN(n_neighbors=3)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_highest_score_is_that_of_the_point_far_away(model):
    rng = np.random.default_rng(0)
    values = rng.normal(size=(200, 1))
    fitted = model.fit(values)
    assert anomaly_scores(fitted, [[0.0], [9.0], [0.1]]).argmax() == 1


@pytest.mark.parametrize("model", [IsolationForest(random_state=0), IForest(random_state=0)])
def test_a_search_has_the_direction_of_its_best_estimator(model):
    search = GridSearchCV(model, {"n_estimators": [5, 20]}, scoring=scorer("dqe", period=48), cv=TimeSeriesSplit(3))
    search.fit(VALUES, LABELS)
    best = search.best_estimator_
    assert np.array_equal(anomaly_scores(search, VALUES), anomaly_scores(best, VALUES))
    assert anomaly_scores(search, [[0.0], [99.0]]).argmax() == 1
    means = search.cv_results_["mean_test_score"]
    assert search.best_score_ == means.max() > means.min() > 0


def test_classifiers_score_the_class_of_anomalies():
    for model in (LogisticRegression(), RandomForestClassifier(random_state=0)):
        fitted = model.fit([[0.0], [0.1], [5.0], [5.1]], [0, 0, 1, 1])
        assert anomaly_scores(fitted, [[0.0], [5.0]]).argmax() == 1
    backwards = RandomForestClassifier(random_state=0).fit([[0.0], [5.0]], [1, 0])
    assert anomaly_scores(backwards, [[0.0], [5.0]]).argmax() == 0
    alone = RandomForestClassifier(random_state=0).fit([[0.0], [5.0]], [0, 0])
    with pytest.raises(ValueError, match=r"knows the classes \[.*0.*\], and no class 1"):
        anomaly_scores(alone, [[0.0]])


def test_an_estimator_without_scores_is_an_error():
    with pytest.raises(ValueError, match=r"^LocalOutlierFactor\(\) gives no anomaly scores for .*: give novelty=True$"):
        anomaly_scores(LocalOutlierFactor().fit(VALUES), VALUES)
    for model in (KMeans(2, random_state=0), GaussianMixture(2), make_pipeline(StandardScaler(), KMeans(2))):
        with pytest.raises(ValueError, match=r"^(KMeans|GaussianMixture)\(.*: use an outlier detector, which has deci"):
            anomaly_scores(model.fit(VALUES), VALUES)


def test_labels_that_are_missing_or_those_of_outlier_detectors():
    model = IsolationForest(random_state=0).fit(VALUES)
    with pytest.raises(ValueError, match=r"y is missing: .*, as in search\.fit\(X, y\)"):
        scorer("dqe")(model, VALUES)
    with pytest.warns(UserWarning, match="y is missing"):  # scikit-learn goes on with NaN
        found = cross_val_score(model, VALUES, scoring=scorer("dqe"), cv=TimeSeriesSplit(3))
    assert np.isnan(found).all()
    with pytest.raises(ValueError, match=r"-1 is the anomaly: here 1 is .*: give \(y == -1\)\.astype\(int\)$"):
        scorer("dqe")(model, VALUES, np.where(LABELS == 1, -1, 1))


def test_the_scorer_gives_dqe_of_scores_that_are_turned_around():
    model = IsolationForest(random_state=0).fit(VALUES)
    expected = dqeval.dqe_score(LABELS, -model.score_samples(VALUES), period=48)
    assert scorer("dqe", period=48)(model, VALUES, LABELS) == pytest.approx(expected, abs=1e-12)
    as_they_are = dqeval.dqe_score(LABELS, model.score_samples(VALUES), period=48)
    assert as_they_are < expected / 2  # what a scorer that knows nothing of the direction gives


@pytest.mark.parametrize("metric", ["dqe", "vus_pr", "auc_roc", "range_f1"])
def test_every_fold_has_the_metric_of_its_own_points(metric):
    found = cross_val_score(
        IsolationForest(random_state=0), VALUES, LABELS, scoring=scorer(metric, near=24), cv=TimeSeriesSplit(3)
    )
    for (train, test), value in zip(TimeSeriesSplit(3).split(VALUES), found, strict=True):
        scores = -IsolationForest(random_state=0).fit(VALUES[train]).decision_function(VALUES[test])
        assert value == dqeval.panel(LABELS[test], scores, near=24, metrics=[metric])[metric]


def test_a_metric_takes_its_own_parameters():
    model = IsolationForest(random_state=0).fit(VALUES)
    expected = dqeval.best_threshold("nab_score", LABELS, anomaly_scores(model, VALUES), profile="reward_low_FP").value
    assert scorer("nab_score", profile="reward_low_FP")(model, VALUES, LABELS) == expected


def test_several_metrics_at_once_and_in_other_processes():
    scoring = {"dqe": scorer("dqe", period=48), "auc": scorer("auc_roc")}
    found = cross_validate(IsolationForest(random_state=0), VALUES, LABELS, scoring=scoring, cv=KFold(3), n_jobs=2)
    assert found["test_dqe"].shape == found["test_auc"].shape == (3,)
    assert np.isfinite(found["test_dqe"]).all()
    assert pickle.loads(pickle.dumps(scoring["dqe"])) == scoring["dqe"]


def test_a_fold_without_an_anomaly_is_undefined():
    model = IsolationForest(random_state=0).fit(VALUES)
    calm = VALUES[:100], np.zeros(100, dtype=int)
    with pytest.raises(dqeval.UndefinedError, match="has no anomaly"):
        scorer("dqe")(model, *calm)
    with pytest.warns(dqeval.UndefinedWarning, match="NaN is returned"):
        assert np.isnan(scorer("dqe", undefined="nan")(model, *calm))
    with pytest.warns(dqeval.UndefinedWarning, match="no normal point"):
        assert np.isnan(scorer("auc_roc", undefined="nan")(model, VALUES[:5], np.ones(5)))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"metric": "dqee"}, "unknown metric 'dqee'; did you mean 'dqe'"),
        ({"metric": "events"}, "'events' is a group of metrics: .*; choose one"),
        ({"metric": 3}, "metric must be a text: got 3"),
        ({"period": -1}, "period must be a finite number above 0"),
        ({"near": 3, "period": 3}, "give at most one of near, period"),
        ({"metric": "vus_pr", "period": 1e12}, "window must be at most"),
        ({"metric": "nab_score", "k": 3}, "the metric nab_score has no 'k': there are profile, windows, probation"),
        ({"near": "10min"}, "is a duration, and there is no clock"),
        ({"undefined": "zero"}, 'undefined must be "raise" or "nan": got .zero.'),
    ],
)
def test_wrong_settings_are_said_when_the_scorer_is_made(options, said):
    with pytest.raises(ValueError, match=said):
        scorer(**{"metric": "dqe", **options})


def test_a_metric_that_is_undefined_for_a_reason_of_its_own():
    @dqeval.metric(takes="scores")
    def never(y_true, y_score):
        raise dqeval.UndefinedError("it is never defined")

    with pytest.raises(dqeval.UndefinedError, match="never is undefined, because it is never defined"):
        scorer("never")(IsolationForest(random_state=0).fit(VALUES), VALUES, LABELS)


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30),
    st.integers(1, 12).flatmap(lambda window: st.tuples(st.just(window), st.integers(1, window))),
    st.sampled_from(["mean", "max"]),
)
def test_points_have_the_scores_of_the_windows_that_hold_them(scores, window_and_stride, how):
    window, stride = window_and_stride
    n = stride * (len(scores) - 1) + window
    found = windows_to_points(scores, window, n, how, stride=stride)
    assert found == pytest.approx(naive.windows_to_points(scores, window, n, how, stride), rel=1e-9, abs=1e-6)


def test_scores_of_pyod_for_windows_become_scores_of_points():
    window = 48
    rows = np.lib.stride_tricks.sliding_window_view(SERIES.values, window)
    model = KNN().fit(rows)
    scores = windows_to_points(model.decision_scores_, window, len(SERIES.values))
    assert scores.shape == SERIES.values.shape
    assert dqeval.dqe_score(LABELS, scores, period=48) > 0.3


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            ([1, 2, 3], 2, 5),
            "scores must have 4 values, as there are windows of 2 in 5 points, with a stride of 1: got 3",
        ),
        (
            ([1, 2, 3], 2, 7, "mean", 2),
            r"the last 1 of 7 points are in no window: give n=6, and leave these points out",
        ),
        (([1, 2, 3], 2, 9, "mean", 3), "stride must be at most 2: got 3"),
        (([1, 2, 3], 2, 9, "mean", 0), "stride must be a whole number of at least 1: got 0"),
        (([1, 2, 3], 4, 3), "n must be a whole number of at least 4: got 3"),
        (([1, 2, 3], 0, 3), "window must be a whole number of at least 1: got 0"),
        (([1, 2, 3], 1, 2.5), r"n must be a whole number of at least 1: got 2\.5"),
        (([1, np.nan, 3], 1, 3), "scores must be finite: 1 of 3 values is not"),
        (([1, 2, 3], 1, 3, "median"), "how must be 'mean' or 'max': got 'median'"),
    ],
)
def test_wrong_windows(given, said):
    *positional, stride = given if len(given) == 5 else (*given, 1)
    with pytest.raises(ValueError, match=said):
        windows_to_points(*positional, stride=stride)


def test_without_scikit_learn_the_error_says_what_to_install(monkeypatch):
    model = KNN(n_neighbors=3).fit(FAR)
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    with pytest.raises(ModuleNotFoundError, match="install it with pip install scikit-learn"):
        anomaly_scores(model, FAR)
