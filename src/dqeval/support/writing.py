"""Files that are there whole or not at all, whatever happens while they are written."""

from __future__ import annotations

import csv
import errno
import os
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from typing import Any
from uuid import uuid4

_inputs: set[tuple[int, int]] | None = None  # the files that the command reads, by device and number
_TRIES, _PAUSE = 20, 0.05  # of a file that another program has open, and the seconds between them


@contextmanager
def protected_inputs() -> Iterator[None]:
    """Protect the files that are read meanwhile from being written over, as long as a command runs."""
    global _inputs
    before, _inputs = _inputs, set()
    try:
        yield
    finally:
        _inputs = before


def note_input(path: str | PathLike[str] | int) -> None:
    """Remember a file that is read, by its path or its descriptor, while inputs are protected."""
    if _inputs is not None:
        with suppress(OSError):
            _inputs.add(_identity(os.stat(path)))


def refuse_overwriting(path: str | PathLike[str], *, may_be_input: bool = False) -> None:
    """Refuse to replace a file that is an input of the command, under whatever name, or that is read-only."""
    try:
        present = os.stat(path)
    except OSError:
        return  # nothing is there; or what is wrong shows when it is written
    if not may_be_input and _identity(present) in (_inputs or ()):
        raise ValueError(f"{path} would overwrite the input; name another file")
    if stat.S_ISREG(present.st_mode) and not present.st_mode & 0o222:
        raise PermissionError(errno.EACCES, "is read-only: name another file, or make this one writable", str(path))


def _identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


@contextmanager
def atomic_write(path: str | PathLike[str], *, lasting: bool = True, may_be_input: bool = False) -> Iterator[Path]:
    """Give a place to write to that becomes the file when all is written, so that it is never half there.

    A file that was there before keeps its mode.

    Parameters
    ----------
    path : path-like
        A device or a pipe, such as /dev/null or /dev/stdout, is written to as it is.
    lasting : bool, default True
        Whether to wait until the disk has it: otherwise the file may be empty after the machine itself has crashed.
    may_be_input : bool, default False
        Whether a file may be replaced that the command has read.

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
        refuse_overwriting(path, may_be_input=may_be_input)
        if target.exists():
            place.touch(0o600)
            place.chmod(stat.S_IMODE(target.stat().st_mode))
        yield place
        if lasting:
            _wait_for_the_disk(place)
        _replace(place, target)
    except OSError as error:
        if error.filename not in (None, str(place), str(path)):
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


def write_text(path: str | PathLike[str], text: str, *, may_be_input: bool = False) -> None:
    """Write a text file, whole or not at all."""
    with atomic_write(path, may_be_input=may_be_input) as place:
        place.write_text(text, encoding="utf-8", newline="\n")  # the same bytes on every system


def write_table(
    path: str | PathLike[str], header: Iterable[str], rows: Iterable[Iterable[Any]], *, may_be_input: bool = False
) -> int:
    """Write a CSV file, whole or not at all, and return how many rows it has."""
    count = 0
    with atomic_write(path, may_be_input=may_be_input) as place, place.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        for row in rows:
            writer.writerow(row)
            count += 1
    return count
