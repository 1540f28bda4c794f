"""Labelled series in files of any format, as commands that run detectors read and write them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dqeval.support.writing import write_table

if TYPE_CHECKING:
    from dqeval.core.types import FloatArray, Series
    from dqeval.datasets.loading import Source


def sources_of(files: Sequence[Path], form: str = "auto", series: str | None = None) -> list[Source]:
    """Return the series in files and folders; of long tables, those that a column names: COLUMN, or COLUMN=NAMES."""
    from dqeval.datasets.loading import sources

    found = list(chain.from_iterable(sources(file, form if series is None else "table") for file in files))
    if series is None:
        return found
    from dqeval.datasets.long_tables import table_parts

    column, chosen, names = series.partition("=")
    return [part for table in found for part in table_parts(table.path, column, names if chosen else None)]


def series_columns(series: Series, scores: Mapping[str, FloatArray] | None = None) -> dict[str, Any]:
    """Return a series with values as columns that other commands know by name: scores that it had before are kept."""
    values = series.values
    assert values is not None
    from dqeval.core.zones import texts_of

    times = series.timestamps
    columns: dict[str, Any] = {}
    if times is not None:
        is_zoned = series.zoned and times.dtype.kind == "M"
        columns["timestamp"] = texts_of(times, series.zone) if is_zoned else times.astype(str)
    columns |= {f"value_{i}": column for i, column in enumerate(values.T)} if values.ndim > 1 else {"value": values}
    return columns | {"label": series.labels.astype(int), **series.scores, **(scores or {})}


def write_columns(path: Path, columns: Mapping[str, Any]) -> None:
    """Write columns as CSV; the file may be the table that they were read from."""
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    write_table(path, columns, rows, may_be_input=True)
