"""Answers to questions about metrics, with examples that a reader can check by hand."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from dqeval.lab.cases import Case
from dqeval.lab.judge import TOLERANCE
from dqeval.render.tables import percent

YES, NO, UNDEFINED, DEPENDS = "yes", "no", "undefined", "depends"


@dataclass(frozen=True, slots=True)
class Example:
    """A case and a changed one, with what the metric says of them."""

    before: Case
    after: Case
    values: tuple[float, float]

    @property
    def direction(self) -> int:
        """Whether the changed case is lower (-1), equal (0) or higher (1)."""
        before, after = self.values
        return 0 if abs(after - before) <= TOLERANCE else 1 if after > before else -1

    def lines(self) -> list[str]:
        r"""Return the two cases as strips of text, with the values beside them; or the one, if nothing was changed.

        Examples
        --------
        >>> before = Case((0, 0, 1), (1, 0, 1), near=2)
        >>> print(*Example(before, before.with_point(1, 1), (0.74, 0.791)).lines(), sep="\n")
        labels  ..#
        before  ^.^  0.74
        after   ^^^  0.791
        near 2
        """
        (labels, found), (other_labels, other_found) = self.before.drawn(), self.after.drawn()
        before, after = apart(*self.values)
        rows = [("labels", labels, ""), ("found" if self.after == self.before else "before", found, before)]
        if self.before.labels != self.after.labels:
            rows.append(("labels", other_labels, ""))
        if self.after != self.before:
            rows.append(("after", other_found, after))
        width = max(len(strip) for _, strip, _ in rows)
        near = f"near {self.before.near}"
        if self.after.near != self.before.near:
            near += f", then {self.after.near}"
        return [f"{name:6}  {strip:{width}}  {value}".rstrip() for name, strip, value in rows] + [near]

    def numbers(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        return {
            "before": {"labels": self.before.labels, "found": self.before.found, "near": self.before.near},
            "after": {"labels": self.after.labels, "found": self.after.found, "near": self.after.near},
            "values": self.values,
        }


def in_digits(value: float) -> str:
    """Return a number with as few digits as show it to a thousandth, and more where it would look like 0."""
    value += 0.0  # no minus before a zero
    return f"{value:.3g}" if 0 < abs(value) < 0.1 else f"{value:.3f}".rstrip("0").rstrip(".")


def apart(one: float, other: float) -> tuple[str, str]:
    """Return two numbers with as many digits as it takes to tell them apart.

    Examples
    --------
    >>> apart(44.5, 44.50005), apart(0.5, 0.25)
    (('44.5', '44.5001'), ('0.5', '0.25'))
    """
    shown = in_digits(one), in_digits(other)
    digits = 4
    while shown[0] == shown[1] and abs(one - other) > TOLERANCE:
        shown = f"{one:.{digits}g}", f"{other:.{digits}g}"
        digits += 1
    return shown


@dataclass(frozen=True, slots=True)
class Violations:
    """How often a law does not hold among random series, and by how much.

    Attributes
    ----------
    compared, count : int
        How many pairs of series were compared, and how many of them are counter-examples.
    mean, most : float
        By how much the two values of a counter-example differ; 0 where there is none.
    """

    compared: int
    count: int
    mean: float
    most: float

    def __str__(self) -> str:
        share = percent(self.count / self.compared)
        return f"{share}, {in_digits(self.most)}" if self.most else share

    @property
    def sentence(self) -> str:
        """The same in words."""
        if not self.count:
            return f"Among {self.compared:,} comparisons of random series, there is no other counter-example."
        size = f", by {in_digits(self.mean)} on average, and {in_digits(self.most)} at most" if self.most else ""
        share = percent(self.count / self.compared, 1)
        return f"Of {self.compared:,} comparisons of random series, {share} are counter-examples{size}."


@dataclass(frozen=True, slots=True)
class Point:
    """A point of a curve: where it is, the mean there, and the standard deviation."""

    at: float
    mean: float
    deviation: float


@dataclass(frozen=True, slots=True)
class Answer:
    """What was found out about a metric and one question.

    Attributes
    ----------
    metric, question : str
        Their names.
    word : str
        The answer in a word or a number, as it stands in the matrix.
    holds : bool or None
        Whether a law holds; None where there is nothing to judge.
    sentence : str
        The answer in a sentence.
    scope : str
        What it was searched among.
    examples : tuple of Example
        Of a law a counter-example; of a preference one for each direction.
    curve : tuple of Point
    violations : Violations, optional
        Of a law that does not hold.
    """

    metric: str
    question: str
    word: str
    holds: bool | None = None
    sentence: str = ""
    scope: str = ""
    examples: tuple[Example, ...] = ()
    curve: tuple[Point, ...] = field(default=())
    violations: Violations | None = None

    @property
    def cell(self) -> str:
        """The answer as it stands in the matrix: beside a no, the share and the size of counter-examples."""
        return self.word if self.violations is None else f"{self.word} ({self.violations})"

    def numbers(self) -> dict[str, Any]:
        """Return it ready for JSON."""
        return {
            "metric": self.metric,
            "question": self.question,
            "answer": self.word,
            "holds": self.holds,
            "sentence": self.sentence,
            "scope": self.scope,
            "examples": [example.numbers() for example in self.examples],
            "violations": None if self.violations is None else asdict(self.violations),
            "curve": [[point.at, point.mean, point.deviation] for point in self.curve],
        }
