"""``dqeval diff``: what changed from one run of detectors to another."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dqeval.cli import output
from dqeval.cli.options import (
    Incidents,
    Label,
    MaxGap,
    Metrics,
    Modules,
    NearRange,
    Output,
    Part,
    PartOfSeries,
    Period,
    PlainForm,
    Resolution,
    Score,
    SeriesColumn,
    Time,
    Timezone,
    Value,
    metric_names,
    page_path,
)
from dqeval.cli.output_formats import OutputFormat
from dqeval.cli.results import asked_columns, tell_of_unknown_metrics

_SIDE = "A file or folder with scores, a receipt (.json) of dqeval score --per-event, or the folder of a benchmark run"


def diff(
    before: Annotated[Path, typer.Argument(help=f"{_SIDE}.", metavar="BEFORE")],
    after: Annotated[Path, typer.Argument(help="The same, after the change; of any of these kinds.", metavar="AFTER")],
    fail_on_loss: Annotated[
        bool,
        typer.Option(
            "--fail-on-loss",
            help="Exit with code 1 if an event is lost, a metric is lower beyond its interval, or a series or detector "
            "is missing.",
        ),
    ] = False,
    html: Annotated[
        Path | None,
        typer.Option("--html", help="Also write a page to this file.", callback=page_path, metavar="FILE"),
    ] = None,
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
    form: PlainForm = OutputFormat.TABLE,
    path: Output = None,
    module: Modules = None,
) -> None:
    """Show what changed from one run of detectors to another: events gained and lost, numbers beyond their interval."""
    from dqeval.analysis.diff import difference
    from dqeval.analysis.diff_sides import How, holds_numbers, side_of
    from dqeval.core.sampling import Clock

    names = metric_names(metrics) if metrics else None
    how = How(names, near, period, Clock(resolution=resolution, max_gap=max_gap), part.value)
    asked = asked_columns(label, value, score, series, incidents, time, timezone)
    of_scores = [names, near, period, resolution, max_gap, None if part is PartOfSeries.ALL else part]
    if holds_numbers(before) and holds_numbers(after) and (asked or any(each is not None for each in of_scores)):
        raise typer.BadParameter("receipts and runs hold numbers already: leave out options about scores and metrics")
    sides = []
    for given in (before, after):
        with output.progress(f"reading {given.name}") as tell:
            sides.append(side_of(given, how, asked, tell))
    result = difference(*sides)
    output.emit(result, form, path, result.numbers)
    if html is not None:
        _write_page(result, html)
    for given in (before, after):
        if given.is_dir() and holds_numbers(given):
            tell_of_unknown_metrics(given)
    if path is not None or form in (OutputFormat.CSV, OutputFormat.JSON):  # else the notes have been read
        for sentence in result.warnings:
            output.tell(f"warning: {sentence}")
    output.finish([output.sentence_of(error) for side in sides for error in side.errors])
    if fail_on_loss and result.has_loss:
        raise typer.Exit(1)


def _write_page(result: Any, html: Path) -> None:
    from dqeval.render.diff_page import diff_page

    with output.write_and_say(html) as place:
        diff_page(result, place)
