"""Time-series aware precision and recall: TaPR, and its enhanced form eTaPR."""

from __future__ import annotations

import numpy as np

from dqeval import validate
from dqeval.registry import metric
from dqeval.scored import Match, harmonic, parts_of
from dqeval.types import FloatArray, IntArray, Numbers, PrecisionRecall
from dqeval.validate import Undefined


def _etapr(match: Match, theta_p: float, theta_r: float) -> PrecisionRecall:
    if not len(match.found):
        return harmonic(0.0, 0.0)
    covered, found_covered = _pruned(match, theta_p, theta_r)
    recalls = np.where(covered >= theta_r, (1 + covered) / 2, 0)
    precisions = np.where(found_covered >= theta_p, (1 + found_covered) / 2, 0)
    weights = np.sqrt(match.found_lengths)
    return harmonic((weights * precisions).sum() / weights.sum(), recalls.mean())


def _pruned(match: Match, theta_p: float, theta_r: float) -> tuple[FloatArray, FloatArray]:
    """Return the covered shares of labelled and detected events, after overlaps too small for either were dropped.

    Dropping an overlap can make another event's share too small, so this goes on until nothing changes.
    """
    labelled, detected, points = match.pairs
    points = points.astype(float)
    while True:
        covered = np.bincount(labelled, points, minlength=len(match.labelled.lengths)) / match.labelled.lengths
        small = (covered > 0) & (covered < theta_r)
        points[small[labelled]] = 0
        found_covered = np.bincount(detected, points, minlength=len(match.found_lengths)) / match.found_lengths
        found_small = (found_covered > 0) & (found_covered < theta_p)
        if not small.any() and not found_small.any():
            return covered, found_covered
        points[found_small[detected]] = 0


def _tapr(match: Match, alpha: float, theta: float, delta: int) -> PrecisionRecall:
    if not len(match.found):
        return harmonic(0.0, 0.0)
    labelled, detected, overlap = _with_zones(match, delta)
    lengths, found_lengths = match.labelled.lengths, match.found_lengths
    covered = np.minimum(np.bincount(labelled, overlap, minlength=len(lengths)) / lengths, 1)
    found_covered = np.bincount(detected, overlap, minlength=len(found_lengths)) / found_lengths
    precision, recall = (alpha * np.mean(x >= theta) + (1 - alpha) * x.mean() for x in (found_covered, covered))
    return harmonic(float(precision), float(recall))


def _with_zones(match: Match, delta: int) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the overlaps, with those of the ambiguous zone after each event, whose points count less and less."""
    labelled, detected, points = match.pairs
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
    fading = 1 / (1 + np.exp(-6 + 12 * offset / (ends - starts)[owner]))
    return (
        np.concatenate([labelled, owner[inside]]),
        np.concatenate([detected, holder[inside]]),
        np.concatenate([points, fading[inside]]),
    )


@metric(
    label="eTaF",
    takes="detections",
    compute=_etapr,
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
    y_true, y_pred : array-like of 0 and 1, shape (n,)
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
    """Enhanced time-series aware precision and recall, with `etapr_f1`."""
    shares = {"theta_p": validate.share("theta_p", theta_p), "theta_r": validate.share("theta_r", theta_r)}
    return parts_of(_etapr, y_true, y_pred, undefined, **shares)


@metric(
    label="TaF",
    takes="detections",
    compute=_tapr,
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
    y_true, y_pred : array-like of 0 and 1, shape (n,)
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
    """Time-series aware precision and recall, with `tapr_f1`."""
    options = {"alpha": validate.share("alpha", alpha), "theta": validate.share("theta", theta)}
    return parts_of(_tapr, y_true, y_pred, undefined, **options, delta=validate.whole("delta", delta, least=0))
