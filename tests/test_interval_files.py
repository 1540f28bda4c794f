"""Incidents and alerts from the files of several tools, and what is said of files that are wrong."""

import gzip
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather, parquet

import dqeval
from dqeval.core.spans import spans_of
from dqeval.datasets import read_intervals
from dqeval.datasets.interval_files import IntervalSource

HOUR = 3600 * 10**9
NAB = {
    "realKnownCause/cpu.csv": [["2014-04-10 07:15:00.000000", "2014-04-11 16:45:00.000000"]],
    "realAWS/disk.csv": [["2014-05-01 00:00:00.000000", "2014-05-01 01:00:00.000000"]],
    "realTweets/disk.csv": [],
}


@pytest.fixture
def put(tmp_path):
    """Return a function that writes a file of text, bytes or JSON, and returns its path."""

    def write(content, name="a.txt"):
        path = tmp_path / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return path

    return write


def shown(found):
    """Return the intervals as text."""
    return [tuple(map(str, pair)) for pair in found.pairs()]


def refused(path, **options):
    """Return what is said of a file that cannot be read: one sentence, which names it."""
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        read_intervals(path, **options)
    said = str(caught.value)
    assert said.startswith(f"{path}: ")
    assert "\n" not in said
    assert len(said) < len(str(path)) + 500
    said.encode()
    return said.removeprefix(f"{path}: ")


# Tables


def test_a_table(put):
    found = read_intervals(put("Start;END;id;note;host\n2026-01-01 10:00;2026-01-01 10:30;7; disk  full;a\n"))
    assert shown(found) == [("2026-01-01T10:00:00.000000000", "2026-01-01T10:30:00.000000000")]
    assert (found.ids, found.notes) == (("7",), (" disk  full",))
    assert (found.closed, found.source, found.aware, found.remarks) == ("left", "table", False, ())
    assert len(found) == 1
    assert found.starts.dtype == found.stops.dtype == "datetime64[ns]"


def test_times_with_a_zone_are_in_universal_time(put):
    found = read_intervals(put("begin\tstop\n2026-01-01T10:00+02:00\t2026-01-01T09:00Z\n"))
    assert shown(found) == [("2026-01-01T08:00:00.000000000", "2026-01-01T09:00:00.000000000")]
    assert found.aware is True
    assert (found.ids, found.notes) == (("",), ("",))


def test_numbers_and_an_order_of_their_own(put):
    found = read_intervals(put("start,end,name,text\n50,60,b,\n5,9,a,late\n"))
    assert found.pairs().tolist() == [[50, 60], [5, 9]]
    assert found.starts.dtype == "int64"
    assert (found.ids, found.notes, found.aware) == (("b", "a"), ("", "late"), None)


def test_durations(put):
    dates = read_intervals(put("start,duration\n2026-01-01T00:00Z,90\n2026-01-01T01:00Z,1.5h\n"))
    assert (dates.stops - dates.starts).astype(int).tolist() == [90 * 10**9, 1.5 * HOUR]
    assert dates.aware is True
    numbers = read_intervals(put("start,duration\n5,4\n7,0\n"))
    assert numbers.pairs().tolist() == [[5, 9], [7, 7]]
    assert len(read_intervals(put("start,duration\n"))) == 0


def test_moments(put):
    found = read_intervals(put("start\n2026-01-01\n2026-01-03\n"))
    assert spans_of("alerts", found.pairs()).instants.all()
    assert found.remarks == ("there is no column end: each is a moment",)
    (said,) = read_intervals(put("start,host,note\n2026-01-01,a,b\n2026-01-03,,\n")).remarks
    assert said.startswith(
        "there is no column end: each is a moment; there are start, note, host; an end may be called end,"
    )
    assert said.endswith(", finished_at, resolved_at, or there may be a duration")


@pytest.mark.parametrize("end", ["2026-01-02", "2026-01-02T00:00Z", "1767312000"])
def test_an_end_under_another_name(put, end):
    said = refused(put(f"start,Closed\n2026-01-01,\n2026-01-01,{end}\n"))
    assert said.startswith(
        "there is no column end, but Closed holds times too: call it end if the intervals end there, or"
    )
    assert "; an end may be called end, stop, " in said


@pytest.mark.parametrize("cell", ["7", "disk", "", "9" * 65])
def test_a_column_that_holds_no_times(put, cell):
    assert "there are start, Closed;" in read_intervals(put(f"start,Closed\n2026-01-01,{cell}\n")).remarks[0]


def test_an_end_under_another_name_in_parquet(tmp_path):
    day = np.array(["2026-01-01"], dtype="datetime64[ns]")
    parquet.write_table(
        pa.table({"start": day, "closed": day + np.timedelta64(1, "ns"), "host": ["a"]}), path := tmp_path / "a.parquet"
    )
    assert refused(path).startswith("there is no column end, but closed holds times too: ")
    parquet.write_table(pa.table({"start": day, "host": ["a"]}), path)
    assert "; there are start, host; " in read_intervals(path).remarks[0]


@pytest.mark.parametrize(
    "text", ["start,end\n", '"Start"', "[]", "{}", '{"a.csv": []}', "id,channel,starttime,endtime\n"]
)
def test_no_interval(put, text):
    found = read_intervals(put(text))
    assert (len(found), found.aware, found.pairs().shape) == (0, None, (0, 2))
    assert spans_of("alerts", found).kind is None
    assert spans_of("alerts", found.pairs()).kind is None


def test_packed_and_from_standard_input(put, monkeypatch):
    path = put(gzip.compress(b"\xef\xbb\xbfstart,end\n5,9\n"), "a.csv.gz")
    assert read_intervals(path).pairs().tolist() == [[5, 9]]
    with path.open("rb") as stream:
        monkeypatch.setattr("sys.stdin", type("Stream", (), {"buffer": stream}))
        assert read_intervals("-").pairs().tolist() == [[5, 9]]


@pytest.mark.parametrize("write", [parquet.write_table, feather.write_feather], ids=["parquet", "feather"])
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
def test_parquet_and_feather(tmp_path, write, zone):
    times = pd.to_datetime(["2026-01-01 10:00", "2026-01-01 11:00"]).tz_localize(zone)
    frame = pd.DataFrame({"Start": times, "End": times + pd.Timedelta("1ns"), "id": [1, 2], "note": ["a", None]})
    write(pa.Table.from_pandas(frame), str(tmp_path / "a"))
    found = read_intervals(tmp_path / "a")
    assert (found.stops - found.starts).astype(int).tolist() == [1, 1]
    assert found.starts[0] == np.datetime64("2026-01-01T09:00" if zone == "Europe/Berlin" else "2026-01-01T10:00")
    assert (found.ids, found.notes, found.aware) == (("1", "2"), ("a", ""), zone is not None)


def test_other_columns_of_parquet(tmp_path):
    def read(**columns):
        parquet.write_table(pa.table(columns), tmp_path / "a")
        return read_intervals(tmp_path / "a")

    assert read(start=[5, 7], end=[6.0, 9.0]).pairs().tolist() == [[5, 6], [7, 9]]
    assert read(start=["5"], end=["6"]).pairs().tolist() == [[5, 6]]
    lasting = read(start=pa.array([0], pa.timestamp("s")), duration=pa.array([HOUR], pa.duration("ns")))
    assert shown(lasting) == [("1970-01-01T00:00:00.000000000", "1970-01-01T01:00:00.000000000")]
    assert lasting.aware is False
    many = {"ID": ["a"], "Channel": ["c"], "StartTime": pa.array([0], pa.timestamp("s", "UTC"))}
    assert read(**many, EndTime=pa.array([1], pa.timestamp("s", "UTC"))).aware is True


def test_wrong_columns_of_parquet(tmp_path):
    def said(**columns):
        parquet.write_table(pa.table(columns), tmp_path / "a")
        return refused(tmp_path / "a")

    dates, zoned = pa.array([0], pa.timestamp("s")), pa.array([1], pa.timestamp("s", "UTC"))
    assert said(start=[5], end=[[6]]) == "column end must hold times, numbers or text: it holds list<element: int64>"
    assert said(start=[5], End=[6], end=[7]) == "two columns have the same name: end"
    assert said(start=dates, end=zoned) == "starts and ends must both have a time zone, or both none"
    assert said(start=dates, end=[7]) == "starts and ends must be of one kind: dates, text or numbers"
    assert said(start=[5], end=pa.array([None], pa.int64())).startswith("row 1 below the header has no end: ")
    assert said(start=pa.array([None], pa.timestamp("s")), end=dates) == "row 1 below the header has no start"
    assert said(start=[True], end=[True]).endswith(", or a whole number: got True")
    assert said(other=[1]).startswith("there is no column start: incidents and alerts can be read from CSV")


def test_a_small_parquet_file_may_not_hold_too_much(tmp_path, monkeypatch):
    monkeypatch.setenv("DQEVAL_MAX_BYTES", "100000")
    parquet.write_table(pa.table({"start": np.zeros(1000, int), "end": np.zeros(1000, int)}), tmp_path / "a")
    assert "of memory" in refused(tmp_path / "a")


ROWS = {
    "start,end\n5,9\n6,\n": (
        "row 2 below the header has no end: an incident that is still open cannot be evaluated; give it an end"
    ),
    "start,duration\n5, \n": (
        "row 1 below the header has no duration: an incident that is still open cannot be evaluated; give it an end"
    ),
    "start,end\n,9\n": "row 1 below the header has no start",
    "start,end\n5,9\n8,6\n": "row 2 below the header ends before it starts: 8 to 6",
    "start,end\n5\n": "row 1 below the header has 1 cells, and the header has 2",
    "start,start\n5,6\n": "two columns have the same name: start, start",
    "5,6\n": "the first line must name the columns, such as start,end",
    "start,end\n5,6\n5,6.5\n": (
        "row 2 below the header: the time 6.5 is not whole: give whole numbers, such as milliseconds, or dates"
    ),
    "start,end\n1600-01-01,2026-01-01": (
        "row 1 below the header: 1600-01-01T00:00:00 is too far away: dates must be from 1678 to 2261"
    ),
    "start,duration\n5,4.5\n": "row 1 below the header, duration must be a whole number: got 4.5",
    "start,duration\n5,-4\n": "row 1 below the header ends before it starts: 5 to 1",
    "start,duration\n5,1h\n": "row 1 below the header, duration must be a whole number: got '1h'",
    "start,duration\n2261-01-01,80w\n2261-01-01,12000w\n": (
        "row 1 below the header ends too far away: dates must be from 1678 to 2261"
    ),
}


@pytest.mark.parametrize("text", ROWS)
def test_wrong_tables(put, text):
    assert refused(put(text)) == ROWS[text]


@pytest.mark.parametrize(
    ("rows", "place"),
    [
        (["1 May,2 May"], "row 1"),
        (["5,6", "7,8", "9,2026-01-01"], "row 3"),
        (["2026-01-01,2026-01-02"] * 9 + ["2026-01-01T00:00Z,2026-01-02T00:00Z"], "row 10"),
        (["2026-13-01,2026-13-02"], "row 1"),
        (["nan,5"], "row 1"),
        (["1,9e99"], "row 1"),
        (["5," + "9" * 65], "the end of row 1"),
    ],
)
def test_times_that_are_none_or_of_another_kind(put, rows, place):
    assert f"{place} below the header" in refused(put("\n".join(["start,end", *rows])))


def test_starts_of_another_kind_beside_durations(put):
    rows = ["2026-01-01,1h", "2026-01-02,1h", "5,1h"]
    said = refused(put("\n".join(["start,duration", *rows])))
    assert said.startswith("row 3 below the header: the times, such as '5', cannot be read together: give numbers, or")


def test_times_that_are_numbers_or_dates(put):
    """Each can be read with the first, and all together cannot."""
    said = refused(put("start,end\n20240101,5\n2024-01-01,2024-01-01\n"))
    assert said.startswith("table: the times, such as '20240101', cannot be read together: give numbers, or dates")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "the file is empty: if there were no incidents or alerts, write the line start,end"),
        (" \n\n", "the file is empty: if there were no incidents or alerts, write the line start,end"),
        ("null", "this is a single value of JSON, null: incidents and alerts can be read from CSV"),
        ("5\n", "this is a single value of JSON, 5: incidents and alerts can be read from CSV"),
        ('"text"', 'this is a single value of JSON, "text": incidents and alerts can be read from CSV'),
        ([{}], "this is a JSON list of objects with no keys: incidents and alerts can be read from"),
        ([None], "window 1 must be a pair of start and end: got nothing"),
        ('[{"time": 17\n', "this is not JSON: Expecting ',' delimiter in line 2, where the file ends: is it cut off?"),
        ("[1, 2 3]", "this is not JSON: Expecting ',' delimiter in line 1"),
        ("a,b\n1,2\n", "the first line names no column that is known, but a, b: incidents and alerts can be"),
        (
            "id,end\n1,2\n",
            "there is no column start: incidents and alerts can be read from CSV, TSV, Parquet or Feather",
        ),
        ({"a": 1, "\ud800": 2}, r"this JSON object has the keys a, \ud800: incidents and alerts can be read from"),
        ([{"b": 1}], "this is a JSON list of objects with the keys b: incidents and alerts can be read from"),
        ("[1, 2", "this is not JSON: Expecting ',' delimiter in line 1"),
        ("[" * 100_000, "the JSON is nested too deeply to be intervals"),
        ("[" + "9" * 5000 + "]", "a whole number in the JSON has thousands of digits"),
        (b"\xff\xfes\0t\0", "not a text file in UTF-8; save it as one, comma-separated"),
        (gzip.compress(b"start,end\n")[:-4], "Compressed file ended before the end-of-stream marker was reached"),
        (b"PAR1 and no more", "this cannot be read as a .parquet file: "),
        (b"FEA1", "this is a Feather file of the old version 1"),
        (b"ARROW2", "this is not a Feather file"),
        ("start,end\n5," + "6" * 200_000, "field larger than field limit (131072)"),
    ],
    ids=range(22),
)
def test_what_is_none_of_these(put, content, said):
    assert refused(put(content)).startswith(said)


def test_folders_and_missing_files(tmp_path):
    assert refused(tmp_path) == "this is a directory; give a file"
    with pytest.raises(FileNotFoundError):
        read_intervals(tmp_path / "nowhere.csv")
    with pytest.raises(ValueError, match="path must be the path of a file: got 3"):
        read_intervals(3)
    with pytest.raises(ValueError, match="series must be a text: got 3"):
        read_intervals("nowhere.csv", series=3)


def test_a_small_file_may_not_unpack_to_too_much(put, monkeypatch):
    path = put(gzip.compress(b"[" + b"{}," * 100_000 + b"{}]"))
    monkeypatch.setenv("DQEVAL_MAX_BYTES", "1000000")
    assert "of memory" in refused(path)
    monkeypatch.setenv("DQEVAL_MAX_BYTES", "100000000")
    assert refused(path).startswith("this is a JSON list of objects")


def test_a_long_line_is_no_table(put):
    path = put(json.dumps([[5, 9]]) + " " * 2**25 + "\n")
    assert len(read_intervals(path)) == 1


# NAB


@pytest.mark.parametrize("series", ["realKnownCause/cpu.csv", "cpu.csv", "cpu"])
def test_nab_windows(put, series):
    found = read_intervals(put(NAB), series=series)
    assert shown(found) == [("2014-04-10T07:15:00.000000000", "2014-04-11T16:45:00.000000000")]
    assert (found.closed, found.source, found.aware) == ("both", "NAB windows", False)
    assert found.remarks == ()


@pytest.mark.parametrize("name", ["numenta_cpu", "realKnownCause-cpu", "cpu.2014", "x_cpu_2"])
def test_windows_of_a_file_with_a_longer_name(put, name):
    """Results of NAB are called after the detector and the series."""
    source = IntervalSource(put({**NAB, "a/2.csv": [], "b/cp.csv": []}))
    found = source.of(name)
    assert shown(found) == shown(read_intervals(put(NAB), series="cpu"))
    assert found.remarks == (f"none are called '{name}', so those of realKnownCause/cpu.csv are taken",)


@pytest.mark.parametrize("name", ["numenta_disk_cpu", "numenta_cpus", "scpu", "2"])
def test_windows_of_a_file_that_may_be_of_several_series(put, name):
    source = IntervalSource(put(NAB))
    with pytest.raises(ValueError, match=r"there are 3 series \(.*\): give one of them as series \(shell: "):
        source.of(name)


def test_the_longest_name_in_that_of_a_file(put):
    source = IntervalSource(put({"a/cpu.csv": [], "a/cpu_5.csv": [[1, 2]]}))
    assert len(source.of("numenta_cpu_5")) == 1
    assert len(source.of("numenta_cpu_6")) == 0


def test_windows_of_one_series(put):
    assert read_intervals(put({"a.csv": [[1, 2]]})).pairs().tolist() == [[1, 2]]
    assert read_intervals(put([[1, 2], [3.0, 4]])).pairs().tolist() == [[1, 2], [3, 4]]
    assert read_intervals(put({"a.csv": ["2026-01-01", "2026-01-02"]})).pairs().shape == (2, 2)


def test_which_series_of_nab(put):
    path = put(NAB)
    every = "realKnownCause/cpu.csv, realAWS/disk.csv, realTweets/disk.csv"
    shell = "(shell: --series NAME beside --incidents, or --alerts FILE=NAME)"
    assert refused(path) == f"there are 3 series ({every}): give one of them as series {shell}"
    assert refused(path, series="gpu") == f"series 'gpu' is not there: there are {every}"
    said = "series 'disk' may be any of 2: give the whole name, one of realAWS/disk.csv, realTweets/disk.csv"
    assert refused(path, series="disk") == said
    assert len(read_intervals(path, series="realTweets/disk.csv")) == 0
    assert refused(put("{}"), series="a") == "series 'a' is not there: there are none"


@pytest.mark.parametrize("content", ["start,end\n", [], [[1, 2]], [{"time": 1}], {"status": "success"}])
def test_no_series_to_choose(put, content):
    assert refused(put(content), series="x").startswith("series 'x' cannot be chosen: ")


@pytest.mark.parametrize(
    ("window", "said"),
    [
        ([1, None], "window 2 of a.csv has no end: an incident that is still open"),
        ([1, ""], "window 2 of a.csv has no end: an incident that is still open"),
        (
            [None, 1],
            "the start of window 2 of a.csv must be a time such as 2026-01-31T12:00:00, or a whole number: got n",
        ),
        ([1, 2, 3], "window 2 of a.csv must be a pair of start and end: got a list"),
        ([[[]] * 2, 3], "window 2 of a.csv must be a pair of start and end: got a list"),
        ({"a": 1}, "window 2 of a.csv must be a pair of start and end: got an object"),
        ([2, 1], "window 2 of a.csv ends before it starts: 2 to 1"),
        ([1, True], "the end of window 2 of a.csv must be a time such as"),
        ([1, 2.5], "the end of window 2 of a.csv must be a time such as"),
        ([1, float("inf")], "the end of window 2 of a.csv must be a time such as"),
        ([1, 10**30], "the end of window 2 of a.csv is too large: got 1000000000000000000000000000000"),
        ([1, 1e300], "the end of window 2 of a.csv is too large: got 1e+300"),
        ([1, "\ud800"], r"window 2 of a.csv: the times, such as '\ud800', cannot be read together"),
        ([1, "2026-01-01"], "window 2 of a.csv: the times, such as '2026-01-01', cannot be read together"),
        ([1, "x" * 65], "the end of window 2 of a.csv must be a time such as"),
    ],
)
def test_wrong_windows(put, window, said):
    assert refused(put({"a.csv": [[5, 6], window]})).startswith(said)


def test_what_is_nested_is_not_written_out(put):
    deep = "[" * 900 + "]" * 900
    assert refused(put(f'{{"a": [{deep}]}}')) == "window 1 of a must be a pair of start and end: got a list"


# Label Studio


def region(start, end, *, instant=False, labels=("Anomaly",), id="x1"):
    value = {"start": start, "end": end, "instant": instant, "timeserieslabels": list(labels)}
    return {"id": id, "type": "timeserieslabels", "value": value}


def task(id, *results, data=None, **more):
    return {"id": id, "data": data or {}, "annotations": [{"result": list(results)}], **more}


def test_label_studio(put):
    first = region("2026-01-01 10:00:00", "2026-01-01 11:00:00", labels=["Anomaly", "Disk"])
    moment = region("2026-01-02 10:00:00", "2026-01-02 10:00:09", instant=True, labels=[])
    other = {"type": "choices", "value": {"choices": ["bad"]}}
    found = read_intervals(put([task(3, first, other, {"type": "relation"}, moment), task(4)]))
    assert shown(found) == [
        ("2026-01-01T10:00:00.000000000", "2026-01-01T11:00:00.000000000"),
        ("2026-01-02T10:00:00.000000000", "2026-01-02T10:00:00.000000000"),
    ]
    assert (found.ids, found.notes) == (("x1", "x1"), ("Anomaly, Disk", ""))
    assert (found.closed, found.source, found.remarks) == ("left", "Label Studio export", ())


def test_what_is_written_beside_segments_of_label_studio(put):
    meta = ({"text": ["disk full", "again"]}, {"text": "by hand"}, {"text": []}, {}, None, ["text"])
    regions = [region(10 * i, 10 * i + 5, labels=["Anomaly"]) | {"meta": each} for i, each in enumerate(meta)]
    found = read_intervals(put([task(3, *regions, region(90, 95, labels=[]) | {"meta": {"text": ["alone"]}})]))
    assert found.notes == ("Anomaly: disk full, again", "Anomaly: by hand", *["Anomaly"] * 4, "alone")


def test_numbers_of_label_studio_are_rounded_outwards(put):
    found = read_intervals(put([task(3, region(10.5, 20.2), region(30.7, 30.7))]))
    assert found.pairs().tolist() == [[10, 21], [30, 30]]
    assert found.remarks == ("times are rounded outwards to whole numbers",)


def test_cancelled_annotations_are_left_out(put):
    cancelled = {"was_cancelled": True, "result": [region(1, 2)]}
    kept = {"was_cancelled": False, "result": [region(5, 6)]}
    assert read_intervals(put([{"annotations": [cancelled, kept, kept]}])).pairs().tolist() == [[5, 6], [5, 6]]


def test_which_task_of_label_studio(put):
    tasks = [
        task(3, region(1, 2), data={"csv": "/data/upload/1/cpu.csv", "n": 5}),
        task(4, region(5, 6), file_upload="disk.csv"),
        task(5),
        {"annotations": [], "data": None},
    ]
    path = put(tasks)
    assert refused(path).startswith("there are 2 series (3, 4): give one of them as series ")
    for series in ("3", "/data/upload/1/cpu.csv", "cpu.csv", "cpu"):
        assert read_intervals(path, series=series).pairs().tolist() == [[1, 2]]
    assert read_intervals(path, series="disk").pairs().tolist() == [[5, 6]]
    assert len(read_intervals(path, series="5")) == 0
    assert refused(path, series="gpu") == "series 'gpu' is not there: there are 3, 4, 5, 4"


def test_predictions_of_label_studio(put):
    """They stand for annotations where nobody has annotated the task; elsewhere they are named and left out."""
    predicted = {"predictions": [{"model_version": "v2", "result": [region(5, 6)]}, {"result": [region(8, 9)]}, 7]}
    alone = read_intervals(put([{"id": 3, "data": {}, **predicted}]))
    assert alone.pairs().tolist() == [[5, 6], [8, 9]]
    assert alone.remarks == ("nobody has annotated the task: the predictions of an unnamed model, v2 are taken",)
    cancelled = {"was_cancelled": True, "result": [region(1, 2)]}
    tasks = [
        task(3, region(1, 2), **predicted),
        {"id": 4, "annotations": [cancelled], **predicted},
        task(5, **predicted),
    ]
    path = put(tasks)
    annotated = read_intervals(path, series="3")
    assert (annotated.pairs().tolist(), annotated.remarks) == ([[1, 2]], ("2 predicted segments left out",))
    assert read_intervals(path, series="4").pairs().tolist() == [[5, 6], [8, 9]]
    quiet = read_intervals(path, series="5")  # somebody looked at it, and found nothing
    assert (len(quiet), quiet.remarks) == (0, ("2 predicted segments left out",))
    assert read_intervals(put([task(3, region(1, 2), predictions=[12, 13])])).remarks == ()
    assert refused(put([{"id": 3, "predictions": 5}])) == "predictions of task 1 must be a JSON list: got 5"


def test_tasks_without_segments(put):
    assert len(read_intervals(put([task(1), task(2)]))) == 0


@pytest.mark.parametrize(
    ("tasks", "said"),
    [
        ([task(3, region(1, None))], "segment 1 of task 3 has no end: an incident that is still open"),
        ([task(3, region(2, 1))], "segment 1 of task 3 ends before it starts: 2 to 1"),
        ([task(3, region(None, 1))], "the start of segment 1 of task 3 must be a time such as"),
        ([task(3, region(1, float("nan")))], "segment 1 of task 3 has no end: an incident that is still open"),
        ([task(3, region(1, [2]))], "the end of segment 1 of task 3 must be a time such as"),
        ([task(3), 5], "task 2 must be a JSON object: got 5"),
        ([task(3), {}], "annotations of task 2 must be a JSON list: got nothing"),
        ([{"annotations": [5]}], "an annotation of task 1 must be a JSON object: got 5"),
        ([{"annotations": [{}]}], "result of an annotation of task 1 must be a JSON list: got nothing"),
        ([task(3, 5)], "a result of task 1 must be a JSON object: got 5"),
    ],
)
def test_wrong_tasks(put, tasks, said):
    assert refused(put(tasks)).startswith(said)


# Grafana


def test_grafana(put):
    entries = [
        {"id": 7, "time": 1767261600000, "timeEnd": 1767263400000, "text": "disk\nfull", "tags": ["ops"]},
        {"time": 1767261600000, "timeEnd": 0, "text": "", "tags": ["ops", "db", 3]},
        {"time": 1767261600000, "timeEnd": 1767261600000},
        {"time": 1767261600000.0},
    ]
    found = read_intervals(put(entries))
    moment = ("2026-01-01T10:00:00.000000000",) * 2
    assert shown(found) == [("2026-01-01T10:00:00.000000000", "2026-01-01T10:30:00.000000000"), *[moment] * 3]
    assert found.ids == ("7", "", "", "")
    assert found.notes == (r"disk\nfull", "ops, db", "", "")
    assert (found.closed, found.source, found.aware) == ("left", "Grafana annotations", True)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (5, "annotation 2 must be a JSON object: got 5"),
        ({}, "time of annotation 2 must be a whole number: got nothing"),
        ({"time": "now"}, "time of annotation 2 must be a whole number: got 'now'"),
        ({"time": 5, "timeEnd": {}}, "timeEnd of annotation 2 must be a whole number: got an object"),
        (
            {"time": 5, "timeEnd": 4},
            "annotation 2 ends before it starts: 1970-01-01T00:00:00.005Z to 1970-01-01T00:00:00.004Z",
        ),
        ({"time": 2**61}, "annotation 2: "),
        ({"time": 2**62}, "time of annotation 2 is too large: got 4611686018427387904"),
    ],
)
def test_wrong_annotations(put, entry, said):
    assert refused(put([{"time": 1}, entry])).startswith(said)


def state(minute, new, before="Normal", *, alert=7, instance="a", **more):
    """Return a change of state as Grafana keeps it, a second and a fraction after the minute."""
    time = 1767261600000 + 60000 * minute + 1017
    text = f"High CPU {{instance={instance}}} - B=93.4" if instance else ""
    about = {"alertId": alert, "alertName": "High CPU", "newState": new, "prevState": before, "tags": [], "text": text}
    return {"time": time, "timeEnd": time, **about, **more}


def minutes(found):
    """Return pairs in minutes since the first."""
    return ((found.pairs().astype("M8[ms]").astype(int) - 1767261600000) / 60000).round().tolist()


def test_state_history_of_grafana(put):
    """An alert lasts from Alerting to the next other state of the same instance; all else is no alert."""
    oldest_first = [
        state(0, "Pending"),
        state(0, "Alerting", "Pending", instance="b"),
        state(5, "Alerting", "Pending"),
        state(7, "Alerting (NoData)", "Alerting"),
        state(8, "Normal", "Alerting", instance="b"),
        state(8, "Pending", "Normal", instance="b"),
        state(9, "Normal (MissingSeries)", "Alerting"),
        state(20, "Alerting", "Normal"),
        state(21, "NoData", "Alerting"),
    ]
    found = read_intervals(put(oldest_first[::-1]))
    assert sorted(minutes(found)) == [[0, 8], [5, 9], [20, 21]]
    assert set(zip(found.ids, found.notes, strict=True)) == {
        ("High CPU", "High CPU {instance=a}"),
        ("High CPU", "High CPU {instance=b}"),
    }
    assert found.remarks == ("3 alerts from 9 changes of state: each lasts from Alerting to the next other state",)
    assert len(read_intervals(put([state(0, "Normal"), state(1, "Pending")]))) == 0


def test_state_history_of_older_versions(put):
    """States are in small letters, and nothing tells instances from each other."""
    changes = [state(3, "ok", "alerting", instance=""), state(2, "no_data", alert=8), state(1, "alerting", instance="")]
    assert minutes(read_intervals(put(changes))) == [[1, 3]]


def test_state_history_without_beginning_or_end(put):
    changes = [state(0, "Normal", "Alerting"), state(3, "Alerting"), state(9, "Pending", alert=8)]
    found = read_intervals(put(changes[::-1]))
    assert minutes(found) == [[3, 9]]
    assert found.remarks[1:] == (
        "1 alert still alerting at the end: taken up to the last change of state",
        "1 alert alerting before the first change of state: left out",
    )


def test_state_history_beside_other_annotations(put):
    note = {"time": 1767261600000, "newState": "", "text": "deployed", "tags": ["ops"]}
    path = put([note, state(2, "Normal", "Alerting"), state(1, "Alerting")])
    found = read_intervals(path)
    assert minutes(found) == [[0, 0], [1, 2]]
    assert found.remarks[-1] == "1 other annotation taken together with them"
    assert read_intervals(path, series="ops").remarks == ()
    assert minutes(read_intervals(path, series="High CPU")) == [[1, 2]]
    assert refused(put([state(1, "Alerting", time="now")])) == "time of annotation 1 must be a whole number: got 'now'"


# Alertmanager


def alert(start, end="0001-01-01T00:00:00Z", name="Disk", **more):
    labels = {"alertname": name, "instance": "db1:9100", "severity": "page"}
    return {"labels": labels, "annotations": {"summary": "full"}, "startsAt": start, "endsAt": end, **more}


def webhook(*alerts):
    """Return what Alertmanager sends: of each alert it says whether it is firing."""
    status = "firing" if any(each["status"] == "firing" for each in alerts) else "resolved"
    about = {"receiver": "hook", "groupLabels": {}, "version": "4", "groupKey": "{}", "truncatedAlerts": 0}
    return {"status": status, "alerts": list(alerts), **about}


BEGAN = "2026-01-01T10:00:12.739266876Z"


def test_alerts_of_alertmanager(put):
    """What is firing has an end that is guessed and lies ahead: it is known up to its last update."""
    about = {"fingerprint": "1a30", "receivers": [{"name": "hook"}], "status": {"state": "active", "silencedBy": []}}
    over = alert(BEGAN, "2026-01-01T10:08:00.000Z", updatedAt="2026-01-01T10:08:00.020Z", **about)
    ahead = alert("2026-01-01T11:00:00.000Z", "2026-01-01T12:04:00Z", "Load", updatedAt="2026-01-01T12:00:00Z", **about)
    path = put([over, ahead])
    found = read_intervals(path)
    assert shown(found) == [
        ("2026-01-01T10:00:12.739266000", "2026-01-01T10:08:00.000000000"),
        ("2026-01-01T11:00:00.000000000", "2026-01-01T12:00:00.000000000"),
    ]
    assert (found.ids, found.notes[0]) == (("Disk", "Load"), "instance=db1:9100, severity=page")
    assert (found.closed, found.source, found.aware) == ("left", "Alertmanager alerts", True)
    assert found.remarks == (
        "alerts of 2 names are taken together: Disk, Load",
        "1 alert still firing: taken up to the last update, or as a moment",
    )
    assert shown(read_intervals(path, series="Load")) == shown(found)[1:]
    assert refused(path, series="gpu") == "series 'gpu' is not there: there are Disk, Load"
    groups = [{"labels": {}, "receiver": {"name": "hook"}, "alerts": [each]} for each in (over, ahead)]
    assert shown(read_intervals(put(groups))) == shown(found)


def test_webhooks_of_alertmanager(put):
    """An alert that is sent again is one, and ends when it was resolved."""
    firing = alert(BEGAN, status="firing")
    resolved = alert(BEGAN, "2026-01-01T12:30:00+02:00", status="resolved")
    one = read_intervals(put(webhook(firing)))
    assert shown(one) == [("2026-01-01T10:00:12.739266000",) * 2]
    assert one.remarks == ("1 alert still firing: taken up to the last update, or as a moment",)
    for order in ([webhook(firing), webhook(firing), webhook(resolved)], [webhook(resolved), webhook(firing)]):
        found = read_intervals(put(order))
        assert shown(found) == [("2026-01-01T10:00:12.739266000", "2026-01-01T10:30:00.000000000")]
        assert found.remarks == ()
    assert len(read_intervals(put({"status": "resolved", "alerts": []}))) == 0


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([alert(BEGAN), 5], "entry 2 must be a JSON object: got 5"),
        ([{"alerts": 5}], "alerts of entry 1 must be a JSON list: got 5"),
        ([{"alerts": [5]}], "alert 1 must be a JSON object: got 5"),
        ([{**alert(BEGAN), "labels": []}], "labels of alert 1 must be a JSON object: got a list"),
        ([alert(BEGAN), alert(None)], "startsAt of alert 2 must be a time such as 2026-01-31T12:00:00"),
        ([alert(BEGAN, True)], "endsAt of alert 1 must be a time such as 2026-01-31T12:00:00"),
        ([alert(BEGAN, "soon")], "alert 1: the times, such as '2026-01-01T10:00:12.739266876Z', cannot be read"),
        ([alert(BEGAN, "2026-01-01T09:00:00Z")], "alert 1 ends before it starts: 2026-01-01T10:00:12.739266876Z to"),
    ],
)
def test_wrong_alerts(put, content, said):
    assert refused(put(content)).startswith(said)


@pytest.mark.parametrize(
    ("content", "cell"),
    [
        ([alert(BEGAN, "2026-01-01T10:08:00Z")], "1 s"),
        ([state(1, "Alerting"), state(2, "Normal", "Alerting")], "1 s"),
        ([{"time": 1767261600017}, {"time": 1767261660000}], "1 s"),
        ([{"time": 1767261600000}, {"time": 1767261660000}], "1 min"),
    ],
)
def test_fractions_of_a_second_make_no_finer_cells(put, content, cell):
    assert str(dqeval.evaluate_intervals(read_intervals(put(content)), []).axis).endswith(f" of {cell}")


# Prometheus


def matrix(*results):
    result = [{"metric": metric, "values": [[t, "1"] for t in times]} for metric, times in results]
    return {"status": "success", "data": {"resultType": "matrix", "result": result}}


def test_prometheus(put):
    disk = {"__name__": "ALERTS", "alertname": "Disk", "alertstate": "firing", "instance": "a"}
    results = [
        (disk, [0, 60, 120, 600]),
        ({**disk, "alertstate": "pending"}, [300, 360]),
        ({"severity": "page", "team": "db"}, [60.5]),
        (disk, []),
    ]
    found = read_intervals(put(matrix(*results)))
    seconds = (found.pairs().astype("datetime64[ms]").astype(int) / 1000).tolist()
    assert seconds == [[0, 180], [600, 660], [60.5, 120.5]]
    assert found.ids == ("Disk", "Disk", "")
    assert found.notes == ("instance=a", "instance=a", "severity=page, team=db")
    assert found.remarks == ("1 pending alert left out",)
    assert (found.closed, found.source, found.aware) == ("left", "Prometheus alerts", True)


@pytest.mark.parametrize(("begin", "cell"), [(1767261600, "15 s"), (1767261600.781, "15 s"), (1767261607, "1 s")])
def test_cells_of_prometheus_last_a_step_of_the_query_by_default(put, begin, cell):
    """Where times have fractions, which say when the query was made."""
    times = [begin + 15 * k for k in (0, 1, 2, 40)]
    found = read_intervals(put(matrix(({"alertname": "Disk"}, times))))
    minute = np.datetime64("2026-01-01T10:00") + np.arange(2) * np.timedelta64(5, "m")
    by_dates = dqeval.evaluate_intervals(found, [], near=0)
    assert str(by_dates.axis).endswith(f" of {cell if begin % 1 else '1 s'}")
    incidents = [tuple(f"{time}Z" for time in minute)]
    beside = dqeval.evaluate_intervals(incidents, found, span=("2026-01-01T10:00Z", "2026-01-01T11:00Z"), near=0)
    assert str(beside.axis).endswith(f" of {'15 s' if begin % 1 else '1 s'}")
    assert str(dqeval.evaluate_intervals(incidents, found, resolution="1min", near=0).axis).endswith(" of 1 min")


def test_a_single_sample_with_a_fraction_lasts_a_second(put):
    found = read_intervals(put(matrix(({}, [1767261600.781]))))
    assert str(dqeval.evaluate_intervals(found, []).axis) == "1 cell of 1 s"


def test_samples_far_apart_are_moments(put):
    found = read_intervals(put(matrix(({}, [0, 3 * 86_400]))))
    assert found.starts.tolist() == found.stops.tolist() == [0, 3 * 86_400 * 10**9]


def test_one_sample_is_a_moment_and_zero_is_none(put):
    answer = matrix(({}, [60]))
    answer["data"]["result"][0]["values"].append([120, "0"])
    found = read_intervals(put(answer))
    assert found.starts.tolist() == found.stops.tolist() == [60 * 10**9]
    assert len(read_intervals(put(matrix()))) == 0


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ({"status": "error", "error": "bad data"}, "Prometheus gave an error in place of an answer: 'bad data'"),
        ({"status": "success"}, "data must be a JSON object: got nothing"),
        (
            {"status": "success", "data": {"resultType": "vector"}},
            "resultType must be 'matrix', as query_range gives it",
        ),
        ({"status": "success", "data": {"resultType": "matrix"}}, "result must be a JSON list: got nothing"),
        (
            {"status": "success", "data": {"resultType": "matrix", "result": [5]}},
            "result 1 must be a JSON object: got 5",
        ),
        (matrix((5, [])), "metric of result 1 must be a JSON object: got 5"),
        (matrix(({}, []), ({"__name__": "up"}, [])), "result 2 must be of ALERTS: got 'up'"),
        (matrix(({}, [0, "1"])), "sample 2 of result 1 must be a time in seconds and a value: got a list"),
        (matrix(({}, [True])), "sample 1 of result 1 must be a time in seconds and a value: got a list"),
        (matrix(({}, [float("nan")])), "sample 1 of result 1 must be a time in seconds and a value: got a list"),
        (matrix(({}, [10**400])), "sample 1 of result 1 must be a time in seconds and a value: got a list"),
        (matrix(({}, [0, 1, 2, 10**12])), "interval 2: "),
    ],
)
def test_wrong_answers(put, answer, said):
    assert refused(put(answer)).startswith(said)


def test_samples_that_are_no_pairs(put):
    answer = matrix(({}, []))
    for values, said in ((5, "values of result 1 must be a JSON list: got 5"), ([5], "sample 1 of result 1 must be")):
        answer["data"]["result"][0]["values"] = values
        assert refused(put(answer)).startswith(said)


# ESA-ADB

LABELS = """ID,Channel,StartTime,EndTime
id_1,channel_41,2004-12-01T00:00:00.000Z,2004-12-01T06:00:00.000Z
id_1,channel_42,2004-12-01T01:00:00.000Z,2004-12-01T05:00:00.000Z
id_2,channel_42,2005-01-01T00:00:00.000Z,2005-01-01T00:00:00.000Z
"""


def test_esa_adb(put):
    path = put(LABELS, "labels.csv")
    found = read_intervals(path)
    assert len(found) == 3
    assert found.ids == ("id_1", "id_1", "id_2")
    assert found.notes == ("channel_41", "channel_42", "channel_42")
    assert (found.closed, found.source, found.aware) == ("both", "ESA-ADB labels", True)
    assert found.remarks == ()
    of_channel = read_intervals(path, series="channel_42")
    assert of_channel.starts.tolist() == found.starts.tolist()[1:]
    assert refused(path, series="43") == "series '43' is no channel here: there are channel_41, channel_42"


def test_wrong_labels_of_esa_adb(put):
    path = put(LABELS.replace("2005-01-01T00:00:00.000Z\n", "\n"))
    assert refused(path, series="channel_42").startswith("row 3 below the header has no end: ")
    path = put(LABELS.replace("05:00:00.000Z", "00:00:00.000Z"))
    assert refused(path, series="channel_42").startswith("row 2 below the header ends before it starts: ")


# All of them


def test_they_can_be_evaluated(put):
    incidents = read_intervals(put("start,end\n2026-01-01T10:00Z,2026-01-01T10:30Z\n", "a.csv"))
    alerts = read_intervals(put([{"time": 1767262200000}], "b.json"))
    assert incidents.aware == alerts.aware
    found = dqeval.evaluate_intervals(incidents.pairs(), alerts.pairs(), resolution="1min", closed=incidents.closed)
    assert found.alarms.events_detected == 1
    hours = np.array("2026-01-01", dtype="datetime64[h]") + np.arange(12)
    assert dqeval.labels_from_intervals(incidents.pairs(), hours).nonzero()[0].tolist() == [10]


def test_it_is_frozen(put):
    with pytest.raises(AttributeError):
        read_intervals(put("[]")).closed = "both"


KEYS = st.sampled_from(
    (
        *(
            "status",
            "data",
            "resultType",
            "result",
            "metric",
            "values",
            "annotations",
            "value",
            "start",
            "end",
            "instant",
        ),
        *(
            "timeserieslabels",
            "time",
            "timeEnd",
            "id",
            "meta",
            "text",
            "tags",
            "alertname",
            "alertstate",
            "was_cancelled",
            "newState",
            "labels",
            "predictions",
        ),
    )
)
CELLS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["success", "matrix", "2026-01-01", "2026-01-01T00:00Z", "5", "", 0, 1, 10**30])
)
JSON = st.recursive(
    CELLS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS | st.text(max_size=3), inner, max_size=5),
    max_leaves=12,
)
SHAPED = st.one_of(
    st.lists(JSON),
    st.dictionaries(st.text(max_size=3), st.lists(JSON)),
    st.lists(st.fixed_dictionaries({"annotations": st.lists(st.fixed_dictionaries({"result": st.lists(JSON)}))})),
    st.lists(st.fixed_dictionaries({"time": CELLS}, optional={"timeEnd": CELLS, "text": JSON, "tags": JSON})),
    st.builds(lambda values: matrix(({}, [])) | {"data": {"resultType": "matrix", "result": values}}, JSON),
    st.builds(lambda times: matrix(({"alertname": "a"}, times)), st.lists(CELLS)),
    st.builds(lambda ends: [task(1, *(region(*each) for each in ends))], st.lists(st.tuples(CELLS, CELLS))),
    st.lists(
        st.fixed_dictionaries({"startsAt": CELLS}, optional={"endsAt": CELLS, "updatedAt": CELLS, "labels": JSON})
    ),
    st.lists(st.fixed_dictionaries({"time": CELLS, "newState": st.sampled_from(["Alerting", "Normal"])})),
    st.lists(st.fixed_dictionaries({"predictions": st.lists(st.fixed_dictionaries({"result": st.lists(JSON)}))})),
)


def read_or_refused(path):
    try:
        found = read_intervals(path)
    except ValueError as error:
        said = str(error)
    else:
        assert len(found.ids) == len(found.notes) == len(found.starts) == len(found.stops) == len(found)
        assert (found.starts <= found.stops).all()
        assert len(spans_of("intervals", found.pairs())) == len(found)
        return
    assert said.startswith(f"{path}: ")
    assert len(said.splitlines()) == 1


@given(SHAPED | JSON.filter(lambda content: isinstance(content, (list, dict))))
@pytest.mark.unmeasured
def test_any_json(tmp_path_factory, content):
    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_text(json.dumps(content))
    read_or_refused(path)


HEADERS = st.sampled_from(
    [b"", b"start,end\n", b"start,duration\n", b"start\n", b"ID,Channel,StartTime,EndTime\n", b"["]
)
PIECES = st.binary(max_size=20) | st.sampled_from(
    [
        b"5,6\n",
        b"2026-01-01,",
        b"1h\n",
        b'"',
        b"nan,\n",
        b"9e9,1\n",
        b"9" * 30,
        b"\x1f\x8b",
        b"PAR1",
        b"ARROW1",
        b"[[5,6],",
    ]
)


@given(HEADERS, st.lists(PIECES))
def test_any_bytes(tmp_path_factory, header, pieces):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes(header + b"".join(pieces))
    read_or_refused(path)
