"""The numbers of a benchmark run as its site shows them: rankings, and what is known of each series and detector.

Detectors, metrics and series are named once, in the index; everything else counts them.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dqeval.analysis.diff_result import CAPTURED
from dqeval.bench.bounds import BOUNDS
from dqeval.bench.jobs import DETECT, UNKNOWN
from dqeval.bench.ranking import Cube, cube_of
from dqeval.bench.ranking_result import Ranking
from dqeval.bench.statistics import Significance, Standing
from dqeval.bench.store import Store
from dqeval.core.types import SCORE_NAMES, FloatArray
from dqeval.render.bench_parts import lacking_values, ranking_or_reason, verdict_on, what_lacks
from dqeval.render.tables import printable

Row = Mapping[str, Any]

DIGITS = 6  # of values of single series and events; the downloads have all
MOST_EVENTS = 200  # missed by a detector that its page lists
MOST_REASONS = 500


@dataclass(frozen=True)
class Results:
    """All that a run has stored for the detectors and series of its last plan.

    Attributes
    ----------
    rows : list of dict
        Of every metric, and of every run of a detector.
    events : list of dict
        With DQE and its parts.
    order : sequence of str
        The detectors that are ranked, the best first.
    """

    rows: Sequence[Row]
    events: Sequence[Row]
    order: Sequence[str] = ()

    @classmethod
    def of(cls, store: Store) -> Results:
        """Return the results that are stored."""
        return cls(list(store.rows(planned=True)), list(store.events(planned=True)))

    @cached_property
    def known(self) -> list[Row]:
        """The rows that have a value."""
        rows = (row for row in self.rows if row["status"] == "ok" and row["metric"] != DETECT)
        return [{**row, "unit": row["series"]} for row in rows]

    @property
    def ranked_values(self) -> list[Row]:
        """The rows that have a value, without those of bounds."""
        return [row for row in self.known if row["detector"] not in BOUNDS]

    @cached_property
    def values(self) -> Cube:
        """The values by series, detector and metric."""
        return cube_of(self.known)

    @cached_property
    def datasets(self) -> dict[str, str]:
        """The dataset of each series, also of those without a value, by name."""
        return dict(sorted({row["series"]: row["dataset"] for row in self.rows}.items()))

    @cached_property
    def series(self) -> list[str]:
        """The names of the series."""
        return list(self.datasets)

    @cached_property
    def detectors(self) -> list[str]:
        """The detectors: those that are ranked, those that are not, and the bounds."""
        names = sorted({row["detector"] for row in self.rows} - {*self.order, *BOUNDS, UNKNOWN})
        return [*self.order, *names, *(name for name in BOUNDS if name in self.seeds)]

    @cached_property
    def place_of(self) -> dict[str, int | None]:
        """The places of the detectors; of those in a file that could not be read, nothing is known."""
        return {name: i for i, name in enumerate(self.detectors)} | {UNKNOWN: None}

    @cached_property
    def events_of(self) -> dict[str, EventTable]:
        """DQE of the events of each series."""
        found: dict[str, list[Row]] = defaultdict(list)
        for row in self.events:
            found[row["series"]].append(row)
        return {name: EventTable.of(rows, self.detectors) for name, rows in found.items()}

    @cached_property
    def rows_of(self) -> dict[str, list[Row]]:
        """The rows of each series."""
        found: dict[str, list[Row]] = defaultdict(list)
        for row in self.rows:
            found[row["series"]].append(row)
        return found

    @cached_property
    def seeds(self) -> dict[str, int]:
        """How many seeds each detector has."""
        found = {(row["detector"], row["seed"]) for row in self.rows}
        return Counter(detector for detector, _ in found)

    @cached_property
    def seconds(self) -> dict[str, float]:
        """The mean time of each detector that was run here, per series and seed."""
        return _mean_seconds(self.rows)

    def matrix(self, series: str) -> FloatArray:
        """Return the values of a series with each seed: detectors × metrics × seeds."""
        cube = self.values
        found = np.full((len(self.detectors), *cube.by_seed.shape[2:]), np.nan)
        if series in self._place_of_unit:
            places = [self.detectors.index(name) for name in cube.detectors]
            found[places] = cube.by_seed[self._place_of_unit[series]]
        return found

    @cached_property
    def _place_of_unit(self) -> dict[str, int]:
        return {unit: i for i, unit in enumerate(self.values.units)}


@dataclass(frozen=True, slots=True)
class EventTable:
    """The events of a series: where they are, and DQE and its parts, the means over the seeds.

    ``parts`` is an array of detectors × events × scores.
    """

    places: list[tuple[int, int]]
    parts: FloatArray

    @classmethod
    def of(cls, rows: Iterable[Row], detectors: Sequence[str]) -> EventTable:
        """Return the table of some rows, NaN where a detector has none."""
        rows = list(rows)
        places = sorted({(row["start"], row["stop"]) for row in rows})
        place = {each: i for i, each in enumerate(places)}
        number = {name: i for i, name in enumerate(detectors)}
        sums = np.zeros((len(detectors), len(places), len(SCORE_NAMES)))
        counts = np.zeros((len(detectors), len(places), 1))
        for row in rows:
            at = number[row["detector"]], place[row["start"], row["stop"]]
            sums[at] += [row[name] for name in SCORE_NAMES]
            counts[at] += 1
        return cls(places, np.divide(sums, counts, out=np.full_like(sums, np.nan), where=counts > 0))

    @property
    def captured(self) -> FloatArray:
        """Which detector captures which event; NaN where a detector has no value."""
        capture = self.parts[:, :, SCORE_NAMES.index("capture")]
        return np.where(np.isnan(capture), np.nan, capture >= CAPTURED)


# Rankings ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Group:
    """A ranking of a site.

    Attributes
    ----------
    dataset : str or None
        None for all series.
    by : "series" or "event"
        What counts once.
    ranking : Ranking or str
        Or why there is none.
    tests : dict of str to Significance
        By metric.
    """

    dataset: str | None
    by: str
    ranking: Ranking | str
    tests: Mapping[str, Significance]

    @classmethod
    def of(cls, store: Store, *, by: str, dataset: str | None) -> Group:
        """Return the ranking of some results, with its tests by every metric."""
        ranking = ranking_or_reason(store, by=by, dataset=dataset)
        if isinstance(ranking, str):
            return cls(dataset, by, ranking, {})
        return cls(dataset, by, ranking, {metric: ranking.significance_by(metric) for metric in ranking.standings})

    def numbers(self, detectors: Sequence[str]) -> dict[str, Any]:
        """Return what the page shows of it; detectors are named by their places among all."""
        ranking = self.ranking
        if isinstance(ranking, str):
            return {"trouble": ranking}
        at = {name: detectors.index(name) for name in ranking.detectors}
        return {
            "over": ranking.over(),
            "notes": ranking.left_out(),
            "n": ranking.n,
            "detectors": list(at.values()),
            "metrics": list(ranking.standings),
            "standings": [
                {
                    **_standing_numbers(standing),
                    **_test_numbers(self.tests[metric], at),
                    "verdict": verdict_on(ranking, metric, self.tests[metric]),
                    "tests": ranking.sentence_on(metric, self.tests[metric]),
                    "bounds": [[detectors.index(name), means.get(metric)] for name, means in ranking.bounds.items()],
                }
                for metric, standing in ranking.standings.items()
            ],
            "agreement": ranking.agreement,
        }


def groups_of(store: Store, results: Results) -> list[Group]:
    """Return all rankings of a site."""
    return [Group.of(store, by=by, dataset=name) for name, by in group_keys(results.datasets.values())]


def group_keys(datasets: Iterable[str]) -> list[tuple[str | None, str]]:
    """Return which rankings there are: of all series and of each dataset, if there are several; by series, by event."""
    names = sorted(set(datasets))
    return [(name, by) for name in ([None, *names] if len(names) > 1 else [None]) for by in ("series", "event")]


def _standing_numbers(standing: Standing) -> dict[str, Any]:
    return {
        "mean": standing.mean,
        "low": [each.low for each in standing.intervals],
        "high": [each.high for each in standing.intervals],
        "seeds": standing.seed_deviation,
        "rank": standing.rank,
        "average": standing.average_rank,
    }


def _test_numbers(found: Significance, at: Mapping[str, int]) -> dict[str, Any]:
    return {
        "pairs": [[at[a], at[b], p] for (a, b), p in found.pairs.items()],
        "groups": [[at[name] for name in group] for group in found.groups if len(group) > 1],
    }


# Series, detectors, metrics ------------------------------------------------------------------------------------------


def metric_numbers(results: Results, metric: str) -> list[list[float | None]]:
    """Return the value of each detector on each series by a metric."""
    place = results.values.metrics.index(metric)
    return [short(_mean(results.matrix(name)[:, place])) for name in results.series]


def series_numbers(results: Results, name: str) -> dict[str, Any]:
    """Return all that is known of a series: the values of each detector by each metric, and its events."""
    matrix, rows = results.matrix(name), results.rows_of[name]
    seconds = _mean_seconds(rows)
    found: dict[str, Any] = {
        "values": [short(_mean(each)) for each in matrix],
        "seeds": [short(_deviation(each)) for each in matrix],
        "seconds": short(seconds.get(detector, float("nan")) for detector in results.detectors),
        "lacking": _reasons(rows, results.place_of),
    }
    if table := results.events_of.get(name):
        found["events"] = table.places
        found["parts"] = {part: [short(each[:, k]) for each in table.parts] for k, part in enumerate(SCORE_NAMES)}
    return found


def detector_numbers(results: Results, name: str) -> dict[str, Any]:
    """Return what is known of a detector beside its values: parameters, time, events that it misses, failures."""
    rows = [row for row in results.rows if row["detector"] == name]
    seconds = [row["seconds"] for row in rows if row["metric"] == DETECT and row["status"] == "ok"]
    given = next((row["parameters"] for row in rows if row["metric"] == DETECT), "{}")
    return {
        "parameters": [[key, str(value)] for key, value in json.loads(given).items()],
        "seconds": _times(seconds),
        "lacking": _reasons(rows, results.place_of),
        **_fate_of_events(results, results.detectors.index(name)),
    }


def failure_numbers(results: Results) -> dict[str, Any]:
    """Return what has no value, but for bounds: the most common reasons first, and how often that is so in all."""
    rows = [row for row in results.rows if row["status"] != "ok" and row["detector"] not in BOUNDS]
    lacking = lacking_values(rows)
    first: dict[tuple[str, ...], str] = {}
    for row in rows:
        first.setdefault((row["status"], row["detector"], row["metric"], row["reason"]), row["series"])
    totals = {status: sum(n for key, n in lacking.items() if key[0] == status) for status in ("failed", "undefined")}
    reasons = [
        {
            "status": status,
            "detector": results.place_of[detector],
            "what": what_lacks(metric),
            "times": times,
            "reason": reason,
            "series": results.series.index(first[status, detector, metric, reason]),
        }
        for (status, detector, metric, reason), times in lacking.most_common(MOST_REASONS)
    ]
    return {**totals, "reasons": reasons, "kinds": len(lacking)}


def _fate_of_events(results: Results, detector: int) -> dict[str, Any]:
    """Return how many events a detector captures, nearly misses and misses, and those of the last two kinds."""
    near = SCORE_NAMES.index("near_miss")
    counts = {"captured": 0, "near": 0, "missed": 0}
    lost: list[list[Any]] = []
    ranked = [i for i, name in enumerate(results.detectors) if i != detector and name not in BOUNDS]
    for name, table in results.events_of.items():
        others = table.captured[ranked]
        for i, (start, stop) in enumerate(table.places):
            parts = table.parts[detector, i]
            if np.isnan(parts).any():
                continue
            hit = table.captured[detector, i] == 1
            counts["captured" if hit else "near" if parts[near] >= CAPTURED else "missed"] += 1
            if not hit:
                by = int(np.nansum(others[:, i])), int(np.isfinite(others[:, i]).sum())
                lost.append([results.series.index(name), start, stop, *short(parts), *by])
    # First what most of the others capture: that is where this detector has most to learn.
    lost.sort(key=lambda row: (-row[-2], row[3], row[0], row[1]))
    return {"events": counts, "lost": lost[:MOST_EVENTS]}


def _reasons(rows: Iterable[Row], place_of: Mapping[str, int | None]) -> list[list[Any]]:
    """Return what has no value: detector, what, status, reason, how often."""
    return [
        [place_of[detector], what_lacks(metric), status, reason, times]
        for (status, detector, metric, reason), times in lacking_values(rows).most_common(MOST_REASONS)
    ]


def _mean_seconds(rows: Iterable[Row]) -> dict[str, float]:
    """Return the mean time of each detector over some rows."""
    found: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        if row["metric"] == DETECT and row["status"] == "ok":
            found[row["detector"]].append(row["seconds"])
    return {name: float(np.mean(each)) for name, each in found.items()}


def _times(seconds: Sequence[float]) -> dict[str, float] | None:
    if not seconds:
        return None
    return {
        "runs": len(seconds),
        "mean": float(np.mean(seconds)),
        "median": float(np.median(seconds)),
        "longest": float(np.max(seconds)),
        "total": float(np.sum(seconds)),
    }


def _mean(values: FloatArray) -> FloatArray:
    """Return the means over the seeds, the last axis; NaN where there is no value."""
    known = np.isfinite(values).sum(axis=-1)
    total = np.nansum(values, axis=-1)
    return np.asarray(np.divide(total, known, out=np.full(known.shape, np.nan), where=known > 0))


def _deviation(values: FloatArray) -> FloatArray:
    """Return the standard deviations over the seeds, the last axis; NaN where there are fewer than two."""
    known = np.isfinite(values).sum(axis=-1)
    squares = np.nansum((values - _mean(values)[..., None]) ** 2, axis=-1)
    return np.asarray(np.sqrt(np.divide(squares, known - 1, out=np.full(known.shape, np.nan), where=known > 1)))


def short(values: Iterable[float]) -> list[float | None]:
    """Return numbers as the site has them: in six decimals, None where there is none."""
    return [round(float(value), DIGITS) if np.isfinite(value) else None for value in values]


def shown(value: Any) -> Any:
    """Return what a page may show: texts without characters that a browser acts upon."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Mapping):
        return {key: shown(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [shown(each) for each in value]
    return value
