"""Whether a run that was made elsewhere, such as on a GPU, gives the same here: a few series are run again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from dqeval.bench.results_file import FILE
from dqeval.core.registry import experiment, label_of
from dqeval.experiments.detector_runs import QUICK_SUBSET, DetectorRun, Runs, run_on_datasets
from dqeval.experiments.outcome import Cell, Outcome
from dqeval.experiments.setting import Setting
from dqeval.render.tables import Table, count_of

NAME = "check"
_SAME = 1e-9  # of a metric: what is closer is rounding


@dataclass(frozen=True, slots=True)
class Off:
    """How far the numbers of a detector are off, over all series and metrics.

    Attributes
    ----------
    numbers, same : int
        How many there are, and how many are the same.
    mean, most, dqe : float
        The mean difference, the largest one, and the largest of DQE.
    metric : str
        That of the largest difference.
    """

    numbers: int
    same: int
    mean: float
    most: float
    metric: str
    dqe: float


@experiment(name=NAME, label="A run, checked on a few series", published="a run in the output folder")
def check(setting: Setting) -> Iterator[Outcome]:
    """Run the detectors again on a few series, with the first seed, and say how far the numbers are off the run's."""
    if not (setting.folder / "runs" / FILE).exists():
        raise ValueError(f"{setting.folder}: there is no run here to check; dqeval reproduce rankings makes one")
    few = replace(setting, subset=QUICK_SUBSET if setting.subset is None else setting.subset, seeds=1)
    _, again, notes = run_on_datasets(replace(few, folder=setting.folder / NAME))
    before = replace(again, folder=setting.folder / "runs")
    found = differences(before, again)
    if not found:
        raise ValueError(
            f"{setting.folder}: the run has no number of these series: name the --data that it was made with"
        )
    yield outcome(found, [*notes, lacking_sentence(before, again)])


def lacking_sentence(before: Runs, again: Runs) -> str:
    """Say how many numbers only one of two runs has; nothing if there are none."""
    pairs = [(before.value(of, metric), again.value(of, metric)) for of in _each(again) for metric in again.metrics]
    count = sum((then is None) != (now is None) for then, now in pairs)
    return f"Not compared: {count_of(count, 'number')} that only one of the runs has." if count else ""


def _each(runs: Runs) -> Iterable[DetectorRun]:
    """Return what there is to compare: what is the same in both forms counts once."""
    return {(each.name, each.label): each for each in runs.every_run()}.values()


def differences(before: Runs, again: Runs) -> dict[str, Off]:
    """Return how far the numbers of two runs are apart, by what they call the detector."""
    found: dict[str, list[tuple[float, str]]] = {}
    for of in _each(again):
        for metric in again.metrics:
            then, now = before.value(of, metric), again.value(of, metric)
            if then is not None and now is not None:
                found.setdefault(of.label, []).append((abs(then - now), metric))
    return {label: _off(pairs) for label, pairs in found.items()}


def _off(pairs: list[tuple[float, str]]) -> Off:
    sizes = [size for size, _ in pairs]
    most, metric = max(pairs)
    of_dqe = max((size for size, name in pairs if name == "dqe"), default=float("nan"))
    return Off(len(sizes), sum(size <= _SAME for size in sizes), float(np.mean(sizes)), most, metric, of_dqe)


def outcome(found: Mapping[str, Off], notes: list[str]) -> Outcome:
    """Return the differences as a table."""
    rows = [
        (
            label,
            f"{off.same:,} of {off.numbers:,}",
            f"{off.mean:.4f}",
            f"{off.most:.4f} ({label_of(off.metric)})",
            f"{off.dqe:.4f}",
        )
        for label, off in found.items()
    ]
    header = ("detector", "numbers that are the same", "mean difference", "largest difference", "of DQE")
    cells = [
        Cell(NAME, "differences", label, what, value)
        for label, off in found.items()
        for what, value in (("mean", off.mean), ("largest", off.most), ("largest of DQE", off.dqe))
    ]
    why = (
        "Networks are trained in another order of additions on a GPU, or with another number of threads, so that a "
        "seed gives other weights there; detectors without a network give the same everywhere, but for rounding."
    )
    table = Table(header, rows)
    title = "The run beside what this machine computes"
    return Outcome(NAME, title, {"Differences": table}, cells, [], [note for note in (*notes, why) if note])
