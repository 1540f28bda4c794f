"""What type checkers see: names that `dqeval` imports when they are asked for."""

from dqeval import bench, datasets, detectors, kernels, metrics
from dqeval.analysis.alarms import OperatingPoint, alarm_curve, alarms, threshold_for
from dqeval.analysis.best_threshold import best_threshold
from dqeval.analysis.check import check
from dqeval.analysis.compare import compare
from dqeval.analysis.compare_result import Comparison
from dqeval.analysis.detect import detect, detect_many
from dqeval.analysis.diff import diff
from dqeval.analysis.diff_result import Diff
from dqeval.analysis.evaluate import combine, evaluate, evaluate_detections
from dqeval.analysis.explain import explain
from dqeval.analysis.explain_result import Explanation
from dqeval.analysis.findings import Finding, Findings
from dqeval.analysis.frames import evaluate_frame, evaluate_frame_events
from dqeval.analysis.incidents import evaluate_intervals, intervals_from_labels, labels_from_intervals
from dqeval.analysis.many import evaluate_many
from dqeval.analysis.many_result import ManyEvents, ManyResult
from dqeval.analysis.near_profile import NearProfile, near_profile
from dqeval.analysis.panel import panel
from dqeval.analysis.panel_result import BestThreshold, Chance, Evaluation, MetricError
from dqeval.analysis.rank import Ranking, rank
from dqeval.analysis.time_intervals import TimeIntervals
from dqeval.analysis.timed_result import TimedEventScores, TimedResult
from dqeval.core.alarms import Alarms
from dqeval.core.confidence import Interval
from dqeval.core.event_scores import EventScores
from dqeval.core.near import Period, find_period
from dqeval.core.partition import partition
from dqeval.core.registry import METRICS, PluginWarning, detector, metric
from dqeval.core.types import (
    Combined,
    Curve,
    DQEResult,
    Partition,
    PrecisionRecall,
    Region,
    Scores,
    Series,
)
from dqeval.core.validate import UndefinedError, UndefinedWarning
from dqeval.lab.matrix import properties
from dqeval.lab.matrix_result import PropertyMatrix
from dqeval.lab.stress import stress
from dqeval.lab.stress_result import StressResult
from dqeval.metrics import dqe_score, sdqe_score
from dqeval.metrics.alarm_curve import AlarmCurve
from dqeval.render.series_page import report

__all__ = [
    "METRICS",
    "AlarmCurve",
    "Alarms",
    "BestThreshold",
    "Chance",
    "Combined",
    "Comparison",
    "Curve",
    "DQEResult",
    "Diff",
    "Evaluation",
    "EventScores",
    "Explanation",
    "Finding",
    "Findings",
    "Interval",
    "ManyEvents",
    "ManyResult",
    "MetricError",
    "NearProfile",
    "OperatingPoint",
    "Partition",
    "Period",
    "PluginWarning",
    "PrecisionRecall",
    "PropertyMatrix",
    "Ranking",
    "Region",
    "Scores",
    "Series",
    "StressResult",
    "TimeIntervals",
    "TimedEventScores",
    "TimedResult",
    "UndefinedError",
    "UndefinedWarning",
    "alarm_curve",
    "alarms",
    "bench",
    "best_threshold",
    "check",
    "combine",
    "compare",
    "datasets",
    "detect",
    "detect_many",
    "detector",
    "detectors",
    "diff",
    "dqe_score",
    "evaluate",
    "evaluate_detections",
    "evaluate_frame",
    "evaluate_frame_events",
    "evaluate_intervals",
    "evaluate_many",
    "explain",
    "find_period",
    "intervals_from_labels",
    "kernels",
    "labels_from_intervals",
    "metric",
    "metrics",
    "near_profile",
    "panel",
    "partition",
    "properties",
    "rank",
    "report",
    "sdqe_score",
    "stress",
    "threshold_for",
]

__version__: str
