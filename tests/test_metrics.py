"""Every baseline equals its definition in naive.py, its golden values, and the cells of the paper's tables."""

import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

import dqeval
import naive
import strategies as own
from dqeval import metrics
from dqeval.core.prepared import Labelled, Scored
from dqeval.core.registry import METRICS
from dqeval.core.sweep import fixed_point
from dqeval.core.types import Events
from dqeval.experiments.outcome import expected_numbers
from dqeval.metrics import timeaware
from dqeval.metrics.vus import ROOT
from test_reference import GOLDEN, labels_and_detections, paper_cases

PARTS = {
    "point": (metrics.point_parts, naive.point_precision_recall, {}),
    "range": (metrics.range_parts, naive.range_precision_recall, {"alpha": st.floats(0, 1)}),
    "etapr": (
        metrics.etapr_parts,
        naive.etapr_precision_recall,
        {"theta_p": own.cutoffs, "theta_r": own.cutoffs},
    ),
    "tapr": (
        metrics.tapr_parts,
        naive.tapr_precision_recall,
        {"alpha": st.floats(0, 1), "theta": own.cutoffs, "delta": st.integers(0, 12)},
    ),
    "affiliation": (metrics.affiliation_parts, naive.affiliation_precision_recall, {}),
    "pate": (
        metrics.pate_parts,
        naive.pate_precision_recall,
        {"early": st.integers(0, 12), "late": st.integers(0, 12)},
    ),
}


@pytest.mark.parametrize("family", PARTS)
@given(own.labelled(own.detections), st.data())
@pytest.mark.unmeasured
def test_metrics_of_detections(family, case, data):
    parts, definition, options = PARTS[family]
    y_true, y_pred = case
    parameters = {name: data.draw(option) for name, option in options.items()}
    found = parts(y_true, y_pred, **parameters)
    precision, recall = definition(y_true, y_pred, **parameters)
    assert (found.precision, found.recall) == pytest.approx((precision, recall), abs=1e-12)
    assert found.f1 == pytest.approx(naive.harmonic_mean(precision, recall), abs=1e-12)


@given(own.labelled(own.detections), own.cutoffs)
def test_point_adjustment(case, k):
    y_true, y_pred = case
    adjusted = naive.adjusted(y_true, y_pred, k)
    found = metrics.point_adjusted_k_parts(y_true, y_pred, k=k)
    assert (found.precision, found.recall) == pytest.approx(naive.point_precision_recall(y_true, adjusted), abs=1e-12)
    found = metrics.point_adjusted_parts(y_true, y_pred)
    adjusted = naive.adjusted(y_true, y_pred)
    assert (found.precision, found.recall) == pytest.approx(naive.point_precision_recall(y_true, adjusted), abs=1e-12)


def hit(points, length):
    """Return labels with one event, and detections of so many of its points."""
    return [0] + [1] * length + [0], [0] + [1] * points + [0] * (length - points + 1)


@pytest.mark.parametrize("length", [*range(1, 30), 49, 50, 100, 128, 1000])
@pytest.mark.unmeasured
def test_a_share_reaches_the_cutoff_that_it_is(length):
    """Whole numbers of points, compared with a decimal or a fraction that no float may be equal to."""
    for points in {1, 7 * length // 100, length // 10, length // 3, 5 * length // 7, length - 1, length} - {0}:
        case, cutoff = hit(points, length), points / length
        assert metrics.point_adjusted_k_parts(*case, k=cutoff).recall == 1
        assert metrics.etapr_parts(*case, theta_r=cutoff).recall > 0.5
        assert metrics.tapr_parts(*case, alpha=1.0, theta=cutoff).recall == 1
        backwards = case[::-1]
        assert metrics.etapr_parts(*backwards, theta_p=cutoff).precision > 0.5
        assert metrics.tapr_parts(*backwards, alpha=1.0, theta=cutoff).precision == 1
        if points > 1:
            below = hit(points - 1, length)
            assert metrics.point_adjusted_k_parts(*below, k=cutoff).recall == (points - 1) / length
            assert metrics.etapr_parts(*below, theta_r=cutoff).recall == 0
            assert metrics.tapr_parts(*below, alpha=1.0, theta=cutoff).recall == 0


def test_decimals_are_what_people_mean_by_them():
    for points in range(1, 100):
        assert metrics.point_adjusted_k_parts(*hit(points, 100), k=float(f"0.{points:02d}")).recall == 1


def test_a_share_of_ambiguous_points_reaches_the_cutoff_that_it_is():
    """Two points of the event and a whole zone, whose four points count exactly 2, make one half of eight."""
    y_true, y_pred = ([int(c) for c in case] for case in ("00000000111111110000", "01010000100000011111"))
    found = metrics.tapr_parts(y_true, y_pred, alpha=1, theta=0.5, delta=3)
    assert (found.precision, found.recall) == (0.5, 1.0)
    assert metrics.tapr_parts(y_true, y_pred, alpha=1, theta=np.nextafter(0.5, 1), delta=3).recall == 0


@pytest.mark.parametrize("delta", [*range(2, 40), 99, 100, 600])
def test_whole_zones_count_half_their_points(delta):
    """Whatever the order in which the weights, which are no fractions, are added up."""
    length = delta + 1
    y_true = np.repeat([1, 0], [length, length])
    y_pred = np.repeat([0, 1], [length, length])
    found = metrics.tapr_parts(y_true, y_pred, alpha=1.0, theta=0.5, delta=delta)
    assert (found.precision, found.recall) == (1.0, 1.0)
    single = np.eye(2 * length)[length : length + 2]
    alone = [metrics.tapr_parts(y_true, point, alpha=0.0, delta=delta).precision for point in single]
    np.testing.assert_allclose(alone, 1 / (1 + np.exp([-6, -6 + 12 / delta])), rtol=0, atol=1e-15)


@pytest.mark.parametrize("points", [1, 7, 40, 1000, 10**6])
def test_two_points_as_far_from_the_middle_of_a_zone_count_one_together(points):
    for last in range(1, 90):
        counts = timeaware._partial_counts((2 * np.arange(last + 1) - last) / last, points)
        assert set(counts + counts[::-1]) == {round(fixed_point(points))}


def test_points_of_several_zones_make_whole_numbers():
    """A detection over two zones of different lengths: a point at the start of one and one at the end of another."""
    y_true = [1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]
    y_pred = [0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    found = metrics.tapr_parts(y_true, y_pred, alpha=1.0, theta=2 / 3, delta=5)
    assert found.precision == naive.tapr_precision_recall(y_true, y_pred, alpha=1.0, theta=2 / 3, delta=5)[0] == 1.0


def with_normal_point(case):
    return not case[0].all()


@given(own.labelled(own.scores).filter(with_normal_point))
def test_areas_under_curves(case):
    y_true, y_score = case
    assert metrics.auc_roc(y_true, y_score) == pytest.approx(naive.auc_roc(y_true, y_score), abs=1e-12)
    assert metrics.auc_roc(y_true, y_score) == pytest.approx(roc_auc_score(y_true, y_score), abs=1e-12)
    assert metrics.auc_pr(y_true, y_score) == pytest.approx(naive.auc_pr(y_true, y_score), abs=1e-12)
    assert metrics.auc_pr(y_true, y_score) == pytest.approx(average_precision_score(y_true, y_score), abs=1e-12)


@given(own.labelled(own.scores).filter(with_normal_point), st.integers(0, 30), st.sampled_from([2, 3, 10, 100]))
def test_vus(case, window, thresholds):
    y_true, y_score = case
    roc, pr = naive.vus(y_true, y_score, window, thresholds)
    assert metrics.vus_roc(y_true, y_score, window=window, thresholds=thresholds) == pytest.approx(roc, abs=1e-12)
    assert metrics.vus_pr(y_true, y_score, window=window, thresholds=thresholds) == pytest.approx(pr, abs=1e-12)


@given(own.labelled(own.scores, most=5, longest=30).filter(with_normal_point), st.integers(31, 200))
@pytest.mark.unmeasured
def test_vus_of_windows_longer_than_the_series(case, window):
    y_true, y_score = case
    roc, pr = naive.vus(y_true, y_score, window, 7)
    assert metrics.vus_roc(y_true, y_score, window=window, thresholds=7) == pytest.approx(roc, abs=1e-12)
    assert metrics.vus_pr(y_true, y_score, window=window, thresholds=7) == pytest.approx(pr, abs=1e-12)


def test_the_series_for_the_root_is_right_to_the_last_digit():
    share = np.linspace(0, 0.5, 1001)
    np.testing.assert_allclose(np.polyval(ROOT[::-1], share), np.sqrt(1 - share), rtol=0, atol=2e-16)


def test_vus_of_events_that_were_cut_at_a_gap():
    """Where nothing was observed between two events, no point lies between their buffers, which still overlap."""
    y_true, y_score = np.array([0, 0, 1, 1, 1, 0, 0, 0, 0, 1, 0]), np.array([2, 7, 9, 3, 8, 6, 1, 4, 0, 5, 10.0])
    split = Events(np.array([2, 3, 9]), np.array([3, 5, 10]), len(y_true))
    labelled = Labelled(y_true.astype(bool))
    vars(labelled)["events"] = split
    for window in range(12):
        expected = vus_of_events(split, y_score, window)
        assert METRICS["vus_roc"].compute(Scored(labelled, y_score), window, 5) == pytest.approx(expected, abs=1e-12)


def vus_of_events(events, scores, largest):
    """Return VUS-ROC of given events, point by point, at 5 thresholds."""
    n, areas = len(scores), []
    for window in range(largest + 1):
        half, soft, zones = window // 2, [0.0] * n, []
        for start, stop in events:
            for t in range(max(start - half, 0), min(stop + half, n)):
                away = start - t if t < start else max(t - stop + 1, 0)
                soft[t] = min(1.0, soft[t] + math.sqrt(1 - away / window)) if away else 1.0
            zone = range(start - half, stop + half)
            if zones and zones[-1].stop > zone.start:
                zones[-1] = range(zones[-1].start, zone.stop)
            else:
                zones.append(zone)
        inside = [any(start <= t < stop for start, stop in events) for t in range(n)]
        curve, ordered = [(0.0, 0.0)], sorted(scores, reverse=True)
        for k in range(5):
            found = [score >= ordered[k * (n - 1) // 4] for score in scores]
            hits = sum(x for x, y, f in zip(soft, inside, found, strict=True) if y and f)
            extension = sum(x for x, y, f in zip(soft, inside, found, strict=True) if f and not y)
            reached = sum(any(found[max(z.start, 0) : z.stop]) for z in zones) / len(zones)
            positives = sum(inside) + extension / 2
            tpr = min((hits + extension) / positives, 1) * reached
            curve.append(((sum(found) - hits - extension) / (n - positives), tpr))
        curve.append((1.0, 1.0))
        areas.append(sum((x1 - x0) * (y0 + y1) / 2 for (x0, y0), (x1, y1) in pairwise(curve)))
    return sum(areas) / len(areas)


@given(own.labelled(own.scores), st.integers(0, 12), st.integers(0, 12), st.sampled_from([2, 3, 10, 100]))
def test_pate(case, early, late, thresholds):
    y_true, y_score = case
    raw = (y_score * 9.7 - 0.3).tolist()
    expected = naive.pate(y_true, raw, early, late, thresholds)
    assert metrics.pate(y_true, raw, early=early, late=late, thresholds=thresholds) == pytest.approx(
        expected, abs=1e-12
    )


def test_thresholds_lie_between_the_scores_as_they_are():
    """As in the published code: scores scaled to [0, 1] would be rounded to the other side of some thresholds."""
    y_true = [0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0]
    scores = [0.8, 10.7, 7.8, 8.9, 4.0, 2.5, 4.3, 2.5, 5.3, 6.0, 7.7, 6.4, 1.6, 3.5, 10.7, 6.5]
    best = naive.best_of_sweep(naive.range_f1, y_true, scores)
    assert dqeval.best_threshold("range_f1", y_true, scores).value == pytest.approx(best, abs=1e-12)
    y_true = [0, 1, 1, 1, 0, 1, 1, 1, 1, 0, 1, 0, 0, 0, 0, 1, 1, 1, 0, 1]
    scores = [2.41, 2.39, 2.22, 2.82, 2.24, 2.53, 2.25, 2.32, 2.86, 2.06, 2.51, 2.3, 2.55, 2.63, 2.2, 2.55, 2.55, 2.33]
    scores += [2.0, 2.49]
    area = naive.pate(y_true, scores, 2, 2, 34)
    assert metrics.pate(y_true, scores, early=2, late=2, thresholds=34) == pytest.approx(area, abs=1e-12)


labels_of_twelve = own.labels(most=6, longest=2).map(lambda y_true: np.resize(y_true, 12))


@given(labels_of_twelve, st.permutations(range(12)), st.integers(2, 12))
def test_pate_of_distinct_scores(y_true, ranks, thresholds):
    """Percentiles that should hit a score miss it by the last digit exactly where the published arithmetic does."""
    scores = [rank / 11 for rank in ranks]
    expected = naive.pate(y_true, scores, 2, 2, thresholds)
    found = metrics.pate(y_true, scores, early=2, late=2, thresholds=thresholds)
    assert found == pytest.approx(expected, abs=1e-12)


def test_pate_of_scores_whose_difference_is_infinite():
    y_true, scores = [0, 1, 1, 0, 0], [-1.5e308, 1.5e308, 1e308, 0.0, -1e308]
    halves = (np.array(scores) / 2).tolist()
    expected = naive.pate(y_true, halves, 2, 2, 20)
    assert metrics.pate(y_true, scores, early=2, late=2, thresholds=20) == pytest.approx(expected, abs=1e-12)
    assert dqeval.best_threshold("range_f1", y_true, scores).value == 1


def test_pate_where_a_percentile_misses_a_score():
    y_true, scores = [1, 1, 0, 0, 0, 1, 0, 0, 0], np.array([0, 6, 3, 1, 8, 2, 5, 4, 7]) / 8
    assert metrics.pate(y_true, scores, early=2, late=2, thresholds=10) == pytest.approx(0.29953, abs=5e-6)


SWEPT = {
    "point_adjusted_f1": naive.point_adjusted_f1,
    "point_adjusted_k_f1": naive.point_adjusted_k_f1,
    "range_f1": naive.range_f1,
    "etapr_f1": naive.etapr_f1,
    "tapr_f1": naive.tapr_f1,
    "affiliation_f1": naive.affiliation_f1,
    "pate_f1": naive.pate_f1,
}


@pytest.mark.parametrize("name", SWEPT)
@given(own.labelled(own.scores, most=6))
@pytest.mark.unmeasured
def test_best_of_the_sweep(name, case):
    y_true, y_score = case
    raw = (y_score * 9.7 - 0.3).tolist()
    options = {"early": 3, "late": 2} if name == "pate_f1" else {}
    best = dqeval.best_threshold(name, y_true, raw, **options)
    assert best.value == pytest.approx(naive.best_of_sweep(SWEPT[name], y_true, raw, **options), abs=1e-12)
    detected = [s >= best.threshold for s in raw]
    assert SWEPT[name](y_true, detected, **options) == pytest.approx(best.value, abs=1e-12)


@pytest.mark.parametrize("name", ["point_f1", *(name for name in SWEPT if name != "pate_f1")])
@given(own.labelled(own.scores, most=6))
@pytest.mark.unmeasured
def test_best_of_all_scores(name, case):
    y_true, y_score = case
    definition = SWEPT.get(name, naive.point_f1)
    expected = max(definition(y_true, [s >= v for s in y_score]) for v in set(y_score.tolist()))
    best = dqeval.best_threshold(name, y_true, y_score, thresholds="all")
    assert best.value == pytest.approx(expected, abs=1e-12)
    assert definition(y_true, y_score >= best.threshold) == pytest.approx(best.value, abs=1e-12)


# What the golden file calls the metrics, and what departs from it by decision: see docs/metrics/.
GOLDEN_NAMES = {
    "point_f1": "original_f",
    "auc_roc": "auc_roc",
    "auc_pr": "auc_pr",
    "point_adjusted_f1": "pa_f1",
    "point_adjusted_k_f1": "pa_k",
    "vus_roc": "vus_roc",
    "vus_pr": "vus_pr",
    "pate": "pate",
    "pate_f1": "pate_f1",
    "range_f1": "rf",
    "etapr_f1": "etaf",
    "tapr_f1": "taf",
    "affiliation_f1": "af",
}
DECIDED = {
    ("binary", "dev-23", "point_adjusted_f1"),
    ("binary", "dev-23", "range_f1"),
    ("binary", "dev-25", "range_f1"),
    ("scores", "dev-23", "point_adjusted_f1"),
    ("scores", "dev-23", "point_adjusted_k_f1"),
    ("scores", "dev-23", "range_f1"),
}


def golden_values(use):
    for case in GOLDEN:
        scores = case["score"] if use == "scores" else case["pred"]
        if not any(case["label"]) or None in scores:
            continue
        for name, key in GOLDEN_NAMES.items():
            expected = case[use].get(key)
            if (
                expected is not None
                and (use, case["id"], name) not in DECIDED
                and (use, name) != ("scores", "point_f1")
            ):
                yield pytest.param(case, name, expected, id=f"{case['id']} {name}")


@pytest.mark.parametrize(("case", "name", "expected"), list(golden_values("binary")))
@pytest.mark.unmeasured
def test_golden_detections(case, name, expected):
    if all(case["pred"]):  # a panel would take them for constant scores
        options = dqeval.METRICS[name].parameters(case["W"], binary=True)
        assert getattr(metrics, name)(case["label"], case["pred"], **options) == pytest.approx(expected, abs=1e-9)
        return
    found = dqeval.panel(case["label"], case["pred"], near=case["W"], metrics=[name])
    assert found.binary
    assert not found.failures
    assert found[name] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("case", "name", "expected"), list(golden_values("scores")))
@pytest.mark.unmeasured(but=["dev-19 pate"])
def test_golden_scores(case, name, expected):
    metric, scores, near = dqeval.METRICS[name], case["score"], case["W"] / 2
    if metric.takes == "detections":
        found = dqeval.best_threshold(name, case["label"], scores).value
    else:
        found = metric.function(case["label"], scores, **metric.parameters(near, binary=False))
    assert found == pytest.approx(expected, abs=1e-9)


def test_golden_tapr_with_an_ambiguous_zone():
    cases = [case for case in GOLDEN if any(case["label"])]
    assert len(cases) == 29
    for case in cases:
        found = metrics.tapr_f1(case["label"], case["pred"], alpha=0.8, theta=0.5, delta=5)
        assert found == pytest.approx(case["binary"]["taf_a8_d5"], abs=1e-9)


def test_decision_the_true_best_f1():
    """The references add 1e-5 to a denominator; the golden values are lower by up to 5e-6."""
    for case in GOLDEN:
        expected = case["scores"].get("original_f")
        if any(case["label"]) and expected is not None:
            found = dqeval.best_threshold("point_f1", case["label"], case["score"]).value
            if len(set(case["score"])) > 1:
                assert expected < found <= expected + 5.1e-6


def test_decision_an_event_at_index_0_is_filled():
    assert metrics.point_adjusted_f1([1, 1, 1, 1, 1, 0], [0, 0, 0, 1, 0, 0]) == 1


def test_decision_pa_k_where_detections_cover_the_whole_series():
    assert metrics.point_adjusted_k_f1([0, 1, 1], [1, 1, 1]) == pytest.approx(0.8)
    assert metrics.point_adjusted_k_f1([1, 1, 1], [0, 1, 0]) == 1


def test_decision_rf_where_everything_is_anomalous_or_detected():
    assert metrics.range_f1([1, 1, 1, 1], [1, 1, 0, 0], alpha=0) == pytest.approx(2 / 3)
    assert metrics.range_f1([1, 1, 0, 0], [1, 1, 1, 1]) == pytest.approx(2 / 3)


def test_decision_af_has_no_constant_in_its_denominator():
    assert metrics.affiliation_f1([0, 1, 1, 0], [0, 1, 1, 0]) == 1


def test_decision_no_detection_scores_0():
    for metric in dqeval.METRICS:
        if metric.takes == "detections":
            parameters = metric.parameters(2, binary=True)
            if metric.name == "adtqc":  # of the timing of nothing there is nothing to say
                with pytest.raises(dqeval.UndefinedError, match="no event is detected"):
                    metric.function([0, 1, 1, 0], [0, 0, 0, 0], **parameters)
            else:
                assert metric.function([0, 1, 1, 0], [0, 0, 0, 0], **parameters) == 0


def test_decision_constant_scores():
    found = dqeval.panel([0, 1, 1, 0, 0], [7.0] * 5, near=2)
    assert not found.failures
    assert found["auc_roc"] == 0.5
    assert found["auc_pr"] == 0.4
    assert found["dqe"] == 0
    for name, best in found.best.items():
        if name != "point_f1":
            assert (found[name], best.threshold) == (0, np.inf)


@pytest.mark.parametrize(("case", "row"), list(paper_cases()))
@pytest.mark.unmeasured
def test_every_cell_of_the_papers_tables(case, row):
    y_true, y_pred = labels_and_detections(case, row)
    found = dqeval.panel(y_true, y_pred, near=case["near"])
    cells = {
        metric: cell for (*place, metric), cell in expected_numbers("cases").items() if place == [case["table"], row]
    }
    assert len(cells) == 11
    assert {name: f"{found[name]:.2f}" for name in cells} == cells


def test_the_metrics_page_lists_every_metric_as_the_registry_has_it():
    page = (Path(__file__).parent.parent / "docs" / "metrics" / "index.md").read_text(encoding="utf-8")
    for metric in dqeval.METRICS:
        row = (
            f"| {metric.label} | `{metric.name}` | {metric.takes} | {metric.signature or 'none'} | {metric.citation} |"
        )
        assert row in page


@pytest.mark.parametrize("length", range(1, 12))
@pytest.mark.parametrize("theta_p", [0, 0.5])
def test_etapr_of_a_perfect_detector_is_exactly_1(length, theta_p):
    """The weights of runs are added up in two ways, both rounded alike."""
    labels = np.arange(1024) % 100 < length
    parts = metrics.etapr_parts(labels, labels, theta_p=theta_p)
    assert (parts.precision, parts.recall) == (1, 1)


@pytest.mark.parametrize("shift", [-1, 0, 1, 2])
def test_etapr_of_many_runs_that_appear_at_once(shift):
    """Of more than are fetched ahead in one go, most of which cross the border of an event."""
    labels = np.tile([0, 0, 1, 1, 0, 0, 1], 120)
    found = np.roll(np.tile([0, 0, 1, 1, 0], 168), shift)
    expected = naive.etapr_precision_recall(labels, found)
    parts = metrics.etapr_parts(labels, found)
    assert (parts.precision, parts.recall) == pytest.approx(expected, abs=1e-12)
