"""How the benchmarks measure: medians of repeated runs, memory that is kept, its peak, the cost of an import."""

import contextlib
import ctypes
import gc
import statistics
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable


def keep_memory() -> None:
    """Have the C library keep what is freed, where it can be told so: it gives long arrays back to the system at once.

    To get memory again takes as long as the system likes, above all in a virtual machine, whose host may have taken it.
    That says nothing about the function.
    """
    mmap_max, trim_threshold, never = -4, -1, -1
    with contextlib.suppress(OSError, AttributeError, TypeError):  # other systems have no such function
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(mmap_max, 0)
        mallopt(trim_threshold, never)


def seconds(call: Callable[[], object], *, at_least: float = 0.3, fewest: int = 5) -> float:
    """Return the median duration of a call, repeated for a while, after one to warm up."""
    call()
    durations: list[float] = []
    gc.disable()
    while len(durations) < fewest or sum(durations) < at_least:
        began = time.perf_counter()
        call()
        durations.append(time.perf_counter() - began)
    gc.enable()
    return statistics.median(durations)


def processor_seconds(call: Callable[[], object], *, at_least: float = 0.1, fewest: int = 3) -> float:
    """Return the least processor time of some calls, after one to warm up: where other work shares the machine."""
    call()
    durations: list[float] = []
    while len(durations) < fewest or sum(durations) < at_least:
        began = time.process_time()
        call()
        durations.append(time.process_time() - began)
    return min(durations)


def peak_bytes(call: Callable[[], object]) -> int:
    """Return the most memory that a call holds beyond what was held before; NumPy reports its arrays."""
    tracemalloc.start()
    call()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def import_seconds(statement: str, *, beyond: str, repeats: int = 9) -> float:
    """Return the median time of an import in a fresh interpreter in which another one was made before."""
    program = f"import time\n{beyond}\nbegan = time.perf_counter()\n{statement}\nprint(time.perf_counter() - began)"
    runs = [subprocess.run([sys.executable, "-c", program], capture_output=True, check=True) for _ in range(repeats)]
    return statistics.median(float(run.stdout) for run in runs)
