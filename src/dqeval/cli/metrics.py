"""``dqeval metrics``: what there is to choose from."""

from __future__ import annotations

from typing import Any

from dqeval.cli import output
from dqeval.cli.options import Format, Modules, Output, PlainForm
from dqeval.core.registry import METRICS, Metric
from dqeval.render.tables import Page

NO_SUMMARY = "No description: its function has no docstring."


class MetricList:
    """The registered metrics: what each is, takes, follows and costs."""

    def page(self) -> Page:
        """Return a paragraph a metric."""
        return Page(list(map(_paragraph, METRICS)))

    def records(self) -> list[dict[str, Any]]:
        """Return a row a metric."""
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
            }
            for metric in METRICS
        ]

    def numbers(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {"metrics": self.records()}


def metrics(form: PlainForm = Format.TABLE, path: Output = None, module: Modules = None) -> None:
    """List the metrics: input, parameters, reference, cost."""
    found = MetricList()
    output.emit(found, form, path, found.numbers)


def _paragraph(metric: Metric) -> str:
    """Return what there is to say of a metric; of one's own, much of it may not be known."""
    title = f"{metric.name} ({metric.label}), takes {metric.takes}"
    parameters = f"Parameters: {metric.signature or 'none'}."
    lines = [
        f"{title}, {metric.citation}" if metric.citation else title,
        metric.summary or NO_SUMMARY,
        f"{parameters} As in: {metric.same_as}." if metric.same_as else parameters,
        _cost(metric.cost),
    ]
    return "\n    ".join(lines)


def _cost(cost: float | None) -> str:
    if cost is None:
        return "How long it takes has not been measured."
    return f"Takes about {cost:.2g} × as long as an AUC-ROC of scikit-learn, at 100,000 points."
