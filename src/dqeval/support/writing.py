"""Files that are there whole or not at all, whatever happens while they are written."""

from __future__ import annotations

import csv
import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import Any
from uuid import uuid4

_TRIES, _PAUSE = 20, 0.05  # of a file that another program has open, and the seconds between them


@contextmanager
def atomic_write(path: str | PathLike[str], *, lasting: bool = True) -> Iterator[Path]:
    """Give a place to write to that becomes the file when all is written, so that it is never half there.

    Parameters
    ----------
    path : path-like
        A device or a pipe, such as /dev/null or /dev/stdout, is written to as it is.
    lasting : bool, default True
        Whether to wait until the disk has it: otherwise the file may be empty after the machine itself has crashed.

    Yields
    ------
    Path
        In the same folder, with the same ending.
    """
    # Asked of the path as it was given: what /dev/stdout leads to may be a pipe, which has no path.
    if Path(path).exists() and not Path(path).is_file():
        yield Path(path)
        return
    target = Path(path).resolve()
    # A name of its own: processes on several machines may write the same file at once.
    place = target.with_name(f".{uuid4().hex}{target.suffix}")
    try:
        yield place
        if lasting:
            _wait_for_the_disk(place)
        _replace(place, target)
    except OSError as error:
        if error.filename not in (None, str(place)):
            raise
        # People know the file that they asked for, not the place beside it.
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with suppress(OSError):
            place.unlink()


def _replace(place: Path, target: Path) -> None:
    """Put a file in its place. On Windows, that waits for whoever is reading what was there before."""
    for _ in range(_TRIES if sys.platform == "win32" else 0):
        try:
            place.replace(target)
        except PermissionError:
            time.sleep(_PAUSE)
        else:
            return
    place.replace(target)


def _wait_for_the_disk(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def write_text(path: str | PathLike[str], text: str) -> None:
    """Write a text file, whole or not at all."""
    with atomic_write(path) as place:
        place.write_text(text, encoding="utf-8", newline="\n")  # the same bytes on every system


def write_table(path: str | PathLike[str], header: Iterable[str], rows: Iterable[Iterable[Any]]) -> int:
    """Write a CSV file, whole or not at all, and return how many rows it has."""
    count = 0
    with atomic_write(path) as place, place.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        for row in rows:
            writer.writerow(row)
            count += 1
    return count
