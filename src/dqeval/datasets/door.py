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

from dqeval.core.durations import Length
from dqeval.core.numeric_arrays import as_array
from dqeval.core.prepared import Prepared, part_of, prepare_series
from dqeval.core.registry import split_names
from dqeval.core.sampling import NO_CLOCK, Clock
from dqeval.core.spans import spans_of
from dqeval.core.times import are_known, parse_with_zone
from dqeval.core.types import IntArray, Progress, Series
from dqeval.core.validate import errors_about
from dqeval.core.zones import as_fields, zone_of_series
from dqeval.datasets.columns import Roles, labelled, roles_in_table, series_in, series_in_table, series_in_zone
from dqeval.datasets.files import Content, Named, read_content
from dqeval.datasets.guard import shorten, some_names
from dqeval.datasets.interval_files import IntervalFile, IntervalSource
from dqeval.datasets.loading import FORMATS, Source, check_shapes, errors_name_file, sources, stem
from dqeval.datasets.streams import STANDARD_INPUT
from dqeval.render.tables import one_line
from dqeval.support.writing import note_input

TABLE = "table"

# A series, its columns by name, or the file they are in.
Data = Series | Mapping[str, Any] | str | Path


def prepare(
    data: Data | Prepared,
    *,
    near: Length | None = None,
    period: Length | None = None,
    clock: Clock = NO_CLOCK,
    part: str = "all",
    name: str = "series",
) -> Prepared:
    """Return a series that is checked, with its near range; one that was prepared before, as it is, if none is given.

    Parameters
    ----------
    data : Series, mapping of str to array-like, str or Path, or Prepared
        See `compare`.
    near, period : float or str, optional
        See `near_of`.
    clock : Clock
        If the points are to be put on a time axis: when each is, and how they are counted.
    part : "all" or "test", default "all"
        See `compare`.
    name : str, default "series"
        What to call columns in memory.

    Returns
    -------
    Prepared
    """
    if isinstance(data, Prepared):
        if near is None and period is None and not clock.asked and part == "all":
            return data
        clock = clock if clock.asked else data.clock
    whole = data.given if isinstance(data, Prepared) else as_series(data, name=name)
    prepared = prepare_series(part_of(whole, part), near=near, period=period, clock=clock)
    if part == "all" or near is not None or period is not None:
        return prepared
    return replace(prepared, near=prepare_series(whole, clock=clock).near)  # that of the whole series stays in use


def as_series(data: Data, *, name: str = "series") -> Series:
    """Return a series: as it is, from columns in memory, or from a file of any format."""
    if isinstance(data, Series):
        return _as_arrays(data)
    if isinstance(data, (str, Path)):
        return _only(list(entries([Path(data)]))).read().series
    if not isinstance(data, Mapping) and not hasattr(data, "columns"):  # type: ignore[unreachable]
        raise ValueError(f"data must be a Series, columns by name, or a file: got {type(data).__name__}")
    return series_in(data, name=name)


def _as_arrays(series: Series) -> Series:
    """Return a series that somebody has made with its values and timestamps as arrays."""
    values = None if series.values is None else as_array("values", series.values)
    if series.incidents is not None:
        series = replace(series, incidents=spans_of("incidents", series.incidents))
    if series.timestamps is None:
        return replace(series, values=values)
    times, zone = parse_with_zone(series.timestamps, zone_of_series(series))
    return replace(series, values=values, timestamps=times, **as_fields(zone))


def _only(found: Sequence[Entry]) -> Entry:
    """Return the series of a file that holds one."""
    if len(found) > 1:
        names = some_names(entry.source.name for entry in found)
        advice = "read one of them by its name, with dqeval.datasets.load"
        raise ValueError(f"{found[0].path}: there are {len(found):,} series ({names}): {advice}")
    return found[0]


@dataclass(frozen=True, slots=True)
class Asked:
    """The columns of a table that were asked for.

    Attributes
    ----------
    label, value : str, optional
    scores : sequence of str, optional
        Those of scores may also be given together, separated by commas.
    series : str, optional
        The column that names the series of each row: the table is split by it.
    only : str, optional
        The series that are wanted of it, separated by commas; all if not given.
    time : str, optional
        The column of timestamps.
    timezone : str, optional
        The time zone of dates that are written without one.
    incidents : IntervalSource, optional
        The file with the incidents from which labels follow: then there need be no column of labels.
    """

    label: str | None = None
    value: str | None = None
    scores: Sequence[str] | None = None
    series: str | None = None
    only: str | None = None
    time: str | None = None
    timezone: str | None = None
    incidents: IntervalSource | None = None

    def __bool__(self) -> bool:
        return not (self.label is self.value is self.scores is self.series is self.time is None)

    @property
    def named(self) -> Named:
        """The columns that a reader must know."""
        return Named(self.series, self.time)

    def roles(self, content: Content) -> Roles:
        """Return which column of a table is which."""
        return roles_in_table(self.labelled(content), label=self.label, value=self.value, scores=self.scores)

    def labelled(self, content: Content) -> Content:
        """Return a table with a column of labels: nothing but 0, where they follow from incidents."""
        return content if self.incidents is None else labelled(content, self.label)


NOTHING_ASKED = Asked()


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A series of a long table, which was read and hashed once for all of them: its rows."""

    content: Content
    rows: IntArray
    watched: _Watched


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
    part : Part, optional
        What was read already, if it is a series of a long table.
    trouble : Exception, optional
        Why a long table could not be read or split.
    """

    source: Source
    asked: Asked = NOTHING_ASKED
    alone: bool = True
    in_folder: bool = False
    part: Part | None = None
    trouble: Exception | None = None

    @property
    def path(self) -> Path:
        """Where it is."""
        return self.source.path

    @property
    def stem(self) -> str:
        """What a file that is made from it is called, without an ending."""
        if not self.alone:
            return self.source.name
        return "standard_input" if self.path == STANDARD_INPUT else stem(self.path)

    def digest(self) -> str:
        """Return the hash of the file that it is read from, or of several."""
        return _Watched(self.source, None).digest()[0]

    def read(self, *, name: str | None = None, progress: Progress | None = None) -> Opened:
        """Read it, and call it by a name; an error names the file, once."""
        if self.trouble is not None:
            raise self.trouble
        watched = _Watched(self.source, progress) if self.part is None else self.part.watched
        with errors_name_file(self.path):
            series, roles = self._read(watched)
            series = series_in_zone(series, self.asked.timezone)
        if self.asked.incidents is not None:
            series = with_incidents(series, self.asked.incidents.of(self.stem))
        return Opened(self, series if name is None else replace(series, name=one_line(name)), roles, watched)

    def _read(self, watched: _Watched) -> tuple[Series, Roles | None]:
        if self.source.format != TABLE:
            return self.source.read_unlabelled(), None
        if self.part is not None:
            return self._read_part(self.part)
        content = self.asked.labelled(read_content(self.path, named=self.asked.named, watch=watched))
        roles = self.asked.roles(content)
        return check_shapes(series_in_table(content, roles, self.source.name)), roles

    def _read_part(self, part: Part) -> tuple[Series, Roles]:
        content = self.asked.labelled(part.content)
        roles = self.asked.roles(content)  # an error about the columns is one about all series
        with errors_about(self.source.name):
            return check_shapes(series_in_table(content.at(part.rows), roles, self.source.name)), roles


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
    _watched: _Watched | None = None

    def record(self) -> dict[str, Any]:
        """Return what a receipt says of it: of the file only the name, as the folder is nobody's business."""
        assert self._watched is not None
        sha256, count = self._watched.digest()
        source, alone, roles, asked = self.entry.source, self.entry.alone, self.roles, self.entry.asked
        incidents = asked.incidents
        return {
            "name": self.series.name,
            "file": source.path.name,
            **({} if alone else {"series": source.name}),
            "sha256": sha256,
            "bytes": count,
            "rows": len(self.series.labels),
            **({} if self.series.train_stop is None else {"train_stop": self.series.train_stop}),
            **({"format": source.format} if roles is None else {"columns": _as_record(roles, incidents)}),
            **({} if incidents is None else {"incidents": _incidents_record(incidents)}),
            **({} if asked.timezone is None else {"timezone": asked.timezone}),
        }


def file_record(path: Path) -> dict[str, Any]:
    """Return what a receipt says of a file."""
    sha256, count = _hashed(((path, path.stat().st_mtime_ns),))
    return {"file": path.name, "sha256": sha256, "bytes": count}


def _incidents_record(incidents: IntervalSource) -> dict[str, Any]:
    chosen = {} if incidents.series is None else {"series": incidents.series}
    return {**file_record(incidents.path), **chosen}


def with_incidents(series: Series, incidents: IntervalFile) -> Series:
    """Return a series whose labels follow from incidents. Numbers count its points, where it has no times."""
    remarks, times, count = remarks_of("incidents", incidents), series.timestamps, len(series.labels)
    if times is None and incidents.aware is not None:
        raise ValueError(f"{series.name} has no timestamps, so nobody knows which of its points are in incidents")
    if incidents.aware is None and (times is None or not are_known(times)):
        times, counted = np.arange(count), f"incidents: {series.name} has no times: they count its points from 0"
        remarks = (*remarks, counted)
    return replace(series, labels=np.zeros(count), timestamps=times, incidents=incidents.spans(), remarks=remarks)


def remarks_of(name: str, file: IntervalFile) -> tuple[str, ...]:
    """Return what was left out or assumed where a file was read."""
    return tuple(f"{name}: {remark}" for remark in file.remarks)


def _as_record(roles: Roles, incidents: IntervalSource | None) -> dict[str, Any]:
    """Return which column is which, as a receipt says it; none of labels, where they follow from incidents."""
    seldom = ("series", "time")
    found = {role: column for role, column in asdict(roles).items() if column is not None or role not in seldom}
    return found if incidents is None else {**found, "label": None}


def entries(
    files: Iterable[Path], asked: Asked = NOTHING_ASKED, *, progress: Progress | None = None
) -> Iterator[Entry]:
    """Return the series in files and folders: in these and below, what has a format, sorted by name.

    A file that is named is a table if it has no other format, or if columns were asked for. So is standard input. Where
    a column of series was asked for, tables are read here, because nothing else tells which series are in them.
    """
    for file in files:
        found = list(sources(file, TABLE if asked else "auto") if file.is_dir() else _named(file, asked))
        if asked.incidents is not None:  # which may lie beside the series
            note_input(asked.incidents.path)
            found = [source for source in found if source.path == file or not asked.incidents.is_at(source.path)]
        series_in = Counter(source.path for source in found)
        for source in {source.path: source for source in found}.values():
            for each in source.files():
                note_input(each)
        for source in found:
            entry = Entry(source, asked, alone=series_in[source.path] == 1, in_folder=source.path != file)
            yield from [entry] if asked.series is None else _series_of(entry, progress)


def _series_of(entry: Entry, progress: Progress | None) -> Iterator[Entry]:
    """Yield the series of a long table; it alone, with what is wrong, if it cannot be split."""
    watched, asked = _Watched(entry.source, progress), entry.asked
    try:
        with errors_name_file(entry.path):
            content = read_content(entry.path, named=asked.named, watch=watched)
            found = dict(content.rows_of_series())
            wanted = found if asked.only is None else wanted_series(found, asked.only)
    except (ValueError, OSError) as error:
        yield replace(entry, trouble=error)
        return
    for name in found:
        if name in wanted:
            part = Part(content, found[name], watched)
            yield replace(entry, source=replace(entry.source, name=name), alone=False, part=part)


def wanted_series(found: Mapping[str, Any], only: str) -> set[str]:
    """Return the series that were asked for, which must be there."""
    names = split_names([only], found) or [only]
    if unknown := [name for name in names if name not in found]:
        raise ValueError(f"no series is called {shorten(unknown[0])!r}; there are {some_names(found)}")
    return set(names)


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
