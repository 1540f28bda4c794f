"""The values that functions take and return: frozen, inspectable, printable."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import InitVar, astuple, dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dqeval.core import arguments
from dqeval.core.confidence import Interval, mean_interval
from dqeval.core.event_scores import EventColumns, EventScores, columns_from
from dqeval.render import drawing
from dqeval.render.tables import Table, count_of
from dqeval.support.frames import Framed, columns_of_items
from dqeval.support.on_demand import OnDemand

if TYPE_CHECKING:
    from matplotlib.axes import Axes


BoolArray = NDArray[np.bool_]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
Progress = Callable[[int, int], None]  # called with how many steps are done, and how many there are
Numbers = ArrayLike  # a list, an array, a Series: what core.validate reads as one-dimensional numbers

COLUMNS = ("DQE", "capture", "near miss", "false alarm")
PARTS = ("capture", "near_miss", "false_alarm")  # of DQE, as attributes are called
SCORE_NAMES = ("dqe", *PARTS)  # the attributes of Scores
# What the ends of the scale mean, to stand where the numbers stand.
MEANING = """\
1 is best, 0 is worst. Near miss: higher for closer ones; without any, 1 if there is nothing but a capture, else 0.
False alarm: 1 if there is none; 0 if nothing at all is detected."""


@dataclass(frozen=True, slots=True, eq=False)
class Events:
    """The maximal runs of ones in a binary series, in time order.

    Attributes
    ----------
    starts, stops : array of int, shape (n_events,)
        Event i covers the points ``starts[i]`` to ``stops[i] - 1``.
    length : int
        The number of points of the series.
    """

    starts: IntArray
    stops: IntArray
    length: int

    def __len__(self) -> int:
        return len(self.starts)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Events) and self.length == other.length and list(self) == list(other)

    def __hash__(self) -> int:
        return hash((self.length, tuple(self)))

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return zip(self.starts.tolist(), self.stops.tolist(), strict=True)


@dataclass(frozen=True, slots=True)
class Region(Framed):
    """The local region of one event: six cuts on the time axis, on which point t covers [t, t + 1).

    In time order: false alarm [left, near_start), near miss [near_start, start), capture [start, stop),
    near miss [stop, near_stop), false alarm [near_stop, right). Any but the capture piece may be empty.
    """

    left: float
    near_start: float
    start: int
    stop: int
    near_stop: float
    right: float


@dataclass(frozen=True, slots=True, eq=False)
class Partition(Framed):
    """The time axis [0, length) cut into one local region an event, each of five pieces.

    ``to_frame()`` has a row per event: the six cuts of its region, and on a clock when it starts and stops.

    Attributes
    ----------
    events : Events
    near : float
        The near-miss range on one side of an event.
    left, near_start, near_stop, right : array of float, shape (n_events,)
        The cuts of each region; ``events.starts`` and ``events.stops`` lie between the inner two.
    axis : TimeAxis, optional
        When the points are, where there is a clock: ``axis.start_of`` and ``axis.end_of`` tell when a cut is.
    """

    events: Events
    near: float
    left: FloatArray
    near_start: FloatArray
    near_stop: FloatArray
    right: FloatArray
    axis: Any = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Partition) and self.near == other.near and self.events == other.events

    def __hash__(self) -> int:
        return hash((self.near, self.events))

    def of_some(self, some: slice) -> Partition:
        """Return the regions of some events, on a time axis that begins with the first point of the first of them."""
        left, right = self.left[some], self.right[some]
        begin, end = int(np.floor(left[0])), int(np.ceil(right[-1]))
        events = Events(self.events.starts[some] - begin, self.events.stops[some] - begin, end - begin)
        cuts = (each - begin for each in (left, self.near_start[some], self.near_stop[some], right))
        return Partition(events, self.near, *cuts)

    @property
    def regions(self) -> tuple[Region, ...]:
        """The local regions, one per event, in time order."""
        columns = (self.left, self.near_start, self.events.starts, self.events.stops, self.near_stop, self.right)
        return tuple(Region(*cuts) for cuts in zip(*(column.tolist() for column in columns), strict=True))

    def _columns(self) -> dict[str, Any]:
        cuts = columns_of_items(Region, self.regions)
        if self.axis is None:
            return cuts
        times: dict[str, Any] = self.axis.columns(self.events.starts, self.events.stops)
        return cuts | times

    def _table(self) -> Table:
        header = ("event", "false alarm", "near miss", "capture", "near miss", "false alarm")
        rows = [
            (self._event(i, region), *(f"[{_position(a)}, {_position(b)})" for a, b in pairwise(astuple(region))))
            for i, region in enumerate(self.regions)
        ]
        size = count_of(self.events.length, "point") if self.axis is None else str(self.axis)
        return Table(header, rows, note=f"near {self.near:g}, {size}")

    def _event(self, number: int, region: Region) -> str:
        return str(number) if self.axis is None else str(self.axis.between(region.start, region.stop))

    def __str__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()


@dataclass(frozen=True, slots=True)
class Scores(Framed):
    """DQE and its three parts, each between 0 (worst) and 1 (best)."""

    dqe: float
    capture: float
    near_miss: float
    false_alarm: float


@dataclass(frozen=True, slots=True, eq=False)
class Curve(Framed):
    """DQE and its parts against the threshold.

    ``to_frame()`` has a row per threshold.

    Attributes
    ----------
    thresholds : array of float, shape (n,)
        Descending. With exact thresholds, the values at ``thresholds[k]`` hold from there down to just above
        ``thresholds[k + 1]`` (the last ones down to 0); above ``thresholds[0]`` nothing is detected: all four are 0.
    dqe, capture, near_miss, false_alarm : array of float, shape (n,)
    per_event : tuple of Curve
        The same for each event, with the event's own thresholds. Empty in the curve of an event.
    """

    thresholds: FloatArray
    dqe: FloatArray
    capture: FloatArray
    near_miss: FloatArray
    false_alarm: FloatArray
    per_event: tuple[Curve, ...] = ()

    def _columns(self) -> dict[str, Any]:
        return {"threshold": self.thresholds, **{name: getattr(self, name) for name in SCORE_NAMES}}


@dataclass(frozen=True)
class DQEResult(Framed):
    """How good a detector is on one series: DQE, its three parts, and the same for each event.

    ``to_frame()`` has a row per event.

    Attributes
    ----------
    dqe, capture, near_miss, false_alarm : float
        Means over the events, each between 0 (worst) and 1 (best); NaN where there is no event.
    near : float
        The near-miss range that was used.
    thresholds : int or "exact"
        The number of sampled thresholds, or "exact" for the integral over all of them.
    per_event : tuple of EventScores
        In time order.
    event_columns : EventColumns
        The same as arrays: ``starts``, ``stops`` and ``scores``, a row per event.
    curve : Curve
        DQE and its parts against the threshold, computed when first asked for.
    """

    dqe: float
    capture: float
    near_miss: float
    false_alarm: float
    near: float
    thresholds: int | Literal["exact"]
    per_event: OnDemand[tuple[EventScores, ...]] = OnDemand()
    make_curve: InitVar[Callable[[], Curve] | None] = None

    def __post_init__(self, make_curve: Callable[[], Curve] | None) -> None:
        # Not fields: a result compares, prints and becomes a dictionary without them.
        object.__setattr__(self, "_make_curve", make_curve)
        object.__setattr__(self, "_given_events", vars(self)["_per_event"])

    @cached_property
    def curve(self) -> Curve:
        """DQE and its parts against the threshold."""
        make_curve: Callable[[], Curve] | None = vars(self)["_make_curve"]
        if make_curve is None:
            raise ValueError("a changed copy of a result has no curve: evaluate the scores again")
        return make_curve()

    @cached_property
    def event_columns(self) -> EventColumns:
        """The scores of the events as columns, without objects where nobody has asked for these."""
        given = vars(self)["_given_events"]
        return given if isinstance(given, EventColumns) else columns_from(self.per_event)

    def interval(
        self,
        part: Literal["dqe", "capture", "near_miss", "false_alarm"] = "dqe",
        *,
        level: float = 0.95,
        resamples: int | None = None,
        seed: int = 0,
    ) -> Interval:
        """Return a confidence interval of DQE, or of one of its parts: how far other events might have moved it.

        Parameters
        ----------
        part : "dqe", "capture", "near_miss" or "false_alarm", default "dqe"
        level : float, default 0.95
            How often such an interval holds the value that many more events of the same kind would give.
        resamples : int, optional
            How many times the events are drawn again: by default 2,000 times, and less often, but at least 400 times,
            if there are more than 10,000 of them.
        seed : int, default 0
            Of these draws: the same seed gives the same interval.

        Returns
        -------
        Interval
            ``low`` and ``high``; NaN with fewer than 5 events.

        Examples
        --------
        >>> series = dqeval.datasets.demo()
        >>> print(dqeval.evaluate(series.labels, series.scores["late"], period=48).interval())
        [0.000, 0.833]
        """
        arguments.one_of("part", part, SCORE_NAMES)
        values = self.event_columns.scores[:, SCORE_NAMES.index(part)]
        return mean_interval(values, level=level, resamples=resamples, seed=seed)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot DQE against the threshold, with a thin line for each event.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> ax = dqeval.evaluate([0, 0, 1, 0, 0, 0, 1], [0, 0, 9, 0, 0, 0, 4], near=1).plot()
        >>> ax.get_title(), ax.get_xlabel(), len(ax.get_lines())
        ('DQE 0.720', 'threshold (scaled)', 3)
        """
        curve = self.curve
        axes = drawing.axes_or_new(ax)
        drawing.draw_curve(axes, curve)
        axes.set_title(f"DQE {self.dqe:.3f}" if self.per_event else "DQE undefined: no event")
        if handles := drawing.curve_handles(curve):
            axes.legend(handles=handles)
        return axes

    def _table(self) -> Table:
        n = len(self.per_event)
        rows = [(f"all {n:,}" if n != 1 else "all", *_numbers(self))]
        rows += [(event.place, *_numbers(event)) for event in self.per_event]
        return Table(("event", *COLUMNS), rows, note=self._note(), legend=MEANING.splitlines())

    @property
    def near_in_words(self) -> str:
        """The near range, in words."""
        return f"near {self.near:g}"

    def _note(self) -> str:
        return f"{self.near_in_words}, {self._swept()}"

    def _swept(self) -> str:
        return "all thresholds" if self.thresholds == "exact" else count_of(self.thresholds, "threshold")

    def _columns(self) -> dict[str, Any]:
        return self.event_columns.by_name()

    def __str__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()


@dataclass(frozen=True, slots=True)
class Combined(Framed):
    """Several series' results together.

    ``to_frame()`` has two rows: the means over the series, and over all events.

    Attributes
    ----------
    by_series : Scores
        Means over the series: each series counts once.
    by_event : Scores
        Means over all events of all series: a series with ten events counts ten times.
    n_series, n_events : int
        How many of each are in the means.
    n_undefined : int
        Series without an event. Their scores are undefined and in neither mean.
    """

    by_series: Scores
    by_event: Scores
    n_series: int
    n_events: int
    n_undefined: int

    def _columns(self) -> dict[str, Any]:
        counted = {"mean_over": ["series", "event"], "count": [self.n_series, self.n_events]}
        return counted | columns_of_items(Scores, (self.by_series, self.by_event))

    def _table(self) -> Table:
        rows = [
            (f"{self.n_series:,} series", *_numbers(self.by_series)),
            (count_of(self.n_events, "event"), *_numbers(self.by_event)),
        ]
        note = f"{self.n_undefined:,} series without an anomaly left out" if self.n_undefined else ""
        return Table(("mean over", *COLUMNS), rows, note=note)

    def __str__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()


@dataclass(frozen=True, slots=True)
class PrecisionRecall(Framed):
    """A metric of detections and its two parts.

    Attributes
    ----------
    f1 : float
        The harmonic mean of the other two; 0 where both are 0.
    precision, recall : float
        As the metric defines them.
    """

    f1: float
    precision: float
    recall: float

    @property
    def value(self) -> float:
        """The metric itself."""
        return self.f1

    def f_beta(self, beta: float) -> float:
        """Return the F of these parts in which recall counts ``beta`` times as much as precision."""
        below = beta**2 * self.precision + self.recall
        # Not "if below > 0": what is NaN stays NaN.
        return 0.0 if below == 0 else (1 + beta**2) * self.precision * self.recall / below

    def __str__(self) -> str:
        return f"{self.value:.3f} (precision {self.precision:.3f}, recall {self.recall:.3f})"


@dataclass(frozen=True, slots=True, eq=False)
class Series:
    """A labelled series, and the scores that detectors gave it.

    Attributes
    ----------
    name : str
    labels : array of bool or float, shape (n,)
    scores : mapping of str to array of float, shape (n,)
        By detector.
    values : array of float, shape (n,) or (n, columns), optional
    train_stop : int, optional
        The points before it are for training.
    period : int, optional
        The period of the values, if it is known: it is not estimated again, and half of it is the near range.
    no_period : str
        Why the values have no period, if that is known: then the near range is a fallback.
    timestamps : array, shape (n,), optional
        The time of each point: numbers, or moments (``datetime64``), which are in universal time if the file tells of a
        time zone; text, as it is written there, where it is neither.
    zoned : bool, optional
        Whether the timestamps were given with a time zone; None where that is not known.
    incidents : Spans, optional
        When the anomalies began and ended, if the labels follow from that: then points are put on a clock.
    remarks : tuple of str
        What was left out or assumed where it was read.
    first : int
        Of a test part: the position of its first point in the whole series.
    zone : str
        The time zone in which times are shown if they have one: a name, an offset such as +01:00, or UTC.
    period_doubt : str
        Why the period may be none, if it was estimated and may be smoothness: see `find_period`.
    """

    name: str
    labels: BoolArray | FloatArray
    scores: Mapping[str, FloatArray]
    values: FloatArray | None = None
    train_stop: int | None = None
    period: int | None = None
    timestamps: NDArray[Any] | None = None
    no_period: str = ""
    zoned: bool | None = None
    incidents: Any = None
    remarks: tuple[str, ...] = ()
    first: int = 0
    zone: str = "UTC"
    period_doubt: str = ""

    @property
    def part(self) -> str:
        """Which part of the series this is, in words; empty where nothing is known of a training part."""
        if self.first:
            return f"the test part, from point {self.first:,} on"
        return "" if self.train_stop is None else f"its training part, {self.train_stop:,} points, included"


def _position(x: float) -> str:
    return str(int(x)) if x == int(x) else repr(x)


def _numbers(scores: Scores | EventScores | DQEResult) -> tuple[str, ...]:
    values = (scores.dqe, scores.capture, scores.near_miss, scores.false_alarm)
    return tuple(f"{value:.3f}" for value in values)
