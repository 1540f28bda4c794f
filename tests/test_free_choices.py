"""What would move a verdict: each choice against the same series with that choice made by hand."""

from pathlib import Path

import numpy as np
import pytest

import dqeval
from commands import caller, write_demo
from dqeval.analysis.free_choices import CHANCE, CHOICES, WRONG, dqe_by_choice, moves
from dqeval.core.prepared import Labelled
from dqeval.datasets.door import prepare

DEMO = dqeval.datasets.demo()
T = np.arange(3000)
LABELS = (T % 1000 >= 500) & (T % 1000 < 520)
SCORES = np.random.default_rng(3).random(3000) ** 3 + 0.6 * LABELS


def by_choice(labels, scores, near=8.0):
    return dqe_by_choice(Labelled(np.asarray(labels, dtype=bool)).scored(np.asarray(scores, dtype=float)), near)


def test_each_choice_is_what_it_says():
    found = by_choice(LABELS, SCORES)
    scaled = (SCORES - SCORES.min()) / (SCORES.max() - SCORES.min())
    assert found["now"] == dqeval.dqe_score(LABELS, SCORES, near=8)
    assert found["roots"] == pytest.approx(dqeval.dqe_score(LABELS, np.sqrt(scaled), near=8), abs=1e-12)
    assert found["squares"] == pytest.approx(dqeval.dqe_score(LABELS, scaled**2, near=8), abs=1e-12)
    assert found["order"] == dqeval.metrics.dqe_log_rank(LABELS, SCORES, near=8)
    halves = LABELS.reshape(-1, 2).max(axis=1), SCORES.reshape(-1, 2).max(axis=1)
    assert found["halved"] == dqeval.dqe_score(*halves, near=4)
    near = np.concatenate([T[start - 100 : start + 120] for start in (500, 1500, 2500)])
    assert found["around"] == dqeval.dqe_score(LABELS[near], SCORES[near], near=8)
    wrong = []
    for beside in (520, 499):
        changed = scaled.copy()
        for start in (0, 1000, 2000):
            changed[start + beside] = max(changed[start + beside], scaled[start + 500 : start + 520].max())
        wrong.append(dqeval.dqe_score(LABELS, changed, near=8))
    assert found["wrong"] == pytest.approx(max(wrong), abs=1e-12)
    assert "joined" not in found
    split = LABELS & (T % 1000 != 510)
    assert by_choice(split, SCORES)["joined"] == dqeval.dqe_score(LABELS, SCORES, near=8)


def test_near_ranges_of_any_size():
    assert "around" not in by_choice(LABELS, SCORES, near=1e308)


def test_detections_and_gaps():
    assert set(by_choice(LABELS, SCORES > 0.9)) == {"now", "halved", "around"}
    times = np.datetime64("2026-01-01") + (T + 50 * (T >= 700)).astype("m8[m]")
    series = dqeval.Series("s", LABELS, {"mine": SCORES}, timestamps=times)
    prepared = prepare(series, near="8min")
    found = dqe_by_choice(prepared.scored("mine"), prepared.near.points)
    assert set(found) == {"now", "roots", "squares", "order", "wrong"}  # points on both sides of a gap are not joined


def test_who_is_ahead():
    assert moves({"a": {"now": 0.5, "roots": 0.4}, "b": {"now": 0.4, "roots": 0.45, "wrong": 0.6}}) == (
        "with the square roots of the scores, b is ahead (0.450; a 0.400): "
        "https://dqeval.github.io/dqeval/pitfalls.html#the-scale-of-the-scores",
        "one more wrong point right beside each event would put b ahead (0.600; a 0.500): "
        "https://dqeval.github.io/dqeval/pitfalls.html#a-wrong-point-that-raises-dqe",
    )
    assert moves({"a": {"now": 0.5, "roots": 0.4, "squares": 0.3}, "b": {"now": 0.4, "roots": 0.404}}) == (
        "with the squares of the scores, b is ahead (0.400; a 0.300): "
        "https://dqeval.github.io/dqeval/pitfalls.html#the-scale-of-the-scores",
    )
    (only,) = moves({"a": {"now": 0.5, "halved": 0.39, "joined": 0.41, "wrong": 0.9}})
    assert only.startswith("with every two points taken together, DQE is 0.390, and not 0.500: https://")


def test_random_scores_that_do_as_well():
    noise = np.random.default_rng(9).random(3000)
    found = by_choice(LABELS, noise)
    assert found["chance"] > 0
    (said,) = [sentence for sentence in moves({"mine": {**found, "now": 0.05}}) if "random scores" in sentence]
    assert said.startswith(f"random scores get a DQE of up to {found['chance']:.3f}, and mine has 0.050: https://")
    assert "chance" not in by_choice(LABELS, LABELS + 0.01 * noise)


def test_check_and_explain_say_it_of_one_detector():
    far = np.where(T % 7 == 0, 0.9, 0.0) * (np.abs(T % 1000 - 510) > 200) + LABELS
    series = {"label": LABELS, "mine": far}
    now, without = (by_choice(LABELS, far)[name] for name in ("now", "around"))
    said = f"near ranges (at least 100 points) from an event, DQE is {without:.3f}, and not {now:.3f}: https"
    assert any(said in finding.message for finding in dqeval.check(series, near=8))
    assert any(said in caution for caution in dqeval.explain(LABELS, far, near=8).cautions)


def test_every_section_is_on_the_page():
    page = (Path(__file__).parents[1] / "docs" / "pitfalls.md").read_text(encoding="utf-8")
    sections = {line[3:].lower().replace(" ", "-") for line in page.splitlines() if line.startswith("## ")}
    assert {section for _, section in CHOICES.values()} | {WRONG, CHANCE} <= sections


def test_commands_say_it_where_there_is_a_verdict(monkeypatch, capsys, tmp_path):
    call, file = caller(monkeypatch, capsys), write_demo(tmp_path / "demo.csv")
    said = "- by the order of the scores alone (DQE-LR), jumpy is ahead (0.589; sharp 0.461): https"
    for command in ("score", "compare"):
        assert said in call(command, file).out
    other = write_demo(tmp_path / "other.csv", length=1400)
    assert "jumpy is ahead" not in call("score", file, other).out
    assert "jumpy is ahead" not in call("score", file, "--metrics", "auc_roc").out
    assert "jumpy is ahead" not in call("compare", file, "--score", "sharp").out
