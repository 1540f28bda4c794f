"""The appendix's scenarios: why near-miss and false-alarm scores are set to 0 where there is nothing to reward."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Literal

import numpy as np

from dqeval.analysis.evaluate import evaluate_detections
from dqeval.core.event_scores import EventScores
from dqeval.core.partition import partition
from dqeval.core.registry import experiment
from dqeval.core.types import BoolArray
from dqeval.experiments import score_plots
from dqeval.experiments.outcome import Cell, Claim, Outcome
from dqeval.experiments.setting import Setting
from dqeval.experiments.strips import ROW_HEIGHT, add_legend, draw_strips
from dqeval.render.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LENGTH, NEAR = 100, 10
EVENT = (45, 55)
# A detection in each piece of the region; what lies in none of them is not detected.
CAPTURE, NEAR_MISS, FALSE_ALARM = (48, 52), (58, 60), (80, 82)

_FRAME = 0.5  # inches: the title and the axis of a panel


@dataclass(frozen=True, slots=True)
class Scenario:
    """Detections around the same event, the last of which is adjusted.

    Attributes
    ----------
    name, title : str
        Which of the appendix's figures, and what it is about.
    text : str
        What the appendix says of the order of the detections.
    detections : mapping of str to sequence of (start, stop)
    adjusted : "near_miss" or "false_alarm"
        Which score of the last detections is set to 0, so that all others stand above them.
    """

    name: str
    title: str
    text: str
    detections: Mapping[str, Sequence[tuple[int, int]]]
    adjusted: Literal["near_miss", "false_alarm"]


SCENARIOS = (
    Scenario(
        "near miss (a)",
        "the event is missed",
        "nothing near an event that was missed is no merit: its near-miss score is 0, and P1 stands above P2",
        {"P1": [CAPTURE], "P2": [FALSE_ALARM]},
        "near_miss",
    ),
    Scenario(
        "near miss (b)",
        "captured, with a near miss or with a false alarm",
        "a near miss tells more than a false alarm: with false alarms and no near miss, the near-miss score is 0, and "
        "P1 stands above P2",
        {"P1": [CAPTURE, NEAR_MISS], "P2": [CAPTURE, FALSE_ALARM]},
        "near_miss",
    ),
    Scenario(
        "false alarm",
        "captured, near, or nothing at all",
        "no false alarm is no merit of a detector that says nothing: its false-alarm score is 0, and P1 and P2 "
        "stand above P3",
        {"P1": [CAPTURE], "P2": [NEAR_MISS], "P3": []},
        "false_alarm",
    ),
)


@dataclass(frozen=True, slots=True)
class Adjusted:
    """The scores of some detections, before and after they were adjusted to their context."""

    before: EventScores
    after: EventScores

    def columns(self) -> dict[str, tuple[float, float]]:
        """Return each score before and after, by what it is called."""
        names = {"capture": "S_cap", "near_miss": "S_nm", "false_alarm": "S_fa", "dqe": "SDQE"}
        return {name: (getattr(self.before, part), getattr(self.after, part)) for part, name in names.items()}


@experiment(name="scenarios", label="Scores adjusted to their context", published="Appendix A")
def scenarios(setting: Setting) -> Iterator[Outcome]:
    """Show the scenarios of the paper's appendix, with the scores before and after they are adjusted."""
    setting.progress("scenarios: the appendix's three figures")
    found = {s.name: {row: adjust(points(spans)) for row, spans in s.detections.items()} for s in SCENARIOS}
    yield Outcome(
        name="scenarios",
        title="Scores of an event before and after they are adjusted to their context",
        tables={"Scores before and after adjustment": _table(found)},
        cells=list(_cells(found)),
        claims=[_claim(scenario, found[scenario.name]) for scenario in SCENARIOS],
        notes=[
            "The paper draws the scenarios without numbers: the positions are ours. "
            f"The event is [{EVENT[0]}, {EVENT[1]}) of {LENGTH} points, near {NEAR}.",
            "In near miss (a), P2 has a false alarm: with nothing at all, its false-alarm score would be adjusted too.",
        ],
        figures={"scenarios": figure},
    )


def points(spans: Sequence[tuple[int, int]]) -> BoolArray:
    """Return half-open spans of time as a series of detections."""
    series = np.zeros(LENGTH, dtype=bool)
    for start, stop in spans:
        series[start:stop] = True
    return series


def adjust(detected: BoolArray) -> Adjusted:
    """Score detections, and tell what the scores were without regard to the context.

    Notes
    -----
    Only scores of pieces without a detection are adjusted, and before that they are 1: sections 3.3 and 3.4.
    """
    labels = points([EVENT])
    region = partition(labels, near=NEAR).regions[0]
    near = np.zeros(LENGTH, dtype=bool)
    near[int(region.near_start) : int(region.near_stop)] = True
    after = evaluate_detections(labels, detected, near=NEAR).per_event[0]
    near_miss = after.near_miss if detected[near & ~labels].any() else 1.0
    false_alarm = after.false_alarm if detected[~near].any() else 1.0
    together = sqrt((after.capture + near_miss) / 2 * false_alarm)
    return Adjusted(EventScores(*EVENT, together, after.capture, near_miss, false_alarm), after)


def figure() -> Figure:
    """Draw the scenarios, a panel each."""
    heights = [_FRAME + ROW_HEIGHT * (1 + len(scenario.detections)) for scenario in SCENARIOS]
    size = {"width": 4.5, "height": sum(heights) + 0.4}
    drawn, rows = score_plots.grid(len(SCENARIOS), 1, **size, sharex=True, height_ratios=heights)
    for axes, scenario in zip(rows.flat, SCENARIOS, strict=True):
        detections = {row: points(spans) for row, spans in scenario.detections.items()}
        draw_strips(axes, points([EVENT]), detections, NEAR)
        axes.set_title(f"{scenario.name}: {scenario.title}", loc="left")
    rows[-1, 0].set_xlabel("time in points")
    add_legend(drawn)
    return drawn


def _table(found: Mapping[str, Mapping[str, Adjusted]]) -> Table:
    header = ("scenario", "", "S_cap", "S_nm", "S_fa", "SDQE")
    rows = [
        (scenario, row, *(_change(*pair) for pair in scores.columns().values()))
        for scenario, of_rows in found.items()
        for row, scores in of_rows.items()
    ]
    return Table(header, rows, note="an arrow leads from the score before adjustment to the one after", text_columns=2)


def _change(before: float, after: float) -> str:
    return f"{after:.2f}" if before == after else f"{before:.2f} → {after:.2f}"


def _cells(found: Mapping[str, Mapping[str, Adjusted]]) -> Iterator[Cell]:
    for scenario, of_rows in found.items():
        for row, scores in of_rows.items():
            for name, (before, after) in scores.columns().items():
                yield Cell("scenarios", scenario, row, f"{name} before adjustment", before)
                yield Cell("scenarios", scenario, row, name, after)


def _claim(scenario: Scenario, found: Mapping[str, Adjusted]) -> Claim:
    *others, last = (scores.after for scores in found.values())
    holds = getattr(last, scenario.adjusted) == 0 and all(other.dqe > last.dqe for other in others)
    before = ", ".join(f"{row} {scores.before.dqe:.2f}" for row, scores in found.items())
    after = ", ".join(f"{row} {scores.after.dqe:.2f}" for row, scores in found.items())
    return Claim("A", f"{scenario.name}: {scenario.text}", holds, f"SDQE {after}; without adjustment {before}")
