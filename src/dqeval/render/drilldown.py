"""The series of a benchmark run: where the metrics disagree, and a page of the explorer for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from dqeval.analysis.compare import comparison_of
from dqeval.bench.jobs import FROM_FILE, Job, jobs_of, kept_scores
from dqeval.bench.plan import Plan, PlannedSeries
from dqeval.bench.ranking import cube_of
from dqeval.bench.store import Store
from dqeval.core.agreement import agreement_of
from dqeval.core.types import FloatArray, Progress
from dqeval.datasets.door import prepare
from dqeval.render.blocks import NONE
from dqeval.render.series_page import SCRIPT, missing_bokeh, page, script
from dqeval.render.tables import best_of, in_words
from dqeval.support.naming import file_names
from dqeval.support.short_paths import without_folders
from dqeval.support.writing import write_text


@dataclass(frozen=True, slots=True)
class Case:
    """A series, and how far the metrics disagree about the order of the detectors on it.

    Attributes
    ----------
    name, dataset : str
    metric, best : str
        The first metric, and which detectors are best by it.
    value : float
        The highest by the first metric; NaN where there is none.
    tau : float
        Kendall's tau between the first metric and the others: the mean; NaN where it is undefined.
    other, other_best : str
        The metric that agrees least with the first, and which detectors are best by it; or nothing.
    other_tau : float
    """

    name: str
    dataset: str
    metric: str
    best: str
    value: float
    tau: float = float("nan")
    other: str = ""
    other_best: str = ""
    other_tau: float = float("nan")


def cases_of(values: Sequence[Mapping[str, Any]]) -> list[Case]:
    """Return the series, those where the metrics disagree most first."""
    datasets = {row["series"]: row["dataset"] for row in values}
    cube = cube_of(values)
    cases = [
        _case(unit, datasets[unit], cube.detectors, cube.metrics, of_unit)
        for unit, of_unit in zip(cube.units, cube.values, strict=True)
    ]
    return sorted(cases, key=lambda case: (np.isnan(case.tau), case.tau, case.name))


def _case(name: str, dataset: str, detectors: Sequence[str], metrics: Sequence[str], values: FloatArray) -> Case:
    scored = np.flatnonzero(np.isfinite(values[:, 0])).tolist()
    if not scored:
        return Case(name, dataset, metrics[0], NONE, float("nan"))
    values = values[scored]
    names = [detectors[i] for i in scored]
    case = Case(name, dataset, metrics[0], _best(names, values[:, 0]), float(values[:, 0].max()))
    tau = agreement_of(np.nan_to_num(values)[None])[0]
    # A metric without a value for some detector says nothing about the order; the first one always agrees with itself.
    usable = [j for j in range(1, len(metrics)) if np.isfinite(values[:, j]).all() and np.isfinite(tau[j])]
    if not usable:
        return case
    least = min(usable, key=lambda j: tau[j])
    other = metrics[least], _best(names, values[:, least]), float(tau[least])
    return replace(case, tau=float(tau[usable].mean()), other=other[0], other_best=other[1], other_tau=other[2])


def _best(names: Sequence[str], values: FloatArray) -> str:
    best = best_of(values.tolist())
    return "all alike" if len(best) == len(names) > 1 else in_words([names[i] for i in best])


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages of the series: links by series, why a series has none, and why there are none at all."""

    links: dict[str, str]
    reasons: dict[str, str]
    trouble: str = ""


def folder_of(path: Path) -> Path:
    """Return the folder of the pages of the series, beside the page of the run."""
    return path.with_name(f"{path.stem}_series")


def write_pages(
    plan: Plan | str, store: Store, path: Path, cases: Sequence[Case], progress: Progress | None = None
) -> Pages:
    """Write a page of the explorer for each series into a folder beside the page of the run; they share one script.

    Parameters
    ----------
    plan : Plan or str
        The plan of the run, or why there is none.
    store : Store
        The results of the run.
    path : Path
        Of the page of the run.
    cases : sequence of Case
    progress : callable, optional

    Returns
    -------
    Pages
    """
    trouble = plan if isinstance(plan, str) else _no_explorer()
    if isinstance(plan, str) or trouble:
        return Pages({}, {}, f"The pages of the series could not be made: {trouble}.")
    tell = progress or (lambda done, total: None)
    beside = folder_of(path)
    beside.mkdir(exist_ok=True)
    planned = {each.source.name: each for each in plan.series}
    names = file_names([case.name for case in cases], "html")
    pages = Pages({}, {})
    for done, (case, name) in enumerate(zip(cases, names, strict=True)):
        tell(done, len(cases))
        try:
            content = _series_page(plan, planned, case.name, store, back=quote(f"../{path.name}"))
        except (OSError, ValueError) as error:
            pages.reasons[case.name] = without_folders(str(error), _folder_of(planned.get(case.name)))
            continue
        write_text(beside / name, content)
        pages.links[case.name] = quote(f"{beside.name}/{name}")
    if pages.links:
        write_text(beside / SCRIPT, script())
    tell(len(cases), len(cases))
    return pages


def _no_explorer() -> str:
    try:
        import bokeh.resources  # noqa: F401
    except ImportError:
        return missing_bokeh()
    return ""


def _series_page(plan: Plan, planned: Mapping[str, PlannedSeries], name: str, store: Store, *, back: str) -> str:
    if name not in planned:
        raise ValueError("the series is not in the plan any more")
    series = planned[name].source.read()
    # The explorer shows one detector once: with the first of its seeds.
    alone = replace(plan, series=(planned[name],), seeds=plan.seeds[:1], bounds=False)
    jobs = list(jobs_of(alone, store.path.parent.resolve(), version("dqeval")))
    scores: dict[str, FloatArray] = {}
    for job in jobs:
        kept = dict(series.scores) if job.detector == FROM_FILE else {job.detector.label: kept_scores(job, series)}
        scores |= {label: found for label, found in kept.items() if found is not None}
    if not scores:
        raise ValueError(
            "its scores are not kept any more: the data or the version of dqeval has changed, or a file is damaged"
        )
    prepared = prepare(replace(series, scores=scores), near=plan.near, period=plan.period, part=plan.part)
    known = _known_values(store, jobs, scores)
    return page(prepared, comparison_of(prepared, metrics=plan.metrics, known=known), back=back)


def _known_values(store: Store, jobs: Sequence[Job], detectors: Iterable[str]) -> dict[str, dict[str, float]] | None:
    """Return what the metrics of the run say of each detector, if all of it is there, and of the same data."""
    if any(store.status(job.id) is None for job in jobs):
        return None
    seeds = {job.detector.label: job.seed for job in jobs}
    found: dict[str, dict[str, float]] = {detector: {} for detector in detectors}
    for row in store.rows_of(jobs[0].series.source.name):
        if row["detector"] in found and row["seed"] == seeds.get(row["detector"], 0):
            found[row["detector"]][row["metric"]] = float("nan") if row["value"] is None else row["value"]
    there = all(set(jobs[0].metrics) <= set(values) for values in found.values())
    return found if there else None


def _folder_of(series: PlannedSeries | None) -> list[str]:
    path = getattr(series.source, "path", None) if series else None
    return [] if path is None else [str(path.parent)]
