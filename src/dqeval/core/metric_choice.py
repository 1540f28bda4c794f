"""From what people ask for to metrics: by name, by label, or in groups."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dqeval.core import validate
from dqeval.core.entries import Metric
from dqeval.core.metric_groups import ALL, DEFAULT, GROUP_NAMES, GROUPS
from dqeval.core.registry import METRICS


def default_metrics() -> tuple[str, ...]:
    """Return the names of the metrics that panels have without being asked."""
    return tuple(metric.name for metric in METRICS if metric.by_default)


def metric_of(given: str) -> Metric:
    """Return a metric by its name, or by its label, in capitals or not.

    Examples
    --------
    >>> metric_of("event-f1").name
    'event_f1'
    """
    return METRICS[_name_of(given) or given]


def _name_of(given: str) -> str | None:
    """Return the name of the only metric that is called so; None if there is none, or several have that label."""
    if given in METRICS:
        return given
    names = [metric.name for metric in METRICS if given.lower() in (metric.name.lower(), metric.label.lower())]
    return names[0] if len(names) == 1 else None


def expanded(names: Iterable[str]) -> list[str]:
    """Return names of metrics and of groups as names of metrics, each once.

    Examples
    --------
    >>> expanded(["DQE", "events"])
    ['dqe', 'composite_f1', 'event_f1', 'event_corrected_f05', 'revised_point_adjusted_f1']
    """
    return list(dict.fromkeys(metric for name in names for metric in _members(name)))


def _members(given: str) -> tuple[str, ...]:
    if given in GROUP_NAMES:
        return METRICS.names if given == ALL else default_metrics() if given == DEFAULT else GROUPS[given]
    name = _name_of(given)
    if name is None:
        raise METRICS.unknown(given, also=GROUP_NAMES)
    return (name,)


def groups_of(metric: str) -> list[str]:
    """Return the groups that a metric is in, but for the one of all."""
    return [name for name in GROUP_NAMES if name != ALL and metric in _members(name)]


def chosen_metrics(given: Any) -> list[str]:
    """Return the metrics that a caller asks for: a metric or a group, a sequence of them, or None for the default."""
    if given is None:
        return list(default_metrics())
    names = [given] if isinstance(given, str) else validate.names_in("metrics", given)
    if not names:
        raise ValueError("metrics is empty: name at least one, or leave it out")
    return expanded(names)
