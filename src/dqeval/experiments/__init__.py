"""Every experiment of the paper, with its numbers beside the published ones."""

from collections.abc import Iterator

from dqeval import validate
from dqeval.experiments.outcome import Cell, Claim, Outcome
from dqeval.experiments.setting import NoDataError, Setting
from dqeval.registry import EXPERIMENTS

# The order of these imports is the order in which they are listed and run: the quick ones first.
# isort: off
from dqeval.experiments import cases, scenarios, sweeps, thresholds, case_study, rankings, robustness

# isort: on

__all__ = [
    "ALL",
    "EXPERIMENTS",
    "Cell",
    "Claim",
    "NoDataError",
    "Outcome",
    "Setting",
    "case_study",
    "cases",
    "rankings",
    "reproduce",
    "robustness",
    "scenarios",
    "sweeps",
    "thresholds",
]

ALL = "all"


def reproduce(name: str, setting: Setting) -> Iterator[Outcome]:
    """Run an experiment of the paper, or all of them, and yield what they find, one after the other."""
    for experiment in EXPERIMENTS if validate.text("name", name) == ALL else [EXPERIMENTS[name]]:
        if setting.case is not None and setting.case not in experiment.cases:
            there = f"there are {', '.join(experiment.cases)}" if experiment.cases else "it has none"
            raise ValueError(f"{experiment.name} has no case called {setting.case!r}: {there}")
        yield from experiment.function(setting)
