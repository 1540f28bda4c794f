"""Where experiments find real series, and how they run detectors on them: once, and never twice."""

import shutil
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import dqeval
from dqeval.datasets.loading import Source
from dqeval.experiments.detector_runs import (
    Runs,
    generated_series,
    missing_sentence,
    real_series,
    run_detectors,
    usable_detectors,
)
from dqeval.experiments.kept_lines import compute_all
from dqeval.experiments.outcome import OURS, PUBLISHED
from dqeval.experiments.setting import ARCHIVE, NoDataError, Setting, draw_sample, find_numbered, find_series
from dqeval.support import extras

NAMES = ["007_WSD_id_1_WebService_tr_30_1st_40", "094_WSD_id_66_WebService_tr_30_1st_50"]


def one(first):
    values, labels = np.sin(np.arange(80.0)), np.zeros(80, int)
    labels[first : first + 4] = 1
    return values, labels


def write_csv(folder, name, first):
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f"{value},{label}" for value, label in zip(*one(first), strict=True)]
    (folder / f"{name}.csv").write_text("\n".join(["Data,Label", *lines, ""]))


def write_pack(path, names):
    arrays = {}
    for name in names:
        arrays[f"{name}/data"], arrays[f"{name}/label"] = one(40)
    np.savez(path, **arrays)


class TestFindSeries:
    def test_in_csv_files_of_any_folder(self, tmp_path):
        write_csv(tmp_path / "TSB-AD-U", NAMES[1], 50)
        write_csv(tmp_path / "more", NAMES[0], 40)
        write_csv(tmp_path, "001_UCR_id_1_Facility_tr_30_1st_40", 40)
        write_csv(tmp_path, "notes", 40)
        found = find_series(tmp_path, "WSD")
        assert [source.name for source in found] == NAMES
        assert found[0].read().train_stop == 30

    def test_in_a_pack(self, tmp_path):
        write_pack(tmp_path / "wsd.npz", [*reversed(NAMES), "other"])
        write_pack(tmp_path / "scores.npz", ["003_WSD_id_1_WebService_tr_30_1st_40"])
        assert [source.name for source in find_series(tmp_path, "WSD")] == NAMES
        assert find_series(tmp_path, "WSD")[0].read().labels.sum() == 4

    def test_without_a_folder(self):
        with pytest.raises(NoDataError, match=r"the WSD series are needed: unpack .*TSB-AD-U.zip.* --data"):
            find_series(None, "WSD")

    def test_in_a_folder_without_such_series(self, tmp_path):
        write_csv(tmp_path, NAMES[0], 40)
        with pytest.raises(NoDataError, match=r"there are no UCR series here.*001_UCR_id_0_") as caught:
            find_series(tmp_path, "UCR")
        assert str(tmp_path) in str(caught.value)
        assert ARCHIVE in str(caught.value)

    def test_in_no_folder(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            find_series(tmp_path / "nowhere", "WSD")

    def test_by_number(self, tmp_path):
        for name in NAMES:
            write_csv(tmp_path, name, int(name[-2:]))
        assert find_numbered(tmp_path, "WSD", 94).name == NAMES[1]
        assert find_numbered(tmp_path, "WSD", 7).name == NAMES[0]
        with pytest.raises(NoDataError, match="the WSD series number 009 is not here"):
            find_numbered(tmp_path, "WSD", 9)


class TestSampled:
    every = tuple(Source(Path("x.npz"), "pack", f"{i:02}") for i in range(20))

    def test_all(self):
        assert draw_sample(list(self.every), None, 0) == list(self.every)
        assert draw_sample(list(self.every), 20, 0) == list(self.every)

    @pytest.mark.parametrize("seed", [0, 1])
    def test_larger_samples_hold_smaller_ones_in_order(self, seed):
        samples = [draw_sample(list(self.every), size, seed) for size in range(1, 20)]
        assert [len(sample) for sample in samples] == list(range(1, 20))
        for small, large in pairwise(samples):
            assert set(small) < set(large)
            assert large == sorted(large, key=lambda source: source.name)

    def test_seeds_differ(self):
        assert draw_sample(list(self.every), 5, 0) != draw_sample(list(self.every), 5, 1)


class Calls(list):
    """A function that squares, and remembers what of."""

    def __call__(self, number):
        self.append(number)
        return number**2


TASKS = {f"task {i}": i for i in range(5)}


class TestComputed:
    def test_goes_on_where_it_stopped(self, tmp_path):
        path, calls, told = tmp_path / "deep" / "kept.jsonl", Calls(), []
        setting = Setting(tmp_path, progress=told.append)
        first = dict(list(TASKS.items())[:2])
        assert compute_all(path, first, calls, setting, "squares") == {"task 0": 0, "task 1": 1}
        expected = {key: number**2 for key, number in TASKS.items()}
        assert compute_all(path, TASKS, calls, setting, "squares") == expected
        assert calls == [0, 1, 2, 3, 4]
        assert told[-1] == "squares: 5 of 5"
        assert told[2] == "squares: 3 of 5"

    def test_what_is_not_asked_for_is_not_told(self, tmp_path):
        path = tmp_path / "kept.jsonl"
        compute_all(path, TASKS, Calls(), Setting(tmp_path), "squares")
        assert compute_all(path, {"task 3": 3}, Calls(), Setting(tmp_path), "squares") == {"task 3": 9}
        assert compute_all(path, {}, Calls(), Setting(tmp_path), "squares") == {}

    def test_a_line_that_was_cut_short_is_done_again(self, tmp_path):
        path, calls = tmp_path / "kept.jsonl", Calls()
        compute_all(path, TASKS, Calls(), Setting(tmp_path), "squares")
        whole = path.read_text()
        path.write_text(whole[:-4])
        found = compute_all(path, TASKS, calls, Setting(tmp_path), "squares")
        assert found["task 4"] == 16
        assert calls == [4]
        assert path.read_text() == whole

    @pytest.mark.unmeasured
    def test_processes_give_the_same(self, tmp_path):
        tasks = {str(number): number for number in range(-7, 0)}
        here = compute_all(tmp_path / "here.jsonl", tasks, abs, Setting(tmp_path), "sizes")
        there = compute_all(tmp_path / "there.jsonl", tasks, abs, Setting(tmp_path, workers=2), "sizes")
        assert there == here == {str(-size): size for size in range(1, 8)}

    def test_an_error_is_not_kept(self, tmp_path):
        path = tmp_path / "kept.jsonl"
        with pytest.raises(Exception, match="fail"):
            compute_all(path, {"a": 1, "b": 0}, fails_at_zero, Setting(tmp_path), "inverses")
        assert path.read_text() == '["a", 1]\n'


def fails_at_zero(number):
    if number == 0:
        raise ValueError("made to fail")
    return number


QUICK = ("KMeansAD", "FFT")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    series = generated_series(2, n=600, period=24, events=3)
    return run_detectors(series, Setting(folder), detectors=QUICK, metrics=("auc_roc", "dqe"))


class TestRunDetectors:
    def test_values_are_those_of_a_panel(self, runs):
        series = dqeval.datasets.synthetic(n=600, period=24, events=3, seed=1)
        for by, variant in ((OURS, "corrected"), (PUBLISHED, "published")):
            scores = dqeval.detectors.fft(series.values, variant=variant)
            found = dqeval.panel(series.labels, scores, period=24, metrics=["auc_roc", "dqe"])
            of = runs.first(runs.series[1], "FFT", by)
            assert (of.name, of.label) == ("synthetic_600_1", "FFT" if by == OURS else "FFT, as published")
            assert runs.value(of, "auc_roc") == found["auc_roc"]
            assert runs.events(of) == list(found.dqe.per_event)
            np.testing.assert_array_equal(runs.scores(of), scores)

    def test_the_two_forms_of_kmeans_are_one(self, runs):
        forms = [runs.first(runs.series[0], "KMeansAD", by) for by in (OURS, PUBLISHED)]
        both = [runs.scores(form, runs.series[0].source.read()) for form in forms]
        np.testing.assert_array_equal(*both)
        assert len(runs.events(forms[1])) == 3
        assert runs.key(forms[0]) == runs.key(forms[1])
        assert not runs.failures

    def test_a_second_run_has_nothing_to_do(self, runs):
        told = []
        setting = Setting(runs.folder.parent, progress=told.append)
        again = run_detectors(runs.series, setting, detectors=QUICK, metrics=("auc_roc", "dqe"))
        assert told == ["detectors: 6 of 6 jobs, 0 failed"]
        of = runs.first(runs.series[0], "FFT", OURS)
        assert again.value(of, "dqe") is not None
        assert again.value(of, "dqe") == runs.value(of, "dqe")

    def test_jobs_are_counted_once_and_not_for_each_that_is_told(self, tmp_path, monkeypatch):
        counted, told, every_run = [], [], Runs.every_run
        monkeypatch.setattr(Runs, "every_run", lambda runs: counted.append(len(told)) or every_run(runs))
        setting = Setting(tmp_path, progress=told.append)
        series = generated_series(2, n=300, period=24, events=3)
        run_detectors(series, setting, detectors=("FFT",), metrics=("dqe",))
        assert told == [f"detectors: {done} of 4 jobs, 0 failed" for done in range(5)]
        assert set(counted) == {0}

    def test_seeds_are_one_run_and_do_not_mix(self, tmp_path):
        series = generated_series(1, n=600, period=24, events=3)
        told = []
        setting = Setting(tmp_path, seed=1, seeds=2, progress=told.append)
        found = run_detectors(series, setting, detectors=QUICK, metrics=("auc_roc", "dqe"), beyond=("SR",))
        assert told[-1] == "detectors: 5 of 5 jobs, 0 failed"
        read = series[0].source.read()
        every = list(found.each_run(OURS, beyond=True))
        assert [(each.detector, each.seed) for each in every] == [
            ("KMeansAD", 1),
            ("KMeansAD", 2),
            ("FFT", 1),
            ("SR", 1),
        ]
        for each in every[:2]:
            scores = dqeval.detectors.kmeans_ad(read.values, seed=each.seed)
            assert found.value(each, "dqe") == dqeval.dqe_score(read.labels, scores, period=24)
        assert len({found.value(each, "dqe") for each in every}) == 4
        assert [each.seed for each in found.each_run(PUBLISHED, seeds=1)] == [1, 1]
        with dqeval.bench.Store(found.folder) as store:
            assert set(store.planned_detectors()) == {"KMeansAD", "FFT", "FFT, as published", "SR"}

    def test_more_seeds_and_series_are_added_to_what_is_there(self, tmp_path):
        series = generated_series(2, n=600, period=24, events=3)
        told = []
        once = Setting(tmp_path, progress=told.append)
        run_detectors(series[:1], once, detectors=QUICK, metrics=("dqe",))
        found = run_detectors(series, replace(once, seeds=2), detectors=QUICK, metrics=("dqe",))
        # Of the second run, one job of the first series and four of the second are new.
        assert told[told.index("detectors: 3 of 3 jobs, 0 failed") + 1] == "detectors: 3 of 8 jobs, 0 failed"
        assert told[-1] == "detectors: 8 of 8 jobs, 0 failed"
        assert found.left() == []
        with dqeval.bench.Store(found.folder) as store:
            assert store.planned_series() == ["synthetic_600_0", "synthetic_600_1"]

    def test_a_run_from_elsewhere_is_known_by_its_data(self, tmp_path):
        for place in ("here", "there"):
            write_csv(tmp_path / place, NAMES[0], 40)
        told = []
        setting = Setting(tmp_path / "out", progress=told.append)
        for place in ("here", "there"):
            series = real_series("WSD", find_series(tmp_path / place, "WSD"))
            found = run_detectors(series, setting, detectors=QUICK, metrics=("dqe",))
        assert told[-2:] == ["detectors: 3 of 3 jobs, 0 failed"] * 2
        shutil.rmtree(found.folder / "scores")
        run_detectors(series, setting, detectors=QUICK, metrics=("dqe",))
        assert not (found.folder / "scores").exists()
        path = tmp_path / "there" / f"{NAMES[0]}.csv"
        path.write_text(path.read_text().replace("\n0.0,0\n", "\n0.5,0\n"))
        run_detectors(series, setting, detectors=QUICK, metrics=("dqe",))
        assert told[-4:] == [f"detectors: {done} of 3 jobs, 0 failed" for done in range(4)]

    def test_what_fails_is_told(self, tmp_path):
        path = tmp_path / "plain.csv"
        path.write_text("value,label\n" + "".join(f"{np.sin(i)},{int(i == 50)}\n" for i in range(80)))
        source = Source(path, "table", "plain")
        found = run_detectors(real_series("mine", [source]), Setting(tmp_path), detectors=("CNN",), metrics=("dqe",))
        of = found.first(found.series[0], "CNN", OURS)
        assert found.value(of, "dqe") is None
        assert found.events(of) == []
        assert len(found.failures) == 2
        assert "the detector needs training" in found.failures[0]
        assert found.failures[1].startswith("CNN, as published on plain: ")

    def test_all_that_can_be_run_are(self, tmp_path, monkeypatch):
        monkeypatch.setattr(extras, "find_spec", lambda name: None)
        assert run_detectors([], Setting(tmp_path)).detectors == ("KMeansAD", "Sub-LOF", "FFT")


class TestUsable:
    def test_without_torch(self, monkeypatch):
        monkeypatch.setattr(extras, "find_spec", lambda name: None)
        assert usable_detectors() == ("KMeansAD", "Sub-LOF", "FFT")
        assert missing_sentence(usable_detectors()).startswith(
            "TimesNet and CNN need PyTorch, which is not installed: pip"
        )

    def test_with_torch(self, monkeypatch):
        monkeypatch.setattr(extras, "find_spec", lambda name: object())
        assert usable_detectors() == ("KMeansAD", "TimesNet", "CNN", "Sub-LOF", "FFT")
        assert missing_sentence(usable_detectors()) == ""


def test_generated_series_are_named_by_their_length_and_seed():
    first, second = generated_series(2, n=500, period=20, events=2, seed=5)
    assert (first.source.name, second.source.name) == ("synthetic_500_5", "synthetic_500_6")
    made = dqeval.datasets.synthetic(n=500, period=20, events=2, seed=6)
    np.testing.assert_array_equal(second.source.read().values, made.values)
