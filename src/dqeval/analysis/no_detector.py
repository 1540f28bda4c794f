"""Columns that are taken for a detector's and are hardly one: numbers of series, and what is measured."""

from __future__ import annotations

import re

import numpy as np

from dqeval.analysis.clock import steps_of
from dqeval.core.types import FloatArray

SHORTEST_BLOCK = 10  # points on average in a row with one number of a series
# Whole numbers under such a name tell series apart.
IDENTIFIER = re.compile(
    r"(.*[-_ .])?(id|uid|series|group|entity|machine|device|host|node|unit|segment|subject|patient|episode)"
    r"(s|[-_ .]?(id|no|nr|num|number|index|idx|\d+))?",
    re.IGNORECASE,
)
IS_IDENTIFIER = "it looks like the number of a series or group, not a score"
# What is measured, not scored, by its whole name, such as cpu, mem_used or net.rx_bytes: cpu_score is a score.
QUANTITIES = {
    *("cpu", "gpu", "mem", "memory", "ram", "swap", "disk", "net", "network", "rx", "tx", "bytes", "packets"),
    *("latency", "throughput", "requests", "rps", "qps", "temp", "temperature", "humidity", "pressure", "voltage"),
    *("current", "power", "rpm", "torque", "vibration", "acceleration", "velocity", "ecg", "eeg", "bpm", "price"),
    "sales",
}
QUALITIES = {
    *("total", "used", "free", "usage", "util", "utilisation", "utilization", "load", "percent", "pct", "avg", "mean"),
    *("min", "max", "rate", "count", "in", "out", "io", "read", "write", "idle"),
}
BETWEEN_WORDS = re.compile(r"[-_ .\d%]+")
LONGEST_WORD = max(map(len, QUANTITIES | QUALITIES))
NUMBERED = re.compile(r"(sensor|channel|feature|feat|dim|var|metric|signal|input|col|column)[-_ .]?\d+", re.IGNORECASE)


def why_no_detector(name: str, scores: FloatArray | None) -> str:
    """Return why a column is hardly a detector's, by its name, and by its numbers if they can be used."""
    if scores is not None and is_identifier(name, scores):
        return IS_IDENTIFIER
    if _is_measured(name):
        return "by its name this is something measured, not a score"
    return ""


def is_identifier(name: str, scores: FloatArray) -> bool:
    """Tell whether whole numbers tell series apart: by the column's name, or as each stands in one block."""
    if (scores != np.rint(scores)).any():
        return False
    distinct, blocks = len(np.unique(scores)), 1 + int(np.count_nonzero(steps_of(scores)))
    if IDENTIFIER.fullmatch(name):
        return True
    detections = bool(np.isin(scores, (0, 1)).all())
    return not detections and 1 < distinct == blocks and blocks * SHORTEST_BLOCK <= len(scores)


def _is_measured(name: str) -> bool:
    words = [word for written in BETWEEN_WORDS.split(name.lower()) for word in _apart(written)]
    measured = not QUANTITIES.isdisjoint(words) and set(words) <= QUANTITIES | QUALITIES
    return measured or bool(NUMBERED.fullmatch(name))


def _apart(written: str) -> tuple[str, ...]:
    """Return the two words of one such as cpuload; any other as it is, and none for none."""
    for end in range(1, min(len(written), LONGEST_WORD)):
        if written[:end] in QUANTITIES and written[end:] in QUANTITIES | QUALITIES:
            return written[:end], written[end:]
    return (written,) if written else ()
