"""What people look at: outcomes in words, the figure for a paper, the interactive page."""

from dqeval.report.page import report

__all__ = ["report"]
