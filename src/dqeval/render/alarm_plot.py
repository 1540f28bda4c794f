"""The plot of the report on which a threshold is chosen: events detected against false alarms."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqeval.analysis.explain_result import Explanation
from dqeval.core.types import FloatArray, IntArray
from dqeval.metrics.alarm_curve import AlarmCurve
from dqeval.render.drawing import round_numbers
from dqeval.render.explorer import empty_figure
from dqeval.render.plots import embedded, table
from dqeval.render.tables import printable


def alarm_data(shown: Sequence[ShownAlarms], colours: Sequence[str], needed: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Return the plot of the share of events detected against false alarms, as Bokeh embeds it, and its budgets.

    Parameters
    ----------
    shown : sequence of ShownAlarms
        Of each detector.
    colours : sequence of str
    needed : sequence of sequence of int
        How many false alarms the thresholds of each detector need that can be chosen.
    """
    first = shown[0]
    most = [part.needed.max(initial=0.0) for each in shown for part in (each.gains, each.suggested)]
    budgets = _Budgets(first.smallest_budget, 1.3 * max(first.smallest_budget, *map(float, most)))
    right = budgets.x(budgets.right)
    models = {"alarm-range": {"start": -0.02 * right, "end": right}, **budgets.ticks()}
    for i, each in enumerate(shown):
        models[f"alarm-steps-{i}"] = {"data": table(each.gains.steps(budgets))}
        models[f"alarm-dots-{i}"] = {"data": table(each.gains.marks(budgets))}
        models[f"alarm-suggested-{i}"] = {"data": table(each.suggested.marks(budgets))}
    plot = embedded(_alarm_plot, first.unit, budgets.wide, tuple(colours), models=models)
    return {"alarmPlot": plot, "budgets": {"per": first.unit, **budgets.choices(needed)}}


def _alarm_plot(unit: str, wide: bool, colours: Sequence[str]) -> Any:
    from bokeh.events import Tap
    from bokeh.models import CustomJS, FixedTicker, HoverTool, Range1d, Span

    x_range = Range1d(start=0, end=1, name="alarm-range")
    figure = empty_figure("alarm", height=300, x_range=x_range, y_range=(-0.04, 1.06), tools="")
    if wide:
        figure.xaxis[0].ticker = FixedTicker(ticks=[], name="alarm-ticker")
    figure.xaxis.axis_label = f"false alarms per {unit}, at most"
    figure.yaxis.axis_label = "share of events detected"
    for i, colour in enumerate(colours):
        figure.step("x", "y", source=_source(f"alarm-steps-{i}"), mode="after", color=colour, line_width=2)
    dots = []
    # Diamonds on top, as several lines may share a place.
    for name, look in (("dots", {"marker": "circle", "size": 5}), ("suggested", {"marker": "diamond", "size": 16})):
        for i, colour in enumerate(colours):
            dots.append(figure.scatter("x", "y", source=_source(f"alarm-{name}-{i}"), color=colour, **look))
    for marks in dots[len(colours) :]:
        marks.glyph.line_color = "white"
    figure.add_layout(Span(location=0, dimension="height", line_dash="dashed", name="budget-line"))
    figure.js_on_event(Tap, CustomJS(code="window.dqevalReport?.chooseBudget(cb_obj.x)"))
    tips = [("detector", "@detector"), ("threshold", "@threshold"), ("events detected", "@events")]
    figure.add_tools(HoverTool(renderers=dots, tooltips=[*tips, (f"false alarms per {unit}", "@rate")]))
    return figure


def _source(name: str) -> Any:
    from bokeh.models import ColumnDataSource

    return ColumnDataSource({"x": [], "y": []}, name=name)


@dataclass(frozen=True, slots=True, eq=False)
class _Thresholds:
    """Some thresholds of a detector: the budgets that they need, and what they bring, in numbers and words."""

    needed: FloatArray
    shares: FloatArray
    words: dict[str, list[str]]

    def steps(self, budgets: _Budgets) -> dict[str, list[float]]:
        """Return which share of the events each budget detects."""
        x = [0.0, *self.needed.tolist(), budgets.right]
        shares = [0.0, *self.shares.tolist()]
        return {"x": [budgets.x(each) for each in x], "y": [*shares, shares[-1]]}

    def marks(self, budgets: _Budgets) -> dict[str, list[Any]]:
        """Return where the thresholds are, and what is said of them."""
        return {"x": [budgets.x(each) for each in self.needed.tolist()], "y": self.shares.tolist(), **self.words}


@dataclass(frozen=True, slots=True, eq=False)
class ShownAlarms:
    """The thresholds of a detector that are drawn, without the rest of its curve, which takes much memory.

    Attributes
    ----------
    unit : str
        What false alarms are counted by.
    smallest_budget : float
        That of a single false alarm.
    gains, suggested : _Thresholds
        Those that detect another event, and the suggested one.
    """

    unit: str
    smallest_budget: float
    gains: _Thresholds
    suggested: _Thresholds


def shown_alarms(name: str, curve: AlarmCurve, explanation: Explanation) -> ShownAlarms:
    """Return the thresholds of a detector that are drawn."""
    needed, rates = curve.budgets, curve.false_alarms_per(curve.unit)

    def those(positions: IntArray, called: Callable[[int], str]) -> _Thresholds:
        words = {
            "detector": [printable(name)] * len(positions),
            "threshold": list(map(called, positions.tolist())),
            "events": [f"{detected:,} of {curve.n_events:,}" for detected in curve.detected[positions].tolist()],
            "rate": [f"{rate:.3g}" for rate in rates[positions].tolist()],
        }
        return _Thresholds(needed[positions], curve.detected[positions] / curve.n_events, words)

    # The one that detects as much as the suggested threshold; none if nothing is detected.
    suggested = np.flatnonzero(curve.thresholds >= explanation.threshold)[-1:]
    return ShownAlarms(
        curve.unit,
        curve.smallest_budget,
        those(curve.drawn, lambda k: str(curve.rounded_threshold(k))),
        those(suggested, lambda _: f"{explanation.shown_threshold} (suggested)"),
    )


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

    def choices(self, needed: Sequence[Sequence[int]]) -> dict[str, Any]:
        """Return the numbers of false alarms at which anything changes, what one comes to, and where they are drawn."""
        counts = sorted({count for each in needed for count in each if count * self.smallest <= self.right})
        return {"one": self.smallest, "counts": counts, "places": [self.x(count * self.smallest) for count in counts]}

    def ticks(self) -> dict[str, dict[str, Any]]:
        """Return the ticks of the axis, as attributes of its models; none where Bokeh finds them."""
        if not self.wide:
            return {}
        ticks = [0.0, *round_numbers(self.smallest, self.right)]
        labels = {self.x(tick): f"{tick:,g}" for tick in ticks}
        return {"alarm-ticker": {"ticks": list(labels)}, "alarm-x": {"major_label_overrides": table(labels)}}
