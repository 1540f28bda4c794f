"""What several files say of the package is the same in all of them."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT = PYPROJECT["project"]
EXTRAS = PROJECT["optional-dependencies"]
RECIPE = yaml.safe_load((ROOT / "recipe/recipe.yaml").read_text(encoding="utf-8"))
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
NOXFILE = (ROOT / "noxfile.py").read_text(encoding="utf-8")

# As conda calls what has another name there.
OTHER_NAMES = {"matplotlib": "matplotlib-base", "torch": "pytorch", "Cython": "cython"}


def pythons():
    """Return the Python versions that the package says it is for."""
    said = [re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", text) for text in PROJECT["classifiers"]]
    return [found[1] for found in said if found]


def as_in_conda(needs):
    """Return requirements as a recipe has them: names of conda, and a space before the version."""
    parts = [re.fullmatch(r"([A-Za-z0-9_-]+)(>=.*)", need).groups() for need in needs]
    return sorted(f"{OTHER_NAMES.get(name, name)} {version}" for name, version in parts)


def is_text(need):
    return isinstance(need, str)


def test_version_is_the_same_everywhere():
    newest = re.search(r"^## (\S+) \(", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert {PROJECT["version"], CITATION["version"], RECIPE["context"]["version"], newest[1]} == {PROJECT["version"]}


def test_citation_names_the_paper():
    paper = CITATION["preferred-citation"]
    assert (paper["year"], paper["month"]) == (2026, 3)
    assert paper["url"].endswith("/2603.06131")
    assert [one["value"] for one in paper["identifiers"]] == ["arXiv:2603.06131"]


def test_addresses_and_summary_are_the_same():
    assert CITATION["repository-code"] == RECIPE["about"]["repository"] == PROJECT["urls"]["Source"]
    assert CITATION["abstract"] == RECIPE["about"]["summary"] == PROJECT["description"]
    assert RECIPE["about"]["documentation"] == PROJECT["urls"]["Documentation"]
    assert CITATION["license"] == RECIPE["about"]["license"] == PROJECT["license"]


def test_conda_recipe_needs_what_the_package_needs():
    needs = RECIPE["requirements"]
    python = f"python {PROJECT['requires-python']}"
    everywhere = [need for need in PROJECT["dependencies"] if ";" not in need]
    on_windows = [need.partition(";")[0] for need in PROJECT["dependencies"] if "win32" in need]
    assert sorted(filter(is_text, needs["run"])) == sorted([python, *as_in_conda(everywhere)])
    # tzdata comes with conda's Python.
    (rule,) = (need for need in needs["run"] if not is_text(need))
    assert rule == {"if": "win", "then": as_in_conda(set(on_windows) - {"tzdata"})[0]}
    assert {*as_in_conda(PYPROJECT["build-system"]["requires"])} <= {*needs["host"]}
    for_users = {"bench", "benchmark", "cluster", "deep", "files", "plot", "report", "reproduce"}
    optional = {need for extra in for_users for need in EXTRAS[extra]}
    assert sorted(needs["run_constraints"]) == as_in_conda(optional)


def test_conda_recipe_has_the_commands_of_the_package():
    commands = [f"{name} = {where}" for name, where in PROJECT["scripts"].items()]
    assert RECIPE["build"]["python"]["entry_points"] == commands
    assert {RECIPE["package"]["name"], PROJECT["name"]} == {"dqeval"}


def test_extra_all_has_every_extra_for_users():
    (everything,) = EXTRAS["all"]
    named = set(re.fullmatch(r"dqeval\[(.*)\]", everything)[1].split(","))
    assert named == set(EXTRAS) - {"all", "benchmark", "dev", "docs", "test"}


def test_test_extra_has_what_the_documentation_needs():
    assert {*EXTRAS["docs"]} <= {*EXTRAS["test"]}


@pytest.mark.parametrize("place", ["tests.yml", "noxfile.py", "wheels", "cibuildwheel"])
def test_every_python_is_tested(place):
    text = {
        "tests.yml": (ROOT / ".github/workflows/tests.yml").read_text(encoding="utf-8"),
        "noxfile.py": NOXFILE,
        "wheels": (ROOT / "scripts/wheels").read_text(encoding="utf-8"),
        "cibuildwheel": PYPROJECT["tool"]["cibuildwheel"]["build"].replace("cp3", "3."),
    }[place]
    found = sorted(set(re.findall(r"\b3\.1\d\b", text)))
    assert found == sorted(pythons()) != []


def test_oldest_numpy_is_the_one_that_is_allowed():
    (allowed,) = (
        need.partition(">=")[2] for need in PROJECT["dependencies"] if need.startswith("numpy") and ";" not in need
    )
    assert f'"3.11": "{allowed}.0"' in NOXFILE


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_actions_are_pinned_by_hash_with_the_version_beside_it(path):
    used = re.findall(r"^ *(?:- )?uses: (.*)$", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    ours = "./.github/workflows/"
    assert used
    for use in used:
        assert use.startswith(ours) or re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", use)


def test_one_action_has_one_hash():
    uses = set(re.findall(r"uses: ([\w-]+/[\w-]+)@(\S+)", "".join(path.read_text("utf-8") for path in WORKFLOWS)))
    assert len({action for action, _ in uses}) == len(uses) > 0


def test_hooks_are_of_the_tools_that_the_tests_run():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))["repos"]
    ids = {hook["id"] for repository in hooks for hook in repository["hooks"]}
    assert {"ruff-check", "ruff-format", "mypy", "codespell", "rumdl", "actionlint", "zizmor"} <= ids
