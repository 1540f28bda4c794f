"""The interactive report: one HTML file with everything in it."""

from __future__ import annotations

import base64
import math
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
from dqeval.analysis.score import dqe_of
from dqeval.core import arguments, thresholds
from dqeval.core.prepared import Prepared
from dqeval.core.types import COLUMNS, SCORE_NAMES, Curve, FloatArray, Progress
from dqeval.datasets.door import Data, prepare
from dqeval.render.drawing import COLOURS
from dqeval.render.html import fill_template
from dqeval.render.tables import Table, count_of, printable
from dqeval.support import extras
from dqeval.support.writing import write_text

_HUGE = float(np.finfo(np.float32).max)  # what lies beyond is drawn there


def report(
    data: Data | Prepared,
    path: str | Path,
    *,
    near: float | str | None = None,
    period: float | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Write an interactive report on some detectors: one HTML file that needs no server and no network.

    Parameters
    ----------
    data : Series, mapping of str to array-like, str or Path
        A series with the scores of at least one detector; or its columns by name, as in a file: ``label``, ``value``
        (optional), and one for each detector, such as a DataFrame; or the file.
    path : str or Path
        Where to write the page.
    near : float or str, optional
        How many points before and after an event a detection still is a near miss; 0 for none, "2ev" for twice the
        median length of an event.
    period : float, optional
        The period of the series; ``near`` is then half of it. Give at most one of the two; with neither, it is the
        period that the series has, or that is estimated from its values.
    progress : callable, optional
        Called with the number of steps done, and that of all.

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
    prepared = prepare(data, near=near, period=period, name=place.stem)
    comparison = comparison_of(prepared, progress=progress)
    write_text(place, page(prepared, comparison))
    return comparison


def page(prepared: Prepared, comparison: Comparison, *, back: str = "") -> str:
    """Return the HTML of the report; with a link back, if it is one of many."""
    try:
        from bokeh.resources import INLINE
    except ImportError:
        raise ValueError(missing_bokeh()) from None
    from dqeval.render.explorer import colours_of

    profile = profile_of(prepared, every_flip=False)
    return fill_template(
        "series_page.html",
        back=back,
        title=prepared.name,
        verdict=comparison.verdict,
        warnings=comparison.warnings,
        summary=_summary(comparison),
        panel=comparison.panel_table(),
        profile=profile,
        detectors=colours_of(comparison.panels),
        colours=COLOURS,
        footer=_footer(prepared, comparison),
        data=_data(prepared, comparison, profile),
        bokeh="\n".join(INLINE.clone(components=["bokeh"]).js_raw),
    )


def missing_bokeh() -> str:
    """Say what to install where Bokeh is missing."""
    return f"the report needs Bokeh: {extras.install('report')}"


def _summary(comparison: Comparison) -> Table:
    rows = []
    for name, panel in comparison.panels.items():
        parts = [getattr(dqe_of(panel), part) for part in SCORE_NAMES]
        cells = (f"{value:.3f}" for value in (*parts, comparison.chance[name].mean["dqe"]))
        start = comparison.explanations[name]
        rows.append((name, *cells, str(comparison.wins(name)), start.shown_threshold, f"{start.sdqe:.3f}"))
    header = ("detector", *COLUMNS, "DQE by chance", "best at events", "suggested threshold", "DQE there")
    return Table(header, rows, marked={(0, 0), (0, 1)})


def _footer(prepared: Prepared, comparison: Comparison) -> str:
    from importlib.metadata import version

    size = f"{count_of(len(prepared.labelled.labels), 'point')}, {count_of(len(comparison.winners), 'event')}"
    made = f"{size}; {comparison.near}; {count_of(THRESHOLDS, 'threshold')}; dqeval {version('dqeval')}."
    return f"{made} Scores are scaled to 0–1 by their lowest and highest; at or above the threshold is detected."


def _data(prepared: Prepared, comparison: Comparison, profile: NearProfile) -> dict[str, Any]:
    """Return all that series_page.js needs, ready for JSON."""
    from dqeval.render.explorer import colours_of, curve_item, near_item, time_item

    return {
        "length": len(prepared.labelled.labels),
        "near": prepared.near.points,
        "events": [astuple(region) for region in prepared.regions.regions],
        "times": _times(prepared),
        "thresholds": thresholds.grid(THRESHOLDS).tolist(),
        "colours": COLOURS,
        "values": None if prepared.line is None else _packed(np.clip(prepared.line, -_HUGE, _HUGE), "<f4"),
        "detectors": [_detector(prepared, found) for found in comparison.explanations.values()],
        "timePlots": time_item(prepared),
        "curvePlot": curve_item(),
        "nearPlot": near_item(profile, colours_of(comparison.panels)),
    }


def _times(prepared: Prepared) -> list[str] | None:
    """Return from when to when each event lasts, if that is known."""
    times, events = prepared.series.timestamps, prepared.labelled.events
    if times is None:
        return None
    ends = np.stack([times[events.starts], times[events.stops - 1]])
    if ends.dtype.kind == "M":  # with no more digits than there are
        ends = np.datetime_as_string(ends, unit="auto")
    return [f"{start} – {stop}" for start, stop in ends.T]


def _detector(prepared: Prepared, explanation: Explanation) -> dict[str, Any]:
    scored = prepared.scored(explanation.name)
    raw, scores = scored.raw, scored.scores
    levels = thresholds.sample_levels(scores, prepared.regions, THRESHOLDS).of_point
    curve = explanation.result.curve
    return {
        "name": printable(explanation.name),
        "start": explanation.step,
        "startThreshold": explanation.shown_threshold,
        "dqe": [round(1000 * event.dqe) for event in explanation.result.per_event],
        "sentences": [event.sentence for event in explanation.events],
        "rawThresholds": _raw_thresholds(raw, scores),
        "scores": _packed(scores, "<f4"),
        "levels": _packed(levels, "u1"),
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
    """Return the four scores at each threshold, lowest first, of each curve, as whole thousandths."""
    rows = [np.column_stack([c.dqe, c.capture, c.near_miss, c.false_alarm])[::-1] for c in curves]
    return _packed(np.rint(1000 * np.stack(rows)), "<u2")


def _packed(array: FloatArray | np.ndarray[Any, Any], kind: str) -> str:
    return base64.b64encode(np.ascontiguousarray(array, dtype=kind).tobytes()).decode("ascii")
