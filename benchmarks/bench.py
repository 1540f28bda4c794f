"""What a benchmark run costs beside the work itself: ``python -m benchmarks.bench``.

A detector and a metric that do nothing are registered for it, so what is measured is the reading, keeping and handing
over of jobs. The real work is the evaluation of 20,000 points with every metric.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from dqeval import bench
from dqeval.core.registry import DETECTORS, METRICS, detector, metric

JOBS, MANY = 2_000, 100_000


def register() -> None:
    """Register a detector and a metric that do nothing."""
    if "nothing" in DETECTORS.names:
        return

    @detector(label="Nothing", citation="none")
    def nothing(values: Any, *, seed: int = 0) -> Any:
        """Give no score to any point."""
        return np.zeros(len(values))

    @metric(label="Zero", takes="scores", compute=lambda scored: 0.0, citation="none", same_as="none", cost=0.0)
    def zero(y_true: Any, y_score: Any) -> float:
        """Return 0."""
        return 0.0

    assert {"nothing"} <= set(DETECTORS.names)
    assert {"zero"} <= set(METRICS.names)


def empty(jobs: int) -> dict[str, Any]:
    """Return a plan of jobs that do nothing, on series of 100 points."""
    series = {"generator": "synthetic", "count": jobs, "n": 100, "period": 10, "events": 1}
    return {"modules": ["benchmarks.bench"], "metrics": ["zero"], "data": [series], "detector": [{"name": "nothing"}]}


def real(series: int) -> dict[str, Any]:
    """Return a plan of real evaluation work: scores that are kept, and every metric."""
    data = {"generator": "synthetic", "count": series, "n": 20_000, "events": 20}
    every = [name for name in METRICS.names if name != "zero"]
    return {"metrics": every, "data": [data], "detector": [{"name": "fft"}]}


def seconds(plan: dict[str, Any], folder: Path, **who: Any) -> float:
    """Return how long a run takes."""
    began = time.perf_counter()
    state = bench.run(plan, folder, **who)
    assert state.done == state.total, state
    assert not state.failed, state
    return time.perf_counter() - began


@contextmanager
def cluster(folder: Path, workers: int) -> Iterator[str]:
    """Give the address of a Dask scheduler on this machine that has so many workers."""
    from distributed import Client

    file = folder / "scheduler.json"
    common = ["--no-dashboard", "--scheduler-file", str(file)]
    with ExitStack() as started:
        started.enter_context(_command("scheduler", "--host", "127.0.0.1", "--port", "0", *common))
        while not file.exists() or not file.read_text():
            time.sleep(0.1)
        for _ in range(workers):
            started.enter_context(_command("worker", "--nthreads", "1", *common))
        address = json.loads(file.read_text())["address"]
        with Client(address) as client:
            client.wait_for_workers(workers)
        yield address


@contextmanager
def _command(name: str, *options: str) -> Iterator[None]:
    command = [sys.executable, "-m", f"distributed.cli.dask_{name}", *options]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, **quiet)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def driver_megabytes(jobs: int) -> float:
    """Return the most memory that a driver of so many jobs holds, in a process of its own."""
    program = f"import benchmarks.bench as b; b.drive({jobs})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return float(done.stdout)


def drive(jobs: int) -> None:
    """Run jobs that do nothing, and print the most memory that was held."""
    with tempfile.TemporaryDirectory() as folder:
        bench.run(empty(jobs), folder)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        here = seconds(empty(JOBS), folder / "here")
        print(f"overhead a job, in this process: {1000 * here / JOBS:.2f} ms")
        again = time.perf_counter()
        bench.run(empty(JOBS), folder / "here")
        print(f"a job that was done before: {1000 * (time.perf_counter() - again) / JOBS:.3f} ms")
        took = {}
        for workers in (1, 2):
            took[workers] = seconds(empty(JOBS), folder / f"empty{workers}", workers=workers)
            print(
                f"jobs per second that do nothing, {workers} process{'es' * (workers > 1)}: {JOBS / took[workers]:,.0f}"
            )
        with cluster(folder, 2) as address:
            spread = seconds(empty(JOBS), folder / "spread", scheduler=address)
        print(f"the same on a Dask cluster of 2 workers: {JOBS / spread:,.0f}, {spread / took[2]:.2f} × the time")
        os.environ["OMP_NUM_THREADS"] = "1"
        one, two = (seconds(real(400), folder / f"real{workers}", workers=workers) for workers in (1, 2))
        print(f"400 series of 20,000 points, every metric: {one:.1f} s on 1 process, {one / two:.2f} × as fast on 2")
    print(f"memory of the driver of {MANY:,} jobs: {driver_megabytes(MANY):.0f} MB")


register()

if __name__ == "__main__":
    main()
