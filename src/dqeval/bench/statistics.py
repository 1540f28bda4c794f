"""Statistics of rankings: intervals, seeds, ranks, tests, groups that do not differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dqeval.core.confidence import Interval, mean_intervals
from dqeval.core.registry import METRICS
from dqeval.core.types import SCORE_NAMES, FloatArray
from dqeval.support import extras

LEVEL = 0.05


@dataclass(frozen=True, slots=True)
class Standing:
    """How the detectors stand by one metric.

    Attributes
    ----------
    metric : str
    mean : array of float, shape (n_detectors,)
        Over the series, or over their events.
    intervals : tuple of Interval
        95 % confidence intervals of the means, from drawing whole series again, as events of one series are alike. What
        seeds change in all series alike widens them.
    average_rank : array of float, shape (n_detectors,)
        The mean rank over the series, by the means per series; 1 is best, and ties share a rank.
    seed_deviation : array of float, shape (n_detectors,)
        The standard deviation of the mean from seed to seed; NaN with a single seed.
    """

    metric: str
    mean: FloatArray
    intervals: tuple[Interval, ...]
    average_rank: FloatArray
    seed_deviation: FloatArray

    @property
    def rank(self) -> FloatArray:
        """The ranks of the means."""
        return np.asarray(ranks_of(self.mean[None, :])[0])


@dataclass(frozen=True, slots=True)
class Significance:
    """Whether differences between the detectors are more than chance, by one metric.

    Attributes
    ----------
    friedman : float
        The p-value that all detectors are alike; NaN with fewer than three detectors.
    pairs : dict of (str, str) to float
        p-values of Wilcoxon's signed-rank test for each pair, corrected after Holm.
    groups : tuple of tuple of str
        The longest stretches of detectors, in the order of their average ranks, no two of which differ.
    """

    friedman: float
    pairs: dict[tuple[str, str], float]
    groups: tuple[tuple[str, ...], ...]

    def cannot_differ(self, n: int) -> bool:
        """Tell whether no pair could differ over n series: if all signs are alike, p is 2 / 2**n."""
        return len(self.pairs) * 2.0 ** (1 - n) >= LEVEL and min(self.pairs.values()) >= LEVEL


def standing_of(
    metric: str, values: FloatArray, by_seed: FloatArray, groups: NDArray[np.intp], *, resamples: int, seed: int
) -> Standing:
    """Return how the detectors stand by a metric.

    Parameters
    ----------
    metric : str
    values : array of float, shape (n_units, n_detectors)
        Means over the seeds.
    by_seed : array of float, shape (n_units, n_detectors, n_seeds)
        NaN where a detector has no value with a seed.
    groups : array of int, shape (n_units,)
        The series of each unit.
    resamples, seed : int
        Of the intervals.
    """
    seeds = [seeds_of(by_seed[:, i], groups) for i in range(values.shape[1])]
    least, most = (0.0, 1.0) if _is_share(metric) else (-np.inf, np.inf)
    intervals = mean_intervals(
        values,
        groups=groups,
        resamples=resamples,
        seed=seed,
        unit="series",
        least=least,
        most=most,
        other_reach=[of_seeds.reach for of_seeds in seeds],
    )
    ranks = ranks_of(means_per_series(values, groups)).mean(axis=0)
    return Standing(
        metric, values.mean(axis=0), tuple(intervals), ranks, np.array([of_seeds.deviation for of_seeds in seeds])
    )


def _is_share(metric: str) -> bool:
    """Tell whether a metric lies between 0 and 1, as those of dqeval do but for NAB; others may have other limits."""
    if metric in SCORE_NAMES:
        return True
    if metric not in METRICS.names or not METRICS[metric].function.__module__.startswith("dqeval."):
        return False
    return METRICS[metric].perfect == 1


def means_per_series(values: FloatArray, groups: NDArray[np.intp]) -> FloatArray:
    """Return the mean of each column per series."""
    return np.array([np.bincount(groups, column) for column in values.T]).T / np.bincount(groups)[:, None]


@dataclass(frozen=True, slots=True)
class Seeds:
    """What the seeds of a detector do to its mean.

    Attributes
    ----------
    deviation : float
        The standard deviation of the mean from seed to seed; NaN with a single seed.
    variance : float
        That of the mean over all seeds, from what a seed changes in all series alike. What it changes in each series by
        itself is among the differences between the series already.
    count : int
        How many seeds there are.
    """

    deviation: float
    variance: float
    count: int

    @property
    def reach(self) -> float:
        """By how much the mean may be off for the choice of seeds, 95 times out of 100: few seeds tell little of it."""
        if self.variance == 0:
            return 0.0
        return float(scipy_stats().t.ppf(0.975, self.count - 1) * np.sqrt(self.variance))


def seeds_of(values: FloatArray, groups: NDArray[np.intp]) -> Seeds:
    """Return what seeds do to the mean of units × seeds values: a variance component.

    Of values that are missing, as in a run that is not finished: seeds that most units lack are left out, and then the
    units that lack any of the others.

    Examples
    --------
    >>> from dqeval.bench.statistics import seeds_of
    >>> values = np.array([[0.5, 0.7], [0.1, 0.3], [0.2, 0.4]])  # the second seed is better by 0.2 everywhere
    >>> found = seeds_of(values, np.arange(3))
    >>> round(found.deviation, 3), round(found.variance, 3)
    (0.141, 0.01)
    """
    values = values[:, np.isfinite(values).mean(axis=0) > 0.5]
    whole = np.isfinite(values).all(axis=1)
    values = values[whole]
    _, place = np.unique(groups[whole], return_inverse=True)
    units, seeds = values.shape
    series = len(np.unique(place))
    if seeds < 2 or series < 2:
        return Seeds(np.nan, 0.0, seeds)
    means = values.mean(axis=0)
    between = float(means.var(ddof=1))
    rest = values - values.mean(axis=1, keepdims=True) - means + means.mean()
    by_series = np.array([np.bincount(place, column) for column in rest.T])
    # What series that differ from each other add to the variance of the means, and so is not of the seeds alone.
    of_series = float((by_series**2).sum()) / (seeds - 1) / units**2 * series / (series - 1)
    return Seeds(float(np.sqrt(between)), max(between - of_series, 0.0) / seeds, seeds)


def ranks_of(values: FloatArray) -> FloatArray:
    """Return the rank of each value in its row, the highest first; ties share the mean of their ranks."""
    higher = (values[:, None, :] > values[:, :, None]).sum(axis=2)
    same = (values[:, None, :] == values[:, :, None]).sum(axis=2)
    return np.asarray(higher + (same + 1) / 2)


def significance_of(names: tuple[str, ...], values: FloatArray, average_rank: FloatArray) -> Significance:
    """Return whether the detectors differ by more than chance."""
    stats = scipy_stats()
    pairs = list(combinations(range(len(names)), 2))
    raw = [_wilcoxon(stats, values[:, a], values[:, b]) for a, b in pairs]
    corrected = holm(raw)
    different = {(names[a], names[b]) for (a, b), p in zip(pairs, corrected, strict=True) if p < LEVEL}
    enough = len(names) > 2 and len(values) > 1 and not (values == values[:, :1]).all()
    friedman = float(stats.friedmanchisquare(*values.T).pvalue) if enough else float("nan")
    order = [names[i] for i in np.argsort(average_rank, kind="stable")]
    return Significance(
        friedman=friedman,
        pairs={(names[a], names[b]): p for (a, b), p in zip(pairs, corrected, strict=True)},
        groups=groups(order, lambda a, b: (a, b) in different or (b, a) in different),
    )


def scipy_stats() -> Any:
    """Return ``scipy.stats``, or say in one sentence what to install."""
    try:
        from scipy import stats
    except ImportError:
        raise ValueError(f"rankings need SciPy: {extras.install('bench')}") from None
    return stats


def _wilcoxon(stats: Any, a: FloatArray, b: FloatArray) -> float:
    return 1.0 if (a == b).all() else float(stats.wilcoxon(a, b).pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected for their number after Holm.

    Examples
    --------
    >>> from dqeval.bench.statistics import holm
    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    corrected = [0.0] * len(p_values)
    highest = 0.0
    for place, i in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        highest = max(highest, min(1.0, (len(p_values) - place) * p_values[i]))
        corrected[i] = highest
    return corrected


def groups(order: Sequence[str], differ: Callable[[str, str], bool]) -> tuple[tuple[str, ...], ...]:
    """Return the longest stretches of an order in which no two differ: the bars of a critical-difference diagram."""
    found: list[tuple[str, ...]] = []
    last_stop = 0
    for start in range(len(order)):
        stop = start + 1
        while stop < len(order) and not any(differ(order[i], order[stop]) for i in range(start, stop)):
            stop += 1
        if stop > last_stop:
            found.append(tuple(order[start:stop]))
            last_stop = stop
    return tuple(found)
