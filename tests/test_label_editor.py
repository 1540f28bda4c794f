"""Labels that are corrected in the report: the scores that the page computes, and the mode, in a real browser."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dqeval
import naive
import strategies as own
from dqeval.render.html import source_of

COLUMNS = ("dqe", "capture", "near_miss", "false_alarm")


@pytest.fixture(scope="module")
def blank(chromium):
    """Open an empty page that has the scores, and nothing else."""
    page = chromium.new_page()
    page.add_script_tag(content=source_of("event_scores.js"))
    yield page
    page.close()


def scores_in_page(page, labels, detections, near, breaks=()):
    events = [{"start": int(a), "stop": int(b) + 1} for a, b in naive.split_runs(labels, breaks)]
    return page.evaluate(
        "([events, series, levels]) => eventScores.atLevel(events, series, levels, 1)",
        [events, {"length": len(labels), "near": near, "breaks": list(breaks)}, [int(x) for x in detections]],
    )


def naive_scores(labels, detections, near, breaks):
    """Return what naive.py gives: with breaks, each stretch between two of them is a series of its own."""
    borders = [0, *breaks, len(labels)]
    stretches = [slice(low, high) for low, high in zip(borders, borders[1:], strict=False)]
    rows = [naive.detections_scores(labels[s], detections[s], near) for s in stretches if labels[s].any()]
    return np.concatenate(rows)


@st.composite
def broken_series(draw):
    labels, detections = draw(own.labelled(own.detections))
    return labels, detections, draw(own.breaks(len(labels)))


@given(broken_series(), own.exact_near)
def test_scores_equal_the_definition(blank, case, near):
    labels, detections, breaks = case
    found = scores_in_page(blank, labels, detections, near, breaks)
    expected = naive_scores(labels, detections, near, breaks)
    np.testing.assert_allclose(found["scores"], expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found["means"], expected.mean(axis=0), rtol=0, atol=1e-12)


@given(own.labelled(own.detections), own.any_near)
def test_scores_equal_those_of_python_whatever_the_near_range(blank, case, near):
    labels, detections = case
    found = scores_in_page(blank, labels, detections, near)
    result = dqeval.evaluate_detections(labels, detections, near=near)
    expected = [[getattr(event, column) for column in COLUMNS] for event in result.per_event]
    np.testing.assert_allclose(found["scores"], expected, rtol=0, atol=1e-14)
    regions = dqeval.partition(labels, near=near).regions
    cuts = [[r.left, r.near_start, r.start, r.stop, r.near_stop, r.right] for r in regions]
    assert found["cuts"] == cuts


def test_without_an_event_there_is_no_score(blank):
    assert scores_in_page(blank, np.zeros(4), np.ones(4), 1) == {"cuts": [], "scores": [], "means": None}
