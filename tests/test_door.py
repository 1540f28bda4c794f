"""The one door for data: every format through every command, each series read, checked and estimated once."""

import io
import json
import shutil
from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dqeval
from commands import caller, write_demo
from dqeval.analysis.receipt_commands import COMMANDS
from dqeval.analysis.score import score
from dqeval.bench.store import Store
from dqeval.core import near, prepared, validate
from dqeval.core.near import Near
from dqeval.core.times import parse_times
from dqeval.core.types import Series
from dqeval.datasets import FORMATS, files, load
from dqeval.datasets.door import as_series, prepare
from dqeval.datasets.loading import series_format
from dqeval.metrics import dqe
from dqeval.render.figure import draw
from test_formats import EVERY, LABELS, POINTS, WAVE, write_csv, write_pack, write_table, write_ucr

DEMO = dqeval.datasets.demo()
NUMERIC = {
    "score": ["--metrics", "dqe"],
    "compare": [],
    "explain": [],
    "report": ["-o", "out.html"],
    "plot": ["-o", "out.png"],
}
EVERY_COMMAND = {**NUMERIC, "check": []}


@pytest.fixture
def call(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    return caller(monkeypatch, capsys)


# What is done once


@pytest.fixture
def counts(monkeypatch):
    """Count what is expensive, or decides something."""
    found = Counter()
    monkeypatch.setattr("dqeval.analysis.chance._chance_levels", {})  # none that another test has computed

    def count(module, name, key=lambda *given: ""):
        function = getattr(module, name)

        def counted(*given, **options):
            found[f"{name}{key(*given)}"] += 1
            return function(*given, **options)

        monkeypatch.setattr(module, name, counted)

    count(files, "_content_of")
    count(near, "_published_period")
    count(prepared, "cut", lambda events, near, *_: f" {near:g}")
    count(validate, "binary_array", lambda name, *_: f" {name}")
    count(validate, "finite_array", lambda name, *_: f" {name}")
    count(dqe, "result_with")
    return found


# Per detector one evaluation of DQE, and for the chance level ten. The detectors of a short series are joined, and so
# are random scores: of each, regions are cut once, without the near range. The report needs such regions, too.
ONCE = {
    "_content_of": 1,
    "_published_period": 1,
    "binary_array y_true": 1,
    "finite_array y_score": 3,
    "finite_array values": 1,
}
EXPECTED = {
    "score": {**ONCE, "cut 24": 1, "cut 0": 1, "result_with": 3},
    "compare": {**ONCE, "cut 24": 1, "cut 0": 2, "result_with": 3 + 10},
    "explain": {**ONCE, "cut 24": 1, "result_with": 3},
    "report": {**ONCE, "cut 24": 1, "cut 0": 3, "result_with": 3 + 10},
    "plot": {**ONCE, "cut 24": 1, "cut 0": 1, "result_with": 3},
    "check": {"_content_of": 1, "_published_period": 1, "finite_array values": 1, "cut 24": 1},
}


def profile_taken_out(counts):
    """Take the regions of the profile of near ranges out of the counts; each must be cut once for all detectors.

    Those of near 12 are of series of which every two points are one: each detector's is a series of its own.
    """
    counts.pop("cut 12", None)
    found = {name for name in counts if name.startswith("cut ")} - {"cut 24", "cut 0"}
    assert {counts.pop(name) for name in found} <= {1}
    return found


@pytest.mark.parametrize("command", EXPECTED)
@pytest.mark.unmeasured
def test_a_series_is_read_checked_and_cut_once(call, counts, tmp_path, command):
    write_demo(tmp_path / "demo.csv")
    assert call(command, "demo.csv", *EVERY_COMMAND[command]).code == 0
    assert (command == "report") == bool(profile_taken_out(counts))
    assert counts == EXPECTED[command]


@pytest.mark.parametrize("option", ["--near", "--period"])
@pytest.mark.unmeasured
def test_nothing_is_estimated_where_the_range_is_given(call, counts, tmp_path, option):
    write_demo(tmp_path / "demo.csv", length=500)
    assert call("compare", "demo.csv", option, "24").code == 0
    assert counts["_published_period"] == counts["finite_array values"] == 0


@pytest.mark.unmeasured
def test_functions_check_once_too(counts, tmp_path):
    dqeval.compare(DEMO, repeats=1)
    counts.pop("cut 12")
    assert counts == Counter({**ONCE, "_content_of": 0, "cut 24": 1, "cut 0": 2, "result_with": 3 + 1})
    counts.clear()
    score([DEMO], metrics=["dqe"])
    counts.pop("cut 12")
    assert counts == Counter({**ONCE, "_content_of": 0, "cut 24": 1, "cut 0": 1, "result_with": 3})
    counts.clear()
    series = prepare(DEMO)
    assert prepare(series) is series
    assert dqeval.compare(series, near=7, repeats=1).near == Near(7, "as given")
    counts.clear()
    series = prepare(DEMO)
    draw(series, tmp_path / "a.png")
    dqeval.report(series, tmp_path / "a.html")
    assert profile_taken_out(counts)
    assert counts == Counter({**ONCE, "_content_of": 0, "cut 24": 1, "cut 0": 4, "result_with": 3 + 3 + 10})


# The near range


@pytest.mark.unmeasured
def test_the_period_of_a_series_is_honoured_everywhere(tmp_path):
    series = replace(DEMO, period=100)
    expected = Near(50, "half the period of the series")
    assert dqeval.compare(series, repeats=1).near == expected
    assert dqeval.report(series, tmp_path / "a.html").near == expected
    assert score([series], metrics=["dqe"]).series[0].near == expected
    assert draw(series, tmp_path / "a.png")["late"].near == 50
    assert COMMANDS["explain"].subject(series, {"near": None, "period": None}).near == expected
    assert dqeval.compare(series, period=48, repeats=1).near == Near(24, "half the given period")
    assert dqeval.compare(series, near=7, repeats=1).near == Near(7, "as given")


LENGTHS = [8, 40, 12, 30]
FOUR_EVENTS = np.concatenate([np.repeat([0.0, 1.0], [50, length]) for length in LENGTHS])


@pytest.mark.parametrize(("given", "expected"), [("2ev", 42), ("0.5ev", 10.5), ("0ev", 0), ("1ev", 21)])
def test_a_near_range_in_event_lengths(given, expected):
    """The median of 8, 12, 30 and 40 is 21."""
    source = "the median event length" if given == "1ev" else f"{float(given[:-2]):g} times the median event length"
    assert prepare({"label": FOUR_EVENTS, "mine": FOUR_EVENTS}, near=given).near == Near(expected, source)
    scores = np.random.default_rng(0).random(len(FOUR_EVENTS))
    for function in (dqeval.evaluate, dqeval.panel, dqeval.explain):
        assert function(FOUR_EVENTS, scores, near=given) == function(FOUR_EVENTS, scores, near=expected)
    assert dqeval.partition(FOUR_EVENTS, near=given).near == expected


def test_event_lengths_where_there_is_no_event():
    with pytest.raises(dqeval.UndefinedError):
        dqeval.evaluate(np.zeros(9), np.arange(9), near="2ev")


@pytest.mark.parametrize("given", ["2", "ev", "-1ev", "2 ev", "1e3ev", "nanev", "2EV", "9" * 400 + "ev"])
def test_what_is_no_near_range(given):
    with pytest.raises(ValueError, match=r'near must be a finite number .*, event lengths such as "2ev"'):
        dqeval.evaluate(FOUR_EVENTS, FOUR_EVENTS, near=given)


@pytest.mark.unmeasured
def test_event_lengths_in_commands_receipts_and_plans(call, tmp_path):
    write_demo(tmp_path / "demo.csv", length=500)
    shown = call("score", "demo.csv", "--near", "1.5ev", "--metrics", "dqe")
    assert (shown.code, "times the median event length" in shown.out) == (0, True)
    assert call("score", "demo.csv", "--near", "1.5ev", "--format", "json", "-o", "receipt.json").code == 0
    assert call("verify", "receipt.json", "demo.csv").code == 0
    (tmp_path / "receipt.json").write_text((tmp_path / "receipt.json").read_text().replace('"1.5ev"', '"2ev"'))
    assert call("verify", "receipt.json", "demo.csv").code == 1
    wrong = call("compare", "demo.csv", "--near", "far")
    assert (wrong.code, "event lengths such as" in wrong.err) == (2, True)
    state = dqeval.bench.run({"metrics": ["dqe"], "near": "2ev", "scores": [{"path": "demo.csv"}]}, tmp_path / "run")
    assert (state.done, state.failed) == (1, 0)
    with Store(tmp_path / "run") as store:
        values = {row["detector"]: row["value"] for row in store.values()}
    expected = score([tmp_path / "demo.csv"], near="2ev", metrics=["dqe"]).series[0].panels
    assert values == {name: panel["dqe"] for name, panel in expected.items()}


def test_check_takes_the_period_of_the_series():
    long = replace(DEMO, period=20)
    (found,) = [finding.message for finding in dqeval.check(long) if finding.column == "label"]
    assert found.startswith("4 events of 6 longer than the period of 20: the near range")
    assert dqeval.check(replace(DEMO, values=None, period=48)) == dqeval.check(DEMO)
    wrong = [finding for finding in dqeval.check(replace(DEMO, values=DEMO.values[:9])) if finding.level == "error"]
    assert [finding.message for finding in wrong] == ["has 9 values for 1,600 points: there must be one for each"]


def test_a_loaded_series_keeps_its_period(tmp_path):
    write_demo(tmp_path / "demo.csv")
    loaded = load(tmp_path / "demo.csv")
    assert loaded.period == 48
    assert prepare(loaded).near == Near(24, "half the period of the series")
    assert prepare(tmp_path / "demo.csv").near.source == "half the estimated period"


def test_the_strength_of_a_period():
    wave = np.sin(2 * np.pi * np.arange(4000) / 50)
    noise = np.random.default_rng(0).normal(size=4000)

    def strength(values):
        return prepare(Series("s", np.arange(4000) == 9, {}, values)).near.strength

    assert strength(wave) == pytest.approx(1 - 50 / 4000, abs=1e-3)  # biased: 50 points fewer are added
    assert strength(wave + noise) == pytest.approx(1 / 3, abs=0.03)  # a half beside a variance of one
    assert strength(0 * wave) is None
    assert prepare(DEMO, near=3).near.strength is None


@pytest.mark.unmeasured
def test_several_content_of_values_tell_no_period(call, tmp_path):
    write_csv(tmp_path / "a.csv", value_0=WAVE, value_1=-WAVE, label=LABELS, mine=WAVE**2)
    assert prepare(tmp_path / "a.csv").near == Near(125, "by default")
    for command, options in NUMERIC.items():
        assert call(command, "a.csv", *options).code == 0
    assert '"values": null' in (tmp_path / "out.html").read_text(encoding="utf-8")
    column = replace(DEMO, values=DEMO.values[:, None])
    assert prepare(column).near.points == 24


# Every format through every command


@pytest.mark.parametrize("format", EVERY)
@pytest.mark.unmeasured
def test_check_reads_every_format(call, tmp_path, format):
    path = EVERY[format][0](tmp_path)
    done = call("check", path, "--format", "json", "-o", "receipt.json")
    assert (done.code, done.err) == (0, "dqeval: wrote receipt.json\n")
    (record,) = json.loads((tmp_path / "receipt.json").read_text())["inputs"]
    assert (record["file"], record["rows"]) == (path.name, POINTS)
    assert record.get("format", "table") == format
    done = call("verify", "receipt.json", path)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("The receipt holds")


@pytest.mark.parametrize("format", [format for format in EVERY if format != "table"])
@pytest.mark.unmeasured
def test_formats_without_scores_say_so(call, tmp_path, format):
    path = EVERY[format][0](tmp_path)
    for command, options in NUMERIC.items():
        done = call(command, path, *options)
        assert (done.code, done.out, done.err.count("\n"), done.err.count(path.name)) == (2, "", 1, 1)
        assert "holds no scores: `dqeval detect` makes some" in done.err
        assert ("; if some of its columns are scores, name them with --score" in done.err) == (
            path.suffix in (".csv", ".npz")
        )
    with pytest.raises(ValueError, match=f"{EVERY[format][1]} holds no scores: `dqeval detect` makes some"):
        dqeval.compare(path)
    assert not [finding for finding in dqeval.check(path) if finding.level == "error"]


@pytest.fixture
def pack_with_scores():
    """Register a format of many series with scores in one file."""

    @series_format(
        label="blocks",
        example="a file with blocks",
        endings=(".blocks",),
        recognises=lambda path: True,
        names=lambda path: path.read_text().split()[::2],
    )
    def blocks(path, name):
        """Names with how many points of the demo they have."""
        words = path.read_text().split()
        stop = int(words[words.index(name) + 1])
        scores = {detector: found[:stop] for detector, found in DEMO.scores.items()}
        return Series(name, DEMO.labels[:stop], scores, DEMO.values[:stop])

    yield
    FORMATS._entries.pop("blocks")


@pytest.mark.unmeasured
def test_many_series_with_scores_in_one_file(call, tmp_path, pack_with_scores):
    (tmp_path / "two.blocks").write_text("one 800 whole 1600")
    done = call("score", "two.blocks", "--metrics", "dqe")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("2 series, 9 events; near 24 to 48, half the estimated period")
    assert call("report", "two.blocks", "-o", "pages").err == "dqeval: wrote 2 files to pages\n"
    assert sorted(path.name for path in (tmp_path / "pages").iterdir()) == ["one.html", "whole.html"]
    for command in COMMANDS:
        done = call(command, "two.blocks", "--format", "json", "-o", "receipt.json")
        assert done.code == 0
        inputs = json.loads((tmp_path / "receipt.json").read_text())["inputs"]
        assert [(each["name"], each["series"], each["format"]) for each in inputs] == [
            ("one", "one", "blocks"),
            ("whole", "whole", "blocks"),
        ]
        assert call("verify", "receipt.json", "two.blocks").code == 0
    (tmp_path / "two.blocks").write_text("one 800 whole 1500")
    assert call("verify", "receipt.json", "two.blocks").code == 1
    with pytest.raises(
        ValueError, match=r"two\.blocks: there are 2 series \(one, whole\): read one of them by its name"
    ):
        dqeval.compare(tmp_path / "two.blocks")


def test_a_pack_without_scores_is_one_sentence(call, tmp_path):
    write_pack(tmp_path, ("a", "b"))
    done = call("score", "pack.npz")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "a holds no scores: " in done.err
    assert call("check", "pack.npz").out.splitlines()[-1].startswith("All 2 series: 0 with errors")
    with pytest.raises(ValueError, match=r"pack\.npz: there are 2 series \(a, b\): read one of them by its name"):
        dqeval.compare(tmp_path / "pack.npz")


def test_a_pack_with_scores_and_single_numbers(call, tmp_path):
    arrays = {"data": WAVE, "label": LABELS, "mine": LABELS * 0.5, "start": 7, "short": [1.0], "unit": "mm"}
    np.savez(tmp_path / "pack.npz", **{f"{s}/{name}": array for s in ("a", "b") for name, array in arrays.items()})
    done = call("score", "pack.npz", "--metrics", "dqe")
    assert (done.code, done.out.startswith("2 series, ")) == (0, True)
    said = [f"dqeval: warning: a and b: {name} is left out: it has no number for each point" for name in arrays][3:]
    assert done.err.splitlines() == said
    assert "mean over series   mine" in done.out


def test_a_table_of_arrays_with_a_single_number(call, tmp_path):
    np.savez(tmp_path / "table.npz", label=LABELS, mine=LABELS * 0.5, window=7)
    done = call("score", "table.npz", "--metrics", "dqe", "--near", "2")
    said = "dqeval: warning: table.npz: window is left out: it is a single value\n"
    assert (done.code, done.err) == (0, said)
    assert "window is left out" in call("check", "table.npz", "--near", "2").out


def test_summaries_of_nab_are_no_series(call, tmp_path):
    write_csv(tmp_path / "a.csv", value=WAVE, label=LABELS, mine=LABELS)
    header = "Detector,Profile,File,Threshold,Score,TP,TN,FP,FN,Total_Count"
    (tmp_path / "mine_standard_scores.csv").write_text(f"{header}\nmine,standard,a.csv,0.5,1.25,3,4,5,6,18\n")
    done = call("score", tmp_path, "--metrics", "dqe", "--near", "2")
    left_out = "dqeval: left out, because they hold no series: mine_standard_scores.csv\n"
    assert (done.code, done.err) == (0, left_out)
    (tmp_path / "incidents.json").write_text("[]")
    done = call("score", "mine_standard_scores.csv", "--metrics", "dqe", "--near", "2")
    sentence = "dqeval: mine_standard_scores.csv: this is a summary of NAB, with a row per file, and no series\n"
    assert (done.code, done.err) == (2, sentence)


def test_a_table_without_scores_can_be_checked(call, tmp_path):
    write_csv(tmp_path / "a.csv", value=WAVE, label=LABELS)
    write_csv(tmp_path / "b.csv", value=WAVE, label=LABELS, mine=WAVE)
    assert call("check", "a.csv").code == 0
    assert call("check", ".").out.splitlines()[-1].startswith("All 2 series: 0 with errors")
    assert dqeval.check({"value": WAVE, "label": LABELS}) == dqeval.check(tmp_path / "a.csv")
    done = call("score", ".", "--metrics", "dqe")
    assert (done.code, done.err) == (0, "dqeval: left out, because they hold no scores: a.csv\n")


def test_scores_beside_a_value_are_no_values(tmp_path):
    columns = {"timestamp": range(POINTS), "value": WAVE, "mine": WAVE**2, "is_anomaly": LABELS}
    write_csv(tmp_path / "a.csv", **columns)
    assert list(prepare(tmp_path / "a.csv").scores) == ["mine"]
    write_csv(tmp_path / "b_tr_10_1st_25.csv", Data=WAVE, mine=WAVE**2, Label=LABELS)
    assert list(load(tmp_path / "b_tr_10_1st_25.csv").scores) == ["mine"]
    assert load(tmp_path / "b_tr_10_1st_25.csv").train_stop == 10


def test_columns_that_are_named_make_a_table(call, tmp_path):
    write_csv(tmp_path / "a.csv", timestamp=range(POINTS), mine=WAVE**2, other=WAVE, is_anomaly=LABELS)
    assert "holds no scores" in call("score", "a.csv").err
    done = call("score", "a.csv", "--score", "mine", "--metrics", "dqe")
    assert (done.code, done.err) == (0, "")


def test_files_of_any_name_are_tables(call, tmp_path):
    write_demo(tmp_path / "scores.txt", length=500)
    write_demo(tmp_path / "scores", length=500)
    assert call("score", "scores.txt", "scores", "--metrics", "dqe").code == 0


def test_folders_of_a_format_are_hashed(call, tmp_path):
    path = EVERY["easytsad"][0](tmp_path)
    call("check", "kpi", "--format", "json", "-o", "receipt.json")
    np.save(path / "test.npy", 2 * WAVE[10:])
    done = call("verify", "receipt.json", "kpi")
    assert done.code == 1
    assert "kpi is not the file of the receipt: its SHA-256 is " in done.out


def test_labels_in_a_file_of_their_own_are_hashed(call, tmp_path):
    path = EVERY["nab"][0](tmp_path)
    call("check", path, "--format", "json", "-o", "receipt.json")
    assert call("verify", "receipt.json", path).code == 0
    labels = tmp_path / "labels" / "combined_windows.json"
    labels.write_text(labels.read_text().replace("00:27:00", "00:26:00"))
    assert call("verify", "receipt.json", path).code == 1


# Errors, and the others go on


def test_a_missing_file_does_not_stop_the_others(call, tmp_path):
    write_demo(tmp_path / "a.csv", length=500)
    done = call("score", "nowhere.csv", "a.csv", "--metrics", "dqe")
    assert (done.code, done.err) == (2, "dqeval: nowhere.csv: No such file or directory\n")
    assert done.out.startswith("a.csv: 500 points")


@pytest.mark.unmeasured
def test_an_error_names_the_file_once(call, tmp_path):
    path = write_ucr(tmp_path)
    path.write_text("a,b\n1,2\n")
    for command, options in EVERY_COMMAND.items():
        done = call(command, path.name, *options)
        assert (done.code, done.err.count(path.name), done.err.count("\n")) == (2, 1, 1)
        assert "there must be numbers, separated by blanks or lines" in done.err


@pytest.fixture
def mixed(tmp_path):
    """Return a folder with two series, one that cannot be read, one that cannot be scored, and one without scores."""
    path = tmp_path / "mixed"
    path.mkdir()
    write_demo(path / "one.csv", length=500)
    write_demo(path / "two.csv", length=600)
    (path / "broken.csv").write_text("value,label,sharp,late,jumpy\n1,0,1,2\n")
    (path / "holes.csv").write_text("value,label,sharp,late,jumpy\n1,0,1,2,nan\n1,1,1,2,3\n")
    write_ucr(path)
    return path


@pytest.mark.parametrize("command", NUMERIC)
@pytest.mark.unmeasured(but=["explain"])
def test_the_others_go_on(call, mixed, tmp_path, command):
    options = {"report": ["-o", "out"], "plot": ["-o", "out"]}.get(command, NUMERIC[command])
    done = call(command, "mixed", *options, "--fail-under", "dqe=0.99")
    *_, left_out, sharp, late, jumpy, broken, holes = done.err.splitlines()
    assert done.code == 2  # what could not be used is worse than a detector that is not good enough
    assert left_out == "dqeval: left out, because they hold no scores: 004_UCR_Anomaly_own_10_25_27.txt"
    assert all(" of " in line and ", below 0.99" in line for line in (sharp, late, jumpy))
    assert broken == "dqeval: mixed/broken.csv: row 1 below the header has 4 cells, and the header has 5"
    assert holes.startswith("dqeval: holes.csv: column jumpy: y_score must be finite: 1 of 2 values is not")
    if command in ("report", "plot"):
        assert sorted(path.stem for path in (tmp_path / "out").iterdir()) == ["one", "two"]
    else:
        assert "one.csv" in done.out
        assert "two.csv" in done.out


def test_check_goes_on(call, mixed):
    done = call("check", "mixed")
    assert done.code == 2
    assert done.err == "dqeval: mixed/broken.csv: row 1 below the header has 4 cells, and the header has 5\n"
    assert done.out.splitlines()[-1].startswith("All 4 series: 1 with errors, ")


def test_where_none_can_be_used_each_is_named(call, mixed):
    for name in ("one.csv", "two.csv"):
        (mixed / name).unlink()
    done = call("compare", "mixed")
    first, second = done.err.splitlines()
    assert (done.code, done.out) == (2, "")
    assert first.startswith("dqeval: holes.csv: column jumpy: y_score must be finite")
    assert second.startswith("dqeval: mixed/broken.csv: row 1 below the header")


def test_more_than_three_without_scores(call, tmp_path):
    write_table(tmp_path)
    for i in range(5):
        shutil.copy(write_ucr(tmp_path), tmp_path / f"{i}_1_25_27.txt")
    done = call("explain", ".")
    assert done.code == 0
    assert done.err.startswith("dqeval: left out, because they hold no scores: ")
    assert done.err.endswith(" and 3 more\n")


def test_a_wrong_option_is_no_fault_of_the_files(call, mixed):
    done = call("explain", "mixed", "--near", "-1")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert done.err.startswith("dqeval: near must be a finite number of at least 0")


def test_a_receipt_of_a_folder_where_some_could_not_be_used(call, mixed, tmp_path):
    assert call("score", "mixed", "--metrics", "dqe", "--format", "json", "-o", "receipt.json").code == 2
    inputs = json.loads((tmp_path / "receipt.json").read_text())["inputs"]
    assert [each["file"] for each in inputs] == ["one.csv", "two.csv"]
    assert call("verify", "receipt.json", "mixed").code == 0
    (mixed / "two.csv").unlink()
    assert (
        "was made from 2 files: give as many, in the same order, not 1" in call("verify", "receipt.json", "mixed").err
    )
    (mixed / "two.csv").write_text("nothing")
    done = call("verify", "receipt.json", "mixed/one.csv", "mixed/two.csv")
    assert (done.code, done.err.startswith("dqeval: mixed/two.csv: ")) == (2, True)


def test_series_without_an_anomaly_beside_others_that_fail(call, tmp_path):
    (tmp_path / "normal.csv").write_text("label,mine\n0,1\n0,2\n")
    (tmp_path / "broken.csv").write_text("label,mine\n0\n")
    done = call("plot", "normal.csv", "broken.csv", "-o", "out")
    assert done.code == 2
    assert [line.partition(": ")[2].partition(":")[0] for line in done.err.splitlines()] == ["broken.csv", "normal.csv"]
    write_demo(tmp_path / "demo.csv", length=500)
    done = call("plot", "normal.csv", "demo.csv", "-o", "out")
    assert done.err.endswith("Left out, because no label there is 1: normal.csv.\n")


def test_what_a_metric_cannot_be_computed_with_names_the_series_and_the_column(call, tmp_path):
    write_demo(tmp_path / "demo.csv", length=500)
    for command in ("score", "compare"):
        done = call(command, "demo.csv", "--near", "1e300")
        assert (done.code, done.err.count("\n")) == (2, 1)
        assert done.err.startswith("dqeval: demo.csv: column sharp: near 1e+300 will not do for ")


def test_data_of_no_kind():
    with pytest.raises(ValueError, match="data must be a Series, columns by name, or a file: got int"):
        prepare(7)


@pytest.mark.parametrize("change", [{"series": 7}, {"format": "none"}, {"format": None}])
@pytest.mark.unmeasured
def test_receipts_that_name_no_format_or_series(call, tmp_path, change):
    path = write_ucr(tmp_path)
    call("check", path, "--format", "json", "-o", "receipt.json")
    content = json.loads((tmp_path / "receipt.json").read_text())
    content["inputs"][0] |= change
    (tmp_path / "receipt.json").write_text(json.dumps(content))
    assert "its inputs are not each a file with a name and" in call("verify", "receipt.json", path).err


@pytest.mark.unmeasured
def test_pages_of_standard_input_and_of_a_folder(call, tmp_path, monkeypatch):
    write_demo(tmp_path / "demo.csv", length=500)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO((tmp_path / "demo.csv").read_bytes())))
    assert call("plot", "-", "-o", "out", "--format", "png").err == "dqeval: wrote out/standard_input.png\n"


# Warnings


@pytest.mark.parametrize("command", ["score", "compare", "explain", "report"])
@pytest.mark.unmeasured
def test_commands_warn_of_what_makes_numbers_wrong(call, tmp_path, command):
    times = np.concatenate([np.arange(800), np.arange(100, 900)])
    columns = {"time": times, "value": DEMO.values, "label": DEMO.labels.astype(int), "low": -DEMO.scores["sharp"]}
    pd.DataFrame(columns).to_csv(tmp_path / "a.csv", index=False)
    options = {"report": ["-o", "out.html"], "score": ["--metrics", "dqe"]}.get(command, [])
    done = call(command, "a.csv", *options)
    assert done.code == 0
    first, second = [line for line in done.err.splitlines() if "warning" in line]
    assert first.startswith(
        "dqeval: warning: a.csv, column timestamp: the time starts again once, first after point 799 (799)"
    )
    assert second.startswith("dqeval: warning: a.csv, column low: AUC-ROC is 0.003")
    if command == "report":
        page = (tmp_path / "out.html").read_text(encoding="utf-8")
        assert '<p class="hint">Warning: a.csv, column low: AUC-ROC is 0.003' in page


def test_of_several_series_each_is_warned_of(call, tmp_path):
    for name in ("a.csv", "b.csv"):
        write_csv(tmp_path / name, label=LABELS, low=-LABELS - WAVE / 9)
    done = call("compare", "a.csv", "b.csv")
    assert [line.partition(", column")[0] for line in done.err.splitlines()] == [
        "dqeval: warning: a.csv",
        "dqeval: warning: b.csv",
    ]


def test_results_say_what_they_are_of():
    assert dqeval.compare(DEMO, repeats=1).warnings == ()
    found = dqeval.compare(replace(DEMO, scores={"low": -DEMO.scores["sharp"]}), repeats=1)
    assert [finding.column for finding in found.findings] == ["low"]
    assert found.by_detector["low"]["dqe"] == found.panels["low"]["dqe"]


# Timestamps


def test_times_are_moments_in_universal_time(tmp_path):
    zoned = [f"2026-01-01T01:{t:02}:00+01:00" for t in range(POINTS)]
    write_csv(tmp_path / "a.csv", timestamp=zoned, value=WAVE, label=LABELS, mine=WAVE)
    expected = np.datetime64("2026-01-01T00:00:00") + np.arange(POINTS) * np.timedelta64(1, "m")
    frame = pd.DataFrame({"label": LABELS, "mine": WAVE}, index=pd.to_datetime(zoned))
    for series in (
        load(tmp_path / "a.csv"),
        as_series(tmp_path / "a.csv"),
        as_series(frame),
        as_series(frame.reset_index(names="time")),
        as_series(Series("s", LABELS, {}, timestamps=np.array(zoned))),
        dqeval.datasets.read_columns(tmp_path / "a.csv"),
    ):
        assert series.timestamps.dtype.kind == "M"
        np.testing.assert_array_equal(series.timestamps, expected)


TIMES = {
    "seconds": (["2026-01-01", "2026-01-02"], "datetime64[s]"),
    "milliseconds": (["2026-01-01T00:00:00.250", "2026-01-02"], "datetime64[ms]"),
    "microseconds": (["2026-01-01T00:00:00.250001", "2026-01-02"], "datetime64[us]"),
    "whole numbers": (["7", "-8 "], "int64"),
    "numbers": (["7.5", "8"], "float64"),
    "numbers that are too large": (["7", "9" * 30], "float64"),
    "moments": (np.array(["2026", "2027"], dtype="M8[Y]"), "datetime64[D]"),
    "words": (["1 May", "2 May"], "<U5"),
    "with and without a zone": (["2026-01-01T00:00Z", "2026-01-02"], "<U17"),
    "before all time": (["0001-01-01T00:00:00+14:00"], "<U25"),
}


@pytest.mark.parametrize(("given", "dtype"), TIMES.values(), ids=TIMES)
def test_times_of_all_kinds(given, dtype):
    given = np.array(given)
    found = parse_times(given)
    assert found.dtype == dtype
    if given.dtype == found.dtype:
        assert found is given


FORMS = ["%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S.%f"]


@given(
    st.lists(st.datetimes(), min_size=1, max_size=4),
    st.sampled_from(FORMS),
    st.tuples(st.integers(0, 25), st.sampled_from("0123459 T-:.Z+x٣")),
)
@pytest.mark.unmeasured
def test_plain_dates_are_read_as_python_reads_them(dates, form, change):
    """By NumPy, where all have one form: with one letter changed, either they still do, or Python tells."""
    texts = [f"{date.year:04d}{date.strftime(form[2:])}" for date in dates]
    place, letter = change
    for cells in (texts, [texts[0][:place] + letter + texts[0][place + 1 :], *texts[1:]]):
        found = parse_times(np.array(cells))
        one_by_one = parse_times(np.array([f" {cell}" for cell in cells]))
        if found.dtype.kind == "U":
            assert one_by_one.dtype.kind == "U"
        else:
            assert (found.dtype, found.tolist()) == (one_by_one.dtype, one_by_one.tolist())


@pytest.mark.unmeasured
def test_times_that_cannot_be_read_are_kept_and_told_of(call, tmp_path):
    words = [f"the {t}th" for t in range(POINTS)]
    write_csv(tmp_path / "a.csv", time=words, label=LABELS, mine=LABELS + WAVE / 9)
    assert load(tmp_path / "a.csv").timestamps.tolist() == words
    for command, options in {**EVERY_COMMAND, "plot": None}.items():
        if options is not None:
            done = call(command, "a.csv", *options)
            assert "timestamps, such as 'the 0th', are not all numbers or dates" in " ".join(
                (done.out + done.err).split()
            )
    assert "the 25th \\u2013 the 27th" in (tmp_path / "out.html").read_text(encoding="utf-8")


def test_nab_times_of_several_zones(tmp_path):
    path = EVERY["nab"][0](tmp_path)
    zones = ["+00:00" if t % 2 else "Z" for t in range(POINTS)]
    write_csv(path, timestamp=[f"2026-01-01T00:{t:02}:00{zones[t]}" for t in range(POINTS)], value=WAVE)
    assert load(path).labels.tolist() == LABELS.astype(bool).tolist()
    mixed = [f"2026-01-01T00:{t:02}:00{'Z' if t % 2 else ''}" for t in range(POINTS)]
    write_csv(path, timestamp=mixed, value=WAVE)
    assert load(path).labels.tolist() == LABELS.astype(bool).tolist()


def test_a_series_made_of_lists():
    series = Series("s", LABELS.tolist(), {"mine": WAVE.tolist()}, WAVE.tolist(), timestamps=list(range(POINTS)))
    arrays = Series("s", LABELS, {"mine": WAVE}, WAVE, timestamps=np.arange(POINTS))
    assert str(dqeval.compare(series)) == str(dqeval.compare(arrays))


@pytest.mark.parametrize("what", ["values", "timestamps"])
def test_content_of_another_length_whatever_the_near_range_follows_from(what):
    series = Series("s", LABELS, {"mine": WAVE}, period=20)
    with pytest.raises(ValueError, match=f"{what} must have the same length as labels: got 3 for {POINTS} points"):
        dqeval.compare(replace(series, **{what: np.arange(3)}))


@pytest.mark.parametrize("unit", ["M", "Y"])
def test_months_and_years(unit):
    times = np.arange(POINTS).astype(f"datetime64[{unit}]")
    series = Series("s", LABELS, {"mine": WAVE}, WAVE, timestamps=times)
    assert as_series(series).timestamps.dtype == "datetime64[D]"
    assert isinstance(dqeval.check(series), list)
