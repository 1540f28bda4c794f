"""What an experiment found: numbers beside the published ones, claims that hold or do not, tables and figures."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from dqeval.core.metric_groups import GROUPS
from dqeval.core.registry import label_of
from dqeval.render.figure import save
from dqeval.render.tables import Page, Part, Table, count_of, in_csv
from dqeval.support.writing import write_table, write_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The metrics of the paper's tables, in its order.
PAPER_METRICS = GROUPS["paper"]
By = Literal["as published", "dqeval"]
PUBLISHED: By = "as published"
OURS: By = "dqeval"
FORMS: tuple[By, By] = (PUBLISHED, OURS)
HALFWAY = 0.5  # the threshold at which false alarms are counted, of scores that are scaled to [0, 1]
Key = tuple[str, str, str]
_ROUNDING = 1e-9  # of numbers in floating point

VERDICTS = {True: "holds", False: "does not hold here", None: "cannot be told here"}
OPEN, TOO_FEW = "open", "too few series"


@dataclass(frozen=True, slots=True)
class Cell:
    """A number of a table, beside the one that the paper prints there.

    Attributes
    ----------
    experiment, table, row, metric : str
        Where it stands. The metric is a name of the registry, a part of DQE, or what the number is in words.
    ours : float
    published : str or None
        As printed; None where the paper prints nothing.
    by : "dqeval" or "as published"
        Whose definition and detectors made ours: this library's, or those that the paper's numbers were made with.
    deviation : float, optional
        The standard deviation of ours from seed to seed, 0 without random numbers; not given where one seed was run.
    """

    experiment: str
    table: str
    row: str
    metric: str
    ours: float
    published: str | None = None
    by: By = "dqeval"
    deviation: float | None = None

    @property
    def equal(self) -> bool | None:
        """Whether ours, rounded as the published number is, is that number; None if nothing is published.

        Examples
        --------
        >>> Cell("cases", "Table 1", "P1", "dqe", 0.2043, "0.20").equal
        True
        """
        return None if self.published is None else self.shown == self.published

    @property
    def shown(self) -> str:
        """Ours, with as many decimals as the published number, or two."""
        decimals = 2 if self.published is None else len(self.published.partition(".")[2])
        return f"{self.ours:z.{decimals}f}"  # z: no minus before zeros, which no table prints

    @property
    def difference(self) -> float | None:
        """Ours less the published number; None if either is not there."""
        return None if self.published is None or math.isnan(self.ours) else self.ours - float(self.published)

    @property
    def inside(self) -> bool | None:
        """Whether the published number, before it was rounded, may lie within a standard deviation of ours.

        None if nothing is published, or one seed was run.

        Examples
        --------
        >>> Cell("rankings", "WSD", "CNN", "dqe", 0.652, "0.64", deviation=0.01).inside
        True
        """
        if self.difference is None or self.deviation is None or self.published is None:
            return None
        rounding = 0.5 * 10.0 ** -len(self.published.partition(".")[2])
        return abs(self.difference) <= self.deviation + rounding + _ROUNDING

    def record(self) -> dict[str, Any]:
        """Return the cell, ready for JSON and CSV."""
        return {
            "experiment": self.experiment,
            "table": self.table,
            "row": self.row,
            "metric": self.metric,
            "by": self.by,
            "published": None if self.published is None else float(self.published),
            "ours": None if math.isnan(self.ours) else self.ours,
            "difference": self.difference,
            "equal": self.equal,
            "deviation": self.deviation,
            "inside": self.inside,
        }


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence that a number can test: the paper's, or one that answers a question of it.

    Attributes
    ----------
    section : str
        Where the paper says or asks so.
    text : str
        In our words.
    holds : bool or None
        None if it cannot be told from what was run.
    found : str
        The numbers that decide it.
    share : float, optional
        In which share of the resamples it holds, where series were drawn again: it holds from 95 % on, does not hold up
        to 5 %, and is open between.
    why_untold : str
        What the verdict is where there is none.
    """

    section: str
    text: str
    holds: bool | None
    found: str
    share: float | None = None
    why_untold: str = VERDICTS[None]

    @property
    def verdict(self) -> str:
        """Whether it holds, in words."""
        if self.holds is None:
            return self.why_untold if self.share is None else OPEN
        return VERDICTS[self.holds]

    @property
    def verdict_and_share(self) -> str:
        """The verdict, and in how many of the resamples the sentence holds, where there are any."""
        return self.verdict if self.share is None else f"{self.verdict} ({percent(self.share)} of resamples)"

    def record(self) -> dict[str, Any]:
        """Return the claim, ready for JSON and CSV."""
        return {
            "section": self.section,
            "claim": self.text,
            "holds": self.holds,
            "verdict": self.verdict,
            "share": self.share,
            "found": self.found,
        }


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an experiment found.

    Attributes
    ----------
    name, title : str
        The name is the folder that it is written to.
    tables : mapping of str to Table
        By their titles.
    cells : sequence of Cell
    claims : sequence of Claim
    notes : sequence of str
        Sentences on what differs, and why.
    figures : mapping of str to callable
        By the name of the file, without its ending: draws the figure.
    """

    name: str
    title: str
    tables: Mapping[str, Table]
    cells: Sequence[Cell] = ()
    claims: Sequence[Claim] = ()
    notes: Sequence[str] = ()
    figures: Mapping[str, Callable[[], Figure]] = field(default_factory=dict)

    def page(self) -> Page:
        """Return everything but the figures, to be shown."""
        parts: list[Part] = [self.title]
        for title, table in self.tables.items():
            parts += [title, table]
        parts += self._sentences()
        if self.claims:
            parts += ["Statements, and whether they hold:", "\n".join(map(_sentence, self.claims))]
        return Page(parts)

    def numbers(self) -> dict[str, Any]:
        """Return everything but the figures, ready for JSON."""
        return {
            "experiment": self.name,
            "cells": [cell.record() for cell in self.cells],
            "claims": [{"experiment": self.name, **claim.record()} for claim in self.claims],
            "notes": [{"experiment": self.name, "note": note} for note in self.notes],
        }

    def write(self, folder: Path) -> list[Path]:
        """Write the outcome to its own folder below the one given; return the files.

        Cells and claims are CSV files, each table is CSV, Markdown and LaTeX, each figure PNG and PDF, and report.md
        is the page with the figures. The same numbers give the same files.
        """
        place = folder / self.name
        place.mkdir(parents=True, exist_ok=True)
        written = []
        if self.cells:
            records = [cell.record() for cell in self.cells]
            written.append(_write_csv(place / "cells.csv", list(records[0]), (r.values() for r in records)))
        for title, table in self._every_table().items():
            written += write_one_table(place / _slug(title), table)
        shown = "\n\n".join([self.page().markdown(), *(f"![{stem}]({stem}.png)" for stem in self.figures)])
        written.append(_write_text(place / "report.md", shown))
        written.append(_write_text(place / "notes.md", "\n\n".join(self._sentences())))
        for stem, draw in self.figures.items():
            paths = [place / f"{stem}.png", place / f"{stem}.pdf"]
            save(draw, *paths)
            written += paths
        return written

    def _sentences(self) -> list[str]:
        return [sentence for sentence in (agreement(self.cells), *self.notes) if sentence]

    def _every_table(self) -> dict[str, Table]:
        return {**self.tables, **({"claims": claims_table(self.claims)} if self.claims else {})}


def expected_numbers(experiment: str) -> dict[Key, str]:
    """Return the numbers that the paper prints, by table, row and metric."""
    return {(c["table"], c["row"], c["metric"]): c["published"] for c in expected_file(experiment)["cells"]}


def expected_file(experiment: str) -> dict[str, Any]:
    """Return all that is kept of what the paper prints for an experiment."""
    text = (files("dqeval.experiments") / "expected" / f"{experiment}.json").read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def agreement(cells: Iterable[Cell]) -> str:
    """Say how many numbers are those that the paper prints, and how far the others are off."""
    printed = [cell for cell in cells if cell.published is not None]
    if not printed:
        return ""
    sentences = []
    for by in dict.fromkeys(cell.by for cell in printed):
        of_kind = [cell for cell in printed if cell.by == by]
        equal = sum(bool(cell.equal) for cell in of_kind)
        off = [abs(cell.difference) for cell in of_kind if cell.difference is not None and not cell.equal]
        undefined = sum(cell.difference is None for cell in of_kind)
        how = "by dqeval" if by == OURS else by
        parts = [f"Computed {how}, as the paper prints them: {equal} of {count_of(len(of_kind), 'number')}"]
        parts += [f"the largest difference is {max(off):.2g}"] if off else []
        parts += [f"{undefined} undefined here"] if undefined else []
        ranged = [cell.inside for cell in of_kind if cell.inside is not None]
        parts += [f"{sum(ranged)} of {len(ranged)} lie within mean ± SD over the seeds"] if ranged else []
        sentences.append(f"{'; '.join(parts)}.")
    return " ".join(sentences)


def claims_table(claims: Sequence[Claim]) -> Table:
    """Return claims and what became of them as a table."""
    rows = [(claim.section, claim.text, claim.verdict_and_share, claim.found) for claim in claims]
    return Table(("section", "statement", "verdict", "found here"), rows, text_columns=4)


def _sentence(claim: Claim) -> str:
    where = f"section {claim.section}" if claim.section[0].isdigit() else claim.section
    return f"- {claim.verdict_and_share}: {claim.text.removesuffix('.')} ({where}). Found: {claim.found}."


def beside(ours: str, published: str | None) -> str:
    """Return a number with the published one and the difference in brackets, where there is one and it is another.

    Examples
    --------
    >>> beside("0.20", "0.25"), beside("0.20", "0.20")
    ('0.20 (0.25, −0.05)', '0.20')
    """
    if published in (None, ours):
        return ours
    decimals = len(published.partition(".")[2])
    return f"{ours} ({published}, {float(ours) - float(published):+.{decimals}f})".replace("-", "−")


def metric_header(metrics: Iterable[str], *first: str) -> tuple[str, ...]:
    """Return a header: the first columns, and the labels of metrics."""
    return (*first, *map(label_of, metrics))


def percent(share: float) -> str:
    """Return a share in percent; one that is not all of them is never shown as 100, nor one that is not none as 0."""
    shown = f"{100 * share:.0f}" if share in (0, 1) else f"{min(max(100 * share, 0.1), 99.9):.3g}"
    return f"{shown} %"


def _slug(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", title.lower()).strip("_")


def write_one_table(stem: Path, table: Table) -> list[Path]:
    """Write a table as CSV, Markdown and LaTeX, the last so that it fits a page; return the files."""
    csv_path = _write_csv(stem.with_suffix(".csv"), table.header, table.rows)
    others = {stem.with_suffix(".md"): table.markdown(), stem.with_suffix(".tex"): table.latex_to_fit()}
    return [csv_path, *(_write_text(path, text) for path, text in others.items())]


def _write_text(path: Path, text: str) -> Path:
    write_text(path, f"{text}\n")
    return path


def _write_csv(path: Path, header: Sequence[str], rows: Iterable[Iterable[Any]]) -> Path:
    write_table(path, in_csv(header), map(in_csv, rows))
    return path
