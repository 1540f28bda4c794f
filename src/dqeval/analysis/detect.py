"""One way to run a detector: on a series, on values, or on a file, with one set of checks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import Any

from dqeval.core import arguments, validate
from dqeval.core.arguments import quote
from dqeval.core.entries import Detector
from dqeval.core.registry import DETECTORS
from dqeval.core.types import FloatArray, Numbers, Series
from dqeval.datasets.columns import LABEL_NAMES
from dqeval.datasets.door import as_series
from dqeval.detectors.parameters import check_parameters

AT_ONCE = 64
NO_VALUES = "the series has no values for a detector to work on"


class DetectorError(ValueError):
    """A detector cannot be run on a series, or did not give what detectors must."""


class UnfitError(DetectorError):
    """A detector does not fit a series, which is no fault of either."""


class NoTrainingError(UnfitError):
    """A detector needs training, and nobody says where that ends."""


def detect(
    data: Series | Mapping[str, Any] | Numbers | str | PathLike[str],
    detector: str | Detector,
    /,
    *,
    train_stop: int | None = None,
    seed: int = 0,
    **parameters: Any,
) -> FloatArray:
    """Run a detector, and return its scores.

    Parameters
    ----------
    data : Series, mapping of str to array-like, array-like of numbers of shape (n,) or (n, columns), str or Path
        What to run it on: a series with values; its columns by name, as in a file, one of them ``label``; the values
        themselves; or a file with one series in any of `dqeval.datasets.FORMATS`. The detector gets a copy of the
        values, and never the labels.
    detector : str
        The name of a detector, as ``dqeval detectors`` lists them; or an entry of `dqeval.detectors.DETECTORS`.
    train_stop : int, optional
        The points before it are for training. If not given, it is that of the series. Detectors that need no training
        do not use it.
    seed : int, default 0
        The seed of detectors that draw random numbers. The others do not use it.
    **parameters
        The detector's own parameters; each one that is left out has its default.

    Returns
    -------
    array of float, shape (n,)
        One finite score per point: the higher, the more anomalous.

    Raises
    ------
    ValueError
        If there is no such detector or parameter, the detector does not fit the series (it needs training and there is
        no ``train_stop``, or takes a single column and there are several), or it does not give one finite score per
        point. Whatever the detector itself raises is passed on.

    Examples
    --------
    >>> series = dqeval.datasets.demo()
    >>> scores = dqeval.detect(series, "sub_lof", neighbours=20)
    >>> scores.shape == series.labels.shape
    True
    >>> round(dqeval.dqe_score(series.labels, scores, period=48), 2)
    0.24
    >>> np.flatnonzero(dqeval.detect([*[0, 1] * 20, 9, 9, *[0, 1] * 20], "fft", variant="published"))
    array([40, 41])
    """
    chosen = _chosen(detector, parameters)
    given = _given(data, train_stop)
    # A copy: what a detector does to its input must not reach whoever uses it next.
    returned = chosen.function(given.values.copy(), **parameters, **_options(chosen, given, arguments.seed(seed)))
    return _scores(returned, given)


def detect_many(
    data: Iterable[Series | Mapping[str, Any] | Numbers | str | PathLike[str]],
    detector: str | Detector,
    /,
    *,
    train_stop: int | Iterable[int | None] | None = None,
    seed: int | Iterable[int] = 0,
    at_once: int = AT_ONCE,
    **parameters: Any,
) -> list[FloatArray]:
    """Run a detector on many series, and return its scores of each.

    CNN and TimesNet train many networks in the same steps, which is meant for GPUs. The scores are those of `detect`
    but for rounding. Other detectors run on one series after the other.

    Parameters
    ----------
    data : iterable of what `detect` takes
        The series. All of them are read before the first is worked on.
    detector : str
        The name of a detector, or an entry of `dqeval.detectors.DETECTORS`.
    train_stop : int or iterable of int, optional
        The points before it are for training: one number for all series, or one for each. If not given, or None, it is
        that of the series.
    seed : int or iterable of int, default 0
        The seed of detectors that draw random numbers: one for all series, or one for each. A series that is given
        several times, with different seeds, is worked on with each of them.
    at_once : int, default 64
        How many series are worked on in the same steps; the more, the more memory is needed.
    **parameters
        The detector's own parameters, such as ``device="cuda"``.

    Returns
    -------
    list of array of float
        One finite score per point, of each series in the order of ``data``.

    Raises
    ------
    ValueError
        As `detect` does. If there are several series, it says which one it is about, such as ``data[3]``.

    Examples
    --------
    >>> many = [dqeval.datasets.synthetic(n=500, period=20, events=2, seed=seed) for seed in range(3)]
    >>> [len(scores) for scores in dqeval.detect_many(many, "fft")]
    [500, 500, 500]
    """
    chosen = _chosen(detector, parameters)
    arguments.whole_number("at_once", at_once, least=1)
    series = _each_of(data)
    stops, seeds = _one_each("train_stop", train_stop, len(series)), _one_each("seed", seed, len(series))
    found: dict[int, FloatArray] = {}
    for ready in detect_as_ready(series, chosen, train_stops=stops, seeds=seeds, at_once=at_once, **parameters):
        for number, scores in ready:
            with validate.errors_about_one_of(series, number):
                if isinstance(scores, Exception):
                    raise scores
            found[number] = scores
    if len(found) != len(series):
        raise DetectorError(f"the detector gave scores of {len(found):,} series for {len(series):,} series")
    return [found[number] for number in range(len(series))]


Ready = list[tuple[int, FloatArray | Exception]]


def detect_as_ready(
    series: Sequence[Any],
    detector: str | Detector,
    *,
    train_stops: Sequence[int | None],
    seeds: Sequence[int],
    at_once: int = AT_ONCE,
    **parameters: Any,
) -> Iterator[Ready]:
    """Run a detector on many series, and yield the numbers of series with their scores as soon as there are some.

    A series that fails has its error in place of scores, and the others go on. Errors that are about no single series,
    such as a library that is not installed, are raised.
    """
    chosen = _chosen(detector, parameters)
    given: dict[int, _Given] = {}
    options = []
    for number, (one, stop, seed) in enumerate(zip(series, train_stops, seeds, strict=True)):
        try:
            found = _given(one, stop)
            options.append(_options(chosen, found, arguments.seed(seed)))
            given[number] = found
        except ValueError as error:
            yield [(number, error)]
    numbers = list(given)
    # Copies: what a detector does to its input must not reach whoever uses it next.
    values = [each.values.copy() for each in given.values()]
    for ready in _run_on_many(chosen, values, options, at_once, parameters):
        pairs = _numbered(ready, len(numbers))
        yield [(numbers[i], _scores_or_error(returned, given[numbers[i]])) for i, returned in pairs]


def _run_on_many(
    chosen: Detector,
    values: list[FloatArray],
    options: list[dict[str, int]],
    at_once: int,
    parameters: Mapping[str, Any],
) -> Iterator[Iterable[tuple[int, Any]]]:
    """Yield what a detector gives for some series after the other, with their numbers."""
    if chosen.many is None:
        for number, (each, own) in enumerate(zip(values, options, strict=True)):
            try:
                yield [(number, chosen.function(each, **parameters, **own))]
            except Exception as error:
                yield [(number, error)]
        return
    returned = chosen.many(values, options, at_once=at_once, **parameters)
    if isinstance(returned, Iterator):
        yield from returned
        return
    if len(returned) != len(values):
        raise DetectorError(f"the detector gave scores of {len(returned):,} series for {len(values):,} series")
    yield enumerate(returned)


def _numbered(ready: Any, count: int) -> list[tuple[int, Any]]:
    """Return what a detector gave for some of so many series, each with its number."""
    pairs = list(ready) if isinstance(ready, Iterable) else [ready]
    for pair in pairs:
        is_pair = isinstance(pair, (tuple, list)) and len(pair) == 2
        if not (is_pair and isinstance(pair[0], Integral) and 0 <= int(pair[0]) < count):
            rule = f"the detector must yield lists of pairs: the number of a series, from 0 to {count - 1:,}, and its"
            raise DetectorError(f"{rule} scores; got {quote(pair[0] if is_pair else pair)} in place of such a number")
    return pairs


def _scores_or_error(returned: Any, given: _Given) -> FloatArray | Exception:
    if isinstance(returned, Exception):
        return returned
    try:
        return _scores(returned, given)
    except DetectorError as error:
        return error


def _one_each(name: str, given: Any, count: int) -> list[Any]:
    """Return one value for each of several series, where one for all, or one for each, was given."""
    if not isinstance(given, Iterable) or isinstance(given, (str, bytes, Mapping)):
        return [given] * count
    found = list(given)
    if len(found) != count:
        raise ValueError(f"{name} must be one number, or one for each of {count:,} series: got {len(found):,}")
    return found


def _each_of(data: Any) -> list[Any]:
    """Return the series of a list, or of what else has several; one series by itself is an error."""
    is_one = isinstance(data, (Series, Mapping, str, bytes, PathLike)) or hasattr(data, "columns")
    found = list(data) if isinstance(data, Iterable) and not is_one else None
    if found is None or any(isinstance(item, Real) for item in found[:1]):
        advice = "give a single one as [data], or to dqeval.detect"
        raise ValueError(f"data must be a list of series: got {type(data).__name__}; {advice}")
    return found


def _chosen(detector: str | Detector, parameters: Mapping[str, Any]) -> Detector:
    """Return a detector that has such parameters."""
    chosen = detector if isinstance(detector, Detector) else DETECTORS[arguments.text("detector", detector)]
    check_parameters(chosen, parameters)
    return chosen


@dataclass(frozen=True, slots=True)
class _Given:
    """The values to run a detector on, and where training ends, if that is known."""

    values: FloatArray
    train_stop: int | None


def _scores(returned: Any, given: _Given) -> FloatArray:
    """Return what a detector gave, if that is what detectors must give."""
    try:
        return validate.one_score_per_point(returned, len(given.values))
    except ValueError as error:
        raise DetectorError(str(error)) from None


def _given(data: Any, train_stop: int | None) -> _Given:
    """Return what there is to run a detector on; what the caller says of training goes before what the series says."""
    found = as_series(Path(data) if isinstance(data, PathLike) else data) if _is_series(data) else data
    if isinstance(found, Series):
        return _checked(_values_of(found), found.train_stop if train_stop is None else train_stop)
    return _checked(found, train_stop)


def _is_series(data: Any) -> bool:
    """Tell whether this is a series, a file, or columns with labels, which no detector must get among the values."""
    names = data if isinstance(data, Mapping) else getattr(data, "columns", ())
    return isinstance(data, (Series, str, PathLike)) or any(str(name).lower() in LABEL_NAMES for name in names)


def _values_of(series: Series) -> FloatArray:
    if series.values is None:
        raise UnfitError(NO_VALUES)
    return series.values


def _checked(values: Numbers, train_stop: int | None) -> _Given:
    array = validate.values_of_columns(values)
    return _Given(array, None if train_stop is None else validate.train_stop(train_stop, array))


def _options(detector: Detector, given: _Given, seed: int) -> dict[str, int]:
    """Return what a detector gets besides its own parameters, if it fits what it is to run on."""
    options = {"seed": seed} if "seed" in detector.parameters else {}
    if detector.univariate and given.values.ndim > 1:
        raise UnfitError(f"the detector takes a single column, and the series has {given.values.shape[1]}")
    if not detector.trains:
        return options
    if given.train_stop is None:
        raise NoTrainingError("the detector needs training, and the series does not say where that ends (train_stop)")
    return {**options, "train_stop": given.train_stop}
