"""What the readers of incidents and alerts share: intervals as they stand in a file, and checks of what is in it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dqeval.core.arguments import quote
from dqeval.core.moments import Moments, moments_of
from dqeval.core.spans import Closed
from dqeval.core.zones import UTC, Zone
from dqeval.datasets.guard import LONGEST_TIME, some_names
from dqeval.render.tables import one_line
from dqeval.support.hints import may_name

READ = (
    "CSV, TSV, Parquet or Feather with the columns start and end, or start and duration; NAB windows; Label Studio "
    "exports (JSON, not JSON-MIN); Grafana annotations; answers of Prometheus to query_range of ALERTS; alerts of "
    "Alertmanager, also from webhooks; labels.csv of ESA-ADB"
)
_LARGEST = 2**62  # as far as a clock goes

Array = NDArray[Any]
Place = Callable[[int], str]


class NoSuchSeriesError(ValueError):
    """A series cannot be chosen: a file has no names, or not this one.

    Attributes
    ----------
    only : str
        What the file calls the only series that it has, if it has one with a name.
    names : sequence of sequence of str
        What each series of the file may be called.
    """

    def __init__(self, message: str, only: str = "", names: Sequence[Sequence[str]] = ()) -> None:
        super().__init__(message)
        self.only, self.names = only, names


class Item(NamedTuple):
    """An interval as it stands in a file; one that ends when it starts is a moment."""

    start: Any
    stop: Any
    id: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """Intervals as they stand in a file.

    Attributes
    ----------
    source : str
        What the file is.
    starts, stops : array
        Of the same kind: text and whole numbers (of dtype object), ``datetime64``, or int.
    ids, notes : sequence of str
    place : callable
        The position of an interval to what it is called in a message.
    closed : "left" or "both"
    aware : str or False, optional
        The time zone of dates, or False if they have none, where their text does not say it.
    remarks : tuple of str
    step : int
        How many nanoseconds a cell lasts by default, of a monitoring system that writes fractions of a second although
        it does not measure them; 0 of any other source.
    """

    source: str
    starts: Array
    stops: Array
    ids: Sequence[str]
    notes: Sequence[str]
    place: Place
    closed: Closed = "left"
    aware: Zone = None
    remarks: tuple[str, ...] = ()
    step: int = 0


def found_items(source: str, items: Sequence[Item], place: Place, *, unit: str | None = None, **more: Any) -> Found:
    """Return items as columns; of numbers in a unit since 1970, as dates."""
    starts, stops = (_column([item[i] for item in items], unit) for i in (0, 1))
    ids, notes = [item.id for item in items], [item.note for item in items]
    return Found(source, starts, stops, ids, notes, place, aware=None if unit is None else UTC, **more)


def _column(cells: Sequence[Any], unit: str | None) -> Array:
    return objects(cells) if unit is None else np.array(cells, dtype=f"datetime64[{unit}]")


def objects(cells: Sequence[Any]) -> Array:
    """Return text and numbers as an array of what they are."""
    return np.array(cells, dtype=object)


def unknown(what: str) -> ValueError:
    """Return the error for a file that is none of those that can be read."""
    return ValueError(f"{what}: incidents and alerts can be read from {READ}")


def clock_times(source: str, times: Array, place: Place) -> Moments:
    """Return moments as whole numbers; an error names the first that is wrong."""
    try:
        return moments_of(source, times)
    except ValueError:
        i = _first_wrong(times)
        moments_of(place(i), times[[i, 0]])
        raise


def _first_wrong(times: Array) -> int:
    """Return the first time that cannot be read together with those before it."""
    low, high = 0, len(times)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            moments_of("", times[[0, *range(low, middle)]])
            low = middle
        except ValueError:
            high = middle
    return low


def with_zone(times: Moments, aware: Zone) -> Moments:
    """Return the times of a file with their time zone, if they are dates: their text says it if nothing else does."""
    if times.kind == "number" or aware is None:
        return times
    return replace(times, kind="universal" if aware else "local", zone=aware or UTC)


def moment(cell: Any, what: str) -> str | int:
    """Return a time as it is: a text, or a whole number."""
    if isinstance(cell, str) and cell.strip() and len(cell) <= LONGEST_TIME:
        return cell
    return whole_number(cell, what, "a time such as 2026-01-31T12:00:00, or a whole number")


def whole_number(cell: Any, what: str, rule: str = "a whole number") -> int:
    """Return a number that a clock can have."""
    number = int(cell) if isinstance(cell, float) and cell.is_integer() else cell
    if isinstance(number, bool) or not isinstance(number, int):
        raise ValueError(f"{what} must be {rule}: got {told(cell)}")
    if abs(number) >= _LARGEST:
        raise ValueError(f"{what} is too large: got {told(cell)}")
    return number


def is_blank(cell: Any) -> bool:
    """Tell whether a cell is missing: empty, NaN or NaT."""
    return cell is None or (isinstance(cell, str) and not cell.strip()) or bool(cell != cell)


def is_date(cell: str) -> bool:
    """Tell whether a text is a date, or a number that stands for one."""
    with suppress(ValueError):
        return bool(cell.strip()) and len(cell) <= LONGEST_TIME and moments_of("", [cell]).kind != "number"
    return False


def no_end(place: str, what: str = "end") -> ValueError:
    """Return the error for an interval that is open."""
    return ValueError(f"{place} has no {what}: an incident that is still open cannot be evaluated; give it an end")


def told(given: Any) -> str:
    """Return what was given as it stands in messages: what may be nested is not written out."""
    kinds = {list: "a list", dict: "an object", type(None): "nothing"}
    return kinds.get(type(given)) or quote(given)


def refuse_series(series: str | None, what: str) -> None:
    """Refuse a series where none can be chosen."""
    if series is not None:
        message = f"series {quote(series)} cannot be chosen: {what} is of one series; leave series out"
        raise NoSuchSeriesError(message)


def under_name(names: Sequence[Sequence[str]], series: str | None, what: str) -> list[int]:
    """Return which of some items are under a name, by all that each is under; all of them, if no name is asked for."""
    every = sorted({name for found in names for name in found})
    if series is None:
        return list(range(len(names)))
    if not every:
        refuse_series(series, what)
    if series not in every:
        raise NoSuchSeriesError(f"series {quote(series)} is not there: there are {some_names(map(one_line, every))}")
    return [i for i, found in enumerate(names) if series in found]


def chosen(names: Sequence[Sequence[str]], series: str | None) -> int | None:
    """Return which of several series is asked for, by what each may be called; None if there is none at all."""
    every = some_names(one_line(whole) for whole, *_ in names)
    if series is None:
        if len(names) > 1:
            shell = "--series NAME beside --incidents" + ", or --alerts FILE=NAME" * may_name("--alerts")
            raise ValueError(f"there are {len(names):,} series ({every}): give one of them as series (shell: {shell})")
        return 0 if names else None
    found = [i for i, (whole, *_) in enumerate(names) if whole == series]
    found = found or [i for i, known in enumerate(names) if series in known]
    if not found:
        only = one_line(names[0][0]) if len(names) == 1 else ""
        raise NoSuchSeriesError(f"series {quote(series)} is not there: there are {every}", only, names)
    if len(found) > 1:
        whole = some_names(one_line(names[i][0]) for i in found)
        raise ValueError(f"series {quote(series)} may be any of {len(found):,}: give the whole name, one of {whole}")
    return found[0]


def named_inside(name: str, names: Sequence[Sequence[str]]) -> str | None:
    """Return the series of a file whose name is a part of another name, as results of NAB have it; None if none is one.

    Of several, the longest is it, if it includes the others.

    Examples
    --------
    >>> named_inside("numenta_cpu_5", [["a/cpu.csv", "cpu.csv", "cpu"], ["b/cpu_5.csv", "cpu_5.csv", "cpu_5"]])
    'b/cpu_5.csv'
    """
    inside = {
        known: whole
        for whole, *others in names
        for known in (whole, *others)
        if not known.isdecimal() and re.search(rf"(?<![^\W_]){re.escape(known)}(?![^\W_])", name)
    }
    longest = max(inside, key=len, default="")
    return inside[longest] if longest and all(known in longest for known in inside) else None


def path_names(path: str) -> list[str]:
    """Return what a series in a file may be called: the path, the name, and the name without its ending."""
    file = PurePosixPath(path)
    return [path, file.name, file.stem]
