"""What small changes of labels and scores do to every metric, in all the forms in which it is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from dqeval.analysis.result import Result
from dqeval.analysis.score_result import left_out_sentence
from dqeval.core import arguments
from dqeval.core.confidence import Interval
from dqeval.core.near import Near
from dqeval.lab.perturbations import PERTURBATIONS, RANDOM
from dqeval.render import drawing
from dqeval.render.tables import Page, Part, Table, count_of, in_words
from dqeval.support.frames import Framed

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NONE = "–"
_SAME = 0.0005  # shares that are closer to 1 print as 1
ONE_DETECTOR = "There is one detector, so there is no spread between detectors to compare changes with, and no ranking."


@dataclass(frozen=True, slots=True)
class Varied:
    """What one kind of change does to one metric: means over series and detectors.

    Attributes
    ----------
    kind, metric : str
    value : float
        The metric without any change; for the anomaly ratio, in the widest window.
    spread : float
        Its standard deviation between the detectors of a series, without any change; NaN for a single detector.
    shift : float
        The mean over the changed copies, less the value.
    deviation : float
        The standard deviation over the changed copies; NaN if there is only one of each series.
    relative_shift, relative_deviation : float
        The same as multiples of the spread: at 1, the change is as large as what tells detectors apart. NaN where there
        is no spread.
    shift_interval, deviation_interval, relative_shift_interval, relative_deviation_interval : Interval
        95 % intervals: from series drawn again; with fewer than five series, from the changed copies, if these are
        random draws, and otherwise NaN.
    best_stays : float
        The share of the copies in which the best detector of the series is still the best; NaN for a single detector.
    tau : float
        Kendall's tau between the order of the detectors without any change and that in a copy, the mean over the
        copies: 1 is the same order, 0 is chance.
    copies : int
        How many changed copies there are, of all series.
    undefined : int
        For how many series the metric is undefined, for every detector in one copy or another; they are left out.
    """

    kind: str
    metric: str
    value: float
    spread: float
    shift: float
    shift_interval: Interval
    deviation: float
    deviation_interval: Interval
    relative_shift: float
    relative_shift_interval: Interval
    relative_deviation: float
    relative_deviation_interval: Interval
    best_stays: float
    tau: float
    copies: int
    undefined: int = 0

    def record(self) -> dict[str, Any]:
        """Return all of it as a flat row."""
        row: dict[str, Any] = {}
        for name, value in ((name, getattr(self, name)) for name in type(self).__dataclass_fields__):
            if isinstance(value, Interval):
                what = name.removesuffix("_interval")
                row |= {f"{what}_low": value.low, f"{what}_high": value.high}
            else:
                row[name] = value
        return row


@dataclass(frozen=True, slots=True)
class ChanceLevel:
    """What a metric gives to random detections.

    Attributes
    ----------
    density : float
        With which probability each point is detected.
    metric : str
    mean, deviation : float
        The mean, and the standard deviation from draw to draw; means over the series.
    """

    density: float
    metric: str
    mean: float
    deviation: float


@dataclass(frozen=True, slots=True, eq=False)
class StressResult(Framed, Result):
    """How much every metric, and the order of the detectors, changes with labels and scores that change a little.

    ``to_frame()`` has a row per kind of change and metric.

    Attributes
    ----------
    series, detectors : tuple of str
    points, events : int
        How many there are, in all series.
    near : tuple of Near
        The near range of each series.
    labels : mapping of str to str
        What the metrics are called in tables.
    varied : tuple of Varied
        By kind of change, then by metric.
    chance : tuple of ChanceLevel
        What random detections get, by density, then by metric; empty if that was not asked for.
    not_changed : mapping of str to (int, str)
        Kinds that some series cannot be changed by: how many series, and why.
    draws, seed : int
    left_out : tuple of str
        The series without an anomaly, on which nothing is defined.
    """

    series: tuple[str, ...]
    points: int
    events: int
    detectors: tuple[str, ...]
    near: tuple[Near, ...]
    labels: Mapping[str, str]
    varied: tuple[Varied, ...]
    chance: tuple[ChanceLevel, ...]
    not_changed: Mapping[str, tuple[int, str]]
    draws: int
    seed: int
    left_out: tuple[str, ...] = ()

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of changes that were made, but for random detections."""
        return tuple(dict.fromkeys(each.kind for each in self.varied))

    def of(self, kind: str) -> dict[str, Varied]:
        """Return what one kind of change does, by metric."""
        arguments.one_of("kind", kind, self.kinds)
        return {each.metric: each for each in self.varied if each.kind == kind}

    @property
    def title(self) -> str:
        """What was changed, in a line."""
        near = sorted({each.points for each in self.near})
        sources = " or ".join(dict.fromkeys(each.source for each in self.near))
        ranges = f"{near[0]:g}" if len(near) == 1 else f"{near[0]:g} to {near[-1]:g}"
        name = self.series[0] if len(self.series) == 1 else f"{len(self.series):,} series"
        size = f"{count_of(self.points, 'point')}, {count_of(self.events, 'event')}"
        return f"{name}: {size}, {count_of(len(self.detectors), 'detector')}; near {ranges}, {sources}"

    @property
    def verdict(self) -> str:
        """Which changes the best detector survives, by which metric, in sentences."""
        if len(self.detectors) < 2:
            return ONE_DETECTOR
        return " ".join(self._survival(metric) for metric in (self._first, *self._frailest()))

    @property
    def _first(self) -> str:
        return "dqe" if "dqe" in self.labels else next(iter(self.labels))

    def _frailest(self) -> Iterator[str]:
        """Yield the other metric by which the best detector loses its place most often, if it ever does."""
        kept = {m: _mean([each.best_stays for each in self.varied if each.metric == m]) for m in self.labels}
        others = {metric: share for metric, share in kept.items() if metric != self._first and share < 1 - _SAME}
        if others:
            yield min(others, key=lambda metric: others[metric])

    def _survival(self, metric: str) -> str:
        found = [each for each in self.varied if each.metric == metric and np.isfinite(each.best_stays)]
        lost = sorted((each for each in found if each.best_stays < 1 - _SAME), key=lambda each: each.best_stays)
        which = "the best detector" if len(self.series) == 1 else "the best detector of a series"
        lead = f"By {self.labels[metric]}, {which} stays best in"
        if not found:
            return f"{lead} no copy that anyone knows of: it is undefined."
        if not lost:
            return f"{lead} all changed copies."
        first, *others = (f"{_percent(each.best_stays)} {{}}with {_label(each.kind)}" for each in lost)
        shares = [first.format("of the copies "), *(each.format("") for each in others)]
        rest = "" if len(lost) == len(found) else "; with every other change, it stays best in all copies"
        return f"{lead} {in_words(shares, most=len(shares))}{rest}."

    def page(self) -> Page:
        """Return what changes do as paragraphs and tables."""
        parts: list[Part] = [self.title, self.verdict]
        if self.varied:
            parts += [self.overview_table(), *([self.ranking_table()] if len(self.detectors) > 1 else [])]
        for kind in self.kinds:
            parts += [self.about(kind), self.table(kind)]
        if self.chance:
            parts += [f"{_capital(RANDOM.label)}: {RANDOM.definition}.", self.chance_table()]
        return Page([*parts, "\n".join(self.notes())])

    def about(self, kind: str) -> str:
        """Return what a kind of change is, in a sentence."""
        copies = self.of(kind)[self._first].copies
        changed = PERTURBATIONS[kind]
        count = f"{copies:,} changed {'copy' if copies == 1 else 'copies'}"
        return f"{_capital(changed.label)}: {changed.definition} ({count})."

    def overview_table(self) -> Table:
        """Return the deviations of all metrics under all changes; relative to the spread, where there is one."""
        relative = len(self.detectors) > 1
        header = (*(("SD, in spreads", "spread") if relative else ("SD",)), *map(_label, self.kinds))
        by_kind = [self.of(kind) for kind in self.kinds]
        rows = []
        for metric, label in self.labels.items():
            every = [each[metric] for each in by_kind]
            cells = [_shown(each.relative_deviation, 2) if relative else _shown(each.deviation) for each in every]
            rows.append((label, *([_shown(every[0].spread)] if relative else []), *cells))
        meaning = "SD: the standard deviation over the changed copies"
        if not relative:
            return Table(header, rows, note=f"{meaning}; low values alone do not make a good metric")
        legend = (
            "At 1, a change moves a metric as much as detectors differ by it. A small SD alone is no merit:",
            "a metric that gives all detectors nearly the same value hardly moves either.",
        )
        return Table(header, rows, note=f"{meaning}; spread: the one between detectors", legend=legend)

    def ranking_table(self) -> Table:
        """Return in which share of the copies the best detector stays best, and Kendall's tau."""
        header = ("best stays (tau)", *map(_label, self.kinds))
        by_kind = [self.of(kind) for kind in self.kinds]
        rows = [(label, *(_survives(each[metric]) for each in by_kind)) for metric, label in self.labels.items()]
        note = "best stays: share of the copies; tau: 1 if all detectors keep their order, 0 if it is chance"
        return Table(header, rows, note=note)

    def table(self, kind: str) -> Table:
        """Return what one kind of change does to every metric, with intervals, if there are any."""
        found = self.of(kind)
        columns = _COLUMNS if len(self.detectors) > 1 else _COLUMNS[:2]
        known = any(each.shift_interval.is_known or each.deviation_interval.is_known for each in found.values())
        header = ["metric", "value"]
        for column in columns:
            header += [column.title, "95 % interval"] if known else [column.title]
        rows = []
        for metric, each in found.items():
            row = [self.labels[metric], _shown(each.value)]
            for column in columns:
                value, interval = getattr(each, column.what), getattr(each, f"{column.what}_interval")
                row.append(column.form(value, column.digits))
                row += [_between(interval, column.digits, column.form)] if known else []
            rows.append(row)
        return Table(header, rows)

    def chance_table(self) -> Table:
        """Return what random detections get, by metric and density."""
        densities = list(dict.fromkeys(level.density for level in self.chance))
        found = {(level.metric, level.density): level for level in self.chance}
        rows = [
            (label, *(_level(found[metric, density]) for density in densities)) for metric, label in self.labels.items()
        ]
        return Table(("density", *(f"{density:g}" for density in densities)), rows, note="mean ± SD from draw to draw")

    def notes(self) -> Iterator[str]:
        """Yield what the numbers mean, and what was left out."""
        yield "Shift: the mean of the changed copies, less the value. All numbers are means over series and detectors."
        yield self._about_intervals()
        for kind, (count, why) in self.not_changed.items():
            where = "" if len(self.series) == 1 else f" ({count:,} of {len(self.series):,} series)"
            yield f"No {_label(kind)}: {why}{where}."
        for kind in self.kinds:
            if undefined := [self.labels[name] for name, each in self.of(kind).items() if each.undefined]:
                yield f"Undefined in a copy with {_label(kind)}, and so without a number there: {', '.join(undefined)}."
        if self.left_out:
            yield left_out_sentence(self.left_out)
        yield f"Random draws: {self.draws}, seed {self.seed}."

    def _about_intervals(self) -> str:
        units = {each.deviation_interval.unit for each in self.varied if each.deviation_interval.is_known}
        if "series" in units:
            return "Intervals: how much a number may owe to which series there were (series drawn again)."
        if not units:
            return "Intervals need five series, or five changed copies that are random draws."
        few = "Intervals: how much a number may owe to which changed copies there were (copies drawn again)"
        return f"{few}, for random draws only. They say nothing of other series: that takes five or more."

    def records(self) -> list[dict[str, Any]]:
        """Return one row per kind of change and metric; and one per density and metric for random detections."""
        random = [
            {"kind": RANDOM.name, "metric": level.metric, "density": level.density, "value": level.mean}
            | {"deviation": level.deviation}
            for level in self.chance
        ]
        return [*(each.record() for each in self.varied), *random]

    def numbers(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {
            "series": list(self.series),
            "detectors": list(self.detectors),
            "verdict": self.verdict,
            "varied": [asdict(each) for each in self.varied],
            "chance": [asdict(level) for level in self.chance],
            "not_changed": {kind: {"series": n, "reason": why} for kind, (n, why) in self.not_changed.items()},
            "left_out": list(self.left_out),
        }

    def _columns(self) -> dict[str, Any]:
        rows = [each.record() for each in self.varied]
        return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}

    def plot(self, kind: str, ax: Axes | None = None) -> Axes:
        """Plot the standard deviation of each metric under one kind of change, with intervals, the least on top.

        Where there are several detectors, it is relative to the spread between them.

        Parameters
        ----------
        kind : str
            One of ``kinds``.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> series = dqeval.datasets.demo()
        >>> found = dqeval.stress(series.labels, series.scores, period=48, metrics=["dqe", "vus_pr"], kinds=["lag"])
        >>> ax = found.plot("lag")
        >>> [label.get_text() for label in ax.get_yticklabels()], ax.get_xlabel()
        (['VUS-PR', 'DQE'], 'SD / spread between detectors')
        """
        found = self.of(kind)
        axes = drawing.axes_or_new(ax)
        relative = len(self.detectors) > 1
        what = "relative_deviation" if relative else "deviation"
        drawing.draw_deviations(
            axes,
            {self.labels[metric]: getattr(each, what) for metric, each in found.items()},
            {self.labels[metric]: getattr(each, f"{what}_interval") for metric, each in found.items()},
            accent=self.labels.get("dqe", ""),
        )
        axes.set_xlabel("SD / spread between detectors" if relative else "standard deviation", color=drawing.INK)
        axes.set_title(_label(kind), fontsize="medium")
        return axes

    def __str__(self) -> str:
        return self.page().text()

    def _repr_html_(self) -> str:
        return self.page().html()


def _label(kind: str) -> str:
    return PERTURBATIONS[kind].label


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _percent(share: float) -> str:
    """Return a share in percent: no 100 % that is none, and no 0 % either."""
    return "< 1 %" if 0 < share < 0.01 else f"{min(round(100 * share), 99 if share < 1 else 100)} %"


def _shown(value: float, digits: int = 3) -> str:
    return _NONE if np.isnan(value) else f"{value:.{digits}f}"


def _signed(value: float, digits: int = 3) -> str:
    return _NONE if np.isnan(value) else f"{round(value, digits) + 0.0:+.{digits}f}"


def _between(interval: Interval, digits: int, form: Callable[[float, int], str]) -> str:
    return f"[{form(interval.low, digits)}, {form(interval.high, digits)}]" if interval.is_known else _NONE


class _Column(NamedTuple):
    """A column of the table of a change: its title, which number of `Varied` it has, and how that is shown."""

    title: str
    what: str
    form: Callable[[float, int], str]
    digits: int


_COLUMNS = (
    _Column("shift", "shift", _signed, 3),
    _Column("SD", "deviation", _shown, 3),
    _Column("shift/spread", "relative_shift", _signed, 2),
    _Column("SD/spread", "relative_deviation", _shown, 2),
)


def _survives(each: Varied) -> str:
    return _NONE if np.isnan(each.best_stays) else f"{_percent(each.best_stays)} ({_shown(each.tau, 2)})"


def _level(level: ChanceLevel) -> str:
    return _NONE if np.isnan(level.mean) else f"{level.mean:.2f}±{level.deviation:.2f}"


def _mean(values: Sequence[float]) -> float:
    finite = [value for value in values if np.isfinite(value)]
    return float(np.mean(finite)) if finite else np.nan
