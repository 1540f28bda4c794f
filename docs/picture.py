"""Draw the README's picture from the demo series: ``python docs/picture.py`` (needs matplotlib)."""

from pathlib import Path

import matplotlib.pyplot as plt

import dqeval

TINTS = {"capture": "#4c78d8", "near": "#58a55c", "alarm": "#d9534f"}
FIRST, LAST = 900, 1600


def tint(axes, regions) -> None:
    """Tint the five pieces of each local region as in the paper."""
    for r in regions:
        pieces = [(r.left, r.near_start, "alarm"), (r.near_start, r.start, "near"), (r.start, r.stop, "capture")]
        pieces += [(r.stop, r.near_stop, "near"), (r.near_stop, r.right, "alarm")]
        for low, high, kind in pieces:
            axes.axvspan(low, high, color=TINTS[kind], alpha=0.32 if kind == "capture" else 0.14, lw=0)
        axes.axvline(r.left, color="white", lw=2)


def main() -> None:
    """Draw the series and two detectors with the regions, and DQE against the threshold beside them."""
    series = dqeval.datasets.demo()
    regions = dqeval.partition(series.labels, values=series.values).regions
    names = ["late", "jumpy"]
    figure, axes = plt.subplots(3, 2, figsize=(10, 4.6), width_ratios=[3, 1], layout="constrained")
    rows = {"series": series.values, **{name: series.scores[name] for name in names}}
    for (left, right), (name, column) in zip(axes, rows.items(), strict=True):
        tint(left, regions)
        left.plot(column, color="#222222", lw=0.9)
        left.set(xlim=(FIRST, LAST), ylabel=name, yticks=[])
        if name == "series":
            right.axis("off")
            handles = [plt.Rectangle((0, 0), 1, 1, color=color, alpha=0.4) for color in TINTS.values()]
            right.legend(handles, ["capture", "near miss", "false alarm"], loc="center", frameon=False)
            continue
        result = dqeval.evaluate(series.labels, column, values=series.values, thresholds="exact")
        for event in result.curve.per_event:
            right.step(event.thresholds, event.dqe, where="post", color="#bbbbbb", lw=0.7)
        right.step(result.curve.thresholds, result.curve.dqe, where="post", color="#222222", lw=1.5)
        right.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="threshold" if name == names[-1] else "")
        right.set_title(f"DQE {result.dqe:.2f}", fontsize=10)
    figure.savefig(Path(__file__).parent / "picture.png", dpi=130)


if __name__ == "__main__":
    main()
