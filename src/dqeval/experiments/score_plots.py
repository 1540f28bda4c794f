"""What the experiments' figures share: axes, colours, tinted events, scores over time, the legend below.

The style is that of `dqeval.render.figure.save`, which makes and writes every figure.
"""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING, Any

import numpy as np

from dqeval.core.partition import partition
from dqeval.core.types import BoolArray, FloatArray
from dqeval.render import drawing

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Lines of a figure, in this order: they stay apart in the common forms of colour-blindness, the first ones best.
PALETTE = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#56b4e9",
    "#e69f00",
    "#8c6d31",
    "#6a6a6a",
    "#7b4fa3",
    "#117733",
    "#cc3311",
)
SECOND = PALETTE[1]  # of a second line beside one in ink; far from the tints of the three parts
_BUCKETS = 600
STRETCH = 5  # points whose highest score alone is shown where the series may not be


def grid(rows: int, columns: int, *, width: float, height: float, **options: Any) -> tuple[Figure, Any]:
    """Return a figure of so many inches, and its axes in rows and columns."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def draw_line(axes: Axes, values: FloatArray, span: tuple[int, int] | None = None, **look: Any) -> None:
    """Draw values over time, all or those of a span, thinned where there are more than can be seen."""
    first, stop = span or (0, len(values))
    x, y = drawing.thin(values[first:stop], _BUCKETS)
    # Point t covers [t, t + 1): it is drawn in the middle.
    axes.plot(x + first + 0.5, y, **{"color": drawing.INK, "linewidth": 0.8, **look})


def draw_maxima(axes: Axes, scores: FloatArray, **look: Any) -> None:
    """Draw the highest score of each stretch of time, of `STRETCH` points at least: the scores themselves stay unknown.

    A line through maxima also shows where long series are quiet, which a line through all points paints over.
    """
    width = max(STRETCH, -(-len(scores) // _BUCKETS))
    starts = np.arange(0, len(scores), width)
    highest = np.maximum.reduceat(scores, starts)
    edges = np.append(starts, len(scores))
    axes.stairs(highest, edges, baseline=None, **{"color": drawing.INK, "linewidth": 0.8, **look})


def draw_regions(axes: Axes, labels: BoolArray, near: float) -> None:
    """Tint each event, its near range and the rest of its region."""
    regions = partition(labels, near=near).regions
    drawing.tint_regions(axes, np.array([astuple(region) for region in regions], dtype=float))


def draw_legend(figure: Figure, *handles: Artist, **look: Any) -> None:
    """Say below a figure what its lines and colours are."""
    place = {"loc": "outside lower center", "ncols": len(handles), "frameon": False, "fontsize": 7}
    figure.legend(handles=handles, **{**place, **look})


def tint_handles() -> list[Artist]:
    """Return what a legend shows for `draw_regions`: events have the tint of capture there, no mark of their own."""
    return drawing.region_handles()[1:]


def as_scores(axes: Axes) -> None:
    """Have axes show scores that are scaled to [0, 1]."""
    axes.set(ylim=(-0.05, 1.05), yticks=(0, 0.5, 1))
