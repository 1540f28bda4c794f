"""Many series, or many detectors, in one call: the numbers are those of evaluate on each."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dqeval
import naive
import strategies
from dqeval import evaluate_many
from dqeval.analysis import many as many_module
from dqeval.core import batches
from dqeval.core.types import SCORE_NAMES

TWO = ([0, 1, 0, 0, 0, 1], [0, 0, 0, 1, 1]), ([0, 9, 0, 0, 0, 7], [0, 0, 1, 2, 0])


@st.composite
def many(draw, detectors=1):
    """Draw the labels of some series, of which some have no event, and scores of each detector."""
    labels = draw(st.lists(strategies.runs(), min_size=1, max_size=8))
    wide = st.sampled_from([1.0, 1e-320, 7.3, 1e308])
    shifts = st.sampled_from([0.0, -1.0, 12.5])
    scores = [
        [(draw(strategies.scores(len(each))) - 0.5) * draw(wide) * 2 + draw(shifts) for each in labels]
        for _ in range(detectors)
    ]
    return labels, scores


def one_by_one(labels, scores, **options):
    """Return what evaluate says of each series, a row each."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dqeval.UndefinedWarning)
        return [dqeval.evaluate(*pair, undefined="nan", **options) for pair in zip(labels, scores, strict=True)]


def rows(found):
    return np.column_stack([getattr(found, name) for name in SCORE_NAMES])


def quietly(*given, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dqeval.UndefinedWarning)
        return evaluate_many(*given, undefined="nan", **options)


def same(found, expected):
    """Check that the rows of a result, and its events, are exactly those of single results."""
    assert np.array_equal(
        rows(found), [[getattr(one, name) for name in SCORE_NAMES] for one in expected], equal_nan=True
    )
    assert found.near.tolist() == [one.near for one in expected]
    assert found.events.tolist() == [len(one.per_event) for one in expected]
    events = [
        (e.start, e.stop, e.dqe, e.capture, e.near_miss, e.false_alarm) for one in expected for e in one.per_event
    ]
    of = found.per_event
    assert list(zip(of.start, of.stop, *rows(of).T, strict=True)) == events
    assert of.event.tolist() == [i for one in expected for i in range(len(one.per_event))]
    assert len(of) == len(events)


options = st.fixed_dictionaries(
    {
        "near": strategies.exact_near | strategies.any_near | st.sampled_from([None, "2ev", "0.5ev"]),
        "thresholds": st.sampled_from([100, 1, 7, "exact"]),
        "scale": st.sampled_from(["min-max", "log-rank"]),
    }
)


@given(many(), options, st.sampled_from([1, 7, 1000]), st.integers(1, 3))
@pytest.mark.unmeasured
def test_numbers_are_those_of_evaluate(series, options, most_points, workers):
    labels, (scores,) = series
    expected = one_by_one(labels, scores, **options)
    offsets = np.cumsum([0, *map(len, labels[:-1])])
    ids = np.repeat(np.arange(len(labels)) * 3, [len(each) for each in labels])
    long = np.concatenate(labels), np.concatenate(scores)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "CHUNK_POINTS", most_points)
        options |= {"workers": workers}
        same(quietly(labels, scores, **options), expected)
        same(quietly(*long, offsets=offsets, **options), expected)
        same(quietly(*long, offsets=[*offsets, len(long[0])], **options), expected)
        named = quietly(*long, ids=ids, **options)
    same(named, expected)
    assert named.series.tolist() == [3 * i for i in range(len(labels))]
    assert named.points.tolist() == [len(each) for each in labels]


@given(many(detectors=2), strategies.any_near, st.sampled_from([100, "exact"]))
@pytest.mark.unmeasured
def test_several_detectors_on_several_series(series, near, thresholds):
    labels, (one, two) = series
    pairs = [
        pair for label, *scores in zip(labels, one, two, strict=True) for pair in ((label, each) for each in scores)
    ]
    expected = one_by_one(*zip(*pairs, strict=True), near=near, thresholds=thresholds)
    offsets = np.cumsum([0, *map(len, labels[:-1])])
    columns = {"one": np.concatenate(one), "two": np.concatenate(two)}
    options = {"near": near, "thresholds": thresholds}
    found = quietly(np.concatenate(labels), columns, offsets=offsets, **options)
    same(found, expected)
    same(quietly(np.concatenate(labels), np.column_stack([*columns.values()]), offsets=offsets, **options), expected)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "CHUNK_POINTS", 1)
        patch.setattr(many_module, "_CHUNKS_EACH", 1)
        table = np.column_stack([*columns.values()])
        same(quietly(np.concatenate(labels), table, offsets=offsets, workers=2, **options), expected)
    same(quietly(np.concatenate(labels), pd.DataFrame(columns), offsets=offsets, **options), expected)
    same(quietly(labels, {"one": one, "two": two}, **options), expected)
    assert found.detectors == ("one", "two")
    assert found.detector.tolist() == ["one", "two"] * len(labels)
    assert found.series.tolist() == [i for i in range(len(labels)) for _ in range(2)]
    for j, name in enumerate(found.detectors):
        if any(label.any() for label in labels):
            assert found.means(name) == dqeval.combine(expected[j::2])
    names = found.per_event.detector
    assert names.tolist() == [
        name for i, one in enumerate(expected) for name in [found.detectors[i % 2]] * len(one.per_event)
    ]


@given(many(), st.data())
def test_each_series_may_have_its_near_range(series, data):
    labels, (scores,) = series
    each = strategies.any_near | strategies.exact_near | st.sampled_from(["1ev", "2.5ev"])
    near = data.draw(st.lists(each, min_size=len(labels), max_size=len(labels)))
    one = [one_by_one([a], [b], near=c)[0] for a, b, c in zip(labels, scores, near, strict=True)]
    same(quietly(labels, scores, near=near), one)
    numbers = [float(i % 5) + 0.5 for i in range(len(labels))]
    one = [one_by_one([a], [b], period=c)[0] for a, b, c in zip(labels, scores, numbers, strict=True)]
    same(quietly(labels, scores, period=np.array(numbers)), one)


def test_a_list_of_numbers_that_are_arrays():
    """As a list of a tensor is."""
    labels, scores = [0, 1, 0, 0], [np.array(score) for score in (0.1, 0.9, 0.4, 0.2)]
    assert evaluate_many(labels, scores, near=1).dqe == evaluate_many(labels, [0.1, 0.9, 0.4, 0.2], near=1).dqe


@given(many())
def test_scores_that_lie_in_the_unit_interval_already(series):
    labels, (scores,) = series
    scores = [np.abs(np.sin(each)) for each in scores]
    same(quietly(labels, scores, near=3, scale=False), one_by_one(labels, scores, near=3, scale=False))


pairs = strategies.labelled(strategies.detections) | strategies.labelled(strategies.scores)


@given(st.lists(pairs, min_size=1, max_size=4), strategies.exact_near, st.sampled_from([1, 10, "exact"]))
@pytest.mark.unmeasured
def test_numbers_are_those_of_the_slow_definition(pairs, near, thresholds):
    found = evaluate_many(*map(list, zip(*pairs, strict=True)), near=near, thresholds=thresholds)
    scaled = [(labels, naive.scaled(scores)) for labels, scores in pairs]
    if thresholds == "exact":
        expected = [naive.exact(labels, scores, near) for labels, scores in scaled]
    else:
        expected = [naive.sampled(labels, scores, near, thresholds) for labels, scores in scaled]
    assert rows(found.per_event) == pytest.approx(np.concatenate(expected), abs=1e-12)
    assert rows(found) == pytest.approx(np.array([events.mean(axis=0) for events in expected]), abs=1e-12)


def test_the_other_series_change_no_digit():
    """Thresholds that no point reaches are left out where they are many, and that is no matter of the other series."""
    rng = np.random.default_rng(0)
    labels = [np.arange(10) % 4 == 2] * 300 + [np.arange(2000) % 500 == 7] * 20
    scores = [rng.normal(size=len(each)) for each in labels]
    same(evaluate_many(labels, scores, near=3.3), one_by_one(labels, scores, near=3.3))


@pytest.mark.parametrize("of_ids", [int, str, object, np.float64, "datetime64[s]"])
def test_series_of_any_length_by_ids_of_any_kind(monkeypatch, of_ids):
    """Also where a series begins, or ends, with what is compared at once."""
    monkeypatch.setattr(batches, "CHUNK_POINTS", 10)
    sizes = [10, 1, 9, 20, 3, 21]
    rng = np.random.default_rng(0)
    labels, scores = rng.random(sum(sizes)) < 0.5, rng.random(sum(sizes))
    ids = np.repeat([5, 4, 3, 7, 1, 2], sizes).astype(of_ids)
    offsets = np.cumsum([0, *sizes[:-1]])
    found = quietly(labels, scores, ids=ids, near=2)
    assert found.series.tolist() == ids[offsets].tolist()
    assert np.array_equal(rows(found), rows(quietly(labels, scores, offsets=offsets, near=2)), equal_nan=True)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(("points", "detectors"), [(1, 3), (16, 1), (16, 2), (40, 5)])
def test_columns_of_a_table_are_the_detectors(monkeypatch, points, detectors, order):
    """Also of one that is copied in several pieces, by several threads."""
    monkeypatch.setattr(batches, "_ROWS", 8)
    monkeypatch.setattr(batches, "CHUNK_POINTS", 16)
    rng = np.random.default_rng(points)
    labels, scores = np.arange(points) % 7 == 0, np.array(rng.random((points, detectors)), order=order)
    found = evaluate_many(labels, scores, near=2, workers=2)
    same(found, [dqeval.evaluate(labels, scores[:, j].copy(), near=2) for j in range(detectors)])


@pytest.mark.parametrize("offsets", [None, np.arange(0, 40, 4)])
def test_columns_of_a_table_are_there_when_labels_are_wrong(monkeypatch, offsets):
    monkeypatch.setattr(batches, "CHUNK_POINTS", 4)
    labels = np.arange(40) % 5
    with pytest.raises(ValueError, match="the two look swapped"):
        evaluate_many(labels, np.ones((40, 3)), offsets=offsets, near=2, workers=2)
    with pytest.raises(ValueError, match="1 marks an anomaly"):
        evaluate_many(labels, np.full((40, 3), 0.5), offsets=offsets, near=2, workers=2)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_scores_that_are_not_finite(monkeypatch, workers, bad):
    """In a chunk of one series, or of several; one of them, or all."""
    monkeypatch.setattr(batches, "CHUNK_POINTS", 12)
    for sizes in ([40], [4] * 10):
        offsets = np.cumsum([0, *sizes[:-1]])
        labels = np.arange(40) % 4 == 1
        for where in (slice(21, 22), slice(20, 24)):
            scores = np.arange(80.0).reshape(40, 2)
            scores[where, 1] = bad
            place = "" if len(sizes) == 1 else "series 5: "
            index = where.start - offsets[np.searchsorted(offsets, 21, side="right") - 1]
            with pytest.raises(ValueError, match=f"^{place}column 1: y_score must be finite: .* index {index}: {bad}"):
                evaluate_many(labels, scores, offsets=offsets, near=2, workers=workers)


@pytest.mark.parametrize("workers", [1, 2])
def test_errors_do_not_depend_on_the_workers(monkeypatch, workers):
    """Where scores of the first series and labels of the last are wrong."""
    monkeypatch.setattr(batches, "CHUNK_POINTS", 1)
    labels, scores = np.arange(60) % 3, np.arange(120.0).reshape(60, 2)
    labels[:55] = 0
    scores[1] = np.nan
    with pytest.raises(ValueError, match=r"^series 18: column 0: y_true must contain only 0 and 1"):
        evaluate_many(labels, scores, offsets=np.arange(0, 60, 3), near=2, workers=workers)


@pytest.mark.parametrize("near", [2, "2ev"])
def test_chunks_that_are_cut_and_scored_in_one_go(monkeypatch, near):
    monkeypatch.setattr(batches, "CHUNK_POINTS", 10)
    rng = np.random.default_rng(0)
    labels, scores = [np.arange(size) % 3 == 1 for size in range(2, 30)], [rng.random((n, 2)) for n in range(2, 30)]
    offsets = np.cumsum([0, *map(len, labels[:-1])])
    found = evaluate_many(np.concatenate(labels), np.concatenate(scores), offsets=offsets, near=near, workers=3)
    pairs = [(label, column.copy()) for label, table in zip(labels, scores, strict=True) for column in table.T]
    same(found, one_by_one(*zip(*pairs, strict=True), near=near))


def test_many_threads_give_the_same():
    rng = np.random.default_rng(0)
    labels = rng.random(600_000) < 0.01
    scores = rng.random((600_000, 3))
    offsets = np.arange(0, len(labels), 700)
    alone = quietly(labels, scores, offsets=offsets, near=20, workers=1)
    several = quietly(labels, scores, offsets=offsets, near=20, workers=4)
    assert np.array_equal(rows(alone), rows(several), equal_nan=True)
    assert np.array_equal(rows(alone.per_event), rows(several.per_event))


def test_pandas_and_polars_and_lists():
    labels, scores = TWO
    expected = rows(evaluate_many(list(map(np.array, labels)), list(map(np.array, scores)), near=2))
    kinds = [list, tuple, pd.Series, pl.Series, lambda x: np.array(x, dtype=object), lambda x: np.array(x, dtype="i1")]
    for kind in kinds:
        found = evaluate_many([kind(each) for each in labels], [kind(each) for each in scores], near=2)
        assert np.array_equal(rows(found), expected)
        long = (kind([*one, *other]) for one, other in TWO)
        assert np.array_equal(rows(evaluate_many(*long, ids=kind([0] * 6 + [1] * 5), near=2)), expected)
    boxed = [np.empty(2, dtype=object) for _ in range(2)]
    for box, items in zip(boxed, TWO, strict=True):
        box[:] = list(map(np.array, items))
    assert np.array_equal(rows(evaluate_many(*boxed, near=2)), expected)
    table = pl.DataFrame({"a": scores[0], "b": scores[0]})
    assert evaluate_many(labels[0], table, near=2).detectors == ("a", "b")
    assert evaluate_many(labels[0], [[x, x] for x in scores[0]], near=2).detectors == ("0", "1")


def test_names_stand_in_frames_with_their_types():
    labels, scores = ([*one, *other] for one, other in TWO)
    for ids in (["b"] * 6 + ["a"] * 5, np.array(["b"] * 6 + ["a"] * 5, dtype=object)):
        found = evaluate_many(labels, scores, ids=ids, near=2)
        frame = found.to_frame()
        assert list(frame.columns) == ["series", "detector", "points", "events", "near", *SCORE_NAMES]
        assert frame[["series", "detector", "points", "events", "near"]].values.tolist() == [
            ["b", "score", 6, 2, 2.0],
            ["a", "score", 5, 1, 2.0],
        ]
        events = found.per_event.to_frame("polars")
        assert events.columns == ["series", "detector", "event", "start", "stop", *SCORE_NAMES]
        assert events[:, :5].rows() == [("b", "score", 0, 1, 2), ("b", "score", 1, 5, 6), ("a", "score", 0, 3, 5)]
    assert len(found) == 2


def test_a_table_shows_the_means_and_every_series():
    labels, scores = TWO
    found = evaluate_many(list(labels), list(scores), near=[1, 2], thresholds="exact")
    text = str(found)
    assert text.splitlines()[0].split() == ["series", "events", "DQE", "capture", "near", "miss", "false", "alarm"]
    assert "mean over 2 series" in text
    assert "mean over 3 events" in text
    assert "near 1 to 2, all thresholds" in text
    assert found._repr_html_().startswith("<table>")
    both = str(evaluate_many(list(labels), {"a": list(scores), "b": list(scores)}, near=1))
    assert both.count("mean over 2 series") == 2
    assert "detector" in both
    assert "mean" not in str(evaluate_many(labels[0], np.column_stack([scores[0]] * 2), near=1))


def test_a_table_of_the_events():
    labels, scores = TWO
    one = evaluate_many(list(labels), list(scores), near=1).per_event
    assert [line.split()[:4] for line in str(one).splitlines()[2:5]] == [
        ["0", "[1,", "2)", f"{one.dqe[0]:.3f}"],
        ["0", "[5,", "6)", f"{one.dqe[1]:.3f}"],
        ["1", "[3,", "5)", f"{one.dqe[2]:.3f}"],
    ]
    assert "shown" not in str(one)
    assert one._repr_html_().startswith("<table>")
    six = evaluate_many(list(labels) * 2, {"a": list(scores) * 2, "b": list(scores) * 2}, near=1).per_event
    header, _, first, *rest = str(six).splitlines()
    assert header.split()[:3] == ["series", "detector", "event"]
    assert first.split()[4] == f"{six.dqe.min():.3f}"
    assert "the lowest 10 of 12 are shown" in rest


def test_a_table_of_many_shows_the_lowest():
    rng = np.random.default_rng(0)
    labels = np.arange(40 * 10) % 10 == 5
    labels[:20] = False
    found = quietly(labels, rng.random(400), offsets=np.arange(0, 400, 10), near=2)
    lines = str(found).splitlines()
    assert len(lines) == 2 + 2 + 10 + 3
    lowest = [float(line.split()[2]) for line in lines[4:14]]
    assert lowest == sorted(lowest)
    assert lowest[0] == round(np.nanmin(found.dqe), 3)
    assert lines[14] == "near 2, 100 thresholds; 2 series without an event; the lowest 10 of 40 are shown"


def test_series_without_an_event():
    labels, scores = [[0, 0], [0, 1], [0, 0, 0]], [[1, 2], [1, 2], [1, 2, 3]]
    with pytest.raises(dqeval.UndefinedError, match=r"^2 of 3 series have no anomaly, the first is series 0, so the"):
        evaluate_many(labels, scores)
    with pytest.warns(dqeval.UndefinedWarning, match=r"^2 of 3 series have no anomaly, the first is series 0") as told:
        found = evaluate_many(labels, scores, undefined="nan")
    assert len(told) == 1
    assert told[0].filename == __file__
    assert np.isnan(found.dqe).tolist() == [True, False, True]
    assert found.means().n_undefined == 2
    with pytest.raises(dqeval.UndefinedError, match=r"^1 of 2 series has no anomaly, the first is series b, so the"):
        evaluate_many([0, 1, 0], [1, 2, 3], ids=["a", "a", "b"])
    with pytest.raises(dqeval.UndefinedError, match=r"^y_true has no anomaly"):
        evaluate_many([0, 0], [1, 2])
    none = quietly([[0], [0]], [[1], [2]])
    assert "mean" not in str(none)
    assert len(none.per_event) == 0
    with pytest.raises(dqeval.UndefinedError, match="no series has an event"):
        none.means()


def test_whose_means():
    found = evaluate_many([0, 1, 0], {"a": [0, 1, 0], "b": [1, 0, 0]}, near=1)
    assert found.means("a").by_series.dqe == 1
    with pytest.raises(ValueError, match="say whose means: there are a, b"):
        found.means()
    with pytest.raises(ValueError, match="detector must be 'a' or 'b': got 'c'"):
        found.means("c")


FINE = [0, 1, 0]
DATES = np.array(["2026-01-01"] * 3, dtype="M8[D]")
LISTS = np.empty(3, dtype=object)
LISTS[:] = [[1], [1], [2]]
NAN = float("nan")
WRONG = [
    (
        ([FINE, FINE], [FINE, [0, NAN, 1]]),
        {},
        r"series 1: y_score must be finite: 1 of 3 values is not \(first at index 1: nan\)",
    ),
    (
        ([FINE, [0, 2, 1]], [FINE, [0.5, 3, 4]]),
        {},
        r"series 1: y_true must contain only 0 and 1: .* \(first at index 1: 2\)",
    ),
    (([FINE, [0, 0.5, 1]], [FINE, FINE]), {}, "series 1: y_true must .* the two look swapped"),
    (([FINE, FINE], [FINE, ["a", "b", "c"]]), {}, "series 1: y_score must be numeric"),
    (([FINE, FINE], [FINE, [1, None, 2]]), {}, "series 1: y_score must be numeric: the value at index 1 is missing"),
    (([FINE, FINE], [FINE, [1, 2]]), {}, "series 1: y_true and y_score must have the same length: got 3 and 2"),
    (([FINE, FINE], [FINE, 3]), {}, "series 1: y_score must be a one-dimensional array"),
    (([FINE, FINE], [FINE, np.zeros((3, 2))]), {}, r"series 1: y_score must be one-dimensional: its shape is \(3, 2\)"),
    (
        ([FINE], [pd.DataFrame({"a": FINE})]),
        {},
        r"series 0: .* its shape is \(3, 1\); for several detectors give a list",
    ),
    (([np.zeros((3, 1))], [FINE]), {}, r"series 0: y_true must be one-dimensional"),
    (([FINE], [{"a": FINE}]), {}, "series 0: y_score must be one-dimensional: got dict; for several detectors give"),
    (([FINE, []], [FINE, []]), {}, "series 1: y_true is empty"),
    (([FINE, FINE], [FINE]), {}, "y_true and y_score must hold as many series: got 2 and 1"),
    (([FINE, FINE], 3), {}, "y_score must be a list of series, as y_true is: got int"),
    (([FINE], {"a": [FINE], "b": 3}), {}, "column b: y_score must be a list of series"),
    (([FINE], [FINE]), {"offsets": [0]}, "offsets and ids are for long arrays"),
    (([], []), {}, "y_true is empty"),
    (([], []), {"ids": []}, "y_true is empty"),
    (
        (np.zeros((2, 3)), np.zeros((2, 3))),
        {},
        r"y_true must be one-dimensional, or a list of series: .* list\(y_true\)",
    ),
    ((FINE, {}), {}, "y_score holds no scores"),
    ((FINE, np.zeros((3, 0))), {}, r"y_score holds no scores: its shape is \(3, 0\)"),
    ((FINE, np.zeros((2, 3))), {}, r"a row for each of the 3 points, .*: its shape is \(2, 3\); give y_score.T"),
    ((FINE, [np.zeros(3), np.ones(3)]), {}, r"its shape is \(2, 3\); give np.column_stack\(y_score\)"),
    (
        (FINE, {"label": FINE, "d": FINE, "Value ": FINE}),
        {},
        "y_score holds 'label' and 'Value ', which no detector is called: give the columns of the detectors alone",
    ),
    ((FINE, np.zeros((3, 2, 2))), {}, "y_score must be one-dimensional"),
    ((FINE, {"a": FINE, "b": [1, 2]}), {}, "column b: y_true and y_score must have the same length: got 3 and 2"),
    ((FINE, {"a": FINE, "b": [1, 2, NAN]}), {}, "^column b: y_score must be finite: .* index 2"),
    ((FINE * 2, {"a": FINE * 2, "b": [*FINE, 1, 2, NAN]}), {"offsets": [0, 3]}, "^series 1: column b: .* index 2"),
    ((FINE * 2, [*FINE, 1, 2, NAN]), {"ids": list("xxxyyy")}, "^series y: y_score must be finite: .* index 2"),
    ((FINE * 2, [*FINE, 0, 2, 1]), {"ids": list("xxxyyy"), "scale": False}, r"^series y: y_score must lie in \[0, 1\]"),
    ((FINE, FINE), {"offsets": [0], "ids": [1, 1, 1]}, "give at most one of offsets, ids"),
    ((FINE, FINE), {"offsets": [1]}, "offsets must begin with 0, the start of the first series: got 1"),
    ((FINE, FINE), {"offsets": [0, 2, 2]}, "offsets must increase, .*: series 1 begins at 2, and what follows at 2"),
    ((FINE, FINE), {"offsets": [0, 5]}, "offsets must increase, .*: series 1 begins at 5, and what follows at 3"),
    ((FINE, FINE), {"offsets": [0, 1.5]}, "offsets must be whole numbers, the starts of the series"),
    ((FINE, FINE), {"offsets": []}, "offsets must be whole numbers"),
    ((FINE, FINE), {"ids": [1, 1]}, "y_true and ids must have the same length: got 3 and 2"),
    ((FINE, FINE), {"ids": ["a", "b", "a"]}, "ids must be in groups: 'a' comes again at index 2"),
    (([FINE, DATES], [FINE, FINE]), {}, "series 1: y_true must be numeric or boolean: its dtype is datetime64"),
    (([FINE, FINE], [FINE, DATES]), {}, "series 1: y_score must be numeric or boolean: its dtype is datetime64"),
    ((FINE, FINE), {"ids": LISTS}, "ids must name the series of every point: some are missing, or cannot be compared"),
    ((FINE, FINE), {"ids": ["a", None, None]}, "ids must name the series of every point: some are missing"),
    ((FINE, FINE), {"ids": [1, 1, NAN]}, "ids must name the series of every point"),
    ((FINE, FINE), {"ids": pd.array([1, 1, None], dtype="Int64")}, "ids must name the series of every point"),
    (([FINE, FINE], [FINE, FINE]), {"near": [1]}, "near must be one for all series, or one for each of 2: got 1"),
    (([FINE, FINE], [FINE, FINE]), {"near": [1, -2]}, "series 1: near must be a finite number of at least 0: got -2"),
    (([FINE, FINE], [FINE, FINE]), {"period": [1, 0]}, "series 1: period must be a finite number above 0: got 0"),
    (([FINE, FINE], [FINE, FINE]), {"near": "10min"}, "near '10min' is a duration, .*evaluate_frame"),
    (
        ([FINE, FINE], [FINE, FINE]),
        {"period": [1, "1h"]},
        "series 1: period '1h' is a duration, and many series are counted",
    ),
    ((FINE, FINE), {"near": 1, "period": 2}, "give at most one of near, period"),
    ((FINE, FINE), {"thresholds": 0}, "thresholds must be"),
    ((FINE, FINE), {"scale": "max"}, "scale must be"),
    ((FINE, FINE), {"undefined": 0}, "undefined must be"),
    ((FINE, FINE), {"workers": 0}, "workers must be a whole number of at least 1: got 0"),
]


@pytest.mark.parametrize(("given", "options", "message"), WRONG)
def test_errors_name_the_series_and_the_place_in_it(given, options, message):
    with pytest.raises(ValueError, match=message):
        evaluate_many(*given, **options)


def test_indexes_must_agree():
    one, other = pd.Series(FINE), pd.Series(FINE, index=[5, 6, 7])
    with pytest.raises(ValueError, match=r"^series 1: y_true and y_score have different indexes"):
        evaluate_many([one, one], [one, other])
    with pytest.raises(ValueError, match=r"^y_true and y_score have different indexes"):
        evaluate_many(one, other)
    with pytest.raises(ValueError, match=r"^y_true and ids have different indexes"):
        evaluate_many(one, one, ids=other)


def test_an_error_that_no_single_series_has_is_told_as_it_is(monkeypatch):
    monkeypatch.setattr(batches.validate, "labels_and_raw_scores", lambda *_: None)
    with pytest.raises(ValueError, match="must contain only 0 and 1"):
        evaluate_many([FINE, [0, 2, 1]], [FINE, FINE])
    with pytest.raises(ValueError, match="must be finite"):
        evaluate_many([FINE, FINE], [FINE, [0, NAN, 1]])
