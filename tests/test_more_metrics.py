"""Event-wise metrics, delays, ADTQC, NAB and UCR: equal to their definitions, to packages, and to what was decided."""

import json
import math
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dqeval
import naive
import strategies as own
from dqeval import metrics
from dqeval.metrics.nab import PROFILES

GOLDEN = json.loads((Path(__file__).parent / "reference" / "more_metrics.json").read_text(encoding="utf-8"))["cases"]
every_case = pytest.mark.parametrize("case", GOLDEN, ids=lambda case: case["id"])

# Events [5, 9], [14, 17] and [21, 22], both ends included; alarms [2, 2], [8, 10], [13, 14] and [19, 19].
EXAMPLE = GOLDEN[0]["label"], GOLDEN[0]["pred"]

LIMITS = st.none() | st.integers(0, 9)
# The function with all parts, its definition, the names of its parameters, and how they are drawn.
PARTS = {
    "composite": (metrics.composite_parts, naive.composite_precision_recall, {}),
    "event": (metrics.event_parts, naive.event_precision_recall, {}),
    "event_corrected": (metrics.event_corrected_parts, lambda *pair: naive.event_corrected(*pair)[:2], {}),
    "revised": (
        metrics.revised_point_adjusted_parts,
        naive.revised_precision_recall,
        {"early": st.integers(0, 9), "delay": LIMITS},
    ),
    "delay": (metrics.delay_point_adjusted_parts, naive.delay_precision_recall, {"k": st.integers(0, 9)}),
}
SWEPT = {
    "composite_f1": (naive.composite_f1, {}),
    "event_f1": (naive.event_f, {"beta": st.floats(0.1, 4)}),
    "event_corrected_f05": (naive.event_corrected_f, {"beta": st.floats(0.1, 4)}),
    "revised_point_adjusted_f1": (naive.revised_f1, {"early": st.integers(0, 5), "delay": LIMITS}),
    "delay_point_adjusted_f1": (naive.delay_f1, {"k": st.integers(0, 5)}),
}


def drawn(data, options):
    return {name: data.draw(option) for name, option in options.items()}


def or_none(function, *arguments, **options):
    """Return what a function gives; None where that is undefined."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*windows dropped")
        try:
            return function(*arguments, **options)
        except dqeval.UndefinedError:
            return None


def expected_of(case, use):
    """Return the golden values of a case; without an anomaly, those that are undefined are left out there."""
    return case[use] if any(case["label"]) else defaultdict(lambda: None, case[use])


def assert_value(found, expected, scale=1.0):
    """A value is as expected to 1e-12 of its scale; both may be undefined."""
    if expected is None:
        assert found is None or math.isnan(found)
    else:
        assert found == pytest.approx(expected, rel=0, abs=1e-12 * scale)


@pytest.mark.parametrize("family", PARTS)
@given(own.labelled(own.detections), st.data())
def test_parts_are_those_of_the_definition(family, case, data):
    parts, definition, options = PARTS[family]
    parameters = drawn(data, options)
    found = parts(*case, **parameters)
    precision, recall = definition(*(flags.tolist() for flags in case), **parameters)
    assert (found.precision, found.recall) == pytest.approx((precision, recall), abs=1e-12)
    assert found.f1 == pytest.approx(naive.harmonic_mean(precision, recall), abs=1e-12)


@given(own.labelled(own.detections), st.floats(0.01, 10))
def test_event_wise_f(case, beta):
    y_true, y_pred = (flags.tolist() for flags in case)
    assert metrics.event_f1(*case, beta=beta) == pytest.approx(naive.event_f(y_true, y_pred, beta), abs=1e-12)
    found = metrics.event_corrected_parts(*case, beta=beta)
    assert found.value == pytest.approx(naive.event_corrected_f(y_true, y_pred, beta), abs=1e-12)
    _, _, specificity, alarming = naive.event_corrected(y_true, y_pred)
    assert found.true_negative_rate == pytest.approx(specificity, abs=1e-12)
    assert_value(found.alarming_precision, alarming)


@pytest.mark.parametrize("name", SWEPT)
@given(own.labelled(own.scores, most=6), st.data())
@pytest.mark.unmeasured
def test_best_of_the_sweep(name, case, data):
    definition, options = SWEPT[name]
    parameters = drawn(data, options)
    y_true, scaled = case[0].tolist(), naive.scaled(case[1].tolist())
    best = dqeval.best_threshold(name, y_true, scaled, **parameters)
    assert best.value == pytest.approx(naive.best_of_sweep(definition, y_true, scaled, **parameters), abs=1e-12)
    found = definition(y_true, [s >= best.threshold for s in scaled], **parameters)
    assert found == pytest.approx(best.value, abs=1e-12)


@pytest.mark.parametrize("name", SWEPT)
@given(own.labelled(own.scores, most=6), st.data())
@pytest.mark.unmeasured
def test_best_of_all_scores(name, case, data):
    """The fast way through all scores gives what one after the other gives."""
    definition, options = SWEPT[name]
    parameters = drawn(data, options)
    y_true, y_score = (points.tolist() for points in case)
    expected = max(definition(y_true, [s >= v for s in y_score], **parameters) for v in set(y_score))
    best = dqeval.best_threshold(name, y_true, y_score, thresholds="all", **parameters)
    assert best.value == pytest.approx(expected, abs=1e-12)
    found = definition(y_true, [s >= best.threshold for s in y_score], **parameters)
    assert found == pytest.approx(best.value, abs=1e-12)


@given(own.labelled(own.detections), st.floats(0.1, 5))
def test_adtqc(case, exponent):
    expected = naive.adtqc_per_event(*(flags.tolist() for flags in case), c=exponent)
    detected = [pair for pair in expected if pair is not None]
    found = or_none(metrics.adtqc_parts, *case, exponent=exponent)
    assert (found is None) == (not detected)
    if found is not None:
        for quality, latency, pair in zip(found.qualities, found.latencies, expected, strict=True):
            assert_value(quality, pair and pair[0])
            assert_value(latency, pair and pair[1])
        assert found.value == pytest.approx(sum(q for q, _ in detected) / len(detected), abs=1e-12)
        assert found.after_rate == pytest.approx(sum(x >= 0 for _, x in detected) / len(detected), abs=1e-12)
        assert found.recall == pytest.approx(len(detected) / len(expected), abs=1e-12)
        assert math.isnan(found.precision)


@st.composite
def nab_options(draw, y_true):
    """Draw parameters, and the windows that they mean."""
    n = len(y_true)
    probation = draw(st.sampled_from([0.0, 0.0, 0.1, 0.15, 0.5]))
    kind = draw(st.sampled_from(["labels", "rule", "given"]))
    windows = {"labels": None, "rule": naive.nab_rule_windows(y_true.tolist(), probation)}.get(kind)
    if kind == "given":
        windows = naive.runs(draw(own.labels().map(lambda flags: np.resize(flags, n)).filter(np.any)).tolist())
    options = {"profile": draw(st.sampled_from(list(PROFILES))), "probation": probation}
    return {**options, "windows": windows if kind == "given" else kind}, {**options, "windows": windows}


@given(own.labelled(own.detections), st.data())
def test_nab(case, data):
    options, definition = data.draw(nab_options(case[0]))
    y_true, y_pred = (flags.tolist() for flags in case)
    raw, count = naive.nab_raw(y_true, y_pred, **definition)
    found = or_none(metrics.nab_parts, *case, **options)
    assert (found is None) == (count == 0)
    if found is not None:
        assert (found.raw, len(found.windows)) == (pytest.approx(raw, abs=1e-11), count)
        assert found.value == pytest.approx(naive.nab(y_true, y_pred, **definition), abs=1e-10)
        assert math.isnan(found.precision)
        assert math.isnan(found.recall)


@given(own.labelled(own.scores, most=6), st.data())
def test_nab_of_scores(case, data):
    """Nothing at all is one of the choices, and at a tie the highest threshold is taken."""
    options, definition = data.draw(nab_options(case[0]))
    y_true, y_score = (points.tolist() for points in case)
    if naive.nab_raw(y_true, y_true, **definition)[1] == 0:
        assert or_none(dqeval.best_threshold, "nab_score", *case, **options) is None
        return
    best = or_none(dqeval.best_threshold, "nab_score", *case, **options)
    values = {v: naive.nab(y_true, [s >= v for s in y_score], **definition) for v in (*set(y_score), math.inf)}
    assert best.value == pytest.approx(max(values.values()), abs=1e-10)
    at = naive.nab(y_true, [s >= best.threshold for s in y_score], **definition)
    assert at == pytest.approx(best.value, abs=1e-10)
    assert not any(v > best.threshold and value > best.value + 1e-9 for v, value in values.items())


@given(own.labelled(own.scores, most=2), st.integers(0, 9), LIMITS)
def test_ucr(case, tolerance, margin):
    y_true, y_score = case[0].copy(), case[1]
    first, *others = naive.runs(y_true.tolist())
    for a, b in others:
        y_true[a : b + 1] = 0
    length = first[1] - first[0] + 1
    for rule, less in (("contest", 1), ("closed", 0)):
        reach = max(length, tolerance) - less if margin is None else margin
        hits = naive.ucr_hits(y_true.tolist(), y_score.tolist(), reach)
        options = {"tolerance": tolerance, "rule": rule} if margin is None else {"margin": margin}
        found = metrics.ucr_parts(y_true, y_score, **options)
        assert (found.value, found.margin, len(found.peaks)) == (pytest.approx(sum(hits) / len(hits)), reach, len(hits))
        assert metrics.ucr_score(y_true, y_score, **options, ties="first") == hits[0]


@pytest.mark.parametrize("peaks", [[0], [65_535, 65_536], [3, 69_999], [65_536]])
def test_ucr_finds_the_highest_of_many_scores(peaks):
    """They are looked for block by block."""
    y_score = np.zeros(70_000)
    y_score[peaks] = 2
    y_score[65_530] = 1
    assert metrics.ucr_parts(np.arange(70_000) == 5, y_score).peaks.tolist() == peaks


@every_case
def test_golden_detections(case):
    y_true, y_pred, expected, options = case["label"], case["pred"], expected_of(case, "binary"), case["parameters"]
    families = {
        "composite": metrics.composite_parts,
        "event": metrics.event_parts,
        "rpa": metrics.revised_point_adjusted_parts,
    }
    for family, parts in families.items():
        found = or_none(parts, y_true, y_pred)
        for part in ("precision", "recall", "f1"):
            assert_value(found and getattr(found, part), expected[f"{family}_{part}"])
    assert_value(or_none(metrics.event_f1, y_true, y_pred, beta=0.5), expected["event_f05"])
    found = or_none(metrics.event_corrected_parts, y_true, y_pred)
    assert_value(found and found.precision, expected["event_precision_corrected"])
    assert_value(found and found.f1, expected["event_f1_corrected"])
    assert_value(found and found.value, expected["event_f05_corrected"])
    assert_value(found and found.alarming_precision, expected["alarming_precision"])
    zone = {"early": options["early"]}
    revised = metrics.revised_point_adjusted_f1
    assert_value(or_none(revised, y_true, y_pred, **zone), expected["rpa_f1_early"])
    zone["delay"] = options["delay"]
    assert_value(or_none(revised, y_true, y_pred, **zone), expected["rpa_f1_early_delay"])
    for k in {0, options["k"], 7}:
        assert_value(or_none(metrics.delay_point_adjusted_f1, y_true, y_pred, k=k), expected[f"kdelay_f1_{k}"])


@every_case
def test_golden_timing(case):
    y_true, y_pred, expected, options = case["label"], case["pred"], expected_of(case, "binary"), case["parameters"]
    found = or_none(metrics.adtqc_parts, y_true, y_pred)
    assert_value(found and found.value, expected["adtqc"])
    assert_value(found and found.after_rate, expected["adtqc_after_rate"])
    if found is not None:
        for quality, one in zip(found.qualities.tolist(), expected["adtqc_per_event"], strict=True):
            assert_value(quality, one)
    options = {"windows": options.get("windows", "labels"), "probation": options["probation"]}
    for profile in PROFILES:
        value = or_none(metrics.nab_score, y_true, y_pred, profile=profile, **options)
        assert_value(value, expected[f"nab_{profile}"], scale=100)


@every_case
def test_golden_operators(case):
    y_true, y_pred, expected = case["label"], case["pred"], expected_of(case, "binary")
    for suffix, early in (("", 0), ("_early", case["parameters"]["early"])):
        share = or_none(metrics.events_detected, y_true, y_pred, early=early)
        assert_value(share, expected[f"events_detected{suffix}"])
        mean = or_none(metrics.mean_delay, y_true, y_pred, early=early)
        assert_value(mean, expected[f"mean_delay{suffix}"])
        assert metrics.false_alarms(y_true, y_pred, early=early) == expected[f"false_alarms{suffix}"]
    assert_value(metrics.false_alarm_rate(y_true, y_pred), expected["false_alarm_rate"])
    assert_value(metrics.time_in_alarm(y_true, y_pred), expected["time_in_alarm"])
    assert_value(or_none(metrics.false_time_in_alarm, y_true, y_pred), expected["false_time_in_alarm"])


GOLDEN_SWEEPS = {
    "composite_f1": ("composite_f1", {}),
    "event_f1": ("event_f1", {}),
    "event_f05": ("event_f1", {"beta": 0.5}),
    "event_f1_corrected": ("event_corrected_f05", {"beta": 1}),
    "event_f05_corrected": ("event_corrected_f05", {}),
    "rpa_f1": ("revised_point_adjusted_f1", {}),
}


@every_case
@pytest.mark.parametrize("thresholds", [100, "all"])
@pytest.mark.unmeasured
def test_golden_scores(case, thresholds):
    delays = {f"kdelay_f1_{k}": ("delay_point_adjusted_f1", {"k": k}) for k in (0, case["parameters"]["k"], 7)}
    for key, (name, parameters) in (GOLDEN_SWEEPS | delays).items():
        best = or_none(dqeval.best_threshold, name, case["label"], case["score"], thresholds=thresholds, **parameters)
        assert_value(best and best.value, expected_of(case, "scores")[f"{key}_{thresholds}"])


@every_case
@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.unmeasured
def test_golden_nab_of_scores(case, profile):
    y_true, y_score, expected, options = (
        case["label"],
        np.array(case["score"]),
        expected_of(case, "scores"),
        case["parameters"],
    )
    options = {"windows": options.get("windows", "labels"), "probation": options["probation"]}
    best = or_none(dqeval.best_threshold, "nab_score", y_true, y_score, profile=profile, **options)
    assert_value(best and best.value, expected[f"nab_{profile}"], scale=100)
    if best is not None:
        threshold = expected[f"nab_threshold_{profile}"]
        first = math.ceil(naive.nab_probation(len(y_true), options["probation"]))
        scored = y_score[first:]
        assert ((scored >= best.threshold) == (scored >= (np.inf if threshold is None else threshold))).all()
    by_rule = {"windows": "rule", "probation": 0.15, "profile": profile}
    best = or_none(dqeval.best_threshold, "nab_score", y_true, y_score, **by_rule)
    assert_value(best and best.value, expected[f"nab_rule_{profile}"], scale=100)
    parts = or_none(metrics.nab_parts, y_true, case["pred"], **by_rule)
    assert [list(window) for window in (parts.windows if parts else ())] == (expected["nab_rule_windows"] or [])


@every_case
def test_golden_ucr(case):
    y_true, y_score, expected = case["label"], case["score"], case["scores"]
    closed = {"tolerance": case["parameters"]["tolerance"], "rule": "closed"}
    variants = {
        "contest_100": {},
        "closed_tol": closed,
        "closed_tol_first": {**closed, "ties": "first"},
        "closed_100_first": {"rule": "closed", "ties": "first"},
        "inside": {"margin": 0},
    }
    for key, options in variants.items():
        assert_value(or_none(metrics.ucr_score, y_true, y_score, **options), expected[f"ucr_{key}"])


def test_no_golden_case_is_left_out():
    assert len(GOLDEN) == 24
    defined = [case["id"] for case in GOLDEN if case["binary"]["composite_f1"] is not None]
    assert len(defined) == 23
    assert sum(case["scores"]["ucr_contest_100"] is not None for case in GOLDEN) == 7


def test_where_packages_differ_the_decisions_stand():
    """The golden file names what packages give there; our numbers are others."""
    differing = {(case["id"], key) for case in GOLDEN for key in case["reference_differs"]}
    assert ("dev2-04", "composite_f1") in differing
    assert metrics.composite_f1(GOLDEN[4]["label"], GOLDEN[4]["pred"]) == pytest.approx(0.8)
    assert len([key for _, key in differing if key.startswith("rpa")]) >= 10


def test_the_common_example_by_hand():
    assert metrics.composite_f1(*EXAMPLE) == pytest.approx(12 / 23)
    assert metrics.event_f1(*EXAMPLE) == pytest.approx(4 / 7)
    assert metrics.event_corrected_f05(*EXAMPLE) == pytest.approx(18 / 47)
    assert metrics.event_corrected_parts(*EXAMPLE).f_beta(1) == pytest.approx(36 / 79)
    assert metrics.adtqc(*EXAMPLE) == pytest.approx((1 / (1 + 3**math.e) + (2 / 3) ** math.e) / 2)
    assert metrics.nab_score(*EXAMPLE) == pytest.approx(56.499522, abs=1e-6)
    assert metrics.revised_point_adjusted_f1(*EXAMPLE, early=2) == pytest.approx(3 / 4)
    assert metrics.delay_point_adjusted_f1(*EXAMPLE, k=2) == pytest.approx(8 / 19)
    assert metrics.mean_delay(*EXAMPLE, missed="length") == pytest.approx((3 + 0 + 2) / 3)
    assert metrics.median_delay(*EXAMPLE) == 1.5
    assert metrics.median_delay(*EXAMPLE, missed="length") == 2
    assert metrics.events_detected(*EXAMPLE, max_delay=2) == pytest.approx(1 / 3)
    assert metrics.false_alarm_rate(*EXAMPLE, unit=12) == pytest.approx(1)


def test_a_detector_of_everything():
    y_true, everything = [0, 1, 1, 0, 0, 1, 0], [1] * 7
    assert metrics.event_f1(y_true, everything) == 1
    assert metrics.event_corrected_f05(y_true, everything) == 0
    assert metrics.adtqc(y_true, everything) == 0


def test_one_point():
    names = [*SWEPT, "adtqc", "nab_score", "ucr_score"]
    perfect = {name: getattr(metrics, name)([1], [1]) for name in SWEPT}
    assert perfect == {name: dqeval.METRICS[name].perfect for name in SWEPT}
    constant = dqeval.panel([1], [7.0], near=1, metrics=names)
    assert [constant[name] for name in SWEPT] == [0] * len(SWEPT)
    assert (constant["nab_score"], constant["ucr_score"]) == (100, 1)
    assert [dqeval.best_threshold(name, [1], [7.0], thresholds="all").value for name in SWEPT] == [1] * len(SWEPT)


def test_what_is_undefined_is_no_number():
    y_true = [0, 1, 1, 0]
    with pytest.raises(dqeval.UndefinedError, match="no event is detected, and there is nothing to time"):
        metrics.adtqc(y_true, [1, 0, 0, 1])
    with pytest.warns(dqeval.UndefinedWarning, match="no event is detected") as caught:
        assert math.isnan(metrics.adtqc(y_true, [1, 0, 0, 1], undefined="nan"))
    assert caught[0].filename == __file__
    with pytest.raises(dqeval.UndefinedError, match="no event is detected in time, and missed ones are left out"):
        metrics.mean_delay(y_true, [0, 0, 1, 0], max_delay=0)
    with pytest.warns(dqeval.UndefinedWarning):
        assert math.isnan(metrics.median_delay(y_true, [0, 0, 0, 0], undefined="nan"))
    assert metrics.mean_delay(y_true, [0, 0, 0, 0], missed="length") == 2
    with pytest.raises(dqeval.UndefinedError, match="y_true has 2 events, and this metric is for series with exactly"):
        metrics.ucr_score([0, 1, 0, 1], [0, 1, 2, 3])
    with pytest.warns(dqeval.UndefinedWarning, match="2 events"):
        assert math.isnan(metrics.ucr_score([0, 1, 0, 1], [0, 1, 2, 3], undefined="nan"))
    with pytest.raises(dqeval.UndefinedError, match="no window is left after the probation, which ends at point 3"):
        metrics.nab_score(y_true, [0, 1, 0, 0], probation=0.75)
    with pytest.warns(dqeval.UndefinedWarning, match="after the probation"):
        assert math.isnan(metrics.nab_score(y_true, [0, 1, 0, 0], probation=0.75, undefined="nan"))
    with pytest.warns(dqeval.UndefinedWarning, match="after the probation"):
        best = dqeval.best_threshold("nab_score", y_true, [0, 1, 2, 3], probation=0.75, undefined="nan")
    assert math.isnan(best.value)
    assert math.isnan(metrics.event_corrected_parts(y_true, [0, 0, 0, 0]).alarming_precision)


@pytest.mark.parametrize("name", ["events_detected", "mean_delay", "median_delay"])
def test_operators_numbers_without_an_anomaly(name):
    function = getattr(metrics, name)
    with pytest.raises(dqeval.UndefinedError, match="y_true has no anomaly"):
        function([0, 0], [0, 1])
    with pytest.warns(dqeval.UndefinedWarning, match="NaN is returned"):
        assert math.isnan(function([0, 0], [0, 1], undefined="nan"))


def test_what_stays_defined_without_an_anomaly():
    pair = [0, 0, 0, 0], [1, 0, 1, 0]
    assert (metrics.false_alarms(*pair), metrics.false_alarm_rate(*pair)) == (2, 0.5)
    assert (metrics.time_in_alarm(*pair), metrics.false_time_in_alarm(*pair)) == (0.5, 0.5)
    with pytest.raises(dqeval.UndefinedError, match="y_true has no normal point"):
        metrics.false_time_in_alarm([1, 1], [0, 1])
    with pytest.warns(dqeval.UndefinedWarning, match="no normal point"):
        assert math.isnan(metrics.false_time_in_alarm([1, 1], [0, 1], undefined="nan"))


def test_timing_of_scores_is_taken_where_event_f_is_best():
    """Never at the threshold that is best for itself: that would be where one event is detected well."""
    y_true = [0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 1, 1, 1, 0]
    y_score = [0, 0, 9, 5, 5, 5, 0, 0, 0, 0, 5, 5, 5, 0]
    best = dqeval.best_threshold("event_corrected_f05", y_true, y_score)
    found = dqeval.best_threshold("adtqc", y_true, y_score)
    assert (best.threshold, found.threshold) == (5, 5)
    at_best = metrics.adtqc_parts(y_true, np.array(y_score) >= best.threshold)
    assert (found.value, found.recall) == (at_best.value, 1)
    assert found.value < metrics.adtqc(y_true, np.array(y_score) >= 9) == 1
    for names in (["adtqc"], ["adtqc", "event_corrected_f05"], "all"):
        panel = dqeval.panel(y_true, y_score, near=1, metrics=names)
        assert (panel["adtqc"], panel.threshold("adtqc")) == (found.value, 5)
    assert dqeval.best_threshold("adtqc", y_true, y_score, thresholds="all", exponent=1).threshold == 5


def test_timing_where_nothing_is_worth_detecting():
    panel = dqeval.panel([0, 1, 1, 0], [7.0] * 4, near=1, metrics=["adtqc", "nab_score"])
    assert math.isnan(panel["adtqc"])
    reason = "undefined, because no threshold is better for event_corrected_f05 than to detect nothing"
    assert panel.failures == {"adtqc": reason}
    assert (dqeval.panel([0, 1], [0, 0], near=1, metrics=["adtqc"]).failures) == {
        "adtqc": "undefined, because no event is detected, and there is nothing to time"
    }


def test_timing_where_nothing_is_detected():
    with pytest.warns(dqeval.UndefinedWarning, match="no event is detected"):
        nothing = metrics.adtqc_parts([0, 1, 1, 0, 1], [1, 0, 0, 0, 0], undefined="nan")
    assert np.isnan([nothing.value, nothing.after_rate]).all()
    assert nothing.recall == 0
    assert len(nothing.qualities) == len(nothing.latencies) == 2
    with pytest.warns(dqeval.UndefinedWarning, match="no anomaly"):
        assert math.isnan(metrics.adtqc_parts([0, 0], [1, 0], undefined="nan").recall)


def test_where_nothing_is_best_a_metric_without_precision_still_has_none():
    y_true, y_score = [0, 0, 0, 0, 1], [9, 8, 7, 6, 1]
    for thresholds in ("all", 100):
        best = dqeval.best_threshold("nab_score", y_true, y_score, thresholds=thresholds, profile="reward_low_FP")
        assert (best.value > 0) == (best.threshold < math.inf)
        assert np.isnan([best.precision, best.recall]).all()
        plain = dqeval.best_threshold("composite_f1", y_true, [1, 1, 1, 1, 0], thresholds=100)
        assert (plain.value, plain.precision, plain.recall) == (0, 0, 0)
    worst = dqeval.best_threshold("nab_score", [1] + [0] * 40, [0] + [1] * 40)
    assert (worst.value, worst.threshold) == (0, math.inf)
    assert np.isnan([worst.precision, worst.recall]).all()
    worst = dqeval.best_threshold("nab_score", [1] + [0] * 40, np.arange(41), thresholds=5)
    assert (worst.value, worst.threshold) == (0, math.inf)
    assert np.isnan([worst.precision, worst.recall]).all()


def test_ucr_without_tolerance():
    """The margin is then the length of the event, less one by the rule of the contest."""
    y_true = [0, 0, 0, 1, 1, 0, 0]
    parts = [metrics.ucr_parts(y_true, [0, 1, 0, 0, 0, 0, 0], tolerance=0, rule=rule) for rule in ("contest", "closed")]
    assert [(found.margin, found.value) for found in parts] == [(1, 0), (2, 1)]
    with pytest.warns(dqeval.UndefinedWarning):
        assert metrics.ucr_parts([0, 0], [0, 1], margin=3, undefined="nan").margin is None


def test_parts_are_short_when_printed():
    y_true, y_pred = [0, 0, 1, 1, 1, 0, 1], [0, 1, 1, 0, 0, 0, 0]
    assert str(metrics.nab_parts(y_true, y_pred)) == "47.250 of 100 (raw score -0.110, 2 windows, profile standard)"
    assert str(metrics.adtqc_parts(y_true, y_pred)) == "0.152 (1 of 2 events detected, 1 of them early)"
    assert str(metrics.event_parts(y_true, y_pred)) == "0.667 (precision 1.000, recall 0.500)"
    one = [0, 0, 1, 1, 0, 0]
    assert str(metrics.ucr_parts(one, [0, 0, 0, 0, 1, 0], tolerance=0)) == (
        "1.000 (highest score at 4; up to 1 point from the event is a hit)"
    )
    assert "0.500 (highest score at 2 points; up to 0 points" in str(
        metrics.ucr_parts(one, [2, 0, 2, 0, 0, 0], margin=0)
    )
    with pytest.warns(dqeval.UndefinedWarning):
        assert str(metrics.ucr_parts([0, 0], [0, 1], undefined="nan")) == "nan"


def test_ucr_in_a_panel():
    panel = dqeval.panel([0, 1, 0, 1], [0, 1, 2, 3], near=1, metrics=["ucr_score"])
    assert math.isnan(panel["ucr_score"])
    assert "exactly one" in panel.failures["ucr_score"]
    assert dqeval.panel([0, 1, 0, 0], [0, 1, 2, 3], near=1, metrics=["ucr_score"])["ucr_score"] == 1


def test_nab_of_several_series_is_pooled():
    """Raw scores and windows are summed up before they are normalised, as NAB does."""
    one = metrics.nab_parts([0, 1, 1, 0], [0, 1, 0, 0])
    other = metrics.nab_parts([0, 1, 1, 0, 0, 1], [0, 0, 0, 0, 0, 0])
    assert one + other == sum([one, other])
    assert sum([one, other]).value == pytest.approx(100 * (1 - 2 + 3) / (2 * 3))
    with pytest.raises(ValueError, match="scores of different profiles cannot be pooled: standard and reward_low_FN"):
        one + metrics.nab_parts([0, 1], [0, 1], profile="reward_low_FN")
    with pytest.raises(TypeError):
        one + 3
    with pytest.raises(TypeError):
        3 + one


@given(own.labelled(own.detections), st.integers(1, 30).flatmap(own.detections), st.sampled_from(list(PROFILES)))
def test_false_alarms_of_a_series_without_windows_count_in_the_pool(case, detections, profile):
    with pytest.warns(dqeval.UndefinedWarning):
        quiet = metrics.nab_parts(np.zeros(len(detections)), detections, profile=profile, undefined="nan")
    assert math.isnan(quiet.value)
    raw, count = naive.nab_raw([0] * len(detections), detections.tolist(), profile)
    assert (quiet.raw, quiet.windows) == (pytest.approx(raw), ())
    assert count == 0
    pooled = quiet + metrics.nab_parts(*case, profile=profile)
    other, count = naive.nab_raw(*(flags.tolist() for flags in case), profile)
    gain, loss, _ = (getattr(PROFILES[profile], name) for name in ("hit", "miss", "false_alarm"))
    assert pooled.value == pytest.approx(100 * (raw + other + loss * count) / ((gain + loss) * count), abs=1e-9)


@pytest.mark.parametrize("windows", ["labels", "rule", [(1, 1)]])
def test_false_alarms_where_the_probation_leaves_no_window(windows):
    y_true, y_pred = [0, 1, 0, 0], [1, 1, 0, 1]
    with pytest.warns(dqeval.UndefinedWarning, match="no window is left"):
        found = metrics.nab_parts(y_true, y_pred, probation=0.5, windows=windows, undefined="nan")
    assert (found.raw, found.windows) == (-0.11, ())  # of the one that is scored
    with pytest.warns(dqeval.UndefinedWarning, match="no anomaly"):
        assert metrics.nab_parts([0] * 4, y_pred, windows=windows, undefined="nan").raw == pytest.approx(-0.33)


def test_nab_says_what_the_probation_drops():
    y_true, y_pred = [0, 1, 0, 0, 0, 0, 0, 1, 0, 0], [0, 1, 0, 0, 0, 0, 0, 1, 0, 0]
    with pytest.warns(
        UserWarning, match="1 of 2 windows dropped for ending before point 3, in the probation"
    ) as caught:
        found = metrics.nab_parts(y_true, y_pred, probation=0.3)
    assert caught[0].filename == __file__
    assert (found.windows, found.value) == (((7, 7),), 100)
    with pytest.warns(UserWarning, match="windows dropped") as caught:
        dqeval.best_threshold("nab_score", y_true, np.array(y_pred) * 0.5, probation=0.3)
    assert len(caught) == 1


def test_nab_windows_that_straddle_the_end_of_the_probation():
    """As NAB's sweeper has it: their points behind it are scored, with the width of the whole window."""
    y_true, y_pred = np.zeros(100, int), np.isin(np.arange(100), (16, 50))
    y_true[[10, 50]] = 1
    options = {"windows": [(10, 20), (50, 60)], "probation": 0.15}
    found = metrics.nab_parts(y_true, y_pred, **options)
    assert found.windows == ((10, 20), (50, 60))
    worth = 1 + naive.nab_curve(-5 / 11) / naive.nab_curve(-1)
    assert found.value == pytest.approx(100 * (worth + 2) / 4) == pytest.approx(95.605, abs=5e-4)
    with pytest.warns(UserWarning, match="1 of 2 windows dropped for starting before point 15"):
        assert metrics.nab_parts(y_true, y_pred, windows="rule", probation=0.15).windows == ((48, 52),)


def test_nab_probation_ends_after_750_points():
    y_true = np.zeros(10_000, int)
    y_true[751] = 1
    assert metrics.nab_score(y_true, y_true, probation=0.15) == 100


WRONG_WINDOWS = [
    ([(3, 2)], r"windows must ascend and not overlap, .*: see \(3, 2\)$"),
    ([(1, 3), (3, 5)], r"see \(1, 3\) and the one from 3 on"),
    ([(4, 5), (1, 2)], r"see \(4, 5\) and the one from 1 on"),
    ([], 'windows must be "labels", "rule" or pairs of first and last point: got none'),
    ([(1, 2.5)], "the ends of windows must be a whole number of at least 0: got 2.5"),
    ([(1, 2), (30, 40)], "windows must lie in the series of 8 points: the last ends at 40"),
    ([(1, 10**30)], "windows must lie in the series of 8 points: the last ends at 10"),
]


@pytest.mark.parametrize(("windows", "message"), WRONG_WINDOWS)
def test_wrong_windows(windows, message):
    with pytest.raises(ValueError, match=message):
        metrics.nab_score([0, 1, 1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 0, 0, 0, 1], windows=windows)
