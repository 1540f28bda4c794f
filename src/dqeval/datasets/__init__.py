"""Labelled series: from files of many formats or columns in memory, and generated ones to try things on."""

from dqeval.datasets import formats  # noqa: F401  (fills FORMATS)
from dqeval.datasets.columns import read_columns, series_of
from dqeval.datasets.example import demo
from dqeval.datasets.generator import synthetic
from dqeval.datasets.loading import FORMATS, load, read, series_format

__all__ = ["FORMATS", "demo", "load", "read", "read_columns", "series_format", "series_of", "synthetic"]
