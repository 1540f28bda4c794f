"""Results as tables of pandas or polars, neither of which is imported before it is asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from importlib import import_module
from typing import Any, Literal

import numpy as np

from dqeval.core import arguments

Library = Literal["pandas", "polars"]

LIBRARIES: tuple[Library, ...] = ("pandas", "polars")
# What keeps its type in a table without rows, by how dataclasses declare it.
_TYPES = {"int": np.int64, "float": np.float64, "bool": np.bool_}


class Framed:
    """A dataclass that becomes a table: a single row of its fields, unless it has columns of its own."""

    __slots__ = ()

    def to_frame(self, library: Library = "pandas") -> Any:
        """Return the rows as a DataFrame.

        Parameters
        ----------
        library : "pandas" or "polars", default "pandas"
            Whose DataFrame.

        Returns
        -------
        pandas.DataFrame or polars.DataFrame

        Examples
        --------
        >>> print(dqeval.evaluate([0, 0, 1, 0, 0, 0, 1], [0, 0, 9, 0, 0, 0, 4], near=1).to_frame().round(3))
           start  stop   dqe  capture  near_miss  false_alarm
        0      2     3  1.00     1.00       1.00         1.00
        1      6     7  0.44     0.44       0.44         0.44
        """
        return frame_of(self._columns(), library)

    def _columns(self) -> Mapping[str, Any]:
        """Return the columns of the table by name, all of one length."""
        return {name: [value] for name, value in asdict(self).items()}  # type: ignore[call-overload]


def frame_of(columns: Mapping[str, Any], library: Library = "pandas") -> Any:
    """Return columns as a DataFrame."""
    arguments.one_of("library", library, LIBRARIES)
    try:
        module = import_module(library)
    except ImportError:
        raise ValueError(f"to_frame needs {library}: pip install {library}") from None
    made = ((name, each.column(module) if isinstance(each, ZonedColumn) else each) for name, each in columns.items())
    return module.DataFrame({name: _evened(column) for name, column in made})


@dataclass(frozen=True, slots=True, eq=False)
class ZonedColumn:
    """Dates in universal time for a column of a table that has them in a time zone."""

    times: Any
    zone: str

    def column(self, module: Any) -> Any:
        """Return the column; polars knows zones by their names alone, so offsets are in UTC there."""
        dates = module.Series(self.times)
        if module.__name__ == "pandas":
            return dates.dt.tz_localize("UTC").dt.tz_convert(self.zone)
        zone = "UTC" if self.zone[0] in "+-" else self.zone
        return dates.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)


def in_frame(times: Any, zone: str | None) -> Any:
    """Return times as they are to stand in a table: dates in universal time in a zone."""
    return times if zone is None else ZonedColumn(times, zone)


def _evened(column: Any) -> Any:
    """Return a list of numbers or moments as an array, as polars takes no list of both 0 and 0.5; texts as they are."""
    known = np.array([value for value in column if value is not None])
    if not isinstance(column, list) or known.dtype.kind not in "bifM" or not len(known):
        return column
    return known if len(known) == len(column) else np.array([np.nan if x is None else x for x in column])


def columns_of_items(kind: type, items: Iterable[Any]) -> dict[str, Any]:
    """Return dataclasses of one kind, a row each, as columns, which have their types even without a row."""
    rows = list(items)
    every = {field.name: (field.type, [getattr(row, field.name) for row in rows]) for field in fields(kind)}
    return {name: column_of(values, str(declared)) for name, (declared, values) in every.items()}


def column_of(values: Sequence[Any], declared: str) -> Any:
    """Return a column of values that are declared to be int, float, bool, str or something else."""
    if declared in _TYPES:
        return np.array(values, dtype=_TYPES[declared])
    return list(values) if values or declared != "str" else np.array([], dtype=np.str_)


def without_blank(columns: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return columns without the one of a name, if all of its texts are empty."""
    return {each: column for each, column in columns.items() if each != name or any(column)}


def columns_of_records(records: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Return rows with the same names, of which there is at least one, as columns."""
    return {name: [record[name] for record in records] for name in records[0]}
