"""Names in the registries: one for each function."""

from types import SimpleNamespace

import pytest

from dqeval.core.registry import DETECTORS, METRICS, Registry, detector, metric

MINE = """
from dqeval.core.registry import detector


@detector(label="Mine", citation="none")
def mine(values):
    return values
"""


def test_a_name_that_is_taken():
    def fft(values):
        """Do something else."""

    with pytest.raises(ValueError, match="a detector named 'fft' already exists: choose another name"):
        detector(label="Other", citation="none")(fft)
    with pytest.raises(ValueError, match="a metric named 'auc_roc' already exists"):
        metric(label="O", takes="scores", compute=fft, citation="none", same_as="none", cost=1.0, name="auc_roc")(fft)
    assert DETECTORS["fft"].label == "FFT"
    assert METRICS["auc_roc"].label == "AUC-ROC"


def test_the_same_function_may_be_registered_again(tmp_path):
    def define(module):
        scope = {"__name__": module}
        exec(compile(MINE, str(tmp_path / "mine.py"), "exec"), scope)
        return scope["mine"]

    first = define("mine")
    again = define("mine")
    assert DETECTORS["mine"].function is again is not first
    assert DETECTORS["mine"].function is not define("__main__")


def test_entries_that_are_no_functions():
    registry = Registry("thing")
    for _ in range(2):
        registry.add(SimpleNamespace(name="a", label="A"))
    with pytest.raises(ValueError, match="a thing named 'a' already exists"):
        registry.add(SimpleNamespace(name="a", label="B"))
    assert [entry.label for entry in registry] == ["A"]


def test_a_long_name_is_not_said_whole():
    with pytest.raises(ValueError, match=r"^unknown metric 'x+…; ") as caught:
        METRICS["x" * 3000]
    assert len(str(caught.value)) < 500
