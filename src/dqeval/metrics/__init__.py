"""The metrics, one family per module: those of scores take ``y_true, y_score``, those of detections ``y_true, y_pred``.

A new one is a function under ``@metric(…)`` of `dqeval.core.registry`, and an import below: docs/extending-metrics.md.
"""

# These modules register metrics. The order of the imports is the order of the metrics in tables.
# isort: off
from dqeval.metrics.dqe import dqe_log_rank, dqe_score, sdqe_score
from dqeval.metrics.auc import auc_pr, auc_roc
from dqeval.metrics.vus import vus_pr, vus_roc
from dqeval.metrics.proximity import pate, pate_f1, pate_parts
from dqeval.metrics.point import (
    point_adjusted_f1,
    point_adjusted_k_f1,
    point_adjusted_k_parts,
    point_adjusted_parts,
    point_f1,
    point_parts,
)
from dqeval.metrics.ranges import range_f1, range_parts
from dqeval.metrics.timeaware import etapr_f1, etapr_parts, tapr_f1, tapr_parts
from dqeval.metrics.affiliation import affiliation_f1, affiliation_parts
from dqeval.metrics.event_wise import (
    composite_f1,
    composite_parts,
    event_corrected_f05,
    event_corrected_parts,
    event_f1,
    event_parts,
)
from dqeval.metrics.delay_limits import (
    delay_point_adjusted_f1,
    delay_point_adjusted_parts,
    revised_point_adjusted_f1,
    revised_point_adjusted_parts,
)
from dqeval.metrics.timing import adtqc, adtqc_parts
from dqeval.metrics.nab import nab_parts, nab_score
from dqeval.metrics.ucr import ucr_parts, ucr_score

# isort: on

# This one registers none: its functions are numbers for operators, some of which are better the lower they are.
from dqeval.metrics.alarm_numbers import (
    events_detected,
    false_alarm_rate,
    false_alarms,
    false_time_in_alarm,
    mean_delay,
    median_delay,
    time_in_alarm,
)

__all__ = [
    "adtqc",
    "adtqc_parts",
    "affiliation_f1",
    "affiliation_parts",
    "auc_pr",
    "auc_roc",
    "composite_f1",
    "composite_parts",
    "delay_point_adjusted_f1",
    "delay_point_adjusted_parts",
    "dqe_log_rank",
    "dqe_score",
    "etapr_f1",
    "etapr_parts",
    "event_corrected_f05",
    "event_corrected_parts",
    "event_f1",
    "event_parts",
    "events_detected",
    "false_alarm_rate",
    "false_alarms",
    "false_time_in_alarm",
    "mean_delay",
    "median_delay",
    "nab_parts",
    "nab_score",
    "pate",
    "pate_f1",
    "pate_parts",
    "point_adjusted_f1",
    "point_adjusted_k_f1",
    "point_adjusted_k_parts",
    "point_adjusted_parts",
    "point_f1",
    "point_parts",
    "range_f1",
    "range_parts",
    "revised_point_adjusted_f1",
    "revised_point_adjusted_parts",
    "sdqe_score",
    "tapr_f1",
    "tapr_parts",
    "time_in_alarm",
    "ucr_parts",
    "ucr_score",
    "vus_pr",
    "vus_roc",
]
