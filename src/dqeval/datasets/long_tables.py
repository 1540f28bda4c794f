"""Long tables: many series in one table, below each other or mixed, with a column that names the series of each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from dqeval.core import arguments
from dqeval.core.types import IntArray, Series
from dqeval.core.validate import errors_about
from dqeval.core.zones import zone_of
from dqeval.datasets.columns import (
    content_in_memory,
    labelled,
    needs_scores,
    roles_in_table,
    series_in_table,
    series_in_zone,
    with_roles,
)
from dqeval.datasets.door import TABLE, wanted_series, with_incidents
from dqeval.datasets.files import Content, Named, read_content
from dqeval.datasets.interval_files import IntervalSource
from dqeval.datasets.loading import Source, check_shapes, errors_name_file, with_flags_and_period


@dataclass(frozen=True, slots=True)
class TablePart(Source):
    """Where a series of a long table can be read from.

    Attributes
    ----------
    by : str
        The column that names the series.
    """

    by: str = ""

    def read(self, **columns: str) -> Series:
        """Read the series, from columns that may be named; an error says which table and which series it is about."""
        with errors_name_file(self.path), errors_about(self.name):
            return with_flags_and_period(self.read_unlabelled(**columns))

    def read_unlabelled(self, **columns: str) -> Series:
        """Read the series, whatever its labels are. Errors do not name the file."""
        content, _ = _table(self.path, self.by)
        roles = roles_in_table(content, label=columns.get("label"), value=columns.get("value"))
        return check_shapes(series_in_table(self._content(), roles, self.name))

    def times(self) -> Any:
        """Return the timestamps as they are written."""
        return self._content().times

    def _content(self) -> Content:
        content, rows = _table(self.path, self.by)
        return content.at(rows[self.name])


def table_parts(path: Path, by: str, only: str | None) -> list[TablePart]:
    """Return the series of a long table, or those of some names, separated by commas."""
    with errors_name_file(path):
        found = _table(path, by)[1]
        wanted = found if only is None else wanted_series(found, only)
    return [TablePart(path, TABLE, name, by) for name in found if name in wanted]


def _table(path: Path, by: str) -> tuple[Content, dict[str, IntArray]]:
    return _read_once(path, path.stat().st_mtime_ns, by)


@lru_cache(maxsize=1)  # for all its series, one after the other
def _read_once(path: Path, changed: int, by: str) -> tuple[Content, dict[str, IntArray]]:
    content = read_content(path, named=Named(by))
    return content, dict(content.rows_of_series())


def split(
    data: Mapping[str, Any] | str | Path,
    by: str,
    *,
    label: str | None = None,
    value: str | None = None,
    scores: Sequence[str] | None = None,
    time: str | None = None,
    timezone: str | None = None,
    incidents: str | Path | None = None,
) -> list[Series]:
    """Return the series of a long table: one that holds many, with a column that names the series of each row.

    Parameters
    ----------
    data : mapping of str to array-like, shape (n,), or str or Path
        A DataFrame or a dictionary of columns; or a file: CSV, TSV or JSON lines, packed with gzip or not; npz; Parquet
        or Feather (with pyarrow); ``-`` for CSV on standard input.
    by : str
        The column that names the series, with text or numbers. No cell of it may be empty.
    label, value : str, optional
        The columns of the labels and of the values. If not given, those called label or is_anomaly, and value or Data;
        there may be no values. Capitals do not matter.
    scores : sequence of str, optional
        The columns of the detectors' scores. If not given, every other numeric column, but for timestamps, columns
        without a name, and several columns of values (value_0, value_1, …). There must be one, unless the values are
        named, or no scores are asked for (``[]``).
    time : str, optional
        The column of the timestamps. If not given, the first called timestamp, time, date, datetime or the like.
    timezone : str, optional
        The time zone of dates that are written without one, such as Europe/Berlin. Then all are in universal time.
    incidents : str or Path, optional
        A file with incidents in place of labels, as `read_intervals` reads them: then there need be no labels. Each
        series gets those under its name, where the file has names; in a table, they are in the column ``by`` too.

    Returns
    -------
    list of Series
        In the order in which they come first, called as the column calls them. The rows of each keep their order.

    Examples
    --------
    >>> rows = {"host": ["a", "a", "b", "b"], "label": [0, 1, 1, 0], "mine": [0.1, 0.9, 0.4, 0.3]}
    >>> for series in dqeval.datasets.split(rows, "host"):
    ...     print(series.name, series.labels.tolist(), series.scores["mine"].tolist())
    a [0.0, 1.0] [0.1, 0.9]
    b [1.0, 0.0] [0.4, 0.3]
    """
    arguments.text("by", by)
    if timezone is not None:
        zone_of(timezone)
    source = None if incidents is None else IntervalSource(arguments.path("incidents", incidents), by, timezone)
    needed, named = needs_scores(value, scores), Named(by, time)
    if isinstance(data, (str, Path)):
        with errors_name_file(Path(data)):
            content = read_content(Path(data), named=named)
            content = content if source is None else labelled(content, label)
            roles = roles_in_table(content, label=label, value=value, scores=scores, need_scores=needed)
            found = [series_in_table(content.at(rows), roles, name) for name, rows in content.rows_of_series()]
            found = [_in_zone(series, timezone) for series in found]
        return found if source is None else [with_incidents(series, source.of(series.name)) for series in found]
    if not isinstance(data, Mapping) and not hasattr(data, "columns"):  # type: ignore[unreachable]
        raise ValueError(f"data must be columns by name, or a file: got {type(data).__name__}")
    columns: dict[str, Any] = {"label": label, "value": value, "scores": scores, "need_scores": needed}
    content, roles = content_in_memory(data, named, **columns, from_incidents=source is not None)
    parts = [(name, content.at(rows)) for name, rows in content.rows_of_series()]
    found = [_in_zone(with_roles(part, roles, name=name), timezone) for name, part in parts]
    return found if source is None else [with_incidents(series, source.of(series.name)) for series in found]


def _in_zone(series: Series, timezone: str | None) -> Series:
    with errors_about(series.name):
        return series_in_zone(series, timezone)
