"""Which metrics there are by the names that people choose them by: one by one, or in groups."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dqeval.core import validate
from dqeval.core.arguments import quote
from dqeval.core.registry import ALL, METRICS

DEFAULT = "default"  # what panels have without being asked

# In the order of the paper's tables, and of TSB-AD's output.
GROUPS = {
    "paper": (
        "point_f1",
        "auc_roc",
        "auc_pr",
        "point_adjusted_k_f1",
        "vus_roc",
        "vus_pr",
        "pate",
        "range_f1",
        "etapr_f1",
        "affiliation_f1",
        "dqe",
    ),
    "tsb-ad": (
        "auc_pr",
        "auc_roc",
        "vus_pr",
        "vus_roc",
        "point_f1",
        "point_adjusted_f1",
        "composite_f1",
        "range_f1",
        "affiliation_f1",
    ),
    "events": ("composite_f1", "event_f1", "event_corrected_f05", "revised_point_adjusted_f1"),
    "timing": ("pate", "pate_f1", "delay_point_adjusted_f1", "adtqc", "nab_score"),
}
GROUP_NAMES = (ALL, DEFAULT, *GROUPS)


def default_metrics() -> tuple[str, ...]:
    """Return the names of the metrics that panels have without being asked."""
    return tuple(metric.name for metric in METRICS if metric.by_default)


def expanded(names: Iterable[str]) -> list[str]:
    """Return names of metrics and of groups as names of metrics, each once.

    Examples
    --------
    >>> expanded(["dqe", "events"])
    ['dqe', 'composite_f1', 'event_f1', 'event_corrected_f05', 'revised_point_adjusted_f1']
    """
    return list(dict.fromkeys(metric for name in names for metric in _members(name)))


def _members(name: str) -> tuple[str, ...]:
    if name in GROUP_NAMES:
        return METRICS.names if name == ALL else default_metrics() if name == DEFAULT else GROUPS[name]
    return (METRICS[name].name,)


def groups_of(metric: str) -> list[str]:
    """Return the groups that a metric is in, but for the one of all."""
    return [name for name in GROUP_NAMES if name != ALL and metric in _members(name)]


def metric_names(given: Any) -> list[str]:
    """Return the metrics that a caller asks for: a group, a sequence of metrics and groups, or None for the default."""
    if given is None:
        return list(default_metrics())
    if isinstance(given, str) and given in GROUP_NAMES:
        return expanded([given])
    if isinstance(given, str):
        groups = ", ".join(map(repr, GROUP_NAMES))
        rule = f"metrics must be a sequence of names: write metrics=[{_quoted(given)}], or leave it out"
        raise ValueError(f"{rule}; groups are {groups}")
    names = validate.names_in("metrics", given)
    if not names:
        raise ValueError("metrics is empty: name at least one, or leave it out")
    return expanded(names)


def _quoted(text: str) -> str:
    return quote(text).replace("'", '"')
