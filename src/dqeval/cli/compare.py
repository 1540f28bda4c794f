"""``dqeval compare``: the detectors of a series beside each other."""

from __future__ import annotations

from dqeval.cli import gate
from dqeval.cli.options import FailUnder, Files, Form, Label, Modules, NearRange, Output, Period, Score, Value
from dqeval.cli.output_formats import OutputFormat
from dqeval.cli.results import find_entries, show


def compare(
    files: Files,
    near: NearRange = None,
    period: Period = None,
    label: Label = None,
    value: Value = None,
    score: Score = None,
    form: Form = OutputFormat.TABLE,
    path: Output = None,
    fail_under: FailUnder = None,
    module: Modules = None,
) -> None:
    """Compare the detectors of a series: every metric, every event, chance, and where the metrics disagree."""
    limits = gate.limits(fail_under, gate.all_names())
    parameters = {"near": near, "period": period}
    show("compare", find_entries(files, label, value, score), parameters, form=form, path=path, limits=limits)
