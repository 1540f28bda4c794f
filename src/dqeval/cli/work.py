"""From files to a result that is shown: what the commands that compute numbers have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dqeval.cli.options import Format
from dqeval.cli.output import emit, progress

if TYPE_CHECKING:
    from dqeval.receipts import Input, Shown
    from dqeval.types import Evaluation, Series


@dataclass(frozen=True, slots=True)
class Chosen:
    """The columns that were asked for."""

    label: str | None
    value: str | None
    scores: Sequence[str] | None

    def read(self, path: Path, name: str) -> Input:
        """Read a file."""
        from dqeval.receipts import read_input

        return read_input(path, name=name, label=self.label, value=self.value, scores=self.scores)


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

    records: list[dict[str, Any]] = []

    def series() -> Iterator[Series]:
        for path, name in zip(files, series_names(files), strict=True):
            read = columns.read(path, name)
            records.append(read.record(parameters))
            yield read.series

    with progress(command) as tell:
        # Of several files, all count the same: there are as many steps for each as for the current one.
        result = compute(
            command,
            series(),
            parameters,
            progress=lambda done, steps: tell((len(records) - 1) * steps + done, len(files) * steps),
        )
    emit(result, form, output, lambda: receipt(command, records, parameters, result))
    return result


def read_scorable(
    file: Path, columns: Chosen, near: float | None, period: float | None
) -> tuple[Series, dict[str, Evaluation]]:
    """Read a series that can be scored, and score it with DQE; an error says which file it is about."""
    from dqeval.scoring import panels

    (name,) = series_names([file])
    series = columns.read(file, name).series
    try:
        return series, panels(series, metrics=["dqe"], near=near, period=period)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def series_names(files: Sequence[Path]) -> list[str]:
    """Return what to call the series: by their files' names, or the whole paths of those with the same name."""
    names = [file.name if str(file) != "-" else "standard input" for file in files]
    count = Counter(names)
    return [name if count[name] == 1 else str(file) for name, file in zip(names, files, strict=True)]
