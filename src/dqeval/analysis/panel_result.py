"""Every metric of one detector on one series: what a panel returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import InitVar, dataclass, field
from typing import TYPE_CHECKING, Any

from dqeval.core.registry import METRICS
from dqeval.core.types import DQEResult
from dqeval.render import drawing
from dqeval.render.tables import Table, count_of
from dqeval.support.frames import Framed
from dqeval.support.on_demand import OnDemand

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class MetricError(RuntimeError):
    """A metric failed on input that it should take: a fault of the metric or of the installation, not of the input."""

    def __init__(self, metric: str, error: Exception) -> None:
        # Both arguments are the exception's own, so that it travels between processes.
        super().__init__(metric, error)

    @property
    def reason(self) -> str:
        """What the metric failed with."""
        return f"{type(self.args[1]).__name__}: {self.args[1]}"

    def __str__(self) -> str:
        return f"the metric {self.args[0]} failed, which is no fault of the input: {self.reason}"


@dataclass(frozen=True, slots=True)
class BestThreshold(Framed):
    """The best value of a metric of detections over thresholds, and where it lies.

    Attributes
    ----------
    value : float
    threshold : float
        In the units of the scores: the points with ``y_score >= threshold`` are detected. Infinite if none are.
    precision, recall : float
        As the metric defines them, at that threshold.
    """

    value: float
    threshold: float
    precision: float
    recall: float


@dataclass(frozen=True, slots=True)
class Chance(Framed):
    """What random scores get on the same labels, beside the values they are compared with.

    ``to_frame()`` has a row per metric.

    Attributes
    ----------
    values : dict of str to float
        The values of the evaluation, by metric.
    mean, spread : dict of str to float
        Mean and standard deviation over the repeats.
    repeats : int
    labels : dict of str to str
        What the metrics are called in tables.
    drawn : str
        What was drawn, in words.
    """

    values: dict[str, float]
    mean: dict[str, float]
    spread: dict[str, float]
    repeats: int
    labels: dict[str, str]
    drawn: str = "random scores"

    def _columns(self) -> dict[str, Any]:
        return {
            "metric": list(self.values),
            "value": list(self.values.values()),
            "chance": [self.mean[name] for name in self.values],
            "chance_spread": [self.spread[name] for name in self.values],
        }

    def _table(self) -> Table:
        rows = [
            (self.labels[name], f"{value:.3f}", f"{self.mean[name]:.3f}", f"{self.spread[name]:.3f}")
            for name, value in self.values.items()
        ]
        return Table(
            ("metric", "value", "by chance", "spread"),
            rows,
            note=f"{count_of(self.repeats, 'random repeat')}",
            whole=True,
        )

    def __str__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()


@dataclass(frozen=True)
class Evaluation(Framed):
    """Every metric of one detector on one series.

    ``to_frame()`` has a row per metric: its value; for metrics of detections the best threshold, with precision and
    recall there (NaN for others); and why it is undefined, if it is.

    Attributes
    ----------
    values : dict of str to float
        By metric; NaN for one that is undefined.
    seconds : dict of str to float
        What each took. What two metrics share is counted for the first. In threads, waiting for what another metric
        makes counts too: a panel with ``workers=1`` tells what each takes.
    failures : dict of str to str
        Why a metric is undefined, for those that are.
    parameters : dict of str to dict
        What each metric was computed with.
    near : float
        The near range from which windows and buffers follow.
    binary : bool
        Whether detections were given, not scores.
    dqe : DQEResult or None
        The whole result of DQE, unless that was not asked for.
    labels : dict of str to str
        What the metrics are called in tables.
    best : dict of str to BestThreshold
        For the metrics of detections: the threshold of their best value. Empty if detections were given.
    notes : tuple of str
        What was left out on a clock, and why.
    """

    values: dict[str, float]
    seconds: dict[str, float] = field(compare=False)
    failures: dict[str, str]
    parameters: dict[str, dict[str, Any]]
    near: float
    binary: bool
    dqe: DQEResult | None
    labels: dict[str, str]
    best: OnDemand[dict[str, BestThreshold]] = OnDemand()
    notes: tuple[str, ...] = ()
    make_chance: InitVar[Callable[..., Chance] | None] = None

    def __post_init__(self, make_chance: Callable[..., Chance] | None) -> None:
        object.__setattr__(self, "_make_chance", make_chance)

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def __contains__(self, metric: object) -> bool:
        return metric in self.values

    def __getitem__(self, metric: str) -> float:
        if metric not in self.values:
            raise KeyError(f"{metric!r} is not among the metrics of this panel: {', '.join(self.values)}")
        return self.values[metric]

    @property
    def scales(self) -> list[str]:
        """What is best by the metrics for which that is not 1, in words."""
        best = {self.labels[name]: METRICS[name].perfect for name in self.values}
        return [f"{label}: {most:g} is best, not 1" for label, most in best.items() if most != 1]

    def threshold(self, metric: str) -> float:
        """Return the threshold at which a metric of detections is best, in the units of the scores.

        Parameters
        ----------
        metric : str
            The name of a metric of detections that is among those of the panel.

        Returns
        -------
        float
            The points with ``y_score >= threshold`` are detected.
        """
        if metric not in self.best:
            raise KeyError(f"{metric!r} has no best threshold here: {', '.join(self.best) or 'no metric'} has")
        return self.best[metric].threshold

    def chance(
        self,
        *,
        repeats: int = 10,
        seed: int = 0,
        progress: Callable[[int, int], None] | None = None,
        workers: int | None = None,
    ) -> Chance:
        """Return what uniform random scores, or random detections, get on the same labels, beside every value.

        Parameters
        ----------
        repeats : int, default 10
            How many random scores are drawn. Of long series, each takes as long as the panel itself.
        seed : int, default 0
            Of these random scores.
        progress : callable, optional
            Called after each repeat with the number of those done, and that of all.
        workers : int, optional
            How many threads compute; 1 for none besides the caller's. If not given, one for each core that this process
            may use. The numbers do not depend on it.

        Returns
        -------
        Chance
            For detections, as many points at random are detected; on a clock, there are alerts at random that last as
            long as those of the detector, so that the level hardly depends on the resolution.
        """
        make_chance: Callable[..., Chance] | None = vars(self)["_make_chance"]
        if make_chance is None:
            raise ValueError("a changed copy of an evaluation has no chance level: make the panel again")
        return make_chance(self, repeats, seed, progress, workers)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot every metric as a bar.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> ax = dqeval.panel([0, 0, 1, 1], [0, 3, 4, 2], near=1, metrics=["dqe", "auc_roc"]).plot()
        >>> [(label.get_text(), number.get_text()) for label, number in zip(ax.get_yticklabels(), ax.texts)]
        [('DQE', '0.843'), ('AUC-ROC', '0.750')]
        """
        axes = drawing.axes_or_new(ax)
        drawing.draw_bars(
            axes,
            {self.labels[name]: value for name, value in self.values.items()},
            [METRICS[name].perfect for name in self.values],
        )
        return axes

    def _columns(self) -> dict[str, Any]:
        none = BestThreshold(*[float("nan")] * 4)
        best = [self.best.get(name, none) for name in self.values]
        return {
            "metric": list(self.values),
            "value": list(self.values.values()),
            **{part: [getattr(each, part) for each in best] for part in ("threshold", "precision", "recall")},
            "failure": [self.failures.get(name, "") for name in self.values],
        }

    def _table(self) -> Table:
        rows = [
            (
                self.labels[name],
                f"{value:.3f}",
                repr(self.best[name].threshold) if name in self.best else "",
                self.failures.get(name, ""),
            )
            for name, value in self.values.items()
        ]
        notes = [f"near {self.near:g}", *self.scales, *self.notes]
        return Table(("metric", "value", "at threshold", ""), rows, note="; ".join(notes), whole=True)

    def __str__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()
