"""What `check` finds: errors and warnings about a series, to be shown."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, astuple, dataclass
from typing import Any, Literal

from dqeval.analysis.result import Result
from dqeval.render.tables import Page, Table, count_of
from dqeval.support.frames import Framed, columns_of_items


@dataclass(frozen=True, slots=True)
class Finding(Framed):
    """Something to look at: an error makes scores wrong or undefined, a warning makes them hard to interpret."""

    level: Literal["error", "warning"]
    column: str
    message: str


class Findings(Framed, list[Finding]):
    """What `check` found: a list, errors first. ``to_frame()`` has a row per finding.

    Attributes
    ----------
    name : str
        Of the series.
    """

    __slots__ = ("name",)

    def __init__(self, findings: Iterable[Finding] = (), name: str = "") -> None:
        super().__init__(findings)
        self.name = name

    def __str__(self) -> str:
        return self._page().text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self._page().html()

    def _page(self) -> Page:
        return Checked(self.name, tuple(self)).page()

    def _columns(self) -> dict[str, Any]:
        return columns_of_items(Finding, self)


@dataclass(frozen=True, slots=True)
class Checked(Result):
    """What was found in a series, to be shown.

    Attributes
    ----------
    name : str
        Of the series.
    findings : tuple of Finding
        Errors first.
    part : str
        Which part of the series was looked at, in words, if it has a training part.
    """

    name: str
    findings: tuple[Finding, ...]
    part: str = ""

    @property
    def failed(self) -> bool:
        """Whether there is an error."""
        return any(finding.level == "error" for finding in self.findings)

    def page(self) -> Page:
        """Return the findings as a table, or a sentence if there are none."""
        opening = f"{self.name}{self.part and f' ({self.part})'}: " if self.name else ""
        if not self.findings:
            return Page([f"{opening}no problems found"])
        errors = sum(finding.level == "error" for finding in self.findings)
        title = f"{opening}{count_of(errors, 'error')}, {count_of(len(self.findings) - errors, 'warning')}"
        return Page([title, Table(("level", "column", "finding"), [astuple(f) for f in self.findings], text_columns=3)])

    def records(self) -> list[dict[str, Any]]:
        """Return one row per finding."""
        return [asdict(finding) for finding in self.findings]

    def numbers(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {"series": self.name, "findings": self.records()} | ({"part": self.part} if self.part else {})


def warning(column: str, message: str) -> Finding:
    """Return a warning about a column."""
    return Finding("warning", column, message)


def errors_first(findings: Iterable[Finding]) -> list[Finding]:
    """Return findings with errors before warnings, and otherwise in their order."""
    return sorted(findings, key=lambda finding: finding.level != "error")


def warnings_about(name: str, findings: Iterable[Finding]) -> tuple[str, ...]:
    """Return findings in a series as sentences."""
    return tuple(
        f"{name}{f', column {finding.column}' if finding.column else ''}: {finding.message}" for finding in findings
    )
