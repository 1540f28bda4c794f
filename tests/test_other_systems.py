"""What differs on Windows and macOS, as far as Linux can imitate it."""

import ast
import errno
import io
import os
import sys
from pathlib import Path

import pytest
import typer

import dqeval
from dqeval.bench import pool
from dqeval.cli import bench_init, entry, exit_codes, output
from dqeval.support import writing

SOURCE = Path(dqeval.__file__).parent


@pytest.fixture
def windows(monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")


class TestWriting:
    def test_a_file_that_somebody_reads_is_replaced_a_little_later(self, windows, monkeypatch, tmp_path):
        real, failures, pauses = Path.replace, iter([True, True, False]), []

        def replace(place, target):
            if next(failures):
                raise PermissionError(errno.EACCES, "Access is denied", str(place))
            return real(place, target)

        monkeypatch.setattr(Path, "replace", replace)
        monkeypatch.setattr(writing.time, "sleep", pauses.append)
        writing.write_text(tmp_path / "a.txt", "new")
        assert (tmp_path / "a.txt").read_text() == "new"
        assert pauses == [writing._PAUSE] * 2

    @pytest.mark.parametrize(("system", "tries"), [("win32", writing._TRIES + 1), ("linux", 1)])
    def test_a_file_that_stays_open_is_an_error_that_names_it(self, monkeypatch, tmp_path, system, tries):
        tried = []

        def replace(place, target):
            tried.append(target)
            raise PermissionError(errno.EACCES, "Access is denied", str(place))

        monkeypatch.setattr(sys, "platform", system)
        monkeypatch.setattr(Path, "replace", replace)
        monkeypatch.setattr(writing.time, "sleep", lambda seconds: None)
        with pytest.raises(OSError, match="Access is denied") as error:
            writing.write_text(tmp_path / "a.txt", "new")
        assert error.value.filename == str(tmp_path / "a.txt")
        assert len(tried) == tries
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.unmeasured
    def test_text_files_have_the_same_lines_everywhere(self):
        """Whoever writes text says how lines end: otherwise Windows ends them in its own way."""
        silent = []
        for path in SOURCE.rglob("*.py"):
            for call in filter(writes_text, ast.walk(ast.parse(path.read_text(encoding="utf-8")))):
                if not any(keyword.arg == "newline" for keyword in call.keywords):
                    silent.append(f"{path.relative_to(SOURCE).as_posix()}: {ast.unparse(call)}")
        # Lines that are read again by dqeval alone, whatever ends them.
        assert silent == ["experiments/kept_lines.py: path.open('a', encoding='utf-8')"]


def writes_text(node):
    """Return whether a call writes a text file: `place.write_text(…)`, or `….open("w", …)`."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return False
    modes = [argument.value for argument in node.args[:1] if isinstance(argument, ast.Constant)]
    return node.func.attr == "write_text" or (node.func.attr == "open" and modes[:1] in (["w"], ["a"], ["x"]))


class Stream(io.StringIO):
    """Standard output, at a terminal or not, that says how it was told to write."""

    def __init__(self, terminal):
        super().__init__()
        self.terminal, self.told = terminal, {}

    def isatty(self):
        return self.terminal

    def reconfigure(self, **options):
        self.told = options


@pytest.mark.parametrize(
    ("system", "terminal", "asked", "expected"),
    [
        ("win32", False, None, {"errors": "replace", "encoding": "utf-8"}),
        ("win32", True, None, {"errors": "replace"}),  # which knows its own
        ("win32", False, "cp1252", {"errors": "replace"}),
        ("linux", False, None, {"errors": "replace"}),
    ],
)
def test_what_goes_to_files_and_pipes_is_utf_8(monkeypatch, system, terminal, asked, expected):
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.delenv("PYTHONIOENCODING", raising=False)
    if asked:
        monkeypatch.setenv("PYTHONIOENCODING", asked)
    stream = Stream(terminal)
    monkeypatch.setattr(sys, "stdout", stream)
    monkeypatch.setattr(sys, "argv", ["dqeval", "--version"])
    with pytest.raises(SystemExit) as end:
        entry.main()
    assert (end.value.code, stream.told) == (0, expected)


class TestAPipeWithoutAReader:
    gone = OSError(errno.EINVAL, "Invalid argument")

    def test_is_an_invalid_argument_on_windows(self, windows):
        assert output.is_reader_gone(self.gone)
        assert output.is_reader_gone(BrokenPipeError())
        assert not output.is_reader_gone(OSError(errno.EINVAL, "Invalid argument", "a?.csv"))
        assert not output.is_reader_gone(OSError(errno.ENOSPC, "No space left on device"))

    def test_is_told_by_name_elsewhere(self, monkeypatch):
        monkeypatch.setattr(sys, "platform", "darwin")
        assert not output.is_reader_gone(self.gone)
        assert output.is_reader_gone(BrokenPipeError())

    def test_ends_the_command_without_an_error(self, windows, monkeypatch, capsys):
        def fail(error):
            raise error

        monkeypatch.setattr(output, "reader_gone", lambda: 141)
        monkeypatch.setattr(typer, "echo", lambda *_, **__: fail(self.gone))
        with pytest.raises(typer.Exit) as end:
            output.say("some text")
        assert end.value.exit_code == 141
        assert exit_codes.exit_code(lambda: fail(self.gone)) == 141
        assert capsys.readouterr().err == ""

    def test_other_errors_of_standard_output_are_told(self, monkeypatch):
        def fail(*_, **__):
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(typer, "echo", fail)
        with pytest.raises(OSError, match="No space left"):
            output.say("some text")


@pytest.mark.parametrize("error", [ValueError("current limit exceeds maximum limit"), OSError(errno.EINVAL, "no")])
def test_a_limit_of_memory_that_macos_refuses_stops_nothing(monkeypatch, error):
    asked = []

    def refuse(kind, pair):
        asked.append(pair)
        raise error

    pytest.importorskip("resource", reason="Windows has no limits at all")
    monkeypatch.setattr("resource.setrlimit", refuse)
    pool._limit_memory(5)
    assert asked == [(5, 5)]


def test_a_plan_names_data_on_another_drive_in_full(monkeypatch, tmp_path):
    def relpath(path, start):
        raise ValueError("path is on mount 'D:', start on mount 'C:'")

    (tmp_path / "series").mkdir()
    (tmp_path / "series" / "a.csv").write_text("value,label\n1,0\n2,1\n", encoding="utf-8")
    monkeypatch.setattr(os.path, "relpath", relpath)
    bench_init.write_plan(tmp_path / "plan.toml", tmp_path / "series")
    assert f'path = "{(tmp_path / "series").as_posix()}"' in (tmp_path / "plan.toml").read_text(encoding="utf-8")
