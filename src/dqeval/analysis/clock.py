"""What timestamps tell of a series: several of them in one table, missing points, a clock that runs unevenly."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dqeval.core import durations
from dqeval.core.moments import shown
from dqeval.core.times import Times, are_known
from dqeval.core.types import BoolArray, FloatArray
from dqeval.render.tables import count_of, percent

SAME_STEP = 0.1  # months differ by less, and are steps of one clock
GAP = 1.5  # in steps of the clock
FEWEST_EVEN = 0.8  # of the steps; with fewer there is no clock to miss a point of
SHORTEST_STRETCH = 10  # points on average between two jumps back; with fewer the rows are not in order


@dataclass(frozen=True, slots=True, eq=False)
class NumericTimes:
    """Timestamps as numbers: as they are, or in seconds for dates.

    Attributes
    ----------
    numbers : array of float, shape (n,)
    unit : str
        " s" for dates, otherwise nothing.
    given : array, shape (n,)
        The timestamps.
    zone : str, optional
        The time zone in which dates with one are shown.
    """

    numbers: FloatArray
    unit: str
    given: Times
    zone: str | None = None

    def place(self, step: int) -> str:
        """Say where a step is."""
        moment = self.given[step]
        return f"after point {step:,} ({shown(moment, self.zone) if self.zone and self.unit else moment})"


def steps_of(numbers: FloatArray) -> FloatArray:
    """Return the step from each number to the next: infinite where no float can hold it."""
    with np.errstate(over="ignore"):
        return np.diff(numbers)


def trouble(timestamps: Times, zone: str | None = None) -> list[str]:
    """Return in sentences what is wrong with timestamps that can be read; dates with a zone are shown in it."""
    with np.errstate(over="ignore"):  # of huge steps, and of the points that are missing between tiny ones
        return list(_trouble(timestamps, zone))


def _trouble(timestamps: Times, zone: str | None) -> Iterator[str]:
    times = numeric_times(timestamps, zone)
    if times is None or len(times.numbers) < 3:
        return
    steps = np.diff(times.numbers)
    if (steps < 0).any():
        yield _jumps(times, steps)
    if (steps == 0).any():
        first = int(np.argmax(steps == 0))
        again = count_of(int(np.count_nonzero(steps == 0)), "timestamp")
        yield f"{again} the same as the one before, first {times.place(first)}: keep one row for each"
    # Rows in no order have no steps to speak of.
    if (steps > 0).any() and len(times.numbers) >= SHORTEST_STRETCH * np.count_nonzero(steps < 0):
        yield from _uneven(times, steps)


def numeric_times(timestamps: Times, zone: str | None = None) -> NumericTimes | None:
    """Return timestamps as numbers; None where they are neither numbers nor moments, or too far apart."""
    if not are_known(timestamps):
        return None
    if timestamps.dtype.kind == "M":
        found, unit = (timestamps - timestamps[:1]) / np.timedelta64(1, "s"), " s"
    else:
        found, unit = timestamps.astype(np.float64), ""
    # Not finite either if one of them is not.
    finite = not len(found) or math.isfinite(float(found.max()) - float(found.min()))
    return NumericTimes(found, unit, timestamps, zone) if finite else None


def _jumps(times: NumericTimes, steps: FloatArray) -> str:
    """Say what it means that the time goes back."""
    back = np.flatnonzero(steps < 0)
    if len(back) == len(steps):
        return "the time runs backwards from row to row: put the rows in the order of time"
    often, where = times_in_words(len(back)), f"first {times.place(int(back[0]))}"
    if len(times.numbers) < SHORTEST_STRETCH * (len(back) + 1):
        return (
            f"the rows are not in the order of time: {len(back):,} of {len(steps):,} steps go back, {where}: sort them"
        )
    if _starts_again(times.numbers, back).mean() >= 0.5:
        found = f"the time starts again {often}, {where}: are these {len(back) + 1:,} series in one table?"
        return f"{found} Metrics take them for one: score each by itself, with --series COLUMN"
    return f"the time goes back {often}, {where}: was the clock put back, or are rows out of order?"


def _starts_again(numbers: FloatArray, back: NDArray[np.intp]) -> BoolArray:
    """Tell for each jump whether it goes back at least half of the stretch before it."""
    begins = np.concatenate([[0], back[:-1] + 1])
    return np.asarray(numbers[back] - numbers[back + 1] >= (numbers[back] - numbers[begins]) / 2)


def _uneven(times: NumericTimes, steps: FloatArray) -> Iterator[str]:
    forward = steps[steps > 0]
    step = float(np.median(forward))
    even = float(np.mean(np.abs(forward - step) <= SAME_STEP * step))
    if even < FEWEST_EVEN:
        spread = (
            f"steps go from {forward.min():g} to {forward.max():g}{times.unit}, and {percent(even)} are about {step:g}"
        )
        advice = "count time in cells, with --resolution such as 1min" if times.unit else "resample if that matters"
        yield f"the clock is uneven: {spread}; metrics count points, not time: {advice}"
        return
    gaps = np.flatnonzero(steps > GAP * step)
    if len(gaps):
        missing = np.rint(steps[gaps] / step) - 1
        found = f"{missing.sum():,.0f} timestamps missing of a clock with steps of {step:g}{times.unit}"
        found += f", in {count_of(len(gaps), 'gap')}, the longest of {missing.max():,.0f}, first {times.place(gaps[0])}"
        yield f"{found}: metrics take the points beside a gap for neighbours; {_advice(step, times.unit)}"


def _advice(step: float, unit: str) -> str:
    """Say what to do about gaps: count time, if its step can be the length of a cell."""
    cell = durations.in_words(round(step * durations.UNITS["s"]), exact=True) if unit else f"{step:.0f}"
    if not (unit or step.is_integer()):
        return "fill the gaps, or split the series there"
    asked = f"--resolution {cell.replace(' ', '').replace(',', '')}"
    return f"count time in cells, with {asked}, and what is missing for longer than --max-gap is left out"


def times_in_words(count: int) -> str:
    """Return how often something happens."""
    return "once" if count == 1 else f"{count:,} times"
