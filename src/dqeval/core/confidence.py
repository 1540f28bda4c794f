"""Confidence intervals of means over events or series, by drawing them again (bootstrap)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dqeval.core import arguments
from dqeval.render.tables import count_of
from dqeval.support.frames import Framed

FloatArray = NDArray[np.float64]

FEWEST = 5  # units; from fewer, no interval holds what it says
RESAMPLES, FEWEST_RESAMPLES = 2000, 400
MOST_DRAWS = 20_000_000  # of units: with more, resamples are as few as that takes, but no fewer than these
MOST_RESAMPLES = 1_000_000
_STEADY = 0.01  # per unit, of the variance of all units: added to that of each draw
_AT_ONCE = 50_000  # draws, so that they stay in the cache
_KEPT = 1_000_000  # draws at most that are kept for the next interval, some 8 MB
_KEPT_SMALL = MOST_DRAWS  # draws at most that are kept as small whole numbers, a byte each


def resamples_for(units: int) -> int:
    """Return how often to draw so many units: many of them leave a narrow interval, of which fewer draws tell as much.

    Examples
    --------
    >>> resamples_for(10_000), resamples_for(20_000), resamples_for(1_000_000)
    (2000, 1000, 400)
    """
    return min(RESAMPLES, max(MOST_DRAWS // max(units, 1), FEWEST_RESAMPLES))


@dataclass(frozen=True, slots=True)
class Interval(Framed):
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
    level: float = 0.95,
    resamples: int | None = None,
    seed: int = 0,
    least: float = 0.0,
    most: float = 1.0,
) -> Interval:
    """Return a confidence interval of the mean of the values of some events: see `mean_intervals`.

    Examples
    --------
    >>> print(mean_interval(np.array([0.9, 0.2, 0.8, 1.0, 0.4, 0.7])))
    [0.124, 0.954]
    >>> print(mean_interval(np.array([0.9, 0.2])))
    too few: 2 events
    """
    columns = np.asarray(values)[:, None]
    return mean_intervals(columns, level=level, resamples=resamples, seed=seed, least=least, most=most)[0]


def mean_intervals(
    values: FloatArray,
    *,
    groups: NDArray[np.intp] | None = None,
    level: float = 0.95,
    resamples: int | None = None,
    seed: int = 0,
    unit: str = "event",
    least: float = 0.0,
    most: float = 1.0,
    other_reach: Sequence[float] = (),
) -> list[Interval]:
    """Return a confidence interval of the mean of each column of some values, by the studentized bootstrap.

    Parameters
    ----------
    values : array of float, shape (n, n_columns)
        All columns are drawn alike.
    groups : array of int, shape (n,), optional
        The series that each event belongs to: events of one series are alike, so whole series are drawn.
    level : float, default 0.95
    resamples : int, optional
        How often units are drawn again; `resamples_for` their number, if not given.
    seed : int, default 0
        Of the draws: the same seed gives the same intervals.
    unit : str, default "event"
        What is drawn, in words.
    least, most : float, default 0 and 1
        What the mean can be at all.
    other_reach : sequence of float, optional
        By how much each mean may be off, at the same level, for reasons that are not drawn, such as the seeds of a
        detector: it widens the interval.

    Notes
    -----
    Each draw gives a mean and its standard error. How far these means lie from the mean of all, in standard errors,
    tells how far that may lie from the true one. With few units this holds its level better than the percentile and the
    BCa bootstrap, which are too narrow: see docs/uncertainty.md. Some of the variance of all units is added to that of
    each draw, as draws of units that happen to be alike would decide alone otherwise. The more units there are, the
    more is added: many need no studentizing, whose tails are long where a few of them are large.
    """
    share = arguments.share("level", level)
    of_draws = arguments.seed(seed)
    sums, sizes = _units(values, groups)
    wanted = resamples_for(len(sizes)) if resamples is None else resamples
    count = arguments.whole_number("resamples", wanted, least=1, most=MOST_RESAMPLES)
    others = other_reach or [0.0] * values.shape[1]
    if len(sizes) < FEWEST:
        return [Interval(np.nan, np.nan, share, len(sizes), unit) for _ in others]
    means = sums.sum(axis=0) / sizes.sum()
    rest = _Rest(sums - means * sizes[:, None], sizes)
    low, high = np.quantile(rest.distances(count, of_draws), [(1 - share) / 2, (1 + share) / 2], axis=0)
    reaches = rest.reach * np.stack([high, -low])
    below, above = np.hypot(reaches, others) * np.sign(reaches + (reaches == 0))
    ends = np.clip([means - below, means + above], least, most).T.tolist()
    return [Interval(first, last, share, len(sizes), unit) for first, last in ends]


class _Rest:
    """What is left of the sums of some units without the means, in a unit in which their squares are no trouble."""

    def __init__(self, rest: FloatArray, sizes: FloatArray) -> None:
        largest = np.abs(rest).max(axis=0)
        scale = np.where(largest > 0, largest, 1.0)
        self.rest, self.sizes = rest / scale, sizes
        self.squares = self.rest**2
        self.alike = bool((sizes == 1).all())
        units = len(sizes)
        self.steady = _STEADY * units
        self.error = self._errors(np.ones((1, units)))[1][0]
        self.reach = self.error * scale * np.sqrt((1 + self.steady) * units / (units - 1))

    def distances(self, count: int, seed: int) -> FloatArray:
        """Return how far the mean of each draw lies from that of all, in standard errors; 0 where all are alike."""
        found = []
        for times in _draws(len(self.sizes), count, seed):
            off, errors = self._errors(times)
            spread = np.hypot(errors, np.sqrt(self.steady) * self.error)
            found.append(np.divide(off, spread, out=np.zeros_like(off), where=spread > 0))
        return np.concatenate(found)

    def _errors(self, times: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return how far the means of draws are off, by how often each unit is drawn, and their standard errors."""
        units, rest, sizes = len(self.sizes), self.rest, self.sizes
        total = (times @ sizes)[:, None]
        sums = times @ rest
        off = sums / total
        # Where each unit is one value, two products are the same as before.
        weighted = sums if self.alike else times @ (rest * sizes[:, None])
        squared = total if self.alike else (times @ sizes**2)[:, None]
        squares = times @ self.squares - 2 * off * weighted + off**2 * squared
        return off, np.sqrt(units / (units - 1) * np.maximum(squares, 0.0)) / total


def _draws(units: int, count: int, seed: int) -> Iterator[FloatArray]:
    """Yield how often each unit is drawn: one row per draw, in pieces that stay in the cache.

    Up to 20,000,000 draws are kept, many of them as bytes: all detectors of a series have as many events, and are drawn
    alike.
    """
    if units * count <= _KEPT:
        yield _kept_draws(units, count, seed)
    elif units * count <= _KEPT_SMALL:
        yield from (drawn.astype(np.float64) for drawn in _kept_small(units, count, seed))
    else:
        yield from _new_draws(units, count, seed)


@lru_cache(maxsize=2)
def _kept_draws(units: int, count: int, seed: int) -> FloatArray:
    return np.concatenate(list(_new_draws(units, count, seed)))


@lru_cache(maxsize=2)
def _kept_small(units: int, count: int, seed: int) -> list[NDArray[np.unsignedinteger]]:
    return [drawn.astype(np.min_scalar_type(int(drawn.max()))) for drawn in _new_draws(units, count, seed)]


def _new_draws(units: int, count: int, seed: int) -> Iterator[FloatArray]:
    random = np.random.default_rng(seed)
    rows = max(_AT_ONCE // units, 1)
    for start in range(0, count, rows):
        drawn = random.integers(units, size=(min(rows, count - start), units))
        places = drawn + units * np.arange(len(drawn))[:, None]
        yield np.bincount(places.ravel(), minlength=drawn.size).reshape(drawn.shape).astype(np.float64)


def _units(values: FloatArray, groups: NDArray[np.intp] | None) -> tuple[FloatArray, FloatArray]:
    """Return what is drawn: the sums of the values of each unit, and how many these are."""
    if groups is None:
        return values, np.ones(len(values))
    _, place = np.unique(groups, return_inverse=True)
    sums = np.array([np.bincount(place, column) for column in values.T]).T
    return sums, np.bincount(place).astype(np.float64)
