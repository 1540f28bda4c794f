"""What a detector does at each event, in plain words that are true."""

import pickle
import tracemalloc
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given

import dqeval
import naive
import strategies
from dqeval.analysis.explain import THRESHOLDS
from dqeval.analysis.suggestion import NEAR_THE_BEST
from dqeval.core.types import PARTS

PIECES_OF = {"near_miss": ("near_early", "near_late"), "false_alarm": ("alarm_early", "alarm_late")}


def touched(labels, near, names):
    """Return the points that lie at least in part in some pieces."""
    anomalies = naive.events(labels)
    found = set()
    for i, anomaly in enumerate(anomalies):
        pieces = naive.pieces(anomaly, naive.local_region(anomalies, i, len(labels)), Fraction(near))
        for low, high in (pieces[name] for name in names):
            found |= {t for t in range(len(labels)) if max(t, low) < min(t + 1, high)}
    return sorted(found)


def overhang(labels, near, detections):
    """Return the points outside the events, in their regions, up to which an alarm that captures one goes on."""
    anomalies = naive.events(labels)
    found = set()
    for i, (start, stop) in enumerate(anomalies):
        left, right = naive.local_region(anomalies, i, len(labels))
        for border, step in ((int(start), -1), (int(stop) - 1, 1)):
            t = border
            while detections[t] and 0 <= t + step < len(labels) and detections[t + step]:
                t += step
                if not max(t, left) < min(t + 1, right):
                    break
                found.add(t)
    return sorted(found)


def mended(labels, scores, near, parts):
    """Return DQE of each event as it would be without some kinds of trouble."""
    scores = list(scores)
    for part in parts:
        if part == "capture":
            for start, stop in naive.events(labels):
                scores[max(range(int(start), int(stop)), key=lambda t: scores[t])] = 1.0
        else:
            for t in touched(labels, near, PIECES_OF[part]):
                scores[t] = 0.0
    return naive.sampled(labels, scores, near)[:, 0]


@given(strategies.labelled(strategies.scores, most=6, longest=5), strategies.exact_near)
@pytest.mark.unmeasured
@pytest.mark.slow
def test_costs_are_the_mean_gains_over_all_orders_of_mending(drawn, near):
    labels, scores = drawn
    found = dqeval.explain(labels, scores, near=near)
    if not set(scores) <= {0, 1} or all(scores):
        scores = naive.scaled(scores.tolist())
    # Parts are mended at different points, so the order in which some were mended does not matter.
    dqe = {chosen: mended(labels, scores, near, chosen) for size in range(4) for chosen in combinations(PARTS, size)}
    gains = {part: [] for part in PARTS}
    for order in permutations(PARTS):
        for i, part in enumerate(order):
            before, after = (tuple(p for p in PARTS if p in order[:size]) for size in (i, i + 1))
            gains[part].append(dqe[after] - dqe[before])
    for part in PARTS:
        costs = [event.costs[part] for event in found.events]
        assert costs == pytest.approx(np.mean(gains[part], axis=0), abs=1e-9)
        assert found.costs[part] == pytest.approx(np.mean(costs), abs=1e-12)
    for event in found.events:
        assert event.scores.dqe + sum(event.costs.values()) == pytest.approx(1, abs=1e-9)


@given(strategies.labelled(strategies.scores), strategies.exact_near)
@pytest.mark.unmeasured
def test_the_threshold_to_start_from_is_near_the_best(drawn, near):
    labels, scores = drawn
    found = dqeval.explain(labels, scores, near=near)
    curve = found.result.curve
    assert found.sdqe >= curve.dqe.max() - NEAR_THE_BEST - 1e-12
    assert 1 <= found.step <= THRESHOLDS
    detections = scores >= found.threshold
    if detections.any():
        assert dqeval.sdqe_score(labels, detections, near=near) == pytest.approx(found.sdqe, abs=1e-12)
        assert [e.captured for e in found.events] == [
            bool(detections[e.scores.start : e.scores.stop].any()) for e in found.events
        ]
    else:
        assert found.threshold == np.inf
        assert not found.improvements


@given(strategies.labelled(strategies.scores), strategies.exact_near)
@pytest.mark.unmeasured
def test_improvements_keep_their_promise(drawn, near):
    labels, scores = drawn
    found = dqeval.explain(labels, scores, near=near)
    detections = scores >= found.threshold
    before = naive.detections_scores(labels, detections, near)[:, 0]
    assert len(found.improvements) <= 3
    for step in found.improvements:
        better = detections.copy()
        if step.part == "capture":
            event = found.events[step.event].scores
            better[event.start + np.argmax(scores[event.start : event.stop])] = True
        else:
            better[touched(labels, near, PIECES_OF[step.part])] = False
        if step.part == "near_miss" and near > 0:
            better[overhang(labels, near, detections)] = False
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
        (
            [0, 0, 0, 0, 0, 9, 9, 0, 0, 0, 0, 0],
            "Captured, at every threshold; no near miss; no false alarm. Nothing",
        ),
        (
            [9, 0, 0, 0, 0, 6, 5, 0, 0, 0, 0, 0],
            "Captured, at thresholds up to 6, 66 % of them; no near miss; one false",
        ),
        (
            [0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0],
            "Never captured; one near miss, right after it; no false alarm. Miss",
        ),
        ([0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0], "one near miss, right before it"),
        ([0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0], "one near miss, 1 point early"),
        ([0, 0, 9, 0, 0, 0, 0, 0, 9, 0, 0, 0], "2 near misses, the nearest 1 point late"),
        (
            [8, 8, 0, 0, 0, 9, 9, 0, 0, 0, 0, 8],
            "no near miss; no false alarm (first at 8). False alarms cost most",
        ),
        ([9, 9, 0, 0, 0, 9, 9, 0, 0, 0, 0, 9], "2 false alarms, 3 points in all, scattered over 12 points. False"),
        ([0, 0, 0, 8, 0, 9, 9, 8, 8, 0, 0, 0], "no near miss (first at 8); no false alarm. Near misses cost most"),
    ],
)
def test_sentences(y_score, words):
    assert words in sentence([0, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0], y_score)


def wide(start, stop, *, near, more=()):
    """Return the explanation of an alarm around the event [100, 120), and of alarms at more points."""
    labels, scores = np.zeros(400, int), np.zeros(400)
    labels[100:120] = 1
    scores[start:stop] = 9
    scores[list(more)] = 9
    return dqeval.explain(labels, scores, near=near)


def test_a_wide_alarm_is_one_alarm_and_no_near_miss():
    found = wide(88, 160, near=50)
    (event,) = found.events
    assert "; the alarm is wider than the event: 12 points early, 40 late; no false alarm. " in event.sentence
    assert event.sentence.endswith("Near misses, the alarm's width among them, cost most (0.18 of DQE).")
    assert (event.near_misses, event.early, event.late, event.beyond) == ((), 12, 40, 0)
    assert found.improvements[0].sentence.startswith(
        "Begin the alarm at [100, 120) 12 points later and end it 40 points earlier: DQE of this event rises from "
    )
    assert "near miss around" not in str(found)
    row = found.records()[0]
    assert (row["near_misses"], row["early"], row["late"], row["beyond_near"]) == (0, 12, 40, 0)


@pytest.mark.parametrize(
    ("start", "stop", "near", "more", "words"),
    [
        (88, 110, 50, (), "the alarm is wider than the event: 12 points early; no false alarm"),
        (110, 121, 50, (), "the alarm is wider than the event: 1 point late; no false alarm"),
        (88, 160, 24, (), "12 points early, 40 late, 16 of them beyond the near range, where they are a false alarm. "),
        (88, 160, 24, (300,), "where they are a false alarm; one false alarm of 1 point. "),
        (88, 130, 50, (140,), "12 points early, 10 late; one near miss, 20 points late; no false alarm"),
        (
            100,
            130,
            0,
            (),
            "10 points late, 10 of them beyond the near range, where they are a false alarm. False alarms, the",
        ),
    ],
)
def test_wide_alarms_in_words(start, stop, near, more, words):
    assert words in wide(start, stop, near=near, more=more).events[0].sentence


def test_an_alarm_beside_an_event_that_it_does_not_touch_is_a_near_miss():
    found = wide(88, 100, near=50, more=(110,))
    assert "Captured, at every threshold; one near miss, right before it; no" in found.events[0].sentence
    assert found.events[0].early == 0


def test_alarms_after_an_event_are_near_misses_and_false_alarms():
    """Of operators, they are false alarms; without a word, the two counts would contradict each other."""
    said = "An alarm soon after an event is a near miss in these lines, and may be one of the false alarms above."
    labels = np.zeros(200, dtype=int)
    labels[[100, 101, 150, 151]] = 1
    exact = labels.astype(float) + 0.001 * np.arange(200)
    late, early, lone = exact.copy(), exact.copy(), exact.copy()
    late[[105, 155]] = early[[95, 145]] = lone[20] = 2.0
    pages = {}
    for name, scores in {"late": late, "early": early, "lone": lone, "exact": exact}.items():
        pages[name] = str(dqeval.explain(labels, scores, near=10))
        assert ("; 0 false alarms" in pages[name]) == (name in ("early", "exact")), pages[name]
    assert [name for name, page in pages.items() if said in page] == ["late"]


def test_alarms_are_narrowed_and_others_silenced():
    (step,) = wide(90, 120, near=50, more=(140,)).improvements
    assert step.sentence.startswith(
        "Begin the alarm at [100, 120) 10 points later and silence the near miss around [100"
    )
    all_of_it, beyond = wide(100, 190, near=24).improvements
    assert beyond.sentence.startswith("End the alarm at [100, 120) 46 points earlier: DQE of this event rises from ")
    assert all_of_it.sentence.startswith("End the alarm at [100, 120) 70 points earlier: DQE of this event rises from ")
    assert all_of_it.after == 1
    assert len(wide(100, 130, near=0).improvements) == 1


def test_an_alarm_over_two_events_is_cut_between_them():
    labels, scores = np.zeros(100, int), np.zeros(100)
    labels[[30, 60]] = 1
    scores[30:61] = 9
    first, second = dqeval.explain(labels, scores, near=20).events
    assert (first.early, first.late, second.early, second.late) == (0, 14.5, 14.5, 0)
    assert "14.5 points late" in first.sentence


def test_an_alarm_that_ends_within_a_point_of_the_next_region():
    labels, scores = [1, 1, 0, 0, 0, 1], [0, 1, 1, 1, 0, 1]
    found = dqeval.explain(labels, scores, near=0.125)
    (step,) = (step for step in found.improvements if step.part == "near_miss")
    assert step.sentence.startswith("End the alarm at [0, 2) 1.5 points earlier")


def test_nothing_detected_explains_its_zeros():
    labels, scores = np.zeros(100, int), np.zeros(100)
    labels[[30, 60]] = 1
    scores[[30, 60]] = 9, 1
    scores[[1, 9, 48, 52, 70, 80, 90, 95, 99]] = 2
    first, second = dqeval.explain(labels, scores, near=5).events
    assert "no false alarm (first at 2): nothing is detected here, so every score is 0. Missing it" in second.sentence
    assert "nothing is detected" not in first.sentence


def test_captured_is_not_called_missing():
    labels, scores = np.zeros(60, int), np.zeros(60)
    labels[[20, 40]] = 1
    scores[[20, 40]] = 9, 5
    captured = dqeval.explain(labels, scores, near=5).events[1].sentence
    assert captured.startswith("Captured, at thresholds up to 5")
    assert captured.endswith("Most is lost at the thresholds that miss it (0.45 of DQE).")


def test_one_false_alarm_of_one_point():
    assert "one false alarm of 1 point." in sentence([0, 0, 0, 0, 0, 1, 0], [9, 0, 0, 0, 0, 9, 0.5], near=1)


def test_what_only_several_changes_together_can_mend_costs_all_the_same():
    labels, scores = np.zeros(100, int), np.zeros(100)
    labels[50:52] = 1
    scores[:40] = scores[60:95] = 1
    (event,) = dqeval.explain(labels, scores, near=5).events
    assert event.scores.dqe == 0
    assert event.costs["capture"] == event.costs["false_alarm"] == 0.5
    assert "costs most (0.50 of DQE)" in event.sentence


def test_the_threshold_lies_in_the_middle_of_the_best_range():
    labels, scores = [0, 0, 0, 1, 1, 0, 0, 0], [0, 1, 0, 10, 10, 0, 1, 0]
    assert dqeval.explain(labels, scores, near=1).threshold == 5
    huge = np.where(np.array(scores) == 10, 1.5e308, -1.5e308)  # whose range no float holds
    assert dqeval.explain(labels, huge, near=1).sdqe == 1


def test_a_score_far_above_all_others_hides_no_threshold():
    labels, scores = np.zeros(200, int), np.tile([0.1, 0.2], 100)
    labels[[50, 120]] = 1
    scores[[50, 120]] = 0.9
    scores[180] = 1e9
    found = dqeval.explain(labels, scores, near=5)
    assert 0.2 < found.threshold <= 0.9
    assert [event.captured for event in found.events] == [True, True]
    assert found.events[0].sentence.startswith("Captured, at thresholds up to 0.9, 0 % of them")


def test_scores_are_shown_with_as_many_digits_as_tell_them_apart():
    scores = 100_000 + np.array([0, 0, 0.01, 0, 0.03, 0.02, 0, 0, 0.005])
    found = dqeval.explain([0, 0, 0, 0, 0, 1, 0, 0, 0], scores, near=1)
    assert "up to 100000.02, " in found.events[0].sentence
    assert 100_000 < found.threshold <= 100_000.03


def test_detections_are_taken_as_they_are():
    most = dqeval.explain([0, 1, 0, 0], [1, 1, 1, 0], near=1)
    assert most.result.capture == 1
    assert most.threshold == 0.5
    assert dqeval.explain([0, 1, 0, 0], [1, 1, 1, 1], near=1).result.capture == 0  # scores, which separate nothing
    assert dqeval.explain([0, 1, 0, 0], [0, 0, 0, 0], near=1).shown_threshold == "none"


def test_improvements_in_words():
    labels = np.zeros(60, int)
    labels[[10, 30, 50]] = 1
    scores = np.zeros(60)
    scores[[10, 50]] = 9
    scores[30] = 4
    found = dqeval.explain(labels, scores, near=2, name="mine")
    assert str(found).startswith("mine: DQE 0.813 (capture 0.813")
    assert "Suggested threshold: 2.0 (DQE 1.000 there)." in str(found)
    assert "Cheapest" not in str(found)
    scores[[1, 4, 7, 16, 25, 36, 39, 44, 55, 58]] = 5
    scores[51] = 9
    steps = [step.sentence for step in dqeval.explain(labels, scores, near=2).improvements]
    assert steps == [
        "Raise the highest score in [30, 31) from 4 to 7.0: DQE of this event rises from 0.00 to 1.00.",
        "End the alarm at [50, 51) 1 point earlier: DQE of this event rises from 0.88 to 1.00.",
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
    assert (row["near_misses"], row["nearest_near_miss"], row["false_alarms"]) == (0, None, 0)


def test_labels_without_an_anomaly_are_an_error():
    with pytest.raises(dqeval.UndefinedError):
        dqeval.explain([0, 0, 0], [1, 2, 3])


def with_many_events(points=4_000):
    random = np.random.default_rng(0)
    return (np.arange(points) % 20 == 10).astype(int), random.normal(size=points)


@pytest.mark.parametrize("times", [None, np.arange(4_000) * 60], ids=["points", "clock"])
def test_events_are_made_when_they_are_asked_for(times):
    """Copies, pickled or changed, are the same, whether they were asked for before or not."""
    found, other = (dqeval.explain(*with_many_events(), near=4, times=times) for _ in range(2))
    assert callable(vars(found)["_events"])
    pickled, with_events = pickle.loads(pickle.dumps(found)), other.events
    assert callable(vars(pickled)["_events"])
    assert callable(vars(found.with_cautions(()))["_events"])
    assert len(with_events) == 200
    assert found == pickled == other == pickle.loads(pickle.dumps(other))
    assert repr(found) == repr(other)
    assert replace(found, name="other").events == with_events
    assert found.events is found.events


def test_events_that_nobody_asks_for_take_little_memory():
    labels, scores = with_many_events()
    dqeval.explain(labels, scores, near=4)  # what is imported and kept at first
    tracemalloc.start()
    found = dqeval.explain(labels, scores, near=4)
    before = tracemalloc.get_traced_memory()[0]
    events = found.events
    of_objects = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    points = len(labels) * (4 + 4)  # the levels, for the curve, and what is much shorter
    assert before - points < of_objects / 2, f"{before / len(events):.0f} bytes of an event"


def test_scores_that_differ_in_the_last_digit_are_shown_in_full():
    below, score = 0.3, 0.1 + 0.2
    found = dqeval.explain([0, 1, 0, 0, 0], [0.0, score, below, 0.1, 0.0], near=0)
    assert found.events[0].captured_to == "0.30000000000000004"
