"""What files may do to the process that reads them: how much memory they may take, and which errors come of damage."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from dqeval.render.tables import count_of

VARIABLE = "DQEVAL_MAX_BYTES"
DEFAULT = 2 * 2**30
LONGEST_TIME = 64  # characters: all timestamps take as much memory as the longest
_LONGEST = 200  # of what an error quotes from another library
_MOST_NAMES, _LONGEST_NAME = 10, 80  # in a message


class RefusedError(ValueError):
    """The file can be read, and is not what it should be: the message is for people as it is."""


NO_MEMORY = "there is not enough memory for what is in it"


def allowed_bytes(file_size: int) -> int:
    """Return how many bytes a file may take when it is unpacked: as many as it has, and a number that can be set."""
    given = os.environ.get(VARIABLE, "")
    if not given:
        return file_size + DEFAULT
    if not given.isdecimal():
        raise RefusedError(f"the environment variable {VARIABLE} must be a whole number of bytes: got {given!r}")
    return file_size + int(given)


def check_size(needed: int, file_size: int) -> None:
    """Refuse what would take far more memory than the file has bytes: a small file may claim to hold anything."""
    allowed = allowed_bytes(file_size)
    if needed > allowed:
        raise RefusedError(f"it would take {count_of(needed, 'byte')} of memory, and {_limit(allowed)}")


def too_much_error(allowed: int) -> ValueError:
    """Return the error for a stream that goes on after the last byte that is allowed."""
    return ValueError(f"it unpacks to more than that: {_limit(allowed)}")


def size_of(file: BinaryIO) -> int:
    """Return how many bytes an open file has; none if it is no plain file."""
    return os.fstat(file.fileno()).st_size


def shorten(text: str, longest: int = _LONGEST) -> str:
    """Return text in one line, cut if it is long.

    Examples
    --------
    >>> shorten("a   b"), shorten("abcdef", 3)
    ('a b', 'abc…')
    """
    line = " ".join(text[: 10 * longest].split())
    return line if len(line) <= longest else f"{line[:longest]}…"


def some_names(names: Iterable[str]) -> str:
    """Return names as they stand in messages: some of them, if there are many.

    Examples
    --------
    >>> some_names(["a", "b"]), some_names([]), some_names(map(str, range(1000)))
    ('a, b', 'none', '0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 990 more')
    """
    every = list(names)
    some = ", ".join(shorten(name, _LONGEST_NAME) for name in every[:_MOST_NAMES])
    rest = len(every) - _MOST_NAMES
    return f"{some} and {rest:,} more" if rest > 0 else some or "none"


@contextmanager
def damage(what: str) -> Iterator[None]:
    """Turn whatever another library raises about a damaged file into one sentence."""
    try:
        yield
    except RefusedError:
        raise
    except MemoryError:
        raise ValueError(NO_MEMORY) from None
    except Exception as error:
        # Damaged bytes lead libraries anywhere: to errors of lookup, of type, of arithmetic, of recursion.
        said = shorten(str(error)) or type(error).__name__
        raise ValueError(f"this cannot be read as {what}: {said}") from error


def _limit(allowed: int) -> str:
    return (
        f"{count_of(allowed, 'byte')} are allowed for this file; if it is meant to be so large, set the environment "
        f"variable {VARIABLE} to more bytes"
    )
