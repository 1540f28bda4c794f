"""The formats of public archives, and plain tables: a function each, in the order in which they are tried.

A new one is a function under ``@series_format(…)``, which `dqeval.datasets.loading` explains, above `table`; see
docs/datasets.md. A new kind of file with columns, such as a spreadsheet, is an ending in `TABLES` and a case in
``_content_of`` of `dqeval.datasets.files`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dqeval.core.times import parse_times
from dqeval.core.types import FloatArray, Series
from dqeval.core.zones import as_fields, zone_told
from dqeval.datasets.arrays import npy_array, npz_arrays, npz_names
from dqeval.datasets.columns import LABEL_NAMES, NUMBERED_VALUE, TSB_AD_NAME, find_roles, read_table, train_stop_of
from dqeval.datasets.files import IGNORED_NAMES, VALUE_NAMES, Columns, column_names, read_with_times
from dqeval.datasets.guard import shorten
from dqeval.datasets.loading import series_format, stem

CSV = (".csv", ".csv.gz")
# In words in `table` below, in FILES_HELP of dqeval.cli.options, which must not wait for this module, and in the docs.
TABLES = (*CSV, ".tsv", ".tsv.gz", ".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz", ".npz", ".parquet", ".feather")
UCR_NAME = re.compile(r"_(\d+)_(\d+)_(\d+)$")
NAB_WINDOWS = Path("labels", "combined_windows.json")
_LONGEST = 80  # of what an error quotes
_NUMERIC = "biuf"


def _header(path: Path) -> list[str]:
    return [name.lower() for name in column_names(path)]


def _has_scores(names: Sequence[str]) -> bool:
    """Tell whether columns are a value and scores beside it: several columns of values are not called so."""
    others = [name for name in names if name not in (*VALUE_NAMES, *IGNORED_NAMES, *LABEL_NAMES)]
    return not set(VALUE_NAMES).isdisjoint(names) and any(not NUMBERED_VALUE.fullmatch(name) for name in others)


@series_format(
    label="EasyTSAD",
    example="a folder with train.npy, train_label.npy, test.npy and test_label.npy",
    endings=(),
    recognises=lambda path: (path / "train.npy").exists(),
)
def easytsad(path: Path, name: str) -> Series:
    """One folder a series: its training part and its test part, each with labels and, if there are any, timestamps."""
    parts = [_easytsad_part(path, part) for part in ("train", "test")]
    values, labels = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    times = [path / f"{part}_timestamp.npy" for part in ("train", "test")]
    return Series(
        name,
        labels,
        {},
        values,
        train_stop=len(parts[0][0]),
        timestamps=_joined_times(times) if all(file.exists() for file in times) else None,
    )


def _easytsad_part(path: Path, part: str) -> tuple[NDArray[Any], NDArray[Any]]:
    values, labels = _numeric(path / f"{part}.npy"), _numeric(path / f"{part}_label.npy")
    if len(values) != len(labels):
        raise ValueError(f"{part}_label.npy must be as long as {part}.npy: got {len(labels):,} and {len(values):,}")
    return values, labels


def _numeric(path: Path) -> NDArray[Any]:
    array = npy_array(path)
    if array.dtype.kind not in _NUMERIC:
        raise ValueError(f"{path.name} must hold numbers: its dtype is {array.dtype}")
    return array


def _joined_times(files: list[Path]) -> NDArray[Any]:
    times = [npy_array(file) for file in files]
    kinds = [time.dtype.kind for time in times]
    if len(set(kinds)) > 1:
        raise ValueError(f"the timestamps of both parts must be of one kind: got {times[0].dtype} and {times[1].dtype}")
    return np.concatenate(times)


@series_format(
    label="UCR archive",
    example="004_UCR_Anomaly_BIDMC1_2500_5400_5600.txt",
    endings=(".txt",),
    recognises=lambda path: True,
    named=UCR_NAME,
)
def ucr(path: Path, name: str) -> Series:
    """Numbers separated by blanks or lines; the name ends with the end of the training part and the anomaly's range."""
    coded = UCR_NAME.search(name)
    if coded is None:
        raise ValueError("the name must end with the end of training, and the anomaly's first and last point")
    train_stop, first, last = map(int, coded.groups())
    values = _numbers(path.read_text(encoding="utf-8-sig").split())
    if not train_stop <= first <= last < len(values):
        raise ValueError(
            f"the name says that training ends at {train_stop} and the anomaly is from {first} to {last}: "
            f"that cannot be in {len(values):,} points"
        )
    labels = np.zeros(len(values), dtype=np.bool_)
    labels[first : last + 1] = True  # the archive counts the last point in
    return Series(name, labels, {}, values, train_stop=train_stop)


def _numbers(words: list[str]) -> FloatArray:
    try:
        return np.array(words, dtype=np.float64)
    except ValueError as error:
        # The word may be the whole file, where something else separates the numbers.
        said = shorten(str(error), _LONGEST)
        raise ValueError(f"there must be numbers, separated by blanks or lines: {said}") from None


def _is_tsb_ad(names: list[str]) -> bool:
    # Label is last; what dqeval detect writes has scores after it, and is a table.
    return names[-1:] == ["label"] and not _has_scores(names)


@series_format(
    label="TSB-AD",
    example="094_WSD_id_66_WebService_tr_3309_1st_3914.csv, columns Data and Label",
    endings=CSV,
    recognises=lambda path: bool(TSB_AD_NAME.search(stem(path))) and _is_tsb_ad(_header(path)),
)
def tsb_ad(path: Path, name: str) -> Series:
    """Columns of values, then Label; the name ends with the end of the training part and the first anomaly."""
    columns, times = read_with_times(path)
    return _beside_label(columns, times, name)


def _is_timeeval(path: Path) -> bool:
    names = _header(path)
    return len(names) > 2 and (names[0], names[-1]) == ("timestamp", "is_anomaly") and not _has_scores(names)


@series_format(
    label="TimeEval",
    example="a CSV file with columns timestamp, values, is_anomaly",
    endings=CSV,
    recognises=_is_timeeval,
)
def timeeval(path: Path, name: str) -> Series:
    """Columns timestamp, one or several of values, is_anomaly."""
    columns, times = read_with_times(path)
    return _beside_label(columns, times, name)


@series_format(
    label="NAB",
    example="a CSV file with columns timestamp, value, below a folder with labels/combined_windows.json",
    endings=CSV,
    recognises=lambda path: _header(path) == ["timestamp", "value"],
    files=lambda path: [path, *_nab_labels(path)],
)
def nab(path: Path, name: str) -> Series:
    """Columns timestamp and value; the windows of anomalies, both ends included, are in a JSON file above."""
    columns, times = read_with_times(path)
    if times is None or list(columns) != ["value"]:
        raise ValueError(f"the columns must be timestamp and value: got {', '.join(columns)}")
    moments = _moments(times)
    labels = np.zeros(len(moments), dtype=np.bool_)
    for start, stop in _nab_windows(path.resolve()):
        first, last = (_moment(str(time)) for time in (start, stop))
        inside = (first <= moments) & (moments <= last)
        if not inside.any():
            raise ValueError(
                f"{NAB_WINDOWS} has an anomaly from {start} to {stop}: that cannot be in points from {times[0]} to "
                f"{times[-1]}"
            )
        labels |= inside
    return Series(name, labels, {}, columns["value"], timestamps=moments, **as_fields(zone_told(times)))


def _moments(times: NDArray[Any]) -> NDArray[Any]:
    """Return times as moments, in universal time if they have a zone: all together if they can be, or each alone."""
    found = parse_times(times)
    return found if found.dtype.kind == "M" else np.array([_moment(str(time)) for time in times])


def _moment(text: str) -> np.datetime64:
    (found,) = parse_times(np.array([text]))
    if not isinstance(found, np.datetime64):
        raise ValueError(f"{shorten(text, _LONGEST)} is not a time, such as 2014-04-01 14:30:00")
    return found


def _nab_labels(path: Path) -> list[Path]:
    """Return the file with the labels of all series in a folder above, if there is one: the nearest."""
    return [folder / NAB_WINDOWS for folder in path.resolve().parents if (folder / NAB_WINDOWS).exists()][:1]


def _nab_windows(path: Path) -> list[tuple[str, str]]:
    if not (found := _nab_labels(path)):
        raise ValueError(f"there are no labels: no column of them, and no {NAB_WINDOWS} in a folder above")
    (file,) = found
    key = "/".join(path.parts[-2:])
    try:
        return [(start, stop) for start, stop in json.loads(file.read_text(encoding="utf-8"))[key]]
    except KeyError:
        raise ValueError(f"{file} has no entry {key}") from None
    except (ValueError, TypeError, RecursionError):
        raise ValueError(f"{file} must be a JSON object with pairs of start and end for each file") from None


def _pack_members(path: Path) -> dict[str, set[str]]:
    """Return the arrays of each series in an npz file whose arrays are called NAME/ARRAY; none if it is no npz file."""
    found: dict[str, set[str]] = {}
    for member in npz_names(path):
        name, _, array = member.rpartition("/")
        found.setdefault(name, set()).add(array)
    return found


def _is_pack(path: Path) -> bool:
    members = _pack_members(path)
    return bool(members) and all(name and arrays >= {"data", "label"} for name, arrays in members.items())


@series_format(
    label="npz pack",
    example="an npz file with arrays NAME/data and NAME/label for each series, and maybe more of scores",
    endings=(".npz",),
    recognises=_is_pack,
    names=lambda path: sorted(_pack_members(path)),
)
def pack(path: Path, name: str) -> Series:
    """Many series in one npz file, as arrays NAME/data, NAME/label, others of scores; names may end as in TSB-AD."""
    columns = {key.removeprefix(f"{name}/"): array for key, array in npz_arrays(path, name).items()}
    if not columns.keys() >= {"data", "label"}:
        raise ValueError(f"there must be arrays {name}/data and {name}/label")
    values, labels = columns.pop("data"), columns.pop("label")
    fits = {key: array.dtype.kind in _NUMERIC and array.shape == labels.shape for key, array in columns.items()}
    scores = {key: columns[key] for key, is_score in fits.items() if is_score}
    left = [f"{shorten(key)} is left out: it has no number for each point" for key in columns if not fits[key]]
    return Series(name, labels, scores, values, train_stop=train_stop_of(name, labels), remarks=tuple(left))


@series_format(
    label="table",
    example="a CSV, TSV, JSON lines, npz, Parquet or Feather file with columns label, value and one per detector",
    endings=TABLES,
    recognises=lambda path: True,
)
def table(path: Path, name: str, *, label: str | None = None, value: str | None = None) -> Series:
    """Named columns: label, value (or value_0, value_1, …), timestamp, and any other one a detector's scores."""
    return read_table(path, name, label=label, value=value)


def _beside_label(columns: Columns, times: NDArray[Any] | None, name: str) -> Series:
    """Return the series of columns that are all values, but for the labels."""
    label = find_roles(columns).label
    values = [column for key, column in columns.items() if key != label]
    if not values:
        raise ValueError("there must be a numeric column of values beside the labels")
    labels = columns[label]
    return Series(name, labels, {}, np.column_stack(values), train_stop=train_stop_of(name, labels), timestamps=times)
