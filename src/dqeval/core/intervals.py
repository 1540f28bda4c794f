"""Confidence intervals of means over events or series, by drawing them again (bootstrap)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dqeval.core import arguments
from dqeval.render.tables import count_of

FloatArray = NDArray[np.float64]

FEWEST = 5  # units; from fewer, no interval holds what it says
RESAMPLES = 2000
MOST_RESAMPLES = 1_000_000
_STEADY = 0.05  # of the variance of all units, added to that of each draw
_AT_ONCE = 1_000_000  # draws, to bound memory


@dataclass(frozen=True, slots=True)
class Interval:
    """A confidence interval of a mean.

    Attributes
    ----------
    low, high : float
        NaN where there are too few units.
    level : float
        How often such an interval holds the true mean.
    units : int
        How many events, or series, were drawn again.
    unit : str
        What they are.
    """

    low: float
    high: float
    level: float
    units: int
    unit: str

    @property
    def is_known(self) -> bool:
        """Whether there were enough units."""
        return self.units >= FEWEST

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        if not self.is_known:
            units = f"{self.units:,} series" if self.unit == "series" else count_of(self.units, self.unit)
            return f"too few: {units}"
        return f"[{self.low:.3f}, {self.high:.3f}]"


def mean_interval(
    values: FloatArray,
    *,
    groups: NDArray[np.intp] | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
    unit: str = "event",
    least: float = 0.0,
    most: float = 1.0,
) -> Interval:
    """Return a confidence interval of the mean of some values, by the studentized bootstrap.

    Parameters
    ----------
    values : array of float, shape (n,)
    groups : array of int, shape (n,), optional
        The series that each event belongs to: events of one series are alike, so whole series are drawn.
    level : float, default 0.95
    resamples : int, default 2000
    seed : int, default 0
        Of the draws: the same seed gives the same interval.
    unit : str, default "event"
        What is drawn, in words.
    least, most : float, default 0 and 1
        What the mean can be at all.

    Notes
    -----
    Each draw gives a mean and its standard error. How far these means lie from the mean of all, in standard errors,
    tells how far that may lie from the true one. With few units this holds its level better than the percentile and the
    BCa bootstrap, which are too narrow: see docs/uncertainty.md. A little of the variance of all units is added to that
    of each draw, as draws of units that happen to be alike would decide alone otherwise.

    Examples
    --------
    >>> print(mean_interval(np.array([0.9, 0.2, 0.8, 1.0, 0.4, 0.7])))
    [0.110, 0.954]
    >>> print(mean_interval(np.array([0.9, 0.2])))
    too few: 2 events
    """
    share = arguments.share("level", level)
    count = arguments.whole_number("resamples", resamples, least=1, most=MOST_RESAMPLES)
    random = np.random.default_rng(arguments.seed(seed))
    sums, sizes = _units(values, groups)
    if len(sums) < FEWEST:
        return Interval(np.nan, np.nan, share, len(sums), unit)
    mean, error = (float(found[0]) for found in _means_and_errors(sums[None, :], sizes[None, :]))
    if error == 0:  # all units are alike, and nothing tells how far the true mean may be
        return Interval(mean, mean, share, len(sums), unit)
    rows = max(_AT_ONCE // len(sums), 1)
    distances = []
    for start in range(0, count, rows):
        drawn = random.integers(len(sums), size=(min(rows, count - start), len(sums)))
        means, errors = _means_and_errors(sums[drawn], sizes[drawn])
        distances.append((means - mean) / np.hypot(errors, np.sqrt(_STEADY) * error))
    low, high = np.quantile(np.concatenate(distances), [(1 - share) / 2, (1 + share) / 2])
    reach = error * np.sqrt((1 + _STEADY) * len(sums) / (len(sums) - 1))
    ends = np.clip([mean - high * reach, mean - low * reach], least, most)
    return Interval(float(ends[0]), float(ends[1]), share, len(sums), unit)


def _units(values: FloatArray, groups: NDArray[np.intp] | None) -> tuple[FloatArray, FloatArray]:
    """Return what is drawn: the sum of the values of each unit, and how many these are."""
    if groups is None:
        return values, np.ones(len(values))
    _, place = np.unique(groups, return_inverse=True)
    return np.bincount(place, values).astype(np.float64), np.bincount(place).astype(np.float64)


def _means_and_errors(sums: FloatArray, sizes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the mean of each row of units, and its standard error."""
    units, total = sums.shape[1], sizes.sum(axis=1)
    means = sums.sum(axis=1) / total
    rest = sums - means[:, None] * sizes
    return means, np.sqrt(units / (units - 1) * np.einsum("ij,ij->i", rest, rest)) / total
