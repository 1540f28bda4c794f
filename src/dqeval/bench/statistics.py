"""Statistics of rankings: intervals, ranks, tests, groups that do not differ, agreement of orders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dqeval.core.types import FloatArray
from dqeval.support import extras

LEVEL = 0.05
REPEATS = 1000  # of the bootstrap


@dataclass(frozen=True, slots=True)
class Standing:
    """How the detectors stand by one metric.

    Attributes
    ----------
    metric : str
    mean, low, high : array of float, shape (n_detectors,)
        The mean over the series, and a 95 % confidence interval from resampling them.
    average_rank : array of float, shape (n_detectors,)
        1 is best; ties share a rank.
    """

    metric: str
    mean: FloatArray
    low: FloatArray
    high: FloatArray
    average_rank: FloatArray

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


def standing_of(metric: str, values: FloatArray, draws: NDArray[np.int_]) -> Standing:
    """Return how the detectors stand by a metric, of which there are units × detectors values."""
    means = np.array([values[draw].mean(axis=0) for draw in draws])
    low, high = np.percentile(means, [2.5, 97.5], axis=0)
    return Standing(metric, values.mean(axis=0), low, high, ranks_of(values).mean(axis=0))


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


def agreement_of(cube: FloatArray) -> FloatArray:
    """Return the mean over the units of Kendall's tau (b) between the orders that each two metrics give."""
    signs = np.sign(cube[:, :, None, :] - cube[:, None, :, :]).reshape(len(cube), -1, cube.shape[2])
    both = np.einsum("npa,npb->nab", signs, signs)
    one = np.einsum("npa,npa->na", signs, signs)
    norm = np.sqrt(one[:, :, None] * one[:, None, :])
    tau = np.divide(both, norm, out=np.full_like(both, np.nan), where=norm > 0)
    counted_units = np.isfinite(tau).sum(axis=0)
    total = np.nansum(tau, axis=0)
    return np.asarray(np.divide(total, counted_units, out=np.full_like(total, np.nan), where=counted_units > 0))
