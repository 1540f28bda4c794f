"""How much the metrics vary when scores come late or early, are noisy, or anomalies become rarer."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dqeval.analysis.panel import panel
from dqeval.bench.jobs import Job
from dqeval.core.intervals import Interval, mean_intervals
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
from dqeval.experiments.outcome import PAPER_METRICS, PUBLISHED, Cell, Claim, Outcome, metric_header
from dqeval.experiments.score_work import work_on_scores
from dqeval.experiments.setting import Setting
from dqeval.lab.perturbations import LAGS, NOISE, PERTURBATIONS, RATIOS, Changed, Given, Perturbation
from dqeval.render.drawing import INK, draw_deviations
from dqeval.render.tables import Table, best_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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

Spreads = Mapping[str, float]
Intervals = Mapping[str, Interval]


@dataclass(frozen=True, slots=True)
class Task:
    """A detector's scores of a series, to be perturbed: how they are made, and the seed of the noise."""

    job: Job
    seed: int


@dataclass(frozen=True, slots=True)
class SeriesSpreads:
    """How much each metric varies with each kind of perturbation, for one detector on a series.

    Attributes
    ----------
    series : str
    spreads : mapping of str to mapping of str to list of float
        By kind and metric: one deviation, or one for each stream of noise.
    detector : str
    seed : int
        Of the detector.
    values : mapping of str to float
        What the metrics say of the scores as they are.
    """

    series: str
    spreads: Mapping[str, Mapping[str, Sequence[float]]]
    detector: str = ""
    seed: int = 0
    values: Mapping[str, float] = field(default_factory=dict)


@experiment(name=NAME, label="Metrics under perturbation", published="the two figures on robustness")
def robustness(setting: Setting) -> Iterator[Outcome]:
    """Measure the standard deviation of each metric under lag, noise and anomaly ratio, by dataset and over all."""
    datasets, notes = series_by_dataset(setting)
    runs = run_detectors((each for series in datasets.values() for each in series), setting)
    found = perturb(runs, setting)
    by_dataset: dict[str, list[SeriesSpreads]] = {dataset: [] for dataset in datasets}
    for each, spreads in found.items():
        values = {metric: runs.value(each, metric) for metric in PAPER_METRICS}
        known = {metric: float("nan") if value is None else value for metric, value in values.items()}
        by_dataset[each.series.dataset].append(SeriesSpreads(each.name, spreads, each.detector, each.seed, known))
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
    f"uniform, to {100 * NOISE:g} % of the range of the scores on either side. Anomaly ratio: a window around the "
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
    groups = dict(by_dataset)
    if len(groups) > 1:
        groups[OVERALL] = [
            SeriesSpreads(f"{dataset}/{each.series}", each.spreads)
            for dataset, found in by_dataset.items()
            for each in found
        ]
    means = {
        group: {kind: {m: _mean(each.spreads[kind][m] for each in found) for m in PAPER_METRICS} for kind in KINDS}
        for group, found in groups.items()
    }
    intervals = {
        group: {kind: {m: _interval(found, kind, m) for m in PAPER_METRICS} for kind in KINDS}
        for group, found in groups.items()
    }
    decided = {group: claims(kinds) for group, kinds in means.items()}
    *_, overall = decided.values()
    together = [datasets_claim(overall, {group: decided[group] for group in by_dataset})] if len(groups) > 1 else []
    cells = [
        Cell(NAME, f"robustness, {group}", kind, metric, value)
        for group, kinds in means.items()
        for kind, spreads in kinds.items()
        for metric, value in spreads.items()
    ]
    tables = {}
    for group, kinds in means.items():
        tables[f"Robustness, {group}"] = _table(kinds)
        tables[f"Robustness intervals, {group}"] = _interval_table(intervals[group])
    return Outcome(
        folder_name(NAME, by_dataset),
        "Standard deviation of the metrics under lag, noise and anomaly ratio",
        tables,
        cells,
        [*overall, *together],
        [note for note in notes if note],
        {"robustness": partial(_figure, means, intervals)},
    )


def _mean(values: Iterable[float]) -> float:
    finite = [value for value in values if np.isfinite(value)]
    return float(np.mean(finite)) if finite else float("nan")


def _interval(found: Sequence[SeriesSpreads], kind: str, metric: str) -> Interval:
    """Return an interval of a mean, from whole series drawn again: the detectors of one series are alike."""
    finite = [each for each in found if np.isfinite(each.spreads[kind][metric])]
    values = np.array([each.spreads[kind][metric] for each in finite])
    _, series = np.unique([each.series for each in finite], return_inverse=True)
    return mean_intervals(values[:, None], groups=series, unit="series", most=np.inf)[0]


def _table(kinds: Mapping[str, Spreads]) -> Table:
    rows = [(KINDS[kind], *(f"{spreads[metric]:.3f}" for metric in PAPER_METRICS)) for kind, spreads in kinds.items()]
    least = {
        (i, 1 + j) for i, spreads in enumerate(kinds.values()) for j in best_of([-spreads[m] for m in PAPER_METRICS])
    }
    return Table(metric_header(PAPER_METRICS, "varied"), rows, note="the least of each row stands out", marked=least)


def _interval_table(kinds: Mapping[str, Intervals]) -> Table:
    rows = [(label_of(metric), *(str(intervals[metric]) for intervals in kinds.values())) for metric in PAPER_METRICS]
    note = "95 % intervals of the means above: how much they may owe to which series there were"
    return Table(("metric", *(KINDS[kind] for kind in kinds)), rows, note=note)


def claims(overall: Mapping[str, Spreads]) -> list[Claim]:
    """Decide what the paper says of the robustness of the metrics."""
    lag, noise, ratio = (overall[kind] for kind in KINDS)
    strict_lag, strict_noise, strict_ratio = (_ascending(s, STRICT) for s in (lag, noise, ratio))
    half, place = len(STRICT) // 2, strict_lag.index("dqe")
    found = [
        ("AF varies least with lag", _ascending(lag)[0] == "affiliation_f1", _spreads_in_words(lag)),
        (
            "VUS-ROC, which forgives false alarms as AF does, varies little with lag",
            "vus_roc" in _ascending(lag)[:3],
            _spreads_in_words(lag),
        ),
        (
            "of the metrics that punish false alarms, VUS-PR varies least with lag",
            strict_lag[0] == "vus_pr",
            _spreads_in_words(lag, STRICT),
        ),
        (
            "with lag, DQE follows VUS-PR and varies less than most others",
            strict_lag.index("vus_pr") < place < half,
            f"DQE is number {place + 1} of {len(STRICT)}: {_spreads_in_words(lag, STRICT)}",
        ),
        (
            "VUS-PR and DQE are among the half that varies least with noise",
            {"vus_pr", "dqe"} <= set(strict_noise[:half]),
            _spreads_in_words(noise, STRICT),
        ),
        (
            "of the metrics that punish false alarms, DQE varies least with the anomaly ratio",
            strict_ratio[0] == "dqe",
            _spreads_in_words(ratio, STRICT),
        ),
        ("VUS-PR varies most with the anomaly ratio", _ascending(ratio)[-1] == "vus_pr", _spreads_in_words(ratio)),
        (
            "all in all, DQE is among the half that varies least with each of the three",
            all("dqe" in ascending[:half] for ascending in (strict_lag, strict_noise, strict_ratio)),
            _places("dqe", {"lag": strict_lag, "noise": strict_noise, "ratio": strict_ratio}),
        ),
    ]
    whole = all(np.isfinite(list(spreads.values())).all() for spreads in overall.values())
    return [Claim(_SECTION, text, holds if whole else None, numbers) for text, holds, numbers in found]


def datasets_claim(overall: Sequence[Claim], by_dataset: Mapping[str, Sequence[Claim]]) -> Claim:
    """Decide whether each dataset by itself gives the verdicts that all of them together give."""
    others = [
        f"on {dataset}, it {claim.verdict}: {claim.text}"
        for dataset, claims in by_dataset.items()
        for claim, whole in zip(claims, overall, strict=True)
        if claim.holds != whole.holds
    ]
    holds = None if any(claim.holds is None for claim in overall) else not others
    return Claim("appendix D", "each dataset by itself gives the same", holds, "; ".join(others) or "the same verdicts")


def _places(metric: str, orders: Mapping[str, Sequence[str]]) -> str:
    places = ", ".join(f"{KINDS[kind]} number {order.index(metric) + 1}" for kind, order in orders.items())
    return f"{label_of(metric)} of the {len(STRICT)} that punish false alarms: {places}"


def _ascending(spreads: Spreads, among: Sequence[str] = PAPER_METRICS) -> list[str]:
    return sorted(among, key=lambda metric: (np.isnan(spreads[metric]), spreads[metric]))


def _spreads_in_words(spreads: Spreads, among: Sequence[str] = PAPER_METRICS) -> str:
    return ", ".join(f"{label_of(metric)} {spreads[metric]:.3f}" for metric in _ascending(spreads, among))


def _figure(means: Mapping[str, Mapping[str, Spreads]], intervals: Mapping[str, Mapping[str, Intervals]]) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 2.6 * len(means) + 0.3), layout="constrained")
    axes = figure.subplots(len(means), len(KINDS), squeeze=False)
    for row, (group, kinds) in zip(axes, means.items(), strict=True):
        for ax, (kind, spreads) in zip(row, kinds.items(), strict=True):
            labels = {metric: label_of(metric) for metric in PAPER_METRICS}
            draw_deviations(
                ax,
                {label: spreads[metric] for metric, label in labels.items()},
                {label: intervals[group][kind][metric] for metric, label in labels.items()},
                accent=labels["dqe"],
            )
            ax.set_xlabel("mean standard deviation", color=INK)
            ax.set_title(f"{group}: {KINDS[kind]}", fontsize=8)
    return figure
