"""Results on a clock: when events were, in which cells time is counted, and what operators ask for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import InitVar, dataclass, replace
from functools import cached_property, partial
from typing import Any, cast

import numpy as np

from dqeval.core.alarms import Alarms
from dqeval.core.event_scores import EventColumns, EventScores
from dqeval.core.moments import shown, shown_between
from dqeval.core.prepared import Labelled
from dqeval.core.timeline import TimeAxis, each_moment
from dqeval.core.types import BoolArray, Curve, DQEResult, Events
from dqeval.metrics.alarms_at_threshold import alarms_of
from dqeval.support.frames import column_of, in_frame, without_blank


@dataclass(frozen=True, slots=True, repr=False)
class TimedEventScores(EventScores):
    """DQE and its three parts for one incident, and when it was.

    Attributes
    ----------
    start_time, stop_time : datetime64 or int
        The first moment of its first cell, and the end of its last cell.
    name : str
        What it is called, where its source says it.
    zone : str, optional
        The time zone in which times are shown that have one; ``start_time`` and ``stop_time`` are in universal time.
    """

    start_time: Any = None
    stop_time: Any = None
    name: str = ""
    zone: str | None = None

    @property
    def place(self) -> str:
        """What it is called, and when it was."""
        return ", ".join(filter(None, [self.name, shown_between(self.start_time, self.stop_time, self.zone)]))

    def record(self) -> dict[str, Any]:
        """Return all of it as a flat row, ready for JSON: times with a time zone have their offset, or Z for UTC."""
        times = {name: self._plain(getattr(self, name)) for name in ("start_time", "stop_time")}
        row = EventScores.record(self) | times
        del row["zone"]
        return row

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.record().items())})"

    def _columns(self) -> dict[str, Any]:
        times = {name: in_frame(np.array([getattr(self, name)]), self.zone) for name in ("start_time", "stop_time")}
        found = {name: [value] for name, value in self.record().items()}
        return {**found, **times}

    def _plain(self, moment: Any) -> str | int:
        """Return a moment ready for JSON."""
        return shown(moment, self.zone) if isinstance(moment, np.datetime64) else int(moment)


@dataclass(frozen=True)
class TimedResult(DQEResult):
    """A result on a clock.

    Attributes
    ----------
    axis : TimeAxis
        The cells in which time is counted.
    notes : tuple of str
        What was left out, and why.
    alarms : Alarms, optional
        What operators ask for: delays, false alarms per day, the share of time in alarm. An alert counts as early if it
        is within the near range. None for scores, where it depends on the threshold. Computed when first asked for.
    """

    axis: TimeAxis | None = None
    notes: tuple[str, ...] = ()
    make_alarms: InitVar[Callable[[], Alarms] | None] = None

    def __post_init__(self, make_curve: Callable[[], Curve] | None, make_alarms: Callable[[], Alarms] | None) -> None:
        super().__post_init__(make_curve)
        object.__setattr__(self, "_make_alarms", make_alarms)

    @cached_property
    def alarms(self) -> Alarms | None:
        """What operators ask for."""
        make_alarms: Callable[[], Alarms] | None = vars(self)["_make_alarms"]
        return make_alarms() if make_alarms else None

    def _columns(self) -> dict[str, Any]:
        assert self.axis is not None
        events = cast(tuple[TimedEventScores, ...], self.per_event)
        found = super()._columns()
        times = self.axis.columns(found["start"], found["stop"])
        return without_blank(found | times | {"name": column_of([event.name for event in events], "str")}, "name")

    @property
    def near_in_words(self) -> str:
        """The near range, in words."""
        assert self.axis is not None
        return f"near {self.axis.lasting(self.near, exact=True)}"

    def _note(self) -> str:
        swept = [] if self.thresholds == 1 else [self._swept()]
        return "; ".join([", ".join([self.near_in_words, *swept, str(self.axis)]), *self.notes])


def with_notes(result: TimedResult, notes: Sequence[str]) -> TimedResult:
    """Return a result that has more notes, and everything that it makes when asked for it."""
    # What the constructor alone gets, replace leaves out.
    later = {"make_curve": partial(getattr, result, "curve"), "make_alarms": vars(result)["_make_alarms"]}
    return replace(result, notes=(*result.notes, *notes), **later)


@dataclass(frozen=True, slots=True, eq=False)
class TimedEventColumns(EventColumns):
    """The scores of all events on a clock.

    Attributes
    ----------
    axis : TimeAxis
    names : sequence of str
        What each event is called; empty if none has a name.
    """

    axis: TimeAxis
    names: Sequence[str] = ()

    def __call__(self) -> tuple[TimedEventScores, ...]:
        """Return the objects."""
        places = (self.starts.tolist(), self.stops.tolist())
        times = (each_moment(self.axis.starts_of(self.starts)), each_moment(self.axis.ends_of(self.stops)))
        about = (self.names or [""] * len(self), [self.axis.zone_shown] * len(self))
        return tuple(map(TimedEventScores, *places, *self.scores.T.tolist(), *times, *about))


def alarms_at(labelled: Labelled, detections: BoolArray, near: float) -> Alarms:
    """Return what operators ask of detections, which may be early within the near range."""
    return alarms_on(labelled, labelled.runs(detections), early=int(min(near, len(detections))))


def alarms_on(labelled: Labelled, found: Events, *, early: int, max_delay: int | None = None) -> Alarms:
    """Return what operators ask of alarms: on a clock, where there is one."""
    return alarms_of(
        labelled.events,
        found,
        early=early,
        max_delay=max_delay,
        breaks=labelled.breaks,
        resolution=labelled.resolution,
    )


def on_clock(
    result: DQEResult,
    labelled: Labelled,
    notes: tuple[str, ...] = (),
    make_alarms: Callable[[], Alarms] | None = None,
) -> DQEResult:
    """Return a result with the times of its events; as it is, where there is no clock."""
    axis = labelled.axis
    if axis is None:
        return result
    found = result.event_columns
    return TimedResult(
        result.dqe,
        result.capture,
        result.near_miss,
        result.false_alarm,
        near=result.near,
        thresholds=result.thresholds,
        per_event=TimedEventColumns(found.starts, found.stops, found.scores, axis, labelled.names),
        axis=axis,
        notes=notes,
        make_alarms=make_alarms,
        make_curve=partial(getattr, result, "curve"),
    )
