"""One metric by its name, as other libraries call it."""

import math

import pytest

import dqeval
from dqeval.analysis.metric_function import MetricFunction

TWO_EVENTS, SCORES = [0, 1, 0, 0, 1, 0], [0, 9, 0, 0, 5, 1]


def test_a_metric_of_the_panel():
    assert MetricFunction("auc_pr")(TWO_EVENTS, SCORES) == dqeval.metrics.auc_pr(TWO_EVENTS, SCORES)


@pytest.mark.parametrize(("metric", "labels"), [("ucr_score", TWO_EVENTS), ("dqe", [0] * 6)])
def test_undefined_for_a_reason_of_the_metric_or_of_the_labels(metric, labels):
    with pytest.raises(dqeval.UndefinedError, match='pass undefined="nan" to get NaN with a warning instead'):
        MetricFunction(metric)(labels, SCORES)
    with pytest.warns(dqeval.UndefinedWarning, match="NaN is returned"):
        assert math.isnan(MetricFunction(metric, undefined="nan")(labels, SCORES))
