"""Draw the figures of the documentation with the library: ``docs/conf.py`` calls this on every build."""

from dataclasses import astuple
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure

import dqeval
from dqeval.render import drawing
from dqeval.render import figure as paper_figure

NEAR = 10
# One event, [45, 55) of 100 points, and what is detected in each row of the figure of examples.
EVENT = (45, 55)
DETECTIONS = {
    "captured, nothing else": [(48, 50)],
    "captured, one near miss": [(48, 50), (58, 60)],
    "near miss only, close": [(56, 58)],
    "near miss only, far": [(61, 63)],
    "captured, one false alarm": [(48, 50), (72, 78)],
    "captured, scattered false alarms": [(48, 50), (6, 8), (74, 76), (88, 90)],
    "false alarm only": [(72, 78)],
    "nothing detected": [],
}


def draw_all(folder: Path) -> None:
    """Draw every figure into a folder."""
    folder.mkdir(exist_ok=True)
    # With a salt of its own and no date, the same figure is the same file.
    with rc_context({"svg.hashsalt": "dqeval", "font.size": 9}):
        for draw in (regions, examples, curves):
            draw().savefig(folder / f"{draw.__name__}.svg", metadata={"Date": None})
    paper_figure.draw(dqeval.datasets.demo(), folder / "demo.svg")


def regions() -> Figure:
    """Return the local regions of two events of the demo series, with the scores of a detector at a threshold."""
    series = dqeval.datasets.demo()
    figure = Figure(figsize=(7.5, 3.2), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    cuts = cuts_of(dqeval.partition(series.labels, near=24))
    for axes, column, name in [(above, series.values, "value"), (below, series.scores["late"], "score of late")]:
        drawing.tint_regions(axes, cuts)
        axes.plot(np.arange(len(column)) + 0.5, column, color=drawing.INK, linewidth=0.8)
        axes.set(ylabel=name, yticks=())
    drawing.mark_events(above, cuts, height=0.06)
    below.axhline(0.5, color=drawing.INK, linewidth=0.8, linestyle="--")
    below.annotate("threshold", (905, 0.53))
    below.set(xlim=(900, 1350), xlabel="point")
    figure.legend(handles=drawing.region_handles(), loc="outside upper center", ncols=4, frameon=False)
    return figure


def examples() -> Figure:
    """Return detections around one event, row by row, with the numbers that they get."""
    y_true = flags([EVENT])
    figure = Figure(figsize=(7.5, 3.8), layout="constrained")
    rows = figure.subplots(len(DETECTIONS), 2, width_ratios=(3, 2.4))
    for (axes, beside), (name, detections) in zip(rows, DETECTIONS.items(), strict=True):
        drawing.tint_regions(axes, cuts_of(dqeval.partition(y_true, near=NEAR)))
        axes.broken_barh([(a, b - a) for a, b in detections], (0.25, 0.5), color=drawing.INK)
        axes.set(xlim=(0, 100), ylim=(0, 1), xticks=(), yticks=())
        axes.set_ylabel(name, rotation=0, ha="right", va="center")
        found = dqeval.evaluate_detections(y_true, flags(detections), near=NEAR)
        for i, number in enumerate((found.capture, found.near_miss, found.false_alarm, found.dqe)):
            beside.text((i + 0.5) / 4, 0.5, f"{number:.2f}", ha="center", va="center")
        beside.set_axis_off()
    for i, column in enumerate(("capture", "near miss", "false alarm", "SDQE")):
        rows[0][1].text((i + 0.5) / 4, 1.1, column, ha="center", va="bottom", fontsize=7.5)
    return figure


def curves() -> Figure:
    """Return DQE against the threshold for the three detectors of the demo series."""
    series = dqeval.datasets.demo()
    figure = Figure(figsize=(7.5, 2.6), layout="constrained")
    for axes, (name, scores) in zip(figure.subplots(1, 3), series.scores.items(), strict=True):
        result = dqeval.evaluate(series.labels, scores, near=24, thresholds="exact")
        result.plot(axes)
        axes.set_title(f"{name}: DQE {result.dqe:.2f}")
        axes.get_legend().remove()
    figure.legend(handles=drawing.curve_handles(result.curve), loc="outside upper center", ncols=2, frameon=False)
    return figure


def cuts_of(partition: dqeval.Partition) -> np.ndarray:
    """Return the six cuts of each event's region, a row an event."""
    return np.array([astuple(region) for region in partition.regions], dtype=float)


def flags(spans: list[tuple[int, int]]) -> list[int]:
    """Return 100 points that are 1 in the spans."""
    return [int(any(a <= t < b for a, b in spans)) for t in range(100)]
