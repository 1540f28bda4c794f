"""Names that every docstring example may use, and what no test leaves behind."""

import os
import sys
from importlib.util import find_spec

import numpy as np
import pytest

import dqeval
from dqeval.core.registry import DETECTORS, METRICS
from dqeval.datasets import FORMATS

# Plots are drawn where there may be no screen, also by the programs that tests start.
os.environ["MPLBACKEND"] = "Agg"

# Modules and pages whose examples train a network.
TRAIN_NETWORKS = {"cnn", "convolution", "times_net", "timesnet"}


def pytest_collection_modifyitems(items):
    """Leave out examples that need PyTorch where it is not there, as tests of networks do."""
    if find_spec("torch") is None:
        for item in items:
            if isinstance(item, pytest.DoctestItem) and item.path.stem in TRAIN_NETWORKS:
                item.add_marker(pytest.mark.skip("PyTorch is not installed"))


@pytest.fixture(scope="session", autouse=True)
def _one_cluster():
    """Start Ray once for the tests and the examples of its adapter: each start takes ten seconds of processor time.

    It may do more at once than there are cores, because the tasks of a shuffle wait for each other.
    """
    ray = pytest.importorskip("ray") if os.environ.get("DQEVAL_ADAPTER") == "ray" else None
    if ray:
        ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False)
    yield
    if ray:
        ray.shutdown()


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
