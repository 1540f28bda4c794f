"""What a detector does at each event, in numbers and in plain words: the results of `dqeval.explain`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from dqeval.core.alarms import Alarms
from dqeval.core.event_scores import EventScores
from dqeval.core.timeline import TimeAxis
from dqeval.core.types import MEANING, DQEResult
from dqeval.render.tables import Page, count_of, percent
from dqeval.support.frames import Framed, columns_of_records, without_blank
from dqeval.support.on_demand import OnDemand, cached_property

TROUBLE = {"capture": "missed events", "near_miss": "near misses", "false_alarm": "false alarms"}
WORTH_SAYING = 0.005  # less does not show in two decimals

Part = tuple[float, float]  # where it starts and stops


@dataclass(frozen=True, slots=True)
class EventExplanation:
    """What a detector does at one event.

    Attributes
    ----------
    scores : EventScores
        Over all thresholds.
    captured : bool
        Whether it is captured at the suggested threshold.
    captured_to : str
        The highest threshold at which it is captured, that is the highest score in it, with as many digits as tell it
        from other scores; empty if it never is.
    near_misses, false_alarms : tuple of (start, stop)
        What is detected at the suggested threshold, outside the event but in its region, apart from alarms that
        capture it.
    early, late : float
        By how many points an alarm that captures it begins before it, and ends behind it, at that threshold. Where they
        lie beyond the near range, they count as a false alarm.
    beyond : float
        How many of these points do.
    first_near_miss, first_false_alarm : str
        The highest threshold at which there is one; empty if there never is.
    costs : dict of str to float
        What is lost, over all thresholds, by not capturing it, by near misses, and by false alarms: with its DQE they
        add up to 1. A cost below 0 is a gain: near misses are all that an event has that is not captured.
    axis : TimeAxis, optional
        The clock, where there is one: then lengths are told as durations.
    binary : bool
        Whether there are detections of 0 and 1, so that no threshold is worth a word.
    """

    scores: EventScores
    captured: bool
    captured_to: str
    near_misses: tuple[Part, ...]
    false_alarms: tuple[Part, ...]
    early: float
    late: float
    beyond: float
    first_near_miss: str
    first_false_alarm: str
    costs: dict[str, float]
    axis: TimeAxis | None = None
    binary: bool = False

    @property
    def costs_most(self) -> str | None:
        """The part that costs most, or None if nothing is lost."""
        part = max(self.costs, key=lambda part: self.costs[part])
        return part if self.costs[part] >= WORTH_SAYING else None

    @property
    def nearest(self) -> float | None:
        """How far the nearest of the near misses is from the event, in points; None if there is none."""
        return min(map(self._distance, self.near_misses), default=None)

    @property
    def false_alarm_points(self) -> float:
        """How many points the false alarms have in all."""
        return sum(stop - start for start, stop in self.false_alarms)

    @property
    def false_alarm_reach(self) -> float:
        """Over how many points the false alarms are scattered, from the first to the last."""
        return self.false_alarms[-1][1] - self.false_alarms[0][0] if self.false_alarms else 0.0

    @property
    def wide(self) -> bool:
        """Whether an alarm that captures it reaches beyond it."""
        return self.early + self.late > 0

    @property
    def sentence(self) -> str:
        """The event in plain words."""
        return f"{'; '.join(self._happenings())}. {self._cost()}"

    def _happenings(self) -> Iterator[str]:
        """Yield what is detected, and what is not."""
        yield self._captured()
        if self.wide:
            yield self._width()
        if self.near_misses or not self.wide:
            yield self._near_missed()
        if self.false_alarms or not self.beyond:
            nothing = not (self.captured or self.near_misses or self.false_alarms)
            yield self._alarmed() + ": nothing is detected here, so every score is 0" * nothing

    def _captured(self) -> str:
        if self.binary:
            return "Captured" if self.captured else "Missed"
        if not self.captured_to:
            return "Never captured"
        if self.scores.capture == 1:
            return "Captured, at every threshold"
        until = f"at thresholds up to {self.captured_to}, {percent(self.scores.capture)} of them"
        return f"Captured, {until}" if self.captured else f"Missed: captured only {until}"

    def _width(self) -> str:
        on_clock = self.axis is not None and self.axis.dated
        ends = [f"{self._lasting(self.early)} early"] if self.early else []
        if self.late:
            ends.append(f"{f'{self.late:,g}' if ends and not on_clock else self._lasting(self.late)} late")
        beyond = ""
        if self.beyond:
            part = f"{self._lasting(self.beyond)} of it" if on_clock else f"{self.beyond:,g} of them"
            are = "it is" if on_clock else "they are"
            beyond = f", {part} beyond the near range, where {are} a false alarm"
        return f"the alarm is wider than the event: {', '.join(ends)}{beyond}"

    def _near_missed(self) -> str:
        if not self.near_misses:
            return f"no near miss{_first(self.first_near_miss)}"
        nearest = min(self.near_misses, key=self._distance)
        which = "" if len(self.near_misses) == 1 else "the nearest "
        return f"{_number(len(self.near_misses), 'near miss', 'near misses')}, {which}{self._where(nearest)}"

    def _distance(self, part: Part) -> float:
        start, stop = part
        return max(self.scores.start - stop, start - self.scores.stop)

    def _where(self, part: Part) -> str:
        early = part[0] < self.scores.start
        distance = self._distance(part)
        if distance == 0:
            return "right before it" if early else "right after it"
        return f"{self._lasting(distance)} {'early' if early else 'late'}"

    def _alarmed(self) -> str:
        if not self.false_alarms:
            return f"no false alarm{_first(self.first_false_alarm)}"
        found = _number(len(self.false_alarms), "false alarm", "false alarms")
        if len(self.false_alarms) == 1:
            return f"{found} of {self._lasting(self.false_alarm_points)}"
        reach = f"scattered over {self._lasting(self.false_alarm_reach)}"
        return f"{found}, {self._lasting(self.false_alarm_points)} in all, {reach}"

    def _lasting(self, points: float) -> str:
        return in_points(points, self.axis)

    def _cost(self) -> str:
        part = self.costs_most
        if part is None:
            return "Nothing is lost."
        lost = f"({self.costs[part]:.2f} of DQE)"
        if part == "capture":
            return (
                f"Most is lost at the thresholds that miss it {lost}."
                if self.captured
                else f"Missing it costs most {lost}."
            )
        width = ", the alarm's width among them," if self._is_width(part) else ""
        return f"{TROUBLE[part].capitalize()}{width} cost most {lost}."

    def _is_width(self, part: str) -> bool:
        return self.beyond > 0 if part == "false_alarm" else self.wide

    def record(self) -> dict[str, Any]:
        """Return all of it as a flat row."""
        return {
            **self.scores.record(),
            "captured": self.captured,
            "captured_to": self.captured_to,
            "near_misses": len(self.near_misses),
            "nearest_near_miss": self.nearest,
            "false_alarms": len(self.false_alarms),
            "false_alarm_points": self.false_alarm_points,
            "early": self.early,
            "late": self.late,
            "beyond_near": self.beyond,
            "false_alarm_reach": self.false_alarm_reach,
            "first_near_miss": self.first_near_miss,
            "first_false_alarm": self.first_false_alarm,
            **{f"cost_{part}": cost for part, cost in self.costs.items()},
            "costs_most": self.costs_most or "",
            "sentence": self.sentence,
        }


@dataclass(frozen=True, slots=True)
class Improvement:
    """A change at one event, at the suggested threshold, and what it is worth.

    Attributes
    ----------
    event : int
        Which event, from 0 on.
    part : "capture", "near_miss" or "false_alarm"
        What is mended.
    before, after : float
        The event's SDQE at the threshold, as it is and with the change.
    moved : float
        How far scores must move for it, as a share of their range: up to the threshold for a capture; below it for each
        detection to be silenced, added up.
    sentence : str
    """

    event: int
    part: str
    before: float
    after: float
    moved: float
    sentence: str


@dataclass(frozen=True)
class Explanation(Framed):
    """A detector's result in plain words.

    ``to_frame()`` has a row per event: its scores, what happens there at the suggested threshold, what each kind of
    trouble costs, and the sentence.

    Attributes
    ----------
    name : str
    result : DQEResult
        Over all thresholds.
    threshold : float
        The suggested threshold, in the units of the scores: the middle of the longest range in which the mean SDQE
        of the events is within 0.05 of the highest there is. At or above it a point is detected. Infinite if nothing
        ever is.
    step : int
        The nearest of the 100 thresholds of DQE, from the lowest, 1, on.
    sdqe : float
        The mean SDQE there.
    events : tuple of EventExplanation
        In time order; made when they are first asked for.
    improvements : tuple of Improvement
        The cheapest, at most three: the largest gain for how far scores must move, among the changes that bring at
        least a tenth of what the best one brings.
    cautions : tuple of str
        Where DQE itself may mislead here, each with its number: how much it depends on the scale of the scores or on a
        single one, whether a wrong point would raise it, few events, gaps in the labels, a near range of 0 or a
        fallback. `dqeval.compare` does not look for them.
    alarms : Alarms
        What operators ask for, at the suggested threshold. Alarms may be early within the near range.
    binary : bool
        Whether these are detections of 0 and 1, which need no threshold.
    """

    name: str
    result: DQEResult
    threshold: float
    step: int
    sdqe: float
    events: OnDemand[tuple[EventExplanation, ...]] = OnDemand()
    improvements: tuple[Improvement, ...] = ()
    cautions: tuple[str, ...] = ()
    alarms: Alarms | None = field(default=None, compare=False)
    binary: bool = False

    def with_cautions(self, cautions: tuple[str, ...]) -> Explanation:
        """Return the same with other cautions; events that were not asked for stay to be made."""
        found = copy(self)
        object.__setattr__(found, "cautions", cautions)
        return found

    @cached_property
    def costs(self) -> dict[str, float]:
        """What is lost in all by each kind of trouble, the means over the events: with DQE they add up to 1."""
        return {part: float(np.mean([event.costs[part] for event in self.events])) for part in TROUBLE}

    @property
    def shown_threshold(self) -> str:
        """The threshold as text; "none" if nothing is ever detected, and for detections of 0 and 1 what they are."""
        if np.isinf(self.threshold):
            return "none"
        return "0/1 detections" if self.binary else repr(self.threshold)

    @property
    def has_threshold(self) -> bool:
        """Whether a threshold can be suggested."""
        return not (self.binary or np.isinf(self.threshold))

    def page(self) -> Page:
        """Return the explanation as paragraphs."""
        return Page(self.parts(legend=MEANING, about_thresholds=True))

    def parts(self, *, legend: str, about_thresholds: bool) -> list[str]:
        """Return the explanation as paragraphs, with what the numbers mean, and what the lines are about, or without.

        Of several detectors, once is enough.
        """
        r = self.result
        opening = f"{self.name}: " if self.name else ""
        opening += f"DQE {r.dqe:.3f} (capture {r.capture:.3f}, near miss {r.near_miss:.3f}, false alarm "
        opening += f"{r.false_alarm:.3f}) over {count_of(len(r.per_event), 'event')}, {r.near_in_words}."
        opening += f"\n{legend}" if legend else ""
        lines = [f"- {e.scores.place} DQE {e.scores.dqe:.3f}. {e.sentence}" for e in self.events]
        parts = [opening, "\n".join(self._start(about_thresholds)), "\n".join(lines)]
        if self.improvements:
            steps = [f"{i}. {step.sentence}" for i, step in enumerate(self.improvements, start=1)]
            at_threshold = "" if self.binary else " at this threshold"
            parts.append("\n".join([f"Cheapest improvements{at_threshold}:", "", *steps]))
        return [*parts, *cautions_in_words(f"of {self.name}" if self.name else "", self.cautions)]

    def _start(self, about_thresholds: bool) -> Iterator[str]:
        """Yield what is detected, at which threshold, and what the lines on events are about."""
        alarms = "" if self.alarms is None else self.alarms.sentence
        if self.binary:
            yield " ".join(filter(None, ["Detections of 0 and 1, without a threshold.", alarms]))
            return
        if not self.has_threshold:
            yield "Nothing is ever detected: all scores are the same."
            return
        there = f" There: {alarms}" if alarms else ""
        yield f"Suggested threshold: {self.shown_threshold} (DQE {self.sdqe:.3f} there).{there}"
        if about_thresholds:
            below = "The lines below describe what happens at this threshold. Where there is no near miss or false "
            yield f"{below}alarm, brackets give the threshold at which the first one appears.{self._after_events()}"

    def _after_events(self) -> str:
        """Say why the lines on events may have fewer false alarms than operators count."""
        late = any(start >= each.scores.stop for each in self.events for start, _ in each.near_misses)
        if not late or self.alarms is None or not self.alarms.false_alarms:
            return ""
        return " An alarm soon after an event is a near miss in these lines, and may be one of the false alarms above."

    def _columns(self) -> dict[str, Any]:
        columns = columns_of_records(self.records()) | self.result._columns()  # where times are no text
        return without_blank(columns, "name")

    def records(self) -> list[dict[str, Any]]:
        """Return one row per event."""
        return [{"detector": self.name, **event.record()} for event in self.events]

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
            "alarms": None if self.alarms is None else self.alarms.numbers(),
            "costs": self.costs,
            "events": self.records(),
            "improvements": [asdict(step) for step in self.improvements],
            "cautions": list(self.cautions),
        }

    def __str__(self) -> str:
        return self.page().text()

    def _repr_html_(self) -> str:
        return self.page().html()


def cautions_in_words(whose: str, cautions: Sequence[str]) -> list[str]:
    """Return a paragraph with cautions, if there are any."""
    title = " ".join(["What to keep in mind about DQE", *([whose] if whose else [])])
    return ["\n".join([f"{title}:", "", *(f"- {caution}." for caution in cautions)])] if cautions else []


def lost(cost: float) -> str:
    """Return what is lost, in three decimals, with a word for what is gained instead.

    Examples
    --------
    >>> lost(0.25), lost(-0.0021), lost(-0.0001)
    ('0.250', '0.002 gained', '0.000')
    """
    shown = f"{abs(cost):.3f}"
    return f"{shown} gained" if cost < 0 and float(shown) > 0 else shown


def _first(threshold: str) -> str:
    return f" (first at {threshold})" if threshold else ""


def _number(count: int, singular: str, plural: str) -> str:
    return f"one {singular}" if count == 1 else f"{count:,} {plural}"


def in_points(length: float, axis: TimeAxis | None = None) -> str:
    """Return a length in words: as a duration, where there is a clock of dates."""
    if axis is not None and axis.dated:
        return axis.lasting(length)
    return "1 point" if length == 1 else f"{length:,g} points"
