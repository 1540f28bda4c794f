"""``dqeval plot``: the figure for a paper."""

from __future__ import annotations

from typing import Annotated

import typer

from dqeval.cli import gate
from dqeval.cli.options import FailUnder, FigureFormat, Figures, Files, Label, NearRange, Period, Score, Value
from dqeval.cli.results import Chosen, each_written, expanded, places_for


def plot(
    files: Files,
    path: Figures,
    kind: Annotated[
        FigureFormat,
        typer.Option("--format", help="The format of figures in a folder.", metavar="|".join(FigureFormat)),
    ] = FigureFormat.PDF,
    near: NearRange = None,
    period: Period = None,
    label: Label = None,
    value: Value = None,
    score: Score = None,
    fail_under: FailUnder = None,
) -> None:
    """Draw the figure for a paper: series, labels, regions, scores, DQE against the threshold."""
    from dqeval.analysis.score import named_values
    from dqeval.analysis.several import means
    from dqeval.render.figure import draw, ending

    limits = gate.limits(fail_under, gate.names_with(["dqe"]))
    inputs = expanded(files)
    found = each_written(
        "plot",
        inputs,
        places_for(inputs, path, kind, ending),
        Chosen(label, value, score),
        lambda series, place, _: draw(series, place, near=near, period=period),
    )
    panels = [{name: named_values(panel) for name, panel in drawn.items()} for _, drawn in found]
    gate.enforce(limits, means(panels))
