"""TSB-AD: the same nine numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dqeval
from dqeval.adapters.tsb_ad import get_metrics

pytest.importorskip("TSB_AD")

from TSB_AD.evaluation.metrics import get_metrics as theirs


def labels_of(n, *events):
    labels = np.zeros(n, dtype=int)
    for start, stop in events:
        labels[start:stop] = 1
    return labels


def check(score, labels, **options):
    found, expected = get_metrics(score, labels, **options), theirs(score, labels, **options)
    assert list(found) == list(expected)
    for name, value in found.items():
        # They have NaN where nothing is detected.
        number = 0.0 if name == "Affiliation-F" and np.isnan(expected[name]) else expected[name]
        assert value == pytest.approx(number, abs=1e-9), name
        assert isinstance(value, float)


def random_input(seed):
    """Return scores and labels: of some hundred points and a few events, some at the borders, scores with many ties."""
    random = np.random.default_rng(seed)
    n = int(random.integers(40, 160))
    labels = labels_of(n, *((s, s + random.integers(1, 20)) for s in random.integers(0, n, random.integers(1, 5))))
    labels[: random.integers(0, 3)] = 1
    labels[n - random.integers(0, 3) :] = 1
    score = random.normal(size=n) + labels * random.random() * 3
    return [score, score.round(1), np.floor(score), score * 1e-7 + 5][seed % 4], labels


@pytest.mark.unmeasured
@pytest.mark.parametrize("seed", range(8))  # they take seconds for what takes us milliseconds
def test_random_scores(seed):
    score, labels = random_input(seed)
    check(score, labels, slidingWindow=[0, 1, 5, 20][seed % 4], thre=[20, 9][seed % 2])


@pytest.mark.unmeasured
@pytest.mark.data
def test_real_scores(real_scores):
    names = sorted({key.rpartition("/")[0] for key in real_scores.files})
    assert len(names) == 20
    for number, name in enumerate(names[::3]):
        score, labels = real_scores[f"{name}/score"].astype(float), real_scores[f"{name}/label"].astype(int)
        # A piece around an event: there, a whole series takes minutes.
        middle = int(np.flatnonzero(labels)[number % labels.sum()])
        piece = slice(max(0, middle - 75), middle + 125)
        check(score[piece], labels[piece], slidingWindow=[5, 10][number % 2], thre=20)


@pytest.mark.unmeasured
@given(
    st.lists(st.tuples(st.integers(0, 4), st.booleans(), st.booleans()), min_size=2, max_size=30).filter(
        lambda points: len({label for _, label, _ in points}) == 2 and len({pred for *_, pred in points}) == 2
    )
)
def test_detections(points):
    score, labels, pred = (np.array(column) for column in zip(*points, strict=True))
    check(score.astype(float), labels.astype(int), slidingWindow=3, thre=5, pred=pred.astype(int))


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    "labels",
    [
        labels_of(40, (0, 5), (20, 25)),
        labels_of(40, (10, 12), (35, 40)),
        labels_of(40, (39, 40)),
        labels_of(40, (0, 1)),
        labels_of(40, (0, 39)),
        labels_of(40, *((i, i + 1) for i in range(0, 40, 4))),
    ],
)
@pytest.mark.parametrize("kind", ["constant", "steps", "last", "noise"])
def test_edges(labels, kind):
    score = {
        "constant": np.full(40, 3.0),
        "steps": np.arange(40) // 10 / 7,
        "last": np.eye(40)[-1],
        "noise": np.random.default_rng(1).random(40),
    }[kind]
    check(score, labels, slidingWindow=4, thre=10)
    if kind in ("constant", "noise"):
        pred = np.ones(40) if kind == "constant" else score > score.mean()
        check(score, labels, slidingWindow=4, thre=10, pred=pred.astype(int))


def test_scores_on_the_thresholds():
    """With steps of 0.1, many scores lie on a threshold, but for rounding."""
    score = np.random.default_rng(2).integers(0, 100, 300) * 0.1 + 0.3
    check(score, labels_of(300, (30, 50), (120, 130)), slidingWindow=5, thre=20)


def test_either_version():
    score, labels = random_input(1)
    check(score, labels, slidingWindow=5, thre=20, version="opt_mem")
    assert get_metrics(score, labels, 5, version="opt_mem") == get_metrics(score, labels, 5)


def test_booleans_are_labels_too():
    labels = labels_of(100, (20, 30), (60, 80))
    score = np.where(labels, 2.0, np.random.default_rng(3).random(100))
    found = get_metrics(score, labels == 1, 5)
    assert found == get_metrics(score, labels, 5)
    assert found["R-based-F1"] == 1
    assert theirs(score, labels == 1, 5, thre=20)["R-based-F1"] < 0.6  # and no word of it
    detected = labels_of(100, (22, 28), (60, 70), (90, 91))
    found = get_metrics(score, labels, 5, pred=detected == 1)["R-based-F1"]
    assert found == get_metrics(score, labels, 5, pred=detected)["R-based-F1"]
    assert theirs(score, labels, 5, thre=20, pred=detected == 1)["R-based-F1"] < found - 0.1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"labels": [0, 0, 0]}, r"^labels has no anomaly \(no value is 1\), so the numbers are undefined$"),
        ({"labels": [1, 1, 1]}, r"^labels has no normal point \(every value is 1\), so the numbers are undefined$"),
        ({"labels": [0, 2, 0]}, "^labels must contain only 0 and 1: .*; 1 marks an anomaly, 0 a normal point$"),
        (
            {"score": [0, 1, 0], "labels": [0.1, 0.9, 0.3]},
            "^labels must contain only 0 and 1: .*; score is binary, so the two look swapped: score comes first$",
        ),
        ({"score": [0, np.nan, 1]}, "^score must be finite"),
        ({"score": [0, 1]}, "^labels and score must have the same length: got 3 and 2$"),
        ({"slidingWindow": 1.5}, "slidingWindow must be a whole number of at least 0"),
        ({"thre": 1}, "thre must be a whole number of at least 2"),
        ({"version": "opt_time"}, "version must be 'opt' or 'opt_mem'"),
        ({"pred": [0, 0.5, 1]}, "^pred must contain only 0 and 1: .*; for real-valued scores leave pred out$"),
    ],
)
def test_wrong_input(options, said):
    with pytest.raises(ValueError, match=said):
        get_metrics(**{"score": [0, 1, 2], "labels": [0, 1, 0], **options})


def test_detections_by_hand():
    """Of the first event, point 0 is not filled; the last point of the series is not looked at."""
    at_the_start = {"labels": labels_of(10, (0, 5)), "pred": np.eye(10)[3]}
    assert get_metrics(np.arange(10), **at_the_start)["PA-F1"] == pytest.approx(8 / 9)
    at_the_end = {"labels": labels_of(30, (10, 15), (29, 30)), "pred": np.eye(30)[[3, 12, 29]].sum(axis=0)}
    assert get_metrics(np.arange(30), **at_the_end)["Event-based-F1"] == pytest.approx(4 / 7)


def test_the_page_of_numbers():
    """The example of a perfect detector whose F1 is not 1, there."""
    labels = labels_of(40, (10, 20))
    assert get_metrics(labels, labels, 5)["Standard-F1"] == pytest.approx(0.999995, abs=1e-9)
    assert dqeval.metrics.point_f1(labels, labels) == 1
