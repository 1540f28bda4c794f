"""``dqeval check``: trouble in labels and scores."""

from __future__ import annotations

from dqeval.cli.options import Files, Form, Label, NearRange, Output, Period, Score, Value
from dqeval.cli.output_formats import OutputFormat
from dqeval.cli.results import find_entries, show


def check(
    files: Files,
    label: Label = None,
    value: Value = None,
    score: Score = None,
    near: NearRange = None,
    period: Period = None,
    form: Form = OutputFormat.TABLE,
    path: Output = None,
) -> None:
    """Find trouble in labels and scores before anyone trusts a number: exit code 1 if there is an error."""
    parameters = {"near": near, "period": period}
    show("check", find_entries(files, label, value, score), parameters, form=form, path=path)
