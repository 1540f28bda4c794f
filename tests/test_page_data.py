"""What the page of a series says and holds, without a browser."""

import base64
import re
import tomllib
import zlib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dqeval
from dqeval.analysis.check import findings_in, findings_of_scores, findings_of_series
from dqeval.analysis.compare import comparison_of
from dqeval.analysis.findings import Finding, errors_first
from dqeval.analysis.near_profile import profile_of
from dqeval.analysis.pitfalls import rescaled_dqe
from dqeval.core.confidence import mean_intervals
from dqeval.core.levels import grid, sample_levels
from dqeval.core.near import Near
from dqeval.core.prepared import Labelled
from dqeval.core.sampling import Clock
from dqeval.core.timeline import TimeAxis
from dqeval.datasets.door import prepare
from dqeval.metrics.alarm_curve import alarm_curve_of
from dqeval.metrics.alarms_at_threshold import alarms_of
from dqeval.render import page_data as module
from dqeval.render.alarm_steps import NEVER, alarm_steps
from dqeval.render.event_outcomes import EVENT_OUTCOMES, OUTCOME_KEYS, OUTCOME_MEANINGS
from dqeval.render.page_data import detector_data, page_data
from dqeval.render.summary import summary_rows
from dqeval.render.trust import DOCS, TrustLine, _near, trust_lines

DOCS_FOLDER = Path(__file__).parent.parent / "docs"


@pytest.fixture(scope="module")
def demo():
    return prepare(dqeval.datasets.demo(), period=48)


@pytest.fixture(scope="module")
def comparison(demo):
    return comparison_of(demo, metrics="dqe", repeats=1)


def unpacked(text, kind):
    planes = np.frombuffer(zlib.decompress(base64.b64decode(text)), dtype=np.uint8)
    return np.ascontiguousarray(planes.reshape(np.dtype(kind).itemsize, -1).T).view(kind).ravel()


# Alarms at each threshold ---------------------------------------------------------------------------------------------


@st.composite
def scored_series(draw):
    """Return labels with scores, perhaps with a time that was not observed, and how early an alarm may be."""
    n = draw(st.integers(2, 40))
    labels = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    labels[draw(st.integers(0, n - 1))] = True
    scores = np.array(draw(st.lists(st.integers(0, 12), min_size=n, max_size=n)), dtype=float)
    axis = None
    if draw(st.booleans()):
        gap = draw(st.integers(1, n - 1))
        cells = np.arange(n) + 5 * (np.arange(n) >= gap)
        times = np.datetime64("2026-01-01T00:00") + cells
        axis = Clock(times, "1min", 0).sampling(n).axis
        assert isinstance(axis, TimeAxis)
    return Labelled(labels, axis).scored(scores), draw(st.integers(0, 6))


@given(scored_series())
def test_alarms_at_each_threshold_are_those_of_the_detections(found):
    scored, early = found
    levels = sample_levels(scored.scores, scored.labelled.regions(2.0), 100).of_point
    curve = alarm_curve_of(scored, early=early)
    steps = alarm_steps(scored, curve, levels, 100, early=early)
    data = steps.as_json()
    # The most at any threshold above, of all there are.
    every = {
        value: alarms_of(
            scored.events,
            scored.labelled.runs(scored.raw >= value),
            early=early,
            breaks=scored.labelled.breaks,
        ).false_alarms
        for value in np.unique(scored.raw)
    }
    for step, threshold in enumerate(grid(100)):
        detections = scored.scores >= threshold
        runs = scored.labelled.runs(detections)
        alarms = alarms_of(scored.events, runs, early=early, breaks=scored.labelled.breaks)
        assert data["falseAlarms"][step] == alarms.false_alarms
        assert data["detected"][step] == alarms.detected.sum()
        assert data["inAlarm"][step] == f"{alarms.time_in_alarm:.2%}".replace("%", " %")
        np.testing.assert_array_equal(steps.delays[:, step], alarms.delays)
        median = data["medianDelay"][step]
        assert median == (None if np.isnan(alarms.median_delay) else alarms.median_delay)
        above = [count for value, count in every.items() if detections.any() and value >= scored.raw[detections].min()]
        assert data["needed"][step] == max(above, default=0)
    delays = unpacked(data["delays"], "<i4").reshape(steps.delays.shape)
    np.testing.assert_array_equal(np.where(delays == NEVER, np.nan, delays), steps.delays)


def test_what_a_page_holds_of_a_detector(demo, comparison, monkeypatch):
    scored, explanation = demo.scored("jumpy"), comparison.explanations["jumpy"]
    found = detector_data(demo, scored, explanation)
    data = found.data
    assert found.alarms.gains.words["events"]
    assert all(words.endswith(" of 6") for words in found.alarms.gains.words["events"])
    outcomes = unpacked(data["outcomes"], "<u1").reshape(6, 100)
    for step in (3, 40, 97):
        there = dqeval.evaluate_detections(demo.labelled.labels, scored.scores >= grid(100)[step - 1], near=24)
        for event, at in zip(there.curve.per_event, outcomes[:, step - 1], strict=True):
            captured, near, clean = event.capture[0] > 0, event.near_miss[0] > 0, event.false_alarm[0] == 1
            expected = ("captured" if clean else "drowned") if captured else ("near-miss" if near else "missed")
            assert OUTCOME_KEYS[at] == expected
    assert len(OUTCOME_KEYS) == len(EVENT_OUTCOMES)
    parts = ("capture", "near_miss", "false_alarm")
    shown = [None if part is None else parts[part] for part in data["costsMost"]]
    assert shown == [event.costs_most for event in explanation.events]
    drawn = []
    monkeypatch.setattr(module, "mean_intervals", lambda values, resamples: drawn.append(resamples) or [UNKNOWN])
    for events in (6, 1000, 600_000):
        assert module._intervals(np.zeros((events, 1))) is None
    assert drawn == [2000, 500, 1]


def test_the_scores_at_each_threshold_are_those_of_the_curve(demo, comparison):
    shown = [detector_data(demo, demo.scored(name), each) for name, each in comparison.explanations.items()]
    found = page_data(demo, comparison.explanations, profile_of(demo), shown)["detectors"]
    for data, explanation in zip(found, comparison.explanations.values(), strict=True):
        curve = explanation.result.curve
        whole, *events = (
            np.array([each.dqe, each.capture, each.near_miss, each.false_alarm])[:, ::-1]
            for each in (curve, *curve.per_event)
        )
        np.testing.assert_allclose(unpacked(data["means"], "<u2").reshape(4, 100), 1000 * whole, atol=0.5 + 1e-9)
        at_events = unpacked(data["perEvent"], "<u2").reshape(6, 4, 100)
        np.testing.assert_allclose(at_events, 1000 * np.array(events), atol=0.5 + 1e-9)
        low, high = data["intervals"]
        assert (np.array(low) <= 1000 * whole[0] + 1).all()
        assert (np.array(high) >= 1000 * whole[0] - 1).all()


UNKNOWN = SimpleNamespace(is_known=False)


def test_intervals_of_each_threshold():
    dqe = np.random.default_rng(0).random((9, 4))[:, [0, 1, 0, 2, 2, 3]]
    low, high = module._intervals(dqe)
    for at, interval in enumerate(mean_intervals(dqe)):
        assert (low[at], high[at]) == (round(1000 * interval.low), round(1000 * interval.high))


def test_nothing_lost_costs_nothing():
    prepared = prepare({"label": [0, 0, 1, 0, 0], "mine": [0, 0, 1, 0, 0]}, near=1)
    comparison = comparison_of(prepared, metrics="dqe", repeats=1)
    shown = detector_data(prepared, prepared.scored("mine"), comparison.explanations["mine"])
    (data,) = page_data(prepared, comparison.explanations, profile_of(prepared), [shown])["detectors"]
    assert data["costsMost"] == [None]
    assert data["intervals"] is None


def test_the_summary_of_detectors(comparison):
    best, *others = summary_rows(comparison)
    assert (best.name, best.behind, best.told_apart) == ("sharp", "", False)
    assert best.bar.left <= best.bar.middle <= best.bar.right
    assert [row.behind for row in others] == [str(comparison.differences[row.name]) for row in others]
    assert best.interval == str(comparison.panels["sharp"].dqe.interval())


# What check finds in a series that is prepared ------------------------------------------------------------------------


def timed_series(**changes):
    times = np.datetime64("2026-01-01T00:00") + np.delete(np.arange(130), np.r_[40:50])
    labels = np.arange(120) % 40 < 3
    scores = {"mine": np.random.RandomState(0).rand(120) + labels, "cpu_load": np.arange(120) % 7}
    series = dqeval.Series("timed", labels.astype(float), scores, np.sin(np.arange(120.0)), timestamps=times)
    return replace(series, **changes)


@pytest.mark.parametrize(
    ("series", "options"),
    [
        (dqeval.datasets.demo(), {"period": 48}),
        (dqeval.datasets.demo(), {}),
        (timed_series(), {"near": 3}),
        (timed_series(), {"near": "3min"}),
        (timed_series(values=None), {}),
        (timed_series(values=None), {"near": 2}),
        (timed_series(values=np.ones(120), timestamps=None), {}),
        (timed_series(values=np.r_[np.nan, np.arange(119.0)]), {"near": "2ev"}),
    ],
)
def test_findings_in_what_is_prepared_are_those_of_check(series, options):
    prepared = prepare(series, **options)
    found = findings_of_series(prepared)
    for name in prepared.scores:
        found += findings_of_scores(name, prepared.scored(name), prepared.near)
    assert sorted(map(repr, errors_first(found))) == sorted(map(repr, findings_in(series, **options)))


# How far to trust it --------------------------------------------------------------------------------------------------


def trusted(prepared, **changes):
    comparison = comparison_of(prepared, metrics="dqe", repeats=1)
    rescaled = {
        name: {} if prepared.scored(name).binary else rescaled_dqe(prepared.scored(name), prepared.near.points)
        for name in comparison.panels
    }
    lines = trust_lines(comparison, profile_of(prepared), changes.get("findings", []), rescaled)
    return {line.title: line for line in lines}


def test_the_demo_can_be_trusted_so_far(demo):
    found = trusted(demo)
    assert found["Data"] == TrustLine(
        "Data", "fine", "dqeval check finds no problem in labels, values, times and scores.", "check"
    )
    assert (found["Near range"].level, found["Near range"].text) == ("fine", "Near 24, half the given period.")
    assert found["Other near ranges"].text == "sharp is best with every near from 0 to 96."
    assert found["Other near ranges"].level == "fine"
    scale = found["Scale of scores"]
    assert scale.level == "look"
    assert scale.text == (
        "DQE depends on how high scores are, and not only on their order: that of jumpy is 0.557, and would be 0.374 "
        "with the square roots of the scores; sharp would stay the best."
    )
    assert [detail.partition(":")[0] for detail in scale.details] == ["sharp", "late", "jumpy"]
    assert found["Number of events"].level == "look"
    assert found["Number of events"].text.endswith("(95 % interval, 6 events); not told apart from late and jumpy.")


def test_what_check_found_is_listed(demo):
    findings = [Finding("warning", "label", "few"), Finding("error", "mine", "odd"), Finding("warning", "value", "one")]
    found = trusted(demo, findings=findings)["Data"]
    assert (found.level, found.text) == ("wrong", "dqeval check has 1 error and 2 warnings.")
    assert found.details == ("mine: odd", "label: few", "value: one")
    assert trusted(demo, findings=findings[:1])["Data"].level == "look"


@pytest.mark.parametrize(
    ("near", "level", "text"),
    [
        (
            Near(62.5, "a fallback: no peak"),
            "look",
            "Near 62.5, a fallback: no peak: it has nothing to do with this series.",
        ),
        (Near(125.0, "by default"), "look", "Near 125, by default: it has nothing to do with this series."),
        (Near(0.0, "as given"), "look", "Near 0, as given: an alarm one point early is a false alarm."),
        (Near(5.0, "as given", words="5 min"), "fine", "Near 5 (5 min), as given."),
        (
            Near(24.0, "half the estimated period", 0.74),
            "fine",
            "Near 24, half the estimated period (autocorrelation 0.74).",
        ),
        (
            Near(24.0, "half the estimated period", 0.2),
            "look",
            "Near 24, half the estimated period (autocorrelation 0.20, which is weak).",
        ),
        (
            Near(3.0, "half the period of the series", doubt="it is smooth"),
            "look",
            "Near 3, half the period of the series, which is hardly a period: it is smooth.",
        ),
    ],
)
def test_where_the_near_range_comes_from(near, level, text):
    found = _near(near)
    assert (found.level, found.text) == (level, text)


def test_one_detector_against_the_near_range():
    labels = np.arange(200) % 40 < 4
    near_misses = np.roll(labels, 5).astype(float) + 0.5 * np.roll(labels, 2)
    found = trusted(prepare({"label": labels, "mine": near_misses, "value": np.sin(np.arange(200))}, near=6))
    line = found["Other near ranges"]
    assert line.level == "look"
    assert re.fullmatch(r"DQE of mine is 0\.\d{3} to 0\.\d{3} with near from 0 to 12\.", line.text)
    assert "stays the best" not in found["Scale of scores"].text
    exact = trusted(prepare({"label": labels, "mine": labels.astype(float)}, near=6))
    assert exact["Other near ranges"].level == "fine"
    assert "Scale of scores" not in exact  # detections have none
    assert exact["Number of events"] == TrustLine(
        "Number of events", "fine", "DQE of mine is 1.000 [1.000, 1.000] (95 % interval, 5 events).", "events"
    )


def test_what_is_decided_by_the_near_range_the_scale_or_nothing():
    labels = np.arange(400) % 40 < 4
    random = np.random.RandomState(1).rand(400)
    good = labels + 0.1 * random
    columns = {"label": labels, "near": np.roll(labels, 8) + 0.01 * random, "far": 0.2 * labels + random}
    found = trusted(prepare(columns, near=20))
    assert found["Other near ranges"].text.startswith("The best detector depends on the near range")
    assert found["Other near ranges"].level == "look"
    apart = trusted(prepare({"label": labels, "good": good, "bad": random}, near=5))
    assert apart["Number of events"].level == "fine"
    assert apart["Number of events"].text.endswith("; told apart from all others.")
    steep = {"label": labels, "flat": 0.55 * labels + 0.5 * random, "steep": (0.7 * labels + 0.3 * random) ** 4}
    scale = trusted(prepare(steep, near=5))["Scale of scores"]
    assert scale.level == "look"
    assert scale.text.endswith("; with the squares of the scores, flat would be best.")


def test_few_events():
    found = trusted(prepare({"label": [0, 0, 1, 0, 0, 0], "a": np.arange(6.0), "b": np.arange(6.0)[::-1]}, near=1))
    line = found["Number of events"]
    assert line.text == "Only 1 event: from fewer than 5 there is no interval, and nothing is told apart."
    assert (line.level, line.docs[0]) == ("look", "Uncertainty")
    with (DOCS_FOLDER.parent / "pyproject.toml").open("rb") as file:
        documentation = tomllib.load(file)["project"]["urls"]["Documentation"]
    assert line.link == f"{documentation}uncertainty.html#how-they-are-computed"


def test_the_documentation_has_what_the_page_names():
    for page, section, place in DOCS.values():
        name, anchor = place.split("#")
        text = (DOCS_FOLDER / name).read_text(encoding="utf-8")
        assert text.startswith(f"# {page}\n")
        assert re.search(rf"^##+ {re.escape(section)}$", text, flags=re.MULTILINE)
        assert anchor == section.lower().replace(" ", "-")


def test_the_documentation_says_what_outcomes_mean():
    text = (DOCS_FOLDER / "report.md").read_text(encoding="utf-8")
    for outcome, meaning in OUTCOME_MEANINGS.items():
        assert f"| {outcome} | {meaning} |" in text
