"""aeon: detectors of either library in the other, and metrics as functions."""

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import dqeval
from dqeval.bench import read_plan, run

pytest.importorskip("aeon")

from aeon.anomaly_detection.series import BaseSeriesAnomalyDetector
from aeon.anomaly_detection.series.distance_based import KMeansAD
from aeon.anomaly_detection.series.distribution_based import DWT_MLEAD
from aeon.benchmarking.metrics.anomaly_detection import roc_auc_score
from aeon.testing.estimator_checking import check_estimator

from commands import caller
from dqeval.adapters import aeon
from keywords import check_keyword

SERIES = dqeval.datasets.demo()
PAGE = Path(__file__).parents[2] / "docs" / "adapters" / "aeon.md"
(MODULE,) = re.findall(r"^```python\n(# from_aeon\.py\n.*?)^```$", PAGE.read_text(), flags=re.MULTILINE | re.DOTALL)


class Learner(BaseSeriesAnomalyDetector):
    """Distance to the mean of the training data."""

    _tags = {  # noqa: RUF012
        "capability:multivariate": True,
        "anomaly_output_type": "anomaly_scores",
        "fit_is_empty": False,
        "learning_type:semi_supervised": True,
    }

    def __init__(self, power=1.0, inner=None):
        self.power = power
        self.inner = inner
        super().__init__(axis=0)

    def _fit(self, X, y=None):  # noqa: N803
        self.mean_ = X.mean(axis=0)
        return self

    def _predict(self, X):  # noqa: N803
        return (np.abs(X - self.mean_) ** self.power).sum(axis=1)


class Supervised(Learner):
    _tags = {"learning_type:semi_supervised": False, "learning_type:supervised": True}  # noqa: RUF012


@pytest.mark.unmeasured
def test_aeon_finds_nothing_wrong_with_our_detectors():
    found = check_estimator(aeon.Detector("sub_lof", {"window": 5, "neighbours": 3}), verbose=False)
    wrong = {name: said for name, said in found.items() if said != "PASSED" and "skip" not in str(said).lower()}
    assert wrong == {}
    assert len(found) > 10


@pytest.mark.parametrize("name", ["kmeans_ad", "sub_lof", "fft", "sr"])
def test_our_detectors_give_the_same_scores_in_aeon(name):
    model = aeon.Detector(name)
    expected = dqeval.detect(SERIES, name)
    assert np.array_equal(model.fit_predict(SERIES.values), expected)
    assert np.array_equal(model.fit(SERIES.values[:300]).predict(SERIES.values), expected)


def test_the_random_state_is_the_seed():
    options = {"clusters": 3, "restarts": 1}
    for seed in (0, 7):
        found = aeon.Detector("kmeans_ad", options, random_state=seed).fit_predict(SERIES.values)
        assert np.array_equal(found, dqeval.detect(SERIES, "kmeans_ad", seed=seed, **options))


@pytest.mark.parametrize("state", [None, np.random.RandomState(0), -1])
def test_a_random_state_that_is_no_seed(state):
    with pytest.raises(ValueError, match=r"^random_state must be a whole number of at least 0: got"):
        aeon.Detector("kmeans_ad", random_state=state).fit_predict(SERIES.values)


def test_the_seed_takes_the_place_of_a_random_state():
    with pytest.warns(UserWarning, match="the seed of each run takes the place of random_state: give seed=7 to detect"):
        aeon.register(KMeansAD(random_state=7), "theirs")
    expected = KMeansAD(random_state=7).fit_predict(SERIES.values)
    assert np.array_equal(dqeval.detect(SERIES, "theirs", seed=7), expected)


def test_detectors_that_train_learn_from_what_they_are_fitted_to():
    @dqeval.detector()
    def from_training(values, *, train_stop):
        return np.abs(values - values[:train_stop].mean())

    model = aeon.Detector("from_training")
    train, test = SERIES.values[:400], SERIES.values[400:]
    assert model.fit(train).predict(test) == pytest.approx(np.abs(test - train.mean()))
    assert model.fit_predict(test) == pytest.approx(np.abs(test - test.mean()))


def test_aeons_detectors_give_the_same_scores_here():
    aeon.register(KMeansAD(window_size=24), "theirs")
    for options in ({}, {"n_clusters": 3}):
        expected = KMeansAD(window_size=24, random_state=5, **options).fit_predict(SERIES.values)
        assert np.array_equal(dqeval.detect(SERIES, "theirs", seed=5, **options), expected)


def test_a_detector_without_random_numbers_takes_no_seed():
    function = aeon.register(DWT_MLEAD(), "wavelets")
    entry = dqeval.detectors.DETECTORS["wavelets"]
    assert entry.function is function
    assert "seed" not in entry.parameters
    assert entry.summary == "DWT-MLEAD anomaly detector."
    assert entry.univariate
    assert np.array_equal(dqeval.detect(SERIES, "wavelets"), DWT_MLEAD().fit_predict(SERIES.values))


def test_a_detector_that_learns_from_normal_data_gets_the_training_part():
    aeon.register(Learner(), "learner", label="Learner")
    entry = dqeval.detectors.DETECTORS["learner"]
    assert (entry.trains, entry.univariate, entry.label) == (True, False, "Learner")
    assert dict(entry.parameters) == {"power": 1.0, "inner": None}
    values = SERIES.values
    expected = np.abs(values - values[:400].mean()) ** 2
    assert dqeval.detect(values, "learner", train_stop=400, power=2.0) == pytest.approx(expected)
    columns = np.column_stack([values, values])
    assert dqeval.detect(columns, "learner", train_stop=400, power=2.0) == pytest.approx(2 * expected)
    with pytest.raises(ValueError, match="needs training"):
        dqeval.detect(values, "learner")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ((KMeansAD, "theirs"), r"estimator must be an object, not a class: write KMeansAD\(\) in place of KMeansAD"),
        (("KMeansAD", "theirs"), "estimator must be an anomaly detector of aeon for series, .*: got 'KMeansAD'"),
        ((Supervised(), "theirs"), "Supervised learns from labels, which detectors never see"),
        ((KMeansAD(), 3), "name must be a text: got 3"),
        ((KMeansAD(), "sub_lof"), "a detector named 'sub_lof' already exists"),
    ],
)
def test_what_cannot_be_registered(given, said):
    with pytest.raises(ValueError, match=said):
        aeon.register(*given)


def test_a_name_that_another_detector_of_aeon_has():
    aeon.register(KMeansAD(), "theirs")
    with pytest.raises(ValueError, match="a detector named 'theirs' already exists: choose another name"):
        aeon.register(DWT_MLEAD(), "theirs")
    again = aeon.register(KMeansAD(n_clusters=3), "theirs")  # as when a cell is run again
    assert dqeval.detectors.DETECTORS["theirs"].function is again
    assert repr(again) == "<detector theirs: KMeansAD(n_clusters=3) of aeon>"


def test_a_parameter_that_there_is_not():
    function = aeon.register(KMeansAD(), "theirs")
    with pytest.raises(ValueError, match="has no 'clusters': did you mean 'n_clusters'"):
        function(SERIES.values, clusters=3)
    with pytest.raises(ValueError, match="the detector theirs has no 'clusters': did you mean 'n_clusters'"):
        dqeval.detect(SERIES, "theirs", clusters=3)


@pytest.fixture
def module(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "from_aeon.py").write_text(MODULE)
    yield tmp_path / "from_aeon.py"
    sys.modules.pop("from_aeon", None)


@pytest.mark.unmeasured
def test_aeons_detectors_on_the_command_line(module, monkeypatch, capsys):
    call = caller(monkeypatch, capsys)
    assert call("datasets", "generate", "-o", "series", "--count", "1").code == 0
    done = call("detect", "series", "--detector", "aeon_kmeans", "-o", "scored", "--module", "from_aeon.py")
    assert done.code == 0, done.err
    (path,) = (module.parent / "scored").glob("*.csv")
    loaded = dqeval.datasets.load(path)
    expected = KMeansAD(window_size=48, random_state=0).fit_predict(loaded.values)
    assert loaded.scores["aeon_kmeans"] == pytest.approx(expected, rel=1e-9)


@pytest.mark.unmeasured
def test_aeons_detectors_in_plans(module):
    plan = {
        "modules": ["from_aeon.py"],
        "metrics": ["dqe"],
        "detector": [{"name": "aeon_kmeans"}, {"name": "aeon_kmeans", "label": "three", "n_clusters": 3}],
        "data": [{"generator": "synthetic", "count": 1}],
    }
    module.with_name("plan.json").write_text(json.dumps(plan))
    assert run(read_plan(module.with_name("plan.json")), "results").left == 0
    rows = dqeval.bench.Store("results").values()
    assert {row["detector"] for row in rows} == {"aeon_kmeans", "three"}


def test_our_metrics_are_functions_like_aeons():
    scores = dqeval.detect(SERIES, "sub_lof")
    assert aeon.metric("dqe", period=48)(SERIES.labels, scores) == dqeval.dqe_score(SERIES.labels, scores, period=48)
    expected = roc_auc_score(SERIES.labels.astype(int), scores)
    assert aeon.metric("auc_roc")(SERIES.labels, scores) == pytest.approx(expected, abs=1e-12)
    k_delay = aeon.metric("delay_point_adjusted_f1", k=2)
    expected = dqeval.best_threshold("delay_point_adjusted_f1", SERIES.labels, scores, k=2).value
    assert (k_delay.__name__, k_delay(SERIES.labels, scores)) == ("delay_point_adjusted_f1", expected)
    with pytest.raises(ValueError, match="'events' is a group of metrics"):
        aeon.metric("events")
    with pytest.raises(dqeval.UndefinedError, match="has no anomaly"):
        aeon.metric("dqe")([0, 0, 0], [1, 2, 3])


def test_without_aeon_the_error_says_what_to_install(monkeypatch):
    monkeypatch.delitem(sys.modules, "dqeval.adapters.aeon")
    monkeypatch.setitem(sys.modules, "aeon.anomaly_detection.series.base", None)
    with pytest.raises(ModuleNotFoundError, match="install it with pip install aeon"):
        __import__("dqeval.adapters.aeon")


@pytest.mark.parametrize("keyword", ["near", "period", "undefined"])
def test_wrong_values_are_refused_in_a_sentence_that_names_the_keyword(keyword):
    check_keyword(aeon.metric, ("dqe",), {}, keyword)
