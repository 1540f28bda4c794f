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
class Layout:
    """What is in the columns of a text file: its names, the places of the numbers, and the place of the times."""

    names: Sequence[str]
    separator: str
    numbers: Sequence[int]
    time: int | None


@dataclass(frozen=True, slots=True)
class Piece:
    """Some rows of a table: its columns of numbers, and the one of times, if there is one."""

    numbers: Sequence[FloatArray]
    times: Sequence[NDArray[Any]]


def is_worth_it(path: Path) -> bool:
    """Tell whether a file is so large that pyarrow pays."""
    return path.is_file() and path.stat().st_size >= WORTH_IT


def read_pieces(first_row: bytes, rest: BinaryIO, layout: Layout) -> Iterator[Piece]:
    """Yield the rows of a table piece by piece; raise an error, which says nothing to a user, if it is not plain."""
    for chunk in _chunks(first_row, rest):
        if not _is_plain(chunk):
            raise NotPlainError
        yield _piece(chunk, layout, [] if layout.time is None else [layout.time])


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


def _piece(chunk: bytes, layout: Layout, times: Sequence[int]) -> Piece:
    table = _table(chunk, layout, times)
    numbers = [table.column(str(i)).to_numpy() for i in layout.numbers]
    if not all(np.isfinite(column).all() for column in numbers):
        raise NotPlainError
    return Piece(numbers, [_texts(table.column(str(i)).combine_chunks()) for i in times])


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


def _table(chunk: bytes, layout: Layout, times: Sequence[int]) -> Any:
    import pyarrow
    from pyarrow import csv

    # In memory of pyarrow's own: one of its threads looks ahead even so, and may let go of it while the process ends,
    # when nothing of Python's must be touched any more.
    memory = pyarrow.allocate_buffer(len(chunk))
    memoryview(memory).cast("B")[:] = chunk
    kinds = {str(i): pyarrow.float64() for i in layout.numbers} | {str(i): pyarrow.string() for i in times}
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
