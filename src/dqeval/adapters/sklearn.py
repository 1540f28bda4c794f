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
    """What `scorer` returns: call it with an estimator that is fitted, its input, and the labels."""

    function: MetricFunction

    def __call__(self, estimator: Any, x: Any, y: Numbers) -> float:
        """Return the metric of the estimator's anomaly scores."""
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
    elif hasattr(estimator, "predict_proba"):
        scores = np.asarray(estimator.predict_proba(x), dtype=np.float64)[:, _anomalous_class(estimator)]
    else:
        raise ValueError(
            f"{_last_step(estimator)!r} gives no scores: it has neither decision_function nor predict_proba; "
            "of LocalOutlierFactor, use novelty=True"
        )
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


def windows_to_points(scores: Numbers, window: int, n: int, how: Literal["mean", "max"] = "mean") -> FloatArray:
    """Return scores of points from scores of windows.

    Parameters
    ----------
    scores : array-like of numbers, shape (n - window + 1,)
        A score for each window of a series; a window starts at every point that has enough points behind it.
    window : int
        The length of the windows, in points.
    n : int
        The length of the series, in points.
    how : "mean" or "max", default "mean"
        What to make of the scores of all windows that hold a point: their mean, or the highest.

    Returns
    -------
    array of float, shape (n,)

    Examples
    --------
    >>> dqeval.adapters.sklearn.windows_to_points([0, 3, 0], window=2, n=4)
    array([0. , 1.5, 1.5, 0. ])
    >>> dqeval.adapters.sklearn.windows_to_points([0, 3, 0], window=2, n=4, how="max")
    array([0., 3., 3., 0.])
    """
    arguments.one_of("how", how, tuple(_OVER_WINDOWS))
    length = arguments.whole_number("window", window, least=1)
    points = arguments.whole_number("n", n, least=1)
    found = validate.scores(scores)
    if len(found) != points - length + 1:
        rule = f"scores must have n - window + 1 = {points - length + 1:,} values, one per window"
        raise ValueError(f"{rule}: got {len(found):,}; a window must start at every point")
    return _OVER_WINDOWS[how](found, length)
