"""The report on a benchmark run: one HTML file, and a page of the explorer for each series beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dqeval.bench.bounds import BOUNDS
from dqeval.bench.ranking_result import ABOUT_BOUNDS, Ranking
from dqeval.bench.statistics import Standing
from dqeval.bench.store import Store
from dqeval.core.registry import label_of
from dqeval.core.types import Progress
from dqeval.render.bench_parts import (
    Lacking,
    interval_in_words,
    lacking_values,
    plan_of_run,
    ranking_or_reason,
    verdict_on,
    what_lacks,
)
from dqeval.render.blocks import (
    NONE,
    Bar,
    Block,
    Cell,
    Diagram,
    Fold,
    Grid,
    Listing,
    Paragraph,
    hint,
    number_cell,
    shown_number,
    text_cell,
)
from dqeval.render.diagram import critical_difference, size_of
from dqeval.render.drawing import COLOURS, require_matplotlib
from dqeval.render.drilldown import Case, Pages, cases_of, folder_of, write_pages
from dqeval.render.html import fill_template, inline_svg, require_jinja
from dqeval.render.tables import Table, best_of, count_of
from dqeval.support.writing import write_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_PAGES = 50
MOST_REASONS = 100
_STRONGEST_TINT = 0.55


def bench_report(folder: str | Path, path: str | Path, *, progress: Progress | None = None) -> Path | None:
    """Write a report on a benchmark run: one HTML file that needs no server and no network.

    It has a leaderboard, the critical-difference diagram, tables for each dataset and at the level of events, how far
    the metrics agree, and what failed. For the series, at most 50, it links to pages of the explorer, which are written
    into a folder beside the file: that of ``bench.html`` is ``bench_series``. They are those where the metrics disagree
    most.

    Parameters
    ----------
    folder : str or Path
        Of the run.
    path : str or Path
        Where to write the page.
    progress : callable, optional
        Called with the number of series pages done, and that of all.

    Returns
    -------
    Path or None
        The folder with the pages of the series, if there are any.
    """
    require_jinja()
    folder, path = Path(folder), Path(path)
    with Store(folder) as store:
        plan = plan_of_run(folder)
        count, seconds = store.count(planned=True), store.seconds()
        values = [{**row, "unit": row["series"]} for row in store.values(planned=True) if row["detector"] not in BOUNDS]
        lacking = lacking_values(store.rows(planned=True))
        ranking, by_event = ranking_or_reason(store), ranking_or_reason(store, by="event")
        datasets = _datasets(store, sorted({row["dataset"] for row in values}))
        cases = cases_of(values)
        pages = write_pages(plan, store, path, cases[:MOST_PAGES], progress)
    sections = {
        "Leaderboard": _leaderboard(ranking, seconds),
        "Critical differences": _differences(ranking),
        "Datasets": datasets,
        "Events": _events(by_event),
        "Agreement of metrics": _agreements(ranking),
        "Series": _series(cases, pages),
        "Failures": _failures(lacking),
    }
    done = f"{count_of(count.done, 'job')} done, {count.failed:,} failed; dqeval {version('dqeval')}."
    text = fill_template(
        "bench_page.html",
        title=f"Benchmark {folder.resolve().name}",
        verdict=ranking
        if isinstance(ranking, str)
        else verdict_on(ranking, _first(ranking).metric, ranking.significance),
        sections=sections,
        footer=done,
    )
    write_text(path, text)
    return folder_of(path) if pages.links else None


# Who is best ---------------------------------------------------------------------------------------------------------


def _first(ranking: Ranking) -> Standing:
    return next(iter(ranking.standings.values()))


def _leaderboard(ranking: Ranking | str, seconds: Mapping[str, float]) -> list[Block]:
    if isinstance(ranking, str):
        return [Paragraph(ranking), *_seconds(seconds)]
    first, *others = ranking.standings.values()
    label = label_of(first.metric)
    labels = [label_of(standing.metric) for standing in others]
    seeded = bool(np.isfinite(first.seed_deviation).any())
    by_seed = (f"{label}, ± by seed",) if seeded else ()
    ranks = (f"{label}, 95 % interval", *by_seed, f"{label}, average rank")
    header = ("detector", label, *ranks, *labels, "seconds per series")
    rows = []
    for i, detector in enumerate(ranking.detectors):
        average = number_cell(first.average_rank[i], digits=2, best=first.average_rank[i] == first.average_rank.min())
        means = [_mean(standing, i) for standing in others]
        deviation = (number_cell(first.seed_deviation[i]),) if seeded else ()
        cells = (_mean(first, i), _interval(first, i), *deviation, average, *means, _time(seconds, detector))
        rows.append((text_cell(detector), *cells))
    better = "Higher is better, by every metric; of ranks, which are in brackets for the means, 1 is best."
    return [
        Grid("Leaderboard", header, rows),
        hint(f"{ranking.over()} {better} A column sorts when its head is pressed."),
        *map(Paragraph, ranking.left_out()),
        *_bounds(ranking),
        Fold("Intervals and average ranks by every metric", [Listing("Every metric", _records(ranking))]),
    ]


def _bounds(ranking: Ranking) -> list[Block]:
    return [Listing("Bounds", ranking.bounds_table()), hint(ABOUT_BOUNDS)] if ranking.bounds else []


def _mean(standing: Standing, i: int) -> Cell:
    more = f"{interval_in_words(standing, i)}, average rank {standing.average_rank[i]:.2f}"
    best = standing.rank[i] == standing.rank.min()
    return number_cell(standing.mean[i], best=best, small=f"({standing.rank[i]:g})", title=more)


def _interval(standing: Standing, i: int) -> Cell:
    """Return an interval drawn between the lowest and the highest of all, and in numbers."""
    interval = standing.intervals[i]
    if not interval.is_known:
        return Cell(str(interval), sort=standing.mean[i])
    low, high = (min(each.low for each in standing.intervals), max(each.high for each in standing.intervals))
    width = (high - low) or 1.0
    drawn = Bar(*(3 + 94 * (x - low) / width for x in (interval.low, float(standing.mean[i]), interval.high)))
    return Cell(str(interval), "number", sort=standing.mean[i], interval=drawn)


def _records(ranking: Ranking) -> Table:
    rows = [
        (
            *(row["detector"], label_of(row["metric"])),
            *(number_cell(row[name]).text for name in ("mean", "low", "high")),
            *(f"{row['rank']:g}", f"{row['average_rank']:.2f}"),
        )
        for row in ranking.records()
    ]
    return Table(("detector", "metric", "mean", "95 % from", "95 % to", "rank of the mean", "average rank"), rows)


def _time(seconds: Mapping[str, float], detector: str) -> Cell:
    return number_cell(seconds.get(detector, float("nan")))


def _seconds(seconds: Mapping[str, float]) -> list[Block]:
    rows = [(text_cell(detector), _time(seconds, detector)) for detector in seconds]
    return [Grid("Seconds", ("detector", "seconds per series"), rows)] if rows else []


def _differences(ranking: Ranking | str) -> list[Block]:
    if isinstance(ranking, str) or len(ranking.detectors) < 2:
        return [Paragraph("There are no two detectors to compare.")]
    said = Paragraph(ranking.sentence())
    try:
        require_matplotlib()
    except ValueError as error:
        return [said, hint(f"There is no diagram: {error}.")]
    svg = inline_svg(lambda: _drawn(ranking))
    drawn = Diagram("Critical-difference diagram", f"Critical-difference diagram. {ranking.sentence()}", svg)
    bars = "A bar joins detectors no two of which differ by more than chance. Beside each name is its average rank."
    return [drawn, said, hint(bars)]


def _drawn(ranking: Ranking) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=size_of(ranking), layout="constrained")
    critical_difference(ranking, figure.add_subplot())
    return figure


# Parts of the run ----------------------------------------------------------------------------------------------------


def _datasets(store: Store, datasets: Sequence[str]) -> list[Block]:
    if len(datasets) < 2:
        return [Paragraph(f"All series are of one dataset{''.join(f': {name}' for name in datasets)}.")]
    found = {dataset: ranking_or_reason(store, dataset=dataset) for dataset in datasets}
    rankings = {dataset: ranking for dataset, ranking in found.items() if not isinstance(ranking, str)}
    detectors = sorted({detector for ranking in rankings.values() for detector in ranking.detectors})
    whole = [Fold(dataset, _whole(ranking)) for dataset, ranking in found.items()]
    if not rankings:
        return [*whole]
    rows = [_dataset_row(dataset, ranking, detectors) for dataset, ranking in rankings.items()]
    label = label_of(_first(next(iter(rankings.values()))).metric)
    summary = Grid("Datasets", ("dataset", "series", *detectors), rows)
    return [summary, hint(f"Mean {label} of each detector. All metrics are below."), *whole]


def _dataset_row(dataset: str, ranking: Ranking, detectors: Sequence[str]) -> tuple[Cell, ...]:
    first = _first(ranking)
    means = dict(zip(ranking.detectors, first.mean.tolist(), strict=True))
    values = [means.get(detector, float("nan")) for detector in detectors]
    best = best_of(values)
    cells = (number_cell(value, best=i in best) for i, value in enumerate(values))
    return (text_cell(dataset), number_cell(ranking.n, digits=0), *cells)


def _whole(ranking: Ranking | str) -> list[Block]:
    if isinstance(ranking, str):
        return [Paragraph(ranking)]
    over = hint(" ".join([ranking.over(), *ranking.left_out()]))
    return [over, Listing("Means", ranking.table()), *_bounds(ranking), Paragraph(ranking.sentence())]


def _events(ranking: Ranking | str) -> list[Block]:
    if isinstance(ranking, str):
        return [Paragraph(f"{ranking} Events are scored by DQE.")]
    once = "Each event counts once, however many a series has. Events of one series are not independent of each other."
    return [Listing("Means over events", ranking.table()), hint(f"{ranking.over()} {once}")]


# Where metrics disagree ----------------------------------------------------------------------------------------------


def _agreements(ranking: Ranking | str) -> list[Block]:
    if isinstance(ranking, str) or len(ranking.standings) < 2 or len(ranking.detectors) < 2:
        return [Paragraph("That takes two metrics and two detectors.")]
    labels = [label_of(metric) for metric in ranking.standings]
    rows = [
        (text_cell(label), *(_tau(value) for value in row))
        for label, row in zip(labels, ranking.agreement.tolist(), strict=True)
    ]
    tau = "Kendall's tau between the orders in which two metrics put the detectors, the mean over the series: "
    table = Grid("Agreement of metrics", ("", *labels), rows, kind="tau")
    return [table, hint(tau + "1 is the same order, 0 is chance, −1 is the reverse.")]


def _tau(value: float) -> Cell:
    if np.isnan(value):
        return Cell(NONE)
    colour = COLOURS["capture" if value > 0 else "false alarm"]
    channels = ", ".join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))
    # Not opaque, so that it is pale on white and deep on black.
    return Cell(_signed(value), tint=f"rgba({channels}, {_STRONGEST_TINT * abs(value):.2f})")


def _signed(tau: float) -> str:
    return shown_number(tau, 2)


def _series(cases: Sequence[Case], pages: Pages) -> list[Block]:
    if not cases:
        return [Paragraph("No series has a result.")]
    shown = cases[:MOST_PAGES]
    label = label_of(cases[0].metric)
    header = ("series", "dataset", f"best by {label}", label, f"agreement with {label}", "agrees least", "best by that")
    rows = [_series_row(case, pages) for case in shown]
    said = _disagreement(shown[0], label)
    if len(cases) > len(shown):
        said += f" Shown are {len(shown)} of {len(cases):,} series: those where the metrics disagree most."
    return [
        Paragraph(said),
        Paragraph(pages.trouble or "A series' name opens it in the explorer: event by event, and why."),
        Grid("Series", header, rows, text_columns=(1, 2, 5, 6)),
        hint(f"Agreement is the mean of Kendall's tau between {label} and each other metric."),
        *_without_page(pages.reasons),
    ]


def _disagreement(worst: Case, label: str) -> str:
    if not worst.other:
        return "No two metrics can be said to agree or disagree about the order of detectors."
    other = label_of(worst.other)
    lead = f"The metrics disagree most about the order of the detectors on {worst.name}"
    told = f"{label} prefers {worst.best}, {other} {worst.other_best}"
    return f"{lead}, where {told} (Kendall's tau {_signed(worst.other_tau)}; {_signed(worst.tau)} over all metrics)."


def _series_row(case: Case, pages: Pages) -> tuple[Cell, ...]:
    least = f"{label_of(case.other)} ({_signed(case.other_tau)})" if case.other else NONE
    return (
        Cell(case.name, "text", link=pages.links.get(case.name, "")),
        text_cell(case.dataset),
        text_cell(case.best),
        number_cell(case.value),
        number_cell(case.tau, digits=2),
        text_cell(least, "text whole"),
        text_cell(case.other_best or NONE),
    )


def _without_page(reasons: Mapping[str, str]) -> list[Block]:
    if not reasons:
        return []
    table = Table(("series", "why it has no page"), list(reasons.items()), text_columns=2)
    return [Fold(f"{len(reasons):,} series without a page", [Listing("Without a page", table)])]


# What has no value ---------------------------------------------------------------------------------------------------


def _failures(lacking: Lacking) -> list[Block]:
    if not lacking:
        return [Paragraph("Nothing failed, and every value is defined.")]
    totals: Counter[str] = Counter()
    for (status, *_), n in lacking.items():
        totals[status] += n
    said = f"{totals['failed']:,} failed, {totals['undefined']:,} undefined. Neither is counted as 0."
    rows = [
        (
            text_cell(detector),
            text_cell(what_lacks(metric)),
            number_cell(n, digits=0),
            text_cell(status),
            text_cell(reason),
        )
        for (status, detector, metric, reason), n in lacking.most_common(MOST_REASONS)
    ]
    if len(lacking) > MOST_REASONS:
        said += f" The {MOST_REASONS} most common reasons of {len(lacking):,}:"
    header = ("detector", "what", "times", "status", "reason")
    return [Paragraph(said), Grid("Failures", header, rows, text_columns=(1, 3, 4))]
