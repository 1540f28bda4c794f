"""CNN and TimesNet on many series, in the same steps and one after the other: ``python -m benchmarks.deep_many``.

Needs PyTorch: ``pip install -e .[deep]``. The series are generated, with lengths, training parts and rhythms that vary
as in UCR and WSD. ``--alone`` of them, which stand for the lengths of all, are trained one after the other; the others
are taken to need as long in proportion to their points. All of them are trained in the same steps, ``--at-once`` at a
time. The scores of those that were trained in both ways are compared.
"""

import argparse
import os
import platform
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

import dqeval
from dqeval.analysis.detect import AT_ONCE
from dqeval.core.types import Series

NAMES = ("cnn", "timesnet")
SHORTEST, LONGEST = 3_000, 40_000
WARM_UP = 600  # points


def main(arguments: Sequence[str] | None = None) -> None:
    """Print a line for each detector, and the table."""
    options = _options(arguments)
    device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    many = [generated(number, options.shortest, options.longest) for number in range(options.series)]
    points = [len(series.values) for series in many]
    card = f", {torch.cuda.get_device_name(device)}" if device.startswith("cuda") else ""
    versions = f"Python {platform.python_version()}, PyTorch {torch.__version__}"
    print(f"{versions}, {os.cpu_count()} cores, {torch.get_num_threads()} threads{card}")
    print(f"{len(many):,} series, {min(points):,} to {max(points):,} points, {options.at_once} at once on {device}\n")
    rows = [measured(name, many, device, options) for name in options.detectors]
    print("\n| detector | one after the other | in the same steps | ratio | correlation, least | median | MB |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    print("\n".join(rows), flush=True)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition(":")[0])
    parser.add_argument("--series", type=int, default=300)
    parser.add_argument("--alone", type=int, default=10, help="how many are also trained one after the other")
    parser.add_argument("--at-once", type=int, default=AT_ONCE)
    parser.add_argument("--device", help="by default cuda where there is such a device, else cpu")
    parser.add_argument("--shortest", type=int, default=SHORTEST, help="points")
    parser.add_argument("--longest", type=int, default=LONGEST, help="points")
    parser.add_argument("--detectors", nargs="+", choices=NAMES, default=NAMES)
    return parser.parse_args(arguments)


def generated(number: int, shortest: int, longest: int) -> Series:
    """Return a series: two rhythms, a slow drift, noise, and an anomaly; a quarter to a half of it is for training."""
    random = np.random.default_rng(number)
    n = int(np.exp(random.uniform(np.log(shortest), np.log(longest))))
    time_points, period = np.arange(n), np.exp(random.uniform(np.log(4), np.log(300)))
    values = np.sin(2 * np.pi * time_points / period) + random.uniform(0, 1) * np.sin(6 * np.pi * time_points / period)
    values += np.cumsum(random.normal(scale=0.01, size=n)) + random.normal(scale=random.uniform(0.02, 0.4), size=n)
    start = int(random.uniform(0.6, 0.9) * n)
    values[start : start + 20] += 3
    labels = (time_points >= start) & (time_points < start + 20)
    return Series(f"generated {number}", labels, {}, values, train_stop=int(random.uniform(0.25, 0.5) * n))


def measured(name: str, many: list[Series], device: str, options: argparse.Namespace) -> str:
    """Return the row of a detector."""
    start = generated(0, WARM_UP, WARM_UP + 1)
    dqeval.detect_many([start, start], name, device=device, train_stop=400)
    # Evenly from the shortest to the longest.
    by_length = sorted(range(len(many)), key=lambda number: len(many[number].values))
    places = np.linspace(0, len(many) - 1, min(options.alone, len(many))).round().astype(int)
    chosen = [by_length[place] for place in places]
    scores, alone = {}, 0.0
    for number in chosen:
        spent, scores[number] = timed(lambda number=number: dqeval.detect(many[number], name, device=device), device)
        alone += spent
        print(f"{name}, alone: {len(many[number].values):,} points in {spent:.2f} s", flush=True)
    points = [len(series.values) for series in many]
    alone *= sum(points) / sum(points[number] for number in chosen)
    if device.startswith("cuda"):
        torch.cuda.reset_peak_memory_stats(device)
    together, found = timed(lambda: dqeval.detect_many(many, name, device=device, at_once=options.at_once), device)
    print(f"{name}, {len(many):,} in the same steps: {together:.2f} s; one after the other: {alone:.2f} s", flush=True)
    agreement = [np.corrcoef(found[number], scores[number])[0, 1] for number in chosen]
    memory = f"{torch.cuda.max_memory_reserved(device) / 1e6:,.0f}" if device.startswith("cuda") else ""
    cells = f"{alone:.1f} s | {together:.1f} s | {alone / together:.1f} × | {min(agreement):.6f}"
    return f"| {name} | {cells} | {np.median(agreement):.6f} | {memory} |"


def timed(call: Callable[[], Any], device: str) -> tuple[float, Any]:
    """Return the seconds of a call, and what it returns."""
    began = time.perf_counter()
    result = call()
    if device.startswith("cuda"):
        torch.cuda.synchronize(device)
    return time.perf_counter() - began, result


if __name__ == "__main__":
    main()
