"""How often 95 % intervals of a standard deviation hold the true one: those of stress tests, and percentile bootstrap.

python -m benchmarks.deviation_intervals [trials]
"""

import sys

import numpy as np

from dqeval.lab.variation import Copies, varied_by
from dqeval.render.tables import percent

COPIES = (5, 10, 20, 40)
RESAMPLES = 1000
KINDS = {  # how to draw, and the true standard deviation
    "normal": (lambda random, n: random.normal(size=n), 1.0),
    "uniform": (lambda random, n: random.random(n), 12**-0.5),
    "exponential": (lambda random, n: random.exponential(size=n), 1.0),
}


def held(kind, count, trials):
    """Return how often each interval holds the true standard deviation, and how wide they are relative to it."""
    draw, true = KINDS[kind]
    random = np.random.default_rng(count)
    hits, widths = np.zeros(2), np.zeros(2)
    for _ in range(trials):
        values = draw(random, count)
        copies = Copies([0.0] * count, values[None, :, None], np.zeros((1, 1)), np.array([np.nan]))
        (ours,) = (each.deviation_interval for each in varied_by("noise", ["dqe"], [copies]))
        drawn = values[random.integers(count, size=(RESAMPLES, count))].std(axis=1)
        for i, (low, high) in enumerate(((ours.low, ours.high), np.quantile(drawn, [0.025, 0.975]))):
            hits[i] += low <= true <= high
            widths[i] += (high - low) / true
    return hits / trials, widths / trials


def main():
    """Print a table."""
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    print(f"95 % intervals of a standard deviation, {trials:,} trials: held, and mean width relative to it\n")
    print("| copies | draws | dqeval | percentile |\n|---:|---|---:|---:|")
    for kind in KINDS:
        for count in COPIES:
            hits, widths = held(kind, count, trials)
            cells = " | ".join(f"{percent(hit, 1)}, {width:.2f}" for hit, width in zip(hits, widths, strict=True))
            print(f"| {count} | {kind} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
