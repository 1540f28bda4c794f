"""The plan that ``dqeval bench init`` writes."""

from __future__ import annotations

import json
import os
from pathlib import Path

from dqeval.datasets.loading import sources
from dqeval.support.writing import write_text

GENERATED = """\
# Series that are generated: six of them, each with its own seed.
[[data]]
generator = "synthetic"
count = 6
n = 2000
period = 48
events = 6

# Series of your own: files or folders of any format. The path is relative to this file.
# [[data]]
# path = "series/"
"""

OWN = """\
# Files or folders of any format. The path is relative to this file.
[[data]]
path = {path}

# Generated series, each with its own seed.
# [[data]]
# generator = "synthetic"
# count = 6
"""

PLAN = """\
# A plan for dqeval bench run: every detector on every series, evaluated with every metric.
# Lines that start with # are comments; remove the # to use such a line.

# dqeval metrics lists the metrics and their groups, such as "paper" and "events"; without this line, "default".
metrics = ["dqe", "vus_pr", "auc_pr", "auc_roc"]

# Detectors that draw random numbers run once with each seed.
seeds = [0]

# Also evaluate the perfect and the silent detector, between which the others lie; they are not ranked.
bounds = true

# Limits per job, in seconds and megabytes; without these lines there are none.
timeout = 600
# memory = 16000

# The near-miss range around an event, in points; without it, half the period of each series, which is estimated.
# near = 24

{data}
# dqeval detectors lists the detectors and their parameters.
[[detector]]
name = "sub_lof"

[[detector]]
name = "kmeans_ad"

[[detector]]
name = "fft"

[[detector]]
name = "sr"

# Baselines, which detectors should beat.
[[detector]]
name = "random_scores"

[[detector]]
name = "median_distance"

[[detector]]
name = "absolute_difference"

[[detector]]
name = "moving_z_score"

# The same detector again, with other parameters, needs a label of its own.
# [[detector]]
# name = "sub_lof"
# label = "sub_lof, 50 neighbours"
# neighbours = 50

# These two need PyTorch, and series whose names say where training ends.
# [[detector]]
# name = "cnn"
#
# [[detector]]
# name = "timesnet"

# Existing scores, in columns beside label and value, are evaluated as they are.
# [[scores]]
# path = "scored/"
"""


def write_plan(path: Path, data: Path | None) -> None:
    """Write a plan to a new file: for the series of a file or a folder, or for generated ones."""
    if path.exists():
        raise ValueError(f"{path} already exists: name another file, or remove it first")
    if data is not None:
        next(sources(data))  # which raises if there is none
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, PLAN.format(data=_data(path, data)))


def _data(path: Path, data: Path | None) -> str:
    if data is None:
        return GENERATED
    whole = data.resolve()
    try:
        place = os.path.relpath(whole, path.parent.resolve())
    except ValueError:  # on another drive of Windows
        place = str(whole)
    text = json.dumps(Path(place).as_posix(), ensure_ascii=False)  # a string of JSON is one of TOML
    return OWN.format(path=text)
