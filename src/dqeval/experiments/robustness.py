"""How much the metrics vary when scores come late or early, are noisy, or anomalies become rarer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dqeval.analysis.panel import panel
from dqeval.core.prepared import Labelled
from dqeval.core.registry import experiment, label_of
from dqeval.core.scaling import min_max
from dqeval.core.types import BoolArray
from dqeval.experiments.detector_runs import (
    DetectorRun,
    Runs,
    folder_name,
    run_on_datasets,
    scored_series,
    shortfalls,
)
from dqeval.experiments.outcome import PAPER_METRICS, PUBLISHED, Claim, Outcome, percent
from dqeval.experiments.resamples import verdict_of
from dqeval.experiments.score_work import SeededJob, work_on_scores
from dqeval.experiments.setting import Setting
from dqeval.experiments.varied import SeriesSpreads, Spreads, Varied, ascending, draw, spreads_in_words
from dqeval.experiments.verdicts import decision
from dqeval.lab.perturbations import LAGS, NOISE, PERTURBATIONS, RATIOS, Changed, Given, Perturbation

NAME = "robustness"
DRAWS = 10  # of noise
STREAMS = 5  # of noise, each of so many draws: how far a deviation depends on them
SEEDS = 3  # at most, of detectors that draw random numbers
KINDS = {"lag": "lag", "noise": "noise", "ratio": "anomaly ratio"}
OVERALL = "all"
# They score random detections high (the paper's Table 6), which makes small differences of what does not matter.
FORGIVING = ("affiliation_f1", "vus_roc", "auc_roc")
STRICT = tuple(metric for metric in PAPER_METRICS if metric not in FORGIVING)
_SECTION = "4.4"


@experiment(name=NAME, label="Metrics under perturbation", published="the two figures on robustness")
def robustness(setting: Setting) -> Iterator[Outcome]:
    """Measure the standard deviation of each metric under lag, noise and anomaly ratio, by dataset and over all."""
    datasets, runs, notes = run_on_datasets(setting)
    found = perturb(runs, setting)
    by_dataset: dict[str, list[SeriesSpreads]] = {dataset: [] for dataset in datasets}
    for each, spreads in found.items():
        by_dataset[each.series.dataset].append(
            SeriesSpreads(each.name, spreads, each.detector, each.seed, runs.values(each))
        )
    yield outcome(by_dataset, [*notes, HOW, *shortfalls(runs)])


def perturb(runs: Runs, setting: Setting) -> dict[DetectorRun, Any]:
    """Return how much each metric varies, for every series, detector and seed."""
    return work_on_scores(
        runs,
        runs.each_run(PUBLISHED, seeds=SEEDS),
        spreads_of,
        setting,
        file="robustness.jsonl",
        what="perturbed scores",
        task=lambda job: SeededJob(job, setting.seed),
        also=f"noise {setting.seed}",
    )


HOW = (
    f"Lag: scores moved in {LAGS} steps from a quarter of the period early to a quarter late. Noise: {DRAWS} draws, "
    f"uniform, to {100 * NOISE:g} % of the range of the scores on either side, {STREAMS} times over; each series has "
    "random numbers of its own. Anomaly ratio: a window around the "
    f"event with the most room, widened so that the event is {RATIOS[0]} to {RATIOS[-1]} of it, up to the next event's "
    "region. Each cell is the standard deviation of a metric over these, averaged over series and detectors. The "
    "detectors are in the form that the paper's numbers were made with; every metric, also DQE, is as dqeval has it. "
    "The paper gives neither the steps nor the numbers of its figures."
)


def spreads_of(task: SeededJob) -> dict[str, dict[str, list[float]]]:
    """Return the standard deviation of each metric under each kind of perturbation; of noise, for each stream."""
    found = scored_series(task.job)
    given = Given(Labelled(found.labels), min_max(found.scores), found.period)
    return {kind: _spreads(given, PERTURBATIONS[kind], [task.stream(i) for i in range(STREAMS)]) for kind in KINDS}


def _spreads(given: Given, kind: Perturbation, streams: Sequence[np.random.Generator]) -> dict[str, list[float]]:
    """Return the deviations by metric: of random draws, one for each stream."""
    found = [
        _spread(kind.change(given, random, DRAWS), given.period) for random in (streams if kind.drawn else streams[:1])
    ]
    return {metric: [each[metric] for each in found] for metric in PAPER_METRICS}


def _spread(copies: Iterable[Changed], period: float) -> dict[str, float]:
    rows = []
    for copy in copies:
        found = panel(copy.labelled.labels, copy.scores, period=period, metrics=PAPER_METRICS, workers=1)
        rows.append([found.values[metric] for metric in PAPER_METRICS])
    # A metric that is undefined for one of them has no spread.
    return dict(zip(PAPER_METRICS, np.std(rows, axis=0).tolist(), strict=True))


def outcome(by_dataset: Mapping[str, Sequence[SeriesSpreads]], notes: Sequence[str]) -> Outcome:
    """Return the mean spread of each metric, by dataset and over all, with the paper's claims decided."""
    groups = {dataset: Varied(list(found), KINDS) for dataset, found in by_dataset.items()}
    if len(groups) > 1:
        groups[OVERALL] = Varied(
            [
                replace(each, series=_qualified(dataset, each.series))
                for dataset, found in by_dataset.items()
                for each in found
            ],
            KINDS,
        )
    *_, overall = groups.values()
    together = [datasets_claim(overall, {group: groups[group] for group in by_dataset})] if len(groups) > 1 else []
    cells = [cell for group, varied in groups.items() for cell in varied.cells(NAME, f"robustness, {group}")]
    tables = {}
    for group, varied in groups.items():
        tables[f"Robustness, {group}"] = varied.table()
        tables[f"Robustness intervals, {group}"] = varied.interval_table()
        tables[f"Robustness beside the spread between detectors, {group}"] = varied.relative_table()
    return Outcome(
        folder_name(NAME, by_dataset),
        "Standard deviation of the metrics under lag, noise and anomaly ratio",
        tables,
        cells,
        [*claims_of(overall), *together],
        [note for note in notes if note],
        {"robustness": partial(draw, groups)},
    )


def claims_of(varied: Varied) -> list[Claim]:
    """Decide what the paper says of the robustness of the metrics, by series that are drawn again."""
    decided, enough = decisions(varied.means), varied.resamples.enough
    if enough and not varied.defined:
        return [Claim(_SECTION, text, None, found()) for text, _, found in decided]
    held = _held(varied) if enough else np.empty((0, len(decided)))
    return [
        decision(varied.resamples, found(), held[:, j].tolist().__getitem__).as_claim(_SECTION, text)
        for j, (text, _, found) in enumerate(decided)
    ]


def _held(varied: Varied, among: Collection[str] | None = None) -> BoolArray:
    """Return whether each sentence holds, resamples × sentences; ``among``: by these series of each alone."""
    resampled = zip(*(varied.resampled(kind, among) for kind in KINDS), strict=True)
    by_kind = (dict(zip(KINDS, means, strict=True)) for means in resampled)
    return np.array([[holds for _, holds, _ in decisions(means)] for means in by_kind])


def decisions(overall: Mapping[str, Spreads]) -> list[tuple[str, bool, Callable[[], str]]]:
    """Return what the paper says of the robustness of the metrics, whether it holds for means, and words for them."""
    lag, noise, ratio = (overall[kind] for kind in KINDS)
    strict_lag, strict_noise, strict_ratio = (ascending(s, STRICT) for s in (lag, noise, ratio))
    half, place = len(STRICT) // 2, strict_lag.index("dqe")
    before, own, behind = _around_dqe(lag, strict_lag)
    return [
        ("AF varies least with lag", ascending(lag)[0] == "affiliation_f1", partial(spreads_in_words, lag)),
        (
            "VUS-ROC, which forgives false alarms as AF does, varies little with lag",
            "vus_roc" in ascending(lag)[:3],
            partial(spreads_in_words, lag),
        ),
        (
            "of the metrics that punish false alarms, VUS-PR varies least with lag",
            strict_lag[0] == "vus_pr",
            partial(spreads_in_words, lag, STRICT),
        ),
        (
            "with lag, DQE follows VUS-PR and varies less than most others",
            strict_lag.index("vus_pr") < place < half,
            lambda: f"DQE is number {place + 1} of {len(STRICT)}: {spreads_in_words(lag, STRICT)}",
        ),
        (
            "with lag, DQE follows VUS-PR closely (it is nearer to it than to the next metric)",
            0 <= own - before < behind - own,
            lambda: (
                f"DQE varies {own / before:.2f} times as much as VUS-PR: {own - before:.3f} more, and the next metric "
                f"{behind - own:.3f} more than DQE"
            ),
        ),
        (
            "VUS-PR and DQE are among the half that varies least with noise",
            {"vus_pr", "dqe"} <= set(strict_noise[:half]),
            partial(spreads_in_words, noise, STRICT),
        ),
        (
            "of the metrics that punish false alarms, DQE varies least with the anomaly ratio",
            strict_ratio[0] == "dqe",
            partial(spreads_in_words, ratio, STRICT),
        ),
        (
            "VUS-PR varies most with the anomaly ratio",
            ascending(ratio)[-1] == "vus_pr",
            partial(spreads_in_words, ratio),
        ),
        (
            "all in all, DQE is among the half that varies least with each of the three",
            all("dqe" in order[:half] for order in (strict_lag, strict_noise, strict_ratio)),
            partial(_places, "dqe", {"lag": strict_lag, "noise": strict_noise, "ratio": strict_ratio}),
        ),
    ]


def _around_dqe(lag: Spreads, order: Sequence[str]) -> tuple[float, float, float]:
    """Return how much VUS-PR, DQE and the metric that comes after DQE vary; infinitely, if none does."""
    behind = order[order.index("dqe") + 1 :]
    return lag["vus_pr"], lag["dqe"], lag[behind[0]] if behind else float("inf")


def datasets_claim(overall: Varied, by_dataset: Mapping[str, Varied]) -> Claim:
    """Decide whether each dataset by itself gives what all of them together give.

    In each resample of all series, every sentence is decided by all of them, and by those of each dataset.
    """
    section, text = "appendix D", "each dataset by itself gives the same: every sentence above holds there, or does not"
    fewest = min((varied.resamples for varied in by_dataset.values()), key=lambda each: each.series)
    if not fewest.enough:
        return decision(fewest, "a dataset has too few series by itself", bool).as_claim(section, text)
    if not all(varied.defined for varied in by_dataset.values()):
        return Claim(section, text, None, "a metric is undefined on a dataset")
    whole = _held(overall)
    parts = {
        dataset: _held(overall, {_qualified(dataset, each.series) for each in varied.found})
        for dataset, varied in by_dataset.items()
    }
    others = [
        f"on {dataset}, it holds in {percent(float(held[:, j].mean()))} of resamples: {sentence}"
        for dataset, held in parts.items()
        for j, (sentence, *_) in enumerate(decisions(overall.means))
        if not verdict_of(float((held[:, j] == whole[:, j]).mean()))
    ]
    same = np.all([(held == whole).all(axis=1) for held in parts.values()], axis=0)
    found = "; ".join(others) or "each sentence by itself, in 95 % of resamples or more"
    return decision(fewest, found, same.tolist().__getitem__).as_claim(section, text)


def _qualified(dataset: str, series: str) -> str:
    """Return what a series is called among those of all datasets."""
    return f"{dataset}/{series}"


def _places(metric: str, orders: Mapping[str, Sequence[str]]) -> str:
    places = ", ".join(f"{KINDS[kind]} number {order.index(metric) + 1}" for kind, order in orders.items())
    return f"{label_of(metric)} of the {len(STRICT)} that punish false alarms: {places}"
