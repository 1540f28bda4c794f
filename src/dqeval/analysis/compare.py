"""Detectors against each other: who is best, at which events, and where the metrics disagree about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, Literal

from dqeval.analysis.check import about_times_and_near, misread_scores
from dqeval.analysis.compare_result import SAME, Comparison, Disagreement, cost_more, explaining_part
from dqeval.analysis.each_detector import of_each_panel
from dqeval.analysis.explain import explanation_of
from dqeval.analysis.explain_result import Explanation
from dqeval.analysis.findings import Finding
from dqeval.analysis.free_choices import dqe_by_choice, moves
from dqeval.analysis.panel_result import Chance, Evaluation
from dqeval.analysis.score_result import dqe_of
from dqeval.core import arguments, validate
from dqeval.core.durations import Length
from dqeval.core.metric_choice import chosen_metrics
from dqeval.core.prepared import Prepared, Scored
from dqeval.core.registry import METRICS
from dqeval.core.sampling import Clock
from dqeval.core.types import Progress
from dqeval.datasets.door import Data, prepare
from dqeval.render.tables import best_of, in_words

# By less than this, or than two spreads of random scores on the same labels, a difference may be noise.
LEAST_DIFFERENCE, SPREADS = 0.01, 2


def compare(
    data: Data,
    *,
    near: Length | None = None,
    period: Length | None = None,
    times: Any = None,
    resolution: Length | None = None,
    max_gap: Length | None = None,
    part: Literal["all", "test"] = "all",
    metrics: Sequence[str] | str | None = None,
    repeats: int = 10,
    seed: int = 0,
    progress: Progress | None = None,
    workers: int | None = None,
) -> Comparison:
    """Compare the detectors of a series with every metric, event by event, and with chance.

    Parameters
    ----------
    data : Series, mapping of str to array-like, str or Path
        A series with the scores of at least one detector; or its columns by name, as in a file: ``label``, ``value``
        (optional), and one for each detector, such as a DataFrame; or a file with one series, of any format.
    near : float, str or timedelta, optional
        How many points before and after an event a detection still is a near miss; 0 for none, "2ev" for twice the
        median length of an event, or a duration such as "10min".
    period : float, str or timedelta, optional
        The period of the series, in points or as a duration; ``near`` is then half of it. Give at most one of the two;
        with neither, it is the period that the series has, or that is estimated from its values. In cells of a clock
        nothing is estimated, and ``near`` is the median length of an event.
    times : array-like, shape (n,), optional
        When each point is, in ascending order, if the series does not say so: dates of any kind, or numbers. Then, and
        with ``resolution``, ``max_gap`` or a duration, time is counted in cells: a cell has the highest score of the
        samples in it.
    resolution : str, timedelta or number, optional
        The length of a cell, such as "1min", or in seconds; the median step of the times by default. DQE depends on it.
    max_gap : int, str or timedelta, default 3
        Over how many cells without a sample, or how long, the one before stands for them. What is missing longer was
        not observed: no region crosses it, and nothing in it is scored.
    part : "all" or "test", default "all"
        Whether to take the whole series, as TSB-AD does, or its test part, where the series says where training ends.
        The near range is that of the whole series.
    metrics : sequence of str, or str, optional
        Which metrics: the name of a metric or of a group, or several of them. Groups are "all", "default", "paper",
        "tsb-ad", "events" and "timing". DQE is always among them.
    repeats : int, default 10
        How many random scores the chance level is the mean of.
    seed : int, default 0
        Of these random scores.
    progress : callable, optional
        Called with the number of steps done, and that of all.
    workers : int, optional
        How many threads compute; 1 for none besides the caller's. If not given, one for each core that this process may
        use. The numbers do not depend on it.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> found = dqeval.compare(dqeval.datasets.demo(), period=48)
    >>> found.best, found.winners[0], found.disagreements[0].part
    ('sharp', ('sharp',), 'false_alarm')
    """
    prepared = prepare(data, near=near, period=period, clock=Clock(times, resolution, max_gap), part=part)
    return comparison_of(prepared, metrics=metrics, repeats=repeats, seed=seed, progress=progress, workers=workers)


def compared_metrics(metrics: Sequence[str] | str | None) -> list[str]:
    """Return the metrics of a comparison: DQE, whose events and parts it tells of, and those that are asked for."""
    chosen = chosen_metrics(metrics)
    return chosen if "dqe" in chosen else ["dqe", *chosen]


def comparison_of(
    prepared: Prepared,
    *,
    metrics: Sequence[str] | str | None = None,
    repeats: int = 10,
    seed: int = 0,
    progress: Progress | None = None,
    workers: int | None = None,
    known: Mapping[str, Mapping[str, float]] | None = None,
) -> Comparison:
    """Return what `compare` does, of what is checked already.

    If values of the metrics are known, by detector, only DQE is computed, and compared with chance.
    """
    chosen = compared_metrics(metrics)
    # The chance level takes as long as so many detectors more.
    steps = len(prepared.scores) + arguments.whole_number("repeats", repeats, least=1, most=validate.MOST_COUNTED)
    arguments.seed(seed)
    tell = arguments.callback("progress", progress) or (lambda done, total: None)
    panels, explanations = {}, {}
    findings = about_times_and_near(prepared)
    near = prepared.near.points
    computed = chosen if known is None else ["dqe"]

    by_choice: dict[str, dict[str, float]] = {}

    def work(name: str, scored: Scored, panel: Evaluation) -> tuple[Evaluation, Explanation, list[Finding]]:
        by_choice[name] = dqe_by_choice(scored, near)
        return (
            panel,
            explanation_of(scored, near, name=name, result=panel.dqe),
            misread_scores(name, scored, panel.values.get("auc_roc")),
        )

    every = of_each_panel(prepared, work, metrics=computed, progress=lambda done, _: tell(done, steps), workers=workers)
    for name, (panel, explanation, own) in every:
        panels[name], explanations[name] = panel, explanation
        findings += own
    panels = dict(sorted(panels.items(), key=lambda item: -item[1]["dqe"]))
    explanations = {name: explanations[name] for name in panels}
    chance = _chances(panels, repeats, seed, lambda done, _: tell(len(panels) + done, steps), workers)
    if known is not None:
        panels = {name: _with_known(panel, chosen, known[name]) for name, panel in panels.items()}
    return Comparison(
        prepared.name,
        panels,
        chance,
        explanations,
        prepared.near,
        _winners(panels),
        _disagreements(panels, explanations, chance),
        tuple(findings),
        moves({name: by_choice[name] for name in panels}),
    )


def _with_known(panel: Evaluation, metrics: Sequence[str], known: Mapping[str, float]) -> Evaluation:
    """Return a panel of DQE with the values of other metrics."""
    return replace(
        panel,
        values={metric: {**known, **panel.values}[metric] for metric in metrics},
        labels={metric: METRICS[metric].label for metric in metrics},
    )


def _chances(
    panels: dict[str, Evaluation], repeats: int, seed: int, progress: Progress, workers: int | None
) -> dict[str, Chance]:
    """Return the chance levels; one serves all detectors that give scores: random ones know nothing of them."""
    shared: Chance | None = None
    found = {}
    for name, panel in panels.items():
        if panel.binary or shared is None:
            found[name] = panel.chance(repeats=repeats, seed=seed, progress=progress, workers=workers)
            shared = shared if panel.binary else found[name]
        else:
            found[name] = shared
    return found


def _winners(panels: dict[str, Evaluation]) -> tuple[tuple[str, ...], ...]:
    names = list(panels)
    rows = zip(*(dqe_of(panel).event_columns.dqe.tolist() for panel in panels.values()), strict=True)
    return tuple(tuple(names[i] for i in best_of(row) if row[i] >= SAME) for row in rows)


def _disagreements(
    panels: dict[str, Evaluation], explanations: dict[str, Explanation], chance: dict[str, Chance]
) -> tuple[Disagreement, ...]:
    found = []
    for better, worse in combinations(panels, 2):
        a, b = panels[better], panels[worse]
        noise = {metric: _noise(metric, chance[better], chance[worse]) for metric in chance[better].spread}
        ahead = {metric: b[metric] - a[metric] for metric in noise if b[metric] - a[metric] >= noise[metric]}
        metrics = tuple(sorted(ahead, key=lambda metric: -ahead[metric] / METRICS[metric].perfect))
        if metrics and (by := a["dqe"] - b["dqe"]) >= noise["dqe"]:
            part = explaining_part(explanations[better], explanations[worse])
            names = in_words([a.labels[metric] for metric in metrics], most=len(metrics))
            prefer = f"{names} prefer{'s' if len(metrics) == 1 else ''} {worse} to {better}"
            dqe = f"DQE does not ({b['dqe']:.3f} against {a['dqe']:.3f})"
            why = cost_more(explanations[worse], explanations[better], part) if part else "no single part explains it"
            size = min(by, ahead[metrics[0]] / METRICS[metrics[0]].perfect)
            found.append(Disagreement(better, worse, metrics, part, f"{prefer}; {dqe}: {why}.", size))
    return tuple(sorted(found, key=lambda disagreement: -disagreement.size))


def _noise(metric: str, *chances: Chance) -> float:
    """Return the least difference of a metric that says anything."""
    return max(LEAST_DIFFERENCE * METRICS[metric].perfect, *(SPREADS * chance.spread[metric] for chance in chances))
