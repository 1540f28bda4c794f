"""What plots are made of: the colours of the three parts, tinted regions, threshold curves, long lines, bars."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dqeval.support import extras

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

FloatArray = NDArray[np.float64]

# Blue, green and red as in the paper, in shades that stay apart in the common forms of colour-blindness.
COLOURS = {"capture": "#0060b0", "near miss": "#009e73", "false alarm": "#cc3311"}
# How much of its colour a tint keeps. So far apart that tints differ when printed grey, too: capture is the darkest.
STRENGTHS = {"capture": 0.55, "near miss": 0.38, "false alarm": 0.08}
INK = "#1a1a1a"
UNOBSERVED = "#8a8a8a"  # hatched, where nothing was observed
_GREY = "#6a6a6a"
_HATCHED: dict[str, Any] = {"facecolor": "#f4f4f4", "edgecolor": UNOBSERVED, "hatch": "//////", "linewidth": 0.0}
_FEW_EVENTS = 100


class ThresholdCurve(Protocol):
    """DQE against the threshold, and the same for each event: see `dqeval.Curve`."""

    @property
    def thresholds(self) -> FloatArray:
        """The thresholds, descending."""

    @property
    def dqe(self) -> FloatArray:
        """DQE at each of them."""

    @property
    def per_event(self) -> Sequence[ThresholdCurve]:
        """The curves of the events."""


def require_matplotlib() -> None:
    """Say in one sentence what to install where matplotlib is missing."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        # A ValueError, which the command line prints as a sentence.
        raise ValueError(f"plots need matplotlib: {extras.install('plot')}") from None


def axes_or_new(ax: Axes | None) -> Axes:
    """Return the axes given, or those of a new figure, which notebooks show."""
    if ax is not None:
        return ax
    require_matplotlib()
    from matplotlib import pyplot

    return pyplot.subplots(layout="constrained")[1]


def tint_of(part: str) -> str:
    """Return the colour of a part, paled for the background.

    Mixed with white rather than transparent: what lies side by side or one on another keeps its colour.

    Examples
    --------
    >>> tint_of("false alarm")
    '#fbefec'
    """
    red, green, blue = (int(COLOURS[part][i : i + 2], 16) for i in (1, 3, 5))
    paled = (round(255 - STRENGTHS[part] * (255 - channel)) for channel in (red, green, blue))
    return "#" + "".join(f"{channel:02x}" for channel in paled)


def pieces(cuts: FloatArray) -> dict[str, FloatArray]:
    """Return where each part lies on the time axis.

    Parameters
    ----------
    cuts : array of float, shape (n_events, 6)
        The cuts of each event's region: see `dqeval.Region`.

    Returns
    -------
    dict of str to array of float, shape (n_pieces, 2)
        Start and stop of the pieces of each part that are not empty.

    Examples
    --------
    >>> pieces(np.array([[0, 2, 3, 5, 6, 6]]))["near miss"].tolist()
    [[2, 3], [5, 6]]
    """
    columns = {"capture": (2,), "near miss": (1, 3), "false alarm": (0, 4)}
    found = {}
    for part, starts in columns.items():
        spans = np.stack([cuts[:, [start, start + 1]] for start in starts], axis=1).reshape(-1, 2)
        found[part] = spans[spans[:, 0] < spans[:, 1]]
    return found


def tint_regions(ax: Axes, cuts: FloatArray) -> None:
    """Tint the pieces of each event's region over the height of the axes, and part the regions by white lines.

    Parameters
    ----------
    ax : matplotlib Axes
    cuts : array of float, shape (n_events, 6)
        See `pieces`.
    """
    for part, spans in pieces(cuts).items():
        # Events are outlined: one point in a million is narrower than what paper or a screen can show.
        outline = _fine(0.7, len(cuts)) if part == "capture" else 0.0
        _bars(ax, part, spans, 0.0, 1.0, facecolor=tint_of(part), edgecolor=tint_of(part), linewidth=outline)
    if len(cuts) > 1:
        height = ax.get_xaxis_transform()
        ax.vlines(cuts[1:, 0], 0, 1, colors="white", linewidth=_fine(1.0, len(cuts)), transform=height, zorder=-1.5)


def mark_events(ax: Axes, cuts: FloatArray, height: float) -> None:
    """Draw the labelled events as solid bars at the top of the axes, over a share of their height."""
    _bars(ax, "event", pieces(cuts)["capture"], 1 - height, height, color=COLOURS["capture"], linewidth=0.5)


def shade_unobserved(ax: Axes, spans: FloatArray) -> None:
    """Hatch what was not observed over the height of the axes."""
    if len(spans):
        _bars(ax, "not observed", spans, 0.0, 1.0, **_HATCHED)


def draw_curve(ax: Axes, curve: ThresholdCurve) -> None:
    """Draw DQE against the threshold: the mean over the events, and the events thin behind it.

    Parameters
    ----------
    ax : matplotlib Axes
    curve : Curve
        Of a whole series; nothing is drawn for one without events.
    """
    if len(curve.per_event) > 1:
        alpha = max(0.1, min(0.5, 5 / len(curve.per_event)))
        for event in curve.per_event:
            ax.step(*_steps(event), where="post", zorder=-1, color=_GREY, alpha=alpha, linewidth=0.6)
    if curve.per_event:
        ax.step(*_steps(curve), where="post", color=INK, linewidth=1.5)
    ax.set(xlim=(0, 1), ylim=(0, 1.04), xticks=(0, 0.5, 1), yticks=(0, 0.5, 1), ylabel="DQE")
    ax.set_xlabel("threshold (scaled)")


def draw_shares(ax: Axes, budgets: FloatArray, shares: FloatArray, *, smallest: float) -> None:
    """Draw which share is reached within each budget, as steps; far budgets closer to each other than near ones.

    Parameters
    ----------
    ax : matplotlib Axes
    budgets, shares : array of float, shape (n,)
        Ascending: from each budget on, the share is reached.
    smallest : float
        The smallest budget above 0 that can make a difference.
    """
    free = float(shares[budgets == 0].max(initial=0.0))
    paid = budgets > 0
    right = 1.3 * max(float(budgets.max(initial=0.0)), smallest)
    x = np.concatenate([[0.0], budgets[paid], [right]])
    y = np.concatenate([[free], shares[paid]])
    ax.step(x, np.append(y, y[-1]), where="post", color=INK, linewidth=1.5)
    if right > 10 * smallest:
        # 0 is on the axis: up to the smallest budget it is linear, and as wide as half a power of ten.
        ax.set_xscale("symlog", linthresh=smallest, linscale=0.5)
        ticks = [0.0, *round_numbers(smallest, right)]
        ax.set_xticks(ticks, [f"{tick:,g}" for tick in ticks])
        ax.minorticks_off()
    ax.set(xlim=(0, right), ylim=(0, 1.04), yticks=(0, 0.5, 1))


def curve_handles(curve: ThresholdCurve) -> list[Artist]:
    """Return what a legend shows for the lines of `draw_curve`: nothing for a single line."""
    from matplotlib.lines import Line2D

    if len(curve.per_event) < 2:
        return []
    mean = Line2D([], [], color=INK, linewidth=1.5, label="mean of events")
    return [mean, Line2D([], [], color=_GREY, alpha=0.5, linewidth=0.6, label="each event")]


def region_handles(*, unobserved: bool = False) -> list[Artist]:
    """Return what a legend shows for marked events, for the tints of the three parts, and for what was not observed."""
    from matplotlib.patches import Patch

    tints = [Patch(facecolor=tint_of(part), edgecolor=COLOURS[part], linewidth=0.5, label=part) for part in COLOURS]
    gaps = [Patch(**_HATCHED, label="not observed")] if unobserved else []
    return [Patch(color=COLOURS["capture"], linewidth=0.5, label="event"), *tints, *gaps]


def thin(values: FloatArray, buckets: int) -> tuple[NDArray[np.intp], FloatArray]:
    """Return few of many values that look the same as a line: the lowest and the highest of each stretch of time.

    Parameters
    ----------
    values : array of float, shape (n,)
        NaN where there is none, which leaves a gap in the line.
    buckets : int
        How many stretches; a few for each dot of the width.

    Returns
    -------
    x, y : array of int, array of float
        The positions that are kept, in time order, and their values: all if there are at most two in a bucket.

    Examples
    --------
    >>> x, y = thin(np.array([0.0, 0, 0, 9, 1, 1, 1, 1, -5, 1]), 2)
    >>> x.tolist(), y.tolist()
    ([0, 3, 5, 8], [0.0, 9.0, 1.0, -5.0])
    """
    n = len(values)
    if n <= 2 * buckets:
        return np.arange(n), values
    bucket = np.arange(n) * buckets // n
    starts = np.flatnonzero(np.diff(bucket, prepend=-1))
    lowest, highest = (extreme.reduceat(values, starts)[bucket] for extreme in (np.fmin, np.fmax))
    kept = [_first_of_each(bucket, hits) for hits in (values == lowest, values == highest, np.isnan(values))]
    x = np.unique(np.concatenate(kept))
    return x, values[x]


def draw_bars(ax: Axes, values: Mapping[str, float], perfect: Sequence[float]) -> None:
    """Draw numbers as horizontal bars, the first one on top, each with its value at its end.

    Parameters
    ----------
    ax : matplotlib Axes
    values : mapping of str to float
        By what is written beside the bar; NaN is called undefined.
    perfect : sequence of float
        Which value has a bar of length 1; what is below 0 has none.
    """
    rows = range(len(values))
    shares = [value / most for value, most in zip(values.values(), perfect, strict=True)]
    lengths = [0.0 if math.isnan(share) else max(share, 0.0) for share in shares]
    ax.barh(rows, lengths, height=0.7, color=COLOURS["capture"])
    for row, length, value in zip(rows, lengths, values.values(), strict=True):
        text = "undefined" if math.isnan(value) else f"{value:.3f}"
        ax.annotate(text, (length, row), xytext=(3, 0), textcoords="offset points", va="center")
    ax.set_yticks(rows, list(values))
    # To the right of 1 there is room for the number of a bar that ends there.
    ax.set(xlim=(0, 1.15), xticks=np.linspace(0, 1, 6), ylim=(len(values) - 0.4, -0.6), xlabel="value")
    ax.spines[["top", "right"]].set_visible(False)


class Ends(Protocol):
    """Where an interval begins and ends: NaN if nobody knows."""

    @property
    def low(self) -> float:
        """Where it begins."""

    @property
    def high(self) -> float:
        """Where it ends."""


def draw_deviations(ax: Axes, values: Mapping[str, float], intervals: Mapping[str, Ends], *, accent: str) -> None:
    """Draw standard deviations as horizontal bars with their intervals, the least on top, what is unknown last.

    Parameters
    ----------
    ax : matplotlib Axes
    values : mapping of str to float
        By what is written beside the bar.
    intervals : mapping of str to Interval
    accent : str
        Which bar stands out.
    """
    names = sorted(values, key=lambda name: (math.isnan(values[name]), values[name]))
    colours = [COLOURS["capture"] if name == accent else "#9a9a9a" for name in names]
    ax.barh(range(len(names)), [values[name] for name in names], color=colours, height=0.7)
    for row, name in enumerate(names):
        ends = [intervals[name].low, intervals[name].high]
        ax.plot(ends, [row, row], color=INK, linewidth=1.0, marker="|", markersize=4)
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.set_xlim(left=0)
    ax.locator_params(axis="x", nbins=4)
    ax.spines[["top", "right"]].set_visible(False)


def _steps(curve: ThresholdCurve) -> tuple[FloatArray, FloatArray]:
    """Return thresholds and DQE from 1 down to 0, each value holding from its threshold down to the next.

    So do exact values by definition; with sampled thresholds, too, the area under the steps is DQE.
    """
    thresholds = np.concatenate([[1.0], curve.thresholds, [0.0]])
    values = np.concatenate([[0.0], curve.dqe])
    # Above the first threshold nothing is detected and DQE is 0; where that threshold is 1, nothing lies above it.
    first = int(curve.thresholds.max(initial=0.0) == 1.0)
    return thresholds[first:], np.append(values, values[-1])[first:]


def round_numbers(low: float, high: float) -> list[float]:
    """Return 1, 2 and 5 times the powers of ten from ``low`` to ``high``; of many, every power or every other one."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    digits = (1, 2, 5) if len(powers) < 5 else (1,)
    numbers = [float(f"{digit}e{power}") for power in powers for digit in digits]
    return [number for number in numbers if low <= number <= high][:: 1 if len(powers) < 9 else 2]


def _first_of_each(bucket: NDArray[np.intp], hits: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the position of the first hit in each bucket that has one."""
    positions = np.flatnonzero(hits)
    return positions[np.flatnonzero(np.diff(bucket[positions], prepend=-1))]


def _bars(ax: Axes, label: str, spans: FloatArray, low: float, height: float, **look: Any) -> None:
    """Draw bars over spans of the x-axis, between two shares of the height of the axes."""
    ranges = [(start, stop - start) for start, stop in spans.tolist()]
    ax.broken_barh(ranges, (low, height), label=label, transform=ax.get_xaxis_transform(), zorder=-2, **look)


def _fine(width: float, n_events: int) -> float:
    """Return the width of a line drawn once an event, finer where there are many, so that they hide nothing."""
    return width * min(1.0, _FEW_EVENTS / n_events)
