"""From what metrics say of changed copies to means, deviations and intervals, and to whether an order survives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dqeval.core.agreement import agreement_of
from dqeval.core.confidence import FEWEST, Interval, mean_intervals
from dqeval.core.types import FloatArray
from dqeval.lab.judge import TOLERANCE
from dqeval.lab.perturbations import PERTURBATIONS
from dqeval.lab.stress_result import ChanceLevel, Varied

LEVEL = 0.95

LEAST_SPREAD = 5e-4  # between detectors: less is shown as 0.000, and nothing is a multiple of that


@dataclass(frozen=True, slots=True, eq=False)
class Copies:
    """What the metrics say of the changed copies of a series, of one kind.

    Attributes
    ----------
    at : list of float
        By how much each copy was changed.
    values : array of float, shape (n_detectors, n_copies, n_metrics)
    base : array of float, shape (n_detectors, n_metrics)
        What they say of the same detectors as they are, or of the copy that the others are compared with; nothing of
        random detections.
    spread : array of float, shape (n_metrics,)
        The standard deviation between all detectors of the series, as they are; NaN for a single one.
    """

    at: list[float]
    values: FloatArray
    base: FloatArray
    spread: FloatArray


def spread_between(values: FloatArray) -> FloatArray:
    """Return the standard deviation between detectors, of each metric; 0 where they differ by rounding only.

    Parameters
    ----------
    values : array of float, shape (n_detectors, n_metrics)

    Examples
    --------
    >>> spread_between(np.array([[0.1, 0.2], [0.1, 0.4], [0.1, 0.3]])).round(3)
    array([0.   , 0.082])
    """
    alike = np.ptp(values, axis=0) <= TOLERANCE
    return np.where(alike, 0.0, values.std(axis=0))


def varied_by(kind: str, metrics: Sequence[str], copies: Sequence[Copies]) -> Iterator[Varied]:
    """Yield what a kind of change does to each metric, over the series that can be changed so."""
    count = sum(len(each.at) for each in copies)
    for j, metric in enumerate(metrics):
        rows = [_Row.of(each.base[:, j], each.values[:, :, j], float(each.spread[j])) for each in copies]
        yield _varied(kind, metric, rows, count)


def _varied(kind: str, metric: str, rows: Sequence[_Row], count: int) -> Varied:
    defined = [row for row in rows if np.isfinite(row.shift)]
    drawn = PERTURBATIONS[kind].drawn
    shift, shift_interval = _measured(defined, "shift", -np.inf, drawn=drawn)
    deviation, deviation_interval = _measured(defined, "deviation", 0.0, drawn=drawn)
    relative_shift, relative_shift_interval = _relative(defined, "shift", -np.inf, drawn=drawn)
    relative_deviation, relative_deviation_interval = _relative(defined, "deviation", 0.0, drawn=drawn)
    return Varied(
        kind=kind,
        metric=metric,
        value=_mean([row.value for row in rows]),
        spread=_mean([row.spread for row in rows]),
        shift=shift,
        shift_interval=shift_interval,
        deviation=deviation,
        deviation_interval=deviation_interval,
        relative_shift=relative_shift,
        relative_shift_interval=relative_shift_interval,
        relative_deviation=relative_deviation,
        relative_deviation_interval=relative_deviation_interval,
        best_stays=_mean([row.best_stays for row in rows]),
        tau=_mean([row.tau for row in rows]),
        copies=count,
        undefined=len(rows) - len(defined),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Row:
    """What a kind of change does to a metric on one series: means over the detectors for which it is defined.

    Attributes
    ----------
    value, shift, deviation : float
        As it is; the mean change; the standard deviation over the copies, NaN for a single one.
    spread : float
        The standard deviation between the detectors, as they are; NaN for a single one.
    shifts, deviations : array of float, shape (n_copies,)
        What each copy contributes to the shift and the deviation: they are the means of these.
    best_stays, tau : float
        In which share of the copies a best detector is still a best one; Kendall's tau to the order as it is.
    """

    value: float
    shift: float
    deviation: float
    spread: float
    shifts: FloatArray
    deviations: FloatArray
    best_stays: float
    tau: float

    @classmethod
    def of(cls, base: FloatArray, values: FloatArray, spread: float) -> _Row:
        """Return the row of a metric: what it says of the detectors as they are, and of their copies."""
        value, kept = _mean(base.tolist()), _order_kept(base, values)
        # A metric that is undefined for one of the copies has no deviation.
        defined = np.isfinite(base) & np.isfinite(values).all(axis=1)
        if not defined.any():
            return cls(value, np.nan, np.nan, spread, np.zeros(0), np.zeros(0), *kept)
        shifts = (values[defined] - base[defined, None]).mean(axis=0)
        deviation = float(values[defined].std(axis=1).mean()) if values.shape[1] > 1 else np.nan
        return cls(value, float(shifts.mean()), deviation, spread, shifts, _contributions(values[defined]), *kept)


def _contributions(values: FloatArray) -> FloatArray:
    """Return what each copy contributes to the standard deviation over all, the mean over the detectors.

    The standard deviation is no mean, but changes like one: by half of what a squared distance is above the variance,
    in standard deviations. So the intervals of means serve it too.
    """
    deviation = values.std(axis=1, keepdims=True)
    above = (values - values.mean(axis=1, keepdims=True)) ** 2 - deviation**2
    halves = np.divide(above, 2 * deviation, out=np.zeros_like(above), where=deviation > 0)
    return np.asarray((deviation + halves).mean(axis=0))


def _order_kept(base: FloatArray, values: FloatArray) -> tuple[float, float]:
    """Return in which share of the copies a best detector stays one, and Kendall's tau to the order as it is."""
    whole = np.isfinite(values).all(axis=0)
    # Where all detectors are alike, there is no order to keep.
    if len(base) < 2 or not np.isfinite(base).all() or not whole.any() or base.min() == base.max():
        return np.nan, np.nan
    then = values[:, whole]
    stays = (then[base == base.max()].max(axis=0) == then.max(axis=0)).mean()
    pairs = np.stack([np.broadcast_to(base, then.T.shape), then.T], axis=2)
    return float(stays), float(agreement_of(pairs)[0, 1])


def _measured(rows: Sequence[_Row], what: str, least: float, *, drawn: bool) -> tuple[float, Interval]:
    """Return a mean over series, and its interval: from series drawn again, or where these are few, from copies.

    Copies that are the same steps each time were not drawn, and cannot be drawn again.
    """
    rows = _with(rows, what)
    means = np.array([getattr(row, what) for row in rows])
    if len(rows) >= FEWEST:
        return float(means.mean()), _interval(means, least, "series")
    mean = _mean(means.tolist())
    if not drawn:
        return mean, Interval(np.nan, np.nan, LEVEL, len(rows), "series")
    copies = [getattr(row, f"{what}s") for row in rows]
    count = sum(map(len, copies))
    # What series differ by is no matter of the copies. Each series counts the same, however many copies it has.
    units = [mean + (each - each.mean()) * count / (len(copies) * len(each)) for each in copies]
    return mean, _interval(np.concatenate([np.zeros(0), *units]), least, "change")


def _with(rows: Sequence[_Row], what: str) -> list[_Row]:
    return [row for row in rows if np.isfinite(getattr(row, what))]


def _relative(rows: Sequence[_Row], what: str, least: float, *, drawn: bool) -> tuple[float, Interval]:
    """Return a mean over series as a multiple of their mean spread, and its interval."""
    told = _with(_with(rows, what), "spread")
    spread = _mean([row.spread for row in told])
    if not spread >= LEAST_SPREAD:
        return np.nan, Interval(np.nan, np.nan, LEVEL, 0, "series")
    mean, interval = _measured(told, what, least, drawn=drawn)
    if not interval.is_known:
        return mean / spread, interval
    if len(told) < FEWEST:
        # The spread of the detectors on the same series is as it is: it owes nothing to the copies.
        return mean / spread, replace(interval, low=interval.low / spread, high=interval.high / spread)
    # A ratio of two means changes like the mean of what the one is above its multiple of the other.
    above = np.array([getattr(row, what) - mean / spread * row.spread for row in told])
    return mean / spread, _interval(mean / spread + above / spread, least, "series")


def _interval(units: FloatArray, least: float, unit: str) -> Interval:
    return mean_intervals(units[:, None], level=LEVEL, least=least, most=np.inf, unit=unit)[0]


def chance_levels(metrics: Sequence[str], copies: Sequence[Copies]) -> Iterator[ChanceLevel]:
    """Yield what random detections get by density: means over series, also of the deviation from draw to draw."""
    for density in dict.fromkeys(at for each in copies for at in each.at):
        drawn = [each.values[0, np.array(each.at) == density] for each in copies]
        for j, metric in enumerate(metrics):
            mean = _mean([float(values[:, j].mean()) for values in drawn])
            yield ChanceLevel(density, metric, mean, _mean([float(values[:, j].std()) for values in drawn]))


def _mean(values: Sequence[float]) -> float:
    finite = [value for value in values if np.isfinite(value)]
    return float(np.mean(finite)) if finite else np.nan
