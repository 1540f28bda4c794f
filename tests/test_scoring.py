"""Several detectors on several series: panels, means, tables, and what is said where something is missing."""

import dataclasses
import json
import math

import numpy as np
import pytest

import dqeval
from dqeval.analysis import score as scoring
from dqeval.analysis.receipts import jsonable
from dqeval.analysis.score import score
from dqeval.analysis.score_result import mark_best, named_values
from dqeval.core.types import MEANING
from dqeval.datasets.door import prepare

DEMO = dqeval.datasets.demo()
HALF = dqeval.Series(
    "half", DEMO.labels[:800], {name: scores[:800] for name, scores in DEMO.scores.items()}, DEMO.values[:800]
)
NORMAL = dataclasses.replace(HALF, name="normal", labels=np.zeros(800))


def panels(series, *, near=None, period=None, **options):
    """Return the panels of a series by detector."""
    return dict(scoring.panels(prepare(series, near=near, period=period), **options))


def near_of(series, **options):
    return prepare(series, **options).near


def test_panels_are_those_of_each_detector():
    found = panels(DEMO, period=48)
    for name, scores in DEMO.scores.items():
        assert found[name] == dqeval.panel(DEMO.labels, scores, period=48)
    found = panels(DEMO, metrics=["dqe"], near=5, thresholds="exact")
    assert found["late"].dqe == dqeval.evaluate(DEMO.labels, DEMO.scores["late"], near=5, thresholds="exact")


def test_near_ranges():
    assert str(near_of(DEMO)) == "near 24, half the estimated period"
    assert str(near_of(DEMO, period=50)) == "near 25, half the given period"
    assert str(near_of(DEMO, near=7)) == "near 7, as given"
    assert str(near_of(dataclasses.replace(DEMO, values=None))) == "near 125, by default"
    holes = np.where(np.arange(1600) % 40 == 3, np.nan, DEMO.values)
    source = "half the estimated period, 40 missing values filled"
    assert str(near_of(dataclasses.replace(DEMO, values=holes))) == f"near 24, {source}"
    assert panels(DEMO, metrics=["dqe"])["late"].near == 24
    with pytest.raises(ValueError, match="give at most one of near, period, values"):
        near_of(DEMO, near=7, period=50)


def test_what_makes_numbers_wrong_is_said():
    assert score([DEMO], metrics=["dqe"]).warnings == ()
    bad = dataclasses.replace(
        DEMO, scores={"sharp": -DEMO.scores["sharp"]}, timestamps=np.concatenate([np.arange(800), np.arange(800)])
    )
    found = score([bad], metrics=["dqe"])
    assert [finding.column for finding in found.series[0].findings] == ["timestamp", "sharp"]
    assert found.warnings[0].startswith("demo, column timestamp: the time starts again once")
    assert found.warnings[1].startswith("demo, column sharp: AUC-ROC is 0.003, far below")
    records = [dataclasses.asdict(finding) for finding in found.series[0].findings]
    assert found.numbers()["series"][0]["findings"] == records


def test_no_anomaly():
    with pytest.raises(dqeval.UndefinedError, match=r"^no label is 1, so there is no event to score the detectors on$"):
        panels(NORMAL)
    with pytest.warns(dqeval.UndefinedWarning):
        found = dqeval.panel(NORMAL.labels, NORMAL.scores["late"], undefined="nan", metrics=["auc_roc"])
    assert math.isnan(found["auc_roc"])


def test_errors_say_which_column_and_which_series():
    scores = {**DEMO.scores, "late": np.full(1600, np.nan)}
    bad = dataclasses.replace(DEMO, name="bad", scores=scores)
    with pytest.raises(ValueError, match=r"^column late: y_score must be finite"):
        panels(bad)
    with pytest.raises(ValueError, match=r"^bad: column late: y_score must be finite"):
        score([DEMO, bad])
    with pytest.raises(ValueError, match=r"^bad: y_true must contain only 0 and 1"):
        score([dataclasses.replace(bad, labels=np.full(1600, 2))])


def test_values_by_name_include_the_parts_of_dqe():
    panel = panels(DEMO, period=48, metrics=["auc_roc", "dqe", "auc_pr"])["late"]
    assert list(named_values(panel)) == ["auc_roc", "dqe", "capture", "near_miss", "false_alarm", "auc_pr"]
    assert named_values(panel)["near_miss"] == panel.dqe.near_miss


def test_one_series():
    found = score([DEMO], period=48)
    assert found.title == "demo: 1,600 points, 6 events; near 24, half the given period"
    table = found.metric_table()
    assert table.header == ("metric", "sharp", "late", "jumpy")
    assert [row[0] for row in table.rows[:5]] == ["DQE", "  capture", "  near miss", "  false alarm", "DQE-LR"]
    assert [next(j for i, j in table.marked if i == row) for row in range(4)] == [1, 3, 1, 2]
    assert found.means["late"]["dqe"] == dqeval.dqe_score(DEMO.labels, DEMO.scores["late"], period=48)


def test_several_series():
    found = score([DEMO, NORMAL, HALF], metrics=["dqe", "auc_roc"])
    whole, half = panels(DEMO), panels(HALF)
    assert found.title == "2 series, 9 events; near 24 to 48, half the estimated period"
    combined = dqeval.combine([whole["late"].dqe, half["late"].dqe])
    assert found.combined["late"] == combined
    assert found.means["late"] == pytest.approx(
        {
            "dqe": combined.by_series.dqe,
            "capture": combined.by_series.capture,
            "near_miss": combined.by_series.near_miss,
            "false_alarm": combined.by_series.false_alarm,
            "auc_roc": (whole["late"]["auc_roc"] + half["late"]["auc_roc"]) / 2,
        }
    )
    _, means, by_event, by_series, notes = found.page().parts
    assert (means.header[0], by_event.header[0], by_series.header[0]) == (
        "mean over series",
        "mean over events",
        "DQE of series",
    )
    assert by_event.rows[0][2] == f"{combined.by_event.dqe:.3f}"
    assert [row[0] for row in by_series.rows] == ["demo", "half"]
    left_out = "Left out, because no label there is 1: normal."
    assert notes.splitlines() == ["DQE is over 100 thresholds.", *MEANING.splitlines(), left_out]
    said = "NAB: a mean over series is not the score of a corpus"
    assert said in str(score([DEMO, HALF], metrics=["nab_score"]).page())
    assert said not in str(score([DEMO], metrics=["nab_score"]).page())
    with pytest.raises(dqeval.UndefinedError, match=r"^normal, other: no label is 1"):
        score([NORMAL, dataclasses.replace(NORMAL, name="other")])
    with pytest.raises(ValueError, match="there is no series to score"):
        score([])


def test_several_series_without_dqe():
    found = score([DEMO, HALF], metrics=["auc_roc"], near=3)
    assert found.combined == {}
    assert found.title.endswith("near 3, as given")
    _, means, by_series = found.page().parts
    assert [row[0] for row in means.rows] == ["AUC-ROC"]
    assert by_series.header[0] == "AUC-ROC of series"


def test_undefined_in_one_series_is_undefined_in_the_mean():
    every = dataclasses.replace(HALF, name="every", labels=np.ones(800))
    found = score([DEMO, every], metrics=["dqe", "auc_roc"], near=5)
    assert math.isnan(found.means["late"]["auc_roc"])
    assert "every, sharp and 2 more, auc_roc: undefined, because y_true has no normal point" in found.page().text()


def test_detectors_must_be_the_same():
    fewer = dataclasses.replace(HALF, scores={"late": HALF.scores["late"]})
    for series in ([DEMO, fewer], [fewer, DEMO]):
        with pytest.raises(ValueError, match=r"half has no scores of sharp, jumpy, which demo has: choose detectors"):
            score(series)


def test_per_event():
    found = score([DEMO, HALF], metrics=["dqe"], near=24, per_event=True)
    tables = found.page().parts[4:8]
    assert [table.header[0] for table in tables] == [
        "DQE of event", "capture of event", "near miss of event", "false alarm of event"
    ]  # fmt: skip
    result = dqeval.evaluate(DEMO.labels, DEMO.scores["late"], near=24)
    assert [row[2] for row in tables[2].rows[:6]] == [f"{event.near_miss:.3f}" for event in result.per_event]
    assert tables[0].rows[6][0] == "half [214, 218)"
    assert score([DEMO], metrics=["dqe"], per_event=True).event_table("dqe").rows[0][0] == "[214, 218)"
    with pytest.raises(ValueError, match="the scores of each event are those of DQE: add dqe to the metrics"):
        score([DEMO], metrics=["auc_roc"], per_event=True)


def test_records():
    rows = score([DEMO], metrics=["dqe", "range_f1"], period=48).records()
    assert len(rows) == 3 * 5
    best = dqeval.best_threshold("range_f1", DEMO.labels, DEMO.scores["sharp"])
    assert rows[4] == {
        "series": "demo",
        "detector": "sharp",
        "metric": "range_f1",
        "value": best.value,
        "best_threshold": best.threshold,
    }
    rows = score([DEMO], metrics=["dqe"], period=48, per_event=True).records()
    assert len(rows) == 3 * (4 + 6 * 4)
    assert (rows[0]["start"], rows[4]["start"], rows[4]["stop"]) == (None, 214, 218)
    assert len({tuple(row) for row in rows}) == 1


def test_numbers():
    numbers = score([DEMO], metrics=["dqe", "range_f1"], period=48, per_event=True).numbers()
    json.dumps(jsonable(numbers), allow_nan=False)
    (series,) = numbers["series"]
    assert (series["near"], series["near_from"], series["events"]) == (24, "half the given period", 6)
    late = series["detectors"]["late"]
    assert late["parameters"] == {"dqe": {"near": 24.0, "thresholds": 100}, "range_f1": {"alpha": 0.2}}
    assert late["best_thresholds"]["range_f1"] == 0.22
    assert late["per_event"][0]["start"] == 214
    assert numbers["by_event"]["late"]["dqe"] == numbers["by_series"]["late"]["dqe"] == late["values"]["dqe"]


def test_the_best_of_a_row_is_marked():
    rows = [("one", 0.5, 0.4), ("alike", 0.5, 0.5001), ("undefined", math.nan, 0.1), ("none", math.nan, math.nan)]
    table = mark_best(("", "a", "b"), rows)
    assert table.marked == {(0, 1), (2, 2)}
    assert mark_best(("", "a", "b", "c"), [("two", 0.5, 0.4, 0.5)]).marked == {(0, 1), (0, 3)}
