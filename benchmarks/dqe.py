"""The cost of DQE as a multiple of AUC-ROC on the same arrays, and of adding up: ``python -m benchmarks.dqe``.

Needs scikit-learn: ``pip install -e .[benchmark]``.
"""

import platform
from functools import partial

import numpy as np
from sklearn.metrics import roc_auc_score

import dqeval
from benchmarks.measure import import_seconds, peak_bytes, processor_seconds, seconds

FORMS = {"sampled": 100, "exact": "exact"}
CASES = [(n, kind, 1_000) for n in (1_000, 10_000, 100_000, 1_000_000) for kind in ("random walk", "white noise")]
CASES += [(1_000_000, "white noise", 20), (1_000_000, "white noise", 1_000_000)]
MOST_POINTS_INTERPRETED = 10_000


def case(n: int, kind: str, distance: int) -> tuple[np.ndarray, np.ndarray]:
    """Return labels with an event every so many points, 1 % of them or one, and scores of the given kind."""
    random = np.random.default_rng(0)
    y_true = (np.arange(n) % distance >= distance - max(1, distance // 100)).astype(int)
    noise = random.normal(size=n)
    return y_true, np.cumsum(noise) if kind == "random walk" else noise


def main() -> None:
    """Print the table."""
    form = "compiled" if dqeval.kernels.compiled else "interpreted"
    print(f"dqeval {dqeval.__version__}, kernels {form}, Python {platform.python_version()}, NumPy {np.__version__}")
    print("dqeval.evaluate(y_true, y_score, near=50) as a multiple of sklearn.metrics.roc_auc_score\n")
    print("| points | an event every | scores | AUC-ROC, ms | sampled | exact | bytes per point, sampled | exact |")
    print("|---:|---:|---|---:|---:|---:|---:|---:|")
    for n, kind, distance in CASES:
        if n > MOST_POINTS_INTERPRETED and not dqeval.kernels.compiled:
            continue
        y_true, y_score = case(n, kind, distance)
        auc = seconds(partial(roc_auc_score, y_true, y_score))
        calls = [partial(dqeval.evaluate, y_true, y_score, near=50, thresholds=t) for t in FORMS.values()]
        ratios = " | ".join(f"{seconds(call) / auc:.2f} ×" for call in calls)
        memory = " | ".join(f"{peak_bytes(call) / n:.0f}" for call in calls)
        print(f"| {n:,} | {distance:,} | {kind} | {1e3 * auc:.1f} | {ratios} | {memory} |", flush=True)
    y_true, y_score = case(1_000, "white noise", 1_000)
    for name, thresholds in FORMS.items():
        call = partial(dqeval.evaluate, y_true, y_score, near=50, thresholds=thresholds)
        print(f"\n1,000 points, {name}: {1e3 * seconds(call):.2f} ms", end="")
    if dqeval.kernels.compiled:
        beside_sum()
    values = np.sin(np.arange(20_000) / 8) + case(20_000, "white noise", 1_000)[1]
    print(f"\nperiod of 20,000 points: {1e3 * seconds(lambda: dqeval.find_period(values)):.2f} ms", end="")
    print("\nbeyond numpy's own import:", end="")
    for statement in ("import dqeval", "from dqeval import evaluate", "from dqeval import *"):
        print(f"\n  {statement}: {import_seconds(statement, beyond='import numpy'):.3f} s", end="")
    print()


def beside_sum(n: int = 10_000_000, *, at_least: float = 1.0) -> None:
    """Print what sampled DQE of many points takes, in processor time, as a multiple of adding up their scores."""
    y_true, y_score = case(n, "white noise", 1_000)
    of_sum = processor_seconds(partial(np.sum, y_score), at_least=at_least)
    for function in (dqeval.dqe_score, dqeval.evaluate):
        ratio = processor_seconds(partial(function, y_true, y_score, near=50), at_least=at_least) / of_sum
        print(f"\n{n:,} points, {function.__name__}: {ratio:.1f} × numpy.sum of the scores", end="")


if __name__ == "__main__":
    main()
