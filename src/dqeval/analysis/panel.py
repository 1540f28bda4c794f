"""Every metric on the same validated input."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from threading import Lock
from typing import Any, Literal, TypeVar

import numpy as np

from dqeval.analysis.best_threshold import as_threshold, at_other_best
from dqeval.analysis.panel_result import BestThreshold, Chance, Evaluation, MetricError
from dqeval.analysis.timed_result import on_clock
from dqeval.core import arguments, validate
from dqeval.core import thresholds as sweeping
from dqeval.core.durations import Length
from dqeval.core.entries import Metric
from dqeval.core.matching import Match
from dqeval.core.metric_choice import chosen_metrics
from dqeval.core.prepared import Labelled, Scored, points_of
from dqeval.core.registry import METRICS
from dqeval.core.sampling import NO_CLOCK, Clock
from dqeval.core.sweep import ScoreSweep, sweep_of
from dqeval.core.types import DQEResult, FloatArray, Numbers
from dqeval.core.validate import Undefined, UndefinedError
from dqeval.support.on_demand import once
from dqeval.support.threads import in_order, worker_count

Found = TypeVar("Found")

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
        at most one of ``near``, ``period`` and ``values``; with none of them, ``near`` is 125.
    times : array-like, shape (n,), optional
        When each point is, in ascending order: dates of any kind, or numbers. Then time is counted in cells: a cell has
        the highest score of the samples in it, and the result knows when events were.
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
    return _Run(scored, near, validate.thresholds(thresholds), _chosen(metrics), given=parameters).complete()


def value_of_metric(metric: Metric, scored: Scored, near: float, parameters: Mapping[str, Any]) -> float:
    """Return what `panel` says of one metric, without anything around it; errors are those of the metric."""
    why = validate.why_undefined(scored.events, needs_normal=metric.needs_normal)
    if why is not None:
        raise UndefinedError(why)
    run = _Run(scored, near, 100, [metric], given={metric.name: parameters})
    return run.value(metric, run.parameters_of(metric))


@dataclass(frozen=True, slots=True)
class PanelAndErrors:
    """What the metrics of a panel say, and what went wrong, by metric."""

    evaluation: Evaluation
    errors: dict[str, Exception]


def panel_and_errors(
    y_true: Numbers,
    y_score: Numbers,
    *,
    near: Length | None = None,
    period: Length | None = None,
    metrics: Sequence[str] | str | None = None,
    undefined: Undefined = "raise",
) -> PanelAndErrors:
    """Return what `panel` does, and what went wrong, by metric, where the values of the others are still wanted."""
    run = _started(y_true, y_score, near, period, None, NO_CLOCK, 100, undefined, _chosen(metrics))
    errors: dict[str, Exception] = {}
    for metric in run.metrics:
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
) -> _Run:
    """Validate the input, and return a panel without any metric yet."""
    count = validate.thresholds(thresholds)
    labels, raw = validate.labels_and_raw_scores(y_true, y_score)
    # A copy: the caller may change the labels later, and the chance level is computed from them then.
    points = points_of(y_true, labels.copy(), raw, near=near, period=period, values=values, clock=clock)
    validate.check_defined(points.labelled.events, undefined)
    return _Run(points.labelled.scored(points.found), points.near.points, count, metrics, points.notes)


def _chosen(metrics: Sequence[str] | str | None) -> list[Metric]:
    return [METRICS[name] for name in chosen_metrics(metrics)]


class _Run:
    """A panel while its metrics are computed."""

    def __init__(
        self,
        scored: Scored,
        near: float,
        thresholds: int | Literal["exact"],
        metrics: Sequence[Metric],
        notes: tuple[str, ...] = (),
        given: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self.scored, self.near, self.thresholds, self.metrics, self.notes = scored, near, thresholds, metrics, notes
        self.given = given or {}
        self.values: dict[str, float] = {}
        self.seconds: dict[str, float] = {}
        self.failures: dict[str, str] = {}
        self.parameters: dict[str, dict[str, Any]] = {}
        self.best: dict[str, BestThreshold] = {}
        self.labels: dict[str, str] = {}
        self.dqe: DQEResult | None = None
        self.sweeps: dict[int | Literal["all"], ScoreSweep] = {}
        self.searches: dict[str, sweeping.Search] = {}
        self.searching = Lock()

    def complete(self, workers: int = 1) -> Evaluation:
        """Compute every metric, by so many threads."""
        for _ in in_order(self.add, self.metrics, workers):
            pass
        return self.evaluation()

    def add(self, metric: Metric) -> None:
        """Compute a metric; NaN, with the reason, if it is undefined."""
        self.labels[metric.name] = metric.label
        self.parameters[metric.name] = {}
        self.values[metric.name] = np.nan
        began = time.perf_counter()
        why = validate.why_undefined(self.scored.events, needs_normal=metric.needs_normal)
        try:
            if why is None:
                self.parameters[metric.name] = self.parameters_of(metric)
                self.values[metric.name] = self.computed(metric)
        except UndefinedError as error:
            why = str(error)
        finally:
            passed = time.perf_counter() - began
            self.seconds[metric.name] = self.searches[metric.name].seconds if metric.name in self.searches else passed
        if why is not None:
            self.failures[metric.name] = f"undefined, because {why}"

    def parameters_of(self, metric: Metric) -> dict[str, Any]:
        """Return the metric's parameters; what it cannot be computed with is an error of the input."""
        try:
            parameters = metric.parameters(self.near, binary=self.scored.binary)
        except ValueError as error:
            raise ValueError(f"near {self.near:g} will not do for {metric.name}: {error}") from error
        of_panel = {"thresholds": self.thresholds} if metric.name == "dqe" else {}
        return {**parameters, **of_panel, **self.given.get(metric.name, {})}

    def computed(self, metric: Metric) -> float:
        """Return the metric's value; an error says which metric failed, unless it is undefined or memory is short."""
        try:
            return self.value(metric, self.parameters[metric.name])
        except (UndefinedError, MemoryError):
            raise
        except Exception as error:
            raise MetricError(metric.name, error) from error

    def value(self, metric: Metric, parameters: dict[str, Any]) -> float:
        """Return the metric's value: from the scores, from the detections, or the best over thresholds."""
        if metric.takes == "scores":
            found = metric.compute(self.scored, **parameters)
            if isinstance(found, DQEResult):
                self.dqe = on_clock(found, self.scored.labelled, self.notes)
                return found.dqe
            return float(found)
        if self.scored.binary:
            return float(metric.compute(Match(self.scored.labelled, self.scored.raw == 1), **parameters).value)
        self.best[metric.name] = as_threshold(self.best_of(metric, parameters))
        return self.best[metric.name].value

    def best_of(self, metric: Metric, parameters: dict[str, Any]) -> sweeping.Best:
        """Return the best of a metric over its thresholds; or what it is at that of another, if it has none."""
        if metric.threshold_of is not None:
            other = METRICS[metric.threshold_of]
            return at_other_best(metric, self.scored, self.best_of(other, self.parameters_of(other)), parameters)
        if metric.at_every_level is not None:
            sweep = once(self.sweeps, metric.sweep, lambda: sweep_of(self.scored, metric.sweep))
            return sweeping.best_in_sweep(sweep, metric.at_every_level(sweep, **parameters))
        return self.searched(metric).found()

    def searched(self, metric: Metric) -> sweeping.Search:
        """Return the search for a metric's best threshold: one pass for all that are sought among the same ones."""
        with self.searching:  # or two threads would search for the same metrics
            if metric.name not in self.searches:
                # A metric at the threshold of another may be the only one that asks for the other.
                likewise = {each.name: each for each in (*self.metrics, metric) if _searched_together(each, metric)}
                together = {name: sweeping.Search(self.with_parameters(each)) for name, each in likewise.items()}
                sweeping.search(self.scored, together.values(), metric.sweep)
                self.searches |= together
        return self.searches[metric.name]

    def with_parameters(self, metric: Metric) -> Callable[[Match], sweeping.Parts]:
        """Return a metric of what is detected; its parameters are made when it is first computed, and may fail then."""
        parameters = cache(partial(self.parameters_of, metric))
        return lambda match: metric.compute(match, **parameters())

    def evaluation(self) -> Evaluation:
        """Return what was computed."""
        detected = int(np.count_nonzero(self.scored.raw)) if self.scored.binary else None
        return Evaluation(
            values=self.arranged(self.values),
            seconds=self.arranged(self.seconds),
            failures=self.arranged(self.failures),
            parameters=self.arranged(self.parameters),
            best=self.arranged(self.best),
            near=self.near,
            binary=self.scored.binary,
            dqe=self.dqe,
            labels=self.arranged(self.labels),
            notes=self.notes,
            make_chance=partial(_chance, self.scored.labelled, detected, self.thresholds),
        )

    def arranged(self, found: dict[str, Found]) -> dict[str, Found]:
        """Return what was found in the order of the metrics; threads may find it in another one."""
        return {metric.name: found[metric.name] for metric in self.metrics if metric.name in found}


def _searched_together(one: Metric, other: Metric) -> bool:
    """Tell whether one metric is searched for the best of the same thresholds as another, which is."""
    needs_search = one.at_every_level is None and one.threshold_of is None
    return needs_search and (one.takes, one.sweep) == (other.takes, other.sweep)


MOST_CHANCE_LEVELS = 16
# The last ones: who tries one detector after the other on the same labels needs the same chance level each time.
_chance_levels: dict[Hashable, tuple[list[Metric], list[list[float]]]] = {}


def _random_rows(
    labelled: Labelled,
    detected: int | None,
    near: float,
    thresholds: int | Literal["exact"],
    metrics: Sequence[Metric],
    count: int,
    seed: int,
    progress: Callable[[int, int], None] | None,
    workers: int,
) -> list[list[float]]:
    """Return what the metrics say of random scores or detections, one row per repeat."""
    random = np.random.default_rng(seed)

    def work(scores: FloatArray) -> list[float]:
        if detected is not None:
            scores = (np.argsort(np.argsort(scores)) < detected).astype(float)
        run = _Run(Scored(labelled, scores, binary=detected is not None), near, thresholds, metrics)
        for metric in run.metrics:
            run.add(metric)
        return list(run.values.values())

    rows: list[list[float]] = []
    for row in in_order(work, (random.random(len(labelled.labels)) for _ in range(count)), workers):
        rows.append(row)
        if progress is not None:
            progress(len(rows), count)
    return rows


def _chance(
    labelled: Labelled,
    detected: int | None,
    thresholds: int | Literal["exact"],
    evaluation: Evaluation,
    repeats: int,
    seed: int,
    progress: Callable[[int, int], None] | None,
    workers: int | None,
) -> Chance:
    """Return the chance level: random scores, or as many random detections as there were."""
    count = arguments.whole_number("repeats", repeats, least=1, most=validate.MOST_COUNTED)
    start = arguments.seed(seed)
    arguments.callback("progress", progress)
    threads = worker_count(workers, points=len(labelled.labels))
    names = list(evaluation.values)
    metrics = [METRICS[name] for name in names]
    points = hashlib.sha256(labelled.labels.tobytes()).digest()
    key = (
        points,
        labelled.breaks.tobytes(),
        detected,
        evaluation.near,
        thresholds,
        tuple(map(id, metrics)),
        count,
        start,
    )
    if key not in _chance_levels:
        rows = _random_rows(labelled, detected, evaluation.near, thresholds, metrics, count, start, progress, threads)
        while len(_chance_levels) >= MOST_CHANCE_LEVELS:
            _chance_levels.pop(next(iter(_chance_levels)))
        _chance_levels[key] = metrics, rows  # with the metrics, so that no others get their ids
    elif progress is not None:
        for done in range(1, count + 1):
            progress(done, count)
    _, rows = _chance_levels[key]
    # A metric in a row of its own: its mean must not depend on how many others there are, not even in the last digit.
    columns = np.ascontiguousarray(np.transpose(rows))
    mean, spread = np.mean(columns, axis=1), np.std(columns, axis=1)
    return Chance(
        values=evaluation.values,
        mean=dict(zip(names, mean.tolist(), strict=True)),
        spread=dict(zip(names, spread.tolist(), strict=True)),
        repeats=repeats,
        labels=evaluation.labels,
    )
