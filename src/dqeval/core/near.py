"""The period of a series, and the near-miss range that follows from it."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dqeval.core import validate
from dqeval.core.types import BoolArray, FloatArray, Numbers

FALLBACK_PERIOD = 125
FALLBACK_NEAR = 125.0
_MOST_VALUES = 20_000
_LONGEST_LAG = 400
_FIRST_LAG = 3
_SHORTEST_PERIOD, _LONGEST_PERIOD = 6, 303
_TIE = 1e-13  # of the autocorrelation at lag 0: what is closer is equal, but for rounding, which is 50 times smaller


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
    it falls back to 125, as it does for a constant or a very short series. Autocorrelations that differ by less than
    rounding may, 1e-13, are tied.

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
    peaks = np.flatnonzero((inner > correlation[:-2] + _TIE) & (inner > correlation[2:] + _TIE))
    if not len(peaks):
        return None
    highest = _highest(inner, peaks)
    longer = peaks[peaks > highest]
    if rank == 2 and len(longer):
        highest = _highest(inner, longer)
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


def _highest(heights: FloatArray, peaks: NDArray[np.intp]) -> np.intp:
    """Return the first of the highest peaks."""
    found: np.intp = peaks[np.argmax(heights[peaks] > heights[peaks].max() - _TIE)]
    return found


def _autocorrelation(x: FloatArray) -> FloatArray:
    """Return the autocorrelation at the lags 0 to 400, 1 at lag 0; nothing for a constant series."""
    if x.min() == x.max():
        return np.zeros(0)
    lags = min(_LONGEST_LAG, len(x) - 1)
    size = 1 << (len(x) + lags).bit_length()  # with zeros behind the series, so that its end does not meet its start
    spectrum = np.fft.rfft(_centred(x), size)
    correlation: FloatArray = np.fft.irfft(spectrum.real**2 + spectrum.imag**2, size)[: lags + 1]
    correlation /= correlation[0]
    return correlation


def _centred(x: FloatArray) -> FloatArray:
    """Return a series around 0, in a unit in which its squares are neither infinite nor 0."""
    _, exponent = np.frexp(np.abs(x).max())
    centred: FloatArray = np.ldexp(x, -exponent)  # a power of two, which rounds nothing
    centred -= centred.mean()
    centred -= centred.mean()  # what the rounding of a mean far from 0 has left
    return centred
