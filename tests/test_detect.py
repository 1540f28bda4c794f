"""Detectors on the command line: every command, and all that can go wrong."""

import csv
import io
import json
import os
import sys
import time

import numpy as np
import pandas as pd
import pytest

import dqeval
from commands import caller, run
from dqeval.bench.pool import InProcess
from dqeval.cli import output
from dqeval.core.entries import Detector
from dqeval.datasets import load, synthetic
from dqeval.detectors import DETECTORS

PERIOD = 10


def distance(values, *, power=1.0):
    """Return the distance from the mean."""
    return np.abs(values - values.mean()) ** power


def learned(values, *, train_stop, seed=0, device="auto"):
    """Return the distance from the mean of the training part, with a little noise."""
    assert device in ("auto", "cpu")
    noise = np.random.RandomState(seed).rand(len(values))
    return np.abs(values - values[:train_stop].mean()) + 1e-3 * noise


def together(values):
    """Return the sum over columns."""
    return np.abs(values.reshape(len(values), -1)).sum(axis=1)


def threads(values):
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    return np.resize([float(os.environ[name]) for name in names], len(values))


def slow(values):
    time.sleep(0.3)
    return distance(values)


def not_installed(values):
    raise ImportError("not_installed needs torch: pip install 'torch>=2.2'")


def broken(values):
    raise RuntimeError("out of\nmemory")


def killed(values):
    return distance(values) if values.min() > 100 else os._exit(1)


def interrupted(values):
    raise KeyboardInterrupt


def exits(values):
    raise SystemExit(4)


def gives_nan(values):
    return np.where(np.arange(len(values)) == 3, np.nan, values)


def gives_few(values):
    return values[1:]


def entry(function, *, parameters=(), trains=False, univariate=True, extra=None):
    return Detector(
        name=function.__name__,
        label=function.__name__.upper(),
        function=function,
        trains=trains,
        univariate=univariate,
        parameters=dict(parameters),
        extra=extra,
        summary=(function.__doc__ or "").strip(),
        citation="Nobody (2026)",
    )


OWN = [
    entry(distance, parameters={"power": 1.0}),
    entry(learned, parameters={"seed": 0, "device": "auto"}, trains=True, extra="deep"),
    entry(together, univariate=False),
    entry(slow),
    entry(threads),
    entry(not_installed, extra="deep"),
    entry(broken),
    entry(killed),
    entry(interrupted),
    entry(exits),
    entry(gives_nan),
    entry(gives_few),
]


class InThisProcess(InProcess):
    """What does the work of a pool of processes in the one that is there, which is faster."""

    def __init__(self, workers, limits):
        pass


@pytest.fixture
def call_with_processes(monkeypatch, capsys, tmp_path):
    """Run the command line with the detectors above alone."""
    monkeypatch.setattr(DETECTORS, "_entries", {detector.name: detector for detector in OWN})
    monkeypatch.chdir(tmp_path)
    return caller(monkeypatch, capsys)


@pytest.fixture
def call(call_with_processes, monkeypatch):
    monkeypatch.setattr("dqeval.bench.executors.LocalPool", InThisProcess)
    return call_with_processes


def write_series(path, seed=0, **columns):
    """Write a generated series, without its end of training."""
    series = synthetic(n=400, period=PERIOD, events=3, seed=seed)
    columns = {"timestamp": np.arange(400), "value": series.values, "label": series.labels.astype(int), **columns}
    rows = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(rows) + "\n")
    return series


def write_trained(folder, name="own", seed=0):
    """Write a generated series that tells its end of training in its name, and return the file."""
    series = synthetic(n=400, period=PERIOD, events=3, seed=seed)
    path = folder / f"{name}_tr_100_1st_{series.labels.argmax()}.csv"
    rows = [f"{x},{label:d}" for x, label in zip(series.values, series.labels, strict=True)]
    path.write_text("\n".join(["Data,Label", *rows]))
    return path


@pytest.mark.parametrize("target", ["scored", "."])
def test_dates_are_written_as_they_were(call, tmp_path, target):
    dates = [f"2026-01-{1 + t // 24:02}T{t % 24:02}:00:00+02:00" for t in range(400)]
    write_series(tmp_path / "a.csv", timestamp=dates)
    assert call("detect", "a.csv", "--detector", "distance", "-o", target).code == 0
    with (tmp_path / target / "a.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["timestamp"] for row in rows] == dates
    assert "distance" in rows[0]


def test_dates_of_arrays_are_written_as_dates(call, tmp_path):
    series = synthetic(n=400, period=PERIOD, events=3)
    dates = np.datetime64("2026-01-01T00:00") + np.arange(400)
    columns = {"timestamp": dates, "value": series.values, "label": series.labels.astype(int)}
    pd.DataFrame(columns).to_parquet(tmp_path / "a.parquet")
    assert call("detect", "a.parquet", "--detector", "distance", "-o", "scored").code == 0
    assert (load(tmp_path / "scored" / "a.csv").timestamps == dates).all()


def test_detect_and_score(call, tmp_path):
    series = write_series(tmp_path / "a.csv", mine=np.arange(400))
    done = call("detect", "a.csv", "--detector", "distance,together", "-o", "scored")
    assert (done.code, done.out, done.err) == (0, "", "dqeval: wrote scored/a.csv\n")
    with (tmp_path / "scored" / "a.csv").open() as file:
        assert next(csv.reader(file)) == ["timestamp", "value", "label", "mine", "distance", "together"]
    found = load(tmp_path / "scored" / "a.csv")
    assert found.values.tolist() == series.values.tolist()
    assert found.labels.tolist() == series.labels.tolist()
    assert found.timestamps.tolist() == list(range(400))
    assert found.scores["mine"].tolist() == list(range(400))
    assert found.scores["distance"].tolist() == distance(series.values).tolist()
    assert [path.name for path in (tmp_path / "scored").iterdir()] == ["a.csv"]
    done = call("score", "scored/a.csv", "--metrics", "dqe")
    assert done.code == 0
    assert done.out.splitlines()[2].split() == ["metric", "mine", "distance", "together"]


def test_a_file_that_was_there_is_replaced(call, tmp_path):
    write_series(tmp_path / "a.csv")
    (tmp_path / "scored").mkdir()
    (tmp_path / "scored" / "a.csv").write_text("old")
    done = call("detect", "a.csv", "--detector", "distance", "-o", "scored")
    assert (done.code, done.err) == (0, "dqeval: replaced scored/a.csv\n")
    assert "old" not in (tmp_path / "scored" / "a.csv").read_text()


def test_scores_of_another_run_are_kept(call, tmp_path):
    write_series(tmp_path / "a.csv")
    assert call("detect", "a.csv", "--detector", "distance", "-o", "scored").err == "dqeval: wrote scored/a.csv\n"
    before = load(tmp_path / "scored" / "a.csv").scores["distance"]
    done = call("detect", "a.csv", "--detector", "together", "-o", "scored")
    assert (done.code, done.err) == (0, "dqeval: added to scored/a.csv\n")
    assert list(load(tmp_path / "scored" / "a.csv").scores) == ["distance", "together"]
    done = call("detect", "scored", "--detector", "slow,distance", "-o", "scored")
    assert (done.code, done.err) == (0, "dqeval: added to scored/a.csv\n")
    found = load(tmp_path / "scored" / "a.csv")
    assert list(found.scores) == ["distance", "together", "slow"]
    assert found.scores["distance"].tolist() == before.tolist()


@pytest.mark.parametrize("change", ["values", "labels", "columns"])
def test_scores_of_another_series_are_not_kept(call, tmp_path, change):
    series = write_series(tmp_path / "a.csv")
    (tmp_path / "scored").mkdir()
    changed = {
        "values": {"value": series.values + 1},
        "labels": {"label": 1 - series.labels},
        "columns": {"value": ["x"] * 400},
    }[change]
    write_series(tmp_path / "scored" / "a.csv", old=np.arange(400), **changed)
    done = call("detect", "a.csv", "--detector", "distance", "-o", "scored")
    assert (done.code, done.err) == (0, "dqeval: replaced scored/a.csv\n")
    assert list(load(tmp_path / "scored" / "a.csv").scores) == ["distance"]


def test_in_place_nothing_is_lost(call, tmp_path):
    write_series(tmp_path / "a.csv", note=["x"] * 400)
    before = (tmp_path / "a.csv").read_bytes()
    done = call("detect", "a.csv", "--detector", "distance", "-o", ".")
    assert (done.code, done.err) == (
        2,
        "dqeval: a.csv would be overwritten and lose its columns note: choose another folder\n",
    )
    assert (tmp_path / "a.csv").read_bytes() == before


def test_columns_of_other_names(call, tmp_path):
    series = synthetic(n=400, period=PERIOD, events=3)
    rows = [f"{x},{label:d}" for x, label in zip(series.values, series.labels, strict=True)]
    (tmp_path / "a.csv").write_text("\n".join(["cpu,bad", *rows]))
    columns = ("--value", "cpu", "--label", "bad")
    done = call("detect", "a.csv", "--detector", "distance", "-o", "scored", *columns)
    assert (done.code, done.err) == (0, "dqeval: wrote scored/a.csv\n")
    found = load(tmp_path / "scored" / "a.csv")
    assert found.scores["distance"].tolist() == distance(series.values).tolist()
    done = call("detect", "a.csv", "--detector", "distance", "-o", "scored", "--value", "cpus", "--label", "bad")
    assert (done.code, done.err) == (2, "dqeval: a.csv: no numeric column is called cpus; there are cpu, bad\n")


def test_one_detector_that_fails_does_not_stop_the_others(call, tmp_path):
    write_series(tmp_path / "a.csv")
    done = call("detect", "a.csv", "--detector", "broken,distance,learned,together", "-o", "scored")
    assert (done.code, done.err.splitlines()) == (
        2,
        [
            "dqeval: wrote scored/a.csv",
            "dqeval: a: broken: RuntimeError: out of memory",
            "dqeval: a: learned: it needs training, and the file does not say where that ends: give --train-stop",
        ],
    )
    assert list(load(tmp_path / "scored" / "a.csv").scores) == ["distance", "together"]


def test_the_end_of_training(call, tmp_path):
    path = write_trained(tmp_path)
    values = load(path).values
    for options, train_stop in (([], 100), (["--train-stop", 50], 50)):
        assert call("detect", path, "--detector", "learned", "-o", "scored", *options).code == 0
        scores = load(tmp_path / "scored" / path.name).scores["learned"]
        assert scores.tolist() == learned(values, train_stop=train_stop).tolist()
    write_series(tmp_path / "a.csv")
    done = call("detect", "a.csv", "--detector", "learned", "-o", "scored")
    assert (done.code, done.err) == (
        2,
        "dqeval: a: learned: it needs training, and the file does not say where that ends: give --train-stop\n",
    )


def test_seed_and_device(call, tmp_path):
    path = write_trained(tmp_path)
    assert call("detect", path, "--detector", "learned", "-o", "scored", "--seed", 3, "--device", "cpu").code == 0
    scores = load(tmp_path / "scored" / path.name).scores["learned"]
    assert scores.tolist() == learned(load(path).values, train_stop=100, seed=3).tolist()


def test_several_columns(call, tmp_path):
    values = np.column_stack([np.arange(40.0), np.ones(40)])
    np.savez(tmp_path / "a.npz", **{"x/../a/data": values, "x/../a/label": np.arange(40) == 30})
    done = call("detect", "a.npz", "--detector", "together", "-o", "scored")
    assert (done.code, done.err) == (0, "dqeval: wrote scored/x_a~c4bf0a8ebc45.csv\n")
    assert load(tmp_path / "scored" / "x_a~c4bf0a8ebc45.csv").values.tolist() == values.tolist()
    done = call("score", "scored/x_a~c4bf0a8ebc45.csv", "--metrics", "dqe")
    assert done.code == 0
    assert done.out.splitlines()[2].split() == ["metric", "together"]
    done = call("detect", "a.npz", "--detector", "distance", "-o", "scored")
    assert (done.code, done.err) == (
        2,
        "dqeval: x/../a: distance: the detector takes a single column, and the series has 2\n",
    )


def test_one_series_that_fails_does_not_stop_the_others(call, tmp_path):
    (tmp_path / "in").mkdir()
    write_trained(tmp_path / "in", "a")
    (tmp_path / "in" / "b.csv").write_text("value,label\n1,0\n2,x\n")
    write_series(tmp_path / "in" / "c.csv")
    (tmp_path / "in" / "d.csv").write_text("label\n0\n1\n")
    last = write_trained(tmp_path / "in", "e", seed=1)
    done = call("detect", "in", "--detector", "learned", "-o", "scored")
    assert (done.code, done.out) == (2, "")
    told = done.err.splitlines()
    assert [line.split()[1] for line in told] == ["wrote", "wrote", "in/b.csv:", "c:", "in/d.csv:"]
    assert "column label must hold numbers: row 2 below the header is 'x'" in told[2]
    assert told[4].endswith("d.csv: there are no values to run a detector on: name a column value, or give --value")
    assert len(list((tmp_path / "scored").iterdir())) == 2
    assert (tmp_path / "scored" / last.name).exists()


def test_detectors_that_fail(call, tmp_path):
    write_series(tmp_path / "a.csv")
    done = call("detect", "a.csv", "--detector", "not_installed", "-o", "scored")
    assert (done.code, done.err) == (
        2,
        "dqeval: a: not_installed: not_installed needs torch: pip install 'torch>=2.2'\n",
    )
    done = call("detect", "a.csv", "--detector", "broken", "-o", "scored")
    assert (done.code, done.err) == (2, "dqeval: a: broken: RuntimeError: out of memory\n")
    assert list((tmp_path / "scored").iterdir()) == []


def test_scores_that_are_none(call, tmp_path):
    """The command refuses what a benchmark run refuses, in the same words."""
    write_series(tmp_path / "a.csv")
    done = call("detect", "a.csv", "--detector", "gives_nan,distance,gives_few", "-o", "scored")
    assert (done.code, done.err.splitlines()) == (
        2,
        [
            "dqeval: wrote scored/a.csv",
            "dqeval: a: gives_nan: the detector gave 1 scores that are not finite, the first at point 3",
            "dqeval: a: gives_few: the detector gave scores of shape (399,) for 400 points",
        ],
    )
    assert list(load(tmp_path / "scored" / "a.csv").scores) == ["distance"]


@pytest.mark.unmeasured
def test_jobs_do_not_change_results(call_with_processes, tmp_path):
    call = call_with_processes
    (tmp_path / "in").mkdir()
    for seed in range(3):
        write_trained(tmp_path / "in", f"s{seed}", seed)
    write_series(tmp_path / "in" / "bad.csv")
    done = {jobs: call("detect", "in", "--detector", "learned", "-o", f"{jobs}", "--jobs", jobs) for jobs in (1, 2)}
    assert done[1].code == done[2].code == 2
    assert sorted(done[2].err.replace(" 2/", " 1/").splitlines()) == sorted(done[1].err.splitlines())
    names = sorted(path.name for path in (tmp_path / "1").iterdir())
    assert len(names) == 3
    assert names == sorted(path.name for path in (tmp_path / "2").iterdir())
    for name in names:
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


@pytest.mark.unmeasured
def test_one_thread_each(call_with_processes, tmp_path, monkeypatch):
    call = call_with_processes
    write_series(tmp_path / "a.csv")
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setenv("MKL_NUM_THREADS", "3")
    arguments = ("detect", "a.csv", "--detector", "threads", "-o", "scored")
    before = dict(os.environ)
    for given, expected in ((None, [1, 1, 3]), ("2", [2, 2, 3])):
        if given:
            monkeypatch.setenv("OMP_NUM_THREADS", given)
            before["OMP_NUM_THREADS"] = given
        assert call(*arguments).code == 0
        assert load(tmp_path / "scored" / "a.csv").scores["threads"][:3].tolist() == expected
        assert dict(os.environ) == before


def test_a_process_that_is_killed(call_with_processes, tmp_path):
    call = call_with_processes
    write_series(tmp_path / "a.csv")
    write_series(tmp_path / "b.csv")
    write_series(tmp_path / "c.csv", value=np.arange(400) + 1000)
    done = call("detect", "a.csv", "b.csv", "c.csv", "--detector", "killed", "-o", "scored", "--jobs", 2)
    why = "the process died (exit code 1): out of memory, or a crash; try fewer --jobs"
    assert (done.code, done.err) == (2, f"dqeval: wrote scored/c.csv\ndqeval: a: {why}\ndqeval: b: {why}\n")


def test_what_ends_other_programs_is_an_error_of_one_detector(call_with_processes, tmp_path):
    write_series(tmp_path / "a.csv")
    done = call_with_processes("detect", "a.csv", "--detector", "interrupted,exits,distance", "-o", "scored")
    told = "dqeval: wrote scored/a.csv\ndqeval: a: interrupted: KeyboardInterrupt:\ndqeval: a: exits: SystemExit: 4\n"
    assert (done.code, done.err) == (2, told)
    assert list(load(tmp_path / "scored" / "a.csv").scores) == ["distance"]


def test_a_disk_that_is_full(call, tmp_path, monkeypatch):
    write_series(tmp_path / "a.csv")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pathlib.Path.replace", full)
    done = call("detect", "a.csv", "--detector", "distance", "-o", "scored")
    assert (done.code, done.err) == (2, "dqeval: scored/a.csv: No space left on device\n")


def test_tables_to_be_read_again_keep_names_that_look_like_formulas(call, tmp_path):
    (tmp_path / "a.csv").write_text("value,label,=HYPERLINK(1)\n1,0,0\n2,1,1\n3,0,0\n")
    assert call("detect", "a.csv", "--detector", "distance", "-o", "scored").code == 0
    assert list(load(tmp_path / "scored" / "a.csv").scores) == ["=HYPERLINK(1)", "distance"]


def test_scores_go_to_files_that_every_system_takes(call, tmp_path):
    (tmp_path / "odd").mkdir()
    for name in ("A.csv", "a.csv", "CON.csv", "my data (1).csv"):
        write_series(tmp_path / "odd" / name)
    done = call("detect", "odd", "--detector", "distance", "-o", "scored")
    assert done.code == 0, done.err
    upper, device, lower, fine = sorted(path.name for path in (tmp_path / "scored").iterdir())
    assert (upper[:2], device[:4], lower[:2], fine) == ("A~", "CON~", "a~", "my data (1).csv")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.csv"], "nowhere.csv: No such file or directory"),
        (["empty"], "empty: there is no series here; expected EasyTSAD"),
        (["note.md"], "note.md: this fits no known format; expected EasyTSAD"),
        (["a.csv", "--detector", "distanse"], "unknown detector 'distanse'; did you mean 'distance'?"),
        (["a.csv", "--detector", " ,"], "name at least one detector: dqeval detectors lists them"),
        (["a.csv", "-o", "note.md"], "note.md is a file; name a folder"),
        (["k_tr_1_1st_1.csv", "-o", "."], "k_tr_1_1st_1.csv would overwrite an input file: choose another folder"),
        (["pack.npz", "a.csv", "-o", "."], "a.csv would overwrite an input file: choose another folder"),
        (["a.csv", "sub"], "a.csv and sub/a.csv would both be written to scored/a.csv: run them one by one, into two"),
        (["a.csv", "--jobs", "0"], "Invalid value for '--jobs'"),
        ([], "Missing argument"),
    ],
)
def test_what_cannot_be_done(call, tmp_path, arguments, message):
    (tmp_path / "empty").mkdir()
    (tmp_path / "sub").mkdir()
    (tmp_path / "note.md").write_text("a note")
    write_series(tmp_path / "a.csv")
    write_series(tmp_path / "sub" / "a.csv")
    (tmp_path / "k_tr_1_1st_1.csv").write_text("Data,Label\n1,0\n2,1\n")
    np.savez(tmp_path / "pack.npz", **{"a/data": np.arange(9.0), "a/label": np.arange(9) == 7})
    given = {"--detector": "distance", "-o": "scored"}
    rest = [part for name, value in given.items() if name not in arguments for part in (name, value)]
    done = call("detect", *arguments, *rest)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert message in done.err
    assert not (tmp_path / "scored").exists()


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_progress_bar_and_a_summary_on_a_terminal(call, tmp_path, monkeypatch):
    write_series(tmp_path / "a.csv")
    write_series(tmp_path / "b.csv")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys, "stderr", terminal := Terminal())
    call("detect", "a.csv", "--detector", "distance", "-o", "scored")
    assert terminal.getvalue() == "dqeval: wrote 1 file to scored\n"
    monkeypatch.setattr(output, "PATIENCE", 0)
    call("detect", "a.csv", "b.csv", "--detector", "slow", "-o", "scored")
    assert "detect" in terminal.getvalue()
    assert terminal.getvalue().endswith("dqeval: wrote 2 files to scored, 1 of them added to\n")


def test_detectors(call):
    done = call("detectors")
    assert done.code == 0
    lines = done.out.splitlines()
    assert [line.split()[0] for line in lines[::4]] == [detector.name for detector in OWN]
    assert lines[4:8] == [
        "learned (LEARNED), Nobody (2026)",
        "    Return the distance from the mean of the training part, with a little noise.",
        "    Takes one column. Needs the end of a training part, pip install 'torch>=2.2'.",
        "    Parameters: seed: 0; device: auto.",
    ]
    assert lines[10:12] == ["    Takes one or several columns. Needs no training.", "    Parameters: none."]


COLUMNS = ["series", "format", "points", "events", "anomalous", "train_stop", "period"]


def test_datasets_list(call, tmp_path):
    path = write_trained(tmp_path)
    write_series(tmp_path / "z.csv")
    done = call("datasets", "list", tmp_path)
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0].split() == COLUMNS
    assert done.out.splitlines()[2].split() == [path.stem, "tsb_ad", "400", "3", "5.25", "%", "100", "10"]
    assert done.out.splitlines()[3].split() == ["z", "table", "400", "3", "5.25", "%", "10"]
    (first, _) = json.loads(call("datasets", "list", tmp_path, "--format", "json").out)["series"]
    assert first == {
        "series": path.stem,
        "format": "tsb_ad",
        "points": 400,
        "events": 3,
        "share_anomalous": 0.0525,
        "train_stop": 100,
        "period": 10,
        "no_period": "",
    }
    assert call("datasets", "list", tmp_path, "--format", "csv", "-o", tmp_path / "out.txt").code == 0
    assert (tmp_path / "out.txt").read_text().splitlines()[2] == "z,table,400,3,0.0525,,10,"


def test_datasets_list_tells_series_of_one_name_apart(call, tmp_path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        write_series(tmp_path / folder / "c.csv")
    write_series(tmp_path / "d.csv")
    listed = call("datasets", "list", ".").out.splitlines()
    assert [line.split()[0] for line in listed[2:]] == ["a/c.csv", "b/c.csv", "d"]


def test_datasets_list_goes_on_after_a_bad_file(call, tmp_path):
    (tmp_path / "a.csv").write_text("label\n2\n")
    write_series(tmp_path / "b.csv")
    (tmp_path / "kpi").mkdir()
    np.save(tmp_path / "kpi" / "train.npy", [1.0, 2.0])
    done = call("datasets", "list", ".")
    assert done.code == 2
    assert done.out.splitlines()[2].startswith("b ")
    assert done.err.splitlines() == [
        "dqeval: a.csv: the labels must be 0 and 1: that of point 0, counted from 0, is 2.0",
        "dqeval: kpi/train_label.npy: No such file or directory",
    ]
    assert call("datasets").code == 2


@pytest.mark.unmeasured
def test_as_people_run_it(tmp_path):
    write_series(tmp_path / "a.csv")
    assert "a       table" in run("datasets", "list", tmp_path).stdout
    done = run("detectors")
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()[::4]] == list(DETECTORS.names)
    done = run("detect", "a.csv", "--detector", "fft", "-o", "scored", "--jobs", "2", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "dqeval: wrote scored/a.csv\n")
    done = run("score", "scored/a.csv", "--metrics", "dqe", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (
        load(tmp_path / "scored" / "a.csv").scores["fft"].tolist()
        == dqeval.detectors.fft(load(tmp_path / "a.csv").values).tolist()
    )


def only(monkeypatch, *functions):
    """Leave some of the detectors above."""
    names = [function.__name__ for function in functions]
    monkeypatch.setattr(DETECTORS, "_entries", {each.name: each for each in OWN if each.name in names})


def test_of_all_detectors_those_that_do_not_fit_are_left_out(call, tmp_path, monkeypatch):
    pytest.importorskip("torch")  # without which "learned" would be left out before
    only(monkeypatch, distance, learned)
    for name in "abcdef":
        write_series(tmp_path / f"{name}.csv")
    done = call("detect", *(f"{name}.csv" for name in "abcdef"), "--detector", "all", "-o", "out")
    assert done.code == 0, done.err
    assert [f"dqeval: left out: {name}: learned: it needs training" in done.err for name in "abcdef"] == [True] * 4 + [
        False
    ] * 2
    assert done.err.endswith("dqeval: left out for the same or similar reasons: 2 more\n")
    assert list(load(tmp_path / "out" / "f.csv").scores) == ["distance"]
    done = call("detect", "a.csv", "--detector", "distance", "--detector", "learned", "-o", "out")
    assert (done.code, "dqeval: a: learned: it needs training" in done.err) == (2, True)


def test_a_series_that_no_detector_fits(call, tmp_path, monkeypatch):
    pytest.importorskip("torch")  # without which "learned" would be left out before
    only(monkeypatch, learned)
    write_series(tmp_path / "a.csv")
    done = call("detect", "a.csv", "--detector", "all", "-o", "out")
    assert (done.code, "left out" in done.err) == (2, False)
    assert "dqeval: a: learned: it needs training" in done.err


def test_all_detectors_still_fail_for_other_reasons(call, tmp_path, monkeypatch):
    only(monkeypatch, distance, broken)
    write_series(tmp_path / "a.csv")
    done = call("detect", "a.csv", "--detector", "all", "-o", "out")
    assert (done.code, "dqeval: a: broken: RuntimeError: out of memory\n" in done.err) == (2, True)
