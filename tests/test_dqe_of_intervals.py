"""SDQE from intervals equals SDQE from points."""

import numpy as np
import pytest
from hypothesis import given

import dqeval
from dqeval.core.events import find_events
from dqeval.core.regions import cut
from dqeval.metrics.dqe_of_intervals import scores_of_intervals
from strategies import any_near, detections, exact_near, labelled


def both(labels, found, near):
    """Return the square of SDQE and its parts, in both ways.

    The square, because SDQE is a root: where false alarms leave 0 but for rounding, that shows in half as many digits.
    """
    events = find_events(np.asarray(labels, dtype=bool))
    sparse = scores_of_intervals(find_events(np.asarray(found, dtype=bool)), cut(events, near))
    sparse[:, 0] **= 2
    dense = dqeval.evaluate_detections(labels, found, near=near).per_event
    return sparse, np.array([[e.dqe**2, e.capture, e.near_miss, e.false_alarm] for e in dense])


@given(labelled(detections), exact_near | any_near)
def test_equals_the_points(pair, near):
    sparse, dense = both(*pair, near)
    assert sparse == pytest.approx(dense, abs=1e-12)


@given(labelled(detections, most=60, longest=30), exact_near)
def test_equals_the_points_of_longer_series(pair, near):
    sparse, dense = both(*pair, near)
    assert sparse == pytest.approx(dense, abs=1e-12)


def test_many_events_and_alarms():
    random = np.random.default_rng(0)
    labels = (np.convolve(random.random(50_000) < 0.002, np.ones(12), mode="same") > 0).astype(int)
    found = (np.convolve(random.random(50_000) < 0.01, np.ones(5), mode="same") > 0).astype(int)
    sparse, dense = both(labels, found, 40.5)
    assert sparse == pytest.approx(dense, abs=1e-12)


@pytest.mark.parametrize(
    ("labels", "found", "near"),
    [
        # The bin that reaches over the event holds the middles of two alarms.
        ([0, 1, 0, 0], [1, 0, 1, 0], 0.5),
        # The quotient that tells the bin is rounded below an edge, and above one.
        ([0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0], [1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 1], 1 / 7),
        ([0, 0, 0, 0, 0, 1, 0, 0, 0], [0, 1, 1, 0, 0, 1, 1, 1, 0], 0.3),
        # A single bin.
        ([0, 1, 0], [0, 0, 1], 0.5),
        # No near range, and an alarm over both ends of the event.
        ([0, 0, 1, 1, 0, 0], [0, 1, 1, 1, 1, 0], 0.0),
    ],
)
def test_at_the_edges_of_pieces_and_bins(labels, found, near):
    sparse, dense = both(labels, found, near)
    assert sparse == pytest.approx(dense, abs=1e-12)
