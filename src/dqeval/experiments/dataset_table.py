"""What the series are like: points, events, lengths, ratios, and for how many there is a period."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from dqeval.core.events import find_events
from dqeval.core.near import FALLBACK_PERIOD
from dqeval.core.registry import experiment
from dqeval.core.types import FloatArray
from dqeval.datasets.loading import Source
from dqeval.experiments.detector_runs import folder_name, series_by_dataset
from dqeval.experiments.outcome import Cell, Outcome
from dqeval.experiments.setting import Setting
from dqeval.render.tables import Table

NAME = "datasets"


@dataclass(frozen=True, slots=True)
class SeriesFacts:
    """What a series is like.

    Attributes
    ----------
    points, events, anomalous : int
        The last is how many points are labelled.
    lengths, gaps : tuple of int
        Of the events, and of what lies between two of them.
    period : int or None
    no_period : str
        Why there is none.
    """

    points: int
    events: int
    anomalous: int
    lengths: tuple[int, ...]
    gaps: tuple[int, ...]
    period: int | None
    no_period: str


@experiment(name=NAME, label="What the series are like", published="how many series there are")
def datasets(setting: Setting) -> Iterator[Outcome]:
    """Count series, points and events, and tell for how many series the paper's rule finds a period."""
    chosen, notes = series_by_dataset(setting)
    found = {}
    for dataset, series in chosen.items():
        setting.progress(f"datasets: {dataset}")
        found[dataset] = [facts_of(each.source) for each in series]
    yield outcome(found, notes)


def facts_of(source: Source | Any) -> SeriesFacts:
    """Return what a series is like."""
    series = source.read()
    events = list(find_events(np.asarray(series.labels, dtype=np.bool_)))
    return SeriesFacts(
        len(series.labels),
        len(events),
        sum(stop - start for start, stop in events),
        tuple(stop - start for start, stop in events),
        tuple(after[0] - before[1] for before, after in pairwise(events)),
        series.period,
        series.no_period,
    )


def outcome(found: Mapping[str, Sequence[SeriesFacts]], notes: Sequence[str]) -> Outcome:
    """Return the facts as a table, a column per dataset."""
    columns = {dataset: dict(_rows(facts)) for dataset, facts in found.items()}
    rows = [(row, *(column[row][1] for column in columns.values())) for row in next(iter(columns.values()))]
    cells = [
        Cell(NAME, dataset, row, "median" if " " in shown else "number", number)
        for dataset, column in columns.items()
        for row, (number, shown) in column.items()
    ]
    table = Table(("", *columns), rows, note="of several, the median, and in brackets the least and the most")
    return Outcome(folder_name(NAME, found), "What the series are like", {"Datasets": table}, cells, [], list(notes))


def _rows(facts: Sequence[SeriesFacts]) -> Iterator[tuple[str, tuple[float, str]]]:
    """Yield rows with their number, and how it is shown."""
    lengths = [length for each in facts for length in each.lengths]
    gaps = [gap for each in facts for gap in each.gaps]
    periods = [each.period for each in facts if each.period is not None]
    reasons = [each.no_period for each in facts if each.period is None]
    highest = [reason for reason in reasons if "is highest at lag" in reason]
    yield "series", _count(len(facts))
    yield "points", _count(sum(each.points for each in facts))
    yield "points of a series", _middle([each.points for each in facts])
    yield "events", _count(len(lengths))
    yield "events of a series", _middle([each.events for each in facts])
    yield "points of an event", _middle(lengths)
    yield "events of one point", _count(sum(length == 1 for length in lengths))
    yield "points between events", _middle(gaps)
    yield "anomalous points of a series, %", _middle([100 * each.anomalous / each.points for each in facts], "{:.3g}")
    yield "series with a period", _count(len(periods))
    yield "period", _middle(periods)
    yield f"series without: the period is taken as {FALLBACK_PERIOD}", _count(len(reasons))
    yield "of these, with their peak at a lag outside of 6 to 303", _count(len(highest))


def _count(number: int) -> tuple[float, str]:
    return float(number), f"{number:,}"


def _middle(numbers: Sequence[float], form: str = "{:,.0f}") -> tuple[float, str]:
    if not numbers:
        return float("nan"), "none"
    values: FloatArray = np.asarray(numbers, dtype=np.float64)
    median, least, most = (float(each) for each in (np.median(values), values.min(), values.max()))
    return median, f"{form.format(median)} ({form.format(least)} to {form.format(most)})"
