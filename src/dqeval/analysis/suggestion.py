"""The suggested threshold of a detector."""

from __future__ import annotations

import numpy as np

from dqeval.core.events import find_events
from dqeval.core.types import FloatArray

NEAR_THE_BEST = 0.05


def suggested_threshold(thresholds: FloatArray, dqe: FloatArray) -> tuple[float, float]:
    """Return the middle of the longest range of thresholds whose DQE is near the best, and DQE there.

    A threshold in the middle bears being a little wrong; the very best may be a narrow peak. Where nothing is ever
    detected, it lies above all scores. The thresholds are all distinct scores, from the highest down.
    """
    if not len(thresholds):
        return np.inf, 0.0
    runs = find_events(dqe >= dqe.max() - NEAR_THE_BEST)
    lower = np.append(thresholds[1:], 0.0)  # each value holds from the next lower threshold on
    tops, bottoms = thresholds[runs.starts], lower[runs.stops - 1]
    longest = int(np.argmax(tops - bottoms))
    middle = float(bottoms[longest] + tops[longest]) / 2
    return middle, float(dqe[np.count_nonzero(thresholds >= middle) - 1])
