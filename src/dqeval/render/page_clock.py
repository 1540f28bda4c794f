"""What the page must know to say when events that a reader moves begin and end, and whose they are."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from dqeval.core.durations import UNITS
from dqeval.core.moments import Moments, moments_of, zone_shown
from dqeval.core.prepared import Prepared
from dqeval.core.types import Series
from dqeval.core.zones import offsets_between
from dqeval.render.packing import packed


def clock_of(prepared: Prepared) -> dict[str, Any] | None:
    """Return how label_files.js finds when each point is: exactly, as `dqeval score --incidents` reads it.

    Parameters
    ----------
    prepared : Prepared

    Returns
    -------
    dict or None
        The ``kind`` of times, and of a time axis ``origin`` and ``step``, as text, because browsers round whole numbers
        beyond 2**53. Of samples that are not on an axis, when the ``first`` is, the ``steps`` to the next ones in a
        ``unit``, packed, and how far ``behind`` its last sample an event ends. Of dates with a time zone, the
        ``offsets`` of its clocks: from when on, and how many minutes ahead. None where points have no times.
    """
    axis = prepared.labelled.axis
    if axis is not None:
        last = axis.origin + axis.cells * axis.resolution
        offsets = _offsets(axis.zone_shown, axis.origin, last)
        return {"kind": axis.kind, "origin": str(axis.origin), "step": str(axis.resolution), **offsets}
    moments = _moments(prepared.series)
    if moments is None:
        return None
    steps = np.diff(moments.ticks)
    unit = int(np.gcd.reduce(steps)) or 1  # small numbers are packed into fewer bytes
    return {
        "kind": moments.kind,
        **_offsets(zone_shown(moments.kind, moments.zone), int(moments.ticks[0]), int(moments.ticks[-1])),
        "first": str(moments.ticks[0]),
        "unit": str(unit),
        "steps": packed(steps // unit, "<i8"),
        "behind": _right_behind(moments),
    }


def _offsets(zone: str | None, first: int, last: int) -> dict[str, Any]:
    """Return the offsets of a zone's clocks, if there is a zone: in whole minutes, as all have been for a century."""
    if zone is None:
        return {}
    found = offsets_between(zone, first, last)
    if any(ahead % 60 for _, ahead in found):  # as before clocks were the same for a whole country
        found = [(first, 0)]
    return {"offsets": [[str(tick), ahead // 60] for tick, ahead in found]}


def _moments(series: Series) -> Moments | None:
    """Return when samples are, in ascending order; None where that is not known."""
    if series.timestamps is None:
        return None
    with suppress(ValueError):  # as text that is no date, or as numbers that are not whole
        moments = moments_of("times", series.timestamps)
        if (np.diff(moments.ticks) > 0).all():
            if moments.kind == "local" and series.zoned:
                return replace(moments, kind="universal", zone=series.zone)
            return moments
    return None


def _right_behind(moments: Moments) -> int:
    """Return after how many ticks a sample is over, before the next: of dates that are whole, a millisecond."""
    whole = moments.kind != "number" and not (moments.ticks % UNITS["ms"]).any()
    return UNITS["ms"] if whole and (np.diff(moments.ticks) > UNITS["ms"]).all() else 1


def content_key(prepared: Prepared) -> str:
    """Return what browsers keep corrections of the labels under: the same for pages of the same labels and times."""
    events, axis = prepared.labelled.events, prepared.labelled.axis
    digest = hashlib.sha256(repr((prepared.name, len(prepared.labelled.labels), axis)).encode("utf-8", "replace"))
    for borders in (events.starts, events.stops):
        digest.update(borders.astype("<i8").tobytes())
    return digest.hexdigest()[:32]
