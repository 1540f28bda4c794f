"""A series, its labels and its scores from a file: which column is which."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from dqeval.datasets.files import Columns, read_numbers
from dqeval.types import Series

VALUE_NAMES = ("value", "data")
LABEL_NAMES = ("label", "is_anomaly")


def read_columns(
    path: str | Path, *, label: str | None = None, value: str | None = None, scores: Sequence[str] | None = None
) -> Series:
    """Read a series, its labels and its scores from a file with named columns.

    Parameters
    ----------
    path : str or Path
        CSV, TSV or JSON lines, packed with gzip or not; npz; Parquet or Feather (with pyarrow); ``-`` for CSV on
        standard input.
    label, value : str, optional
        The columns of the labels and of the values. If not given, those called label or is_anomaly, and value or Data;
        there may be no values. Capitals do not matter.
    scores : sequence of str, optional
        The columns of the detectors' scores. If not given, every other numeric column, but for timestamps and columns
        without a name.

    Returns
    -------
    Series
    """
    path = Path(path)
    columns = read_numbers(path)
    try:
        label = _chosen(columns, label, LABEL_NAMES)
        value = _chosen(columns, value, VALUE_NAMES)
        if label is None:
            raise ValueError(f"no numeric column is called label or is_anomaly; there are {_listed(columns)}")
        others = [name for name in columns if name not in (label, value)]
        detectors = others if scores is None else [_existing(columns, name) for name in scores]
        if not detectors:
            raise ValueError("no column of scores: beside the labels there must be one numeric column per detector")
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    name = path.name.partition(".")[0] or path.name
    return Series(
        name, columns[label], {name: columns[name] for name in detectors}, None if value is None else columns[value]
    )


def _chosen(columns: Columns, given: str | None, usual: tuple[str, ...]) -> str | None:
    """Return the column that was asked for, or the one with a usual name, or None."""
    if given is not None:
        return _existing(columns, given)
    found = [name for name in columns if name.lower() in usual]
    if len(found) > 1:
        raise ValueError(f"there must be one column for {usual[0]}: found {_listed(found)}; say which one")
    return found[0] if found else None


def _existing(columns: Columns, name: str) -> str:
    if name not in columns:
        raise ValueError(f"no numeric column is called {name}; there are {_listed(columns)}")
    return name


def _listed(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"
