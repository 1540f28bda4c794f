"""What the scale of the scores does to DQE and to DQE-LR, over many series and detectors.

python -m benchmarks.scales SERIES [DETECTOR...]

For each change of the scores that keeps their order: by how much exact DQE moves on average, and on how many series the
best detector stays the best. Then Friedman's statistic of both metrics: how well they tell the detectors apart.
"""

import sys

import numpy as np
from scipy import stats

import dqeval
from dqeval.core.scaling import min_max
from dqeval.datasets.door import prepare

DETECTORS = ("fft", "sub_lof", "kmeans_ad", "sr")
CHANGES = {
    "square root": np.sqrt,
    "square": np.square,
    "log(s + 0.001)": lambda scores: np.log(scores + 0.001),
    "clipped at 99.9 %": lambda scores: np.minimum(scores, np.percentile(scores, 99.9)),
}
HEADER = ("as it is", *CHANGES, "DQE-LR")


def of_series(series, detectors):
    """Return DQE of each detector under each change, and DQE-LR."""
    near = prepare(series).near.points
    found = np.empty((len(detectors), len(HEADER)))
    for row, detector in zip(found, detectors, strict=True):
        scores = min_max(dqeval.detect(series, detector))
        for i, changed in enumerate((scores, *(change(scores) for change in CHANGES.values()))):
            row[i] = dqeval.dqe_score(series.labels, changed, near=near, thresholds="exact")
        row[-1] = dqeval.metrics.dqe_log_rank(series.labels, scores, near=near)
    return found


def main(path, *detectors):
    """Print the table."""
    names = detectors or DETECTORS
    found = np.array([of_series(series, names) for series in dqeval.datasets.read(path)])
    print(f"{len(found):,} series, {', '.join(names)}\n\n| scores | DQE moves by | the best stays |\n|---|---:|---:|")
    best = found.argmax(axis=1)
    for i, name in enumerate(CHANGES, start=1):
        moved = np.abs(found[:, :, i] - found[:, :, 0]).mean()
        print(f"| {name} | {moved:.2f} | {100 * (best[:, i] == best[:, 0]).mean():.0f} % |")
    for i in (0, -1):
        chi = stats.friedmanchisquare(*found[:, :, i].T).statistic
        print(f"\n{'DQE' if i == 0 else HEADER[i]}: Friedman's statistic {chi:.0f}")


if __name__ == "__main__":
    main(*sys.argv[1:]) if len(sys.argv) > 1 and not sys.argv[1].startswith("-") else print(__doc__)
