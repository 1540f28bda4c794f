"""Delays, false alarms and time in alarm, against plain Python and published packages."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dqeval
from dqeval.core.events import find_events, split_at
from dqeval.metrics.alarms_at_threshold import alarms_of
from naive import alarm_zones, split_runs
from strategies import breaks, detections, labelled


def alarms(labels, found, **options):
    events, detected = (find_events(np.asarray(flags, dtype=bool)) for flags in (labels, found))
    return alarms_of(split_at(events, np.array(options.get("breaks", ()), dtype=int)), detected, **options)


def naive(labels, found, early, max_delay, breaks=()):
    """From the definition, point by point, with inclusive ends."""
    alarm_runs = split_runs(found, breaks)
    zones, delays, touching = [], [], []
    for low, a, b in alarm_zones(labels, early, breaks):
        high = b if max_delay is None else min(b, a + max_delay)
        zones.append(set(range(low, b + 1)))
        hits = [t for t in range(low, high + 1) if found[t]]
        delays.append(hits[0] - a if hits else None)
        touching.append(sum(any(low <= t <= high for t in range(x, y + 1)) for x, y in alarm_runs))
    false = sum(not any(set(range(x, y + 1)) & zone for zone in zones) for x, y in alarm_runs)
    quiet = max((b - a + 1 for a, b in split_runs([not flag for flag in found], breaks)), default=0)
    return delays, touching, false, quiet


@given(labelled(detections), st.integers(0, 6), st.none() | st.integers(0, 6), st.data())
@pytest.mark.unmeasured
def test_equals_the_definition(pair, early, max_delay, data):
    labels, found = (flags.tolist() for flags in pair)
    gaps = data.draw(breaks(len(labels)))
    delays, touching, false, quiet = naive(labels, found, early, max_delay, gaps)
    result = alarms(labels, found, early=early, max_delay=max_delay, breaks=gaps)
    assert [None if np.isnan(delay) else delay for delay in result.delays.tolist()] == delays
    assert result.detected.tolist() == [delay is not None for delay in delays]
    assert result.alarms_per_event.tolist() == touching
    assert (result.false_alarms, result.longest_quiet) == (false, quiet)
    false_points = sum(f and not y for y, f in zip(labels, found, strict=True))
    assert (result.alarm_points, result.false_alarm_points) == (sum(found), false_points)
    assert (result.normal_points, result.points) == (len(labels) - sum(labels), len(labels))


GOLDEN = json.loads((Path(__file__).parent / "reference" / "operators.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["id"])
def test_equals_published_packages(case):
    """Values of telemeval, sktime and Merlion, or of the definition where no package runs on the input."""
    for suffix, early in (("", 0), ("_early", case["early"])):
        found = alarms(case["label"], case["pred"], early=early)
        numbers = {
            "delays": [None if np.isnan(delay) else delay for delay in found.delays.tolist()],
            "mean_delay": found.mean_delay,
            "events_detected": found.events_detected,
            "false_alarms": found.false_alarms,
            "false_alarm_rate": found.false_alarm_rate,
            "time_in_alarm": found.time_in_alarm,
            "false_time_in_alarm": found.false_time_in_alarm,
        }
        for name, value in numbers.items():
            if (expected := case["expected"].get(name + suffix, "")) is None:
                assert np.isnan(value), name
            elif name == "delays" and expected != "":
                assert value == expected
            elif expected != "":
                assert value == pytest.approx(expected, abs=1e-9), name


def test_by_hand():
    """Events [5, 9], [14, 17], [21, 22]; delays 3 and 0, and one that is missed."""
    case = GOLDEN[0]
    found = alarms(case["label"], case["pred"])
    assert (found.events_detected, found.mean_delay, found.median_delay) == (pytest.approx(2 / 3), 1.5, 1.5)
    assert found.delay_quantile(0.9) == pytest.approx(2.7)
    assert found.alarms_per_detected_event == 1
    assert (found.false_alarms, found.false_alarm_rate, found.time_in_alarm) == (2, pytest.approx(1 / 12), 7 / 24)
    assert found.longest_quiet == 5


def test_nothing_goes_on_across_a_break():
    """Points 0 to 3, then a gap, then 4 to 9; an alarm over the gap, and one before the event behind it."""
    labels, found = [0, 0, 0, 0, 0, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 0, 0, 0, 0, 0]
    whole, split = alarms(labels, found, early=2), alarms(labels, found, early=2, breaks=[4])
    assert (whole.delays.tolist(), whole.false_alarms, whole.longest_quiet) == ([-2], 0, 5)
    assert (split.delays.tolist(), split.false_alarms, split.longest_quiet) == ([-1], 1, 5)
    quiet = alarms(labels, [0] * 10, breaks=[4])
    assert (quiet.longest_quiet, quiet.events_detected) == (6, 0)


def test_nothing_detected_and_no_event():
    silent = alarms([0, 1, 0], [0, 0, 0])
    assert (silent.events_detected, silent.longest_quiet, silent.false_alarms) == (0, 3, 0)
    assert np.isnan([silent.mean_delay, silent.median_delay, silent.alarms_per_detected_event]).all()
    none = alarms([0, 0, 0], [0, 1, 0])
    assert (none.false_alarms, none.time_in_alarm) == (1, pytest.approx(1 / 3))
    assert np.isnan(none.events_detected)
    assert np.isnan(alarms([1, 1], [1, 0]).false_time_in_alarm)


def test_shown():
    labels, found = [0, 0, 1, 1, 1, 0, 0, 0, 1, 0], [0, 0, 0, 1, 0, 0, 1, 0, 0, 0]
    plain = dqeval.alarms(labels, found)
    assert "false alarms                   1 (100 per 1,000 points)" in str(plain)
    assert "median delay                   1 point\n" in str(plain)
    assert np.isnan(plain.false_alarms_per_day)
    clock = dqeval.alarms(labels, found, resolution="1h")
    assert clock.false_alarms_per_day == pytest.approx(2.4)
    assert "1 (2.4 per day)" in clock._repr_html_()
    assert "median delay                   none" in str(dqeval.alarms(labels, [0] * 10))
    assert dqeval.alarms(labels, found, early=2, max_delay=0).delays.tolist()[1:] == [-2.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"early": -1}, "early must be a whole number of at least 0"),
        ({"max_delay": 0.5}, "max_delay must be a whole number of at least 0"),
        ({"resolution": "0s"}, "resolution must be above 0"),
        ({"resolution": -5}, "resolution must be above 0"),
        ({"resolution": "5"}, 'resolution must be a duration such as "30min"'),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        dqeval.alarms([0, 1], [0, 1], **options)


def test_of_incidents_and_alerts():
    incidents = [("2026-01-01 10:00", "2026-01-01 11:00"), ("2026-01-01 20:00", "2026-01-01 21:00")]
    alerts = [("2026-01-01 09:50", "2026-01-01 10:05"), ("2026-01-01 15:00", "2026-01-01 15:10")]
    found = dqeval.evaluate_intervals(
        incidents, alerts, span=("2026-01-01", "2026-01-03"), resolution="5min", near="30min"
    ).alarms
    assert found.delays.tolist()[0] == -2
    assert (found.detected.tolist(), found.false_alarms) == ([True, False], 1)
    assert found.false_alarms_per_day == 0.5
    assert "median delay                   −10 min" in str(found)
    assert "longest time without an alarm  1 d 8 h" in str(found)


def test_alarms_in_a_sentence():
    found = dqeval.alarms([0, 0, 1, 1, 0, 0, 0, 0], [0, 0, 0, 1, 0, 0, 1, 0])
    detected = "1 of 1 event detected, with a median delay of 1 point; 1 false alarm (125 per 1,000 points)"
    assert found.sentence == f"{detected}; in alarm for 25.0 % of the time."
    none = dqeval.alarms([0, 0, 1, 1, 0, 0, 0, 0], [0] * 8, resolution="3h")
    assert none.sentence == "0 of 1 event detected; 0 false alarms (0 per day); in alarm for 0.0 % of the time."
