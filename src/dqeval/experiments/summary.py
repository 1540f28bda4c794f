"""One table over all experiments: how many printed numbers are equal here, and how many statements hold."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from dqeval.core.registry import EXPERIMENTS
from dqeval.experiments.outcome import FORMS, OPEN, OURS, PUBLISHED, VERDICTS, write_one_table
from dqeval.render.tables import Table

NAME = "summary"
_HEADER = (
    "experiment",
    "printed numbers",
    "equal as published",
    "equal with dqeval",
    "within mean ± SD as published",
    "statements",
    "hold",
    "open",
    "do not hold",
    "cannot be told",
)


def write_summary(folder: Path) -> list[Path]:
    """Write what the experiments in a folder found, all that were ever written there, as one table."""
    rows = [_row(place) for place in _places(folder)]
    note = (
        "statements hold in 95 % of resamples or more, or with every seed where nothing is resampled; open: in more "
        "than 5 % and less than 95 %, or with some seeds; cannot be told: too few series, or a detector did not run"
    )
    table = Table(_HEADER, rows, note=note)
    (folder / NAME).mkdir(parents=True, exist_ok=True)
    return write_one_table(folder / NAME / NAME, table)


def _places(folder: Path) -> Iterator[Path]:
    """Yield the folders of outcomes, in the order of the experiments."""
    order = list(EXPERIMENTS.names)
    found = [path.parent for path in folder.glob("*/report.md")]

    def rank(place: Path) -> tuple[int, str]:
        first = [i for i, name in enumerate(order) if place.name == name or place.name.startswith(f"{name}-")]
        return (max(first, default=len(order)), place.name)

    yield from sorted(found, key=rank)


def _row(place: Path) -> tuple[str, ...]:
    cells = [cell for cell in _read(place / "cells.csv") if cell["published"]]
    verdicts = Counter(_kind(claim["verdict"]) for claim in _read(place / "claims.csv"))
    by_form = {by: [cell for cell in cells if cell["by"] == by] for by in FORMS}
    printed = max(map(len, by_form.values()))
    inside = [cell["inside"] for cell in by_form[PUBLISHED] if cell["inside"]]
    numbers = [_share(by_form[by], "equal") if by_form[by] else "" for by in (PUBLISHED, OURS)]
    ranged = f"{inside.count('True')} of {len(inside)}" if inside else ""
    counts = [str(verdicts[kind]) if verdicts else "" for kind in (VERDICTS[True], OPEN, VERDICTS[False], "")]
    total = str(verdicts.total()) if verdicts else ""
    return (place.name, str(printed) if printed else "none", *numbers, ranged, total, *counts)


def _read(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _share(cells: Sequence[dict[str, str]], column: str) -> str:
    return f"{sum(cell[column] == 'True' for cell in cells)} of {len(cells)}"


def _kind(verdict: str) -> str:
    """Return which kind a verdict is, of which the share of resamples may follow; nothing if it is none."""
    kinds = (VERDICTS[True], VERDICTS[False], OPEN)
    return next((kind for kind in kinds if verdict.startswith(kind)), "")
