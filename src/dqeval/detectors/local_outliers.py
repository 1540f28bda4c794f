"""Sub-LOF: how much thinner the neighbourhood of a window is than those of its neighbours."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from dqeval.core import arguments, validate
from dqeval.core.registry import detector
from dqeval.core.types import FloatArray, Numbers
from dqeval.detectors import windows
from dqeval.detectors.neighbours import Neighbours, Space, nearest
from dqeval.detectors.neighbours_by_cells import Found, by_cells

_ROWS = 1 << 14  # whose neighbours are looked up at once


@detector(label="Sub-LOF", citation="Breunig et al. 2000", least={"window": 1, "neighbours": 1, "most_compared": 1})
def sub_lof(
    values: Numbers,
    *,
    window: int | None = None,
    neighbours: int = 30,
    normalise: Literal["columns", "windows"] = "columns",
    most_compared: int | None = None,
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
    most_compared : int, optional
        For very long series: with about how many others each window is compared, those that are likely to be near. By
        default with all, and the neighbours are exact; otherwise they may be farther away than the nearest, and
        `neighbour_distances` says how far at least and at most.

    Returns
    -------
    array of float, shape (n,)
        About 1 where windows are as dense as around their neighbours, and the higher, the more anomalous. 1 everywhere
        for a constant series.

    Notes
    -----
    With D(b) the distance of b to the last of its neighbours, the reach from a to b is max(D(b), distance), the density
    of a is 1 / (mean reach to its neighbours + 1e-10), and the factor is the mean density of its neighbours by its own.
    A window's neighbours may overlap it. Windows are never held in memory all at once.

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
    found, length = _search(values, window, neighbours, normalise, most_compared)
    return windows.centre(_factors(found.neighbours), length)


class NeighbourDistances(NamedTuple):
    """How far the last neighbour of each window is, at the window's middle: the true distance is between the two.

    Attributes
    ----------
    at_least, at_most : array of float, shape (n,)
        The same number where it is sure that the neighbours are the nearest.
    """

    at_least: FloatArray
    at_most: FloatArray


def neighbour_distances(
    values: Numbers,
    *,
    window: int | None = None,
    neighbours: int = 30,
    normalise: Literal["columns", "windows"] = "columns",
    most_compared: int | None = None,
) -> NeighbourDistances:
    """How far the neighbours that `sub_lof` finds are from the nearest ones at most, for every window.

    Parameters
    ----------
    values : array-like of numbers, shape (n,) or (n, 1)
        At least one more than ``window``.
    window : int, optional
        The length of the windows; by default the period of rank 2 (`dqeval.find_period`).
    neighbours : int, default 30
        To which of the nearest windows the distance is; to the last of all others, if there are fewer.
    normalise : "columns" or "windows", default "columns"
        Each place of the windows in standard units over all windows, or each window in standard units of its own.
    most_compared : int, optional
        With about how many others each window is compared; by default with all.

    Returns
    -------
    NeighbourDistances
        ``at_most`` is the distance to the last neighbour that was found, ``at_least`` one that the true distance cannot
        be below. They are equal if ``most_compared`` is not given.

    Examples
    --------
    >>> values = np.sin(np.arange(3000) / 10) + np.sin(np.arange(3000) / 37)
    >>> found = dqeval.detectors.neighbour_distances(values, window=20, neighbours=5, most_compared=500)
    >>> sure = found.at_least == found.at_most
    >>> bool(sure.mean() > 0.5)
    True
    """
    found, length = _search(values, window, neighbours, normalise, most_compared)
    farthest = found.neighbours.distances[:, -1]
    nearest_possible = np.minimum(farthest, found.complete_to)
    return NeighbourDistances(windows.centre(nearest_possible, length), windows.centre(farthest, length))


def _search(values: Any, window: Any, neighbours: Any, normalise: Any, most_compared: Any) -> tuple[Found, int]:
    """Return the neighbours of all windows, and how long these are."""
    series = validate.values(values)
    count = arguments.whole_number("neighbours", neighbours, least=1)
    arguments.one_of("normalise", normalise, ("columns", "windows"))
    least = 1 if normalise == "columns" else 2
    if most_compared is not None:
        most_compared = arguments.whole_number("most_compared", most_compared, least=1)
    length = windows.window_length(series, window, least=least, count=2, why="to compare one with another")
    if normalise == "windows":
        space = Space(windows.near_one(series), length, None)
    else:
        standard = windows.standardise(series)
        space = Space(standard, length, _column_weights(standard, length))
    count = min(count, len(space) - 1)
    if most_compared is None or most_compared >= len(space) - 1:
        return Found(nearest(space, count), np.full(len(space), np.inf)), length
    return by_cells(space, count, most_compared), length


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
    farthest = found.distances[:, -1].copy()
    density, factors = np.empty(len(farthest)), np.empty(len(farthest))
    parts = [slice(start, start + _ROWS) for start in range(0, len(farthest), _ROWS)]
    for part in parts:
        reach = np.maximum(farthest[found.indices[part]], found.distances[part])
        density[part] = 1 / (reach.mean(axis=1) + 1e-10)
    for part in parts:
        factors[part] = density[found.indices[part]].mean(axis=1) / density[part]
    return factors
