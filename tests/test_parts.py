"""Detections cut at the borders of the pieces, against the definition."""

from fractions import Fraction

import numpy as np
from hypothesis import given

import naive
import strategies
from dqeval.core.events import find_events
from dqeval.core.pieces import PIECES, parts_in
from dqeval.core.regions import cut

NAMES = ("alarm_early", "near_early", "capture", "near_late", "alarm_late")


@given(strategies.labelled(strategies.detections), strategies.exact_near)
def test_parts_equal_the_definition(drawn, near):
    labels, detections = drawn
    parts = parts_in(find_events(detections == 1), cut(find_events(labels == 1), near))
    anomalies = naive.events(labels)
    expected = []
    for i, anomaly in enumerate(anomalies):
        pieces = naive.pieces(anomaly, naive.local_region(anomalies, i, len(labels)), Fraction(near))
        for j, name in enumerate(NAMES):
            expected += [(i, j, float(a), float(b)) for a, b in naive.parts(naive.events(detections), pieces[name])]
    found = zip(parts.event.tolist(), parts.piece.tolist(), parts.starts.tolist(), parts.stops.tolist(), strict=True)
    assert list(found) == expected
    assert len(parts) == len(expected)


def test_parts_of_one_kind():
    labels = np.array([0, 0, 0, 1, 0, 0, 0, 0, 1, 0]) == 1
    detections = np.array([1, 0, 1, 1, 1, 0, 0, 1, 0, 0]) == 1
    parts = parts_in(find_events(detections), cut(find_events(labels), 1.0))
    assert parts.of(0, "near miss") == [(2.0, 3.0), (4.0, 5.0)]
    assert parts.of(0, "false alarm") == [(0.0, 1.0)]
    assert parts.of(0, "capture") == [(3.0, 4.0)]
    assert parts.of(1, "near miss") == [(7.0, 8.0)]
    assert parts.of(1, "capture") == []
    for kind in PIECES[:3]:
        assert parts.of_each(kind, 4) == [parts.of(event, kind) for event in range(4)]
    assert PIECES[0] == PIECES[-1] == "false alarm"
