"""The search for counter-examples: all short series, then random longer ones, which are then simplified."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from statistics import fmean

from dqeval.lab.answers import Example, Violations
from dqeval.lab.cases import Case, every_detection, every_score, one_event_one_alarm, random_cases, simplified
from dqeval.lab.judge import Judge
from dqeval.lab.property_kinds import Property

NEARS = (2, 1)  # of the short series: as long as possible with the first, up to a point less with the second
LONG_NEARS = (2, 5)  # of those with one event and one alarm
MOST_CHANGES = 12  # of a random series that are tried
MOST_AHEAD = 512  # pairs of series that are computed together


@dataclass(frozen=True, slots=True)
class Budget:
    """How far to search.

    Attributes
    ----------
    points : int
        All series of up to so many points are tried.
    one_alarm_points : int
        All series of so many points with one event and at most one alarm are tried too, of `longest` points at most.
    longest : int
    scored_points : int
        All series of up to so many points with scores are tried.
    examples : int
        How many random series are tried for each property.
    """

    points: int = 7
    one_alarm_points: int = 12
    longest: int = 3
    scored_points: int = 4
    examples: int = 200

    def scope(self, asked: Property) -> str:
        """Return in words what a property was tried on."""
        if asked.takes == "scores":
            short = f"all series of up to {self.scored_points} points with scores of four levels"
        else:
            longest = min(self.points, asked.longest or self.points)
            short = f"all series of up to {longest} points"
            if asked.longest is None:
                short += (
                    f", all of {self.one_alarm_points} points with one event and at most one alarm, each of up to "
                    f"{self.longest} points, near {' or '.join(map(str, LONG_NEARS))}"
                )
        longer = f", and {self.examples:,} random longer ones" if self.examples else ""
        return f"{short}{longer}; the short ones have near {NEARS[0]}, and all but the longest also {NEARS[1]}"


@dataclass(frozen=True, slots=True)
class SearchResult:
    """What a search came to.

    Attributes
    ----------
    examples : tuple of Example
        Of a law a counter-example, if there is any; of a preference one for each direction. Among short series, the
        shortest; otherwise simplified.
    compared : int
        How many pairs of series were compared.
    """

    examples: tuple[Example, ...]
    compared: int


def search(asked: Property, judge: Judge, budget: Budget) -> SearchResult:
    """Search for a counter-example to a law, or for each direction of a preference."""

    def kind(example: Example) -> int | None:
        """Return what an example is one of; None if it shows nothing."""
        if asked.relation is None:
            return example.direction
        return None if asked.holds(*example.values, judge.metric.perfect) else 0

    def is_one_of(wanted: int, example: Example) -> bool:
        return kind(example) == wanted

    wanted = {0} if asked.relation is not None else {-1, 0, 1}
    found: dict[int, Example] = {}
    compared = 0
    short = ((example, True) for example in _compared(asked, judge, _short_cases(asked, budget)))
    longer = ((example, False) for example in _compared(asked, judge, _longer_cases(asked, budget), MOST_CHANGES))
    for example, is_shortest in chain(short, longer):
        compared += 1
        shown = kind(example)
        if shown is not None and shown not in found:
            found[shown] = example if is_shortest else _shortened(asked, judge, example, partial(is_one_of, shown))
            if wanted == set(found):
                break
    # What a preference is called by comes before what is alike.
    return SearchResult(tuple(sorted(found.values(), key=lambda example: example.direction == 0)), compared)


def violations(asked: Property, judge: Judge, budget: Budget) -> Violations:
    """Return how often a law does not hold among all random series, and by how much."""
    perfect, sizes, compared = judge.metric.perfect, [], 0
    for example in _compared(asked, judge, random_cases(asked.takes, budget.examples), MOST_CHANGES):
        compared += 1
        before, after = example.values
        if not asked.holds(before, after, perfect):
            sizes.append(abs(after - (perfect if asked.relation == "perfect" else before)))
    return Violations(compared, len(sizes), fmean(sizes) if sizes else 0.0, max(sizes, default=0.0))


def _short_cases(asked: Property, budget: Budget) -> Iterator[Case]:
    """Yield all short series, in the order of their length."""
    scores = asked.takes == "scores"
    longest = budget.scored_points if scores else min(budget.points, asked.longest or budget.points)
    for length in range(1, longest + 1):
        for near in NEARS if length < longest else NEARS[:1]:
            yield from every_score(length, near, levels=4) if scores else every_detection(length, near)


def _longer_cases(asked: Property, budget: Budget) -> Iterator[Case]:
    if asked.takes == "detections" and asked.longest is None:
        for near in LONG_NEARS:
            yield from one_event_one_alarm(budget.one_alarm_points, near, budget.longest)
    yield from random_cases(asked.takes, budget.examples)


def _compared(asked: Property, judge: Judge, cases: Iterable[Case], most: int | None = None) -> Iterator[Example]:
    """Yield the pairs of which both have a value."""
    pairs = ((case, changed) for case in cases for changed in _some(list(asked.changes(case)), most))
    for several in _more_and_more(pairs):
        judge.look_ahead(chain.from_iterable(several))
        for case, changed in several:
            before, after = judge.value(case), judge.value(changed)
            if not (math.isnan(before) or math.isnan(after)):
                yield Example(case, changed, (before, after))


def _more_and_more(pairs: Iterator[tuple[Case, Case]]) -> Iterator[list[tuple[Case, Case]]]:
    """Yield one pair, then two, and so on up to many: where the first shows it already, the others are not wanted."""
    count = 1
    while several := list(islice(pairs, count)):
        yield several
        count = min(2 * count, MOST_AHEAD)


def _some(changes: list[Case], most: int | None) -> list[Case]:
    """Return no more changes than that, from the beginning of the series to its end."""
    if most is None or len(changes) <= most:
        return changes
    return [changes[i * len(changes) // most] for i in range(most)]


def _first(asked: Property, judge: Judge, case: Case, wanted: Callable[[Example], bool]) -> Example | None:
    return next(filter(wanted, _compared(asked, judge, [case], MOST_CHANGES)), None)


def _shortened(asked: Property, judge: Judge, example: Example, wanted: Callable[[Example], bool]) -> Example:
    """Return the example of the shortest series that still shows it, simplified step by step."""
    simpler = True
    while simpler:
        simpler = False
        for case in simplified(example.before):
            found = _first(asked, judge, case, wanted)
            if found is not None:
                example, simpler = found, True
                break
    return example
