"""All that takes long, without tables or figures: detectors on every series, and what is measured of their scores.

What it keeps in the folder, a store of results and files of lines, is small but for the scores. So it may be made on
one machine, with a GPU and without SciPy or Matplotlib, and shown on another one that has the same series.
"""

from __future__ import annotations

from dqeval.experiments.detector_runs import BEYOND, Runs, run_on_datasets
from dqeval.experiments.label_changes import change_labels
from dqeval.experiments.near_range import vary_near
from dqeval.experiments.rankings import compute_published
from dqeval.experiments.robustness import perturb
from dqeval.experiments.setting import Setting
from dqeval.experiments.threshold_choice import choose_thresholds

# In the order in which they are worth most, should the time run out.
STEPS = (compute_published, perturb, vary_near, choose_thresholds, change_labels)


def collect(setting: Setting) -> Runs:
    """Run the detectors on every series, and keep all that the experiments need of their scores."""
    _, runs, _ = run_on_datasets(setting, beyond=tuple(BEYOND))
    for step in STEPS:
        step(runs, setting)
    return runs
