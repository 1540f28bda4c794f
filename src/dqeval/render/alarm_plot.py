"""The plot of the report on which a threshold is chosen: events detected against false alarms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqeval.analysis.explain_result import Explanation
from dqeval.core.types import IntArray
from dqeval.metrics.alarm_curve import AlarmCurve
from dqeval.render.drawing import round_numbers
from dqeval.render.explorer import empty_figure
from dqeval.render.tables import printable


def alarm_item(
    curves: Mapping[str, AlarmCurve], explanations: Mapping[str, Explanation], colours: Mapping[str, str]
) -> dict[str, Any]:
    """Return the plot of the share of events detected against false alarms, as Bokeh embeds it.

    Parameters
    ----------
    curves, explanations, colours : mapping of str to AlarmCurve, Explanation and str
        By detector; the explanations have the suggested thresholds.
    """
    from bokeh.embed import json_item
    from bokeh.models import HoverTool

    first = next(iter(curves.values()))
    suggested = {name: _suggested(curve, explanations[name].threshold) for name, curve in curves.items()}
    needed = [curve.budgets[[*curve.drawn, *suggested[name]]].max(initial=0.0) for name, curve in curves.items()]
    budgets = _Budgets(first.smallest_budget, 1.3 * max(first.smallest_budget, *map(float, needed)))
    right = budgets.x(budgets.right)
    figure = empty_figure("alarm", height=300, x_range=(-0.02 * right, right), y_range=(-0.04, 1.06), tools="")
    budgets.put_on(figure.xaxis[0])
    figure.xaxis.axis_label = f"false alarms per {first.unit}, at most"
    figure.yaxis.axis_label = "share of events detected"
    for name, curve in curves.items():
        _add_steps(figure, curve, budgets, colours[name])
    dots = [_add_marks(figure, name, curve, curve.drawn, budgets, colours[name]) for name, curve in curves.items()]
    # On top, as several lines may share a place.
    for name, curve in curves.items():
        marks = _add_marks(figure, name, curve, suggested[name], budgets, colours[name])
        marks.glyph.update(marker="diamond", size=16, line_color="white")
        marks.data_source.data["threshold"] = [f"{explanations[name].shown_threshold} (suggested)"] * len(
            suggested[name]
        )
        dots.append(marks)
    tips = [("detector", "@detector"), ("threshold", "@threshold"), ("events detected", "@events")]
    figure.add_tools(HoverTool(renderers=dots, tooltips=[*tips, (f"false alarms per {first.unit}", "@rate")]))
    return dict(json_item(figure))


def _suggested(curve: AlarmCurve, threshold: float) -> IntArray:
    """Return the position of the threshold that detects as much as the suggested one; none if nothing is detected."""
    return np.flatnonzero(curve.thresholds >= threshold)[-1:]


def _add_steps(figure: Any, curve: AlarmCurve, budgets: _Budgets, colour: str) -> None:
    """Draw which share of the events each budget detects."""
    x = [0.0, *curve.budgets[curve.drawn].tolist(), budgets.right]
    shares = [0.0, *curve.events_detected[curve.drawn].tolist()]
    figure.step([budgets.x(each) for each in x], [*shares, shares[-1]], mode="after", color=colour, line_width=2)


def _add_marks(figure: Any, name: str, curve: AlarmCurve, positions: IntArray, budgets: _Budgets, colour: str) -> Any:
    """Mark some thresholds of a detector, and say what they bring."""
    from bokeh.models import ColumnDataSource

    needed, rates = curve.budgets, curve.false_alarms_per(curve.unit)
    columns = {
        "x": [budgets.x(each) for each in needed[positions].tolist()],
        "y": curve.events_detected[positions].tolist(),
        "detector": [printable(name)] * len(positions),
        "threshold": [str(curve.rounded_threshold(k)) for k in positions.tolist()],
        "events": [f"{detected:,} of {curve.n_events:,}" for detected in curve.detected[positions].tolist()],
        "rate": [f"{rate:.3g}" for rate in rates[positions].tolist()],
    }
    return figure.scatter("x", "y", source=ColumnDataSource(columns), marker="circle", size=5, color=colour)


@dataclass(frozen=True, slots=True)
class _Budgets:
    """An axis of budgets, from 0 on: where they differ by much, far ones are closer to each other than near ones."""

    smallest: float
    right: float

    @property
    def wide(self) -> bool:
        return self.right > 10 * self.smallest

    def x(self, budget: float) -> float:
        if not self.wide:
            return budget
        share = budget / self.smallest
        # Up to the smallest budget it is linear, and as wide as half a power of ten.
        return share / 2 if share <= 1 else 0.5 + math.log10(share)

    def put_on(self, axis: Any) -> None:
        from bokeh.models import FixedTicker

        if self.wide:
            ticks = [0.0, *round_numbers(self.smallest, self.right)]
            axis.ticker = FixedTicker(ticks=[self.x(tick) for tick in ticks])
            axis.major_label_overrides = {self.x(tick): f"{tick:,g}" for tick in ticks}
