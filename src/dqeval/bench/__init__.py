"""Benchmark runs: series × detectors × metrics, from a laptop to a cluster, without losing a result."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dqeval.bench.exporting import export
    from dqeval.bench.plan import Plan, make_plan, read_plan
    from dqeval.bench.ranking import rank
    from dqeval.bench.ranking_result import Ranking
    from dqeval.bench.runner import State, merge, retry, run
    from dqeval.bench.store import Store

# Imported when they are asked for: the processes that do the jobs need few of them, and start in less time.
_HOMES = {
    "Plan": "plan",
    "Ranking": "ranking_result",
    "State": "runner",
    "Store": "store",
    "export": "exporting",
    "make_plan": "plan",
    "merge": "runner",
    "rank": "ranking",
    "read_plan": "plan",
    "retry": "runner",
    "run": "runner",
}

__all__ = ["Plan", "Ranking", "State", "Store", "export", "make_plan", "merge", "rank", "read_plan", "retry", "run"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'dqeval.bench' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"dqeval.bench.{_HOMES[name]}"), name)
    return found


def __dir__() -> list[str]:
    return list(__all__)
