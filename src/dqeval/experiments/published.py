"""DQE as the authors' code of March 2026 computed it, which made the paper's tables of real series: slow and plain.

It is here to show that the printed numbers can be reached, and is no variant of the library's metric. It departs from
the paper's text in three ways: the near range is a whole number, floor(period / 2); near-miss pieces reach up to the
neighbouring anomaly, so that they may overlap; and false alarms on both sides of the border between two anomalies are
merged into one, which counts for the anomaly whose part was longer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor, log2, sqrt

import numpy as np

from dqeval.core import validate
from dqeval.core.event_scores import EventScores
from dqeval.core.events import find_events
from dqeval.core.scaling import min_max
from dqeval.core.types import BoolArray, FloatArray, Numbers, Scores

THRESHOLDS = 100
Part = tuple[float, float]


@dataclass(frozen=True, slots=True)
class PublishedResult:
    """DQE and its parts, of a series and of each of its events."""

    mean: Scores
    per_event: tuple[EventScores, ...]


@dataclass(frozen=True, slots=True)
class _Pieces:
    """The five pieces around an anomaly: false alarm, near miss, the anomaly, near miss, false alarm."""

    early_false: Part
    early_near: Part
    anomaly: Part
    late_near: Part
    late_false: Part


def published_dqe(y_true: Numbers, y_score: Numbers, *, period: float) -> PublishedResult:
    """Return DQE as the authors' code computed it.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_score : array-like of numbers, shape (n,)
    period : float
        The near range is half of it, rounded down.
    """
    labels, raw = validate.labels_and_raw_scores(y_true, y_score)
    events = find_events(labels)
    validate.check_defined(events, "raise")
    near = floor(period / 2)
    pieces = _cut(list(events), near, len(labels))
    scaled = min_max(raw)
    rows = np.array([_at_threshold(scaled >= t, pieces, near) for t in np.linspace(1, 0, THRESHOLDS + 1)[:-1]])
    means = rows.mean(axis=0)
    per_event = tuple(EventScores(*event, *row) for event, row in zip(events, means.tolist(), strict=True))
    return PublishedResult(Scores(*means.mean(axis=0).tolist()), per_event)


def _cut(events: Sequence[tuple[int, int]], near: int, length: int) -> list[_Pieces]:
    stops_before = [0, *(stop for _, stop in events[:-1])]
    starts_after = [*(start for start, _ in events[1:]), length]
    reach = [
        (max(start - near, before), min(stop + near, after))
        for (start, stop), before, after in zip(events, stops_before, starts_after, strict=True)
    ]
    # Halfway between the near-miss pieces of neighbours, which may overlap.
    middles = [(late + early) / 2 for (_, late), (early, _) in pairwise(reach)]
    borders = [0.0, *middles, float(length)]
    return [
        _Pieces((left, early), (early, start), (start, stop), (stop, late), (late, right))
        for (start, stop), (early, late), left, right in zip(events, reach, borders[:-1], borders[1:], strict=True)
    ]


def _at_threshold(detected: BoolArray, pieces: Sequence[_Pieces], near: int) -> list[tuple[float, ...]]:
    """Return DQE, capture, near miss and false alarm of each anomaly for the points detected."""
    parts = _parts(detected, pieces)
    early_false = [_inside(parts, each.early_false) for each in pieces]
    late_false = [_inside(parts, each.late_false) for each in pieces]
    for i in range(len(pieces) - 1):
        late_false[i], early_false[i + 1] = _merge(late_false[i], early_false[i + 1])
    return [
        _scores(parts, each, early, late, near)
        for each, early, late in zip(pieces, early_false, late_false, strict=True)
    ]


def _parts(detected: BoolArray, pieces: Sequence[_Pieces]) -> FloatArray:
    """Return the detections, cut at every border of every anomaly, as starts and stops in time order."""
    runs = find_events(detected)
    borders = {float(x) for each in pieces for span in _spans(each) for x in span}
    inside = np.array(sorted(borders))
    starts, stops = runs.starts.astype(float), runs.stops.astype(float)
    # A border cuts the run that it lies inside of.
    run = np.searchsorted(starts, inside, side="left") - 1
    cuts = inside[(run >= 0) & (inside < stops[np.maximum(run, 0)])] if len(starts) else np.empty(0)
    return np.column_stack([np.sort(np.r_[starts, cuts]), np.sort(np.r_[stops, cuts])])


def _spans(pieces: _Pieces) -> tuple[Part, ...]:
    return pieces.early_false, pieces.early_near, pieces.anomaly, pieces.late_near, pieces.late_false


def _inside(parts: FloatArray, piece: Part) -> FloatArray:
    """Return the parts that lie in a piece; none if it is empty or inverted."""
    first = np.searchsorted(parts[:, 0], piece[0], side="left")
    last = np.searchsorted(parts[:, 1], piece[1], side="right")
    return parts[first:last] if piece[0] < piece[1] else parts[:0]


def _merge(late: FloatArray, early: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Join the last false alarm after an anomaly with the first one before the next, however far apart they are."""
    if not len(late) or not len(early):
        return late, early
    joined = np.array([[late[-1, 0], early[0, 1]]])
    if late[-1, 1] - late[-1, 0] >= early[0, 1] - early[0, 0]:
        return np.r_[late[:-1], joined], early[1:]
    return late[:-1], np.r_[joined, early[1:]]


def _scores(
    parts: FloatArray, pieces: _Pieces, early: FloatArray, late: FloatArray, near: int
) -> tuple[float, float, float, float]:
    captured = len(_inside(parts, pieces.anomaly)) > 0
    near_early, near_late = _inside(parts, pieces.early_near), _inside(parts, pieces.late_near)
    any_near, any_false = len(near_early) + len(near_late) > 0, len(early) + len(late) > 0
    near_miss = _near_miss(near_early, near_late, pieces.anomaly, near) if any_near else 1.0
    if not any_near and (not captured or any_false):
        near_miss = 0.0
    false_alarm = _false_alarm(early, late, pieces) if any_false else 1.0
    if not captured and not any_near and not any_false:
        false_alarm = 0.0
    return sqrt((captured + near_miss) / 2 * false_alarm), float(captured), near_miss, false_alarm


def _near_miss(early: FloatArray, late: FloatArray, anomaly: Part, near: int) -> float:
    start, stop = anomaly
    closest = np.r_[start - early[:, 1], late[:, 0] - stop].min()
    mean = np.r_[start - early.mean(axis=1), late.mean(axis=1) - stop].mean()
    duration = _duration(early) + _duration(late)
    factors = (1 - closest / near, 1 - mean / near, 1 - duration / (2 * near))
    return float(np.prod(np.maximum(factors, 0.0)))


def _false_alarm(early: FloatArray, late: FloatArray, pieces: _Pieces) -> float:
    before = max(pieces.early_false[1] - pieces.early_false[0], 0.0)
    after = max(pieces.late_false[1] - pieces.late_false[0], 0.0)
    room = before + after
    burden = max(0.0, 1 - (_duration(early) + _duration(late)) / (room / 2))
    if room <= 1:
        return burden
    middles = np.r_[early.mean(axis=1) - pieces.early_false[1], late.mean(axis=1) - pieces.late_false[0]]
    bins = ceil(room)
    occupied = np.searchsorted(np.linspace(-before, after, bins + 1), middles, side="right") - 1
    # What was merged may have its middle beyond the piece.
    count = len(np.unique(np.clip(occupied, 0, bins - 1)))
    return float((1 - log2(count) / log2(bins)) * burden)


def _duration(parts: FloatArray) -> float:
    return float((parts[:, 1] - parts[:, 0]).sum())
