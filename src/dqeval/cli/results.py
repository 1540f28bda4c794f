"""From files to a result that is shown: what the commands that compute numbers have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from dqeval.cli.options import Format, writable
from dqeval.cli.output import Tell, emit, progress
from dqeval.cli.output import tell as say_wrote
from dqeval.support.naming import distinct, file_names, same_on_disk
from dqeval.support.writing import whole

if TYPE_CHECKING:
    from dqeval.analysis.receipts import Input, Shown
    from dqeval.core.types import Series

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Chosen:
    """The columns that were asked for."""

    label: str | None
    value: str | None
    scores: Sequence[str] | None

    def read(self, path: Path, name: str, tell: Tell, *, times: bool = False) -> Input:
        """Read a file."""
        from dqeval.analysis.receipts import read_input

        return read_input(
            path, name=name, label=self.label, value=self.value, scores=self.scores, times=times, progress=tell
        )


class Steps:
    """How far the work on several files is: all count the same, and reading one as much as the work on it."""

    def __init__(self, tell: Tell, files: int) -> None:
        self._tell, self._files = tell, files
        self._read = 0

    def reading(self, done: int, total: int) -> None:
        """Say how much of a file is read."""
        self._tell(2 * self._read * total + done, 2 * self._files * total)

    def working(self, done: int, total: int) -> None:
        """Say how much of the work on a file that was read is done."""
        self._tell((2 * self._read - 1) * total + done, 2 * self._files * total)

    def read(self) -> None:
        """Take note that a file was read."""
        self._read += 1


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
    from dqeval.analysis.receipts import compute, names_in_receipt, receipt

    paths = expanded(files)
    spare(paths, output)
    names = names_in_receipt([path.name for path in paths]) if form is Format.JSON else series_names(paths)
    records: list[dict[str, Any]] = []

    def series() -> Iterator[Series]:
        for path, name in zip(paths, names, strict=True):
            read = columns.read(path, name, steps.reading, times=True)
            steps.read()
            records.append(read.record(parameters))
            yield read.series

    with progress(command) as tell:
        steps = Steps(tell, len(paths))
        result = compute(command, series(), parameters, progress=steps.working)
    emit(result, form, output, lambda: receipt(command, records, parameters, result))
    return result


def each_written(
    command: str,
    files: Sequence[Path],
    places: Sequence[Path],
    columns: Chosen,
    write: Callable[[Series, Path, Tell], Result],
) -> list[tuple[str, Result]]:
    """Write a file for each of the files: return what was found in them, by the names of the series."""
    from dqeval.analysis.score import left_out_sentence
    from dqeval.core.validate import UndefinedError

    names = series_names(files)
    found, left_out = [], []
    with progress(command) as tell:
        steps = Steps(tell, len(files))
        for file, name, place in zip(files, names, places, strict=True):
            series = columns.read(file, name, steps.reading, times=True).series
            steps.read()
            try:
                with about(name), whole(place) as beside:
                    found.append((name, write(series, beside, steps.working)))
            except UndefinedError:
                left_out.append(name)
                if len(left_out) == len(files):
                    raise
    told = str(places[0]) if len(places) == 1 else f"{len(found):,} files to {places[0].parent}"
    say_wrote(f"wrote {told}")
    if left_out:
        say_wrote(left_out_sentence(left_out))
    return found


def expanded(files: Sequence[Path]) -> list[Path]:
    """Return the files, and in place of each folder the tables in it and below, sorted by name."""
    from dqeval.datasets.formats import sources

    return [
        path for file in files for path in ([each.path for each in sources(file, "table")] if file.is_dir() else [file])
    ]


def places_for(files: Sequence[Path], output: Path, kind: str, check: Callable[[Path], Any]) -> list[Path]:
    """Return where to write a file for each of the files: the one that was asked for, or files in a folder.

    A place without an ending is a folder, which is made if need be.
    """
    if output.is_dir() or not output.suffix:
        output.mkdir(parents=True, exist_ok=True)
        places = [output / name for name in file_names(_stems(files), kind)]
    elif len(files) == 1:
        check(output)
        places = [output]
    else:
        raise ValueError(f"-o {output} is one file, and there are {len(files):,} to write: name a folder, such as out")
    for place in places:
        writable(place)
        spare(files, place)
    return places


def _stems(files: Sequence[Path]) -> list[str]:
    """Return the names of the files without their endings, with numbers where they are the same on some disk."""
    from dqeval.datasets.formats import stem

    names = ["standard_input" if str(file) == "-" else stem(file) for file in files]
    return distinct(names, "{}_{}", key=same_on_disk)


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
        raise type(error)(f"{name}: {error}") from error


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
