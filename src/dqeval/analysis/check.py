"""Trouble in labels and scores, found before anyone trusts a number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from shlex import quote
from typing import Any, Literal

import numpy as np

from dqeval.analysis import clock, pitfalls
from dqeval.analysis.findings import Finding, Findings, errors_first, warning
from dqeval.analysis.free_choices import moves_of_one
from dqeval.analysis.no_detector import FIRST_LOOK, IS_IDENTIFIER, SHORTEST_BLOCK, is_identifier, why_no_detector
from dqeval.core.durations import Length
from dqeval.core.events import flags_of
from dqeval.core.near import BY_DEFAULT, CONSTANT, NO_LENGTH, Near, near_of
from dqeval.core.numeric_arrays import as_array
from dqeval.core.prepared import (
    Labelled,
    Prepared,
    Scored,
    incidents_on,
    part_of,
    prepare_series,
    sampling_in,
    train_stop_in,
)
from dqeval.core.registry import METRICS
from dqeval.core.sampling import Clock, Sampling
from dqeval.core.times import Times
from dqeval.core.types import BoolArray, Events, FloatArray, IntArray, Series
from dqeval.datasets.door import Data, as_series
from dqeval.render.tables import count_of, percent

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


def check(
    data: Data, *, near: Length | None = None, period: Length | None = None, part: Literal["all", "test"] = "all"
) -> Findings:
    """Look for trouble in the labels, values, timestamps and scores of a series.

    Parameters
    ----------
    data : Series, mapping of str to array-like, str or Path
        A series with or without scores of detectors; or its columns by name, as in a file: ``label``, ``value``
        (optional), and one for each detector, such as a DataFrame; or the file.
    near : float, str or timedelta, optional
        The near range that the scores will be evaluated with: points, "2ev" for twice the median length of an event, or
        a duration such as "10min" if the series has timestamps.
    period : float, str or timedelta, optional
        The period of the series, in points or as a duration; ``near`` is then half of it. Give at most one of the two;
        with neither, it is the period that the series has, or that is estimated from its values. In cells of a clock
        nothing is estimated, and ``near`` is the median length of an event.
    part : "all" or "test", default "all"
        Whether to look at the whole series, or at its test part, where it says where training ends.

    Returns
    -------
    Findings
        A list of `Finding`, errors first; empty if all is well.

    Examples
    --------
    >>> series = dqeval.Series("s", np.array([0.0, 1.0, 0.0]), {"mine": np.array([2.0, 2.0, 2.0])})
    >>> [finding.message for finding in dqeval.check(series) if finding.level == "error"]
    ['all scores are 2: the detector says nothing']
    """
    whole = as_series(data)
    series = part_of(whole, part)
    return Findings(findings_in(series, near=near, period=period, of_whole=whole), series.name)


def findings_in(
    series: Series,
    *,
    near: Length | None = None,
    period: Length | None = None,
    resolution: Length | None = None,
    max_gap: Length | None = None,
    of_whole: Series | None = None,
) -> list[Finding]:
    """Return what `check` finds in a series that was read already; of a part, with the near range of the whole."""
    if of_whole is not None and of_whole is not series and near is None and period is None:
        clock_of_whole = Clock(resolution=resolution, max_gap=max_gap)
        near = prepare_series(replace(of_whole, scores={}), clock=clock_of_whole).near.points
    series = _as_floats(series)
    if not len(series.labels):
        return [Finding("error", "label", "there is no point at all")]
    flags = _flags(series.labels)
    given = near is not None or period is not None
    try:
        asked = Clock(resolution=resolution, max_gap=max_gap)
        sampling = sampling_in(series, near=near, period=period, clock=asked)
        times = _of_reading(series) if sampling is None else list(_on_clock(series, sampling))
        lengths = None
        if sampling is not None:
            series, flags, lengths = _in_cells(series, flags, sampling)
    except ValueError as error:
        if series.timestamps is None:  # then it is about what was asked, not about the series
            raise
        return [Finding("error", "timestamp", str(error))]
    stop = series.train_stop
    if stop is not None and sampling is not None:
        stop = train_stop_in(sampling, stop)
    labelled = Labelled(flags, None if sampling is None else sampling.axis, train_stop=stop)
    usable = series if given or _has_period(series) else replace(series, values=None)
    in_use = near_of(usable, flags, near=near, period=period, axis=labelled.axis, lengths=lengths)
    found = [*_labels(series, labelled, in_use), *_values(series, given or lengths is not None), *times]
    rest: list[Finding] = []
    for name, scores in series.scores.items():
        if wrong := _unusable(scores, len(flags) if sampling is None else sampling.samples):
            # What else could be said of a column that is no detector's would only distract.
            rest += _no_detector(name, None) or [Finding("error", name, wrong)]
        else:
            scored = labelled.scored(scores if sampling is None else sampling.highest(scores))
            found += misread_scores(name, scored)
            rest += _no_detector(name, scores) or [*_scores(name, scored), *_misleading_scores(name, scored, in_use)]
    return errors_first([*found, *rest])


def findings_of_series(prepared: Prepared) -> list[Finding]:
    """Return what `check` finds in a series that is prepared already, but for its scores."""
    series, near = _as_floats(prepared.series), prepared.near
    said = near.source != BY_DEFAULT  # by someone, where there are no values
    times = [replace(finding, column="timestamp") for finding in about_times(prepared)]
    return [*_labels(series, prepared.labelled, near), *_values(series, said), *times]


def findings_of_scores(name: str, scored: Scored, near: Near, detections: BoolArray | None = None) -> list[Finding]:
    """Return what `check` finds in usable scores; given what is detected at the suggested threshold, in less time."""
    found = misread_scores(name, scored)
    if no_detector := _no_detector(name, scored.raw):
        return found + no_detector
    return [*found, *_scores(name, scored), *_misleading_scores(name, scored, near, detections)]


def _in_cells(series: Series, flags: BoolArray, sampling: Sampling) -> tuple[Series, BoolArray, FloatArray]:
    """Return a series with cells in place of samples, which of them are anomalous, and how long events last."""
    values = None if series.values is None else sampling.last(series.values)
    if series.incidents is None:
        cells, labels = sampling.highest(flags), sampling.highest(np.asarray(series.labels, dtype=np.float64))
        lengths = sampling.event_lengths(flags)
    else:
        incidents = incidents_on(sampling.axis, series)
        cells, lengths = flags_of(incidents.events), incidents.lengths
        labels = cells.astype(np.float64)
    return replace(series, labels=labels, values=values), cells, lengths


def _on_clock(series: Series, sampling: Sampling) -> Iterator[Finding]:
    """Yield what a clock leaves out, and which incidents do not fit it."""
    notes = [*series.remarks, *sampling.notes()]
    if (spans := series.incidents) is not None:
        found = incidents_on(sampling.axis, series)
        notes += found.notes("incident")
        short = ~spans.instants & (spans.stops - spans.starts < sampling.axis.resolution) & ~found.outside
        if count := int(np.count_nonzero(short)):
            cell = sampling.axis.lasting(1)
            notes.append(f"{count_of(count, 'incident')} shorter than a cell of {cell}: they count as a whole one")
    yield from (warning("timestamp", note) for note in notes)


def misread_times(series: Series) -> list[Finding]:
    """Return what makes every number wrong in silence and the timestamps tell of, or that they cannot be read.

    Like `misread_scores`, it is a part of `check`, and what the commands that compute numbers warn of.
    """
    return [] if series.timestamps is None else list(_times(series.timestamps, series.zone if series.zoned else None))


def about_times_and_near(prepared: Prepared) -> list[Finding]:
    """Return what to say of the times of a series that is prepared, and of a near range that follows from little."""
    found = [*about_times(prepared), *(warning("value", each.message) for each in pitfalls.of_period(prepared.near))]
    if prepared.near.is_of_moments and len(prepared.labelled.events):
        found.append(warning("", NO_LENGTH))
    return found


def about_times(prepared: Prepared) -> list[Finding]:
    """Return what to say of the times of a series that is prepared: what was left out on a clock, or what is wrong."""
    if prepared.on_clock:
        return [warning("", note) for note in prepared.notes]
    return _of_reading(prepared.series)


def _of_reading(series: Series) -> list[Finding]:
    return [*(warning("", remark) for remark in series.remarks), *misread_times(series)]


def misread_scores(name: str, scored: Scored, auc: float | None = None) -> list[Finding]:
    """Return what makes every number wrong in silence and scores tell of: several series, or the wrong way round.

    Their AUC-ROC tells of the latter, if it is known already.
    """
    return [*_stacked(name, scored.raw), *_inverted(name, scored, auc)]


def _misleading_labels(labelled: Labelled, near: Near) -> Iterator[Finding]:
    """Yield where the labels and the near range make DQE of any detector mislead."""
    # That values are missing, or constant, are findings of their own.
    said = {"default", "fallback"} if CONSTANT in near.source else {"default"}
    for pitfall in pitfalls.of_labels(labelled, near):
        if pitfall.kind not in said:
            yield warning("value" if pitfall.kind in ("fallback", "smooth") else "label", pitfall.message)


def _misleading_scores(name: str, scored: Scored, near: Near, detections: BoolArray | None = None) -> Iterator[Finding]:
    yield from (warning(name, pitfall.message) for pitfall in pitfalls.of_scores(scored, near.points, detections))
    if len(scored.events):
        yield from (warning(name, sentence) for sentence in moves_of_one(scored, near.points))


def _as_floats(series: Series) -> Series:
    def floats(name: str, column: Any) -> FloatArray:
        return as_array(name, column).astype(np.float64, copy=False)

    scores = {name: floats(name, column) for name, column in series.scores.items()}
    values = None if series.values is None else floats("value", series.values)
    return replace(series, labels=floats("label", series.labels), scores=scores, values=values)


def _flags(labels: BoolArray | FloatArray) -> BoolArray:
    """Return which points are anomalous; none, where the labels do not tell."""
    return np.asarray((labels == 1) & bool(np.isin(labels, (0, 1)).all()))


def _times(times: Times, zone: str | None) -> Iterator[Finding]:
    if clock.numeric_times(times) is None:
        shown = f"such as {str(times[0])!r}, are not all numbers or dates like 2024-01-31T12:00:00"
        yield warning("timestamp", f"timestamps, {shown}: missing points and several series cannot be seen")
    yield from (warning("timestamp", why) for why in clock.trouble(times, zone))


def _stacked(name: str, scores: FloatArray) -> Iterator[Finding]:
    """Tell of a column that numbers the series in a table, or counts the points of each."""
    steps = clock.steps_of(scores)
    changes, again = np.count_nonzero(steps), int(np.count_nonzero(steps < 0))
    if is_identifier(name, scores) and 0 < changes <= len(scores) / SHORTEST_BLOCK - 1:
        second = int(np.argmax(steps != 0)) + 1
        blocks = f"{changes + 1:,} blocks of one number each, the second from point {second:,} on"
        yield warning(
            name, f"{blocks}: are these several series in one table? Score each by itself, with --series {quote(name)}"
        )
    elif again and (again + 1) * SHORTEST_BLOCK <= len(scores) and len(np.unique(steps[steps >= 0])) == 1:
        message = f"counts up and starts again {clock.times_in_words(again)}: is this a number of the point, of several"
        yield warning(
            name,
            f"{message} series in one table? Score each by itself, with --series COLUMN, and leave this column out",
        )


def _inverted(name: str, scored: Scored, auc: float | None) -> Iterator[Finding]:
    labels = scored.labels
    if not labels.any() or np.count_nonzero(~labels) < FEWEST_NORMAL or why_no_detector(name, scored.raw):
        return
    auc = METRICS["auc_roc"].compute(scored) if auc is None else auc
    deviation = 1 / np.sqrt(12 * len(scored.events))  # of the mean of so many uniform ranks
    if auc <= min(LOWEST_AUC, 0.5 - UNLIKELY * deviation):
        message = f"AUC-ROC is {auc:.3f}, far below the 0.5 of random scores: are low scores the anomalous ones here?"
        yield warning(name, f"{message} Turned round, as minus the score, it is {1 - auc:.3f}")


def _no_detector(name: str, scores: FloatArray | None) -> list[Finding]:
    if not (why := why_no_detector(name, scores)):
        return []
    advice = "name the columns of scores with --score, or leave this column out"
    if why == IS_IDENTIFIER:
        advice += f"; if it tells series apart, split the table with --series {quote(name)}"
    return [warning(name, f"taken for a detector, but {why}: {advice}")]


def _labels(series: Series, labelled: Labelled, near: Near) -> Iterator[Finding]:
    labels, events = series.labels, labelled.events
    bad = ~np.isin(labels, (0, 1))
    if bad.any():
        yield Finding("error", "label", f"must contain only 0 and 1: {_where(labels, bad)}")
        return
    if not len(events):
        yield Finding("error", "label", "no value is 1: there is no anomaly, and every metric is undefined")
        return
    share = float(labels.mean())
    if share == 1:
        yield Finding("error", "label", "every value is 1: there is no normal point to compare with")
    elif share > MOST_ANOMALOUS:
        yield warning("label", f"{percent(share)} of the points are anomalous: that is hardly an exception")
    yield from _events(events)
    yield from _misleading_labels(labelled, near)
    if "half" in near.source:
        yield from _beside_period(labelled.lengths, 2 * near.points)


def _events(events: Events) -> Iterator[Finding]:
    if events.starts[0] >= (1 - END_OF_SERIES) * events.length and events.stops[-1] == events.length:
        message = f"anomalies only at the end, from point {events.starts[0]} on: a series that runs to failure"
        yield warning("label", f"{message} favours detectors that drift upwards")


def _beside_period(lengths: IntArray, period: float) -> Iterator[Finding]:
    if (long := int(np.count_nonzero(lengths > period))) > 0:
        message = f"{count_of(long, 'event')} of {len(lengths)} longer than the period of {period:g}"
        yield warning("label", f"{message}: the near range of half a period is short beside them")
    # A point anomaly among longer ones is nothing to warn of; where all are so short, half a period is far.
    if (longest := int(lengths.max())) * SHORT_BESIDE_PERIOD < period:
        message = f"all events are short, at most {count_of(longest, 'point')}, beside the period of {period:g}"
        yield warning("label", f"{message}: near misses half a period away count; consider a smaller near")


def _values(series: Series, near_is_given: bool) -> Iterator[Finding]:
    if series.values is None and (near_is_given or series.period is not None):
        return
    if series.values is None:
        message = "there are no values to estimate the period from: give a period or a near range"
        yield warning("value", message)
    elif len(series.values) != len(series.labels):
        found = f"has {len(series.values):,} values for {len(series.labels):,} points"
        yield Finding("error", "value", f"{found}: there must be one for each")
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
        yield warning("value", f"{message}: {advice}; nothing else follows from them")
    if np.nanmin(values) == np.nanmax(values):
        yield warning("value", "all values are the same: the period cannot be estimated")


def _has_period(series: Series) -> bool:
    """Tell whether there is a period, or it can be estimated: from one column, without infinite values, with some."""
    values = series.values
    if series.period is not None or values is None or len(values) != len(series.labels):
        return series.period is not None
    if values.ndim == 2 and values.shape[1] > 1:
        return False
    return not np.isinf(values).any() and not np.isnan(values).all()


def _unusable(scores: FloatArray, points: int) -> str:
    """Return why no number can be made of some scores, or nothing."""
    if len(scores) != points:
        return f"has {len(scores):,} scores for {points:,} points: there must be one for each"
    bad = ~np.isfinite(scores)
    return f"must be finite: {_where(scores, bad)}" if bad.any() else ""


def _distinct(scores: FloatArray) -> int:
    """Return how many distinct scores there are; or of many only how many the first ones have, which needs no sort."""
    first = len(np.unique(scores[:FIRST_LOOK]))
    return first if first > FEWEST_VALUES else len(np.unique(scores))


def _scores(name: str, scored: Scored) -> Iterator[Finding]:
    scores = scored.raw
    distinct = _distinct(scores)
    if distinct == 1 and scores[0] == 0:  # which is an answer, as of alerts in a quiet time
        yield warning(name, "nothing is detected: all scores are 0")
        return
    if distinct == 1:
        yield Finding("error", name, f"all scores are {scores[0]:g}: the detector says nothing")
        return
    if distinct <= FEWEST_VALUES:
        what = "these are detections" if distinct == 2 else "most thresholds do the same"
        yield warning(name, f"only {distinct} distinct scores: {what}")
    bulk = float(np.mean(scored.scores <= LOW_PART))
    # Those of a good detector may lie there, if its events are all above.
    if distinct > 2 and bulk > MOST_IN_LOW_PART and (pitfalls.event_heights(scored) <= LOW_PART).any():
        lowest = f"the lowest {percent(LOW_PART)} of their range"
        message = f"{percent(bulk, 1)} of the scores lie in {lowest}, below nearly all the 100"
        advice = "clip the highest, or compare by DQE-LR"
        yield warning(name, f"{message} thresholds of DQE and other metrics: {advice}")
    if (scores[1:] > scores[:-1]).all():
        yield warning(name, "every value is higher than the one before: is this a time, not a score?")
    saturated = float(np.mean(scores == scores.max()))
    if distinct > 2 and saturated > MOST_SATURATED:
        message = f"{percent(saturated)} of the scores are at their maximum of {scores.max():g}: they are saturated"
        yield warning(name, message)


def _where(column: BoolArray | FloatArray, bad: BoolArray) -> str:
    index = _first(bad)
    return (
        f"{int(bad.sum()):,} of {bad.size:,} values are not (first at index {index}: {column.flat[np.argmax(bad)]:g})"
    )


def _first(bad: BoolArray) -> int:
    """Return the first point of which something holds; of several columns, of any of them."""
    return int(np.argmax(bad)) // max(bad.size // len(bad), 1)
