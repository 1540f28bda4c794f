"""What operators ask of scores, at every threshold: events detected, false alarms, and time in alarm."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from dqeval.core.durations import UNITS
from dqeval.core.events import split_at
from dqeval.core.matching import highest_in_events
from dqeval.core.prepared import Scored
from dqeval.core.scaling import AT_ONCE
from dqeval.core.sweep import Sweep, sweep_of
from dqeval.core.thresholds import shortest_threshold
from dqeval.core.types import Events, FloatArray, IntArray
from dqeval.kernels.runs import tally_false_alarms
from dqeval.metrics.alarms_at_threshold import zone_starts
from dqeval.render import drawing
from dqeval.render.tables import Table, percent
from dqeval.support.frames import Framed
from dqeval.support.on_demand import OnDemand

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Per = Literal["day", "1,000 points"]  # what false alarms are counted by

MOST_DRAWN = 0.5  # of the points in alarm: beyond, few alarms only mean that they have merged


@dataclass(frozen=True, eq=False, kw_only=True)
class AlarmCurve(Framed):
    """Events detected and false alarms at every threshold; an alarm is a run of points that score at least as much.

    ``to_frame()`` has a row per threshold.

    Attributes
    ----------
    thresholds : array of float, shape (n,)
        The distinct scores, descending; made when they are first asked for.
    detected : array of int, shape (n,)
        How many events are detected: have an alarm in their zone, from ``early`` points before an event, but not in the
        one before, to its end.
    false_alarms : array of int, shape (n,)
        How many alarms touch no zone.
    alarm_points : array of int, shape (n,)
        How many points are in alarm.
    n_events, points : int
        How many events and points there are.
    resolution : int or None
        How many nanoseconds a point lasts; None where there is no clock.
    notes : tuple of str
        What was left out on a clock, and why.
    """

    thresholds: OnDemand[FloatArray] = OnDemand()
    detected: IntArray
    false_alarms: IntArray
    alarm_points: IntArray
    n_events: int
    points: int
    resolution: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def events_detected(self) -> FloatArray:
        """The share of events that are detected at each threshold; NaN where there is no event."""
        return self.detected / self.n_events if self.n_events else np.full(len(self.detected), np.nan)

    @property
    def false_alarms_per_day(self) -> FloatArray:
        """False alarms per day at each threshold; NaN where there is no clock."""
        return self.false_alarms_per("day")

    @property
    def false_alarms_per_1000(self) -> FloatArray:
        """False alarms per 1,000 points at each threshold."""
        return self.false_alarms_per("1,000 points")

    def false_alarms_per(self, unit: Per) -> FloatArray:
        """Return false alarms per day, NaN where there is no clock, or per 1,000 points, at each threshold."""
        each = _one_per(unit, self.points, self.resolution)
        return np.full(len(self.false_alarms), np.nan) if each is None else _rates(self.false_alarms, each)

    @property
    def gains(self) -> IntArray:
        """The positions of the thresholds at which more events are detected than at any above."""
        return np.flatnonzero(np.diff(self.detected, prepend=0))

    def rounded_threshold(self, position: int) -> float:
        """Return the number with the fewest digits at which the same points are detected as at a threshold."""
        return shortest_threshold(self.thresholds[position : position + 2], float(self.thresholds[position]))

    def _columns(self) -> dict[str, Any]:
        return {
            "threshold": self.thresholds,
            "detected": self.detected,
            "events_detected": self.events_detected,
            "false_alarms": self.false_alarms,
            "false_alarms_per_1000": self.false_alarms_per_1000,
            "false_alarms_per_day": self.false_alarms_per_day,
            "time_in_alarm": self.alarm_points / self.points,
        }

    def table(self) -> Table:
        """Return what each further event costs: the threshold that detects it, with the false alarms there."""
        unit = self.unit
        rates, in_alarm = self.false_alarms_per(unit), self.alarm_points / self.points
        rows = [
            (
                f"{self.detected[k]:,} of {self.n_events:,}",
                str(self.rounded_threshold(k)),
                f"{self.false_alarms[k]:,}",
                f"{rates[k]:.3g}",
                percent(in_alarm[k], 2),
            )
            for k in self.gains.tolist()
        ]
        header = ("events detected", "threshold", "false alarms", f"per {unit}", "time in alarm")
        return Table(header, rows, note="; ".join(self.notes))

    @property
    def unit(self) -> Per:
        """What false alarms are counted by: a day, or 1,000 points where there is no clock."""
        return "1,000 points" if self.resolution is None else "day"

    @property
    def budgets(self) -> FloatArray:
        """The budget of false alarms, per unit, that a threshold needs: it must hold at all thresholds above, too."""
        return np.asarray(np.maximum.accumulate(self.false_alarms_per(self.unit)))

    @property
    def smallest_budget(self) -> float:
        """The smallest budget above 0 that can make a difference: that of a single false alarm."""
        return float(_one_per(self.unit, self.points, self.resolution) or 0)

    @property
    def drawn(self) -> IntArray:
        """The positions of the thresholds in a drawing: the gains, but for those with most of the time in alarm."""
        return self.gains[self.alarm_points[self.gains] <= MOST_DRAWN * self.points]

    def plot(self, ax: Axes | None = None) -> Axes:
        """Plot the share of events that are detected within a budget of false alarms.

        The budget is per day, or per 1,000 points where there is no clock. Thresholds at which more than half of the
        points are in alarm are left out: below them, few false alarms only mean that alarms have merged.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if not given.

        Returns
        -------
        matplotlib Axes

        Examples
        --------
        >>> series = dqeval.datasets.demo()
        >>> ax = dqeval.alarm_curve(series.labels, series.scores["late"], resolution="1min").plot()
        >>> ax.get_xlabel(), ax.get_ylabel()
        ('false alarms per day, at most', 'share of events detected')
        """
        drawn, axes = self.drawn, drawing.axes_or_new(ax)
        shares = self.events_detected[drawn]
        drawing.draw_shares(axes, self.budgets[drawn], shares, smallest=self.smallest_budget)
        axes.set(xlabel=f"false alarms per {self.unit}, at most", ylabel="share of events detected")
        return axes

    def __str__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table().html()


def alarm_curve_of(scored: Scored, *, early: int, notes: tuple[str, ...] = ()) -> AlarmCurve:
    """Return events detected and false alarms at every threshold; sorting the scores takes longest.

    Where something was not observed, events, their zones and alarms end.
    """
    zones = _zones(scored, early)
    detected, false_alarms = alarm_counts(sweep_of(scored, "all"), zones)
    return AlarmCurve(
        thresholds=partial(getattr, scored.distinct, "values"),
        detected=detected,
        false_alarms=false_alarms,
        alarm_points=scored.distinct.detected.astype(np.intp),
        n_events=len(zones),
        points=zones.length,
        resolution=scored.labelled.resolution,
        notes=notes,
    )


def alarm_counts(sweep: Sweep, zones: Events) -> tuple[IntArray, IntArray]:
    """Return in how many zones there is an alarm, and how many alarms touch no zone, at each threshold."""
    detected = sweep.down(sweep.counted(highest_in_events(sweep.levels, zones)), np.intp)
    return detected, sweep.down(_tally_of_false_alarms(sweep, zones), np.intp)


def threshold_within(scored: Scored, budget: float, *, per: Per, early: int) -> float:
    """Return the threshold that detects most events within a budget; infinite where none detects any.

    It is that of the `AlarmCurve`, of which most is never made.
    """
    if not len(scored.events):
        return float("nan")
    sweep, zones = sweep_of(scored, "all"), _zones(scored, early)
    each = _one_per(per, zones.length, scored.labelled.resolution)
    passed = len(scored.distinct) if each is None else _first_above(budget, each, _tally_of_false_alarms(sweep, zones))
    # Lower thresholds never detect fewer events. Of those that detect as many, a lower one has fewer false alarms only
    # where alarms have merged: the highest is best.
    gains = sweep.count - highest_in_events(sweep.levels, zones)
    gains = gains[gains < passed]
    if not len(gains):
        return float("inf")
    last = int(gains.max())
    values = scored.distinct.values_at(np.arange(last, min(last + 2, sweep.count)))
    return shortest_threshold(values, float(values[0]))


def _first_above(budget: float, each: Fraction, tally: NDArray[np.intc]) -> int:
    """Return the position of the first threshold at which the budget is exceeded; behind the last, if none does."""
    from_the_top, found = tally[:0:-1], 0
    for begin in range(0, len(from_the_top), AT_ONCE):
        counts = found + np.cumsum(from_the_top[begin : begin + AT_ONCE], dtype=np.intp)
        exceeded = _rates(counts, each) > budget
        if exceeded.any():
            return begin + int(np.argmax(exceeded))
        found = counts[-1]
    return len(from_the_top)


def _one_per(unit: Per, points: int, resolution: int | None) -> Fraction | None:
    """Return what a single false alarm comes to; None where there is no clock to count days by."""
    if unit == "1,000 points":
        return Fraction(1000, points)
    return None if resolution is None else Fraction(UNITS["d"], points * resolution)


def _rates(false_alarms: IntArray, each: Fraction) -> FloatArray:
    """Return what some numbers of false alarms come to."""
    # Divided once: 3 in ten days are 0.3 per day, as a budget is written, and not a bit more.
    return np.asarray(false_alarms * float(each.numerator) / each.denominator, dtype=np.float64)


def _zones(scored: Scored, early: int) -> Events:
    """Return where an alarm detects each event."""
    events = scored.events
    return Events(zone_starts(events, early, scored.labelled.breaks), events.stops, events.length)


def _tally_of_false_alarms(sweep: Sweep, zones: Events) -> NDArray[np.intc]:
    """Return by level how many more alarms touch no zone than at the next higher one."""
    breaks, n = sweep.labelled.breaks, zones.length
    starts, stops = np.append(0, zones.stops), np.append(zones.starts, n)
    some = starts < stops
    outside = split_at(Events(starts[some], stops[some], n), breaks)
    ends = np.concatenate([[0], breaks, [n]])
    alone, reaching = np.isin(outside.starts, ends), ~np.isin(outside.stops, ends)
    tally = np.zeros(sweep.count + 1, dtype=np.intc)
    tally_false_alarms(
        sweep.levels, outside.starts, outside.stops, alone.view(np.uint8), reaching.view(np.uint8), tally
    )
    return tally
