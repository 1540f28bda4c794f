"""Local dates of a time zone in universal time, and the column that holds them."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dqeval
import naive
from commands import caller
from dqeval.cli.series_files import series_columns, write_columns
from dqeval.core.moments import Moments, in_zone, moments_of, shown
from dqeval.core.zones import on_clocks, texts_of, zone_of, zone_told
from dqeval.datasets import read_columns, read_intervals, series_of, split
from dqeval.datasets.door import prepare

BERLIN = "Europe/Berlin"
# With clocks that are put forward and back by an hour, by half of one, and never; and far from universal time.
ZONES = [BERLIN, "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "Pacific/Apia", "UTC"]
SECOND = 10**9


def universal(ticks, timezone=BERLIN):
    return in_zone(Moments(np.array(ticks, dtype=np.int64), "local"), timezone, lambda i: f"moment {i}").ticks


@given(
    st.sampled_from(ZONES),
    st.lists(st.datetimes(datetime(1995, 1, 1), datetime(2037, 1, 1)), min_size=1, max_size=20),
)
def test_the_slow_way(timezone, moments):
    """Each moment by itself, and moments around all those at which clocks are changed."""
    ticks = [round((moment - datetime(1970, 1, 1)) / timedelta(seconds=1)) * SECOND for moment in moments]
    assert_as_naive(ticks, timezone)


@pytest.mark.parametrize("timezone", ZONES)
@pytest.mark.slow
@pytest.mark.unmeasured(but=["Lord_Howe"])
def test_hours_in_which_clocks_change(timezone):
    """Every half hour of a year, one by one."""
    begin = int(np.datetime64("2011-01-01", "s").astype(int))
    ticks = (np.arange(begin, begin + 366 * 86_400, 1800) * SECOND).tolist()
    expected = {tick: naive.universal_moments(tick, timezone) for tick in ticks}
    fine = [tick for tick in ticks if len(expected[tick]) == 1]
    assert universal(fine, timezone).tolist() == [expected[tick][0] for tick in fine]
    for tick in set(ticks) - set(fine):
        with pytest.raises(ValueError, match=r"moment 1: .* (is there twice, as|is left out by) clocks "):
            universal([fine[0], tick], timezone)


def assert_as_naive(ticks, timezone):
    every = [naive.universal_moments(tick, timezone) for tick in ticks]
    wrong = [i for i, found in enumerate(every) if len(found) != 1]
    if not wrong:
        assert universal(ticks, timezone).tolist() == [found[0] for found in every]
        return
    with pytest.raises(ValueError, match=f"^moment {wrong[0]}: "):
        universal(ticks, timezone)


def test_other_moments_stay_as_they_are():
    """Those with a zone are only shown in the one that is asked for."""
    numbers, dates = (Moments(np.arange(3), kind) for kind in ("number", "universal"))
    assert in_zone(numbers, BERLIN, str) is numbers
    assert in_zone(dates, BERLIN, str).ticks is dates.ticks
    assert in_zone(dates, BERLIN, str).shown(1) == "1970-01-01T01:00:00.000000001+01:00"


DAY = datetime(2026, 1, 1, 10)
TOLD = {
    "an offset": (["2026-01-01T10:00+01:00", "2026-01-02 10:00+0100"], "+01:00"),
    "one without a colon": (["2026-01-01T10:00-0330"], "-03:30"),
    "whole hours": (["2026-01-01T10:00+01", "2026-01-02 10:00:30+01"], "+01:00"),
    "universal time": (["2026-01-01T10:00Z", "2026-01-01T10:00+00:00"], "UTC"),
    "several offsets": (["2026-01-01T10:00+01:00", "2026-07-01T10:00+02:00"], "UTC"),
    "no zone": (["2026-01-01"], False),
    "text": (["soon"], None),
    "numbers": ([1, 2], None),
    "nothing": ([], None),
    "moments of NumPy": (np.array(["2026"], dtype="datetime64[D]"), None),
    "naive datetimes": ([DAY], False),
    "datetimes of a zone": (
        [DAY.replace(tzinfo=ZoneInfo(BERLIN)), datetime(2026, 7, 1, tzinfo=ZoneInfo(BERLIN))],
        BERLIN,
    ),
    "datetimes of UTC": ([DAY.replace(tzinfo=UTC)], "UTC"),
    "datetimes of an offset": ([DAY.replace(tzinfo=timezone(timedelta(hours=-5)))], "-05:00"),
    "datetimes of two zones": ([DAY.replace(tzinfo=ZoneInfo(BERLIN)), DAY.replace(tzinfo=UTC)], "UTC"),
    "an index of pandas": (pd.DatetimeIndex([DAY]).tz_localize(BERLIN), BERLIN),
    "a column of pandas": (pd.Series([DAY]).dt.tz_localize("UTC"), "UTC"),
    "pandas with an offset": (pd.to_datetime(["2026-01-01T10:00+01:00"]), "+01:00"),
    "pandas without": (pd.DatetimeIndex([DAY]), False),
    "polars": (pl.Series([DAY]).dt.replace_time_zone(BERLIN), BERLIN),
    "pyarrow": (pa.array([DAY], type=pa.timestamp("us", tz="Etc/UTC")), "UTC"),
    "pyarrow with an offset": (pa.array([DAY], type=pa.timestamp("us", tz="+05:30")), "+05:30"),
}


@pytest.mark.parametrize("form", TOLD)
def test_the_zone_that_dates_were_given_in(form):
    given, zone = TOLD[form]
    assert zone_told(given) == zone
    if zone and form != "one without a colon":
        assert moments_of("times", given).zone == zone


def test_zones_of_other_libraries():
    """Some have no name that can be found again."""

    class Odd(tzinfo):
        def utcoffset(self, when):
            return None if when is None else timedelta(hours=2)

    assert zone_told([DAY.replace(tzinfo=Odd())]) == "UTC"
    named = Odd()
    named.zone = BERLIN  # as pytz has it
    assert zone_told([DAY.replace(tzinfo=named)]) == BERLIN
    named.zone = "Middle-earth/Shire"
    assert zone_told([DAY.replace(tzinfo=named)]) == "UTC"


@given(st.lists(st.integers(-(8 * 10**9), 9 * 10**9), min_size=1, max_size=20), st.sampled_from([*ZONES, "+01:30"]))
def test_universal_time_on_the_clocks_of_a_zone(seconds, zone):
    """As Python has it, which knows each moment by itself."""
    known = timezone(timedelta(minutes=90)) if zone == "+01:30" else ZoneInfo(zone)
    expected = [(datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=s)).astimezone(known) for s in seconds]
    dates = np.array(seconds).astype("datetime64[s]")
    local, ahead = on_clocks(dates, zone)
    assert local.astype("datetime64[s]").tolist() == [moment.replace(tzinfo=None) for moment in expected]
    assert ahead.tolist() == [round(moment.utcoffset().total_seconds()) for moment in expected]
    again = [datetime.fromisoformat(text) for text in texts_of(dates, zone)]
    assert again == expected
    assert [datetime.fromisoformat(shown(date, zone)) for date in dates] == expected


def test_dates_at_the_end_of_what_numbers_hold_are_shown_in_universal_time():
    assert shown(np.datetime64(2**63 - 1, "ns"), BERLIN) == "2262-04-11T23:47:16.854775807Z"


def test_events_are_shown_in_the_zone_of_their_times():
    """Every printed time carries its offset, also where clocks are put back within an event."""
    incidents = [
        ("2026-01-01T10:00+01:00", "2026-01-01T11:30+01:00"),
        ("2026-01-02T10:00+01:00", "2026-01-02T10:05+01:00"),
    ]
    grafana = [datetime(2026, 1, 1, 9, 10, tzinfo=UTC)]
    found = dqeval.evaluate_intervals(incidents, grafana, near="1h")
    assert [event.place for event in found.per_event] == [
        "2026-01-01 10:00 – 11:30 +01:00",
        "2026-01-02 10:00 – 10:05 +01:00",
    ]
    assert found.per_event[0].record()["start_time"] == "2026-01-01T10:00+01:00"
    assert found.per_event[0].start_time == np.datetime64("2026-01-01T09:00")
    assert "start_time='2026-01-01T10:00+01:00', stop_time='2026-01-01T11:30+01:00', name=''" in repr(
        found.per_event[0]
    )
    assert found.per_event[0].to_frame()["stop_time"][0] == pd.Timestamp("2026-01-01T11:30+01:00")
    assert "zone" not in found.per_event[0].to_frame()
    assert "2026-01-02 10:00 – 10:05 +01:00" in str(found)
    for library in ("pandas", "polars"):  # which knows no offsets but by the names of zones
        ends = found.to_frame(library)["start_time"]
        assert ends[1] == pd.Timestamp("2026-01-02T10:00+01:00")
        assert ends[1].utcoffset() == timedelta(hours=library == "pandas")
    night = pd.date_range("2026-10-25 00:30", periods=12, freq="30min", tz="UTC").tz_convert(BERLIN)
    back = dqeval.evaluate(np.arange(12) // 2 % 3 == 0, np.arange(12), times=night, near="1h")
    assert [event.place for event in back.per_event] == [
        "2026-10-25 02:30 +02:00 – 02:30 +01:00",
        "2026-10-25 04:30 – 05:30 +01:00",
    ]
    assert dqeval.partition(np.arange(12) == 5, times=night, near=1).to_frame()["start_time"][0] == night[5]
    assert "04:00 – 04:30 +01:00" in str(dqeval.partition(np.arange(12) == 5, times=night, near=1))


def test_times_in_errors_and_findings_carry_their_zone():
    with pytest.raises(ValueError, match=r"ends before it starts: 2026-01-02T10:00\+01:00 to 2026-01-01T10:00\+01:00"):
        dqeval.evaluate_intervals([("2026-01-02T10:00+01:00", "2026-01-01T10:00+01:00")], [])
    hours = pd.date_range("2026-01-01", periods=300, freq="h", tz=BERLIN)
    with pytest.raises(ValueError, match=r"at position 1, 2026-01-01T00:00\+01:00 is there twice"):
        dqeval.evaluate([0, 1], [0, 1], times=hours[[0, 0]])
    with pytest.raises(ValueError, match=r"times go from 1700-01-01T00:00Z to 2261-01-01T00:00Z: that is too long"):
        dqeval.evaluate([0, 1], [0, 1], times=["1700-01-01T00:00Z", "2261-01-01T00:00Z"])
    labels = np.arange(300) % 50 == 30
    frame = pd.DataFrame({"label": labels, "mine": np.arange(300) * 7 % 11, "value": 1.5}, index=hours)
    messages = str(dqeval.check(frame.drop(hours[100])))
    assert "first after point 99 (2026-01-05T03:00+01:00)" in messages
    assert "first after point 99 (2026-01-05T03:00:00" in str(dqeval.check(frame.drop(hours[100]).tz_localize(None)))


def test_the_zone_of_several_inputs():
    """That of the incidents, unless they are in universal time and others are not; or the one that is asked for."""
    series = dqeval.Series("s", np.zeros(4), {"a": np.arange(4.0)}, timestamps=np.arange(4).astype("M8[h]"), zoned=True)
    incidents = dqeval.datasets.door.spans_of("incidents", [("1970-01-01T03:00+02:00", "1970-01-01T04:00+02:00")])
    for zone, spans, expected in (
        ("UTC", incidents, "+02:00"),
        (BERLIN, incidents, "+02:00"),
        (BERLIN, replace(incidents, zone="UTC"), BERLIN),
        ("UTC", replace(incidents, zone="UTC"), "UTC"),
    ):
        assert prepare(replace(series, zone=zone, incidents=spans)).labelled.axis.zone == expected
    span = ("1970-01-01T00:00-05:00", "1970-01-02T00:00-05:00")
    at = ["1970-01-01T09:00Z"]
    assert dqeval.evaluate_intervals(at, at, span=span, near=0).axis.zone == "-05:00"


def test_columns_that_are_written_carry_their_zone(tmp_path):
    """Read back, they are the same moments."""
    times = pd.date_range("2026-03-29", periods=6, freq="h", tz=BERLIN)
    frame = pd.DataFrame({"label": [0, 1, 0, 0, 1, 0], "value": np.arange(6.0)}, index=times)
    series = dqeval.datasets.series_of(frame, scores=[])
    columns = series_columns(series)
    assert columns["timestamp"].tolist()[1:3] == ["2026-03-29T01:00:00+01:00", "2026-03-29T03:00:00+02:00"]
    assert series_columns(replace(series, zoned=False))["timestamp"][1].startswith("2026-03-29T00:00:00")
    write_columns(tmp_path / "a.csv", columns)
    again = dqeval.datasets.read(tmp_path / "a.csv")
    assert (next(iter(again)).timestamps == series.timestamps).all()


@pytest.mark.parametrize("name", ["Europe/Berln", "../etc/passwd", "", 5, "/etc/passwd", "a\0b"])
def test_unknown_zones(name):
    with pytest.raises(ValueError, match="timezone"):
        zone_of(name)


def dates(first="2026-06-01T00:00", count=40):
    return np.datetime64(first) + np.arange(count) * np.timedelta64(1, "h")


def write_table(path, times, label=True, time="timestamp"):
    rows = [f"{t},{i % 10 == 5:d},{i % 7}" if label else f"{t},{i % 7}" for i, t in enumerate(times)]
    path.write_text("\n".join([f"{time},label,mine" if label else f"{time},mine", *rows]))
    return path


def test_read_columns(tmp_path):
    path = write_table(tmp_path / "a.csv", dates(), time="when")
    plain = read_columns(path)
    assert plain.timestamps is None
    local = read_columns(path, time="when")
    assert (local.timestamps[0], local.zoned) == (np.datetime64("2026-06-01T00:00"), False)
    assert list(local.scores) == ["mine"]
    summer = read_columns(path, time="when", timezone=BERLIN)
    assert (summer.timestamps[0], summer.zoned) == (np.datetime64("2026-05-31T22:00"), True)
    assert summer.timestamps.dtype == "datetime64[s]"
    # Dates with a zone, and numbers, have no other one.
    zoned = read_columns(write_table(tmp_path / "a.csv", [f"{t}Z" for t in dates()]), timezone=BERLIN)
    assert (zoned.timestamps[0], zoned.zoned) == (np.datetime64("2026-06-01T00:00"), True)
    assert read_columns(write_table(tmp_path / "a.csv", range(40)), timezone=BERLIN).zoned is None


def test_days_have_hours_then(tmp_path):
    days = np.datetime64("2026-06-01") + np.arange(4)
    found = read_columns(write_table(tmp_path / "a.csv", days), timezone=BERLIN)
    assert found.timestamps[0] == np.datetime64("2026-05-31T22:00")


@pytest.mark.parametrize(
    ("hour", "said"),
    [
        ("2026-03-29T02:00", "2026-03-29T02:00 is left out by clocks put forward in Europe/Berlin"),
        ("2026-10-25T02:00", "2026-10-25T02:00 is there twice, as clocks are put back in Europe/Berlin"),
    ],
)
def test_hours_that_are_none_or_two(tmp_path, hour, said):
    advice = "give times with their offset, such as +01:00, or in UTC"
    first = np.datetime64(hour) - np.timedelta64(5, "h")
    path = write_table(tmp_path / "a.csv", dates(first))
    with pytest.raises(ValueError, match=re.escape(f"{path}: the timestamp of point 5: {said}: {advice}")):
        read_columns(path, timezone=BERLIN)
    (tmp_path / "b.csv").write_text(f"start,end\n2026-01-01,2026-01-02\n2026-01-03,{hour}\n")
    with pytest.raises(ValueError, match=re.escape(f"b.csv: row 2 below the header: {said}: {advice}")):
        read_intervals(tmp_path / "b.csv", timezone=BERLIN)


def test_read_intervals(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("start,end\n2026-03-29T01:30,2026-03-29T03:30\n")
    found = read_intervals(path, timezone=BERLIN)
    assert (found.stops - found.starts)[0] == np.timedelta64(1, "h")
    assert (found.aware, found.starts[0]) == (True, np.datetime64("2026-03-29T00:30"))
    # A duration is one of real time.
    path.write_text("start,duration\n2026-03-29T01:30,30min\n")
    assert read_intervals(path, timezone=BERLIN).stops[0] == np.datetime64("2026-03-29T01:00")
    path.write_text('[{"time": 1767261900000}]')
    assert read_intervals(path, timezone=BERLIN).starts[0] == np.datetime64("2026-01-01T10:05")


@pytest.mark.parametrize("kind", ["csv", "parquet", "feather", "npz", "memory"])
def test_the_column_of_times(tmp_path, kind):
    """Whatever it is called, and whatever else is called so; it is no score."""
    when = 1_700_000_000 + 60 * np.arange(40)
    columns = {"t": np.arange(40.0), "when": when, "label": np.arange(40) % 10 == 5, "mine": np.arange(40.0) % 7}
    frame, path = pd.DataFrame(columns), tmp_path / f"a.{kind}"
    if kind == "memory":
        found, read = series_of(frame, time="when"), series_of
    else:
        writers = {
            "csv": lambda: frame.to_csv(path, index=False),
            "parquet": lambda: frame.to_parquet(path),
            "feather": lambda: frame.to_feather(path),
            "npz": lambda: np.savez(path, **columns),
        }
        writers[kind]()
        found, read = read_columns(path, time="when"), read_columns
    assert found.timestamps.tolist() == when.tolist()
    assert list(found.scores) == ["mine"]
    with pytest.raises(ValueError, match="no column is called then; there are "):
        read(frame if kind == "memory" else path, time="then")


def test_long_tables():
    hosts = np.repeat(["a", "b"], 20)
    rows = {"host": hosts, "when": dates().astype(str), "label": np.arange(40) % 10 == 5, "mine": np.arange(40.0) % 7}
    found = split(rows, "host", time="when", timezone=BERLIN)
    assert [series.timestamps[0] for series in found] == [dates()[0] - 2 * np.timedelta64(1, "h"), dates()[18]]
    with pytest.raises(ValueError, match="host names the series: it cannot be the column of times too"):
        split(rows, "host", time="host")
    with pytest.raises(ValueError, match="no column is called nobody; there are host, when, label, mine"):
        split(rows, "nobody")
    rows["when"][25] = "2026-10-25T02:30"
    with pytest.raises(ValueError, match=r"^b: the timestamp of point 5: 2026-10-25T02:30 is there twice"):
        split(rows, "host", time="when", timezone=BERLIN)


@pytest.fixture
def call(monkeypatch, capsys, tmp_path):
    """Local scores and incidents, and alerts of Grafana, which are in universal time."""
    monkeypatch.chdir(tmp_path)
    times = dates(count=400)
    write_table(tmp_path / "local.csv", times, label=False, time="when")
    write_table(tmp_path / "zoned.csv", [f"{t}+02:00" for t in times], label=False)
    spans = [(times[i], times[i + 4]) for i in (50, 150, 250, 350)]
    for name, zone in (("local", ""), ("zoned", "+02:00")):
        (tmp_path / f"{name}_incidents.csv").write_text(
            "\n".join(["start,end", *(f"{a}{zone},{b}{zone}" for a, b in spans)])
        )
    began = [round(datetime.fromisoformat(f"{a}+02:00").astimezone(UTC).timestamp() * 1000) for a, _ in spans]
    (tmp_path / "grafana.json").write_text(json.dumps([{"time": t, "timeEnd": t + 3_600_000} for t in began]))
    return caller(monkeypatch, capsys)


def results(done):
    assert done.code == 0, done.err
    return json.loads(done.out)["results"]


SCORED = ["--near", "2h", "--format", "json"]


@pytest.mark.unmeasured
def test_the_command_line(call):
    """Local dates of a zone are those with its offset."""
    expected = results(call("explain", "zoned.csv", "--incidents", "zoned_incidents.csv", *SCORED))
    local = ["local.csv", "--time", "when", "--timezone", BERLIN]
    for incidents in ("local_incidents.csv", "zoned_incidents.csv"):
        assert results(call("explain", *local, "--incidents", incidents, *SCORED)) == expected
    refused = call("explain", "local.csv", "--time", "when", "--incidents", "zoned_incidents.csv")
    assert refused.err.endswith(" (on the command line: --timezone, for those without)\n")


def test_alerts_of_another_zone(call):
    span = ["--span", "2026-06-01..2026-06-17"]
    alerts = ["--alerts", "grafana.json", "--timezone", BERLIN, *SCORED]
    local = results(call("explain", "--incidents", "local_incidents.csv", *alerts, *span))["grafana"]
    zoned = ["--span", "2026-05-31T22:00Z..2026-06-16T22:00Z"]
    assert results(call("explain", "--incidents", "zoned_incidents.csv", *alerts, *zoned))["grafana"] == local
    assert local["alarms"]["events_detected"] == 4
    refused = call("explain", "--incidents", "local_incidents.csv", *alerts, "--time", "when")
    assert "--time is for files with scores, and says nothing of --alerts: leave it out" in refused.err


def test_receipts(call, tmp_path):
    local = ["local.csv", "--time", "when", "--timezone", BERLIN, "--incidents", "local_incidents.csv"]
    alerts = ["--incidents", "local_incidents.csv", "--alerts", "grafana.json", "--timezone", BERLIN]
    for options, files in ((local, ["local.csv", "local_incidents.csv"]), (alerts, ["."])):
        call("score", *options, "--metrics", "dqe", *SCORED, "-o", "receipt.json")
        record = json.loads((tmp_path / "receipt.json").read_text())["inputs"][0]
        assert record["timezone"] == BERLIN
        assert record.get("columns", {}).get("time") == ("when" if "columns" in record else None)
        assert call("verify", "receipt.json", *files).code == 0


def test_an_unknown_zone(call):
    done = call("score", "local.csv", "--timezone", "Berlin")
    assert (done.code, "timezone 'Berlin' is not known: give a name such as Europe/Berlin" in done.err) == (2, True)


def test_a_series_without_times_has_no_zone():
    series = dqeval.datasets.demo()
    from dqeval.datasets.columns import series_in_zone

    assert series_in_zone(series, BERLIN) is series


@pytest.mark.parametrize("kind", ["file", "memory"])
def test_long_tables_with_incidents_have_no_labels(tmp_path, kind):
    """Each series has the incidents under its name, as on the command line."""
    rows = {"host": np.repeat(["a", "b"], 20), "timestamp": dates().astype(str), "mine": np.arange(40.0) % 7}
    times = dates()
    incidents = [f"a,{times[5]},{times[8]}", f"b,{times[25]},{times[26]}", f"b,{times[30]},{times[33]}"]
    (tmp_path / "incidents.csv").write_text("\n".join(["host,start,end", *incidents]))
    frame, path = pd.DataFrame(rows), tmp_path / "long.csv"
    frame.to_csv(path, index=False)
    found = split(frame if kind == "memory" else path, "host", incidents=tmp_path / "incidents.csv")
    assert [len(series.incidents) for series in found] == [1, 2]
    with pytest.raises(ValueError, match="no numeric column is called label or is_anomaly; there are mine"):
        split(frame if kind == "memory" else path, "host")
    compared = [dqeval.compare(series, near=2) for series in found]
    assert [len(comparison.winners) for comparison in compared] == [1, 2]
    zoned = split(rows, "host", incidents=tmp_path / "incidents.csv", timezone=BERLIN)
    assert [series.incidents.kind for series in zoned] == ["universal"] * 2
