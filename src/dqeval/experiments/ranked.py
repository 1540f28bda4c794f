"""How detectors stand on the series of a dataset, in one of the two forms, and how they would stand on other series."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from dqeval.bench.plan import PlannedSeries
from dqeval.bench.ranking import Cube, cube_of, rank_rows
from dqeval.bench.ranking_result import Ranking
from dqeval.core.types import FloatArray
from dqeval.experiments.detector_runs import DetectorRun, Runs, failures_sentence
from dqeval.experiments.outcome import PUBLISHED, By
from dqeval.experiments.resamples import Resamples, filled, sums_by_series

ValueRow = dict[str, Any]
Level = Literal["series", "event"]
LEVELS: tuple[Level, Level] = ("series", "event")


@dataclass(frozen=True)
class Ranked:
    """How the detectors stand on a dataset, in one of the two forms.

    Attributes
    ----------
    by_series, by_event : Ranking
        The first has every metric, the second DQE alone.
    rows : mapping of str to sequence of ValueRow
        What they were made from, by level: a row per series or event, detector, metric and seed.
    """

    by_series: Ranking
    by_event: Ranking
    rows: Mapping[Level, Sequence[ValueRow]]

    def ranking(self, level: Level) -> Ranking:
        """Return the ranking in which each series counts once, or each event."""
        return self.by_series if level == "series" else self.by_event

    def mean(self, detector: str, metric: str, level: Level = "series") -> float:
        """Return the mean of a metric."""
        return self._of(detector, metric, level, "mean")

    def mean_over(self, detector: str, metric: str, series: Collection[str]) -> float:
        """Return the mean of a metric over some of the series."""
        cube = self._cubes["series"]
        chosen = [i for i, unit in enumerate(cube.units) if unit in series and unit in set(self._names)]
        values = cube.values[chosen, cube.detectors.index(detector), cube.metrics.index(metric)]
        return float(values.mean()) if chosen else math.nan

    def deviation(self, detector: str, metric: str, level: Level = "series") -> float:
        """Return the standard deviation of the mean from seed to seed; NaN where there is one seed."""
        return self._of(detector, metric, level, "seed_deviation")

    def _of(self, detector: str, metric: str, level: Level, what: str) -> float:
        ranking = self.ranking(level)
        return float(getattr(ranking.standings[metric], what)[ranking.detectors.index(detector)])

    @cached_property
    def resamples(self) -> Resamples:
        """The series that all detectors have every metric on, drawn again."""
        return Resamples(len(self._names))

    def resampled(self, metric: str, level: Level = "series") -> dict[str, FloatArray]:
        """Return the mean of each detector in each resample of the series, and of its seeds."""
        return {d: self.resamples.means(*of, stream=i) for i, (d, of) in enumerate(self._sums(metric, level))}

    def errors(self, metric: str, level: Level = "series") -> dict[str, FloatArray]:
        """Return the standard error of each of these means, from the series of its resample."""
        return {d: self.resamples.errors(*of, stream=i) for i, (d, of) in enumerate(self._sums(metric, level))}

    def _sums(self, metric: str, level: Level) -> Iterator[tuple[str, tuple[FloatArray, FloatArray]]]:
        """Yield for each detector the sums over the series by seed, and how many values each series has."""
        cube = self._cubes[level]
        known = set(self._names)
        units = [i for i, unit in enumerate(cube.units) if _series_of(unit, level) in known]
        names = [_series_of(cube.units[i], level) for i in units]
        values = cube.by_seed[units][:, :, cube.metrics.index(metric)]
        for place, detector in enumerate(cube.detectors):
            seeds = np.isfinite(values[:, place]).any(axis=0)  # that it ran with
            yield detector, sums_by_series(names, filled(values[:, place, seeds]))

    @cached_property
    def _cubes(self) -> Mapping[Level, Cube]:
        return {level: cube_of(rows) for level, rows in self.rows.items()}

    @cached_property
    def _names(self) -> list[str]:
        cube = self._cubes["series"]
        whole = np.asarray(np.isfinite(cube.values).all(axis=(1, 2)))
        return [unit for unit, kept in zip(cube.units, whole, strict=True) if kept]


def _series_of(unit: Any, level: Level) -> str:
    return str(unit if level == "series" else unit[0])


def ranked_rows(by_series: Sequence[ValueRow], by_event: Sequence[ValueRow]) -> Ranked:
    """Return how detectors stand by the values of series, and by DQE of events."""
    rows: dict[Level, Sequence[ValueRow]] = {"series": by_series, "event": by_event}
    return Ranked(rank_rows(by_series), rank_rows(by_event, by="event"), rows)


def ranked_runs(
    runs: Runs,
    series: Sequence[PlannedSeries],
    by: By,
    as_published: Mapping[DetectorRun, Any],
    *,
    beyond: bool = False,
) -> Ranked:
    """Return how the detectors of a run stand, also those beyond the paper; ``as_published`` has DQE as published."""
    every = list(runs.each_run(by, series=series, beyond=beyond))
    by_event = list(_published_events(every, as_published) if by == PUBLISHED else _events(runs, every))
    by_series = list(_values(runs, every, as_published))
    try:
        return ranked_rows(by_series, by_event)
    except ValueError as error:
        raise ValueError("; ".join(filter(None, [str(error), failures_sentence(runs).rstrip(".")]))) from None


def _values(runs: Runs, every: Iterable[DetectorRun], as_published: Mapping[DetectorRun, Any]) -> Iterator[ValueRow]:
    for each in every:
        for metric in runs.metrics:
            value = runs.value(each, metric)
            if metric == "dqe" and each.by == PUBLISHED:
                value = as_published.get(each, {}).get("dqe")
            if value is not None:
                yield _row(each, each.name, metric, value)


def _events(runs: Runs, every: Iterable[DetectorRun]) -> Iterator[ValueRow]:
    for each in every:
        for event in runs.events(each):
            yield _row(each, (each.name, event.start), "dqe", event.dqe)


def _published_events(every: Iterable[DetectorRun], as_published: Mapping[DetectorRun, Any]) -> Iterator[ValueRow]:
    for each in every:
        for start, value in as_published.get(each, {}).get("events", ()):
            yield _row(each, (each.name, start), "dqe", value)


def _row(of: DetectorRun, unit: Any, metric: str, value: float) -> ValueRow:
    return {"unit": unit, "detector": of.detector, "seed": of.seed, "metric": metric, "value": value}
