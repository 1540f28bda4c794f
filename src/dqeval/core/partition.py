"""The time axis cut into local regions, and these into capture, near-miss and false-alarm pieces."""

from __future__ import annotations

import numpy as np

from dqeval.core import validate
from dqeval.core.events import find_events
from dqeval.core.near import near_from_arguments
from dqeval.core.types import Events, Numbers, Partition


def partition(
    y_true: Numbers, *, near: float | str | None = None, period: float | None = None, values: Numbers | None = None
) -> Partition:
    """Cut the time axis around the events of a labelled series.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    near : float or str, optional
        How many points before and after an event a detection still is a near miss; 0 for none, "2ev" for twice the
        median length of an event.
    period : float, optional
        The period of the series; ``near`` is then half of it.
    values : array-like of numbers, shape (n,), optional
        The values of the series, to estimate the period from with `find_period`, which fills missing ones (NaN). Give
        at most one of ``near``, ``period`` and ``values``; with none of them, ``near`` is 125.

    Returns
    -------
    Partition
        One region an event; none if ``y_true`` has no anomaly.

    Notes
    -----
    Neighbouring regions meet at the midpoint between their events, and the outer ones reach to the ends of the series.
    A near-miss piece ends at the border of its region, however large ``near`` is.

    Examples
    --------
    >>> print(dqeval.partition([0, 0, 0, 1, 1, 0, 0, 0, 0, 1, 0], near=1))
    event  false alarm  near miss  capture  near miss  false alarm
    --------------------------------------------------------------
    0           [0, 2)     [2, 3)   [3, 5)     [5, 6)       [6, 7)
    1           [7, 8)     [8, 9)  [9, 10)   [10, 11)     [11, 11)
    near 1, 11 points
    """
    labels = validate.labels(y_true)
    found = near_from_arguments(y_true, labels, near=near, period=period, values=values)
    return cut(find_events(labels), found.points)


def cut(events: Events, near: float) -> Partition:
    """Return the local regions of the events."""
    middles = (events.stops[:-1] + events.starts[1:]) / 2
    borders = np.concatenate([[0.0], middles, [float(events.length)]])
    left, right = borders[:-1][: len(events)], borders[1:][: len(events)]
    return Partition(
        events=events,
        near=near,
        left=left,
        near_start=np.maximum(events.starts - near, left),
        near_stop=np.minimum(events.stops + near, right),
        right=right,
    )
