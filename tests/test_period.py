"""The period is the definition's, and its bounds and fallbacks hold."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dqeval
import naive
from dqeval import Series
from dqeval.core import near, validate


def period_of(values, **options):
    """Return the period, or the fallback."""
    return dqeval.find_period(values, **options).or_fallback


@given(st.integers(2, 120), st.integers(1, 300), st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.1, 3.0]))
def test_equals_the_definition(period, length, seed, noise):
    random = np.random.default_rng(seed)
    values = random.permutation(period)[np.arange(length) % period] + noise * random.normal(size=length)
    assert period_of(values) == naive.period(values.tolist())


@given(
    st.lists(st.integers(-3, 3), min_size=1, max_size=60),
    st.integers(1, 8),
    st.sampled_from([0, 10**6, -(10**15)]),
    st.sampled_from([1.0, 2.0**-30, 2.0**900]),
    st.sampled_from([1, 2]),
)
def test_ties_are_ties(pattern, repeats, offset, unit, rank):
    """Whole numbers have equal autocorrelations at several lags, which rounding must not tell apart."""
    values = (offset + np.array(pattern * repeats, dtype=float)) * unit
    assert period_of(values, rank=rank) == naive.period(values.tolist(), rank)


@given(st.integers(6, 40), st.integers(20, 200), st.integers(0, 2**32 - 1), st.sampled_from([0.1, 1.0, 3.0]))
def test_doubts_equal_the_definition(period, length, seed, noise):
    random = np.random.default_rng(seed)
    slow = np.cumsum(random.normal(size=length)) / 3
    values = random.permutation(period)[np.arange(length) % period] / period + noise * slow
    found = dqeval.find_period(values)
    if found.points is not None:
        assert (found.doubt == "") == naive.is_period(values.tolist(), found.points)
    assert all(naive.is_period(values.tolist(), each.points) for each in near.candidate_periods(values))


@pytest.mark.data
@pytest.mark.unmeasured
def test_no_period_of_minutes_in_a_service_of_days(real_series):
    """WSD is counted in minutes: the rule of TSB-AD finds 3 to 30 minutes, of which none is one; a day is."""
    pack = real_series("wsd")
    names = sorted({key.split("/")[0] for key in pack.files})
    every = [pack[f"{name}/data"].astype(float) for name in names]
    estimated = [each for each in map(dqeval.find_period, every) if each.points is not None]
    assert (len(every), len(estimated), sum(each.points <= 16 for each in estimated)) == (111, 56, 29)
    assert all(each.doubt for each in estimated)
    said = [
        dqeval.near_profile(Series("s", np.arange(len(values)) == 5, {}, values)).recommendation for values in every
    ]
    recommended = [int(found[1]) for text in said if (found := re.search(r"--period (\d+) fits", text))]
    assert sum(1400 < period < 1480 for period in recommended) == 105
    assert min(recommended) > 1400
    ucr = real_series("ucr")
    every = [dqeval.find_period(ucr[key].astype(float)) for key in ucr.files if key.endswith("/data")]
    doubted = [each for each in every if each.doubt]
    assert (len(every), sum(each.points is not None for each in every), len(doubted)) == (189, 165, 5)


def test_equal_neighbours_are_no_peak_and_of_equal_peaks_the_shortest_counts():
    assert period_of([6, 6, 6, 7, 7, 7, 6, 7]) == 125  # equal at the lags 5 and 6
    tied = [1, -1, 1, 0, 0, 0, 1, 1, 0, 0, -1, 0, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1]  # at the lags 11 and 20
    assert period_of(tied) == 11
    assert period_of(tied, rank=2) == 20


def test_one_transform_for_all_lags(monkeypatch):
    """An autocorrelation is one transform there and one back, however many lags there are."""
    calls = []
    for name in ("rfft", "irfft"):
        made = getattr(np.fft, name)
        monkeypatch.setattr(np.fft, name, lambda *args, made=made, name=name: calls.append(name) or made(*args))
    assert period_of(np.sin(np.arange(5000) * 2 * np.pi / 48)) == 48
    assert calls == ["rfft", "irfft"]


def test_lags_up_to_400_are_searched():
    """The highest maximum, at lag 380, is too long to be a period, so the lower ones below it do not count either."""
    t = np.arange(4000)
    values = np.random.default_rng(0).normal(size=380)[t % 380] + 0.5 * np.sin(2 * np.pi * t / 95)
    assert period_of(values) == naive.period(values.tolist()) == 125
    assert period_of(np.sin(2 * np.pi * t / 95)) == 95


@pytest.mark.parametrize("period", [6, 7, 48, 303])
def test_periods_within_the_bounds(period):
    assert period_of(np.arange(20 * period) % period == 0) == period


@pytest.mark.parametrize("period", [4, 5, 304, 350])
def test_periods_outside_the_bounds_fall_back(period):
    assert period_of(np.arange(20 * period) % period == 0) == 125


@pytest.mark.parametrize(
    "values", [[1.0], [1, 2], [1, 2, 3, 4, 5], np.full(900, 0.1), np.arange(900), np.zeros((50, 1))]
)
def test_nothing_to_find_falls_back(values):
    assert period_of(values) == 125


def test_only_the_first_20000_values_count():
    values = np.concatenate([np.arange(20_000) % 50 == 0, np.arange(9_000) % 7 == 0])
    assert period_of(values) == period_of(values[:20_000]) == 50


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_size_of_the_values_does_not_matter(scale):
    assert period_of(scale * (np.arange(500) % 24)) == 24


def test_gaps_between_values_of_any_size_are_filled():
    most = np.finfo(float).max
    filled = validate.values_with_gaps([-most, np.nan, most, np.nan, most, np.nan])
    np.testing.assert_array_equal(filled, [-most, 0, most, most, most, most])
    assert period_of([1e308, np.nan, -1e308, 1e308] * 5) == 125


def test_missing_values_are_filled():
    values = np.sin(2 * np.pi * np.arange(1000) / 48)
    holes = values.copy()
    holes[np.random.RandomState(0).rand(1000) < 0.2] = np.nan
    assert period_of(holes) == period_of(values) == 48
    filled = validate.values_with_gaps([np.nan, 1, 2, np.nan, 8, np.nan])
    np.testing.assert_array_equal(filled, [1, 1, 2, 5, 8, 8])
    labels = np.arange(1000) == 500
    assert dqeval.partition(labels, values=holes).near == 24


def test_bad_values():
    with pytest.raises(ValueError, match="x must be finite: 1 of 3 values is not"):
        period_of([1.0, np.inf, 2.0])
    with pytest.raises(ValueError, match=r"x must be finite: 1 of 4 values is not \(first at index 2: inf\)"):
        period_of([1.0, np.nan, np.inf, 2.0])
    with pytest.raises(ValueError, match="x holds no number, only NaN: leave it out, or give near or period"):
        period_of([np.nan, np.nan])
    with pytest.raises(ValueError, match=r"x must be one-dimensional: its shape is \(3, 2\)"):
        period_of(np.zeros((3, 2)))


@pytest.mark.data
@pytest.mark.parametrize(
    ("archive", "name", "period"),
    [
        ("wsd", "094_WSD_id_66_WebService_tr_3309_1st_3914", 125),
        ("ucr", "334_UCR_id_32_HumanActivity_tr_1671_1st_2764", 115),
        ("ucr", "452", 108),
    ],
)
def test_real_series(real_series, archive, name, period):
    """The two case studies of the paper and one more, with the periods that the TSB-AD benchmark's code gives."""
    with real_series(archive) as arrays:
        values = next((arrays[key] for key in arrays.files if key.startswith(name) and key.endswith("/data")), None)
        if values is None:
            pytest.skip(f"{archive}.npz does not hold {name}")
        assert period_of(values.astype(float)) == period


def test_the_second_rank_is_a_longer_period():
    t = np.arange(2000)
    x = np.sin(2 * np.pi * t / 24) + 0.4 * np.sin(2 * np.pi * t / 168)
    assert (period_of(x), period_of(x, rank=2)) == (24, 168)
    assert period_of(np.ones(100), rank=2) == 125


@pytest.mark.data
@pytest.mark.parametrize("rank", [1, 2])
@pytest.mark.slow
@pytest.mark.unmeasured
def test_all_real_series_have_the_period_of_plain_products(real_series, rank):
    """No estimate hangs on how the autocorrelation is computed: here lag by lag."""
    for archive in ("wsd", "ucr"):
        with real_series(archive) as arrays:
            for name in sorted(name for name in arrays.files if name.endswith("/data"))[::8]:
                values = arrays[name].astype(float)
                assert period_of(values, rank=rank) == by_products(values[:20_000], rank), name


def by_products(values, rank):
    x = values - values.mean()
    correlation = np.array([(x[: len(x) - lag] * x[lag:]).sum() for lag in range(401)])
    peaks = [lag for lag in range(4, 400) if correlation[lag] > max(correlation[lag - 1], correlation[lag + 1])]
    best = max(peaks, key=lambda lag: correlation[lag], default=0)
    longer = [lag for lag in peaks if lag > best]
    lag = max(longer, key=lambda lag: correlation[lag]) if rank == 2 and longer else best
    return lag if 6 <= lag <= 303 else 125


REASONS = {
    "constant": (np.ones(100), "the values are constant"),
    "short": ([1, 2, 3], "3 values are too few to see one"),
    "no peak": (np.arange(1000), "the autocorrelation has no peak at lags from 4 to 399"),
    "too long": (
        np.sin(np.arange(5000) * 2 * np.pi / 350),
        "the autocorrelation is highest at lag 349, which is not from 6 to 303",
    ),
}


@pytest.mark.parametrize(("values", "reason"), REASONS.values(), ids=REASONS)
def test_why_there_is_no_period(values, reason):
    found = dqeval.find_period(values)
    assert (found.points, found.strength, found.reason, found.or_fallback) == (None, None, reason, 125)
    assert str(found) == f"no period: {reason}"


def test_the_strength_is_the_autocorrelation():
    values = np.tile([0.0, 0, 0, 1, 0, 0, 0, 0], 50)
    found = dqeval.find_period(values)
    centred = values - values.mean()
    assert found.points == 8
    assert found.strength == pytest.approx((centred[8:] @ centred[:-8]) / (centred @ centred), abs=1e-12)
    assert str(found) == f"8 points (autocorrelation {found.strength:.2f})"


def test_candidates_of_any_length():
    t = np.arange(6000)
    wave = np.sin(2 * np.pi * t / 1440) + 0.5 * np.sin(2 * np.pi * t / 48)
    assert [period.points for period in near.candidate_periods(wave)][:2] == [48, 1440]
    assert dqeval.find_period(wave).points == 48
    assert near.candidate_periods(np.ones(100)) == near.candidate_periods(np.arange(4.0)) == []
    assert len(near.candidate_periods(wave, most=1)) == 1
    assert near.candidate_periods(np.random.default_rng(0).normal(size=3000)) == []


def smooth(n=6000, seed=0):
    """Return one-minute data as of a web service: slow, noisy, and without any cycle of minutes."""
    random = np.random.default_rng(seed)
    slow = np.convolve(random.normal(size=n + 3000), np.hanning(600) / 10, mode="valid")[:n]
    return slow + 0.3 * random.normal(size=n)


@pytest.mark.parametrize("seed", range(5))
def test_smoothness_is_no_period(seed):
    """The autocorrelation has a peak at some lag, to which it hardly rises: the rule of TSB-AD takes the highest."""
    values = smooth(seed=seed)
    found = near.find_period(values, rank=1)
    assert not any(period.points < 100 for period in near.candidate_periods(values))
    if found.points is not None:
        assert found.doubt.startswith("the autocorrelation hardly rises to it, by 0.0")
        assert str(found).endswith(f"), hardly a period: {found.doubt}")
    daily = values + 3 * np.sin(2 * np.pi * np.arange(6000) / 1440)
    assert near.candidate_periods(daily)[0].points == pytest.approx(1440, rel=0.05)


def test_a_period_falls_to_a_trough_and_comes_again():
    wave = np.sin(2 * np.pi * np.arange(600) / 48)
    assert (near.find_period(wave).points, near.find_period(wave).doubt) == (48, "")
    once = np.zeros(600)  # two spikes, and no third
    once[[100, 150]] = 1
    twice = once.copy()
    twice[200] = 1
    assert near.find_period(once).points == near.find_period(twice).points == 50
    assert (
        near.find_period(once).doubt
        == "the autocorrelation does not rise again to twice the lag, as after a second cycle"
    )
    assert near.find_period(twice).doubt == ""
    assert near.candidate_periods(once) == []
    assert [period.points for period in near.candidate_periods(twice)] == [50]
    short = near.find_period(np.sin(2 * np.pi * np.arange(120) / 70))
    assert (short.points > 60, short.doubt != "") == (True, True)
