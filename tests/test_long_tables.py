"""Many series in one table: split by a column that names them, in files and in memory, by every command."""

import gzip
import hashlib
import io
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import feather, parquet

import dqeval
from commands import caller
from dqeval.analysis.receipt_commands import COMMANDS
from dqeval.analysis.verify import verify
from dqeval.datasets import files, plain_text, split
from dqeval.datasets.grouping import LONGEST_NAME, Grouping
from dqeval.datasets.long_tables import TablePart
from fuzz.texts import difference
from test_receipts import changed, changes, holds, leaves, without

POINTS = 120
RNG = np.random.default_rng(0)
NAMES = np.array(["web", "db 2", "web", "zeta"] * POINTS)  # rows of three series, mixed; web has half of them
TIMES = np.arange(4 * POINTS)
TABLE = {
    "host": NAMES,
    "timestamp": TIMES,
    "value": np.sin(TIMES / 9),
    "label": (TIMES // 8 % 9 == 5).astype(int),
    "mine": RNG.random(4 * POINTS),
    "note": np.array(["x"] * 4 * POINTS),
}
NUMBERED = {**TABLE, "host": np.unique(NAMES, return_inverse=True)[1]}


def rows_of(table, name, by="host"):
    return {key: column[table[by] == name] for key, column in table.items()}


def write(path, table):
    """Write columns as the kind of file that the ending says."""
    columns = {key: column.tolist() for key, column in table.items()}
    kind = path.name.partition(".")[2]
    if kind == "npz":
        np.savez(path, **table)
    elif kind == "parquet":
        parquet.write_table(pa.table(columns), path)
    elif kind == "feather":
        feather.write_feather(pa.table(columns), path)
    else:
        separator = {"tsv": "\t"}.get(kind, ",")
        rows = list(zip(*columns.values(), strict=True))
        lines = [separator.join(map(str, row)) for row in (tuple(columns), *rows)]
        if kind == "jsonl":
            lines = [json.dumps(dict(zip(columns, row, strict=True))) for row in rows]
        text = "\n".join(lines).encode()
        path.write_bytes(gzip.compress(text) if kind == "csv.gz" else text)
    return path


KINDS = ["csv", "tsv", "csv.gz", "jsonl", "npz", "parquet", "feather"]
every_kind = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture
def call(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    return caller(monkeypatch, capsys)


def same(one, other):
    assert (one.name, list(one.scores)) == (other.name, list(other.scores))
    for a, b in ((one.labels, other.labels), (one.values, other.values), (one.timestamps, other.timestamps)):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(one.scores["mine"], other.scores["mine"])


def expected(table=TABLE):
    names = list(dict.fromkeys(table["host"].tolist()))
    parts = {name: rows_of(table, name) for name in names}
    return [dqeval.datasets.series_of({**part, "host": part["note"]}, name=str(name)) for name, part in parts.items()]


# In the library


@every_kind
@pytest.mark.parametrize("table", [TABLE, NUMBERED], ids=["text", "numbers"])
def test_every_kind_of_file_is_split(tmp_path, kind, table):
    found = split(write(tmp_path / f"long.{kind}", table), "host")
    assert [series.name for series in found] == (["web", "db 2", "zeta"] if table is TABLE else ["1", "0", "2"])
    for one, other in zip(found, expected(table), strict=True):
        same(one, other)


@pytest.mark.parametrize("frame", [dict, pd.DataFrame, pl.DataFrame], ids=["dict", "pandas", "polars"])
def test_columns_in_memory_are_split(frame):
    for one, other in zip(split(frame(TABLE), "host"), expected(), strict=True):
        same(one, other)
    assert [series.name for series in split(frame(NUMBERED), "host")] == ["1", "0", "2"]


@pytest.mark.parametrize(
    ("names", "found"),
    [
        ([1.0, 2.0, 2.0], ["1", "2"]),
        ([0.5, np.inf, 0.5], ["0.5", "inf"]),
        ([True, False, True], ["True", "False"]),
        ([" a", "a ", "b"], ["a", "b"]),
        (["a\nb", "c", "c"], ["a\\nb", "c"]),
        (np.array(["2026-01-02", "2026-01-01", "2026-01-02"], dtype="datetime64[ns]"), None),
        (pd.Categorical(["z", "a", "z"]), ["z", "a"]),
        (pl.Series(["z", "a", "z"], dtype=pl.Categorical), ["z", "a"]),
        (pd.array(["z", "a", "z"], dtype="string"), ["z", "a"]),
    ],
    ids=str,
)
def test_what_names_may_be(names, found):
    series = split({"by": names, "label": [0, 1, 0], "mine": [1, 2, 3]}, "by")
    assert [each.name for each in series] == found or [each.name[:10] for each in series] == [
        "2026-01-02",
        "2026-01-01",
    ]
    assert sum(len(each.labels) for each in series) == 3


def test_columns_can_be_named_and_times_are_split_too():
    table = {**TABLE, "bad": TABLE["label"], "cpu": TABLE["value"], "when": TIMES, "day": NAMES}
    del table["timestamp"]
    frame = pd.DataFrame(table).set_index(pd.to_datetime(TIMES, unit="s"))
    first, *_ = split(frame, "day", label="bad", value="cpu", scores=["mine"])
    assert (list(first.scores), len(first.labels)) == (["mine"], 2 * POINTS)
    np.testing.assert_array_equal(first.timestamps, frame.index[frame["day"] == "web"])
    assert split(frame, "day", scores=[])[0].scores == {}


def test_a_column_of_days_names_series_and_is_no_time(tmp_path):
    table = {"date": NAMES, **TABLE}
    del table["host"]
    path = write(tmp_path / "a.csv", table)
    for first in (split(table, "date")[0], split(path, "date")[0]):
        assert first.timestamps.tolist() == TIMES[NAMES == "web"].tolist()
    table.pop("timestamp")
    assert split(table, "date")[0].timestamps is None


def test_several_columns_of_values_and_names_as_in_tsb_ad(tmp_path):
    table = {"host": np.repeat(["a_tr_1_1st_2", "b"], 4), "label": np.array([0, 0, 1, 0] * 2)}
    path = write(tmp_path / "a.csv", {**table, "value_0": TIMES[:8], "value_1": TIMES[:8], "mine": TIMES[:8]})
    one, other = split(path, "host")
    assert (one.train_stop, other.train_stop, one.values.shape) == (1, None, (4, 2))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)), min_size=1, max_size=30))
def test_rows_stay_in_order(rows):
    names, numbers = zip(*rows, strict=True)
    found = split({"by": names, "label": [0] * len(rows), "mine": numbers}, "by")
    told = {series.name: series.scores["mine"].tolist() for series in found}
    assert told == {name: [number for each, number in rows if each == name] for name in dict.fromkeys(names)}
    assert list(told) == list(dict.fromkeys(names))


def test_nothing_to_split():
    assert split({"by": [], "label": [], "mine": []}, "by") == []


GOOD = {"by": ["a", "b"], "label": [0, 1], "mine": [0.1, 0.2]}


@pytest.mark.parametrize(
    ("changed", "options", "sentence"),
    [
        ({}, {"by": "host"}, r"^no column is called host; there are by, label, mine$"),
        ({}, {"by": 3}, r"^by must be a text: got 3$"),
        ({}, {"by": "label", "label": "label"}, "^label names the series: it cannot be the column of labels, "),
        (
            {},
            {"by": "mine", "scores": ["mine"]},
            "^mine names the series: it cannot be the column of labels, values or",
        ),
        ({}, {"scores": ["x"]}, "no numeric column is called x; there are label, mine$"),
        ({"mine": ["x", "y"]}, {}, "no column of scores"),
        ({"by": ["a"]}, {}, "^column by must name the series of each row: got 1 name for 2 rows$"),
        ({"t": [1, 2, 3]}, {}, "^column by must name the series of each row: got 2 names for 3 timestamps$"),
        ({"by": [["a", "b"], ["c", "d"]]}, {}, r"^column by must be one-dimensional: its shape is \(2, 2\)$"),
        (
            {"by": ["a", ""]},
            {},
            "^column by must name the series of each row: row 2, counted from 1, is an empty cell$",
        ),
        ({"by": ["  ", "a"]}, {}, "row 1, counted from 1, is an empty cell$"),
        ({"by": [1.0, np.nan]}, {}, "row 2, counted from 1, is an empty cell$"),
        ({"by": np.array(["NaT", "2026-01-01"], dtype="datetime64[s]")}, {}, "row 1, counted from 1, is an empty"),
        ({"by": pd.array(["a", None], dtype="string")}, {}, "row 2, counted from 1, is an empty cell$"),
        ({"by": pd.array([None, 2], dtype="Int64")}, {}, "row 1, counted from 1, is an empty cell$"),
        ({"by": pl.Series(["a", None])}, {}, "row 2, counted from 1, is an empty cell$"),
        ({"by": ["a", "b" * (LONGEST_NAME + 1)]}, {}, "row 2, counted from 1, is 'b{80}…'$"),
        ({"by": np.array([b"a", b"b"])}, {}, "^names of series must be text or numbers: got a bytes$"),
        ({"by": pd.Series(["a", "b"]), "label": pd.Series([0, 1], index=[1, 0])}, {}, "have different indexes"),
    ],
)
def test_what_cannot_be_split(changed, options, sentence):
    with pytest.raises(ValueError, match=sentence):
        split({**GOOD, **changed}, **{"by": "by", **options})


def test_single_values_in_memory_are_left_out():
    for series in split({**GOOD, "t": 3, "version": 1.5}, by="by"):
        assert series.timestamps is None
        assert series.remarks == tuple(f"{name} is left out: it is a single value" for name in ("t", "version"))


def test_what_is_no_table(tmp_path):
    with pytest.raises(ValueError, match=r"^data must be columns by name, or a file: got list$"):
        split([1, 2], "by")
    with pytest.raises(FileNotFoundError):
        split(tmp_path / "no.csv", "by")


@every_kind
def test_bad_files(tmp_path, kind):
    path = tmp_path / f"long.{kind}"
    columns = ", ".join(TABLE)
    with pytest.raises(ValueError, match=f"long.{kind}: no column is called machine; there are {columns}$"):
        split(write(path, TABLE), "machine")
    write(path, {**TABLE, "host": np.where(TIMES == 7, "", NAMES)})
    with pytest.raises(ValueError, match=f"{kind}: column host must name .* row 8, counted from 1, is an empty cell"):
        split(path, "host")
    for wrong in ("label", "mine"):
        with pytest.raises(ValueError, match=f"{kind}: {wrong} names the series: it cannot be"):
            split(path, wrong, label="label", scores=["mine"])


def test_bad_text_files(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("by,by,label,mine\na,a,0,1\n")
    with pytest.raises(ValueError, match="two columns have the same name: by, by, label, mine"):
        split(path, "by")
    (tmp_path / "a.jsonl").write_text('{"by": ["a"], "label": 0, "mine": 1}')
    with pytest.raises(ValueError, match="names of series must be text or numbers: got a list"):
        split(tmp_path / "a.jsonl", "by")
    (tmp_path / "b.jsonl").write_text('{"by": null, "label": 0, "mine": 1}')
    with pytest.raises(ValueError, match="row 1, counted from 1, is an empty cell"):
        split(tmp_path / "b.jsonl", "by")


def test_bad_arrow_files(tmp_path):
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({"by": [["a"], ["b"]], "label": [0, 1], "mine": [1, 2]}), path)
    with pytest.raises(ValueError, match=r"column by must name the series .*, with text or numbers: it holds list<"):
        split(path, "by")
    twice = pa.Table.from_arrays([pa.array(["a"]), pa.array(["b"]), pa.array([0])], ["by", "by", "label"])
    feather.write_feather(twice, tmp_path / "a.feather")
    with pytest.raises(ValueError, match="two columns have the same name: by"):
        split(tmp_path / "a.feather", "by", scores=[])


def test_arrow_dictionaries_and_an_index_name_series(tmp_path):
    table = pa.table({"index": pa.array(["b", "a", "b"]).dictionary_encode(), "label": [0, 1, 0], "mine": [1, 2, 3]})
    parquet.write_table(table, tmp_path / "a.parquet")
    feather.write_feather(table, tmp_path / "a.feather")
    for name in ("a.parquet", "a.feather"):
        assert [series.name for series in split(tmp_path / name, "index")] == ["b", "a"]


# The fast way


@pytest.mark.parametrize("at_once", [50, 2**22])
@pytest.mark.parametrize("table", [TABLE, NUMBERED], ids=["text", "numbers"])
def test_large_files_take_the_fast_way(tmp_path, monkeypatch, at_once, table):
    monkeypatch.setattr(plain_text, "WORTH_IT", 0)
    monkeypatch.setattr(plain_text, "_CHUNK", at_once)
    monkeypatch.setattr(files, "_from_rows", None)
    for one, other in zip(split(write(tmp_path / "a.csv", table), "host"), expected(table), strict=True):
        same(one, other)


@pytest.mark.parametrize("cell", ["", " ", "b", " b ", "é", '"b"', "1", "1.0", "nan", "x" * 300, "b,c"])
def test_both_ways_read_the_same_series(tmp_path, cell):
    path = tmp_path / "odd.csv"
    path.write_text(f"host,label,mine\nb,0,1\n{cell},1,2\nc,0,3\nb,0,4\n", newline="", encoding="utf-8")
    assert difference(path, series="host") == ""


def test_splitting_reads_each_row_once():
    grouping = Grouping("by")
    grouping.add_encoded(["b", "a"], np.array([0, 1, 0]))
    grouping.add(["c", "b"])
    assert {name: rows.tolist() for name, rows in grouping.rows().items()} == {"b": [0, 2, 4], "a": [1], "c": [3]}


# On the command line


FEW = ("--metrics", "dqe", "--draws", "2")
NUMERIC = {"score": (), "compare": (), "explain": (), "near": (), "stress": FEW, "check": ()}


def without_inputs(path):
    return json.loads(path.read_text())["results"]


@pytest.mark.parametrize("command", NUMERIC)
@pytest.mark.unmeasured
def test_commands_say_the_same_of_a_long_table_and_of_files(call, tmp_path, command):
    write(tmp_path / "long.csv", TABLE)
    for name in ("web", "db 2", "zeta"):
        write(tmp_path / name, rows_of(TABLE, name))
    options = ("--format", "json", *NUMERIC[command])
    done = call(command, "long.csv", "--series", "host", *options, "-o", "long.json")
    assert done.code == call(command, "web", "db 2", "zeta", *options, "-o", "files.json").code
    assert without_inputs(tmp_path / "long.json") == without_inputs(tmp_path / "files.json")
    again = call("verify", "long.json", "long.csv")
    assert (again.code, again.err) == (0, "")
    assert again.out.startswith("The receipt holds")


@pytest.mark.parametrize(("command", "kind"), [("report", "html"), ("plot", "png")])
@pytest.mark.unmeasured
def test_a_page_and_a_figure_for_each_series(call, tmp_path, command, kind):
    write(tmp_path / "long.csv", TABLE)
    options = ["--format", "png"] if command == "plot" else []
    done = call(command, "long.csv", "--series", "host=web,zeta", "-o", "out", *options)
    assert (done.code, done.err.splitlines()[0]) == (0, "dqeval: wrote 2 files to out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [f"web.{kind}", f"zeta.{kind}"]
    assert call(command, "long.csv", "--series", "host=zeta", "-o", f"one.{kind}").code == 0


@every_kind
@pytest.mark.unmeasured
def test_every_kind_on_the_command_line_is_read_and_hashed_once(call, tmp_path, monkeypatch, kind):
    path = write(tmp_path / f"long.{kind}", TABLE)
    reads, hashes = [], []
    read, digest = files._content_of, hashlib.file_digest
    monkeypatch.setattr(files, "_content_of", lambda *given: reads.append(given) or read(*given))
    monkeypatch.setattr(hashlib, "file_digest", lambda *given: hashes.append(given) or digest(*given))
    done = call("score", path, "--series", "host", "--metrics", "dqe", "--format", "json")
    assert (done.code, len(reads)) == (0, 1)
    assert len(hashes) == (kind in ("npz", "parquet", "feather"))
    inputs = json.loads(done.out)["inputs"]
    sha256 = hashlib.sha256(path.read_bytes()).hexdigest()
    assert [(each["name"], each["series"], each["rows"], each["sha256"]) for each in inputs] == [
        ("web", "web", 2 * POINTS, sha256),
        ("db 2", "db 2", POINTS, sha256),
        ("zeta", "zeta", POINTS, sha256),
    ]
    assert inputs[0]["columns"] == {"label": "label", "value": "value", "scores": ["mine"], "series": "host"}


def test_a_column_of_numbers_is_no_detector(call, tmp_path):
    write(tmp_path / "long.csv", NUMBERED)
    shown = call("score", "long.csv", "--series", "host", "--metrics", "dqe")
    assert (shown.code, "host" in shown.out, "3 series" in shown.out) == (0, False, True)


@pytest.mark.unmeasured
def test_standard_input_is_split(call, tmp_path, monkeypatch):
    content = write(tmp_path / "long.csv", TABLE).read_bytes()

    def stream():
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        return "-"

    done = call("score", stream(), "--series", "host", "--metrics", "dqe", "--format", "json", "-o", "receipt.json")
    assert done.code == 0
    assert call("verify", "receipt.json", stream()).code == 0
    assert call("report", stream(), "--series", "host", "-o", "pages").code == 0
    assert sorted(path.stem for path in (tmp_path / "pages").iterdir()) == ["db 2", "web", "zeta"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--series", "machine"], "no column is called machine; there are host, timestamp, value, label, mine, note"),
        (["--series", "host=web,x"], "no series is called 'x'; there are web, db 2, zeta"),
        (["--series", "host="], "no series is called ''; there are web, db 2, zeta"),
        (["--series", "host", "--score", "no"], "no numeric column is called no; there are value, label, mine"),
        (["--series", "host", "--label", "host"], "host names the series: it cannot be the column of labels, values"),
        (["--series", "host", "--score", "mine,host"], "host names the series: it cannot be the column of labels"),
    ],
)
def test_what_is_wrong_is_said_once(call, tmp_path, options, sentence):
    write(tmp_path / "long.csv", TABLE)
    done = call("score", "long.csv", *options)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith(f"dqeval: long.csv: {sentence}")


def test_other_tables_and_other_series_go_on(call, tmp_path):
    write(tmp_path / "good.csv", TABLE)
    bad = {**TABLE, "label": np.where((NAMES == "zeta") & (TIMES == 7), 3, TABLE["label"])}
    write(tmp_path / "bad.csv", bad)
    write(tmp_path / "short.csv", {key: column for key, column in TABLE.items() if key != "host"})
    files_given = ("good.csv", "bad.csv", "short.csv", "missing.csv")
    done = call("score", *files_given, "--series", "host", "--metrics", "dqe", "--format", "json", "-o", "all.json")
    assert done.code == 2
    assert done.err.splitlines()[1:] == [
        "dqeval: zeta (2): y_true must contain only 0 and 1: 1 of 120 values is not (first at index 1: 3.0); "
        "1 marks an anomaly, 0 a normal point",
        "dqeval: short.csv: no column is called host; there are timestamp, value, label, mine, note",
        "dqeval: missing.csv: No such file or directory",
    ]
    names = [each["name"] for each in json.loads((tmp_path / "all.json").read_text())["inputs"]]
    assert names == ["web", "db 2", "zeta", "web (2)", "db 2 (2)"]
    assert call("verify", "all.json", "good.csv", "bad.csv").code == 0
    shown = call("check", "good.csv", "bad.csv", "--series", "host").out
    assert all(f"{file}: {name}:" in shown for file in ("good.csv", "bad.csv") for name in ("web", "db 2", "zeta"))


def test_the_series_of_a_folder(call, tmp_path):
    (tmp_path / "in").mkdir()
    write(tmp_path / "in" / "one.csv", TABLE)
    write(tmp_path / "in" / "two.parquet", NUMBERED)
    done = call("score", "in", "--series", "host", "--metrics", "dqe", "--format", "json", "-o", "all.json")
    assert (done.code, done.err) == (0, "dqeval: wrote all.json\n")
    write(tmp_path / "in" / "other.csv", {"label": TABLE["label"], "mine": TABLE["mine"]})
    assert call("verify", "all.json", "in").code == 0


def test_a_name_in_the_style_of_tsb_ad_must_be_right(call, tmp_path):
    table = {"host": np.repeat(["a_tr_1_1st_3", "b"], 8), "label": np.array([0, 0, 1, 0] * 4), "mine": TIMES[:16]}
    write(tmp_path / "a.csv", table)
    done = call("score", "a.csv", "--series", "host", "--metrics", "dqe")
    assert done.code == 2
    assert "dqeval: a.csv: a_tr_1_1st_3: the name of a_tr_1_1st_3 says that the first anomaly is at 3" in done.err


def test_tables_without_scores_are_one_sentence(call, tmp_path):
    write(tmp_path / "a.csv", {key: TABLE[key] for key in ("host", "value", "label")})
    done = call("score", "a.csv", "--series", "host")
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "web holds no scores" in done.err


# Receipts


@pytest.fixture
def long(tmp_path):
    return write(tmp_path / "long.csv", TABLE)


@pytest.fixture
def receipt(call, long):
    done = call("score", long, "--series", "host=web,zeta", "--metrics", "dqe", "--format", "json")
    return json.loads(done.out)


def change(receipt, **changed):
    return {**receipt, "inputs": [{**each, **changed} for each in receipt["inputs"]]}


def test_receipts_of_some_series_hold(receipt, long, tmp_path):
    assert [each["series"] for each in receipt["inputs"]] == ["web", "zeta"]
    assert verify(receipt, [long]).holds
    assert verify(receipt, [tmp_path]).holds


@pytest.mark.unmeasured
def test_no_change_of_what_a_receipt_says_of_series_goes_unnoticed(call, tmp_path):
    path = write(tmp_path / "long.csv", {key: column[:120] for key, column in TABLE.items()})
    options = ("--metrics", "dqe", "--near", "3", "--format", "json")
    found = json.loads(call("score", path, "--series", "host=web,zeta", *options).out)
    assert holds(found, path)
    tried = 0
    for place, value in leaves(found["inputs"]):
        others = [other for other in changes(value) if other != value or type(other) is not type(value)]
        edited = [changed(found, ("inputs", *place), other) for other in others]
        for content in (*edited, without(found, ("inputs", *place))):
            tried += 1
            assert not holds(content, path), place
    assert tried > 200


def test_series_of_a_receipt_cannot_be_exchanged(receipt, long):
    first, second = receipt["inputs"]
    exchanged = [{**first, "series": "zeta", "name": "zeta"}, {**second, "series": "web", "name": "web"}]
    assert not verify({**receipt, "inputs": exchanged}, [long]).holds


def test_no_series_of_a_receipt_can_be_swapped_for_another(call, long):
    """One that has the same number of rows, and no detector that would tell them apart in a check."""
    found = json.loads(call("check", long, "--series", "host=zeta", "--format", "json").out)
    for each in found["inputs"]:
        each["series"] = each["name"] = "db 2"
    assert not verify({**found, "results": {**found["results"], "series": "zeta"}}, [long]).holds


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"columns": {"label": "label", "value": None, "scores": [], "series": 3}}, "its inputs are not each a file"),
        ({"columns": {"label": "label", "value": None, "scores": [], "by": "host"}}, "its inputs are not each a file"),
        ({"series": 3}, "its inputs are not each a file"),
    ],
)
def test_what_no_command_writes(receipt, long, changed, sentence):
    with pytest.raises(ValueError, match=sentence):
        verify(change(receipt, **changed), [long])


def test_receipts_of_several_columns(receipt, long):
    first, second = receipt["inputs"]
    other = {key: column for key, column in second["columns"].items() if key != "series"}
    with pytest.raises(ValueError, match="its inputs are not split by the same column"):
        verify({**receipt, "inputs": [first, {**second, "columns": other}]}, [long])


def test_files_that_are_not_those_of_a_receipt(receipt, long, tmp_path):
    other = write(tmp_path / "other.csv", {key: column for key, column in TABLE.items() if key != "host"})
    with pytest.raises(ValueError, match=r"other\.csv: no column is called host"):
        verify(receipt, [other])
    made = "the receipt was made from 2 series of column host: give as many, in the same order, not "
    with pytest.raises(ValueError, match=f"{made}0"):
        verify(receipt, [long.rename(tmp_path / "moved.csv")])
    write(long, rows_of(TABLE, "web"))
    with pytest.raises(ValueError, match=f"{made}1"):
        verify(receipt, [long])


def test_all_commands_that_make_receipts_are_tried():
    assert set(NUMERIC) == set(COMMANDS)


def test_datasets_list_tells_of_each_series(call, tmp_path):
    write(tmp_path / "long.csv", TABLE)
    listed = json.loads(call("datasets", "list", "long.csv", "--series", "host", "--format", "json").out)["series"]
    assert [(row["series"], row["points"]) for row in listed] == [
        ("web", 2 * POINTS),
        ("db 2", POINTS),
        ("zeta", POINTS),
    ]
    for row, series in zip(listed, split(tmp_path / "long.csv", "host"), strict=True):
        assert row["events"] == len(dqeval.partition(series.labels, near=0).regions)
    some = json.loads(call("datasets", "list", "long.csv", "--series", "host=zeta,web", "--format", "json").out)[
        "series"
    ]
    assert [row["series"] for row in some] == ["web", "zeta"]
    assert "no column is called nope" in call("datasets", "list", "long.csv", "--series", "nope").err


@pytest.mark.unmeasured
def test_detect_writes_a_file_for_each_series(call, tmp_path):
    """The scores are those of a file of its own; dates stay as they are written."""
    dates = np.array([f"{np.datetime64('2026-01-01T00:00') + time}+02:00" for time in TIMES.astype("m8[m]")])
    table = {**TABLE, "timestamp": dates}
    write(tmp_path / "long.csv", table)
    write(tmp_path / "web.csv", {key: column for key, column in rows_of(table, "web").items() if key != "host"})
    assert call("detect", "long.csv", "--series", "host", "--detector", "sr", "-o", "split").code == 0
    assert call("detect", "web.csv", "--detector", "sr", "-o", "alone").code == 0
    assert len(list((tmp_path / "split").iterdir())) == 3
    assert (tmp_path / "split" / "web.csv").read_text() == (tmp_path / "alone" / "web.csv").read_text()
    assert "+02:00" in (tmp_path / "split" / "web.csv").read_text()
    named = ["--label", "label", "--value", "mine", "--detector", "sr"]
    assert call("detect", "long.csv", "--series", "host=web", *named, "-o", "named").code == 0
    write(tmp_path / "long.csv", {**TABLE, "label": TABLE["label"] * 2})
    done = call("detect", "long.csv", "--series", "host", "--detector", "sr", "-o", "wrong")
    assert "long.csv: web: the labels must be 0 and 1" in done.err


def test_plans_do_not_split_tables(tmp_path):
    plan = {"detector": [{"name": "sr"}], "metrics": ["dqe"], "data": [{"path": "long.csv", "series": "host"}]}
    with pytest.raises(ValueError, match=r"\[\[data\]\] has series, but a plan does not split tables: write a file"):
        dqeval.bench.run(plan, tmp_path / "run")


def test_times_of_a_part_are_as_they_are_written(tmp_path):
    dates = np.array([f"2026-01-01T{minute // 60:02}:{minute % 60:02}+02:00" for minute in range(len(TABLE["host"]))])
    write(tmp_path / "long.csv", {**TABLE, "timestamp": dates})
    part = TablePart(tmp_path / "long.csv", "table", "web", by="host")
    assert list(part.times()) == dates[TABLE["host"] == "web"].tolist()
