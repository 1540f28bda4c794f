"""SDQE from detections that are given as intervals: the work grows with their number, not with that of the points."""

from __future__ import annotations

import numpy as np

from dqeval.core.types import Events, FloatArray, Partition
from dqeval.kernels import intervals


def scores_of_intervals(detections: Events, regions: Partition) -> FloatArray:
    """Return SDQE, capture, near miss and false alarm of each event, as four columns."""
    events = regions.events
    cuts = (regions.left, regions.near_start, events.starts, events.stops, regions.near_stop, regions.right)
    local = np.zeros((len(events), 4))
    intervals.score(
        np.ascontiguousarray(detections.starts, dtype=np.intp),
        np.ascontiguousarray(detections.stops, dtype=np.intp),
        np.column_stack(cuts).astype(np.float64, copy=False),
        regions.near,
        local,
    )
    return local
