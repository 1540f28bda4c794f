"""How an experiment is to be run: with which data, where, and how much of it; and where the real series are found."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dqeval.datasets.loading import Source, sources, stem

ARCHIVE = "https://www.thedatum.org/datasets/TSB-AD-U.zip"
# How many series of each dataset the paper uses.
PAPER_COUNTS = {"WSD": 111, "UCR": 228}
_CODED = re.compile(r"\d+_([A-Za-z]+)_id_\d+_.*_tr_\d+_1st_\d+")


@dataclass(frozen=True, slots=True)
class Setting:
    """How an experiment is to be run.

    Attributes
    ----------
    data : Path or None
        The folder of the real series; without it, experiments run what they can without.
    folder : Path
        Where detector runs are kept, so that they are not done twice.
    case : str or None
        Which of several cases; all if not given.
    subset : int or None
        How many series of each dataset, sampled; all if not given.
    seed : int
        Of the sample, of noise, and the first one of detectors.
    seeds : int
        With how many seeds, from the first one on, detectors run that draw random numbers.
    quick : bool
        Whether to run a small case that takes minutes.
    workers : int
        How many processes; 0 to work in this one.
    scheduler : str or None
        The address of a Dask scheduler that does the work instead.
    progress : callable
        Told what is being done, and how far it is: a sentence.
    """

    folder: Path
    data: Path | None = None
    case: str | None = None
    subset: int | None = None
    seed: int = 0
    seeds: int = 1
    quick: bool = False
    workers: int = 0
    scheduler: str | None = None
    progress: Callable[[str], None] = lambda sentence: None

    @property
    def detector_seeds(self) -> tuple[int, ...]:
        """The seeds of detectors that draw random numbers."""
        return tuple(range(self.seed, self.seed + self.seeds))


class NoDataError(ValueError):
    """Real series that are needed are not there: says what to fetch."""


def find_series(data: Path | None, dataset: str) -> list[Source]:
    """Return where the series of a dataset are, by name.

    Parameters
    ----------
    data : Path or None
        A folder with the CSV files of TSB-AD, in it or in folders below, or with an npz pack for each dataset.
    dataset : str
        Such as "WSD".
    """
    if data is None:
        raise NoDataError(f"the {dataset} series are needed: unpack {ARCHIVE}, and name the folder with --data")
    data.stat()  # raises if there is nothing
    place = data.resolve()  # what was run is told by its path, wherever it is started from
    packs = [path for path in sorted(place.rglob("*.npz")) if path.stem.lower() == dataset.lower()]
    tables = [path for path in sorted(place.rglob("*.csv")) if _dataset(stem(path)) == dataset]
    found = [source for path in packs + tables for source in sources(path) if _dataset(source.name) == dataset]
    if not found:
        raise NoDataError(
            f"{data}: there are no {dataset} series here, that is CSV files named as in TSB-AD "
            f"(such as 001_{dataset}_id_0_…_tr_500_1st_600.csv); they are in {ARCHIVE}"
        )
    # A series may lie there twice, in a pack and as a file.
    return sorted({source.name: source for source in found}.values(), key=lambda source: source.name)


def find_numbered(data: Path | None, dataset: str, number: int) -> Source:
    """Return where one series of a dataset is, by the number that its name starts with."""
    for source in find_series(data, dataset):
        if int(source.name.partition("_")[0]) == number:
            return source
    raise NoDataError(f"{data}: the {dataset} series number {number:03d} is not here; it is in {ARCHIVE}")


def draw_sample(found: list[Source], subset: int | None, seed: int) -> list[Source]:
    """Return a sample of series, by name; a larger one with the same seed holds a smaller one.

    Examples
    --------
    >>> every = [Source(Path("x.npz"), "pack", f"{i}") for i in range(9)]
    >>> [source.name for source in draw_sample(every, 3, seed=0)]
    ['2', '4', '5']
    """
    if subset is None or subset >= len(found):
        return found
    chosen = np.random.default_rng(seed).permutation(len(found))[:subset]
    return [found[i] for i in sorted(chosen)]


def _dataset(name: str) -> str | None:
    coded = _CODED.fullmatch(name)
    return coded.group(1) if coded else None
