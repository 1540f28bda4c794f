"""SR: what stands out of the spectrum, back in time."""

from __future__ import annotations

from typing import Literal

import numpy as np

from dqeval.core import arguments, validate
from dqeval.core.registry import detector
from dqeval.core.scaling import min_max
from dqeval.core.types import FloatArray, Numbers
from dqeval.detectors.transform import transform

_BOX = 100
# Of the amplitudes of a series that goes from 0 to 1: the logarithm of a frequency that is not there stays finite.
_LEAST_AMPLITUDE = 1e-12


@detector(label="SR", citation="Ren et al. 2019")
def sr(values: Numbers, *, variant: Literal["corrected", "published"] = "corrected") -> FloatArray:
    """Saliency: the series with every frequency as strong as it stands out of its neighbours in the spectrum.

    Parameters
    ----------
    values : array-like of numbers, shape (n,) or (n, 1)
        The values of the series; none may be missing.
    variant : "corrected" or "published", default "corrected"
        Whether the spectrum goes on beyond its ends with its own first and last value, or, by a slip in the code that
        made the paper's figure, with those of the series.

    Returns
    -------
    array of float, shape (n,)
        The higher, the more anomalous. Zeros for a constant series.

    Notes
    -----
    The Fourier transform of the series, scaled to go from 0 to 1, is divided by exp(M), where M is the moving average,
    over 100 frequencies, of the logarithm of its amplitudes (of 1e-12, where they are less); the constant becomes 1.
    The scores are the absolute values of the inverse transform.

    Examples
    --------
    >>> values = np.sin(2 * np.pi * np.arange(1000) / 50)
    >>> values[500] += 3
    >>> dqeval.detectors.sr(values).argmax()
    np.int64(500)
    """
    series = validate.values(values)
    arguments.one_of("variant", variant, ("corrected", "published"))
    if series.min() == series.max():
        return np.zeros(len(series))
    scaled = min_max(series)
    fourier = transform(len(scaled))
    spectrum = fourier.forward(scaled)
    level = np.log(np.maximum(np.abs(spectrum[1:]), _LEAST_AMPLITUDE))
    ends = (level[0], level[-1]) if variant == "corrected" else (scaled[0], scaled[-1])
    # Differs from the paper: a box of 100 instead of 3, no points estimated beyond the end, and the saliency as it is,
    # not relative to its local mean. So has it the benchmark.
    spectrum[1:] /= np.exp(_moving_average(level, ends))
    spectrum[0] = 1
    return np.abs(fourier.inverse(spectrum))


def _moving_average(level: FloatArray, ends: tuple[float, float]) -> FloatArray:
    """Return the mean of each value with the 49 before it and the 50 after it, where the ends go on for ever."""
    before = (_BOX - 1) // 2
    padded = np.pad(level, (before, _BOX - 1 - before), constant_values=(ends,))
    sums = np.concatenate([[0.0], np.cumsum(padded)])
    means: FloatArray = (sums[_BOX:] - sums[:-_BOX]) / _BOX
    return means
