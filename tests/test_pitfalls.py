"""Where DQE itself misleads: each warning fires where the measurement says so, and not on clean detectors."""

import json

import numpy as np
import pytest
from hypothesis import given

import dqeval
from commands import caller, write_demo
from dqeval.analysis import pitfalls
from dqeval.core.near import Near
from dqeval.core.prepared import Labelled
from dqeval.core.scaling import min_max
from dqeval.core.types import Series
from naive import sampled
from strategies import any_near, exact_near, labelled, scores

DEMO = dqeval.datasets.demo()
T = np.arange(2000)
LABELS = T % 200 >= 190
NOISE = np.random.default_rng(0).random(2000)


def kinds(labels, found, near=10.0):
    of_series = Labelled(np.asarray(labels, dtype=bool))
    scored = of_series.scored(np.asarray(found, dtype=float))
    return {pitfall.kind: pitfall.message for pitfall in pitfalls.of_scores(scored, near)}


def of_labels(labels, near=10.0):
    found = pitfalls.of_labels(Labelled(np.asarray(labels, dtype=bool)), Near(near, "as given"))
    return {pitfall.kind: pitfall.message for pitfall in found}


CLEAN = {
    "perfect": LABELS + 0.0,
    "low noise": np.where(LABELS, 0.9 + 0.1 * NOISE, 0.005 * NOISE),
    "detections": LABELS.astype(int),
    "one point per event": (T % 200 == 195).astype(float),
}


def test_clean_detectors_of_rare_events():
    """Clipping the highest 0.1 % would cut off all that is right."""
    rare = np.arange(100_000) % 20_000 >= 19_990
    noise = np.random.default_rng(0).random(100_000)
    assert kinds(rare, np.where(rare, 0.9 + 0.1 * noise, 0.005 * noise)) == {}
    assert kinds(rare, np.where(rare, 0.9 + 0.1 * noise, 0.0)) == {}


@pytest.mark.parametrize("name", CLEAN)
def test_clean_detectors(name):
    assert kinds(LABELS, CLEAN[name]) == of_labels(LABELS) == {}


def test_rounding_of_two_decimals():
    random = np.random.default_rng(4)
    labels, hundredths = T[:300] % 100 > 90, random.integers(30, 700, 300)
    whole = hundredths - hundredths.min()
    exact = [100 * whole >= k * whole.max() for k in range(1, 101)]
    expected = np.mean([dqeval.sdqe_score(labels, detected, near=10) for detected in exact])
    scored = Labelled(labels).scored(hundredths / 100)
    assert pitfalls.dqe_without_rounding(scored, 10.0) == pytest.approx(expected, abs=1e-12)
    assert pitfalls.dqe_without_rounding(Labelled(labels).scored(hundredths / 1000), 10.0) is None
    assert pitfalls.dqe_without_rounding(Labelled(labels).scored(np.full(300, 0.25)), 10.0) is None


def test_rounding_that_moves_dqe():
    labels, found = T[:300] % 100 > 90, np.random.default_rng(4).integers(0, 101, 300) / 100
    found[:2] = 0, 1
    now = dqeval.dqe_score(labels, found, near=10)
    said = kinds(labels, found)["rounding"]
    assert f"rounding decides: DQE is {now:.4f}, and " in said
    assert "rounding" not in kinds(labels, found / 3)


def test_scale():
    mine = min_max(np.where(LABELS, 1.0, 0.2 * NOISE))
    now, then = (dqeval.dqe_score(LABELS, s, near=10) for s in (mine, np.sqrt(mine)))
    numbers = f"it is {now:.3f}, and {then:.3f} with the square roots of the scores"
    assert kinds(LABELS, mine)["scale"].startswith(f"DQE depends on the scale of these scores: {numbers}; DQE-LR")
    assert kinds(LABELS, 50 * mine - 7)["scale"] == kinds(LABELS, mine)["scale"]


@given(labelled(scores), exact_near)
def test_the_scale_is_measured(pair, near):
    """From the definition: DQE of the changed scores, by the slow and plain program."""
    labels, given_scores = pair
    if np.isin(given_scores, (0, 1)).all() or given_scores.min() == given_scores.max():
        return
    scaled = min_max(given_scores)
    changed = [scaled, np.sqrt(scaled), np.square(scaled)]
    normal = [score for label, score in zip(labels, scaled, strict=True) if not label]
    lowest_event = min(max(scaled[start:stop]) for start, stop in Labelled(labels.astype(bool)).events)
    if lowest_event <= max(normal, default=0):  # otherwise clipping would cut off what is right
        changed.append(np.minimum(scaled, np.percentile(scaled, 99.9)))
    now, *others = (sampled(labels, min_max(each), near)[:, 0].mean() for each in changed)
    most = max(abs(other - now) for other in others)
    if abs(most - pitfalls.MOVES) > 1e-9:
        assert ("scale" in kinds(labels, given_scores, near)) == (most > pitfalls.MOVES)


def test_a_lone_score():
    mine = np.where(LABELS, 1.0, 0.1 * NOISE)
    assert "lone score" not in kinds(LABELS, mine)
    mine[50] = 10.0
    lowered = np.where(T == 50, 1.0, mine)
    now, without = (dqeval.dqe_score(LABELS, s, near=10) for s in (mine, lowered))
    numbers = f"DQE is {now:.3f}, and {without:.3f} if it were only as high as the next"
    assert kinds(LABELS, mine)["lone score"] == f"the highest score, 10 at point 50, dwarfs all others: {numbers}"
    first_event = np.where(T == 195, 10.0, np.where(LABELS, 1.0, 0.1 * NOISE))
    assert "10 at point 195 in an event, dwarfs all others" in kinds(LABELS, first_event)["lone score"]
    only_event = np.where(T == 500, 1.0, 0.3 * NOISE)  # which is high by right
    assert "lone score" not in kinds(T == 500, only_event)


def test_events_of_different_heights():
    mine = np.where(LABELS, np.where(T < 500, 1.0, 0.1), 0.0)
    expected = (
        "at 90 % of the thresholds of DQE most events are missed: the highest scores in the events lie from 0.10 to"
    )
    assert kinds(LABELS, mine)["event heights"].startswith(expected)
    four = T % 500 >= 490
    levels = np.where(T < 500, 0.0, np.where(T < 1000, 0.05, np.where(T < 1500, 0.25, 1.0))) * four
    assert kinds(four, levels)["event heights"].startswith("at 75 % of the thresholds")  # three of four are most
    levels[four & (T >= 1000) & (T < 1500)] = 0.59
    assert "event heights" not in kinds(four, levels)
    alike = np.where(LABELS, 0.2, 0.0)
    alike[3] = 1.0  # a wrong point above events that are all alike
    assert "event heights" not in kinds(LABELS, alike)
    last = np.where(T >= 1990, 1.0, mine)
    last[LABELS & (T < 1900)] = 0.05
    assert "event heights" in kinds(LABELS, last)  # the series ends with an event


def test_a_wrong_point_that_raises_dqe():
    """One captured event, one distant false alarm, and one wrong point more: 0.707 and 0.987."""
    labels, detections = np.zeros(10_000), np.zeros(10_000)
    labels[5000:5040] = 1
    detections[[5010, 9000]] = 1
    assert dqeval.sdqe_score(labels, detections, near=20) == pytest.approx(0.707, abs=5e-4)
    message = kinds(labels, detections, 20)["wrong point"]
    raised = "one more wrong point right beside the event [5000, 5040) raises its DQE from 0.707 to 0.987"
    assert message == f"{raised}: with false alarms, the near-miss score is 0 until there is a near miss"
    minutes = np.datetime64("2026-01-01T00:00") + np.arange(10_000)
    cautions = dqeval.explain(labels, detections, near=20, times=minutes).cautions
    assert any("right beside the event 2026-01-04 11:20 – 12:00 raises" in caution for caution in cautions)
    detections[5040] = 1
    assert dqeval.sdqe_score(labels, detections, near=20) == pytest.approx(0.987, abs=5e-4)
    assert kinds(labels, detections, 20) == {}
    missed = np.zeros(10_000)
    missed[9000] = 1  # beside an event that is missed, a near miss is meant to count
    assert kinds(labels, missed, 20) == {}
    everything = np.ones(9)
    assert kinds(everything, [0, 0, 0, 1, 0, 0, 0, 0, 0], 2) == {}


def test_wrong_points_at_all_thresholds():
    """At the suggested threshold there is no false alarm, and at lower ones a wrong point would raise DQE."""
    labels, scores_there = np.zeros(2000), np.zeros(2000)
    labels[1000:1040] = 1
    scores_there[[1010, 300]] = [1.0, 0.6]
    said = kinds(labels, scores_there, 20)["wrong point"]
    more = scores_there.copy()
    more[1040] = 1.0
    before, after = (dqeval.dqe_score(labels, each, near=20) for each in (scores_there, more))
    what = "one more wrong point right beside the event [1000, 1040), as high as the event, raises its DQE"
    assert said == f"over all thresholds, {what} from {before:.3f} to {after:.3f}"


def test_a_wrong_point_that_is_closer_than_the_other_near_misses():
    labels, scores_there = np.zeros(2000), np.zeros(2000)
    labels[1000:1040] = 1
    scores_there[[1010, 1130]] = [0.5, 1.0]
    said = kinds(labels, scores_there, 100)
    assert said["wrong point"].startswith("at the suggested threshold, one more wrong point right beside the event")
    assert said["wrong point"].endswith(": it is so close")


def test_labels_and_near():
    assert of_labels(T == 7)["few events"].startswith("only 1 event: from fewer than 5 there is no confidence interval")
    assert "few events" not in of_labels(LABELS)
    gaps = LABELS & ~np.isin(T, (193, 194, 195, 394))
    pairs = "2 pairs of neighbouring events at most 3 points apart, the first at point 193:"
    assert of_labels(gaps)["gaps"].startswith(pairs)
    assert "gaps" not in of_labels(LABELS & ~np.isin(T, (193, 194, 195, 196)))
    assert of_labels(LABELS, near=0)["near 0"].startswith("near is 0: an alarm that is a single point early")
    assert of_labels(np.zeros(5)) == {}


@given(labelled(scores), any_near)
def test_any_input(pair, near):
    assert set(kinds(*pair, near)) <= {"scale", "lone score", "event heights", "wrong point"}


def test_check_and_explain_say_it():
    found = {finding.column: finding.message for finding in dqeval.check(DEMO)}
    assert list(found) == ["sharp", "late", "jumpy"]
    for name, message in found.items():
        explained = dqeval.explain(DEMO.labels, DEMO.scores[name], near=24)
        assert message in explained.cautions
        assert f"- {message}.\n" in f"{explained}\n"
        assert explained.numbers()["cautions"] == list(explained.cautions)
    few = dqeval.explain([0, 1, 0, 0], [0, 1, 0, 0], near=0)
    assert [caution.partition(":")[0] for caution in few.cautions] == ["only 1 event", "near is 0"]
    walk = np.cumsum(np.random.default_rng(1).normal(size=1600))
    for values in (walk, np.ones(1600)):
        fallback = dqeval.explain(DEMO.labels, DEMO.scores["late"], values=values)
        assert fallback.cautions[0].startswith("no period was found, so near 62.5 is a fallback")
    assert dqeval.compare(DEMO, repeats=1).explanations["late"].cautions == ()
    default = dqeval.explain(DEMO.labels, DEMO.scores["late"])
    assert default.cautions[0].startswith("near 125 is the default, and has nothing to do with the series")


def test_check_takes_a_near_range():
    assert "near is 0" in dqeval.check(DEMO, near=0)[0].message
    walk = Series("s", DEMO.labels, DEMO.scores, np.cumsum(np.random.default_rng(1).normal(size=1600)))
    assert any("is a fallback" in finding.message for finding in dqeval.check(walk))
    assert not any("is a fallback" in finding.message for finding in dqeval.check(walk, period=48))
    assert dqeval.check(walk, near="2ev") == dqeval.check(walk, near=2 * 24)
    without = Series("s", DEMO.labels, DEMO.scores)
    assert [finding.column for finding in dqeval.check(without, near=24)] == ["sharp", "late", "jumpy", "jumpy"]


def test_the_command_says_once_what_is_true_of_all_detectors(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    write_demo(tmp_path / "demo.csv", length=500)
    said = caller(monkeypatch, capsys)("explain", "demo.csv", "--near", "0")
    assert said.code == 0
    assert said.out.count("near is 0: an alarm") == said.out.count("only 2 events:") == 1
    assert "What to keep in mind about DQE of every detector:" in said.out
    assert "What to keep in mind about DQE of sharp:" in said.out
    numbers = caller(monkeypatch, capsys)("explain", "demo.csv", "--near", "0", "--format", "json")
    cautions = json.loads(numbers.out)["results"]["late"]["cautions"]
    assert [caution.partition(":")[0] for caution in cautions[:2]] == ["only 2 events", "near is 0"]
    assert "near is 0" in caller(monkeypatch, capsys)("check", "demo.csv", "--near", "0").out


def test_a_series_without_an_anomaly_has_none():
    found = dqeval.check(Series("s", np.zeros(50), {"mine": np.arange(50.0)}))
    assert [finding.level for finding in found if finding.column == "label"] == ["error"]
