"""The command that runs the paper's experiments: what it lists, prints and writes, and what goes wrong."""

import csv
import io
import json
import sys
import time
from functools import partial

import pytest

from commands import caller, run
from dqeval.cli import output
from dqeval.core.entries import Experiment
from dqeval.experiments import EXPERIMENTS, Setting, case_study, cases, detector_runs, reproduce
from dqeval.experiments.outcome import Outcome
from dqeval.experiments.setting import ARCHIVE, NoDataError
from dqeval.render.tables import Table

QUICK = ("KMeansAD", "FFT")


@pytest.fixture
def call(monkeypatch, capsys, tmp_path):
    """Run the command in an empty folder, without real series, in this process."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DQEVAL_DATA", raising=False)
    return partial(caller(monkeypatch, capsys), "reproduce")


@pytest.fixture
def quick(monkeypatch):
    """Have experiments work on short series with two detectors that are fast."""
    monkeypatch.setattr(detector_runs, "usable_detectors", lambda: QUICK)
    monkeypatch.setattr(case_study, "usable_detectors", lambda: QUICK)
    short = partial(detector_runs.generated_series, n=600, period=24, events=3)
    monkeypatch.setattr(detector_runs, "generated_series", short)


@pytest.fixture
def replaced(monkeypatch):
    """Put a function in the place of an experiment."""

    def replace(name, function, **others):
        entry = Experiment(name, name, function, "nothing", others.get("cases", ()), "Do nothing.")
        monkeypatch.setitem(EXPERIMENTS._entries, name, entry)

    return replace


def small(name="cases"):
    return Outcome(name, "A small outcome", {"Table 1": Table(("", "DQE"), [("P1", "0.50")])})


# What there is


def test_a_list_of_all(call):
    found = call()
    assert (found.code, found.err) == (0, "")
    lines = found.out.splitlines()
    assert [line.partition(":")[0].split()[0] for line in lines] == [*EXPERIMENTS.names, "all"]
    assert "case-study wsd|ucr: Five detectors on a WSD and on a UCR series" in found.out
    for experiment, line in zip(EXPERIMENTS, lines, strict=False):
        assert line.endswith(f": {experiment.summary} Beside {experiment.published}.")


def test_nothing_is_written_for_a_list(call, tmp_path):
    call()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rankngs"], "unknown experiment 'rankngs'; did you mean 'rankings'?"),
        (["case_study"], "unknown experiment 'case_study'; did you mean 'case-study'?"),
        (["xyz"], "unknown experiment 'xyz'; choose from cases, scenarios, "),
        (["xyz"], ", check, all\n"),
        (["al"], "unknown experiment 'al'; did you mean 'all'?"),
        (["case-study", "yahoo"], "unknown case 'yahoo' of case-study; choose from wsd, ucr"),
        (["cases", "wsd"], "unknown case 'wsd' of cases; it has none"),
        (["all", "wsd"], "unknown case 'wsd' of cases; it has none"),
        (["cases", "--data", "nowhere"], "'nowhere' does not exist"),
        (["cases", "--data", "file"], "'file' is a file"),
        (["cases", "-o", "file"], "is a file"),
        (["cases", "--subset", "0"], "Invalid value for '--subset'"),
        (["cases", "--seed", "-1"], "Invalid value for '--seed'"),
        (["cases", "--workers", "1", "--scheduler", "x"], "at most one of workers, scheduler"),
    ],
)
def test_what_cannot_be_done(call, tmp_path, arguments, message):
    (tmp_path / "file").write_text("a file")
    found = call(*arguments)
    assert (found.code, found.out, found.err.count("\n")) == (2, "", 1)
    assert message in found.err
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_without_matplotlib_nothing_starts(call, monkeypatch, replaced):
    replaced("cases", lambda setting: pytest.fail("started"))
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    found = call("cases")
    assert (found.code, found.out) == (2, "")
    assert found.err == "dqeval: plots need matplotlib: pip install 'matplotlib>=3.8'\n"


def test_without_scipy_rankings_do_not_start(call, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "scipy", None)
    found = call("rankings", "--quick")
    assert (found.code, found.err) == (2, "dqeval: rankings need SciPy: pip install 'scipy>=1.11'\n")
    assert list(tmp_path.iterdir()) == []


# What is printed and written


@pytest.mark.unmeasured
def test_cases_print_and_write(call, tmp_path):
    found = call("cases")
    assert (found.code, found.err) == (0, "dqeval: wrote reproduced/cases\n")
    assert "as the paper prints them: 176 of 176 numbers." in found.out
    assert "Table 1" in found.out
    with (tmp_path / "reproduced" / "cases" / "cells.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 176
    assert {row["equal"] for row in rows} == {"True"}
    files = {path.name for path in (tmp_path / "reproduced" / "cases").iterdir()}
    assert {"report.md", "claims.csv", "cases.png", "cases.pdf"} <= files
    report = (tmp_path / "reproduced" / "cases" / "report.md").read_text(encoding="utf-8")
    assert "![cases](cases.png)" in report


def test_every_number_as_json(call, undrawn, tmp_path):
    found = call("cases", "--json", "-o", "elsewhere")
    assert (found.code, found.err) == (0, "dqeval: wrote elsewhere/cases\n")
    numbers = json.loads(found.out)
    assert set(numbers) == {"cells", "claims", "notes"}
    assert len(numbers["cells"]) == 176
    for cell in numbers["cells"]:
        assert cell["experiment"] == "cases"
        assert {"table", "row", "metric"} <= set(cell)
        assert cell["equal"] is (f"{cell['ours']:.2f}" == f"{cell['published']:.2f}")  # a half is rounded as printed
    first = numbers["cells"][0]
    expected = cases.expected_numbers("cases")
    assert f"{first['published']:.2f}" == expected[first["table"], first["row"], first["metric"]]
    assert (tmp_path / "elsewhere" / "cases" / "cells.csv").exists()
    assert not (tmp_path / "reproduced").exists()


@pytest.mark.unmeasured
def test_as_people_run_it(tmp_path):
    found = run("reproduce", "cases", "--json", "-o", "out", "--workers", "0", cwd=tmp_path)
    assert (found.returncode, found.stderr) == (0, "dqeval: wrote out/cases\n")
    assert len(json.loads(found.stdout)["cells"]) == 176
    assert (tmp_path / "out" / "cases" / "cases.png").read_bytes().startswith(b"\x89PNG")


def test_what_is_asked_for_reaches_the_experiment(call, tmp_path, replaced, monkeypatch):
    seen = []

    def look(setting):
        seen.append(setting)
        yield small()

    replaced("cases", look, cases=("one",))
    (tmp_path / "data").mkdir()
    call("cases", "one", "--data", "data", "-o", "out", "--subset", 3, "--seed", 5, "--quick", "--workers", 2)
    told = seen[0]
    assert (str(told.data), str(told.folder), told.case) == ("data", "out", "one")
    assert (told.subset, told.seed, told.quick, told.workers, told.scheduler) == (3, 5, True, 2, None)
    monkeypatch.setattr("os.cpu_count", lambda: 7)
    call("cases", "--scheduler", "tcp://host:8786")
    assert (seen[1].workers, seen[1].scheduler, seen[1].quick) == (7, "tcp://host:8786", False)
    monkeypatch.setenv("DQEVAL_DATA", str(tmp_path / "data"))
    call("cases")
    assert (seen[2].data, seen[2].case, seen[2].subset, seen[2].seed) == (tmp_path / "data", None, None, 0)


def test_outcomes_are_shown_as_they_come(call, replaced):
    def two(setting):
        yield small("first")
        yield small("second")

    replaced("cases", two)
    found = call("cases")
    assert found.out.count("A small outcome\n\nTable 1\n") == 2
    assert found.err == "dqeval: wrote reproduced/first, reproduced/second\n"


@pytest.mark.unmeasured
def test_without_series_the_generated_part_runs(call, quick, tmp_path):
    found = call("rankings", "--quick", "--workers", 0)
    assert found.code == 0
    assert "On generated series, as there are no others: the WSD series are needed: unpack" in found.out
    assert ARCHIVE in found.out
    rows = [line for line in found.out.splitlines() if line.startswith(("FFT", "KMeansAD"))]
    assert len(rows) == 8 + 2  # the last two beside SR


def test_a_folder_without_the_series_is_an_error(call, quick, tmp_path):
    (tmp_path / "data").mkdir()
    for experiment in ("rankings", "robustness", "case-study", "thresholds"):
        found = call(experiment, "--quick", "--workers", 0, "--data", "data")
        assert (found.code, found.out) == (2, "")
        assert found.err.startswith("dqeval: data: there are no ")
        assert ARCHIVE in found.err
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_what_needs_no_series_runs_before_the_error(call, replaced, tmp_path):
    for name in EXPERIMENTS.names:
        replaced(name, lambda setting: iter([small()]))
    replaced("thresholds", lacking)
    replaced("rankings", lacking)
    found = call("all")
    assert (found.code, found.out.count("A small outcome")) == (2, len(EXPERIMENTS.names) - 3)
    assert found.err == "dqeval: there is nothing here\n"


def lacking(setting):
    raise NoDataError("there is nothing here")
    yield


@pytest.mark.unmeasured
def test_all_of_them_quickly(call, quick, undrawn, tmp_path):
    found = call("all", "--quick", "--workers", 0)
    assert found.code == 0
    folders = sorted(path.name for path in (tmp_path / "reproduced").iterdir() if (path / "report.md").exists())
    told = found.err.splitlines()[-1].removeprefix("dqeval: wrote ").split(", ")
    assert sorted(told) == [f"reproduced/{name}" for name in folders]
    assert {"cases", "scenarios", "sweeps", "thresholds", "rankings-generated", "robustness-generated"} < set(folders)
    assert "176 of 176 numbers" in found.out
    for title in ("Rankings on synthetic", "Robustness, synthetic"):
        assert f"\n{title}\n" in found.out


# In Python


def test_one_after_the_other(tmp_path, replaced):
    started = []

    def start(name, setting):
        started.append(name)
        yield small(name)

    for name in EXPERIMENTS.names:
        replaced(name, partial(start, name))
    found = reproduce("all", Setting(tmp_path))
    assert started == []
    assert next(found).name == "cases"
    assert started == ["cases"]
    # All but the last, which checks a run that is there.
    assert [outcome.name for outcome in found] == [*EXPERIMENTS.names[1:-1]]
    assert EXPERIMENTS.names[-1] == "check"
    assert [outcome.name for outcome in reproduce("rankings", Setting(tmp_path))] == ["rankings"]


def test_a_case_that_is_there(tmp_path, replaced):
    replaced("case-study", lambda setting: iter([small(setting.case)]), cases=("wsd", "ucr"))
    assert next(reproduce("case-study", Setting(tmp_path, case="ucr"))).name == "ucr"
    with pytest.raises(ValueError, match="unknown case 'x' of case-study; choose from wsd, ucr"):
        next(reproduce("case-study", Setting(tmp_path, case="x")))


# Meanwhile


def told_slowly(setting):
    time.sleep(0.1)
    setting.progress("cases: half of it")
    time.sleep(0.15)
    yield small()


def test_a_plain_line_now_and_then(call, monkeypatch, replaced):
    monkeypatch.setattr(output, "INTERVAL", 0.04)
    replaced("cases", told_slowly)
    lines = call("cases").err.splitlines()
    assert lines[0] == "dqeval: cases: starting"
    assert "dqeval: cases: half of it" in lines
    assert lines[-1] == "dqeval: wrote reproduced/cases"


def test_no_line_within_a_minute(call, replaced):
    replaced("cases", lambda setting: iter([small()]))
    assert output.INTERVAL == 60
    assert call("cases").err == "dqeval: wrote reproduced/cases\n"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_status_on_a_terminal(call, monkeypatch, replaced):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "150")
    monkeypatch.setattr(output, "REFRESH", 0.01)
    replaced("cases", told_slowly)
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    assert "A small outcome" in call("cases").out
    shown = terminal.getvalue()
    assert shown.index("cases: starting") < shown.index("cases: half of it")
    assert shown.endswith("dqeval: wrote reproduced/cases\n")


def test_interrupted(call, tmp_path, replaced):
    def interrupted(setting):
        yield small("first")
        raise KeyboardInterrupt

    replaced("cases", interrupted)
    found = call("cases")
    assert (found.code, found.err) == (
        130,
        "dqeval: stopped: run the same command to resume\ndqeval: interrupted\n",
    )
    assert (tmp_path / "reproduced" / "first" / "report.md").exists()
