"""``dqeval explain``: each detector in plain words."""

from __future__ import annotations

from dqeval.cli import gate
from dqeval.cli.options import FailUnder, Files, Form, Format, Label, NearRange, Output, Period, Score, Value
from dqeval.cli.results import Chosen, show


def explain(
    files: Files,
    near: NearRange = None,
    period: Period = None,
    label: Label = None,
    value: Value = None,
    score: Score = None,
    form: Form = Format.TABLE,
    path: Output = None,
    fail_under: FailUnder = None,
) -> None:
    """Explain each detector in plain words: what it does at each event, what costs most, what to improve."""
    limits = gate.limits(fail_under, gate.names_with(["dqe"]))
    parameters = {"near": near, "period": period}
    result = show("explain", files, Chosen(label, value, score), parameters, form=form, output=path)
    gate.enforce(limits, gate.values_of(result))
