"""Names that every docstring example may use, and what no test leaves behind."""

import os
import sys

import numpy as np
import pytest

import dqeval
from dqeval.core.registry import DETECTORS, METRICS
from dqeval.datasets import FORMATS

# Plots are drawn where there may be no screen, also by the programs that tests start.
os.environ["MPLBACKEND"] = "Agg"


@pytest.fixture(autouse=True)
def _names(doctest_namespace):
    doctest_namespace.update(dqeval=dqeval, np=np)


@pytest.fixture(autouse=True)
def _registered_before(monkeypatch):
    """Forget the metrics, detectors and formats that a test, or an example, registers."""
    for registry in (METRICS, DETECTORS, FORMATS):
        monkeypatch.setattr(registry, "_entries", dict(registry._entries))


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(request, monkeypatch, tmp_path_factory):
    """Let examples write files, such as run folders, where nobody minds."""
    if isinstance(request.node, pytest.DoctestItem):
        monkeypatch.chdir(tmp_path_factory.mktemp("example"))


@pytest.fixture(autouse=True)
def _no_figure_left_open():
    """Close the figures that tests and examples draw."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
