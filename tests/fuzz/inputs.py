"""Inputs, each from a number: tables that nearly hold together in every format, and the bytes of good ones changed."""

import gzip
import io
import json
import math
import random
import struct
import zipfile
from copy import deepcopy
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import pyarrow as pa
from pyarrow import parquet

NAMES = (
    *("label", "Label", "is_anomaly", "value", "Data", "value_0", "value_1", "timestamp", "time", "index", ""),
    *("mine", "a", "b", "a", " ", "$x_1$", "</script><script>", "=1+1", "a,b", 'a"b', "a\nb", "a|b", "%s{}"),
    *("\ufeff", "\x1b[2J", "ä", "日本", "🙂", "x" * 300, "label/data", "../up", "a.b", "CON", "__index_level_0__"),
    *(f"cpu{'1' * 40}x", f"{'cpu_' * 40}x", f"id{'_1' * 40}x", f"value_{'1' * 40}x"),
)
CELLS = (
    *("", " ", "nan", "NaN", "inf", "-inf", "1e308", "-1e308", "1.7e308", "1e309", "5e-324", "1e-310", "-0.0", "0"),
    *(
        "1",
        "2",
        "-1",
        "0.5",
        "1,5",
        "1;5",
        "true",
        "False",
        "None",
        "null",
        "x",
        "0x10",
        "1_000",
        "٣",
        "½",
        "1e",
        "--1",
    ),
    *("9" * 400, "9" * 5000, "x" * 200, "x" * 140_000, '"', '"1', "'1'", "\x00", "\x1b[2J", "\ufeff1", "1\n2", "🙂"),
    *("2020-01-01", "2020-01-01 00:00:00", "2020-01-01T00:00:00+14:00", "0001-01-01T00:00:00+14:00", "99999-01-01"),
)
OBJECTS = (
    *(None, True, False, 0, 1, 2, -1, 0.5, 1e308, -1e308, 5e-324, math.nan, math.inf, 10**30, -(10**400), "1", "x", ""),
    *([], [1], [[1, 2]], {}, {"a": 1}, "\ud800", "a\udfffb", "x" * 300),
)
DTYPES = ("f8", "f4", "f2", "g", "i8", "u8", "i1", "?", "c16", "U3", "S3", "M8[s]", "m8[ns]", "O", "V4", "U0", ">f8")
BYTES = (
    b"\x00",
    b"\x01",
    b"\x7f",
    b"\x80",
    b"\xff",
    b"\n",
    b"\r",
    b",",
    b'"',
    b"[",
    b"{",
    b"0",
    b"9",
    b"-",
    b"\xef\xbb\xbf",
)
WORDS = (b"\xff\xff\xff\x7f", b"\x00\x00\x00\x80", b"\xff\xff\xff\xff", b"\x00\x00\x00\x00", b"\x00\x00\x00\x01")


@dataclass(frozen=True)
class Input:
    """Files to write, by name, and what to call with the first of them."""

    kind: str
    files: dict[str, bytes] = field(default_factory=dict)


def good_columns(rng, n=None):
    """Return a table with which nothing is wrong."""
    n = n or rng.choice((2, 5, 40, 90))
    labels = [int(n // 3 <= t < n // 3 + max(1, n // 10)) for t in range(n)]
    columns = {"value": [math.sin(t / 3) for t in range(n)], "label": labels}
    for name in ("mine", "other")[: rng.choice((1, 1, 2))]:
        columns[name] = [rng.random() + labels[t] * rng.random() for t in range(n)]
    if rng.random() < 0.2:
        columns = {"timestamp": [f"2020-01-01 {t // 60:02}:{t % 60:02}:00" for t in range(n)], **columns}
    return columns


def odd_columns(rng, cells):
    """Return a table with something wrong in it, as names beside cells: a name may come twice."""
    names, columns = (list(part) for part in zip(*good_columns(rng).items(), strict=True))
    columns = [list(column) for column in columns]
    for _ in range(rng.choice((0, 1, 1, 1, 2, 5))):
        change, i = rng.randrange(7), rng.randrange(len(names))
        if change == 0:
            names[i] = rng.choice(NAMES)
        elif change == 1 and len(names) > 1:
            del names[i], columns[i]
        elif change == 2:
            names.append(rng.choice(NAMES))
            columns.append([rng.choice(cells) for _ in columns[0]])
        elif change == 3:
            columns[i] = [rng.choice(cells)] * len(columns[i])
        elif change == 4:
            columns[i] = columns[i][: rng.randrange(3)]
        elif columns[i]:
            for _ in range(rng.choice((1, 1, 3))):
                columns[i][rng.randrange(len(columns[i]))] = rng.choice(cells)
    return names, columns


def as_text(rng, names, columns):
    separator, end = rng.choice(",,,;\t"), rng.choice(("\n", "\n", "\r\n", "\r", "\n\n"))
    lines = [separator.join(names), *(separator.join(map(str, row)) for row in _rows(columns))]
    return end.join(lines).encode("utf-8", "surrogatepass" if rng.random() < 0.1 else "replace")


def as_json_lines(rng, names, columns):
    lines = [json.dumps(dict(zip(names, row, strict=False))) for row in _rows(columns)]
    if lines and rng.random() < 0.1:
        lines[rng.randrange(len(lines))] = rng.choice(
            ("[1]", "{", "1", '{"label": ' + "[" * 100_000, "null", '{"a":1,"a":2}')
        )
    return "\n".join(lines).encode()


def _rows(columns):
    """Yield rows of columns that may be of different lengths."""
    longest = max(map(len, columns), default=0)
    return ([column[t] for column in columns if t < len(column)] for t in range(longest))


def as_npz(rng, names, columns):
    stream, odd = io.BytesIO(), rng.random() < 0.5
    packed = zipfile.ZIP_BZIP2 if rng.random() < 0.03 else rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    with zipfile.ZipFile(stream, "w", packed) as archive:
        for name, column in zip(names, columns, strict=True):
            if (found := f"{name}.npy".replace("\x00", "")) not in archive.namelist():
                data = npy(rng, column)
                archive.writestr(found, mutated(rng, data) if odd and rng.random() < 0.2 else data)
    return stream.getvalue()


def npy(rng, column):
    """Return an npy file: sometimes of an odd dtype or shape, sometimes with a header that lies."""
    try:
        array = np.array(column, dtype=rng.choice(DTYPES) if rng.random() < 0.2 else "f8")
    except (ValueError, TypeError, OverflowError):
        array = np.array(list(map(str, column)))
    array = rng.choice(
        (array,) * 8 + (array[:, None], array[None], array[:0], np.array(1.0), np.array(array, order="F"))
    )
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, version=(3, 0) if rng.random() < 0.05 else None)
    data = stream.getvalue()
    if rng.random() < 0.1:
        shape = rng.choice(
            (b"(10**9,)", b"(-1,)", b"(1000000000000,)", b"(2, 3)", b"()", b"'x'", b"(((((((", b"(True,)")
        )
        data = data.replace(str(array.shape).encode(), shape.ljust(len(str(array.shape))), 1)
    return data


def as_table(rng, names, columns):
    """Return an Arrow table with columns of many types."""
    length = max(map(len, columns), default=0)
    arrays = [_arrow(rng, [*column, *[None] * (length - len(column))]) for column in columns]
    return pa.Table.from_arrays(arrays, names=[name.replace("\x00", "") for name in names])


def _arrow(rng, column):
    try:
        array = pa.array(column, from_pandas=False)
    except (pa.ArrowException, OverflowError, UnicodeEncodeError):
        array = pa.array([str(cell).encode("utf-8", "replace").decode() for cell in column])
    if rng.random() < 0.85:
        return array
    n = len(array)
    makes = (
        array.dictionary_encode,
        lambda: pa.array([[t] for t in range(n)]),
        lambda: pa.nulls(n),
        lambda: pa.UnionArray.from_sparse(pa.array(np.zeros(n, dtype="i1")), [array]),
        lambda: pa.array([{"a": t} for t in range(n)], type=pa.struct({"a": pa.int64()})),
        lambda: pa.array(range(n)).cast(pa.decimal128(30, 2)),
        lambda: pa.array(range(n), type=pa.timestamp("ns", "UTC")),
        lambda: pa.array(range(n), type=pa.date32()),
        lambda: pa.array(range(n), type=pa.duration("s")),
        lambda: pa.array([b"\xff"] * n),
        lambda: pa.array([t % 2 == 0 or None for t in range(n)], type=pa.bool_()),
        lambda: pa.array(np.arange(n, dtype="f2")),
        lambda: pa.array(["2020-01-01"] * n).dictionary_encode(),
        lambda: pa.RunEndEncodedArray.from_arrays(pa.array([max(n, 1)], pa.int32()), pa.array([1.0])),
    )
    try:
        made = rng.choice(makes)()
        return made if len(made) == n else array
    except pa.ArrowException:
        return array


def as_feather(rng, names, columns):
    table, stream = as_table(rng, names, columns), io.BytesIO()
    options = pa.ipc.IpcWriteOptions(compression=rng.choice((None, "lz4", "zstd")))
    with pa.ipc.new_file(stream, table.schema, options=options) as writer:
        writer.write_table(table, max_chunksize=rng.choice((None, 16)))
    return stream.getvalue()


def as_parquet(rng, names, columns):
    table, stream = as_table(rng, names, columns), io.BytesIO()
    options = {
        "compression": rng.choice(("NONE", "snappy", "zstd", "gzip")),
        "use_dictionary": rng.random() < 0.5,
        "row_group_size": rng.choice((None, 16)),
        "data_page_version": rng.choice(("1.0", "2.0")),
    }
    try:
        parquet.write_table(table, stream, **options)
    except (pa.ArrowException, ValueError):
        stream = io.BytesIO()
        parquet.write_table(pa.table({"label": [0, 1, 0], "mine": [0.1, 0.2, 0.3]}), stream)
    return stream.getvalue()


WRITERS = {
    "a.csv": (as_text, CELLS),
    "a.jsonl": (as_json_lines, OBJECTS),
    "a.npz": (as_npz, (*(cell for cell in CELLS if len(cell) < 200), 0, 1, 0.5, 1e308)),
    "a.feather": (as_feather, OBJECTS),
    "a.parquet": (as_parquet, OBJECTS),
}
ARROW = ("a.feather", "a.parquet")
GOOD_FILES = 40


def mutated(rng, data):
    """Return bytes with some changed, taken out, put in, or copied from elsewhere; more of them near the end."""
    data = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        i = rng.randrange(len(data) + 1)
        if rng.random() < 0.4:
            i = max(0, len(data) - 1 - int(rng.random() ** 3 * 1500))
        change = rng.randrange(8)
        if change < 2 and i < len(data):
            data[i] ^= 1 << rng.randrange(8)
        elif change == 2:
            data[i : i + 1] = rng.choice(BYTES)
        elif change == 3:
            data[i : i + 4] = rng.choice(WORDS)
        elif change == 4:
            data[i : i + 8] = rng.choice((rng.randbytes(8), struct.pack("<q", rng.choice((2**40, 2**62, -1, 10**9)))))
        elif change == 5:
            del data[i : i + rng.choice((1, 2, 8, 100))]
        elif change == 6:
            data[i:i] = rng.choice(BYTES) * rng.choice((1, 2, 8, 1000))
        else:
            j = rng.randrange(len(data) + 1)
            data[i : i + 16] = data[j : j + 16]
    return bytes(data)


@cache
def good_file(name, number):
    """Return one of some files of a kind with which nothing, or not much, is wrong."""
    rng = random.Random(number)
    good = good_columns(rng)
    return WRITERS[name][0](rng, list(good), list(good.values()))


def table_file(rng, name):
    """Return a file of one kind: odd, or a good one with changed bytes."""
    writer, cells = WRITERS[name]
    if rng.random() < 0.5:
        data = writer(rng, *odd_columns(rng, cells))
    else:
        data = mutated(rng, good_file(name, rng.randrange(GOOD_FILES)))
    if name in ("a.csv", "a.jsonl") and rng.random() < 0.2:
        data = gzip.compress(data, 1)
        data = mutated(rng, data) if rng.random() < 0.7 else data
        name = f"{name}.gz"
    return Input(name, {name: data})


def archive_file(rng):
    """Return a series in the format of an archive, changed."""
    good = good_columns(rng, 40)
    good.pop("timestamp", None)
    times = [f"2020-01-01 00:{t:02}:00" for t in range(40)]
    kind = rng.choice(("pack.npz", "x_10_20_25.txt", "1_A_tr_9_1st_13.csv", "timeeval.csv", "easytsad", "nab"))
    values, labels = good["value"], good["label"]
    if kind == "pack.npz":
        names, columns = ["s/data", "s/label"], [values, labels]
        data = mutated(rng, as_npz(rng, names, columns)) if rng.random() < 0.5 else as_npz(rng, names, columns)
        return Input("list pack", {kind: data})
    if kind == "x_10_20_25.txt":
        return Input("list ucr", {kind: mutated(rng, "\n".join(map(str, values)).encode())})
    if kind == "1_A_tr_9_1st_13.csv":
        return Input("list tsb_ad", {kind: mutated(rng, as_text(rng, ["Data", "Label"], [values, labels]))})
    if kind == "timeeval.csv":
        columns = ["timestamp", "value", "is_anomaly"], [times, values, labels]
        return Input("list timeeval", {kind: mutated(rng, as_text(rng, *columns))})
    if kind == "nab":
        windows = json.dumps({"real/x.csv": [[times[5], times[9]]]}).encode()
        if rng.random() < 0.5:
            windows = mutated(rng, windows)
        table = mutated(rng, as_text(rng, ["timestamp", "value"], [times, values]))
        return Input("list nab", {"nab/real/x.csv": table, "nab/labels/combined_windows.json": windows})
    parts = {"train": values, "train_label": labels, "test": values, "test_label": labels}
    if rng.random() < 0.3:
        parts |= {"train_timestamp": times, "test_timestamp": range(40)}
    odd = rng.choice(list(parts))
    files = {f"easy/{name}.npy": npy(rng, part) for name, part in parts.items()}
    files[f"easy/{odd}.npy"] = mutated(rng, files[f"easy/{odd}.npy"])
    return Input("list easytsad", files)


def changed_json(rng, content, times=1):
    """Return a copy of nested lists and dictionaries in which something was replaced, taken out or put in."""
    content = json.loads(json.dumps(content))
    for _ in range(times):
        place = content
        while isinstance(place, (dict, list)) and place:
            key = rng.choice(list(place) if isinstance(place, dict) else range(len(place)))
            if rng.random() < 0.4 or not isinstance(place[key], (dict, list)) or not place[key]:
                if rng.random() < 0.3:
                    del place[key]
                else:
                    chosen = rng.choice((*OBJECTS, *place.values()) if isinstance(place, dict) else OBJECTS)
                    place[key] = deepcopy(chosen)  # or one part would hold itself after another change
                break
            place = place[key]
    return content
