"""``--fail-under``: the least that every detector must reach."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dqeval.analysis.result import Values


def names_with(metrics: Iterable[str]) -> list[str]:
    """Return the names that a gate may have for these metrics: with DQE also its parts."""
    from dqeval.core.types import PARTS

    return [name for metric in metrics for name in (metric, *(PARTS if metric == "dqe" else ()))]


def limits(given: list[str] | None, available: list[str]) -> dict[str, float]:
    """Return the limits by name, from texts such as dqe=0.6,capture=0.5."""
    found = {}
    for text in (text.strip() for item in given or [] for text in item.split(",") if text.strip()):
        name, _, number = (part.strip() for part in text.partition("="))
        name = _available(name, available)
        if name not in available:
            raise ValueError(f"--fail-under {text}: unknown metric {name!r}; choose from {', '.join(available)}")
        try:
            found[name] = float(number)
        except ValueError:
            raise ValueError(f"--fail-under {text}: write it as {name}=0.6") from None
        if math.isnan(found[name]):
            raise ValueError(f"--fail-under {text}: the limit must be a number")
    return found


def _available(name: str, available: list[str]) -> str:
    """Return the name of a metric that was called by its name or its label, in capitals or not."""
    from dqeval.core.registry import label_of

    low = name.lower()
    return next((each for each in available if low in (each.lower(), label_of(each).lower())), low)


def below_limits(limits: Mapping[str, float], values: Values) -> list[str]:
    """Return in sentences which detectors are below a limit."""
    return list(_failures(limits, values))


def _failures(limits: Mapping[str, float], values: Values) -> Iterator[str]:
    for detector, found in values.items():
        for name, least in limits.items():
            if math.isnan(found[name]):
                yield f"{name} of {detector} is undefined, and should be at least {least:g}"
            elif found[name] < least:
                yield f"{name} of {detector} is {found[name]:.6g}, below {least:g}"
