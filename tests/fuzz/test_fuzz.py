"""Two thousand hostile inputs, always the same: each ends in a result, or in one sentence and exit code 2."""

import subprocess
import sys

import pytest

import dqeval

from . import inputs, runs

# How many of which kinds, and what must be among the outcomes of some: receipts take longest.
INPUTS = {
    ("files", "plan"): (1000, {0, 2}, (*(f"{name} check" for name in inputs.WRITERS), "list pack list", "plan plan")),
    ("call",): (1000, {0, 2}, ("call call",)),
    ("receipt",): (100, {1, 2}, ("receipt verify",)),
}


def test_every_kind_is_tried():
    assert {kind for kinds in INPUTS for kind in kinds} == set(runs.KINDS)


@pytest.mark.skipif(not dqeval.kernels.compiled, reason="what is read does not depend on it: one run is enough")
@pytest.mark.parametrize("kinds", INPUTS, ids=",".join)
def test_hostile_inputs(kinds):
    count, wanted, among = INPUTS[kinds]
    tally = runs.supervised("ci", 0, count, kinds=kinds)
    assert not tally.failures, "\n".join(map(str, tally.failures))
    assert sum(tally.outcomes.values()) == count
    codes = {}
    for kind, code in tally.outcomes:
        codes.setdefault(kind, set()).add(code)
    for kind in among:
        assert codes[kind] >= wanted, kind


def test_what_is_wrong_is_noticed():
    assert runs._wrong(0, "") == runs._wrong(2, "dqeval: a.csv: this is a directory\n") == ""
    for code, said in ((1.5, ""), (139, ""), (2, ""), (0, "RuntimeWarning"), (2, "this is a bug"), (2, "x" * 5000)):
        assert runs._wrong(code, said)


def test_an_input_is_made_again_from_its_number():
    for number in range(50):
        assert runs.make("ci", number)[0] == runs.make("ci", number)[0]


def test_a_process_that_waits_for_ever_is_noticed(tmp_path):
    def watched(code, silence):
        return runs._watched([sys.executable, "-c", code], tmp_path / "progress", silence)

    assert watched("import time; time.sleep(10_000)", 0.5) == "waited for 0.5 s, and was killed: "
    assert watched("import sys; sys.exit(len(sys.stdin.read()))", 60) == ""  # nobody types anything
    assert watched("import sys; sys.exit('bad')", 60) == "died with 1: bad\n"


def test_progress_is_seen(tmp_path):
    class Slow:
        """A process that writes a new number before each of the first looks at it."""

        looks = 0

        def wait(self, timeout):
            self.looks += 1
            (tmp_path / "progress").write_text(str(min(self.looks, 50)))
            raise subprocess.TimeoutExpired("slow", timeout)

    slow = Slow()
    assert runs._waited(slow, tmp_path / "progress", 0.5)
    assert slow.looks > 50


def test_a_process_that_dies_is_noticed(monkeypatch):
    def die(seed, first, count, kinds):
        died = first <= 7 < first + count
        found = runs.Tally(runs.Counter({("a.csv check", 0): count}))
        return (None, 7, "died with -11: ") if died else (found, first + count - 1, "")

    monkeypatch.setattr(runs, "_in_a_process", die)
    tally = runs.supervised("ci", 0, 20)
    assert sum(tally.outcomes.values()) == 19
    assert [(number, how) for number, _, how in tally.failures] == [(7, "died with -11: ")]
