"""``--fail-under``: the least that every detector must reach."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

import typer

from dqeval.cli import output

if TYPE_CHECKING:
    from dqeval.analysis.receipts import Shown

Values = Mapping[str, Mapping[str, float]]  # by detector, then by name of a metric or of a part of DQE


def names_with(metrics: Iterable[str]) -> list[str]:
    """Return the names that a gate may have for these metrics: with DQE also its parts."""
    from dqeval.core.types import PARTS

    return [name for metric in metrics for name in (metric, *(PARTS if metric == "dqe" else ()))]


def all_names() -> list[str]:
    """Return the names that a gate may have for all metrics."""
    from dqeval.core.registry import METRICS

    return names_with(METRICS.names)


def limits(given: list[str] | None, available: list[str]) -> dict[str, float]:
    """Return the limits by name, from texts such as dqe=0.6,capture=0.5."""
    found = {}
    for text in (text.strip() for item in given or [] for text in item.split(",") if text.strip()):
        name, _, number = (part.strip() for part in text.partition("="))
        name = name.lower()
        if name not in available:
            raise ValueError(f"--fail-under {text}: there is no {name} here, but {', '.join(available)}")
        try:
            found[name] = float(number)
        except ValueError:
            raise ValueError(f"--fail-under {text}: write it as {name}=0.6") from None
        if math.isnan(found[name]):
            raise ValueError(f"--fail-under {text}: the limit must be a number")
    return found


def values_of(result: Shown) -> Values:
    """Return what a result says of every detector; for several series the means."""
    from dqeval.analysis import several
    from dqeval.analysis.score import Scoring

    if isinstance(result, (Scoring, several.Several)):
        return result.means
    assert isinstance(result, several.Result)
    return several.values_of(result)


def enforce(limits: Mapping[str, float], values: Values) -> None:
    """Say on standard error which detectors are below a limit, and exit with code 1 if there are any."""
    failures = list(_failures(limits, values))
    for sentence in failures:
        output.tell(sentence)
    if failures:
        raise typer.Exit(1)


def _failures(limits: Mapping[str, float], values: Values) -> Iterator[str]:
    for detector, found in values.items():
        for name, least in limits.items():
            if math.isnan(found[name]):
                yield f"{name} of {detector} is undefined, and should be at least {least:g}"
            elif found[name] < least:
                yield f"{name} of {detector} is {found[name]:.6g}, below {least:g}"
