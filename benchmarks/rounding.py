"""What rounding does to DQE of scores with two decimals, where thresholds fall on scores.

python -m benchmarks.rounding [series]
"""

import sys

import numpy as np

import dqeval
from dqeval.analysis.pitfalls import dqe_without_rounding
from dqeval.core.prepared import Labelled

NEAR = 10.0
RANGES = {"from 0.00 to 1.00": (0, 100), "of another range": None}


def series(seed, ends):
    """Return labels, and scores with two decimals that are higher in events; by default in a range of their own."""
    random = np.random.default_rng(seed)
    labels = np.zeros(300, dtype=bool)
    for start in random.integers(0, 290, 3):
        labels[start : start + 6] = True
    scores = random.beta(1.5, 4, 300) + labels * random.random()
    low, high = ends or (random.integers(0, 500), random.integers(510, 1500))
    scores = (scores - scores.min()) / (scores.max() - scores.min())
    return labels, np.round(low + (high - low) * scores) / 100


def scaled_before(scores):
    """Return scores scaled as scikit-learn's MinMaxScaler does: times a factor, plus an offset."""
    factor = 1 / (scores.max() - scores.min())
    return scores * factor + (0 - scores.min() * factor)


def main():
    """Print how many of the series differ, and by how much at most."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1500
    print(f"{count:,} series of 300 points, scores with two decimals\n")
    print("| scores | exact arithmetic: differ | at most | scaled beforehand: differ | at most |")
    print("|---|---:|---:|---:|---:|")
    for name, ends in RANGES.items():
        differences = np.empty((count, 2))
        for seed in range(count):
            labels, scores = series(seed, ends)
            now = dqeval.dqe_score(labels, scores, near=NEAR)
            exact = dqe_without_rounding(Labelled(labels).scored(scores), NEAR)
            scaled = dqeval.dqe_score(labels, scaled_before(scores), near=NEAR)
            differences[seed] = abs(exact - now), abs(scaled - now)
        cells = (f"{np.count_nonzero(column > 1e-9):,} | {column.max():.4f}" for column in differences.T)
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
