"""The period of a series, and the near-miss range that follows from it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dqeval.core import arguments, durations, validate
from dqeval.core.events import find_events
from dqeval.core.timeline import TimeAxis, cells_of_duration, near_in_cells
from dqeval.core.types import BoolArray, FloatArray, Numbers, Series
from dqeval.render.tables import count_of
from dqeval.support.frames import Framed

FALLBACK_PERIOD = 125
FALLBACK_NEAR = 125.0
AS_GIVEN = "as given"
BY_DEFAULT = "by default"  # the source of a near range that nothing is known for
MEDIAN_EVENT = "the median event length"  # by default on a clock, and of 1ev
KNOWN = "half the period of the series"
GIVEN_PERIOD = "half the given period"
NO_LENGTH = "most incidents are moments, which have no length, so near is 0 by default: give one"
CONSTANT = "the values are constant"  # why there is no period
FALLBACK = "a fallback"  # and of one for values that have no period
_MOST_VALUES = 20_000
_LONGEST_LAG = 400
_FIRST_LAG = 3
_SHORTEST_PERIOD, _LONGEST_PERIOD = 6, 303
_SAME = 0.1  # of a lag: peaks that are closer are one
LEAST_RISE = 0.1  # of the autocorrelation, from the trough before a peak: a smooth series has small ones at many lags
LEAST_AGAIN = 0.1  # of that, by which it rises again to twice the lag
_MOST_TRIED = 1_000  # lags whose second cycle is looked for
_TIE = 1e-13  # of the autocorrelation at lag 0: what is closer is equal, but for rounding, which is 50 times smaller


@dataclass(frozen=True, slots=True)
class Near:
    """The near range of a series, and where it comes from.

    Attributes
    ----------
    points : float
    source : str
        "as given", "2 times the median event length", "half the given period", "half the period of the series", "half
        the estimated period", "by default", "the median event length", which is the default on a clock, or "a fallback"
        with the reason why no period was found.
    strength : float, optional
        The autocorrelation at the period, where that was estimated: 1 for values that repeat exactly, 0 for none.
    words : str
        How long it is, where there is a clock.
    doubt : str
        Why the period that it is half of may be none; empty if it is one, or given.
    """

    points: float
    source: str
    strength: float | None = None
    words: str = ""
    doubt: str = ""

    @property
    def is_fallback(self) -> bool:
        """Whether the values have no period, so that the near range has nothing to do with the series."""
        return self.source.startswith(FALLBACK)

    @property
    def is_of_moments(self) -> bool:
        """Whether it is 0 by default, as events have no length."""
        return self.points == 0 and self.source == MEDIAN_EVENT

    def __str__(self) -> str:
        return f"near {self.points:g}{f' ({self.words})' if self.words else ''}, {self.source}"


@dataclass(frozen=True, slots=True)
class Period(Framed):
    """The period of a series, if it has one.

    Attributes
    ----------
    points : int or None
        None where no period was found.
    strength : float or None
        The autocorrelation at the period: 1 for values that repeat exactly, 0 for none.
    reason : str
        Why no period was found; empty where one was.
    doubt : str
        Why it may be none, though the autocorrelation is highest there: a smooth series has many small peaks. Empty
        where it falls to a trough before the peak, and rises again to a second one at twice the lag.
    """

    points: int | None
    strength: float | None = None
    reason: str = ""
    doubt: str = ""

    @property
    def or_fallback(self) -> int:
        """The period, or 125 where there is none: the fallback of the TSB-AD benchmark."""
        return FALLBACK_PERIOD if self.points is None else self.points

    def __str__(self) -> str:
        if self.points is None:
            return f"no period: {self.reason}"
        doubt = f", hardly a period: {self.doubt}" if self.doubt else ""
        return f"{self.points:,} points (autocorrelation {self.strength:.2f}){doubt}"


def find_period(x: Numbers, *, rank: Literal[1, 2] = 1) -> Period:
    """Estimate the period of a series from its autocorrelation, by the rule of the TSB-AD benchmark.

    Parameters
    ----------
    x : array-like of numbers, shape (n,) or (n, 1)
        The values of the series; the first 20,000 are used. NaN is a missing value, which is filled with a straight
        line between its neighbours.
    rank : 1 or 2, default 1
        Which peak of the autocorrelation: the highest, or the highest of those at longer lags than that (if there is
        none, the highest all the same). Detectors take their windows from the second.

    Returns
    -------
    Period
        ``points``: the lag, from 6 to 303, of that local maximum of the autocorrelation; None where there is none, with
        the ``reason``. ``or_fallback`` is then 125. ``strength``: the autocorrelation there. ``doubt``: why that may be
        smoothness, and no period.

    Notes
    -----
    The biased autocorrelation at the lags 0 to 400, of which the lags from 3 on are searched for strict local maxima
    (neither end counts). The highest wins, at a tie the shortest; outside 6 to 303 it counts as none. Autocorrelations
    that differ by less than rounding may, 1e-13, are tied. `near_profile` looks for longer periods too.

    Examples
    --------
    >>> period = dqeval.find_period(np.sin(2 * np.pi * np.arange(1000) / 48))
    >>> period.points, round(period.strength, 2)
    (48, 0.95)
    >>> print(dqeval.find_period(np.arange(1000)))
    no period: the autocorrelation has no peak at lags from 4 to 399
    """
    values = validate.values_with_gaps(x, name="x")
    return _published_period(values, arguments.whole_number("rank", rank, least=1, most=2))


def candidate_periods(x: FloatArray, most: int = 5) -> list[Period]:
    """Return the lags up to a third of a series at which it repeats best, the strongest first.

    Only the highest of several peaks within a tenth of a lag counts, and of the multiples of a stronger period only one
    at which the series repeats better than at the multiple before it. What may be smoothness is none.
    """
    correlation = _autocorrelation(x, _with_second_cycle(len(x) // 3))
    lags = _peaks(correlation[: len(x) // 3 + 1])
    if len(lags):  # most of many are smoothness
        troughs = np.minimum.accumulate(correlation[1:])
        lags = lags[(correlation[lags] > 0) & (correlation[lags] - troughs[lags - 2] >= LEAST_RISE)]
    found: list[Period] = []
    for lag in lags[np.argsort(-correlation[lags], kind="stable")][:_MOST_TRIED].tolist():
        if len(found) == most:
            break
        is_new = not any(_is_repeat(lag, other.or_fallback, correlation) for other in found)
        if is_new and not _doubt(correlation, lag):
            found.append(Period(lag, float(correlation[lag])))
    return found


def _with_second_cycle(lag: int) -> int:
    """Return up to which lag to look if a series may repeat at one."""
    return 2 * lag + max(round(_SAME * lag), 1)


def _doubt(correlation: FloatArray, lag: int) -> str:
    """Return why a peak of the autocorrelation may be no period; nothing if it is one."""
    rise = float(correlation[lag] - correlation[1:lag].min())
    if rise < LEAST_RISE:
        return f"the autocorrelation hardly rises to it, by {rise:.3f}, as where values are merely smooth"
    second = correlation[2 * lag - max(round(_SAME * lag), 1) : _with_second_cycle(lag) + 1]
    if not len(second) or second.max() - correlation[lag : 2 * lag].min() < LEAST_AGAIN * rise:
        return "the autocorrelation does not rise again to twice the lag, as after a second cycle"
    return ""


def _is_repeat(lag: int, of: int, correlation: FloatArray) -> bool:
    """Tell whether a lag says nothing new beside another: it is as good as equal, or one of its many multiples."""
    times, room = max(round(lag / of), 1), _SAME * of
    if abs(lag - times * of) > room:
        return False
    before = (times - 1) * of
    return times == 1 or bool(correlation[lag] <= correlation[int(before - room) : int(before + room) + 1].max())


def near_of(
    series: Series,
    labels: BoolArray,
    *,
    near: Any = None,
    period: Any = None,
    axis: TimeAxis | None = None,
    lengths: FloatArray | None = None,
) -> Near:
    """Return the near range of a series: given, or half the period that is given, known or estimated, or the default.

    Nothing is estimated from cells of a clock, as they are as long as somebody wants them to be.

    Parameters
    ----------
    series : Series
        Its period, if it has one, is not estimated again. Nothing is estimated from several columns of values.
    labels : array of bool
        Its labels, checked.
    near : float or str, optional
        What the caller wants instead: points, "2ev" for twice the median length of an event, or a duration.
    period : float or str, optional
        Half of which the caller wants instead, in points or as a duration. At most one of the two.
    axis : TimeAxis, optional
        The clock on which durations are counted.
    lengths : array of float, optional
        If the points are cells of that clock: how long each event lasts, in cells, which may be a fraction of one.

    Returns
    -------
    Near

    Examples
    --------
    >>> series = dqeval.datasets.demo()
    >>> print(dqeval.core.near.near_of(series, series.labels))
    near 24, half the estimated period
    """
    known = series.period if near is None and period is None else None
    one_column = series.values is not None and (series.values.ndim == 1 or series.values.shape[1] == 1)
    is_asked = near is not None or period is not None or lengths is not None
    values = series.values if known is None and not is_asked and one_column else None
    if known is not None:
        return _on_axis(Near(validate.period(known) / 2, KNOWN, doubt=series.period_doubt), axis)
    if series.no_period and not is_asked:
        return _on_axis(Near(FALLBACK_PERIOD / 2, f"{FALLBACK}: {series.no_period}"), axis)
    given: dict[str, Any] = {"near": near, "period": period, "values": values}
    return near_from_arguments(series.labels, labels, **given, axis=axis, lengths=lengths)


def period_or_fallback(series: Series) -> int:
    """Return the period of a series that is known, or the fallback of the TSB-AD benchmark."""
    return FALLBACK_PERIOD if series.period is None else series.period


def parts_of_period(words: Mapping[str, float], period: float, *, is_period: bool) -> dict[str, float]:
    """Return near ranges by name, such as "period/2"; where there is no period, by what stands in for it.

    Examples
    --------
    >>> parts_of_period({"0": 0, "period/2": 0.5, "2 periods": 2}, 125, is_period=False)
    {'0': 0, 'fallback/2': 62.5, '2 × fallback': 250}
    """
    if is_period:
        return {word: share * period for word, share in words.items()}
    names = (re.sub(r"^(\S+) periods?$", r"\1 × fallback", word).replace("period", "fallback") for word in words)
    return {name: share * period for name, share in zip(names, words.values(), strict=True)}


def check_options(near: Any, period: Any) -> None:
    """Check what a caller wants as the near range, where that is not about any series yet; of durations, the form."""
    given = {"near": near, "period": period}
    points = {name: None if durations.is_duration(value) else value for name, value in given.items()}
    near_from_arguments((), np.zeros(0, dtype=np.bool_), **points, values=None)
    arguments.at_most_one(**given)


def near_from_arguments(
    y_true: Numbers,
    labels: BoolArray,
    *,
    near: Any,
    period: Any,
    values: Numbers | None,
    axis: TimeAxis | None = None,
    lengths: FloatArray | None = None,
) -> Near:
    """Return the near range: given, or half the period, which is given or found in the values, or the default.

    The labels are wanted as they were given, and as they were read. With a time axis, a near range or a period may be a
    duration. With the lengths of events on it, their median is the default.
    """
    return _on_axis(_near(y_true, labels, near, period, values, axis, lengths), axis)


def near_of_each(count: int, name: Callable[[int], str], *, near: Any, period: Any) -> tuple[FloatArray, FloatArray]:
    """Return the near ranges of many series, each in points and in median event lengths, of which one is 0.

    What is given is one for all series, or one for each; an error is about the series that the function names.
    """
    arguments.at_most_one(near=near, period=period)
    what, given = ("near", near) if period is None else ("period", period)
    if isinstance(given, str) or np.ndim(given) == 0:
        found = [_points_and_lengths(what, given)]
    else:
        if len(given) != count:
            raise ValueError(f"{what} must be one for all series, or one for each of {count:,}: got {len(given):,}")
        found = []
        for index, each in enumerate(given):
            with validate.errors_about(name(index)):
                found.append(_points_and_lengths(what, each))
    points, lengths = np.broadcast_to(np.array(found, dtype=np.float64), (count, 2)).T
    return points, lengths


def _points_and_lengths(what: str, given: Any) -> tuple[float, float]:
    if durations.is_duration(given):
        advice = "give a number of points; for series with times, also in an index, there is dqeval.evaluate_frame"
        raise ValueError(
            f"{what} {arguments.quote(given)} is a duration, and many series are counted in points: {advice}"
        )
    asked = {"near": None, "period": None, what: given}
    points = near_from_arguments((), np.zeros(0, dtype=np.bool_), **asked, values=None).points
    return (0.0, float(given.removesuffix("ev"))) if isinstance(given, str) else (points, 0.0)


def _on_axis(near: Near, axis: TimeAxis | None) -> Near:
    """Return a near range that says how long it is, where there is a clock."""
    return near if axis is None or not axis.dated else replace(near, words=axis.lasting(near.points))


def _near(
    y_true: Numbers,
    labels: BoolArray,
    near: Any,
    period: Any,
    values: Numbers | None,
    axis: TimeAxis | None,
    lengths: FloatArray | None,
) -> Near:
    arguments.at_most_one(near=near, period=period, values=values)
    if near is not None and durations.is_duration(near):
        points = near_in_cells(near, axis)
        return Near(points, AS_GIVEN)
    if near is not None:
        return _as_given(validate.near(near), labels, lengths)
    if period is not None:
        points = cells_of_duration("period", period, axis) if durations.is_duration(period) else period
        return Near(validate.period(points) / 2, GIVEN_PERIOD)
    if values is not None:
        found = _estimated(validate.values_beside(y_true, labels, values), values)
        if lengths is None or not found.is_fallback:
            return found
        return Near(median_length(lengths), f"{MEDIAN_EVENT}, as {found.source.removeprefix(f'{FALLBACK}: ')}")
    return Near(FALLBACK_NEAR, BY_DEFAULT) if lengths is None else Near(median_length(lengths), MEDIAN_EVENT)


def _as_given(near: float | str, labels: BoolArray, lengths: FloatArray | None) -> Near:
    """Return a near range that was given in points or in event lengths, which are 0 where there is no event."""
    if not isinstance(near, str):
        return Near(near, AS_GIVEN)
    times, median = float(near.removesuffix("ev")), 0.0
    if lengths is not None:
        median = median_length(lengths)
    elif labels.any():
        events = find_events(labels)
        median = median_length(events.stops - events.starts)
    return Near(times * median, f"{'' if times == 1 else f'{times:g} times '}{MEDIAN_EVENT}")


def median_length(lengths: NDArray[Any]) -> float:
    """Return the median length of events; 0 where there is none."""
    return float(np.median(lengths)) if len(lengths) else 0.0


def _estimated(filled: FloatArray, given: Numbers) -> Near:
    """Return half the period that is estimated from values, here with their gaps filled and as they were given."""
    found = _published_period(filled)
    if found.points is None:
        return Near(FALLBACK_PERIOD / 2, f"{FALLBACK}: {found.reason}")
    missing = int(np.count_nonzero(np.isnan(np.asarray(given, dtype=np.float64))))
    gaps = f", {count_of(missing, 'missing value')} filled" if missing else ""
    return Near(found.points / 2, f"half the estimated period{gaps}", found.strength, doubt=found.doubt)


def _published_period(x: FloatArray, rank: int = 1) -> Period:
    """Return the period that `find_period` finds."""
    longer_correlation = _autocorrelation(x[:_MOST_VALUES], _with_second_cycle(_LONGEST_PERIOD))
    correlation = longer_correlation[: _LONGEST_LAG + 1]
    if not len(correlation):
        return Period(None, reason=CONSTANT)
    peaks, last = _peaks(correlation), len(correlation) - 2
    if not len(peaks):
        too_short = f"{len(x):,} values are too few to see one"
        no_peak = f"the autocorrelation has no peak at lags from {_FIRST_LAG + 1} to {last}"
        return Period(None, reason=no_peak if last > _FIRST_LAG else too_short)
    lag = _highest(correlation, peaks)
    longer = peaks[peaks > lag]
    if rank == 2 and len(longer):
        lag = _highest(correlation, longer)
    if not _SHORTEST_PERIOD <= lag <= _LONGEST_PERIOD:
        limits = f"{_SHORTEST_PERIOD} to {_LONGEST_PERIOD}"
        return Period(None, reason=f"the autocorrelation is highest at lag {lag}, which is not from {limits}")
    return Period(lag, float(correlation[lag]), doubt=_doubt(longer_correlation, lag))


def _peaks(correlation: FloatArray) -> NDArray[np.intp]:
    """Return the lags from 4 on at which the autocorrelation is higher than at both neighbours."""
    before, inner, after = (correlation[_FIRST_LAG + i : len(correlation) - 2 + i] for i in range(3))
    return np.flatnonzero((inner > before + _TIE) & (inner > after + _TIE)) + _FIRST_LAG + 1


def _highest(correlation: FloatArray, peaks: NDArray[np.intp]) -> int:
    """Return the first of the highest peaks."""
    heights = correlation[peaks]
    return int(peaks[np.argmax(heights > heights.max() - _TIE)])


def _autocorrelation(x: FloatArray, longest: int) -> FloatArray:
    """Return the biased autocorrelation up to a lag, 1 at lag 0; nothing for a constant series."""
    if x.min() == x.max():
        return np.zeros(0)
    lags = min(longest, len(x) - 1)
    size = 1 << (len(x) + lags).bit_length()  # with zeros behind the series, so that its end does not meet its start
    spectrum = np.fft.rfft(_centred(x), size)
    correlation: FloatArray = np.fft.irfft(spectrum.real**2 + spectrum.imag**2, size)[: lags + 1]
    correlation /= correlation[0]
    return correlation


def _centred(x: FloatArray) -> FloatArray:
    """Return a series around 0, in a unit in which its squares are neither infinite nor 0."""
    _, exponent = np.frexp(np.abs(x).max())
    centred: FloatArray = np.ldexp(x, -exponent)  # a power of two, which rounds nothing
    centred -= centred.mean()
    centred -= centred.mean()  # what the rounding of a mean far from 0 has left
    return centred
