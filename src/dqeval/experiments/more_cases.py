"""Cases that the paper has no numbers for: those of the authors' later code, two figures, and a sentence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from dqeval.analysis.evaluate import evaluate_detections
from dqeval.analysis.panel import panel
from dqeval.core.partition import partition
from dqeval.core.registry import experiment, label_of
from dqeval.core.types import BoolArray, DQEResult
from dqeval.experiments import score_plots
from dqeval.experiments.cases import case_table, read_cases
from dqeval.experiments.outcome import PAPER_METRICS, Cell, Claim, Outcome, metric_header
from dqeval.experiments.setting import Setting
from dqeval.experiments.strips import add_legend, draw_strips
from dqeval.render.tables import Table, percent

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
# The paper's figure of the partition: p1 to p10 around a2, and the group that its caption puts each pair in.
PARTITION = {
    "D_fa, early": ((66, 69), (72, 75)),
    "D_nm, early": ((81, 83), (86, 88)),
    "D_cap": ((91, 94), (96, 99)),
    "D_nm, late": ((102, 104), (107, 109)),
    "D_fa, late": ((114, 117), (121, 124)),
}
# A sentence of section 2.1: detections of a fifth of an event, at its beginning, in its middle, and at its end.
LONG_EVENT = (90, 110)
FIFTHS = {"beginning": (90, 94), "middle": (98, 102), "end": (106, 110)}
BY_COVERAGE = ("point_f1", "auc_roc", "auc_pr", "vus_roc", "vus_pr", "pate")  # the paper's "w/ issue", but for PA-K

Values = Mapping[str, Mapping[str, float]]  # of a case: row to metric to value


@experiment(
    name=NAME, label="Cases without printed numbers", published="cases of the authors' later code, and two figures"
)
def more_cases(setting: Setting) -> Iterator[Outcome]:
    """Score the cases of the authors' later code, and what the paper's two figures of regions and section 2.1 show."""
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
        {
            **{case.table: case_table(case, cells) for case in every},
            "Locality and integrity": _locality_table(),
            "Groups of the partition": _partition_table(),
            "A fifth of an event": _fifths_table(),
        },
        list(cells.values()),
        [*_later_claims(values), *_locality_claims(), *_partition_claims(), *_fifths_claims()],
        [
            LATER,
            f"Locality and integrity: the events a1, a2 and a3 are {', '.join(map(_span, EVENTS))} of {LENGTH} points, "
            f"the detections p1 to p4 {', '.join(map(_span, DETECTIONS))}, near {NEAR}. The positions are ours.",
            "Groups of the partition: the same events, and two detections in each part of the region of a2.",
            f"A fifth of an event: one event, {_span(LONG_EVENT)} of {LENGTH} points, near {NEAR}.",
        ],
        {"locality": locality_figure, "partition": partition_figure},
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


def _parts_of_a2() -> dict[str, tuple[float, float]]:
    """Return where each part of the region of a2 begins and ends."""
    region = partition(_points(EVENTS), near=NEAR).regions[1]
    cuts = (region.left, region.near_start, region.start, region.stop, region.near_stop, region.right)
    return dict(zip(PARTITION, pairwise(cuts), strict=True))


def partition_groups() -> dict[str, list[str]]:
    """Return the detections in each part of the region of a2, by name."""
    spans = list(enumerate((span for pair in PARTITION.values() for span in pair), start=1))
    return {
        group: [f"p{i}" for i, (start, stop) in spans if low <= start and stop <= high]
        for group, (low, high) in _parts_of_a2().items()
    }


def _partition_table() -> Table:
    rows = zip(_parts_of_a2().items(), partition_groups().values(), strict=True)
    shown = [(group, f"[{low:g}, {high:g})", ", ".join(names)) for (group, (low, high)), names in rows]
    return Table(("group", "part of the region of a2", "detections"), shown, text_columns=3)


def _partition_claims() -> Iterator[Claim]:
    groups = partition_groups()
    text = "the caption's groups: p5, p6 are captures, p3, p4, p7, p8 near misses, p1, p2, p9, p10 false alarms"
    holds = list(groups.values()) == [[f"p{i}", f"p{i + 1}"] for i in range(1, 11, 2)]
    yield Claim("3.2", text, holds, "; ".join(f"{group}: {', '.join(names)}" for group, names in groups.items()))


def partition_figure() -> Figure:
    """Draw the figure of the partition, and the detections in it."""
    drawn, rows = score_plots.grid(1, 1, width=5.5, height=1.1)
    spans = [span for pair in PARTITION.values() for span in pair]
    draw_strips(rows[0, 0], _points(EVENTS), {"p1 to p10": _points(spans)}, NEAR)
    rows[0, 0].set_xlabel("time in points")
    add_legend(drawn)
    return drawn


def _of_fifths() -> dict[str, Mapping[str, float]]:
    """Return what the metrics say of a detection of a fifth of the event, and of all of it."""
    spans = {**FIFTHS, "all of it": LONG_EVENT}
    event = _points([LONG_EVENT])
    return {
        where: panel(event, _points([span]).astype(float), near=NEAR, metrics=PAPER_METRICS).values
        for where, span in spans.items()
    }


def _fifths_table() -> Table:
    rows = [(where, *(f"{value:.2f}" for value in values.values())) for where, values in _of_fifths().items()]
    return Table(metric_header(PAPER_METRICS, "detected"), rows)


def _fifths_claims() -> Iterator[Claim]:
    values = _of_fifths()
    parts = [values[where] for where in FIFTHS]
    text = "detections only at the beginning, middle, or end of an event are underestimated by coverage of points"
    lowest = {metric: min(1 - part[metric] / values["all of it"][metric] for part in parts) for metric in BY_COVERAGE}
    shown = ", ".join(f"{label_of(metric)} {percent(loss)}" for metric, loss in lowest.items())
    holds = all(loss > 0 for loss in lowest.values()) and all(part["dqe"] == 1 for part in parts)
    yield Claim("2.1", text, holds, f"less than for all of the event, at least: {shown}; DQE is 1 for each")
