"""The results of a benchmark run: one SQLite file, which one process writes and any number read."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from dqeval.bench.jobs import DETECT, Job, JobResult, is_other_data
from dqeval.bench.results_file import (
    FILE,
    close_written,
    explain_errors,
    has_table,
    nothing_here,
    one_value,
    open_results,
)
from dqeval.core.near import FALLBACK

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
            raise nothing_here(self.path)
        if create:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        with explain_errors(self.path):
            self._database = open_results(self.path, to_write=create)

    def close(self) -> None:
        """Close the file; what was written is then in one file, without any beside it."""
        if self._writes:
            close_written(self._database)
        else:
            self._database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, kind: object, error: BaseException | None, *_: object) -> None:
        self.close()
        with explain_errors(self.path):
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
        database = self._database
        found = database.execute(f"SELECT {column} FROM {table}").fetchall() if has_table(database, table) else []
        return [name for (name,) in found or database.execute(f"SELECT DISTINCT {column} FROM jobs")]

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

    def metrics(self) -> list[str]:
        """Return the names of the metrics that the rows of the plan are of, and what stands in their place."""
        those = self._those(True)
        query = f"SELECT DISTINCT metric FROM results WHERE {those.sql} ORDER BY metric"
        return [name for (name,) in self._database.execute(query, those.values)]

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
        database, table = self._database, "plan_series"
        known = has_table(database, table) and one_value(database, f"SELECT COUNT(*) FROM {table}")
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


def _insert(table: str, columns: Sequence[str]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"
