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
    found: dict[str, str] = {}
    numbers: Counter[str] = Counter()
    for name in names:
        one = name
        while key(one) in found:
            numbers[key(name)] += 1
            one = form.format(name, numbers[key(name)] + 1)
        found[key(one)] = one
    return list(found.values())


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
