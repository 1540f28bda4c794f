"""aeon: detectors of either library in the other, and metrics as functions of labels and scores."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dqeval.analysis.detect import detect
from dqeval.analysis.metric_function import MetricFunction
from dqeval.core import arguments
from dqeval.core.registry import DETECTORS, detector
from dqeval.core.types import FloatArray
from dqeval.core.validate import Undefined
from dqeval.support import extras

__all__ = ["Detector", "metric", "register"]

_series: Any = extras.require("aeon.anomaly_detection.series.base", "aeon")
_SIMPLE = (type(None), bool, int, float, str)  # parameters that plans can set
_SEED = "random_state"  # what aeon calls it


class Detector(_series.BaseSeriesAnomalyDetector):
    """A detector of dqeval as an anomaly detector of aeon.

    Parameters
    ----------
    detector : str, default "sub_lof"
        The name of a detector: ``dqeval detectors`` lists them.
    parameters : mapping, optional
        The detector's own parameters; each one that is left out has its default. They are a mapping, because aeon's
        detectors take no keywords but those of their class.
    random_state : int, default 0
        The seed of detectors that draw random numbers. The others do not use it. None, which aeon takes for other
        numbers at every run, is refused.

    Notes
    -----
    Detectors that need no training look at the series that they score alone, whatever they were fitted to. Those that
    train learn from the series of ``fit``; with ``fit_predict``, from the series that they score.

    Examples
    --------
    >>> series = dqeval.datasets.demo()
    >>> scores = dqeval.adapters.aeon.Detector("sub_lof", {"neighbours": 20}).fit_predict(series.values)
    >>> bool((scores == dqeval.detect(series, "sub_lof", neighbours=20)).all())
    True
    """

    _tags = {  # noqa: RUF012  # aeon merges these dictionaries by their name
        "capability:univariate": True,
        "capability:multivariate": False,
        "capability:missing_values": False,
        "anomaly_output_type": "anomaly_scores",
        "fit_is_empty": False,
        "learning_type:unsupervised": True,
        "learning_type:semi_supervised": True,
    }

    def __init__(
        self, detector: str = "sub_lof", parameters: Mapping[str, Any] | None = None, random_state: int = 0
    ) -> None:
        self.detector = detector
        self.parameters = parameters
        self.random_state = random_state
        super().__init__(axis=0)

    def _fit(self, X: FloatArray, y: Any = None) -> Detector:  # noqa: N803  # aeon calls it with these names
        self.train_ = X[:, 0] if DETECTORS[self.detector].trains else X[:0, 0]
        return self

    def _predict(self, X: FloatArray) -> FloatArray:  # noqa: N803
        # A detector of dqeval learns from the beginning of the series that it scores.
        start = len(self.train_)
        return self._run(np.concatenate([self.train_, X[:, 0]]), train_stop=start or None)[start:]

    def _fit_predict(self, X: FloatArray, y: Any = None) -> FloatArray:  # noqa: N803
        self._fit(X)
        return self._run(X[:, 0], train_stop=len(X))

    def _run(self, values: FloatArray, train_stop: int | None) -> FloatArray:
        options = dict(self.parameters or {})
        seed = arguments.seed(self.random_state, name="random_state")
        return detect(values, self.detector, train_stop=train_stop, seed=seed, **options)


def register(estimator: Any, name: str, *, label: str | None = None) -> Callable[..., FloatArray]:
    """Register a detector of aeon, so that plans, `dqeval.detect` and ``dqeval detect`` know it by a name.

    Parameters
    ----------
    estimator : anomaly detector of aeon
        It need not be fitted: a copy of it runs on each series. Its parameters are the defaults; plans may set those
        that are numbers, texts, or true or false.
    name : str
        The name to choose it by.
    label : str, optional
        What tables call it; its name if not given.

    Returns
    -------
    callable
        The detector as a function of values, as those of ``dqeval.detectors`` are.

    Raises
    ------
    ValueError
        If there is another detector of that name. Only one of the same class may be registered again, as when a cell of
        a notebook is run twice.

    Notes
    -----
    If the detector has a ``random_state``, the ``seed`` of each run takes its place; a warning says so where it is set
    already. If it only learns from normal data, it gets the points before ``train_stop`` for training. One that learns
    from labels is refused: detectors never see them.

    Examples
    --------
    >>> from aeon.anomaly_detection.series.distance_based import KMeansAD
    >>> _ = dqeval.adapters.aeon.register(KMeansAD(window_size=24), "aeon_kmeans")
    >>> scores = dqeval.detect(dqeval.datasets.demo(), "aeon_kmeans", n_clusters=5)
    >>> scores.shape
    (1600,)
    """
    if inspect.isclass(estimator):
        made = f"{estimator.__name__}()"
        raise ValueError(f"estimator must be an object, not a class: write {made} in place of {estimator.__name__}")
    if not isinstance(estimator, _series.BaseSeriesAnomalyDetector):
        found = arguments.quote(estimator)
        raise ValueError(f"estimator must be an anomaly detector of aeon for series, such as KMeansAD(): got {found}")
    trains = not estimator.get_tag("learning_type:unsupervised")
    if trains and not estimator.get_tag("learning_type:semi_supervised"):
        raise ValueError(f"{type(estimator).__name__} learns from labels, which detectors never see")

    state = estimator.get_params(deep=False).get(_SEED)
    if state is not None:
        advice = f"give seed={arguments.quote(state)} to detect, or seeds to a plan"
        warnings.warn(f"the seed of each run takes the place of {_SEED}: {advice}", stacklevel=2)
    return detector(label=label, univariate=not estimator.get_tag("capability:multivariate"))(
        _AsFunction(estimator, arguments.text("name", name), trains=trains)
    )


class _AsFunction:
    """A detector of aeon as a function of values: an object, so that it can be sent to other processes."""

    def __init__(self, estimator: Any, name: str, *, trains: bool) -> None:
        options = estimator.get_params(deep=False)
        given = {key: value for key, value in options.items() if isinstance(value, _SIMPLE) and key != _SEED}
        self._estimator, self._trains, self._seeded = estimator, trains, _SEED in options
        # What the registry asks of a function, which it takes for the same one only if it is of the same class.
        self.__name__ = name
        self.__qualname__ = f"{type(estimator).__module__}.{type(estimator).__qualname__}"
        self.__doc__ = inspect.getdoc(type(estimator))
        self.__signature__ = _signature({**given, **({"seed": 0} if self._seeded else {})}, trains=trains)

    def __repr__(self) -> str:
        return f"<detector {self.__name__}: {self._estimator!r} of aeon>"

    @property
    def __wrapped__(self) -> Callable[..., FloatArray]:
        return type(self).__call__

    def __call__(
        self, values: FloatArray, *, train_stop: int | None = None, seed: int = 0, **parameters: Any
    ) -> FloatArray:
        arguments.known_names(
            parameters, [name for name in self.__signature__.parameters if name != "values"], repr(self)
        )
        model = self._estimator.clone().set_params(**parameters, **({_SEED: seed} if self._seeded else {}))
        if self._trains:
            found = model.fit(values[:train_stop], axis=0).predict(values, axis=0)
        else:
            found = model.fit_predict(values, axis=0)
        return np.asarray(found, dtype=np.float64)


def _signature(defaults: Mapping[str, Any], *, trains: bool) -> inspect.Signature:
    """Return the signature of a detector with these parameters."""
    kinds = inspect.Parameter
    given = [kinds(name, kinds.KEYWORD_ONLY, default=value) for name, value in defaults.items()]
    training = [kinds("train_stop", kinds.KEYWORD_ONLY)] if trains else []
    return inspect.Signature([kinds("values", kinds.POSITIONAL_OR_KEYWORD), *training, *given])


def metric(
    metric: str,
    *,
    near: float | str | None = None,
    period: float | None = None,
    undefined: Undefined = "raise",
    **parameters: Any,
) -> MetricFunction:
    """Return a metric as a function of labels and scores, as the metrics of aeon are.

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
        What to do if the labels have no anomaly: raise `dqeval.UndefinedError`, or return NaN with a warning.
    **parameters
        The parameters of the metric, such as ``profile`` of ``nab_score``; the others keep their defaults.

    Returns
    -------
    callable
        ``f(y_true, y_score)``, a float.

    Examples
    --------
    >>> dqe = dqeval.adapters.aeon.metric("dqe", near=2)
    >>> dqe([0, 0, 1, 1, 0, 0], [0, 0, 0, 9, 0, 0])
    1.0
    """
    return MetricFunction(metric, near=near, period=period, undefined=undefined, parameters=parameters)
