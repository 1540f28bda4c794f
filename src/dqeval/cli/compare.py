"""``dqeval compare``: the detectors of a series beside each other."""

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
    compared_names,
)
from dqeval.cli.output_formats import OutputFormat
from dqeval.cli.results import Intervals, series_of, show


def compare(
    files: FilesOrAlerts = None,
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
    form: Form = OutputFormat.TABLE,
    path: Output = None,
    workers: Threads = None,
    fail_under: FailUnder = None,
    module: Modules = None,
) -> None:
    """Compare the detectors of a series: many metrics, every event, chance, and where the metrics disagree."""
    intervals = Intervals(resolution, max_gap, incidents, alerts, span, time, timezone, part.value)
    names = compared_names(metrics)
    limits = gate.limits(fail_under, gate.names_with(names))
    parameters = {**({"metrics": names} if metrics else {}), "near": near, "period": period, **intervals.parameters}
    show(
        "compare",
        series_of(files, label, value, score, series, intervals),
        parameters,
        form=form,
        path=path,
        limits=limits,
        workers=workers,
    )
