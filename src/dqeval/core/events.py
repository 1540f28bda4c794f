"""Labels to events."""

import numpy as np

from dqeval.core.types import BoolArray, Events, IntArray


def find_events(flags: BoolArray) -> Events:
    """Return the maximal runs of true flags.

    Examples
    --------
    >>> list(find_events(np.array([0, 1, 1, 0, 1], dtype=bool)))
    [(1, 3), (4, 5)]
    """
    borders = np.flatnonzero(flags[1:] != flags[:-1])
    borders += 1
    if flags[0]:
        borders = np.insert(borders, 0, 0)
    if flags[-1]:
        borders = np.append(borders, len(flags))
    return Events(starts=borders[0::2].copy(), stops=borders[1::2].copy(), length=len(flags))


def split_at(events: Events, breaks: IntArray) -> Events:
    """Return events that end where there is a break, and begin again behind it.

    Examples
    --------
    >>> list(split_at(find_events(np.array([0, 1, 1, 1, 1, 0], dtype=bool)), np.array([1, 3])))
    [(1, 3), (3, 5)]
    """
    if not len(breaks) or not len(events):
        return events
    current = np.searchsorted(events.starts, breaks, side="left") - 1
    inner = breaks[(current >= 0) & (breaks < events.stops[current])]
    return Events(
        np.sort(np.concatenate([events.starts, inner])), np.sort(np.concatenate([events.stops, inner])), events.length
    )


def flags_of(events: Events) -> BoolArray:
    """Return which points lie in events, whose starts ascend.

    Examples
    --------
    >>> flags_of(find_events(np.array([0, 1, 1, 0, 1], dtype=bool))).astype(int)
    array([0, 1, 1, 0, 1])
    """
    borders = np.zeros(2 * len(events) + 2, dtype=np.intp)
    borders[1:-1:2], borders[2:-1:2], borders[-1] = events.starts, events.stops, events.length
    np.maximum.accumulate(borders, out=borders)  # where events overlap, one goes on
    inside = np.arange(len(borders) - 1) % 2 == 1
    return np.repeat(inside, np.diff(borders))


def points_in(starts: IntArray, stops: IntArray) -> tuple[IntArray, IntArray]:
    """Return of which interval [start, stop) each point of some is, and the point, one interval after the other.

    Examples
    --------
    >>> owners, points = points_in(np.array([3, 8, 9]), np.array([5, 8, 10]))
    >>> owners.tolist(), points.tolist()
    ([0, 0, 2], [3, 4, 9])
    """
    lengths = np.maximum(stops - starts, 0)
    owners = np.repeat(np.arange(len(starts)), lengths)
    return owners, np.arange(len(owners)) + np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
