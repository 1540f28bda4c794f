"""How DQE depends on the near range: periods of the series, DQE by range, and where detectors change places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dqeval.analysis.check import SHORT_BESIDE_PERIOD
from dqeval.analysis.explain_result import in_points
from dqeval.analysis.result import Result
from dqeval.core import arguments, validate
from dqeval.core.levels import sample_levels
from dqeval.core.near import (
    FALLBACK,
    GIVEN_PERIOD,
    KNOWN,
    MEDIAN_EVENT,
    Near,
    Period,
    candidate_periods,
    find_period,
    parts_of_period,
)
from dqeval.core.prepared import Prepared, Scored
from dqeval.core.timeline import TimeAxis
from dqeval.core.types import FloatArray, Progress
from dqeval.datasets.door import Data, prepare
from dqeval.metrics import dqe
from dqeval.render import drawing
from dqeval.render.tables import Page, Part, Table, in_words
from dqeval.support.frames import Framed
from dqeval.support.threads import in_order, worker_count

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEPS = 24  # near ranges, besides 0
NARROWEST = 1.0  # points
WEAK = 0.3  # an autocorrelation below this is hardly a period
HARDLY = (
    "The series hardly repeats at any lag: choose the near range by how early or late an alarm may be, with --near."
)
MUCH_STRONGER = 0.1  # by which a longer period must be stronger to be worth a word
NO_VALUES = "there is no column of values"
NOT_FINITE = "some values are infinite"
PARTS_OF_PERIOD = {"0": 0.0, "period/8": 0.125, "period/4": 0.25, "period/2": 0.5, "period": 1.0, "2 periods": 2.0}
PARTS_OF_EVENT = {"0": 0.0, "event/4": 0.25, "event/2": 0.5, "event": 1.0, "2 events": 2.0, "4 events": 4.0}
_CLOSE = 1e-9  # of the near range at which two detectors change places
_SAME = 1e-12  # differences of DQE that are rounding


@dataclass(frozen=True, slots=True)
class Flip:
    """A near range at which two detectors change places: which one is better below it, and which one above."""

    near: float
    below: str
    above: str


@dataclass(frozen=True, slots=True, eq=False)
class NearProfile(Framed, Result):
    """How DQE depends on the near range.

    ``to_frame()`` has a row per detector and near range.

    Attributes
    ----------
    name : str
        Of the series.
    near : Near
        The near range that the other commands use.
    estimated : Period
        The period by the rule of the TSB-AD benchmark, from 6 to 303 points.
    candidates : tuple of Period
        The lags at which the whole series repeats best, up to a third of its length; the strongest first.
    period : float
        What the near ranges are shown as parts of: the period that is given, known, estimated or the strongest of all
        lags; 125, which only stands in for one, where there is none, and on a clock twice the median event.
    ranges : array of float, shape (n,)
        Near ranges from 0 to two periods, and the one in use.
    dqe : mapping of str to array of float, shape (n,)
        DQE at each of them, by detector; empty where there are no scores.
    tabulated : mapping of str to float
        Near ranges by name: parts of the period, or on a clock without one of the median event, and before them the one
        in use, if it is none of them.
    at_tabulated : mapping of str to array of float
        DQE at each of these, by detector.
    flips : tuple of Flip
        Where two detectors change places, by ascending near range.
    longest_event : int
        The length of the longest event; 0 where there is none.
    axis : TimeAxis, optional
        The clock, where there is one: then ranges and periods are told as durations.
    """

    name: str
    near: Near
    estimated: Period
    candidates: tuple[Period, ...]
    period: float
    ranges: FloatArray
    dqe: Mapping[str, FloatArray]
    tabulated: Mapping[str, float]
    at_tabulated: Mapping[str, FloatArray]
    flips: tuple[Flip, ...]
    longest_event: int
    axis: TimeAxis | None = None

    @property
    def recommendation(self) -> str:
        """Which near range to choose, in words."""
        return " ".join(filter(None, [*self._about_the_period(), *self._about_the_events(), self.about_the_order]))

    def _about_the_period(self) -> Iterator[str]:
        if self.near.strength is not None:
            yield f"Near {self.shown(self.near.points)} is half the estimated period of {self._lag(self.estimated)}."
            yield self._doubt
        elif self.near.is_fallback:
            near = self.shown(self.near.points)
            yield f"No period was found: {self.estimated.reason}. So near {near} is only a fallback."
        else:
            yield from self._about_the_near_range()
            return
        if max(_strength(period) for period in (self.estimated, *self.candidates)) < WEAK:
            yield HARDLY
        elif self.candidates and _strength(self.candidates[0]) > _strength(self.estimated) + MUCH_STRONGER:
            best = self.candidates[0]
            yield f"The whole series repeats best after {self._lag(best)}: --period {best.points} fits it."

    @property
    def _doubt(self) -> str:
        """Why the period that the near range is half of may be none; empty if it is one."""
        return f"That is hardly a period: {self.near.doubt}." if self.near.doubt else ""

    def _about_the_events(self) -> Iterator[str]:
        if 0 < self.longest_event * SHORT_BESIDE_PERIOD < self.period:
            period, longest = (in_points(length, self.axis) for length in (self.period, self.longest_event))
            short = f"All events are short beside {period}, at most {longest}"
            yield f"{short}: consider a near range by their length, such as --near 2ev."

    def _about_the_near_range(self) -> Iterator[str]:
        """Yield where a near range comes from that is not estimated, and what would be estimated instead."""
        known = f", which is {in_points(self.period, self.axis)}" if self.near.source == KNOWN else ""
        yield f"{_capital(str(self.near))}{known}."
        yield self._doubt
        if self.near.source != KNOWN and self.estimated.points is not None:
            half = self.shown(self.estimated.points / 2)
            yield f"Half the estimated period of {self._lag(self.estimated)} would be {half}."

    @property
    def about_the_order(self) -> str:
        """Whether the best detector depends on the near range, in words; empty where there are no two."""
        if len(self.dqe) < 2:
            return ""
        changes = list(self._changes_of_the_best())
        if not changes:
            return f"{best_by_range(self.dqe)[0]} is best with every near from 0 to {self.shown(self.ranges[-1])}."
        where = in_words([f"{self._place(flip)}, from {flip.below} to {flip.above}" for flip in changes])
        return f"The best detector depends on the near range: it changes at {where}. First decide what counts as near."

    @property
    def decides_the_order(self) -> bool:
        """Whether another near range has another best detector."""
        return any(self._changes_of_the_best())

    def shown(self, points: float) -> str:
        """Return a near range in words: as a duration, where there is a clock of dates."""
        return f"{points:g}" if self._clock is None else self._clock.lasting(points)

    @property
    def _clock(self) -> TimeAxis | None:
        """The clock, if it has dates."""
        return self.axis if self.axis is not None and self.axis.dated else None

    def _place(self, flip: Flip) -> str:
        return f"{flip.near:.4g}" if self._clock is None else self.shown(flip.near)

    def _lag(self, period: Period) -> str:
        """Return a period in words."""
        if self._clock is None or period.points is None:
            return str(replace(period, doubt=""))
        return f"{self.shown(period.points)} (autocorrelation {period.strength:.2f})"

    def _changes_of_the_best(self) -> Iterator[Flip]:
        """Yield where another detector becomes the best one."""
        for near, (best, other) in zip(self.ranges[1:].tolist(), pairwise(best_by_range(self.dqe)), strict=True):
            if best != other:
                so_far = [flip for flip in self.flips if flip.near <= near]
                between = [flip for flip in so_far if (flip.below, flip.above) == (best, other)]
                yield between[-1] if between else Flip(near, best, other)

    def page(self) -> Page:
        """Return the periods, DQE against the near range, and a recommendation."""
        parts: list[Part] = [f"{self.name}: {self.near}", self._period_table()]
        if self.dqe:
            parts.append(self.dqe_table())
        if self.flips:
            parts.append(self._flip_table())
        return Page([*parts, self.recommendation])

    def _period_table(self) -> Table:
        rows = [("from 6 to 303 (TSB-AD)", self.estimated)]
        rows += [("up to a third of the series", period) for period in self.candidates]
        cells = [
            (what, "none", "") if period.points is None else (what, self._points(period), f"{period.strength:.2f}")
            for what, period in rows
        ]
        note = "autocorrelation: 0 if the values do not repeat, up to 1 if they do; less for lags long beside them"
        return Table(("lags", "period", "autocorrelation"), cells, note=note)

    def _points(self, period: Period) -> str:
        return f"{period.or_fallback:,}" if self._clock is None else self.shown(period.or_fallback)

    def dqe_table(self) -> Table:
        """Return DQE at the near range in use, and at parts of the period, or of what stands in for it."""
        header = ("DQE with near", *(f"{word} ({self.shown(points)})" for word, points in self.tabulated.items()))
        rows = [(name, *(f"{value:.3f}" for value in values)) for name, values in self.at_tabulated.items()]
        return Table(header, rows)

    def _flip_table(self) -> Table:
        rows = [(self._place(flip), flip.below, flip.above) for flip in self.flips]
        return Table(("near", "better below", "better above"), rows, text_columns=3)

    def _columns(self) -> dict[str, Any]:
        return {
            "detector": [name for name in self.dqe for _ in self.ranges],
            "near": np.tile(self.ranges, len(self.dqe)),
            "dqe": np.concatenate([np.zeros(0), *self.dqe.values()]),
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row per detector and near range."""
        return [
            {"detector": name, "near": near, "dqe": value}
            for name, values in self.dqe.items()
            for near, value in zip(self.ranges.tolist(), values.tolist(), strict=True)
        ]

    def numbers(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {
            "period": asdict(self.estimated),
            "candidates": [asdict(period) for period in self.candidates],
            "ranges": self.ranges,
            "dqe": dict(self.dqe),
            "tabulated": dict(self.tabulated),
            "dqe_tabulated": dict(self.at_tabulated),
            "flips": [asdict(flip) for flip in self.flips],
            "recommendation": self.recommendation,
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot DQE of each detector against the near range.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> ax = dqeval.near_profile(dqeval.datasets.demo()).plot()
        >>> ax.get_xlabel(), len(ax.get_lines())
        ('near range in points (dotted: near 24)', 4)
        """
        axes = drawing.axes_or_new(ax)
        for name, values in self.dqe.items():
            axes.plot(self.ranges, values, label=name)
        axes.axvline(self.near.points, color="0.4", linestyle=":")
        unit = "points" if self._clock is None else f"cells of {self._clock.lasting(1)}"
        axes.set(ylim=(0, 1), ylabel="DQE", xlabel=f"near range in {unit} (dotted: near {self.near.points:g})")
        if self.dqe:
            axes.legend()
        return axes

    def __str__(self) -> str:
        return self.page().text()

    def _repr_html_(self) -> str:
        return self.page().html()


def near_profile(
    data: Data,
    *,
    part: Literal["all", "test"] = "all",
    progress: Progress | None = None,
    workers: int | None = None,
) -> NearProfile:
    """Show how DQE depends on the near range, and which one to choose.

    Parameters
    ----------
    data : Series, mapping of str to array-like, str or Path
        A series with values, and with the scores of any number of detectors; or its columns by name, as in a file:
        ``label``, ``value`` and one per detector; or the file.
    part : "all" or "test", default "all"
        Whether to take the whole series, or its test part, where the series says where training ends.
    progress : callable, optional
        Called with the number of steps done and the number of all steps.
    workers : int, optional
        How many threads compute; 1 for none besides the caller's. If not given, one for each core that this process may
        use. The numbers do not depend on it.

    Returns
    -------
    NearProfile

    Examples
    --------
    >>> found = dqeval.near_profile(dqeval.datasets.demo())
    >>> found.estimated.points, [period.points for period in found.candidates]
    (48, [48, 288])
    >>> print(found.recommendation.partition(". ")[2])
    sharp is best with every near from 0 to 96.
    """
    return profile_of(prepare(data, part=part), progress=progress, workers=workers)


def profile_of(
    prepared: Prepared, *, progress: Progress | None = None, every_flip: bool = True, workers: int | None = None
) -> NearProfile:
    """Return what `near_profile` does, of a series that is checked already.

    With many detectors, it takes far longer to find where each two change places than where the best one does.
    """
    arguments.callback("progress", progress)
    count = worker_count(workers, points=len(prepared.labelled.labels))
    values, why_none = _filled_values(prepared)
    estimated = Period(None, reason=why_none) if values is None else _estimated(prepared, values)
    candidates = () if values is None else tuple(candidate_periods(values))
    period, is_period = _period_of(prepared, estimated, candidates)
    in_use = prepared.near.points
    widest = max(2.0 * period, in_use, 2 * NARROWEST)
    ranges = np.unique([0.0, in_use, *np.geomspace(NARROWEST, widest, STEPS)])
    parts = parts_of_period(PARTS_OF_PERIOD, period, is_period=is_period)
    if not is_period and prepared.near.source == MEDIAN_EVENT:
        parts = {word: share * in_use for word, share in PARTS_OF_EVENT.items()}
    tabulated = parts if in_use in parts.values() else {"in use": in_use} | parts
    if prepared.scores:
        prepared.require_event()
    dqe_at: dict[str, FloatArray] = {}
    at_tabulated: dict[str, FloatArray] = {}
    curves: dict[str, _Curve] = {}
    every = [*ranges.tolist(), *tabulated.values()]

    def work(name: str) -> tuple[_Curve, FloatArray]:
        curve = _Curve(prepared.scored(name))
        return curve, np.array([curve.at(near) for near in every])

    found = in_order(work, prepared.scores, count)
    for done, (name, (curve, values_at)) in enumerate(zip(prepared.scores, found, strict=True), start=1):
        curves[name], dqe_at[name], at_tabulated[name] = curve, values_at[: len(ranges)], values_at[len(ranges) :]
        if progress is not None:
            progress(done, len(prepared.scores))
    pairs = combinations(curves, 2) if every_flip else _neighbours(dqe_at)
    flips = tuple(sorted(_flips(curves, ranges, dqe_at, pairs), key=lambda flip: flip.near))
    about = (prepared.name, prepared.near, estimated, candidates, period)
    longest = int(prepared.labelled.lengths.max(initial=0))
    return NearProfile(*about, ranges, dqe_at, tabulated, at_tabulated, flips, longest, prepared.labelled.axis)


class _Curve:
    """DQE of a detector against the near range: at which thresholds its points are detected does not depend on it."""

    def __init__(self, scored: Scored) -> None:
        self._labelled = scored.labelled
        self._levels = sample_levels(scored.scores, self._labelled.regions(0.0), 100)

    def at(self, near: float) -> float:
        """Return DQE with a near range."""
        return dqe.mean_dqe(replace(self._levels, partition=self._labelled.regions(near)))


def _filled_values(prepared: Prepared) -> tuple[FloatArray | None, str]:
    """Return the values without gaps; or None, and why there is nothing to estimate a period from."""
    line = prepared.line
    if line is None or np.isnan(line).all():
        return None, NO_VALUES
    return (None, NOT_FINITE) if np.isinf(line).any() else (validate.filled(line), "")


def _estimated(prepared: Prepared, values: FloatArray) -> Period:
    """Return the period by the published rule: that of the near range, where it was found for it."""
    near = prepared.near
    if near.strength is not None:
        return Period(round(2 * near.points), near.strength, doubt=near.doubt)
    if near.is_fallback:
        return Period(None, reason=near.source.removeprefix(f"{FALLBACK}: "))
    return find_period(values)


def _period_of(prepared: Prepared, estimated: Period, candidates: Sequence[Period]) -> tuple[float, bool]:
    """Return the period to show near ranges as parts of, and whether it is one, or only stands in for it."""
    near = prepared.near
    if near.source in (KNOWN, GIVEN_PERIOD):
        return 2 * near.points, True
    if (estimated.points is None or estimated.doubt) and candidates and _strength(candidates[0]) >= WEAK:
        return candidates[0].or_fallback, True
    if estimated.points is None and near.source == MEDIAN_EVENT:  # the fallback would be a number of cells
        return 2 * near.points, False
    return estimated.or_fallback, estimated.points is not None


def best_by_range(found: Mapping[str, FloatArray]) -> list[str]:
    """Return the best detector at each near range: that of the last one, unless another is better, not by rounding."""
    best, so_far = [], ""
    for i in range(len(next(iter(found.values()), ()))):
        highest = max(found, key=lambda name: found[name][i])
        if not so_far or found[highest][i] > found[so_far][i] + _SAME:
            so_far = highest
        best.append(so_far)
    return best


def _neighbours(found: Mapping[str, FloatArray]) -> set[tuple[str, str]]:
    """Return the detectors that are best one after the other."""
    return {(one, other) for one, other in pairwise(best_by_range(found)) if one != other}


def _flips(
    curves: Mapping[str, _Curve],
    ranges: FloatArray,
    found: Mapping[str, FloatArray],
    pairs: Iterable[tuple[str, str]],
) -> Iterator[Flip]:
    """Yield where two detectors change places, by halving the step in which they do."""
    for one, other in pairs:
        difference = found[one] - found[other]
        told_apart = np.flatnonzero(np.abs(difference) > _SAME)
        for i, j in pairwise(told_apart.tolist()):
            if difference[i] * difference[j] < 0:
                low, high = float(ranges[i]), float(ranges[j])
                sign = np.sign(difference[i])
                while high - low > _CLOSE * max(high, NARROWEST):
                    middle = (low + high) / 2
                    between = curves[one].at(middle) - curves[other].at(middle)
                    low, high = (middle, high) if between * sign > 0 else (low, middle)
                below, above = (one, other) if sign > 0 else (other, one)
                yield Flip(high, below, above)


def _strength(period: Period) -> float:
    """Return how much a series repeats at a period; 0 if that is hardly one."""
    return 0.0 if period.strength is None or period.doubt else period.strength


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
