"""The five detectors over all series of a dataset: means of the metrics, the order they give, and at which level."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from dqeval.bench.jobs import Job
from dqeval.bench.ranking_result import Ranking
from dqeval.bench.statistics import scipy_stats
from dqeval.core.registry import experiment, label_of
from dqeval.core.types import FloatArray
from dqeval.experiments.detector_runs import (
    BEYOND,
    NAMES,
    DetectorRun,
    Runs,
    folder_name,
    run_on_datasets,
    scored_series,
    shortfalls,
)
from dqeval.experiments.levels import beyond_table, errors_table, has_levels, level_claims
from dqeval.experiments.outcome import (
    FORMS,
    OURS,
    PAPER_METRICS,
    PUBLISHED,
    By,
    Cell,
    Claim,
    Key,
    Outcome,
    expected_numbers,
    metric_header,
)
from dqeval.experiments.published import published_dqe
from dqeval.experiments.ranked import LEVELS, Level, Ranked, ranked_runs
from dqeval.experiments.score_work import work_on_scores
from dqeval.experiments.setting import PAPER_COUNTS, Setting
from dqeval.experiments.verdicts import Decision, decision, of_both_forms, order_of
from dqeval.render.diagram import critical_difference, size_of
from dqeval.render.tables import Table, best_of, count_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "rankings"
PRINTED, BY_SEED = "printed", "± by seed"
LEVELS_TABLE = "sequence vs event level"
# Which detector the paper finds best by DQE.
BEST = {"WSD": "CNN", "UCR": "Sub-LOF"}
_SECTION = "appendix C"


@experiment(name=NAME, label="Five detectors over all series", published="the tables of rankings on WSD and UCR")
def rankings(setting: Setting) -> Iterator[Outcome]:
    """Rank five detectors over all WSD and UCR series by 11 metrics, at the level of series and of events."""
    scipy_stats()  # raises where it is missing, before hours of work
    datasets, runs, notes = run_on_datasets(setting, beyond=tuple(BEYOND))
    as_published = compute_published(runs, setting)
    found = {
        (dataset, by): ranked_runs(runs, series, by, as_published)
        for dataset, series in datasets.items()
        for by in FORMS
    }
    notes += [*shortfalls(runs), DIFFERENCE]
    more = {
        f"DQE of {', '.join(runs.beyond)} beside the others on {dataset}": beyond_table(
            ranked_runs(runs, series, OURS, as_published, beyond=True), runs.beyond
        )
        for dataset, series in datasets.items()
    }
    for dataset, series in datasets.items():
        ranked = found[dataset, PUBLISHED]
        whole = set(NAMES) <= set(ranked.by_series.detectors)
        if setting.subset is None and whole and ranked.by_series.n < PAPER_COUNTS.get(dataset, 0):
            long = {each.source.name for each in series if len(each.source.read().labels) > LONG}
            more[f"What the missing {dataset} series would need"] = missing_table(dataset, ranked, long)
    notes += [sentence for dataset in datasets if (sentence := outside_sentence(dataset, found[dataset, PUBLISHED]))]
    yield outcome(found, notes, more)


def missing_table(dataset: str, ranked: Ranked, long: Collection[str]) -> Table:
    """Return the means that missing series would need for the printed ones, beside those of the long series here."""
    printed, (here, there) = expected_numbers(NAME), (ranked.by_series.n, PAPER_COUNTS[dataset])
    rows = []
    for detector in ranked.by_series.detectors:
        of_detector = [float(printed[f"rankings on {dataset}", detector, metric]) for metric in PAPER_METRICS]
        ours = [ranked.mean(detector, metric) for metric in PAPER_METRICS]
        needed = [(there * p - here * m) / (there - here) for p, m in zip(of_detector, ours, strict=True)]
        of_long = [ranked.mean_over(detector, metric, long) for metric in PAPER_METRICS]
        rows += [
            (detector, kind, *(f"{value:.2f}" for value in values))
            for kind, values in {"needed": needed, "long ones here": of_long, "all here": ours}.items()
        ]
    note = (
        f"needed: the mean over the {there - here:,} series that are not here, so that the mean over all {there:,} is "
        f"the printed one, which is rounded: ± {0.005 * there / (there - here):.2f}; long: the {len(long):,} of more "
        f"than {LONG:,} points; all as published"
    )
    return Table(metric_header(PAPER_METRICS, "detector", ""), rows, note=note, text_columns=2)


def outside_sentence(dataset: str, ranked: Ranked) -> str:
    """Say which printed means lie outside of what the seeds give; nothing where that is asked of no number."""
    table, printed = f"rankings on {dataset}", expected_numbers(NAME)
    cells = [cell for cell in _cells(dataset, PUBLISHED, ranked, printed) if cell.table == table]
    asked = [cell for cell in cells if cell.inside is not None]
    outside = [cell for cell in asked if not cell.inside]
    if not outside:
        return ""
    opening = f"On {dataset}, {len(outside)} of {len(asked)} printed means lie outside mean ± SD over the seeds"
    if ranked.by_series.n < PAPER_COUNTS[dataset]:
        return f"{opening}: see what the missing series would need."
    shown = "; ".join(
        f"{cell.row}'s {label_of(cell.metric)}, {cell.ours:.3f} beside {cell.published}"
        + ("" if cell.deviation else ", which draws no random numbers: unexplained")
        for cell in outside
    )
    return f"{opening}: {shown}."


LONG = 100_000  # points
DIFFERENCE = (
    "“As published” has the detectors and the computation of DQE that the paper's numbers were made with: TimesNet's "
    "scores 15 points early, FFT's transform without effect, CNN's average taken twice; near-miss pieces that overlap, "
    "false alarms merged at the border of two anomalies, and half the period rounded down. “dqeval” has the corrected "
    "detectors and the definition as it is written."
)


def outcome(
    found: Mapping[tuple[str, By], Ranked], notes: Sequence[str], more: Mapping[str, Table] | None = None
) -> Outcome:
    """Return what the rankings say, beside what the paper prints, and more tables behind it."""
    printed = expected_numbers(NAME)
    datasets = list(dict.fromkeys(dataset for dataset, _ in found))
    tables: dict[str, Table] = {}
    cells: list[Cell] = []
    for dataset in datasets:
        forms = {by: found[dataset, by] for by in FORMS}
        of_dataset = [cell for by in FORMS for cell in _cells(dataset, by, forms[by], printed)]
        cells += of_dataset
        means = [cell for cell in of_dataset if cell.table == f"rankings on {dataset}"]
        tables[f"Rankings on {dataset}"] = means_table(means, forms[OURS].by_series.detectors)
        tables[f"Orders on {dataset}"] = orders_table(dataset, forms, printed)
        tables[f"DQE on {dataset}, by series and by event"] = levels_table(dataset, forms, printed)
        if has_levels(forms[OURS]) and forms[OURS].resamples.enough:
            tables[f"Standard errors on {dataset}, by series and by event"] = errors_table(forms[OURS])
    return Outcome(
        folder_name(NAME, datasets),
        "Five detectors over all series: the mean of each metric",
        {**tables, **(more or {})},
        cells,
        [claim for d in datasets for claim in _claims(d, {by: found[d, by] for by in FORMS})],
        [note for note in [*notes, *(_significance(d, found[d, OURS]) for d in datasets)] if note],
        {f"critical_difference_{d.lower()}": partial(_figure, found[d, OURS].by_series) for d in datasets},
    )


def means_table(cells: Sequence[Cell], detectors: Sequence[str]) -> Table:
    """Return the means of each detector: printed, as published and here, one under the other, with what seeds do."""
    lines: list[tuple[str, str, list[str]]] = []
    for detector in detectors:
        of_forms = {by: [cell for cell in cells if (cell.row, cell.by) == (detector, by)] for by in FORMS}
        in_print = [_printed(cell) for cell in of_forms[PUBLISHED]]
        if any(in_print):
            lines.append((detector, PRINTED, in_print))
        for by, of_form in of_forms.items():
            lines.append((detector, by, [cell.shown for cell in of_form]))
            if any(cell.deviation for cell in of_form):
                lines.append((detector, BY_SEED, [f"{cell.deviation:.3f}" for cell in of_form]))
    marked = set()
    for kind in (PRINTED, *FORMS):
        places = [i for i, line in enumerate(lines) if line[1] == kind]
        for j in range(len(PAPER_METRICS)):
            numbers = [float(lines[i][2][j].strip("()")) for i in places]
            marked |= {(places[k], j + 2) for k in best_of(numbers)}
    rows = [(detector, kind, *values) for detector, kind, values in lines]
    header = metric_header(PAPER_METRICS, "detector", "")
    return Table(header, rows, note=_seeds_note(cells), marked=marked, text_columns=2)


def _printed(cell: Cell) -> str:
    """Return what the paper prints; in brackets, if that is outside of what the seeds give."""
    if cell.published is None:
        return ""
    return f"({cell.published})" if cell.inside is False else cell.published


def _seeds_note(cells: Sequence[Cell]) -> str:
    ranged = [cell.inside for cell in cells if cell.by == PUBLISHED and cell.inside is not None]
    if not ranged:
        return ""
    return (
        f"{BY_SEED}: the standard deviation of the mean from seed to seed; as published, {sum(ranged)} of "
        f"{len(ranged)} printed numbers lie within mean ± SD, the others are in brackets"
    )


def orders_table(dataset: str, forms: Mapping[By, Ranked], printed: Mapping[Key, str]) -> Table:
    """Return the order that each metric gives the detectors: printed, as published and here, one under the other."""
    table = f"rankings on {dataset}"
    detectors = forms[OURS].by_series.detectors
    in_print = all((table, detector, "dqe") in printed for detector in detectors)
    rows = []
    for metric in PAPER_METRICS:
        if in_print:
            rows.append((label_of(metric), PRINTED, _order({d: float(printed[table, d, metric]) for d in detectors})))
        for by in FORMS:
            rows.append((label_of(metric), by, _order({d: forms[by].mean(d, metric) for d in detectors})))
    return Table(("metric", "", "order"), rows, text_columns=3)


def levels_table(dataset: str, forms: Mapping[By, Ranked], printed: Mapping[Key, str]) -> Table:
    """Return the mean DQE over series and over events, with 95 % intervals from resampling whole series."""
    rows = []
    for detector in forms[OURS].by_series.detectors:
        in_print = [_printed_dqe(printed, dataset, detector, level) for level in ("series", "event")]
        if any(in_print):
            rows.append((detector, PRINTED, *in_print))
        for by in FORMS:
            levels = (forms[by].by_series, forms[by].by_event)
            rows.append((detector, by, *(_with_interval(ranking, detector) for ranking in levels)))
    header = ("detector", "", "by series", "by event")
    return Table(header, rows, note=_over(forms[OURS]), text_columns=len(header))


def _over(ranked: Ranked) -> str:
    series = f"{ranked.by_series.n:,} series, {count_of(ranked.by_event.n, 'event')}"
    left = ranked.by_series.n_left_out
    left_out = f"; {left:,} series left out, for which not every detector has a value" if left else ""
    seeded = any(np.isfinite(ranked.by_series.standings["dqe"].seed_deviation))
    by_seed = "; ±, the standard deviation from seed to seed" if seeded else ""
    return f"{series}{left_out}; in brackets, 95 % intervals, from resampling whole series{by_seed}"


def _printed_dqe(printed: Mapping[Key, str], dataset: str, detector: str, level: str) -> str:
    if level == "series":
        return printed.get((f"rankings on {dataset}", detector, "dqe"), "")
    return printed.get((LEVELS_TABLE, detector, "dqe, by event"), "") if dataset == "WSD" else ""


def _with_interval(ranking: Ranking, detector: str) -> str:
    i, dqe = ranking.detectors.index(detector), ranking.standings["dqe"]
    interval = dqe.intervals[i]
    shown = f"[{interval.low:.2f}, {interval.high:.2f}]" if interval.is_known else f"({interval})"
    deviation = f" ± {dqe.seed_deviation[i]:.3f}" if np.isfinite(dqe.seed_deviation[i]) else ""
    return f"{dqe.mean[i]:.2f}{deviation} {shown}"


def _cells(dataset: str, by: By, ranked: Ranked, printed: Mapping[Key, str]) -> Iterator[Cell]:
    table = f"rankings on {dataset}"
    for detector in ranked.by_series.detectors:
        for metric in PAPER_METRICS:
            in_print = printed.get((table, detector, metric))
            yield _cell(table, detector, metric, ranked, in_print, by)
        # The paper has this table for WSD alone.
        levels = LEVELS_TABLE if dataset == "WSD" else f"{LEVELS_TABLE}, {dataset}"
        for level in LEVELS:
            metric = f"dqe, by {level}"
            yield _cell(levels, detector, metric, ranked, printed.get((levels, detector, metric)), by, level)


def _cell(
    table: str, row: str, metric: str, ranked: Ranked, in_print: str | None, by: By, level: Level = "series"
) -> Cell:
    name = "dqe" if metric.startswith("dqe") else metric
    found = ranked.deviation(row, name, level)
    # Where some detector ran with several seeds, one that draws no random numbers has the same with all.
    several = any(np.isfinite(standing.seed_deviation).any() for standing in ranked.ranking(level).standings.values())
    deviation = (0.0 if np.isnan(found) else found) if several else None
    return Cell(NAME, table, row, metric, ranked.mean(row, name, level), in_print, by, deviation)


def _claims(dataset: str, forms: Mapping[By, Ranked]) -> list[Claim]:
    """Decide what the paper's tables have: the verdict is that of its own computation, with ours beside it."""
    if dataset not in BEST:
        return []
    decided = [_verdicts(dataset, forms[by]) for by in FORMS]
    whole = set(NAMES) <= set(forms[PUBLISHED].by_series.detectors)
    of_tables = [
        of_both_forms(_SECTION, text, published, decided[1][text])
        if whole
        else Claim(_SECTION, text, None, published.found)
        for text, published in decided[0].items()
    ]
    ours = forms[OURS]
    return [*of_tables, *(level_claims(dataset, ours) if has_levels(ours) else ())]


def _verdicts(dataset: str, ranked: Ranked) -> dict[str, Decision]:
    by_series = {d: ranked.mean(d, "dqe") for d in ranked.by_series.detectors}
    drawn = ranked.resampled("dqe")
    best, decide = BEST[dataset], partial(decision, ranked.resamples)
    found = {
        f"the table of {dataset} has {best} first by DQE": decide(
            _with_values(by_series), lambda i: order_of(_at(drawn, i))[0] == best
        )
    }
    if dataset == "WSD":
        by_event = {d: ranked.mean(d, "dqe", "event") for d in by_series}
        events_drawn = ranked.resampled("dqe", "event")
        found["the tables of WSD have one order by DQE, by series and by event"] = decide(
            f"by event, {_with_values(by_event)}",
            lambda i: order_of(_at(drawn, i)) == order_of(_at(events_drawn, i)),
        )
        last = [metric for metric in PAPER_METRICS if _last(ranked, metric) == "KMeansAD"]
        every = [ranked.resampled(metric) for metric in PAPER_METRICS]
        found["the table of WSD has KMeansAD last by every metric"] = decide(
            f"last by {len(last)} of {len(PAPER_METRICS)}",
            lambda i: all(order_of(_at(each, i))[-1] == "KMeansAD" for each in every),
        )
    return found


def _at(drawn: Mapping[str, FloatArray], resample: int) -> dict[str, float]:
    return {name: float(values[resample]) for name, values in drawn.items()}


def _last(ranked: Ranked, metric: str) -> str:
    return order_of({d: ranked.mean(d, metric) for d in ranked.by_series.detectors})[-1]


def _order(values: Mapping[str, float]) -> str:
    """Return the detectors in order, the best first; equals, in two decimals, are joined by =, by name."""
    rounded = {name: float(f"{values[name]:.2f}") for name in sorted(values)}
    names = order_of(rounded)
    text = names[0]
    for before, name in pairwise(names):
        text += f" {'=' if rounded[before] == rounded[name] else '>'} {name}"
    return text


def _with_values(values: Mapping[str, float]) -> str:
    return f"{_order(values)}; {', '.join(f'{values[name]:.2f}' for name in order_of(values))}"


def compute_published(runs: Runs, setting: Setting) -> dict[DetectorRun, Any]:
    """Return DQE as published of every series, detector and seed that have one, and of each event."""
    every = runs.each_run(PUBLISHED)
    return work_on_scores(runs, every, published_of, setting, file="published_dqe.jsonl", what="DQE as published")


def published_of(job: Job) -> dict[str, Any]:
    """Return DQE as published of a detector's scores: of the series, and of each event; and the parts of each."""
    scored = scored_series(job)
    result = published_dqe(scored.labels, scored.scores, period=scored.period)
    return {
        "dqe": result.mean.dqe,
        "events": [[event.start, event.dqe] for event in result.per_event],
        "parts": [[event.capture, event.near_miss, event.false_alarm] for event in result.per_event],
    }


def _significance(dataset: str, ranked: Ranked) -> str:
    return f"On {dataset}, in dqeval's form: {ranked.by_series.sentence()}"


def _figure(ranking: Ranking) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=size_of(ranking), layout="constrained")
    critical_difference(ranking, figure.add_subplot())
    return figure
