"""What the paper of DQE prefers in its six small cases, as questions to any metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np

from dqeval.experiments.cases import PaperCase, paper_cases
from dqeval.lab.cases import Case

GROUP = "The paper's cases"


@dataclass(frozen=True, slots=True)
class PaperRow:
    """An order that the paper wants in one of its tables.

    Attributes
    ----------
    name, group, title, definition, citation : str
        As of a `Property`.
    table : int
    order : tuple of str
        The rows of the table, the best first.
    """

    name: str
    title: str
    table: int
    order: tuple[str, ...]
    definition: str
    group: str = GROUP

    @property
    def citation(self) -> str:
        """The table of the paper."""
        return f"Table {self.table} of the paper"

    def pairs(self) -> list[tuple[Case, Case]]:
        """Return each case with the one that must be above it."""
        case = _tables()[self.table - 1]
        return [(_case(case, below), _case(case, above)) for above, below in pairwise(self.order)]


PAPER_ROWS = {
    row.name: row
    for row in (
        PaperRow(
            "coverage",
            "A point of each event is better than all of one event",
            1,
            ("P2", "P1"),
            "Of five events, one point of each is detected, or all of one of them.",
        ),
        PaperRow(
            "proximity",
            "The nearer the miss, the better",
            2,
            ("P1", "P2", "P3", "P4"),
            "Two points are detected behind the event, 0, 5, 10 or 15 points away from it.",
        ),
        PaperRow(
            "consistency",
            "The longer a detection runs on, the worse",
            3,
            ("P1", "P2", "P3", "P4", "P5"),
            "The last point of the event is detected, and 0, 1, 2, 5 or 8 points behind it.",
        ),
        PaperRow(
            "overlap",
            "A detection on the event is better than one beside it",
            4,
            ("P2", "P1"),
            "Of two events, one is detected exactly. The other one is hit, or missed by a point.",
        ),
        PaperRow(
            "scattered",
            "One long false alarm is better than eight short ones",
            5,
            ("P1", "P2"),
            "Eight points are detected wrongly, in one piece or in eight.",
        ),
    )
}


@cache
def _tables() -> Sequence[PaperCase]:
    return paper_cases()


def _case(case: PaperCase, row: str) -> Case:
    labels, found = (tuple(np.asarray(flags, dtype=int).tolist()) for flags in (case.labels, case.detections[row]))
    return Case(labels, found, int(case.near))
