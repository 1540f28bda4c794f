"""What small changes of labels and scores do to every metric, and to the order of the detectors."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqeval.analysis.panel import panel_of
from dqeval.core import arguments, validate
from dqeval.core.durations import Length
from dqeval.core.metric_choice import chosen_metrics
from dqeval.core.near import near_from_arguments
from dqeval.core.prepared import Labelled, Prepared, Scored
from dqeval.core.registry import label_of
from dqeval.core.types import FloatArray, Numbers, Progress, Series
from dqeval.core.validate import UndefinedError
from dqeval.lab.perturbations import KINDS, PERTURBATIONS, RANDOM, Given, Perturbation
from dqeval.lab.stress_result import StressResult
from dqeval.lab.variation import Copies, chance_levels, spread_between, varied_by

MOST_DRAWS = 10_000
ONLY = "scores"  # what the scores are called that come without a name


def stress(
    y_true: Numbers,
    y_score: Numbers | Mapping[str, Numbers],
    *,
    near: Length | None = None,
    period: Length | None = None,
    values: Numbers | None = None,
    metrics: Sequence[str] | str | None = None,
    kinds: Sequence[str] | None = None,
    draws: int = 10,
    seed: int = 0,
    progress: Progress | None = None,
) -> StressResult:
    """Change labels and scores a little, and measure how much every metric and the order of detectors changes.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_score : array-like of numbers, shape (n,), or mapping of str to such
        The scores, or 0/1 detections, of one detector; or of several, by name. Changes are also given relative to the
        spread between detectors, which takes at least two.
    near : float or str, optional
        How many points before and after an event a detection still is a near miss; 0 for none, "2ev" for twice the
        median length of an event.
    period : float, optional
        The period of the series; ``near`` is then half of it. Lags, moved borders and delays are parts of it.
    values : array-like of numbers, shape (n,), optional
        The values of the series, to estimate the period from. Give at most one of ``near``, ``period`` and ``values``;
        with none of them, ``near`` is 125.
    metrics : sequence of str, or str, optional
        Which metrics: names of metrics and of groups, or one group: "paper", "tsb-ad", "events", "timing", "default" or
        "all". If not given, those of the paper and some more, which are "default".
    kinds : sequence of str, optional
        Which changes: "lag", "noise", "jitter", "splits", "ratio", "length", "delay" and "random"; all if not given.
    draws : int, default 10
        How many copies of each kind that is random: noise, jitter, length, and random detections of each density.
    seed : int, default 0
        Of what is random. Each kind draws for itself, and all detectors are changed alike.
    progress : callable, optional
        Called with the number of steps done, and that of all.

    Returns
    -------
    StressResult

    Examples
    --------
    >>> series = dqeval.datasets.demo()
    >>> found = dqeval.stress(series.labels, series.scores, period=48, metrics=["dqe", "auc_pr"], kinds=["jitter"])
    >>> for each in found.varied:
    ...     print(each.metric, round(each.deviation, 3), round(each.relative_deviation, 2), each.best_stays)
    dqe 0.019 0.33 1.0
    auc_pr 0.03 0.11 1.0
    """
    labels = validate.labels(y_true).copy()
    given = y_score if isinstance(y_score, Mapping) else {ONLY: y_score}
    if not given:
        raise ValueError("y_score is empty: give the scores of at least one detector")
    scores = {name: _checked(y_true, labels, name, column, y_score) for name, column in given.items()}
    in_use = near_from_arguments(y_true, labels, near=near, period=period, values=values)
    prepared = Prepared(Series("series", labels, scores), Labelled(labels), scores, in_use)
    return stress_of([prepared], metrics=metrics, kinds=kinds, draws=draws, seed=seed, progress=progress)


def _checked(y_true: Numbers, labels: Any, name: Any, column: Any, whole: Any) -> FloatArray:
    if not isinstance(whole, Mapping):
        return validate.scores_beside(y_true, labels, column)
    with validate.errors_about(f"detector {arguments.text('the name of a detector in y_score', name)}"):
        return validate.scores_beside(y_true, labels, column)


def stress_of(
    series: Iterable[Prepared],
    *,
    metrics: Sequence[str] | str | None = None,
    kinds: Sequence[str] | None = None,
    draws: int = 10,
    seed: int = 0,
    progress: Progress | None = None,
) -> StressResult:
    """Return what `stress` does, of one or several series that are checked already, one after the other.

    Those without an anomaly are left out, if others have some.
    """
    names = chosen_metrics(metrics)
    chosen = chosen_kinds(kinds)
    count = arguments.whole_number("draws", draws, least=2, most=MOST_DRAWS)
    start = arguments.seed(seed)
    arguments.callback("progress", progress)
    found: list[_Tried] = []
    left_out: dict[str, UndefinedError] = {}
    for place, prepared in enumerate(series):
        with validate.errors_about(prepared.name):
            prepared.require_scores()
            try:
                prepared.require_event()
            except UndefinedError as error:
                left_out[prepared.name] = error
            else:
                found.append(_tried(prepared, names, chosen, count, (start, place), progress))
    if not found:
        for name, why in left_out.items():
            raise UndefinedError(f"{name}: {why}")
        raise ValueError("there is no series to change")
    return _result(found, names, chosen, count, start, tuple(left_out))


def chosen_kinds(kinds: Any) -> list[str]:
    """Return the kinds of changes that a caller asks for, each once, in the order of tables."""
    if kinds is None:
        return list(KINDS)
    asked = validate.names_in("kinds", kinds)
    if not asked:
        raise ValueError("kinds is empty: name at least one, or leave it out")
    arguments.known_names(asked, KINDS, "kinds")
    return [kind for kind in KINDS if kind in asked]


# One series ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class _Tried:
    """What came of changing one series.

    Attributes
    ----------
    prepared : Prepared
    copies : dict of str to Copies
        By kind; those that it cannot be changed by are missing. Random detections are as of one detector.
    why_none : dict of str to str
        Why a kind is missing.
    """

    prepared: Prepared
    copies: dict[str, Copies]
    why_none: dict[str, str]


def _tried(
    prepared: Prepared,
    metrics: Sequence[str],
    kinds: Sequence[str],
    draws: int,
    seed: tuple[int, int],
    progress: Progress | None,
) -> _Tried:
    """Return what the metrics say of a series and of its changed copies."""
    names = list(prepared.scores)
    several = [PERTURBATIONS[kind] for kind in kinds if kind in PERTURBATIONS]
    steps = _Steps(len(names) * (1 + len(several)) + (RANDOM.name in kinds), progress)
    trial = _Trial(prepared, metrics, draws, seed)
    as_they_are = {name: trial.as_it_is(name) for name in steps.over(names)}
    base = np.array([values for values, _ in as_they_are.values()])
    spread = spread_between(base) if len(base) > 1 else np.full(len(metrics), np.nan)
    copies: dict[str, Copies] = {}
    why_none: dict[str, str] = {}
    for perturbation in several:
        fitting = [not (perturbation.needs_scores and binary) for _, binary in as_they_are.values()]
        found = [
            trial.changed(perturbation, prepared.scores[name], binary=as_they_are[name][1])
            for name, fits in zip(steps.over(names), fitting, strict=True)
            if fits
        ]
        if found and found[0].at:
            values = np.array([each.values for each in found])
            compared = [
                own if each.reference is None else each.reference
                for own, each in zip(base[fitting], found, strict=True)
            ]
            copies[perturbation.name] = Copies(found[0].at, values, np.array(compared), spread)
        else:
            why_none[perturbation.name] = perturbation.why_none
    for name in steps.over([RANDOM.name] if RANDOM.name in kinds else []):
        drawn = trial.changed(RANDOM, np.zeros(len(prepared.labelled.labels)), binary=True)
        copies[name] = Copies(drawn.at, np.array([drawn.values]), base[:0], spread)
    return _Tried(prepared, copies, why_none)


@dataclass(frozen=True, slots=True, eq=False)
class _Values:
    """By how much each copy was changed, what each metric says of it, and of the copy to compare with, if any."""

    at: list[float]
    values: list[list[float]]
    reference: list[float] | None


class _Steps:
    """Steps that are counted as they are done."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._done, self._total = 0, total
        self._tell = progress or (lambda done, total: None)

    def over(self, names: Iterable[str]) -> Iterator[str]:
        """Yield names; what is done with each is a step."""
        for name in names:
            yield name
            self._done += 1
            self._tell(self._done, self._total)


@dataclass(frozen=True, slots=True, eq=False)
class _Trial:
    """A series, and how its changed copies are made and measured."""

    prepared: Prepared
    metrics: Sequence[str]
    draws: int
    seed: tuple[int, int]

    def as_it_is(self, name: str) -> tuple[list[float], bool]:
        """Return what the metrics say of a detector, and whether it gives 0/1 detections."""
        scored = self.prepared.scored(name)
        return self.measured(scored), scored.binary

    def changed(self, perturbation: Perturbation, scores: FloatArray, *, binary: bool) -> _Values:
        """Return what the metrics say of the changed copies of a detector."""
        # The same for all detectors, and for whatever other kinds are asked for.
        random = np.random.default_rng([*self.seed, KINDS.index(perturbation.name)])
        given = Given(self.prepared.labelled, scores, 2 * self.prepared.near.points)
        at, rows, reference = [], [], None
        for copy in perturbation.change(given, random, self.draws):
            # Scores of a short part may happen to be all 0 or 1: they are scores all the same.
            values = self.measured(Scored(copy.labelled, copy.scores, binary=binary))
            if copy.reference:
                reference = values
            else:
                at.append(copy.at)
                rows.append(values)
        return _Values(at, rows, reference)

    def measured(self, scored: Scored) -> list[float]:
        """Return what each metric says; NaN where it is undefined."""
        found = panel_of(scored, self.prepared.near.points, metrics=self.metrics).values
        return [found[metric] for metric in self.metrics]


# All series ----------------------------------------------------------------------------------------------------------


def _result(
    found: Sequence[_Tried],
    metrics: Sequence[str],
    kinds: Sequence[str],
    draws: int,
    seed: int,
    left_out: tuple[str, ...],
) -> StressResult:
    copies = {kind: [each.copies[kind] for each in found if kind in each.copies] for kind in kinds}
    random = copies.pop(RANDOM.name, [])
    why_none = {kind: why for each in found for kind, why in each.why_none.items()}
    prepared = [each.prepared for each in found]
    return StressResult(
        series=tuple(each.name for each in prepared),
        points=sum(len(each.labelled.labels) for each in prepared),
        events=sum(len(each.labelled.events) for each in prepared),
        detectors=tuple(dict.fromkeys(name for each in prepared for name in each.scores)),
        near=tuple(each.near for each in prepared),
        labels={metric: label_of(metric) for metric in metrics},
        varied=tuple(each for kind in copies if copies[kind] for each in varied_by(kind, metrics, copies[kind])),
        chance=tuple(chance_levels(metrics, random)),
        not_changed={kind: (len(found) - len(copies[kind]), why) for kind, why in why_none.items()},
        draws=draws,
        seed=seed,
        left_out=left_out,
    )
