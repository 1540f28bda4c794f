"""sktime: the metrics of detections as a detection metric, for points and for segments."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dqeval.analysis.metric_function import MetricFunction
from dqeval.core.durations import Length
from dqeval.core.sampling import Clock
from dqeval.core.types import BoolArray, IntArray
from dqeval.core.validate import Undefined
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
    resolution : str, timedelta or number, optional
        If the index of ``X`` has dates: the length of a cell in which time is counted; their median step by default.
    max_gap : int, str or timedelta, default 3
        If the index of ``X`` has dates: over how many cells without a sample, or how long, the one before stands for
        them. What is missing longer was not observed.
    undefined : "raise" or "nan", default "raise"
        What to do if there is no true anomaly: raise `dqeval.UndefinedError`, or return NaN with a warning.
    parameters : mapping, optional
        The parameters of the metric, such as ``{"profile": "reward_low_FP"}`` of ``nab_score``; the others keep their
        defaults.

    Notes
    -----
    ``X`` is required: false alarms depend on how long the series is.

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

    def __init__(
        self,
        metric: str = "dqe",
        near: Length | None = None,
        period: Length | None = None,
        resolution: Length | None = None,
        max_gap: Length | None = None,
        undefined: Undefined = "raise",
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        self.metric = metric
        self.near = near
        self.period = period
        self.resolution = resolution
        self.max_gap = max_gap
        self.undefined = undefined
        self.parameters = parameters
        super().__init__()

    def _coerce_to_detection_type(self, y: Any, X: Any, allow_none: bool = False) -> Any:  # noqa: N803
        # As it is: sktime would take points for the borders between segments, which anomalies are not.
        return y

    def _evaluate(self, y_true: Any, y_pred: Any, X: Any) -> float:  # noqa: N803
        index = X.index.to_timestamp() if isinstance(X.index, pd.PeriodIndex) else X.index
        labels, detections = (_flags(name, y, index) for name, y in (("y_true", y_true), ("y_pred", y_pred)))
        clock = Clock(index if isinstance(index, pd.DatetimeIndex) else None, self.resolution, self.max_gap)
        if clock.times is None and clock.asked:
            raise ValueError(f"{clock.asked[0]} needs dates, and the index of X has none")
        on_clock = clock.times is not None
        function = MetricFunction(
            self.metric, self.near, self.period, self.undefined, self.parameters or {}, on_clock=on_clock
        )
        return function(labels, detections, clock=clock)

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        """Return parameters for sktime's own tests."""
        return [{}, {"metric": "point_adjusted_k_f1", "parameters": {"k": 0.5}}, {"near": 2}]


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
    found: IntArray = _looked_up_in(name, places.dtype, index).get_indexer(places)
    if (found < 0).any():
        first = places.to_numpy()[found < 0][0]
        raise ValueError(f"{name} has points that X does not have: {(found < 0).sum():,}, the first at {first}")
    return found


def _segments(name: str, places: Any, index: Any) -> list[tuple[int, int]]:
    """Return where segments start and stop in the series; each must hold a point of it."""
    own = _looked_up_in(name, places.dtype.subtype, index)
    starts = own.searchsorted(places.left, side="left" if places.closed_left else "right")
    stops = own.searchsorted(places.right, side="right" if places.closed_right else "left")
    empty = starts >= stops
    if empty.any():
        raise ValueError(f"{name} has segments without a point of X: {empty.sum():,}, the first {places[empty][0]}")
    return list(zip(starts.tolist(), stops.tolist(), strict=True))


def _looked_up_in(name: str, dtype: Any, index: Any) -> Any:
    """Return what places of a type are looked up in: dates in the index of the series, positions in all of them."""
    if dtype.kind in "iuf":
        return pd.RangeIndex(len(index))
    if dtype.kind != "M":
        raise ValueError(f"the column ilocs of {name} must hold positions or dates: its dtype is {dtype}")
    if not isinstance(index, pd.DatetimeIndex):
        raise ValueError(f"{name} has dates, and the index of X has none: give positions")
    zones = {name: getattr(dtype, "tz", None), "the index of X": index.tz}
    if len({zone is None for zone in zones.values()}) > 1:
        said = ", and ".join(
            f"{what} has dates {'without a' if zone is None else 'with a'} time zone" for what, zone in zones.items()
        )
        raise ValueError(f"{said}: give both with one, as with tz_localize, or both without")
    return index
