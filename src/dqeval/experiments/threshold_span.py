"""The paper's two figures on AUC: areas under curves do not see how much of the scores their thresholds span."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dqeval import metrics
from dqeval.analysis.detect import detect
from dqeval.analysis.evaluate import evaluate
from dqeval.core import validate
from dqeval.core.prepared import Labelled, Scored
from dqeval.core.registry import experiment
from dqeval.core.scaling import min_max
from dqeval.core.types import COLUMNS, SCORE_NAMES, BoolArray, DQEResult, FloatArray, Series
from dqeval.datasets import synthetic
from dqeval.experiments import score_plots
from dqeval.experiments.outcome import (
    FORMS,
    HALFWAY,
    OURS,
    PUBLISHED,
    By,
    Cell,
    Claim,
    Key,
    Outcome,
    beside,
    expected_numbers,
)
from dqeval.experiments.setting import NoDataError, Setting, find_numbered
from dqeval.experiments.verdicts import Decision, of_both_forms, with_seeds
from dqeval.render import drawing
from dqeval.render.tables import Table

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAME = "thresholds"
TABLE, LOWEST, OUTSIDE = "AUC figure", "lowest effective threshold", "points off the event at 0.5"
SECTION = "2.4"
CLAIMS = (
    "AUC-ROC and AUC-PR are higher for KMeansAD, whose answer is broad, than for SR, whose answer is narrow.",
    "The thresholds that these areas follow from span far less (a tenth or less) of the scores of KMeansAD than of "
    "those of SR.",
    "SR's answer is the more precise and concentrated one: a threshold halfway between the lowest score and the "
    "highest detects far fewer points off the event (a tenth or less).",
)
SEEDS = 10  # of KMeansAD, which draws its first centres at random
# What the paper's figure shows of the series; scores are scaled there.
FIRST, STOP = 900, 1050


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """What an algorithm makes of a series, and what metrics make of that.

    Attributes
    ----------
    name : str
    labels : array of bool, shape (n,)
    scores : array of float, shape (n,)
        Scaled to [0, 1].
    forms : tuple of "as published" and "dqeval"
        Whose detector it is; both, where it is the same.
    lowest : float
        The lowest score of an anomalous point. At this threshold every one of them is detected, so that no lower
        threshold changes the recall: the effective thresholds lie from here to 1.
    outside : int
        How many points off the event a threshold halfway detects.
    auc_roc, auc_pr : float
    dqe : DQEResult
    """

    name: str
    labels: BoolArray
    scores: FloatArray
    forms: tuple[By, ...]
    lowest: float
    outside: int
    auc_roc: float
    auc_pr: float
    dqe: DQEResult

    @property
    def title(self) -> str:
        """The name, and where the algorithm has two forms, which of them."""
        return self.name if self.forms in ((), FORMS) else f"{self.name} ({self.forms[0]})"

    def numbers(self) -> dict[str, float]:
        """Return what the table shows, by what it is called: as the registry does, or in words."""
        parts = {part: getattr(self.dqe, part) for part in SCORE_NAMES}
        areas = {"auc_roc": self.auc_roc, "auc_pr": self.auc_pr}
        return {**areas, **parts, OUTSIDE: self.outside, LOWEST: self.lowest}


@experiment(name=NAME, label="The effective thresholds of AUC", published="the two figures on AUC")
def thresholds(setting: Setting) -> Iterator[Outcome]:
    """AUC-ROC, AUC-PR and DQE of a broad and of a narrow answer to the same event."""
    try:
        series = find_numbered(setting.data, "YAHOO", 808).read()
    except NoDataError as error:
        if setting.data is not None:
            raise
        yield _generated_outcome(str(error))
        return
    assert series.values is not None
    scores: dict[tuple[str, tuple[By, ...]], FloatArray] = {
        ("KMeansAD", FORMS): detect(series, "kmeans_ad", seed=setting.seed),
        ("SR", (PUBLISHED,)): detect(series, "sr", variant="published"),
        ("SR", (OURS,)): detect(series, "sr"),
    }
    shown = slice(FIRST, STOP)
    labels = validate.labels(series.labels)
    answers = [
        answer(name, labels[shown], found[shown], series.period, forms=forms) for (name, forms), found in scores.items()
    ]
    broad, published, ours = answers
    broads = [
        answer(broad.name, labels[shown], detect(series, "kmeans_ad", seed=seed)[shown], series.period)
        for seed in range(SEEDS)
    ]
    whole = [metrics.auc_pr(series.labels, found) for found in scores.values()]
    notes = (
        f"Points {FIRST:,} to {STOP - 1:,} of {series.name}: the detectors saw the whole series, the scores are scaled "
        f"and evaluated on these points, and the near range of DQE is half the period of the series, {series.period}.",
        "KMeansAD is the same in both forms; SR is once as in the code that made the figure, and once corrected.",
        f"Over the whole series AUC-PR is {listing(answers, whole)}: what the figure shows of AUC-PR is so on the "
        "points that it shows.",
        seeds_sentence(broads),
        "Not of the paper: DQE, which takes all thresholds alike, is "
        f"{listing(answers, [a.dqe.dqe for a in answers])}.",
    )
    part = Series(series.name, labels[shown], {}, series.values[shown], period=series.period)
    decided = claims(broad, published, ours, broads)
    yield _outcome("on points of a YAHOO series", part, answers, decided, notes, first=FIRST)


def seeds_sentence(broads: Sequence[Answer]) -> str:
    """Say how far the lowest threshold of KMeansAD moves with its seed."""
    lowest = [each.lowest for each in broads]
    return (
        f"KMeansAD draws its first centres at random: with seeds from 0 to {SEEDS - 1} its lowest threshold goes from "
        f"{min(lowest):.4f} to {max(lowest):.4f}."
    )


def listing(answers: Sequence[Answer], numbers: Sequence[float]) -> str:
    """Return a number of each answer in words."""
    *others, last = (f"{number:.3f} for {each.title}" for each, number in zip(answers, numbers, strict=True))
    return f"{', '.join(others)} and {last}"


def answer(
    name: str, labels: BoolArray, scores: FloatArray, period: float | None, *, forms: tuple[By, ...] = ()
) -> Answer:
    """Return what metrics make of scores."""
    scaled = min_max(scores)
    return Answer(
        name,
        labels,
        scaled,
        forms,
        lowest=float(scaled[labels].min()),
        outside=int((scaled[~labels] >= HALFWAY).sum()),
        auc_roc=metrics.auc_roc(labels, scaled),
        auc_pr=metrics.auc_pr(labels, scaled),
        dqe=evaluate(labels, scaled, period=period),
    )


def claims(broad: Answer, published: Answer, ours: Answer, broads: Sequence[Answer] = ()) -> list[Claim]:
    """Return what the paper says of the two algorithms, decided for both forms of the one whose answer is narrow.

    ``broads`` has the other's with several seeds.
    """
    by_seed = [[decided.holds is True for decided in _decisions(each, published)] for each in broads]
    both = zip(CLAIMS, _decisions(broad, published), _decisions(broad, ours), strict=True)
    return [
        with_seeds(of_both_forms(SECTION, text, *decisions), [held[i] for held in by_seed])
        for i, (text, *decisions) in enumerate(both)
    ]


def _decisions(broad: Answer, narrow: Answer) -> list[Decision]:
    """Return whether each claim holds, without regard to DQE: the metric is not its own judge."""
    both = f"{broad.name} and {narrow.name}"
    areas = f"AUC-ROC {broad.auc_roc:.3f} and {narrow.auc_roc:.3f}, AUC-PR {broad.auc_pr:.3f} and {narrow.auc_pr:.3f}"
    spans = f"from 1 down to {broad.lowest:.3f} for {broad.name}, to {narrow.lowest:.3f} for {narrow.name}"
    normal = np.count_nonzero(~broad.labels)
    return [
        Decision(broad.auc_roc > narrow.auc_roc and broad.auc_pr > narrow.auc_pr, f"{both}: {areas}"),
        Decision(1 - broad.lowest <= (1 - narrow.lowest) / 10, spans),
        Decision(
            narrow.outside <= broad.outside / 10, f"{both}: {broad.outside} and {narrow.outside} of {normal} points"
        ),
    ]


def _generated_outcome(why: str) -> Outcome:
    """Return the same problem on a generated series, with scores that are made to show it."""
    series = synthetic(n=300, period=30, events=1, kinds=("spike",), seed=0)
    labels = validate.labels(series.labels)
    middle = int(np.flatnonzero(labels).mean())
    away = np.abs(np.arange(len(labels)) - middle)
    broad = np.maximum(0.0, 1 - away / 90)
    narrow = np.where(labels, 0.3, 0.05 * (1 + np.cos(away)))
    narrow[middle] = 1.0
    narrow[middle - 60] = 0.4  # a false alarm, higher than some of the event: no area is 1
    answers = [answer(name, labels, scores, series.period) for name, scores in (("broad", broad), ("narrow", narrow))]
    notes = (
        f"The published numbers are not here: {why}.",
        "In their place, scores made up to show the same: one algorithm answers the event over six periods, highest at "
        "its middle; the other at the event, and at one point far from it.",
    )
    untold = [Claim(SECTION, text, None, "needs the series") for text in CLAIMS]
    return _outcome("made-up scores", series, answers, untold, notes)


def _outcome(
    where: str,
    series: Series,
    answers: Sequence[Answer],
    decided: Sequence[Claim],
    notes: Sequence[str],
    first: int = 0,
) -> Outcome:
    printed = expected_numbers(NAME)
    return Outcome(
        NAME,
        f"The effective thresholds of AUC, {where}",
        {"What metrics say of the two algorithms": _table(answers, printed)},
        list(_cells(answers, printed)),
        decided,
        notes,
        {
            "scores": partial(draw_scores, series, answers, first),
            "maxima": partial(draw_maxima, answers, first),
            "curves": partial(draw_curves, answers),
            "dqe": partial(draw_dqe, answers),
        },
    )


def _cells(answers: Sequence[Answer], printed: Mapping[Key, str]) -> Iterator[Cell]:
    """Yield every number of the table, once for each form that it is of."""
    for each in answers:
        for by in each.forms or (OURS,):
            for name, number in each.numbers().items():
                yield Cell(NAME, TABLE, each.name, name, number, printed.get((TABLE, each.name, name)), by)


def _table(answers: Sequence[Answer], printed: Mapping[Key, str]) -> Table:
    rows = []
    for each in answers:
        numbers = {name: f"{n:d}" if isinstance(n, int) else f"{n:.3f}" for name, n in each.numbers().items()}
        shown = (beside(number, printed.get((TABLE, each.name, name))) for name, number in numbers.items())
        rows.append((each.title, *shown))
    header = ("algorithm", "AUC-ROC", "AUC-PR", *COLUMNS, OUTSIDE, LOWEST)
    return Table(
        header, rows, note="in brackets: what the paper prints, where that is another, and how far ours is off"
    )


def draw_scores(series: Series, answers: Sequence[Answer], first: int) -> Figure:
    """Draw the series and the scores, each with the end of its effective thresholds; time is counted from ``first``."""
    assert series.values is not None
    near = answers[0].dqe.near
    figure, rows = score_plots.grid(1 + len(answers), 1, width=7, height=1.2 + len(answers), sharex=True)
    for axes in rows[:, 0]:
        score_plots.draw_regions(axes, answers[0].labels, near)
    score_plots.draw_line(rows[0][0], series.values)
    rows[0][0].set_title(series.name, loc="left")
    for axes, each in zip(rows[1:, 0], answers, strict=True):
        score_plots.draw_line(axes, each.scores)
        axes.axhline(each.lowest, color=score_plots.SECOND, linestyle="--", linewidth=1)
        axes.set_title(f"{each.title}: effective thresholds from 1 down to {each.lowest:.3f}", loc="left")
        score_plots.as_scores(axes)
        axes.set_ylabel("scaled score")
    rows[0][0].set_ylabel("value")
    rows[-1][0].set(xlabel="time in points", xlim=(0, len(series.labels)))
    rows[-1][0].xaxis.set_major_formatter(lambda x, _: f"{first + x:,.0f}")
    score_plots.draw_legend(figure, _dashed_handle(), *score_plots.tint_handles())
    return figure


def draw_maxima(answers: Sequence[Answer], first: int) -> Figure:
    """Draw the highest score of each stretch of time, and nothing from which the series could be told."""
    figure, rows = score_plots.grid(len(answers), 1, width=7, height=0.6 + len(answers), sharex=True)
    for axes, each in zip(rows[:, 0], answers, strict=True):
        score_plots.draw_regions(axes, each.labels, each.dqe.near)
        score_plots.draw_maxima(axes, each.scores)
        axes.axhline(each.lowest, color=score_plots.SECOND, linestyle="--", linewidth=1)
        axes.set_title(f"{each.title}: effective thresholds from 1 down to {each.lowest:.3f}", loc="left")
        score_plots.as_scores(axes)
    rows[-1, 0].set(xlabel="time in points", xlim=(0, len(answers[0].labels)))
    rows[-1, 0].xaxis.set_major_formatter(lambda x, _: f"{first + x:,.0f}")
    score_plots.draw_legend(figure, _dashed_handle(), *score_plots.tint_handles())
    return figure


def draw_curves(answers: Sequence[Answer]) -> Figure:
    """Draw the ROC and the precision-recall curve of each algorithm, and on them what the effective thresholds give."""
    figure, rows = score_plots.grid(2, len(answers), width=2.8 * len(answers), height=5.4)
    for column, each in zip(rows.T, answers, strict=True):
        scored = Scored(Labelled(each.labels), each.scores)
        hits, detected = scored.distinct.hits, scored.distinct.detected
        recall, alarms = hits / hits[-1], (detected - hits) / (len(each.labels) - hits[-1])
        precision = hits / detected
        # Before the first threshold: nothing is detected. The last effective one is the first with all of the event.
        stop = int(np.argmax(hits == hits[-1])) + 2
        _draw_curve(column[0], np.append(0, alarms), np.append(0, recall), stop)
        # Average precision is the area under steps.
        _draw_curve(column[1], np.append(0, recall), np.append(precision[0], precision), stop, drawstyle="steps-pre")
        column[0].set(xlabel="false positive rate", ylabel="recall")
        column[1].set(xlabel="recall", ylabel="precision")
        column[0].set_title(f"{each.title}: AUC-ROC {each.auc_roc:.3f}", loc="left")
        column[1].set_title(f"{each.title}: AUC-PR {each.auc_pr:.3f}", loc="left")
        thin, thick = column[0].get_lines()
        named = [f"thresholds from 1 to {each.lowest:.3f}", "all lower thresholds"]
        column[0].legend([thick, thin], named, loc="lower right", fontsize=7, frameon=False)
    return figure


def _draw_curve(axes: Axes, x: FloatArray, y: FloatArray, stop: int, **look: Any) -> None:
    axes.plot(x, y, color=drawing.INK, linewidth=0.8, **look)
    axes.plot(x[:stop], y[:stop], color=score_plots.SECOND, linewidth=2.5, **look)
    axes.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.05), xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))


def draw_dqe(answers: Sequence[Answer]) -> Figure:
    """Draw DQE of each algorithm against the threshold, and the end of its effective thresholds."""
    figure, rows = score_plots.grid(1, len(answers), width=3.2 * len(answers), height=2.8)
    for axes, each in zip(rows[0], answers, strict=True):
        drawing.draw_curve(axes, each.dqe.curve)
        axes.axvline(each.lowest, color=score_plots.SECOND, linestyle="--", linewidth=1)
        found = each.dqe
        parts = f"capture {found.capture:.3f}, near miss {found.near_miss:.3f}, false alarm {found.false_alarm:.3f}"
        axes.set_title(f"{each.title}: DQE {found.dqe:.3f}\n{parts}", loc="left")
    score_plots.draw_legend(figure, _dashed_handle())
    return figure


def _dashed_handle() -> Artist:
    """Return what a legend shows for the end of the effective thresholds."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color=score_plots.SECOND, linestyle="--", linewidth=1, label=LOWEST)
