"""``dqeval stress``: what small changes of labels and scores do to every metric, and to the ranking."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dqeval.cli import output
from dqeval.cli.options import (
    SEVERAL,
    Alerts,
    FilesOrAlerts,
    Form,
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
    Resolution,
    Score,
    SeriesColumn,
    Span,
    Time,
    Timezone,
    Value,
    completer,
    metric_names,
    page_path,
    writable,
)
from dqeval.cli.output_formats import OutputFormat
from dqeval.cli.results import Intervals, series_of, show

if TYPE_CHECKING:
    from dqeval.lab.stress_result import StressResult


def _kinds() -> tuple[str, ...]:
    from dqeval.lab.perturbations import KINDS

    return KINDS


def _figure_path(path: Path | None) -> Path | None:
    if path is not None:
        from dqeval.render.figure import ending

        ending(path)
    return writable(path)


def stress(
    files: FilesOrAlerts = None,
    metrics: Metrics = None,
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            help="Changes: lag, noise, jitter, splits, ratio, length, delay, random. " + SEVERAL,
            metavar="NAMES",
            show_default="all",
            autocompletion=completer(_kinds),
        ),
    ] = None,
    draws: Annotated[
        int, typer.Option(help="How many copies of each change that is random.", min=2, metavar="NUMBER")
    ] = 10,
    seed: Annotated[int, typer.Option(help="Seed of the random draws.", min=0, metavar="NUMBER")] = 0,
    html: Annotated[
        Path | None,
        typer.Option("--html", help="Also write a page with figures to this file.", callback=page_path, metavar="FILE"),
    ] = None,
    figure: Annotated[
        Path | None,
        typer.Option("--figure", help="Also write the figure: png, svg or pdf.", callback=_figure_path, metavar="FILE"),
    ] = None,
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
    form: Form = OutputFormat.TABLE,
    path: Output = None,
    module: Modules = None,
) -> None:
    """Change labels and scores a little: how much each metric moves, and which ranking of detectors survives."""
    from dqeval.core.registry import split_names
    from dqeval.lab.perturbations import RANDOM
    from dqeval.lab.stress import chosen_kinds

    if figure is not None and kinds is not None and set(split_names(kinds, _kinds())) == {RANDOM.name}:
        raise typer.BadParameter("--figure: random detections alone have no figure; name another of --kinds")
    intervals = Intervals(resolution, max_gap, incidents, alerts, span, time, timezone, part.value)
    asked = {
        **({"metrics": metric_names(metrics)} if metrics else {}),
        **({"kinds": chosen_kinds(split_names(kinds, _kinds()))} if kinds else {}),
    }
    parameters = {**asked, "draws": draws, "seed": seed, "near": near, "period": period, **intervals.parameters}
    found = series_of(files, label, value, score, series, intervals)

    def also(result: StressResult) -> None:
        _write(result, html, figure)

    show("stress", found, parameters, form=form, path=path, also=also)


def _write(result: StressResult, html: Path | None, figure: Path | None) -> None:
    from dqeval.render.figure import save
    from dqeval.render.stress_page import stress_figure, stress_report

    if html is not None:
        with output.write_and_say(html) as place:
            stress_report(result, place)
    if figure is not None:
        if not result.kinds:
            raise ValueError("--figure: random detections alone have no figure; name another of --kinds")
        save(lambda: stress_figure(result), figure)
        output.tell(f"wrote {figure}")
