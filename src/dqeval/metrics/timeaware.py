"""Time-series aware precision and recall: TaPR, and its enhanced form eTaPR."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from dqeval.core import arguments
from dqeval.core.arguments import Check
from dqeval.core.matching import Match, harmonic, parts_of, reaches
from dqeval.core.registry import metric
from dqeval.core.types import FloatArray, IntArray, Numbers, PrecisionRecall
from dqeval.core.validate import Undefined

_ETAPR_CHECKS: dict[str, Check] = {"theta_p": arguments.share, "theta_r": arguments.share}
_TAPR_CHECKS: dict[str, Check] = {
    "alpha": arguments.share,
    "theta": arguments.share,
    "delta": partial(arguments.whole_number, least=0),
}


def _etapr(match: Match, theta_p: float, theta_r: float) -> PrecisionRecall:
    if not len(match.found):
        return harmonic(0.0, 0.0)
    covered, found_covered = _pruned(match, theta_p, theta_r)
    recalls = _half_for_enough(covered, match.labelled.lengths, theta_r)
    precisions = _half_for_enough(found_covered, match.found_lengths, theta_p)
    weights = np.sqrt(match.found_lengths)
    return harmonic((weights * precisions).sum() / weights.sum(), recalls.mean())


def _half_for_enough(covered: FloatArray, lengths: IntArray, theta: float) -> FloatArray:
    """Return for each event one half, and half of its covered share, if that reaches theta; otherwise 0."""
    return np.where(reaches(covered, lengths, theta), (1 + covered / lengths) / 2, 0)


def _pruned(match: Match, theta_p: float, theta_r: float) -> tuple[FloatArray, FloatArray]:
    """Return the covered points of labelled and detected events, after overlaps too small for either were dropped.

    Dropping an overlap can make another event's share too small, so this goes on until nothing changes.
    """
    labelled, detected, shared = match.pairs
    points = shared.astype(np.float64)
    lengths, found_lengths = match.labelled.lengths, match.found_lengths
    while True:
        covered = _sums(labelled, points, len(lengths))
        small = (covered > 0) & ~reaches(covered, lengths, theta_r)
        points[small[labelled]] = 0
        found_covered = _sums(detected, points, len(found_lengths))
        found_small = (found_covered > 0) & ~reaches(found_covered, found_lengths, theta_p)
        if not small.any() and not found_small.any():
            return covered, found_covered
        points[found_small[detected]] = 0


def _sums(events: IntArray, amounts: FloatArray, count: int) -> FloatArray:
    """Return the sum of the amounts of each event."""
    return np.bincount(events, amounts, minlength=count).astype(np.float64, copy=False)


def _tapr(match: Match, alpha: float, theta: float, delta: int) -> PrecisionRecall:
    if not len(match.found):
        return harmonic(0.0, 0.0)
    zones = _zones(match, delta)
    lengths, found_lengths = match.labelled.lengths, match.found_lengths
    covered = np.minimum(match.covered + zones.added(zones.labelled, len(lengths)), lengths)
    found_covered = match.found_covered + zones.added(zones.detected, len(found_lengths))
    precision = _detected_and_covered(found_covered, found_lengths, alpha, theta)
    return harmonic(precision, _detected_and_covered(covered, lengths, alpha, theta))


def _detected_and_covered(covered: FloatArray, lengths: IntArray, alpha: float, theta: float) -> float:
    """Return alpha for the share of events that are detected, and the rest for how much of them is covered."""
    detected = np.mean(reaches(covered, lengths, theta))
    return float(alpha * detected + (1 - alpha) * np.mean(covered / lengths))


@dataclass(frozen=True, slots=True, eq=False)
class _Zones:
    """The detected points of the ambiguous zones after events, which count less and less.

    Attributes
    ----------
    labelled, detected : array of int
        The events whose zone and whose detection a point is of.
    place : array of float
        Where in its zone a point lies, from -1 to 1. It counts 1 / (1 + exp(6 * place)).
    """

    labelled: IntArray
    detected: IntArray
    place: FloatArray

    def added(self, events: IntArray, count: int) -> FloatArray:
        """Return what the points of each event count together.

        Two points as far on either side of the middle of their zones count exactly 1 together. For that to hold after
        rounding, each counts one half, more or less the same amount; the amounts more and those less are added up
        apart, both in the order of their size, so that equal ones are equal in sum too.
        """
        if not len(self.place):
            return np.zeros(count)
        sizes, size_of = np.unique(np.abs(self.place), return_inverse=True)
        amounts = np.tanh(3 * sizes)[size_of]
        ordered = np.argsort(size_of, kind="stable")
        early, late = ordered[self.place[ordered] < 0], ordered[self.place[ordered] > 0]
        more, less = (_sums(events[side], amounts[side], count) for side in (early, late))
        return (np.bincount(events, minlength=count) + (more - less)) / 2


def _zones(match: Match, delta: int) -> _Zones:
    events, found = match.labelled.events, match.found
    starts = events.stops
    ends = starts + min(delta, 2**62)
    # As published: a zone is shortened only if it ends behind the start of the next event, not if it ends there.
    following = np.append(events.starts[1:], np.iinfo(np.intp).max)
    ends = np.where(ends > following, following - 1, ends)
    # Nothing is detected beyond the end of the series.
    zone_points = np.where(starts < ends, np.minimum(ends, events.length - 1) - starts + 1, 0)
    owner = np.repeat(np.arange(len(events)), zone_points)
    offset = np.arange(len(owner)) - np.repeat(np.cumsum(zone_points) - zone_points, zone_points)
    t = starts[owner] + offset
    holder = np.searchsorted(found.starts, t, side="right") - 1
    inside = (holder >= 0) & (t < found.stops[holder])
    # In whole numbers up to the division, so that equal places are equal floats, in zones of any length.
    last = (ends - starts)[owner]
    place = (2 * offset - last) / last
    return _Zones(owner[inside], holder[inside], place[inside])


@metric(
    label="eTaF",
    takes="detections",
    compute=_etapr,
    checks=_ETAPR_CHECKS,
    citation="Hwang et al. 2022",
    same_as="the eTaPR package with theta_p 0.5 and theta_r 0.01 (its own default for theta_r is 0.1)",
    cost=0.68,
)
def etapr_f1(
    y_true: Numbers,
    y_pred: Numbers,
    *,
    theta_p: float = 0.5,
    theta_r: float = 0.01,
    undefined: Undefined = "raise",
) -> float:
    """Enhanced time-series aware F: events count if enough of them is covered by detections that are mostly right.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    theta_p, theta_r : float, default 0.5 and 0.01
        The shares, from 0 to 1, of a detected and of a labelled event that must overlap for it to count.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly.

    Returns
    -------
    float
        From 0 to 1; 0 without a detection.

    Examples
    --------
    >>> dqeval.metrics.etapr_f1([0, 1, 1, 1, 1, 0], [0, 1, 1, 0, 0, 0])
    0.8571428571428571
    """
    return etapr_parts(y_true, y_pred, theta_p=theta_p, theta_r=theta_r, undefined=undefined).f1


def etapr_parts(
    y_true: Numbers,
    y_pred: Numbers,
    *,
    theta_p: float = 0.5,
    theta_r: float = 0.01,
    undefined: Undefined = "raise",
) -> PrecisionRecall:
    """Enhanced time-series aware precision and recall, with `etapr_f1`.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    theta_p, theta_r : float, default 0.5 and 0.01
        The shares, from 0 to 1, of a detected and of a labelled event that must overlap for it to count.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly.

    Returns
    -------
    PrecisionRecall
        ``precision``, ``recall``, and ``f1``, their harmonic mean; all from 0 to 1.

    Examples
    --------
    >>> parts = dqeval.metrics.etapr_parts([0, 1, 1, 1, 1, 0], [0, 1, 1, 0, 0, 1])
    >>> round(parts.precision, 3), round(parts.recall, 3)
    (0.586, 0.75)
    """
    checked = arguments.checked(_ETAPR_CHECKS, theta_p=theta_p, theta_r=theta_r)
    return parts_of(_etapr, y_true, y_pred, undefined, **checked)


@metric(
    label="TaF",
    takes="detections",
    compute=_tapr,
    checks=_TAPR_CHECKS,
    citation="Hwang et al. 2019",
    same_as="TaPR with alpha 0.5, theta 0.5, delta 0 (its command line has 0.8, 0.5, 600)",
    cost=0.8,
)
def tapr_f1(
    y_true: Numbers,
    y_pred: Numbers,
    *,
    alpha: float = 0.5,
    theta: float = 0.5,
    delta: int = 0,
    undefined: Undefined = "raise",
) -> float:
    """Time-series aware F: the share of events detected, and how much of them is, both ways.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    alpha : float, default 0.5
        What the share of events counts, from 0 to 1; how much of them is covered counts the rest.
    theta : float, default 0.5
        The share of an event that must be covered for it to count as detected.
    delta : int, default 0
        How many points after an event detections count in part.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly.

    Returns
    -------
    float
        From 0 to 1; 0 without a detection.

    Examples
    --------
    >>> dqeval.metrics.tapr_f1([0, 1, 1, 1, 1, 0], [0, 1, 1, 0, 0, 0])
    0.8571428571428571
    """
    return tapr_parts(y_true, y_pred, alpha=alpha, theta=theta, delta=delta, undefined=undefined).f1


def tapr_parts(
    y_true: Numbers,
    y_pred: Numbers,
    *,
    alpha: float = 0.5,
    theta: float = 0.5,
    delta: int = 0,
    undefined: Undefined = "raise",
) -> PrecisionRecall:
    """Time-series aware precision and recall, with `tapr_f1`.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    alpha : float, default 0.5
        What the share of events counts, from 0 to 1; how much of them is covered counts the rest.
    theta : float, default 0.5
        The share of an event that must be covered for it to count as detected.
    delta : int, default 0
        How many points after an event detections count in part.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly.

    Returns
    -------
    PrecisionRecall
        ``precision``, ``recall``, and ``f1``, their harmonic mean; all from 0 to 1.

    Examples
    --------
    >>> parts = dqeval.metrics.tapr_parts([0, 1, 1, 1, 1, 0], [0, 1, 1, 0, 0, 1])
    >>> round(parts.precision, 3), round(parts.recall, 3)
    (0.5, 0.75)
    """
    checked = arguments.checked(_TAPR_CHECKS, alpha=alpha, theta=theta, delta=delta)
    return parts_of(_tapr, y_true, y_pred, undefined, **checked)
