"""Metrics of detections for all thresholds at once: what they are one by one, by their definitions."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import dqeval
import naive
import strategies as own
from dqeval import metrics
from dqeval.analysis.best_threshold import best_of
from dqeval.core import sweep as module
from dqeval.core import thresholds
from dqeval.core.matching import Match
from dqeval.core.prepared import Labelled, Scored
from dqeval.core.sweep import fixed_point, levels_above_evenly_spaced, sweep_of
from dqeval.core.timeline import TimeAxis

KINDS = st.sampled_from(["all", 100, 7, 2])
LIMITS = st.none() | st.integers(0, 9)
BUFFERS = {"early": st.integers(0, 5), "late": st.integers(0, 5)}


def of_filled(labels, detections, k=0.0):
    return naive.point_precision_recall(labels, naive.adjusted(labels, detections, k))


# Precision and recall as they are defined, and how parameters are drawn.
DEFINITIONS = {
    "point_f1": (naive.point_precision_recall, {}),
    "point_adjusted_f1": (of_filled, {}),
    "point_adjusted_k_f1": (of_filled, {"k": own.cutoffs}),
    "range_f1": (naive.range_precision_recall, {"alpha": st.floats(0, 1)}),
    "etapr_f1": (naive.etapr_precision_recall, {"theta_p": own.cutoffs, "theta_r": own.cutoffs}),
    "tapr_f1": (
        naive.tapr_precision_recall,
        {"alpha": st.floats(0, 1), "theta": own.cutoffs, "delta": st.integers(0, 9)},
    ),
    "affiliation_f1": (naive.affiliation_precision_recall, {}),
    "pate_f1": (naive.pate_precision_recall, BUFFERS),
    "composite_f1": (naive.composite_precision_recall, {}),
    "event_f1": (lambda *pair, beta: naive.event_precision_recall(*pair), {"beta": st.floats(0.1, 4)}),
    "event_corrected_f05": (lambda *pair, beta: naive.event_corrected(*pair)[:2], {"beta": st.floats(0.1, 4)}),
    "revised_point_adjusted_f1": (naive.revised_precision_recall, {"early": st.integers(0, 5), "delay": LIMITS}),
    "delay_point_adjusted_f1": (naive.delay_precision_recall, {"k": st.integers(0, 5)}),
}
SWEPT = [entry.name for entry in dqeval.METRICS if entry.at_every_level is not None]
# Those for which a point that is neither labelled nor detected, where a break is, changes nothing else.
NO_NEIGHBOURS = ["point_f1", "point_adjusted_f1", "point_adjusted_k_f1", "range_f1", "etapr_f1", "composite_f1"]


def drawn(data, options):
    return {name: data.draw(option) for name, option in options.items()}


def axis_with(gaps, length):
    """Return a clock of as many cells, with something missing before some of them."""
    return TimeAxis(0, 1, length, "number", tuple(gaps), (9,) * len(gaps))


def scored_of(y_true, y_score, gaps=()):
    axis = axis_with(gaps, len(y_true)) if gaps else None
    return Scored(Labelled(np.asarray(y_true, dtype=bool), axis), np.asarray(y_score, dtype=float))


def detections_in(sweep):
    """Return what is detected at each threshold."""
    return [sweep.levels >= level for level in range(sweep.count, 0, -1)]


def test_every_metric_with_thresholds_has_a_definition_here():
    own_search = {"adtqc"}
    names = {entry.name for entry in dqeval.METRICS if entry.takes == "detections" and entry.by_default}
    assert names <= {*DEFINITIONS, *own_search}
    assert set(SWEPT) == {*DEFINITIONS, "nab_score"}


@pytest.mark.parametrize("name", DEFINITIONS)
@given(own.labelled(own.scores, most=6), KINDS, st.data())
@pytest.mark.unmeasured
def test_at_every_level(name, case, kind, data):
    definition, options = DEFINITIONS[name]
    parameters = drawn(data, options)
    sweep = sweep_of(scored_of(*case), kind)
    precision, recall, *_ = dqeval.METRICS[name].at_every_level(sweep, **parameters)
    for k, flags in enumerate(detections_in(sweep)):
        expected = definition(case[0].tolist(), flags.tolist(), **parameters)
        assert (precision[k], recall[k]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", SWEPT)
@given(own.labelled(own.scores, most=6), KINDS, st.data())
@pytest.mark.unmeasured
def test_at_every_level_beside_gaps_of_a_clock(name, case, kind, data):
    """Where something was not observed, events and runs end; the fast way knows of it, too."""
    metric, gaps = dqeval.METRICS[name], data.draw(own.breaks(len(case[0])))
    sweep = sweep_of(scored_of(*case, gaps), kind)
    parameters = {**metric.defaults, **drawn(data, DEFINITIONS.get(name, (None, {}))[1])}
    precision, recall, *value = metric.at_every_level(sweep, **parameters)
    for k, flags in enumerate(detections_in(sweep)):
        parts = metric.compute(Match(sweep.labelled, flags), **parameters)
        if name != "nab_score":
            assert (precision[k], recall[k]) == pytest.approx((parts.precision, parts.recall), abs=1e-12)
        if value:
            assert value[0][k] == pytest.approx(parts.value, abs=1e-10)


@pytest.mark.parametrize("name", [*NO_NEIGHBOURS, "tapr_f1"])
@given(own.labelled(own.scores, most=6), KINDS, st.data())
@pytest.mark.unmeasured
def test_a_break_is_like_a_point_of_which_nothing_is_known(name, case, kind, data):
    definition, options = DEFINITIONS[name]
    parameters = {**drawn(data, options), **({"delta": 0} if name == "tapr_f1" else {})}
    gaps = data.draw(own.breaks(len(case[0])))
    sweep = sweep_of(scored_of(*case, gaps), kind)
    precision, recall, *_ = dqeval.METRICS[name].at_every_level(sweep, **parameters)
    for k, flags in enumerate(detections_in(sweep)):
        expected = definition(*(np.insert(found, gaps, 0).tolist() for found in (case[0], flags)), **parameters)
        assert (precision[k], recall[k]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", SWEPT)
@given(own.labelled(own.scores, most=6), st.sampled_from(["all", 100]), st.data())
def test_the_best_is_that_of_the_search_one_by_one(name, case, kind, data):
    metric = dqeval.METRICS[name]
    parameters = {**metric.defaults, **drawn(data, BUFFERS if name == "pate_f1" else {})}
    scored = scored_of(*case)
    fast, slow = (
        best_of(entry, scored, kind, parameters) for entry in (metric, dataclasses.replace(metric, at_every_level=None))
    )
    assert fast.parts.value == pytest.approx(slow.parts.value, abs=1e-12)
    for best in (fast, slow):
        if best.lowest is not None:
            assert best.below < best.lowest
            assert best.lowest in case[1]
            assert best.below in {-math.inf, *(s for s in case[1] if s < best.lowest)}
            assert not ((case[1] > best.below) & (case[1] < best.lowest)).any()
    if fast.lowest != slow.lowest:  # a tie, but for rounding
        lowest = math.inf if fast.lowest is None else fast.lowest
        parts = metric.compute(Match(scored.labelled, scored.raw >= lowest), **parameters)
        assert parts.value == pytest.approx(slow.parts.value, abs=1e-12)


@pytest.mark.parametrize("name", [name for name in SWEPT if name != "nab_score"])
@pytest.mark.parametrize("kind", ["all", 100])
@pytest.mark.unmeasured
def test_perfect_scores_are_exactly_1_at_the_highest_threshold_that_is(name, kind):
    """Whatever was added and taken away before, nothing is lost by rounding, in a series that is not short."""
    random = np.random.default_rng(0)
    runs = 900 if dqeval.kernels.compiled else 150  # interpreted, it would take long
    y_true = np.repeat(random.random(runs) < 0.3, random.integers(1, 30, runs))
    y_score = np.where(y_true, 2 + random.random(len(y_true)), random.random(len(y_true)))
    parameters = {"early": 3, "late": 2} if name == "pate_f1" else {}
    best = dqeval.best_threshold(name, y_true, y_score, thresholds=kind, **parameters)
    assert (best.value, best.precision, best.recall) == (1, 1, 1)
    function = dqeval.METRICS[name].function
    assert function(y_true, y_score >= best.threshold, **parameters) == 1
    if kind == "all":  # of the others it is not known where they are
        higher = np.sort(y_score[y_score >= best.threshold])[:50]
        assert all(function(y_true, y_score > value, **parameters) < 1 for value in higher)


@pytest.mark.parametrize("name", SWEPT)
@pytest.mark.parametrize("kind", ["all", 100])
def test_constant_scores_and_a_single_point(name, kind):
    parameters = {"early": 1, "late": 1} if name == "pate_f1" else {}
    for y_true in ([0, 1, 1, 0], [1]):
        y_score = [5.0] * len(y_true)
        best = dqeval.best_threshold(name, y_true, y_score, thresholds=kind, **parameters)
        if kind == 100:
            assert (best.value, best.threshold) == (0, math.inf)
        elif name not in ("nab_score", "event_corrected_f05"):  # of which all false points leave nothing
            assert (best.value > 0, best.threshold) == (True, 5)


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30),
    st.integers(2, 120),
)
@example([5e-324, 0.0], 100)
@example([-1.7e308, 1.7e308, 0.0], 100)
@example([1.0, 1.0], 2)
def test_levels_are_those_of_searchsorted(scores, count):
    given = np.array(scores)
    with np.errstate(over="ignore", invalid="ignore"):
        values = np.linspace(given.min(), given.max(), count)
        found = levels_above_evenly_spaced(given, count)
    if np.isfinite(values).all():
        np.testing.assert_array_equal(found, np.searchsorted(values, given, side="left"))


def test_a_chain_of_events_and_detections_that_falls_link_by_link():
    """Each detection covers enough only with both of its events, and each event only with both of its detections."""
    y_true, y_pred = np.zeros((2, 2000), dtype=int)
    for link in range(0, 1990, 10):
        y_true[link : link + 5] = 1
        y_pred[link + 4 : link + 11] = 1
    for length in (120, 1000, 2000):
        for thetas in ((0.28, 0.4), (0.14, 0.2), (0.29, 0.2), (0.0, 0.4)):
            pair = y_true[:length], y_pred[:length]
            found = metrics.etapr_parts(*pair, theta_p=thetas[0], theta_r=thetas[1])
            expected = naive.etapr_precision_recall(*(flags[:length].tolist() for flags in pair), *thetas)
            assert (found.precision, found.recall) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", ["affiliation_f1", "range_f1", "tapr_f1", "pate_f1", "point_adjusted_k_f1"])
@given(own.labelled(own.scores, most=6), KINDS, st.data())
def test_levels_within_events_in_place_of_all_levels_change_no_digit(name, case, kind, data):
    """As they are for many thresholds, which would take long to test by the definitions."""
    metric, gaps = dqeval.METRICS[name], data.draw(own.breaks(len(case[0])))
    parameters = {**metric.defaults, **drawn(data, DEFINITIONS[name][1])}
    expected = metric.at_every_level(sweep_of(scored_of(*case, gaps), kind), **parameters)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module, "MOST_LEVELS", 0)
        found = metric.at_every_level(sweep_of(scored_of(*case, gaps), kind), **parameters)
    for one, other in zip(found, expected, strict=True):
        assert one.tolist() == other.tolist()


def test_affiliation_with_levels_that_are_fetched_ahead():
    y_true, y_score = np.arange(1200) % 100 < 5, np.random.default_rng(0).random(1200)
    sweep = sweep_of(scored_of(y_true, y_score), "all")
    precision, recall = dqeval.METRICS["affiliation_f1"].at_every_level(sweep)
    for k, threshold in list(enumerate(np.sort(y_score)[::-1]))[::100]:
        expected = dqeval.metrics.affiliation_parts(y_true, y_score >= threshold)
        assert (precision[k], recall[k]) == pytest.approx((expected.precision, expected.recall), abs=1e-12)


def test_more_runs_than_there_is_room_for_at_first(monkeypatch):
    random = np.random.default_rng(0)
    y_true, y_score = random.random(300) < 0.5, random.random(300)
    found = dqeval.best_threshold("range_f1", y_true, y_score, thresholds="all")
    monkeypatch.setattr(module, "RUNS_PER_EVENT", 0)
    assert len(sweep_of(scored_of(y_true, y_score), "all").runs.found) > 300 * module.MOST_RUNS + 1
    assert dqeval.best_threshold("range_f1", y_true, y_score, thresholds="all") == found
    monkeypatch.setattr(module, "MOST_RUNS", 1)
    assert dqeval.best_threshold("range_f1", y_true, y_score, thresholds="all") == found


def test_the_best_of_many_thresholds_is_sought_piece_by_piece(monkeypatch):
    random = np.random.default_rng(0)
    y_true, y_score = random.random(300) < 0.1, np.round(random.random(300), 2)
    for name in ("point_f1", "event_f1"):
        expected = dqeval.best_threshold(name, y_true, y_score, thresholds="all")
        for most in (1, 7, 50):
            with monkeypatch.context() as patched:
                patched.setattr(thresholds, "AT_ONCE", most)
                assert dqeval.best_threshold(name, y_true, y_score, thresholds="all") == expected


@given(st.integers(1, 2**40))
def test_as_many_ones_as_asked_for_fit_into_63_bits(terms):
    alike = next((most for most in (31, 1023, 32767) if terms <= most), terms)  # so many terms have the same unit
    assert terms * int(fixed_point(terms)) < 2**62 <= 2 * (alike + 1) * int(fixed_point(terms))
