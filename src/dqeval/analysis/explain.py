"""Why a detector gets the number it gets: event by event, what costs most, and what would mend it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import combinations
from math import factorial
from typing import Any

import numpy as np

from dqeval.analysis import pitfalls
from dqeval.analysis.explain_result import WORTH_SAYING, Explanation, Improvement, in_points
from dqeval.analysis.explained_events import Digits, ExplainedEvents, duration
from dqeval.analysis.free_choices import moves_of_one
from dqeval.analysis.suggestion import suggested_threshold
from dqeval.analysis.timed_result import alarms_at, on_clock
from dqeval.core import arguments, validate
from dqeval.core import levels as levelling
from dqeval.core.durations import Length
from dqeval.core.matching import highest_in_events
from dqeval.core.pieces import belonging_to_captures, parts_in
from dqeval.core.prepared import Scored, points_of
from dqeval.core.sampling import Clock
from dqeval.core.thresholds import shortest_threshold
from dqeval.core.types import (
    PARTS,
    BoolArray,
    DQEResult,
    Events,
    FloatArray,
    IntArray,
    Numbers,
    Partition,
)
from dqeval.metrics import dqe
from dqeval.render.tables import in_words

THRESHOLDS = 100
MOST_IMPROVEMENTS = 3
# To mend each kind of trouble, this is cut off alarms that capture events; of other alarms, the first kind is silenced.
KINDS = {"capture": (), "near_miss": ("near miss", "false alarm"), "false_alarm": ("false alarm",)}


def explain(
    y_true: Numbers,
    y_score: Numbers,
    *,
    near: Length | None = None,
    period: Length | None = None,
    values: Numbers | None = None,
    times: Any = None,
    resolution: Length | None = None,
    max_gap: Length | None = None,
    name: str = "",
) -> Explanation:
    r"""Say in plain words what a detector does at each event, what costs most, and what would mend it.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly. A run of ones is an event.
    y_score : array-like of numbers, shape (n,)
        The detector's scores, the larger, the more anomalous; or its detections: whatever holds only 0 and 1 is taken
        for detections.
    near : float, str or timedelta, optional
        How many points before and after an event a detection still is a near miss; 0 for none, "2ev" for twice the
        median length of an event, or with ``times`` a duration such as "10min".
    period : float, str or timedelta, optional
        The period of the series, in points or as a duration; ``near`` is then half of it.
    values : array-like of numbers, shape (n,), optional
        The values of the series, to estimate the period from with `find_period`, which fills missing ones (NaN). Give
        at most one of ``near``, ``period`` and ``values``; with none of them, ``near`` is 125, or
        with times the median length of an event.
    times : array-like, shape (n,), optional
        When each point is, in ascending order: dates of any kind, or numbers. Then time is counted in cells: a cell has
        the highest score of the samples in it, and the result knows when events were.
        Pandas columns with an index of dates need none: durations, ``resolution`` and ``max_gap`` use the index.
    resolution : str, timedelta or number, optional
        The length of a cell, such as "1min", or in seconds; the median step of the times by default. DQE depends on it.
    max_gap : int, str or timedelta, default 3
        Over how many cells without a sample, or how long, the one before stands for them. What is missing longer was
        not observed: no region crosses it, and nothing in it is scored.
    name : str, optional
        What to call the detector.

    Returns
    -------
    Explanation

    Notes
    -----
    What a kind of trouble costs is found by evaluating changed scores: the highest score in every event raised to the
    maximum; the scores in the near-miss pieces, or in the false-alarm pieces, lowered to the minimum. With all three
    changes DQE is 1. The parts of DQE depend on each other, so each change is tried alone and with any of the others,
    and its cost is the mean of what it brings, over the orders in which the three can be made (Shapley's value).

    Examples
    --------
    >>> y_true = [0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0]
    >>> y_score = [0, 0, 0, 5, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0]
    >>> found = dqeval.explain(y_true, y_score, near=4)
    >>> found.threshold
    2.0
    >>> print(*found.events[1].sentence.split(". "), sep=".\n")
    Never captured; one near miss, 2 points late; no false alarm.
    Missing it costs most (0.79 of DQE).
    """
    arguments.text("name", name)
    labels, raw = validate.labels_and_raw_scores(y_true, y_score)
    clock = Clock(times, resolution, max_gap)
    points = points_of(y_true, labels, raw, near=near, period=period, values=values, clock=clock, y_score=y_score)
    validate.check_defined(points.labelled.events, "raise")
    scored, found = points.labelled.scored(points.found), points.near
    explanation = with_cautions(explanation_of(scored, found.points, name=name), scored, found.points)
    of_all = tuple(pitfall.message for pitfall in pitfalls.of_labels(scored.labelled, found))
    return explanation.with_cautions(points.notes + of_all + explanation.cautions)


def with_cautions(explanation: Explanation, scored: Scored, near: float) -> Explanation:
    """Return an explanation with what makes DQE of this detector mislead."""
    detections = scored.raw >= explanation.threshold
    found = pitfalls.of_scores(scored, near, detections)
    return explanation.with_cautions(
        (*(pitfall.message for pitfall in found), *moves_of_one(scored, near, chance=True))
    )


def explanation_of(scored: Scored, near: float, *, name: str, result: DQEResult | None = None) -> Explanation:
    """Return what `explain` does, of what is checked already; with DQE at 100 thresholds, if it is there already."""
    return _Explaining(scored, scored.labelled.regions(near), result).explanation(name)


class _Explaining:
    """What several steps of an explanation share."""

    def __init__(self, scored: Scored, regions: Partition, result: DQEResult | None) -> None:
        self.scored, self.regions = scored, regions
        self.axis = scored.labelled.axis
        # Every threshold there is: with scores far above the others, all 100 lie above all that matters.
        self.start, self.sdqe = suggested_threshold(*dqe.dqe_at_every_score(scored.scores, regions))
        self.levels = levelling.sample_levels(scored.counting, regions, THRESHOLDS)
        self.result = result or on_clock(dqe.result_of(self.levels, THRESHOLDS), scored.labelled)
        self.detections: BoolArray = scored.scores >= self.start
        parts = parts_in(scored.labelled.runs(self.detections), regions)
        owned = belonging_to_captures(parts)
        # What is detected apart from the alarms that capture events, and what these have beyond the events.
        self.parts, self.overhang = parts.without(owned), parts.without(~owned)
        self.threshold = self.raw_threshold()
        self.digits = Digits(scored.raw[scored.ascending])
        events = regions.events
        # Where scores are changed to do away with each kind of trouble.
        self.places: dict[str, Any] = {
            "capture": _highest_points(scored.scores, regions),
            "near_miss": _touched(regions, ((regions.near_start, events.starts), (events.stops, regions.near_stop))),
            "false_alarm": _touched(regions, ((regions.left, regions.near_start), (regions.near_stop, regions.right))),
        }

    def explanation(self, name: str) -> Explanation:
        return Explanation(
            name=name,
            result=self.result,
            threshold=self.threshold,
            step=max(round(THRESHOLDS * min(self.start, 1.0)), 1),
            sdqe=self.sdqe,
            events=self.events().made,
            improvements=tuple(self.improvements()),
            alarms=alarms_at(self.scored.labelled, self.detections, self.regions.near),
            binary=self.scored.binary,
        )

    def raw_threshold(self) -> float:
        """Return the suggested threshold in the units of the scores, with few digits."""
        raw = self.scored.raw
        detected = raw[self.detections]
        if not len(detected):
            return np.inf
        low, high = float(raw.min()), float(raw.max())
        middle = 2 * (low / 2 + (high / 2 - low / 2) * self.start)  # halves of finite numbers do not overflow
        return shortest_threshold(raw, float(detected.min()), around=middle)

    def events(self) -> ExplainedEvents:
        """Return what is known of each event; no array of all points is kept with it."""
        parts, overhang = replace(self.parts), replace(self.overhang)  # without what they keep to be looked up quickly
        return ExplainedEvents(
            result=self.result,
            captured=self.detections[self.places["capture"]],
            captured_to=self.digits.heights(self.highest_in_events()),
            first_near_miss=self.digits.heights(self.highest("near_miss")),
            first_false_alarm=self.digits.heights(self.highest("false_alarm")),
            parts=parts,
            overhang=overhang,
            costs=self.costs(),
            axis=self.axis,
            binary=self.scored.binary,
        )

    def highest_in_events(self) -> FloatArray:
        """Return the highest score in each event; minus infinity where it is never detected."""
        points = self.places["capture"]
        return np.where(self.scored.scores[points] > 0, self.scored.raw[points], -np.inf)

    def highest(self, part: str) -> FloatArray:
        """Return the highest score in some pieces of each region; minus infinity where it is never detected."""
        there = np.where(self.places[part] & (self.scored.scores > 0), self.scored.raw, -np.inf)
        starts, stops = np.floor(self.regions.left).astype(np.intp), np.ceil(self.regions.right).astype(np.intp)
        return highest_in_events(there, Events(starts, stops, self.regions.events.length))

    def costs(self) -> dict[str, FloatArray]:
        """Return what each kind of trouble costs at each event, so that together they are what is lost.

        Regions do not overlap, so one evaluation with every event changed tells it for each of them.
        """
        value = {kept: self.mended(kept) for n in range(4) for kept in combinations(PARTS, n)}
        found = {part: np.zeros(len(self.regions.events)) for part in PARTS}
        for mended, dqe_then in value.items():
            for part in set(PARTS) - set(mended):
                with_it = tuple(p for p in PARTS if p in mended or p == part)
                orders = factorial(len(mended)) * factorial(len(PARTS) - len(mended) - 1)
                found[part] += orders / factorial(len(PARTS)) * (value[with_it] - dqe_then)
        return found

    def mended(self, parts: Collection[str]) -> FloatArray:
        """Return DQE of each event without some kinds of trouble: with all thresholds reached there, or none."""
        of_point = self.levels.of_point.copy()
        for part in parts:
            of_point[self.places[part]] = THRESHOLDS if part == "capture" else 0
        return dqe.local_scores(replace(self.levels, of_point=of_point), dqe_only=True)[:, 0].copy()

    def improvements(self) -> list[Improvement]:
        """Return the cheapest changes at the suggested threshold."""
        if np.isinf(self.threshold):
            return []
        before = self.sdqe_of(self.detections)
        found = [self.steps(part, before) for part in PARTS]
        most = max(steps.gains.max(initial=0.0) for steps in found)
        worth = [steps.of_gain(max(most / 10, WORTH_SAYING)) for steps in found]
        cheap = [step for steps in worth for step in steps.cheapest(MOST_IMPROVEMENTS)]
        cheap.sort(key=lambda step: -(step.after - step.before) / step.moved)
        return [replace(step, sentence=self.sentence(step)) for step in cheap[:MOST_IMPROVEMENTS]]

    def steps(self, part: str, before: FloatArray) -> Steps:
        """Return the change of one kind at each event where it brings anything."""
        after = self.sdqe_of(self.changed(part))
        moved = self.moved(part)
        events = np.flatnonzero((after > before) & (moved > 0))
        return Steps(part, events, before[events], after[events], moved[events])

    def moved(self, part: str) -> FloatArray:
        """Return how far scores must move for the change at each event; 0 where there is nothing to change.

        Half a point of a neighbour's alarm may reach over the border between their regions: that is nothing of it.
        """
        step = 1 / THRESHOLDS
        if part == "capture":
            return np.asarray(np.maximum(self.start - self.scored.scores[self.places[part]], step))
        events, peaks = self.peaks_of(part)
        distances = np.bincount(events, peaks - self.start + step, minlength=len(self.regions.events))
        return distances.astype(np.float64)

    def peaks_of(self, part: str) -> tuple[IntArray, FloatArray]:
        """Return of all that is silenced or cut off, to mend one kind of trouble, the event and the highest score."""
        silenced = self.parts.of_kinds(KINDS[part][:1])
        cut_off = self.overhang.of_kinds(KINDS[part])
        found = [np.concatenate(columns) for columns in zip(silenced, cut_off, strict=True)]
        return found[0], _highest_in(self.scored.scores, *found[1:])

    def sentence(self, step: Improvement) -> str:
        """Say what to change, and what it brings."""
        gain = f"DQE of this event rises from {step.before:.2f} to {step.after:.2f}"
        return f"{self.change(step.event, step.part)}: {gain}."

    def silenced(self, i: int, part: str) -> list[tuple[float, float]]:
        """Return the alarms around an event that are silenced, to mend one kind of trouble."""
        return [found for kind in KINDS[part][:1] for found in self.parts.of(i, kind)]

    def changed(self, part: str) -> BoolArray:
        """Return the detections with one kind of trouble mended everywhere.

        An alarm that ends with its event ends there: without its near misses, it has no false alarm beyond them.
        """
        changed = self.detections.copy()
        changed[self.places[part]] = part == "capture"
        if part == "near_miss" and self.regions.near > 0:
            for start, stop in zip(self.overhang.starts, self.overhang.stops, strict=True):
                changed[int(np.floor(start)) : int(np.ceil(stop))] = False
        return changed

    def cut_off(self, i: int, part: str) -> list[tuple[float, float]]:
        """Return what is taken off the alarms that capture an event, to mend one kind of trouble."""
        return [found for kind in KINDS[part] for found in self.overhang.of(i, kind)]

    def sdqe_of(self, detections: BoolArray) -> FloatArray:
        return dqe.local_scores(levelling.detection_levels(detections, self.regions), dqe_only=True)[:, 0].copy()

    def peak_of(self, part: tuple[float, float]) -> int:
        """Return the point of the highest score in a part."""
        first, stop = int(np.floor(part[0])), int(np.ceil(part[1]))
        return first + int(np.argmax(self.scored.scores[first:stop]))

    def place(self, i: int) -> str:
        """Return where an event is, in words; without a clock, no objects of all events are made for that."""
        return self.scored.labelled.place(i) if self.axis is None else self.result.per_event[i].place

    def change(self, i: int, part: str) -> str:
        """Say what to change."""
        peaks = [self.peak_of(found) for found in self.silenced(i, part)]
        raw, digits, place = self.scored.raw, self.digits, self.place(i)
        if part == "capture" and self.scored.binary:
            return f"Detect {place}"
        if part == "capture":
            now = digits.shown(raw[self.places["capture"][i]])
            return f"Raise the highest score in {place} from {now} to {self.threshold!r}"
        steps = list(self.trims(i, self.cut_off(i, part)))
        if peaks:
            noun, plural = ("near miss", "near misses") if part == "near_miss" else ("false alarm", "false alarms")
            which = f"the {noun}" if len(peaks) == 1 else f"the {len(peaks):,} {plural}"
            verb = "scores" if len(peaks) == 1 else "score"
            height = "" if self.scored.binary else f", which {verb} up to {digits.shown(raw[peaks].max())}"
            steps.append(f"silence {which} around {place}{height}")
        words = in_words(steps)
        return words[0].upper() + words[1:]

    def trims(self, i: int, cut_off: list[tuple[float, float]]) -> Iterator[str]:
        """Say how much later an alarm should begin, and how much earlier it should end."""
        events = self.regions.events
        early = duration(part for part in cut_off if part[0] < events.starts[i])
        late = duration(part for part in cut_off if part[0] >= events.stops[i])
        alarm = f"the alarm at {self.place(i)}"
        if early:
            yield f"begin {alarm} {in_points(early, self.axis)} later"
        if late:
            yield f"end {'it' if early else alarm} {in_points(late, self.axis)} earlier"


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """Changes of one kind, each at one event: columns of `Improvement`, without words."""

    part: str
    events: IntArray
    before: FloatArray
    after: FloatArray
    moved: FloatArray

    @property
    def gains(self) -> FloatArray:
        """What each brings."""
        return self.after - self.before

    def of_gain(self, least: float) -> Steps:
        """Return those that bring so much."""
        kept = self.gains >= least
        return Steps(self.part, self.events[kept], self.before[kept], self.after[kept], self.moved[kept])

    def cheapest(self, most: int) -> list[Improvement]:
        """Return some that bring most for how far scores must move."""
        order = np.argsort(-self.gains / self.moved, kind="stable")[:most]
        columns = (column[order].tolist() for column in (self.events, self.before, self.after, self.moved))
        return [
            Improvement(event, self.part, before, after, distance, sentence="")
            for event, before, after, distance in zip(*columns, strict=True)
        ]


def _highest_points(scores: FloatArray, regions: Partition) -> IntArray:
    """Return the first point of the highest score in each event."""
    return np.array([start + int(np.argmax(scores[start:stop])) for start, stop in regions.events], dtype=np.intp)


def _highest_in(scores: FloatArray, starts: FloatArray, stops: FloatArray) -> FloatArray:
    """Return the highest of the scores of all points that each part touches."""
    last = len(scores) - 1
    first, behind = np.floor(starts).astype(np.intp), np.ceil(stops).astype(np.intp)
    borders = np.column_stack([first, np.minimum(behind, last)]).ravel()
    highest = np.maximum.reduceat(scores, borders)[::2]
    # Borders lie inside the series: of parts that end with it, the last point is left over.
    return np.where(behind > last, np.maximum(highest, scores[last]), highest)


def _touched(regions: Partition, pieces: Iterable[tuple[Any, Any]]) -> BoolArray:
    """Return the points that lie in some pieces at least in part."""
    edges = np.zeros(regions.events.length + 1, dtype=np.intp)
    for lows, highs in pieces:
        there = lows < highs
        np.add.at(edges, np.floor(lows[there]).astype(np.intp), 1)
        np.add.at(edges, np.ceil(highs[there]).astype(np.intp), -1)
    return np.asarray(np.cumsum(edges[:-1]) > 0)
