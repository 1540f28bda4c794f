"""FFT: groups of points that lie off a smooth curve, and off their neighbours."""

from __future__ import annotations

from typing import Literal

import numpy as np

from dqeval.core import arguments, validate
from dqeval.core.registry import detector
from dqeval.core.scaling import AT_ONCE
from dqeval.core.types import FloatArray, IntArray, Numbers
from dqeval.detectors import windows
from dqeval.detectors.transform import turns_of_products

_KEPT = 5
_ROW = 1024  # points, whose turns are computed once
_ROWS = 64  # whose curve is computed at once, and stays in a cache
_REACH = 10
_LEAST_DEVIATION = 0.6
_LARGEST_GAP = 10
# Of a series in standard units: where the curve is the series, or off it by the same everywhere, no point lies out.
_ROUNDING = 1e-10


@detector(label="FFT", citation="Rasheed et al. 2009")
def fft(values: Numbers, *, variant: Literal["corrected", "published"] = "corrected") -> FloatArray:
    """Deviation of groups of outliers from their neighbours, among the points far from the lowest frequencies.

    Parameters
    ----------
    values : array-like of numbers, shape (n,) or (n, 1)
        The values of the series; none may be missing.
    variant : "corrected" or "published", default "corrected"
        Far from the curve of the constant and the four lowest frequencies; or, as in the code that made the paper's
        tables, where the transform runs along the wrong axis and does nothing, far from the mean, with the first five
        points left out.

    Returns
    -------
    array of float, shape (n,)
        The same for all points of a group, and 0 outside: the higher, the more anomalous. Zeros if there is no group,
        as in a constant or very short series.

    Notes
    -----
    Candidates are the points farther than average from the smooth curve. Each has a deviation: its value less the mean
    of the points up to 10 before and after it, in standard units over all candidates. Candidates with an absolute
    deviation above 0.6 are outliers. A group is a chain of two or more, each at most 10 points after the one before,
    with all points between; its score is the mean of their absolute deviations. A lone outlier is no group.

    Examples
    --------
    >>> scores = dqeval.detectors.fft([*[0, 1] * 20, 9, 9, *[0, 1] * 20], variant="published")
    >>> np.flatnonzero(scores)
    array([40, 41])
    """
    series = validate.values(values)
    arguments.one_of("variant", variant, ("corrected", "published"))
    standard = windows.standardise(series)
    residual = _off_the_curve(standard) if variant == "corrected" else _off_the_mean(standard)
    candidates = np.flatnonzero(residual > residual.mean() + _ROUNDING)
    if not len(candidates):
        return np.zeros(len(series))
    deviations = _deviations(standard, candidates)
    far = deviations > _LEAST_DEVIATION
    return _groups(candidates[far], deviations[far], len(series))


def _off_the_curve(standard: FloatArray) -> FloatArray:
    """Return how far each point is from the curve of the constant and the four lowest frequencies."""
    n = len(standard)
    # Differs from the benchmark's code: its cut of a one-dimensional transform would drop the conjugates too, and with
    # them half of the curve.
    kept = range(min(_KEPT, n // 2 + 1))
    weights = [1 if 2 * frequency in (0, n) else 2 for frequency in kept]
    # So few frequencies are sums, and need no transform, which takes long where the length has large factors. In rows
    # of points, a frequency's turns are those of the first row, each times the turn at which its own row begins.
    rows = np.pad(standard, (0, -n % _ROW)).reshape(-1, _ROW)
    within, starts = turns_of_products(len(kept), _ROW, 1, n), turns_of_products(len(kept), len(rows), _ROW, n)
    sums = rows @ within.real.T - 1j * (rows @ within.imag.T)
    coefficients = np.einsum("fr,rf->f", starts.conj(), sums)
    turned = (coefficients * weights / n)[:, None] * starts
    for first in range(0, len(rows), _ROWS):
        some = slice(first, first + _ROWS)
        rows[some] -= turned.real.T[some] @ within.real - turned.imag.T[some] @ within.imag
    residual = rows.reshape(-1)[:n]
    return np.abs(residual, out=residual)


def _off_the_mean(standard: FloatArray) -> FloatArray:
    """Return how far each point but the first ones is from the mean, as the published code has it."""
    residual = np.abs(standard)
    residual[:_KEPT] = 0
    return residual


def _deviations(standard: FloatArray, candidates: IntArray) -> FloatArray:
    """Return by how much candidates lie off the mean of their neighbours, in standard units over all candidates."""
    sums = np.zeros(len(standard) + 1)
    np.cumsum(standard, out=sums[1:])
    off = np.empty(len(candidates))
    for begin in range(0, len(candidates), AT_ONCE):
        some = candidates[begin : begin + AT_ONCE]
        first = np.maximum(some - _REACH, 0)
        stop = np.minimum(some + _REACH + 1, len(standard))
        off[begin : begin + AT_ONCE] = standard[some] - (sums[stop] - sums[first]) / (stop - first)
    mean, deviation = off.mean(), off.std()
    off -= mean
    off /= deviation + 1e-6
    return np.abs(off, out=off)


def _groups(outliers: IntArray, deviations: FloatArray, length: int) -> FloatArray:
    """Return the mean deviation of each group of outliers at all its points."""
    if len(outliers) < 2:
        return np.zeros(length)
    borders = np.flatnonzero(np.diff(outliers) > _LARGEST_GAP) + 1
    first, stop = np.append(0, borders), np.append(borders, len(outliers))
    means = np.add.reduceat(deviations, first) / (stop - first)
    # Differs from the paper: a group needs two outliers, of whatever signs, and may be of any length.
    means[stop - first == 1] = 0
    levels = np.stack([np.zeros(len(means)), means], axis=1).ravel()
    places = np.stack([outliers[first], outliers[stop - 1] + 1], axis=1).ravel()
    return np.repeat(np.append(levels, 0), np.diff(places, prepend=0, append=length))
