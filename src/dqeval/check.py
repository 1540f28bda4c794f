"""Trouble in labels and scores, found before anyone trusts a number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, astuple, dataclass
from typing import Any, Literal

import numpy as np

from dqeval.events import find_events
from dqeval.period import find_period
from dqeval.tables import Page, Table, counted
from dqeval.types import Events, FloatArray, Series
from dqeval.validate import scaled

MOST_ANOMALOUS = 0.2  # beyond a fifth, anomalies are hardly the exception
FEWEST_VALUES = 20  # with fewer distinct scores most thresholds do the same
MOST_SATURATED = 0.05
LOW_PART, MOST_IN_LOW_PART = 0.01, 0.99  # heavier tails than this leave hardly a threshold among the others
END_OF_SERIES = 0.2
SHORT_BESIDE_PERIOD = 50  # below a fiftieth of the period, the near range is more than 25 times the event


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


def check(series: Series) -> list[Finding]:
    """Look for trouble in the labels, values and scores of a series.

    Parameters
    ----------
    series : Series

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
    found = [*_labels(series), *_values(series)]
    for name, scores in series.scores.items():
        found += _scores(name, scores)
    return sorted(found, key=lambda finding: finding.level != "error")


def _labels(series: Series) -> Iterator[Finding]:
    labels = np.asarray(series.labels, dtype=np.float64)
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
    if series.values is None or not np.isfinite(series.values).all():
        return
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
    elif (bad := ~np.isfinite(series.values)).any():
        yield Finding("error", "value", f"must be finite: {_where(series.values, bad)}")
    elif series.values.min() == series.values.max():
        yield Finding("warning", "value", "all values are the same: the period cannot be estimated")


def _scores(name: str, scores: FloatArray) -> Iterator[Finding]:
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


def _where(column: FloatArray, bad: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> str:
    index = int(np.argmax(bad))
    return f"{int(bad.sum()):,} of {len(column):,} values are not (first at index {index}: {column[index]:g})"
