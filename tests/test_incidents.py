"""Incidents and alerts on a clock: equal to labels and detections on the same grid, whatever the clock."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dqeval
from dqeval.core import durations
from dqeval.core.events import find_events
from dqeval.core.near import NO_LENGTH
from strategies import detections, exact_near, labelled

START = np.datetime64("2026-01-01T00:00:00", "ns")
MINUTE = np.timedelta64(60, "s")
NO_TIME = np.timedelta64("NaT", "s")


def pairs(flags):
    """Return the runs of ones as pairs of cells."""
    return list(find_events(np.asarray(flags, dtype=bool)))


def on_clock(cells, start=START, step=MINUTE):
    return [(start + a * step, start + b * step) for a, b in cells]


def values(result):
    return [(e.start, e.stop, e.dqe, e.capture, e.near_miss, e.false_alarm) for e in result.per_event]


def approx(expected):
    return [pytest.approx(row, abs=1e-12) for row in values(expected)]


@given(labelled(detections), exact_near)
@pytest.mark.unmeasured
def test_intervals_equal_points_on_the_same_grid(pair, near):
    labels, found = pair
    expected = dqeval.evaluate_detections(labels, found, near=near)
    result = dqeval.evaluate_intervals(pairs(labels), pairs(found), span=(0, len(labels)), near=near)
    assert values(result) == approx(expected)
    assert result.dqe == pytest.approx(expected.dqe, abs=1e-12)
    dates = dqeval.evaluate_intervals(
        on_clock(pairs(labels)),
        on_clock(pairs(found)),
        span=(START, START + len(labels) * MINUTE),
        resolution="1min",
        near=near,
    )
    assert values(dates) == values(result)


@given(labelled(detections), st.integers(0, 9), st.sampled_from([1, 7, 1000]), st.integers(-(10**9), 10**9))
@pytest.mark.unmeasured
def test_shifts_units_and_splits_change_nothing(pair, near, unit, shift):
    labels, found = pair
    expected = dqeval.evaluate_intervals(pairs(labels), pairs(found), span=(0, len(labels)), near=near)

    def moved(cells):
        return [(shift + a * unit, shift + b * unit) for a, b in cells]

    split = [half for a, b in pairs(found) for half in ((a, (a + b) // 2), ((a + b) // 2, b)) if half[0] < half[1]]
    (ends,) = moved([(0, len(labels))])
    for alerts in (pairs(found), split, split[::-1], [*split, *pairs(found)]):
        result = dqeval.evaluate_intervals(moved(pairs(labels)), moved(alerts), span=ends, resolution=unit, near=near)
        assert values(result) == values(expected)


def test_an_interval_takes_every_cell_that_it_overlaps():
    incidents = [("2026-01-01 00:10:30", "2026-01-01 00:12:00")]
    found = dqeval.evaluate_intervals(incidents, [], span=("2026-01-01", "2026-01-02"), resolution="1min")
    assert (found.per_event[0].start, found.per_event[0].stop) == (10, 12)
    both = dqeval.evaluate_intervals(incidents, [], span=("2026-01-01", "2026-01-02"), resolution="1min", closed="both")
    assert (both.per_event[0].start, both.per_event[0].stop) == (10, 13)
    instant = dqeval.evaluate_intervals(["2026-01-01 00:10:30"], [], span=("2026-01-01", "2026-01-02"), resolution=60)
    assert (instant.per_event[0].start, instant.per_event[0].stop) == (10, 11)
    assert instant.per_event[0].start_time == np.datetime64("2026-01-01T00:10")
    assert instant.per_event[0].stop_time == np.datetime64("2026-01-01T00:11")


HOURS = ((0, 2), (5, 6))
STARTS = [datetime(2026, 1, 1, a) for a, _ in HOURS]
STOPS = [datetime(2026, 1, 1, b) for _, b in HOURS]
FORMS = {
    "datetimes": list(zip(STARTS, STOPS, strict=True)),
    "text": [(str(a), b.isoformat()) for a, b in zip(STARTS, STOPS, strict=True)],
    "datetime64": np.array([STARTS, STOPS], dtype="datetime64[s]").T,
    "pandas": pd.DataFrame({"start": STARTS, "end": STOPS}),
    "polars": pl.DataFrame({"start": STARTS, "stop": STOPS}),
    "durations": pd.DataFrame({"Start": STARTS, "duration": ["2h", "3600s"]}),
    "timedeltas": {"start": STARTS, "duration": [timedelta(hours=2), timedelta(hours=1)]},
    "seconds": {"start": STARTS, "duration": [7200, 3600.0]},
    "an index": pd.IntervalIndex.from_arrays(STARTS, STOPS, closed="left"),
    "in any order": list(zip(STARTS, STOPS, strict=True))[::-1],
    "joined": [*zip(STARTS, STOPS, strict=True), (STARTS[0], STARTS[0] + timedelta(minutes=90))],
}
ZONE = pd.DataFrame(
    {
        "start": pd.to_datetime(STARTS).tz_localize("UTC").tz_convert("Europe/Berlin"),
        "end": pd.to_datetime(STOPS, utc=True),
    }
)


@pytest.mark.parametrize("form", FORMS)
def test_incidents_in_any_form(form):
    result = dqeval.evaluate_intervals(FORMS[form], [], span=("2026-01-01", "2026-01-02"), resolution="1h", near=1)
    assert [(event.start, event.stop) for event in result.per_event] == list(HOURS)
    assert result.dqe == 0


def test_durations_of_numbers():
    result = dqeval.evaluate_intervals({"start": [5, 20], "duration": [3, 4]}, {"start": [], "duration": []}, near=1)
    assert [(event.start_time, event.stop_time) for event in result.per_event] == [(5, 8), (20, 24)]
    assert str(result).splitlines()[3].startswith("5 – 8 ")


def test_an_index_with_other_ends_is_refused():
    """Pandas closes its intervals on the right by default, which would be a cell off."""
    index = pd.IntervalIndex.from_arrays(STARTS, STOPS)
    with pytest.raises(ValueError, match=r"closed on 'right': give it as \.set_closed"):
        dqeval.evaluate_intervals(index, [])


def test_time_zones():
    aware = [(a.replace(tzinfo=UTC), b.replace(tzinfo=UTC)) for a, b in zip(STARTS, STOPS, strict=True)]
    span = ("2026-01-01T00:00:00+00:00", "2026-01-02T00:00:00+00:00")
    for incidents in (ZONE, aware):
        result = dqeval.evaluate_intervals(incidents, aware, span=span, resolution="1h", near=1)
        assert [(event.start, event.stop) for event in result.per_event] == list(HOURS)
        assert result.dqe == 1
    with pytest.raises(ValueError, match="the starts of incidents are dates with a time zone, and the ends are"):
        dqeval.evaluate_intervals([(aware[0][0], STOPS[0])], [])


def test_the_resolution_where_none_is_given():
    def axis(*moments):
        return dqeval.evaluate_intervals([moments], [], near=1).axis

    assert str(axis("2026-01-01 10:00", "2026-01-01 12:00")) == "2 cells of 1 h"
    assert str(axis("2026-01-01 10:00", "2026-01-01 10:05:30")) == "330 cells of 1 s"
    assert str(axis("2026-01-01", "2026-01-03")) == "2 cells of 1 d"
    assert str(axis(10, 30)) == "20 cells of 1"


def test_near_as_a_duration():
    incidents, span = [("2026-01-01 10:00", "2026-01-01 11:00")], ("2026-01-01", "2026-01-02")
    alerts = [("2026-01-01 09:40", "2026-01-01 09:45")]
    expected = dqeval.evaluate_intervals(incidents, alerts, span=span, resolution="5min", near=6)
    for near in ("30min", "0.5 h", timedelta(minutes=30), np.timedelta64(1800, "s"), pd.Timedelta("30min")):
        assert dqeval.evaluate_intervals(incidents, alerts, span=span, resolution="5min", near=near) == expected
    assert "near 30 min, 288 cells of 5 min" in str(expected)


def test_the_default_near_range_is_the_median_incident():
    """As it lasts, and not as many cells as it touches: so the resolution does not change it."""
    lengths = [("09:59", "10:07"), ("12:00", "12:20"), ("14:01:30", "14:13:30"), ("14:10", "14:12")]
    incidents = [(f"2026-01-01 {a}", f"2026-01-01 {b}") for a, b in lengths]
    for resolution, cell in (("1s", 1), ("1min", 60), ("5min", 300), ("1h", 3600)):
        found = dqeval.evaluate_intervals(incidents, [], span=("2026-01-01", "2026-01-02"), resolution=resolution)
        assert found.near * cell == 720
        assert found.near_in_words == "near 12 min"
    assert dqeval.evaluate_intervals([(0, 5), (10, 11), (30, 33)], []).near == 3
    assert dqeval.evaluate_intervals([(0, 5), (10, 11), (30, 33)], [], closed="both").near == 4
    assert dqeval.evaluate_intervals([(0, 5), (9, 30)], [], span=(0, 20), undefined="nan").near == 8  # of 5 and 11
    moments = dqeval.evaluate_intervals([(5, 5), (9, 9), (12, 15)], [], span=(0, 20))
    assert (moments.near, moments.notes) == (0, (NO_LENGTH,))
    assert dqeval.evaluate_intervals([5, 9], [], span=(0, 20), near=0).notes == ()
    with pytest.warns(dqeval.UndefinedWarning):
        assert dqeval.evaluate_intervals([], [5], span=(0, 20), undefined="nan").near == 0


def test_what_follows_a_start_and_an_end_is_not_read():
    """Rows of tables often go on with a name or an id."""
    pairs = [(10, 20), (40, 50)]
    expected = dqeval.evaluate_intervals(pairs, [(12, 14)], near=5).dqe
    longer = [(10, 20, "disk full", 7), [40, 50, None]]
    assert dqeval.evaluate_intervals(longer, [(12, 14, "x")], near=5).dqe == expected
    assert dqeval.evaluate_intervals(np.array([[10, 20, 3], [40, 50, 3]]), [(12, 14)], near=5).dqe == expected
    with pytest.raises(ValueError, match="span must be a pair of start and end"):
        dqeval.evaluate_intervals(pairs, [], span=(0, 9, 20))


def test_incidents_that_become_one_event_are_told():
    """Back to back, in one cell, or one in the other."""
    for joined in ([(10, 20), (20, 30)], [(10, 20), (12, 14), (19, 20)], [(10, 11), (5, 40), (12, 13)]):
        found = dqeval.evaluate_intervals([*joined, (60, 65)], [(12, 14)], near=5)
        assert len(found.per_event) == 2
        assert found.notes == (f"{len(joined)} incidents that touch or overlap count as 1 incident",)
    two = [(0, 4), (4, 6), (10, 14), (13, 16), (20, 21)]
    found = dqeval.evaluate_intervals([(0, 1)], two, span=(0, 30), near=5)
    assert found.notes == ("4 alerts that touch or overlap count as 2 alerts",)
    assert dqeval.evaluate_intervals([(0, 4), (5, 6)], [(1, 2)], resolution=5, span=(0, 20), near=5).notes == (
        "2 incidents that touch or overlap count as 1 incident",
    )
    assert dqeval.evaluate_intervals([(0, 4), (5, 6)], [(1, 2)], near=5).notes == ()


def test_what_lies_outside_is_told():
    result = dqeval.evaluate_intervals(
        [(10, 20), (200, 220)], [(-50, -40), (12, 13), (300, 310)], span=(0, 100), near=5
    )
    assert result.notes == ("1 incident outside the span left out", "2 alerts outside the span left out")
    assert (
        str(result).splitlines()[4].endswith("1 incident outside the span left out; 2 alerts outside the span left out")
    )
    assert result.dqe == 1


def test_nothing_detected_is_an_answer():
    result = dqeval.evaluate_intervals([(10, 20)], [], span=(0, 100), near=5)
    assert (result.dqe, result.capture, result.curve.dqe.tolist()) == (0, 0, [0])
    with pytest.raises(dqeval.UndefinedError):
        dqeval.evaluate_intervals([], [(10, 20)], span=(0, 100))
    with pytest.warns(dqeval.UndefinedWarning):
        none = dqeval.evaluate_intervals([], [(10, 20)], span=(0, 100), undefined="nan")
    assert np.isnan(none.dqe)
    assert len(none.curve.dqe) == 0


BAD = {
    "ends before it starts": (([(5, 3)], []), {}, r"incidents: the one at position 0 ends before it starts: 5 to 3"),
    "no interval": (([], []), {}, "there is no interval and no span: give span="),
    "dates and numbers": (
        ([(5, 9)], [("2026-01-01", "2026-01-02")]),
        {},
        "incidents are plain numbers, and alerts are dates without a time zone: give one form",
    ),
    "words": (
        ([("today", "tomorrow")], []),
        {},
        "incidents, starts: the times, such as 'today', cannot be read together",
    ),
    "missing": (([("2026-01-01", "NaT")], []), {}, "cannot be read together|is missing"),
    "not a time": (
        ([(np.datetime64("NaT", "s"), np.datetime64("2026-01-01"))], []),
        {},
        "the time at position 0 is missing",
    ),
    "not whole": (([(0.5, 2)], []), {}, "the time 0.5 is not whole: give whole numbers"),
    "infinite": (([(0, np.inf)], []), {}, "incidents, ends: the time at position 0 is not finite"),
    "too large": (([(1, 10**30)], []), {}, "the time 1e[+]30 is too large: give smaller numbers, or dates"),
    "too far away": (([("2026-01-01", "3026-01-01")], []), {}, "is too far away: dates must be from 1678 to 2261"),
    "mixed": (([(1, 2), 3], []), {}, "some are pairs of start and end, and others are not"),
    "columns": ((pd.DataFrame({"a": [1]}), []), {}, "incidents needs the columns start and end, or start and duration"),
    "span": (([(1, 2)], []), {"span": 7}, "span must be a pair of start and end: got 7"),
    "backwards": (([(1, 2)], []), {"span": (7, 3)}, "span must end after it starts"),
    "unit": (([(1, 2)], []), {"resolution": "1min"}, "resolution must be a whole number, as the times are: got '1min'"),
    "no resolution": (([(1, 2)], []), {"resolution": 0}, "resolution must be above 0, and not beyond all times: got 0"),
    "unknown unit": (
        ([("2026-01-01", "2026-01-02")], []),
        {"resolution": "3 moons"},
        "resolution must be a duration such",
    ),
    "near of numbers": (([(1, 2)], []), {"near": "10min"}, "near '10min' is a duration, but the times are numbers"),
    "near": (
        ([(1, 2)], []),
        {"near": -1},
        "near must be a finite number of at least 0: got -1; it is a duration such as",
    ),
    "near in words": (([(1, 2)], []), {"near": "far"}, "near must be a finite number of at least 0: got 'far'"),
    "closed": (([(1, 2)], []), {"closed": "right"}, "closed must be 'left' or 'both': got 'right'"),
    "too fine": (
        ([("1900-01-01", "2100-01-01")], []),
        {"resolution": "1ns"},
        "cells of the resolution: give a coarser resolution",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    positional, options, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        dqeval.evaluate_intervals(*positional, **options)


@given(labelled(detections), st.sampled_from([1, 60]))
def test_labels_and_intervals_are_inverse(pair, step):
    labels, _ = pair
    if len(labels) < 2:
        return  # one point does not say how long it is
    times = 1000 + step * np.arange(len(labels))
    intervals = dqeval.intervals_from_labels(labels, times)
    assert intervals == [(1000 + step * a, 1000 + step * b) for a, b in pairs(labels)]
    assert dqeval.labels_from_intervals(intervals, times).tolist() == labels.astype(bool).tolist()
    dates = START + np.arange(len(labels)) * MINUTE
    assert dqeval.labels_from_intervals(dqeval.intervals_from_labels(labels, dates), dates).tolist() == labels.tolist()
    zoned = pd.DatetimeIndex(dates, tz="Europe/Berlin")
    assert dqeval.labels_from_intervals(dqeval.intervals_from_labels(labels, zoned), zoned).tolist() == labels.tolist()


def test_intervals_are_a_sequence_of_pairs():
    labels, times = [1, 0, 1, 1, 0, 1], np.arange(6)
    found = dqeval.intervals_from_labels(labels, times)
    assert found == [(0, 1), (2, 4), (5, 6)] == list(found)
    assert found != [(0, 1)]
    assert found == dqeval.intervals_from_labels(labels, times)
    assert found != dqeval.intervals_from_labels(labels, times + 1)
    assert found != dqeval.intervals_from_labels([1, 0, 1, 1, 0, 0], times)
    assert found != ((0, 1), (2, 4), (5, 6))
    assert (found[1], found[-1], len(found)) == ((2, 4), (5, 6), 3)
    assert found[1:] == [(2, 4), (5, 6)]
    assert [type(end) for pair in [*found, found[0]] for end in pair] == [int] * 8
    assert (2, 4) in found
    assert found.index((5, 6)) == 2
    with pytest.raises(IndexError):
        found[3]
    assert found.to_frame().to_dict("list") == {"start": [0, 2, 5], "end": [1, 4, 6]}
    with pytest.raises(TypeError, match="unhashable"):
        hash(found)


def test_intervals_of_dates():
    def found(*times):
        return dqeval.intervals_from_labels([0, 1, 0], np.array(times, dtype="datetime64[ns]"))

    days = found("2026-01-01", "2026-01-02", "2026-01-03")
    assert days == [(np.datetime64("2026-01-02"), np.datetime64("2026-01-03"))]
    assert days.start.dtype == "datetime64[ns]"
    assert str(days).splitlines()[-1] == "2026-01-02  2026-01-03"
    minutes = found("2026-01-01T00:00", "2026-01-01T01:00", "2026-01-01T02:00")
    assert str(minutes).splitlines()[-1] == "2026-01-01T01:00  2026-01-01T02:00"
    assert minutes.to_frame("polars").row(0) == (datetime(2026, 1, 1, 1), datetime(2026, 1, 1, 2))
    assert list(days[:0]) == []
    nothing = dqeval.intervals_from_labels([0, 0], np.array(["2026-01-01", "2026-01-02"], dtype="datetime64[D]"))
    assert nothing == []
    assert dqeval.labels_from_intervals(nothing, [1, 2]).tolist() == [False, False]
    berlin = pd.date_range("2026-07-01", periods=3, freq="h", tz="Europe/Berlin")
    zoned = dqeval.intervals_from_labels([0, 1, 0], berlin)
    assert str(zoned).splitlines()[::2] == [
        "start, Europe/Berlin  end, Europe/Berlin",
        "2026-07-01T01:00      2026-07-01T02:00",
    ]
    for library in ("pandas", "polars"):
        table = zoned.to_frame(library)
        assert dqeval.labels_from_intervals(table, berlin).tolist() == [False, True, False]
        assert table["start"][0] == datetime(2026, 6, 30, 23, tzinfo=UTC)
        assert zoned[:0].to_frame(library).shape == (0, 2)


def test_intervals_show_themselves():
    found = dqeval.intervals_from_labels(np.arange(2_001) % 2, np.arange(2_001))
    assert str(found).splitlines()[-1] == "the first 10 of 1,000 intervals"
    assert len(str(found).splitlines()) == 13
    assert "<td>" in found._repr_html_()
    assert str(found[:1]) == "start  end\n----------\n1      2"


def test_labels_of_points_that_begin_within_an_interval():
    times = np.array([0, 10, 20, 40, 50])  # 30 is missing
    assert dqeval.labels_from_intervals([(12, 13)], times).tolist() == [False, True, False, False, False]
    assert dqeval.labels_from_intervals([(31, 35)], times).tolist() == [False] * 5  # nothing was observed then
    assert dqeval.labels_from_intervals([(5, 20)], times).tolist() == [True, True, False, False, False]
    assert dqeval.labels_from_intervals([(5, 20)], times, closed="both").tolist() == [True, True, True, False, False]
    assert dqeval.labels_from_intervals([20], times).tolist() == [False, False, True, False, False]
    assert dqeval.labels_from_intervals([], times).tolist() == [False] * 5
    assert dqeval.labels_from_intervals([(1, 2)], []).tolist() == []


@given(
    st.lists(st.integers(1, 6), min_size=1, max_size=12),
    st.booleans(),
    st.lists(st.tuples(st.integers(-9, 60), st.integers(0, 20)), max_size=8),
    st.sampled_from(["left", "both"]),
)
def test_labels_are_points_that_overlap_an_interval(steps, even, intervals, closed):
    """Whether points are even or not, and whether intervals overlap, touch, are in order, or have no length."""
    steps = [steps[0]] * len(steps) if even else steps
    times = np.cumsum([0, *steps])
    step = sorted(steps)[(len(steps) - 1) // 2]
    spans = [(start, start + length) for start, length in intervals]

    ends = np.minimum(times + step, np.append(times[1:], np.inf))

    def overlaps(time, end, start, stop):
        return end > start and (time <= stop if closed == "both" or start == stop else time < stop)

    expected = [any(overlaps(*point, *span) for span in spans) for point in zip(times, ends, strict=True)]
    assert dqeval.labels_from_intervals(spans, times, closed=closed).tolist() == expected


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 30)), min_size=2, max_size=20))
def test_labels_and_intervals_of_uneven_times_are_inverse(points):
    labels, times = [flag for flag, _ in points], np.cumsum([step for _, step in points])
    assert dqeval.labels_from_intervals(dqeval.intervals_from_labels(labels, times), times).tolist() == labels


def test_labels_at_the_ends_of_what_dates_can_be():
    """A step beyond them is no number that there is."""
    for year in ("1678-01-01", "2262-04-11"):
        days = np.array([year], "datetime64[D]") + np.arange(-1 if year > "2000" else 0, 1 if year > "2000" else 2)
        found = dqeval.labels_from_intervals([(days[0], days[1])], days)
        assert found.tolist() == [True, False]


def test_the_times_of_the_caller_stay_as_they_are():
    times = np.arange(9)
    dqeval.evaluate([0, 1] * 4 + [0], np.arange(9), times=times, near=1)
    assert dqeval.labels_from_intervals([(1, 3)], times).sum() == 2
    assert times.tolist() == list(range(9))


def test_bad_times():
    with pytest.raises(ValueError, match="times must ascend: at position 2, 5 comes behind 9; sort the points"):
        dqeval.labels_from_intervals([(1, 2)], [0, 9, 5])
    with pytest.raises(ValueError, match="at position 1, 3 is there twice"):
        dqeval.intervals_from_labels([1, 0], [3, 3])
    with pytest.raises(ValueError, match=r"^labels must contain only 0 and 1"):
        dqeval.intervals_from_labels([1, 2], [1, 2])
    with pytest.raises(ValueError, match="labels and times must have the same length: got 2 and 3"):
        dqeval.intervals_from_labels([1, 0], [1, 2, 3])
    with pytest.raises(
        ValueError, match="intervals are dates without a time zone, and times are plain numbers: give one form"
    ):
        dqeval.labels_from_intervals([("2026-01-01", "2026-01-02")], [1, 2])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        *(("1.5h", 5400), ("2 days", 172800), ("1w", 604800), ("90 sec", 90), ("3m", 180)),
        *(("PT2H", 7200), ("P1DT12H", 129600), ("PT1M30S", 90), ("PT0,5H", 1800), (" P2W ", 1209600), ("pt1.5m", 90)),
        *((f"{1 / 3}h", 1200), ("1e3s", 1000), ("9e-1min", 54), (".5h", 1800), ("2.h", 7200), (f"{1e17} ns", 10**8)),
        (np.timedelta64(2, "m"), 120),
    ],
)
def test_durations(given, expected):
    assert durations.nanoseconds("near", given) == expected * 10**9


NO_DURATIONS = ["", "5", "-1s", "1 parsec", "P", "PT", "P1DT", "P1M", "P1Y", "-PT1H", "PT1D", "1e3", "1e999s", ".s"]


@pytest.mark.parametrize("given", [*NO_DURATIONS, 5, None, np.timedelta64(1, "M"), NO_TIME])
def test_what_is_no_duration(given):
    with pytest.raises(ValueError, match="near must"):
        durations.nanoseconds("near", given)


@pytest.mark.parametrize("given", [timedelta(seconds=-1), "999999999999999w", "1e99h", "P99999999D"])
def test_durations_below_zero_or_endless(given):
    with pytest.raises(ValueError, match="of at least 0, and of less than a century"):
        durations.nanoseconds("near", given)


def test_the_last_moment_is_in_the_span():
    """Where nobody gives a span, a false alarm at the last moment counts, and so does an end that is inside."""
    by_default = dqeval.evaluate_intervals([(0, 10)], [5, 20], near=2)
    given = dqeval.evaluate_intervals([(0, 10)], [5, 20], span=(0, 21), near=2)
    assert (by_default.dqe, by_default.axis.length) == (given.dqe, 21)
    assert dqeval.evaluate_intervals([(0, 10)], [(10, 10)], closed="both", near=2).capture == 1
    assert dqeval.evaluate_intervals([5], [5], near=2).dqe == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (5, "incidents must be pairs of start and end, times, or columns: got 5"),
        ({"start": [1, 2], "end": [3]}, "incidents must have an end for each start: got 2 and 1"),
        ({"start": [1, 2], "duration": [3]}, "incidents must have an end for each start: got 2 and 1"),
    ],
)
def test_intervals_that_are_none(given, message):
    with pytest.raises(ValueError, match=message):
        dqeval.evaluate_intervals(given, [])


def test_durations_of_several_units():
    assert durations.nanoseconds("near", "1 h 30 min") == durations.nanoseconds("near", "90min")
