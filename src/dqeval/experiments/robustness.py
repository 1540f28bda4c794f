"""How much the metrics vary when scores come late or early, are noisy, or anomalies become rarer."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from dqeval.analysis.panel import panel
from dqeval.bench.jobs import Job
from dqeval.core.prepared import Labelled
from dqeval.core.registry import experiment, label_of
from dqeval.core.scaling import min_max
from dqeval.experiments.detector_runs import (
    DetectorRun,
    Runs,
    failures_sentence,
    folder_name,
    missing_sentence,
    run_detectors,
    scored_series,
    series_by_dataset,
)
from dqeval.experiments.outcome import PAPER_METRICS, PUBLISHED, TOO_FEW, Claim, Outcome
from dqeval.experiments.resamples import verdict_of
from dqeval.experiments.score_work import work_on_scores
from dqeval.experiments.setting import Setting
from dqeval.experiments.varied import SeriesSpreads, Spreads, Varied, ascending, draw, spreads_in_words
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


@dataclass(frozen=True, slots=True)
class Task:
    """A detector's scores of a series, to be perturbed: how they are made, and the seed of the noise."""

    job: Job
    seed: int


@experiment(name=NAME, label="Metrics under perturbation", published="the two figures on robustness")
def robustness(setting: Setting) -> Iterator[Outcome]:
    """Measure the standard deviation of each metric under lag, noise and anomaly ratio, by dataset and over all."""
    datasets, notes = series_by_dataset(setting)
    runs = run_detectors((each for series in datasets.values() for each in series), setting)
    found = perturb(runs, setting)
    by_dataset: dict[str, list[SeriesSpreads]] = {dataset: [] for dataset in datasets}
    for each, spreads in found.items():
        by_dataset[each.series.dataset].append(
            SeriesSpreads(each.name, spreads, each.detector, each.seed, runs.values(each))
        )
    yield outcome(by_dataset, [*notes, HOW, missing_sentence(runs.detectors), failures_sentence(runs)])


def perturb(runs: Runs, setting: Setting) -> dict[DetectorRun, Any]:
    """Return how much each metric varies, for every series, detector and seed."""
    return work_on_scores(
        runs,
        runs.each_run(PUBLISHED, seeds=SEEDS),
        spreads_of,
        setting,
        file="robustness.jsonl",
        what="perturbed scores",
        task=lambda job: Task(job, setting.seed),
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


def spreads_of(task: Task) -> dict[str, dict[str, list[float]]]:
    """Return the standard deviation of each metric under each kind of perturbation; of noise, for each stream."""
    found = scored_series(task.job)
    given = Given(Labelled(found.labels), min_max(found.scores), found.period)
    name = task.job.series.source.name
    return {
        kind: _spreads(given, PERTURBATIONS[kind], [stream_of(name, task.seed, i) for i in range(STREAMS)])
        for kind in KINDS
    }


def stream_of(series: str, seed: int, number: int) -> np.random.Generator:
    """Return a stream of random numbers: each series has its own, which all its detectors share."""
    own = int.from_bytes(hashlib.sha256(series.encode()).digest()[:8], "big")
    return np.random.default_rng([seed, number, own])


def _spreads(given: Given, kind: Perturbation, streams: Sequence[np.random.Generator]) -> dict[str, list[float]]:
    """Return the deviations by metric: of random draws, one for each stream."""
    found = [
        _spread(kind.change(given, random, DRAWS), given.period) for random in (streams if kind.drawn else streams[:1])
    ]
    return {metric: [each[metric] for each in found] for metric in PAPER_METRICS}


def _spread(copies: Iterable[Changed], period: float) -> dict[str, float]:
    rows = []
    for copy in copies:
        found = panel(copy.labelled.labels, copy.scores, period=period, metrics=PAPER_METRICS)
        rows.append([found.values[metric] for metric in PAPER_METRICS])
    # A metric that is undefined for one of them has no spread.
    return dict(zip(PAPER_METRICS, np.std(rows, axis=0).tolist(), strict=True))


def outcome(by_dataset: Mapping[str, Sequence[SeriesSpreads]], notes: Sequence[str]) -> Outcome:
    """Return the mean spread of each metric, by dataset and over all, with the paper's claims decided."""
    groups = {dataset: Varied(list(found), KINDS) for dataset, found in by_dataset.items()}
    if len(groups) > 1:
        groups[OVERALL] = Varied(
            [
                replace(each, series=f"{dataset}/{each.series}")
                for dataset, found in by_dataset.items()
                for each in found
            ],
            KINDS,
        )
    decided = {group: claims_of(varied) for group, varied in groups.items()}
    *_, overall = decided.values()
    together = [datasets_claim(overall, {group: decided[group] for group in by_dataset})] if len(groups) > 1 else []
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
        [*overall, *together],
        [note for note in notes if note],
        {"robustness": partial(draw, groups)},
    )


def claims_of(varied: Varied) -> list[Claim]:
    """Decide what the paper says of the robustness of the metrics, by series that are drawn again."""
    decided = decisions(varied.means)
    if not varied.resamples.enough:
        why = f"{TOO_FEW} ({varied.resamples.series:,})"
        return [Claim(_SECTION, text, None, found, why_untold=why) for text, _, found in decided]
    if not varied.defined:
        return [Claim(_SECTION, text, None, found) for text, _, found in decided]
    resampled = zip(*(varied.resampled(kind) for kind in KINDS), strict=True)
    by_kind = (dict(zip(KINDS, means, strict=True)) for means in resampled)
    held = np.array([[holds for _, holds, _ in decisions(means)] for means in by_kind])
    shares = held.mean(axis=0).tolist()
    return [
        Claim(_SECTION, text, verdict_of(share), found, share)
        for (text, _, found), share in zip(decided, shares, strict=True)
    ]


def decisions(overall: Mapping[str, Spreads]) -> list[tuple[str, bool, str]]:
    """Return what the paper says of the robustness of the metrics, whether it holds for some means, and these."""
    lag, noise, ratio = (overall[kind] for kind in KINDS)
    strict_lag, strict_noise, strict_ratio = (ascending(s, STRICT) for s in (lag, noise, ratio))
    half, place = len(STRICT) // 2, strict_lag.index("dqe")
    before, own, behind = _around_dqe(lag, strict_lag)
    return [
        ("AF varies least with lag", ascending(lag)[0] == "affiliation_f1", spreads_in_words(lag)),
        (
            "VUS-ROC, which forgives false alarms as AF does, varies little with lag",
            "vus_roc" in ascending(lag)[:3],
            spreads_in_words(lag),
        ),
        (
            "of the metrics that punish false alarms, VUS-PR varies least with lag",
            strict_lag[0] == "vus_pr",
            spreads_in_words(lag, STRICT),
        ),
        (
            "with lag, DQE follows VUS-PR and varies less than most others",
            strict_lag.index("vus_pr") < place < half,
            f"DQE is number {place + 1} of {len(STRICT)}: {spreads_in_words(lag, STRICT)}",
        ),
        (
            "with lag, DQE follows VUS-PR closely (it is nearer to it than to the next metric)",
            0 <= own - before < behind - own,
            f"DQE varies {own / before:.2f} times as much as VUS-PR: {own - before:.3f} more, and the next metric "
            f"{behind - own:.3f} more than DQE",
        ),
        (
            "VUS-PR and DQE are among the half that varies least with noise",
            {"vus_pr", "dqe"} <= set(strict_noise[:half]),
            spreads_in_words(noise, STRICT),
        ),
        (
            "of the metrics that punish false alarms, DQE varies least with the anomaly ratio",
            strict_ratio[0] == "dqe",
            spreads_in_words(ratio, STRICT),
        ),
        ("VUS-PR varies most with the anomaly ratio", ascending(ratio)[-1] == "vus_pr", spreads_in_words(ratio)),
        (
            "all in all, DQE is among the half that varies least with each of the three",
            all("dqe" in order[:half] for order in (strict_lag, strict_noise, strict_ratio)),
            _places("dqe", {"lag": strict_lag, "noise": strict_noise, "ratio": strict_ratio}),
        ),
    ]


def _around_dqe(lag: Spreads, order: Sequence[str]) -> tuple[float, float, float]:
    """Return how much VUS-PR, DQE and the metric that comes after DQE vary; infinitely, if none does."""
    behind = order[order.index("dqe") + 1 :]
    return lag["vus_pr"], lag["dqe"], lag[behind[0]] if behind else float("inf")


def datasets_claim(overall: Sequence[Claim], by_dataset: Mapping[str, Sequence[Claim]]) -> Claim:
    """Decide whether each dataset by itself gives the verdicts that all of them together give."""
    every = [*overall, *(claim for claims in by_dataset.values() for claim in claims)]
    text = "each dataset by itself gives the same"
    if untold := [claim.verdict for claim in every if claim.holds is None and claim.share is None]:
        return Claim("appendix D", text, None, untold[0], why_untold=untold[0])
    others = [
        f"on {dataset}, it {_verb(claim)}: {claim.text}"
        for dataset, claims in by_dataset.items()
        for claim, whole in zip(claims, overall, strict=True)
        if claim.verdict != whole.verdict
    ]
    return Claim("appendix D", text, not others, "; ".join(others) or "the same verdicts")


def _verb(claim: Claim) -> str:
    return f"is {claim.verdict}" if claim.holds is None else claim.verdict


def _places(metric: str, orders: Mapping[str, Sequence[str]]) -> str:
    places = ", ".join(f"{KINDS[kind]} number {order.index(metric) + 1}" for kind, order in orders.items())
    return f"{label_of(metric)} of the {len(STRICT)} that punish false alarms: {places}"
