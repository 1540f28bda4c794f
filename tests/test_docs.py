"""What the documentation says of the code is so: every metric, name, link and command."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer

import dqeval
from commands import caller
from dqeval.cli.app import app
from dqeval.cli.bench_work import UNFINISHED
from dqeval.cli.entry import INTERRUPTED
from dqeval.cli.output import READER_GONE
from dqeval.experiments import Setting, reproduce
from test_package import adapters

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
BUILT = DOCS / "_generated"
PAGES = sorted(path for path in DOCS.rglob("*.md") if BUILT not in path.parents)
NOTEBOOKS = sorted(path for path in DOCS.rglob("*.ipynb") if BUILT not in path.parents)
REPRODUCTION = (DOCS / "reproduction.md").read_text(encoding="utf-8")
COMMANDS = typer.main.get_command(app).commands
# Made by the build.
PITFALLS = (
    *("scale", "lone_score", "heights", "near_range", "intervals"),
    *("wrong_point", "missing_labels", "chance", "long_regions"),
)
FIGURES = ("curves", "demo", "examples", "regions", *PITFALLS)
MADE_LATER = {BUILT / "commands.md", *(BUILT / f"{name}.svg" for name in FIGURES)}

every_page = pytest.mark.parametrize("page", [*PAGES, *NOTEBOOKS], ids=lambda path: str(path.relative_to(DOCS)))


def text_of(path):
    """Return what a page says; of a notebook, its text without its code."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".ipynb":
        return text
    return "\n\n".join("".join(cell["source"]) for cell in cells(path) if cell["cell_type"] == "markdown")


def cells(notebook):
    """Return the cells of a notebook."""
    return json.loads(notebook.read_text(encoding="utf-8"))["cells"]


def blocks(path, language):
    """Return the code blocks of a page in some language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text_of(path), flags=re.MULTILINE | re.DOTALL)


def anchors(path):
    """Return the anchors of a page: its headings in lower case, with hyphens."""
    headings = re.findall(r"^#+ (.*)$", text_of(path), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def commands_shown(path):
    """Return the commands of dqeval that a page shows: after a prompt, or in a line."""
    code = text_of(path)
    return re.findall(r"^\$ (dqeval .*)$", code, flags=re.MULTILINE) + re.findall(r"`(dqeval [a-z][^`]*)`", code)


@pytest.mark.parametrize("metric", list(dqeval.METRICS), ids=lambda metric: metric.name)
def test_every_metric_has_its_page(metric):
    page = text_of(DOCS / "metrics" / f"{metric.name}.md")
    assert page.startswith(f"# {metric.label}\n")
    assert f"`dqeval.metrics.{metric.function.__name__}" in page
    assert metric.citation in page
    for parameter in {**metric.from_near, **metric.defaults}:
        assert f"`{parameter}`" in page
    for heading in ("By hand", "Parameters", "Elsewhere", "Reference"):
        assert f"\n## {heading}\n" in page


def test_the_overview_lists_every_metric_in_order():
    index = text_of(DOCS / "metrics" / "index.md")
    rows = re.findall(r"^\| \S+ \| `(\w+)` .* \| ([\d.]+) × \| \[page\]\((\w+)\.md\) \|$", index, flags=re.MULTILINE)
    assert rows == [(metric.name, str(metric.cost), metric.name) for metric in dqeval.METRICS]
    assert "\n".join(dqeval.METRICS.names) in index, "not all in the table of contents"


def test_every_public_name_is_documented():
    page = text_of(DOCS / "api.md")
    listed = re.findall(r"^\.\. (?:auto\w+|py:module):: (\S+)$", page, flags=re.MULTILINE)
    names = {name.removeprefix("dqeval.") for name in listed}
    assert set(dqeval.__all__) <= names
    assert set(dqeval.metrics.__all__) <= names
    assert {f"datasets.{name}" for name in dqeval.datasets.__all__} <= names
    assert len(listed) == len(set(listed))
    assert {f"adapters.{name}" for name in adapters()} <= names


ADAPTER_PAGES = [path for path in PAGES if path.parent.name == "adapters" and path.stem != "index"]


@pytest.mark.parametrize("page", ADAPTER_PAGES, ids=lambda path: path.stem)
def test_pages_of_adapters_say_what_to_install_and_what_the_near_range_is(page):
    text = " ".join(text_of(page).split())
    assert "pip install " in text or "need not be installed" in text
    assert "near range" in text.lower()
    assert re.search(r"\b125 points|median length of an event|`slidingWindow`, 100 points", text)


@every_page
def test_links_resolve(page):
    for target in re.findall(r"\]\(([^)]+)\)", re.sub(r"```.*?```", "", text_of(page), flags=re.DOTALL)):
        if re.match(r"https?:", target):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        assert path.exists() or path in MADE_LATER, f"{page.name}: {target} leads nowhere"
        assert not anchor or anchor in anchors(path), f"{page.name}: there is no heading for {target}"


def test_every_page_is_in_a_table_of_contents():
    listed = {DOCS / "index.md"}
    for page in PAGES:
        for block in blocks(page, r"\{toctree\}"):
            names = [line for line in block.split("\n") if line and not line.startswith(":")]
            listed |= {path for name in names for path in page.parent.glob(f"{name}.*") if path.suffix != ".py"}
    assert listed == {*PAGES, *NOTEBOOKS}


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_kept_without_outputs(notebook):
    """The build of the documentation runs them: what it shows is always of this version."""
    code = [cell for cell in cells(notebook) if cell["cell_type"] == "code"]
    assert code
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)


def test_every_exit_code_is_in_the_table():
    rows = re.findall(r"^\| (\d+) \| (.*) \|$", text_of(DOCS / "commands.md"), flags=re.MULTILINE)
    said = {int(code): what for code, what in rows}
    assert list(said) == [0, 1, 2, UNFINISHED, INTERRUPTED, READER_GONE]
    # What can go on after an error ends with the code of an error too: 1 is for verdicts.
    assert all(f"`{command}`" in said[2] for command in ("detect", "datasets list"))
    assert all(f"`{command}`" in said[1] for command in ("check", "verify", "--fail-under"))


def test_the_page_of_commands_says_which_tables_keep_names():
    _, _, said = text_of(DOCS / "commands.md").partition("## Names in the output")
    assert all(f"`{command}`" in said for command in ("detect", "demo -o", "datasets generate"))


@pytest.mark.parametrize("page", [ROOT / "README.md", *PAGES, *NOTEBOOKS], ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_exist(page):
    for shown in commands_shown(page):
        _, first, *rest = shlex.split(shown.replace("…", ""))
        if first == "COMMAND" or first.startswith("-"):
            continue
        assert first in COMMANDS, f"{page.name} shows '{shown}', and there is no such command"
        command = COMMANDS[first]
        if hasattr(command, "commands"):
            assert rest[0] in command.commands, f"{page.name} shows '{shown}', and there is no such command"
            command = command.commands[rest[0]]
        options = {name for parameter in command.params for name in parameter.opts}
        for option in rest:
            assert not re.match(r"--?[a-z]", option) or option in options, f"{page.name}: '{shown}' has no {option}"


SCRIPTS = ("./scripts/demo", "./scripts/test")  # the first is tested below; the second runs this test
NEEDS_AN_ARCHIVE = "dqeval reproduce rankings --data TSB-AD-U/"  # which may not be redistributed
INSTALLS = "pip install ."
# What commands of the README are told in addition here, as they take long otherwise.
LESS = {"dqeval stress": "--metrics dqe --draws 2", "dqeval properties": "--question nearer-miss"}


def lines_to_type(page):
    """Return what the console blocks of a page say to type, from top to bottom."""
    return [line.removeprefix("$ ") for block in blocks(page, "console") for line in block.splitlines()]


@pytest.fixture
def typed(monkeypatch, capsys, tmp_path):
    """Return a function that runs lines of a page one after the other, as if they were typed in an empty folder."""
    monkeypatch.chdir(tmp_path)
    call = caller(monkeypatch, capsys)

    def run(line):
        command, *arguments = shlex.split(line, comments=True)
        assert command == "dqeval", line
        done = call(*arguments)
        assert done.code == 0, f"{line}: {done.err}"
        assert done.out or done.err, f"{line} said nothing"

    return run


@pytest.mark.slow
@pytest.mark.skipif(not dqeval.kernels.compiled, reason="one run is enough, and the interpreted one is slow")
@pytest.mark.unmeasured
def test_every_command_block_of_the_readme_runs(typed):
    lines = lines_to_type(ROOT / "README.md")
    left_out = [line for line in lines if line.startswith((*SCRIPTS, NEEDS_AN_ARCHIVE))]
    assert len(left_out) == 3
    assert len(lines) > 20
    for line in lines:
        if line not in left_out:
            command = " ".join(line.split()[:2])
            typed(line.replace(command, f"{command} {LESS.get(command, '')}", 1))


@pytest.mark.slow
@pytest.mark.skipif(not dqeval.kernels.compiled, reason="one run is enough, and the interpreted one is slow")
@pytest.mark.unmeasured
def test_every_command_block_of_the_quickstart_runs(typed):
    lines = lines_to_type(DOCS / "quickstart.md")
    assert lines[0] == INSTALLS
    assert len(lines) > 20
    for line in lines[1:]:
        # All detectors but for the neural networks, which take minutes here.
        typed(line.replace("--detector all", "--detector kmeans_ad,sub_lof,fft,sr"))


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="it is a script for a shell")
@pytest.mark.parametrize("fails", [False, True])
def test_the_demo_says_what_it_does_while_it_builds(tmp_path, fails):
    """With a Python that only pretends to install, slowly."""
    (tmp_path / "scripts").mkdir()
    for name in ("demo", "environment.sh"):
        shutil.copy(ROOT / "scripts" / name, tmp_path / "scripts")
    for name in ("pyproject.toml", "setup.py", "src/dqeval/kernels/dqe.py", "python"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "python").write_text(
        f"""#!/bin/sh
case "$*" in
    "-m venv"*)
        mkdir -p .venv/bin
        cp "$0" .venv/bin/python
        echo 'echo shown' > .venv/bin/dqeval
        chmod +x .venv/bin/*;;
    "-m pip"*)
        echo Building wheel: started
        for turn in $(seq 600); do grep -q "s: Building wheel" shown && break; sleep 0.1; done
        echo done: {int(fails)}
        exit {int(fails)};;
esac
"""
    )
    (tmp_path / "python").chmod(0o755)
    environment = {**os.environ, "PYTHON": str(tmp_path / "python"), "DQEVAL_SIGN_OF_LIFE": "1"}
    demo = [str(tmp_path / "scripts" / "demo")]
    # The installation ends when it has been said that it goes on, however long that takes.
    with (tmp_path / "shown").open("w") as out:
        done = subprocess.run(demo, env=environment, stdout=out, stderr=subprocess.PIPE, text=True, check=False)
    lines = (tmp_path / "shown").read_text().splitlines()
    assert lines[0] == "== Making a virtual environment in .venv"
    assert lines[1].startswith("== Installing dqeval: downloads packages and compiles the kernels; a minute or two")
    assert any(re.fullmatch(r"   \d+ s: Building wheel", line) for line in lines[2:])
    assert (done.returncode, "shown" in lines) == ((1, False) if fails else (0, True))
    assert ("done: 1" in done.stderr) == fails


@pytest.mark.slow
@pytest.mark.skipif(not dqeval.kernels.compiled, reason="the sweeps are slow with interpreted kernels")
@pytest.mark.parametrize("name", ["cases", "scenarios", "sweeps"])
@pytest.mark.unmeasured
def test_tables_that_need_no_data_are_what_the_experiments_give(name, tmp_path):
    for outcome in reproduce(name, Setting(tmp_path)):
        outcome.write(tmp_path)
    shown = re.findall(rf"<!-- table {name}/(\w+) -->\n\n(.*?)\n<!-- end -->", REPRODUCTION, flags=re.DOTALL)
    assert shown
    for table, text in shown:
        assert text == text_of(tmp_path / name / f"{table}.md")


def test_every_mark_of_the_page_on_reproduction_has_its_table():
    tables = re.findall(r"<!-- table ([\w/-]+) -->\n(.*?)<!-- end -->", REPRODUCTION, flags=re.DOTALL)
    assert len(tables) == REPRODUCTION.count("<!-- table ")
    assert [name for name, text in tables if not text.strip()] == []
    assert [name for name, text in tables if not (name.endswith("/notes") or text.startswith("\n|"))] == []


def test_figures_that_are_kept_are_shown():
    kept = [path.relative_to(DOCS).as_posix() for path in (DOCS / "reproduction").rglob("*") if path.is_file()]
    assert kept
    assert [path for path in kept if f"({path})" not in REPRODUCTION] == []
