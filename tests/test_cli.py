"""The command line, run as people run it."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dqeval

SCORES = """time,value,label,noisy,good
2026-01-01,1.0,0,0.9,0.1
2026-01-02,2.0,0,0.2,0.0
2026-01-03,9.0,1,0.8,0.9
2026-01-04,8.0,1,0.1,1.0
2026-01-05,1.5,0,0.7,0.1
2026-01-06,2.5,0,0.3,0.2
"""
GOOD, NOISY = [0.1, 0, 0.9, 1, 0.1, 0.2], [0.9, 0.2, 0.8, 0.1, 0.7, 0.3]


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "dqeval", *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        **options,
    )


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(SCORES)
    return path


def numbers(output, detector):
    line = next(line for line in output.splitlines() if line.startswith(detector))
    return [float(cell) for cell in line.split()[1:]]


@pytest.mark.parametrize(("option", "thresholds"), [([], 100), (["--exact"], "exact")])
def test_score(file, option, thresholds):
    done = run("score", file, "--near", "1.5", *option)
    assert done.returncode == 0, done.stderr
    for detector, scores in [("good", GOOD), ("noisy", NOISY)]:
        r = dqeval.evaluate([0, 0, 1, 1, 0, 0], scores, near=1.5, thresholds=thresholds)
        expected = [r.dqe, r.capture, r.near_miss, r.false_alarm]
        assert numbers(done.stdout, detector) == pytest.approx(expected, abs=5e-4)
    detectors = [line.split()[0] for line in done.stdout.splitlines()[4:]]
    assert detectors == ["good", "noisy"]  # the best first, not the first in the file
    swept = "all thresholds" if option else "100 thresholds"
    assert f"scores.csv: 6 points, 1 event, near 1.5, {swept}\n" in done.stdout


def test_score_estimates_the_period_from_the_values(tmp_path):
    t = np.arange(600)
    columns = np.column_stack([np.sin(2 * np.pi * t / 30), t % 200 == 99, t % 200 == 99])
    path = tmp_path / "series.csv"
    np.savetxt(path, columns, delimiter=",", header="Data,Label,mine", comments="")
    done = run("score", path, "--per-event")
    assert "600 points, 3 events, near 15, half the period, 100 thresholds" in done.stdout
    assert "[99, 100)" in done.stdout
    assert "near 20, half the period," in run("score", path, "--period", "40").stdout
    assert "near 7," in run("score", path, "--near", "7").stdout


def test_score_with_chosen_columns_from_standard_input():
    text = "a,b,c,d\n1,0,0.5,9\n2,1,0.9,8\n3,0,0.1,7\n"
    options = ["--value", "a", "--label", "b", "--score", "d", "--score", "c"]
    done = run("score", "-", *options, input=text)
    assert done.returncode == 0, done.stderr
    assert "-: 3 points, 1 event, near 62.5, half the period" in done.stdout
    assert [line.split()[0] for line in done.stdout.splitlines()[4:]] == ["c", "d"]
    assert "no numeric column is called x" in run("score", "-", "--label", "x", input=text).stderr


def test_score_without_values_falls_back(tmp_path):
    path = tmp_path / "series.csv"
    path.write_text("is_anomaly,mine\n0,0.5\n1,0.9\n")
    assert "near 125 by default" in run("score", path).stdout


NO_ROWS = "the file needs a line that names the columns, and at least one row below it"
BAD_FILES = {
    "no file": (None, "No such file"),
    "no header": ("1,0,0.5\n2,1,0.6\n", "the first line must name the columns, such as value,label,my_detector"),
    "empty": ("", NO_ROWS),
    "header only": ("label,mine\n\n", NO_ROWS),
    "no label": ("value,mine\n1,2\n", "no numeric column is called label or is_anomaly; there are value, mine"),
    "no scores": ("value,label\n1,0\n", "no column of scores: beside the labels there must be one numeric column per"),
    "same name": ("label,mine,mine\n1,0,1\n", "two columns have the same name: label, mine, mine"),
    "two labels": ("label,is_anomaly,mine\n1,0,1\n", "there must be one column for label: found label, is_anomaly"),
    "text in a score": ("label,mine\n1,0.5\n0,x\n", "column mine must hold numbers: row 2 below the header is 'x'"),
    "hole": ("label,mine\n1,0.5\n0,\n", "column mine must hold numbers: row 2 below the header is an empty cell"),
    "hole at the top": (
        "label,mine\n1,\n0,2\n",
        "column mine must hold numbers: row 1 below the header is an empty cell",
    ),
    "label as a word": ("label,mine\n0,1\nyes,1\n", "column label must hold numbers: row 2 below the header is 'yes'"),
    "all labels words": ("label,mine\nyes,1\n", "no numeric column is called label or is_anomaly; there are mine"),
    "decimal commas": ("label,mine\n1,0,5\n0,0,7\n", "row 1 below the header has 3 cells, and the header has 2"),
    "short row": ("label,mine\n1,0.5\n0\n", "row 2 below the header has 1 cells, and the header has 2"),
    "endless cell": ("label,mine\n" + "9" * 200_000, "field larger than field limit"),
    "not text": (b"\x1f\x8b\x08\xff\xfe", "not a text file in UTF-8; save it as one, comma-separated"),
    "NaN": ("label,mine\n1,0.5\n0,nan\n", "bad.csv, column mine: y_score must be finite: 1 of 2 values is not"),
    "no anomaly": (
        "label,mine\n0,0.5\n0,0.7\n",
        "bad.csv: no label is 1, so there is no event to score the detectors on",
    ),
    "labels": ("label,mine\n0,0.5\n3,0.7\n", "bad.csv: y_true must contain only 0 and 1: 1 of 2 values is not"),
    "values": ("value,label,mine\n0,1,0.5\ninf,0,0.7\n", "bad.csv: values must be finite: 1 of 2 values is not"),
}


@pytest.mark.parametrize(("text", "message"), BAD_FILES.values(), ids=BAD_FILES)
def test_bad_files_are_one_sentence_on_standard_error(tmp_path, text, message):
    path = tmp_path / "bad.csv"
    if text is not None:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    done = run("score", path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


def test_bad_options(file):
    assert "near must be a finite number of at least 0" in run("score", file, "--near", "-3").stderr
    assert "give at most one of near, period, values" in run("score", file, "--near", "3", "--period", "2").stderr
    assert run("score", file, "--nonsense").returncode == 2
    assert run("nonsense").returncode == 2


def test_score_with_metrics(file):
    done = run("score", file, "--near", "1", "--metrics", "auc_roc, range_f1,dqe")
    assert done.returncode == 0, done.stderr
    for label, name in [("AUC-ROC", "auc_roc"), ("RF", "range_f1"), ("DQE", "dqe")]:
        panels = [dqeval.panel([0, 0, 1, 1, 0, 0], s, near=1, metrics=[name]) for s in (NOISY, GOOD)]
        assert numbers(done.stdout, label) == pytest.approx([panel[name] for panel in panels], abs=5e-4)
    assert "scores.csv: 6 points, near 1\n" in done.stdout
    assert "Metrics of detections are at their best threshold." in done.stdout
    assert "best threshold" not in run("score", file, "--metrics", "dqe").stdout
    assert len(run("score", file, "--metrics", "all").stdout.splitlines()) == 4 + len(dqeval.METRICS) + 1
    assert (
        "dqeval: there is no metric called 'vuspr': did you mean 'vus_pr'?\n"
        in run("score", file, "--metrics", "vuspr").stderr
    )
    assert "did you mean 'range_f1'?" in run("score", file, "--metrics", "RF").stderr
    for option in ("--exact", "--per-event"):
        assert "leave out --metrics" in run("score", file, "--metrics", "dqe", option).stderr


def test_score_with_metrics_says_which_column_is_bad(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("label,mine\n1,0.5\n0,nan\n")
    done = run("score", path, "--metrics", "dqe")
    assert done.returncode == 2
    assert "bad.csv, column mine: y_score must be finite" in done.stderr


def test_score_says_which_metric_failed(tmp_path):
    path = tmp_path / "all.csv"
    path.write_text("label,mine\n1,0.5\n1,0.7\n")
    done = run("score", path, "--near", "1", "--metrics", "auc_roc,auc_pr")
    assert done.returncode == 0
    assert "mine, auc_roc: undefined, because y_true has no normal point" in done.stdout


def test_metrics_lists_them_all():
    lines = run("metrics").stdout.splitlines()
    assert [line.split()[0] for line in lines[::3]] == list(dqeval.METRICS.names)
    assert [line.strip() for line in lines[1::3]] == [metric.summary for metric in dqeval.METRICS]
    assert "    Parameters: window: the period (for detections, near); thresholds: 100. As in: TSB-AD" in lines[11]


def test_score_says_which_columns_are_detections(tmp_path):
    path = tmp_path / "mixed.csv"
    path.write_text("label,mine,alarms\n0,0.5,0\n1,0.7,1\n0,0.1,0\n")
    done = run("score", path, "--near", "1", "--metrics", "vus_pr,range_f1")
    assert "0/1 detections, with other windows and buffers than the scores: alarms." in done.stdout


def test_demo_tells_the_whole_story_in_one_screen():
    done = run("demo")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) <= 40
    assert max(map(len, done.stdout.splitlines())) <= 80
    sharp, late, jumpy = (
        numbers(done.stdout[done.stdout.index("detector") :], name) for name in ("sharp", "late", "jumpy")
    )
    assert sharp[0] > late[0] > jumpy[0]
    assert jumpy[1] > sharp[1]


def test_demo_on_a_terminal_without_block_characters():
    done = subprocess.run(
        [sys.executable, "-m", "dqeval", "demo"],
        capture_output=True,
        env={"PYTHONIOENCODING": "ascii", "PATH": "/usr/bin"},
    )
    assert done.returncode == 0, done.stderr


def test_version_and_help():
    form = "compiled" if dqeval.kernels.compiled else "interpreted"
    assert run("--version").stdout == f"dqeval {dqeval.__version__} (kernels {form})\n"
    assert "score" in run("--help").stdout
    assert "Usage" in run().stdout + run().stderr


def test_plots_and_detectors_are_not_imported_to_score_a_file(file):
    program = f"""
import sys
from dqeval.cli import main
sys.argv = ["dqeval", "score", {str(file)!r}]
try:
    main()
except SystemExit:
    pass
heavy = {{"pandas", "scipy", "sklearn", "matplotlib", "torch", "polars", "pyarrow"}} & set(sys.modules)
assert not heavy, heavy
"""
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


def test_many_detectors_keep_all_their_digits(tmp_path):
    path = tmp_path / "many.csv"
    names = [f"a_detector_with_a_long_name_{i}" for i in range(20)]
    path.write_text(f"label,{','.join(names)}\n0{',0.25' * 20}\n1{',0.75' * 20}\n")
    done = run("score", path, "--per-event", env={**os.environ, "COLUMNS": "80"})
    assert done.stdout.count("1.000") == 5 * 20
    assert "…" not in done.stdout


def test_names_with_brackets_are_printed_as_they_are(tmp_path):
    path = tmp_path / "[bold].csv"
    path.write_text("label,lof[k=3]\n0,0.5\n1,0.7\n")
    done = run("score", path, "--per-event")
    assert "[bold].csv: 2 points" in done.stdout
    assert done.stdout.count("lof[k=3]") == 2


def test_the_commands_in_the_readme(tmp_path):
    series = dqeval.datasets.demo()
    columns = np.column_stack([series.values, series.labels, *series.scores.values()])
    header = ",".join(["value", "label", *series.scores])
    np.savetxt(tmp_path / "scores.csv", columns, delimiter=",", header=header, comments="")
    readme = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
    commands = [line.removeprefix("$ dqeval ") for line in readme.splitlines() if line.startswith("$ dqeval ")]
    assert commands
    for command in commands:
        done = run(*command.split(), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        expected = "nothing to complain about" if command.startswith("check") else "0.577"
        assert expected in done.stdout


def test_check(tmp_path):
    path = tmp_path / "series.csv"
    path.write_text("label,mine\n0,2\n1,2\n0,2\n0,2\n0,2\n0,2\n")
    done = run("check", path)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "error: mine: all scores are 2: the detector says nothing",
        "warning: value: there are no values to estimate the period from: give a period or a near range",
    ]
    assert run("check", tmp_path / "no.csv").returncode == 2
