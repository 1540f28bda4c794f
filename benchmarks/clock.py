"""What a clock costs: ``python -m benchmarks.clock``, with pyarrow (``pip install -e .[files]``).

A month of one-second samples, read from a Parquet file, with and without its times; and a year of incidents and alerts
in cells of a second, which are never made, beside detections of 100,000 points. And what it takes to read a column of
dates from text, beside one of numbers, and to put local dates into universal time.
"""

import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow
from pyarrow import parquet

import dqeval
from benchmarks.measure import peak_bytes, seconds

MONTH, YEAR = 30 * 86_400, 365 * 86_400
START = np.datetime64("2026-01-01T00:00:00", "us")
SECOND = np.timedelta64(1, "s")


def month() -> dqeval.Series:
    """Return 2.6 million points with 40 incidents of ten minutes, as they are read from a file."""
    random = np.random.default_rng(0)
    labels = np.zeros(MONTH, dtype=int)
    for start in random.integers(0, MONTH - 600, 40):
        labels[start : start + 600] = 1
    table = {"timestamp": START + np.arange(MONTH) * SECOND, "label": labels, "mine": random.normal(size=MONTH)}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "month.parquet")
        parquet.write_table(pyarrow.table(table), path)
        return dqeval.datasets.read_columns(path)


def intervals(random: np.random.Generator, count: int, longest: int) -> np.ndarray:
    """Return intervals within a year, of a minute at least."""
    starts = START + random.integers(0, YEAR - longest, count) * SECOND
    return np.column_stack([starts, starts + random.integers(60, longest, count) * SECOND])


def points(random: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return labels with up to 200 events, and up to 5,000 detections."""
    labels, found = np.zeros((2, n), dtype=int)
    for flags, count, length in ((labels, 200, 20), (found, 5_000, 5)):
        for start in random.integers(0, n - length, count):
            flags[start : start + length] = 1
    return labels, found


def samples() -> None:
    """Print what times cost: where all are there, some missing, an hour missing, or none on the second."""
    series = month()
    labels, scores, times = series.labels, series.scores["mine"], series.timestamps
    random = np.random.default_rng(1)
    kept = np.ones(MONTH, dtype=bool)
    kept[random.integers(0, MONTH, 5_000)] = False
    kept[100_000:103_600] = False
    late = times + random.integers(0, 900, MONTH) * np.timedelta64(1, "ms")
    cases = {
        "one a second": (labels, scores, times),
        "5,000 and an hour missing": (labels[kept], scores[kept], times[kept]),
        "up to 0.9 s late": (labels, scores, late),
    }
    print(f"{MONTH:,} samples of a month, 40 incidents: evaluate with times and near='10min', beside no times\n")
    print("| samples | without times | with times | ratio | bytes per point |\n|---|---:|---:|---:|---:|")
    for what, (y_true, y_score, when) in cases.items():
        plain = seconds(partial(dqeval.evaluate, y_true, y_score, near=600))
        call = partial(dqeval.evaluate, y_true, y_score, times=when, resolution="1s", near="10min")
        timed, memory = seconds(call), peak_bytes(call) / len(y_true)
        print(f"| {what} | {plain:.2f} s | {timed:.2f} s | {timed / plain:.1f} × | {memory:.0f} |", flush=True)


def dates() -> None:
    """Print what dates as text cost, beside plain seconds: of a day of samples, in a CSV file."""
    steps = np.arange(86_400)
    local = START.astype("datetime64[s]") + steps * SECOND
    forms = {
        "seconds since 1970": local.astype(np.int64),
        "2026-01-31 12:00:00": np.char.replace(local.astype(str), "T", " "),
        "2026-01-31T12:00:00Z": np.char.add(local.astype(str), "Z"),
        "2026-01-31T12:00:00+01:00": np.char.add(local.astype(str), "+01:00"),
    }
    print("\n86,400 samples, 1 event: reading them from a CSV file by the form of their times\n")
    print("| times | time | ratio |\n|---|---:|---:|")
    first = 0.0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "day.csv")
        for form, times in forms.items():
            rows = (f"{time},{step == 50_000:d},{step % 97}" for time, step in zip(times, steps, strict=True))
            path.write_text("\n".join(["timestamp,label,mine", *rows]), encoding="utf-8")
            for timezone in (None, "Europe/Berlin") if form.endswith(" 12:00:00") else (None,):
                took = seconds(partial(dqeval.datasets.read_columns, path, timezone=timezone))
                first = first or took
                zone = "" if timezone is None else f", timezone={timezone!r}"
                print(f"| {form}{zone} | {took:.2f} s | {took / first:.1f} × |", flush=True)


def incidents() -> None:
    """Print what incidents and alerts cost."""
    random = np.random.default_rng(0)
    given = intervals(random, 200, 3_600), intervals(random, 5_000, 600)
    span = (START, START + YEAR * SECOND)
    calls = {
        "evaluate_intervals, a year": partial(dqeval.evaluate_intervals, *given, span=span, resolution=1, near="10min")
    }
    labels, found = points(random, 100_000)
    calls["evaluate_detections, 100,000 points"] = partial(dqeval.evaluate_detections, labels, found, near=60)
    times = START + np.arange(100_000) * SECOND
    calls["the same, with times"] = partial(dqeval.evaluate_detections, labels, found, near=60, times=times)
    print("\n200 incidents and 5,000 alerts in 31,536,000 cells of a second, beside points\n")
    print("| call | time | memory |\n|---|---:|---:|")
    for what, call in calls.items():
        print(f"| {what} | {1e3 * seconds(call):.1f} ms | {peak_bytes(call) / 1e6:.1f} MB |", flush=True)


if __name__ == "__main__":
    samples()
    dates()
    incidents()
