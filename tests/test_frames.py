"""Results as DataFrames of pandas and polars: what a row is, and that its numbers are those of the result."""

import dataclasses
import inspect
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

import dqeval
from commands import caller
from dqeval import bench
from dqeval.core.types import SCORE_NAMES
from dqeval.support.frames import Framed

SERIES = dqeval.datasets.demo()
LABELS, SCORES = SERIES.labels, SERIES.scores["late"]
TIMES = pd.date_range("2026-01-01", periods=len(LABELS), freq="min")
FOUND = dqeval.evaluate(LABELS, SCORES, period=48)
TIMED = dqeval.evaluate(LABELS, SCORES, period=48, times=TIMES)
PANEL = dqeval.panel(LABELS, SCORES, period=48, metrics=["dqe", "auc_roc", "range_f1"])
ALARMS = dqeval.alarms(LABELS, SCORES > 0.5)
TIMED_ALARMS = dqeval.alarms(LABELS, SCORES > 0.5, times=TIMES)
CURVE = dqeval.alarm_curve(LABELS, SCORES)
POINT = dqeval.threshold_for(LABELS, SCORES, false_alarms_per_1000=1)
PARTS = dqeval.metrics.range_parts(LABELS, SCORES > 0.5)
COMPARISON = dqeval.compare(SERIES, repeats=2)
PROFILE = dqeval.near_profile(SERIES)
EXPLANATION = dqeval.explain(LABELS, SCORES, period=48, times=TIMES)
COMBINED = dqeval.combine([FOUND, TIMED])
PARTITION = dqeval.partition(LABELS, near=24)
TIMED_PARTITION = dqeval.partition(LABELS, near=24, times=TIMES)
STRESS = dqeval.stress(LABELS, SERIES.scores, period=48, metrics=["auc_roc", "dqe"], kinds=["lag", "splits"])
FINDINGS = dqeval.check({"label": LABELS, "flat": np.zeros(len(LABELS))})
MANY = dqeval.evaluate_many([LABELS], [SERIES.scores["late"]], near=24)
EVERY = {
    "ManyResult": MANY,
    "ManyEvents": MANY.per_event,
    "DQEResult": FOUND,
    "TimedResult": TIMED,
    "EventScores": FOUND.per_event[0],
    "TimedEventScores": TIMED.per_event[0],
    "TimeIntervals": dqeval.intervals_from_labels(LABELS, TIMES),
    "Scores": COMBINED.by_series,
    "Combined": COMBINED,
    "Curve": FOUND.curve,
    "Evaluation": PANEL,
    "Chance": PANEL.chance(repeats=2),
    "BestThreshold": PANEL.best["range_f1"],
    "PrecisionRecall": PARTS,
    "Alarms": TIMED_ALARMS,
    "AlarmCurve": CURVE,
    "OperatingPoint": POINT,
    "Partition": PARTITION,
    "Region": PARTITION.regions[0],
    "Interval": FOUND.interval(),
    "Ranking": dqeval.rank(SERIES.scores),
    "Period": dqeval.find_period(SERIES.values),
    "NearProfile": PROFILE,
    "Comparison": COMPARISON,
    "Diff": dqeval.diff(SERIES, SERIES, period=48, metrics="dqe"),
    "StressResult": STRESS,
    "PropertyMatrix": dqeval.properties(["dqe"], questions=["coverage"]),
    "Explanation": EXPLANATION,
    "Findings": FINDINGS,
    "Finding": FINDINGS[0],
}
NO_RESULTS = {"Series"}  # what results are made of

every_result = pytest.mark.parametrize("result", EVERY.values(), ids=EVERY)


def test_every_public_result_is_here():
    public = {name: getattr(dqeval, name) for name in dqeval.__all__}
    results = {name for name, each in public.items() if inspect.isclass(each) and not issubclass(each, BaseException)}
    assert results - NO_RESULTS == {type(each).__name__ for each in EVERY.values()} == set(EVERY)
    assert issubclass(bench.Ranking, Framed)


def test_the_page_says_what_a_row_is():
    page = (Path(__file__).parent.parent / "docs" / "frames.md").read_text(encoding="utf-8")
    said = re.findall(r"`(\w+)`", "".join(re.findall(r"^(\| .* \|) ", page, flags=re.MULTILINE)))
    assert set(EVERY) | {"Ranking"} <= set(said)


@every_result
def test_pandas_and_polars_hold_the_same(result):
    frame, other = result.to_frame(), result.to_frame("polars")
    assert isinstance(frame, pd.DataFrame)
    assert isinstance(other, pl.DataFrame)
    assert frame.columns.tolist() == other.columns
    assert len(frame) == len(other) > 0
    for name in other.columns:
        column, values = other[name], frame[name]
        if column.dtype.is_float():
            np.testing.assert_array_equal(column.to_numpy(), values.to_numpy(dtype=float))
        else:
            assert [None if pd.isna(cell) else cell for cell in values] == column.to_list()


@every_result
def test_a_row_per_item_has_no_cell_with_several_values(result):
    for cell in result.to_frame("polars").rows()[0]:
        assert not isinstance(cell, (list, tuple, dict))


def test_rows_are_events():
    frame = FOUND.to_frame()
    assert frame.to_dict("records") == [dataclasses.asdict(event) for event in FOUND.per_event]
    timed = TIMED.to_frame()
    assert timed[[*frame.columns]].equals(frame)
    assert timed["start_time"].tolist() == [TIMES[event.start] for event in FOUND.per_event]
    assert timed["stop_time"].tolist() == [TIMES[event.stop] for event in FOUND.per_event]
    assert timed["start_time"].dtype.kind == "M"


def test_rows_of_explanations_are_events_with_their_times():
    frame = EXPLANATION.to_frame()
    assert frame["sentence"].tolist() == [event.sentence for event in EXPLANATION.events]
    assert frame["start_time"].tolist() == TIMED.to_frame()["start_time"].tolist()
    assert dqeval.explain(LABELS, SCORES).to_frame()["captured"].sum() == sum(e.captured for e in EXPLANATION.events)


def test_rows_of_combined_are_the_two_means():
    frame = COMBINED.to_frame()
    assert frame["mean_over"].tolist() == ["series", "event"]
    assert frame["count"].tolist() == [2, COMBINED.n_events]
    assert frame["dqe"].tolist() == [COMBINED.by_series.dqe, COMBINED.by_event.dqe]


def test_rows_of_curves_are_thresholds():
    frame = FOUND.curve.to_frame()
    assert frame.columns.tolist() == ["threshold", *SCORE_NAMES]
    assert frame["threshold"].tolist() == FOUND.curve.thresholds.tolist()
    assert frame["false_alarm"].tolist() == FOUND.curve.false_alarm.tolist()
    alarms = CURVE.to_frame()
    assert alarms["threshold"].tolist() == CURVE.thresholds.tolist()
    assert alarms["false_alarms"].tolist() == CURVE.false_alarms.tolist()
    assert alarms["time_in_alarm"].iloc[-1] == 1
    assert alarms["false_alarms_per_day"].isna().all()


def test_rows_of_panels_are_metrics():
    frame = PANEL.to_frame().set_index("metric")
    assert frame["value"].to_dict() == PANEL.values
    assert frame.loc["range_f1", "threshold"] == PANEL.threshold("range_f1")
    assert frame["threshold"].isna().tolist() == [True, True, False]
    with pytest.warns(dqeval.UndefinedWarning):
        nothing = dqeval.panel(np.zeros(50), SCORES[:50], metrics=["dqe"], undefined="nan")
    assert nothing.to_frame()["failure"][0].startswith("undefined, because")


def test_rows_of_alarms_are_events():
    frame = ALARMS.to_frame()
    assert frame["detected"].tolist() == ALARMS.detected.tolist()
    assert frame["delay"].isna().tolist() == (~ALARMS.detected).tolist()
    timed = TIMED_ALARMS.to_frame()
    assert (timed["delay_time"] / pd.Timedelta("1min")).equals(timed["delay"])
    assert "delay_time" not in frame
    assert frame[["start", "stop"]].equals(FOUND.to_frame()[["start", "stop"]])


def test_numbers_of_alarms_are_those_of_the_functions():
    detections = POINT.threshold <= SCORES
    found = dqeval.alarms(LABELS, detections).numbers()
    for name in ("mean_delay", "median_delay", "time_in_alarm", "false_time_in_alarm", "false_alarms"):
        assert found[name] == getattr(dqeval.metrics, name)(LABELS, detections), name


def test_parts_of_metrics_have_rows():
    (row,) = dqeval.metrics.nab_parts(LABELS, LABELS).to_frame().to_dict("records")
    events = len(FOUND.per_event)
    assert row == {"value": 100.0, "raw": events, "windows": events, "profile": "standard"}
    frame = dqeval.metrics.adtqc_parts(LABELS, LABELS).to_frame("polars")
    assert frame.to_dict(as_series=False) == {"quality": [1.0] * events, "latency": [0.0] * events}
    (row,) = dqeval.metrics.ucr_parts([0, 1, 0], [0, 1, 1], margin=1).to_frame().to_dict("records")
    assert row == {"value": 1.0, "margin": 1, "peaks": 2}
    with pytest.warns(dqeval.UndefinedWarning):
        (row,) = dqeval.metrics.ucr_parts([0, 0], [0, 1], undefined="nan").to_frame().to_dict("records")
    assert np.isnan([row["value"], row["margin"]]).all()


def test_a_column_of_names_is_there_if_an_event_has_one(tmp_path):
    assert "name" not in TIMED.to_frame()
    assert "name" not in EXPLANATION.to_frame()
    path = tmp_path / "incidents.csv"
    path.write_text("start,end,name\n2026-01-01 00:10,2026-01-01 00:20,outage\n2026-01-01 01:00,2026-01-01 01:05,\n")
    alerts = [("2026-01-01 00:12", "2026-01-01 00:14")]
    named = dqeval.evaluate_intervals(dqeval.datasets.read_intervals(path), alerts, resolution="1min", near=5)
    assert named.to_frame()["name"].tolist() == ["outage", ""]


def test_an_operating_point_is_a_row():
    (row,) = POINT.to_frame().to_dict("records")
    assert row["threshold"] == POINT.threshold
    assert row["per"] == "1,000 points"
    assert row["events_detected"] == POINT.alarms.events_detected


def test_rows_of_a_partition_are_regions():
    frame = PARTITION.to_frame()
    assert frame.to_dict("records") == [dataclasses.asdict(region) for region in PARTITION.regions]
    assert TIMED_PARTITION.to_frame()["start_time"].tolist() == TIMED.to_frame()["start_time"].tolist()


def test_rows_of_comparisons_and_profiles_are_records():
    assert COMPARISON.to_frame().to_dict("records") == COMPARISON.records()
    assert PROFILE.to_frame().to_dict("records") == PROFILE.records()


def test_findings_are_a_list():
    assert list(FINDINGS) == FINDINGS
    assert FINDINGS.to_frame()["message"].tolist() == [finding.message for finding in FINDINGS]


def test_findings_print_like_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    run = caller(monkeypatch, capsys)
    run("demo", "-o", "demo.csv")
    found = dqeval.check("demo.csv")
    assert found
    assert str(found) == repr(found)
    assert f"{found}\n" == run("check", "demo.csv").out.replace("demo.csv:", f"{found.name}:")
    assert found[0].message in found._repr_html_()
    assert str(dqeval.Findings()) == "no problems found"


def test_rows_of_a_ranking_are_detectors_and_metrics(tmp_path):
    data = [{"generator": "synthetic", "count": 2, "n": 500, "period": 20, "events": 3}]
    bench.run({"metrics": ["dqe"], "data": data, "detector": [{"name": "fft"}, {"name": "sr"}]}, tmp_path)
    ranking = bench.rank(tmp_path)
    frame = ranking.to_frame().fillna(-1)
    assert frame.to_dict("records") == pd.DataFrame(ranking.records()).fillna(-1).to_dict("records")


def test_what_has_no_row_has_its_columns_with_their_types():
    with pytest.warns(dqeval.UndefinedWarning):
        nothing = dqeval.evaluate(np.zeros(50), SCORES[:50], undefined="nan")
    with pytest.warns(dqeval.UndefinedWarning):
        timed = dqeval.evaluate(np.zeros(50), SCORES[:50], times=TIMES[:50], undefined="nan")
    for empty, full in [
        (nothing, FOUND),
        (timed, TIMED),
        (dqeval.alarms(np.zeros(50), np.zeros(50), times=TIMES[:50]), TIMED_ALARMS),
        (dqeval.near_profile({"value": SERIES.values, "label": LABELS}), PROFILE),
        (dqeval.Findings(), FINDINGS),
    ]:
        frame, expected = empty.to_frame(), full.to_frame()
        assert len(frame) == 0
        assert frame.columns.tolist() == expected.columns.tolist()
        numeric = expected.select_dtypes("number").columns
        assert frame[numeric].dtypes.equals(expected[numeric].dtypes)


def test_other_libraries(monkeypatch):
    with pytest.raises(ValueError, match=r"library must be 'pandas' or 'polars': got 'spark'"):
        FOUND.to_frame("spark")
    for library in ("pandas", "polars"):
        monkeypatch.setitem(sys.modules, library, None)
        with pytest.raises(ValueError, match=f"to_frame needs {library}: pip install {library}"):
            FOUND.to_frame(library)
