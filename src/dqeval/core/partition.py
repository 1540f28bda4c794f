"""The time axis cut into local regions, and these into capture, near-miss and false-alarm pieces."""

from __future__ import annotations

from typing import Any

from dqeval.core import validate
from dqeval.core.durations import Length
from dqeval.core.prepared import points_of
from dqeval.core.sampling import Clock
from dqeval.core.types import Numbers, Partition


def partition(
    y_true: Numbers,
    *,
    near: Length | None = None,
    period: Length | None = None,
    values: Numbers | None = None,
    times: Any = None,
    resolution: Length | None = None,
    max_gap: Length | None = None,
) -> Partition:
    """Cut the time axis around the events of a labelled series.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    near : float, str or timedelta, optional
        How many points before and after an event a detection still is a near miss; 0 for none, "2ev" for twice the
        median length of an event, or with ``times`` a duration such as "10min".
    period : float, str or timedelta, optional
        The period of the series, in points or as a duration; ``near`` is then half of it.
    values : array-like of numbers, shape (n,), optional
        The values of the series, to estimate the period from with `find_period`, which fills missing ones (NaN). Give
        at most one of ``near``, ``period`` and ``values``; with none of them, ``near`` is 125, or
        with times the median length of an event.
    times : array-like, shape (n,), optional
        When each point is, in ascending order: dates of any kind, or numbers. Then time is counted in cells: a cell is
        an anomaly if a sample in it is, and the result knows when regions begin and end.
        Pandas columns with an index of dates need none: durations, ``resolution`` and ``max_gap`` use the index.
    resolution : str, timedelta or number, optional
        The length of a cell, such as "1min", or in seconds; the median step of the times by default. DQE depends on it.
    max_gap : int, str or timedelta, default 3
        Over how many cells without a sample, or how long, the one before stands for them. What is missing longer was
        not observed: no region crosses it, and nothing in it is scored.

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
    clock = Clock(times, resolution, max_gap)
    points = points_of(y_true, labels, labels, near=near, period=period, values=values, clock=clock)
    return points.regions
