"""Paired comparisons of all detectors together, and intervals of single means: what every verdict rests on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from dqeval.core.types import BoolArray, FloatArray

FEWEST = 5  # units: with fewer there is no interval
FLIPS, FEWEST_FLIPS = 5_000, 1_000
CLOSE = 1e-6  # statistics that differ by a smaller share are ties: rounding tells them apart
# Of flips × units × pairs: where there are more, flips are as few as that takes, but no fewer than the fewest.
_MOST_WORK = 12e9
_AT_ONCE = 2_000_000  # numbers in a piece of work
_PSEUDO = 0.5  # the weight of each of two pseudo-units at either end of the range
_DAMPED = 5  # units: how many take the correction for skewness away; the skewness of few units is hardly known
_LEAST_SPREAD = 1e-3  # of the squares of the differences: more even ones count as if they were this uneven


@dataclass(frozen=True, slots=True)
class Comparisons:
    """The comparisons of all pairs of columns: the first with each of those after it, then the second, and so on.

    Attributes
    ----------
    difference, low, high, p : array of float, shape (n_pairs,)
    told_apart : array of bool, shape (n_pairs,)
    n_flips : int
    """

    difference: FloatArray
    low: FloatArray
    high: FloatArray
    p: FloatArray
    told_apart: BoolArray
    n_flips: int


def compare_all(
    values: FloatArray,
    *,
    level: float = 0.95,
    seed_variance: FloatArray | None = None,
    seed_freedom: FloatArray | None = None,
    flips: int = FLIPS,
) -> Comparisons:
    """Compare all columns of independent units × detectors, by flipping the signs of the units' differences.

    Without a difference of the detectors, the differences of a unit are as likely with the other sign. So the largest
    statistic over all pairs is compared with those after random flips, or after all flips where they are few. Each
    statistic is Student's, corrected for skewness as P. Hall (1992) did: as a function of the difference it is
    monotone, so its inverse gives the intervals, which hold together. The tests step down: each pair is compared with
    the largest of those whose statistics are no larger. What seeds add is drawn with each flip.

    Parameters
    ----------
    values : array of float, shape (n_units, n_detectors)
    level : float
    seed_variance, seed_freedom : array of float, shape (n_detectors,), optional
        The variance of each mean from what a seed changes in all units alike, and its degrees of freedom.
    flips : int
        At most so many, the one that flips nothing among them.
    """
    units, detectors = values.shape
    first, second = np.triu_indices(detectors, 1)
    scale = float(np.abs(values).max()) or 1.0
    ordered = values / scale
    ordered = ordered[np.lexsort(ordered.T)]  # so that the order of the units does not matter
    differences = ordered[:, first] - ordered[:, second]
    squared = differences * differences
    mean, squares, cubes = differences.mean(axis=0), squared.mean(axis=0), squared * differences
    error = np.sqrt(np.maximum(squares - mean**2, _LEAST_SPREAD * squares) / max(units - 1, 1))
    variance = np.zeros(detectors) if seed_variance is None else seed_variance / scale**2
    total = np.sqrt(error**2 + variance[first] + variance[second])
    safe = np.where(total > 0, total, 1.0)
    share = np.where(total > 0, error / safe, 1.0)
    _, bend = _statistic(mean, squares, cubes.mean(axis=0), units, share)
    if cubes.size > _AT_ONCE:
        cubes = cubes.astype(np.float32)  # only skewness follows from them: half the time, and precise enough
    random = np.random.default_rng(1)
    order, limit = np.arange(len(first)), np.zeros(len(first))
    counts = np.zeros(len(first), dtype=np.intp)
    largest: list[FloatArray] = []
    for signs in _flips(units, len(first), flips, enumerate_all=seed_freedom is None):
        sums = signs @ ordered / units
        noise, shares = np.zeros(1), share
        if seed_freedom is not None:
            drawn, variances = _draw_seeds(random, len(signs), variance, seed_freedom)
            if not largest:
                drawn[0], variances[0] = 0.0, variance  # the flip that flips nothing is what was observed
            stretch = np.sqrt(share**2 + (variances[:, first] + variances[:, second]) / safe**2)
            noise, shares = (drawn[:, first] - drawn[:, second]) / safe / stretch, share / stretch
        third = signs.astype(cubes.dtype) @ cubes / units
        flipped = np.abs(_statistic(sums[:, first] - sums[:, second], squares, third, units, shares, noise)[0])
        if not largest:
            order = np.argsort(flipped[0], kind="stable")
            limit = flipped[0, order] * (1 - CLOSE)
        flipped = np.maximum.accumulate(flipped[:, order], axis=1)
        counts += (flipped >= limit).sum(axis=0)
        largest.append(flipped[:, -1])
    reference = np.sort(np.concatenate(largest))[::-1]
    p = np.empty(len(first))
    p[order[::-1]] = np.maximum.accumulate(counts[::-1]) / len(reference)
    critical = reference[int((1 - level) * len(reference) + CLOSE)]
    low, high = (mean - total * _inverse(sign * critical, bend) for sign in (1, -1))
    # Where no unit differs, the interval is what so many units leave open.
    open_share = (1 - (1 - level) ** (1 / units)) * np.ptp(ordered)
    low, high = np.where(squares == 0, -open_share, low), np.where(squares == 0, open_share, high)
    # What is told apart lies on one side of 0, and nothing else does.
    apart = p <= 1 - level + CLOSE
    low = np.where(apart & (mean > 0), np.maximum(low, 0.0), np.where(apart, low, np.minimum(low, 0.0)))
    high = np.where(apart & (mean < 0), np.minimum(high, 0.0), np.where(apart, high, np.maximum(high, 0.0)))
    return Comparisons(mean * scale, low * scale, high * scale, p, apart, len(reference))


def _draw_seeds(
    random: np.random.Generator, count: int, variance: FloatArray, freedom: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Return draws of what seeds change in the means, and of its variance as it would be estimated.

    Two seeds tell too little of the variance for that: there, the draws are those of Student's t.
    """
    size = (count, len(variance))
    drawn = random.standard_normal(size) * np.sqrt(variance)
    shares = random.chisquare(np.maximum(freedom, 1.0), size) / np.maximum(freedom, 1.0)
    few = freedom < 2
    return np.where(few, drawn / np.sqrt(shares), drawn), np.where(few, 1.0, shares) * variance


def _flips(units: int, pairs: int, most: int, *, enumerate_all: bool) -> Iterator[FloatArray]:
    """Yield signs of the units, a row per flip, in pieces; the first row flips nothing."""
    if enumerate_all and 2 ** (units - 1) <= most:
        codes = np.arange(2 ** (units - 1))
        yield (1 - 2 * (codes[:, None] >> np.arange(units) & 1)).astype(np.float64)
        return
    count = int(min(most, max(_MOST_WORK / (units * pairs), FEWEST_FLIPS)))
    random = np.random.default_rng(0)
    rows = max(_AT_ONCE // max(units, pairs), 1)
    for start in range(0, count, rows):
        signs = 1 - 2 * random.integers(0, 2, (min(rows, count - start), units), dtype=np.int8)
        if start == 0:
            signs[0] = 1
        yield signs.astype(np.float64)


def _statistic(
    mean: FloatArray, squares: FloatArray, cubes: FloatArray, units: int, share: FloatArray, noise: Any = 0.0
) -> tuple[FloatArray, FloatArray]:
    """Return Hall's statistic from the means of differences, of their squares and cubes; and how much it is bent."""
    spread = np.maximum(squares - mean * mean, _LEAST_SPREAD * squares)
    safe = np.where(spread > 0, spread, 1.0)
    root = np.sqrt(safe)
    trust = max(1 - _DAMPED / units, 0.0)
    bend = (
        (cubes - mean * (3 * squares - 2 * mean * mean)) / (safe * root) * (share**3 * trust / (3 * math.sqrt(units)))
    )
    t = share * mean * (math.sqrt(units - 1) / root) + noise
    bent = bend * t
    return t * (1 + bent + bent * bent / 3) + bend / 2, bend


def _inverse(statistic: float, bend: FloatArray) -> FloatArray:
    """Return Student's t of which Hall's statistic is this."""
    straight = np.abs(bend) < CLOSE
    safe = np.where(straight, 1.0, bend)
    return np.where(straight, statistic, (np.cbrt(1 + 3 * safe * (statistic - safe / 2)) - 1) / safe)


def mean_intervals(
    values: FloatArray,
    sizes: FloatArray | None = None,
    *,
    level: float = 0.95,
    ends: tuple[float, float] = (0.0, 1.0),
    seed_variance: FloatArray | None = None,
    seed_freedom: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Return an interval for each column's mean: Student's, with pseudo-units at the ends of the range.

    Parameters
    ----------
    values : array of float, shape (n_groups, n_detectors)
        The sum of each group.
    sizes : array of float, shape (n_groups,), optional
        How many units each group has; 1 if not given.
    level : float
    ends : tuple of float
        The least and the largest value there can be: two pseudo-units of weight 1/2 at each of them are added.
    seed_variance, seed_freedom : array of float, shape (n_detectors,), optional
        As `compare_all` takes them.
    """
    count, detectors = values.shape
    if count < FEWEST:
        return np.full(detectors, np.nan), np.full(detectors, np.nan)
    sizes = np.ones(count) if sizes is None else sizes
    each = sizes / sizes.mean()
    weight = 2 * _PSEUDO
    mean = ((values / sizes.mean()).sum(axis=0) + weight * sum(ends)) / (count + 2 * weight)
    rest = values / sizes.mean() - each[:, None] * mean
    added = weight * sum((end - mean) ** 2 for end in ends)
    error = np.sqrt(((rest**2).sum(axis=0) + added) / (count + 2 * weight - 1) / (count + 2 * weight))
    reach = student(level, int(count + 2 * weight - 1)) * error
    if seed_variance is not None and seed_freedom is not None:
        known = [student(level, int(f)) if f > 0 else 0.0 for f in seed_freedom]
        reach = np.hypot(reach, np.array(known) * np.sqrt(seed_variance))
    low, high = mean - reach, mean + reach
    return (np.maximum(low, 0.0), np.minimum(high, 1.0)) if ends == (0.0, 1.0) else (low, high)


def seed_effects(cube: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the variance of each mean from what a seed changes in all units alike, and its degrees of freedom.

    The values are of units × seeds × detectors, NaN where there is none. Seeds that most units lack are left out, and
    then the units that lack any of the others.
    """
    variance, freedom = np.zeros(cube.shape[2]), np.zeros(cube.shape[2])
    for i in range(cube.shape[2]):
        values = cube[:, :, i]
        values = values[:, np.isfinite(values).mean(axis=0) > 0.5]
        whole = values[np.isfinite(values).all(axis=1)]
        if whole.shape[1] > 1 and len(whole):
            seeds = whole.shape[1]
            variance[i], freedom[i] = whole.mean(axis=0).var(ddof=1) / seeds, seeds - 1
    return variance, freedom


@lru_cache(maxsize=256)
def student(level: float, freedom: int) -> float:
    """Return how far Student's t reaches with some degrees of freedom, to both sides.

    Examples
    --------
    >>> round(student(0.95, 9), 3)
    2.262
    """
    # With t = sqrt(freedom) tan(angle), the density is a power of the cosine.
    angle = np.linspace(0, min(math.pi / 2, 40 / math.sqrt(freedom)), 40_001)
    density = np.cos(angle) ** (freedom - 1)
    below = np.concatenate([[0], np.cumsum(density[1:] + density[:-1])])
    return math.sqrt(freedom) * math.tan(float(np.interp(level * below[-1], below, angle)))
