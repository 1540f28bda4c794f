"""One process at a time works in the folder of a run, and says so there."""

from __future__ import annotations

import importlib
import json
import os
import platform
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from dqeval.render.tables import printable

NAME = "run.lock"
_OUT_OF_THE_WAY = 2**30  # Windows locks bytes, and nobody else could read who has them


@contextmanager
def folder_lock(folder: str | Path) -> Iterator[None]:
    """Lock a folder for one process; a second one gets an error that names the first.

    The operating system lets go of the lock when its process ends, however it ends. What is written in the file tells
    who it is, and guards folders that several machines share, whose systems may not know of each other's locks.
    """
    path = Path(folder) / NAME
    path.parent.mkdir(parents=True, exist_ok=True)
    file = _open_lock(path)
    try:
        os.write(file, json.dumps(_who()).encode())
        yield
    finally:
        os.ftruncate(file, 0)
        if _is_still(path, file):
            with suppress(OSError):  # Windows keeps a file that is open, empty
                path.unlink()
        os.close(file)


def _open_lock(path: Path) -> int:
    """Open the lock's file, empty it and lock it."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            _refuse(path, file)
            if _is_still(path, file):
                os.ftruncate(file, 0)
                return file
        except BaseException:
            os.close(file)
            raise
        os.close(file)  # whoever had it deleted it meanwhile


def _refuse(path: Path, file: int) -> None:
    """Lock the file, or raise an error that names who has it."""
    free = _lock(file)
    other = _read(file)
    if free is False or (other and not _is_gone(other, free is True)):
        raise ValueError(_busy_message(path, other))


def _is_gone(other: dict[str, Any], free: bool) -> bool:
    """Return whether the process that wrote a lock has ended; nothing is known of those on other machines."""
    return other.get("host") == platform.node() and (free or not _is_alive(other.get("process")))


def _is_alive(process: Any) -> bool:
    try:
        os.kill(int(process), 0)
    except PermissionError:
        return True
    except (ProcessLookupError, TypeError, ValueError, OverflowError):
        return False
    return True


def _lock(file: int) -> bool | None:
    """Lock a file until this process ends; return False if another has it, None if there are no locks here."""
    try:
        fcntl = importlib.import_module("fcntl")
    except ImportError:
        return _lock_on_windows(file)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # some network file systems have none
        return None
    return True


def _lock_on_windows(file: int) -> bool:
    msvcrt = importlib.import_module("msvcrt")
    os.lseek(file, _OUT_OF_THE_WAY, os.SEEK_SET)
    try:
        msvcrt.locking(file, msvcrt.LK_NBLCK, 1)
    except OSError:
        return False
    finally:
        os.lseek(file, 0, os.SEEK_SET)
    return True


def _is_still(path: Path, file: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(file))
    except FileNotFoundError:
        return False


def _read(file: int) -> dict[str, Any]:
    """Return what a lock says; nothing if it is empty, or was cut short by a kill."""
    text = os.read(file, 2**16)
    os.lseek(file, 0, os.SEEK_SET)
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _who() -> dict[str, Any]:
    since = time.strftime("%Y-%m-%d %H:%M:%S")
    return {"process": os.getpid(), "host": platform.node(), "since": since, "command": " ".join(sys.argv)}


def _busy_message(path: Path, other: dict[str, Any]) -> str:
    command, process, host, since = (
        printable(str(other.get(key, "not known"))) for key in ("command", "process", "host", "since")
    )
    elsewhere = host not in (platform.node(), "not known")
    advice = f"if it no longer runs, delete {path}" if elsewhere else f"its lock is {path}"
    return (
        f"{path.parent}: another process is running here: {command} (process {process} on {host}, since {since}); "
        f"wait for it, or stop it; {advice}"
    )
