"""The series that a worker has read last: jobs of one series follow each other, and so read it once."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dqeval.core.types import Series

if TYPE_CHECKING:
    from dqeval.bench.plan import Generated
    from dqeval.datasets.loading import Source


class _Last(threading.local):
    """What this thread, which may be one worker of several, has read last, and from where."""

    origin: Any = None
    series: Series | None = None


_last = _Last()


def read_series(source: Source | Generated) -> Series:
    """Return a series, which is read only if it is not the last one, or its file has changed."""
    origin = (source, stamp_of(source))
    if _last.series is None or _last.origin != origin:
        forget_series()  # before the next is read: there shall not be two in memory
        _last.series = source.read()
        _last.origin = origin
    # Labels of its own: what a metric of one's own does to them must not reach the next job.
    return replace(_last.series, labels=_last.series.labels.copy())


def forget_series() -> None:
    """Let go of the series that was read last."""
    _last.origin = _last.series = None


def stamp_of(source: Source | Generated) -> list[tuple[str, int, int]]:
    """Return what tells the files of a series from what they were before they were changed."""
    try:
        return [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in source.files()]
    except OSError:
        return []  # whoever reads it says what is wrong
