"""Detectors: functions from the values of a series to scores, one per point; higher means more anomalous.

A new one is a function under ``@detector(…)`` of `dqeval.core.registry`, and an import below:
docs/extending-detectors.md.
"""

# The order of these imports is the order of the detectors in tables.
# isort: off
from dqeval.detectors.k_means import kmeans_ad
from dqeval.detectors.local_outliers import sub_lof
from dqeval.detectors.fourier import fft
from dqeval.detectors.spectral_residual import sr
from dqeval.detectors.convolution import cnn
from dqeval.detectors.times_net import timesnet
from dqeval.detectors.baselines import random_scores
from dqeval.detectors.baselines import median_distance
from dqeval.detectors.baselines import absolute_difference
from dqeval.detectors.baselines import moving_z_score

# isort: on
from dqeval.core.registry import DETECTORS
from dqeval.detectors.local_outliers import NeighbourDistances, neighbour_distances

__all__ = [
    "DETECTORS",
    "NeighbourDistances",
    "absolute_difference",
    "cnn",
    "fft",
    "kmeans_ad",
    "median_distance",
    "moving_z_score",
    "neighbour_distances",
    "random_scores",
    "sr",
    "sub_lof",
    "timesnet",
]
