"""The cost of every metric beside AUC-ROC, beside sorting, and of all thresholds: ``python -m benchmarks.panel``.

Needs scikit-learn: ``pip install -e .[benchmark]``.
"""

import platform
from functools import partial

import numpy as np
from sklearn.metrics import roc_auc_score

import dqeval
from benchmarks.dqe import case
from benchmarks.measure import peak_bytes, processor_seconds

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
CASES = [
    *((10_000, "random walk"), (100_000, "random walk"), (100_000, "white noise"), (1_000_000, "random walk")),
    (1_000, "white noise"),
]
KINDS = ("random walk", "white noise")
BUFFERS = {"pate_f1": {"early": 50, "late": 50}}


def main() -> None:
    """Print the tables."""
    form = "compiled" if dqeval.kernels.compiled else "interpreted"
    print(f"dqeval {dqeval.__version__}, kernels {form}, Python {platform.python_version()}, NumPy {np.__version__}")
    print("each metric alone, and the whole panel, as a multiple of sklearn.metrics.roc_auc_score; period 100")
    print("processor time, the least of several calls\n")
    arrays = [case(n, kind, 1_000) for n, kind in CASES]
    with_one_event = [case(n, kind, n) for n, kind in CASES]
    auc = [processor_seconds(partial(roc_auc_score, *pair)) for pair in arrays]
    heads = " | ".join(f"{n:,} {kind}" for n, kind in CASES)
    print(f"| metric | {heads} | reference, 100,000 random walk |")
    print("|---|" + "---:|" * (len(CASES) + 1))
    for names in [*([metric.name] for metric in dqeval.METRICS), ["vus_roc", "vus_pr"], "default", "all"]:
        of_pairs = with_one_event if names == ["ucr_score"] else arrays
        calls = [partial(dqeval.panel, *pair, period=100, metrics=names, workers=1) for pair in of_pairs]
        ratios = " | ".join(f"{processor_seconds(call) / one:.2f} ×" for call, one in zip(calls, auc, strict=True))
        title = TITLES[names] if isinstance(names, str) else " and ".join(names)
        reference = f"{REFERENCE[names[0]]} ×" if len(names) == 1 and names[0] in REFERENCE else ""
        print(f"| {title} | {ratios} | {reference} |", flush=True)
    for (n, kind), pair in zip(CASES, arrays, strict=True):
        one, two = (peak_bytes(partial(dqeval.panel, *pair, period=100, workers=count)) / n for count in (1, 2))
        peak = f"{one:.0f} bytes per point at the peak of the whole panel, {two:.0f} in two threads"
        print(f"\n{n:,} points, {kind}: {peak}", end="")
    memory_of_explain()
    beside_sorting()
    growth()


def memory_of_explain(n: int = 1_000_000) -> None:
    """Print how much memory an explanation takes, with few events and many."""
    for distance in (1_000, 20):
        memory = peak_bytes(partial(dqeval.explain, *case(n, "white noise", distance), near=50)) / n
        print(f"\n{n:,} points, an event every {distance:,}: {memory:.0f} bytes per point to explain them", end="")


def beside_sorting(n: int = 1_000_000) -> None:
    """Print what metrics take at many points, as multiples of sorting the scores."""
    print(f"\n\nthe same at {n:,} points, as a multiple of numpy.sort of the scores; near 50\n")
    print(f"| metric | {' | '.join(KINDS)} |\n|---|---:|---:|")
    arrays = [case(n, kind, 1_000) for kind in KINDS]
    with_one_event = [case(n, kind, n) for kind in KINDS]
    for names in [*([metric.name] for metric in dqeval.METRICS), "default"]:
        ratios = []
        for y_true, y_score in with_one_event if names == ["ucr_score"] else arrays:
            call = partial(dqeval.panel, y_true, y_score, near=50, metrics=names, workers=1)
            ratios.append(processor_seconds(call) / processor_seconds(partial(np.sort, y_score)))
        title = TITLES[names] if isinstance(names, str) else names[0]
        print(f"| {title} | {' | '.join(f'{ratio:.2f} ×' for ratio in ratios)} |", flush=True)


def growth() -> None:
    """Print how the time of all thresholds grows with the points, and with an event every 1,000 or 20 points."""
    few, many = 1_000, 1_000_000
    print(
        f'\nbest_threshold(…, thresholds="all"): {many:,} points beside numpy.sort; exponent from {few:,} points on\n'
    )
    cases = [(kind, distance) for kind in KINDS for distance in (1_000, 20)]
    print(f"| metric | {' | '.join(f'{kind}, every {distance:,}' for kind, distance in cases)} |")
    print("|---|" + "---:|" * len(cases))
    for metric in dqeval.METRICS:
        if metric.takes == "scores" or not (metric.at_every_level or metric.threshold_of):
            continue
        cells = []
        for kind, distance in cases:
            taken = []
            for n in (few, many):
                y_true, y_score = case(n, kind, distance)
                options = BUFFERS.get(metric.name, {})
                call = partial(dqeval.best_threshold, metric.name, y_true, y_score, thresholds="all", **options)
                taken.append(processor_seconds(call))
            exponent = np.log(taken[1] / taken[0]) / np.log(many / few)
            cells.append(f"{taken[1] / processor_seconds(partial(np.sort, y_score)):.1f} ×, {exponent:.2f}")
        print(f"| {metric.name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
