"""The Fourier transform of a real series of any length, and back, also where NumPy's is slow."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from dqeval.core.types import FloatArray, IntArray

ComplexArray = NDArray[np.complex128]

# Where an own transform is quicker than NumPy's, which goes through more numbers, far apart in memory.
_FEWEST_POINTS = 100_000
_LARGEST_FACTOR = 500
_FINE = 32


class Transform(Protocol):
    """The discrete Fourier transform of real series of one length, half of it, since the rest is its conjugate."""

    def forward(self, values: FloatArray) -> ComplexArray:
        """Return the spectrum of a series."""

    def inverse(self, spectrum: ComplexArray) -> FloatArray:
        """Return the series of a spectrum."""


def transform(length: int) -> Transform:
    """Return the quickest transform of series of this length."""
    slow = length >= _FEWEST_POINTS and largest_prime_factor(length) > _LARGEST_FACTOR
    return ByChirps(length) if slow else ByFactors(length)


def largest_prime_factor(number: int) -> int:
    """Return the largest prime factor of a whole number of at least 2."""
    factor = 2
    while factor * factor <= number:
        if number % factor:
            factor += 1
        else:
            number //= factor
    return number


class ByFactors:
    """NumPy's, which is quick if the length has small factors only."""

    def __init__(self, length: int) -> None:
        self.length = length

    def forward(self, values: FloatArray) -> ComplexArray:
        """Return the spectrum of a series."""
        spectrum: ComplexArray = np.fft.rfft(values)
        return spectrum

    def inverse(self, spectrum: ComplexArray) -> FloatArray:
        """Return the series of a spectrum."""
        return np.fft.irfft(spectrum, self.length)


class ByChirps:
    """Bluestein's: with kt = (k² + t² - (k - t)²) / 2 the transform is a convolution, whose length is free.

    To and from half a spectrum, one and a half times the series is long enough: indices are shifted by multiples of the
    length so that k - t is never negative, and what goes round the end meets nothing that is asked for.
    """

    def __init__(self, length: int) -> None:
        self.length = length
        steps = length + length // 2
        self.fold = _Fold(steps)
        rows, columns = self.fold.shape
        # The square of the step, r rows and c columns on: of the rows, of the columns, and twice their product.
        chirp = turns_of_products(rows, columns, columns, length)
        chirp *= _turns((columns * np.arange(rows)) ** 2, 2 * length)[:, None]
        chirp *= _turns(np.arange(columns) ** 2, 2 * length)
        self.chirp = chirp.reshape(-1)[:steps]
        self.filter = self.fold.spectrum(self.chirp)

    def forward(self, values: FloatArray) -> ComplexArray:
        """Return the spectrum of a series."""
        n = self.length
        return self._convolve(np.roll(values, -1) * self.chirp[n - 1 :: -1].conj()) * self.chirp[: n // 2 + 1].conj()

    def inverse(self, spectrum: ComplexArray) -> FloatArray:
        """Return the series of a spectrum."""
        n, half = self.length, self.length // 2
        both = spectrum.conj() * 2  # of a frequency and its conjugate
        both[0] /= 2
        if n % 2 == 0:
            both[half] /= 2
        turned = self._convolve(both * self.chirp[: half + 1].conj()) * self.chirp[half:].conj()
        return np.roll(turned.real / n, half)

    def _convolve(self, terms: ComplexArray) -> ComplexArray:
        """Return the part of the convolution with the chirp that all terms are in."""
        whole = self.fold.inverse(self.fold.spectrum(terms) * self.filter)
        return whole[len(terms) - 1 : len(self.chirp)]


class _Fold:
    """A complex transform in two steps, along the rows and the columns of a matrix, which stay in the cache.

    The spectrum is in an order of its own, which does not matter to convolutions.
    """

    def __init__(self, least: int) -> None:
        columns = 1 << (least.bit_length() // 2)
        rows = -(-least // columns)
        while largest_prime_factor(rows) > 5:
            rows += 1
        self.shape = rows, columns
        self.turns = turns_of_products(rows, columns, 1, rows * columns).conj()

    def spectrum(self, terms: ComplexArray) -> ComplexArray:
        table: ComplexArray = np.zeros(self.shape, complex)
        table.reshape(-1)[: len(terms)] = terms
        table = np.fft.fft(table, axis=0)
        table *= self.turns
        return np.fft.fft(table, axis=1)

    def inverse(self, spectrum: ComplexArray) -> ComplexArray:
        table: ComplexArray = np.fft.ifft(spectrum, axis=1)
        table *= self.turns.conj()
        return np.fft.ifft(table, axis=0).reshape(-1)


def _turns(parts: IntArray, whole: int) -> ComplexArray:
    """Return the points on the unit circle after so many parts of a whole turn."""
    turns: ComplexArray = np.exp(2j * np.pi / whole * (parts % whole))
    return turns


def turns_of_products(rows: int, columns: int, step: int, whole: int) -> ComplexArray:
    """Return the points after ``step * row * column`` parts of a turn, each from two of a few, by one product."""
    starts = step * np.arange(rows)[:, None] % whole
    coarse, fine = np.arange(0, columns, _FINE), np.arange(_FINE)
    table = _turns(starts * coarse, whole)[:, :, None] * _turns(starts * fine, whole)[:, None, :]
    return table.reshape(rows, -1)[:, :columns]
