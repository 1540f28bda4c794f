"""How the time of each function grows with the series: ``python -m benchmarks.growth``.

A row is a function on one kind of series, of more and more points until a call takes long. Its exponent tells by how
much the time grew between its two longest series: 1 in proportion to the points, 2 with their square.

Needs scikit-learn: ``pip install -e .[benchmark]``.
"""

import argparse
import math
import platform
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

import dqeval
from benchmarks.dqe import case

LEAST = 1_000
FACTOR = 4
LONGEST = 1.0  # seconds of a call, after which a row ends
WORST = 10
SHARE_OF_ZEROS = 0.93


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
    "a threshold per 100 points": lambda n: Input(*case(n, "white noise", 1_000), thresholds=max(n // 100, 2)),
}


def functions() -> dict[str, Callable[[Input], object]]:
    """Return what is measured, by name."""
    found: dict[str, Callable[[Input], object]] = {
        "np.sort": lambda i: np.sort(i.y_score),
        "evaluate": lambda i: dqeval.evaluate(i.y_true, i.y_score, near=i.near, thresholds=i.thresholds),
        "evaluate, exact": lambda i: dqeval.evaluate(i.y_true, i.y_score, near=i.near, thresholds="exact"),
        "evaluate, log-rank": lambda i: dqeval.evaluate(i.y_true, i.y_score, near=i.near, scale="log-rank"),
        "evaluate_detections": lambda i: dqeval.evaluate_detections(i.y_true, i.y_score > 1, near=i.near),
        "partition": lambda i: dqeval.partition(i.y_true, near=i.near),
        "explain": lambda i: dqeval.explain(i.y_true, i.y_score, near=i.near),
        "panel": lambda i: dqeval.panel(i.y_true, i.y_score, near=i.near),
        "compare": lambda i: dqeval.compare(i.series, near=i.near, repeats=1),
        "near_profile": lambda i: dqeval.near_profile(i.series),
        "find_period": lambda i: dqeval.find_period(i.y_score),
        "alarm_curve": lambda i: dqeval.alarm_curve(i.y_true, i.y_score),
        "detect, fft": lambda i: dqeval.detect(i.y_score, "fft"),
        "detect, sr": lambda i: dqeval.detect(i.y_score, "sr"),
    }
    for metric in dqeval.METRICS:
        found[metric.name] = partial(_metric, metric.name)
        if metric.takes == "detections" and metric.threshold_of is None:
            found[f"{metric.name}, all thresholds"] = partial(_at_all_thresholds, metric.name)
    return found


def _metric(name: str, given: Input) -> float:
    metric = dqeval.METRICS[name]
    parameters = metric.parameters(given.near, binary=False)
    if metric.takes == "detections":
        return dqeval.best_threshold(name, given.y_true, given.y_score, **parameters).value
    if name != "dqe" and "thresholds" in parameters:
        parameters["thresholds"] = given.thresholds
    # The UCR score is for series with one event.
    y_true = given.y_true if name != "ucr_score" else np.arange(len(given.y_true)) == len(given.y_true) // 2
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
    def exponent(self) -> float:
        """The power of the number of points with which the time grew at last; NaN for a single length."""
        if len(self.points) < 2:
            return math.nan
        return math.log(self.seconds[-1] / self.seconds[-2]) / math.log(self.points[-1] / self.points[-2])

    def __str__(self) -> str:
        return f"| {self.function} | {self.kind} | {self.points[-1]:,} | {self.seconds[-1]:.2g} | {self.exponent:.2f} |"


def measured(function: str, kind: str, *, most: int, longest: float = LONGEST) -> Row:
    """Measure a function on one kind of series, of more and more points."""
    call, points, taken = functions()[function], [], []
    size = LEAST
    while size <= most and (not taken or taken[-1] <= longest):
        points.append(size)
        taken.append(processor_seconds(partial(call, KINDS[kind](size))))
        size *= FACTOR
    return Row(function, kind, tuple(points), tuple(taken))


def processor_seconds(call: Callable[[], object], *, repeats: int = 5, enough: float = 0.2) -> float:
    """Return the least processor time of a call, repeated as long as that takes little."""
    taken: list[float] = []
    while len(taken) < repeats and sum(taken) < enough:
        began = time.process_time()
        call()
        taken.append(time.process_time() - began)
    return max(min(taken), 1e-9)


def rows(*, most: int, only: Sequence[str] = (), longest: float = LONGEST) -> Iterator[Row]:
    """Yield a row for each function, or for some, on each kind of series."""
    for function in only or functions():
        for kind in KINDS:
            yield measured(function, kind, most=most, longest=longest)


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, and the rows that grow most."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--most", type=int, default=LEAST * FACTOR**5, help="the most points of a series")
    parser.add_argument("--longest", type=float, default=LONGEST, help="seconds of a call, after which a row ends")
    parser.add_argument("--only", nargs="*", default=(), help="the functions, by the names in the table")
    chosen = parser.parse_args(arguments)
    form = "compiled" if dqeval.kernels.compiled else "interpreted"
    print(f"dqeval {dqeval.__version__}, kernels {form}, Python {platform.python_version()}, NumPy {np.__version__}\n")
    _print_heads()
    found = []
    for row in rows(most=chosen.most, only=chosen.only, longest=chosen.longest):
        print(row, flush=True)
        found.append(row)
    print(f"\nThe {WORST} that grow most:\n")
    _print_heads()
    for row in sorted(found, key=lambda row: -row.exponent)[:WORST]:
        print(row)


def _print_heads() -> None:
    print("| function | series | points | seconds | exponent |\n|---|---|---:|---:|---:|")


if __name__ == "__main__":
    main()
