"""Cases that the paper has no numbers for: those of the authors' later code, and a figure on locality and integrity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from dqeval.analysis.evaluate import evaluate_detections
from dqeval.analysis.panel import panel
from dqeval.core.registry import experiment
from dqeval.core.types import BoolArray, DQEResult
from dqeval.experiments import score_plots
from dqeval.experiments.cases import case_table, read_cases
from dqeval.experiments.outcome import PAPER_METRICS, Cell, Claim, Outcome
from dqeval.experiments.setting import Setting
from dqeval.experiments.strips import add_legend, draw_strips
from dqeval.render.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "more-cases"
GROUPING, COVERAGE, FALSE_ALARMS = "Near-miss grouping", "Coverage, more events", "False alarms, spread"
LATER = (
    "The first three tables are cases that the authors' public repository had after the paper, without numbers. Their "
    "code of that time computes another DQE: the near-miss score has no factor for the mean distance, and false "
    "alarms are scored by their durations instead of their duration and entropy. These are dqeval's values."
)
# The paper's figure of locality and integrity: p1 is a late answer to a2, and p2 to p4 are more of the same.
LENGTH, NEAR = 200, 10
EVENTS = ((30, 40), (90, 100), (160, 170))
DETECTIONS = ((102, 104), (106, 108), (118, 122), (126, 130))

Values = Mapping[str, Mapping[str, float]]  # of a case: row to metric to value


@experiment(
    name=NAME, label="Cases without printed numbers", published="cases of the authors' later code, and a figure"
)
def more_cases(setting: Setting) -> Iterator[Outcome]:
    """Score the cases of the authors' later code, and the paper's figure of locality and integrity."""
    every = read_cases("later_cases")
    values: dict[str, Values] = {}
    for case in every:
        setting.progress(f"{NAME}: {case.name}")
        values[case.table] = {
            row: panel(case.labels, points, near=case.near, metrics=PAPER_METRICS).values
            for row, points in case.detections.items()
        }
    cells = {
        (table, row, metric): Cell(NAME, table, row, metric, value)
        for table, rows in values.items()
        for row, of_row in rows.items()
        for metric, value in of_row.items()
    }
    yield Outcome(
        NAME,
        "Cases that the paper has no numbers for",
        {**{case.table: case_table(case, cells) for case in every}, "Locality and integrity": _locality_table()},
        list(cells.values()),
        [*_later_claims(values), *_locality_claims()],
        [
            LATER,
            f"Locality and integrity: the events a1, a2 and a3 are {', '.join(map(_span, EVENTS))} of {LENGTH} points, "
            f"the detections p1 to p4 {', '.join(map(_span, DETECTIONS))}, near {NEAR}. The positions are ours.",
        ],
        {"locality": locality_figure},
    )


def _later_claims(values: Mapping[str, Values]) -> Iterator[Claim]:
    """Decide what the later cases are there to show."""
    grouping, coverage, spread = (_column(values[name]) for name in (GROUPING, COVERAGE, FALSE_ALARMS))
    text = "near-miss grouping: DQE falls where four more near misses follow the first, farther and farther away"
    yield Claim("later code", text, grouping["P1"] > grouping["P2"], _across(grouping))
    text = "coverage: DQE rises with each whole event that is detected, and is highest for one point of every event"
    rises = all(below < above for below, above in pairwise(coverage.values()))
    yield Claim("later code", text, rises, _across(coverage))
    text = "false alarms: DQE falls where the same duration is spread over four of them on both sides"
    yield Claim("later code", text, spread["P1"] > spread["P2"], _across(spread))


def _column(of: Values) -> dict[str, float]:
    return {row: values["dqe"] for row, values in of.items()}


def _across(of: Mapping[str, float]) -> str:
    return ", ".join(f"{row} {value:.2f}" for row, value in of.items())


def local_result(count: int) -> DQEResult:
    """Return what the first so many detections of the figure are worth."""
    return evaluate_detections(_points(EVENTS), _points(DETECTIONS[:count]), near=NEAR)


def _points(spans: Sequence[tuple[int, int]]) -> BoolArray:
    series = np.zeros(LENGTH, dtype=bool)
    for start, stop in spans:
        series[start:stop] = True
    return series


def _span(span: tuple[int, int]) -> str:
    return f"[{span[0]}, {span[1]})"


def _locality_table() -> Table:
    rows = []
    for name, count in (("p1 alone", 1), ("p1 to p4", len(DETECTIONS))):
        for event, scores in zip(("a1", "a2", "a3"), local_result(count).per_event, strict=True):
            numbers = (scores.capture, scores.near_miss, scores.false_alarm, scores.dqe)
            rows.append((name, event, *(f"{number:.2f}" for number in numbers)))
    return Table(("detections", "event", "S_cap", "S_nm", "S_fa", "SDQE"), rows, text_columns=2)


def _locality_claims() -> Iterator[Claim]:
    alone, together = (local_result(count).per_event for count in (1, len(DETECTIONS)))
    shown = f"p1 alone {alone[1].dqe:.2f}, p1 to p4 {together[1].dqe:.2f}"
    text = "integrity: p1 alone looks like a good near miss of a2; with p2 to p4, which are no better, the score falls"
    yield Claim("3.2", text, together[1].dqe < alone[1].dqe, f"SDQE of a2: {shown}")
    text = "locality: p1, an answer to a2, says nothing about the distant a1"
    yield Claim("3.2", text, alone[0].dqe == 0, f"SDQE with p1 alone: a1 {alone[0].dqe:.2f}, a2 {alone[1].dqe:.2f}")


def locality_figure() -> Figure:
    """Draw the figure of locality and integrity."""
    drawn, rows = score_plots.grid(1, 1, width=5.5, height=1.4)
    detections = {"p1": _points(DETECTIONS[:1]), "p1 to p4": _points(DETECTIONS)}
    draw_strips(rows[0, 0], _points(EVENTS), detections, NEAR)
    rows[0, 0].set_xlabel("time in points")
    add_legend(drawn)
    return drawn
