"""Sentences and tracebacks with short paths: without the folders of the machine that they come from."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable

# An absolute path in a text has a folder in it, and follows neither a word nor a dot: n/a/b, ./a/b and addresses such
# as tcp://host/x are none, but file:///a/b is one, and so are C:\a\b and \\server\a\b.
_BEFORE = r"(?:file://[^\s\\/]*(?=/)|(?<![\w.~\\/]))(?:[A-Za-z]:)?"
_FOLDER = r"""[^\s\\/:'"`<>|]+[\\/]+"""
_FOLDERS = re.compile(rf"{_BEFORE}(?:\\+|/|(?<!:)//)(?:{_FOLDER})+")
_QUOTED = re.compile(r"""(['"`])(?:file://)?(?:[A-Za-z]:)?[\\/][^'"`\n]*[\\/]""")  # where there may be spaces too
_FILE = re.compile(r'^(\s*File ")([^"]+)(", line )', re.MULTILINE)


def without_folders(text: str, known: Iterable[str] = ()) -> str:
    """Return a text in which absolute paths are the names of their files.

    Parameters
    ----------
    text : str
    known : iterable of str
        Folders that may be in the text, also such with spaces in their names.

    Examples
    --------
    >>> without_folders("ValueError: /home/me/data/a.csv: no label; see tcp://host/x")
    'ValueError: a.csv: no label; see tcp://host/x'
    """
    for folder in sorted({folder.rstrip("\\/") for folder in known} - {""}, key=len, reverse=True):
        for separator in {"/", os.sep}:
            text = text.replace(folder + separator, "")
    for root in _roots():
        text = re.sub(rf"{_BEFORE}{re.escape(root)}[\\/]+(?:{_FOLDER})*", "", text)
    return _FOLDERS.sub("", _QUOTED.sub(r"\1", text))


def _roots() -> list[str]:
    """Return folders that are often in texts, and may have spaces in their names; none is the root of a disk."""
    found = (os.path.abspath(folder).rstrip("\\/") for folder in (os.path.expanduser("~"), sys.prefix))
    return [folder for folder in found if os.path.basename(folder)]


def short_traceback(text: str, known: Iterable[str] = ()) -> str:
    """Return a traceback in which files are named as Python finds them, such as ``dqeval/analysis/panel.py``."""
    return without_folders(_FILE.sub(lambda found: found[1] + _as_found(found[2]) + found[3], text), known)


def _as_found(path: str) -> str:
    roots = sorted((os.path.join(folder, "") for folder in sys.path if os.path.isabs(folder)), key=len, reverse=True)
    root = next((root for root in roots if path.startswith(root)), None)
    return os.path.basename(path) if root is None else path.removeprefix(root).replace(os.sep, "/")
