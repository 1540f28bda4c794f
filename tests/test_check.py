"""Trouble that the check finds, and what it leaves alone."""

import numpy as np
import pytest

import dqeval
from dqeval.check import Checked

T = np.arange(1000)
VALUES = np.sin(2 * np.pi * T / 50)
SCORES = np.random.default_rng(0).random(1000)


def found(labels=None, values=VALUES, scores=SCORES):
    labels = (T % 200 == 100) if labels is None else labels
    series = dqeval.Series("s", np.asarray(labels, dtype=float), {"mine": np.asarray(scores, dtype=float)}, values)
    return [(finding.level, finding.column, finding.message) for finding in dqeval.check(series)]


def test_nothing_to_complain_about():
    assert found() == []


CASES = {
    "labels": (
        {"labels": np.where(T == 7, 3, T % 200 == 0)},
        "error",
        "label",
        "must contain only 0 and 1: 1 of 1,000",
    ),
    "no anomaly": ({"labels": 0 * T}, "error", "label", "no value is 1"),
    "all anomalous": ({"labels": 0 * T + 1}, "error", "label", "every value is 1"),
    "many anomalous": ({"labels": T % 4 == 0}, "warning", "label", "25% of the points are anomalous"),
    "close events": (
        {"labels": np.isin(T, (5, 7, 50))},
        "warning",
        "label",
        "1 pair of neighbouring events a single point",
    ),
    "run to failure": ({"labels": T > 950}, "warning", "label", "anomalies only at the end, from point 951 on"),
    "long events": ({"labels": (T > 100) & (T < 200)}, "warning", "label", "1 event of 1 longer than the period of 50"),
    "short events": (
        {"values": np.sin(2 * np.pi * T / 200)},
        "warning",
        "label",
        "all events are short, at most 1 point, beside the period of 200",
    ),
    "no values": ({"values": None}, "warning", "value", "there are no values to estimate the period from"),
    "bad values": (
        {"values": np.where(T == 3, np.inf, VALUES)},
        "error",
        "value",
        "must be finite: 1 of 1,000 values are",
    ),
    "constant values": ({"values": 0 * VALUES}, "warning", "value", "all values are the same"),
    "bad scores": (
        {"scores": np.where(T < 2, np.nan, SCORES)},
        "error",
        "mine",
        "must be finite: 2 of 1,000 values are not",
    ),
    "constant scores": ({"scores": 0 * T + 3}, "error", "mine", "all scores are 3: the detector says nothing"),
    "detections": ({"scores": T % 7 == 0}, "warning", "mine", "only 2 distinct scores: these are detections"),
    "few scores": ({"scores": T % 7}, "warning", "mine", "only 7 distinct scores: most thresholds do the same"),
    "saturated": ({"scores": np.minimum(SCORES, 0.8)}, "warning", "mine", "of the scores are at their maximum of 0.8"),
}


@pytest.mark.parametrize(("changed", "level", "column", "message"), CASES.values(), ids=CASES)
def test_trouble(changed, level, column, message):
    findings = found(**changed)
    assert any((level, column) == finding[:2] and message in finding[2] for finding in findings), findings
    assert [finding[0] for finding in findings] == sorted(finding[0] for finding in findings)  # errors first


def test_one_longer_event_among_points_is_nothing_to_complain_about():
    assert found(labels=(T % 200 == 100) | ((T > 300) & (T < 306)), values=np.sin(2 * np.pi * T / 200)) == []


def test_findings_to_be_shown():
    error, warning = dqeval.Finding("error", "label", "no value is 1"), dqeval.Finding("warning", "mine", "saturated")
    checked = Checked("a.csv", (error, warning))
    assert checked.failed
    assert checked.page().text().splitlines()[0] == "a.csv: 1 error, 1 warning"
    assert checked.records()[0] == {"level": "error", "column": "label", "message": "no value is 1"}
    assert checked.numbers() == {"series": "a.csv", "findings": checked.records()}
    assert not Checked("a.csv", (warning,)).failed
    assert Checked("a.csv", ()).page().text() == "a.csv: nothing to complain about"


def test_heavy_tails_and_times():
    labels = np.zeros(1000)
    labels[500:510] = 1
    tail = np.random.RandomState(0).rand(1000)
    tail[3] = 1e6
    found = dqeval.check(
        dqeval.Series("s", labels, {"tail": tail, "clock": np.arange(1000.0)}, np.sin(np.arange(1000.0)))
    )
    said = {finding.column: finding.message for finding in found if finding.level == "warning"}
    assert "99.9% of the scores lie in the lowest 1% of their range" in said["tail"]
    assert "is this a time, not a score?" in said["clock"]
