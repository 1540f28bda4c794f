"""Events and detections of small series drawn as strips, one below the other, on the regions that they fall into."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dqeval.core.events import find_events
from dqeval.core.types import BoolArray
from dqeval.experiments import score_plots
from dqeval.render.drawing import COLOURS, INK, region_handles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GROUND_TRUTH = "GT"
ROW_HEIGHT = 0.2  # inches, for figures that have a strip for each of some detections
_STRIP = 0.6  # of a row
_MANY = 100


def draw_strips(ax: Axes, labels: BoolArray, detections: Mapping[str, BoolArray], near: float) -> None:
    """Draw a strip for the events and one for each of some detections, and tint the pieces of the regions behind them.

    Parameters
    ----------
    ax : matplotlib Axes
    labels : array of bool, shape (n,)
    detections : mapping of str to array of bool, shape (n,)
        By what is written beside the strip.
    near : float
    """
    score_plots.draw_regions(ax, labels, near)
    strips = {GROUND_TRUTH: labels, **detections}
    for row, (name, points) in enumerate(strips.items()):
        colour = COLOURS["capture"] if name == GROUND_TRUTH else INK
        spans = [(start, stop - start) for start, stop in find_events(points)]
        # A few are outlined: a single point of two thousand is narrower than what paper or a screen can show.
        outline = 0.5 if len(spans) < _MANY else 0.0
        ax.broken_barh(spans, (row - _STRIP / 2, _STRIP), color=colour, linewidth=outline, label=name)
    ax.set_yticks(range(len(strips)), list(strips))
    ax.tick_params(axis="y", length=0)
    ax.set(xlim=(0, len(labels)), ylim=(len(strips) - 0.5, -0.5))
    ax.locator_params(axis="x", nbins=6)
    ax.xaxis.set_major_formatter("{x:,.0f}")


def add_legend(figure: Figure) -> None:
    """Say below all panels what the colours of strips and regions are."""
    from matplotlib.patches import Patch

    score_plots.draw_legend(figure, *region_handles(), Patch(color=INK, linewidth=0.5, label="detection"))
