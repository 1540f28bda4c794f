"""The drawings of the HTML report: empty Bokeh figures, which series_page.js fills for what is in view."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import cycle
from typing import Any

import numpy as np

from dqeval.analysis.near_profile import NearProfile
from dqeval.core.prepared import Prepared
from dqeval.core.types import FloatArray
from dqeval.render.drawing import COLOURS
from dqeval.render.tables import printable

# Okabe and Ito's colours, but for the blue, green and red of the parts.
DETECTOR_COLOURS = (
    *("#e69f00", "#cc79a7", "#56b4e9", "#8c6bb1", "#a6761d", "#999999"),
    *("#1b7837", "#b2182b", "#4d4dff", "#e7298a", "#66a61e", "#d95f02"),
)
STRIP = (-0.14, -0.03)  # where detections are drawn, below the scores


def colours_of(detectors: Iterable[str]) -> dict[str, str]:
    """Return the colour of each detector; after the last colour, the first comes again."""
    return dict(zip(detectors, cycle(DETECTOR_COLOURS), strict=False))


def time_item(prepared: Prepared) -> dict[str, Any]:
    """Return the plots over time, the series above the scores, as Bokeh embeds them."""
    from bokeh.embed import json_item
    from bokeh.layouts import column
    from bokeh.models import CustomJS, Range1d

    length = len(prepared.labelled.labels)
    x_range = Range1d(start=0, end=length, bounds=(0, length), min_interval=min(8, length), name="view")
    view_changed = CustomJS(code="window.dqevalReport?.viewChanged()")
    x_range.js_on_change("start", view_changed)
    x_range.js_on_change("end", view_changed)
    scores = _scores_figure(prepared.scores, x_range)
    if prepared.line is None:
        return dict(json_item(scores))
    both = column(_values_figure(prepared.line, x_range), scores, sizing_mode="stretch_width")
    return dict(json_item(both))


def curve_item() -> dict[str, Any]:
    """Return the plot of DQE against the threshold, as Bokeh embeds it."""
    from bokeh.embed import json_item
    from bokeh.events import Tap
    from bokeh.models import ColumnDataSource, CustomJS, Span

    figure = _figure("curve", height=400, x_range=(0, 1), y_range=(0, 1.02), tools="")
    figure.xaxis.axis_label = "threshold, of the scaled scores"
    figure.yaxis.axis_label = "DQE at the threshold"
    events = ColumnDataSource({"xs": [], "ys": []}, name="event-curves")
    figure.multi_line("xs", "ys", source=events, line_color="#999999", line_alpha=0.45, line_width=1)
    chosen = ColumnDataSource({"x": [], "y": []}, name="event-curve")
    figure.line("x", "y", source=chosen, line_color=COLOURS["capture"], line_width=2)
    mean = ColumnDataSource({"x": [], "y": []}, name="mean-curve")
    line = figure.line("x", "y", source=mean, line_width=3)
    line.name = "mean-line"
    figure.add_layout(Span(location=0.5, dimension="height", line_dash="dashed", name="cursor"))
    figure.js_on_event(Tap, CustomJS(code="window.dqevalReport?.chooseThreshold(cb_obj.x)"))
    return dict(json_item(figure))


def near_item(profile: NearProfile, colours: Mapping[str, str]) -> dict[str, Any]:
    """Return the plot of DQE against the near range, as Bokeh embeds it."""
    from bokeh.embed import json_item
    from bokeh.models import ColumnDataSource, HoverTool, Span

    figure = _figure("near", height=260, x_range=(0, float(profile.ranges[-1])), y_range=(0, 1.02), tools="")
    figure.xaxis.axis_label = "near range, in points"
    figure.yaxis.axis_label = "DQE"
    lines = []
    for name, colour in colours.items():
        columns = {"x": profile.ranges.tolist(), "y": profile.dqe[name].tolist()}
        source = ColumnDataSource(columns | {"detector": [printable(name)] * len(profile.ranges)})
        lines.append(figure.line("x", "y", source=source, line_color=colour, line_width=2))
    figure.add_layout(Span(location=profile.near.points, dimension="height", line_dash="dashed", name="near-in-use"))
    tips = [("detector", "@detector"), ("near", "@x{0.[0]}"), ("DQE", "@y{0.000}")]
    figure.add_tools(HoverTool(renderers=lines, tooltips=tips))
    return dict(json_item(figure))


def _values_figure(values: FloatArray, x_range: Any) -> Any:
    there = values[np.isfinite(values)]
    low, high = (float(there.min()), float(there.max())) if len(there) else (0.0, 0.0)
    margin = 0.05 * (high - low) or 1.0
    figure = _figure("values", height=190, x_range=x_range, y_range=(low - margin, high + margin), tools="")
    figure.yaxis.axis_label = "series"
    figure.xaxis.visible = False  # the scores below have it
    _add_regions(figure, "values")
    line = _add_line(figure, "values")
    _add_tools(figure, [line], "value")
    return figure


def _scores_figure(detectors: Iterable[str], x_range: Any) -> Any:
    from bokeh.models import ColumnDataSource, FixedTicker, NumeralTickFormatter, Span

    figure = _figure("scores", height=240, x_range=x_range, y_range=(STRIP[0] - 0.03, 1.04), tools="")
    figure.yaxis.axis_label = "score, scaled"
    figure.xaxis.axis_label = "point"
    figure.xaxis.formatter = NumeralTickFormatter(format="0,0")
    figure.yaxis.ticker = FixedTicker(ticks=[0, 0.25, 0.5, 0.75, 1])
    _add_regions(figure, "scores")
    lines = []
    for i, colour in enumerate(colours_of(detectors).values()):
        line = _add_line(figure, f"scores-{i}")
        line.glyph.line_color = colour
        line.visible = i == 0
        lines.append(line)
    detections = ColumnDataSource({"left": [], "right": [], "colour": []}, name="detections")
    figure.quad("left", "right", STRIP[1], STRIP[0], source=detections, color="colour", line_color=None)
    figure.add_layout(Span(location=0.5, dimension="width", line_dash="dashed", name="threshold"))
    _add_tools(figure, lines, "score")
    return figure


def _figure(name: str, **options: Any) -> Any:
    """Return a figure that takes its colours from the page."""
    from bokeh.plotting import figure

    made = figure(
        sizing_mode="stretch_width",
        toolbar_location="above",
        background_fill_color=None,
        border_fill_color=None,
        outline_line_color=None,
        **options,
    )
    made.toolbar.logo = None
    made.toolbar.stylesheets = ["@media print { :host { display: none; } }"]
    for side, axis in (("x", made.xaxis[0]), ("y", made.yaxis[0])):
        axis.name = f"{name}-{side}"
        axis.minor_tick_line_color = None
        axis.axis_label_text_font_style = "normal"
    made.grid.grid_line_alpha = 0.25
    made.xgrid.visible = False
    return made


def _add_regions(figure: Any, name: str) -> None:
    """Add the tinted pieces, in a source of the figure's own."""
    from bokeh.models import ColumnDataSource

    columns: dict[str, Any] = {"x0": [], "x1": [], "colour": [], "alpha": []}
    source = ColumnDataSource(columns, name=f"{name}-regions")
    figure.vstrip("x0", "x1", source=source, fill_color="colour", fill_alpha="alpha", line_color=None)


def _add_line(figure: Any, name: str) -> Any:
    from bokeh.models import ColumnDataSource

    source = ColumnDataSource({"x": [], "y": [], "point": []}, name=name)
    line = figure.line("x", "y", source=source, line_width=1.2)
    line.name = f"{name}-line"
    return line


def _add_tools(figure: Any, lines: list[Any], what: str) -> None:
    """Add pan, zoom and hover; the wheel zooms with the shift key held, so that the page still scrolls."""
    from bokeh.models import BoxZoomTool, HoverTool, PanTool, ResetTool, WheelZoomTool, ZoomInTool, ZoomOutTool

    figure.add_tools(
        PanTool(dimensions="width"),
        BoxZoomTool(dimensions="width"),
        WheelZoomTool(dimensions="width", modifiers="shift"),
        ZoomInTool(dimensions="width"),
        ZoomOutTool(dimensions="width"),
        ResetTool(),
        HoverTool(renderers=lines, mode="vline", tooltips=[("point", "@point"), (what, "@y{0.[0000]}")]),
    )
