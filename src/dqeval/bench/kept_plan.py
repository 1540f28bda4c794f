"""The plan of the last run in a folder, stored there as JSON: for status, retry and the report."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dqeval.bench.jobs import DETECT, EVALUATE
from dqeval.bench.plan import KEPT_AS, Plan, not_imported, read_content, read_plan, to_json_types, with_modules
from dqeval.bench.results_file import FILE
from dqeval.bench.store import Store
from dqeval.core.registry import METRICS
from dqeval.render.tables import in_words
from dqeval.support.writing import write_text

KEPT = "plan.json"
_BY = "dqeval bench run"
_EARLIER = "plan.toml"  # where plans were kept before, with the shard in the first line
_MARK = "# Kept by dqeval bench run, shard "

Given = Plan | Mapping[str, Any] | str | Path


@dataclass(frozen=True, slots=True)
class Kept:
    """What a run was last started with: where that is written, which shard, and the plan."""

    path: Path
    shard: tuple[int, int]
    plan: Plan


def check_place(folder: Path, plan: Plan) -> None:
    """Check that the folder of a run holds no data, and no file that would be overwritten; a truncated plan may be."""
    data = {file.parent: file.name for series in plan.series for file in series.source.files()}
    inside = next((name for place, name in data.items() if place.resolve() == folder.resolve()), None)
    if inside and not (folder / FILE).exists():  # where a run is already, it can be resumed
        raise ValueError(f"{folder} holds data of the plan, such as {inside}: choose another folder for the run")
    place = folder / KEPT
    if place.exists() and (text := place.read_text(encoding="utf-8", errors="replace").strip()) and _BY not in text:
        raise ValueError(f"{place} is not from a run, and would be overwritten: choose another folder")


def keep(plan: Given, folder: Path, shard: tuple[int, int], modules: tuple[str, ...] = ()) -> None:
    """Store the plan and the shard of a run; a `Plan` object does not say how it was made, and so is not stored."""
    if isinstance(plan, Plan):
        (folder / KEPT).unlink(missing_ok=True)
        return
    content = {"kept_by": _BY, "shard": list(shard), KEPT_AS: with_modules(_with_whole_paths(plan), modules)}
    write_text(folder / KEPT, json.dumps(content, indent=2, ensure_ascii=False) + "\n", may_be_input=True)


def read_kept_plan(folder: Path, *, imports: bool) -> Kept:
    """Return the plan and the shard that a run was last started with.

    Its modules are code, maybe somebody else's: they are imported to run it, and not to look at it.
    """
    path = _place(folder)
    if path is None:
        raise ValueError(f"{folder}: no plan is stored here: merged runs, and runs started from a Plan, have none")
    plan = read_plan(whole_path(path), imports=imports)
    return Kept(path, _shard(path), plan)


def unknown_metrics(folder: Path) -> str:
    """Say which metrics of a run are known by name alone, and which option tells more; nothing if all are known."""
    with Store(folder) as store:
        names = [str(name) for name in store.metrics() if name not in (DETECT, EVALUATE, *METRICS.names)]
    if not names:
        return ""
    options = " ".join(_missing_modules(folder)) or "--module with the file that defines it"
    shown = f"{in_words(names)} {'is' if len(names) == 1 else 'are'} shown by name alone"
    return f"{shown}: no code of a run is imported to look at it; {options} does that"


def _missing_modules(folder: Path) -> list[str]:
    """Return the options for the modules of the plan that are not imported, as far as there is a plan to be read."""
    path = _place(folder)
    with suppress(OSError, ValueError, TypeError, AttributeError):
        content = {} if path is None else read_content(path)
        return not_imported(content.get("modules", ()), content.get("modules_in", ""))
    return []


def _place(folder: Path) -> Path | None:
    """Return the file of the plan that a run has kept."""
    return next((folder / name for name in (KEPT, _EARLIER) if _is_of_a_run(folder / name)), None)


def whole_path(path: str | Path) -> Path:
    """Return a path from the root on; what a link leads to is not looked for."""
    return Path(path).parent.resolve() / Path(path).name


def _is_of_a_run(path: Path) -> bool:
    """Return whether a run kept its plan here; a plan.toml may be the user's own that happens to lie in the folder."""
    if path.name != _EARLIER or not path.exists():
        return path.exists()
    return path.read_text(encoding="utf-8", errors="replace").startswith(_MARK)


def _with_whole_paths(plan: Mapping[str, Any] | str | Path) -> dict[str, Any]:
    """Return what a plan holds; with whole paths, it is the same from wherever one is."""
    content = to_json_types(plan) if isinstance(plan, Mapping) else read_content(plan)
    folder = Path.cwd() if isinstance(plan, Mapping) else whole_path(plan).parent
    if "modules" in content:
        content["modules_in"] = str(folder / content.get("modules_in", "."))
    for entry in (*content.get("data", ()), *content.get("scores", ())):
        if "path" in entry:
            entry["path"] = str(folder / entry["path"])
    return content


def _shard(path: Path) -> tuple[int, int]:
    """Return the shard that the file of a plan says, which is known to hold one."""
    text = path.read_text(encoding="utf-8")
    marked = text.partition("\n")[0].removeprefix(_MARK)
    shard = marked.split("/") if path.name == _EARLIER else json.loads(text).get("shard")
    try:
        part, parts = map(int, shard)
    except (ValueError, TypeError):
        raise ValueError(
            f"{path}: shard must be a part and the number of parts, such as [1, 3]: got {shard!r}"
        ) from None
    return part, parts
