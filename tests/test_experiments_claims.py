"""The experiments on what the paper says without a table: labels, thresholds, near ranges, chance, levels."""

from dataclasses import replace
from functools import partial
from math import nan

import numpy as np
import pytest

import dqeval
from dqeval.core.prepared import Labelled
from dqeval.datasets.loading import Source
from dqeval.experiments import (
    Setting,
    check,
    dataset_table,
    detector_runs,
    label_changes,
    levels,
    near_range,
    random_detections,
    rankings,
    reproduce,
    score_plots,
    threshold_choice,
)
from dqeval.experiments.by_choice import ByChoice, by_choice
from dqeval.experiments.collect import collect
from dqeval.experiments.detector_runs import BEYOND, DetectorRun, generated_series, run_detectors
from dqeval.experiments.outcome import OURS, PAPER_METRICS, PUBLISHED, Cell, Claim
from dqeval.experiments.ranked import ranked_rows
from dqeval.experiments.resamples import COUNT, Resamples, verdict_of
from dqeval.experiments.score_work import SeededJob
from dqeval.experiments.summary import write_summary
from dqeval.experiments.varied import SeriesSpreads, Varied
from dqeval.experiments.verdicts import Decision, decision, of_both_forms

QUICK = ("KMeansAD", "FFT")
SMALL = partial(generated_series, n=600, period=24, events=3)
KINDS = {"one": "the first kind", "two": "the second kind"}


@pytest.fixture(scope="module")
def collected(tmp_path_factory):
    """Return the setting of a run on five generated series with two seeds, what it told, and the run."""
    told = []
    setting = Setting(tmp_path_factory.mktemp("collected"), subset=5, seeds=2, progress=told.append)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(detector_runs, "usable_detectors", lambda: QUICK)
        patch.setattr(detector_runs, "generated_series", SMALL)
        yield setting, told, collect(setting)


@pytest.fixture(scope="module")
def found(collected):
    """Return the outcomes of all experiments that use such a run."""
    names = ("datasets", "rankings", "robustness", "label-changes", "threshold-choice", "near-range")
    return {name: next(reproduce(name, collected[0])) for name in names}


def first_run(runs, detector="FFT", by=OURS):
    return runs.first(runs.series[0], detector, by)


def one_cell(outcome, **where):
    (cell,) = [cell for cell in outcome.cells if all(getattr(cell, name) == value for name, value in where.items())]
    return cell


class TestCollect:
    def test_everything_is_kept(self, collected, found):
        setting, told, _ = collected
        lines = {path.name: len(path.read_text().splitlines()) for path in setting.folder.glob("*.jsonl")}
        # Five series; KMeansAD with two seeds, FFT with one, and SR in this library's form.
        assert lines == {
            "published_dqe.jsonl": 15,
            "robustness.jsonl": 15,
            "label_changes.jsonl": 15,
            "threshold_choice.jsonl": 20,
            "near_range.jsonl": 20,
        }
        # Once more, there is nothing left to do but to tell it.
        after = told[told.index("changed labels: 15 of 15") + 1 :]
        assert set(after) == {
            "datasets: synthetic",
            "detectors: 25 of 25 jobs, 0 failed",
            "detectors: 20 of 20 jobs, 0 failed",
        }

    def test_seeds_are_told_in_the_tables(self, found):
        table = found["rankings"].tables["Rankings on synthetic"]
        kinds = {(row[0], row[1]) for row in table.rows}
        assert ("KMeansAD", "± by seed") in kinds
        assert ("FFT", "± by seed") not in kinds
        levels_table = found["rankings"].tables["DQE on synthetic, by series and by event"]
        assert "±, the standard deviation from seed to seed" in levels_table.note
        (shown,) = [row[2] for row in levels_table.rows if row[:2] == ("KMeansAD", "dqeval")]
        assert " ± 0.0" in shown
        kmeans, fft = (one_cell(found["rankings"], row=row, metric="vus_pr", by=OURS) for row in QUICK)
        assert kmeans.deviation > 0
        assert fft.deviation == 0
        rows = [row[0] for row in found["robustness"].tables["Robustness, synthetic"].rows]
        assert rows == [f"{kind}{what}" for kind in ("lag", "noise", "anomaly ratio") for what in ("", ", ± by seed")]

    def test_every_verdict_on_many_series_has_its_share(self, found):
        claims = [claim for outcome in found.values() for claim in outcome.claims]
        assert len(claims) > 10
        assert [claim.text for claim in claims if claim.share is None] == []

    def test_means_over_the_seeds_are_theirs(self, collected, found):
        runs = collected[2]
        values = [runs.value(each, "auc_pr") for each in runs.each_run(OURS) if each.detector == "KMeansAD"]
        cell = one_cell(found["rankings"], row="KMeansAD", metric="auc_pr", by=OURS)
        assert cell.ours == pytest.approx(np.mean(values), abs=1e-12)
        by_seed = [np.mean(values[seed::2]) for seed in (0, 1)]
        assert cell.deviation == pytest.approx(np.std(by_seed, ddof=1), abs=1e-12)

    def test_tables_fit_a_page(self, found, undrawn, tmp_path):
        for outcome in found.values():
            outcome.write(tmp_path)
        for path in tmp_path.rglob("*.tex"):
            text = path.read_text()
            assert text.startswith("\\begin{adjustbox}{max width=\\linewidth, max totalheight=0.95\\textheight}\n")
            assert text.endswith("\\end{adjustbox}\n")
        claims = (tmp_path / "robustness-generated" / "claims.tex").read_text()
        shares = [float(part.partition("\\")[0]) for part in claims.splitlines()[1].split("p{")[1:]]
        assert 1 <= len(shares) <= 3
        assert sum(shares) <= 0.9


# Resamples and verdicts


class TestResamples:
    def test_means_of_draws(self):
        resamples = Resamples(6)
        assert resamples.times.shape == (COUNT, 6)
        assert set(resamples.times.sum(axis=1)) == {6}
        sums, sizes = np.arange(12.0).reshape(6, 2), np.array([1.0, 2, 1, 1, 3, 1])
        found = resamples.means(sums, sizes)
        number = 17
        times = resamples.times[number]
        by_repeat = times @ sums / (times @ sizes)
        possible = [by_repeat[0], by_repeat.mean(), by_repeat[1]]
        assert any(found[number] == pytest.approx(each) for each in possible)
        assert abs(found.mean() - (sums.sum(axis=0) / sizes.sum()).mean()) < 0.3

    def test_none_of_the_series_with_a_value_may_be_drawn(self):
        found = Resamples(5).means(np.array([[1.0], [0], [0], [0], [0]]), np.array([1.0, 0, 0, 0, 0]))
        assert 0 < np.isnan(found).sum() < COUNT
        assert set(found[np.isfinite(found)]) == {1}

    def test_errors_are_those_of_a_ratio_in_each_draw(self):
        rng = np.random.default_rng(0)
        resamples, sums, sizes = Resamples(7), rng.random((7, 1)), np.array([1.0, 2, 1, 4, 3, 1, 2])
        number, found = 5, resamples.errors(sums, sizes)
        chosen = np.repeat(np.arange(7), resamples.times[number].astype(int))
        total = sizes[chosen].sum()
        mean = sums[chosen, 0].sum() / total
        assert found[number] == pytest.approx(np.sqrt(((sums[chosen, 0] - mean * sizes[chosen]) ** 2).sum()) / total)
        # Of series with a value each, the standard error of a mean; seeds are those that its resample has.
        values, ones = rng.random((7, 2)), np.ones(7)
        drawn = resamples.each(values, stream=3)[number]
        assert resamples.errors(values, ones, stream=3)[number] == pytest.approx(np.std(drawn[chosen]) / np.sqrt(7))
        assert resamples.means(values, ones, stream=3)[number] == pytest.approx(drawn[chosen].mean())

    def test_errors_are_as_far_as_means_of_draws_differ(self):
        rng = np.random.default_rng(1)
        sizes = rng.integers(1, 9, 200).astype(float)
        sums = sizes[:, None] * rng.random((200, 1))
        resamples = Resamples(200)
        spread = np.std(resamples.means(sums, sizes))
        assert np.median(resamples.errors(sums, sizes)) == pytest.approx(spread, rel=0.06)

    @pytest.mark.parametrize(
        ("share", "holds"), [(1, True), (0.95, True), (0.94, None), (0.06, None), (0.05, False), (0, False)]
    )
    def test_verdicts(self, share, holds):
        assert verdict_of(share) is holds

    def test_a_decision(self):
        decided = decision(Resamples(5), "so", lambda i: i % 2 == 0)
        assert decided == Decision(None, "so", 0.5)
        assert decided.as_claim("1", "text").verdict_and_share == "open (50 % of resamples)"
        few = decision(Resamples(4), "so", lambda i: True).as_claim("1", "text")
        assert (few.holds, few.share, few.verdict_and_share) == (None, None, "too few series (4)")

    @pytest.mark.parametrize(
        ("share", "shown"),
        [(1, "100 %"), (0.9999, "99.9 %"), (0.9512, "95.1 %"), (0.0001, "0.1 %"), (0, "0 %")],
    )
    def test_shares_in_words(self, share, shown):
        claim = Claim("1", "text", verdict_of(share), "", share)
        assert claim.verdict_and_share.endswith(f"({shown} of resamples)")
        assert claim.record()["share"] == share

    @pytest.mark.parametrize(
        ("ours", "told"),
        [
            (Decision(True, "b", 1.0), "a; dqeval: b"),
            (Decision(False, "b", 0.0), "a; dqeval: b, where it does not hold"),
            (Decision(None, "b", 0.5), "a; dqeval: b, where it is open"),
            (Decision(None, "b"), "a; dqeval: b, where it cannot be told"),
            (Decision(True, "a", 1.0), "a"),
        ],
    )
    def test_both_forms(self, ours, told):
        claim = of_both_forms("1", "text", Decision(True, "a", 1.0), ours)
        assert (claim.holds, claim.found) == (True, told)
        turned = of_both_forms("1", "text", Decision(False, "a", 0.0), Decision(True, "b", 1.0))
        assert turned.found == "a; dqeval: b, where it holds"


class TestCells:
    @pytest.mark.parametrize(
        ("ours", "deviation", "inside"),
        [(0.652, 0.01, True), (0.652, 0.006, False), (0.645, 0, True), (0.6451, 0, False), (0.65, None, None)],
    )
    def test_inside_what_seeds_give(self, ours, deviation, inside):
        assert Cell("x", "t", "r", "dqe", ours, "0.64", deviation=deviation).inside is inside

    def test_nothing_is_inside_where_nothing_is_printed(self):
        assert Cell("x", "t", "r", "dqe", 0.5, None, deviation=0.1).inside is None
        assert Cell("x", "t", "r", "dqe", nan, "0.64", deviation=0.1).inside is None

    def test_printed_numbers_outside_are_in_brackets(self):
        cells = [
            Cell("x", "t", row, metric, 0.5, published, by, 0.01)
            for row, published in (("a", "0.50"), ("b", "0.60"))
            for by in (PUBLISHED, OURS)
            for metric in PAPER_METRICS
        ]
        table = rankings.means_table(cells, ("a", "b"))
        assert table.rows[0][1:3] == ("printed", "0.50")
        assert table.rows[5][1:3] == ("printed", "(0.60)")
        assert "11 of 22 printed numbers lie within mean ± SD" in table.note
        assert (5, 2) in table.marked


# Metrics under change


def changing(series, *values, kind="one", detector="", seed=0, given=None):
    spreads = {kind: {metric: list(values) for metric in PAPER_METRICS}}
    return SeriesSpreads(series, spreads, detector, seed, given or {})


class TestVaried:
    def test_means_over_seeds_and_streams_first(self):
        found = [changing("a", 0.1, 0.3, detector="x"), changing("a", 0.2, 0.4, detector="x", seed=1)]
        varied = Varied([*found, changing("b", 0.5, 0.7, detector="x")], {"one": "kind"})
        assert varied.means["one"]["dqe"] == pytest.approx((0.25 + 0.6) / 2)
        # Repeats: both streams of the first seed, both of the second; where there is one seed, its streams in turn.
        means = [(0.1 + 0.5) / 2, (0.3 + 0.7) / 2, (0.2 + 0.5) / 2, (0.4 + 0.7) / 2]
        assert varied.deviations["one"]["dqe"] == pytest.approx(np.std(means, ddof=1))

    def test_a_kind_that_a_series_cannot_be_changed_by(self):
        varied = Varied([changing("a", 0.1), changing("b", 0.3, kind="two")], KINDS)
        assert varied.means["one"]["dqe"] == pytest.approx(0.1)
        assert varied.means["two"]["dqe"] == pytest.approx(0.3)
        assert np.isnan(varied.deviations["one"]["dqe"])

    def test_beside_the_spread_between_detectors(self):
        given = [dict.fromkeys(PAPER_METRICS, value) for value in (0.2, 0.4, 0.8)]
        found = [
            changing("a", 0.1, detector="x", given=given[0]),
            changing("a", 0.1, detector="y", given=given[1]),
            changing("a", 0.1, detector="y", seed=1, given=given[2]),
            changing("b", 0.1, detector="x", given=given[0]),
        ]
        varied = Varied(found, {"one": "kind"})
        assert varied.between["dqe"] == pytest.approx(0.2)  # between 0.2 and the mean 0.6; alone, b tells nothing
        assert varied.relative["one"]["dqe"] == pytest.approx(0.5)
        rows = varied.relative_table().rows
        assert rows == [("between detectors", *["0.200"] * 11), ("kind, as a share", *["0.50"] * 11)]
        alone = Varied(found[:1], {"one": "kind"})
        assert np.isnan(alone.relative["one"]["dqe"])
        assert np.isnan(next(alone.resampled_relative("one"))["dqe"])

    def test_shares_are_of_the_spread_in_the_same_resample(self):
        """Where each series moves by half its own spread, so does every resample, whichever series it has."""
        found = [
            changing(name, 0.5 * spread, detector=detector, given=dict.fromkeys(PAPER_METRICS, value))
            for name, spread in zip("abcde", (0.1, 0.2, 0.3, 0.4, 0.05), strict=True)
            for detector, value in (("x", 0.5 - spread), ("y", 0.5 + spread))
        ]
        varied = Varied(found, {"one": "kind"})
        assert len({each["dqe"] for each in varied.resampled("one")}) > 10
        assert [each["dqe"] for each in varied.resampled_relative("one")] == pytest.approx([0.5] * COUNT)


class TestLabelChanges:
    def test_by_hand(self, collected):
        runs = collected[2]
        of = first_run(runs)
        series, scores = of.series.source.read(), runs.scores(of)
        found = label_changes.changes_of(SeededJob(runs.job(of), 0))
        assert list(found) == list(label_changes.KINDS)
        random = SeededJob(runs.job(of), 0).stream(0)
        labels = np.asarray(series.labels, dtype=bool)
        copies = list(label_changes.changed_labels("point", Labelled(labels), 24, random))
        assert len(copies) == label_changes.DRAWS
        assert {abs(int(copy.sum()) - int(labels.sum())) <= 6 for copy in copies} == {True}
        before = dqeval.dqe_score(labels, scores, period=24)
        values = [dqeval.dqe_score(copy, scores, period=24) for copy in copies]
        deviation, moves = found["point"]["dqe"]
        assert deviation == pytest.approx(np.std(values), abs=1e-12)
        assert moves == pytest.approx(np.mean(np.abs(np.array(values) - before)), abs=1e-12)

    def test_events_of_one_point_cannot_be_split(self):
        labels = np.zeros(50, dtype=bool)
        labels[[10, 30]] = True
        random = np.random.default_rng(0)
        assert list(label_changes.changed_labels("split", Labelled(labels), 10, random)) == []
        scores = np.linspace(0, 1, 50)
        task = SeededJob(FakeJob(), 0)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(label_changes, "scored_series", lambda job: detector_runs.ScoredSeries(labels, scores, 10))
            assert list(label_changes.changes_of(task)) == ["point", "period"]

    def test_claims(self, found):
        claims = found["label-changes"].claims
        assert [claim.section for claim in claims] == ["2.1", "2.1"]
        assert all(0 <= claim.share <= 1 for claim in claims)
        calm = varied_labels(dqe=0.1)
        assert [claim.share for claim in calm.claims] == [1, 0]
        assert calm.claims[0].found == "DQE 0.100, Original-F 0.200, AUC-PR 0.200, PA-K 0.200"
        few = label_changes.outcome({"WSD": calm_series(0.1)[:2]}, [])
        assert {claim.verdict for claim in few.claims} == {"too few series (1)"}

    def test_the_figure(self, found):
        figure = found["label-changes"].figures["label_changes"]()
        assert len(figure.axes) == 3
        assert figure.axes[0].get_xlabel() == "mean change"


class FakeJob:
    """A job of which only the name of the series is asked for."""

    class series:  # noqa: N801
        class source:  # noqa: N801
            name = "fake"


def calm_series(dqe):
    """Return five series with two detectors, for which DQE moves by so much and all others by 0.2."""
    given = [dict.fromkeys(PAPER_METRICS, value) | {"dqe": 0.5 + (value - 0.5) / 10} for value in (0.2, 0.8)]
    moves = {metric: [0.2] for metric in PAPER_METRICS} | {"dqe": [dqe]}
    return [
        SeriesSpreads(f"s{i}", dict.fromkeys(label_changes.KINDS, moves), detector, 0, values)
        for i in range(5)
        for detector, values in zip("xy", given, strict=True)
    ]


def varied_labels(dqe):
    return label_changes.outcome({"WSD": calm_series(dqe)}, ["A note.", ""])


# Choices


def chosen(values, choices=("usual", "other"), detectors=("a", "b")):
    """Return values, series × detectors × choices, of one seed."""
    values = np.array(values, dtype=float)
    by_seed = [values[:, j].T[:, :, None] for j in range(len(detectors))]
    return ByChoice(tuple(f"s{i}" for i in range(len(values))), detectors, choices, by_seed)


class TestByChoice:
    # Of five series, the last has another best detector with the other choice.
    values = ([[[0.5, 0.6], [0.2, 0.1]]] * 4) + [[[0.5, 0.1], [0.4, 0.9]]]

    def test_orders_and_moves(self):
        of = chosen(self.values)
        assert of.order("usual") == ("a", "b")
        assert of.same_order(("usual", "other"))
        assert of.other_best("other", "usual").tolist() == [0, 0, 0, 0, 1]
        assert of.moves("other", "usual").tolist() == pytest.approx([0.1, 0.1, 0.1, 0.1, 0.45])
        assert of.agreement("other", "usual") == pytest.approx((4 - 1) / 5)
        shares = {of.same_order(("usual", "other"), i) for i in range(50)}
        assert shares == {True, False}  # where the last series is drawn often

    def test_of_lines(self):
        series = SMALL(2)
        found = {
            DetectorRun(series[0], "a", OURS, 0): [0.1, 0.2],
            DetectorRun(series[0], "a", OURS, 1): [0.3, 0.4],
            DetectorRun(series[0], "b", OURS, 0): [0.5, 0.6],
            DetectorRun(series[1], "a", OURS, 0): [0.1, 0.2],  # b has none
            DetectorRun(series[0], "c", OURS, 0): [0.9, 0.9],  # not asked for
        }
        of = by_choice(found, "synthetic", ("a", "b"), ("x", "y"), list)
        assert of.series == ("synthetic_600_0",)
        np.testing.assert_allclose(of.values, [[[0.2, 0.3], [0.5, 0.6]]])
        assert by_choice(found, "WSD", ("a", "b"), ("x", "y"), list).values.shape == (0, 2, 2)

    def test_seeds_that_failed_and_numbers_that_are_undefined(self):
        series = SMALL(3)
        found = {
            DetectorRun(each, "a", OURS, seed): [0.1 * seed, 0.2]
            for i, each in enumerate(series)
            for seed in (0, 1, 2)
            if (i, seed) != (1, 0)
        }
        found |= {DetectorRun(each, "b", OURS, 0): [0.5, nan if each is series[2] else 0.6] for each in series}
        of = by_choice(found, "synthetic", ("a", "b"), ("x", "y"), list)
        assert of.series == ("synthetic_600_0", "synthetic_600_1")
        assert [each.shape for each in of.by_seed] == [(2, 2, 3), (2, 2, 1)]
        # What failed is the mean of the other seeds.
        np.testing.assert_allclose(of.by_seed[0][0], [[0, 0.1, 0.2], [0.15, 0.1, 0.2]])

    def test_seeds_are_drawn_again(self):
        """One detector is ahead with one of its two seeds, and with all series: only the seeds make a difference."""
        one = np.array([[[0.2, 0.6]] * 5, [[0.6, 0.6]] * 5])
        of = ByChoice(tuple("vwxyz"), ("a", "b"), ("usual", "other"), [one, np.full((2, 5, 1), 0.5)])
        assert of.order("usual") == ("b", "a")
        firsts = np.array([of.order("usual", i)[0] == "a" for i in range(COUNT)])
        # With two draws of two seeds, both are the better one in a quarter of the resamples.
        assert 0.2 < firsts.mean() < 0.3
        assert of.same_order(("other", "other"), 0)
        # Moves are those of the seeds in the same resample: by 0 where the better one is drawn twice.
        moves = of.resampled_moves("other", "usual")
        assert set(np.round(moves, 9)) == {0, 0.1, 0.2}
        assert set(moves[firsts].round(9)) == {0}
        assert of.moves("other", "usual").mean() == pytest.approx(0.1)

    def test_moves_of_resamples_by_hand(self):
        rng = np.random.default_rng(0)
        of = ByChoice(tuple("vwxyz"), ("a", "b"), ("usual", "other"), [rng.random((2, 5, 3)), rng.random((2, 5, 1))])
        number, found = 11, of.resampled_moves("other", "usual")
        seeds = np.random.default_rng([1, 0]).multinomial(3, [1 / 3] * 3, size=COUNT)[number]
        drawn = [(of.by_seed[0] * seeds).sum(axis=2) / 3, of.by_seed[1][:, :, 0]]
        moves = np.mean([np.abs(values[1] - values[0]) for values in drawn], axis=0)
        assert found[number] == pytest.approx(of.resamples.times[number] @ moves / 5)


class TestNearRange:
    def test_by_hand(self, collected):
        runs = collected[2]
        of = first_run(runs)
        series, scores = of.series.source.read(), runs.scores(of)
        found = near_range.ranges_of(runs.job(of))
        score = partial(dqeval.dqe_score, series.labels, scores)
        assert found["near"] == 12
        assert found["shares"] == pytest.approx([score(near=12 * share) for share in near_range.SHARES], abs=1e-12)
        assert found["points"] == pytest.approx([score(near=near) for near in near_range.POINTS], abs=1e-12)
        assert found["lengths"] == pytest.approx([score(near=f"{times:g}ev") for times in (1, 2)], abs=1e-12)
        near, value = found["own"]
        assert value == pytest.approx(score(near=near), abs=1e-12)

    def test_a_series_that_never_repeats(self, tmp_path):
        path = tmp_path / "line.csv"
        path.write_text("value,label\n" + "".join(f"{i / 7},{int(i == 150)}\n" for i in range(300)))
        planned = detector_runs.real_series("mine", [Source(path, "table", "line")])
        runs = run_detectors(planned, Setting(tmp_path), detectors=("FFT",), metrics=("dqe",))
        assert near_range.ranges_of(runs.job(first_run(runs)))["own"] is None

    def test_tables_and_claims(self, found):
        outcome = found["near-range"]
        means = outcome.tables["DQE by the near range on synthetic"]
        assert [row[0] for row in means.rows] == list(QUICK)
        changes = outcome.tables["What the near range changes on synthetic"]
        (usual,) = [row for row in changes.rows if row[0] == "1 ×"]
        assert usual[2:] == ("0.000", "0 %", "1.00")
        assert [claim.section for claim in outcome.claims] == ["5", "5"]
        assert "On synthetic, 0 of 5 series have no period that the paper's rule finds" in outcome.notes[1]

    def test_an_order_that_changes(self):
        values = np.full((5, 2, len(near_range.CHOICES)), 0.5)
        values[:, 0] = 0.6
        same = near_range.outcome({"WSD": chosen(values, near_range.CHOICES)}, [])
        assert [(claim.holds, claim.share) for claim in same.claims] == [(True, 1), (True, 1)]
        values[:, 0, near_range.CHOICES.index("720 points")] = 0.4
        other = near_range.outcome({"WSD": chosen(values, near_range.CHOICES)}, [])
        assert [(claim.holds, claim.share) for claim in other.claims] == [(True, 1), (False, 0)]
        assert other.claims[1].found == "a > b; b > a"
        nothing = near_range.outcome({"WSD": chosen(values[:0], near_range.CHOICES)}, [])
        assert (nothing.claims, nothing.tables, nothing.figures) == ([], {}, {})

    def test_the_figure(self, found):
        figure = found["near-range"].figures["near_range"]()
        (axes,) = figure.axes
        assert [line.get_label() for line in axes.get_lines()[:2]] == list(QUICK)
        assert [tick.get_text() for tick in axes.get_xticklabels()] == ["0.2", "0.5", "1", "2", "4", "8"]


class TestThresholdChoice:
    def test_by_hand(self, collected):
        runs = collected[2]
        of = first_run(runs)
        series, scores = of.series.source.read(), runs.scores(of)
        labels = np.asarray(series.labels, dtype=bool)
        found = threshold_choice.choices_of(runs.job(of))
        score = partial(dqeval.dqe_score, labels, near=12)
        assert found["dqe"]["250"] == score(scores, thresholds=250)
        assert found["dqe"]["all"] == score(scores, thresholds="exact")
        low, high = scores.min(), scores.max()
        assert found["dqe"][threshold_choice.SQUARES] == pytest.approx(score(((scores - low) / (high - low)) ** 2))
        assert found["dqe"][threshold_choice.LOG_RANKS] == pytest.approx(
            dqeval.metrics.dqe_log_rank(labels, scores, near=12)
        )
        assert found["point_f1"]["all"] == pytest.approx(dqeval.panel(labels, scores, near=12)["point_f1"], abs=1e-12)
        assert found["pate"]["100"] == pytest.approx(dqeval.panel(labels, scores, near=12)["pate"], abs=1e-12)
        curve = dqeval.evaluate(labels, scores, near=12, thresholds=10).curve
        assert found["best dqe"]["10"] == curve.dqe.max()
        assert {metric: set(values) for metric, values in found.items()} == {
            metric: set(choices) for metric, choices in threshold_choice.CHOICES.items()
        }

    def test_best_of_few_thresholds_by_hand(self):
        rng = np.random.default_rng(0)
        labels, scores = rng.random(60) < 0.3, rng.random(60)
        thresholds = np.array([0.2, 0.5, 0.9])
        by_hand = []
        for threshold in thresholds:
            detected = scores >= threshold
            hits = (detected & labels).sum()
            by_hand.append(2 * hits / (detected.sum() + labels.sum()))
        assert threshold_choice.best_f1(labels, scores, thresholds) == pytest.approx(max(by_hand))

    def test_tables_and_claims(self, found):
        outcome = found["threshold-choice"]
        rows = outcome.tables["Thresholds on synthetic"].rows
        assert [row[:2] for row in rows[:2]] == [("DQE", "100"), ("DQE", "10")]
        assert ("DQE at its best threshold", "all") in {row[:2] for row in rows}
        assert [claim.section for claim in outcome.claims] == ["2.4", "3.5", "3.5", "3.5"]
        assert outcome.notes[1] == threshold_choice.HOW

    def test_claims_by_numbers(self):
        of = {m: np.full((5, 2, len(choices)), 0.5) for m, choices in threshold_choice.CHOICES.items()}
        for values in of.values():
            values[:, 0] = 0.6
        of["point_f1"][:, 0, 1] = 0.9  # with ten thresholds
        by_rank = threshold_choice.CHOICES["dqe"].index(threshold_choice.RANKS)
        of["dqe"][:, 0, by_rank] = 0.4
        values = {("WSD", m): chosen(v, threshold_choice.CHOICES[m]) for m, v in of.items()}
        claims = threshold_choice.outcome(values, []).claims
        assert [claim.holds for claim in claims] == [True, True, False, True]
        assert claims[0].found == "Original-F changes by 0.050, DQE by 0.000, on average"
        assert claims[2].found == "100: a > b; 100 by rank: b > a"
        nothing = {key: chosen(each.values[:0], each.choices) for key, each in values.items()}
        assert threshold_choice.outcome(nothing, []).claims == []


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    return next(random_detections.random_detections(Setting(tmp_path_factory.mktemp("random"), quick=True)))


class TestRandomDetections:
    def test_draws_follow_from_their_number(self):
        one = random_detections.values_of((0.5, range(3), 0))
        assert random_detections.values_of((0.5, range(1, 2), 0)) == one[1:2]
        assert random_detections.values_of((0.5, range(3), 1)) != one
        assert np.array(one).shape == (3, 11)

    def test_what_is_found(self, quick):
        assert [row[0] for row in quick.tables["Means"].rows][::5] == ["0.01", "0.3", "0.99"]
        half = one_cell(quick, row="density 0.5", metric="dqe")
        assert half.ours < 0.1
        assert [(claim.holds, claim.share) for claim in quick.claims] == [(False, 0)] * 3
        assert quick.claims[1].found.startswith("0.4")
        assert " at a density of 0.1, its highest; 0.00 at " in quick.claims[1].found
        assert "20 draws of each density" in quick.notes[0]

    def test_what_would_hold(self):
        rows = np.zeros((5, 11))
        for metric in random_detections.GENEROUS:
            rows[:, PAPER_METRICS.index(metric)] = 0.5
        for metric in ("point_f1", "auc_pr", "pate"):
            rows[:, PAPER_METRICS.index(metric)] = 0.1
        rows[:, PAPER_METRICS.index("dqe")] = -0.001
        claims = random_detections.outcome({0.1: rows, 0.5: rows}).claims
        assert [claim.holds for claim in claims][::2] == [True, True]
        assert claims[0].found == "at 2 of 2 densities: 0.1, 0.5"

    def test_nothing_holds_anywhere(self):
        rows = np.full((5, 11), 0.5)
        rows[:, PAPER_METRICS.index("dqe")] = 0.9
        claims = random_detections.outcome({0.1: rows}).claims
        assert claims[0].found == "at 0 of 1 densities: none"
        assert claims[1].found == "0.90 at a density of 0.1, its highest; 0.00 at none"

    def test_the_figure(self, quick):
        (axes,) = quick.figures["random_detections"]().axes
        assert axes.get_xlabel() == "density of random detections"


class TestDatasets:
    def test_facts(self, found):
        table = found["datasets"].tables["Datasets"]
        rows = dict(table.rows)
        assert rows["series"] == "5"
        assert rows["points"] == "3,000"
        assert rows["events"] == "15"
        assert rows["period"] == "24 (24 to 24)"
        assert rows["series without: the period is taken as 125"] == "0"

    def test_without_a_period_and_with_one_event(self, tmp_path):
        path = tmp_path / "line.csv"
        path.write_text("value,label\n" + "".join(f"{i},{int(i == 50)}\n" for i in range(80)))
        facts = dataset_table.facts_of(Source(path, "table", "line"))
        assert (facts.events, facts.lengths, facts.gaps, facts.period) == (1, (1,), (), None)
        rows = dict(dataset_table.outcome({"mine": [facts]}, []).tables["Datasets"].rows)
        assert rows["points between events"] == rows["period"] == "none"
        assert rows["events of one point"] == "1"
        away = replace(facts, no_period="the autocorrelation is highest at lag 4, which is not from 6 to 303")
        rows = dict(dataset_table.outcome({"mine": [facts, away]}, []).tables["Datasets"].rows)
        assert rows["of these, with their peak at a lag outside of 6 to 303"] == "1"


# Levels


def rows_of(events):
    """Return rows of series with so many events each; those of many events are worse."""
    return rows_with([[0.5 / count + 0.01 * i] * count for i, count in enumerate(events)])


def rows_with(events):
    """Return rows of series whose events have such values of one detector, and 0.1 less of the other."""
    by_series, by_event = [], []
    for i, of_series in enumerate(events):
        for detector, extra in (("a", 0.1), ("b", 0.0)):
            values = [value + extra for value in of_series]
            common = {"detector": detector, "metric": "dqe", "seed": 0}
            by_series.append({**common, "unit": f"s{i}", "value": float(np.mean(values))})
            by_event += [{**common, "unit": (f"s{i}", j), "value": value} for j, value in enumerate(values)]
    return by_series, by_event


class TestLevels:
    def test_weights(self):
        ranked = ranked_rows(*rows_of([10, 1, 1, 1, 1, 2]))
        assert levels.has_levels(ranked)
        counts = levels.events_per_series(ranked)
        assert counts.tolist() == [10, 2, 1, 1, 1, 1]
        assert levels.weights_sentence(counts) == (
            "if each event counts once, the 1 series with most events have 62 % of the weight, and 6 series are worth "
            "2 that weigh alike"
        )
        table = levels.errors_table(ranked)
        assert [row[0] for row in table.rows] == ["a", "b"]
        assert all(float(row[-1]) > 1 for row in table.rows)

    def test_claims(self):
        ranked = ranked_rows(*rows_of([9, 7, 5, 3, 2, 1, 1, 1]))
        biased, fairer = levels.level_claims("WSD", ranked)
        assert (biased.holds, fairer.holds) == (True, None)
        assert 0.5 < fairer.share < 0.95
        off = np.mean([ranked.mean(name, "dqe", "series") - ranked.mean(name, "dqe", "event") for name in "ab"])
        assert biased.found == f"by series higher by {off:.3f}, on average over the detectors"
        # Where series of many events are alike and the others are not, their weight makes means more certain.
        calm = rows_with([[0.1], [0.9], [0.5] * 8] * 12)
        assert list(levels.level_claims("WSD", ranked_rows(*calm)))[1].holds is True
        heavy = rows_of([40, *[1] * 30])
        assert list(levels.level_claims("WSD", ranked_rows(*heavy)))[1].holds is False
        assert "ratio of the standard errors: a " in fairer.found
        few = list(levels.level_claims("WSD", ranked_rows(*rows_of([3, 1]))))
        assert [claim.verdict for claim in few] == ["too few series (2)"] * 2
        assert few[1].found == "no standard errors, of so few series"
        assert not levels.has_levels(ranked_rows(*rows_of([1, 1])))

    def test_beside_detectors_beyond_the_paper(self, found):
        table = found["rankings"].tables["DQE of SR beside the others on synthetic"]
        shown = {row[0]: row[2] for row in table.rows}
        assert set(shown) == {*QUICK, *BEYOND}
        assert shown["SR"] == ""
        assert shown["FFT"].count("[") == 1
        few = levels.beyond_table(ranked_rows(*rows_of([1, 1])), ["b"])
        assert few.rows == [("a", "0.605", "+0.100"), ("b", "0.505", "")]
        assert few.note.endswith("too few series for intervals: 2")


# A run, checked


class TestCheck:
    def test_the_same_machine_gives_the_same(self, collected):
        setting = replace(collected[0], subset=1)
        (outcome,) = check.check(setting)
        assert [row[1] for row in outcome.tables["Differences"].rows] == ["11 of 11"] * 3
        assert (setting.folder / "check" / "runs").exists()
        (usual,) = check.check(replace(setting, subset=None))
        assert [row[1] for row in usual.tables["Differences"].rows] == ["22 of 22"] * 3

    def test_other_numbers_are_told(self):
        found = check._off([(0.0, "auc_roc"), (0.3, "vus_pr"), (0.1, "dqe"), (1e-12, "pate")])
        assert found == check.Off(4, 2, pytest.approx(0.1), 0.3, "vus_pr", 0.1)
        outcome = check.outcome({"CNN": found}, ["A note."])
        assert outcome.tables["Differences"].rows == [("CNN", "2 of 4", "0.1000", "0.3000 (VUS-PR)", "0.1000")]

    def test_numbers_that_both_of_them_lack_are_left_out(self, collected):
        runs = collected[2]
        nothing = replace(runs, seeds=(7,))
        assert check.differences(runs, nothing) == {}
        assert check.lacking_sentence(runs, nothing) == ""

    def test_numbers_that_one_of_them_lacks_are_told(self, collected, monkeypatch):
        runs = replace(collected[2], detectors=("FFT",), series=collected[2].series[:1], beyond=())
        other = replace(runs)
        monkeypatch.setitem(vars(other), "_values", {})
        assert check.differences(runs, other) == {}
        assert check.lacking_sentence(runs, other) == "Not compared: 22 numbers that only one of the runs has."
        assert check.lacking_sentence(runs, runs) == ""

    def test_a_run_on_other_series(self, collected):
        with pytest.raises(ValueError, match="the run has no number of these series"):
            next(check.check(replace(collected[0], subset=1, seed=77)))

    def test_without_a_run(self, tmp_path):
        with pytest.raises(ValueError, match="there is no run here to check"):
            next(check.check(Setting(tmp_path)))


# The summary, and figures


class TestSummary:
    def test_counts_of_all_that_was_written(self, found, undrawn, tmp_path):
        for outcome in (found["rankings"], *reproduce("cases", Setting(tmp_path)), found["datasets"]):
            outcome.write(tmp_path)
        place = tmp_path / "odd"
        place.mkdir()
        (place / "report.md").write_text("x")
        paths = write_summary(tmp_path)
        assert [path.name for path in paths] == ["summary.csv", "summary.md", "summary.tex"]
        rows = [line.split(",") for line in paths[0].read_text().splitlines()]
        assert [row[0] for row in rows[1:]] == ["cases", "datasets-generated", "rankings-generated", "odd"]
        assert rows[1][1:] == ["176", "", "176 of 176", "", "13", "13", "0", "0", "0"]
        assert rows[2][1:] == ["none", *[""] * 8]

    def test_verdicts_with_shares_are_counted(self, tmp_path):
        claims = [
            Claim("1", "a", True, "", 1.0),
            Claim("1", "b", None, "", 0.5),
            Claim("1", "c", False, "", 0.0),
            Claim("1", "d", None, "", why_untold="too few series (2)"),
        ]
        cells = [Cell("x", "t", "r", "dqe", 0.5, "0.50", PUBLISHED, 0.1)]
        dqeval.experiments.Outcome("odd", "Odd", {}, cells, claims).write(tmp_path)
        rows = [line.split(",") for line in write_summary(tmp_path)[0].read_text().splitlines()]
        assert rows[1] == ["odd", "1", "1 of 1", "", "1 of 1", "4", "1", "1", "1", "1"]


def test_maxima_of_stretches():
    from matplotlib.figure import Figure

    axes = Figure().add_subplot()
    scores = np.arange(12.0)
    score_plots.draw_maxima(axes, scores)
    (stairs,) = axes.patches
    assert stairs.get_data().values.tolist() == [4, 9, 11]
    assert stairs.get_data().edges.tolist() == [0, 5, 10, 12]
    score_plots.draw_maxima(axes, np.zeros(6001))
    assert len(axes.patches[1].get_data().values) == 546
