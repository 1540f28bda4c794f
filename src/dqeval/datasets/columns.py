"""Series from text files with named columns: CSV, or separated by semicolons or tabs."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np

from dqeval.types import FloatArray, Series

VALUE_NAMES = ("value", "data")
LABEL_NAMES = ("label", "is_anomaly")
IGNORED_NAMES = ("", "timestamp", "time", "date", "datetime", "index")  # pandas writes its index without a name
SEPARATORS = ",;\t"
TRUTH = {"true": 1.0, "false": 0.0}


def read_columns(path: str | Path) -> Series:
    """Read a series, its labels and its scores from a text file whose first line names the columns.

    Parameters
    ----------
    path : str or Path
        The column called label or is_anomaly holds the labels, the one called value or Data (there may be none) the
        values, and every other numeric column the scores of a detector. Timestamps, columns without a name, and columns
        that begin with a text are left aside. Capitals do not matter. The columns are separated by commas, semicolons
        or tabs.

    Returns
    -------
    Series
    """
    path = Path(path)
    try:
        columns = _numeric_columns(path)
        label = _find(columns, LABEL_NAMES)
        value = _find(columns, VALUE_NAMES)
        if label is None:
            raise ValueError(f"no column is called label or is_anomaly; the numeric ones are {_listed(columns)}")
        scores = {name: column for name, column in columns.items() if name not in (label, value)}
        if not scores:
            raise ValueError("no column of scores: beside the labels there must be one numeric column per detector")
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not a text file in UTF-8; save it as one, comma-separated") from None
    except (ValueError, csv.Error) as error:
        raise ValueError(f"{path}: {error}") from None
    return Series(path.stem, columns[label], scores, None if value is None else columns[value])


def _numeric_columns(path: Path) -> dict[str, FloatArray]:
    """Return the columns to use by name: those whose first cell is a number, or true or false for labels."""
    with path.open(newline="", encoding="utf-8-sig") as file:
        lines = (line for line in file if line.strip())
        header_line = next(lines, "")
        separator = max(SEPARATORS, key=header_line.count)
        header = next(csv.reader([header_line], delimiter=separator), [])
        rows = _checked_rows(csv.reader(lines, delimiter=separator), width=len(header))
        table = list(zip(*rows, strict=True))
    if header and all(map(_is_number, header)):
        raise ValueError("the first line must name the columns, such as value,label,my_detector")
    if not table:
        raise ValueError("the file needs a line that names the columns, and at least one row below it")
    names = [name.strip() for name in header]
    used = {name: cells for name, cells in zip(names, table, strict=True) if _is_used(name, cells[0])}
    if len({name for name in names if name in used}) < sum(name in used for name in names):
        raise ValueError(f"two columns have the same name: {_listed(names)}")
    return {name: _numbers(name, cells) for name, cells in used.items()}


def _checked_rows(rows: Iterator[list[str]], *, width: int) -> Iterator[list[str]]:
    for number, row in enumerate(rows, start=1):
        if len(row) != width:
            raise ValueError(f"row {number} below the header has {len(row)} cells, and the header has {width}")
        yield row


def _is_used(name: str, first_cell: str) -> bool:
    """Tell whether a column counts. An empty first cell does not hide a column: it is an error later."""
    if name.lower() in IGNORED_NAMES:
        return False
    if name.lower() in LABEL_NAMES + VALUE_NAMES:
        return True
    return _is_number(first_cell) or not first_cell.strip()


def _numbers(name: str, cells: tuple[str, ...]) -> FloatArray:
    truth = TRUTH if name.lower() in LABEL_NAMES else {}
    try:
        return np.array([truth[cell.lower()] if cell.lower() in truth else float(cell) for cell in cells])
    except ValueError:
        bad = next(i for i, cell in enumerate(cells) if cell.lower() not in truth and not _is_number(cell))
        what = f"'{cells[bad]}'" if cells[bad].strip() else "an empty cell"
        raise ValueError(f"column {name} must hold numbers: row {bad + 1} below the header is {what}") from None


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _find(columns: Iterable[str], wanted: tuple[str, ...]) -> str | None:
    found = [name for name in columns if name.lower() in wanted]
    if len(found) > 1:
        raise ValueError(
            f"there must be one column for {wanted[0]}: found {_listed(found)}; rename or remove the others"
        )
    return found[0] if found else None


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
