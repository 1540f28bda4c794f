"""What happens at the events: how often they are captured, cleanly or not, nearly missed, or missed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dqeval.core.types import Curve, DQEResult, FloatArray

# In words, and what they mean: shown where people choose among them.
OUTCOME_MEANINGS = {
    "captured, no false alarm": "something is detected in the event, and there is no false alarm in its local region",
    "captured amid false alarms": "something is detected in the event, but it may drown: there are false alarms in its "
    "local region, too",
    "near miss only": "nothing is detected in the event, but something is within the near range",
    "missed": "nothing is detected in the event, nor within the near range",
}
EVENT_OUTCOMES = tuple(OUTCOME_MEANINGS)
OUTCOME_KEYS = ("captured", "drowned", "near-miss", "missed")  # in the address of a page, in the same order


def outcome_shares(result: DQEResult) -> dict[str, float]:
    """Return how the events fare, as shares of all pairs of an event and one of the sampled thresholds.

    Parameters
    ----------
    result : DQEResult
        With events, and with sampled thresholds, which all count the same.

    Returns
    -------
    dict of str to float
        The shares by outcome; together 1. A near miss is one whose score is above 0.
    """
    if result.thresholds == "exact" or not result.per_event:
        raise ValueError("shares of outcomes need a result with events and sampled thresholds")
    every = np.concatenate([outcomes_of(event) for event in result.curve.per_event])
    counts = np.bincount(every, minlength=len(EVENT_OUTCOMES))
    return dict(zip(EVENT_OUTCOMES, (counts / len(every)).tolist(), strict=True))


def outcomes_of(event: Curve) -> NDArray[np.uint8]:
    """Return what happens at an event at each threshold of its curve, as positions in `EVENT_OUTCOMES`."""
    return outcomes_at(event.capture, event.near_miss, event.false_alarm)


def outcomes_at(capture: FloatArray, near_miss: FloatArray, false_alarm: FloatArray) -> NDArray[np.uint8]:
    """Return what happens where these are the scores, as positions in `EVENT_OUTCOMES`."""
    captured, near, clean = capture > 0, near_miss > 0, false_alarm == 1
    return np.where(captured, np.where(clean, 0, 1), np.where(near, 2, 3)).astype(np.uint8)
