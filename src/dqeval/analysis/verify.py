"""Receipts verified: the numbers are made again, and compared with what the receipt says."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dqeval.analysis.receipts import compute, names_in_receipt, read_input, receipt
from dqeval.analysis.score import Progress
from dqeval.render.tables import Page, counted, in_words, printable

TOLERANCE = 1e-9
MOST_DIFFERENCES = 10
LONGEST_SHOWN = 200  # characters of a text that is not as the receipt has it
MOST_BYTES = 2**30  # of a receipt: more than a million events
MOST_DIGITS = 300  # of a whole number: more do not fit into a float
NO_RECEIPT = "this is not a receipt that can be verified, such as dqeval score writes as JSON"

Place = tuple[str | int, ...]

# What a receipt says of the machine that made it: where another one gives the same numbers, that is no failure.
INFORMATION: frozenset[Place] = frozenset({("dqeval",), ("kernels",), ("versions", "python"), ("versions", "numpy")})
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
    """

    failures: tuple[str, ...]
    notes: tuple[str, ...]
    compared: int

    @property
    def holds(self) -> bool:
        """Whether the inputs and the numbers are those of the receipt."""
        return not self.failures

    def page(self) -> Page:
        """Return the findings as paragraphs."""
        compared = counted(self.compared, "value")
        verdict = f"The receipt holds: same input, same numbers ({compared} compared)."
        if self.failures:
            verdict = f"The receipt does not hold ({compared} compared)."
        lines = [f"- {sentence}" for sentence in (*self.failures, *self.notes)]
        return Page([verdict, *(["\n".join(lines)] if lines else [])])

    def records(self) -> list[dict[str, Any]]:
        """Return one row a finding."""
        failures = [{"kind": "failure", "finding": sentence} for sentence in self.failures]
        return [*failures, *({"kind": "note", "finding": sentence} for sentence in self.notes)]

    def numbers(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {"holds": self.holds, **asdict(self)}


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
        The inputs, in the order of the receipt.
    progress : callable, optional
        See `read_input` and `compute`.

    Returns
    -------
    Verification
        It holds if everything is the same: the inputs by name and byte for byte, numbers within 1e-9, the rest exactly;
        versions may differ.
    """
    if reason := _trouble(given):
        raise ValueError(f"{NO_RECEIPT}: {reason}")
    again = _made_again(given, files, progress)
    pairs = list(_pairs((), given, again))
    different = [(place, then, now) for place, then, now in pairs if not _same(then, now)]
    notes = [f"{_difference(*each)}." for each in different if _is_note(*each)]
    failures = [_failure(*each, files) for each in different if not _is_note(*each)]
    if len(failures) > MOST_DIFFERENCES:
        failures[MOST_DIFFERENCES:] = [f"More differences: {len(failures) - MOST_DIFFERENCES:,}."]
    return Verification(tuple(failures), tuple(notes), len(pairs))


def _said_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"it says {_clipped(key)} twice")
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
    if not isinstance(command, str) or command not in _PARAMETERS:
        return f"its command is none of {in_words(list(_PARAMETERS))}"
    if not isinstance(given.get("inputs"), list) or not all(map(_is_input, given["inputs"])):
        return "its inputs are not each a file with a name and columns"
    names = _PARAMETERS[command]
    if not isinstance(parameters, dict) or set(parameters) != set(names):
        return f"its parameters are not those of {command}: {', '.join(names) or 'none'}"
    wrong = [name for name in names if not _VALID[name](parameters[name])]
    return f"its parameter {wrong[0]} is not valid" if wrong else ""


def _is_input(given: Any) -> bool:
    if not isinstance(given, dict) or not isinstance(given.get("columns"), dict):
        return False
    columns = given["columns"]
    return (
        _is_text(given.get("name"))
        and _is_text(given.get("file"))
        and set(columns) == {"label", "value", "scores"}
        and _is_text(columns["label"])
        and (columns["value"] is None or _is_text(columns["value"]))
        and _is_list_of_text(columns["scores"])
    )


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_list_of_text(value: Any) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


def _is_number_or_none(value: Any) -> bool:
    return value is None or (type(value) in (int, float) and abs(value) <= sys.float_info.max)


# What the receipt of each command must have as parameters, and what each of them may be.
_PARAMETERS = {
    "score": ("metrics", "near", "period", "thresholds", "per_event"),
    "compare": ("near", "period"),
    "explain": ("near", "period"),
    "check": (),
}
_VALID: dict[str, Callable[[Any], bool]] = {
    "metrics": _is_list_of_text,
    "near": _is_number_or_none,
    "period": _is_number_or_none,
    "thresholds": lambda value: type(value) is int or value == "exact",
    "per_event": lambda value: isinstance(value, bool),
}


def _made_again(given: Mapping[str, Any], files: Sequence[Path], progress: Progress | None) -> dict[str, Any]:
    then, parameters = given["inputs"], given["parameters"]
    if len(files) != len(then):
        raise ValueError(
            f"the receipt was made from {counted(len(then), 'file')}: give as many, in the same order, not {len(files)}"
        )
    # By the files that the receipt names: where the given ones are called otherwise, that is a failure of its own.
    names = names_in_receipt([each["file"] for each in then])
    inputs = [
        read_input(path, name=name, **each["columns"], times=True, progress=progress)
        for path, name, each in zip(files, names, then, strict=True)
    ]
    result = compute(given["command"], [each.series for each in inputs], parameters, progress=progress)
    return receipt(given["command"], [each.record(parameters) for each in inputs], parameters, result)


def _is_note(place: Place, then: Any, now: Any) -> bool:
    """Tell whether a difference is one of the machine alone; what is missing there, or no text, was not written so."""
    return place in INFORMATION and isinstance(then, str)


def _failure(place: Place, then: Any, now: Any, files: Sequence[Path]) -> str:
    """Return a sentence on what is not as the receipt has it."""
    match place:
        case ("inputs", int(i), "sha256"):
            what = f"{_clipped(files[i].name)} is not the file of the receipt"
            return f"{what}: its SHA-256 is {_shown(now)}, not {_shown(then)}."
        case ("inputs", int(i), "file"):
            return f"The receipt is about a file called {_shown(then)}, and this one is called {_shown(now)}."
    return f"{_difference(place, then, now)}."


def _difference(place: Place, then: Any, now: Any) -> str:
    where = "".join(f"[{key}]" if isinstance(key, int) else f".{_clipped(key)}" for key in place)
    return f"{where.removeprefix('.')} was {_shown(then)} and is {_shown(now)}"


def _shown(value: Any) -> str:
    if value is ABSENT:
        return "absent"
    if isinstance(value, (dict, list)):
        return f"{len(value)} long"
    return "undefined" if value is None else _clipped(str(value))


def _clipped(text: str) -> str:
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
