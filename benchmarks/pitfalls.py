"""How often the warnings about DQE are right: against measurements with all thresholds, on columns of real scores.

python -m benchmarks.pitfalls SCORES.npz

The file has, for each column, NAME/data, NAME/label and NAME/score. The scale and single scores are measured with all
thresholds, event heights by counting at 1,000 thresholds, and wrong points by trying all within ten points of an event,
at the suggested threshold and over all thresholds.
"""

import sys

import numpy as np

import dqeval
from dqeval.analysis import pitfalls
from dqeval.core.near import near_of
from dqeval.core.prepared import Labelled
from dqeval.core.scaling import min_max
from dqeval.core.types import Series
from dqeval.render.tables import percent

KINDS = ("scale", "lone score", "event heights", "wrong point")
AROUND = 10  # points


def exact(labels, scores, near):
    """Return DQE over all thresholds."""
    return dqeval.dqe_score(labels, scores, near=near, thresholds="exact")


def is_scale(labels, scores, near, threshold):
    """Whether another scale moves DQE by more than 0.1."""
    changed = (np.sqrt(scores), np.square(scores), np.minimum(scores, np.percentile(scores, 99.9)))
    return max(abs(exact(labels, s, near) - exact(labels, scores, near)) for s in changed) > 0.1


def is_lone_score(labels, scores, near, threshold):
    """Whether DQE rises by more than 0.1 if the highest score is as low as the next one."""
    lowered = scores.copy()
    lowered[np.argmax(scores)] = np.sort(scores)[-2]
    return exact(labels, lowered, near) - exact(labels, scores, near) > 0.1


def is_event_heights(labels, scores, near, threshold):
    """Whether most of 1,000 thresholds capture less than half of the events, and some events at twice as many."""
    heights = np.array([scores[start:stop].max() for start, stop in Labelled(labels).events])
    captured = heights[:, None] >= np.linspace(0.001, 1, 1000)
    shares = captured.mean(axis=1)
    return bool((captured.mean(axis=0) < 0.5).mean() > 0.7 and shares.max() > 2 * np.sort(shares)[len(shares) // 2])


def is_wrong_point(labels, scores, near, threshold):
    """Whether any point near an event raises its DQE, detected at the suggested threshold, or as high as the event."""
    return raises_at(labels, scores >= threshold, near) or raises_over_all(labels, scores, near)


def raises_over_all(labels, scores, near):
    """Whether any point near an event, as high as the event, raises its DQE over 100 thresholds by more than 0.1."""
    before = dqeval.evaluate(labels, scores, near=near, scale="none").per_event
    for i, (start, stop) in enumerate(Labelled(labels).events):
        for point in (*range(max(start - AROUND, 0), start), *range(stop, min(stop + AROUND, len(labels)))):
            more = scores.copy()
            more[point] = max(more[point], scores[start:stop].max())
            if dqeval.evaluate(labels, more, near=near, scale="none").per_event[i].dqe > before[i].dqe + 0.1:
                return True
    return False


def raises_at(labels, detections, near):
    """Whether any point near an event that is captured raises its DQE."""
    before = dqeval.evaluate_detections(labels, detections, near=near).per_event
    for i, (start, stop) in enumerate(Labelled(labels).events):
        if not detections[start:stop].any():
            continue
        for point in (*range(max(start - AROUND, 0), start), *range(stop, min(stop + AROUND, len(labels)))):
            more = detections.copy()
            more[point] = True
            if dqeval.evaluate_detections(labels, more, near=near).per_event[i].dqe > before[i].dqe + 0.005:
                return True
    return False


MEASURED = dict(zip(KINDS, (is_scale, is_lone_score, is_event_heights, is_wrong_point), strict=True))


def columns(path):
    """Yield values, labels and scores of each column."""
    with np.load(path) as file:
        for name in sorted({key.rpartition("/")[0] for key in file.files}):
            yield (*(file[f"{name}/{part}"].astype(float) for part in ("data", "label", "score")),)


def compare(path):
    """Return warned and measured, for each column and kind."""
    for values, labels, raw in columns(path):
        near = near_of(Series("", labels, {}, values), labels.astype(bool)).points
        warned = {found.kind for found in pitfalls.of_scores(Labelled(labels.astype(bool)).scored(raw), near)}
        explained = dqeval.explain(labels, raw, near=near)
        threshold = (explained.threshold - raw.min()) / (raw.max() - raw.min())
        scores = min_max(raw)
        yield {k: (k in warned, is_so(labels.astype(bool), scores, near, threshold)) for k, is_so in MEASURED.items()}


def main(path):
    """Print the table."""
    found = list(compare(path))
    print(f"{len(found)} columns\n")
    print("| warning | measured | warned | precision | recall |\n|---|---:|---:|---:|---:|")
    for kind in KINDS:
        warned, measured = (np.array([row[kind][i] for row in found]) for i in (0, 1))
        both = (warned & measured).sum()
        precision, recall = (percent(both / max(n, 1)) for n in (warned.sum(), measured.sum()))
        print(f"| {kind} | {measured.sum()} | {warned.sum()} | {precision} | {recall} |")


if __name__ == "__main__":
    main(sys.argv[1]) if len(sys.argv) == 2 and not sys.argv[1].startswith("-") else print(__doc__)
