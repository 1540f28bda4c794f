"""A number of each series and detector under several choices, and which of them change the order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dqeval.core.agreement import agreement_of
from dqeval.core.types import FloatArray
from dqeval.experiments.detector_runs import DetectorRun
from dqeval.experiments.resamples import Resamples, filled
from dqeval.experiments.verdicts import order_of

_SAME = 1e-9  # differences that are rounding


@dataclass(frozen=True, eq=False)
class ByChoice:
    """Values by detector, choice, series and seed, of series that all detectors have a value of.

    Attributes
    ----------
    series, detectors, choices : tuple of str
    by_seed : sequence of array of float, shape (n_choices, n_series, n_seeds)
        Of each detector, which has seeds of its own.
    """

    series: tuple[str, ...]
    detectors: tuple[str, ...]
    choices: tuple[str, ...]
    by_seed: Sequence[FloatArray]

    @cached_property
    def values(self) -> FloatArray:
        """The means over the seeds, by series, detector and choice."""
        return np.stack([of_detector.mean(axis=2).T for of_detector in self.by_seed], axis=1)

    @cached_property
    def means(self) -> FloatArray:
        """The means over the series, by detector and choice."""
        return np.asarray(self.values.mean(axis=0))

    @cached_property
    def resamples(self) -> Resamples:
        """The series, drawn again."""
        return Resamples(len(self.series))

    @cached_property
    def resampled(self) -> FloatArray:
        """The means of each resample of series and seeds, by detector and choice."""
        once = np.ones(len(self.series))
        return np.array(
            [
                [self.resamples.means(values, once, stream=place) for values in of_detector]
                for place, of_detector in enumerate(self.by_seed)
            ]
        ).transpose(2, 0, 1)

    def order(self, choice: str, resample: int | None = None) -> tuple[str, ...]:
        """Return the detectors by their means with a choice, the best first."""
        means = self.means if resample is None else self.resampled[resample]
        return order_of(dict(zip(self.detectors, means[:, self.choices.index(choice)].tolist(), strict=True)))

    def same_order(self, choices: Iterable[str], resample: int | None = None) -> bool:
        """Return whether some choices give the detectors the same order."""
        return len({self.order(choice, resample) for choice in choices}) == 1

    def other_best(self, choice: str, usual: str) -> FloatArray:
        """Return for each series whether the detector that is best with the usual choice is not with another."""
        now, then = (self.values[:, :, self.choices.index(each)] for each in (choice, usual))
        kept = np.take_along_axis(now, then.argmax(axis=1)[:, None], axis=1)[:, 0]
        return np.asarray(kept < now.max(axis=1) - _SAME, dtype=np.float64)

    def moves(self, choice: str, usual: str) -> FloatArray:
        """Return for each series how far a choice is off the usual one, on average over the detectors."""
        now, then = (self.values[:, :, self.choices.index(each)] for each in (choice, usual))
        return np.asarray(np.abs(now - then).mean(axis=1))

    def resampled_moves(self, choice: str, usual: str) -> FloatArray:
        """Return the mean of the same over the series of each resample, with the seeds that are drawn there."""
        places = self.choices.index(choice), self.choices.index(usual)
        moves = np.zeros_like(self.resamples.times)
        for stream, of_detector in enumerate(self.by_seed):
            now, then = (self.resamples.each(of_detector[place], stream=stream) for place in places)
            moves += np.abs(now - then)
        return np.asarray((self.resamples.times * moves).mean(axis=1) / len(self.detectors))

    def agreement(self, choice: str, usual: str) -> float:
        """Return Kendall's tau between the orders that two choices give the detectors, the mean over the series."""
        places = [self.choices.index(choice), self.choices.index(usual)]
        return float(agreement_of(self.values[:, :, places])[0, 1])


def by_choice(
    found: Mapping[DetectorRun, Any],
    dataset: str,
    detectors: Sequence[str],
    choices: Sequence[str],
    pick: Callable[[Any], Sequence[float]],
) -> ByChoice:
    """Return the values of the series of a dataset.

    Parameters
    ----------
    found : mapping of DetectorRun to anything
        What was computed of each.
    dataset : str
    detectors, choices : sequence of str
    pick : callable
        From what was computed to a number for each choice.
    """
    lines: dict[str, dict[str, dict[int, Sequence[float]]]] = {}
    for of, line in found.items():
        if of.series.dataset == dataset and of.detector in detectors:
            lines.setdefault(of.name, {}).setdefault(of.detector, {})[of.seed] = pick(line)
    kept = {name: of_series for name, of_series in lines.items() if _is_whole(of_series, detectors)}
    lacking = [np.nan] * len(choices)
    by_seed = []
    for detector in detectors:
        seeds = sorted({of.seed for of in found if of.detector == detector})
        rows = [[of_series[detector].get(seed, lacking) for seed in seeds] for of_series in kept.values()]
        values = np.array(rows, dtype=np.float64).reshape(len(kept), len(seeds), len(choices))
        by_seed.append(np.array([filled(values[:, :, j]) for j in range(len(choices))]))
    return ByChoice(tuple(kept), tuple(detectors), tuple(choices), by_seed)


def _is_whole(of_series: Mapping[str, Mapping[int, Sequence[float]]], detectors: Sequence[str]) -> bool:
    """Return whether all detectors have a series, and every number of it is defined."""
    return set(of_series) == set(detectors) and all(
        np.isfinite(numbers).all() for of_detector in of_series.values() for numbers in of_detector.values()
    )
