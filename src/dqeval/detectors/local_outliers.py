"""Sub-LOF: how much thinner the neighbourhood of a window is than those of its neighbours."""

from __future__ import annotations

from typing import Literal

import numpy as np

from dqeval.core import arguments, validate
from dqeval.core.registry import detector
from dqeval.core.types import FloatArray, Numbers
from dqeval.detectors import windows
from dqeval.detectors.neighbours import Neighbours, Space, nearest


@detector(label="Sub-LOF", citation="Breunig et al. 2000", least={"window": 1, "neighbours": 1})
def sub_lof(
    values: Numbers,
    *,
    window: int | None = None,
    neighbours: int = 30,
    normalise: Literal["columns", "windows"] = "columns",
) -> FloatArray:
    """Local outlier factor of every window of a series, at the window's middle.

    Parameters
    ----------
    values : array-like of numbers, shape (n,) or (n, 1)
        At least one more than ``window``.
    window : int, optional
        The length of the windows; by default the period of rank 2 (`dqeval.find_period`).
    neighbours : int, default 30
        How many nearest windows make a neighbourhood; all others, if there are fewer.
    normalise : "columns" or "windows", default "columns"
        Each place of the windows in standard units over all windows, which is nearly the series as it is and made the
        paper's tables; or each window in standard units of its own, so that shapes are compared whatever their size.

    Returns
    -------
    array of float, shape (n,)
        About 1 where windows are as dense as around their neighbours, and the higher, the more anomalous. 1 everywhere
        for a constant series.

    Notes
    -----
    With D(b) the distance of b to the last of its neighbours, the reach from a to b is max(D(b), distance), the density
    of a is 1 / (mean reach to its neighbours + 1e-10), and the factor is the mean density of its neighbours by its own.
    A window's neighbours may overlap it. The neighbours are exact; windows are never held in memory all at once.

    Next to a flat stretch with more equal windows than ``neighbours``, where the mean reach is 0, factors of 1e10
    occur, and all others vanish when scores are scaled.

    Examples
    --------
    >>> values = np.sin(2 * np.pi * np.arange(400) / 20)
    >>> values[200:205] += 1
    >>> scores = dqeval.detectors.sub_lof(values, window=10, neighbours=5)
    >>> 195 <= scores.argmax() < 210
    np.True_
    """
    series = validate.values(values)
    count = arguments.whole_number("neighbours", neighbours, least=1)
    arguments.one_of("normalise", normalise, ("columns", "windows"))
    least = 1 if normalise == "columns" else 2
    length = windows.window_length(series, window, least=least, count=2, why="to compare one with another")
    if normalise == "windows":
        space = Space(windows.near_one(series), length, None)
    else:
        standard = windows.standardise(series)
        space = Space(standard, length, _column_weights(standard, length))
    return windows.centre(_factors(nearest(space, min(count, len(space) - 1))), length)


def _column_weights(values: FloatArray, window: int) -> FloatArray:
    """Return one by the variance of each column of the matrix of windows; 0 if it is constant, which tells nothing."""
    columns = windows.sliding(values, len(values) - window + 1)
    # Seen from its first value a constant column has no variance to the last digit. The series' own variance is 1, so
    # that less than this is rounding.
    variances = np.array([(column - column[0]).var() for column in columns])
    weights: FloatArray = np.divide(1, variances, where=variances > 1e-30, out=np.zeros(window))
    return weights


def _factors(found: Neighbours) -> FloatArray:
    """Return the local outlier factor of each window."""
    farthest = found.distances[:, -1]
    reach = np.maximum(farthest[found.indices], found.distances)
    density = 1 / (reach.mean(axis=1) + 1e-10)
    factors: FloatArray = density[found.indices].mean(axis=1) / density
    return factors
