"""Names in the registries: one for each function."""

import subprocess
import sys
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


def test_the_first_thing_registered_still_comes_after_those_of_dqeval():
    program = """
from dqeval.core.registry import METRICS, metric
import sys
assert "dqeval.metrics" not in sys.modules
@metric(takes="scores")
def mine(y_true, y_score):
    '''Return a number.'''
try:
    @metric(takes="scores", name="auc_pr")
    def other(y_true, y_score):
        '''Return a number.'''
except ValueError as error:
    assert "already exists" in str(error)
else:
    raise AssertionError("auc_pr is taken")
assert METRICS.names[0] == "dqe" and METRICS.names[-1] == "mine", METRICS.names
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_two_threads_use_the_registries_first():
    """One imports the metrics, which register themselves, while the other one asks for them."""
    program = """
from threading import Thread
from dqeval.core.registry import DETECTORS, METRICS
counts = []
def ask(*registries):
    counts.append([len(registry) for registry in registries])
threads = [Thread(target=ask, args=pair) for pair in [(METRICS, DETECTORS), (DETECTORS, METRICS)] * 4]
[thread.start() for thread in threads]
[thread.join(30) for thread in threads]
assert sorted(map(sorted, counts)) == [sorted([len(METRICS), len(DETECTORS)])] * 8, counts
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_who_remembers_a_registry_early_remembers_all_of_it():
    program = """
from dqeval.core.registry import DETECTORS, METRICS
before = [dict(registry._entries) for registry in (METRICS, DETECTORS)]
METRICS._entries, DETECTORS._entries = before
assert METRICS["auc_pr"].name in METRICS and DETECTORS["sub_lof"].name in DETECTORS
"""
    subprocess.run([sys.executable, "-c", program], check=True)
