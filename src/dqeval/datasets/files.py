"""Named columns of numbers from files: CSV, TSV, JSON lines, npz, Parquet, Feather; gzip; standard input.

A new kind is a case in `_content_of`, which has its arrays (`_from_arrays`) or its rows (`_from_rows`) checked as all
others are; in `column_names`, if it is no text; and an ending in ``TABLES`` of `dqeval.datasets.formats`.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
import re
import zlib
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

import numpy as np
from numpy.typing import NDArray

from dqeval.core import arguments
from dqeval.core.types import FloatArray, IntArray
from dqeval.core.zones import Zone
from dqeval.datasets.arrays import npz_arrays
from dqeval.datasets.arrow import arrow_arrays, plain_arrays
from dqeval.datasets.grouping import Grouping, grouping_of, unknown_column
from dqeval.datasets.guard import (
    LONGEST_TIME,
    NO_MEMORY,
    allowed_bytes,
    check_size,
    shorten,
    some_names,
)
from dqeval.datasets.plain_text import Layout, NotPlainError, Places, ends_lines_plainly, is_worth_it, read_pieces
from dqeval.datasets.streams import STANDARD_INPUT, Rewindable, bytes_of, opened, size_of, text_of
from dqeval.render.tables import count_of

NPZ = ".npz"
SEPARATORS = ",;\t"
MISSING = ("", "nan", "na", "n/a", "null", "none")
TRUTH = {"true": 1.0, "false": 0.0}
TIME_NAMES = ("timestamp", "time", "date", "datetime", "t", "ds", "ts", "epoch", "unix", "unix_ts")
IGNORED_NAMES = ("", *TIME_NAMES, "index", "__index_level_0__")  # pandas writes its index without a name, or so
VALUE_NAMES = ("value", "data")
DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")
HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")  # as JSON may write what is no text alone
LINES = (".jsonl", ".ndjson")
ARROW = (".parquet", ".feather")
UNREADABLE = (ValueError, csv.Error, EOFError, gzip.BadGzipFile, zlib.error)
_ROWS_AT_ONCE = 10_000
_CELLS_AT_ONCE = 1_000_000
_LONGEST_NAME = 80  # in a message
_NO_TEXT = "not a text file in UTF-8; save it as one, comma-separated"

Columns = dict[str, FloatArray]
Times = NDArray[Any]
Watch = Callable[[BinaryIO], BinaryIO]


@dataclass(frozen=True, slots=True)
class Named:
    """The columns of a table that somebody has named.

    Attributes
    ----------
    series : str, optional
        That which names the series of each row.
    time : str, optional
        That of the timestamps; if not given, the first with a usual name.
    """

    series: str | None = None
    time: str | None = None

    def __post_init__(self) -> None:
        if self.time is not None:
            arguments.text("time", self.time)

    def is_time(self, name: str) -> bool:
        """Tell whether a column holds the timestamps, by its name."""
        return name != self.series and (name.lower() in TIME_NAMES if self.time is None else name == self.time)

    def is_ignored(self, name: str) -> bool:
        """Tell whether a column holds no numbers that matter, by its name."""
        return name in (self.series, self.time) or name.lower() in IGNORED_NAMES

    def check(self, names: Collection[str]) -> None:
        """Check that there are such columns."""
        if self.series is not None and self.series not in names:
            raise unknown_column(self.series, names)
        if self.time is not None and self.time not in names:
            raise ValueError(f"time must name a column: {unknown_column(self.time, names)}")
        if self.series is not None and self.series == self.time:
            raise ValueError(f"{self.series} names the series: it cannot be the column of times too")


NOTHING_NAMED = Named()


@dataclass(frozen=True, slots=True, eq=False)
class Content:
    """What is in a table.

    Attributes
    ----------
    columns : dict of str to array of float, shape (n,)
        The columns of numbers, by name.
    times : array, shape (n,), optional
        The first column of timestamps.
    grouping : Grouping, optional
        Which rows are of which series, if a column that tells was asked for; it is not among the others.
    zone : str or False, optional
        The time zone that the timestamps were given in, or False; None where they tell it themselves, or nothing does.
    named : Named
        The columns that were asked for by name.
    left_out : tuple of str
        What is no column, such as a single number among arrays.
    """

    columns: Columns
    times: Times | None
    grouping: Grouping | None = None
    zone: Zone = None
    named: Named = NOTHING_NAMED
    left_out: tuple[str, ...] = ()

    def rows_of_series(self) -> Iterable[tuple[str, IntArray]]:
        """Return the series that are told apart, each with its rows."""
        return () if self.grouping is None else self.grouping.rows().items()

    def at(self, rows: IntArray) -> Content:
        """Return some of the rows."""
        columns = {name: column[rows] for name, column in self.columns.items()}
        return replace(self, columns=columns, times=None if self.times is None else self.times[rows], grouping=None)


def read_content(path: Path, *, named: Named = NOTHING_NAMED, watch: Watch = lambda stream: stream) -> Content:
    """Return what is in a file: its columns of numbers, its timestamps, and the column that names the series.

    Other text and columns without a name are left out. The ending of the name says what the file is: .npz, .parquet,
    .feather, .jsonl or .ndjson. Anything else is text with columns separated by commas, semicolons or tabs, named in
    the first line; so is the path ``-``, standard input. A text file that is packed with gzip is unpacked on the way.
    ``watch`` may put a stream of its own before that of a text file, to see what is read. Errors do not name the file.
    """
    with _readable(path):
        return _content_of(path, named, watch)


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn whatever goes wrong in reading a file into an error in a sentence."""
    _refuse_folder(path)
    try:
        yield
    except UnicodeDecodeError:
        raise ValueError(_NO_TEXT) from None
    except UNREADABLE as error:
        raise ValueError(str(error)) from None
    except MemoryError:
        raise ValueError(NO_MEMORY) from None


def read_cells(path: Path) -> dict[str, NDArray[Any]]:
    """Return all columns of a table by name: of numbers, NaN where a cell is empty, or of text.

    Errors do not name the file.
    """
    kind = _kind(path)
    with _readable(path):
        if kind in ARROW:
            return plain_arrays(path, kind)
        with opened(path) as stream, text_of(stream, path) as text:
            lines = _rows(text, kind)
            names = next(lines, [])
            rows = list(of_width(lines, len(names)))
    if not rows:
        raise ValueError("the file needs a line that names the columns, and at least one row below it")
    if len(set(names)) < len(names):
        raise ValueError(f"two columns have the same name: {some_names(names)}")
    return {name: _cells(name, cells) for name, cells in zip(names, zip(*rows, strict=True), strict=True)}


def _cells(name: str, cells: Sequence[Any]) -> NDArray[Any]:
    """Return cells as numbers if the first one that is not empty is a number, and as text otherwise."""
    texts = ["" if cell is None else str(cell).strip() for cell in cells]
    first = next((text for text in texts if text.lower() not in MISSING), "")
    if first and not _is_number(first):
        return np.array(texts)
    for number, text in enumerate(texts, start=1):
        if text.lower() not in MISSING and not _is_number(text):
            what = f"row {number} below the header is {_quoted(text)}"
            raise ValueError(f"column {shorten(name)} must hold numbers: {what}")
    return np.array([math.nan if text.lower() in MISSING else float(text) for text in texts])


def read_with_times(path: Path) -> tuple[Columns, Times | None]:
    """Return the columns of numbers of a file by name, and its first column of timestamps: see `read_content`."""
    content = read_content(path)
    return content.columns, content.times


def column_names(path: Path) -> list[str]:
    """Return the names of the columns of a text file; none where they are not in its first line, or cannot be read."""
    kind = _kind(path)
    if kind in (NPZ, *ARROW):
        return []
    try:
        with opened(path) as stream, text_of(stream, path) as text:
            return list(next(_rows(text, kind), []))
    except (*UNREADABLE, OSError):
        return []


def whole_text(path: Path, *, memory: int) -> str:
    """Return all the text of a file, unpacked if it is packed.

    Whoever makes objects of it says how many bytes of memory a byte of text may become; what would take too much is
    refused before it is held whole. Errors do not name the file.
    """
    _refuse_folder(path)
    size = size_of(path)
    most = allowed_bytes(size) // memory
    with opened(path) as stream, bytes_of(stream, path, longest_line=math.inf) as content:
        found = content.read(most + 1)
    check_size(len(found) * memory, size)
    try:
        return found.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(_NO_TEXT) from None


def name_of(path: Path) -> str:
    """Return what a file is called in messages."""
    return "standard input" if path == STANDARD_INPUT else str(path)


def _refuse_folder(path: Path) -> None:
    if path.is_dir():
        raise ValueError("this is a directory; give a file")


def _kind(path: Path) -> str:
    return (Path(path.stem) if path.suffix.lower() == ".gz" else path).suffix.lower()


def _content_of(path: Path, named: Named, watch: Watch) -> Content:
    kind = _kind(path)
    if kind == NPZ:
        return _from_arrays(npz_arrays(path), named)
    if kind in ARROW:
        arrays, zone = arrow_arrays(path, kind, named.is_ignored, named.is_time, named.series)
        return replace(_from_arrays(arrays, named), zone=zone)
    with opened(path) as stream:
        watched = watch(stream)
        if kind not in LINES and is_worth_it(path):
            return _from_large_text(watched, path, named)
        with text_of(watched, path) as text:
            return _from_rows(_rows(text, kind), named)


def _from_large_text(stream: BinaryIO, path: Path, named: Named) -> Content:
    """Return what is in a text file by the fast way, or else by the one that can tell what is wrong."""
    with path.open("rb") as again:
        source = Rewindable(stream, again)
        content = _from_plain_text(cast(BinaryIO, source), path, named)
        if content is not None:
            return content
        source.rewind()
        with text_of(cast(BinaryIO, source), path) as text:
            return _from_rows(text_rows(text), named)


def _from_plain_text(stream: BinaryIO, path: Path, named: Named) -> Content | None:
    """Return what is in a text file; None if there is anything unusual about it."""
    try:
        with bytes_of(stream, path) as content:
            header, first_row = content.readline(), content.readline()
            layout = _layout_of(header, first_row, named)
            found = _Collected([layout.names[i] for i in layout.places.numbers], named)
            for piece in read_pieces(first_row, content, layout):
                for column, numbers in zip(found.columns.values(), piece.numbers, strict=True):
                    column.frombytes(numbers.view(np.uint8).data)
                found.times += piece.times
                if found.grouping is not None:
                    found.grouping.add_encoded(*piece.series)
    except (*UNREADABLE, ImportError):
        return None
    return found.content()


def _layout_of(header: bytes, first_row: bytes, named: Named) -> Layout:
    """Return what is in the columns of a text file that begins in the plain way: with names, and a row below them."""
    names, row = text_rows(io.StringIO((header + first_row).decode("utf-8-sig"), newline=""))
    places = _places(names, row, named)
    if not places.numbers or len(row) != len(names) or not ends_lines_plainly(header):
        raise NotPlainError
    return Layout(names, _separator_of(header.decode("utf-8")), places)


class _Collected:
    """The columns of a text file, while they are read piece by piece."""

    def __init__(self, names: Iterable[str], named: Named) -> None:
        self._named = named
        self.columns: dict[str, array[float]] = {name: array("d") for name in names}
        self.times: list[Times] = []
        self.grouping = None if named.series is None else Grouping(named.series)

    def content(self) -> Content:
        """Return all that was read."""
        columns = {name: np.frombuffer(column, dtype=np.float64) for name, column in self.columns.items()}
        times = np.concatenate(self.times) if self.times else None
        return Content(columns, times, self.grouping, named=self._named)


def _rows(text: TextIO, kind: str) -> Iterator[Sequence[Any]]:
    return _json_rows(text) if kind in LINES else text_rows(text)


def text_rows(file: TextIO, *, example: str = "value,label,my_detector") -> Iterator[Sequence[Any]]:
    """Yield the names of the columns, then the rows of cells; empty lines are passed over."""
    lines = (line for line in file if line.strip("\r\n\ufeff"))
    header_line = next(lines, "").removeprefix("\ufeff")
    separator = _separator_of(header_line)
    header = next(csv.reader([header_line], delimiter=separator), [])
    if header and all(map(_is_number, header)):
        raise ValueError(f"the first line must name the columns, such as {example}")
    yield [name.strip() for name in header]
    yield from csv.reader(lines, delimiter=separator)


def _separator_of(header_line: str) -> str:
    return max(SEPARATORS, key=header_line.count)


def _json_rows(file: TextIO) -> Iterator[Sequence[Any]]:
    """Yield the keys of the first object, then the values of each, which must have the same keys."""
    names: list[str] | None = None
    for number, line in enumerate((line for line in file if line.strip()), start=1):
        row = _parsed(line, number)
        if not isinstance(row, dict):
            raise ValueError(f"row {number} is not a JSON object")
        if names is None:
            names = list(row)
            yield names
        if set(row) != set(names):
            raise ValueError(f"row {number} has the keys {some_names(row)}, and the first row has {some_names(names)}")
        yield [row[name] for name in names]


def _parsed(line: str, number: int) -> Any:
    try:
        row = json.loads(line)
        if HALF_CHARACTER.search(line):
            json.dumps(row, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise ValueError(f"row {number} is not JSON: {error.msg} at character {error.pos + 1:,}") from None
    except UnicodeEncodeError:
        raise ValueError(f"row {number} holds half of a character, such as \\ud800, which is no text") from None
    except RecursionError:
        raise ValueError(f"row {number} is nested too deeply: it must be an object of numbers") from None
    return row


def _from_rows(rows: Iterator[Sequence[Any]], named: Named) -> Content:
    """Return what is in rows that follow their names, read in batches so that their text is never held whole."""
    names = next(rows, [])
    if not names:
        raise ValueError("the file is empty: it needs a line that names the columns, and rows below it")
    rows = of_width(rows, len(names))
    at_once = max(1, min(_ROWS_AT_ONCE, _CELLS_AT_ONCE // len(names)))
    batch = list(islice(rows, at_once))
    if not batch:
        raise ValueError("the file needs a line that names the columns, and at least one row below it")
    places = _places(names, batch[0], named)
    found = _Collected([names[i] for i in places.numbers], named)
    done = 0
    while batch:
        for i, column in zip(places.numbers, found.columns.values(), strict=True):
            column.extend(_numbers(names[i], [row[i] for row in batch], done))
        if places.time is not None:
            found.times.append(_moments(names[places.time], [row[places.time] for row in batch], done))
        if found.grouping is not None and places.series is not None:
            found.grouping.add(row[places.series] for row in batch)
        done += len(batch)
        batch = list(islice(rows, at_once))
    return found.content()


def _places(names: Sequence[str], first_row: Sequence[Any], named: Named) -> Places:
    """Return which columns are read: those of numbers, the first one of times, and the one that names the series."""
    named.check(names)
    cells = list(zip(names, first_row, strict=True))
    used = [i for i, (name, cell) in enumerate(cells) if not named.is_ignored(name) and _is_used(name, cell)]
    asked = [name for name in (named.series, named.time) if name is not None]
    if len({names[i] for i in used}) < len(used) or any(names.count(name) > 1 for name in asked):
        raise ValueError(f"two columns have the same name: {some_names(names)}")
    time = next((i for i, name in enumerate(names) if named.is_time(name)), None)
    return Places(used, time, None if named.series is None else names.index(named.series))


def of_width(rows: Iterator[Sequence[Any]], width: int) -> Iterator[Sequence[Any]]:
    """Yield the rows, which must all have as many cells as the header."""
    for number, row in enumerate(rows, start=1):
        if len(row) != width:
            raise ValueError(f"row {number} below the header has {len(row)} cells, and the header has {width}")
        yield row


def _moments(name: str, cells: list[Any], done: int) -> Times:
    """Return timestamps as they are: words or numbers."""
    for number, cell in enumerate(cells, start=done + 1):
        if isinstance(cell, (list, dict)) or len(str(cell)) > LONGEST_TIME:
            where = f"row {number} below the header"
            raise ValueError(f"column {shorten(name)} must hold times: {where} is {_quoted(cell)}")
    return np.array(cells)


def _is_used(name: str, first_cell: Any) -> bool:
    """Tell whether a column counts: by its first cell; an empty one does not hide a column, it is an error later."""
    if DECIMAL_COMMA.fullmatch(str(first_cell).strip()):
        raise ValueError(f"column {name} has a decimal comma in {_quoted(first_cell)}: write numbers with a point")
    return _is_number(first_cell) or first_cell is None or str(first_cell).strip().lower() in ("", *TRUTH)


def _numbers(name: str, cells: list[Any], done: int) -> list[float]:
    try:
        return [float(cell) for cell in cells]
    except (TypeError, ValueError, OverflowError):
        return [_number(name, cell, number) for number, cell in enumerate(cells, start=done + 1)]


def _number(name: str, cell: Any, number: int) -> float:
    """Return one cell as a number: also true and false, but nothing else."""
    text = "" if cell is None else str(cell).strip().lower()
    if not text and name.lower() in VALUE_NAMES:
        return float("nan")  # a missing value; of the values only the period follows
    try:
        return TRUTH[text] if text in TRUTH else float(cell)
    except OverflowError:
        what = f"a whole number of {len(text):,} digits, which is too large"
    except (TypeError, ValueError):
        what = _quoted(cell) if text else "an empty cell"
    raise ValueError(f"column {shorten(name)} must hold numbers: row {number} below the header is {what}")


def _is_number(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError):
        return False
    except OverflowError:
        return True  # though a large one
    return True


def _quoted(cell: Any) -> str:
    return f"'{shorten(str(cell), _LONGEST_NAME)}'"


def _from_arrays(arrays: Mapping[str, NDArray[Any]], named: Named) -> Content:
    content = content_of_arrays(arrays, named)
    if content.columns and not len(next(iter(content.columns.values()))):
        raise ValueError("the columns are empty: there must be at least one row")
    return content


def content_of_arrays(arrays: Mapping[str, NDArray[Any]], named: Named) -> Content:
    """Return what is in columns that are arrays, of which one may name the series of each row."""
    named.check(arrays)
    left_out = tuple(name for name, array in arrays.items() if not array.ndim)
    arrays = {name: array for name, array in arrays.items() if array.ndim}
    columns = numeric_columns(arrays, named)
    times = next((column for name, column in arrays.items() if named.is_time(name)), None)
    if named.series is None:
        return Content(columns, times, named=named, left_out=left_out)
    grouping = grouping_of(arrays, named.series)
    for what, given in (("row", next(iter(columns.values()), None)), ("timestamp", times)):
        if given is not None and given.shape[:1] != (len(grouping),):
            found = f"got {count_of(len(grouping), 'name')} for {count_of(given.size, what)}"
            raise ValueError(f"column {named.series} must name the series of each row: {found}")
    return Content(columns, times, grouping, named=named, left_out=left_out)


def numeric_columns(arrays: Mapping[str, NDArray[Any]], named: Named) -> Columns:
    """Return the arrays that hold numbers, timestamps left out; they must be of the same length."""
    numeric = {name: a for name, a in arrays.items() if a.dtype.kind in "biuf" and not named.is_ignored(name)}
    for name, column in numeric.items():
        if column.ndim != 1:
            raise ValueError(f"column {shorten(name)} must be one-dimensional: its shape is {column.shape}")
    lengths = {name: len(column) for name, column in numeric.items()}
    if len(set(lengths.values())) > 1:
        found = some_names(f"{name} {length:,}" for name, length in lengths.items())
        raise ValueError(f"the columns must have the same length: got {found}")
    # Numbers with more bits than a float become infinite, and what is no number at all NaN.
    with np.errstate(over="ignore", invalid="ignore"):
        return {name: np.ascontiguousarray(column, dtype=np.float64) for name, column in numeric.items()}
