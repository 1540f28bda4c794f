"""How far metrics tell all events detected from one, as the number, the length and the share of events vary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dqeval import metrics
from dqeval.analysis.panel import panel
from dqeval.core.events import find_events
from dqeval.core.registry import experiment, label_of
from dqeval.core.types import BoolArray, FloatArray, IntArray
from dqeval.experiments import score_plots
from dqeval.experiments.outcome import PAPER_METRICS, Cell, Claim, Outcome, metric_header
from dqeval.experiments.setting import Setting
from dqeval.experiments.verdicts import is_majority, metrics_in_words
from dqeval.render.tables import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NEAR = 10
SCORES = ("score_max", "score_gap")
# What changes by less is stable, and a gap below it is near zero: the paper gives no bounds.
SMALL = 0.05
LONG = 20  # where, the paper says, scores have dropped
DROPPING = ("point_f1", "auc_pr", "vus_pr")  # rapidly: by more than half
KEEPING = ("affiliation_f1", "dqe")
COLLAPSING = ("point_f1", "vus_pr", "vus_roc", "pate")

SECTION = "4.2.1"
_LOOKS = {  # dashes and marker, beside the colours of the palette
    "point_f1": ("-", "o"),
    "auc_roc": ("--", "s"),
    "auc_pr": ("-.", "^"),
    "point_adjusted_k_f1": (":", "v"),
    "vus_roc": ("--", "D"),
    "vus_pr": ("-.", "P"),
    "pate": (":", "X"),
    "range_f1": ("-", "<"),
    "etapr_f1": ("--", ">"),
    "affiliation_f1": ("-", "*"),
    "dqe": ("-", None),
}
_MARKERS = 6  # to a line


@dataclass(frozen=True, slots=True)
class Sweep:
    """What varies, and what is held.

    Attributes
    ----------
    name : "number", "length" or "ratio"
        What varies: the number of events, their length, or the share of their points in the series.
    label : str
    held : mapping of str to number
        The two others.
    values : sequence of number
    shown : sequence of number
        Those in the table, which are all that a quick run has.
    logarithmic : bool
        Whether the axis of the figure is.
    """

    name: str
    label: str
    held: Mapping[str, float]
    values: Sequence[float]
    shown: Sequence[float]
    logarithmic: bool = False


SWEEPS = (
    Sweep("number", "number of events", {"length": 10, "ratio": 0.01}, range(2, 101), (2, 5, 10, 20, 50, 100), True),
    Sweep(
        "length",
        "length of events",
        {"number": 10, "ratio": 0.1},
        (*range(1, 101), *range(200, 2001, 100)),
        (1, 5, 10, 20, 50, 100, 500, 2000),
        True,
    ),
    Sweep(
        "ratio",
        "share of anomalous points",
        {"number": 10, "length": 10},
        [i / 100 for i in range(1, 31)],
        (0.01, 0.05, 0.1, 0.2, 0.3),
    ),
)


@dataclass(frozen=True, slots=True)
class Placed:
    """Events spread evenly over a series, and the middle point of each."""

    labels: BoolArray
    middles: IntArray


@dataclass(frozen=True, slots=True)
class Found:
    """What the metrics gave along a sweep.

    Attributes
    ----------
    sweep : Sweep
    values : array of float, shape (n,)
        What varied.
    scores : mapping of str to mapping of str to array of float, shape (n,)
        score_max and score_gap, by metric.
    """

    sweep: Sweep
    values: FloatArray
    scores: Mapping[str, Mapping[str, FloatArray]]

    @property
    def name(self) -> str:
        """The title of the table."""
        return f"By {self.sweep.name}"

    def at(self, score: str, metric: str, value: float) -> float:
        """Return a score where what varies is ``value``."""
        return float(self.scores[score][metric][np.flatnonzero(self.values == value)[0]])

    def change(self, score: str, metric: str) -> float:
        """Return how far a score moves along the sweep, from its lowest to its highest."""
        return float(np.ptp(self.scores[score][metric]))


@experiment(name="sweeps", label="Number, length and ratio of anomalies", published="Section 4.2.1, its figure")
def sweeps(setting: Setting) -> Iterator[Outcome]:
    """Measure how far eleven metrics tell all events detected from one, as number, length and ratio of events vary."""
    found = [_measure(sweep, setting) for sweep in SWEEPS]
    yield Outcome(
        name="sweeps",
        title="Scores with a point of every event detected, and how far above those with a point of one",
        tables={each.name: _table(each) for each in found},
        cells=[cell for each in found for cell in _cells(each)],
        claims=[*_by_number(found[0]), *_by_length(found[1]), *_by_ratio(found[2])],
        notes=list(_notes(found)),
        figures={"sweeps": lambda: figure(found)},
    )


def place_events(number: float, length: float, ratio: float) -> Placed:
    """Spread events evenly over a series, as in the paper's Table 1: their middles are multiples of one distance.

    Parameters
    ----------
    number, length : int
        Of the events.
    ratio : float
        The share of the points of the series that lie in events.

    Examples
    --------
    >>> both = place_events(2, 3, 0.3)
    >>> both.labels.astype(int).tolist(), both.middles.tolist()
    ([0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0], [6, 12])
    """
    count, width = int(number), int(length)
    labels = np.zeros(round(count * width / ratio), dtype=bool)
    middles = len(labels) // (count + 1) * np.arange(1, count + 1)
    for start in middles - (width - 1) // 2:
        labels[start : start + width] = True
    return Placed(labels, middles)


def figure(found: Sequence[Found]) -> Figure:
    """Draw score_max above and score_gap below, against what varied."""
    drawn, rows = score_plots.grid(len(SCORES), len(found), width=7.0, height=5.0, sharex="col", sharey=True)
    for row, score in zip(rows, SCORES, strict=True):
        for axes, each in zip(row, found, strict=True):
            _draw(axes, each, score)
        row[0].set_ylabel(score)
    for axes, each in zip(rows[-1], found, strict=True):
        axes.set_xlabel(each.sweep.label)
    score_plots.draw_legend(drawn, *rows[0][0].get_lines(), ncols=6, handlelength=3.5)
    return drawn


def _measure(sweep: Sweep, setting: Setting) -> Found:
    values = sweep.shown if setting.quick else sweep.values
    points = []
    for done, value in enumerate(values, start=1):
        points.append(_scores(place_events(**{**sweep.held, sweep.name: value})))
        setting.progress(f"sweeps by {sweep.name}: {done} of {len(values)}")
    scores = {
        score: {metric: np.array([point[score][metric] for point in points]) for metric in PAPER_METRICS}
        for score in SCORES
    }
    return Found(sweep, np.array(values, dtype=float), scores)


def _scores(both: Placed) -> dict[str, dict[str, float]]:
    highest, lowest = (
        panel(both.labels, _detections(both, middles), near=NEAR, metrics=PAPER_METRICS).values
        for middles in (both.middles, both.middles[:1])
    )
    return {"score_max": dict(highest), "score_gap": {m: highest[m] - lowest[m] for m in PAPER_METRICS}}


def _detections(both: Placed, middles: IntArray) -> BoolArray:
    detected = np.zeros(len(both.labels), dtype=bool)
    detected[middles] = True
    return detected


def affiliation_gaps(length: float) -> list[float]:
    """Return the gap of AF for other detections than those of the sweep, which the paper does not describe.

    The first, the middle or the last point of every event is detected, and against that the same of the first, the
    middle or the last event alone.
    """
    both = place_events(**{**SWEEPS[1].held, "length": length})
    events = find_events(both.labels)
    gaps = []
    for chosen in (events.starts, both.middles, events.stops - 1):
        of_all = metrics.affiliation_f1(both.labels, _detections(both, chosen))
        singles = chosen[[0, len(chosen) // 2, -1]]
        gaps += [of_all - metrics.affiliation_f1(both.labels, _detections(both, one)) for one in singles]
    return gaps


def _table(found: Found) -> Table:
    shown = [(i, value) for i, value in enumerate(found.values) if value in found.sweep.shown]
    rows = [
        (f"{value:g}", score, *(f"{found.scores[score][metric][i]:.2f}" for metric in PAPER_METRICS))
        for score in SCORES
        for i, value in shown
    ]
    for name, of in (("lowest", np.min), ("mean", np.mean), ("highest", np.max)):
        rows.append((name, "score_gap", *(f"{of(found.scores['score_gap'][m]):.2f}" for m in PAPER_METRICS)))
    held = ", ".join(f"{name} {value:g}" for name, value in found.sweep.held.items())
    tried = f"{len(found.values)} values from {found.values[0]:g} to {found.values[-1]:g}"
    note = f"{held}; lowest, mean and highest over {tried}"
    return Table(metric_header(PAPER_METRICS, found.sweep.name, "score"), rows, note=note, text_columns=2)


def _cells(found: Found) -> Iterator[Cell]:
    for i, value in enumerate(found.values):
        for score in SCORES:
            for metric in PAPER_METRICS:
                row = f"{found.sweep.name} {value:g}, {score}"
                yield Cell("sweeps", found.name, row, metric, float(found.scores[score][metric][i]))


def _notes(found: Sequence[Found]) -> Iterator[str]:
    yield (
        "score_max: the middle point of every event is detected. score_gap: how far that is above the score for the "
        "middle point of the first event alone. Events are spread evenly, as in Table 1."
    )
    tried = ", ".join(f"{each.sweep.name} from {each.values[0]:g} to {each.values[-1]:g}" for each in found)
    yield f"The paper does not say which values it tries, nor the near range: here {tried}, and near {NEAR}."
    yield f"Stable is here what changes by less than {SMALL:g}, and near zero what is less than {SMALL:g}."
    gaps = np.array([affiliation_gaps(length) for length in SWEEPS[1].shown])
    yield (
        f"score_gap of AF depends little on what is detected: over lengths from {SWEEPS[1].shown[0]:g} to "
        f"{SWEEPS[1].shown[-1]:g}, with the first, middle or last point of every event, and of the first, middle or "
        f"last event alone, it lies between {gaps.min():.3f} and {gaps.max():.3f}; for any one of these choices it "
        f"moves with the length by {np.ptp(gaps, axis=0).max():.3f} at most."
    )


def _by_number(found: Found) -> Iterator[Claim]:
    changes = {metric: found.change("score_max", metric) for metric in PAPER_METRICS}
    worst = max(changes, key=lambda metric: changes[metric])
    text = "number: score_max of every metric is stable"
    shown = f"{label_of(worst)} changes the most, by {changes[worst]:.1g}"
    yield Claim(SECTION, text, changes[worst] < SMALL, shown)
    yield _largest(found)


def _by_length(found: Found) -> Iterator[Claim]:
    yield _drop_claim(found)
    yield _collapse_claim(found)
    for metric in ("range_f1", "affiliation_f1"):
        gap, change = found.scores["score_gap"][metric], found.change("score_gap", metric)
        text = f"length: score_gap of {label_of(metric)} does not collapse, but is unstable"
        shown = f"from {gap.min():.2f} to {gap.max():.2f}"
        yield Claim(SECTION, text, bool(gap.min() >= SMALL and change >= SMALL), shown)
    yield _largest(found)
    changes = {metric: found.change("score_gap", metric) for metric in PAPER_METRICS}
    first, second = sorted(changes, key=lambda metric: changes[metric])[:2]
    text = "length: score_gap of DQE is the most stable"
    shown = f"{label_of(first)} changes by {changes[first]:.3f}, then {label_of(second)} by {changes[second]:.3f}"
    yield Claim(SECTION, text, first == "dqe", shown)


def _by_ratio(found: Found) -> Iterator[Claim]:
    stable = [m for m in PAPER_METRICS if all(found.change(score, m) < SMALL for score in SCORES)]
    text = "ratio: score_max and score_gap of most metrics are stable"
    yield Claim(SECTION, text, is_majority(stable), metrics_in_words(stable))
    yield _largest(found)


def _largest(found: Found) -> Claim:
    """Decide whether DQE has the largest gap at every value."""
    gaps = found.scores["score_gap"]
    others = np.array([gaps[metric] for metric in PAPER_METRICS if metric != "dqe"])
    ahead = gaps["dqe"] - others.max(axis=0)
    shown = f"at {(ahead > 0).sum()} of {len(ahead)} values; ahead of the next by {ahead.min():.2f} at least"
    text = f"{found.sweep.name}: DQE has the largest score_gap everywhere"
    return Claim(SECTION, text, bool((ahead > 0).all()), shown)


def _drop_claim(found: Found) -> Claim:
    """Decide whether score_max has dropped from where events are shortest to where they are long."""
    first = found.values[0]
    ends = {m: (found.at("score_max", m, first), found.at("score_max", m, LONG)) for m in PAPER_METRICS}
    spared = tuple(metric for metric, (short, long) in ends.items() if short - long < SMALL)
    rapid = all(long < short / 2 for short, long in (ends[metric] for metric in DROPPING))
    text = (
        f"length: at {LONG}, score_max has dropped though every event is detected, rapidly (by more than half) for "
        f"{_names(DROPPING)}, and for all metrics but {_names(KEEPING)}"
    )
    shown = ", ".join(f"{label_of(metric)} {short:.2f} to {long:.2f}" for metric, (short, long) in ends.items())
    return Claim(SECTION, text, rapid and spared == KEEPING, f"from length {first:g} to {LONG}: {shown}")


def _collapse_claim(found: Found) -> Claim:
    """Decide whether the gaps of some metrics are near zero where events are long, and say from which length on."""
    since = {metric: _near_zero_since(found, metric) for metric in COLLAPSING}
    starts = [start for start in since.values() if start is not None]
    holds = len(starts) == len(since)
    here = f"here for all four from {max(starts):g} on" if holds else "here not for all four"
    text = f"length: score_gap of {_names(COLLAPSING)} shrinks to near zero as events grow to {LONG} and more ({here})"
    shown = "; ".join(
        f"{label_of(metric)} {found.at('score_gap', metric, LONG):.3f} at {LONG}, "
        f"{found.scores['score_gap'][metric][-1]:.3f} at {found.values[-1]:g}"
        + (f", below {SMALL:g} from {start:g} on" if start is not None else "")
        for metric, start in since.items()
    )
    return Claim(SECTION, text, holds, shown)


def _names(chosen: Sequence[str]) -> str:
    *others, last = map(label_of, chosen)
    return f"{', '.join(others)} and {last}"


def _near_zero_since(found: Found, metric: str) -> float | None:
    """Return the value from which on the gap of a metric is near zero, if there is one."""
    wide = np.flatnonzero(found.scores["score_gap"][metric] >= SMALL)
    first = wide[-1] + 1 if len(wide) else 0
    return float(found.values[first]) if first < len(found.values) else None


def _draw(axes: Axes, found: Found, score: str) -> None:
    from matplotlib.ticker import NullFormatter

    for i, metric in enumerate(PAPER_METRICS):
        dashes, marker = _LOOKS[metric]
        axes.plot(
            found.values,
            found.scores[score][metric],
            label=label_of(metric),
            color=score_plots.PALETTE[i],
            linestyle=dashes,
            linewidth=2.2 if metric == "dqe" else 1.0,
            marker=marker,
            markersize=3.5,
            # Of lines that lie on one another, markers in other places tell each.
            markevery=(i / len(PAPER_METRICS) / _MARKERS, 1 / _MARKERS),
        )
    if found.sweep.logarithmic:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:,g}")
        axes.xaxis.set_minor_formatter(NullFormatter())
    else:
        axes.locator_params(axis="x", nbins=4)
    axes.set(ylim=(-0.03, 1.05))
    axes.grid(axis="y", linewidth=0.3)
