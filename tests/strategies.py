"""Hypothesis strategies for labels, detections, scores and near ranges, with all that can happen at borders."""

from functools import cache

import numpy as np
from hypothesis import strategies as st


@cache  # to make a strategy, and to have it checked, takes longer than to draw from it
def of_bytes(length):
    """Draw small numbers: as bytes, because Hypothesis takes five times as long to draw a list of them."""
    return st.binary(min_size=length, max_size=length).map(lambda drawn: np.frombuffer(drawn, np.uint8).astype(int))


@st.composite
def runs(draw, *, most=12, longest=9):
    """Draw a binary series as alternating runs, so that events one point apart or at the borders are common."""
    drawn = np.frombuffer(draw(st.binary(min_size=1, max_size=most)), np.uint8).astype(int)
    lengths = 1 + np.maximum(drawn % (2 * longest) - longest, 0)  # half of them 1
    first = drawn[0] >= 128
    return np.repeat((np.arange(len(drawn)) + first) % 2, lengths)


def labels(**options):
    """Draw labels with at least one anomaly."""
    return runs(**options).filter(lambda series: series.any())


@cache
def detections(length):
    """Draw detections of a given length: none, all, runs, or anything."""
    free = of_bytes(length).map(lambda drawn: drawn % 2)
    tiled = runs(most=20, longest=6).map(lambda series: np.resize(series, length))
    return st.just(np.zeros(length, int)) | st.just(np.ones(length, int)) | tiled | free


def _odd_floats():
    """Return 256 floats in [0, 1]: its ends, simple fractions and the floats beside them, tiny ones, and any others."""
    fractions = np.array([0, 1 / 8, 0.1, 1 / 4, 0.3, 1 / 3, 1 / 2, 0.6, 2 / 3, 3 / 4, 0.9, 0.99, 1])
    beside = [np.nextafter(fractions, 0), np.nextafter(fractions, 1)]
    tiny = 10.0 ** -np.array([1, 2, 5, 10, 16, 50, 200, 300, 308, 310, 323])
    known = np.concatenate([fractions, *beside, tiny, 1 - tiny[:5]])
    return np.concatenate([known, np.random.default_rng(0).random(256 - len(known))])


ODD_FLOATS = _odd_floats()
GRID = np.linspace(1, 0, 101)
SCORES_OF_BYTES = [
    lambda drawn: drawn % 5 / 4,
    lambda drawn: drawn % 101 / 100,
    lambda drawn: GRID[drawn % 101],
    lambda drawn: ODD_FLOATS[drawn],
]


@cache
def scores(length):
    """Draw scores in [0, 1]: any floats, few distinct values, values on the threshold grid, constant pieces."""
    small = st.tuples(st.sampled_from(SCORES_OF_BYTES), of_bytes(length)).map(lambda pair: pair[0](pair[1]))
    fine = of_bytes(3 * length).map(lambda drawn: drawn.reshape(-1, 3) @ [1 / 2**8, 1 / 2**16, 1 / 2**24])
    free = small | fine
    pieces = st.tuples(free, st.integers(1, 9)).map(lambda pair: np.repeat(*pair)[:length])
    return free | pieces | detections(length).map(lambda array: array.astype(float))


# Positions are exact with these: zero, halves, quarters and eighths, and ranges beyond any series here.
exact_near = st.integers(0, 96).map(lambda k: k / 8) | st.integers(0, 12).map(float) | st.sampled_from([200.0, 1000.5])
any_near = st.floats(0.001, 20).map(lambda near: round(near, 3)) | st.sampled_from([1 / 3, 0.1, 0.3, 2 / 3, 5.7])

# Shares that must be reached: decimals and fractions, of which many are the share of some event, and any floats.
cutoffs = (
    st.integers(0, 100).map(lambda k: k / 100)
    | st.integers(1, 12).flatmap(lambda n: st.integers(0, n).map(lambda k: k / n))
    | st.floats(0, 1)
)


@st.composite
def labelled(draw, other, **options):
    """Draw labels and, of the same length, what ``other`` draws."""
    y_true = draw(labels(**options))
    return y_true, draw(other(len(y_true)))


@cache
def breaks(length):
    """Draw positions at which a new stretch begins behind a gap, often none."""
    positions = st.sets(st.integers(1, length - 1), max_size=4).map(sorted) if length > 1 else st.just([])
    return st.just([]) | positions
