"""Baselines: detectors of one line each, which any other should beat."""

from __future__ import annotations

from typing import Any

import numpy as np

from dqeval.core import arguments, validate
from dqeval.core.registry import detector
from dqeval.core.types import FloatArray, Numbers
from dqeval.detectors import windows

# In standard units of the series: where a window is constant, or nearly, deviations are counted in these.
_LEAST_DEVIATION = 0.01


@detector(label="Random", citation="a baseline")
def random_scores(values: Numbers, *, seed: int = 0) -> FloatArray:
    """Random numbers, whatever the values are.

    Parameters
    ----------
    values : array-like of numbers, shape (n,) or (n, 1)
        The values of the series, of which only their number counts; none may be missing.
    seed : int, default 0
        The seed of the random numbers.

    Returns
    -------
    array of float, shape (n,)
        Uniformly distributed from 0 to 1.

    Examples
    --------
    >>> dqeval.detectors.random_scores([5.0, 5.0, 9.0], seed=1).round(2)
    array([0.51, 0.95, 0.14])
    """
    count = len(validate.values(values))
    return np.random.default_rng(arguments.seed(seed)).random(count)


@detector(label="Median-distance", citation="a baseline")
def median_distance(values: Numbers) -> FloatArray:
    """Distance of each point from the median of the series.

    Parameters
    ----------
    values : array-like of numbers, shape (n,) or (n, 1)
        The values of the series; none may be missing.

    Returns
    -------
    array of float, shape (n,)
        The higher, the more anomalous, in standard deviations of the series. Zeros for a constant series.

    Examples
    --------
    >>> dqeval.detectors.median_distance([1, 2, 1, 9, 1, 2]).argmax()
    np.int64(3)
    """
    standard = windows.standardise(validate.values(values))
    return np.abs(standard - np.median(standard))


@detector(label="Difference", citation="a baseline")
def absolute_difference(values: Numbers) -> FloatArray:
    """Absolute difference between each point and the one before it.

    Parameters
    ----------
    values : array-like of numbers, shape (n,) or (n, 1)
        The values of the series; none may be missing.

    Returns
    -------
    array of float, shape (n,)
        The higher, the more anomalous, in standard deviations of the series. The first point, which has none before it,
        gets 0. Zeros for a constant series.

    Examples
    --------
    >>> dqeval.detectors.absolute_difference([1, 1, 1, 9, 9, 9]).argmax()
    np.int64(3)
    """
    standard = windows.standardise(validate.values(values))
    return np.abs(np.diff(standard, prepend=standard[:1]))


@detector(label="Moving-z", citation="a baseline", least={"window": 2})
def moving_z_score(values: Numbers, *, window: int = 100) -> FloatArray:
    """Distance of each point from the mean of the points just before it, in their standard deviations.

    Parameters
    ----------
    values : array-like of numbers, shape (n,) or (n, 1)
        The values of the series; none may be missing.
    window : int, default 100
        How many points before each one are looked at, the point itself not among them.

    Returns
    -------
    array of float, shape (n,)
        The higher, the more anomalous. The first points, which have not so many before them, get 0. Zeros for a
        constant series.

    Notes
    -----
    The window is trailing, as in monitoring: what comes later is not known when a point is judged. The point itself is
    not in its window, where it would hide how far it is off. A standard deviation counts as at least a hundredth of
    that of the whole series, so that a small change after a constant stretch has no score without bounds.

    Examples
    --------
    >>> dqeval.detectors.moving_z_score([1, 2, 1, 2, 1, 9, 1, 2], window=4).round(1)
    array([ 0. ,  0. ,  0. ,  0. ,  1. , 15. ,  0.7,  0.4])
    """
    standard = windows.standardise(validate.values(values))
    length = _window_before(window, len(standard))
    sums, squares = (np.concatenate([[0.0], np.cumsum(each)]) for each in (standard, standard**2))
    # Sums of a series in standard units lose few digits, far fewer than the least deviation needs.
    means = (sums[length:-1] - sums[: -length - 1]) / length
    variances = (squares[length:-1] - squares[: -length - 1]) / length - means**2
    deviations = np.sqrt(np.maximum(variances, _LEAST_DEVIATION**2))
    scores: FloatArray = np.zeros(len(standard))
    scores[length:] = np.abs(standard[length:] - means) / deviations
    return scores


def _window_before(window: Any, count: int) -> int:
    length = arguments.whole_number("window", window, least=2, most=validate.MOST_COUNTED)
    if length >= count:
        raise ValueError(f"window must be at most {count - 1:,}, the number of values less 1: got {length:,}")
    return length
