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
from dqeval.experiments.resamples import Resamples
from dqeval.experiments.verdicts import order_of

_SAME = 1e-9  # differences that are rounding


@dataclass(frozen=True, eq=False)
class ByChoice:
    """Values by series, detector and choice: the means over the seeds, of series that all detectors have a value of.

    Attributes
    ----------
    series, detectors, choices : tuple of str
    values : array of float, shape (n_series, n_detectors, n_choices)
    """

    series: tuple[str, ...]
    detectors: tuple[str, ...]
    choices: tuple[str, ...]
    values: FloatArray

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
        """The means of each resample, by detector and choice."""
        flat = self.values.reshape(len(self.series), -1)
        return (self.resamples.times @ flat / len(self.series)).reshape(-1, *self.values.shape[1:])

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
    by_seed: dict[str, dict[str, list[Sequence[float]]]] = {}
    for of, line in found.items():
        if of.series.dataset == dataset and of.detector in detectors:
            by_seed.setdefault(of.name, {}).setdefault(of.detector, []).append(pick(line))
    whole = {
        name: [np.mean(seeds[detector], axis=0) for detector in detectors]
        for name, seeds in by_seed.items()
        if set(seeds) == set(detectors)
    }
    kept = {name: rows for name, rows in whole.items() if np.isfinite(rows).all()}
    values = np.array(list(kept.values())).reshape(len(kept), len(detectors), len(choices))
    return ByChoice(tuple(kept), tuple(detectors), tuple(choices), values)
