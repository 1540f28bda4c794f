"""The period of a series, and the near-miss range that follows from it."""

from __future__ import annotations

from typing import Literal

import numpy as np

from dqeval.core import validate
from dqeval.core.types import BoolArray, FloatArray, Numbers

FALLBACK_PERIOD = 125
FALLBACK_NEAR = 125.0
_MOST_VALUES = 20_000
_LONGEST_LAG = 400
_FIRST_LAG = 3
_SHORTEST_PERIOD, _LONGEST_PERIOD = 6, 303


def find_period(x: Numbers, *, rank: Literal[1, 2] = 1) -> int:
    """Estimate the period of a series from its autocorrelation.

    Parameters
    ----------
    x : array-like of numbers, shape (n,) or (n, 1)
        The values of the series; the first 20,000 are used. NaN is a missing value, which is filled with a straight
        line between its neighbours.
    rank : 1 or 2, default 1
        Which peak of the autocorrelation: the highest, or the highest of those at longer lags than that (if there is
        none, the highest all the same). Detectors take their windows from the second.

    Returns
    -------
    int
        The lag, from 6 to 303, of that local maximum of the autocorrelation; 125 where there is none.

    Notes
    -----
    The estimate of the TSB-AD benchmark: the biased autocorrelation at the lags 0 to 400, of which the lags from 3 on
    are searched for strict local maxima (neither end counts). The highest wins, at a tie the shortest; outside 6 to 303
    it falls back to 125, as it does for a constant or a very short series.

    Examples
    --------
    >>> dqeval.find_period(np.sin(2 * np.pi * np.arange(1000) / 48))
    48
    """
    return (
        estimated(validate.values_with_gaps(x, name="x"), validate.whole("rank", rank, least=1, most=2))
        or FALLBACK_PERIOD
    )


def estimated(x: FloatArray, rank: int = 1) -> int | None:
    """Return the period of a series as `find_period` does, but None where that falls back to 125."""
    correlation = _autocorrelation(x[:_MOST_VALUES])[_FIRST_LAG:]
    inner = correlation[1:-1]
    peaks = np.flatnonzero((inner > correlation[:-2]) & (inner > correlation[2:]))
    if not len(peaks):
        return None
    highest = peaks[np.argmax(inner[peaks])]
    longer = peaks[peaks > highest]
    if rank == 2 and len(longer):
        highest = longer[np.argmax(inner[longer])]
    lag = int(highest) + _FIRST_LAG + 1
    return lag if _SHORTEST_PERIOD <= lag <= _LONGEST_PERIOD else None


def near_range(
    y_true: Numbers, labels: BoolArray, *, near: float | None, period: float | None, values: Numbers | None
) -> float:
    """Return the near-miss range: given, or half the period, which is given or found in the values, or the fallback.

    The labels are wanted as they were given, and as they were read.
    """
    validate.at_most_one(near=near, period=period, values=values)
    if near is not None:
        return validate.near(near)
    if period is not None:
        return validate.period(period) / 2
    if values is not None:
        return (estimated(validate.values_beside(y_true, labels, values)) or FALLBACK_PERIOD) / 2
    return FALLBACK_NEAR


def _autocorrelation(x: FloatArray) -> FloatArray:
    """Return the autocorrelation at the lags 0 to 400, but for a positive factor that moves no maximum."""
    if x.min() == x.max():
        return np.zeros(0)
    # Values of any size are brought near 1 before they are squared.
    centred = x / np.abs(x).max()
    centred -= centred.mean()
    lags = range(min(_LONGEST_LAG, len(x) - 1) + 1)
    return np.array([centred[: len(x) - lag] @ centred[lag:] for lag in lags])
