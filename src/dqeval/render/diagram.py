"""The critical-difference diagram: average ranks on an axis, and bars that join the detectors not told apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dqeval.bench.ranking_result import Ranking
from dqeval.core.registry import label_of
from dqeval.render.drawing import INK, require_matplotlib
from dqeval.render.figure import shorten_middle

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 7.0  # inches: both columns of a paper
LONGEST_NAME = 30
Span = tuple[float, float]

_FONT = 8
_ROW, _LEVEL, _AXIS = 0.19, 0.1, 0.6  # heights in inches: of a name, of a bar, of the axis with its label
_OVERHANG = 0.012  # how far a bar reaches beyond its outer detectors, as a share of the axis


def critical_difference(ranking: Ranking, ax: Axes | None = None) -> Axes:
    """Draw a critical-difference diagram (Demšar 2006) by the first metric of a ranking.

    Parameters
    ----------
    ranking : Ranking
        Of two detectors or more.
    ax : matplotlib Axes, optional
        Where to draw; a new figure, as high as the detectors need, if not given. Names stand beside the axes: in a
        figure of one's own, ``layout="constrained"`` makes room for them.

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    Rank 1, the best, is on the left. A bar joins detectors no two of which differ; where bars overlap, a detector
    belongs to several such groups. By which tests: see `dqeval.bench.statistics.Significance`.

    References
    ----------
    J. Demšar (2006): Statistical comparisons of classifiers over multiple data sets. JMLR 7, 1–30.
    """
    if len(ranking.detectors) < 2:
        raise ValueError("a critical-difference diagram needs at least two detectors: there is one")
    ax = ax or _new_axes(ranking)
    metric, ranks, levels = next(iter(ranking.standings)), _ranks(ranking), _levels(ranking)
    # y is in rows of names, downwards from the axis.
    below = (len(levels) + 1) * _LEVEL / _ROW
    _draw_axis(ax, len(ranks), below + _rows(ranking), f"average rank by {label_of(metric)}, 1 is best")
    _draw_bars(ax, levels, _OVERHANG * (len(ranks) - 1))
    _draw_names(ax, sorted(ranks.items(), key=lambda item: item[1]), below)
    return ax


def size_of(ranking: Ranking) -> tuple[float, float]:
    """Return the width and the height, in inches, of a figure that the diagram fits into."""
    return WIDTH, _AXIS + (len(_levels(ranking)) + 1) * _LEVEL + _rows(ranking) * _ROW


def _ranks(ranking: Ranking) -> dict[str, float]:
    first = next(iter(ranking.standings.values()))
    return dict(zip(ranking.detectors, first.average_rank.tolist(), strict=True))


def _rows(ranking: Ranking) -> int:
    return (len(ranking.detectors) + 1) // 2


def _levels(ranking: Ranking) -> list[list[Span]]:
    """Return from where to where the bars go, in as few levels as keep those that overlap, or nearly do, apart."""
    ranks = _ranks(ranking)
    gap = 4 * _OVERHANG * (len(ranks) - 1)
    groups = [[ranks[name] for name in group] for group in ranking.significance.groups if len(group) > 1]
    levels: list[list[Span]] = []
    for span in sorted((min(group), max(group)) for group in groups):
        free = next((level for level in levels if level[-1][1] + gap < span[0]), None)
        if free is None:
            levels.append([span])
        else:
            free.append(span)
    return levels


def _new_axes(ranking: Ranking) -> Axes:
    require_matplotlib()
    from matplotlib import pyplot

    return pyplot.subplots(figsize=size_of(ranking), layout="constrained")[1]


def _draw_axis(ax: Axes, n: int, depth: float, label: str) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.set(xlim=(1, n), ylim=(depth, 0))
    ax.xaxis.set_ticks_position("top")
    ax.xaxis.set_label_position("top")
    others = MaxNLocator(nbins=10, integer=True).tick_values(1, n)
    ax.set_xticks([1, *(tick for tick in others if 1 < tick <= n)])
    ax.tick_params(axis="x", colors=INK, labelsize=_FONT)
    ax.set_xlabel(label, fontsize=_FONT, color=INK)
    ax.set_yticks([])
    ax.spines[["left", "right", "bottom"]].set_visible(False)
    ax.spines["top"].set_color(INK)
    ax.patch.set_visible(False)


def _draw_bars(ax: Axes, levels: Sequence[Sequence[Span]], overhang: float) -> None:
    for i, level in enumerate(levels, start=1):
        for low, high in level:
            ax.plot(
                [low - overhang, high + overhang],
                [i * _LEVEL / _ROW] * 2,
                color=INK,
                linewidth=3.5,
                solid_capstyle="butt",
                clip_on=False,
                label="group",
            )


def _draw_names(ax: Axes, ranked: Sequence[tuple[str, float]], below: float) -> None:
    """Write the better half on the left and the others on the right, each joined to its place on the axis.

    The outermost stand highest, so that no line crosses another.
    """
    half = (len(ranked) + 1) // 2
    sides = ((0.0, "right", ranked[:half]), (1.0, "left", ranked[half:][::-1]))
    for edge, alignment, side in sides:
        for row, (name, rank) in enumerate(side):
            y = below + row + 0.5
            outside = ax.get_xlim()[int(edge)]
            ax.plot([rank, rank, outside], [0, y, y], color=INK, linewidth=0.7, clip_on=False, label="detector")
            shown = shorten_middle(name, LONGEST_NAME)
            # An en space: a page would join several common ones into one.
            text = f"{shown}\u2002{rank:.2f}" if alignment == "right" else f"{rank:.2f}\u2002{shown}"
            ax.annotate(
                text,
                (edge, y),
                xycoords=ax.get_yaxis_transform(),
                xytext=(-4 if alignment == "right" else 4, 0),
                textcoords="offset points",
                ha=alignment,
                va="center_baseline",
                fontsize=_FONT,
                color=INK,
                parse_math=False,  # a dollar sign in a detector's name is a dollar sign
                annotation_clip=False,
            )
