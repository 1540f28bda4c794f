"""The output formats of commands: what ``--format`` takes, and how a result is written in it.

A new one is a member of `OutputFormat` and a line in `WRITERS`. If it is for people, `dqeval.render.tables` makes it: a
method each of `Page`, `Table` and `Verbatim`, and a function that escapes names, as `in_markdown` does. Every command
that shows a result then takes it; `plot` does not, whose ``--format`` is `FigureFormat` of `dqeval.cli.options`.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from dqeval.render.tables import ACTING, in_csv

if TYPE_CHECKING:
    from dqeval.analysis.result import Shown


class OutputFormat(StrEnum):
    """How results are written."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MARKDOWN = "markdown"
    LATEX = "latex"

    @property
    def is_receipt(self) -> bool:
        """Whether it holds everything that `dqeval verify` needs, and so names series as receipts do."""
        return self is OutputFormat.JSON


@dataclass(frozen=True, slots=True)
class ToWrite:
    """A result that is to be written.

    Attributes
    ----------
    result : Shown
    make_receipt : callable
        Everything about it, for JSON.
    emphasis : callable
        Text to text that stands out.
    width : int, optional
        How wide sentences may be.
    """

    result: Shown
    make_receipt: Callable[[], dict[str, Any]]
    emphasis: Callable[[str], str] = str
    width: int | None = None


WRITERS: dict[OutputFormat, Callable[[ToWrite], str]] = {
    OutputFormat.TABLE: lambda given: given.result.page().text(emphasis=given.emphasis, width=given.width),
    OutputFormat.JSON: lambda given: json_text(given.make_receipt()),
    OutputFormat.CSV: lambda given: csv_text(given.result.records()),
    OutputFormat.MARKDOWN: lambda given: given.result.page().markdown(),
    OutputFormat.LATEX: lambda given: given.result.page().latex(),
}


def json_text(content: Any) -> str:
    """Return strict JSON that can be shown on a terminal: what it would act upon is escaped, as JSON has it.

    A number that is not finite is null.
    """
    from dqeval.analysis.receipts import jsonable  # here, as it needs NumPy, and help does not

    text = json.dumps(jsonable(content), indent=2, ensure_ascii=False, allow_nan=False)
    return "\n".join(ACTING.sub(_json_escaped, line) for line in text.split("\n"))


def _json_escaped(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1]


def csv_text(records: list[dict[str, Any]]) -> str:
    """Return records as rows, with a column for each name that any of them has."""
    text = io.StringIO()
    names = dict.fromkeys(name for record in records for name in record)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(in_csv(names))
    writer.writerows(in_csv(record.get(name) for name in names) for record in records)
    return text.getvalue().removesuffix("\n")
