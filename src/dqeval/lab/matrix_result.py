"""The matrix of metrics and properties, in the forms in which it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dqeval.lab.answers import NO, YES, Answer
from dqeval.render.tables import Page, Part, Table, Verbatim
from dqeval.support.frames import Framed

FEW = 3  # metrics, of which counter-examples are printed below the matrix
HOW_TO_SEE = f"Counter-examples are shown for up to {FEW} metrics, and on the page that html_page() or --html gives."

WHAT_NO_IS = "no (12 %, 0.31): of comparisons of random series, 12 % are counter-examples, by 0.31 at most"
WHAT_YES_IS = "yes: no counter-example was found; this is not a proof. It was searched, for"


@dataclass(frozen=True, slots=True)
class Question:
    """A property that was asked for: its name, the group it stands in, it in words, and where it is from.

    ``scope`` says what a counter-example was searched among; it is empty where nothing was searched.
    """

    name: str
    group: str
    title: str
    definition: str
    citation: str
    scope: str = ""

    def numbers(self) -> dict[str, str]:
        """Return it ready for JSON."""
        return {"name": self.name, "group": self.group, "title": self.title} | {
            "definition": self.definition,
            "citation": self.citation,
            "scope": self.scope,
        }


@dataclass(frozen=True, slots=True, repr=False)
class PropertyMatrix(Framed):
    """Which properties metrics have.

    Attributes
    ----------
    questions : tuple of Question
    labels : mapping of str to str
        What tables call each metric, by its name.
    answers : tuple of Answer
        For each metric, one for each question.
    """

    questions: tuple[Question, ...]
    labels: Mapping[str, str]
    answers: tuple[Answer, ...]

    def answer(self, metric: str, question: str) -> Answer:
        """Return the answer for a metric and a property.

        Examples
        --------
        >>> found = dqeval.properties(["dqe"], questions=["wrong-beside-hits"], examples=0)
        >>> found.answer("dqe", "wrong-beside-hits").holds
        False
        """
        for answer in self.answers:
            if (answer.metric, answer.question) == (metric, question):
                return answer
        raise KeyError(f"{metric} was not asked for {question}")

    def __str__(self) -> str:
        return self.page().text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.page().html()

    @property
    def groups(self) -> dict[str, list[Question]]:
        """The questions by group."""
        found: dict[str, list[Question]] = {}
        for question in self.questions:
            found.setdefault(question.group, []).append(question)
        return found

    def page(self, *, examples: bool | None = None) -> Page:
        """Return a table per group of questions, with counter-examples or without; by default if metrics are few."""
        parts: list[Part] = [part for pair in self.tables().items() for part in pair]
        if examples or (examples is None and len(self.labels) <= FEW):
            parts += self._details()
        elif examples is None:
            parts.append(HOW_TO_SEE)
        if searched := self.searched():
            parts.append("\n".join([WHAT_YES_IS, *searched]))
        return Page(parts)

    def searched(self) -> list[str]:
        """Return what was searched where no counter-example was found, in sentences."""
        held = {answer.question for answer in self.answers if answer.word == YES}
        found: dict[str, list[str]] = {}
        for question in self.questions:
            if question.scope and question.name in held:
                found.setdefault(question.scope, []).append(question.name)
        return [f"{', '.join(names)}: among {scope}." for scope, names in found.items()]

    def tables(self) -> dict[str, Table]:
        """Return a table per group of questions, by the title of the group."""
        return {group: self._table(questions) for group, questions in self.groups.items()}

    def _details(self) -> list[str | Verbatim]:
        """Return counter-examples, what was measured, and what went wrong, which may be the same for many questions."""
        shown: list[str | Verbatim] = []
        others: dict[tuple[str, str], list[str]] = {}
        for answer in self.answers:
            if answer.examples:
                shown += _shown(self.labels[answer.metric], answer)
            elif answer.holds is None:
                others.setdefault((self.labels[answer.metric], answer.sentence), []).append(answer.question)
        return [*shown, *(f"{label}, {', '.join(names)}: {sentence}" for (label, sentence), names in others.items())]

    def html_page(self) -> str:
        """Return an HTML page on which a click on an answer shows the counter-example; it needs no network."""
        from dqeval.lab.property_page import page_of  # which needs Jinja2

        return page_of(self)

    def _table(self, questions: list[Question]) -> Table:
        rows = [
            (label, *(self.answer(metric, question.name).cell for question in questions))
            for metric, label in self.labels.items()
        ]
        marked = {(i, j) for i, row in enumerate(rows) for j, word in enumerate(row) if j and word.startswith(NO)}
        legend = [f"{question.name}: {question.title}" for question in questions]
        if any(" (" in word for _, *words in rows for word in words):
            legend.append(WHAT_NO_IS)
        return Table(("metric", *(question.name for question in questions)), rows, marked=marked, legend=legend)

    def records(self) -> list[dict[str, Any]]:
        """Return a row per answer."""
        return [
            {
                "metric": answer.metric,
                "property": answer.question,
                "answer": answer.word,
                "sentence": answer.sentence,
                "scope": answer.scope,
            }
            for answer in self.answers
        ]

    def numbers(self) -> dict[str, Any]:
        """Return all of it, ready for JSON."""
        return {
            "properties": [question.numbers() for question in self.questions],
            "answers": [answer.numbers() for answer in self.answers],
        }

    def _columns(self) -> Mapping[str, Any]:
        records = self.records()
        return {name: [record[name] for record in records] for name in records[0]}


def _shown(label: str, answer: Answer) -> list[str | Verbatim]:
    title = f"{label}, {answer.question}: {answer.word}. {answer.sentence}"
    return [title, *(Verbatim(example.lines()) for example in answer.examples)]
