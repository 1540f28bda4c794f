"""DQE as slow, plain Python: one function an equation, written from the definition and used as the specification.

Positions are exact fractions, so that nothing here depends on the order of additions; floats appear where the
definition itself asks for them (the bin edges of ``numpy.linspace``, logarithms, the square root). Nothing here is
shared with the package.
"""

import math
from collections import Counter
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import pairwise
from zoneinfo import ZoneInfo

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


def log_ranks(scores):
    """Return the logarithm of how few points score at least as much, scaled to [0, 1]; constant scores become zeros."""
    n = len(scores)
    return scaled([math.log(n / sum(other >= score for other in scores)) for score in scores])


def period(values, rank=1):
    """Return the period: the highest strict local maximum of the autocorrelation, or 125.

    In whole numbers, so that equal is equal: values times a power of two, and times their count, for the mean.
    """
    ratios = [float(v).as_integer_ratio() for v in values[:20000]]
    unit = max(below for _, below in ratios)
    x = [len(ratios) * above * (unit // below) for above, below in ratios]
    mean = sum(x) // len(x)
    x = [v - mean for v in x]
    longest = min(400, len(x) - 1)
    correlation = [sum(x[t] * x[t + lag] for t in range(len(x) - lag)) for lag in range(longest + 1)]
    peaks = [
        lag
        for lag in range(4, longest)
        if correlation[lag] > correlation[lag - 1] and correlation[lag] > correlation[lag + 1]
    ]
    if not peaks:
        return 125
    best = max(peaks, key=lambda lag: (correlation[lag], -lag))
    longer = [lag for lag in peaks if lag > best]
    if rank == 2 and longer:
        best = max(longer, key=lambda lag: (correlation[lag], -lag))
    return best if 6 <= best <= 303 else 125


def is_period(values, lag):
    """Tell whether a series has a cycle of a length: its autocorrelation falls, rises by 0.1, falls and rises again."""
    x = [v - sum(values) / len(values) for v in values]
    power = sum(v * v for v in x)
    correlation = [sum(x[t] * x[t + k] for t in range(len(x) - k)) / power for k in range(len(x))]
    room = max(round(lag / 10), 1)
    again = correlation[2 * lag - room : 2 * lag + room + 1]
    rise = correlation[lag] - min(correlation[1:lag])
    return rise >= 0.1 and len(again) > 0 and max(again) - min(correlation[lag : 2 * lag]) >= 0.1 * rise


# The baselines. Labels, detections and scores are sequences; runs here are inclusive pairs of indices.


def runs(flags):
    """Return the maximal runs of ones as pairs (first, last)."""
    return [(int(start), int(stop) - 1) for start, stop in events(flags)]


def harmonic_mean(precision, recall):
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0


def point_counts(labels, detections):
    tp = sum(1 for y, d in zip(labels, detections, strict=True) if y and d)
    return tp, sum(map(bool, detections)) - tp, sum(map(bool, labels)) - tp


def point_precision_recall(labels, detections):
    tp, fp, fn = point_counts(labels, detections)
    return (tp / (tp + fp) if tp + fp else 0.0), (tp / (tp + fn) if tp + fn else 0.0)


def point_f1(labels, detections):
    return harmonic_mean(*point_precision_recall(labels, detections))


def best_point_f1(labels, scores):
    return max(point_f1(labels, [s >= v for s in scores]) for v in set(scores))


def auc_roc(labels, scores):
    """Return the chance that an anomalous point scores above a normal one, ties counting half."""
    positive = [s for y, s in zip(labels, scores, strict=True) if y]
    negative = [s for y, s in zip(labels, scores, strict=True) if not y]
    wins = sum((p > q) + 0.5 * (p == q) for p in positive for q in negative)
    return wins / (len(positive) * len(negative))


def auc_pr(labels, scores):
    area, recall = 0.0, 0.0
    for v in sorted(set(scores), reverse=True):
        precision, new_recall = point_precision_recall(labels, [s >= v for s in scores])
        area += (new_recall - recall) * precision
        recall = new_recall
    return area


def reaches(share, cutoff):
    """Tell whether a share, an exact fraction, is at least one of the numbers that a cut-off, a float, stands for.

    These are the numbers to which no float is nearer. At the lowest of them, half-way to the next float below, the one
    with the even last digit stands for it.
    """
    below = math.nextafter(cutoff, -math.inf)
    lowest = (Fraction(cutoff) + Fraction(below)) / 2
    even = cutoff.hex().partition("p")[0][-1] in "02468ace"
    return share > lowest or (share == lowest and even)


def adjusted(labels, detections, k=0.0):
    """Return the detections with every event filled of which a share of at least k, and one point, is detected."""
    filled = [bool(d) for d in detections]
    for a, b in runs(labels):
        found = sum(map(bool, detections[a : b + 1]))
        if found >= 1 and reaches(Fraction(found, b - a + 1), k):
            filled[a : b + 1] = [True] * (b - a + 1)
    return filled


def point_adjusted_f1(labels, detections):
    return point_f1(labels, adjusted(labels, detections))


def point_adjusted_k_f1(labels, detections, k=0.2):
    return point_f1(labels, adjusted(labels, detections, k))


def range_coverage(ranges, others, alpha):
    total = 0.0
    for a, b in ranges:
        shared = [min(b, d) - max(a, c) + 1 for c, d in others if c <= b and d >= a]
        if shared:
            total += alpha + (1 - alpha) * sum(shared) / (b - a + 1) / len(shared)
    return total / len(ranges) if ranges else 0.0


def range_precision_recall(labels, detections, alpha=0.2):
    return range_coverage(runs(detections), runs(labels), 0.0), range_coverage(runs(labels), runs(detections), alpha)


def range_f1(labels, detections, alpha=0.2):
    return harmonic_mean(*range_precision_recall(labels, detections, alpha))


def overlap_matrix(anomalies, found):
    return [[max(0, min(b, d) - max(a, c) + 1) for c, d in found] for a, b in anomalies]


def run_length(run):
    return run[1] - run[0] + 1


def covered_shares(overlap, ranges):
    """Return, for the rows of an overlap matrix, the share of each range that is covered."""
    return [Fraction(sum(row), run_length(r)) for row, r in zip(overlap, ranges, strict=True)]


def pruned_overlap(anomalies, found, theta_p, theta_r):
    """Return the overlaps, without those too small for their anomaly or their detection, until nothing changes."""
    overlap = overlap_matrix(anomalies, found)
    changed = True
    while changed:
        changed = False
        for i, rho in enumerate(covered_shares(overlap, anomalies)):
            if rho > 0 and not reaches(rho, theta_r):
                overlap[i], changed = [0] * len(found), True
        for j, pi in enumerate(covered_shares(transposed(overlap), found)):
            if pi > 0 and not reaches(pi, theta_p):
                changed = True
                for row in overlap:
                    row[j] = 0
    return overlap


def transposed(matrix):
    return [list(column) for column in zip(*matrix, strict=True)]


def etapr_precision_recall(labels, detections, theta_p=0.5, theta_r=0.01):
    anomalies, found = runs(labels), runs(detections)
    if not found:
        return 0.0, 0.0
    overlap = pruned_overlap(anomalies, found, theta_p, theta_r)
    recalls = [(1 + rho) / 2 if reaches(rho, theta_r) else 0 for rho in covered_shares(overlap, anomalies)]
    weights = [math.sqrt(run_length(d)) for d in found]
    shares = covered_shares(transposed(overlap), found)
    precisions = [w * (1 + pi) / 2 if reaches(pi, theta_p) else 0 for w, pi in zip(weights, shares, strict=True)]
    return sum(precisions) / sum(weights), float(sum(recalls) / len(recalls))


def etapr_f1(labels, detections, theta_p=0.5, theta_r=0.01):
    return harmonic_mean(*etapr_precision_recall(labels, detections, theta_p, theta_r))


def ambiguous_zones(anomalies, delta):
    """Return the zone behind each anomaly as (start, end), both inclusive, or None where it is void."""
    zones = []
    for i, (_, b) in enumerate(anomalies):
        start, end = b + 1, b + 1 + delta
        if i + 1 < len(anomalies) and end > anomalies[i + 1][0]:
            end = anomalies[i + 1][0] - 1
        zones.append((start, end) if start < end else None)
    return zones


def tapr_overlap(anomaly, zone, found):
    """Return how many points of the anomaly are found, and where in the zone behind it, from -1 to 1, points are."""
    (a, b), (c, d) = anomaly, found
    points = max(0, min(b, d) - max(a, c) + 1)
    if zone is None:
        return points, []
    s, e = zone
    return points, [Fraction(2 * (t - s) - (e - s), e - s) for t in range(s, e + 1) if c <= t <= d]


def tapr_share(overlaps, length):
    """Return the covered share, a fraction where it is one; a point of a zone at x counts 1 / (1 + exp(6 x)).

    Points at x and -x count 1 together, and one at 0 a half. What then is left is no fraction: the exponential of a
    fraction is transcendental.
    """
    points, places = sum(points for points, _ in overlaps), Counter(x for _, places in overlaps for x in places)
    pairs = sum((min(places[x], places[-x]) for x in places if x > 0), Fraction(places[Fraction(0)], 2))
    left = {x: places[x] - min(places[x], places[-x]) for x in places if x != 0}
    share = (points + pairs) / length
    if any(left.values()):
        return float(share) + math.fsum(count / (1 + math.exp(6 * x)) for x, count in left.items()) / length
    return share


def tapr_precision_recall(labels, detections, alpha=0.5, theta=0.5, delta=0):
    anomalies, found = runs(labels), runs(detections)
    if not found:
        return 0.0, 0.0
    zones = ambiguous_zones(anomalies, delta)
    overlap = [[tapr_overlap(a, z, d) for d in found] for a, z in zip(anomalies, zones, strict=True)]
    r = [min(1, tapr_share(row, run_length(a))) for row, a in zip(overlap, anomalies, strict=True)]
    c = [tapr_share(column, run_length(d)) for column, d in zip(transposed(overlap), found, strict=True)]
    return tapr_score(c, alpha, theta), tapr_score(r, alpha, theta)


def tapr_score(shares, alpha, theta):
    """Return alpha for the share of events that are detected, and the rest for how much of them is."""
    detected = sum(reaches(Fraction(share), theta) for share in shares)
    return float(alpha * detected / len(shares) + (1 - alpha) * float(sum(shares)) / len(shares))


def tapr_f1(labels, detections, alpha=0.5, theta=0.5, delta=0):
    return harmonic_mean(*tapr_precision_recall(labels, detections, alpha, theta, delta))


def integral_of_steps(function, low, high, breaks):
    """Integrate a function that is linear between the breaks, by the midpoint rule."""
    points = sorted({low, high, *(x for x in breaks if low < x < high)})
    return sum((b - a) * function((a + b) / 2) for a, b in pairwise(points))


def affiliation_zone(anomaly, zone, found):
    """Return precision (None without a detection) and recall of one zone, in exact fractions."""
    (a, b), (u, v) = anomaly, zone
    inside = parts(found, zone)
    if not inside:
        return None, Fraction(0)
    size, mu = v - u, min(a - u, v - b)

    def survival(x):
        if a <= x <= b:
            return Fraction(1)
        d = max(a - x, x - b)
        return 1 - ((b - a) + d + min(d, mu)) / size

    def recall_at(y):
        if any(c <= y <= d for c, d in inside):
            return Fraction(1)
        delta = min(min(abs(y - c), abs(y - d)) for c, d in inside)
        return 1 - (delta + min(delta, y - u, v - y)) / size

    precision = sum(integral_of_steps(survival, c, d, [a, b, a - mu, b + mu]) for c, d in inside) / total_duration(
        inside
    )
    borders = [x for piece in inside for x in piece]
    middles = [(d + c) / 2 for (_, d), (c, _) in pairwise(inside)]
    breaks = [*borders, *middles, (u + v) / 2, *((w + x) / 2 for w in (u, v) for x in borders)]
    return precision, integral_of_steps(recall_at, a, b, breaks) / (b - a)


def affiliation_precision_recall(labels, detections):
    anomalies, found = events(labels), events(detections)
    zones = [local_region(anomalies, i, len(labels)) for i in range(len(anomalies))]
    scored = [affiliation_zone(a, z, found) for a, z in zip(anomalies, zones, strict=True)]
    precisions = [p for p, _ in scored if p is not None]
    if not precisions:
        return 0.0, 0.0
    return float(sum(precisions) / len(precisions)), float(sum(r for _, r in scored) / len(scored))


def affiliation_f1(labels, detections):
    return harmonic_mean(*affiliation_precision_recall(labels, detections))


def pate_counts(labels, detections, early, late):
    """Return the weighted true positives, false positives and false negatives of PATE."""
    anomalies, n = runs(labels), len(labels)
    ends = [
        min(b + late, anomalies[i + 1][0] - 1 if i + 1 < len(anomalies) else n - 1)
        for i, (a, b) in enumerate(anomalies)
    ]
    begins = [max(0, a - early, ends[i - 1] + 1 if i else 0) for i, (a, b) in enumerate(anomalies)]
    tp = fn = 0.0
    for (a, b), begin, end in zip(anomalies, begins, ends, strict=True):
        inside, centre = detections[a : b + 1], (a + b) / 2
        tp += sum(map(bool, inside))
        tp += sum((end - x) / (end - centre) for x in range(b + 1, end + 1) if detections[x])
        if any(inside):
            tp += sum((x - begin) / (centre - begin) for x in range(begin, a) if detections[x])
        fn += pate_missed(inside)
    return tp, sum(map(bool, detections)) - tp, fn


def pate_missed(inside):
    m = len(inside)
    if not any(inside):
        return m
    first, last = runs(inside)[0]
    f = last - first + 1
    return sum(
        1 if t <= f else 1 - (f + 1) * (t - f / 2) / (m * (m - 1) / 2) for t, found in enumerate(inside) if not found
    )


def pate_precision_recall(labels, detections, early, late):
    tp, fp, fn = pate_counts(labels, detections, early, late)
    return (tp / (tp + fp) if tp + fp > 0 else 0.0), (tp / (tp + fn) if tp + fn > 0 else 0.0)


def pate_f1(labels, detections, early, late):
    return harmonic_mean(*pate_precision_recall(labels, detections, early, late))


def pate_thresholds(labels, scores, count):
    distinct = sorted(set(scores), reverse=True)
    tp = [sum(1 for y, s in zip(labels, scores, strict=True) if y and s >= v) for v in distinct]
    last = len(distinct) - 1
    kept = [
        v for j, v in enumerate(distinct) if last < 2 or j in (0, last) or tp[j] != tp[j - 1] or tp[j + 1] != tp[j]
    ][::-1]
    step, thresholds = -100 / (count - 1), []
    for k in range(count):
        percent = 100 + k * step if k < count - 1 else 0.0
        y = (len(kept) - 1) * (percent / 100)
        i = math.floor(y)
        gamma, low, high = y - i, kept[i], kept[min(i + 1, len(kept) - 1)]
        thresholds.append(low + (high - low) * gamma if gamma < 0.5 else high - (high - low) * (1 - gamma))
    return thresholds


def pate(labels, scores, early, late, thresholds=100):
    curve = [(0.0, 1.0)]
    for theta in pate_thresholds(labels, scores, thresholds):
        precision, recall = pate_precision_recall(labels, [s >= theta for s in scores], early, late)
        if recall >= curve[-1][0] - 1e-12:
            curve.append((recall, precision))
    return sum((r1 - r0) * (p0 + p1) / 2 for (r0, p0), (r1, p1) in pairwise(curve))


def soft_labels(labels, window):
    n, half = len(labels), window // 2
    x = [float(y) for y in labels]
    for a, b in runs(labels):
        for t in range(b + 1, min(b + half, n - 1) + 1):
            x[t] += math.sqrt(1 - (t - b) / window)
        for t in range(max(a - half, 0), a):
            x[t] += math.sqrt(1 - (a - t) / window)
    return [min(1.0, v) for v in x]


def vus_zones(labels, half):
    zones = []
    for a, b in runs(labels):
        if zones and zones[-1][1] >= a - half:
            zones[-1] = (zones[-1][0], b + half)
        else:
            zones.append((a - half, b + half))
    return [(max(a, 0), min(b, len(labels) - 1)) for a, b in zones]


def vus_areas(labels, scores, window, thresholds):
    """Return the areas under the ROC and the PR curve of one window."""
    n, positives = len(labels), sum(map(bool, labels))
    soft, zones = soft_labels(labels, window), vus_zones(labels, window // 2)
    ordered, step = sorted(scores, reverse=True), (n - 1) / (thresholds - 1)
    roc, area_pr, last = [(0.0, 0.0)], 0.0, 0.0
    for k in range(thresholds):
        theta = ordered[int(k * step) if k < thresholds - 1 else n - 1]
        found = [s >= theta for s in scores]
        hits = sum(1 for y, d in zip(labels, found, strict=True) if y and d)
        extension = sum(x for x, y, d in zip(soft, labels, found, strict=True) if d and not y)
        tp, effective = hits + extension, positives + extension / 2
        existence = sum(any(found[a : b + 1]) for a, b in zones) / len(zones)
        tpr = min(tp / effective, 1) * existence
        roc.append(((sum(found) - tp) / (n - effective), tpr))
        area_pr += (tpr - last) * tp / sum(found)
        last = tpr
    roc.append((1.0, 1.0))
    return sum((x1 - x0) * (y0 + y1) / 2 for (x0, y0), (x1, y1) in pairwise(roc)), area_pr


def vus(labels, scores, window, thresholds):
    """Return VUS-ROC and VUS-PR: means over the windows 0 to the largest."""
    areas = [vus_areas(labels, scores, w, thresholds) for w in range(window + 1)]
    return tuple(sum(column) / len(areas) for column in zip(*areas, strict=True))


def f_beta(precision, recall, beta):
    below = beta**2 * precision + recall
    return (1 + beta**2) * precision * recall / below if below else 0.0


def overlapping(run, others):
    """Return the runs that share a point with one."""
    return [other for other in others if run[0] <= other[1] and other[0] <= run[1]]


def composite_precision_recall(labels, detections):
    hit = [bool(overlapping(event, runs(detections))) for event in runs(labels)]
    return point_precision_recall(labels, detections)[0], sum(hit) / len(hit)


def event_precision_recall(labels, detections):
    anomalies, found = runs(labels), runs(detections)
    hit = sum(bool(overlapping(event, found)) for event in anomalies)
    false = sum(not overlapping(run, anomalies) for run in found)
    return (hit / (hit + false) if hit + false else 0.0), hit / len(anomalies)


def event_corrected(labels, detections):
    """Return corrected precision, recall, the true negative rate, and alarming precision, None where undefined."""
    precision, recall = event_precision_recall(labels, detections)
    normal = sum(not y for y in labels)
    specificity = 1 - point_counts(labels, detections)[1] / normal if normal else 1.0
    counts = [len(overlapping(event, runs(detections))) for event in runs(labels)]
    hit = sum(count > 0 for count in counts)
    alarming = hit / (hit + sum(max(0, count - 1) for count in counts)) if hit else None
    return precision * specificity, recall, specificity, alarming


def event_f(labels, detections, beta=1.0):
    return f_beta(*event_precision_recall(labels, detections), beta)


def event_corrected_f(labels, detections, beta=0.5):
    return f_beta(*event_corrected(labels, detections)[:2], beta)


def composite_f1(labels, detections):
    return harmonic_mean(*composite_precision_recall(labels, detections))


def revised_precision_recall(labels, detections, early=0, delay=None):
    zones = []
    for low, a, b in alarm_zones(labels, early, ()):
        zones.append(range(low, (b if delay is None else min(b, a + delay)) + 1))
    hit = sum(any(detections[t] for t in zone) for zone in zones)
    false = sum(bool(d) and not any(t in zone for zone in zones) for t, d in enumerate(detections))
    return (hit / (hit + false) if hit + false else 0.0), hit / len(zones)


def revised_f1(labels, detections, early=0, delay=None):
    return harmonic_mean(*revised_precision_recall(labels, detections, early, delay))


def delay_precision_recall(labels, detections, k=7):
    adjusted = list(detections)
    for a, b in runs(labels):
        adjusted[a : b + 1] = [any(detections[a : min(a + k, b) + 1])] * (b - a + 1)
    return point_precision_recall(labels, adjusted)


def delay_f1(labels, detections, k=7):
    return harmonic_mean(*delay_precision_recall(labels, detections, k))


def timing_quality(x, alpha, beta, c):
    if x == 0 and (alpha == 0 or beta == 0):
        return 1.0
    if x <= -alpha or x >= beta:
        return 0.0
    return ((x + alpha) / alpha) ** c if x <= 0 else 1 / (1 + (x / (beta - x)) ** c)


def adtqc_per_event(labels, detections, c=math.e):
    """Return quality and latency of each event, None of those that are missed."""
    found, before = [], None
    for a, b in runs(labels):
        alpha = b - a if before is None else min(b - a, a - before)
        touching = overlapping((a, b), runs(detections))
        x = touching[0][0] - a if touching else None
        found.append((timing_quality(x, alpha, b - a, c), x) if touching else None)
        before = a
    return found


def nab_probation(n, probation):
    return min(math.floor(probation * n), probation * 5000)


def nab_rule_windows(labels, probation):
    """Return the windows of the rule of ten percent, both ends inclusive."""
    n, anomalies = len(labels), runs(labels)
    half = math.trunc(0.1 * n / len(anomalies)) // 2
    windows = [(max(a - half, 0), min(a + half, n - 1)) for a, _ in anomalies]
    merged = []
    for left, right in (w for w in windows if w[0] >= nab_probation(n, probation)):
        if merged and left <= merged[-1][1]:
            merged[-1] = merged[-1][0], right
        else:
            merged.append((left, right))
    return merged


NAB_PROFILES = {"standard": (1.0, 1.0, 0.11), "reward_low_FP": (1.0, 1.0, 0.22), "reward_low_FN": (1.0, 2.0, 0.11)}


def nab_curve(y):
    return -1.0 if y > 3 else 2 / (1 + math.exp(5 * y)) - 1


def nab_raw(labels, detections, profile="standard", windows=None, probation=0.0):
    """Return the raw score and the number of windows; these are those of the labels if not given."""
    gain, miss, cost = NAB_PROFILES[profile]
    first = nab_probation(len(labels), probation)
    kept = [window for window in (runs(labels) if windows is None else windows) if window[1] >= first]
    hits, outside = {window: [] for window in kept}, 0.0
    for t in (t for t, d in enumerate(detections) if d and t >= first):
        inside = [w for w in kept if w[0] <= t <= w[1]]
        if inside:
            ((left, right),) = inside
            hits[left, right].append(gain * nab_curve(-(right - t + 1) / (right - left + 1)) / nab_curve(-1.0))
        else:
            before = [w for w in kept if w[1] < t]
            place = (t - before[-1][1]) / max(before[-1][1] - before[-1][0], 1) if before else None
            outside += cost * (-1.0 if place is None else nab_curve(place))
    return sum(max(weights) if weights else -miss for weights in hits.values()) + outside, len(kept)


def nab(labels, detections, profile="standard", windows=None, probation=0.0):
    gain, miss, _ = NAB_PROFILES[profile]
    raw, count = nab_raw(labels, detections, profile, windows, probation)
    return 100 * (raw + miss * count) / ((gain + miss) * count)


def ucr_hits(labels, scores, margin):
    """Return whether each point with the highest score is close enough to the only event."""
    ((a, b),) = runs(labels)
    return [a - margin <= t <= b + margin for t, s in enumerate(scores) if s == max(scores)]


def sweep_thresholds(scores):
    """Return the 100 thresholds of the sweep, ascending."""
    return [float(theta) for theta in np.linspace(min(scores), max(scores), 100)]


def best_of_sweep(metric, labels, scores, **parameters):
    """Return the best value of a metric of detections over the sweep; detected is what lies above a threshold."""
    return max(metric(labels, [s > theta for s in scores], **parameters) for theta in sweep_thresholds(scores))


# What operators ask for. At a break a new stretch begins, and nothing goes on across it; pairs are inclusive here, too.


def split_runs(flags, breaks):
    """Return the runs of ones, which end at breaks."""
    borders = [0, *breaks, len(flags)]
    return [(low + a, low + b) for low, high in pairwise(borders) for a, b in runs(flags[low:high])]


def alarm_zones(labels, early, breaks):
    """Return the points from which on an alarm counts for each event, and where the event starts and ends."""
    zones, taken = [], set()
    for a, b in split_runs(labels, breaks):
        low = a
        while low > 0 and a - low < early and low not in breaks and low - 1 not in taken:
            low -= 1
        taken |= set(range(a, b + 1))
        zones.append((low, a, b))
    return zones


def alarm_counts(labels, found, early, breaks):
    """Return how many events are detected, and how many alarms touch no zone."""
    zones = [range(low, b + 1) for low, _, b in alarm_zones(labels, early, breaks)]
    detected = sum(any(found[t] for t in zone) for zone in zones)
    free = [not any(t in zone for zone in zones for t in range(a, b + 1)) for a, b in split_runs(found, breaks)]
    return detected, sum(free)


def alarm_curve(labels, scores, early, breaks):
    """Return each distinct score, from the highest, with events detected, false alarms and points in alarm there."""
    rows = []
    for threshold in sorted(set(scores), reverse=True):
        found = [s >= threshold for s in scores]
        rows.append((threshold, *alarm_counts(labels, found, early, breaks), sum(found)))
    return rows


def threshold_within(labels, scores, early, breaks, most):
    """Return the highest score that detects the most events before there are too many false alarms; None if none."""
    best, most_detected = None, 0
    for threshold, detected, false, _ in alarm_curve(labels, scores, early, breaks):
        if false > most:
            break
        if detected > most_detected:
            best, most_detected = threshold, detected
    return best


# Samples on a clock: cells [t, t + resolution) from the first sample on, without those that were not observed.


def usual_step(times):
    """Return the median of the steps, of two in the middle the shorter; 1 where there is none."""
    steps = sorted(b - a for a, b in pairwise(times))
    return steps[(len(steps) - 1) // 2] if steps else 1


def cells_begin(times, resolution):
    """Return where the cell of the first sample begins, if no resolution is given.

    It is the place in a step that has no sample for the longest time before it.
    """
    phases = {(t - times[0]) % resolution for t in times}
    without = {p: min((p - q) % resolution or resolution for q in phases) for p in phases}
    begin = max(sorted(phases), key=without.get)
    return times[0] - (resolution - begin) % resolution


def observed_cells(times, resolution, max_gap, origin):
    """Return each cell that was observed, with the samples that stand for it: its own, or those of one before."""
    samples = {}
    for i, t in enumerate(times):
        samples.setdefault((t - origin) // resolution, []).append(i)
    found = []
    for cell in range(max(samples) + 1):
        before, after = max(c for c in samples if c <= cell), min(c for c in samples if c >= cell)
        if cell in samples or after - before - 1 <= max_gap:
            found.append((cell, samples[before]))
    return found


def highest_in_cells(cells, points):
    return [max(points[i] for i in samples) for _, samples in cells]


def stretches(cells):
    """Return the positions at which each stretch without a gap begins and ends."""
    begins = [k for k, (cell, _) in enumerate(cells) if k == 0 or cell != cells[k - 1][0] + 1]
    return list(pairwise([*begins, len(cells)]))


def in_stretches(score, labels, found, near, borders):
    """Return what DQE says of each stretch by itself, a row an event; a stretch without an event says nothing."""
    return np.concatenate([score(labels[a:b], found[a:b], near) for a, b in borders if any(labels[a:b])])


# Time zones


def universal_moments(local, timezone):
    """Return the moments, in nanoseconds since 1970, at which clocks of a time zone show a local time: none to two."""
    zone = ZoneInfo(timezone)
    shown = datetime(1970, 1, 1) + timedelta(microseconds=local // 1_000)
    found = set()
    for fold in (0, 1):
        moment = shown.replace(tzinfo=zone, fold=fold).astimezone(UTC)
        if moment.astimezone(zone).replace(tzinfo=None, fold=0) == shown:
            found.add((moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1) * 1_000 + local % 1_000)
    return sorted(found)


def windows_to_points(scores, window, n, how, stride=1):
    """Scores of points from scores of windows: the mean or the highest of all windows that hold a point."""
    held = [[s for i, s in enumerate(scores) if i * stride <= t < i * stride + window] for t in range(n)]
    return [max(some) if how == "max" else sum(some) / len(some) for some in held]


def moved_borders(anomalies, moves, breaks, length):
    """Return events with moved borders: each leaves a point in its stretch for every border before and behind it."""
    found = []
    for low, high in pairwise([0, *breaks, length]):
        inner = [i for i, (start, _) in enumerate(anomalies) if low <= start < high]
        wanted = [anomalies[i][side] + moves[2 * i + side] for i in inner for side in range(2)]
        last = low - 1
        for place, border in enumerate(wanted):
            last = max(min(border, high - (len(wanted) - 1 - place)), last + 1)
            found.append(last)
    return list(zip(found[0::2], found[1::2], strict=True))


def split_events(labels, missing, breaks):
    """Return labels without some in the middle of each event that is long enough to become two; None if none is."""
    found, any_split = list(labels), False
    for first, last in split_runs(labels, breaks):
        kept = last - first + 1 - missing
        if kept >= 2:
            any_split = True
            for t in range(first + kept // 2, first + kept // 2 + missing):
                found[t] = 0
    return found if any_split else None


def whole_parts(labels, size):
    """Return where a part of some size may begin, so that it has an event and something normal, and cuts no event."""
    found = []
    for start in range(len(labels) - size + 1):
        stop = start + size
        cuts_first = start > 0 and labels[start - 1] and labels[start : start + 1] == [1]
        cuts_last = 0 < stop < len(labels) and labels[stop - 1] and labels[stop]
        part = labels[start:stop]
        if not cuts_first and not cuts_last and 1 in part and 0 in part:
            found.append(start)
    return found


def late_scores(labels, scores, late, breaks):
    """Return scores that are, in the first points of each event, what they were before it, or the lowest of all."""
    found = list(scores)
    for first, last in split_runs(labels, breaks):
        before = min(scores) if first == 0 or first in breaks else scores[first - 1]
        for t in range(first, last + 1):
            if t - first < late:
                found[t] = before
    return found


def kendall_tau(one, other):
    """Return Kendall's tau-b between two rows of numbers, pair by pair; NaN where all numbers of one are equal."""
    pairs = [(i, j) for i in range(len(one)) for j in range(i)]
    signs = [[int(row[i] > row[j]) - int(row[i] < row[j]) for i, j in pairs] for row in (one, other)]
    both = sum(a * b for a, b in zip(*signs, strict=True))
    norm = math.sqrt(sum(a * a for a in signs[0]) * sum(b * b for b in signs[1]))
    return both / norm if norm else math.nan
