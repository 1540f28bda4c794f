"""Trouble in labels and scores, found before anyone trusts a number."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, astuple, dataclass, replace
from typing import Any, Literal

import numpy as np

from dqeval.analysis import clock
from dqeval.core.events import find_events
from dqeval.core.near import find_period
from dqeval.core.types import BoolArray, Events, FloatArray, Series
from dqeval.core.validate import scaled
from dqeval.datasets.columns import Data, as_series
from dqeval.metrics import auc_roc
from dqeval.render.tables import Page, Table, counted

MOST_ANOMALOUS = 0.2  # beyond a fifth, anomalies are hardly the exception
FEWEST_VALUES = 20  # with fewer distinct scores most thresholds do the same
MOST_SATURATED = 0.05
LOW_PART, MOST_IN_LOW_PART = 0.01, 0.99  # heavier tails than this leave hardly a threshold among the others
END_OF_SERIES = 0.2
SHORT_BESIDE_PERIOD = 50  # below a fiftieth of the period, the near range is more than 25 times the event
# So low an AUC-ROC has a detector that is turned round, and hardly one that is only poor: on a single event, which is
# one draw whatever its length, an AUC-ROC of 0.1 comes about by chance in a tenth of all cases.
LOWEST_AUC, UNLIKELY = 0.25, 1.6  # at most; and so many deviations below 0.5, if each event is an independent draw
FEWEST_NORMAL = 30  # points; below fewer of them an event lies often
SHORTEST_BLOCK = 10  # points on average in a row with one number of a series
# Whole numbers under such a name tell series apart.
IDENTIFIER = re.compile(
    r"(.*[-_ .])?(id|uid|series|group|entity|machine|device|host|node|unit|segment|subject|patient|episode)"
    r"(s|[-_ .]?(id|no|nr|num|number|index|idx|\d+))?",
    re.IGNORECASE,
)
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


@dataclass(frozen=True, slots=True)
class Finding:
    """Something to look at: an error makes scores wrong or undefined, a warning makes them hard to interpret."""

    level: Literal["error", "warning"]
    column: str
    message: str


@dataclass(frozen=True, slots=True)
class Checked:
    """What was found in a series, to be shown.

    Attributes
    ----------
    name : str
        Of the series.
    findings : tuple of Finding
        Errors first.
    """

    name: str
    findings: tuple[Finding, ...]

    @property
    def failed(self) -> bool:
        """Whether there is an error."""
        return any(finding.level == "error" for finding in self.findings)

    def page(self) -> Page:
        """Return the findings as a table, or a sentence if there are none."""
        if not self.findings:
            return Page([f"{self.name}: nothing to complain about"])
        errors = sum(finding.level == "error" for finding in self.findings)
        title = f"{self.name}: {counted(errors, 'error')}, {counted(len(self.findings) - errors, 'warning')}"
        return Page([title, Table(("level", "column", "finding"), [astuple(f) for f in self.findings], text_columns=3)])

    def records(self) -> list[dict[str, Any]]:
        """Return one row a finding."""
        return [asdict(finding) for finding in self.findings]

    def numbers(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {"series": self.name, "findings": self.records()}


def check(data: Data) -> list[Finding]:
    """Look for trouble in the labels, values, timestamps and scores of a series.

    Parameters
    ----------
    data : Series, mapping of str to array-like, str or Path
        A series with or without scores of detectors; or its columns by name, as in a file: ``label``, ``value``
        (optional), and one for each detector, such as a DataFrame; or the file.

    Returns
    -------
    list of Finding
        Errors first; empty if all is well.

    Examples
    --------
    >>> series = dqeval.Series("s", np.array([0.0, 1.0, 0.0]), {"mine": np.array([2.0, 2.0, 2.0])})
    >>> [finding.message for finding in dqeval.check(series) if finding.level == "error"]
    ['all scores are 2: the detector says nothing']
    """
    series = _as_floats(as_series(data))
    if not len(series.labels):
        return [Finding("error", "label", "there is no point at all")]
    found = [*_labels(series), *_values(series), *_unreadable_times(series), *misread(series)]
    for name, scores in series.scores.items():
        # What else could be said of a column that is no detector's would only distract.
        found += list(_no_detector(name, scores)) or _scores(name, scores, len(series.labels))
    return sorted(found, key=lambda finding: finding.level != "error")


def misread(data: Data) -> list[Finding]:
    """Look for what makes every number wrong in silence: several series, missing points, scores the wrong way round.

    It is a part of `check`, and all that ``dqeval score`` warns of.
    """
    series = _as_floats(as_series(data))
    found = (
        [] if series.timestamps is None else [_warning("timestamp", why) for why in clock.trouble(series.timestamps)]
    )
    for name, scores in series.scores.items():
        if len(scores) == len(series.labels) and np.isfinite(scores).all():
            found += [*_stacked(name, scores), *_inverted(name, series.labels, scores)]
    return found


def _as_floats(series: Series) -> Series:
    scores = {name: np.asarray(column, dtype=np.float64) for name, column in series.scores.items()}
    values = None if series.values is None else np.asarray(series.values, dtype=np.float64)
    return replace(series, labels=np.asarray(series.labels, dtype=np.float64), scores=scores, values=values)


def _warning(column: str, message: str) -> Finding:
    return Finding("warning", column, message)


def _unreadable_times(series: Series) -> Iterator[Finding]:
    if series.timestamps is not None and clock.clock_of(series.timestamps) is None:
        shown = f"such as {str(series.timestamps[0])!r}, are not all numbers or dates like 2024-01-31T12:00:00"
        yield _warning("timestamp", f"timestamps, {shown}: missing points and several series cannot be seen")


def _stacked(name: str, scores: FloatArray) -> Iterator[Finding]:
    """Tell of a column that numbers the series in a table, or counts the points of each."""
    steps = clock.steps_of(scores)
    starts = 1 + np.flatnonzero(steps)
    again = int(np.count_nonzero(steps < 0))
    if _is_identifier(name, scores) and 0 < len(starts) <= len(scores) / SHORTEST_BLOCK - 1:
        blocks = f"{len(starts) + 1:,} blocks of one number each, the second from point {starts[0]:,} on"
        yield _warning(name, f"{blocks}: are these several series in one table? Score each by itself")
    elif again and (again + 1) * SHORTEST_BLOCK <= len(scores) and len(np.unique(steps[steps >= 0])) == 1:
        message = f"counts up and starts again {clock.times_in_words(again)}: is this a number of the point, of several"
        yield _warning(name, f"{message} series in one table? Score each by itself, without this column")


def _inverted(name: str, labels: BoolArray | FloatArray, scores: FloatArray) -> Iterator[Finding]:
    if not np.isin(labels, (0, 1)).all() or not labels.any() or np.count_nonzero(labels == 0) < FEWEST_NORMAL:
        return
    if _why_no_detector(name, scores):
        return
    auc = auc_roc(labels, scores)
    deviation = 1 / np.sqrt(12 * len(find_events(labels == 1)))  # of the mean of so many uniform ranks
    if auc <= min(LOWEST_AUC, 0.5 - UNLIKELY * deviation):
        message = f"AUC-ROC is {auc:.3f}, far below the 0.5 of random scores: are low scores the anomalous ones here?"
        yield _warning(name, f"{message} Turned round, as minus the score, it is {1 - auc:.3f}")


def _no_detector(name: str, scores: FloatArray) -> Iterator[Finding]:
    if why := _why_no_detector(name, scores):
        yield _warning(
            name, f"taken for a detector, but {why}: name the columns of scores with --score, or leave this column out"
        )


def _why_no_detector(name: str, scores: FloatArray) -> str:
    if _is_identifier(name, scores):
        return "it looks like the number of a series or group, not a score"
    if _is_measured(name):
        return "by its name this is something measured, not a score"
    return ""


def _is_identifier(name: str, scores: FloatArray) -> bool:
    """Tell whether whole numbers tell series apart: by the column's name, or as each stands in one block."""
    if not np.isfinite(scores).all() or (scores != np.rint(scores)).any():
        return False
    distinct, blocks = len(np.unique(scores)), 1 + int(np.count_nonzero(clock.steps_of(scores)))
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


def _labels(series: Series) -> Iterator[Finding]:
    labels = series.labels
    bad = ~np.isin(labels, (0, 1))
    if bad.any():
        yield Finding("error", "label", f"must contain only 0 and 1: {_where(labels, bad)}")
        return
    events = find_events(labels == 1)
    if not len(events):
        yield Finding("error", "label", "no value is 1: there is no anomaly, and every metric is undefined")
        return
    share = float(labels.mean())
    if share == 1:
        yield Finding("error", "label", "every value is 1: there is no normal point to compare with")
    elif share > MOST_ANOMALOUS:
        yield Finding("warning", "label", f"{share:.0%} of the points are anomalous: that is hardly an exception")
    yield from _events(events, series)


def _events(events: Events, series: Series) -> Iterator[Finding]:
    gaps = events.starts[1:] - events.stops[:-1]
    if (close := int(np.count_nonzero(gaps == 1))) > 0:
        pairs = counted(close, "pair")
        yield Finding("warning", "label", f"{pairs} of neighbouring events a single point apart: is that one event?")
    if events.starts[0] >= (1 - END_OF_SERIES) * events.length and events.stops[-1] == events.length:
        message = f"anomalies only at the end, from point {events.starts[0]} on: a series that runs to failure"
        yield Finding("warning", "label", f"{message} favours detectors that drift upwards")
    if not _has_period(series):
        return
    assert series.values is not None
    period = find_period(series.values)
    lengths = events.stops - events.starts
    if (long := int(np.count_nonzero(lengths > period))) > 0:
        message = f"{counted(long, 'event')} of {len(events)} longer than the period of {period}"
        yield Finding("warning", "label", f"{message}: the near range of half a period is short beside them")
    # A point anomaly among longer ones is nothing to warn of; where all are so short, half a period is far.
    if (longest := int(lengths.max())) * SHORT_BESIDE_PERIOD < period:
        message = f"all events are short, at most {counted(longest, 'point')}, beside the period of {period}"
        yield Finding("warning", "label", f"{message}: near misses half a period away count; consider a smaller near")


def _values(series: Series) -> Iterator[Finding]:
    if series.values is None:
        message = "there are no values to estimate the period from: give a period or a near range"
        yield Finding("warning", "value", message)
    elif (bad := np.isinf(series.values)).any():
        yield Finding("error", "value", f"must be finite: {_where(series.values, bad)}")
    elif (bad := np.isnan(series.values)).all():
        yield Finding(
            "error", "value", "every value is missing: leave the column out, or give a period or a near range"
        )
    else:
        yield from _finite_values(series.values, bad)


def _finite_values(values: FloatArray, missing: BoolArray) -> Iterator[Finding]:
    if missing.any():
        message = f"{int(missing.sum()):,} of {missing.size:,} values are missing (first at index {_first(missing)})"
        advice = "to estimate the period, they are filled with straight lines between their neighbours"
        yield _warning("value", f"{message}: {advice}; nothing else follows from them")
    if np.nanmin(values) == np.nanmax(values):
        yield _warning("value", "all values are the same: the period cannot be estimated")


def _has_period(series: Series) -> bool:
    """Tell whether a period can be estimated: of one column, without infinite values, with some at all."""
    values = series.values
    if values is None or (values.ndim == 2 and values.shape[1] > 1):
        return False
    return not np.isinf(values).any() and not np.isnan(values).all()


def _scores(name: str, scores: FloatArray, points: int) -> Iterator[Finding]:
    if len(scores) != points:
        yield Finding("error", name, f"has {len(scores):,} scores for {points:,} points: there must be one for each")
        return
    bad = ~np.isfinite(scores)
    if bad.any():
        yield Finding("error", name, f"must be finite: {_where(scores, bad)}")
        return
    distinct = len(np.unique(scores))
    if distinct == 1:
        yield Finding("error", name, f"all scores are {scores[0]:g}: the detector says nothing")
        return
    if distinct <= FEWEST_VALUES:
        what = "these are detections" if distinct == 2 else "most thresholds do the same"
        yield Finding("warning", name, f"only {distinct} distinct scores: {what}")
    bulk = float(np.mean(scaled(scores) <= LOW_PART))
    if distinct > 2 and bulk > MOST_IN_LOW_PART:
        message = f"{bulk:.1%} of the scores lie in the lowest {LOW_PART:.0%} of their range, below nearly all the 100"
        yield Finding("warning", name, f"{message} thresholds of DQE and other metrics: consider their logarithms")
    if (scores[1:] > scores[:-1]).all():
        yield Finding("warning", name, "every value is higher than the one before: is this a time, not a score?")
    saturated = float(np.mean(scores == scores.max()))
    if distinct > 2 and saturated > MOST_SATURATED:
        message = f"{saturated:.0%} of the scores are at their maximum of {scores.max():g}: they are saturated"
        yield Finding("warning", name, message)


def _where(column: BoolArray | FloatArray, bad: BoolArray) -> str:
    index = _first(bad)
    return (
        f"{int(bad.sum()):,} of {bad.size:,} values are not (first at index {index}: {column.flat[np.argmax(bad)]:g})"
    )


def _first(bad: BoolArray) -> int:
    """Return the first point of which something holds; of several columns, of any of them."""
    return int(np.argmax(bad)) // max(bad.size // len(bad), 1)
