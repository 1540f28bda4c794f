"""What the detectors share: series and windows in standard units, and scores of windows as scores of points."""

from __future__ import annotations

from typing import Any

import numpy as np

from dqeval.core import arguments, validate
from dqeval.core.near import find_period
from dqeval.core.scaling import extremes
from dqeval.core.types import FloatArray

# Windows are kept as a matrix only where 64-bit floats would need no more bytes than this.
MOST_BYTES = 500_000_000


def window_length(values: FloatArray, window: Any, *, least: int, count: int, why: str) -> int:
    """Return the length of windows: as given, or the period of rank 2; and check that there are enough windows."""
    if window is None:
        length = find_period(values, rank=2).or_fallback
    else:
        length = arguments.whole_number("window", window, least=least, most=validate.MOST_COUNTED)
    validate.enough_windows(values, length, count=count, why=why)
    return length


def standardise(values: FloatArray) -> FloatArray:
    """Return the series less its mean, in units of its standard deviation; zeros if it is constant."""
    low, high = extremes(values)
    if low == high:
        return np.zeros_like(values)
    standard = near_one(values)
    standard -= standard.mean()
    standard /= standard.std()
    return standard


def near_one(values: FloatArray) -> FloatArray:
    """Return the series in units of its largest absolute value, so that squares of any values can be represented.

    Nothing is taken off: small differences stay exact beside a value that is larger by very much.
    """
    low, high = extremes(values)
    size = max(-low, high)
    return np.asarray(values / size) if size else np.zeros_like(values)


def sliding(values: FloatArray, window: int) -> FloatArray:
    """Return all windows of a series as the rows of a view that needs no memory."""
    return np.lib.stride_tricks.sliding_window_view(values, window)


def normalise(rows: FloatArray) -> FloatArray:
    """Return windows, each less its own mean, in units of its own standard deviation; zeros if it is constant."""
    # Seen from its first value a constant window is zero to the last digit, whatever its mean is rounded to.
    shifted = rows - rows[:, :1]
    shifted -= shifted.mean(axis=1, keepdims=True)
    deviation = np.sqrt(np.einsum("ij,ij->i", shifted, shifted) / (rows.shape[1] - 1))
    shifted /= np.where(deviation > 0, deviation, 1)[:, None]
    return shifted


def centre(scores: FloatArray, window: int) -> FloatArray:
    """Return the scores of windows at their middles; the first and the last are repeated to the ends."""
    return np.pad(scores, (window // 2, (window - 1) // 2), mode="edge")


def mean_over_windows(scores: FloatArray, window: int) -> FloatArray:
    """Return for each point the mean score of the windows that hold it."""
    sums = np.concatenate([[0.0], np.cumsum(scores)])
    points = np.arange(len(scores) + window - 1)
    first = np.maximum(points - window + 1, 0)
    stop = np.minimum(points + 1, len(scores))
    means: FloatArray = (sums[stop] - sums[first]) / (stop - first)
    return means


def max_over_windows(scores: FloatArray, window: int) -> FloatArray:
    """Return for each point the highest score of the windows that hold it."""
    beyond = np.full(window - 1, -np.inf)
    highest = np.concatenate([beyond, scores, beyond])
    # Of so many neighbours at first, then of more: two ranges that overlap or touch have the highest of both.
    reach = 1
    while reach < window:
        step = min(reach, window - reach)
        highest = np.maximum(highest[:-step], highest[step:])
        reach += step
    return highest
