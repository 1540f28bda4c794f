"""The command line: every command, as people run it, and all that its options do."""

import csv
import gzip
import io
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import typer

import dqeval
from commands import caller, run, write_clean, write_demo
from dqeval.cli import output
from dqeval.core.metric_choice import default_metrics
from dqeval.core.types import MEANING

SCORES = """time,value,label,noisy,good
2026-01-01,1.0,0,0.9,0.1
2026-01-02,2.0,0,0.2,0.0
2026-01-03,9.0,1,0.8,0.9
2026-01-04,8.0,1,0.1,1.0
2026-01-05,1.5,0,0.7,0.1
2026-01-06,2.5,0,0.3,0.2
"""
GOOD, NOISY = [0.1, 0, 0.9, 1, 0.1, 0.2], [0.9, 0.2, 0.8, 0.1, 0.7, 0.3]
LABELS = [0, 0, 1, 1, 0, 0]
ROOT = Path(__file__).parent.parent


@pytest.fixture
def call(monkeypatch, capsys):
    return caller(monkeypatch, capsys)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(SCORES)
    return path


@pytest.fixture
def demo_file(tmp_path):
    return write_demo(tmp_path / "demo.csv")


def row(text, name):
    line = next(line for line in text.splitlines() if line.strip().startswith(name))
    return [float(cell) for cell in line.strip().removeprefix(name).split()]


@pytest.mark.unmeasured
def test_score(file):
    done = run("score", file, "--near", "1.5")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.startswith("scores.csv: 6 points, 1 event; near 1.5 (1 d 12 h), as given\n")
    panels = [dqeval.panel(LABELS, scores, near=1.5) for scores in (NOISY, GOOD)]
    for metric in map(dqeval.METRICS.__getitem__, default_metrics()):
        assert row(done.stdout, f"{metric.label} ") == pytest.approx([p[metric.name] for p in panels], abs=5e-4)
    for part, words in [("capture", "capture"), ("near_miss", "near miss"), ("false_alarm", "false alarm")]:
        expected = [getattr(panel.dqe, part) for panel in panels]
        assert row(done.stdout, words) == pytest.approx(expected, abs=5e-4)
    notes = f"DQE is over 100 thresholds.\n{MEANING}\nMetrics of detections are shown at their best threshold.\n"
    assert done.stdout.endswith(notes)


@pytest.mark.slow
@pytest.mark.unmeasured
def test_score_warns_of_what_makes_numbers_wrong(call, tmp_path):
    path = write_demo(tmp_path / "demo.csv")
    header, *rows = path.read_text().splitlines()
    kept = np.sort(np.random.RandomState(0).choice(1630, 1600, replace=False))
    halves = np.concatenate([kept[:800], kept[:800]])
    for name, times, words in [
        ("stacked", halves, "the time starts again once, first after point 799"),
        ("gaps", kept, "30 timestamps missing of a clock with steps of 1, in "),
    ]:
        file = tmp_path / f"{name}.csv"
        file.write_text("\n".join([f"t,{header}", *(f"{t},{row}" for t, row in zip(times, rows, strict=True))]))
        done = call("score", file, "--metrics", "dqe")
        assert done.code == 0
        assert f"dqeval: warning: {name}.csv, column timestamp: " in done.err
        assert words in done.err
        found = json.loads(call("score", file, "--metrics", "dqe", "--format", "json").out)
        assert words in found["results"]["series"][0]["findings"][0]["message"]
        assert words in call("check", file).out
    turned = tmp_path / "turned.csv"
    columns = np.loadtxt(path, delimiter=",", skiprows=1)
    columns[:, 2] *= -1
    np.savetxt(turned, columns, delimiter=",", header=header, comments="")
    assert "column sharp: AUC-ROC is 0.003, far below the 0.5" in call("score", turned, "--metrics", "dqe").err
    assert call("score", path, "--metrics", "dqe").err == ""


def test_values_may_have_gaps(call, tmp_path):
    path = write_demo(tmp_path / "demo.csv")
    lines = path.read_text().splitlines()
    for i in (3, 400, 401):
        lines[i] = f",{lines[i].partition(',')[2]}"
    path.write_text("\n".join(lines))
    done = call("score", path, "--metrics", "dqe")
    assert done.out.startswith(
        "demo.csv: 1,600 points, 6 events; near 24, half the estimated period, 3 missing values filled\n"
    )
    assert "3 of 1,600 values are missing (first at index 2)" in call("check", path).out


def test_score_with_exact_thresholds_and_some_metrics(call, file):
    done = call("score", file, "--near", "1.5", "--exact", "--metrics", " auc_roc,dqe")
    expected = [dqeval.dqe_score(LABELS, scores, near=1.5, thresholds="exact") for scores in (NOISY, GOOD)]
    assert row(done.out, "DQE") == pytest.approx(expected, abs=5e-4)
    assert "DQE is over all thresholds." in done.out
    assert "best threshold" not in done.out
    assert len(done.out.splitlines()) == 2 + 2 + 5 + 4


def test_metrics_that_do_not_exist(call, file):
    done = call("score", file, "--metrics", "vuspr")
    assert (done.code, done.out) == (2, "")
    assert done.err == "dqeval: unknown metric 'vuspr'; did you mean 'vus_pr'?\n"
    assert "\nRF " in call("score", file, "--metrics", "rf").out  # what tables call it


def test_score_per_event(call, demo_file):
    done = call("score", demo_file, "--per-event", "--metrics", "dqe")
    assert "near 24, half the estimated period" in done.out
    for header in ("DQE of event", "capture of event", "near miss of event", "false alarm of event"):
        assert header in done.out
    assert done.out.count("[214, 218)") == 4
    done = call("score", demo_file, "--per-event", "--metrics", "auc_roc")
    assert (done.code, done.err) == (2, "dqeval: the scores of each event are those of DQE: add dqe to the metrics\n")


def test_score_several_files(call, tmp_path):
    one, two = write_demo(tmp_path / "one.csv"), write_demo(tmp_path / "two.csv", length=800)
    done = call("score", one, two, "--period", "48", "--metrics", "dqe,auc_roc")
    assert done.out.startswith("2 series, 9 events; near 24, half the given period\n")
    assert "\none.csv" in done.out
    assert "\ntwo.csv" in done.out


def test_files_of_the_same_name_are_told_apart(call, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        write_demo(tmp_path / folder / "demo.csv")
    one, two = tmp_path / "a" / "demo.csv", tmp_path / "b" / "demo.csv"
    done = call("score", one, two, "--metrics", "dqe")
    assert "\na/demo.csv" in done.out
    assert "\nb/demo.csv" in done.out
    assert str(tmp_path) not in done.out


def test_a_detector_that_one_file_does_not_have(call, tmp_path, demo_file):
    other = tmp_path / "other.csv"
    other.write_text("value,label,sharp\n1,0,0.5\n2,1,0.9\n")
    done = call("score", demo_file, other)
    assert done.code == 2
    assert done.err == (
        "dqeval: other.csv has no scores of late, jumpy, which demo.csv has: choose detectors that all series have\n"
    )
    assert call("score", demo_file, other, "--score", "sharp", "--metrics", "dqe").code == 0


STDIN = "a,b,c,d\n1,0,0.5,9\n2,1,0.9,8\n3,0,0.1,7\n"


@pytest.mark.unmeasured
def test_chosen_columns_from_standard_input(call, monkeypatch):
    options = ["--value", "a", "--label", "b", "--score", "d", "--score", "c", "--metrics", "dqe"]
    done = run("score", "-", *options, input=STDIN)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(
        "standard input: 3 points, 1 event; near 62.5, a fallback: 3 values are too few to see one\n"
    )
    assert done.stdout.splitlines()[2].split() == ["metric", "d", "c"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(STDIN.encode())))
    done = call("score", "-", "--label", "x")
    assert done.err == "dqeval: standard input: no numeric column is called x; there are a, b, c, d\n"


def test_without_values_near_falls_back(call, tmp_path):
    path = tmp_path / "series.csv"
    path.write_text("is_anomaly,mine\n0,0.5\n1,0.9\n")
    assert "near 125, by default" in call("score", path).out


def test_what_is_said_below_the_table(call, tmp_path):
    path = tmp_path / "mixed.csv"
    path.write_text("label,mine,alarms\n0,0.5,0\n1,0.7,1\n0,0.1,0\n")
    done = call("score", path, "--near", "1", "--metrics", "vus_pr,range_f1")
    assert "0/1 detections, so their windows and buffers differ from those of scores: alarms.\n" in done.out
    path.write_text("label,mine\n1,0.5\n1,0.7\n")
    done = call("score", path, "--near", "1", "--metrics", "auc_roc,auc_pr")
    assert done.code == 0
    assert "mine, auc_roc: undefined, because y_true has no normal point (every value is 1).\n" in done.out


@pytest.mark.unmeasured
def test_formats(call, file):
    table, json_, csv_, markdown, latex = (
        call("score", file, "--near", "1", "--metrics", "dqe,range_f1", "--format", form).out
        for form in ("table", "json", "csv", "markdown", "latex")
    )
    dqe = dqeval.dqe_score(LABELS, GOOD, near=1)
    assert f"{dqe:.3f}" in table
    receipt = json.loads(json_)
    assert receipt["results"]["series"][0]["detectors"]["good"]["values"]["dqe"] == dqe
    rows = list(csv.DictReader(io.StringIO(csv_)))
    assert rows[5] == {
        "series": "scores.csv", "detector": "good", "metric": "dqe", "value": str(dqe), "best_threshold": ""
    }  # fmt: skip
    assert rows[9]["best_threshold"] == str(dqeval.best_threshold("range_f1", LABELS, GOOD).threshold)
    assert f"| DQE | {dqeval.dqe_score(LABELS, NOISY, near=1):.3f} | **{dqe:.3f}** |" in markdown
    assert f"DQE & {dqeval.dqe_score(LABELS, NOISY, near=1):.3f} & \\textbf{{{dqe:.3f}}} \\\\" in latex
    assert "\\quad capture &" in latex


def test_no_findings_as_csv(call, tmp_path):
    clean = write_clean(tmp_path / "clean.csv")
    assert call("check", clean, "--format", "csv").out == "\n"


def test_output_to_a_file(call, file, tmp_path):
    place = tmp_path / "out.md"
    place.write_text("old")
    done = call("score", file, "--format", "markdown", "-o", place)
    assert (done.code, done.out, done.err) == (0, "", f"dqeval: wrote {place}\n")
    assert place.read_text(encoding="utf-8").startswith("scores.csv: 6 points")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.md", "scores.csv"]


def test_output_to_a_link_and_to_a_device(call, file, tmp_path):
    (tmp_path / "link.txt").symlink_to(tmp_path / "real.txt")
    assert call("score", file, "-o", tmp_path / "link.txt").code == 0
    assert (tmp_path / "link.txt").is_symlink()
    assert "DQE" in (tmp_path / "real.txt").read_text(encoding="utf-8")
    assert call("score", file, "-o", os.devnull).code == 0
    assert not Path(os.devnull).is_file()


@pytest.mark.parametrize("command", ["score", "report", "plot"])
def test_the_input_is_not_overwritten(call, tmp_path, command):
    ending = {"score": "csv", "report": "html", "plot": "png"}[command]
    place = write_demo(tmp_path / f"data.{ending}")
    before = place.read_bytes()
    done = call(command, place, "-o", place)
    assert (done.code, done.err) == (2, f"dqeval: {place} would overwrite the input; name another file\n")
    assert place.read_bytes() == before


def test_a_report_is_a_page(call, file, tmp_path):
    done = call("report", file, "-o", tmp_path / "out.pdf")
    assert done.code == 2
    assert "the report is an HTML page" in done.err


def test_gzip_on_standard_input(call, monkeypatch):
    packed = gzip.compress(b"label,mine\n0,1\n1,2\n0,0\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(packed)))
    assert call("score", "-", "--near", "1", "--metrics", "dqe").code == 0


def test_a_label_is_no_score(call, file):
    assert "label holds the labels: it cannot be a column of scores too" in call("score", file, "--score", "label").err


def test_output_that_fails_leaves_the_old_file(call, file, tmp_path, monkeypatch):
    place = tmp_path / "out.txt"
    place.write_text("old")
    monkeypatch.setattr(Path, "replace", lambda self, target: (_ for _ in ()).throw(OSError(28, "No space left")))
    done = call("score", file, "-o", place)
    assert (done.code, done.err) == (2, f"dqeval: {place}: No space left\n")
    assert place.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.txt", "scores.csv"]


def test_outputs_that_cannot_be(call, file, tmp_path, monkeypatch):
    assert f"{tmp_path} is a directory; name a file in it" in call("score", file, "-o", tmp_path).err
    done = call("score", file, "-o", tmp_path / "no" / "out.txt")
    assert done.code == 2
    assert f"there is no directory {tmp_path / 'no'}; make it first" in done.err
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert f"no file can be written in {tmp_path}" in call("score", file, "-o", tmp_path / "out.txt").err


def test_fail_under(call, demo_file):
    common = ["score", demo_file, "--period", "48", "--metrics", "dqe"]
    passed = call(*common)
    failed = call(*common, "--fail-under", "dqe=0.6, capture=0.7", "--fail-under", "near_miss=0.1")
    assert (failed.code, failed.out) == (1, passed.out)
    assert failed.err.splitlines() == [
        "dqeval: dqe of late is 0.577453, below 0.6",
        "dqeval: capture of late is 0.64, below 0.7",
        "dqeval: dqe of jumpy is 0.557311, below 0.6",
    ]
    assert call(*common, "--fail-under", "dqe=0.5").code == 0


def test_fail_under_of_several_files_is_about_the_means(call, tmp_path):
    files = [write_demo(tmp_path / "one.csv"), write_demo(tmp_path / "two.csv", length=800)]
    done = call("score", *files, "--period", "48", "--metrics", "dqe", "--fail-under", "dqe=0.9")
    found = [dqeval.datasets.read_columns(file) for file in files]
    mean = np.mean([dqeval.dqe_score(s.labels, s.scores["late"], period=48) for s in found])
    assert f"dqe of late is {mean:.6g}, below 0.9\n" in done.err


def test_fail_under_where_undefined(call, tmp_path):
    path = tmp_path / "all.csv"
    path.write_text("label,mine\n1,0.5\n1,0.7\n")
    done = call("score", path, "--near", "1", "--metrics", "auc_roc", "--fail-under", "auc_roc=0")
    assert (done.code, done.err) == (1, "dqeval: auc_roc of mine is undefined, and should be at least 0\n")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("dqe=0.6", "--fail-under dqe=0.6: unknown metric 'dqe'; choose from auc_roc, range_f1"),
        ("auc_roc", "--fail-under auc_roc: write it as auc_roc=0.6"),
        ("range_f1=much", "--fail-under range_f1=much: write it as range_f1=0.6"),
        ("auc_roc=nan", "--fail-under auc_roc=nan: the limit must be a number"),
    ],
)
def test_fail_under_that_cannot_be(call, file, given, message):
    done = call("score", file, "--metrics", "auc_roc,range_f1", "--fail-under", given)
    assert (done.code, done.out, done.err) == (2, "", f"dqeval: {message}\n")


@pytest.mark.slow
@pytest.mark.unmeasured
def test_compare(demo_file, tmp_path, call):
    done = run("compare", demo_file, "--period", "48", "--fail-under", "auc_roc=0.9")
    assert done.returncode == 1
    assert "sharp is best" in done.stdout
    assert done.stderr == "dqeval: auc_roc of late is 0.660108, below 0.9\n"
    short = write_demo(tmp_path / "short.csv", length=500)
    receipt = json.loads(call("compare", short, "--period", "48", "--format", "json").out)
    assert receipt["results"]["metric_parameters"]["late"]["vus_pr"] == {"window": 48, "thresholds": 100}


@pytest.mark.unmeasured
def test_explain(demo_file, call):
    done = run("explain", demo_file, "--score", "late", "--near", "24")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("late: DQE 0.577")
    done = call("explain", demo_file, "--near", "24", "--fail-under", "near_miss=0.6")
    assert re.findall(r"^(\w+): DQE", done.out, flags=re.MULTILINE) == ["sharp", "late", "jumpy"]
    assert done.code == 1
    assert "near_miss of jumpy" in done.err
    assert (
        "unknown metric 'auc_roc'; choose from dqe, capture"
        in call("explain", demo_file, "--fail-under", "auc_roc=0").err
    )
    rows = list(csv.DictReader(io.StringIO(call("explain", demo_file, "--format", "csv").out)))
    assert [row["detector"] for row in rows[::6]] == ["sharp", "late", "jumpy"]


@pytest.mark.slow
def test_report(demo_file, tmp_path, call, monkeypatch):
    place = tmp_path / "out.html"
    done = run("report", demo_file, "-o", place)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", f"dqeval: wrote {place}\n")
    assert "<html" in place.read_text(encoding="utf-8")
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    done = call("report", demo_file, "-o", place, "--open", "--fail-under", "auc_roc=0.9")
    assert done.code == 1
    assert opened == [place.resolve().as_uri()]
    assert "Missing option '-o' / '--output'" in call("report", demo_file).err


@pytest.mark.slow
@pytest.mark.unmeasured
def test_plot(demo_file, tmp_path, call):
    place = tmp_path / "out.svg"
    done = run("plot", demo_file, "-o", place)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", f"dqeval: wrote {place}\n")
    assert "<svg" in place.read_text(encoding="utf-8")
    assert call("plot", demo_file, "-o", place, "--fail-under", "capture=0.9").code == 1
    done = call("plot", demo_file, "-o", tmp_path / "out.gif")
    assert done.err == f"dqeval: a figure is a png, svg or pdf file: {tmp_path / 'out.gif'} is none by its ending\n"


@pytest.mark.parametrize(
    ("command", "module", "needed"),
    [
        (("report", "-o", "out.html"), "bokeh.resources", "bokeh>=3.5' 'jinja2>=3.1"),
        (("plot", "-o", "out.pdf"), "matplotlib", "matplotlib>=3.8"),
    ],
)
def test_extras_that_are_not_installed(call, demo_file, tmp_path, monkeypatch, command, module, needed):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, module, None)
    done = call(*command, demo_file)
    assert done.code == 2
    assert done.err.endswith(f"pip install '{needed}'\n")
    assert [path.name for path in tmp_path.iterdir()] == ["demo.csv"]


@pytest.mark.unmeasured
def test_check(tmp_path, call, demo_file):
    path = tmp_path / "series.csv"
    path.write_text("label,mine\n0,2\n1,2\n0,2\n0,2\n0,2\n0,2\n")
    done = run("check", path)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "series.csv: 1 error, 2 warnings",
        "",
        "level    column  finding",
        "------------------------",
        "error    mine    all scores are 2: the detector says nothing",
        "warning  label   only 1 event: from fewer than 5 there is no confidence interval, and one more event may "
        "change every number",
        "warning  value   there are no values to estimate the period from: give a period or a near range",
    ]
    done = call("check", write_clean(tmp_path / "clean.csv"))
    assert (done.code, done.out) == (0, "clean.csv: no problems found\n")
    done = call("check", demo_file)
    assert (done.code, done.out.splitlines()[0]) == (0, "demo.csv: 0 errors, 4 warnings")
    receipt = json.loads(call("check", path, "--format", "json").out)
    assert receipt["results"]["findings"][0]["column"] == "mine"


@pytest.mark.unmeasured
def test_verify(tmp_path, demo_file, call):
    receipt = tmp_path / "receipt.json"
    assert call("score", demo_file, "--format", "json", "-o", receipt).code == 0
    done = run("verify", receipt, demo_file)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("The receipt holds: same input, same numbers (")
    other = write_demo(tmp_path / "other.csv", length=1000)
    done = call("verify", receipt, other)
    assert done.code == 1
    assert "other.csv is not the file of the receipt" in done.out
    done = call("verify", tmp_path)
    assert (done.code, done.err.partition("; ")[2]) == (2, f"a site's is {tmp_path / 'receipt.json'}\n")
    receipt.write_text("{")
    done = call("verify", receipt, demo_file)
    assert (done.code, done.err) == (2, f"dqeval: {receipt}: this is not JSON, and so not a receipt\n")


@pytest.mark.unmeasured
def test_metrics_lists_them_all():
    lines = run("metrics").stdout.splitlines()
    assert [line.split()[0] for line in lines[::5]] == list(dqeval.METRICS.names)
    assert [line.strip() for line in lines[1::5]] == [metric.summary for metric in dqeval.METRICS]
    assert "    Parameters: window: the period (for detections, near); thresholds: 100. As in: TSB-AD" in lines[22]
    cost = f"Takes about {dqeval.METRICS['dqe'].cost} × as long as scikit-learn's AUC-ROC, at 100,000 points"
    assert lines[3] == f"    {cost}. In default, paper."


def test_metrics_as_json_and_csv(call):
    listed = json.loads(call("metrics", "--format", "json").out)["metrics"]
    assert [metric["cost"] for metric in listed] == [metric.cost for metric in dqeval.METRICS]
    assert call("metrics", "--format", "csv").out.startswith("name,label,takes,parameters,cost,")


def test_costs_are_those_of_the_performance_page():
    page = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    for metric in dqeval.METRICS:
        cells = re.search(rf"^\| {metric.name} \|(.*)\|$", page, flags=re.MULTILINE)[1].split("|")
        assert metric.cost == float(cells[1].strip(" ×"))  # 100,000 points, random walk


@pytest.mark.unmeasured
def test_demo_tells_the_whole_story_in_one_screen():
    done = run("demo")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) <= 40
    assert max(map(len, done.stdout.splitlines())) <= 80
    sharp, late, jumpy = row(done.stdout, "DQE ")
    assert sharp > late > jumpy


@pytest.mark.unmeasured
def test_demo_on_a_terminal_without_block_characters():
    done = subprocess.run(
        [sys.executable, "-m", "dqeval", "demo"],
        capture_output=True,
        env={"PYTHONIOENCODING": "ascii", "PATH": "/usr/bin"},
    )
    assert done.returncode == 0, done.stderr


def test_version_and_help(call):
    form = "compiled" if dqeval.kernels.compiled else "interpreted"
    assert run("--version").stdout == f"dqeval {dqeval.__version__} (kernels {form})\n"
    assert call("--version").out == call("--version", "--help").out == run("--version").stdout
    assert "score" in call("--help").out
    assert "Usage" in call().out


def test_bad_options(call, file):
    assert "near must be a finite number of at least 0" in call("score", file, "--near", "-3").err
    done = call("score", file, "--near", "3", "--period", "2")
    assert done.err == "dqeval: scores.csv: give at most one of near, period, values: got near and period\n"
    for arguments in (["score", file, "--nonsense"], ["nonsense"], ["score"], ["score", file, "--format", "x"]):
        done = call(*arguments)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
        assert re.search(r"; see .*dqeval( score)? --help\n$", done.err)


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, typer.Abort])
def test_interrupted(call, file, monkeypatch, interruption):
    def interrupt(*_, **__):
        raise interruption

    monkeypatch.setattr("dqeval.analysis.each_detector.started_together", interrupt)
    done = call("score", file)
    assert (done.code, done.out, done.err) == (130, "", "dqeval: interrupted\n")


def test_a_reader_that_has_gone():
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, "-m", "dqeval", "metrics"], stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_bold_on_a_terminal_alone(call, file, monkeypatch):
    for variable in ("NO_COLOR", "FORCE_COLOR", "PY_COLORS"):
        monkeypatch.delenv(variable, raising=False)
    assert "\x1b" not in call("score", file).out
    monkeypatch.setattr(sys, "stdout", terminal := Terminal())
    call("score", file)
    assert "\x1b[1m1.000\x1b[0m" in terminal.getvalue()
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys, "stdout", terminal := Terminal())
    call("score", file)
    assert "DQE" in terminal.getvalue()
    assert "\x1b" not in terminal.getvalue()


def test_a_progress_bar_once_work_takes_a_while(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    with output.progress("score") as tell:
        tell(0, 2)
    assert terminal.getvalue() == ""
    monkeypatch.setattr(output, "PATIENCE", 0)
    with output.progress("score") as tell:
        tell(1, 2)
        while "score" not in terminal.getvalue():
            time.sleep(0.01)
    assert "50%" in terminal.getvalue()


@pytest.mark.unmeasured
def test_heavy_packages_are_not_imported_to_score_a_file(file):
    program = f"""
import sys
from dqeval.cli.entry import main
sys.argv = ["dqeval", "score", {str(file)!r}]
try:
    main()
except SystemExit:
    pass
heavy = {{"pandas", "scipy", "sklearn", "matplotlib", "torch", "polars", "pyarrow", "bokeh", "jinja2"}}
heavy &= set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


def test_many_detectors_keep_all_their_digits(call, tmp_path):
    path = tmp_path / "many.csv"
    names = [f"a_detector_with_a_long_name_{i}" for i in range(20)]
    path.write_text(f"label,{','.join(names)}\n0{',0.25' * 20}\n1{',0.75' * 20}\n")
    done = call("score", path, "--per-event", "--metrics", "dqe")
    assert done.out.count("1.000") == 8 * 20
    assert "…" not in done.out


def test_names_with_brackets_are_printed_as_they_are(call, tmp_path):
    path = tmp_path / "[bold].csv"
    path.write_text("label,lof[k=3]\n0,0.5\n1,0.7\n")
    done = call("score", path, "--metrics", "dqe")
    assert "[bold].csv: 2 points" in done.out
    assert done.out.count("lof[k=3]") == 1


@pytest.mark.data
@pytest.mark.unmeasured
def test_a_real_series(real_scores, tmp_path):
    name = "094_WSD_id_66_WebService_tr_3309_1st_3914"
    keys = {detector: f"{name}__{detector}" for detector in ("SubLOF", "TimesNet")}
    first = keys["SubLOF"]
    columns = [real_scores[f"{first}/data"].ravel(), real_scores[f"{first}/label"]]
    columns += [real_scores[f"{key}/score"] for key in keys.values()]
    path = tmp_path / "real.csv"
    header = ",".join(["Data", "Label", *keys])
    np.savetxt(path, np.column_stack(columns).astype(float), fmt="%.17g", delimiter=",", header=header, comments="")
    done = run("score", path, "--metrics", "dqe")
    assert done.returncode == 0, done.stderr
    near = dqeval.find_period(columns[0]).or_fallback / 2
    expected = [dqeval.dqe_score(columns[1], scores.astype(float), near=near) for scores in columns[2:]]
    assert row(done.stdout, "DQE ") == pytest.approx(expected, abs=5e-4)


def test_help_whose_reader_has_gone(monkeypatch, capsys):
    gone = []
    monkeypatch.setattr("dqeval.cli.app.app", lambda **_: (_ for _ in ()).throw(BrokenPipeError))
    monkeypatch.setattr(output, "reader_gone", lambda: gone.append(True) or 141)
    assert caller(monkeypatch, capsys)("--help").code == 141
    assert gone == [True]
