"""Names that tell things apart: of series of the same name, and of files on every disk."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Sequence
from unicodedata import normalize

_MOST_BYTES = 180  # of a name as it is: disks take 255, with the ending
_MOST_LETTERS = 80  # of a name that had to be changed
_NOT_IN_FILES = frozenset('<>:"/\\|?*~')  # none of these for Windows, and no tilde because changed names have one
_DEVICE = re.compile(
    r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[\d¹²³]) *(\.|$)", re.IGNORECASE
)  # no files, to Windows


def distinct(names: Sequence[str], form: str, *, key: Callable[[str], str] = str) -> list[str]:
    """Return the names, with a number for each that is taken already.

    Parameters
    ----------
    names : sequence of str
    form : str
        How to put a name and a number together, such as "{}_{}".
    key : callable, optional
        Names of the same key are the same.

    Examples
    --------
    >>> distinct(["a", "b", "a"], "{} ({})")
    ['a', 'b', 'a (2)']
    """
    taken = TakenNames(form, key)
    return [taken.take(name) for name in names]


class TakenNames:
    """Names that are taken: one that is asked for again gets a number; see `distinct`."""

    def __init__(self, form: str, key: Callable[[str], str] = str) -> None:
        self._form, self._key = form, key
        self._found: set[str] = set()
        self._numbers: Counter[str] = Counter()

    def next(self, name: str) -> str:
        """Return the name, or with a number if it is taken; it is not taken by that."""
        one, key = name, self._key(name)
        while self._key(one) in self._found:
            self._numbers[key] += 1
            one = self._form.format(name, self._numbers[key] + 1)
        # To be asked for again, until somebody takes it.
        self._numbers[key] -= one != name
        return one

    def take(self, name: str) -> str:
        """Take a name, or the next one with a number."""
        one = self.next(name)
        self._found.add(self._key(one))
        return one


def same_on_disk(name: str) -> str:
    """Return a key that two names share if some disk takes them for the same, such as A and a."""
    return normalize("NFC", normalize("NFC", name).casefold())


def file_names(names: Sequence[str], ending: str) -> list[str]:
    """Return names of files that every system takes; no two are the same where A and a are, unless the names are."""
    counts = Counter(map(same_on_disk, set(names)))
    return [f"{_safe(name, alone=counts[same_on_disk(name)] == 1)}.{ending}" for name in names]


def _safe(name: str, *, alone: bool) -> str:
    if alone and _is_safe(name):
        return name
    readable = re.sub(r"[^A-Za-z0-9_-]+", "_", name)[:_MOST_LETTERS]
    return f"{readable}~{hashlib.sha256(name.encode(errors='surrogatepass')).hexdigest()[:12]}"


def _is_safe(name: str) -> bool:
    if not name.isprintable() or _NOT_IN_FILES & set(name) or _DEVICE.match(name):
        return False
    return name[:1] not in ("", ".", " ") and len(name.encode()) <= _MOST_BYTES
