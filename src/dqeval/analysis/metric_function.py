"""One metric by its name, as a function of labels and scores: what other libraries call."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np

from dqeval.analysis.panel import panel_of
from dqeval.analysis.panel_result import Evaluation
from dqeval.core import arguments, validate
from dqeval.core.near import near_from_arguments
from dqeval.core.prepared import points_of
from dqeval.core.registry import METRICS
from dqeval.core.sampling import NO_CLOCK
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
        The name of a metric: ``dqeval metrics`` lists them.
    near : float or str, optional
        How many points before and after an event a detection still is a near miss; 0 for none, "2ev" for twice the
        median length of an event.
    period : float, optional
        The period of the series; ``near`` is then half of it. Give at most one of the two; with neither, ``near`` is
        125.
    undefined : "raise" or "nan"
        What to do if the metric is undefined: raise `UndefinedError`, or return NaN with a warning.

    Examples
    --------
    >>> dqe = dqeval.analysis.metric_function.MetricFunction("dqe", near=2)
    >>> dqe([0, 0, 1, 1, 0, 0], [0, 0, 0, 9, 0, 0])
    1.0
    """

    metric: str
    near: float | str | None = None
    period: float | None = None
    undefined: Undefined = "raise"

    def __post_init__(self) -> None:
        arguments.one_of("undefined", self.undefined, ("raise", "nan"))
        chosen = METRICS[arguments.text("metric", self.metric)]
        labels = np.array([False, True])
        points = near_from_arguments(labels, labels, near=self.near, period=self.period, values=None).points
        chosen.parameters(points, binary=False)

    def __call__(self, y_true: Numbers, y_score: Numbers) -> float:
        """Return the metric of labels and scores; of a metric of detections, the best over thresholds."""
        labels, raw = validate.labels_and_raw_scores(y_true, y_score)
        points = points_of(y_true, labels, raw, near=self.near, period=self.period, values=None, clock=NO_CLOCK)
        events, needs_normal = points.labelled.events, METRICS[self.metric].needs_normal
        if not validate.check_defined(events, self.undefined, needs_normal=needs_normal):
            return float("nan")
        found = panel_of(points.labelled.scored(points.found), points.near.points, metrics=[self.metric])
        return value_of(found, self.metric, self.undefined)


def value_of(found: Evaluation, metric: str, undefined: Undefined) -> float:
    """Return a metric of a panel; where it is undefined, such as UCR of two events, an error or NaN with a warning."""
    if metric not in found.failures:
        return found[metric]
    why = f"{metric} is {found.failures[metric]}"
    if undefined == "raise":
        raise UndefinedError(f'{why}; pass undefined="nan" to get NaN with a warning instead')
    warnings.warn(f"{why}: NaN is returned", UndefinedWarning, stacklevel=validate.caller_level())
    return float("nan")
