"""Labelled series: from files or columns in memory, and a generated one to try things on."""

from dqeval.datasets.columns import read_columns, series_of
from dqeval.datasets.demo import demo

__all__ = ["demo", "read_columns", "series_of"]
