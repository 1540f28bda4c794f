"""Plain text tables of numbers, read by pyarrow; what is not quite plain is refused, and read cell by cell elsewhere.

pyarrow and Python agree on what both take for a finite number. They do not agree on what else is one, on quotes, or on
what is wrong; so nothing of that is read here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from dqeval.core.types import FloatArray
from dqeval.datasets.guard import LONGEST_TIME

WORTH_IT = 2 * 2**20  # bytes of a file from which on pyarrow saves more time than its import takes
_CHUNK = 4 * 2**20
_LONGEST_LINE = 2**16  # bytes, about: far below the longest cell that the csv module reads
_NEWLINE, _RETURN = b"\n", b"\r"


class NotPlainError(ValueError):
    """The table is not as plain as pyarrow needs it; it may be a good one all the same."""


@dataclass(frozen=True, slots=True)
class Places:
    """Which columns of a text file are read: those of numbers, that of the times, and that which names the series."""

    numbers: Sequence[int]
    time: int | None
    series: int | None


@dataclass(frozen=True, slots=True)
class Layout:
    """How a text file is laid out: the names of its columns, what separates them, and which of them are read."""

    names: Sequence[str]
    separator: str
    places: Places


@dataclass(frozen=True, slots=True)
class Piece:
    """Some rows of a table.

    Attributes
    ----------
    numbers : sequence of array of float
        Its columns of numbers.
    times : sequence of array
        The column of times, if there is one.
    series : tuple
        What the series are called, and for each row which one it is; nothing if no column tells.
    """

    numbers: Sequence[FloatArray]
    times: Sequence[NDArray[Any]]
    series: tuple[Sequence[str], NDArray[Any]]


def is_worth_it(path: Path) -> bool:
    """Tell whether a file is so large that pyarrow pays."""
    return path.is_file() and path.stat().st_size >= WORTH_IT


def read_pieces(first_row: bytes, rest: BinaryIO, layout: Layout) -> Iterator[Piece]:
    """Yield the rows of a table piece by piece; raise an error, which says nothing to a user, if it is not plain."""
    for chunk in _chunks(first_row, rest):
        if not _is_plain(chunk):
            raise NotPlainError
        yield _piece(chunk, layout)


def ends_lines_plainly(text: bytes) -> bool:
    """Tell whether all lines of a text end with a line feed, before which there may be a carriage return."""
    return _RETURN not in text or text.count(_RETURN) == text.count(_RETURN + _NEWLINE)


def _chunks(first_row: bytes, rest: BinaryIO) -> Iterator[bytes]:
    """Yield the text in pieces of whole lines."""
    left = first_row
    while block := rest.read(_CHUNK):
        whole, end, begun = block.rpartition(_NEWLINE)
        if end:
            yield b"".join((left, whole, end))
        left = begun if end else left + begun
    if left:
        yield left


def _is_plain(chunk: bytes) -> bool:
    # A line that is too long leaves one of these stretches without an end.
    starts = range(0, len(chunk) - _LONGEST_LINE, _LONGEST_LINE)
    return (
        chunk.isascii()
        and b'"' not in chunk
        and b"\0" not in chunk
        and ends_lines_plainly(chunk)
        and all(chunk.find(_NEWLINE, start, start + _LONGEST_LINE) >= 0 for start in starts)
    )


def _piece(chunk: bytes, layout: Layout) -> Piece:
    table, places = _table(chunk, layout), layout.places
    numbers = [table.column(str(i)).to_numpy() for i in places.numbers]
    if not all(np.isfinite(column).all() for column in numbers):
        raise NotPlainError
    times = [] if places.time is None else [_texts(table.column(str(places.time)).combine_chunks())]
    return Piece(numbers, times, _encoded(table, places.series))


def _encoded(table: Any, place: int | None) -> tuple[Sequence[str], NDArray[Any]]:
    """Return the different texts of a column, and for each row which one it is; nothing if there is no such column."""
    if place is None:
        return [], np.zeros(0, dtype=np.int64)
    column = table.column(str(place)).combine_chunks().dictionary_encode()
    return column.dictionary.to_pylist(), column.indices.to_numpy()


def _texts(column: Any) -> NDArray[Any]:
    """Return a column of ASCII as an array; at once if all its texts are of one length, as times often are."""
    _, ends, letters = column.buffers()
    lengths = np.diff(np.frombuffer(ends, dtype=np.int32, count=len(column) + 1))
    longest = int(lengths.max())
    if longest > LONGEST_TIME:
        raise NotPlainError
    if 0 < longest == lengths.min():
        codes = np.frombuffer(letters, dtype=np.uint8, count=longest * len(column))
        return codes.astype(np.uint32).view(f"U{longest}")  # which is how NumPy keeps text
    return np.array(column.to_pylist())


def _table(chunk: bytes, layout: Layout) -> Any:
    import pyarrow
    from pyarrow import csv

    # In memory of pyarrow's own: one of its threads looks ahead even so, and may let go of it while the process ends,
    # when nothing of Python's must be touched any more.
    memory = pyarrow.allocate_buffer(len(chunk))
    memoryview(memory).cast("B")[:] = chunk
    texts = [i for i in (layout.places.time, layout.places.series) if i is not None]
    kinds = {str(i): pyarrow.float64() for i in layout.places.numbers} | {str(i): pyarrow.string() for i in texts}
    names = [str(i) for i in range(len(layout.names))]  # those in the file may not be unique
    try:
        return csv.read_csv(
            pyarrow.BufferReader(memory),
            csv.ReadOptions(use_threads=False, block_size=len(chunk) + 1, column_names=names),
            csv.ParseOptions(delimiter=layout.separator, quote_char=False),
            csv.ConvertOptions(column_types=kinds, include_columns=list(kinds), null_values=[]),
        )
    except pyarrow.ArrowException:
        raise NotPlainError from None
