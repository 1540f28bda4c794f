"""``dqeval near``: how DQE depends on the near range, and which one to choose."""

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
    Threads,
    Time,
    Timezone,
    Value,
)
from dqeval.cli.output_formats import OutputFormat
from dqeval.cli.results import Intervals, series_of, show


def near(
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
) -> None:
    """Show the periods of series, how DQE depends on the near range, and which near range to choose."""
    intervals = Intervals(resolution, max_gap, incidents, alerts, span, time, timezone, part.value)
    given = {name: value for name, value in (("near", near), ("period", period)) if value is not None}
    found = series_of(files, label, value, score, series, intervals)
    show("near", found, {**given, **intervals.parameters}, form=form, path=path, workers=workers)
