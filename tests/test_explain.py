"""What a detector does at each event, in plain words that are true."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

import dqeval
import naive
import strategies
from dqeval.explain import KINDS, THRESHOLDS

PIECES_OF = {"near miss": ("near_early", "near_late"), "false alarm": ("alarm_early", "alarm_late")}


def touched(labels, near, names):
    """Return the points that lie at least in part in some pieces."""
    anomalies = naive.events(labels)
    found = set()
    for i, anomaly in enumerate(anomalies):
        pieces = naive.pieces(anomaly, naive.local_region(anomalies, i, len(labels)), Fraction(near))
        for low, high in (pieces[name] for name in names):
            found |= {t for t in range(len(labels)) if max(t, low) < min(t + 1, high)}
    return sorted(found)


def changed(labels, scores, near, kind):
    """Return the scores as they would be without one kind of trouble."""
    scores = list(scores)
    if kind != "capture":
        for t in touched(labels, near, PIECES_OF[kind]):
            scores[t] = 0.0
        return scores
    for start, stop in naive.events(labels):
        scores[max(range(int(start), int(stop)), key=lambda t: scores[t])] = 1.0
    return scores


@settings(max_examples=60)
@given(strategies.labelled(strategies.scores, most=7, longest=6), strategies.exact_near)
def test_gains_are_those_of_changed_scores(drawn, near):
    labels, scores = drawn
    found = dqeval.explain(labels, scores, near=near)
    scores = naive.scaled(scores.tolist())
    ours = naive.sampled(labels, scores, near)[:, 0]
    for kind in KINDS:
        better = naive.sampled(labels, changed(labels, scores, near, kind), near)[:, 0]
        gains = [event.gains[kind] for event in found.events]
        assert gains == pytest.approx(np.maximum(better - ours, 0), abs=1e-9)
        assert found.costs[kind] == pytest.approx(np.mean(gains), abs=1e-12)


@given(strategies.labelled(strategies.scores), strategies.exact_near)
def test_the_threshold_to_start_from_is_the_best(drawn, near):
    labels, scores = drawn
    found = dqeval.explain(labels, scores, near=near)
    curve = found.result.curve
    assert found.sdqe == curve.dqe.max()
    assert curve.dqe[THRESHOLDS - found.step] == found.sdqe
    detections = scores >= found.threshold
    if detections.any():
        assert dqeval.sdqe_score(labels, detections, near=near) == pytest.approx(found.sdqe, abs=1e-12)
    else:
        assert found.threshold == np.inf
        assert not found.improvements


@given(strategies.labelled(strategies.scores), strategies.exact_near)
def test_improvements_keep_their_promise(drawn, near):
    labels, scores = drawn
    found = dqeval.explain(labels, scores, near=near)
    detections = scores >= found.threshold
    before = naive.detections_scores(labels, detections, near)[:, 0]
    assert len(found.improvements) <= 3
    for step in found.improvements:
        better = detections.copy()
        if step.kind == "capture":
            event = found.events[step.event].scores
            better[event.start + np.argmax(scores[event.start : event.stop])] = True
        else:
            better[touched(labels, near, PIECES_OF[step.kind])] = False
        after = naive.detections_scores(labels, better, near)[:, 0]
        assert step.before == pytest.approx(before[step.event], abs=1e-9)
        assert step.after == pytest.approx(after[step.event], abs=1e-9)
        assert step.after > step.before
        assert step.moved > 0


def sentence(y_true, y_score, near=3.0):
    return dqeval.explain(y_true, y_score, near=near).events[0].sentence


@pytest.mark.parametrize(
    ("y_score", "words"),
    [
        ([0, 0, 0, 0, 0, 9, 9, 0, 0, 0, 0, 0], "Captured at every threshold; no near miss; no false alarm. There is"),
        ([9, 0, 0, 0, 0, 6, 5, 0, 0, 0, 0, 0], "Captured at thresholds up to 6 (66% of them); no near miss; one false"),
        ([0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0], "Never captured; one near miss, right behind it; no false alarm. Not"),
        ([0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0], "one near miss, right before it"),
        ([0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0], "one near miss, 1 point early"),
        ([0, 0, 9, 0, 0, 0, 0, 0, 9, 0, 0, 0], "2 near misses, the nearest 1 point late"),
        ([8, 8, 0, 0, 0, 9, 9, 0, 0, 0, 0, 8], "no near miss; no false alarm (first at 8). False alarms cost most"),
        ([9, 9, 0, 0, 0, 9, 9, 0, 0, 0, 0, 9], "2 false alarms, 3 points in all, scattered over 12 points. False"),
        ([0, 0, 0, 8, 0, 9, 9, 8, 8, 0, 0, 0], "no near miss (first at 8); no false alarm. Near misses cost most"),
    ],
)
def test_sentences(y_score, words):
    assert words in sentence([0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0], y_score)


def test_one_false_alarm_of_one_point():
    assert "one false alarm of 1 point." in sentence([0, 0, 0, 0, 0, 1, 0], [9, 0, 0, 0, 0, 9, 0], near=1)


def test_improvements_in_words():
    labels = np.zeros(60, int)
    labels[[10, 30, 50]] = 1
    scores = np.zeros(60)
    scores[[10, 50]] = 9
    scores[30] = 4
    found = dqeval.explain(labels, scores, near=2, name="mine")
    assert str(found).startswith("mine: DQE 0.813 (capture 0.813")
    assert "Threshold to start from: 4.0, where DQE is best (1.000)." in str(found)
    assert "Cheapest" not in str(found)
    scores[[1, 4, 7, 16, 25, 36, 39, 44, 55, 58]] = 5
    scores[51] = 9
    steps = [step.sentence for step in dqeval.explain(labels, scores, near=2).improvements]
    assert steps == [
        "Raise the highest score in [30, 31) from 4 to 9: there DQE goes from 0.00 to 1.00.",
        "Silence the near miss around [50, 51), which scores up to 9: there DQE goes from 0.88 to 1.00.",
    ]
    scores[30] = 9
    scores[[20, 22, 38, 57]] = 9
    steps = [step.sentence for step in dqeval.explain(labels, scores, near=2).improvements]
    assert any("Silence the 3 false alarms around [30, 31), which score up to 9" in step for step in steps)
    assert any("Silence the false alarm around [50, 51), which scores up to 9" in step for step in steps)


def test_nothing_is_ever_detected():
    found = dqeval.explain([0, 1, 0], [2, 2, 2], near=1)
    assert "Nothing is ever detected: all scores are the same." in str(found)
    assert found.numbers()["threshold"] is None
    assert found.improvements == ()


def test_records_and_numbers():
    found = dqeval.explain([0, 1, 0, 0], [0, 2, 1, 0], near=1, name="mine")
    (row,) = found.records()
    assert (row["detector"], row["start"], row["stop"], row["dqe"]) == ("mine", 1, 2, found.result.dqe)
    assert row["sentence"] == found.events[0].sentence
    assert found.numbers()["events"] == [row]
    assert found.numbers()["costs"] == found.costs


def test_labels_without_an_anomaly_are_an_error():
    with pytest.raises(dqeval.UndefinedError):
        dqeval.explain([0, 0, 0], [1, 2, 3])
