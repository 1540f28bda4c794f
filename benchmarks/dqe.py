"""The cost of DQE as a multiple of AUC-ROC on the same arrays: ``python -m benchmarks.dqe``.

Needs scikit-learn: ``pip install -e .[benchmark]``.
"""

import platform
from functools import partial

import numpy as np
from sklearn.metrics import roc_auc_score

import dqeval
from benchmarks.measure import import_seconds, peak_bytes, seconds

SIZES = (1_000, 10_000, 100_000, 1_000_000)
FORMS = {"sampled": 100, "exact": "exact"}


def case(kind: str, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return labels with an event of ten points every 1,000 points, and scores of the given kind."""
    random = np.random.default_rng(0)
    y_true = (np.arange(n) % 1000 >= 990).astype(int)
    noise = random.normal(size=n)
    return y_true, np.cumsum(noise) if kind == "random walk" else noise


def main() -> None:
    """Print the table."""
    form = "compiled" if dqeval.kernels.compiled else "interpreted"
    print(f"dqeval {dqeval.__version__}, kernels {form}, Python {platform.python_version()}, NumPy {np.__version__}")
    print("dqeval.evaluate(y_true, y_score, near=50) as a multiple of sklearn.metrics.roc_auc_score\n")
    print("| points | scores | thresholds | x AUC-ROC | bytes a point |")
    print("|---:|---|---|---:|---:|")
    for n in SIZES:
        for kind in ("random walk", "white noise"):
            y_true, y_score = case(kind, n)
            auc = seconds(partial(roc_auc_score, y_true, y_score))
            for name, thresholds in FORMS.items():
                call = partial(dqeval.evaluate, y_true, y_score, near=50, thresholds=thresholds)
                ratio, memory = seconds(call) / auc, peak_bytes(call) / n
                print(f"| {n:,} | {kind} | {name} | {ratio:.2f} | {memory:.0f} |", flush=True)
    y_true, y_score = case("white noise", 1_000)
    for name, thresholds in FORMS.items():
        call = partial(dqeval.evaluate, y_true, y_score, near=50, thresholds=thresholds)
        print(f"\n1,000 points, {name}: {1e3 * seconds(call):.2f} ms", end="")
    print(f"\nimport dqeval, beyond numpy's own: {import_seconds('import dqeval', beyond='import numpy'):.3f} s")


if __name__ == "__main__":
    main()
