"""Ray: an executor for benchmark runs, whose jobs are tasks of Ray."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from concurrent.futures import wait as wait_for
from typing import Any

from dqeval.support import extras

__all__ = ["RayExecutor"]

LONGEST_CANCELLATION = 30.0  # seconds, after which tasks that do not end are left to their cluster
PAUSE = 0.2  # seconds between two requests to cancel


class RayExecutor(Executor):
    """Runs what it is given as tasks of Ray, one per call.

    It joins the cluster that the program has joined already, or the one that ``RAY_ADDRESS`` names; where there is
    none, Ray starts on this machine. What it has started or joined itself, it leaves when it is shut down.

    Examples
    --------
    >>> from dqeval.adapters.ray import RayExecutor
    >>> with RayExecutor() as executor:
    ...     executor.submit(pow, 2, 10).result()
    1024
    """

    def __init__(self) -> None:
        ray = extras.require("ray", "ray")
        self._ray, self._own = ray, not ray.is_initialized()
        self._pending: dict[Future[Any], Any] = {}
        self._closed = False
        if self._own:
            ray.init(include_dashboard=False, log_to_driver=False)
        self._task = ray.remote(_call)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Start a task, and return its future."""
        if self._closed:
            raise RuntimeError("the executor is shut down: make a new one")
        task = self._task.remote(fn, args, kwargs)
        found: Future[Any] = task.future()
        self._pending[found] = task
        found.add_done_callback(lambda done: self._pending.pop(done, None))
        return found

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Wait for what is running, or cancel it, and leave the cluster, if this executor has joined it."""
        self._closed = True
        if cancel_futures:
            self._cancel()
        elif wait:
            wait_for(list(self._pending))
        if self._own:
            self._ray.shutdown()

    def _cancel(self) -> None:
        """Cancel tasks until they have ended: Ray loses a request that comes while a task is on its way to a worker."""
        until = time.monotonic() + LONGEST_CANCELLATION
        while (left := dict(self._pending)) and time.monotonic() < until:
            for task in left.values():
                self._ray.cancel(task, force=True)
            wait_for(left, timeout=PAUSE)


def _call(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return function(*args, **kwargs)  # Ray takes functions of Python only, and this one is
