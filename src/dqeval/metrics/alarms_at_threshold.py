"""What operators ask of detections: which events are noticed, how soon, and how often there is an alarm for nothing."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dqeval.core.alarms import Alarms
from dqeval.core.events import split_at
from dqeval.core.types import BoolArray, Events, IntArray


def alarms_of(
    events: Events,
    found: Events,
    *,
    early: int = 0,
    max_delay: int | None = None,
    breaks: Sequence[int] | IntArray = (),
    resolution: int | None = None,
) -> Alarms:
    """Return detections as alarms, against events; the work grows with their number, not with that of the points.

    At a break, in ascending order, a new stretch of points begins after a time that was not observed: alarms, early
    ones too, and quiet stretches end there. Events are split there already.
    """
    borders = np.asarray(breaks, dtype=np.intp)
    found = split_at(found, borders)
    zones = zones_of(events, early, max_delay, borders)
    starts, stops = zones.starts, zones.stops
    # The first alarm that ends behind the start of a zone, and the first that starts at its end or later.
    first, last = np.searchsorted(found.stops, starts, side="right"), np.searchsorted(found.starts, stops, side="left")
    touching = np.maximum(last - first, 0)
    detected = touching > 0
    delays = np.full(len(events), np.nan)
    delays[detected] = np.maximum(found.starts[first[detected]], starts[detected]) - events.starts[detected]
    inside = _shared_points(events, found)
    points = int((found.stops - found.starts).sum())
    lengths = events.stops - events.starts
    return Alarms(
        detected=detected,
        delays=delays,
        starts=events.starts,
        lengths=lengths,
        alarms_per_event=touching,
        false_alarms=int(np.count_nonzero(~_touch(found, starts, events.stops))),
        alarm_points=points,
        false_alarm_points=points - inside,
        normal_points=events.length - int(lengths.sum()),
        points=events.length,
        longest_quiet=_longest_quiet(found, borders),
        resolution=resolution,
    )


def zones_of(events: Events, early: int, max_delay: int | None, breaks: IntArray) -> Events:
    """Return the zone of each event, where an alarm counts for it: from some points before to so many behind its start.

    Without a largest delay, it goes to the end of the event.
    """
    stops = events.stops
    if max_delay is not None:
        # No delay is longer than the series, and what is longer may be more than an array holds.
        stops = np.minimum(stops, events.starts + min(max_delay, events.length) + 1)
    return Events(zone_starts(events, min(early, events.length), breaks), stops, events.length)


def zone_starts(events: Events, early: int, breaks: IntArray) -> IntArray:
    """Return where the zone of each event begins: some points before it, but behind the event and the break before."""
    before = np.concatenate([[0], events.stops[:-1]])[: len(events)]
    starts: IntArray = np.maximum(events.starts - early, before)
    if not len(breaks):
        return starts
    begins = np.concatenate([[0], breaks])
    return np.asarray(np.maximum(starts, begins[np.searchsorted(breaks, events.starts, side="right")]))


def _touch(found: Events, starts: IntArray, stops: IntArray) -> BoolArray:
    """Tell which alarms touch any of some zones, which do not overlap."""
    zone = np.searchsorted(stops, found.starts, side="right")
    there = zone < len(stops)
    touches = np.zeros(len(found), dtype=np.bool_)
    touches[there] = starts[zone[there]] < found.stops[there]
    return touches


def _shared_points(events: Events, found: Events) -> int:
    """Return how many points of alarms lie in events."""
    lengths = np.concatenate([[0], np.cumsum(events.stops - events.starts)])

    def before(points: IntArray) -> IntArray:
        """Return how many points of events lie before some points."""
        complete = np.searchsorted(events.stops, points, side="right")
        current = np.minimum(complete, len(events) - 1)
        partial = np.clip(points - events.starts[current], 0, None) * (complete < len(events))
        return np.asarray(lengths[complete] + partial)

    return int((before(found.stops) - before(found.starts)).sum()) if len(events) else 0


def _longest_quiet(found: Events, breaks: IntArray) -> int:
    starts, stops = found.starts, found.stops
    if len(breaks):
        # A break is like an alarm of no length, and overlaps none: so both ends can be sorted, each for itself.
        starts, stops = (np.sort(np.concatenate([ends, breaks])) for ends in (starts, stops))
    return int((np.append(starts, found.length) - np.concatenate([[0], stops])).max())
