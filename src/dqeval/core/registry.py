"""What there is to choose from, by name: the command line, the panel, the docs and the common tests follow from it."""

from __future__ import annotations

import difflib
import inspect
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeVar

from dqeval.core.types import PARTS

ALL = "all"  # what people write for every entry

Function = TypeVar("Function", bound=Callable[..., Any])


class Named(Protocol):
    """Anything with a name and a label."""

    @property
    def name(self) -> str:
        """The name to choose it by."""
        ...

    @property
    def label(self) -> str:
        """What it is called in tables."""
        ...


Entry = TypeVar("Entry", bound=Named)


class Registry(Generic[Entry]):
    """Entries by name, in the order in which they were added."""

    def __init__(self, kind: str) -> None:
        self._kind = kind
        self._entries: dict[str, Entry] = {}

    def add(self, entry: Entry) -> None:
        """Add an entry; one of the same name may replace it only if it is the same function, defined again."""
        there = self._entries.get(entry.name)
        if there is not None and not _is_same(there, entry):
            raise ValueError(f"there is a {self._kind} called {entry.name!r} already: give the new one another name")
        self._entries[entry.name] = entry

    def __getitem__(self, name: str) -> Entry:
        if name not in self._entries:
            known = {entry.label.lower(): entry.name for entry in self} | {name: name for name in self._entries}
            close = difflib.get_close_matches(str(name).lower(), known, n=1, cutoff=0.6)
            hint = f"did you mean {known[close[0]]!r}?" if close else f"there are {', '.join(self._entries)}"
            raise ValueError(f"there is no {self._kind} called {name!r}: {hint}")
        return self._entries[name]

    def chosen(self, given: Iterable[str]) -> list[Entry]:
        """Return the entries that were asked for, each once: by name, separated by commas or not, or all of them."""
        names = separated(given, self._entries)
        if not names:
            raise ValueError(f"name at least one {self._kind}: dqeval {self._kind}s lists them")
        return list(self) if names == [ALL] else [self[name] for name in names]

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in the order in which the entries were added."""
        return tuple(self._entries)


def separated(given: Iterable[str], known: Collection[str]) -> list[str]:
    """Return names that were given one by one or separated by commas, each once; a known name may hold commas itself.

    Examples
    --------
    >>> separated(["a, b", "c,d", "a"], ["c,d"])
    ['a', 'b', 'c,d']
    """
    pieces = (piece for text in given for piece in ([text] if text in known else text.split(",")))
    return [name for name in dict.fromkeys(piece if piece in known else piece.strip() for piece in pieces) if name]


def _is_same(one: Any, other: Any) -> bool:
    """Tell whether two entries have the same function: of one name, in the same module or the same file.

    A module may be imported again, and a cell of a notebook run again; a script, which is the module ``__main__``, may
    also be a module of a plan.
    """
    a, b = (getattr(entry, "function", None) for entry in (one, other))
    if a is None or b is None:
        return bool(one == other)
    same_place = a.__module__ == b.__module__ or _file(a) == _file(b)
    return bool(same_place and a.__qualname__ == b.__qualname__)


def _file(function: Any) -> str:
    return os.path.abspath(str(inspect.unwrap(function).__code__.co_filename))


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric and all that is said of it.

    Attributes
    ----------
    name, label : str
        The public function's name, and what the paper's tables call the metric.
    takes : "scores" or "detections"
        A metric of detections is a number for scores too: the best over thresholds.
    function : callable
        The public function.
    compute : callable
        The same on validated input: `Scored` to a float (for DQE, to its whole result), or `Match` to
        `PrecisionRecall`.
    defaults : mapping
        The keyword parameters that have a default.
    from_near : mapping
        How the others follow from the near range, for scores and for detections.
    binary_defaults : mapping
        The defaults that are others for detections.
    sweep : int or "all"
        The thresholds that are tried to make detections from scores.
    at_every_score : callable, optional
        `Scored` to the metric's precision and recall at every distinct score, where that is faster than one by one.
    needs_normal : bool
        Whether the metric is undefined also where every point is anomalous.
    summary, citation, same_as : str
        What it is in a sentence, who proposed it, and which public package gives the same number.
    cost : float
        How long it takes with compiled kernels for 100,000 scores, as a multiple of scikit-learn's ``roc_auc_score``:
        docs/performance.md.
    higher_is_better : bool
    """

    name: str
    label: str
    takes: Literal["scores", "detections"]
    function: Callable[..., float]
    compute: Callable[..., Any]
    defaults: Mapping[str, Any]
    from_near: Mapping[str, FromNear]
    binary_defaults: Mapping[str, Any]
    sweep: int | Literal["all"]
    at_every_score: Callable[..., Any] | None
    needs_normal: bool
    summary: str
    citation: str
    same_as: str
    cost: float
    higher_is_better: bool = True

    @property
    def signature(self) -> str:
        """The parameters, with their defaults or where they come from, in words."""
        given = [f"{name}: {rule.words}" for name, rule in self.from_near.items()]
        return "; ".join(given + [f"{name}: {value}" for name, value in self.defaults.items()])

    def parameters(self, near: float, *, binary: bool) -> dict[str, Any]:
        """Return the parameters that the paper uses with this near range, for scores or for detections."""
        chosen = {**self.defaults, **(self.binary_defaults if binary else {})}
        for name, rule in self.from_near.items():
            chosen[name] = rule.detections(near) if binary else rule.scores(near)
        return chosen


@dataclass(frozen=True, slots=True)
class FromNear:
    """How a parameter follows from the near range: for scores, and for detections; with it in words."""

    scores: Callable[[float], Any]
    detections: Callable[[float], Any]
    words: str


@dataclass(frozen=True, slots=True)
class Detector:
    """A detector and all that is said of it.

    Attributes
    ----------
    name, label : str
        The public function's name, and what the paper's tables call the detector.
    function : callable
        ``(values, *, ...) -> scores``, as many as there are values, the higher, the more anomalous; it sees no labels.
    trains : bool
        Whether it learns from the points before ``train_stop``, which it then needs.
    univariate : bool
        Whether it takes series of a single column only.
    parameters : mapping
        The keyword parameters that have a default.
    least : mapping of str to int
        Those that are whole numbers, and the least that they may be.
    extra : str or None
        The extra of the installation that it needs.
    summary, citation : str
        What it is in a sentence, and who proposed it.
    """

    name: str
    label: str
    function: Callable[..., Any]
    trains: bool
    univariate: bool
    parameters: Mapping[str, Any]
    extra: str | None
    summary: str
    citation: str
    least: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment of the paper.

    Attributes
    ----------
    name, label : str
        The name to choose it by, and its title.
    function : callable
        `Setting` to the outcomes, one after the other.
    published : str
        What it is the counterpart of in the paper.
    cases : tuple of str
        The cases that can be chosen from, if there are several.
    summary : str
        What it does, in a sentence.
    """

    name: str
    label: str
    function: Callable[..., Any]
    published: str
    cases: tuple[str, ...]
    summary: str


METRICS: Registry[Metric] = Registry("metric")
DETECTORS: Registry[Detector] = Registry("detector")
EXPERIMENTS: Registry[Experiment] = Registry("experiment")


def experiment(*, name: str, label: str, published: str, cases: tuple[str, ...] = ()) -> Callable[[Function], Function]:
    """Return a decorator that registers a function as an experiment of the paper, with its summary."""

    def add(function: Function) -> Function:
        summary = (function.__doc__ or "").partition("\n")[0]
        EXPERIMENTS.add(Experiment(name, label, function, published, cases, summary))
        return function

    return add


def detector(
    *,
    label: str,
    citation: str,
    extra: str | None = None,
    univariate: bool = True,
    least: Mapping[str, int] | None = None,
) -> Callable[[Function], Function]:
    """Return a decorator that registers a public function as a detector, with its own name, parameters and summary."""

    def add(function: Function) -> Function:
        options = inspect.signature(function).parameters
        DETECTORS.add(
            Detector(
                name=function.__name__,
                label=label,
                function=function,
                trains="train_stop" in options,
                univariate=univariate,
                parameters={o.name: o.default for o in options.values() if o.default is not o.empty},
                extra=extra,
                summary=(function.__doc__ or "").partition("\n")[0],
                citation=citation,
                least=least or {},
            )
        )
        return function

    return add


def metric(
    *,
    label: str,
    takes: Literal["scores", "detections"],
    compute: Callable[..., Any],
    citation: str,
    same_as: str,
    cost: float,
    from_near: Mapping[str, FromNear] | None = None,
    binary_defaults: Mapping[str, Any] | None = None,
    name: str | None = None,
    sweep: int | Literal["all"] = 100,
    at_every_score: Callable[..., Any] | None = None,
    needs_normal: bool = False,
) -> Callable[[Function], Function]:
    """Return a decorator that registers a public function as a metric, with its own name, parameters and summary."""

    def add(function: Function) -> Function:
        options = inspect.signature(function).parameters.values()
        chosen_here = {"undefined", "near", "period", "values", "scale"}
        METRICS.add(
            Metric(
                name=name or function.__name__,
                label=label,
                takes=takes,
                function=function,
                compute=compute,
                defaults={
                    option.name: option.default
                    for option in options
                    if option.default is not option.empty and option.name not in chosen_here
                },
                from_near=from_near or {},
                binary_defaults=binary_defaults or {},
                sweep=sweep,
                at_every_score=at_every_score,
                needs_normal=needs_normal,
                summary=(function.__doc__ or "").partition("\n")[0],
                citation=citation,
                same_as=same_as,
                cost=cost,
            )
        )
        return function

    return add


def label_of(metric: str) -> str:
    """Return what a metric, or a part of DQE, is called in tables; its name if it is not known here."""
    if metric in PARTS:
        return metric.replace("_", " ")
    return METRICS[metric].label if metric in METRICS.names else metric
