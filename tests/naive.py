"""DQE as slow, plain Python: one function an equation, written from the definition and used as the specification.

Positions are exact fractions, so that nothing here depends on the order of additions; floats appear where the
definition itself asks for them (the bin edges of ``numpy.linspace``, logarithms, the square root). Nothing here is
shared with the package.
"""

import math
from fractions import Fraction

import numpy as np

Interval = tuple[Fraction, Fraction]


def events(labels):
    """Return the maximal runs of ones as half-open pairs."""
    found, start = [], None
    for t, label in enumerate([*labels, 0]):
        if label and start is None:
            start = t
        if not label and start is not None:
            found.append((Fraction(start), Fraction(t)))
            start = None
    return found


def local_region(anomalies, i, length) -> Interval:
    """Return the local region of anomaly i: up to the midpoints between it and its neighbours, or the series' ends."""
    start, stop = anomalies[i]
    left = (anomalies[i - 1][1] + start) / 2 if i > 0 else Fraction(0)
    right = (stop + anomalies[i + 1][0]) / 2 if i + 1 < len(anomalies) else Fraction(length)
    return left, right


def pieces(anomaly, region, near):
    """Return the five pieces of a local region in time order, by name."""
    (start, stop), (left, right) = anomaly, region
    near_left = max(start - near, left)
    near_right = min(stop + near, right)
    return {
        "alarm_early": (left, near_left),
        "near_early": (near_left, start),
        "capture": (start, stop),
        "near_late": (stop, near_right),
        "alarm_late": (near_right, right),
    }


def parts(detections, piece):
    """Return what of each detection lies in the piece."""
    low, high = piece
    cut = [(max(a, low), min(b, high)) for a, b in detections]
    return [(a, b) for a, b in cut if a < b]


def closest_response(early, late, anomaly):
    start, stop = anomaly
    return min([start - b for a, b in early] + [a - stop for a, b in late])


def mean_distance(early, late, anomaly):
    start, stop = anomaly
    distances = [start - (a + b) / 2 for a, b in early] + [(a + b) / 2 - stop for a, b in late]
    return sum(distances) / len(distances)


def total_duration(found):
    return sum((b - a for a, b in found), Fraction(0))


def near_miss_quality(early, late, anomaly, near):
    if not early and not late:
        return 1.0
    eta = closest_response(early, late, anomaly)
    xi = mean_distance(early, late, anomaly)
    zeta = total_duration(early + late)
    return float(max(0, 1 - eta / near) * max(0, 1 - xi / near) * max(0, 1 - zeta / (2 * near)))


def false_alarm_burden(found, room):
    return float(max(Fraction(0), 1 - total_duration(found) / (room / 2)))


def randomness_coefficient(early, late, before, behind, near_left, near_right):
    """Return alpha = 1 - S_r: from the number of bins that hold the middle of a part."""
    room = before + behind
    if room <= 1:
        return 1.0
    bins = math.ceil(room)
    middles = [float((a + b) / 2 - near_left) for a, b in early] + [float((a + b) / 2 - near_right) for a, b in late]
    edges = np.linspace(-float(before), float(behind), bins + 1)
    occupied = {min(max(int(np.searchsorted(edges, m, side="right")) - 1, 0), bins - 1) for m in middles}
    return 1 - math.log2(len(occupied)) / math.log2(bins)


def false_alarm_quality(early, late, piece_early, piece_late):
    if not early and not late:
        return 1.0
    before, behind = piece_early[1] - piece_early[0], piece_late[1] - piece_late[0]
    alpha = randomness_coefficient(early, late, before, behind, piece_early[1], piece_late[0])
    return alpha * false_alarm_burden(early + late, before + behind)


def local_scores(detections, anomaly, region, near):
    """Return SDQE_local and S_cap, S_nm, S_fa of one anomaly at one threshold."""
    cut = pieces(anomaly, region, near)
    found = {name: parts(detections, piece) for name, piece in cut.items()}
    captured = bool(found["capture"])
    near_missed = bool(found["near_early"] or found["near_late"])
    alarmed = bool(found["alarm_early"] or found["alarm_late"])

    s_cap = 1.0 if captured else 0.0
    s_nm = near_miss_quality(found["near_early"], found["near_late"], anomaly, near)
    s_fa = false_alarm_quality(found["alarm_early"], found["alarm_late"], cut["alarm_early"], cut["alarm_late"])
    if not near_missed and (not captured or alarmed):
        s_nm = 0.0
    if not captured and not near_missed and not alarmed:
        s_fa = 0.0
    return math.sqrt((s_cap + s_nm) / 2 * s_fa), s_cap, s_nm, s_fa


def detections_scores(labels, detections, near):
    """Return for each anomaly SDQE_local and its three parts, as an array with a row an anomaly."""
    anomalies, near = events(labels), Fraction(near)
    found = events(detections)
    return np.array(
        [
            local_scores(found, anomaly, local_region(anomalies, i, len(labels)), near)
            for i, anomaly in enumerate(anomalies)
        ]
    )


def sampled(labels, scores, near, thresholds=100):
    """Return DQE_local and its parts for each anomaly: the mean over the thresholds 1, ..., 1/M; scores in [0, 1]."""
    grid = np.linspace(1, 0, thresholds + 1)[:-1]
    return np.mean([detections_scores(labels, [s >= theta for s in scores], near) for theta in grid], axis=0)


def exact(labels, scores, near):
    """Return the integral over all thresholds in (0, 1]: between two scores that follow each other nothing changes."""
    total, below = np.zeros((len(events(labels)), 4)), 0.0
    for theta in sorted({float(s) for s in scores if s > 0}):
        total += (theta - below) * detections_scores(labels, [s >= theta for s in scores], near)
        below = theta
    return total


def scaled(scores):
    """Return the scores min-max scaled to [0, 1]; constant scores become zeros."""
    low, high = min(scores), max(scores)
    return [(s - low) / (high - low) if high > low else 0.0 for s in scores]


def period(values):
    """Return the period: the highest strict local maximum of the autocorrelation, or 125."""
    x = [float(v) for v in values[:20000]]
    mean = math.fsum(x) / len(x)
    x = [v - mean for v in x]
    longest = min(400, len(x) - 1)
    correlation = [math.fsum(x[t] * x[t + lag] for t in range(len(x) - lag)) for lag in range(longest + 1)]
    peaks = [
        lag
        for lag in range(4, longest)
        if correlation[lag] > correlation[lag - 1] and correlation[lag] > correlation[lag + 1]
    ]
    if not peaks or min(x) == max(x):
        return 125
    best = max(peaks, key=lambda lag: (correlation[lag], -lag))
    return best if 6 <= best <= 303 else 125
