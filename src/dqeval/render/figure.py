"""The static figure for a paper: the series, its regions, the scores of each detector, DQE against the threshold."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import astuple
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dqeval.analysis.panel_result import Evaluation
from dqeval.analysis.score import panels
from dqeval.analysis.score_result import dqe_of
from dqeval.core.durations import UNITS, Length
from dqeval.core.moments import shown
from dqeval.core.prepared import Prepared
from dqeval.core.sampling import Clock
from dqeval.core.timeline import TimeAxis
from dqeval.core.types import DQEResult, FloatArray
from dqeval.datasets.door import Data, prepare
from dqeval.render import drawing
from dqeval.render.tables import count_of, printable
from dqeval.render.time_scale import TimeScale, scale_of, seconds_ahead, size_in_words
from dqeval.support.writing import atomic_write

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# What each kind of file is told about the date: nothing, so that the same figure is the same file.
_METADATA: dict[str, dict[str, Any]] = {"png": {}, "svg": {"Date": None}, "pdf": {"CreationDate": None}}
_STYLE = {
    "font.size": 8,
    "axes.labelsize": 8,
    "axes.titlesize": 8,
    "axes.titlepad": 3,
    "axes.linewidth": 0.6,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "lines.solid_joinstyle": "bevel",
    "text.parse_math": False,  # a dollar sign in a detector's name is a dollar sign
    "pdf.fonttype": 42,  # fonts that can be edited, which publishers ask for
    "svg.hashsalt": "dqeval",
}
_DPI = 300
_DOTS = 2000  # in the width of a figure, about
_SMALL = 1e-100  # the squares of what is smaller, or of its inverse, are 0 or infinite
_WIDTH = 7.0  # inches: both columns of a paper
_SERIES_HEIGHT, _STRIP_HEIGHT, _DETECTOR_HEIGHT, _TITLE_HEIGHT, _AXIS_HEIGHT = 0.9, 0.42, 0.7, 0.22, 0.4
_BUCKETS = 800
_LONGEST_SERIES_NAME, _LONGEST_DETECTOR_NAME, _LONGEST_EVENT_NAME = 50, 36, 24
_LETTER = 0.012  # of the width of the axes: a letter of an event's name
# More tints and thin lines than this are drawn as dots: as shapes, they would make files too large to share.
_MOST_EVENTS_AS_SHAPES = 10


def draw(
    data: Data | Prepared,
    path: str | PathLike[str],
    *,
    near: Length | None = None,
    period: Length | None = None,
    times: Any = None,
    resolution: Length | None = None,
    max_gap: Length | None = None,
) -> dict[str, Evaluation]:
    """Draw a series and the scores of its detectors into a file, for a paper.

    Parameters
    ----------
    data : Series, mapping of str to array-like, str or Path
        See `compare`. Without values, or with several columns of them, the labels are drawn as a strip.
    path : path-like
        Where to write; the ending tells the kind of file: png, svg or pdf.
    near : float, str or timedelta, optional
        How many points before and after an event a detection still is a near miss; 0 for none, "2ev" for twice the
        median length of an event, or a duration such as "10min".
    period : float, str or timedelta, optional
        The period of the series, in points or as a duration; ``near`` is then half of it. With neither, the period is
        estimated from the values, if there are any.
    times, resolution, max_gap : optional
        The clock: see `report`. Evenly spaced dates are drawn on an axis of dates without any of them.

    Returns
    -------
    dict of str to Evaluation
        DQE of each detector, the best first.

    Notes
    -----
    Detectors are in the order of DQE, the best first. Their scores are scaled to [0, 1], as thresholds are. Long series
    are thinned out for drawing, never for the numbers. The same input gives the same file. On a clock, the axis has
    dates and is to scale: what was not observed takes its width, is hatched, and breaks the lines.

    Examples
    --------
    >>> draw(dqeval.datasets.demo(), "demo.gif")
    Traceback (most recent call last):
    ...
    ValueError: a figure is a png, svg or pdf file: demo.gif is none by its ending
    """
    ending(path)  # raises before any work if there is no such kind of file
    drawing.require_matplotlib()
    prepared = prepare(data, near=near, period=period, clock=Clock(times, resolution, max_gap))
    found = dict(sorted(panels(prepared, metrics=["dqe"]), key=lambda item: -item[1]["dqe"]))
    save(lambda: _figure(prepared, {name: dqe_of(panel) for name, panel in found.items()}), path)
    return found


def save(make: Callable[[], Figure], *paths: str | PathLike[str]) -> None:
    """Make a figure in the style of all figures here, and write it to files: their endings tell the kinds."""
    drawing.require_matplotlib()
    from matplotlib import style

    # From the default style, whatever the user's own may be, so that nothing overlaps and files are the same.
    with style.context(["default", _STYLE]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # a box stands for it, which says enough
        figure = make()
        for path in paths:
            kind = ending(path)
            with atomic_write(path) as place:
                figure.savefig(place, format=kind, dpi=_DPI, metadata=_METADATA[kind])


def ending(path: str | PathLike[str]) -> str:
    """Return the kind of a figure's file by its name: png, svg or pdf."""
    kind = Path(path).suffix.lower().removeprefix(".")
    if kind not in _METADATA:
        raise ValueError(f"a figure is a png, svg or pdf file: {path} is none by its ending")
    return kind


def _figure(prepared: Prepared, results: dict[str, DQEResult]) -> Figure:
    from matplotlib.figure import Figure

    heights = [_STRIP_HEIGHT if prepared.line is None else _SERIES_HEIGHT] + [_DETECTOR_HEIGHT] * len(results)
    figure = Figure(figsize=(_WIDTH, sum(heights) + _TITLE_HEIGHT * len(heights) + _AXIS_HEIGHT), layout="constrained")
    rows = figure.subplots(len(heights), 2, squeeze=False, width_ratios=(5, 2), height_ratios=heights)
    scale = _scale(prepared)
    cuts = scale.cuts(np.array([astuple(region) for region in prepared.regions.regions], dtype=float))
    for time_axes, _ in rows:
        drawing.tint_regions(time_axes, cuts)
        drawing.shade_unobserved(time_axes, scale.unobserved(_DOTS))
        time_axes.set_xlim(scale.limits)
        _set_ticks(time_axes, scale)
    _draw_series(rows[0][0], prepared, scale, cuts)
    _draw_legend(rows[0][1], results, unobserved=len(scale.gaps) > 0)
    for (time_axes, curve_axes), (name, result) in zip(rows[1:], results.items(), strict=True):
        _draw_detector(time_axes, curve_axes, name, scale, prepared.scored(name).scores, result)
    for axes in rows.flat:
        if len(cuts) > _MOST_EVENTS_AS_SHAPES:
            axes.set_rasterization_zorder(0)
    for axes in rows[:-1].flat:
        axes.set_xlabel("")
        axes.tick_params(labelbottom=False)
    figure.align_ylabels(rows[:, 0])
    rows[-1][0].set_xlabel(_time_label(prepared.labelled.axis, scale))
    return figure


def _time_label(axis: TimeAxis | None, scale: TimeScale) -> str:
    """Return what the axis shows: of dates from when to when, as the ticks leave out the year."""
    if axis is None:
        return "time in points"
    if scale.kind != "dates":
        return scale.label
    # In the clock that is drawn, which the label tells.
    ahead = np.timedelta64(seconds_ahead(axis), "s")
    return f"{scale.label}, {shown(axis.start_of(0) + ahead)} – {shown(axis.end_of(axis.length) + ahead)}"


def _scale(prepared: Prepared) -> TimeScale:
    """Return where points are drawn: of dates, in days, as matplotlib counts them."""
    axis = prepared.labelled.axis
    if axis is None or not axis.dated:
        return scale_of(prepared)
    return scale_of(prepared, origin=float(_dates().date2num(axis.start_of(0))), unit=UNITS["d"])


def _set_ticks(axes: Axes, scale: TimeScale) -> None:
    if scale.kind != "dates":
        axes.xaxis.set_major_formatter("{x:,.0f}")
        return
    locator = _dates().AutoDateLocator(minticks=3, maxticks=7)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(_dates().ConciseDateFormatter(locator, show_offset=False))


def _dates() -> Any:
    """Return matplotlib's module of dates, which has no types."""
    from matplotlib import dates

    return dates


def _draw_series(axes: Axes, prepared: Prepared, scale: TimeScale, cuts: FloatArray) -> None:
    name, values = shorten_middle(prepared.name, _LONGEST_SERIES_NAME), prepared.line
    axis, near = prepared.labelled.axis, prepared.near.points
    size, events = size_in_words(axis, scale.length), count_of(len(cuts), "event")
    _title(axes, f"{name}: {size}, {events}, near {f'{near:g}' if axis is None else axis.lasting(near)}", loc="left")
    if values is None:
        drawing.mark_events(axes, cuts, height=1.0)
        axes.set(yticks=(), ylabel="label")
    else:
        drawing.mark_events(axes, cuts, height=0.06)
        _name_events(axes, prepared.event_names, cuts, scale)
        unit = _unit(values)
        _draw_line(axes, scale, values / unit)
        axes.set_ylabel("value" if unit == 1 else f"value / {unit:g}")
        axes.margins(y=0.1)
        axes.locator_params(axis="y", nbins=3)
        axes.yaxis.set_major_formatter("{x:.4g}")


def _name_events(axes: Axes, names: Sequence[str], cuts: FloatArray, scale: TimeScale) -> None:
    """Write the names of events below their bars, where there is room for them."""
    low, high = scale.limits
    taken = 0.0
    for name, start in zip(names, (cuts[: len(names), 2] - low) / (high - low), strict=True):
        words = shorten_middle(name, _LONGEST_EVENT_NAME)
        width = len(words) * _LETTER
        left = min(float(start), 1 - width)
        if left >= taken:
            axes.text(left, 0.91, words, transform=axes.transAxes, fontsize=5, va="top").set_in_layout(False)
            taken = left + width


def _unit(values: FloatArray) -> float:
    """Return what values are divided by to be drawn: 1, but for some that are too large or small for an axis."""
    size = float(np.nanmax(np.abs(values)))
    return 1.0 if size == 0 or _SMALL < size < 1 / _SMALL else max(math.ulp(0.0), 10.0 ** math.floor(math.log10(size)))


def _draw_legend(axes: Axes, results: dict[str, DQEResult], *, unobserved: bool) -> None:
    handles = drawing.region_handles(unobserved=unobserved) + drawing.curve_handles(next(iter(results.values())).curve)
    axes.legend(handles=handles, loc="center", ncols=2, frameon=False, fontsize=7)
    axes.set_axis_off()


def _draw_detector(
    time_axes: Axes, curve_axes: Axes, name: str, scale: TimeScale, scores: FloatArray, result: DQEResult
) -> None:
    _draw_line(time_axes, scale, scores)
    time_axes.set(ylim=(-0.04, 1.04), yticks=(0, 0.5, 1), ylabel="scaled score")
    drawing.draw_curve(curve_axes, result.curve)
    _title(time_axes, shorten_middle(name, _LONGEST_DETECTOR_NAME), loc="left", fontweight="bold")
    parts = f"capture {result.capture:.3f}   near miss {result.near_miss:.3f}   false alarm {result.false_alarm:.3f}"
    _title(curve_axes, f"DQE {result.dqe:.3f}   {parts}", loc="right", fontsize=7)


def _draw_line(axes: Axes, scale: TimeScale, values: FloatArray) -> None:
    positions, kept = drawing.thin(values, _BUCKETS)
    # Point t covers [t, t + 1) of the regions' axis: it is drawn in the middle.
    # A long series is drawn as a dense band, through which the tints must be seen.
    alpha = 0.6 if len(positions) < len(values) else 1.0
    axes.plot(*scale.line(positions, kept), color=drawing.INK, linewidth=0.6, alpha=alpha)


def _title(axes: Axes, text: str, **look: Any) -> None:
    """Write above the axes what may be wider than they are."""
    axes.set_title(text, **look).set_in_layout(False)


def shorten_middle(name: str, longest: int) -> str:
    """Return a name, without its middle if it is long: names often differ at their ends."""
    name = printable(name)
    return name if len(name) <= longest else f"{name[: longest // 2 - 1]}…{name[-longest // 2 :]}"
