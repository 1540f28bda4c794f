"""Many series at once: their labels and scores in lists or in long arrays, taken in chunks of many points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from operator import attrgetter, is_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dqeval.core import validate
from dqeval.core.arguments import at_most_one, quote
from dqeval.core.events import find_events, split_at
from dqeval.core.regions import cut
from dqeval.core.scaling import Linear, LinearParts, Scale
from dqeval.core.types import FloatArray, IntArray, Partition

# Enough that Python around the kernels does not count, and few enough that the arrays stay in a cache.
CHUNK_POINTS = 1 << 18
_ALWAYS_EQUAL = "biuSU"  # kinds of arrays of which every item equals itself
_ROWS = 1 << 16  # of a table that are copied at once: few enough that they stay in a cache
ONLY = "score"  # what the only detector is called
# What columns of a table are called that hold no scores: who gives these among scores has given the whole table.
NO_DETECTORS = ("label", "labels", "is_anomaly", "value", "values", "timestamp", "timestamps", "time", "series_id")

Column = Callable[[int, int], NDArray[Any]]  # the points from one series up to another
Copies = Sequence[Callable[[], None]]


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """Some series, one behind the other: where they begin, and the regions of their events, which end there.

    Attributes
    ----------
    first, last : int
        The series from one up to another.
    starts : array of int
        Of each series, in the chunk.
    sizes : array of int
    regions : Partition
        The near range in it is 0, as each series has its own.
    series : array of int, shape (n_events,)
        Which series of all an event is of.
    """

    first: int
    last: int
    starts: IntArray
    sizes: IntArray
    regions: Partition
    series: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Many series, with the scores of one or several detectors.

    Attributes
    ----------
    names : array
        Of the series.
    offsets : array of int, shape (n_series + 1,)
        Where each series begins, and where the last one ends.
    labels : callable
    scores : dict of str to callable
        By detector.
    copies : sequence of callable
        What is left to do before scores are asked for, in threads or not; to do it twice does no harm.
    """

    names: NDArray[Any]
    offsets: IntArray
    labels: Column
    scores: dict[str, Column]
    copies: Copies = ()

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def sizes(self) -> IntArray:
        """How many points each series has."""
        return np.diff(self.offsets)

    def place(self, series: int) -> str:
        """Return which series it is, in words."""
        return f"series {self.names[series]}"

    def chunks(self) -> Iterator[tuple[int, int]]:
        """Yield the series in chunks, each from one up to another, of many points or a single series."""
        first = 0
        while first < len(self):
            last = int(np.searchsorted(self.offsets, self.offsets[first] + CHUNK_POINTS, side="right")) - 1
            last = max(last, first + 1)
            yield first, last
            first = last

    def cut(self, bounds: tuple[int, int]) -> Chunk:
        """Return a chunk with the regions of its events."""
        first, last = bounds
        try:
            labels = validate.labels(self.labels(first, last))
        except (ValueError, TypeError):  # the types of some series may have nothing in common
            self._check_each(first, last, next(iter(self.scores)))
            raise
        starts = self.offsets[first:last] - self.offsets[first]
        events = split_at(find_events(labels), starts[1:])
        series = first + np.searchsorted(starts, events.starts, side="right") - 1
        return Chunk(first, last, starts, self.sizes[first:last], cut(events, 0.0, starts[1:]), series)

    def counting(self, chunk: Chunk, detector: str, scale: Scale | bool) -> FloatArray | Linear | LinearParts:
        """Return a detector's scores, and how those of each series are scaled to [0, 1]."""
        try:
            given = self.scores[detector](chunk.first, chunk.last)
            if validate.scale_name(scale) == "min-max":
                return validate.linear_scores(given, chunk.starts)
            found = validate.scores(given)
        except (ValueError, TypeError):
            self._check_each(chunk.first, chunk.last, detector)
            raise
        scaled = np.empty_like(found)
        stops = chunk.starts + chunk.sizes
        for index, (start, stop) in enumerate(zip(chunk.starts.tolist(), stops.tolist(), strict=True)):
            with self.errors_in(chunk.first + index, self._called(detector)):
                scaled[start:stop] = validate.scaling(scale)(found[start:stop])
        return scaled

    def _check_each(self, first: int, last: int, detector: str) -> None:
        """Have an error in a chunk say which series it is about, and where in it."""
        for copy in self.copies:  # as labels are checked beside scores, which may not be there yet
            copy()
        for index in range(first, last):
            with self.errors_in(index, self._called(detector)):
                validate.labels_and_raw_scores(self.labels(index, index + 1), self.scores[detector](index, index + 1))

    def _called(self, detector: str) -> str | None:
        return detector if len(self.scores) > 1 else None

    def errors_in(self, series: int | None, detector: str | None) -> ExitStack:
        """Have errors say which series, if there are several, and which detector they are about."""
        stack = ExitStack()
        if series is not None and len(self) > 1:
            stack.enter_context(validate.errors_about(self.place(series)))
        if detector is not None:
            stack.enter_context(validate.errors_about(f"column {detector}"))
        return stack


def batch_of(y_true: Any, y_score: Any, *, offsets: Any = None, ids: Any = None) -> Batch:
    """Return the series that a caller gave: in lists, or in long arrays with where each begins, or which it is of."""
    if not _is_list_of_series(y_true):
        return _stacked(y_true, y_score, offsets, ids)
    if offsets is not None or ids is not None:
        raise ValueError("offsets and ids are for long arrays: leave them out, as y_true is a list of series")
    return _listed(y_true, y_score)


def _is_list_of_series(y_true: Any) -> bool:
    if isinstance(y_true, np.ndarray) and y_true.ndim > 1:
        advice = "if each row is a series, give list(y_true) and list(y_score)"
        raise ValueError(f"y_true must be one-dimensional, or a list of series: its shape is {y_true.shape}; {advice}")
    is_list = isinstance(y_true, (list, tuple)) or (isinstance(y_true, np.ndarray) and y_true.dtype == object)
    return is_list and len(y_true) > 0 and np.ndim(y_true[0]) > 0


def _stacked(y_true: Any, y_score: Any, offsets: Any, ids: Any) -> Batch:
    """Return series that lie one behind the other in long arrays."""
    at_most_one(offsets=offsets, ids=ids)
    labels = validate.column("y_true", y_true)
    _not_empty("y_true", labels)
    borders, names = np.array([0, len(labels)], dtype=np.intp), np.arange(1)
    if offsets is not None:
        borders = _borders(offsets, len(labels))
        names = np.arange(len(borders) - 1)
    elif ids is not None:
        validate.same_index("y_true", y_true, "ids", ids)
        borders, names = _groups(validate.column("ids", ids), len(labels))
    validate.same_index("y_true", y_true, "y_score", y_score)
    _not_transposed(y_score, len(labels))
    copies: Copies = []
    if not (columns := _columns(y_score)):
        columns, copies = _columns_of_array(validate.column("y_score", y_score, or_several=True))
    batch = Batch(names, borders, _part_of(labels, borders), {}, copies)
    for name, column in columns.items():
        with batch.errors_in(None, name if len(columns) > 1 else None):
            found = validate.column("y_score", column)
            _same_count("y_true and y_score must have the same length", labels, found)
            validate.same_index("y_true", y_true, "y_score", column)
        batch.scores[name] = _part_of(found, borders)
    return batch


def _columns(y_score: Any) -> dict[str, Any]:
    """Return the scores of each detector by its name; nothing if they have no names."""
    if not (isinstance(y_score, Mapping) or hasattr(y_score, "columns")):
        return {}
    names = list(getattr(y_score, "columns", y_score))
    if not names:
        raise ValueError("y_score holds no scores: give a column for each detector")
    others = [name for name in names if str(name).strip().lower() in NO_DETECTORS]
    if others:
        found = " and ".join(map(quote, others))
        raise ValueError(f"y_score holds {found}, which no detector is called: give the columns of the detectors alone")
    return {str(name): y_score[name] for name in names}


def _not_transposed(y_score: Any, points: int) -> None:
    """Check that an array of several detectors has a row for each point, and not a row for each detector."""
    shape: tuple[int, ...] = getattr(y_score, "shape", ())
    if isinstance(y_score, (list, tuple)) and y_score and np.ndim(y_score[0]) == 1:
        shape = (len(y_score), len(y_score[0]))  # the scores of each detector, in a list
    if len(shape) == 2 and shape[0] != points and shape[1] == points:
        rule = f"y_score must have a row for each of the {points:,} points, and a column for each detector"
        advice = "np.column_stack(y_score)" if isinstance(y_score, (list, tuple)) else "y_score.T"
        raise ValueError(f"{rule}: its shape is {shape}; give {advice}")


def _columns_of_array(y_score: NDArray[Any]) -> tuple[dict[str, Any], Copies]:
    """Return the scores of each detector, and what is left to do before they are there."""
    if y_score.ndim == 1:
        return {ONLY: y_score}, []
    if not y_score.shape[1]:
        raise ValueError(f"y_score holds no scores: its shape is {y_score.shape}; give a column for each detector")
    columns, copies = _by_column(y_score)
    return dict(zip(map(str, range(len(columns))), columns, strict=True)), copies


def _by_column(rows: NDArray[Any]) -> tuple[NDArray[Any], Copies]:
    """Return a table as its columns, each in one piece, and how to fill them, some rows at a time.

    All columns are copied at once, as each row is read as a whole.
    """
    if rows.shape[1] == 1 or not rows.flags.c_contiguous:
        return rows.T, []
    columns = np.empty(rows.shape[::-1], dtype=rows.dtype)

    def copy(begin: int) -> None:
        for first in range(begin, min(begin + CHUNK_POINTS, len(rows)), _ROWS):
            columns[:, first : first + _ROWS] = rows[first : first + _ROWS].T

    return columns, [partial(copy, begin) for begin in range(0, len(rows), CHUNK_POINTS)]


def _part_of(long: NDArray[Any], borders: IntArray) -> Column:
    return lambda first, last: long[borders[first] : borders[last]]


def _same_count(rule: str, one: Sized, other: Sized) -> None:
    if len(one) != len(other):
        raise ValueError(f"{rule}: got {len(one):,} and {len(other):,}")


def _borders(offsets: Any, points: int) -> IntArray:
    """Return where series begin, and where the last one ends, which may be left out."""
    given = validate.column("offsets", offsets)
    if given.dtype.kind not in "iu" or not len(given):
        raise ValueError(f"offsets must be whole numbers, the starts of the series: got {quote(offsets)}")
    borders = np.append(given, [] if given[-1] == points else [points]).astype(np.intp)
    if borders[0] != 0:
        raise ValueError(f"offsets must begin with 0, the start of the first series: got {given[0]}")
    not_behind = np.flatnonzero(np.diff(borders) <= 0)
    if len(not_behind):
        at = int(not_behind[0])
        found = f"series {at} begins at {borders[at]:,}, and what follows at {borders[at + 1]:,}"
        raise ValueError(f"offsets must increase, and end below {points:,}, the number of points: {found}")
    return borders


def _groups(ids: NDArray[Any], points: int) -> tuple[IntArray, NDArray[Any]]:
    """Return where series begin and end that are named at each of their points, and their names."""
    if len(ids) != points:
        raise ValueError(f"y_true and ids must have the same length: got {points:,} and {len(ids):,}")
    try:
        missing = ids.dtype.kind not in _ALWAYS_EQUAL and bool((ids != ids).any())
        starts = _run_starts(ids)
        first = dict(zip(ids[starts[::-1]].tolist(), starts[::-1].tolist(), strict=True))
        missing |= None in first
    except TypeError:  # of lists, for example
        missing = True
    if missing:
        raise ValueError("ids must name the series of every point: some are missing, or cannot be compared")
    for name, start in zip(ids[starts].tolist(), starts.tolist(), strict=True):
        if first[name] != start:
            raise ValueError(f"ids must be in groups: {quote(name)} comes again at index {start}; sort by ids first")
    return np.append(starts, points), ids[starts]


def _run_starts(ids: NDArray[Any]) -> IntArray:
    """Return where other ids begin than those before, and 0; in blocks, whose comparison stays in a cache."""
    found = [np.zeros(1, dtype=np.intp)]
    for begin in range(0, len(ids) - 1, CHUNK_POINTS):
        some = ids[begin : begin + CHUNK_POINTS + 1]
        found.append(np.flatnonzero(some[1:] != some[:-1]) + (begin + 1))
    return np.concatenate(found)


def _listed(y_true: Sequence[Any], y_score: Any) -> Batch:
    """Return series that are items of lists."""
    labels = _arrays("y_true", y_true)
    borders = np.concatenate([[0], np.cumsum(list(map(len, labels)))]).astype(np.intp)
    batch = Batch(np.arange(len(labels)), borders, _joined(labels), {})
    columns = _columns(y_score) or {ONLY: y_score}
    for name, column in columns.items():
        called = name if len(columns) > 1 else None
        with batch.errors_in(None, called):
            found = _arrays("y_score", column)
            _same_count("y_true and y_score must hold as many series", labels, found)
        # What has an index was no array.
        as_given = all(map(is_, labels, y_true)) and all(map(is_, found, column))
        if not as_given or list(map(len, labels)) != list(map(len, found)):
            for index, (label, score) in enumerate(zip(labels, found, strict=True)):
                with batch.errors_in(index, called):
                    _same_count("y_true and y_score must have the same length", label, score)
                    validate.same_index("y_true", y_true[index], "y_score", column[index])
        batch.scores[name] = _joined(found)
    return batch


def _are_plain(items: Iterable[Any]) -> bool:
    """Tell whether all items are plain arrays of one dimension, with at least one point; of many, this is soon told."""
    if set(map(type, items)) != {np.ndarray}:
        return False
    return set(map(attrgetter("ndim"), items)) == {1} and all(map(len, items))


def _arrays(name: str, given: Any) -> list[NDArray[Any]]:
    """Return the items of a list as arrays."""
    if not isinstance(given, (list, tuple, np.ndarray)):
        raise ValueError(f"{name} must be a list of series, as y_true is: got {type(given).__name__}")
    if _are_plain(given):
        return list(given)
    found = []
    for index, item in enumerate(given):
        with validate.errors_about(f"series {index}"):
            if name == "y_score" and (isinstance(item, Mapping) or len(getattr(item, "shape", ())) > 1):
                advice = 'for several detectors give a list of series for each, as {"one": [...], "other": [...]}'
                raise ValueError(f"{name} must be one-dimensional: {_form(item)}; {advice}")
            found.append(validate.column(name, item))
            _not_empty(name, found[-1])
    return found


def _form(item: Any) -> str:
    return f"got {type(item).__name__}" if isinstance(item, Mapping) else f"its shape is {item.shape}"


def _not_empty(name: str, found: Sized) -> None:
    if not len(found):
        raise ValueError(f"{name} is empty: at least one point is needed")


def _joined(items: list[NDArray[Any]]) -> Column:
    return lambda first, last: items[first] if last == first + 1 else np.concatenate(items[first:last])
