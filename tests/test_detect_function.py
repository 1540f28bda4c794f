"""One way to run a detector: what it takes, what it refuses, and who uses it."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import dqeval
from dqeval import datasets, detectors
from dqeval.analysis.detect import DetectorError, NoTrainingError, UnfitError
from dqeval.core.registry import DETECTORS, detector

VALUES = datasets.synthetic(n=400, period=10, events=3).values
LABELS = datasets.synthetic(n=400, period=10, events=3).labels


@pytest.fixture
def own(monkeypatch):
    """Register detectors for one test alone."""
    monkeypatch.setattr(DETECTORS, "_entries", dict(DETECTORS._entries))

    def add(function, **options):
        return detector(label=function.__name__, citation="none", **options)(function)

    return add


def learned(values, *, train_stop, seed=0):
    """Return where training ends, and the seed."""
    return np.full(len(values), train_stop + seed / 10)


def several(values):
    """Return the sum over columns, whatever is missing."""
    return np.nansum(values.reshape(len(values), -1), axis=1)


@pytest.mark.parametrize("given", [list, np.asarray, lambda x: x[:, None], lambda x: dqeval.Series("a", LABELS, {}, x)])
def test_a_series_and_its_values_give_the_same_scores(given):
    expected = detectors.sub_lof(VALUES, neighbours=9).tolist()
    assert dqeval.detect(given(VALUES), "sub_lof", neighbours=9).tolist() == expected
    assert dqeval.detect(given(VALUES), DETECTORS["sub_lof"], neighbours=9).tolist() == expected


@pytest.mark.parametrize("given", [dict, pd.DataFrame])
def test_labels_are_not_among_the_values(own, given):
    own(several, univariate=False)
    columns = {"value": VALUES, "Label": LABELS.astype(int), "mine": VALUES}
    assert dqeval.detect(given(columns), "several").tolist() == VALUES.tolist()
    assert dqeval.detect(pd.DataFrame({"a": VALUES, "b": VALUES}), "several").tolist() == (2 * VALUES).tolist()


@pytest.mark.parametrize("as_given", [str, lambda path: path])
def test_a_file_of_any_format(tmp_path, own, as_given):
    own(learned)
    path = tmp_path / "001_UCR_id_1_tr_100_1st_200.csv"
    rows = [f"{x},{label:d}" for x, label in zip(VALUES.tolist(), np.arange(400) == 200, strict=True)]
    path.write_text("\n".join(["Data,Label", *rows]))
    assert dqeval.detect(as_given(path), "fft").tolist() == detectors.fft(VALUES).tolist()
    assert set(dqeval.detect(as_given(path), "learned")) == {100.0}


def test_the_end_of_training(own):
    own(learned)
    series = dqeval.Series("a", LABELS, {}, VALUES, train_stop=100)
    assert set(dqeval.detect(series, "learned")) == {100.0}
    assert set(dqeval.detect(series, "learned", train_stop=50)) == {50.0}
    assert set(dqeval.detect(VALUES, "learned", train_stop=50, seed=3)) == {50.3}
    with pytest.raises(NoTrainingError, match=r"the series does not say where that ends \(train_stop\)"):
        dqeval.detect(VALUES, "learned")
    with pytest.raises(ValueError, match="train_stop must be at most the number of values, 400: got 401"):
        dqeval.detect(VALUES, "learned", train_stop=401)
    # Others do not use either.
    assert dqeval.detect(VALUES, "fft", train_stop=50, seed=3).tolist() == detectors.fft(VALUES).tolist()


class TestMany:
    def test_one_after_the_other(self):
        """Detectors that have no faster way run on each series."""
        series = dqeval.Series("a", LABELS, {}, VALUES)
        found = dqeval.detect_many([VALUES, series, VALUES[:300]], "sub_lof", neighbours=9)
        for scores, values in zip(found, (VALUES, VALUES, VALUES[:300]), strict=True):
            assert scores.tolist() == detectors.sub_lof(values, neighbours=9).tolist()

    def test_the_end_of_training_and_the_seed(self, own):
        own(learned)
        series = dqeval.Series("a", LABELS, {}, VALUES, train_stop=100)
        of_one = [scores[0] for scores in dqeval.detect_many([series, VALUES], "learned", train_stop=50, seed=3)]
        assert of_one == [50.3, 50.3]
        of_each = dqeval.detect_many([series, VALUES], "learned", train_stop=[None, 60])
        assert [scores[0] for scores in of_each] == [100, 60]

    def test_a_detector_with_a_faster_way(self, own):
        calls = []

        def many(values, options, *, at_once, power=1):
            calls.append((len(values), options, at_once, power))
            return [each**power for each in values]

        def plain(values, *, seed=0, power=1):
            raise AssertionError

        own(plain, many=many)
        found = dqeval.detect_many([VALUES, VALUES[:5]], "plain", power=2, at_once=7)
        assert [scores.tolist() for scores in found] == [(VALUES**2).tolist(), (VALUES[:5] ** 2).tolist()]
        assert calls == [(2, [{"seed": 0}, {"seed": 0}], 7, 2)]

    def test_a_detector_that_tells_as_soon_as_it_has_something(self, own):
        def many(values, options, *, at_once, fails=False):
            yield [(2, values[2] + options[2]["seed"])]
            yield [(0, values[0]), (1, ValueError("not this one") if fails else values[1])]

        def yields(values, *, seed=0, fails=False):
            raise AssertionError

        own(yields, many=many)
        found = dqeval.detect_many([VALUES, VALUES[:5], VALUES[:9]], "yields", seed=[0, 0, 7])
        assert [scores.tolist() for scores in found] == [
            VALUES.tolist(),
            VALUES[:5].tolist(),
            (VALUES[:9] + 7).tolist(),
        ]
        with pytest.raises(ValueError, match=r"^data\[1\]: not this one"):
            dqeval.detect_many([VALUES, VALUES[:5], VALUES[:9]], "yields", fails=True)

    def test_a_seed_for_each(self, own):
        own(learned)
        found = dqeval.detect_many([VALUES] * 3, "learned", train_stop=50, seed=[3, 1, 2])
        assert [scores[0] for scores in found] == [50.3, 50.1, 50.2]
        with pytest.raises(ValueError, match="seed must be one number, or one for each of 3 series: got 2"):
            dqeval.detect_many([VALUES] * 3, "learned", train_stop=50, seed=[3, 1])
        with pytest.raises(ValueError, match=r"data\[1\]: seed must be"):
            dqeval.detect_many([VALUES] * 2, "learned", train_stop=50, seed=[3, -1])

    def test_series_without_scores(self, own):
        def forgets(values):
            raise AssertionError

        own(forgets, many=lambda values, options, *, at_once: iter([[(0, values[0])]]))
        with pytest.raises(DetectorError, match="the detector gave scores of 1 series for 2 series"):
            dqeval.detect_many([VALUES, VALUES], "forgets")

    @pytest.mark.parametrize(
        ("given", "got"),
        [([(2, VALUES)], "2"), ([(-1, VALUES)], "-1"), ([("a", VALUES)], "'a'"), ([3.5], "3.5"), (7, "7")],
    )
    def test_scores_of_which_nobody_knows_whose_they_are(self, own, given, got):
        def counts(values):
            raise AssertionError

        own(counts, many=lambda values, options, *, at_once: iter([given]))
        rule = "the detector must yield lists of pairs: the number of a series, from 0 to 1, and its scores; got"
        with pytest.raises(DetectorError, match=f"^{rule} {got} in place of such a number$"):
            dqeval.detect_many([VALUES, VALUES], "counts")

    def test_what_is_refused(self, own):
        own(learned)
        own(several, many=lambda values, options, *, at_once: [[1.0]])
        with pytest.raises(ValueError, match=r"data\[1\]: the detector needs training, and the series does not say"):
            dqeval.detect_many([dqeval.Series("a", LABELS, {}, VALUES, train_stop=9), VALUES], "learned")
        with pytest.raises(ValueError, match="train_stop must be one number, or one for each of 2 series: got 3"):
            dqeval.detect_many([VALUES, VALUES], "learned", train_stop=[1, 2, 3])
        with pytest.raises(ValueError, match="at_once must be a whole number of at least 1: got 0"):
            dqeval.detect_many([VALUES], "learned", at_once=0)
        with pytest.raises(ValueError, match="the detector learned has no 'colour'"):
            dqeval.detect_many([VALUES], "learned", colour=3)
        with pytest.raises(DetectorError, match="the detector gave scores of 1 series for 2 series"):
            dqeval.detect_many([VALUES, VALUES], "several")
        with pytest.raises(DetectorError, match=r"^the detector gave scores of shape \(1,\) for 400 points"):
            dqeval.detect_many([VALUES], "several")

    def test_an_error_of_the_detector_says_which_series_it_is_about(self):
        with pytest.raises(ValueError, match=r"^data\[1\]: values must be finite: 1 of 3 values is not"):
            dqeval.detect_many([VALUES, [1, 2, np.nan]], "fft")
        with pytest.raises(ValueError, match=r"^values must be finite: 1 of 3 values is not"):
            dqeval.detect_many([[1, 2, np.nan]], "fft")

    @pytest.mark.parametrize(
        "data",
        [
            "series.csv",
            b"x",
            Path("series.csv"),
            None,
            VALUES,
            VALUES.tolist(),
            dqeval.Series("a", LABELS, {}, VALUES),
            {"a": VALUES},
            pd.DataFrame({"a": VALUES}),
        ],
        ids=lambda data: type(data).__name__,
    )
    def test_a_single_series(self, data):
        with pytest.raises(ValueError, match=rf"^data must be a list of series: got {type(data).__name__}; give a "):
            dqeval.detect_many(data, "fft")


def test_seeds():
    assert dqeval.detect(VALUES, "kmeans_ad", seed=3).tolist() == detectors.kmeans_ad(VALUES, seed=3).tolist()
    assert dqeval.detect(VALUES, "kmeans_ad").tolist() == detectors.kmeans_ad(VALUES, seed=0).tolist()


def test_several_columns(own):
    own(several, univariate=False)
    table = np.column_stack([VALUES, np.ones(400)])
    table[7] = np.nan  # of what is missing, each detector says what it does with it
    assert dqeval.detect(table, "several").tolist() == several(table).tolist()
    assert dqeval.detect(table.astype(object), "several").tolist() == several(table).tolist()
    with pytest.raises(UnfitError, match="the detector takes a single column, and the series has 2"):
        dqeval.detect(table, "sub_lof")
    with pytest.raises(ValueError, match=r"values must be one-dimensional: its shape is \(2, 2, 100\)"):
        dqeval.detect(VALUES.reshape(2, 2, 100), "several")


def test_the_input_is_never_changed(own):
    def changes(values):
        values[:] = 0
        return values

    own(changes)
    series = dqeval.Series("a", LABELS, {}, VALUES.copy())
    assert dqeval.detect(series, "changes").tolist() == [0] * 400
    assert series.values.tolist() == VALUES.tolist()


@pytest.mark.parametrize(
    ("data", "name", "options", "message"),
    [
        (VALUES, "sub_lod", {}, "unknown detector 'sub_lod'; did you mean 'sub_lof'?"),
        (VALUES, 3, {}, "detector must be a text: got 3"),
        (VALUES, "sub_lof", {"neighbors": 3}, "the detector sub_lof has no 'neighbors': did you mean 'neighbours'?"),
        (VALUES, "sub_lof", {"neighbours": "x"}, "neighbours must be a whole number of at least 1: got 'x'"),
        (VALUES, "sub_lof", {"seed": -1}, "seed must be a whole number of at least 0: got -1"),
        ([], "sub_lof", {}, "values is empty: at least one point is needed"),
        (["x", "y"], "sub_lof", {}, "values must be numeric or boolean"),
        ([[1, 2], ["x", 3]], "sub_lof", {}, "values must be numeric or boolean"),
        (np.ma.masked_equal([1.0, 2.0], 2), "sub_lof", {}, "values has masked values: remove or fill them first"),
        ([1.0, np.nan], "fft", {}, "values must be finite: 1 of 2 values is not (first at index 1: nan)"),
        (dqeval.Series("a", LABELS, {}), "fft", {}, "the series has no values for a detector to work on"),
    ],
)
def test_what_cannot_be_done(data, name, options, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        dqeval.detect(data, name, **options)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        ([1.0, np.nan, np.inf], "the detector gave 2 scores that are not finite, the first at point 1"),
        ([1.0, 2.0], "the detector gave scores of shape (2,) for 3 points"),
        ([[1.0], [2.0], [3.0]], "the detector gave scores of shape (3, 1) for 3 points"),
        (None, "the detector gave scores of shape () for 3 points"),
        ([1.0, [2.0], 3.0], "what the detector gave cannot be read as an array of numbers"),
        (["a", "b", "c"], "what the detector gave must be numeric or boolean"),
        ([1.0, None, 3.0], "what the detector gave must be numeric: the value at index 1 is missing"),
        ([1j, 2j, 3j], "what the detector gave must be numeric or boolean"),
    ],
)
def test_what_a_detector_must_not_give(own, returned, message):
    def gives(values):
        return returned

    own(gives)
    with pytest.raises(DetectorError) as caught:
        dqeval.detect([1, 2, 3], "gives")
    assert str(caught.value).startswith(message)


def test_what_a_detector_gives_becomes_floats(own):
    def flags(values):
        return values > 1

    own(flags)
    found = dqeval.detect([1, 2, 3], "flags")
    assert (found.tolist(), found.dtype) == ([0, 1, 1], np.float64)


def test_what_a_detector_raises_is_passed_on(own):
    def breaks(values):
        raise RuntimeError("no such luck")

    own(breaks)
    with pytest.raises(RuntimeError, match="no such luck"):
        dqeval.detect(VALUES, "breaks")
