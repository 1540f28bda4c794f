"""Beyond the paper: what its two choices, 100 thresholds and a near range of half a period, do to a case study."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from dqeval.analysis.evaluate import evaluate
from dqeval.core.near import parts_of_period
from dqeval.core.types import COLUMNS, SCORE_NAMES, FloatArray, Scores
from dqeval.experiments import score_plots
from dqeval.experiments.case_study.numbers import Form, Study, dqe_and_parts
from dqeval.experiments.outcome import OURS
from dqeval.experiments.verdicts import order_of
from dqeval.render.tables import Table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Of a period: where the table shows DQE; and how many steps the figure has from 0 to twice the period.
TABULATED = {"0": 0.0, "period/4": 0.25, "period/2": 0.5, "period": 1.0, "3/2 period": 1.5, "2 periods": 2.0}
_STEPS, _WIDEST = 80, 2.0


@dataclass(frozen=True, slots=True, eq=False)
class NearSweep:
    """DQE of detectors against the near range.

    Attributes
    ----------
    near : array of float, shape (n,)
    dqe : mapping of str to array of float, shape (n,)
    """

    near: FloatArray
    dqe: Mapping[str, FloatArray]

    def each_order(self) -> list[tuple[str, ...]]:
        """Return the order of the detectors at each near range, the best first."""
        places = range(len(self.near))
        return [order_of({name: float(values[i]) for name, values in self.dqe.items()}) for i in places]

    def orders(self) -> list[tuple[float, float, tuple[str, ...]]]:
        """Return the orders of the detectors that follow each other: first and last near range of each, and it."""
        order, found = self.each_order(), []
        for names, group in groupby(range(len(self.near)), key=order.__getitem__):
            of_order = list(group)
            found.append((float(self.near[of_order[0]]), float(self.near[of_order[-1]]), names))
        return found


def exact_parts(study: Study) -> dict[str, Scores]:
    """Return DQE and its parts of each detector over all thresholds."""
    labels, scores = study.series.labels, study.forms[OURS].scores
    found = {name: evaluate(labels, of, period=study.period, thresholds="exact") for name, of in scores.items()}
    return {name: dqe_and_parts(result) for name, result in found.items()}


def sweep_of(study: Study, scores: Mapping[str, FloatArray]) -> NearSweep:
    """Return DQE of each detector's scores for near ranges from 0 to twice the period."""
    near = np.linspace(0, _WIDEST, _STEPS + 1) * study.period
    labels = study.series.labels
    dqe = {
        name: np.array([evaluate(labels, of, near=each).dqe for each in near.tolist()]) for name, of in scores.items()
    }
    return NearSweep(near, dqe)


def table_values(sweep: NearSweep) -> dict[str, dict[str, float]]:
    """Return DQE by detector, at the near ranges of the table."""
    places = {word: round(share / _WIDEST * (len(sweep.near) - 1)) for word, share in TABULATED.items()}
    return {name: {word: float(values[i]) for word, i in places.items()} for name, values in sweep.dqe.items()}


def exact_table(form: Form, exact: Mapping[str, Scores]) -> Table:
    """Return 100 thresholds beside all of them."""
    header = ["detector"]
    for column in COLUMNS:
        header += [f"{column}, 100", f"{column}, exact"]
    rows = []
    for name, of_all in exact.items():
        pairs = ((getattr(form.parts[name], part), getattr(of_all, part)) for part in SCORE_NAMES)
        rows.append((name, *(f"{number:.4f}" for pair in pairs for number in pair)))
    return Table(header, rows)


def exact_sentence(form: Form, exact: Mapping[str, Scores]) -> str:
    """Say how far 100 thresholds are off the integral, and whether that changes the ranking."""
    off = {
        (name, part): abs(getattr(form.parts[name], part) - getattr(of_all, part))
        for name, of_all in exact.items()
        for part in SCORE_NAMES
    }
    worst = max(off, key=lambda key: off[key])
    of_dqe = max(value for (_, part), value in off.items() if part == "dqe")
    orders = [order_of({name: s.dqe for name, s in of.items()}) for of in ({n: form.parts[n] for n in exact}, exact)]
    ranking = "The ranking is the same." if orders[0] == orders[1] else f"All of them rank {', '.join(orders[1])}."
    return (
        f"100 thresholds beside all of them: DQE differs by at most {of_dqe:.4f}, a part by at most {off[worst]:.4f} "
        f"({worst[1].replace('_', ' ')} of {worst[0]}). {ranking}"
    )


def sweep_table(sweep: NearSweep, period: int, no_period: str = "") -> Table:
    """Return DQE at some near ranges: parts of the period, or of the fallback if there is none for some reason."""
    parts = parts_of_period(TABULATED, period, is_period=not no_period)
    header = ("detector", *(f"{word} ({points:g})" for word, points in parts.items()))
    rows = [(name, *(f"{v:.3f}" for v in of.values())) for name, of in table_values(sweep).items()]
    note = f"DQE by the near range, in brackets in points; the paper has {'fallback' if no_period else 'period'}/2"
    why = f". {period} is a fallback, not a period: {no_period}" if no_period else ""
    return Table(header, rows, note=note + why)


def sweep_sentence(sweep: NearSweep) -> str:
    """Say whether and where the near range changes the ranking."""
    orders = sweep.orders()
    if len(orders) == 1:
        return (
            f"The near range does not change the ranking by DQE: from 0 to {sweep.near[-1]:g} points it is "
            f"{', '.join(orders[0][2])}."
        )
    pieces = [f"{', '.join(names)} {_between(low, high)}" for low, high, names in orders]
    return f"The near range changes the ranking by DQE: {'; '.join(pieces)}."


def seeds_sentence(sweeps: Mapping[int, NearSweep], period: float) -> str:
    """Say at how many near ranges the ranking is the usual one, with each seed; nothing if there is one seed."""
    if len(sweeps) < 2:
        return ""
    orders = {seed: sweep.each_order() for seed, sweep in sweeps.items()}
    first = next(iter(sweeps.values()))
    usual = next(iter(orders.values()))[int(np.argmin(np.abs(first.near - period / 2)))]
    often = ", ".join(f"{each.count(usual)} with seed {seed}" for seed, each in orders.items())
    return f"Near ranges with the ranking {', '.join(usual)}, of {len(first.near)}: {often}."


def _between(low: float, high: float) -> str:
    return f"at {low:g}" if low == high else f"from {low:g} to {high:g}"


def draw_sweep(sweep: NearSweep, period: int) -> Figure:
    """Draw DQE of each detector against the near range."""
    figure, ((axes,),) = score_plots.grid(1, 1, width=6, height=3.2)
    for colour, (name, values) in zip(score_plots.PALETTE, sweep.dqe.items(), strict=False):
        axes.plot(sweep.near, values, color=colour, linewidth=1.4, label=name)
    axes.axvline(period / 2, color="#6a6a6a", linestyle=":", linewidth=1)
    top = axes.secondary_xaxis("top")
    top.set_xticks([share * period for share in TABULATED.values()], list(TABULATED))
    axes.set(xlim=(0, sweep.near[-1]), ylim=(0, 1), xlabel="near range in points (dotted: that of the paper)")
    axes.set_ylabel("DQE")
    axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, fontsize=7)
    return figure
