"""Series from CSV files with named columns."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from dqeval.types import FloatArray, Series

VALUE_NAMES = ("value", "data")
LABEL_NAMES = ("label", "is_anomaly")


def read_columns(path: str | Path) -> Series:
    """Read a series, its labels and its scores from a CSV file with a header.

    Parameters
    ----------
    path : str or Path
        The column called label or is_anomaly holds the labels, the one called value or Data (there may be none) the
        values, and every other numeric column the scores of a detector. Columns that are not numeric, such as
        timestamps, are left aside. Capitals do not matter.

    Returns
    -------
    Series
    """
    path = Path(path)
    columns = _numeric_columns(path)
    label = _find(columns, LABEL_NAMES)
    value = _find(columns, VALUE_NAMES)
    scores = {name: column for name, column in columns.items() if name not in (label, value)}
    if label is None:
        raise ValueError(
            f"{path}: no numeric column is called label or is_anomaly; the numeric ones are {_listed(columns)}"
        )
    if not scores:
        raise ValueError(f"{path}: no column of scores; beside the labels there must be a numeric column a detector")
    return Series(path.stem, columns[label], scores, None if value is None else columns[value])


def _numeric_columns(path: Path) -> dict[str, FloatArray]:
    with path.open(newline="", encoding="utf-8-sig") as file:
        rows = csv.reader(file)
        header, first_row = next(rows, []), next(rows, [])
    if not first_row:
        raise ValueError(f"{path}: the file needs a header and at least one row of numbers")
    numeric = [i for i, cell in enumerate(first_row[: len(header)]) if _is_number(cell)]
    names = [header[i].strip() for i in numeric]
    if not numeric or any(_is_number(name) for name in names):
        raise ValueError(f"{path}: the first line must name the columns, such as value,label,my_detector")
    if len(set(names)) < len(names):
        raise ValueError(f"{path}: two columns have the same name: {_listed(names)}")
    try:
        table = np.loadtxt(
            path,
            delimiter=",",
            skiprows=1,
            usecols=numeric,
            ndmin=2,
            quotechar='"',
            comments=None,
            encoding="utf-8-sig",
        )
    except ValueError as error:
        raise ValueError(
            f"{path}: {str(error).splitlines()[0].rstrip('.')} (rows counted from 0 below the header)"
        ) from None
    return {name: np.ascontiguousarray(column) for name, column in zip(names, table.T, strict=True)}


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _find(columns: dict[str, FloatArray], wanted: tuple[str, ...]) -> str | None:
    return next((name for name in columns if name.lower() in wanted), None)


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
