"""One table of ratios, for the record: ``python -m benchmarks.all [FILE]``; with a file, its table is replaced.

Each ratio is the processor time of a call beside that of another one, measured in turn in the same run: how fast the
machine is, and what else it does, hardly matters. ``python -m benchmarks.compare`` tells which ratios got worse.

Needs scikit-learn: ``pip install -e .[benchmark]``.
"""

import platform
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score

import dqeval
from benchmarks.compare import HEAD, RULE
from benchmarks.dqe import case
from benchmarks.measure import keep_memory

KINDS = ("random walk", "white noise")
DETECTORS = ("kmeans_ad", "sub_lof", "fft", "sr")
SERIES = 100


@dataclass(frozen=True)
class Row:
    """A call, and the one that it is measured beside."""

    what: str
    beside: str
    call: Callable[[], object]
    other: Callable[[], object]


def rows(points: int = 100_000) -> Iterator[Row]:
    """Yield what is measured, with about so many points in each call."""
    for kind in KINDS:
        yield from of_metrics(points, kind)
    yield from of_functions(points)
    yield from of_detectors(points // 50)


def of_metrics(points: int, kind: str) -> Iterator[Row]:
    """Yield DQE in both forms, each metric alone, and all of the panel, beside AUC-ROC."""
    pair = case(points, kind, 1_000)
    beside_auc = partial(Row, beside="roc_auc_score", other=partial(roc_auc_score, *pair))
    for name, thresholds in {"sampled": 100, "exact": "exact"}.items():
        call = partial(dqeval.evaluate, *pair, near=50, thresholds=thresholds)
        yield beside_auc(f"evaluate, {name}, {points:,} points, {kind}", call=call)
    for metric in dqeval.METRICS:
        if metric.name != "ucr_score":  # which is defined for one event
            call = partial(dqeval.panel, *pair, period=100, metrics=[metric.name], workers=1)
            yield beside_auc(f"{metric.name}, {points:,} points, {kind}", call=call)
    yield beside_auc(f"panel, {points:,} points, {kind}", call=partial(dqeval.panel, *pair, period=100, workers=1))


def of_functions(points: int) -> Iterator[Row]:
    """Yield short series, many series, explanations, thresholds and periods."""
    short = case(points // 100, "white noise", max(2, points // 100))
    auc_of_short = partial(roc_auc_score, *short)
    yield Row("evaluate, a short series", "roc_auc_score", partial(dqeval.evaluate, *short, near=5), auc_of_short)
    yield Row("panel, a short series", "roc_auc_score", partial(dqeval.panel, *short, near=5), auc_of_short)
    y_true, y_score = case(points, "white noise", max(2, points // SERIES))
    whole = partial(dqeval.evaluate, y_true, y_score, near=5)
    offsets = np.arange(0, points, points // SERIES)
    many = partial(dqeval.evaluate_many, y_true, y_score, offsets=offsets, near=5, workers=1)
    yield Row("evaluate_many", "evaluate, one series", many, whole)
    yield Row("explain", "evaluate", partial(dqeval.explain, y_true, y_score, near=5), whole)
    sort = partial(np.sort, y_score)
    best = partial(dqeval.best_threshold, "range_f1", y_true, y_score, thresholds="all")
    yield Row("best_threshold, range_f1, all thresholds", "numpy.sort", best, sort)
    values = np.sin(np.arange(points // 5) / 8) + y_score[: points // 5]
    yield Row("find_period", "numpy.sort", partial(dqeval.find_period, values), sort)


def of_detectors(points: int) -> Iterator[Row]:
    """Yield the detectors that need no network, beside sorting as many numbers a hundred times."""
    values = np.sin(np.arange(points) / 8) + case(points, "white noise", 1_000)[1]

    def sort() -> None:
        for _ in range(100):
            np.sort(values)

    for name in DETECTORS:
        yield Row(f"detect, {name}", "numpy.sort, 100 times", partial(dqeval.detect, values, name), sort)


def ratios(found: list[Row], *, passes: int = 4, at_least: float = 0.1, fewest: int = 3) -> list[float]:
    """Return the least processor time of each call, as a multiple of that of the other one.

    Both are called in turn, and all rows several times over: what disturbs the machine for a while spoils one pass.
    """
    least = np.full((len(found), 2), np.inf)
    for _ in range(passes):
        for i, row in enumerate(found):
            began, done = time.process_time(), 0
            while done < fewest or time.process_time() - began < at_least:
                least[i] = np.minimum(least[i], [processor_time(row.call), processor_time(row.other)])
                done += 1
    return [float(call / other) for call, other in least]


def processor_time(call: Callable[[], object]) -> float:
    """Return the processor time of one call; of several, as the mean, where one is too short for the clock."""
    began, times = time.process_time(), 0
    while times == 0 or time.process_time() - began < 1e-3:
        call()
        times += 1
    return (time.process_time() - began) / times


def table(found: list[Row], values: list[float]) -> list[str]:
    """Return the lines of the table."""
    lines = [f"| {row.what} | {row.beside} | {value:.3g} × |" for row, value in zip(found, values, strict=True)]
    return [HEAD, RULE, *lines]


def replaced(text: str, lines: list[str]) -> str:
    """Return a text with another table in place of the one that it has."""
    before, found, after = text.partition(f"{HEAD}\n")
    if not found:
        raise ValueError(f"there is no table to replace: no line {HEAD!r}")
    rest = after.splitlines(keepends=True)
    end = next((i for i, line in enumerate(rest) if not line.startswith("|")), len(rest))
    return before + "\n".join(lines) + "\n" + "".join(rest[end:])


def main(arguments: list[str], **size: Any) -> None:
    """Print the table, and put it into a file if one is named."""
    form = "compiled" if dqeval.kernels.compiled else "interpreted"
    print(f"dqeval {dqeval.__version__}, kernels {form}, Python {platform.python_version()}, NumPy {np.__version__}\n")
    found = list(rows(**size))
    lines = table(found, ratios(found))
    print("\n".join(lines))
    for path in map(Path, arguments):
        path.write_text(replaced(path.read_text(encoding="utf-8"), lines), encoding="utf-8")


if __name__ == "__main__":
    keep_memory()
    main(sys.argv[1:])
