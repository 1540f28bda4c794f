"""What operators ask of detections, number by number: events detected, delays, false alarms and time in alarm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dqeval.core import arguments, validate
from dqeval.core.alarms import Alarms, Missed
from dqeval.core.events import find_events
from dqeval.core.types import FloatArray, Numbers
from dqeval.core.validate import Undefined
from dqeval.metrics.alarms_at_threshold import alarms_of


def events_detected(
    y_true: Numbers,
    y_pred: Numbers,
    *,
    early: int = 0,
    max_delay: int | None = None,
    undefined: Undefined = "raise",
) -> float:
    """Share of the events with an alarm in time.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    early : int, default 0
        How many points before an event, but behind the one before it, an alarm counts for it already.
    max_delay : int, optional
        How many points after the start of an event an alarm still counts; if not given, up to its end.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly.

    Returns
    -------
    float
        From 0 to 1, the higher, the better.

    Examples
    --------
    >>> y_true, y_pred = [0, 1, 1, 1, 0, 0, 1, 0], [0, 0, 0, 1, 0, 1, 0, 0]
    >>> dqeval.metrics.events_detected(y_true, y_pred), dqeval.metrics.events_detected(y_true, y_pred, early=1)
    (0.5, 1.0)
    """
    alarms = _defined(y_true, y_pred, undefined, early, max_delay)
    return float("nan") if alarms is None else alarms.events_detected


def mean_delay(
    y_true: Numbers,
    y_pred: Numbers,
    *,
    early: int = 0,
    max_delay: int | None = None,
    missed: Missed = "omit",
    undefined: Undefined = "raise",
) -> float:
    """Mean delay of the detected events, also called the mean time to detect.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    early : int, default 0
        How many points before an event, but behind the one before it, an alarm counts for it already.
    max_delay : int, optional
        How many points after the start of an event an alarm still counts; if not given, up to its end.
    missed : "omit" or "length", default "omit"
        Whether missed events are left out, or each counts as if its delay were its whole length.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly, or none is detected and missed ones are left out.

    Returns
    -------
    float
        In points; negative if alarms are early. The lower, the better. Where missed events are left out, read it with
        `events_detected`.

    Examples
    --------
    Delays of 2 and 0 points, and an event of one point that is missed:

    >>> y_true, y_pred = [0, 1, 1, 1, 0, 1, 0, 1], [0, 0, 0, 1, 0, 1, 0, 0]
    >>> dqeval.metrics.mean_delay(y_true, y_pred), dqeval.metrics.mean_delay(y_true, y_pred, missed="length")
    (1.0, 1.0)
    """
    return _delay(np.mean, y_true, y_pred, early, max_delay, missed, undefined)


def median_delay(
    y_true: Numbers,
    y_pred: Numbers,
    *,
    early: int = 0,
    max_delay: int | None = None,
    missed: Missed = "omit",
    undefined: Undefined = "raise",
) -> float:
    """Median delay of the detected events.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    early : int, default 0
        How many points before an event, but behind the one before it, an alarm counts for it already.
    max_delay : int, optional
        How many points after the start of an event an alarm still counts; if not given, up to its end.
    missed : "omit" or "length", default "omit"
        Whether missed events are left out, or each counts as if its delay were its whole length.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no anomaly, or none is detected and missed ones are left out.

    Returns
    -------
    float
        In points; negative if alarms are early. The lower, the better. Where missed events are left out, read it with
        `events_detected`.

    Examples
    --------
    Delays of 2, 0 and 0 points:

    >>> dqeval.metrics.median_delay([0, 1, 1, 1, 0, 1, 0, 1], [0, 0, 0, 1, 0, 1, 0, 1])
    0.0
    """
    return _delay(np.median, y_true, y_pred, early, max_delay, missed, undefined)


def false_alarms(y_true: Numbers, y_pred: Numbers, *, early: int = 0) -> int:
    """Count the false alarms: runs of detected points that touch no event.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    early : int, default 0
        How many points before an event, but behind the one before it, an alarm counts for it already.

    Returns
    -------
    int
        The lower, the better. It is defined without any anomaly, too.

    Examples
    --------
    >>> y_true, y_pred = [0, 0, 1, 1, 0, 0], [1, 1, 0, 1, 1, 0]
    >>> dqeval.metrics.false_alarms(y_true, y_pred), dqeval.metrics.false_alarms(y_true, y_pred, early=1)
    (1, 0)
    """
    return _alarms(y_true, y_pred, early).false_alarms


def false_alarm_rate(y_true: Numbers, y_pred: Numbers, *, early: int = 0, unit: int = 1) -> float:
    """Count the false alarms per point, or per so many points.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    early : int, default 0
        How many points before an event, but behind the one before it, an alarm counts for it already.
    unit : int, default 1
        In how many points: 1440 for a rate per day, if there is a point every minute.

    Returns
    -------
    float
        The lower, the better. It is defined without any anomaly, too.

    Examples
    --------
    >>> dqeval.metrics.false_alarm_rate([0, 0, 1, 1, 0], [1, 1, 0, 1, 0], unit=100)
    20.0
    """
    points = arguments.whole_number("unit", unit, least=1, most=validate.MOST_COUNTED)
    return _alarms(y_true, y_pred, early).false_alarm_rate * points


def time_in_alarm(y_true: Numbers, y_pred: Numbers) -> float:
    """Share of the points that are in alarm.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.

    Returns
    -------
    float
        From 0 to 1. It is defined without any anomaly, too.

    Examples
    --------
    >>> dqeval.metrics.time_in_alarm([0, 0, 1, 1], [1, 0, 0, 1])
    0.5
    """
    return _alarms(y_true, y_pred).time_in_alarm


def false_time_in_alarm(y_true: Numbers, y_pred: Numbers, *, undefined: Undefined = "raise") -> float:
    """Share of the normal points that are in alarm.

    Parameters
    ----------
    y_true : array-like of 0 and 1, shape (n,)
        The labels: 1 marks an anomaly.
    y_pred : array-like of 0 and 1, shape (n,)
        The detections: 1 where the detector raised an alarm.
    undefined : "raise" or "nan", default "raise"
        What to do if ``y_true`` has no normal point.

    Returns
    -------
    float
        From 0 to 1, the lower, the better. It is defined without any anomaly, too.

    Examples
    --------
    >>> dqeval.metrics.false_time_in_alarm([0, 0, 1, 1], [1, 0, 0, 1])
    0.5
    """
    validate.undefined_choice(undefined)
    alarms = _alarms(y_true, y_pred)
    if not alarms.normal_points:
        validate.go_on_undefined(validate.NO_NORMAL_POINT, undefined)
    return alarms.false_time_in_alarm


def _alarms(y_true: Numbers, y_pred: Numbers, early: Any = 0, max_delay: Any = None) -> Alarms:
    """Validate labels and detections, and return the latter as alarms."""
    before = arguments.whole_number("early", early, least=0)
    limit = None if max_delay is None else arguments.whole_number("max_delay", max_delay, least=0)
    labels, detections = validate.labels_and_detections(y_true, y_pred)
    return alarms_of(find_events(labels), find_events(detections), early=before, max_delay=limit)


def _defined(y_true: Numbers, y_pred: Numbers, undefined: Any, early: Any, max_delay: Any) -> Alarms | None:
    """Return detections as alarms; None where there is no anomaly, if the caller asked to go on."""
    validate.undefined_choice(undefined)
    alarms = _alarms(y_true, y_pred, early, max_delay)
    if len(alarms.detected):
        return alarms
    validate.go_on_undefined(validate.NO_ANOMALY, undefined)
    return None


def _delay(
    summary: Callable[[FloatArray], Any],
    y_true: Numbers,
    y_pred: Numbers,
    early: Any,
    max_delay: Any,
    missed: Any,
    undefined: Any,
) -> float:
    """Return the mean or the median of the delays."""
    arguments.one_of("missed", missed, ("omit", "length"))
    alarms = _defined(y_true, y_pred, undefined, early, max_delay)
    if alarms is None:
        return float("nan")
    delays = alarms.counted_delays(missed)
    if not len(delays):
        validate.go_on_undefined("no event is detected in time, and missed ones are left out", undefined)
        return float("nan")
    return float(summary(delays))
