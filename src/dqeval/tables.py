"""Tables and pages of them, as plain text, HTML, Markdown and LaTeX: what results look like when they are shown."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from html import escape

MOST_ROWS = 20

Emphasis = Callable[[str], str]

_LATEX = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": "$<$", ">": "$>$", "−": "$-$", "×": r"$\times$", "→": r"$\rightarrow$"}
)


def counted(count: int, noun: str) -> str:
    """Return a number of things, with the noun in the right form.

    Examples
    --------
    >>> counted(1, "event"), counted(1200, "event")
    ('1 event', '1,200 events')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def listed(names: Sequence[str], most: int = 4) -> str:
    """Return names in words, the last of many as a number.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed(["a", "b", "c"], most=2)
    ('a, b and c', 'a and 2 others')
    """
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} others"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def best_of(values: Sequence[float]) -> list[int]:
    """Return the places of the highest values; those that print alike, in three decimals, are equals.

    Examples
    --------
    >>> best_of([0.5001, 0.4, 0.5004, float("nan")])
    [0, 2]
    """
    cells = [f"{value:.3f}" for value in values]
    best = max((float(cell) for cell in cells if cell != "nan"), default=None)
    return [i for i, cell in enumerate(cells) if cell != "nan" and float(cell) == best]


@dataclass(frozen=True, slots=True)
class Table:
    """A header, rows of cells, and a note below; the first columns are text, the others are numbers.

    Attributes
    ----------
    header : sequence of str
    rows : sequence of sequence of str
    note : str
    marked : collection of (row, column)
        The cells that stand out, such as the best of a row.
    text_columns : int
        How many columns are text, set to the left.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    marked: Collection[tuple[int, int]] = frozenset()
    text_columns: int = 1

    def text(self, *, most_rows: int | None = MOST_ROWS, emphasis: Emphasis = str) -> str:
        """Return the table as aligned lines, cut after some rows."""
        rows, notes = self._shown(most_rows)
        widths = [max(map(len, column)) for column in zip(self.header, *rows, strict=True)]
        lines = [self._line(-1, self.header, widths, str).rstrip()]
        lines.append("-" * len(lines[0]))
        lines += [self._line(i, row, widths, emphasis).rstrip() for i, row in enumerate(rows)]
        return "\n".join(lines + notes)

    def html(self, *, most_rows: int | None = MOST_ROWS) -> str:
        """Return the table as an HTML fragment, without scripts or outside resources."""
        rows, notes = self._shown(most_rows)
        head = "".join(f"<th>{escape(cell)}</th>" for cell in self.header)
        lines = self._emphasised(rows, escape, lambda cell: f"<b>{cell}</b>")
        body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in lines)
        foot = "".join(f"<div><small>{escape(note)}</small></div>" for note in notes)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{foot}"

    def markdown(self) -> str:
        """Return the table in Markdown."""
        rows = [[cell.replace("|", "\\|") for cell in self.header], self._aligned("---", "---:")]
        rows += self._emphasised(self.rows, lambda cell: cell.replace("|", "\\|"), lambda cell: f"**{cell}**")
        lines = [f"| {' | '.join(row)} |" for row in rows]
        return "\n".join([*lines, *(["", self.note] if self.note else [])])

    def latex(self) -> str:
        """Return the table in LaTeX, for the package booktabs."""
        rows = self._emphasised(self.rows, _latex_cell, lambda cell: f"\\textbf{{{cell}}}")
        lines = [f"\\begin{{tabular}}{{{''.join(self._aligned('l', 'r'))}}}", "\\toprule"]
        lines += [" & ".join(map(in_latex, self.header)) + r" \\", "\\midrule"]
        lines += [" & ".join(row) + r" \\" for row in rows]
        lines += ["\\bottomrule", "\\end{tabular}"]
        return "\n".join([*lines, *([f"% {self.note}"] if self.note else [])])

    def _shown(self, most_rows: int | None) -> tuple[Sequence[Sequence[str]], list[str]]:
        """Return the rows that are shown, and the notes below them."""
        notes = [self.note] if self.note else []
        if most_rows is None or len(self.rows) <= most_rows:
            return self.rows, notes
        return self.rows[:most_rows], [f"... and {len(self.rows) - most_rows:,} more", *notes]

    def _aligned(self, text: str, number: str) -> list[str]:
        """Return how each column is set, in the words of a format."""
        return [text if j < self.text_columns else number for j in range(len(self.header))]

    def _emphasised(self, rows: Sequence[Sequence[str]], escaped: Emphasis, emphasis: Emphasis) -> list[list[str]]:
        return [
            [emphasis(escaped(cell)) if (i, j) in self.marked else escaped(cell) for j, cell in enumerate(row)]
            for i, row in enumerate(rows)
        ]

    def _line(self, i: int, row: Sequence[str], widths: Sequence[int], emphasis: Emphasis) -> str:
        # Padding is added outside the emphasis, whose own characters have no width on a terminal.
        cells = []
        for j, (cell, width) in enumerate(zip(row, widths, strict=True)):
            space = " " * (width - len(cell))
            shown = emphasis(cell) if (i, j) in self.marked else cell
            cells.append(shown + space if j < self.text_columns else space + shown)
        return "  ".join(cells)


@dataclass(frozen=True, slots=True)
class Page:
    """Paragraphs and tables, in the order in which they are shown."""

    parts: Sequence[str | Table]

    def text(self, *, emphasis: Emphasis = str) -> str:
        """Return the page as plain text, tables whole."""
        return "\n\n".join(
            part if isinstance(part, str) else part.text(most_rows=None, emphasis=emphasis) for part in self.parts
        )

    def html(self) -> str:
        """Return the page as an HTML fragment."""
        return "".join(
            f"<p style='white-space: pre-line'>{escape(part)}</p>" if isinstance(part, str) else part.html()
            for part in self.parts
        )

    def markdown(self) -> str:
        """Return the page in Markdown."""
        return "\n\n".join(part if isinstance(part, str) else part.markdown() for part in self.parts)

    def latex(self) -> str:
        """Return the tables in LaTeX, for the package booktabs, and the paragraphs between them."""
        return "\n\n".join(in_latex(part) if isinstance(part, str) else part.latex() for part in self.parts)


def in_latex(text: str) -> str:
    r"""Return plain text as LaTeX prints it.

    Examples
    --------
    >>> print(in_latex("50 % of sub_lof"))
    50 \% of sub\_lof
    """
    return text.translate(_LATEX)


def _latex_cell(cell: str) -> str:
    # LaTeX drops the spaces that set a row below another one back.
    return f"\\quad {in_latex(cell.lstrip())}" if cell.startswith(" ") else in_latex(cell)
