"""The best threshold of some scores for a metric of detections."""

from __future__ import annotations

import inspect
from functools import partial
from typing import Any, Literal

import numpy as np

from dqeval.analysis.panel_result import BestThreshold, MetricError
from dqeval.core import arguments, validate
from dqeval.core import thresholds as sweeping
from dqeval.core.entries import Metric
from dqeval.core.matching import Match, or_undefined
from dqeval.core.metric_choice import metric_of
from dqeval.core.prepared import Labelled, Scored
from dqeval.core.registry import METRICS
from dqeval.core.sweep import sweep_of
from dqeval.core.types import Numbers
from dqeval.core.validate import Undefined, UndefinedError


def best_threshold(
    metric: str,
    y_true: Numbers,
    y_score: Numbers,
    *,
    thresholds: int | Literal["all"] | None = None,
    undefined: Undefined = "raise",
    **parameters: Any,
) -> BestThreshold:
    """Return the value of a metric of detections at its best threshold of some scores, and that threshold.

    Parameters
    ----------
    metric : str
        The name of a metric of detections: ``dqeval metrics`` lists them.
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_score : array-like of numbers, shape (n,)
        The larger, the more anomalous.
    thresholds : int or "all", optional
        How many, evenly spaced from the lowest score to the highest; or every distinct score, which takes long for many
        only with a metric of your own. If not given, every distinct score for ``point_f1`` and ``nab_score``, 100 for
        the others.
    undefined : "raise" or "nan", default "raise"
        What to do if the metric is undefined, as where ``y_true`` has no anomaly: raise `UndefinedError`, or return NaN
        with a warning.
    **parameters
        The parameters of the metric, such as ``k`` of ``point_adjusted_k_f1``; the others keep their defaults.

    Returns
    -------
    BestThreshold

    Notes
    -----
    The best threshold is the one with the highest value: from 0 to 1 for most metrics, up to 100 for ``nab_score``. To
    detect nothing is worth 0, so no value is lower. ``adtqc`` is not maximised: it is taken where
    ``event_corrected_f05`` is best.

    With a number of thresholds, detected is what lies strictly above one, as in the paper's code. In either case the
    points with ``y_score >= threshold`` are those detected. The thresholds are spread over scores that are scaled to
    0 … 1, but the one that is returned is on the scale of ``y_score``: it is the number with the
    fewest digits that lies above the highest score not detected, and not above the lowest score that is.

    Examples
    --------
    >>> best = dqeval.best_threshold("point_f1", [0, 0, 1, 1, 0], [1, 3, 9, 8, 5])
    >>> best.value, best.threshold
    (1.0, 8.0)
    """
    chosen = metric_of(arguments.text("metric", metric))
    if chosen.takes != "detections":
        detecting = ", ".join(m.name for m in METRICS if m.takes == "detections")
        raise ValueError(f"{metric} takes scores and needs no threshold; those that do are {detecting}")
    count = chosen.sweep if thresholds is None else validate.sweep_thresholds(thresholds)
    labels, raw = validate.labels_and_raw_scores(y_true, y_score)
    scored = Scored(Labelled(labels), raw)
    checked = _checked_parameters(chosen, parameters)
    nothing = BestThreshold(np.nan, np.nan, np.nan, np.nan)
    if not validate.check_defined(scored.events, undefined):
        return nothing
    find = partial(best_of, chosen, scored, count, {**chosen.defaults, **checked})
    return or_undefined(nothing, lambda: as_threshold(find()), undefined)


def _checked_parameters(metric: Metric, given: dict[str, Any]) -> dict[str, Any]:
    """Return parameters of a metric as they are computed with; what it does not know, or needs, is an error."""
    try:
        inspect.signature(metric.function).bind("y_true", "y_pred", **given)
    except TypeError as error:
        raise TypeError(f"{metric.name} {error}") from None
    return arguments.checked(metric.checks, **given)


def best_of(
    metric: Metric, scored: Scored, thresholds: int | Literal["all"], parameters: dict[str, Any]
) -> sweeping.Best:
    """Return a metric at its best threshold, or at that of another metric, if it is not searched for."""
    if metric.threshold_of is not None:
        other = METRICS[metric.threshold_of]
        return at_other_best(metric, scored, best_of(other, scored, thresholds, dict(other.defaults)), parameters)
    if metric.at_every_level is not None:
        sweep = sweep_of(scored, thresholds)
        try:
            found = metric.at_every_level(sweep, **parameters)
        except (UndefinedError, MemoryError):
            raise
        except Exception as error:  # of anyone's function
            raise MetricError(metric.name, error) from error
        return sweeping.best_in_sweep(sweep, found)
    search = sweeping.Search(partial(metric.compute, **parameters))
    sweeping.search(scored, [search], thresholds)
    return search.found()


def at_other_best(metric: Metric, scored: Scored, best: sweeping.Best, parameters: dict[str, Any]) -> sweeping.Best:
    """Return a metric at the threshold that is best for another one."""
    if best.lowest is None:
        raise UndefinedError(f"no threshold is better for {metric.threshold_of} than to detect nothing")
    found = metric.compute(Match(scored.labelled, scored.raw >= best.lowest), **parameters)
    return sweeping.Best(found, best.lowest, best.below)


def as_threshold(found: sweeping.Best) -> BestThreshold:
    """Return what was found, with the threshold on the scale of the scores."""
    threshold = np.inf
    if found.lowest is not None:
        threshold = sweeping.shortest_threshold(np.array([found.below, found.lowest]), found.lowest)
    return BestThreshold(found.parts.value, threshold, found.parts.precision, found.parts.recall)
