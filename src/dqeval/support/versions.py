"""What results are made with, told by the process that makes them."""

from __future__ import annotations

import hashlib
import json
import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path

import numpy as np

from dqeval import kernels

NOBODY = "{}"  # of a job that nobody came to do: its worker was lost


def made_with() -> dict[str, str]:
    """Return what numbers follow from besides their input: versions, and the form of the kernels."""
    return {
        "dqeval": version("dqeval"),
        "kernels": "compiled" if kernels.compiled else "interpreted",
        "numpy": np.__version__,
        "python": platform.python_version(),
    }


@cache
def versions() -> str:
    """Return what this process works with, with a digest of its code, as JSON."""
    return json.dumps({**made_with(), "code": source_digest(Path(__file__).parents[1])})


def source_digest(package: Path) -> str:
    """Return a digest of the source of a package: the number of a version stays while it is worked on."""
    digest = hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def difference(theirs: str, ours: str) -> str:
    """Say in words how versions there differ from those here."""
    there, here = json.loads(theirs), json.loads(ours)
    differing = (what for what in here if there.get(what) != here[what])
    return ", ".join(f"{what} {there.get(what)} there and {here[what]} here" for what in differing)
