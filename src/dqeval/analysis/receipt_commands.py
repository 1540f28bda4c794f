"""The commands whose JSON is a receipt, which `dqeval verify` makes again: what each takes, works on, and gives.

A new one is a function that returns a `Result`, under `_of_each` if it works on one series, and a line in `COMMANDS`,
under the name with which the command calls `dqeval.cli.results.show`. What a command computes with is imported when it
works, as a command needs only its own.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from dqeval.analysis.result import Result
from dqeval.core import durations
from dqeval.core.prepared import PARTS_OF_SERIES, Prepared, Scored, part_of
from dqeval.core.sampling import Clock
from dqeval.core.types import Progress, Series
from dqeval.core.validate import UndefinedError, errors_about
from dqeval.datasets.door import prepare

if TYPE_CHECKING:
    from dqeval.analysis.explain_result import Explanation
    from dqeval.analysis.findings import Finding

Parameters = Mapping[str, Any]


class Work(Protocol):
    """What a command does."""

    def __call__(
        self, series: Iterable[Any], parameters: Parameters, progress: Progress | None, workers: int | None = None
    ) -> Result:
        """Return what comes of it."""
        ...


@dataclass(frozen=True, slots=True)
class Command:
    """A command that computes numbers, which can be made again from a receipt.

    Attributes
    ----------
    parameters : mapping of str to callable
        The parameters that a receipt holds, each with what tells whether a value is valid.
    subject : callable
        A series and the parameters to what the command works on: see `prepared_subject`.
    work : callable
        What it works on, of one or several series one after the other, parameters, progress, and the number of threads
        (None for one per core), to a result.
    optional : collection of str
        The parameters that may be missing in a receipt.
    """

    parameters: Mapping[str, Callable[[Any], bool]]
    subject: Callable[[Series, Parameters], Any]
    work: Work
    optional: Collection[str] = ()


def prepared_subject(series: Series, parameters: Parameters) -> Prepared:
    """Return a series that is checked, with scores, and with the near range that the parameters tell of."""
    found = _prepared(series, parameters)
    found.require_scores()
    return found


def _prepared(series: Series, parameters: Parameters) -> Prepared:
    """Return a series that is checked, with scores or without."""
    clock = Clock(resolution=parameters.get("resolution"), max_gap=parameters.get("max_gap"))
    near, period, part = parameters.get("near"), parameters.get("period"), parameters.get("part", "all")
    return prepare(series, near=near, period=period, clock=clock, part=part)


def _scored(
    series: Iterable[Prepared], parameters: Parameters, progress: Progress | None, workers: int | None = None
) -> Result:
    from dqeval.analysis.score import score

    return score(series, **_others(parameters), progress=progress, workers=workers)


def _stressed(
    series: Iterable[Prepared], parameters: Parameters, progress: Progress | None, workers: int | None = None
) -> Result:
    from dqeval.lab.stress import stress_of

    return stress_of(series, **_others(parameters), progress=progress)


def _others(parameters: Parameters) -> dict[str, Any]:
    """Return the parameters with which no series was prepared."""
    return {name: value for name, value in parameters.items() if name not in (*_NEAR, *CLOCK, *_PART)}


def _of_each(work: Callable[[Any, Parameters, Progress | None, int | None], Result]) -> Work:
    """Return work on several series from that on one: those without an anomaly are left out, if others have some."""

    def work_on_all(
        series: Iterable[Any], parameters: Parameters, progress: Progress | None, workers: int | None = None
    ) -> Result:
        found: list[tuple[str, Result]] = []
        undefined: dict[str, UndefinedError] = {}
        for one in series:
            try:
                with errors_about(one.name):
                    found.append((one.name, work(one, parameters, progress, workers)))
            except UndefinedError as error:
                undefined[one.name] = error
        if not found:
            raise next(iter(undefined.values()))
        if len(found) == 1 and not undefined:
            return found[0][1]
        from dqeval.analysis.several import Several

        return Several(tuple(found), tuple(undefined))

    return work_on_all


def _compared(prepared: Prepared, parameters: Parameters, progress: Progress | None, workers: int | None) -> Result:
    from dqeval.analysis.compare import comparison_of

    return comparison_of(prepared, metrics=parameters.get("metrics"), progress=progress, workers=workers)


def _profiled(prepared: Prepared, parameters: Parameters, progress: Progress | None, workers: int | None) -> Result:
    from dqeval.analysis.near_profile import profile_of

    return profile_of(prepared, progress=progress, workers=workers)


def _explained(prepared: Prepared, parameters: Parameters, progress: Progress | None, workers: int | None) -> Result:
    from dqeval.analysis import pitfalls
    from dqeval.analysis.check import about_times, misread_scores
    from dqeval.analysis.each_detector import of_each_detector
    from dqeval.analysis.explain import explanation_of, with_cautions
    from dqeval.analysis.several import Explanations

    prepared.require_event()
    items, findings = [], about_times(prepared)
    cautions = tuple(pitfall.message for pitfall in pitfalls.of_labels(prepared.labelled, prepared.near))
    near = prepared.near.points

    def work(name: str, scored: Scored) -> tuple[Explanation, list[Finding]]:
        explanation = with_cautions(explanation_of(scored, near, name=name), scored, near)
        return explanation, misread_scores(name, scored)

    for _, (item, own) in of_each_detector(prepared, work, progress=progress, workers=workers):
        items.append(item)
        findings += own
    return Explanations(tuple(items), prepared.name, tuple(findings), cautions)


def _checked(series: Series, parameters: Parameters, progress: Progress | None, workers: int | None) -> Result:
    from dqeval.analysis.check import findings_in
    from dqeval.analysis.findings import Checked

    of_findings = {name: value for name, value in parameters.items() if name not in _PART}
    part = parameters.get("part", "all")
    checked = part_of(series, part)
    return Checked(series.name, tuple(findings_in(checked, of_whole=series, **of_findings)), checked.part)


def is_list_of_text(value: Any) -> bool:
    """Tell whether this is a list of texts."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _is_number_or_none(value: Any) -> bool:
    return value is None or (type(value) in (int, float) and abs(value) <= sys.float_info.max)


def _is_length_or_none(value: Any) -> bool:
    return _is_number_or_none(value) or (isinstance(value, str) and durations.is_duration(value))


_NEAR = {"near": lambda value: isinstance(value, str) or _is_number_or_none(value), "period": _is_length_or_none}
# What may be said of a clock, and need not be.
_PART = {"part": lambda value: value in PARTS_OF_SERIES}
CLOCK = {"resolution": _is_length_or_none, "max_gap": _is_length_or_none}
COMMANDS = {
    "score": Command(
        {
            "metrics": is_list_of_text,
            **_NEAR,
            **CLOCK,
            **_PART,
            "thresholds": lambda value: type(value) is int or value == "exact",
            "per_event": lambda value: isinstance(value, bool),
        },
        prepared_subject,
        _scored,
        (*CLOCK, *_PART),
    ),
    # Receipts say nothing of metrics if none were chosen.
    "compare": Command(
        {"metrics": is_list_of_text, **_NEAR, **CLOCK, **_PART},
        prepared_subject,
        _of_each(_compared),
        ("metrics", *CLOCK, *_PART),
    ),
    "explain": Command({**_NEAR, **CLOCK, **_PART}, prepared_subject, _of_each(_explained), (*CLOCK, *_PART)),
    "near": Command({**_NEAR, **CLOCK, **_PART}, _prepared, _of_each(_profiled), (*_NEAR, *CLOCK, *_PART)),
    "stress": Command(
        {
            "metrics": is_list_of_text,
            "kinds": is_list_of_text,
            "draws": lambda value: type(value) is int,
            "seed": lambda value: type(value) is int,
            **_NEAR,
            **CLOCK,
            **_PART,
        },
        prepared_subject,
        _stressed,
        ("metrics", "kinds", *CLOCK, *_PART),
    ),
    "check": Command(
        {**_NEAR, **CLOCK, **_PART},
        lambda series, parameters: series,
        _of_each(_checked),
        (*CLOCK, *_PART),
    ),
}
