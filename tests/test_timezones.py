"""Local dates of a time zone in universal time, and the column that holds them."""

import json
import re
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dqeval
import naive
from commands import caller
from dqeval.core.moments import Moments, in_zone, zone_of
from dqeval.datasets import read_columns, read_intervals, series_of, split

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
    for kind in ("number", "universal"):
        moments = Moments(np.arange(3), kind)
        assert in_zone(moments, BERLIN, str) is moments


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
