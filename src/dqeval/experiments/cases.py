"""The paper's six small cases: eleven metrics on detections that are plainly better or worse than one another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

import numpy as np

from dqeval.analysis.panel import panel
from dqeval.core.registry import experiment, label_of
from dqeval.core.types import BoolArray
from dqeval.experiments import score_plots
from dqeval.experiments.outcome import (
    PAPER_METRICS,
    Cell,
    Claim,
    Outcome,
    beside,
    expected_file,
    expected_numbers,
    metric_header,
)
from dqeval.experiments.setting import Setting
from dqeval.experiments.strips import ROW_HEIGHT, add_legend, draw_strips
from dqeval.experiments.verdicts import is_majority, metrics_in_words
from dqeval.render.tables import Table, best_of, count_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Ranges = Sequence[tuple[int, int]]
Values = Mapping[str, Mapping[str, float]]  # of a table: row to metric to value

_COLUMNS = 2  # of panels in the figure
_FRAME = 0.6  # inches: the title and the axis of a panel


@dataclass(frozen=True, slots=True)
class PaperCase:
    """Labels, the detections that are compared on them, and the near range.

    Attributes
    ----------
    table, title : str
        Which table of the paper, and what it is about.
    near : float
    labels : array of bool, shape (n,)
    detections : mapping of str to array of bool, shape (n,)
        By the row of the table.
    """

    table: str
    title: str
    near: float
    labels: BoolArray
    detections: Mapping[str, BoolArray]

    @property
    def name(self) -> str:
        """The table and what it is about."""
        return f"{self.table}: {self.title}"


@experiment(name="cases", label="Six synthetic cases", published="Tables 1–6")
def cases(setting: Setting) -> Iterator[Outcome]:
    """Score the detections of the paper's six small cases with eleven metrics."""
    every = paper_cases()
    values = {}
    for case in every:
        setting.progress(f"cases: {case.name}")
        values[case.table] = {
            row: panel(case.labels, points, near=case.near, metrics=PAPER_METRICS).values
            for row, points in case.detections.items()
        }
    published = expected_numbers("cases")
    cells = {key: Cell("cases", *key, values[key[0]][key[1]][key[2]], number) for key, number in published.items()}
    yield Outcome(
        name="cases",
        title="Eleven metrics on the six synthetic cases of the paper",
        tables={case.name: case_table(case, cells) for case in every},
        cells=list(cells.values()),
        claims=list(_claims(values)),
        notes=["Highest scores stand out. In brackets: the published number, where it is another, and the difference."],
        figures={"cases": lambda: figure(every)},
    )


def paper_cases() -> list[PaperCase]:
    """Return the labels and the detections of the paper's Tables 1 to 6."""
    return read_cases("cases")


def read_cases(file: str) -> list[PaperCase]:
    """Return the cases of a file of expected numbers."""
    return [
        PaperCase(
            table=given["table"],
            title=given["title"],
            near=given["near"],
            labels=_points(given["anomalies"], given["length"]),
            detections={row: _points(ranges, given["length"]) for row, ranges in given["detections"].items()},
        )
        for given in expected_file(file)["inputs"]
    ]


def figure(every: Sequence[PaperCase]) -> Figure:
    """Draw the events and the detections of cases, a panel each."""
    lines = [every[i : i + _COLUMNS] for i in range(0, len(every), _COLUMNS)]
    heights = [_FRAME + ROW_HEIGHT * max(1 + len(case.detections) for case in line) for line in lines]
    size = {"width": 7.0, "height": sum(heights) + 0.3}
    drawn, rows = score_plots.grid(len(lines), _COLUMNS, **size, height_ratios=heights)
    for axes, case in zip(rows.flat, every, strict=True):
        draw_strips(axes, case.labels, case.detections, case.near)
        axes.set_title(f"{case.name}, near {case.near:g}", loc="left")
    for axes in rows[-1]:
        axes.set_xlabel("time in points")
    add_legend(drawn)
    return drawn


def _points(ranges: Ranges | Literal["random"], length: int) -> BoolArray:
    """Return ranges, first and last point given, as a series; or the random detections of Table 6."""
    if ranges == "random":
        return np.random.RandomState(42).randint(0, 2, size=length).astype(bool)
    points = np.zeros(length, dtype=bool)
    for first, last in ranges:
        points[int(first) : int(last) + 1] = True
    return points


def case_table(case: PaperCase, cells: Mapping[tuple[str, str, str], Cell]) -> Table:
    """Return a case as a table, the published numbers in brackets where they are others."""
    found = {row: [cells[case.table, row, metric] for metric in PAPER_METRICS] for row in case.detections}
    rows = [(row, *(beside(cell.shown, cell.published) for cell in of_row)) for row, of_row in found.items()]
    marked = set()
    for j, column in enumerate(zip(*found.values(), strict=True), start=1):
        best = best_of([float(cell.shown) for cell in column])
        if len(best) < len(column):
            marked |= {(i, j) for i in best}
    size = f"{count_of(len(case.labels), 'point')}, near {case.near:g}"
    return Table(metric_header(PAPER_METRICS, ""), rows, note=size, marked=marked)


def _claims(values: Mapping[str, Values]) -> Iterator[Claim]:
    """Decide what sections 2 and 4.2 of the paper say of the tables."""
    yield from _coverage(values["Table 1"])
    yield from _distance(values["Table 2"])
    yield from _duration(values["Table 3"])
    yield from _overlap(values["Table 4"])
    yield from _scattered(values["Table 5"])
    yield from _random(values["Table 6"])


def _coverage(of: Values) -> Iterator[Claim]:
    first = [metric for metric in PAPER_METRICS if of["P1"][metric] > of["P2"][metric]]
    text = "Table 1: most metrics put all of one event (P1) above one point of every event (P2)"
    yield Claim("2.1, 4.2.1", text, is_majority(first), metrics_in_words(first))
    yield Claim("4.2.1", "Table 1: DQE puts P2 above P1", of["P2"]["dqe"] > of["P1"]["dqe"], _across(of, "dqe"))


def _distance(of: Values) -> Iterator[Claim]:
    alike = [metric for metric in PAPER_METRICS if _alike(of, metric)]
    text = "Table 2: most metrics score a near miss alike, however far from the event it is"
    yield Claim("2.2", text, is_majority(alike), metrics_in_words(alike))
    spread = {metric: max(_column(of, metric)) - min(_column(of, metric)) for metric in PAPER_METRICS}
    first, second = sorted(spread, key=lambda metric: -spread[metric])[:2]
    text = "Table 2: of all metrics, DQE tells the four distances apart the most"
    found = (
        f"{label_of(first)} {spread[first]:.2f} from highest to lowest, then {label_of(second)} {spread[second]:.2f}"
    )
    yield Claim("4.2.2", text, first == "dqe", found)
    text = "Table 2: DQE falls from each near miss to the next farther one"
    yield Claim("4.2.2", text, _falls(of, "dqe"), _across(of, "dqe"))


def _duration(of: Values) -> Iterator[Claim]:
    peaks = {"vus_roc": "P4", "vus_pr": "P3", "pate": "P3"}
    holds = all(_rises_and_falls(of, metric, row) for metric, row in peaks.items())
    shown = "; ".join(f"{label_of(metric)} {_across(of, metric)}" for metric in peaks)
    text = (
        "Table 3: as a detection runs on beyond the event, VUS-ROC, VUS-PR and PATE first rise and then fall; "
        "they are highest at P4, P3 and P3, not at P1, which fits best"
    )
    yield Claim("2.2", text, holds, shown)
    text = "Table 3: DQE falls from each detection to the next one, which runs on farther"
    yield Claim("4.2.2", text, _falls(of, "dqe"), _across(of, "dqe"))


def _overlap(of: Values) -> Iterator[Claim]:
    text = "Table 4: AF puts a detection that lies off its event (P1) above one that overlaps it (P2)"
    preferred = of["P1"]["affiliation_f1"] > of["P2"]["affiliation_f1"]
    yield Claim("2.2", text, preferred, _across(of, "affiliation_f1"))
    yield Claim("4.2.2", "Table 4: DQE puts P2 above P1", of["P2"]["dqe"] > of["P1"]["dqe"], _across(of, "dqe"))


def _scattered(of: Values) -> Iterator[Claim]:
    alike = [metric for metric in PAPER_METRICS if _alike(of, metric)]
    text = "Table 5: most metrics score one long false alarm (P1) and eight short ones (P2) alike"
    yield Claim("2.3", text, is_majority(alike), metrics_in_words(alike))
    text = "Table 5: DQE falls where the same duration is scattered over more false alarms"
    yield Claim("4.2.3", text, _falls(of, "dqe"), _across(of, "dqe"))


def _random(of: Values) -> Iterator[Claim]:
    scores = of["P"]
    ranked = sorted(PAPER_METRICS, key=lambda metric: -scores[metric])
    generous = {"affiliation_f1", "vus_roc", "auc_roc"}
    shown = ", ".join(f"{label_of(metric)} {scores[metric]:.2f}" for metric in ranked[:3])
    found = f"{shown}; the others {scores[ranked[3]]:.2f} at most"
    text = "Table 6: AF, VUS-ROC and AUC-ROC give random detections high scores, higher than all others do"
    yield Claim("2.3", text, set(ranked[:3]) == generous, found)
    text = "Table 6: DQE gives random detections nothing, and so leaves the whole scale to what is better"
    found = f"DQE {scores['dqe']:.2f}; the others {min(v for m, v in scores.items() if m != 'dqe'):.2f} at least"
    yield Claim("4.2.3", text, f"{scores['dqe']:.2f}" == "0.00", found)


def _column(of: Values, metric: str) -> list[float]:
    return [row[metric] for row in of.values()]


def _across(of: Values, metric: str) -> str:
    """Show a metric from the first row to the last."""
    return ", ".join(f"{row} {value:.2f}" for row, value in zip(of, _column(of, metric), strict=True))


def _alike(of: Values, metric: str) -> bool:
    """Return whether a metric is the same in all rows, as printed."""
    return len({f"{value:.2f}" for value in _column(of, metric)}) == 1


def _falls(of: Values, metric: str) -> bool:
    return all(above > below for above, below in pairwise(_column(of, metric)))


def _rises_and_falls(of: Values, metric: str, peak: str) -> bool:
    """Return whether a metric rises from each row to the next up to one of them, and falls from there on."""
    values, place = _column(of, metric), list(of).index(peak)
    rising = all(before < after for before, after in pairwise(values[: place + 1]))
    return rising and all(before > after for before, after in pairwise(values[place:]))
