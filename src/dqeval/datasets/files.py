"""Named columns of numbers from files: CSV, TSV, JSON lines, npz, Parquet, Feather; gzip; standard input."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import sys
import zipfile
import zlib
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

import numpy as np
from numpy.typing import NDArray

from dqeval.types import FloatArray

STANDARD_INPUT = Path("-")
SEPARATORS = ",;\t"
TRUTH = {"true": 1.0, "false": 0.0}
TIME_NAMES = ("timestamp", "time", "date", "datetime", "t", "ds", "ts", "epoch", "unix", "unix_ts")
IGNORED_NAMES = ("", *TIME_NAMES, "index")  # pandas writes its index without a name
DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")
UNREADABLE = (ValueError, csv.Error, EOFError, gzip.BadGzipFile, zipfile.BadZipFile, zlib.error)
_ROWS_AT_ONCE = 10_000

Columns = dict[str, FloatArray]
Times = NDArray[Any]
Watch = Callable[[BinaryIO], BinaryIO]


def read_numbers(path: Path, *, watch: Watch = lambda stream: stream) -> Columns:
    """Return the columns of numbers of a file by name; text, timestamps and columns without a name are left out.

    The ending of the name says what the file is: .npz, .parquet, .feather, .jsonl or .ndjson. Anything else is text
    with columns separated by commas, semicolons or tabs, named in the first line; so is the path ``-``, standard input.
    A text file that is packed with gzip is unpacked on the way. ``watch`` may put a stream of its own before that of a
    text file, to see what is read.
    """
    try:
        return _columns_of(path, watch)
    except ValueError as error:
        raise ValueError(f"{name_of(path)}: {error}") from None


def read_with_times(path: Path, *, watch: Watch = lambda stream: stream) -> tuple[Columns, Times | None]:
    """Return the columns of numbers of a file, and its first column of timestamps; errors do not name the file."""
    times: list[Times] = []
    columns = _columns_of(path, watch, times)
    return columns, np.concatenate(times) if times else None


def column_names(path: Path) -> list[str]:
    """Return the names in the first line of a text file; none where there is no such line, as its reader will say."""
    try:
        with _opened(path) as stream, _text_of(stream) as text:
            return list(next(_text_rows(text)))
    except UNREADABLE:
        return []


def name_of(path: Path) -> str:
    """Return what a file is called in messages."""
    return "standard input" if path == STANDARD_INPUT else str(path)


def _columns_of(path: Path, watch: Watch, times: list[Times] | None = None) -> Columns:
    """Return the columns of a file; its timestamps are put into a list, if one is given, piece by piece."""
    if path.is_dir():
        raise ValueError("this is a directory; give a file")
    try:
        return _columns_by_kind(path, watch, times)
    except UnicodeDecodeError:
        raise ValueError("not a text file in UTF-8; save it as one, comma-separated") from None
    except UNREADABLE as error:
        raise ValueError(str(error)) from None


def _columns_by_kind(path: Path, watch: Watch, times: list[Times] | None) -> Columns:
    kind = (Path(path.stem) if path.suffix.lower() == ".gz" else path).suffix.lower()
    if kind == ".npz":
        return _from_arrays(_npz_arrays(path), times)
    if kind in (".parquet", ".feather"):
        return _from_arrays(_arrow_arrays(path, kind), times)
    with _opened(path) as stream, _text_of(watch(stream)) as text:
        return _from_rows(_json_rows(text) if kind in (".jsonl", ".ndjson") else _text_rows(text), times)


def _opened(path: Path) -> AbstractContextManager[BinaryIO]:
    return nullcontext(sys.stdin.buffer) if path == STANDARD_INPUT else path.open("rb")


@contextmanager
def _text_of(stream: BinaryIO) -> Iterator[TextIO]:
    """Give a stream as text, unpacked if it is packed."""
    seen = io.BufferedReader(cast(io.RawIOBase, stream))
    zipped = seen.peek(2)[:2] == b"\x1f\x8b"
    unpacked = cast(BinaryIO, gzip.GzipFile(fileobj=seen) if zipped else seen)
    text = io.TextIOWrapper(unpacked, encoding="utf-8-sig", newline="")
    try:
        yield text
    finally:
        # Or they would close the stream, which may be standard input.
        text.detach()
        seen.detach()


def _text_rows(file: TextIO) -> Iterator[Sequence[Any]]:
    """Yield the names of the columns, then the rows of cells; empty lines are passed over."""
    lines = (line for line in file if line.strip("\r\n\ufeff"))
    header_line = next(lines, "").removeprefix("\ufeff")
    separator = max(SEPARATORS, key=header_line.count)
    header = next(csv.reader([header_line], delimiter=separator), [])
    if header and all(map(_is_number, header)):
        raise ValueError("the first line must name the columns, such as value,label,my_detector")
    yield [name.strip() for name in header]
    yield from csv.reader(lines, delimiter=separator)


def _json_rows(file: TextIO) -> Iterator[Sequence[Any]]:
    """Yield the keys of the first object, then the values of each, which must have the same keys."""
    names: list[str] | None = None
    for number, line in enumerate((line for line in file if line.strip()), start=1):
        row = json.loads(line)
        if not isinstance(row, dict):
            raise ValueError(f"row {number} is not a JSON object")
        if names is None:
            names = list(row)
            yield names
        if set(row) != set(names):
            raise ValueError(f"row {number} has the keys {listed(row)}, and the first row has {listed(names)}")
        yield [row[name] for name in names]


def _from_rows(rows: Iterator[Sequence[Any]], times: list[Times] | None) -> Columns:
    """Return the columns of rows that follow their names, read in batches so that their text is never held whole."""
    names = next(rows, [])
    if not names:
        raise ValueError("the file is empty: it needs a line that names the columns, and rows below it")
    batch = list(islice(rows, _ROWS_AT_ONCE))
    if not batch:
        raise ValueError("the file needs a line that names the columns, and at least one row below it")
    used = [i for i, name in enumerate(names) if i < len(batch[0]) and _is_used(name, batch[0][i])]
    if len({names[i] for i in used}) < len(used):
        raise ValueError(f"two columns have the same name: {listed(names)}")
    columns = {names[i]: array("d") for i in used}
    time = next((i for i, name in enumerate(names) if name.lower() in TIME_NAMES), None)
    done = 0
    while batch:
        _check_width(batch, len(names), done)
        for i in used:
            columns[names[i]].extend(_numbers(names[i], [row[i] for row in batch], done))
        if time is not None and times is not None:
            times.append(np.array([row[time] for row in batch]))
        done += len(batch)
        batch = list(islice(rows, _ROWS_AT_ONCE))
    return {name: np.frombuffer(column, dtype=np.float64) for name, column in columns.items()}


def _check_width(batch: list[Sequence[Any]], width: int, done: int) -> None:
    for number, row in enumerate(batch, start=done + 1):
        if len(row) != width:
            raise ValueError(f"row {number} below the header has {len(row)} cells, and the header has {width}")


def _is_used(name: str, first_cell: Any) -> bool:
    """Tell whether a column counts: by its first cell; an empty one does not hide a column, it is an error later."""
    if name.lower() in IGNORED_NAMES:
        return False
    if DECIMAL_COMMA.fullmatch(str(first_cell).strip()):
        raise ValueError(f"column {name} has a decimal comma in {first_cell!r}: write numbers with a point")
    return _is_number(first_cell) or first_cell is None or str(first_cell).strip().lower() in ("", *TRUTH)


def _numbers(name: str, cells: list[Any], done: int) -> list[float]:
    try:
        return [float(cell) for cell in cells]
    except (TypeError, ValueError):
        return [_number(name, cell, number) for number, cell in enumerate(cells, start=done + 1)]


def _number(name: str, cell: Any, number: int) -> float:
    """Return one cell as a number: also true and false, but nothing else."""
    if _is_number(cell):
        return float(cell)
    text = "" if cell is None else str(cell).strip().lower()
    if text in TRUTH:
        return TRUTH[text]
    what = f"'{cell}'" if text else "an empty cell"
    raise ValueError(f"column {name} must hold numbers: row {number} below the header is {what}")


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    return True


def _from_arrays(arrays: Mapping[str, NDArray[Any]], times: list[Times] | None) -> Columns:
    if times is not None:
        times += time_columns(arrays)
    return numeric_columns(arrays)


def _npz_arrays(path: Path) -> dict[str, NDArray[Any]]:
    with path.open("rb") as file:
        if not zipfile.is_zipfile(file):
            raise ValueError("not an npz file, which numpy.savez writes")
        with np.load(path) as arrays:
            return {name: arrays[name] for name in arrays.files}


def _arrow_arrays(path: Path, kind: str) -> dict[str, NDArray[Any]]:
    try:
        from pyarrow import feather, parquet
    except ImportError:
        raise ValueError(f"{kind} files need pyarrow: pip install 'dqeval[files]'") from None
    with path.open("rb") as file:
        if kind == ".feather":
            table = feather.read_table(file)
            return {name: table[name].to_numpy() for name in table.column_names}
        # One column at a time: the table and its copy as arrays would be twice the memory.
        names = parquet.read_schema(file).names
        return {name: parquet.read_table(file, columns=[name])[name].to_numpy() for name in names}


def time_columns(arrays: Mapping[str, NDArray[Any]]) -> list[Times]:
    """Return the first array that is called as timestamps are, if there is one."""
    return [column for name, column in arrays.items() if name.lower() in TIME_NAMES][:1]


def numeric_columns(arrays: Mapping[str, NDArray[Any]]) -> Columns:
    """Return the arrays that hold numbers, timestamps left out; they must be of the same length."""
    numeric = {name: a for name, a in arrays.items() if a.dtype.kind in "biuf" and name.lower() not in IGNORED_NAMES}
    for name, column in numeric.items():
        if column.ndim != 1:
            raise ValueError(f"column {name} must be one-dimensional: its shape is {column.shape}")
    lengths = {name: len(column) for name, column in numeric.items()}
    if len(set(lengths.values())) > 1:
        found = ", ".join(f"{name} {length:,}" for name, length in lengths.items())
        raise ValueError(f"the columns must have the same length: got {found}")
    return {name: np.ascontiguousarray(column, dtype=np.float64) for name, column in numeric.items()}


def listed(names: Iterable[str]) -> str:
    """Return names as they stand in messages."""
    return ", ".join(names) or "none"
