"""``dqeval plot``: the figure for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dqeval.cli import gate
from dqeval.cli.options import (
    Alerts,
    FailUnder,
    FigureFormat,
    Figures,
    FilesOrAlerts,
    Incidents,
    Label,
    MaxGap,
    NearRange,
    Part,
    PartOfSeries,
    Period,
    Resolution,
    Score,
    SeriesColumn,
    Span,
    Time,
    Timezone,
    Value,
)
from dqeval.cli.output import Tell
from dqeval.cli.results import Intervals, Written, places_for, series_of, write_each

if TYPE_CHECKING:
    from dqeval.core.prepared import Prepared


def plot(
    path: Figures,
    files: FilesOrAlerts = None,
    kind: Annotated[
        FigureFormat,
        typer.Option("--format", help="The format of figures in a folder.", metavar="|".join(FigureFormat)),
    ] = FigureFormat.PDF,
    near: NearRange = None,
    period: Period = None,
    label: Label = None,
    value: Value = None,
    score: Score = None,
    series: SeriesColumn = None,
    time: Time = None,
    timezone: Timezone = None,
    part: Part = PartOfSeries.ALL,
    resolution: Resolution = None,
    max_gap: MaxGap = None,
    incidents: Incidents = None,
    alerts: Alerts = None,
    span: Span = None,
    fail_under: FailUnder = None,
) -> None:
    """Draw the figure for a paper: series, labels, regions, scores, DQE against the threshold."""
    intervals = Intervals(resolution, max_gap, incidents, alerts, span, time, timezone, part.value)
    from dqeval.analysis.check import about_times
    from dqeval.analysis.findings import warnings_about
    from dqeval.analysis.score_result import named_values
    from dqeval.render.figure import draw, ending

    limits = gate.limits(fail_under, gate.names_with(["dqe"]))
    found = series_of(files, label, value, score, series, intervals)

    def write(prepared: Prepared, place: Path, tell: Tell) -> Written:
        warnings = warnings_about(prepared.name, about_times(prepared)) if prepared.on_clock else ()
        return Written({name: named_values(panel) for name, panel in draw(prepared, place).items()}, warnings)

    parameters = {"near": near, "period": period, **intervals.parameters}
    write_each("plot", found, places_for(found, path, kind, ending), parameters, write, limits=limits)
