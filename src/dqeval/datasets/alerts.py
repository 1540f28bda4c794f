"""Alerts against incidents as a series: points are the cells of a time axis, and each file of alerts is a detector."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dqeval.core.events import flags_of
from dqeval.core.moments import ZONED, in_zone, moments_of
from dqeval.core.timeline import TimeAxis, axis_of
from dqeval.core.types import Progress, Series
from dqeval.datasets.door import Entry, Opened, file_record, remarks_of
from dqeval.datasets.interval_files import IntervalFile, read_intervals
from dqeval.datasets.loading import Source, stem
from dqeval.render.tables import one_line
from dqeval.support.naming import distinct

FORMAT = "alerts"
CHOSEN = "="  # between a file and what is chosen of it
MOST_CELLS = 2**24  # half a year of seconds: all metrics look at every cell


@dataclass(frozen=True, slots=True)
class AlertFile:
    """The alerts of a detector: all of a file, or those of a series in it."""

    path: Path
    series: str | None = None

    @property
    def name(self) -> str:
        """What to call the detector."""
        return stem(self.path) if self.series is None else one_line(self.series)

    def record(self) -> dict[str, Any]:
        """Return what a receipt says of it."""
        return {**file_record(self.path), **({} if self.series is None else {"series": self.series})}


def alert_file(given: Path) -> AlertFile:
    """Return the alerts that are asked for as FILE, or as FILE=SERIES."""
    path, chosen, series = str(given).rpartition(CHOSEN)
    return AlertFile(given) if not chosen or given.exists() else AlertFile(Path(path), series)


@dataclass(frozen=True, slots=True)
class AlertsEntry(Entry):
    """A series to be made from incidents and alerts.

    Attributes
    ----------
    alerts : sequence of AlertFile
        One for each detector.
    span : pair of times, optional
    resolution : str, optional
    timezone : str, optional
        Of dates that are written without one.
    """

    alerts: tuple[AlertFile, ...] = ()
    span: tuple[str, str] | None = None
    resolution: Any = None
    timezone: str | None = None

    def read(self, *, name: str | None = None, progress: Progress | None = None) -> Opened:
        """Read the files, and put them on a time axis."""
        incidents = read_intervals(self.path, timezone=self.timezone)
        alerts = {
            each: read_intervals(file.path, series=file.series, timezone=self.timezone)
            for each, file in self.detectors().items()
        }
        series = _series(name or self.stem, incidents, alerts, self._ends(), self.resolution)
        return OpenedAlerts(self, series, None)

    def _ends(self) -> Any:
        """Return the ends of the span, in universal time if they are of a time zone."""
        if self.span is None or self.timezone is None:
            return self.span
        ends = in_zone(moments_of("span", self.span), self.timezone, lambda i: "span")
        return [ends.moment(0), ends.moment(1)]

    def detectors(self) -> dict[str, AlertFile]:
        """Return the alerts by what to call the detectors."""
        return dict(zip(distinct([file.name for file in self.alerts], "{} ({})"), self.alerts, strict=True))


@dataclass(frozen=True, slots=True)
class OpenedAlerts(Opened):
    """A series that was made from incidents and alerts."""

    def record(self) -> dict[str, Any]:
        """Return what a receipt says of it."""
        entry = self.entry
        assert isinstance(entry, AlertsEntry)
        return {
            "name": self.series.name,
            **file_record(entry.path),
            "rows": len(self.series.labels),
            "format": FORMAT,
            "alerts": [file.record() for file in entry.alerts],
            "span": None if entry.span is None else list(entry.span),
            "resolution": entry.resolution,
            **({} if entry.timezone is None else {"timezone": entry.timezone}),
        }


def alerts_entry(
    incidents: Path,
    alerts: Sequence[AlertFile],
    span: tuple[str, str] | None = None,
    resolution: Any = None,
    timezone: str | None = None,
) -> AlertsEntry:
    """Return the series of incidents and alerts, to be read."""
    source = Source(incidents, FORMAT, stem(incidents))
    return AlertsEntry(source, alerts=tuple(alerts), span=span, resolution=resolution, timezone=timezone)


def _series(
    name: str,
    incidents: IntervalFile,
    alerts: Mapping[str, IntervalFile],
    span: Any,
    resolution: Any,
) -> Series:
    spans = {"incidents": incidents.spans(), **{each: file.spans() for each, file in alerts.items()}}
    axis = axis_of(spans, span=span, resolution=resolution)
    _check_size(axis)
    found = {each: axis.positions(intervals, "left") for each, intervals in spans.items()}
    flags = {each: flags_of(positions.events) for each, positions in found.items()}
    labels = flags.pop("incidents")
    remarks = list(remarks_of("incidents", incidents))
    for each, file in alerts.items():
        remarks += [*remarks_of(each, file), *(f"{each}: {note}" for note in found[each].notes("alert"))]
    return Series(
        name,
        labels,
        {each: alarms.astype(np.float64) for each, alarms in flags.items()},
        timestamps=axis.times(),
        zoned=ZONED[axis.kind],
        zone=axis.zone,
        incidents=spans["incidents"],
        remarks=tuple(remarks),
    )


def _check_size(axis: TimeAxis) -> None:
    if axis.length < 2:
        raise ValueError(
            f"the time has {axis}, of which nothing can be told: give a finer resolution, or a longer span"
        )
    if axis.length > MOST_CELLS:
        advice = "give a coarser resolution, such as 1min, or a shorter span; dqeval.evaluate_intervals takes any"
        raise ValueError(f"the time has {axis}, more than {MOST_CELLS:,}: {advice}")
