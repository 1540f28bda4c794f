"""Many series in one call, short series that are joined, and threads: ``OMP_NUM_THREADS=1 python -m benchmarks.batch``.

Without the variable, what is called one thread has help from those of matrix products.
"""

import platform
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Thread, get_native_id

import numpy as np

import dqeval
from benchmarks.dqe import case
from dqeval.analysis import panel_run
from dqeval.analysis.chance import _chance_levels
from dqeval.analysis.compare import comparison_of
from dqeval.analysis.panel import panels_and_errors
from dqeval.analysis.panel_result import Evaluation
from dqeval.analysis.score import score
from dqeval.datasets.door import prepare
from dqeval.render.series_page import page as page_of
from dqeval.render.tables import percent
from dqeval.support.threads import in_order

SERIES, POINTS = 10_000, 1_000
LONG, DETECTORS = 1_000_000, 4
SUMS = 20
JOINED_POINTS = 60_000  # of all short series together
JOINED_LENGTHS = (100, 1_000, 10_000)


def best(calls: dict[str, Callable[[], object]], fewest: int = 7, at_least: float = 3.0) -> dict[str, np.ndarray]:
    """Return the least wall and processor time of each call, of several in turn: a busy machine is unfair to none.

    There are at least so many rounds, and they last at least so many seconds.
    """
    found = {name: np.full(2, np.inf) for name in calls}
    started, rounds = time.perf_counter(), 0
    while rounds < fewest or time.perf_counter() - started < at_least:
        rounds += 1
        for name, call in calls.items():
            began = np.array([time.perf_counter(), time.process_time()])
            call()
            found[name] = np.minimum(found[name], [time.perf_counter(), time.process_time()] - began)
    return found


def batches() -> dict[str, Callable[[], object]]:
    """Return ways to evaluate as many points: as one series, or as many."""
    y_true, y_score = case(SERIES * POINTS, "white noise", 1_000)
    offsets = np.arange(0, SERIES * POINTS, POINTS)
    ids = np.repeat(np.arange(SERIES), POINTS)
    several = np.split(y_true, offsets[1:]), np.split(y_score, offsets[1:])
    many = partial(dqeval.evaluate_many, near=50, workers=1)

    def loop() -> None:
        for labels, scores in zip(*several, strict=True):
            dqeval.evaluate(labels, scores, near=50)

    return {
        "one series": lambda: dqeval.evaluate(y_true, y_score, near=50),
        "evaluate_many, offsets": lambda: many(y_true, y_score, offsets=offsets),
        "evaluate_many, ids": lambda: many(y_true, y_score, ids=ids),
        "evaluate_many, lists": lambda: many(*several),
        "a loop of evaluate": loop,
    }


def joined(length: int) -> dict[str, Callable[[], object]]:
    """Return what joins short series: of many series, of many detectors, of random scores."""
    count, random = JOINED_POINTS // length, np.random.default_rng(0)
    labels = np.arange(length) % max(length // 2, 100) == length // 4
    series = [dqeval.Series(f"series {i}", labels, {"detector": random.random(length)}) for i in range(count)]
    few = {f"detector {i}": random.random(length) for i in range(DETECTORS)}
    evaluation = dqeval.panel(labels, few["detector 0"], near=50)
    return {
        "score, one detector on each series": lambda: score(series, near=50),
        "score, DQE alone": lambda: score(series, near=50, metrics=["dqe"]),
        f"compare, {DETECTORS} detectors": lambda: _compared(dqeval.Series("series", labels, few), 1),
        "panel(…).chance(), 10 random scores": lambda: _chance(evaluation, 1),
        f"a benchmark run's metrics, {DETECTORS} detectors": lambda: list(panels_and_errors(labels, few, near=50)),
    }


@contextmanager
def one_by_one() -> Iterator[None]:
    """Have no series joined."""
    likeness = panel_run.likeness
    panel_run.likeness = lambda *given, **options: None
    try:
        yield
    finally:
        panel_run.likeness = likeness


def share_of_one_by_one(call: Callable[[], object]) -> float:
    """Return what a call takes, as a share of what it takes where no series are joined."""

    def apart() -> None:
        with one_by_one():
            call()

    found = best({"together": call, "apart": apart}, at_least=1.0)
    return float(found["together"][1] / found["apart"][1])


def threads() -> dict[str, Callable[[int], object]]:
    """Return work that can be done in threads; first of NumPy, for what threads can gain at all at this moment.

    To sort is to compute, to add up is to read memory, which all cores share.
    """
    y_true, y_score = case(SERIES * POINTS, "white noise", 1_000)
    offsets = np.arange(0, SERIES * POINTS, POINTS)
    random = np.random.default_rng(1)
    walks = {f"detector {i}": np.cumsum(random.normal(size=LONG)) for i in range(DETECTORS)}
    series = dqeval.Series("walks", case(LONG, "white noise", 1_000)[0], walks, period=100)
    columns = np.column_stack(list(walks.values()))
    many = dqeval.evaluate_many
    of_each = partial(in_order, items=list(walks.values()))
    evaluation = dqeval.panel(series.labels, walks["detector 0"], period=100)
    return {
        f"numpy.sort, {DETECTORS} arrays": lambda n: list(of_each(np.sort, workers=n)),
        f"numpy.sum, {DETECTORS} arrays, {SUMS} times": lambda n: list(of_each(_summed, workers=n)),
        f"evaluate_many, {SERIES:,} series": lambda n: many(y_true, y_score, offsets=offsets, near=50, workers=n),
        f"evaluate_many, {DETECTORS} detectors": lambda n: many(series.labels, columns, near=50, workers=n),
        f"evaluate_many, {DETECTORS} detectors, exact": lambda n: many(
            series.labels, columns, near=50, thresholds="exact", workers=n
        ),
        f"score, {DETECTORS} detectors": lambda n: score([series], workers=n),
        "panel, one detector": lambda n: dqeval.panel(series.labels, walks["detector 0"], period=100, workers=n),
        "panel(…).chance(), 10 random scores": lambda n: _chance(evaluation, n),
        f"compare, {DETECTORS} detectors": lambda n: _compared(series, n),
        f"report, {DETECTORS} detectors": lambda n: _report(series, n),
    }


def _summed(scores: np.ndarray) -> list[float]:
    return [float(scores.sum()) for _ in range(SUMS)]


def _chance(evaluation: Evaluation, workers: int) -> object:
    """Return a chance level that is drawn now, and not taken from the call before."""
    _chance_levels.clear()
    return evaluation.chance(workers=workers)


def _compared(series: dqeval.Series, workers: int) -> object:
    """Return a comparison with a chance level that is drawn now, and not taken from the call before."""
    _chance_levels.clear()
    return dqeval.compare(series, workers=workers)


def _report(series: dqeval.Series, workers: int) -> object:
    """Return a page, with a chance level that is drawn now."""
    _chance_levels.clear()
    prepared = prepare(series)
    return page_of(prepared, comparison_of(prepared, workers=workers), workers=workers)


def waiting(work: Callable[[int], object]) -> float:
    """Return for how long two threads that do the same wait for each other, as a share of their processor time.

    Linux tells for how long a thread computed, and for how long it could have, had there been a core for it. The rest
    is waiting, almost all of it for Python's lock. Where other work takes the cores, that is longer than without.
    """
    shares: list[tuple[float, float]] = []

    def run() -> None:
        began, before = time.perf_counter(), _scheduled()
        work(1)
        computed, ready = _scheduled() - before
        shares.append((time.perf_counter() - began - computed - ready, computed))

    pair = [Thread(target=run) for _ in range(2)]
    for thread in pair:
        thread.start()
    for thread in pair:
        thread.join()
    waited, computed = np.sum(shares, axis=0)
    return max(0.0, waited) / computed


def _scheduled() -> np.ndarray:
    """Return for how many seconds this thread has computed, and has been ready to."""
    found = Path(f"/proc/self/task/{get_native_id()}/schedstat").read_text(encoding="utf-8").split()
    return np.array(found[:2], dtype=float) / 1e9


def main() -> None:
    """Print the tables."""
    form = "compiled" if dqeval.kernels.compiled else "interpreted"
    print(f"dqeval {dqeval.__version__}, kernels {form}, Python {platform.python_version()}, NumPy {np.__version__}")
    print(
        f"{SERIES:,} series of {POINTS:,} points, as a multiple of one series of as many; processor time, one thread\n"
    )
    print("| what | ratio |")
    print("|---|---:|")
    found = {name: processor for name, (_, processor) in best(batches()).items()}
    for name, seconds in found.items():
        print(f"| {name} | {seconds / found['one series']:.2f} × |", flush=True)
    _print_joined()
    print(f"\ntwo threads in place of one, {LONG:,} points per detector; wall time, processor time\n")
    print("| what | faster | processor time | waiting for each other |")
    print("|---|---:|---:|---:|")
    for name, work in threads().items():
        (one, one_processor), (two, two_processor) = best({"1": partial(work, 1), "2": partial(work, 2)}).values()
        waits = percent(min(waiting(work) for _ in range(3))) if sys.platform == "linux" else ""
        print(f"| {name} | {one / two:.2f} × | {two_processor / one_processor:.2f} × | {waits} |", flush=True)


def _print_joined() -> None:
    """Print what joining short series gains."""
    print("\nshort series, which are joined, as a multiple of the same one by one; processor time\n")
    print("| what | " + " | ".join(f"{length:,} points" for length in JOINED_LENGTHS) + " |")
    print("|---|" + "---:|" * len(JOINED_LENGTHS))
    columns = [joined(length) for length in JOINED_LENGTHS]
    for name in columns[0]:
        cells = (f"{share_of_one_by_one(calls[name]):.2f} ×" for calls in columns)
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
    asked = partial(dqeval.properties, ["dqe"], workers=0)
    print(f"\nproperties of DQE, which are of tiny series: {share_of_one_by_one(asked):.2f} ×")


if __name__ == "__main__":
    main()
