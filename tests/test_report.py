"""What people see of results."""

import pytest

import dqeval
from dqeval.render.event_outcomes import EVENT_OUTCOMES, outcome_shares
from dqeval.render.tables import Table


@pytest.mark.parametrize(
    ("y_pred", "outcome"),
    [
        ([0, 0, 0, 0, 1, 0, 0, 0, 0], "captured, no false alarm"),
        ([1, 0, 0, 0, 1, 0, 0, 0, 0], "captured amid false alarms"),
        ([0, 0, 0, 1, 0, 0, 0, 0, 0], "near miss only"),
        ([1, 0, 0, 1, 0, 0, 0, 0, 0], "near miss only"),
        ([1, 0, 0, 0, 0, 0, 0, 0, 0], "missed"),
        ([0, 0, 0, 0, 0, 0, 0, 0, 0], "missed"),
    ],
)
def test_outcomes(y_pred, outcome):
    shares = outcome_shares(dqeval.evaluate_detections([0, 0, 0, 0, 1, 0, 0, 0, 0], y_pred, near=2))
    assert shares == {name: float(name == outcome) for name in EVENT_OUTCOMES}


def test_outcomes_over_thresholds_and_events():
    result = dqeval.evaluate([0, 1, 0, 0, 0, 1], [0, 1, 0, 0, 0, 0.5], near=1)
    assert outcome_shares(result) == pytest.approx(dict(zip(EVENT_OUTCOMES, (0.75, 0, 0, 0.25), strict=True)))


def test_outcomes_need_sampled_thresholds():
    with pytest.raises(ValueError, match="need a result with events and sampled thresholds"):
        outcome_shares(dqeval.evaluate([0, 1], [0, 1], near=1, thresholds="exact"))


def test_html_is_escaped():
    html = Table(("<b>",), [("a & b",)], note="<i>").html()
    assert "&lt;b&gt;" in html
    assert "a &amp; b" in html
    assert "&lt;i&gt;" in html
