"""The two sides of a diff: what score files, receipts and benchmark runs say of every detector, in one form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from dqeval.analysis.compare import compared_metrics
from dqeval.analysis.panel_result import Evaluation
from dqeval.analysis.receipts import entry_names
from dqeval.analysis.score import score
from dqeval.analysis.score_result import Scoring, dqe_of, named_values
from dqeval.analysis.verify import read_receipt
from dqeval.analysis.walk import Walk
from dqeval.bench.results_file import FILE
from dqeval.bench.store import Store
from dqeval.core.durations import Length
from dqeval.core.event_scores import EventColumns, columns_from
from dqeval.core.prepared import Prepared
from dqeval.core.sampling import NO_CLOCK, Clock
from dqeval.core.types import SCORE_NAMES, Progress, Series
from dqeval.datasets.door import Asked, Data, as_series, entries, prepare
from dqeval.support.writing import note_input

RECEIPT = ".json"
EVERYTHING = Asked()


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredEvents:
    """What a detector gets at each event.

    Attributes
    ----------
    found : EventColumns
        Where the events are, and DQE and its parts.
    place : callable
        Says where an event is, given its number.
    """

    found: EventColumns
    place: Callable[[int], str]

    def __len__(self) -> int:
        return len(self.found)


NO_EVENTS = MeasuredEvents(columns_from(()), str)


@dataclass(frozen=True, slots=True)
class Measured:
    """What is known of a detector on a series.

    Attributes
    ----------
    values : mapping of str to float
        By metric, with the parts of DQE; NaN where one is undefined.
    events : MeasuredEvents
        Empty if nothing is known of them.
    """

    values: Mapping[str, float]
    events: MeasuredEvents = NO_EVENTS


@dataclass(frozen=True, slots=True)
class Side:
    """What one side says.

    Attributes
    ----------
    name : str
        What it is called: the path, or the name of the series.
    series : mapping of str to mapping of str to Measured
        By series, then by detector.
    near : mapping of str to float
        The near range, by series, where it is known.
    warnings : tuple of str
        What may make the numbers wrong.
    errors : tuple of Exception
        What is wrong with series that could not be used.
    points : mapping of str to int
        How long each series is, where that is known.
    """

    name: str
    series: Mapping[str, Mapping[str, Measured]]
    near: Mapping[str, float]
    warnings: tuple[str, ...] = ()
    errors: tuple[Exception, ...] = ()
    points: Mapping[str, int] = field(default_factory=dict)

    @property
    def detectors(self) -> list[str]:
        """The detectors of all series."""
        return list(dict.fromkeys(name for found in self.series.values() for name in found))


@dataclass(frozen=True, slots=True)
class How:
    """How numbers are made from scores: the metrics, the near range or the period, the clock, the part of series."""

    metrics: Sequence[str] | str | None = None
    near: Length | None = None
    period: Length | None = None
    clock: Clock = NO_CLOCK
    part: str = "all"

    @property
    def with_dqe(self) -> list[str]:
        """The names of the metrics, with DQE, by which events are scored."""
        return compared_metrics(self.metrics)

    def prepared(self, series: Series) -> Prepared:
        """Return a series that is checked, and has scores."""
        found = prepare(series, near=self.near, period=self.period, clock=self.clock, part=self.part)
        found.require_scores()
        return found


def side_of(data: Data, how: How, asked: Asked = EVERYTHING, progress: Progress | None = None) -> Side:
    """Return what a file or folder with scores, a receipt, a benchmark run, or a series in memory says.

    Parameters
    ----------
    data : Series, mapping, or path-like
    how : How
        Of scores; receipts and runs hold numbers that were made before.
    asked : Asked
        Which columns of files to read.
    progress : callable, optional
        Called with the number of steps done, and that of all.
    """
    if not isinstance(data, (str, Path)):
        series = as_series(data)
        return _of_scoring(series.name, score([how.prepared(series)], metrics=how.with_dqe, per_event=True))
    path = Path(data)
    if holds_numbers(path):
        note_input(path)
        return _of_run(path) if path.is_dir() else _of_receipt(path)
    found = list(entries([path], asked))
    walk = Walk(found, entry_names(found), how.prepared, progress)
    scoring = score((visit.subject for visit in walk), metrics=how.with_dqe, per_event=True, progress=walk.working)
    return _of_scoring(str(path), scoring, tuple(walk.errors))


def holds_numbers(path: Path) -> bool:
    """Tell whether a path is a benchmark run or a receipt, which hold numbers already."""
    return (path / FILE).exists() or (path.is_file() and path.suffix == RECEIPT)


def _of_scoring(name: str, scoring: Scoring, errors: tuple[Exception, ...] = ()) -> Side:
    series = {
        each.name: {detector: _of_panel(panel) for detector, panel in each.panels.items()} for each in scoring.series
    }
    near = {each.name: each.near.points for each in scoring.series}
    points = {each.name: each.points for each in scoring.series}
    return Side(name, series, near, scoring.warnings, errors, points)


def _of_panel(panel: Evaluation) -> Measured:
    found = dqe_of(panel)
    events = MeasuredEvents(found.event_columns, lambda i: _place(found.per_event[i].record()))
    return Measured(named_values(panel), events)


def _of_receipt(path: Path) -> Side:
    given = read_receipt(path)
    command = given.get("command") if isinstance(given, dict) else None
    if command != "score":
        what = f"a receipt of dqeval {command}" if isinstance(command, str) else "no receipt"
        raise ValueError(f"{path}: this is {what}; write one with dqeval score --per-event --format json")
    try:
        return _of_numbers(str(path), given["results"])
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        raise ValueError(f"{path}: this receipt is not as dqeval score writes it: {error!r}") from None


def _of_numbers(name: str, numbers: Mapping[str, Any]) -> Side:
    """Return a side from what a receipt of ``dqeval score`` has as results."""
    series = {
        each["name"]: {detector: _measured(found) for detector, found in each["detectors"].items()}
        for each in numbers["series"]
    }
    near = {each["name"]: float(each["near"]) for each in numbers["series"]}
    return Side(name, series, near, points={each["name"]: int(each["points"]) for each in numbers["series"]})


def _measured(found: Mapping[str, Any]) -> Measured:
    rows = found.get("per_event", ())
    # Where all events are, though few are shown: what a receipt lacks is told while it is read.
    events = MeasuredEvents(_columns(rows), [_place(row) for row in rows].__getitem__)
    values = {metric: float("nan") if value is None else float(value) for metric, value in found["values"].items()}
    return Measured(values, events)


def _columns(rows: Sequence[Mapping[str, Any]]) -> EventColumns:
    """Return what rows say of events."""
    starts, stops = (np.array([int(row[name]) for row in rows], dtype=np.intp) for name in ("start", "stop"))
    scores = np.array([[float(row[part]) for part in SCORE_NAMES] for row in rows])
    return EventColumns(starts, stops, scores.reshape(-1, len(SCORE_NAMES)))


def _place(event: Mapping[str, Any]) -> str:
    if "start_time" not in event:
        return f"[{event['start']}, {event['stop']})"
    return ", ".join(filter(None, [event["name"], f"{event['start_time']} to {event['stop_time']}"]))


def _of_run(folder: Path) -> Side:
    """Return the means over the seeds of a benchmark run, of the detectors and series that its plan has."""
    with Store(folder) as store:
        values = _means(((row["series"], row["detector"]), row["metric"], row["value"]) for row in _defined(store))
        events = _means(
            ((row["series"], row["detector"], (row["start"], row["stop"])), part, row[part])
            for row in store.events(planned=True)
            for part in SCORE_NAMES
        )
    series: dict[str, dict[str, Measured]] = {}
    at: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for (name, detector, (start, stop)), scores in events.items():
        at.setdefault((name, detector), []).append({"start": start, "stop": stop, **scores})
    for (name, detector), means in values.items():
        series.setdefault(name, {})[detector] = _measured({"values": means, "per_event": at.get((name, detector), ())})
    return Side(str(folder), series, {})


def _defined(store: Store) -> Iterator[dict[str, Any]]:
    return (row for row in store.values(planned=True) if row["value"] is not None)


def _means(rows: Iterable[tuple[Any, str, float]]) -> dict[Any, dict[str, float]]:
    """Return the mean of the values of each key and name, which are those of several seeds."""
    found: dict[Any, dict[str, list[float]]] = {}
    for key, name, value in rows:
        found.setdefault(key, {}).setdefault(name, []).append(value)
    return {key: {name: fmean(values) for name, values in named.items()} for key, named in found.items()}
