"""The two case studies of the paper: five detectors on one series each, as published and as this library has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import floor
from typing import TYPE_CHECKING

import numpy as np

from dqeval.analysis.evaluate import evaluate
from dqeval.bench.plan import PlannedSeries
from dqeval.core import validate
from dqeval.core.events import find_events
from dqeval.core.registry import experiment, label_of
from dqeval.core.scaling import min_max
from dqeval.core.types import COLUMNS, SCORE_NAMES, BoolArray, FloatArray, Scores
from dqeval.detectors import windows
from dqeval.experiments import score_plots
from dqeval.experiments.case_study import near_sweep
from dqeval.experiments.case_study.checks import TRUE_PERIODS, fallback_sentence, periods_table, seed_cells
from dqeval.experiments.case_study.claims import STATEMENTS, UCR_SHOWN, WSD_SHOWN, decide
from dqeval.experiments.case_study.numbers import Study, dqe_and_parts, forms_by_seed, study_of
from dqeval.experiments.detector_runs import (
    VARIED,
    Runs,
    generated_series,
    missing_sentence,
    real_series,
    run_detectors,
    usable_detectors,
)
from dqeval.experiments.outcome import (
    FORMS,
    HALFWAY,
    OURS,
    PAPER_METRICS,
    PUBLISHED,
    By,
    Cell,
    Outcome,
    beside,
    expected_numbers,
)
from dqeval.experiments.published import published_dqe
from dqeval.experiments.rankings import means_table
from dqeval.experiments.setting import NoDataError, Setting, find_numbered
from dqeval.render import drawing
from dqeval.render.tables import Table, count_of

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAME, EXPECTED = "case-study", "case_study"
NUMBERS = {"WSD": 94, "UCR": 452}
RANKED = {"WSD": WSD_SHOWN, "UCR": UCR_SHOWN}
GENERATED = "generated"
# The paper's generator was seeded once for all its series: numbers of these cannot be had again to the digit.
RANDOM = ("CNN", "TimesNet", "KMeansAD")
_MOST_EVENTS = 3  # in the figure, each with a column of its own
EARLY = 15  # by how much TimesNet's scores are early in the published form


@experiment(
    name=NAME,
    label="The two case studies",
    published="the tables and figures of the two case studies, and of their components",
    cases=("wsd", "ucr"),
)
def case_study(setting: Setting) -> Iterator[Outcome]:
    """Five detectors on a WSD and on a UCR series: every metric, and DQE event by event."""
    missing: dict[str, str] = {}
    for dataset, number in NUMBERS.items():
        if setting.case not in (None, dataset.lower()):
            continue
        try:
            found = find_numbered(setting.data, dataset, number)
        except NoDataError as error:
            missing[dataset] = str(error)
            continue
        yield _outcome(setting, dataset, real_series(dataset, [found])[0])
    if missing and setting.data is not None:
        raise NoDataError("; ".join(missing.values()))
    if missing:
        (planned,) = generated_series(1, n=1500, events=3) if setting.quick else generated_series(1)
        instead = "Instead, a generated series, for which the paper prints no numbers."
        notes = [f"The {dataset} case is not here: {why}." for dataset, why in missing.items()]
        yield _outcome(setting, GENERATED, planned, *notes, instead)


def _outcome(setting: Setting, dataset: str, planned: PlannedSeries, *notes: str) -> Outcome:
    detectors = usable_detectors()
    setting, runs = runs_with_scores(setting, planned, detectors)
    study = study_of(dataset, planned, runs, RANKED.get(dataset, ()))
    by_seed = {by: forms_by_seed(study, planned, runs, by) for by in FORMS}
    ours = study.forms[OURS]
    sweeps = {seed: near_sweep.sweep_of(study, form.scores) for seed, form in by_seed[OURS].items()}
    exact, sweep = near_sweep.exact_parts(study), sweeps[runs.seeds[0]]
    cells = list(cells_of(study))
    sentences = [
        *notes,
        missing_sentence(detectors),
        *(f"{failure}." for failure in runs.failures),
        fallback_sentence(study),
        difference_sentence(study),
        chance_sentence(cells),
        *findings(study),
        near_sweep.exact_sentence(ours, exact),
        near_sweep.sweep_sentence(sweep),
        near_sweep.seeds_sentence(sweeps, study.period),
    ]
    seeds = list(seed_cells(NAME, study, planned, runs, setting)) if len(runs.seeds) > 1 else []
    return Outcome(
        f"{NAME}-{dataset.lower()}",
        f"The {dataset} case: {study.series.name}",
        {
            **tables(study, cells),
            **_seeds_table(seeds, study),
            "100 thresholds and all of them": near_sweep.exact_table(ours, exact),
            "DQE and the near range": near_sweep.sweep_table(sweep, study.period, study.series.no_period),
            **_at_true_period(study, planned, runs),
        },
        [*cells, *_further_cells(study, exact, sweep)],
        [
            decide(each, study.forms[PUBLISHED], ours, list(by_seed[PUBLISHED].values()))
            for each in STATEMENTS.get(dataset, ())
        ],
        [sentence for sentence in sentences if sentence],
        {
            "scores": partial(draw_scores, study),
            "maxima": partial(draw_maxima, study),
            "near": partial(near_sweep.draw_sweep, sweep, study.period),
        },
    )


def runs_with_scores(setting: Setting, planned: PlannedSeries, detectors: Sequence[str]) -> tuple[Setting, Runs]:
    """Return a run that has the scores of a case, and the setting of its folder.

    A run that was made elsewhere may have come without its scores. To compute some of them here would mix two machines
    in one table, so the detectors run again, in a folder of their own.
    """
    runs = run_detectors([planned], setting, detectors=detectors)
    if all(runs.keeps(each) for each in runs.every_run() if runs.has(each)):
        return setting, runs
    own = replace(setting, folder=setting.folder / NAME)
    return own, run_detectors([planned], own, detectors=detectors)


def _seeds_table(cells: Sequence[Cell], study: Study) -> dict[str, Table]:
    return {"Every metric, mean over the seeds": means_table(cells, study.detectors)} if cells else {}


def _at_true_period(study: Study, planned: PlannedSeries, runs: Runs) -> dict[str, Table]:
    """Return the verdicts with the true period, where that of the case is a fallback."""
    true = TRUE_PERIODS.get(study.dataset)
    if true is None or not study.series.no_period:
        return {}
    other = study_of(study.dataset, planned, runs, RANKED[study.dataset], period=true)
    return {"Statements with the fallback and with the true period": periods_table(study, other)}


def cells_of(study: Study) -> Iterator[Cell]:
    """Yield the numbers of a case in both forms, beside those that the paper prints."""
    printed = expected_numbers(EXPECTED)

    def cell(table: str, row: str, metric: str, value: float, by: By) -> Cell:
        return Cell(NAME, table, row, metric, value, printed.get((table, row, metric)), by)

    for by, form in study.forms.items():
        for detector, values in form.values.items():
            for metric in PAPER_METRICS:
                yield cell(f"{study.dataset} case", detector, metric, values[metric], by)
        for row, scores in form.parts.items():
            for part in SCORE_NAMES:
                yield cell(f"{study.dataset} components", row, part, getattr(scores, part), by)


def _further_cells(study: Study, exact: Mapping[str, Scores], sweep: near_sweep.NearSweep) -> Iterator[Cell]:
    """Yield what is not in the paper's tables: the numbers of our own tables, and how many false alarms there are."""
    for by, form in study.forms.items():
        for detector, count in form.alarms.items():
            yield Cell(NAME, f"{study.dataset} false alarms", detector, f"number at {HALFWAY}", count, by=by)
    for detector, scores in exact.items():
        for part in SCORE_NAMES:
            yield Cell(NAME, f"{study.dataset} exact thresholds", detector, part, getattr(scores, part))
    for detector, values in near_sweep.table_values(sweep).items():
        for word, value in values.items():
            yield Cell(NAME, f"{study.dataset} near range", detector, f"DQE with {word}", value)


def tables(study: Study, cells: list[Cell]) -> dict[str, Table]:
    """Return the tables of a case: orders of detectors, every metric, and the parts of DQE, in both forms."""
    found = {(cell.by, cell.table, cell.row, cell.metric): beside(cell.shown, cell.published) for cell in cells}
    made = {"Order of the detectors by each metric": _order_table(study)}
    for by, form in study.forms.items():
        of_case, of_parts = f"{study.dataset} case", f"{study.dataset} components"
        metric_rows = [
            (label_of(metric), *(found[by, of_case, detector, metric] for detector in study.detectors))
            for metric in PAPER_METRICS
        ]
        part_rows = [(row, *(found[by, of_parts, row, part] for part in SCORE_NAMES)) for row in form.parts]
        made[f"Every metric, {by}"] = Table(("metric", *study.detectors), metric_rows, note=_bracket(study))
        made[f"DQE and its parts, {by}"] = Table(("detector", *COLUMNS), part_rows, note=_bracket(study))
    return made


def _bracket(study: Study) -> str:
    return (
        ""
        if study.dataset == GENERATED
        else "in brackets: what the paper prints, where that is another, and how far ours is off"
    )


def _order_table(study: Study) -> Table:
    """Return who is first, second and so on by each metric: as printed, and in both forms."""
    printed: dict[str, list[str]] = {metric: [] for metric in PAPER_METRICS}
    for table, row, metric in expected_numbers(EXPECTED):  # where detectors stand in the order of the paper's table
        if table == f"{study.dataset} case":
            printed[metric].append(row)
    in_print = {metric: tuple(row for row in rows if row in study.ranked) for metric, rows in printed.items()}
    columns = [in_print, *({metric: study.order(by, metric) for metric in PAPER_METRICS} for by in FORMS)]
    header: tuple[str, ...] = ("metric", "printed", *FORMS)
    if not any(in_print.values()):
        columns, header = columns[1:], ("metric", *FORMS)
    rows = [(label_of(metric), *(", ".join(column[metric]) for column in columns)) for metric in PAPER_METRICS]
    marked = {(i, j) for i, row in enumerate(rows) for j in range(2, len(row)) if row[j] != row[1]}
    return Table(header, rows, note="marked: another order than in the first column", marked=marked, text_columns=4)


def difference_sentence(study: Study) -> str:
    """Say what the two forms differ in."""
    near = study.period / 2
    return (
        f'"{PUBLISHED}": the near range is {floor(near)}, half the period rounded down, near-miss pieces reach up to '
        "the next event and may overlap, and false alarms on both sides of the border between two events are merged; "
        f'TimesNet, CNN and FFT are as in the code that made the tables. "{OURS}": the near range is {near:g}, each '
        "point belongs to one event, nothing is merged, and these three detectors are corrected. KMeansAD and Sub-LOF "
        "are the same in both."
    )


def chance_sentence(cells: Sequence[Cell]) -> str:
    """Say how many published numbers are reproduced: of detectors that draw random numbers, and of the others."""
    printed = [cell for cell in cells if cell.by == PUBLISHED and cell.published is not None]
    parts = []
    for drawing_any, what in ((False, "no random numbers"), (True, "random numbers")):
        of_kind = [cell for cell in printed if (_detector(cell) in RANDOM) is drawing_any]
        if of_kind:
            equal, names = (
                sum(bool(cell.equal) for cell in of_kind),
                " and ".join(dict.fromkeys(map(_detector, of_kind))),
            )
            parts.append(f"{equal} of {count_of(len(of_kind), 'number')} of {names} (which draw {what})")
    return f"As printed, in the published form: {', '.join(parts)}." if parts else ""


def _detector(cell: Cell) -> str:
    """Return the detector of a row, which may be that of an event."""
    return cell.row.partition(",")[0]


def findings(study: Study) -> Iterator[str]:
    """Yield what the corrections of TimesNet and FFT change, in numbers."""
    if "TimesNet" in study.detectors:
        then, now = (study.forms[by].scores["TimesNet"] for by in FORMS)
        yield (
            f"TimesNet's scores are written {EARLY} points early in the published form (the two forms agree best when "
            f"they are moved by {best_shift(then, now, 2 * EARLY)}). At their places: {_change(study, 'TimesNet')}."
        )
    if "FFT" in study.detectors and study.series.values is not None:
        values = study.series.values
        off, off_now = (ends_off_the_mean(values, study.forms[by].scores["FFT"]) for by in FORMS)
        yield (
            "FFT's transform does nothing in the published form: it runs along an axis of length 1, so that points "
            "stand out by their distance from the mean and not from a curve. So its groups begin and end at points "
            f"farther than average from the mean: {off} of these ends are such. With the transform {off_now} are, and "
            f"{_change(study, 'FFT')}."
        )


def _change(study: Study, detector: str) -> str:
    """Say what the corrected detector changes, in each computation of the metric."""
    labels, scores = study.series.labels, [study.forms[by].scores[detector] for by in FORMS]
    ours = [dqe_and_parts(evaluate(labels, each, period=study.period)) for each in scores]
    published = [published_dqe(labels, each, period=study.period).mean for each in scores]
    return f"{_changes_in_words(*ours)} (computed as published: {_changes_in_words(*published)})"


def _changes_in_words(then: Scores, now: Scores) -> str:
    parts = ("capture", "near_miss", "dqe")
    return ", ".join(f"{label_of(part)} {getattr(then, part):.3f} becomes {getattr(now, part):.3f}" for part in parts)


def best_shift(early: FloatArray, scores: FloatArray, most: int) -> int:
    """Return by how many points, up to ``most``, scores must be moved to be most like others that come later."""
    length = len(scores) - most
    target = scores[most:]
    correlations = [np.corrcoef(early[most - shift : most - shift + length], target)[0, 1] for shift in range(most + 1)]
    return int(np.argmax(correlations))


def ends_off_the_mean(values: FloatArray, scores: FloatArray) -> str:
    """Return how many of the points at which groups of FFT begin and end are farther than average from the mean.

    A group begins and ends at a point that stands out: from the mean, where no curve is taken off.
    """
    distance = np.abs(windows.standardise(values))
    distance[:5] = 0  # which the published form leaves out
    groups = find_events(scores > 0)
    far = distance[np.concatenate([groups.starts, groups.stops - 1])] > distance.mean()
    return f"{far.sum():,} of {len(far):,}"


def draw_scores(study: Study) -> Figure:
    """Draw the scaled scores of each detector, in both forms where they differ: the whole series, and each event."""
    labels, near = validate.labels(study.series.labels), study.period / 2
    names = sorted(study.detectors, key=_by_dqe(study))
    spans = [(0, len(labels)), *_around_events(labels, study.period)]
    size = {"width": 9, "height": 0.9 + 0.95 * (1 + len(names))}
    widths = (3, *[1] * (len(spans) - 1))
    figure, rows = score_plots.grid(1 + len(names), len(spans), **size, sharey="row", width_ratios=widths)
    for j, span in enumerate(spans):
        for axes in rows[:, j]:
            score_plots.draw_regions(axes, labels, near)
            axes.set_xlim(*span)
            axes.tick_params(labelbottom=False)
            axes.xaxis.set_major_formatter("{x:,.0f}")
            axes.locator_params(axis="x", nbins=2 if j else 6)
        _draw_column(rows[:, j], study, names, span)
        rows[-1, j].tick_params(labelbottom=True)
        rows[0, j].set_title(f"event {j}" if j else study.series.name, loc="left")
    for axes, name in zip(rows[1:, 0], names, strict=True):
        then, now = (study.forms[by].parts[name].dqe for by in FORMS)
        axes.set_title(f"{name}: DQE {now:.2f} ({PUBLISHED} {then:.2f})", loc="left")
    rows[-1, 0].set_xlabel("time in points")
    score_plots.draw_legend(figure, *_form_handles(), *score_plots.tint_handles())
    return figure


def draw_maxima(study: Study) -> Figure:
    """Draw the highest score of each stretch of the series, and nothing from which the series could be told."""
    labels, names = validate.labels(study.series.labels), sorted(study.detectors, key=_by_dqe(study))
    figure, rows = score_plots.grid(len(names), 1, width=7.5, height=0.5 + 0.85 * len(names), sharex=True)
    for axes, name in zip(rows[:, 0], names, strict=True):
        score_plots.draw_regions(axes, labels, study.period / 2)
        for by, colour in ((PUBLISHED, score_plots.SECOND), (OURS, drawing.INK)):
            if by == OURS or name in VARIED:
                score_plots.draw_maxima(axes, min_max(study.forms[by].scores[name]), color=colour)
        score_plots.as_scores(axes)
        then, now = (study.forms[by].parts[name].dqe for by in FORMS)
        axes.set_title(f"{name}: DQE {now:.2f} ({PUBLISHED} {then:.2f})", loc="left")
    rows[-1, 0].set(xlabel="time in points", xlim=(0, len(labels)))
    score_plots.draw_legend(figure, *_form_handles(), *score_plots.tint_handles())
    return figure


def _by_dqe(study: Study) -> Callable[[str], float]:
    return lambda name: -study.forms[OURS].parts[name].dqe


def _form_handles() -> list[Artist]:
    from matplotlib.lines import Line2D

    lines = ((score_plots.SECOND, f"{PUBLISHED}, where it differs"), (drawing.INK, OURS))
    return [Line2D([], [], color=colour, label=text) for colour, text in lines]


def _around_events(labels: BoolArray, period: int) -> list[tuple[int, int]]:
    """Return what is shown of the first events: a period before and after each."""
    events = list(find_events(labels))[:_MOST_EVENTS]
    return [(max(0, start - period), min(len(labels), stop + period)) for start, stop in events]


def _draw_column(column: Sequence[Axes], study: Study, names: Sequence[str], span: tuple[int, int]) -> None:
    """Draw a span of the values, and below it of the scores of each detector."""
    assert study.series.values is not None
    score_plots.draw_line(column[0], study.series.values, span)
    for axes, name in zip(column[1:], names, strict=True):
        published, ours = (min_max(study.forms[by].scores[name]) for by in FORMS)
        if name in VARIED:
            score_plots.draw_line(axes, published, span, color=score_plots.SECOND)
        score_plots.draw_line(axes, ours, span)
        score_plots.as_scores(axes)
