"""How good a time-series anomaly detector is, event by event, and why."""

from dqeval import datasets, kernels, metrics
from dqeval.evaluate import combine, evaluate, evaluate_detections
from dqeval.metrics import dqe_score, sdqe_score
from dqeval.partition import partition
from dqeval.period import find_period
from dqeval.types import Combined, Curve, DQEResult, EventScores, Partition, Region, Scores
from dqeval.validate import UndefinedError, UndefinedWarning

__all__ = [
    "Combined",
    "Curve",
    "DQEResult",
    "EventScores",
    "Partition",
    "Region",
    "Scores",
    "UndefinedError",
    "UndefinedWarning",
    "combine",
    "datasets",
    "dqe_score",
    "evaluate",
    "evaluate_detections",
    "find_period",
    "kernels",
    "metrics",
    "partition",
    "sdqe_score",
]


def __getattr__(name: str) -> str:
    # The version is looked up when asked for: the import of importlib.metadata costs more than that of dqeval.
    if name == "__version__":
        from importlib.metadata import version

        return version("dqeval")
    raise AttributeError(f"module 'dqeval' has no attribute {name!r}")
