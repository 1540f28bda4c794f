"""The search for neighbours among a part of the windows: what is promised of it holds for every window."""

from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_detectors as naive
from dqeval import detectors
from dqeval.detectors import neighbours, neighbours_by_cells

both_ways = pytest.mark.parametrize("normalise", ["columns", "windows"])


def series(kind, size, seed):
    random = np.random.default_rng(seed)
    noise = random.normal(size=size)
    if kind == "steps":  # with equal windows, and equal distances
        return np.repeat(random.integers(0, 3, size), 4)[:size].astype(float)
    if kind == "walk":
        return np.cumsum(noise)
    if kind == "waves":
        return np.sin(np.arange(size) / 5) + noise / 50
    noise[size // 3] += 1e4 if kind == "spike" else 0
    return noise


@contextmanager
def small_cells():
    """Cells so small that short series have many, in fewer dimensions than windows have."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbours_by_cells, "_LARGEST_CELL", 4)
        patch.setattr(neighbours_by_cells, "_COMPONENTS", 2)
        patch.setattr(neighbours_by_cells, "_MORE", 2)
        yield


@both_ways
@given(
    kind=st.sampled_from(["noise", "walk", "waves", "steps", "spike"]),
    size=st.integers(20, 70),
    seed=st.integers(0, 2**32),
    window=st.integers(2, 8),
    count=st.integers(1, 12),
    most_compared=st.integers(1, 40),
)
def test_the_true_distance_is_between_the_two(normalise, kind, size, seed, window, count, most_compared):
    values = series(kind, size, seed)
    with small_cells():
        found = detectors.neighbour_distances(
            values, window=window, neighbours=count, normalise=normalise, most_compared=most_compared
        )
    points = (naive.column_points if normalise == "columns" else naive.window_points)(values.tolist(), window)
    true = [pairs[-1][0] for pairs in naive.neighbours(points, count)]
    middles = slice(window // 2, window // 2 + len(true))
    rounding = 1e-6
    assert (found.at_least[middles] <= np.add(true, rounding)).all()
    assert (np.subtract(true, rounding) <= found.at_most[middles]).all()


@both_ways
@given(st.integers(0, 2**32), st.integers(1, 12), st.integers(1, 40))
@pytest.mark.unmeasured
def test_every_neighbour_is_another_window_and_as_far_as_said(normalise, seed, count, most_compared):
    values = series("waves", 60, seed)
    space = neighbours.Space(values, 5, np.linspace(1, 1.2, 5) if normalise == "columns" else None)
    with small_cells():
        found = neighbours_by_cells.by_cells(space, count, most_compared)
    points = space.points(slice(None))
    for row, (near, distances) in enumerate(zip(found.neighbours.indices, found.neighbours.distances, strict=True)):
        assert len({row, *near.tolist()}) == count + 1
        np.testing.assert_allclose(distances, np.linalg.norm(points[near] - points[row], axis=1), atol=1e-9)
        assert (np.diff(distances) >= 0).all()
        # Whatever is nearer than both was found.
        nearer = np.linalg.norm(points - points[row], axis=1) < min(found.complete_to[row], distances[-1]) - 1e-9
        assert set(np.flatnonzero(nearer).tolist()) <= {row, *near.tolist()}


def test_compared_with_all_the_neighbours_are_exact():
    values = series("waves", 400, 1)
    exact = detectors.sub_lof(values, window=20)
    for most_compared in (380, 10**30):
        np.testing.assert_array_equal(detectors.sub_lof(values, window=20, most_compared=most_compared), exact)
    found = detectors.neighbour_distances(values, window=20)
    np.testing.assert_array_equal(found.at_least, found.at_most)


@pytest.mark.parametrize("kind", ["waves", "walk"])
@pytest.mark.unmeasured
def test_scores_are_nearly_those_of_exact_neighbours(kind):
    values = series(kind, 4_000, 2)
    exact, rough = (detectors.sub_lof(values, window=20, most_compared=most) for most in (None, 1_000))
    assert np.corrcoef(exact, rough)[0, 1] > 0.98
    found = detectors.neighbour_distances(values, window=20, most_compared=1_000)
    assert (found.at_least == found.at_most).any()


def test_a_constant_series_and_few_windows():
    assert set(detectors.sub_lof(np.full(900, 0.1), window=10, most_compared=300)) == {1.0}
    assert len(detectors.sub_lof([1.0, 2.0, 4.0, 8.0], window=1, most_compared=1)) == 4


@pytest.mark.parametrize("function", [detectors.sub_lof, detectors.neighbour_distances])
def test_a_wrong_number(function):
    with pytest.raises(ValueError, match="most_compared must be a whole number of at least 1: got 0"):
        function(np.arange(300.0), window=5, most_compared=0)
