"""The experiments on all series of a dataset: rankings of detectors, and how far metrics vary with perturbed scores."""

import statistics
from dataclasses import replace
from functools import partial
from itertools import pairwise, product
from math import nan
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib import style

import dqeval
from dqeval.bench.ranking import rank_rows
from dqeval.core.prepared import Labelled
from dqeval.core.registry import DETECTORS
from dqeval.datasets.loading import Source
from dqeval.experiments import detector_runs, rankings, robustness
from dqeval.experiments.detector_runs import (
    NAMES,
    Runs,
    generated_series,
    real_series,
    run_detectors,
    series_by_dataset,
)
from dqeval.experiments.outcome import OURS, PAPER_METRICS, PUBLISHED, agreement, expected_numbers
from dqeval.experiments.published import published_dqe
from dqeval.experiments.ranked import ranked_rows
from dqeval.experiments.rankings import outcome, published_of
from dqeval.experiments.resamples import Resamples
from dqeval.experiments.robustness import (
    FORGIVING,
    KINDS,
    STREAMS,
    STRICT,
    claims_of,
    decisions,
    spreads_of,
)
from dqeval.experiments.score_work import SeededJob
from dqeval.experiments.setting import ARCHIVE, Setting
from dqeval.experiments.varied import SeriesSpreads, Varied
from dqeval.lab.perturbations import Changed, lags, shift, windows
from dqeval.support import extras

QUICK = ("KMeansAD", "FFT")
SMALL = partial(generated_series, n=600, period=24, events=3)
PRINTED = expected_numbers("rankings")
BOTH = (PUBLISHED, OURS)
GROUPS = ("WSD", "UCR", "all")
BESIDE = " beside the spread between detectors"
ROBUSTNESS = [f"Robustness{what}, {group}" for group in GROUPS for what in ("", " intervals", BESIDE)]


def made(seed):
    """Return a series of 600 points with three anomalies."""
    return dqeval.datasets.synthetic(n=600, period=24, events=3, seed=seed)


def coded(number, dataset, domain):
    """Return the name of a series as TSB-AD has it, with where the first anomaly is; its number is the seed."""
    return f"{number:03}_{dataset}_id_{number}_{domain}_tr_150_1st_{np.argmax(made(number).labels)}"


WSD = [coded(number, "WSD", "WebService") for number in (1, 2, 3)]
UCR = [coded(number, "UCR", "Medical") for number in (4, 5)]


def write_pack(path, names, broken=()):
    """Write series as a pack; those that are broken have a value that is no number."""
    arrays = {}
    for name in names:
        series = made(int(name[:3]))
        series.values[100] = nan if name in broken else series.values[100]
        arrays |= {f"{name}/data": series.values, f"{name}/label": series.labels.astype(int)}
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez(path, **arrays)
    return path


@pytest.fixture
def data(tmp_path):
    """Return a folder with three series of one dataset and two of the other."""
    write_pack(tmp_path / "data" / "wsd.npz", WSD)
    write_pack(tmp_path / "data" / "ucr.npz", UCR)
    return tmp_path / "data"


def names_of(datasets):
    return {dataset: [each.source.name for each in series] for dataset, series in datasets.items()}


class TestSeriesByDataset:
    def test_all_of_them(self, data, tmp_path):
        found, notes = series_by_dataset(Setting(tmp_path, data=data))
        assert names_of(found) == {"WSD": WSD, "UCR": UCR}
        assert notes == ["On 3 WSD series (the paper has 111) and 2 UCR series (the paper has 228)."]
        np.testing.assert_array_equal(found["WSD"][1].source.read().values, made(2).values)

    def test_a_sample(self, data, tmp_path):
        found, notes = series_by_dataset(Setting(tmp_path, data=data, subset=2, seed=5))
        assert len(found["WSD"]) == 2
        assert names_of(found)["UCR"] == UCR
        told = "On 2 of 3 WSD series (the paper has 111) and 2 UCR series (the paper has 228), sampled with seed 5."
        assert notes == [told]
        one, _ = series_by_dataset(Setting(tmp_path, data=data, subset=1, seed=5))
        assert names_of(one)["WSD"][0] in names_of(found)["WSD"]

    def test_a_sample_that_is_larger_than_what_is_there(self, data, tmp_path):
        whole = series_by_dataset(Setting(tmp_path, data=data))
        assert series_by_dataset(Setting(tmp_path, data=data, subset=99)) == whole

    def test_quickly(self, data, tmp_path):
        found, notes = series_by_dataset(Setting(tmp_path, data=data, quick=True))
        assert [len(series) for series in found.values()] == [2, 2]
        assert notes[0].startswith("On 2 of 3 WSD series")
        asked, _ = series_by_dataset(Setting(tmp_path, data=data, quick=True, subset=1))
        assert [len(series) for series in asked.values()] == [1, 1]

    def test_one_dataset_alone(self, data, tmp_path):
        (data / "ucr.npz").unlink()
        found, notes = series_by_dataset(Setting(tmp_path, data=data))
        assert names_of(found) == {"WSD": WSD}
        assert notes[0] == "On 3 WSD series (the paper has 111)."
        assert notes[1].startswith(f"UCR is left out: {data}: there are no UCR series here")

    @pytest.mark.parametrize(
        ("options", "seeds"),
        [({}, [0, 1, 2, 3]), ({"quick": True, "seed": 7}, [7, 8]), ({"subset": 3}, [0, 1, 2])],
        ids=["all", "quick", "subset"],
    )
    def test_without_data(self, tmp_path, options, seeds):
        found, notes = series_by_dataset(Setting(tmp_path, **options))
        assert names_of(found) == {"synthetic": [f"synthetic_3000_{seed}" for seed in seeds]}
        told = "On generated series, as there are no others: the WSD series are needed: unpack "
        assert notes == [f"{told}{ARCHIVE}, and name the folder with --data."]


# Rankings: what is said of numbers that are known


def spread(means, by_event):
    """Return a ranking over six series, and over six events, with given means; half are 0.04 better."""
    sides = [(name, -0.02 if name in "ace" else 0.02) for name in "abcdef"]
    by_series = [
        {"unit": name, "detector": detector, "metric": metric, "value": mean + aside}
        for name, aside in sides
        for (detector, metric), mean in means.items()
    ]
    events = [
        {"unit": (name, 7), "detector": detector, "metric": "dqe", "value": mean + aside}
        for name, aside in sides
        for detector, mean in by_event.items()
    ]
    return ranked_rows(by_series, events)


def printed_means(dataset, detectors=tuple(NAMES)):
    return {(d, m): float(PRINTED[f"rankings on {dataset}", d, m]) for d in detectors for m in PAPER_METRICS}


def printed_events(detectors=tuple(NAMES)):
    return {d: float(PRINTED["sequence vs event level", d, "dqe, by event"]) for d in detectors}


def as_printed(dataset, detectors=tuple(NAMES), **others):
    """Return rankings whose means are the printed ones, but for others of DQE, by detector."""
    means = printed_means(dataset, detectors) | {(d, "dqe"): value for d, value in others.items()}
    return spread(means, printed_events(detectors))


def alike(dataset, ranked):
    """Return what is found where both forms give the same."""
    return outcome(dict.fromkeys([(dataset, by) for by in BOTH], ranked), [])


def verdicts(found):
    return [claim.holds for claim in found.claims]


@pytest.fixture(scope="module")
def wsd():
    """Return what is found where the one form gives the printed numbers, and the other one another DQE of two."""
    ours = as_printed("WSD", CNN=0.75, FFT=0.501)
    return outcome({("WSD", PUBLISHED): as_printed("WSD"), ("WSD", OURS): ours}, ["A note.", ""])


class TestOutcome:
    @pytest.mark.unmeasured
    def test_means_one_under_the_other(self, wsd):
        table = wsd.tables["Rankings on WSD"]
        assert len(table.rows) == 15
        in_print = [PRINTED["rankings on WSD", "CNN", metric] for metric in PAPER_METRICS]
        assert table.rows[:3] == [
            ("CNN", "printed", *in_print),
            ("CNN", "as published", *in_print),
            ("CNN", "dqeval", *in_print[:-1], "0.75"),
        ]
        assert list(dict.fromkeys(row[0] for row in table.rows)) == ["CNN", "FFT", "Sub-LOF", "TimesNet", "KMeansAD"]

    def test_the_best_of_each_form_stands_out(self, wsd):
        table = wsd.tables["Rankings on WSD"]
        roc, dqe = table.header.index("AUC-ROC"), table.header.index("DQE")
        marked = {(table.rows[i][0], table.rows[i][1], j) for i, j in table.marked}
        forms = ("printed", "as published", "dqeval")
        assert {each for each in marked if each[2] == dqe} == {("CNN", form, dqe) for form in forms}
        assert {each for each in marked if each[2] == roc} == {("Sub-LOF", form, roc) for form in forms}

    def test_orders_with_equals_in_two_decimals(self, wsd):
        rows = [row for row in wsd.tables["Orders on WSD"].rows if row[0] == "DQE"]
        assert rows == [
            ("DQE", "printed", "CNN > Sub-LOF > FFT > TimesNet > KMeansAD"),
            ("DQE", "as published", "CNN > Sub-LOF > FFT > TimesNet > KMeansAD"),
            ("DQE", "dqeval", "CNN > FFT = Sub-LOF > TimesNet > KMeansAD"),
        ]
        assert len(wsd.tables["Orders on WSD"].rows) == 33

    def test_equals_are_in_the_order_of_their_names(self):
        assert rankings._order({"b": 0.504, "a": 0.496, "c": 0.494}) == "a = b > c"
        assert rankings._order({"c": 0.494, "a": 0.504, "b": 0.496}) == "a = b > c"

    def test_levels_with_intervals(self, wsd):
        table = wsd.tables["DQE on WSD, by series and by event"]
        assert table.rows[:3] == [
            ("CNN", "printed", "0.65", "0.5"),
            ("CNN", "as published", "0.65 [0.63, 0.67]", "0.50 [0.48, 0.52]"),
            ("CNN", "dqeval", "0.75 [0.73, 0.77]", "0.50 [0.48, 0.52]"),
        ]
        assert table.note == "6 series, 6 events; in brackets, 95 % intervals, from resampling whole series"

    def test_tables_fit_a_line(self, wsd):
        for table in wsd.tables.values():
            assert max(map(len, table.text(most_rows=None).splitlines())) <= 120

    def test_cells_of_both_forms(self, wsd):
        assert len(wsd.cells) == 2 * (55 + 10)
        published = [cell for cell in wsd.cells if cell.by == PUBLISHED]
        assert {cell.equal for cell in published} == {True}
        off = {(cell.row, cell.metric): cell.ours for cell in wsd.cells if not cell.equal}
        others = {(d, m): v for d, v in (("CNN", 0.75), ("FFT", 0.501)) for m in ("dqe", "dqe, by series")}
        assert off == pytest.approx(others)
        assert agreement(wsd.cells) == (
            "Computed as published, as the paper prints them: 65 of 65 numbers. "
            "Computed by dqeval, as the paper prints them: 61 of 65 numbers; the largest difference is 0.1."
        )

    def test_notes_that_are_empty_are_left_out(self, wsd):
        note, significance = wsd.notes
        assert note == "A note."
        assert significance.startswith("On WSD, in dqeval's form: ")
        assert "by DQE" in significance

    def test_claims_hold_by_the_printed_numbers(self, wsd):
        assert verdicts(wsd) == [True, True, True]
        assert wsd.claims[0].text == "the table of WSD has CNN first by DQE"
        published, ours = "CNN > Sub-LOF > FFT > TimesNet > KMeansAD", "CNN > FFT = Sub-LOF > TimesNet > KMeansAD"
        assert wsd.claims[0].found == (
            f"{published}; 0.65, 0.50, 0.42, 0.35, 0.12; dqeval: {ours}; 0.75, 0.50, 0.50, 0.35, 0.12"
        )
        by_event = f"by event, {published}; 0.50, 0.41, 0.39, 0.25, 0.13"
        assert wsd.claims[1].found == f"{by_event}; dqeval: {by_event}, where it does not hold"
        assert wsd.claims[2].found == "last by 11 of 11"

    @pytest.mark.unmeasured
    def test_claims_that_do_not_hold(self, wsd):
        means = printed_means("WSD") | {("KMeansAD", "auc_roc"): 0.95, ("CNN", "dqe"): 0.4}
        other = spread(means, printed_events())
        found = outcome({("WSD", PUBLISHED): other, ("WSD", OURS): as_printed("WSD")}, [])
        assert verdicts(found) == [False, False, False]
        assert found.claims[0].found.startswith("Sub-LOF > FFT > CNN > ")
        assert found.claims[2].found == "last by 10 of 11; dqeval: last by 11 of 11, where it holds"

    def test_an_order_that_ties_in_print_is_the_same(self):
        events = printed_events() | {"FFT": 0.409}
        found = alike("WSD", spread(printed_means("WSD"), events))
        assert found.claims[1].holds is True
        assert "FFT = Sub-LOF" in found.claims[1].found

    def test_without_a_detector_claims_cannot_be_told(self):
        three = ("KMeansAD", "Sub-LOF", "FFT")
        found = alike("WSD", as_printed("WSD", three))
        assert verdicts(found) == [None, None, None]
        assert found.tables["Orders on WSD"].rows[-1] == ("DQE", "dqeval", "Sub-LOF > FFT > KMeansAD")

    def test_two_datasets(self):
        ucr = as_printed("UCR")
        found = outcome({(d, by): each for d, each in (("WSD", as_printed("WSD")), ("UCR", ucr)) for by in BOTH}, [])
        assert len(found.tables) == 6
        assert len(found.cells) == 2 * (65 + 65)
        assert {cell.equal for cell in found.cells if cell.published} == {True}
        assert {cell.table for cell in found.cells if not cell.published} == {"sequence vs event level, UCR"}
        assert (found.claims[-1].text, found.claims[-1].holds) == ("the table of UCR has Sub-LOF first by DQE", True)
        rows = found.tables["DQE on UCR, by series and by event"].rows
        assert rows[0] == ("Sub-LOF", "printed", "0.54", "")
        worse = alike("UCR", as_printed("UCR", CNN=0.55))
        assert verdicts(worse) == [False]

    def test_series_that_are_left_out_are_counted(self):
        means = printed_means("WSD")
        rows = [
            {"unit": unit, "detector": d, "metric": m, "value": value + (unit == "b")}
            for unit in "abc"
            for (d, m), value in means.items()
            if (unit, d, m) != ("c", "FFT", "vus_pr")
        ]
        ranked = replace(as_printed("WSD"), by_series=rank_rows(rows))
        found = alike("WSD", ranked)
        note = found.tables["DQE on WSD, by series and by event"].note
        assert note.startswith("2 series, 6 events; 1 series left out, for which not every detector has a value; ")

    def test_figures(self, wsd, tmp_path):
        assert list(wsd.figures) == ["critical_difference_wsd"]
        figure = wsd.figures["critical_difference_wsd"]()
        figure.draw_without_rendering()
        (ax,) = figure.axes
        ranks = ["5.00\u2002KMeansAD", "4.00\u2002TimesNet", "CNN\u20021.00", "FFT\u20022.00", "Sub-LOF\u20023.00"]
        assert sorted(text.get_text() for text in ax.texts) == sorted(ranks)
        assert (tmp_path / "rankings" / "orders_on_wsd.csv") in wsd.write(tmp_path)


# Rankings: runs


def published_job(folder, source, detector="FFT"):
    planned = real_series("WSD", [source])[0] if isinstance(source, Source) else source
    runs = Runs(folder, (planned,), (detector,), PAPER_METRICS, (0,))
    return runs.job(runs.first(planned, detector, PUBLISHED))


class TestPublishedOf:
    def test_is_that_of_the_same_scores(self, tmp_path):
        found = published_of(published_job(tmp_path, SMALL(1, seed=3)[0]))
        series = dqeval.datasets.synthetic(n=600, period=24, events=3, seed=3)
        scores = dqeval.detectors.fft(series.values, variant="published")
        result = published_dqe(series.labels, scores, period=24)
        assert found["dqe"] == result.mean.dqe
        assert found["events"] == [[event.start, event.dqe] for event in result.per_event]
        assert len(found["events"]) == 3


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """Return what both experiments find on two generated series, what they tell, and the same once more."""
    folder = tmp_path_factory.mktemp("quick")
    found, told = [], [[], []]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(detector_runs, "usable_detectors", lambda: QUICK)
        patch.setattr(detector_runs, "generated_series", SMALL)
        for lines in told:
            setting = Setting(folder, quick=True, progress=lines.append)
            found.append({each.__name__: next(each(setting)) for each in (rankings.rankings, robustness.robustness)})
    return found, told


def fails_on_the_first(values, *, variant="corrected"):
    if np.array_equal(values, made(0).values):
        raise ValueError("not this one")
    return dqeval.detectors.fft(values, variant=variant)


def one_cell(found, **where):
    (cell,) = [cell for cell in found.cells if all(getattr(cell, name) == value for name, value in where.items())]
    return cell


class TestRankings:
    @pytest.mark.parametrize(("by", "variant"), [(OURS, "corrected"), (PUBLISHED, "published")])
    def test_means_are_those_of_panels(self, quick, by, variant):
        panels, dqes, events = [], [], []
        for seed in (0, 1):
            series = dqeval.datasets.synthetic(n=600, period=24, events=3, seed=seed)
            scores = dqeval.detectors.fft(series.values, variant=variant)
            panels.append(dqeval.panel(series.labels, scores, period=24, metrics=PAPER_METRICS))
            if by == PUBLISHED:
                result = published_dqe(series.labels, scores, period=24)
                dqes.append(result.mean.dqe)
            else:
                result = dqeval.evaluate(series.labels, scores, period=24)
                dqes.append(result.dqe)
            events += [event.dqe for event in result.per_event]
        found = partial(one_cell, quick[0][0]["rankings"], row="FFT", by=by)
        for metric in PAPER_METRICS[:-1]:
            mean = statistics.mean(each[metric] for each in panels)
            assert found(metric=metric).ours == pytest.approx(mean, abs=1e-12), metric
        assert found(metric="dqe").ours == pytest.approx(statistics.mean(dqes), abs=1e-12)
        assert found(metric="dqe, by series").ours == found(metric="dqe").ours
        assert found(metric="dqe, by event").ours == pytest.approx(statistics.mean(events), abs=1e-12)

    def test_generated_series_have_nothing_published(self, quick):
        found = quick[0][0]["rankings"]
        assert [cell.published for cell in found.cells] == [None] * (2 * 2 * 13)
        assert verdicts(found) == []
        assert [row[1] for row in found.tables["Orders on synthetic"].rows[:2]] == ["as published", "dqeval"]
        assert {row[1] for row in found.tables["Rankings on synthetic"].rows} == {"as published", "dqeval"}
        assert len(found.tables["DQE on synthetic, by series and by event"].rows) == 4
        assert found.notes[0].startswith("On generated series")
        assert found.notes[1].endswith("need PyTorch, which is not installed: pip install 'torch>=2.2'.")
        assert found.notes[2] == rankings.DIFFERENCE

    @pytest.mark.unmeasured
    def test_a_second_run_computes_nothing_again(self, quick):
        (first, again), (before, after) = quick
        assert "DQE as published: 4 of 4" in before
        assert "perturbed scores: 4 of 4" in before
        assert after == ["detectors: 8 of 8 jobs, 0 failed", "detectors: 6 of 6 jobs, 0 failed"]
        assert [each.numbers() for each in again.values()] == [each.numbers() for each in first.values()]

    @pytest.mark.unmeasured
    def test_one_series_is_enough(self, tmp_path, monkeypatch):
        monkeypatch.setattr(detector_runs, "usable_detectors", lambda: QUICK)
        monkeypatch.setattr(detector_runs, "generated_series", SMALL)
        (found,) = rankings.rankings(Setting(tmp_path, subset=1))
        assert "1 series, 3 events; " in found.tables["DQE on synthetic, by series and by event"].note
        found.write(tmp_path)

    def test_without_torch(self, tmp_path, monkeypatch):
        monkeypatch.setattr(extras, "find_spec", lambda name: None)
        monkeypatch.setattr(detector_runs, "generated_series", SMALL)
        (found,) = rankings.rankings(Setting(tmp_path, subset=1))
        assert {cell.row for cell in found.cells} == {"KMeansAD", "Sub-LOF", "FFT"}
        assert found.notes[1].startswith("TimesNet and CNN need PyTorch, which is not installed")

    @pytest.mark.unmeasured
    def test_a_series_that_detectors_fail_on(self, tmp_path, monkeypatch):
        monkeypatch.setattr(detector_runs, "usable_detectors", lambda: QUICK)
        write_pack(tmp_path / "data" / "wsd.npz", WSD, broken=WSD[1:2])
        write_pack(tmp_path / "data" / "ucr.npz", UCR)
        setting = Setting(tmp_path / "out", data=tmp_path / "data")
        (found,) = rankings.rankings(setting)
        assert found.notes[2].startswith("4 detector runs failed, such as FFT on 002_WSD_id_2_WebService_")
        assert found.tables["DQE on WSD, by series and by event"].note.startswith("2 series, 6 events; ")
        assert found.tables["DQE on UCR, by series and by event"].note.startswith("2 series, 6 events; ")
        (perturbed,) = robustness.robustness(setting)
        assert perturbed.notes[-1] == found.notes[2]
        assert list(perturbed.tables) == ROBUSTNESS

    def test_what_missing_series_would_need(self, tmp_path, monkeypatch):
        monkeypatch.setattr(detector_runs, "usable_detectors", lambda: QUICK)
        monkeypatch.setattr(rankings, "NAMES", ["FFT"])
        monkeypatch.setattr(rankings, "LONG", 599)
        write_pack(tmp_path / "data" / "wsd.npz", WSD)
        write_pack(tmp_path / "data" / "ucr.npz", UCR)
        (found,) = rankings.rankings(Setting(tmp_path / "out", data=tmp_path / "data"))
        table = found.tables["What the missing UCR series would need"]
        needed, long, ours = ([float(cell) for cell in row[2:]] for row in table.rows if row[0] == "FFT")
        assert long == ours  # all have more points than that
        printed = [float(PRINTED["rankings on UCR", "FFT", metric]) for metric in PAPER_METRICS]
        assert needed == pytest.approx([(228 * p - 2 * m) / 226 for p, m in zip(printed, ours, strict=True)], abs=0.01)
        assert "the 2 of more than 599 points" in table.note

    def test_printed_means_outside_of_what_seeds_give(self, monkeypatch):
        monkeypatch.setitem(rankings.PAPER_COUNTS, "WSD", 3)
        rows = {"series": [], "event": []}
        for (detector, metric), value in printed_means("WSD").items():
            draws = 0.0 if detector in ("FFT", "Sub-LOF") else 0.1
            aside = {("FFT", "pate"): 0.02, ("CNN", "dqe"): 0.3}.get((detector, metric), 0.0)
            for name, seed in product("abc", (0, 1)):
                of = {"unit": name, "detector": detector, "seed": seed, "metric": metric}
                rows["series"].append({**of, "value": value + aside + draws * (seed - 0.5)})
                if metric == "dqe":
                    rows["event"].append({**of, "unit": (name, 7), "value": value})
        ranked = ranked_rows(rows["series"], rows["event"])
        pate, dqe = (float(PRINTED["rankings on WSD", *of]) for of in (("FFT", "pate"), ("CNN", "dqe")))
        said = rankings.outside_sentence("WSD", ranked)
        assert said.startswith("On WSD, 2 of 55 printed means lie outside mean ± SD over the seeds: CNN's DQE, ")
        assert f"{dqe + 0.3:.3f} beside {dqe:.2f}; FFT's PATE, {pate + 0.02:.3f} beside {pate:.2f}, which" in said
        assert said.endswith("which draws no random numbers: unexplained.")
        assert rankings.outside_sentence("WSD", as_printed("WSD")) == ""
        monkeypatch.setitem(rankings.PAPER_COUNTS, "WSD", 4)
        assert rankings.outside_sentence("WSD", ranked).endswith(
            "over the seeds: see what the missing series would need."
        )

    def test_what_failed_is_tried_again(self, tmp_path, monkeypatch):
        monkeypatch.setattr(detector_runs, "usable_detectors", lambda: QUICK)
        monkeypatch.setattr(detector_runs, "generated_series", SMALL)
        setting = Setting(tmp_path, subset=2)
        with monkeypatch.context() as patch:
            broken = replace(DETECTORS["fft"], function=fails_on_the_first)
            patch.setitem(DETECTORS._entries, "fft", broken)
            (found,) = rankings.rankings(setting)
        level = "DQE on synthetic, by series and by event"
        assert "2 detector runs failed, such as FFT on synthetic_600_0: ValueError: not this one." in found.notes
        assert found.tables[level].note.startswith("1 series, 3 events; ")
        (again,) = rankings.rankings(setting)
        assert not any("failed" in note for note in again.notes)
        assert again.tables[level].note.startswith("2 series, 6 events; ")

    def test_where_nothing_can_be_compared_the_reason_is_told(self, tmp_path, monkeypatch):
        monkeypatch.setattr(detector_runs, "usable_detectors", lambda: QUICK)
        write_pack(tmp_path / "wsd.npz", WSD[:1], broken=WSD[:1])
        with pytest.raises(
            ValueError, match=r"there is nothing to compare; 4 detector runs failed, such as FFT on 001_"
        ):
            next(rankings.rankings(Setting(tmp_path, data=tmp_path)))

    def test_one_failure_in_words(self, tmp_path):
        runs = run_detectors([], Setting(tmp_path), detectors=QUICK)
        assert detector_runs.failures_sentence(runs) == ""
        runs.__dict__["failures"] = ["FFT on x: it broke."]
        assert detector_runs.failures_sentence(runs) == "1 detector run failed, such as FFT on x: it broke."


# Robustness


class TestPerturbations:
    def test_lags_go_from_a_quarter_early_to_a_quarter_late(self):
        assert lags(100) == [-25, -20, -15, -10, -5, 0, 5, 10, 15, 20, 25]
        assert lags(6) == [-2, -1, 0, 1, 2]

    @pytest.mark.parametrize("lag", [-9, -2, 0, 3, 9])
    def test_moved_scores_keep_their_ends(self, lag):
        scores = np.array([5.0, 1, 4, 2, 3])
        by_hand = [scores[min(max(i - lag, 0), 4)] for i in range(5)]
        assert shift(scores, lag).tolist() == by_hand

    def test_windows_around_the_event_with_the_most_room(self):
        labels = np.zeros(1000, bool)
        labels[50:55] = labels[400:406] = labels[900:920] = True
        found = windows(dqeval.partition(labels, near=0).regions)
        # The regions meet at 227.5 and 653.
        assert found[0] == (388, 418)
        assert found[-1] == (228, 653)
        assert all(228 <= start <= 400 and 406 <= stop <= 653 for start, stop in found)

    def test_the_event_becomes_a_smaller_share(self):
        labels = np.zeros(4000, bool)
        labels[2000:2010] = True
        found = windows(dqeval.partition(labels, near=0).regions)
        ratios = [labels[start:stop].mean() for start, stop in found]
        assert len(ratios) == 20
        assert all(before > after for before, after in pairwise(ratios))
        assert ratios == pytest.approx([0.01 * k for k in range(20, 0, -1)], rel=0.03)


def stream_of(name, seed, number):
    """Return a stream of random numbers of a series that has only a name."""
    job = SimpleNamespace(series=SimpleNamespace(source=SimpleNamespace(name=name)))
    return SeededJob(job, seed).stream(number)


def spreads_by_hand(series, scores, random):
    """Return the standard deviations, one panel after the other."""
    low, high = scores.min(), scores.max()
    scaled, n = (scores - low) / (high - low), len(scores)
    regions = dqeval.partition(series.labels, near=0).regions
    late = [[scaled[min(max(i - lag, 0), n - 1)] for i in range(n)] for lag in (-6, -5, -4, -2, -1, 0, 1, 2, 4, 5, 6)]
    noisy = [scaled + random.uniform(-0.05, 0.05, n) for _ in range(10)]
    cases = {
        "lag": [(series.labels, each) for each in late],
        "noise": [(series.labels, each) for each in noisy],
        "ratio": [(series.labels[a:b], scaled[a:b]) for a, b in windows(regions)],
    }
    found = {}
    for kind, pairs in cases.items():
        panels = [dqeval.panel(*pair, period=24, metrics=PAPER_METRICS) for pair in pairs]
        found[kind] = {m: statistics.pstdev(panel[m] for panel in panels) for m in PAPER_METRICS}
    return found


class TestSpreads:
    @pytest.mark.unmeasured
    def test_by_hand(self, tmp_path):
        series, planned = dqeval.datasets.synthetic(n=600, period=24, events=3, seed=3), SMALL(1, seed=3)[0]
        scores = dqeval.detectors.kmeans_ad(series.values, seed=0)
        found = spreads_of(SeededJob(published_job(tmp_path, planned, "KMeansAD"), 4))
        assert list(found) == list(KINDS)
        for number in (0, STREAMS - 1):
            by_hand = spreads_by_hand(series, scores, stream_of("synthetic_600_3", 4, number))
            for kind, spreads in found.items():
                one = {metric: values[number if kind == "noise" else 0] for metric, values in spreads.items()}
                assert one == pytest.approx(by_hand[kind], abs=1e-12)
        assert found["lag"]["dqe"][0] > 0.001
        assert {kind: len(spreads["dqe"]) for kind, spreads in found.items()} == {
            "lag": 1,
            "noise": STREAMS,
            "ratio": 1,
        }

    def test_noise_follows_from_the_seed(self, tmp_path):
        job = published_job(tmp_path, SMALL(1)[0])
        one, same, other = (spreads_of(SeededJob(job, seed)) for seed in (0, 0, 1))
        assert one == same
        assert one["lag"] == other["lag"]
        assert one["ratio"] == other["ratio"]
        assert one["noise"] != other["noise"]

    def test_each_series_and_each_stream_has_noise_of_its_own(self):
        drawn = [stream_of(*which).random() for which in (("a", 0, 0), ("b", 0, 0), ("a", 1, 0), ("a", 0, 1))]
        assert len(set(drawn)) == 4
        assert stream_of("a", 0, 0).random() == drawn[0]

    def test_a_metric_that_is_undefined_for_one_window_has_no_spread(self):
        labels = np.array([0, 0, 1, 1, 0, 0, 0, 0], bool)
        scores = np.array([0.1, 0.2, 0.9, 0.8, 0.3, 0.1, 0.2, 0.0])
        copies = [Changed(0, Labelled(labels[part]), scores[part]) for part in (slice(None), slice(2, 4))]
        found = robustness._spread(copies, 4)
        assert np.isnan(found["auc_roc"])
        assert found["point_f1"] == 0

    def test_means_leave_it_out(self):
        first, second = flat(0.1), flat(0.3)
        first["lag"] = {**first["lag"], "auc_roc": nan}
        found = robustness.outcome(measured({"WSD": [first, second]}), [])
        of_table = partial(one_cell, found, table="robustness, WSD", metric="auc_roc")
        assert of_table(row="lag").ours == pytest.approx(0.3)
        assert of_table(row="noise").ours == pytest.approx(0.2)

    @pytest.mark.unmeasured
    def test_means_of_a_run(self, quick, tmp_path):
        found = quick[0][0]["robustness"]
        tasks = [SeededJob(published_job(tmp_path, series, detector), 0) for series in SMALL(2) for detector in QUICK]
        spreads = [spreads_of(task) for task in tasks]
        for kind in KINDS:
            for metric in ("dqe", "vus_pr"):
                mean = statistics.mean(statistics.mean(each[kind][metric]) for each in spreads)
                cell = one_cell(found, table="robustness, synthetic", row=kind, metric=metric)
                assert cell.ours == pytest.approx(mean, abs=1e-12)


def measured(by_dataset):
    """Return spreads as those of one detector each, on series of their own."""
    return {dataset: [spreads(i, one) for i, one in enumerate(found)] for dataset, found in by_dataset.items()}


def spreads(series, one, **others):
    return SeriesSpreads(str(series), {kind: {m: [x] for m, x in of.items()} for kind, of in one.items()}, **others)


def flat(value):
    return {kind: dict.fromkeys(PAPER_METRICS, value) for kind in KINDS}


def in_order(*metrics):
    """Return spreads that grow along some metrics; the others vary more, but for AUC-ROC and VUS-PR at the ends."""
    rest = [metric for metric in PAPER_METRICS if metric not in metrics]
    return {metric: 0.01 * (i + 1) for i, metric in enumerate([*metrics, *rest])}


def of_five(one):
    """Return what is said of five series that are alike."""
    return claims_of(Varied(measured({"WSD": [one] * 5})["WSD"], KINDS))


AS_PAPER = {
    "lag": in_order("affiliation_f1", "vus_roc", "vus_pr", "dqe") | {"dqe": 0.031},
    "noise": in_order("pate", "vus_pr", "range_f1", "dqe"),
    "ratio": in_order("auc_roc", "dqe", *(m for m in PAPER_METRICS if m not in ("auc_roc", "dqe", "vus_pr"))),
}


class TestRobustness:
    def test_claims_hold_as_the_paper_has_them(self):
        found = of_five(AS_PAPER)
        assert [claim.holds for claim in found] == [True] * 9
        assert {claim.share for claim in found} == {1}
        assert found[0].found.startswith("AF 0.010, VUS-ROC 0.020, VUS-PR 0.030, DQE 0.031, ")
        assert found[3].found.startswith("DQE is number 2 of 8: VUS-PR 0.030, DQE 0.031, ")
        told = "DQE varies 1.03 times as much as VUS-PR: 0.001 more, and the next metric 0.019 more than DQE"
        assert found[4].found == told
        assert {claim.section for claim in found} == {"4.4"}

    def test_claims_that_do_not_hold(self):
        others = {
            "lag": in_order("dqe", "pate", "range_f1", "vus_pr"),
            "noise": in_order("pate", "vus_pr", "range_f1", "etapr_f1", "dqe"),
            "ratio": in_order("vus_pr", "dqe"),
        }
        found = of_five(others)
        assert [claim.holds for claim in found] == [False] * 9
        assert [claim.share for claim in found] == [0] * 9

    def test_last_of_all_nothing_follows_dqe(self):
        rest = [metric for metric in PAPER_METRICS if metric != "dqe"]
        lag = {metric: 0.01 * (i + 1) for i, metric in enumerate([*rest, "dqe"])}
        (closely,) = [each for each in decisions({**AS_PAPER, "lag": lag}) if "closely" in each[0]]
        assert closely[1] is True
        assert closely[2]().endswith("and the next metric inf more than DQE")

    def test_verdicts_are_those_of_most_resamples(self):
        calm = {**AS_PAPER, "ratio": in_order("auc_roc", "dqe", "pate")}
        other = {**AS_PAPER, "ratio": in_order("auc_roc", "pate", "dqe")}
        text = "of the metrics that punish false alarms, DQE varies least with the anomaly ratio"
        for often, holds, verdict in ((9, True, "holds"), (6, None, "open"), (0, False, "does not hold here")):
            series = measured({"WSD": [calm] * often + [other] * (10 - often)})["WSD"]
            (claim,) = [claim for claim in claims_of(Varied(series, KINDS)) if claim.text == text]
            assert (claim.holds, claim.verdict) == (holds, verdict)
        assert claim.share == 0

    def test_too_few_series_give_no_verdict(self):
        found = claims_of(Varied(measured({"WSD": [AS_PAPER] * 4})["WSD"], KINDS))
        assert {(claim.holds, claim.share, claim.verdict) for claim in found} == {(None, None, "too few series (4)")}
        assert found[0].found.startswith("AF 0.010")

    def test_each_dataset_by_itself(self):
        found = robustness.outcome(measured({"WSD": [AS_PAPER] * 5, "UCR": [AS_PAPER] * 5}), [])
        assert (found.claims[-1].section, found.claims[-1].holds) == ("appendix D", True)
        assert found.claims[-1].share > 0.99  # all but the resamples that have no series of one of the two
        assert found.claims[-1].found == "each sentence by itself, in 95 % of resamples or more"
        other = {**AS_PAPER, "ratio": in_order("vus_pr", "auc_pr", "dqe")}
        found = robustness.outcome(measured({"WSD": [AS_PAPER] * 150, "UCR": [other] * 5}), [])
        assert found.claims[-1].holds is False
        assert found.claims[-1].share == 0
        told = "on UCR, it holds in 0 % of resamples: VUS-PR varies most with the anomaly ratio"
        assert told in found.claims[-1].found
        assert "on WSD" not in found.claims[-1].found
        alone = robustness.outcome(measured({"WSD": [AS_PAPER] * 5}), [])
        assert {claim.section for claim in alone.claims} == {"4.4"}
        undefined = {**AS_PAPER, "lag": {**AS_PAPER["lag"], "pate": nan}}
        found = robustness.outcome(measured({"WSD": [undefined] * 5, "UCR": [undefined] * 5}), [])
        assert found.claims[-1].holds is None
        assert found.claims[-1].verdict == "cannot be told here"
        few = robustness.outcome(measured({"WSD": [AS_PAPER] * 5, "UCR": [AS_PAPER]}), [])
        assert few.claims[0].holds is True
        assert few.claims[-1].holds is None
        assert few.claims[-1].verdict == "too few series (1)"

    def test_datasets_are_compared_in_the_same_resamples(self):
        """What a dataset gives is decided by those of its series that the resample of all has, as by hand."""
        calm = {**AS_PAPER, "ratio": in_order("auc_roc", "dqe", "pate")}
        other = {**AS_PAPER, "ratio": in_order("auc_roc", "pate", "dqe")}
        mixed = {"WSD": [calm] * 12, "UCR": [calm] * 4 + [other] * 3}
        found = robustness.outcome(measured(mixed), [])
        times = Resamples(19).times
        parts = {"all": slice(None), "WSD": slice(12), "UCR": slice(12, None)}
        # DQE and PATE trade places from one kind of series to the other, so that the more frequent kind decides.
        most = {
            name: times[:, part][:, -3:].sum(axis=1) < times[:, part].sum(axis=1) / 2 for name, part in parts.items()
        }
        most["WSD"] = np.full(len(times), True)
        alike = (most["WSD"] == most["all"]) & (most["UCR"] == most["all"])
        assert 0.1 < alike.mean() < 0.9
        assert found.claims[-1].share == pytest.approx(alike.mean(), abs=0.02)  # but for draws that are even
        assert found.claims[-1].verdict == "open"
        text = "of the metrics that punish false alarms, DQE varies least with the anomaly ratio"
        assert f" of resamples: {text}" in found.claims[-1].found

    def test_half_is_four_of_the_eight_that_punish_false_alarms(self):
        assert set(STRICT) | set(FORGIVING) == set(PAPER_METRICS)
        for before, holds in (
            (["vus_pr", "pate", "range_f1"], True),
            (["vus_pr", "pate", "range_f1", "auc_pr"], False),
        ):
            found = of_five({**AS_PAPER, "lag": in_order(*before, "dqe"), "noise": in_order(*before, "dqe")})
            assert [found[3].holds, found[5].holds] == [holds, holds]

    def test_claims_cannot_be_told_where_a_metric_is_undefined(self):
        found = of_five({**AS_PAPER, "lag": {**AS_PAPER["lag"], "pate": nan}})
        assert {(claim.holds, claim.share) for claim in found} == {(None, None)}
        assert {claim.verdict for claim in found} == {"cannot be told here"}
        assert found[0].found.endswith("PATE nan")

    def test_tables(self):
        ours = {kind: {**spreads, "dqe": 0.05} for kind, spreads in flat(0.25).items()}
        found = robustness.outcome(measured({"synthetic": [ours, flat(0.5)]}), ["A note.", ""])
        assert list(found.tables)[:2] == ["Robustness, synthetic", "Robustness intervals, synthetic"]
        table = found.tables["Robustness, synthetic"]
        assert table.rows[2] == ("anomaly ratio", *["0.375"] * 10, "0.275")
        assert table.marked == {(0, 11), (1, 11), (2, 11)}
        assert found.notes == ["A note."]
        assert len(found.cells) == 66
        assert max(map(len, table.text().splitlines())) <= 120

    def test_over_all_series_of_several_datasets(self):
        found = robustness.outcome(measured({"WSD": [flat(0.1), flat(0.2)], "UCR": [flat(0.6)]}), [])
        assert list(found.tables) == ROBUSTNESS
        means = [one_cell(found, table=f"robustness, {group}", row="lag", metric="dqe").ours for group in GROUPS]
        assert means == pytest.approx([0.15, 0.6, 0.3])
        assert found.claims[0].found.startswith("Original-F 0.300")

    @pytest.mark.unmeasured
    def test_nothing_to_tell_where_every_detector_failed(self, tmp_path):
        found = robustness.outcome(measured({"WSD": []}), [])
        assert {claim.holds for claim in found.claims} == {None}
        assert found.tables["Robustness, WSD"].rows[0][1:] == ("nan",) * 11
        assert not found.tables["Robustness, WSD"].marked
        assert {cell["ours"] for cell in found.numbers()["cells"]} == {None}
        found.write(tmp_path)

    def test_intervals_are_from_series_drawn_again(self):
        values = [0.1, 0.2, 0.15, 0.3, 0.12, 0.18]
        one_each = [spreads(i, flat(value)) for i, value in enumerate(values)]
        twice = [replace(one, detector=detector) for one in one_each for detector in "ab"]
        wanted = str(dqeval.core.confidence.mean_intervals(np.array(values)[:, None], unit="series", most=np.inf)[0])
        for found in (one_each, twice):  # the detectors of a series are alike, and tell no more than one of them
            table = robustness.outcome({"WSD": found}, []).tables["Robustness intervals, WSD"]
            assert table.rows[10] == ("DQE", wanted, wanted, wanted)
        both = robustness.outcome({"UCR": one_each[:3], "WSD": one_each[3:]}, []).tables
        assert both["Robustness intervals, UCR"].rows[10] == ("DQE", *["too few: 3 series"] * 3)
        assert both["Robustness intervals, all"].rows[10] == ("DQE", wanted, wanted, wanted)
        one_each[0].spreads["lag"]["dqe"] = [nan]
        table = robustness.outcome({"WSD": one_each[:5]}, []).tables["Robustness intervals, WSD"]
        assert table.rows[10][1] == "too few: 4 series"

    def test_bars_have_intervals(self):
        series = [spreads(i, flat(value)) for i, value in enumerate([0.1, 0.2, 0.15, 0.3, 0.12, 0.18])]
        (ax, *_) = robustness.outcome({"WSD": series}, []).figures["robustness"]().axes
        interval = dqeval.core.confidence.mean_intervals(
            np.array([[0.1], [0.2], [0.15], [0.3], [0.12], [0.18]]), most=9
        )
        assert [line.get_xdata() for line in ax.lines] == [pytest.approx([interval[0].low, interval[0].high])] * 11

    @pytest.mark.unmeasured
    def test_figure(self):
        found = robustness.outcome(measured({"WSD": [AS_PAPER], "UCR": [flat(0.6)]}), [])
        with style.context("default"):
            figure = found.figures["robustness"]()
            figure.draw_without_rendering()
        titles = [f"{group}: {kind}" for group in GROUPS for kind in ("lag", "noise", "anomaly ratio")]
        assert [ax.get_title() for ax in figure.axes] == titles
        first = figure.axes[0]
        widths = [0.031 if i == 3 else 0.01 * (i + 1) for i in range(11)]
        assert [bar.get_width() for bar in first.patches] == pytest.approx(widths)
        assert [label.get_text() for label in first.get_yticklabels()][:4] == ["AF", "VUS-ROC", "VUS-PR", "DQE"]
        colours = {bar.get_facecolor() for bar in first.patches}
        assert len(colours) == 2
        assert [bar.get_facecolor() for bar in first.patches].count(first.patches[3].get_facecolor()) == 1

    def test_how_is_told(self, quick):
        found = quick[0][0]["robustness"]
        assert found.notes[1] == robustness.HOW
        assert "to 5 % of the range" in robustness.HOW
        assert list(found.tables) == [name.replace("WSD", "synthetic") for name in ROBUSTNESS[:3]]
