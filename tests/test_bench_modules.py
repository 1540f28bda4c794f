"""Detectors of one's own: where their modules may lie, and what may be wrong with them."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from commands import caller, run
from dqeval import bench
from dqeval.bench import kept_plan
from dqeval.bench.jobs import run_job
from dqeval.bench.plan import make_plan
from dqeval.core.registry import DETECTORS, METRICS
from test_bench import one_job

DOCS = Path(__file__).parent.parent / "docs" / "bench.md"
DATA = '[[data]]\ngenerator = "synthetic"\nn = 500\nperiod = 16\nevents = 3\n'
MINE = """
import numpy as np
import dqeval


@dqeval.detector(label="Mine")
def mine(values):
    return np.abs(values)
"""


@pytest.fixture(autouse=True)
def _as_before(monkeypatch):
    """Forget what a test imports and makes importable."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    yield
    for name in {"beside", "own_detectors"} & (set(sys.modules) - before):
        del sys.modules[name]


def write_plan(folder, module=MINE, detector="mine", **keys):
    folder.mkdir(exist_ok=True)
    (folder / "beside.py").write_text(module)
    lines = [f"{key} = {value!r}" for key, value in {"modules": ["beside"], "metrics": ["dqe"], **keys}.items()]
    path = folder / "plan.toml"
    path.write_text("\n".join([*lines, DATA, f'[[detector]]\nname = "{detector}"\n']))
    return path


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.unmeasured
def test_a_module_beside_the_plan_is_found(tmp_path, workers):
    write_plan(tmp_path / "plans")
    (tmp_path / "elsewhere").mkdir()

    def call(*arguments):
        found = run("bench", *arguments, cwd=tmp_path / "elsewhere")
        assert found.returncode == 0, found.stderr
        return found

    call("run", "../plans/plan.toml", "-o", "run", "--workers", workers)
    # The run keeps a copy of the plan, and the module is not beside that.
    assert call("status", "run", "--module", "../plans/beside.py").stdout.endswith(" 0 failed, 0 left\n")
    call("retry", "run", "--workers", workers)


def test_a_module_in_another_folder(tmp_path):
    path = write_plan(tmp_path / "plans", modules_in="../code")
    (tmp_path / "code").mkdir()
    (tmp_path / "plans" / "beside.py").rename(tmp_path / "code" / "beside.py")
    assert bench.run(path, tmp_path / "run").failed == 0
    assert bench.read_plan(tmp_path / "run" / "plan.json").modules_in == str((tmp_path / "code").resolve())
    with pytest.raises(ValueError, match="modules_in must be the name of a folder: got 3"):
        bench.make_plan({"modules_in": 3})


@pytest.fixture
def theirs(tmp_path, monkeypatch):
    """The folder of somebody's run, whose module leaves a file when it is imported."""
    module = f"from pathlib import Path\nPath(__file__).with_name('ran').touch()\n{MINE}"
    path = write_plan(tmp_path / "plans", f"{module}\n\n{METRIC}", metrics=["dqe", "all_right"])
    registries = [(registry, dict(registry._entries)) for registry in (DETECTORS, METRICS)]
    assert bench.run(path, tmp_path / "run").failed == 0
    for registry, entries in registries:
        monkeypatch.setattr(registry, "_added", entries)
    del sys.modules["beside"]
    (tmp_path / "plans" / "ran").unlink()
    return tmp_path / "run"


METRIC = """
@dqeval.metric(takes="scores", label="All right")
def all_right(y_true, y_score):
    return 1.0
"""
BY_NAME = "all_right is shown by name alone: no code of a run is imported to look at it; --module "
UNKNOWN = (
    "the plan has modules of its own, which are imported to run it, not to look at it; if you trust that code, add "
)


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["bench", "status", "run"], "1 job done, 0 failed; the number of jobs left is unknown"),
        (["bench", "status", "run"], UNKNOWN),
        (["bench", "failures", "run"], ""),
        (["bench", "rank", "run"], BY_NAME),
        (["bench", "export", "run", "-o", "all.csv"], ""),
        (["bench", "merge", "run", "-o", "merged"], ""),
        (["bench", "report", "run", "-o", "bench.html"], "wrote bench.html; it has no pages of series, and says why"),
        (["bench", "report", "run", "-o", "bench.html"], BY_NAME),
        (["bench", "site", "run", "-o", "site", "--pages", "1"], UNKNOWN),
        (["bench", "site", "run", "-o", "site"], BY_NAME),
        (["diff", "run", "run"], BY_NAME),
    ],
)
def test_looking_at_somebodys_run_runs_none_of_its_code(theirs, monkeypatch, capsys, command, told):
    monkeypatch.chdir(theirs.parent)
    found = caller(monkeypatch, capsys)(*command)
    assert found.code == 0
    assert told in found.out + found.err
    assert not (theirs.parent / "plans" / "ran").exists()
    assert "beside" not in sys.modules
    if command[0] == "diff" or command[1] in ("status", "rank", "report", "site"):
        found = caller(monkeypatch, capsys)(*command, "--module", "plans/beside.py")
        assert found.code == 0
        assert "--module" not in found.out + found.err
        assert "no pages" not in found.err


def test_a_site_that_was_made_with_a_module(theirs, monkeypatch, capsys):
    monkeypatch.chdir(theirs.parent)
    call = caller(monkeypatch, capsys)
    assert call("bench", "site", "run", "-o", "site", "--pages", "1", "--module", "plans/beside.py").code == 0
    assert call("verify", "site/receipt.json", "run").code == 0  # it is imported already
    for registry in (DETECTORS, METRICS):
        monkeypatch.setattr(
            registry, "_added", {k: v for k, v in registry._added.items() if v.function.__module__ != "beside"}
        )
    del sys.modules["beside"]
    told = call("verify", "site/receipt.json", "run")
    assert told.code == 1
    assert BY_NAME in told.out
    assert UNKNOWN in told.out


def test_what_is_not_known_of_a_run_without_a_plan(theirs, tmp_path):
    bench.merge([theirs], tmp_path / "merged")
    assert kept_plan.unknown_metrics(tmp_path / "merged").endswith("; --module with the file that defines it does that")
    (tmp_path / "merged" / "plan.json").write_text('{"modules": 5}')
    assert kept_plan.unknown_metrics(tmp_path / "merged").endswith("; --module with the file that defines it does that")
    with pytest.raises(ValueError, match=r"add --module another --module .*run/../plans/beside.py$"):
        make_plan({"modules": ["sys", "another", "../plans/beside.py"]}, folder=tmp_path / "run", imports=False)


def test_without_modules_nothing_becomes_importable(tmp_path):
    bench.make_plan({"data": [{"generator": "synthetic"}], "detector": [{"name": "fft"}]}, folder=tmp_path)
    assert str(tmp_path) not in sys.path


@pytest.mark.parametrize(
    ("module", "message"),
    [
        ("def (:", "SyntaxError: invalid syntax (beside.py, line 1)"),
        ("1 + 'a'", "TypeError: unsupported operand type(s) for +: 'int' and 'str'"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("raise ValueError('two\\nlines')", "ValueError: two lines"),
        ("import no_such_thing", "it imports no_such_thing, which is not found: install it, or put it beside"),
        (MINE.replace("def mine", "def fft"), "ValueError: a detector named 'fft' already exists"),
    ],
)
@pytest.mark.unmeasured
def test_a_module_that_cannot_be_imported(tmp_path, module, message):
    path = write_plan(tmp_path, module)
    found = run("bench", "run", path.name, "-o", "run", cwd=tmp_path)
    assert (found.returncode, found.stdout, found.stderr.count("\n")) == (2, "", 1)
    assert f"the module beside of the plan cannot be imported: {message}" in found.stderr


def test_a_job_brings_the_folder_of_its_modules(tmp_path):
    # As on a cluster, whose workers have not read the plan.
    write_plan(tmp_path)
    job = replace(one_job(tmp_path / "scores", "mine"), modules=("beside",), modules_in=str(tmp_path))
    assert not run_job(job).failed


@pytest.mark.unmeasured
def test_a_script_may_be_a_module_of_its_own_plan(tmp_path):
    script = MINE + (
        "\nif __name__ == '__main__':\n    from dqeval import bench\n"
        "    data = [{'generator': 'synthetic', 'n': 400, 'period': 16, 'events': 2}]\n"
        "    plan = {'modules': ['beside'], 'metrics': ['dqe'], 'data': data, 'detector': [{'name': 'mine'}]}\n"
        "    print(bench.run(plan, 'run', workers=1).failed)\n"
    )
    (tmp_path / "beside.py").write_text(script)
    found = subprocess.run([sys.executable, "beside.py"], cwd=tmp_path, capture_output=True, text=True)
    assert found.stdout == "0\n", found.stderr


def test_the_example_of_the_page_works_as_it_stands(tmp_path):
    page = DOCS.read_text(encoding="utf-8").partition("### Detectors of your own")[2].partition("\n## ")[0]
    module, plan = (page.partition(f"```{kind}\n")[2].partition("```")[0] for kind in ("python", "toml"))
    (tmp_path / "own_detectors.py").write_text(module)
    (tmp_path / "plan.toml").write_text(f'metrics = ["dqe"]\n{plan}\n{DATA}')
    assert bench.run(tmp_path / "plan.toml", tmp_path / "run").failed == 0
    with bench.Store(tmp_path / "run") as store:
        assert all(np.isfinite(row["value"]) for row in store.values())
