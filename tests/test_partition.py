"""The regions tile the time axis, and the values print well."""

import pickle

import numpy as np
import pytest
from hypothesis import given

import dqeval
import naive
import strategies as own
from dqeval.core.events import find_events
from dqeval.core.types import MEANING


@given(own.labels())
def test_events(y_true):
    found = find_events(y_true.astype(bool))
    assert list(found) == naive.events(y_true)
    assert len(found) == len(naive.events(y_true))


@given(own.labels(), own.exact_near)
def test_regions_are_the_definitions(y_true, near):
    anomalies = naive.events(y_true)
    for i, region in enumerate(dqeval.partition(y_true, near=near).regions):
        expected = naive.pieces(anomalies[i], naive.local_region(anomalies, i, len(y_true)), near)
        assert (region.left, region.near_start) == expected["alarm_early"]
        assert (region.near_start, region.start) == expected["near_early"]
        assert (region.start, region.stop) == expected["capture"]
        assert (region.stop, region.near_stop) == expected["near_late"]
        assert (region.near_stop, region.right) == expected["alarm_late"]


@given(own.labels(), own.exact_near | own.any_near)
def test_regions_tile_the_series(y_true, near):
    regions = dqeval.partition(y_true, near=near).regions
    cuts = [c for r in regions for c in (r.left, r.near_start, r.start, r.stop, r.near_stop, r.right)]
    assert cuts == sorted(cuts)
    assert (cuts[0], cuts[-1]) == (0, len(y_true))
    assert [r.right for r in regions[:-1]] == [r.left for r in regions[1:]]


def test_partitions_are_values():
    one, same, other = (dqeval.partition([0, 1, 0, 0], near=near) for near in (1, 1, 2))
    assert one == same
    assert one != other
    assert len({one, same, other}) == 2


def test_no_event_no_region():
    empty = dqeval.partition([0, 0, 0], near=1)
    assert empty.regions == ()
    assert str(empty).splitlines()[-1] == "near 1, 3 points"


def test_near_from_period_and_values():
    y_true = np.arange(300) == 7
    assert dqeval.partition(y_true, period=9).near == 4.5
    assert dqeval.partition(y_true, values=np.sin(2 * np.pi * np.arange(300) / 25)).near == 12.5


def test_results_print_as_text_and_as_html():
    result = dqeval.evaluate([0, 1, 0, 0, 1, 0], [0, 9, 0, 0, 3, 0], near=1)
    assert str(result).splitlines() == [
        "event     DQE  capture  near miss  false alarm",
        "----------------------------------------------",
        "all 2   0.665    0.665      0.665        0.665",
        "[1, 2)  1.000    1.000      1.000        1.000",
        "[4, 5)  0.330    0.330      0.330        0.330",
        "near 1, 100 thresholds",
        *MEANING.splitlines(),
    ]
    html = result._repr_html_()
    assert html.count("<tr>") == 4
    assert "<td>0.665</td>" in html
    assert "near 1, 100 thresholds" in html
    assert "all thresholds" in str(dqeval.evaluate([0, 1], [0, 1], near=1, thresholds="exact"))
    assert "1 threshold\n" in str(dqeval.evaluate_detections([0, 1], [0, 1], near=1)) + "\n"
    assert "<th>capture</th>" in dqeval.partition([0, 1], near=1)._repr_html_()


def test_long_tables_are_cut():
    y_true = np.arange(100) % 2
    lines = str(dqeval.evaluate(y_true, y_true, near=0)).splitlines()
    assert len(lines) == 26
    assert lines[-4:] == ["... and 31 more", "near 0, 100 thresholds", *MEANING.splitlines()]


def test_combined_prints_and_counts_what_was_left_out():
    one = dqeval.evaluate([0, 1, 0, 1], [0, 1, 0, 0], near=1)
    with pytest.warns(dqeval.UndefinedWarning):
        none = dqeval.evaluate([0, 0], [0, 1], near=1, undefined="nan")
    both = dqeval.combine([one, none])
    assert (both.n_series, both.n_events, both.n_undefined) == (1, 2, 1)
    assert str(both).splitlines()[2:] == [
        "1 series   0.500    0.500      0.500        0.500",
        "2 events   0.500    0.500      0.500        0.500",
        "1 series without an anomaly left out",
    ]
    assert "<td>2 events</td>" in both._repr_html_()
    with pytest.raises(dqeval.UndefinedError, match="none of the 1 results to combine has an event"):
        dqeval.combine([none])
    with pytest.raises(dqeval.UndefinedError, match="none of the 0 results"):
        dqeval.combine([])


@pytest.mark.parametrize("thresholds", [100, "exact"])
def test_results_travel_between_processes(thresholds):
    result = dqeval.evaluate([0, 1, 0, 0, 1, 0], [0, 9, 0, 2, 3, 0], near=1, thresholds=thresholds)
    copy = pickle.loads(pickle.dumps(result))
    assert copy == result
    np.testing.assert_array_equal(copy.curve.dqe, result.curve.dqe)


def test_results_are_frozen():
    result = dqeval.evaluate([0, 1], [0, 1], near=1)
    with pytest.raises(AttributeError):
        result.dqe = 0.5
    with pytest.raises(AttributeError):
        result.per_event[0].dqe = 0.5


def test_positions_print_with_all_their_digits():
    y_true = np.zeros(1_300_000, int)
    y_true[[1_234_567, 1_234_570]] = 1
    lines = str(dqeval.partition(y_true, near=1)).splitlines()
    assert "[1234569, 1234569)" in lines[2]
    y_true[1_234_571], y_true[1_234_570] = 1, 0
    assert "[1234569, 1234569.5)" in str(dqeval.partition(y_true, near=1))
