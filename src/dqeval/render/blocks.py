"""What the page of a benchmark run is made of: paragraphs, tables of cells, drawings, and what is folded away.

They say what is shown; bench_page.html says how.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dqeval.render.tables import Table

NONE = "–"  # where there is no value


@dataclass(frozen=True, slots=True)
class Bar:
    """Where an interval begins, has its middle and ends, in hundredths of the width of its drawing."""

    left: float
    middle: float
    right: float


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table.

    Attributes
    ----------
    text : str
    kind : str
        The classes that style it.
    sort : float or None
        What it sorts by, if not by its text.
    best : bool
        Whether it stands out.
    small : str
        What is added in small letters.
    title : str
        What is told when one points at it.
    link : str
        Where the text leads.
    tint : str
        The colour of the ground.
    interval : Bar or None
        What is drawn before the text.
    """

    text: str
    kind: str = ""
    sort: float | None = None
    best: bool = False
    small: str = ""
    title: str = ""
    link: str = ""
    tint: str = ""
    interval: Bar | None = None


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph, or a hint."""

    shape: ClassVar[str] = "paragraph"
    text: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of cells that may be wider than the window; some columns but for the first may be text."""

    shape: ClassVar[str] = "grid"
    label: str
    header: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    text_columns: Sequence[int] = ()
    kind: str = "sortable"


@dataclass(frozen=True, slots=True)
class Listing:
    """A plain table that may be wider than the window."""

    shape: ClassVar[str] = "listing"
    label: str
    table: Table


@dataclass(frozen=True, slots=True)
class Diagram:
    """A drawing as SVG without its first tag's name, and what it shows in words."""

    shape: ClassVar[str] = "diagram"
    label: str
    words: str
    svg: str


@dataclass(frozen=True, slots=True)
class Fold:
    """What is shown when one opens it."""

    shape: ClassVar[str] = "fold"
    summary: str
    blocks: Sequence[Block]


Block = Paragraph | Grid | Listing | Diagram | Fold


def hint(text: str) -> Paragraph:
    """Return a paragraph that helps to read what is beside it."""
    return Paragraph(text, "hint")


def text_cell(text: str, kind: str = "text") -> Cell:
    """Return a cell of text."""
    return Cell(text, kind)


def number_cell(value: float, *, digits: int = 3, best: bool = False, small: str = "", title: str = "") -> Cell:
    """Return a cell with a number, which sorts by all its digits."""
    if np.isnan(value):
        return Cell(NONE, "number")
    return Cell(shown_number(value, digits), "number", sort=value, best=best, small=small, title=title)


def shown_number(value: float, digits: int) -> str:
    """Return a number in so many digits, never as −0.

    Examples
    --------
    >>> shown_number(-0.125, 1), shown_number(-0.001, 2), shown_number(1234.5, 0)
    ('−0.1', '0.00', '1,234')
    """
    return f"{round(value, digits) + 0.0:,.{digits}f}".replace("-", "−")
