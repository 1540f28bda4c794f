"""Each event in plain words: what a detector does there, what it costs, and what would mend it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dqeval import thresholds as levelling
from dqeval import validate
from dqeval.events import find_events
from dqeval.metrics import dqe
from dqeval.partition import cut
from dqeval.parts import parts_in
from dqeval.period import near_range
from dqeval.scored import Scored
from dqeval.tables import Page, counted
from dqeval.types import BoolArray, DQEResult, EventScores, FloatArray, IntArray, Numbers, Partition

THRESHOLDS = 100
KINDS = ("capture", "near miss", "false alarm")
WORTH_SAYING = 0.005  # a smaller gain does not show in two decimals
MOST_IMPROVEMENTS = 3


@dataclass(frozen=True, slots=True)
class EventExplanation:
    """What a detector does at one event.

    Attributes
    ----------
    scores : EventScores
        Over all thresholds.
    highest : float
        The highest score in the event: it is captured at thresholds up to there.
    near_misses, false_alarms : tuple of (start, stop)
        What is detected at the threshold to start from, outside the event but in its region.
    first_near_miss, first_false_alarm : float or None
        The highest score there: at thresholds up to it there are near misses, or false alarms. None if there never are.
    gains : dict of str to float
        By how much the event's DQE would rise over all thresholds if it were always captured ("capture"), if nothing
        else near it were detected ("near miss"), if there were no false alarm in its region ("false alarm").
    """

    scores: EventScores
    highest: float
    near_misses: tuple[tuple[float, float], ...]
    false_alarms: tuple[tuple[float, float], ...]
    first_near_miss: float | None
    first_false_alarm: float | None
    gains: dict[str, float]

    @property
    def costs_most(self) -> str | None:
        """The part with the largest gain, or None if there is nothing to gain."""
        kind = max(self.gains, key=lambda kind: self.gains[kind])
        return kind if self.gains[kind] >= WORTH_SAYING else None

    @property
    def sentence(self) -> str:
        """The event in plain words."""
        found = f"{self._captured()}; {self._near_missed()}; {self._alarmed()}."
        return f"{found} {self._cost()}"

    def _captured(self) -> str:
        if self.scores.capture == 0:
            return "Never captured"
        if self.scores.capture == 1:
            return "Captured at every threshold"
        return f"Captured at thresholds up to {self.highest:.4g} ({self.scores.capture:.0%} of them)"

    def _near_missed(self) -> str:
        if not self.near_misses:
            return f"no near miss{_first(self.first_near_miss)}"
        nearest = min(self.near_misses, key=self._distance)
        which = "" if len(self.near_misses) == 1 else "the nearest "
        return f"{_number(len(self.near_misses), 'near miss', 'near misses')}, {which}{self._where(nearest)}"

    def _distance(self, part: tuple[float, float]) -> float:
        start, stop = part
        return max(self.scores.start - stop, start - self.scores.stop)

    def _where(self, part: tuple[float, float]) -> str:
        early = part[0] < self.scores.start
        distance = self._distance(part)
        if distance == 0:
            return "right before it" if early else "right behind it"
        return f"{_points(distance)} {'early' if early else 'late'}"

    def _alarmed(self) -> str:
        if not self.false_alarms:
            return f"no false alarm{_first(self.first_false_alarm)}"
        total = sum(stop - start for start, stop in self.false_alarms)
        found = _number(len(self.false_alarms), "false alarm", "false alarms")
        if len(self.false_alarms) == 1:
            return f"{found} of {_points(total)}"
        reach = self.false_alarms[-1][1] - self.false_alarms[0][0]
        return f"{found}, {_points(total)} in all, scattered over {_points(reach)}"

    def _cost(self) -> str:
        kind = self.costs_most
        if kind is None:
            return "There is nothing to gain."
        better = self.scores.dqe + self.gains[kind]
        what = {
            "capture": "Not capturing it costs most: always captured",
            "near miss": "Near misses cost most: without them",
            "false alarm": "False alarms cost most: without them",
        }
        return f"{what[kind]}, its DQE would be {better:.2f}, not {self.scores.dqe:.2f}."


@dataclass(frozen=True, slots=True)
class Improvement:
    """A change at one event, at the threshold to start from, and what it is worth.

    Attributes
    ----------
    event : int
        Which event, from 0 on.
    kind : "capture", "near miss" or "false alarm"
    before, after : float
        The event's SDQE at the threshold, as it is and with the change.
    moved : float
        How far scores must move for it, as a share of their range: up to the threshold for a capture; below it for each
        detection to be silenced, added up.
    sentence : str
    """

    event: int
    kind: str
    before: float
    after: float
    moved: float
    sentence: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """A detector's result in plain words.

    Attributes
    ----------
    name : str
    result : DQEResult
        Over all thresholds.
    threshold : float
        The threshold to start from, in the units of the scores: where the mean SDQE of the events is highest, in the
        middle if that is a range. At or above it a point is detected. Infinite if nothing is ever detected.
    step : int
        Which of the 100 thresholds that is, from the lowest, 1, on.
    sdqe : float
        The mean SDQE there.
    events : tuple of EventExplanation
        In time order.
    improvements : tuple of Improvement
        The cheapest, at most three: the largest gain for how far scores must move, among the changes that bring at
        least a tenth of what the best one brings.
    """

    name: str
    result: DQEResult
    threshold: float
    step: int
    sdqe: float
    events: tuple[EventExplanation, ...]
    improvements: tuple[Improvement, ...]

    @property
    def costs(self) -> dict[str, float]:
        """What DQE loses to each kind of trouble: the means of the events' gains."""
        return {kind: float(np.mean([event.gains[kind] for event in self.events])) for kind in KINDS}

    def page(self) -> Page:
        """Return the explanation as paragraphs."""
        r = self.result
        opening = f"{self.name}: " if self.name else ""
        opening += f"DQE {r.dqe:.3f} (capture {r.capture:.3f}, near miss {r.near_miss:.3f}, false alarm "
        opening += f"{r.false_alarm:.3f}) over {counted(len(r.per_event), 'event')}, near {r.near:g}."
        if np.isinf(self.threshold):
            start = "Nothing is ever detected: all scores are the same."
        else:
            start = f"Threshold to start from: {self.threshold!r}, where DQE is best ({self.sdqe:.3f}). "
            start += "Near misses and false alarms below are those at this threshold; if there are none, the "
            start += "threshold of the first is in brackets."
        lines = [f"- [{e.scores.start}, {e.scores.stop}) DQE {e.scores.dqe:.3f}. {e.sentence}" for e in self.events]
        parts = [opening, start, "\n".join(lines)]
        if self.improvements:
            steps = [f"{i}. {step.sentence}" for i, step in enumerate(self.improvements, start=1)]
            parts.append("\n".join(["Cheapest improvements at this threshold:", "", *steps]))
        return Page(parts)

    def records(self) -> list[dict[str, Any]]:
        """Return one row an event."""
        return [
            {
                "detector": self.name,
                **asdict(e.scores),
                "highest_score": e.highest,
                "near_misses": len(e.near_misses),
                "false_alarms": len(e.false_alarms),
                "first_near_miss": e.first_near_miss,
                "first_false_alarm": e.first_false_alarm,
                **{f"gain_{kind.replace(' ', '_')}": gain for kind, gain in e.gains.items()},
                "costs_most": e.costs_most or "",
                "sentence": e.sentence,
            }
            for e in self.events
        ]

    def numbers(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        r = self.result
        return {
            "detector": self.name,
            "dqe": r.dqe,
            "capture": r.capture,
            "near_miss": r.near_miss,
            "false_alarm": r.false_alarm,
            "near": r.near,
            "threshold": None if np.isinf(self.threshold) else self.threshold,
            "sdqe": self.sdqe,
            "costs": self.costs,
            "events": self.records(),
            "improvements": [asdict(step) for step in self.improvements],
        }

    def __str__(self) -> str:
        return self.page().text()


def explain(
    y_true: Numbers,
    y_score: Numbers,
    *,
    near: float | None = None,
    period: float | None = None,
    values: Numbers | None = None,
    name: str = "",
) -> Explanation:
    r"""Say in plain words what a detector does at each event, what costs most, and what would mend it.

    Parameters
    ----------
    y_true, y_score, near, period, values
        See `evaluate`.
    name : str, optional
        What to call the detector.

    Returns
    -------
    Explanation

    Notes
    -----
    What a part costs is found by evaluating changed scores: the highest score in every event raised to the maximum; the
    scores in the near-miss pieces, or in the false-alarm pieces, lowered to the minimum.

    Examples
    --------
    >>> y_true = [0, 0, 0, 1, 1, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0]
    >>> y_score = [0, 0, 0, 5, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0]
    >>> found = dqeval.explain(y_true, y_score, near=4)
    >>> found.threshold
    4.0
    >>> print(*found.events[1].sentence.split(". "), sep=".\n")
    Never captured; one near miss, 2 points late; no false alarm.
    Not capturing it costs most: always captured, its DQE would be 0.81, not 0.23.
    """
    labels, raw = validate.labels_and_raw_scores(y_true, y_score)
    scored = Scored(labels, raw=raw)
    validate.defined(scored.events, "raise")
    regions = cut(scored.events, near_range(labels, near=near, period=period, values=values))
    return _Explaining(scored, regions).explanation(name)


class _Explaining:
    """What several steps of an explanation share."""

    def __init__(self, scored: Scored, regions: Partition) -> None:
        self.scored, self.regions = scored, regions
        self.levels = levelling.sampled(scored.scores, regions, THRESHOLDS)
        self.result = dqe.result_of(self.levels, THRESHOLDS)
        self.peaks = _highest_points(scored.scores, regions)
        best = _middle_of_best(self.result.curve.dqe)
        self.level = THRESHOLDS - best
        self.sdqe = float(self.result.curve.dqe[best])
        self.scaled_threshold = float(self.result.curve.thresholds[best])
        self.detections: BoolArray = self.levels.of_point >= self.level
        self.near = _touched(
            regions, ((regions.near_start, regions.events.starts), (regions.events.stops, regions.near_stop))
        )
        self.alarm = _touched(regions, ((regions.left, regions.near_start), (regions.near_stop, regions.right)))

    def explanation(self, name: str) -> Explanation:
        detected = self.scored.raw[self.detections]
        threshold = levelling.shortest_threshold(self.scored.raw, float(detected.min())) if len(detected) else np.inf
        return Explanation(
            name=name,
            result=self.result,
            threshold=threshold,
            step=self.level,
            sdqe=self.sdqe,
            events=tuple(self.events()),
            improvements=tuple(self.improvements(threshold)),
        )

    def events(self) -> Iterable[EventExplanation]:
        parts = parts_in(find_events(self.detections), self.regions)
        gains = self.gains()
        for i, scores in enumerate(self.result.per_event):
            yield EventExplanation(
                scores=scores,
                highest=float(self.scored.raw[self.peaks[i]]),
                near_misses=tuple(parts.of(i, "near miss")),
                false_alarms=tuple(parts.of(i, "false alarm")),
                first_near_miss=self.highest_touched(i, self.near),
                first_false_alarm=self.highest_touched(i, self.alarm),
                gains={kind: float(gains[kind][i]) for kind in KINDS},
            )

    def highest_touched(self, i: int, pieces: BoolArray) -> float | None:
        """Return the highest score in some pieces of a region, if it is ever detected."""
        region = slice(int(np.floor(self.regions.left[i])), int(np.ceil(self.regions.right[i])))
        there = pieces[region] & (self.levels.of_point[region] > 0)
        return float(self.scored.raw[region][there].max()) if there.any() else None

    def gains(self) -> dict[str, FloatArray]:
        """Return by how much each event's DQE would rise, over all thresholds, without one kind of trouble.

        Regions do not overlap, so one evaluation with every event changed tells it for each of them.
        """
        ours = np.array([event.dqe for event in self.result.per_event])
        changed = {
            "capture": _changed(self.scored.scores, self.peaks, 1.0),
            "near miss": _changed(self.scored.scores, self.near, 0.0),
            "false alarm": _changed(self.scored.scores, self.alarm, 0.0),
        }
        levels = {kind: levelling.sampled(scores, self.regions, THRESHOLDS) for kind, scores in changed.items()}
        # Near misses are all the credit an event that is not captured has: without them it can lose.
        return {kind: np.maximum(dqe.local_scores(found)[:, 0] - ours, 0.0) for kind, found in levels.items()}

    def improvements(self, threshold: float) -> list[Improvement]:
        """Return the cheapest changes at the threshold to start from."""
        if np.isinf(threshold):
            return []
        found = [step for kind in KINDS for step in self._steps(kind, threshold)]
        most = max((step.after - step.before for step in found), default=0.0)
        found = [step for step in found if step.after - step.before >= max(most / 10, WORTH_SAYING)]
        found.sort(key=lambda step: -(step.after - step.before) / step.moved)
        return found[:MOST_IMPROVEMENTS]

    def _steps(self, kind: str, threshold: float) -> Iterable[Improvement]:
        """Yield the change of one kind at each event where it brings anything."""
        before = self._sdqe(self.detections)
        where: Any = {"capture": self.peaks, "near miss": self.near, "false alarm": self.alarm}[kind]
        after = self._sdqe(_changed(self.detections, where, kind == "capture"))
        parts = parts_in(find_events(self.detections), self.regions)
        for i in np.flatnonzero(after > before).tolist():
            silenced = parts.of(i, kind) if kind != "capture" else []
            highest = [self._highest(part) for part in silenced]
            yield Improvement(
                event=i,
                kind=kind,
                before=float(before[i]),
                after=float(after[i]),
                moved=self._moved(i, highest),
                sentence=self._sentence(i, kind, highest, threshold, float(before[i]), float(after[i])),
            )

    def _sdqe(self, detections: BoolArray) -> FloatArray:
        return dqe.local_scores(levelling.detected(detections, self.regions))[:, 0]

    def _highest(self, part: tuple[float, float]) -> int:
        """Return the point of the highest score in a part."""
        first, stop = int(np.floor(part[0])), int(np.ceil(part[1]))
        return first + int(np.argmax(self.scored.scores[first:stop]))

    def _moved(self, i: int, silenced: list[int]) -> float:
        scores, step = self.scored.scores, 1 / THRESHOLDS
        if not silenced:
            return max(self.scaled_threshold - float(scores[self.peaks[i]]), step)
        return float(np.sum(scores[silenced] - self.scaled_threshold + step))

    def _sentence(self, i: int, kind: str, highest: list[int], threshold: float, before: float, after: float) -> str:
        event = self.result.per_event[i]
        raw = self.scored.raw
        if kind == "capture":
            what = f"Raise the highest score in [{event.start}, {event.stop}) from {raw[self.peaks[i]]:.4g} to "
            what += f"{threshold:.4g}"
        else:
            singular, plural = ("near miss", "near misses") if kind == "near miss" else ("false alarm", "false alarms")
            count = f"the {singular}" if len(highest) == 1 else f"the {len(highest)} {plural}"
            top = f"{'which scores' if len(highest) == 1 else 'which score'} up to {raw[highest].max():.4g}"
            what = f"Silence {count} around [{event.start}, {event.stop}), {top}"
        return f"{what}: there DQE goes from {before:.2f} to {after:.2f}."


def _middle_of_best(curve: FloatArray) -> int:
    """Return the middle of the longest run of the highest value: a threshold there bears being a little wrong."""
    runs = find_events(curve == curve.max())
    longest = int(np.argmax(runs.stops - runs.starts))
    return int(runs.starts[longest] + runs.stops[longest] - 1) // 2


def _changed(array: Any, where: BoolArray | IntArray, value: float | bool) -> Any:
    changed = array.copy()
    changed[where] = value
    return changed


def _highest_points(scores: FloatArray, regions: Partition) -> IntArray:
    """Return the first point of the highest score in each event."""
    return np.array([start + int(np.argmax(scores[start:stop])) for start, stop in regions.events], dtype=np.intp)


def _touched(regions: Partition, pieces: Iterable[tuple[Any, Any]]) -> BoolArray:
    """Return the points that lie in some pieces at least in part."""
    edges = np.zeros(regions.events.length + 1, dtype=np.intp)
    for lows, highs in pieces:
        there = lows < highs
        np.add.at(edges, np.floor(lows[there]).astype(np.intp), 1)
        np.add.at(edges, np.ceil(highs[there]).astype(np.intp), -1)
    return np.asarray(np.cumsum(edges[:-1]) > 0)


def _first(threshold: float | None) -> str:
    return "" if threshold is None else f" (first at {threshold:.4g})"


def _number(count: int, singular: str, plural: str) -> str:
    return f"one {singular}" if count == 1 else f"{count:,} {plural}"


def _points(length: float) -> str:
    return "1 point" if length == 1 else f"{length:,g} points"
