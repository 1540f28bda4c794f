"""``dqeval metrics``: list the metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dqeval.cli import output
from dqeval.cli.options import Modules, Output, PlainForm, complete_metrics, metric_names
from dqeval.cli.output_formats import OutputFormat
from dqeval.core.metric_groups import ALL, GROUP_NAMES
from dqeval.render.tables import Page

if TYPE_CHECKING:
    from dqeval.core.entries import Metric

NO_SUMMARY = "No description: its function has no docstring."


@dataclass(frozen=True, slots=True)
class MetricList:
    """Some or all metrics: input, parameters, reference, cost."""

    metrics: Sequence[Metric]

    def page(self) -> Page:
        """Return a paragraph per metric."""
        return Page(list(map(_paragraph, self.metrics)))

    def records(self) -> list[dict[str, Any]]:
        """Return a row per metric."""
        from dqeval.core.metric_choice import groups_of

        return [
            {
                "name": metric.name,
                "label": metric.label,
                "takes": metric.takes,
                "parameters": metric.signature,
                "cost": metric.cost,
                "summary": metric.summary,
                "citation": metric.citation,
                "same_as": metric.same_as,
                "groups": ", ".join(groups_of(metric.name)),
            }
            for metric in self.metrics
        ]

    def numbers(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {"metrics": self.records()}


def metrics(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help=f"Only these metrics, or groups of them: {', '.join(GROUP_NAMES)}.",
            metavar="NAME",
            autocompletion=complete_metrics,
        ),
    ] = None,
    form: PlainForm = OutputFormat.TABLE,
    path: Output = None,
    module: Modules = None,
) -> None:
    """List the metrics: input, parameters, reference, cost."""
    from dqeval.core.registry import METRICS

    found = MetricList([METRICS[name] for name in metric_names(names or [ALL])])
    output.emit(found, form, path, found.numbers)


def _paragraph(metric: Metric) -> str:
    """Return the description of a metric; metrics of one's own may lack much of it."""
    from dqeval.core.metric_choice import groups_of

    title = f"{metric.name} ({metric.label}), takes {metric.takes}"
    groups = groups_of(metric.name)
    parameters = f"Parameters: {metric.signature or 'none'}."
    lines = [
        f"{title}, {metric.citation}" if metric.citation else title,
        metric.summary or NO_SUMMARY,
        f"{parameters} As in: {metric.same_as}." if metric.same_as else parameters,
        _scale(metric) + _cost(metric.cost) + (f" In {', '.join(groups)}." if groups else " In no group but all."),
    ]
    return "\n    ".join(lines)


def _scale(metric: Metric) -> str:
    return "" if metric.perfect == 1 else f"{metric.perfect:g} is best, not 1. "


def _cost(cost: float | None) -> str:
    if cost is None:
        return "Its running time has not been measured."
    return f"Takes about {cost:.2g} × as long as scikit-learn's AUC-ROC, at 100,000 points."
