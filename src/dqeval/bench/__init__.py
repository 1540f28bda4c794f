"""Benchmark runs: series × detectors × metrics, from a laptop to a cluster, without losing a result."""

from dqeval.bench.exporting import export
from dqeval.bench.plan import Plan, make_plan, read_plan
from dqeval.bench.ranking import rank
from dqeval.bench.ranking_result import Ranking
from dqeval.bench.runner import State, merge, retry, run
from dqeval.bench.store import Store

__all__ = ["Plan", "Ranking", "State", "Store", "export", "make_plan", "merge", "rank", "read_plan", "retry", "run"]
