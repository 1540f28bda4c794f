"""Trouble that the check finds, and what it leaves alone."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import dqeval
from dqeval.analysis import clock
from dqeval.analysis.check import misread_scores, misread_times
from dqeval.analysis.findings import Checked
from dqeval.datasets.door import prepare

T = np.arange(1000)
VALUES = np.sin(2 * np.pi * T / 50)
# A clean detector: far above its noise in the events, on any scale of the scores.
NOISE = np.random.default_rng(0).random(1000)


def clean(labels, noise):
    """Return scores that no scale, single point or threshold makes mislead."""
    return np.where(labels, 0.9 + 0.1 * noise, 0.005 * noise)


def misread(prepared):
    """Return all that the commands that compute numbers warn of."""
    found = [finding for name in prepared.scores for finding in misread_scores(name, prepared.scored(name))]
    return [*misread_times(prepared.series), *found]


def found(labels=None, values=VALUES, scores=None):
    labels = (T % 200 == 100) if labels is None else labels
    scores = clean(labels, NOISE) if scores is None else scores
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
    "many anomalous": ({"labels": T % 4 == 0}, "warning", "label", "25 % of the points are anomalous"),
    "close events": (
        {"labels": np.isin(T, (5, 7, 50))},
        "warning",
        "label",
        "1 pair of neighbouring events at most 3 points apart, the first at point 6: is that one event, with labels",
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
    "missing values": (
        {"values": np.where(T % 100 == 3, np.nan, VALUES)},
        "warning",
        "value",
        "10 of 1,000 values are missing (first at index 3): to estimate the period, they are filled",
    ),
    "no value at all": ({"values": np.nan * VALUES}, "error", "value", "every value is missing: leave the column out"),
    "too few scores": ({"scores": NOISE[:7]}, "error", "mine", "has 7 scores for 1,000 points: there must be one"),
    "constant values": ({"values": 0 * VALUES}, "warning", "value", "all values are the same"),
    "bad scores": (
        {"scores": np.where(T < 2, np.nan, NOISE)},
        "error",
        "mine",
        "must be finite: 2 of 1,000 values are not",
    ),
    "constant scores": ({"scores": 0 * T + 3}, "error", "mine", "all scores are 3: the detector says nothing"),
    "detections": ({"scores": T % 7 == 0}, "warning", "mine", "only 2 distinct scores: these are detections"),
    "few scores": ({"scores": T % 7}, "warning", "mine", "only 7 distinct scores: most thresholds do the same"),
    "saturated": ({"scores": np.minimum(NOISE, 0.8)}, "warning", "mine", "of the scores are at their maximum of 0.8"),
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
    assert Checked("a.csv", ()).page().text() == "a.csv: no problems found"


def test_heavy_tails_and_times():
    labels = np.zeros(1000)
    labels[500:510] = 1
    tail = np.random.RandomState(0).rand(1000)
    tail[3] = 1e6
    found = dqeval.check(
        dqeval.Series("s", labels, {"tail": tail, "clock": np.arange(1000.0)}, np.sin(np.arange(1000.0)))
    )
    said = {name: " ".join(each.message for each in found if each.column == name) for name in ("tail", "clock")}
    assert "99.9 % of the scores lie in the lowest 1 % of their range" in said["tail"]
    assert "is this a time, not a score?" in said["clock"]


REAL_DEMO = dqeval.datasets.demo()
DEMO = replace(REAL_DEMO, scores={name: clean(REAL_DEMO.labels, scores) for name, scores in REAL_DEMO.scores.items()})
DEMO_COLUMNS = {"label": DEMO.labels.astype(int), "value": DEMO.values, **DEMO.scores}
MINUTES = np.arange("2024-01-01T00:00", "2024-01-03", dtype="datetime64[m]")  # 2,880 of them


def said(**columns):
    """Return what is found in the demo with other columns, None for one left out: by column, in one text."""
    columns = {name: column for name, column in {**DEMO_COLUMNS, **columns}.items() if column is not None}
    found = {}
    for finding in dqeval.check(columns):
        assert finding.level == "warning"
        found[finding.column] = f"{found.get(finding.column, '')}{finding.message}\n"
    return found


def test_nothing_to_complain_about_in_the_demo():
    assert said() == {}
    assert said(timestamp=np.arange(1600)) == {}
    assert said(timestamp=MINUTES[:1600]) == {}
    assert said(timestamp=MINUTES[:1600].astype(str)) == {}


FORMS = {
    "numbers": lambda places: places,
    "text of numbers": lambda places: places.astype(str),
    "dates": lambda places: MINUTES[places],
    "ISO text": lambda places: MINUTES[places].astype(str),
    "with a zone": lambda places: np.array([f"{time}:00+02:00" for time in MINUTES[places]]),
    "with a Z": lambda places: np.array([f"{time}Z" for time in MINUTES[places]]),
    "objects": lambda places: MINUTES[places].astype(object),
}
every_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
HALVES = np.concatenate([np.arange(800), np.arange(800)])


@every_form
def test_two_series_in_one_table(form):
    (message,) = said(timestamp=form(HALVES)).values()
    assert message.startswith("the time starts again once, first after point 799 (")
    assert (
        "are these 2 series in one table? Metrics take them for one: score each by itself, with --series COLUMN"
        in message
    )


@every_form
def test_missing_timestamps(form):
    kept = np.sort(np.random.RandomState(1).choice(1630, 1600, replace=False))
    (message,) = said(timestamp=form(kept)).values()
    assert message.startswith("30 timestamps missing of a clock with steps of ")
    assert ", in 30 gaps, the longest of 1, first after point 128 (" in message


def test_one_gap():
    (message,) = said(t=np.r_[0:500, 530:1630]).values()
    assert message.startswith(
        "30 timestamps missing of a clock with steps of 1, in 1 gap, the longest of 30, first after"
    )


@pytest.mark.parametrize(
    ("times", "advice"),
    [
        (np.datetime64("2026-01-01") + np.r_[0:500, 530:1630] * np.timedelta64(90, "s"), "--resolution 1min30s, and"),
        (3 * np.r_[0:500, 530:1630], "--resolution 3, and what is missing for longer than --max-gap is left out"),
        (0.5 * np.r_[0:500, 530:1630], "neighbours; fill the gaps, or split the series there"),
        (np.datetime64("2026-01-01") + (1e9 * np.cumsum(np.arange(90) % 7 + 1)).astype("m8[ns]"), "--resolution such"),
    ],
)
def test_what_to_do_about_gaps(times, advice):
    (message,) = clock.trouble(times)
    assert advice in message
    if (asked := re.search(r"--resolution (\S+),", message)) is not None:
        series = dqeval.Series("s", np.arange(1600) % 40 == 9, {"a": np.arange(1600) % 7}, timestamps=times)
        given = int(asked[1]) if asked[1].isdecimal() else asked[1]
        found = dqeval.compare(series, resolution=given, near=4, metrics=["dqe"])
        assert len(found.panels["a"].dqe.axis.gaps) == 1


def times(*cells):
    return list(clock.trouble(np.array(cells)))


def test_other_clocks():
    (message,) = said(t=np.r_[0:500, 499:1599]).values()
    assert message.startswith("1 timestamp the same as the one before, first after point 499 (499): keep one row")
    (message,) = said(t=np.random.RandomState(0).permutation(1600)).values()
    assert message.startswith("the rows are not in the order of time: ")
    assert message.endswith(": sort them\n")
    (message,) = said(t=-np.arange(1600)).values()
    assert message.startswith("the time runs backwards from row to row")
    (message,) = said(t=np.cumsum(np.random.RandomState(0).rand(1600))).values()
    assert message.startswith("the clock is uneven: steps go from ")
    (message,) = said(t=np.r_[0:900, 840:1540]).values()  # as where summer time ends
    assert message.startswith("the time goes back once, first after point 899 (899): was the clock put back, or are")
    (message,) = said(t=np.tile(np.arange(400), 4)).values()
    assert message.startswith("the time starts again 3 times")
    months = np.arange("2000-01", "2010-01", dtype="datetime64[M]").astype("datetime64[D]")
    assert list(clock.trouble(months)) == []
    assert times(1, 1, 1) == ["2 timestamps the same as the one before, first after point 0 (1): keep one row for each"]
    assert times(5, 1) == []


@pytest.mark.parametrize(
    "cells",
    [["Monday"] * 1600, [*MINUTES[:1599].astype(str), "2024-02-01T00:00Z"], np.full(1600, np.datetime64("NaT", "s"))],
    ids=["words", "zones", "missing"],
)
def test_timestamps_that_cannot_be_read(cells):
    (message,) = said(timestamp=np.array(cells)).values()
    assert message.startswith("timestamps, such as '")
    assert message.endswith("missing points and several series cannot be seen\n")


def test_scores_the_wrong_way_round():
    (message,) = said(sharp=-DEMO.scores["sharp"]).values()
    assert message.startswith("AUC-ROC is 0.000, far below the 0.5 of random scores: are low scores the anomalous ones")
    assert message.endswith("Turned round, as minus the score, it is 1.000\n")


@pytest.mark.parametrize(("auc", "events", "seen"), [(0.02, 1, True), (0.1, 1, False), (0.1, 4, True), (0.3, 9, False)])
def test_a_poor_detector_is_not_called_inverted(auc, events, seen):
    labels = T % (1000 // events) == 50
    scores = T * 1.0
    scores[labels] = auc * 1000 + 0.5
    assert dqeval.metrics.auc_roc(labels, scores) == pytest.approx(auc, abs=0.002)
    assert bool(misread(prepare(dqeval.Series("s", labels, {"mine": scores})))) is seen


def test_few_points_tell_nothing_of_the_way_round():
    for points, seen in ((20, False), (40, True)):
        labels = np.arange(points) == 3
        assert bool(misread(prepare(dqeval.Series("s", labels, {"mine": 1.0 - labels})))) is seen


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("series_id", np.repeat([1, 2], 800)),
        ("series_id", np.repeat([0, 1], 800)),
        ("seriesId", np.repeat([4, 2, 3, 9], 400)),
        ("machine", np.repeat([4, 2, 4], [500, 500, 600])),
        ("whatever", np.repeat([7, 2, 9], [500, 500, 600])),
    ],
)
def test_the_number_of_a_series_is_no_detector(name, numbers):
    (column, message) = next(iter(said(**{name: numbers}).items()))
    assert column == name
    blocks = 1 + np.count_nonzero(np.diff(numbers))
    assert message.startswith(f"{blocks} blocks of one number each, the second from point ")
    assert f"are these several series in one table? Score each by itself, with --series {name}" in message
    assert f"; if it tells series apart, split the table with --series {name}" in message
    assert (
        "taken for a detector, but it looks like the number of a series or group, not a score: name the columns"
        in message
    )


def test_a_single_series_with_a_number_is_no_stack():
    assert "blocks" not in said(series_id=np.full(1600, 3))["series_id"]


def test_a_column_that_counts():
    (message,) = said(row=HALVES).values()
    assert message.startswith("counts up and starts again once: is this a number of the point, of several series")
    assert message.strip().endswith("by itself, with --series COLUMN, and leave this column out")


def test_detections_in_one_block_and_levels_that_return_are_scores():
    assert "taken for" not in said(alarms=(np.arange(1600) > 1300).astype(int))["alarms"]
    assert "taken for" not in said(levels=np.repeat([0, 2, 0, 3], 400))["levels"]


@pytest.mark.parametrize(
    "name",
    [
        *("cpu", "mem", "Mem_Used", "cpu0", "net.rx_bytes", "temperature", "sensor_12", "CPULoad", "disk1_read %"),
        *("total_mem", f"cpu{'1' * 50_000}", f"cpu{'_cpu' * 20_000}"),
        *("x_total_cpu", f"x{'1' * 50_000}_cpu", f"x{'_cpu' * 20_000}", "x_cpuloads"),
    ],
    ids=lambda name: name[:12],
)
def test_measurements_are_no_detectors(name):
    found = said(value=None, **{name: 50 + DEMO.values})
    measured = not name.startswith("x")
    assert ("by its name this is something measured, not a score" in found.get(name, "")) is measured


@pytest.mark.parametrize(
    "name",
    [
        "cpu_score",
        "late",
        "flow",
        "iforest",
        "if",
        "lof_20",
        "sr",
        "memae",
        "temporal_ae",
        "value_net",
        "mean",
        "cpu1x",
    ],
)
def test_names_of_detectors(name):
    assert said(**{name: DEMO.scores["late"]}) == {}


def test_a_long_name_takes_no_longer_than_it_is_long():
    assert said(**{f"cpu{'1' * 50_000}x": DEMO.scores["late"]}) == {}


@pytest.mark.parametrize("huge", [1e308, 1.7e308])
def test_numbers_that_lie_further_apart_than_a_float_can_tell(huge):
    apart = np.where(np.arange(1600) % 7 == 0, -huge, huge)
    assert "these are detections" in said(mine=apart)["mine"]
    assert "period" not in said(value=apart)
    cannot = "timestamps, such as '-1.7e+308', are not all numbers or dates"
    assert cannot in said(timestamp=np.where(np.arange(1600) % 7 == 0, -1.7e308, 1.7e308))["timestamp"]


def test_steps_of_any_size():
    tiny = np.arange(1600) * 5e-324
    tiny[-1] = 1e308
    assert said(timestamp=tiny)["timestamp"].startswith("inf timestamps missing of a clock with steps of 4.94066e-324")
    back = np.where(np.arange(1600) % 800 == 0, 0.0, 1.7e308)
    assert "the time starts again once" in said(timestamp=back)["timestamp"]


def test_data_in_any_form(tmp_path):
    frame = pd.DataFrame(DEMO_COLUMNS)
    path = tmp_path / "demo.csv"
    frame.to_csv(path, index=False)
    assert dqeval.check(frame) == dqeval.check(path) == dqeval.check(str(path)) == dqeval.check(DEMO) == []
    frame.index = pd.to_datetime(MINUTES[HALVES])
    (finding,) = dqeval.check(frame)
    assert finding.message.startswith("the time starts again once, first after point 799 (2024-01-01T13:19:00")


def test_several_columns_of_values_and_no_point_at_all():
    several = np.column_stack([VALUES, VALUES])
    assert found(values=several) == []
    several[7, 1] = np.inf
    assert found(values=several)[0][2] == "must be finite: 1 of 2,000 values are not (first at index 7: inf)"
    assert found(labels=[], values=None, scores=[]) == [("error", "label", "there is no point at all")]


@pytest.mark.data
def test_scores_of_real_detectors(real_scores):
    for name in sorted({key.rpartition("/")[0] for key in real_scores.files}):
        scores = {name.rpartition("__")[2]: real_scores[f"{name}/score"]}
        series = dqeval.Series(name, real_scores[f"{name}/label"], scores, real_scores[f"{name}/data"])
        assert misread(prepare(series)) == [], name
        assert not any("taken for" in finding.message for finding in dqeval.check(series)), name
