"""Receipts: numbers with all that they were made from, so that anyone can make them again and compare."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dqeval.analysis.result import Result
from dqeval.analysis.walk import NUMBERED, Visit
from dqeval.core.prepared import Prepared
from dqeval.datasets.door import Entry
from dqeval.datasets.files import name_of
from dqeval.render.tables import one_line
from dqeval.support.naming import distinct
from dqeval.support.versions import made_with


def receipt(
    command: str, inputs: Sequence[Mapping[str, Any]], parameters: Mapping[str, Any], result: Result
) -> dict[str, Any]:
    """Return a receipt: strict JSON, in which what is not a finite number is null.

    Parameters
    ----------
    command : str
        One of `COMMANDS`.
    inputs : sequence of mapping
        The records of the inputs: see `record_of`.
    parameters : mapping
        Those of the command.
    result : Result

    Returns
    -------
    dict
    """
    found: dict[str, Any] = jsonable(
        {
            "command": command,
            **_versions(),
            "inputs": inputs,
            "parameters": parameters,
            "results": result.numbers(),
        }
    )
    return found


def record_of(visit: Visit[Any]) -> dict[str, Any]:
    """Return what a receipt says of an input; with the near range and the clock, if it was prepared."""
    found, prepared = visit.opened.record(), visit.subject
    if not isinstance(prepared, Prepared):
        return found
    found |= {"near": prepared.near.points, "near_from": prepared.near.source}
    return found | ({"cells": str(prepared.labelled.axis)} if prepared.on_clock else {})


def names_in_receipt(found: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return what a receipt calls the series of its inputs: as their files, with numbers where several are the same.

    Folders tell nothing to whoever verifies, and cannot be verified. Several series of one file have their own names.
    """
    return distinct([_name(each["file"], each.get("series")) for each in found], NUMBERED)


def entry_names(found: Iterable[Entry]) -> list[str]:
    """Return what a receipt calls some series that are not read yet: without numbers, as some may be left out."""
    return [_name(entry.path.name, None if entry.alone else entry.source.name) for entry in found]


def _name(file: str, series: str | None) -> str:
    return one_line(name_of(Path(file)) if series is None else series)


def jsonable(value: Any) -> Any:
    """Return a value as strict JSON holds it: arrays as lists, numbers that are not finite as None."""
    kind = type(value)  # most are of these, and to ask whether they are a mapping takes long
    if kind is float:
        return value if math.isfinite(value) else None
    if kind is int or kind is str:
        return value
    if isinstance(value, Mapping):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [jsonable(item) for item in value]
    if isinstance(value, (np.generic, np.ndarray)):
        return jsonable(value.tolist())
    return value


def _versions() -> dict[str, Any]:
    found = made_with()
    return {
        "dqeval": found["dqeval"],
        "versions": {name: found[name] for name in ("python", "numpy")},
        "kernels": found["kernels"],
    }
