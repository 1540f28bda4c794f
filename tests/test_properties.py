"""What must hold of DQE whatever the input."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dqeval
import strategies as own


@given(own.labelled(own.scores), own.exact_near | own.any_near, st.sampled_from([1, 100, "exact"]))
def test_scores_are_between_0_and_1(case, near, thresholds):
    y_true, y_score = case
    result = dqeval.evaluate(y_true, y_score, near=near, thresholds=thresholds)
    for scored in (result, *result.per_event):
        for value in (scored.dqe, scored.capture, scored.near_miss, scored.false_alarm):
            assert 0 <= value <= 1


@given(own.labels(), own.exact_near | own.any_near, st.sampled_from([1, 100, "exact"]))
def test_a_perfect_detector_scores_1(y_true, near, thresholds):
    assert dqeval.dqe_score(y_true, y_true, near=near, thresholds=thresholds, scale=False) == 1


@given(own.labels(), own.exact_near | own.any_near, st.sampled_from([1, 100, "exact"]), st.floats(-9, 9))
def test_a_silent_detector_scores_0(y_true, near, thresholds, constant):
    assert dqeval.dqe_score(y_true, np.full(len(y_true), constant), near=near, thresholds=thresholds) == 0
    assert dqeval.sdqe_score(y_true, np.zeros(len(y_true)), near=near) == 0


@st.composite
def labels_with_whole_regions(draw):
    """Draw labels whose neighbouring events are an even number of points apart: all midpoints are whole numbers."""
    ends = st.integers(0, 9)
    events = draw(st.lists(st.integers(1, 6), min_size=1, max_size=5))
    series = [0] * draw(ends)
    for i, length in enumerate(events):
        series += [0] * (2 * draw(st.integers(1, 8)) if i else 0) + [1] * length
    return np.array(series + [0] * draw(ends))


@given(st.data(), st.integers(0, 12))
def test_time_reversal(data, near):
    """With whole region lengths every false-alarm bin lies on one side of the event, and reversal changes nothing."""
    y_true = data.draw(labels_with_whole_regions())
    y_score = data.draw(own.scores(len(y_true)))
    forward = dqeval.evaluate(y_true, y_score, near=near, scale=False)
    backward = dqeval.evaluate(y_true[::-1], y_score[::-1], near=near, scale=False)
    for one, other in zip(forward.per_event, reversed(backward.per_event), strict=True):
        assert one.dqe == pytest.approx(other.dqe, abs=1e-12)


def test_time_reversal_with_fractional_regions_can_matter():
    """One false-alarm bin can hold an early and a late alarm, and which middles it holds depends on its closed side."""
    y_true = np.array([0, 0, 0, 0, 1, 1, 0])
    y_pred = np.array([0, 0, 1, 1, 1, 0, 1])
    forward = dqeval.sdqe_score(y_true, y_pred, near=0.75)
    backward = dqeval.sdqe_score(y_true[::-1], y_pred[::-1], near=0.75)
    assert forward == pytest.approx(
        0.26726124
    )  # the alarms at 2 and at 6 share the bin [-0.625, 0.25]: one bin of four
    assert backward == pytest.approx(0.18898224)  # they do not: two bins of four


@st.composite
def one_more_false_alarm(draw):
    """Draw labels, detections, and the same detections with one more event in a false-alarm piece, touching none."""
    y_true = draw(own.labels(most=5, longest=20))
    near = draw(own.exact_near)
    y_pred = draw(own.detections(len(y_true)))
    pieces = [
        (int(np.ceil(low)), int(np.floor(high)))
        for region in dqeval.partition(y_true, near=near).regions
        for low, high in [(region.left, region.near_start), (region.near_stop, region.right)]
        if np.ceil(low) < np.floor(high)
    ]
    if not pieces:
        return y_true, y_pred, y_pred, near
    low, high = draw(st.sampled_from(pieces))
    start = draw(st.integers(low, high - 1))
    stop = draw(st.integers(start + 1, high))
    y_pred[max(start - 1, 0) : stop + 1] = 0
    more = y_pred.copy()
    more[start:stop] = 1
    return y_true, y_pred, more, near


@given(one_more_false_alarm())
def test_one_more_false_alarm_never_raises_a_score(case):
    y_true, y_pred, more, near = case
    before = dqeval.evaluate_detections(y_true, y_pred, near=near)
    after = dqeval.evaluate_detections(y_true, more, near=near)
    for one, other in zip(before.per_event, after.per_event, strict=True):
        assert other.dqe <= one.dqe + 1e-12


def test_joining_two_false_alarms_can_raise_the_score():
    """One longer alarm is less scattered than two short ones: the definition's own preference."""
    y_true = np.zeros(300, int)
    y_true[140:160] = 1
    two = y_true.copy()
    two[[20, 22]] = 1
    one = two.copy()
    one[21] = 1
    assert dqeval.sdqe_score(y_true, one, near=20) > dqeval.sdqe_score(y_true, two, near=20)


@given(st.data(), st.integers(2, 24), st.booleans())
def test_a_closer_near_miss_never_scores_lower(data, near, late):
    duration = data.draw(st.integers(1, near - 1))
    distance = data.draw(st.integers(1, near - duration))
    closer = data.draw(st.integers(0, distance - 1))

    def moved_to(distance):
        y_true, y_pred = np.zeros(80, int), np.zeros(80, int)
        y_true[38:42] = 1
        start = 42 + distance if late else 38 - distance - duration
        y_pred[start : start + duration] = 1
        return dqeval.sdqe_score(y_true, y_pred, near=near)

    assert moved_to(closer) > moved_to(distance)


@given(own.labels(), st.data(), st.integers(1, 1000), st.integers(-1000, 1000))
def test_scaling_and_shifting_the_scores_changes_nothing(y_true, data, factor, shift):
    y_score = np.array(data.draw(st.lists(st.integers(-99, 99), min_size=len(y_true), max_size=len(y_true))))
    assert dqeval.evaluate(y_true, y_score, near=3) == dqeval.evaluate(y_true, factor * y_score + shift, near=3)


@given(own.labelled(own.scores), own.exact_near)
def test_more_thresholds_come_closer_to_the_exact_value(case, near):
    """A local score only jumps, by at most 1, at a distinct score: M thresholds are off by at most jumps / M."""
    y_true, y_score = case
    exact = dqeval.dqe_score(y_true, y_score, near=near, scale=False, thresholds="exact")
    jumps = len(np.unique(y_score))
    for thresholds in (10, 100, 1000, 10_000):
        sampled = dqeval.dqe_score(y_true, y_score, near=near, scale=False, thresholds=thresholds)
        assert abs(sampled - exact) <= jumps / thresholds + 1e-12


@given(own.labelled(own.detections), own.exact_near)
def test_detections_are_scores_with_one_threshold(case, near):
    y_true, y_pred = case
    found = dqeval.evaluate_detections(y_true, y_pred, near=near)
    assert found == dqeval.evaluate(y_true, y_pred, near=near, thresholds=1, scale=False)


@given(st.lists(own.labelled(own.scores), min_size=1, max_size=4))
def test_combine(cases):
    results = [dqeval.evaluate(y_true, y_score, near=2) for y_true, y_score in cases]
    combined = dqeval.combine(results)
    assert combined.n_series == len(results)
    assert combined.n_events == sum(len(result.per_event) for result in results)
    for column in ("dqe", "capture", "near_miss", "false_alarm"):
        series = [getattr(result, column) for result in results]
        events = [getattr(event, column) for result in results for event in result.per_event]
        assert getattr(combined.by_series, column) == pytest.approx(sum(series) / len(series))
        assert getattr(combined.by_event, column) == pytest.approx(sum(events) / len(events))


@given(own.labelled(own.scores))
def test_combine_of_one_series_is_that_series(case):
    result = dqeval.evaluate(*case, near=2)
    combined = dqeval.combine([result])
    expected = dqeval.Scores(result.dqe, result.capture, result.near_miss, result.false_alarm)
    assert combined.by_series == combined.by_event == expected


def test_rounding_carries_no_score_over_1():
    """The distances between these scores, added up from the top, give 1.0000000000000002."""
    y_score = [0.05, 0.29, 0.36, 0.46, 0.62, 0.63, 0.68, 1.0]
    assert dqeval.evaluate([1] * 8, y_score, near=1, thresholds="exact", scale=False).capture == 1


@given(own.labelled(own.scores), own.exact_near)
def test_curves_are_between_0_and_1(case, near):
    y_true, y_score = case
    curve = dqeval.evaluate(y_true, y_score, near=near, thresholds="exact").curve
    for values in (curve.dqe, curve.capture, curve.near_miss, curve.false_alarm):
        assert ((values >= 0) & (values <= 1)).all()
