"""What the benchmarks of detectors share: the paper's case series where they are, generated ones, peak memory."""

import os
import resource
import sys
from pathlib import Path

import numpy as np

_ROOT = Path(__file__).parent.parent
_FOLDERS = (
    *map(Path, filter(None, [os.environ.get("DQEVAL_DATA")])),
    _ROOT / "shared/data",
    _ROOT.parent / "shared/data",
)

# The name, the number of points, and the period of rank 2.
CASES = {
    "wsd": ("094_WSD_id_66_WebService_tr_3309_1st_3914", 13_237, 125),
    "ucr": ("452_UCR_id_150_Facility_tr_10000_1st_35774", 40_000, 216),
}


def generated(n: int, period: int, seed: int = 0) -> np.ndarray:
    """Return a rhythm with noise and a short anomaly."""
    values = np.sin(2 * np.pi * np.arange(n) / period) + np.random.default_rng(seed).normal(scale=0.3, size=n)
    values[n // 2 : n // 2 + 10] += 3
    return values


def real(archive: str) -> np.ndarray | None:
    """Return the values of a case series, or None where its archive is not found."""
    path = next((folder / f"{archive}.npz" for folder in _FOLDERS if (folder / f"{archive}.npz").exists()), None)
    if path is None:
        return None
    with np.load(path) as arrays:
        return arrays[f"{CASES[archive][0]}/data"].astype(float)


def case(archive: str) -> tuple[str, np.ndarray, int]:
    """Return the title, the values and the window of a case series, or of a generated one of the same length."""
    name, n, window = CASES[archive]
    values = real(archive)
    if values is None:
        return f"generated, {n:,} points", generated(n, window), window
    return f"{name[:7]}, {n:,} points", values, window


def peak_megabytes() -> float:
    """Return the most memory that this process has held."""
    # The next would count what the process was forked from, before it became one of its own.
    status = Path("/proc/self/status")
    if status.exists():
        return next(int(line.split()[1]) for line in status.read_text().splitlines() if line[:6] == "VmHWM:") / 1e3
    # Kilobytes, but bytes on a Mac.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
