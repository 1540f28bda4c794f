"""Every experiment of the paper, with its numbers beside the published ones."""

from collections.abc import Iterator

from dqeval.core import arguments
from dqeval.core.registry import EXPERIMENTS
from dqeval.experiments.outcome import Cell, Claim, Outcome
from dqeval.experiments.setting import NoDataError, Setting

# They fill EXPERIMENTS. Their order here is that in which they are listed and run: the quick ones first.
# isort: off
from dqeval.experiments import cases, scenarios, more_cases, sweeps, random_detections, threshold_span, dataset_table  # noqa: F401
from dqeval.experiments import rankings, case_study, robustness, label_changes, threshold_choice, near_range  # noqa: F401
from dqeval.experiments import check

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
    """Run an experiment of the paper, or all of them, and yield their outcomes, one after the other.

    Parameters
    ----------
    name : str
        The name of an experiment, such as "cases", or "all" but "check": ``dqeval reproduce`` lists them.
    setting : Setting
        How to run it: where the data is, where to keep what takes long, which case, how many series.

    Yields
    ------
    Outcome
        Numbers beside the published ones, claims with a verdict, tables and figures.

    Raises
    ------
    NoDataError
        In the end, if the folder of the setting lacks series that an experiment needs.

    Examples
    --------
    >>> from pathlib import Path
    >>> from dqeval.experiments import Setting, reproduce
    >>> first = next(reproduce("cases", Setting(Path("runs"))))
    >>> first.name, all(claim.holds for claim in first.claims)
    ('cases', True)
    """
    missing = []
    every = [each for each in EXPERIMENTS if each.name != check.NAME]
    for experiment in every if arguments.text("name", name) == ALL else [EXPERIMENTS[name]]:
        if setting.case is not None and setting.case not in experiment.cases:
            hint = f"choose from {', '.join(experiment.cases)}" if experiment.cases else "it has none"
            raise ValueError(f"unknown case {setting.case!r} of {experiment.name}; {hint}")
        try:
            yield from experiment.function(setting)
        except NoDataError as error:  # the others may have all that they need
            missing.append(str(error))
    if missing:
        raise NoDataError("; ".join(dict.fromkeys(missing)))
