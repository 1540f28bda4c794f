"""The report on a benchmark run: one HTML file, and a page of the explorer for each series beside it."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from dqeval.analysis.score import Progress
from dqeval.bench.jobs import DETECT, EVALUATE
from dqeval.bench.kept import kept
from dqeval.bench.plan import Plan
from dqeval.bench.ranking import Ranking, rank_store
from dqeval.bench.statistics import LEVEL, Standing
from dqeval.bench.store import Store
from dqeval.core.registry import label_of
from dqeval.render.diagram import critical_difference, size_of
from dqeval.render.drawing import COLOURS, INK, require_matplotlib
from dqeval.render.drilldown import NONE, Case, Pages, cases_of, folder_of, write_pages
from dqeval.render.tables import Table, best_of, counted, in_words
from dqeval.support.places import without_folders
from dqeval.support.writing import write_text

MOST_PAGES = 50
MOST_REASONS = 100
_STRONGEST_TINT = 0.55
_LONG_HEAD = 16  # letters; longer ones are broken into lines

Lacking = Counter[tuple[str, str, str, str]]  # how often, by status, detector, metric and reason


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
    folder, path = Path(folder), Path(path)
    with Store(folder) as store:
        # The plan first: with it come the detectors and metrics that people registered themselves.
        plan = _plan(folder)
        count, seconds = store.count(planned=True), store.seconds()
        values = [{**row, "unit": row["series"]} for row in store.values(planned=True)]
        lacking = _lacking(store.rows(planned=True))
        ranking, by_event = _ranked(store), _ranked(store, by="event")
        datasets = _datasets(store, sorted({row["dataset"] for row in values}))
    cases = cases_of(values)
    pages = write_pages(plan, folder, path, cases[:MOST_PAGES], progress)
    sections = {
        "Leaderboard": _leaderboard(ranking, seconds),
        "Critical differences": _differences(ranking),
        "Datasets": datasets,
        "Events": _events(by_event),
        "Agreement of metrics": _agreements(ranking),
        "Series": _series(cases, pages),
        "Failures": _failures(lacking),
    }
    done = f"{counted(count.done, 'job')} done, {count.failed:,} failed; dqeval {version('dqeval')}."
    fields = {
        "title": escape(f"Benchmark {folder.resolve().name}"),
        "verdict": escape(ranking if isinstance(ranking, str) else _verdict(ranking)),
        "links": "".join(f'<a href="#{_anchor(title)}">{title}</a>' for title in sections),
        "sections": "\n".join(_section(title, content) for title, content in sections.items()),
        "footer": escape(done),
        "css": _own("series_page.css") + _own("bench_page.css"),
        "js": _own("bench_page.js"),
    }
    write_text(path, _filled(_own("bench_page.html"), fields))
    return folder_of(path) if pages.links else None


# Pieces of HTML ------------------------------------------------------------------------------------------------------


def _own(name: str) -> str:
    return resources.files("dqeval.render").joinpath(name).read_text(encoding="utf-8")


def _filled(template: str, fields: Mapping[str, str]) -> str:
    """Fill a template in one pass: what is filled in is not searched again."""
    first, *pieces = template.split("{{")
    return first + "".join(fields[name] + rest for name, _, rest in (piece.partition("}}") for piece in pieces))


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


def _section(title: str, content: str) -> str:
    name = _anchor(title)
    return f'<section aria-labelledby="{name}"><h2 id="{name}">{title}</h2>{content}</section>'


def _scroll(content: str, label: str, kind: str = "sortable") -> str:
    """Return what may be wider than the window, to be moved also by keyboard."""
    return f'<div class="scroll {kind}" tabindex="0" role="group" aria-label="{escape(label)}">{content}</div>'


def _paragraph(text: str, kind: str = "") -> str:
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def _details(summary: str, content: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>{content}</details>"


def _table(header: Sequence[str], rows: Iterable[Sequence[str]], *, text_columns: Sequence[int] = ()) -> str:
    """Return a table of cells that are HTML already."""
    head = "".join(_head(cell, text_column=i in text_columns) for i, cell in enumerate(header))
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _head(text: str, *, text_column: bool) -> str:
    kinds = ["text"] * text_column + ["long"] * (len(text) > _LONG_HEAD)
    return f'<th scope="col" class="{" ".join(kinds)}">{escape(text)}</th>'


def _text(text: str, kind: str = "text") -> str:
    return f'<td class="{kind}">{escape(text)}</td>'


def _number(value: float, shown: str = "", *, digits: int = 3, best: bool = False, title: str = "") -> str:
    """Return a cell with a number, which sorts by all its digits."""
    if np.isnan(value):
        return f'<td class="number">{NONE}</td>'
    number = f"{_no_minus_zero(value, digits):,.{digits}f}".replace("-", "−")
    told = f' title="{escape(title)}"' if title else ""
    return f'<td class="number" data-sort="{value:.12f}"{told}>{f"<b>{number}</b>" if best else number}{shown}</td>'


def _no_minus_zero(value: float, digits: int) -> float:
    """Return a number rounded, and 0 where that would be shown as −0."""
    return round(value, digits) + 0.0


def _plan(folder: Path) -> Plan | str:
    """Return the plan of a run, or why there is none."""
    try:
        return kept(folder).plan
    except (OSError, ValueError) as error:
        return without_folders(str(error).removeprefix(f"{folder}: "))


# Who is best ---------------------------------------------------------------------------------------------------------


def _ranked(store: Store, **options: Any) -> Ranking | str:
    """Return a ranking, or why there is none."""
    try:
        return rank_store(store, **options)
    except ValueError as error:
        return f"There is no ranking: {without_folders(str(error), [str(store.path.parent.parent)])}."


def _first(ranking: Ranking) -> Standing:
    return next(iter(ranking.standings.values()))


def _verdict(ranking: Ranking) -> str:
    first, (best, *others) = _first(ranking), ranking.detectors
    label = label_of(first.metric)
    lead = f"{best} is best by {label}: {first.mean[0]:.3f} on average over {ranking.n:,} series"
    interval = f"95 % interval {first.low[0]:.3f}–{first.high[0]:.3f}"
    if not others:
        return f"{lead} ({interval})."
    p_values = {(set(pair) - {best}).pop(): p for pair, p in ranking.significance.pairs.items() if best in pair}
    alike = [other for other in others if p_values[other] >= LEVEL]
    surely = f"is not told apart from {in_words(alike)}" if alike else "differs from every other by more than chance"
    test = f"Wilcoxon's test, corrected after Holm, level {LEVEL:g}"
    return f"{lead} ({interval}), followed by {others[0]} ({first.mean[1]:.3f}). It {surely} ({test})."


def _leaderboard(ranking: Ranking | str, seconds: Mapping[str, float]) -> str:
    if isinstance(ranking, str):
        return _paragraph(ranking) + _seconds(seconds)
    first, *others = ranking.standings.values()
    label = label_of(first.metric)
    labels = [label_of(standing.metric) for standing in others]
    header = ("detector", label, f"{label}, 95 % interval", f"{label}, average rank", *labels, "seconds a series")
    rows = []
    for i, detector in enumerate(ranking.detectors):
        interval = f'<td class="number" data-sort="{first.mean[i]:.12f}">{_interval(first, i)}</td>'
        average = _number(first.average_rank[i], digits=2, best=first.average_rank[i] == first.average_rank.min())
        means = [_mean(standing, i) for standing in others]
        rows.append((_text(detector), _mean(first, i), interval, average, *means, _time(seconds, detector)))
    everything = _scroll(_records(ranking).html(most_rows=None), "Every metric")
    better = "Higher is better, by every metric; of ranks, which are in brackets for the means, 1 is best."
    return (
        _scroll(_table(header, rows), "Leaderboard")
        + _paragraph(f"{ranking.over()} {better} A column sorts when its head is pressed.", "hint")
        + "".join(map(_paragraph, ranking.left_out()))
        + _details("Intervals and average ranks by every metric", everything)
    )


def _mean(standing: Standing, i: int) -> str:
    place = f" <small>({standing.rank[i]:g})</small>"
    more = f"95 % interval {standing.low[i]:.3f}–{standing.high[i]:.3f}, average rank {standing.average_rank[i]:.2f}"
    return _number(standing.mean[i], place, best=standing.rank[i] == standing.rank.min(), title=more)


def _interval(standing: Standing, i: int) -> str:
    """Return an interval drawn between the lowest and the highest of all, and in numbers."""
    low, high = float(standing.low.min()), float(standing.high.max())
    width = (high - low) or 1.0
    left, middle, right = (3 + 94 * (x[i] - low) / width for x in (standing.low, standing.mean, standing.high))
    drawn = f'<line x1="{left:.1f}" x2="{right:.1f}" y1="6" y2="6"/><circle cx="{middle:.1f}" cy="6" r="3"/>'
    numbers = f"{standing.low[i]:.3f}–{standing.high[i]:.3f}"
    return f'<svg class="interval" viewBox="0 0 100 12" aria-hidden="true">{drawn}</svg>{numbers}'


def _records(ranking: Ranking) -> Table:
    rows = [
        (
            *(row["detector"], label_of(row["metric"])),
            *(f"{row[name]:.3f}" for name in ("mean", "low", "high")),
            *(f"{row['rank']:g}", f"{row['average_rank']:.2f}"),
        )
        for row in ranking.records()
    ]
    return Table(("detector", "metric", "mean", "95 % from", "95 % to", "rank of the mean", "average rank"), rows)


def _time(seconds: Mapping[str, float], detector: str) -> str:
    return _number(seconds.get(detector, float("nan")))


def _seconds(seconds: Mapping[str, float]) -> str:
    rows = [(_text(detector), _time(seconds, detector)) for detector in seconds]
    return _scroll(_table(("detector", "seconds a series"), rows), "Seconds") if rows else ""


def _differences(ranking: Ranking | str) -> str:
    if isinstance(ranking, str) or len(ranking.detectors) < 2:
        return _paragraph("There are no two detectors to compare.")
    said = _paragraph(ranking.sentence())
    try:
        require_matplotlib()
    except ValueError as error:
        return said + _paragraph(f"There is no diagram: {error}.", "hint")
    hint = "A bar joins detectors no two of which differ by more than chance. Beside each name is its average rank."
    return _scroll(_svg(ranking), "Critical-difference diagram", "diagram") + said + _paragraph(hint, "hint")


def _svg(ranking: Ranking) -> str:
    """Return the diagram as SVG in the colour of the text around it."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    file = io.StringIO()
    # Letters stay letters, which can be searched; the salt gives the same run the same page.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "dqeval"}):
        figure = Figure(figsize=size_of(ranking), layout="constrained")
        critical_difference(ranking, figure.add_subplot())
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    drawn = re.sub(r"<metadata>.*?</metadata>", "", file.getvalue(), flags=re.DOTALL).replace(INK, "currentColor")
    label = escape(f"Critical-difference diagram. {ranking.sentence()}")
    return f'<svg role="img" aria-label="{label}" {drawn[drawn.index("<svg") + 5 :]}'


# Parts of the run ----------------------------------------------------------------------------------------------------


def _datasets(store: Store, datasets: Sequence[str]) -> str:
    if len(datasets) < 2:
        return _paragraph(f"All series are of one dataset{''.join(f': {name}' for name in datasets)}.")
    found = {dataset: _ranked(store, dataset=dataset) for dataset in datasets}
    rankings = {dataset: ranking for dataset, ranking in found.items() if not isinstance(ranking, str)}
    detectors = sorted({detector for ranking in rankings.values() for detector in ranking.detectors})
    whole = "".join(_details(dataset, _whole(ranking)) for dataset, ranking in found.items())
    if not rankings:
        return whole
    rows = [_dataset_row(dataset, ranking, detectors) for dataset, ranking in rankings.items()]
    label = label_of(_first(next(iter(rankings.values()))).metric)
    summary = _scroll(_table(("dataset", "series", *detectors), rows), "Datasets")
    return summary + _paragraph(f"Mean {label} of each detector. All metrics are below.", "hint") + whole


def _dataset_row(dataset: str, ranking: Ranking, detectors: Sequence[str]) -> tuple[str, ...]:
    first = _first(ranking)
    means = dict(zip(ranking.detectors, first.mean.tolist(), strict=True))
    values = [means.get(detector, float("nan")) for detector in detectors]
    best = best_of(values)
    cells = (_number(value, best=i in best) for i, value in enumerate(values))
    return (_text(dataset), _number(ranking.n, digits=0), *cells)


def _whole(ranking: Ranking | str) -> str:
    if isinstance(ranking, str):
        return _paragraph(ranking)
    table = _scroll(ranking.table().html(most_rows=None), "Means")
    return _paragraph(" ".join([ranking.over(), *ranking.left_out()]), "hint") + table + _paragraph(ranking.sentence())


def _events(ranking: Ranking | str) -> str:
    if isinstance(ranking, str):
        return _paragraph(f"{ranking} Events are scored by DQE.")
    hint = "Each event counts once, however many a series has. Events of one series are not independent of each other."
    table = _scroll(ranking.table().html(most_rows=None), "Means over events")
    return table + _paragraph(f"{ranking.over()} {hint}", "hint")


# Where metrics disagree ----------------------------------------------------------------------------------------------


def _agreements(ranking: Ranking | str) -> str:
    if isinstance(ranking, str) or len(ranking.standings) < 2 or len(ranking.detectors) < 2:
        return _paragraph("That takes two metrics and two detectors.")
    labels = [label_of(metric) for metric in ranking.standings]
    rows = [
        (_text(label), *(_tau(value) for value in row))
        for label, row in zip(labels, ranking.agreement.tolist(), strict=True)
    ]
    hint = "Kendall's tau between the orders in which two metrics put the detectors, the mean over the series: "
    table = _scroll(_table(("", *labels), rows), "Agreement of metrics", "tau")
    return table + _paragraph(hint + "1 is the same order, 0 is chance, −1 is the reverse.", "hint")


def _tau(value: float) -> str:
    if np.isnan(value):
        return f"<td>{NONE}</td>"
    colour = COLOURS["capture" if value > 0 else "false alarm"]
    channels = ", ".join(str(int(colour[i : i + 2], 16)) for i in (1, 3, 5))
    # Not opaque, so that it is pale on white and deep on black.
    tint = f"rgba({channels}, {_STRONGEST_TINT * abs(value):.2f})"
    return f'<td style="background: {tint}">{_signed(value)}</td>'


def _signed(tau: float) -> str:
    return f"{_no_minus_zero(tau, 2):.2f}".replace("-", "−")


def _series(cases: Sequence[Case], pages: Pages) -> str:
    if not cases:
        return _paragraph("No series has a result.")
    shown = cases[:MOST_PAGES]
    label = label_of(cases[0].metric)
    header = ("series", "dataset", f"best by {label}", label, f"agreement with {label}", "agrees least", "best by that")
    rows = [_series_row(case, pages) for case in shown]
    said = _disagreement(shown[0], label)
    if len(cases) > len(shown):
        said += f" Shown are {len(shown)} of {len(cases):,} series: those where the metrics disagree most."
    hint = f"Agreement is the mean of Kendall's tau between {label} and each other metric."
    return (
        _paragraph(said)
        + _paragraph(pages.trouble or "A series' name opens it in the explorer: event by event, and why.")
        + _scroll(_table(header, rows, text_columns=(1, 2, 5, 6)), "Series")
        + _paragraph(hint, "hint")
        + _without_page(pages.reasons)
    )


def _disagreement(worst: Case, label: str) -> str:
    if not worst.other:
        return "No two metrics can be said to agree or disagree about the order of detectors."
    other = label_of(worst.other)
    lead = f"The metrics disagree most about the order of the detectors on {worst.name}"
    told = f"{label} prefers {worst.best}, {other} {worst.other_best}"
    return f"{lead}, where {told} (Kendall's tau {_signed(worst.other_tau)}; {_signed(worst.tau)} over all metrics)."


def _series_row(case: Case, pages: Pages) -> tuple[str, ...]:
    name = escape(case.name)
    link = pages.links.get(case.name)
    linked = f'<td class="text"><a href="{escape(link)}">{name}</a></td>' if link else _text(case.name)
    least = f"{label_of(case.other)} ({_signed(case.other_tau)})" if case.other else NONE
    cells = (
        _number(case.value),
        _number(case.tau, digits=2),
        _text(least, "text whole"),
        _text(case.other_best or NONE),
    )
    return (linked, _text(case.dataset), _text(case.best), *cells)


def _without_page(reasons: Mapping[str, str]) -> str:
    if not reasons:
        return ""
    table = Table(("series", "why it has no page"), list(reasons.items()), text_columns=2)
    return _details(f"{len(reasons):,} series without a page", _scroll(table.html(most_rows=None), "Without a page"))


# What has no value ---------------------------------------------------------------------------------------------------


def _lacking(rows: Iterable[Mapping[str, Any]]) -> Lacking:
    """Return how often there is no value."""
    lacking = (row for row in rows if row["status"] != "ok")
    return Counter((row["status"], row["detector"], row["metric"], row["reason"]) for row in lacking)


def _failures(lacking: Lacking) -> str:
    if not lacking:
        return _paragraph("Nothing failed, and every value is defined.")
    totals: Counter[str] = Counter()
    for (status, *_), n in lacking.items():
        totals[status] += n
    said = f"{totals['failed']:,} failed, {totals['undefined']:,} undefined. Neither is counted as 0."
    rows = [
        (_text(detector), _text(_what(metric)), _number(n, digits=0), _text(status), _text(reason))
        for (status, detector, metric, reason), n in lacking.most_common(MOST_REASONS)
    ]
    if len(lacking) > MOST_REASONS:
        said += f" The {MOST_REASONS} most common reasons of {len(lacking):,}:"
    table = _table(("detector", "what", "times", "status", "reason"), rows, text_columns=(1, 3, 4))
    return _paragraph(said) + _scroll(table, "Failures")


def _what(metric: str) -> str:
    return {DETECT: "the detector", EVALUATE: "the evaluation"}.get(metric) or label_of(metric)
