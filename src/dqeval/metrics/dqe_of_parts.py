"""SDQE from detections that are given as intervals: the work grows with their number, not with that of the points."""

from __future__ import annotations

import numpy as np

from dqeval.core.pieces import PIECES, Parts, parts_in
from dqeval.core.types import BoolArray, Events, FloatArray, IntArray, Partition

_EARLY_ALARM, _EARLY_NEAR, _, _LATE_NEAR, _LATE_ALARM = range(len(PIECES))


def scores_of_parts(detections: Events, regions: Partition) -> FloatArray:
    """Return SDQE, capture, near miss and false alarm of each event, as four columns."""
    parts = parts_in(detections, regions)
    counts = np.bincount(len(PIECES) * parts.event + parts.piece, minlength=len(PIECES) * len(regions.events))
    early_alarm, early_near, captured, late_near, late_alarm = counts.reshape(-1, len(PIECES)).T > 0
    near_missed, alarmed = early_near | late_near, early_alarm | late_alarm
    capture = captured.astype(np.float64)
    near_miss = np.where(near_missed, _near_miss(parts, regions), captured & ~alarmed)
    false_alarm = np.where(alarmed, _false_alarm(parts, regions), captured | near_missed)
    return np.column_stack([np.sqrt((capture + near_miss) / 2 * false_alarm), capture, near_miss, false_alarm])


def _near_miss(parts: Parts, regions: Partition) -> FloatArray:
    """Return the near-miss score of each event: how close, how far on average, and how long its near misses are."""
    early, late = parts.piece == _EARLY_NEAR, parts.piece == _LATE_NEAR
    starts, stops = regions.events.starts[parts.event], regions.events.stops[parts.event]
    closest = np.where(early, starts - parts.stops, parts.starts - stops)
    middles = (parts.starts + parts.stops) / 2
    distance = np.where(early, starts - middles, middles - stops)
    there, count = early | late, len(regions.events)
    event = parts.event[there]
    nearest = np.full(count, np.inf)
    np.minimum.at(nearest, event, closest[there])
    number = np.maximum(np.bincount(event, minlength=count), 1)
    mean = np.bincount(event, distance[there], minlength=count) / number
    duration = np.bincount(event, (parts.stops - parts.starts)[there], minlength=count)
    near = regions.near or 1.0  # without a near range there is no near miss
    factors = (1 - nearest / near, 1 - mean / near, 1 - duration / (2 * near))
    return np.asarray(np.prod(np.maximum(factors, 0.0), axis=0))


def _false_alarm(parts: Parts, regions: Partition) -> FloatArray:
    """Return the false-alarm score of each event: in how many bins its false alarms lie, and how long they are."""
    there, count = (parts.piece == _EARLY_ALARM) | (parts.piece == _LATE_ALARM), len(regions.events)
    before, behind = regions.near_start - regions.left, regions.right - regions.near_stop
    room = before + behind
    event = parts.event[there]
    duration = np.bincount(event, (parts.stops - parts.starts)[there], minlength=count)
    burden = np.maximum(1 - duration / np.where(room > 0, room / 2, 1.0), 0.0)
    bins = np.ceil(room).astype(np.intp)
    occupied = _occupied(parts, regions, there, before, bins)
    wide = room > 1
    coefficient = np.ones(count)
    coefficient[wide] = 1 - np.log2(np.maximum(occupied, 1)[wide]) / np.log2(bins[wide])
    return coefficient * burden


def _occupied(parts: Parts, regions: Partition, there: BoolArray, before: FloatArray, bins: IntArray) -> IntArray:
    """Return how many bins of each region hold the middle of a false alarm.

    The bins have the edges of ``numpy.linspace(-before, behind, bins + 1)``, which are never made: there may be as many
    as points.
    """
    event = parts.event[there]
    middles = ((parts.starts + parts.stops) / 2)[there]
    early = parts.piece[there] == _EARLY_ALARM
    places = middles - np.where(early, regions.near_start[event], regions.near_stop[event])
    first, last = -before[event], (regions.right - regions.near_stop)[event]
    step = (last - first) / np.maximum(bins[event], 1)
    number = np.floor((places - first) / np.where(step > 0, step, 1.0))
    for _ in range(2):  # a quotient may be rounded over an edge, where the edges themselves tell
        number += (number + 1) * step + first <= places
        number -= number * step + first > places
    number = np.clip(number, 0, np.maximum(bins[event] - 1, 0))
    # In time order, so that the parts in one bin follow each other.
    new = np.ones(len(event), dtype=np.bool_)
    new[1:] = (event[1:] != event[:-1]) | (number[1:] != number[:-1])
    return np.bincount(event[new], minlength=len(regions.events))
