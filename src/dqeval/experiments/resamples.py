"""How often a sentence holds if the series had been others: series, and seeds, are drawn again (bootstrap)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dqeval.core.confidence import FEWEST
from dqeval.core.types import FloatArray

COUNT = 2000  # resamples
HOLDS, FAILS = 0.95, 0.05  # shares of them from which on, and up to which, there is a verdict


@dataclass(frozen=True, eq=False)
class Resamples:
    """Series drawn again, as many as there are, with replacement: all that is asked of them is asked of the same draws.

    Attributes
    ----------
    series : int
        How many there are.
    """

    series: int

    @property
    def enough(self) -> bool:
        """Whether there are enough series for a verdict."""
        return self.series >= FEWEST

    @cached_property
    def times(self) -> FloatArray:
        """How often each series is drawn: one row per resample."""
        random = np.random.default_rng(0)
        return random.multinomial(self.series, np.full(self.series, 1 / self.series), size=COUNT).astype(np.float64)

    def means(self, sums: FloatArray, sizes: FloatArray, *, stream: int = 0) -> FloatArray:
        """Return the mean of each resample.

        Parameters
        ----------
        sums : array of float, shape (n_series, n_repeats)
            Of the values of each series, with each seed of a detector or each draw of noise, which are drawn again too.
        sizes : array of float, shape (n_series,)
            How many values each sum has.
        stream : int
            Of the draws of repeats: what has the same repeats shares them by sharing this.
        """
        counts = (self.times @ sizes)[:, None]
        # A resample may have none of the few series that have a value.
        by_repeat = np.divide(self.times @ sums, counts, out=np.full((COUNT, sums.shape[1]), np.nan), where=counts > 0)
        return np.asarray((by_repeat * _weights(sums.shape[1], stream)).sum(axis=1))

    def each(self, values: FloatArray, *, stream: int = 0) -> FloatArray:
        """Return the value of each series in each resample: the mean of its repeats that are drawn there.

        Parameters
        ----------
        values : array of float, shape (n_series, n_repeats)
        stream : int
            As of `means`.

        Returns
        -------
        array of float, shape (n_resamples, n_series)
        """
        return np.asarray(_weights(values.shape[1], stream) @ values.T)

    def errors(self, sums: FloatArray, sizes: FloatArray, *, stream: int = 0) -> FloatArray:
        """Return the standard error of each resample's mean, from how far its series are off: of a ratio of two sums.

        The parameters are those of `means`.
        """
        drawn, counts = self.each(sums, stream=stream), self.times @ sizes
        means = (self.times * drawn).sum(axis=1) / counts
        off = drawn - means[:, None] * sizes
        return np.asarray(np.sqrt((self.times * off**2).sum(axis=1)) / counts)

    def share(self, holds: Callable[[int], bool]) -> float:
        """Return the share of the resamples, each told by its number, in which something holds."""
        return sum(map(holds, range(COUNT))) / COUNT


def verdict_of(share: float) -> bool | None:
    """Return whether something holds: in 95 % of the resamples or more; does not: in 5 % or less; or is open.

    Examples
    --------
    >>> verdict_of(0.97), verdict_of(0.5), verdict_of(0.05)
    (True, None, False)
    """
    return True if share >= HOLDS else False if share <= FAILS else None


def _weights(repeats: int, stream: int) -> FloatArray:
    """Return the weight of each repeat in each resample: how often it is drawn, by how many there are."""
    chances = np.full(repeats, 1 / repeats)
    return np.random.default_rng([1, stream]).multinomial(repeats, chances, size=COUNT) / repeats


def filled(values: FloatArray) -> FloatArray:
    """Return values by unit and repeat; repeats that a unit lacks are the mean of those that it has.

    Examples
    --------
    >>> filled(np.array([[1.0, np.nan, 3.0], [5.0, 6.0, 7.0]])).tolist()
    [[1.0, 2.0, 3.0], [5.0, 6.0, 7.0]]
    """
    return np.where(np.isfinite(values), values, np.nanmean(values, axis=1, keepdims=True))


def sums_by_series(series: Sequence[str], values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the sums of the rows of each series, in the order of their names, and how many rows each has."""
    names, place = np.unique(np.asarray(series), return_inverse=True)
    sums = np.zeros((len(names), values.shape[1]))
    np.add.at(sums, place, values)
    return sums, np.bincount(place).astype(np.float64)
