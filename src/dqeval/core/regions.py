"""The local regions of events: where each begins and ends, and its capture, near-miss and false-alarm pieces."""

from __future__ import annotations

import numpy as np

from dqeval.core.types import Events, FloatArray, IntArray, Partition


def cut(events: Events, near: float, breaks: IntArray | None = None) -> Partition:
    """Return the local regions of the events; with breaks, where something was not observed, none reaches over one."""
    middles = (events.stops[:-1] + events.starts[1:]) / 2
    borders = np.concatenate([[0.0], middles, [float(events.length)]])
    left, right = borders[:-1][: len(events)], borders[1:][: len(events)]
    if breaks is not None and len(breaks):
        left, right = _within_stretches(events, left, right, breaks)
    return Partition(
        events=events,
        near=near,
        left=left,
        near_start=np.maximum(events.starts - near, left),
        near_stop=np.minimum(events.stops + near, right),
        right=right,
    )


def _within_stretches(
    events: Events, left: FloatArray, right: FloatArray, breaks: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Return borders of regions that end at the breaks between two events, and begin again before the next event."""
    ends = np.concatenate([[0], breaks, [events.length]])
    begins = ends[np.searchsorted(ends, events.starts, side="right") - 1]
    closes = ends[np.searchsorted(ends, events.stops, side="left")]
    before = np.concatenate([[0], events.stops[:-1]])
    behind = np.append(events.starts[1:], events.length)
    return (
        np.where(begins >= before, begins, left).astype(np.float64),
        np.where(closes <= behind, closes, right).astype(np.float64),
    )
