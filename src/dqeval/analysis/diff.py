"""What changed from one run of detectors to another: events gained and lost, and numbers beyond their intervals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dqeval.analysis.diff_result import CAPTURED, SAME, Change, Diff, EventChange, SeriesChange
from dqeval.analysis.diff_sides import How, Measured, Side, side_of
from dqeval.core.confidence import FEWEST, mean_intervals
from dqeval.core.durations import Length
from dqeval.core.types import SCORE_NAMES, IntArray
from dqeval.datasets.door import Data
from dqeval.datasets.loading import stem
from dqeval.render.tables import count_of
from dqeval.support.on_demand import cached_property


def diff(
    before: Data,
    after: Data,
    *,
    metrics: Sequence[str] | str | None = None,
    near: Length | None = None,
    period: Length | None = None,
    part: Literal["all", "test"] = "all",
) -> Diff:
    """Compare two runs of detectors: events gained and lost, and which numbers changed beyond their intervals.

    Parameters
    ----------
    before, after : Series, mapping of columns, or path-like
        Files or folders with labels and scores; receipts that ``dqeval score --per-event --format json`` wrote; or
        folders of benchmark runs. The two may be of different kinds. Series and detectors are matched by name; where
        both sides have one series, or one detector, these are compared whatever their names are.
    metrics : sequence of str, or str, optional
        Which metrics of scores: names of metrics and of groups. If not given, those of `panel`.
    near : float or str, optional
        Of scores: how many points before and after an event a detection still is a near miss.
    period : float or str, optional
        Of scores: the period; ``near`` is then half of it.
    part : "all" or "test", default "all"
        Of scores: whether to take the whole series, or their test parts, where they say where training ends.

    Returns
    -------
    Diff
        Prints as a verdict and tables.

    Examples
    --------
    >>> series = dqeval.datasets.demo()
    >>> old, new = ({"label": series.labels, "mine": series.scores[name]} for name in ("late", "sharp"))
    >>> found = dqeval.diff(old, new, period=48, metrics="dqe")
    >>> found.verdict
    'mine: DQE 0.577 → 0.685, not told apart (+0.108, 95 % interval [-0.106, +0.500]); 1 event gained, 0 lost.'
    >>> [event.place for event in found.gained]
    ['[214, 218)']
    """
    how = How(metrics, near, period, part=part)
    return difference(side_of(before, how), side_of(after, how))


@dataclass(frozen=True)
class _Pair:
    """A detector on a series, on both sides."""

    series: str
    detector: str
    before: Measured
    after: Measured

    @cached_property
    def rows(self) -> tuple[IntArray, IntArray]:
        """Which of its events each side shares with the other: numbers on both sides."""
        one, other = self.before.events.found, self.after.events.found
        _, before, after = np.intersect1d(one.starts, other.starts, return_indices=True)
        are_same = one.stops[before] == other.stops[after]
        return before[are_same], after[are_same]

    @property
    def events(self) -> list[tuple[int, int]]:
        """The events that both sides have."""
        found, (rows, _) = self.before.events.found, self.rows
        return list(zip(found.starts[rows].tolist(), found.stops[rows].tolist(), strict=True))

    def scores(self, part: str) -> NDArray[np.float64]:
        """Return DQE ("dqe") or one of its parts at each of these events, before and after."""
        sides = zip((self.before.events, self.after.events), self.rows, strict=True)
        return np.stack([side.found.scores[rows, SCORE_NAMES.index(part)] for side, rows in sides], axis=1)


def difference(before: Side, after: Side) -> Diff:
    """Return what changed from one side to the other."""
    series = _matched_series(list(before.series), list(after.series))
    detectors = _matched(before.detectors, after.detectors)
    pairs = list(_pairs(before, after, series, detectors))
    if not pairs:
        raise ValueError(
            f"{before.name} and {after.name} have no detector on the same series: {_names(before)} against "
            f"{_names(after)}. Both are matched by name: one side has {_first(before)}, the other {_first(after)}"
        )
    gained, lost = _crossed(pairs)
    return Diff(
        before=before.name,
        after=after.name,
        n_series=len({pair.series for pair in pairs}),
        n_events=_event_count(pairs),
        changes=tuple(_changes(pairs)),
        series=tuple(_series_changes(pairs)),
        gained=gained,
        lost=lost,
        missing=tuple(_only(before, after, series, detectors)),
        new=tuple(_only(after, before, _reversed(series), _reversed(detectors))),
        warnings=(*before.warnings, *after.warnings, *_not_comparable(before, after, series, pairs)),
    )


def _event_count(pairs: Sequence[_Pair]) -> int:
    """Return how many events the two sides share, of all series."""
    of_series: dict[str, set[tuple[int, int]]] = {}
    for pair in pairs:
        of_series.setdefault(pair.series, set()).update(pair.events)
    return sum(map(len, of_series.values()))


def _matched(before: Sequence[str], after: Sequence[str]) -> dict[str, str]:
    """Return the names of one side with those of the other: the same ones, or the only ones."""
    if len(before) == len(after) == 1:
        return {before[0]: after[0]}
    return {name: name for name in before if name in after}


def _matched_series(before: Sequence[str], after: Sequence[str]) -> dict[str, str]:
    """Return the series of one side with those of the other; a benchmark run leaves out the endings of files."""
    return _matched(before, after) or _shortened(before, after) or _reversed(_shortened(after, before))


def _shortened(names: Sequence[str], files: Sequence[str]) -> dict[str, str]:
    """Return the names that are those of files without their endings, each with its file, unless two are alike."""
    shorter = {stem(Path(file)): file for file in files}
    return {name: shorter[name] for name in names if name in shorter} if len(shorter) == len(files) else {}


def _reversed(names: Mapping[str, str]) -> dict[str, str]:
    return {other: one for one, other in names.items()}


def _pairs(before: Side, after: Side, series: Mapping[str, str], detectors: Mapping[str, str]) -> Iterator[_Pair]:
    for detector, other in detectors.items():
        called = detector if detector == other else f"{detector} → {other}"
        for name, there in series.items():
            if detector in before.series[name] and other in after.series[there]:
                yield _Pair(name, called, before.series[name][detector], after.series[there][other])


def _names(side: Side) -> str:
    return f"{count_of(len(side.detectors), 'detector')} on {len(side.series):,} series"


def _first(side: Side) -> str:
    """Return a detector and a series of a side, as examples of its names."""
    return next((f"{detector!r} on {name!r}" for name, found in side.series.items() for detector in found), "none")


def _only(one: Side, other: Side, series: Mapping[str, str], detectors: Mapping[str, str]) -> Iterator[str]:
    """Yield the series and detectors that only one side has, in words."""
    yield from (f"series {name}" for name in one.series if name not in series)
    yield from (f"detector {name}" for name in one.detectors if name not in detectors)
    for name, there in series.items():
        for detector in one.series[name]:
            if detector in detectors and detectors[detector] not in other.series[there]:
                yield f"{detector} on {name}"


def _by_detector(pairs: Sequence[_Pair]) -> dict[str, list[_Pair]]:
    found: dict[str, list[_Pair]] = {}
    for pair in pairs:
        found.setdefault(pair.detector, []).append(pair)
    return found


def _changes(pairs: Sequence[_Pair]) -> Iterator[Change]:
    for detector, found in _by_detector(pairs).items():
        metrics = _metrics(found)
        by_event = len(found) < FEWEST and any(len(pair.rows[0]) for pair in found)
        parts = [metric for metric in metrics if by_event and metric in SCORE_NAMES]
        if parts:  # of the same events, which are drawn once for all of them
            yield from _changes_of(detector, parts, [_of_events(found, part) for part in parts], "event")
        for metric in (each for each in metrics if each not in parts):
            yield from _changes_of(detector, [metric], [_of_series(found, metric)], "series")


def _metrics(pairs: Sequence[_Pair]) -> list[str]:
    """Return the metrics that both sides have: DQE and its parts, then in the order of the first."""
    names = dict.fromkeys(metric for pair in pairs for metric in pair.before.values if metric in pair.after.values)
    return sorted(names, key=lambda name: SCORE_NAMES.index(name) if name in SCORE_NAMES else len(SCORE_NAMES))


def _of_series(pairs: Sequence[_Pair], metric: str) -> list[tuple[float, float]]:
    values = [(pair.before.values.get(metric, np.nan), pair.after.values.get(metric, np.nan)) for pair in pairs]
    return [each for each in values if np.isfinite(each).all()]


def _of_events(pairs: Sequence[_Pair], part: str) -> NDArray[np.float64]:
    return np.concatenate([pair.scores(part) for pair in pairs])


def _changes_of(detector: str, metrics: Sequence[str], values: Sequence[ArrayLike], over: str) -> Iterator[Change]:
    """Yield the changes of metrics that are known of the same events or series."""
    sides = np.array(values).reshape(len(metrics), -1, 2)
    differences = (sides[:, :, 1] - sides[:, :, 0]).T
    intervals = mean_intervals(differences, unit=over, least=-np.inf, most=np.inf)
    for metric, own, interval in zip(metrics, sides, intervals, strict=True):
        before, after = own.mean(axis=0).tolist() if len(own) else (np.nan, np.nan)
        yield Change(detector, metric, before, after, over, interval)


def _series_changes(pairs: Sequence[_Pair]) -> list[SeriesChange]:
    metric = _metrics(pairs)[:1]
    found = [
        SeriesChange(pair.series, pair.detector, before, after)
        for pair in pairs
        for before, after in (each for name in metric for each in _of_series([pair], name))
        if abs(after - before) > SAME
    ]
    return sorted(found, key=lambda each: -abs(each.after - each.before))


def _crossed(pairs: Sequence[_Pair]) -> tuple[tuple[EventChange, ...], tuple[EventChange, ...]]:
    """Return the events that are captured only after, and those that are captured only before."""
    gained: list[EventChange] = []
    lost: list[EventChange] = []
    for pair in pairs:
        capture, dqe = pair.scores("capture"), pair.scores("dqe")
        captured = capture >= CAPTURED
        for i in np.flatnonzero(captured[:, 0] != captured[:, 1]):
            place = pair.before.events.place(int(pair.rows[0][i]))
            change = EventChange(pair.series, pair.detector, place, tuple(capture[i].tolist()), tuple(dqe[i].tolist()))
            (gained if captured[i, 1] else lost).append(change)
    return tuple(sorted(gained, key=_size)), tuple(sorted(lost, key=_size))


def _size(change: EventChange) -> float:
    return -abs(change.dqe[1] - change.dqe[0])


def _not_comparable(before: Side, after: Side, series: Mapping[str, str], pairs: Sequence[_Pair]) -> Iterator[str]:
    """Yield why numbers of the two sides may differ for another reason than the detectors."""
    for name, there in series.items():
        near = before.near.get(name), after.near.get(there)
        if None not in near and near[0] != near[1]:
            yield f"{name}: the near range is {near[0]:g} before and {near[1]:g} after, so numbers are not comparable"
        points = before.points.get(name), after.points.get(there)
        if None not in points and points[0] != points[1]:
            lengths = f"{points[0]:,} points before and {points[1]:,} after"
            yield f"{name}: there are {lengths}, so numbers are not comparable"
    told: set[str] = set()
    for pair in pairs:
        sizes = len(pair.before.events), len(pair.after.events)
        others = sum(sizes) - 2 * len(pair.rows[0])
        if all(sizes) and others and pair.series not in told:
            told.add(pair.series)
            are = "is" if others == 1 else "are"
            yield f"{pair.series}: the labels differ, {count_of(others, 'event')} {are} on one side only"
