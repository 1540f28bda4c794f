"""Results of several series: each under its own title, and a summary of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from dqeval.analysis.explain_result import Explanation, cautions_in_words
from dqeval.analysis.findings import Checked, Finding, warnings_about
from dqeval.analysis.result import Result, Values
from dqeval.analysis.score_result import left_out_sentence, mark_best
from dqeval.core.types import MEANING, SCORE_NAMES
from dqeval.render.tables import Page, Part, Table


@dataclass(frozen=True, slots=True)
class Explanations(Result):
    """The explanations of several detectors on one series, one after the other.

    Attributes
    ----------
    items : tuple of Explanation
    name : str
        Of the series.
    findings : tuple of Finding
        What may make the numbers wrong: several series in one, missing points, scores the wrong way round.
    cautions : tuple of str
        Where labels and the near range make DQE of every detector mislead.
    """

    items: tuple[Explanation, ...]
    name: str = ""
    findings: tuple[Finding, ...] = ()
    cautions: tuple[str, ...] = ()

    @property
    def by_detector(self) -> Values:
        """DQE and its parts."""
        return {item.name: {part: getattr(item.result, part) for part in SCORE_NAMES} for item in self.items}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What may make the numbers wrong, in sentences."""
        return warnings_about(self.name, self.findings)

    def titled(self, name: str) -> list[Part]:
        """Return the page under the name of the series, which it does not say by itself."""
        return [f"{name}:", *self.page().parts]

    def page(self) -> Page:
        """Return the explanations as paragraphs."""
        parts: list[Part] = []
        explained = False
        for i, item in enumerate(self.items):
            parts += item.parts(legend="" if i else MEANING, about_thresholds=not explained)
            explained = explained or item.has_threshold
        return Page([*parts, *cautions_in_words("of every detector", self.cautions)])

    def records(self) -> list[dict[str, Any]]:
        """Return one row per detector and event."""
        return [record for item in self.items for record in item.records()]

    def numbers(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {item.name: item.numbers() | {"cautions": [*self.cautions, *item.cautions]} for item in self.items}


@dataclass(frozen=True, slots=True)
class Several(Result):
    """What a command found in several series, by name.

    Attributes
    ----------
    found : tuple of (str, Result)
        The name of each series, and what was found in it: the same kind of thing in all.
    left_out : tuple of str
        The series without an anomaly, on which nothing is defined.
    """

    found: tuple[tuple[str, Result], ...]
    left_out: tuple[str, ...] = ()

    def page(self) -> Page:
        """Return what was found in each series, one after the other, and a summary."""
        parts = [part for name, result in self.found for part in result.titled(name)]
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
        return any(result.failed for _, result in self.found)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What may make the numbers wrong, in sentences."""
        return tuple(sentence for _, result in self.found for sentence in result.warnings)

    @property
    def by_detector(self) -> Values:
        """The means."""
        return self.means

    @property
    def means(self) -> dict[str, dict[str, float]]:
        """The mean over series of every number of a detector, where it has scores."""
        return means([result.by_detector for _, result in self.found])

    @property
    def _detectors(self) -> list[str]:
        return list(self.means)

    def _summary(self) -> list[Part]:
        if not self.means:  # nothing is said of detectors
            if not all(isinstance(result, Checked) for _, result in self.found):
                return []
            failed = sum(result.failed for _, result in self.found)
            fine = sum(not result.records() for _, result in self.found)
            return [f"All {len(self.found):,} series: {failed:,} with errors, {fine:,} without problems."]
        return [f"All {len(self.found):,} series.{self._standing()}", self._dqe_table()]

    def _standing(self) -> str:
        """Return who is ahead in most series; nothing where there is a single detector."""
        if len(self._detectors) == 1:
            return ""
        every = [result.by_detector for _, result in self.found]
        ahead = Counter(max(values, key=lambda name: values[name]["dqe"]) for values in every)
        ((first, count),) = ahead.most_common(1)
        return f" {first} has the highest DQE in {count:,} of them."

    def _dqe_table(self) -> Table:
        overall, detectors = self.means, self._detectors
        rows = [(name, *(_dqe(result.by_detector, each) for each in detectors)) for name, result in self.found]
        rows.append(("mean", *(overall[name]["dqe"] for name in detectors)))
        return mark_best(("DQE of series", *detectors), rows)


def means(every: Sequence[Values]) -> dict[str, dict[str, float]]:
    """Return the mean of every number of each detector over the series that have its scores."""
    found: dict[str, list[Mapping[str, float]]] = {}
    for values in every:
        for detector, numbers in values.items():
            found.setdefault(detector, []).append(numbers)
    return {detector: {name: fmean(row[name] for row in rows) for name in rows[0]} for detector, rows in found.items()}


def _dqe(values: Values, detector: str) -> float:
    return values[detector]["dqe"] if detector in values else float("nan")
