"""DQE of many series, or of many detectors, in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from dqeval.analysis.many_result import ManyEvents, ManyResult
from dqeval.core import validate
from dqeval.core.batches import Batch, Chunk, batch_of
from dqeval.core.near import near_of_each
from dqeval.core.scaling import Scale
from dqeval.core.types import SCORE_NAMES, FloatArray, IntArray, Numbers
from dqeval.core.validate import Undefined
from dqeval.metrics import dqe
from dqeval.support.threads import in_order, worker_count

_CHUNKS_EACH = 4  # chunks a thread, from which on no thread waits long for the last one


def evaluate_many(
    y_true: Numbers | Sequence[Numbers],
    y_score: Numbers | Sequence[Numbers] | Mapping[str, Any],
    *,
    offsets: Sequence[int] | None = None,
    ids: Any = None,
    near: float | str | Sequence[float | str] | None = None,
    period: float | Sequence[float] | None = None,
    thresholds: int | Literal["exact"] = 100,
    scale: Scale | bool = "min-max",
    undefined: Undefined = "raise",
    workers: int | None = None,
) -> ManyResult:
    """Evaluate many series, or many detectors, at once: the numbers of `evaluate`, in a fraction of the time of a loop.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,), or list of them
        The labels: 1 marks an anomaly, and a run of ones is an event. A list of arrays is a list of series. A single
        array is one series, or with ``offsets`` or ``ids`` several, one behind the other.
    y_score : array-like of numbers, shape (n,) or (n, n_detectors), list of array-like of shape (n,), or mapping
        The scores: the larger, the more anomalous. For a list of series, a list as long. For several detectors a column
        each, or a DataFrame, or a mapping from their names to the scores of each; for a list of series, to a list each.
    offsets : array-like of int, optional
        Where each series begins in the arrays, from 0 on. The end of the last one may follow, as in CSR.
    ids : array-like, shape (n,), optional
        The series of each point. All points of a series lie together.
    near : float or str, or one per series, optional
        How many points before and after an event a detection still is a near miss; 0 for none, "2ev" for twice the
        median length of an event of the series.
    period : float, or one per series, optional
        The period of the series; ``near`` is then half of it. Give at most one of the two; with neither, ``near`` is
        125.
    thresholds : int or "exact", default 100
        The number M of thresholds 1, 1 - 1/M, ..., 1/M to average over, or "exact" for the integral over all of them.
    scale : "min-max", "log-rank" or "none", default "min-max"
        How scores become thresholds from 0 to 1: by the minimum and maximum of their series; by how many points of the
        series score as much, which takes longer; or not at all, and they must lie there already. True and False stand
        for "min-max" and "none".
    undefined : "raise" or "nan", default "raise"
        What to do if a series has no anomaly: raise `UndefinedError`, or return NaN for it, with one warning for all.
    workers : int, optional
        How many threads compute; 1 for none besides the caller's. If not given, one for each core that this process may
        use. The numbers do not depend on it.

    Returns
    -------
    ManyResult
        Arrays, with a value per series and detector: all detectors of the first series, then those of the next.

    Notes
    -----
    Time is counted in points: for series with a clock, and gaps in it, there is `evaluate_frame`.

    Examples
    --------
    Two series, one behind the other:

    >>> y_true = [0, 1, 0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 0]
    >>> y_score = [0, 9, 0, 0, 0, 7, 0, 0, 0, 0, 2, 2, 0]
    >>> found = dqeval.evaluate_many(y_true, y_score, offsets=[0, 6], near=2)
    >>> print(found)
    series              events    DQE  capture  near miss  false alarm
    ------------------------------------------------------------------
    mean over 2 series          0.619    0.443      0.568        0.943
    mean over 3 events          0.708    0.590      0.673        0.923
    0                        2  0.885    0.885      0.885        0.885
    1                        1  0.354    0.000      0.250        1.000
    near 2, 100 thresholds
    1 is best, 0 is worst. Near miss: higher for closer ones; without any, 1 if there is nothing but a capture, else 0.
    False alarm: 1 if there is none; 0 if nothing at all is detected.

    Two detectors on one series:

    >>> dqeval.evaluate_many([0, 0, 1, 0], {"late": [0, 0, 0, 9], "sharp": [0, 0, 9, 0]}, near=2).dqe.round(3)
    array([0.53, 1.  ])
    """
    count = validate.thresholds(thresholds)
    validate.scale_name(scale)
    validate.undefined_choice(undefined)
    threads = worker_count(workers)
    batch = batch_of(y_true, y_score, offsets=offsets, ids=ids)
    points, lengths = near_of_each(len(batch), batch.place, near=near, period=period)
    work = _Work(batch, points, lengths, count, scale)
    chunks, local = work.in_threads(threads)
    events = np.bincount(np.concatenate([chunk.series for chunk in chunks]), minlength=len(batch))
    _check_defined(batch, events, undefined)
    return _result(batch, chunks, events, np.concatenate(list(map(work.near, chunks))), local, count)


@dataclass(frozen=True, slots=True, eq=False)
class _Work:
    """What there is to compute.

    Attributes
    ----------
    batch : Batch
    points, lengths : array of float, shape (n_series,)
        The near range of each series: points, and median lengths of its events.
    thresholds : int or "exact"
    scale : str or bool
    """

    batch: Batch
    points: FloatArray
    lengths: FloatArray
    thresholds: int | Literal["exact"]
    scale: Scale | bool

    def in_threads(self, workers: int) -> tuple[list[Chunk], FloatArray]:
        """Return the chunks, and the scores of each detector at each of their events."""
        bounds = list(self.batch.chunks())
        if 1 < workers <= len(bounds) / _CHUNKS_EACH:
            # To cut is many short steps in Python: threads that do nothing else wait for each other. One thread alone
            # takes a little less time if it cuts all chunks first.
            _do(self.batch.copies, workers)
            with suppress(ValueError, TypeError):  # of several that are wrong, the same is named as by one thread
                found = list(in_order(self._cut_and_scored, bounds, workers))
                return [chunk for chunk, _ in found], np.concatenate([local for _, local in found], axis=1)
        cuts = [partial(self.batch.cut, each) for each in bounds]
        chunks = _do([*cuts, *self.batch.copies], workers)[: len(cuts)]
        tasks = [(chunk, name) for name in self.batch.scores for chunk in chunks]
        rows = list(in_order(self._local_scores, tasks, workers))
        each = [np.concatenate(rows[i : i + len(chunks)]) for i in range(0, len(rows), len(chunks))]
        return chunks, np.stack(each)

    def _cut_and_scored(self, bounds: tuple[int, int]) -> tuple[Chunk, FloatArray]:
        chunk = self.batch.cut(bounds)
        return chunk, np.stack([self._local_scores((chunk, name)) for name in self.batch.scores])

    def _local_scores(self, task: tuple[Chunk, str]) -> FloatArray:
        """Return DQE and its parts of a detector as four columns, a row for each event of a chunk."""
        chunk, detector = task
        counting = self.batch.counting(chunk, detector, self.scale)
        levels = dqe.levels_of(counting, chunk.regions, self.thresholds)
        return dqe.local_scores(levels, self.near(chunk)[chunk.series - chunk.first])

    def near(self, chunk: Chunk) -> FloatArray:
        """Return the near range of each series of a chunk."""
        points, lengths = self.points[chunk.first : chunk.last], self.lengths[chunk.first : chunk.last]
        return points + lengths * _median_lengths(chunk) if lengths.any() else points


def _do(calls: Sequence[Callable[[], Any]], workers: int) -> list[Any]:
    """Return what some calls return, made in threads."""
    return list(in_order(lambda call: call(), calls, workers))


def _check_defined(batch: Batch, events: IntArray, undefined: Undefined) -> None:
    """Where series have no event, raise, or warn once for all of them, as the caller asked."""
    without = np.flatnonzero(events == 0)
    if not len(without):
        return
    why = validate.NO_ANOMALY
    if len(batch) > 1:
        verb = "has" if len(without) == 1 else "have"
        why = (
            f"{len(without):,} of {len(batch):,} series {verb} no anomaly, the first is {batch.place(int(without[0]))}"
        )
    validate.go_on_undefined(why, undefined)


def _median_lengths(chunk: Chunk) -> FloatArray:
    """Return the median length of the events of each series of a chunk; 0 where there is none."""
    series, lengths = chunk.series - chunk.first, chunk.regions.events.stops - chunk.regions.events.starts
    events = np.bincount(series, minlength=len(chunk.starts))
    ordered = np.append(lengths[np.lexsort((lengths, series))], 0)
    first = np.cumsum(events) - events
    middle = (ordered[first + (events - 1) // 2] + ordered[first + events // 2]) / 2
    return np.where(events > 0, middle, 0.0)


def _result(
    batch: Batch,
    chunks: Sequence[Chunk],
    events: IntArray,
    near: FloatArray,
    local: FloatArray,
    thresholds: int | Literal["exact"],
) -> ManyResult:
    """Return the result, from the scores of each detector at each event."""
    detectors = np.array(list(batch.scores))
    series = np.concatenate([chunk.series for chunk in chunks])
    means = {name: _means(series, events, scores) for name, scores in zip(SCORE_NAMES, local.T, strict=True)}
    return ManyResult(
        np.repeat(batch.names, len(detectors)),
        np.tile(detectors, len(batch)),
        np.repeat(batch.sizes, len(detectors)),
        np.repeat(events, len(detectors)),
        np.repeat(near, len(detectors)),
        **means,
        thresholds=thresholds,
        per_event=partial(_per_event, batch, chunks, series, detectors, local),
    )


def _means(series: IntArray, events: IntArray, scores: FloatArray) -> FloatArray:
    """Return the means over the events of each series, from the scores at each event, a column per detector."""
    means = np.full((len(events), scores.shape[1]), np.nan)
    for j in range(scores.shape[1]):
        # One event is added after the other, as where there is only one series.
        sums = np.bincount(series, weights=scores[:, j], minlength=len(events))
        np.divide(sums, events, out=means[:, j], where=events > 0)
    return means.reshape(-1)


def _per_event(
    batch: Batch, chunks: Sequence[Chunk], series: IntArray, detectors: Any, local: FloatArray
) -> ManyEvents:
    """Return the scores of every event: by series, then by detector."""
    shift = np.concatenate([batch.offsets[chunk.first] - batch.offsets[chunk.series] for chunk in chunks])
    starts = np.concatenate([chunk.regions.events.starts for chunk in chunks]) + shift
    stops = np.concatenate([chunk.regions.events.stops for chunk in chunks]) + shift
    number = np.arange(len(series)) - np.searchsorted(series, series)
    every = np.tile(series, len(detectors))
    order = np.argsort(every, kind="stable")
    event = order % max(len(series), 1)
    return ManyEvents(
        batch.names[every[order]],
        detectors[order // max(len(series), 1)],
        number[event],
        starts[event],
        stops[event],
        *local.reshape(-1, local.shape[2])[order].T.copy(),
    )
