"""The metrics of a panel, one after the other: what they share is made once, also of several short series."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import cache, partial
from threading import Lock
from typing import Any, Literal, TypeVar

import numpy as np

from dqeval.analysis.best_threshold import as_threshold, at_other_best
from dqeval.analysis.chance import chance_of, drawn_like
from dqeval.analysis.panel_result import BestThreshold, Evaluation, MetricError
from dqeval.analysis.timed_result import on_clock
from dqeval.core import thresholds as sweeping
from dqeval.core import validate
from dqeval.core.entries import Metric
from dqeval.core.joined import MOST_LEVELS, Joined, likeness
from dqeval.core.matching import Match
from dqeval.core.prepared import Scored
from dqeval.core.registry import METRICS, PluginWarning
from dqeval.core.sweep import ScoreSweep, sweep_of
from dqeval.core.types import DQEResult
from dqeval.core.validate import UndefinedError
from dqeval.render.tables import count_of
from dqeval.support.on_demand import once
from dqeval.support.threads import in_order

Found = TypeVar("Found")


class PanelRun:
    """A panel while its metrics are computed.

    Attributes
    ----------
    values : dict of str to float
        By metric, of those that are computed.
    """

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
        self.best: dict[str, sweeping.Best] = {}
        self.labels: dict[str, str] = {}
        self.dqe: DQEResult | None = None
        self.sweeps: dict[int | Literal["all"], ScoreSweep] = {}
        self.searches: dict[str, sweeping.Search] = {}
        self.searching = Lock()

    def complete(self, workers: int = 1) -> Evaluation:
        """Compute every metric that is missing, by so many threads."""
        for _ in in_order(self.add, self.missing, workers):
            pass
        return self.evaluation()

    @property
    def missing(self) -> list[Metric]:
        """The metrics that are still to be computed."""
        return [metric for metric in self.metrics if metric.name not in self.values]

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

    def add_known(self, metric: Metric, parameters: dict[str, Any], found: Any, seconds: float) -> None:
        """Take what a metric has been found to be, together with that of other series."""
        self.labels[metric.name], self.parameters[metric.name] = metric.label, parameters
        self.values[metric.name] = self.value_of(metric, found)
        self.seconds[metric.name] = seconds

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
            return self.value_of(metric, metric.compute(self.scored, **parameters))
        if self.scored.binary:
            return float(metric.compute(Match(self.scored.labelled, self.scored.raw == 1), **parameters).value)
        return self.value_of(metric, self.best_of(metric, parameters))

    def value_of(self, metric: Metric, found: Any) -> float:
        """Return the value of what was found, and keep the rest of it: the result of DQE, or the best threshold."""
        if isinstance(found, DQEResult):
            self.dqe = on_clock(found, self.scored.labelled, self.notes)
            return found.dqe
        if isinstance(found, sweeping.Best):
            self.best[metric.name] = found
            return found.parts.value
        return float(found)

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
        return Evaluation(
            values=self.arranged(self.values),
            seconds=self.arranged(self.seconds),
            failures=self.arranged(self.failures),
            parameters=self.arranged(self.parameters),
            best=partial(_thresholds, self.arranged(self.best)),
            near=self.near,
            binary=self.scored.binary,
            dqe=self.dqe,
            labels=self.arranged(self.labels),
            notes=self.notes,
            make_chance=partial(
                chance_of, values_of_each, self.scored.labelled, drawn_like(self.scored), self.thresholds
            ),
        )

    def arranged(self, found: dict[str, Found]) -> dict[str, Found]:
        """Return what was found in the order of the metrics; threads may find it in another one."""
        return {metric.name: found[metric.name] for metric in self.metrics if metric.name in found}


def _searched_together(one: Metric, other: Metric) -> bool:
    """Tell whether one metric is searched for the best of the same thresholds as another, which is."""
    needs_search = one.at_every_level is None and one.threshold_of is None
    return needs_search and (one.takes, one.sweep) == (other.takes, other.sweep)


def _thresholds(best: Mapping[str, sweeping.Best]) -> dict[str, BestThreshold]:
    return {metric: as_threshold(found) for metric, found in best.items()}


def values_of_each(
    several: Sequence[Scored], near: float, thresholds: int | Literal["exact"], metrics: Sequence[Metric]
) -> list[list[float]]:
    """Return what metrics say of some scores, a list for each."""
    runs = [PanelRun(scored, near, thresholds, metrics) for scored in several]
    complete_together(runs)
    for run in runs:
        for metric in run.missing:
            run.add(metric)
    return [list(run.arranged(run.values).values()) for run in runs]


def _is_finite(metric: Metric, found: Any) -> bool:
    """Tell whether a metric is defined; where it is not, and why, is told one by one."""
    if metric.takes == "detections":
        if not isinstance(found, sweeping.Best):
            raise TypeError(f"it gave {type(found).__name__}, and no Best, for a metric of detections")
        of_parts = found.parts.precision + found.parts.recall  # NaN where the metric has no such parts
        return math.isfinite(found.parts.value) and not math.isinf(of_parts)
    return math.isfinite(found.dqe if isinstance(found, DQEResult) else found)


def complete_together(runs: Sequence[PanelRun], *, detections: bool = False) -> None:
    """Compute, of panels of the same metrics, what takes less time together: that of short series that are alike.

    The values are those of each by itself. Those of series of detections, which are left out unless ``detections`` is
    true, may differ by a last digit. What is missing afterwards is computed one by one.
    """
    alike: dict[Hashable, list[PanelRun]] = {}
    for run in runs:
        alike.setdefault(likeness(run.scored, detections=detections), []).append(run)
    alike.pop(None, None)
    for group in alike.values():
        if len(group) > 1:
            joined = Joined(tuple(run.scored for run in group))
            always_anomalous = any(run.scored.labels.all() for run in group)
            for metric in group[0].metrics:
                if metric.joined is None or _has_too_many_levels(metric, len(group)):
                    continue
                if not (metric.needs_normal and always_anomalous):
                    _add_together(metric, metric.joined, joined, group)


def _has_too_many_levels(metric: Metric, count: int) -> bool:
    """Tell whether so many series together would need too much memory for what is known of each threshold."""
    return metric.takes == "detections" and metric.sweep != "all" and metric.sweep * count > MOST_LEVELS


def _add_together(metric: Metric, compute: Callable[..., Any], joined: Joined, runs: Sequence[PanelRun]) -> None:
    """Compute a metric of several series that are joined; if that fails, one by one, which tells of which series."""
    began = time.perf_counter()
    try:
        by_near = {run.near: run.parameters_of(metric) for run in {run.near: run for run in runs}.values()}
    except ValueError:
        return
    parameters = [dict(by_near[run.near]) for run in runs]
    of_each = {name: tuple(own[name] for own in parameters) for name in metric.from_near}
    try:
        values = list(compute(joined, **{**parameters[0], **of_each}))
        if len(values) != len(runs):
            raise ValueError(f"it gave {count_of(len(values), 'result')} for {len(runs)} series")
        if not all(_is_finite(metric, each) for each in values):
            return
    except MemoryError:
        raise
    except UndefinedError:
        return
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        sentence = f"the metric {metric.name} cannot be computed of several series at once, only one by one, as its"
        warnings.warn(f"{sentence} joined function failed: {why}", PluginWarning, stacklevel=2)
        return
    seconds = (time.perf_counter() - began) / len(runs)
    for run, own, each in zip(runs, parameters, values, strict=True):
        run.add_known(metric, own, each, seconds)
