"""TimeEval: dqeval's metrics as its metrics, with a period for each series."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from dqeval.analysis.metric_function import MetricFunction
from dqeval.core import arguments, validate
from dqeval.core.near import find_period
from dqeval.core.registry import METRICS
from dqeval.core.types import Numbers
from dqeval.core.validate import Undefined
from dqeval.support import extras

__all__ = ["DqevalMetric", "periods"]

_metrics: Any = extras.require("timeeval.metrics.metric", "TimeEval")


class DqevalMetric(_metrics.Metric):
    """A metric of dqeval as a metric of TimeEval.

    Unlike TimeEval's own metrics, it does not replace NaN by 0 and infinity by 1, and does not return 0 for constant
    scores: scores that are not finite are an error, which TimeEval writes to the log of the experiment, and the metric
    has no value there.

    Parameters
    ----------
    metric : str
        The name of a metric: ``dqeval metrics`` lists them. A metric of detections is the best over thresholds.
    near : float or str, optional
        How many points before and after an event a detection still is a near miss; 0 for none, "2ev" for twice the
        median length of an event.
    period : float, or what `periods` returns, optional
        The period of all series, or of each; ``near`` is then half of it. Give at most one of the two; with neither,
        ``near`` is 125.
    undefined : "raise" or "nan", default "raise"
        What to do if the labels have no anomaly: raise `dqeval.UndefinedError`, or return NaN with a warning.
    **parameters
        The parameters of the metric, such as ``profile`` of ``nab_score``; the others keep their defaults.

    Examples
    --------
    >>> dqe = dqeval.adapters.timeeval.DqevalMetric("dqe", near=2)
    >>> dqe([0, 0, 1, 1, 0, 0], [0, 0, 0, 9, 0, 0])
    1.0
    >>> dqe.name
    'DQE (near 2)'
    """

    def __init__(
        self,
        metric: str,
        *,
        near: float | str | None = None,
        period: float | Mapping[str, float | None] | None = None,
        undefined: Undefined = "raise",
        **parameters: Any,
    ) -> None:
        self._metric, self._near, self._period, self._undefined = metric, near, period, undefined
        self._parameters = parameters
        if isinstance(period, Mapping):
            arguments.at_most_one(near=near, period=period)
        self._label = METRICS[self._function(None if isinstance(period, Mapping) else period).metric].label

    def _function(self, period: float | None) -> MetricFunction:
        return MetricFunction(
            self._metric, near=self._near, period=period, undefined=self._undefined, parameters=self._parameters
        )

    def __call__(self, y_true: Numbers, y_score: Numbers) -> float:
        """Return the metric of labels and scores, which are taken as they are."""
        period = self._period
        return self._function(_known(y_true, period) if isinstance(period, Mapping) else period)(y_true, y_score)

    def score(self, y_true: Numbers, y_score: Numbers) -> float:
        """Return the metric of labels and scores."""
        return self(y_true, y_score)

    @property
    def name(self) -> str:
        """What tables call it: the label of the metric, and the settings that are the same for all series."""
        settings = {"near": self._near, "period": None if isinstance(self._period, Mapping) else self._period}
        given = [f" ({name} {value})" for name, value in {**settings, **self._parameters}.items() if value is not None]
        return self._label + "".join(given)

    def supports_continuous_scorings(self) -> bool:
        """Tell TimeEval that scores need no threshold."""
        return True


def periods(manager: Any, datasets: Iterable[tuple[str, str]]) -> dict[str, float | None]:
    """Return the period of each dataset, for `DqevalMetric`.

    It is the one that the dataset's metadata has; without one, it is estimated from the values of the first column. As
    TimeEval does not tell a metric which dataset it is called for, a dataset is recognized by its labels.

    Parameters
    ----------
    manager : DatasetManager
        TimeEval's, with the datasets.
    datasets : iterable of (str, str)
        The datasets of the experiment, as ``manager.select()`` returns them.

    Returns
    -------
    dict of str to float or None
        By a digest of the labels; None where no period is known, and ``near`` is 125.

    Raises
    ------
    ValueError
        If two datasets have the same labels and different periods.

    Examples
    --------
    >>> from timeeval import DatasetManager
    >>> dqeval.adapters.timeeval.periods(DatasetManager(".", create_if_missing=True), [])
    {}
    """
    found: dict[str, float | None] = {}
    owners: dict[str, tuple[str, str]] = {}
    for dataset in datasets:
        table = manager.get_dataset_df(dataset)
        digest = _digest(table.iloc[:, -1].to_numpy())
        period = _period_in(manager.get(dataset)) or find_period(table.iloc[:, 1].to_numpy()).points
        if found.setdefault(digest, period) != period:
            both = f"{owners[digest]} and {dataset}"
            raise ValueError(f"{both} have the same labels, but the periods {found[digest]} and {period}")
        owners.setdefault(digest, dataset)
    return found


def _period_in(dataset: Any) -> float | None:
    """Return the period that the metadata of a dataset has, if any."""
    period = dataset.period_size
    return None if period is None or np.isnan(period) else float(period)


def _known(y_true: Numbers, period: Mapping[str, float | None]) -> float | None:
    digest = _digest(y_true)
    if digest not in period:
        raise ValueError("the labels are those of no dataset that periods was called with: give it all datasets")
    return period[digest]


def _digest(labels: Numbers) -> str:
    return hashlib.sha256(validate.labels(labels).tobytes()).hexdigest()
