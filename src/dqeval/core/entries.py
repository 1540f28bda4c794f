"""What is known of a metric, a detector and an experiment: the entries of the registries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class FromNear:
    """How a parameter follows from the near range: for scores, and for detections; with it in words."""

    scores: Callable[[float], Any]
    detections: Callable[[float], Any]
    words: str


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric and its description.

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
    at_every_level : callable, optional
        `Sweep` to the metric's precision and recall at each of many thresholds, from the highest down, and to the
        metric if it is not their harmonic mean, where that is faster than one by one.
    threshold_of : str, optional
        Scores are not searched for the best threshold of this metric, but get that of another one: its name.
    joined : callable, optional
        `Joined` to what each of its series gets: a float, for DQE its whole result, or the `Best` over thresholds.
    needs_normal : bool
        Whether the metric is undefined also where every point is anomalous.
    perfect : float
        What a perfect detector gets.
    by_default : bool
        Whether panels have the metric without being asked for it.
    summary, citation, same_as : str
        A one-sentence description, who proposed it, and a public package that gives the same number; empty if not
        given.
    cost : float or None
        Running time with compiled kernels for 100,000 scores, as a multiple of scikit-learn's ``roc_auc_score``:
        docs/performance.md. None if nobody has measured it.
    higher_is_better : bool
    checks : mapping
        From the names of parameters to functions of the name and what was given, which return what to compute with.
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
    at_every_level: Callable[..., Any] | None
    needs_normal: bool
    summary: str
    citation: str
    same_as: str
    cost: float | None
    threshold_of: str | None = None
    joined: Callable[..., Any] | None = None
    perfect: float = 1.0
    by_default: bool = True
    higher_is_better: bool = True
    checks: Mapping[str, Callable[[str, Any], Any]] = field(default_factory=dict)

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
class Detector:
    """A detector and its description.

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
        A one-sentence description, and who proposed it; empty if not given.
    many : callable or None
        The same for several series at once, where that is faster: a list of values, and of what else each comes with,
        to a list of scores, or to an iterator of lists of numbers of series with their scores.
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
    many: Callable[..., Any] | None = None


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
