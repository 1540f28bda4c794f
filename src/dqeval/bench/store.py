"""The results of a benchmark run: one SQLite file, which one process writes and any number read."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dqeval.bench.jobs import DETECT, Job, JobResult, is_other_data
from dqeval.core.near import FALLBACK
from dqeval.render.tables import in_csv
from dqeval.support import extras
from dqeval.support.writing import atomic_write, write_table

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
COLUMNS = (
    "series",
    "dataset",
    "detector",
    "seed",
    "metric",
    "value",
    "seconds",
    "status",
    "reason",
    "traceback",
    "parameters",
    "versions",
)
_RESULTS = (*COLUMNS, "planned")
_EVENTS = (
    *("series", "dataset", "detector", "seed", "start", "stop", "dqe", "capture", "near_miss", "false_alarm"),
    "planned",
)
_JOBS = ("id", "status", "series", "detector", "seed", "data")
_SOUND: dict[Path, tuple[int, int, int]] = {}  # files whose pages this process has checked, as they were then
_TAKEN = {"results": "planned", "events": "planned", "jobs": "detector"}  # and the column of the plan's detector


@dataclass(frozen=True, slots=True)
class Count:
    """How many jobs there are of each kind."""

    done: int
    failed: int


@dataclass(frozen=True, slots=True)
class _Condition:
    """Which rows are meant, in SQL, and what its question marks are filled with."""

    sql: str
    values: tuple[str, ...] = ()


class Store:
    """The results of a run, in its folder. Only the process that runs the jobs writes.

    A folder holds the results of all runs into it; with ``planned``, methods return only the detectors and series that
    the plan of the last run has.

    Parameters
    ----------
    folder : str or Path
    create : bool, default False
        Whether to write, to a file that is created if it does not exist. Otherwise nothing is written at all, so that
        a run on read-only media can be read.
    """

    def __init__(self, folder: str | Path, *, create: bool = False) -> None:
        self.path = Path(folder) / FILE
        self._writes = create
        if not create and not self.path.exists():
            raise ValueError(self._nothing_here())
        if create:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        with _explain_errors(self.path):
            self._database = _open_for_writing(self.path) if create else _open_for_reading(self.path)
            with _close_on_error(self._database):
                self._check()
                if create:
                    self._bring_up_to_date()

    def _nothing_here(self) -> str:
        folder = self.path.parent
        return f"{folder}: there is no run here; dqeval bench run PLAN -o {folder} starts one"

    def _check(self) -> None:
        """Check that this version can read the file, and that no page of it is damaged."""
        self._check_form()
        stamp = _stamp(self.path)
        # Reading every page of a large file takes long, and a command may open it several times.
        if _SOUND.get(self.path) != stamp:
            self._check_pages()
            _SOUND[self.path] = stamp

    def _check_form(self) -> None:
        form = self._one("PRAGMA user_version")
        if form > FORM:
            raise ValueError(
                f"{self.path}: a newer dqeval wrote this (format {form}; this one reads {FORM}): install that version"
            )
        if not self._writes and not self._has("jobs"):
            raise ValueError(self._nothing_here())

    def _check_pages(self) -> None:
        found = self._one("PRAGMA quick_check(1)")
        if found != "ok":
            reason = " ".join(str(found).split())
            raise ValueError(f"{self.path} is damaged ({reason}): restore a copy, or run again in a new folder")

    def _bring_up_to_date(self) -> None:
        """Make the tables, or bring those of an earlier version to the present form; all of it or nothing."""
        if self._one("PRAGMA user_version") == FORM:
            return
        before = self._has("jobs")
        with self._database as write:
            write.execute("BEGIN IMMEDIATE")
            if before:
                write.execute("ALTER TABLE jobs ADD COLUMN data TEXT NOT NULL DEFAULT ''")
            for statement in _TABLES.split(";")[:-1]:
                write.execute(statement)
            write.execute("INSERT INTO plan_series SELECT DISTINCT series FROM jobs")
            write.execute(f"PRAGMA user_version = {FORM}")

    def _one(self, query: str) -> Any:
        return self._database.execute(query).fetchone()[0]

    def _has(self, table: str) -> bool:
        return bool(self._one(f"SELECT COUNT(*) FROM sqlite_master WHERE name = '{table}'"))

    def close(self) -> None:
        """Close the file; what was written is then in one file, without any beside it."""
        if self._writes:
            with suppress(sqlite3.Error):  # somebody is reading, and what lies beside it stays; or it is closed
                self._database.execute("PRAGMA busy_timeout = 1000")
                self._database.execute("PRAGMA journal_mode = DELETE")
        self._database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: object, error: BaseException | None, *_: object) -> None:
        self.close()
        with _explain_errors(self.path):
            if isinstance(error, sqlite3.Error):
                raise error

    def status(self, job: str) -> str | None:
        """Return "done" or "failed"; None if the job has no result yet."""
        found = self._database.execute("SELECT status FROM jobs WHERE id = ?", (job,)).fetchone()
        return None if found is None else str(found[0])

    def plan(self, detectors: Iterable[str], series: Iterable[str]) -> None:
        """Write the detectors, an empty name for those of files of scores, and the series of the plan."""
        with self._database as write:
            write.execute("DELETE FROM plan")
            write.execute("DELETE FROM plan_series")
            self._add_plan(detectors, series)

    def _add_plan(self, detectors: Iterable[str], series: Iterable[str]) -> None:
        self._database.executemany("INSERT OR IGNORE INTO plan VALUES (?)", ((name,) for name in detectors))
        self._database.executemany("INSERT OR IGNORE INTO plan_series VALUES (?)", ((name,) for name in series))

    def planned_detectors(self) -> list[str]:
        """Return the detectors that the plan of the last run has; all there are in a folder that does not say."""
        return self._read_plan("plan", "detector")

    def planned_series(self) -> list[str]:
        """Return the series that the plan of the last run has; all there are in a folder that does not say."""
        return self._read_plan("plan_series", "series")

    def _read_plan(self, table: str, column: str) -> list[str]:
        found = self._database.execute(f"SELECT {column} FROM {table}").fetchall() if self._has(table) else []
        return [name for (name,) in found or self._database.execute(f"SELECT DISTINCT {column} FROM jobs")]

    def add(self, job: Job, id: str, outcome: JobResult) -> None:
        """Write the result of a job, in place of an earlier one.

        Rows tell which detector of the plan they are of ("planned"; empty for a file of scores), so that what a file
        no longer holds goes too. The id is that of the job when it began: its file may have been changed since.
        """
        name, label = job.series.source.name, job.detector.label
        rows = [
            (
                *(row.series, row.dataset, row.detector, row.seed, row.metric, row.value, row.seconds, row.status),
                *(row.reason, row.where, row.parameters, outcome.versions, label),
            )
            for row in outcome.rows
        ]
        events = [
            (name, job.series.dataset, detector, job.seed, *astuple(event), label) for detector, event in outcome.events
        ]
        before = (name, label, job.seed)
        with self._database as write:
            for table in ("results", "events"):
                write.execute(f"DELETE FROM {table} WHERE series = ? AND planned = ? AND seed = ?", before)
            write.executemany(_insert("results", _RESULTS), rows)
            write.executemany(_insert("events", _EVENTS), events)
            # A job that was changed, by other metrics or data, is done in its new form alone.
            write.execute("DELETE FROM jobs WHERE series = ? AND detector = ? AND seed = ?", before)
            status = "failed" if outcome.failed else "done"
            write.execute(_insert("jobs", _JOBS), (id, status, *before, outcome.data))

    def forget_failures(self) -> int:
        """Make failed jobs pending again, and return their number; in a store that writes."""
        with self._database as write:
            return write.execute("DELETE FROM jobs WHERE status = 'failed'").rowcount

    def count(self, *, planned: bool = False) -> Count:
        """Return how many jobs were done, and how many failed."""
        those = self._those(planned, "detector")
        query = f"SELECT status, COUNT(*) FROM jobs WHERE {those.sql} GROUP BY status"
        found = dict(self._database.execute(query, those.values).fetchall())
        return Count(found.get("done", 0), found.get("failed", 0))

    def failures(self, *, planned: bool = False) -> list[dict[str, Any]]:
        """Return the rows that failed."""
        return list(self._rows("status = 'failed'", planned))

    def rows(self, *, planned: bool = False) -> Iterator[dict[str, Any]]:
        """Return every row of the results, in order."""
        return self._rows("TRUE", planned)

    def rows_of(self, series: str) -> Iterator[dict[str, Any]]:
        """Return every row of one series, in order."""
        columns = ", ".join(COLUMNS)
        return self._select(f"SELECT {columns} FROM results WHERE series = ? ORDER BY detector, seed, metric", series)

    def values(self, *, planned: bool = False) -> Iterator[dict[str, Any]]:
        """Return series, dataset, detector, seed, metric and value of what is ok."""
        those = self._those(planned)
        return self._select(
            "SELECT series, dataset, detector, seed, metric, value FROM results "
            f"WHERE status = 'ok' AND metric <> ? AND {those.sql} ORDER BY series, detector, metric, seed",
            *(DETECT, *those.values),
        )

    def events(self, *, planned: bool = False) -> Iterator[dict[str, Any]]:
        """Return DQE and its parts of each event, with each seed."""
        those = self._those(planned)
        return self._select(
            "SELECT series, dataset, detector, seed, start, stop, dqe, capture, near_miss, false_alarm FROM events "
            f"WHERE {those.sql} ORDER BY series, start, detector, seed",
            *those.values,
        )

    def pairs(self) -> Iterator[dict[str, Any]]:
        """Return series, dataset and detector of all that was tried, and whether the plan still has them."""
        detectors, series = self._of_detectors("planned"), self._of_series()
        return self._select(
            f"SELECT DISTINCT series, dataset, detector, {detectors.sql} AS detector_planned, "
            f"{series.sql} AS series_planned FROM results",
            *detectors.values,
        )

    def fallbacks(self) -> Iterator[dict[str, Any]]:
        """Return series and dataset of those planned series that have no period, so that near is a fallback."""
        those = self._those(True)
        return self._select(
            f"SELECT DISTINCT series, dataset FROM results WHERE parameters LIKE ? AND {those.sql}",
            *(f'%"near_from": "{FALLBACK}%', *those.values),
        )

    def seconds(self) -> dict[str, float]:
        """Return the mean time of each detector per series."""
        rows = self._database.execute(
            "SELECT detector, AVG(seconds) FROM results WHERE metric = ? AND status = 'ok' GROUP BY detector", (DETECT,)
        )
        return dict(rows.fetchall())

    def _rows(self, condition: str, planned: bool) -> Iterator[dict[str, Any]]:
        those = self._those(planned)
        columns, order = ", ".join(COLUMNS), "series, detector, seed, metric"
        query = f"SELECT {columns} FROM results WHERE {condition} AND {those.sql} ORDER BY {order}"
        return self._select(query, *those.values)

    def export_rows(self) -> Iterator[tuple[Any, ...]]:
        """Return every row of the results, and whether the plan of the last run has it."""
        those = self._those(True)
        columns, order = ", ".join(COLUMNS), "series, detector, seed, metric"
        return iter(
            self._database.execute(f"SELECT {columns}, {those.sql} FROM results ORDER BY {order}", those.values)
        )

    def _those(self, planned: bool, column: str = "planned") -> _Condition:
        """Return the condition for rows of the plan, or of all."""
        if not planned:
            return _Condition("TRUE")
        detectors, series = self._of_detectors(column), self._of_series()
        return _Condition(f"({detectors.sql} AND {series.sql})", detectors.values)

    def _of_detectors(self, column: str) -> _Condition:
        labels = self.planned_detectors()
        return _Condition(f"({column} IN ({', '.join('?' * len(labels))}))", tuple(labels))

    def _of_series(self) -> _Condition:
        known = self._has("plan_series") and self._one("SELECT COUNT(*) FROM plan_series")
        return _Condition("(series IN (SELECT series FROM plan_series))" if known else "TRUE")

    def _select(self, query: str, *values: Any) -> Iterator[dict[str, Any]]:
        rows = self._database.execute(query, values)
        names = [column[0] for column in rows.description]
        return (dict(zip(names, row, strict=True)) for row in rows)

    def data(self) -> dict[str, set[str]]:
        """Return which data the jobs of the plan had, by series, where that is known: digests."""
        those = self._those(True, "detector")
        found: dict[str, set[str]] = {}
        if "data" in self._columns("jobs"):
            query = f"SELECT DISTINCT series, data FROM jobs WHERE data <> '' AND {those.sql}"
            for series, data in self._database.execute(query, those.values):
                found.setdefault(series, set()).add(data)
        return found

    def made_with(self) -> dict[tuple[str, str, int], str]:
        """Return which version of dqeval made the scores, by series, detector and seed."""
        query = "SELECT series, planned, seed, versions FROM results WHERE metric = ?"
        rows = self._database.execute(query, (DETECT,))
        return {(series, label, seed): json.loads(made).get("dqeval", "") for series, label, seed, made in rows}

    def evaluated(self) -> dict[tuple[str, str, int, str], set[str]]:
        """Return which metrics the jobs that were done have a row of, by series, detector, seed and digest of data."""
        found: dict[tuple[str, str, int, str], set[str]] = {}
        query = (
            "SELECT jobs.series, jobs.detector, jobs.seed, jobs.data, results.metric FROM jobs JOIN results ON "
            "results.series = jobs.series AND results.planned = jobs.detector AND results.seed = jobs.seed "
            "WHERE jobs.status = 'done'"
        )
        for series, detector, seed, data, metric in self._database.execute(query):
            found.setdefault((series, detector, seed, data), set()).add(metric)
        return found

    def take(self, folders: Iterable[str | Path]) -> None:
        """Add the results of other runs, such as shards of this one: of all, or if one does not fit, of none."""
        with ExitStack() as stack:
            others = [stack.enter_context(closing(Store(folder))) for folder in folders]
            with self._database as write:
                write.execute("BEGIN IMMEDIATE")
                for other in others:
                    self._take(other)

    def _take(self, other: Store) -> None:
        replaced = other._database.execute("SELECT series, detector, seed FROM jobs").fetchall()
        for table, detector in _TAKEN.items():
            self._database.executemany(
                f"DELETE FROM {table} WHERE series = ? AND {detector} = ? AND seed = ?", replaced
            )
        _check_same_data(self.data(), other.data(), self.path.parent, other.path.parent)
        for table in _TAKEN:
            # By their names: an earlier version may lack some, or have them in another order.
            columns = [name for name in self._columns(table) if name in other._columns(table)]
            rows = other._database.execute(f"SELECT {', '.join(columns)} FROM {table}")
            self._database.executemany(_insert(table, columns), rows)
        self._add_plan(other.planned_detectors(), other.planned_series())

    def _columns(self, table: str) -> list[str]:
        return [name for _, name, *_ in self._database.execute(f"PRAGMA table_info({table})")]


def check_same_data(folders: Sequence[str | Path]) -> None:
    """Check that series of one name in several runs are the same series."""
    seen: dict[str, tuple[set[str], Path]] = {}
    for folder in map(Path, folders):
        with Store(folder) as store:
            found = store.data()
        for series, data in sorted(found.items()):
            before, first = seen.setdefault(series, (data, folder))
            # In one run, data that has changed shows as jobs that are left.
            if first != folder:
                _check_same_data({series: before}, {series: data}, first, folder)


def _check_same_data(here: Mapping[str, set[str]], there: Mapping[str, set[str]], first: Path, second: Path) -> None:
    for series in sorted(here.keys() & there.keys()):
        if any(is_other_data(one, other) for one in here[series] for other in there[series]):
            raise ValueError(
                f"the series {series} in {first} and that in {second} have different data, and cannot be compared: "
                "rename one of them, or run both with the same data"
            )


@contextmanager
def _explain_errors(path: Path) -> Iterator[None]:
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


def _insert(table: str, columns: Sequence[str]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"


def export(folder: str | Path, path: str | Path) -> int:
    """Write all results as CSV or Parquet, and return how many rows there are.

    The last column, ``planned``, is 1 where the detector and the series are in the plan that was last run, and 0 where
    they are from an earlier one.

    Parameters
    ----------
    folder : str or Path
        The folder of the run.
    path : str or Path
        The file to write: Parquet if it ends with .parquet, and otherwise CSV.

    Returns
    -------
    int
        How many rows were written: one per series, detector, seed and metric, and one for each run of a detector.

    Examples
    --------
    >>> plan = {
    ...     "metrics": ["dqe", "auc_roc"],
    ...     "data": [{"generator": "synthetic", "count": 2, "n": 500, "period": 20, "events": 3}],
    ...     "detector": [{"name": "fft"}, {"name": "sr"}],
    ... }
    >>> state = dqeval.bench.run(plan, "runs/today")
    >>> dqeval.bench.export("runs/today", "all.csv")
    12
    """
    columns = (*COLUMNS, "planned")
    with Store(folder) as store:
        if Path(path).suffix.lower() == ".parquet":
            return _to_parquet(columns, store.export_rows(), path)
        return write_table(path, columns, map(in_csv, store.export_rows()))


def _to_parquet(columns: Sequence[str], rows: Iterable[Sequence[Any]], path: str | Path) -> int:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ValueError(f"Parquet files need pyarrow: {extras.install('files')}") from None
    found = list(rows)
    table = pyarrow.table({name: [row[i] for row in found] for i, name in enumerate(columns)})
    with atomic_write(path) as place:
        parquet.write_table(table, place)
    return len(found)
