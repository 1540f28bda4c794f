"""Arrays as text in a page, in few bytes: page_data.js unpacks them."""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np

from dqeval.core.types import FloatArray

# Longer series are drawn by whole steps: far finer than a pixel, and such that the borders between two levels, and
# between two numbers of four digits, which hover texts show, are borders between two steps.
MOST_EXACT = 2**16
STEPS_OF_DIGIT = 6
STEPS = 10_000 * STEPS_OF_DIGIT
_HALF_DIGIT = STEPS_OF_DIGIT // 2

HUGE = float(np.finfo(np.float32).max)  # what lies beyond is drawn there
_FASTEST = 1  # more effort takes twice the time, and saves a fiftieth


def packed(array: np.ndarray[Any, Any], kind: str) -> str:
    """Return an array as text: deflated, the first bytes of all numbers before the second ones, as they are alike."""
    numbers = np.ascontiguousarray(array, dtype=kind).reshape(-1, 1)
    planes = numbers.view(np.uint8).T.tobytes()
    return base64.b64encode(zlib.compress(planes, _FASTEST)).decode("ascii")


def packed_values(values: FloatArray) -> str:
    """Return the values of a series, in single precision."""
    return packed(np.clip(values, -HUGE, HUGE), "<f4")


def packed_scores(scores: FloatArray, levels: np.ndarray[Any, Any], thresholds: FloatArray) -> dict[str, Any]:
    """Return scores from 0 to 1 that reach exactly as many thresholds as they did.

    Parameters
    ----------
    scores : array of float, shape (n,)
    levels : array of int, shape (n,)
        How many of the thresholds each score reaches.
    thresholds : array of float, shape (m,)
        Ascending, and even from 1/m to 1.

    Returns
    -------
    dict
        Numbers in single precision; or for long series whole steps, and how many there are from 0 to 1. Step k is from
        (k - 3) / 60,000 to the next.
    """
    if len(scores) <= MOST_EXACT:
        return {"steps": None, "packed": packed(_single(scores, levels, thresholds), "<f4")}
    per_level = STEPS // len(thresholds)
    first = per_level * levels + _HALF_DIGIT
    steps = np.floor(STEPS * scores + _HALF_DIGIT)
    # Rounding may have moved a score over the border of its level.
    return {"steps": STEPS, "packed": packed(np.clip(steps, first, first + per_level - 1), "<u2")}


def _single(scores: FloatArray, levels: np.ndarray[Any, Any], thresholds: FloatArray) -> np.ndarray[Any, Any]:
    """Return scores in single precision, on the same side of every threshold."""
    nearest = thresholds.astype(np.float32)
    at_least = np.where(nearest < thresholds, np.nextafter(nearest, np.float32(2)), nearest)
    below = np.nextafter(at_least, np.float32(-1))
    low = np.concatenate([np.zeros(1, dtype=np.float32), at_least])
    high = np.concatenate([below, np.ones(1, dtype=np.float32)])
    return np.clip(scores.astype(np.float32), low[levels], high[levels])
