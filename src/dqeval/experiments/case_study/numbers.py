"""What detectors and metrics make of the series of a case study, in the two forms: as published, and as it is here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from dqeval.analysis.evaluate import evaluate
from dqeval.analysis.panel import panel
from dqeval.bench.plan import PlannedSeries
from dqeval.core import validate
from dqeval.core.event_scores import EventScores
from dqeval.core.events import find_events
from dqeval.core.near import period_or_fallback
from dqeval.core.partition import partition
from dqeval.core.scaling import min_max
from dqeval.core.types import DQEResult, FloatArray, Numbers, Scores, Series
from dqeval.experiments.detector_runs import DetectorRun, Runs
from dqeval.experiments.outcome import FORMS, HALFWAY, PAPER_METRICS, PUBLISHED, By
from dqeval.experiments.published import PublishedResult, published_dqe
from dqeval.experiments.verdicts import order_of


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """The numbers of a case in one form.

    Attributes
    ----------
    values : mapping of str to mapping of str to float
        By detector and metric.
    parts : mapping of str to Scores
        DQE and its parts by row: "CNN" for the mean of its events, "CNN, event 1" for the first of them.
    scores : mapping of str to array of float
        Of each detector.
    alarms : mapping of str to int
        How many false alarms each detector gives at a threshold halfway: see `false_alarms`.
    """

    values: Mapping[str, Mapping[str, float]]
    parts: Mapping[str, Scores]
    scores: Mapping[str, FloatArray]
    alarms: Mapping[str, int]


@dataclass(frozen=True, slots=True, eq=False)
class Study:
    """A case study.

    Attributes
    ----------
    dataset : str
        "WSD", "UCR" or "generated".
    series : Series
    period : int
    detectors : tuple of str
        Those that have scores in both forms.
    ranked : tuple of str
        Of these, the ones that the paper ranks; all, where it has no such case.
    forms : mapping of str to Form
    """

    dataset: str
    series: Series
    period: int
    detectors: tuple[str, ...]
    ranked: tuple[str, ...]
    forms: Mapping[By, Form]

    def order(self, by: By, metric: str) -> tuple[str, ...]:
        """Return the detectors that the paper ranks, the best by a metric first."""
        return order_of({name: self.forms[by].values[name][metric] for name in self.ranked})


def study_of(
    dataset: str, planned: PlannedSeries, runs: Runs, shown: Sequence[str], period: int | None = None
) -> Study:
    """Return the numbers of a case from a run.

    ``shown`` are the detectors that the paper shows; a ``period`` stands in place of that of the series.
    """
    series = planned.source.read()
    detectors = tuple(each for each in runs.detectors if all(runs.has(runs.first(planned, each, by)) for by in FORMS))
    used = period_or_fallback(series) if period is None else period
    forms = {by: _form(planned, series, runs, detectors, by, used, runs.seeds[0]) for by in FORMS}
    ranked = tuple(each for each in detectors if each in shown or not shown)
    return Study(dataset, series, used, detectors, ranked, forms)


def event_row(detector: str, number: int) -> str:
    """Return what the row of an event is called; events are counted from 1."""
    return f"{detector}, event {number}"


def dqe_and_parts(found: DQEResult | EventScores | Scores) -> Scores:
    """Return DQE and its parts alone."""
    return Scores(found.dqe, found.capture, found.near_miss, found.false_alarm)


def false_alarms(y_true: Numbers, y_score: Numbers, *, period: float) -> int:
    """Return how many separate detections a threshold halfway gives beyond the near ranges of all events.

    Plain counting, which no metric has a part in.

    Examples
    --------
    >>> false_alarms([0, 0, 0, 0, 0, 1, 0, 0], [9, 0, 8, 7, 9, 9, 9, 9], period=2)
    3
    """
    labels = validate.labels(y_true)
    beyond = np.ones(len(labels), dtype=bool)
    for region in partition(labels, near=period / 2).regions:
        beyond[int(region.near_start) : ceil(region.near_stop)] = False
    return len(find_events(beyond & (min_max(np.asarray(y_score, dtype=float)) >= HALFWAY)))


def forms_by_seed(study: Study, planned: PlannedSeries, runs: Runs, by: By) -> dict[int, Form]:
    """Return the numbers of a case in one form, with each seed that no detector failed with."""
    detectors = study.detectors
    whole = [
        seed for seed in runs.seeds if all(runs.has(runs.with_seed(planned, each, by, seed)) for each in detectors)
    ]
    return {seed: _form(planned, study.series, runs, detectors, by, study.period, seed) for seed in whole}


def _form(
    planned: PlannedSeries, series: Series, runs: Runs, detectors: Sequence[str], by: By, period: int, seed: int
) -> Form:
    used = {each: runs.with_seed(planned, each, by, seed) for each in detectors}
    scores = {each: runs.scores(run, series) for each, run in used.items()}
    parts: dict[str, Scores] = {}
    values = {}
    for each, of_detector in scores.items():
        if by == PUBLISHED:
            rows = _rows(each, published_dqe(series.labels, of_detector, period=period))
        else:
            rows = _rows(each, evaluate(series.labels, of_detector, period=period))
        parts |= dict(rows)
        values[each] = _values(runs, used[each], series, of_detector, period)
        values[each]["dqe"] = parts[each].dqe
    alarms = {each: false_alarms(series.labels, of_detector, period=period) for each, of_detector in scores.items()}
    return Form(values, parts, scores, alarms)


def _rows(detector: str, found: PublishedResult | DQEResult) -> Iterator[tuple[str, Scores]]:
    yield detector, dqe_and_parts(found.mean if isinstance(found, PublishedResult) else found)
    for i, event in enumerate(found.per_event, 1):
        yield event_row(detector, i), dqe_and_parts(event)


def _values(runs: Runs, of: DetectorRun, series: Series, scores: FloatArray, period: int) -> dict[str, float]:
    """Return the metrics of the run, or with another period than the run had, computed again."""
    if period == period_or_fallback(series):
        return runs.values(of)
    return dict(panel(series.labels, scores, period=period, metrics=PAPER_METRICS).values)
