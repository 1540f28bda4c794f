"""Durations: as text such as "30min" or "PT30M", as what Python, NumPy and pandas have, or as a number."""

from __future__ import annotations

import re
from datetime import timedelta
from fractions import Fraction
from typing import Any

import numpy as np

from dqeval.core.arguments import quote

# In nanoseconds, the unit of all clocks with dates.
UNITS = {
    "ns": 1,
    "us": 1_000,
    "ms": 1_000_000,
    "s": 1_000_000_000,
    "min": 60_000_000_000,
    "h": 3_600_000_000_000,
    "d": 86_400_000_000_000,
    "w": 604_800_000_000_000,
}
_OTHER_NAMES = {
    **dict.fromkeys(("sec", "second", "seconds"), "s"),
    **dict.fromkeys(("m", "minute", "minutes"), "min"),
    **dict.fromkeys(("hr", "hour", "hours"), "h"),
    **dict.fromkeys(("day", "days"), "d"),
    **dict.fromkeys(("week", "weeks"), "w"),
}
_NUMBER = r"((?:\d{1,15}(?:\.\d{0,20})?|\.\d{1,20})(?:e[+-]?\d{1,2})?)"  # also as Python writes floats
_DURATION = re.compile(rf"{_NUMBER}\s*([a-z]+)", re.ASCII | re.IGNORECASE)
_DURATIONS = re.compile(rf"\s*(?:{_DURATION.pattern}\s*){{1,8}}", re.ASCII | re.IGNORECASE)
_ISO_NUMBER = r"(\d{1,15}(?:[.,]\d{1,20})?)"
_ISO_UNITS = ("w", "d", "h", "min", "s")
_ISO = re.compile(  # years and months have no fixed length
    rf"\s*P(?=[\dT])(?:{_ISO_NUMBER}W)?(?:{_ISO_NUMBER}D)?"
    rf"(?:T(?=\d)(?:{_ISO_NUMBER}H)?(?:{_ISO_NUMBER}M)?(?:{_ISO_NUMBER}S)?)?\s*",
    re.ASCII | re.IGNORECASE,
)
_LONGEST = 2**62

Length = float | str | timedelta | np.timedelta64  # a number of points or cells, or a duration


def is_duration(given: Any) -> bool:
    """Tell whether this is a duration by its type, or a text that is one."""
    return isinstance(given, (timedelta, np.timedelta64)) or (isinstance(given, str) and _parsed(given) is not None)


def nanoseconds(name: str, given: Any) -> int:
    """Return a duration in nanoseconds, above 0 or 0.

    Examples
    --------
    >>> nanoseconds("near", "1.5min"), nanoseconds("near", "PT1M30S"), nanoseconds("near", np.timedelta64(2, "s"))
    (90000000000, 90000000000, 2000000000)
    """
    found: int | None = None
    if isinstance(given, np.timedelta64):
        found = _from_numpy(name, given)
    elif isinstance(given, timedelta):
        found = (given.days * 86_400 + given.seconds) * UNITS["s"] + given.microseconds * UNITS["us"]
    elif isinstance(given, str):
        found = _parsed(given)
    if found is None:
        raise ValueError(f'{name} must be a duration such as "30min" or "10s": got {quote(given)}')
    if not 0 <= found < _LONGEST:
        raise ValueError(f"{name} must be a duration of at least 0, and of less than a century: got {quote(given)}")
    return found


def nanoseconds_or_seconds(name: str, given: Any) -> int:
    """Return a duration in nanoseconds; a number is one of seconds."""
    if is_duration(given) or isinstance(given, bool):
        return nanoseconds(name, given)
    if isinstance(given, (int, np.integer)):
        return int(given) * UNITS["s"]
    if isinstance(given, (float, np.floating)) and np.isfinite(given):
        return round(Fraction(float(given)) * UNITS["s"])
    return nanoseconds(name, given)


def in_words(duration: int, *, exact: bool = False) -> str:
    """Return nanoseconds, which may be negative, in the two largest units that they have, or in all.

    Examples
    --------
    >>> in_words(5_400_000_000_000), in_words(-90_000_000_000), in_words(0), in_words(1_500_000)
    ('1 h 30 min', '−1 min 30 s', '0 s', '1 ms 500 us')
    >>> in_words(3_690_000_000_000), in_words(3_690_000_000_000, exact=True)
    ('1 h 1 min', '1 h 1 min 30 s')
    """
    sign, left = "−" if duration < 0 else "", abs(duration)
    parts: list[str] = []
    for unit in reversed(UNITS):
        count, rest = divmod(left, UNITS[unit])
        if unit != "w" and (count or parts):
            parts.append(f"{count:,} {unit}" if count else "")
            left = rest
        if len(parts) == 2 and not exact:
            break
    return sign + (" ".join(filter(None, parts)) or "0 s")


def _parsed(text: str) -> int | None:
    """Return a duration that is written as numbers with units, or as ISO 8601 has it; None where it is not."""
    if iso := _ISO.fullmatch(text):
        numbers = ((number or "0").replace(",", ".") for number in iso.groups())
        return sum(round(float(number) * UNITS[unit]) for number, unit in zip(numbers, _ISO_UNITS, strict=True))
    if not _DURATIONS.fullmatch(text):
        return None
    found = 0
    for number, name in _DURATION.findall(text):
        length = UNITS.get(_OTHER_NAMES.get(name.lower(), name.lower()))
        if length is None:
            return None
        found += round(float(number) * length)
    return found


def _from_numpy(name: str, given: np.timedelta64) -> int:
    unit, _ = np.datetime_data(given.dtype)
    if np.isnat(given) or unit in ("Y", "M", "generic"):
        raise ValueError(f"{name} must have a fixed length: got {given!r}; give it in days, hours or seconds")
    return int(given.astype("timedelta64[ns]").astype(np.int64))
