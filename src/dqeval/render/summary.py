"""The detectors of a page at a glance: DQE with its interval, its parts, and how far each is behind the best."""

from __future__ import annotations

from dataclasses import dataclass

from dqeval.analysis.compare_result import Comparison
from dqeval.analysis.score_result import dqe_of
from dqeval.core.types import SCORE_NAMES
from dqeval.render.blocks import Bar


@dataclass(frozen=True, slots=True)
class SummaryRow:
    """What a page says of a detector first.

    Attributes
    ----------
    name : str
    scores : tuple of str
        DQE and its parts.
    interval : str
        Of DQE; or how few events there are.
    bar : Bar or None
        The interval as it is drawn; None where there is none.
    behind : str
        How far it is behind the best detector, with the interval of that; empty for the best.
    told_apart : bool
        Whether the events tell the two apart.
    chance : str
        DQE by chance.
    wins : int
        At how many events it is best.
    threshold, there : str
        The suggested threshold, and DQE at it.
    """

    name: str
    scores: tuple[str, ...]
    interval: str
    bar: Bar | None
    behind: str
    told_apart: bool
    chance: str
    wins: int
    threshold: str
    there: str


def summary_rows(comparison: Comparison) -> list[SummaryRow]:
    """Return what a page says of each detector first, the best first."""
    differences = comparison.differences
    rows = []
    for name, panel in comparison.panels.items():
        result, behind, start = dqe_of(panel), differences.get(name), comparison.explanations[name]
        interval = result.interval()
        known = interval.is_known
        rows.append(
            SummaryRow(
                name,
                tuple(f"{getattr(result, part):.3f}" for part in SCORE_NAMES),
                str(interval),
                Bar(100 * interval.low, 100 * result.dqe, 100 * interval.high) if known else None,
                "" if behind is None else str(behind) if known else f"{behind.mean:.3f}",
                behind is not None and behind.is_told_apart,
                f"{comparison.chance[name].mean['dqe']:.3f}",
                comparison.wins(name),
                start.shown_threshold,
                f"{start.sdqe:.3f}",
            )
        )
    return rows
