"""A generated series with the scores of three detectors of different character."""

import numpy as np

from dqeval.core.types import FloatArray, Series

PERIOD = 48
_LENGTH = 1600
_SPIKES = ((214, 218), (1010, 1013))
_SHIFTS = ((430, 452), (1236, 1262))
_FLAT = ((700, 748), (1440, 1476))
_EVENTS = sorted(_SPIKES + _SHIFTS + _FLAT)
_MISSED = _EVENTS[3]


def demo() -> Series:
    """Return a generated series: a daily rhythm of 48 points, six anomalies, and three detectors.

    Returns
    -------
    Series
        ``sharp`` answers with one clean peak, but does not see one of the events; ``late`` sees each event, ten points
        after it began; ``jumpy`` sees each event at once, and much else besides.

    Examples
    --------
    >>> series = dqeval.datasets.demo()
    >>> list(series.scores), len(series.labels)
    (['sharp', 'late', 'jumpy'], 1600)
    """
    # RandomState, unlike the newer generators, gives the same numbers in every version of NumPy.
    random = np.random.RandomState(20260)
    labels = np.zeros(_LENGTH, dtype=bool)
    for start, stop in _EVENTS:
        labels[start:stop] = True
    scores = {"sharp": _sharp(random), "late": _late(random), "jumpy": _jumpy(random)}
    return Series("demo", labels, scores, _values(random))


def _values(random: np.random.RandomState) -> FloatArray:
    values = np.sin(2 * np.pi * np.arange(_LENGTH) / PERIOD) + 0.08 * random.randn(_LENGTH)
    for start, stop in _SPIKES:
        values[start:stop] += 2.2
    for start, stop in _SHIFTS:
        values[start:stop] -= 1.4
    for start, stop in _FLAT:
        values[start:stop] = values[start] + 0.02 * random.randn(stop - start)
    return values


def _floor(random: np.random.RandomState, height: float) -> FloatArray:
    """Return what a detector says where nothing happens: smooth, low noise."""
    noise = np.convolve(random.rand(_LENGTH + 8), np.ones(9) / 9, mode="valid")
    low, high = float(noise.min()), float(noise.max())
    return np.asarray(height * (noise - low) / (high - low))


def _sharp(random: np.random.RandomState) -> FloatArray:
    scores = _floor(random, 0.12)
    for start, stop in _EVENTS:
        if (start, stop) != _MISSED:
            scores[start:stop] = np.maximum(
                scores[start:stop], 1.0 - 0.25 * random.rand() - 0.5 * random.rand(stop - start)
            )
    return scores


def _late(random: np.random.RandomState) -> FloatArray:
    scores = _floor(random, 0.2)
    for start, _ in _EVENTS:
        rise = start + 10 + np.arange(18)
        scores[rise] = np.maximum(scores[rise], (1.0 - 0.3 * random.rand()) * np.hanning(20)[1:-1])
    return scores


def _jumpy(random: np.random.RandomState) -> FloatArray:
    scores = _floor(random, 0.35)
    for start, stop in _EVENTS:
        scores[start:stop] = 0.75 + 0.25 * random.rand(stop - start)
    for t in random.choice(_LENGTH - 3, size=45, replace=False):
        scores[t : t + 3] = np.maximum(scores[t : t + 3], 0.4 + 0.6 * random.rand())
    return scores
