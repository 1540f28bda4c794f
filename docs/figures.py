"""Draw the figures of the documentation with the library: ``docs/conf.py`` calls this on every build."""

from dataclasses import astuple
from pathlib import Path

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
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
        for draw in (regions, examples, curves, *PITFALLS):
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


def scale() -> Figure:
    """Return DQE of the demo's detectors under some scales of their scores, and DQE-LR, which has none."""
    series = dqeval.datasets.demo()
    scales = {"square": np.square, "as it is": np.array, "square root": np.sqrt, "logarithm": shifted_logarithm}
    figure, axes = small_figure()
    for name, scores in series.scores.items():
        found = [dqeval.dqe_score(series.labels, change(scores), near=24) for change in scales.values()]
        (line,) = axes.plot(list(scales), found, marker="o", label=name)
        axes.axhline(
            dqeval.metrics.dqe_log_rank(series.labels, scores, near=24), color=line.get_color(), linestyle="--", lw=0.8
        )
    axes.set(ylim=(0, 1), ylabel="DQE", xlabel="scale of the scores")
    axes.legend()
    return figure


def shifted_logarithm(scores: np.ndarray) -> np.ndarray:
    """Return the logarithms of scores, of which some may be 0."""
    return np.log(scores + 0.001)


def lone_score() -> Figure:
    """Return DQE of a detector against the height of one wrong point."""
    series = dqeval.datasets.demo()
    heights = np.geomspace(1, 20, 30)
    scores = series.scores["sharp"].copy()
    found = []
    for height in heights:
        scores[100] = height * series.scores["sharp"].max()
        found.append(dqeval.dqe_score(series.labels, scores, near=24))
    figure, axes = small_figure()
    axes.plot(heights, found)
    axes.set(ylim=(0, 1), ylabel="DQE", xlabel="one wrong point, as a multiple of the highest other score")
    return figure


def heights() -> Figure:
    """Return DQE against the threshold of a detector with one high event and five low ones."""
    series = dqeval.datasets.demo()
    scores = np.where(np.arange(len(series.labels)) < 300, 1.0, 0.15) * series.labels
    figure, axes = small_figure()
    dqeval.evaluate(series.labels, scores, near=24).plot(axes)
    return figure


def near_range() -> Figure:
    """Return DQE of the demo's detectors against the near range."""
    figure, axes = small_figure()
    dqeval.near_profile(dqeval.datasets.demo()).plot(axes)
    return figure


def intervals() -> Figure:
    """Return DQE of the demo's detectors with 95 % intervals."""
    series = dqeval.datasets.demo()
    figure, axes = small_figure(height=1.6)
    for row, scores in enumerate(series.scores.values()):
        result = dqeval.evaluate(series.labels, scores, near=24)
        interval = result.interval()
        axes.plot([interval.low, interval.high], [row, row], color=drawing.INK)
        axes.plot(result.dqe, row, "o", color=drawing.INK)
    axes.set(xlim=(0, 1), xlabel="DQE", yticks=range(len(series.scores)), ylim=(2.6, -0.6))
    axes.set_yticklabels(series.scores)
    return figure


def wrong_point() -> Figure:
    """Return detections with a distant false alarm, without and with a wrong point beside the event."""
    event, captured, far = (45, 55), (48, 50), (90, 91)
    alone, beside = [captured, far], [captured, (55, 56), far]
    return strips([event], {"captured, one distant false alarm": alone, "and one wrong point": beside})


def missing_labels() -> Figure:
    """Return one detection in an event, with all its labels and with three missing ones."""
    whole, parts = [(30, 70)], [(30, 40), (41, 50), (51, 60), (61, 70)]
    figure = Figure(figsize=(7.5, 1.5), layout="constrained")
    rows = figure.subplots(2, 1)
    for axes, events, name in zip(rows, (whole, parts), ("all labels", "three missing"), strict=True):
        draw_strip(axes, events, [(45, 46)], name)
    return figure


def chance() -> Figure:
    """Return SDQE of random detections against their density."""
    random = np.random.default_rng(0)
    labels = np.zeros(1000)
    labels[490:511] = 1
    shares = np.array([0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 0.99])
    found = [
        np.mean([dqeval.sdqe_score(labels, (random.random(1000) < share).astype(int), near=20) for _ in range(40)])
        for share in shares
    ]
    figure, axes = small_figure()
    axes.plot(shares, found, marker="o")
    axes.set(ylim=(0, 1), ylabel="SDQE", xlabel="share of the points that are detected, at random")
    return figure


def long_regions() -> Figure:
    """Return SDQE of as many false alarms in longer and longer series."""
    lengths = (2000, 5000, 20_000, 50_000, 200_000)
    found = [np.mean([sdqe_of_false_alarms(length, draw) for draw in range(10)]) for length in lengths]
    figure, axes = small_figure()
    axes.plot(lengths, found, marker="o")
    axes.set(xscale="log", ylim=(0, 1), ylabel="SDQE", xlabel="points in the series")
    return figure


def sdqe_of_false_alarms(length: int, draw: int, count: int = 200) -> float:
    """Return SDQE of one captured event with so many false alarms of one point at random places."""
    middle = length // 2
    labels, detections = np.zeros(length), np.zeros(length)
    labels[middle : middle + 20] = 1
    far = np.flatnonzero(np.abs(np.arange(length) - middle - 10) > 40)
    detections[np.random.default_rng(draw).choice(far, count, replace=False)] = 1
    detections[middle + 5] = 1
    return dqeval.sdqe_score(labels, detections, near=20)


PITFALLS = (scale, lone_score, heights, near_range, intervals, wrong_point, missing_labels, chance, long_regions)


def small_figure(height: float = 2.6) -> tuple[Figure, Axes]:
    """Return a figure with one pair of axes."""
    figure = Figure(figsize=(6, height), layout="constrained")
    return figure, figure.subplots()


def strips(events: list[tuple[int, int]], rows: dict[str, list[tuple[int, int]]]) -> Figure:
    """Return detections around events, row by row, each with its SDQE."""
    figure = Figure(figsize=(7.5, 0.75 * len(rows)), layout="constrained")
    for axes, (name, detections) in zip(figure.subplots(len(rows), 1), rows.items(), strict=True):
        draw_strip(axes, events, detections, name)
    return figure


def draw_strip(axes: Axes, events: list[tuple[int, int]], detections: list[tuple[int, int]], name: str) -> None:
    """Draw the regions of some events, detections in them, and SDQE."""
    labels = flags(events)
    drawing.tint_regions(axes, cuts_of(dqeval.partition(labels, near=NEAR)))
    axes.broken_barh([(a, b - a) for a, b in detections], (0.25, 0.5), color=drawing.INK)
    axes.set(xlim=(0, 100), ylim=(0, 1), xticks=(), yticks=())
    axes.set_ylabel(name, rotation=0, ha="right", va="center")
    found = dqeval.sdqe_score(labels, flags(detections), near=NEAR)
    axes.text(101, 0.5, f"SDQE {found:.2f}", ha="left", va="center")


def cuts_of(partition: dqeval.Partition) -> np.ndarray:
    """Return the six cuts of each event's region, a row an event."""
    return np.array([astuple(region) for region in partition.regions], dtype=float)


def flags(spans: list[tuple[int, int]]) -> list[int]:
    """Return 100 points that are 1 in the spans."""
    return [int(any(a <= t < b for a, b in spans)) for t in range(100)]
