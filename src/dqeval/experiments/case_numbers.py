"""What detectors and metrics make of the series of a case study, in the two forms: as published, and as it is here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dqeval.bench.plan import PlannedSeries
from dqeval.evaluate import evaluate
from dqeval.experiments.detecting import Runs
from dqeval.experiments.outcome import OURS, PAPER_METRICS, PUBLISHED, By
from dqeval.experiments.published import PublishedResult, published_dqe
from dqeval.types import PARTS, DQEResult, EventScores, FloatArray, Scores, Series

FORMS: tuple[By, By] = (PUBLISHED, OURS)
SHOWN = ("dqe", *PARTS)


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
    """

    values: Mapping[str, Mapping[str, float]]
    parts: Mapping[str, Scores]
    scores: Mapping[str, FloatArray]


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


def studied(dataset: str, planned: PlannedSeries, runs: Runs, shown: Sequence[str]) -> Study:
    """Return the numbers of a case from a run; ``shown`` are the detectors that the paper shows."""
    series = planned.source.read()
    assert series.period is not None
    name = series.name
    detectors = tuple(
        each for each in runs.detectors if all(runs.value(name, each, by, "dqe") is not None for by in FORMS)
    )
    forms = {by: _form(planned, series, runs, detectors, by) for by in FORMS}
    ranked = tuple(each for each in detectors if each in shown or not shown)
    return Study(dataset, series, series.period, detectors, ranked, forms)


def order_of(values: Mapping[str, float]) -> tuple[str, ...]:
    """Return names by their values, the highest first; of equals, the first first.

    Examples
    --------
    >>> order_of({"a": 0.5, "b": 0.7, "c": 0.5})
    ('b', 'a', 'c')
    """
    return tuple(sorted(values, key=lambda name: -values[name]))


def event_row(detector: str, number: int) -> str:
    """Return what the row of an event is called; events are counted from 1."""
    return f"{detector}, event {number}"


def scores_of(found: DQEResult | EventScores | Scores) -> Scores:
    """Return DQE and its parts alone."""
    return Scores(found.dqe, found.capture, found.near_miss, found.false_alarm)


def _form(planned: PlannedSeries, series: Series, runs: Runs, detectors: Sequence[str], by: By) -> Form:
    period = series.period
    assert period is not None
    scores = {each: runs.scores(planned, each, by, series) for each in detectors}
    parts: dict[str, Scores] = {}
    values = {}
    for each, of_detector in scores.items():
        if by == PUBLISHED:
            rows = _rows(each, published_dqe(series.labels, of_detector, period=period))
        else:
            rows = _rows(each, evaluate(series.labels, of_detector, period=period))
        parts |= dict(rows)
        values[each] = {metric: _value(runs, series.name, each, by, metric) for metric in PAPER_METRICS}
        values[each]["dqe"] = parts[each].dqe
    return Form(values, parts, scores)


def _rows(detector: str, found: PublishedResult | DQEResult) -> Iterator[tuple[str, Scores]]:
    yield detector, scores_of(found.mean if isinstance(found, PublishedResult) else found)
    for i, event in enumerate(found.per_event, 1):
        yield event_row(detector, i), scores_of(event)


def _value(runs: Runs, series: str, detector: str, by: By, metric: str) -> float:
    found = runs.value(series, detector, by, metric)
    return float("nan") if found is None else found
