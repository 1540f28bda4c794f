"""Whether metrics overrate random detections (L3): at every density and over many draws, not only once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from dqeval.analysis.panel import panel
from dqeval.core.registry import experiment, label_of
from dqeval.core.types import FloatArray
from dqeval.experiments import score_plots
from dqeval.experiments.cases import paper_cases
from dqeval.experiments.kept_lines import compute_all
from dqeval.experiments.outcome import PAPER_METRICS, Cell, Claim, Outcome, metric_header
from dqeval.experiments.resamples import Resamples
from dqeval.experiments.setting import Setting
from dqeval.experiments.verdicts import Decision, decision
from dqeval.lab.perturbations import DENSITIES
from dqeval.render.tables import Table, best_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "random-detections"
DRAWS, QUICK_DRAWS = 1000, 20
GENEROUS = ("affiliation_f1", "vus_roc", "auc_roc")  # those that the paper names
_AT_ONCE = 100  # draws of a line
_SECTION = "2.3"

Drawn = Mapping[float, FloatArray]  # by density: draws × metrics
Means = Mapping[float, Mapping[str, float]]  # by density and metric


@experiment(
    name=NAME, label="Random detections of every density", published="Table 6, which has one draw of density 0.5"
)
def random_detections(setting: Setting) -> Iterator[Outcome]:
    """Score random detections with densities from 0.01 to 0.99, many draws of each, in the layout of Table 6."""
    draws = QUICK_DRAWS if setting.quick else DRAWS
    first = range(0, draws, _AT_ONCE)
    tasks = {
        f"{density:g} {start} {min(start + _AT_ONCE, draws)} {setting.seed}": (
            density,
            range(start, min(start + _AT_ONCE, draws)),
            setting.seed,
        )
        for density in DENSITIES
        for start in first
    }
    lines = compute_all(setting.folder / "random_detections.jsonl", tasks, values_of, setting, "random detections")
    found = {
        density: np.concatenate([lines[key] for key, task in tasks.items() if task[0] == density])
        for density in DENSITIES
    }
    yield outcome(found)


def values_of(task: tuple[float, range, int]) -> list[list[float]]:
    """Return what the metrics say of some draws of random detections."""
    density, numbers, seed = task
    case = paper_cases()[5]
    rows = []
    for number in numbers:
        random = np.random.default_rng([seed, number, round(1000 * density)])
        detected = random.random(len(case.labels)) < density
        values = panel(case.labels, detected.astype(float), near=case.near, metrics=PAPER_METRICS).values
        rows.append([values[metric] for metric in PAPER_METRICS])
    return rows


def outcome(found: Drawn) -> Outcome:
    """Return the means and deviations of the metrics, by density."""
    means = _means_of({density: rows.mean(axis=0) for density, rows in found.items()})
    spreads = {density: rows.std(axis=0).tolist() for density, rows in found.items()}
    draws = len(next(iter(found.values())))
    cells = [
        Cell(NAME, "random detections", f"density {density:g}", metric, value, deviation=spreads[density][j])
        for density, of in means.items()
        for j, (metric, value) in enumerate(of.items())
    ]
    return Outcome(
        NAME,
        "Random detections of every density",
        {"Means": _table(means, draws), "Standard deviations": _deviations(spreads, draws)},
        cells,
        list(_claims(found)),
        [f"One event of 21 points in 1,000, near 20, as in Table 6; {draws:,} draws of each density."],
        {"random_detections": partial(_figure, means, spreads)},
    )


def _table(means: Means, draws: int) -> Table:
    rows = [(f"{density:g}", *(f"{value:.2f}" for value in of.values())) for density, of in means.items()]
    highest = {(i, 1 + j) for i, of in enumerate(means.values()) for j in best_of(list(of.values()))}
    note = f"means over {draws:,} draws; the highest of each density stands out"
    return Table(metric_header(PAPER_METRICS, "density"), rows, note=note, marked=highest)


def _deviations(spreads: Mapping[float, list[float]], draws: int) -> Table:
    rows = [(f"{density:g}", *(f"{value:.2f}" for value in of)) for density, of in spreads.items()]
    return Table(metric_header(PAPER_METRICS, "density"), rows, note=f"from draw to draw, of {draws:,}")


def _claims(found: Drawn) -> Iterator[Claim]:
    """Decide what the paper says of random detections, by draws that are drawn again."""
    draws = len(next(iter(found.values())))
    resamples = Resamples(draws)
    drawn = {density: resamples.times @ rows / draws for density, rows in found.items()}
    means = _means_of({density: rows.mean(axis=0) for density, rows in found.items()})

    def decide(said: str, holds: Callable[[Means], bool]) -> Decision:
        return decision(resamples, said, lambda i: holds(_means_of({d: rows[i] for d, rows in drawn.items()})))

    highest, nothing, most = _generous(means), _nothing(means), max(means, key=lambda density: means[density]["dqe"])
    at = f"at {len(highest)} of {len(means)} densities: {_listed(highest)}"
    text = "AF, VUS-ROC and AUC-ROC give random detections more than all other metrics do, at every density"
    yield decide(at, lambda each: len(_generous(each)) == len(each)).as_claim(_SECTION, text)
    at = f"{means[most]['dqe']:.2f} at a density of {most:g}, its highest; 0.00 at {_listed(nothing)}"
    text = "DQE gives random detections nothing, at every density"
    yield decide(at, lambda each: len(_nothing(each)) == len(each)).as_claim("4.2.3", text)
    at = ", ".join(f"{label_of(metric)} {value:.2f}" for metric, value in _at_most(means))
    text = "of all metrics, DQE gives least to the random detections that it likes best"
    yield decide(at, lambda each: _at_most(each)[0][0] == "dqe").as_claim("4.2.3", text)


def _means_of(rows: Mapping[float, FloatArray]) -> Means:
    return {density: dict(zip(PAPER_METRICS, row.tolist(), strict=True)) for density, row in rows.items()}


def _generous(means: Means) -> list[float]:
    """Return the densities at which the metrics that the paper names give most."""
    return [
        density
        for density, of in means.items()
        if set(sorted(of, key=lambda metric: -of[metric])[: len(GENEROUS)]) == set(GENEROUS)
    ]


def _nothing(means: Means) -> list[float]:
    """Return the densities at which DQE gives nothing, in two decimals."""
    return [density for density, of in means.items() if f"{of['dqe']:z.2f}" == "0.00"]


def _at_most(means: Means) -> list[tuple[str, float]]:
    """Return the most that each metric gives at any density, the least of these first."""
    most = {metric: max(of[metric] for of in means.values()) for metric in PAPER_METRICS}
    return sorted(most.items(), key=lambda each: each[1])


def _listed(densities: Sequence[float]) -> str:
    return ", ".join(f"{density:g}" for density in densities) or "none"


def _figure(means: Means, spreads: Mapping[float, list[float]]) -> Figure:
    figure, ((axes,),) = score_plots.grid(1, 1, width=6.5, height=3.4)
    for colour, (j, metric) in zip(score_plots.PALETTE, enumerate(PAPER_METRICS), strict=True):
        values = [of[metric] for of in means.values()]
        width = 2.0 if metric == "dqe" else 1.0
        axes.errorbar(
            list(means),
            values,
            yerr=[of[j] for of in spreads.values()],
            color=colour,
            linewidth=width,
            elinewidth=0.5,
            label=label_of(metric),
        )
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="density of random detections", ylabel="mean, ± the standard deviation")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, fontsize=7)
    return figure
