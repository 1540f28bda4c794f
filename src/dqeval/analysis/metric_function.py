"""One metric by its name, as a function of labels and scores: what other libraries call."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dqeval.analysis.panel import panel_of
from dqeval.analysis.panel_result import Evaluation
from dqeval.core import arguments, validate
from dqeval.core.durations import Length
from dqeval.core.entries import Metric
from dqeval.core.metric_choice import metric_of
from dqeval.core.near import check_options, near_from_arguments
from dqeval.core.prepared import points_of
from dqeval.core.registry import METRICS
from dqeval.core.sampling import NO_CLOCK, Clock
from dqeval.core.types import Numbers
from dqeval.core.validate import Undefined, UndefinedError, UndefinedWarning


@dataclass(frozen=True, slots=True)
class MetricFunction:
    """A metric with its settings, to be called with labels and scores.

    Settings are checked at once, not when another library calls the metric, which may hide the error. An object of this
    class can be pickled, so other libraries may send it to their processes.

    Attributes
    ----------
    metric : str
        The name of a metric, or its label: ``dqeval metrics`` lists them.
    near : float, str or timedelta, optional
        How many points before and after an event a detection still is a near miss; 0 for none, "2ev" for twice the
        median length of an event, or on a clock a duration such as "10min".
    period : float, str or timedelta, optional
        The period of the series; ``near`` is then half of it. Give at most one of the two; with neither, ``near`` is
        125, or on a clock the median length of an event.
    undefined : "raise" or "nan"
        What to do if the metric is undefined: raise `UndefinedError`, or return NaN with a warning.
    parameters : mapping
        The metric's own parameters; each one that is left out has its default, or follows from ``near``.
    on_clock : bool
        Whether it will be called with a clock, so that there may be durations.

    Examples
    --------
    >>> dqe = dqeval.analysis.metric_function.MetricFunction("dqe", near=2)
    >>> dqe([0, 0, 1, 1, 0, 0], [0, 0, 0, 9, 0, 0])
    1.0
    """

    metric: str
    near: Length | None = None
    period: Length | None = None
    undefined: Undefined = "raise"
    parameters: Mapping[str, Any] = field(default_factory=dict)
    on_clock: bool = False

    def __post_init__(self) -> None:
        validate.undefined_choice(self.undefined)
        chosen = metric_of(arguments.text("metric", self.metric))
        object.__setattr__(self, "metric", chosen.name)
        object.__setattr__(self, "parameters", _checked(chosen, self.parameters))
        check_options(self.near, self.period)
        if not self.on_clock:
            labels = np.array([False, True])
            near = near_from_arguments(labels, labels, near=self.near, period=self.period, values=None)
            chosen.parameters(near.points, binary=False)

    @property
    def __name__(self) -> str:
        """The name of the metric, as libraries ask it of functions."""
        return self.metric

    def __call__(self, y_true: Numbers, y_score: Numbers, *, clock: Clock = NO_CLOCK) -> float:
        """Return the metric of labels and scores; of a metric of detections, the best over thresholds."""
        labels, raw = validate.labels_and_raw_scores(y_true, y_score)
        points = points_of(
            y_true, labels, raw, near=self.near, period=self.period, values=None, clock=clock, y_score=y_score
        )
        events, needs_normal = points.labelled.events, METRICS[self.metric].needs_normal
        if not validate.check_defined(events, self.undefined, needs_normal=needs_normal):
            return float("nan")
        scored = points.labelled.scored(points.found)
        found = panel_of(scored, points.near.points, metrics=[self.metric], parameters={self.metric: self.parameters})
        return self._value_in(found)

    def _value_in(self, found: Evaluation) -> float:
        """Return the metric; where it is undefined, such as UCR of two events, raise or warn."""
        if self.metric not in found.failures:
            return found[self.metric]
        why = f"{self.metric} is {found.failures[self.metric]}"
        if self.undefined == "raise":
            raise UndefinedError(f'{why}; pass undefined="nan" to get NaN with a warning instead')
        warnings.warn(f"{why}: NaN is returned", UndefinedWarning, stacklevel=validate.caller_level())
        return float("nan")


def _checked(metric: Metric, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters of a metric as they are computed with; what it does not know is an error."""
    known = [name for name in (*metric.from_near, *metric.defaults) if name != "near"]  # which is no parameter here
    arguments.known_names(given, known, f"the metric {metric.name}")
    return arguments.checked(metric.checks, **given)
