"""What changed copies do to metrics and rankings: by hand, on odd input, and on the command line."""

import json
import math
import statistics

import numpy as np
import pytest

import dqeval
import naive
from commands import caller, write_demo
from dqeval.core.confidence import mean_interval, mean_intervals
from dqeval.core.types import Series
from dqeval.datasets.door import prepare
from dqeval.lab import stress as stress_module
from dqeval.lab.perturbations import KINDS, PERTURBATIONS, shift, windows
from dqeval.lab.stress import stress_of
from dqeval.lab.variation import Copies, chance_levels, spread_between, varied_by
from dqeval.render.stress_page import stress_figure, stress_report

DEMO = dqeval.datasets.demo()
nan = math.nan


@pytest.fixture
def call(monkeypatch, capsys):
    return caller(monkeypatch, capsys)


@pytest.fixture(scope="module")
def whole():
    """Return a stress test of the demo series, by three metrics."""
    return dqeval.stress(DEMO.labels, DEMO.scores, period=48, metrics=["auc_pr", "dqe", "affiliation_f1"], draws=5)


def copies(values, base, spread=nan):
    """Return copies of one metric: a row of values per detector."""
    values, base = np.array(values, dtype=float)[:, :, None], np.array(base, dtype=float)[:, None]
    return Copies(list(range(values.shape[1])), values, base, np.array([spread]))


def varied(*found, kind="jitter"):
    (only,) = varied_by(kind, ["dqe"], found)
    return only


class TestNumbers:
    def test_two_detectors_by_hand(self):
        found = varied(copies([[0.5, 0.7, 0.6, 0.6, 0.6], [0.3, 0.3, 0.3, 0.3, 0.8]], [0.6, 0.3], 0.15))
        assert found.value == pytest.approx(0.45)
        assert found.spread == 0.15
        assert found.shift == pytest.approx((0 + 0.1) / 2)
        deviations = [statistics.pstdev([0.5, 0.7, 0.6, 0.6, 0.6]), statistics.pstdev([0.3, 0.3, 0.3, 0.3, 0.8])]
        assert found.deviation == pytest.approx(sum(deviations) / 2)
        assert found.relative_shift == pytest.approx(found.shift / 0.15)
        assert found.relative_deviation == pytest.approx(found.deviation / 0.15)
        assert found.best_stays == pytest.approx(4 / 5)
        assert found.tau == pytest.approx((4 - 1) / 5)
        assert (found.copies, found.undefined) == (5, 0)

    def test_means_are_over_series_whatever_their_copies(self):
        found = varied(copies([[0.1, 0.3]], [0.2]), copies([[0.5, 0.5, 0.5, 0.9]], [0.4]))
        assert found.value == pytest.approx(0.3)
        assert found.shift == pytest.approx((0 + 0.2) / 2)
        assert found.deviation == pytest.approx((0.1 + statistics.pstdev([0.5, 0.5, 0.5, 0.9])) / 2)
        assert found.copies == 6

    def test_order_against_pairs(self):
        random = np.random.default_rng(0)
        values, base = random.integers(0, 4, (4, 9)).astype(float), np.array([3.0, 1.0, 2.0, 2.0])
        found = varied(copies(values, base, 1.0))
        taus = [naive.kendall_tau(base, column) for column in values.T]
        assert found.tau == pytest.approx(statistics.mean(tau for tau in taus if not math.isnan(tau)))
        assert found.best_stays == np.mean([column[0] == max(column) for column in values.T])

    def test_of_several_best_detectors_one_must_stay(self):
        assert varied(copies([[0.1, 0.9], [0.8, 0.1], [0.5, 0.95]], [0.7, 0.7, 0.1])).best_stays == 0.5

    def test_one_detector_has_no_spread_and_no_ranking(self):
        found = varied(copies([[0.5, 0.7]], [0.6]))
        assert all(math.isnan(x) for x in (found.relative_shift, found.relative_deviation, found.best_stays, found.tau))
        assert not found.relative_deviation_interval.is_known

    def test_detectors_that_are_alike_have_no_spread(self):
        found = varied(copies([[0.5, 0.7]] * 2, [0.6] * 2, 0.0))
        assert found.deviation == pytest.approx(0.1)
        assert math.isnan(found.relative_deviation)

    def test_a_metric_that_is_undefined_for_a_copy_of_a_detector(self):
        found = varied(copies([[0.5, nan], [0.2, 0.4]], [0.6, 0.3], 0.15))
        assert found.deviation == pytest.approx(0.1)
        assert found.shift == pytest.approx(0)
        assert found.undefined == 0
        assert found.best_stays == 1  # in the copy for which it is known

    def test_a_metric_that_is_undefined_for_all(self):
        found = varied(copies([[0.5, nan]], [0.6]), copies([[0.2, 0.4]], [0.3]))
        assert found.undefined == 1
        assert found.deviation == pytest.approx(0.1)
        nowhere = varied(copies([[nan, nan]], [nan]))
        assert math.isnan(nowhere.deviation)
        assert math.isnan(nowhere.value)
        assert str(nowhere.deviation_interval) == "too few: 0 changes"

    def test_random_detections(self):
        drawn = [np.array([[[0.1], [0.3], [0.5], [0.5]]]), np.array([[[0.3], [0.5], [0.7], [0.7]]])]
        every = [Copies([0.1, 0.1, 0.2, 0.2], values, np.zeros((0, 1)), np.array([nan])) for values in drawn]
        found = list(chance_levels(["dqe"], every))
        assert [(level.density, level.metric) for level in found] == [(0.1, "dqe"), (0.2, "dqe")]
        assert [level.mean for level in found] == pytest.approx([0.3, 0.6])
        assert [level.deviation for level in found] == pytest.approx([0.1, 0])


class TestIntervals:
    def test_from_series_if_there_are_five(self):
        random = np.random.default_rng(0)
        every = [copies(random.random((2, 6)), random.random(2), spread) for spread in random.random(7)]
        found = varied(*every)
        deviations = [statistics.fmean(map(statistics.pstdev, each.values[:, :, 0].tolist())) for each in every]
        wanted = mean_intervals(np.array(deviations)[:, None], unit="series", most=np.inf)[0]
        assert found.deviation_interval == wanted
        assert found.shift_interval.low < found.shift < found.shift_interval.high
        assert found.relative_deviation_interval.unit == "series"
        assert found.relative_deviation == pytest.approx(
            statistics.fmean(deviations) / statistics.fmean(float(each.spread[0]) for each in every)
        )

    def test_of_a_ratio(self):
        """It holds a ratio that is the same everywhere, and nothing else."""
        every = [copies([[0.5 - s, 0.5 + s]] * 2, [0.5, 0.5], 2 * s) for s in (0.01, 0.02, 0.03, 0.05, 0.1)]
        found = varied(*every)
        assert found.relative_deviation == pytest.approx(0.5)
        assert found.relative_deviation_interval.low == pytest.approx(0.5)
        assert found.relative_deviation_interval.high == pytest.approx(0.5)
        assert found.deviation_interval.high > found.deviation_interval.low

    def test_from_copies_if_series_are_few(self):
        values = [0.5, 0.7, 0.6, 0.65, 0.52, 0.55]
        found = varied(copies([values, values], [0.4, 0.6], 0.1))
        off = np.array(values) - 0.5
        wanted = mean_interval(off, least=-np.inf, most=np.inf)
        assert (found.shift_interval.low, found.shift_interval.high) == pytest.approx((wanted.low, wanted.high))
        assert (found.shift_interval.units, found.shift_interval.unit) == (6, "change")
        assert found.relative_shift_interval.low == pytest.approx(10 * wanted.low)
        assert found.deviation_interval.low < found.deviation < found.deviation_interval.high

    def test_from_copies_say_nothing_of_what_series_differ_by(self):
        one, other = [0.5, 0.7, 0.6, 0.65, 0.52, 0.55], [0.1, 0.3, 0.2, 0.25, 0.12, 0.15]
        same = varied(copies([one], [0.5]), copies([other], [0.1]))
        apart = varied(copies([one], [0.5]), copies([other], [0.9]))
        width = same.shift_interval.high - same.shift_interval.low
        assert apart.shift_interval.high - apart.shift_interval.low == pytest.approx(width)

    def test_none_from_less(self):
        found = varied(copies([[0.5, 0.7, 0.6, 0.6]], [0.6]))
        assert not found.deviation_interval.is_known

    def test_fixed_steps_need_series(self):
        """They are the same each time: to draw them again says nothing."""
        values = [0.5, 0.7, 0.6, 0.65, 0.52, 0.55]
        few = [copies([values, values], [0.4, 0.6], 0.1)] * 2
        for name in ("shift", "deviation", "relative_shift", "relative_deviation"):
            interval = getattr(varied(*few, kind="lag"), f"{name}_interval")
            assert str(interval) == "too few: 2 series"
            assert getattr(varied(*few, kind="jitter"), f"{name}_interval").is_known
            assert getattr(varied(*few * 3, kind="lag"), f"{name}_interval").is_known

    def test_of_deviations_hold_them(self):
        """Nine times out of ten with ten normal draws; percentiles of drawn deviations hold it seven times."""
        random = np.random.default_rng(0)
        draws = [varied(copies([random.normal(size=10)], [0.0])).deviation_interval for _ in range(200)]
        assert sum(1.0 in interval for interval in draws) >= 170


class TestStress:
    def test_lag_by_hand(self):
        scores = {name: DEMO.scores[name] for name in ("sharp", "late")}
        found = dqeval.stress(DEMO.labels, scores, period=48, metrics=["dqe", "auc_roc"], kinds=["lag"])
        lags = (-12, -10, -7, -5, -2, 2, 5, 7, 10, 12)
        for each in found.varied:
            base, values = [], []
            for raw in scores.values():
                base.append(dqeval.panel(DEMO.labels, raw, period=48, metrics=[each.metric])[each.metric])
                late = [dqeval.panel(DEMO.labels, shift(raw, lag), period=48, metrics=[each.metric]) for lag in lags]
                values.append([panel[each.metric] for panel in late])
            assert each.value == pytest.approx(statistics.mean(base))
            assert each.spread == pytest.approx(statistics.pstdev(base))
            assert each.deviation == pytest.approx(statistics.mean(map(statistics.pstdev, values)))
            assert each.shift == pytest.approx(np.mean(np.array(values) - np.array(base)[:, None]))
            best = int(np.argmax(base))
            assert each.best_stays == np.mean([column[best] == max(column) for column in np.array(values).T])
        assert [each.copies for each in found.varied] == [10, 10]

    def test_ratio_by_hand(self):
        """Windows around one event are compared with the widest of them: the whole series has other events."""
        labels = np.zeros(400, dtype=int)
        labels[[20, 21, 22, 23, 200, 201, 202, 203]] = 1
        scores = {name: np.random.default_rng(seed).random(400) + labels for seed, name in enumerate("ab")}
        (found,) = dqeval.stress(labels, scores, near=5, metrics=["dqe"], kinds=["ratio"]).varied
        *narrower, widest = windows(dqeval.partition(labels, near=0).regions)
        dqe = {
            part: [dqeval.dqe_score(labels[slice(*part)], raw[slice(*part)], near=5) for raw in scores.values()]
            for part in (*narrower, widest)
        }
        assert found.copies == len(narrower)
        assert found.value == pytest.approx(statistics.mean(dqe[widest]))
        assert found.shift == pytest.approx(np.mean([dqe[part] for part in narrower]) - found.value)
        assert found.spread == pytest.approx(
            statistics.pstdev([dqeval.dqe_score(labels, raw, near=5) for raw in scores.values()])
        )

    def test_no_room_for_windows(self):
        found = dqeval.stress([1, 1, 1, 1, 0], [0.1, 0.4, 0.2, 0.3, 0.1], near=1, metrics=["dqe"], kinds=["ratio"])
        assert found.varied == ()
        assert "No anomaly ratio: no event has room for windows of several widths." in str(found)

    @pytest.mark.unmeasured
    def test_kinds_do_not_depend_on_each_other_nor_on_detectors(self, whole):
        for kind in ("noise", "jitter", "length"):
            alone = dqeval.stress(
                DEMO.labels, DEMO.scores, period=48, metrics=["auc_pr", "dqe", "affiliation_f1"], kinds=[kind], draws=5
            )
            assert alone.varied == tuple(whole.of(kind).values())
        one = dqeval.stress(DEMO.labels, DEMO.scores["late"], period=48, metrics=["dqe"], kinds=["jitter"], draws=5)
        other = dqeval.stress(DEMO.labels, DEMO.scores["sharp"], period=48, metrics=["dqe"], kinds=["jitter"], draws=5)
        third = dqeval.stress(DEMO.labels, DEMO.scores["jumpy"], period=48, metrics=["dqe"], kinds=["jitter"], draws=5)
        mean = statistics.mean(each.varied[0].deviation for each in (one, other, third))
        assert whole.of("jitter")["dqe"].deviation == pytest.approx(mean)

    def test_the_seed(self):
        options = {"period": 48, "metrics": ["dqe"], "kinds": ["jitter", "lag"], "draws": 5}
        one, same, other = (dqeval.stress(DEMO.labels, DEMO.scores, seed=s, **options) for s in (0, 0, 1))
        assert one.varied == same.varied
        assert one.of("jitter") != other.of("jitter")
        assert one.of("lag") == other.of("lag")

    def test_everything_there_is(self, whole):
        assert whole.kinds == tuple(PERTURBATIONS)
        assert len(whole.varied) == 21
        assert len(whole.chance) == 33
        assert whole.not_changed == {}
        assert whole.detectors == ("sharp", "late", "jumpy")

    def test_several_series(self):
        series = [dqeval.datasets.synthetic(n=400, period=20, events=3, seed=seed) for seed in range(5)]
        prepared = [
            prepare(Series(f"s{i}", each.labels, {"a": np.abs(each.values), "b": each.values}, period=20))
            for i, each in enumerate(series)
        ]
        nothing = prepare(Series("none", np.zeros(50), {"a": np.arange(50.0)}, period=20))
        found = stress_of([*prepared, nothing], metrics=["dqe"], kinds=["jitter"], draws=3)
        assert found.left_out == ("none",)
        assert "Left out, because no label there is 1: none." in found.page().text()
        (only,) = found.varied
        assert only.copies == 15
        assert only.deviation_interval.unit == "series"
        alone = stress_of(prepared[:1], metrics=["dqe"], kinds=["jitter"], draws=3).varied[0]
        assert only.value != alone.value
        text = found.page().text()
        assert text.startswith("5 series: 2,000 points, 15 events, 2 detectors; near 10, half the period of the series")
        assert "(series drawn again)" in text
        assert "the best detector of a series stays best in" in text

    def test_near_ranges_of_several_series(self):
        every = [prepare(Series(f"s{near}", [0, 1, 0, 0], {"a": [0, 1, 2, 3]}), near=near) for near in (1, 3)]
        assert "near 1 to 3, as given" in stress_of(every, metrics=["dqe"], kinds=["delay"], draws=2).title

    def test_one_detector(self):
        found = dqeval.stress(DEMO.labels, DEMO.scores["late"], period=48, metrics=["dqe"], draws=3)
        assert found.detectors == ("scores",)
        text = str(found)
        assert "There is one detector, so there is no spread" in text
        assert "SD/spread" not in text
        assert "best stays" not in text
        assert "nan" not in text
        assert found.plot("lag").get_xlabel() == "standard deviation"

    def test_detections(self):
        detected = {"a": (DEMO.scores["late"] > 0.5).astype(int), "b": DEMO.scores["sharp"]}
        found = dqeval.stress(
            DEMO.labels, detected, period=48, metrics=["dqe", "auc_pr"], kinds=["noise", "lag"], draws=3
        )
        assert found.of("noise")["dqe"].value == dqeval.dqe_score(DEMO.labels, DEMO.scores["sharp"], period=48)
        assert math.isnan(found.of("noise")["dqe"].tau)
        assert "–" in found.ranking_table().text()
        none = dqeval.stress(DEMO.labels, detected["a"], period=48, metrics=["dqe"], kinds=["noise", "lag"], draws=3)
        assert none.kinds == ("lag",)
        assert none.not_changed == {"noise": (1, "0/1 detections have no score to add noise to")}
        assert "No score noise: 0/1 detections have no score to add noise to." in str(none)

    def test_kinds_that_some_series_cannot_be_changed_by(self):
        short = prepare(Series("short", [0, 1, 0, 0, 0, 0], {"a": [0, 1, 2, 3, 1, 2]}), near=2)
        long = prepare(Series("long", [0, 1, 1, 1, 0, 0], {"a": [0, 1, 2, 3, 1, 2]}), near=2)
        found = stress_of([short, long], metrics=["dqe"], kinds=["splits"], draws=2)
        assert found.varied[0].copies == 1
        assert "so none can be split (1 of 2 series)." in str(found)
        assert "(1 changed copy)" in str(found)
        assert "Intervals need five series, or five changed copies that are random draws." in str(found)

    def test_without_a_near_range_there_is_no_lag(self):
        found = dqeval.stress(DEMO.labels, DEMO.scores, near=0, metrics=["dqe"], kinds=["lag", "splits"])
        assert found.kinds == ("splits",)
        assert "No lag: the near range is below one point, so there is no period to move scores by." in str(found)

    def test_a_single_copy_has_a_shift_but_no_deviation(self):
        scores = {"a": [0, 1, 2, 3, 1, 2], "b": [1, 3, 0, 2, 0, 0]}
        found = dqeval.stress([0, 1, 1, 1, 0, 0], scores, near=2, metrics=["dqe"], kinds=["splits"])
        only = found.of("splits")["dqe"]
        assert (only.copies, only.undefined) == (1, 0)
        assert math.isfinite(only.shift)
        assert math.isfinite(only.relative_shift)
        assert math.isnan(only.deviation)
        assert math.isnan(only.relative_deviation)
        assert found.table("splits").rows[0][-1] == "–"

    def test_detectors_that_are_alike_have_no_spread(self):
        """Not even by rounding: the mean of three times 0.1 is not 0.1."""
        alike = np.full((3, 1), 0.1)
        assert alike.std(axis=0)[0] > 0
        assert spread_between(alike).tolist() == [0]
        labels = np.arange(600) < 60
        constant = dict.fromkeys("abc", np.full(600, 0.5))
        (found,) = dqeval.stress(labels, constant, near=24, metrics=["auc_pr"], kinds=["jitter"]).varied
        assert found.spread == 0
        assert math.isnan(found.relative_shift)

    def test_there_are_no_columns_for_intervals_that_nobody_knows(self):
        found = dqeval.stress(DEMO.labels, DEMO.scores, period=48, metrics=["dqe"], kinds=["lag", "jitter"], draws=5)
        assert found.table("lag").header == ["metric", "value", "shift", "SD", "shift/spread", "SD/spread"]
        assert found.table("jitter").header.count("95 % interval") == 4

    def test_undefined_metrics(self):
        labels = np.zeros(60, dtype=int)
        labels[:50] = 1
        scores = {"a": np.arange(60.0), "b": np.arange(60.0) % 7}
        found = dqeval.stress(labels, scores, near=3, metrics=["auc_roc", "dqe"])
        assert all(math.isfinite(each.value) for each in found.varied)
        every = dqeval.stress(np.ones(60), scores, near=3, metrics=["auc_roc", "dqe"])
        assert every.of("lag")["auc_roc"].undefined == 1
        text = str(every)
        assert "Undefined in a copy with lag, and so without a number there: AUC-ROC." in text
        assert "nan" not in text
        only = dqeval.stress(np.ones(60), scores, near=3, metrics=["auc_roc"])
        assert "By AUC-ROC, the best detector stays best in no copy that anyone knows of: it is undefined." in str(only)

    def test_no_anomaly(self):
        with pytest.raises(dqeval.UndefinedError, match="no label is 1"):
            dqeval.stress(np.zeros(20), np.arange(20.0))
        with pytest.raises(ValueError, match="there is no series to change"):
            stress_of([])

    def test_a_clock_with_a_gap(self):
        times = [*range(100), *range(200, 300)]
        labels = np.zeros(200, dtype=int)
        labels[95:105] = labels[150:155] = 1
        columns = {"label": labels, "timestamp": times, "mine": np.arange(200) % 17.0, "other": np.arange(200) % 5.0}
        prepared = prepare(columns, near=10, clock=dqeval.core.sampling.Clock(resolution=1, times=times))
        assert len(prepared.labelled.events) == 3
        found = stress_of([prepared], metrics=["dqe", "vus_pr"], draws=3)
        assert found.kinds == tuple(PERTURBATIONS)
        assert all(math.isfinite(each.deviation) for each in found.varied)

    def test_wrong_arguments(self):
        with pytest.raises(ValueError, match="y_score is empty: give the scores of at least one detector"):
            dqeval.stress([0, 1], {})
        with pytest.raises(ValueError, match=r"^detector b: y_score must be finite"):
            dqeval.stress([0, 1], {"a": [0, 1], "b": [nan, 1]})
        with pytest.raises(ValueError, match=r"^the name of a detector in y_score must be a text: got 3"):
            dqeval.stress([0, 1], {3: [0, 1]})
        with pytest.raises(ValueError, match=r"^y_score must be finite"):
            dqeval.stress([0, 1], [nan, 1])
        with pytest.raises(ValueError, match="kinds is empty: name at least one, or leave it out"):
            dqeval.stress([0, 1], [0, 1], kinds=[])
        with pytest.raises(ValueError, match="kinds has no 'jiter': did you mean 'jitter'"):
            dqeval.stress([0, 1], [0, 1], kinds=["jiter"])
        with pytest.raises(ValueError, match="draws must be a whole number of at least 2: got 1"):
            dqeval.stress([0, 1], [0, 1], draws=1)

    def test_progress(self):
        told = []
        dqeval.stress(
            DEMO.labels,
            DEMO.scores,
            period=48,
            metrics=["auc_roc"],
            kinds=["lag", "random"],
            draws=2,
            progress=lambda *step: told.append(step),
        )
        assert told == [(done, 7) for done in range(1, 8)]

    def test_interrupted(self):
        def interrupt(done, total):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            dqeval.stress(DEMO.labels, DEMO.scores, metrics=["auc_roc"], kinds=["lag"], progress=interrupt)


class TestShown:
    def test_the_verdict_names_the_weakest_metric_too(self, whole):
        sentences = whole.verdict.split(". ")
        assert len(sentences) == 2
        assert sentences[0].startswith("By DQE, the best detector stays best in ")
        assert " % of the copies with " in sentences[0]
        assert sentences[1].startswith("By AF, ")

    def test_the_verdict_where_nothing_is_lost(self):
        labels = np.zeros(300, dtype=int)
        labels[100:120] = 1
        scores = {"good": labels + 0.001 * np.arange(300), "bad": 0.001 * np.arange(300) - labels}
        found = dqeval.stress(labels, scores, near=4, metrics=["auc_roc"], kinds=["jitter"], draws=3)
        assert found.verdict == "By AUC-ROC, the best detector stays best in all changed copies."

    def test_the_verdict_where_every_change_costs_the_place(self):
        labels = np.zeros(300, dtype=int)
        labels[100:103] = 1
        scores = {"exact": labels.astype(float), "smooth": np.exp(-(((np.arange(300) - 101) / 20) ** 2))}
        found = dqeval.stress(labels, scores, near=20, metrics=["auc_pr"], kinds=["lag"])
        assert found.verdict.startswith("By AUC-PR, the best detector stays best in ")
        assert "others" not in found.verdict

    def test_page(self, whole):
        text = whole.page().text()
        assert text.startswith("series: 1,600 points, 6 events, 3 detectors; near 24, half the given period\n")
        for each in PERTURBATIONS.values():
            assert f"{each.label[0].upper()}{each.label[1:]}: {each.definition} (" in text
        assert "Random draws: 5, seed 0." in text
        assert "(copies drawn again), for random draws only. They say nothing of other series" in text
        assert max(map(len, whole.overview_table().text().splitlines())) <= 120
        assert max(map(len, whole.ranking_table().text().splitlines())) <= 120
        assert whole._repr_html_().startswith("<p")
        row = next(line for line in whole.table("jitter").rows if line[0] == "DQE")
        each = whole.of("jitter")["dqe"]
        assert row[1] == f"{each.value:.3f}"
        assert row[2] == f"{each.shift:+.3f}"
        assert row[8] == f"{each.relative_deviation:.2f}"

    def test_only_random_detections(self):
        found = dqeval.stress(DEMO.labels, DEMO.scores, metrics=["dqe"], kinds=["random"], draws=2)
        assert found.varied == ()
        assert "Random detections: each point detected at random" in str(found)
        assert found.to_frame().empty

    def test_records_frames_and_numbers(self, whole):
        rows = whole.records()
        assert len(rows) == 21 + 33
        first = rows[0]
        each = whole.varied[0]
        assert (first["kind"], first["metric"], first["deviation"]) == ("lag", "auc_pr", each.deviation)
        assert (first["deviation_low"], first["deviation_high"]) == (
            each.deviation_interval.low,
            each.deviation_interval.high,
        )
        assert (rows[-1]["kind"], rows[-1]["density"]) == ("random", 0.99)
        frame = whole.to_frame()
        assert frame.shape == (21, len(first))
        assert frame["tau"].tolist() == [each.tau for each in whole.varied]
        numbers = whole.numbers()
        assert numbers["verdict"] == whole.verdict
        assert len(numbers["varied"]) == 21
        assert len(numbers["chance"]) == 33

    def test_wrong_kind(self, whole):
        with pytest.raises(ValueError, match="kind must be 'lag', 'noise', 'jitter'"):
            whole.plot("lags")

    def test_plot(self, whole):
        ax = whole.plot("jitter")
        found = whole.of("jitter")
        order = sorted(found, key=lambda metric: found[metric].relative_deviation)
        assert [label.get_text() for label in ax.get_yticklabels()] == [whole.labels[metric] for metric in order]
        assert [bar.get_width() for bar in ax.patches] == pytest.approx([found[m].relative_deviation for m in order])
        ends = [found[metric].relative_deviation_interval for metric in order]
        assert [tuple(line.get_xdata()) for line in ax.lines] == [(each.low, each.high) for each in ends]

    def test_figure(self, whole):
        figure = stress_figure(whole)
        assert [ax.get_title() for ax in figure.axes] == [each.label for each in PERTURBATIONS.values()]

    @pytest.mark.unmeasured
    def test_html(self, whole, tmp_path):
        stress_report(whole, tmp_path / "a.html")
        stress_report(whole, tmp_path / "b.html")
        text = (tmp_path / "a.html").read_text(encoding="utf-8")
        assert text == (tmp_path / "b.html").read_text(encoding="utf-8")
        for title in ("Deviations", "Rankings", "Every change", "Random detections", "Notes"):
            assert f">{title}</h2>" in text
        assert text.count("<svg role=") == 1
        assert "currentColor" in text
        assert "#000000" not in text.partition("<svg role=")[2].partition("</svg>")[0]
        assert "<summary>Label jitter</summary>" in text

    def test_html_of_one_detector_and_of_chance(self, tmp_path):
        one = dqeval.stress(DEMO.labels, DEMO.scores["late"], metrics=["dqe"], kinds=["lag"])
        stress_report(one, tmp_path / "one.html")
        text = (tmp_path / "one.html").read_text(encoding="utf-8")
        assert ">Rankings</h2>" not in text
        assert ">Random detections</h2>" not in text
        chance = dqeval.stress(DEMO.labels, DEMO.scores["late"], metrics=["dqe"], kinds=["random"], draws=2)
        stress_report(chance, tmp_path / "chance.html")
        assert ">Deviations</h2>" not in (tmp_path / "chance.html").read_text(encoding="utf-8")

    def test_html_without_matplotlib(self, whole, tmp_path, monkeypatch):
        def missing():
            raise ValueError("plots need matplotlib")

        monkeypatch.setattr("dqeval.render.stress_page.require_matplotlib", missing)
        stress_report(whole, tmp_path / "a.html")
        text = (tmp_path / "a.html").read_text(encoding="utf-8")
        assert "There is no diagram: plots need matplotlib." in text
        assert "<svg role=" not in text


QUICK = ("--metrics", "dqe,auc_pr", "--draws", "3", "--period", "48")


class TestCommand:
    def test_table(self, call, tmp_path):
        found = call("stress", write_demo(tmp_path / "scores.csv"), *QUICK)
        assert found.code == 0
        assert found.out.startswith("scores.csv: 1,600 points, 6 events, 3 detectors; near 24, half the given period\n")
        direct = dqeval.stress(DEMO.labels, DEMO.scores, period=48, metrics=["dqe", "auc_pr"], draws=3)
        assert direct.overview_table().text() in found.out

    def test_kinds_in_any_order(self, call, tmp_path):
        demo = write_demo(tmp_path / "scores.csv")
        found = call("stress", demo, *QUICK, "--kinds", "splits,lag", "--kinds", "jitter", "--format", "csv")
        kinds = [line.split(",")[0] for line in found.out.splitlines()[1:]]
        assert kinds == [kind for kind in ("lag", "jitter", "splits") for _ in range(2)]
        wrong = call("stress", demo, "--kinds", "delays")
        assert (wrong.code, wrong.err) == (2, "dqeval: kinds has no 'delays': did you mean 'delay'?\n")

    def test_a_receipt_can_be_verified(self, call, tmp_path):
        demo = write_demo(tmp_path / "scores.csv")
        done = call("stress", demo, *QUICK, "--kinds", "noise,length", "--format", "json", "-o", tmp_path / "r.json")
        assert done.code == 0
        receipt = json.loads((tmp_path / "r.json").read_text())
        assert receipt["parameters"]["kinds"] == ["noise", "length"]
        assert call("verify", tmp_path / "r.json", demo).code == 0
        receipt["results"]["varied"][0]["shift"] += 0.001
        (tmp_path / "r.json").write_text(json.dumps(receipt))
        assert call("verify", tmp_path / "r.json", demo).code == 1
        receipt["parameters"]["draws"] = "three"
        (tmp_path / "r.json").write_text(json.dumps(receipt))
        assert "its parameter draws is not valid" in call("verify", tmp_path / "r.json", demo).err
        receipt["parameters"] |= {"draws": 3, "seed": None}
        (tmp_path / "r.json").write_text(json.dumps(receipt))
        assert "its parameter seed is not valid" in call("verify", tmp_path / "r.json", demo).err

    def test_a_page_and_a_figure(self, call, tmp_path):
        demo = write_demo(tmp_path / "scores.csv")
        page, figure = tmp_path / "stress.html", tmp_path / "stress.svg"
        found = call("stress", demo, *QUICK, "--kinds", "lag", "--html", page, "--figure", figure)
        assert found.code == 0
        assert found.err == f"dqeval: wrote {page}\ndqeval: wrote {figure}\n"
        assert "<h1>Stress test of scores.csv</h1>" in page.read_text(encoding="utf-8")
        assert "onset" not in figure.read_text(encoding="utf-8")
        assert call("stress", demo, "--html", tmp_path / "page.txt").code == 2
        assert "png, svg or pdf" in call("stress", demo, "--figure", tmp_path / "figure.gif").err
        alarms = tmp_path / "alarms.csv"
        alarms.write_text("label,mine\n" + "0,0\n" * 20 + "1,1\n" * 3 + "0,0\n" * 20)
        none = call("stress", alarms, "--near", "3", "--metrics", "dqe", "--kinds", "noise,random", "--figure", figure)
        assert "random detections alone have no figure" in none.err
        assert "there is no directory" in call("stress", demo, "--figure", tmp_path / "no" / "figure.png").err
        nothing = call("stress", demo, *QUICK, "--kinds", "random", "--figure", figure)
        assert (nothing.code, nothing.out) == (2, "")
        assert "random detections alone have no figure" in nothing.err

    def test_interrupted(self, call, tmp_path, monkeypatch):
        def interrupted(*_, **__):
            raise KeyboardInterrupt

        demo = write_demo(tmp_path / "scores.csv")
        monkeypatch.setattr(stress_module, "panel_of", interrupted)
        found = call("stress", demo, "--html", tmp_path / "page.html", "-o", tmp_path / "out.txt")
        assert (found.code, found.out, found.err) == (130, "", "dqeval: interrupted\n")
        assert sorted(path.name for path in tmp_path.iterdir()) == ["scores.csv"]

    def test_names_are_completed(self):
        from dqeval.cli.stress import _kinds

        assert _kinds() == KINDS


@pytest.mark.data
@pytest.mark.slow
@pytest.mark.unmeasured
def test_jitter_on_real_scores(real_scores):
    """The table of docs/stress.md, with seed 0."""
    names = sorted({key.rpartition("/")[0] for key in real_scores.files})
    assert len(names) == 20
    metrics = ("affiliation_f1", "vus_pr", "vus_roc", "dqe", "pate", "auc_pr", "range_f1", "etapr_f1")

    def series():
        for name in names:
            columns = (real_scores[f"{name}/{what}"].astype(float) for what in ("data", "label", "score"))
            values, labels, scores = columns
            yield prepare(Series(name, labels, {name.rpartition("_")[2]: scores}, values))

    found = stress_of(series(), metrics=metrics, kinds=["jitter"]).of("jitter")
    shown = [0.001, 0.015, 0.025, 0.028, 0.030, 0.030, 0.047, 0.068]
    assert [round(found[metric].deviation, 3) for metric in metrics] == shown
    assert str(found["dqe"].deviation_interval) == "[0.015, 0.044]"


def test_a_spread_that_is_shown_as_0_has_no_multiples():
    """Metrics by which two detectors differ by rounding, or by less than anybody sees, are given as they are."""
    labels = np.zeros(300)
    labels[100:120] = 1
    scores = np.random.default_rng(0).random(300) + labels
    other = scores + 1e-3 * np.random.default_rng(1).random(300)
    alike = dqeval.stress(labels, {"a": scores, "b": other}, near=5, metrics=["dqe"], kinds=["jitter"])
    (found,) = alike.varied
    assert 0 < found.spread < 5e-4
    assert np.isnan(found.relative_deviation)
    assert found.deviation > 0
