"""Work on many series that is not lost: what was computed is stored, and a stopped run can be resumed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from dqeval.bench.executors import crew_for, work_off
from dqeval.bench.pool import Limits
from dqeval.experiments.setting import Setting
from dqeval.support.writing import write_text


def compute_all(
    path: Path, tasks: Mapping[str, Any], function: Callable[[Any], Any], setting: Setting, what: str
) -> dict[str, Any]:
    """Return what a function gives for each task, by the key of the task.

    Parameters
    ----------
    path : Path
        A file of JSON lines that stores the results; those in it are not computed again.
    tasks : mapping of str to anything
        By a key that holds all that the result follows from.
    function : callable
        Of one task; returns what JSON can hold. Processes find it by its name.
    setting : Setting
    what : str
        What is being computed, for the progress.
    """
    kept = _read(path)
    left = ((key, task) for key, task in tasks.items() if key not in kept)
    done = sum(key in kept for key in tasks)
    path.parent.mkdir(parents=True, exist_ok=True)
    with crew_for(setting.workers, setting.scheduler, Limits()) as crew, path.open("a", encoding="utf-8") as file:

        def start() -> tuple[Future[Any], str] | None:
            key, task = next(left, ("", None))
            return (crew.submit(function, task), key) if key else None

        for ended in work_off(crew, start):
            for key, future in ended:
                kept[key] = future.result()
                file.write(json.dumps([key, kept[key]]) + "\n")
                file.flush()
                done += 1
                setting.progress(f"{what}: {done:,} of {len(tasks):,}")
    return {key: kept[key] for key in tasks}


def _read(path: Path) -> dict[str, Any]:
    """Return what is kept; a last line that was cut short when a run was killed is done again."""
    if not path.exists():
        return {}
    text = path.read_text(encoding="utf-8")
    whole = text[: text.rfind("\n") + 1]
    if whole != text:
        write_text(path, whole)
    return dict(json.loads(line) for line in whole.splitlines())
