"""The period of a series, and the near-miss range that follows from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dqeval.core import validate
from dqeval.core.types import BoolArray, FloatArray, Numbers, Series
from dqeval.render.tables import count_of

FALLBACK_PERIOD = 125
FALLBACK_NEAR = 125.0
BY_DEFAULT = "by default"  # the source of a near range that nothing is known for
_MOST_VALUES = 20_000
_LONGEST_LAG = 400
_FIRST_LAG = 3
_SHORTEST_PERIOD, _LONGEST_PERIOD = 6, 303
_TIE = 1e-13  # of the autocorrelation at lag 0: what is closer is equal, but for rounding, which is 50 times smaller


@dataclass(frozen=True, slots=True)
class Near:
    """The near range of a series, and where it comes from.

    Attributes
    ----------
    points : float
    source : str
        "as given", "half the given period", "half the period of the series", "half the estimated period", or why it is
        the default.
    strength : float, optional
        The autocorrelation at the period, where that was estimated: 1 for values that repeat exactly, 0 for none.
    """

    points: float
    source: str
    strength: float | None = None

    def __str__(self) -> str:
        return f"near {self.points:g}, {self.source}"


@dataclass(frozen=True, slots=True)
class _Peak:
    """A local maximum of the autocorrelation: its lag, and its height beside that of lag 0."""

    lag: int
    height: float


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
    values = validate.values_with_gaps(x, name="x")
    peak = _highest_peak(values, validate.whole_number("rank", rank, least=1, most=2))
    return FALLBACK_PERIOD if peak is None else peak.lag


def near_of(series: Series, labels: BoolArray, *, near: float | None = None, period: float | None = None) -> Near:
    """Return the near range of a series: given, or half the period that is given, known or estimated, or the default.

    Parameters
    ----------
    series : Series
        Its period, if it has one, is not estimated again. Nothing is estimated from several columns of values.
    labels : array of bool
        Its labels, checked.
    near, period : float, optional
        What the caller wants instead; at most one of them.

    Returns
    -------
    Near

    Examples
    --------
    >>> series = dqeval.datasets.demo()
    >>> print(dqeval.core.near.near_of(series, series.labels))
    near 24, half the estimated period
    """
    known = series.period if near is None and period is None else None
    one_column = series.values is not None and (series.values.ndim == 1 or series.values.shape[1] == 1)
    values = series.values if near is period is known is None and one_column else None
    if known is not None:
        return Near(validate.period(known) / 2, "half the period of the series")
    return near_from_arguments(series.labels, labels, near=near, period=period, values=values)


def check_options(near: float | None, period: float | None) -> None:
    """Check what a caller wants as the near range, where that is not about any series yet."""
    near_from_arguments((), np.zeros(0, dtype=np.bool_), near=near, period=period, values=None)


def near_from_arguments(
    y_true: Numbers, labels: BoolArray, *, near: float | None, period: float | None, values: Numbers | None
) -> Near:
    """Return the near range: given, or half the period, which is given or found in the values, or the fallback.

    The labels are wanted as they were given, and as they were read.
    """
    validate.at_most_one(near=near, period=period, values=values)
    if near is not None:
        return Near(validate.near(near), "as given")
    if period is not None:
        return Near(validate.period(period) / 2, "half the given period")
    if values is not None:
        return _estimated(validate.values_beside(y_true, labels, values), values)
    return Near(FALLBACK_NEAR, BY_DEFAULT)


def _estimated(filled: FloatArray, given: Numbers) -> Near:
    """Return half the period that is estimated from values, here with their gaps filled and as they were given."""
    peak = _highest_peak(filled)
    if peak is None:
        return Near(FALLBACK_PERIOD / 2, f"{BY_DEFAULT}, as no period was found")
    missing = int(np.count_nonzero(np.isnan(np.asarray(given, dtype=np.float64))))
    gaps = f", {count_of(missing, 'missing value')} filled" if missing else ""
    return Near(peak.lag / 2, f"half the estimated period{gaps}", peak.height)


def _highest_peak(x: FloatArray, rank: int = 1) -> _Peak | None:
    """Return the peak of the autocorrelation that `find_period` takes; None where it falls back to 125."""
    whole = _autocorrelation(x[:_MOST_VALUES])
    correlation = whole[_FIRST_LAG:]
    inner = correlation[1:-1]
    peaks = np.flatnonzero((inner > correlation[:-2] + _TIE) & (inner > correlation[2:] + _TIE))
    if not len(peaks):
        return None
    highest = _highest(inner, peaks)
    longer = peaks[peaks > highest]
    if rank == 2 and len(longer):
        highest = _highest(inner, longer)
    lag = int(highest) + _FIRST_LAG + 1
    return _Peak(lag, float(whole[lag])) if _SHORTEST_PERIOD <= lag <= _LONGEST_PERIOD else None


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
