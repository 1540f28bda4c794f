"""DQE equals its definition in naive.py, whatever the input."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import dqeval
import naive
import strategies as own
from dqeval.core import levels
from dqeval.metrics import dqe
from dqeval.metrics.dqe import dqe_at_every_score

COLUMNS = ("dqe", "capture", "near_miss", "false_alarm")


def local(result):
    return np.array([[getattr(event, column) for column in COLUMNS] for event in result.per_event])


def assert_equal(result, expected):
    np.testing.assert_allclose(local(result), expected, rtol=0, atol=1e-12)
    means = [getattr(result, column) for column in COLUMNS]
    np.testing.assert_allclose(means, expected.mean(axis=0), rtol=0, atol=1e-12)


@given(own.labelled(own.detections), own.exact_near)
def test_detections(case, near):
    y_true, y_pred = case
    result = dqeval.evaluate_detections(y_true, y_pred, near=near)
    assert_equal(result, naive.detections_scores(y_true, y_pred, near))
    assert dqeval.sdqe_score(y_true, y_pred, near=near) == result.dqe


@given(own.labelled(own.scores), own.exact_near, st.sampled_from([1, 2, 3, 7, 10, 100, 5_000]))
def test_sampled_thresholds(case, near, thresholds):
    y_true, y_score = case
    result = dqeval.evaluate(y_true, y_score, near=near, scale=False, thresholds=thresholds)
    assert_equal(result, naive.sampled(y_true, y_score, near, thresholds))
    assert dqeval.dqe_score(y_true, y_score, near=near, scale=False, thresholds=thresholds) == result.dqe


@given(own.labelled(own.scores), own.exact_near)
def test_exact_thresholds(case, near):
    y_true, y_score = case
    result = dqeval.evaluate(y_true, y_score, near=near, scale=False, thresholds="exact")
    assert_equal(result, naive.exact(y_true, y_score, near))
    assert dqeval.dqe_score(y_true, y_score, near=near, scale=False, thresholds="exact") == result.dqe


@pytest.mark.parametrize("near", [0.25, 1, 2.5, 7])
@pytest.mark.parametrize("distinct", [30, 150, 10_000])
def test_long_regions_with_nearly_as_many_scores_as_points(near, distinct):
    """In the upper half of their scores are so many false alarms that the lower half makes no difference.

    Where there are many more thresholds than scores, that must not be taken for granted.
    """
    random = np.random.default_rng(distinct)
    y_true = np.isin(np.arange(150), [20, 71, 72, 73, 74])
    y_score = random.integers(distinct, size=150) / distinct
    assert_equal(
        dqeval.evaluate(y_true, y_score, near=near, scale=False, thresholds="exact"),
        naive.exact(y_true, y_score, near),
    )
    few_high = y_score**3
    sampled = dqeval.evaluate(y_true, few_high, near=near, scale=False, thresholds=200)
    assert_equal(sampled, naive.sampled(y_true, few_high, near, 200))
    assert sampled.curve.dqe.mean() == pytest.approx(sampled.dqe, abs=1e-12)


@pytest.mark.parametrize("events", [[9], [30], [9, 26]], ids=str)
def test_curves_with_more_thresholds_than_scores(events):
    """Just as many points may have false alarms as can be before DQE is 0, most of them on one side."""
    y_true = np.isin(np.arange(40), events)
    for seed in range(160):
        random = np.random.default_rng(seed)
        y_score = random.random(40) ** random.choice([0.1, 0.3, 1])
        for thresholds in (60, 200):
            found = dqeval.evaluate(y_true, y_score, near=2.5, scale=False, thresholds=thresholds)
            assert found.curve.dqe.mean() == pytest.approx(found.dqe, abs=1e-12)


@given(own.labelled(own.detections), own.any_near)
def test_near_that_floats_do_not_hold_exactly(case, near):
    """The square root magnifies rounding near 0, so the square is compared; the parts are compared as they are."""
    y_true, y_pred = case
    found = local(dqeval.evaluate_detections(y_true, y_pred, near=near))
    expected = naive.detections_scores(y_true, y_pred, near)
    found[:, 0] **= 2
    expected[:, 0] **= 2
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("near", [1e-300, 1e-17, 1e-8, 0.1, 1 / 3, 5.7, 1e300])
def test_all_of_a_fractional_near_piece_detected(near):
    """Whole points and fractions are kept apart, so that the near-miss duration is exactly twice the near range."""
    expected = naive.detections_scores([0] * 9 + [1] + [0] * 9, [1] * 19, near)
    assert_equal(dqeval.evaluate_detections([0] * 9 + [1] + [0] * 9, [1] * 19, near=near), expected)


@pytest.mark.parametrize("near", [0.25, 0.75, 0.9, 1.3, 2.25])
def test_points_that_regions_and_near_ranges_cut(near):
    """Which of them are detected decides how long false alarms are, and whether two parts share a bin.

    The sweep passes quickly over levels at which it makes no difference; a curve is computed level by level.
    """
    rng = np.random.default_rng(0)
    for _ in range(100):
        points = int(rng.integers(15, 120))
        y_true, y_score = np.zeros(points, dtype=bool), rng.permutation(points) / points
        y_true[rng.integers(points, size=rng.integers(1, 3))] = True
        result = dqeval.evaluate(y_true, y_score, near=near, scale=False, thresholds="exact")
        for event, curve in zip(result.per_event, result.curve.per_event, strict=True):
            widths = -np.diff(curve.thresholds, append=0.0)
            sums = [np.sum(widths * getattr(curve, column)) for column in COLUMNS]
            np.testing.assert_allclose([getattr(event, column) for column in COLUMNS], sums, rtol=0, atol=1e-12)


def test_more_points_than_kernels_count(monkeypatch):
    monkeypatch.setattr(dqe.kernel, "MOST_POINTS", 3)
    with pytest.raises(ValueError, match="DQE takes at most 3 points: got 4; take a part"):
        dqeval.evaluate([0, 1, 0, 0], [0, 1, 0, 0], near=1)


@given(own.labelled(own.scores), own.exact_near)
def test_scaled_scores(case, near):
    y_true, y_score = case
    result = dqeval.evaluate(y_true, y_score - 0.5, near=near, thresholds="exact")
    assert_equal(result, naive.exact(y_true, naive.scaled(y_score - 0.5), near))


@given(own.labelled(own.scores), own.exact_near)
def test_log_ranks(case, near):
    y_true, y_score = case
    result = dqeval.evaluate(y_true, y_score, near=near, scale="log-rank", thresholds="exact")
    assert_equal(result, naive.exact(y_true, naive.log_ranks(y_score), near))
    assert dqeval.metrics.dqe_log_rank(y_true, y_score, near=near) == result.dqe
    assert dqeval.panel(y_true, y_score, near=near, metrics=["dqe_log_rank"])["dqe_log_rank"] == result.dqe


@given(own.labelled(own.scores), own.exact_near, st.integers(1, 8))
def test_log_ranks_beside_a_gap(case, near, gap):
    """Regions end at a gap, so that some points may lie in none."""
    y_true, y_score = case
    times = np.arange(len(y_true)) + 100 * (np.arange(len(y_true)) >= gap)
    options = {"near": near, "times": times, "resolution": 1}
    expected = dqeval.evaluate(y_true, y_score, scale="log-rank", thresholds="exact", **options).dqe
    found = dqeval.panel(y_true, y_score, metrics=["dqe_log_rank"], **options)["dqe_log_rank"]
    assert found == expected


@given(own.labelled(own.scores), own.exact_near, st.sampled_from([1, 7, 100, "exact"]))
def test_dqe_alone_is_that_of_the_whole_result(case, near, thresholds):
    options = {"near": near, "thresholds": thresholds}
    assert dqeval.dqe_score(*case, **options) == dqeval.evaluate(*case, **options).dqe


@given(
    own.labelled(own.scores),
    own.exact_near,
    st.sampled_from([1, 7, 100, 5_000]),
    st.sampled_from(["min-max", "none"]),
    st.integers(0, 12),
)
def test_dqe_of_a_long_series_is_computed_part_by_part(case, near, thresholds, scale, gap):
    """A part has as many regions as it has room for, or one."""
    y_true, y_score = case
    times = np.arange(len(y_true)) + np.where(np.arange(len(y_true)) < len(y_true) // 2, 0, gap)
    options = {"near": near, "scale": scale, "thresholds": thresholds, "times": times, "resolution": 1}
    expected = dqeval.evaluate(y_true, y_score, **options)
    sweep, parts = dqe.local_scores, []

    def observed(part, **options):
        parts.append(part)
        return sweep(part, **options)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(levels, "POINTS_OF_A_PART", 8)
        patched.setattr(dqe, "local_scores", observed)
        assert dqeval.dqe_score(y_true, y_score, **options) == expected.dqe
    assert all(len(part.of_point) <= 8 or len(part.starts) == 1 for part in parts)
    assert sum(len(part.starts) for part in parts) == len(expected.per_event)


@pytest.mark.parametrize("thresholds", [10, 100, 100_000])
def test_an_event_that_drowns_leaves_nothing_to_the_next(thresholds):
    """Below its highest levels, nothing of the first region is visited any more."""
    y_true, y_score = np.zeros(80), np.zeros(80)
    y_true[[19, 60]] = 1
    y_score[:40] = np.tile([0.9, 0.35, 0.95, 0.25], 10)
    y_score[40:] = np.where(np.arange(40) % 4 == 0, 0.45, 0.0)
    y_score[[19, 60, 62]] = 0.3, 1.0, 0.15
    options = {"near": 4, "scale": "none", "thresholds": thresholds}
    second = dqeval.evaluate(y_true[40:], y_score[40:], **options).dqe
    assert 0.1 < second < 0.9
    both = dqeval.evaluate(y_true, y_score, **options)
    assert both.per_event[1].dqe == second
    assert dqeval.dqe_score(y_true, y_score, **options) == both.dqe


def test_a_long_series_without_an_event(monkeypatch):
    monkeypatch.setattr(levels, "POINTS_OF_A_PART", 8)
    with pytest.warns(dqeval.UndefinedWarning):
        assert np.isnan(dqeval.dqe_score(np.zeros(20), np.arange(20), near=2, undefined="nan"))


@given(own.labelled(own.scores), own.exact_near, st.sampled_from([np.exp, np.cbrt, lambda s: 3 * s - 7, np.arctan]))
def test_log_ranks_know_only_the_order(case, near, increasing):
    y_true, y_score = case
    changed = increasing(y_score)
    assume(len(np.unique(changed)) == len(np.unique(y_score)))  # distinct scores may be rounded to the same
    expected = dqeval.evaluate(y_true, y_score, near=near, scale="log-rank", thresholds="exact")
    assert dqeval.evaluate(y_true, changed, near=near, scale="log-rank", thresholds="exact") == expected


@given(own.labelled(own.detections), own.exact_near)
def test_log_ranks_of_two_scores_are_detections(case, near):
    y_true, y_pred = case
    expected = dqeval.sdqe_score(y_true, y_pred, near=near) if len(set(y_pred.tolist())) > 1 else 0
    assert dqeval.metrics.dqe_log_rank(y_true, 5.0 * y_pred - 2, near=near) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("near", [0.0, 2.0, 7.5])
def test_one_point(near):
    assert dqeval.evaluate_detections([1], [1], near=near).dqe == 1
    assert dqeval.evaluate_detections([1], [0], near=near).dqe == 0
    assert dqeval.dqe_score([1], [0.5], near=near, scale=False) == 0.5


@given(own.labelled(own.scores), own.exact_near, st.sampled_from([1, 5, 100, "exact"]))
def test_curve_adds_up_to_the_scores(case, near, thresholds):
    """The integral under a curve, or the mean of sampled ones, is the score; the series' curve is the events' mean."""
    y_true, y_score = case
    result = dqeval.evaluate(y_true, y_score, near=near, scale=False, thresholds=thresholds)
    for curve, scored in [(result.curve, result), *zip(result.curve.per_event, result.per_event, strict=True)]:
        assert np.all(np.diff(curve.thresholds) < 0)
        widths = -np.diff(curve.thresholds, append=0) if thresholds == "exact" else np.full(thresholds, 1 / thresholds)
        for column in COLUMNS:
            assert np.dot(getattr(curve, column), widths) == pytest.approx(getattr(scored, column), abs=1e-12)


@given(own.labelled(own.scores), own.exact_near)
def test_curve_is_the_score_at_each_threshold(case, near):
    y_true, y_score = case
    curve = dqeval.evaluate(y_true, y_score, near=near, scale=False, thresholds="exact").curve
    for k, threshold in enumerate(curve.thresholds):
        expected = naive.detections_scores(y_true, y_score >= threshold, near).mean(axis=0)
        np.testing.assert_allclose([getattr(curve, column)[k] for column in COLUMNS], expected, rtol=0, atol=1e-12)


@pytest.mark.data
def test_real_detectors(real_scores):
    """The fast code equals the definition on the scores that real detectors gave real series."""
    names = sorted({key.split("/")[0] for key in real_scores.files})
    for name in names[::4]:
        y_true, y_score = real_scores[f"{name}/label"], real_scores[f"{name}/score"].astype(float)
        result = dqeval.evaluate(y_true, y_score, near=62.5, thresholds=10)
        scaled = (y_score - y_score.min()) / (y_score.max() - y_score.min())
        assert_equal(result, naive.sampled(y_true, scaled, 62.5, thresholds=10))


@given(own.labelled(own.scores), own.exact_near)
def test_dqe_at_every_score_is_that_of_the_curve(case, near):
    y_true, y_score = case
    curve = dqeval.evaluate(y_true, y_score, near=near, scale=False, thresholds="exact").curve
    thresholds, dqe = dqe_at_every_score(y_score, dqeval.partition(y_true, near=near))
    assert thresholds.tolist() == curve.thresholds.tolist()
    np.testing.assert_allclose(dqe, curve.dqe, rtol=0, atol=1e-12)


@pytest.mark.unmeasured
def test_many_thresholds_for_few_points():
    """Thresholds that no point of a region needs are left out, and count for those that are kept."""
    random = np.random.default_rng(3)
    y_true, y_score = np.arange(400) % 20 == 7, random.random(400)
    found = dqeval.evaluate(y_true, y_score, near=5, thresholds=100_000)
    exact = dqeval.evaluate(y_true, y_score, near=5, thresholds="exact")
    assert found.dqe == pytest.approx(exact.dqe, abs=1e-4)
    assert len(found.curve.thresholds) == 100_000
    assert found.dqe == pytest.approx(found.curve.dqe.mean(), abs=1e-12)
