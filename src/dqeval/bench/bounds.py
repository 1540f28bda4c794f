"""The bounds of a benchmark run: what no detector can beat, and what one that says nothing gets.

They are no detectors, because these never see labels.
"""

from __future__ import annotations

import numpy as np

from dqeval.core.types import BoolArray, FloatArray

PERFECT, SILENT = "perfect", "silent"
BOUNDS = (PERFECT, SILENT)  # what results have in place of a detector


def bound_scores(bound: str, labels: BoolArray) -> FloatArray:
    """Return the scores of a bound: the labels themselves, or the same score at every point."""
    return labels.astype(np.float64) if bound == PERFECT else np.zeros(len(labels))
