"""Columns from Parquet and Feather files, read by pyarrow, which is shown only columns that it can make numbers of."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from dqeval.core.zones import Zone, has_zone, zone_told
from dqeval.datasets.grouping import unknown_column
from dqeval.datasets.guard import RefusedError, check_size, damage, shorten, size_of
from dqeval.support import extras

if TYPE_CHECKING:
    import pyarrow as pa

_FEATHER, _OLD_FEATHER = b"ARROW1", b"FEA1"
_STREAM = 8  # where the stream of batches begins in a Feather file
_NUMBER = 8  # bytes

Array = NDArray[Any]
Choose = Callable[["pa.Schema"], list[str]]
Named = Callable[[str], bool]  # tells something of a column by its name


def arrow_arrays(
    path: Path, kind: str, ignored: Named, times: Named, series: str | None = None
) -> tuple[dict[str, Array], Zone]:
    """Return the columns of numbers in a file but for those to be ignored, the first one of times, and that of series.

    And the time zone of dates among the times; None where there are none, or they are text. Which columns are
    to be ignored, and which are of times, is told by their names. Anything else is left out before pyarrow touches it:
    on damaged or unusual columns it may end the process.
    """
    zones: list[Zone] = []

    def chosen(schema: pa.Schema) -> list[str]:
        names = _chosen(schema, ignored, times, series)
        fields = (schema.field(name) for name in names if times(name))
        zones.extend(has_zone(field) and zone_told(field) for field in fields if hasattr(field.type, "tz"))
        return names

    arrays = _read(path, kind, chosen)
    return arrays, zones[0] if zones else None


def named_arrays(
    path: Path, kind: str, names: Collection[str]
) -> tuple[dict[str, Array], dict[str, str], dict[str, bool]]:
    """Return columns of numbers, times, durations or text by their names in small letters, and the time zones of some.

    And the names of all other columns, each with whether it holds times. Of a column that is asked for and holds
    anything else, an error tells.
    """
    zones: dict[str, str] = {}
    others: dict[str, bool] = {}

    def chosen(schema: pa.Schema) -> list[str]:
        fields = [field for field in schema if field.name.lower() in names]
        if twice := [name for name, count in Counter(field.name.lower() for field in fields).items() if count > 1]:
            raise RefusedError(f"two columns have the same name: {twice[0]}")
        for field in fields:
            if not _is_plain(field.type):
                what = shorten(str(field.type))
                raise RefusedError(f"column {field.name} must hold times, numbers or text: it holds {what}")
        zones.update({field.name.lower(): str(zone_told(field)) for field in fields if has_zone(field)})
        others.update((field.name, _is_date(field.type)) for field in schema if field not in fields)
        return [field.name for field in fields]

    return {name.lower(): column for name, column in _read(path, kind, chosen).items()}, zones, others


def plain_arrays(path: Path, kind: str) -> dict[str, Array]:
    """Return all columns of numbers, times, durations or text."""
    return _read(path, kind, lambda schema: [field.name for field in schema if _is_plain(field.type)])


def _read(path: Path, kind: str, chosen: Choose) -> dict[str, Array]:
    try:
        import pyarrow
        from pyarrow import parquet  # noqa: F401
    except ImportError:
        raise ValueError(f"{kind} files need pyarrow: {extras.install('files')}") from None

    reads = _feather if kind == ".feather" else _parquet
    with path.open("rb") as file, damage(f"a {kind} file"):
        return {name: _values(column, pyarrow) for name, column in reads(file, chosen)}


def _chosen(schema: pa.Schema, ignored: Named, times: Named, series: str | None) -> list[str]:
    """Return the names of the columns to read."""
    numbers = [field.name for field in schema if _is_number(field.type) and not ignored(field.name)]
    time = [field.name for field in schema if times(field.name) and _is_time(field.type)][:1]
    names = [*numbers, *time, *([] if series is None else [series])]
    count = Counter(schema.names)
    if twice := [name for name in names if count[name] > 1]:
        raise RefusedError(f"two columns have the same name: {twice[0]}")
    if series is not None:
        _check_names_series(schema, series)
    return names


def _check_names_series(schema: pa.Schema, series: str) -> None:
    """Check that there is a column, and that pyarrow can make names of it."""
    if series not in schema.names:
        raise RefusedError(str(unknown_column(series, schema.names)))
    if not _is_time(kind := schema.field(series).type):
        raise RefusedError(f"column {series} must name the series of each row, with text or numbers: it holds {kind}")


def _is_number(kind: pa.DataType) -> bool:
    from pyarrow import types

    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))


def _is_time(kind: pa.DataType) -> bool:
    from pyarrow import types

    plain = kind.value_type if types.is_dictionary(kind) else kind
    return _is_number(kind) or _is_date(kind) or _is_text(plain)


def _is_date(kind: pa.DataType) -> bool:
    from pyarrow import types

    return bool(types.is_timestamp(kind) or types.is_date(kind))


def _is_plain(kind: pa.DataType) -> bool:
    from pyarrow import types

    return bool(_is_time(kind) or types.is_duration(kind))


def _is_text(kind: pa.DataType) -> bool:
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind))


def _parquet(file: BinaryIO, chosen: Choose) -> Iterator[tuple[str, pa.ChunkedArray]]:
    from pyarrow.parquet import ParquetFile

    about = ParquetFile(file, pre_buffer=False)
    schema, names = about.schema_arrow, chosen(about.schema_arrow)
    rows = sum(about.metadata.row_group(i).num_rows for i in range(about.num_row_groups))
    check_size(rows * _NUMBER * len(names), size_of(file))
    # Text is repeated for each row otherwise, however often it is the same.
    texts = [name for name in names if _is_text(schema.field(name).type)]
    content = ParquetFile(file, pre_buffer=False, read_dictionary=texts)
    for name in names:
        # One column at a time: the table and its copy as arrays would be twice the memory. And in this thread:
        # others may still be running when the process ends, which aborts it.
        yield name, content.read(columns=[name], use_threads=False).column(name)


def _feather(file: BinaryIO, chosen: Choose) -> Iterator[tuple[str, pa.ChunkedArray]]:
    """Read a Feather file as the stream of batches that is in it, not by its table of contents."""
    from pyarrow import ipc

    start = file.read(len(_FEATHER))
    if start.startswith(_OLD_FEATHER):
        raise RefusedError("this is a Feather file of the old version 1: write it again as version 2, or as Parquet")
    if start != _FEATHER:
        raise RefusedError("this is not a Feather file")
    file.seek(_STREAM)
    schema = ipc.open_stream(file).schema
    names = chosen(schema)
    if not names:
        return
    file.seek(_STREAM)
    check_size(sum(_needed(message, len(names)) for message in ipc.MessageReader.open_stream(file)), size_of(file))
    file.seek(_STREAM)
    options = ipc.IpcReadOptions(use_threads=False, included_fields=[schema.get_field_index(name) for name in names])
    table = ipc.open_stream(file, options=options).read_all()
    yield from zip(table.column_names, table.columns, strict=True)


def _needed(message: Any, columns: int) -> int:
    """Return how many bytes a message takes: its buffers unpacked, and so many columns as numbers."""
    place = {"record batch": _batch_in_message, "dictionary": _batch_in_dictionary}.get(message.type)
    if place is None:
        return 0
    told, body = message.metadata.to_pybytes(), memoryview(message.body)
    batch = place(told)
    rows = _long(told, _field(told, batch, 0))
    return rows * _NUMBER * columns + sum(_unpacked(told, batch, body))


def _unpacked(told: bytes, batch: int, body: memoryview) -> Iterator[int]:
    """Yield the size of each packed buffer, which stands before it."""
    if not _field(told, batch, 3):
        return
    buffers = _follow(told, _field(told, batch, 2))
    (count,) = struct.unpack_from("<I", told, buffers)
    for offset, length in struct.iter_unpack("<qq", told[buffers + 4 : buffers + 4 + 16 * count]):
        if length:
            yield max(0, *struct.unpack_from("<q", body, offset))


# A message is told in a flatbuffer: a table begins with the distance back to the places of its fields.


def _batch_in_message(told: bytes) -> int:
    return _follow(told, _field(told, _follow(told, 0), 2))


def _batch_in_dictionary(told: bytes) -> int:
    return _follow(told, _field(told, _batch_in_message(told), 1))


def _field(told: bytes, table: int, number: int) -> int:
    """Return where a field of a table is; 0 if it has none."""
    places = table - struct.unpack_from("<i", told, table)[0]
    (size,) = struct.unpack_from("<H", told, places)
    at = 4 + 2 * number
    offset = struct.unpack_from("<H", told, places + at)[0] if at < size else 0
    return table + offset if offset else 0


def _follow(told: bytes, place: int) -> int:
    return place + int(struct.unpack_from("<I", told, place)[0])


def _long(told: bytes, place: int) -> int:
    return int(struct.unpack_from("<q", told, place)[0]) if place else 0


def _values(column: pa.ChunkedArray, pyarrow: Any) -> Array:
    """Return a column as an array; missing numbers are NaN."""
    column.validate(full=True)
    if pyarrow.types.is_dictionary(column.type):
        return np.concatenate([_decoded(chunk) for chunk in column.chunks] or [np.zeros(0)])
    if pyarrow.types.is_boolean(column.type) and column.null_count:
        column = column.cast(pyarrow.uint8())
    array: Array = column.to_numpy()
    return array


def _decoded(chunk: pa.DictionaryArray) -> Array:
    """Return the texts of a column that points to each of them by number; None where there is none."""
    texts = np.array([*chunk.dictionary.to_pylist(), None], dtype=object)
    found: Array = texts[chunk.indices.cast("int64").fill_null(len(texts) - 1).to_numpy()]
    return found
