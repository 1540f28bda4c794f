"""DQE and its parts of each event: as objects, and as columns, which take a tenth of the memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dqeval.support.frames import Framed


@dataclass(frozen=True, slots=True)
class EventScores(Framed):
    """DQE and its three parts for the event [start, stop)."""

    start: int
    stop: int
    dqe: float
    capture: float
    near_miss: float
    false_alarm: float

    @property
    def place(self) -> str:
        """Where the event is, in words."""
        return f"[{self.start}, {self.stop})"

    def record(self) -> dict[str, Any]:
        """Return all of it as a flat row, ready for JSON."""
        # Not asdict, which copies every number as if it held others: there may be a million events.
        return {name: getattr(self, name) for name in type(self).__dataclass_fields__}


@dataclass(frozen=True, slots=True, eq=False)
class EventColumns:
    """The scores of all events as columns; called, it makes the objects.

    Attributes
    ----------
    starts, stops : array of int, shape (n_events,)
    scores : array of float, shape (n_events, 4)
        DQE, capture, near miss, false alarm.
    """

    starts: NDArray[np.intp]
    stops: NDArray[np.intp]
    scores: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.starts)

    def __call__(self) -> tuple[EventScores, ...]:
        """Return the objects."""
        return tuple(map(EventScores, self.starts.tolist(), self.stops.tolist(), *self.scores.T.tolist()))

    @property
    def dqe(self) -> NDArray[np.float64]:
        """DQE of each event."""
        return self.scores[:, 0]

    def by_name(self) -> dict[str, Any]:
        """Return them under the names of the attributes of `EventScores`."""
        names = EventScores.__dataclass_fields__
        every = (self.starts.astype(np.int64), self.stops.astype(np.int64), *self.scores.T)
        return dict(zip(names, every, strict=True))


def columns_from(events: tuple[EventScores, ...]) -> EventColumns:
    """Return objects as columns."""
    names = list(EventScores.__dataclass_fields__)
    rows = [[getattr(event, name) for name in names[2:]] for event in events]
    starts, stops = (np.array([getattr(event, name) for event in events], dtype=np.intp) for name in names[:2])
    return EventColumns(starts, stops, np.array(rows, dtype=np.float64).reshape(-1, 4))
