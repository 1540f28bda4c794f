"""How DQE depends on the near range: periods of the series, DQE by range, and where detectors change places."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from dqeval.analysis.result import Result
from dqeval.core import arguments, validate
from dqeval.core.near import FALLBACK_PERIOD, KNOWN, Near, Period, candidate_periods, find_period
from dqeval.core.prepared import Prepared, Scored
from dqeval.core.types import FloatArray, Progress
from dqeval.datasets.door import Data, prepare
from dqeval.metrics import dqe
from dqeval.render import drawing
from dqeval.render.tables import Page, Table, in_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEPS = 24  # near ranges, besides 0
NARROWEST = 1.0  # points
WEAK = 0.3  # an autocorrelation below this is hardly a period
HARDLY = (
    "The series hardly repeats at any lag: choose the near range by how early or late an alarm may be, with --near."
)
MUCH_STRONGER = 0.1  # by which a longer period must be stronger to be worth a word
TABULATED = {"0": 0.0, "period/8": 0.125, "period/4": 0.25, "period/2": 0.5, "period": 1.0, "2 periods": 2.0}
_CLOSE = 1e-9  # of the near range at which two detectors change places
_SAME = 1e-12  # differences of DQE that are rounding


@dataclass(frozen=True, slots=True)
class Flip:
    """A near range at which two detectors change places: which one is better below it, and which one above."""

    near: float
    below: str
    above: str


@dataclass(frozen=True, slots=True, eq=False)
class NearProfile(Result):
    """How DQE depends on the near range.

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
    period : int
        The period that the near ranges are shown as parts of: see ``recommendation``.
    ranges : array of float, shape (n,)
        Near ranges from 0 to two periods.
    dqe : mapping of str to array of float, shape (n,)
        DQE at each of them, by detector; empty where there are no scores.
    at_parts : mapping of str to array of float
        DQE at 0, 1/8, 1/4, 1/2, 1 and 2 periods, by detector.
    flips : tuple of Flip
        Where two detectors change places, by ascending near range.
    """

    name: str
    near: Near
    estimated: Period
    candidates: tuple[Period, ...]
    period: int
    ranges: FloatArray
    dqe: Mapping[str, FloatArray]
    at_parts: Mapping[str, FloatArray]
    flips: tuple[Flip, ...]

    @property
    def recommendation(self) -> str:
        """Which near range to choose, in words."""
        return " ".join([*self._about_the_period(), *self._about_the_order()])

    def _about_the_period(self) -> Iterator[str]:
        if self.near.source == KNOWN:
            yield f"{_capital(str(self.near))}, which is {self.period:,} points."
            return
        strength = max((_strength(period) for period in (self.estimated, *self.candidates)), default=0.0)
        if self.estimated.points is None:
            yield f"No period was found: {self.estimated.reason}. So near {FALLBACK_PERIOD / 2:g} is only a fallback."
        else:
            yield f"Near {self.estimated.points / 2:g} is half the estimated period of {self.estimated}."
        if strength < WEAK:
            yield HARDLY
        elif self.candidates and _strength(self.candidates[0]) > _strength(self.estimated) + MUCH_STRONGER:
            best = self.candidates[0]
            yield f"The whole series repeats best after {best}: --period {best.points} fits it."

    def _about_the_order(self) -> Iterator[str]:
        if len(self.dqe) < 2:
            return
        changes = list(self._changes_of_the_best())
        if not changes:
            yield f"{self._best_at(0)} is best with every near from 0 to {self.ranges[-1]:g}."
            return
        where = in_words([f"{flip.near:.4g}, from {flip.below} to {flip.above}" for flip in changes])
        yield f"The best detector depends on the near range: it changes at {where}. First decide what counts as near."

    def _changes_of_the_best(self) -> Iterator[Flip]:
        """Yield where another detector becomes the best one, by more than rounding."""
        best = self._best_at(0)
        for i, near in enumerate(self.ranges.tolist()):
            other = self._best_at(i)
            if self.dqe[other][i] > self.dqe[best][i] + _SAME:
                so_far = [flip for flip in self.flips if flip.near <= near]
                between = [flip for flip in so_far if (flip.below, flip.above) == (best, other)]
                yield between[-1] if between else Flip(near, best, other)
                best = other

    def _best_at(self, i: int) -> str:
        return max(self.dqe, key=lambda name: self.dqe[name][i])

    def page(self) -> Page:
        """Return the periods, DQE against the near range, and a recommendation."""
        parts: list[str | Table] = [f"{self.name}: {self.near}", self._period_table()]
        if self.dqe:
            parts.append(self._dqe_table())
        if self.flips:
            parts.append(self._flip_table())
        return Page([*parts, self.recommendation])

    def _period_table(self) -> Table:
        rows = [("from 6 to 303 (TSB-AD)", self.estimated)]
        rows += [("up to a third of the series", period) for period in self.candidates]
        cells = [
            (what, "none", "") if period.points is None else (what, f"{period.points:,}", f"{period.strength:.2f}")
            for what, period in rows
        ]
        note = "autocorrelation: 1 if the values repeat exactly, 0 if not at all"
        return Table(("lags", "period", "autocorrelation"), cells, note=note)

    def _dqe_table(self) -> Table:
        header = ("DQE with near", *(f"{word} ({share * self.period:g})" for word, share in TABULATED.items()))
        rows = [(name, *(f"{value:.3f}" for value in values)) for name, values in self.at_parts.items()]
        return Table(header, rows)

    def _flip_table(self) -> Table:
        rows = [(f"{flip.near:.4g}", flip.below, flip.above) for flip in self.flips]
        return Table(("near", "better below", "better above"), rows, text_columns=3)

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
        axes.set(ylim=(0, 1), ylabel="DQE", xlabel=f"near range in points (dotted: near {self.near.points:g})")
        if self.dqe:
            axes.legend()
        return axes

    def __str__(self) -> str:
        return self.page().text()

    def _repr_html_(self) -> str:
        return self.page().html()


def near_profile(data: Data, *, progress: Progress | None = None) -> NearProfile:
    """Show how DQE depends on the near range, and which one to choose.

    Parameters
    ----------
    data : Series, mapping of str to array-like, str or Path
        A series with values, and with the scores of any number of detectors; or its columns by name, as in a file:
        ``label``, ``value`` and one per detector; or the file.
    progress : callable, optional
        Called with the number of steps done and the number of all steps.

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
    return profile_of(prepare(data), progress=progress)


def profile_of(prepared: Prepared, *, progress: Progress | None = None) -> NearProfile:
    """Return what `near_profile` does, of a series that is checked already."""
    arguments.callback("progress", progress)
    line = prepared.line
    filled = None if line is None or np.isnan(line).all() else validate.values_with_gaps(line)
    estimated = Period(None, reason="there is no column of values") if filled is None else find_period(filled)
    candidates = () if filled is None else tuple(candidate_periods(filled))
    period = _period_of(prepared, estimated, candidates)
    ranges = np.concatenate([[0.0], np.geomspace(NARROWEST, max(2.0 * period, 2 * NARROWEST), STEPS)])
    parts = period * np.array(list(TABULATED.values()))
    dqe_at: dict[str, FloatArray] = {}
    at_parts: dict[str, FloatArray] = {}
    scored = {name: prepared.scored(name) for name in prepared.scores}
    if scored:
        prepared.require_event()
    for done, (name, of_detector) in enumerate(scored.items(), start=1):
        dqe_at[name], at_parts[name] = _dqe_at(of_detector, ranges), _dqe_at(of_detector, parts)
        if progress is not None:
            progress(done, len(scored))
    flips = tuple(sorted(_flips(scored, ranges, dqe_at), key=lambda flip: flip.near))
    return NearProfile(prepared.name, prepared.near, estimated, candidates, period, ranges, dqe_at, at_parts, flips)


def _period_of(prepared: Prepared, estimated: Period, candidates: Sequence[Period]) -> int:
    """Return the period that fits the series best: known, estimated, the strongest of all lags, or the fallback."""
    known = prepared.series.period
    if known is not None:
        return known
    if estimated.points is None and candidates and _strength(candidates[0]) >= WEAK:
        return candidates[0].or_fallback
    return estimated.or_fallback


def _dqe_at(scored: Scored, ranges: FloatArray) -> FloatArray:
    return np.array([dqe.dqe_at(scored, near) for near in ranges.tolist()])


def _flips(scored: Mapping[str, Scored], ranges: FloatArray, found: Mapping[str, FloatArray]) -> Iterator[Flip]:
    """Yield where two detectors change places, by halving the step in which they do."""
    for one, other in combinations(found, 2):
        difference = found[one] - found[other]
        told_apart = np.flatnonzero(np.abs(difference) > _SAME)
        for i, j in pairwise(told_apart.tolist()):
            if difference[i] * difference[j] < 0:
                low, high = float(ranges[i]), float(ranges[j])
                sign = np.sign(difference[i])
                while high - low > _CLOSE * high:
                    middle = (low + high) / 2
                    between = dqe.dqe_at(scored[one], middle) - dqe.dqe_at(scored[other], middle)
                    low, high = (middle, high) if between * sign > 0 else (low, middle)
                below, above = (one, other) if sign > 0 else (other, one)
                yield Flip(high, below, above)


def _strength(period: Period) -> float:
    return 0.0 if period.strength is None else period.strength


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
