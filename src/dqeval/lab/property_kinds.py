"""What a property of a metric is: a law that holds or not, or a preference that is reported."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from dqeval.lab.cases import Case
from dqeval.lab.judge import TOLERANCE

Changes = Callable[[Case], Iterable[Case]]
Relation = Literal["higher", "never higher", "never lower", "equal", "perfect"]
Takes = Literal["detections", "scores"]


@dataclass(frozen=True, slots=True)
class Property:
    """A property that a metric may have.

    Attributes
    ----------
    name : str
        What it is chosen by.
    group : str
        The questions that it stands among.
    title : str
        It, in a few words.
    changes : callable
        A case to those that it is compared with.
    relation : str, optional
        How the value of the changed case must compare with that of the other one; None for a preference.
    change : str
        What was changed, in words, for the sentence about a counter-example.
    words : mapping of int to str
        Of a preference: what it is called if the changed case is lower (-1), equal (0) or higher (1).
    takes : "detections" or "scores"
        What cases are made of.
    longest : int
        The longest series that are all tried: changed cases may be longer than the others.
    definition, citation : str
    """

    name: str
    group: str
    title: str
    changes: Changes
    relation: Relation | None
    change: str
    words: Mapping[int, str]
    takes: Takes
    longest: int | None
    definition: str
    citation: str

    def holds(self, before: float, after: float, perfect: float) -> bool:
        """Tell whether two values compare as they must."""
        if self.relation == "higher":
            return after > before + TOLERANCE
        if self.relation == "never higher":
            return after <= before + TOLERANCE
        if self.relation == "never lower":
            return after >= before - TOLERANCE
        return abs(after - (perfect if self.relation == "perfect" else before)) <= TOLERANCE


PROPERTIES: dict[str, Property] = {}


def law(
    group: str,
    name: str,
    title: str,
    relation: Relation,
    change: str,
    *,
    takes: Takes = "detections",
    longest: int | None = None,
    citation: str = "",
) -> Callable[[Changes], Changes]:
    """Return a decorator that registers a law; its docstring is its definition."""
    return _register(name, group, title, relation, change, {}, takes, longest, citation)


def preference(
    group: str, name: str, title: str, change: str, *, lower: str, equal: str, higher: str, citation: str = ""
) -> Callable[[Changes], Changes]:
    """Return a decorator that registers a preference; its docstring is its definition."""
    return _register(name, group, title, None, change, {-1: lower, 0: equal, 1: higher}, "detections", None, citation)


def _register(
    name: str,
    group: str,
    title: str,
    relation: Relation | None,
    change: str,
    words: Mapping[int, str],
    takes: Takes,
    longest: int | None,
    citation: str,
) -> Callable[[Changes], Changes]:
    def add(changes: Changes) -> Changes:
        definition = " ".join((changes.__doc__ or "").split())
        PROPERTIES[name] = Property(
            name, group, title, changes, relation, change, words, takes, longest, definition, citation
        )
        return changes

    return add
