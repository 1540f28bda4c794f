"""Streams of bytes and text from files and standard input: unpacked, bounded, and read again where that is needed."""

from __future__ import annotations

import gzip
import io
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, BinaryIO, TextIO, cast

from dqeval.datasets.guard import allowed_bytes, too_much_error
from dqeval.support.writing import note_input

STANDARD_INPUT = Path("-")
_LONGEST_LINE = 2**25  # bytes: a million columns of full precision
PIECE = 2**16


def opened(path: Path) -> AbstractContextManager[BinaryIO]:
    """Return the stream of a file, or standard input, which is not closed."""
    if path != STANDARD_INPUT:
        return path.open("rb")
    if sys.stdin is None:
        raise ValueError("it is closed: name a file, or pipe one in")
    with suppress(OSError):  # which has no descriptor where a program has replaced it
        note_input(sys.stdin.buffer.fileno())
    return nullcontext(sys.stdin.buffer)


class _Bounded(io.RawIOBase):
    """A stream that ends with an error where another one goes on for too long, or a line in it does."""

    def __init__(self, source: BinaryIO, allowed: int, longest_line: float) -> None:
        self._source, self._allowed, self._longest_line = source, allowed, longest_line
        self._count = self._since_line = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer."""
        data = self._source.read(len(buffer))
        buffer[: len(data)] = data
        self._count += len(data)
        end = max(data.rfind(b"\n"), data.rfind(b"\r"))
        self._since_line = len(data) - end - 1 if end >= 0 else self._since_line + len(data)
        if self._since_line > self._longest_line:
            raise ValueError(f"a line is longer than {self._longest_line:,} bytes: is this a table?")
        if self._count > self._allowed:
            raise too_much_error(self._allowed)
        return len(data)


class Rewindable(io.RawIOBase):
    """A stream that can be read twice, though its source only once: the second time from another one that is the same.

    So whoever watches the source sees each byte once.
    """

    def __init__(self, source: BinaryIO, again: BinaryIO) -> None:
        self._source, self._again = source, again
        self._seen = self._at = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer."""
        if self._at < self._seen:
            data = self._again.read(min(len(buffer), self._seen - self._at))
        else:
            data = self._source.read(len(buffer))
            self._seen += len(data)
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

    def rewind(self) -> None:
        """Go back to the start."""
        self._at = 0


@contextmanager
def bytes_of(stream: BinaryIO, path: Path, *, longest_line: float = _LONGEST_LINE) -> Iterator[io.BufferedReader]:
    """Give what is in a stream, unpacked if it is packed; it may be longer than the file, but not without limit."""
    seen = io.BufferedReader(cast(io.RawIOBase, stream))
    zipped = seen.peek(2)[:2] == b"\x1f\x8b"
    unpacked = cast(BinaryIO, gzip.GzipFile(fileobj=seen) if zipped else seen)
    allowed = allowed_bytes(size_of(path))
    try:
        yield io.BufferedReader(_Bounded(unpacked, allowed, longest_line), PIECE)
    finally:
        seen.detach()  # or it would close the stream, which may be standard input


def size_of(path: Path) -> int:
    """Return how many bytes a file has; 0 where that is not known."""
    return path.stat().st_size if path.is_file() else 0


@contextmanager
def text_of(stream: BinaryIO, path: Path) -> Iterator[TextIO]:
    """Give a stream as text."""
    with bytes_of(stream, path) as content:
        text = io.TextIOWrapper(content, encoding="utf-8-sig", newline="")
        try:
            yield text
        finally:
            text.detach()
