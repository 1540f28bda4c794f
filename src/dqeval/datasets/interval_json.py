"""Incidents and alerts in the JSON of several tools: NAB, Label Studio, Grafana, Prometheus, Alertmanager."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from dqeval.core.durations import UNITS
from dqeval.core.events import find_events
from dqeval.core.moments import Ticks, moments_of
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
_NEVER = "0001-01-01"  # the end of an alert that is firing
_INSTANCE = re.compile(r"(.*\{.*\}) - ", re.DOTALL)  # what Grafana writes of a state: the rule, its labels, and values
_SEGMENT = {"instant", "timeserieslabels"}  # at least one of them is in each segment of a time series
_FARTHEST = 2**43  # in seconds, beyond all dates


def from_json(content: Any, series: str | None) -> Found:
    """Return the intervals in a list or an object of JSON."""
    if isinstance(content, dict):
        if isinstance(content.get("status"), str) and isinstance(content.get("alerts"), list):
            return _alertmanager([content], series)
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
    if "startsAt" in content[0] or "alerts" in content[0]:
        return _alertmanager(content, series)
    if "annotations" in content[0] or "predictions" in content[0]:
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
    """Return the segments of one task of Label Studio."""
    segments = [_segments(task, f"task {n:,}") for n, task in enumerate(tasks, 1)]
    eligible = [i for i, each in enumerate(segments) if each.results or series is not None]
    names = [_task_names(tasks[i], i + 1) for i in eligible]
    at = chosen(names, series)
    found, of = (_Segments([]), "") if at is None else (segments[eligible[at]], f" of task {names[at][0]}")

    def place(i: int) -> str:
        return f"segment {i + 1:,}{of}"

    items = [_segment(result, place(i)) for i, result in enumerate(found.results)]
    ends = [result["value"].get(name) for result in found.results for name in ("start", "end")]
    rounded = any(isinstance(end, float) and not end.is_integer() for end in ends)
    remarks = [found.remark, "times are rounded outwards to whole numbers" if rounded else ""]
    return found_items("Label Studio export", items, place, remarks=tuple(filter(None, remarks)))


class _Segments(NamedTuple):
    """The segments of a task, and what to say of those that models have predicted."""

    results: list[dict[str, Any]]
    remark: str = ""


def _segments(task: Any, place: str) -> _Segments:
    """Return the segments of all annotations that were not cancelled; of predictions, if nobody has annotated it."""
    given = _object(task, place)
    # Tasks with predictions that are to be imported have no annotations. Exports may have only the ids of predictions.
    annotations = _list(given.get("annotations", [] if "predictions" in given else None), f"annotations of {place}")
    every = _list(given.get("predictions") or [], f"predictions of {place}")
    predictions = [each for each in every if isinstance(each, dict)]
    kept = [each for each in annotations if not _object(each, f"an annotation of {place}").get("was_cancelled")]
    predicted = list(_results(predictions, "a prediction", place))
    if kept:
        remark = f"{count_of(len(predicted), 'predicted segment')} left out" if predicted else ""
        return _Segments(list(_results(kept, "an annotation", place)), remark)
    models = sorted({_text(each.get("model_version")) or "an unnamed model" for each in predictions})
    what = f"nobody has annotated the task: the predictions of {some_names(models)} are taken"
    return _Segments(predicted, what if predicted else "")


def _results(several: Iterable[dict[str, Any]], what: str, place: str) -> Iterator[dict[str, Any]]:
    """Yield the results of annotations or predictions that are segments of a time series."""
    for each in several:
        for result in _list(each.get("result"), f"result of {what} of {place}"):
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

    Those that tell of a new state of an alert are its history: they say when it was alerting. Those of a series have
    its name as a tag, or as the name of their alert.
    """
    entries = {f"annotation {n:,}": entry for n, entry in enumerate(annotations, 1)}
    every = [(place, _object(entry, place)) for place, entry in entries.items()]
    rows = under_name([_tags(entry) for _, entry in every], series, "a list of Grafana annotations without tags")
    changes = dict(every[i] for i in rows if _text(every[i][1].get("newState")))
    items = {place: _annotation(entry, place) for place, entry in map(every.__getitem__, rows) if place not in changes}
    remarks: list[str] = []
    if changes:
        others = [f"{count_of(len(items), 'other annotation')} taken together with them"] if items else []
        alerting, remarks = _alerting(changes)
        items, remarks = items | alerting, remarks + others
    places = list(items)
    about: dict[str, Any] = {"unit": "ms", "remarks": tuple(remarks), "step": UNITS["s"]}
    return found_items("Grafana annotations", list(items.values()), places.__getitem__, **about)


def _tags(entry: Mapping[str, Any]) -> list[str]:
    tags, alert = entry.get("tags"), _text(entry.get("alertName"))
    found = [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
    return [*found, alert] if alert else found


def _alerting(changes: Mapping[str, dict[str, Any]]) -> tuple[dict[str, Item], list[str]]:
    """Return when alerts were alerting, by the change of state with which that began, and what to say of it.

    It lasts until the next other state of the same alert, or, where there is none, until the last change of all.
    """
    times = {place: whole_number(entry.get("time"), f"time of {place}") for place, entry in changes.items()}
    by_alert: dict[tuple[str, str], list[str]] = {}
    oldest_first = list(changes)[::-1]  # Grafana gives the newest first, also of those at one moment
    for place in sorted(oldest_first, key=times.__getitem__):
        by_alert.setdefault((_text(changes[place].get("alertId")), _instance(changes[place])), []).append(place)
    items: dict[str, Item] = {}
    unended = unbegun = 0
    for places in by_alert.values():
        states = np.array([_is_alerting(changes[place].get("newState")) for place in places])
        unbegun += bool(_is_alerting(changes[places[0]].get("prevState")) and not states[0])
        unended += bool(states[-1])
        for start, stop in find_events(states):
            begin, entry = places[start], changes[places[start]]
            end = times[places[stop]] if stop < len(places) else max(times.values())
            items[begin] = Item(times[begin], end, _text(entry.get("alertName")), _instance(entry))
    what = f"{count_of(len(items), 'alert')} from {count_of(len(changes), 'change')} of state"
    remarks = [f"{what}: each lasts from Alerting to the next other state"]
    if unended:
        remarks.append(f"{count_of(unended, 'alert')} still alerting at the end: taken up to the last change of state")
    if unbegun:
        remarks.append(f"{count_of(unbegun, 'alert')} alerting before the first change of state: left out")
    return items, remarks


def _is_alerting(state: Any) -> bool:
    return _text(state).lower().startswith("alerting")  # also Alerting (NoData)


def _instance(entry: Mapping[str, Any]) -> str:
    """Return which of the alerts of a rule it is: the rule and its labels, which stand before the values."""
    found = _INSTANCE.match(_text(entry.get("text")))
    return "" if found is None else found[1]


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
    results = _answers(answer)
    labels = [_object(each.get("metric"), f"metric of result {n:,}") for n, each in enumerate(results, 1)]
    for n, label in enumerate(labels, 1):
        if label.get("__name__", "ALERTS") != "ALERTS":
            raise ValueError(f"result {n:,} must be of ALERTS: got {told(label['__name__'])}")
    samples = [_samples(each.get("values"), f"result {n:,}") for n, each in enumerate(results, 1)]
    step = _step(samples)
    rows = under_name(list(map(_alert_names, labels)), series, "an answer of Prometheus without names of alerts")
    firing = [i for i in rows if labels[i].get("alertstate") != "pending"]
    items = [item for i in firing for item in _runs(labels[i], samples[i], step)]
    pending = len(rows) - len(firing)
    remarks = [f"{count_of(pending, 'pending alert')} left out"] if pending else []
    remarks += _together(labels[i] for i in firing)
    about: dict[str, Any] = {"unit": "ms", "remarks": tuple(remarks), "step": step * UNITS["ms"] or UNITS["s"]}
    return found_items("Prometheus alerts", items, lambda i: f"interval {i + 1:,}", **about)


def _alert_names(labels: Mapping[str, Any]) -> list[str]:
    return list(filter(None, [_text(labels.get("alertname"))]))


def _together(labels: Iterable[Mapping[str, Any]]) -> list[str]:
    """Say that alerts of several names are taken for those of one detector."""
    names = sorted({name for each in labels for name in _alert_names(each)})
    if len(names) < 2:
        return []
    return [f"alerts of {len(names):,} names are taken together: {some_names(map(one_line, names))}"]


class _Alert(NamedTuple):
    """An alert of Alertmanager, when it ends as a number, and whether it was still firing then."""

    place: str
    item: Item
    end: int
    is_firing: bool


def _alertmanager(content: Sequence[Any], series: str | None) -> Found:
    """Return the alerts of Alertmanager: of its API, alone or in groups, or those that it has sent to a webhook.

    One that comes again, as webhooks repeat it, is one, with its end if that is known. Those of a series have its name.
    """
    entries = [_object(each, f"entry {n:,}") for n, each in enumerate(content, 1)]
    several = [_list(entry.get("alerts", [entry]), f"alerts of entry {n:,}") for n, entry in enumerate(entries, 1)]
    every = {f"alert {n:,}": alert for n, alert in enumerate(chain.from_iterable(several), 1)}
    alerts = [(place, _object(alert, place)) for place, alert in every.items()]
    labels = [_object(alert.get("labels", {}), f"labels of {place}") for place, alert in alerts]
    rows = under_name(list(map(_alert_names, labels)), series, "a list of alerts without names")
    found: dict[Item, _Alert] = {}
    for i in rows:
        alert = _alert(*alerts[i], labels[i])
        known = found.setdefault(alert.item._replace(stop=None), alert)
        if known.is_firing and (not alert.is_firing or alert.end > known.end):
            found[alert.item._replace(stop=None)] = alert
    remarks = _together(labels[i] for i in rows)
    if firing := sum(alert.is_firing for alert in found.values()):
        remarks.append(f"{count_of(firing, 'alert')} still firing: taken up to the last update, or as a moment")
    places, items = [alert.place for alert in found.values()], [alert.item for alert in found.values()]
    about: dict[str, Any] = {"remarks": tuple(remarks), "step": UNITS["s"]}
    return found_items("Alertmanager alerts", items, places.__getitem__, **about)


def _alert(place: str, alert: Mapping[str, Any], labels: Mapping[str, Any]) -> _Alert:
    """Return an alert; of one that is firing, Alertmanager knows no end, or only guesses one that lies ahead."""
    start = moment(alert.get("startsAt"), f"startsAt of {place}")
    seen, end = (start if _is_never(alert.get(name)) else alert[name] for name in ("updatedAt", "endsAt"))
    is_open = _is_never(alert.get("endsAt")) or alert.get("status") == "firing"
    stop = moment(seen if is_open else end, f"{'updatedAt' if is_open else 'endsAt'} of {place}")
    first, last, updated = moments_of(place, [start, stop, seen]).ticks.tolist()
    if not (is_open or _is_never(alert.get("updatedAt"))) and first <= updated < last:
        is_open, stop, last = True, seen, updated
    return _Alert(place, Item(start, stop, _text(labels.get("alertname")), _noted(labels)), last, is_open)


def _is_never(given: Any) -> bool:
    """Tell whether there is no time, as Alertmanager writes it."""
    return is_blank(given) or (isinstance(given, str) and given.startswith(_NEVER))


def _answers(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
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
    note = _noted(labels)
    for run in np.split(times, np.flatnonzero(np.diff(times) > step) + 1):
        if len(run):
            yield Item(int(run[0]), int(run[-1]) + step, _text(labels.get("alertname")), note)


def _noted(labels: Mapping[str, Any]) -> str:
    """Return what tells an alert from others of its name."""
    known = ("__name__", "alertname", "alertstate")
    return ", ".join(f"{one_line(name)}={_text(labels[name])}" for name in labels if name not in known)


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
