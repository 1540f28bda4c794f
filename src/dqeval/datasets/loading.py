"""Labelled series from files of any known format: which format a file has, and which series are in it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from dqeval.core.near import find_period
from dqeval.core.registry import Registry
from dqeval.core.times import parse_with_zone
from dqeval.core.types import FloatArray, Series
from dqeval.core.validate import NoSeriesError
from dqeval.core.zones import as_fields, zone_of_series
from dqeval.datasets.files import UNREADABLE, name_of
from dqeval.datasets.guard import NO_MEMORY, some_names
from dqeval.render.tables import one_line

_MOST = 3  # names in an error

Reader = Callable[..., Series]


def load(path: str | Path, format: str = "auto", *, name: str | None = None) -> Series:
    """Read one labelled series.

    Parameters
    ----------
    path : str or Path
        A file, or a folder if the series is one.
    format : str, default "auto"
        One of `FORMATS`; "auto" recognises it.
    name : str, optional
        Which series, where there are several.

    Returns
    -------
    Series
        With bool labels, and the period of the values, or why they have none, if they are one column of finite numbers.

    Examples
    --------
    >>> dqeval.datasets.load("nowhere.csv")
    Traceback (most recent call last):
    FileNotFoundError: [Errno 2] No such file or directory: 'nowhere.csv'
    """
    every = list(sources(path, format))
    found = [source for source in every if name in (None, source.name)]
    if not found:
        raise ValueError(f"{path}: no series is called {name!r}; there are {_some(every)}")
    if len(found) > 1 and name is not None:
        paths = some_names(str(source.path) for source in found[:_MOST])
        raise ValueError(f"{path}: {len(found):,} series are called {name!r} ({paths}): give the path of one")
    if len(found) > 1:
        raise ValueError(f"{path}: there are {len(found):,} series ({_some(found)}): give a name, or use read for all")
    return found[0].read()


def read(path: str | Path, format: str = "auto") -> Iterator[Series]:
    """Read the labelled series of a file or a folder one after the other, sorted by name.

    Parameters
    ----------
    path : str or Path
        In a folder, and in the folders in it, files with endings that no format has are passed over, and so are text
        files that are not named as the UCR archive's, and what is hidden. Any other file must be a series.
    format : str, default "auto"
        One of `FORMATS`; "auto" recognises it for each file by itself.

    Returns
    -------
    iterator of Series
        As from `load`.

    Examples
    --------
    >>> for series in dqeval.datasets.read("folder/"):  # doctest: +SKIP
    ...     print(series.name, len(series.values))
    """
    return (source.read() for source in sources(path, format))


@dataclass(frozen=True, slots=True)
class Format:
    """A format in which people keep labelled series.

    Attributes
    ----------
    name, label : str
        The name to choose it by, and what people call it.
    example : str
        What such a file is called, or what is in it.
    endings : tuple of str
        How the names of its files end; none if a series is a folder.
    recognises : callable
        Path to bool, asked only where the ending fits. What cannot be read is not recognised.
    reads : callable
        Path and name to `Series`; its errors leave the path to the caller.
    names : callable
        Path to the names of the series in it.
    summary : str
        What the format is, in a sentence.
    named : pattern, optional
        What must be found in the name of a file, without its ending.
    files : callable
        Path to all files that the series at this path are read from.
    """

    name: str
    label: str
    example: str
    endings: tuple[str, ...]
    recognises: Callable[[Path], bool]
    reads: Reader
    names: Callable[[Path], list[str]]
    summary: str
    named: re.Pattern[str] | None
    files: Callable[[Path], list[Path]]

    def fits(self, path: Path) -> bool:
        """Tell whether what is there has this format."""
        return self.may_fit(path) and self.recognises(path)

    def may_fit(self, path: Path) -> bool:
        """Tell whether what is there has the right name, or is a folder where a series is one."""
        if path.is_dir():
            return not self.endings
        return ending(path) in self.endings and (self.named is None or bool(self.named.search(stem(path))))


FORMATS: Registry[Format] = Registry("format")


def files_at(path: Path) -> list[Path]:
    """Return a file alone, or the files in a folder."""
    return sorted(file for file in path.iterdir() if file.is_file()) if path.is_dir() else [path]


def series_format(
    *,
    label: str,
    example: str,
    endings: tuple[str, ...],
    recognises: Callable[[Path], bool],
    names: Callable[[Path], list[str]] = lambda path: [stem(path)],
    named: re.Pattern[str] | None = None,
    files: Callable[[Path], list[Path]] = files_at,
) -> Callable[[Reader], Reader]:
    """Register a function as the reader of a file format, for `read`, `load` and every command that reads series.

    A file is taken for the first format that recognises it, in the order in which they were registered.

    Parameters
    ----------
    label : str
        What the format is called in lists and errors.
    example : str
        What a file of this format looks like, such as its name, for errors about files of no known format.
    endings : tuple of str
        The endings of such files, each with its dot. They decide which files of a folder are looked at.
    recognises : callable
        Takes the path of a file and returns whether it has this format.
    names : callable, optional
        Takes the path of such a file and returns the names of the series in it. By default one: the file's name
        without its ending.
    named : re.Pattern, optional
        What the names of such files look like, for a format that is told by the file's name.
    files : callable, optional
        Takes a path and returns all files that are read for the series there: if one of them changes, results are
        computed again. By default the file itself, or the files in the folder.

    Returns
    -------
    callable
        A decorator for the reader: a function that takes a path and the name of a series in it, and returns a
        `dqeval.Series`.

    Examples
    --------
    >>> @dqeval.datasets.series_format(
    ...     label="value and flag",
    ...     example="a file with a value and 0 or 1 in each line",
    ...     endings=(".flagged",),
    ...     recognises=lambda path: path.suffix == ".flagged",
    ... )
    ... def flagged(path, name):
    ...     values, labels = np.loadtxt(path).T
    ...     return dqeval.Series(name, labels, {}, values)
    >>> np.savetxt("small.flagged", [[1, 0], [9, 1], [2, 0]])
    >>> int(dqeval.datasets.load("small.flagged").labels.sum())
    1
    """

    def add(reads: Reader) -> Reader:
        summary = (reads.__doc__ or "").partition("\n")[0]
        FORMATS.add(Format(reads.__name__, label, example, endings, recognises, reads, names, summary, named, files))
        return reads

    return add


@dataclass(frozen=True, slots=True)
class Source:
    """Where a series can be read from.

    Attributes
    ----------
    path : Path
    format : str
        The name of its format.
    name : str
        Of the series.
    """

    path: Path
    format: str
    name: str

    def files(self) -> list[Path]:
        """Return all files that it is read from."""
        return FORMATS[self.format].files(self.path)

    def read(self, **columns: str) -> Series:
        """Read the series, from columns that may be named if it is a table; an error says which file it is about."""
        with errors_name_file(self.path):
            return with_flags_and_period(self.read_unlabelled(**columns))

    def read_unlabelled(self, **columns: str) -> Series:
        """Read the series, whatever its labels are: that they are 0 and 1 is left to the caller, and so is the period.

        Errors do not name the file.
        """
        return check_shapes(FORMATS[self.format].reads(self.path, self.name, **columns))


@contextmanager
def errors_name_file(path: Path) -> Iterator[None]:
    """Have errors say which file they are about."""
    try:
        yield
    except UNREADABLE as error:
        kind = NoSeriesError if isinstance(error, NoSeriesError) else ValueError
        raise kind(f"{name_of(path)}: {error}") from None
    except MemoryError:
        raise ValueError(f"{name_of(path)}: {NO_MEMORY}") from None


def sources(path: str | Path, format: str = "auto") -> Iterator[Source]:
    """Return where the series of a file or a folder can be read from: see `read`."""
    return _sources(Path(path), list(FORMATS) if format == "auto" else [FORMATS[format]])


def source_titles(found: Sequence[Source]) -> list[str]:
    """Return the names of series; where two are the same, the paths."""
    counts = Counter(source.name for source in found)
    return [source.name if counts[source.name] == 1 else str(source.path) for source in found]


def ending(path: Path) -> str:
    """Return how the name of a file ends, such as .csv or .csv.gz."""
    *_, last, zipped = ("", "", *path.suffixes) if path.suffix.lower() == ".gz" else ("", path.suffix, "")
    return f"{last}{zipped}".lower()


def stem(path: Path) -> str:
    """Return the name of a file without its ending."""
    return one_line(path.name[: len(path.name) - len(ending(path))])


def _sources(path: Path, formats: Sequence[Format]) -> Iterator[Source]:
    path.stat()  # raises if there is nothing
    empty = True
    for file, format in _files(path, formats, set()):
        for name in format.names(file):
            yield Source(file, format.name, name)
            empty = False
    if empty:
        raise ValueError(f"{path}: there is no series here; expected {_expected(formats)}")


def _files(path: Path, formats: Sequence[Format], visited: set[Path]) -> Iterator[tuple[Path, Format]]:
    """Yield what holds series at or below a path, each with its format; no folder is visited twice, by links."""
    found = next((format for format in formats if format.fits(path)), None)
    if path.is_dir():
        if path.resolve() in visited:
            return
        visited.add(path.resolve())
    if found is None and path.is_dir():
        for inner in sorted(path.iterdir()):
            seen = not inner.name.startswith(".")
            if seen and (inner.is_dir() or any(format.may_fit(inner) for format in formats)):
                yield from _files(inner, formats, visited)
    elif found is not None:
        yield path, found
    elif len(formats) == 1:
        yield path, formats[0]  # asked for by name: its reader says what is wrong
    else:
        raise ValueError(f"{path}: this fits no known format; expected {_expected(formats)}")


def _expected(formats: Sequence[Format]) -> str:
    return ", ".join(f"{format.label} ({format.example})" for format in formats)


def _some(found: Sequence[Source]) -> str:
    return ", ".join([source.name for source in found[:_MOST]] + ["…"] * (len(found) > _MOST))


def check_shapes(series: Series) -> Series:
    """Return a series with what all formats have in common checked: shapes, timestamps, the end of training."""
    labels, values, times = _label_column(np.asarray(series.labels)), series.values, series.timestamps
    if values is not None:
        values = _as_columns(np.asarray(values))
        if len(values) != len(labels):
            raise ValueError(f"there must be a label for each point: got {len(labels):,} for {len(values):,} points")
    if times is not None and np.shape(times) != labels.shape:
        shape = np.shape(times)
        raise ValueError(f"there must be a timestamp for each of {len(labels):,} points: their shape is {shape}")
    if series.train_stop is not None and not 0 < series.train_stop < len(labels):
        raise ValueError(f"the training part must end inside: at {series.train_stop:,} of {len(labels):,} points")
    checked = replace(series, labels=labels, values=values)
    if times is None:
        return checked
    parsed, zone = parse_with_zone(times, zone_of_series(series))
    return replace(checked, timestamps=parsed, **as_fields(zone))


def _label_column(labels: np.ndarray) -> np.ndarray:
    if labels.dtype.kind not in "biuf":
        raise ValueError(f"the labels must be 0 and 1: their dtype is {labels.dtype}")
    if labels.ndim != 1 or not len(labels):
        raise ValueError(f"the labels must be one column of at least one point: their shape is {labels.shape}")
    return labels


def with_flags_and_period(series: Series) -> Series:
    """Return a series with labels of true and false, which they must be, and with the period of its values."""
    return _with_period(_with_flags(series))


def _with_flags(series: Series) -> Series:
    """Return a series with labels of true and false, which they must be."""
    labels = series.labels
    bad = (labels != 0) & (labels != 1)
    if bad.any():
        at = int(np.argmax(bad))
        raise ValueError(f"the labels must be 0 and 1: that of point {at:,}, counted from 0, is {labels[at]}")
    return replace(series, labels=labels.astype(np.bool_))


def _as_columns(values: np.ndarray) -> FloatArray:
    """Return values as one column, or as several side by side."""
    if values.ndim not in (1, 2) or values.dtype.kind not in "biuf":
        raise ValueError(f"the values must be numbers in one or several columns: got {values.dtype} {values.shape}")
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    with np.errstate(over="ignore"):  # of numbers with more bits than a float, which become infinite
        return np.ascontiguousarray(values, dtype=np.float64)


def _with_period(series: Series) -> Series:
    """Return a series with the period of its values, if they are one column of finite numbers."""
    values = series.values
    if values is None or values.ndim > 1 or not np.isfinite(values).all():
        return series
    found = find_period(values)
    return replace(series, period=found.points, no_period=found.reason, period_doubt=found.doubt)
