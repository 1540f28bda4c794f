"""Receipts verified: the numbers are made again, and compared with what the receipt says."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from dqeval.analysis.receipt_commands import CLOCK, COMMANDS, is_list_of_text
from dqeval.analysis.receipts import names_in_receipt, receipt, record_of
from dqeval.analysis.walk import Walk
from dqeval.core.types import Progress, Series
from dqeval.datasets.alerts import FORMAT as ALERTS
from dqeval.datasets.alerts import AlertFile, AlertsEntry, alerts_entry
from dqeval.datasets.door import TABLE, Asked, Entry, entries, file_record
from dqeval.datasets.files import NOTHING_NAMED, Named
from dqeval.datasets.interval_files import IntervalSource
from dqeval.datasets.loading import FORMATS
from dqeval.render.tables import Page, count_of, in_words, printable

TOLERANCE = 1e-9
MOST_DIFFERENCES = 10
LONGEST_SHOWN = 200  # characters of a text that is not as the receipt has it
MOST_BYTES = 2**30  # of a receipt: more than a million events
MOST_DIGITS = 300  # of a whole number: more do not fit into a float
NO_RECEIPT = "this is not a receipt that can be verified, such as dqeval score writes as JSON"

Place = tuple[str | int, ...]

# What a receipt says of the machine that made it: where another one gives the same numbers, that is no failure.
INFORMATION: frozenset[Place] = frozenset({("dqeval",), ("kernels",), ("versions", "python"), ("versions", "numpy")})
# What dqeval says in words of the numbers, which all stand beside: another version may say it otherwise.
WORDING = frozenset({"sentence", "verdict", "recommendation", "cautions", "moves", "message", "reason", "near_from"})
ABSENT = object()  # what one of two receipts does not have at all


@dataclass(frozen=True, slots=True)
class Verification:
    """What came of making the numbers of a receipt again.

    Attributes
    ----------
    failures : tuple of str
        What is not as the receipt has it, in sentences; empty if the receipt holds.
    notes : tuple of str
        What else is different, such as a version.
    compared : int
        How many numbers and words were compared.
    meaning : str
        What it means that the receipt holds, in words.
    """

    failures: tuple[str, ...]
    notes: tuple[str, ...]
    compared: int
    meaning: str = "same input, same numbers"

    @property
    def holds(self) -> bool:
        """Whether the inputs and the numbers are those of the receipt."""
        return not self.failures

    def page(self) -> Page:
        """Return the findings as paragraphs."""
        compared = count_of(self.compared, "value")
        verdict = f"The receipt holds: {self.meaning} ({compared} compared)."
        if self.failures:
            verdict = f"The receipt does not hold ({compared} compared)."
        lines = [f"- {sentence}" for sentence in (*self.failures, *self.notes)]
        return Page([verdict, *(["\n".join(lines)] if lines else [])])

    def records(self) -> list[dict[str, Any]]:
        """Return one row per finding."""
        failures = [{"kind": "failure", "finding": sentence} for sentence in self.failures]
        return [*failures, *({"kind": "note", "finding": sentence} for sentence in self.notes)]

    def numbers(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        found = {"holds": self.holds, **asdict(self)}
        del found["meaning"]  # which is true of receipts that hold alone
        return found


def read_receipt(path: Path) -> Any:
    """Read a receipt from a file of strict JSON, in which nothing is said twice.

    Parameters
    ----------
    path : Path

    Returns
    -------
    dict
        Or whatever else the file holds: see `verify`.
    """
    if path.is_dir():
        raise ValueError(f"{path}: a receipt is a file, and this is a folder; a site's is {path / 'receipt.json'}")
    if path.stat().st_size > MOST_BYTES:
        raise ValueError(f"{path}: this is larger than {MOST_BYTES:,} bytes, and so not a receipt")
    try:
        content = path.read_text(encoding="utf-8")
        return json.loads(content, object_pairs_hook=_said_once, parse_int=_whole, parse_constant=_no_number)
    except RecursionError:
        raise ValueError(f"{path}: this is nested too deeply for a receipt") from None
    except (json.JSONDecodeError, UnicodeDecodeError):
        raise ValueError(f"{path}: this is not JSON, and so not a receipt") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}, so this is not a receipt") from None


def verify(given: Any, files: Sequence[Path], *, progress: Progress | None = None) -> Verification:
    """Make a receipt again from the files, with its command, columns and parameters, and compare all that it says.

    Parameters
    ----------
    given : dict
        As `read_receipt` returns it.
    files : sequence of Path
        The inputs, in the order of the receipt: files, or folders that hold them.
    progress : callable, optional
        Called with the number of steps done, and that of all.

    Returns
    -------
    Verification
        It holds if everything is the same: the inputs by name and byte for byte, numbers within 1e-9, the rest exactly;
        versions may differ, and if that of dqeval does, so may its words.
    """
    if reason := _trouble(given):
        raise ValueError(f"{NO_RECEIPT}: {reason}")
    again = _made_again(given, files, progress)
    pairs = list(_pairs((), given, again))
    different = [(place, then, now) for place, then, now in pairs if not _same(then, now)]
    is_note = partial(_is_note, other_version=given.get("dqeval") != again["dqeval"])
    notes = [f"{_difference(*each)}." for each in different if is_note(*each)]
    files_now = [each["file"] for each in again["inputs"]]
    failures = [_failure(*each, files_now) for each in different if not is_note(*each)]
    return Verification(cut_short(failures, "differences"), cut_short(notes, "notes"), len(pairs))


def differences(then: Any, now: Any) -> tuple[int, list[str]]:
    """Return how many values two documents have, and which are not the same, in sentences."""
    pairs = list(_pairs((), then, now))
    return len(pairs), [f"{_difference(*each)}." for each in pairs if not _same(*each[1:])]


def cut_short(sentences: Sequence[str], what: str) -> tuple[str, ...]:
    """Return the first of many findings, and how many more there are."""
    if len(sentences) <= MOST_DIFFERENCES:
        return tuple(sentences)
    return (*sentences[:MOST_DIFFERENCES], f"More {what}: {len(sentences) - MOST_DIFFERENCES:,}.")


def file_failure(name: str, then: Any, now: Any) -> str:
    """Say that a file is not the one of the receipt."""
    return f"{clipped(name)} is not the file of the receipt: its SHA-256 is {_shown(now)}, not {_shown(then)}."


def _said_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"it says {clipped(key)} twice")
        found[key] = value
    return found


def _whole(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise ValueError(f"it holds a number of {len(digits):,} digits")
    return int(digits)


def _no_number(constant: str) -> None:
    raise ValueError(f"it holds {constant}, which is no number in JSON")


def _trouble(given: Any) -> str:
    """Return why a receipt cannot be made again, or nothing."""
    if not isinstance(given, dict):
        return "it is no JSON object"
    command, parameters = given.get("command"), given.get("parameters")
    if not isinstance(command, str) or command not in COMMANDS:
        return f"its command is none of {in_words(list(COMMANDS), most=len(COMMANDS))}"
    if not isinstance(given.get("inputs"), list) or not all(map(_is_input, given["inputs"])):
        return "its inputs are not each a file with a name and columns, or a format"
    if len(set(map(_named_columns, given["inputs"]))) > 1:
        return "its inputs are not split by the same column, or have other columns of times"
    valid, optional = COMMANDS[command].parameters, COMMANDS[command].optional
    if not isinstance(parameters, dict) or not set(valid) - set(optional) <= set(parameters) <= set(valid):
        return f"its parameters are not those of {command}: {', '.join(valid) or 'none'}"
    if any(each.get("format") == ALERTS for each in given["inputs"]) and set(parameters) & set(CLOCK):
        return "of alerts, its inputs say how time is counted, and no parameter does"
    wrong = [name for name in parameters if not valid[name](parameters[name])]
    return f"its parameter {wrong[0]} is not valid" if wrong else ""


def _is_input(given: Any) -> bool:
    """Tell whether this is a file with a name, and either columns or a format; and the name of a series, if at all."""
    if not isinstance(given, dict) or not all(isinstance(given.get(key), str) for key in ("name", "file")):
        return False
    if not all(isinstance(given.get(key, ""), str) for key in ("series", "timezone")):
        return False
    if type(given.get("train_stop", 0)) is not int:
        return False
    if not _is_file(given.get("incidents", given)):
        return False
    if given.get("format") == ALERTS:
        return _are_alerts(given)
    if "columns" not in given:
        return isinstance(given.get("format"), str) and given["format"] in FORMATS.names
    return _are_columns(given["columns"], with_labels="incidents" not in given)


def _is_file(given: Any) -> bool:
    """Tell whether this is a file with a name, and the name of a series in it, if at all."""
    return isinstance(given, dict) and isinstance(given.get("file"), str) and isinstance(given.get("series", ""), str)


def _are_alerts(given: Mapping[str, Any]) -> bool:
    """Tell whether this says from which alerts a series was made, in which time, and how that is counted."""
    alerts, span = given.get("alerts"), given.get("span")
    return (
        isinstance(alerts, list)
        and all(map(_is_file, alerts))
        and (span is None or (is_list_of_text(span) and len(span) == 2))
        and CLOCK["resolution"](given.get("resolution"))
    )


def _are_columns(columns: Any, *, with_labels: bool) -> bool:
    return (
        isinstance(columns, dict)
        and {"label", "value", "scores"} <= set(columns) <= {"label", "value", "scores", "series", "time"}
        and isinstance(columns["label"], str if with_labels else type(None))
        and (columns["value"] is None or isinstance(columns["value"], str))
        and is_list_of_text(columns["scores"])
        and all(isinstance(columns.get(name, ""), str) for name in ("series", "time"))
    )


def _named_columns(then: Mapping[str, Any]) -> Named:
    """Return the columns that name the series and the times of the table that an input is from, if they were given."""
    columns = then.get("columns", {})
    return Named(columns.get("series"), columns.get("time"))


def _made_again(given: Mapping[str, Any], files: Sequence[Path], progress: Progress | None) -> dict[str, Any]:
    then, parameters, command = given["inputs"], given["parameters"], COMMANDS[given["command"]]
    # By the files that the receipt names: where the given ones are called otherwise, that is a failure of its own.
    beside = _Beside(files, then)
    found = [_as_then(entry, each, beside) for entry, each in zip(_inputs(files, then, beside), then, strict=True)]

    names = names_in_receipt(then)
    train_stops = dict(zip(names, (each.get("train_stop") for each in then), strict=True))

    def subject(series: Series) -> Any:
        # Which the name of a file may say, and the given one may have another name.
        stop = train_stops[series.name]
        return command.subject(series if stop is None else replace(series, train_stop=stop), parameters)

    walk = Walk(found, names, subject, progress)
    visits = list(walk)
    if walk.errors:
        raise walk.errors[0]
    result = command.work((visit.subject for visit in visits), parameters, walk.working)
    return receipt(given["command"], list(map(record_of, visits)), parameters, result)


def _inputs(files: Sequence[Path], then: Sequence[Mapping[str, Any]], beside: _Beside) -> list[Entry]:
    """Return the series of the files, as many as the receipt has; others in folders and long tables are passed over."""
    named = next(map(_named_columns, then), NOTHING_NAMED)
    column = named.series
    others = [file for file in files if file not in beside.used]
    if len(then) == 1 and then[0].get("format") == ALERTS:
        if extra := [file for file in others if not file.is_dir()]:
            raise ValueError(f"the receipt was not made with {clipped(extra[0].name)}: leave it out")
        return [_alerts(then[0], beside)]
    source = next((each["incidents"] for each in then if "incidents" in each), None)
    timezone = next((each.get("timezone") for each in then), None)
    incidents = None
    if source is not None:
        incidents = IntervalSource(beside.find(source), column, timezone, source.get("series"))
    asked = Asked(series=column, time=named.time, timezone=timezone, incidents=incidents)
    found = list(entries(others, asked))
    if len(found) != len(then):
        known = {(each["file"], each.get("series")) for each in then}
        found = [entry for entry in found if not (entry.in_folder or entry.part) or _key(entry) in known]
    if len(found) > len(then):  # of files with the same name, one may have been left out
        hashes = {each.get("sha256") for each in then}
        found = [entry for entry in found if not entry.in_folder or entry.part or entry.digest() in hashes]
    if len(found) != len(then):
        for entry in found:
            if entry.trouble is not None:
                raise entry.trouble
        made = count_of(len(then), "file") if column is None else f"{len(then):,} series of column {clipped(column)}"
        raise ValueError(f"the receipt was made from {made}: give as many, in the same order, not {len(found)}")
    return found


def _key(entry: Entry) -> tuple[str, str | None]:
    return entry.path.name, None if entry.alone else entry.source.name


def _as_then(entry: Entry, then: Mapping[str, Any], beside: _Beside) -> Entry:
    """Return how to read a series as it was read for the receipt."""
    if isinstance(entry, AlertsEntry):
        return entry
    source = replace(entry.source, format=then.get("format", TABLE))
    asked = Asked(**then.get("columns", {}), timezone=then.get("timezone"), incidents=entry.asked.incidents)
    return replace(entry, source=source, asked=asked, in_folder=False)


class _Beside:
    """The files with incidents and alerts that a receipt names: among those given, or in folders."""

    def __init__(self, files: Sequence[Path], then: Sequence[Mapping[str, Any]]) -> None:
        wanted = [each["incidents"] for each in then if "incidents" in each]
        for each in then:
            wanted += [each, *each["alerts"]] if each.get("format") == ALERTS else []
        names = {each["file"] for each in wanted}
        places = [place for file in files for place in (sorted(file.iterdir()) if file.is_dir() else [file])]
        self._places = {place: None for place in places if place.name in names and place.is_file()}
        self._hashes: dict[Path, str] = {}
        self.used = {self.find(each) for each in wanted}

    def find(self, record: Mapping[str, Any]) -> Path:
        """Return the file of a record: of several with its name, the one with its content."""
        found = [place for place in self._places if place.name == record["file"]]
        if not found:
            raise ValueError(f"the receipt was made with {clipped(record['file'])}: give that file, too")
        return next((place for place in found if self._hash(place) == record.get("sha256")), found[0])

    def _hash(self, place: Path) -> str:
        if place not in self._hashes:
            self._hashes[place] = file_record(place)["sha256"]
        return self._hashes[place]


def _alerts(then: Mapping[str, Any], beside: _Beside) -> Entry:
    """Return the series of incidents and alerts of a receipt."""
    alerts = [AlertFile(beside.find(each), each.get("series")) for each in then["alerts"]]
    span = then.get("span")
    ends = None if span is None else (span[0], span[1])
    return alerts_entry(beside.find(then), alerts, ends, then.get("resolution"), then.get("timezone"))


def _is_note(place: Place, then: Any, now: Any, *, other_version: bool) -> bool:
    """Tell whether a difference is one of the machine alone, or of the words of another version of dqeval.

    What is missing there, or no text, was not written so.
    """
    if place in INFORMATION:
        return isinstance(then, str)
    in_words = not WORDING.isdisjoint(key for key in place if isinstance(key, str))
    return other_version and in_words and isinstance(then, str) and isinstance(now, str)


def _failure(place: Place, then: Any, now: Any, files: Sequence[str]) -> str:
    """Return a sentence on what is not as the receipt has it."""
    match place:
        case ("inputs", int(i), "sha256"):
            return file_failure(files[i], then, now)
        case ("inputs", int(i), "file"):
            return f"The receipt is about a file called {_shown(then)}, and this one is called {_shown(now)}."
    return f"{_difference(place, then, now)}."


def _difference(place: Place, then: Any, now: Any) -> str:
    where = "".join(f"[{key}]" if isinstance(key, int) else f".{clipped(key)}" for key in place)
    return f"{where.removeprefix('.')} was {_shown(then)} and is {_shown(now)}"


def _shown(value: Any) -> str:
    if value is ABSENT:
        return "absent"
    if isinstance(value, (dict, list)):
        return f"{len(value)} long"
    return "undefined" if value is None else clipped(str(value))


def clipped(text: str) -> str:
    """Return a text of a receipt as it is shown: without what a terminal acts upon, and not at any length."""
    return printable(text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…")


def _pairs(place: Place, then: Any, now: Any) -> Iterator[tuple[Place, Any, Any]]:
    """Yield every single value of either, with its place; what only one of them has is beside ABSENT."""
    if isinstance(then, dict) and isinstance(now, dict):
        for key in {**then, **now}:
            yield from _pairs((*place, key), then.get(key, ABSENT), now.get(key, ABSENT))
    elif isinstance(then, list) and isinstance(now, list) and len(then) == len(now):
        for i, (a, b) in enumerate(zip(then, now, strict=True)):
            yield from _pairs((*place, i), a, b)
    else:
        yield place, then, now


def _same(then: Any, now: Any) -> bool:
    """Tell whether two values are the same; counts and truths exactly, other numbers within the tolerance."""
    if isinstance(now, float) and type(then) in (int, float):
        return math.isclose(then, now, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return isinstance(then, bool) == isinstance(now, bool) and bool(then == now)
