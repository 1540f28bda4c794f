"""When one detector may be said to be ahead of another: means, paired tests of all pairs together, and the sentence.

Every sentence about who is ahead follows from `ranking_of`: `rank` reads a table for it, and other results call it with
an array of units × detectors.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dqeval.core import arguments
from dqeval.core.agreement import agreement_of
from dqeval.core.paired import FEWEST, Comparisons, compare_all, mean_intervals, seed_effects
from dqeval.core.registry import label_of
from dqeval.core.types import FloatArray, IntArray
from dqeval.render import drawing
from dqeval.render.tables import Page, Table, count_of, in_words, percent
from dqeval.support.frames import Framed, columns_of_records

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Texts = NDArray[np.str_]

TOLD_APART, NOT_TOLD_APART = "told apart", "not told apart"
SAME_DETECTOR = "the same detector on another scale"
LEAST_P = 0.001  # that is written out
_LARGEST = 1e100  # whose squares are finite
_MOST_OPPOSITES = 3  # that are named in a verdict
# The columns that say what a row is of, by their names in small letters.
_ROLES = {
    "series": ("series", "unit", "file", "event"),
    "group": ("group",),
    "dataset": ("dataset",),
    "seed": ("seed",),
    "metric": ("metric",),
}
_LABELS = ("label", "is_anomaly")
# Columns of published tables of TSB-AD, which describe the series.
_DESCRIPTIONS = {"ts_len", "anomaly_len", "num_anomaly", "avg_anomaly_len", "anomaly_ratio", "point_anomaly"}
_DESCRIPTIONS |= {"seq_anomaly"}


def p_in_words(p: float) -> str:
    """Return a p-value as it stands in sentences.

    Examples
    --------
    >>> p_in_words(0.0312), p_in_words(0.0001)
    ('p = 0.031', 'p < 0.001')
    """
    return "p < 0.001" if p < LEAST_P else f"p = {p:.3f}"


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of a detector over the units.

    Attributes
    ----------
    detector : str
    mean : float
    low, high : float
        Its confidence interval, by itself; NaN with fewer than five units.
    rank : float
        1 is the first; equal means share the mean of their ranks.
    n_units : int
    """

    detector: str
    mean: float
    low: float
    high: float
    rank: float
    n_units: int


@dataclass(frozen=True, slots=True)
class Pair:
    """The difference of two detectors, the first of which has the better mean.

    Attributes
    ----------
    first, second : str
    difference : float
        The mean of the first minus that of the second.
    low, high : float
        The interval of the difference: the intervals of all pairs hold together. NaN with fewer than five units.
    p : float
        Adjusted for all pairs.
    told_apart : bool
        Whether the difference is more than chance.
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    p: float
    told_apart: bool

    def __str__(self) -> str:
        return f"{TOLD_APART if self.told_apart else NOT_TOLD_APART} ({p_in_words(self.p)})"


@dataclass(frozen=True, slots=True)
class Opposite:
    """Two detectors that are told apart in opposite directions on two datasets.

    Attributes
    ----------
    pair : Pair
        Over all datasets.
    ahead_on, behind_on : tuple of str and Pair
        A dataset where the first of the pair is ahead, and one where it is behind, each with its own comparison.
    """

    pair: Pair
    ahead_on: tuple[str, Pair]
    behind_on: tuple[str, Pair]

    def __str__(self) -> str:
        (ahead, there), (behind, here) = self.ahead_on, self.behind_on
        return (
            f"{self.pair.first} and {self.pair.second} go opposite ways: {self.pair.first} is ahead on {ahead} by "
            f"{abs(there.difference):.3f} ({p_in_words(there.p)}), and behind on {behind} by "
            f"{abs(here.difference):.3f} ({p_in_words(here.p)})."
        )


@dataclass(frozen=True, slots=True)
class Ranking(Framed):
    """Detectors by their means, and which of them are told apart.

    ``to_frame()`` has a row per detector, for each metric and dataset. ``print`` shows everything on one screen.

    Attributes
    ----------
    metric : str
        The name of the metric; empty if the table has none.
    means : tuple of Mean
        The first detector first.
    pairs : tuple of Pair
        All of them, in the order of the means.
    groups : tuple of tuple of str
        The longest stretches in the order of the means in which no two detectors are told apart; stretches may overlap.
    verdict : str
        What may be said of the order, in a sentence or a few.
    level : float
    higher_is_better : bool
    unit : str
        What the means are taken over, such as "series".
    n_units, n_groups : int
        How many units there are, and how many groups of them, which count as independent.
    n_flips : int
        How many flips of signs the tests compare with.
    notes : tuple of str
        What was left out, and what the intervals assume.
    opposites : tuple of Opposite
        Pairs that are told apart in opposite directions on two datasets.
    datasets : dict of str to Ranking
        Each dataset by itself, if the table has several.
    metrics : dict of str to Ranking
        Each metric by itself, if the table has several; this ranking is that of the first.
    agreement : array of float, shape (n_metrics, n_metrics)
        Kendall's tau between the orders that two metrics give the detectors' means.
    """

    metric: str
    means: tuple[Mean, ...]
    pairs: tuple[Pair, ...]
    groups: tuple[tuple[str, ...], ...]
    verdict: str
    level: float
    higher_is_better: bool
    unit: str
    n_units: int
    n_groups: int
    n_flips: int
    notes: tuple[str, ...] = ()
    opposites: tuple[Opposite, ...] = ()
    datasets: dict[str, Ranking] = field(default_factory=dict)
    metrics: dict[str, Ranking] = field(default_factory=dict)
    agreement: FloatArray = field(default_factory=lambda: np.ones((1, 1)), repr=False)

    def pair(self, one: str, other: str) -> Pair:
        """Return the comparison of two detectors, in whichever order they are named."""
        return next(each for each in self.pairs if {each.first, each.second} == {one, other})

    def page(self) -> Page:
        """Return the ranking for people: the verdict, a table, groups, and what the test is."""
        every = list(self.metrics.values()) or [self]
        parts: list[str | Table] = []
        for each in every:
            parts += [each.verdict, each._table()]
            if each.datasets:
                parts.append(each._dataset_table())
            if len(each.means) > 1:
                parts.append(each._groups_in_words())
            parts += each.notes
        if len(every) > 1 and len(self.means) > 1:
            labels = [label_of(metric) for metric in self.metrics]
            rows = [(label, *(f"{tau:.2f}" for tau in row)) for label, row in zip(labels, self.agreement, strict=True)]
            parts += ["How far metrics agree about the order of the means (Kendall's tau):", Table(("", *labels), rows)]
        return Page([*parts, self._test_in_words()])

    def _table(self) -> Table:
        """Return a row per detector, with its difference to the first one."""
        share = percent(self.level)
        header = ["rank", "detector", label_of(self.metric) or "mean", f"{share} interval"]
        rows = [[f"{m.rank:g}", m.detector, f"{m.mean:.3f}", _interval(m.low, m.high)] for m in self.means]
        if self.pairs:
            header += ["to the first", f"{share}, all pairs", "p"]
            rows[0] += ["", "", ""]
            for row, pair in zip(rows[1:], self.pairs, strict=False):
                row += [
                    f"{-pair.difference:+.3f}",
                    _interval(-pair.high, -pair.low),
                    p_in_words(pair.p)[2:].strip("= "),
                ]
        return Table(header, rows, text_columns=2)

    def _dataset_table(self) -> Table:
        """Return a row per dataset: how many of its pairs are told apart, and means of the first three detectors."""
        shown = [mean.detector for mean in self.means[:3]]
        rows = []
        for name, each in self.datasets.items():
            means = {mean.detector: f"{mean.mean:.3f}" for mean in each.means}
            apart = f"{sum(pair.told_apart for pair in each.pairs)} of {len(each.pairs)}"
            rows.append((name, f"{each.n_units:,}", apart, *(means.get(detector, "") for detector in shown)))
        return Table(("dataset", self.unit, f"pairs {TOLD_APART}", *shown), rows)

    def _groups_in_words(self) -> str:
        alike = [group for group in self.groups if len(group) > 1]
        if not alike:
            return f"Every two neighbours are {TOLD_APART}."
        names = "; ".join(in_words(g) if len(g) < 3 else f"{g[0]} to {g[-1]} ({len(g)})" for g in alike)
        return f"{NOT_TOLD_APART.capitalize()}: {names}."

    def _test_in_words(self) -> str:
        """Say what was tested."""
        if not self.pairs:
            return "There is nothing to test."
        over = _counted(self.n_units, self.unit)
        if self.n_groups < self.n_units:
            over = f"{count_of(self.n_groups, 'group')} of {over}"
        return (
            f"Test: paired differences over {over}, taken as independent; signs flipped {self.n_flips:,} times, "
            f"studentised, the largest of {count_of(len(self.pairs), 'pair')}: p-values and intervals of differences "
            f"hold for all pairs together, intervals of means one by one."
        )

    def to_latex(self) -> str:
        """Return the page in LaTeX, for the package booktabs."""
        return self.page().latex()

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the means with their intervals, and a bar beside those that are not told apart.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> ax = dqeval.rank({"mine": [0.9, 0.8, 0.7], "theirs": [0.2, 0.8, 0.1]}).plot()
        >>> [label.get_text() for label in ax.get_yticklabels()]
        ['mine', 'theirs']
        """
        axes = drawing.axes_or_new(ax)
        places = np.arange(len(self.means))
        centre, low, high = (np.array([getattr(m, name) for m in self.means]) for name in ("mean", "low", "high"))
        axes.hlines(places, low, high, color=drawing.INK, linewidth=1)
        axes.plot(centre, places, "o", color=drawing.INK, markersize=4)
        row = {mean.detector: place for mean, place in zip(self.means, places, strict=True)}
        bars = [(row[group[0]], row[group[-1]]) for group in self.groups if len(group) > 1]
        for i, (start, stop) in enumerate(bars):
            reach = [1.02 + 0.015 * i] * 2
            axes.plot(reach, [start - 0.2, stop + 0.2], color=drawing.INK, transform=axes.get_yaxis_transform())
            axes.lines[-1].set(linewidth=2.5, clip_on=False, label="group")
        axes.set_yticks(places, [mean.detector for mean in self.means], parse_math=False)
        axes.set_ylim(len(self.means) - 0.5, -0.5)
        axes.set_xlabel(f"{label_of(self.metric) or 'mean'}, {percent(self.level)} interval; bars: {NOT_TOLD_APART}")
        return axes

    def records(self) -> list[dict[str, Any]]:
        """Return a row per detector, for each metric and dataset."""
        rows = []
        for each in self.metrics.values() or [self]:
            for dataset, ranking in {"": each, **each.datasets}.items():
                named = {"metric": each.metric, "dataset": dataset}
                rows += [{**{k: v for k, v in named.items() if v}, **asdict(mean)} for mean in ranking.means]
        return rows

    def _columns(self) -> dict[str, Any]:
        rows = self.records()
        names = list(dict.fromkeys(name for row in (rows[-1], rows[0]) for name in row))
        return columns_of_records([{name: row.get(name, "") for name in names} for row in rows])

    def numbers(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        own = {
            "verdict": self.verdict,
            "metric": self.metric,
            "level": self.level,
            "higher_is_better": self.higher_is_better,
            "unit": self.unit,
            "n_units": self.n_units,
            "n_groups": self.n_groups,
            "n_flips": self.n_flips,
            "means": [asdict(mean) for mean in self.means],
            "pairs": [asdict(pair) for pair in self.pairs],
            "groups": [list(group) for group in self.groups],
            "notes": list(self.notes),
        }
        if self.datasets:
            own["opposites"] = [asdict(each) for each in self.opposites]
            own["datasets"] = {name: each.numbers() for name, each in self.datasets.items()}
        if self.metrics:
            own["agreement"] = self.agreement.tolist()
            own["metrics"] = {name: replace(each, metrics={}).numbers() for name, each in self.metrics.items()}
        return own

    def __str__(self) -> str:
        return self.page().text()

    def _repr_html_(self) -> str:
        return self.page().html()


def rank(
    values: Any,
    *,
    groups: Any = None,
    seeds: Any = None,
    level: float = 0.95,
    higher_is_better: bool = True,
) -> Ranking:
    """Rank detectors by their means over series, and say which of them are told apart.

    Parameters
    ----------
    values : mapping of str to array-like, or DataFrame of pandas or polars
        A column of numbers per detector with a row per series (or other unit), the same in each, and NaN where there is
        none; or a long table with the columns series, detector and value. Either may have the columns dataset,
        metric, group and seed.
    groups : str, array-like or mapping, optional
        What makes series depend on each other, such as copies of one recording: the name of a column, a group for each
        row, or a mapping of series to groups, in which those left out are groups of their own. The column group, if
        there is one and nothing is given.
    seeds : str or array-like, optional
        Which rows are runs of the same series with other random numbers: the name of a column, or a seed for each row.
        The column seed, if there is one and nothing is given.
    level : float, default 0.95
        Of the intervals; detectors are told apart at 1 - level for all pairs together.
    higher_is_better : bool, default True
        Whether the first is the one with the highest mean; otherwise the lowest, such as of delays.

    Returns
    -------
    Ranking

    Examples
    --------
    >>> mine = [0.91, 0.72, 0.85, 0.66, 0.93, 0.78, 0.81, 0.59]
    >>> baseline = [0.62, 0.70, 0.51, 0.48, 0.77, 0.45, 0.69, 0.31]
    >>> print(dqeval.rank({"baseline": baseline, "mine": mine}).verdict)
    mine (0.781) is ahead of baseline (0.566) by 0.215 [0.115, 0.306] over 8 units: told apart (p = 0.008).
    """
    share = arguments.share("level", level)
    if not 0 < share < 1:
        raise ValueError(f"level must lie between 0 and 1: got {level}")
    higher = arguments.truth("higher_is_better", higher_is_better)
    units = _units_of(values, groups, seeds)
    options = {"level": share, "higher_is_better": higher}
    every = {
        metric: _with_datasets(units, metric, cube, options)
        for metric, cube in zip(units.metrics, units.values, strict=True)
    }
    first = next(iter(every.values()))
    if len(every) == 1:
        return first
    means = [{mean.detector: mean.mean for mean in each.means} for each in every.values()]
    shared = [name for name in units.detectors if all(name in each for each in means)]
    orders = np.array([[each[name] for each in means] for name in shared])
    return replace(first, metrics=every, agreement=agreement_of(orders[None]))


@dataclass(frozen=True, slots=True)
class _Units:
    """A table of results, by unit.

    Attributes
    ----------
    values : array of float, shape (n_metrics, n_units, n_seeds, n_detectors)
        NaN where there is none.
    metrics, detectors : sequence of str
    groups, datasets : array of str, shape (n_units,), optional
    unit : str
        What the units are.
    notes : tuple of str
        Which columns are left out.
    """

    values: FloatArray
    metrics: Sequence[str]
    detectors: Sequence[str]
    groups: Texts | None
    datasets: Texts | None
    unit: str
    notes: tuple[str, ...]


def _units_of(values: Any, groups: Any, seeds: Any) -> _Units:
    """Return a wide or a long table by unit."""
    columns = {str(name): _column(str(name), values[name]) for name in getattr(values, "columns", values)}
    rows = len(next(iter(columns.values()), ()))
    if not rows or any(len(column) != rows for column in columns.values()):
        sizes = in_words([f"{name} {len(column):,}" for name, column in columns.items()] or ["nothing"])
        raise ValueError(f"every detector needs a value for each unit, in the same order: got {sizes}")
    told, used = _told(columns, groups, seeds)
    numbers, notes = _numbers(columns, used, told)
    metrics, of_metric = _codes(told.get("metric"), rows)
    names, of_seed = _codes(told.get("seed"), rows)
    datasets, of_dataset = _codes(told.get("dataset"), rows)
    if "series" in told:
        series, of_series = _codes(told["series"], rows)
        _, first_row, of_unit = np.unique(of_dataset * len(series) + of_series, return_index=True, return_inverse=True)
    else:  # the units of each metric and seed come in the same order
        of_unit = _places(of_metric * len(names) + of_seed)
        _, first_row = np.unique(of_unit, return_index=True)
    # In a long table a row is one value, otherwise a value of every detector.
    detectors, of_detector = _codes(told.get("detector"), rows)
    shape = (len(metrics), len(first_row), len(names), len(detectors))
    place = np.ravel_multi_index((of_metric, of_unit, of_seed, of_detector), shape)
    _check_once(place, told)
    cube = np.full((math.prod(shape), numbers.shape[1]), np.nan)
    cube[place] = numbers
    of_group = _groups_of(told, groups, of_unit)
    return _Units(
        values=cube.reshape(*shape[:3], -1),
        metrics=metrics,
        detectors=detectors if "detector" in told else used,
        groups=None if of_group is None else _of_each(of_group, first_row, of_unit),
        datasets=np.array(datasets)[of_dataset[first_row]] if len(datasets) > 1 else None,
        unit="series" if "series" in told else "unit",
        notes=notes,
    )


def _told(columns: Mapping[str, Any], groups: Any, seeds: Any) -> tuple[dict[str, Texts], list[str]]:
    """Return what the rows are of, by role, and the columns of numbers that are ranked."""
    roles = {role: next((name for name in columns if name.lower() in known), "") for role, known in _ROLES.items()}
    arrays = {}
    for role, argument, given in (("group", "groups", groups), ("seed", "seeds", seeds)):
        if isinstance(given, str):
            arguments.known_names([given], list(columns), f"the table, of which {argument} names a column,")
            roles[role] = given
        elif given is not None and not (role == "group" and isinstance(given, Mapping)):
            rows, labels = len(next(iter(columns.values()))), np.asarray(given)
            if labels.shape != (rows,):
                got = f"{len(labels):,}" if labels.ndim == 1 else arguments.quote(given)
                raise ValueError(f"{argument} must have a value for each of {rows:,} rows: got {got}")
            arrays[role] = texts_of(labels)
    told = {role: texts_of(columns[name]) for role, name in roles.items() if name} | arrays
    if not is_long(columns):
        if of_points := [name for name in columns if name.lower() in _LABELS]:
            raise ValueError(f"the column {of_points[0]} is of a series with scores, a row per point: use compare")
        others = [name for name in columns if name not in roles.values()]
        return told, [name for name in others if columns[name].dtype.kind == "f" and name not in _DESCRIPTIONS]
    if "series" not in told:
        raise ValueError("a long table needs the columns series, detector and value: there is no series")
    by_name = {name.lower(): name for name in columns}
    return {**told, "detector": texts_of(columns[by_name["detector"]])}, [by_name["value"]]


def _numbers(
    columns: Mapping[str, Any], used: Sequence[str], told: Mapping[str, Texts]
) -> tuple[FloatArray, tuple[str, ...]]:
    """Return the columns of numbers that are ranked, and what is left out."""
    if not used or any(columns[name].dtype.kind != "f" for name in used):
        raise ValueError(f"there are no numbers to rank: the columns are {in_words(list(columns))}")
    numbers = np.column_stack([columns[name] for name in used])
    if (np.abs(numbers) > _LARGEST).any():
        raise ValueError(
            f"values must be numbers up to {_LARGEST:g}, or NaN where there is none: there are larger ones"
        )
    roles = {name for known in _ROLES.values() for name in known}
    left = [name for name in columns if name not in used and name.lower() not in roles]
    if "detector" in told or not left:
        return numbers, ()
    return numbers, (f"Columns that are no detectors: {in_words(left, most=len(left))}.",)


def _check_once(places: IntArray, told: Mapping[str, Texts]) -> None:
    """Check that no value is given twice."""
    _, first_row, counts = np.unique(places, return_index=True, return_counts=True)
    if (counts > 1).any():
        row = int(first_row[counts > 1][0])
        named = [f"{role} {told[role][row]}" for role in (*_ROLES, "detector") if role in told and role != "group"]
        raise ValueError(f"there is more than one value of {', '.join(named)}: give one, or a column seed")


def _groups_of(told: Mapping[str, Texts], groups: Any, of_unit: IntArray) -> Texts | None:
    """Return the group of each row; where none is named, the unit is one of its own."""
    if not isinstance(groups, Mapping):
        named = told.get("group")
    elif "series" not in told:
        raise ValueError("groups by the names of series need these names, in a column series")
    else:
        known = {_stem(str(name)): str(group) for name, group in groups.items()}
        named = np.array([known.get(_stem(name), "") for name in told["series"].tolist()])
        if not any(named):
            raise ValueError(f"groups must name series of the table: they have {in_words(list(known) or ['none'])}")
    if named is None:
        return None
    own = np.char.add("\0", of_unit.astype(np.str_))
    return np.where(np.isin(named, ("", "nan")), own, named)


def _of_each(of_group: Texts, first_row: IntArray, of_unit: IntArray) -> Texts:
    """Return the group of each unit, of which all rows must have the same one."""
    found = of_group[first_row]
    other = np.flatnonzero(of_group != found[of_unit])
    if len(other):
        row = int(other[0])
        raise ValueError(
            f"a series is in one group: row {row + 1:,} has {of_group[row]}, a row before {found[of_unit[row]]}"
        )
    return found


def is_long(columns: Iterable[str]) -> bool:
    """Return whether a table has a row for each value, and not a column for each detector."""
    return {"detector", "value"} <= {name.lower() for name in columns}


def says_what_a_row_is(column: str) -> bool:
    """Return whether a column says what a row is of, such as the series."""
    return any(column.lower() in names for names in _ROLES.values())


def texts_of(column: Any) -> Texts:
    """Return what rows are of as texts; numbers without a fraction as whole ones."""
    labels = np.asarray(column)
    if labels.dtype.kind == "f" and (labels == np.floor(labels)).all():
        labels = labels.astype(np.int64)
    return labels.astype(np.str_)


def _column(name: str, values: Any) -> Any:
    """Return a column as floats if it holds numbers, and as texts otherwise."""
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional: its shape is {array.shape}")
    if array.dtype.kind in "biuf":
        return array.astype(np.float64)
    missing = [each is None or type(each).__name__ in ("NAType", "NaTType") for each in array.tolist()]
    try:
        return np.array([np.nan if gone else float(each) for each, gone in zip(array.tolist(), missing, strict=True)])
    except (TypeError, ValueError):
        return np.array(["" if gone else str(each) for each, gone in zip(array.tolist(), missing, strict=True)])


def _codes(labels: Texts | None, rows: int) -> tuple[list[str], IntArray]:
    """Return the different labels in their order, and the place of that of each row; a single one if there are none."""
    if labels is None:
        return [""], np.zeros(rows, dtype=np.intp)
    names, first_row, codes = np.unique(labels, return_index=True, return_inverse=True)
    order = np.argsort(first_row)
    return names[order].tolist(), np.argsort(order)[codes]


def _places(codes: IntArray) -> IntArray:
    """Return the place of each row among those of the same code."""
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], codes[order])
    places = np.empty(len(codes), dtype=np.intp)
    places[order] = np.arange(len(codes)) - starts
    return places


def _stem(name: str) -> str:
    return name.removesuffix(".csv")


def _with_datasets(units: _Units, metric: str, cube: FloatArray, options: Mapping[str, Any]) -> Ranking:
    """Return the ranking of one metric over all units, and of each dataset by itself."""
    codes = None if units.groups is None else np.unique(units.groups, return_inverse=True)[1]
    options = {**options, "metric": metric, "unit": units.unit}
    pooled = ranking_of(cube, units.detectors, groups=codes, **options)
    if units.datasets is None:
        return replace(pooled, notes=(*units.notes, *pooled.notes))
    by_name = {}
    skipped = []
    used = [i for i, name in enumerate(units.detectors) if any(mean.detector == name for mean in pooled.means)]
    names = [units.detectors[i] for i in used]
    for name in sorted(set(units.datasets.tolist())):
        there = units.datasets == name
        values = cube[there][:, :, used]
        if np.isfinite(values).any(axis=1).all(axis=1).any():
            by_name[name] = ranking_of(values, names, groups=None if codes is None else codes[there], **options)
        else:
            skipped.append(name)
    notes = [f"No {units.unit} of {in_words(skipped)} has a value of every detector."] if skipped else []
    opposites = tuple(_opposites(pooled.pairs, by_name))
    verdict = " ".join([pooled.verdict, *map(str, opposites[:_MOST_OPPOSITES])])
    if len(opposites) > _MOST_OPPOSITES:
        verdict += f" So do {count_of(len(opposites) - _MOST_OPPOSITES, 'more pair')}."
    return replace(
        pooled, datasets=by_name, opposites=opposites, verdict=verdict, notes=(*units.notes, *pooled.notes, *notes)
    )


def _opposites(pairs: Sequence[Pair], datasets: Mapping[str, Ranking]) -> Iterator[Opposite]:
    """Yield the pairs that are told apart in opposite directions on two datasets."""
    apart = {
        name: {(pair.first, pair.second): pair for pair in ranking.pairs if pair.told_apart}
        for name, ranking in datasets.items()
    }
    for pair in pairs:
        ahead = next(
            ((name, found[key]) for name, found in apart.items() if (key := (pair.first, pair.second)) in found), None
        )
        behind = next(
            ((name, found[key]) for name, found in apart.items() if (key := (pair.second, pair.first)) in found), None
        )
        if ahead is not None and behind is not None:
            yield Opposite(pair, ahead, behind)


def ranking_of(
    values: FloatArray,
    detectors: Sequence[str],
    *,
    groups: IntArray | None = None,
    metric: str = "",
    level: float = 0.95,
    higher_is_better: bool = True,
    unit: str = "unit",
) -> Ranking:
    """Return the ranking of units × detectors, or of units × seeds × detectors, NaN where there is no value."""
    cube = values[:, None] if values.ndim == 2 else values
    has = np.asarray(np.isfinite(cube).any(axis=1))
    valued = np.asarray(has.any(axis=0))
    notes = []
    if not valued.all():
        lacking = [name for name, there in zip(detectors, valued, strict=True) if not there]
        notes.append(f"Left out, without any value: {in_words(lacking, most=len(lacking))}.")
    names = [name for name, there in zip(detectors, valued, strict=True) if there]
    kept = np.asarray(has[:, valued].all(axis=1))
    if not names or not kept.any():
        counts = ", ".join(f"{name} {n:,}" for name, n in zip(detectors, has.sum(axis=0).tolist(), strict=True))
        whole = f"no {unit} has a value of every detector"
        raise ValueError(
            f"{label_of(metric) or 'the table'}: {whole} (units with one: {counts}); there is nothing to rank"
        )
    if not kept.all():
        left = len(kept) - int(kept.sum())
        notes.append(f"{left:,} of {_counted(len(kept), unit)} left out, where not every detector has a value.")
    cube = cube[kept][:, :, valued]
    by_unit = np.asarray(np.nanmean(cube, axis=1))
    means = by_unit.mean(axis=0)
    # Means that differ by rounding alone are equal, whatever the order of the units.
    places = np.round(means / (float(np.abs(means).max()) or 1.0), 12) * (-1 if higher_is_better else 1)
    order = np.lexsort((np.array(names), places))
    places = places[order]
    names, means, by_unit, cube = [names[i] for i in order], means[order], by_unit[:, order], cube[:, :, order]
    sums, sizes = _by_group(by_unit, None if groups is None else groups[kept])
    variance, freedom = seed_effects(cube)
    if cube.shape[1] > 1:
        notes.append(_about_seeds(names, freedom))
    of_seeds: dict[str, Any] = {"seed_variance": variance, "seed_freedom": freedom} if variance.any() else {}
    least, most = float(by_unit.min()), float(by_unit.max())
    ends = (0.0, 1.0) if least >= 0 and most <= 1 else (least, most)
    low, high = mean_intervals(sums, sizes, level=level, ends=ends, **of_seeds)
    if ends != (0.0, 1.0):
        notes.append(
            f"Values lie outside [0, 1]: intervals of means take it that all values lie between {least:.4g} and "
            f"{most:.4g}, as those of the table do."
        )
    ranks = (places[:, None] > places).sum(axis=1) + ((places[:, None] == places).sum(axis=1) + 1) / 2
    found = compare_all(sums / sizes.mean(), level=level, **of_seeds) if len(names) > 1 else None
    pairs = () if found is None else _pairs(names, found, known=len(sizes) >= FEWEST)
    rows = zip(names, means.tolist(), low.tolist(), high.tolist(), ranks.tolist(), strict=True)
    ranking = Ranking(
        metric=metric,
        means=tuple(Mean(*row, n_units=len(by_unit)) for row in rows),
        pairs=pairs,
        groups=_stretches(names, {frozenset((p.first, p.second)) for p in pairs if p.told_apart}),
        verdict="",
        level=level,
        higher_is_better=higher_is_better,
        unit=unit,
        n_units=len(by_unit),
        n_groups=len(sizes),
        n_flips=0 if found is None else found.n_flips,
        notes=tuple(notes),
    )
    return replace(ranking, verdict=_verdict(ranking))


def _by_group(values: FloatArray, groups: IntArray | None) -> tuple[FloatArray, FloatArray]:
    """Return the sum of each group, and how many units it has."""
    if groups is None:
        return values, np.ones(len(values))
    _, place = np.unique(groups, return_inverse=True)
    return np.array([np.bincount(place, column) for column in values.T]).T, np.bincount(place).astype(np.float64)


def _about_seeds(names: Sequence[str], freedom: FloatArray) -> str:
    single = [name for name, free in zip(names, freedom, strict=True) if free == 0]
    several = "Values are means over seeds; what a seed changes in all units alike is part of the test"
    if not single:
        return f"{several}."
    return f"{several}, but for {in_words(single, most=len(single))}, with a single seed."


def _pairs(names: Sequence[str], found: Comparisons, *, known: bool) -> tuple[Pair, ...]:
    """Return the comparisons of all pairs."""
    places = zip(*(each.tolist() for each in np.triu_indices(len(names), 1)), strict=True)
    low, high = (end if known else np.full_like(end, np.nan) for end in (found.low, found.high))
    columns = (column.tolist() for column in (found.difference, low, high, found.p, found.told_apart))
    return tuple(Pair(names[i], names[j], *row) for (i, j), row in zip(places, zip(*columns, strict=True), strict=True))


def _stretches(names: Sequence[str], apart: set[frozenset[str]]) -> tuple[tuple[str, ...], ...]:
    """Return the longest stretches of an order in which no two are told apart."""
    stretches: list[tuple[str, ...]] = []
    last_stop = 0
    for start in range(len(names)):
        stop = start + 1
        while stop < len(names) and not any(frozenset((names[i], names[stop])) in apart for i in range(start, stop)):
            stop += 1
        if stop > last_stop:
            stretches.append(tuple(names[start:stop]))
            last_stop = stop
    return tuple(stretches)


def _verdict(ranking: Ranking) -> str:
    """Say what may be said of the order."""
    first, others = ranking.means[0], ranking.means[1:]
    over = f"over {_counted(ranking.n_units, ranking.unit)}"
    if ranking.n_groups < ranking.n_units:
        over = f"{over} in {count_of(ranking.n_groups, 'group')}"
    about = "" if ranking.higher_is_better else " (lower is better)"
    by = f"By {label_of(ranking.metric)}, " if ranking.metric else ""
    if not others:
        interval = _interval(first.low, first.high)
        said = f"{first.detector} has {first.mean:.3f}{interval and ' '}{interval} {over}"
        return f"{by}{said}; there is no other detector to compare it with."
    few = _too_few(ranking)
    with_first = [pair for pair in ranking.pairs if pair.first == first.detector]
    alike = [pair for pair in with_first if not pair.told_apart]
    if len(others) == 1:
        (pair,) = ranking.pairs
        ends = (pair.low, pair.high) if ranking.higher_is_better else (-pair.high, -pair.low)
        interval = _interval(*ends)
        difference = f"{abs(pair.difference):.3f}{interval and ' '}{interval}"
        one, other = f"{first.detector} ({first.mean:.3f})", f"{others[0].detector} ({others[0].mean:.3f})"
        if pair.told_apart:
            return f"{by}{one} is ahead of {other} by {difference} {over}{about}: {pair}."
        return f"{by}{one} and {other} are {pair} {over}{about}: the difference is {difference}.{few}"
    one = f"{first.detector} ({first.mean:.3f})"
    if not alike:
        largest = max(pair.p for pair in with_first)
        each = f"{TOLD_APART} from each ({_at_most(largest, len(others))})"
        return f"{by}{one} is ahead of all {len(others)} others {over}{about}: {each}."
    n_apart = sum(pair.told_apart for pair in ranking.pairs)
    if not n_apart:
        smallest = min(pair.p for pair in ranking.pairs)
        end = f"({_at_least(smallest, len(ranking.pairs))})"
        return (
            f"{by}{'no' if by else 'No'} two of {len(others) + 1} detectors are {TOLD_APART} {over}{about} {end}.{few}"
        )
    names = in_words([pair.second for pair in alike])
    extreme = "highest" if ranking.higher_is_better else "lowest"
    if len(alike) == len(others):
        rest = f"{count_of(n_apart, 'pair')} of {len(ranking.pairs)} {'is' if n_apart == 1 else 'are'} {TOLD_APART}"
        return f"{by}{one} has the {extreme} mean {over}{about}, but is {NOT_TOLD_APART} from any other; {rest}."
    apart = [pair for pair in with_first if pair.told_apart]
    behind = in_words([pair.second for pair in apart]) if len(apart) < 4 else f"{len(apart)} of {len(others)} others"
    largest, smallest = max(pair.p for pair in apart), min(pair.p for pair in alike)
    ahead = f"ahead of {behind} {over}{about}, {TOLD_APART} ({_at_most(largest, len(apart))})"
    return f"{by}{one} is {ahead}, and {NOT_TOLD_APART} from {names} ({_at_least(smallest, len(alike))})."


def _at_most(largest: float, count: int) -> str:
    return f"{'largest ' if count > 1 and largest >= LEAST_P else ''}{p_in_words(largest)}"


def _at_least(smallest: float, count: int) -> str:
    return f"{'smallest ' if count > 1 else ''}{p_in_words(smallest)}"


def _too_few(ranking: Ranking) -> str:
    """Say where no difference, however large, could be told apart."""
    least = math.ceil(1 - math.log2(1 - ranking.level))
    if ranking.n_groups >= least:
        return ""
    what = (
        count_of(ranking.n_groups, "group")
        if ranking.n_groups < ranking.n_units
        else _counted(ranking.n_units, ranking.unit)
    )
    verb = "is" if ranking.n_groups == 1 else "are"
    return f" {what} {verb} too few to tell any two apart: it takes at least {least}."


def _counted(count: int, unit: str) -> str:
    return f"{count:,} series" if unit == "series" else count_of(count, unit)


def _interval(low: float, high: float) -> str:
    return "" if math.isnan(low) else f"[{low:.3f}, {high:.3f}]"
