"""Tables and pages of them, as plain text, HTML, Markdown and LaTeX: what results look like when they are shown.

Names come from files, and may hold anything: here they are escaped for each form, and nowhere else.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

MOST_ROWS = 20
_LONG = 40  # characters of a cell from which on LaTeX breaks its lines
_PAGE = 0.9  # of the width of a page, which columns of long text share
NARROWEST = 20  # characters to which a column of text is set at least

Emphasis = Callable[[str], str]

# What terminals and browsers act upon instead of showing it: control characters and line breaks, marks that turn the
# direction of the text around, invisible ones, and halves of characters. Joiners stay: some scripts need them.
ACTING = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)
_NO_NAME = re.compile("[\n\r\v\f\x1c-\x1e\x85\u2028\u2029\ud800-\udfff]")
# Not the bracket that opens [start, stop), nor underscores within a word: they mean nothing in Markdown.
_MARKDOWN = re.compile(r"[\\`*~|#\]]|\[(?!\d+, \d+\))|_(?![^\W_])|(?<![^\W_])_")
_FORMULA = re.compile("'*[=+\\-@\uff1d\uff0b\uff0d\uff20]")  # also as wide as Japanese characters are
_STYLES = re.compile(r"\x1b\[[0-9;]*m")  # bold and colours, as a terminal understands them
_START = re.compile(r"^ *(?:(?:-|\d+\.) +)?")  # how a line begins: set in, and with the mark of a list
_LATEX = str.maketrans(
    {character: f"\\{character}" for character in "&%$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "|": r"\textbar{}"}
    | {"<": "$<$", ">": "$>$", "−": "$-$", "×": r"$\times$", "→": r"$\rightarrow$"}
)


def count_of(count: int, noun: str) -> str:
    """Return a number of things, with the noun in the right form.

    Examples
    --------
    >>> count_of(1, "event"), count_of(1200, "event")
    ('1 event', '1,200 events')
    """
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def percent(share: float, decimals: int = 0) -> str:
    """Return a share in percent, with a space before the sign.

    Examples
    --------
    >>> percent(0.05), percent(0.0712, 1)
    ('5 %', '7.1 %')
    """
    return f"{100 * share:.{decimals}f} %"


def in_words(names: Sequence[str], most: int = 4) -> str:
    """Return names in words, the last of many as a number.

    Examples
    --------
    >>> in_words(["a", "b", "c"]), in_words(["a", "b", "c"], most=2)
    ('a, b and c', 'a and 2 others')
    """
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} others"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def wrap(text: str, width: int | None) -> str:
    """Return text whose lines are no wider than some width; a line that goes on is set as far in as it began.

    Examples
    --------
    >>> print(wrap("- one two three four", 10))
    - one two
      three
      four
    """
    return text if width is None else "\n".join(_wrapped_line(line, width) for line in text.split("\n"))


def _wrapped_line(line: str, width: int) -> str:
    words = _START.sub("", line, count=1).split(" ")
    start = line[: len(line) - len(" ".join(words))]
    lines, room = [start + words[0]], width - len(start) - _visible(words[0])
    for word in words[1:]:
        room -= 1 + _visible(word)
        if room >= 0:
            lines[-1] += f" {word}"
        else:
            lines.append(" " * len(start) + word)
            room = width - len(start) - _visible(word)
    return "\n".join(lines)


def _visible(word: str) -> int:
    """Return how wide a word is on a terminal, where colours have no width."""
    return _width(_STYLES.sub("", word))


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
    legend : sequence of str
        What the numbers mean: lines below the note.
    whole : bool
        Whether no row may be cut off, because each was asked for by name.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    marked: Collection[tuple[int, int]] = frozenset()
    text_columns: int = 1
    legend: Sequence[str] = ()
    whole: bool = False

    def text(self, *, most_rows: int | None = MOST_ROWS, emphasis: Emphasis = str, width: int | None = None) -> str:
        """Return the table as aligned lines, cut after some rows; sentences in it no wider than some width."""
        shown, notes = self._shown(most_rows)
        header, *rows = (list(map(printable, row)) for row in (self.header, *shown))
        room = self._room_of_last([header, *rows], width)
        numbered = [(i, row) for i, whole in enumerate(rows) for row in _broken(whole, room)]
        widths = [max(map(_width, column)) for column in zip(header, *(row for _, row in numbered), strict=True)]
        lines = [self._line(-1, header, widths, str).rstrip()]
        lines.append("-" * _width(lines[0]))
        lines += [self._line(i, row, widths, emphasis).rstrip() for i, row in numbered]
        return "\n".join([*lines, *(wrap(printable(note), width) for note in notes)])

    def html(self, *, most_rows: int | None = MOST_ROWS) -> str:
        """Return the table as an HTML fragment, without scripts or outside resources."""
        rows, notes = self._shown(most_rows)
        head = "".join(f"<th>{in_html(cell)}</th>" for cell in self.header)
        lines = self._emphasised(rows, in_html, lambda cell: f"<b>{cell}</b>")
        body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in lines)
        foot = "".join(f"<div><small>{in_html(note)}</small></div>" for note in notes)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{foot}"

    def markdown(self) -> str:
        """Return the table in Markdown."""
        rows = [list(map(in_markdown, self.header)), self._aligned("---", "---:")]
        rows += self._emphasised(self.rows, in_markdown, lambda cell: f"**{cell}**")
        lines = [f"| {' | '.join(row)} |" for row in rows]
        return "\n".join([*lines, *(["", *map(in_markdown, self._notes())] if self.note else [])])

    def latex(self) -> str:
        """Return the table in LaTeX, for the package booktabs."""
        return self._latex("".join(self._aligned("l", "r")))

    def latex_to_fit(self) -> str:
        """Return the table in LaTeX so that it fits a page: long texts are broken, and what is too large scaled down.

        For the packages booktabs and adjustbox.
        """
        lengths = [list(map(_width, column)) for column in zip(self.header, *self.rows, strict=True)]
        whole = sum(map(sum, lengths))  # columns get room by how much text they have, so that none is very tall
        columns = [
            f"p{{{_PAGE * sum(each) / whole:.2f}\\linewidth}}" if max(each) > _LONG else alignment
            for each, alignment in zip(lengths, self._aligned("l", "r"), strict=True)
        ]
        begin = r"\begin{adjustbox}{max width=\linewidth, max totalheight=0.95\textheight}"
        return f"{begin}\n{self._latex(''.join(columns))}\n\\end{{adjustbox}}"

    def _latex(self, columns: str) -> str:
        rows = self._emphasised(self.rows, _latex_cell, lambda cell: f"\\textbf{{{cell}}}")
        lines = [f"\\begin{{tabular}}{{{columns}}}", "\\toprule"]
        lines += [" & ".join(map(_latex_cell, self.header)) + r" \\", "\\midrule"]
        lines += [" & ".join(row) + r" \\" for row in rows]
        lines += ["\\bottomrule", "\\end{tabular}"]
        return "\n".join([*lines, *(f"% {printable(note)}" for note in self._notes())])

    def _shown(self, most_rows: int | None) -> tuple[Sequence[Sequence[str]], list[str]]:
        """Return the rows that are shown, and the notes below them."""
        notes = self._notes()
        if self.whole or most_rows is None or len(self.rows) <= most_rows:
            return self.rows, notes
        return self.rows[:most_rows], [f"... and {len(self.rows) - most_rows:,} more", *notes]

    def _notes(self) -> list[str]:
        """Return what stands below the table, line by line."""
        return [*([self.note] if self.note else []), *self.legend]

    def _room_of_last(self, rows: Sequence[Sequence[str]], width: int | None) -> int | None:
        """Return how wide the last column may be: in a table of text, it takes the width that is left."""
        if width is None or self.text_columns < len(self.header):
            return None
        first = list(zip(*rows, strict=True))[:-1]
        return max(width - sum(2 + max(map(_width, column)) for column in first), NARROWEST)

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
            space = " " * (width - _width(cell))
            shown = emphasis(cell) if (i, j) in self.marked else cell
            cells.append(shown + space if j < self.text_columns else space + shown)
        return "  ".join(cells)


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Lines that are shown as they are, in letters of one width."""

    lines: Sequence[str]

    def text(self) -> str:
        """Return the lines, set in."""
        return "\n".join(f"    {printable(line)}" for line in self.lines)

    def html(self) -> str:
        """Return them as an HTML fragment."""
        return f"<pre>{'<br>'.join(map(in_html, self.lines))}</pre>"

    def markdown(self) -> str:
        """Return them as a block of code in Markdown."""
        return "\n".join(["```text", *map(printable, self.lines), "```"])

    def latex(self) -> str:
        """Return them in LaTeX."""
        return "\n".join([r"\begin{verbatim}", *map(printable, self.lines), r"\end{verbatim}"])


Part = str | Table | Verbatim


@dataclass(frozen=True, slots=True)
class Page:
    """Paragraphs, tables and verbatim lines, in the order in which they are shown."""

    parts: Sequence[Part]

    def text(self, *, emphasis: Emphasis = str, width: int | None = None) -> str:
        """Return the page as plain text, tables whole; its sentences no wider than some width, if there is one."""
        return self._joined(
            lambda part: wrap(printable(part), width),
            lambda table: table.text(most_rows=None, emphasis=emphasis, width=width),
            Verbatim.text,
        )

    def html(self) -> str:
        """Return the page as an HTML fragment."""
        return "".join(
            f"<p style='white-space: pre-line'>{_by_line(in_html, part)}</p>" if isinstance(part, str) else part.html()
            for part in self.parts
        )

    def markdown(self) -> str:
        """Return the page in Markdown."""
        return self._joined(in_markdown, Table.markdown, Verbatim.markdown)

    def latex(self) -> str:
        """Return the tables in LaTeX, for the package booktabs, and the paragraphs between them."""
        return self._joined(in_latex, Table.latex, Verbatim.latex)

    def _joined(self, escaped: Emphasis, tables: Callable[[Table], str], verbatim: Callable[[Verbatim], str]) -> str:
        def shown(part: Part) -> str:
            if isinstance(part, str):
                return _by_line(escaped, part)
            return tables(part) if isinstance(part, Table) else verbatim(part)

        return "\n\n".join(map(shown, self.parts))


def _broken(row: Sequence[str], room: int | None) -> Iterator[Sequence[str]]:
    """Yield a row as one or several lines, so that its last column has no more than some room, if that is limited."""
    *first, last = row
    begun, *others = wrap(last, room).split("\n") if room is not None else (last,)
    yield (*first, begun)
    yield from ((*("" for _ in first), line) for line in others)


def printable(text: str) -> str:
    r"""Return text in one line in which characters are escaped that a terminal acts upon instead of showing them.

    Examples
    --------
    >>> print(printable("line\nfeed, \x1b[2J, \u202e"))
    line\nfeed, \x1b[2J, \u202e
    """
    return ACTING.sub(_escaped, text)


def one_line(name: str) -> str:
    r"""Return a name that can be written anywhere: line breaks are escaped, and what is no text in a file's name.

    Examples
    --------
    >>> print(one_line("a\nb"), one_line("caf\udce9.csv"))
    a\nb caf\udce9.csv
    """
    return _NO_NAME.sub(_escaped, name)


def in_html(text: str) -> str:
    """Return plain text as HTML shows it.

    Examples
    --------
    >>> in_html("<b>")
    '&lt;b&gt;'
    """
    return escape(printable(text))


def in_markdown(text: str) -> str:
    r"""Return plain text as Markdown shows it.

    Examples
    --------
    >>> print(in_markdown("<b> of sub_lof, *a*, [214, 218)"))
    &lt;b&gt; of sub_lof, \*a\*, [214, 218)
    """
    return escape(_MARKDOWN.sub(r"\\\g<0>", printable(text)), quote=False)


def in_latex(text: str) -> str:
    r"""Return plain text as LaTeX prints it.

    Examples
    --------
    >>> print(in_latex("50 % of sub_lof"))
    50 \% of sub\_lof
    """
    return printable(text).translate(_LATEX)


def in_csv(cells: Iterable[Any]) -> list[Any]:
    """Return the cells of a row of CSV: a text that a spreadsheet would take for a formula has a ' before it.

    Numbers stay as they are, also as text. A ' before such a text gets another one, so that taking one off is exact.

    Examples
    --------
    >>> in_csv(["=1+1", "late", -0.5, "-0.5", "'=x"])
    ["'=1+1", 'late', -0.5, '-0.5', "''=x"]
    """
    return [_csv_text(cell) if isinstance(cell, str) else cell for cell in cells]


def _csv_text(text: str) -> str:
    shown = _by_line(printable, text)  # a cell with line breaks, such as a traceback, is quoted
    return f"'{shown}" if _FORMULA.match(shown.lstrip("\n")) and not _is_number(shown) else shown


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")


def _by_line(escaped: Emphasis, paragraph: str) -> str:
    return "\n".join(map(escaped, paragraph.split("\n")))


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes: marks none of their own, wide characters two."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _latex_cell(cell: str) -> str:
    # LaTeX drops the spaces that set a row below another one back, and takes a [ or * after a row for its own.
    if cell.startswith(" "):
        return f"\\quad {in_latex(cell.lstrip())}"
    return f"{{{cell[0]}}}{in_latex(cell[1:])}" if cell.startswith(("[", "*")) else in_latex(cell)
