"""The metrics, one family a module."""

from dqeval.metrics.dqe import dqe_score, sdqe_score

__all__ = ["dqe_score", "sdqe_score"]
