"""Affiliation precision and recall: how near detections are to events, against random ones, zone by zone."""

from __future__ import annotations

import numpy as np

from dqeval.core.joined import at_best
from dqeval.core.matching import Match, parts_of
from dqeval.core.registry import metric
from dqeval.core.sweep import Sweep, at_one_threshold, ratio
from dqeval.core.types import FloatArray, Numbers, PrecisionRecall
from dqeval.core.validate import Undefined
from dqeval.kernels import affiliation as kernel


def _affiliation(match: Match) -> PrecisionRecall:
    return at_one_threshold(_affiliation_sweep, match)


def _affiliation_sweep(sweep: Sweep) -> tuple[FloatArray, FloatArray]:
    events, zones = sweep.labelled.events, sweep.labelled.zones
    groups = sweep.groups(np.floor(zones.left).astype(np.intp), np.ceil(zones.right).astype(np.intp))
    stack = np.empty((groups.ends - groups.firsts).max(), dtype=np.intp)
    scale = sweep.event_scale
    worths = sweep.tallies(kernel.WORTHS)
    kernel.tally_zones(
        groups.points,
        groups.shifts,
        events.starts,
        events.stops,
        zones.left,
        zones.right,
        groups.ends,
        groups.own,
        groups.levels,
        groups.tally(kernel.TALLY_COLUMNS, np.float64),
        stack,
        scale,
        worths,
    )
    hit, precision, recall = sweep.sums(worths, 1.0, scale, scale)
    recall /= sweep.event_count
    return ratio(precision, hit), recall


@metric(
    label="AF",
    takes="detections",
    compute=_affiliation,
    at_every_level=_affiliation_sweep,
    joined=at_best(_affiliation_sweep),
    citation="Huet et al. 2022",
    same_as="affiliation-metrics-py",
    cost=0.08,
)
def affiliation_f1(y_true: Numbers, y_pred: Numbers, *, undefined: Undefined = "raise") -> float:
    """Affiliation F: how near detections and events are to each other, compared with random points.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly.

    Returns
    -------
    float
        From 0 to 1; 0 without a detection. Noise scores high: see `dqeval.panel` for the chance level.

    Notes
    -----
    The zone of an event reaches to the midpoints between it and its neighbours, as the local regions of DQE do.

    Examples
    --------
    >>> dqeval.metrics.affiliation_f1([0, 0, 1, 1, 0, 0], [0, 0, 1, 1, 0, 0])
    1.0
    """
    return affiliation_parts(y_true, y_pred, undefined=undefined).f1


def affiliation_parts(y_true: Numbers, y_pred: Numbers, *, undefined: Undefined = "raise") -> PrecisionRecall:
    """Affiliation precision and recall, with `affiliation_f1`.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly.

    Returns
    -------
    PrecisionRecall
        ``precision``, ``recall``, and ``f1``, their harmonic mean; all from 0 to 1.

    Examples
    --------
    >>> parts = dqeval.metrics.affiliation_parts([0, 1, 1, 1, 1, 0], [0, 1, 1, 0, 0, 1])
    >>> round(parts.precision, 3), round(parts.recall, 3)
    (0.722, 0.917)
    """
    return parts_of(_affiliation, y_true, y_pred, undefined)
