"""Series from files of every kind."""

import gzip
import io
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

import dqeval
from dqeval.datasets import files

GOOD_FILES = {
    "plain": "value,label,mine\n1,0,0.5\n2,1,0.9\n",
    "capitals, Windows lines, a mark at the start": "\ufeffData,Label,mine\r\n1,0,0.5\r\n2,1,0.9\r\n",
    "quotes and blank lines": '\n"value","label","mine"\n\n"1","0","0.5"\n"2","1","0.9"\n\n',
    "semicolons": "value;label;mine\n1;0;0.5\n2;1;0.9\n",
    "tabs": "value\tlabel\tmine\n1\t0\t0.5\n2\t1\t0.9\n",
    "labels as words": "value,label,mine\n1,False,0.5\n2,TRUE,0.9\n",
    "an index, a time and a remark": ",timestamp,remark,value,label,mine\n0,17,a,1,0,0.5\n1,18,,2,1,0.9\n",
}


@pytest.mark.parametrize("text", GOOD_FILES.values(), ids=GOOD_FILES)
def test_forms_of_files(tmp_path, text):
    path = tmp_path / "series.csv"
    path.write_text(text, encoding="utf-8", newline="")
    series = dqeval.datasets.read_columns(path)
    assert (series.name, list(series.scores)) == ("series", ["mine"])
    assert series.values.tolist() == [1, 2]
    assert series.labels.tolist() == [0, 1]
    assert series.scores["mine"].tolist() == [0.5, 0.9]


COLUMNS = {"value": [1.0, 2.0, 3.0], "label": [0, 1, 0], "mine": [0.5, 0.9, 0.1], "remark": ["a", "b", "c"]}


def write_json_lines(path, opened=open):
    with opened(path, "wt") as file:
        for row in zip(*COLUMNS.values(), strict=True):
            file.write(json.dumps(dict(zip(COLUMNS, row, strict=True))) + "\n")


def write_text(path, separator=",", opened=open):
    with opened(path, "wt") as file:
        for row in (COLUMNS, *zip(*COLUMNS.values(), strict=True)):
            file.write(separator.join(map(str, row)) + "\n")


KINDS = {
    "a.csv": write_text,
    "a.tsv": lambda path: write_text(path, "\t"),
    "a.csv.gz": lambda path: write_text(path, opened=gzip.open),
    "a.jsonl": write_json_lines,
    "a.ndjson.gz": lambda path: write_json_lines(path, gzip.open),
    "a.npz": lambda path: np.savez(path, **{name: np.array(column) for name, column in COLUMNS.items()}),
    "a.parquet": lambda path: parquet.write_table(pa.table(COLUMNS), path),
    "a.feather": lambda path: feather.write_feather(pa.table(COLUMNS), path),
}


@pytest.mark.parametrize("name", KINDS)
def test_kinds_of_files(tmp_path, name):
    KINDS[name](tmp_path / name)
    series = dqeval.datasets.read_columns(tmp_path / name)
    assert series.name == "a"
    assert series.values.tolist() == COLUMNS["value"]
    assert series.labels.tolist() == COLUMNS["label"]
    assert {name: scores.tolist() for name, scores in series.scores.items()} == {"mine": COLUMNS["mine"]}


def test_chosen_columns(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,truth,one,two,three\n7,0,1,2,3\n8,1,4,5,6\n")
    series = dqeval.datasets.read_columns(path, label="truth", value="x", scores=["three", "one"])
    assert series.labels.tolist() == [0, 1]
    assert series.values.tolist() == [7, 8]
    assert {name: scores.tolist() for name, scores in series.scores.items()} == {"three": [3, 6], "one": [1, 4]}
    with pytest.raises(ValueError, match="no numeric column is called four; there are x, truth, one, two, three"):
        dqeval.datasets.read_columns(path, label="truth", scores=["four"])
    with pytest.raises(ValueError, match="no numeric column is called y"):
        dqeval.datasets.read_columns(path, label="y")


def test_long_files_are_read_in_batches(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_ROWS_AT_ONCE", 7)
    path = tmp_path / "a.csv"
    rows = [f"{t % 2},{t / 100}" for t in range(100)]
    path.write_text("label,mine\n" + "\n".join(rows))
    assert dqeval.datasets.read_columns(path).scores["mine"].tolist() == [t / 100 for t in range(100)]
    rows[50] = "1,"
    path.write_text("label,mine\n" + "\n".join(rows))
    with pytest.raises(ValueError, match="row 51 below the header is an empty cell"):
        dqeval.datasets.read_columns(path)
    rows[50] = "1"
    path.write_text("label,mine\n" + "\n".join(rows))
    with pytest.raises(ValueError, match="row 51 below the header has 1 cells"):
        dqeval.datasets.read_columns(path)


BAD = {
    "a.jsonl": (
        lambda path: path.write_text('{"label": 1, "mine": 2}\n{"label": 1}\n'),
        "row 2 has the keys label, and the",
    ),
    "b.jsonl": (lambda path: path.write_text("[1]\n"), "row 1 is not a JSON object"),
    "c.jsonl": (lambda path: path.write_text("{"), "Expecting property name"),
    "d.jsonl": (lambda path: path.write_text('{"label": null, "mine": 2}\n'), "column label must hold numbers: row 1"),
    "a.npz": (
        lambda path: np.savez(path, label=[1, 0], mine=[1]),
        "the columns must have the same length: got label 2, mine 1",
    ),
    "b.npz": (
        lambda path: np.savez(path, label=[[1, 0]]),
        r"column label must be one-dimensional: its shape is \(1, 2\)",
    ),
    "c.npz": (lambda path: path.write_bytes(b""), "not an npz file, which numpy.savez writes"),
    "d.npz": (lambda path: path.write_text("label,mine\n"), "not an npz file"),
    "c.csv": (lambda path: path.write_text("label;mine\n1;0,5\n"), "column mine has a decimal comma in '0,5'"),
    "b.csv.gz": (lambda path: path.write_bytes(gzip.compress(b"label,mine\n1,2\n")[:-9]), "ended before the end"),
    "a.csv": (lambda path: path.write_bytes(b""), "the file is empty: it needs a line that names the columns"),
    "a.parquet": (lambda path: path.write_bytes(b""), "Parquet file size is 0 bytes"),
    "b.parquet": (lambda path: path.mkdir(), "this is a directory; give a file"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files(tmp_path, name):
    write, message = BAD[name]
    write(tmp_path / name)
    with pytest.raises(ValueError, match=rf"{name}: .*{message}"):
        dqeval.datasets.read_columns(tmp_path / name)


@pytest.mark.parametrize("name", [*KINDS, "-.csv"])
def test_missing_files(tmp_path, name):
    with pytest.raises(FileNotFoundError) as caught:
        dqeval.datasets.read_columns(tmp_path / name)
    assert caught.value.filename in (tmp_path / name, str(tmp_path / name))


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ValueError, match=r"\.parquet files need pyarrow: pip install 'pyarrow>=17'"):
        dqeval.datasets.read_columns(tmp_path / "a.parquet")


@pytest.mark.parametrize("form", [dict, pd.DataFrame])
def test_columns_in_memory(form):
    series = dqeval.datasets.series_of(form(COLUMNS), name="mine")
    assert series.name == "mine"
    assert series.values.tolist() == COLUMNS["value"]
    assert series.labels.tolist() == COLUMNS["label"]
    assert {name: scores.tolist() for name, scores in series.scores.items()} == {"mine": COLUMNS["mine"]}
    with pytest.raises(ValueError, match="no numeric column is called remark; there are value, label, mine"):
        dqeval.datasets.series_of(form(COLUMNS), scores=["remark"])


def test_columns_in_memory_that_cannot_be():
    with pytest.raises(ValueError, match=r"the columns must have the same length: got label 2, mine 3"):
        dqeval.datasets.series_of({"label": [0, 1], "mine": [1, 2, 3]})
    with pytest.raises(ValueError, match="no column of scores"):
        dqeval.datasets.series_of({"label": [0, 1]})


def test_columns_of_other_names_without_scores(tmp_path):
    (tmp_path / "a.csv").write_text("cpu,bad\n1,0\n2,1\n")
    for scores in (None, []):
        series = dqeval.datasets.read_columns(tmp_path / "a.csv", label="bad", value="cpu", scores=scores)
        assert (series.values.tolist(), series.labels.tolist(), series.scores) == ([1, 2], [0, 1], {})
    series = dqeval.datasets.series_of({"load": [1, 2], "label": [0, 1], "other": [3, 4]}, scores=[])
    assert (series.values, series.scores) == (None, {})
    with pytest.raises(ValueError, match=r"a\.csv: no numeric column is called label or is_anomaly"):
        dqeval.datasets.read_columns(tmp_path / "a.csv", value="cpu")
    with pytest.raises(ValueError, match="there are cpu, bad; rename the one that holds the labels, or name it"):
        dqeval.datasets.read_columns(tmp_path / "a.csv", value="cpu")
    with pytest.raises(ValueError, match="no column of scores"):
        dqeval.datasets.series_of({"label": [0, 1], "value": [1, 2]})


def test_standard_input_stays_open(monkeypatch):
    source = io.BytesIO(b"\xef\xbb\xbflabel,mine\r\n0,1\r\n1,2\r\n")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(source))
    assert dqeval.datasets.read_columns("-").scores["mine"].tolist() == [1, 2]
    assert not source.closed
