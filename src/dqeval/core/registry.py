"""Metrics, detectors and experiments by name: the command line, the panel, the docs and the common tests use it."""

from __future__ import annotations

import difflib
import inspect
import math
import os
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar

from dqeval.core.arguments import quote
from dqeval.core.entries import Detector, Experiment, FromNear, Metric
from dqeval.core.metric_groups import ALL, GROUP_NAMES, GROUPS
from dqeval.core.types import PARTS, PrecisionRecall

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

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


class PluginWarning(UserWarning):
    """A metric or a detector of somebody's own cannot be used, or only slowly; the others are not affected."""


class Registry(Generic[Entry]):
    """Entries by name, in the order in which they were added.

    Those of dqeval come first: the package that registers them is imported on first use. Those that other packages
    offer come last. They are looked for when an unknown name is requested, or all entries, because that takes a while.
    """

    def __init__(
        self, kind: str, group: str | None = None, *, groups: Mapping[str, Collection[str]] | None = None
    ) -> None:
        self._kind = kind
        # The package of dqeval's own entries, and the group of the entry points by which other packages offer theirs.
        self._group = group
        self._groups = groups or {}  # of entries, by the names that no entry may have
        self._added: dict[str, Entry] = {}
        self._complete = group is None
        self._completing = RLock()  # not a plain lock: a package may look at the registry while it is imported

    def add(self, entry: Entry) -> None:
        """Add an entry; one of the same name may replace it only if it is the same function, defined again."""
        if entry.name in self._groups:
            raise ValueError(f"{entry.name!r} is the name of a group of {self._kind}s: choose another name")
        there = self._entries.get(entry.name)
        if there is not None and not _is_same(there, entry):
            raise ValueError(f"a {self._kind} named {entry.name!r} already exists: choose another name")
        self._entries[entry.name] = entry

    def __getitem__(self, name: str) -> Entry:
        if name not in self:
            raise self.unknown(name)
        return self._entries[name]

    def __contains__(self, name: object) -> bool:
        return name in self._entries or name in self.names

    def unknown(self, name: Any, *, also: Sequence[str] = ()) -> ValueError:
        """Return the error for a name that is not there: it says which may have been meant, also of some groups."""
        if isinstance(name, str) and name in self._groups:
            members = ", ".join(self._groups[name])
            choice = f": {members}; choose one" if members else f"; choose one: dqeval {self._kind}s lists them"
            return ValueError(f"{name!r} is a group of {self._kind}s{choice}")
        known = {entry.label.lower(): entry.name for entry in self} | {each: each for each in (*self.names, *also)}
        close = difflib.get_close_matches(str(name).lower(), known, n=1, cutoff=0.6)
        if close:
            hint = f"did you mean {known[close[0]]!r}?"
        elif also and self._groups:
            hint = f"dqeval {self._kind}s lists those there are; groups of them are {', '.join(also)}"
        else:
            hint = f"choose from {', '.join([*self.names, *also])}"
        return ValueError(f"unknown {self._kind} {quote(name)}; {hint}")

    def choose(self, given: Iterable[str]) -> list[Entry]:
        """Return the requested entries, each once: by name, separated by commas or not, or all of them."""
        names = split_names(given, self._entries)
        if not names:
            raise ValueError(f"name at least one {self._kind}: dqeval {self._kind}s lists them")
        return list(self) if names == [ALL] else [self[name] for name in names]

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._all_entries().values())

    def __len__(self) -> int:
        return len(self._all_entries())

    @property
    def names(self) -> tuple[str, ...]:
        """The names, in the order in which the entries were added."""
        return tuple(self._all_entries())

    def _all_entries(self) -> dict[str, Entry]:
        """Return all entries; those that installed packages offer are looked for once."""
        with self._completing:
            if not self._complete:
                self._complete = True
                for sentence in [trouble for offer in _offers(self._group) if (trouble := self._take(offer))]:
                    warnings.warn(sentence, PluginWarning, stacklevel=2)
        return self._entries

    @property
    def _entries(self) -> dict[str, Entry]:
        """What is there without looking at other packages: dqeval's own entries, whoever asks first, and those added.

        There is no lock of ours: Python has one per module, and two could block each other.
        """
        if self._group is not None:
            import_module(self._group)
        return self._added

    @_entries.setter
    def _entries(self, entries: dict[str, Entry]) -> None:
        self._added = entries

    def _take(self, offer: EntryPoint) -> str:
        """Import what a package offers, which registers it; return what is wrong with it, if anything."""
        both: tuple[Registry[Any], ...] = (METRICS, DETECTORS)
        before = [(registry, dict(registry._entries)) for registry in both]
        imported = False
        try:
            import_module(offer.module)
            imported = True
            found = offer.load()
            if not isinstance(found, ModuleType) and not self._has(found):
                raise TypeError(f"it is not registered: write @dqeval.{self._kind}(…) above it")
        except (Exception, SystemExit) as error:
            for registry, entries in before if not imported else ():
                registry._entries = entries  # a module that failed is left out as a whole
            package = offer.dist.name if offer.dist else "an unknown package"
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            return f"left out the {self._kind} {offer.name!r} ({offer.value}) of the package {package}: {reason}"
        return ""

    def _has(self, function: Any) -> bool:
        return any(getattr(entry, "function", None) is function for entry in self._entries.values())


def _offers(group: str | None) -> list[EntryPoint]:
    """Return what installed packages offer to a registry, sorted, so that no order depends on the machine."""
    # Its import costs more than that of dqeval.
    from importlib.metadata import entry_points

    return sorted(entry_points(group=group or ""), key=lambda offer: (offer.name, offer.value))


def split_names(given: Iterable[str], known: Collection[str]) -> list[str]:
    """Return names that were given one by one or separated by commas, each once; a known name may hold commas itself.

    Examples
    --------
    >>> split_names(["a, b", "c,d", "a"], ["c,d"])
    ['a', 'b', 'c,d']
    """
    pieces = (piece for text in given for piece in ([text] if text in known else text.split(",")))
    return [name for name in dict.fromkeys(piece if piece in known else piece.strip() for piece in pieces) if name]


def _is_same(one: Any, other: Any) -> bool:
    """Return whether two entries have the same function: of one name, in the same module or the same file.

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


METRICS: Registry[Metric] = Registry(
    "metric", "dqeval.metrics", groups={name: GROUPS.get(name, ()) for name in GROUP_NAMES}
)
DETECTORS: Registry[Detector] = Registry("detector", "dqeval.detectors")
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
    label: str | None = None,
    citation: str = "",
    extra: str | None = None,
    univariate: bool = True,
    least: Mapping[str, int] | None = None,
    many: Callable[..., Any] | None = None,
) -> Callable[[Function], Function]:
    """Return a decorator that registers a function as a detector, with its own name, parameters and summary.

    The function takes the values of a series, an array of float, and returns as many scores, the higher, the more
    anomalous. If it has a parameter ``train_stop``, it gets the end of the training part. If it has a parameter
    ``seed``, it runs once with each seed of a benchmark run. The plan of a run may set its other keyword parameters.

    Parameters
    ----------
    label : str, optional
        What tables call the detector; its name if not given.
    citation : str, optional
        Who proposed it, such as "Ren et al. 2019".
    extra : str, optional
        The extra of dqeval's installation that it needs, such as "deep".
    univariate : bool, default True
        Whether it takes series of one column only. Otherwise values of shape (n, columns) are given to it too.
    least : mapping of str to int, optional
        Those parameters that are whole numbers, and the least that each may be: plans are checked by it.
    many : callable, optional
        For a detector that is faster on several series at once: a function of a list of values, a list of what else
        each of them comes with (a mapping with ``train_stop`` and ``seed``, if the detector has them), ``at_once``, how
        many series to work on together, and the parameters. It returns the scores of each; or it yields lists of pairs,
        the number of a series and its scores, as soon as it has some. An exception in place of scores says that this
        series fails, while the others go on. `dqeval.detect_many` calls it, and so do benchmark runs, which store what
        is yielded at once.

    Returns
    -------
    callable
        The decorator, which returns the function as it is.

    Raises
    ------
    ValueError
        If there is another detector of that name.

    Examples
    --------
    >>> import numpy as np
    >>> @dqeval.detector(label="Distance")
    ... def distance(values, *, power=1.0):
    ...     '''Score each point by how far it is from the mean.'''
    ...     return np.abs(values - values.mean()) ** power
    >>> dqeval.detectors.DETECTORS["distance"].summary
    'Score each point by how far it is from the mean.'
    """

    def add(function: Function) -> Function:
        options = inspect.signature(function).parameters
        seed = {"seed": 0} if "seed" in options and options["seed"].default is inspect.Parameter.empty else {}
        DETECTORS.add(
            Detector(
                name=function.__name__,
                label=label or function.__name__,
                function=function,
                trains="train_stop" in options,
                univariate=univariate,
                parameters={o.name: o.default for o in options.values() if o.default is not o.empty} | seed,
                extra=extra,
                summary=(function.__doc__ or "").partition("\n")[0],
                citation=citation,
                least=least or {},
                many=many,
            )
        )
        return function

    return add


def metric(
    *,
    takes: Literal["scores", "detections"],
    label: str | None = None,
    compute: Callable[..., Any] | None = None,
    citation: str = "",
    same_as: str = "",
    cost: float | None = None,
    from_near: Mapping[str, FromNear] | None = None,
    binary_defaults: Mapping[str, Any] | None = None,
    name: str | None = None,
    sweep: int | Literal["all"] = 100,
    at_every_level: Callable[..., Any] | None = None,
    threshold_of: str | None = None,
    joined: Callable[..., Any] | None = None,
    needs_normal: bool = False,
    perfect: float = 1.0,
    by_default: bool = True,
    checks: Mapping[str, Callable[[str, Any], Any]] | None = None,
) -> Callable[[Function], Function]:
    """Return a decorator that registers a function as a metric, with its own name, parameters and summary.

    The function takes labels and scores, or labels and detections, and returns a number, the higher, the better.
    Panels, the command line and benchmark runs then know the metric by its name.

    Parameters
    ----------
    takes : "scores" or "detections"
        What the function takes after the labels. Of a metric of detections, scores get the best over thresholds.
    label : str, optional
        What tables call the metric; its name if not given.
    compute : callable, optional
        The same on validated input: ``Scored`` to a float, or ``Match`` to `PrecisionRecall`; they are in
        ``dqeval.core.prepared`` and ``dqeval.core.matching``. If not given, the function itself is called, with arrays
        of whole numbers for labels and detections, and of floats for scores; then there is no precision and no recall.
    citation : str, optional
        Who proposed it, such as "Huet et al. 2022".
    same_as : str, optional
        Which public code gives the same number.
    cost : float, optional
        Running time for 100,000 scores, as a multiple of scikit-learn's ``roc_auc_score``.
    from_near : mapping of str to FromNear, optional
        How windows and buffers follow from the near range: a ``FromNear`` of ``dqeval.core.entries`` for each.
    binary_defaults : mapping, optional
        The defaults that are others if detections are given.
    name : str, optional
        The name to choose it by, if it is not that of the function.
    sweep : int or "all", default 100
        How many thresholds make detections from scores; "all" for every distinct score.
    at_every_level : callable, optional
        ``Sweep`` of ``dqeval.core.sweep`` to precision and recall at each of many thresholds, from the highest down,
        and to the metric if it is not their harmonic mean, if there is a faster way than one by one.
    threshold_of : str, optional
        The name of another metric of detections. Scores get the metric at the threshold that is best for that one, if
        the best of its own would say nothing.
    joined : callable, optional
        The same for several short series at once, where that is faster: ``Joined`` of ``dqeval.core.joined`` to what
        each of them gets. Parameters that follow from the near range come as tuples, with one for each. Where
        ``Joined.binary`` is true, there are detections in place of scores.
    needs_normal : bool, default False
        Whether the metric is undefined where every point is anomalous. Where none is, every metric is.
    perfect : float, default 1
        What a perfect detector gets.
    by_default : bool, default True
        Whether panels have the metric without being asked for it.
    checks : mapping of str to callable, optional
        For parameters that need checking before ``compute`` gets them: functions of the name and what was given, which
        return what to compute with, or raise `ValueError`. `best_threshold` calls them.

    Returns
    -------
    callable
        The decorator, which returns the function as it is.

    Raises
    ------
    ValueError
        If there is another metric of that name, or a group of metrics.

    Examples
    --------
    >>> @dqeval.metric(takes="detections", label="Hit rate")
    ... def hit_rate(y_true, y_pred):
    ...     '''Share of the anomalous points that are detected.'''
    ...     return y_pred[y_true == 1].mean()
    >>> print(dqeval.panel([0, 1, 1, 0], [0, 1, 0, 0], near=1, metrics=["dqe", "hit_rate"]))
    metric    value  at threshold
    -----------------------------
    DQE       1.000
    Hit rate  0.500
    near 1
    """
    if not (isinstance(takes, str) and takes in ("scores", "detections")):  # type: ignore[redundant-expr]
        raise ValueError(f'takes must be "scores" or "detections": got {takes!r}')

    thresholds = getattr(joined, "sweep", sweep)
    if thresholds != sweep:
        raise ValueError(f"joined is for {thresholds} thresholds, and sweep is {sweep!r}: give both the same number")

    def add(function: Function) -> Function:
        options = inspect.signature(function).parameters.values()
        chosen_here = {"undefined", "near", "period", "values", "scale", "times", "resolution", "max_gap"}
        METRICS.add(
            Metric(
                name=name or function.__name__,
                label=label or name or function.__name__,
                takes=takes,
                function=function,
                compute=compute or _wrap(function, takes),
                defaults={
                    option.name: option.default
                    for option in options
                    if option.default is not option.empty and option.name not in chosen_here
                },
                from_near=from_near or {},
                binary_defaults=binary_defaults or {},
                sweep=sweep,
                at_every_level=at_every_level,
                threshold_of=threshold_of,
                joined=joined,
                needs_normal=needs_normal,
                perfect=perfect,
                by_default=by_default,
                summary=(function.__doc__ or "").partition("\n")[0],
                citation=citation,
                same_as=same_as,
                cost=cost,
                checks=checks or {},
            )
        )
        return function

    return add


def _wrap(function: Callable[..., Any], takes: Literal["scores", "detections"]) -> Callable[..., Any]:
    """Return a metric's public function as a function of validated input, for metrics without ``compute``."""

    def of_scores(scored: Any, **parameters: Any) -> float:
        # Copies: a function that changes what it gets must not change it for the others.
        return _number(function(scored.labels.astype(int), scored.raw.copy(), **parameters))

    def of_detections(match: Any, **parameters: Any) -> PrecisionRecall:
        found = function(match.labelled.labels.astype(int), match.flags.astype(int), **parameters)
        return PrecisionRecall(_number(found), math.nan, math.nan)

    return of_scores if takes == "scores" else of_detections


def _number(found: Any) -> float:
    """Check what a metric returned: NaN would say that it is undefined, but not why."""
    number = float(found)
    if not math.isfinite(number):
        raise ValueError(f"it returned {number}: where it is undefined, raise dqeval.UndefinedError with the reason")
    return number


def label_of(metric: str) -> str:
    """Return what a metric, or a part of DQE, is called in tables; its name if it is not known here."""
    if metric in PARTS:
        return metric.replace("_", " ")
    return METRICS[metric].label if metric in METRICS.names else metric


def summary_of(metric: str) -> str:
    """Return what a metric is, in a sentence; nothing if it is not known here."""
    return METRICS[metric].summary if metric in METRICS.names else ""
