"""TSB-AD: its nine numbers, faster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from dqeval.core import arguments, validate
from dqeval.core.matching import Match, harmonic
from dqeval.core.prepared import Labelled, Scored
from dqeval.core.registry import METRICS
from dqeval.core.thresholds import above_evenly_spaced
from dqeval.core.types import Numbers
from dqeval.core.validate import UndefinedError

__all__ = ["get_metrics"]

_CALLED = validate.Called("labels", "score", "pred", first="score", for_scores="for real-valued scores leave pred out")


def get_metrics(
    score: Numbers,
    labels: Numbers,
    slidingWindow: int = 100,  # noqa: N803  # the name that callers use
    pred: Numbers | None = None,
    version: Literal["opt", "opt_mem"] = "opt",
    thre: int = 250,
) -> dict[str, float]:
    """Return what ``TSB_AD.evaluation.metrics.get_metrics`` returns, for the same arguments, in the same order.

    Parameters
    ----------
    score : array-like of numbers, shape (n,)
        The detector's scores: the larger, the more anomalous. They come first, as in TSB-AD.
    labels : array-like of 0 and 1, shape (n,)
        1 marks an anomaly. Booleans will do, too.
    slidingWindow : int, default 100
        The largest window of VUS, in points.
    pred : array-like of 0 and 1, shape (n,), optional
        Detections, for the five metrics of detections. If not given, those are the best over thresholds.
    version : "opt" or "opt_mem", default "opt"
        Both give the same numbers, there and here.
    thre : int, default 250
        How many thresholds VUS has.

    Returns
    -------
    dict of str to float
        ``AUC-PR``, ``AUC-ROC``, ``VUS-PR``, ``VUS-ROC``, ``Standard-F1``, ``PA-F1``, ``Event-based-F1``,
        ``R-based-F1`` and ``Affiliation-F``.

    Raises
    ------
    ValueError
        If scores are not finite, or labels hold anything but 0 and 1.
    UndefinedError
        If there is no anomaly, or no normal point.

    Notes
    -----
    Equal to TSB-AD 1.5 to 1e-9, its slips included, with one exception: where nothing is detected, ``Affiliation-F`` is
    0 and not NaN. The functions of `dqeval.metrics` have none of the slips.

    Examples
    --------
    >>> labels, scores = [0, 0, 1, 1, 0, 0, 1, 0], [1, 2, 9, 8, 3, 1, 2, 1]
    >>> found = dqeval.adapters.tsb_ad.get_metrics(scores, labels, slidingWindow=2)
    >>> {name: round(value, 3) for name, value in found.items()}  # doctest: +NORMALIZE_WHITESPACE
    {'AUC-PR': 0.867, 'AUC-ROC': 0.9, 'VUS-PR': 0.797, 'VUS-ROC': 0.846, 'Standard-F1': 0.8, 'PA-F1': 0.8,
     'Event-based-F1': 0.75, 'R-based-F1': 0.857, 'Affiliation-F': 0.919}
    """
    window = arguments.whole_number("slidingWindow", slidingWindow, least=0, most=validate.MOST_WINDOW)
    thresholds = arguments.whole_number("thre", thre, least=2, most=validate.MOST_THRESHOLDS)
    arguments.one_of("version", version, ("opt", "opt_mem"))
    truth, raw = validate.labels_and_raw_scores(labels, score, called=_CALLED)
    if truth.all() or not truth.any():
        what = "normal point (every value is 1)" if truth.any() else "anomaly (no value is 1)"
        raise UndefinedError(f"labels has no {what}, so the numbers are undefined")
    labelled = Labelled(truth)
    scored = Scored(labelled, raw)
    if pred is None:
        found = _best_of_detections(scored)
    else:
        match = Match(labelled, validate.labels_and_detections(labels, pred, called=_CALLED)[1])
        found = {"Standard-F1": _f1("point_f1", match), **{name: of(match) for name, of in _OF_DETECTIONS.items()}}
    vus = {"window": window, "thresholds": thresholds}
    return {
        "AUC-PR": METRICS["auc_pr"].compute(scored),
        "AUC-ROC": METRICS["auc_roc"].compute(scored),
        "VUS-PR": METRICS["vus_pr"].compute(scored, **vus),
        "VUS-ROC": METRICS["vus_roc"].compute(scored, **vus),
        **found,
    }


def _best_of_detections(scored: Scored) -> dict[str, float]:
    """Return the best over thresholds of the metrics of detections."""
    best = {"Standard-F1": _standard_f1(scored), **dict.fromkeys(_OF_DETECTIONS, 0.0)}
    for flags in above_evenly_spaced(scored.threshold_scores, 100):
        match = Match(scored.labelled, flags)
        for name, of in _OF_DETECTIONS.items():
            best[name] = max(best[name], of(match))
    return best


def _standard_f1(scored: Scored) -> float:
    hits, detected = scored.distinct.hits, scored.distinct.detected
    precision, recall = hits / detected, hits / hits[-1]
    # Differs from point_f1: the constant is TSB-AD's. A perfect detector has 0.999995.
    return float((2 * precision * recall / (precision + recall + 0.00001)).max())


def _pa_f1(match: Match) -> float:
    hits = float(match.labelled.lengths[match.covered > 0].sum())
    # Differs from point_adjusted_f1: TSB-AD does not fill the first point of the series.
    if match.labelled.labels[0] and match.covered[0] > 0 and not match.flags[0]:
        hits -= 1
    alarms = match.found_lengths.sum() - match.covered.sum()
    return harmonic(hits / (hits + alarms) if hits else 0.0, hits / match.labelled.lengths.sum()).f1


def _event_f1(match: Match) -> float:
    hit = match.covered > 0
    # Differs from the definition: of an event that the series ends with, TSB-AD does not look at the last point.
    if match.labelled.labels[-1] and match.flags[-1] and match.covered[-1] == 1:
        hit[-1] = False
    detected = match.found_lengths.sum()
    return harmonic(match.covered.sum() / detected if detected else 0.0, hit.mean()).f1


def _range_f1(match: Match) -> float:
    # Differs from range_f1: TSB-AD sees no event where every point is detected.
    return 0.0 if match.flags.all() else _f1("range_f1", match)


def _affiliation_f(match: Match) -> float:
    return _f1("affiliation_f1", match)


def _f1(metric: str, match: Match) -> float:
    return float(METRICS[metric].compute(match, **METRICS[metric].defaults).f1)


_OF_DETECTIONS: dict[str, Callable[[Match], float]] = {
    "PA-F1": _pa_f1,
    "Event-based-F1": _event_f1,
    "R-based-F1": _range_f1,
    "Affiliation-F": _affiliation_f,
}
