"""What the pages on metrics and detectors of one's own say, done: in a file, in a package, and in a copy of dqeval."""

import dataclasses
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import dqeval

ROOT = Path(__file__).parent.parent
COPIED = ("tests", "docs", "benchmarks", "README.md", "CHANGELOG.md", "conftest.py", "pyproject.toml")
KINDS = {"metrics": "half_f1", "detectors": "moving_mean"}

pytestmark = pytest.mark.slow
every_kind = pytest.mark.parametrize("kind", KINDS)


def blocks(kind, section):
    """Return the code blocks of a section of a page: their language, and what is in them."""
    page = (ROOT / "docs" / f"extending-{kind}.md").read_text(encoding="utf-8")
    (part,) = (part for part in re.split(r"^## (?=In )", page, flags=re.MULTILINE) if part.startswith(f"{section}\n"))
    return [(found[2], found[3]) for found in re.finditer(r"^(`{3,})(\w+)\n(.*?)^\1$", part, re.MULTILINE | re.DOTALL)]


def done(command, folder, **environment):
    """Run a command in a folder, with what is there importable, and return what it says."""
    here = os.pathsep.join([str(folder), str(Path(dqeval.__file__).parent.parent)])
    environment = {**os.environ, "PYTHONPATH": here, **environment}
    found = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, encoding="utf-8")
    assert found.returncode == 0, f"{command}: {found.stdout[-3000:]}{found.stderr[-3000:]}"
    return found.stdout + found.stderr


def dqeval_line(line):
    return [sys.executable, "-m", "dqeval", *shlex.split(line)[1:]]


@every_kind
def test_in_a_file(kind, tmp_path):
    (_, program), (_, console), (_, plan), *_ = blocks(kind, "In a file")
    (tmp_path / f"own_{kind}.py").write_text(program, encoding="utf-8")
    lines = [line.removeprefix("$ ") for line in console.splitlines()]
    said = [done(dqeval_line(line), tmp_path) for line in lines]
    assert KINDS[kind] in said[1]
    series = '[[data]]\ngenerator = "synthetic"\nn = 400\nperiod = 16\nevents = 2\n'
    others = {"metrics": '[[detector]]\nname = "fft"\n', "detectors": ""}
    start = "" if "metrics =" in plan else 'metrics = ["dqe"]\n'
    (tmp_path / "plan.toml").write_text(f"{start}{plan}{series}{others[kind]}")
    assert " 0 failed, 0 left" in done(dqeval_line("dqeval bench run plan.toml -o run --workers 1"), tmp_path)


def test_forms_for_all_thresholds_and_for_several_series(monkeypatch):
    monkeypatch.setattr(dqeval.METRICS, "_entries", dict(dqeval.METRICS._entries))
    (_, program) = blocks("metrics", "In a file")[3]
    exec(program, {})
    series = dqeval.datasets.demo()
    joined = dqeval.compare(series, metrics=["found_f1"], period=48).panels
    for name, scores in series.scores.items():
        values = [dqeval.panel(series.labels, scores, period=48, metrics=["found_f1", "composite_f1"])]
        metric = dqeval.METRICS["found_f1"]
        one_by_one = dataclasses.replace(metric, at_every_level=None, joined=None)
        dqeval.METRICS._entries["found_f1"] = one_by_one
        values.append(dqeval.panel(series.labels, scores, period=48, metrics=["found_f1"]))
        dqeval.METRICS._entries["found_f1"] = metric
        assert values[0]["found_f1"] == joined[name]["found_f1"] == values[0]["composite_f1"]
        assert values[1]["found_f1"] == pytest.approx(values[0]["found_f1"], abs=1e-12)


@every_kind
def test_in_a_package(kind, tmp_path):
    """As if it were installed: by what an installation writes from the page's pyproject.toml."""
    (_, program), *_ = blocks(kind, "In a file")
    (_, project), (_, test) = blocks(kind, "In a package")
    content = tomllib.loads(project)
    ((group, offers),) = content["project"]["entry-points"].items()
    assert content["tool"]["setuptools"]["py-modules"] == [f"own_{kind}"]
    (tmp_path / f"own_{kind}.py").write_text(program, encoding="utf-8")
    (tmp_path / f"test_own_{kind}.py").write_text(test, encoding="utf-8")
    information = tmp_path / f"own_{kind}-1.0.dist-info"
    information.mkdir()
    name, version = content["project"]["name"], content["project"]["version"]
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    lines = [f"[{group}]", *(f"{name} = {value}" for name, value in offers.items())]
    (information / "entry_points.txt").write_text("\n".join(lines))
    assert f"{KINDS[kind]} (" in done(dqeval_line(f"dqeval {kind}"), tmp_path)
    assert " passed" in done([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"], tmp_path)


@pytest.fixture
def copy(tmp_path):
    """Return a copy of dqeval, with compiled kernels if there are any."""
    ignored = shutil.ignore_patterns("_generated", "_build")  # with what was compiled, which is still current
    for name in COPIED:
        take = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        take(ROOT / name, tmp_path / name, **({"ignore": ignored} if (ROOT / name).is_dir() else {}))
    shutil.copytree(Path(dqeval.__file__).parent, tmp_path / "src" / "dqeval", ignore=ignored)
    return tmp_path


def insert(path, text, *, after="", before=""):
    """Put text into a file, once: behind what is there last, or before what is there first."""
    content = path.read_text(encoding="utf-8")
    assert (after or before) in content, f"{path} has no {after or before!r}"
    place = content.rindex(after) + len(after) if after else content.index(before)
    path.write_text(content[:place] + text + content[place:], encoding="utf-8")


def check(folder, *arguments):
    """Run tests of the copy."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--durations=5", *arguments]
    found = done(command, folder, PYTHONPATH=str(folder / "src"), HYPOTHESIS_PROFILE="quick")
    assert " passed" in found
    assert " failed" not in found


def check_source(folder, kind):
    ruff = shutil.which("ruff", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    if ruff is not None:
        done([ruff, "check", "--no-cache", f"src/dqeval/{kind}", "tests"], folder)
        done([ruff, "format", "--no-cache", "--check", f"src/dqeval/{kind}", "tests"], folder)


@pytest.mark.skipif(not dqeval.kernels.compiled, reason="one run is enough, and the interpreted one is slow")
def test_a_metric_in_dqeval_itself(copy):
    steps = [text for _, text in blocks("metrics", "In dqeval itself")]
    source, imported, naive, test, properties, page, row, listed, cost = steps
    (copy / "src/dqeval/metrics/half_events.py").write_text(source, encoding="utf-8")
    insert(copy / "src/dqeval/metrics/__init__.py", imported, before="\n# isort: on")
    insert(
        copy / "src/dqeval/metrics/__init__.py",
        '    "half_f1",\n    "half_parts",\n',
        after='    "false_time_in_alarm",\n',
    )
    insert(copy / "tests/naive.py", f"\n\n{naive}", after="\n")
    insert(copy / "tests/test_metrics.py", test, before='    "pate": (\n')
    insert(
        copy / "tests/test_common.py",
        properties,
        after='    "ucr_score": {"scores", "reversible", "ranks", "single"},\n',
    )
    (copy / "docs/metrics/half_f1.md").write_text(page, encoding="utf-8")
    index = copy / "docs/metrics/index.md"
    insert(index, row, after="[page](ucr_score.md) |\n")
    insert(index, "half_f1\n", after="ucr_score\n")
    insert(copy / "docs/api.md", listed, after=".. autofunction:: affiliation_parts\n")
    insert(copy / "docs/performance.md", cost, before="| vus_roc and vus_pr |")
    check_source(copy, "metrics")
    check(
        *(copy, "src/dqeval/metrics/half_events.py", "README.md", "docs/metrics/index.md", "docs/metrics/half_f1.md"),
        *("tests/test_common.py", "tests/test_docs.py", "tests/test_metrics.py", "tests/test_package.py"),
        *("tests/test_cli.py", "tests/test_panel.py", "tests/test_keywords.py", "tests/test_metric_groups.py"),
        *(
            "-k",
            "half or md or page or overview or documented or links or registry or not_there or prints or cost or group",
        ),
    )
    environment = {"PYTHONPATH": str(copy / "src")}
    assert "half_f1 (Half-F1), takes detections, an example" in done(dqeval_line("dqeval metrics"), copy, **environment)


@pytest.mark.skipif(not dqeval.kernels.compiled, reason="one run is enough, and the interpreted one is slow")
def test_a_detector_in_dqeval_itself(copy):
    steps = [text for _, text in blocks("detectors", "In dqeval itself")]
    source, imported, naive, test, page, row, listed, planned = steps
    (copy / "src/dqeval/detectors/moving_average.py").write_text(source, encoding="utf-8")
    insert(copy / "src/dqeval/detectors/__init__.py", imported, before="\n# isort: on")
    insert(copy / "src/dqeval/detectors/__init__.py", '    "moving_mean",\n', before='    "moving_z_score",\n')
    insert(copy / "tests/naive_detectors.py", f"\n\n{naive}", after="\n")
    insert(copy / "tests/test_detectors.py", f"\n\n{test}", after="\n")
    (copy / "docs/detectors/moving_mean.md").write_text(page, encoding="utf-8")
    index = copy / "docs/detectors/index.md"
    insert(index, row, after="[page](moving_z_score.md) |\n")
    insert(index, "moving_mean\n", after="moving_z_score\n")
    insert(copy / "docs/api.md", listed, after=".. autofunction:: moving_z_score\n")
    insert(copy / "src/dqeval/cli/bench_init.py", f"{planned}\n", before="# The same detector again")
    check_source(copy, "detectors")
    check(
        *(copy, "src/dqeval/detectors/moving_average.py", "docs/detectors/index.md", "docs/detectors/moving_mean.md"),
        *("tests/test_detectors.py", "tests/test_docs.py", "tests/test_package.py", "tests/test_plans.py"),
        *("tests/test_cli_use.py", "-m", "not slow and not torch"),
        *(
            "-k",
            "moving or md or registry or overview or longer_than or document or links or comment or all_det or runs_as",
        ),
    )
    environment = {"PYTHONPATH": str(copy / "src")}
    assert "moving_mean (MovingMean), an example" in done(dqeval_line("dqeval detectors"), copy, **environment)
