"""How fast text files are read: ``python -m benchmarks.files``, with pyarrow (``pip install -e .[files]``).

The time of pyarrow is that of ``pyarrow.csv.read_csv`` on the same file, in one thread and in as many as it likes.
"""

import tempfile
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow
from pyarrow import csv

from benchmarks.measure import seconds
from dqeval.datasets import files

ROWS = 1_000_000
NAMES = ("label", "value", "first", "second", "third")


def write_table(path: Path, *, times: bool) -> None:
    """Write a table of five columns: labels and numbers of full precision, or times, labels and numbers."""
    random = np.random.default_rng(0)
    columns = [(random.random(ROWS) < 0.01).astype(int), *random.normal(size=(4, ROWS))]
    table = {name: pyarrow.array(column) for name, column in zip(NAMES, columns, strict=True)}
    if times:
        del table["third"]
        moments = np.datetime64("2020-01-01T00:00:00") + 60 * np.arange(ROWS)
        table = {"timestamp": pyarrow.array(np.datetime_as_string(moments).tolist())} | table
    csv.write_csv(pyarrow.table(table), path, csv.WriteOptions(quoting_style="none"))


def pyarrow_alone(path: Path, threads: bool) -> float:
    """Return how long pyarrow takes."""
    return seconds(lambda: csv.read_csv(path, csv.ReadOptions(use_threads=threads)))


def cell_by_cell(path: Path) -> float:
    """Return how long it takes without pyarrow."""
    with mock.patch.object(files, "is_worth_it", return_value=False):
        return seconds(lambda: files.read_with_times(path), fewest=1)


def main() -> None:
    """Print a row per kind of table."""
    print(f"{ROWS:,} rows, 5 columns, pyarrow {pyarrow.__version__}\n")
    print("| table | MB | read | pyarrow, one thread | ratio | pyarrow, threads | ratio | without pyarrow |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        for what, times in (("numbers", False), ("times and numbers", True)):
            write_table(path, times=times)
            read, one, several = (
                seconds(lambda: files.read_with_times(path)),
                pyarrow_alone(path, threads=False),
                pyarrow_alone(path, threads=True),
            )
            cells = [f"{path.stat().st_size / 1e6:.0f}", f"{read:.2f} s"]
            cells += [f"{one:.2f} s", f"{read / one:.1f} ×", f"{several:.2f} s", f"{read / several:.1f} ×"]
            print(f"| {what} | {' | '.join(cells)} | {cell_by_cell(path):.1f} s |", flush=True)


if __name__ == "__main__":
    main()
