"""Points by ascending score: of whole series and of parts, in every form of the kernel."""

import importlib.util
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dqeval.core import sorting
from dqeval.core.prepared import Distinct, Labelled, Scored
from dqeval.kernels import _plain, distinct
from dqeval.kernels import sorting as kernel

finite = st.floats(allow_nan=False, allow_infinity=False)
few = st.sampled_from([-1.0, -0.0, 0.0, 5e-324, 1.0, math.nextafter(1.0, 2.0), 1e300])
close = st.integers(0, 2**20).map(lambda k: 1 + k * 2.0**-52)  # what differs in the lowest bits only


def interpreted(name):
    """Return a kernel as it runs without a compiler."""
    path = Path(_plain.__file__).with_name(f"{name}.py")
    spec = importlib.util.spec_from_file_location(f"interpreted_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


INTERPRETED = interpreted("sorting")
NEVER = 2**62


def sorted_by(module, scores, starts, stops, long=NEVER):
    """Return what a form of the kernel makes of parts; which of them are tied, too, must be what it is of scores.

    Parts of more points than ``long`` are dealt out to buckets.
    """
    lengths = stops - starts
    ends = np.cumsum(lengths)
    order = np.empty(ends[-1], dtype=np.intc)
    items = np.empty((2, lengths.max()), dtype=np.uint64)
    room = np.empty(module.ROOM if long == NEVER else module.ROOM_FOR_LONG, dtype=np.intc)
    room = items, room, np.empty((4, module.BUCKETS), dtype=np.intp)
    tied = np.full(ends[-1], 7, dtype=np.uint8)
    module.sort_parts(scores.view(np.uint64), starts, stops, ends - lengths, long, *room, order, tied)
    assert tied.tolist() == ties(scores, order, ends - lengths)
    alone = np.empty_like(order)
    module.sort_parts(scores.view(np.uint64), starts, stops, ends - lengths, long, *room, alone, tied[:0])
    assert alone.tolist() == order.tolist()
    return order.tolist()


def ties(scores, order, firsts):
    ordered = scores[order].tolist()
    return [int(k not in firsts and ordered[k] == ordered[k - 1]) for k in range(len(ordered))]


def expected(scores, starts, stops):
    parts = zip(starts.tolist(), stops.tolist(), strict=True)
    return [start + k for start, stop in parts for k in np.argsort(scores[start:stop], kind="stable").tolist()]


@pytest.mark.parametrize("form", [kernel, INTERPRETED], ids=["installed", "interpreted"])
@pytest.mark.parametrize("long", [NEVER, 16], ids=["digits", "buckets"])
@given(scores=st.lists(finite | few | close, min_size=1, max_size=80).map(np.array), data=st.data())
def test_parts_are_sorted_as_numpy_sorts_them(form, long, scores, data):
    cuts = data.draw(st.lists(st.integers(0, len(scores)), max_size=4).map(sorted))
    starts, stops = np.array([0, *cuts]), np.array([*cuts, len(scores)])
    assert sorted_by(form, scores, starts, stops, long) == expected(scores, starts, stops)


def many(points):
    """Return scores for every way to sort: spread, tied, far apart, and so close that all bits must be compared."""
    random = np.random.default_rng(points)
    noise = random.normal(size=points)
    yield noise
    yield np.cumsum(noise)
    yield np.round(noise, 1)
    yield np.where(noise < 1.5, 0.0, noise)
    yield np.full(points, 7.0)
    yield np.exp(100 * noise)
    yield np.append(1 + random.permutation(points - 1) * 2.0**-52, -1e300)
    yield noise.astype(np.float32).astype(np.float64)


@pytest.mark.parametrize("points", [33, 1_000, 5_000, sorting.LONG + 9])
def test_long_parts_are_sorted_as_numpy_sorts_them(points):
    for scores in many(points):
        expected_order = np.argsort(scores, kind="stable")
        np.testing.assert_array_equal(sorting.ascending(scores), expected_order)
        order, tied = sorting.ascending_with_ties(scores)
        np.testing.assert_array_equal(order, expected_order)
        assert tied.tolist() == ties(scores, order, {0})


@pytest.mark.parametrize("form", [kernel, INTERPRETED], ids=["installed", "interpreted"])
@pytest.mark.parametrize("long", [16, 1_000, 60_000])
def test_buckets_of_all_sizes(form, long):
    """From a few points each to one for most of them, and from digits of a few bits to those of all exponents."""
    for scores in many(1_200):
        whole = np.array([0]), np.array([len(scores)])
        assert sorted_by(form, scores, *whole, min(long, 1_199)) == expected(scores, *whole)


@pytest.mark.parametrize("outlier", [[], [-1e300], [1e300], [-1e300, 1e300]])
def test_buckets_are_sorted_by_digits_and_little_is_moved(monkeypatch, outlier):
    """Where an item is out of order after its digits, others would repair it, and take long."""

    def refuse(sorter):
        raise AssertionError("digits that tell the scores of a bucket apart are not among those sorted by")

    monkeypatch.setattr(INTERPRETED.Sorter, "sort_all_bits", refuse)
    monkeypatch.setattr(INTERPRETED, "MOVES", 0.5)  # of 32 x 32 moves: a bucket of 63 takes twice as many if unsorted
    for scores in [*list(many(1_200))[:2], 1 + np.random.default_rng(1).random(1_200) / 2**18]:
        both = np.append(scores, outlier)
        whole = np.array([0]), np.array([len(both)])
        assert sorted_by(INTERPRETED, both, *whole, 1_000) == expected(both, *whole)


def test_there_is_room_for_all_buckets():
    """As many as there can be: every second digit has as many points as a bucket may hold, and those between have one.

    Bounds-checked, the kernel would say if there were more.
    """
    most = 61
    sizes = np.tile([most, 1], 503)
    assert 1 + (sizes.sum() >> 9) == most
    digits = np.arange(len(sizes), dtype=np.uint64) + np.uint64(0x4000)
    scores = np.append(np.repeat((digits << np.uint64(48)).view(np.float64), sizes), -1.0)[::-1].copy()
    whole = np.array([0]), np.array([len(scores)])
    assert sorted_by(kernel, scores, *whole, 16) == expected(scores, *whole)
    assert len(sizes) < kernel.BUCKETS - 2


@pytest.mark.parametrize("long", [NEVER, 100])
def test_what_only_the_lowest_bits_tell_apart_is_sorted_by_all_bits(long):
    scores = list(many(600))[6]
    whole = np.array([0]), np.array([len(scores)])
    assert sorted_by(INTERPRETED, scores, *whole, long) == expected(scores, *whole)


def test_digits_that_all_scores_share_need_no_pass():
    scores = np.tile([2.0, 1.0, 4.0], 200)
    whole = np.array([0]), np.array([len(scores)])
    assert sorted_by(INTERPRETED, scores, *whole) == expected(scores, *whole)


def test_interpreted_numpy_sorts(monkeypatch):
    monkeypatch.setattr(kernel, "compiled", False)
    scores = np.array([3.0, -0.0, 0.0, 3.0, -5.0])
    starts, stops = np.array([0, 2]), np.array([3, 5])
    assert sorting.ascending_in(scores, starts, stops).tolist() == expected(scores, starts, stops)
    assert sorting.ascending(scores).tolist() == [4, 1, 2, 0, 3]
    order, tied = sorting.ascending_with_ties(scores)
    assert (order.tolist(), tied.tolist()) == ([4, 1, 2, 0, 3], [0, 0, 1, 0, 1])


@given(st.lists(few | finite, min_size=1, max_size=30).map(np.array), st.lists(finite | few, max_size=6).map(sorted))
def test_levels_are_how_many_thresholds_a_score_reaches(scores, thresholds):
    scored = Scored(Labelled(np.zeros(len(scores), dtype=bool)), scores)
    levels, below = scored.levels(scores, np.array(thresholds))
    assert levels.tolist() == [sum(score >= threshold for threshold in thresholds) for score in scores.tolist()]
    assert below.tolist() == [sum(level < k for level in levels) for k in range(len(thresholds) + 1)]


@pytest.mark.parametrize("form", [distinct, interpreted("distinct")], ids=["installed", "interpreted"])
@pytest.mark.parametrize("points", [1, 7, 1_000])
def test_distinct_scores(form, points):
    """More hits than a byte can count."""
    random = np.random.default_rng(points)
    scores, labels = random.integers(0, points, points) / 8, random.random(points) < 0.8
    expected_values = np.unique(scores)[::-1]
    detected, hits = np.empty((2, points), dtype=np.intc)
    order, tied = sorting.ascending_with_ties(scores)
    bits = np.packbits(labels, bitorder="little")
    count = form.distinct_scores(order, tied, bits, detected, hits)
    found = Distinct(detected[:count], hits[:count], scores, order)
    assert found.values.tolist() == expected_values.tolist()
    assert [found.value(k) for k in range(count + 1)] == [*expected_values.tolist(), -math.inf]
    assert detected[:count].tolist() == [int((scores >= value).sum()) for value in expected_values]
    assert hits[:count].tolist() == [int((labels & (scores >= value)).sum()) for value in expected_values]
    levels = np.empty(points, dtype=np.intc)
    form.reached_by_points(order, detected[:count], levels)
    assert expected_values[count - levels].tolist() == scores.tolist()
    values = np.empty(count)
    form.values_of_distinct(order, detected[:count], scores, values)
    assert values.tolist() == expected_values.tolist()
