"""The results of a benchmark run: one SQLite file, which one process writes and any number read."""

from __future__ import annotations

import csv
import json
import platform
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dqeval.bench.jobs import DETECT, Job, Outcome

FILE = "results.sqlite"
_TABLES = """
CREATE TABLE IF NOT EXISTS jobs (
    id TEXT PRIMARY KEY, status TEXT NOT NULL, series TEXT NOT NULL, detector TEXT NOT NULL, seed INTEGER NOT NULL
) WITHOUT ROWID;
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


@dataclass(frozen=True, slots=True)
class Count:
    """How many jobs there are of each kind."""

    done: int
    failed: int


class Store:
    """The results of a run, in its folder. Only the process that runs the jobs writes.

    A folder holds what was ever run into it; with ``planned``, methods tell of the detectors alone that the plan of the
    last run has.
    """

    def __init__(self, folder: str | Path, *, create: bool = False) -> None:
        self.path = Path(folder) / FILE
        if not create and not self.path.exists():
            raise ValueError(f"{folder}: there is no run here; dqeval bench run PLAN -o {folder} starts one")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        # Each outcome is a transaction of its own: whoever is killed loses what was not finished, nothing else.
        self._database = sqlite3.connect(self.path, timeout=60)
        if create:
            self._database.execute("PRAGMA journal_mode = WAL")
            self._database.execute("PRAGMA synchronous = NORMAL")
            self._database.executescript(_TABLES)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def status(self, job: str) -> str | None:
        """Return "done" or "failed"; None if nothing came of the job yet."""
        found = self._database.execute("SELECT status FROM jobs WHERE id = ?", (job,)).fetchone()
        return None if found is None else str(found[0])

    def plan(self, detectors: Iterable[str]) -> None:
        """Write down the detectors that the run has now, an empty name for those of files of scores."""
        with self._database as write:
            write.execute("DELETE FROM plan")
            write.executemany("INSERT INTO plan VALUES (?)", ((detector,) for detector in set(detectors)))

    def planned(self) -> list[str]:
        """Return the detectors that the plan of the last run has; all there are in a folder that does not say."""
        known = self._database.execute("SELECT 1 FROM sqlite_master WHERE name = 'plan'").fetchone()
        found = self._database.execute("SELECT detector FROM plan").fetchall() if known else []
        return [name for (name,) in found or self._database.execute("SELECT DISTINCT detector FROM jobs")]

    def add(self, job: Job, id: str, outcome: Outcome, versions: str) -> None:
        """Write down what came of a job, in place of what came of it before.

        Rows tell which detector of the plan they are of ("planned"; empty for a file of scores), so that what a file
        no longer holds goes too. The id is that of the job when it began: its file may have been changed since.
        """
        name, label = job.series.source.name, job.detector.label
        rows = [
            (
                *(row.series, row.dataset, row.detector, row.seed, row.metric, row.value, row.seconds, row.status),
                *(row.reason, row.where, row.parameters, versions, label),
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
            write.executemany(f"INSERT INTO results VALUES ({', '.join('?' * 13)})", rows)
            write.executemany(f"INSERT INTO events VALUES ({', '.join('?' * 11)})", events)
            # A job that was changed, by other metrics or data, is done in its new form alone.
            write.execute("DELETE FROM jobs WHERE series = ? AND detector = ? AND seed = ?", before)
            status = "failed" if outcome.failed else "done"
            write.execute("INSERT INTO jobs VALUES (?, ?, ?, ?, ?)", (id, status, *before))

    def forget_failures(self) -> int:
        """Have the jobs that failed done again, and return how many they are."""
        with self._database as write:
            return write.execute("DELETE FROM jobs WHERE status = 'failed'").rowcount

    def count(self, *, planned: bool = False) -> Count:
        """Return how many jobs were done, and how many failed."""
        those, labels = self._those(planned, "detector")
        query = f"SELECT status, COUNT(*) FROM jobs WHERE {those} GROUP BY status"
        found = dict(self._database.execute(query, labels).fetchall())
        return Count(found.get("done", 0), found.get("failed", 0))

    def failures(self, *, planned: bool = False) -> list[dict[str, Any]]:
        """Return the rows that failed."""
        return list(self._rows("status = 'failed'", planned))

    def rows(self, *, planned: bool = False) -> Iterator[dict[str, Any]]:
        """Return every row of the results, in order."""
        return self._rows("TRUE", planned)

    def values(self, *, planned: bool = False) -> Iterator[dict[str, Any]]:
        """Return series, dataset, detector, metric and value of what is ok; over several seeds, the mean."""
        those, labels = self._those(planned)
        return self._select(
            "SELECT series, dataset, detector, metric, AVG(value) AS value FROM results "
            f"WHERE status = 'ok' AND metric <> ? AND {those} "
            "GROUP BY series, detector, metric ORDER BY series, detector, metric",
            *(DETECT, *labels),
        )

    def events(self, *, planned: bool = False) -> Iterator[dict[str, Any]]:
        """Return DQE and its parts of each event; over several seeds, the means."""
        those, labels = self._those(planned)
        means = ", ".join(f"AVG({part}) AS {part}" for part in ("dqe", "capture", "near_miss", "false_alarm"))
        return self._select(
            f"SELECT series, dataset, detector, start, stop, {means} FROM events WHERE {those} "
            "GROUP BY series, detector, start ORDER BY series, start, detector",
            *labels,
        )

    def pairs(self, *, planned: bool = False) -> Iterator[dict[str, Any]]:
        """Return series, dataset and detector of all that was tried, whatever came of it."""
        those, labels = self._those(planned)
        return self._select(f"SELECT DISTINCT series, dataset, detector FROM results WHERE {those}", *labels)

    def seconds(self) -> dict[str, float]:
        """Return the mean time that each detector took a series."""
        rows = self._database.execute(
            "SELECT detector, AVG(seconds) FROM results WHERE metric = ? AND status = 'ok' GROUP BY detector", (DETECT,)
        )
        return dict(rows.fetchall())

    def _rows(self, condition: str, planned: bool) -> Iterator[dict[str, Any]]:
        those, labels = self._those(planned)
        columns, order = ", ".join(COLUMNS), "series, detector, seed, metric"
        return self._select(f"SELECT {columns} FROM results WHERE {condition} AND {those} ORDER BY {order}", *labels)

    def _those(self, planned: bool, column: str = "planned") -> tuple[str, list[str]]:
        """Return the condition for rows of the plan, or of all, and what it is filled with."""
        labels = self.planned() if planned else []
        return (f"{column} IN ({', '.join('?' * len(labels))})" if planned else "TRUE"), labels

    def _select(self, query: str, *values: Any) -> Iterator[dict[str, Any]]:
        rows = self._database.execute(query, values)
        names = [column[0] for column in rows.description]
        return (dict(zip(names, row, strict=True)) for row in rows)

    def take(self, other: Path) -> None:
        """Add the results of another run, such as a shard of this one."""
        with closing(Store(other)) as taken:  # which says if there is none
            planned = taken.planned()
        self._database.execute("ATTACH ? AS other", (str(Path(other) / FILE),))
        with self._database as write:
            for table, detector in (("results", "planned"), ("events", "planned"), ("jobs", "detector")):
                those = "SELECT series, detector, seed FROM other.jobs"
                write.execute(f"DELETE FROM {table} WHERE (series, {detector}, seed) IN ({those})")
                write.execute(f"INSERT INTO {table} SELECT * FROM other.{table}")
            write.executemany("INSERT OR IGNORE INTO plan VALUES (?)", ((detector,) for detector in planned))
        self._database.execute("DETACH other")


def versions() -> str:
    """Return what the results are made with, as JSON."""
    from importlib.metadata import version

    return json.dumps({"dqeval": version("dqeval"), "numpy": np.__version__, "python": platform.python_version()})


def export(folder: str | Path, path: str | Path) -> int:
    """Write all results as CSV or Parquet, and return how many rows there are."""
    path = Path(path)
    with Store(folder) as store:
        if path.suffix.lower() == ".parquet":
            return _to_parquet(list(store.rows()), path)
        with path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            count = 0
            for row in store.rows():
                writer.writerow(row)
                count += 1
            return count


def _to_parquet(rows: Sequence[dict[str, Any]], path: Path) -> int:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ValueError("Parquet files need pyarrow: pip install 'dqeval[files]'") from None
    table = pyarrow.table({name: [row[name] for row in rows] for name in COLUMNS})
    parquet.write_table(table, path)
    return len(rows)
