"""Labelled series: from files, and a generated one to try things on."""

from dqeval.datasets.columns import read_columns
from dqeval.datasets.demo import demo

__all__ = ["demo", "read_columns"]
