"""The result of many series at once: arrays, with a number per series and detector."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dqeval.core import arguments
from dqeval.core.types import COLUMNS, MEANING, SCORE_NAMES, Combined, FloatArray, IntArray, Scores
from dqeval.core.validate import UndefinedError
from dqeval.metrics.dqe import mean_scores
from dqeval.render.tables import Table, count_of
from dqeval.support.frames import Framed
from dqeval.support.on_demand import OnDemand

MOST_SHOWN = 10  # series and detectors in the table that is printed


@dataclass(frozen=True, slots=True, eq=False)
class ManyEvents(Framed):
    """DQE and its three parts for each event of many series.

    ``to_frame()`` has a row per series, detector and event.

    Attributes
    ----------
    series, detector : array, shape (n,)
        The names of the series that the event is of, and of the detector.
    event, start, stop : array of int, shape (n,)
        Which event of its series it is, from 0 on, and the points of the series that it covers: start to stop - 1.
    dqe, capture, near_miss, false_alarm : array of float, shape (n,)
    """

    series: NDArray[Any]
    detector: NDArray[np.str_]
    event: IntArray
    start: IntArray
    stop: IntArray
    dqe: FloatArray
    capture: FloatArray
    near_miss: FloatArray
    false_alarm: FloatArray

    def __len__(self) -> int:
        return len(self.event)

    def _columns(self) -> dict[str, Any]:
        names = {"series": _plain(self.series), "detector": self.detector}
        places = {name: getattr(self, name).astype(np.int64) for name in ("event", "start", "stop")}
        return names | places | {name: getattr(self, name) for name in SCORE_NAMES}

    def _table(self) -> Table:
        several = len(set(self.detector.tolist())) > 1
        rows = []
        for i, scores in zip(_shown(self.dqe), _scores(self)[_shown(self.dqe)], strict=True):
            place = f"[{self.start[i]}, {self.stop[i]})"
            rows.append((str(self.series[i]), *([str(self.detector[i])] * several), place, *_cells(scores)))
        header = ("series", *(["detector"] * several), "event", *COLUMNS)
        return Table(header, rows, _shown_note(self.dqe), text_columns=2 + several, legend=MEANING.splitlines())

    def __str__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()


@dataclass(frozen=True, eq=False)
class ManyResult(Framed):
    """How good one or several detectors are on many series.

    Every array has a value per series and detector: all detectors of the first series, then those of the next.
    ``to_frame()`` has a row for each.

    Attributes
    ----------
    series, detector : array, shape (n,)
        The names of the series, by default their positions, and of the detectors.
    points, events : array of int, shape (n,)
        How long the series is, and how many events it has.
    near : array of float, shape (n,)
        The near-miss range that was used.
    dqe, capture, near_miss, false_alarm : array of float, shape (n,)
        Means over the events, each between 0 (worst) and 1 (best); NaN where there is no event.
    thresholds : int or "exact"
        The number of sampled thresholds, or "exact" for the integral over all of them.
    per_event : ManyEvents
        The same for each event, put together when first asked for.
    """

    series: NDArray[Any]
    detector: NDArray[np.str_]
    points: IntArray
    events: IntArray
    near: FloatArray
    dqe: FloatArray
    capture: FloatArray
    near_miss: FloatArray
    false_alarm: FloatArray
    thresholds: int | Literal["exact"]
    per_event: OnDemand[ManyEvents] = OnDemand()

    def __len__(self) -> int:
        return len(self.dqe)

    @property
    def detectors(self) -> tuple[str, ...]:
        """The names of the detectors, in their order."""
        return tuple(dict.fromkeys(self.detector.tolist()))

    def means(self, detector: str | None = None) -> Combined:
        """Return the means of DQE and its parts over the series, and over their events.

        Parameters
        ----------
        detector : str, optional
            Whose; it may be left out if there is only one.

        Returns
        -------
        Combined
            Series without an event are in neither mean.

        Examples
        --------
        >>> found = dqeval.evaluate_many([[0, 1, 0, 0, 0, 1], [0, 0, 0, 1]], [[0, 9, 0, 0, 0, 9], [9, 0, 0, 0]], near=1)
        >>> found.means().by_series.dqe, round(found.means().by_event.dqe, 3)
        (0.5, 0.667)
        """
        if detector is None and len(self.detectors) > 1:
            raise ValueError(f"say whose means: there are {', '.join(self.detectors)}")
        if detector is not None:
            arguments.one_of("detector", detector, self.detectors)
        name = detector or self.detectors[0]
        own, own_events = self.detector == name, self.per_event.detector == name
        defined = own & (self.events > 0)
        if not defined.any():
            raise UndefinedError("no series has an event: there is no mean")
        count = int(np.count_nonzero(defined))
        return Combined(
            by_series=mean_scores(_scores(self)[defined]),
            by_event=mean_scores(_scores(self.per_event)[own_events]),
            n_series=count,
            n_events=int(np.count_nonzero(own_events)),
            n_undefined=int(np.count_nonzero(own)) - count,
        )

    def _columns(self) -> dict[str, Any]:
        names = {"series": _plain(self.series), "detector": self.detector}
        counts = {"points": self.points.astype(np.int64), "events": self.events.astype(np.int64)}
        return names | counts | {name: getattr(self, name) for name in ("near", *SCORE_NAMES)}

    def _table(self) -> Table:
        several = len(self.detectors) > 1
        of_series = len(self) // len(self.detectors)
        rows = [*(self._mean_rows() if of_series > 1 and (self.events > 0).any() else ()), *self._shown_rows()]
        lines = [("series", "detector", "events", *COLUMNS), *rows]
        header, *cells = lines if several else [(line[0], *line[2:]) for line in lines]
        return Table(header, cells, self._note(), text_columns=1 + several, legend=MEANING.splitlines(), whole=True)

    def _mean_rows(self) -> Iterator[tuple[str, ...]]:
        for name in self.detectors:
            means = self.means(name)
            yield f"mean over {means.n_series:,} series", name, "", *_numbers(means.by_series)
            yield f"mean over {count_of(means.n_events, 'event')}", name, "", *_numbers(means.by_event)

    def _shown_rows(self) -> Iterator[tuple[str, ...]]:
        scores = _scores(self)
        for i in _shown(self.dqe):
            yield str(self.series[i]), str(self.detector[i]), f"{self.events[i]:,}", *_cells(scores[i])

    def _note(self) -> str:
        low, high = float(self.near.min()), float(self.near.max())
        near = f"near {low:g}" if low == high else f"near {low:g} to {high:g}"
        swept = "all thresholds" if self.thresholds == "exact" else count_of(self.thresholds, "threshold")
        without = int(np.count_nonzero(self.events == 0)) // len(self.detectors)
        parts = [f"{near}, {swept}"]
        parts += [f"{without:,} series without an event"] if without else []
        return "; ".join([*parts, *filter(None, [_shown_note(self.dqe)])])

    def __str__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()


def _shown(dqe: FloatArray) -> list[int]:
    """Return which rows are printed: all in their order if they are few, and otherwise the lowest."""
    shown: list[int] = np.argsort(dqe, kind="stable")[:MOST_SHOWN].tolist()
    return shown if len(dqe) > MOST_SHOWN else list(range(len(dqe)))


def _shown_note(dqe: FloatArray) -> str:
    return f"the lowest {MOST_SHOWN} of {len(dqe):,} are shown" if len(dqe) > MOST_SHOWN else ""


def _scores(of: ManyResult | ManyEvents) -> FloatArray:
    """Return DQE and its parts as four columns."""
    return np.column_stack([getattr(of, name) for name in SCORE_NAMES])


def _numbers(scores: Scores) -> tuple[str, ...]:
    return _cells([scores.dqe, scores.capture, scores.near_miss, scores.false_alarm])


def _cells(values: Iterable[float]) -> tuple[str, ...]:
    return tuple(f"{value:.3f}" for value in values)


def _plain(names: NDArray[Any]) -> Any:
    """Return names as DataFrames take them."""
    return names.tolist() if names.dtype == object else names
