"""Checked series, labels with scores or detections, and what several metrics need of them: computed once, shared."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dqeval.core import arguments, durations, validate
from dqeval.core.durations import Length
from dqeval.core.events import find_events, flags_of, split_at
from dqeval.core.moments import Kind, same_kind
from dqeval.core.near import Near, near_from_arguments, near_of
from dqeval.core.regions import cut
from dqeval.core.sampling import NO_CLOCK, Clock, Sampling, even_axis
from dqeval.core.scaling import Linear, as_given, extremes, linear, scaled
from dqeval.core.sorting import ascending_with_ties
from dqeval.core.spans import Spans
from dqeval.core.timeline import Found, TimeAxis
from dqeval.core.times import dates_of_index, parse_with_zone
from dqeval.core.types import BoolArray, Events, FloatArray, IntArray, Numbers, Partition, Series
from dqeval.core.validate import NoScoresError, UndefinedError
from dqeval.core.zones import UTC, Zone, shared_zone, zone_of_series
from dqeval.kernels import distinct as kernel
from dqeval.render.tables import count_of
from dqeval.support.on_demand import cached_property, once

Made = TypeVar("Made")

PARTS_OF_SERIES = ("all", "test")
NO_EVENT = "no label is 1, so there is no event to score the detectors on"


@dataclass(frozen=True, eq=False)
class Shared:
    """What has a place for what several metrics need of it."""

    _made: dict[Hashable, Any] = field(default_factory=dict, repr=False, kw_only=True)

    def once(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """Return what was made for the key, or make it now."""
        return once(self._made, key, make)


@dataclass(frozen=True, eq=False)
class Labelled(Shared):
    """Labels, their events and regions, and what is made from them once, whatever the scores are.

    Attributes
    ----------
    labels : array of bool
    axis : TimeAxis, optional
        When the points are, where there is a clock. Nothing goes on where something was not observed.
    names : tuple of str
        What the events are called, where their source says it.
    train_stop : int, optional
        The points before it are for training, and scored like all others.
    on_clock : bool
        Whether the points are cells of a time axis, because that was asked for.
    """

    labels: BoolArray
    axis: TimeAxis | None = None
    names: tuple[str, ...] = ()
    train_stop: int | None = None
    on_clock: bool = False

    @cached_property
    def breaks(self) -> IntArray:
        """The points before which something was not observed."""
        return np.array(() if self.axis is None else self.axis.breaks, dtype=np.intp)

    @property
    def resolution(self) -> int | None:
        """How many nanoseconds a point lasts; None where there is no clock of dates."""
        return self.axis.resolution if self.axis is not None and self.axis.dated else None

    @cached_property
    def events(self) -> Events:
        """The labelled events."""
        return self.runs(self.labels)

    def runs(self, flags: BoolArray) -> Events:
        """Return the runs of what is labelled or detected."""
        return split_at(find_events(flags), self.breaks)

    def place(self, event: int) -> str:
        """Return where an event is, in words: when it was, where there is a clock."""
        start, stop = int(self.events.starts[event]), int(self.events.stops[event])
        if self.axis is None:
            return f"[{start}, {stop})"
        return self.axis.between(start, stop)

    @cached_property
    def zones(self) -> Partition:
        """The points that are nearer to each event than to any other, whatever was not observed between them."""
        return cut(self.events, 0.0) if len(self.breaks) else self.regions(0.0)

    @cached_property
    def lengths(self) -> IntArray:
        """The length of each event."""
        return self.events.stops - self.events.starts

    @property
    def begin(self) -> IntArray | int:
        """Where the series begins; for several that are joined (``core/joined.py``), that of each event."""
        return 0

    @property
    def end(self) -> IntArray | int:
        """Where the series ends; for several that are joined, that of each event."""
        return len(self.labels)

    def of_events(self, points: Any) -> Any:
        """Return a number of points, at most all; for several series that are joined, that of each event's series."""
        return min(points, len(self.labels))

    @property
    def event_bounds(self) -> IntArray:
        """The first event of the series, or of each that is joined, and how many there are."""
        return np.array([0, len(self.events)])

    @property
    def most_points(self) -> int:
        """How many points the series has; for several that are joined, the longest."""
        return len(self.labels)

    @property
    def most_events(self) -> int:
        """How many events the series has; for several that are joined, the one that has most."""
        return len(self.events)

    def apart(self, points: IntArray) -> IntArray:
        """Return where points are if there is one more at each break."""
        return points + np.searchsorted(self.breaks, points, side="right") if len(self.breaks) else points

    def regions(self, near: float) -> Partition:
        """Return the local regions of the events for a near range."""
        return self.once(("regions", near), lambda: replace(cut(self.events, near, self.breaks), axis=self.axis))

    def part(self, start: int, stop: int) -> Labelled:
        """Return the labels from one point to another, on the same clock; events lose their names."""
        axis = None if self.axis is None else self.axis.part(start, stop)
        return Labelled(self.labels[start:stop], axis, on_clock=self.on_clock)

    def scored(self, raw: FloatArray) -> Scored:
        """Return the labels with scores, which are checked: detections, if they hold only 0 and 1.

        A column that is 1 throughout holds scores: like all constant ones, they separate nothing.
        """
        return Scored(self, raw, binary=bool(np.isin(raw, (0, 1)).all() and not raw.all()))


@dataclass(frozen=True, eq=False)
class Distinct:
    """What is detected at each distinct score, from the highest down.

    Attributes
    ----------
    detected, hits : array of int
        How many points, and how many labelled ones, score at least as much.
    raw : array of float
        The score of every point.
    ascending : array of int
        The points by ascending score.
    """

    detected: NDArray[np.intc]
    hits: NDArray[np.intc]
    raw: FloatArray
    ascending: NDArray[np.intc]

    def __len__(self) -> int:
        return len(self.detected)

    @cached_property
    def values(self) -> FloatArray:
        """The distinct scores. In this order they lie far apart in memory: to read all of them takes long."""
        values = np.empty(len(self))
        kernel.values_of_distinct(self.ascending, self.detected, self.raw, values)
        return values

    def values_at(self, positions: IntArray) -> FloatArray:
        """Return some of the distinct scores."""
        return self.raw[self.ascending[len(self.raw) - self.detected[positions]]]

    def value(self, position: int) -> float:
        """Return one of the distinct scores; minus infinity behind the last."""
        return float(self.values_at(np.array([position]))[0]) if position < len(self) else -math.inf


@dataclass(frozen=True, eq=False)
class Scored(Shared):
    """Labels and scores: as they were given, and in [0, 1].

    Scaling can make distinct scores equal, where some are very far from the others, and rounds some to the other side
    of a threshold. So all metrics but DQE use the scores as they were given.
    """

    labelled: Labelled
    raw: FloatArray
    binary: bool = False

    @property
    def labels(self) -> BoolArray:
        """The labels."""
        return self.labelled.labels

    @property
    def events(self) -> Events:
        """The labelled events."""
        return self.labelled.events

    @cached_property
    def scores(self) -> FloatArray:
        """The scores in [0, 1]; detections, 0 and 1, are there already."""
        return scaled(self.counting)

    @cached_property
    def counting(self) -> Linear:
        """The same, before they are computed."""
        return as_given(self.raw) if self.binary else linear(self.raw)

    @cached_property
    def threshold_scores(self) -> FloatArray:
        """The scores that thresholds lie between: as they were given, or halves where a difference may be infinite."""
        low, high = extremes(self.raw)
        return self.raw / 2 if math.isinf(high - low) else self.raw

    @cached_property
    def in_order(self) -> tuple[NDArray[np.intc], NDArray[np.uint8]]:
        """The points by ascending score, equal ones by time, and which of them score as much as the one before."""
        validate.countable("the points of a series", len(self.raw), advice="take a part of it")
        return ascending_with_ties(self.raw)

    @property
    def ascending(self) -> NDArray[np.intc]:
        """The points by ascending score, equal ones by time."""
        return self.in_order[0]

    def reached(self) -> NDArray[np.intc]:
        """Return how many of the distinct scores each point reaches."""
        levels = np.empty(len(self.raw), dtype=np.intc)
        kernel.reached_by_points(self.ascending, self.distinct.detected, levels)
        return levels

    @cached_property
    def distinct(self) -> Distinct:
        """What is detected at each distinct score, as they were given."""
        detected, hits = np.empty((2, len(self.raw)), dtype=np.intc)
        count = kernel.distinct_scores(*self.in_order, np.packbits(self.labels, bitorder="little"), detected, hits)
        if count < len(detected):  # what is left over would be kept with them
            detected, hits = detected[:count].copy(), hits[:count].copy()
        return Distinct(detected, hits, self.raw, self.ascending)

    def levels(self, scores: FloatArray, thresholds: FloatArray) -> tuple[NDArray[np.intc], IntArray]:
        """Return how many thresholds, in ascending order, the score of each point reaches.

        The scores are in the order of ``raw``. Also returned is how many points reach fewer than 0, 1, 2, ... of the
        thresholds.
        """
        levels, below = np.empty(len(self.raw), dtype=np.intc), np.empty(len(thresholds) + 1, dtype=np.intp)
        ascending = np.ascontiguousarray(thresholds)
        kernel.levels_of_points(self.ascending, scores, ascending, levels, below)
        return levels, below


@dataclass(frozen=True, eq=False)
class Prepared:
    """A series that is checked, once: what every analysis of it takes.

    Attributes
    ----------
    series : Series
        Its labels and scores, checked, are here. On a clock, it has cells in place of samples.
    labelled : Labelled
    scores : mapping of str to array of float
        By detector.
    near : Near
    notes : tuple of str
        What was left out on the way.
    samples : Series, optional
        The series as it was given, if it was put on a clock.
    clock : Clock
        What was said of that clock.
    """

    series: Series
    labelled: Labelled
    scores: Mapping[str, FloatArray]
    near: Near
    notes: tuple[str, ...] = ()
    samples: Series | None = None
    clock: Clock = NO_CLOCK

    @property
    def on_clock(self) -> bool:
        """Whether the points were put on a time axis, because that was asked for."""
        return self.labelled.on_clock

    @property
    def given(self) -> Series:
        """The series as it was given."""
        return self.series if self.samples is None else self.samples

    @property
    def event_names(self) -> tuple[str, ...]:
        """What the events are called, where their source says it."""
        return self.labelled.names

    @property
    def name(self) -> str:
        """The name of the series."""
        return self.series.name

    @property
    def line(self) -> FloatArray | None:
        """The values as one line that can be drawn; None where there are none, or several columns of them."""
        values = self.series.values
        if values is not None and values.ndim == 2 and values.shape[1] == 1:
            return np.ascontiguousarray(values[:, 0])
        return None if values is None or values.ndim > 1 else values

    @property
    def regions(self) -> Partition:
        """The local regions of the events."""
        return self.labelled.regions(self.near.points)

    def scored(self, name: str) -> Scored:
        """Return the labels with the scores of a detector.

        What metrics make of the scores is kept as long as this is: together, it would take much memory.
        """
        return self.labelled.scored(self.scores[name])

    def require_event(self) -> None:
        """Raise where there is no anomaly, and so no number."""
        if not len(self.labelled.events):
            raise UndefinedError(self.no_event)

    @property
    def no_event(self) -> str:
        """Why there is no number, where there is no anomaly."""
        if self.series.incidents is None:
            return NO_EVENT
        if not len(self.series.incidents):
            return "there is no incident, so there is no event to score the detectors on"
        missing = (note for note in self.notes if "incident" in note)
        return "; ".join(["no incident lies in the time of the series, so there is no event", *missing])

    def require_scores(self) -> None:
        """Raise where no detector has scored the series."""
        if not self.scores:
            raise NoScoresError(f"{self.name} holds no scores: `dqeval detect` makes some")


@dataclass(frozen=True, eq=False)
class Points:
    """Labels with scores or detections, as points, or as cells of a time axis.

    Attributes
    ----------
    labelled : Labelled
    found : array of float or bool
        The scores or the detections.
    near : Near
    notes : tuple of str
        What was left out.
    """

    labelled: Labelled
    found: NDArray[Any]
    near: Near
    notes: tuple[str, ...] = ()

    @property
    def regions(self) -> Partition:
        """The local regions of the events."""
        return self.labelled.regions(self.near.points)


def points_of(
    y_true: Numbers,
    labels: BoolArray,
    found: NDArray[Any],
    *,
    near: Any,
    period: Any,
    values: Numbers | None,
    clock: Clock,
    y_score: Numbers | None = None,
    lengths: Sequence[Any] = (),
) -> Points:
    """Return labels, which were checked, with what was found, put on a clock if there is one.

    Without times, an index of dates that labels or scores have is the clock, as the timestamps of a series are: points
    are put on it if the clock, or a duration among the lengths, asks for it; otherwise it only tells when events are.
    """
    index = dates_of_index(y_true, y_score) if clock.times is None else None
    if index is not None and (clock.asked or any(map(durations.is_duration, (near, period, *lengths)))):
        clock = replace(clock, times=index)
    sampling = clock.sampling(len(labels))
    if sampling is None:
        axis = None if index is None else _even_axis(*parse_with_zone(index))
        in_use = near_from_arguments(y_true, labels, near=near, period=period, values=values, axis=axis)
        return Points(Labelled(labels, axis), found, in_use)
    validate.same_index("y_true", y_true, "times", clock.times)
    if values is not None:
        values = sampling.last(validate.values_beside(y_true, labels, values))
    cells = sampling.highest(labels)
    lasting = sampling.event_lengths(labels)
    given: dict[str, Any] = {"near": near, "period": period, "values": values}
    in_use = near_from_arguments(cells, cells, **given, axis=sampling.axis, lengths=lasting)
    labelled = Labelled(cells, sampling.axis, on_clock=True)
    return Points(labelled, sampling.highest(found), in_use, tuple(sampling.notes()))


def part_of(series: Series, part: Any) -> Series:
    """Return a series, or its test part."""
    if arguments.one_of("part", part, PARTS_OF_SERIES) == "all":
        return series
    stop, values = series.train_stop, series.values
    if stop is None:
        why = "it has no training part any more" if series.first else "a name such as x_tr_300_1st_400 does"
        raise ValueError(f"nothing says where the training part ends ({why}): part must be all")
    if not 0 < stop < len(series.labels):
        raise ValueError(f"the training part must end inside: at {stop:,} of {len(series.labels):,} points")
    return replace(
        series,
        labels=series.labels[stop:],
        scores={name: np.asarray(column)[stop:] for name, column in series.scores.items()},
        values=None if values is None else values[stop:],
        timestamps=None if series.timestamps is None else series.timestamps[stop:],
        train_stop=None,
        first=stop,
        remarks=(*series.remarks, *_remarks_on_part(series, stop)),
    )


def _remarks_on_part(series: Series, stop: int) -> Iterator[str]:
    yield f"this is the test part, and points are counted from its beginning, point {stop:,} of the whole series"
    before = np.asarray(series.labels)[:stop]
    if lost := len(find_events(before == 1)):
        yield f"{count_of(lost, 'event')} in the training part left out"


def prepare_series(
    series: Series, *, near: Length | None = None, period: Length | None = None, clock: Clock = NO_CLOCK
) -> Prepared:
    """Check a series and find its near range: see `near_of`. An error says which column it is about.

    With a clock, or with a duration, the points are put on a time axis. Without one, points that are evenly spaced have
    an axis too: it changes no number, and tells when events are.
    """
    # A copy: the caller may change the labels later, and results compute their chance level from them then.
    labels = validate.labels(series.labels).copy()
    for what, column in (("values", series.values), ("timestamps", series.timestamps)):
        if column is not None and len(column) != len(labels):
            count = f"{len(column):,} for {len(labels):,} points"
            raise ValueError(f"{what} must have the same length as labels: got {count}")
    scores = {name: _checked_scores(series, labels, name) for name in series.scores}
    sampling = sampling_in(series, near=near, period=period, clock=clock)
    if sampling is not None:
        found = _prepared_on_clock(series, labels, scores, near, period, sampling)
        return replace(found, samples=series, clock=clock)
    axis = None if series.timestamps is None else _even_axis(series.timestamps, zone_of_series(series))
    in_use = near_of(series, labels, near=near, period=period, axis=axis)
    return Prepared(series, Labelled(labels, axis, train_stop=series.train_stop), scores, in_use)


def _prepared_on_clock(
    series: Series,
    labels: BoolArray,
    scores: Mapping[str, FloatArray],
    near: Length | None,
    period: Length | None,
    sampling: Sampling,
) -> Prepared:
    """Return a series with its points put on a time axis."""
    cells, incidents, lengths = sampling.highest(labels), None, sampling.event_lengths(labels)
    if series.incidents is not None:
        incidents = incidents_on(sampling.axis, series)
        cells, lengths = flags_of(incidents.events), incidents.lengths
    found = {name: sampling.highest(column) for name, column in scores.items()}
    values = None if series.values is None else sampling.last(series.values)
    known = None if series.period is None else max(round(sampling.in_cells(series.period)), 1)
    times = sampling.axis.times()
    stop = None if series.train_stop is None else train_stop_in(sampling, series.train_stop)
    series = replace(series, labels=cells, scores=found, values=values, period=known, timestamps=times, train_stop=stop)
    in_use = near_of(series, cells, near=near, period=period, axis=sampling.axis, lengths=lengths)
    notes = (*series.remarks, *sampling.notes(), *(() if incidents is None else incidents.notes("incident")))
    names = () if incidents is None else incidents.names
    labelled = Labelled(cells, sampling.axis, names, train_stop=stop, on_clock=True)
    return Prepared(series, labelled, found, in_use, notes=notes)


def train_stop_in(sampling: Sampling, train_stop: int) -> int:
    """Return the first cell with a sample behind the training part."""
    return int(np.argmax(sampling.highest(np.arange(sampling.samples) >= train_stop)))


def incidents_on(axis: TimeAxis, series: Series) -> Found:
    """Return the incidents of a series on its clock."""
    spans: Spans = series.incidents
    same_kind({"incidents": spans.kind, "timestamps": axis.kind})
    return axis.positions(spans, "left")


_KINDS: dict[bool | None, Kind | None] = {True: "universal", False: "local", None: None}


def _even_axis(times: NDArray[Any], zone: Zone) -> TimeAxis | None:
    """Return the time axis of points that are evenly spaced dates, which nobody has asked to put on a clock."""
    return even_axis(times, "universal" if zone else None, zone or UTC)


def sampling_in(series: Series, *, near: Length | None, period: Length | None, clock: Clock) -> Sampling | None:
    """Return where the points of a series lie on a time axis, if incidents, a duration or the caller ask for one."""
    asked = ["incidents"] if series.incidents is not None else []
    asked += [*clock.asked, *(n for n, given in (("near", near), ("period", period)) if durations.is_duration(given))]
    if not asked:
        return None
    if clock.times is None and series.timestamps is None:
        advice = "the series has no timestamps; give times, or a number of points"
        raise ValueError(f"{asked[0]} needs a clock, and there is none: {advice}")
    if clock.times is None:
        clock = replace(clock, times=series.timestamps, kind=_kind(series), zone=series.zone)
    if series.incidents is not None:
        clock = replace(clock, zone=shared_zone(series.incidents.zone, clock.zone))
    return clock.sampling(len(series.labels))


def _kind(series: Series) -> Kind | None:
    """Return whether timestamps have a time zone; where nobody knows, they have that of the incidents."""
    if series.zoned is None and series.incidents is not None and series.incidents.kind != "number":
        found: Kind | None = series.incidents.kind
        return found
    return _KINDS[series.zoned]


def _checked_scores(series: Series, labels: BoolArray, name: str) -> FloatArray:
    with validate.errors_about(f"column {name}"):
        return validate.scores_beside(series.labels, labels, series.scores[name])
