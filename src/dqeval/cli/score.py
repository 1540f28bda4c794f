"""``dqeval score``: every detector with every metric."""

from __future__ import annotations

from typing import Annotated

import typer

from dqeval.cli import gate
from dqeval.cli.options import (
    Alerts,
    FailUnder,
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
    Threads,
    Time,
    Timezone,
    Value,
    metric_names,
)
from dqeval.cli.output_formats import OutputFormat
from dqeval.cli.results import Intervals, series_of, show


def score(
    files: FilesOrAlerts = None,
    metrics: Metrics = None,
    near: NearRange = None,
    period: Period = None,
    exact: Annotated[bool, typer.Option("--exact", help="Integrate DQE over all thresholds, not 100.")] = False,
    per_event: Annotated[bool, typer.Option("--per-event", help="Show every event too.")] = False,
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
    workers: Threads = None,
    fail_under: FailUnder = None,
    module: Modules = None,
) -> None:
    """Score every detector with many metrics; of several files, show the means too."""
    intervals = Intervals(resolution, max_gap, incidents, alerts, span, time, timezone, part.value)
    names = metric_names(metrics)
    limits = gate.limits(fail_under, gate.names_with(names))
    parameters = {
        "metrics": names,
        "near": near,
        "period": period,
        **intervals.parameters,
        "thresholds": "exact" if exact else 100,
        "per_event": per_event,
    }
    show(
        "score",
        series_of(files, label, value, score, series, intervals),
        parameters,
        form=form,
        path=path,
        limits=limits,
        workers=workers,
    )
