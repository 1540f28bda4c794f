"""Timestamps as they are given, to numbers or moments."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dqeval.core.types import IntArray
from dqeval.core.zones import Zone, has_zone, zone_told

Times = NDArray[Any]

_FORM = "dddd-dd-dd dd:dd:dd.dddddd"  # of plain dates
_LENGTHS = (10, 16, 19, 23, 26)  # at which it may end
_UNITS = (("s", 1_000_000), ("ms", 1_000), ("us", 1))  # with how many microseconds each has, the coarsest first


def parse_times(given: Times) -> Times:
    """Return timestamps as numbers, or as moments in universal time; as they are, where they are neither.

    Parameters
    ----------
    given : array, shape (n,)
        Numbers and moments of NumPy stay as they are. Of text and objects, all must be numbers, or all dates in ISO
        form, with a time zone or all without.

    Returns
    -------
    array, shape (n,)
        Of numbers, of ``datetime64``, or as given.

    Examples
    --------
    >>> parse_times(np.array(["2026-01-01T12:00:00+02:00", "2026-01-01T12:00:01+02:00"]))
    array(['2026-01-01T10:00:00', '2026-01-01T10:00:01'],
          dtype='datetime64[s]')
    >>> parse_times(np.array(["7", "8"])), parse_times(np.array(["1 May", "2 May"]))
    (array([7, 8]), array(['1 May', '2 May'], dtype='<U5'))
    """
    if are_known(given):
        # Months and years have no fixed length, so that no step between two of them can be measured.
        return given.astype("datetime64[D]") if given.dtype in ("datetime64[M]", "datetime64[Y]") else given
    if _are_plain_dates(given):
        with suppress(ValueError):  # some month is the thirteenth
            return _coarsest(given.astype("datetime64[us]"))
    cells = [str(cell).strip() for cell in given]
    for read in (_numbers, _moments):
        try:
            return read(cells)
        except (ValueError, TypeError, OverflowError):
            continue
    return given


def are_known(times: Times) -> bool:
    """Tell whether timestamps are numbers or moments, not text."""
    return times.dtype.kind in "biufM"


def parse_with_zone(given: Any, zone: Zone = None) -> tuple[Times, Zone]:
    """Return timestamps of any kind as `parse_times` does, and the time zone that dates were given in.

    They tell it themselves, unless that is known already.
    """
    times = parse_times(as_times(given))
    if times.dtype.kind != "M":
        return times, None
    return times, zone_told(given) if zone is None else zone


def as_times(given: Any) -> Times:
    """Return timestamps of any kind as an array, in universal time where a column has a time zone."""
    return np.asarray(given, dtype="datetime64[ns]" if has_zone(given) else None)


def index_of(column: Any) -> Any:
    """Return the index of what pandas holds, or xarray along its first dimension; None where there is none."""
    index = getattr(column, "index", None)
    if hasattr(column, "indexes") and hasattr(column, "dims"):
        index = next((column.indexes.get(dimension) for dimension in column.dims), None)
    return index if hasattr(index, "equals") else None


def dates_of_index(*columns: Any) -> Any:
    """Return the first index of some columns that holds dates; None if none does."""
    for index in map(index_of, columns):
        if index is not None and (has_zone(index) or np.asarray(index.values).dtype.kind == "M"):
            return index
    return None


def _are_plain_dates(given: Times) -> bool:
    """Tell whether all are texts such as 2026-01-31 12:00:00, which NumPy reads as Python does, and much faster."""
    length = given.dtype.itemsize // np.dtype("U1").itemsize
    if given.dtype.kind != "U" or length not in _LENGTHS or not len(given):
        return False
    letters = np.ascontiguousarray(given).view(np.uint32).reshape(len(given), length)
    digits = letters - ord("0")  # without a sign, so that what comes before 0 is large
    is_form = all(_are(kind, letters[:, i], digits[:, i]) for i, kind in enumerate(_FORM[:length]))
    return is_form and bool(digits[:, :4].any(axis=1).all())  # Python knows no year 0


def _are(kind: str, letters: NDArray[np.uint32], digits: NDArray[np.uint32]) -> bool:
    """Tell whether a column of letters is of one kind: digits, what stands between date and time, or a sign."""
    if kind == "d":
        return bool(digits.max() <= 9)
    return bool(((letters == ord(kind)) | ((kind == " ") & (letters == ord("T")))).all())


def _numbers(cells: Sequence[str]) -> Times:
    floats = np.array([float(cell) for cell in cells])
    if not all(cell.lstrip("+-").isdecimal() for cell in cells):
        return floats
    try:
        return np.array([int(cell) for cell in cells], dtype=np.int64)
    except OverflowError:
        return floats


def _moments(cells: Sequence[str]) -> Times:
    dates = [datetime.fromisoformat(cell) for cell in cells]
    if any(date.tzinfo for date in dates):
        # Without a zone, a date is no moment: the machine's own zone would be a guess.
        dates = [_in_universal_time(date) for date in dates]
    return _coarsest(np.array(dates, dtype="datetime64[us]"))


def _in_universal_time(date: datetime) -> datetime:
    if date.tzinfo is None:
        raise ValueError("of dates with and without a time zone there is no order")
    return date.astimezone(UTC).replace(tzinfo=None)


def _coarsest(moments: Times) -> Times:
    """Return moments in the coarsest unit that holds all of them."""
    ticks: IntArray = moments.astype(np.int64)
    unit = next(unit for unit, ticks_each in _UNITS if not (ticks % ticks_each).any())
    return moments.astype(f"datetime64[{unit}]")
