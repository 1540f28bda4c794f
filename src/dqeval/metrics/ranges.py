"""Range-based precision and recall: events against events."""

from __future__ import annotations

import numpy as np

from dqeval.core import arguments
from dqeval.core.arguments import Check
from dqeval.core.joined import at_best
from dqeval.core.matching import Match, harmonic, parts_of
from dqeval.core.registry import metric
from dqeval.core.sweep import Sweep, ratio
from dqeval.core.types import FloatArray, IntArray, Numbers, PrecisionRecall
from dqeval.core.validate import Undefined
from dqeval.kernels.covered import tally_range_recall

_CHECKS: dict[str, Check] = {"alpha": arguments.share}


def _range(match: Match, alpha: float) -> PrecisionRecall:
    labelled, detected, _ = match.pairs
    recall = _coverage(match.covered, match.labelled.lengths, labelled, alpha)
    precision = _coverage(match.found_covered, match.found_lengths, detected, 0.0) if len(match.found) else 0.0
    return harmonic(precision, recall)


def _coverage(covered: FloatArray, lengths: IntArray, partners: IntArray, alpha: float) -> float:
    """Return the mean over events of alpha for being hit, and the rest for the covered share by number of pieces."""
    pieces = np.bincount(partners, minlength=len(lengths))
    hit = pieces > 0
    scores = alpha + (1 - alpha) * (covered[hit] / lengths[hit] / pieces[hit])
    return float(scores.sum() / len(lengths))


def _range_sweep(sweep: Sweep, alpha: float) -> tuple[FloatArray, FloatArray]:
    found = sweep.runs
    scores = found.labelled / found.lengths / (found.behinds - found.firsts)
    return ratio(sweep.sum_between(found, scores), found.counts), _recall_sweep(sweep, alpha)


def _recall_sweep(sweep: Sweep, alpha: float) -> FloatArray:
    events, groups = sweep.labelled.events, sweep.events
    scale, worths = sweep.event_scale, sweep.tallies(1)
    tally_range_recall(
        groups.points,
        groups.shifts,
        events.starts,
        events.stops,
        groups.ends,
        groups.own,
        groups.levels,
        groups.tally(2),
        alpha,
        scale,
        worths,
    )
    recall = sweep.sums(worths, scale)[0]
    recall /= sweep.event_count
    return np.asarray(recall)


@metric(
    label="RF",
    takes="detections",
    compute=_range,
    at_every_level=_range_sweep,
    joined=at_best(_range_sweep),
    checks=_CHECKS,
    citation="Tatbul et al. 2018",
    same_as="prts with alpha 0.2 for recall and 0 for precision, flat bias, reciprocal cardinality; TSB-AD",
    cost=0.07,
)
def range_f1(y_true: Numbers, y_pred: Numbers, *, alpha: float = 0.2, undefined: Undefined = "raise") -> float:
    """Range-based F: how much of each event is covered, and in how few pieces, both ways.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    alpha : float, default 0.2
        What being hit at all counts in the recall of an event, from 0 to 1; coverage counts the rest. In precision
        it is 0.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly.

    Returns
    -------
    float
        From 0 to 1; 0 without a detection.

    Notes
    -----
    Flat positional bias; an event covered in x pieces gets 1/x of its coverage.

    Examples
    --------
    >>> dqeval.metrics.range_f1([0, 1, 1, 1, 1, 0], [0, 1, 1, 0, 0, 0], alpha=0)
    0.6666666666666666
    """
    return range_parts(y_true, y_pred, alpha=alpha, undefined=undefined).f1


def range_parts(
    y_true: Numbers, y_pred: Numbers, *, alpha: float = 0.2, undefined: Undefined = "raise"
) -> PrecisionRecall:
    """Range-based precision and recall, with `range_f1`.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    alpha : float, default 0.2
        What being hit at all counts in the recall of an event, from 0 to 1; coverage counts the rest. In precision
        it is 0.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly.

    Returns
    -------
    PrecisionRecall
        ``precision``, ``recall``, and ``f1``, their harmonic mean; all from 0 to 1.

    Examples
    --------
    >>> parts = dqeval.metrics.range_parts([0, 1, 1, 1, 1, 0], [0, 1, 1, 0, 0, 1], alpha=0)
    >>> round(parts.precision, 3), round(parts.recall, 3)
    (0.5, 0.5)
    """
    return parts_of(_range, y_true, y_pred, undefined, **arguments.checked(_CHECKS, alpha=alpha))
