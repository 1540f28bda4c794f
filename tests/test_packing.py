"""Arrays in a page: what comes out is what went in, as far as anyone can see."""

import base64
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dqeval.core.levels import grid
from dqeval.render import packing
from dqeval.render.packing import STEPS, packed, packed_scores, packed_values

GRID = grid(100)


def unpacked(text, kind):
    """Return an array as page_data.js unpacks it."""
    planes = np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype=np.uint8)
    return np.ascontiguousarray(planes.reshape(np.dtype(kind).itemsize, -1).T).view(kind).ravel()


def reached(scores):
    """Return how many thresholds each score reaches, one by one."""
    return np.array([sum(score >= threshold for threshold in GRID.tolist()) for score in scores], dtype=int)


def drawn(found):
    """Return the scores as page_data.js gives them."""
    if found["steps"] is None:
        return unpacked(found["packed"], "<f4").astype(float)
    middles = (unpacked(found["packed"], "<u2").astype(float) - 2.5) / found["steps"]
    return middles.astype(np.float32).astype(float)


# Where rounding may matter: at thresholds and right beside them, and half-way between two numbers of four digits.
NEAR_BORDERS = st.builds(
    lambda number, side: float(np.clip(np.nextafter(number, side) if side else number, 0, 1)),
    st.sampled_from([*GRID.tolist(), *(k / 100 for k in range(101)), 0.00005, 0.12345, 0.5]),
    st.sampled_from([None, -1.0, 2.0]),
)
SCORES = st.lists(st.floats(0, 1) | NEAR_BORDERS, min_size=1, max_size=30).map(np.array)


@given(st.sampled_from(["<f4", "<f8", "<u2", "u1"]), arrays(np.uint8, st.integers(0, 40)))
def test_what_is_unpacked_is_what_was_packed(kind, numbers):
    assert unpacked(packed(numbers, kind), kind).tolist() == numbers.tolist()


def test_several_rows_are_packed_one_after_the_other():
    assert unpacked(packed(np.array([[1, 2], [3, 400]]), "<u2"), "<u2").tolist() == [1, 2, 3, 400]


def test_values_beyond_single_precision_are_drawn_at_its_end():
    found = unpacked(packed_values(np.array([1e300, -1e300, 0.5, np.nan])), "<f4")
    np.testing.assert_array_equal(found, np.array([3.4028235e38, -3.4028235e38, 0.5, np.nan], dtype="<f4"))


@given(SCORES)
def test_short_series_keep_single_precision_and_their_levels(scores):
    levels = reached(scores)
    found = packed_scores(scores, levels, GRID)
    assert found["steps"] is None
    np.testing.assert_allclose(drawn(found), scores, rtol=2e-7, atol=1e-37)
    assert reached(drawn(found)).tolist() == levels.tolist()


@given(SCORES)
def test_long_series_keep_their_levels_and_four_digits(scores):
    levels = reached(scores)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "MOST_EXACT", 0)
        found = packed_scores(scores, levels, GRID)
    assert found["steps"] == STEPS
    assert reached(drawn(found)).tolist() == levels.tolist()
    assert np.abs(drawn(found) - scores).max() <= 1 / STEPS
    far_from_half = np.abs(10_000 * scores % 1 - 0.5) > 1e-9
    assert np.round(drawn(found), 4)[far_from_half].tolist() == np.round(scores, 4)[far_from_half].tolist()
