"""Names that every docstring example may use."""

import os

import numpy as np
import pytest

import dqeval

# Plots are drawn where there may be no screen, also by the programs that tests start.
os.environ["MPLBACKEND"] = "Agg"


@pytest.fixture(autouse=True)
def _names(doctest_namespace):
    doctest_namespace.update(dqeval=dqeval, np=np)
