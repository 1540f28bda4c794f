"""The installation: what setup.py does with kernels that an earlier build has compiled."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from sysconfig import get_config_var

import pytest

SETUP = Path(__file__).parent.parent / "setup.py"
COMPILED = f"one{get_config_var('EXT_SUFFIX')}"

# In place of Cython, which tests do without: what it hands on is C code.
CYTHONIZE = """
from pathlib import Path
def cythonize(extensions, build_dir, **options):
    for extension in extensions:
        code = Path(build_dir, extension.sources[0]).with_suffix(".c")
        code.parent.mkdir(parents=True, exist_ok=True)
        code.write_text("int one = 1;")
        extension.sources = [str(code)]
    return extensions
"""
PROJECT = """
[project]
name = "dqeval"
version = "0"
[tool.setuptools.packages.find]
where = ["src"]
"""


@pytest.fixture
def tree(tmp_path):
    """A checkout with one kernel, which was compiled before, in the build folder and beside its source."""
    pytest.importorskip("setuptools")
    files = {"pyproject.toml": PROJECT, "cython/Cython/Build.py": CYTHONIZE, "cython/Cython/__init__.py": ""}
    files |= {f"src/dqeval/{name}": "" for name in ("__init__.py", "kernels/__init__.py", "kernels/one.py")}
    files |= {f"{place}/dqeval/kernels/{COMPILED}": "stale" for place in ("src", "build/lib")}
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    shutil.copy(SETUP, tmp_path)
    return tmp_path


def build(tree, *arguments, **environment):
    environment = {**os.environ, "PYTHONPATH": str(tree / "cython"), **environment}
    command = [sys.executable, "setup.py", "build", "--build-lib", "build/lib", *arguments]
    subprocess.run(command, cwd=tree, env=environment, capture_output=True, check=True)


def test_without_a_compiler_nothing_compiled_is_installed(tree):
    build(tree, CC="false")
    assert not (tree / "build/lib/dqeval/kernels" / COMPILED).exists()
    assert (tree / "build/lib/dqeval/kernels/one.py").exists()
    # What an editable installation runs on is not of this build.
    assert (tree / "src/dqeval/kernels" / COMPILED).read_text() == "stale"


def test_without_a_compiler_nothing_compiled_is_left_beside_the_sources(tree):
    build(tree, "build_ext", "--inplace", CC="false")
    assert not (tree / "src/dqeval/kernels" / COMPILED).exists()
    assert (tree / "src/dqeval/kernels/one.py").exists()


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_with_a_compiler_kernels_are_compiled_anew(tree):
    build(tree, "build_ext", "--inplace")
    built = [(tree / place / "dqeval/kernels" / COMPILED).read_bytes() for place in ("src", "build/lib")]
    assert built[0] == built[1] != b"stale"


@pytest.mark.unmeasured
def test_code_with_bounds_checks_is_kept_apart(tree):
    build(tree, CC="false")
    build(tree, CC="false", DQEVAL_BOUNDS_CHECKS="1")
    code = {path.relative_to(tree).parts[1] for path in tree.glob("build/**/one.c")}
    assert code == {"checked", "unchecked"}


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
@pytest.mark.skipif((sys.platform, platform.machine()) != ("linux", "x86_64"), reason="of another kind of processor")
def test_kernels_that_gain_by_wide_registers_are_compiled_twice(tree):
    (tree / "src/dqeval/kernels/neighbours.py").touch()
    build(tree)
    build(tree)  # the copy is there
    built = {path.name.split(".")[0] for path in (tree / "build/lib/dqeval/kernels").glob("*.so")}
    assert built == {"one", "neighbours", "neighbours_avx2"}
