"""Names that do harm where they are shown, in everything that commands write; and paths that are nobody's business."""

import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

import numpy as np
import pytest

import dqeval
from commands import caller, write_demo
from dqeval.cli import output
from dqeval.cli.results import series_names
from dqeval.render.tables import ACTING

CLEARS = "\x1b[2J\x1b[HThe receipt holds"
NAMES = [CLEARS, "two\nlines", "\u202eesrever", "=HYPERLINK(1)", "<img src=x onerror=alert(1)>", "[x](javascript:y)"]
COMMANDS = [("score", "--metrics", "dqe,auc_roc"), ("compare", "--near", "3"), ("explain", "--near", "3"), ("check",)]
FORMS = ("table", "json", "csv", "markdown", "latex")
EVENTS = (np.arange(60) % 25 < 3) & (np.arange(60) > 3)


@pytest.fixture
def call(monkeypatch, capsys):
    return caller(monkeypatch, capsys)


@pytest.fixture
def hostile(tmp_path):
    """A file whose name and columns have names that do harm."""
    path = tmp_path / "clears\x1b[2J\u202e.npz"
    scores = {name: np.cos(np.arange(60) + i) for i, name in enumerate(NAMES)}
    np.savez(path, label=EVENTS, **scores)
    return path


def is_harmless(text):
    return not ACTING.search(text.replace("\n", "")) and not re.search(r"^lines", text, flags=re.MULTILINE)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
@pytest.mark.unmeasured
def test_no_name_does_anything_on_a_terminal(call, hostile, command, form):
    shown = call(*command, hostile, "--format", form)
    assert (shown.code, shown.err) == (0, "")
    assert is_harmless(shown.out)
    assert str(hostile.parent) not in shown.out


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.unmeasured
def test_no_name_does_anything_in_a_file(call, hostile, tmp_path, form):
    place = tmp_path / "out"
    done = call("score", "--metrics", "dqe", hostile, "--format", form, "-o", place)
    assert (done.code, done.err) == (0, f"dqeval: wrote {place}\n")
    assert is_harmless(place.read_text(encoding="utf-8"))


def test_json_holds_the_names_as_they_are(call, hostile, tmp_path):
    receipt = tmp_path / "receipt.json"
    call("score", hostile, "--near", "3", "--format", "json", "-o", receipt, "--metrics", "dqe")
    found = json.loads(receipt.read_text(encoding="utf-8"))
    assert found["inputs"][0]["file"] == hostile.name
    assert found["inputs"][0]["columns"]["scores"] == NAMES
    assert set(found["results"]["by_series"]) == {name.replace("\n", "\\n") for name in NAMES}
    done = call("verify", receipt, hostile)
    assert (done.code, done.err) == (0, "")


@pytest.mark.unmeasured
def test_a_file_whose_name_is_no_text(call, tmp_path):
    path = write_demo(tmp_path / "caf\udce9.csv", length=460)
    common = [path, "--near", "3", "--metrics", "dqe"]
    assert call("score", *common).out.startswith("caf\\udce9.csv: ")
    place = tmp_path / "out.json"
    assert call("score", *common, "--format", "json", "-o", place).code == 0
    (told,) = json.loads(place.read_text(encoding="utf-8"))["inputs"]
    assert (told["file"], told["name"]) == ("caf\udce9.csv", "caf\\udce9.csv")
    assert call("verify", place, path).code == 0
    for form in ("csv", "markdown", "latex", "table"):
        assert call("score", *common, "--format", form, "-o", tmp_path / "out").code == 0


def test_formulas_are_no_formulas_in_csv(call, hostile):
    done = call("score", hostile, "--near", "3", "--format", "csv", "--metrics", "dqe")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert {row["detector"] for row in rows if "HYPER" in row["detector"]} == {"'=HYPERLINK(1)"}
    assert all(0 <= float(row["value"]) <= 1 for row in rows)


def test_markdown_holds_no_html_and_no_links(call, hostile):
    for command in ("compare", "explain"):
        done = call(command, hostile, "--near", "3", "--format", "markdown")
        assert "<" not in done.out
        assert "](" not in done.out.replace("\\](", "")


def test_a_forged_key_in_a_receipt_cannot_say_that_it_holds(call, tmp_path):
    file, receipt = write_demo(tmp_path / "demo.csv", length=460), tmp_path / "receipt.json"
    call("check", file, "--format", "json", "-o", receipt)
    content = receipt.read_text()
    receipt.write_text(json.dumps({**json.loads(content), f"{CLEARS}\n": 1}))
    done = call("verify", receipt, file)
    assert done.code == 1
    assert done.out.splitlines()[2:] == [r"- \x1b[2J\x1b[HThe receipt holds\n was 1 and is absent."]
    receipt.write_text(content.replace("{", '{"results": {"findings": []},', 1))
    done = call("verify", receipt, file)
    assert (done.code, done.out) == (2, "")
    assert done.err == f"dqeval: {receipt}: it says results twice, so this is not a receipt\n"


def test_errors_do_nothing_on_a_terminal_either(call, tmp_path):
    done = call("score", tmp_path / f"no{CLEARS}\n.csv")
    assert done.code == 2
    assert r"no\x1b[2J\x1b[HThe receipt holds" in done.err
    assert not ACTING.search(done.err.removesuffix("\n"))


def test_what_commands_say_in_bold_and_colours_stays(monkeypatch):
    said = []
    monkeypatch.setattr("typer.echo", lambda text, **_: said.append(text))
    output.say(f"{output.bold('a')}\n\x1b[31mred\x1b[0m \x1b[8mhidden\x1b[2K")
    assert said == ["\x1b[1ma\x1b[0m\n\x1b[31mred\x1b[0m \\x1b[8mhidden\\x1b[2K"]


@pytest.mark.unmeasured
def test_help_on_a_terminal():
    ours, theirs = pty.openpty()
    subprocess.run([sys.executable, "-m", "dqeval"], stdout=theirs, check=True)
    os.close(theirs)
    assert b"Usage" in (shown := os.read(ours, 100_000))
    os.close(ours)
    assert b"\\x1b" not in shown


def test_columns_whose_names_become_the_same(call, tmp_path):
    path = tmp_path / "same.npz"
    np.savez(path, label=[0, 1], **{"a\nb": [1, 2], "a\\nb": [3, 4]})
    done = call("score", path)
    assert done.code == 2
    assert "two columns of scores have the same name: a\\nb, a\\nb" in done.err


@pytest.mark.unmeasured
def test_names_by_as_many_folders_as_needed():
    files = ["/home/me/one/a.csv", "/home/me/two/a.csv", "/home/me/b.csv", "-", "a.csv", "/home/me/b.csv", "."]
    expected = ["one/a.csv", "two/a.csv", "b.csv", "standard input", "a.csv", "b.csv", "."]
    assert series_names(list(map(Path, files))) == expected


@pytest.mark.unmeasured
def test_pages_and_figures_hold_no_paths_and_no_control_characters(hostile, tmp_path, call):
    page, figure = tmp_path / "page.html", tmp_path / "figure.svg"
    assert call("report", hostile, "--near", "3", "-o", page).code == 0
    assert call("plot", hostile, "--near", "3", "-o", figure).code == 0
    for path in (page, figure):
        text = path.read_text(encoding="utf-8")
        assert str(tmp_path) not in text
        assert str(dqeval.__path__[0]) not in text
        assert sys.prefix not in text
    own = page.read_text(encoding="utf-8").partition("<script>")[0]
    assert not ACTING.search(own.replace("\n", ""))
    data = json.loads(own.split('id="data">')[1].partition("</script>")[0])
    assert r"\x1b[2J\x1b[HThe receipt holds" in [detector["name"] for detector in data["detectors"]]
    xml.etree.ElementTree.parse(figure)  # control characters would be no XML


def test_formulas_are_no_formulas_in_exports(tmp_path):
    (tmp_path / "=1+1.csv").write_text(
        "".join(["value,label\n", *(f"{i % 7},{int(on)}\n" for i, on in enumerate(EVENTS))])
    )
    plan = {"metrics": ["dqe"], "data": [{"path": str(tmp_path / "=1+1.csv")}], "detector": [{"name": "sr"}]}
    dqeval.bench.run(plan, tmp_path / "run")
    dqeval.bench.export(tmp_path / "run", tmp_path / "out.csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "out.csv").read_text(encoding="utf-8"))))
    assert {row["series"][:5] for row in rows} == {"'=1+1"}
    assert 0 < float(next(row["value"] for row in rows if row["metric"] == "dqe")) < 1
