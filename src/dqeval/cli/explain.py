"""``dqeval explain``: each detector in plain words."""

from __future__ import annotations

from dqeval.cli import gate
from dqeval.cli.options import FailUnder, Files, Form, Label, NearRange, Output, Period, Score, Value
from dqeval.cli.output_formats import OutputFormat
from dqeval.cli.results import find_entries, show


def explain(
    files: Files,
    near: NearRange = None,
    period: Period = None,
    label: Label = None,
    value: Value = None,
    score: Score = None,
    form: Form = OutputFormat.TABLE,
    path: Output = None,
    fail_under: FailUnder = None,
) -> None:
    """Explain each detector in plain words: what it does at each event, what costs most, what to improve."""
    limits = gate.limits(fail_under, gate.names_with(["dqe"]))
    parameters = {"near": near, "period": period}
    show("explain", find_entries(files, label, value, score), parameters, form=form, path=path, limits=limits)
