"""The work on each detector of a series, in threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, TypeVar

from dqeval.analysis.panel import panel_of
from dqeval.analysis.panel_result import Evaluation
from dqeval.core import arguments, validate
from dqeval.core.prepared import Prepared, Scored
from dqeval.core.types import Progress
from dqeval.support.threads import in_order, worker_count

Made = TypeVar("Made")


def of_each_detector(
    prepared: Prepared,
    work: Callable[[str, Scored], Made],
    *,
    progress: Progress | None = None,
    workers: int | None = None,
) -> Iterator[tuple[str, Made]]:
    """Yield the detectors of a series, each with what comes of the work on its scores.

    Parameters
    ----------
    prepared : Prepared
        With at least one event, and one detector.
    work : callable
        The name of a detector and its scores to anything; it should not hold the scores, which take much memory.
    progress : callable, optional
        Called with the number of detectors done, and that of all.
    workers : int, optional
        How many threads work; 1 for none, and None for as many as there are cores.
    """
    arguments.callback("progress", progress)
    count = worker_count(workers, points=len(prepared.labelled.labels))
    prepared.require_scores()
    prepared.require_event()
    found = in_order(lambda name: work(name, prepared.scored(name)), prepared.scores, count)
    for done, (name, made) in enumerate(zip(prepared.scores, found, strict=True), start=1):
        yield name, made
        if progress is not None:
            progress(done, len(prepared.scores))


def panel_of_detector(
    name: str,
    scored: Scored,
    near: float,
    metrics: Sequence[str] | str | None,
    thresholds: int | Literal["exact"] = 100,
) -> Evaluation:
    """Return all metrics of the scores of a detector; errors say which it is."""
    with validate.errors_about(f"column {name}"):
        return panel_of(scored, near, metrics=metrics, thresholds=thresholds)
