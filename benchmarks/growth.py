"""How the time of each function grows with the series: ``OMP_NUM_THREADS=1 python -m benchmarks.growth``.

A row is a function on one kind of series, of more and more points until a call takes long. Its exponent is the power of
the points with which the time grows: 1 in proportion to them, 2 with their square. It is the slope of the straight line
that fits the logarithms best, by least squares, over all series of at least 10,000 points. What a call takes whatever
the series is, is subtracted first, as far as a line through the two shortest series tells; it would hide how the rest
grows. Series for which it is more than half of the time are left out. The last column is the power between the two
longest series alone: it is noisier, and shows a cliff at the end.

Lengths are round numbers, since a Fourier transform takes longer for a length that has large prime factors: with
others, the rows of detectors that have one would tell more about the factors than about growth. The rows called prime
length have the largest prime below each length, which is the worst case.

``np.sort``, ``np.sum`` and ``np.fft.rfft`` are rows, too, and stand beside the rows that grow most: to sort grows with
n log n, which is an exponent of 1.07 to 1.1 here, and memory that no cache holds makes all of them grow faster than
their work, and whatever reads it, too. Long series would have threads of their own in products of matrices, all of
which count; hence one thread.

Needs scikit-learn: ``pip install -e .[benchmark]``.
"""

import argparse
import math
import platform
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import count
from typing import Any

import numpy as np

import dqeval
from benchmarks.dqe import case
from benchmarks.measure import keep_memory
from dqeval.analysis.compare import comparison_of
from dqeval.analysis.score import score
from dqeval.core.events import find_events
from dqeval.datasets.door import prepare
from dqeval.render.series_page import page as page_of

LENGTHS = (*(digit * 10**power for power in range(3, 7) for digit in (1, 3)), 10_000_000)
FIRST_FITTED = 10_000
SERIES_LENGTH = 1_000  # of each of many
LONGEST = 1.0  # seconds of a call, after which a row ends
WORST = 10
MOST_EXPONENT = 1.15
SHARE_OF_ZEROS = 0.93
MANY_THRESHOLDS = "a threshold per 100 points"
SEEDS = count()  # of chance levels, which are kept for the same labels and the same seed


@dataclass(frozen=True)
class Input:
    """A series, and what to ask of it."""

    y_true: np.ndarray
    y_score: np.ndarray
    near: float = 50.0
    thresholds: int = 100

    @property
    def series(self) -> dqeval.Series:
        """The series with its scores."""
        return dqeval.Series(name="series", labels=self.y_true, values=self.y_score, scores={"detector": self.y_score})

    @cached_property
    def later(self) -> dqeval.Series:
        """The same with scores that come a little later."""
        return replace(self.series, scores={"detector": np.roll(self.y_score, 3)})

    @cached_property
    def one_event(self) -> np.ndarray:
        """Labels with one event."""
        return np.arange(len(self.y_true)) == len(self.y_true) // 2

    @cached_property
    def alarms(self) -> np.ndarray:
        """Detections at one threshold."""
        return self.y_score > 1

    @cached_property
    def times(self) -> np.ndarray:
        """The time of each point."""
        return np.arange(len(self.y_true))

    @cached_property
    def incidents(self) -> list[tuple[int, int]]:
        """The events as intervals of time."""
        return list(find_events(self.y_true != 0))

    @cached_property
    def alerts(self) -> list[tuple[int, int]]:
        """The detections as intervals of time."""
        return list(find_events(self.alarms))

    @property
    def span(self) -> dict[str, Any]:
        """The time of the series, in steps of 1."""
        return {"span": (0, len(self.y_true)), "resolution": 1}

    def prepare(self) -> None:
        """Make all that functions are given, which is not part of their time."""
        for name, member in vars(Input).items():
            if isinstance(member, cached_property):
                getattr(self, name)


def with_ties(n: int) -> Input:
    """Return scores most of which are 0."""
    y_true, y_score = case(n, "white noise", 1_000)
    quiet = np.random.default_rng(1).random(n) < SHARE_OF_ZEROS
    return Input(y_true, np.where(quiet, 0.0, y_score))


def with_outlier(n: int) -> Input:
    """Return scores of which one is far above the others."""
    y_true, y_score = case(n, "white noise", 1_000)
    y_score[n // 3] = 1e9
    return Input(y_true, y_score)


KINDS: dict[str, Callable[[int], Input]] = {
    "an event every 1,000 points": lambda n: Input(*case(n, "white noise", 1_000)),
    "5 events": lambda n: Input(*case(n, "white noise", n // 5)),
    "an event every 20 points": lambda n: Input(*case(n, "white noise", 20)),
    "random walk": lambda n: Input(*case(n, "random walk", 1_000)),
    "near a 50th of the series": lambda n: Input(*case(n, "white noise", 1_000), near=n / 50),
    "93 % of the scores 0": with_ties,
    "one score far above the others": with_outlier,
    MANY_THRESHOLDS: lambda n: Input(*case(n, "white noise", 1_000), thresholds=max(n // 100, 2)),
}


BESIDE: dict[str, Callable[[Input], object]] = {
    "np.sort": lambda i: np.sort(i.y_score),
    "np.sum": lambda i: np.sum(i.y_score),
    "np.fft.rfft": lambda i: np.fft.rfft(i.y_score),
}


def functions() -> dict[str, Callable[[Input], object]]:
    """Return what is measured, by name."""
    found: dict[str, Callable[[Input], object]] = {
        "evaluate": lambda i: dqeval.evaluate(i.y_true, i.y_score, near=i.near, thresholds=i.thresholds),
        "evaluate, exact": lambda i: dqeval.evaluate(i.y_true, i.y_score, near=i.near, thresholds="exact"),
        "evaluate, log-rank": lambda i: dqeval.evaluate(i.y_true, i.y_score, near=i.near, scale="log-rank"),
        "evaluate_detections": lambda i: dqeval.evaluate_detections(i.y_true, i.alarms, near=i.near),
        "evaluate_intervals": lambda i: dqeval.evaluate_intervals(i.incidents, i.alerts, near=i.near, **i.span),
        "evaluate_many, long": lambda i: dqeval.evaluate_many(i.y_true, i.y_score, near=i.near),
        "evaluate_many, series": lambda i: dqeval.evaluate_many(
            i.y_true, i.y_score, offsets=np.arange(0, len(i.y_true), SERIES_LENGTH), near=i.near, undefined="nan"
        ),
        "dqe_score": lambda i: dqeval.dqe_score(i.y_true, i.y_score, near=i.near, thresholds=i.thresholds),
        "sdqe_score": lambda i: dqeval.sdqe_score(i.y_true, i.alarms, near=i.near),
        "partition": lambda i: dqeval.partition(i.y_true, near=i.near),
        "explain": lambda i: dqeval.explain(i.y_true, i.y_score, near=i.near),
        "explain, printed": lambda i: str(dqeval.explain(i.y_true, i.y_score, near=i.near)),
        "panel": lambda i: dqeval.panel(i.y_true, i.y_score, near=i.near, workers=1),
        "chance": _chance,
        "score": lambda i: score([i.series], near=i.near),
        "compare": lambda i: dqeval.compare(i.series, near=i.near, repeats=1, seed=next(SEEDS)),
        "compare, printed": _printed,
        "report": _page,
        "diff": lambda i: dqeval.diff(i.series, i.later, near=i.near, metrics=["dqe", "auc_pr"]),
        "check": lambda i: dqeval.check(i.series, near=i.near),
        "near_profile": lambda i: dqeval.near_profile(i.series),
        "find_period": lambda i: dqeval.find_period(i.y_score),
        "alarms": lambda i: dqeval.alarms(i.y_true, i.alarms),
        "alarm_curve": lambda i: dqeval.alarm_curve(i.y_true, i.y_score),
        "threshold_for": lambda i: dqeval.threshold_for(i.y_true, i.y_score, false_alarms_per_1000=1),
        "stress": lambda i: dqeval.stress(i.y_true, i.y_score, near=i.near, metrics=["dqe"], kinds=["jitter"], draws=2),
        "intervals_from_labels": lambda i: dqeval.intervals_from_labels(i.y_true, i.times),
        "labels_from_intervals": lambda i: dqeval.labels_from_intervals(i.incidents, i.times),
        "detect, fft": lambda i: dqeval.detect(i.y_score, "fft"),
        "detect, sr": lambda i: dqeval.detect(i.y_score, "sr"),
        "detect, sr, prime length": lambda i: dqeval.detect(i.y_score[: PRIMES[len(i.y_score)]], "sr"),
    }
    for metric in dqeval.METRICS:
        found[metric.name] = partial(_metric, metric.name)
        if metric.takes == "detections" and metric.threshold_of is None:
            found[f"{metric.name}, all thresholds"] = partial(_at_all_thresholds, metric.name)
    return found


def _chance(given: Input) -> object:
    """Return the chance level."""
    found = dqeval.panel(given.y_true, given.y_score, near=given.near, metrics=["dqe"])
    return found.chance(repeats=1, seed=next(SEEDS))


def _printed(given: Input) -> str:
    """Return a comparison by DQE alone as text."""
    return str(dqeval.compare(given.series, near=given.near, metrics=["dqe"], repeats=1, seed=next(SEEDS)))


def _page(given: Input) -> object:
    """Return a report with a chance level of one repeat, as text."""
    prepared = prepare(given.series, near=given.near)
    return page_of(prepared, comparison_of(prepared, repeats=1, seed=next(SEEDS)))


def _largest_primes() -> dict[int, int]:
    """Return the largest prime number up to each length."""

    def is_prime(n: int) -> bool:
        return all(n % d for d in range(2, math.isqrt(n) + 1))

    return {length: next(n for n in range(length, 1, -1) if is_prime(n)) for length in LENGTHS}


PRIMES = _largest_primes()


def _metric(name: str, given: Input) -> float:
    metric = dqeval.METRICS[name]
    parameters = metric.parameters(given.near, binary=False)
    if metric.takes == "detections":
        return dqeval.best_threshold(name, given.y_true, given.y_score, **parameters).value
    if name != "dqe" and "thresholds" in parameters:
        parameters["thresholds"] = given.thresholds
    # The UCR score is for series with one event.
    y_true = given.y_true if name != "ucr_score" else given.one_event
    return float(getattr(dqeval.metrics, "dqe_score" if name == "dqe" else name)(y_true, given.y_score, **parameters))


def _at_all_thresholds(name: str, given: Input) -> float:
    parameters = dqeval.METRICS[name].parameters(given.near, binary=False)
    return dqeval.best_threshold(name, given.y_true, given.y_score, thresholds="all", **parameters).value


@dataclass(frozen=True)
class Row:
    """How a function grew on one kind of series."""

    function: str
    kind: str
    points: tuple[int, ...]
    seconds: tuple[float, ...]

    @property
    def constant(self) -> float:
        """What a call takes however short the series is: where the line through the two shortest ones ends."""
        (few, more), (short, long) = self.points[:2], self.seconds[:2]
        return min(max(short - (long - short) * few / (more - few), 0.0), short)

    @property
    def exponent(self) -> float:
        """The power of the number of points with which the time grew; NaN for fewer than two lengths to fit."""
        long = [(n, took) for n, took in zip(self.points, self.seconds, strict=True) if n >= FIRST_FITTED]
        if len(long) < 2:
            return math.nan
        # Where a call takes little beyond the constant, that is mostly noise.
        fitted = [(n, took - self.constant) for n, took in long if took >= 2 * self.constant]
        points, taken = zip(*(fitted if len(fitted) > 1 else long), strict=True)
        return float(np.polyfit(np.log(points), np.log(taken), 1)[0])

    @property
    def last(self) -> float:
        """The power between the two longest series; NaN for a single length."""
        if len(self.points) < 2:
            return math.nan
        return math.log(self.seconds[-1] / self.seconds[-2]) / math.log(self.points[-1] / self.points[-2])

    def up_to(self, most: int) -> "Row":
        """Return the row without longer series."""
        fewer = sum(n <= most for n in self.points)
        return replace(self, points=self.points[:fewer], seconds=self.seconds[:fewer])

    def __str__(self) -> str:
        powers = f"{self.exponent:.2f} | {self.last:.2f}"
        return f"| {self.function} | {self.kind} | {self.points[-1]:,} | {self.seconds[-1]:.2g} | {powers} |"


def rows(*, most: int, only: Sequence[str] = (), kinds: Sequence[str] = (), longest: float = LONGEST) -> Iterator[Row]:
    """Yield a row for each function, or for some, on each kind of series, or on some, behind those of NumPy."""
    known = functions()
    chosen = BESIDE | {name: known[name] for name in only or known}
    for kind in kinds or KINDS:
        inputs = [KINDS[kind](size) for size in LENGTHS if size <= most]
        for each in inputs:
            each.prepare()
        for function, call in chosen.items():
            if function in BESIDE or kind != MANY_THRESHOLDS or takes_thresholds(function):
                yield measured(function, kind, call, inputs, longest=longest)


def takes_thresholds(function: str) -> bool:
    """Tell whether a function is asked for as many thresholds as its input says; if not, many make no difference."""
    if function in ("evaluate", "dqe_score"):
        return True
    known = [metric for metric in dqeval.METRICS if metric.name == function != "dqe"]
    return any("thresholds" in metric.parameters(1.0, binary=False) for metric in known)


def measured(
    function: str, kind: str, call: Callable[[Input], object], inputs: Sequence[Input], *, longest: float = LONGEST
) -> Row:
    """Measure a function on series of more and more points, until a call takes long."""
    call(inputs[0])  # imports what it needs
    points: list[int] = []
    taken: list[float] = []
    for given in inputs:
        points.append(len(given.y_true))
        taken.append(processor_seconds(partial(call, given)))
        if taken[-1] > longest:
            break
    return Row(function, kind, tuple(points), tuple(taken))


def processor_seconds(call: Callable[[], object], *, most: int = 100, enough: float = 0.06) -> float:
    """Return the least processor time of a call: of three, of many as long as that takes little, of fewer long ones.

    What a call takes whatever the series is follows from the shortest calls, which must be measured well. There is no
    call to warm up, as the least of several is none of those that take longer for being the first.
    """
    taken: list[float] = []
    while len(taken) < most and sum(taken) < (enough if len(taken) > 2 else 6 * LONGEST):
        began = time.process_time()
        call()
        taken.append(time.process_time() - began)
    return max(min(taken), 1e-9)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, and the rows that grow most."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--most", type=int, default=LENGTHS[-1], help="the most points of a series")
    parser.add_argument("--longest", type=float, default=LONGEST, help="seconds of a call, after which a row ends")
    parser.add_argument("--only", nargs="*", default=(), help="the functions, by the names in the table")
    parser.add_argument("--kinds", nargs="*", default=(), help="the kinds of series, by the names in the table")
    chosen = parser.parse_args(arguments)
    form = "compiled" if dqeval.kernels.compiled else "interpreted"
    print(f"dqeval {dqeval.__version__}, kernels {form}, Python {platform.python_version()}, NumPy {np.__version__}\n")
    _print_heads()
    found = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dqeval.UndefinedWarning)  # of short series without an event
        for row in rows(most=chosen.most, only=chosen.only, kinds=chosen.kinds, longest=chosen.longest):
            print(row, flush=True)
            found.append(row)
    _print_worst(found)


def _print_worst(found: Sequence[Row]) -> None:
    """Print all rows that grow too much, or at least those that grow most, beside NumPy on the same series."""
    own = [row for row in found if row.function not in BESIDE]
    above = sum(row.exponent > MOST_EXPONENT for row in own)
    known = sorted((row for row in own if not math.isnan(row.exponent)), key=lambda row: -row.exponent)
    print(f"\n{above} of {len(own)} rows have an exponent above {MOST_EXPONENT}\n")
    print(f"The {max(above, WORST)} that grow most, and how NumPy's functions grow on the same series:\n")
    _print_heads(*BESIDE)
    beside = {(row.function, row.kind): row for row in found if row.function in BESIDE}
    for row in known[: max(above, WORST)]:
        powers = (beside[name, row.kind].up_to(row.points[-1]).exponent for name in BESIDE)
        print(f"{row} {' | '.join(f'{power:.2f}' for power in powers)} |")


def _print_heads(*more: str) -> None:
    print("| " + " | ".join(["function", "series", "points", "seconds", "exponent", "last", *more]) + " |")
    print("|---|---|" + "---:|" * (4 + len(more)))


if __name__ == "__main__":
    keep_memory()
    main()
