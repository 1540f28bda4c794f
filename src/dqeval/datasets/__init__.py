"""Labelled series, incidents and alerts: from files of many formats or columns in memory, and generated ones."""

from dqeval.datasets import formats  # noqa: F401  (fills FORMATS)
from dqeval.datasets.columns import read_columns, series_of
from dqeval.datasets.example import demo
from dqeval.datasets.generator import synthetic
from dqeval.datasets.interval_files import IntervalFile, read_intervals
from dqeval.datasets.loading import FORMATS, load, read, series_format
from dqeval.datasets.long_tables import split

__all__ = [
    "FORMATS",
    "IntervalFile",
    "demo",
    "load",
    "read",
    "read_columns",
    "read_intervals",
    "series_format",
    "series_of",
    "split",
    "synthetic",
]
