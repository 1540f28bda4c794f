"""The panel of each detector of a series, and other work on it: in threads, or of short series several together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain
from typing import Literal, TypeVar

from dqeval.analysis.panel import panel_of, panels_of
from dqeval.analysis.panel_result import Evaluation
from dqeval.core import arguments, validate
from dqeval.core.joined import windows
from dqeval.core.prepared import Prepared, Scored
from dqeval.core.types import Progress
from dqeval.support.threads import in_order, worker_count

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Detected:
    """The scores of a detector on a series.

    Attributes
    ----------
    name : str
        Of the detector.
    scored : Scored
    near : float
    series : str
        What errors call the series; nothing if there is only one.
    """

    name: str
    scored: Scored
    near: float
    series: str = ""


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
    return _each(prepared, lambda several: [work(each.name, each.scored) for each in several], progress, workers)


def of_each_panel(
    prepared: Prepared,
    work: Callable[[str, Scored, Evaluation], Made],
    *,
    metrics: Sequence[str] | str | None = None,
    thresholds: int | Literal["exact"] = 100,
    progress: Progress | None = None,
    workers: int | None = None,
) -> Iterator[tuple[str, Made]]:
    """Yield the same for work that needs the panel of a detector, too: these metrics, with these thresholds of DQE."""

    def of_some(several: Sequence[Detected]) -> list[Made]:
        panels = panels_of_detectors(several, metrics, thresholds)
        return [work(each.name, each.scored, panel) for each, panel in zip(several, panels, strict=True)]

    return _each(prepared, of_some, progress, workers)


def _each(
    prepared: Prepared,
    work: Callable[[Sequence[Detected]], list[Made]],
    progress: Progress | None,
    workers: int | None,
) -> Iterator[tuple[str, Made]]:
    """Yield the detectors with what comes of them, several at once where the series is short."""
    arguments.callback("progress", progress)
    points = len(prepared.labelled.labels)
    count = worker_count(workers, points=points)
    prepared.require_scores()
    prepared.require_event()

    def of_some(names: Sequence[str]) -> list[Made]:
        return work([Detected(name, prepared.scored(name), prepared.near.points) for name in names])

    found = chain.from_iterable(in_order(of_some, windows(prepared.scores, lambda _: points), count))
    for done, (name, made) in enumerate(zip(prepared.scores, found, strict=True), start=1):
        yield name, made
        if progress is not None:
            progress(done, len(prepared.scores))


def panels_of_detectors(
    several: Sequence[Detected], metrics: Sequence[str] | str | None, thresholds: int | Literal["exact"]
) -> list[Evaluation]:
    """Return all metrics of the scores of some detectors; errors say of which."""
    if len(several) > 1:
        try:
            return panels_of([(each.scored, each.near) for each in several], metrics=metrics, thresholds=thresholds)
        except MemoryError:
            raise
        except Exception:  # of which detector, is told when they are taken one by one
            pass
    return [_panel_of_one(each, metrics, thresholds) for each in several]


def _panel_of_one(
    each: Detected, metrics: Sequence[str] | str | None, thresholds: int | Literal["exact"]
) -> Evaluation:
    with ExitStack() as stack:
        for called in filter(None, [each.series, f"column {each.name}"]):
            stack.enter_context(validate.errors_about(called))
        return panel_of(each.scored, each.near, metrics=metrics, thresholds=thresholds)
