"""The package as a whole: who imports whom, what an import costs, what is public."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import dqeval

SOURCE = Path(dqeval.__file__).parent

# From the bottom up: a module may import from its own layer and from those before it; "|" parts siblings that may not.
LAYERS = [
    {"extras", "tables", "drawing", "writing", "places", "naming"},
    {"types", "registry"},
    {"evaluation"},
    {"kernels"},
    {"validate", "events", "partition", "thresholds", "period", "scored", "parts", "explanation", "versions"},
    {"metrics", "|", "datasets", "detectors"},
    {"clock", "evaluate", "panel", "check", "scoring"},
    {"explain", "compare", "bench"},
    {"report", "several", "receipts"},
    {"experiments"},
    {"cli"},
]
OUTSIDE = {"__init__", "__main__"}


def layer(name):
    return next(i for i, names in enumerate(LAYERS) if name in names)


def imported(path):
    """Return the parts of dqeval that a module imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.level:
            raise AssertionError(f"{path}: relative imports hide who imports whom")
        if isinstance(node, ast.ImportFrom) and node.module == "dqeval":
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dqeval."):
            names = [node.module.split(".")[1]]
        elif isinstance(node, ast.Import):
            # The package as a whole stands above all its parts but the command line.
            names = [(*alias.name.split("."), "cli")[1] for alias in node.names if alias.name.split(".")[0] == "dqeval"]
        yield from (name for name in names if name != "__version__")


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_who_imports_whom(path):
    own = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    if own in OUTSIDE:
        return
    for other in imported(path):
        assert layer(other) <= layer(own), f"{own} imports {other}, which is above it"
        siblings = "|" in LAYERS[layer(own)] and layer(other) == layer(own)
        assert other == own or not siblings, f"{own} imports its sibling {other}"


def test_every_module_has_a_layer():
    tops = {path.relative_to(SOURCE).parts[0].removesuffix(".py") for path in SOURCE.rglob("*.py")}
    assert tops - OUTSIDE == set().union(*LAYERS) - {"|"}


def test_import_needs_numpy_alone():
    """Whatever else is installed is out of reach, and an evaluation still works."""
    program = """
import sys
class OnlyNumpy:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in sys.stdlib_module_names and top not in ("numpy", "dqeval", "cython"):
            raise ImportError(name)
sys.meta_path.insert(0, OnlyNumpy())
import dqeval
assert dqeval.dqe_score([0, 1, 0], [0, 1, 0], values=[1, 2, 3], thresholds="exact") == 1
print(dqeval.evaluate([0, 1, 0], [0, 1, 0], near=1))
"""
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


def test_public_names():
    for name in dqeval.__all__:
        assert getattr(dqeval, name).__doc__, f"{name} has no docstring"
    assert dqeval.__version__.count(".") == 2
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        dqeval.nonsense  # noqa: B018
