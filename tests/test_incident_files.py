"""Incidents in place of labels, and alerts in place of scores, by every command."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import dqeval
from commands import caller
from dqeval.analysis.verify import verify
from dqeval.core.events import find_events
from dqeval.render.explorer import colours_of
from test_receipts import changed, changes, leaves, without

POINTS = 600
STEP = np.timedelta64(1, "m")
MINUTES = np.datetime64("2026-01-01T00:00") + np.arange(POINTS) * STEP
LABELS = np.arange(POINTS) // 10 % 12 == 7
SCORES = np.random.default_rng(0).random(POINTS) + LABELS
INTERVALS = [(MINUTES[a], MINUTES[b - 1] + STEP) for a, b in find_events(LABELS)]
ALARMS = [(MINUTES[a], MINUTES[b - 1] + STEP) for a, b in find_events(SCORES > 1.2)]
SPAN = f"{MINUTES[0]}Z..{MINUTES[-1] + STEP}Z"

POINTS_OF_TEN = [(t == 5, (7 * t) % 10) for t in range(10)]

TWO_FILES = ["--incidents", "zoned.csv", "--alerts", "alerts.json"]

COMMANDS = {
    "score": ["--metrics", "dqe,auc_roc", "--per-event"],
    "compare": [],
    "explain": [],
    "near": [],
    "check": [],
    "report": ["-o", "out.html"],
    "plot": ["-o", "out.png"],
}


def csv(pairs, zone=""):
    return "\n".join(["start,end,id", *(f"{a}{zone},{b}{zone},I{i}" for i, (a, b) in enumerate(pairs))])


def grafana(pairs):
    times = (
        (int(a.astype("datetime64[ms]").astype(int)), int(b.astype("datetime64[ms]").astype(int))) for a, b in pairs
    )
    return json.dumps([{"id": i, "time": a, "timeEnd": b, "text": "x"} for i, (a, b) in enumerate(times)])


def table(keep=None, zone="", label=False):
    rows = np.arange(POINTS) if keep is None else np.flatnonzero(keep)
    named = ",label" if label else ""
    lines = [f"{MINUTES[i]}{zone},{SCORES[i]}{f',{int(LABELS[i])}' if label else ''}" for i in rows]
    return "\n".join([f"timestamp,mine{named}", *lines])


@pytest.fixture
def call(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scores.csv").write_text(table())
    (tmp_path / "labelled.csv").write_text(table(label=True))
    (tmp_path / "incidents.csv").write_text(csv(INTERVALS))
    (tmp_path / "zoned.csv").write_text(csv(INTERVALS, "Z"))
    (tmp_path / "alerts.json").write_text(grafana(ALARMS))
    return caller(monkeypatch, capsys)


def results(done):
    assert done.code == 0, done.err
    return json.loads(done.out)["results"]


@pytest.mark.unmeasured
def test_incidents_are_labels(call):
    """The scores are those of labels on the same points; a column of labels is not needed, and not used."""
    given = ("--near", "20", "--metrics", "all", "--format", "json")
    expected = results(call("score", "labelled.csv", *given))["series"][0]["detectors"]
    for file in ("scores.csv", "labelled.csv"):
        found = results(call("score", file, "--incidents", "incidents.csv", *given))
        assert found["series"][0]["detectors"] == expected
    in_words = results(call("score", "scores.csv", "--incidents", "incidents.csv", "--near", "20min", *given[2:]))
    assert in_words["series"][0]["detectors"] == expected
    assert (in_words["series"][0]["near"], in_words["series"][0]["near_from"]) == (20, "as given")


def test_alerts_are_detections(call):
    given = ("--incidents", "zoned.csv", "--alerts", "alerts.json", "--span", SPAN, "--near", "20min")
    found = results(call("score", *given, "--metrics", "dqe", "--format", "json"))["series"][0]
    expected = dqeval.evaluate_detections(LABELS, SCORES > 1.2, near=20)
    assert found["detectors"]["alerts"]["values"]["dqe"] == pytest.approx(expected.dqe, abs=1e-12)
    assert (found["points"], found["events"]) == (POINTS, len(INTERVALS))
    spans = dqeval.datasets.read_intervals("zoned.csv"), dqeval.datasets.read_intervals("alerts.json")
    ends = tuple(SPAN.split(".."))
    sparse = dqeval.evaluate_intervals(*spans, span=ends, near="20min")
    assert sparse.dqe == pytest.approx(expected.dqe, abs=1e-12)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    "given",
    [
        ["scores.csv", "--incidents", "incidents.csv", "--near", "20min"],
        [*TWO_FILES, "--span", SPAN, "--near", "20min"],
        ["labelled.csv", "--resolution", "2min", "--max-gap", "4min", "--period", "40min"],
    ],
    ids=["scores", "alerts", "clock"],
)
@pytest.mark.unmeasured(but=["alerts-score", "alerts-report"])
def test_every_command(call, command, given, tmp_path):
    done = call(command, *given, *COMMANDS[command])
    assert done.code == 0, done.err
    if command == "explain":
        assert "near 20 min" in done.out
        assert "per day)" in done.out
    if command in ("compare", "explain") and "--incidents" in given:
        assert "I0, 2026-01-01 01:10 – 01:20" in done.out


@pytest.mark.parametrize("command", ["score", "compare", "explain", "check"])
@pytest.mark.unmeasured
def test_receipts_hold(call, command, tmp_path):
    """The files of incidents and alerts must be there, too, and be the same."""
    given = ["scores.csv", "--incidents", "incidents.csv", "--near", "20min", "--max-gap", "2"]
    assert call(command, *given, "--format", "json", "-o", "scores.json").code == 0
    given = [*TWO_FILES, "--span", SPAN, "--resolution", "30s"]
    assert call(command, *given, "--format", "json", "-o", "alerts-receipt.json").code == 0
    assert call("verify", "scores.json", "scores.csv", "incidents.csv").code == 0
    assert call("verify", "alerts-receipt.json", "alerts.json", "zoned.csv").code == 0
    assert call("verify", "alerts-receipt.json", tmp_path).code == 0
    done = call("verify", "scores.json", "scores.csv")
    assert (done.code, done.err) == (2, "dqeval: the receipt was made with incidents.csv: give that file, too\n")
    (tmp_path / "incidents.csv").write_text(csv(INTERVALS[1:]))
    assert call("verify", "scores.json", "scores.csv", "incidents.csv").code == 1
    (tmp_path / "alerts.json").write_text(grafana(ALARMS[1:]))
    assert call("verify", "alerts-receipt.json", "zoned.csv", "alerts.json").code == 1


@pytest.mark.parametrize("given", [["scores.csv", "--incidents", "incidents.csv"], [*TWO_FILES, "--span", SPAN]])
def test_receipts_that_were_forged(call, given, tmp_path):
    """Of everything that a receipt says of its inputs, nothing can be changed."""
    assert call("score", *given, "--metrics", "dqe", "--format", "json", "-o", "receipt.json").code == 0
    receipt = json.loads((tmp_path / "receipt.json").read_text())
    names = ["scores.csv", "incidents.csv"] if "scores.csv" in given else ["zoned.csv", "alerts.json"]
    files = [tmp_path / name for name in names]
    assert holds(receipt, files)
    for place, value in leaves(receipt["inputs"]):
        same = place[1:2] == ("span",)  # with a space behind it, a time is the same
        others = [other for other in changes(value) if not (other == value and type(other) is type(value))]
        others = [other for other in others if not (same and isinstance(value, str) and other == f"{value} ")]
        edited = [changed(receipt, ("inputs", *place), other) for other in others]
        for content in (*edited, without(receipt, ("inputs", *place))):
            assert not holds(content, files), place


def test_alerts_have_no_parameters_of_a_clock(call, tmp_path):
    assert call("score", *TWO_FILES, "--metrics", "dqe", "--format", "json", "-o", "receipt.json").code == 0
    receipt = json.loads((tmp_path / "receipt.json").read_text())
    receipt["parameters"]["max_gap"] = 7
    with pytest.raises(ValueError, match="of alerts, its inputs say how time is counted, and no parameter does"):
        verify(receipt, [tmp_path / "zoned.csv", tmp_path / "alerts.json"])


def holds(receipt, files):
    try:
        return verify(receipt, files).holds
    except (ValueError, OSError):
        return False


BAD = {
    "no file": ([], "name a file; or give --incidents and --alerts"),
    "both": (["scores.csv", "--incidents", "zoned.csv", "--alerts", "alerts.json"], "give one or the other"),
    "no incidents": (["--alerts", "alerts.json"], "--alerts need --incidents"),
    "span of scores": (["scores.csv", "--incidents", "incidents.csv", "--span", SPAN], "--span is for --alerts"),
    "half a span": (
        [*TWO_FILES, "--span", "2026-01-01"],
        "--span must be two times",
    ),
    "zones": (["--incidents", "incidents.csv", "--alerts", "alerts.json"], "without a time zone, and alerts are dates"),
    "zones of a file": (
        ["scores.csv", "--incidents", "zoned.csv"],
        "incidents are dates with a time zone, and timestamps",
    ),
    "no such file": (["scores.csv", "--incidents", "nowhere.csv"], "nowhere.csv"),
    "too fine": (
        [
            "--incidents",
            "zoned.csv",
            "--alerts",
            "alerts.json",
            "--span",
            "2026-01-01..2027-01-01",
            "--resolution",
            "1s",
        ],
        "the time has 31,536,000 cells of 1 s, more than 16,777,216: give a coarser resolution",
    ),
    "outside": (
        [*TWO_FILES, "--span", "2025-01-01..2025-02-01"],
        "no incident lies in the time of the series, so there is no event; 5 incidents outside the span left out",
    ),
    "labels": (["labelled.csv", "--incidents", "incidents.csv", "--label", "label"], "leave out --label"),
    "one cell": (
        [*TWO_FILES, "--span", "2026-01-01..2026-01-02", "--resolution", "1d"],
        "the time has 1 cell of 1 d, of which nothing can be told: give a finer resolution, or a longer span",
    ),
    "no clock": (
        ["plain.csv", "--near", "10min"],
        "near needs a clock, and there is none: the series has no timestamps",
    ),
    "no timestamps": (["plain.csv", "--incidents", "incidents.csv"], "has no timestamps, so nobody knows which"),
    "unit": (["labelled.csv", "--resolution", "3 moons"], "resolution must be a duration such as"),
    "gap": (["labelled.csv", "--max-gap", "-1"], "max_gap must be a whole number"),
    "period": (["labelled.csv", "--period", "soon"], "period must be"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(call, name, tmp_path):
    (tmp_path / "plain.csv").write_text("label,mine\n0,1\n1,2\n0,0\n")
    given, message = BAD[name]
    done = call("score", *given)
    assert done.code == 2
    assert message in done.err
    assert done.err.startswith("dqeval: ")
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("times", [False, True])
def test_numbers_count_the_points_of_a_series_without_times(call, tmp_path, times):
    rows = [f"{f'sample {i},' if times else ''}{int(label)},{score}" for i, (label, score) in enumerate(POINTS_OF_TEN)]
    (tmp_path / "plain.csv").write_text("\n".join([f"{'time,' if times else ''}label,mine", *rows]))
    (tmp_path / "counted.csv").write_text("start,end,name\n2,4,first\n7,99,last\n20,30,outside\n")
    done = call("score", "plain.csv", "--incidents", "counted.csv", "--near", "1", "--per-event", "--format", "json")
    (found,) = json.loads(done.out)["results"]["series"]
    events = found["detectors"]["mine"]["per_event"]
    assert [(event["start"], event["stop"], event["name"]) for event in events] == [(2, 4, "first"), (7, 10, "last")]
    labels = np.isin(np.arange(10), [2, 3, 7, 8, 9])
    expected = dqeval.evaluate(labels, [score for _, score in POINTS_OF_TEN], near=1)
    assert [event["dqe"] for event in events] == [event.dqe for event in expected.per_event]
    messages = [finding["message"] for finding in found["findings"]]
    assert "incidents: plain has no times: they count its points from 0" in messages


DATE = re.compile(r"2026-01-01[T ]\d\d:\d\d(?: – \d\d:\d\d)?(?P<zone>Z| UTC| ?[+-]\d\d:\d\d)?")


@pytest.mark.parametrize("zone", ["", "Z", "+01:00"])
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.unmeasured(but=["plot"])
def test_every_printed_time_carries_its_zone(call, tmp_path, command, zone):
    """That of the incidents, though the scores are in universal time; times without a zone have none."""
    keep = np.arange(POINTS) % 200 != 9
    (tmp_path / "scores.csv").write_text(table(keep, zone="Z" if zone else ""))
    (tmp_path / "incidents.csv").write_text(csv(INTERVALS, zone))
    given = ["scores.csv", "--incidents", "incidents.csv", "--max-gap", "0", "--near", "20min"]
    for form in ("table", "json", "csv") if command not in ("report", "plot") else ("",):
        done = call(command, *given, *COMMANDS[command], *(["--format", form] if form else []))
        assert done.code == 0, done.err
        page = (tmp_path / "out.html").read_text() if command == "report" else ""
        found = {match["zone"] for match in DATE.finditer(done.out + done.err + page.replace("\\u2013", "–"))}
        people, machines = (f" {zone.replace('Z', 'UTC')}", zone) if zone else (None, None)
        assert found <= ({people, machines} if form in ("json", "csv") else {people})  # JSON has sentences, too
        assert found or command in ("near", "check", "plot") or form == "csv"
        if command == "report":
            assert ("time (UTC" in page, f"time (UTC{zone.replace('Z', '')})" in page) == (bool(zone), bool(zone))


@pytest.mark.parametrize("zone", ["", "Z", "+01:00"])
@pytest.mark.unmeasured
def test_times_with_a_zone_end_with_their_offset(call, tmp_path, zone):
    (tmp_path / "scores.csv").write_text(table(zone=zone))
    (tmp_path / "incidents.csv").write_text(csv(INTERVALS, zone))
    given = ["scores.csv", "--incidents", "incidents.csv", "--format", "json"]
    (found,) = results(call("explain", *given)).values()
    assert found["events"][0]["start_time"] == f"{INTERVALS[0][0]}{zone}"
    assert found["events"][0]["stop_time"] == f"{INTERVALS[0][1]}{zone}"
    assert results(call("compare", *given))["events"][1]["start_time"] == f"{INTERVALS[1][0]}{zone}"


def prometheus(**alerts):
    def values(pairs):
        return [[int(t.astype("datetime64[s]").astype(int)), "1"] for a, b in pairs for t in np.arange(a, b, STEP)]

    results = [{"metric": {"alertname": name}, "values": values(pairs)} for name, pairs in alerts.items()]
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": results}})


def test_one_of_several_alerts(call, tmp_path):
    """Each name is a detector of its own, as in a file of its own; without a name, all are taken together."""
    some, others = ALARMS[::2], ALARMS[1::2]
    (tmp_path / "both.json").write_text(prometheus(cpu=some, disk=others))
    for name, pairs in (("cpu", some), ("disk", others)):
        (tmp_path / f"{name}.json").write_text(prometheus(**{name: pairs}))
    (tmp_path / "tags.json").write_text(
        json.dumps(
            [{**entry, "tags": [["a"], ["b", "c"]][i % 2]} for i, entry in enumerate(json.loads(grafana(ALARMS)))]
        )
    )
    fixed = ["--incidents", "zoned.csv", "--span", SPAN, "--near", "20min", "--metrics", "dqe"]

    def scored(*files, rest=()):
        done = call(
            "score", *fixed, *(part for file in files for part in ("--alerts", file)), "--format", "json", *rest
        )
        return done, results(done)["series"][0]["detectors"] if done.code == 0 and not rest else {}

    expected = scored("cpu.json", "disk.json")[1]
    assert expected["cpu"] != expected["disk"]
    assert scored("both.json=cpu", "both.json=disk")[1] == expected
    done, together = scored("both.json")
    assert "both: alerts of 2 names are taken together: cpu, disk" in done.err
    assert (
        together["both"]
        == results(call("score", *fixed, "--alerts", "alerts.json", "--format", "json"))["series"][0]["detectors"][
            "alerts"
        ]
    )
    tagged = scored("tags.json=a", "tags.json=c")[1]
    assert list(tagged) == ["a", "c"]
    assert tagged["a"]["values"] == expected["cpu"]["values"]
    scored("both.json=cpu", rest=["-o", "receipt.json"])
    assert call("verify", "receipt.json", "both.json", "zoned.csv").code == 0
    for file in ("both.json=nobody", "tags.json=nobody"):
        refused = scored(file)[0]
        assert (refused.code, "series 'nobody' is not there: there are " in refused.err) == (2, True)
    (tmp_path / "a=b.json").write_text(grafana(ALARMS))
    assert list(scored("a=b.json")[1]) == ["a=b"]


@pytest.mark.unmeasured
def test_near_on_a_clock(call, tmp_path):
    """Near ranges and periods are durations, in the command and in the library."""
    given = ["near", "scores.csv", "--incidents", "incidents.csv"]
    shown = call(*given, "--near", "20min").out
    assert "scores.csv: near 20 (20 min), as given\n" in shown
    assert "DQE with near  in use (20 min)  0 (0 s)  fallback/8 (15 min 37 s)" in shown
    assert "  period/4 (15 min)  " in call(*given, "--period", "1h").out
    call(*given, "--period", "1h", "--max-gap", "5", "--format", "json", "-o", "receipt.json")
    assert call("verify", "receipt.json", ".").code == 0
    wave = np.sin(2 * np.pi * np.arange(POINTS) / 50)
    later = np.roll(SCORES, 9)
    series = dqeval.Series("s", LABELS, {"mine": SCORES, "later": later}, wave, timestamps=MINUTES)
    found = dqeval.near_profile(series)
    assert found.recommendation.startswith("Near 25 min is half the estimated period of 50 min (autocorrelation 0.")
    assert "is best with every near from 0 to 1 h 40 min." in found.recommendation
    assert "from 6 to 303 (TSB-AD)       50 min  " in str(found)
    assert found.plot().get_xlabel() == "near range in cells of 1 min (dotted: near 25)"
    strongest = dqeval.near_profile(replace(series, values=wave + 3 * np.sin(2 * np.pi * np.arange(POINTS) / 170)))
    assert " min (autocorrelation 0." in strongest.recommendation
    flips = dqeval.near_profile(replace(series, scores={"a": np.roll(SCORES, -12), "b": SCORES * (SCORES < 1.9)}))
    assert all("min" in row[0] or " s" in row[0] for row in flips._flip_table().rows)


def test_no_alert_is_an_answer(call, tmp_path):
    (tmp_path / "none.json").write_text("[]")
    given = [
        "--incidents",
        "zoned.csv",
        "--alerts",
        "none.json",
        "--span",
        SPAN,
        "--metrics",
        "dqe",
        "--format",
        "json",
    ]
    found = results(call("score", *given))["series"][0]
    assert found["detectors"]["none"]["values"] == {"dqe": 0, "capture": 0, "near_miss": 0, "false_alarm": 0}


def test_alerts_need_no_threshold(call, tmp_path):
    """Nothing speaks of thresholds, and a detector without an alert is no error; of scores, the legend stands once."""
    (tmp_path / "none.json").write_text("[]")
    given = [*TWO_FILES, "--alerts", "none.json", "--span", SPAN, "--near", "20min"]
    shown = {command: call(command, *given).out for command in ("score", "compare", "explain")}
    for command, text in shown.items():
        assert "thresholds" not in text, command
        assert "suggested" not in text.lower(), command
    assert "Detections of 0 and 1, without a threshold. 0 of 5 events detected;" in shown["explain"]
    assert "Missed; " in shown["explain"]
    assert shown["explain"].count("1 is best, 0 is worst.") == 1
    assert "detector    DQE  best at events  " in shown["compare"]
    checked = call("check", *given)
    assert (checked.code, "nothing is detected: all scores are 0" in checked.out) == (0, True)


def test_chance_of_each_detector_of_alerts(call, tmp_path):
    (tmp_path / "few.json").write_text(grafana(ALARMS[:1]))
    given = [*TWO_FILES, "--alerts", "few.json", "--span", SPAN, "--near", "20min"]
    shown = call("compare", *given).out
    assert "by chance: as many random alerts as alerts has, 10 repeats; below for each detector" in shown
    found = results(call("compare", *given, "--format", "json"))["metrics"]
    chances = {row["detector"]: f"{row['chance']:.3f}" for row in found if row["metric"] == "dqe"}
    assert chances["alerts"] != chances["few"]
    lines = shown[shown.index("by chance   95 % interval") :].splitlines()[2:4]
    assert [line.split()[2] for line in lines] == [chances["alerts"], chances["few"]]


@pytest.mark.unmeasured
def test_the_report_of_alerts(call, tmp_path):
    """Nothing on the page is about thresholds, and nothing is empty."""
    call("report", *TWO_FILES, "--span", SPAN, "--near", "20min", "-o", "alerts.html")
    page = (tmp_path / "alerts.html").read_text().partition('<script type="application/json"')[0]
    shown = re.sub(r"<style>.*?</style>|<(div|figure)[^>]* hidden>.*?</\1>", "", page, flags=re.DOTALL)
    assert "suggested" not in shown
    assert "hreshold" not in shown.replace('id="at-threshold"', "").replace("threshold slider", "")
    assert shown.count('<span class="key" style="--colour: #e69f00">alerts</span>') == 2
    call("report", "labelled.csv", "-o", "scores.html")
    page = (tmp_path / "scores.html").read_text().partition('<script type="application/json"')[0]
    assert page.lower().count("at the suggested threshold") == 1
    assert " hidden>" not in page


def test_colours_differ():
    names = [str(i) for i in range(60)]
    assert len(set(colours_of(names).values())) == 60


def test_alerts_beside_scores(call, tmp_path):
    """Where some detectors give scores, a threshold is suggested for them."""
    lines = table(label=True).splitlines()
    rows = [f"{line},{int(alarm)}" for line, alarm in zip(lines[1:], SCORES > 1.2, strict=True)]
    (tmp_path / "both.csv").write_text("\n".join([f"{lines[0]},alerts", *rows]))
    compared, explained = (call(command, "both.csv", "--near", "20min").out for command in ("compare", "explain"))
    assert "0/1 detections" in compared
    assert "suggested threshold" in compared
    assert explained.count("The lines below describe what happens at this threshold.") == 1
    assert "Detections of 0 and 1, without a threshold. " in explained
    flipped = call("explain", "both.csv", "--near", "20min", "--score", "alerts,mine").out
    assert flipped.count("The lines below describe what happens at this threshold.") == 1


def test_what_to_improve_about_alerts():
    silenced = dqeval.explain([0, 0, 0, 0, 1], [1, 0, 0, 0, 1], near=1).improvements[0].sentence
    assert silenced.startswith("Silence the false alarm around [4, 5): DQE of this event rises from ")
    found = dqeval.explain([0, 1, 1, 0, 0, 0, 1, 0], [0, 1, 0, 0, 0, 0, 0, 0], near=1)
    assert found.improvements[0].sentence == "Detect [6, 7): DQE of this event rises from 0.00 to 1.00."
    assert [event.sentence.partition(";")[0] for event in found.events] == ["Captured", "Missed"]


def test_what_is_left_out_is_said(call, tmp_path):
    """Of a file with a gap, one incident lies in it, and one is outside."""
    keep = np.ones(POINTS, dtype=bool)
    keep[75:195] = False
    (tmp_path / "gap.csv").write_text(table(keep))
    outside = [(MINUTES[-1] + 60 * STEP, MINUTES[-1] + 70 * STEP)]
    inside = [(MINUTES[100], MINUTES[110])]
    (tmp_path / "more.csv").write_text(csv([*INTERVALS, *inside, *outside]))
    done = call("score", "gap.csv", "--incidents", "more.csv", "--near", "20min", "--metrics", "dqe", "--per-event")
    assert done.code == 0
    for sentence in (
        "2 h (20.0 %) not observed, in 1 gap, left out",
        "1 incident outside the span left out",
        "1 incident where nothing was observed left out",
    ):
        assert sentence in done.err
    checked = call("check", "gap.csv", "--incidents", "more.csv")
    assert "1 incident where nothing was observed left out" in checked.out


def test_check_looks_at_the_clock(call, tmp_path):
    short = [*INTERVALS, (MINUTES[300] + np.timedelta64(5, "s"), MINUTES[300] + np.timedelta64(9, "s"))]
    (tmp_path / "short.csv").write_text(csv(short))
    done = call("check", "scores.csv", "--incidents", "short.csv")
    assert "1 incident shorter than a cell of 1 min: they count as a whole one" in done.out
    (tmp_path / "twice.csv").write_text(table(label=True) + f"\n{MINUTES[-1]},0.5,0")
    done = call("check", "twice.csv", "--near", "5min")
    assert done.code == 1
    assert "times must ascend: at position 600, 2026-01-01T09:59 is there twice" in done.out


def test_incidents_of_several_series(call, tmp_path):
    """NAB windows are found by the name of the file."""
    ends = [[str(a), str(b - STEP)] for a, b in INTERVALS]
    (tmp_path / "windows.json").write_text(json.dumps({"real/scores.csv": ends, "real/other.csv": []}))
    done = call(
        "score", "scores.csv", "--incidents", "windows.json", "--near", "20", "--metrics", "dqe", "--format", "json"
    )
    expected = call("score", "labelled.csv", "--near", "20", "--metrics", "dqe", "--format", "json")
    assert results(done)["series"][0]["detectors"] == results(expected)["series"][0]["detectors"]


def test_check_looks_at_time_zones(call):
    done = call("check", "scores.csv", "--incidents", "zoned.csv")
    assert done.code == 1
    assert "incidents are dates with a time zone, and timestamps are dates without a time zone" in done.out


def test_receipts_say_how_time_is_counted(call, tmp_path):
    given = ["scores.csv", "--incidents", "incidents.csv", "--resolution", "5min", "--metrics", "dqe"]
    receipt = json.loads(call("score", *given, "--format", "json").out)
    assert receipt["inputs"][0]["cells"] == "120 cells of 5 min"
    assert receipt["parameters"]["resolution"] == "5min"


def test_several_series_with_durations(call, tmp_path):
    """Of two files, and of a table of two series; the incidents of each are those under its name."""
    alone = results(call("score", "labelled.csv", "--near", "20min", "--metrics", "dqe", "--format", "json"))
    (tmp_path / "other.csv").write_text(table(label=True))
    both = results(
        call("score", "labelled.csv", "other.csv", "--near", "20min", "--metrics", "dqe", "--format", "json")
    )
    for found in both["series"]:
        assert found["detectors"] == alone["series"][0]["detectors"]
    header, *rows = table().splitlines()
    long = [f"host,{header}", *(f"a,{row}" for row in rows), *(f"b,{row}" for row in rows)]
    (tmp_path / "long.csv").write_text("\n".join(long))
    lines = csv(INTERVALS).splitlines()
    named = [f"host,{lines[0]}", *(f"{'ab'[i % 2]},{row}" for i, row in enumerate(lines[1:]))]
    (tmp_path / "hosts.csv").write_text("\n".join(named))
    given = ["--series", "host", "--incidents", "hosts.csv", "--near", "20min", "--metrics", "dqe"]
    found = results(call("score", "long.csv", *given, "--format", "json", "--per-event"))
    detectors = {each["name"]: each["detectors"]["mine"] for each in found["series"]}
    events = {name: [event["name"] for event in each["per_event"]] for name, each in detectors.items()}
    assert events == {"a": ["I0", "I2", "I4"], "b": ["I1", "I3"]}
    assert call("score", "long.csv", *given, "--format", "json", "-o", "long.json").code == 0
    assert call("verify", "long.json", "long.csv", "hosts.csv").code == 0


def test_inputs_are_not_overwritten(call, tmp_path):
    before = {name: (tmp_path / name).read_text() for name in ("incidents.csv", "zoned.csv", "alerts.json")}
    for given in (
        ["scores.csv", "--incidents", "incidents.csv", "-o", "incidents.csv"],
        [*TWO_FILES, "--span", SPAN, "-o", "alerts.json"],
        [*TWO_FILES, "--span", SPAN, "-o", "zoned.csv"],
    ):
        done = call("score", *given, "--format", "json")
        assert (done.code, "would overwrite the input" in done.err) == (2, True)
    assert {name: (tmp_path / name).read_text() for name in before} == before


@pytest.mark.parametrize("option", [["--label", "x"], ["--score", "x"], ["--series", "x"], ["--max-gap", "3"]])
def test_options_that_say_nothing_of_alerts(call, option):
    done = call("score", *TWO_FILES, *option)
    assert (done.code, f"{option[0]} is for files with scores" in done.err) == (2, True)


def test_results_of_nab_find_their_windows(call, tmp_path):
    """By the name that is in that of the file, or by the one that --series gives; receipts say which."""
    ends = [[str(a), str(b - STEP)] for a, b in INTERVALS]
    windows = {"realKnownCause/nyc_taxi.csv": ends, "realAWS/cpu.csv": [], "realAWS/disk.csv": ends[:2]}
    (tmp_path / "windows.json").write_text(json.dumps(windows))
    (tmp_path / "numenta_nyc_taxi.csv").write_text(table())
    given = ("--incidents", "windows.json", "--near", "20", "--metrics", "dqe")
    expected = results(call("score", "labelled.csv", "--near", "20", "--metrics", "dqe", "--format", "json"))
    done = call("score", "numenta_nyc_taxi.csv", *given, "--format", "json", "-o", "a.json")
    assert "none are called 'numenta_nyc_taxi', so those of realKnownCause/nyc_taxi.csv are taken" in done.err
    found = json.loads((tmp_path / "a.json").read_text())
    assert found["results"]["series"][0]["detectors"] == expected["series"][0]["detectors"]
    assert call("verify", "a.json", "numenta_nyc_taxi.csv", "windows.json").code == 0
    assert "--series NAME beside --incidents" in call("score", "scores.csv", *given).err
    for name in ("nyc_taxi", "realKnownCause/nyc_taxi.csv"):
        done = call("score", "scores.csv", *given, "--series", name, "--format", "json", "-o", "b.json")
        assert (done.code, done.err) == (0, "dqeval: wrote b.json\n")
        receipt = json.loads((tmp_path / "b.json").read_text())
        assert receipt["results"]["series"][0]["detectors"] == expected["series"][0]["detectors"]
        assert receipt["inputs"][0]["incidents"]["series"] == name
        assert call("verify", "b.json", "scores.csv", "windows.json").code == 0
    receipt["inputs"][0]["incidents"]["series"] = 5
    (tmp_path / "b.json").write_text(json.dumps(receipt))
    assert "not each a file with a name" in call("verify", "b.json", "scores.csv", "windows.json").err
    assert "no column is called gpu" in call("score", "scores.csv", *given, "--series", "gpu").err


def test_moments_have_no_near_range(call, tmp_path):
    (tmp_path / "moments.csv").write_text("\n".join(["start", *(str(a) for a, _ in INTERVALS)]))
    given = ["scores.csv", "--incidents", "moments.csv", "--metrics", "dqe"]
    said = "most incidents are moments, which have no length, so near is 0 by default: give one"
    assert said in call("score", *given).err
    assert said not in call("score", *given, "--near", "0").err


def test_files_of_one_name(call, tmp_path):
    """Two files of alerts of one name are told apart by what is in them."""
    for folder, pairs in (("x", ALARMS), ("y", ALARMS[1:])):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "al.json").write_text(grafana(pairs))
    given = ["--incidents", "zoned.csv", "--alerts", "x/al.json", "--alerts", "y/al.json", "--span", SPAN]
    assert call("score", *given, "--metrics", "dqe", "--format", "json", "-o", "receipt.json").code == 0
    assert call("verify", "receipt.json", "y/al.json", "zoned.csv", "x/al.json").code == 0
    done = call("verify", "receipt.json", "y/al.json", "zoned.csv", "x/al.json", "scores.csv")
    assert (done.code, "was not made with scores.csv" in done.err) == (2, True)


def test_incidents_beside_the_series(call, tmp_path):
    """A folder may hold the file with the incidents, too; one with another name is taken, with a word."""
    (tmp_path / "all").mkdir()
    (tmp_path / "all" / "scores.csv").write_text(table())
    (tmp_path / "all" / "incidents.csv").write_text(csv(INTERVALS))
    assert call("score", "all", "--incidents", "all/incidents.csv", "--metrics", "dqe").code == 0
    ends = [[str(a), str(b - STEP)] for a, b in INTERVALS]
    (tmp_path / "windows.json").write_text(json.dumps({"real/other.csv": ends}))
    done = call("score", "scores.csv", "--incidents", "windows.json", "--metrics", "dqe")
    assert "incidents: none are called 'scores', so those of real/other.csv are taken" in done.err


def test_names_and_remarks_in_the_library(call):
    incidents = dqeval.datasets.read_intervals("zoned.csv")
    found = dqeval.evaluate_intervals(incidents, dqeval.datasets.read_intervals("alerts.json"))
    assert [event.name for event in found.per_event] == ["I0", "I1", "I2", "I3", "I4"]
    assert found.to_frame()["name"].tolist() == ["I0", "I1", "I2", "I3", "I4"]
    series = dqeval.Series("one", np.zeros(POINTS), {"mine": SCORES}, timestamps=MINUTES, incidents=INTERVALS)
    expected = dqeval.evaluate(LABELS, SCORES, near=20)
    assert dqeval.compare(series, near="20min", repeats=1).panels["mine"]["dqe"] == pytest.approx(expected.dqe)
