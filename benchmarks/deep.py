"""Seconds and memory of CNN and TimesNet on 40,000 points, one series and ten at once: ``python -m benchmarks.deep``.

Needs PyTorch: ``pip install -e .[deep]``. On the processor with one thread a series, and on a graphics card if there is
one. The ten are trained side by side by ten processes, each with its own connection to the card: training is bound by
the launch of many small steps, which one process cannot do for two series at a time.
"""

import os
import platform
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier

import numpy as np
import torch

import dqeval
from benchmarks.cases import generated, peak_megabytes, real
from dqeval.detectors import DETECTORS

N, TRAIN_STOP, SIDE_BY_SIDE = 40_000, 10_000, 10
PERIOD = 108
# The public reference on the case, on one thread of a slow machine: measured once, elsewhere, not by this script.
REFERENCE = {"cnn": 16, "timesnet": 234}
NAMES = tuple(REFERENCE)


def series() -> Iterator[tuple[str, list[np.ndarray]]]:
    """Yield ten generated series, and ten copies of the real one, which differ in their seeds, where it is found."""
    yield "generated", [generated(N, PERIOD, seed) for seed in range(SIDE_BY_SIDE)]
    if (values := real("ucr")) is not None:
        yield "UCR case", [values] * SIDE_BY_SIDE


def warm_up(device: str, all_are: Barrier) -> None:
    """Start a process: one thread, everything imported, the device awake; and wait for the others."""
    torch.set_num_threads(1)
    for name in NAMES:
        DETECTORS[name].function(generated(600, PERIOD), train_stop=400, device=device)
    all_are.wait()


def detect(name: str, values: np.ndarray, device: str, seed: int) -> float:
    """Run a detector, and return the most memory so far in MB: the card's where it is used."""
    DETECTORS[name].function(values, train_stop=TRAIN_STOP, seed=seed, device=device, variant="published")
    if device == "cuda":
        return torch.cuda.max_memory_reserved() / 1e6
    return peak_megabytes()


def measured(name: str, many: list[np.ndarray], device: str) -> tuple[float, float]:
    """Return the seconds for all series side by side in processes, and the most memory that one of them needed."""
    context = get_context("spawn")
    start = (device, context.Barrier(len(many)))
    with ProcessPoolExecutor(len(many), mp_context=context, initializer=warm_up, initargs=start) as pool:
        list(pool.map(abs, range(len(many))))  # none of them is done before all processes are warm
        began = time.perf_counter()
        tasks = [pool.submit(detect, name, values, device, seed) for seed, values in enumerate(many)]
        memory = max(task.result() for task in tasks)
        return time.perf_counter() - began, memory


def main() -> None:
    """Print the table."""
    devices = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
    card = f", {torch.cuda.get_device_name()}" if "cuda" in devices else ""
    versions = f"dqeval {dqeval.__version__}, Python {platform.python_version()}, PyTorch {torch.__version__}"
    print(f"{versions}, {os.cpu_count()} cores{card}")
    print(f"variant published; {N:,} points, trained on {TRAIN_STOP:,}; one thread a process\n")
    print("| series | detector | device | one | ten side by side | a series | MB a process | reference |")
    print("|---|---|---|---:|---:|---:|---:|---:|")
    for title, many in series():
        for name in NAMES:
            for device in devices:
                alone, memory = measured(name, many[:1], device)
                together, _ = measured(name, many, device)
                reference = f"{REFERENCE[name]} s" if title == "UCR case" else ""
                times = f"{alone:.1f} s | {together:.1f} s | {together / len(many):.1f} s"
                print(f"| {title} | {name} | {device} | {times} | {memory:.0f} | {reference} |", flush=True)


if __name__ == "__main__":
    main()
