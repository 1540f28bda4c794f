"""Many series in one DataFrame of pandas or polars: DQE of each, also for the groups of Dask, Ray and Spark."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, fields
from importlib import import_module
from typing import Any, Literal

import numpy as np

from dqeval.analysis.panel import panel_of
from dqeval.analysis.timed_result import TimedResult
from dqeval.core import arguments, validate
from dqeval.core.durations import Length
from dqeval.core.moments import in_zone, moments_of
from dqeval.core.prepared import Prepared
from dqeval.core.sampling import Clock
from dqeval.core.types import DQEResult
from dqeval.core.validate import Undefined
from dqeval.core.zones import zone_of, zone_told
from dqeval.datasets.columns import content_in_memory, with_roles
from dqeval.datasets.door import prepare
from dqeval.datasets.files import NOTHING_NAMED
from dqeval.datasets.grouping import unknown_column
from dqeval.datasets.guard import some_names
from dqeval.support.frames import LIBRARIES, Library, columns_of_items, frame_of, in_frame

_EVENT_TIMES = ("start_time", "stop_time")  # columns of `evaluate_frame_events`, where there are times


@dataclass(frozen=True, slots=True)
class SeriesRow:
    """DQE of one detector on one series: a row of `evaluate_frame`."""

    detector: str
    points: int
    events: int
    near: float
    dqe: float
    capture: float
    near_miss: float
    false_alarm: float


@dataclass(frozen=True, slots=True)
class EventRow:
    """DQE of one detector at one event: a row of `evaluate_frame_events`."""

    detector: str
    event: int
    start: int
    stop: int
    dqe: float
    capture: float
    near_miss: float
    false_alarm: float


def evaluate_frame(
    frame: Any,
    *,
    by: str | Sequence[str] | None = None,
    label: str | None = None,
    value: str | None = None,
    scores: Sequence[str] | None = None,
    times: str | None = None,
    timezone: str | None = None,
    near: Length | None = None,
    period: Length | None = None,
    resolution: Length | None = None,
    max_gap: Length | None = None,
    thresholds: int | Literal["exact"] = 100,
    undefined: Undefined = "raise",
) -> Any:
    """Evaluate every detector on every series of a DataFrame.

    Parameters
    ----------
    frame : pandas.DataFrame or polars.DataFrame
        One row per point. The rows of a series are in time order, unless ``times`` is given.
    by : str or sequence of str, optional
        The columns that name the series of each row. If not given, the frame is one series.
    label, value : str, optional
        The columns of the labels and of the values. If not given, those called label or is_anomaly, and value or Data;
        there may be no values. Capitals do not matter.
    scores : sequence of str, optional
        The columns of the detectors' scores. If not given, every other numeric column, but for timestamps, columns
        without a name, and several columns of values (value_0, value_1, …); a warning names the columns that are left
        out because they hold no numbers.
    times : str, optional
        The column that says when each point is. The rows of each series are sorted by it, and time is counted in cells,
        each of which has the highest score of the samples in it.
    timezone : str, optional
        The time zone of dates without one in ``times``, such as Europe/Berlin. Then all are in universal time.
    near : float, str or timedelta, optional
        How many points before and after an event a detection still is a near miss; 0 for none, "2ev" for twice the
        median length of an event, or with ``times`` a duration such as "10min".
    period : float, str or timedelta, optional
        The period of the series, in points or as a duration; ``near`` is then half of it. With neither, it is estimated
        from the values of each series; ``near`` is 125 if there are none. With times, ``near`` is the median length of
        an event instead.
    resolution : str, timedelta or number, optional
        The length of a cell, such as "1min", or in seconds; the median step of the times by default. DQE depends on it.
    max_gap : int, str or timedelta, default 3
        Over how many cells without a sample, or how long, the one before stands for them. What is missing longer was
        not observed: no region crosses it, and nothing in it is scored.
    thresholds : int or "exact", default 100
        The number M of thresholds 1, 1 - 1/M, ..., 1/M to average over, or "exact" for the integral over all of them.
    undefined : "raise" or "nan", default "raise"
        What to do if a series has no anomaly: raise `UndefinedError`, or have NaN in its rows, with a warning.

    Returns
    -------
    pandas.DataFrame or polars.DataFrame
        A row per series and detector, series in the order in which they come first. The columns are those of ``by``,
        and detector, points, events, near, dqe, capture, near_miss, false_alarm. A frame without rows gives a frame
        without rows that has these columns and their types.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = {"host": ["a"] * 4 + ["b"] * 4, "label": [0, 1, 0, 0] * 2, "mine": [0, 9, 0, 0, 0, 0, 9, 0]}
    >>> found = dqeval.evaluate_frame(pd.DataFrame(rows), by="host", near=2)
    >>> print(found[["host", "detector", "events", "dqe"]].round(3))
      host detector  events   dqe
    0    a     mine       1  1.00
    1    b     mine       1  0.53
    """
    asked = _Asked(label, value, scores, times, timezone, near, period, resolution, max_gap, thresholds, undefined)
    split = _Split(frame, by, _names(SeriesRow))
    groups = split.evaluated(asked)
    return split.table(SeriesRow, groups, [[_series_row(found) for found in group.found] for group in groups])


def evaluate_frame_events(
    frame: Any,
    *,
    by: str | Sequence[str] | None = None,
    label: str | None = None,
    value: str | None = None,
    scores: Sequence[str] | None = None,
    times: str | None = None,
    timezone: str | None = None,
    near: Length | None = None,
    period: Length | None = None,
    resolution: Length | None = None,
    max_gap: Length | None = None,
    thresholds: int | Literal["exact"] = 100,
    undefined: Undefined = "raise",
) -> Any:
    """Evaluate every detector at every event of every series of a DataFrame.

    Parameters
    ----------
    frame : pandas.DataFrame or polars.DataFrame
        One row per point. The rows of a series are in time order, unless ``times`` is given.
    by : str or sequence of str, optional
        The columns that name the series of each row. If not given, the frame is one series.
    label, value : str, optional
        The columns of the labels and of the values. If not given, those called label or is_anomaly, and value or Data;
        there may be no values. Capitals do not matter.
    scores : sequence of str, optional
        The columns of the detectors' scores. If not given, every other numeric column, but for timestamps, columns
        without a name, and several columns of values (value_0, value_1, …); a warning names the columns that are left
        out because they hold no numbers.
    times : str, optional
        The column that says when each point is. The rows of each series are sorted by it, and time is counted in cells,
        each of which has the highest score of the samples in it.
    timezone : str, optional
        The time zone of dates without one in ``times``, such as Europe/Berlin. Then all are in universal time.
    near : float, str or timedelta, optional
        How many points before and after an event a detection still is a near miss; 0 for none, "2ev" for twice the
        median length of an event, or with ``times`` a duration such as "10min".
    period : float, str or timedelta, optional
        The period of the series, in points or as a duration; ``near`` is then half of it. With neither, it is estimated
        from the values of each series; ``near`` is 125 if there are none. With times, ``near`` is the median length of
        an event instead.
    resolution : str, timedelta or number, optional
        The length of a cell, such as "1min", or in seconds; the median step of the times by default. DQE depends on it.
    max_gap : int, str or timedelta, default 3
        Over how many cells without a sample, or how long, the one before stands for them. What is missing longer was
        not observed: no region crosses it, and nothing in it is scored.
    thresholds : int or "exact", default 100
        The number M of thresholds 1, 1 - 1/M, ..., 1/M to average over, or "exact" for the integral over all of them.
    undefined : "raise" or "nan", default "raise"
        What to do if a series has no anomaly: raise `UndefinedError`, or leave it out, with a warning.

    Returns
    -------
    pandas.DataFrame or polars.DataFrame
        A row per series, detector and event, series in the order in which they come first. The columns are those of
        ``by``, and detector, event (counted from 0), start, stop, dqe, capture, near_miss, false_alarm. With ``times``,
        start and stop count cells, and start_time and stop_time follow: dates in the time zone of the times, if they
        have one. A frame without rows gives a frame without rows that has these columns and their types.

    Examples
    --------
    >>> import pandas as pd
    >>> rows = {"host": ["a"] * 4 + ["b"] * 4, "label": [0, 1, 0, 0] * 2, "mine": [0, 9, 0, 0, 0, 0, 9, 0]}
    >>> found = dqeval.evaluate_frame_events(pd.DataFrame(rows), by="host", near=2)
    >>> print(found[["host", "detector", "start", "stop", "dqe"]].round(3))
      host detector  start  stop   dqe
    0    a     mine      1     2  1.00
    1    b     mine      1     2  0.53
    """
    asked = _Asked(label, value, scores, times, timezone, near, period, resolution, max_gap, thresholds, undefined)
    split = _Split(frame, by, [*_names(EventRow), *(() if times is None else _EVENT_TIMES)])
    groups = split.evaluated(asked)
    rows = [[row for found in group.found for row in _event_rows(found)] for group in groups]
    results = [found.result for group in groups for found in group.found]
    return split.table(EventRow, groups, rows, {} if times is None else split.event_times(asked, results))


@dataclass(frozen=True, slots=True)
class _Found:
    """The result of one detector on one series."""

    detector: str
    points: int
    result: DQEResult


@dataclass(frozen=True, slots=True)
class _Asked:
    """What the caller says of the columns of each series, and of its evaluation."""

    label: str | None
    value: str | None
    scores: Sequence[str] | None
    times: str | None
    timezone: str | None
    near: Length | None
    period: Length | None
    resolution: Length | None
    max_gap: Length | None
    thresholds: int | Literal["exact"]
    undefined: Undefined

    def __post_init__(self) -> None:
        if self.timezone is None:
            return
        zone_of(self.timezone)
        if self.times is None:
            raise ValueError("timezone is about dates: give times too")

    def prepare(self, frame: Any, times: Any) -> tuple[Prepared, list[str]]:
        """Return one series, given without the column of its times, and the columns of it that hold no numbers."""
        content, roles = content_in_memory(
            frame, NOTHING_NAMED, label=self.label, value=self.value, scores=self.scores, need_scores=True
        )
        prepared = prepare(
            with_roles(content, roles, name="series"), near=self.near, period=self.period, clock=self._clock(times)
        )
        others = {str(name): np.asarray(frame[name]).dtype.kind for name in frame.columns}
        ignored = [name for name, kind in others.items() if kind != "M" and not NOTHING_NAMED.is_ignored(name)]
        return prepared, [name for name in ignored if name not in content.columns]

    def _clock(self, times: Any) -> Clock:
        """Return the clock of one series; dates without a time zone are those of the one that was given."""
        if self.timezone is None:
            return Clock(times, self.resolution, self.max_gap)
        moments = in_zone(moments_of("times", times), self.timezone, lambda _: "times")
        ticks = moments.ticks if moments.kind == "number" else moments.ticks.view("datetime64[ns]")
        return Clock(ticks, self.resolution, self.max_gap, moments.kind, moments.zone)

    def evaluate(self, prepared: Prepared) -> list[_Found]:
        """Return the results of all detectors on one series."""
        points, near = len(prepared.labelled.labels), prepared.near.points
        panels = {
            name: panel_of(prepared.scored(name), near, metrics=["dqe"], thresholds=self.thresholds)
            for name in prepared.scores
        }
        return [_Found(name, points, found.dqe or _undefined(near)) for name, found in panels.items()]


@dataclass(frozen=True, slots=True)
class _Group:
    """What names a series, as a frame of one row, and the results on it."""

    named: Any
    found: list[_Found]


class _Split:
    """A DataFrame, split into series by its library.

    The result will have the columns that name the series, and others of these names.
    """

    def __init__(self, frame: Any, by: str | Sequence[str] | None, others: Sequence[str]) -> None:
        self._frame, self._library = frame, _library(frame)
        self._keys = [] if by is None else [by] if isinstance(by, str) else validate.names_in("by", by)
        self._check_columns("by", self._keys)
        for key in self._keys:
            if key in others:
                raise ValueError(f"by {key} is what a column of the result is called: rename it")

    def evaluated(self, asked: _Asked) -> list[_Group]:
        """Return the results of each series; errors and warnings say which series they are about."""
        own = [] if asked.times is None else [arguments.text("times", asked.times)]
        self._check_columns("times", own)
        groups: list[_Group] = []
        ignored: dict[str, None] = {}
        for key, group in self._groups():
            times = None
            if asked.times is not None:
                group = self._sorted(group, asked.times)
                times = group[asked.times]
            left = self._without(group, [*self._keys, *own])
            name = ", ".join(f"{column} {value}" for column, value in zip(self._keys, key, strict=True))
            with validate.errors_about(name) if name else nullcontext():
                prepared, without_numbers = asked.prepare(left, times)
            none = f"{name}: {validate.NO_ANOMALY}" if name else validate.NO_ANOMALY
            validate.check_defined(prepared.labelled.events, asked.undefined, none=none)
            with validate.errors_about(name) if name else nullcontext():
                groups.append(_Group(group[self._keys].head(1), asked.evaluate(prepared)))
            ignored |= dict.fromkeys(without_numbers)
        if ignored and asked.scores is None:
            _warn_of_columns(ignored, groups)
        return groups

    def table(
        self, kind: type, groups: Sequence[_Group], rows: Sequence[Sequence[Any]], more: dict[str, Any] | None = None
    ) -> Any:
        """Return the rows of each series as one table, with the columns that name the series, and more columns."""
        columns = columns_of_items(kind, (row for group in rows for row in group)) | (more or {})
        found = frame_of(columns, self._library)
        if not self._keys:
            return found
        series = np.repeat(np.arange(len(rows)), [len(group) for group in rows])
        nothing = self._frame[self._keys].head(0)
        names = import_module(self._library).concat([group.named for group in groups] or [nothing])
        if self._library == "pandas":
            return names.iloc[series].reset_index(drop=True).join(found)
        return names[series].hstack(found)

    def event_times(self, asked: _Asked, results: Sequence[DQEResult]) -> dict[str, Any]:
        """Return when events started and stopped, as columns; whole numbers where the times are numbers."""
        axes = [result.axis for result in results if isinstance(result, TimedResult) and result.axis is not None]
        # Without a series, such as Dask asks with for the types of columns, only the column itself tells.
        times = self._frame[asked.times]
        numbers = not axes[0].dated if axes else np.asarray(times).dtype.kind in "iuf"
        zone = axes[0].zone_shown if axes else None if numbers else asked.timezone or zone_told(times) or None
        events = [event for result in results for event in result.per_event]
        every = {name: [getattr(event, name) for event in events] for name in _EVENT_TIMES}
        kind = np.int64 if numbers else "M8[ns]"
        return {name: in_frame(np.array(column, dtype=kind), zone) for name, column in every.items()}

    def _check_columns(self, argument: str, names: Sequence[str]) -> None:
        for name in names:
            if name not in self._frame.columns:
                raise ValueError(f"{argument}: {unknown_column(name, map(str, self._frame.columns))}")

    def _groups(self) -> Iterator[tuple[tuple[Any, ...], Any]]:
        """Yield what names each series, and its rows, in the order in which series come first."""
        if not len(self._frame):
            return iter(())
        if not self._keys:
            return iter([((), self._frame)])
        if self._library == "pandas":  # as polars does: also where a name is missing
            return iter(self._frame.groupby(self._keys, sort=False, dropna=False, observed=True))
        return iter(self._frame.group_by(self._keys, maintain_order=True))

    def _sorted(self, frame: Any, column: str) -> Any:
        pandas = self._library == "pandas"
        return frame.sort_values(column, kind="stable") if pandas else frame.sort(column, maintain_order=True)

    def _without(self, frame: Any, columns: list[str]) -> Any:
        return frame.drop(columns=columns) if self._library == "pandas" else frame.drop(columns)


def _warn_of_columns(ignored: Iterable[str], groups: Sequence[_Group]) -> None:
    """Say which columns were taken for those of detectors, and which were left out."""
    taken = some_names(dict.fromkeys(found.detector for group in groups for found in group.found))
    rule = f"columns without numbers are left out: {some_names(ignored)}"
    advice = f"evaluated are {taken}; name the columns of scores with scores=[…]"
    warnings.warn(f"{rule}; {advice}", stacklevel=validate.caller_level())


def _library(frame: Any) -> Library:
    """Return whose DataFrame it is."""
    kind, owner = type(frame).__name__, type(frame).__module__.partition(".")[0]
    if (kind, owner) == ("LazyFrame", "polars"):
        raise ValueError("frame is a LazyFrame of polars: call its collect() first")
    if owner.startswith("dask"):
        advice = (
            "give its groups, as in frame.groupby(…)[…].apply(dqeval.evaluate_frame, meta=…), or call compute() first"
        )
        raise ValueError(f"frame is a {kind} of Dask: {advice}")
    for library in LIBRARIES:
        if owner == library and hasattr(frame, "columns"):
            return library
    source = "" if owner in (*LIBRARIES, "builtins") else f" of {owner}"
    raise ValueError(f"frame must be a DataFrame of pandas or polars: got {kind}{source}")


def _names(kind: type) -> list[str]:
    return [field.name for field in fields(kind)]


def _undefined(near: float) -> DQEResult:
    nan = float("nan")
    return DQEResult(nan, nan, nan, nan, near=near, thresholds=1, per_event=())


def _series_row(found: _Found) -> SeriesRow:
    result = found.result
    parts = (result.dqe, result.capture, result.near_miss, result.false_alarm)
    return SeriesRow(found.detector, found.points, len(result.per_event), result.near, *parts)


def _event_rows(found: _Found) -> list[EventRow]:
    return [
        EventRow(found.detector, i, e.start, e.stop, e.dqe, e.capture, e.near_miss, e.false_alarm)
        for i, e in enumerate(found.result.per_event)
    ]
