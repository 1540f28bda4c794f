"""Scores against thresholds: which threshold levels each point reaches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dqeval.kernels.dqe import levels_by_rank, levels_on_grid
from dqeval.types import BoolArray, FloatArray, IntArray, Partition


@dataclass(frozen=True, slots=True, eq=False)
class Levels:
    """The points of each local region as threshold levels, as the kernels take them.

    Attributes
    ----------
    partition : Partition
    of_point : array of int
        How many thresholds of its region a point reaches. Event i lies at [starts[i], stops[i]).
    starts, stops : array of int, shape (n_events,)
    thresholds, weights : array of float
        Region i has ``counts[i]`` of them from ``first[i]`` on, in ascending order.
    first, counts : array of int, shape (n_events,)
    total_weight : float
        What the weights of all thresholds in (0, 1] add up to.
    """

    partition: Partition
    of_point: NDArray[np.intc]
    starts: IntArray
    stops: IntArray
    thresholds: FloatArray
    weights: FloatArray
    first: IntArray
    counts: IntArray
    total_weight: float


def grid(count: int) -> FloatArray:
    """Return the sampled thresholds, ascending: 1/count to 1.

    They are the values of ``numpy.linspace(1, 0, count + 1)``, as in the authors' code. Not all of them are the nearest
    float to k/count: a score of 0.29 is first detected at 0.28.
    """
    return np.ascontiguousarray(np.linspace(1, 0, count + 1)[-2::-1])


def sampled(scores: FloatArray, partition: Partition, count: int) -> Levels:
    """Return the levels on a grid of ``count`` thresholds, of equal weight."""
    thresholds = grid(count)
    of_point = np.empty(len(scores), dtype=np.intc)
    levels_on_grid(scores, thresholds, of_point)
    return _shared(partition, of_point, thresholds)


def detected(detections: BoolArray, partition: Partition) -> Levels:
    """Return the levels of plain detections: a single threshold that the detected points reach."""
    return _shared(partition, detections.astype(np.intc), np.ones(1))


def exact(scores: FloatArray, partition: Partition) -> Levels:
    """Return the ranks of the scores within each local region: every distinct score is a threshold.

    A threshold counts for the interval from the next lower one, or 0, up to itself.
    """
    if not len(partition.events):
        return _shared(partition, np.zeros(0, dtype=np.intc), np.zeros(0))
    first_point = np.floor(partition.left).astype(np.intp)
    last_point = np.ceil(partition.right).astype(np.intp)
    stops = np.cumsum(last_point - first_point)
    first = stops - (last_point - first_point)
    shift = first - first_point
    of_point = np.zeros(stops[-1], dtype=np.intc)
    thresholds = np.empty(stops[-1])
    weights = np.empty(stops[-1])
    counts = np.zeros(len(first), dtype=np.intp)
    region = np.repeat(np.arange(len(first), dtype=np.intc), np.diff(last_point, prepend=0))
    order = np.argsort(scores)
    levels_by_rank(order, scores, region, partition.right, shift, first, of_point, thresholds, weights, counts)
    events = partition.events
    return Levels(
        partition, of_point, events.starts + shift, events.stops + shift, thresholds, weights, first, counts, 1.0
    )


def _shared(partition: Partition, of_point: NDArray[np.intc], thresholds: FloatArray) -> Levels:
    """Return levels on thresholds that all regions share."""
    events = partition.events
    first = np.zeros(len(events), dtype=np.intp)
    counts = np.full(len(events), len(thresholds), dtype=np.intp)
    weights = np.ones(len(thresholds))
    return Levels(partition, of_point, events.starts, events.stops, thresholds, weights, first, counts, len(thresholds))
