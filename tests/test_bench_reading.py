"""What a benchmark run does once: read a series, and compute the id of a job; and in which order jobs are done."""

import os
import threading
from collections import Counter

import numpy as np
import pytest

import dqeval
from dqeval import bench
from dqeval.bench import dispatch, series_cache
from dqeval.bench.dispatch import Lanes
from dqeval.bench.executors import Processes, crew_for
from dqeval.bench.jobs import Job
from dqeval.bench.plan import Generated, PlannedDetector, PlannedSeries
from dqeval.bench.pool import Limits, LocalPool
from dqeval.bench.series_cache import forget_series, read_series
from dqeval.bench.tasks import Task
from dqeval.datasets.loading import Source, sources
from test_formats import write_nab

COUNTING = """
import os
from dqeval.datasets.loading import Source

read = Source.read

def counted(self, **columns):
    with open({log!r}, "a") as file:
        file.write(f"{{os.getpid()}} {{self.name}}\\n")
    return read(self, **columns)

Source.read = counted
"""


def write_series(path, seed=0):
    series = dqeval.datasets.synthetic(n=500, period=24, events=2, seed=seed)
    columns = np.column_stack([series.values, series.labels])
    np.savetxt(path, columns, delimiter=",", header="value,label", comments="", fmt=["%.6f", "%d"])
    return path


@pytest.fixture
def plan(tmp_path, monkeypatch):
    """Have three files, of which each is read by seven jobs, and a module that counts how often, in every process."""
    monkeypatch.setattr(Source, "read", Source.read)  # and afterwards again
    (tmp_path / "data").mkdir()
    for seed in range(3):
        write_series(tmp_path / "data" / f"s{seed}.csv", seed)
    module = f"counting_{os.path.basename(tmp_path)}"
    (tmp_path / f"{module}.py").write_text(COUNTING.format(log=str(tmp_path / "reads")))
    return {
        "modules": [module],
        "modules_in": str(tmp_path),
        "metrics": ["auc_roc"],
        "seeds": [0, 1, 2],
        "data": [{"path": str(tmp_path / "data")}],
        "detector": [{"name": "kmeans_ad"}, {"name": "kmeans_ad", "label": "few", "clusters": 3}, {"name": "fft"}],
    }


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.unmeasured
def test_a_worker_reads_a_series_once(plan, tmp_path, workers):
    assert bench.run(plan, tmp_path / "run", workers=workers).done == 21
    reads = Counter((tmp_path / "reads").read_text().splitlines())
    assert sorted(line.split()[1] for line in reads) == ["s0", "s1", "s2"]
    assert set(reads.values()) == {1}
    assert series_cache._last.series is None  # nothing is kept in memory after the run


@pytest.mark.unmeasured
def test_an_id_is_computed_once_per_job(plan, tmp_path, monkeypatch):
    computed = Counter()
    original = Job.id.fget

    def counted(job):
        found = original(job)
        computed[found] += 1
        return found

    monkeypatch.setattr(Job, "id", property(counted))
    bench.run(plan, tmp_path / "run")
    assert (len(computed), set(computed.values())) == (21, {1})
    computed.clear()
    assert bench.run({**plan, "metrics": ["auc_pr"]}, tmp_path / "run").done == 21
    assert (len(computed), set(computed.values())) == (21, {1})
    computed.clear()
    state = bench.run({**plan, "metrics": ["auc_pr"], "seeds": [0, 1, 2, 3]}, tmp_path / "run")
    assert (state.done, state.earlier) == (6, 21)  # those that are done are told from those that are left
    assert (len(computed), set(computed.values())) == (27, {1})


@pytest.mark.unmeasured
def test_the_results_are_kept_under_the_same_ids(plan, tmp_path):
    checked = bench.make_plan(plan)
    bench.run(checked, tmp_path / "run", workers=2)
    jobs = dqeval.bench.jobs.jobs_of(checked, (tmp_path / "run").resolve(), dqeval.__version__)
    with bench.Store(tmp_path / "run") as store:
        assert {store.status(job.id) for job in jobs} == {"done"}


# The series that was read last ----------------------------------------------------------------------------------------


@pytest.fixture
def reads(monkeypatch):
    """Count how often files are read."""
    found = []
    original = Source.read

    def counted(self, **columns):
        found.append(self.name)
        return original(self, **columns)

    monkeypatch.setattr(Source, "read", counted)
    yield found
    forget_series()


def test_a_file_that_has_changed_is_read_again(tmp_path, reads):
    (source,) = sources(write_series(tmp_path / "a.csv"))
    first = read_series(source)
    assert read_series(source).values is first.values
    write_series(tmp_path / "a.csv", seed=1)
    os.utime(tmp_path / "a.csv", ns=(1, 1))
    assert read_series(source).values.tolist() != first.values.tolist()
    assert reads == ["a", "a"]


def test_a_folder_in_which_a_file_has_changed_is_read_again(tmp_path, reads):
    for name, content in {"train": [1.0, 2.0], "test": [1.0, 9.0], "train_label": [0, 0], "test_label": [0, 1]}.items():
        np.save(tmp_path / f"{name}.npy", content)
    (source,) = sources(tmp_path)
    assert read_series(source).values[-1] == read_series(source).values[-1] == 9
    np.save(tmp_path / "test.npy", [1.0, 5.0])
    os.utime(tmp_path / "test.npy", ns=(1, 1))
    assert read_series(source).values[-1] == 5
    assert len(reads) == 2


def test_only_the_last_series_is_kept(tmp_path, reads):
    one, two = (next(sources(write_series(tmp_path / f"{name}.csv"))) for name in "ab")
    for source in (one, one, two, one):
        read_series(source)
    assert reads == ["a", "b", "a"]


def test_what_cannot_be_read_is_said_each_time(tmp_path, reads):
    gone = Source(tmp_path / "gone.csv", "table", "gone")
    for _ in range(2):
        with pytest.raises((OSError, ValueError), match=r"gone\.csv"):
            read_series(gone)
    assert reads == ["gone", "gone"]


def test_each_thread_has_its_own(tmp_path, reads):
    (source,) = sources(write_series(tmp_path / "a.csv"))
    read_series(source)
    other = threading.Thread(target=read_series, args=(source,))
    other.start()
    other.join()
    read_series(source)
    assert reads == ["a", "a"]


def test_what_a_metric_does_to_labels_does_not_reach_the_next_job():
    source = Generated("g", "synthetic", (("n", 400), ("period", 16), ("events", 2)))
    first = read_series(source)
    first.labels[:] = False
    assert read_series(source).labels.any()
    forget_series()


# The order ------------------------------------------------------------------------------------------------------------


def tasks(*counts, scored=False):
    """Return tasks of several series, called a, b, …, of which there are so many each."""
    return [
        Task(Job(series, PlannedDetector("x", "x", ()), i, (), None, None, "", ""), f"{series.source.name}{i}", "")
        for name, count in zip("abcdef", counts, strict=False)
        for series in [PlannedSeries("d", Generated(name, "synthetic", ()), scored)]
        for i in range(count)
    ]


def handed(lanes, count):
    return [None if task is None else task.id for task in (lanes.next() for _ in range(count))]


def test_one_lane_keeps_the_order():
    lanes = Lanes(iter(tasks(2, 1, 2)), 1)
    assert handed(lanes, 6) == ["a0", "a1", "b0", "c0", "c1", None]


def test_each_worker_has_a_series():
    given = tasks(3, 3, 2)
    lanes = Lanes(iter(given), 2)
    assert handed(lanes, 4) == ["a0", "b0", "a1", "b1"]
    lanes.release(given[0])
    lanes.release(given[1])
    assert handed(lanes, 1) == ["a2"]  # to whoever has ended two tasks of that series
    assert handed(lanes, 3) == ["c0", "c1", "b2"]
    assert handed(lanes, 1) == [None]


def test_the_last_series_is_shared():
    assert handed(Lanes(iter(tasks(3)), 2), 4) == ["a0", "a1", "a2", None]


def test_scores_of_ones_own_are_another_series():
    lanes = Lanes(iter([*tasks(1), *tasks(1, scored=True)]), 2)
    lanes.next()
    lanes.next()
    assert len(lanes._handed) == 2


def test_only_so_many_tasks_are_looked_at(monkeypatch):
    monkeypatch.setattr(dispatch, "AHEAD", 3)
    given = iter(tasks(9, 1))
    assert handed(Lanes(given, 2), 1) == ["a0"]
    assert next(given).id == "a3"


def test_processes_get_jobs_of_their_own_series():
    with crew_for(2, None, Limits()) as crew:
        assert isinstance(crew, Processes)
        assert crew.lanes == 2
    with crew_for(0, None, Limits()) as crew:
        assert crew.lanes == 1


def test_a_pool_takes_calls_of_one_group_together(monkeypatch):
    begun, free = threading.Event(), threading.Event()
    done = []

    class Recorder:
        def __init__(self, limits):
            pass

        def call(self, function, argument):
            begun.set()
            free.wait(60)
            done.append(argument)

        def stop(self):
            pass

    monkeypatch.setattr("dqeval.bench.pool.Worker", Recorder)
    pool = LocalPool(1, Limits())
    pool.submit(abs, 0, group="a")
    begun.wait(60)
    for i, group in enumerate("bbaba", start=1):
        pool.submit(abs, i, group=group)
    free.set()
    pool.shutdown()
    assert done == [0, 3, 5, 1, 2, 4]


def test_labels_in_a_file_of_their_own_are_data_too(tmp_path):
    (source,) = sources(write_nab(tmp_path))
    job = Job(PlannedSeries("nab", source), PlannedDetector("fft", "fft", ()), 0, ("dqe",), None, None, "", "1")
    before = job.id
    assert int(read_series(source).labels.sum()) == 3
    labels = tmp_path / "labels" / "combined_windows.json"
    labels.write_text(labels.read_text().replace("00:27:00.000000", "00:29:00"))
    assert job.id != before
    assert int(read_series(source).labels.sum()) == 5
