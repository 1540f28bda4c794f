"""``dqeval check``: trouble in labels and scores."""

from __future__ import annotations

from dqeval.cli.options import (
    Alerts,
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
    Time,
    Timezone,
    Value,
)
from dqeval.cli.output_formats import OutputFormat
from dqeval.cli.results import Intervals, series_of, show


def check(
    files: FilesOrAlerts = None,
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
    near: NearRange = None,
    period: Period = None,
    form: Form = OutputFormat.TABLE,
    path: Output = None,
) -> None:
    """Find trouble in labels and scores before anyone trusts a number: exit code 1 if there is an error."""
    intervals = Intervals(resolution, max_gap, incidents, alerts, span, time, timezone, part.value)
    parameters = {"near": near, "period": period, **intervals.parameters}
    show("check", series_of(files, label, value, score, series, intervals), parameters, form=form, path=path)
