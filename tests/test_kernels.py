"""The kernels' own contracts, and their two forms."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dqeval
import strategies as own
from dqeval.kernels import levels as kernel
from dqeval.thresholds import grid


@given(st.integers(1, 300), st.lists(st.floats(0, 1), min_size=1, max_size=50), st.data())
def test_levels_on_grid_are_those_of_searchsorted(count, scores, data):
    thresholds = grid(count)
    on_grid = data.draw(st.lists(st.sampled_from(thresholds.tolist()), max_size=50))
    scores = np.array([*scores, *on_grid, *np.nextafter(on_grid, 0), 0.0, 1.0])
    levels = np.empty(len(scores), np.intc)
    kernel.levels_on_grid(scores, thresholds, levels)
    np.testing.assert_array_equal(levels, np.searchsorted(thresholds, scores, side="right"))


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


@pytest.mark.skipif(dqeval.kernels.compiled, reason="compiled kernels do not import cython")
@pytest.mark.parametrize("blocked", [True, False])
def test_interpreted_kernels_run_with_and_without_cython(blocked):
    program = f"""
import sys
if {blocked}:
    sys.modules["cython"] = None
import dqeval
assert not dqeval.kernels.compiled
assert (dqeval.kernels.dqe.cython.__name__ == "dqeval.kernels._plain") == {blocked}
assert dqeval.sdqe_score([0, 1, 0, 0], [0, 1, 1, 0], near=2) == ((1 + 0.75 * 0.75) / 2) ** 0.5
"""
    subprocess.run([sys.executable, "-c", program], check=True)
