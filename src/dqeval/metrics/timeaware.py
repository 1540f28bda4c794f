"""Time-series aware precision and recall: TaPR, and its enhanced form eTaPR."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from dqeval.core import arguments
from dqeval.core.arguments import Check
from dqeval.core.joined import at_best
from dqeval.core.matching import Match, parts_of
from dqeval.core.prepared import Labelled
from dqeval.core.registry import metric
from dqeval.core.sweep import Runs, Sweep, Tally, at_one_threshold, fixed_point, ratio
from dqeval.core.types import FloatArray, IntArray, Numbers, PrecisionRecall
from dqeval.core.validate import Undefined
from dqeval.kernels import etapr
from dqeval.kernels.covered import tally_covered
from dqeval.kernels.sweep import points_by_level

_ETAPR_CHECKS: dict[str, Check] = {"theta_p": arguments.share, "theta_r": arguments.share}
_TAPR_CHECKS: dict[str, Check] = {
    "alpha": arguments.share,
    "theta": arguments.share,
    "delta": partial(arguments.whole_number, least=0),
}


def _etapr(match: Match, theta_p: float, theta_r: float) -> PrecisionRecall:
    return at_one_threshold(_etapr_sweep, match, theta_p=theta_p, theta_r=theta_r)


def _etapr_sweep(sweep: Sweep, theta_p: float, theta_r: float) -> tuple[FloatArray, FloatArray]:
    """Return precision and recall; overlaps too small for either side are dropped, until nothing changes."""
    apart, runs, scale = sweep.apart, sweep.runs, sweep.point_scale
    starts, stops, count = apart.events.starts, apart.events.stops, len(apart.events)
    appear, vanish = np.zeros((2, len(runs.found)), dtype=np.intc)
    enclosed, outside = np.zeros(count, dtype=np.intc), np.arange(count, dtype=np.intc)
    tally, sums = sweep.tallies(etapr.TALLY_COLUMNS), np.empty((2, sweep.count))
    etapr.settle_lone_runs(runs.found, starts, stops, theta_p, theta_r, scale, outside, enclosed, appear, vanish, tally)
    etapr.sweep(
        runs.found,
        *_by_level(appear, sweep.count),
        *_by_level(vanish, sweep.count),
        *_by_level(enclosed, sweep.count),
        starts,
        stops,
        sweep.labelled.event_bounds,
        theta_p,
        theta_r,
        scale,
        np.zeros((count, etapr.EVENT_COLUMNS), dtype=np.longlong),
        np.zeros(count, dtype=np.uint8),
        np.empty(count, dtype=np.intc),
        np.zeros((len(runs.found), etapr.RUN_COLUMNS), dtype=np.longlong),
        np.empty(2 * count, dtype=np.intc),
        np.empty((2 * count + 1, etapr.CHAIN_COLUMNS), dtype=np.intp),
        tally,
        sums,
    )
    recall, precision = sums
    if theta_p <= 0:  # then a run needs no event to be worth one half
        precision += (runs.roots - sweep.sum_between(runs, np.sqrt(runs.lengths))) / 2
    recall /= sweep.event_count
    recall[runs.counts == 0] = 0.0
    return ratio(precision, runs.roots), recall


def _by_level(levels: NDArray[np.intc], count: int) -> tuple[NDArray[np.intc], NDArray[np.intc]]:
    """Return what has levels in the order of these, the highest first, and where each ends; level 0 is left out."""
    order, ends = np.empty(len(levels), dtype=np.intc), np.zeros(count + 1, dtype=np.intc)
    return order[: points_by_level(levels, ends, order)], ends


def _tapr(match: Match, alpha: float, theta: float, delta: int) -> PrecisionRecall:
    return at_one_threshold(_tapr_sweep, match, alpha=alpha, theta=theta, delta=delta)


def _tapr_sweep(sweep: Sweep, alpha: float, theta: float, delta: int) -> tuple[FloatArray, FloatArray]:
    zones = sweep.labelled.once(("tapr", delta), lambda: _zones(sweep.labelled, delta))
    found, shares = _run_shares(sweep, zones)
    detected = sweep.sum_between(found, shares >= theta) if theta > 0 else found.counts
    precisions = [ratio(summed, found.counts) for summed in (detected, sweep.sum_between(found, shares))]
    recalls = _covered_sweep(sweep, zones, theta)
    precision, recall = (_weighted(enough, covered, alpha) for enough, covered in (precisions, recalls))
    recall[found.counts == 0] = 0.0
    return precision, recall


def _weighted(enough: FloatArray, covered: FloatArray, alpha: float) -> FloatArray:
    """Return the share of what is covered enough, and how much is, as these count; they are written over."""
    enough *= alpha
    covered *= 1 - alpha
    enough += covered
    return enough


def _run_shares(sweep: Sweep, zones: _Zones) -> tuple[Runs, FloatArray]:
    """Return the runs that touch an event or a zone, and how much of each counts."""
    if zones.before is None:
        found = sweep.runs
        return found, found.labelled / found.lengths
    found = sweep.runs_touching(zones.stops_apart)
    partly = (zones.before[found.stops] - zones.before[found.starts]) / sweep.point_scale
    return found, (found.labelled + partly) / found.lengths


def _covered_sweep(sweep: Sweep, zones: _Zones, theta: float) -> tuple[FloatArray, FloatArray]:
    """Return the share of events that are covered enough, and the mean share covered."""
    events = sweep.labelled.events
    groups = sweep.groups(events.starts, zones.stops) if len(zones.counts) else sweep.events
    scale, worths = sweep.point_scale, sweep.tallies(2)
    tally_covered(
        groups.points,
        groups.shifts,
        events.starts,
        events.stops,
        zones.stops,
        zones.counts,
        groups.ends,
        groups.own,
        groups.levels,
        groups.tally(2, np.longlong),
        theta,
        scale,
        worths,
    )
    covered, enough = sweep.sums(worths, scale, 1.0)
    covered /= sweep.event_count
    if theta <= 0:  # then all are covered enough, always
        enough += sweep.event_count
    enough /= sweep.event_count
    return enough, covered


@dataclass(frozen=True, slots=True, eq=False)
class _Zones:
    """The ambiguous zones after events, whose points count less and less.

    Attributes
    ----------
    stops : array of int
        Where the zone of each event ends; it begins where the event ends.
    counts : array of int
        What each point of a zone counts, of one zone after the other, times `fixed_point` of the number of points.
    stops_apart : array of int
        Where zones end where runs are kept apart.
    before : array of int, or None
        What all points before a point count, where runs are kept apart; None if there is no zone.
    """

    stops: IntArray
    counts: Tally
    stops_apart: IntArray
    before: Tally | None


def _zones(labelled: Labelled, delta: int) -> _Zones:
    events = labelled.events
    starts = events.stops
    ends = starts + min(delta, 2**62)
    # As published: a zone is shortened only if it ends behind the start of the next event, not if it ends there.
    following = np.append(events.starts[1:], events.length)
    following = np.where(following < labelled.end, following, np.iinfo(np.intp).max)
    ends = np.where(ends > following, following - 1, ends)
    # Nothing is detected beyond the end of the series.
    sizes = np.where(starts < ends, np.minimum(ends, labelled.end - 1) - starts + 1, 0)
    owner = np.repeat(np.arange(len(events)), sizes)
    offset = np.arange(len(owner)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    # In whole numbers up to the division, so that equal places are equal floats, in zones of any length.
    last = (ends - starts)[owner]
    counts = _partial_counts((2 * offset - last) / last, labelled.most_points)
    if not len(counts):
        return _Zones(events.stops, counts, events.stops, None)
    points, lasts = (labelled.apart(at) for at in (starts[owner] + offset, starts + sizes - 1))
    before = np.zeros(events.length + len(labelled.breaks) + 1, dtype=np.longlong)
    before[points + 1] = counts
    return _Zones(starts + sizes, counts, lasts + 1, np.cumsum(before))


def _partial_counts(places: FloatArray, length: int) -> Tally:
    """Return what points count that lie at places from -1 to 1 in their zones: 1 / (1 + exp(6 * place)).

    Two points as far on either side of the middle of their zones count exactly 1 together. So each counts one half,
    more or less the same amount.
    """
    half = fixed_point(length) / 2
    # Whole numbers before they are subtracted: a difference of floats would be rounded.
    return round(half) - np.rint(np.tanh(3 * places) * half).astype(np.longlong)


@metric(
    label="eTaF",
    takes="detections",
    compute=_etapr,
    at_every_level=_etapr_sweep,
    joined=at_best(_etapr_sweep),
    checks=_ETAPR_CHECKS,
    citation="Hwang et al. 2022",
    same_as="the eTaPR package with theta_p 0.5 and theta_r 0.01 (its own default for theta_r is 0.1)",
    cost=0.07,
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
    at_every_level=_tapr_sweep,
    joined=at_best(_tapr_sweep),
    checks=_TAPR_CHECKS,
    citation="Hwang et al. 2019",
    same_as="TaPR with alpha 0.5, theta 0.5, delta 0 (its command line has 0.8, 0.5, 600)",
    cost=0.08,
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
