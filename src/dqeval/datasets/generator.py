"""Generated series with anomalies of known kinds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dqeval.core import arguments
from dqeval.core.types import FloatArray, Series

KINDS = ("spike", "level", "pattern")
SHORTEST_PERIOD = 8  # below, a changed pattern cannot be told from noise
MOST_POINTS = 10**9
MOST_SEED = 2**32 - 1  # of NumPy's RandomState
_NOISE = 0.05


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a series is generated from: how many points, the period, the kind of each event, and the seed."""

    n: int
    period: int
    kinds: list[str]
    seed: int


def synthetic(n: int = 5000, period: int = 48, events: int = 8, kinds: Sequence[str] = KINDS, seed: int = 0) -> Series:
    """Return a generated series: a rhythm with a little noise, and anomalies of known kinds.

    Parameters
    ----------
    n : int, default 5000
        The number of points.
    period : int, default 48
        At least 8.
    events : int, default 8
        The number of anomalies. They lie in the last three quarters, at least a period apart.
    kinds : sequence of str, default ("spike", "level", "pattern")
        The kinds of anomalies, in turn: the first event is of the first kind, and after the last kind comes the first
        again. A spike is a few points far off; a change of level lasts one period; so does a changed pattern, in which
        the rhythm is twice as fast.
    seed : int, default 0
        The same seed gives the same series.

    Returns
    -------
    Series
        Without scores; ``train_stop`` is a quarter of the points, which are normal.

    Examples
    --------
    >>> series = dqeval.datasets.synthetic(n=1000, period=20, events=3)
    >>> len(series.values), series.train_stop, series.period
    (1000, 250, 20)
    >>> [stop - start for start, stop in dqeval.core.events.find_events(series.labels)]
    [2, 20, 20]
    """
    recipe = check_synthetic(n, period, events, kinds, seed)
    n, period = recipe.n, recipe.period
    train_stop, slot = n // 4, (n - n // 4) // len(recipe.kinds)
    # RandomState, unlike the newer generators, gives the same numbers in every version of NumPy; its whole numbers
    # differ between systems, so they are made from others.
    random = np.random.RandomState(recipe.seed)
    values = _rhythm(np.arange(n) / period) + _NOISE * random.randn(n)
    labels = np.zeros(n, dtype=np.bool_)
    for i, kind in enumerate(recipe.kinds):
        length = max(1, period // 10) if kind == "spike" else period
        start = train_stop + i * slot + int(random.rand() * (slot - period - length + 1))
        labels[start : start + length] = True
        _change(values, kind, start, start + length, period, random)
    return Series("synthetic", labels, {}, values, train_stop=train_stop, period=period)


def check_synthetic(
    n: int = 5000, period: int = 48, events: int = 8, kinds: Sequence[str] = KINDS, seed: int = 0
) -> Recipe:
    """Return what a series is generated from, checked."""
    n = arguments.whole_number("n", n, least=1, most=MOST_POINTS)
    events = arguments.whole_number("events", events, least=1, most=MOST_POINTS)
    period = arguments.whole_number("period", period, least=SHORTEST_PERIOD, most=MOST_POINTS)
    seed = arguments.seed(seed, most=MOST_SEED)
    if (n - n // 4) // events < 2 * period:
        least = 4 * (2 * period * events - 1) // 3 + 1  # of which three quarters, rounded up, are enough
        raise ValueError(
            f"{events:,} events of up to {period:,} points, as far apart, need at least {least:,} points: got n={n:,}"
        )
    return Recipe(n, period, _planned(events, kinds), seed)


def _planned(events: int, kinds: Sequence[str]) -> list[str]:
    """Return the kind of each event."""
    if isinstance(kinds, str) or not isinstance(kinds, Sequence):
        raise ValueError(f"kinds must be a list of {', '.join(KINDS)}: got {arguments.quote(kinds)}")
    unknown = [repr(kind) for kind in kinds if kind not in KINDS]
    if unknown or not kinds:
        raise ValueError(f"kinds must be of {', '.join(KINDS)}: got {', '.join(unknown) or 'none'}")
    return [kinds[i % len(kinds)] for i in range(events)]


def _rhythm(phase: FloatArray) -> FloatArray:
    return np.asarray(np.sin(2 * np.pi * phase) + 0.3 * np.cos(4 * np.pi * phase))


def _sign(random: np.random.RandomState) -> float:
    return 1.0 if random.rand() < 0.5 else -1.0


def _change(values: FloatArray, kind: str, start: int, stop: int, period: int, random: np.random.RandomState) -> None:
    """Put an anomaly of some kind into the values."""
    if kind == "spike":
        values[start:stop] += _sign(random) * (3 + random.rand())
    elif kind == "level":
        values[start:stop] += _sign(random) * (1.5 + 0.5 * random.rand())
    else:
        phase = np.arange(start, stop) / period
        values[start:stop] += _rhythm(2 * phase) - _rhythm(phase)
