"""The NAB score: early detections in windows are worth more, and every point of a false alarm costs."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dqeval.core import arguments, validate
from dqeval.core.arguments import Check
from dqeval.core.events import points_in
from dqeval.core.matching import Match, or_undefined
from dqeval.core.prepared import Labelled
from dqeval.core.registry import metric
from dqeval.core.sweep import Sweep
from dqeval.core.types import Events, FloatArray, IntArray, Numbers
from dqeval.core.validate import Undefined, UndefinedError, caller_level
from dqeval.render.tables import count_of
from dqeval.support.frames import Framed, columns_of_records

Profile = Literal["standard", "reward_low_FP", "reward_low_FN"]
Windows = Literal["labels", "rule"] | Sequence[tuple[int, int]]

MOST_PROBATION = 5000  # the points of a series beyond which its probation grows no more
RULE = 0.1  # the share of a series that all windows of the rule take together


@dataclass(frozen=True, slots=True)
class _Weights:
    """What a profile gives for a hit and takes for a missed window and for a false alarm."""

    hit: float
    miss: float
    false_alarm: float


PROFILES: dict[Profile, _Weights] = {
    "standard": _Weights(1.0, 1.0, 0.11),
    "reward_low_FP": _Weights(1.0, 1.0, 0.22),
    "reward_low_FN": _Weights(1.0, 2.0, 0.11),
}


@dataclass(frozen=True, slots=True)
class NabParts(Framed):
    """The NAB score of a series, or of several that are added up: ``sum(parts)`` pools them.

    ``to_frame()`` has a single row: the value, the raw score, the number of windows, and the profile.

    Attributes
    ----------
    raw : float
        What hits are worth, less what missed windows and false alarms cost.
    windows : tuple of (int, int)
        The first and the last point of each window that was scored, of all series. Without any, ``value`` is NaN, but
        ``raw`` counts the false alarms.
    profile : str
        By which profile.
    """

    raw: float
    windows: tuple[tuple[int, int], ...]
    profile: Profile

    @property
    def value(self) -> float:
        """The normalised score: 0 if nothing is detected, 100 for the first point of each window and nothing else."""
        if not self.windows:
            return math.nan
        weights, count = PROFILES[self.profile], len(self.windows)
        return 100 * (self.raw + weights.miss * count) / ((weights.hit + weights.miss) * count)

    @property
    def precision(self) -> float:
        """NaN: the score has no precision."""
        return math.nan

    @property
    def recall(self) -> float:
        """NaN: the score has no recall."""
        return math.nan

    def _columns(self) -> dict[str, Any]:
        row = {"value": self.value, "raw": self.raw, "windows": len(self.windows), "profile": self.profile}
        return columns_of_records([row])

    def __str__(self) -> str:
        windows = count_of(len(self.windows), "window")
        return f"{self.value:.3f} of 100 (raw score {self.raw:.3f}, {windows}, profile {self.profile})"

    def __add__(self, other: Any) -> NabParts:
        if not isinstance(other, NabParts):
            return NotImplemented
        if other.profile != self.profile:
            raise ValueError(f"scores of different profiles cannot be pooled: {self.profile} and {other.profile}")
        return replace(self, raw=self.raw + other.raw, windows=self.windows + other.windows)

    def __radd__(self, other: Any) -> NabParts:
        return self if other == 0 else NotImplemented  # where sum() begins


@dataclass(frozen=True, slots=True, eq=False)
class _Scoring:
    """Windows, and what each point is worth if it is detected.

    Attributes
    ----------
    windows : Events
    first : int
        The first point behind the probation.
    inside, owners : array of int
        The points in windows from there on, and in which window each is.
    gains : array of float
        What the window of each is worth, if this is its first detected point.
    behind : array of int
        The points behind windows that cost less than others.
    costs : array of float
        What each of them costs.
    cost : float
        What any other point costs.
    """

    windows: Events
    first: int
    inside: IntArray
    owners: IntArray
    gains: FloatArray
    behind: IntArray
    costs: FloatArray
    cost: float

    def require_window(self) -> None:
        """Check that there is a window, without which the score is undefined."""
        if not len(self.windows):
            raise UndefinedError(f"no window is left after the probation, which ends at point {self.first:,}")


def _scoring(labelled: Labelled, profile: Profile, windows: Windows, probation: float) -> _Scoring:
    """Return what detections are worth, once for each choice of parameters."""
    return labelled.once(("nab", profile, windows, probation), partial(_make, labelled, profile, windows, probation))


def _make(labelled: Labelled, profile: Profile, windows: Windows, probation: float) -> _Scoring:
    n, weights = len(labelled.labels), PROFILES[profile]
    first = math.ceil(min(math.floor(probation * n), probation * MOST_PROBATION))
    kept = _kept_windows(labelled, windows, first)
    owners, inside = points_in(np.maximum(kept.starts, first), kept.stops)
    gains = weights.hit * _worth_inside(kept, inside, owners)
    last, behind = points_in(kept.stops, _ends_of_slopes(kept))
    costs = weights.false_alarm * _cost_behind(kept, behind, last)
    return _Scoring(kept, first, inside, owners, gains, behind, costs, weights.false_alarm)


def _worth_inside(windows: Events, points: IntArray, own: IntArray) -> FloatArray:
    """Return what points are worth as the first detected one of their window: from 1 down to nearly 0."""
    widths = windows.stops - windows.starts
    return np.asarray(_curve(-(windows.stops[own] - points) / widths[own]) / _curve(-1.0))


def _ends_of_slopes(windows: Events) -> IntArray:
    """Return from where on a point behind each window costs as much as any, or the next window begins."""
    ends = windows.stops + 3 * np.maximum(windows.stops - windows.starts - 1, 1)
    return np.asarray(np.minimum(ends, np.append(windows.starts, windows.length)[1:]))


def _cost_behind(windows: Events, points: IntArray, last: IntArray) -> FloatArray:
    """Return what points not far behind their last window cost: from nearly 0 right behind it up to 1."""
    widths = windows.stops - windows.starts
    return np.asarray(-_curve((points - windows.stops[last] + 1) / np.maximum(widths[last] - 1, 1)))


def _curve(place: Any) -> Any:
    """Return NAB's sigmoid: from 1 far before the end of a window, through 0 at its end, to -1 far behind."""
    return 2 / (1 + np.exp(5 * place)) - 1


def _kept_windows(labelled: Labelled, windows: Windows, first: int) -> Events:
    """Return the windows that are scored; there may be none.

    Like NAB's labeler, the rule makes no window that starts in the probation. Like its sweeper, other windows are
    scored if they reach beyond it.
    """
    every, by_rule = _windows(labelled, windows), isinstance(windows, str) and windows == "rule"
    kept = every.starts >= first if by_rule else every.stops > first
    if kept.any() and not kept.all():
        lost, how = int(np.count_nonzero(~kept)), "starting" if by_rule else "ending"
        message = f"{lost:,} of {len(every):,} windows dropped for {how} before point {first:,}, in the probation"
        warnings.warn(message, UserWarning, stacklevel=caller_level())
    scored = Events(every.starts[kept], every.stops[kept], every.length)
    return _merged(scored) if by_rule and len(scored) else scored


def _windows(labelled: Labelled, windows: Windows) -> Events:
    events, n = labelled.events, len(labelled.labels)
    if isinstance(windows, str):
        if windows == "labels" or not len(events):
            return events
        half = math.trunc(RULE * n / len(events)) // 2
        return Events(np.maximum(events.starts - half, 0), np.minimum(events.starts + half + 1, n), n)
    last = windows[-1][1]
    if last >= n:
        raise ValueError(
            f"windows must lie in the series of {n:,} points: the last ends at {arguments.written_out(last)}"
        )
    starts, stops = np.array([(left, right + 1) for left, right in windows], dtype=np.intp).T.copy()
    return Events(starts, stops, n)


def _merged(windows: Events) -> Events:
    """Return windows of which none overlap: those that do become one. They are sorted by both ends."""
    apart = windows.starts[1:] >= windows.stops[:-1]
    starts = windows.starts[np.append(True, apart)]
    stops = windows.stops[np.append(apart, True)]
    return Events(starts, stops, windows.length)


def _nab(match: Match, profile: Profile, windows: Windows, probation: float) -> NabParts:
    scoring = _scoring(match.labelled, profile, windows, probation)
    scoring.require_window()
    return _parts(match, scoring, profile)


def _parts(match: Match, scoring: _Scoring, profile: Profile) -> NabParts:
    """Return the score and its windows; without any window, what false alarms cost."""
    hits, near = match.flags[scoring.inside], match.flags[scoring.behind]
    far = np.count_nonzero(match.flags[scoring.first :]) - np.count_nonzero(hits) - np.count_nonzero(near)
    hit, first = np.unique(scoring.owners[hits], return_index=True)  # the first detected point of each that is hit
    missed = PROFILES[profile].miss * (len(scoring.windows) - len(hit))
    costs = scoring.costs[near].sum() + scoring.cost * far
    return NabParts(float(scoring.gains[hits][first].sum() - missed - costs), _pairs(scoring.windows), profile)


def _pairs(windows: Events) -> tuple[tuple[int, int], ...]:
    return tuple(zip(windows.starts.tolist(), (windows.stops - 1).tolist(), strict=True))


def _nab_sweep(
    sweep: Sweep, profile: Profile, windows: Windows, probation: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the score at each threshold, behind NaN for precision and recall, which it has not.

    A window is worth what its first detected point is. So a point of a window counts from its own threshold down to
    that at which a point before it is detected: the two ends of this interval are counted, and summed up.
    """
    scoring, weights = _scoring(sweep.labelled, profile, windows, probation), PROFILES[profile]
    scoring.require_window()
    count = sweep.count
    inside, behind = sweep.ranks(scoring.inside), sweep.ranks(scoring.behind)
    until = _lowest_before(inside, scoring.owners, count)
    leads = inside < until
    gains = scoring.gains[leads] + weights.miss  # a window that is hit is not missed
    where = np.concatenate([inside[leads], until[leads], behind])
    changes = np.bincount(where, np.concatenate([gains, -gains, -scoring.costs]), minlength=count + 1)
    value = np.cumsum(changes[:count], dtype=np.float64)
    # The others all cost the same, so they are only counted.
    known = np.concatenate([sweep.ranks(slice(scoring.first)), inside, behind])
    known = np.bincount(known, minlength=count + 1)[:count]
    far = sweep.detected - np.cumsum(known, out=known)
    far *= scoring.cost
    value -= far
    value *= 100
    value /= (weights.hit + weights.miss) * len(scoring.windows)
    nothing = np.broadcast_to(np.nan, count)
    return nothing, nothing, value


def _lowest_before(ranks: NDArray[np.intc], window: IntArray, count: int) -> IntArray:
    """Return the lowest rank of the points before each one in its window; ``count`` where there is none."""
    # Each window begins below all those before it, so that one running minimum serves all of them.
    floors = window * (count + 1)
    lowest = np.minimum.accumulate(ranks - floors)
    before = np.full(len(ranks), count)
    follows = np.flatnonzero(window[1:] == window[:-1]) + 1
    before[follows] = lowest[follows - 1] + floors[follows]
    return before


def _checked_windows(name: str, given: Any) -> Windows:
    """Return windows that are given by name or one by one."""
    rule = f'{name} must be "labels", "rule" or pairs of first and last point'
    if isinstance(given, str) and given in ("labels", "rule"):
        return "rule" if given == "rule" else "labels"
    try:
        pairs = tuple((left, right) for left, right in given)
    except (TypeError, ValueError):
        raise ValueError(f"{rule}: got {arguments.quote(given)}") from None
    if not pairs:
        raise ValueError(f"{rule}: got none")
    ends = [arguments.whole_number(f"the ends of {name}", end, least=0) for pair in pairs for end in pair]
    found = tuple(zip(ends[::2], ends[1::2], strict=True))
    for (left, right), (following, _) in zip(found, (*found[1:], (math.inf, 0)), strict=True):
        if not left <= right < following:
            place = f"({left}, {right})" + (f" and the one from {following} on" if right >= following else "")
            raise ValueError(f"{name} must ascend and not overlap, each with its first point first: see {place}")
    return found


_CHECKS: dict[str, Check] = {
    "profile": partial(arguments.one_of, choices=tuple(PROFILES)),
    "windows": _checked_windows,
    "probation": arguments.share,
}


@metric(
    label="NAB",
    takes="detections",
    compute=_nab,
    sweep="all",
    at_every_level=_nab_sweep,
    checks=_CHECKS,
    perfect=100.0,
    by_default=False,
    citation="Lavin and Ahmad 2015",
    same_as='NAB\'s sweeper, with its windows and probation=0.15; tsadmetrics NabScore with windows="labels"',
    cost=0.12,
)
def nab_score(
    y_true: Numbers,
    y_pred: Numbers,
    *,
    profile: Profile = "standard",
    windows: Windows = "labels",
    probation: float = 0.0,
    undefined: Undefined = "raise",
) -> float:
    """NAB score: the first detection in each window counts, the earlier the more, and every point outside costs.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    profile : "standard", "reward_low_FP" or "reward_low_FN", default "standard"
        What weighs more: neither, few false alarms, or few missed windows.
    windows : "labels", "rule" or sequence of (first, last), default "labels"
        Where a detection counts: in the events, or around their first points by NAB's rule of 10 %, or in windows in
        ascending order, both ends included, that do not overlap.
    probation : float, default 0
        The share of the series at its start that is not scored, from 0 to 1; 0.15 in NAB. Windows that lie in it, and
        windows of the rule that start in it, are dropped, with a warning.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly, or no window is left.

    Returns
    -------
    float
        At most 100, for the first point of each window and nothing outside; 0 if nothing is detected; below 0 if false
        alarms cost more than detections are worth.

    Examples
    --------
    The second of two points of an event is detected, and a point long before it:

    >>> round(dqeval.metrics.nab_score([0, 0, 0, 1, 1, 0], [1, 0, 0, 0, 1, 0]), 3)
    87.49
    """
    return nab_parts(y_true, y_pred, profile=profile, windows=windows, probation=probation, undefined=undefined).value


def nab_parts(
    y_true: Numbers,
    y_pred: Numbers,
    *,
    profile: Profile = "standard",
    windows: Windows = "labels",
    probation: float = 0.0,
    undefined: Undefined = "raise",
) -> NabParts:
    """Raw score and windows of a series, with `nab_score`; the sum of several pools them as NAB does.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    profile : "standard", "reward_low_FP" or "reward_low_FN", default "standard"
        What weighs more: neither, few false alarms, or few missed windows.
    windows : "labels", "rule" or sequence of (first, last), default "labels"
        Where a detection counts: in the events, or around their first points by NAB's rule of 10 %, or in windows in
        ascending order, both ends included, that do not overlap.
    probation : float, default 0
        The share of the series at its start that is not scored, from 0 to 1; 0.15 in NAB. Windows that lie in it, and
        windows of the rule that start in it, are dropped, with a warning.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly, or no window is left.

    Returns
    -------
    NabParts
        ``raw``, the score before it is normalised; ``windows``, those that were scored; ``value``, the metric. They can
        be added up: raw scores and windows are summed over the series, and normalised once. A series without a window
        has no value of its own, but with ``undefined="nan"`` its false alarms count in the sum.

    Examples
    --------
    >>> one = dqeval.metrics.nab_parts([0, 1, 1, 0], [0, 1, 0, 0])
    >>> other = dqeval.metrics.nab_parts([0, 1, 1, 0, 0, 1], [0, 0, 0, 0, 0, 0])
    >>> one.value, other.value, round(sum([one, other]).value, 3)
    (100.0, 0.0, 33.333)
    """
    checked = arguments.checked(_CHECKS, profile=profile, windows=windows, probation=probation)
    labels, detections = validate.labels_and_detections(y_true, y_pred)
    match = Match(Labelled(labels), detections)
    if not validate.check_defined(match.labelled.events, undefined):
        checked["windows"] = "labels"  # of which there are none: every detection is a false alarm
        return _parts(match, _scoring(match.labelled, **checked), profile)
    scoring = _scoring(match.labelled, **checked)
    or_undefined(None, scoring.require_window, undefined)
    return _parts(match, scoring, profile)
