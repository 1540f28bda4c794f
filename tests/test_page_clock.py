"""When the points of a page are, exactly, and under what browsers keep its corrections."""

import base64
import zlib
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import dqeval
from dqeval.core.sampling import Clock
from dqeval.datasets.door import prepare
from dqeval.render.page_clock import clock_of, content_key

LABELS = np.array([0, 1, 1, 0, 0, 0, 1, 0])
SCORES = np.arange(8.0)
DAY = np.datetime64("2026-01-01T00:00", "ns")


def prepared(times=None, **options):
    columns = {"label": LABELS, "mine": SCORES} | ({} if times is None else {"timestamp": times})
    return prepare(columns, near=1, **options)


def ticks_in(clock):
    """Return the times of samples as label_files.js finds them."""
    planes = np.frombuffer(zlib.decompress(base64.b64decode(clock["steps"])), np.uint8)
    steps = planes.reshape(8, -1).T.copy().view("<i8").ravel()
    return int(clock["first"]) + np.append(0, np.cumsum(int(clock["unit"]) * steps))


def test_even_dates_have_an_origin_and_a_step():
    times = DAY + np.arange(8) * np.timedelta64(90, "s")
    origin = str(DAY.astype(int))
    assert clock_of(prepared(times)) == {"kind": "local", "origin": origin, "step": "90000000000"}
    zoned = prepared([f"{moment}Z" for moment in times.astype("M8[s]")])
    even = {"kind": "universal", "origin": origin, "step": "90000000000"}
    assert clock_of(zoned) == {**even, "offsets": [[origin, 0]]}
    berlin = prepared([f"{moment}+01:00" for moment in (times + np.timedelta64(1, "h")).astype("M8[s]")])
    assert clock_of(berlin) == {**even, "offsets": [[origin, 60]]}


def test_clocks_that_are_put_forward_have_two_offsets():
    for steps in (np.arange(8), np.cumsum([0, 1, 1, 2, 1, 1, 1, 1])):
        times = pd.Timestamp("2026-03-29T00:00") + pd.to_timedelta(20 * steps, "min")
        series = prepared(times.tz_localize("UTC").tz_convert("Europe/Berlin"))
        forward = str(pd.Timestamp("2026-03-29T01:00").value)
        assert clock_of(series)["offsets"] == [[str(times[0].value), 60], [forward, 120]]


def test_offsets_that_are_no_whole_minutes_are_those_of_utc():
    times = pd.date_range("1880-01-01", periods=8, freq="h", tz="Europe/Berlin")
    assert clock_of(prepared(times))["offsets"] == [[str(times[0].value), 0]]


def test_a_clock_that_was_asked_for():
    found = clock_of(prepared([10, 20, 30, 40, 50, 60, 120, 130], clock=Clock(None, 10, None)))
    assert found == {"kind": "number", "origin": "10", "step": "10"}


@pytest.mark.parametrize(
    ("steps", "behind"),
    [
        ([0, 60, 60, 61, 60, 9, 60, 60], 10**6),  # seconds: an event ends a millisecond behind its last sample
        ([0, 0.002, 0.5, 1, 1, 1, 1, 1], 10**6),
        ([0, 0.001, 0.5, 1, 1, 1, 1, 1], 1),  # where the next sample would begin there
        ([0, 0.0001, 0.5, 1, 1, 1, 1, 1], 1),
    ],
)
def test_samples_that_are_not_even(steps, behind):
    times = DAY + np.cumsum(np.rint(np.multiply(steps, 1e9))).astype("m8[ns]")
    found = clock_of(prepared(times))
    assert (found["kind"], found["behind"]) == ("local", behind)
    assert ticks_in(found).tolist() == times.astype(int).tolist()
    zoned = clock_of(prepared([f"{moment}+01:00" for moment in times]))
    assert (zoned["kind"], zoned["offsets"]) == ("universal", [[str(ticks_in(zoned)[0]), 60]])


def test_numbers_count_themselves_or_since_1970():
    found = clock_of(prepared(5 * np.arange(8)))
    assert (found["kind"], found["behind"], ticks_in(found).tolist()) == ("number", 1, list(range(0, 40, 5)))
    assert (found["first"], found["unit"]) == ("0", "5")
    found = clock_of(prepared(1_700_000_000 + 60 * np.arange(8)))
    assert (found["kind"], ticks_in(found)[1]) == ("universal", 1_700_000_060 * 10**9)


def test_a_single_sample():
    series = dqeval.Series("x", [1], {"mine": [1.0]}, timestamps=np.array([7]))
    found = clock_of(prepare(series, near=1))
    assert (found["unit"], ticks_in(found).tolist()) == ("1", [7])


@pytest.mark.parametrize("times", [None, [f"sample {t}" for t in range(8)], np.arange(8) / 3, [0, 2, 1, 3, 4, 5, 6, 7]])
def test_points_without_times(times):
    series = dqeval.Series("x", LABELS, {"mine": SCORES}, timestamps=None if times is None else np.array(times))
    assert clock_of(prepare(series, near=1)) is None


def test_corrections_belong_to_labels_and_times():
    series = dqeval.Series("x", LABELS, {"mine": SCORES})
    key = content_key(prepare(series, near=1))
    assert len(key) == 32
    assert content_key(prepare(replace(series, scores={"other": -SCORES}), near=3)) == key
    others = [
        replace(series, name="y"),
        replace(series, labels=1 - LABELS),
        replace(series, labels=np.roll(LABELS, 1)),
        replace(series, timestamps=DAY + np.arange(8) * np.timedelta64(1, "m")),
        dqeval.Series("x", np.append(LABELS, 0), {"mine": np.arange(9.0)}),
    ]
    assert len({key, *(content_key(prepare(other, near=1)) for other in others)}) == 6
