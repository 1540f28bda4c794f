"""Bad input is told what was wrong, where, and what to do; good input may come in any form."""

import dataclasses
import json
import math
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dqeval
from dqeval.core import validate

LABELS = [0, 0, 1, 1, 0, 0]
SCORES = [0.1, 0.2, 0.9, 0.4, 0.3, 0.0]


def evaluate(y_true=LABELS, y_score=SCORES, **options):
    return dqeval.evaluate(y_true, y_score, **{"near": 2, **options})


BAD_ARRAYS = {
    "NaN score": (
        {"y_score": [0.1, 0.2, math.nan, 0.4, math.nan, 0.0]},
        "y_score must be finite: 2 of 6 values are not (first at index 2: nan); remove or fill them first",
    ),
    "infinite score": (
        {"y_score": [0.1, 0.2, 0.3, math.inf, 0.4, 0.0]},
        "y_score must be finite: 1 of 6 values is not (first at index 3: inf); remove or fill them first",
    ),
    "lengths differ": ({"y_score": SCORES[1:]}, "y_true and y_score must have the same length: got 6 and 5"),
    "empty": ({"y_true": [], "y_score": []}, "y_true is empty: at least one point is needed"),
    "empty scores": ({"y_score": []}, "y_score is empty: at least one point is needed"),
    "labels not binary": (
        {"y_true": [0, 0, 1, 2, 0, -1]},
        "y_true must contain only 0 and 1: 2 of 6 values are not (first at index 3: 2); 1 marks an anomaly, 0 a",
    ),
    "label NaN": (
        {"y_true": [0, 0, 1, math.nan, 0, 0]},
        "y_true must contain only 0 and 1: 1 of 6 values is not (first at index 3: nan); 1 marks an anomaly, 0 a",
    ),
    "swapped": (
        {"y_true": SCORES, "y_score": LABELS},
        "y_true must contain only 0 and 1: 5 of 6 values are not (first at index 0: 0.1); "
        "y_score is binary, so the two look swapped: y_true comes first",
    ),
    "labels in two dimensions": (
        {"y_true": np.zeros((6, 1))},
        "y_true must be one-dimensional: its shape is (6, 1); pass one column",
    ),
    "scores in two dimensions": (
        {"y_score": np.zeros((3, 2))},
        "y_score must be one-dimensional: its shape is (3, 2); pass one column",
    ),
    "ragged": ({"y_score": [[1, 2], [3]]}, "y_score cannot be read as an array of numbers: "),
    "one number": ({"y_score": 0.5}, "y_score must be a one-dimensional array: got float"),
    "no array": ({"y_score": {"a": 1}}, "y_score must be a one-dimensional array: got dict"),
    "text": ({"y_score": list("abcdef")}, "y_score must be numeric or boolean: its dtype is <U1"),
    "text among numbers": (
        {"y_score": np.array([1, 2, "3", 4, 5, 6], dtype=object)},
        "y_score must be numeric: the value at index 2 is '3'",
    ),
    "None": ({"y_score": [0.1, None, 0, 0, 0, 0]}, "y_score must be numeric: the value at index 1 is missing"),
    "NA": (
        {"y_true": pd.array([0, 1, None, 0, 0, 0], dtype="boolean")},
        "y_true must be numeric: the value at index 2 is missing",
    ),
    "beyond floats": (
        {"y_score": [0, 0, 0, 10**400, 0, 0]},
        "y_score must be finite: 1 of 6 values is not (first at index 3: inf)",
    ),
    "signalling NaN": (
        {"y_score": [Decimal("sNaN"), *LABELS[1:]]},
        "y_score must be finite: 1 of 6 values is not (first at index 0: nan)",
    ),
    "masked": (
        {"y_score": np.ma.masked_array(SCORES, mask=[0, 0, 0, 1, 0, 0])},
        "y_score has masked values: remove or fill them first",
    ),
    "masked in a list": (
        {"y_score": list(np.ma.masked_array(SCORES, mask=[0, 0, 0, 1, 0, 0]))},
        "y_score cannot be read as an array of numbers: Warning: converting a masked element to nan",
    ),
    "complex": ({"y_score": [1j] * 6}, "y_score must be numeric or boolean: its dtype is complex128"),
    "times": (
        {"y_score": np.arange(6).astype("datetime64[s]")},
        "y_score must be numeric or boolean: its dtype is datetime64[s]",
    ),
    "outside [0, 1] unscaled": (
        {"y_score": [0.1, 1.5, 0.9, -0.4, 0.3, 0.0], "scale": False},
        "y_score must lie in [0, 1] when scale=False: 2 of 6 values are not (first at index 1: 1.5); "
        "leave out scale=False to have them scaled",
    ),
    "one outside [0, 1] unscaled": (
        {"y_score": [0.1, 0.5, 0.9, 1.4, 0.3, 0.0], "scale": False},
        "y_score must lie in [0, 1] when scale=False: 1 of 6 values is not (first at index 3: 1.4); "
        "leave out scale=False to have them scaled",
    ),
    "values of another length": (
        {"near": None, "values": [1.0, 2.0]},
        "y_true and values must have the same length: got 6 and 2",
    ),
    "values of several columns": (
        {"near": None, "values": np.zeros((6, 3))},
        "values must be one-dimensional: its shape is (6, 3); pass one column",
    ),
    "values not finite": (
        {"near": None, "values": [1, 2, 3, math.inf, 5, 6]},
        "values must be finite: 1 of 6 values is not",
    ),
    "no anomaly": (
        {"y_true": [0] * 6},
        'y_true has no anomaly (no value is 1), so the score is undefined; pass undefined="nan" to get NaN with',
    ),
}
NEAR_RULE = "near must be a finite number of at least 0: got {}; it is a number of points, 0 for none"
PERIOD_RULE = (
    "period must be a finite number above 0: got {}; it is a number of points; give the series' values instead"
)
THRESHOLDS_RULE = 'thresholds must be a whole number of at least 1, or "exact": got {}'
BAD_OPTIONS = {
    "negative near": ({"near": -1}, NEAR_RULE.format("-1")),
    "NaN near": ({"near": math.nan}, NEAR_RULE.format("nan")),
    "infinite near": ({"near": math.inf}, NEAR_RULE.format("inf")),
    "near beyond floats": ({"near": 10**400}, NEAR_RULE.format("inf")),
    "near as text": ({"near": "2"}, NEAR_RULE.format("'2'")),
    "near as truth": ({"near": True}, NEAR_RULE.format("True")),
    "near as list": ({"near": [2]}, NEAR_RULE.format("[2]")),
    "no period": ({"near": None, "period": 0}, PERIOD_RULE.format("0")),
    "infinite period": ({"near": None, "period": math.inf}, PERIOD_RULE.format("inf")),
    "two ranges": ({"period": 4}, "give at most one of near, period, values: got near and period"),
    "three ranges": (
        {"period": 4, "values": SCORES},
        "give at most one of near, period, values: got near and period and",
    ),
    "no thresholds": ({"thresholds": 0}, THRESHOLDS_RULE.format("0")),
    "half a threshold": ({"thresholds": 0.5}, THRESHOLDS_RULE.format("0.5")),
    "true thresholds": ({"thresholds": True}, THRESHOLDS_RULE.format("True")),
    "other thresholds": ({"thresholds": "all"}, THRESHOLDS_RULE.format("'all'")),
    "undefined": ({"undefined": "zero"}, 'undefined must be "raise" or "nan": got \'zero\''),
}


@pytest.mark.parametrize(
    ("options", "message"), [*BAD_ARRAYS.values(), *BAD_OPTIONS.values()], ids=[*BAD_ARRAYS, *BAD_OPTIONS]
)
def test_bad_input(options, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        evaluate(**options)


def test_bad_detections():
    with pytest.raises(
        ValueError, match=r"y_pred must contain only 0 and 1: .*; 1 marks a detected point, 0 any other; for"
    ):
        dqeval.evaluate_detections(LABELS, SCORES, near=2)
    with pytest.raises(ValueError, match="y_pred is binary, so the two look swapped: y_true comes first"):
        dqeval.evaluate_detections(SCORES, LABELS, near=2)
    with pytest.raises(ValueError, match="y_true and y_pred must have the same length: got 6 and 5"):
        dqeval.sdqe_score(LABELS, LABELS[1:], near=2)


def test_swapped_is_not_said_of_other_trouble():
    with pytest.raises(ValueError, match="1 marks an anomaly"):
        dqeval.evaluate([0, 1, 2], ["a", "b", "c"], near=2)


@pytest.mark.parametrize("score", [dqeval.dqe_score, dqeval.sdqe_score])
def test_no_anomaly_gives_nan_with_a_warning_where_asked(score):
    with pytest.raises(dqeval.UndefinedError):
        score([0, 0, 0], [0, 1, 0], near=2)
    with pytest.warns(dqeval.UndefinedWarning, match="NaN is returned") as caught:
        assert math.isnan(score([0, 0, 0], [0, 1, 0], near=2, undefined="nan"))
    assert caught[0].filename == __file__


@pytest.mark.parametrize("thresholds", [100, "exact"])
def test_no_anomaly_result(thresholds):
    with pytest.warns(dqeval.UndefinedWarning) as caught:
        result = evaluate(y_true=[0] * 6, undefined="nan", thresholds=thresholds)
    assert caught[0].filename == __file__
    assert math.isnan(result.dqe)
    assert math.isnan(result.false_alarm)
    assert result.per_event == ()
    assert result.curve.thresholds.size == 0
    assert "nan" in str(result)


def test_constant_scores():
    assert evaluate(y_score=[0.7] * 6).dqe == 0
    everything = evaluate(y_score=[1.0] * 6, scale=False)
    assert everything == evaluate(y_score=[1.0] * 6, scale=False, thresholds=100)
    assert everything.capture == 1


def test_scores_that_span_all_floats():
    big = np.finfo(float).max
    assert evaluate(y_score=[-big, -big, big, 0, -big, -big]).dqe == evaluate(y_score=[0, 0, 2, 1, 0, 0]).dqe


def test_near_by_period_by_values_and_by_default():
    values = np.sin(2 * np.pi * np.arange(300) / 25)
    y_true = np.arange(300) % 100 == 50
    assert dqeval.evaluate(y_true, values, period=25).near == 12.5
    assert dqeval.evaluate(y_true, values, values=values).near == 12.5
    assert dqeval.evaluate(y_true, values, values=values[:, None]).near == 12.5
    assert dqeval.evaluate(y_true, values).near == 125
    assert dqeval.evaluate(y_true, values, near=np.float32(3)).near == 3
    assert dqeval.evaluate(y_true, values, near=np.array(3)).near == 3


FORMS = {
    "list": list,
    "tuple": tuple,
    "range-like": lambda x: np.asarray(x)[::1],
    "float32": lambda x: np.asarray(x, dtype=np.float32),
    "longdouble": lambda x: np.asarray(x, dtype=np.longdouble),
    "big-endian": lambda x: np.asarray(x, dtype=">f8"),
    "strided": lambda x: np.repeat(np.asarray(x, dtype=float), 2)[::2],
    "read-only": lambda x: np.frombuffer(np.asarray(x, dtype=float).tobytes()),
    "objects": lambda x: np.array([Decimal(str(v)) for v in x], dtype=object),
    "unmasked": np.ma.masked_array,
    "pandas": pd.Series,
    "pandas with an index": lambda x: pd.Series(x, index=range(100, 100 + len(x))),
    "pandas nullable": lambda x: pd.Series(x, dtype="Float64"),
    "polars": lambda x: pl.Series([float(v) for v in x]),
    "pyarrow": lambda x: pa.array([float(v) for v in x]),
    "pyarrow chunks": lambda x: pa.chunked_array([[float(v) for v in x[:2]], [float(v) for v in x[2:]]]),
}
TENSORS = {
    "with a gradient": lambda torch, x: torch.tensor(x, requires_grad=True),
    "bfloat16": lambda torch, x: torch.tensor(x, dtype=torch.bfloat16),
    "both": lambda torch, x: torch.tensor(x, dtype=torch.bfloat16, requires_grad=True),
}
BINARY_FORMS = {
    "bool": lambda x: np.asarray(x, dtype=bool),
    "uint8": lambda x: np.asarray(x, dtype=np.uint8),
    "pandas boolean": lambda x: pd.Series([bool(v) for v in x], dtype="boolean"),
    "pandas Int64": lambda x: pd.Series(x, dtype="Int64"),
    "polars boolean": lambda x: pl.Series([bool(v) for v in x]),
    "pyarrow boolean": lambda x: pa.array([bool(v) for v in x]),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_forms_of_numbers(form):
    scores = [0.125, 0.25, 0.875, 0.5, 0.375, 0.0]  # exact in single precision too
    given = form(scores)
    assert dqeval.evaluate(form(LABELS), given, near=2) == evaluate(y_score=scores)
    # Scores that span [0, 1], and those that are not to be scaled, are not copied: they may be read-only.
    for unscaled in ([0.0, 1.0, *scores[2:]], scores):
        for thresholds in (100, "exact"):
            options = {"scale": False, "thresholds": thresholds}
            assert evaluate(y_score=form(unscaled), **options) == evaluate(y_score=unscaled, **options)
            if unscaled is not scores:
                assert evaluate(y_score=form(unscaled), thresholds=thresholds) == evaluate(y_score=unscaled, **options)
    assert dqeval.evaluate(LABELS, scores, values=given).near == 62.5
    np.testing.assert_array_equal(np.asarray(given, dtype=float), scores)


@pytest.mark.parametrize("form", BINARY_FORMS.values(), ids=BINARY_FORMS)
def test_forms_of_labels_and_detections(form):
    y_pred = [0, 0, 0, 1, 0, 1]
    expected = dqeval.evaluate_detections(LABELS, y_pred, near=2)
    assert dqeval.evaluate_detections(form(LABELS), form(y_pred), near=2) == expected
    assert dqeval.evaluate(form(LABELS), form(y_pred), near=2, thresholds=1) == expected


@pytest.mark.parametrize("thresholds", [100, "exact"])
def test_input_is_not_changed(thresholds):
    y_true, y_score, values = np.array(LABELS), np.array(SCORES) * 7, np.array(SCORES)
    before = y_true.copy(), y_score.copy(), values.copy()
    dqeval.evaluate(y_true, y_score, values=values, thresholds=thresholds).curve  # noqa: B018
    for array, copy in zip((y_true, y_score, values), before, strict=True):
        np.testing.assert_array_equal(array, copy)


@pytest.mark.parametrize("thresholds", [100, "exact"])
def test_the_curve_does_not_follow_later_changes_of_the_input(thresholds):
    y_score = np.array([0.0, 0.2, 1.0, 0.4, 0.3, 0.0])
    expected = evaluate(y_score=y_score, thresholds=thresholds).curve.dqe
    result = evaluate(y_score=y_score, thresholds=thresholds)
    y_score[:] = 0
    np.testing.assert_array_equal(result.curve.dqe, expected)


def test_combine_takes_results():
    result = evaluate()
    with pytest.raises(ValueError, match=r"combine takes results of evaluate: item 1 is 0.5"):
        dqeval.combine([result, 0.5])
    assert dqeval.combine(result) == dqeval.combine([result])


def test_results_become_dictionaries():
    as_dictionary = dataclasses.asdict(evaluate())
    assert json.loads(json.dumps(as_dictionary))["per_event"][0]["start"] == 2


def test_a_changed_copy_has_no_curve():
    changed = dataclasses.replace(evaluate(), near=7.0)
    assert changed.near == 7
    with pytest.raises(ValueError, match="a changed copy of a result has no curve"):
        changed.curve  # noqa: B018


TOO_MANY = "^thresholds must be at most 1,000,000: got 2,147,483,648"


@pytest.mark.parametrize("count", [2**31, float(2**31), np.uint32(2**31)])
def test_thresholds_have_an_upper_limit(count):
    """Levels are numbers of C's int: so many of them would be counted wrong, or not fit into memory."""
    y_true, y_score = [0, 1, 0], [0.1, 0.9, 0.2]
    for call in (dqeval.evaluate, dqeval.dqe_score, dqeval.panel):
        with pytest.raises(ValueError, match=f'{TOO_MANY}; "exact" takes every distinct score$'):
            call(y_true, y_score, near=1, thresholds=count)
    with pytest.raises(ValueError, match=f'{TOO_MANY}; "all" takes every distinct score$'):
        dqeval.best_threshold("range_f1", y_true, y_score, thresholds=count)
    with pytest.raises(ValueError, match=f"{TOO_MANY}$"):
        dqeval.metrics.vus_roc(y_true, y_score, window=1, thresholds=count)
    with pytest.raises(ValueError, match=f"{TOO_MANY}$"):
        dqeval.metrics.pate(y_true, y_score, early=1, late=1, thresholds=count)
    exact = dqeval.dqe_score(y_true, y_score, near=1, thresholds="exact")
    assert dqeval.dqe_score(y_true, y_score, near=1, thresholds=10**6) == pytest.approx(exact, abs=1e-5)


def test_what_kernels_cannot_count(monkeypatch):
    monkeypatch.setattr(validate, "MOST_COUNTED", 20)
    y_true, y_score = np.arange(21) == 7, np.arange(21.0)
    rule = r'^the points for thresholds="exact" must be at most 20: got 21; give a number of thresholds$'
    with pytest.raises(ValueError, match=rule):
        dqeval.evaluate(y_true, y_score, near=1, thresholds="exact")
    assert dqeval.evaluate(y_true[:20], y_score[:20], near=1, thresholds="exact").capture == 7 / 19
    with pytest.raises(ValueError, match=r"^the windows of a series must be at most 20: got 21; take a part of it$"):
        dqeval.detectors.sub_lof(np.sin(np.arange(25.0)), window=5)
    assert len(dqeval.detectors.sub_lof(np.sin(np.arange(24.0)), window=5)) == 24
    with pytest.raises(ValueError, match=r"^the points of a series must be at most 20: got 21; take a part of it$"):
        dqeval.metrics.auc_roc(y_true, y_score)
    with pytest.raises(ValueError, match=r"^the points of a series must be at most 20: got 21; take a part of it$"):
        dqeval.best_threshold("range_f1", y_true, y_score)
    assert dqeval.best_threshold("range_f1", y_true[:20], y_score[:20]).recall == 1


@pytest.mark.torch
@pytest.mark.parametrize("tensor", TENSORS.values(), ids=TENSORS)
def test_tensors_of_models(tensor):
    """Scores come from a model as tensors that NumPy does not take."""
    torch = pytest.importorskip("torch")
    plain = [0.125, 0.25, 0.875, 0.5, 0.375, 0.0]  # exact in bfloat16
    expected, scores, labels = evaluate(y_score=plain), tensor(torch, plain), torch.tensor(LABELS)
    assert evaluate(y_true=labels, y_score=scores) == expected
    assert dqeval.panel(labels, scores, near=2, metrics=["dqe"])["dqe"] == expected.dqe
    assert dqeval.evaluate_many([LABELS, labels], [scores, plain], near=2).dqe.tolist() == [expected.dqe] * 2
    assert dqeval.compare({"label": labels, "mine": scores}, near=2).panels["mine"]["dqe"] == expected.dqe
    findings = dqeval.check({"label": LABELS, "mine": plain}, near=2)
    assert dqeval.check(dqeval.Series("series", labels, {"mine": scores}, values=scores), near=2) == findings
    assert dqeval.find_period(tensor(torch, np.tile(plain, 20).tolist())) == dqeval.find_period(np.tile(plain, 20))


@pytest.mark.torch
@pytest.mark.parametrize("tensor", TENSORS.values(), ids=TENSORS)
def test_lists_of_tensors(tensor):
    torch = pytest.importorskip("torch")
    with pytest.raises(
        ValueError, match=r"y_score cannot be read as an array of numbers: .*; convert it to an array of f"
    ):
        evaluate(y_score=list(tensor(torch, SCORES)))


def test_kernels_count_in_32_bits():
    assert validate.MOST_COUNTED == 2**31 - 1
    assert validate.MOST_THRESHOLDS < validate.MOST_COUNTED


INDEXED = pd.Series(LABELS, index=pd.date_range("2026-01-01", periods=6))
TURNED = pd.Series(SCORES, index=INDEXED.index)[::-1]
PAIRS = {
    "evaluate": lambda y, other: dqeval.evaluate(y, other),
    "evaluate_detections": lambda y, other: dqeval.evaluate_detections(y, other > 0.3),
    "auc_roc": lambda y, other: dqeval.metrics.auc_roc(y, other),
    "point_f1": lambda y, other: dqeval.metrics.point_f1(y, other > 0.3),
    "panel": lambda y, other: dqeval.panel(y, other, metrics=["auc_roc"]),
    "best_threshold": lambda y, other: dqeval.best_threshold("point_f1", y, other),
    "explain": lambda y, other: dqeval.explain(y, other),
    "partition": lambda y, other: dqeval.partition(y, values=other),
    "values": lambda y, other: dqeval.evaluate(y, y.to_numpy(), values=other),
    "columns": lambda y, other: dqeval.datasets.series_of({"label": y, "mine": other}),
    "value column": lambda y, other: dqeval.datasets.series_of({"label": y, "value": other, "mine": SCORES}),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_different_indexes_are_refused(pair):
    with pytest.raises(ValueError, match=r"have different indexes: position 0 is Timestamp\('2026-01-01") as caught:
        pair(INDEXED, TURNED)
    assert "align them first, as with" in str(caught.value)
    with pytest.raises(ValueError, match="position 0 is Timestamp"):
        pair(INDEXED, TURNED.reset_index(drop=True))
    pair(INDEXED, TURNED[::-1])
    pair(INDEXED, np.array(SCORES))
    pair(INDEXED.reset_index(drop=True), pd.Series(SCORES))


class Coordinates:
    """What dqeval knows of a DataArray of xarray: its dimensions, their indexes, and its numbers."""

    def __init__(self, numbers, index=None):
        self.dims, self.indexes = ("time",), {} if index is None else {"time": index}
        self._numbers = np.asarray(numbers)

    def __array__(self, dtype=None, copy=None):
        return self._numbers.astype(dtype or self._numbers.dtype)


def test_other_coordinates_are_refused():
    """Arrays of xarray are aligned by their coordinates; by position they may be paired with the wrong labels."""
    shifted = Coordinates(SCORES, INDEXED.index + pd.Timedelta("1h"))
    for labels in (Coordinates(LABELS, INDEXED.index), INDEXED):
        with pytest.raises(
            ValueError, match=r"different indexes: position 0 .* as with xarray.align\(y_true, y_score\)"
        ):
            evaluate(y_true=labels, y_score=shifted)
    with pytest.raises(ValueError, match=r"align them first, as with values.reindex\(y_true.index\)"):
        evaluate(y_true=Coordinates(LABELS, shifted.indexes["time"]), near=None, values=INDEXED)
    expected = evaluate().dqe
    assert evaluate(y_score=shifted).dqe == evaluate(y_true=Coordinates(LABELS), y_score=shifted).dqe == expected
    same = Coordinates(LABELS, INDEXED.index), Coordinates(SCORES, INDEXED.index)
    assert evaluate(*same, near="2d").dqe == expected


def test_frames_of_polars_and_of_pandas_are_columns():
    columns = {"label": LABELS, "mine": SCORES}
    expected = dqeval.compare(columns, near=2, repeats=1).panels
    assert dqeval.compare(pl.DataFrame(columns), near=2, repeats=1).panels == expected
    assert dqeval.compare(pd.DataFrame(columns), near=2, repeats=1).panels == expected
