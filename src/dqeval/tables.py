"""Small tables as plain text and as HTML: what results look like when they are printed."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

MOST_ROWS = 20


def counted(count: int, noun: str) -> str:
    """Return a number of things, with the noun in the right form.

    Examples
    --------
    >>> counted(1, "event"), counted(1200, "event")
    ('1 event', '1,200 events')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


@dataclass(frozen=True, slots=True)
class Table:
    """A header, rows of cells, and a note below; the first column is text, the others are numbers."""

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""

    def text(self) -> str:
        """Return the table as aligned lines."""
        rows, notes = self._shown()
        widths = [max(map(len, column)) for column in zip(self.header, *rows, strict=True)]
        lines = [self._line(row, widths) for row in (self.header, *rows)]
        return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:], *notes])

    def html(self) -> str:
        """Return the table as an HTML fragment, without scripts or outside resources."""
        rows, notes = self._shown()
        head = "".join(f"<th>{escape(cell)}</th>" for cell in self.header)
        body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        foot = "".join(f"<div><small>{escape(note)}</small></div>" for note in notes)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{foot}"

    def _shown(self) -> tuple[Sequence[Sequence[str]], list[str]]:
        """Return the rows that are shown, and the notes below them: a long table is cut."""
        notes = [self.note] if self.note else []
        if len(self.rows) <= MOST_ROWS:
            return self.rows, notes
        return self.rows[:MOST_ROWS], [f"... and {len(self.rows) - MOST_ROWS:,} more", *notes]

    @staticmethod
    def _line(row: Sequence[str], widths: Sequence[int]) -> str:
        cells = [row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))]
        return "  ".join(cells).rstrip()
