"""Series in the formats of public archives: each is recognised, read, and refused with a reason where it is bad."""

import gzip
import json
import re
import shutil

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import dqeval
from conftest import DATA, ROOT
from dqeval.datasets import FORMATS, load, read
from dqeval.datasets.loading import sources

POINTS = 40
WAVE = np.sin(2 * np.pi * np.arange(POINTS) / 8)
LABELS = np.zeros(POINTS, dtype=int)
LABELS[25:28] = 1
TSB_AD = "001_Own_id_1_Web_tr_10_1st_25"
WINDOWS = {"real/nab.csv": [["2026-01-01 00:25:00.000000", "2026-01-01 00:27:00.000000"]]}


def write_csv(path, **columns):
    rows = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(rows) + "\n")


def times():
    return [f"2026-01-01 00:{t:02}:00" for t in range(POINTS)]


def write_tsb_ad(folder):
    write_csv(folder / f"{TSB_AD}.csv", Data=WAVE, Label=LABELS)
    return folder / f"{TSB_AD}.csv"


def write_ucr(folder, separator="\n"):
    path = folder / "004_UCR_Anomaly_own_10_25_27.txt"
    path.write_text(separator.join(f"  {x:.7e}" for x in WAVE))
    return path


def write_timeeval(folder):
    write_csv(folder / "own.test.csv", timestamp=times(), value=WAVE, is_anomaly=LABELS)
    return folder / "own.test.csv"


def write_nab(folder, windows=WINDOWS):
    path = folder / "data" / "real" / "nab.csv"
    path.parent.mkdir(parents=True)
    write_csv(path, timestamp=times(), value=WAVE)
    (folder / "labels").mkdir()
    (folder / "labels" / "combined_windows.json").write_text(json.dumps(windows))
    return path


def write_easytsad(folder, values=WAVE, stamped=True):
    path = folder / "kpi"
    path.mkdir()
    for part, cut in (("train", slice(0, 10)), ("test", slice(10, None))):
        np.save(path / f"{part}.npy", values[cut])
        np.save(path / f"{part}_label.npy", LABELS[cut])
        if stamped:
            np.save(path / f"{part}_timestamp.npy", np.arange(POINTS)[cut])
    (path / "info.json").write_text("{}")
    return path


def write_pack(folder, names=(TSB_AD,)):
    arrays = {f"{name}/data": WAVE.astype(np.float32) for name in names}
    np.savez(folder / "pack.npz", **arrays, **{f"{name}/label": LABELS.astype(np.uint8) for name in names})
    return folder / "pack.npz"


def write_table(folder):
    write_csv(folder / "mine.csv", timestamp=times(), value=WAVE, label=LABELS, sharp=WAVE**2)
    return folder / "mine.csv"


# The file, and the name, end of training and timestamps of the series in it.
EVERY = {
    "easytsad": (write_easytsad, "kpi", 10, True),
    "ucr": (write_ucr, "004_UCR_Anomaly_own_10_25_27", 10, False),
    "tsb_ad": (write_tsb_ad, TSB_AD, 10, False),
    "timeeval": (write_timeeval, "own.test", None, True),
    "nab": (write_nab, "nab", None, True),
    "pack": (write_pack, TSB_AD, 10, False),
    "table": (write_table, "mine", None, True),
}


def test_every_format_is_tested():
    assert list(EVERY) == list(FORMATS.names)


@pytest.mark.parametrize("format", EVERY)
def test_a_series_of_each_format(tmp_path, format):
    write, name, train_stop, timed = EVERY[format]
    path = write(tmp_path)
    assert [(source.format, source.name) for source in sources(path)] == [(format, name)]
    for series in (load(path), load(path, format), *read(path), load(path, name=name)):
        assert series.name == name
        assert series.values == pytest.approx(WAVE, abs=1e-6)
        assert series.labels.dtype == bool
        assert series.labels.tolist() == LABELS.astype(bool).tolist()
        assert (series.train_stop, series.period) == (train_stop, 8)
        assert (series.timestamps is not None and len(series.timestamps) == POINTS) == timed
    assert list(series.scores) == (["sharp"] if format == "table" else [])


def test_a_folder_with_all_formats(tmp_path):
    for format, (write, *_) in EVERY.items():
        (tmp_path / format).mkdir()
        write(tmp_path / format)
    (tmp_path / "README.md").write_text("not a series")
    (tmp_path / ".hidden.csv").write_text("not a series")
    assert [series.name for series in read(tmp_path)] == [EVERY[format][1] for format in sorted(EVERY)]
    assert [source.format for source in sources(tmp_path)] == sorted(EVERY)


def test_read_is_lazy_and_sorted(tmp_path):
    for name in ("b", "a"):
        write_csv(tmp_path / f"{name}.csv", value=WAVE, label=LABELS)
    (tmp_path / "c.csv").write_text("label\nx\n")
    found = read(tmp_path)
    assert [next(found).name, next(found).name] == ["a", "b"]
    with pytest.raises(ValueError, match=r"c\.csv: no numeric column is called label or is_anomaly; there are none"):
        next(found)


def test_one_format_of_a_folder(tmp_path):
    write_ucr(tmp_path)
    write_tsb_ad(tmp_path)
    assert [series.name for series in read(tmp_path, "ucr")] == ["004_UCR_Anomaly_own_10_25_27"]


def test_ucr_in_one_line(tmp_path):
    assert load(write_ucr(tmp_path, separator=" ")).values == pytest.approx(WAVE, abs=1e-6)


def test_gzip(tmp_path):
    path = write_tsb_ad(tmp_path)
    zipped = tmp_path / f"{TSB_AD}.csv.gz"
    zipped.write_bytes(gzip.compress(path.read_bytes()))
    assert (load(zipped).name, load(zipped).train_stop) == (TSB_AD, 10)


def test_several_columns(tmp_path):
    many = np.column_stack([WAVE, WAVE**2, -WAVE])
    write_csv(tmp_path / f"{TSB_AD}.csv", a=many[:, 0], b=many[:, 1], c=many[:, 2], Label=LABELS)
    write_csv(tmp_path / "z.csv", timestamp=times(), **{f"value-{i}": many[:, i] for i in range(3)}, is_anomaly=LABELS)
    write_csv(tmp_path / "t.csv", **{f"value_{i}": many[:, i] for i in range(3)}, label=LABELS, mine=WAVE)
    write_easytsad(tmp_path, many, stamped=False)
    found = list(read(tmp_path))
    assert [series.name for series in found] == [TSB_AD, "kpi", "t", "z"]
    for series in found:
        assert series.values.tolist() == many.tolist()
        assert series.labels.shape == (POINTS,)
        assert series.period is None
        assert list(series.scores) == (["mine"] if series.name == "t" else [])


def test_one_column_in_two_dimensions(tmp_path):
    series = load(write_easytsad(tmp_path, WAVE[:, None]))
    assert (series.values.shape, series.period) == ((POINTS,), 8)


def test_values_that_are_not_finite_have_no_period(tmp_path):
    write_csv(tmp_path / "a.csv", value=[1, np.nan, 3], label=[0, 1, 0])
    assert load(tmp_path / "a.csv").period is None


def test_a_table_without_values(tmp_path):
    write_csv(tmp_path / "a.csv", label=[0, 1], mine=[1, 2])
    series = load(tmp_path / "a.csv")
    assert (series.values, series.period) == (None, None)


def test_what_was_scored_keeps_its_end_of_training(tmp_path):
    write_csv(tmp_path / f"{TSB_AD}.csv", value=WAVE, label=LABELS, mine=WAVE)
    (source,) = sources(tmp_path)
    assert (source.format, source.read().train_stop, list(source.read().scores)) == ("table", 10, ["mine"])


def test_timestamps_are_kept_as_they_are_written(tmp_path):
    (tmp_path / "a.csv").write_text("Time,value,label\n1 May,1,0\n2 May,2,1\n")
    assert load(tmp_path / "a.csv").timestamps.tolist() == ["1 May", "2 May"]
    assert dqeval.datasets.series_of({"date": [7, 8], "label": [0, 1], "mine": [1, 2]}).timestamps.tolist() == [7, 8]
    (tmp_path / "a.jsonl").write_text('{"timestamp": 5, "label": 0}\n{"timestamp": 6, "label": 1}\n')
    assert load(tmp_path / "a.jsonl").timestamps.tolist() == [5, 6]
    stamps = np.array(["2026-01-01", "2026-01-02"], dtype="datetime64[ns]")
    parquet.write_table(pa.table({"timestamp": stamps, "label": [0, 1]}), tmp_path / "a.parquet")
    assert load(tmp_path / "a.parquet").timestamps.tolist() == stamps.tolist()
    np.savez(tmp_path / "a.npz", timestamp=[1], label=[0, 1], mine=[1, 2])
    for read_it in (load, dqeval.datasets.read_columns):
        with pytest.raises(ValueError, match=r"a\.npz: there must be a timestamp for each point: got 1 for 2 points"):
            read_it(tmp_path / "a.npz")


def test_a_nab_file_without_anomalies(tmp_path):
    assert not load(write_nab(tmp_path, {"real/nab.csv": []})).labels.any()


def test_nab_times_with_a_zone(tmp_path):
    path = write_nab(tmp_path)
    zoned = [f"2026-01-01T01:{t:02}:00+01:00" for t in range(POINTS)]
    write_csv(path, timestamp=zoned, value=WAVE)
    series = load(path)
    assert series.labels.tolist() == LABELS.astype(bool).tolist()
    assert series.timestamps.tolist() == np.array(times(), dtype="datetime64[s]").tolist()  # in universal time


def test_several_series_in_a_pack(tmp_path):
    path = write_pack(tmp_path, ("b", TSB_AD, "a", "c"))
    assert [series.name for series in read(path)] == [TSB_AD, "a", "b", "c"]
    assert load(path, name="b").train_stop is None
    with pytest.raises(
        ValueError, match=rf"there are 4 series \({TSB_AD}, a, b, …\): give a name, or use read for all"
    ):
        load(path)
    with pytest.raises(ValueError, match=rf"no series is called 'x'; there are {TSB_AD}, a, b, …"):
        load(path, name="x")


@pytest.mark.parametrize("first", [24, 26])
def test_a_first_anomaly_that_is_elsewhere(tmp_path, first):
    name = f"own_tr_10_1st_{first}"
    write_csv(tmp_path / f"{name}.csv", Data=WAVE, Label=LABELS)
    message = f"name of {name} says that the first anomaly is at {first}, and the labels have it at 25: give it another"
    with pytest.raises(ValueError, match=rf"{name}\.csv: the {message}"):
        load(tmp_path / f"{name}.csv")
    np.savez(tmp_path / "a.npz", **{f"{name}/data": WAVE, f"{name}/label": 0 * LABELS})
    with pytest.raises(ValueError, match=f"is at {first}, and the labels have none"):
        load(tmp_path / "a.npz")


BAD_UCR = "004_UCR_Anomaly_own_{}.txt"
BAD = {
    "no known ending": ("a.md", "", "auto", "this fits no known format; expected EasyTSAD .*, table "),
    "text that is not UCR": ("README.txt", "hello", "auto", r"fits no known format; .* UCR archive \(004_UCR"),
    "UCR without ranges": ("a.txt", "1 2", "ucr", "the name must end with the end of training, and the anomaly's fir"),
    "UCR with words": (BAD_UCR.format("1_2_2"), "1 2 x 4", "auto", "could not convert string to float"),
    "UCR after the end": (
        BAD_UCR.format("1_2_4"),
        "1 2 3 4",
        "auto",
        "training ends at 1 and the anomaly is from 2 to",
    ),
    "UCR backwards": (BAD_UCR.format("1_3_2"), "1 2 3 4", "auto", "that cannot be in 4 points"),
    "UCR training late": (BAD_UCR.format("3_2_2"), "1 2 3 4", "auto", "that cannot be in 4 points"),
    "UCR training nothing": (
        BAD_UCR.format("0_2_2"),
        "1 2 3 4",
        "auto",
        "the training part must end inside: at 0 of 4",
    ),
    "training beyond the end": (
        "a_tr_9_1st_1.csv",
        "Data,Label\n1,0\n2,1\n",
        "auto",
        "must end inside: at 9 of 2 points",
    ),
    "labels of 2": ("a.csv", "value,label\n1,0\n2,2\n", "auto", r"must be 0 and 1: that of point 1, .* is 2\.0"),
    "no label": (
        "a.csv",
        "value,mine\n1,0\n",
        "auto",
        "no numeric column is called label or is_anomaly; there are value",
    ),
    "only labels": (
        "a_tr_1_1st_1.csv",
        "Data,Label\nx,0\ny,1\n",
        "auto",
        "a numeric column of values beside the labels",
    ),
    "a header of numbers": ("a.csv", "1,0\n2,1\n", "auto", "the first line must name the columns"),
    "not text": ("a.csv", b"\xff\xfe\xfd", "auto", "not a text file in UTF-8"),
    "not npz": ("a.npz", "PK?", "auto", "not an npz file"),
    "NAB without windows": (
        "a.csv",
        "timestamp,value\n2026-01-01,1\n",
        "auto",
        "there are no labels: no column of them",
    ),
    "not NAB": ("a.csv", "timestamp,value,x\n2026-01-01,1,2\n", "nab", "must be timestamp and value: got value, x"),
    "no time in NAB": ("a.csv", "value\n1\n", "nab", "must be timestamp and value: got value"),
    "not EasyTSAD": ("a.csv", "value\n1\n", "easytsad", ""),
    "an empty folder": (".", None, "auto", "there is no series here; expected EasyTSAD"),
}


@pytest.mark.parametrize(("name", "content", "format", "message"), BAD.values(), ids=BAD)
def test_bad_files(tmp_path, name, content, format, message):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises((ValueError, OSError), match=rf"{re.escape(str(path))}.*{message}"):
        load(path, format)


@pytest.mark.parametrize(
    ("windows", "message"),
    [
        ({}, "combined_windows.json has no entry real/nab.csv"),
        ([], "must be a JSON object with pairs of start and end"),
        ({"real/nab.csv": [["2026-01-01 00:27:00", "2026-01-01 00:25:00"]]}, "an anomaly from 2026-01-01 00:27:00 to "),
        (
            {"real/nab.csv": [["2025-01-01 00:25:00", "2025-01-01 00:27:00"]]},
            "cannot be in points from 2026-01-01 00:0",
        ),
        ({"real/nab.csv": [["soon", "later"]]}, "nab.csv: soon is not a time, such as 2014-04-01 14:30:00"),
    ],
)
def test_bad_windows(tmp_path, windows, message):
    with pytest.raises(ValueError, match=message):
        load(write_nab(tmp_path, windows))


def test_bad_arrays(tmp_path):
    path = write_easytsad(tmp_path)
    np.save(path / "test_label.npy", LABELS)
    with pytest.raises(ValueError, match=r"kpi: test_label.npy must be as long as test.npy: got 40 and 30"):
        load(path)
    (path / "test.npy").unlink()
    with pytest.raises(FileNotFoundError, match=r"test\.npy"):
        load(path)
    (path / "train.npy").write_bytes(b"")
    with pytest.raises(
        ValueError, match=r"kpi: this cannot be read as an npy file \(train\.npy\): EOF: reading magic string"
    ):
        load(path)
    for values, labels, message in [
        ([1, 2], [0, 1, 0], "there must be a label for each point: got 3 for 2 points"),
        ([1, 2], [[0, 1]], r"the labels must be one column of at least one point: their shape is \(1, 2\)"),
        ([], [], r"at least one point: their shape is \(0,\)"),
        (["a", "b"], [0, 1], "the values must be numbers in one or several columns: got <U1"),
        ([[[1]], [[2]]], [0, 1], r"numbers in one or several columns: got int64 \(2, 1, 1\)"),
    ]:
        np.savez(tmp_path / "a.npz", **{"a/data": values, "a/label": labels})
        with pytest.raises(ValueError, match=rf"a\.npz: .*{message}"):
            load(tmp_path / "a.npz")


def test_single_numbers_and_other_archives_in_place_of_arrays(tmp_path):
    path = write_easytsad(tmp_path)
    for name in ("train", "train_label", "test_timestamp"):
        before = (path / f"{name}.npy").read_bytes()
        np.save(path / f"{name}.npy", 1.0)
        with pytest.raises(
            ValueError, match=rf"kpi: {name}\.npy must hold a column or several: it holds a single value"
        ):
            load(path)
        (path / f"{name}.npy").write_bytes(before)
    np.save(path / "test_timestamp.npy", np.arange(3))
    with pytest.raises(
        ValueError, match=r"kpi: there must be a timestamp for each of 40 points: their shape is \(13,\)"
    ):
        load(path)
    np.savez(tmp_path / "z.npz", 1)
    shutil.copy(tmp_path / "z.npz", path / "train.npy")
    with pytest.raises(
        ValueError, match=r"kpi: this cannot be read as an npy file \(train\.npy\): the magic string is not"
    ):
        load(path)


def test_text_that_is_no_series_is_passed_over_in_a_folder(tmp_path):
    write_ucr(tmp_path)
    (tmp_path / "README.txt").write_text("hello")
    for format in ("auto", "ucr"):
        assert [series.name for series in read(tmp_path, format)] == ["004_UCR_Anomaly_own_10_25_27"]


def test_links_that_lead_back(tmp_path):
    (tmp_path / "in").mkdir()
    write_easytsad(tmp_path / "in")
    write_tsb_ad(tmp_path / "in")
    (tmp_path / "in" / "z").symlink_to(tmp_path / "in", target_is_directory=True)
    (tmp_path / "in" / "zz").symlink_to(tmp_path / "in" / "kpi", target_is_directory=True)
    assert [series.name for series in read(tmp_path)] == [TSB_AD, "kpi"]


def test_two_series_of_a_name(tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        write_csv(tmp_path / folder / "c.csv", value=WAVE, label=LABELS)
    with pytest.raises(ValueError, match=r"2 series are called 'c' \(.*a/c\.csv, .*b/c\.csv\): give the path of one"):
        load(tmp_path, name="c")


def test_ucr_with_a_byte_order_mark_and_with_commas(tmp_path):
    path = write_ucr(tmp_path)
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes())
    assert load(path).values == pytest.approx(WAVE, abs=1e-6)
    path.write_text(",".join(map(str, WAVE)))
    with pytest.raises(ValueError, match="there must be numbers, separated by blanks or lines: could not") as error:
        load(path)
    assert len(str(error.value)) < 250 + len(str(path))


def test_unknown_formats_and_missing_files(tmp_path):
    with pytest.raises(ValueError, match="unknown format 'tsbad'; did you mean 'tsb_ad'"):
        read(tmp_path, "tsbad")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nowhere.csv")


def test_an_npz_file_of_columns_is_a_table(tmp_path):
    np.savez(tmp_path / "a.npz", value=WAVE, label=LABELS)
    assert [source.format for source in sources(tmp_path / "a.npz")] == ["table"]


def test_the_page_lists_every_format():
    page = (ROOT / "docs" / "datasets.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| ([^|]+) \| ([^|]+) \|", page, flags=re.MULTILINE)
    assert rows == [(format.name, format.label, format.summary) for format in FORMATS]


def test_the_example_of_a_new_format(tmp_path, monkeypatch):
    monkeypatch.setattr(FORMATS, "_entries", dict(FORMATS._entries))
    page = (ROOT / "docs" / "datasets.md").read_text(encoding="utf-8")
    program = re.search(r"^```python\n(from dqeval import Series.*?)^```$", page, flags=re.MULTILINE | re.DOTALL)[1]
    exec(compile(program, "datasets.md", "exec"), {})
    (tmp_path / "a.marked").write_text("1\n2\n9*\n1\n")
    series = load(tmp_path / "a.marked")
    assert (series.name, series.values.tolist(), series.labels.tolist()) == ("a", [1, 2, 9, 1], [0, 0, 1, 0])


@pytest.mark.data
def test_a_real_pack(real_series, tmp_path):
    name = "094_WSD_id_66_WebService_tr_3309_1st_3914"
    series = load(DATA / "wsd.npz", name=name)
    assert (series.name, series.train_stop, len(series.values)) == (name, 3309, 13237)
    assert len(dqeval.core.events.find_events(series.labels)) == 3
    with real_series("wsd") as arrays:
        assert (series.values == arrays[f"{name}/data"]).all()
        assert (series.labels == arrays[f"{name}/label"]).all()
    shutil.copy(DATA / "yahoo.npz", tmp_path)
    assert [series.labels[series.train_stop :].any() for series in read(tmp_path)] == [True]
