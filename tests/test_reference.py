"""Published and golden values."""

import json
from pathlib import Path

import numpy as np
import pytest

import dqeval
from dqeval.experiments.outcome import expected_file, expected_numbers

COLUMNS = ("dqe", "capture", "near_miss", "false_alarm")
REFERENCE = Path(__file__).parent / "reference"
PINNED = json.loads((REFERENCE / "pinned.json").read_text())
FULL = {(row["table"], row["row"]): {part: row[part] for part in COLUMNS} for row in PINNED["full"]}
GOLDEN = json.loads((REFERENCE / "golden.json").read_text())["cases"]


def binary(ranges, length):
    series = np.zeros(length, int)
    for first, last in ranges:
        series[first : last + 1] = 1
    return series


def labels_and_detections(case, row):
    y_true = binary(case["anomalies"], case["length"])
    if case["detections"][row] == "random":
        return y_true, np.random.RandomState(42).randint(0, 2, size=case["length"])
    return y_true, binary(case["detections"][row], case["length"])


def paper_cases():
    for case in expected_file("cases")["inputs"]:
        for row in case["detections"]:
            yield pytest.param(case, row, id=f"{case['table']} {row}")


@pytest.mark.parametrize(("case", "row"), list(paper_cases()))
def test_dqe_of_every_row_of_the_papers_tables(case, row):
    y_true, y_pred = labels_and_detections(case, row)
    published = expected_numbers("cases")[case["table"], row, "dqe"]
    result = dqeval.evaluate_detections(y_true, y_pred, near=case["near"])
    assert f"{result.dqe:.2f}" == published
    assert f"{dqeval.dqe_score(y_true, y_pred, near=case['near']):.2f}" == published
    for column, value in FULL.get((case["table"], row), {}).items():
        assert getattr(result, column) == pytest.approx(value, abs=5e-9)


def test_what_is_pinned_is_in_the_tables():
    assert FULL.keys() <= {(table, row) for table, row, _ in expected_numbers("cases")}
    assert len(FULL) == 7


@pytest.mark.parametrize("case", PINNED["small_cases"], ids=lambda case: case["pins"])
def test_small_cases(case):
    y_true, y_pred = ([int(c) for c in case[name]] for name in ("labels", "detections"))
    result = dqeval.evaluate_detections(y_true, y_pred, near=case["near"])
    found = [[event.capture, event.near_miss, event.false_alarm, event.dqe] for event in result.per_event]
    np.testing.assert_allclose(found, case["expected"], rtol=0, atol=5e-9)


def golden_cases(use, key):
    return [pytest.param(case, id=case["id"]) for case in GOLDEN if case[use].get(key)]


def assert_golden(result, expected):
    for column in COLUMNS:
        assert getattr(result, column) == pytest.approx(expected[column], abs=1e-9)
        if "per_event" in expected:
            found = [getattr(event, column) for event in result.per_event]
            assert found == pytest.approx(expected["per_event"][column], abs=1e-9)


@pytest.mark.parametrize("case", golden_cases("binary", "dqe"))
def test_golden_detections(case):
    assert_golden(dqeval.evaluate_detections(case["label"], case["pred"], near=case["W"]), case["binary"]["dqe"])


@pytest.mark.parametrize("case", golden_cases("scores", "dqe"))
def test_golden_scores(case):
    result = dqeval.evaluate(case["label"], case["score"], near=case["W"] / 2, scale=False)
    assert_golden(result, case["scores"]["dqe"])


@pytest.mark.parametrize("case", golden_cases("scores", "dqe_exact"))
@pytest.mark.unmeasured
def test_golden_exact(case):
    result = dqeval.evaluate(case["label"], case["score"], near=case["W"] / 2, scale=False, thresholds="exact")
    assert_golden(result, case["scores"]["dqe_exact"])


def test_no_golden_case_is_left_out():
    counts = [len(golden_cases(*key)) for key in (("binary", "dqe"), ("scores", "dqe"), ("scores", "dqe_exact"))]
    assert counts == [29, 27, 27]


def test_golden_cases_without_a_value_are_errors():
    """What has no golden value has none for a reason: no anomaly, a NaN, a score outside [0, 1]."""
    without = [case for case in GOLDEN if not case["scores"].get("dqe")]
    assert [case["id"] for case in without] == ["dev-22", "dev-28", "dev-29"]
    for case in without:
        scores = [np.nan if score is None else score for score in case["score"]]
        with pytest.raises(ValueError, match=r"no anomaly|must be finite|must lie in \[0, 1\]"):
            dqeval.evaluate(case["label"], scores, near=case["W"] / 2, scale=False)
