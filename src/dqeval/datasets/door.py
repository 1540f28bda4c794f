"""The one door for data: files of any format, columns in memory and series as they are, to series that are checked."""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np

from dqeval.core.prepared import Prepared, prepare_series
from dqeval.core.times import parse_times
from dqeval.core.types import Progress, Series
from dqeval.datasets.columns import Roles, read_table, series_in
from dqeval.datasets.files import STANDARD_INPUT, some_names
from dqeval.datasets.loading import FORMATS, Source, check_shapes, errors_name_file, sources, stem
from dqeval.render.tables import one_line

TABLE = "table"

# A series, its columns by name, or the file they are in.
Data = Series | Mapping[str, Any] | str | Path


def prepare(
    data: Data | Prepared, *, near: float | str | None = None, period: float | None = None, name: str = "series"
) -> Prepared:
    """Return a series that is checked, with its near range; one that was prepared before, as it is, if none is given.

    Parameters
    ----------
    data : Series, mapping of str to array-like, str or Path, or Prepared
        See `compare`.
    near, period : float or str, optional
        See `near_of`.
    name : str, default "series"
        What to call columns in memory.

    Returns
    -------
    Prepared
    """
    if isinstance(data, Prepared):
        return data if near is None and period is None else prepare_series(data.series, near=near, period=period)
    return prepare_series(as_series(data, name=name), near=near, period=period)


def as_series(data: Data, *, name: str = "series") -> Series:
    """Return a series: as it is, from columns in memory, or from a file of any format."""
    if isinstance(data, Series):
        return _as_arrays(data)
    if isinstance(data, (str, Path)):
        return _only(list(entries([Path(data)]))).read().series
    if not isinstance(data, Mapping) and not hasattr(data, "columns"):
        raise ValueError(f"data must be a Series, columns by name, or a file: got {type(data).__name__}")
    return series_in(data, name=name)


def _as_arrays(series: Series) -> Series:
    """Return a series that somebody has made with its values and timestamps as arrays."""
    values = None if series.values is None else np.asarray(series.values)
    times = None if series.timestamps is None else parse_times(np.asarray(series.timestamps))
    return replace(series, values=values, timestamps=times)


def _only(found: Sequence[Entry]) -> Entry:
    """Return the series of a file that holds one."""
    if len(found) > 1:
        names = some_names(entry.source.name for entry in found)
        advice = "read one of them by its name, with dqeval.datasets.load"
        raise ValueError(f"{found[0].path}: there are {len(found):,} series ({names}): {advice}")
    return found[0]


@dataclass(frozen=True, slots=True)
class Asked:
    """The columns of a table that were asked for; columns of scores may also be given together, separated by commas."""

    label: str | None = None
    value: str | None = None
    scores: Sequence[str] | None = None

    def __bool__(self) -> bool:
        return not (self.label is self.value is self.scores is None)


NOTHING_ASKED = Asked()


@dataclass(frozen=True, slots=True)
class Entry:
    """A series to be read.

    Attributes
    ----------
    source : Source
    asked : Asked
    alone : bool
        Whether it is the only series of its file.
    in_folder : bool
        Whether it was found in a folder, and not named by itself.
    """

    source: Source
    asked: Asked = NOTHING_ASKED
    alone: bool = True
    in_folder: bool = False

    @property
    def path(self) -> Path:
        """Where it is."""
        return self.source.path

    @property
    def stem(self) -> str:
        """What a file that is made from it is called, without an ending."""
        if self.path == STANDARD_INPUT:
            return "standard_input"
        return stem(self.path) if self.alone else self.source.name

    def read(self, *, name: str | None = None, progress: Progress | None = None) -> Opened:
        """Read it, and call it by a name; an error names the file, once."""
        watched = _Watched(self.source, progress)
        with errors_name_file(self.path):
            series, roles = self._read(watched)
        return Opened(self, series if name is None else replace(series, name=one_line(name)), roles, watched)

    def _read(self, watched: _Watched) -> tuple[Series, Roles | None]:
        if self.source.format != TABLE:
            return self.source.read_unlabelled(), None
        asked = self.asked
        series, roles = read_table(
            self.path, self.source.name, label=asked.label, value=asked.value, scores=asked.scores, watch=watched
        )
        return check_shapes(series), roles


@dataclass(frozen=True, slots=True)
class Opened:
    """A series that was read, and what it was read from.

    Attributes
    ----------
    entry : Entry
    series : Series
    roles : Roles, optional
        Which of its columns is which, if it was a table.
    """

    entry: Entry
    series: Series
    roles: Roles | None
    _watched: _Watched

    def record(self) -> dict[str, Any]:
        """Return what a receipt says of it: of the file only the name, as the folder is nobody's business."""
        sha256, count = self._watched.digest()
        source, alone = self.entry.source, self.entry.alone
        return {
            "name": self.series.name,
            "file": source.path.name,
            **({} if alone else {"series": source.name}),
            "sha256": sha256,
            "bytes": count,
            "rows": len(self.series.labels),
            **({"format": source.format} if self.roles is None else {"columns": asdict(self.roles)}),
        }


def entries(files: Iterable[Path], asked: Asked = NOTHING_ASKED) -> Iterator[Entry]:
    """Return the series in files and folders: in these and below, what has a format, sorted by name.

    A file that is named is a table if it has no other format, or if columns were asked for. So is standard input.
    """
    for file in files:
        found = list(sources(file, TABLE if asked else "auto") if file.is_dir() else _named(file, asked))
        series_in = Counter(source.path for source in found)
        for source in found:
            yield Entry(source, asked, alone=series_in[source.path] == 1, in_folder=source.path != file)


def _named(file: Path, asked: Asked) -> Iterator[Source]:
    """Yield where the series of a file that was named can be read from."""
    if file == STANDARD_INPUT:
        yield Source(file, TABLE, "standard input")
        return
    table = FORMATS[TABLE]
    # Where there is nothing, whoever reads it says so, and the other files are read.
    format = table if asked or not file.exists() else next((format for format in FORMATS if format.fits(file)), table)
    yield from (Source(file, format.name, name) for name in format.names(file))


class _Watched:
    """What was read of a file: its bytes are hashed on the way, where it is read as a stream."""

    def __init__(self, source: Source, progress: Progress | None) -> None:
        self._source, self._progress = source, progress
        self._reader: HashingReader | None = None

    def __call__(self, stream: BinaryIO) -> BinaryIO:
        path = self._source.path
        size = path.stat().st_size if path.is_file() else 0
        tell = self._progress if size else None
        self._reader = HashingReader(stream, lambda count: tell(count, size) if tell else None)
        return cast(BinaryIO, self._reader)

    def digest(self) -> tuple[str, int]:
        """Return the hash and the number of bytes of all files that it was read from."""
        if self._reader is not None:
            return self._reader.sha256, self._reader.count
        return _hashed(tuple((file, file.stat().st_mtime_ns) for file in self._source.files()))


@lru_cache(maxsize=1)  # many series of a pack are in one file
def _hashed(files: tuple[tuple[Path, int], ...]) -> tuple[str, int]:
    """Return the hash of a file, or of the hashes of several, and how many bytes they have."""
    digests, count = [], 0
    for path, _ in files:
        with path.open("rb") as file:
            digests.append(hashlib.file_digest(file, "sha256").hexdigest())
            count += file.tell()
    return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest(), count


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
