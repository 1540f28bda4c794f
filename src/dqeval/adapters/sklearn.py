"""scikit-learn and PyOD: metrics as scorers, and the scores of estimators and of windows as scores of points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dqeval.analysis.metric_function import MetricFunction
from dqeval.core import arguments, validate
from dqeval.core.types import FloatArray, Numbers
from dqeval.core.validate import Undefined
from dqeval.detectors.windows import max_over_windows, mean_over_windows
from dqeval.support import extras

__all__ = ["Scorer", "anomaly_scores", "scorer", "windows_to_points"]

_OVER_WINDOWS = {"mean": mean_over_windows, "max": max_over_windows}


@dataclass(frozen=True, slots=True)
class Scorer:
    """What `scorer` returns: call it with an estimator that is fitted, its input, and the labels.

    Examples
    --------
    >>> from sklearn.svm import OneClassSVM
    >>> model = OneClassSVM(nu=0.1).fit([[0.0], [0.1], [0.2]])
    >>> dqeval.adapters.sklearn.scorer("auc_roc")(model, [[0.1], [9.0], [0.0]], [0, 1, 0])
    1.0
    """

    function: MetricFunction

    def __call__(self, estimator: Any, x: Any, y: Numbers | None = None) -> float:
        """Return the metric of the estimator's anomaly scores."""
        if y is None:
            raise ValueError("y is missing: scores are compared with labels, so give them too, as in search.fit(X, y)")
        if np.isin(y, (-1, 1)).all() and np.isin(-1, y):
            advice = "here 1 is the anomaly, and 0 the rest: give (y == -1).astype(int)"
            raise ValueError(f"y holds -1 and 1, and for scikit-learn's outlier detectors -1 is the anomaly: {advice}")
        return self.function(y, anomaly_scores(estimator, x))


def scorer(
    metric: str,
    *,
    near: float | str | None = None,
    period: float | None = None,
    undefined: Undefined = "raise",
    **parameters: Any,
) -> Scorer:
    """Return a metric as a scorer for ``GridSearchCV``, ``cross_val_score`` and whatever else takes ``scoring``.

    Parameters
    ----------
    metric : str
        The name of a metric: ``dqeval metrics`` lists them. A metric of detections is the best over thresholds.
    near : float or str, optional
        How many points before and after an event a detection still is a near miss; 0 for none, "2ev" for twice the
        median length of an event.
    period : float, optional
        The period of the series; ``near`` is then half of it. Give at most one of the two; with neither, ``near`` is
        125.
    undefined : "raise" or "nan", default "raise"
        What to do if the labels of a fold have no anomaly: raise `dqeval.UndefinedError`, or return NaN with a warning.
    **parameters
        The parameters of the metric, such as ``profile`` of ``nab_score``; the others keep their defaults.

    Returns
    -------
    Scorer
        Called by scikit-learn with a fitted estimator, its input and labels of 0 and 1, in the order of time.

    Notes
    -----
    The points of each fold must be neighbours in time, as those of ``TimeSeriesSplit`` and of ``KFold`` without
    ``shuffle`` are: events are runs of ones.

    Examples
    --------
    >>> from sklearn.ensemble import IsolationForest
    >>> from sklearn.model_selection import TimeSeriesSplit, cross_val_score
    >>> series = dqeval.datasets.demo()
    >>> scoring = dqeval.adapters.sklearn.scorer("dqe", period=48)
    >>> model = IsolationForest(random_state=0)
    >>> found = cross_val_score(model, series.values[:, None], series.labels, scoring=scoring, cv=TimeSeriesSplit(3))
    >>> found.round(2)
    array([0.4 , 0.7 , 0.44])
    """
    return Scorer(MetricFunction(metric, near=near, period=period, undefined=undefined, parameters=parameters))


def anomaly_scores(estimator: Any, x: Any) -> FloatArray:
    """Return what an estimator says of each row, the higher, the more anomalous.

    scikit-learn's outlier detectors say it the other way round; their scores are turned around. Those of PyOD, and of
    classifiers whose class 1 is the anomaly, are as they are.

    Parameters
    ----------
    estimator : estimator of scikit-learn, detector of PyOD, or a pipeline or a search that ends with one
        It must be fitted.
    x : array-like, shape (n, columns)
        What the estimator takes: a row per point.

    Returns
    -------
    array of float, shape (n,)

    Examples
    --------
    >>> from sklearn.svm import OneClassSVM
    >>> model = OneClassSVM(nu=0.1).fit([[0.0], [0.1], [0.2]])
    >>> dqeval.adapters.sklearn.anomaly_scores(model, [[0.1], [9.0]]).argmax()
    np.int64(1)
    """
    if hasattr(estimator, "decision_function"):
        scores = np.asarray(estimator.decision_function(x), dtype=np.float64)
    elif hasattr(estimator, "predict_proba") and hasattr(estimator, "classes_"):
        scores = np.asarray(estimator.predict_proba(x), dtype=np.float64)[:, _anomalous_class(estimator)]
    else:
        model = _last_step(estimator)
        needs = "use an outlier detector, which has decision_function, or a classifier, which has predict_proba"
        advice = "give novelty=True" if hasattr(model, "novelty") else needs
        raise ValueError(f"{model!r} gives no anomaly scores for new rows: {advice}")
    base = extras.require("sklearn.base", "scikit-learn")
    return -scores if isinstance(_last_step(estimator), base.OutlierMixin) else scores


def _anomalous_class(classifier: Any) -> int:
    """Return the column of the anomalies among a classifier's probabilities."""
    classes = list(classifier.classes_)
    if 1 not in classes:
        raise ValueError(f"the classifier knows the classes {classes}, and no class 1: fit it on labels with anomalies")
    return classes.index(1)


def _last_step(estimator: Any) -> Any:
    """Return the estimator that gives the scores: of a search the best, of a pipeline the last."""
    # PyOD's detectors call themselves outlier detectors too, and so do pipelines with them, but score the other way
    # round: what tells is the class of the last step.
    if hasattr(estimator, "best_estimator_"):
        return _last_step(estimator.best_estimator_)
    return _last_step(estimator.steps[-1][1]) if hasattr(estimator, "steps") else estimator


def windows_to_points(
    scores: Numbers, window: int, n: int, how: Literal["mean", "max"] = "mean", *, stride: int = 1
) -> FloatArray:
    """Return scores of points from scores of windows.

    Parameters
    ----------
    scores : array-like of numbers, shape ((n - window) / stride + 1,)
        A score for each window of a series. The first window starts at the first point, the last one ends at the last.
    window : int
        The length of the windows, in points.
    n : int
        The length of the series, in points.
    how : "mean" or "max", default "mean"
        What to make of the scores of all windows that hold a point: their mean, or the highest.
    stride : int, default 1
        How many points after a window the next one starts; at most ``window``, so that every point is in one.

    Returns
    -------
    array of float, shape (n,)

    Examples
    --------
    >>> dqeval.adapters.sklearn.windows_to_points([0, 3, 0], window=2, n=4)
    array([0. , 1.5, 1.5, 0. ])
    >>> dqeval.adapters.sklearn.windows_to_points([0, 3, 0], window=2, n=4, how="max")
    array([0., 3., 3., 0.])
    >>> dqeval.adapters.sklearn.windows_to_points([0, 3], window=3, n=5, stride=2)
    array([0. , 0. , 1.5, 3. , 3. ])
    """
    arguments.one_of("how", how, tuple(_OVER_WINDOWS))
    length = arguments.whole_number("window", window, least=1)
    points = arguments.whole_number("n", n, least=length)
    step = arguments.whole_number("stride", stride, least=1, most=length)
    found = validate.scores(scores)
    starts = range(0, points - length + 1, step)
    if len(found) != len(starts):
        windows = f"windows of {length:,} in {points:,} points, with a stride of {step:,}"
        raise ValueError(f"scores must have {len(starts):,} values, as there are {windows}: got {len(found):,}")
    if beyond := points - length - starts[-1]:
        advice = f"give n={points - beyond}, and leave these points out of the labels, or add a window that ends there"
        raise ValueError(f"the last {beyond:,} of {points:,} points are in no window: {advice}")
    if step == 1:
        return _OVER_WINDOWS[how](found, length)
    return _of_some_windows(found, starts, length, how)


def _of_some_windows(scores: FloatArray, starts: range, window: int, how: Literal["mean", "max"]) -> FloatArray:
    """Return scores of points from those of the windows that start at some points."""
    every = np.full(starts[-1] + 1, 0.0 if how == "mean" else -np.inf)
    every[starts] = scores
    if how == "max":
        return max_over_windows(every, window)
    is_there = np.zeros(len(every))
    is_there[starts] = 1
    # Both are means over all windows that might hold a point, so their number cancels out.
    means: FloatArray = mean_over_windows(every, window) / mean_over_windows(is_there, window)
    return means
