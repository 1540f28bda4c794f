"""What is measured of a metric without a judgement: chance, sensitivity, and how well it tells detectors apart.

A new one is a function below, under ``@measure(…)``, which takes a `Judge` and returns what it found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations

import numpy as np

from dqeval.analysis.detect import detect
from dqeval.core.prepared import Labelled, Scored
from dqeval.core.types import FloatArray
from dqeval.datasets.generator import synthetic
from dqeval.experiments.cases import paper_cases
from dqeval.lab.answers import UNDEFINED, Point, in_digits
from dqeval.lab.judge import TOLERANCE, Judge
from dqeval.lab.perturbations import DENSITIES, Given, jitter, shift

CHANCE, CHANGE, APART = "Chance", "Sensitivity", "Telling detectors apart"
FLAT = 0.05  # of the best value: means that differ less are flat
DRAWS = 20
LENGTH, NEAR = 1000, 20  # of the series with random scores
LENGTHS = (1, 5, 20, 100, 300)
COUNTS = (1, 2, 5, 10, 25)
SERIES, DETECTORS = 8, ("sr", "fft", "sub_lof", "kmeans_ad")
PERIOD = 24
JITTERS = 5
RESAMPLES = 1000
FEWEST = 5  # series that detectors are told apart by


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured: a word for the matrix, a sentence, and a curve, if it is one."""

    word: str
    sentence: str
    curve: tuple[Point, ...] = ()


@dataclass(frozen=True, slots=True)
class Measure:
    """Something that is measured of a metric: see `Property` for its attributes."""

    name: str
    group: str
    title: str
    take: Callable[[Judge], Measured]
    definition: str
    citation: str


MEASURES: dict[str, Measure] = {}


def measure(
    group: str, name: str, title: str, *, citation: str = ""
) -> Callable[[Callable[[Judge], Measured]], object]:
    """Return a decorator that registers a measure; its docstring is its definition."""

    def add(take: Callable[[Judge], Measured]) -> Callable[[Judge], Measured]:
        MEASURES[name] = Measure(name, group, title, take, " ".join((take.__doc__ or "").split()), citation)
        return take

    return add


@measure(CHANCE, "chance-density", "Random detections, by their density", citation="Table 6 of the paper")
def chance_density(judge: Judge) -> Measured:
    """Each point is detected with the same probability, from 0.01 to 0.99, in the layout of the paper's Table 6."""
    case = paper_cases()[5]
    labelled, random = Labelled(case.labels), np.random.default_rng(0)

    def draws(density: float) -> Iterator[Scored]:
        for _ in range(DRAWS):
            yield Scored(labelled, (random.random(len(case.labels)) < density).astype(np.float64), binary=True)

    return _curve(judge, DENSITIES, draws, case.near, "random detections", "a density of")


@measure(CHANCE, "chance-length", "Random scores, by the length of an event", citation="Kim et al. 2022")
def chance_length(judge: Judge) -> Measured:
    """Scores are random; one event of 1 to 300 points lies in the middle of 1,000 points."""

    def draws(length: float) -> Iterator[Scored]:
        start = (LENGTH - int(length)) // 2
        return _random_scores([range(start, start + int(length))])

    return _curve(judge, LENGTHS, draws, NEAR, "random scores", "a length of")


@measure(CHANCE, "chance-count", "Random scores, by the number of events", citation="Kim et al. 2022")
def chance_count(judge: Judge) -> Measured:
    """Scores are random; 1 to 25 events of 10 points are spread evenly over 1,000 points."""

    def draws(count: float) -> Iterator[Scored]:
        step = LENGTH // int(count)
        return _random_scores([range(start, start + 10) for start in range(step // 2, LENGTH, step)])

    return _curve(judge, COUNTS, draws, NEAR, "random scores", "a number of")


def _random_scores(events: Sequence[range]) -> Iterator[Scored]:
    labels = np.zeros(LENGTH, dtype=np.bool_)
    for event in events:
        labels[event.start : event.stop] = True
    labelled, random = Labelled(labels), np.random.default_rng(0)
    for _ in range(DRAWS):
        yield Scored(labelled, random.random(LENGTH))


def _curve(
    judge: Judge,
    places: Sequence[float],
    draws: Callable[[float], Iterable[Scored]],
    near: float,
    what: str,
    at: str,
) -> Measured:
    """Return the mean of a metric at each place, and whether these are the same everywhere."""
    points = []
    for place in places:
        values = judge.values_of(draws(place), near, lambda: what)
        known = _known(values)
        if known:
            points.append(Point(place, float(np.mean(known)), float(np.std(known))))
    if len(points) < 2:
        return Measured(UNDEFINED, f"{judge.metric.label} is undefined for {what} at all places, or all but one.")
    least, most = (choose(points, key=lambda point: point.mean) for choose in (min, max))
    noise = np.hypot(most.deviation, least.deviation) / np.sqrt(DRAWS)  # of the difference of two means
    if most.mean - least.mean <= max(FLAT * abs(judge.metric.perfect), 3 * noise):
        word, shape = f"flat at {in_digits(round(float(np.mean([point.mean for point in points])), 2))}", "It is flat"
    else:
        word, shape = f"{least.mean:.2f} to {most.mean:.2f}", "It is not flat"
    sentence = (
        f"{shape}: {what} get from {least.mean:.3f} ± {least.deviation:.3f} at {at} {least.at:g} to "
        f"{most.mean:.3f} ± {most.deviation:.3f} at {at} {most.at:g}."
    )
    return Measured(word, sentence, tuple(points))


@dataclass(frozen=True, slots=True, eq=False)
class _Run:
    """The scores of a detector for a generated series."""

    series: int
    detector: str
    given: Given


@cache
def detector_runs() -> tuple[_Run, ...]:
    """Return generated series with the scores of detectors that need no training."""
    found = []
    for seed in range(SERIES):
        series = synthetic(n=1500, period=PERIOD, events=6, seed=seed)
        labelled = Labelled(np.asarray(series.labels, dtype=np.bool_))
        for name in DETECTORS:
            scores = np.asarray(detect(series, name), dtype=np.float64)
            found.append(_Run(seed, name, Given(labelled, scores, float(PERIOD))))
    return tuple(found)


@measure(CHANGE, "label-jitter", "Borders of labels moved by up to 10 % of the period")
def label_jitter(judge: Judge) -> Measured:
    """The standard deviation while borders of events move, on average over generated series and four detectors."""
    random = np.random.default_rng(0)
    spreads = []
    for run in detector_runs():
        changed = [(each.labelled, each.scores) for each in jitter(run.given, random, JITTERS)]
        spreads.append(float(np.std([_of(judge, labelled, scores) for labelled, scores in changed], ddof=1)))
    return _spread(judge, _mean(spreads), "moves by", "when the borders of labels move")


@measure(CHANGE, "lag", "What is lost if scores come late by the near range")
def lag(judge: Judge) -> Measured:
    """How much is lost, on average over generated series and four detectors, if scores come late."""
    curve = []
    for late in (1, PERIOD // 4, PERIOD // 2):
        losses = [
            _of(judge, run.given.labelled, run.given.scores)
            - _of(judge, run.given.labelled, shift(run.given.scores, late))
            for run in detector_runs()
        ]
        if known := _known(losses):
            curve.append(Point(late, _mean(known), float(np.std(known))))
    lost = curve[-1].mean if curve else float("nan")
    found = _spread(judge, lost, "gains" if lost < 0 else "loses", "when scores come late by the near range")
    return Measured(found.word, found.sentence, tuple(curve))


def _spread(judge: Judge, size: float, verb: str, when: str) -> Measured:
    """Return a size as it is, and beside the spread between the detectors: a metric may be calm because it is flat."""
    if np.isnan(size):
        return Measured(UNDEFINED, f"{judge.metric.label} is undefined for all generated series.")
    between = _mean([float(np.std(values)) for values in _by_series(judge)])
    relative = (
        f"{abs(size) / between:.2f} of the spread between the detectors"
        if between > TOLERANCE
        else "with no spread between them"
    )
    return Measured(in_digits(round(size, 3)), f"{judge.metric.label} {verb} {abs(size):.3f} {when}: {relative}.")


@measure(APART, "told-apart", "Pairs of detectors that it tells apart")
def told_apart(judge: Judge) -> Measured:
    """The pairs of detectors whose mean difference, over eight generated series, is above twice its bootstrap noise."""
    values = _by_series(judge)
    values = values[~np.isnan(values).any(axis=1)]
    if len(values) < FEWEST:
        return Measured(UNDEFINED, f"{judge.metric.label} is defined for {len(values)} of {SERIES} generated series.")
    random = np.random.default_rng(0)
    chosen = random.integers(len(values), size=(RESAMPLES, len(values)))
    pairs = list(combinations(range(len(DETECTORS)), 2))
    apart = [pair for pair in pairs if _is_apart(values[:, pair[0]] - values[:, pair[1]], chosen)]
    named = ", ".join(f"{DETECTORS[a]} and {DETECTORS[b]}" for a, b in apart)
    sentence = f"{judge.metric.label} tells {len(apart)} of {len(pairs)} pairs apart{f': {named}' if named else ''}."
    return Measured(f"{len(apart)} of {len(pairs)}", sentence)


def _is_apart(differences: FloatArray, chosen: np.ndarray) -> bool:
    noise = float(np.std(np.mean(differences[chosen], axis=1)))
    return bool(abs(np.mean(differences)) > 2 * noise)


def _known(values: Iterable[float]) -> list[float]:
    return [value for value in values if not np.isnan(value)]


def _mean(values: Iterable[float]) -> float:
    """Return the mean of what is defined; NaN if nothing is."""
    known = _known(values)
    return float(np.mean(known)) if known else float("nan")


def _by_series(judge: Judge) -> FloatArray:
    """Return the values of generated series, a row per series and a column per detector."""
    values = [_of(judge, run.given.labelled, run.given.scores) for run in detector_runs()]
    return np.array(values).reshape(SERIES, len(DETECTORS))


def _of(judge: Judge, labelled: Labelled, scores: FloatArray) -> float:
    return judge.value_of(Scored(labelled, scores), PERIOD / 2, lambda: "a generated series")
