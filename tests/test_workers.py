"""Detectors, series, metrics and random scores in threads: numbers, progress, warnings and errors as without."""

import dataclasses
import threading
import time
import warnings

import numpy as np
import pytest

import dqeval
from commands import caller, write_demo
from dqeval.analysis import panel_run
from dqeval.analysis.receipt_commands import COMMANDS
from dqeval.analysis.receipts import jsonable
from dqeval.analysis.score import panels, score
from dqeval.analysis.walk import Walk
from dqeval.core import prepared
from dqeval.core.registry import METRICS
from dqeval.datasets.door import Asked, entries, prepare
from dqeval.metrics import vus
from dqeval.support import threads

DEMO = dqeval.datasets.demo()
HALF = dataclasses.replace(
    DEMO,
    name="half",
    labels=DEMO.labels[:800],
    scores={name: scores[:800] for name, scores in DEMO.scores.items()},
    values=DEMO.values[:800],
)
NORMAL = dataclasses.replace(HALF, name="normal", labels=np.zeros(800))
FEW = ["dqe", "auc_roc", "range_f1"]


def test_a_panel_has_two_threads_unless_it_is_told(monkeypatch):
    """More would take more memory, and gain little."""
    asked = []
    monkeypatch.setattr(threads, "_cores", lambda: 16)
    monkeypatch.setattr(panel_run, "in_order", lambda work, items, workers: asked.append(workers) or map(work, items))
    labels, scores = np.arange(100) % 10 == 0, np.arange(100)
    for workers in (None, 1, 5):
        dqeval.panel(labels, scores, near=2, metrics=["dqe"], workers=workers)
    assert asked == [2, 1, 5]


@pytest.fixture
def call(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    return caller(monkeypatch, capsys)


@pytest.fixture(autouse=True)
def in_threads(monkeypatch):
    """Have even short series worked on in threads."""
    monkeypatch.setattr(threads, "LEAST_POINTS", 0)


def counted(call, **options):
    """Return what a call gives, and the progress that it told of."""
    told = []
    return call(**options, progress=lambda done, total: told.append((done, total))), told


@pytest.mark.parametrize("workers", [None, 2, 5])
def test_scores_do_not_depend_on_the_workers(workers):
    series = [DEMO, NORMAL, HALF, DEMO]
    alone, told = counted(lambda **options: score(series, metrics=FEW, workers=1, **options))
    several, told_too = counted(lambda **options: score(series, metrics=FEW, workers=workers, **options))
    assert several == alone
    assert told_too == told == [(1, 3), (2, 3), (3, 3)] * 3


def test_the_same_series_twice_stays_two():
    prepared = prepare(DEMO)
    assert len(score([prepared, prepared], metrics=["dqe"], workers=2).series) == 2


def test_comparisons_do_not_depend_on_the_workers():
    def compare(**options):
        return dqeval.compare(DEMO, metrics=FEW, repeats=3, **options)

    alone, told = counted(compare, workers=1)
    dqeval.analysis.chance._chance_levels.clear()
    several, told_too = counted(compare, workers=3)
    assert jsonable(several.numbers()) == jsonable(alone.numbers())  # where what is NaN equals itself
    assert told_too == told == [(done, 6) for done in range(1, 7)]


@pytest.mark.parametrize("binary", [False, True])
def test_chance_does_not_depend_on_the_workers(binary):
    scores = DEMO.scores["late"] > 0.5 if binary else DEMO.scores["late"]
    found = []
    for workers in (1, 3, None):
        dqeval.analysis.chance._chance_levels.clear()
        found.append(dqeval.panel(DEMO.labels, scores, near=5, metrics=FEW).chance(repeats=5, workers=workers))
    assert found[0] == found[1] == found[2]
    with pytest.raises(ValueError, match="workers must be"):
        dqeval.panel(DEMO.labels, scores, near=5, metrics=FEW).chance(workers=0)


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("workers", [None, 2, 20])
def test_panels_do_not_depend_on_the_workers(workers, binary):
    scores = DEMO.scores["late"] > 0.5 if binary else DEMO.scores["late"]
    alone, several = (dqeval.panel(DEMO.labels, scores, near=5, metrics="all", workers=count) for count in (1, workers))
    assert jsonable(several.values) == jsonable(alone.values)
    for kept in ("values", "seconds", "failures", "parameters", "best", "labels"):
        assert list(getattr(several, kept)) == list(getattr(alone, kept))
    assert repr(several.best) == repr(alone.best)  # where NaN equals itself
    assert several.failures == alone.failures
    with pytest.raises(ValueError, match="workers must be"):
        dqeval.panel(DEMO.labels, scores, near=5, workers=0)


def test_what_metrics_share_is_made_once_for_all_threads(monkeypatch):
    made = []

    def counted(make):
        def count(*arguments):
            made.append(make.__name__)
            time.sleep(0.05)  # in which the others would begin, too
            return make(*arguments)

        return count

    for module, name in ((prepared, "ascending_with_ties"), (vus, "_computed_areas"), (panel_run, "sweep_of")):
        monkeypatch.setattr(module, name, counted(getattr(module, name)))
    dqeval.panel(DEMO.labels, DEMO.scores["late"], near=5, workers=15)
    assert sorted(made) == ["_computed_areas", "ascending_with_ties", "sweep_of", "sweep_of"]


def test_metrics_without_a_sweep_are_searched_once_for_all_threads():
    asked = []
    for name in ("one", "other"):

        @dqeval.metric(takes="detections", name=name)
        def hits(y_true, y_pred):
            asked.append(y_pred.sum())
            time.sleep(0.0005)  # in which the other thread would begin, too
            return float(np.mean(y_true * y_pred))

    dqeval.panel(DEMO.labels, DEMO.scores["late"], near=5, metrics=["one", "other"], workers=2)
    assert len(asked) == 2 * len(set(asked))


def test_the_first_metric_that_fails_is_named():
    for name in ("one", "other"):

        @dqeval.metric(takes="scores", name=name)
        def failing(y_true, y_score):
            raise KeyError

    for workers in (1, 2):
        with pytest.raises(dqeval.MetricError, match="one"):
            dqeval.panel(DEMO.labels, DEMO.scores["late"], near=5, metrics=["dqe", "one", "other"], workers=workers)


def test_profiles_do_not_depend_on_the_workers():
    alone, told = counted(lambda **options: dqeval.near_profile(DEMO, workers=1, **options))
    several, told_too = counted(lambda **options: dqeval.near_profile(DEMO, workers=3, **options))
    assert jsonable(several.numbers()) == jsonable(alone.numbers())
    assert told_too == told == [(1, 3), (2, 3), (3, 3)]


def test_pages_do_not_depend_on_the_workers(tmp_path):
    # Enough events for intervals, and enough points to be packed as whole steps.
    labels = np.zeros(70_000, dtype=int)
    labels[500::5_000] = 1
    random = np.random.default_rng(0)
    walks = {name: np.cumsum(random.normal(size=len(labels))) for name in "abc"}
    pages = []
    for workers in (1, 3):
        dqeval.analysis.chance._chance_levels.clear()
        data = dqeval.Series("walks", labels, walks, period=100)
        dqeval.report(data, tmp_path / "page.html", metrics="dqe", workers=workers)
        pages.append((tmp_path / "page.html").read_bytes())
    assert pages[0] == pages[1]


def test_panels_of_each_detector():
    alone, several = (dict(panels(prepare(DEMO), metrics=FEW, workers=workers)) for workers in (1, 3))
    assert alone == several
    assert list(several) == list(DEMO.scores)


def test_errors_name_the_first_that_is_wrong():
    series = [dataclasses.replace(DEMO, name=name) for name in "abc"]
    bad = dataclasses.replace(DEMO, name="bad", scores={**DEMO.scores, "late": np.full(1600, np.nan)})
    for workers in (1, 3):
        with pytest.raises(ValueError, match=r"^bad: column late: y_score must be finite"):
            score([*series, bad, NORMAL], metrics=["dqe"], workers=workers)
        with pytest.raises(ValueError, match=r"^workers must be a whole number of at least 1"):
            score(series, workers=-workers)
        with pytest.raises(ValueError, match="there is no series to score"):
            score([], workers=workers)
        with pytest.raises(dqeval.UndefinedError, match=r"^normal, normal: no label is 1"):
            score([NORMAL, NORMAL], workers=workers)


@pytest.fixture
def talkative(monkeypatch):
    """Have AUC-ROC warn of every detector, and fail at 0.5."""
    metric, barrier = METRICS["auc_roc"], threading.Barrier(2)

    def compute(scored, **options):
        if scored.raw[0] == 1:
            barrier.wait(10)  # so that the second is as fast as the first
        warnings.warn(f"a score of {scored.raw[1]:g}", stacklevel=1)
        if scored.raw[1] == 7:
            raise RuntimeError("seven")
        return 0.5

    monkeypatch.setitem(METRICS._entries, "auc_roc", dataclasses.replace(metric, compute=compute))


@pytest.mark.parametrize("workers", [2, 4])
def test_warnings_and_errors_of_metrics_come_in_order(talkative, workers):
    scores = {f"d{i}": np.array([i < 2, i, 0.5, 2]) for i in range(10)}
    series = dqeval.Series("s", np.array([0, 1, 0, 0]), scores)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with pytest.raises(dqeval.MetricError, match="auc_roc"):
            score([series], near=1, metrics=["auc_roc"], workers=workers)
    assert [str(each.message) for each in told] == [f"a score of {i}" for i in range(8)]


def test_the_command_line(call, tmp_path):
    write_demo(tmp_path / "demo.csv")
    for command in (["score"], ["compare"], ["explain"], ["near"]):
        alone = call(*command, "demo.csv", "--workers", "1")
        several = call(*command, "demo.csv", "--workers", "3")
        assert (several.code, several.out, several.err) == (alone.code, alone.out, alone.err)
        assert several.code == 0
    for workers in "13":
        assert call("report", "demo.csv", "-o", f"{workers}.html", "--workers", workers).code == 0
    assert (tmp_path / "1.html").read_bytes() == (tmp_path / "3.html").read_bytes()
    wrong = call("score", "demo.csv", "--workers", "0")
    assert wrong.code == 2
    assert "--workers" in wrong.err


def test_receipts_say_nothing_of_workers(call, tmp_path):
    write_demo(tmp_path / "demo.csv")
    alone = call("score", "demo.csv", "--format", "json", "--workers", "1")
    assert call("score", "demo.csv", "--format", "json", "--workers", "2").out == alone.out
    assert "workers" not in alone.out


def test_progress_of_a_walk_never_goes_back(tmp_path):
    for name in "abc":
        write_demo(tmp_path / f"{name}.csv")
    told = []
    found = list(entries([tmp_path], Asked()))
    subject = COMMANDS["score"].subject
    walk = Walk(found, list("abc"), lambda one: subject(one, {}), lambda *share: told.append(share))
    series = (visit.subject for visit in walk)
    COMMANDS["score"].work(series, {"metrics": ["dqe"]}, walk.working, 2)
    shares = [done / total for done, total in told]
    assert shares == sorted(shares)
    assert shares[-1] == 1
