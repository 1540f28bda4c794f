"""The installation: what setup.py does with kernels that an earlier build has compiled."""

import os
import platform
import shutil
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from sysconfig import get_config_var

import pytest

SETUP = Path(__file__).parent.parent / "setup.py"
OWN = get_config_var("EXT_SUFFIX")
STABLE = next((suffix for suffix in EXTENSION_SUFFIXES if "abi3" in suffix or suffix == ".pyd"), OWN)
if get_config_var("Py_GIL_DISABLED"):
    STABLE = OWN
COMPILED = f"one{STABLE}"
STALE = (COMPILED, f"one{OWN}", "two.cpython-399-x86_64-linux-gnu.so")

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
    files = {
        "pyproject.toml": PROJECT,
        "cython/Cython/Build.py": CYTHONIZE,
        "cython/Cython/__init__.py": "__version__ = '3'",
    }
    files |= {f"src/dqeval/{name}": "" for name in ("__init__.py", "kernels/__init__.py", "kernels/one.py")}
    files |= {f"{place}/dqeval/kernels/{name}": "stale" for place in ("src", "build/lib") for name in STALE}
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
    assert [path.name for path in sorted((tree / "build/lib/dqeval/kernels").iterdir())] == ["__init__.py", "one.py"]
    # What an editable installation runs on is not of this build.
    assert (tree / "src/dqeval/kernels" / COMPILED).read_text() == "stale"


def test_without_a_compiler_nothing_compiled_is_left_beside_the_sources(tree):
    build(tree, "build_ext", "--inplace", CC="false")
    assert [path.name for path in sorted((tree / "src/dqeval/kernels").iterdir())] == ["__init__.py", "one.py"]


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_with_a_compiler_kernels_are_compiled_anew(tree):
    build(tree, "build_ext", "--inplace")
    built = [(tree / place / "dqeval/kernels" / COMPILED).read_bytes() for place in ("src", "build/lib")]
    assert built[0] == built[1] != b"stale"
    assert not any((tree / "src/dqeval/kernels" / name).exists() for name in STALE if name != COMPILED)


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_without_a_stable_abi_kernels_are_compiled_for_one_python(tree):
    # As a free-threaded Python says of itself.
    patch = "import sysconfig\nsysconfig.get_config_vars()['Py_GIL_DISABLED'] = 1\n"
    (tree / "cython/sitecustomize.py").write_text(patch, encoding="utf-8")
    build(tree)
    built = {path.name for path in (tree / "build/lib/dqeval/kernels").glob("*.so")}
    assert built == {f"one{OWN}", f"_shared{OWN}"}


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
@pytest.mark.parametrize("failing", ["one", "_shared"])
def test_what_cannot_be_compiled_leaves_nothing_that_cannot_be_imported(tree, failing):
    code = (tree / "cython/Cython/Build.py").read_text()
    code = code.replace('"int one = 1;"', f'"#error" if extension.name.endswith("{failing}") else "int one = 1;"')
    (tree / "cython/Cython/Build.py").write_text(code)
    build(tree)
    built = {path.name.split(".")[0] for path in (tree / "build/lib/dqeval/kernels").glob("*.so")}
    assert built == ({"_shared"} if failing == "one" else set())


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
    assert built == {"one", "neighbours", "neighbours_avx2", "_shared"}
