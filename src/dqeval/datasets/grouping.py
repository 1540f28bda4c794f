"""Several series in one table: which rows are of which series, by a column that names the series of each row."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dqeval.core.types import IntArray
from dqeval.datasets.guard import shorten, some_names
from dqeval.render.tables import one_line

LONGEST_NAME = 200  # characters of a series' name: what is longer is no name
_LONGEST_QUOTED = 80
_NO_NAMES = (bytes, list, tuple, dict, set, np.ndarray)


class Grouping:
    """The series of the rows of a table; the cells of the column that names them are added from top to bottom.

    Parameters
    ----------
    column : str
        What the column is called.
    """

    def __init__(self, column: str) -> None:
        self.column = column
        self._places: dict[str, int] = {}
        self._codes = array("q")

    def __len__(self) -> int:
        return len(self._codes)

    def add(self, cells: Iterable[Any]) -> None:
        """Add the cells of the next rows."""
        for cell in cells:
            self._codes.append(self._place(cell))

    def add_encoded(self, texts: Sequence[str], codes: NDArray[Any]) -> None:
        """Add the next rows: the different texts in the order in which they come, and for each row which one it has."""
        places = np.array([self._place(text) for text in texts], dtype=np.int64)
        self._codes.frombytes(places[codes].view(np.uint8).data)

    def rows(self) -> dict[str, IntArray]:
        """Return the rows of each series by its name; series and rows in the order in which they come."""
        codes = np.frombuffer(self._codes, dtype=np.int64)
        stops = np.cumsum(np.bincount(codes))
        return dict(zip(self._places, np.split(np.argsort(codes, kind="stable"), stops)[:-1], strict=True))

    def _place(self, cell: Any) -> int:
        name = one_line((cell if type(cell) is str else _written(cell)).strip())
        if name not in self._places:
            if not name or len(name) > LONGEST_NAME:
                what = f"'{shorten(name, _LONGEST_QUOTED)}'" if name else "an empty cell"
                where = f"row {len(self) + 1:,}, counted from 1, is {what}"
                raise ValueError(f"column {self.column} must name the series of each row: {where}")
            self._places[name] = len(self._places)
        return self._places[name]


def grouping_of(arrays: Mapping[str, NDArray[Any]], column: str) -> Grouping:
    """Return the series of the rows of columns that are arrays."""
    cells = arrays[column]
    if cells.ndim != 1:
        raise ValueError(f"column {column} must be one-dimensional: its shape is {cells.shape}")
    found = Grouping(column)
    moments = cells.dtype.kind == "M"  # as dates, not as Python has them
    found.add(np.where(np.isnat(cells), "", cells.astype(str)).tolist() if moments else cells.tolist())
    return found


def unknown_column(column: str, names: Iterable[str]) -> ValueError:
    """Return the error for a column that there is not."""
    return ValueError(f"no column is called {shorten(column, _LONGEST_QUOTED)}; there are {some_names(names)}")


def _written(cell: Any) -> str:
    """Return what is no text as text: whole numbers without a point, and nothing for what is missing."""
    if isinstance(cell, _NO_NAMES):
        raise ValueError(f"names of series must be text or numbers: got a {type(cell).__name__}")
    if _is_missing(cell):
        return ""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def _is_missing(cell: Any) -> bool:
    try:
        return cell is None or bool(cell != cell)
    except TypeError:  # of NA of pandas, which is neither the same nor not
        return True
