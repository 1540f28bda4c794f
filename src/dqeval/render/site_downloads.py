"""The numbers of a site as files to download, as CSV and JSON, which hold all that its rankings follow from."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dqeval.analysis.receipts import jsonable
from dqeval.bench.ranking_result import Ranking
from dqeval.bench.statistics import Significance
from dqeval.core.types import SCORE_NAMES
from dqeval.render.site_folder import digest_of
from dqeval.render.site_numbers import Group, Results
from dqeval.render.tables import in_csv

FOLDER = "downloads"
RANKINGS = f"{FOLDER}/rankings.json"
RESULTS = f"{FOLDER}/results.json"
EVENTS = f"{FOLDER}/events.json"
DOWNLOADS = tuple(f"{FOLDER}/{what}.{kind}" for what in ("rankings", "results", "events") for kind in ("csv", "json"))
RESULT_COLUMNS = ("series", "dataset", "detector", "seed", "metric", "value", "status", "reason", "seconds")
EVENT_COLUMNS = ("series", "dataset", "detector", "seed", "start", "stop", *SCORE_NAMES)

Tests = Mapping[str, Significance]  # by metric


@dataclass(frozen=True, slots=True)
class Download:
    """A file to download: what is in it, in words, and its text."""

    what: str
    text: str

    def record(self) -> dict[str, Any]:
        """Return what the page says of it."""
        content = self.text.encode()
        return {"what": self.what, "bytes": len(content), "digest": digest_of(content)}


def downloads(results: Results, groups: Sequence[Group]) -> dict[str, Download]:
    """Return the files, by path."""
    records = [
        {"dataset": group.dataset or "", "by": group.by, **record}
        for group in groups
        if not isinstance(group.ranking, str)
        for record in group.ranking.records()
    ]
    columns = list(records[0]) if records else ["dataset", "by"]
    return {
        f"{FOLDER}/rankings.csv": Download(
            "every ranking: means, intervals, deviations by seed, ranks",
            csv_text(columns, (record.values() for record in records)),
        ),
        RANKINGS: Download(
            "the same, with the tests and the agreement of metrics", json_text(ranking_documents(groups))
        ),
        f"{FOLDER}/results.csv": Download(
            "every value: a row per series, detector, seed and metric",
            csv_text(RESULT_COLUMNS, _cells(results.rows, RESULT_COLUMNS)),
        ),
        RESULTS: Download(
            "the same as JSON, by column",
            json_text(_columns(results.rows, RESULT_COLUMNS)),
        ),
        f"{FOLDER}/events.csv": Download(
            "DQE and its parts: a row per event, detector and seed",
            csv_text(EVENT_COLUMNS, _cells(results.events, EVENT_COLUMNS)),
        ),
        EVENTS: Download("the same as JSON, by column", json_text(_columns(results.events, EVENT_COLUMNS))),
    }


def ranking_documents(groups: Iterable[Group]) -> list[dict[str, Any]]:
    """Return each ranking as `ranking_document` has it."""
    return [ranking_document(each.dataset, each.by, each.ranking, each.tests) for each in groups]


def ranking_document(dataset: str | None, by: str, ranking: Ranking | str, tests: Tests) -> dict[str, Any]:
    """Return a ranking as ``dqeval bench rank --format json`` has it, and the tests by every metric."""
    found: dict[str, Any] = {"dataset": dataset, "by": by}
    if isinstance(ranking, str):
        return {**found, "reason": ranking}
    by_metric = {
        metric: {
            "friedman": each.friedman,
            "pairs": [{"pair": list(pair), "p": p} for pair, p in each.pairs.items()],
            "groups": [list(names) for names in each.groups],
        }
        for metric, each in tests.items()
    }
    document: dict[str, Any] = jsonable({**found, **ranking.numbers(), "tests": by_metric})
    return document


def csv_text(header: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Return a table as CSV."""
    file = io.StringIO(newline="")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(map(in_csv, rows))
    return file.getvalue()


def json_text(content: Any) -> str:
    """Return strict JSON in one line."""
    return json.dumps(content, allow_nan=False, separators=(",", ":")) + "\n"


def _cells(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> Iterable[list[Any]]:
    return ([row[name] for name in columns] for row in rows)


def _columns(rows: Sequence[Mapping[str, Any]], columns: Sequence[str]) -> dict[str, list[Any]]:
    return {name: [jsonable(row[name]) for row in rows] for name in columns}
