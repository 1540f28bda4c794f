"""Darts: anomaly scores and labels as TimeSeries, aligned by time."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dqeval.analysis.evaluate import evaluate
from dqeval.analysis.metric_function import MetricFunction
from dqeval.analysis.timed_result import TimedResult, with_notes
from dqeval.core.durations import Length
from dqeval.core.events import find_events
from dqeval.core.sampling import Clock
from dqeval.core.types import BoolArray
from dqeval.core.validate import Undefined, caller_level
from dqeval.render.tables import count_of
from dqeval.support import extras

__all__ = ["eval_metric_from_scores", "evaluate_series"]


def evaluate_series(
    anomalies: Any,
    pred_scores: Any,
    *,
    near: Length | None = None,
    period: Length | None = None,
    resolution: Length | None = None,
    max_gap: Length | None = None,
    thresholds: int | Literal["exact"] = 100,
    undefined: Undefined = "raise",
) -> TimedResult:
    """Evaluate the scores of an anomaly scorer over all thresholds, event by event.

    Parameters
    ----------
    anomalies : darts.TimeSeries
        The labels, of one component: 1 marks an anomaly, 0 a normal point.
    pred_scores : darts.TimeSeries
        The scores, of one component: the larger, the more anomalous. Only times that both have are evaluated.
    near : float, str or timedelta, optional
        How many points before and after an event a detection still is a near miss; 0 for none, "2ev" for twice the
        median length of an event, or a duration such as "10min".
    period : float, str or timedelta, optional
        The period of the series, in points or as a duration; ``near`` is then half of it. With neither, it is 125.
    resolution : str, timedelta or number, optional
        The length of a cell in which time is counted; the median step of the times by default.
    max_gap : int, str or timedelta, default 3
        Over how many cells without a sample, or how long, the one before stands for them. What is missing longer was
        not observed.
    thresholds : int or "exact", default 100
        The number of thresholds to average over, or "exact" for the integral over all of them.
    undefined : "raise" or "nan", default "raise"
        What to do if there is no anomaly at the times that both have: raise `dqeval.UndefinedError`, or return NaN with
        a warning.

    Returns
    -------
    TimedResult
        ``notes`` says what was left out, and which events are cut by that.

    Examples
    --------
    >>> from darts import TimeSeries
    >>> labels = TimeSeries.from_values(np.array([0.0, 0, 0, 1, 1, 0, 0, 0]))
    >>> found = evaluate_series(labels, TimeSeries.from_values(np.array([0.0, 0, 0, 9, 1, 0])), near=2)
    >>> found.dqe, found.notes
    (1.0, ('2 of 8 labels have no score, and are left out',))
    """
    both = _aligned(anomalies, pred_scores)
    found = evaluate(
        both.labels,
        both.scores,
        near=near,
        period=period,
        times=both.times,
        resolution=resolution,
        max_gap=max_gap,
        thresholds=thresholds,
        undefined=undefined,
    )
    assert isinstance(found, TimedResult)
    return with_notes(found, (*both.left_out, *both.lost_events))


def eval_metric_from_scores(
    anomalies: Any,
    pred_scores: Any,
    *,
    metric: str = "dqe",
    near: Length | None = None,
    period: Length | None = None,
    resolution: Length | None = None,
    max_gap: Length | None = None,
    undefined: Undefined = "raise",
    **parameters: Any,
) -> Any:
    """Return a metric of anomaly scores, as the function of this name in ``darts.ad.utils`` does.

    Parameters
    ----------
    anomalies : darts.TimeSeries or sequence of darts.TimeSeries
        The labels: 1 marks an anomaly, 0 a normal point. A single series holds for all scores.
    pred_scores : darts.TimeSeries or sequence of darts.TimeSeries
        The scores: the larger, the more anomalous. They have the components of the labels, or the labels have one.
    metric : str, default "dqe"
        The name of a metric: ``dqeval metrics`` lists them. A metric of detections is the best over thresholds.
    near : float, str or timedelta, optional
        How many points before and after an event a detection still is a near miss; 0 for none, "2ev" for twice the
        median length of an event, or a duration such as "10min".
    period : float, str or timedelta, optional
        The period of the series, in points or as a duration; ``near`` is then half of it. With neither, it is 125.
    resolution : str, timedelta or number, optional
        The length of a cell in which time is counted; the median step of the times by default.
    max_gap : int, str or timedelta, default 3
        Over how many cells without a sample, or how long, the one before stands for them. What is missing longer was
        not observed.
    undefined : "raise" or "nan", default "raise"
        What to do if there is no anomaly: raise `dqeval.UndefinedError`, or return NaN with a warning.
    **parameters
        The parameters of the metric, such as ``profile`` of ``nab_score``; the others keep their defaults.

    Returns
    -------
    float, list of float, or list of list of float
        A number for a series of one component, a list with one for each component otherwise; for a sequence of series,
        a list with what each gives.

    Warns
    -----
    UserWarning
        If an event, or a part of one, is left out because it has no score. `evaluate_series` lists everything else that
        is left out, too.

    Examples
    --------
    >>> from darts import TimeSeries
    >>> labels = TimeSeries.from_values(np.array([0.0, 0, 0, 1, 1, 0, 0, 0]))
    >>> scores = TimeSeries.from_values(np.array([0.0, 0, 0, 9, 1, 0, 0, 0]))
    >>> eval_metric_from_scores(labels, [scores, scores], metric="auc_pr")
    [1.0, 1.0]
    """
    function = MetricFunction(metric, near, period, undefined, parameters, on_clock=True)
    if not isinstance(pred_scores, Sequence):
        return _by_component(function, anomalies, pred_scores, resolution, max_gap)
    labels = list(anomalies) if isinstance(anomalies, Sequence) else [anomalies] * len(pred_scores)
    if len(labels) != len(pred_scores):
        raise ValueError(f"there must be labels for each of the {len(pred_scores):,} scores: got {len(labels):,}")
    return [_by_component(function, *pair, resolution, max_gap) for pair in zip(labels, pred_scores, strict=True)]


def _by_component(
    function: MetricFunction, anomalies: Any, pred_scores: Any, resolution: Length | None, max_gap: Length | None
) -> float | list[float]:
    """Return the metric of each component; of the only one as a number."""
    _check(anomalies=anomalies, pred_scores=pred_scores)
    wanted = pred_scores.n_components
    if anomalies.n_components not in (1, wanted):
        raise ValueError(f"anomalies must have 1 component, or {wanted} as the scores: got {anomalies.n_components}")
    found = []
    for i in range(wanted):
        labels = anomalies.univariate_component(i if anomalies.n_components > 1 else 0)
        both = _aligned(labels, pred_scores.univariate_component(i))
        for note in both.lost_events:
            warnings.warn(note, stacklevel=caller_level())
        found.append(function(both.labels, both.scores, clock=Clock(both.times, resolution, max_gap)))
    return found[0] if wanted == 1 else found


def _check(**series: Any) -> None:
    darts = extras.require("darts", "darts")
    for name, given in series.items():
        if not isinstance(given, darts.TimeSeries):
            raise ValueError(f"{name} must be a TimeSeries of Darts: got {type(given).__name__}")
        if not given.is_deterministic:
            raise ValueError(f"{name} must have one sample per time: got {given.n_samples:,}; take their mean() first")


@dataclass(frozen=True, slots=True)
class _Aligned:
    """Labels and scores at the times that both have, these times, and what that leaves out, in words."""

    labels: Any
    scores: Any
    times: Any
    left_out: tuple[str, ...]
    lost_events: tuple[str, ...]


def _aligned(anomalies: Any, pred_scores: Any) -> _Aligned:
    """Return labels and scores at the times that both have."""
    given = {"anomalies": anomalies, "pred_scores": pred_scores}
    _check(**given)
    for name, series in given.items():
        if series.n_components != 1:
            raise ValueError(f"{name} must have one component: got {series.n_components:,}; choose one of them")
    indexes = [series.time_index for series in given.values()]
    if indexes[0].dtype.kind != indexes[1].dtype.kind:
        raise ValueError("anomalies and pred_scores must both have dates, or both numbers, as their times")
    times = indexes[0].intersection(indexes[1])
    if not len(times):
        spans = [f"{index[0]} to {index[-1]}" for index in indexes]
        raise ValueError(f"no time is in both: anomalies are from {spans[0]}, pred_scores from {spans[1]}")
    labels, scores = (series.values()[:, 0] for series in given.values())
    others = ("label", "score"), ("score", "label")
    left_out = tuple(
        f"{len(index) - len(times):,} of {count_of(len(index), what)} have no {other}, and are left out"
        for index, (what, other) in zip(indexes, others, strict=True)
        if len(index) > len(times)
    )
    lost = tuple(_lost_events(labels == 1, np.asarray(indexes[0].isin(times))))
    labels, scores = labels[indexes[0].get_indexer(times)], scores[indexes[1].get_indexer(times)]
    return _Aligned(labels, scores, times, left_out, lost)


def _lost_events(labels: BoolArray, is_kept: BoolArray) -> Iterator[str]:
    """Say how many events are left out, and how many are cut, where only some points are kept."""
    events, kept = find_events(labels), np.concatenate([[0], np.cumsum(is_kept)])
    points = kept[events.stops] - kept[events.starts]
    every = count_of(len(events), "event")
    if missed := np.count_nonzero(points == 0):
        yield f"{missed:,} of {every} left out, as there is no score"
    if cut := np.count_nonzero((points > 0) & (points < events.stops - events.starts)):
        yield f"{cut:,} of {every} cut, as there is no score for a part"
