"""Where points are drawn on the axis of time, and durations in words in place of numbers of points."""

from dataclasses import replace

import numpy as np
import pytest

from dqeval import Series
from dqeval.core.prepared import prepare_series
from dqeval.core.sampling import Clock
from dqeval.core.timeline import TimeAxis
from dqeval.render.time_scale import event_times, scale_of, size_in_words

MINUTE = 60 * 10**9
START = np.datetime64("2026-01-01T00:00", "ns")
# Six cells, of which two lie behind a gap of 4, and one behind another of 10.
GAPS = TimeAxis(START.astype(int).item(), MINUTE, 6, "universal", (3, 5), (4, 10))


def prepared(times, **clock):
    labels = np.arange(len(times)) % 3 == 1
    series = Series("x", labels, {"a": np.arange(float(len(times)))}, timestamps=np.asarray(times))
    return prepare_series(series, near=1, clock=Clock(**clock))


def minutes(*cells):
    return START + np.array(cells) * np.timedelta64(1, "m")


def gapped():
    return prepared(minutes(0, 1, 2, 7, 8, 19), resolution="1min")


def test_the_samples_have_the_gaps():
    axis = gapped().labelled.axis
    assert (axis.breaks, axis.gaps, axis.length) == (GAPS.breaks, GAPS.gaps, GAPS.length)


def test_without_a_clock_points_are_where_they_were():
    scale = scale_of(prepare_series(Series("x", np.array([0, 1, 0]), {"a": np.arange(3.0)}), near=1))
    assert (scale.kind, scale.label, scale.limits) == ("points", "point", (0, 3))
    assert scale.starts(np.array([0, 1.5, 3])).tolist() == scale.ends(np.array([0, 1.5, 3])).tolist() == [0, 1.5, 3]
    assert scale.unobserved(100).shape == (0, 2)
    x, y = scale.line(np.arange(3), np.array([5.0, 6, 7]))
    assert (x.tolist(), y.tolist()) == ([0.5, 1.5, 2.5], [5, 6, 7])


def test_gaps_take_their_width():
    scale = scale_of(gapped())
    first, minute = START.astype(int) / 1e6, 60_000.0
    assert scale.kind == "dates"
    assert scale.limits == (first, first + 20 * minute)
    positions = np.arange(7)
    assert ((scale.starts(positions) - first) / minute).tolist() == [0, 1, 2, 7, 8, 19, 20]
    assert ((scale.ends(positions) - first) / minute).tolist() == [0, 1, 2, 3, 8, 9, 20]
    assert ((scale.unobserved(100) - first) / minute).tolist() == [[3, 7], [9, 19]]
    assert ((scale.unobserved(5) - first) / minute).tolist() == [[3, 19]]  # two cells of 20 are less than a dot of 5
    moments = [gapped().labelled.axis.start_of(position) for position in range(6)]
    assert scale.starts(np.arange(6)).tolist() == [moment.astype(int) / 1e6 for moment in moments]
    cuts = np.array([[0, 0.5, 1, 2, 2.5, 3], [3, 3, 4, 5, 5, 5]])
    drawn = (scale.cuts(cuts) - first) / minute
    np.testing.assert_allclose(drawn, [[0, 0.5, 1, 2, 2.5, 3], [7, 7, 8, 9, 9, 9]], atol=1e-6)


def test_other_units_and_origins():
    scale = scale_of(gapped(), origin=7.0, unit=86_400 * 10**9)
    assert scale.limits == (7, pytest.approx(7 + 20 / 1440))


def test_lines_are_broken_at_gaps():
    scale = scale_of(gapped())
    x, y = scale.line(np.arange(6), np.arange(6.0))
    cells = (x - scale.origin) / scale.step
    # The last one is alone behind its gap: it is as wide as its cell.
    np.testing.assert_allclose(cells, [0.5, 1.5, 2.5, np.nan, 7.5, 8.5, np.nan, 19, 20])
    np.testing.assert_array_equal(y, [0, 1, 2, np.nan, 3, 4, np.nan, 5, 5])
    x, y = scale.line(np.array([2, 3, 5]), np.array([2.0, 3, 5]))
    np.testing.assert_allclose((x - scale.origin) / scale.step, [2, 3, np.nan, 7, 8, np.nan, 19, 20])
    np.testing.assert_array_equal(y, [2, 2, np.nan, 3, 3, np.nan, 5, 5])


def test_kinds_of_clocks():
    even = prepared(minutes(*range(6)))
    assert (scale_of(even).kind, scale_of(even).label) == ("dates", "time")
    zoned = Series("x", np.array([0, 1]), {"a": np.arange(2.0)}, timestamps=minutes(0, 1), zoned=True)
    assert scale_of(prepare_series(zoned, near=1)).label == "time (UTC)"
    assert scale_of(prepare_series(zoned, near="1min")).label == "time (UTC)"
    berlin = prepare_series(replace(zoned, zone="Europe/Berlin"), near=1)
    assert scale_of(berlin).label == "time (UTC+01:00)"
    assert scale_of(berlin).origin - scale_of(prepare_series(zoned, near=1)).origin == 3_600_000
    # All cells are drawn as wide, so no clock can be drawn that is put forward between them.
    year = replace(zoned, zone="Europe/Berlin", timestamps=START + np.arange(2) * np.timedelta64(180, "D"))
    assert scale_of(prepare_series(year, near=1)).label == "time (UTC)"
    numbers = scale_of(prepared(np.array([10, 20, 30, 100]), resolution=10))
    assert (numbers.kind, numbers.label, numbers.limits) == ("numbers", "time", (10, 110))
    # Closer than what a float that counts from 1970 on can tell apart.
    fine = scale_of(prepared(START + np.arange(4) * np.timedelta64(1, "us")))
    assert (fine.kind, fine.label) == ("numbers", "nanoseconds since 2026-01-01T00:00")
    assert fine.limits == (0, 4000)


def test_words():
    assert size_in_words(None, 6) == "6 points"
    assert size_in_words(GAPS, 6) == "6 cells of 1 min"
    assert event_times(GAPS, np.array([1, 3]), np.array([3, 4])) == [
        "2026-01-01 00:01 – 00:03 UTC",
        "2026-01-01 00:07 – 00:08 UTC",
    ]
