"""How DQE depends on the near range: the periods, the curve, and where detectors change places."""

import json

import numpy as np
import pytest

import dqeval
from commands import caller, write_demo
from dqeval.core.near import Near
from dqeval.core.types import Series

DEMO = dqeval.datasets.demo()


def wave(period, n=4000, noise=0.0):
    random = np.random.default_rng(0)
    return np.sin(2 * np.pi * np.arange(n) / period) + noise * random.normal(size=n)


def labelled(values, **scores):
    labels = np.zeros(len(values), dtype=bool)
    labels[len(values) // 2 : len(values) // 2 + 5] = True
    return Series("made", labels, scores, values)


def test_dqe_is_that_of_the_near_range():
    found = dqeval.near_profile(DEMO)
    assert found.ranges[0] == 0
    assert found.ranges[-1] == pytest.approx(96)
    for name, values in found.dqe.items():
        for near, value in list(zip(found.ranges, values, strict=True))[::5]:
            assert value == dqeval.dqe_score(DEMO.labels, DEMO.scores[name], near=near)
    assert found.at_parts["late"][3] == dqeval.dqe_score(DEMO.labels, DEMO.scores["late"], period=48)


def test_detectors_change_places_where_it_says():
    (flip,) = dqeval.near_profile(DEMO).flips
    assert (flip.below, flip.above) == ("jumpy", "late")

    def ahead(near):
        below, above = (dqeval.dqe_score(DEMO.labels, DEMO.scores[name], near=near) for name in ("jumpy", "late"))
        return below - above

    assert ahead(flip.near * (1 - 1e-6)) > 0 > ahead(flip.near * (1 + 1e-6))


def test_a_long_period_and_a_fallback():
    found = dqeval.near_profile(labelled(wave(1000, noise=0.01)))
    assert found.estimated.points is None
    assert found.candidates[0].points == pytest.approx(1000, abs=5)
    assert found.near.is_fallback
    assert "So near 62.5 is only a fallback." in found.recommendation
    assert f"--period {found.candidates[0].points} fits it." in found.recommendation
    assert found.period == found.candidates[0].points


def test_noise_has_no_period():
    found = dqeval.near_profile(labelled(np.arange(400.0)))
    assert found.candidates == ()
    assert found.recommendation.startswith("No period was found: the autocorrelation has no peak")
    assert "The series hardly repeats at any lag" in found.recommendation
    assert found.period == 125
    weak = dqeval.near_profile(labelled(np.random.default_rng(0).normal(size=2000)))
    assert weak.recommendation.partition("). ")[2].startswith("The series hardly repeats at any lag")


def test_a_longer_period_that_is_much_stronger():
    pattern = np.tile(np.random.default_rng(0).normal(size=500), 16)
    found = dqeval.near_profile(labelled(pattern + 0.7 * wave(20, 8000)))
    assert found.estimated.strength < 0.3
    assert "The whole series repeats best after 500 points" in found.recommendation


def test_a_known_period():
    found = dqeval.near_profile(Series("made", DEMO.labels, {}, DEMO.values, period=100))
    assert found.near == Near(50, "half the period of the series")
    assert found.recommendation == "Near 50, half the period of the series, which is 100 points."


def test_no_values():
    found = dqeval.near_profile(Series("made", DEMO.labels, {"late": DEMO.scores["late"]}))
    assert found.estimated.reason == "there is no column of values"
    assert list(found.dqe) == ["late"]
    assert found.period == 125


def test_the_best_detector_may_depend_on_it():
    two = {name: DEMO.scores[name] for name in ("late", "jumpy")}
    found = dqeval.near_profile(Series("two", DEMO.labels, two, DEMO.values))
    assert (
        "The best detector depends on the near range: it changes at 18.59, from jumpy to late." in found.recommendation
    )


def test_steps_are_counted():
    seen = []
    dqeval.near_profile(DEMO, progress=lambda *step: seen.append(step))
    assert seen == [(1, 3), (2, 3), (3, 3)]


def test_no_anomaly():
    with pytest.raises(dqeval.UndefinedError):
        dqeval.near_profile(Series("none", np.zeros(1600), DEMO.scores, DEMO.values))


def test_shown():
    found = dqeval.near_profile(DEMO)
    assert str(found).startswith("demo: near 24, half the estimated period\n")
    assert "period/2 (24)" in found._repr_html_()
    assert found.by_detector == {}
    without = dqeval.near_profile(Series("x", DEMO.labels, {}, DEMO.values))
    assert without.plot().get_legend() is None
    assert "DQE" not in str(without)


def test_the_command(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    write_demo(tmp_path / "demo.csv")
    call = caller(monkeypatch, capsys)
    done = call("near", "demo.csv")
    assert (done.code, done.err) == (0, "")
    assert "sharp is best with every near from 0 to 96." in done.out
    rows = call("near", "demo.csv", "--format", "csv").out.splitlines()
    assert (rows[0], len(rows)) == ("detector,near,dqe", 1 + 3 * 25)
    assert call("near", "demo.csv", "--format", "json", "-o", "receipt.json").code == 0
    results = json.loads((tmp_path / "receipt.json").read_text())["results"]
    assert results["period"]["points"] == 48
    assert call("verify", "receipt.json", "demo.csv").code == 0


def test_the_fallback_is_named_wherever_a_near_range_is_shown(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    call = caller(monkeypatch, capsys)
    values, labels = wave(1000), np.arange(4000) % 900 >= 890
    table = np.column_stack([values, labels, labels + 0.1 * np.random.default_rng(0).random(4000)])
    np.savetxt("long.csv", table, delimiter=",", header="value,label,mine", comments="")
    reason = "near 62.5, a fallback: the autocorrelation has no peak at lags from 4 to 399"
    for command in ("score", "compare"):
        assert reason in call(command, "long.csv").out
    assert "no period was found, so near 62.5 is a fallback" in call("check", "long.csv").out
    assert call("datasets", "list", "long.csv").out.splitlines()[-1].split()[-1] == "none"
    loaded = dqeval.datasets.load("long.csv")
    assert (loaded.period, loaded.no_period) == (None, "the autocorrelation has no peak at lags from 4 to 399")
    assert dqeval.near_profile(loaded).near.is_fallback


def test_detectors_that_are_equal_but_for_rounding():
    same = DEMO.scores["late"]
    found = dqeval.near_profile(Series("x", DEMO.labels, {"one": same, "other": 3 * same + 1}, DEMO.values))
    assert found.flips == ()
    assert found.recommendation.endswith("is best with every near from 0 to 96.")


def test_only_changes_of_the_best_are_told():
    found = dqeval.near_profile(DEMO)
    assert [(flip.below, flip.above) for flip in found.flips] == [("jumpy", "late")]  # while sharp is the best
    assert list(found._changes_of_the_best()) == []
