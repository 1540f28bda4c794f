"""How often verdicts are wrong: errors of all pairs together, coverage of intervals, power, time.

python -m benchmarks.verdicts [trials]
"""

import sys
from functools import partial
from time import perf_counter

import numpy as np

import dqeval
from dqeval.core.paired import compare_all, mean_intervals, seed_effects, student
from dqeval.render.tables import percent

DETECTORS, UNITS = (2, 5, 10), (8, 12, 20, 50, 200)
FLIPS = 2000  # of each trial, in place of 5,000: the same ones each time, which moves a rate of 5 % by about 0.5 %
LEVEL = 0.05


def independent(random, n, k):
    """Return values that have nothing in common."""
    return np.clip(random.normal(0.7, 0.15, (n, k)), 0, 1)


def common(random, n, k):
    """Return values of series that are hard, or easy, for all detectors."""
    return np.clip(0.1 + 0.8 * random.beta(0.5, 0.5, (n, 1)) + random.normal(0, 0.1, (n, k)), 0, 1)


def rare(random, n, k):
    """Return nearly always the same value, and rarely a miss."""
    return np.where(random.random((n, k)) < 0.05, 0.0, 0.9)


def skewed(random, n, k):
    """Return values that are mostly low, and rarely high."""
    return random.beta(0.5, 4, (n, k))


def unlike(random, n, k):
    """Return values of equal means, skewed the other way for every second detector: so are their differences."""
    values = random.exponential(1, (n, k)) - 1
    return np.where(np.arange(k) % 2, values, -values)


WORLDS = (independent, common, rare, skewed, unlike)

MEANS = {  # how to draw values of one detector
    "normal, 0.75 ± 0.15": lambda random, size: np.clip(random.normal(0.75, 0.15, size), 0, 1),
    "normal, 0.75 ± 0.1": lambda random, size: np.clip(random.normal(0.75, 0.1, size), 0, 1),
    "U-shaped": lambda random, size: random.beta(0.5, 0.5, size),
    "10 % missed": lambda random, size: np.where(
        random.random(size) < 0.1, 0, random.normal(0.8, 0.1, size).clip(0, 1)
    ),
    "90 % missed": lambda random, size: np.where(
        random.random(size) < 0.9, 0, random.normal(0.8, 0.1, size).clip(0, 1)
    ),
    "95 % perfect": lambda random, size: np.where(random.random(size) < 0.95, 1, random.random(size)),
    "skewed": lambda random, size: random.beta(0.5, 4, size),
}


def with_error(rate, trials, decimals=1):
    """Return a rate and its standard error, in percent."""
    return f"{100 * rate:.{decimals}f} ± {100 * np.sqrt(rate * (1 - rate) / trials):.{decimals}f}"


def errors(draw, trials):
    """Return how often any two equal detectors are told apart."""
    return sum(draw().p.min() <= LEVEL for _ in range(trials)) / trials


def of_world(world, random, n, k):
    """Return the comparisons of equal detectors."""
    return compare_all(world(random, n, k), flips=FLIPS)


def of_twins(random, n, k):
    """Return the comparisons where each recording comes twice, nearly alike, and recordings are groups."""
    values = np.clip(random.normal(0.7, 0.15, (n, k)), 0, 1)
    return compare_all(values + (values + random.normal(0, 0.02, (n, k))), flips=FLIPS)


def of_seeds(random, n, k, *, seeds):
    """Return the comparisons where each run of a detector is off by 0.02 in all series."""
    each = random.normal(0, 0.1, (n, 1, 1)) + random.normal(0, 0.05, (n, seeds, k)) + random.normal(0, 0.02, (seeds, k))
    variance, freedom = seed_effects(each)
    return compare_all(each.mean(axis=1), seed_variance=variance, seed_freedom=freedom, flips=FLIPS)


def error_table(trials):
    """Print the errors of all pairs together."""
    print("| world | detectors |" + "".join(f" n = {n} |" for n in UNITS) + "\n|---|---:|" + "---:|" * len(UNITS))
    kinds = {world.__name__: partial(of_world, world) for world in WORLDS}
    kinds |= {"twins": of_twins}
    kinds |= {f"{seeds} seeds": partial(of_seeds, seeds=seeds) for seeds in (2, 3, 5)}
    for name, make in kinds.items():
        for k in DETECTORS:
            rates = [errors(partial(make, np.random.default_rng(n), n, k), trials) for n in UNITS]
            print(f"| {name} | {k} | " + " | ".join(with_error(rate, trials) for rate in rates) + " |", flush=True)


def coverage_table(trials):
    """Print how often intervals of a mean hold it, and how wide they are beside Student's."""
    counts = (5, *UNITS)
    print("\n| world |" + "".join(f" n = {n} |" for n in counts) + "\n|---|" + "---:|" * len(counts))
    for name, draw in MEANS.items():
        random = np.random.default_rng(0)
        true = float(draw(random, 10_000_000).mean())
        cells = []
        for n in counts:
            values = draw(random, (n, trials))
            low, high = mean_intervals(values)
            usual = 2 * student(0.95, n - 1) * values.std(axis=0, ddof=1).mean() / np.sqrt(n)
            rate = float(((low <= true) & (true <= high)).mean())
            cells.append(f"{with_error(rate, trials)}, {(high - low).mean() / usual:.2f} ×")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def simultaneous_table(trials):
    """Print how often the intervals of all differences hold the true ones together, half of the detectors better."""
    print("\n| world | detectors |" + "".join(f" n = {n} |" for n in UNITS) + "\n|---|---:|" + "---:|" * len(UNITS))
    for world in WORLDS:
        for k in DETECTORS:
            cells = []
            for n in UNITS:
                random, held = np.random.default_rng(n), 0
                ahead = np.where(np.arange(k) < k // 2, 0.1, 0.0)
                true = np.subtract(*(ahead[places] for places in np.triu_indices(k, 1)))
                for _ in range(trials):
                    found = compare_all(world(random, n, k) + ahead, flips=FLIPS)
                    held += ((found.low <= true + 1e-12) & (true <= found.high + 1e-12)).all()
                cells.append(with_error(held / trials, trials))
            print(f"| {world.__name__} | {k} | {' | '.join(cells)} |", flush=True)


def holm(p):
    """Return p-values adjusted after Holm."""
    order, adjusted = np.argsort(p), np.empty(len(p))
    adjusted[order] = np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p))))
    return adjusted


def power_table(trials):
    """Print how many of the true differences are found where Student's test is right, beside Holm on paired t."""
    from scipy import stats

    print("\n| detectors |" + "".join(f" n = {n} |" for n in UNITS) + "\n|---:|" + "---:|" * len(UNITS))
    for k in DETECTORS:
        cells = []
        first, second = np.triu_indices(k, 1)
        real = (first < k // 2) & (second >= k // 2)
        for n in UNITS:
            random, found = np.random.default_rng(n), np.zeros(2)
            for _ in range(trials):
                values = random.normal(size=(n, k)) + np.where(np.arange(k) < k // 2, 4 * np.sqrt(2 / n), 0)
                usual = stats.ttest_rel(values[:, first], values[:, second]).pvalue
                found += [(p[real] <= LEVEL).mean() for p in (compare_all(values, flips=FLIPS).p, holm(usual))]
            ours, theirs = found / trials
            cells.append(f"{percent(ours)}, {percent(theirs)}, {ours / theirs:.2f}")
        print(f"| {k} | {' | '.join(cells)} |", flush=True)


def correlated_table(trials):
    """Print what happens where units are not independent: autoregressive series of units, one detector's mean."""
    print("\n| correlation of neighbours |" + "".join(f" n = {n} |" for n in UNITS) + "\n|---:|" + "---:|" * len(UNITS))
    for correlation in (0.0, 0.5, 0.8):
        cells = []
        for n in UNITS:
            random = np.random.default_rng(n)
            steps = random.normal(size=(n, trials))
            for i in range(1, n):
                steps[i] = correlation * steps[i - 1] + np.sqrt(1 - correlation**2) * steps[i]
            low, high = mean_intervals(0.6 + 0.1 * steps)
            covered = float(((low <= 0.6) & (high >= 0.6)).mean())
            pairs = [
                compare_all(np.column_stack([column, np.zeros(n)]), flips=FLIPS) for column in steps.T[: trials // 4]
            ]
            wrong = float(np.mean([pair.p[0] <= LEVEL for pair in pairs]))
            cells.append(f"{with_error(covered, trials)}; {with_error(wrong, len(pairs))}")
        print(f"| {correlation:g} | {' | '.join(cells)} |", flush=True)


def times():
    """Print how long the two sizes of the specification take."""
    random = np.random.default_rng(0)
    for n, k in ((50, 5), (10_000, 50)):
        table = {f"d{i}": column for i, column in enumerate(random.random((k, n)))}
        took = []
        for _ in range(3):
            start = perf_counter()
            dqeval.rank(table)
            took.append(perf_counter() - start)
        print(f"\n{n:,} units × {k} detectors: {1000 * min(took):,.0f} ms (the fastest of three)", flush=True)


def main():
    """Print all tables."""
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    print(f"{trials:,} trials, 95 % level; rates in percent with their standard error\n")
    print("Equal detectors, any two told apart:\n")
    error_table(trials)
    print("\nIntervals of one mean, held, and width beside Student's:")
    coverage_table(trials)
    print("\nIntervals of all differences, held together:")
    simultaneous_table(max(trials // 4, 1))
    print("\nTrue differences found: dqeval, Holm on paired t, ratio:")
    power_table(max(trials // 4, 1))
    print("\nUnits that are not independent: intervals of one mean held; two equal detectors told apart:")
    correlated_table(trials)
    times()


if __name__ == "__main__":
    main()
