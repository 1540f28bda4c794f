"""Results of several series: each under its own title, and a summary of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from dqeval.analysis.check import Checked
from dqeval.analysis.compare import Comparison
from dqeval.analysis.explain_result import Explanation
from dqeval.analysis.score import best_marked, left_out_sentence, named_values
from dqeval.core.types import SCORE_NAMES
from dqeval.render.tables import Page, Table

Values = Mapping[str, Mapping[str, float]]  # by detector, then by name of a metric or of a part of DQE


@dataclass(frozen=True, slots=True)
class Explanations:
    """The explanations of several detectors, one after the other."""

    items: tuple[Explanation, ...]

    def page(self) -> Page:
        """Return the explanations as paragraphs."""
        return Page([part for item in self.items for part in item.page().parts])

    def records(self) -> list[dict[str, Any]]:
        """Return one row per detector and event."""
        return [record for item in self.items for record in item.records()]

    def numbers(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {item.name: item.numbers() for item in self.items}


Result = Comparison | Explanations | Checked


@dataclass(frozen=True, slots=True)
class Several:
    """What a command found in several series, by name.

    Attributes
    ----------
    found : tuple of (str, Comparison), (str, Explanations) or (str, Checked)
        The name of each series, and what was found in it: the same kind of thing in all.
    left_out : tuple of str
        The series without an anomaly, on which nothing is defined.
    """

    found: tuple[tuple[str, Result], ...]
    left_out: tuple[str, ...] = ()

    def page(self) -> Page:
        """Return what was found in each series, one after the other, and a summary."""
        parts = [part for name, result in self.found for part in _titled(name, result)]
        return Page([*parts, *self._summary(), *([left_out_sentence(self.left_out)] if self.left_out else [])])

    def records(self) -> list[dict[str, Any]]:
        """Return the rows of each series, with its name."""
        return [{"series": name, **record} for name, result in self.found for record in result.records()]

    def numbers(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        found = [{"name": name, "results": result.numbers()} for name, result in self.found]
        return {"series": found, "left_out": list(self.left_out)}

    @property
    def failed(self) -> bool:
        """Whether a check found an error."""
        return any(isinstance(result, Checked) and result.failed for _, result in self.found)

    @property
    def means(self) -> dict[str, dict[str, float]]:
        """The mean over series of every number of a detector, where it has scores."""
        return means([values_of(result) for _, result in self.found])

    @property
    def _detectors(self) -> list[str]:
        return list(self.means)

    def _summary(self) -> list[str | Table]:
        if isinstance(self.found[0][1], Checked):
            failed = sum(isinstance(result, Checked) and result.failed for _, result in self.found)
            fine = sum(not result.records() for _, result in self.found)
            return [f"All {len(self.found):,} series: {failed:,} with errors, {fine:,} with nothing to complain about."]
        return [f"All {len(self.found):,} series.{self._standing()}", self._dqe_table()]

    def _standing(self) -> str:
        """Return who is ahead in most series; nothing where there is a single detector."""
        if len(self._detectors) == 1:
            return ""
        every = [values_of(result) for _, result in self.found]
        ahead = Counter(max(values, key=lambda name: values[name]["dqe"]) for values in every)
        ((first, count),) = ahead.most_common(1)
        return f" {first} has the highest DQE in {count:,} of them."

    def _dqe_table(self) -> Table:
        overall, detectors = self.means, self._detectors
        rows = [(name, *(_dqe(values_of(result), each) for each in detectors)) for name, result in self.found]
        rows.append(("mean", *(overall[name]["dqe"] for name in detectors)))
        return best_marked(("DQE of series", *detectors), rows)


def values_of(result: Result) -> Values:
    """Return what a result says of every detector; a check says nothing of them."""
    if isinstance(result, Comparison):
        return {name: named_values(panel) for name, panel in result.panels.items()}
    if isinstance(result, Explanations):
        return {item.name: {part: getattr(item.result, part) for part in SCORE_NAMES} for item in result.items}
    return {}


def means(every: Sequence[Values]) -> dict[str, dict[str, float]]:
    """Return the mean of every number of each detector over the series that have its scores."""
    found: dict[str, list[Mapping[str, float]]] = {}
    for values in every:
        for detector, numbers in values.items():
            found.setdefault(detector, []).append(numbers)
    return {detector: {name: fmean(row[name] for row in rows) for name in rows[0]} for detector, rows in found.items()}


def _titled(name: str, result: Result) -> list[str | Table]:
    """Return the parts of a result's page; explanations do not say by themselves which series they are of."""
    return [*([f"{name}:"] if isinstance(result, Explanations) else []), *result.page().parts]


def _dqe(values: Values, detector: str) -> float:
    return values[detector]["dqe"] if detector in values else float("nan")
