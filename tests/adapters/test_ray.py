"""Ray: groups of a dataset, and benchmark runs whose jobs are tasks of Ray."""

import os
import subprocess
import sys
import time
from functools import partial

import pytest

import dqeval
from dqeval import bench

pytest.importorskip("ray")

import pandas as pd
import ray

from dqeval.adapters.ray import RayExecutor, _call

PLAN = {
    "metrics": ["dqe", "auc_roc"],
    "data": [{"generator": "synthetic", "count": 2, "n": 500, "period": 20, "events": 3}],
    "detector": [{"name": "fft"}, {"name": "sr"}],
}
TEXT = """
metrics = ["dqe", "auc_roc"]
[[data]]
generator = "synthetic"
count = 2
n = 500
period = 20
events = 3
[[detector]]
name = "fft"
[[detector]]
name = "sr"
"""


def values(folder):
    with bench.Store(folder) as store:
        return sorted((row["series"], row["detector"], row["metric"], row["value"]) for row in store.values())


def test_a_run_on_ray_gives_the_same_table(tmp_path):
    with RayExecutor() as executor:
        state = bench.run(PLAN, tmp_path / "ray", executor=executor)
        with pytest.raises(ZeroDivisionError):
            executor.submit(divmod, 1, 0).result()
    assert (state.done, state.failed) == (4, 0)
    assert ray.is_initialized(), "a cluster that was there before is not left"
    bench.run(PLAN, tmp_path / "here")
    assert values(tmp_path / "ray") == values(tmp_path / "here")


def test_the_command(tmp_path):
    """In a process of its own, where Ray is not started yet."""
    (tmp_path / "plan.toml").write_text(TEXT)
    command = [sys.executable, "-m", "dqeval", "bench", "run", "plan.toml", "-o", "ray"]
    executor = ["--executor", "dqeval.adapters.ray:RayExecutor"]
    done = subprocess.run([*command, *executor], cwd=tmp_path, capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stderr
    assert "4 of 4 jobs done, 0 failed, 0 left" in done.stderr
    bench.run(PLAN, tmp_path / "here")
    assert values(tmp_path / "ray") == values(tmp_path / "here")


@pytest.mark.parametrize("function", [dqeval.evaluate_frame, dqeval.evaluate_frame_events])
def test_groups_of_a_dataset_give_the_numbers_of_the_whole_frame(function):
    series = dqeval.datasets.demo()
    one = pd.DataFrame({"minute": range(len(series.labels)), "label": series.labels, **series.scores})
    frame = pd.concat([one.assign(host="a"), one.assign(host="b", late=one["late"] ** 2)], ignore_index=True)
    data = ray.data.from_pandas(frame.sample(frac=1, random_state=0))
    evaluate = partial(function, by="host", times="minute", near=24)
    found = data.groupby("host", num_partitions=2).map_groups(evaluate, batch_format="pandas").to_pandas()
    expected = evaluate(frame)
    keys = [name for name in ("host", "detector", "event") if name in expected]
    found, expected = (each.sort_values(keys, ignore_index=True)[list(expected)] for each in (found, expected))
    pd.testing.assert_frame_equal(found, expected, check_dtype=False, check_exact=True)


def test_what_a_task_does():
    """Here, as well as in the processes of Ray, where coverage does not look."""
    assert _call(int, ("11",), {"base": 2}) == 3


def test_without_ray(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ModuleNotFoundError, match="install it with pip install ray"):
        RayExecutor()


def test_shutdown_waits_for_what_is_running():
    with RayExecutor() as executor:
        found = executor.submit(time.sleep, 0.5)
    assert found.done()
    with pytest.raises(RuntimeError, match="the executor is shut down: make a new one"):
        executor.submit(time.sleep, 0)


def test_what_is_cancelled_is_not_waited_for():
    executor = RayExecutor()
    found = executor.submit(time.sleep, 600)
    executor.shutdown(wait=False)
    executor.shutdown(cancel_futures=True)
    with pytest.raises(ray.exceptions.RayError):
        found.result(timeout=60)


def test_a_request_to_cancel_that_is_lost_is_repeated(monkeypatch):
    executor = RayExecutor()
    found, requests, cancel = executor.submit(time.sleep, 600), [], ray.cancel

    def lose_the_first(task, **options):
        requests.append(task)
        if len(requests) > 1:
            cancel(task, **options)

    monkeypatch.setattr(ray, "cancel", lose_the_first)
    executor.shutdown(cancel_futures=True)
    assert len(requests) > 1
    assert found.done()


def test_a_task_that_does_not_end_is_not_waited_for_without_end(monkeypatch):
    monkeypatch.setattr(ray, "cancel", lambda task, **options: None)
    monkeypatch.setattr("dqeval.adapters.ray.LONGEST_CANCELLATION", 0.3)
    executor = RayExecutor()
    found = executor.submit(time.sleep, 600)
    executor.shutdown(cancel_futures=True)
    assert not found.done()
    monkeypatch.undo()
    executor.shutdown(cancel_futures=True)
    assert found.done()
