"""What every metric says of every detector on one or several series, and the words that other results share with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from dqeval.analysis.evaluate import combine
from dqeval.analysis.findings import Finding, warnings_about
from dqeval.analysis.free_choices import paragraph
from dqeval.analysis.panel_result import Evaluation
from dqeval.analysis.result import Result, Values
from dqeval.core import arguments
from dqeval.core.near import Near
from dqeval.core.types import MEANING, PARTS, SCORE_NAMES, Combined, DQEResult
from dqeval.render.tables import Page, Part, Table, best_of, count_of, in_words


@dataclass(frozen=True, slots=True)
class SeriesScores:
    """The panels of every detector on one series.

    Attributes
    ----------
    name : str
    points, events : int
    near : Near
    panels : dict of str to Evaluation
        By detector.
    findings : tuple of Finding
        What may make the numbers wrong: several series in one, missing points, scores the wrong way round.
    cells : str
        How many cells there are, and how long each is, if the points were put on a clock.
    part : str
        Which part of the series was scored, in words, if it has a training part.
    """

    name: str
    points: int
    events: int
    near: Near
    panels: dict[str, Evaluation]
    findings: tuple[Finding, ...] = ()
    cells: str = ""
    part: str = ""

    @property
    def size(self) -> str:
        """How long the series is, in words."""
        return f"{self.cells or count_of(self.points, 'point')}{self.part and f' ({self.part})'}"


@dataclass(frozen=True, slots=True)
class Scoring(Result):
    """Every detector of one or several series with every metric.

    Attributes
    ----------
    series : tuple of SeriesScores
    left_out : tuple of str
        The series without an anomaly, which are in no mean.
    per_event : bool
        Whether the page, the records and the numbers show every event.
    moves : tuple of str
        Of a single series: which choices that nobody made would move who is ahead by DQE, and how.
    """

    series: tuple[SeriesScores, ...]
    left_out: tuple[str, ...] = ()
    per_event: bool = False
    moves: tuple[str, ...] = ()

    @property
    def detectors(self) -> tuple[str, ...]:
        """The detectors, in the order of the first series."""
        return tuple(self.series[0].panels)

    @property
    def means(self) -> dict[str, dict[str, float]]:
        """The mean over the series of each metric, and of the parts of DQE, by detector; each series counts once."""
        rows = {name: [named_values(scores.panels[name]) for scores in self.series] for name in self.detectors}
        return {
            name: {metric: float(np.mean([values[metric] for values in found])) for metric in found[0]}
            for name, found in rows.items()
        }

    @property
    def combined(self) -> dict[str, Combined]:
        """DQE and its parts over the series and over their events, by detector; empty where DQE was not asked for."""
        if not self._has_dqe:
            return {}
        return {name: combine(dqe_of(scores.panels[name]) for scores in self.series) for name in self.detectors}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What may make the numbers wrong, in sentences."""
        series_of: dict[Finding, list[str]] = {}
        for scores in self.series:
            for finding in scores.findings:
                series_of.setdefault(finding, []).append(scores.name)
        return tuple(
            sentence
            for finding, names in series_of.items()
            for sentence in warnings_about(in_words(names, most=2), [finding])
        )

    @property
    def by_detector(self) -> Values:
        """The means."""
        return self.means

    @property
    def _has_dqe(self) -> bool:
        return "dqe" in self._first

    @property
    def _first(self) -> Evaluation:
        return self.series[0].panels[self.detectors[0]]

    def page(self) -> Page:
        """Return the scores as paragraphs and tables."""
        parts: list[Part] = [self.title, self.metric_table()]
        if len(self.series) > 1:
            parts += [self._mean_event_table()] if self._has_dqe else []
            parts.append(self._series_table())
        if self.per_event:
            parts += [self.event_table(part) for part in SCORE_NAMES]
        notes = list(self._notes())
        return Page(
            [*parts, *(["\n".join(notes)] if notes else []), *paragraph(self.moves, several=len(self.detectors) > 1)]
        )

    def records(self) -> list[dict[str, Any]]:
        """Return one row per series, detector and metric; with ``per_event`` also one per event and part of DQE."""
        return [
            {"series": scores.name, "detector": name, **row}
            for scores in self.series
            for name, found in scores.panels.items()
            for row in (*_metric_rows(found, per_event=self.per_event), *(_event_rows(found) if self.per_event else ()))
        ]

    def numbers(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {
            "series": [self._series_numbers(scores) for scores in self.series],
            "by_series": self.means,
            "by_event": {name: asdict(found.by_event) for name, found in self.combined.items()},
            "left_out": list(self.left_out),
            "moves": list(self.moves),
        }

    def _series_numbers(self, scores: SeriesScores) -> dict[str, Any]:
        return {
            "name": scores.name,
            "points": scores.points,
            "events": scores.events,
            **({"part": scores.part} if scores.part else {}),
            "near": scores.near.points,
            "near_from": scores.near.source,
            "findings": [asdict(finding) for finding in scores.findings],
            "detectors": {name: self._panel_numbers(found) for name, found in scores.panels.items()},
        }

    def _panel_numbers(self, found: Evaluation) -> dict[str, Any]:
        events = {"per_event": [event.record() for event in dqe_of(found).per_event]} if self.per_event else {}
        return {
            "values": named_values(found),
            "best_thresholds": {metric: best.threshold for metric, best in found.best.items()},
            "parameters": found.parameters,
            "failures": found.failures,
            **events,
        }

    @property
    def title(self) -> str:
        """What was scored, in a line."""
        if len(self.series) == 1:
            (only,) = self.series
            return f"{only.name}: {only.size}, {count_of(only.events, 'event')}; {only.near}"
        events = count_of(sum(scores.events for scores in self.series), "event")
        return f"{len(self.series):,} series{_parts_words(self.series)}, {events}; {_near_words(self.series)}"

    def metric_table(self) -> Table:
        """Return the metrics, a row each, side by side; under DQE its three parts. For several series, the means."""
        means = self.means
        rows = []
        for metric, label in self._first.labels.items():
            rows.append((label, metric))
            if metric == "dqe":
                rows += [(f"  {part_label(part)}", part) for part in PARTS]
        first = "metric" if len(self.series) == 1 else "mean over series"
        table = mark_best(
            (first, *self.detectors),
            [(label, *(means[name][metric] for name in self.detectors)) for label, metric in rows],
        )
        return replace(table, whole=True)

    def _mean_event_table(self) -> Table:
        means = {name: asdict(found.by_event) for name, found in self.combined.items()}
        names = {"dqe": "DQE", **{part: f"  {part_label(part)}" for part in PARTS}}
        return mark_best(
            ("mean over events", *means),
            [(label, *(scores[part] for scores in means.values())) for part, label in names.items()],
        )

    def _series_table(self) -> Table:
        metric = "dqe" if self._has_dqe else next(iter(self._first))
        table = mark_best(
            (f"{self._first.labels[metric]} of series", *self.detectors),
            [
                (scores.name, *(scores.panels[detector][metric] for detector in self.detectors))
                for scores in self.series
            ],
        )
        others = len(self._first) - 1
        note = f"--format csv has the other {count_of(others, 'metric')} of each series, too"
        return replace(table, note=note if others else "")

    def event_table(self, part: str) -> Table:
        """Return DQE ("dqe"), or one of its parts, of each event for each detector."""
        rows = []
        for scores in self.series:
            prefix = "" if len(self.series) == 1 else f"{scores.name} "
            for events in zip(*(dqe_of(scores.panels[name]).per_event for name in self.detectors), strict=True):
                place = f"{prefix}{events[0].place}"
                rows.append((place, *(getattr(event, part) for event in events)))
        return mark_best((f"{part_label(part)} of event", *self.detectors), rows)

    def _notes(self) -> Iterator[str]:
        every = [(scores, name, found) for scores in self.series for name, found in scores.panels.items()]
        if self._has_dqe:
            only_detections = all(found.binary for _, _, found in every)
            yield MEANING if only_detections else f"DQE is over {_swept(dqe_of(self._first))}.\n{MEANING}"
        yield from (f"{sentence}." for sentence in self._first.scales)
        if any(found.best for _, _, found in every):
            yield "Metrics of detections are shown at their best threshold."
        if len({found.binary for _, _, found in every}) > 1:
            detections = dict.fromkeys(name for _, name, found in every if found.binary)
            yield f"0/1 detections, so their windows and buffers differ from those of scores: {', '.join(detections)}."
        several = len(self.series) > 1
        if several:
            yield from about_means(self._first)
        yield from failure_notes(
            [(f"{scores.name}, {name}" if several else name, found) for scores, name, found in every]
        )
        if self.left_out:
            yield left_out_sentence(self.left_out)


def failure_notes(panels: Iterable[tuple[str, Evaluation]]) -> Iterator[str]:
    """Say where metrics are undefined, and why; of a metric that is so in several places, only the first."""
    places: dict[str, list[tuple[str, str]]] = {}
    for where, panel in panels:
        for metric, why in panel.failures.items():
            places.setdefault(metric, []).append((where, why))
    for metric, ((where, why), *others) in places.items():
        more = f" and {len(others):,} more" if others else ""
        yield f"{where}{more}, {metric}: {why}."


def about_means(metrics: Iterable[str]) -> Iterator[str]:
    """Yield a note on each metric whose mean over series is not the number that is published for a corpus."""
    if "nab_score" in metrics:
        published = "the score of a corpus, which has one threshold for all series and adds up their raw scores"
        yield f"NAB: a mean over series is not {published}; see dqeval.metrics.nab_parts."


def left_out_sentence(names: Sequence[str]) -> str:
    """Say which series have no anomaly, and so no number."""
    return f"Left out, because no label there is 1: {', '.join(names)}."


def named_values(found: Evaluation) -> dict[str, float]:
    """Return the values by metric, with the parts of DQE by their own names behind it."""
    values = {}
    for metric, value in found.values.items():
        values[metric] = value
        if metric == "dqe":
            values |= {part: getattr(dqe_of(found), part) for part in PARTS}
    return values


def part_label(part: str) -> str:
    """Return what DQE ("dqe"), or one of its parts, is called in tables."""
    return "DQE" if part == "dqe" else part.replace("_", " ")


def dqe_of(found: Evaluation) -> DQEResult:
    """Return the result of DQE, which the caller asked for."""
    assert found.dqe is not None
    return found.dqe


def mark_best(header: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> Table:
    """Return a table of names and numbers in which the highest number of a row stands out, unless all are the same."""
    cells = [(name, *(f"{value:.3f}" for value in values)) for name, *values in rows]
    best = [best_of(values) for _, *values in rows]
    marked = {(i, 1 + j) for i, row in enumerate(best) for j in row if len(row) < len(header) - 1}
    return Table(header, cells, marked=marked)


def _parts_words(series: Sequence[SeriesScores]) -> str:
    """Say of how many series the training part is scored too, or only the test part."""
    parts = [scores.part for scores in series if scores.part]
    if not parts:
        return ""
    what = "the test part" if all(part.startswith("the test part") for part in parts) else "training parts included"
    return f" ({what}{'' if len(parts) == len(series) else f' in {len(parts):,}'})"


def _near_words(series: Sequence[SeriesScores]) -> str:
    ranges = sorted({scores.near.points for scores in series})
    sources = arguments.either(list(dict.fromkeys(scores.near.source for scores in series)))
    spread = f"{ranges[0]:g}" if len(ranges) == 1 else f"{ranges[0]:g} to {ranges[-1]:g}"
    return f"near {spread}, {sources}"


def _swept(result: DQEResult) -> str:
    return "all thresholds" if result.thresholds == "exact" else count_of(result.thresholds, "threshold")


def _metric_rows(found: Evaluation, *, per_event: bool) -> Iterator[dict[str, Any]]:
    for metric, value in named_values(found).items():
        threshold = found.best[metric].threshold if metric in found.best else None
        whole = {"start": None, "stop": None} if per_event else {}
        yield {"metric": metric, **whole, "value": value, "best_threshold": threshold}


def _event_rows(found: Evaluation) -> Iterator[dict[str, Any]]:
    for event in dqe_of(found).per_event:
        for part in SCORE_NAMES:
            value = getattr(event, part)
            places = {key: value for key, value in event.record().items() if key not in SCORE_NAMES}
            yield {"metric": part, **places, "value": value, "best_threshold": None}
