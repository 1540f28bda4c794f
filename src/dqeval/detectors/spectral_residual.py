"""SR: what stands out of the spectrum, back in time."""

from __future__ import annotations

from typing import Literal

import numpy as np

from dqeval.core import arguments, validate
from dqeval.core.registry import detector
from dqeval.core.scaling import linear
from dqeval.core.scaling import scaled as in_unit_interval
from dqeval.core.types import FloatArray, Numbers
from dqeval.detectors.transform import ComplexArray, transform

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
    counting = linear(series)
    if counting.lowest == counting.highest:
        return np.zeros(len(series))
    scaled = in_unit_interval(counting)
    fourier = transform(len(scaled))
    spectrum = fourier.forward(scaled)
    outside = None if variant == "corrected" else (scaled[0], scaled[-1])
    del scaled
    # Differs from the paper: a box of 100 instead of 3, no points estimated beyond the end, and the saliency as it is,
    # not relative to its local mean. So has it the benchmark.
    spectrum[1:] /= _strength(spectrum[1:], outside)
    spectrum[0] = 1
    saliency = fourier.inverse(spectrum)
    return np.abs(saliency, out=saliency)


def _strength(spectrum: ComplexArray, outside: tuple[float, float] | None) -> FloatArray:
    """Return exp of the mean logarithm of each amplitude with the 49 before it and the 50 after it.

    What comes before and behind is ``outside``, or the first and the last logarithm for ever.
    """
    before = (_BOX - 1) // 2
    # In front there is room for a 0 too, from which on the logarithms are added up, all in the same memory.
    sums = np.empty(len(spectrum) + _BOX)
    level = sums[before + 1 : before + 1 + len(spectrum)]
    np.abs(spectrum, out=level)
    np.maximum(level, _LEAST_AMPLITUDE, out=level)
    np.log(level, out=level)
    sums[: before + 1], sums[before + 1 + len(spectrum) :] = (level[0], level[-1]) if outside is None else outside
    np.cumsum(sums[1:], out=sums[1:])
    sums[0] = 0
    means: FloatArray = sums[_BOX:] - sums[:-_BOX]
    means /= _BOX
    return np.exp(means, out=means)
