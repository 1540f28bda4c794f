"""Every keyword of every public function says what it takes, when it is given something else."""

import inspect
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

import dqeval
from dqeval import datasets, detectors, experiments, metrics
from dqeval.adapters import sklearn, tsb_ad
from dqeval.analysis import score as scoring
from keywords import RIGHT, check_keyword

LABELS = [0, 0, 1, 1, 0, 0] * 20
SCORES = np.linspace(0, 1, 120)
DETECTIONS = [0, 1, 0, 1, 0, 0] * 20
COLUMNS = {"label": LABELS, "mine": SCORES}
FRAME = pd.DataFrame({**COLUMNS, "value": SCORES})
VALUES = np.sin(np.arange(400))

NEEDED_WINDOW = {"vus_roc", "vus_pr"}
SHARE_K = {"point_adjusted_k_f1", "point_adjusted_k_parts"}
ONE_EVENT = [0, 0, 1, 1, *[0] * 116]

FUNCTIONS = {
    "evaluate": (dqeval.evaluate, (LABELS, SCORES), {}),
    "evaluate_detections": (dqeval.evaluate_detections, (LABELS, DETECTIONS), {}),
    "evaluate_intervals": (dqeval.evaluate_intervals, ([(5, 9)], [(6, 7)]), {}),
    "evaluate_frame": (dqeval.evaluate_frame, (FRAME,), {}),
    "evaluate_frame_events": (dqeval.evaluate_frame_events, (FRAME,), {}),
    "evaluate_many": (dqeval.evaluate_many, (LABELS, SCORES), {}),
    "alarms": (dqeval.alarms, (LABELS, DETECTIONS), {}),
    "alarm_curve": (dqeval.alarm_curve, (LABELS, SCORES), {}),
    "threshold_for": (dqeval.threshold_for, (LABELS, SCORES), {"false_alarms_per_1000": 10}),
    "labels_from_intervals": (dqeval.labels_from_intervals, ([(5, 9)], range(20)), {}),
    "intervals_from_labels": (dqeval.intervals_from_labels, (LABELS, range(120)), {}),
    "check": (dqeval.check, (COLUMNS,), {}),
    "panel": (dqeval.panel, (LABELS, SCORES), {"metrics": ["auc_roc"]}),
    "best_threshold": (dqeval.best_threshold, ("range_f1", LABELS, SCORES), {}),
    "partition": (dqeval.partition, (LABELS,), {}),
    "find_period": (dqeval.find_period, (VALUES,), {}),
    "explain": (dqeval.explain, (LABELS, SCORES), {}),
    "compare": (dqeval.compare, (COLUMNS,), {"repeats": 1}),
    "diff": (dqeval.diff, (COLUMNS, COLUMNS), {"metrics": ["dqe"]}),
    "chance": (dqeval.panel(LABELS, SCORES, metrics=["auc_roc"]).chance, (), {"repeats": 1}),
    "score": (scoring.score, ([datasets.series_of(COLUMNS)],), {"metrics": ["dqe"]}),
    "rank": (dqeval.rank, ({"a": SCORES, "b": SCORES},), {}),
    "near_profile": (dqeval.near_profile, (COLUMNS,), {}),
    "properties": (dqeval.properties, (["auc_roc"],), {"questions": ["coverage"], "examples": 1}),
    "stress": (dqeval.stress, (LABELS, SCORES), {"metrics": ["auc_roc"], "kinds": ["jitter"], "draws": 2}),
    "split": (datasets.split, ({**COLUMNS, "value": SCORES, "by": LABELS},), {"by": "by"}),
    "interval": (dqeval.evaluate(LABELS, SCORES).interval, (), {}),
    "detect": (dqeval.detect, (VALUES, "sub_lof"), {}),
    "detect_many": (dqeval.detect_many, ([VALUES], "sub_lof"), {}),
    "synthetic": (datasets.synthetic, (), {}),
    "read_intervals": (datasets.read_intervals, ("nowhere.csv",), {}),
    "scorer": (sklearn.scorer, ("dqe",), {}),
    "windows_to_points": (sklearn.windows_to_points, (SCORES, 3, 122), {}),
    "get_metrics": (tsb_ad.get_metrics, (SCORES, LABELS), {}),
    **{
        name: (getattr(detectors, name), (VALUES,), {})
        for name in ("kmeans_ad", "sub_lof", "neighbour_distances", "fft", "sr")
    },
}
for name in metrics.__all__:
    function = getattr(metrics, name)
    taken = inspect.signature(function).parameters
    needed = {key: 3 for key, p in taken.items() if p.kind is p.KEYWORD_ONLY and p.default is p.empty}
    labels = ONE_EVENT if name.startswith("ucr") else LABELS
    FUNCTIONS[name] = (function, (labels, DETECTIONS if "y_pred" in taken else SCORES), needed)

CASES = [
    (name, keyword)
    for name, (function, given, _) in FUNCTIONS.items()
    for keyword in list(inspect.signature(function).parameters)[len(given) :]
    if keyword != "parameters"
]


@pytest.mark.parametrize(("name", "keyword"), CASES, ids=lambda part: part)
def test_wrong_values_are_refused_in_a_sentence_that_names_the_keyword(name, keyword):
    function, given, options = FUNCTIONS[name]
    right = RIGHT.get(keyword, set())
    if (name in NEEDED_WINDOW and keyword == "window") or (name, keyword) == ("synthetic", "seed"):
        right = set()
    if (name in SHARE_K and keyword == "k") or (name, keyword) == ("properties", "workers"):
        right = set()
    if name == "best_threshold" and keyword == "thresholds":
        right = {"nothing"}
    check_keyword(function, given, options, keyword, right)


def test_the_cases_cover_every_function_that_takes_keywords():
    public = {name for name in (*dqeval.__all__, *metrics.__all__) if inspect.isfunction(getattr(dqeval, name, None))}
    elsewhere = {"dqe_score", "sdqe_score"}  # among the metrics
    others = {"combine", "report", "metric", "detector"}  # without a keyword, below, or decorators
    assert public - elsewhere - others <= set(FUNCTIONS)
    # Those of other adapters need their libraries, and are tested beside them.
    assert {"scorer", "windows_to_points", "get_metrics"} <= {name for name, _ in CASES}
    assert {name for name, _ in CASES} >= set(metrics.__all__) - {"time_in_alarm"}  # which takes no keyword


UNHASHABLE = ([], ["f1"], {}, np.array(1.0), np.zeros(0), np.array(["a"]), np.ma.masked, Decimal("sNaN"))


@pytest.mark.parametrize("name", UNHASHABLE, ids=repr)
def test_a_name_that_is_no_text(name, tmp_path):
    with pytest.raises(ValueError, match=r"^metric must be a text: got "):
        dqeval.best_threshold(name, LABELS, SCORES)
    with pytest.raises(ValueError, match=r"^name must be a text: got "):
        next(experiments.reproduce(name, experiments.Setting(tmp_path)))


@pytest.mark.parametrize("names", [np.array(1.0), np.array("dqe"), np.ma.masked, Decimal("sNaN"), [np.zeros(2)], [{}]])
def test_names_that_are_no_sequence(names):
    with pytest.raises(ValueError, match=r"^metrics must be a sequence of names: got "):
        dqeval.panel(LABELS, SCORES, metrics=names)
    with pytest.raises(ValueError, match=r"^combine takes results of evaluate: item 0 is "):
        dqeval.combine(names)


def test_other_arguments():
    with pytest.raises(ValueError, match="path must be the path of a file: got 3"):
        dqeval.report(COLUMNS, 3)
    with pytest.raises(ValueError, match="progress must be a function to call, or None: got 3"):
        dqeval.report(COLUMNS, "never.html", progress=3)
    with pytest.raises(ValueError, match="data must be a Series, columns by name, or a file: got list"):
        dqeval.check([0, 1])
    with pytest.raises(ValueError, match="combine takes results of evaluate: item 0 is 3"):
        dqeval.combine(3)
    with pytest.raises(ValueError, match="metrics must be a sequence of names: got 3"):
        dqeval.panel(LABELS, SCORES, metrics=3)
    with pytest.raises(ValueError, match=r"near np\.timedelta64.* is a duration, and there is no clock"):
        dqeval.evaluate(LABELS, SCORES, near=np.timedelta64(3, "s"))
    assert not dqeval.evaluate(LABELS, SCORES, scale=np.True_).curve.thresholds.max() > 1
