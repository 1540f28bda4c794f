"""Ways to change labels and scores a little: what a good detector, or a good metric, should hardly mind.

A new one is a `Change`, a function that yields changed copies, and a `Perturbation` in `_EVERY`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dqeval.core.events import flags_of
from dqeval.core.prepared import Labelled
from dqeval.core.scaling import min_max
from dqeval.core.types import BoolArray, Events, FloatArray, IntArray, Region

LAGS = 11  # evenly spaced, from a quarter of the period early to a quarter late
NOISE = 0.05  # of the range of the scores, to either side
JITTER = 0.1  # of the period, to either side
MISSING = (1, 2, 3, 5, 8)  # labels in the middle of an event
RATIOS = tuple(round(0.01 * k, 2) for k in range(20, 0, -1))
LONGEST_PART, SHORTEST_PART = 0.9, 0.5  # of the series
DELAYS = 5  # evenly spaced, up to the near range or the longest event
DENSITIES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 0.95, 0.99)


@dataclass(frozen=True, slots=True, eq=False)
class Given:
    """What is changed: labels, the scores of one detector, and the period by which changes are measured."""

    labelled: Labelled
    scores: FloatArray
    period: float


@dataclass(frozen=True, slots=True, eq=False)
class Changed:
    """A changed copy.

    Attributes
    ----------
    at : float
        By how much it was changed, in the unit of the perturbation; of random draws, which of them it is.
    labelled : Labelled
    scores : array of float
    reference : bool
        Whether the other copies are compared with this one, in place of the series as it is.
    """

    at: float
    labelled: Labelled
    scores: FloatArray
    reference: bool = False


Random = np.random.Generator
Change = Callable[[Given, Random, int], Iterator[Changed]]


@dataclass(frozen=True, slots=True)
class Perturbation:
    """A kind of change.

    Attributes
    ----------
    name : str
    label : str
        What tables call it.
    definition : str
        What is changed, and by how much, in a sentence.
    change : callable
        What is given, a random generator and the number of draws to changed copies; none if it cannot be changed so.
    why_none : str
        Why there are none, where there are none.
    needs_scores : bool
        Whether it makes no sense for 0/1 detections.
    drawn : bool
        Whether the copies are random draws, and not the same steps each time.
    """

    name: str
    label: str
    definition: str
    change: Change
    why_none: str
    needs_scores: bool = False
    drawn: bool = False


def lag(given: Given, random: Random, draws: int) -> Iterator[Changed]:
    """Yield scores that come early or late."""
    steps = lags(given.period)
    if len(steps) > 1:
        yield from (Changed(step, given.labelled, shift(given.scores, step), reference=step == 0) for step in steps)


def lags(period: float) -> list[int]:
    """Return by how many points scores are moved.

    Examples
    --------
    >>> lags(48)
    [-12, -10, -7, -5, -2, 0, 2, 5, 7, 10, 12]
    """
    return [int(lag) for lag in dict.fromkeys(np.rint(np.linspace(-period / 4, period / 4, LAGS)).tolist())]


def shift(scores: FloatArray, lag: int) -> FloatArray:
    """Return scores that come later by a lag, or earlier by a negative one; the ends are filled with what is there.

    Examples
    --------
    >>> shift(np.array([1.0, 2, 3]), 1).tolist(), shift(np.array([1.0, 2, 3]), -2).tolist()
    ([1.0, 1.0, 2.0], [3.0, 3.0, 3.0])
    """
    places = np.clip(np.arange(len(scores)) - lag, 0, len(scores) - 1)
    return scores[places]


def noise(given: Given, random: Random, draws: int) -> Iterator[Changed]:
    """Yield scores in [0, 1] with uniform noise."""
    scores = min_max(given.scores)
    for draw in range(draws):
        yield Changed(draw, given.labelled, scores + random.uniform(-NOISE, NOISE, len(scores)))


def jitter(given: Given, random: Random, draws: int) -> Iterator[Changed]:
    """Yield labels whose borders are moved."""
    reach = max(1, round(JITTER * given.period))
    events = given.labelled.events
    for draw in range(draws):
        moves = random.integers(-reach, reach + 1, size=2 * len(events))
        labels = flags_of(moved(events, moves, given.labelled.breaks))
        yield Changed(draw, Labelled(labels, given.labelled.axis), given.scores)


def moved(events: Events, moves: IntArray, breaks: IntArray) -> Events:
    """Return events with moved borders; none vanishes, touches another one, or reaches over a break.

    Where a border would have to, it is moved less; the border before it may push it on.

    Parameters
    ----------
    events : Events
    moves : array of int, shape (2 · n_events,)
        By how much to move the start and the stop of the first event, of the second one, and so on.
    breaks : array of int
        The points before which something was not observed.

    Examples
    --------
    >>> events = Events(np.array([2, 5]), np.array([4, 7]), 8)
    >>> list(moved(events, np.array([-1, 1, 1, 9]), np.array([], dtype=int)))
    [(1, 5), (6, 8)]
    >>> list(moved(events, np.array([3, -3, -3, 0]), np.array([], dtype=int)))
    [(5, 6), (7, 8)]
    """
    borders = np.stack([events.starts, events.stops], axis=1).ravel()
    # What lies between two breaks: each event lies in one such part, and stays there.
    ends = np.concatenate([[0], breaks, [events.length]])
    part = np.repeat(np.searchsorted(ends, events.starts, side="right") - 1, 2)
    place = np.arange(len(borders))
    before = place - np.searchsorted(part, part, side="left")
    behind = np.searchsorted(part, part, side="right") - 1 - place
    # Each leaves a point for every border before and behind it, and lies at least one behind the one before it.
    wanted = np.clip(borders + moves, ends[part] + before, ends[part + 1] - behind)
    found = np.maximum.accumulate(wanted - before) + before
    return Events(found[0::2], found[1::2], events.length)


def splits(given: Given, random: Random, draws: int) -> Iterator[Changed]:
    """Yield labels with events that lack some labels in the middle."""
    for missing in MISSING:
        labels = split(given.labelled, missing)
        if labels is not None:
            yield Changed(missing, Labelled(labels, given.labelled.axis), given.scores)


def split(labelled: Labelled, missing: int) -> BoolArray | None:
    """Return labels without so many in the middle of each event that is long enough to become two; or None.

    Examples
    --------
    >>> split(Labelled(np.array([1, 1, 1, 1, 0, 1, 1], dtype=bool)), 1).astype(int)
    array([1, 0, 1, 1, 0, 1, 1])
    """
    labels = labelled.labels.copy()
    long = labelled.lengths >= missing + 2
    for start, length in zip(labelled.events.starts[long], labelled.lengths[long], strict=True):
        first = start + (length - missing) // 2
        labels[first : first + missing] = False
    return labels if long.any() else None


def ratio(given: Given, random: Random, draws: int) -> Iterator[Changed]:
    """Yield windows around one event, in which it is a smaller and smaller share; the widest is the reference.

    The series as it is has other events too, so it cannot be compared with.
    """
    *narrower, widest = windows(given.labelled.regions(0.0).regions)
    for start, stop in (*narrower, widest):
        labelled = given.labelled.part(start, stop)
        share = float(labelled.labels.mean())
        yield Changed(share, labelled, given.scores[start:stop], reference=(start, stop) == widest)


def windows(regions: Sequence[Region]) -> list[tuple[int, int]]:
    """Return windows around one event, in which it is a smaller and smaller share, as far as its region goes.

    Examples
    --------
    >>> labels = np.zeros(1000, dtype=bool)
    >>> labels[500:510] = True
    >>> found = windows(dqeval.partition(labels, near=0).regions)
    >>> found[0], found[-1]
    ((480, 530), (5, 1000))
    """
    region = max(regions, key=lambda each: min(each.start - each.left, each.right - each.stop))
    length = region.stop - region.start
    middle, found = (region.start + region.stop) / 2, []
    for share in RATIOS:
        wide = length / share
        start, stop = max(region.left, middle - wide / 2), min(region.right, middle + wide / 2)
        found.append((int(np.ceil(start)), int(np.floor(stop))))
    return list(dict.fromkeys(found))


def length(given: Given, random: Random, draws: int) -> Iterator[Changed]:
    """Yield parts of the series, from long to short."""
    labels = given.labelled.labels
    for share in np.linspace(LONGEST_PART, SHORTEST_PART, draws).tolist():
        size = round(share * len(labels))
        starts = whole_starts(labels, size)
        if len(starts):
            start = int(starts[random.integers(len(starts))])
            yield Changed(share, given.labelled.part(start, start + size), given.scores[start : start + size])


def whole_starts(labels: BoolArray, size: int) -> IntArray:
    """Return where a part of some size may begin: it has an event and something normal, and cuts no event.

    Examples
    --------
    >>> whole_starts(np.array([0, 1, 1, 0, 0, 0], dtype=bool), 3)
    array([0, 1])
    """
    inner = np.zeros(len(labels) + 1, dtype=np.bool_)  # borders between two labels of one event
    inner[1:-1] = labels[1:] & labels[:-1]
    labelled = np.concatenate([[0], np.cumsum(labels)])
    inside = labelled[size:] - labelled[: len(labelled) - size]
    return np.flatnonzero(~inner[: len(inside)] & ~inner[size:] & (inside > 0) & (inside < size))


def delay(given: Given, random: Random, draws: int) -> Iterator[Changed]:
    """Yield scores that react late to each event."""
    longest = max(1.0, min(given.period / 2, float(given.labelled.lengths.max())))
    for late in dict.fromkeys(np.ceil(np.linspace(0, longest, DELAYS + 1))[1:].astype(int).tolist()):
        yield Changed(late, given.labelled, reacting_late(given.labelled, given.scores, late))


def reacting_late(labelled: Labelled, scores: FloatArray, late: int) -> FloatArray:
    """Return scores that stay, for the first points of each event, what they were before it.

    Before an event with which the series begins, or which follows a break, nothing was scored: there, it is the lowest
    score of all.

    Examples
    --------
    >>> labelled = Labelled(np.array([0, 1, 1, 1, 0, 1], dtype=bool))
    >>> reacting_late(labelled, np.array([0.1, 0.7, 0.8, 0.9, 0.2, 0.6]), 2).tolist()
    [0.1, 0.1, 0.1, 0.9, 0.2, 0.2]
    """
    found = scores.copy()
    beginnings = {0, *labelled.breaks.tolist()}
    for start, stop in labelled.events:
        before = scores.min() if start in beginnings else scores[start - 1]
        found[start : min(start + late, stop)] = before
    return found


def random_detections(given: Given, random: Random, draws: int) -> Iterator[Changed]:
    """Yield random detections, from few to nearly all points."""
    for density in DENSITIES:
        for _ in range(draws):
            detected = random.random(len(given.scores)) < density
            yield Changed(density, given.labelled, detected.astype(np.float64))


def _percent(share: float) -> str:
    return f"{100 * share:g} %"


_EVERY = [
    Perturbation(
        "lag",
        "lag",
        f"scores moved in {LAGS - 1} steps, from a quarter of the period early to a quarter late",
        lag,
        "the near range is below one point, so there is no period to move scores by",
    ),
    Perturbation(
        "noise",
        "score noise",
        f"uniform noise on the scores, up to {_percent(NOISE)} of their range to either side",
        noise,
        "0/1 detections have no score to add noise to",
        needs_scores=True,
        drawn=True,
    ),
    Perturbation(
        "jitter",
        "label jitter",
        f"each border of each event moved at random by up to {_percent(JITTER)} of the period, at least one point; "
        "events neither vanish nor merge",
        jitter,
        "",
        drawn=True,
    ),
    Perturbation(
        "splits",
        "label splits",
        f"{', '.join(map(str, MISSING[:-1]))} and {MISSING[-1]} labels missing in the middle of each event that is "
        "long enough",
        splits,
        "no event has three points or more, so none can be split",
    ),
    Perturbation(
        "ratio",
        "anomaly ratio",
        "a window around the event with the most room, widened so that the event is "
        f"{RATIOS[0]} to {RATIOS[-1]} of it, up to the next event's region; compared with the widest one",
        ratio,
        "no event has room for windows of several widths",
    ),
    Perturbation(
        "length",
        "length",
        f"a random part of the series, {_percent(LONGEST_PART)} to {_percent(SHORTEST_PART)} of it, with whole events",
        length,
        "no shorter part of the series has whole events and something normal",
        drawn=True,
    ),
    Perturbation(
        "delay",
        "onset delay",
        f"scores stay what they were before an event for its first points, in {DELAYS} steps up to the near range or "
        "the length of the longest event",
        delay,
        "",
    ),
]
# By name, in the order of tables.
PERTURBATIONS = {each.name: each for each in _EVERY}
RANDOM = Perturbation(
    "random",
    "random detections",
    f"each point detected at random, with a probability from {DENSITIES[0]:g} to {DENSITIES[-1]:g}, in place of scores",
    random_detections,
    "",
)
KINDS = (*PERTURBATIONS, RANDOM.name)
