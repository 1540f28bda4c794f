"""The command line as people use it: files to try, folders, names, help, completion, and lines that fit a terminal."""

import csv
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import typer

import dqeval
from commands import caller, run, write_clean, write_demo
from dqeval.analysis.findings import Checked
from dqeval.analysis.several import Several
from dqeval.bench.plan import read_plan
from dqeval.cli import help as helping
from dqeval.cli import options, output
from dqeval.cli.app import app
from dqeval.cli.examples import EXAMPLES
from dqeval.datasets import load
from dqeval.detectors import DETECTORS
from dqeval.support import extras

ROOT = typer.main.get_command(app)


@pytest.fixture
def call(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    return caller(monkeypatch, capsys)


@pytest.fixture
def folder(tmp_path):
    """Return a folder with two short series, one of them in a folder of its own, and something else."""
    path = tmp_path / "scored"
    (path / "more").mkdir(parents=True)
    write_demo(path / "one.csv", length=500)
    write_demo(path / "more" / "two.csv", length=600)
    (path / "notes.md").write_text("not a series")
    return path


def leaves(group, prefix=""):
    for name, command in group.commands.items():
        yield f"{prefix}{name}", command
        yield from leaves(command, f"{prefix}{name} ") if hasattr(command, "commands") else ()


COMMANDS = dict(leaves(ROOT))


# Files to try things on


def test_demo_writes_its_series(call, tmp_path):
    done = call("demo", "-o", "scores.csv")
    assert (done.code, done.out, done.err) == (0, "", "dqeval: wrote scores.csv\n")
    rows = list(csv.reader((tmp_path / "scores.csv").read_text().splitlines()))
    assert rows[0] == ["timestamp", "value", "label", "sharp", "late", "jumpy"]
    assert [row[0] for row in (rows[1], rows[2], rows[-1])] == [
        "2026-01-01T00:00:00",
        "2026-01-01T00:30:00",
        "2026-02-03T07:30:00",
    ]
    there, series = dqeval.datasets.read_columns(tmp_path / "scores.csv"), dqeval.datasets.demo()
    np.testing.assert_array_equal(there.values, series.values)
    np.testing.assert_array_equal(there.labels, series.labels)
    for name, scores in series.scores.items():
        np.testing.assert_array_equal(there.scores[name], scores)
    assert "demo -o scores.csv" in call("demo").out
    assert "there is no directory" in call("demo", "-o", "nowhere/scores.csv").err


def test_generated_series(call, tmp_path):
    done = call(
        "datasets", "generate", "-o", "new/series", "--count", "2", "--points", "600", "--events", "3", "--seed", "4"
    )
    assert (done.code, done.err) == (0, "dqeval: wrote 2 files to new/series\n")
    first, second = sorted((tmp_path / "new" / "series").iterdir())
    made = dqeval.datasets.synthetic(n=600, events=3, seed=5)
    there = load(second)
    assert (there.train_stop, first.name[:12]) == (150, "synthetic_4_")
    np.testing.assert_array_equal(there.values, made.values)
    np.testing.assert_array_equal(there.labels, made.labels)
    done = call("datasets", "generate", "-o", "series", "--points", "10")
    assert (done.code, (tmp_path / "series").exists()) == (2, False)
    assert "need at least" in done.err


def test_a_plan_that_runs_as_it_is(call, tmp_path):
    done = call("bench", "init")
    assert done.code == 0
    assert done.err == "dqeval: wrote plan.toml; to run it: dqeval bench run plan.toml -o runs/today\n"
    plan = read_plan(tmp_path / "plan.toml")
    assert len(plan.series) == 6
    quick = [each.name for each in DETECTORS if each.extra is None and not each.trains]
    assert [each.name for each in plan.detectors] == ["sub_lof", "kmeans_ad", *quick[2:]]
    again = call("bench", "init")
    assert (again.code, again.err) == (2, "dqeval: plan.toml already exists: name another file, or remove it first\n")


def test_a_plan_for_series_of_ones_own(call, tmp_path):
    name = 'my "own" series'
    assert call("datasets", "generate", "-o", name, "--count", "1").code == 0
    assert call("bench", "init", "plans/new", "--data", name).code == 0
    path = tmp_path / "plans" / "new" / "plan.toml"
    assert tomllib.loads(path.read_text())["data"] == [{"path": f"../../{name}"}]
    assert [each.source.path.name[:11] for each in read_plan(path).series] == ["synthetic_0"]
    assert "does not exist" in call("bench", "init", "x.toml", "--data", "nowhere").err
    (tmp_path / "empty").mkdir()
    refused = call("bench", "init", "x.toml", "--data", "empty")
    assert refused.code == 2
    assert refused.err.startswith("dqeval: empty: there is no series here; expected ")
    assert not (tmp_path / "x.toml").exists()


def test_every_comment_of_a_plan_can_be_switched_on(call, tmp_path):
    """What is commented out is valid too, but for the words between."""
    assert call("datasets", "generate", "-o", "series", "--count", "1").code == 0
    call("bench", "init", "--data", ".")
    lines = (tmp_path / "plan.toml").read_text().splitlines()
    switched = [re.sub(r"^# (?=\[\[|\w+ = )", "", line) for line in lines]
    content = tomllib.loads("\n".join(switched))
    assert len(switched) > len(lines) - 1
    assert {entry["name"] for entry in content["detector"]} == set(DETECTORS.names)
    assert set(content) == {"metrics", "seeds", "bounds", "timeout", "memory", "near", "data", "detector", "scores"}


# Several files, and folders


@pytest.mark.unmeasured
def test_compare_a_folder(call, folder):
    done = call("compare", "scored", "--period", "48", "--fail-under", "dqe=0.99")
    assert re.findall(r"^(\w+\.csv): \d event", done.out, flags=re.MULTILINE) == ["two.csv", "one.csv"]
    assert "All 2 series. sharp has the highest DQE in 2 of them." in done.out
    means = dict(re.findall(r"dqe of (\w+) is ([\d.]+), below 0.99", done.err))
    found = [dqeval.datasets.read_columns(path) for path in (folder / "one.csv", folder / "more" / "two.csv")]
    for name, mean in means.items():
        each = [dqeval.dqe_score(series.labels, series.scores[name], period=48) for series in found]
        assert float(mean) == pytest.approx(np.mean(each), abs=1e-5)
    assert (done.code, sorted(means)) == (1, ["jumpy", "late", "sharp"])


def test_a_receipt_of_several_comparisons(call, folder):
    done = call("compare", "scored/one.csv", "scored/more", "--score", "late", "--format", "json", "-o", "receipt.json")
    assert done.code == 0, done.err
    results = json.loads(Path("receipt.json").read_text())["results"]
    assert [each["name"] for each in results["series"]] == ["one.csv", "two.csv"]
    assert results["series"][0]["results"]["series"] == "one.csv"
    assert call("verify", "receipt.json", "scored/one.csv", "scored/more").code == 0
    assert call("verify", "receipt.json", "scored/more", "scored/one.csv").code == 1


def test_explain_several_files(call, folder):
    done = call("explain", "scored", "--score", "late")
    assert re.findall(r"^(\w+\.csv):\n\nlate: DQE", done.out, flags=re.MULTILINE) == ["two.csv", "one.csv"]
    assert "All 2 series.\n" in done.out
    rows = list(csv.DictReader(io.StringIO(call("explain", "scored", "--format", "csv").out)))
    assert {row["series"] for row in rows} == {"one.csv", "two.csv"}


@pytest.mark.unmeasured
def test_detectors_that_not_every_file_has(call, folder):
    (folder / "more" / "two.csv").write_text("label,sharp,new\n0,0.1,0\n1,0.9,0.2\n0,0.2,0.5\n")
    done = call("compare", "scored", "--near", "1")
    header, _, two, one, mean = done.out.splitlines()[-5:]
    assert header.split() == ["DQE", "of", "series", "sharp", "new", "jumpy", "late"]
    assert two.split()[-2:] == ["nan", "nan"]
    assert one.split()[2] == "nan"
    assert "nan" not in mean


@pytest.mark.unmeasured
def test_check_a_folder(call, folder):
    assert call("check", "scored").out.endswith("All 2 series: 0 with errors, 0 without problems.\n")
    write_clean(folder / "clean.csv")
    assert call("check", "scored").out.endswith("All 3 series: 0 with errors, 1 without problems.\n")
    (folder / "clean.csv").unlink()
    (folder / "bad.csv").write_text("label,mine\n0,2\n1,2\n0,2\n0,2\n0,2\n0,2\n")
    done = call("check", "scored")
    assert (done.code, done.out.splitlines()[-1]) == (
        1,
        "All 3 series: 1 with errors, 0 without problems.",
    )
    assert call("check", "scored", "--format", "csv").out.startswith("series,level,column,message\nbad.csv,error,mine,")


@pytest.mark.unmeasured
def test_score_a_folder(call, folder):
    assert call("score", "scored", "--metrics", "dqe").out.startswith("2 series, 4 events")


def test_a_folder_without_series(call, tmp_path):
    (tmp_path / "empty").mkdir()
    done = call("score", "empty")
    assert done.code == 2
    assert done.err.startswith("dqeval: empty: there is no series here; expected EasyTSAD")
    done = call("score", "empty", "--score", "mine")
    assert done.err.startswith("dqeval: empty: there is no series here; expected table")


def test_reports_on_a_folder(call, folder, tmp_path):
    done = call("report", "scored", "-o", "pages/new", "--score", "late", "--fail-under", "dqe=0")
    assert (done.code, done.err) == (0, "dqeval: wrote 2 files to pages/new\n")
    assert sorted(path.name for path in (tmp_path / "pages" / "new").iterdir()) == ["one.html", "two.html"]
    assert "<title>two.csv" in (tmp_path / "pages" / "new" / "two.html").read_text(encoding="utf-8")
    done = call("report", "scored", "-o", "page.html")
    assert done.err == "dqeval: -o page.html is one file, and there are 2 to write: name a folder, such as out\n"


@pytest.mark.unmeasured
def test_figures_of_a_folder(call, folder, tmp_path):
    done = call("plot", "scored", "-o", "figures", "--score", "late", "--format", "svg", "--fail-under", "dqe=0.999")
    assert (done.code, done.err.splitlines()[0]) == (1, "dqeval: wrote 2 files to figures")
    assert len(done.err.splitlines()) == 2
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == ["one.svg", "two.svg"]


@pytest.mark.unmeasured
def test_files_of_the_same_name_get_pages_of_their_own(call, tmp_path, monkeypatch):
    for name in ("a/x.csv", "b/X.csv", "c/x_2.csv"):
        (tmp_path / name).parent.mkdir()
        write_demo(tmp_path / name, length=300)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((tmp_path / "a" / "x.csv").read_bytes())))
    done = call("plot", "a", "b", "c", "-", "-o", "out", "--format", "png", "--score", "late")
    assert done.code == 0, done.err
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "X_2.png",
        "standard_input.png",
        "x.png",
        "x_2_2.png",
    ]


@pytest.mark.unmeasured
def test_files_whose_names_some_system_does_not_take(call, tmp_path):
    (tmp_path / "odd").mkdir()
    for name in ("CON.csv", "a:b.csv", "fine.csv"):
        write_demo(tmp_path / "odd" / name, length=300)
    done = call("plot", "odd", "-o", "out", "--format", "png", "--score", "late")
    assert done.code == 0, done.err
    device, colon, fine = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert device.startswith("CON~")
    assert colon.startswith("a_b~")
    assert fine == "fine.png"


@pytest.fixture
def with_a_quiet_one(folder):
    """Return the folder with a series more, of which no label is 1."""
    rows = (folder / "one.csv").read_text().splitlines()
    at = rows[0].split(",").index("label")
    cells = [row.split(",") for row in rows[1:]]
    quiet = [",".join([*row[:at], "0", *row[at + 1 :]]) for row in cells]
    (folder / "quiet.csv").write_text("\n".join([rows[0], *quiet]))
    return folder


QUIET = "Left out, because no label there is 1: quiet.csv."


@pytest.mark.parametrize("command", ["score", "compare", "explain"])
@pytest.mark.unmeasured
def test_series_without_an_anomaly_are_left_out_and_named(call, with_a_quiet_one, command):
    done = call(command, with_a_quiet_one, "--score", "late")
    assert done.code == 0, done.err
    assert QUIET in done.out
    assert call(command, with_a_quiet_one, "--score", "late", "--format", "json", "-o", "receipt.json").code == 0
    assert json.loads(Path("receipt.json").read_text())["results"]["left_out"] == ["quiet.csv"]
    assert "The receipt holds" in call("verify", "receipt.json", with_a_quiet_one).out
    alone = call(command, with_a_quiet_one / "quiet.csv", "--score", "late")
    assert (alone.code, "quiet.csv: no label is 1" in alone.err) == (2, True)


@pytest.mark.unmeasured
def test_pages_of_series_without_an_anomaly_are_left_out_and_named(call, with_a_quiet_one, tmp_path):
    done = call("plot", with_a_quiet_one, "-o", "out", "--format", "png", "--score", "late")
    assert done.code == 0
    assert done.err == f"dqeval: wrote 2 files to out\ndqeval: {QUIET}\n"
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["one.png", "two.png"]
    alone = call("plot", with_a_quiet_one / "quiet.csv", "-o", "alone.png", "--score", "late")
    assert (alone.code, "quiet.csv: no label is 1" in alone.err) == (2, True)


def test_a_check_says_nothing_of_detectors():
    checked = Checked("a", ())
    assert Several((("a", checked), ("b", checked))).means == {}


# Names: one convention


@pytest.mark.parametrize("given", [["--metrics", "dqe,auc_roc"], ["--metrics", "dqe", "--metrics", "auc_roc, dqe"]])
def test_metrics_with_commas_or_repeated(call, folder, given):
    done = call("score", "scored/one.csv", *given, "--format", "json")
    assert json.loads(done.out)["parameters"]["metrics"] == ["dqe", "auc_roc"]


def test_all_metrics_by_name(call, folder):
    done = call("score", "scored/one.csv", "--metrics", "all", "--format", "json", "--score", "late")
    assert json.loads(done.out)["parameters"]["metrics"] == list(dqeval.METRICS.names)
    assert call("score", "scored/one.csv", "--metrics", ",").err == (
        "dqeval: name at least one metric: dqeval metrics lists them\n"
    )


@pytest.mark.parametrize("given", [["--score", "late,sharp"], ["--score", "late", "--score", "sharp"]])
def test_scores_with_commas_or_repeated(call, folder, given):
    done = call("score", "scored/one.csv", *given, "--metrics", "dqe")
    assert done.out.splitlines()[2].split() == ["metric", "late", "sharp"]


def test_columns_with_commas_in_their_names(call, tmp_path):
    (tmp_path / "odd.csv").write_text('label,"lof, k=3",lof\n0,0.5,1\n1,0.9,0\n0,0.1,1\n')
    done = call("score", "odd.csv", "--score", "lof, k=3", "--near", "1", "--metrics", "dqe")
    assert done.out.splitlines()[2].split() == ["metric", "lof,", "k=3"]
    done = call("score", "odd.csv", "--score", "lof, k=3", "--score", "lof", "--near", "1", "--metrics", "dqe")
    assert done.out.splitlines()[2].split() == ["metric", "lof,", "k=3", "lof"]
    assert "no numeric column is called k=4" in call("score", "odd.csv", "--score", "lof,k=4").err


def test_all_detectors(call, tmp_path, monkeypatch):
    """Without torch, and where training has no end, some are left out, and that is no failure."""
    call("datasets", "generate", "-o", "series", "--count", "1", "--points", "400", "--period", "16", "--events", "2")
    monkeypatch.setattr(extras, "find_spec", lambda name: None if name == "torch" else find_spec(name))
    done = call("detect", "series", "--detector", "all", "-o", "scored")
    assert done.code == 0, done.err
    assert "dqeval: left out, as torch is not installed: cnn, timesnet\n" in done.err
    (written,) = (tmp_path / "scored").iterdir()
    assert list(load(written).scores) == [each.name for each in DETECTORS if not each.trains]


# Help


def help_of(command, path):
    return helping.page(command, command.context_class(command, info_name=f"dqeval {path}".strip()))


@pytest.mark.parametrize("path", ["", *COMMANDS])
def test_help(path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = help_of(COMMANDS.get(path, ROOT), path)
    plain = re.sub(r"\x1b\[\d*m", "", shown)
    assert max(map(len, plain.splitlines())) <= 80
    assert "<" not in plain
    assert "None" not in plain
    assert re.search(r"\n\nExamples\n  dqeval ", plain)


@pytest.mark.parametrize("path", COMMANDS)
def test_every_option_says_what_follows_it(path):
    for parameter in COMMANDS[path].params:
        assert parameter.help, f"{parameter.name} of {path} has no help"
        assert parameter.metavar or getattr(parameter, "is_flag", False), f"{parameter.name} of {path} has no metavar"


def test_help_on_a_terminal(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[1mOptions\x1b[0m\n  " in help_of(COMMANDS["score"], "score")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in help_of(COMMANDS["score"], "score")


def test_what_help_says_of_options(call):
    shown = " ".join(call("reproduce", "--help").out.split())
    assert "dqeval reproduce [OPTIONS] [EXPERIMENT] [CASE] " in shown
    assert "-o, --output DIR " in shown
    assert "[default: reproduced]" in shown
    assert "[environment: DQEVAL_DATA]" in shown
    assert "--quick Run a small version" in shown
    assert "[default: one per CPU]" in shown
    assert "[required]" in call("detect", "--help").out
    assert "[default: table]" in call("score", "--help").out
    assert "dqeval bench [OPTIONS] COMMAND [ARGS]..." in call("bench", "--help").out


def test_examples_are_of_commands_that_exist():
    assert set(EXAMPLES) == {"", *COMMANDS}


@pytest.mark.parametrize("path", [path for path in COMMANDS if not hasattr(COMMANDS[path], "commands")])
def test_examples_can_be_parsed(path, call, tmp_path):
    for place in ("series", "TSB-AD-U"):
        (tmp_path / place).mkdir()
    for example, _ in EXAMPLES[path]:
        words = shlex.split(example.removeprefix(f"dqeval {path}"))
        with COMMANDS[path].make_context(path, words) as context:
            assert example.startswith(f"dqeval {path}")
            assert set(context.params) == {parameter.name for parameter in COMMANDS[path].params}


# What is imported


@pytest.mark.parametrize("arguments", [["--version"], ["--help"], ["bench", "--help"], ["score", "--help"]])
@pytest.mark.unmeasured
def test_help_needs_nothing_that_computes(arguments):
    program = (
        "import sys; from dqeval.cli.entry import main; sys.argv = ['dqeval', *sys.argv[1:]]\n"
        "try: main()\n"
        "except SystemExit: print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=True)
    imported = set(done.stderr.split())
    assert "dqeval.cli.output" in imported
    assert not imported & {"numpy", "rich", "typer.rich_utils", "jinja2", "bokeh", "dqeval.metrics", "dqeval.datasets"}
    assert not [name for name in imported if name.startswith(("dqeval.analysis", "dqeval.bench", "dqeval.lab"))]


@pytest.mark.unmeasured
def test_a_command_imports_what_it_computes_with():
    program = "import sys; from dqeval.analysis.receipt_commands import COMMANDS; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert not {"dqeval.analysis.compare", "dqeval.analysis.near_profile", "dqeval.lab"} & set(done.stdout.split())


# Completion


def completed(line, **more):
    environment = {**os.environ, "_DQEVAL_COMPLETE": "complete_bash", "COMP_WORDS": line, **more}
    environment["COMP_CWORD"] = str(len(line.split(" ")) - 1)
    program = "import sys; sys.argv = ['dqeval']; from dqeval.cli.entry import main; main()"
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("dqeval sc", ["score"]),
        ("dqeval bench ra", ["rank"]),
        ("dqeval score x.csv --metrics dqe,auc", ["dqe,auc_roc", "dqe,auc_pr"]),
        ("dqeval detect x.csv --detector s", ["sub_lof", "sr"]),
        ("dqeval score x.csv --per", ["--period", "--per-event"]),
    ],
)
@pytest.mark.unmeasured
def test_completion(line, expected):
    assert completed(line) == expected


def test_names_are_completed_after_commas():
    """In this process, too."""
    assert options.completer(options.metrics_and_groups)("dqe,a") == [
        "dqe,auc_roc",
        "dqe,auc_pr",
        "dqe,affiliation_f1",
        "dqe,adtqc",
        "dqe,all",
    ]
    assert options.completer(options._detector_names)("") == [*DETECTORS.names, "all"]


@pytest.mark.unmeasured
def test_the_script_for_completion():
    program = "import sys; sys.argv = ['dqeval']; from dqeval.cli.entry import main; main()"
    environment = {**os.environ, "_DQEVAL_COMPLETE": "source_bash"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "complete -o" in done.stdout
    assert "_DQEVAL_COMPLETE" in done.stdout
    for option in ("--install-completion", "--show-completion"):
        assert option in run("--help").stdout


# What fits a terminal


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("width", [40, 80, 200])
@pytest.mark.unmeasured
def test_sentences_are_wrapped_on_a_terminal(call, folder, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    piped = call("explain", "scored/one.csv", "--score", "late").out
    monkeypatch.setattr(sys, "stdout", terminal := Terminal())
    call("explain", "scored/one.csv", "--score", "late")
    assert (
        max(map(len, terminal.getvalue().splitlines())) <= min(width, output.WIDEST) < max(map(len, piped.splitlines()))
    )
    assert terminal.getvalue().split() == piped.split()


def test_errors_are_wrapped_on_a_terminal(call, folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    piped = call("score", "scored/one.csv", "--metrics", "nonsense").err
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    call("score", "scored/one.csv", "--metrics", "nonsense")
    assert piped.count("\n") == 1
    assert terminal.getvalue().count("\n") > 2
    assert max(map(len, terminal.getvalue().splitlines())) <= 60
    assert terminal.getvalue().split() == piped.split()


def test_listings_are_wrapped_on_a_terminal(call, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setenv("NO_COLOR", "1")
    for command in ("detectors", "metrics", "reproduce"):
        monkeypatch.setattr(sys, "stdout", terminal := Terminal())
        call(command)
        assert max(map(len, terminal.getvalue().splitlines())) <= 60, command


def test_findings_are_wrapped_in_their_column(call, tmp_path, monkeypatch):
    (tmp_path / "series.csv").write_text("label,mine\n0,2\n1,2\n0,2\n0,2\n0,2\n0,2\n")
    monkeypatch.setenv("COLUMNS", "50")
    monkeypatch.setattr(sys, "stdout", terminal := Terminal())
    call("check", "series.csv")
    lines = terminal.getvalue().splitlines()
    assert max(map(len, lines)) <= 50
    assert lines[4:8] == [
        "error    mine    all scores are 2: the detector",
        "                 says nothing",
        "warning  label   only 1 event: from fewer than 5",
        "                 there is no confidence interval,",
    ]
