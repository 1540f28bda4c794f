"""A few thousand hostile inputs, always the same: each ends in a result, or in one sentence and exit code 2."""

import pytest

import dqeval

from . import inputs, runs

INPUTS = 3000
KINDS = ("files", "plan")


@pytest.mark.skipif(not dqeval.kernels.compiled, reason="what is read does not depend on it: one run is enough")
def test_hostile_inputs():
    tally = runs.supervised("ci", 0, INPUTS, kinds=KINDS)
    assert not tally.failures, "\n".join(map(str, tally.failures))
    assert sum(tally.outcomes.values()) == INPUTS
    codes = {}
    for kind, code in tally.outcomes:
        codes.setdefault(kind, set()).add(code)
    for kind in (*(f"{name} check" for name in inputs.WRITERS), "list pack list", "plan plan"):
        assert codes[kind] >= {0, 2}, kind


def test_what_is_wrong_is_noticed():
    assert runs._wrong(0, "") == runs._wrong(2, "dqeval: a.csv: this is a directory\n") == ""
    for code, said in ((1.5, ""), (139, ""), (2, ""), (0, "RuntimeWarning"), (2, "this is a bug"), (2, "x" * 5000)):
        assert runs._wrong(code, said)


def test_an_input_is_made_again_from_its_number():
    for number in range(50):
        assert runs.make("ci", number)[0] == runs.make("ci", number)[0]


def test_a_process_that_dies_is_noticed(monkeypatch):
    def die(seed, first, count, kinds):
        died = first <= 7 < first + count
        found = runs.Tally(runs.Counter({("a.csv check", 0): count}))
        return (None, 7, "died with -11: ") if died else (found, first + count - 1, "")

    monkeypatch.setattr(runs, "_in_a_process", die)
    tally = runs.supervised("ci", 0, 20)
    assert sum(tally.outcomes.values()) == 19
    assert [(number, how) for number, _, how in tally.failures] == [(7, "died with -11: ")]
