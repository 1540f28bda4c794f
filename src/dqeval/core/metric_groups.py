"""The groups by which people choose metrics: what they are called, and what is in them."""

from __future__ import annotations

ALL = "all"  # what people write for every entry
DEFAULT = "default"  # what panels have without being asked

# In the order of the paper's tables, and of TSB-AD's output.
GROUPS = {
    "paper": (
        "point_f1",
        "auc_roc",
        "auc_pr",
        "point_adjusted_k_f1",
        "vus_roc",
        "vus_pr",
        "pate",
        "range_f1",
        "etapr_f1",
        "affiliation_f1",
        "dqe",
    ),
    "tsb-ad": (
        "auc_pr",
        "auc_roc",
        "vus_pr",
        "vus_roc",
        "point_f1",
        "point_adjusted_f1",
        "composite_f1",
        "range_f1",
        "affiliation_f1",
    ),
    "events": ("composite_f1", "event_f1", "event_corrected_f05", "revised_point_adjusted_f1"),
    "timing": ("pate", "pate_f1", "delay_point_adjusted_f1", "adtqc", "nab_score"),
}
GROUP_NAMES = (ALL, DEFAULT, *GROUPS)
