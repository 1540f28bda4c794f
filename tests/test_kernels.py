"""The kernels' own contracts, and their two forms."""

import ast
import importlib.util
import inspect
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dqeval
import strategies as own
from dqeval.core import levels as levelling
from dqeval.core.levels import (
    exact_levels,
    grid,
    log_rank_levels,
    sample_levels,
    sample_log_rank_levels,
)
from dqeval.core.prepared import Labelled
from dqeval.core.scaling import linear, linear_parts, log_rank, min_max, scaled
from dqeval.kernels import _plain, _widest, neighbours
from dqeval.kernels import dqe as sweep_kernel
from dqeval.kernels import levels as kernel
from dqeval.metrics import dqe
from dqeval.metrics.dqe import local_scores


@given(st.integers(1, 300), st.lists(st.floats(0, 1), min_size=1, max_size=50), st.data())
def test_levels_on_grid_are_those_of_searchsorted(count, scores, data):
    values = grid(count)
    on_grid = data.draw(st.lists(st.sampled_from(values.tolist()), max_size=50))
    scores = np.array([*scores, *on_grid, *np.nextafter(on_grid, 0), 0.0, 1.0])
    levels = np.empty(len(scores), np.intc)
    kernel.levels_on_grid(scores, 0.0, 1.0, values, levels)
    np.testing.assert_array_equal(levels, np.searchsorted(values, scores, side="right"))


@given(st.integers(1, 300), st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=50).map(np.array))
def test_levels_on_grid_of_scores_that_are_not_scaled_yet(count, scores):
    counting, levels = linear(scores), np.empty(len(scores), np.intc)
    kernel.levels_on_grid(counting.scores, counting.low, counting.width, grid(count), levels)
    np.testing.assert_array_equal(levels, np.searchsorted(grid(count), min_max(scores), side="right"))


@given(
    st.integers(1, 300),
    st.floats(-1e150, 1e150),
    st.sampled_from([5e-324, 1e-310, 1e-307, 1e-20, 1.0, 3.0, 1e20, 1e300]),
    st.integers(0, 400),
)
def test_levels_on_grid_of_scores_next_to_thresholds(count, low, width, others):
    """Also where a guess is a whole number but for rounding, in series that are longer than what is guessed at once."""
    near_thresholds = low + grid(count) * width
    upper, lower = np.nextafter(near_thresholds, np.inf), np.nextafter(near_thresholds, -np.inf)
    spread = low + np.linspace(0, 1, others) * width
    scores = np.concatenate([spread, near_thresholds, upper, lower, [low, low + width]])
    counting, levels = linear(scores), np.empty(len(scores), np.intc)
    kernel.levels_on_grid(counting.scores, counting.low, counting.width, grid(count), levels)
    np.testing.assert_array_equal(levels, np.searchsorted(grid(count), min_max(scores), side="right"))


finite = st.floats(-1.7e308, 1.7e308)


@given(st.integers(1, 300), st.lists(st.lists(finite, min_size=1, max_size=300).map(np.array), min_size=1, max_size=5))
def test_levels_on_grid_of_parts_that_are_scaled_by_themselves(count, parts):
    starts = np.cumsum([0, *map(len, parts[:-1])])
    given, scores = np.concatenate(parts), np.concatenate(parts)
    counting, levels = linear_parts(scores, starts), np.empty(len(scores), np.intc)
    lows, widths = counting.low, counting.width
    kernel.levels_on_grid_in_parts(counting.scores, counting.starts, lows, widths, grid(count), levels)
    expected = np.concatenate([min_max(part) for part in parts])
    np.testing.assert_array_equal(levels, np.searchsorted(grid(count), expected, side="right"))
    np.testing.assert_array_equal(scaled(counting), expected)
    np.testing.assert_array_equal(scores, given)  # those of the caller stay as they are


def interpreted(name):
    """Return a kernel as it runs without a compiler."""
    spec = importlib.util.spec_from_file_location(f"interpreted_{name}", Path(_plain.__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


FORMS = {"installed": kernel, "interpreted": interpreted("levels")}


@pytest.mark.parametrize("form", FORMS)
@given(st.lists(finite, min_size=1, max_size=50), st.integers(1, 8), st.data())
def test_levels_among_values_are_those_of_searchsorted(form, scores, bits, data):
    size = 2**bits - 1
    of_values = st.one_of(finite, st.sampled_from(scores), st.just(np.inf))
    values = np.sort(data.draw(st.lists(of_values, min_size=size, max_size=size)))
    levels = np.empty(len(scores), np.intc)
    FORMS[form].levels_among(np.array(scores), values, levels)
    np.testing.assert_array_equal(levels, np.searchsorted(values, scores, side="left"))


SWEEPS = {"installed": sweep_kernel, "widest": _widest.widest(sweep_kernel), "interpreted": interpreted("dqe")}


@pytest.mark.parametrize("form", SWEEPS)
@given(st.sampled_from([1, 63, 64, 65, 700]), st.integers(1, 300), own.exact_near, st.sampled_from([0.01, 0.1]))
def test_levels_that_no_region_needs_make_no_difference(form, count, points, near, share):
    """To the last digit: in several words of levels, at their ends, in regions that share points."""
    rng = np.random.default_rng(points)
    regions = Labelled(rng.random(points) < share).regions(near)
    levels = sample_levels(np.minimum(rng.random(points) * 1.2, 1.0), regions, count)
    near_ranges = np.linspace(0.5, 20, len(regions.events))
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dqe, "kernel", SWEEPS[form])
        # Every level; those in use, by bits; those in use, by sorting.
        for many, very_many in [(10**9, 10**9), (0, 10**9), (0, 0)]:
            patch.setattr(levelling, "_MANY", many)
            patch.setattr(levelling, "_VERY_MANY", very_many)
            found.append([local_scores(levels, near_ranges), local_scores(levels, dqe_only=True)[:, 0]])
    for each, dqe_alone in found[1:]:
        np.testing.assert_array_equal(each, found[0][0])
        np.testing.assert_array_equal(dqe_alone, found[0][1])


def test_every_form_of_the_sweep_gives_the_same_numbers():
    """Also where regions have whole borders, and more parts than there are logarithms at hand."""
    rng = np.random.default_rng(0)
    labels, scores = np.zeros(12_000), rng.random(12_000)
    labels[5_999:6_000] = 1
    found = []
    for form in SWEEPS.values():
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(dqe, "kernel", form)
            found.append([dqeval.evaluate(labels, scores, near=near, thresholds=500).dqe for near in (50, 7.25)])
    assert found[0] == found[1] == found[2]


@given(st.integers(1, 200), st.integers(1, 200), st.sampled_from([1, 2, 3, 7, 100, 127, 128, 3_000]))
def test_sampled_levels_by_log_rank(points, distinct, count):
    """They are those of the scores that are scaled first, though these are never made."""
    rng = np.random.default_rng(points)
    scores = rng.integers(-distinct, distinct, points) / 7
    partition = Labelled(rng.random(points) < 0.1).regions(3.0)
    found = sample_log_rank_levels(scores, partition, count)
    np.testing.assert_array_equal(found.of_point, sample_levels(log_rank(scores), partition, count).of_point)


def test_sampled_levels_by_log_rank_of_many_points():
    scores = np.random.default_rng(0).normal(size=50_000)
    partition = Labelled(np.arange(50_000) == 7).regions(3.0)
    found = sample_log_rank_levels(scores, partition, 100)
    np.testing.assert_array_equal(found.of_point, sample_levels(log_rank(scores), partition, 100).of_point)


def levels_both_ways(points, distinct, share, near):
    """Return the levels of DQE-LR, as the order of all points gives them, and as each region by itself does."""
    rng = np.random.default_rng(points)
    scored = Labelled(rng.random(points) < share).scored(rng.integers(-distinct, distinct, points) / 7)
    regions = scored.labelled.regions(near)
    return log_rank_levels(scored, regions), exact_levels(log_rank(scored.raw), regions)


@pytest.mark.parametrize("distinct", [1, 2, 50, 1_000_000])
@pytest.mark.parametrize("points", [1, 63, 64, 65, 500])
@pytest.mark.parametrize(("share", "near"), [(0.1, 2.5), (0.01, 0.0), (0.01, 3.25)])
def test_levels_in_the_order_of_all_points_are_those_within_each_region(points, distinct, share, near):
    assert_same_levels(*levels_both_ways(points, distinct, share, near))


@given(st.integers(1, 200), st.integers(1, 200), st.sampled_from([0.01, 0.1, 0.5]), own.exact_near)
def test_levels_in_the_order_of_any_points(points, distinct, share, near):
    assert_same_levels(*levels_both_ways(points, distinct, share, near))


def assert_same_levels(found, expected):
    """As far down as DQE is above 0."""
    np.testing.assert_array_equal(found.starts, expected.starts)
    np.testing.assert_array_equal(found.stops, expected.stops)
    shift = found.starts - found.partition.events.starts
    for i, left_out in enumerate(expected.counts - found.counts):
        first, last = np.floor(found.partition.left[i]), np.ceil(found.partition.right[i])
        own = slice(int(first) + shift[i], int(last) + shift[i])
        np.testing.assert_array_equal(found.of_point[own], np.maximum(expected.of_point[own] - left_out, 0))
        kept = found.thresholds[found.first[i] : found.first[i] + found.counts[i]]
        every = expected.thresholds[expected.first[i] : expected.first[i] + expected.counts[i]]
        np.testing.assert_array_equal(kept, every[left_out:])
    # DQE is the same, to the last digit.
    of_found, of_expected = (local_scores(levels, dqe_only=True)[:, 0] for levels in (found, expected))
    np.testing.assert_array_equal(of_found, of_expected)


def test_levels_at_which_dqe_is_0_are_left_out():
    found, expected = levels_both_ways(5_000, 1_000_000, 0.01, 3.25)
    assert found.counts.sum() < 0.7 * expected.counts.sum()


def test_finite_scores_may_have_a_sum_that_is_not():
    huge = [0.0, 1.7e308, 1.7e308, 0.0]
    assert dqeval.evaluate([0, 1, 1, 0], huge, near=1).dqe == 1.0
    assert dqeval.evaluate([0, 1, 1, 0], [-1.7e308, *huge[1:3], -1.7e308], near=1).dqe == 1.0


def test_the_grid_is_linspaces_not_the_decimals():
    assert grid(100).tolist() == np.linspace(1, 0, 101)[:-1][::-1].tolist()
    decimals = np.arange(1, 101) / 100
    assert (np.sum(grid(100) > decimals), np.sum(grid(100) < decimals)) == (12, 28)
    captured = dqeval.evaluate([0, 1, 0], [0, 0.29, 0], near=1, scale=False)
    assert captured.capture == 0.28


@given(own.labelled(own.scores), own.exact_near)
def test_curves_of_events_one_after_the_other(case, near):
    """The rows of the curve belong to the right events, however many thresholds each has."""
    y_true, y_score = case
    result = dqeval.evaluate(y_true, y_score, near=near, scale=False, thresholds="exact")
    for region, curve in zip(dqeval.partition(y_true, near=near).regions, result.curve.per_event, strict=True):
        inside = y_score[int(np.floor(region.left)) : int(np.ceil(region.right))]
        assert curve.thresholds.tolist() == sorted({s for s in inside.tolist() if s > 0}, reverse=True)


def test_the_form_that_was_asked_for_runs():
    """The test script says which form it has built; without it, whichever runs is fine."""
    expected = os.environ.get("DQEVAL_EXPECTED_FORM")
    if expected is None:
        pytest.skip("DQEVAL_EXPECTED_FORM is not set: any form may run")
    assert ("compiled" if dqeval.kernels.compiled else "interpreted") == expected
    if expected == "interpreted":
        assert kernel.__file__.endswith(".py")
        # Installed beside the kernels, Cython would hide what its stand-in lacks.
        assert importlib.util.find_spec("cython") is None


def test_compiled_asks_every_kernel():
    """Extensions are optional: one that is left out here could run interpreted, and nothing would say so."""
    files = Path(dqeval.kernels.__file__).parent.glob("*.py")
    flagged = {path.stem for path in files if "\ncompiled = cython.compiled\n" in path.read_text(encoding="utf-8")}
    assert {each.__name__.rpartition(".")[2] for each in dqeval.kernels._KERNELS} == flagged


class UsedOfCython(ast.NodeVisitor):
    """The names of the cython module that are looked up when a kernel runs interpreted: not those in annotations."""

    def __init__(self, path):
        self.names = set()
        self.visit(ast.parse(path.read_text(encoding="utf-8")))

    def visit_arg(self, node):
        pass

    def visit_FunctionDef(self, node):
        node.returns = None
        self.generic_visit(node)

    def visit_AnnAssign(self, node):
        if node.value is not None:
            self.visit(node.value)

    def visit_Attribute(self, node):
        if isinstance(node.value, ast.Name) and node.value.id == "cython":
            self.names.add(node.attr)
        self.generic_visit(node)


def test_the_stand_in_for_cython_has_what_kernels_use_of_it():
    used = {path.name: UsedOfCython(path).names for path in Path(_plain.__file__).parent.glob("[!_]*.py")}
    assert {"cast", "declare", "double", "nogil"} <= set.union(*used.values())
    assert {name: lacking for name, names in used.items() if (lacking := names - set(vars(_plain)))} == {}


def test_the_stand_in_converts_as_c_does():
    assert [_plain.cast(_plain.Py_ssize_t, number) for number in (2.9, -2.9, np.float64(7.5))] == [2, -2, 7]
    third = _plain.cast(_plain.double, np.intp(1)) / 3
    assert (type(third), third) == (float, 1 / 3)


def values_of_every_metric():
    """Return what every metric makes of scores and of detections."""
    series = dqeval.datasets.demo()
    scores = series.scores["jumpy"]
    return [dqeval.panel(series.labels, given, period=48).values for given in (scores, scores > 0.7)]


def test_metrics_without_compiler_and_cython(tmp_path):
    """All values are the same in a copy of the package that has the kernels' sources alone, and no Cython beside it."""
    program = f"""
import json, sys
sys.modules["cython"] = None
import dqeval
assert dqeval.kernels.dqe.cython.__name__ == "dqeval.kernels._plain"
{inspect.getsource(values_of_every_metric)}
print(json.dumps(values_of_every_metric()))
"""
    shutil.copytree(Path(dqeval.__file__).parent, tmp_path / "dqeval", ignore=shutil.ignore_patterns("*.so", "*.pyd"))
    # Coverage would count the copy too.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    environment["PYTHONPATH"] = str(tmp_path)
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == values_of_every_metric()


class TestWidest:
    @pytest.fixture
    def features(self, monkeypatch):
        """What NumPy says of the processor, to be changed."""
        said = {}
        umath = SimpleNamespace(__cpu_features__=said)
        modules = {"numpy._core._multiarray_umath": umath}

        def imported(name):
            if name not in modules:
                raise ImportError(name)
            return modules[name]

        monkeypatch.setattr(_widest.importlib, "import_module", imported)
        return said, modules

    @pytest.mark.parametrize("compiled", [True, False])
    @pytest.mark.parametrize("there", [True, False])
    @pytest.mark.parametrize("has_avx2", [True, False])
    def test_the_wide_form_is_taken_where_it_is_there_and_runs(self, features, compiled, there, has_avx2):
        said, modules = features
        said["AVX2"] = has_avx2
        plain, wide = SimpleNamespace(__name__="kernel", compiled=compiled), SimpleNamespace()
        if there:
            modules["kernel_avx2"] = wide
        assert _widest.widest(plain) is (wide if compiled and there and has_avx2 else plain)

    def test_what_numpy_says(self, features):
        said, modules = features
        assert not _widest.has_avx2()
        said["AVX2"] = True
        assert _widest.has_avx2()
        modules["numpy.core._multiarray_umath"] = modules.pop("numpy._core._multiarray_umath")
        assert _widest.has_avx2()
        del modules["numpy.core._multiarray_umath"].__cpu_features__
        assert not _widest.has_avx2()

    @pytest.mark.parametrize("terms", [True, False])
    @pytest.mark.unmeasured
    def test_both_forms_agree_to_the_last_digit(self, terms):
        """Where there is only one, it agrees with itself."""
        values = np.cumsum(np.random.default_rng(0).normal(size=200))
        window, size = 21, 180
        weights, rows = np.linspace(1, 1.1, window), np.arange(size)
        found = []
        for form in (neighbours, _widest.widest(neighbours)):
            bounds = np.zeros((4, size + 32)) + np.linspace(1, 2, size + 32) if terms else np.empty((0, 0))
            x = np.pad(values, (0, 32), constant_values=0 if terms else np.inf)
            if terms:
                bounds[0, size:] = np.inf
            worst = np.pad(np.full(size, np.inf), (0, 32), constant_values=-np.inf)
            heaps, others = np.full((size, 9), np.inf), np.zeros((size, 9), np.intc)
            form.nearest_bounds(x, bounds, worst, np.empty((window, 32)), np.arange(1, size, 32), heaps, others)
            squares = np.empty((size, 9))
            form.squared_distances(values, weights, rows, others, squares)
            found.append((heaps, others, squares))
        for one, other in zip(*found, strict=True):
            np.testing.assert_array_equal(one, other)
