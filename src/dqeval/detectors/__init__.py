"""Detectors: functions from the values of a series to scores, one a point, the higher, the more anomalous."""

# The order of these imports is the order of the detectors in tables.
# isort: off
from dqeval.detectors.kmeans_ad import kmeans_ad
from dqeval.detectors.sub_lof import sub_lof
from dqeval.detectors.fft import fft
from dqeval.detectors.spectral_residual import sr
from dqeval.detectors.cnn import cnn
from dqeval.detectors.timesnet import timesnet

# isort: on
from dqeval.registry import DETECTORS

__all__ = ["DETECTORS", "cnn", "fft", "kmeans_ad", "sr", "sub_lof", "timesnet"]
