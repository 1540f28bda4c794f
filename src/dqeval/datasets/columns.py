"""A series, its labels and its scores from named columns: which column is which."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dqeval.core import arguments, validate
from dqeval.core.moments import in_zone, moments_of
from dqeval.core.numeric_arrays import as_array
from dqeval.core.registry import split_names
from dqeval.core.times import as_times, dates_of_index, index_of, parse_with_zone
from dqeval.core.types import Series
from dqeval.core.zones import as_fields, zone_told
from dqeval.datasets.files import (
    TIME_NAMES,
    VALUE_NAMES,
    Content,
    Named,
    content_of_arrays,
    name_of,
    read_content,
)
from dqeval.datasets.guard import shorten, some_names
from dqeval.render.tables import one_line
from dqeval.support.hints import may_name

NAB_SUMMARY = {"Threshold", "Score", "TP", "TN", "FP", "FN", "Total_Count"}
LABEL_NAMES = ("label", "is_anomaly")
TSB_AD_NAME = re.compile(r"_tr_(\d+)_1st_(\d+)$")
NUMBERED_VALUE = re.compile(r"value[-_]?\d+", re.IGNORECASE)  # one of several columns of values


@dataclass(frozen=True, slots=True)
class Roles:
    """Which column is which.

    Attributes
    ----------
    label : str
    value : str, optional
    scores : tuple of str
    series : str, optional
        The column that names the series of each row, where a table holds several.
    time : str, optional
        The column of timestamps, if it was named.
    """

    label: str
    value: str | None
    scores: tuple[str, ...]
    series: str | None = None
    time: str | None = None


def read_columns(
    path: str | Path,
    *,
    label: str | None = None,
    value: str | None = None,
    scores: Sequence[str] | None = None,
    time: str | None = None,
    timezone: str | None = None,
) -> Series:
    r"""Read a series, its labels and its scores from a file with named columns.

    Parameters
    ----------
    path : str or Path
        CSV, TSV or JSON lines, packed with gzip or not; npz; Parquet or Feather (with pyarrow); ``-`` for CSV on
        standard input.
    label, value : str, optional
        The columns of the labels and of the values. If not given, those called label or is_anomaly, and value or Data;
        there may be no values. Capitals do not matter.
    scores : sequence of str, optional
        The columns of the detectors' scores. If not given, every other numeric column, but for timestamps, columns
        without a name, and several columns of values (value_0, value_1, …). There must be one, unless the values are
        named, or no scores are asked for (``[]``).
    time : str, optional
        The column of the timestamps. If not given, the first called timestamp, time, date, datetime or the like.
    timezone : str, optional
        The time zone of dates that are written without one, such as Europe/Berlin. Then all are in universal time.

    Returns
    -------
    Series

    Examples
    --------
    >>> from pathlib import Path
    >>> rows = ["value,label,mine", "3.1,0,0.1", "9.5,1,0.8", "3.0,0,0.2"]
    >>> _ = Path("scores.csv").write_text("\n".join(rows))
    >>> series = dqeval.datasets.read_columns("scores.csv")
    >>> series.name, list(series.scores), series.values.tolist()
    ('scores', ['mine'], [3.1, 9.5, 3.0])
    """
    path = Path(path)
    name = path.name.partition(".")[0] or path.name
    needed = needs_scores(value, scores)
    try:
        series = read_table(path, name, label=label, value=value, scores=scores, time=time, need_scores=needed)
        return series_in_zone(series, timezone)
    except ValueError as error:
        raise ValueError(f"{name_of(path)}: {error}") from None


def read_table(
    path: Path,
    name: str,
    *,
    label: str | None = None,
    value: str | None = None,
    scores: Sequence[str] | None = None,
    time: str | None = None,
    need_scores: bool = False,
) -> Series:
    """Return the series in a table: see `read_columns`; columns of scores may also be separated by commas."""
    content = read_content(path, named=Named(time=time))
    roles = roles_in_table(content, label=label, value=value, scores=scores, need_scores=need_scores)
    return series_in_table(content, roles, name)


def roles_in_table(
    content: Content,
    *,
    label: str | None = None,
    value: str | None = None,
    scores: Sequence[str] | None = None,
    need_scores: bool = False,
) -> Roles:
    """Return which column of a table that was read is which; those of scores may be separated by commas."""
    _refuse_summary(content)
    named = None if scores is None else split_names(validate.names_in("scores", scores), content.columns)
    return find_roles(
        content.columns,
        label=label,
        value=value,
        scores=named,
        need_scores=need_scores,
        series=content.named.series,
        time=content.named.time,
    )


def _refuse_summary(content: Content) -> None:
    """Refuse the table of a detector's scores by file that NAB writes beside its results."""
    if content.columns.keys() >= NAB_SUMMARY:
        raise validate.NoSeriesError("this is a summary of NAB, with a row per file, and no series")


def labelled(content: Content, label: str | None) -> Content:
    """Return a table with a column of labels: nothing but 0 where there is none, as they will follow from incidents."""
    _refuse_summary(content)
    known = LABEL_NAMES if label is None else (label,)
    if any(name in known or name.lower() in known for name in content.columns):
        return content
    points = len(next(iter(content.columns.values()), ()))
    return replace(content, columns={**content.columns, known[0]: np.zeros(points)})


def series_in_table(content: Content, roles: Roles, name: str) -> Series:
    """Return the series in a table that was read, or in some of its rows."""
    series = with_roles(content, roles, name=name)
    several = [column for key, column in content.columns.items() if NUMBERED_VALUE.fullmatch(key)]
    values = np.column_stack(several) if several and series.values is None else series.values
    return replace(series, values=values, train_stop=train_stop_of(name, series.labels))


def series_of(
    columns: Mapping[str, Any],
    *,
    label: str | None = None,
    value: str | None = None,
    scores: Sequence[str] | None = None,
    time: str | None = None,
    name: str = "series",
) -> Series:
    """Return a series, its labels and its scores from columns in memory.

    Parameters
    ----------
    columns : mapping of str to array-like, shape (n,)
        A dictionary or a DataFrame; columns that are not numeric are left out. Where no column holds timestamps, an
        index of them does, as pandas has it.
    label, value : str, optional
        The columns of the labels and of the values. If not given, those called label or is_anomaly, and value or Data;
        there may be no values. Capitals do not matter.
    scores : sequence of str, optional
        The columns of the detectors' scores. If not given, every other numeric column, but for timestamps, columns
        without a name, and several columns of values (value_0, value_1, …). There must be one, unless the values are
        named, or no scores are asked for (``[]``).
    time : str, optional
        The column of the timestamps. If not given, the first called timestamp, time, date, datetime or the like.
    name : str, default "series"
        What to call the series.

    Returns
    -------
    Series

    Examples
    --------
    >>> series = dqeval.datasets.series_of({"label": [0, 1, 0], "mine": [0.1, 0.9, 0.3], "note": ["a", "b", "c"]})
    >>> list(series.scores), series.values is None
    (['mine'], True)
    """
    needed = needs_scores(value, scores)
    return series_in(columns, label=label, value=value, scores=scores, time=time, name=name, need_scores=needed)


def series_in(
    columns: Mapping[str, Any],
    *,
    label: str | None = None,
    value: str | None = None,
    scores: Sequence[str] | None = None,
    time: str | None = None,
    name: str = "series",
    need_scores: bool = False,
) -> Series:
    """Return a series from columns in memory, with scores or without: see `series_of`."""
    named = Named(time=time)
    content, roles = content_in_memory(columns, named, label=label, value=value, scores=scores, need_scores=need_scores)
    return with_roles(content, roles, name=name)


def content_in_memory(
    columns: Mapping[str, Any],
    named: Named,
    *,
    label: str | None = None,
    value: str | None = None,
    scores: Sequence[str] | None = None,
    need_scores: bool = False,
    from_incidents: bool = False,
) -> tuple[Content, Roles]:
    """Return what is in columns in memory, and which of them is which; a column may name the series of each row.

    Where labels follow from incidents, there need be none.
    """
    given = {str(column): columns[column] for column in getattr(columns, "columns", columns)}
    content = content_of_arrays({name: as_array(name, column) for name, column in given.items()}, named)
    content = labelled(content, label) if from_incidents else content
    roles = roles_in_table(content, label=label, value=value, scores=scores, need_scores=need_scores)
    for other in (*roles.scores, roles.value, roles.series):
        if other is not None and roles.label in given:
            validate.same_index(roles.label, given[roles.label], other, given[other])
    found = next((given[name] for name in given if named.is_time(name) and name not in content.left_out), None)
    times = _times_of_index(columns) if found is None else found
    if times is None:
        return content, roles
    return replace(content, times=as_times(times), zone=zone_told(times)), roles


def _times_of_index(columns: Any) -> Any:
    """Return the index of a DataFrame, if it holds timestamps: by what it is, or by its name; None if it does not."""
    index = index_of(columns)
    named = str(getattr(index, "name", "")).lower() in TIME_NAMES
    return index if named else dates_of_index(columns)


def with_roles(content: Content, roles: Roles, *, name: str) -> Series:
    """Return a series from the content of a table of which it is known which column is which."""
    columns, times = content.columns, content.times
    labels = columns[roles.label]
    if times is not None and times.shape != labels.shape:
        raise ValueError(f"there must be a timestamp for each point: got {times.size:,} for {len(labels):,} points")
    detectors = {one_line(detector): columns[detector] for detector in roles.scores}
    if len(detectors) < len(roles.scores):
        raise ValueError(f"two columns of scores have the same name: {some_names(map(one_line, roles.scores))}")
    values = None if roles.value is None else columns[roles.value]
    timestamps, zone = (None, None) if times is None else parse_with_zone(times, content.zone)
    remarks = tuple(f"{shorten(key)} is left out: it is a single value" for key in content.left_out)
    return Series(one_line(name), labels, detectors, values, timestamps=timestamps, remarks=remarks, **as_fields(zone))


def series_in_zone(series: Series, timezone: str | None) -> Series:
    """Return a series with dates that are shown in a time zone, and are of it where they are written without one."""
    times = series.timestamps
    if timezone is None or times is None or times.dtype.kind != "M" or series.zoned:
        return replace(series, zone=timezone) if timezone is not None and series.zoned else series
    moments = in_zone(moments_of("timestamps", times), timezone, lambda i: f"the timestamp of point {i:,}")
    unit = np.promote_types(times.dtype, "datetime64[s]")  # of days, there may be hours now
    in_universal_time = moments.ticks.astype("datetime64[ns]").astype(unit)
    return replace(series, timestamps=in_universal_time, zoned=True, zone=timezone)


def needs_scores(value: str | None, scores: Sequence[str] | None) -> bool:
    """Tell whether a file without scores is an error: who names the values, or asks for no scores, needs none."""
    return value is None and scores is None


def train_stop_of(name: str, labels: NDArray[Any]) -> int | None:
    """Return the end of the training part from a name as in TSB-AD; the first anomaly it tells of must be so."""
    coded = TSB_AD_NAME.search(name)
    if coded is None:
        return None
    train_stop, first = map(int, coded.groups())
    found = np.flatnonzero(labels)
    if first not in found[:1]:
        # Where the first anomaly is elsewhere, the series may have been cut, and the end of training is wrong too.
        there = f"have it at {found[0]}" if len(found) else "have none"
        raise ValueError(
            f"the name of {name} says that the first anomaly is at {first}, and the labels {there}: "
            "give it another name if the labels are right"
        )
    return train_stop


def find_roles(
    names: Iterable[str],
    *,
    label: str | None = None,
    value: str | None = None,
    scores: Sequence[str] | None = None,
    need_scores: bool = False,
    series: str | None = None,
    time: str | None = None,
) -> Roles:
    """Return which of the named columns is which: see `read_columns`; that of the series is not among them."""
    names = dict.fromkeys(names)  # where a name is found at once, however many there are
    scores = None if scores is None else validate.names_in("scores", scores)
    if series is not None and series in (label, value, *(scores or ())):
        raise ValueError(f"{series} names the series: it cannot be the column of labels, values or scores too")
    label = _chosen(names, label, LABEL_NAMES)
    value = _chosen(names, value, VALUE_NAMES)
    if label is None:
        hint = "; rename the one that holds the labels" + ", or name it with --label" * may_name("--label")
        hint += "; or give --incidents" * may_name("--incidents")
        there = f"{some_names(names)}{hint if names else ''}"
        raise ValueError(f"no numeric column is called label or is_anomaly; there are {there}")
    others = [name for name in names if name not in (label, value) and not NUMBERED_VALUE.fullmatch(name)]
    detectors = others if scores is None else [_existing(names, name) for name in dict.fromkeys(scores)]
    if label in detectors:
        raise ValueError(f"{label} holds the labels: it cannot be a column of scores too")
    if need_scores and not detectors:
        raise validate.NoScoresError(
            "no column of scores: beside the labels there must be one numeric column per detector; "
            "`dqeval detect` makes some"
        )
    return Roles(label, value, tuple(detectors), series, time)


def _chosen(names: Collection[str], given: str | None, usual: tuple[str, ...]) -> str | None:
    """Return the column that was asked for, or the one with a usual name, or None."""
    if given is not None:
        return _existing(names, arguments.text(usual[0], given))
    found = [name for name in names if name.lower() in usual]
    if len(found) > 1:
        raise ValueError(f"there must be one column for {usual[0]}: found {some_names(found)}; say which one")
    return found[0] if found else None


def _existing(names: Collection[str], name: str) -> str:
    if name not in names:
        raise ValueError(f"no numeric column is called {name}; there are {some_names(names)}")
    return name
