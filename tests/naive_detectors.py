"""Detectors as slow, plain Python, written from their definitions. Nothing here is shared with the package."""

import cmath
import math
from itertools import pairwise
from statistics import fmean, median, pstdev


def standardised(values):
    """Return the values in standard units; zeros if they are constant."""
    if min(values) == max(values):
        return [0.0] * len(values)
    mean, deviation = fmean(values), pstdev(values)
    return [(value - mean) / deviation for value in values]


def median_distance(values):
    z = standardised(values)
    return [abs(value - median(z)) for value in z]


def absolute_difference(values):
    z = standardised(values)
    return [0.0, *(abs(later - earlier) for earlier, later in pairwise(z))]


def moving_z_score(values, *, window):
    z = standardised(values)
    scores = [0.0] * window
    for t in range(window, len(z)):
        before = z[t - window : t]
        scores.append(abs(z[t] - fmean(before)) / max(pstdev(before), 0.01))
    return scores


def transform(values):
    """Return the discrete Fourier transform."""
    n = len(values)
    turns = [cmath.exp(-2j * math.pi * k / n) for k in range(n)]
    return [sum(value * turns[f * t % n] for t, value in enumerate(values)) for f in range(n)]


def inverse(spectrum):
    n = len(spectrum)
    return [value.conjugate() / n for value in transform([value.conjugate() for value in spectrum])]


def fft(values, *, variant):
    n, z = len(values), standardised(values)
    if variant == "published":
        residual = [0.0 if t < 5 else abs(z[t]) for t in range(n)]
    else:
        kept = [value if min(f, n - f) < 5 else 0.0 for f, value in enumerate(transform(z))]
        residual = [abs(z[t] - value) for t, value in enumerate(inverse(kept))]
    mean = fmean(residual)
    candidates = [t for t in range(n) if residual[t] > mean + 1e-10]
    if not candidates:
        return [0.0] * n
    off = [z[t] - fmean(z[max(t - 10, 0) : t + 11]) for t in candidates]
    deviations = {t: (u - fmean(off)) / (pstdev(off) + 1e-6) for t, u in zip(candidates, off, strict=True)}
    chains = []
    for t in [t for t in candidates if abs(deviations[t]) > 0.6]:
        if chains and t - chains[-1][-1] <= 10:
            chains[-1].append(t)
        else:
            chains.append([t])
    scores = [0.0] * n
    for chain in chains:
        if len(chain) > 1:
            for t in range(chain[0], chain[-1] + 1):
                scores[t] = fmean(abs(deviations[i]) for i in chain)
    return scores


def sr(values, *, variant):
    n, low, high = len(values), min(values), max(values)
    if low == high:
        return [0.0] * n
    scaled = [(value - low) / (high - low) for value in values]
    spectrum = transform(scaled)
    level = [math.log(max(abs(value), 1e-12)) for value in spectrum]
    half = level[1 : 1 + math.ceil((n - 1) / 2)]
    first, last = (half[0], half[-1]) if variant == "corrected" else (scaled[0], scaled[-1])
    padded = [first] * 49 + half + [last] * 50
    average = [fmean(padded[f : f + 100]) for f in range(len(half))]
    mirrored = average[::-1] if n % 2 else average[-2::-1]
    smooth = [level[0], *average, *mirrored]
    residual = [cmath.rect(math.exp(a - m), cmath.phase(f)) for a, m, f in zip(level, smooth, spectrum, strict=True)]
    return [abs(value) for value in inverse(residual)]


def column_points(values, window):
    """Return the windows, each place in standard units over all windows."""
    m = len(values) - window + 1
    columns = [standardised(values[j : j + m]) for j in range(window)]
    return [list(row) for row in zip(*columns, strict=True)]


def window_points(values, window):
    """Return the windows, each in standard units of its own, by the sample standard deviation."""
    factor = math.sqrt((window - 1) / window)
    rows = [values[i : i + window] for i in range(len(values) - window + 1)]
    return [[factor * value for value in standardised(row)] for row in rows]


def neighbours(points, count):
    """Return for each point the others from near to far, as pairs of distance and index, cut at a count."""
    every = [[(math.dist(a, b), j) for j, b in enumerate(points) if j != i] for i, a in enumerate(points)]
    return [sorted(pairs)[:count] for pairs in every]


def local_outlier_factors(points, count):
    near = neighbours(points, min(count, len(points) - 1))
    density = [1 / (fmean(max(near[b][-1][0], d) for d, b in pairs) + 1e-10) for pairs in near]
    return [fmean(density[b] for _, b in pairs) / density[a] for a, pairs in enumerate(near)]


def sub_lof(values, *, window, neighbours, normalise):
    points = column_points(values, window) if normalise == "columns" else window_points(values, window)
    factors = local_outlier_factors(points, neighbours)
    before = math.ceil((window - 1) / 2)
    return [factors[0]] * before + factors + [factors[-1]] * (window - 1 - before)


def mean_over_windows(scores, window):
    """Return for each point the mean over the windows that hold it."""
    points = range(len(scores) + window - 1)
    return [fmean(score for i, score in enumerate(scores) if i <= t < i + window) for t in points]
