"""The interactive report: one HTML file with everything in it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import astuple
from decimal import ROUND_FLOOR, Context, Decimal
from pathlib import Path
from typing import Any

import numpy as np

from dqeval.analysis.compare import comparison_of
from dqeval.analysis.compare_result import Comparison
from dqeval.analysis.explain import THRESHOLDS
from dqeval.analysis.explain_result import Explanation
from dqeval.analysis.near_profile import NearProfile, profile_of
from dqeval.analysis.score_result import dqe_of
from dqeval.core import arguments, thresholds
from dqeval.core.durations import Length
from dqeval.core.prepared import Labelled, Prepared, Scored
from dqeval.core.sampling import Clock
from dqeval.core.types import COLUMNS, SCORE_NAMES, Curve, FloatArray, Progress
from dqeval.datasets.door import Data, prepare
from dqeval.metrics.alarm_curve import AlarmCurve, alarm_curve_of
from dqeval.render.drawing import COLOURS, UNOBSERVED
from dqeval.render.html import fill_template, source_of
from dqeval.render.packing import packed, packed_scores, packed_values
from dqeval.render.tables import Table, count_of, printable
from dqeval.render.time_scale import TimeScale, event_times, scale_of, size_in_words
from dqeval.support import extras
from dqeval.support.writing import write_text

SCRIPT = "explorer.js"  # beside pages that share it


def report(
    data: Data | Prepared,
    path: str | Path,
    *,
    near: Length | None = None,
    period: Length | None = None,
    times: Any = None,
    resolution: Length | None = None,
    max_gap: Length | None = None,
    metrics: Sequence[str] | str | None = None,
    progress: Progress | None = None,
    workers: int | None = None,
) -> Comparison:
    """Write an interactive report on some detectors: one HTML file that needs no server and no network.

    Parameters
    ----------
    data : Series, mapping of str to array-like, str or Path
        A series with the scores of at least one detector; or its columns by name, as in a file: ``label``, ``value``
        (optional), and one for each detector, such as a DataFrame; or the file.
    path : str or Path
        Where to write the page.
    near : float, str or timedelta, optional
        How many points before and after an event a detection still is a near miss; 0 for none, "2ev" for twice the
        median length of an event, or a duration such as "10min".
    period : float, str or timedelta, optional
        The period of the series, in points or as a duration; ``near`` is then half of it. Give at most one of the two;
        with neither, it is the period that the series has, or that is estimated from its values.
    times : array-like, shape (n,), optional
        When each point is, in ascending order, if the series does not say so: dates of any kind, or numbers. Then, and
        with ``resolution``, ``max_gap`` or a duration, time is counted in cells: a cell has the highest score of the
        samples in it.
    resolution : str, timedelta or number, optional
        The length of a cell, such as "1min", or in seconds; the median step of the times by default. DQE depends on it.
    max_gap : int, str or timedelta, default 3
        Over how many cells without a sample, or how long, the one before stands for them. What is missing longer was
        not observed: no region crosses it, and nothing in it is scored.
    metrics : sequence of str, or str, optional
        Which metrics: the name of a metric or of a group, or several of them. Groups are "all", "default", "paper",
        "tsb-ad", "events" and "timing". DQE is always among them.
    progress : callable, optional
        Called with the number of steps done, and that of all.
    workers : int, optional
        How many threads compute; 1 for none besides the caller's. If not given, one for each core that this process may
        use. The numbers do not depend on it.

    Returns
    -------
    Comparison
        What the page says of the detectors.

    Examples
    --------
    >>> found = dqeval.report(dqeval.datasets.demo(), "report.html", period=48)
    >>> found.best
    'sharp'
    """
    place = arguments.path("path", path)
    clock = Clock(times, resolution, max_gap)
    prepared = prepare(data, near=near, period=period, clock=clock, name=place.stem)
    comparison = comparison_of(prepared, metrics=metrics, progress=progress, workers=workers)
    write_text(place, page(prepared, comparison, workers=workers))
    return comparison


def page(prepared: Prepared, comparison: Comparison, *, back: str = "", workers: int | None = None) -> str:
    """Return the HTML of the report; with a link back, if it is one of many, which share the file of `SCRIPT`."""
    from dqeval.render.explorer import colours_of

    inline = "" if back else script()
    profile = profile_of(prepared, every_flip=False, workers=workers)
    return fill_template(
        "series_page.html",
        back=back,
        title=prepared.name,
        verdict=comparison.verdict,
        warnings=comparison.warnings,
        summary=_summary(comparison),
        alarms=comparison.alarm_table(),
        panel=comparison.panel_table(),
        profile=profile,
        near=str(profile.near),
        has_thresholds=comparison.has_thresholds,
        gaps=len(prepared.labelled.breaks) > 0,
        lonely=_has_stretch_without_event(prepared.labelled),
        unobserved=UNOBSERVED,
        detectors=colours_of(comparison.panels),
        colours=COLOURS,
        footer=_footer(prepared, comparison),
        data=_data(prepared, comparison, profile),
        script=SCRIPT,
        inline=inline,
    )


def script() -> str:
    """Return what pages of the explorer run: Bokeh, and what fills and moves its plots."""
    try:
        from bokeh.resources import INLINE
    except ImportError:
        raise ValueError(missing_bokeh()) from None
    return "\n".join([*INLINE.clone(components=["bokeh"]).js_raw, source_of("series_page.js")])


def missing_bokeh() -> str:
    """Say what to install where Bokeh is missing."""
    return f"the report needs Bokeh: {extras.install('report')}"


def _summary(comparison: Comparison) -> Table:
    rows = []
    for name, panel in comparison.panels.items():
        parts = [getattr(dqe_of(panel), part) for part in SCORE_NAMES]
        cells = (f"{value:.3f}" for value in (*parts, comparison.chance[name].mean["dqe"]))
        start = comparison.explanations[name]
        at_threshold = (start.shown_threshold, f"{start.sdqe:.3f}") if comparison.has_thresholds else ()
        rows.append((name, *cells, str(comparison.wins(name)), *at_threshold))
    there = ("suggested threshold", "DQE there") if comparison.has_thresholds else ()
    header = ("detector", *COLUMNS, "DQE by chance", "best at events", *there)
    return Table(header, rows, marked={(0, 0), (0, 1)})


def _has_stretch_without_event(labelled: Labelled) -> bool:
    """Tell whether there is a stretch between two gaps that is in the region of no event."""
    return len(np.unique(np.searchsorted(labelled.breaks, labelled.events.starts, side="right"))) <= len(
        labelled.breaks
    )


def _footer(prepared: Prepared, comparison: Comparison) -> str:
    from importlib.metadata import version

    axis = prepared.labelled.axis
    size = size_in_words(axis, len(prepared.labelled.labels))
    size = f"{size}, {count_of(len(comparison.winners), 'event')}; {comparison.near}"
    swept = [count_of(THRESHOLDS, "threshold")] if comparison.has_thresholds else []
    made = "; ".join([size, *prepared.notes, *swept, f"dqeval {version('dqeval')}."])
    if not comparison.has_thresholds:
        return made
    return f"{made} Scores are scaled to 0–1 by their lowest and highest; at or above the threshold is detected."


def _data(prepared: Prepared, comparison: Comparison, profile: NearProfile) -> dict[str, Any]:
    """Return all that series_page.js needs, ready for JSON."""
    from dqeval.render.alarm_plot import alarm_item
    from dqeval.render.explorer import colours_of, curve_item, near_item, time_item

    axis = prepared.labelled.axis
    scale = scale_of(prepared)
    colours, explanations = colours_of(comparison.panels), comparison.explanations
    detectors, curves = [], {}
    for name, explanation in explanations.items():
        scored = prepared.scored(name)
        detectors.append(_detector(prepared, scored, explanation))
        curves[name] = _alarm_curve(prepared, scored)
    return {
        "length": len(prepared.labelled.labels),
        "near": prepared.near.points,
        "scale": _scale(scale, prepared.labelled.resolution),
        "events": [astuple(region) for region in prepared.regions.regions],
        "names": [printable(name) for name in prepared.event_names],
        "times": _times(prepared),
        "thresholds": thresholds.grid(THRESHOLDS).tolist(),
        "colours": COLOURS | {"no region": UNOBSERVED},
        "values": None if prepared.line is None else packed_values(prepared.line),
        "detectors": detectors,
        "timePlots": time_item(prepared, scale),
        "curvePlot": curve_item(beside_values=prepared.line is not None),
        "alarmPlot": alarm_item(curves, explanations, colours),
        "nearPlot": near_item(profile, colours, axis),
    }


def _alarm_curve(prepared: Prepared, scored: Scored) -> AlarmCurve:
    return alarm_curve_of(scored, early=int(min(prepared.near.points, len(scored.raw))))


def _scale(scale: TimeScale, resolution: int | None) -> dict[str, Any]:
    """Return how series_page.js finds where a point is drawn, and how long a cell lasts."""
    return {
        "origin": scale.origin,
        "width": scale.step,
        "breaks": packed(scale.breaks, "<f8"),
        "gaps": packed(scale.gaps, "<f8"),
        "unit": "point" if scale.kind == "points" else "cell",
        "resolution": resolution,
    }


def _times(prepared: Prepared) -> list[str] | None:
    """Return from when to when each event lasts, if that is known."""
    times, events, axis = prepared.series.timestamps, prepared.labelled.events, prepared.labelled.axis
    if axis is not None:
        return event_times(axis, events.starts, events.stops)
    if times is None:
        return None
    ends = np.stack([times[events.starts], times[events.stops - 1]])
    if ends.dtype.kind == "M":  # with no more digits than there are
        ends = np.datetime_as_string(ends, unit="auto")
    return [f"{start} – {stop}" for start, stop in ends.T]


def _detector(prepared: Prepared, scored: Scored, explanation: Explanation) -> dict[str, Any]:
    raw, scores = scored.raw, scored.scores
    levels = thresholds.sample_levels(scores, prepared.regions, THRESHOLDS).of_point
    curve = explanation.result.curve
    return {
        "name": printable(explanation.name),
        "start": explanation.step,
        "startThreshold": explanation.shown_threshold,
        "isScores": not explanation.binary,
        "dqe": [round(1000 * event.dqe) for event in explanation.result.per_event],
        "sentences": [event.sentence for event in explanation.events],
        "rawThresholds": _raw_thresholds(raw, scores),
        "scores": packed_scores(scores, levels, thresholds.grid(THRESHOLDS)),
        "means": _thousandths([curve]),
        "perEvent": _thousandths(list(curve.per_event)),
    }


def _raw_thresholds(raw: FloatArray, scores: FloatArray) -> list[str]:
    """Return the thresholds in the units of the scores, with as many digits as tell each from the next."""
    grid = thresholds.grid(THRESHOLDS).tolist()
    low, high = float(raw.min()), float(raw.max())
    if scores is raw:
        return [f"{t:.4g}" for t in grid]
    if low == high:
        return ["none"] * THRESHOLDS
    step = max((high / THRESHOLDS) - (low / THRESHOLDS), math.ulp(0.0))  # scores may be next to nothing
    digits = max(4, 2 + math.ceil(math.log10(max(abs(low), abs(high)) / step)))
    return [_rounded_down(low * (1 - t) + high * t, digits) for t in grid]


def _rounded_down(number: float, digits: int) -> str:
    """Return a number with some digits that is not above it: as a threshold, it detects as much."""
    exact = Decimal(number)
    step = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    return f"{float(exact.quantize(step, rounding=ROUND_FLOOR, context=Context(prec=400))):.{digits}g}"


def _thousandths(curves: list[Curve]) -> str:
    """Return the four scores of each curve, each at all thresholds, lowest first, as whole thousandths."""
    rows = [np.stack([c.dqe, c.capture, c.near_miss, c.false_alarm])[:, ::-1] for c in curves]
    return packed(np.rint(1000 * np.stack(rows)), "<u2")
