"""The panel of each detector of a series, and other work on it: in threads, or of short series several together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Literal, TypeVar

from dqeval.analysis.panel import started_together
from dqeval.analysis.panel_result import Evaluation
from dqeval.core import arguments, validate
from dqeval.core.joined import chunks
from dqeval.core.prepared import Prepared, Scored
from dqeval.core.types import Progress
from dqeval.support.threads import in_order, worker_count

Item = TypeVar("Item")
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
    points = _checked_points(prepared, progress)
    count = worker_count(workers, points=points)
    found = in_order(lambda name: work(name, prepared.scored(name)), prepared.scores, count)
    yield from _told(prepared, found, progress)


def of_each_panel(
    prepared: Prepared,
    work: Callable[[str, Scored, Evaluation], Made],
    *,
    metrics: Sequence[str] | str | None = None,
    thresholds: int | Literal["exact"] = 100,
    progress: Progress | None = None,
    workers: int | None = None,
) -> Iterator[tuple[str, Made]]:
    """Yield the same for work that needs the panel of a detector, too: these metrics, with these thresholds of DQE.

    Where the series is short, panels of several detectors are made together.
    """
    points = _checked_points(prepared, progress)
    count = worker_count(workers, points=points)

    def of_some(names: Sequence[str]) -> Iterator[Made]:
        several = [Detected(name, prepared.scored(name), prepared.near.points) for name in names]
        for each, panel in zip(several, panels_of_detectors(several, metrics, thresholds), strict=True):
            yield work(each.name, each.scored, panel)

    yield from _told(prepared, in_turn(of_some, chunks(prepared.scores, lambda _: points), count), progress)


def _checked_points(prepared: Prepared, progress: Progress | None) -> int:
    """Check that there is something to do; return how many points the series has."""
    arguments.callback("progress", progress)
    prepared.require_scores()
    prepared.require_event()
    return len(prepared.labelled.labels)


def _told(prepared: Prepared, found: Iterable[Made], progress: Progress | None) -> Iterator[tuple[str, Made]]:
    """Yield what was found of each detector, and tell of the progress."""
    for done, (name, made) in enumerate(zip(prepared.scores, found, strict=True), start=1):
        yield name, made
        if progress is not None:
            progress(done, len(prepared.scores))


def in_turn(
    work: Callable[[list[Item]], Iterable[Made]], several: Iterable[list[Item]], workers: int
) -> Iterator[Made]:
    """Yield what comes of some items that are worked on together, in threads; an error comes behind what came before.

    Examples
    --------
    >>> list(in_turn(lambda items: map(str, items), [[1, 2], [3]], workers=1))
    ['1', '2', '3']
    """
    for made, error in in_order(lambda items: _until_error(work(items)), several, workers):
        yield from made
        if error is not None:
            raise error


def _until_error(made: Iterable[Made]) -> tuple[list[Made], Exception | None]:
    done: list[Made] = []
    try:
        done.extend(made)  # what comes before an error stays
    except Exception as error:
        return done, error
    return done, None


def panels_of_detectors(
    several: Sequence[Detected], metrics: Sequence[str] | str | None, thresholds: int | Literal["exact"]
) -> Iterator[Evaluation]:
    """Yield all metrics of the scores of some detectors, made together where that is faster; errors say of which."""
    runs = started_together([(each.scored, each.near) for each in several], metrics=metrics, thresholds=thresholds)
    for each, run in zip(several, runs, strict=True):
        with ExitStack() as stack:
            for called in filter(None, [each.series, f"column {each.name}"]):
                stack.enter_context(validate.errors_about(called))
            panel = run.complete()
        yield panel
