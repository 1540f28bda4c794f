"""Receipts: numbers with all that they were made from, so that anyone can make them again and compare."""

from __future__ import annotations

import hashlib
import io
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Protocol, cast

import numpy as np

from dqeval.analysis.check import Checked, check
from dqeval.analysis.compare import compare
from dqeval.analysis.explain import explain
from dqeval.analysis.explain_result import Explanation
from dqeval.analysis.score import Progress, near_of, score
from dqeval.analysis.several import Explanations, Result, Several
from dqeval.core.registry import separated
from dqeval.core.types import Series
from dqeval.core.validate import UndefinedError
from dqeval.datasets.columns import Roles, find_roles, series_of
from dqeval.datasets.files import name_of, read_numbers, read_with_times
from dqeval.render.tables import Page, one_line
from dqeval.support.naming import distinct
from dqeval.support.versions import made_with


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
        Its name. The folder is nobody's business, and another one for whoever verifies.
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
        See `read_columns`. Columns of scores may also be given together, separated by commas.
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
        named = None if scores is None else separated(scores, columns)
        roles = find_roles(columns, label=label, value=value, scores=named)
    except ValueError as error:
        raise ValueError(f"{name_of(path)}: {error}") from None
    series = series_of(columns, label=roles.label, value=roles.value, scores=roles.scores, name=name)
    series = replace(series, timestamps=found)
    sha256, read = (watched[0].sha256, watched[0].count) if watched else _hashed(path)
    return Input(path.name, sha256, read, len(series.labels), roles, series)


def compute(
    command: str, series: Iterable[Series], parameters: Mapping[str, Any], *, progress: Progress | None = None
) -> Shown:
    """Do what a command of the command line does.

    Parameters
    ----------
    command : "score", "compare", "explain" or "check"
    series : iterable of Series
        At least one.
    parameters : mapping
        The keyword parameters of the function behind the command.
    progress : callable, optional
        Called with the number of steps done, and that of all; anew for each series.

    Returns
    -------
    Scoring; or Comparison, Explanations or Checked, and several of them if there are several series
    """
    if command == "score":
        return score(series, **parameters, progress=progress)
    found: list[tuple[str, Result]] = []
    undefined: dict[str, UndefinedError] = {}
    for one in series:
        try:
            found.append((one.name, _computed(command, one, parameters, progress)))
        except UndefinedError as error:
            undefined[one.name] = error
    if not found:
        raise next(iter(undefined.values()))
    return found[0][1] if len(found) == 1 and not undefined else Several(tuple(found), tuple(undefined))


def _computed(command: str, series: Series, parameters: Mapping[str, Any], progress: Progress | None) -> Result:
    try:
        if command == "compare":
            return compare(series, **parameters, progress=progress)
        if command == "explain":
            return Explanations(tuple(_explained(series, progress, **parameters)))
    except ValueError as error:
        raise type(error)(f"{series.name}: {error}") from error
    if command == "check":
        return Checked(series.name, tuple(check(series)))
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
    result : Scoring, Comparison, Explanations, Checked or Several

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


def names_in_receipt(files: Sequence[str]) -> list[str]:
    """Return what a receipt calls the series: as their files, with numbers where several are called the same.

    Folders tell nothing to whoever verifies, and cannot be verified.
    """
    return distinct([one_line(name_of(Path(file))) for file in files], "{} ({})")


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


def _hashed(path: Path) -> tuple[str, int]:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest(), file.tell()


def _versions() -> dict[str, Any]:
    found = made_with()
    return {
        "dqeval": found["dqeval"],
        "versions": {name: found[name] for name in ("python", "numpy")},
        "kernels": found["kernels"],
    }
