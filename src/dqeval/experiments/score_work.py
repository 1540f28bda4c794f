"""Work on the scores of many detector runs: done once, in processes, and kept line by line as small numbers."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dqeval.bench.jobs import Job
from dqeval.experiments.detector_runs import DetectorRun, Runs
from dqeval.experiments.kept_lines import compute_all
from dqeval.experiments.setting import Setting


@dataclass(frozen=True, slots=True)
class SeededJob:
    """A detector's scores of a series, to be worked on with random numbers, and the seed of these."""

    job: Job
    seed: int

    def stream(self, number: int) -> np.random.Generator:
        """Return a stream of random numbers: each series has its own, which all its detectors share."""
        own = int.from_bytes(hashlib.sha256(self.job.series.source.name.encode()).digest()[:8], "big")
        return np.random.default_rng([self.seed, number, own])


def work_on_scores(
    runs: Runs,
    wanted: Iterable[DetectorRun],
    function: Callable[[Any], Any],
    setting: Setting,
    *,
    file: str,
    what: str,
    task: Callable[[Job], Any] = lambda job: job,
    also: str = "",
) -> dict[DetectorRun, Any]:
    """Return what a function gives for the scores of detector runs, of those that have any.

    Lines are told by the data, the detector and the seed, not by paths. So a folder that was made elsewhere, with its
    lines but without the scores, is read as it is.

    Parameters
    ----------
    runs : Runs
    wanted : iterable of DetectorRun
    function : callable
        Of a task; returns what JSON can hold. Processes find it by its name.
    setting : Setting
    file : str
        What the file of lines is called, in the folder of the setting.
    what : str
        What is being computed, for the progress.
    task : callable
        From the job whose scores are wanted to the argument of the function.
    also : str
        What else the results follow from.
    """
    chosen = [each for each in wanted if runs.has(each)]
    keys = {each: f"{runs.key(each)} {also}".strip() for each in chosen}
    tasks = {key: task(runs.job(each)) for each, key in keys.items()}
    found = compute_all(setting.folder / file, tasks, function, setting, what)
    return {each: found[key] for each, key in keys.items()}
