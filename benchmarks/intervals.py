"""How often 95 % intervals of a mean over events hold the true mean: those of dqeval, percentile and BCa bootstrap.

python -m benchmarks.intervals [trials]
"""

import sys
from statistics import NormalDist

import numpy as np

from dqeval.core.confidence import FEWEST_RESAMPLES, mean_interval, mean_intervals
from dqeval.render.tables import percent

SERIES = (5, 8, 12, 20, 50, 100)
RESAMPLES = 1000
MANY = 50_000  # events
NORMAL = NormalDist()


def clustered(random, series):
    """Return DQE of events and the series that each belongs to: some are harder as a whole, and have missed events."""
    sizes = random.integers(1, 11, size=series)
    groups = np.repeat(np.arange(series), sizes)
    missed = random.beta(0.5, 1.5, size=series)[groups]
    found = np.clip(random.normal(0.75, 0.1, len(groups)), 0, 1)
    return np.where(random.random(len(groups)) < missed, 0.0, found), groups


def bootstraps(random, values, groups):
    """Return the percentile and the BCa interval, drawing whole series."""
    sums, sizes = np.bincount(groups, values), np.bincount(groups)
    drawn = random.integers(len(sums), size=(RESAMPLES, len(sums)))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    below = np.clip((means < values.mean()).mean(), 1 / RESAMPLES, 1 - 1 / RESAMPLES)
    without = (sums.sum() - sums) / (sizes.sum() - sizes)
    off = without.mean() - without
    bias, skew = NORMAL.inv_cdf(below), (off**3).sum() / max(6 * (off**2).sum() ** 1.5, 1e-300)
    moved = [bias + (bias + z) / (1 - skew * (bias + z)) for z in (-1.96, 1.96)]
    return np.quantile(means, [0.025, 0.975]), np.quantile(means, [NORMAL.cdf(z) for z in moved])


def held(series, trials):
    """Return how often each interval holds the true mean, and how wide they are."""
    random = np.random.default_rng(series)
    true = np.mean([clustered(random, 5000)[0].mean() for _ in range(20)])
    hits, widths = np.zeros(3), np.zeros(3)
    for trial in range(trials):
        values, groups = clustered(random, series)
        ours = mean_intervals(values[:, None], groups=groups, resamples=RESAMPLES, seed=trial)[0]
        for i, (low, high) in enumerate(((ours.low, ours.high), *bootstraps(random, values, groups))):
            hits[i] += low <= true <= high
            widths[i] += high - low
    return hits / trials, widths / trials


def held_of_rare_misses(events, trials, right=0.95):
    """Return how often an interval holds the true mean of a detector that misses few events, and is right elsewhere."""
    random = np.random.default_rng(events)
    found = (
        mean_interval((random.random(events) < right).astype(float), resamples=RESAMPLES, seed=trial)
        for trial in range(trials)
    )
    return np.mean([interval.low <= right <= interval.high for interval in found]).item()


def spread_of_ends(events, resamples, seeds=20):
    """Return by how much the ends of an interval of many events differ from seed to seed, as a share of its width."""
    values = np.random.default_rng(events).beta(0.5, 0.5, events)
    found = [mean_interval(values, resamples=resamples, seed=seed) for seed in range(seeds)]
    ends = np.array([(interval.low, interval.high) for interval in found])
    return (ends.std(axis=0).mean() / np.diff(ends, axis=1).mean()).item()


def main():
    """Print a table, and what fewer draws of many events change."""
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    print(f"95 % intervals of the mean over events in series of 1 to 10, {trials:,} trials: held, and mean width\n")
    print("| series | dqeval | percentile | BCa |\n|---:|---:|---:|---:|")
    for series in SERIES:
        hits, widths = held(series, trials)
        cells = " | ".join(f"{percent(hit, 1)}, {width:.2f}" for hit, width in zip(hits, widths, strict=True))
        print(f"| {series} | {cells} |", flush=True)
    shares = ", ".join(f"{percent(held_of_rare_misses(n, trials))} of {n}" for n in SERIES[:-1])
    print(f"\na detector that is right at 95 % of its events: held with {shares} events")
    spreads = [f"{percent(spread_of_ends(MANY, count), 1)} with {count:,}" for count in (2000, FEWEST_RESAMPLES)]
    print(f"\n{MANY:,} events: an end differs from seed to seed by {', '.join(spreads)} draws of all, of the width")


if __name__ == "__main__":
    main()
