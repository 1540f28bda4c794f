"""What happens at the events: how often they are captured, cleanly or not, nearly missed, or missed."""

from __future__ import annotations

import numpy as np

from dqeval.core.types import DQEResult

EVENT_OUTCOMES = ("captured, no false alarm", "captured amid false alarms", "near miss only", "missed")


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
    events = result.curve.per_event
    captured = np.concatenate([event.capture for event in events]) > 0
    near = np.concatenate([event.near_miss for event in events]) > 0
    clean = np.concatenate([event.false_alarm for event in events]) == 1
    hits = (captured & clean, captured & ~clean, ~captured & near, ~captured & ~near)
    return {outcome: float(hit.mean()) for outcome, hit in zip(EVENT_OUTCOMES, hits, strict=True)}
