"""Changed copies of labels and scores: each kind against its definition written slowly."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dqeval
import naive
import strategies
from dqeval.core.events import find_events, split_at
from dqeval.core.prepared import Labelled
from dqeval.core.timeline import TimeAxis
from dqeval.lab import perturbations
from dqeval.lab.perturbations import DENSITIES, KINDS, PERTURBATIONS, RANDOM, Given, moved, reacting_late, split


def with_breaks(labels, breaks):
    """Return labels with something that was not observed before some points."""
    axis = TimeAxis(0, 1, len(labels), "number", tuple(breaks), (3,) * len(breaks)) if breaks else None
    return Labelled(np.array(labels, dtype=bool), axis)


@st.composite
def broken(draw):
    """Draw labels with an event, and breaks."""
    labels = draw(strategies.labels())
    breaks = draw(st.sets(st.integers(1, max(len(labels) - 1, 1)), max_size=3)) if len(labels) > 1 else set()
    return labels, sorted(breaks)


def copies(kind, labelled, scores, period=20, draws=4, seed=0):
    given = Given(labelled, np.asarray(scores, dtype=float), period)
    perturbation = RANDOM if kind == RANDOM.name else PERTURBATIONS[kind]
    return list(perturbation.change(given, np.random.default_rng(seed), draws))


CUT = {"labels", "scores", "both"}
CHANGED = {
    "lag": {"scores"},
    "noise": {"scores"},
    "jitter": {"labels"},
    "splits": {"labels"},
    "ratio": CUT,
    "length": CUT,
    "delay": {"scores"},
}
LABELS = np.zeros(200, dtype=bool)
LABELS[50:60] = LABELS[120:124] = LABELS[150] = True
SCORES = np.random.default_rng(1).random(200)


@given(broken(), st.data())
def test_moved_borders(case, data):
    labels, breaks = case
    events = split_at(find_events(np.array(labels, dtype=bool)), np.array(breaks, dtype=np.intp))
    moves = data.draw(st.lists(st.integers(-9, 9), min_size=2 * len(events), max_size=2 * len(events)))
    found = list(moved(events, np.array(moves), np.array(breaks, dtype=np.intp)))
    assert found == naive.moved_borders(list(events), moves, breaks, len(labels))
    assert len(found) == len(events)
    assert all(0 <= start < stop <= len(labels) for start, stop in found)
    for (_, before), (after, _) in pairwise(found):
        assert before < after or (before == after and before in breaks)
    assert not any(start < place < stop for start, stop in found for place in breaks)


@given(broken(), st.integers(1, 4))
def test_split_events(case, missing):
    labels, breaks = case
    found = split(with_breaks(labels, breaks), missing)
    wanted = naive.split_events(labels.tolist(), missing, breaks)
    assert (None if found is None else found.astype(int).tolist()) == wanted


@given(strategies.labels(), st.integers(0, 30))
def test_parts_with_whole_events(labels, size):
    size = min(size, len(labels))
    found = perturbations.whole_starts(np.array(labels, dtype=bool), size)
    assert found.tolist() == naive.whole_parts(labels.tolist(), size)


@given(broken(), st.integers(1, 6), st.data())
def test_scores_that_react_late(case, late, data):
    labels, breaks = case
    scores = data.draw(strategies.scores(len(labels)))
    found = reacting_late(with_breaks(labels, breaks), scores, late)
    assert found.tolist() == naive.late_scores(labels.tolist(), scores.tolist(), late, breaks)


class TestKinds:
    def test_they_have_names_and_sentences(self):
        assert KINDS == ("lag", "noise", "jitter", "splits", "ratio", "length", "delay", "random")
        for each in (*PERTURBATIONS.values(), RANDOM):
            assert each.label
            assert not each.definition.endswith(".")

    @pytest.mark.parametrize("kind", KINDS)
    def test_the_same_seed_gives_the_same_copies_and_nothing_given_is_changed(self, kind):
        labelled, scores = Labelled(LABELS.copy()), SCORES.copy()
        one, same = (copies(kind, labelled, scores) for _ in range(2))
        assert len(one) == len(same) > 0
        for a, b in zip(one, same, strict=True):
            assert a.at == b.at
            assert (a.labelled.labels == b.labelled.labels).all()
            assert (a.scores == b.scores).all()
            assert len(a.scores) == len(a.labelled.labels)
        assert (labelled.labels == LABELS).all()
        assert (scores == SCORES).all()

    @pytest.mark.parametrize("kind", PERTURBATIONS)
    def test_labels_change_scores_change_or_both_are_cut(self, kind):
        for copy in copies(kind, Labelled(LABELS), SCORES):
            changed = {
                "labels": copy.labelled.labels.tolist() != LABELS.tolist(),
                "scores": copy.scores.tolist() != SCORES.tolist(),
                "both": len(copy.scores) < 200,
            }
            found = {what for what, is_so in changed.items() if is_so}
            assert found == (set() if (kind, copy.at) == ("lag", 0) else CHANGED[kind])

    def test_noise_is_a_twentieth_of_the_range(self):
        for copy in copies("noise", Labelled(LABELS), 40 * SCORES - 7):
            scaled = (SCORES - SCORES.min()) / (SCORES.max() - SCORES.min())
            off = copy.scores - scaled
            assert 0.045 < np.abs(off).max() <= 0.05
            assert abs(off.mean()) < 0.01

    def test_jitter_reaches_a_tenth_of_the_period_to_either_side(self):
        moves = set()
        for copy in copies("jitter", Labelled(LABELS), SCORES, period=30, draws=100):
            events = list(copy.labelled.events)
            assert len(events) == 3
            moves.add(events[0][0] - 50)
        assert moves == {-3, -2, -1, 0, 1, 2, 3}

    def test_jitter_moves_by_a_point_where_there_is_no_period(self):
        found = {copy.labelled.events.starts[0] for copy in copies("jitter", Labelled(LABELS), SCORES, 0, draws=30)}
        assert found == {49, 50, 51}

    def test_splits(self):
        found = copies("splits", Labelled(LABELS), SCORES)
        assert [copy.at for copy in found] == [1, 2, 3, 5, 8]
        assert [len(copy.labelled.events) for copy in found] == [5, 5, 4, 4, 4]
        assert copies("splits", Labelled(np.array([0, 1, 1, 0], dtype=bool)), [1, 2, 3, 4]) == []

    def test_lags(self):
        found = copies("lag", Labelled(LABELS), SCORES, period=20)
        assert [copy.at for copy in found] == [-5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5]
        assert found[0].scores[:-5].tolist() == SCORES[5:].tolist()
        assert copies("lag", Labelled(LABELS), SCORES, period=1) == []

    def test_delays_end_with_the_near_range_or_the_longest_event(self):
        assert [copy.at for copy in copies("delay", Labelled(LABELS), SCORES, period=12)] == [2, 3, 4, 5, 6]
        assert [copy.at for copy in copies("delay", Labelled(LABELS), SCORES, period=900)] == [2, 4, 6, 8, 10]
        assert [copy.at for copy in copies("delay", Labelled(LABELS), SCORES, period=0)] == [1]

    def test_parts_are_shorter_and_shorter(self):
        found = copies("length", Labelled(LABELS), SCORES, draws=5)
        assert [len(copy.scores) for copy in found] == [180, 160, 140, 120, 100]
        whole = {10, 4, 1}
        for copy in found:
            assert set(copy.labelled.lengths.tolist()) <= whole
            assert len(copy.labelled.events) >= 1
        assert copies("length", Labelled(np.ones(50, dtype=bool)), np.zeros(50)) == []

    def test_windows(self):
        found = copies("ratio", Labelled(LABELS), SCORES)
        assert found[0].at == pytest.approx(0.2)
        assert [copy.at for copy in found] == sorted((copy.at for copy in found), reverse=True)
        assert all(len(copy.labelled.events) == 1 for copy in found)

    def test_windows_do_not_cross_a_gap(self):
        for copy in copies("ratio", with_breaks(LABELS, [40, 70]), SCORES):
            assert not len(copy.labelled.breaks)

    def test_random_detections(self):
        found = copies("random", Labelled(LABELS), SCORES, draws=50)
        assert [copy.at for copy in found] == [density for density in DENSITIES for _ in range(50)]
        for density in DENSITIES:
            shares = [copy.scores.mean() for copy in found if copy.at == density]
            assert np.mean(shares) == pytest.approx(density, abs=0.02)
        assert set(np.unique([copy.scores for copy in found])) == {0.0, 1.0}


def test_a_part_of_a_clock_has_its_times():
    axis = TimeAxis(100, 10, 8, "number", breaks=(2, 5), gaps=(3, 1))
    for start in range(8):
        for stop in range(start + 1, 9):
            assert axis.part(start, stop).times().tolist() == axis.times()[start:stop].tolist()
    labelled = Labelled(np.array([0, 1, 1, 0, 1, 1, 0, 0], dtype=bool), axis)
    assert labelled.part(1, 7).place(0) == labelled.place(0)
    assert list(labelled.part(1, 7).events) == [(0, 1), (1, 2), (3, 4), (4, 5)]


def test_random_detections_of_table_6_peak_at_a_tenth():
    """One event of 21 in 1,000 points, near 20: DQE at one threshold."""
    labels = np.zeros(1000, dtype=int)
    labels[490:511] = 1
    found = dqeval.stress(labels, SCORES[:1].repeat(1000), near=20, metrics=["dqe"], kinds=["random"], draws=200)
    means = {level.density: level.mean for level in found.chance}
    deviations = {level.density: level.deviation for level in found.chance}
    assert max(means, key=means.get) in (0.05, 0.1)
    assert means[0.1] == pytest.approx(0.414, abs=3 * deviations[0.1] / np.sqrt(200))
    assert means[0.9] == 0
