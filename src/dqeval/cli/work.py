"""From files to a result that is shown: what the commands that compute numbers have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dqeval.cli.options import Format
from dqeval.cli.output import Tell, emit, progress

if TYPE_CHECKING:
    from dqeval.receipts import Input, Shown
    from dqeval.types import Series


@dataclass(frozen=True, slots=True)
class Chosen:
    """The columns that were asked for."""

    label: str | None
    value: str | None
    scores: Sequence[str] | None

    def read(self, path: Path, name: str, tell: Tell, *, times: bool = False) -> Input:
        """Read a file."""
        from dqeval.receipts import read_input

        return read_input(
            path, name=name, label=self.label, value=self.value, scores=self.scores, times=times, progress=tell
        )

    def read_only(self, path: Path, tell: Tell) -> Series:
        """Read the series of a single file, with its timestamps."""
        (name,) = series_names([path])
        return self.read(path, name, tell, times=True).series


def show(
    command: str,
    files: Sequence[Path],
    columns: Chosen,
    parameters: Mapping[str, Any],
    *,
    form: Format,
    output: Path | None,
) -> Shown:
    """Read the files, do what the command does, show it, and return it."""
    from dqeval.receipts import compute, receipt

    spare(files, output)
    records: list[dict[str, Any]] = []

    # Of several files, all count the same, and reading one as much as the work on it.
    def reading(done: int, total: int) -> None:
        tell(2 * len(records) * total + done, 2 * len(files) * total)

    def working(done: int, total: int) -> None:
        tell((2 * len(records) - 1) * total + done, 2 * len(files) * total)

    def series() -> Iterator[Series]:
        for path, name in zip(files, series_names(files), strict=True):
            read = columns.read(path, name, reading)
            records.append(read.record(parameters))
            yield read.series

    with progress(command) as tell:
        result = compute(command, series(), parameters, progress=working)
    emit(result, form, output, lambda: receipt(command, records, parameters, result))
    return result


def spare(files: Sequence[Path], output: Path | None) -> None:
    """Refuse to write over a file that is read."""
    for file in files:
        if output is not None and output.exists() and file.exists() and output.samefile(file):
            raise ValueError(f"-o {output} would overwrite the input; name another file")


@contextmanager
def about(name: str) -> Iterator[None]:
    """Have errors say which series they are about."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def series_names(files: Sequence[Path]) -> list[str]:
    """Return what to call the series: by their files' names, with as many folders as tell those of one name apart."""
    counts = Counter(tail for file in set(files) for tail in _tails(file))
    return [next((tail for tail in _tails(file) if counts[tail] == 1), _tails(file)[-1]) for file in files]


def _tails(file: Path) -> list[str]:
    """Return the name of a file, then with its folder, and so on."""
    if str(file) == "-":
        return ["standard input"]
    names = file.relative_to(file.anchor).parts
    return ["/".join(names[i:]) for i in reversed(range(len(names)))] or [str(file)]
