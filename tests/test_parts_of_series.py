"""The whole series, or the part behind training: one rule, wherever series are evaluated."""

import dataclasses
import json

import numpy as np
import pytest

import dqeval
from commands import caller
from dqeval import bench
from dqeval.analysis.score import score
from dqeval.core.sampling import Clock
from dqeval.datasets.door import prepare

LABELS = (np.arange(600) >= 240) & (np.arange(600) % 120 < 6)
NOISE = np.random.default_rng(0).random(600) / 5
ALARMING = np.where(np.arange(600) % 100 < 5, 1.0, NOISE) * (np.arange(600) < 200) + (LABELS + NOISE) * (
    np.arange(600) >= 200
)
VALUES = np.sin(np.arange(600) * 2 * np.pi / 40)
SERIES = dqeval.Series("s", LABELS, {"mine": ALARMING, "other": LABELS + NOISE}, VALUES, train_stop=200)
TEST = dataclasses.replace(
    SERIES, labels=LABELS[200:], scores={n: s[200:] for n, s in SERIES.scores.items()}, values=None, train_stop=None
)


@pytest.fixture
def call(monkeypatch, capsys):
    return caller(monkeypatch, capsys)


@pytest.fixture
def file(tmp_path):
    """A file whose name says that training ends at 200, as in TSB-AD."""
    place = tmp_path / "s_tr_200_1st_240.csv"
    columns = np.column_stack([VALUES, LABELS, *SERIES.scores.values()])
    np.savetxt(place, columns, delimiter=",", header="value,label,mine,other", comments="")
    return place


def test_the_test_part_has_the_near_range_of_the_whole():
    found, expected = prepare(SERIES, part="test"), prepare(TEST, near=20)
    assert (found.near.points, found.series.first, found.series.train_stop) == (20, 200, None)
    assert found.labelled.labels.tolist() == expected.labelled.labels.tolist()
    assert prepare(found) is found
    assert prepare(dataclasses.replace(SERIES, period=30), part="test").near.points == 15
    constant = dataclasses.replace(SERIES, values=np.zeros(600))
    assert prepare(constant, part="test").near == prepare(constant).near
    assert prepare(dataclasses.replace(SERIES, values=None), part="test").near.points == 125
    times = np.datetime64("2026-01-01") + np.arange(600).astype("m8[m]")
    assert prepare(dataclasses.replace(SERIES, timestamps=times), part="test").labelled.axis.times()[0] == times[200]


def test_the_near_range_of_the_whole_is_not_that_of_the_part():
    values = np.where(np.arange(600) < 400, VALUES, np.sin(np.arange(600) * 2 * np.pi / 25))
    for column in (values, values[:, None]):
        series = dataclasses.replace(SERIES, values=column)
        whole = prepare(series).near
        assert prepare(series, part="test").near == whole == prepare(prepare(series), part="test").near
        alone = dataclasses.replace(series, values=column[200:], labels=LABELS[200:], scores={}, train_stop=None)
        assert prepare(alone).near.points != whole.points


def test_on_a_clock():
    times = np.datetime64("2026-01-01") + np.arange(600).astype("m8[m]")
    series = dataclasses.replace(SERIES, timestamps=times)
    clock = Clock(resolution="2min")
    whole, part = (prepare(series, clock=clock, part=part) for part in ("all", "test"))
    assert (whole.labelled.train_stop, whole.series.part) == (100, "its training part, 100 points, included")
    assert part.near == whole.near
    assert part.near.source == "the median event length"
    assert len(part.labelled.labels) == 200
    (said,) = [f.message for f in dqeval.check(series, near="20min") if "training" in f.message]
    assert said.startswith("the training part, the first 200 points, is scored")


@pytest.mark.parametrize("stop", [-3, 0, 600, 5000])
def test_training_that_does_not_end_inside(stop):
    with pytest.raises(ValueError, match=f"the training part must end inside: at {stop:,} of 600 points"):
        prepare(dataclasses.replace(SERIES, train_stop=stop), part="test")


def test_events_in_the_training_part_are_told():
    labels = LABELS | (np.arange(600) // 5 == 10)
    found = dqeval.check(dataclasses.replace(SERIES, labels=labels), part="test")
    assert [f.message for f in found if "training" in f.message] == ["1 event in the training part left out"]


def test_a_receipt_of_a_file_that_was_renamed(call, file, tmp_path):
    receipt, copy = tmp_path / "receipt.json", tmp_path / "copy.csv"
    call("score", file, "--metrics", "dqe", "--part", "test", "--format", "json", "-o", receipt)
    copy.write_bytes(file.read_bytes())
    done = call("verify", receipt, copy)
    assert "inputs[0]" in done.out or "copy.csv" in done.out
    assert "part" not in done.out
    content = json.loads(receipt.read_text())
    content["inputs"][0]["train_stop"] = "200"
    receipt.write_text(json.dumps(content))
    assert call("verify", receipt, file).code == 2


def near_20(profile):
    return profile.at_tabulated["mine"][list(profile.tabulated).index("period/2")]


@pytest.mark.parametrize(
    "work",
    [
        lambda data, part, near: dqeval.compare(data, part=part, **near).panels["mine"]["dqe"],
        lambda data, part, near: score([prepare(data, part=part, **near)]).means["mine"]["dqe"],
        lambda data, part, near: near_20(dqeval.near_profile(data, part=part)),
    ],
    ids=["compare", "score", "near_profile"],
)
def test_numbers_are_those_of_the_part(work):
    expected = dqeval.dqe_score(TEST.labels, TEST.scores["mine"], near=20)
    assert work(SERIES, "test", {}) == pytest.approx(expected, abs=1e-12)
    assert work(SERIES, "all", {}) == pytest.approx(dqeval.dqe_score(LABELS, ALARMING, near=20), abs=1e-12)


def test_a_series_without_a_training_part():
    with pytest.raises(ValueError, match=r"nothing says where the training part ends .*: part must be all$"):
        dqeval.compare(TEST, part="test")
    with pytest.raises(ValueError, match="it has no training part any more"):
        prepare(prepare(SERIES, part="test").series, part="test")
    with pytest.raises(ValueError, match="part must be 'all' or 'test': got 'train'"):
        dqeval.check(SERIES, part="train")


def test_check_says_what_the_training_part_does():
    whole, part = (
        dqeval.dqe_score(*pair, near=20) for pair in ((LABELS, ALARMING), (TEST.labels, TEST.scores["mine"]))
    )
    said = f"like the rest, as in TSB-AD: DQE is {whole:.3f}, and {part:.3f} of the test part alone (--part test)"
    assert [f.column for f in dqeval.check(SERIES) if said in f.message] == ["mine"]
    assert not [f for f in dqeval.check(SERIES, part="test") if "training" in f.message]


def test_the_command_line(call, file, tmp_path):
    assert call("score", file).out.startswith(
        "s_tr_200_1st_240.csv: 600 points (its training part, 200 points, included), 3 "
    )
    found = call("score", file, "--part", "test", "--metrics", "dqe")
    assert found.out.startswith(
        "s_tr_200_1st_240.csv: 400 points (the test part, from point 200 on), 3 events; near 20"
    )
    assert call("check", file).out.startswith("s_tr_200_1st_240.csv (its training part, 200 points, included): ")
    assert call("check", file, "--part", "test").out.startswith(
        "s_tr_200_1st_240.csv (the test part, from point 200 on): "
    )
    receipt = tmp_path / "receipt.json"
    for command in ("score", "compare", "explain", "near", "stress", "check"):
        more = {"score": ["--metrics", "dqe"], "stress": ["--metrics", "dqe", "--draws", "2"]}.get(command, [])
        call(command, file, *more, "--part", "test", "--format", "json", "-o", receipt)
        assert json.loads(receipt.read_text())["parameters"]["part"] == "test"
        assert call("verify", receipt, file).code == 0
    content = json.loads(receipt.read_text())
    del content["parameters"]["part"]  # as in receipts of 0.2.0, which are of the whole series
    receipt.write_text(json.dumps(content))
    assert call("verify", receipt, file).code == 1
    of_part = f"{dqeval.dqe_score(TEST.labels, TEST.scores['mine'], near=20):.3f}"
    assert of_part in call("diff", file, file, "--part", "test").out
    assert of_part not in call("diff", file, file).out
    assert call("report", file, "--part", "test", "-o", tmp_path / "page.html").code == 0
    assert call("plot", file, "--part", "test", "-o", tmp_path / "figure.png").code == 0


def test_many_series_say_it_once(call, file, tmp_path):
    other = tmp_path / "plain.csv"
    other.write_bytes(file.read_bytes())
    assert "2 series (training parts included in 1), 6 events" in call("score", file, other, "--metrics", "dqe").out
    both = tmp_path / "t_tr_200_1st_240.csv"
    both.write_bytes(file.read_bytes())
    assert "2 series (the test part), 6" in call("score", file, both, "--part", "test", "--metrics", "dqe").out


def test_a_benchmark_run(file, tmp_path):
    plan = {"metrics": ["dqe"], "part": "test", "scores": [{"path": str(file)}]}
    bench.run(plan, tmp_path / "run")
    with bench.Store(tmp_path / "run") as store:
        found = {row["detector"]: row["value"] for row in store.values()}
    assert found["mine"] == pytest.approx(dqeval.dqe_score(TEST.labels, TEST.scores["mine"], near=20), abs=1e-12)
    plain = tmp_path / "plain.csv"
    plain.write_bytes(file.read_bytes())
    bench.run({**plan, "scores": [{"path": str(plain)}]}, tmp_path / "other")
    with bench.Store(tmp_path / "other") as store:
        (failure,) = store.failures()
    assert "nothing says where the training part ends" in failure["reason"]
