"""Receipts: what they hold, and that they can be verified."""

import copy
import dataclasses
import hashlib
import io
import json
import platform
from functools import partial

import numpy as np
import pytest

import dqeval
from commands import caller, write_demo
from dqeval.analysis import compare
from dqeval.analysis import verify as verification
from dqeval.analysis.receipt_commands import COMMANDS
from dqeval.analysis.receipts import jsonable, receipt, record_of
from dqeval.analysis.verify import read_receipt, verify
from dqeval.analysis.walk import Walk
from dqeval.datasets.door import Asked, HashingReader, entries

PARAMETERS = {
    "score": {"metrics": ["dqe", "vus_pr"], "near": None, "period": 48, "thresholds": "exact", "per_event": True},
    "compare": {"near": 24.0, "period": None},
    "explain": {"near": None, "period": None},
    "check": {"near": None, "period": None},
}


def visits(command, paths, parameters, columns=None):
    """Return what was read of some files for a command."""
    found = list(entries(paths, Asked(**(columns or {}))))
    subject = partial(COMMANDS[command].subject, parameters=parameters)
    return list(Walk(found, [path.name for path in paths], subject))


def compute(command, subjects, parameters):
    return COMMANDS[command].work(subjects, parameters, None)


def made_of(command, paths, parameters):
    read = visits(command, paths, parameters)
    result = compute(command, [visit.subject for visit in read], parameters)
    return receipt(command, [record_of(visit) for visit in read], parameters, result)


def made(command, path, **changed):
    return made_of(command, [path], {**PARAMETERS[command], **changed})


@pytest.fixture
def file(tmp_path):
    return write_demo(tmp_path / "demo.csv")


@pytest.mark.parametrize("command", ["score", "check"])
def test_what_timestamps_tell_is_verified(file, command):
    rows = file.read_text().splitlines()
    times = ["time", *(str(t % 800) for t in range(1600))]
    file.write_text("\n".join(f"{time},{row}" for time, row in zip(times, rows, strict=True)))
    found = made(command, file)
    assert "the time starts again once" in json.dumps(found["results"])
    assert verify(json.loads(json.dumps(found)), [file]).holds


def test_what_a_receipt_holds(file):
    found = made("score", file)
    assert (found["command"], found["dqeval"]) == ("score", dqeval.__version__)
    assert found["versions"] == {"python": platform.python_version(), "numpy": np.__version__}
    assert found["kernels"] == ("compiled" if dqeval.kernels.compiled else "interpreted")
    content = file.read_bytes()
    assert found["inputs"] == [
        {
            "name": "demo.csv",
            "file": "demo.csv",
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


def test_the_folder_of_a_file_does_not_count_but_its_name_does(file, tmp_path):
    found = made("check", file)
    (tmp_path / "elsewhere").mkdir()
    assert verify(found, [file.rename(tmp_path / "elsewhere" / "demo.csv")]).holds
    again = verify(found, [(tmp_path / "elsewhere" / "demo.csv").rename(tmp_path / "moved.csv")])
    assert again.failures == ("The receipt is about a file called demo.csv, and this one is called moved.csv.",)


def test_other_bytes(file):
    found = made("check", file)
    file.write_text(file.read_text() + "\n")
    again = verify(found, [file])
    assert not again.holds
    failure, size = again.failures
    assert failure.startswith("demo.csv is not the file of the receipt: its SHA-256 is ")
    assert size == f"inputs[0].bytes was {file.stat().st_size - 1} and is {file.stat().st_size}."
    assert "The receipt does not hold" in again.page().text()


def test_other_numbers(file):
    found = made("score", file, per_event=False)
    found["results"]["by_series"]["late"]["dqe"] += 1e-12
    assert verify(found, [file]).holds
    found["results"]["by_series"]["late"]["dqe"] += 1e-6
    found["results"]["left_out"] = ["x"]
    found["results"]["by_event"]["late"]["capture"] = None
    after, where, how = (sentence.partition(" was ") for sentence in verify(found, [file]).failures)
    assert (after[0], where[0], how[0]) == (
        "results.by_series.late.dqe",
        "results.by_event.late.capture",
        "results.left_out",
    )
    assert where[2].startswith("undefined and is 0.64")
    assert how[2] == "1 long and is 0 long."


def test_many_other_numbers(file, tmp_path):
    again = verify(made("score", file), [write_demo(tmp_path / "half.csv", length=800)])
    assert len(again.failures) == 11
    assert again.failures[0] == "The receipt is about a file called demo.csv, and this one is called half.csv."
    assert again.failures[-1].startswith("More differences: ")


def test_other_versions_are_no_failure(file):
    found = made("check", file)
    found["dqeval"], found["versions"]["numpy"], found["kernels"] = "0.0.1", "1.0", "handmade"
    again = verify(found, [file])
    assert again.holds
    form = "compiled" if dqeval.kernels.compiled else "interpreted"
    assert again.notes == (
        f"dqeval was 0.0.1 and is {dqeval.__version__}.",
        f"versions.numpy was 1.0 and is {np.__version__}.",
        f"kernels was handmade and is {form}.",
    )
    assert "- versions.numpy was 1.0" in again.page().text()


def test_what_cannot_be_verified(file):
    found = made("check", file)
    with pytest.raises(ValueError, match="the receipt was made from 1 file: give as many, in the same order, not 2"):
        verify(found, [file, file])
    for broken, why in [
        (7, "it is no JSON object"),
        ([], "it is no JSON object"),
        ({}, "its command is none of score, compare, explain, near, stress and check"),
        ({**found, "command": ["check"]}, "its command is none of"),
        ({**found, "inputs": None}, "its inputs are not each a file with a name and columns"),
        ({**found, "inputs": [7]}, "its inputs are not each"),
        ({**found, "inputs": [{"columns": {}}]}, "its inputs are not each"),
        (
            {**found, "command": "near", "parameters": {"x": 1}},
            "its parameters are not those of near: near, period, reso",
        ),
        ({**found, "parameters": {"x": 1}}, "its parameters are not those of check: near, period"),
        ({**made("explain", file), "parameters": None}, "its parameters are not those of explain"),
    ]:
        with pytest.raises(ValueError, match=f"this is not a receipt that can be verified, .*: {why}"):
            verify(copy.deepcopy(broken), [file])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("near", True),
        ("near", float("inf")),
        ("period", 10**400),
        ("period", "48"),
        ("metrics", None),
        ("metrics", ["dqe", 1]),
        ("thresholds", 100.0),
        ("thresholds", "all"),
        ("per_event", 1),
    ],
)
@pytest.mark.unmeasured
def test_parameters_that_no_command_writes(file, name, value):
    with pytest.raises(ValueError, match=f": its parameter {name} is not valid$"):
        verify(
            made("score", file, **PARAMETERS["score"]) | {"parameters": {**PARAMETERS["score"], name: value}}, [file]
        )


def test_several_files(file, tmp_path):
    other = write_demo(tmp_path / "half.csv", length=800)
    found = made_of("score", [file, other], {**PARAMETERS["score"], "period": None})
    assert [item["near"] for item in found["inputs"]] == [24, 48]
    assert verify(found, [file, other]).holds
    assert not verify(found, [other, file]).holds


def test_standard_input_is_hashed(monkeypatch):
    content = b"label,mine\n0,1\n1,2\n" + b"0,3\n" * 10_000
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    (visit,) = visits("check", [dqeval.datasets.files.STANDARD_INPUT], PARAMETERS["check"])
    found = record_of(visit)
    assert (found["sha256"], found["bytes"], found["rows"]) == (
        hashlib.sha256(content).hexdigest(),
        len(content),
        10_002,
    )


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
    with pytest.raises(ValueError, match=r"^bad\.csv: y_true must contain only 0 and 1"):
        visits("compare", [path], {"near": None, "period": None})
    (visit,) = visits("check", [path], PARAMETERS["check"])
    assert "near" not in record_of(visit)


def test_errors_say_which_series(file):
    header, first, *rest = file.read_text().splitlines()
    file.write_text("\n".join([header, f"{first.rpartition(',')[0]},inf", *rest]))
    for command in ("compare", "explain"):
        with pytest.raises(ValueError, match=r"^demo\.csv: column jumpy: y_score must be finite"):
            visits(command, [file], PARAMETERS[command])


def test_strict_json():
    given = {1: (np.float64(0.5), np.nan, np.array([1, 2])), "a": [float("inf"), True, None, "x"]}
    assert jsonable(given) == {"1": [0.5, None, [1, 2]], "a": [None, True, None, "x"]}


def test_a_verification_as_rows_and_numbers(tmp_path):
    path = write_demo(tmp_path / "demo.csv", length=500)
    again = made("check", path)
    again["versions"]["numpy"] = "0.1"
    again["inputs"][0]["sha256"] = "0"
    found = verify(again, [path])
    assert not found.holds
    assert [row["kind"] for row in found.records()] == ["failure", "note"]
    assert found.numbers()["holds"] is False
    assert found.numbers()["failures"] == found.failures


def test_a_binary_file_is_hashed_too(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, label=[0, 1], mine=[0.5, 0.7])
    (visit,) = visits("check", [path], PARAMETERS["check"])
    read = record_of(visit)
    assert (read["sha256"], read["bytes"]) == (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_size)


def leaves(value, place=()):
    """Yield every key of an object and every item of a list, with its place."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*place, key), item
        yield from leaves(item, (*place, key))


def changes(value):
    """Yield other values than the one given, near and far."""
    yield from ([], {}, "x", 7, True, None)
    if isinstance(value, bool):
        yield from (not value, int(value))
    elif isinstance(value, (int, float)):
        yield from (value + max(1e-6, 1e-6 * abs(value)), value + 1, -value - 1, str(value))
    elif isinstance(value, str):
        yield from (f"{value} ", value[1:], value.swapcase() + "é", f"../{value}")
    elif isinstance(value, list):
        yield from (value[1:], [*value, None], [*value, *value[:1]], value[::-1])
    elif isinstance(value, dict):
        yield from ({**value, "more": None}, dict(list(value.items())[1:]))


def changed(content, place, value):
    """Return a copy in which another value stands at a place."""
    key, *rest = place
    copied = copy.copy(content)
    copied[key] = changed(content[key], rest, value) if rest else value
    return copied


def without(content, place):
    """Return a copy without what stands at a place."""
    key, *rest = place
    copied = copy.copy(content)
    if rest:
        copied[key] = without(content[key], rest)
    else:
        del copied[key]
    return copied


@pytest.fixture
def remembering(monkeypatch):
    """Make a receipt again only where something changed that it follows from."""
    make, kept = verification._made_again, {}

    def remembered(given, files, progress):
        inputs = [[item["name"], item["file"], item["columns"]] for item in given["inputs"]]
        key = json.dumps([given["command"], given["parameters"], inputs])
        if key not in kept:
            kept[key] = make(given, files, progress)
        return kept[key]

    monkeypatch.setattr(verification, "_made_again", remembered)
    monkeypatch.setattr(compare, "comparison_of", partial(compare.comparison_of, repeats=2))


def write_tiny(path):
    """Write a series that is long enough for everything to be said of it, and no longer."""
    time = np.arange(40)
    labels = (time % 25 < 3) & (time > 3)
    columns = [np.sin(time), labels, labels + np.cos(time) / 2, np.cos(time) ** 2]
    np.savetxt(path, np.column_stack(columns), delimiter=",", header="value,label,mine,yours", comments="")
    return path


def holds(content, file):
    try:
        return verify(content, [file]).holds
    except ValueError:
        return False


def asked(content):
    """Return what the numbers of a receipt are the answer to."""
    return content["parameters"], content["inputs"][0]["columns"]


@pytest.mark.parametrize("command", PARAMETERS)
@pytest.mark.unmeasured
def test_no_change_of_a_receipt_goes_unnoticed(tmp_path, remembering, command):
    file = write_tiny(tmp_path / "short.csv")
    found = json.loads(json.dumps(made(command, file)))
    assert holds(found, file)
    tried = 0
    for place, value in leaves(found):
        others = [other for other in changes(value) if other != value or type(other) is not type(value)]
        edited = [changed(found, place, other) for other in others] + [without(found, place)]
        if isinstance(value, dict):
            edited.append(changed(found, (*place, "versions.numpy"), "x"))
        tried += len(edited)
        for content in edited:
            if not holds(content, file):
                continue
            if place in verification.INFORMATION:
                assert isinstance(content[place[0]], (str, dict)), place
            else:
                # The same columns or metrics in another order, or a check of fewer columns that finds as much.
                assert place[:2] == ("parameters", "metrics") or place[:4] == ("inputs", 0, "columns", "scores")
                parameters, columns = asked(content)
                (visit,) = visits(command, [file], parameters, columns)
                assert jsonable(compute(command, [visit.subject], parameters).numbers()) == found["results"]
    assert tried > 200
    assert not holds({**found, "versions.numpy": "x"}, file)


@pytest.mark.parametrize("place", sorted(verification.INFORMATION))
def test_versions_are_texts_that_must_be_there(file, remembering, place):
    found = made("check", file)
    assert holds(changed(found, place, "another"), file)
    for other in (None, 7, ["another"], {}):
        assert not holds(changed(found, place, other), file)
    assert not holds(without(found, place), file)


def test_counts_must_be_exact_and_truths_no_numbers():
    assert verification._same(24, 24.0)
    assert not verification._same(10**10 + 1, 10**10)
    assert not verification._same(1600 + 1e-7, 1600)
    assert not verification._same(1, True)
    assert not verification._same(1.0, False)
    assert not verification._same(True, 1.0)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('{"results": 1, "inputs": 2, "results": 3}', "it says results twice, so this is not a receipt"),
        ('{"a": [{"b": 1, "\\u0062": 1}]}', "it says b twice"),
        ('{"\\u001b[2J": 1, "\\u001b[2J": 1}', r"it says \\x1b\[2J twice"),
        ('{"a": NaN}', "it holds NaN, which is no number in JSON"),
        ('{"a": -Infinity}', "it holds -Infinity, which is no number"),
        (f'{{"a": {"9" * 301}}}', "it holds a number of 301 digits"),
        ("[" * 200_000, "this is nested too deeply for a receipt"),
        ("{", "this is not JSON, and so not a receipt"),
        ("\ud8ff", "this is not JSON, and so not a receipt"),
    ],
)
def test_files_that_are_no_receipts(tmp_path, text, sentence):
    path = tmp_path / "receipt.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(ValueError, match=f"receipt.json: {sentence}"):
        read_receipt(path)


def test_files_that_are_too_large_for_receipts(tmp_path, monkeypatch):
    path = tmp_path / "receipt.json"
    path.write_text('{"a": 1}')
    assert read_receipt(path) == {"a": 1}
    monkeypatch.setattr(verification, "MOST_BYTES", 7)
    with pytest.raises(ValueError, match=r"receipt\.json: this is larger than 7 bytes, and so not a receipt"):
        read_receipt(path)


def test_what_a_receipt_says_is_shown_on_one_line_and_clipped(file):
    found = made("check", file)
    found["\x1b[2JThe receipt holds\n"] = "\u202e" + 300 * "x"
    again = verify(found, [file])
    assert again.failures == (f"\\x1b[2JThe receipt holds\\n was \\u202e{199 * 'x'}… and is absent.",)


def test_names_that_are_not_those_of_the_file(tmp_path):
    file = write_demo(tmp_path / "short.csv", length=460)
    found = made("explain", file)
    found["inputs"][0]["name"] = "other.csv"
    assert verify(found, [file]).failures == ("inputs[0].name was other.csv and is short.csv.",)
    found["inputs"][0]["name"] = "folder/short.csv"
    assert verify(found, [file]).failures == ("inputs[0].name was folder/short.csv and is short.csv.",)


@pytest.fixture
def call(monkeypatch, capsys):
    return caller(monkeypatch, capsys)


@pytest.fixture
def twins(tmp_path):
    files = [tmp_path / folder / "short.csv" for folder in "ab"]
    for file in files:
        file.parent.mkdir()
        write_tiny(file)
    return files


@pytest.mark.parametrize("command", PARAMETERS)
@pytest.mark.unmeasured
def test_no_receipt_holds_a_folder_and_none_can_be_put_in(call, twins, tmp_path, command):
    done = call(command, *twins, "--format", "json")
    found = json.loads(done.out)
    assert [item["name"] for item in found["inputs"]] == ["short.csv", "short.csv (2)"]
    assert "a/short.csv" not in done.out
    assert "b/short.csv" not in done.out
    assert verify(found, twins).holds
    for forged in ("certified by ACME/short.csv", "short.csv (3)", "short.csv"):
        assert not verify(json.loads(done.out.replace("short.csv (2)", forged)), twins).holds
    moved = [file.parent.rename(tmp_path / f"moved_{file.parent.name}") / file.name for file in twins]
    assert verify(found, moved).holds


@pytest.mark.parametrize("trouble", ["label,value\n0,1\n1,2\n", "no table at all\n1\n"], ids=["no scores", "broken"])
def test_one_of_two_files_with_the_same_name_is_left_out(call, twins, tmp_path, trouble):
    """It has no part in the receipt: neither a number in a name, nor a place among the files to be given."""
    twins[0].write_text(trouble)
    for given in ([tmp_path], twins):
        found = json.loads(call("score", *given, "--metrics", "dqe", "--format", "json").out)
        assert [item["name"] for item in found["inputs"]] == ["short.csv"]
        assert verify(found, [tmp_path]).holds
        assert verify(found, twins[1:]).holds
    with pytest.raises(ValueError, match="the receipt was made from 1 file: give as many"):
        verify(found, [twins[1], twins[1]])


@pytest.mark.parametrize("command", ["explain", "compare", "near", "check"])
@pytest.mark.unmeasured
def test_words_of_another_version(tmp_path, remembering, command):
    """They are noted, and the numbers beside them must be the same."""
    file = write_tiny(tmp_path / "short.csv")
    found = json.loads(json.dumps(made_of(command, [file], PARAMETERS.get(command, {}))))
    older = {**found, "dqeval": "0.0.1"}
    wordings = [place for place, value in leaves(found) if isinstance(value, str) and set(place) & verification.WORDING]
    assert wordings
    for place in wordings:
        assert not holds(changed(found, place, "Otherwise."), file)
        said = verify(changed(older, place, "Otherwise."), [file])
        assert said.holds
        assert any(" was Otherwise. and is " in note for note in said.notes)
    for place, value in leaves(older):
        if isinstance(value, float) and place[0] == "results":
            assert not holds(changed(older, place, value + 0.1), file), place


def test_many_words_of_another_version(tmp_path):
    file = write_demo(tmp_path / "demo.csv")
    found = {**json.loads(json.dumps(made_of("explain", [file], PARAMETERS["explain"]))), "dqeval": "0.0.1"}
    for place, value in list(leaves(found)):
        if isinstance(value, str) and set(place) & verification.WORDING:
            found = changed(found, place, "Otherwise.")
    said = verify(found, [file])
    assert said.holds
    assert len(said.notes) == verification.MOST_DIFFERENCES + 1
    assert said.notes[-1].startswith("More notes: ")


def test_tables_tell_files_of_the_same_name_apart_by_folders(call, twins):
    shown = call("check", *twins).out
    assert "a/short.csv" in shown
    assert "b/short.csv" in shown


def test_standard_input_can_be_verified(monkeypatch):
    content = b"label,mine\n0,1\n1,2\n0,0\n"

    def stream():
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
        return dqeval.datasets.files.STANDARD_INPUT

    (visit,) = visits("check", [stream()], PARAMETERS["check"])
    result = compute("check", [dataclasses.replace(visit.subject, name="standard input")], PARAMETERS["check"])
    found = receipt("check", [{**record_of(visit), "name": "standard input"}], PARAMETERS["check"], result)
    assert found["inputs"][0]["file"] == "-"
    assert verify(found, [stream()]).holds
