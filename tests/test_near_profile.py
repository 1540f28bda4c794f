"""How DQE depends on the near range: the periods, the curve, and where detectors change places."""

import json
from dataclasses import replace

import numpy as np
import pytest

import dqeval
from commands import caller, write_demo
from dqeval.analysis import near_profile as near_profile_module
from dqeval.analysis.near_profile import best_by_range, profile_of
from dqeval.analysis.score import score
from dqeval.cli.series_files import write_columns
from dqeval.core.near import Near
from dqeval.core.sampling import Clock
from dqeval.core.types import Series
from dqeval.datasets.door import prepare

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
    assert list(found.tabulated) == ["0", "period/8", "period/4", "period/2", "period", "2 periods"]
    assert found.at_tabulated["late"][3] == dqeval.dqe_score(DEMO.labels, DEMO.scores["late"], period=48)
    other = profile_of(prepare(DEMO, near=15))
    assert list(other.tabulated)[:2] == ["in use", "0"]
    assert other.at_tabulated["late"][0] == dqeval.dqe_score(DEMO.labels, DEMO.scores["late"], near=15)
    assert (other.estimated, other.candidates) == (found.estimated, found.candidates)


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


def test_events_that_are_short_beside_the_period():
    short = dqeval.near_profile(labelled(wave(1000), mine=np.random.default_rng(0).random(4000)))
    assert (
        "All events are short beside 1,000 points, at most 5 points: consider a near range by" in short.recommendation
    )
    assert "short beside" not in dqeval.near_profile(DEMO).recommendation
    none = dqeval.near_profile(Series("none", np.zeros(4000), {}, wave(1000)))
    assert "short beside" not in none.recommendation


def test_ranges_on_a_clock_without_a_period_are_parts_of_the_median_event():
    """The fallback would be so many cells, however long they are."""
    series = Series("made", np.arange(300) // 10 % 7 == 3, {"mine": np.arange(300) * 7 % 11})
    series = replace(series, timestamps=np.datetime64("2026-01-01") + np.arange(300) * np.timedelta64(1, "m"))
    for resolution, event in (("1min", 10), ("2min", 5)):
        found = profile_of(prepare(series, clock=Clock(resolution=resolution)))
        shares = {"0": 0, "event/4": 0.25, "event/2": 0.5, "event": 1, "2 events": 2, "4 events": 4}
        assert found.tabulated == {word: share * event for word, share in shares.items()}
        assert (found.period, found.ranges[-1]) == (2 * event, 4 * event)
        assert "event (10 min)" in str(found)
    moments = profile_of(prepare(replace(series, labels=np.zeros(300), scores={}), clock=Clock(resolution="1min")))
    assert (moments.near.points, moments.ranges[-1]) == (0, 2)


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


def ripple(n=6000):
    """Return one-minute data of which the published rule finds a period of 6: a slow day, and a little ripple."""
    t = np.arange(n)
    return np.sin(2 * np.pi * t / 1440) + 0.05 * np.sin(2 * np.pi * t / 6)


@pytest.mark.parametrize("loaded", [False, True])
def test_smoothness_is_not_recommended(tmp_path, loaded):
    """The near range stays what the rule of TSB-AD gives, and everything that uses it says that it is hardly one."""
    series = labelled(ripple(), mine=np.arange(6000) * 7 % 11)
    if loaded:  # where the period was estimated by the reader
        columns = {"label": series.labels.astype(int), "value": series.values, **series.scores}
        write_columns(tmp_path / "a.csv", columns)
        series = next(iter(dqeval.datasets.read(tmp_path / "a.csv")))
    found = dqeval.near_profile(series)
    assert found.near.points == 3
    doubt = "That is hardly a period: the autocorrelation hardly rises to it, by 0.0"
    assert doubt in found.recommendation
    assert "--period 6" not in found.recommendation
    assert found.candidates[0].points == pytest.approx(1440, abs=20)
    if not loaded:
        assert f"--period {found.candidates[0].points} fits it." in found.recommendation
        assert found.period == found.candidates[0].points
    warned = "near 3 is half of a period that is hardly one: the autocorrelation hardly rises to it, by 0.0"
    assert any(each.message.startswith(warned) and each.column == "value" for each in dqeval.check(series))
    assert sum(warned in warning for warning in dqeval.compare(series).warnings) == 1
    assert any(each.message.startswith(warned) for each in score([series], metrics=["dqe"]).series[0].findings)
    assert not any(warned in warning for warning in dqeval.compare(series, near=3).warnings)
    assert not any(warned in warning for warning in dqeval.compare(series, period=6).warnings)
    cautions = dqeval.explain(series.labels, series.scores["mine"], values=series.values).cautions
    assert any(caution.startswith(warned) for caution in cautions)


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


@pytest.mark.slow
@pytest.mark.unmeasured
def test_in_the_report(tmp_path):
    found = dqeval.report(DEMO, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Near 24 is half the estimated period of 48 points (autocorrelation 0.74)." in page
    assert "period/8 (6)" in page
    assert '"nearPlot"' in page
    assert list(found.panels) == ["sharp", "late", "jumpy"]


@pytest.mark.slow
def test_the_command(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    write_demo(tmp_path / "demo.csv")
    call = caller(monkeypatch, capsys)
    done = call("near", "demo.csv")
    assert (done.code, done.err) == (0, "")
    assert "sharp is best with every near from 0 to 96." in done.out
    rows = call("near", "demo.csv", "--format", "csv").out.splitlines()
    assert (rows[0], len(rows)) == ("detector,near,dqe", 1 + 3 * 26)
    assert call("near", "demo.csv", "--format", "json", "-o", "receipt.json").code == 0
    results = json.loads((tmp_path / "receipt.json").read_text())["results"]
    assert results["period"]["points"] == 48
    assert results["tabulated"]["period/2"] == 24
    assert results["dqe_tabulated"]["late"][3] == pytest.approx(0.577, abs=5e-4)
    assert call("verify", "receipt.json", "demo.csv").code == 0
    write_demo(tmp_path / "other.csv", length=1000)
    assert "without problems" not in call("near", "demo.csv", "other.csv").out


@pytest.mark.slow
@pytest.mark.unmeasured
def test_the_fallback_is_named_wherever_a_near_range_is_shown(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    call = caller(monkeypatch, capsys)
    values, labels = wave(1000), np.arange(4000) % 900 >= 890
    table = np.column_stack([values, labels, labels + 0.1 * np.random.default_rng(0).random(4000)])
    np.savetxt("long.csv", table, delimiter=",", header="value,label,mine", comments="")
    reason = "near 62.5, a fallback: the autocorrelation has no peak at lags from 4 to 399"
    for command in ("score", "compare"):
        assert reason in call(command, "long.csv").out
    for command in ("check", "explain"):
        assert "no period was found, so near 62.5 is a fallback" in call(command, "long.csv").out
    assert call("datasets", "list", "long.csv").out.splitlines()[-1].split()[-1] == "none"
    loaded = dqeval.datasets.load("long.csv")
    assert (loaded.period, loaded.no_period) == (None, "the autocorrelation has no peak at lags from 4 to 399")
    assert dqeval.near_profile(loaded).near.is_fallback


def test_detectors_that_are_equal_but_for_rounding():
    same = DEMO.scores["late"]
    found = dqeval.near_profile(Series("x", DEMO.labels, {"one": same, "other": 3 * same + 1}, DEMO.values))
    assert found.flips == ()
    assert found.recommendation.endswith("is best with every near from 0 to 96.")


def test_the_report_looks_only_for_where_the_best_one_changes():
    random = np.random.default_rng(3)
    near_events = np.convolve(DEMO.labels, np.ones(60), mode="same") > 0
    scores = {f"d{i}": DEMO.scores["late"] * random.random(1600) + 0.3 * i * near_events for i in range(6)}
    series = prepare(Series("x", DEMO.labels, {**scores, **DEMO.scores}, DEMO.values))
    every, few = profile_of(series), profile_of(series, every_flip=False)
    assert set(few.flips) < set(every.flips)
    assert few.recommendation == every.recommendation


class MadeUp:
    """DQE by detector and near range: of some scores it is always 0.5."""

    calls = 0

    def __init__(self, scored):
        self.still = scored.raw[0] == 7

    def at(self, near):
        MadeUp.calls += 1
        return 0.5 if self.still else 0.4 + 0.2 * (near > 0)


def test_a_change_at_next_to_nothing_is_found_soon(monkeypatch):
    """A step right above 0 is not searched for down to the smallest float."""
    monkeypatch.setattr(near_profile_module, "_Curve", MadeUp)
    scores = {"still": np.append(7, DEMO.scores["late"][1:]), "steps": DEMO.scores["late"]}
    (flip,) = dqeval.near_profile(Series("x", DEMO.labels, scores, DEMO.values)).flips
    assert (flip.near, flip.below, flip.above) == (pytest.approx(0, abs=1e-8), "still", "steps")
    assert MadeUp.calls < 200


def test_equal_but_for_rounding_both_ways():
    """One that is better by rounding, here and there, is not the best in between."""
    wobbles = 0.5 + 1e-14 * np.array([0, 1, -1, 1, 0, 0])
    found = {"a": np.full(6, 0.5), "b": wobbles, "c": np.array([0, 0, 0, 0, 0.9, 0.9])}
    assert best_by_range(found) == ["a", "a", "a", "a", "c", "c"]
    assert near_profile_module._neighbours(found) == {("a", "c")}
    assert near_profile_module._neighbours({}) == set()


UNUSUAL = {
    "infinite": (np.where(np.arange(1600) == 9, np.inf, DEMO.values), "Near 10, as given. "),
    "none": (None, "Near 10, as given. "),
    "several columns": (np.column_stack([DEMO.values, DEMO.values]), "Near 10, as given. "),
    "one column": (DEMO.values[:, None], "Near 10, as given. Half the estimated period of 48 points"),
    "missing": (np.full(1600, np.nan), "Near 10, as given. "),
}


@pytest.mark.parametrize("name", UNUSUAL)
@pytest.mark.slow
@pytest.mark.unmeasured
def test_values_of_any_kind_where_the_near_range_is_given(name, tmp_path):
    values, expected = UNUSUAL[name]
    series = Series("x", DEMO.labels, DEMO.scores, values)
    found = profile_of(prepare(series, near=10))
    assert found.recommendation.startswith(expected)
    assert "hardly repeats" not in found.recommendation
    dqeval.report(series, tmp_path / "page.html", near=10)
    assert "Near 10, as given." in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_no_values_and_nothing_given():
    found = dqeval.near_profile(Series("x", DEMO.labels, DEMO.scores))
    assert found.recommendation.startswith("Near 125, by default. ")
    assert "fallback/2 (62.5)" in str(found)
    one = dqeval.near_profile(Series("x", DEMO.labels, DEMO.scores, DEMO.values[:, None]))
    assert one.near == dqeval.near_profile(DEMO).near
    assert one.recommendation == dqeval.near_profile(DEMO).recommendation


def test_the_near_range_in_use_is_always_in_view():
    found = profile_of(prepare(DEMO, near=700))
    assert (found.ranges[-1], found.tabulated["in use"]) == (700, 700)
    by_period = profile_of(prepare(DEMO, period=500))
    assert (by_period.period, by_period.tabulated["period/2"]) == (500, 250)
    assert by_period.near.points in by_period.ranges
    assert by_period.recommendation.startswith(
        "Near 250, half the given period. Half the estimated period of 48 points"
    )


def test_only_changes_of_the_best_are_told():
    found = dqeval.near_profile(DEMO)
    assert [(flip.below, flip.above) for flip in found.flips] == [("jumpy", "late")]  # while sharp is the best
    assert list(found._changes_of_the_best()) == []
