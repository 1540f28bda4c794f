"""Benchmark runs on a Dask cluster: workers that come and go, a scheduler that is lost, and other versions."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

import dqeval
from dqeval import bench
from dqeval.bench import executors
from dqeval.bench import tasks as tasks_module
from dqeval.bench.dispatch import Waiting, job_results
from dqeval.bench.executors import AHEAD, TOGETHER, Cluster, Crew, CrewLostError, crew_for, work_off
from dqeval.bench.jobs import JobResult, failure_of
from dqeval.bench.pool import InProcess, Limits, WorkFailedError
from dqeval.bench.results_file import FILE
from dqeval.bench.store import Store
from dqeval.bench.tasks import SLICE, Batch, Task, do_guarded
from dqeval.support.versions import NOBODY, difference, source_digest, versions
from test_bench import SMALL, one_job, table

TESTS = Path(__file__).parent
PATIENCE = 120  # seconds, on a machine that is busy with other things


@pytest.fixture(autouse=True, scope="module")
def _odd_detectors(odd_detectors):
    """Have the detectors that plans here name."""


class Processes:
    """A Dask scheduler and its workers, each a process of its own."""

    def __init__(self, folder, python_path=()):
        self.folder = folder
        self.environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*python_path, str(TESTS), *sys.path])}
        self.started = []
        file = folder / "scheduler.json"
        self.options = ["--no-dashboard", "--scheduler-file", str(file)]
        self.scheduler = self.start("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0")
        wait_until(lambda: file.exists() and file.read_text())
        self.address = json.loads(file.read_text())["address"]

    def worker(self, threads=1):
        command = ("distributed.cli.dask_worker", "--no-nanny", "--nthreads", str(threads))
        return self.start(*command, "--local-directory", str(self.folder))

    def start(self, module, *options):
        command = [sys.executable, "-m", module, *options, *self.options]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.started.append(subprocess.Popen(command, env=self.environment, **quiet))
        return self.started[-1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.started:
            kill(process)


def kill(process):
    process.kill()
    process.wait()


def wait_until(holds):
    until = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < until, "waited in vain"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """Have a scheduler and two workers: their address."""
    pytest.importorskip("distributed")
    with Processes(tmp_path_factory.mktemp("cluster")) as processes:
        for _ in range(2):
            processes.worker()
        yield processes.address


# A real cluster -------------------------------------------------------------------------------------------------------


def test_a_cluster_gives_the_same_table(cluster, tmp_path):
    bench.run(SMALL, tmp_path / "here")
    state = bench.run(SMALL, tmp_path / "cluster", scheduler=cluster)
    assert (state.done, state.failed) == (15, 0)
    assert table(tmp_path / "cluster") == table(tmp_path / "here")


def test_what_fails_on_a_cluster_is_a_row_and_is_not_done_again(cluster, tmp_path):
    names = ("raises", "dies", "quick")
    plan = {**SMALL, "detector": [{"name": name} for name in names], "seeds": [0]}
    state = bench.run(plan, tmp_path / "run", scheduler=cluster)
    assert (state.done, state.failed) == (9, 6)
    rows = table(tmp_path / "run")[0]
    reasons = {row["reason"].partition(":")[0] for row in rows if row["status"] == "failed"}
    assert reasons == {"RuntimeError", "the process died (signal 9)"}
    assert {row["versions"] for row in rows} == {versions()}


def test_limits_are_those_of_the_run(cluster, tmp_path):
    data = [{"generator": "synthetic", "n": 400, "period": 16, "events": 2}]
    plan = {**SMALL, "detector": [{"name": "hangs"}], "data": data}
    for seconds in (1, 2):
        bench.run({**plan, "timeout": seconds}, tmp_path / str(seconds), scheduler=cluster)
        (row,) = table(tmp_path / str(seconds))[0]
        assert row["reason"] == f"took longer than the limit of {seconds} seconds"


@pytest.mark.unmeasured
def test_workers_that_join_later_get_work_at_once(tmp_path):
    pytest.importorskip("distributed")
    (tmp_path / "met").mkdir()
    meets = {"name": "meets", "folder": str(tmp_path / "met"), "count": 6}
    plan = {**SMALL, "metrics": ["auc_roc"], "seeds": list(range(6)), "detector": [meets]}
    plan["data"] = [{"generator": "synthetic", "n": 400, "period": 16, "events": 2}]
    seen = []
    with Processes(tmp_path) as processes:

        def join(state):
            if state.threads == 0 and 0 not in seen:
                processes.worker(threads=6)
            seen.append(state.threads)

        state = bench.run(plan, tmp_path / "run", scheduler=processes.address, progress=join)
    assert (state.done, state.failed) == (6, 0)
    assert seen[:3] == [None, 0, 6]


PLAN = """
modules = ["odd_detectors"]
metrics = ["auc_roc"]
seeds = [0, 1, 2, 3, 4, 5, 6]
[[data]]
generator = "synthetic"
count = 12
n = 300
period = 12
events = 2
[[detector]]
name = "slow"
seconds = 0.1
"""


@pytest.mark.unmeasured
def test_workers_and_then_the_scheduler_are_killed(tmp_path):
    pytest.importorskip("distributed")
    plan, folder, told = tmp_path / "plan.toml", tmp_path / "run", tmp_path / "told"
    plan.write_text(PLAN)
    command = [sys.executable, "-m", "dqeval", "bench", "run", str(plan), "-o", str(folder), "--scheduler"]
    no_worker = "dqeval: the cluster has no worker: waiting for one"
    with Processes(tmp_path) as processes, told.open("w") as err:
        driver = subprocess.Popen([*command, processes.address], env=processes.environment, stderr=err)
        processes.started.append(driver)
        wait_until(lambda: said(told) == [no_worker])
        workers = [processes.worker(), processes.worker()]
        wait_until(lambda: count(folder) >= 5)
        kill(workers[0])
        wait_until(lambda: count(folder) >= 15)
        kill(workers[1])
        wait_until(lambda: said(told) == [no_worker, no_worker])
        kill(processes.scheduler)
        assert driver.wait(PATIENCE) == 3
        gone = f"dqeval: the scheduler at {processes.address} is gone: start it again, and then this run, which resumes"
    done = count(folder)
    assert 15 <= done < 84
    last = f"{gone}: {done} of 84 jobs done, 0 failed, {84 - done} left"
    assert said(told) == [no_worker, no_worker, last]
    (tmp_path / "again").mkdir()
    with Processes(tmp_path / "again") as processes:
        processes.worker(threads=2)
        state = bench.run(plan, folder, scheduler=processes.address)
    assert (state.done, state.earlier, state.failed) == (84 - done, done, 0)
    bench.run(plan, tmp_path / "undisturbed", workers=2)
    assert table(folder) == table(tmp_path / "undisturbed")


def said(file):
    """Return the whole lines of a file, but for those on how far the run is: how many there are depends on the time."""
    *lines, _ = file.read_text().split("\n")
    return [line for line in lines if not re.match(r"dqeval: (counting|\d+ of \d+) ", line)]


def count(folder):
    """Return how many jobs of a run are done."""
    if not (folder / "plan.json").exists():  # the tables are not there yet
        return 0
    with Store(folder) as store:
        return store.count().done


@pytest.mark.unmeasured
def test_a_worker_with_another_version_is_refused_unless_asked_for(tmp_path):
    pytest.importorskip("distributed")
    other = tmp_path / "other" / "dqeval"
    shutil.copytree(Path(dqeval.__file__).parent, other, ignore=shutil.ignore_patterns("__pycache__"))
    (other / "analysis" / "panel_result.py").write_text(
        (other / "analysis" / "panel_result.py").read_text() + "# Changed.\n"
    )
    plan = {**SMALL, "seeds": [0]}
    with Processes(tmp_path, python_path=[str(tmp_path / "other")]) as processes:
        processes.worker()
        there = rf"code {source_digest(other)} there and {source_digest(Path(dqeval.__file__).parent)} here"
        with pytest.raises(ValueError, match=rf"a worker on .* has other versions: {there}; install"):
            bench.run(plan, tmp_path / "run", scheduler=processes.address)
        assert table(tmp_path / "run") == ([], [])
        state = bench.run(plan, tmp_path / "run", scheduler=processes.address, any_version=True)
    assert (state.done, state.failed) == (9, 0)
    assert {json.loads(row["versions"])["code"] for row in table(tmp_path / "run")[0]} == {source_digest(other)}


def test_no_scheduler_there(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr(executors, "REACHED", "0.5s")
    with pytest.raises(ValueError, match=r"there is no Dask scheduler at tcp://127.0.0.1:9"):
        bench.run(SMALL, tmp_path / "run", scheduler="tcp://127.0.0.1:9")


def test_without_dask(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ValueError, match=r"a cluster needs Dask: pip install 'distributed>=2024.5'"):
        bench.run(SMALL, tmp_path / "run", scheduler="tcp://127.0.0.1:9")


# What the driver does, without one ------------------------------------------------------------------------------------


class Client:
    """Stands for a Dask client: works at once, with as many threads as it is told to have."""

    def __init__(self):
        self.status, self.threads, self.error = "running", {}, None
        self.scheduler = type("Scheduler", (), {"address": "tcp://here:1"})

    def get_executor(self, **_):
        return InProcess()

    def nthreads(self):
        if self.error is not None:
            raise self.error
        return self.threads

    def run(self, function, *arguments, on_error="raise"):
        return dict.fromkeys(self.threads, self.error or function(*arguments))

    def run_on_scheduler(self, function):
        return function()


def test_how_much_is_handed_over_follows_the_cluster(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(executors.time, "monotonic", lambda: now[0])
    client = Client()
    crew = Cluster(client, Limits())
    assert (crew.ahead(), crew.threads) == (AHEAD, 0)  # for the first worker to come
    client.threads = {"a": 8, "b": 8}
    assert crew.ahead() == AHEAD  # asked a moment ago
    now[0] += executors.PAUSE
    assert (crew.ahead(), crew.threads) == (16 * AHEAD, 16)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        ("closed", OSError("in pages")),
        ("closed", RuntimeError("in pages")),
        ("running", ConnectionResetError("just now")),
    ],
    ids=["closed", "an error of Dask", "before the client knows"],
)
def test_a_scheduler_that_is_not_reached(status, error):
    client = Client()
    client.status, client.error = status, error
    with pytest.raises(CrewLostError, match="the scheduler at tcp://here:1 is gone"):
        Cluster(client, Limits()).ahead()


def test_an_error_of_a_scheduler_that_is_there_is_told():
    client = Client()
    client.status, client.error = "running", RuntimeError("a bug")
    with pytest.raises(RuntimeError, match="a bug"):
        Cluster(client, Limits()).ahead()


def test_workers_must_see_where_scores_are_stored_for_them(tmp_path):
    client = Client()
    client.threads = {"tcp://node7:1": 8}
    there = tmp_path / "results"
    there.touch()
    Cluster(client, Limits()).check_sees(there)
    missing = tmp_path / "elsewhere" / "results"
    Crew(InProcess(), 1).check_sees(missing)  # nobody else is to see it
    with pytest.raises(ValueError, match=r"the worker tcp://node7:1 does not see the folder .*elsewhere, where scores"):
        Cluster(client, Limits()).check_sees(missing)


def test_a_group_is_not_begun_where_workers_do_not_see_its_scores(tmp_path, monkeypatch):
    looked = []
    monkeypatch.setattr(Crew, "check_sees", lambda self, file: looked.append(file))
    bench.run(SMALL, tmp_path / "alone", at_once=1)
    assert looked == []
    gathered = {**SMALL, "modules": ["odd_detectors"], "modules_in": str(TESTS), "detector": [{"name": "gathered"}]}
    bench.run(gathered, tmp_path / "together", at_once=4)
    assert looked == [(tmp_path / "together" / FILE).resolve()]


def test_who_has_no_dqeval_is_named():
    client = Client()
    client.threads = {"tcp://node7:1": 8}
    executors._check_installed(client)
    client.error = ModuleNotFoundError("No module named 'dqeval'")
    with pytest.raises(ValueError, match="the worker tcp://node7:1 cannot run dqeval: No module named 'dqeval';"):
        executors._check_installed(client)
    client.run_on_scheduler = lambda function: 1 / 0
    with pytest.raises(ValueError, match="the scheduler cannot run dqeval: division by zero; install the same"):
        executors._check_installed(client)


def test_what_an_executor_cancels_is_left():
    cancelled = Future()
    cancelled.cancel()
    cancelled.set_running_or_notify_cancel()
    with pytest.raises(CrewLostError, match="the executor is gone: start it again"):
        list(work_off(Crew(InProcess(), 1), lambda: (cancelled, "x")))


def test_what_dask_logs_is_kept_back(monkeypatch):
    import logging

    logger = logging.getLogger("distributed.client")
    before = logger.level
    with executors._quiet("distributed.client"):
        assert not logger.isEnabledFor(logging.CRITICAL)
    assert logger.level == before


class Odd(Crew):
    """Gives prepared futures, and keeps what it was handed."""

    together = TOGETHER

    def __init__(self, *answers):
        super().__init__(None, 1)
        self.answers, self.sizes = list(answers), []

    def submit_jobs(self, tasks):
        self.sizes.append(len(tasks))
        answer = self.answers.pop(0) if self.answers else [JobResult()] * len(tasks)
        future = Future()
        if isinstance(answer, Exception):
            future.set_exception(answer)
        else:
            future.set_result(answer)
        return future


def jobs(folder, count):
    return iter([one_job(folder, "quick")] * count)


def done(crew, jobs, expected=""):
    tasks = (Task(job, job.id, expected) for job in jobs)
    return [outcome for ended in job_results(crew, tasks) for _, outcome in ended]


def test_short_jobs_go_together(tmp_path):
    crew = Odd([JobResult(seconds=SLICE / 10)])
    assert len(done(crew, jobs(tmp_path, 500))) == 500
    assert crew.sizes[:2] == [1, 10]
    assert max(crew.sizes) == TOGETHER
    crew = Odd([JobResult(seconds=SLICE)])
    assert len(done(crew, jobs(tmp_path, 3))) == 3
    assert crew.sizes[:2] == [1, 1]


def test_what_a_batch_has_not_done_is_done_later(tmp_path):
    crew = Odd([JobResult()], [JobResult()] * 30, [JobResult()])
    assert len(done(crew, jobs(tmp_path, 101))) == 101
    assert crew.sizes == [1, 100, 70, 69]


def test_of_a_batch_that_is_lost_each_job_is_done_alone(tmp_path):
    crew = Odd([JobResult()], RuntimeError("lost"), [JobResult()], RuntimeError("lost"))
    found = done(crew, jobs(tmp_path, 4))
    assert crew.sizes == [1, 3, 1, 1, 1]
    (lost,) = (outcome for outcome in found if outcome.failed)
    assert (lost.rows[0].reason, lost.versions) == ("RuntimeError: lost", NOBODY)


def test_a_job_of_another_detector_may_be_long(tmp_path):
    short, long = (Task(one_job(tmp_path, name), "", "") for name in ("quick", "slow"))
    waiting = Waiting(iter([short, short, short, long, short]), TOGETHER)
    assert waiting.take() == [short]
    assert waiting.back([short], [JobResult()]) == [(short, JobResult())]
    assert waiting.take() == [short, short]
    assert waiting.take() == [long]
    assert waiting.take() == [short]
    assert waiting.take() == []


def test_a_worker_without_dqeval(tmp_path):
    with pytest.raises(ValueError, match="a worker cannot run the jobs: No module named 'dqeval'; install the same"):
        done(Odd(ModuleNotFoundError("No module named 'dqeval'")), jobs(tmp_path, 3))


def test_other_versions(tmp_path):
    theirs = json.dumps({**json.loads(versions()), "numpy": "1.0"})
    answer = [JobResult(versions=theirs, host="node7")]
    with pytest.raises(ValueError, match=r"a worker on node7 has other versions: numpy 1\.0 there and "):
        done(Odd(answer), jobs(tmp_path, 1), versions())
    assert done(Odd(answer), jobs(tmp_path, 1), "") == answer
    assert done(Odd([failure_of(one_job(tmp_path, "quick"), "lost", "")]), jobs(tmp_path, 1), versions())
    with pytest.raises(ValueError, match="has other versions: dqeval None there"):
        done(Odd([JobResult()]), jobs(tmp_path, 1), versions())
    assert difference(NOBODY, versions()).startswith(f"dqeval None there and {dqeval.__version__} here, kernels None")


def test_nothing_is_computed_with_other_versions(tmp_path):
    outcome = tasks_module.run_task(Task(one_job(tmp_path, "raises"), "", "{}"))
    assert (outcome.rows, outcome.versions) == ([], versions())


def test_the_form_of_the_kernels_is_part_of_the_version(monkeypatch):
    here = versions()
    other = "interpreted" if dqeval.kernels.compiled else "compiled"
    monkeypatch.setattr(dqeval.kernels, "compiled", not dqeval.kernels.compiled)
    there = versions.__wrapped__()
    assert difference(there, here) == f"kernels {other} there and {json.loads(here)['kernels']} here"


def test_the_code_is_part_of_the_version(tmp_path):
    (tmp_path / "a.py").write_text("a = 1\n")
    before = source_digest(tmp_path)
    (tmp_path / "a.py").write_text("a = 1 / 2\n")
    assert re.fullmatch("[0-9a-f]{12}", before)
    assert source_digest(tmp_path) != before


def test_what_a_clusters_worker_does(tmp_path, monkeypatch):
    good, bad = (Task(one_job(tmp_path, name), "", versions()) for name in ("quick", "raises"))
    monkeypatch.setattr(tasks_module, "SLICE", 600)
    found = do_guarded(Batch([good, bad], Limits(), "one"))
    assert [outcome.failed for outcome in found] == [False, True]
    assert found[1].rows[0].reason == "RuntimeError: no such luck"
    assert all(outcome.seconds > 0 for outcome in found)
    first = tasks_module._own.worker
    monkeypatch.setattr(tasks_module, "SLICE", 0)
    assert len(do_guarded(Batch([good, bad], Limits(), "two"))) == 1  # the other comes back
    second = tasks_module._own.worker
    assert (second is not first, first._child) == (True, None)
    do_guarded(Batch([good], Limits(), "two"))
    assert tasks_module._own.worker is second
    second.stop()


def test_any_executor_has_rows_for_what_fails(tmp_path):
    with ThreadPoolExecutor(2) as threads, crew_for(0, None, Limits(), threads) as crew:
        (failure,) = done(crew, iter([one_job(tmp_path, "raises")]), versions())
    assert failure.rows[0].reason == "RuntimeError: no such luck"
    assert "Traceback" in failure.rows[0].where
    assert failure.versions == versions()


def test_a_process_that_died_is_a_failed_row(tmp_path):
    (lost,) = done(Odd(WorkFailedError("the process died")), jobs(tmp_path, 1), versions())
    assert (lost.rows[0].reason, lost.versions) == ("the process died", versions())
