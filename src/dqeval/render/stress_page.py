"""The page on what small changes of labels and scores do to metrics: one HTML file."""

from __future__ import annotations

import math
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from dqeval.lab.perturbations import RANDOM
from dqeval.lab.stress_result import StressResult
from dqeval.render.blocks import Block, Diagram, Fold, Listing, Paragraph, hint
from dqeval.render.drawing import require_matplotlib
from dqeval.render.html import fill_template, inline_svg, require_jinja
from dqeval.support.writing import write_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = 3
_WIDTH = 9.0  # inches
_ROW, _AXIS = 0.17, 0.75  # heights in inches: of a bar, of the axis with its title


def stress_report(result: StressResult, path: str | Path) -> None:
    """Write a page on what changes do: one HTML file that needs no server and no network.

    Parameters
    ----------
    result : StressResult
    path : str or Path
        Where to write the page.
    """
    require_jinja()
    sections: dict[str, list[Block]] = {}
    if result.varied:
        sections["Deviations"] = _deviations(result)
        if len(result.detectors) > 1:
            sections["Rankings"] = [Listing("Rankings", result.ranking_table())]
        sections["Every change"] = [_change(result, kind) for kind in result.kinds]
    if result.chance:
        about = hint(f"{RANDOM.definition[:1].upper()}{RANDOM.definition[1:]}.")
        sections["Random detections"] = [about, Listing("Random detections", result.chance_table())]
    sections["Notes"] = [Paragraph(note) for note in result.notes()]
    text = fill_template(
        "bench_page.html",
        title=f"Stress test of {result.title.partition(':')[0]}",
        verdict=result.verdict,
        sections=sections,
        footer=f"{result.title}. dqeval {version('dqeval')}.",
    )
    write_text(Path(path), text)


def _deviations(result: StressResult) -> list[Block]:
    table = Listing("Deviations", result.overview_table())
    try:
        require_matplotlib()
    except ValueError as error:
        return [table, hint(f"There is no diagram: {error}.")]
    words = "Bars: the standard deviation of each metric under each change; lines: 95 % intervals; the least is on top."
    return [Diagram("Deviations as bars", words, inline_svg(lambda: stress_figure(result))), hint(words), table]


def _change(result: StressResult, kind: str) -> Fold:
    title, _, definition = result.about(kind).partition(": ")
    return Fold(title, [hint(f"{definition[:1].upper()}{definition[1:]}"), Listing(title, result.table(kind))])


def stress_figure(result: StressResult) -> Figure:
    """Return bars of all metrics, with intervals, for every kind of change."""
    from matplotlib.figure import Figure

    columns = min(COLUMNS, len(result.kinds))
    rows = math.ceil(len(result.kinds) / columns)
    height = rows * (_AXIS + _ROW * len(result.labels))
    figure = Figure(figsize=(_WIDTH * columns / COLUMNS, height), layout="constrained")
    places = figure.subplots(rows, columns, squeeze=False).ravel()
    for ax, kind in zip(places, result.kinds, strict=False):
        result.plot(kind, ax)
        ax.tick_params(labelsize=8)
        ax.xaxis.label.set_fontsize(8)
    for ax in places[len(result.kinds) :]:
        ax.remove()
    return figure
