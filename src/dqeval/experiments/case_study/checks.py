"""What a case study owes to its seed, and to a near range that is a fallback."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import fmean, stdev

from dqeval.bench.plan import PlannedSeries
from dqeval.experiments.case_study.claims import STATEMENTS, decide
from dqeval.experiments.case_study.numbers import Study
from dqeval.experiments.detector_runs import DetectorRun, Runs
from dqeval.experiments.outcome import FORMS, OURS, PAPER_METRICS, PUBLISHED, Cell, expected_numbers
from dqeval.experiments.rankings import compute_published
from dqeval.experiments.setting import Setting
from dqeval.render.tables import Table

# Periods that the rule cannot see, which looks at lags up to 400: a day of a series with a point per minute.
TRUE_PERIODS = {"WSD": 1440}


def seed_cells(name: str, study: Study, planned: PlannedSeries, runs: Runs, setting: Setting) -> Iterator[Cell]:
    """Yield the means of the metrics over the seeds, with their deviations, beside what the paper prints."""
    as_published = compute_published(runs, setting)
    printed = expected_numbers("case_study")

    def value(of: DetectorRun, metric: str) -> float:
        is_published = of.by == PUBLISHED and metric == "dqe"
        return float(as_published[of]["dqe"]) if is_published else runs.values(of)[metric]

    for by in FORMS:
        for detector in study.detectors:
            with_seeds = [runs.with_seed(planned, detector, by, seed) for seed in runs.seeds_of(detector)]
            for metric in PAPER_METRICS:
                values = [value(each, metric) for each in with_seeds if runs.has(each)]
                deviation = stdev(values) if len(values) > 1 else 0.0
                in_print = printed.get((f"{study.dataset} case", detector, metric))
                table = f"{study.dataset} case, {len(runs.seeds)} seeds"
                yield Cell(name, table, detector, metric, fmean(values), in_print, by, deviation)


def fallback_sentence(study: Study) -> str:
    """Say that the near range is a fallback, where it is one."""
    if not study.series.no_period:
        return ""
    true = TRUE_PERIODS.get(study.dataset)
    instead = f" It has a point per minute, and repeats every day: {true:,} points." if true else ""
    return (
        f"The near range of this case, {study.period / 2:g}, is no half period: {study.period} is a fallback, because "
        f"{study.series.no_period}.{instead}"
    )


def periods_table(study: Study, other: Study) -> Table:
    """Return the verdicts on all statements with the fallback, and with the true period."""
    rows = []
    for statement in STATEMENTS[study.dataset]:
        then, now = (decide(statement, each.forms[PUBLISHED], each.forms[OURS]) for each in (study, other))
        rows.append((statement.section, statement.text, then.verdict, now.verdict, now.found))
    nears = [f"near {each.period / 2:g}" for each in (study, other)]
    header = ("section", "statement", *nears, f"found with {nears[1]}")
    note = f"near {study.period / 2:g} is half the fallback, near {other.period / 2:g} half the true period"
    marked = {(i, 3) for i, row in enumerate(rows) if row[2] != row[3]}
    return Table(
        header, rows, note=f"{note}; with the first seed; marked: another verdict", marked=marked, text_columns=5
    )
