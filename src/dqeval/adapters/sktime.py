"""sktime: the metrics of detections as a detection metric, for points and for segments."""

from __future__ import annotations

from typing import Any

import numpy as np

from dqeval.analysis.metric_function import value_of
from dqeval.analysis.panel import panel
from dqeval.core.durations import Length
from dqeval.core.types import BoolArray, IntArray
from dqeval.support import extras

BaseDetectionMetric: Any = extras.require("sktime.performance_metrics.detection._base", "sktime").BaseDetectionMetric
pd = extras.require("pandas", "pandas")

__all__ = ["DetectionQuality"]


class DetectionQuality(BaseDetectionMetric):
    """A metric of dqeval for what sktime's detectors return: anomalous points, or anomalous segments.

    Call it with the true anomalies, the detected ones, and the series: ``metric(y_true, y_pred, X)``. Both are
    DataFrames with a column ``ilocs``, as ``detector.predict(X)`` returns it: positions in ``X``, or intervals of
    positions. Dates, and intervals of dates, are looked up in the index of ``X``.

    Parameters
    ----------
    metric : str, default "dqe"
        The name of a metric: ``dqeval metrics`` lists them.
    near : float, str or timedelta, optional
        How many points before and after an event a detection still is a near miss; 0 for none, "2ev" for twice the
        median length of an event, or, if the index of ``X`` has dates, a duration such as "10min".
    period : float, str or timedelta, optional
        The period of the series, in points or as a duration; ``near`` is then half of it. Give at most one of the two;
        with neither, ``near`` is 125.

    Notes
    -----
    ``X`` is required: false alarms depend on how long the series is. If its index has dates, time is counted in cells
    of its median step. A series without a true anomaly raises `dqeval.UndefinedError`.

    Examples
    --------
    >>> import pandas as pd
    >>> from dqeval.adapters.sktime import DetectionQuality
    >>> X = pd.DataFrame({"value": range(12)}, index=pd.date_range("2026-01-01", periods=12, freq="h"))
    >>> y_true = pd.DataFrame({"ilocs": pd.IntervalIndex.from_tuples([(4, 6)], closed="left")})
    >>> y_pred = pd.DataFrame({"ilocs": [5, 7]})
    >>> metric = DetectionQuality(near="3h")
    >>> round(metric(y_true, y_pred, X), 3)
    0.799
    """

    _tags = {  # noqa: RUF012 - as sktime has it
        "scitype:y": "segments",
        "requires_X": True,
        "lower_is_better": False,
    }

    def __init__(self, metric: str = "dqe", near: Length | None = None, period: Length | None = None) -> None:
        self.metric = metric
        self.near = near
        self.period = period
        super().__init__()

    def _coerce_to_detection_type(self, y: Any, X: Any, allow_none: bool = False) -> Any:  # noqa: N803
        # As it is: sktime would take points for the borders between segments, which anomalies are not.
        return y

    def _evaluate(self, y_true: Any, y_pred: Any, X: Any) -> float:  # noqa: N803
        index = X.index.to_timestamp() if isinstance(X.index, pd.PeriodIndex) else X.index
        labels, detections = (_flags(name, y, index) for name, y in (("y_true", y_true), ("y_pred", y_pred)))
        times = index if isinstance(index, pd.DatetimeIndex) else None
        found = panel(labels, detections, metrics=[self.metric], near=self.near, period=self.period, times=times)
        return value_of(found, self.metric, "raise")

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        """Return parameters for sktime's own tests."""
        return [{}, {"metric": "range_f1"}, {"near": 2}]


def _flags(name: str, y: Any, index: Any) -> BoolArray:
    """Return for each point of the series whether it is among the points, or in a segment."""
    if "ilocs" not in y.columns:
        columns = ", ".join(map(str, y.columns))
        raise ValueError(f"{name} must have a column ilocs, as detector.predict(X) returns it: it has {columns}")
    places, flags = y["ilocs"], np.zeros(len(index), dtype=bool)
    if not len(places):
        return flags
    if not isinstance(places.dtype, pd.IntervalDtype):
        flags[_positions(name, places, index)] = True
        return flags
    for start, stop in _segments(name, pd.IntervalIndex(places), index):
        flags[start:stop] = True
    return flags


def _positions(name: str, places: Any, index: Any) -> IntArray:
    """Return where points are in the series: positions as they are, dates as the index has them."""
    own = index if places.dtype.kind == "M" else pd.RangeIndex(len(index))
    found: IntArray = own.get_indexer(places)
    if (found < 0).any():
        first = places.to_numpy()[found < 0][0]
        raise ValueError(f"{name} has points that X does not have: {(found < 0).sum():,}, the first at {first}")
    return found


def _segments(name: str, places: Any, index: Any) -> list[tuple[int, int]]:
    """Return where segments start and stop in the series; each must hold a point of it."""
    own = index if places.dtype.subtype.kind == "M" else pd.RangeIndex(len(index))
    starts = own.searchsorted(places.left, side="left" if places.closed_left else "right")
    stops = own.searchsorted(places.right, side="right" if places.closed_right else "left")
    empty = starts >= stops
    if empty.any():
        raise ValueError(f"{name} has segments without a point of X: {empty.sum():,}, the first {places[empty][0]}")
    return list(zip(starts.tolist(), stops.tolist(), strict=True))
