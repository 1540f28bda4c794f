"""Time zones: in which one dates are given, and how universal time reads there."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC as UNIVERSAL
from datetime import datetime, timedelta, tzinfo
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dqeval.core import arguments
from dqeval.core.arguments import quote

UTC = "UTC"
# A name such as Europe/Berlin, an offset such as +01:00, or UTC; False for dates without one, None where nobody knows.
Zone = str | Literal[False] | None

_PER_SECOND = 10**9
_FARTHEST = 2**63 - 1
_OFFSET = re.compile(r"[+-]\d\d(:?\d\d)?$")
_LONGEST_OFFSET = len("+01:00")
_UNITS = ("s", "ms", "us", "ns")  # in which dates are written
_WEEK = 7 * 86_400  # seconds: no clock is put forward and back within one


def zone_of(timezone: str) -> tzinfo:
    """Return a time zone by its name; an error says what a name is."""
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    try:
        return ZoneInfo(arguments.text("timezone", timezone))
    except (ZoneInfoNotFoundError, ValueError, OSError):
        advice = "give a name such as Europe/Berlin; if all are unknown, install the package tzdata"
        raise ValueError(f"timezone {quote(timezone)} is not known: {advice}") from None


def zone_told(given: Any) -> Zone:
    """Return the zone that dates were given in; False if in none, None where nothing says so.

    Of dates with several offsets it is UTC, as no name tells which of them other dates have.

    Examples
    --------
    >>> zone_told(["2026-01-01T12:00+01:00"]), zone_told(["2026-01-01T12:00Z"]), zone_told(["2026-01-01"])
    ('+01:00', 'UTC', False)
    >>> zone_told(np.array(["2026"], "datetime64[D]")), zone_told([5, 6])
    (None, None)
    """
    if (zone := _of_column(given)) is not None:
        return _name(zone)
    array = np.asarray(given)
    if array.dtype.kind == "M":
        return None if isinstance(given, np.ndarray) else False
    if array.dtype.kind in "biuf" or not array.size:
        return None
    return _of_cells(array.ravel())


def has_zone(given: Any) -> bool:
    """Tell whether these are columns of pandas, polars or pyarrow with a time zone."""
    return _of_column(given) is not None


def shared_zone(*zones: Zone) -> str:
    """Return in which zone to show times that were given in several: in the first that is not UTC."""
    return next((zone for zone in zones if zone and zone != UTC), UTC)


def zone_of_series(series: Any) -> Zone:
    """Return the zone of the timestamps of a `Series`."""
    zone: Zone = series.zone if series.zoned else series.zoned
    return zone


def as_fields(zone: Zone) -> dict[str, Any]:
    """Return a zone as a `Series` has it: whether there is one, and which."""
    return {"zoned": None if zone is None else bool(zone), "zone": zone or UTC}


def local_ticks(ticks: int, zone: str) -> tuple[int, str]:
    """Return nanoseconds of universal time as the clocks of a zone show them, and their offset.

    Examples
    --------
    >>> local_ticks(0, "+01:30"), local_ticks(0, "UTC")
    ((5400000000000, '+01:30'), (0, 'Z'))
    """
    ahead = _ahead(zone, ticks // _PER_SECOND)
    local = ticks + ahead * _PER_SECOND
    return (ticks, "Z") if abs(local) > _FARTHEST else (local, offset_in_words(ahead))


def on_clocks(times: NDArray[Any], zone: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return dates in universal time as the clocks of a zone show them, and how many seconds these are ahead."""
    ticks = times.astype("datetime64[ns]").astype(np.int64)
    ends = (int(ticks.min()), int(ticks.max())) if ticks.size else (0, 0)
    begins, offsets = np.array(offsets_between(zone, *ends), dtype=np.int64).T
    ahead: NDArray[np.int64] = offsets[np.searchsorted(begins, ticks, side="right") - 1]
    return (ticks + ahead * _PER_SECOND).astype("datetime64[ns]"), ahead


def texts_of(times: NDArray[Any], zone: str) -> NDArray[Any]:
    """Return dates in universal time as text, as the clocks of a zone show them, with their offsets.

    Examples
    --------
    >>> texts_of(np.array(["2026-03-29T00:59:59", "2026-03-29T01:00:00"], "datetime64[s]"), "Europe/Berlin").tolist()
    ['2026-03-29T01:59:59+01:00', '2026-03-29T03:00:00+02:00']
    """
    local, ahead = on_clocks(times, zone)
    each, which = np.unique(ahead, return_inverse=True)
    offsets = np.array([offset_in_words(seconds) for seconds in each.tolist()])
    whole = next(dates for unit in _UNITS if ((dates := local.astype(f"datetime64[{unit}]")) == local).all())
    return np.char.add(whole.astype(str), offsets[which])


def offsets_between(zone: str, first: int, last: int) -> list[tuple[int, int]]:
    """Return from which tick on which offset holds, in seconds, from one tick to another; the first is the first tick.

    Examples
    --------
    >>> year = [int(np.datetime64(day, "ns").astype(int)) for day in ("2026-01-01", "2027-01-01")]
    >>> [(str(np.datetime64(tick, "ns"))[:13], ahead) for tick, ahead in offsets_between("Europe/Berlin", *year)]
    [('2026-01-01T00', 3600), ('2026-03-29T01', 7200), ('2026-10-25T01', 3600)]
    """
    second, end = first // _PER_SECOND, last // _PER_SECOND
    found = [(first, _ahead(zone, second))]
    while second < end:
        low, second = second, min(second + _WEEK, end)
        if (ahead := _ahead(zone, second)) != found[-1][1]:
            high = second
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if _ahead(zone, middle) == ahead else (middle, high)
            found.append((high * _PER_SECOND, ahead))
    return found


def offset_in_words(ahead: int) -> str:
    """Return an offset in seconds as it stands behind a date: to the minute, or with seconds where it has them."""
    if ahead == 0:
        return "Z"
    minutes, seconds = divmod(abs(ahead), 60)
    text = f"{'-' if ahead < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}"
    return text + (f":{seconds:02}" if seconds else "")


def _of_column(given: Any) -> Any:
    dtype = getattr(given, "dtype", getattr(given, "type", None))
    zones = (getattr(dtype, name, None) for name in ("tz", "time_zone"))
    return next((zone for zone in zones if zone is not None), None)


def _name(zone: Any) -> str:
    """Return a zone of any library by its name, or by its offset if that is fixed."""
    name = zone if isinstance(zone, str) else getattr(zone, "key", None) or getattr(zone, "zone", None)
    known = zone if isinstance(zone, tzinfo) else UNIVERSAL
    if name is not None:
        with suppress(ValueError):
            known = _at(str(name))
            if not _OFFSET.match(str(name)) and known.utcoffset(None) != timedelta():
                return str(name)
    fixed = known.utcoffset(None)
    return offset_in_words(round(fixed.total_seconds())) if fixed else UTC


def _of_cells(cells: NDArray[Any]) -> Zone:
    """Return the zone of dates as text, or as objects of Python."""
    zones = {getattr(cell, "tzinfo", None) for cell in cells.tolist()} if cells.dtype.kind == "O" else {None}
    if len(zones) == 1 and (zone := zones.pop()) is not None:
        return _name(zone)
    with suppress(ValueError):
        if datetime.fromisoformat(str(cells[0]).strip()).tzinfo is None:
            return False
        ends = {str(cell).strip()[-_LONGEST_OFFSET:] for cell in cells.tolist()}
        offsets = {_name(found[0]) if (found := _OFFSET.search(end)) else UTC for end in ends}
        return offsets.pop() if len(offsets) == 1 else UTC
    return None


@lru_cache
def _at(zone: str) -> tzinfo:
    """Return a zone by its name, or by its offset."""
    if zone == UTC:
        return UNIVERSAL
    if _OFFSET.match(zone):
        found = datetime.fromisoformat(f"2026-01-01T00:00{zone}").tzinfo
        assert found is not None
        return found
    return zone_of(zone)


def _ahead(zone: str, second: int) -> int:
    """Return how many seconds the clocks of a zone are ahead of universal time, at a second since 1970."""
    if zone == UTC:
        return 0
    moment = datetime(1970, 1, 1, tzinfo=UNIVERSAL) + timedelta(seconds=second)
    ahead = moment.astimezone(_at(zone)).utcoffset()
    assert ahead is not None
    return round(ahead.total_seconds())
