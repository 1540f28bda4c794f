"""How much metrics vary when something is changed: means over series and detectors, intervals, tables, a drawing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from dqeval.core.confidence import Interval, mean_intervals
from dqeval.core.registry import label_of
from dqeval.core.types import FloatArray
from dqeval.experiments.outcome import PAPER_METRICS, Cell, metric_header
from dqeval.experiments.resamples import COUNT, Resamples
from dqeval.lab.variation import spread_between
from dqeval.render.drawing import INK, draw_deviations
from dqeval.render.tables import Table, best_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Spreads = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class SeriesSpreads:
    """How much each metric varies with each kind of change, for one detector on a series.

    Attributes
    ----------
    series : str
    spreads : mapping of str to mapping of str to list of float
        By kind and metric: one deviation, or one for each stream of random numbers.
    detector : str
    seed : int
        Of the detector.
    values : mapping of str to float
        What the metrics say of the scores as they are.
    """

    series: str
    spreads: Mapping[str, Mapping[str, Sequence[float]]]
    detector: str = ""
    seed: int = 0
    values: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Varied:
    """How much metrics vary over a group of series.

    Attributes
    ----------
    found : sequence of SeriesSpreads
    kinds : mapping of str to str
        The kinds of change, and what tables call them.
    """

    found: Sequence[SeriesSpreads]
    kinds: Mapping[str, str]

    @cached_property
    def means(self) -> dict[str, dict[str, float]]:
        """The mean deviation by kind and metric: over seeds and streams, then over series and detectors."""
        return {kind: {m: self._mean(self._by_repeat[kind][m]) for m in PAPER_METRICS} for kind in self.kinds}

    @staticmethod
    def _mean(values: FloatArray) -> float:
        return float(np.mean(values)) if values.size else float("nan")

    @cached_property
    def _pairs(self) -> dict[tuple[str, str], list[SeriesSpreads]]:
        """What there is of each series and detector: an entry for each seed."""
        found: dict[tuple[str, str], list[SeriesSpreads]] = {}
        for each in self.found:
            found.setdefault((each.series, each.detector), []).append(each)
        return found

    @cached_property
    def _repeats(self) -> dict[str, int]:
        """How often each kind of change was made: with so many seeds and streams, for the detector with most."""
        counts = dict.fromkeys(self.kinds, 1)
        for seeds in self._pairs.values():
            for kind in self.kinds:
                made = sum(len(each.spreads[kind][PAPER_METRICS[0]]) for each in seeds if kind in each.spreads)
                counts[kind] = max(counts[kind], made)
        return counts

    @cached_property
    def _by_repeat(self) -> dict[str, dict[str, FloatArray]]:
        """The deviations by kind and metric: series and detectors × repeats. What has fewer is repeated in turn."""
        return {kind: {m: self._table_of(kind, m)[1] for m in PAPER_METRICS} for kind in self.kinds}

    def _table_of(self, kind: str, metric: str, among: Collection[str] | None = None) -> tuple[list[str], FloatArray]:
        """Return the series of each row, and the rows: those in which the metric is defined."""
        names, rows, repeats = [], [], self._repeats[kind]
        for (series, _), seeds in self._pairs.items():
            values = [x for each in seeds if kind in each.spreads for x in each.spreads[kind][metric]]
            if values and np.isfinite(values).all() and (among is None or series in among):
                names.append(series)
                rows.append(np.resize(values, repeats))
        return names, np.array(rows).reshape(len(rows), repeats)

    @cached_property
    def deviations(self) -> dict[str, dict[str, float]]:
        """The standard deviation of the mean from one repeat, a seed and a stream, to the next; NaN without repeats."""
        return {
            kind: {m: _deviation(values) for m, values in by_metric.items()}
            for kind, by_metric in self._by_repeat.items()
        }

    @cached_property
    def intervals(self) -> dict[str, dict[str, Interval]]:
        """Intervals of the means, from whole series drawn again: the detectors of one series are alike."""
        return {kind: {m: self._interval(kind, m) for m in PAPER_METRICS} for kind in self.kinds}

    def _interval(self, kind: str, metric: str) -> Interval:
        names, rows = self._table_of(kind, metric)
        values = rows.mean(axis=1)
        _, series = np.unique(names, return_inverse=True)
        return mean_intervals(values[:, None], groups=series, unit="series", most=np.inf)[0]

    @cached_property
    def between(self) -> dict[str, float]:
        """The standard deviation between the detectors of a series, by metric: the mean over series with several."""
        return {metric: self._mean(rows) for metric, (_, rows) in self._between.items()}

    @cached_property
    def _between(self) -> dict[str, tuple[list[str], FloatArray]]:
        """The same of each series, by metric: their names, and a row for each."""
        by_series: dict[str, dict[str, list[list[float]]]] = {}
        for each in self.found:
            if each.values:
                values = [each.values[metric] for metric in PAPER_METRICS]
                by_series.setdefault(each.series, {}).setdefault(each.detector, []).append(values)
        spreads = {
            name: spread_between(np.array([np.mean(seeds, axis=0) for seeds in detectors.values()]))
            for name, detectors in by_series.items()
            if len(detectors) > 1
        }
        known = {
            m: [name for name, each in spreads.items() if np.isfinite(each[j])] for j, m in enumerate(PAPER_METRICS)
        }
        return {
            metric: (names, np.array([spreads[name][j] for name in names]).reshape(-1, 1))
            for j, (metric, names) in enumerate(known.items())
        }

    @cached_property
    def relative(self) -> dict[str, dict[str, float]]:
        """The mean deviations as shares of the spread between detectors; NaN where there is none."""
        return {kind: _shares(spreads, self.between) for kind, spreads in self.means.items()}

    @property
    def defined(self) -> bool:
        """Whether every metric has a mean."""
        return all(np.isfinite(list(spreads.values())).all() for spreads in self.means.values())

    @cached_property
    def resamples(self) -> Resamples:
        """The series, drawn again."""
        return Resamples(len({each.series for each in self.found}))

    def resampled(self, kind: str, among: Collection[str] | None = None) -> Iterator[dict[str, float]]:
        """Yield the means of each metric for a kind of change, in each resample of series, seeds and streams.

        With ``among``, the means are over those series alone which are among these; NaN where a resample has none.
        """
        return self._drawn({metric: self._table_of(kind, metric, among) for metric in PAPER_METRICS})

    def resampled_relative(self, kind: str) -> Iterator[dict[str, float]]:
        """Yield the same as shares of the spread between detectors, which is that of the same resample."""
        return map(_shares, self.resampled(kind), self._drawn(self._between))

    def _drawn(self, tables: Mapping[str, tuple[list[str], FloatArray]]) -> Iterator[dict[str, float]]:
        """Yield the means of each metric in each resample, from the series of its rows, and the rows."""
        order = {name: i for i, name in enumerate(dict.fromkeys(each.series for each in self.found))}
        drawn = {}
        for metric, (names, rows) in tables.items():
            sums, sizes = np.zeros((len(order), rows.shape[1])), np.zeros(len(order))
            place = [order[name] for name in names]
            np.add.at(sums, place, rows)
            np.add.at(sizes, place, 1)
            drawn[metric] = self.resamples.means(sums, sizes)
        for i in range(COUNT):
            yield {metric: float(values[i]) for metric, values in drawn.items()}

    def cells(self, experiment: str, table: str) -> Iterator[Cell]:
        """Yield the means, and the same relative to the spread between detectors."""
        for kind in self.kinds:
            for metric in PAPER_METRICS:
                deviation = self.deviations[kind][metric]
                known = None if np.isnan(deviation) else deviation
                yield Cell(experiment, table, kind, metric, self.means[kind][metric], deviation=known)
        for kind in self.kinds:
            for metric in PAPER_METRICS:
                yield Cell(experiment, f"{table}, relative", kind, metric, self.relative[kind][metric])

    def table(self) -> Table:
        """Return the means, and what seeds and streams change in them."""
        rows: list[tuple[str, ...]] = []
        least: set[tuple[int, int]] = set()
        for kind, name in self.kinds.items():
            spreads, by_seed = self.means[kind], self.deviations[kind]
            least |= {(len(rows), 1 + j) for j in best_of([-spreads[m] for m in PAPER_METRICS])}
            rows.append((name, *(f"{spreads[metric]:.3f}" for metric in PAPER_METRICS)))
            if np.isfinite(list(by_seed.values())).all():
                rows.append((f"{name}, ± by seed", *(f"{by_seed[metric]:.4f}" for metric in PAPER_METRICS)))
        note = "the least of each row stands out"
        if len(rows) > len(self.kinds):
            note += "; ± by seed: standard deviation of the mean from seed to seed, of detectors and of noise, if any"
        return Table(metric_header(PAPER_METRICS, "varied"), rows, note=note, marked=least)

    def interval_table(self) -> Table:
        """Return the intervals of the means."""
        rows = [(label_of(m), *(str(self.intervals[kind][m]) for kind in self.kinds)) for m in PAPER_METRICS]
        note = "95 % intervals of the means above: how much they may owe to which series there were"
        return Table(("metric", *self.kinds.values()), rows, note=note)

    def relative_table(self) -> Table:
        """Return the means as shares of the spread between detectors: a metric may be calm because it is flat."""
        rows: list[tuple[str, ...]] = [("between detectors", *(f"{self.between[m]:.3f}" for m in PAPER_METRICS))]
        least: set[tuple[int, int]] = set()
        for kind, name in self.kinds.items():
            shares = [self.relative[kind][metric] for metric in PAPER_METRICS]
            least |= {(len(rows), 1 + j) for j in best_of([-share for share in shares])}
            rows.append((f"{name}, as a share", *(f"{share:.2f}" for share in shares)))
        note = (
            "the first row is the standard deviation between the detectors of a series, of their means over the seeds; "
            "below, that under change by it"
        )
        return Table(metric_header(PAPER_METRICS, "varied"), rows, note=note, marked=least)


def _shares(spreads: Spreads, between: Spreads) -> dict[str, float]:
    """Return how much metrics vary, as shares of the spread between detectors; NaN where there is none."""
    return {m: spread / between[m] if between[m] > 0 else float("nan") for m, spread in spreads.items()}


def _deviation(values: FloatArray) -> float:
    """Return the standard deviation of the means of the repeats of some values, a row for each series and detector."""
    rows, repeats = values.shape
    return float(np.std(values.mean(axis=0), ddof=1)) if rows and repeats > 1 else float("nan")


def ascending(spreads: Spreads, among: Sequence[str] = PAPER_METRICS) -> list[str]:
    """Return metrics by how much they vary, the calmest first."""
    return sorted(among, key=lambda metric: (np.isnan(spreads[metric]), spreads[metric]))


def spreads_in_words(spreads: Spreads, among: Sequence[str] = PAPER_METRICS) -> str:
    """Return how much metrics vary, the calmest first."""
    return ", ".join(f"{label_of(metric)} {spreads[metric]:.3f}" for metric in ascending(spreads, among))


def draw(groups: Mapping[str, Varied], what: str = "mean standard deviation") -> Figure:
    """Draw the means as bars with their intervals: a row per group, a column per kind."""
    from matplotlib.figure import Figure

    first = next(iter(groups.values()))
    figure = Figure(figsize=(2.5 * len(first.kinds), 2.6 * len(groups) + 0.3), layout="constrained")
    axes = figure.subplots(len(groups), len(first.kinds), squeeze=False)
    labels = {metric: label_of(metric) for metric in PAPER_METRICS}
    for row, (group, varied) in zip(axes, groups.items(), strict=True):
        for ax, (kind, name) in zip(row, varied.kinds.items(), strict=True):
            draw_deviations(
                ax,
                {label: varied.means[kind][metric] for metric, label in labels.items()},
                {label: varied.intervals[kind][metric] for metric, label in labels.items()},
                accent=labels["dqe"],
            )
            ax.set_xlabel(what, color=INK)
            ax.set_title(f"{group}: {name}", fontsize=8)
    return figure
