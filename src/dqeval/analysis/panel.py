"""Every metric on the same validated input."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from dqeval.analysis.panel_result import Evaluation
from dqeval.analysis.panel_run import PanelRun, complete_together
from dqeval.core import validate
from dqeval.core.durations import Length
from dqeval.core.entries import Metric
from dqeval.core.joined import chunks
from dqeval.core.metric_choice import chosen_metrics
from dqeval.core.prepared import Scored, points_of
from dqeval.core.registry import METRICS
from dqeval.core.sampling import NO_CLOCK, Clock
from dqeval.core.types import FloatArray, Numbers
from dqeval.core.validate import Undefined, UndefinedError
from dqeval.support.threads import worker_count

THREADS_BY_DEFAULT = 2  # with which a panel takes less than 60 bytes per point


def panel(
    y_true: Numbers,
    y_score: Numbers,
    *,
    near: Length | None = None,
    period: Length | None = None,
    values: Numbers | None = None,
    times: Any = None,
    resolution: Length | None = None,
    max_gap: Length | None = None,
    metrics: Sequence[str] | str | None = None,
    thresholds: int | Literal["exact"] = 100,
    undefined: Undefined = "raise",
    workers: int | None = None,
) -> Evaluation:
    """Evaluate scores, or detections, with many metrics.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_score : array-like of numbers, shape (n,)
        The detector's scores, the larger, the more anomalous; or its detections: whatever holds only 0 and 1 is taken
        for detections.
    near : float, str or timedelta, optional
        How many points before and after an event a detection still is a near miss; 0 for none, "2ev" for twice the
        median length of an event, or with ``times`` a duration such as "10min". The windows
        and buffers of the other metrics follow from it as in the paper. For scores: VUS window the period, PATE buffers
        half of it. For detections: all of them the near range.
    period : float, str or timedelta, optional
        The period of the series, in points or as a duration; ``near`` is then half of it.
    values : array-like of numbers, shape (n,), optional
        The values of the series, to estimate the period from with `find_period`, which fills missing ones (NaN). Give
        at most one of ``near``, ``period`` and ``values``; with none of them, ``near`` is 125, or
        with times the median length of an event.
    times : array-like, shape (n,), optional
        When each point is, in ascending order: dates of any kind, or numbers. Then time is counted in cells: a cell has
        the highest score of the samples in it, and the result knows when events were.
        Pandas columns with an index of dates need none: durations, ``resolution`` and ``max_gap`` use the index.
    resolution : str, timedelta or number, optional
        The length of a cell, such as "1min", or in seconds; the median step of the times by default. DQE depends on it.
    max_gap : int, str or timedelta, default 3
        Over how many cells without a sample, or how long, the one before stands for them. What is missing longer was
        not observed: no region crosses it, and nothing in it is scored.
    metrics : sequence of str, or str, optional
        Which metrics: the name of a metric or of a group, or several of them. Groups are "all", "default", "paper",
        "tsb-ad", "events" and "timing"; ``dqeval metrics`` lists them. If not given, "default": those of the paper and
        some more.
    thresholds : int or "exact", default 100
        The number M of thresholds 1, 1 - 1/M, ..., 1/M that DQE alone is averaged over, or "exact" for its integral
        over all of them.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly: raise `UndefinedError`, or return NaN with a warning.
    workers : int, optional
        How many threads compute the metrics; 1 for none besides the caller's. If not given, two, where this process
        may use two cores: more gain little, because most metrics wait until the scores are sorted, and take more
        memory. Series of fewer than 20,000 points need none. The numbers do not depend on it.

    Returns
    -------
    Evaluation
        A metric of detections has, for scores, its best value over thresholds. A metric that is undefined where others
        are not is NaN, with the reason in ``failures``.

    Raises
    ------
    MetricError
        If a metric fails in any other way.

    Examples
    --------
    >>> series = dqeval.datasets.demo()
    >>> print(dqeval.panel(series.labels, series.scores["late"], period=48, metrics=["dqe", "auc_roc", "range_f1"]))
    metric   value  at threshold
    ----------------------------
    DQE      0.577
    AUC-ROC  0.660
    RF       0.438          0.22
    near 24
    """
    clock = Clock(times, resolution, max_gap)
    run = _started(y_true, y_score, near, period, values, clock, thresholds, undefined, _chosen(metrics))
    count = worker_count(workers, points=len(run.scored.raw))
    return run.complete(min(count, THREADS_BY_DEFAULT) if workers is None else count)


def panel_of(
    scored: Scored,
    near: float,
    *,
    metrics: Sequence[str] | str | None = None,
    thresholds: int | Literal["exact"] = 100,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
) -> Evaluation:
    """Return what `panel` does, of what is checked already; metrics may have parameters of their own, by name."""
    return PanelRun(scored, near, validate.thresholds(thresholds), _chosen(metrics), given=parameters).complete()


def panels_of(
    several: Sequence[tuple[Scored, float]],
    *,
    metrics: Sequence[str] | str | None = None,
    thresholds: int | Literal["exact"] = 100,
) -> list[Evaluation]:
    """Return the same for several scores, each with its near range: of short series, most is computed together."""
    return [run.complete() for run in started_together(several, metrics=metrics, thresholds=thresholds)]


def started_together(
    several: Sequence[tuple[Scored, float]],
    *,
    metrics: Sequence[str] | str | None,
    thresholds: int | Literal["exact"],
) -> list[PanelRun]:
    """Return the panels of several scores, with those metrics that take less time together."""
    count, chosen = validate.thresholds(thresholds), _chosen(metrics)
    runs = [PanelRun(scored, near, count, chosen) for scored, near in several]
    complete_together(runs)
    return runs


def value_of_metric(metric: Metric, scored: Scored, near: float, parameters: Mapping[str, Any]) -> float:
    """Return what `panel` says of one metric, without anything around it; errors are those of the metric."""
    why = validate.why_undefined(scored.events, needs_normal=metric.needs_normal)
    if why is not None:
        raise UndefinedError(why)
    run = PanelRun(scored, near, 100, [metric], given={metric.name: parameters})
    return run.value(metric, run.parameters_of(metric))


def values_of_metric(metric: Metric, several: Sequence[tuple[Scored, float]]) -> list[float | None]:
    """Return what a metric says of several short series, computed together; None where it must be asked one by one."""
    runs = [PanelRun(scored, near, 100, [metric]) for scored, near in several]
    complete_together(runs, detections=True)
    return [run.values.get(metric.name) for run in runs]


@dataclass(frozen=True, slots=True)
class PanelAndErrors:
    """What the metrics of a panel say, and what went wrong, by metric."""

    evaluation: Evaluation
    errors: dict[str, Exception]


@dataclass(frozen=True, slots=True)
class Unusable:
    """What is wrong with scores that cannot be used, where that was found, and after how many seconds."""

    error: str
    traceback: str
    seconds: float


def panels_and_errors(
    y_true: Numbers,
    several: Mapping[str, FloatArray],
    *,
    near: Length | None = None,
    metrics: Sequence[str] | str | None = None,
) -> Iterator[tuple[str, PanelAndErrors | Unusable]]:
    """Yield what `panel` does of each of several scores, and what went wrong, where what is right is still wanted.

    Metrics that are undefined are NaN, with a warning.
    """
    chosen = _chosen(metrics)
    for names in chunks(several, lambda name: len(several[name])):
        runs: dict[str, PanelRun] = {}
        wrong: dict[str, Unusable] = {}
        for name in names:
            began = time.perf_counter()
            try:
                runs[name] = _started(y_true, several[name], near, None, None, NO_CLOCK, 100, "nan", chosen)
            except ValueError as error:
                wrong[name] = Unusable(str(error), traceback.format_exc(), time.perf_counter() - began)
        complete_together(list(runs.values()))
        for name in names:
            yield name, wrong[name] if name in wrong else _with_errors(runs.pop(name))


def _with_errors(run: PanelRun) -> PanelAndErrors:
    """Compute what is missing in a panel, one metric after the other."""
    errors: dict[str, Exception] = {}
    for metric in run.missing:
        try:
            run.add(metric)
        except MemoryError:  # no fault of the metric: others would fail in the same way
            raise
        except Exception as error:
            errors[metric.name] = error
    return PanelAndErrors(run.evaluation(), errors)


def _started(
    y_true: Numbers,
    y_score: Numbers,
    near: Length | None,
    period: Length | None,
    values: Numbers | None,
    clock: Clock,
    thresholds: int | Literal["exact"],
    undefined: Undefined,
    metrics: Sequence[Metric],
) -> PanelRun:
    """Validate the input, and return a panel without any metric yet."""
    count = validate.thresholds(thresholds)
    labels, raw = validate.labels_and_raw_scores(y_true, y_score)
    # A copy: the caller may change the labels later, and the chance level is computed from them then.
    points = points_of(
        y_true, labels.copy(), raw, near=near, period=period, values=values, clock=clock, y_score=y_score
    )
    validate.check_defined(points.labelled.events, undefined)
    return PanelRun(points.labelled.scored(points.found), points.near.points, count, metrics, points.notes)


def _chosen(metrics: Sequence[str] | str | None) -> list[Metric]:
    return [METRICS[name] for name in chosen_metrics(metrics)]
