"""The properties that one would want a metric to have: each a small function, with its definition and where it is from.

A *law* says how a changed case must compare with the case that it was made from. A *preference* says which of the two
the metric puts higher, without a judgement. A new one is a function below, under ``@law(…)`` or ``@preference(…)``,
which takes a case and yields changed ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from dqeval.lab.cases import Case
from dqeval.lab.property_kinds import PROPERTIES as PROPERTIES
from dqeval.lab.property_kinds import law, preference

TATBUL = "Tatbul et al. 2018, Precision and recall for time series"
MAZE = "Sørbø and Ruocco 2023, Navigating the metric maze"
FORMAL = "Wagner et al. 2025, Formally exploring evaluation metrics, arXiv 2510.17562"
ROC = "Fawcett 2006, An introduction to ROC analysis"
DQE = "the paper of DQE"

RIGHT = "Right detections"
WRONG = "Wrong detections"
ENDS = "Perfect and silent"
SAME = "What should not matter"
TIME = "Early and late"


# Right detections


@law(
    RIGHT,
    "more-captured",
    "More of an event captured is never worse",
    "never lower",
    "a further point of the event is detected",
    citation=TATBUL,
)
def more_captured(case: Case) -> Iterator[Case]:
    """Where an event is detected in part, a further point of it is detected."""
    for event in case.events:
        if any(case.found[i] for i in event):
            yield from (case.with_point(i, 1) for i in event if not case.found[i])


@law(
    RIGHT,
    "event-more",
    "One more captured event is better",
    "higher",
    "an event that was missed is detected as a whole",
    citation=TATBUL,
)
def event_more(case: Case) -> Iterator[Case]:
    """An event of which no point was detected is detected as a whole."""
    for event in case.events:
        if not any(case.found[i] for i in event):
            yield case.with_found(_with(case.found, event, 1))


@law(
    RIGHT,
    "right-removed",
    "Losing an event never raises it",
    "never higher",
    "the only detected point of an event is lost",
)
def right_removed(case: Case) -> Iterator[Case]:
    """The only detected point of an event is no longer detected."""
    for event in case.events:
        hits = [i for i in event if case.found[i]]
        if len(hits) == 1:
            yield case.with_point(hits[0], 0)


@law(
    RIGHT,
    "monotone",
    "Monotone in the scores of anomalous points",
    "never lower",
    "an anomalous point scores higher",
    takes="scores",
    citation=FORMAL,
)
def monotone(case: Case) -> Iterator[Case]:
    """An anomalous point gets the next higher score that there is, or one above all."""
    levels = sorted({*case.found, max(case.found) + 1})
    for i in _points(case):
        if case.labels[i]:
            yield case.with_point(i, levels[levels.index(case.found[i]) + 1])


@preference(
    RIGHT,
    "one-or-several",
    "Detections in one piece or in several",
    "the detected points of an event come apart",
    lower="one piece",
    equal="alike",
    higher="several",
    citation=TATBUL,
)
def one_or_several(case: Case) -> Iterator[Case]:
    """Two, three, … points in a row, detected inside an event, come apart; as many are detected as before."""
    for event in case.events:
        hits = [i for i in event if case.found[i]]
        apart = list(event[::2][: len(hits)])
        if len(hits) > 1 and len(apart) == len(hits) and hits == list(range(hits[0], hits[-1] + 1)):
            yield case.with_found(_with(_with(case.found, event, 0), apart, 1))


@preference(
    RIGHT,
    "sooner-or-later",
    "An event is detected sooner or later",
    "the only detected point of an event comes a point later",
    lower="sooner",
    equal="alike",
    higher="later",
    citation=FORMAL,
)
def sooner_or_later(case: Case) -> Iterator[Case]:
    """The only detected point of an event comes a point later, still inside the event."""
    for event in case.events:
        hits = [i for i in event if case.found[i]]
        if len(hits) == 1 and hits[0] != event[-1]:
            yield case.with_found(_with(_with(case.found, hits, 0), [hits[0] + 1], 1))


# Wrong detections


@law(WRONG, "nearer-miss", "A nearer miss is better", "higher", "the miss is a point nearer to the event", citation=DQE)
def nearer_miss(case: Case) -> Iterator[Case]:
    """The only alarm lies beside the only event, within the near range, and moves nearer by a point."""
    if len(case.events) != 1 or len(case.alarms) != 1 or case.wrong != case.alarms:
        return
    (event,), (alarm,) = case.events, case.alarms
    step = 1 if alarm.start < event.start else -1
    moved = range(alarm.start + step, alarm.stop + step)
    distance = event.start - alarm.start if step == 1 else alarm.stop - event.stop
    if distance <= case.near and not set(moved) & set(event):
        yield case.with_found(_with((0,) * len(case), moved, 1))


@law(
    WRONG,
    "longer-false-alarm",
    "A longer false alarm is never better",
    "never higher",
    "a false alarm lasts a point longer",
)
def longer_false_alarm(case: Case) -> Iterator[Case]:
    """A false alarm beyond the near range lasts a point longer, still beyond it, and meets no other alarm."""
    far = case.far
    for alarm in case.false_alarms:
        for i, beyond in ((alarm.start - 1, alarm.start - 2), (alarm.stop, alarm.stop + 1)):
            if i in far and not _at(case.found, beyond):
                yield case.with_point(i, 1)


@law(WRONG, "more-false-alarms", "More false alarms are never better", "never higher", "there is a further false alarm")
def more_false_alarms(case: Case) -> Iterator[Case]:
    """There is a further false alarm of one point, beyond the near range, that touches no other alarm."""
    for i in sorted(case.far):
        if not any(_at(case.found, j) for j in (i - 1, i, i + 1)):
            yield case.with_point(i, 1)


@law(WRONG, "wrong-added", "A wrong detection never raises it", "never higher", "a normal point is detected")
def wrong_added(case: Case) -> Iterator[Case]:
    """A normal point is detected, wherever it is, also near an event that is missed."""
    yield from (case.with_point(i, 1) for i in _points(case) if not case.labels[i] and not case.found[i])


@law(
    WRONG,
    "wrong-beside-hits",
    "A wrong detection never raises it, with every event detected",
    "never higher",
    "a normal point is detected",
)
def wrong_beside_hits(case: Case) -> Iterator[Case]:
    """A normal point is detected, wherever it is, where every event is detected at one point at least."""
    if all(any(case.found[i] for i in event) for event in case.events):
        yield from wrong_added(case)


@preference(
    WRONG,
    "long-or-short",
    "One long false alarm or several short ones",
    "a false alarm is cut into pieces of the same total length",
    lower="one long",
    equal="alike",
    higher="several short",
    citation=DQE,
)
def long_or_short(case: Case) -> Iterator[Case]:
    """A false alarm of 3, 5, … points, beyond the near range, becomes as many of one point, with the same middle."""
    far = case.far
    for alarm in case.false_alarms:
        pieces = range(alarm.start - len(alarm) // 2, alarm.stop + len(alarm) // 2, 2)
        beside = [*range(pieces[0] - 1, alarm.start), *range(alarm.stop, pieces[-1] + 2)]
        if len(alarm) > 1 and len(alarm) % 2 and far.issuperset(pieces) and not any(_at(case.found, i) for i in beside):
            yield case.with_found(_with(_with(case.found, alarm, 0), pieces, 1))


# Perfect and silent


@law(
    ENDS, "perfect-best", "Perfect detections get the best value", "perfect", "what is detected are exactly the events"
)
def perfect_best(case: Case) -> Iterator[Case]:
    """Detected are exactly the events: the value is the best that the metric has, 1 for most."""
    if case.found == case.labels:
        yield case


@law(ENDS, "perfect-alone", "Nothing else is as good as perfect", "higher", "what is detected are exactly the events")
def perfect_alone(case: Case) -> Iterator[Case]:
    """Any other detections get less than exactly the events do."""
    if case.found != case.labels:
        yield case.with_found(case.labels)


@law(ENDS, "silent-worst", "Nothing is worse than silence", "never higher", "nothing is detected any more")
def silent_worst(case: Case) -> Iterator[Case]:
    """Whatever was detected, to detect nothing at all is not better."""
    if any(case.found):
        yield case.with_found((0,) * len(case))


@preference(
    ENDS,
    "silence-or-false-alarm",
    "Silence or one false alarm",
    "one false alarm is raised where there was silence",
    lower="silence",
    equal="alike",
    higher="a false alarm",
)
def silence_or_false_alarm(case: Case) -> Iterator[Case]:
    """Where nothing was detected, one point beyond the near range is."""
    if not any(case.found):
        yield from (case.with_point(i, 1) for i in sorted(case.far))


# What should not matter


@law(
    SAME,
    "increasing",
    "Strictly increasing transforms of scores",
    "equal",
    "every score is transformed",
    takes="scores",
    citation=ROC,
)
def increasing(case: Case) -> Iterator[Case]:
    """Scores keep their order, but not their distances: the highest is moved far up, or all are squared."""
    highest = max(case.found)
    if highest > 1:
        yield case.with_found([1000 if score == highest else score for score in case.found])
        yield case.with_found([score * score for score in case.found])


@law(
    SAME,
    "appended",
    "Appended normal points",
    "equal",
    "normal points follow that are not detected",
    longest=6,
    citation=MAZE,
)
def appended(case: Case) -> Iterator[Case]:
    """Normal points that are not detected follow: one, or as many as there are."""
    for count in (1, len(case)):
        quiet = (0,) * count
        yield Case(case.labels + quiet, case.found + quiet, case.near)


@law(SAME, "duplicated", "The series twice in a row", "equal", "the same series follows once more", longest=5)
def duplicated(case: Case) -> Iterator[Case]:
    """The same series follows once more; nothing is labelled or detected where the two meet."""
    if not (case.labels[0] or case.labels[-1] or case.found[0] or case.found[-1]):
        yield Case(case.labels * 2, case.found * 2, case.near)


@law(SAME, "reversed", "Time reversal", "equal", "time runs backwards")
def in_reverse(case: Case) -> Iterator[Case]:
    """The series runs backwards."""
    yield Case(case.labels[::-1], case.found[::-1], case.near)


@law(
    SAME,
    "ratio",
    "The share of anomalous points",
    "equal",
    "each normal point is two",
    longest=6,
    citation=ROC,
)
def ratio(case: Case) -> Iterator[Case]:
    """Each normal point becomes two, detected or not as it was, so the rates of right and wrong detections stay."""
    counts = [1 if label else 2 for label in case.labels]
    yield Case(_repeated(case.labels, counts), _repeated(case.found, counts), case.near)


@preference(
    SAME,
    "split",
    "A missing label inside an event",
    "a label inside an event is missing",
    lower="falls",
    equal="alike",
    higher="rises",
)
def split(case: Case) -> Iterator[Case]:
    """A label is missing inside an event that is detected as a whole, so that it is two events."""
    for event in case.events:
        if all(case.found[i] for i in event):
            yield from (case.with_labels(_with(case.labels, [i], 0)) for i in event[1:-1])


@law(SAME, "denser", "Sampling twice as densely", "equal", "each point is two, and the near range too", longest=6)
def denser(case: Case) -> Iterator[Case]:
    """Each point becomes two, and the near range twice as many points, so that everything lasts as long as before."""
    counts = [2] * len(case)
    yield Case(_repeated(case.labels, counts), _repeated(case.found, counts), 2 * case.near)


@law(SAME, "order", "The order of events", "equal", "two events change places, with what is around them")
def order(case: Case) -> Iterator[Case]:
    """Two events change places with what is around them; they are as far from each other as twice from the ends."""
    if len(case.events) == 2:
        first, second = case.events
        half, odd = divmod(second.start - first.stop, 2)
        alike = not odd and first.start == half == len(case) - second.stop  # so that regions stay what they are
        middle = first.stop + half
        borders = (0, middle - 1, middle, len(case) - 1)
        if alike and not any(case.found[i] for i in borders):
            labels, found = (part[middle:] + part[:middle] for part in (case.labels, case.found))
            yield Case(labels, found, case.near)


# Time


@preference(
    TIME,
    "first-or-last",
    "The first or the last point of an event is hit",
    "the last point of the event is hit in place of the first",
    lower="first",
    equal="alike",
    higher="last",
    citation=FORMAL,
)
def first_or_last(case: Case) -> Iterator[Case]:
    """Of the only event, in the middle of the series, the last point is detected in place of the first."""
    if len(case.events) == 1:
        (event,) = case.events
        symmetric = event.start == len(case) - event.stop  # so that both points are as far from an end of the series
        if symmetric and len(event) > 1 and case.alarms == [range(event.start, event.start + 1)]:
            yield case.with_found(_with((0,) * len(case), event[-1:], 1))


@preference(
    TIME,
    "early-or-late",
    "An alarm just before the event or just after it",
    "the alarm comes just after the event, as far away as it was before",
    lower="before",
    equal="alike",
    higher="after",
    citation=MAZE,
)
def early_or_late(case: Case) -> Iterator[Case]:
    """The only alarm lies before the only event, as far from it as another one would lie behind, and moves there."""
    if len(case.events) == len(case.alarms) == len(case.wrong) == 1:
        (event,), (alarm,) = case.events, case.alarms
        start = event.stop + event.start - alarm.stop
        symmetric = event.start == len(case) - event.stop  # so that the ends of the series are as far away too
        if alarm.stop <= event.start and symmetric:
            yield case.with_found(_with((0,) * len(case), range(start, start + len(alarm)), 1))


def _points(case: Case) -> range:
    return range(len(case))


def _at(flags: Sequence[int], i: int) -> int:
    """Return what is at a place; beyond the ends there is nothing."""
    return flags[i] if 0 <= i < len(flags) else 0


def _with(flags: Sequence[int], places: Iterable[int], value: int) -> tuple[int, ...]:
    chosen = set(places)
    return tuple(value if i in chosen else flag for i, flag in enumerate(flags))


def _repeated(flags: Sequence[int], counts: Sequence[int]) -> tuple[int, ...]:
    return tuple(flag for flag, count in zip(flags, counts, strict=True) for _ in range(count))
