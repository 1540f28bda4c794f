"""Detectors against each other: who is best, at which events, and where the metrics disagree about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any, Literal

from dqeval.explain import Explanation, explain
from dqeval.scoring import panels
from dqeval.tables import Page, Table, counted
from dqeval.types import Chance, DQEResult, Evaluation, Series

PARTS = ("capture", "near_miss", "false_alarm")
TROUBLE = {"capture": "missed events", "near miss": "near misses", "false alarm": "false alarms"}
SAME = 0.0005  # values that are printed alike do not disagree

Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """Two detectors that some metrics put in the other order than DQE does.

    Attributes
    ----------
    better, worse : str
        By DQE.
    metrics : tuple of str
        Those that prefer ``worse``.
    part : "capture", "near miss", "false alarm" or None
        The part of DQE that explains it: what it costs ``worse`` more than ``better``; None if there is none.
    sentence : str
    """

    better: str
    worse: str
    metrics: tuple[str, ...]
    part: str | None
    sentence: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Every metric of several detectors on one series, side by side.

    Attributes
    ----------
    name : str
        Of the series.
    panels : dict of str to Evaluation
        By detector, the best by DQE first.
    chance : dict of str to Chance
        What random scores get, by detector; the same for all detectors that give scores, not detections.
    explanations : dict of str to Explanation
        What each detector does at the events, and what costs it most.
    winners : tuple of tuple of str
        For each event, the detectors with the highest DQE there; none if all have 0.
    disagreements : tuple of Disagreement
    """

    name: str
    panels: Mapping[str, Evaluation]
    chance: Mapping[str, Chance]
    explanations: Mapping[str, Explanation]
    winners: tuple[tuple[str, ...], ...]
    disagreements: tuple[Disagreement, ...]

    @property
    def best(self) -> str:
        """The detector with the highest DQE."""
        return next(iter(self.panels))

    @property
    def verdict(self) -> str:
        """Which detector is best, and why, in two sentences."""
        results = {name: _dqe(panel) for name, panel in self.panels.items()}
        chance = self.chance[self.best]
        return f"{_standing(results, chance)} {_reason(self.explanations, self.winners)}"

    def page(self) -> Page:
        """Return the comparison as paragraphs and tables."""
        panel = self.panels[self.best]
        size = f"{counted(len(self.winners), 'event')}, near {panel.near:g}"
        parts: list[str | Table] = [f"{self.name}: {size}. {self.verdict}", self.panel_table(), self.cost_table()]
        parts.append(self.event_table())
        wins = ", ".join(f"{name} {self.wins(name)}" for name in self.panels)
        parts.append(f"Best at so many of {counted(len(self.winners), 'event')}: {wins}.")
        starts = [f"{e.name} {e.threshold!r} (DQE there {e.sdqe:.3f})" for e in self.explanations.values()]
        parts.append(f"Thresholds to start from: {', '.join(starts)}.")
        if self.disagreements:
            lines = [f"- {found.sentence}" for found in self.disagreements]
            parts.append("\n".join(["Where the metrics disagree:", "", *lines]))
        elif len(self.panels) > 1:
            parts.append("All metrics put the detectors in the order of DQE.")
        return Page(parts)

    def wins(self, detector: str) -> int:
        """Return at how many events a detector is best, alone or with others."""
        return sum(detector in winners for winners in self.winners)

    def panel_table(self) -> Table:
        """Return the metrics, a row each, side by side, with the chance level; under DQE its three parts."""
        first, chance = self.panels[self.best], self.chance[self._scoring()]
        header = ("metric", *self.panels, "by chance", "spread")
        rows: list[tuple[str, ...]] = []
        marked: set[tuple[int, int]] = set()
        for metric, label in first.labels.items():
            values = [panel[metric] for panel in self.panels.values()]
            cells = [f"{value:.3f}" for value in values]
            marked |= _marks(cells, len(rows))
            rows.append((label, *cells, f"{chance.mean[metric]:.3f}", f"{chance.spread[metric]:.3f}"))
            if metric == "dqe":
                for part in PARTS:
                    cells = [f"{getattr(_dqe(panel), part):.3f}" for panel in self.panels.values()]
                    marked |= _marks(cells, len(rows))
                    rows.append((f"  {part.replace('_', ' ')}", *cells, "", ""))
        return Table(header, rows, note=f"by chance: {self._chance_note()}", marked=marked)

    def _scoring(self) -> str:
        """Return the first detector that gives scores, or the first of all."""
        return next((name for name, panel in self.panels.items() if not panel.binary), self.best)

    def _chance_note(self) -> str:
        repeats = counted(self.chance[self.best].repeats, "repeat")
        binary = [name for name, panel in self.panels.items() if panel.binary]
        if len(binary) == len(self.panels):
            return f"as many random detections as {self.best} has, {repeats}"
        others = f"; of 0/1 detections not shown: {', '.join(binary)}" if binary else ""
        return f"random scores, {repeats}{others}"

    def cost_table(self) -> Table:
        """Return what each kind of trouble costs each detector."""
        costs = [found.costs for found in self.explanations.values()]
        rows = [(words, *(f"{cost[kind]:.3f}" for cost in costs)) for kind, words in TROUBLE.items()]
        return Table(("costs of DQE", *self.panels), rows, note="by how much DQE would rise without them")

    def event_table(self) -> Table:
        """Return DQE of each event for each detector, and who is best there."""
        rows: list[tuple[str, ...]] = []
        marked: set[tuple[int, int]] = set()
        for events, winners in zip(self._events(), self.winners, strict=True):
            cells = [f"{event.dqe:.3f}" for event in events]
            marked |= _marks(cells, len(rows))
            rows.append((f"[{events[0].start}, {events[0].stop})", *cells, ", ".join(winners) or "none"))
        return Table(("DQE of event", *self.panels, "best"), rows, marked=marked)

    def _events(self) -> list[Any]:
        return list(zip(*(_dqe(panel).per_event for panel in self.panels.values()), strict=True))

    def records(self) -> list[dict[str, Any]]:
        """Return one row a detector and metric."""
        return [
            {
                "series": self.name,
                "detector": name,
                "metric": metric,
                "value": value,
                "chance": self.chance[name].mean[metric],
                "chance_spread": self.chance[name].spread[metric],
            }
            for name, panel in self.panels.items()
            for metric, value in panel.values.items()
        ]

    def numbers(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {
            "series": self.name,
            "verdict": self.verdict,
            "metrics": self.records(),
            "parts": {
                name: {part: getattr(_dqe(panel), part) for part in PARTS} for name, panel in self.panels.items()
            },
            "start": {
                name: {"threshold": found.numbers()["threshold"], "sdqe": found.sdqe}
                for name, found in self.explanations.items()
            },
            "costs": {name: found.costs for name, found in self.explanations.items()},
            "events": [
                {
                    "start": events[0].start,
                    "stop": events[0].stop,
                    "dqe": {name: event.dqe for name, event in zip(self.panels, events, strict=True)},
                    "best": list(winners),
                }
                for events, winners in zip(self._events(), self.winners, strict=True)
            ],
            "disagreements": [asdict(found) for found in self.disagreements],
        }

    def __str__(self) -> str:
        return self.page().text()


def compare(
    series: Series,
    *,
    near: float | None = None,
    period: float | None = None,
    thresholds: int | Literal["exact"] = 100,
    repeats: int = 10,
    seed: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Compare the detectors of a series with every metric, event by event, and with chance.

    Parameters
    ----------
    series : Series
        With the scores of at least one detector.
    near, period : float, optional
        The near range, or what it follows from: see `evaluate`. If neither is given, the period is estimated from the
        series' values.
    thresholds : int or "exact", default 100
        The thresholds of DQE.
    repeats : int, default 10
        How many random scores the chance level is the mean of.
    seed : int, default 0
    progress : callable, optional
        Called with the number of steps done, and that of all.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> found = dqeval.compare(dqeval.datasets.demo(), period=48)
    >>> found.best, found.winners[0], found.disagreements[0].part
    ('sharp', ('sharp',), 'false alarm')
    """
    # The chance level takes as long as so many detectors.
    steps = len(series.scores) + repeats
    tell = progress or (lambda done, total: None)
    found: dict[str, Evaluation] = {}
    for name, scores in series.scores.items():
        tell(len(found), steps)
        alone = Series(series.name, series.labels, {name: scores}, series.values)
        found |= panels(alone, near=near, period=period, thresholds=thresholds)
    found = dict(sorted(found.items(), key=lambda item: -item[1]["dqe"]))
    explanations = {
        name: explain(series.labels, series.scores[name], near=panel.near, name=name) for name, panel in found.items()
    }
    tell(len(found), steps)
    chance = _chances(found, repeats, seed)
    tell(steps, steps)
    return Comparison(series.name, found, chance, explanations, _winners(found), _disagreements(found, explanations))


def _dqe(panel: Evaluation) -> DQEResult:
    assert panel.dqe is not None  # every metric was asked for
    return panel.dqe


def _chances(panels: dict[str, Evaluation], repeats: int, seed: int) -> dict[str, Chance]:
    """Return the chance levels; one serves all detectors that give scores: random ones know nothing of them."""
    shared: Chance | None = None
    found = {}
    for name, panel in panels.items():
        if panel.binary:
            found[name] = panel.chance(repeats=repeats, seed=seed)
            continue
        shared = shared or panel.chance(repeats=repeats, seed=seed)
        found[name] = shared
    return found


def _winners(panels: dict[str, Evaluation]) -> tuple[tuple[str, ...], ...]:
    rows = zip(*([event.dqe for event in _dqe(panel).per_event] for panel in panels.values()), strict=True)
    return tuple(
        tuple(name for name, dqe in zip(panels, row, strict=True) if dqe == max(row) > 0) for row in map(tuple, rows)
    )


def _disagreements(panels: dict[str, Evaluation], explanations: dict[str, Explanation]) -> tuple[Disagreement, ...]:
    found = []
    for better, worse in combinations(panels, 2):
        a, b = panels[better], panels[worse]
        if a["dqe"] - b["dqe"] < SAME:
            continue
        metrics = tuple(metric for metric in a if b[metric] - a[metric] >= SAME)
        if metrics:
            part = _explaining(explanations[better], explanations[worse])
            names = _listed([a.labels[metric] for metric in metrics])
            prefer = f"{names} prefer{'s' if len(metrics) == 1 else ''} {worse} to {better}"
            dqe = f"DQE does not ({b['dqe']:.3f} against {a['dqe']:.3f})"
            why = _cost_more(explanations[worse], explanations[better], part) if part else "no single part explains it"
            found.append(Disagreement(better, worse, metrics, part, f"{prefer}; {dqe}: {why}."))
    return tuple(found)


def _explaining(better: Explanation, worse: Explanation) -> str | None:
    """Return the kind of trouble that costs one detector most more than another, if any does."""
    more = {kind: worse.costs[kind] - better.costs[kind] for kind in TROUBLE}
    kind = max(more, key=lambda kind: more[kind])
    return kind if more[kind] >= SAME else None


def _cost_more(worse: Explanation, better: Explanation, kind: str) -> str:
    return f"{TROUBLE[kind]} cost {worse.name} {worse.costs[kind]:.3f}, {better.name} {better.costs[kind]:.3f}"


def _standing(results: dict[str, DQEResult], chance: Chance) -> str:
    (best, result), *others = results.items()
    above = result.dqe > chance.mean["dqe"] + 2 * chance.spread["dqe"]
    level = f"{'random scores get' if above else 'no better than random scores, which get'} {chance.mean['dqe']:.3f}"
    if not others:
        return f"{best} has DQE {result.dqe:.3f}; {level}."
    shown = [f"{name} ({r.dqe:.3f})" for name, r in others[:3]]
    if len(others) > 3:
        shown[2:] = [f"{len(others) - 2} others"]
    lead = "is best" if result.dqe - others[0][1].dqe >= SAME else "is as good as the next"
    return f"{best} {lead}: DQE {result.dqe:.3f}, before {_listed(shown)}; {level}."


def _reason(explanations: Mapping[str, Explanation], winners: tuple[tuple[str, ...], ...]) -> str:
    best, *others = explanations.values()
    if not others:
        most = max(best.costs, key=lambda kind: best.costs[kind])
        return f"Most is lost to {TROUBLE[most]}: without them it would be {best.result.dqe + best.costs[most]:.3f}."
    wins = sum(best.name in names for names in winners)
    events = f"{best.name} is best at {wins} of {counted(len(winners), 'event')}"
    kind, other = _explaining(best, others[0]), _explaining(others[0], best)
    reasons = [_cost_more(others[0], best, kind)] if kind else []
    reasons += [_cost_more(best, others[0], other)] if other else []
    why = ", but ".join(reasons) or "No single part explains it"
    return f"{why[0].upper()}{why[1:]}; {events}."


def _marks(cells: list[str], row: int) -> set[tuple[int, int]]:
    """Return the places of the highest cells of a row, if they stand out from any other."""
    numbers = [float(cell) for cell in cells]
    best = max((number for number in numbers if number == number), default=None)
    if len(set(cells)) == 1:
        return set()
    return {(row, j) for j, number in enumerate(numbers, start=1) if number == best}


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
