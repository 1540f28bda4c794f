"""What comparing detectors gives: who is best, at which events, and where the metrics disagree about it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from dqeval.analysis.explain_result import TROUBLE, Explanation, lost
from dqeval.analysis.findings import Finding, warnings_about
from dqeval.analysis.free_choices import paragraph
from dqeval.analysis.panel_result import Chance, Evaluation
from dqeval.analysis.result import Result, Values
from dqeval.analysis.score_result import dqe_of, failure_notes, mark_best, named_values, part_label
from dqeval.core.alarms import HEADER
from dqeval.core.confidence import FEWEST, Interval, mean_interval
from dqeval.core.event_scores import EventScores
from dqeval.core.near import Near
from dqeval.core.types import PARTS, SCORE_NAMES, FloatArray
from dqeval.render.tables import Page, Part, Table, best_of, count_of, in_words
from dqeval.support.frames import Framed, columns_of_records
from dqeval.support.on_demand import cached_property

SAME = 0.0005  # values that are closer print alike
SHOWN_OTHERS = 3
SHOWN_DISAGREEMENTS = 5


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two detectors that some metrics put in the other order than DQE does, both by more than noise explains.

    A difference counts if it is at least 0.01, and at least twice the spread of random scores on the same labels.

    Attributes
    ----------
    better, worse : str
        By DQE.
    metrics : tuple of str
        Those that prefer ``worse``, the clearest first.
    part : "capture", "near_miss", "false_alarm" or None
        The part of DQE that explains it: what it costs ``worse`` more than ``better``; None if there is none.
    sentence : str
    size : float
        By how much DQE prefers ``better``, or the clearest of the metrics ``worse``, whichever is less.
    """

    better: str
    worse: str
    metrics: tuple[str, ...]
    part: str | None
    sentence: str
    size: float


@dataclass(frozen=True, slots=True)
class Difference:
    """How far a detector is behind the best one by DQE, over the same events.

    Attributes
    ----------
    mean : float
        The mean over the events.
    interval : Interval
        Of this mean.
    """

    mean: float
    interval: Interval

    @property
    def is_told_apart(self) -> bool:
        """Whether the events leave no doubt about which of the two is better."""
        return self.interval.is_known and 0 not in self.interval

    def __str__(self) -> str:
        return f"{self.mean:.3f} {self.interval}"


@dataclass(frozen=True)
class Comparison(Framed, Result):
    """Every metric of several detectors on one series, side by side.

    ``to_frame()`` has a row per detector and metric.

    Attributes
    ----------
    name : str
        Of the series.
    panels : dict of str to Evaluation
        By detector, the best by DQE first.
    chance : dict of str to Chance
        What random scores get, by detector; the same for all detectors that give scores, not detections.
    explanations : dict of str to Explanation
        What each detector does at the events, and what costs it most.
    near : Near
        The near range, and where it comes from.
    winners : tuple of tuple of str
        For each event, the detectors with the highest DQE there; none if all have 0.
    disagreements : tuple of Disagreement
        The largest first.
    findings : tuple of Finding
        What may make the numbers wrong: several series in one, missing points, scores the wrong way round.
    moves : tuple of str
        Which choices that nobody made would move the verdict, and how.
    """

    name: str
    panels: Mapping[str, Evaluation]
    chance: Mapping[str, Chance]
    explanations: Mapping[str, Explanation]
    near: Near
    winners: tuple[tuple[str, ...], ...]
    disagreements: tuple[Disagreement, ...]
    findings: tuple[Finding, ...] = ()
    moves: tuple[str, ...] = ()

    @property
    def best(self) -> str:
        """The detector with the highest DQE."""
        return next(iter(self.panels))

    @property
    def by_detector(self) -> Values:
        """Every metric, and the parts of DQE."""
        return {name: named_values(panel) for name, panel in self.panels.items()}

    @property
    def warnings(self) -> tuple[str, ...]:
        """What may make the numbers wrong, in sentences."""
        return warnings_about(self.name, self.findings)

    @property
    def verdict(self) -> str:
        """Which detector is best, and why, in two sentences."""
        return f"{self._standing()} {self._reason()}"

    @cached_property
    def differences(self) -> dict[str, Difference]:
        """How far the other detectors are behind the best by DQE, event by event."""
        first, *others = self._events_by_detector().items()
        behind = {name: first[1] - values for name, values in others}
        return {name: Difference(float(gaps.mean()), mean_interval(gaps, least=-1.0)) for name, gaps in behind.items()}

    def _events_by_detector(self) -> dict[str, FloatArray]:
        return {name: dqe_of(panel).event_columns.dqe for name, panel in self.panels.items()}

    def _standing(self) -> str:
        best, dqe = self.best, self.panels[self.best]["dqe"]
        chance = self.chance[best]
        random = self.chance[best].drawn
        above = dqe > chance.mean["dqe"] + 2 * chance.spread["dqe"]
        level = f"{random} get" if above else f"no better than {random}, which get"
        level += f" {chance.mean['dqe']:.3f}"
        if len(self.panels) == 1:
            return f"{best} has DQE {dqe:.3f}; {level}."
        equals, others = self._equals_and_others()
        lead = f"{in_words(equals)} {'is' if len(equals) == 1 else 'are'} best: DQE {dqe:.3f}"
        if not others:
            return f"{lead}; {level}."
        behind = in_words([f"{name} ({self.panels[name]['dqe']:.3f})" for name in others], most=SHOWN_OTHERS)
        return f"{lead}, ahead of {behind}{self._doubt(equals, others)}; {level}."

    def _equals_and_others(self) -> tuple[list[str], list[str]]:
        """Return the detectors whose DQE prints as the highest does, and those behind."""
        names = list(self.panels)  # by DQE
        count = len(best_of([panel["dqe"] for panel in self.panels.values()]))
        return names[:count], names[count:]

    def _doubt(self, equals: list[str], others: list[str]) -> str:
        """Say whether the events tell the best detector from those behind."""
        if len(self.winners) < FEWEST:
            return f", with too few events ({len(self.winners)}) to tell them apart"
        alike = [name for name in others if not self.differences[name].is_told_apart]
        if not alike:
            return ""
        told = "it" if len(equals) == 1 else self.best
        if len(alike) == len(others) > 1:
            return f", but the events tell {told} apart from none of them"
        return f", but the events do not tell {told} apart from {in_words(alike)}"

    def _reason(self) -> str:
        best = self.explanations[self.best]
        if len(self.panels) == 1:
            most = max(best.costs, key=lambda part: best.costs[part])
            if best.costs[most] < SAME:
                return "Nothing is lost."
            return f"Most is lost to {TROUBLE[most]} ({best.costs[most]:.3f})."
        equals, others = self._equals_and_others()
        second = self.explanations[(others or equals[1:])[0]]
        reasons = [
            cost_more(worse, better, part)
            for better, worse in ((best, second), (second, best))
            if (part := explaining_part(better, worse)) is not None
        ]
        wins = f"{best.name} is best at {self.wins(best.name)} of {count_of(len(self.winners), 'event')}"
        if not reasons and not others:
            return f"{wins}."
        why = ", but ".join(reasons) or "no single part explains it"
        return f"{why[0].upper()}{why[1:]}; {wins}."

    def wins(self, detector: str) -> int:
        """Return at how many events a detector is best, alone or with others."""
        return sum(detector in winners for winners in self.winners)

    def page(self) -> Page:
        """Return the comparison as paragraphs and tables."""
        size = f"{count_of(len(self.winners), 'event')}, {self.near}"
        parts: list[Part] = [
            f"{self.name}: {size}. {self.verdict}",
            *paragraph(self.moves, several=len(self.panels) > 1),
            self.panel_table(),
            *(["\n".join(notes)] if (notes := list(self._notes())) else []),
            self.interval_table(),
            self.cost_table(),
            self.event_table(),
            self.start_table(),
            self.alarm_table(),
        ]
        return Page([*parts, *self._agreement()])

    def interval_table(self) -> Table:
        """Return how sure DQE of each detector is, and how far it is behind the best one."""
        differences = self.differences
        # Of detections, as many random ones: each detector has a chance level of its own.
        own_chance = sum(panel.binary for panel in self.panels.values()) > 1
        rows = []
        for name, panel in self.panels.items():
            result, behind = dqe_of(panel), differences.get(name)
            chance = (f"{self.chance[name].mean['dqe']:.3f}",) if own_chance else ()
            verdict = "" if behind is None else "told apart" if behind.is_told_apart else "not told apart"
            gap = ("", "") if behind is None else (f"{behind.mean:.3f}", str(behind.interval))
            rows.append((name, f"{result.dqe:.3f}", *chance, str(result.interval()), *gap, verdict))
        by_chance = ("by chance",) if own_chance else ()
        header = ("detector", "DQE", *by_chance, "95 % interval", f"behind {self.best} by", "95 % interval", "")
        note = "intervals: where the numbers would likely be if many more events of the same kind had happened"
        apart = f"; a detector is told apart from {self.best} if the interval of the difference does not include 0"
        return Table(header, rows, note=note + apart * (len(rows) > 1))

    def start_table(self) -> Table:
        """Return the suggested threshold for each detector, DQE there, and the events that it misses there."""
        rows = []
        for name, found in self.explanations.items():
            missed = [e.scores.place for e in found.events if not e.captured]
            shown = ", ".join(missed[:SHOWN_OTHERS]) + (f" and {len(missed) - SHOWN_OTHERS} more" * (len(missed) > 3))
            rows.append((name, found.shown_threshold, f"{found.sdqe:.3f}", f"{self.wins(name)}", shown or "none"))
        best = best_of([found.sdqe for found in self.explanations.values()])
        marked = {i for i in best if len(best) < len(rows)}
        if not self.has_thresholds:
            cells = [(name, *others) for name, _, *others in rows]
            return Table(("detector", "DQE", "best at events", "events missed"), cells, marked={(i, 1) for i in marked})
        header = ("detector", "suggested threshold", "DQE there", "best at events", "events missed there")
        return Table(header, rows, marked={(i, 2) for i in marked})

    @property
    def has_thresholds(self) -> bool:
        """Whether there are scores, and not only detections of 0 and 1, which need no threshold."""
        return not all(found.binary for found in self.explanations.values())

    def alarm_table(self) -> Table:
        """Return what operators ask for, at the suggested threshold of each detector."""
        rows = [(name, *found.alarms.cells()) for name, found in self.explanations.items() if found.alarms is not None]
        at_threshold = "at the suggested threshold; " if self.has_thresholds else ""
        note = f"{at_threshold}an alarm may be early within the near range"
        return Table(("detector", *HEADER), rows, note=note)

    def _agreement(self) -> Iterator[str]:
        shown = [f"- {d.sentence}" for d in self.disagreements[:SHOWN_DISAGREEMENTS]]
        if (more := len(self.disagreements) - len(shown)) > 0:
            shown.append(f"- and {more:,} smaller ones; --format json lists them all")
        if shown:
            yield "\n".join(["Where other metrics disagree with DQE by more than noise:", "", *shown])
        elif len(self.panels) > 1:
            yield (
                "Where DQE of two detectors differs by more than that of random scores does, no other metric ranks "
                "them the other way round by more than noise."
            )

    def _notes(self) -> Iterator[str]:
        binary = [name for name, panel in self.panels.items() if panel.binary]
        if binary and len(binary) < len(self.panels):
            yield f"0/1 detections, so their windows and buffers differ from those of scores: {', '.join(binary)}."
        yield from failure_notes(self.panels.items())

    def panel_table(self) -> Table:
        """Return the metrics, a row each, side by side, with the chance level; under DQE its three parts."""
        first, chance = self.panels[self.best], self.chance[self._scoring()]
        rows: list[tuple[Any, ...]] = []
        levels: list[tuple[str, str]] = []
        for metric, label in first.labels.items():
            rows.append((label, *(panel[metric] for panel in self.panels.values())))
            levels.append(
                (f"{chance.mean[metric]:.3f}", f"{chance.spread[metric]:.3f}") if metric in chance.mean else ("", "")
            )
            for part in PARTS if metric == "dqe" else ():
                rows.append((f"  {part_label(part)}", *(getattr(dqe_of(p), part) for p in self.panels.values())))
                levels.append(("", ""))
        table = mark_best(("metric", *self.panels), rows)
        cells = [(*row, *level) for row, level in zip(table.rows, levels, strict=True)]
        header = (*table.header, "by chance", "spread")
        note = "; ".join([f"by chance: {self._chance_note()}", *first.scales])
        return Table(header, cells, note=note, marked=table.marked, whole=True)

    def _scoring(self) -> str:
        """Return the first detector that gives scores, or the first of all."""
        return next((name for name, panel in self.panels.items() if not panel.binary), self.best)

    def _chance_note(self) -> str:
        repeats = count_of(self.chance[self.best].repeats, "repeat")
        binary = [name for name, panel in self.panels.items() if panel.binary]
        if len(binary) == len(self.panels):
            others = "; below for each detector" if len(binary) > 1 else ""
            return f"{self.chance[self.best].drawn} as {self.best} has, {repeats}{others}"
        others = f"; not shown for 0/1 detections: {', '.join(binary)}" if binary else ""
        return f"random scores, {repeats}{others}"

    def cost_table(self) -> Table:
        """Return what each kind of trouble costs each detector."""
        costs = [found.costs for found in self.explanations.values()]
        rows = [(words, *(lost(cost[part]) for cost in costs)) for part, words in TROUBLE.items()]
        gained = any("gained" in cell for row in rows for cell in row)
        why = "; near misses gain where they are all that an event has" if gained else ""
        return Table(("lost to", *self.panels), rows, note=f"these and DQE add up to 1{why}")

    def event_table(self) -> Table:
        """Return DQE of each event for each detector, and who is best there."""
        events = self._events()
        rows = [(row[0].place, *(event.dqe for event in row)) for row in events]
        table = mark_best(("DQE of event", *self.panels), rows)
        best = [", ".join(winners) or "none" for winners in self.winners]
        cells = [(*row, name) for row, name in zip(table.rows, best, strict=True)]
        return Table((*table.header, "best"), cells, marked=table.marked)

    def _events(self) -> list[tuple[EventScores, ...]]:
        return list(zip(*(dqe_of(panel).per_event for panel in self.panels.values()), strict=True))

    def _columns(self) -> dict[str, Any]:
        return columns_of_records(self.records())

    def records(self) -> list[dict[str, Any]]:
        """Return one row per detector and metric."""
        return [
            {
                "series": self.name,
                "detector": name,
                "metric": metric,
                "value": value,
                "chance": self.chance[name].mean[metric],
                "chance_spread": self.chance[name].spread[metric],
            }
            for name, panel in self.panels.items()
            for metric, value in panel.values.items()
        ]

    def numbers(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {
            "series": self.name,
            "near": self.near.points,
            "near_from": self.near.source,
            "verdict": self.verdict,
            "moves": list(self.moves),
            "metrics": self.records(),
            "failures": {name: panel.failures for name, panel in self.panels.items()},
            "metric_parameters": {name: panel.parameters for name, panel in self.panels.items()},
            "parts": {
                name: {part: getattr(dqe_of(panel), part) for part in PARTS} for name, panel in self.panels.items()
            },
            "start": {
                name: {key: found.numbers()[key] for key in ("threshold", "sdqe", "alarms")}
                for name, found in self.explanations.items()
            },
            "intervals": {name: asdict(dqe_of(panel).interval()) for name, panel in self.panels.items()},
            "behind_the_best": {name: asdict(found) for name, found in self.differences.items()},
            "costs": {name: found.costs for name, found in self.explanations.items()},
            "events": [
                {
                    **{key: value for key, value in events[0].record().items() if key not in SCORE_NAMES},
                    "dqe": {name: event.dqe for name, event in zip(self.panels, events, strict=True)},
                    "best": list(winners),
                }
                for events, winners in zip(self._events(), self.winners, strict=True)
            ],
            "disagreements": [asdict(found) for found in self.disagreements],
        }

    def __str__(self) -> str:
        return self.page().text()

    def _repr_html_(self) -> str:
        return self.page().html()


def explaining_part(better: Explanation, worse: Explanation) -> str | None:
    """Return the kind of trouble that costs one detector more than another, and most so, if any does."""
    more = {part: worse.costs[part] - better.costs[part] for part in TROUBLE}
    part = max(more, key=lambda part: more[part])
    return part if more[part] >= SAME else None


def cost_more(worse: Explanation, better: Explanation, part: str) -> str:
    """Say what a kind of trouble costs, or brings, each of two detectors."""
    more, less = worse.costs[part], better.costs[part]
    if more < 0:
        return f"{TROUBLE[part]} bring {better.name} {-less:.3f}, and {worse.name} {-more:.3f}"
    others = f"and bring {better.name} {-less:.3f}" if less < 0 else f"{better.name} {less:.3f}"
    return f"{TROUBLE[part]} cost {worse.name} {more:.3f}, {others}"
