"""Rankings of detectors over many series: means, intervals, significance, agreement of the metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from dqeval.bench.bounds import BOUNDS
from dqeval.bench.jobs import UNKNOWN
from dqeval.bench.ranking_result import Ranking
from dqeval.bench.statistics import (
    means_per_series,
    significance_of,
    standing_of,
)
from dqeval.bench.store import Store
from dqeval.core import arguments
from dqeval.core.agreement import agreement_of
from dqeval.core.confidence import MOST_RESAMPLES, RESAMPLES
from dqeval.core.registry import METRICS, label_of
from dqeval.core.types import SCORE_NAMES, FloatArray
from dqeval.render.tables import in_words


def rank(
    folder: str | Path,
    *,
    by: Literal["series", "event"] = "series",
    dataset: str | None = None,
    repeats: int = RESAMPLES,
    seed: int = 0,
) -> Ranking:
    """Rank the detectors that the last plan of a benchmark run has, on the series that it has.

    Parameters
    ----------
    folder : str or Path
        The folder of the run.
    by : "series" or "event", default "series"
        Whether each series counts once, with every metric; or each event, with DQE and its parts.
    dataset : str, optional
        Only the series of one dataset.
    repeats : int, default 2000
        How many times the series, with all their events, are drawn again for the intervals (bootstrap).
    seed : int, default 0
        The seed of these draws: the same seed gives the same intervals.

    Returns
    -------
    Ranking

    Examples
    --------
    >>> plan = {
    ...     "metrics": ["dqe", "auc_roc"],
    ...     "data": [{"generator": "synthetic", "count": 2, "n": 500, "period": 20, "events": 3}],
    ...     "detector": [{"name": "fft"}, {"name": "sr"}],
    ... }
    >>> state = dqeval.bench.run(plan, "runs/today")
    >>> found = dqeval.bench.rank("runs/today")
    >>> found.detectors, list(found.standings)
    (('sr', 'fft'), ['dqe', 'auc_roc'])
    """
    with Store(folder) as store:
        return rank_store(store, by=by, dataset=dataset, repeats=repeats, seed=seed)


def _nothing_to_rank(store: Store, dataset: str | None, *, tried: bool) -> ValueError:
    """Return the error of a run, or of a dataset in it, that has no results to rank."""
    folder = store.path.parent
    where = "" if dataset is None else f" of the dataset {dataset}"
    hint = f"failures {folder} says what failed" if tried else f"status {folder} says how far it is"
    others = ", ".join(sorted({row["dataset"] for row in store.pairs()} - {dataset}))
    there = f"; there are results of {others}" if dataset is not None and others else ""
    return ValueError(f"{folder}: there are no results{where} to rank; dqeval bench {hint}{there}")


def rank_store(
    store: Store,
    *,
    by: Literal["series", "event"] = "series",
    dataset: str | None = None,
    repeats: int = RESAMPLES,
    seed: int = 0,
) -> Ranking:
    """Rank the detectors of a run whose results are open: see `rank`."""
    if by not in ("series", "event"):
        raise ValueError(f'by must be "series" or "event": got {by!r}')
    stored = store.values(planned=True) if by == "series" else store.events(planned=True)
    rows = [row for row in units_of(stored, by) if dataset in (None, row["dataset"])]
    ever = [row for row in store.pairs() if dataset in (None, row["dataset"]) and row["detector"] not in BOUNDS]
    tried = [row for row in ever if row["detector_planned"] and row["series_planned"]]
    if all(row["detector"] in BOUNDS for row in rows):
        raise _nothing_to_rank(store, dataset, tried=bool(tried))
    found = rank_rows(rows, by=by, repeats=repeats, seed=seed)
    planned = {row["detector"] for row in ever if row["detector_planned"]}
    series = {row["series"] for row in tried}
    return replace(
        found,
        # Of a series on which everything failed, not even the events are known.
        n_left_out=len(series) - found.n if by == "series" else found.n_left_out,
        without_value=tuple(sorted({row["detector"] for row in tried} - {*found.detectors, UNKNOWN})),
        not_planned=tuple(sorted({row["detector"] for row in ever} - planned - {UNKNOWN})),
        n_not_planned=len({row["series"] for row in ever if not row["series_planned"]}),
        n_fallback=sum(dataset in (None, row["dataset"]) for row in store.fallbacks()),
    )


def rank_rows(
    rows: Iterable[Mapping[str, Any]],
    *,
    by: Literal["series", "event"] = "series",
    repeats: int = RESAMPLES,
    seed: int = 0,
) -> Ranking:
    """Rank detectors by the metrics that all have.

    The rows have ``unit`` (the name of a series, or that and the start of an event), ``detector``, ``metric``,
    ``value`` and, if there are several, ``seed``. Bounds among the detectors are not ranked.
    """
    arguments.whole_number("repeats", repeats, least=1, most=MOST_RESAMPLES)
    rows = list(rows)
    found = cube_of(row for row in rows if row["detector"] not in BOUNDS)
    detectors, metrics, cube, by_seed = found.detectors, found.metrics, found.values, found.by_seed
    has = np.asarray(np.isfinite(cube).any(axis=0))
    shared = np.asarray(has.all(axis=0))
    left_out = {
        metric: tuple(detectors[i] for i in np.flatnonzero(~has[:, j]))
        for j, metric in enumerate(metrics)
        if not shared[j]
    }
    metrics = [metric for metric in metrics if metric not in left_out]
    cube = cube[:, :, shared]
    whole = np.asarray(np.isfinite(cube).all(axis=(1, 2)))
    if not detectors:
        raise ValueError("there is no value, and so there is nothing to compare")
    if not metrics or not whole.any():
        raise ValueError(_nothing(detectors, metrics, cube, left_out))
    cube, by_seed = cube[whole], by_seed[whole][:, :, shared]
    order = np.argsort(-cube[:, :, 0].mean(axis=0), kind="stable")
    cube, by_seed = cube[:, order], by_seed[:, order]
    names = tuple(detectors[i] for i in order)
    units = [unit for unit, kept in zip(found.units, whole, strict=True) if kept]
    groups = _series_of(units, by)
    standings = {
        metric: standing_of(metric, cube[:, :, j], by_seed[:, :, j], groups, resamples=repeats, seed=seed)
        for j, metric in enumerate(metrics)
    }
    first = standings[metrics[0]]
    per_series = np.stack([means_per_series(cube[:, :, j], groups) for j in range(len(metrics))], axis=2)
    return Ranking(
        by=by,
        detectors=names,
        standings=standings,
        n=len(cube),
        n_left_out=int(len(found.units) - len(cube)),
        significance=significance_of(names, per_series[:, :, 0], first.average_rank),
        agreement=agreement_of(cube),
        metrics_left_out=left_out,
        bounds=_means_of_bounds(rows, units, metrics),
        per_series=per_series,
    )


def _means_of_bounds(
    rows: Iterable[Mapping[str, Any]], units: Sequence[Any], metrics: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Return the means of bounds by metric over all units; NaN if there is no value for one of them."""
    of_bounds = [row for row in rows if row["detector"] in BOUNDS]
    found = {(row["detector"], row["metric"], row["unit"]): float(row["value"]) for row in of_bounds}
    return {
        bound: {
            metric: float(np.mean([found.get((bound, metric, unit), np.nan) for unit in units])) for metric in metrics
        }
        for bound in BOUNDS
        if any(row["detector"] == bound for row in of_bounds)
    }


def _series_of(units: Sequence[Any], by: str) -> NDArray[np.intp]:
    """Return the series of each unit, as a number."""
    names = [unit if by == "series" else unit[0] for unit in units]
    numbers = {name: i for i, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names])


def _nothing(
    detectors: Sequence[str], metrics: Sequence[str], cube: FloatArray, left_out: Mapping[str, Sequence[str]]
) -> str:
    """Say which detectors have values, where no series has all of them."""
    last = "there is nothing to compare"
    if not metrics:
        lacking = "; ".join(
            f"{label_of(metric)} is lacking for {in_words(names, most=len(names))}"
            for metric, names in left_out.items()
        )
        return f"there is no metric of which every detector has a value ({lacking}): {last}"
    counts = np.isfinite(cube).all(axis=2).sum(axis=0).tolist()
    having = ", ".join(f"{detector} has them on {count:,}" for detector, count in zip(detectors, counts, strict=True))
    names = ", ".join(map(label_of, metrics))
    return f"no series has a value of every metric ({names}) for every detector ({having}): {last}"


def units_of(rows: Iterable[Mapping[str, Any]], by: str) -> Iterable[dict[str, Any]]:
    """Return the rows that `rank_rows` takes, from values of series, or from those of events."""
    if by == "series":
        return ({**row, "unit": row["series"]} for row in rows)
    return (
        {"unit": (row["series"], row["start"]), "metric": part, "value": row[part], **row}
        for row in rows
        for part in SCORE_NAMES
    )


@dataclass(frozen=True, slots=True)
class Cube:
    """Values by unit (a series, or an event), detector and metric, NaN where there is none.

    ``values`` are means over the seeds, and ``by_seed`` has a fourth axis for them.
    """

    units: list[Any]
    detectors: list[str]
    metrics: list[str]
    by_seed: FloatArray
    values: FloatArray


def cube_of(rows: Iterable[Mapping[str, Any]]) -> Cube:
    """Return the values as units × detectors × metrics, DQE first."""
    found = {(row["unit"], row["detector"], row["metric"], row.get("seed", 0)): row["value"] for row in rows}
    units = sorted({key[0] for key in found})
    detectors = sorted({key[1] for key in found})
    known = [*SCORE_NAMES, *METRICS.names]
    # Metrics of one's own, which only the run knew, come last.
    metrics = sorted({key[2] for key in found}, key=lambda name: known.index(name) if name in known else len(known))
    names = (units, detectors, metrics, sorted({key[3] for key in found}))
    cube = np.full(tuple(map(len, names)), np.nan)
    places = [{name: i for i, name in enumerate(each)} for each in names]
    for key, value in found.items():
        cube[tuple(place[name] for place, name in zip(places, key, strict=True))] = value
    seeds = np.isfinite(cube).sum(axis=3)
    means = np.divide(np.nansum(cube, axis=3), seeds, out=np.full(seeds.shape, np.nan), where=seeds > 0)
    return Cube(units, detectors, metrics, cube, means)
