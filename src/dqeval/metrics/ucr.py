"""The UCR score: whether the highest score of a series with one anomaly lies close to it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from dqeval.core import arguments, validate
from dqeval.core.arguments import Check
from dqeval.core.matching import or_undefined
from dqeval.core.prepared import Labelled, Scored
from dqeval.core.registry import metric
from dqeval.core.scaling import AT_ONCE
from dqeval.core.types import FloatArray, IntArray, Numbers
from dqeval.core.validate import Undefined, UndefinedError
from dqeval.render.tables import count_of
from dqeval.support.frames import Framed, columns_of_records

Rule = Literal["contest", "closed"]
Ties = Literal["share", "first"]

TOLERANCE = 100
RULE: Rule = "contest"
_WHOLE = partial(arguments.whole_number, least=0)
_CHECKS: dict[str, Check] = {
    "tolerance": _WHOLE,
    "rule": partial(arguments.one_of, choices=("contest", "closed")),
    "margin": arguments.or_none(_WHOLE),
    "ties": partial(arguments.one_of, choices=("share", "first")),
}


@dataclass(frozen=True, slots=True, eq=False)
class UcrParts(Framed):
    """The UCR score and what it follows from.

    ``to_frame()`` has a single row: the value, the margin, and the number of points with the highest score.

    Attributes
    ----------
    value : float
        The share of the highest points that are close enough to the event: the metric.
    margin : int or None
        How many points before and after the event are close enough; None where the score is undefined.
    peaks : array of int
        The points with the highest score that were looked at.
    """

    value: float
    margin: int | None
    peaks: IntArray

    def _columns(self) -> dict[str, Any]:
        margin = math.nan if self.margin is None else self.margin
        return columns_of_records([{"value": self.value, "margin": margin, "peaks": len(self.peaks)}])

    def __str__(self) -> str:
        if self.margin is None:
            return f"{self.value:.3f}"
        where = f"at {self.peaks[0]:,}" if len(self.peaks) == 1 else f"at {len(self.peaks):,} points"
        return (
            f"{self.value:.3f} (highest score {where}; up to {count_of(self.margin, 'point')} from the event is a hit)"
        )


def _ucr(scored: Scored, tolerance: int, rule: Rule, margin: int | None, ties: Ties) -> float:
    return _ucr_parts(scored, tolerance, rule, margin, ties).value


def _ucr_parts(scored: Scored, tolerance: int, rule: Rule, margin: int | None, ties: Ties) -> UcrParts:
    events = scored.events
    if len(events) != 1:
        raise UndefinedError(f"y_true has {len(events):,} events, and this metric is for series with exactly one")
    start, stop = int(events.starts[0]), int(events.stops[0])
    reach = _margin(stop - start, tolerance, rule) if margin is None else margin
    peaks = _peaks(scored.raw)[: 1 if ties == "first" else None]
    far = min(reach, events.length)  # a margin may be more than an array holds
    hits = (start - far <= peaks) & (peaks < stop + far)
    return UcrParts(float(hits.mean()), reach, peaks)


def _peaks(scores: FloatArray) -> IntArray:
    """Return the points that have the highest score. Memory is read once, but for blocks that have some of them."""
    begins = np.arange(0, len(scores), AT_ONCE)
    highest = np.maximum.reduceat(scores, begins)
    of_blocks = begins[highest == highest.max()].tolist()
    found = [begin + np.flatnonzero(scores[begin : begin + AT_ONCE] == highest.max()) for begin in of_blocks]
    return np.concatenate(found)


def _margin(length: int, tolerance: int, rule: Rule) -> int:
    """Return how far from an event a point may lie: the inequalities of the contest are strict."""
    return max(length, tolerance) - (1 if rule == "contest" else 0)


@metric(
    label="UCR",
    takes="scores",
    compute=_ucr,
    checks=_CHECKS,
    by_default=False,
    citation="Wu and Keogh 2021",
    same_as='dtaianomaly UCRScore with rule="closed" and ties="first"',
    cost=0.01,
)
def ucr_score(
    y_true: Numbers,
    y_score: Numbers,
    *,
    tolerance: int = TOLERANCE,
    rule: Rule = RULE,
    margin: int | None = None,
    ties: Ties = "share",
    undefined: Undefined = "raise",
) -> float:
    """UCR score: 1 if the highest score of a series with one event lies in it or close to it, and 0 otherwise.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_score : array-like of numbers, shape (n,)
        The larger, the more anomalous.
    tolerance : int, default 100
        How close is close enough, in points; the length of the event if that is more. Scores with different tolerances
        cannot be compared.
    rule : "contest" or "closed", default "contest"
        Whether a point at exactly that distance is too far, as in the contest, or still close enough.
    margin : int, optional
        The distance that still is close enough, in place of tolerance and rule, which must not be given then; 0 for
        the event alone.
    ties : "share" or "first", default "share"
        If several points have the highest score: the share of them that are close enough, or the first of them.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` does not have exactly one event.

    Returns
    -------
    float
        0 or 1; between them if some of several highest points are close enough. Its mean over many series is called
        accuracy.

    Examples
    --------
    The highest score is two points behind the event:

    >>> y_true, y_score = [0, 0, 1, 0, 0, 0], [0, 0, 1, 0, 2, 0]
    >>> [dqeval.metrics.ucr_score(y_true, y_score, margin=margin) for margin in (1, 2)]
    [0.0, 1.0]
    """
    parts = ucr_parts(y_true, y_score, tolerance=tolerance, rule=rule, margin=margin, ties=ties, undefined=undefined)
    return parts.value


def ucr_parts(
    y_true: Numbers,
    y_score: Numbers,
    *,
    tolerance: int = TOLERANCE,
    rule: Rule = RULE,
    margin: int | None = None,
    ties: Ties = "share",
    undefined: Undefined = "raise",
) -> UcrParts:
    """Margin in use and points with the highest score, with `ucr_score`.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_score : array-like of numbers, shape (n,)
        The larger, the more anomalous.
    tolerance : int, default 100
        How close is close enough, in points; the length of the event if that is more. Scores with different tolerances
        cannot be compared.
    rule : "contest" or "closed", default "contest"
        Whether a point at exactly that distance is too far, as in the contest, or still close enough.
    margin : int, optional
        The distance that still is close enough, in place of tolerance and rule, which must not be given then; 0 for
        the event alone.
    ties : "share" or "first", default "share"
        If several points have the highest score: the share of them that are close enough, or the first of them.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` does not have exactly one event.

    Returns
    -------
    UcrParts
        ``value``, the metric; ``margin``; and ``peaks``.

    Examples
    --------
    >>> parts = dqeval.metrics.ucr_parts([0, 0, 1, 0, 0, 0], [0, 0, 1, 0, 2, 0], tolerance=3)
    >>> parts.value, parts.margin, parts.peaks.tolist()
    (1.0, 2, [4])
    """
    checked = arguments.checked(_CHECKS, tolerance=tolerance, rule=rule, margin=margin, ties=ties)
    if margin is not None and (checked["tolerance"], rule) != (TOLERANCE, RULE):
        raise ValueError("margin stands in place of tolerance and rule: give margin alone, or leave it out")
    labels, raw = validate.labels_and_raw_scores(y_true, y_score)
    scored = Scored(Labelled(labels), raw)
    unknown = UcrParts(math.nan, None, np.zeros(0, dtype=np.intp))
    if not validate.check_defined(scored.events, undefined):
        return unknown
    return or_undefined(unknown, partial(_ucr_parts, scored, **checked), undefined)
