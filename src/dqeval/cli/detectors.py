"""``dqeval detectors``: list the detectors."""

from __future__ import annotations

from dqeval.cli import output
from dqeval.cli.metrics import NO_SUMMARY
from dqeval.cli.options import Modules


def detectors(module: Modules = None) -> None:
    """List the detectors: what they do, their input, what they need, reference, parameters."""
    from dqeval.detectors import DETECTORS
    from dqeval.support import extras

    for detector in DETECTORS:
        title = f"{output.bold(detector.name)} ({detector.label})"
        title = f"{title}, {detector.citation}" if detector.citation else title
        output.say_sentences(f"{title}\n    {detector.summary or NO_SUMMARY}")
        columns = "one column" if detector.univariate else "one or several columns"
        training = "the end of a training part" if detector.trains else "no training"
        extra = f", {extras.install(detector.extra)}" if detector.extra else ""
        output.say_sentences(f"    Takes {columns}. Needs {training}{extra}.")
        parameters = "; ".join(f"{name}: {value}" for name, value in detector.parameters.items())
        output.say_sentences(f"    Parameters: {parameters or 'none'}.")
