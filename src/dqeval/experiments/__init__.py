"""Every experiment of the paper, with its numbers beside the published ones."""

from collections.abc import Iterator

from dqeval.core import validate
from dqeval.core.registry import EXPERIMENTS
from dqeval.experiments.outcome import Cell, Claim, Outcome
from dqeval.experiments.setting import NoDataError, Setting

# They fill EXPERIMENTS. Their order here is that in which they are listed and run: the quick ones first.
# isort: off
from dqeval.experiments import cases, scenarios, sweeps, threshold_span, case_study, rankings, robustness  # noqa: F401

# isort: on

__all__ = [
    "ALL",
    "EXPERIMENTS",
    "Cell",
    "Claim",
    "NoDataError",
    "Outcome",
    "Setting",
    "reproduce",
]

ALL = "all"


def reproduce(name: str, setting: Setting) -> Iterator[Outcome]:
    """Run an experiment of the paper, or all of them, and yield what they find, one after the other."""
    for experiment in EXPERIMENTS if validate.text("name", name) == ALL else [EXPERIMENTS[name]]:
        if setting.case is not None and setting.case not in experiment.cases:
            there = f"there are {', '.join(experiment.cases)}" if experiment.cases else "it has none"
            raise ValueError(f"{experiment.name} has no case called {setting.case!r}: {there}")
        yield from experiment.function(setting)
