"""Every detector of one or several series with every metric: the numbers behind ``dqeval score``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, groupby
from typing import Literal

from dqeval.analysis.check import about_times_and_near, misread_scores
from dqeval.analysis.each_detector import Detected, in_turn, of_each_panel, panels_of_detectors
from dqeval.analysis.findings import Finding
from dqeval.analysis.free_choices import dqe_by_choice, moves
from dqeval.analysis.panel import values_of_metric
from dqeval.analysis.panel_result import Evaluation
from dqeval.analysis.score_result import Scoring, SeriesScores
from dqeval.core import arguments, validate
from dqeval.core.durations import Length
from dqeval.core.joined import chunks
from dqeval.core.metric_choice import chosen_metrics
from dqeval.core.prepared import Prepared
from dqeval.core.registry import METRICS
from dqeval.core.types import Progress
from dqeval.core.validate import UndefinedError
from dqeval.datasets.door import Data, as_series, prepare
from dqeval.support.threads import worker_count


def panels(
    prepared: Prepared,
    *,
    metrics: Sequence[str] | str | None = None,
    thresholds: int | Literal["exact"] = 100,
    progress: Progress | None = None,
    workers: int | None = None,
) -> Iterator[tuple[str, Evaluation]]:
    """Evaluate every detector of a series with every metric.

    Parameters
    ----------
    prepared : Prepared
        With at least one event, and one detector.
    metrics : sequence of str, or str, optional
        Which metrics or groups of metrics: see `panel`.
    thresholds : int or "exact", default 100
        The thresholds of DQE alone: see `evaluate`.
    progress : callable, optional
        Called with the number of detectors done, and that of all.
    workers : int, optional
        How many threads compute; 1 for none besides the caller's. If not given, one for each core that this process may
        use. The numbers do not depend on it.

    Yields
    ------
    str and Evaluation
        The detector, and all metrics of its scores.

    Examples
    --------
    >>> series = dqeval.datasets.door.prepare(dqeval.datasets.demo(), period=48)
    >>> {name: round(panel["dqe"], 3) for name, panel in dqeval.analysis.score.panels(series, metrics=["dqe"])}
    {'sharp': 0.685, 'late': 0.577, 'jumpy': 0.557}
    """
    return of_each_panel(
        prepared,
        lambda name, scored, panel: panel,
        metrics=metrics,
        thresholds=thresholds,
        progress=progress,
        workers=workers,
    )


def score(
    series: Iterable[Data | Prepared],
    *,
    metrics: Sequence[str] | str | None = None,
    near: Length | None = None,
    period: Length | None = None,
    thresholds: int | Literal["exact"] = 100,
    per_event: bool = False,
    progress: Progress | None = None,
    workers: int | None = None,
) -> Scoring:
    """Score every detector of one or several series with every metric.

    Parameters
    ----------
    series : iterable of Series, or what else `compare` takes
        Each with the scores of the same detectors. They are taken one after the other, short ones several at once; of
        each, what its curves follow from is kept (4 bytes per point and detector).
    near : float or str, optional
        How many points before and after an event a detection still is a near miss; 0 for none, "2ev" for twice the
        median length of an event.
    period : float, optional
        The period of the series; ``near`` is then half of it. Give at most one of the two; with neither, it is the
        period that the series has, or that is estimated from its values; without values, ``near`` is 125.
    metrics, thresholds
        See `panels`.
    per_event : bool, default False
        Whether to show every event too.
    progress : callable, optional
        Called for each series with the number of detectors done, and that of all.
    workers : int, optional
        How many threads compute; 1 for none besides the caller's. If not given, one for each core that this process may
        use. The numbers do not depend on it.

    Returns
    -------
    Scoring
        With means over the series, and over their events. Where there are several series, those without an anomaly are
        left out of the means.

    Examples
    --------
    >>> found = dqeval.analysis.score.score([dqeval.datasets.demo()], period=48, metrics=["dqe"])
    >>> print(found.page().text())  # doctest: +ELLIPSIS
    demo: 1,600 points, 6 events; near 24, half the given period
    <BLANKLINE>
    metric         sharp   late  jumpy
    ----------------------------------
    DQE            0.685  0.577  0.557
      capture      0.782  0.640  0.983
      near miss    0.673  0.533  0.350
      false alarm  0.687  0.738  0.566
    <BLANKLINE>
    DQE is over 100 thresholds.
    1 is best, 0 is worst. Near miss: higher for closer ones; without any, 1 if there is nothing but a capture, else 0.
    False alarm: 1 if there is none; 0 if nothing at all is detected.
    <BLANKLINE>
    What would change who is ahead by DQE:
    <BLANKLINE>
    - by the order of the scores alone (DQE-LR), jumpy is ahead (0.589; sharp 0.461): ...
    """
    chosen = chosen_metrics(metrics)
    if arguments.truth("per_event", per_event) and "dqe" not in chosen:
        raise ValueError("the scores of each event are those of DQE: add dqe to the metrics")
    arguments.callback("progress", progress)
    taken = _Taken(near, period)
    items = taken.detectors(series)
    first = next(items, None)
    count = worker_count(workers, points=len(first.prepared.labelled.labels) if first else 0)
    together = chunks(chain([] if first is None else [first], items), lambda item: len(item.prepared.labelled.labels))
    done = in_turn(partial(_scored, chosen, thresholds), together, count)
    found = [_scores(next(rows), rows, progress) for _, rows in groupby(done, key=lambda row: row.item.place)]
    taken.check_some()
    return Scoring(tuple(found), tuple(taken.left_out), per_event, _moves(first, found) if "dqe" in chosen else ())


def _moves(first: _Item | None, found: Sequence[SeriesScores]) -> tuple[str, ...]:
    """Return what would move who is ahead on a single series; of several, there is no verdict."""
    if first is None or len(found) > 1:
        return ()
    prepared = first.prepared
    return moves({name: dqe_by_choice(prepared.scored(name), prepared.near.points) for name in prepared.scores})


@dataclass(frozen=True, slots=True)
class _Item:
    """A detector of a series, and the place of the series among all of them."""

    place: int
    prepared: Prepared
    name: str


class _Taken:
    """The series to score, one after the other; those without an anomaly are left out."""

    def __init__(self, near: Length | None, period: Length | None) -> None:
        self._near, self._period = near, period
        self._first: tuple[str, tuple[str, ...]] | None = None
        self._reason = ""
        self._used = 0
        self.left_out: list[str] = []

    def detectors(self, series: Iterable[Data | Prepared]) -> Iterator[_Item]:
        """Yield every detector of every series."""
        for one in series:
            prepared = self._prepared(one)
            own = prepared.name, tuple(prepared.scores)
            self._first = self._first or own
            _check_same_detectors(self._first, own)
            if not len(prepared.labelled.events):
                self.left_out.append(prepared.name)
                self._reason = prepared.no_event
                continue
            with validate.errors_about(prepared.name):
                prepared.require_scores()
            self._used += 1
            yield from (_Item(self._used, prepared, name) for name in prepared.scores)

    def check_some(self) -> None:
        """Check that there was a series with an anomaly."""
        if self._first is None:
            raise ValueError("there is no series to score")
        if not self._used:
            raise UndefinedError(f"{', '.join(self.left_out)}: {self._reason}")

    def _prepared(self, data: Data | Prepared) -> Prepared:
        series = data if isinstance(data, Prepared) else as_series(data)
        with validate.errors_about(series.name):
            return prepare(series, near=self._near, period=self._period)


@dataclass(frozen=True, slots=True)
class _Row:
    """What comes of a detector of a series."""

    item: _Item
    panel: Evaluation
    findings: list[Finding]


def _scored(metrics: Sequence[str], thresholds: int | Literal["exact"], items: Sequence[_Item]) -> Iterator[_Row]:
    several = [
        Detected(item.name, item.prepared.scored(item.name), item.prepared.near.points, item.prepared.name)
        for item in items
    ]
    areas: Sequence[float | None] = [None] * len(items)
    if "auc_roc" not in metrics:
        areas = values_of_metric(METRICS["auc_roc"], [(each.scored, each.near) for each in several])
    panels = panels_of_detectors(several, metrics, thresholds)
    for item, each, panel, area in zip(items, several, panels, areas, strict=True):
        findings = misread_scores(item.name, each.scored, panel.values.get("auc_roc", area))
        yield _Row(item, panel, findings)


def _scores(first: _Row, others: Iterable[_Row], progress: Progress | None) -> SeriesScores:
    """Return the panels of one series."""
    prepared = first.item.prepared
    found = {}
    findings = about_times_and_near(prepared)
    for done, row in enumerate(chain([first], others), start=1):
        found[row.item.name] = row.panel
        findings += row.findings
        if progress is not None:
            progress(done, len(prepared.scores))
    labelled = prepared.labelled
    counts = len(labelled.labels), len(labelled.events)
    cells = str(labelled.axis) if prepared.on_clock else ""
    return SeriesScores(prepared.name, *counts, prepared.near, found, tuple(findings), cells, prepared.series.part)


def _check_same_detectors(first: tuple[str, tuple[str, ...]], other: tuple[str, tuple[str, ...]]) -> None:
    """Check that two series, given by name and detectors, have the same ones."""
    for (one, wanted), (two, there) in ((first, other), (other, first)):
        missing = [name for name in wanted if name not in there]
        if missing:
            raise ValueError(
                f"{two} has no scores of {', '.join(missing)}, which {one} has: choose detectors that all series have"
            )
