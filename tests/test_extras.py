"""The hints on what to install."""

import ast
import importlib.metadata
import tomllib
from pathlib import Path

import pytest

import dqeval
from dqeval.core.registry import DETECTORS
from dqeval.support import extras

SOURCE = Path(dqeval.__file__).parent
PROJECT = Path(__file__).parent.parent / "pyproject.toml"
DECLARED = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["project"]["optional-dependencies"]


def named():
    """Return the extras that hints in the sources are made for."""
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "extras.install":
                (argument,) = node.args
                if isinstance(argument, ast.Constant):
                    yield argument.value


@pytest.mark.parametrize("extra", ["bench", "cluster", "deep", "files", "plot", "report"])
def test_hints_name_what_the_project_declares(extra):
    assert extras.install(extra) == " ".join(["pip install", *(f"'{need}'" for need in DECLARED[extra])])


@pytest.mark.unmeasured
def test_hints_are_for_extras_that_there_are():
    assert {*named()} | {detector.extra for detector in DETECTORS} - {None} <= set(DECLARED)


def test_hints_do_not_name_a_package_that_is_on_no_index():
    said = [path for path in SOURCE.rglob("*.py") if "'dqeval[" in path.read_text(encoding="utf-8")]
    assert said == []


@pytest.mark.parametrize(
    "requires",
    [
        ["numpy>=1.26", 'torch>=2.2; extra == "deep"', 'scipy; extra == "deeper"'],  # as setuptools writes them
        ["numpy>=1.26", "torch >=2.2 ; extra == 'deep'", "scipy ; extra == 'deeper'"],  # as others do
    ],
)
def test_hints_follow_from_what_is_installed(requires, monkeypatch):
    monkeypatch.setattr(importlib.metadata, "requires", {"dqeval": requires}.get)
    assert extras.install("deep").replace(" >=", ">=") == "pip install 'torch>=2.2'"


def test_what_is_missing(monkeypatch):
    assert extras.missing(None) is None
    assert extras.missing("somebody's own") is None  # of which nothing is known
    for there in (None, object()):
        monkeypatch.setattr(extras, "find_spec", lambda name, there=there: there)
        assert extras.missing("deep") == ("torch" if there is None else None)


def test_an_error_names_what_is_missing(monkeypatch, tmp_path):
    (tmp_path / "half_there.py").write_text("import no_such_dependency.part\n")
    monkeypatch.syspath_prepend(tmp_path)
    message = r"^No module named 'no_such_dependency', which Half-There needs: install no_such_dependency, too$"
    with pytest.raises(ModuleNotFoundError, match=message) as caught:
        extras.require("half_there", "Half-There")
    assert caught.value.name == "no_such_dependency"
    with pytest.raises(ModuleNotFoundError, match=r"'nowhere_at_all': install it with pip install Nowhere$"):
        extras.require("nowhere_at_all.part", "Nowhere")
    assert extras.require("json", "json").loads("3") == 3
