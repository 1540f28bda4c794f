"""Incidents and alerts in the JSON of several tools: NAB, Label Studio, Grafana, Prometheus."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dqeval.core.moments import Ticks
from dqeval.datasets.guard import some_names
from dqeval.datasets.interval_items import (
    Found,
    Item,
    chosen,
    found_items,
    is_blank,
    moment,
    no_end,
    path_names,
    refuse_series,
    told,
    under_name,
    unknown,
    whole_number,
)
from dqeval.render.tables import count_of, one_line

_LONGEST_STEP = 3_600_000  # milliseconds
_SEGMENT = {"instant", "timeserieslabels"}  # at least one of them is in each segment of a time series
_FARTHEST = 2**43  # in seconds, beyond all dates


def from_json(content: Any, series: str | None) -> Found:
    """Return the intervals in a list or an object of JSON."""
    if isinstance(content, dict):
        if isinstance(content.get("status"), str):
            return _prometheus(content, series)
        if all(isinstance(windows, list) for windows in content.values()):
            return _nab_windows(content, series)
        raise unknown(f"this JSON object has the keys {some_names(map(one_line, content))}")
    if not content:
        refuse_series(series, "an empty list")
        return found_items("empty list", [], str)
    if not isinstance(content[0], dict):
        refuse_series(series, "a list of windows")
        return _windows(content, "")
    if "annotations" in content[0]:
        return _label_studio(content, series)
    if "time" in content[0]:
        return _grafana(content, series)
    keys = f"the keys {some_names(map(one_line, content[0]))}" if content[0] else "no keys"
    raise unknown(f"this is a JSON list of objects with {keys}")


def _nab_windows(content: Mapping[str, list[Any]], series: str | None) -> Found:
    """Return the windows of one series of NAB."""
    i = chosen([path_names(key) for key in content], series)
    if i is None:
        return _windows([], "")
    key = list(content)[i]
    return _windows(content[key], f" of {one_line(key)}")


def _windows(windows: Sequence[Any], of: str) -> Found:
    """Return pairs of start and end, which is inside, or single moments."""

    def place(i: int) -> str:
        return f"window {i + 1:,}{of}"

    items = [_window(window, place(i)) for i, window in enumerate(windows)]
    return found_items("NAB windows", items, place, closed="both")


def _window(window: Any, place: str) -> Item:
    start, stop = window if isinstance(window, list) and len(window) == 2 else (window, window)
    if window is None or isinstance(start, (list, dict)) or isinstance(stop, (list, dict)):
        raise ValueError(f"{place} must be a pair of start and end: got {told(window)}")
    if is_blank(stop):
        raise no_end(place)
    return Item(moment(start, f"the start of {place}"), moment(stop, f"the end of {place}"))


def _label_studio(tasks: Sequence[Any], series: str | None) -> Found:
    """Return the segments of one task of Label Studio, of all its annotations that were not cancelled."""
    segments = [list(_segments(task, f"task {n:,}")) for n, task in enumerate(tasks, 1)]
    eligible = [i for i, found in enumerate(segments) if found or series is not None]
    names = [_task_names(tasks[i], i + 1) for i in eligible]
    at = chosen(names, series)
    found, of = ([], "") if at is None else (segments[eligible[at]], f" of task {names[at][0]}")

    def place(i: int) -> str:
        return f"segment {i + 1:,}{of}"

    items = [_segment(result, place(i)) for i, result in enumerate(found)]
    ends = [result["value"].get(name) for result in found for name in ("start", "end")]
    rounded = any(isinstance(end, float) and not end.is_integer() for end in ends)
    remarks = ("times are rounded outwards to whole numbers",) if rounded else ()
    return found_items("Label Studio export", items, place, remarks=remarks)


def _segments(task: Any, place: str) -> Iterator[dict[str, Any]]:
    """Yield the results of a task that are segments of a time series."""
    for annotation in _list(_object(task, place).get("annotations"), f"annotations of {place}"):
        if _object(annotation, f"an annotation of {place}").get("was_cancelled"):
            continue
        for result in _list(annotation.get("result"), f"result of an annotation of {place}"):
            value = _object(result, f"a result of {place}").get("value")
            if isinstance(value, dict) and not _SEGMENT.isdisjoint(value):
                yield result


def _task_names(task: dict[str, Any], number: int) -> list[str]:
    """Return what a task may be called: its id, and the files in it."""
    data = task.get("data")
    files = [task.get("file_upload"), *(data.values() if isinstance(data, dict) else ())]
    paths = [path_names(file) for file in files if isinstance(file, str)]
    return [_text(task.get("id")) or str(number), *(name for names in paths for name in names)]


def _segment(result: dict[str, Any], place: str) -> Item:
    value = result["value"]
    start = value.get("start")
    stop = start if value.get("instant") is True else value.get("end")
    if is_blank(stop):
        raise no_end(place)
    return Item(
        moment(_rounded(start, math.floor), f"the start of {place}"),
        moment(_rounded(stop, math.floor if stop == start else math.ceil), f"the end of {place}"),
        _text(result.get("id")),
        ": ".join(filter(None, [_text(value.get("timeserieslabels")), _remark(result.get("meta"))])),
    )


def _remark(meta: Any) -> str:
    """Return what somebody wrote beside a segment."""
    return _text(meta.get("text")) if isinstance(meta, dict) else ""


def _rounded(cell: Any, rounding: Callable[[float], int]) -> Any:
    return rounding(cell) if isinstance(cell, float) and math.isfinite(cell) else cell


def _grafana(annotations: Sequence[Any], series: str | None) -> Found:
    """Return the annotations of Grafana, whose times are milliseconds since 1970; without an end they are moments.

    Those of a series have its name as a tag.
    """

    def place(i: int) -> str:
        return f"annotation {i + 1:,}"

    entries = [_object(entry, place(i)) for i, entry in enumerate(annotations)]
    rows = under_name([_tags(entry) for entry in entries], series, "a list of Grafana annotations without tags")
    items = [_annotation(entries[i], place(i)) for i in rows]
    return found_items("Grafana annotations", items, lambda i: place(rows[i]), unit="ms")


def _tags(entry: Mapping[str, Any]) -> list[str]:
    tags = entry.get("tags")
    return [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []


def _annotation(entry: dict[str, Any], place: str) -> Item:
    start, end = entry.get("time"), entry.get("timeEnd")
    return Item(
        whole_number(start, f"time of {place}"),
        whole_number(start if end in (None, 0) else end, f"timeEnd of {place}"),
        _text(entry.get("id")),
        _text(entry.get("text")) or _text(entry.get("tags")),
    )


def _prometheus(answer: Mapping[str, Any], series: str | None) -> Found:
    """Return when alerts were firing: runs of samples at the step of the query, the last of which lasts one more step.

    The step is the smallest difference of two samples. Where that is more than an hour, each sample is a moment. Alerts
    of a series have its name; without one, those of all names are taken together.
    """
    if "data" not in answer:
        refuse_series(series, "an answer of Prometheus without data")
    results = _results(answer)
    labels = [_object(each.get("metric"), f"metric of result {n:,}") for n, each in enumerate(results, 1)]
    for n, label in enumerate(labels, 1):
        if label.get("__name__", "ALERTS") != "ALERTS":
            raise ValueError(f"result {n:,} must be of ALERTS: got {told(label['__name__'])}")
    samples = [_samples(each.get("values"), f"result {n:,}") for n, each in enumerate(results, 1)]
    step = _step(samples)
    names = [list(filter(None, [_text(label.get("alertname"))])) for label in labels]
    rows = under_name(names, series, "an answer of Prometheus without names of alerts")
    firing = [i for i in rows if labels[i].get("alertstate") != "pending"]
    items = [item for i in firing for item in _runs(labels[i], samples[i], step)]
    pending = len(rows) - len(firing)
    remarks = [f"{count_of(pending, 'pending alert')} left out"] if pending else []
    if len(together := sorted({name for i in firing for name in names[i]})) > 1:
        remarks.append(f"alerts of {len(together):,} names are taken together: {some_names(map(one_line, together))}")
    return found_items("Prometheus alerts", items, lambda i: f"interval {i + 1:,}", unit="ms", remarks=tuple(remarks))


def _results(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    if answer["status"] != "success":
        raise ValueError(f"Prometheus gave an error in place of an answer: {told(answer.get('error'))}")
    data = _object(answer.get("data"), "data")
    if data.get("resultType") != "matrix":
        raise ValueError(f"resultType must be 'matrix', as query_range gives it: got {told(data.get('resultType'))}")
    return [_object(each, f"result {n:,}") for n, each in enumerate(_list(data.get("result"), "result"), 1)]


def _samples(values: Any, place: str) -> Ticks:
    """Return when there were samples other than 0, in milliseconds, in order."""
    times = []
    for n, sample in enumerate(_list(values, f"values of {place}"), 1):
        if not (isinstance(sample, list) and len(sample) == 2 and _is_moment(sample[0])):
            raise ValueError(f"sample {n:,} of {place} must be a time in seconds and a value: got {told(sample)}")
        if sample[1] != "0":  # as old versions write where an alert ends
            times.append(round(sample[0] * 1000))
    return np.unique(np.array(times, dtype=np.int64))


def _is_moment(given: Any) -> bool:
    return isinstance(given, (int, float)) and not isinstance(given, bool) and abs(given) < _FARTHEST


def _step(samples: Sequence[Ticks]) -> int:
    """Return the smallest difference of two samples; 0 if there are none, or none that is a step of a query."""
    steps = np.concatenate([np.zeros(0, np.int64), *map(np.diff, samples)])
    return int(steps.min()) if len(steps) and steps.min() <= _LONGEST_STEP else 0


def _runs(labels: Mapping[str, Any], times: Ticks, step: int) -> Iterator[Item]:
    known = ("__name__", "alertname", "alertstate")
    note = ", ".join(f"{one_line(name)}={_text(labels[name])}" for name in labels if name not in known)
    for run in np.split(times, np.flatnonzero(np.diff(times) > step) + 1):
        if len(run):
            yield Item(int(run[0]), int(run[-1]) + step, _text(labels.get("alertname")), note)


def _object(given: Any, what: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise ValueError(f"{what} must be a JSON object: got {told(given)}")
    return given


def _list(given: Any, what: str) -> list[Any]:
    if not isinstance(given, list):
        raise ValueError(f"{what} must be a JSON list: got {told(given)}")
    return given


def _text(given: Any) -> str:
    """Return a text or a number in a line, and a list of them with commas; anything else is left out."""
    if isinstance(given, list):
        return ", ".join(_text(each) for each in given if isinstance(each, str))
    return one_line(str(given)) if isinstance(given, (str, int)) else ""
