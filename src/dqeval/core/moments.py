"""Moments of any form, as whole numbers: dates, with a time zone or without, seconds since 1970, or plain numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dqeval.core import durations
from dqeval.core.arguments import quote
from dqeval.core.scaling import AT_ONCE, extremes
from dqeval.core.times import are_known, parse_times
from dqeval.core.zones import UTC, Zone, has_zone, local_ticks, zone_of, zone_told

Ticks = NDArray[np.int64]
Kind = Literal["number", "local", "universal"]  # universal: a date with a time zone, in universal time

# Whether dates have a time zone; None for numbers, and where that is not known.
ZONED: dict[Kind | None, bool | None] = {"universal": True, "local": False, "number": None, None: None}
LARGEST = 2**62
BLOCK = 1 << 16  # moments that stay in a processor's own cache, with the steps between them
# Numbers from 2001 to 2096, if they count these units since 1970, are dates: no other clock is likely to stand there.
_FIRST, _LAST = 10**9, 4 * 10**9
_EPOCHS = (10**9, 10**6, 10**3, 1)  # how many of the unit there are in a second
_PER_SECOND = 10**9
_HOUR = 3600  # seconds
_SAME_ZONES = "give all with a time zone, or all without (on the command line: --timezone, for those without)"
_EXACT = 1_000  # nanoseconds: a float since 1970 cannot tell less apart
_MISSING = ("NaT", "None", "nan", "<NA>", "")  # as text, of whatever holds dates
_NAMES = {"D": "d", "W": "w", "m": "min"}  # of the units of NumPy, where they are not ours
_FINER = ("ps", "fs", "as")
_NOT_A_TIME, _FARTHEST = -(2**63), 2**63 - 1
_WORDS = {
    "number": "plain numbers",
    "local": "dates without a time zone",
    "universal": "dates with a time zone",
}


@dataclass(frozen=True, slots=True)
class Steps:
    """The shortest and the longest step from a moment to the next; below 0 if one is before the one that it follows."""

    shortest: int
    longest: int

    def times(self, factor: int) -> Steps:
        """Return the steps in another unit."""
        return Steps(self.shortest * factor, self.longest * factor)


@dataclass(frozen=True, slots=True, eq=False)
class Moments:
    """Moments as whole numbers.

    Attributes
    ----------
    ticks : array of int, shape (n,)
        Nanoseconds since 1970 for dates; otherwise the numbers.
    kind : "number", "local" or "universal"
        Whether they are numbers, dates without a time zone, or dates with one, which are in universal time.
    known_steps : Steps, optional
        Where they were found on the way.
    zone : str
        The time zone in which dates with one are shown: that in which they were given.
    """

    ticks: Ticks
    kind: Kind
    known_steps: Steps | None = None
    zone: str = UTC

    @property
    def steps(self) -> Steps | None:
        """The shortest and the longest step from a moment to the next; None for fewer than two moments."""
        return self.known_steps or (_looked_at(self.ticks)[2] if len(self.ticks) else None)

    def moment(self, i: int) -> Any:
        """Return one of them as a date, or as a number."""
        ticks = int(self.ticks[i])
        return ticks if self.kind == "number" else np.datetime64(ticks, "ns")

    def shown(self, i: int) -> str:
        """Return one of them as text, in its zone."""
        return shown(self.moment(i), zone_shown(self.kind, self.zone))


def zone_shown(kind: Kind | None, zone: str) -> str | None:
    """Return the zone in which dates of a kind are shown; None for those without one, and for numbers."""
    return zone if kind == "universal" else None


def moments_of(name: str, given: Any) -> Moments:
    """Return moments of any form as whole numbers.

    Parameters
    ----------
    name : str
        What to call them in an error.
    given : array-like, shape (n,)
        Of NumPy, pandas, polars, pyarrow or Python: dates, ISO text, or numbers; numbers that count seconds,
        milliseconds, microseconds or nanoseconds since 1970, from 2001 to 2096, are dates.
    """
    if has_zone(given):
        array, zone = np.asarray(given, dtype="datetime64[ns]"), zone_told(given)
    else:
        array, zone = _as_array(name, given)
    times = parse_times(array)
    if not are_known(times):
        if (missing := np.flatnonzero(np.isin(array.astype(str), _MISSING))).size:
            raise ValueError(f"{name}: the time at position {int(missing[0]):,} is missing")
        example = f"such as {quote(str(array[0]))}"
        advice = "give numbers, or dates such as 2026-01-31T12:00:00, all with a time zone or all without"
        raise ValueError(f"{name}: the times, {example}, cannot be read together: {advice}")
    if times.dtype.kind == "M":
        return _dates(name, times, zone)
    return _numbers(name, times)


def in_zone(moments: Moments, timezone: str | None, place: Callable[[int], str]) -> Moments:
    """Return local dates, which are those of a time zone, in universal time; others are only shown there.

    Parameters
    ----------
    moments : Moments
    timezone : str, optional
        Its name, such as Europe/Berlin.
    place : callable
        What to call each of the moments in an error: where clocks are put forward or back, a local date may be none, or
        two.
    """
    if timezone is None or moments.kind == "number":
        return moments
    if moments.kind == "universal":
        return replace(moments, zone=timezone)
    zone, seconds = zone_of(timezone), moments.ticks // _PER_SECOND
    hours, which = np.unique(seconds // _HOUR, return_inverse=True)
    # Clocks are put forward or back once in an hour at most, so one that begins and ends with an offset has only that.
    ahead = np.array([_only_offset(zone, hour * _HOUR) for hour in hours.tolist()], dtype=np.float64)[which]
    for i in np.flatnonzero(np.isnan(ahead)).tolist():
        early, late = (_offset(zone, int(seconds[i]), fold) for fold in (0, 1))
        if early != late:
            trouble = "is there twice, as clocks are put back" if early > late else "is left out by clocks put forward"
            advice = "give times with their offset, such as +01:00, or in UTC"
            raise ValueError(f"{place(i)}: {shown(moments.moment(i))} {trouble} in {timezone}: {advice}")
        ahead[i] = early
    return Moments(moments.ticks - ahead.astype(np.int64) * _PER_SECOND, "universal", zone=timezone)


def _only_offset(zone: tzinfo, second: int) -> float:
    """Return how many seconds local time is ahead in an hour; NaN if that changes in it."""
    found = {_offset(zone, second, 0), _offset(zone, second, 1), _offset(zone, second + _HOUR, 0)}
    return found.pop() if len(found) == 1 else np.nan


def _offset(zone: tzinfo, second: int, fold: int) -> int:
    """Return how many seconds local time is ahead, at a second of local time since 1970."""
    ahead = zone.utcoffset((datetime(1970, 1, 1) + timedelta(seconds=second)).replace(fold=fold))
    return round((ahead or timedelta()).total_seconds())


def same_kind(kinds: Mapping[str, Kind | None]) -> Kind | None:
    """Return the kind that all moments have, given by what they are; None where there are none."""
    known = {name: kind for name, kind in kinds.items() if kind is not None}
    if not known:
        return None
    first, kind = next(iter(known.items()))
    for name, other in known.items():
        if other != kind:
            advice = _SAME_ZONES if "number" not in (kind, other) else "give one form"
            raise ValueError(f"{first} are {_WORDS[kind]}, and {name} are {_WORDS[other]}: {advice}")
    return kind


def shown(moment: Any, zone: str | None = None) -> str:
    """Return a moment as text: of dates, to the minute, or with as many digits as it needs, and with the offset.

    Those in universal time are shown in a zone; those without a zone have none.

    Examples
    --------
    >>> moment = np.datetime64("2026-01-31T10:00")
    >>> shown(moment), shown(moment, "UTC"), shown(moment, "Europe/Berlin")
    ('2026-01-31T10:00', '2026-01-31T10:00Z', '2026-01-31T11:00+01:00')
    """
    text, offset = _shown_apart(moment, zone)
    return text + offset


def shown_between(start: Any, stop: Any, zone: str | None = None) -> str:
    """Return two moments as text; the date and the offset once, if they are the same.

    Examples
    --------
    >>> start, stop = np.datetime64("2026-01-31T10:00"), np.datetime64("2026-01-31T10:30")
    >>> shown_between(start, stop), shown_between(start, stop, "Europe/Berlin")
    ('2026-01-31 10:00 – 10:30', '2026-01-31 11:00 – 11:30 +01:00')
    """
    (first, before), (last, after) = (_shown_apart(moment, zone) for moment in (start, stop))
    first, last = first.replace("T", " "), last.replace("T", " ")
    day, _, clock = last.partition(" ")
    begin, end = (f" {offset}".replace("Z", UTC) if offset else "" for offset in (before, after))
    return f"{first}{begin if before != after else ''} – {clock if clock and first.startswith(day) else last}{end}"


def _shown_apart(moment: Any, zone: str | None) -> tuple[str, str]:
    """Return a moment as text, and the offset of the zone then."""
    if not isinstance(moment, np.datetime64):
        return f"{moment:,}", ""
    offset = ""
    if zone is not None:
        ticks, offset = local_ticks(int(moment.astype("datetime64[ns]").astype(np.int64)), zone)
        moment = np.datetime64(ticks, "ns")
    whole_minutes = moment == moment.astype("datetime64[m]")
    return str(np.datetime_as_string(moment, unit="m" if whole_minutes else "auto")), offset


def _as_array(name: str, given: Any) -> tuple[NDArray[Any], Zone]:
    """Return moments as an array, dates of Python as text, and the time zone that they tell."""
    is_column = hasattr(given, "dtype") or hasattr(given, "type")
    if not is_column and (isinstance(given, (str, bytes)) or not isinstance(given, Iterable)):
        raise ValueError(f"{name} must be a sequence of times: got {quote(given)}")
    found = np.asarray(given if is_column else list(given))
    if found.ndim != 1:
        raise ValueError(f"{name} must be a sequence of times: got an array of shape {found.shape}")
    return np.array([_as_text(each) for each in found]) if found.dtype.kind == "O" else found, zone_told(found)


def _as_text(given: Any) -> Any:
    return given.isoformat() if hasattr(given, "isoformat") else given


def _looked_at(times: Ticks) -> tuple[int, int, Steps | None]:
    """Return the lowest and the highest of some whole numbers, at least one, and the steps. Memory is read once."""
    ends: list[tuple[int, int]] = []
    steps: list[tuple[int, int]] = []
    for begin in range(0, len(times), BLOCK):
        some = times[begin : begin + BLOCK + 1]  # with the first of the next block
        ends.append((int(some.min()), int(some.max())))
        if len(some) > 1:
            from_each = np.diff(some)
            steps.append((int(from_each.min()), int(from_each.max())))
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    return low, high, Steps(min(low for low, _ in steps), max(high for _, high in steps)) if steps else None


def _dates(name: str, times: NDArray[Any], zone: Zone) -> Moments:
    """Return dates as nanoseconds since 1970, as few passes over them as it takes."""
    unit, count = np.datetime_data(times.dtype)
    if unit in _FINER:
        return _dates(name, times.astype("datetime64[ns]"), zone)
    kind: Kind = "universal" if zone else "local"
    units = np.ascontiguousarray(times, dtype=times.dtype.newbyteorder("=")).view(np.int64)
    if not len(units):
        return Moments(units, kind)
    low, high, steps = _looked_at(units)
    if low == _NOT_A_TIME:
        raise ValueError(f"{name}: the time at position {int(np.argmin(units)):,} is missing")
    each = count * durations.UNITS[_NAMES.get(unit, unit)]
    for far, place in ((low, np.argmin), (high, np.argmax)):
        if abs(far) * each > _FARTHEST:
            raise ValueError(f"{name}: {times[place(units)]} is too far away: dates must be from 1678 to 2261")
    if (high - low) * each > _FARTHEST:
        ends = " to ".join(shown(np.datetime64(end * each, "ns"), zone or None) for end in (low, high))
        raise ValueError(f"{name} go from {ends}: that is too long, as dates may span 292 years")
    return Moments(units if each == 1 else units * each, kind, steps and steps.times(each), zone or UTC)


def _numbers(name: str, times: NDArray[Any]) -> Moments:
    low, high, steps = _extremes(times)
    if not (math.isfinite(low) and math.isfinite(high)):
        where = int(np.argmin(np.isfinite(times.astype(np.float64))))
        raise ValueError(f"{name}: the time at position {where} is not finite")
    if max(-low, high) >= LARGEST:
        far = np.argmax(np.abs(times.astype(np.float64)))
        raise ValueError(f"{name}: the time {times[far]} is too large: give smaller numbers, or dates")
    for per_second in _EPOCHS:
        if _FIRST * per_second <= low and high < _LAST * per_second:
            in_nanoseconds = steps and steps.times(_PER_SECOND // per_second)
            return Moments(_since_1970(times, per_second), "universal", in_nanoseconds)
    if times.dtype.kind == "f":
        _check_whole(name, times)
    return Moments(np.ascontiguousarray(times, dtype=np.int64), "number", steps)


def _extremes(times: NDArray[Any]) -> tuple[float, float, Steps | None]:
    """Return the lowest and the highest number, and the steps where these are exact already."""
    if not len(times):
        return 0.0, 0.0, None
    return _looked_at(times) if times.dtype == np.int64 else (*extremes(times), None)


def _check_whole(name: str, times: NDArray[Any]) -> None:
    """Raise an error if a time is no whole number."""
    for begin in range(0, len(times), AT_ONCE):
        some = times[begin : begin + AT_ONCE]
        broken = some != np.floor(some)
        if broken.any():
            advice = "give whole numbers, such as milliseconds, or dates"
            raise ValueError(f"{name}: the time {some[np.argmax(broken)]} is not whole: {advice}")


def _since_1970(times: NDArray[Any], per_second: int) -> Ticks:
    """Return numbers of some unit since 1970 as nanoseconds; floats to what they can hold, a microsecond."""
    factor = _PER_SECOND // per_second
    if times.dtype.kind != "f":
        return times.astype(np.int64) * factor
    if factor < _EXACT:
        return np.rint(times * (factor / _EXACT)).astype(np.int64) * _EXACT
    whole = np.floor(times)
    rest = np.rint((times - whole) * (factor / _EXACT)).astype(np.int64) * _EXACT
    return np.asarray(whole.astype(np.int64) * factor + rest)
