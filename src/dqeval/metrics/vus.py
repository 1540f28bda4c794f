"""Volume under the surface: ROC and PR areas with labels softened over every window up to the largest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dqeval.core import arguments, validate
from dqeval.core.arguments import Check
from dqeval.core.entries import FromNear
from dqeval.core.joined import Joined
from dqeval.core.matching import highest_in_events, score_of
from dqeval.core.prepared import Scored
from dqeval.core.registry import metric
from dqeval.core.types import Events, FloatArray, IntArray, Numbers
from dqeval.core.validate import Undefined
from dqeval.kernels import buffers

_WINDOWS_AT_ONCE = 64
# sqrt(1 - x) for x from 0 to 1/2 is the sum of these times x**0, x**1, ...: the polynomial through its values at the
# roots of a Chebyshev polynomial, computed with 80 digits. It is right to the last digit of a float; a test compares.
ROOT = np.array(
    [
        *(1.0, -0.49999999999999944, -0.1250000000001574, -0.06249999998174587, -0.03906250111843441),
        *(-0.02734370815508823, -0.02050885454568293, -0.016095012550464652, -0.01332633623460924),
        *(-0.008652242495635095, -0.02592773611056718, 0.0871775282406774, -0.4314221611731236, 1.472652834803212),
        *(-4.01810943831216, 8.38909412564383, -13.294824639879968, 15.424377936934027, -12.427544361662607),
        *(6.228181474481657, -1.485634229646964),
    ]
)
_WINDOW = FromNear(
    lambda near: validate.window(float(np.floor(2 * near))),
    lambda near: validate.window(float(np.floor(near))),
    "the period (for detections, near)",
)
_CHECKS: dict[str, Check] = {
    "window": lambda _, given: validate.window(given),
    "thresholds": lambda _, given: validate.sampled_thresholds(given),
}


def _vus_roc(scored: Scored, window: int, thresholds: int) -> float:
    return float(_areas(scored, window, thresholds)[0].mean())


def _vus_pr(scored: Scored, window: int, thresholds: int) -> float:
    return float(_areas(scored, window, thresholds)[1].mean())


def _areas(scored: Scored, window: int, thresholds: int) -> FloatArray:
    """Return the areas under the ROC (row 0) and the PR curve (row 1), a column a window; both metrics share them."""
    return scored.once(("vus", window, thresholds), lambda: _computed_areas(scored, window, thresholds))


def _computed_areas(scored: Scored, window: int, thresholds: int) -> FloatArray:
    places = _places(len(scored.raw), thresholds)
    levels, at = scored.levels(scored.raw, scored.raw[scored.ascending[places]])
    hits = _at_or_above(np.bincount(levels[scored.labels], minlength=thresholds + 1)[None])
    highest = highest_in_events(levels, scored.events)
    return _areas_of(levels, scored.events, len(levels) - at.astype(np.float64), hits[0], highest, window)


def _places(points: int, thresholds: int) -> IntArray:
    """Return where the thresholds are, ascending, among so many points in order."""
    # As published: the step is rounded before it is multiplied and cut, which for some lengths gives one index less.
    index = (np.arange(thresholds) * ((points - 1) / (thresholds - 1))).astype(np.intp)
    index[-1] = points - 1
    return points - 1 - index[::-1]


def _areas_of(
    levels: NDArray[np.intc],
    events: Events,
    detected: FloatArray,
    hits: FloatArray,
    highest: NDArray[np.intc],
    window: int,
) -> FloatArray:
    """Return the areas, from how many points, and labelled ones, each level and those above it have."""
    windows = buffers.Windows(
        levels,
        events.starts,
        events.stops,
        detected,
        hits,
        ROOT,
        max(window // 2, 1),
        np.zeros((len(ROOT), len(hits))),
        np.zeros((4, len(hits))),
        np.empty(len(hits), dtype=np.intc),
        highest,
        np.arange(len(events)),
        np.arange(len(events) + 1),
    )
    roc, pr = areas = np.empty((2, window + 1))
    # In pieces, so that a user can interrupt what takes long.
    for first in range(0, window + 1, _WINDOWS_AT_ONCE):
        piece = slice(first, first + _WINDOWS_AT_ONCE)
        windows.areas(first, roc[piece], pr[piece])
    return areas


def _vus_roc_joined(joined: Joined, window: tuple[int, ...], thresholds: int) -> list[float]:
    return [roc for roc, _ in _joined_means(joined, window, thresholds)]


def _vus_pr_joined(joined: Joined, window: tuple[int, ...], thresholds: int) -> list[float]:
    return [pr for _, pr in _joined_means(joined, window, thresholds)]


def _joined_means(joined: Joined, window: tuple[int, ...], thresholds: int) -> list[tuple[float, float]]:
    """Return the means of the areas under the ROC and the PR curve of each series; both metrics share them."""
    key = "vus", window, thresholds
    return joined.once(key, lambda: _computed_joined_means(joined, window, thresholds))


def _computed_joined_means(joined: Joined, window: tuple[int, ...], thresholds: int) -> list[tuple[float, float]]:
    labelled, (order, _) = joined.labelled, joined.in_order
    sizes = labelled.sizes.tolist()
    by_size = {size: _places(size, thresholds) for size in set(sizes)}
    places = np.stack([by_size[size] for size in sizes]) + labelled.borders[:-1, None]
    levels, at = joined.levels(joined.raw, joined.raw[order[places]])
    own = levels + labelled.of_points(thresholds + 1)
    counts = np.bincount(own[labelled.labels], minlength=at.size).reshape(at.shape)
    detected, hits = labelled.sizes[:, None] - at.astype(np.float64), _at_or_above(counts)
    highest = labelled.of_series(highest_in_events(levels, labelled.events))
    points = np.split(levels, labelled.borders[1:-1])
    events = [member.events for member in labelled.members]
    # The areas of one series at a time, as they take much memory where windows are long.
    areas = map(_areas_of, points, events, detected, hits, highest, window)
    return [(float(roc.mean()), float(pr.mean())) for roc, pr in areas]


def _at_or_above(counts: IntArray) -> FloatArray:
    """Return how many there are of each level and those above it, row by row."""
    return np.ascontiguousarray(np.cumsum(counts[:, ::-1], axis=1, dtype=np.float64)[:, ::-1])


def _score(
    compute: Callable[..., float], y_true: Numbers, y_score: Numbers, undefined: Undefined, **given: Any
) -> float:
    return score_of(compute, y_true, y_score, undefined, needs_normal=True, **arguments.checked(_CHECKS, **given))


@metric(
    label="VUS-ROC",
    takes="scores",
    compute=_vus_roc,
    joined=_vus_roc_joined,
    from_near={"window": _WINDOW},
    checks=_CHECKS,
    binary_defaults={"thresholds": 250},
    needs_normal=True,
    citation="Paparrizos et al. 2022",
    same_as='TSB-AD (version "opt") and vus; aeon and dtaianomaly give other numbers',
    cost=0.08,
)
def vus_roc(
    y_true: Numbers, y_score: Numbers, *, window: int, thresholds: int = 100, undefined: Undefined = "raise"
) -> float:
    """Volume under the ROC surface: the area with softened labels, mean over all windows up to the largest.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_score : array-like of numbers, shape (n,)
        The larger, the more anomalous.
    window : int
        The largest window, in points; the period of the series in the paper.
    thresholds : int, default 100
        How many thresholds, at evenly spaced ranks of the scores.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly, or nothing else.

    Returns
    -------
    float

    Examples
    --------
    >>> dqeval.metrics.vus_roc([0, 0, 1, 1, 0, 0], [0.1, 0.2, 0.9, 0.8, 0.3, 0.0], window=2)
    1.0
    """
    return _score(_vus_roc, y_true, y_score, undefined, window=window, thresholds=thresholds)


@metric(
    label="VUS-PR",
    takes="scores",
    compute=_vus_pr,
    joined=_vus_pr_joined,
    from_near={"window": _WINDOW},
    checks=_CHECKS,
    binary_defaults={"thresholds": 250},
    needs_normal=True,
    citation="Paparrizos et al. 2022",
    same_as='TSB-AD (version "opt") and vus; aeon and dtaianomaly give other numbers',
    cost=0.08,
)
def vus_pr(
    y_true: Numbers, y_score: Numbers, *, window: int, thresholds: int = 100, undefined: Undefined = "raise"
) -> float:
    """Volume under the PR surface: the area with softened labels, mean over all windows up to the largest.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_score : array-like of numbers, shape (n,)
        The larger, the more anomalous.
    window : int
        The largest window, in points; the period of the series in the paper.
    thresholds : int, default 100
        How many thresholds, at evenly spaced ranks of the scores.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly, or nothing else.

    Returns
    -------
    float

    Examples
    --------
    >>> dqeval.metrics.vus_pr([0, 0, 1, 1, 0, 0], [0.1, 0.2, 0.9, 0.8, 0.3, 0.0], window=2)
    1.0
    """
    return _score(_vus_pr, y_true, y_score, undefined, window=window, thresholds=thresholds)
