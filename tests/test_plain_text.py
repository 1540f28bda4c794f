"""Large text files are read by pyarrow, and nobody can tell: the same numbers, bit by bit, and the same errors."""

import gzip
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dqeval.datasets import door, files, plain_text
from fuzz.texts import difference, read

ODD_CELLS = (
    *(
        "",
        " ",
        " 1",
        "2\t",
        "+1",
        "-0",
        "00",
        "1_000",
        "1,5",
        "0x10",
        "1e5",
        "1E+05",
        "1e",
        ".5",
        "5.",
        ".",
        "-",
        "1.2.3",
    ),
    *("nan", "-nan", "NaN", "nan(12)", "inf", "-Infinity", "1e400", "1e-400", "4.9e-324", "2.5e-324", "9" * 400),
    *(
        "NA",
        "null",
        "None",
        "true",
        "False",
        "1d5",
        "1f",
        "0b1",
        "1 2",
        '"1"',
        '1"',
        "'1'",
        "#1",
        "1\x1c",
        "1\x00",
        "१",
        "é",
    ),
    *("2020-01-01 00:00:00", "12:00", "x" * 65, "1\r", "\ufeff1", "0." + "1" * 800, "9007199254740993", "1e23"),
)
NUMBERS = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-1, 1).map(lambda x: f"{x:.4g}"),
    st.integers(-(10**25), 10**25).map(str),
    st.from_regex(r"-?[0-9]{0,25}\.?[0-9]{0,25}([eE][-+]?[0-9]{1,3})?", fullmatch=True),
)
NAMES = ("label", "value", "mine", "other", "timestamp", "t", "text", "", "index", '"quoted"', "é", "label")


@st.composite
def tables(draw):
    """Return the bytes of a text file, mostly plain with something odd in it, and how much is read at once."""
    names = draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=4))
    rows = draw(st.lists(st.lists(NUMBERS, min_size=len(names), max_size=len(names)), min_size=1, max_size=8))
    for _ in range(draw(st.sampled_from((0, 0, 1, 2)))):
        draw(st.sampled_from(rows))[draw(st.integers(0, len(names) - 1))] = draw(st.sampled_from(ODD_CELLS))
    if draw(st.integers(0, 9)) == 0:
        draw(st.sampled_from(rows)).append("1")
    end = draw(st.sampled_from(("\n", "\n", "\r\n", "\n\n", "\r", "\r\r\n")))
    separator = draw(st.sampled_from(",,;\t"))
    text = end.join(map(separator.join, (names, *rows))) + draw(st.sampled_from(("", end)))
    data = draw(st.sampled_from(("", "", "\ufeff", "\n"))).encode() + text.encode()
    return gzip.compress(data, 1) if draw(st.integers(0, 9)) == 0 else data, draw(st.sampled_from((2**22, 100, 30)))


@given(tables())
@example((b"label,mine\r1,2\n3,4\n", 2**22))
@example((b"label,mine\n1,\xff\n", 2**22))
@example((b"label\n", 2**22))
@example((b"", 2**22))
def test_pyarrow_reads_the_same(tmp_path_factory, table):
    data, at_once = table
    path = tmp_path_factory.getbasetemp() / "both.csv"
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_text, "_CHUNK", at_once)
        assert difference(path) == ""


@given(st.lists(NUMBERS, min_size=1, max_size=50))
@pytest.mark.unmeasured
def test_the_same_numbers_to_the_last_bit(tmp_path_factory, cells):
    path = tmp_path_factory.getbasetemp() / "numbers.csv"
    path.write_text("value\n" + "\n".join(cells))
    assert difference(path) == ""


@pytest.mark.parametrize("cell", ODD_CELLS)
@pytest.mark.parametrize("name", ["mine", "value", "t", "text"])
@pytest.mark.unmeasured(but=["t-xxx"])
def test_odd_cells(tmp_path, cell, name):
    path = tmp_path / "odd.csv"
    path.write_text(f"label,{name},last\n0,1,1\n1,{cell},2\n0,3,3\n", newline="", encoding="utf-8")
    assert difference(path) == ""


@pytest.fixture
def only_fast(monkeypatch):
    """Take the slow way away, and let every size be worth the fast one."""
    monkeypatch.setattr(plain_text, "WORTH_IT", 0)
    monkeypatch.setattr(files, "_from_rows", None)


PLAIN = {
    "plain.csv": b"label,mine\n0,0.1\n1,2e3\n",
    "returns.csv": b"label,mine\r\n0,0.1\r\n1,2e3\r\n",
    "no_end.csv": b"label,mine\n0,0.1\n1,2e3",
    "empty_lines.csv": b"label,mine\n0,0.1\n\n1,2e3\n\n",
    "mark.csv": b"\xef\xbb\xbflabel,mine\n0,0.1\n1,2e3\n",
    "blanks.csv": b"label, mine \n0, 0.1\n1,2e3 \n",
    "tabs.tsv": b"label\tmine\n0\t0.1\n1\t2e3\n",
    "semicolons.csv": b"label;mine\n0;0.1\n1;2e3\n",
    "quoted_name.csv": b'"label",mine\n0,0.1\n1,2e3\n',
    "text.csv": b"label,text,mine\n0,one,0.1\n1,nan,2e3\n",
    "two_without_a_name.csv": b"label,,mine,\n0,x,0.1,\n1,y,2e3,\n",
    "packed.csv.gz": gzip.compress(b"label,mine\n0,0.1\n1,2e3\n"),
}


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("at_once", [5, 2**22])
@pytest.mark.unmeasured
def test_plain_tables_take_the_fast_way(tmp_path, only_fast, monkeypatch, name, at_once):
    monkeypatch.setattr(plain_text, "_CHUNK", at_once)
    (tmp_path / name).write_bytes(PLAIN[name])
    columns, _ = files.read_with_times(tmp_path / name)
    assert {key: column.tolist() for key, column in columns.items()} == {"label": [0, 1], "mine": [0.1, 2000]}


@pytest.mark.parametrize("times", [["12:00", "12:01"], ["9", "10"], ["", ""], ["a", "b" * 64]])
def test_times_take_the_fast_way(tmp_path, only_fast, times):
    path = tmp_path / "times.csv"
    path.write_text(f"t,label\n{times[0]},0\n{times[1]},1\n")
    columns, found = files.read_with_times(path)
    assert (list(columns), found.tolist()) == (["label"], times)
    assert found.dtype == np.array(times).dtype


def test_long_lines_are_not_plain(tmp_path):
    """The csv module takes no cell of more than 131,072 characters."""
    path = tmp_path / "long.csv"
    for length in (10, 70_000, 140_000):
        path.write_text(f"label,text\n0,a\n1,{'b' * length}\n0,c\n")
        assert difference(path) == ""
    assert "field larger than field limit" in read(path, fast=True)


def test_small_files_are_not_worth_it(tmp_path):
    path = tmp_path / "size.csv"
    path.write_bytes(b" " * plain_text.WORTH_IT)
    assert plain_text.is_worth_it(path)
    path.write_bytes(b" " * (plain_text.WORTH_IT - 1))
    assert not plain_text.is_worth_it(path)
    assert not plain_text.is_worth_it(tmp_path)


def test_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setattr(plain_text, "WORTH_IT", 0)
    path = tmp_path / "plain.csv"
    path.write_bytes(PLAIN["plain.csv"])
    assert files.read_with_times(path)[0]["mine"].tolist() == [0.1, 2000]


@pytest.mark.parametrize("last", ["1,0.5", "1,nan"])
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.slow
@pytest.mark.unmeasured
def test_each_byte_is_seen_once(tmp_path, monkeypatch, last, pack):
    """A file that turns out odd in its last row is read again, but not hashed or counted again."""
    path = tmp_path / "seen.csv"
    path.write_bytes(pack(("value,label,mine\n" + "1,0,0.25\n" * 50_000 + f"2,{last}\n").encode()))
    found = {}
    for worth_it in (0, 2**40):
        monkeypatch.setattr(plain_text, "WORTH_IT", worth_it)
        steps = []
        (entry,) = door.entries([path])
        read = entry.read(name="seen", progress=lambda done, total, steps=steps: steps.append((done, total)))
        assert steps[-1] == (path.stat().st_size, path.stat().st_size)
        assert steps == sorted(steps)
        found[worth_it] = (read.record(), read.series.scores["mine"].tobytes())
    assert found[0] == found[2**40]


def test_a_limit_holds_for_what_is_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr(plain_text, "WORTH_IT", 0)
    monkeypatch.setenv("DQEVAL_MAX_BYTES", "1000")
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"label,mine\n" + b"0,1\n" * 100_000))
    with pytest.raises(ValueError, match="it unpacks to more than that"):
        files.read_with_times(path)


@pytest.mark.slow
@pytest.mark.unmeasured
def test_the_process_ends_well(tmp_path):
    path = tmp_path / "large.csv"
    path.write_bytes(b"label,mine\n" + b"0,0.123456789\n" * 300_000)
    code = "import sys; from pathlib import Path; from dqeval.datasets.files import read_with_times;"
    code += "print(len(read_with_times(Path(sys.argv[1]))[0]['mine']), 'pyarrow.csv' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("300000 True\n", "")
