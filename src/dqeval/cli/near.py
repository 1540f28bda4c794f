"""``dqeval near``: how DQE depends on the near range, and which one to choose."""

from __future__ import annotations

from dqeval.cli.options import Files, Form, Label, Output, Score, SeriesColumn, Value
from dqeval.cli.output_formats import OutputFormat
from dqeval.cli.results import find_entries, show


def near(
    files: Files,
    label: Label = None,
    value: Value = None,
    score: Score = None,
    series: SeriesColumn = None,
    form: Form = OutputFormat.TABLE,
    path: Output = None,
) -> None:
    """Show the periods of series, how DQE depends on the near range, and which near range to choose."""
    show("near", find_entries(files, label, value, score, series), {}, form=form, path=path)
