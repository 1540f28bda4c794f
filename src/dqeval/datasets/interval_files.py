"""Incidents and alerts with a start and an end, from files of several tools.

A new one is a function that returns `Found`, and the case that calls it: for JSON in ``from_json`` of
`dqeval.datasets.interval_json`, for tables in ``from_columns`` of `dqeval.datasets.interval_tables`, and the names of
its columns in ``NAMES`` there. ``READ`` of `dqeval.datasets.interval_items`, ``Incidents`` of `dqeval.cli.options`,
`read_intervals` below and docs/time.md tell people of it.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dqeval.core import arguments
from dqeval.core.arguments import quote
from dqeval.core.durations import UNITS
from dqeval.core.moments import ZONED, Kind, Moments, in_zone, shown, zone_shown
from dqeval.core.spans import STARTS, Closed, Spans
from dqeval.core.zones import UTC, zone_of
from dqeval.datasets.arrow import named_arrays
from dqeval.datasets.files import of_width, text_rows, whole_text
from dqeval.datasets.guard import check_size, shorten, some_names
from dqeval.datasets.interval_items import (
    Found,
    NoSuchSeriesError,
    clock_times,
    is_date,
    named_inside,
    unknown,
    with_zone,
)
from dqeval.datasets.interval_json import from_json
from dqeval.datasets.interval_tables import NAMES, TableOfIntervals, from_columns
from dqeval.datasets.loading import errors_name_file
from dqeval.render.tables import one_line
from dqeval.support.writing import note_input

_ARROW = {b"PAR1": ".parquet", b"ARRO": ".feather", b"FEA1": ".feather"}  # by how a file begins
_MEMORY = 40  # bytes that a byte of text becomes: {"":0}, is 7 bytes, and a dictionary of 184
_ROW = 500  # bytes that a row of a table becomes


@dataclass(frozen=True, slots=True, eq=False)
class IntervalFile:
    """Incidents or alerts of a file, in its order.

    Attributes
    ----------
    starts, stops : array, shape (n,)
        Of ``datetime64[ns]``: in universal time if they have a time zone, otherwise as written. Or of int, if they are
        plain numbers. A moment ends when it starts.
    ids, notes : tuple of str
        What each is called, and what is said of it; empty where the file does not tell.
    closed : "left" or "both"
        Whether ends are outside their intervals, or inside, as NAB and ESA-ADB have them.
    source : str
        What the file is, such as "NAB windows".
    aware : bool or None
        Whether the dates have a time zone; None if they are numbers, or there is none.
    remarks : tuple of str
        What was left out or assumed.
    step : int
        How many nanoseconds a cell lasts by default; 0 if the times tell it. Those of Grafana, Prometheus and
        Alertmanager do not, if they have fractions of a second.
    zone : str
        The time zone in which dates with one are shown: that in which they were given.
    """

    starts: NDArray[Any]
    stops: NDArray[Any]
    ids: tuple[str, ...]
    notes: tuple[str, ...]
    closed: Closed
    source: str
    aware: bool | None
    remarks: tuple[str, ...]
    step: int = 0
    zone: str = UTC

    def __len__(self) -> int:
        return len(self.starts)

    def pairs(self) -> NDArray[Any]:
        """Return starts and ends side by side, as an array.

        Returns
        -------
        array, shape (n, 2)
        """
        return np.column_stack([self.starts, self.stops])

    def spans(self) -> Spans:
        """Return the intervals for a time axis."""
        kind: Kind | None = "number" if self.aware is None else "universal" if self.aware else "local"
        starts, stops = (times.astype(np.int64) for times in (self.starts, self.stops))
        order = np.argsort(starts, kind="stable")
        instants = starts == stops
        named = [": ".join(filter(None, pair)) for pair in zip(self.ids, self.notes, strict=True)]
        names = tuple(named[i] for i in order) if any(named) else ()
        about = (kind if len(self) else None, instants[order], self.closed, names, self.step, self.zone)
        return Spans(starts[order], stops[order], *about)


def read_intervals(path: str | Path, *, series: str | None = None, timezone: str | None = None) -> IntervalFile:
    r"""Read incidents or alerts with a start and an end from a file, whose content says what it is.

    Parameters
    ----------
    path : str or Path
        A table (CSV or TSV, packed with gzip or not; Parquet or Feather, with pyarrow) with the columns start and end,
        or start and duration, or start alone for moments; NAB windows; an export of Label Studio; annotations of
        Grafana; an answer of Prometheus to query_range of ALERTS; alerts of Alertmanager, from its API or a webhook;
        labels.csv of ESA-ADB. ``-`` is standard input.
    series : str, optional
        Which of several: in NAB windows the file, in Label Studio the task or its file, in ESA-ADB the channel, of
        Prometheus and Alertmanager the alertname, of Grafana a tag or the name of an alert. Files may be given by their
        path, their name, or their name without its ending. In all but NAB windows and Label Studio, all by default.
    timezone : str, optional
        The time zone of dates that are written without one, such as Europe/Berlin. Then all are in universal time.

    Returns
    -------
    IntervalFile

    Examples
    --------
    >>> from pathlib import Path
    >>> rows = ["start,end,note", "2026-01-01T10:00Z,2026-01-01T10:30Z,disk full"]
    >>> _ = Path("incidents.csv").write_text("\n".join(rows))
    >>> incidents = dqeval.datasets.read_intervals("incidents.csv")
    >>> len(incidents), incidents.notes, incidents.closed, incidents.aware
    (1, ('disk full',), 'left', True)
    >>> round(dqeval.evaluate_intervals(incidents, ["2026-01-01T10:10Z"]).dqe, 3)
    1.0
    """
    file = arguments.path("path", path)
    if series is not None:
        arguments.text("series", series)
    if timezone is not None:
        zone_of(timezone)
    with errors_name_file(file):
        return _on_clock(_reader(file, timezone=timezone)(series, None), timezone)


class IntervalSource:
    """A file of incidents that is read once, for one series or many.

    Parameters
    ----------
    path : Path
    by : str, optional
        The column that names the series, if the file is a table that has it.
    timezone : str, optional
        Of dates that are written without one.
    series : str, optional
        The name of the series in the file whose intervals all series get.
    """

    def __init__(
        self, path: Path, by: str | None = None, timezone: str | None = None, series: str | None = None
    ) -> None:
        self.path, self.series, self._by, self._timezone = path, series, by, timezone
        self._read = cache(self._of)

    def of(self, name: str) -> IntervalFile:
        """Return the intervals of a series: those under its name, where the file has names; otherwise all of them.

        It may be a longer name: of the results of a detector, it often begins with that of the detector.
        """
        return self._read(name if self.series is None else self.series)

    def choose(self, name: str) -> bool:
        """Take the intervals of a series for all, and tell whether the file itself calls one so."""
        with errors_name_file(self.path):
            try:
                self._find(name, None)
            except NoSuchSeriesError:
                return False
        self.series, self._by = name, None
        return True

    def is_at(self, place: Path) -> bool:
        """Tell whether this is the file at a place."""
        return self.path.exists() and place.samefile(self.path)

    def _of(self, name: str) -> IntervalFile:
        with errors_name_file(self.path):
            try:
                return _on_clock(self._find(name, self._by), self._timezone)
            except NoSuchSeriesError as error:
                inside = named_inside(name, error.names)
                taken = inside or error.only
            found = _on_clock(self._find(inside, self._by), self._timezone)
        remark = [f"none are called {quote(name)}, so those of {one_line(taken)} are taken"] if taken else []
        return replace(found, remarks=(*found.remarks, *remark))

    @cached_property
    def _find(self) -> Callable[[str | None, str | None], Found]:
        return _reader(self.path, self._by, self._timezone)


def _reader(
    file: Path, by: str | None = None, timezone: str | None = None
) -> Callable[[str | None, str | None], Found]:
    """Read a file, and return what finds the intervals of a series in it; a column of a table may name the series."""
    note_input(file)
    wanted = NAMES if by is None else {*NAMES, by.lower()}
    if kind := _arrow_kind(file):
        columns, zones, others = named_arrays(file, kind, wanted)
        check_size(_ROW * max(map(len, columns.values()), default=0), file.stat().st_size)
        return partial(from_columns, TableOfIntervals(columns, zones, others), timezone=timezone)
    text = whole_text(file, memory=_MEMORY)
    if not text.strip():
        raise ValueError("the file is empty: if there were no incidents or alerts, write the line start,end")
    if text.lstrip().startswith(("{", "[")):
        content = _parsed(text)
        return lambda series, by: from_json(content, series)
    return partial(from_columns, _table_of(text, wanted), timezone=timezone)


def _arrow_kind(file: Path) -> str | None:
    """Return whether a file is Parquet or Feather; what is no plain file can be read only once, and is neither."""
    if not file.is_file():
        return None
    with file.open("rb") as stream:
        return _ARROW.get(stream.read(4))


def _table_of(text: str, wanted: Collection[str]) -> TableOfIntervals:
    """Return a table of text: the columns that matter, by their names in small letters, and what the others are."""
    _refuse_single_value(text)
    rows = text_rows(io.StringIO(text, newline=""), example="start,end")
    header = next(rows)
    names = [name.lower() for name in header]
    used = [(i, name) for i, name in enumerate(names) if name in wanted]
    columns: dict[str, list[str]] = {name: [] for _, name in used}
    if len(columns) < len(used):
        raise ValueError(f"two columns have the same name: {some_names(name for _, name in used)}")
    if not columns:
        raise unknown(f"the first line names no column that is known, but {some_names(map(one_line, names))}")
    first: dict[str, str] = {name: "" for name in header if name.lower() not in columns}  # cell that is not empty
    for row in of_width(rows, len(names)):
        for i, name in used:
            columns[name].append(row[i])
        if "" in first.values():
            first |= {name: cell for name, cell in zip(header, row, strict=True) if not first.get(name, "-")}
    return TableOfIntervals(columns, {}, {one_line(name): is_date(cell) for name, cell in first.items()})


def _refuse_single_value(text: str) -> None:
    """Refuse JSON that is no list and no object; the name of the starts in quotes is a table without rows."""
    try:
        found = json.loads(text)
    except ValueError:
        return
    if not isinstance(found, str) or found.lower() not in STARTS:
        raise unknown(f"this is a single value of JSON, {one_line(shorten(text.strip()))}")


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        cut_off = ", where the file ends: is it cut off?" if error.pos >= len(text.rstrip()) else ""
        raise ValueError(f"this is not JSON: {error.msg} in line {error.lineno:,}{cut_off}") from None
    except RecursionError:
        raise ValueError("the JSON is nested too deeply to be intervals") from None
    except ValueError:
        raise ValueError("a whole number in the JSON has thousands of digits") from None


def _on_clock(found: Found, timezone: str | None) -> IntervalFile:
    """Return intervals with their times as whole numbers, or as dates: those of a time zone in universal time."""
    count = len(found.starts)
    both, kind = Moments(np.zeros(0, np.int64), "local"), None
    if count:
        given = np.concatenate([found.starts, found.stops])
        both = clock_times(found.source, given, lambda i: found.place(i % count))
        both = in_zone(with_zone(both, found.aware), timezone, lambda i: found.place(i % count))
        kind = both.kind
    starts, stops = np.split(both.ticks, 2)
    if (wrong := np.flatnonzero(stops < starts)).size:
        i = int(wrong[0])
        first, last = (_as_written(times, i, zone_shown(kind, both.zone)) for times in (found.starts, found.stops))
        raise ValueError(f"{found.place(i)} ends before it starts: {first} to {last}")
    form = "int64" if both.kind == "number" else "datetime64[ns]"
    return IntervalFile(
        starts.astype(form),
        stops.astype(form),
        ids=tuple(found.ids),
        notes=tuple(found.notes),
        closed=found.closed,
        source=found.source,
        aware=ZONED[kind],
        remarks=found.remarks,
        step=found.step if (both.ticks % UNITS["s"]).any() else 0,
        zone=both.zone,
    )


def _as_written(times: NDArray[Any], i: int, zone: str | None) -> str:
    """Return a time as it stands in a file; dates that are no text with their zone."""
    return shown(times[i], zone) if times.dtype.kind == "M" else str(times[i])
