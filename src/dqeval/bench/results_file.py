"""The file of a run's results: its tables, and how it is opened, checked and closed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dqeval.support.writing import note_input

FILE = "results.sqlite"
FORM = 1  # of the tables, which the file says as its user_version; before there were forms it says 0
_TABLES = """
CREATE TABLE IF NOT EXISTS jobs (
    id TEXT PRIMARY KEY, status TEXT NOT NULL, series TEXT NOT NULL, detector TEXT NOT NULL, seed INTEGER NOT NULL,
    data TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS jobs_by_series ON jobs (series, detector, seed);
CREATE TABLE IF NOT EXISTS results (
    series TEXT NOT NULL, dataset TEXT NOT NULL, detector TEXT NOT NULL, seed INTEGER NOT NULL, metric TEXT NOT NULL,
    value REAL, seconds REAL NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL, traceback TEXT NOT NULL,
    parameters TEXT NOT NULL, versions TEXT NOT NULL, planned TEXT NOT NULL,
    PRIMARY KEY (series, detector, seed, metric)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS events (
    series TEXT NOT NULL, dataset TEXT NOT NULL, detector TEXT NOT NULL, seed INTEGER NOT NULL,
    start INTEGER NOT NULL, stop INTEGER NOT NULL,
    dqe REAL NOT NULL, capture REAL NOT NULL, near_miss REAL NOT NULL, false_alarm REAL NOT NULL,
    planned TEXT NOT NULL,
    PRIMARY KEY (series, detector, seed, start)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS plan (detector TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS plan_series (series TEXT PRIMARY KEY) WITHOUT ROWID;
"""
# What SQLite stores in columns of a declared type; it stores NaN as null, and refuses null where a table does.
_STORED = {"TEXT": ("text", "null"), "INTEGER": ("integer", "null"), "REAL": ("real", "null")}
_SOUND: dict[Path, tuple[int, int, int]] = {}  # files whose pages this process has checked, as they were then


def open_results(path: Path, *, to_write: bool) -> sqlite3.Connection:
    """Open a file of results, and check that this version can use it.

    Parameters
    ----------
    path : Path
    to_write : bool
        Whether to write, to a file that is created if it does not exist, with the tables of this version.

    Returns
    -------
    sqlite3.Connection
    """
    database = _open_for_writing(path) if to_write else _open_for_reading(path)
    for name in (path.name, "plan.json", "plan.toml"):
        note_input(path.with_name(name))
    with _close_on_error(database):
        _check_form(database, path, to_write)
        _check_pages(database, path)
        if to_write:
            _bring_up_to_date(database)
    return database


def close_written(database: sqlite3.Connection) -> None:
    """Close a file that was written, so that all is in one file, without any beside it."""
    with suppress(sqlite3.Error):  # somebody is reading, and what lies beside it stays; or it is closed
        database.execute("PRAGMA busy_timeout = 1000")
        database.execute("PRAGMA journal_mode = DELETE")
    database.close()


def nothing_here(path: Path) -> ValueError:
    """Return the error of a folder without a run."""
    return ValueError(f"{path.parent}: there is no run here; dqeval bench run PLAN -o {path.parent} starts one")


def one_value(database: sqlite3.Connection, query: str) -> Any:
    """Return the only value that a query gives."""
    return database.execute(query).fetchone()[0]


def has_table(database: sqlite3.Connection, table: str) -> bool:
    """Tell whether there is a table."""
    return bool(one_value(database, f"SELECT COUNT(*) FROM sqlite_master WHERE name = '{table}'"))


def _check_form(database: sqlite3.Connection, path: Path, to_write: bool) -> None:
    form = one_value(database, "PRAGMA user_version")
    if form > FORM:
        raise ValueError(
            f"{path}: a newer dqeval wrote this (format {form}; this one reads {FORM}): install that version"
        )
    if not to_write and not has_table(database, "jobs"):
        raise nothing_here(path)


def _check_pages(database: sqlite3.Connection, path: Path) -> None:
    """Check that no page of the file is damaged."""
    stamp = _stamp(path)
    # Reading every page of a large file takes long, and a command may open it several times.
    if _SOUND.get(path) == stamp:
        return
    found = one_value(database, "PRAGMA quick_check(1)")
    if found != "ok":
        raise _damaged(path, " ".join(str(found).split()))
    _check_types(database, path)
    _SOUND[path] = stamp


def _damaged(path: Path, reason: str) -> ValueError:
    return ValueError(f"{path} is damaged ({reason}): restore a copy, or run again in a new folder")


def _check_types(database: sqlite3.Connection, path: Path) -> None:
    """Check that every column holds what its table says, as SQLite itself takes anything for anything."""
    for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        for _, column, kind, *_ in database.execute(f'PRAGMA table_info("{table}")').fetchall():
            query = f'SELECT COUNT(*) FROM "{table}" WHERE typeof("{column}") NOT IN {_STORED.get(kind, ("",))}'
            if kind in _STORED and (count := one_value(database, query)):
                raise _damaged(path, f"{count:,} values of {column} in {table} are not {kind.lower()}")
    if not has_table(database, "jobs"):  # a new file
        return
    pairs = "SELECT DISTINCT series, detector FROM"
    for series, detector in database.execute(f"{pairs} events EXCEPT {pairs} results LIMIT 1"):
        raise _damaged(path, f"events of {series} and {detector} without results")


def _bring_up_to_date(database: sqlite3.Connection) -> None:
    """Make the tables, or bring those of an earlier version to the present form; all of it or nothing."""
    if one_value(database, "PRAGMA user_version") == FORM:
        return
    before = has_table(database, "jobs")
    with database as write:
        write.execute("BEGIN IMMEDIATE")
        if before:
            write.execute("ALTER TABLE jobs ADD COLUMN data TEXT NOT NULL DEFAULT ''")
        for statement in _TABLES.split(";")[:-1]:
            write.execute(statement)
        write.execute("INSERT INTO plan_series SELECT DISTINCT series FROM jobs")
        write.execute(f"PRAGMA user_version = {FORM}")


@contextmanager
def explain_errors(path: Path) -> Iterator[None]:
    """Turn errors of the database into a sentence that names the run."""
    try:
        yield
    except sqlite3.Error as error:
        raise ValueError(f"{path.parent}: its results file cannot be used: {error}") from error


@contextmanager
def _close_on_error(database: sqlite3.Connection) -> Iterator[None]:
    try:
        yield
    except BaseException:
        database.close()
        raise


def _stamp(path: Path) -> tuple[int, int, int]:
    """Return what tells a file from another one, or from itself before it was changed."""
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _open_for_writing(path: Path) -> sqlite3.Connection:
    # Each outcome is a transaction of its own: whoever is killed loses what was not finished, nothing else.
    database = sqlite3.connect(path, timeout=60)
    with _close_on_error(database):
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")
    return database


def _open_for_reading(path: Path) -> sqlite3.Connection:
    """Open a file so that nothing is written; on read-only media, without what may lie beside it."""
    place = path.resolve().as_posix()
    uri = f"file://{'' if place.startswith('/') else '/'}{quote(place)}?mode=ro"
    database = sqlite3.connect(uri, timeout=60, uri=True)
    try:
        with _close_on_error(database):
            database.execute("SELECT COUNT(*) FROM sqlite_master")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            raise
        beside = path.with_name(f"{path.name}-wal")
        if beside.exists() and beside.stat().st_size:
            raise ValueError(
                f"{path}: the run was stopped, and its last results, in {beside.name}, cannot be read where nothing "
                "can be written: copy the folder to another disk"
            ) from None
        database = sqlite3.connect(f"{uri}&immutable=1", uri=True)
    return database
