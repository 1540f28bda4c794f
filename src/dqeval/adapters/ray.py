"""Ray: an executor for benchmark runs, whose jobs are tasks of Ray."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any

__all__ = ["RayExecutor"]


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
        try:
            import ray
        except ImportError:
            raise ValueError("RayExecutor needs Ray: pip install ray") from None
        self._ray, self._own = ray, not ray.is_initialized()
        if self._own:
            ray.init(include_dashboard=False, log_to_driver=False)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Start a task, and return its future."""
        found: Future[Any] = self._ray.remote(_call).remote(fn, args, kwargs).future()
        return found

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster, if this executor has joined it; then nothing that is not done is waited for."""
        if self._own:
            self._ray.shutdown()


def _call(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return function(*args, **kwargs)  # Ray takes functions of Python only, and this one is
