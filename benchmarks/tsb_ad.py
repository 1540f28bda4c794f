"""TSB-AD's nine numbers, there and here: ``python -m benchmarks.tsb_ad``, where TSB-AD is installed."""

import time
import warnings
from importlib.metadata import version

import numpy as np
from TSB_AD.evaluation.metrics import get_metrics as theirs

from dqeval.adapters.tsb_ad import get_metrics

POINTS, EVENTS = 10_000, 8


def example() -> tuple[np.ndarray, np.ndarray]:
    """Return scores and labels."""
    random = np.random.default_rng(0)
    labels = np.zeros(POINTS, dtype=int)
    for start in random.integers(0, POINTS - 200, EVENTS):
        labels[start : start + random.integers(20, 120)] = 1
    return random.normal(size=POINTS) + labels, labels


def seconds(function, *given) -> float:
    """Return how long a call keeps a core busy, whatever else the machine does."""
    began = time.process_time()
    function(*given)
    return time.process_time() - began


def main() -> None:
    """Measure, and print."""
    warnings.simplefilter("ignore")  # theirs
    given = example()
    here = min(seconds(get_metrics, *given) for _ in range(5))
    there = min(seconds(theirs, *given) for _ in range(2))
    ours, others = get_metrics(*given), theirs(*given)
    furthest = max(abs(ours[name] - others[name]) for name in others)
    times = f"TSB-AD {version('TSB_AD')} {there:.1f} s, here {here:.3f} s, {there / here:.0f} times faster"
    print(f"{POINTS:,} points, {EVENTS} events, seconds of one core: {times}")
    print(f"largest difference {furthest:.1e}")


if __name__ == "__main__":
    main()
