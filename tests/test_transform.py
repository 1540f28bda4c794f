"""The Fourier transforms of the detectors: the same as the definition and as NumPy's, for every length."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive_detectors as naive
from dqeval import detectors
from dqeval.detectors import fourier, spectral_residual
from dqeval.detectors.transform import ByChirps, ByFactors, largest_prime_factor, transform

both_forms = pytest.mark.parametrize("form", [ByChirps, ByFactors])


@both_forms
@given(length=st.integers(1, 70), seed=st.integers(0, 99))
def test_there_and_back(form, length, seed):
    values = np.random.default_rng(seed).normal(size=length)
    expected = naive.transform(values.tolist())[: length // 2 + 1]
    spectrum = form(length).forward(values)
    np.testing.assert_allclose(spectrum, expected, atol=1e-12)
    np.testing.assert_allclose(form(length).inverse(spectrum), values, atol=1e-13)


@pytest.mark.parametrize("length", [5_003, 2 * 4_999, 30_011])
def test_as_numpy_has_it_for_long_series(length):
    values = np.cumsum(np.random.default_rng(length).normal(size=length))
    own, numpys = ByChirps(length), ByFactors(length)
    spectrum = numpys.forward(values)
    np.testing.assert_allclose(own.forward(values), spectrum, atol=1e-13 * np.abs(spectrum).max())
    np.testing.assert_allclose(own.inverse(spectrum), values, atol=1e-12 * np.abs(values).max())


@pytest.mark.parametrize(("number", "factor"), [(1, 1), (2, 2), (97, 97), (1024, 2), (2 * 3 * 49, 7), (121 * 6, 11)])
def test_largest_prime_factor(number, factor):
    assert largest_prime_factor(number) == factor


@pytest.mark.parametrize(("length", "form"), [(100_003, ByChirps), (100_000, ByFactors), (99_991, ByFactors)])
def test_the_quicker_one_is_taken(length, form):
    assert type(transform(length)) is form


@pytest.mark.parametrize("variant", ["corrected", "published"])
@pytest.mark.parametrize("length", [499, 2 * 251])
@pytest.mark.unmeasured
def test_scores_of_a_length_with_a_large_factor(length, variant, monkeypatch):
    values = np.sin(np.arange(length) / 7) + np.random.default_rng(0).normal(size=length)
    monkeypatch.setattr(spectral_residual, "transform", ByChirps)
    for name in ("fft", "sr"):
        scores, expected = (getattr(module, name) for module in (detectors, naive))
        np.testing.assert_allclose(
            scores(values, variant=variant), expected(values.tolist(), variant=variant), rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("length", [*range(1, 13), 500, 1023, 1024, 1025, 2_049, 20_011])
def test_the_smooth_curve_is_that_of_a_whole_transform(length):
    values = np.random.default_rng(length).normal(size=length)
    spectrum = np.fft.rfft(values)
    spectrum[5:] = 0
    expected = np.abs(values - np.fft.irfft(spectrum, length))
    np.testing.assert_allclose(fourier._off_the_curve(values), expected, atol=1e-13)
