"""Receipts: numbers with all that they were made from, so that anyone can make them again and compare."""

from __future__ import annotations

import hashlib
import io
import math
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

import numpy as np

from dqeval import kernels
from dqeval.check import Checked, check
from dqeval.compare import compare
from dqeval.datasets.columns import Roles, find_roles, series_of
from dqeval.datasets.files import name_of, read_numbers, read_with_times
from dqeval.explain import explain
from dqeval.explanation import Explanation
from dqeval.scoring import Progress, near_of, score
from dqeval.tables import Page, counted
from dqeval.types import Series

TOLERANCE = 1e-9
MOST_DIFFERENCES = 10


class Shown(Protocol):
    """A result in all the forms in which it is shown."""

    def page(self) -> Page:
        """Return it for people."""
        ...

    def records(self) -> list[dict[str, Any]]:
        """Return it as flat rows."""
        ...

    def numbers(self) -> dict[str, Any]:
        """Return all of it, ready for JSON but for NaN."""
        ...


@dataclass(frozen=True, slots=True)
class Input:
    """A file that was read.

    Attributes
    ----------
    file : str
        As it was given.
    sha256 : str
        Of its bytes.
    bytes, rows : int
    roles : Roles
        Which of its columns is which.
    series : Series
    """

    file: str
    sha256: str
    bytes: int
    rows: int
    roles: Roles
    series: Series

    def record(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """Return what a receipt says of the file; with the near range, where the parameters tell of one."""
        return {
            "name": self.series.name,
            "file": self.file,
            "sha256": self.sha256,
            "bytes": self.bytes,
            "rows": self.rows,
            "columns": asdict(self.roles),
            **self._near(parameters),
        }

    def _near(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        if "near" not in parameters:
            return {}
        try:
            near = near_of(self.series, near=parameters["near"], period=parameters["period"], undefined="nan")
        except ValueError as error:
            raise ValueError(f"{self.series.name}: {error}") from error
        return {"near": near.points, "near_from": near.source}


@dataclass(frozen=True, slots=True)
class Explanations:
    """The explanations of several detectors, one after the other."""

    items: tuple[Explanation, ...]

    def page(self) -> Page:
        """Return the explanations as paragraphs."""
        return Page([part for item in self.items for part in item.page().parts])

    def records(self) -> list[dict[str, Any]]:
        """Return one row a detector and event."""
        return [record for item in self.items for record in item.records()]

    def numbers(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {item.name: item.numbers() for item in self.items}


@dataclass(frozen=True, slots=True)
class Verification:
    """What came of making the numbers of a receipt again.

    Attributes
    ----------
    failures : tuple of str
        What is not as the receipt has it, in sentences; empty if the receipt holds.
    notes : tuple of str
        What else is different, such as a version.
    compared : int
        How many numbers and words were compared.
    """

    failures: tuple[str, ...]
    notes: tuple[str, ...]
    compared: int

    @property
    def holds(self) -> bool:
        """Whether the inputs and the numbers are those of the receipt."""
        return not self.failures

    def page(self) -> Page:
        """Return the findings as paragraphs."""
        compared = counted(self.compared, "value")
        verdict = f"The receipt holds: same input, same numbers ({compared} compared)."
        if self.failures:
            verdict = f"The receipt does not hold ({compared} compared)."
        lines = [f"- {sentence}" for sentence in (*self.failures, *self.notes)]
        return Page([verdict, *(["\n".join(lines)] if lines else [])])

    def records(self) -> list[dict[str, Any]]:
        """Return one row a finding."""
        failures = [{"kind": "failure", "finding": sentence} for sentence in self.failures]
        return [*failures, *({"kind": "note", "finding": sentence} for sentence in self.notes)]

    def numbers(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {"holds": self.holds, **asdict(self)}


class HashingReader(io.RawIOBase):
    """A stream that hashes what is read from another one, for input that cannot be read twice."""

    def __init__(self, source: BinaryIO, progress: Callable[[int], None]) -> None:
        self._source, self._progress = source, progress
        self._hash = hashlib.sha256()
        self.count = 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer, and hash what came."""
        data = self._source.read(len(buffer))
        buffer[: len(data)] = data
        self._hash.update(data)
        self.count += len(data)
        self._progress(self.count)
        return len(data)

    @property
    def sha256(self) -> str:
        """The hash of what was read."""
        return self._hash.hexdigest()


def read_input(
    path: Path,
    *,
    name: str,
    label: str | None = None,
    value: str | None = None,
    scores: Sequence[str] | None = None,
    times: bool = False,
    progress: Progress | None = None,
) -> Input:
    """Read a series from a file, with the hash of its bytes.

    Parameters
    ----------
    path : Path
        See `read_columns`.
    name : str
        What the series is called.
    label, value, scores
        See `read_columns`.
    times : bool, default False
        Whether to keep the timestamps, which take more memory than the numbers.
    progress : callable, optional
        Called with the number of bytes read, and that of all, where it is known.

    Returns
    -------
    Input
    """
    watched: list[HashingReader] = []
    size = path.stat().st_size if path.is_file() else 0

    def watch(stream: BinaryIO) -> BinaryIO:
        watched.append(HashingReader(stream, lambda count: progress(count, size) if progress and size else None))
        return cast(BinaryIO, watched[0])

    try:
        columns, found = read_with_times(path, watch=watch) if times else (read_numbers(path, watch=watch), None)
        roles = find_roles(columns, label=label, value=value, scores=scores)
    except ValueError as error:
        raise ValueError(f"{name_of(path)}: {error}") from None
    series = series_of(columns, label=roles.label, value=roles.value, scores=roles.scores, name=name)
    series = replace(series, timestamps=found)
    sha256, read = (watched[0].sha256, watched[0].count) if watched else _hashed(path)
    return Input(str(path), sha256, read, len(series.labels), roles, series)


def compute(
    command: str, series: Iterable[Series], parameters: Mapping[str, Any], *, progress: Progress | None = None
) -> Shown:
    """Do what a command of the command line does.

    Parameters
    ----------
    command : "score", "compare", "explain" or "check"
    series : iterable of Series
        One, but for "score".
    parameters : mapping
        The keyword parameters of the function behind the command.
    progress : callable, optional
        Called with the number of steps done, and that of all; by "score" anew for each series.

    Returns
    -------
    Scoring, Comparison, Explanations or Checked
    """
    if command == "score":
        return score(series, **parameters, progress=progress)
    (only,) = series
    try:
        if command == "compare":
            return compare(only, **parameters, progress=progress)
        if command == "explain":
            return Explanations(tuple(_explained(only, progress, **parameters)))
    except ValueError as error:
        raise type(error)(f"{only.name}: {error}") from error
    if command == "check":
        return Checked(only.name, tuple(check(only)))
    raise KeyError(command)


def receipt(
    command: str, inputs: Sequence[Mapping[str, Any]], parameters: Mapping[str, Any], result: Shown
) -> dict[str, Any]:
    """Return a receipt: strict JSON, in which what is not a finite number is null.

    Parameters
    ----------
    command : "score", "compare", "explain" or "check"
    inputs : sequence of mapping
        The records of the inputs.
    parameters : mapping
        Those that `compute` took.
    result : Scoring, Comparison, Explanations or Checked

    Returns
    -------
    dict
    """
    found: dict[str, Any] = jsonable(
        {
            "command": command,
            **_versions(),
            "inputs": inputs,
            "parameters": parameters,
            "results": result.numbers(),
        }
    )
    return found


def verify(receipt: Any, files: Sequence[Path], *, progress: Progress | None = None) -> Verification:
    """Make the numbers of a receipt again, and compare.

    Parameters
    ----------
    receipt : dict
        As read from JSON.
    files : sequence of Path
        The inputs, in the order of the receipt.
    progress : callable, optional
        See `read_input` and `compute`.

    Returns
    -------
    Verification
        It holds if the inputs are the same, byte for byte, and all numbers within 1e-9.
    """
    try:
        inputs = _read_again(receipt, files, progress)
        again = compute(receipt["command"], [i.series for i in inputs], receipt["parameters"], progress=progress)
        changed = [_changed(now, then) for now, then in zip(inputs, receipt["inputs"], strict=True)]
        pairs = list(_pairs("", receipt["results"], jsonable(again.numbers())))
        notes = list(_version_notes(receipt))
    except (KeyError, TypeError) as error:
        raise ValueError("this is not a receipt that can be verified, such as dqeval score writes as JSON") from error
    differences = [
        f"{where} was {_said(then)} and is {_said(now)}." for where, then, now in pairs if not _same(then, now)
    ]
    if len(differences) > MOST_DIFFERENCES:
        differences[MOST_DIFFERENCES:] = [f"More differences: {len(differences) - MOST_DIFFERENCES:,}."]
    return Verification((*filter(None, changed), *differences), tuple(notes), len(pairs))


def jsonable(value: Any) -> Any:
    """Return a value as strict JSON holds it: arrays as lists, numbers that are not finite as None."""
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(item) for item in value]
    if isinstance(value, (np.generic, np.ndarray)):
        return jsonable(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _explained(
    series: Series, progress: Progress | None, *, near: float | None, period: float | None
) -> Iterator[Explanation]:
    found = near_of(series, near=near, period=period)
    for i, (name, scores) in enumerate(series.scores.items(), start=1):
        try:
            yield explain(series.labels, scores, near=found.points, name=name)
        except ValueError as error:
            raise type(error)(f"column {name}: {error}") from error
        if progress is not None:
            progress(i, len(series.scores))


def _read_again(receipt: Mapping[str, Any], files: Sequence[Path], progress: Progress | None) -> list[Input]:
    if len(files) != len(receipt["inputs"]):
        made = counted(len(receipt["inputs"]), "file")
        raise ValueError(f"the receipt was made from {made}: give as many, in the same order, not {len(files)}")
    return [
        read_input(path, name=given["name"], **given["columns"], progress=progress)
        for path, given in zip(files, receipt["inputs"], strict=True)
    ]


def _changed(now: Input, then: Mapping[str, Any]) -> str:
    if now.sha256 == then["sha256"]:
        return ""
    return f"{now.file} is not the file of the receipt: its SHA-256 is {now.sha256}, not {then['sha256']}."


def _hashed(path: Path) -> tuple[str, int]:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest(), file.tell()


def _pairs(where: str, then: Any, now: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield every single value of either, with its place; what only one of them has is beside None."""
    if isinstance(then, dict) and isinstance(now, dict):
        for key in {**then, **now}:
            yield from _pairs(f"{where}.{key}" if where else key, then.get(key), now.get(key))
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        for i, (a, b) in enumerate(zip(then, now, strict=True)):
            yield from _pairs(f"{where}[{i}]", a, b)
    else:
        yield where, then, now


def _same(then: Any, now: Any) -> bool:
    if isinstance(then, (int, float)) and isinstance(now, (int, float)):
        return math.isclose(then, now, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return bool(then == now)


def _said(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return f"{len(value)} long"
    return "undefined" if value is None else str(value)


def _version_notes(receipt: Mapping[str, Any]) -> Iterator[str]:
    for place, then, now in _pairs("", {key: receipt[key] for key in _versions()}, _versions()):
        if then != now:
            yield f"{place.removeprefix('versions.')} was {then} and is {now}."


def _versions() -> dict[str, Any]:
    from dqeval import __version__

    return {
        "dqeval": __version__,
        "versions": {"python": platform.python_version(), "numpy": np.__version__},
        "kernels": "compiled" if kernels.compiled else "interpreted",
    }
