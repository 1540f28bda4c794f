"""The suggested threshold of a detector."""

from __future__ import annotations

import numpy as np

from dqeval.core.events import find_events
from dqeval.core.types import Curve

NEAR_THE_BEST = 0.05


def suggested_threshold(curve: Curve) -> tuple[float, float]:
    """Return the middle of the longest range of thresholds whose DQE is near the best, and DQE there.

    A threshold in the middle bears being a little wrong; the very best may be a narrow peak. Where nothing is ever
    detected, it lies above all scores.
    """
    if not len(curve.thresholds):
        return np.inf, 0.0
    runs = find_events(curve.dqe >= curve.dqe.max() - NEAR_THE_BEST)
    lower = np.append(curve.thresholds[1:], 0.0)  # each value holds from the next lower threshold on
    tops, bottoms = curve.thresholds[runs.starts], lower[runs.stops - 1]
    longest = int(np.argmax(tops - bottoms))
    middle = float(bottoms[longest] + tops[longest]) / 2
    return middle, float(curve.dqe[np.count_nonzero(curve.thresholds >= middle) - 1])
