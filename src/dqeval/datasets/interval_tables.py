"""Incidents and alerts in the columns of a table: start and end, start and duration, or as ESA-ADB calls them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dqeval.core.arguments import quote
from dqeval.core.moments import in_zone, zone_shown
from dqeval.core.spans import LENGTHS, STARTS, STOPS, length_of
from dqeval.core.zones import Zone
from dqeval.datasets.guard import some_names
from dqeval.datasets.interval_items import (
    Array,
    Found,
    NoSuchSeriesError,
    Place,
    clock_times,
    is_blank,
    moment,
    no_end,
    objects,
    refuse_series,
    unknown,
    whole_number,
    with_zone,
)
from dqeval.render.tables import one_line

IDS, NOTES = ("id", "name"), ("note", "text", "description")
ESA_ADB = ("id", "channel", "starttime", "endtime")
NAMES = {*STARTS, *STOPS, *LENGTHS, *IDS, *NOTES, *ESA_ADB}  # of columns that matter
_BEYOND = 2**63  # of nanoseconds

Column = Sequence[Any] | Array
Columns = Mapping[str, Column]


@dataclass(frozen=True, slots=True, eq=False)
class TableOfIntervals:
    """A table with intervals.

    Attributes
    ----------
    columns : mapping of str to sequence
        Those that are known, by their names in small letters.
    zones : mapping of str to str
        The time zones of the columns of ``datetime64`` that have one.
    others : mapping of str to bool
        The names of all other columns, each with whether it holds times.
    """

    columns: Columns
    zones: Mapping[str, str]
    others: Mapping[str, bool]


def from_columns(
    table: TableOfIntervals, series: str | None, by: str | None = None, *, timezone: str | None = None
) -> Found:
    """Return the intervals of a table.

    Parameters
    ----------
    table : TableOfIntervals
    series : str, optional
        A channel of ESA-ADB, or what the column that names the series says.
    by : str, optional
        Which column that is.
    timezone : str, optional
        Of dates that are written without one: durations count from there.
    """
    columns, zones = table.columns, table.zones
    if by is not None and by.lower() in columns and series is not None:
        return from_columns(replace(table, columns=_rows_of(columns, by.lower(), series)), None, timezone=timezone)
    if columns.keys() >= set(ESA_ADB):
        return _esa_adb(columns, zones, series)
    start, stop, length, name, note = (_first(columns, names) for names in (STARTS, STOPS, LENGTHS, IDS, NOTES))
    if start is None:
        raise unknown("there is no column start")
    refuse_series(series, "a table")
    starts, aware = _times(columns[start], "start", _row), _zone(columns[start], zones.get(start))
    remarks: tuple[str, ...] = ()
    if stop is not None:
        stops = _ends(columns[stop], starts, _row)
        _check_zones(aware, _zone(columns[stop], zones.get(stop)))
    elif length is not None:
        starts, stops, aware = _with_lengths(starts, columns[length], aware, timezone)
    else:
        stops, remarks = starts, (_why_moments(columns, table.others),)
    ids, notes = (_texts(columns, each, len(starts)) for each in (name, note))
    return Found("table", starts, stops, ids, notes, _row, aware=aware, remarks=remarks)


def _why_moments(columns: Columns, others: Mapping[str, bool]) -> str:
    """Say that there is no end; an error where another column may be it."""
    known = f"an end may be called {', '.join(STOPS)}, or there may be a duration"
    if dates := [name for name, holds_times in others.items() if holds_times]:
        advice = "call it end if the intervals end there, or leave it out if each is a moment"
        raise ValueError(f"there is no column end, but {dates[0]} holds times too: {advice}; {known}")
    rest = f"; there are {some_names([*columns, *others])}; {known}" if len(columns) + len(others) > 1 else ""
    return f"there is no column end: each is a moment{rest}"


def _rows_of(columns: Columns, by: str, series: str) -> Columns:
    """Return the rows of a series; none, where it has no incident."""
    rows = [i for i, name in enumerate(_texts(columns, by, 0)) if name == series]
    return {name: _at(column, rows) for name, column in columns.items()}


def _at(column: Column, rows: list[int]) -> Column:
    return column[rows] if isinstance(column, np.ndarray) else [column[i] for i in rows]


def _first(columns: Columns, names: Sequence[str]) -> str | None:
    return next((name for name in names if name in columns), None)


def _row(i: int) -> str:
    return f"row {i + 1:,} below the header"


def _esa_adb(columns: Columns, zones: Mapping[str, str], series: str | None) -> Found:
    """Return the anomalies of ESA-ADB: a row for each channel; the end is the last moment that is anomalous."""
    ids, channels = (_texts(columns, name, 0) for name in ("id", "channel"))
    rows = [i for i, channel in enumerate(channels) if series in (None, channel)]
    if series is not None and not rows:
        message = f"series {quote(series)} is no channel here: there are {some_names(dict.fromkeys(channels))}"
        raise NoSuchSeriesError(message, "the channels")

    def place(i: int) -> str:
        return _row(rows[i])

    start, stop = ([columns[name][i] for i in rows] for name in ESA_ADB[2:])
    starts, aware = _times(start, "start", place), _zone(start, zones.get("starttime"))
    stops = _ends(stop, starts, place)
    _check_zones(aware, _zone(stop, zones.get("endtime")))
    return Found(
        "ESA-ADB labels",
        starts,
        stops,
        [ids[i] for i in rows],
        [channels[i] for i in rows],
        place,
        closed="both",
        aware=aware,
    )


def _times(column: Column, what: str, place: Place) -> Array:
    """Return a column of times, of which none may be missing."""
    for i, cell in enumerate(column):
        if is_blank(cell):
            raise no_end(place(i)) if what == "end" else ValueError(f"{place(i)} has no {what}")
    if _are_dates(column):
        return np.asarray(column)
    cells = [cell.item() if isinstance(cell, np.generic) else cell for cell in column]
    return objects([moment(cell, f"the {what} of {place(i)}") for i, cell in enumerate(cells)])


def _ends(column: Column, starts: Array, place: Place) -> Array:
    ends = _times(column, "end", place)
    if ends.dtype.kind != starts.dtype.kind:
        raise ValueError("starts and ends must be of one kind: dates, text or numbers")
    return ends


def _are_dates(column: Column) -> bool:
    return len(column) > 0 and isinstance(column[0], np.datetime64)


def _zone(column: Column, zone: str | None) -> Zone:
    """Return the time zone of dates; None where their text tells it."""
    return zone or False if _are_dates(column) else None


def _check_zones(starts: Zone, ends: Zone) -> None:
    if bool(starts) != bool(ends):
        raise ValueError("starts and ends must both have a time zone, or both none")


def _with_lengths(starts: Array, lengths: Column, aware: Zone, timezone: str | None) -> tuple[Array, Array, Zone]:
    """Return starts on a clock, ends that follow from durations, and whether they have a time zone."""
    if not len(starts):
        return starts, starts, aware
    begins = clock_times("table", starts, _row)
    begins = in_zone(with_zone(begins, aware), timezone, _row)
    kind, dated = begins.kind, begins.kind != "number"
    ends = []
    for i, (start, cell) in enumerate(zip(begins.ticks.tolist(), lengths, strict=True)):
        if is_blank(cell):
            raise no_end(_row(i), "duration")
        ends.append(start + _length(cell, f"{_row(i)}, duration", dated))
        if ends[-1] >= _BEYOND:
            raise ValueError(f"{_row(i)} ends too far away: dates must be from 1678 to 2261")
    form = "datetime64[ns]" if dated else "int64"
    return begins.ticks.astype(form), np.array(ends, np.int64).astype(form), zone_shown(kind, begins.zone) or False


def _length(cell: Any, what: str, dated: bool) -> int:
    number = cell
    if not isinstance(cell, np.timedelta64):
        with suppress(ValueError):  # where it is such as 30min
            number = float(cell)
    return length_of(what, number, True) if dated else whole_number(number, what)


def _texts(columns: Columns, name: str | None, count: int) -> Sequence[str]:
    if name is None:
        return [""] * count
    return ["" if is_blank(cell) else one_line(str(cell)) for cell in columns[name]]
