"""Whatever is wrong with a file, every command says so in one sentence, without a traceback."""

import re
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import typer

import dqeval
from commands import caller, run, write_demo
from dqeval.cli import entry
from dqeval.cli.app import app
from dqeval.cli.exit_codes import exit_code

NO_ROWS = "the file needs a line that names the columns, and at least one row below it"
UNREADABLE = {
    "missing file": ("bad.csv", None, "No such file"),
    "no header": ("bad.csv", "1,0,0.5\n2,1,0.6\n", "the first line must name the columns, such as value,label,my_det"),
    "0 bytes": ("bad.csv", "", "the file is empty: it needs a line that names the columns, and rows below it"),
    "header only": ("bad.csv", "label,mine\n\n", NO_ROWS),
    "missing column": ("bad.csv", "value,mine\n1,2\n", "no numeric column is called label or is_anomaly; there are va"),
    "same name": ("bad.csv", "label,mine,mine\n1,0,1\n", "two columns have the same name: label, mine, mine"),
    "two labels": ("bad.csv", "label,is_anomaly,mine\n1,0,1\n", "there must be one column for label: found label, is_"),
    "text in a number column": ("bad.csv", "label,mine\n1,0.5\n0,x\n", "column mine must hold numbers: row 2 below"),
    "hole": ("bad.csv", "label,mine\n1,0.5\n0,\n", "row 2 below the header is an empty cell"),
    "hole at the top": ("bad.csv", "label,mine\n1,\n0,2\n", "row 1 below the header is an empty cell"),
    "label as a word": ("bad.csv", "label,mine\n0,1\nyes,1\n", "column label must hold numbers: row 2 below the head"),
    "all labels words": ("bad.csv", "label,mine\nyes,1\n", "no numeric column is called label or is_anomaly; there "),
    "decimal commas": ("bad.csv", "label,mine\n1,0,5\n0,0,7\n", "row 1 below the header has 3 cells, and the header"),
    "short row": ("bad.csv", "label,mine\n1,0.5\n0\n", "row 2 below the header has 1 cells, and the header has 2"),
    "unequal lengths": ("bad.npz", {"label": [0, 1], "mine": [0.5]}, "the columns must have the same length: got la"),
    "endless cell": ("bad.csv", "label,mine\n" + "9" * 200_000, "field larger than field limit"),
    "not text": ("bad.csv", b"\xff\xfe\x08\xff\xfe", "not a text file in UTF-8; save it as one, comma-separated"),
    "directory": (".", None, "there is no series here; expected "),
}
UNDEFINED = {
    "NaN": ("label,mine\n1,0.5\n0,nan\n", "bad.csv: ", " mine: y_score must be finite: 1 of 2 values is not"),
    "no anomaly": ("label,mine\n0,0.5\n0,0.7\n", "bad.csv: ", "no label is 1, so there is no event to"),
    "label of 2": ("label,mine\n0,0.5\n2,0.7\n", "bad.csv: ", "y_true must contain only 0 and 1: 1 of 2 values is not"),
    "infinite value": (
        "value,label,mine\n0,1,1\ninf,0,2\n",
        "bad.csv: ",
        "values must be finite: 1 of 2 values is not",
    ),
}
COMMANDS = {
    "score": [],
    "compare": [],
    "explain": [],
    "report": ["-o", "out.html"],
    "plot": ["-o", "out.png"],
    "check": [],
    "verify": ["receipt.json"],
}

NEED_SCORES = ["score", "compare", "explain", "report", "plot"]


@pytest.fixture(scope="module")
def receipt(tmp_path_factory):
    folder = tmp_path_factory.mktemp("receipt")
    write_demo(folder / "good.csv")
    common = ["--format", "json", "-o", "receipt.json", "--metrics", "dqe", "--score", "sharp"]
    run("score", "good.csv", *common, cwd=folder)
    return (folder / "receipt.json").read_text()


@pytest.fixture
def call(monkeypatch, capsys, tmp_path, receipt):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "receipt.json").write_text(receipt)
    return caller(monkeypatch, capsys)


def write(path, content):
    if isinstance(content, dict):
        np.savez(path, **content)
    elif content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def check_error(done, tmp_path):
    assert (done.code, done.out) == (2, ""), done
    assert done.err.startswith("dqeval: ")
    assert done.err.count("\n") == 1
    assert not list(tmp_path.glob("*out.*"))


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(("name", "content", "message"), UNREADABLE.values(), ids=UNREADABLE)
@pytest.mark.unmeasured(but=["directory", "two labels-compare"])
def test_files_that_cannot_be_read(call, tmp_path, command, name, content, message):
    write(tmp_path / name, content)
    done = call(command, *COMMANDS[command], name)
    check_error(done, tmp_path)
    if command == "verify" and "column" in message:
        return  # its columns are those of the receipt: it may stumble over another one first
    assert f"dqeval: {name}: " in done.err
    assert message in done.err


@pytest.mark.parametrize("command", NEED_SCORES)
@pytest.mark.unmeasured
def test_tables_without_scores(call, tmp_path, command):
    write(tmp_path / "bad.csv", "value,label\n1,0\n")
    done = call(command, *COMMANDS[command], "bad.csv")
    check_error(done, tmp_path)
    assert done.err.startswith("dqeval: bad.csv holds no scores: `dqeval detect` makes some; in a table, each numeric")


@pytest.mark.parametrize("command", NEED_SCORES)
@pytest.mark.parametrize(("content", "start", "message"), UNDEFINED.values(), ids=UNDEFINED)
@pytest.mark.unmeasured(but=["no anomaly"])
def test_files_that_cannot_be_scored(call, tmp_path, command, content, start, message):
    write(tmp_path / "bad.csv", content)
    done = call(command, *COMMANDS[command], "bad.csv")
    check_error(done, tmp_path)
    assert done.err.startswith(f"dqeval: {start}")
    assert message in done.err


@pytest.mark.parametrize(("content", "start", "message"), UNDEFINED.values(), ids=UNDEFINED)
def test_check_finds_what_cannot_be_scored(call, tmp_path, content, start, message):
    write(tmp_path / "bad.csv", content)
    done = call("check", "bad.csv")
    assert (done.code, done.err) == (1, "")
    assert done.out.startswith("bad.csv: 1 error, ")


# Each command once, as a process of its own: what it says of every file is tested above.
AS_PEOPLE_MEET_THEM = {
    "score": "unreadable missing file",
    "compare": "unreadable 0 bytes",
    "explain": "unreadable directory",
    "report": "undefined no anomaly",
    "plot": "undefined NaN",
    "check": "undefined label of 2",
    "verify": "unreadable unequal lengths",
}


@pytest.mark.skipif(not dqeval.kernels.compiled, reason="what is read does not depend on it: one run is enough")
@pytest.mark.parametrize(("command", "case"), AS_PEOPLE_MEET_THEM.items())
@pytest.mark.unmeasured
def test_bad_files_as_people_meet_them(tmp_path, receipt, command, case):
    kind, _, name = case.partition(" ")
    file, content, _ = UNREADABLE[name] if kind == "unreadable" else ("bad.csv", UNDEFINED[name][0], "")
    write(tmp_path / file, content)
    (tmp_path / "receipt.json").write_text(receipt)
    done = run(command, *COMMANDS[command], file, cwd=tmp_path)
    found_by_check = command == "check" and kind == "undefined"
    assert done.returncode == (1 if found_by_check else 2), done
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == (0 if found_by_check else 1)


@pytest.mark.parametrize(
    ("said", "plainly"),
    [
        ("Input should be a valid integer, unable to parse string as an integer", "it should be a whole number"),
        ("Input should be a valid number, unable to parse string as a number", "it should be a number"),
        ("Input should be greater than or equal to 1", "it should be at least 1"),
        ("Value error, 'xml' is not one of 'table', 'json'.", "'xml' is not one of 'table', 'json'"),
        ("'x' is not a valid integer.", "'x' is not a valid integer"),
    ],
)
def test_what_pydantic_says_of_options(said, plainly, capsys):
    def work():
        raise typer.BadParameter(said)

    assert exit_code(work) == 2
    assert capsys.readouterr().err == f"dqeval: Invalid value: {plainly}; see dqeval --help\n"


def sentence(text):
    """The only line that was said, without the name of the program."""
    (line,) = text.splitlines()
    return line.removeprefix("dqeval: ")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("score - <&-", 2, "standard input: it is closed: name a file, or pipe one in"),
        ("score demo.csv >&-", 2, "standard output is closed, and there is nowhere to write: name a file with -o"),
        ("score none.csv 2>&-", 2, ""),
        ("score demo.csv -o out.txt <&- >&- 2>&-", 0, ""),
    ],
)
def test_closed_streams(tmp_path, command, code, said):
    write_demo(tmp_path / "demo.csv", length=460)
    words = ["sh", "-c", f"'{sys.executable}' -m dqeval {command}"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, sentence(done.stderr) if done.stderr else "", done.stdout) == (code, said, "")
    if "-o" in command:
        assert "DQE" in (tmp_path / "out.txt").read_text()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
@pytest.mark.unmeasured
def test_standard_input_that_is_a_file_is_not_overwritten(tmp_path):
    before = write_demo(tmp_path / "demo.csv", length=460).read_bytes()
    words = ["sh", "-c", f"'{sys.executable}' -m dqeval check - --format csv -o demo.csv < demo.csv"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, sentence(done.stderr)) == (2, "demo.csv would overwrite the input; name another file")
    assert (tmp_path / "demo.csv").read_bytes() == before


def test_closed_streams_in_this_process(call, monkeypatch, tmp_path):
    file = write_demo(tmp_path / "demo.csv", length=460)
    monkeypatch.setattr(sys, "stdin", None)
    assert sentence(call("score", "-").err).startswith("standard input: it is closed")
    monkeypatch.setattr(sys, "stdout", None)
    monkeypatch.setattr(sys, "stderr", None)
    assert call("score", file).code == 2
    assert call("score", file, "-o", tmp_path / "out.txt").code == 0


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights on Windows")
def test_links_to_themselves(call, tmp_path):
    file = write_demo(tmp_path / "demo.csv", length=460)
    for name in ("loop.csv", "loop.json", "loop.py"):
        (tmp_path / name).symlink_to(name)
    receipt = tmp_path / "receipt.json"
    assert call("check", file, "--format", "json", "-o", receipt).code == 0
    loop = {name: tmp_path / f"loop.{name}" for name in ("csv", "json", "py")}
    for words in (
        ["score", loop["csv"]],
        ["score", file, "-o", loop["csv"]],
        ["score", file, "--module", loop["py"]],
        ["score", file, "--incidents", loop["csv"]],
        ["report", file, "-o", loop["json"] / "page.html"],
        ["verify", loop["json"], file],
        ["verify", receipt, loop["csv"]],
        ["diff", loop["json"], file],
        ["bench", "rank", loop["json"]],
    ):
        done = call(*words)
        assert (done.code, "loop." in sentence(done.err), "bug" in done.err) == (2, True, False)


def test_other_errors_of_the_runtime_are_bugs(capsys):
    def fail():
        raise RuntimeError("what")

    assert exit_code(fail) == 2
    assert "this is a bug in dqeval: RuntimeError: what" in capsys.readouterr().err


@pytest.mark.unmeasured
@pytest.mark.parametrize("module", ["typer", "dqeval.cli.output", "dqeval.cli.app", "numpy"])
def test_ctrl_c_while_modules_are_imported(tmp_path, module):
    program = f"""
import sys
from dqeval.cli.entry import main

class Interrupt:
    def find_spec(self, name, *_):
        if name == {module!r}:
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupt())
sys.argv = ["dqeval", "score", "demo.csv"]
main()
"""
    write_demo(tmp_path / "demo.csv", length=460)
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "dqeval: interrupted\n")


@pytest.mark.parametrize("command", ["score", "detect", "datasets list", "bench run"])
def test_hints_name_no_option_that_the_command_lacks(call, tmp_path, command):
    """A file without labels has two ways out, which not every command knows."""
    (tmp_path / "bad.csv").write_text("value,mine\n1,2\n")
    plan = 'metrics = ["dqe"]\n[[data]]\npath = "bad.csv"\n[[detector]]\nname = "random_scores"\n'
    (tmp_path / "plan.toml").write_text(plan)
    (tmp_path / "windows.json").write_text('{"a.csv": [[1, 2]], "b.csv": []}')
    arguments = {
        "detect": ["bad.csv", "--detector", "random_scores", "-o", "out"],
        "bench run": ["plan.toml", "-o", "run", "--workers", "1"],
    }
    done = call(*command.split(), *arguments.get(command, ["bad.csv"]))
    assert done.code == 2
    hint = "no numeric column is called label or is_anomaly; there are value, mine; rename the one"
    assert hint in done.out + done.err + call("bench", "failures", "run").out.replace("\n", " ")
    assert not named_options(done) - options_of(command)
    assert named_options(done) == {"--label", "--incidents"} & options_of(command)
    if command == "score":
        assert named_options(call("score", "bad.csv", "--incidents", "windows.json")) == {
            "--series",
            "--incidents",
            "--alerts",
        }
        assert named_options(call("diff", "bad.csv", "bad.csv", "--incidents", "windows.json")) == {
            "--series",
            "--incidents",
        }


def named_options(done):
    return set(re.findall(r"--[a-z]+", done.out + done.err))


def options_of(command):
    found = typer.main.get_command(app)
    for name in command.split():
        found = found.commands[name]
    return {option for parameter in found.params for option in parameter.opts}


def test_an_interrupt_before_a_command_begins(monkeypatch, capsys):
    def interrupt():
        raise KeyboardInterrupt

    monkeypatch.setattr("dqeval.cli.exit_codes.run", interrupt)
    with pytest.raises(SystemExit) as end:
        entry.main()
    assert (end.value.code, capsys.readouterr().err) == (130, "dqeval: interrupted\n")


def test_the_null_device_stands_for_closed_streams(monkeypatch):
    numbers, closed = iter([0, 2, 5]), []
    system = SimpleNamespace(open=lambda *_: next(numbers), close=closed.append, devnull="null", O_RDWR=2)
    monkeypatch.setattr(entry, "os", system)
    entry._fill_closed_streams()
    assert closed == [5]
