"""The package as a whole: who imports whom, what an import costs, what is public."""

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import dqeval

SOURCE = Path(dqeval.__file__).parent

# From the bottom up: a module may import from its own layer and from those before it; "|" parts siblings that may not.
# A package stands for all of its modules that are not named apart.
LAYERS = [
    {
        *("support.extras", "support.frames", "support.hints", "support.modules", "support.naming"),
        *("support.on_demand", "support.short_paths", "support.threads", "support.writing"),
        *("render.tables", "render.drawing", "core.arguments", "core.confidence"),
    },
    {"core.types", "core.event_scores", "core.entries", "core.metric_groups", "core.registry"},
    {"analysis.panel_result"},
    {"kernels"},
    {
        *("core.validate", "core.events", "core.partition", "core.pieces", "core.near"),
        *("core.levels", "core.thresholds"),
        *("core.scaling", "core.durations", "core.timeline", "core.moments", "core.regions", "core.sampling"),
        *("core.agreement", "core.alarms", "core.batches", "core.metric_choice", "core.sorting", "core.spans"),
        *("core.numeric_arrays", "core.paired", "analysis.rank", "core.sweep", "core.joined"),
        *("core.prepared", "core.matching", "core.times", "core.zones", "analysis.explain_result", "support.versions"),
    },
    {"metrics", "|", "datasets", "detectors"},
    {
        *(
            "analysis.best_threshold",
            "analysis.clock",
            "analysis.evaluate",
            "analysis.frames",
            "analysis.free_choices",
            "analysis.timed_result",
            "analysis.time_intervals",
            "analysis.panel",
            "analysis.panel_run",
            "analysis.chance",
            "analysis.result",
            "analysis.check",
            "analysis.findings",
            "analysis.no_detector",
        ),
        *(
            "analysis.alarms",
            "analysis.detect",
            "analysis.each_detector",
            "analysis.incidents",
            "analysis.many",
            "analysis.many_result",
            "analysis.metric_function",
            "analysis.near_profile",
            "analysis.pitfalls",
            "analysis.score",
            "analysis.score_result",
            "analysis.suggestion",
        ),
    },
    {"analysis.explain", "analysis.explained_events", "analysis.compare", "analysis.compare_result", "bench"},
    {"lab"},
    {
        *("render", "analysis.several", "analysis.walk", "analysis.receipt_commands", "analysis.receipts"),
        *("analysis.verify", "analysis.verify_site", "analysis.diff", "analysis.diff_result", "analysis.diff_sides"),
    },
    {"experiments"},
    {"lab.paper_rows", "lab.measures", "lab.matrix", "lab.matrix_result", "lab.property_page"},
    {"cli", "|", "adapters"},
]
NAMED = set().union(*LAYERS) - {"|"}
ROOMS = {"core", "analysis", "render", "support", "cli"}  # what is public in them is at the top of dqeval
OUTSIDE = {"", "__main__", "core", "analysis", "support"}  # they import nothing, or anything


def name_of(path):
    """Return the dotted name of a module within dqeval; that of dqeval itself is empty."""
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def part_of(name):
    """Return what a module, or a name in one, counts as in LAYERS."""
    parts = name.split(".")
    return next(part for stop in range(len(parts), 0, -1) if (part := ".".join(parts[:stop])) in NAMED)


def layer(part):
    return next(i for i, names in enumerate(LAYERS) if part in names)


def imported(path):
    """Return the parts of dqeval that a module imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.level:
            raise AssertionError(f"{path}: relative imports hide who imports whom")
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "dqeval":
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            # The package as a whole stands above all its parts but the command line.
            names = [
                f"{alias.name}{'.cli' if alias.name == 'dqeval' else ''}"
                for alias in node.names
                if alias.name.split(".")[0] == "dqeval"
            ]
        yield from (part_of(name.removeprefix("dqeval.")) for name in names if name != "dqeval.__version__")


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda path: str(path.relative_to(SOURCE)))
def test_who_imports_whom(path):
    if name_of(path) in OUTSIDE:
        return
    own = part_of(name_of(path))
    for other in imported(path):
        assert layer(other) <= layer(own), f"{own} imports {other}, which is above it"
        siblings = "|" in LAYERS[layer(own)] and layer(other) == layer(own)
        assert other == own or not siblings, f"{own} imports its sibling {other}"


def test_every_layer_has_a_module():
    names = {name_of(path) for path in SOURCE.rglob("*.py")}
    assert {part_of(name) for name in names - OUTSIDE} == NAMED


@pytest.mark.parametrize("room", sorted(ROOMS))
def test_a_room_has_one_door(room):
    """What is public in it has its name at the top of dqeval, and only there."""
    content = ast.parse((SOURCE / room / "__init__.py").read_text(encoding="utf-8")).body
    assert len(content) == 1
    assert ast.get_docstring(ast.Module(content, [])) is not None


PUBLIC = ["dqeval", "dqeval.metrics", "dqeval.datasets", "dqeval.detectors", "dqeval.bench", "dqeval.experiments"]


@pytest.mark.parametrize("package", PUBLIC)
def test_no_public_name_hides_a_module(package):
    """Otherwise ``import dqeval.x as x`` gives a function, and no test can patch the module."""
    package = importlib.import_module(package)
    beside = {module.name for module in pkgutil.iter_modules(package.__path__)}
    assert {name for name in beside & set(vars(package)) if not isinstance(vars(package)[name], ModuleType)} == set()
    assert {name for name in beside & set(package.__all__) if callable(getattr(package, name))} == set()


@pytest.mark.unmeasured(but=["names"])  # alone in this file
def test_names_are_imported_when_asked_for():
    program = """
import sys
import dqeval
assert [name for name in sys.modules if name.startswith("dqeval")] == ["dqeval"]
assert "numpy" not in sys.modules
import dqeval.bench.pool
assert "dqeval.bench.runner" not in sys.modules and "numpy" not in sys.modules, "what a worker does not need"
assert dqeval.bench.run is sys.modules["dqeval.bench.runner"].run
assert set(dqeval.bench.__all__) <= set(dir(dqeval.bench))
assert dqeval.bench.__all__ == list(dqeval.bench._HOMES)
assert "bench" in dir(dqeval) and "evaluate" in dir(dqeval)
assert not [name for name in sys.modules if name.startswith("dqeval.adapters")]
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_type_checkers_see_the_same_names():
    stub = ast.parse((SOURCE / "__init__.pyi").read_text(encoding="utf-8"))
    homes = {alias.name: node.module for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    listed = next(node.value for node in stub.body if isinstance(node, ast.Assign))
    assert sorted(homes) == sorted(ast.literal_eval(listed)) == dqeval.__all__
    packages = dict.fromkeys(dqeval._PACKAGES, "dqeval")
    assert homes == packages | {name: f"dqeval.{module}" for name, module in dqeval._HOMES.items()}


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'dqeval' has no attribute 'evaluat'"):
        _ = dqeval.evaluat
    with pytest.raises(AttributeError, match=r"module 'dqeval\.bench' has no attribute 'started'"):
        _ = dqeval.bench.started


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


def public_functions():
    """Return every public function by its whole name, once."""
    found = {}
    for package in PUBLIC:
        module = importlib.import_module(package)
        for name in module.__all__:
            if inspect.isfunction(function := getattr(module, name)):
                found.setdefault(function, f"{package}.{name}")
    return found


every_function = pytest.mark.parametrize("function", public_functions(), ids=public_functions().get)


def adapters():
    """Return the public functions and classes of the adapters as they are written: their libraries may not be here."""
    found = {}
    for path in sorted((SOURCE / "adapters").glob("[!_]*.py")):
        content = ast.parse(path.read_text(encoding="utf-8")).body
        (names,) = [node.value for node in content if isinstance(node, ast.Assign) and node.targets[0].id == "__all__"]
        public = ast.literal_eval(names)
        defined = [node for node in content if isinstance(node, (ast.FunctionDef, ast.ClassDef))]
        here = {f"{path.stem}.{node.name}": node for node in defined if node.name in public}
        assert len(here) == len(public), f"{path.stem} does not define all that it offers"
        found |= here
    return found


every_adapter = pytest.mark.parametrize("name", adapters())


def parameters_of(node):
    """Return the names of what a function takes, or of what makes an object of a class."""
    if isinstance(node, ast.ClassDef):
        made = [each for each in node.body if isinstance(each, ast.FunctionDef) and each.name == "__init__"]
        return parameters_of(made[0])[1:] if made else []
    taken = node.args
    rest = [each for each in (taken.vararg, taken.kwarg) if each is not None]
    return [each.arg for each in (*taken.posonlyargs, *taken.args, *taken.kwonlyargs, *rest)]


@every_adapter
def test_docstrings_of_adapters_spell_every_parameter_out(name):
    node = adapters()[name]
    said = described(ast.get_docstring(node))
    assert list(said) == parameters_of(node)
    assert all(said.values())


@every_adapter
def test_everything_public_in_adapters_has_an_example(name):
    _, _, examples = ast.get_docstring(adapters()[name]).partition("\nExamples\n--------\n")
    assert ">>> " in examples


def test_the_adapters_are_seen():
    assert {"sklearn.scorer", "aeon.Detector", "tsb_ad.get_metrics", "ray.RayExecutor"} <= set(adapters())
    assert parameters_of(adapters()["aeon.Detector"]) == ["detector", "parameters", "random_state"]


def described(docstring):
    """Return what the docstring says of each parameter."""
    _, _, rest = docstring.partition("\nParameters\n----------\n")
    section = re.split(r"\n\n\w+\n-+\n", rest, maxsplit=1)[0]
    entries = re.split(r"^(?=\S)", section, flags=re.MULTILINE)[1:]
    said = {}
    for names, _, text in (entry.partition("\n") for entry in entries):
        said |= {name.strip(" *"): text.strip() for name in names.partition(" : ")[0].split(",")}
    return said


@every_function
def test_docstrings_spell_every_parameter_out(function):
    said = described(inspect.getdoc(function))
    assert list(said) == list(inspect.signature(function).parameters)
    for name, text in said.items():
        assert text, f"nothing is said of {name}"
        assert not re.search(r"\b([Ss]ee|[Aa]s in|[Aa]s for|[Ll]ike) `", text), f"{name}: '{text}' sends readers away"


@every_function
def test_every_public_function_has_an_example(function):
    _, _, examples = inspect.getdoc(function).partition("\nExamples\n--------\n")
    assert ">>> " in examples


def test_the_public_functions_are_seen():
    assert {"dqeval.panel", "dqeval.metric", "dqeval.metrics.vus_pr", "dqeval.bench.run"} <= {
        *public_functions().values()
    }
    assert described(inspect.getdoc(dqeval.best_threshold))["parameters"].startswith("The parameters of the metric")
