"""The drawings of the HTML report: empty Bokeh figures, which series_plots.js fills for what is in view."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from colorsys import hls_to_rgb
from dataclasses import dataclass
from itertools import chain, count, islice
from typing import Any

import numpy as np

from dqeval.analysis.near_profile import NearProfile
from dqeval.core.durations import UNITS, in_words
from dqeval.core.prepared import Prepared
from dqeval.core.timeline import TimeAxis
from dqeval.core.types import FloatArray
from dqeval.render.drawing import COLOURS, UNOBSERVED
from dqeval.render.packing import HUGE
from dqeval.render.plots import embedded, table
from dqeval.render.tables import printable
from dqeval.render.time_scale import TimeScale, seconds_ahead

# Okabe and Ito's colours, but for the blue, green and red of the parts.
DETECTOR_COLOURS = (
    *("#e69f00", "#cc79a7", "#56b4e9", "#8c6bb1", "#a6761d", "#999999"),
    *("#1b7837", "#b2182b", "#4d4dff", "#e7298a", "#66a61e", "#d95f02"),
)
GOLDEN = (5**0.5 - 1) / 2  # of a turn, after any number of which no two hues are close
STRIP = (-0.14, -0.03)  # where detections are drawn, below the scores


def colours_of(detectors: Iterable[str]) -> dict[str, str]:
    """Return the colour of each detector; if there are more detectors than colours, hues far from each other follow."""
    return dict(zip(detectors, _colours(), strict=False))


def _colours() -> Iterator[str]:
    return chain(DETECTOR_COLOURS, map(_colour, count()))


def _colour(i: int) -> str:
    """Return one of ever more colours, dark and light in turn."""
    parts = hls_to_rgb(i * GOLDEN % 1, (0.35, 0.6)[i % 2], 0.65)
    return "#" + "".join(f"{round(255 * part):02x}" for part in parts)


def time_item(prepared: Prepared, scale: TimeScale) -> dict[str, Any]:
    """Return the plots over time, the series above the scores, as Bokeh embeds them."""
    start, end = scale.limits
    closest = min(8, scale.length) * scale.step
    models: dict[str, dict[str, Any]] = {
        "view": {"start": start, "end": end, "bounds": [start, end], "min_interval": closest}
    }
    if prepared.line is not None:
        low, high = _limits(prepared.line)
        models["values-range"] = {"start": low, "end": high}
    time = _Time(scale.kind == "dates", scale.label, _tip(prepared.labelled.axis, scale), len(scale.gaps) > 0)
    return embedded(_time_plots, len(prepared.scores), prepared.line is not None, time, models=models)


def curve_item(*, beside_values: bool) -> dict[str, Any]:
    """Return the plot of DQE against the threshold, as Bokeh embeds it: as high as the plots over time beside it."""
    return embedded(_curve_plot, 400 if beside_values else 260)


def near_item(profile: NearProfile, colours: Mapping[str, str], axis: TimeAxis | None) -> dict[str, Any]:
    """Return the plot of DQE against the near range, as Bokeh embeds it."""
    ranges = profile.ranges.tolist()
    lasting = [f"{near:.4g}" if axis is None else axis.lasting(near) for near in ranges]
    models: dict[str, dict[str, Any]] = {
        "near-range": {"start": 0.0, "end": ranges[-1]},
        "near-in-use": {"location": profile.near.points},
    }
    for i, name in enumerate(colours):
        words = {"detector": [printable(name)] * len(ranges), "near": lasting}
        models[f"near-{i}"] = {"data": table({"x": ranges, "y": profile.dqe[name].tolist(), **words})}
    label = "near range, in points" if axis is None else f"near range, in {_cells(axis)}"
    return embedded(_near_plot, label, tuple(colours.values()), models=models)


def _limits(values: FloatArray) -> tuple[float, float]:
    """Return the ends of an axis on which all values are, as they are drawn."""
    there = np.clip(values[np.isfinite(values)], -HUGE, HUGE)
    low, high = (float(there.min()), float(there.max())) if len(there) else (0.0, 0.0)
    margin = 0.05 * (high - low) or 1.0
    return low - margin, high + margin


def _tip(axis: TimeAxis | None, scale: TimeScale) -> tuple[str, str]:
    """Return what the hover text says of the time of a point."""
    if axis is None:
        return ("point", "@point")
    if scale.kind == "numbers":
        return ("time", "@at{0,0}")
    forms = (("d", "%F"), ("min", "%F %H:%M"), ("s", "%F %T"))
    ticks = (axis.origin + seconds_ahead(axis) * UNITS["s"], axis.resolution)
    form = next((form for unit, form in forms if not any(tick % UNITS[unit] for tick in ticks)), "%F %T.%3N")
    return (scale.label, f"@at{{{form}}}")


def _cells(axis: TimeAxis) -> str:
    return f"cells of {in_words(axis.resolution, exact=True)}" if axis.dated else "cells"


# The kinds of plots ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Time:
    """The axis of time that the series and the scores share; what is said of a point; and whether there are gaps."""

    dated: bool
    label: str
    tip: tuple[str, str]
    gaps: bool

    def put_on(self, axis: Any) -> None:
        from bokeh.models import DatetimeTickFormatter, NumeralTickFormatter

        axis.axis_label = self.label
        if not self.dated:
            axis.formatter = NumeralTickFormatter(format="0,0")
            return
        fine = {"microseconds": "%T.%f", "milliseconds": "%T.%3N", "seconds": "%T", "minsec": "%T"}
        hours = dict.fromkeys(("minutes", "hourmin", "hours"), "%H:%M")
        # Below, once, the day of hours, and the year of days.
        of_days = dict.fromkeys([*fine, *hours], "%d %b %Y")
        once = {"context_which": "all", "hide_repeats": True, "boundary_scaling": False}
        context = DatetimeTickFormatter(**of_days, days="%Y", months="", years="", **once)
        axis.formatter = DatetimeTickFormatter(**fine, **hours, days="%d %b", months="%b %Y", context=context, **once)


def _time_plots(detectors: int, with_values: bool, time: _Time) -> Any:
    from bokeh.layouts import column
    from bokeh.models import CustomJS, Range1d

    view = Range1d(start=0, end=1, name="view")
    view_changed = CustomJS(code="window.dqevalReport?.viewChanged()")
    view.js_on_change("start", view_changed)
    view.js_on_change("end", view_changed)
    options = {"x_range": view, "x_axis_type": "datetime" if time.dated else "linear", "tools": ""}
    scores = _scores_figure(detectors, time, options)
    if not with_values:
        return scores
    return column(_values_figure(time, options), scores, sizing_mode="stretch_width")


def _values_figure(time: _Time, options: dict[str, Any]) -> Any:
    from bokeh.models import Range1d

    figure = empty_figure("values", height=190, y_range=Range1d(start=0, end=1, name="values-range"), **options)
    figure.yaxis.axis_label = "series"
    figure.xaxis.visible = False  # the scores below have it
    gaps = _add_regions(figure, "values")
    line = _add_line(figure, "values")
    _add_tools(figure, [line], "value", time, gaps)
    return figure


def _scores_figure(detectors: int, time: _Time, options: dict[str, Any]) -> Any:
    from bokeh.models import ColumnDataSource, FixedTicker, Span

    figure = empty_figure("scores", height=240, y_range=(STRIP[0] - 0.03, 1.04), **options)
    figure.yaxis.axis_label = "score, scaled"
    time.put_on(figure.xaxis[0])
    figure.yaxis.ticker = FixedTicker(ticks=[0, 0.25, 0.5, 0.75, 1])
    gaps = _add_regions(figure, "scores")
    lines = []
    for i, colour in enumerate(islice(_colours(), detectors)):
        line = _add_line(figure, f"scores-{i}")
        line.glyph.line_color = colour
        line.visible = i == 0
        lines.append(line)
    detections = ColumnDataSource({"left": [], "right": [], "colour": []}, name="detections")
    figure.quad("left", "right", STRIP[1], STRIP[0], source=detections, color="colour", line_color=None)
    figure.add_layout(Span(location=0.5, dimension="width", line_dash="dashed", name="threshold"))
    _add_tools(figure, lines, "score", time, gaps)
    return figure


def _curve_plot(height: int) -> Any:
    from bokeh.events import Tap
    from bokeh.models import ColumnDataSource, CustomJS, Span

    figure = empty_figure("curve", height=height, x_range=(0, 1), y_range=(0, 1.02), tools="")
    figure.xaxis.axis_label = "threshold, of the scaled scores"
    figure.yaxis.axis_label = "DQE at the threshold"
    sure = ColumnDataSource({"x": [], "low": [], "high": []}, name="interval-band")
    band = figure.varea("x", "low", "high", source=sure, fill_alpha=0.1)
    band.name = "interval-area"
    events = ColumnDataSource({"xs": [], "ys": []}, name="event-curves")
    figure.multi_line("xs", "ys", source=events, line_color="#999999", line_alpha=0.45, line_width=1)
    chosen = ColumnDataSource({"x": [], "y": []}, name="event-curve")
    figure.line("x", "y", source=chosen, line_color=COLOURS["capture"], line_width=2)
    mean = ColumnDataSource({"x": [], "y": []}, name="mean-curve")
    line = figure.line("x", "y", source=mean, line_width=3)
    line.name = "mean-line"
    figure.add_layout(Span(location=0.5, dimension="height", line_dash="dashed", name="cursor"))
    figure.js_on_event(Tap, CustomJS(code="window.dqevalReport?.chooseThreshold(cb_obj.x)"))
    return figure


def _near_plot(label: str, colours: Sequence[str]) -> Any:
    from bokeh.models import ColumnDataSource, HoverTool, Range1d, Span

    x_range = Range1d(start=0, end=1, name="near-range")
    figure = empty_figure("near", height=260, x_range=x_range, y_range=(0, 1.02), tools="")
    figure.xaxis.axis_label = label
    figure.yaxis.axis_label = "DQE"
    lines = []
    for i, colour in enumerate(colours):
        source = ColumnDataSource({"x": [], "y": []}, name=f"near-{i}")
        lines.append(figure.line("x", "y", source=source, line_color=colour, line_width=2))
    figure.add_layout(Span(location=0, dimension="height", line_dash="dashed", name="near-in-use"))
    tips = [("detector", "@detector"), ("near", "@near"), ("DQE", "@y{0.000}")]
    figure.add_tools(HoverTool(renderers=lines, tooltips=tips))
    return figure


def empty_figure(name: str, **options: Any) -> Any:
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


def _add_regions(figure: Any, name: str) -> Any:
    """Add the tinted pieces and what was not observed, in sources of the figure's own; return the latter."""
    from bokeh.models import ColumnDataSource

    columns: dict[str, Any] = {"x0": [], "x1": [], "colour": [], "alpha": []}
    source = ColumnDataSource(columns, name=f"{name}-regions")
    figure.vstrip("x0", "x1", source=source, fill_color="colour", fill_alpha="alpha", line_color=None)
    gaps = ColumnDataSource({"x0": [], "x1": [], "lasting": []}, name=f"{name}-gaps")
    look = {"fill_color": UNOBSERVED, "fill_alpha": 0.12, "line_color": None}
    hatch = {"hatch_pattern": "/", "hatch_color": UNOBSERVED, "hatch_alpha": 0.6, "hatch_scale": 8}
    return figure.vstrip("x0", "x1", source=gaps, **look, **hatch)


def _add_line(figure: Any, name: str) -> Any:
    from bokeh.models import ColumnDataSource

    source = ColumnDataSource({"x": [], "y": [], "point": [], "at": [], "place": []}, name=name)
    line = figure.line("x", "y", source=source, line_width=1.2, line_cap="round")
    line.name = f"{name}-line"
    return line


def _add_tools(figure: Any, lines: list[Any], what: str, time: _Time, gaps: Any) -> None:
    """Add pan, zoom and hover; the wheel zooms with the shift key held, so that the page still scrolls."""
    from bokeh.models import BoxZoomTool, HoverTool, PanTool, ResetTool, WheelZoomTool, ZoomInTool, ZoomOutTool

    tips = [time.tip, (what, "@y{0.[0000]}"), ("place", "@place")]
    forms = {"@at": "datetime"} if time.dated else {}
    figure.add_tools(
        PanTool(dimensions="width"),
        BoxZoomTool(dimensions="width"),
        WheelZoomTool(dimensions="width", modifiers="shift"),
        ZoomInTool(dimensions="width"),
        ZoomOutTool(dimensions="width"),
        ResetTool(),
        HoverTool(renderers=lines, mode="vline", tooltips=tips, formatters=forms),
    )
    if time.gaps:
        # Above the mouse: beside it, the nearest point is told of.
        figure.add_tools(HoverTool(renderers=[gaps], attachment="above", tooltips=[("not observed", "@lasting")]))
