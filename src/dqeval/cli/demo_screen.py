"""What ``dqeval demo`` shows, and writes."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import Any

import numpy as np
import typer

from dqeval import datasets
from dqeval.analysis.score import score
from dqeval.analysis.score_result import Scoring
from dqeval.cli import output
from dqeval.cli.series_files import series_columns
from dqeval.core.types import FloatArray, Series
from dqeval.render.event_outcomes import EVENT_OUTCOMES, outcome_shares
from dqeval.render.tables import Page, Table, percent

BLOCKS = "▁▂▃▄▅▆▇█"
COLOURS = {"values": "bright_black", "labels": "blue"}
START = np.datetime64("2026-01-01T00:00:00")
STEP = np.timedelta64(30, "m")  # 48 points are a day
CLOSING = """\
sharp is clean but blind to one event; late answers too late; jumpy cries wolf.
This series as a file: dqeval demo -o scores.csv; then: dqeval score scores.csv"""


def screen() -> str:
    """Return what the demo shows: pictures, scores, outcomes."""
    series = datasets.demo()
    scoring = score([series], metrics=["dqe"])
    tables = [scoring.metric_table(), scoring.event_table("dqe"), _outcome_table(scoring)]
    return "\n\n".join([_pictures(series), Page([scoring.title, *tables, CLOSING]).text(emphasis=output.bold)])


def columns() -> dict[str, Any]:
    """Return the series of the demo as the columns of a file, with timestamps."""
    series = datasets.demo()
    times = START + STEP * np.arange(len(series.labels))
    return series_columns(replace(series, timestamps=times))


def _outcome_table(scoring: Scoring) -> Table:
    shares = [outcome_shares(panel.dqe) for panel in scoring.series[0].panels.values() if panel.dqe]
    rows = [(outcome, *(percent(share[outcome]) for share in shares)) for outcome in EVENT_OUTCOMES]
    return Table(("over events and thresholds", *scoring.detectors), rows)


def _pictures(series: Series) -> str:
    """Return each column as one line of blocks."""
    columns: dict[str, Any] = {"values": series.values, "labels": series.labels, **series.scores}
    width = max(20, min(shutil.get_terminal_size().columns, 100) - 9)
    lines = []
    for name, column in columns.items():
        blocks = _blocks(np.asarray(column, dtype=float), width)
        lines.append(f"{name:<8} {typer.style(blocks, fg=COLOURS.get(name, 'red'))}".rstrip())
    return "\n".join(lines)


def _blocks(column: FloatArray, width: int) -> str:
    """Return the column as a line of blocks, each as high as the largest value it stands for."""
    starts = np.linspace(0, len(column), width, endpoint=False).astype(int)
    heights = np.maximum.reduceat(column, starts)
    low, high = column.min(), heights.max()
    steps = np.rint((heights - low) / (high - low) * len(BLOCKS)).astype(int)
    return "".join(" " if step == 0 else BLOCKS[step - 1] for step in steps)
