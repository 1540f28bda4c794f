"""Files that are damaged, absurd or meant to harm: a sentence, little memory, and never the end of the process."""

import gzip
import io
import json
import subprocess
import sys
import warnings
import zipfile

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

import dqeval
from commands import caller, write_demo
from dqeval.datasets import arrow, guard
from dqeval.datasets.files import column_names
from dqeval.datasets.loading import sources

DEEP = '{"label": 0, "mine": ' + "[" * 100_000 + "]" * 100_000 + "}"


@pytest.fixture
def call(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    return caller(monkeypatch, capsys)


def write_npz(path, **members):
    """Write an npz file from the bytes of its members."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(f"{name}.npy", data)


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def write_feather(path, table, **options):
    with path.open("wb") as file, pa.ipc.new_file(file, table.schema, options=pa.ipc.IpcWriteOptions(**options)) as out:
        out.write_table(table)


def with_shape(shape):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": shape})
    return stream.getvalue() + bytes(16)


def union(n=2):
    return pa.UnionArray.from_sparse(pa.array(np.zeros(n, dtype="i1")), [pa.array(range(n))])


def encrypted(path):
    write_npz(path, label=npy([0, 1]), mine=npy([0.1, 0.2]))
    data = bytearray(path.read_bytes())
    for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(mark)
        while at >= 0:
            data[at + flags] |= 1
            at = data.find(mark, at + 1)
    path.write_bytes(data)


def packed_otherwise(path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("label.npy", npy([0, 1]))


def twice(path):
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("label.npy", npy([0, 1]))
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("label.npy", npy([0, 1]))


def two_of_a_name(path, write):
    table = pa.table([pa.array([0, 1]), pa.array([0.1, 1.0]), pa.array([0.2, 1.0])], names=["label", "a", "a"])
    write(table, path)


def version_3(path):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.zeros(2, dtype=[("ä", "f8")]), version=(3, 0))
    write_npz(path, label=stream.getvalue())


def write_rows(path, *rows):
    path.write_text("\n".join(rows))


HOSTILE = {
    "a number of 400 digits": (
        "a.jsonl",
        lambda path: write_rows(path, '{"label": 0, "mine": 1}', f'{{"label": 1, "mine": {"9" * 400}}}'),
        "column mine must hold numbers: row 2 below the header is a whole number of 400 digits, which is too large",
    ),
    "a first number of 400 digits": (
        "a.jsonl",
        lambda path: write_rows(path, f'{{"label": 1, "mine": {"9" * 400}}}'),
        "column mine must hold numbers: row 1 below the header is a whole number of 400 digits",
    ),
    "nested JSON": ("a.jsonl", lambda path: write_rows(path, DEEP), "row 1 is nested too deeply"),
    "half a character": (
        "a.jsonl",
        lambda path: write_rows(path, '{"label": 0, "m\\uD800": 1}'),
        "row 1 holds half of a character, such as \\ud800, which is no text",
    ),
    "a long cell": (
        "a.csv",
        lambda path: write_rows(path, "label,mine", "0,1", f"1,{'x' * 1000}"),
        f"column mine must hold numbers: row 2 below the header is '{'x' * 80}…'",
    ),
    "a long timestamp": (
        "a.csv",
        lambda path: write_rows(path, "time,label,mine", f"{'x' * 100},0,1"),
        f"column time must hold times: row 1 below the header is '{'x' * 80}…'",
    ),
    "lists as timestamps": (
        "a.jsonl",
        lambda path: write_rows(path, '{"time": [1], "label": 0, "mine": 1}'),
        "column time must hold times: row 1 below the header is '[1]'",
    ),
    "an endless line": (
        "a.csv.gz",
        lambda path: path.write_bytes(gzip.compress(b"label,mine\n" + bytes(40_000_000), 1)),
        "a line is longer than 33,554,432 bytes: is this a table?",
    ),
    "empty arrays": ("a.npz", lambda path: np.savez(path, label=[], mine=[]), "the columns are empty: there must be"),
    "a huge shape": (
        "a.npz",
        lambda path: write_npz(path, label=with_shape((10**12,))),
        "the array label has the shape (1000000000000,): that takes 8,000,000,000,000 bytes, not 16",
    ),
    "a shape that is too small": (
        "a.npz",
        lambda path: write_npz(path, label=with_shape((1,))),
        "the array label has the shape (1,): that takes 8 bytes, not 16",
    ),
    "encrypted": ("a.npz", encrypted, "the array label is encrypted: save it without a password"),
    "packed otherwise": (
        "a.npz",
        packed_otherwise,
        "the array label is packed in an unknown way: write it with numpy.s",
    ),
    "two arrays of a name": ("a.npz", twice, "two arrays have the same name"),
    "objects": (
        "a.npz",
        lambda path: np.savez(path, label=np.array([0, None])),
        "the array label holds Python objects, which are not read from files: save numbers",
    ),
    "records": ("a.npz", version_3, "the array label is in a form for records with names, not for numbers"),
    "no array": (
        "a.npz",
        lambda path: write_npz(path, label=b"nothing"),
        "this cannot be read as an npz file: EOF: reading magic string",
    ),
    "two columns of a name, Feather": (
        "a.feather",
        lambda path: two_of_a_name(path, lambda table, path: write_feather(path, table)),
        "two columns have the same name: a",
    ),
    "two columns of a name, Parquet": (
        "a.parquet",
        lambda path: two_of_a_name(path, parquet.write_table),
        "two columns have the same name: a",
    ),
    "old Feather": (
        "a.feather",
        lambda path: path.write_bytes(b"FEA1" + bytes(46) + b"\x10\0\0\0FEA1"),
        "this is a Feather file of the old version 1: write it again as version 2, or as Parquet",
    ),
    "no Feather": ("a.feather", lambda path: path.write_bytes(b"label,mine"), "this is not a Feather file"),
    "a union alone": (
        "a.feather",
        lambda path: write_feather(path, pa.table({"label": union()})),
        "no numeric column is called label or is_anomaly; there are none",
    ),
}


@pytest.mark.parametrize(("name", "write", "message"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_files(call, tmp_path, name, write, message):
    write(tmp_path / name)
    for command in (["check"], ["report", "-o", "out.html"]):
        done = call(*command, name)
        if "time" in message and command == ["check"]:
            continue  # which does not look at timestamps
        assert (done.code, done.out) == (2, ""), done
        assert done.err.startswith(f"dqeval: {name}: {message}")
        assert done.err.count("\n") == 1


def test_columns_that_are_no_numbers_are_left_out(tmp_path):
    columns = {
        "label": pa.array([True, None, False]),
        "mine": pa.array([1, 2, None]),
        "union": union(3),
        "list": pa.array([[1], [2], [3]]),
        "note": pa.array(["a", "b", "c"]),
        "__index_level_0__": pa.array([1, 2, 3]),
    }
    for time in (["a", None, "a"], np.arange(3).astype("M8[s]"), [1, 2, 3]):
        for encoded in (pa.array(time), pa.array(time).dictionary_encode()):
            table = pa.table({**columns, "Time": encoded})
            write_feather(tmp_path / "a.feather", table)
            parquet.write_table(table.drop_columns("union"), tmp_path / "a.parquet")
            for name in ("a.feather", "a.parquet"):
                series = dqeval.datasets.read_columns(tmp_path / name)
                assert np.array_equal(series.labels, [1, np.nan, 0], equal_nan=True)
                assert list(series.scores) == ["mine"]
                assert np.array_equal(series.scores["mine"], [1, 2, np.nan], equal_nan=True)
                if series.timestamps is not None:
                    assert list(series.timestamps) == list(np.array(time))
                else:
                    assert pa.types.is_dictionary(encoded.type)
                    assert time[0] != "a"


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
def test_memory_that_a_feather_file_takes_is_known_before(tmp_path, monkeypatch, compression):
    table = pa.table({"label": np.arange(5000) % 2, "mine": np.zeros(5000), "kind": pa.array(["a"] * 5000)})
    table = table.set_column(2, "kind", table["kind"].dictionary_encode())
    write_feather(tmp_path / "a.feather", table, compression=compression)
    needed = []
    monkeypatch.setattr(arrow, "check_size", lambda needs, size: needed.append(needs))
    assert len(dqeval.datasets.read_columns(tmp_path / "a.feather").labels) == 5000
    as_numbers, dictionary = 5000 * 8 * 2, 8 * 2
    unpacked = 0 if compression is None else 5000 * (8 + 8 + 4) + 1 + 8
    assert needed == [as_numbers + dictionary + unpacked]


LARGE = np.zeros(100_000)
BOMBS = {
    "a.npz": lambda path: np.savez_compressed(path, label=LARGE, mine=LARGE),
    "a.parquet": lambda path: parquet.write_table(pa.table({"label": LARGE, "mine": LARGE}), path),
    "a.feather": lambda path: feather.write_feather(pa.table({"label": LARGE, "mine": LARGE}), path),
    "a.csv.gz": lambda path: path.write_bytes(gzip.compress(b"label,mine\n" + b"0,0\n" * 400_000)),
    "s.npz": lambda path: np.savez_compressed(path, **{"s/label": LARGE, "s/data": LARGE}),
}


@pytest.mark.parametrize("name", BOMBS)
def test_memory_is_bounded_by_the_file_and_a_limit(call, tmp_path, monkeypatch, name):
    BOMBS[name](tmp_path / name)
    size = (tmp_path / name).stat().st_size
    assert size < 20_000
    assert call("datasets", "list", name).code == 0
    monkeypatch.setenv("DQEVAL_MAX_BYTES", "1000000")
    done = call("datasets", "list", name)
    assert done.code == 2
    assert f"{1_000_000 + size:,} bytes are allowed for this file" in done.err
    assert "set the environment variable DQEVAL_MAX_BYTES to more bytes" in done.err
    monkeypatch.setenv("DQEVAL_MAX_BYTES", "many")
    done = call("datasets", "list", name)
    assert "the environment variable DQEVAL_MAX_BYTES must be a whole number of bytes: got 'many'" in done.err


def test_long_doubles(tmp_path, call):
    np.savez(tmp_path / "a.npz", label=[0, 1, 0], mine=np.array(["1e4000", "2", "3"], dtype="g"))
    assert np.array_equal(dqeval.datasets.read_columns(tmp_path / "a.npz").scores["mine"], [np.inf, 2, 3])
    assert call("check", "a.npz").err == ""
    np.savez(tmp_path / "b.npz", **{"s/data": np.array(["1e4000", "2", "3"], dtype="g"), "s/label": [0, 1, 0]})
    assert dqeval.datasets.load(tmp_path / "b.npz").values[0] == np.inf


def test_labels_and_arrays_that_are_no_numbers(tmp_path):
    np.savez(tmp_path / "a.npz", **{"s/data": [1.0, 2.0], "s/label": ["a", "b"]})
    with pytest.raises(ValueError, match=r"a\.npz: the labels must be 0 and 1: their dtype is <U1"):
        dqeval.datasets.load(tmp_path / "a.npz")
    easy = tmp_path / "easy"
    easy.mkdir()
    for part in ("train", "test"):
        np.save(easy / f"{part}.npy", [1.0, 2.0])
        np.save(easy / f"{part}_label.npy", [0, 1])
    np.save(easy / "train_timestamp.npy", [1, 2])
    np.save(easy / "test_timestamp.npy", np.array([1, 2], dtype="M8[s]"))
    with pytest.raises(ValueError, match="the timestamps of both parts must be of one kind: got int64 and datetime64"):
        dqeval.datasets.load(easy)
    np.save(easy / "train.npy", ["a", "b"])
    with pytest.raises(ValueError, match=r"train\.npy must hold numbers: its dtype is <U1"):
        dqeval.datasets.load(easy)


def test_a_named_pack_without_its_arrays(tmp_path):
    np.savez(tmp_path / "a.npz", **{"s/data": [1.0, 2.0]})
    with pytest.raises(ValueError, match=r"a\.npz: there must be arrays s/data and s/label"):
        dqeval.datasets.load(tmp_path / "a.npz", "pack")


@pytest.mark.parametrize("name", ["a.npz", "a.csv"])
def test_memory_that_is_not_there(tmp_path, monkeypatch, name):
    def none(*_, **__):
        raise MemoryError

    for place in ("dqeval.datasets.files._from_rows", "dqeval.datasets.arrays._read"):
        monkeypatch.setattr(place, none)
    np.savez(tmp_path / "a.npz", **{"label": [0, 1], "mine": [1, 2]})
    (tmp_path / "a.csv").write_text("label,mine\n0,1\n")
    with pytest.raises(ValueError, match=f"{name}: {guard.NO_MEMORY}"):
        dqeval.datasets.read_columns(tmp_path / name)
    monkeypatch.setattr("dqeval.datasets.loading.check_shapes", none)
    monkeypatch.setattr("dqeval.datasets.columns.read_content", none)
    with pytest.raises(ValueError, match=f"{name}: {guard.NO_MEMORY}"):
        dqeval.datasets.load(tmp_path / name)


def test_many_columns_are_not_listed(tmp_path, call):
    np.savez(
        tmp_path / "wide.npz", **{f"{i}-{part}": np.zeros(9 + i) for i in range(300) for part in ("data", "label")}
    )
    done = call("score", "wide.npz")
    assert done.code == 2
    assert "the columns must have the same length: got 0-data 9, 0-label 9, 1-data 10, " in done.err
    assert done.err.endswith(" and 590 more\n")


@pytest.mark.unmeasured
def test_wide_files(tmp_path):
    names = ["label", *(f"d{i}" for i in range(50_000))]
    path = tmp_path / "a.csv"
    path.write_text("\n".join([",".join(names), *([",".join(["1"] * len(names))] * 3)]))
    series = dqeval.datasets.read_columns(path, scores=names[1:])
    assert len(series.scores) == 50_000
    assert series.scores["d7"].tolist() == [1, 1, 1]


@pytest.mark.unmeasured
def test_names_of_files_that_are_no_text(tmp_path, call):
    name = b"caf\xe9.csv".decode("utf-8", "surrogateescape")
    write_demo(tmp_path / name)
    assert call("report", name, "-o", "out.html").code == 0
    assert "caf\\udce9.csv" in (tmp_path / "out.html").read_text()
    assert call("plot", name, "-o", "out.svg", "--score", "sharp").code == 0
    options = ["--metrics", "dqe", "--format", "json", "-o", "receipt.json"]
    assert call("score", name, *options).code == 0
    assert json.loads((tmp_path / "receipt.json").read_text())["inputs"][0]["file"] == name
    assert call("verify", "receipt.json", name).code == 0
    assert [source.name for source in sources(tmp_path / name)] == ["caf\\udce9"]


def test_names_of_the_columns_of_text(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"label": 0, "mine": 1}\n')
    (tmp_path / "b.csv").write_text("label,mine\n")
    (tmp_path / "c.jsonl").write_text("{")
    (tmp_path / "d.jsonl").write_text("")
    np.savez(tmp_path / "e.npz", label=[0, 1])
    names = [column_names(tmp_path / name) for name in ("a.jsonl", "b.csv", "c.jsonl", "d.jsonl", "e.npz", "none.csv")]
    assert names == [["label", "mine"], ["label", "mine"], [], [], [], []]


@pytest.mark.unmeasured
def test_a_benchmark_of_json_lines(tmp_path, call):
    rows = [{"value": t % 7, "label": int(20 <= t < 25), "mine": t % 5} for t in range(60)]
    (tmp_path / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (tmp_path / "plan.toml").write_text('metrics = ["dqe"]\n[[scores]]\npath = "a.jsonl"\n')
    done = call("bench", "run", "plan.toml", "-o", "run")
    assert done.code == 0, done
    rows = call("bench", "export", "run", "-o", "rows.csv")
    assert ",mine," in (tmp_path / "rows.csv").read_text()


@pytest.mark.unmeasured
def test_one_bad_file_does_not_end_the_work_on_others(tmp_path, call):
    folder = tmp_path / "all"
    folder.mkdir()
    (folder / "a.jsonl").write_text(DEEP)
    (folder / "b.npz").write_bytes(b"PK\x05\x06" + bytes(18))
    write_demo(folder / "c.csv", 400)
    (folder / "d.feather").write_bytes(b"FEA1")
    listed = call("datasets", "list", "all")
    assert listed.code == 2
    assert "\nc " in listed.out
    assert [line.partition(": ")[2].partition(": ")[0] for line in listed.err.splitlines()] == [
        f"all/{name}" for name in ("a.jsonl", "b.npz", "d.feather")
    ]
    detected = call("detect", "all", "--detector", "fft", "-o", "out")
    assert detected.code == 2
    assert (tmp_path / "out" / "c.csv").exists()
    assert detected.err.count("\n") == 4


def test_what_nobody_thought_of_does_not_end_the_work_on_others(tmp_path, call, monkeypatch):
    write_demo(tmp_path / "a.csv")
    monkeypatch.setattr("dqeval.cli.datasets._row", lambda title, source: {}["x"])
    done = call("datasets", "list", "a.csv")
    assert (done.code, done.err) == (2, "dqeval: KeyError: 'x'\n")


@pytest.mark.parametrize("error", [TypeError("nobody\nthought of it"), RecursionError(), OverflowError("x" * 1000)])
def test_a_bug_is_one_sentence_and_no_verdict(call, monkeypatch, error):
    def broken(**_):
        raise error

    monkeypatch.setattr("dqeval.cli.app.app", broken)
    done = call("demo")
    said = " ".join(str(error)[:300].split())
    wanted = (
        f"dqeval: this is a bug in dqeval: {type(error).__name__}: {said}; please report it; DQEVAL_DEBUG=1 shows the"
    )
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(wanted)
    assert done.err.count("\n") == 1
    monkeypatch.setenv("DQEVAL_DEBUG", "1")
    done = call("demo")
    assert "Traceback (most recent call last)" in done.err
    assert wanted in done.err


def test_too_little_memory_is_one_sentence(call, monkeypatch):
    def greedy(**_):
        raise MemoryError

    monkeypatch.setattr("dqeval.cli.app.app", greedy)
    assert call("demo").err == ("dqeval: there is not enough memory: try fewer detectors or fewer points\n")


SIZES = {"next to nothing": 5e-324, "tiny": 1e-310, "huge": 1e308, "opposite": -1.7e308}


@pytest.mark.parametrize("column", ["value", "mine"])
@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
@pytest.mark.unmeasured
def test_numbers_at_the_ends_of_what_floats_can_hold(tmp_path, call, column, size):
    rng = np.random.default_rng(0)
    labels = (np.arange(60) % 30 < 4).astype(int)
    columns = {"value": np.sin(np.arange(60) / 3), "label": labels, "mine": labels + rng.random(60)}
    columns[column] = rng.integers(0, 3, 60) * 0.5 * size if size > 0 else np.where(rng.random(60) < 0.5, size, -size)
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    (tmp_path / "a.csv").write_text("\n".join([",".join(columns), *(",".join(map(repr, row)) for row in rows)]))
    for command in (["check"], ["report", "-o", "out.html"], ["plot", "-o", "out.svg"]):
        done = call(*command, "a.csv")
        assert done.code in (0, 1)
        assert "dqeval: wrote" in done.err or not done.err
    drawn = (tmp_path / "out.svg").read_text()
    assert ("value / " in drawn) == (column == "value")


def test_nab_times_that_are_none(tmp_path):
    folder = tmp_path / "real"
    folder.mkdir()
    (folder / "a.csv").write_text("timestamp,value\n2014-04-01 00:00:00,1\n")
    (tmp_path / "labels").mkdir()
    for start in (5, "0001-01-01T00:00:00+14:00", "soon"):
        (tmp_path / "labels" / "combined_windows.json").write_text(json.dumps({"real/a.csv": [[start, start]]}))
        with pytest.raises(ValueError, match=rf"{str(start)[:5]}.* is not a time, such as 2014-04-01 14:30:00"):
            dqeval.datasets.load(folder / "a.csv")
    (tmp_path / "labels" / "combined_windows.json").write_text("[" * 100_000)
    with pytest.raises(ValueError, match="must be a JSON object"):
        dqeval.datasets.load(folder / "a.csv")


def test_a_receipt_that_is_nested_too_deeply(tmp_path, call):
    (tmp_path / "receipt.json").write_text("[" * 100_000)
    assert "receipt.json: this is nested too deeply for a receipt" in call("verify", "receipt.json", "a.csv").err


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="threads are counted in /proc")
@pytest.mark.parametrize("name", ["a.parquet", "a.feather"])
@pytest.mark.unmeasured
def test_pyarrow_starts_no_threads(tmp_path, name):
    table = pa.table({"label": [0, 1], "mine": [0.1, 0.2], "time": ["a", "b"]})
    parquet.write_table(table, tmp_path / name) if name == "a.parquet" else write_feather(tmp_path / name, table)
    script = (
        "import os, sys, dqeval, pyarrow.parquet\n"
        "before = os.listdir('/proc/self/task')\n"
        "dqeval.datasets.read_columns(sys.argv[1])\n"
        "print(len(os.listdir('/proc/self/task')) - len(before))"
    )
    command = [sys.executable, "-c", script, tmp_path / name]
    assert subprocess.run(command, capture_output=True, text=True).stdout == "0\n"


def test_bits_that_are_no_number(tmp_path):
    """Of numbers with more bits than a float, some patterns mean nothing: no warning leaks, and they are NaN."""
    if np.dtype(np.longdouble).itemsize != 16:
        pytest.skip("long doubles have no such patterns here")
    nothing = np.frombuffer(b"\x01" + bytes(7) + b"\xff\x7f" + bytes(6), dtype=np.longdouble)
    np.savez(tmp_path / "a.npz", label=np.array([0, 1, 0]), mine=np.concatenate([nothing, np.ones(2, np.longdouble)]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isnan(dqeval.datasets.read_columns(tmp_path / "a.npz").scores["mine"][0])


def test_names_in_errors_are_short(tmp_path):
    (tmp_path / "a.csv").write_text(f"label,{'x' * 3000}\n0,1\n1,2)\n")
    with pytest.raises(ValueError, match=r"column x+… must hold numbers") as caught:
        dqeval.datasets.read_columns(tmp_path / "a.csv")
    assert len(str(caught.value)) < 500
