"""The question of the paper's outlook, over all series: what the choice of the near range does to DQE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dqeval.bench.jobs import Job
from dqeval.bench.series_cache import read_series
from dqeval.core.near import FALLBACK_PERIOD, candidate_periods
from dqeval.core.prepared import Labelled, Scored
from dqeval.core.registry import experiment
from dqeval.experiments import score_plots
from dqeval.experiments.by_choice import ByChoice, by_choice
from dqeval.experiments.detector_runs import (
    BEYOND,
    DetectorRun,
    Runs,
    folder_name,
    run_on_datasets,
    scored_series,
    shortfalls,
)
from dqeval.experiments.outcome import OURS, Cell, Claim, Outcome
from dqeval.experiments.score_work import work_on_scores
from dqeval.experiments.setting import Setting
from dqeval.experiments.verdicts import decision
from dqeval.metrics.dqe import dqe_at
from dqeval.render.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "near-range"
# Of the paper's near range; from 0.2 to 2 as in the authors' later code.
SHARES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0, 4.0, 8.0)
POINTS = (5.0, 10.0, 25.0, 50.0, 62.5, 100.0, 125.0, 250.0, 500.0, 720.0)
LENGTHS = {"1 event length": 1.0, "2 event lengths": 2.0}  # of the median event
USUAL, FALLBACK, DAY = "1 ×", f"{FALLBACK_PERIOD / 2:g} points", "720 points"
TIMES = tuple(f"{share:g} ×" for share in SHARES)
CHOICES = (*TIMES, *(f"{near:g} points" for near in POINTS), *LENGTHS)
TABULATED = ("0 ×", "0.2 ×", "0.6 ×", USUAL, "1.4 ×", "2 ×", "4 ×", "8 ×")
_AROUND = tuple(f"{share:g} ×" for share in SHARES if 0.2 <= share <= 2)
_SECTION = "5"
_TICKS = (0.2, 0.5, 1.0, 2.0, 4.0, 8.0)


@experiment(name=NAME, label="The near range, over all series", published="the question of the outlook")
def near_range(setting: Setting) -> Iterator[Outcome]:
    """Compute DQE of every detector and series with near ranges from none to eight times the usual one."""
    datasets, runs, notes = run_on_datasets(setting, beyond=tuple(BEYOND))
    found = vary_near(runs, setting)
    values = {dataset: by_choice(found, dataset, runs.detectors, CHOICES, _numbers) for dataset in datasets}
    fallbacks = (_fallback_sentence(dataset, series) for dataset, series in datasets.items())
    yield outcome(values, [*notes, *fallbacks, *shortfalls(runs)])


def vary_near(runs: Runs, setting: Setting) -> dict[DetectorRun, Any]:
    """Return DQE with many near ranges, for every series, detector and seed."""
    every = runs.each_run(OURS, beyond=True)
    also = f"{len(CHOICES)} choices"
    return work_on_scores(runs, every, ranges_of, setting, file="near_range.jsonl", what="near ranges", also=also)


def ranges_of(job: Job) -> dict[str, Any]:
    """Return DQE of a detector's scores with many near ranges, and with half the strongest period at any lag."""
    found = scored_series(job)
    scored = Scored(Labelled(found.labels), found.scores)
    half, length = found.period / 2, float(np.median(scored.labelled.lengths))
    own = _strongest_period(job)
    return {
        "near": half,
        "shares": [dqe_at(scored, share * half) for share in SHARES],
        "points": [dqe_at(scored, near) for near in POINTS],
        "lengths": [dqe_at(scored, times * length) for times in LENGTHS.values()],
        "own": None if own is None else [own / 2, dqe_at(scored, own / 2)],
    }


def _strongest_period(job: Job) -> float | None:
    """Return the lag up to a third of the series at which it repeats best; None if it does at none."""
    values = read_series(job.series.source).values
    assert values is not None
    found = candidate_periods(np.asarray(values, dtype=np.float64).ravel(), most=1)
    return None if not found else float(found[0].or_fallback)


def _numbers(line: Mapping[str, Any]) -> list[float]:
    return [*line["shares"], *line["points"], *line["lengths"]]


def _fallback_sentence(dataset: str, series: Sequence[Any]) -> str:
    without = sum(read_series(each.source).period is None for each in series)
    return (
        f"On {dataset}, {without:,} of {len(series):,} series have no period that the paper's rule finds, so that "
        f"their near range is a fallback: half of {FALLBACK_PERIOD}."
    )


def outcome(values: Mapping[str, ByChoice], notes: Sequence[str]) -> Outcome:
    """Return DQE by the near range, and whether that changes the order of the detectors."""
    values = {dataset: of for dataset, of in values.items() if of.series}
    tables = {}
    for dataset, of in values.items():
        tables[f"DQE by the near range on {dataset}"] = means_table(of)
        tables[f"What the near range changes on {dataset}"] = changes_table(of)
    return Outcome(
        folder_name(NAME, values),
        "DQE of the detectors with other near ranges",
        tables,
        [
            Cell(NAME, f"near range on {dataset}", detector, f"DQE, {choice}", float(of.means[i, j]))
            for dataset, of in values.items()
            for i, detector in enumerate(of.detectors)
            for j, choice in enumerate(of.choices)
        ],
        [claim for dataset, of in values.items() for claim in _claims(dataset, of)],
        [note for note in notes if note],
        {"near_range": partial(_figure, values)} if values else {},
    )


def means_table(of: ByChoice) -> Table:
    """Return the mean DQE of each detector with some near ranges."""
    chosen = (*TABULATED, FALLBACK, DAY, "1 event length")
    rows = [
        (detector, *(f"{of.means[i, of.choices.index(choice)]:.3f}" for choice in chosen))
        for i, detector in enumerate(of.detectors)
    ]
    note = (
        f"{len(of.series):,} series; ×: times the paper's near range, half the period or of the fallback "
        f"{FALLBACK_PERIOD}; {DAY} are half a day of a series with a point per minute, as those of WSD"
    )
    return Table(("detector", *chosen), rows, note=note)


def changes_table(of: ByChoice) -> Table:
    """Return what each near range changes against the usual one."""
    rows = []
    for choice in (*TABULATED, FALLBACK, DAY, *LENGTHS):
        rows.append(
            (
                choice,
                " > ".join(of.order(choice)),
                f"{of.moves(choice, USUAL).mean():.3f}",
                f"{100 * of.other_best(choice, USUAL).mean():.0f} %",
                f"{of.agreement(choice, USUAL):.2f}",
            )
        )
    header = ("near range", "order by mean DQE", "mean change of DQE", "series with another best", "Kendall's tau")
    return Table(header, rows, note="against the usual near range; tau is the mean over the series", text_columns=2)


def _claims(dataset: str, of: ByChoice) -> Iterator[Claim]:
    texts = {
        f"on {dataset}, the order of the detectors by mean DQE is the same from 0.2 to 2 times the near range": _AROUND,
        f"on {dataset}, it is the same with 62.5 points, half the fallback, and with 720, half a day": (FALLBACK, DAY),
    }
    for text, choices in texts.items():
        orders = dict.fromkeys(" > ".join(of.order(choice)) for choice in choices)
        decided = decision(of.resamples, "; ".join(orders), partial(of.same_order, choices))
        yield decided.as_claim(_SECTION, text)


def _figure(values: Mapping[str, ByChoice]) -> Figure:
    figure, ((*axes,),) = score_plots.grid(1, len(values), width=4.2 * len(values), height=3.0, sharey=True)
    shares = SHARES[1:]
    for ax, (dataset, of) in zip(axes, values.items(), strict=True):
        for colour, detector, means in zip(score_plots.PALETTE, of.detectors, of.means, strict=False):
            ax.plot(shares, means[1 : len(SHARES)], color=colour, linewidth=1.4, marker=".", label=detector)
        ax.axvline(1, color="#6a6a6a", linestyle=":", linewidth=1)
        ax.set_xscale("log", base=2)
        ax.set_xticks(_TICKS, [f"{tick:g}" for tick in _TICKS])
        ax.set(ylim=(0, 1), xlabel="near range, in times of the usual one (dotted)")
        ax.set_title(dataset, loc="left")
    axes[0].set_ylabel("mean DQE")
    axes[-1].legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, fontsize=7)
    return figure
