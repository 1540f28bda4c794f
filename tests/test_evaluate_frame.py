"""Many series in one DataFrame: the numbers are those of evaluate, whoever splits the frame."""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dqeval
from dqeval import evaluate_frame, evaluate_frame_events
from dqeval.core.types import SCORE_NAMES

SCHEMA = {"detector": "str", "points": "int64", "events": "int64", "near": "float64"}
SCHEMA |= dict.fromkeys(SCORE_NAMES, "float64")
EVENT_SCHEMA = {"detector": "str", "event": "int64", "start": "int64", "stop": "int64"}
EVENT_SCHEMA |= dict.fromkeys(SCORE_NAMES, "float64")
DETECTORS = ["late", "noisy"]


def long_frame(seed=0, hosts=("b", "a", "c"), points=60):
    """Return three series in one frame, with dates, two detectors, and a number beside the name of each series."""
    rng = np.random.default_rng(seed)
    parts = []
    for i, host in enumerate(hosts):
        labels = np.zeros(points, dtype=int)
        labels[10 + i : 14 + i] = labels[40:43] = 1
        part = {"host": host, "rack": i, "at": pd.date_range("2026-01-01", periods=points, freq="min")}
        scores = {name: rng.random(points).round(2) + labels * rng.random() for name in DETECTORS}
        parts.append(pd.DataFrame({**part, "label": labels, **scores}))
    return pd.concat(parts, ignore_index=True)


FRAME = long_frame()
PLAIN = FRAME[["host", "label", *DETECTORS]]


def expected(frame, keys=("host",), **options):
    """Return the rows of `evaluate_frame` by a loop of one's own."""
    rows = []
    for key in dict.fromkeys(frame[list(keys)].itertuples(index=False, name=None)):
        part = frame[(frame[list(keys)] == list(key)).all(axis=1)]
        for name in DETECTORS:
            found = dqeval.evaluate(part["label"].to_numpy(), part[name].to_numpy(), **options)
            values = [getattr(found, score) for score in SCORE_NAMES]
            rows.append((*key, name, len(part), len(found.per_event), found.near, *values))
    return rows


@given(seed=st.integers(0, 1000), near=st.sampled_from([0, 3, 12.5, "2ev", None]), exact=st.booleans())
@pytest.mark.unmeasured
def test_numbers_are_those_of_evaluate(seed, near, exact):
    frame = long_frame(seed)[["host", "label", *DETECTORS]]
    options = {"near": near, "thresholds": "exact" if exact else 100}
    found = evaluate_frame(frame, by="host", **options)
    assert found.columns.tolist() == ["host", *SCHEMA]
    assert list(found.itertuples(index=False, name=None)) == expected(frame, **options)
    other = evaluate_frame(pl.from_pandas(frame), by="host", **options)
    assert other.rows() == expected(frame, **options)


def test_detections_are_evaluated_too():
    frame = PLAIN.assign(late=(PLAIN["late"] > 1).astype(int), noisy=PLAIN["noisy"] > 0.9)
    found = evaluate_frame(frame, by="host", near=3)
    assert list(found.itertuples(index=False, name=None)) == expected(frame, near=3)


def test_groups_of_the_library_give_the_same():
    whole = evaluate_frame(PLAIN, by="host", near=5)
    grouped = PLAIN.groupby("host", sort=False)[["label", *DETECTORS]].apply(evaluate_frame, near=5)
    assert grouped.reset_index(level="host").reset_index(drop=True).equals(whole)
    frame = pl.from_pandas(PLAIN)
    mapped = frame.group_by("host", maintain_order=True).map_groups(partial(evaluate_frame, by="host", near=5))
    assert mapped.equals(evaluate_frame(frame, by="host", near=5))
    assert mapped.equals(pl.from_pandas(whole))


def test_several_columns_name_a_series_and_keep_their_types():
    frame = FRAME.drop(columns="at").astype({"host": "category"})
    found = evaluate_frame(frame, by=["host", "rack"], near=5)
    assert list(found.itertuples(index=False, name=None)) == expected(FRAME, ("host", "rack"), near=5)
    assert found["host"].dtype == frame["host"].dtype
    assert found["rack"].dtype == np.int64


def test_a_missing_name_is_a_name():
    frame = PLAIN.assign(host=PLAIN["host"].replace("a", None))
    for given_frame in (frame, pl.from_pandas(frame)):
        found = evaluate_frame(given_frame, by="host", near=5)
        assert found["dqe"].to_list() == evaluate_frame(PLAIN, by="host", near=5)["dqe"].to_list()


def test_every_row_has_the_name_of_its_own_series():
    """None and NaN are one name for groupby, and two for whoever drops duplicates."""
    order = [None, "a", np.nan, "c"]
    frame = pd.concat(
        [PLAIN[PLAIN["host"] == "a"].assign(host=pd.Series(order[i], PLAIN.index, object)) for i in range(4)]
    )
    found = evaluate_frame(frame, by="host", near=5)
    assert [None if pd.isna(host) else host for host in found["host"][::2]] == [None, "a", "c"]
    assert found["points"].tolist() == [120, 120, 60, 60, 60, 60]


def test_columns_without_numbers_are_named():
    frame = PLAIN.assign(late=PLAIN["late"].astype(str) + " %", note="calm", at=FRAME["at"])
    for given_frame in (frame, pl.from_pandas(frame)):
        said = r"^columns without numbers are left out: late, note; evaluated are noisy; name the .* scores=\[…\]$"
        with pytest.warns(UserWarning, match=said) as warned:
            found = evaluate_frame(given_frame, by="host", near=5)
        assert len(warned) == 1
        assert warned[0].filename == __file__
        assert set(found["detector"]) == {"noisy"}
        with pytest.warns(UserWarning, match=said):
            evaluate_frame_events(given_frame, by="host", near=5)
    assert len(evaluate_frame(frame, by="host", scores=["noisy"], near=5)) == 3
    with pytest.raises(ValueError, match="no numeric column is called late"):
        evaluate_frame(frame, by="host", scores=["late"])


@pytest.mark.parametrize("convert", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
def test_dates_without_a_time_zone_are_those_of_the_one_that_is_given(convert):
    frame = FRAME.drop(columns="rack")
    options = {"by": "host", "times": "at", "near": "5min"}
    found = evaluate_frame_events(convert(frame), timezone="Europe/Berlin", **options)
    zoned = frame.assign(at=frame["at"].dt.tz_localize("Europe/Berlin"))
    assert found.equals(evaluate_frame_events(convert(zoned), **options))
    assert found["start_time"][0] == pd.Timestamp("2026-01-01 00:10", tz="Europe/Berlin")
    assert str(getattr(found["start_time"].dtype, "tz", None) or found["start_time"].dtype.time_zone) == "Europe/Berlin"
    empty = evaluate_frame_events(convert(zoned)[:0], **options)
    assert empty["start_time"].dtype == found["start_time"].dtype
    assert evaluate_frame(convert(frame), timezone="Asia/Tokyo", **options).equals(
        evaluate_frame(convert(frame), **options)
    )
    numbered = convert(frame.assign(at=np.tile(np.arange(60), 3)))
    counted = evaluate_frame_events(numbered, timezone="Asia/Tokyo", by="host", times="at", near=5)
    assert counted["start_time"].to_list() == counted["start"].to_list()


def test_an_hour_that_is_there_twice_has_no_moment():
    frame = PLAIN.assign(at=np.tile(pd.date_range("2026-10-25 02:10", periods=60, freq="min"), 3))
    with pytest.raises(ValueError, match=r"^host b: times: 2026-10-25T02:10 is there twice, as clocks are put back"):
        evaluate_frame(frame, by="host", times="at", timezone="Europe/Berlin")


def test_rows_are_sorted_by_their_times():
    shuffled = FRAME.drop(columns="rack").sample(frac=1, random_state=1)
    for frame in (shuffled, pl.from_pandas(shuffled)):
        found = evaluate_frame(frame, by="host", times="at", near="5min")
        assert sorted(zip(found["host"], found["detector"], found["dqe"], strict=True)) == sorted(
            (row[0], row[1], row[5]) for row in expected(FRAME, near=5)
        )


def test_values_tell_the_period_of_each_series():
    series = dqeval.datasets.demo()
    frame = pd.DataFrame({"label": series.labels, "value": series.values, **series.scores})
    found = evaluate_frame(frame)
    assert found["near"].tolist() == [dqeval.compare(frame, repeats=1).near.points] * len(series.scores)
    renamed = frame.rename(columns={"label": "truth", "value": "x"})
    assert evaluate_frame(renamed, label="truth", value="x", scores=["late"])["dqe"].tolist() == [
        dqeval.evaluate(series.labels, series.scores["late"], values=series.values).dqe
    ]


def test_events():
    found = evaluate_frame_events(PLAIN, by="host", near=5)
    assert found.columns.tolist() == ["host", *EVENT_SCHEMA]
    rows = []
    for host in ("b", "a", "c"):
        part = PLAIN[PLAIN["host"] == host]
        for name in DETECTORS:
            for i, event in enumerate(dqeval.evaluate(part["label"], part[name], near=5).per_event):
                rows.append((host, name, i, *(getattr(event, column) for column in list(EVENT_SCHEMA)[2:])))
    assert list(found.itertuples(index=False, name=None)) == rows


@pytest.mark.parametrize("convert", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
def test_events_have_times(convert):
    frame = convert(FRAME.drop(columns="rack"))
    found = evaluate_frame_events(frame, by="host", times="at", near=5)
    assert list(found.columns) == ["host", *EVENT_SCHEMA, "start_time", "stop_time"]
    minutes = (found["start_time"] - found["start_time"].min()).to_numpy() / np.timedelta64(1, "m")
    assert (minutes + 10).tolist() == found["start"].to_list()
    numbered = convert(FRAME.drop(columns="rack").assign(at=np.tile(np.arange(60), 3)))
    counted = evaluate_frame_events(numbered, by="host", times="at", near=5)
    assert counted["start_time"].to_list() == counted["start"].to_list()


@pytest.mark.parametrize("convert", [pd.DataFrame, pl.from_pandas], ids=["pandas", "polars"])
def test_a_frame_without_rows_has_the_columns_and_their_types(convert):
    def types(frame):
        return frame.schema if convert is pl.from_pandas else frame.dtypes.astype(str).to_dict()

    frame = convert(FRAME.drop(columns="rack"))
    for function in (evaluate_frame, evaluate_frame_events):
        full, none = function(frame, by="host", times="at"), function(frame[:0], by="host", times="at")
        assert len(none) == 0
        assert types(full) == types(none)
    assert len(evaluate_frame(convert(PLAIN)[:0])) == 0


def test_the_schema():
    assert evaluate_frame(PLAIN, by="host")[[*SCHEMA]].dtypes.astype(str).to_dict() == SCHEMA
    found = evaluate_frame_events(PLAIN, by="host")
    assert found[[*EVENT_SCHEMA]].dtypes.astype(str).to_dict() == EVENT_SCHEMA


def test_the_schema_for_spark_is_that_of_the_columns():
    page = (Path(__file__).parent.parent / "docs" / "frames.md").read_text(encoding="utf-8")
    text = page.partition('schema = "host string, ')[2].partition('"')[0]
    names = {"string": "str", "bigint": "int64", "double": "float64"}
    written = [column.split() for column in text.split(", ")]
    assert {name: names[kind] for name, kind in written} == SCHEMA


def test_series_without_an_anomaly():
    quiet = PLAIN.assign(label=PLAIN["label"].where(PLAIN["host"] != "a", 0))
    with pytest.raises(dqeval.UndefinedError, match=r'^host a: y_true has no anomaly.*undefined="nan"'):
        evaluate_frame(quiet, by="host")
    with pytest.warns(dqeval.UndefinedWarning, match="^host a: y_true has no anomaly.*: NaN is returned$") as warned:
        found = evaluate_frame(quiet, by="host", near=5, undefined="nan")
    assert len(warned) == 1
    with pytest.warns(dqeval.UndefinedWarning, match="^y_true has no anomaly"):
        evaluate_frame(quiet[quiet["host"] == "a"].drop(columns="host"), undefined="nan")
    assert found["dqe"].isna().tolist() == [False, False, True, True, False, False]
    assert found["events"].tolist() == [2, 2, 0, 0, 2, 2]
    with pytest.warns(dqeval.UndefinedWarning):
        events = evaluate_frame_events(quiet, by="host", near=5, undefined="nan")
    assert set(events["host"]) == {"b", "c"}


@pytest.mark.parametrize(
    ("frame", "options", "message"),
    [
        ({"label": [0, 1]}, {}, r"frame must be a DataFrame of pandas or polars: got dict"),
        (PLAIN["label"], {}, r"frame must be a DataFrame of pandas or polars: got Series"),
        (pl.from_pandas(PLAIN).lazy(), {}, r"^frame is a LazyFrame of polars: call its collect\(\) first$"),
        (Path("x.csv"), {}, r"frame must be a DataFrame of pandas or polars: got PosixPath of pathlib"),
        (PLAIN, {"timezone": "Europe/Berlin"}, r"^timezone is about dates: give times too$"),
        (PLAIN, {"times": "host", "timezone": "Berlin"}, r"^timezone 'Berlin' is not known"),
        (PLAIN, {"by": "server"}, r"by: no column is called server; there are host, label, late, noisy"),
        (PLAIN, {"by": 3}, r"by must be a sequence of names: got 3"),
        (PLAIN, {"by": "host", "times": "at"}, r"times: no column is called at; there are host"),
        (PLAIN, {"times": 3}, r"times must be a text: got 3"),
        # before anything is evaluated, which would fail as well
        (PLAIN.assign(dqe=1, label=2), {"by": ["host", "dqe"]}, r"^by dqe is what a column of the result is called"),
        (PLAIN.assign(label=2), {"by": "host"}, r"^host b: y_true must contain only 0 and 1"),
        (PLAIN.assign(late=np.nan), {}, r"^column late: y_score must be finite"),
        (PLAIN[["host", "label"]], {"by": "host"}, r"^host b: no column of scores"),
        (PLAIN, {"by": "host", "near": "5min"}, r"^host b: near needs a clock, and there is none"),
    ],
)
def test_errors_say_what_is_wrong(frame, options, message):
    with pytest.raises(ValueError, match=message):
        evaluate_frame(frame, **options)


@pytest.mark.parametrize(
    ("times", "start"),
    [
        ([1_700_000_000 + 60 * i for i in range(8)], pd.Timestamp("2023-11-14T22:15:20Z")),  # seconds since 1970
        ([str(10 * i) for i in range(8)], 20),  # numbers as text
        ([10 * i for i in range(8)], 20),
    ],
)
def test_times_of_events_are_of_the_kind_of_the_times(times, start):
    frame = pd.DataFrame({"t": times, "label": [0, 0, 1, 1, 0, 0, 0, 0], "mine": [0, 0, 9, 8, 0, 0, 1, 0]})
    found = dqeval.evaluate_frame_events(frame, times="t", near=1)
    assert found["start_time"].tolist() == [start]


def test_a_column_that_names_series_may_be_called_as_one_that_only_events_have():
    frame = FRAME.rename(columns={"host": "start_time"}).drop(columns="rack")
    assert len(evaluate_frame(frame, by="start_time", times="at", near=5)) == 6
    assert len(evaluate_frame_events(frame, by="start_time", near=5)) == 12
    with pytest.raises(ValueError, match="by start_time is what a column of the result is called"):
        evaluate_frame_events(frame, by="start_time", times="at", near=5)
