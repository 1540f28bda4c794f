"""``dqeval plot``: the figure for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dqeval.cli import gate
from dqeval.cli.options import FailUnder, FigureFormat, Figures, Files, Label, NearRange, Period, Score, Value
from dqeval.cli.output import Tell
from dqeval.cli.results import Written, find_entries, places_for, write_each

if TYPE_CHECKING:
    from dqeval.core.prepared import Prepared


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
    from dqeval.render.figure import draw, ending

    limits = gate.limits(fail_under, gate.names_with(["dqe"]))
    found = find_entries(files, label, value, score)

    def write(prepared: Prepared, place: Path, tell: Tell) -> Written:
        return Written({name: named_values(panel) for name, panel in draw(prepared, place).items()})

    parameters = {"near": near, "period": period}
    write_each("plot", found, places_for(found, path, kind, ending), parameters, write, limits=limits)
