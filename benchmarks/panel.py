"""The cost of every metric as a multiple of AUC-ROC on the same arrays: ``python -m benchmarks.panel``.

Needs scikit-learn: ``pip install -e .[benchmark]``.
"""

import platform
from functools import partial

import numpy as np
from sklearn.metrics import roc_auc_score

import dqeval
from benchmarks.dqe import case
from benchmarks.measure import peak_bytes, seconds

# Public reference implementations at 100,000 points, random-walk scores: measured once, elsewhere, not by this script.
REFERENCE = {
    "point_adjusted_f1": 186,
    "point_adjusted_k_f1": 1288,
    "range_f1": 1243,
    "etapr_f1": 813,
    "tapr_f1": 561,
    "affiliation_f1": 392,
    "pate": 419,
    "vus_roc": 1057,
    "vus_pr": 1057,
    "dqe": 394,
    "auc_roc": 1,
    "auc_pr": 1,
}
TITLES = {"default": "whole panel", "all": 'metrics="all"'}
CASES = [(10_000, "random walk"), (100_000, "random walk"), (100_000, "white noise"), (1_000_000, "random walk")]


def main() -> None:
    """Print the table: a row a metric, a column a case."""
    form = "compiled" if dqeval.kernels.compiled else "interpreted"
    print(f"dqeval {dqeval.__version__}, kernels {form}, Python {platform.python_version()}, NumPy {np.__version__}")
    print("each metric alone, and the whole panel, as a multiple of sklearn.metrics.roc_auc_score; period 100\n")
    arrays = [case(n, kind, 1_000) for n, kind in CASES]
    with_one_event = [case(n, kind, n) for n, kind in CASES]
    auc = [seconds(partial(roc_auc_score, *pair)) for pair in arrays]
    heads = " | ".join(f"{n:,} {kind}" for n, kind in CASES)
    print(f"| metric | {heads} | reference, 100,000 random walk |")
    print("|---|" + "---:|" * (len(CASES) + 1))
    for names in [*([metric.name] for metric in dqeval.METRICS), ["vus_roc", "vus_pr"], "default", "all"]:
        of_pairs = with_one_event if names == ["ucr_score"] else arrays
        calls = [partial(dqeval.panel, *pair, period=100, metrics=names) for pair in of_pairs]
        ratios = " | ".join(f"{seconds(call, fewest=3) / one:.2f} ×" for call, one in zip(calls, auc, strict=True))
        title = TITLES[names] if isinstance(names, str) else " and ".join(names)
        reference = f"{REFERENCE[names[0]]} ×" if len(names) == 1 and names[0] in REFERENCE else ""
        print(f"| {title} | {ratios} | {reference} |", flush=True)
    for (n, kind), pair in zip(CASES, arrays, strict=True):
        memory = peak_bytes(partial(dqeval.panel, *pair, period=100)) / n
        print(f"\n{n:,} points, {kind}: {memory:.0f} bytes a point at the peak of the whole panel", end="")
    print()


if __name__ == "__main__":
    main()
