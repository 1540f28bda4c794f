"""The plan of a benchmark run: series, detectors, metrics, read from a file and checked before any work starts."""

from __future__ import annotations

import inspect
import json
import os
import shlex
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dqeval.bench.bounds import BOUNDS
from dqeval.bench.pool import Limits
from dqeval.core import arguments, validate
from dqeval.core.metric_choice import chosen_metrics
from dqeval.core.prepared import PARTS_OF_SERIES
from dqeval.core.registry import DETECTORS
from dqeval.core.types import Series
from dqeval.datasets import synthetic
from dqeval.datasets.arrays import npz_names
from dqeval.datasets.columns import find_roles
from dqeval.datasets.files import NPZ, column_names
from dqeval.datasets.generator import MOST_SEED, check_synthetic
from dqeval.datasets.loading import Source, sources
from dqeval.detectors.parameters import check_parameters
from dqeval.support.modules import import_all
from dqeval.support.writing import note_input

KEYS = (
    "metrics",
    "seeds",
    "near",
    "part",
    "period",
    "timeout",
    "memory",
    "bounds",
    "modules",
    "modules_in",
    "data",
    "detector",
    "scores",
)

TABLES = ("data", "detector", "scores")
NAMES = ("metrics", "modules")  # lists of text
KEPT_AS = "plan"  # the key under which the folder of a run keeps a plan, as JSON
GENERATORS = {"synthetic": synthetic}
CHECKS = {"synthetic": check_synthetic}  # of the parameters of each, without generating anything
RESERVED = ("", "*", *BOUNDS)  # what the results call the detectors of files of scores, and what are no detectors
MOST_SERIES = 1_000_000  # to generate for one [[data]]
MOST_SECONDS = 10**9
MOST_MEGABYTES = 10**12
_LARGEST = 2**63 - 1  # what SQLite can hold
NO_PERIOD = "without one column of finite values the period cannot be estimated: give near or period in the plan"


@dataclass(frozen=True, slots=True)
class Generated:
    """A series that is generated where it is needed.

    Attributes
    ----------
    name : str
    generator : str
    parameters : tuple of (str, value)
    """

    name: str
    generator: str
    parameters: tuple[tuple[str, Any], ...]

    def files(self) -> list[Path]:
        """Return nothing: it is read from no file."""
        return []

    def read(self) -> Series:
        """Generate the series."""
        made = GENERATORS[self.generator](**dict(self.parameters))
        return Series(self.name, made.labels, {}, made.values, made.train_stop, made.period)


@dataclass(frozen=True, slots=True)
class PlannedSeries:
    """A series of the plan: which dataset it belongs to, and where it comes from; with scores, if they are there."""

    dataset: str
    source: Source | Generated
    scored: bool = False


@dataclass(frozen=True, slots=True)
class PlannedDetector:
    """A detector of the plan: what it is called in the results, which one it is, and its parameters."""

    label: str
    name: str
    parameters: tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a benchmark run.

    Attributes
    ----------
    metrics : tuple of str
    seeds : tuple of int
        Each detector that takes a seed runs once with each.
    near : float, str or None
        In points, or in event lengths such as "2ev".
    period : float or None
        As in `dqeval.evaluate`; if neither is given, the period of each series is estimated.
    part : "all" or "test"
        Which part of each series is evaluated; detectors get the whole.
    limits : Limits
    modules : tuple of str
        What is imported before anything else, in every process, modules or files: there, people register metrics and
        detectors of their own.
    series : tuple of PlannedSeries
    detectors : tuple of PlannedDetector
    modules_in : str
        The folder where modules are looked for, after all other places.
    bounds : bool
        Whether the labels themselves, and constant scores, are evaluated too.
    """

    metrics: tuple[str, ...]
    seeds: tuple[int, ...]
    near: float | str | None
    period: float | None
    limits: Limits
    modules: tuple[str, ...]
    series: tuple[PlannedSeries, ...]
    detectors: tuple[PlannedDetector, ...]
    modules_in: str = ""
    bounds: bool = False
    part: str = "all"


def read_plan(path: str | Path, *, modules: Iterable[str] = (), imports: bool = True) -> Plan:
    """Read a plan from a TOML file, or one that a run keeps as JSON; paths in it are relative to the file.

    Parameters
    ----------
    path : str or Path
        The file: JSON if it ends with .json, and otherwise TOML.
    modules : iterable of str, optional
        Modules, or Python files, to import first, beside those of the plan: for metrics and detectors of one's own.
    imports : bool, default True
        Whether to import these modules, which runs their code. Otherwise it is an error if one is not imported already.

    Returns
    -------
    Plan
        Checked: what is wrong in the file is a ``ValueError`` that names it.

    Examples
    --------
    >>> from pathlib import Path
    >>> text = '''
    ... metrics = ["dqe", "auc_roc"]
    ... [[data]]
    ... generator = "synthetic"
    ... count = 3
    ... [[detector]]
    ... name = "fft"
    ... '''
    >>> _ = Path("plan.toml").write_text(text)
    >>> plan = dqeval.bench.read_plan("plan.toml")
    >>> plan.metrics, len(plan.series), [detector.name for detector in plan.detectors]
    (('dqe', 'auc_roc'), 3, ['fft'])
    """
    path = Path(path)
    content = with_modules(read_content(path), tuple(modules))
    try:
        return make_plan(content, folder=path.parent, imports=imports)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None


def read_content(path: str | Path) -> dict[str, Any]:
    """Return what the file of a plan holds, not yet checked."""
    path = Path(path)
    note_input(path)
    kind, parse = ("JSON", _read_kept) if path.suffix.lower() == ".json" else ("TOML", tomllib.loads)
    try:
        return parse(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path}: this is not a plan in {kind}: {error}") from None


def _read_kept(text: str) -> dict[str, Any]:
    content = json.loads(text)
    found = content.get(KEPT_AS, content) if isinstance(content, dict) else content
    if not isinstance(found, dict):
        raise ValueError(f"it must have keys and values: got {found!r}")
    return found


def make_plan(content: Mapping[str, Any], *, folder: Path | None = None, imports: bool = True) -> Plan:
    """Return a plan from what a file holds, checked.

    Parameters
    ----------
    content : mapping
        The keys ``metrics``, ``seeds``, ``near``, ``period``, ``part`` (of each series: "all" or "test"), ``timeout``
        (seconds per job), ``memory`` (megabytes per job), ``bounds`` (whether to evaluate the perfect and the silent
        detector too), ``modules`` (modules or files to import, for metrics and detectors of one's own), ``modules_in``
        (the folder to look for them in), and the lists ``data``, ``detector`` and ``scores``. Only data and detectors,
        or scores, are required.
    folder : Path, optional
        What paths are relative to; the current folder if not given.
    imports : bool, default True
        Whether to import these modules, which runs their code. Otherwise it is an error if one is not imported already.

    Returns
    -------
    Plan

    Examples
    --------
    >>> data = [{"generator": "synthetic", "count": 3}]
    >>> plan = dqeval.bench.make_plan({"metrics": ["dqe"], "data": data, "detector": [{"name": "fft"}]})
    >>> len(plan.series), plan.seeds
    (3, (0,))
    """
    content = to_json_types(content)
    if isinstance(content.get("metrics"), str):
        content = {**content, "metrics": [content["metrics"]]}
    arguments.known_names(content, KEYS, "the plan")
    for key in ("metrics", "seeds", "modules", *TABLES):
        _check_list(content, key)
    arguments.at_most_one(near=content.get("near"), period=content.get("period"))
    folder = folder or Path()
    modules_in = str((folder / _folder_name(content)).resolve())
    if imports:
        import_modules(content.get("modules", ()), modules_in)
    elif missing := not_imported(content.get("modules", ()), modules_in):
        advice = f"if you trust that code, add {' '.join(missing)}"
        raise ValueError(f"the plan has modules of its own, which are imported to run it, not to look at it; {advice}")
    series = [*_every(content, "data", folder), *_every(content, "scores", folder)]
    detectors = [_detector(entry) for entry in content.get("detector", ())]
    # Scores of one's own may be those of a series that detectors work on too.
    for scored in (False, True):
        _no_series_twice([each.source for each in series if each.scored is scored])
    _no_detector_twice([each.label for each in detectors])
    if not series:
        raise ValueError("there is nothing to do: the plan needs [[data]] and [[detector]], or [[scores]]")
    if any(not each.scored for each in series) and not detectors:
        raise ValueError("there is data but no detector: add a [[detector]], or give [[scores]] instead of [[data]]")
    return Plan(
        metrics=tuple(chosen_metrics(content.get("metrics"))),
        seeds=tuple(_whole("a seed", seed, 0, _LARGEST) for seed in content.get("seeds", [0])),
        near=None if "near" not in content else validate.near(content["near"]),
        period=None if "period" not in content else validate.period(content["period"]),
        limits=_limits(content),
        modules=tuple(content.get("modules", ())),
        series=tuple(series),
        detectors=tuple(detectors),
        modules_in=modules_in,
        bounds=_true_or_false("bounds", content.get("bounds", False)),
        part=arguments.one_of("part", content.get("part", "all"), PARTS_OF_SERIES),
    )


def with_modules(content: dict[str, Any], modules: tuple[str, ...]) -> dict[str, Any]:
    """Return what a plan holds, with some more modules to import."""
    there = content.get("modules", [])
    if not modules or not isinstance(there, list):  # what is no list is refused where plans are checked
        return content
    return {**content, "modules": [*there, *(module for module in modules if module not in there)]}


def to_json_types(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a plan holds as JSON has it: text, numbers, true and false, lists, tables."""
    return {_check_text("a key", key): _plain(key, value) for key, value in given.items()}


def _plain(where: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return {_check_text(where, key): _plain(f"{where}.{key}", inner) for key, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes, bytearray)):
        return [_plain(where, inner) for inner in value]
    value = value.item() if isinstance(value, np.generic) else str(value) if isinstance(value, Path) else value
    if isinstance(value, str):
        return _check_text(where, value)
    if isinstance(value, int) and abs(value) > _LARGEST:
        raise ValueError(f"{where} is too large: whole numbers go up to {_LARGEST:,}")
    if value is None or isinstance(value, (bool, int, float)):
        return value
    raise ValueError(f"{where} must be text, a number, true or false, a list or a table: got {value!r}")


def _check_text(where: str, text: Any) -> str:
    """Check that something is text that can be written to a file."""
    if not isinstance(text, str):
        raise ValueError(f"{where} must be text: got {text!r}")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{where} holds a character that cannot be written: {text!r}") from None
    return text


def _check_list(content: Mapping[str, Any], key: str) -> None:
    given = content.get(key, [])
    tables = key in TABLES
    if not isinstance(given, Sequence) or isinstance(given, str):
        how = f"write [[{key}]]" if tables else f"write {key} = […]"
        raise ValueError(f"{key} must be a list: got {given!r}; {how}")
    if not tables and key in content and (not given or len(set(map(str, given))) < len(given)):
        raise ValueError(f"{key} must have at least one entry, and no entry twice: got {given!r}")
    if tables and not all(isinstance(entry, Mapping) for entry in given):
        raise ValueError(f"each [[{key}]] must be a table of keys and values: got {given!r}")
    if key in NAMES and not all(isinstance(name, str) for name in given):
        raise ValueError(f"{key} must hold names: got {given!r}")


def _folder_name(content: Mapping[str, Any]) -> str:
    given = content.get("modules_in", ".")
    if not isinstance(given, str):
        raise ValueError(f"modules_in must be the name of a folder: got {given!r}")
    return given


def import_modules(modules: Iterable[str], folder: str) -> None:
    """Import the modules of a plan, for what they register."""
    import_all(modules, folder, called="the module {} of the plan", hint="put it beside the plan, or install it")


def not_imported(modules: Iterable[str], folder: str) -> list[str]:
    """Return the options that would import those modules of a plan that are not imported."""
    missing = []
    for module in modules:
        name, file = (Path(module).stem, module) if module.endswith(".py") else (module, f"{module}.py")
        if name not in sys.modules:
            path = Path(folder, file)
            missing.append(f"--module {shlex.quote(str(path) if path.is_file() else module)}")
    return missing


def _true_or_false(key: str, given: Any) -> bool:
    if not isinstance(given, bool):
        raise ValueError(f"{key} must be true or false: got {given!r}")
    return given


def _limits(content: Mapping[str, Any]) -> Limits:
    seconds, megabytes = content.get("timeout"), content.get("memory")
    return Limits(
        None if seconds is None else float(_whole("timeout", seconds, 1, MOST_SECONDS)),
        None if megabytes is None else _whole("memory", megabytes, 1, MOST_MEGABYTES),
    )


def _whole(name: str, given: Any, least: int, most: int) -> int:
    number = arguments.whole_number(name, given, least=least)
    if number > most:
        raise ValueError(f"{name} must be at most {most:,}: got {number:,}")
    return number


def _text(entry: Mapping[str, Any], key: str, default: str, what: str) -> str:
    """Return the text that an entry has under a key; it may be left out, but not be anything else."""
    given = entry.get(key, default)
    if not isinstance(given, str):
        raise ValueError(f"the {key} of {what} must be text: got {given!r}")
    return given


def _every(content: Mapping[str, Any], kind: str, folder: Path) -> Iterator[PlannedSeries]:
    for entry in content.get(kind, ()):
        if kind == "data" and "generator" in entry:
            yield from _generated_series(entry)
            continue
        if "series" in entry:
            advice = "write a file for each series first, such as with dqeval detect --series"
            raise ValueError(f"[[{kind}]] has series, but a plan does not split tables: {advice}")
        arguments.known_names(entry, ("path", "format", "name"), f"[[{kind}]]")
        if not isinstance(entry.get("path"), str):
            raise ValueError(f"[[{kind}]] needs a path{' or a generator' if kind == 'data' else ''}")
        path, name = folder / entry["path"], _text(entry, "name", "", f"[[{kind}]]")
        for source in sources(path, _text(entry, "format", "auto", f"[[{kind}]]")):
            _check(source, need_scores=kind == "scores", need_values=not content.keys() & {"near", "period"})
            yield PlannedSeries(name or _dataset(source), source, scored=kind == "scores")


def _check(source: Source, *, need_scores: bool, need_values: bool) -> None:
    """Check a file as far as possible without reading all of it."""
    if not os.access(source.path, os.R_OK):
        raise ValueError(f"{source.path}: no permission to read this file")
    if source.path.suffix.lower() == NPZ and not npz_names(source.path):
        raise ValueError(f"{source.path}: no array can be read here: is this an npz file, as numpy.savez writes?")
    if source.format == "table" and (names := column_names(source.path)):
        try:
            roles = find_roles(names, need_scores=need_scores)
            if need_scores and need_values and roles.value is None:
                raise ValueError(NO_PERIOD)
        except ValueError as error:
            raise ValueError(f"{source.path}: {error}") from None


def _dataset(source: Source) -> str:
    """Return the dataset of a series: in its name, as the TSB-AD benchmark has it, or the folder it lies in."""
    coded = source.name.split("_")
    return coded[1] if len(coded) > 2 and coded[0].isdigit() else source.path.resolve().parent.name


def _generated_series(entry: Mapping[str, Any]) -> Iterator[PlannedSeries]:
    given = {key: value for key, value in entry.items() if key not in ("generator", "count", "name")}
    generator = _text(entry, "generator", "", "[[data]]")
    if generator not in GENERATORS:
        raise ValueError(f"unknown generator {generator!r}; choose from {', '.join(GENERATORS)}")
    arguments.known_names(given, [*inspect.signature(GENERATORS[generator]).parameters], f"the generator {generator}")
    count, name = _whole("count", entry.get("count", 1), 1, MOST_SERIES), _text(entry, "name", generator, "[[data]]")
    first = _whole("seed", given.pop("seed", 0), 0, MOST_SEED + 1 - count)
    try:
        CHECKS[generator](**given)
    except ValueError as error:
        raise ValueError(f"the generator {generator}: {error}") from None
    for i in range(count):
        parameters = tuple(sorted({**_hashable(given), "seed": first + i}.items()))
        yield PlannedSeries(name, Generated(f"{name}_{first + i}", generator, parameters))


def _detector(entry: Mapping[str, Any]) -> PlannedDetector:
    if "name" not in entry:
        raise ValueError("[[detector]] needs a name: dqeval detectors lists them")
    detector = DETECTORS[_text(entry, "name", "", "[[detector]]")]
    label = _text(entry, "label", detector.name, f"the detector {detector.name}")
    if label in RESERVED:
        raise ValueError(f"the label of the detector {detector.name} may not be {label!r}: choose another name")
    parameters = {key: value for key, value in entry.items() if key not in ("name", "label")}
    if "seed" in parameters and "seed" in detector.parameters:
        raise ValueError(
            f"set seeds for the whole plan, not for the detector {detector.name}: seeds = [{entry['seed']}]"
        )
    if "seed" in parameters:
        raise ValueError(f"the detector {detector.name} takes no seed, as it draws no random numbers: leave seed out")
    check_parameters(detector, parameters)
    return PlannedDetector(label, detector.name, tuple(sorted(_hashable(parameters).items())))


def _hashable(parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in parameters.items()}


def _no_series_twice(found: Iterable[Source | Generated]) -> None:
    seen: dict[str, Source | Generated] = {}
    for source in found:
        first = seen.setdefault(source.name, source)
        if first is not source:
            raise ValueError(
                f"two series are called {source.name!r}, which is their name in the results: {_origin(first)} and "
                f"{_origin(source)}; rename a file, leave one out, or give generated series another name"
            )


def _origin(source: Source | Generated) -> str:
    return f"the generator {source.generator}" if isinstance(source, Generated) else str(source.path)


def _no_detector_twice(labels: Iterable[str]) -> None:
    for label, count in Counter(labels).items():
        if count > 1:
            raise ValueError(f"two detectors are called {label!r} in the results: give each one a label of its own")
