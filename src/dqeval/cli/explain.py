"""``dqeval explain``: each detector in plain words."""

from __future__ import annotations

from dqeval.cli import gate
from dqeval.cli.options import (
    Alerts,
    FailUnder,
    FilesOrAlerts,
    Form,
    Incidents,
    Label,
    MaxGap,
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
)
from dqeval.cli.output_formats import OutputFormat
from dqeval.cli.results import Intervals, series_of, show


def explain(
    files: FilesOrAlerts = None,
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
    workers: Threads = None,
    fail_under: FailUnder = None,
) -> None:
    """Explain each detector in plain words: what it does at each event, what costs most, what to improve."""
    intervals = Intervals(resolution, max_gap, incidents, alerts, span, time, timezone, part.value)
    limits = gate.limits(fail_under, gate.names_with(["dqe"]))
    parameters = {"near": near, "period": period, **intervals.parameters}
    show(
        "explain",
        series_of(files, label, value, score, series, intervals),
        parameters,
        form=form,
        path=path,
        limits=limits,
        workers=workers,
    )
