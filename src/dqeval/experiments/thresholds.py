"""The paper's two figures on AUC: areas under curves do not see how much of the scores their thresholds span."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dqeval import detectors, drawing, metrics, validate
from dqeval.datasets import synthetic
from dqeval.evaluate import evaluate
from dqeval.experiments import score_plots
from dqeval.experiments.outcome import OURS, PUBLISHED, By, Cell, Claim, Outcome, beside, expected
from dqeval.experiments.setting import NoDataError, Setting, find_numbered
from dqeval.registry import experiment
from dqeval.scored import Scored
from dqeval.tables import Table
from dqeval.types import COLUMNS, BoolArray, DQEResult, FloatArray, Series

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAME = "thresholds"
TABLE, LOWEST = "AUC figure", "lowest effective threshold"
SECTION = "2.4"
CLAIMS = (
    "AUC-ROC and AUC-PR are higher for KMeansAD, whose answer is broad, than for SR, whose answer is narrow.",
    "The thresholds that these areas follow from span far less of the scores of KMeansAD than of those of SR.",
    "SR's answer is the more precise one. (So says DQE, which takes all thresholds alike.)",
)
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
    lowest : float
        The lowest score of an anomalous point. At this threshold every one of them is detected, so that no lower
        threshold changes the recall: the effective thresholds lie from here to 1.
    auc_roc, auc_pr : float
    dqe : DQEResult
    by : "dqeval" or "as published"
        Whose detector it is.
    """

    name: str
    labels: BoolArray
    scores: FloatArray
    lowest: float
    auc_roc: float
    auc_pr: float
    dqe: DQEResult
    by: By


@experiment(name=NAME, label="The effective thresholds of AUC", published="the two figures on AUC")
def thresholds(setting: Setting) -> Iterator[Outcome]:
    """AUC-ROC, AUC-PR and DQE of a broad and of a narrow answer to the same event."""
    try:
        series = find_numbered(setting.data, "YAHOO", 808).read()
    except NoDataError as error:
        yield _made_up(str(error))
        return
    assert series.values is not None
    scores = {
        "KMeansAD": detectors.kmeans_ad(series.values, seed=setting.seed),
        "SR": detectors.sr(series.values, variant="published"),
    }
    shown = slice(FIRST, STOP)
    labels = validate.labels(series.labels)
    answers = [answer(name, labels[shown], found[shown], series.period, by=PUBLISHED) for name, found in scores.items()]
    whole = {name: metrics.auc_pr(series.labels, found) for name, found in scores.items()}
    notes = (
        f"Points {FIRST:,} to {STOP - 1:,} of {series.name}: the detectors saw the whole series, the scores are scaled "
        f"and evaluated on these points, and the near range of DQE is half the period of the series, {series.period}.",
        f"Over the whole series AUC-PR is {whole['KMeansAD']:.3f} for KMeansAD and {whole['SR']:.3f} for SR: what the "
        "figure shows of AUC-PR is so on the points that it shows.",
        "KMeansAD draws its first centres at random: its lowest threshold moves by about 0.002 with the seed.",
    )
    part = Series(series.name, labels[shown], {}, series.values[shown], period=series.period)
    yield _outcome("on points of a YAHOO series", part, answers, claims(*answers), notes, first=FIRST)


def answer(name: str, labels: BoolArray, scores: FloatArray, period: float | None, *, by: By = OURS) -> Answer:
    """Return what metrics make of scores."""
    scaled = validate.scaled(scores)
    return Answer(
        name,
        labels,
        scaled,
        lowest=float(scaled[labels].min()),
        auc_roc=metrics.auc_roc(labels, scaled),
        auc_pr=metrics.auc_pr(labels, scaled),
        dqe=evaluate(labels, scaled, period=period),
        by=by,
    )


def claims(broad: Answer, narrow: Answer) -> list[Claim]:
    """Return what the paper says of the two algorithms, decided from what metrics make of them."""
    both = f"{broad.name} and {narrow.name}"
    areas = f"AUC-ROC {broad.auc_roc:.3f} and {narrow.auc_roc:.3f}, AUC-PR {broad.auc_pr:.3f} and {narrow.auc_pr:.3f}"
    decided = (
        (broad.auc_roc > narrow.auc_roc and broad.auc_pr > narrow.auc_pr, f"{both}: {areas}"),
        (
            1 - broad.lowest < (1 - narrow.lowest) / 10,
            f"from 1 down to {broad.lowest:.3f} for {broad.name}, to {narrow.lowest:.3f} for {narrow.name}",
        ),
        (narrow.dqe.dqe > broad.dqe.dqe, f"{both}: DQE {broad.dqe.dqe:.3f} and {narrow.dqe.dqe:.3f}"),
    )
    return [Claim(SECTION, text, holds, found) for text, (holds, found) in zip(CLAIMS, decided, strict=True)]


def _made_up(why: str) -> Outcome:
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
    printed = expected(NAME)
    cells = [Cell(NAME, TABLE, a.name, LOWEST, a.lowest, printed.get((TABLE, a.name, LOWEST)), a.by) for a in answers]
    return Outcome(
        NAME,
        f"The effective thresholds of AUC, {where}",
        {"What metrics say of the two algorithms": _table(answers, cells)},
        cells,
        decided,
        notes,
        {
            "scores": partial(draw_scores, series, answers, first),
            "curves": partial(draw_curves, answers),
            "dqe": partial(draw_dqe, answers),
        },
    )


def _table(answers: Sequence[Answer], cells: Sequence[Cell]) -> Table:
    header = ("algorithm", "AUC-ROC", "AUC-PR", *COLUMNS, LOWEST)
    rows = []
    for each, cell in zip(answers, cells, strict=True):
        parts = (each.dqe.dqe, each.dqe.capture, each.dqe.near_miss, each.dqe.false_alarm)
        numbers = [f"{number:.3f}" for number in (each.auc_roc, each.auc_pr, *parts)]
        rows.append((each.name, *numbers, beside(f"{each.lowest:.3f}", cell.published)))
    return Table(header, rows, note="in brackets: what the paper prints, where that is another")


def draw_scores(series: Series, answers: Sequence[Answer], first: int) -> Figure:
    """Draw the series and the scores, each with the end of its effective thresholds; time is counted from ``first``."""
    assert series.values is not None
    near = answers[0].dqe.near
    figure, rows = score_plots.grid(1 + len(answers), 1, width=7, height=4.2, sharex=True)
    for axes in rows[:, 0]:
        score_plots.draw_regions(axes, answers[0].labels, near)
    score_plots.draw_line(rows[0][0], series.values)
    score_plots.title(rows[0][0], series.name)
    for axes, each in zip(rows[1:, 0], answers, strict=True):
        score_plots.draw_line(axes, each.scores)
        axes.axhline(each.lowest, color=score_plots.SECOND, linestyle="--", linewidth=1)
        score_plots.title(axes, f"{each.name}: effective thresholds from 1 down to {each.lowest:.3f}")
        score_plots.as_scores(axes)
        axes.set_ylabel("scaled score")
    rows[0][0].set_ylabel("value")
    rows[-1][0].set(xlabel="time in points", xlim=(0, len(series.labels)))
    rows[-1][0].xaxis.set_major_formatter(lambda x, _: f"{first + x:,.0f}")
    score_plots.draw_legend(figure, _dashed())
    return figure


def draw_curves(answers: Sequence[Answer]) -> Figure:
    """Draw the ROC and the precision-recall curve of each algorithm, and on them what the effective thresholds give."""
    figure, rows = score_plots.grid(2, len(answers), width=6, height=5.4)
    for column, each in zip(rows.T, answers, strict=True):
        scored = Scored(each.labels, raw=each.scores)
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
        score_plots.title(column[0], f"{each.name}: AUC-ROC {each.auc_roc:.3f}")
        score_plots.title(column[1], f"{each.name}: AUC-PR {each.auc_pr:.3f}")
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
    figure, rows = score_plots.grid(1, len(answers), width=7, height=2.8)
    for axes, each in zip(rows[0], answers, strict=True):
        drawing.draw_curve(axes, each.dqe.curve)
        axes.axvline(each.lowest, color=score_plots.SECOND, linestyle="--", linewidth=1)
        found = each.dqe
        parts = f"capture {found.capture:.3f}, near miss {found.near_miss:.3f}, false alarm {found.false_alarm:.3f}"
        score_plots.title(axes, f"{each.name}: DQE {found.dqe:.3f}\n{parts}")
    score_plots.draw_legend(figure, _dashed(), tints=False)
    return figure


def _dashed() -> Artist:
    """Return what a legend shows for the end of the effective thresholds."""
    from matplotlib.lines import Line2D

    return Line2D([], [], color=score_plots.SECOND, linestyle="--", linewidth=1, label=LOWEST)
