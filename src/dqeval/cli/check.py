"""``dqeval check``: trouble in labels and scores."""

from __future__ import annotations

import typer

from dqeval.cli.options import Files, Form, Format, Label, Output, Score, Value
from dqeval.cli.results import Chosen, show


def check(
    files: Files,
    label: Label = None,
    value: Value = None,
    score: Score = None,
    form: Form = Format.TABLE,
    path: Output = None,
) -> None:
    """Find trouble in labels and scores before anyone trusts a number: exit code 1 if there is an error."""
    from dqeval.analysis.check import Checked
    from dqeval.analysis.several import Several

    result = show("check", files, Chosen(label, value, score), {}, form=form, output=path)
    assert isinstance(result, (Checked, Several))
    if result.failed:
        raise typer.Exit(1)
