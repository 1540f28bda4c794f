"""A ranking of detectors, to be shown: means, intervals, significance, agreement of the metrics."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from dqeval.analysis.score_result import about_means
from dqeval.bench.statistics import LEVEL, Significance, Standing, significance_of
from dqeval.core.near import FALLBACK_PERIOD
from dqeval.core.registry import label_of
from dqeval.core.types import FloatArray
from dqeval.render.tables import Page, Table, best_of, count_of, in_words, percent
from dqeval.support.frames import Framed, columns_of_records

ABOUT_BOUNDS = "Bounds are not ranked: perfect has the labels as scores, and silent the same score at every point."


@dataclass(frozen=True, slots=True)
class Ranking(Framed):
    """The detectors of a run, compared over its series.

    ``to_frame()`` has a row per detector and metric.

    Attributes
    ----------
    by : "series" or "event"
        What counts once in the means.
    detectors : tuple of str
        The best by the first metric first.
    standings : dict of str to Standing
        By metric.
    n : int
        Over how many series, or events, the means are taken: those for which every detector has a value.
    n_left_out : int
    significance : Significance
        By the first metric, of the means per series.
    agreement : array of float, shape (n_metrics, n_metrics)
        Kendall's tau between the orders that two metrics give the detectors: the mean over the series.
    metrics_left_out : dict of str to tuple of str
        Metrics of which some detectors have no value at all, and these detectors.
    without_value, not_planned : tuple of str
        Detectors that are not ranked: those without any value, and those that the last plan no longer had.
    n_not_planned : int
        How many series are not counted because the last plan no longer had them.
    n_fallback : int
        For how many series no period was found, so that their near range is a fallback.
    bounds : dict of str to dict of str to float
        The means of the perfect and the silent detector by metric, over the same series or events, if the plan has
        bounds; NaN where a metric has no value for one of these.
    per_series : array of float, shape (n_series, n_detectors, n_metrics)
        The means per series, which are compared with each other.
    """

    by: Literal["series", "event"]
    detectors: tuple[str, ...]
    standings: dict[str, Standing]
    n: int
    n_left_out: int
    significance: Significance
    agreement: FloatArray
    metrics_left_out: dict[str, tuple[str, ...]] = field(default_factory=dict)
    without_value: tuple[str, ...] = ()
    not_planned: tuple[str, ...] = ()
    n_not_planned: int = 0
    n_fallback: int = 0
    bounds: dict[str, dict[str, float]] = field(default_factory=dict)
    per_series: FloatArray = field(default_factory=lambda: np.empty((0, 0, 0)), repr=False)

    def page(self) -> Page:
        """Return the ranking as tables."""
        parts: list[str | Table] = [f"{self.over()} Higher is better, by every metric.", *self.left_out()]
        parts.append(self.table())
        if self.bounds:
            parts += [self.bounds_table(), ABOUT_BOUNDS]
        parts.append(self.sentence())
        if len(self.standings) > 1 and len(self.detectors) > 1:
            parts += ["How far metrics agree about the order of the detectors (Kendall's tau):", self.agreement_table()]
        return Page(parts)

    def over(self) -> str:
        """Say what the means are taken over."""
        count = f"{self.n:,} series" if self.by == "series" else count_of(self.n, self.by)
        left = f"; {self.n_left_out:,} left out, for which not every detector has a value" if self.n_left_out else ""
        return f"Means over {count}{left}."

    def left_out(self) -> list[str]:
        """Say what is left out, and why, where near ranges are a fallback, and what a mean is not."""
        sentences = [
            f"Left out: {label_of(metric)}, which has no value for {in_words(lacking, most=len(lacking))}."
            for metric, lacking in self.metrics_left_out.items()
        ]
        if self.without_value:
            sentences.append(
                f"Without any value, and so not ranked: {in_words(self.without_value, most=len(self.without_value))}."
            )
        if self.not_planned:
            sentences.append(
                f"No longer in the plan, and so not ranked: {in_words(self.not_planned, most=len(self.not_planned))}."
            )
        if self.n_not_planned:
            sentences.append(f"No longer in the plan, and so not counted: {self.n_not_planned:,} series.")
        if self.n_fallback:
            what = (
                f"No period was found in {self.n_fallback:,} series: near {FALLBACK_PERIOD / 2:g} is a fallback there"
            )
            sentences.append(f"{what}. Give near or period in the plan to choose another.")
        return [*sentences, *about_means(self.standings)]

    def table(self) -> Table:
        """Return means with their ranks; of the first metric the interval, what seeds change, and the average rank."""
        first = next(iter(self.standings.values()))
        label = label_of(first.metric)
        seeded = bool(np.isfinite(first.seed_deviation).any())
        more = [f"{label}, 95 % interval", *([f"{label}, ± by seed"] if seeded else []), f"{label}, average rank"]
        header = ("detector", *map(label_of, self.standings), *more)
        rows = []
        marked = set()
        for i, detector in enumerate(self.detectors):
            cells = [f"{s.mean[i]:.3f} ({s.rank[i]:g})" for s in self.standings.values()]
            marked |= {(i, j) for j, s in enumerate(self.standings.values(), start=1) if i in best_of(s.mean.tolist())}
            by_seed = [_or_nothing(first.seed_deviation[i])] if seeded else []
            rows.append((detector, *cells, str(first.intervals[i]), *by_seed, f"{first.average_rank[i]:.2f}"))
        notes = ["in round brackets: the rank of the mean"]
        if seeded:
            notes.append("± by seed: the standard deviation of the mean from seed to seed")
        return Table(header, rows, note="; ".join(notes), marked=marked)

    def bounds_table(self) -> Table:
        """Return the means of the perfect and the silent detector."""
        rows = [
            (name, *("undefined" if np.isnan(means[metric]) else f"{means[metric]:.3f}" for metric in self.standings))
            for name, means in self.bounds.items()
        ]
        return Table(("bound", *map(label_of, self.standings)), rows)

    def significance_by(self, metric: str) -> Significance:
        """Return which differences by any of the metrics are more than chance."""
        values = self.per_series[:, :, list(self.standings).index(metric)]
        return significance_of(self.detectors, values, self.standings[metric].average_rank)

    def sentence(self) -> str:
        """Say which differences by the first metric are more than chance."""
        return self.sentence_on(next(iter(self.standings)), self.significance)

    def sentence_on(self, metric: str, found: Significance) -> str:
        """Say which differences by a metric are more than chance."""
        if len(self.detectors) == 1:
            return f"{self.detectors[0]} is the only detector."
        label = label_of(metric)
        count = len(self.detectors) * (len(self.detectors) - 1) // 2
        wilcoxon = f"Wilcoxon{' on the means per series' if self.by == 'event' else ''}"
        test = f"{percent(LEVEL)} level, {wilcoxon}, Holm over {count_of(count, 'pair')}"
        alike = [group for group in found.groups if len(group) > 1]
        names = "; ".join(", ".join(group) for group in alike)
        pairs = (
            f"Not told apart by {label} ({test}): {names}."
            if alike
            else (f"All pairs are told apart by {label} ({test}).")
        )
        if found.cannot_differ(len(self.per_series)):
            pairs += f" {len(self.per_series)} series are too few for this test to tell any two of them apart."
        if np.isnan(found.friedman):
            return pairs
        return f"Friedman's test that all are alike by {label}: p = {found.friedman:.2g}. {pairs}"

    def agreement_table(self) -> Table:
        """Return Kendall's tau for each pair of metrics."""
        labels = [label_of(metric) for metric in self.standings]
        taus = np.round(self.agreement, 2) + 0.0  # which has no −0
        rows = [(label, *(f"{x:.2f}" for x in row)) for label, row in zip(labels, taus.tolist(), strict=True)]
        return Table(("", *labels), rows)

    def _columns(self) -> dict[str, Any]:
        return columns_of_records(self.records())

    def records(self) -> list[dict[str, Any]]:
        """Return one row per detector and metric."""
        return [
            {
                "detector": detector,
                "metric": metric,
                "mean": float(s.mean[i]),
                "low": s.intervals[i].low,
                "high": s.intervals[i].high,
                "seed_deviation": float(s.seed_deviation[i]),
                "rank": float(s.rank[i]),
                "average_rank": float(s.average_rank[i]),
            }
            for metric, s in self.standings.items()
            for i, detector in enumerate(self.detectors)
        ]

    def numbers(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {
            "by": self.by,
            "n": self.n,
            "n_left_out": self.n_left_out,
            "metrics_left_out": {metric: list(lacking) for metric, lacking in self.metrics_left_out.items()},
            "without_value": list(self.without_value),
            "not_planned": list(self.not_planned),
            "n_not_planned": self.n_not_planned,
            "n_fallback": self.n_fallback,
            "standings": self.records(),
            "friedman": self.significance.friedman,
            "pairs": [{"pair": list(pair), "p": p} for pair, p in self.significance.pairs.items()],
            "groups": [list(group) for group in self.significance.groups],
            "metrics": list(self.standings),
            "agreement": self.agreement.tolist(),
            "bounds": self.bounds,
        }

    def __str__(self) -> str:
        return self.page().text()


def _or_nothing(number: float) -> str:
    return "" if np.isnan(number) else f"{number:.3f}"
