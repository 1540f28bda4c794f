"""How good a time-series anomaly detector is, event by event, and why."""

from importlib import import_module

# Names are imported when they are asked for: together they take longer than NumPy, and few programs need them all.
# Type checkers read the same names in __init__.pyi.
_PACKAGES = ["bench", "datasets", "detectors", "kernels", "metrics"]
_NAMES = {
    "analysis.alarms": ["OperatingPoint", "alarm_curve", "alarms", "threshold_for"],
    "analysis.best_threshold": ["best_threshold"],
    "analysis.check": ["check"],
    "analysis.compare": ["compare"],
    "analysis.compare_result": ["Comparison"],
    "analysis.detect": ["detect", "detect_many"],
    "analysis.diff": ["diff"],
    "analysis.diff_result": ["Diff"],
    "analysis.evaluate": ["combine", "evaluate", "evaluate_detections"],
    "analysis.explain": ["explain"],
    "analysis.explain_result": ["Explanation"],
    "analysis.findings": ["Finding", "Findings"],
    "analysis.frames": ["evaluate_frame", "evaluate_frame_events"],
    "analysis.incidents": ["evaluate_intervals", "intervals_from_labels", "labels_from_intervals"],
    "analysis.many": ["evaluate_many"],
    "analysis.many_result": ["ManyEvents", "ManyResult"],
    "analysis.near_profile": ["NearProfile", "near_profile"],
    "analysis.panel": ["panel"],
    "analysis.panel_result": ["BestThreshold", "Chance", "Evaluation", "MetricError"],
    "analysis.rank": ["Ranking", "rank"],
    "analysis.time_intervals": ["TimeIntervals"],
    "analysis.timed_result": ["TimedEventScores", "TimedResult"],
    "core.alarms": ["Alarms"],
    "core.confidence": ["Interval"],
    "core.event_scores": ["EventScores"],
    "core.near": ["Period", "find_period"],
    "core.partition": ["partition"],
    "core.registry": ["METRICS", "PluginWarning", "detector", "metric"],
    "core.types": [
        "Combined",
        "Curve",
        "DQEResult",
        "Partition",
        "PrecisionRecall",
        "Region",
        "Scores",
        "Series",
    ],
    "core.validate": ["UndefinedError", "UndefinedWarning"],
    "lab.matrix": ["properties"],
    "lab.matrix_result": ["PropertyMatrix"],
    "lab.stress": ["stress"],
    "lab.stress_result": ["StressResult"],
    "metrics": ["dqe_score", "sdqe_score"],
    "metrics.alarm_curve": ["AlarmCurve"],
    "render.series_page": ["report"],
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = sorted([*_PACKAGES, *_HOMES])


def __getattr__(name):
    if name in _PACKAGES:
        return import_module(f"dqeval.{name}")
    if name == "__version__":
        return import_module("importlib.metadata").version("dqeval")
    if name not in _HOMES:
        raise AttributeError(f"module 'dqeval' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"dqeval.{_HOMES[name]}"), name)
    return found


def __dir__():
    return sorted({*globals(), *__all__})
