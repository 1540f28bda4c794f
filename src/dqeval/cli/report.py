"""``dqeval report``: the interactive page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dqeval.cli import gate
from dqeval.cli.options import (
    Alerts,
    FailUnder,
    FilesOrAlerts,
    Incidents,
    Label,
    MaxGap,
    Metrics,
    Modules,
    NearRange,
    Pages,
    Part,
    PartOfSeries,
    Period,
    Resolution,
    Score,
    SeriesColumn,
    Span,
    Threads,
    Time,
    Timezone,
    Value,
    check_page,
    compared_names,
)
from dqeval.cli.output import Tell
from dqeval.cli.results import Intervals, Written, places_for, series_of, write_each

if TYPE_CHECKING:
    from dqeval.core.prepared import Prepared


def report(
    path: Pages,
    files: FilesOrAlerts = None,
    opened: Annotated[bool, typer.Option("--open", help="Open the report in a browser.")] = False,
    metrics: Metrics = None,
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
    workers: Threads = None,
    fail_under: FailUnder = None,
    module: Modules = None,
) -> None:
    """Write an interactive report: one HTML file per series that needs no server and no network."""
    intervals = Intervals(resolution, max_gap, incidents, alerts, span, time, timezone, part.value)
    from dqeval.render.series_page import report

    names = compared_names(metrics)
    limits = gate.limits(fail_under, gate.names_with(names))
    found = series_of(files, label, value, score, series, intervals)

    def write(prepared: Prepared, place: Path, tell: Tell) -> Written:
        comparison = report(prepared, place, metrics=names, progress=tell, workers=workers)
        return Written(comparison.by_detector, comparison.warnings)

    parameters = {"near": near, "period": period, **intervals.parameters}
    places = places_for(found, path, "html", check_page)
    write_each("report", found, places, parameters, write, limits=limits, after=_open if opened else _leave)


def _open(page: Path) -> None:
    import webbrowser

    webbrowser.open(page.resolve().as_uri())


def _leave(page: Path) -> None:
    """Do nothing with a page."""
