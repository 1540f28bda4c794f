"""Hypothesis strategies for labels, detections, scores and near ranges, with all that can happen at borders."""

import numpy as np
from hypothesis import strategies as st


@st.composite
def runs(draw, *, most=12, longest=9):
    """Draw a binary series as alternating runs, so that events one point apart or at the borders are common."""
    lengths = draw(st.lists(st.integers(1, longest) | st.just(1), min_size=1, max_size=most))
    flag = draw(st.booleans())
    return np.concatenate([np.full(length, flag ^ (i % 2 == 1)) for i, length in enumerate(lengths)]).astype(int)


def labels(**options):
    """Draw labels with at least one anomaly."""
    return runs(**options).filter(lambda series: series.any())


def detections(length):
    """Draw detections of a given length: none, all, runs, or anything."""
    free = st.lists(st.integers(0, 1), min_size=length, max_size=length).map(np.array)
    tiled = runs(most=20, longest=6).map(lambda series: np.resize(series, length))
    return st.just(np.zeros(length, int)) | st.just(np.ones(length, int)) | tiled | free


def scores(length):
    """Draw scores in [0, 1]: any floats, few distinct values, values on the threshold grid, constant pieces."""
    values = st.sampled_from(
        [
            st.floats(0, 1),
            st.integers(0, 4).map(lambda k: k / 4),
            st.integers(0, 100).map(lambda k: k / 100),
            st.sampled_from(np.linspace(1, 0, 101).tolist()),
        ]
    )
    free = values.flatmap(lambda value: st.lists(value, min_size=length, max_size=length)).map(np.array)
    pieces = free.flatmap(lambda array: st.integers(1, 9).map(lambda k: np.repeat(array, k)[:length]))
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


def breaks(length):
    """Draw positions at which a new stretch begins behind a gap, often none."""
    positions = st.sets(st.integers(1, length - 1), max_size=4).map(sorted) if length > 1 else st.just([])
    return st.just([]) | positions
