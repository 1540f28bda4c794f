"""How long commands take before they work: ``python -m benchmarks.start``.

Each is a process of its own, in processor time, as a multiple of what the same Python takes to start and to import
typer, on which the command line is built.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

REPEATS = 15
WITHOUT = ["-c", "import typer"]
ROWS = 20


def processor_seconds(arguments: list[str]) -> float:
    """Return what a Python process takes, of the processor."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def write_series(path: Path) -> None:
    """Write a short series with one detector: what is computed of it takes next to no time."""
    scores = np.random.RandomState(0).rand(ROWS)
    lines = [f"{int(i == ROWS // 2)},{score:.3f}" for i, score in enumerate(scores)]
    path.write_text("\n".join(["label,mine", *lines]), encoding="utf-8")


def main() -> None:
    """Print a row per command."""
    os.environ["OMP_NUM_THREADS"] = "1"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "series.csv"
        write_series(path)
        commands = {
            "python -c 'import typer'": WITHOUT,
            "dqeval --version": ["-m", "dqeval", "--version"],
            "dqeval --help": ["-m", "dqeval", "--help"],
            "dqeval score --help": ["-m", "dqeval", "score", "--help"],
            "dqeval score FILE --metrics dqe": ["-m", "dqeval", "score", str(path), "--near", "2", "--metrics", "dqe"],
            "python -c 'import numpy'": ["-c", "import numpy"],
            "python -c 'import dqeval, numpy'": ["-c", "import dqeval, numpy"],
        }
        # In turns, so that all meet the same machine.
        found: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(REPEATS):
            for name, arguments in commands.items():
                found[name].append(processor_seconds(arguments))
    typical = statistics.median(found["python -c 'import typer'"])
    print("| command | of typer's start | ms |")
    print("|---|---:|---:|")
    for name, seconds in found.items():
        print(f"| `{name}` | {statistics.median(seconds) / typical:.2f} × | {1000 * statistics.median(seconds):.0f} |")


if __name__ == "__main__":
    main()
