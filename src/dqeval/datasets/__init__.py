"""Labelled series: from files of many formats or columns in memory, and generated ones to try things on."""

from dqeval.datasets import archives  # noqa: F401  (fills FORMATS)
from dqeval.datasets.columns import read_columns, series_of
from dqeval.datasets.example import demo
from dqeval.datasets.formats import FORMATS, load, read
from dqeval.datasets.generator import synthetic

__all__ = ["FORMATS", "demo", "load", "read", "read_columns", "series_of", "synthetic"]
