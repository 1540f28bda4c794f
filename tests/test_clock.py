"""Samples on a clock: equal to the definition in naive.py, and to points where the clock is even."""

import pickle
import sys
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import dqeval
import naive
import strategies as own
from dqeval import Series
from dqeval.analysis.check import findings_in
from dqeval.analysis.metric_function import MetricFunction
from dqeval.analysis.timed_result import with_notes
from dqeval.core.events import find_events, flags_of, split_at
from dqeval.core.moments import BLOCK, Moments, Steps, moments_of
from dqeval.core.prepared import prepare_series
from dqeval.core.registry import METRICS
from dqeval.core.sampling import Clock, even_step, median_step, sampling_of
from dqeval.core.spans import Spans, spans_of
from dqeval.core.timeline import TimeAxis
from dqeval.datasets.door import prepare
from test_dqe import assert_equal, local

START = np.datetime64("2026-01-01T00:00:00", "ns")
SECOND = 10**9
EXACT = pytest.approx


@st.composite
def clocks(draw, found=own.scores):
    """Draw labels, what was found, times in any steps, and what to say of the clock."""
    labels, points = draw(own.labelled(found, most=6, longest=3))
    steps = draw(st.lists(st.sampled_from([1, 2, 3, 3, 3, 4, 7, 20]), min_size=len(labels), max_size=len(labels)))
    times = np.cumsum([draw(st.integers(-50, 50)), *steps[1:]])
    options = {"resolution": draw(st.none() | st.integers(1, 9)), "max_gap": draw(st.none() | st.integers(0, 5))}
    return labels, points, times, options


def begin_of(times, options):
    """Return where the first cell begins: with the first sample, if a resolution is given."""
    if options["resolution"] is not None:
        return int(times[0])
    return naive.cells_begin([int(t) for t in times], naive.usual_step([int(t) for t in times]))


def cells_of(times, options):
    """Return the observed cells by the definition."""
    begin, times = begin_of(times, options), [int(t) for t in times]
    resolution, max_gap = options["resolution"], options["max_gap"]
    resolution = naive.usual_step(times) if resolution is None else resolution
    return naive.observed_cells(times, resolution, 3 if max_gap is None else max_gap, begin)


def expected_of(score, labels, found, times, options, near, scaled=list):
    cells = cells_of(times, options)
    points = scaled(naive.highest_in_cells(cells, found))
    return naive.in_stretches(score, naive.highest_in_cells(cells, labels), points, near, naive.stretches(cells))


@given(clocks())
@pytest.mark.unmeasured
def test_cells_equal_the_definition(case):
    labels, scores, times, options = case
    cells = cells_of(times, options)
    sampling = sampling_of(moments_of("times", times), **options)
    assert sampling.highest(labels).tolist() == naive.highest_in_cells(cells, labels)
    assert sampling.highest(scores).tolist() == naive.highest_in_cells(cells, scores)
    assert sampling.last(scores).tolist() == [scores[samples[-1]] for _, samples in cells]
    axis = sampling.axis
    begin = begin_of(times, options)
    assert axis.times().tolist() == [begin + axis.resolution * cell for cell, _ in cells]
    assert (axis.length, axis.cells) == (len(cells), cells[-1][0] + 1)
    borders = [0, *axis.breaks, axis.length]
    assert list(pairwise(borders)) == naive.stretches(cells)
    assert list(axis.gaps) == [cells[k][0] - cells[k - 1][0] - 1 for k in axis.breaks]


@given(clocks(own.detections), own.exact_near)
@pytest.mark.unmeasured
def test_detections_equal_the_definition(case, near):
    labels, found, times, options = case
    result = dqeval.evaluate_detections(labels, found, near=near, times=times, **options)
    assert_equal(result, expected_of(naive.detections_scores, labels, found, times, options, near))


@given(clocks(), own.exact_near)
@pytest.mark.unmeasured
def test_scores_equal_the_definition(case, near):
    """The scores of all observed cells are scaled together, whether or not there is an event in their stretch."""
    labels, scores, times, options = case
    for thresholds, score in ((100, naive.sampled), ("exact", naive.exact)):
        expected = expected_of(score, labels, 3 * scores - 1, times, options, near, naive.scaled)
        clock = {"times": times, "near": near, "thresholds": thresholds, **options}
        assert_equal(dqeval.evaluate(labels, 3 * scores - 1, **clock), expected)
        assert dqeval.dqe_score(labels, 3 * scores - 1, **clock) == EXACT(expected[:, 0].mean(), abs=1e-12)
    assert dqeval.panel(labels, 3 * scores - 1, times=times, near=near, metrics=["dqe"], **options).values[
        "dqe"
    ] == EXACT(expected_of(naive.sampled, *case[:1], scores, times, options, near, naive.scaled)[:, 0].mean(), abs=1e-9)


@given(own.labelled(own.scores, most=8), own.exact_near, st.integers(-(10**6), 10**6), st.integers(1, 1000))
@pytest.mark.unmeasured
def test_even_times_change_nothing(case, near, start, step):
    labels, scores = case
    assume(len(labels) > 1)
    found = (scores > 0.5).astype(int)
    dates = START + np.arange(len(labels)) * np.timedelta64(step, "s")
    for times in (start + step * np.arange(len(labels)), dates):
        for thresholds in (100, "exact"):
            plain = dqeval.evaluate(labels, scores, near=near, thresholds=thresholds)
            timed = dqeval.evaluate(labels, scores, near=near, thresholds=thresholds, times=times)
            assert (local(timed) == local(plain)).all()
            assert timed.dqe == plain.dqe == dqeval.dqe_score(labels, scores, near=near, thresholds=thresholds)
            assert all((a == b).all() for a, b in zip(curve(timed), curve(plain), strict=True))
        plain, timed = (dqeval.evaluate_detections(labels, found, near=near, **o) for o in ({}, {"times": times}))
        assert (local(timed) == local(plain)).all()
        regions, on_clock = (dqeval.partition(labels, near=near, **o) for o in ({}, {"times": times}))
        assert regions.regions == on_clock.regions
        alarms, on_clock = (dqeval.alarms(labels, found, early=2, **o) for o in ({}, {"times": times}))
        assert numbers_of(alarms) == numbers_of(on_clock)
        curves = [dqeval.alarm_curve(labels, scores, early=2, **o) for o in ({}, {"times": times})]
        assert curves[0].false_alarms.tolist() == curves[1].false_alarms.tolist()
        assert curves[0].detected.tolist() == curves[1].detected.tolist()
        points = [
            dqeval.threshold_for(labels, scores, false_alarms_per_1000=100, **o).threshold
            for o in ({}, {"times": times})
        ]
        assert points[0] == points[1]


def curve(result):
    found = result.curve
    return found.thresholds, found.dqe, found.capture, found.near_miss, found.false_alarm


def numbers_of(alarms):
    return (
        alarms.detected.tolist(),
        str(alarms.delays.tolist()),
        alarms.alarms_per_event.tolist(),
        alarms.false_alarms,
        alarms.alarm_points,
        alarms.false_alarm_points,
        alarms.longest_quiet,
    )


@given(own.labelled(own.scores, most=5), st.integers(0, 9))
@pytest.mark.unmeasured
def test_even_times_change_no_panel_and_no_explanation(case, near):
    labels, scores = case
    assume(len(labels) > 1)
    times = START + np.arange(len(labels)) * np.timedelta64(1, "m")
    plain, timed = (dqeval.panel(labels, scores, near=near, **o) for o in ({}, {"times": times}))
    assert str(plain.values) == str(timed.values)
    plain, timed = (dqeval.explain(labels, scores, near=near, **o) for o in ({}, {"times": times}))
    assert [event.costs for event in plain.events] == [event.costs for event in timed.events]
    assert (plain.threshold, plain.sdqe) == (timed.threshold, timed.sdqe)


def same(one, other):
    assert (local(one) == local(other)).all()
    assert (one.dqe, one.near, one.notes) == (other.dqe, other.near, other.notes)


@given(clocks(), st.integers(0, 9), st.integers(-(10**12), 10**12), st.sampled_from([1, 7, 1000]))
@pytest.mark.unmeasured
def test_shifts_and_units_change_nothing(case, near, shift, unit):
    labels, scores, times, options = case
    result = dqeval.evaluate(labels, scores, times=times, near=near, **options)
    step = options["resolution"]
    moved = {**options, "resolution": None if step is None else unit * step}
    same(dqeval.evaluate(labels, scores, times=shift + unit * times, near=near, **moved), result)


@given(clocks(), st.integers(0, 9))
@pytest.mark.unmeasured
def test_dates_of_any_unit_are_the_same(case, near):
    """A unit of a date is how it is stored, and changes nothing; numbers since 1970 are dates too."""
    labels, scores, times, options = case
    assume(len(labels) > 1)
    seconds = 1_767_225_600 + times
    plain = dqeval.evaluate(labels, scores, times=times, near=near, **options)
    result = dqeval.evaluate(labels, scores, times=seconds.astype("datetime64[s]"), near=near, **options)
    assert (local(result) == local(plain)).all()
    for unit in ("ms", "us", "ns"):
        dates = seconds.astype("datetime64[s]").astype(f"datetime64[{unit}]")
        same(dqeval.evaluate(labels, scores, times=dates, near=near, **options), result)
    for per_second in (1, 10**3, 10**6, 10**9):
        same(dqeval.evaluate(labels, scores, times=seconds * per_second, near=near, **options), result)
        floats = (seconds * per_second).astype(float)
        same(dqeval.evaluate(labels, scores, times=floats, near=near, **options), result)


@given(clocks(), st.integers(0, 9), st.integers(2, 5))
@pytest.mark.unmeasured
def test_finer_samples_of_the_same_steps_change_nothing(case, near, finer):
    """Each sample is repeated until the next one, in its own cell and in those that it would be carried to."""
    labels, scores, times, options = case
    options["resolution"] = options["resolution"] or 3
    moments = [(finer * int(t) + k, i) for i, t in enumerate(times) for k in range(finer)]
    at, samples = np.array(moments).T
    result = dqeval.evaluate(labels, scores, times=times, near=near, **options)
    options["resolution"] *= finer
    fine = dqeval.evaluate(labels[samples], scores[samples], times=at, near=near, **options)
    assert (local(fine) == local(result)).all()
    assert fine.axis.gaps == result.axis.gaps


@given(own.labelled(own.detections, most=8), own.exact_near, st.integers(1, 9))
@pytest.mark.unmeasured
def test_detections_equal_intervals_on_the_same_grid(case, near, step):
    labels, found = case
    times = step * np.arange(len(labels))
    result = dqeval.evaluate_detections(labels, found, near=near, times=times, resolution=step)

    def spans(flags):
        return [(step * a, step * b) for a, b in find_events(np.asarray(flags, dtype=bool))]

    intervals = dqeval.evaluate_intervals(
        spans(labels), spans(found), span=(0, step * len(labels)), resolution=step, near=near
    )
    assert local(result) == EXACT(local(intervals), abs=1e-12)
    assert [e.start_time for e in result.per_event] == [e.start_time for e in intervals.per_event]
    assert [e.stop_time for e in result.per_event] == [e.stop_time for e in intervals.per_event]
    assert numbers_of(result.alarms) == numbers_of(intervals.alarms)
    assert str(result).splitlines()[:-3] == str(intervals).splitlines()[:-3]


@given(clocks(own.detections), own.exact_near)
@pytest.mark.unmeasured
def test_regions_lie_within_stretches(case, near):
    labels, found, times, options = case
    regions = dqeval.partition(labels, near=near, times=times, **options)
    cells = cells_of(times, options)
    borders = naive.stretches(cells)
    for i, (start, stop) in enumerate(regions.events):
        a, b = next((a, b) for a, b in borders if a <= start < b)
        assert a <= regions.left[i] <= start < stop <= regions.right[i] <= b
    result = dqeval.evaluate_detections(labels, found, near=near, times=times, **options)
    first, step = begin_of(times, options), result.axis.resolution
    for event in result.per_event:
        assert event.start_time == first + step * cells[event.start][0]
        assert event.stop_time == first + step * (cells[event.stop - 1][0] + 1)


@st.composite
def axes(draw):
    """Draw a time axis with gaps, and whether each of its cells was observed."""
    lengths = draw(st.lists(st.integers(1, 5), min_size=1, max_size=5))
    gaps = draw(st.lists(st.integers(1, 4), min_size=len(lengths) - 1, max_size=len(lengths) - 1))
    seen = [True] * lengths[0]
    for gap, length in zip(gaps, lengths[1:], strict=True):
        seen += [False] * gap + [True] * length
    breaks = np.cumsum(lengths)[:-1].tolist()
    axis = TimeAxis(
        draw(st.integers(-20, 20)), draw(st.integers(1, 4)), sum(lengths), "number", tuple(breaks), tuple(gaps)
    )
    return axis, seen


@given(
    axes(),
    st.lists(st.tuples(st.integers(-30, 120), st.integers(0, 25)), max_size=6),
    st.sampled_from(["left", "both"]),
)
def test_intervals_on_an_axis_with_gaps(drawn, intervals, closed):
    axis, seen = drawn
    intervals = sorted(intervals)
    starts, lengths = np.array(intervals, dtype=np.int64).reshape(-1, 2).T
    found = axis.positions(Spans(starts, starts + lengths, "number", lengths == 0), closed)
    cells = np.flatnonzero(seen)

    def takes(start, length):
        """Return the cells that an interval overlaps, observed or not, within the span or not."""
        stop = start + length + (closed == "both" or length == 0)
        return {(t - axis.origin) // axis.resolution for t in range(start, stop)}

    taken = [takes(*each) for each in intervals]
    assert found.outside.tolist() == [not any(0 <= c < axis.cells for c in each) for each in taken]
    unseen = [any(0 <= c < axis.cells for c in each) and not each & set(cells.tolist()) for each in taken]
    assert found.in_gap.tolist() == unseen
    flags = [any(c in each for each in taken) for c in cells.tolist()]
    expected = naive.split_runs(flags, axis.breaks)
    assert [(a, b - 1) for a, b in found.events] == expected
    inside = [any({cells[k - 1], cells[k]} <= each for each in taken) for k in axis.breaks]
    assert found.cuts == sum(inside)
    assert axis.times().tolist() == [axis.origin + axis.resolution * int(c) for c in cells]
    for k, cell in enumerate(cells.tolist()):
        assert axis.start_of(k) == axis.origin + axis.resolution * cell
        assert axis.end_of(k + 1) == axis.origin + axis.resolution * (cell + 1)


@given(clocks(), st.integers(0, 9))
@pytest.mark.unmeasured
def test_every_metric_with_gaps_is_finite(case, near):
    """Events that are split at gaps touch each other, which no run of labels does."""
    labels, scores, times, options = case
    for found in (scores, (scores > 0.5).astype(int)):
        evaluation = dqeval.panel(labels, found, times=times, near=near, **options)
        for name, value in evaluation.values.items():
            if name not in evaluation.failures:
                assert 0 <= value <= 1 + 1e-9, name
            else:
                assert METRICS[name].needs_normal


@given(clocks(own.detections), st.integers(0, 9))
@pytest.mark.unmeasured
def test_perfect_detections_are_perfect_with_gaps(case, near):
    labels, _, times, options = case
    assume(0 in naive.highest_in_cells(cells_of(times, options), labels))
    values = dqeval.panel(labels, labels, times=times, near=near, **options).values
    for name in set(values) - {"vus_roc", "vus_pr", "auc_roc", "pate", "auc_pr"}:
        assert values[name] == EXACT(1), name


@given(clocks(), st.integers(0, 9))
@pytest.mark.unmeasured
def test_explanations_with_gaps(case, near):
    """Costs and DQE add up to 1, and what is told of an event lies in its stretch."""
    labels, scores, times, options = case
    scores = 2 * scores + 3  # not 0 and 1, which are detections
    explained = dqeval.explain(labels, scores, times=times, near=near, **options)
    result = dqeval.evaluate(labels, scores, times=times, near=near, **options)
    borders = naive.stretches(cells_of(times, options))
    assert [event.scores.dqe for event in explained.events] == [event.dqe for event in result.per_event]
    for event in explained.events:
        assert event.scores.dqe + sum(event.costs.values()) == EXACT(1)
        a, b = next((a, b) for a, b in borders if a <= event.scores.start < b)
        for low, high in (*event.near_misses, *event.false_alarms):
            assert a <= low < high <= b


@given(clocks(own.detections), st.integers(0, 6))
@pytest.mark.unmeasured
def test_alarms_with_gaps(case, early):
    labels, found, times, options = case
    cells = cells_of(times, options)
    flags, points = naive.highest_in_cells(cells, labels), naive.highest_in_cells(cells, found)
    breaks = [a for a, _ in naive.stretches(cells)][1:]
    result = dqeval.alarms(labels, found, early=early, times=times, **options)
    detected, false = naive.alarm_counts(flags, points, early, breaks)
    assert (np.count_nonzero(result.detected), result.false_alarms, result.points) == (detected, false, len(cells))
    scores = found + 0.5 * labels
    heights = naive.highest_in_cells(cells, scores)
    curve = dqeval.alarm_curve(labels, scores, early=early, times=times, **options)
    columns = (curve.thresholds, curve.detected, curve.false_alarms, curve.alarm_points)
    assert list(zip(*(c.tolist() for c in columns), strict=True)) == naive.alarm_curve(flags, heights, early, breaks)
    best = dqeval.threshold_for(
        labels, scores, false_alarms_per_1000=1000 / len(cells), early=early, times=times, **options
    )
    expected = naive.threshold_within(flags, heights, early, breaks, 1)
    assert [h >= best.threshold for h in heights] == [expected is not None and h >= expected for h in heights]


def test_gaps_by_hand():
    """From 6 to 15 nothing was observed, in the middle of an event: both its parts count, and nothing between them."""
    times = np.array([0, 1, 2, 3, 4, 5, 16, 17, 18, 20, 21])
    labels = np.array([0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0])
    found = np.array([0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 0])
    result = dqeval.evaluate_detections(labels, found, near=2, times=times)
    assert [(e.start_time, e.stop_time, e.capture) for e in result.per_event] == [(4, 6, 1), (16, 17, 0)]
    assert result.notes == (
        "1 cell without a sample: that of the cell before counts",
        "10 cells (45.5 %) not observed, in 1 gap, left out",
    )
    assert "12 cells of 1; 1 cell" in str(result)
    assert dqeval.evaluate_detections(labels, found, near=2, times=times, max_gap=10).axis.gaps == ()
    coarse = dqeval.evaluate_detections(labels, found, near=2, times=times, resolution=2)
    assert coarse.notes == (
        "5 samples in a cell with another: the highest score of a cell counts",
        "5 cells (45.5 %) not observed, in 1 gap, left out",
    )


def test_durations_on_a_clock():
    times = START + np.array([0, 60, 120, 180, 240, 1200, 1260]) * np.timedelta64(1, "s")
    labels, scores = [0, 1, 0, 0, 0, 0, 1], [0, 1, 0, 2, 1, 0, 3]
    result = dqeval.evaluate(labels, scores, times=times, near="2min")
    assert "near 2 min, 100 thresholds, 7 cells of 1 min; 15 min (68.2 %) not observed, in 1 gap, left out" in str(
        result
    )
    assert result.per_event[1].start_time == np.datetime64("2026-01-01T00:21")
    for near in (timedelta(minutes=2), np.timedelta64(120, "s"), pd.Timedelta("2min"), 2):
        same(dqeval.evaluate(labels, scores, times=times, near=near), result)
    same(dqeval.evaluate(labels, scores, times=times, period="4min"), result)
    assert dqeval.evaluate(labels, scores, times=times, near="2min", max_gap="15min").axis.gaps == ()
    assert dqeval.evaluate(labels, scores, times=times, near="2min", max_gap=timedelta(minutes=14)).axis.gaps == (15,)
    with pytest.raises(ValueError, match="near '300 days' is longer than the whole time, 22 min"):
        dqeval.evaluate(labels, scores, times=times, near="300 days")
    assert dqeval.partition(labels, times=times, near="90s").near == 1.5
    found = dqeval.alarms(labels, np.array(scores) > 1, times=times, early="2min", max_delay="1min")
    assert (found.detected.tolist(), found.false_alarms_per_day) == ([False, True], EXACT(1440 / 7))
    curve = dqeval.alarm_curve(labels, scores, times=times, early="1 day")
    assert curve.false_alarms_per_day.tolist() == EXACT([0, 1440 / 7, 1440 / 7, 0])
    assert dqeval.threshold_for(labels, scores, times=times, false_alarms_per_day=0).threshold == 3


def test_event_lengths_as_the_near_range():
    """An event over a gap is two: the median length is that of the parts."""
    result = dqeval.evaluate_detections([1, 1, 1, 1, 0], [1] * 5, near="1ev", times=[0, 1, 10, 11, 12])
    assert result.near == 2
    assert dqeval.evaluate_detections([1, 1, 1, 1, 0], [1] * 5, near="1ev").near == 4


def test_the_default_near_range_on_a_clock():
    """The median event, as its samples last: the resolution does not change it."""
    labels = np.isin(np.arange(2000) // 10, [7, 33, 34, 90])  # 10, 20 and 10 min
    minutes = START + np.arange(2000) * np.timedelta64(1, "m")
    for resolution in (None, "30s", "1min", "7min", "1h"):
        found = dqeval.evaluate(labels, labels, times=minutes, resolution=resolution)
        assert found.near * found.axis.resolution == EXACT(600 * SECOND)
        assert found.near_in_words == "near 10 min"
        twice = dqeval.evaluate(labels, labels, times=minutes, resolution=resolution, near="2ev")
        assert twice.near == EXACT(2 * found.near)
    kept = np.arange(2000) != 75  # a sample is missing
    assert dqeval.evaluate(labels[kept], labels[kept], times=minutes[kept]).near == 10
    kept = (np.arange(2000) < 73) | (np.arange(2000) >= 78)  # an event with a gap is two: 3, 2, 20 and 10 min
    assert dqeval.evaluate(labels[kept], labels[kept], times=minutes[kept]).near == 6.5
    wider = {"times": minutes[kept], "resolution": "2min", "max_gap": 1}
    assert dqeval.evaluate(labels[kept], labels[kept], **wider).near == 3.25
    assert dqeval.evaluate(labels, labels).near == 125
    assert dqeval.partition(labels, times=minutes).near == 10
    with pytest.warns(dqeval.UndefinedWarning):
        assert dqeval.evaluate(labels[:9], labels[:9], times=minutes[:9], undefined="nan").near == 0


def test_values_do_not_change_the_default_near_range_on_a_clock():
    """Cells are as long as somebody wants them to be: no period is estimated of them but where values are given."""
    series = Series("s", np.arange(900) // 9 == 60, {"a": np.arange(900.0)}, np.sin(np.arange(900) / 5))
    series = replace(series, timestamps=START + np.arange(900) * np.timedelta64(1, "m"))
    assert prepare(series).near.source == "half the estimated period"
    for clock in (Clock(resolution="1min"), Clock(resolution="3min"), Clock(max_gap=5)):
        found = prepare(series, clock=clock).near
        assert (found.words, found.source) == ("9 min", "the median event length")
    assert str(found) == "near 9 (9 min), the median event length"
    assert prepare(replace(series, no_period="none was found"), clock=clock).near == found
    assert prepare(replace(series, period=40), clock=clock).near.source == "half the period of the series"
    flat = dqeval.explain(series.labels, series.scores["a"], values=np.zeros(900), times=series.timestamps)
    assert not any("fallback" in caution for caution in flat.cautions)
    near = prepare(replace(series, values=None), clock=clock).near
    assert near == found
    messages = [each.message for each in findings_in(replace(series, values=None), resolution="1min")]
    assert not any("near" in message or "period" in message for message in messages)
    assert dqeval.evaluate(series.labels, series.scores["a"], values=np.zeros(900), times=series.timestamps).near == 9


def test_values_on_a_clock():
    """The period is that of the cells, whose value is the last of their samples."""
    values = np.sin(2 * np.pi * np.arange(900) / 45)
    labels = np.arange(900) == 500
    result = dqeval.evaluate(labels, labels, values=values, times=np.arange(900), resolution=3)
    assert result.near == 7.5
    assert dqeval.evaluate(labels, labels, values=values, times=np.arange(900)).near == 22.5


SECONDS = np.array([0, 60, 120, 180, 1800, 1860])
LABELS, SCORES = [0, 1, 1, 0, 1, 0], [0, 3, 1, 0, 2, 1]
EPOCH = 1_767_225_600 + SECONDS
NAIVE = [datetime(2026, 1, 1) + timedelta(seconds=int(s)) for s in SECONDS]
AWARE = [t.replace(tzinfo=UTC).astimezone(ZoneInfo("Europe/Berlin")) for t in NAIVE]
TIMES = {
    "datetime64": (EPOCH.astype("datetime64[s]"), "local"),
    "list of datetime64": (list(EPOCH.astype("datetime64[s]")), "local"),
    "datetimes": (NAIVE, "local"),
    "a tuple": (tuple(NAIVE), "local"),
    "text": ([str(t) for t in NAIVE], "local"),
    "an array of text": (np.array([t.isoformat() for t in NAIVE]), "local"),
    "an index": (pd.DatetimeIndex(NAIVE), "local"),
    "a column": (pd.Series(NAIVE), "local"),
    "a column of objects": (pd.Series(NAIVE, dtype=object), "local"),
    "a column of text": (pd.Series([str(t) for t in NAIVE]), "local"),
    "stamps": ([pd.Timestamp(t) for t in NAIVE], "local"),
    "polars": (pl.Series(NAIVE), "local"),
    "polars in ms": (pl.Series(NAIVE).dt.cast_time_unit("ms"), "local"),
    "pyarrow": (pa.array(NAIVE), "local"),
    "chunks of pyarrow": (pa.chunked_array([NAIVE[:2], NAIVE[2:]]), "local"),
    "pandas on pyarrow": (pd.Series(NAIVE, dtype=pd.ArrowDtype(pa.timestamp("us"))), "local"),
    "aware datetimes": (AWARE, "universal"),
    "aware text": ([t.isoformat() for t in AWARE], "universal"),
    "text in Zulu time": ([f"{t.isoformat()}Z" for t in NAIVE], "universal"),
    "an aware index": (pd.DatetimeIndex(AWARE), "universal"),
    "an aware column": (pd.Series(AWARE), "universal"),
    "aware stamps": ([pd.Timestamp(t) for t in AWARE], "universal"),
    "aware polars": (pl.Series(NAIVE).dt.replace_time_zone("UTC").dt.convert_time_zone("Europe/Berlin"), "universal"),
    "aware pyarrow": (pa.array(AWARE, type=pa.timestamp("us", tz="Europe/Berlin")), "universal"),
    "aware pandas on pyarrow": (pd.Series(AWARE, dtype=pd.ArrowDtype(pa.timestamp("us", tz="UTC"))), "universal"),
    "seconds": (EPOCH, "universal"),
    "seconds as floats": (EPOCH.astype(float), "universal"),
    "milliseconds": ((EPOCH * 1000).tolist(), "universal"),
    "milliseconds as floats": (EPOCH * 1e3, "universal"),
    "microseconds": (EPOCH * 10**6, "universal"),
    "nanoseconds": (EPOCH * 10**9, "universal"),
    "nanoseconds as floats": (EPOCH * 1e9, "universal"),
    "seconds as text": ([str(t) for t in EPOCH], "universal"),
    "nullable numbers": (pd.Series(EPOCH, dtype="Int64"), "universal"),
    "polars numbers": (pl.Series(EPOCH), "universal"),
    "pyarrow numbers": (pa.array(EPOCH), "universal"),
    "unsigned": (EPOCH.astype(np.uint64), "universal"),
}


@pytest.mark.parametrize("form", TIMES)
@pytest.mark.unmeasured
def test_times_of_any_form(form):
    times, kind = TIMES[form]
    expected = dqeval.evaluate(LABELS, SCORES, times=TIMES["datetime64"][0], near="2min")
    result = dqeval.evaluate(LABELS, SCORES, times=times, near="2min")
    same(result, expected)
    assert (result.axis.kind, result.axis.origin) == (kind, expected.axis.origin)
    assert result.per_event[1].start_time == np.datetime64("2026-01-01T00:30")


def test_pandas_columns_with_an_index_of_times():
    index = pd.DatetimeIndex(AWARE)
    labels, scores = pd.Series(LABELS, index=index), pd.Series(SCORES, index=index)
    expected = dqeval.evaluate(LABELS, SCORES, times=EPOCH, near=2)
    same(dqeval.evaluate(labels, scores, times=index, near=2), expected)
    same(dqeval.evaluate(labels, scores, times=labels.index, near=2), expected)
    same(dqeval.evaluate(labels, scores, times=pd.Series(index, index=index), near=2), expected)
    with pytest.raises(ValueError, match="y_true and times have different indexes"):
        dqeval.evaluate(labels, scores, times=pd.Series(index), near=2)


EVERY_TWO_HOURS = {
    "evaluate": (lambda y, s, **clock: dqeval.evaluate(y, s, near="2h", **clock)),
    "evaluate_detections": (lambda y, s, **clock: dqeval.evaluate_detections(y, s > 1, near="2h", **clock)),
    "panel": (lambda y, s, **clock: dqeval.panel(y, s, period="4h", metrics=["dqe", "range_f1"], **clock)),
    "explain": (lambda y, s, **clock: dqeval.explain(y, s, near="2h", **clock)),
    "dqe_score": (lambda y, s, **clock: dqeval.dqe_score(y, s, near="2h", **clock)),
    "partition": (lambda y, s, **clock: dqeval.partition(y, near="2h", **clock)),
    "alarms": (lambda y, s, **clock: dqeval.alarms(y, s > 1, max_delay="2h", **clock)),
    "alarm_curve": (lambda y, s, **clock: dqeval.alarm_curve(y, s, early="2h", **clock)),
    "threshold_for": (lambda y, s, **clock: dqeval.threshold_for(y, s, false_alarms_per_day=3, early="2h", **clock)),
    "max_gap": (lambda y, s, **clock: dqeval.evaluate(y, s, near=2, max_gap="2h", **clock)),
    "resolution": (lambda y, s, **clock: dqeval.alarms(y, s > 1, resolution="2h", **clock)),
}
POINTS_ONLY = {
    "dqe_log_rank": dqeval.metrics.dqe_log_rank,
    "sdqe_score": (lambda y, s, **near: dqeval.sdqe_score(y, s > 1, **near)),
    "metric_function": (lambda y, s, **near: MetricFunction("dqe", on_clock=True, **near)(y, s)),
}
HOURLY = pd.date_range("2026-01-01", periods=40, freq="h", tz="Europe/Berlin")
HOURS_LEFT = HOURLY[np.delete(np.arange(40), [9, *range(20, 26)])]
HOURLY_LABELS, HOURLY_SCORES = np.isin(HOURS_LEFT.hour, [3, 4, 16]).astype(int), np.arange(len(HOURS_LEFT)) * 7 % 5


@pytest.mark.parametrize("function", EVERY_TWO_HOURS.values(), ids=EVERY_TWO_HOURS)
def test_an_index_of_dates_is_a_clock(function):
    """Of labels or of scores: as if its dates had been given as times."""
    labels, scores = (pd.Series(each, index=HOURS_LEFT) for each in (HOURLY_LABELS, HOURLY_SCORES))
    expected = function(HOURLY_LABELS, HOURLY_SCORES, times=HOURS_LEFT)
    assert str(function(labels, scores)) == str(expected)
    assert str(function(labels, HOURLY_SCORES)) == str(expected)
    if function is not EVERY_TWO_HOURS["partition"]:
        assert str(function(HOURLY_LABELS, scores)) == str(expected)


@pytest.mark.parametrize("function", POINTS_ONLY.values(), ids=POINTS_ONLY)
def test_functions_without_times_use_an_index_of_dates(function):
    even = HOURLY[: len(HOURLY_LABELS)].tz_localize(None)
    labels, scores = (pd.Series(each, index=even) for each in (HOURLY_LABELS, HOURLY_SCORES))
    assert function(labels, scores, near="2h") == function(HOURLY_LABELS, HOURLY_SCORES, near=2)
    with pytest.raises(ValueError, match="near '2h' is a duration, and there is no clock"):
        function(HOURLY_LABELS, HOURLY_SCORES, near="2h")
    left = [pd.Series(each, index=HOURS_LEFT) for each in (HOURLY_LABELS, HOURLY_SCORES)]
    assert function(*left, near="2h") != function(HOURLY_LABELS, HOURLY_SCORES, near=2)  # a gap is no neighbour


def test_an_even_index_tells_when_events_are():
    """Without being asked, it changes no number, and an index with gaps tells nothing."""
    even = pd.Series(HOURLY_LABELS, index=HOURLY[: len(HOURLY_LABELS)])
    plain = dqeval.evaluate(HOURLY_LABELS, HOURLY_SCORES)
    told = dqeval.evaluate(even, HOURLY_SCORES)
    assert (told.dqe, told.near) == (plain.dqe, 125)
    assert told.per_event[0].start_time == np.datetime64("2026-01-01T02:00")
    assert not hasattr(dqeval.evaluate(pd.Series(HOURLY_LABELS, index=HOURS_LEFT), HOURLY_SCORES), "axis")
    assert not hasattr(dqeval.evaluate(pd.Series(HOURLY_LABELS), HOURLY_SCORES), "axis")
    alarms = [dqeval.alarms(labels, HOURLY_SCORES > 1) for labels in (even, HOURLY_LABELS)]
    assert alarms[0].false_alarms_per_day == EXACT(24 * alarms[1].false_alarm_rate)
    assert np.isnan(alarms[1].false_alarms_per_day)


def test_many_series_are_counted_in_points():
    series = [pd.Series(HOURLY_LABELS, index=HOURS_LEFT)]
    with pytest.raises(ValueError, match="near '2h' is a duration, and many series are counted in points: give a num"):
        dqeval.evaluate_many(series, [HOURLY_SCORES], near="2h")


def test_the_end_of_summer_time():
    """With a time zone, the hour that is there twice is two; without one it cannot be told from itself."""
    zone = ZoneInfo("Europe/Berlin")
    hours = [datetime(2026, 10, 24, 22, tzinfo=UTC) + timedelta(hours=k) for k in range(6)]
    local_hours = [t.astimezone(zone) for t in hours]
    result = dqeval.evaluate(LABELS, SCORES, times=local_hours, near=1)
    assert (result.axis.resolution, result.axis.gaps) == (3600 * SECOND, ())
    with pytest.raises(
        ValueError, match=r"position 3, 2026-10-25T02:00 is there twice; .* give times with a time zone"
    ):
        dqeval.evaluate(LABELS, SCORES, times=[t.replace(tzinfo=None) for t in local_hours])
    halves = pd.date_range("2026-10-25 00:30", periods=6, freq="30min", tz="UTC").tz_convert(zone)
    with pytest.raises(ValueError, match=r"02:00 comes behind 2026-10-25T02:30; .* end of summer time"):
        dqeval.evaluate(LABELS, SCORES, times=halves.tz_localize(None))


def test_float_times_hold_microseconds():
    """Rounded to what a float can hold, even steps stay even, whatever the unit."""
    for per_second, step in ((1, 0.001), (1e3, 1), (1e6, 1_000), (1e9, 1_000_000)):
        times = 1_767_225_600.5 * per_second + step * np.arange(6)
        assert dqeval.evaluate(LABELS, SCORES, times=times, near=1).axis.resolution == 1_000_000


def test_single_samples():
    assert dqeval.evaluate_detections([1], [1], times=[7], near=1).dqe == 1
    assert dqeval.evaluate_detections([1], [1], times=["2026-01-01"], resolution="1h", near="1h").near == 1
    with pytest.raises(ValueError, match=r'times has a single date, .*: give resolution="1min"'):
        dqeval.evaluate_detections([1], [1], times=["2026-01-01"])


def test_many_cells_that_were_not_observed():
    """Bursts of milliseconds in a century: only what was observed takes memory."""
    times = np.array([0, 1, 2, 3_000_000_000_000, 3_000_000_000_001, 3_000_000_000_002])
    result = dqeval.evaluate(LABELS, SCORES, times=times, near=1)
    assert (result.axis.length, result.axis.gaps) == (6, (2_999_999_999_997,))
    dates = np.array(
        ["1700-01-01", "1700-01-02", "1850-01-01", "1850-01-02", "1970-01-01", "1970-01-02"], "datetime64[D]"
    )
    assert len(dqeval.evaluate(LABELS, SCORES, times=dates, near=1).axis.gaps) == 2


BAD = {
    "twice": ({"times": [0, 1, 1, 2, 3, 4]}, "times must ascend: at position 2, 1 is there twice; sort the points"),
    "unsigned": (
        {"times": np.array([0, 1, 2, 9, 5, 6], dtype=np.uint64)},
        "times must ascend: at position 4, 5 comes behind 9; sort the points",
    ),
    "backwards": (
        {"times": [0, 1, 2, 9, 5, 12]},
        "times must ascend: at position 4, 5 comes behind 9; sort the points",
    ),
    "a day back": (
        {"times": ["2026-01-03", "2026-01-01", *[f"2026-01-1{i}" for i in range(4)]]},
        "at position 1, 2026-01-01T00:00 comes behind 2026-01-03T00:00; sort the points, and keep one for each time$",
    ),
    "too few": ({"times": [1, 2]}, "times must have one moment per point: got 2 for 6 points"),
    "none": ({"times": []}, "times must have one moment per point: got 0 for 6 points"),
    "a text": ({"times": "2026-01-01"}, "times must be a sequence of times: got '2026-01-01'"),
    "a number": ({"times": 5}, "times must be a sequence of times: got 5"),
    "a table": ({"times": np.zeros((6, 2))}, r"times must be a sequence of times: got an array of shape \(6, 2\)"),
    "words": ({"times": list("abcdef")}, "times: the times, such as 'a', cannot be read together: give numbers, or"),
    "mixed zones": (
        {"times": [*NAIVE[:3], *AWARE[3:]]},
        "cannot be read together: .* all with a time zone or all without",
    ),
    "dates and numbers": ({"times": [*NAIVE[:5], 7]}, "times: the times, such as .* cannot be read together"),
    "missing": ({"times": pd.Series([*NAIVE[:5], None])}, "times: the time at position 5 is missing"),
    "no date": ({"times": [*NAIVE[:5], None]}, "times: the time at position 5 is missing"),
    "missing text": ({"times": [*map(str, NAIVE[:5]), ""]}, "times: the time at position 5 is missing"),
    "not finite": ({"times": [0, 1, 2, 3, 4, np.nan]}, "times: the time at position 5 is not finite"),
    "not whole": ({"times": [0, 1, 2, 3, 4, 5.5]}, "times: the time 5.5 is not whole: give whole numbers"),
    "too large": ({"times": [0, 1, 2, 3, 4, 2**62]}, "times: the time .* is too large: give smaller numbers, or dates"),
    "too far": (
        {"times": np.array([0, 1, 2, 3, 4, 2000], "datetime64[Y]")},
        "is too far away: dates must be from 1678",
    ),
    "too long": (
        {"times": np.array([-290, 1, 2, 3, 4, 280], "datetime64[Y]")},
        "times go from 1680-01-01T00:00 to 2250-01-01T00:00: that is too long, as dates may span 292 years",
    ),
    "resolution alone": ({"resolution": "1min"}, "resolution is about a clock: give times too"),
    "gap alone": ({"max_gap": 3}, "max_gap is about a clock: give times too"),
    "no unit": ({"times": NAIVE, "resolution": "5"}, "resolution must be a duration such as"),
    "unknown unit": ({"times": NAIVE, "resolution": "5 moons"}, "resolution must be a duration such as"),
    "no length": ({"times": NAIVE, "resolution": 0}, "resolution must be above 0, and not beyond all times: got 0"),
    "endless": ({"times": NAIVE, "resolution": 10**30}, "resolution must be above 0, and not beyond all times: got 10"),
    "endless float": ({"times": NAIVE, "resolution": 1e300}, "resolution must be above 0, and not beyond all times"),
    "truth": ({"times": NAIVE, "resolution": True}, "resolution must be a duration such as"),
    "a duration for numbers": ({"times": range(6), "resolution": "1min"}, "resolution must be a whole number, as the"),
    "a gap for numbers": ({"times": range(6), "max_gap": "1min"}, "max_gap is a duration, but the times are numbers"),
    "a gap below 0": ({"times": range(6), "max_gap": -1}, "max_gap must be a whole number of at least 0"),
    "near for numbers": ({"times": range(6), "near": "1min"}, "near '1min' is a duration, but the times are numbers"),
    "near without times": ({"near": "10min"}, "near '10min' is a duration, and there is no clock: give the times too"),
    "period without times": ({"period": "10min"}, "period '10min' is a duration, and there is no clock"),
    "near in moons": ({"times": NAIVE, "near": "10 moons"}, "near must be"),
    "too many cells": (
        {"times": [0, 1, 2, 3, 2**31, 2**32], "max_gap": 2**31},
        "cells of the resolution: give a coarser",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    options, message = BAD[name]
    for function in (dqeval.evaluate, dqeval.panel, dqeval.explain, dqeval.dqe_score):
        with pytest.raises(ValueError, match=message) as caught:
            function(LABELS, SCORES, **options)
        assert "\n" not in str(caught.value)
        assert len(str(caught.value)) < 300
    with pytest.raises(ValueError, match=message):
        dqeval.partition(LABELS, **options)
    with pytest.raises(ValueError, match=message if "times" in options else "needs a clock, and there is none"):
        dqeval.compare({"label": LABELS, "mine": SCORES}, repeats=1, **options)


def test_bad_input_of_alarms():
    for function, found in ((dqeval.alarms, LABELS), (dqeval.alarm_curve, SCORES)):
        with pytest.raises(ValueError, match="early '1min' is a duration, and there is no clock: give the times too"):
            function(LABELS, found, early="1min")
        with pytest.raises(ValueError, match="early '1min' is a duration, but the times are numbers"):
            function(LABELS, found, early="1min", times=range(6))
        with pytest.raises(ValueError, match="max_gap is about a clock: give times too"):
            function(LABELS, found, resolution="1min", max_gap=3)
        with pytest.raises(ValueError, match="times must ascend"):
            function(LABELS, found, times=[0] * 6)
    with pytest.raises(ValueError, match="false_alarms_per_day needs a clock: give times that are dates"):
        dqeval.threshold_for(LABELS, SCORES, false_alarms_per_day=1, times=range(6))
    assert dqeval.alarms(LABELS, LABELS, resolution=60).resolution == 60 * SECOND


def test_no_event_on_a_clock():
    with pytest.raises(dqeval.UndefinedError):
        dqeval.evaluate([0, 0, 0], [1, 2, 3], times=[1, 2, 30])
    with pytest.warns(dqeval.UndefinedWarning):
        none = dqeval.evaluate([0, 0, 0], [1, 2, 3], times=[1, 2, 30], undefined="nan")
    assert np.isnan(none.dqe)
    assert len(dqeval.partition([0, 0, 0], times=[1, 2, 30]).events) == 0


def test_events_split_at_gaps_are_not_called_one_with_labels_missing():
    labels, scores = [0] * 5 + [1] * 4 + [0] * 5, [0] * 5 + [3] * 4 + [1] * 5
    times = np.append(np.arange(7), 20 + np.arange(7))
    cautions = dqeval.explain(labels, scores, times=times, near=2).cautions
    assert not any("is that one event" in caution for caution in cautions)
    labels[8] = labels[9] = 0
    labels[10] = 1
    cautions = dqeval.explain(labels, scores, times=times, near=2).cautions
    assert any("1 pair of neighbouring events at most 3 points apart, the first at point 8" in c for c in cautions)


def test_split_events_equal_runs_of_stretches():
    flags = np.array([1, 1, 0, 1, 1, 1], dtype=bool)
    assert list(split_at(find_events(flags), np.array([1, 3, 5]))) == [(0, 1), (1, 2), (3, 5), (5, 6)]


def series_of(times, **options):
    return dqeval.Series("one", np.array(LABELS), {"mine": np.array(SCORES, dtype=float)}, timestamps=times, **options)


def table_of(times, name="timestamp"):
    return {name: times, "label": LABELS, "mine": np.array(SCORES, dtype=float)}


TABLES = {
    "a series": (series_of(EPOCH.astype("datetime64[s]")), {}),
    "a series of numbers": (series_of(EPOCH), {}),
    "columns": (table_of([str(t) for t in NAIVE]), {}),
    "a frame": (pd.DataFrame(table_of(NAIVE)), {}),
    "an aware frame": (pd.DataFrame(table_of(AWARE)), {}),
    "an index of times": (pd.DataFrame(table_of(NAIVE)).set_index("timestamp"), {}),
    "an aware index": (pd.DataFrame(table_of(AWARE, "when")).set_index("when"), {}),
    "polars": (pl.DataFrame(table_of(NAIVE)), {}),
    "times beside a series": (series_of(None), {"times": AWARE}),
    "times beside a frame": (pd.DataFrame({"label": LABELS, "mine": SCORES}), {"times": NAIVE}),
}


@pytest.mark.parametrize("form", TABLES)
@pytest.mark.unmeasured
def test_comparisons_on_a_clock(form):
    """A duration, a resolution or times put a series on its clock; without any of them, points are points."""
    data, options = TABLES[form]
    expected = dqeval.evaluate(LABELS, SCORES, times=EPOCH, near="2min")
    for near in ({"near": "2min"}, {"near": 2, "resolution": "1min"}, {"period": timedelta(minutes=4)}):
        found = dqeval.compare(data, repeats=1, **near, **options)
        result = found.panels["mine"].dqe
        assert (local(result) == local(expected)).all()
        assert (result.near, result.axis.gaps) == (2, (26,))
        assert any("26 min (81.2 %) not observed, in 1 gap, left out" in warning for warning in found.warnings)
    if not options:
        plain = dqeval.compare(data, near=2, repeats=1).panels["mine"].dqe
        assert (local(plain) == local(dqeval.evaluate(LABELS, SCORES, near=2))).all()


@pytest.mark.unmeasured
def test_reports_on_a_clock(tmp_path):
    values = np.sin(np.arange(6.0))
    data = dqeval.Series("one", np.array(LABELS), {"mine": np.array(SCORES, dtype=float)}, values, timestamps=EPOCH)
    dqeval.report(data, tmp_path / "page.html", near="2min")
    assert "not observed" in (tmp_path / "page.html").read_text(encoding="utf-8")
    coarse = prepare_series(data, near=1, clock=Clock(resolution="2min"))
    assert coarse.series.values.tolist() == EXACT(values[[1, 3, 5]].tolist())
    assert coarse.labelled.labels.tolist() == [True, True, True]
    assert coarse.series.timestamps[2] == np.datetime64("2026-01-01T00:30")


@pytest.mark.parametrize("given", [np.arange(6), None])
def test_series_without_dates_have_no_duration(given):
    with pytest.raises(ValueError, match=r"near needs a clock, and there is none|near '2min' is a duration, but the"):
        dqeval.compare(series_of(given), near="2min", repeats=1)


def test_a_known_period_counts_points():
    """It is counted in cells, where cells are others than the points."""
    even = 60 * np.arange(6)
    assert prepare_series(series_of(EPOCH[0] + even, period=4), clock=Clock(max_gap=1)).near.points == 2
    assert prepare_series(series_of(EPOCH[0] + even, period=4), clock=Clock(resolution="2min")).near.points == 1


ZONES = {
    "text": (table_of([str(t) for t in NAIVE]), False),
    "aware text": (table_of([t.isoformat() for t in AWARE]), True),
    "datetimes": (table_of(NAIVE), False),
    "aware datetimes": (table_of(AWARE), True),
    "moments": (table_of(EPOCH.astype("datetime64[s]")), None),
    "numbers": (table_of(EPOCH), None),
    "words": (table_of([f"{t} May" for t in range(6)]), None),
    "mixed": (table_of([str(t) for t in (*NAIVE[:3], *AWARE[3:])]), None),
    "no times": ({"label": LABELS, "mine": SCORES}, None),
    "a frame": (pd.DataFrame(table_of(NAIVE)), False),
    "an aware frame": (pd.DataFrame(table_of(AWARE)), True),
    "an index": (pd.DataFrame(table_of(NAIVE)).set_index("timestamp"), False),
    "an aware index": (pd.DataFrame(table_of(AWARE, "when")).set_index("when"), True),
    "an index of text": (pd.DataFrame(table_of([str(t) for t in AWARE])).set_index("timestamp"), True),
    "polars": (pl.DataFrame(table_of(NAIVE)), False),
    "aware polars": (pl.DataFrame(table_of(pl.Series(NAIVE).dt.replace_time_zone("UTC"))), True),
}


@pytest.mark.parametrize("form", ZONES)
def test_series_know_whether_their_times_have_a_zone(form):
    data, zoned = ZONES[form]
    series = dqeval.datasets.series_of(data)
    assert series.zoned is zoned
    if form not in ("no times", "numbers", "words", "mixed"):
        assert series.timestamps[4] == np.datetime64("2026-01-01T00:30")
        kind = prepare_series(series, near="1min").labelled.axis.kind
        assert kind == ("universal" if zoned else "local")


def test_files_know_whether_their_times_have_a_zone(tmp_path):
    for times, zoned in ((NAIVE, False), (AWARE, True)):
        frame = pd.DataFrame({"timestamp": [t.isoformat() for t in times], "label": LABELS, "mine": SCORES})
        frame.to_csv(tmp_path / "table.csv", index=False)
        assert dqeval.datasets.read_columns(tmp_path / "table.csv").zoned is zoned
        other = frame.rename(columns={"label": "is_anomaly", "mine": "value_0"})[["timestamp", "value_0", "is_anomaly"]]
        other.to_csv(tmp_path / "timeeval.csv", index=False)
        assert next(iter(dqeval.datasets.read(tmp_path / "timeeval.csv"))).zoned is zoned
    for times, zoned in ((NAIVE, False), (AWARE, True)):
        frame.assign(timestamp=pd.DatetimeIndex(times)).to_parquet(tmp_path / "table.parquet")
        assert dqeval.datasets.read_columns(tmp_path / "table.parquet").zoned is zoned


def test_series_that_somebody_made_tell_their_zone():
    for times, kind in ((NAIVE, "local"), (AWARE, "universal"), (pd.DatetimeIndex(NAIVE), "local")):
        found = dqeval.compare(series_of(times), near="1min", repeats=1)
        assert found.panels["mine"].dqe.axis.kind == kind
    moments = EPOCH.astype("datetime64[s]")
    for zoned, kind in ((True, "universal"), (False, "local"), (None, "local")):
        assert prepare_series(series_of(moments, zoned=zoned), near="1min").labelled.axis.kind == kind
        even = series_of(moments[0] + np.arange(6), zoned=zoned)
        assert prepare_series(even, near=1).labelled.axis.kind == kind
    twice = series_of(np.repeat(moments[:3], 2), zoned=True)
    with pytest.raises(ValueError, match=r"is there twice; sort the points, and keep one for each time$"):
        prepare_series(twice, near="1min")


def test_what_was_left_out_is_told_everywhere():
    clock = {"times": EPOCH, "near": 1}
    note = "26 min (81.2 %) not observed, in 1 gap, left out"
    assert note in str(dqeval.evaluate(LABELS, SCORES, **clock))
    assert note in str(dqeval.evaluate_detections(LABELS, LABELS, **clock))
    assert note in str(dqeval.panel(LABELS, SCORES, metrics=["auc_roc"], **clock))
    assert note in str(dqeval.alarms(LABELS, LABELS, times=EPOCH))
    assert note in str(dqeval.alarm_curve(LABELS, SCORES, times=EPOCH))
    assert note in str(dqeval.threshold_for(LABELS, SCORES, times=EPOCH, false_alarms_per_day=1))


def test_units_that_are_finer_than_nanoseconds():
    times = (10**6 * np.arange(6)).astype("datetime64[ps]")
    result = dqeval.evaluate(LABELS, SCORES, times=times, near=1)
    assert (result.axis.resolution, result.axis.gaps) == (1000, ())


@given(st.lists(st.sampled_from([1, 2, 5, 9]), min_size=1, max_size=9), st.integers(1, 1500))
def test_the_median_step_of_many(pattern, count):
    """A few steps give an idea of it, which is wrong where they happen to be unlike the others."""
    steps = np.resize(pattern, count)
    times = np.concatenate([[0], np.cumsum(steps)])
    assert median_step(np.diff(times)) == naive.usual_step(times.tolist())


@pytest.mark.parametrize("dates", [False, True])
@pytest.mark.parametrize("place", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 99_998])
def test_steps_of_many_times_are_looked_at_in_blocks(place, dates):
    def step_of(times):
        given = times.astype("datetime64[s]") if dates else times
        found = moments_of("times", given)
        assert found.steps == Moments(found.ticks, found.kind).steps
        return even_step(found)

    times = np.arange(100_000)
    assert step_of(times) == (1_000_000_000 if dates else 1)
    times[place + 1 :] += 3
    assert step_of(times) is None
    times[place + 1 :] -= 4
    with pytest.raises(ValueError, match=f"times must ascend: at position {place + 1:,}, .* is there twice"):
        step_of(times)


@pytest.mark.parametrize("place", [0, BLOCK, 99_999])
def test_a_time_far_away_is_found_among_many(place):
    times = np.arange(100_000)
    times[place] = 2**62
    with pytest.raises(ValueError, match=f"times: the time {2**62} is too large"):
        moments_of("times", times)
    dates = np.arange(100_000).astype("datetime64[s]")
    dates[place] = "NaT"
    with pytest.raises(ValueError, match=f"times: the time at position {place:,} is missing"):
        moments_of("times", dates)


@pytest.mark.parametrize("count", [1, BLOCK, BLOCK + 1])
def test_single_moments_have_no_step(count):
    found = moments_of("times", np.arange(count))
    assert found.steps == (None if count == 1 else Steps(1, 1))
    assert even_step(found) == (None if count == 1 else 1)


@given(st.lists(st.integers(-50, 50), max_size=9), st.sampled_from([1, 10**9, 1_700_000_000]))
def test_steps_are_those_of_the_ticks(numbers, shift):
    found = moments_of("times", np.array(numbers, dtype=np.int64) + shift)
    steps = [int(after) - int(before) for before, after in pairwise(found.ticks.tolist())]
    assert found.steps == (Steps(min(steps), max(steps)) if steps else None)


def test_a_time_that_is_not_whole_is_found_among_many():
    times = np.arange(70_000.0)
    assert dqeval.intervals_from_labels(times == 69_000, times) == [(69_000, 69_001)]
    times[-1] += 0.5
    with pytest.raises(ValueError, match=r"times: the time 69999\.5 is not whole"):
        dqeval.intervals_from_labels(times == 3, times)


def test_a_median_step_that_every_third_is_unlike():
    steps = np.where(np.arange(2000) % 3 == 0, 9, 1)
    assert median_step(steps) == 1


def test_what_became_of_intervals_is_told():
    axis = TimeAxis(0, 1, 10, "number", (4,), (6,))
    starts, stops = np.array([0, 2, 5, 90]), np.array([1, 12, 8, 95])
    spans = Spans(starts, stops, "number", np.zeros(4, dtype=bool), names=("a", "b", "", "d"))
    found = axis.positions(spans, "left")
    assert list(found.events) == [(0, 1), (2, 4), (4, 6)]
    assert found.names == ("a", "b", "b")
    assert list(found.notes("incident")) == [
        "1 incident outside the span left out",
        "1 incident where nothing was observed left out",
        "1 gap inside incidents: the parts before and behind count as two",
    ]
    assert flags_of(found.events).astype(int).tolist() == [1, 0, 1, 1, 1, 1, 0, 0, 0, 0]


def test_events_as_records():
    dates = dqeval.evaluate(LABELS, SCORES, times=EPOCH, near=1).per_event[0].record()
    assert (dates["start"], dates["start_time"]) == (1, "2026-01-01T00:01Z")
    numbers = dqeval.evaluate(LABELS, SCORES, times=SECONDS, near=1).per_event[0].record()
    assert (numbers["start_time"], numbers["stop_time"]) == (60, 180)


def test_bad_intervals():
    far = [("1690-01-01", "1690-01-02")], [("2250-01-01", "2250-01-02")]
    with pytest.raises(ValueError, match="the times are too far apart: dates may span 292 years"):
        dqeval.evaluate_intervals(*far)
    for length in (-1, 10**30):
        with pytest.raises(ValueError, match="incidents, duration must be at least 0, and less than a century: got"):
            dqeval.evaluate_intervals({"start": ["2026-01-01"], "duration": [length]}, [])
    with pytest.raises(ValueError, match=r"duration must be a whole number of at least 0: got 0\.5"):
        dqeval.evaluate_intervals({"start": [1], "duration": [0.5]}, [])
    with pytest.raises(dqeval.UndefinedError, match="there is no incident in the span, so the score is undefined"):
        dqeval.evaluate_intervals([(1, 2)], [], span=(5, 9))


def test_samples_that_jitter_have_a_cell_each():
    """Samples up to 90 s late on an hourly clock are one a cell, though the first is among the latest."""
    random = np.random.default_rng(0)
    hours = np.datetime64("2026-01-01", "s") + 3600 * np.arange(700) + random.integers(0, 90, 700)
    hours[0] += np.timedelta64(3, "s")
    labels, scores = np.arange(700) % 100 == 50, random.random(700)
    result = dqeval.evaluate(labels, scores, times=hours, near="3h")
    assert str(result.axis) == "700 cells of 1 h"
    assert result.notes == ()
    assert result.dqe == pytest.approx(dqeval.evaluate(labels, scores, near=3).dqe, abs=1e-12)


def test_cells_that_are_much_finer_than_the_samples():
    hours = np.datetime64("2026-01-01", "h") + np.arange(50)
    result = dqeval.evaluate(np.arange(50) == 20, np.arange(50), times=hours, resolution="1min", near=1)
    assert "cells are much finer than the samples: give a coarser resolution, or a longer max_gap" in result.notes
    result = dqeval.evaluate(np.arange(50) == 20, np.arange(50), times=hours, resolution="1min", max_gap="1h", near=1)
    assert not result.axis.gaps


def test_results_on_a_clock_can_be_pickled():
    times = np.datetime64("2026-01-01", "m") + np.arange(len(LABELS))
    for found in (
        dqeval.evaluate(LABELS, SCORES, times=times, near=1),
        dqeval.evaluate_detections(LABELS, LABELS, times=times, near=1),
        dqeval.explain(LABELS, SCORES, times=times, near=1),
    ):
        assert pickle.loads(pickle.dumps(found)) == found
    again = pickle.loads(pickle.dumps(dqeval.evaluate(LABELS, SCORES, times=times, near=1)))
    assert again.curve.dqe.tolist() == dqeval.evaluate(LABELS, SCORES, near=1).curve.dqe.tolist()


def test_a_series_that_is_prepared_again_keeps_its_clock():
    keep = np.delete(np.arange(200), np.r_[50:90])
    times = np.datetime64("2026-01-01", "m") + keep
    series = Series("one", keep % 70 == 30, {"mine": np.sin(keep)}, timestamps=times)
    first = prepare(series, clock=Clock(max_gap=2))
    assert len(first.labelled.breaks) == 1
    for again in (prepare(first, near=10), prepare(first, near="10min")):
        assert (again.near.points, again.notes, again.labelled.axis) == (10, first.notes, first.labelled.axis)
    coarse = prepare(prepare(series, clock=Clock(resolution="10min")), clock=Clock(resolution="1min"))
    assert coarse.labelled.axis == first.labelled.axis


def test_frames_need_pandas(monkeypatch):
    result = dqeval.evaluate(LABELS, SCORES, near=1)
    assert result.to_frame()["dqe"].tolist() == [event.dqe for event in result.per_event]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ValueError, match="to_frame needs pandas: pip install pandas"):
        result.to_frame()


def test_a_partition_tells_when_regions_are():
    hours = np.datetime64("2026-01-01T00:00", "h") + np.array([0, 1, 2, 3, 4, 15, 16, 17])
    found = dqeval.partition([0, 0, 1, 0, 0, 0, 1, 0], times=hours, near="1h")
    assert found.axis.end_of(found.regions[0].right) == np.datetime64("2026-01-01T05")
    assert found.axis.start_of(found.regions[1].left) == np.datetime64("2026-01-01T15")
    assert str(found).splitlines()[2].startswith("2026-01-01 02:00 – 03:00       [0, 1)     [1, 2)   [2, 3)")
    assert str(found).splitlines()[-1] == "near 1, 8 cells of 1 h"


def test_check_on_a_clock_still_looks_at_labels():
    """What labels hold beside 0 and 1 is said, not that there is no anomaly."""
    times = np.datetime64("2026-01-01", "m") + np.arange(6)
    series = Series("one", np.array([0, 2, 0, 1, 0, 0.0]), {"mine": np.arange(6.0)}, timestamps=times)
    for near in (1, "1min"):
        errors = [finding.message for finding in dqeval.check(series, near=near) if finding.level == "error"]
        assert errors == ["must contain only 0 and 1: 1 of 6 values are not (first at index 1: 2)"]


def test_no_incident_at_all():
    days = np.arange("2026-01-01", "2026-01-06", dtype="datetime64[D]")
    scores = {"mine": np.arange(5.0)}
    series = dqeval.Series("quiet", np.zeros(5, dtype=int), scores=scores, timestamps=days, incidents=spans_of("x", []))
    with pytest.raises(dqeval.UndefinedError, match="there is no incident, so there is no event to score"):
        dqeval.compare(series)


def test_a_result_with_more_notes_has_everything_else():
    times = START + np.arange(6) * np.timedelta64(1, "m")
    found = dqeval.evaluate_detections([0, 0, 1, 1, 0, 0], [0, 0, 0, 1, 0, 1], times=times, near=1)
    noted = with_notes(found, ["something was left out"])
    assert noted.notes == (*found.notes, "something was left out")
    assert noted.alarms is not None
    assert noted.alarms.events_detected == found.alarms.events_detected
    assert noted.per_event == found.per_event
