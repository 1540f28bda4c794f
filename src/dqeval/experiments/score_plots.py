"""Figures of scores over time, as the experiments on single series draw them: a row a detector, events tinted."""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING, Any

import numpy as np

from dqeval import drawing
from dqeval.partition import partition
from dqeval.types import BoolArray, FloatArray

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SECOND = "#d55e00"  # of a second line beside one in ink; far from the tints of the three parts
LINES = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9")  # that stay apart in colour-blindness
_STYLE = {"font.size": 8, "axes.titlesize": 8, "axes.linewidth": 0.6, "lines.linewidth": 0.8, "text.parse_math": False}
_BUCKETS = 600


def grid(rows: int, columns: int, *, width: float, height: float, **options: Any) -> tuple[Figure, Any]:
    """Return a figure of so many inches with rows and columns of axes, in one look, whatever the user's own may be."""
    drawing.require_matplotlib()
    from matplotlib import style
    from matplotlib.figure import Figure

    with style.context(["default", _STYLE]):
        figure = Figure(figsize=(width, height), layout="constrained")
        return figure, figure.subplots(rows, columns, squeeze=False, **options)


def draw_line(axes: Axes, values: FloatArray, span: tuple[int, int] | None = None, **look: Any) -> None:
    """Draw values over time, all or those of a span, thinned where there are more than can be seen."""
    first, stop = span or (0, len(values))
    x, y = drawing.thinned(values[first:stop], _BUCKETS)
    # Point t covers [t, t + 1): it is drawn in the middle.
    axes.plot(x + first + 0.5, y, **{"color": drawing.INK, "linewidth": 0.8, **look})


def draw_regions(axes: Axes, labels: BoolArray, near: float) -> None:
    """Tint each event, its near range and the rest of its region."""
    regions = partition(labels, near=near).regions
    drawing.tint_regions(axes, np.array([astuple(region) for region in regions], dtype=float))


def title(axes: Axes, text: str, **look: Any) -> None:
    """Write above the left end of axes what they show."""
    axes.set_title(text, **{"loc": "left", "fontsize": 8, **look})


def draw_legend(figure: Figure, *others: Artist, tints: bool = True) -> None:
    """Say below a figure what its lines are, and its tints."""
    handles = [*others, *(drawing.region_handles()[1:] if tints else ())]  # events are the tint of capture here
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False, fontsize=7)


def as_scores(axes: Axes) -> None:
    """Have axes show scores that are scaled to [0, 1]."""
    axes.set(ylim=(-0.05, 1.05), yticks=(0, 0.5, 1))
    axes.tick_params(labelsize=7)
