"""``dqeval metrics``: what there is to choose from."""

from __future__ import annotations

from typing import Any

from dqeval.cli import output
from dqeval.cli.options import Format, Output, PlainForm
from dqeval.core.registry import METRICS, Metric
from dqeval.render.tables import Page


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


def metrics(form: PlainForm = Format.TABLE, path: Output = None) -> None:
    """List the metrics: input, parameters, reference, cost."""
    found = MetricList()
    output.emit(found, form, path, found.numbers)


def _paragraph(metric: Metric) -> str:
    title = f"{metric.name} ({metric.label}), takes {metric.takes}, {metric.citation}"
    parameters = f"Parameters: {metric.signature or 'none'}. As in: {metric.same_as}."
    cost = f"Takes about {metric.cost:.2g} × as long as an AUC-ROC of scikit-learn, at 100,000 points."
    return "\n    ".join([title, metric.summary, parameters, cost])
