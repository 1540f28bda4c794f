"""Receipts: what they hold, and that they can be verified."""

import copy
import dataclasses
import hashlib
import io
import json
import platform

import numpy as np
import pytest

import dqeval
from commands import write_demo
from dqeval.receipts import HashingReader, compute, jsonable, read_input, receipt, verify

PARAMETERS = {
    "score": {"metrics": ["dqe", "vus_pr"], "near": None, "period": 48, "thresholds": "exact", "per_event": True},
    "compare": {"near": 24.0, "period": None},
    "explain": {"near": None, "period": None},
    "check": {},
}


def made(command, path, **changed):
    parameters = {**PARAMETERS[command], **changed}
    item = read_input(path, name=path.name)
    return receipt(command, [item.record(parameters)], parameters, compute(command, [item.series], parameters))


@pytest.fixture
def file(tmp_path):
    return write_demo(tmp_path / "demo.csv")


def test_what_a_receipt_holds(file):
    found = made("score", file)
    assert (found["command"], found["dqeval"]) == ("score", dqeval.__version__)
    assert found["versions"] == {"python": platform.python_version(), "numpy": np.__version__}
    assert found["kernels"] == ("compiled" if dqeval.kernels.compiled else "interpreted")
    content = file.read_bytes()
    assert found["inputs"] == [
        {
            "name": "demo.csv",
            "file": str(file),
            "sha256": hashlib.sha256(content).hexdigest(),
            "bytes": len(content),
            "rows": 1600,
            "columns": {"label": "label", "value": "value", "scores": ["sharp", "late", "jumpy"]},
            "near": 24.0,
            "near_from": "half the given period",
        }
    ]
    assert found["parameters"] == PARAMETERS["score"]
    detector = found["results"]["series"][0]["detectors"]["late"]
    assert detector["parameters"]["vus_pr"] == {"window": 48, "thresholds": 100}
    series = dqeval.datasets.demo()
    exact = dqeval.dqe_score(series.labels, series.scores["late"], period=48, thresholds="exact")
    assert detector["values"]["dqe"] == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("command", PARAMETERS)
def test_receipts_survive_json_and_hold(tmp_path, command):
    file = write_demo(tmp_path / "short.csv", length=500)
    found = json.loads(json.dumps(made(command, file), allow_nan=False))
    again = verify(found, [file])
    assert again.holds, again.failures
    assert again.notes == ()
    assert again.compared >= 1
    assert again.page().text().startswith("The receipt holds: same input, same numbers (")


def test_a_file_of_another_name_is_the_same_file(file, tmp_path):
    found = made("check", file)
    assert verify(found, [file.rename(tmp_path / "moved.csv")]).holds


def test_other_bytes(file):
    found = made("check", file)
    file.write_text(file.read_text() + "\n")
    again = verify(found, [file])
    assert not again.holds
    (failure,) = again.failures
    assert failure.startswith(f"{file} is not the file of the receipt: its SHA-256 is ")
    assert "The receipt does not hold" in again.page().text()


def test_other_numbers(file):
    found = made("score", file, per_event=False)
    found["results"]["by_series"]["late"]["dqe"] += 1e-12
    assert verify(found, [file]).holds
    found["results"]["by_series"]["late"]["dqe"] += 1e-6
    found["results"]["left_out"] = ["x"]
    found["results"]["by_event"]["late"]["capture"] = None
    after, where, how = (sentence.partition(" was ") for sentence in verify(found, [file]).failures)
    assert (after[0], where[0], how[0]) == ("by_series.late.dqe", "by_event.late.capture", "left_out")
    assert where[2].startswith("undefined and is 0.64")
    assert how[2] == "1 long and is 0 long."


def test_many_other_numbers(file, tmp_path):
    again = verify(made("score", file), [write_demo(tmp_path / "half.csv", length=800)])
    assert len(again.failures) == 12
    assert again.failures[-1].startswith("More differences: ")


def test_other_versions_are_no_failure(file):
    found = made("check", file)
    found["dqeval"], found["versions"]["numpy"], found["kernels"] = "0.0.1", "1.0", "handmade"
    again = verify(found, [file])
    assert again.holds
    form = "compiled" if dqeval.kernels.compiled else "interpreted"
    assert again.notes == (
        f"dqeval was 0.0.1 and is {dqeval.__version__}.",
        f"numpy was 1.0 and is {np.__version__}.",
        f"kernels was handmade and is {form}.",
    )
    assert "- numpy was 1.0" in again.page().text()


def test_what_cannot_be_verified(file):
    found = made("check", file)
    with pytest.raises(ValueError, match="the receipt was made from 1 file: give as many, in the same order, not 2"):
        verify(found, [file, file])
    for broken in (7, [], {}, {**found, "parameters": {"x": 1}, "command": "explain"}, {**found, "inputs": [{}]}):
        with pytest.raises(ValueError, match="this is not a receipt that can be verified"):
            verify(copy.deepcopy(broken), [file])
    with pytest.raises(ValueError, match="this is not a receipt that can be verified"):
        verify({**found, "command": "nonsense"}, [file])


def test_several_files(file, tmp_path):
    other = write_demo(tmp_path / "half.csv", length=800)
    items = [read_input(path, name=path.name) for path in (file, other)]
    parameters = {**PARAMETERS["score"], "period": None}
    result = compute("score", [item.series for item in items], parameters)
    found = receipt("score", [item.record(parameters) for item in items], parameters, result)
    assert [item["near"] for item in found["inputs"]] == [24, 48]
    assert verify(found, [file, other]).holds
    assert not verify(found, [other, file]).holds


def test_standard_input_is_hashed(monkeypatch):
    content = b"label,mine\n0,1\n1,2\n" + b"0,3\n" * 10_000
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    found = read_input(dqeval.datasets.files.STANDARD_INPUT, name="standard input")
    assert (found.sha256, found.bytes, found.rows) == (hashlib.sha256(content).hexdigest(), len(content), 10_002)


def test_a_hashing_reader_reads():
    told = []
    reader = HashingReader(io.BytesIO(b"some bytes"), told.append)
    assert reader.readable()
    assert reader.read() == b"some bytes"
    assert (reader.sha256, reader.count) == (hashlib.sha256(b"some bytes").hexdigest(), 10)
    assert told[-1] == 10


def test_labels_that_tell_no_near_range(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("label,mine\n0,1\n3,2\n")
    item = read_input(path, name="bad.csv")
    with pytest.raises(ValueError, match=r"^bad\.csv: y_true must contain only 0 and 1"):
        item.record({"near": None, "period": None})
    assert "near" not in item.record({})


def test_errors_say_which_series(file):
    series = read_input(file, name="mine").series
    bad = dataclasses.replace(series, scores={**series.scores, "late": np.full(1600, np.inf)})
    for command in ("compare", "explain"):
        with pytest.raises(ValueError, match=r"^mine: column late: y_score must be finite"):
            compute(command, [bad], PARAMETERS[command])


def test_strict_json():
    given = {1: (np.float64(0.5), np.nan, np.array([1, 2])), "a": [float("inf"), True, None, "x"]}
    assert jsonable(given) == {"1": [0.5, None, [1, 2]], "a": [None, True, None, "x"]}


def test_a_verification_as_rows_and_numbers(tmp_path):
    path = write_demo(tmp_path / "demo.csv", length=500)
    read = read_input(path, name="demo")
    result = compute("check", [read.series], {})
    made = receipt("check", [read.record({})], {}, result)
    made["versions"]["numpy"] = "0.1"
    made["inputs"][0]["sha256"] = "0"
    found = verify(made, [path])
    assert not found.holds
    assert [row["kind"] for row in found.records()] == ["failure", "note"]
    assert found.numbers()["holds"] is False
    assert found.numbers()["failures"] == found.failures


def test_a_binary_file_is_hashed_too(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, label=[0, 1], mine=[0.5, 0.7])
    read = read_input(path, name="a")
    assert (read.sha256, read.bytes) == (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_size)
