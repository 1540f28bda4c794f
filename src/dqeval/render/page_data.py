"""What the script of a series page needs, ready for JSON: where to draw, and every number that it shows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from decimal import ROUND_FLOOR, Context, Decimal
from operator import attrgetter
from typing import Any

import numpy as np

from dqeval.analysis.explain import THRESHOLDS
from dqeval.analysis.explain_result import Explanation
from dqeval.analysis.near_profile import NearProfile
from dqeval.core import levels as levelling
from dqeval.core.confidence import RESAMPLES, mean_intervals
from dqeval.core.moments import shown_between
from dqeval.core.prepared import Prepared, Scored
from dqeval.core.types import PARTS, FloatArray, Region
from dqeval.metrics.alarm_curve import alarm_curve_of
from dqeval.metrics.dqe import values_at_thresholds
from dqeval.render.alarm_plot import ShownAlarms, alarm_data, shown_alarms
from dqeval.render.alarm_steps import alarm_steps
from dqeval.render.drawing import COLOURS, UNOBSERVED
from dqeval.render.event_outcomes import outcomes_at
from dqeval.render.explorer import colours_of, curve_item, near_item, time_item
from dqeval.render.packing import packed, packed_scores, packed_values
from dqeval.render.page_clock import clock_of, content_key
from dqeval.render.tables import printable
from dqeval.render.time_scale import TimeScale, event_times, scale_of

# Of events, for the interval at each threshold: of many events it is so narrow that fewer draws give all its digits.
MOST_DRAWS = 500_000
_CUTS = attrgetter(*(field.name for field in fields(Region)))


def page_data(
    prepared: Prepared,
    explanations: Mapping[str, Explanation],
    profile: NearProfile,
    detectors: Sequence[DetectorData],
) -> dict[str, Any]:
    """Return all that the script of a page needs.

    Parameters
    ----------
    prepared : Prepared
    explanations : mapping of str to Explanation
        By detector, the best first.
    profile : NearProfile
    detectors : sequence of DetectorData
        Of each detector, in the same order.
    """
    scale, axis = scale_of(prepared), prepared.labelled.axis
    colours = colours_of(explanations)
    # Not in threads: matrix products have threads of their own, which get in the way of each other.
    intervals = [_intervals(each.dqe) for each in detectors]
    shown = [each.data | {"intervals": ends} for each, ends in zip(detectors, intervals, strict=True)]
    alarms = [each.alarms for each in detectors]
    return {
        "name": printable(prepared.name),
        "key": content_key(prepared),
        "length": len(prepared.labelled.labels),
        "cells": scale.length + int(scale.gaps.sum()),
        "near": prepared.near.points,
        "scale": _scale(scale, prepared.labelled.resolution),
        "clock": clock_of(prepared),
        "events": list(map(_CUTS, prepared.regions.regions)),
        "names": [printable(name) for name in prepared.event_names],
        "times": _times(prepared),
        "thresholds": levelling.grid(THRESHOLDS).tolist(),
        "colours": COLOURS | {"no region": UNOBSERVED},
        "values": None if prepared.line is None else packed_values(prepared.line),
        "detectors": shown,
        "timePlots": time_item(prepared, scale),
        "curvePlot": curve_item(beside_values=prepared.line is not None),
        **alarm_data(alarms, list(colours.values()), [data["alarms"]["needed"] for data in shown]),
        "nearPlot": near_item(profile, colours, axis),
    }


@dataclass(frozen=True, slots=True, eq=False)
class DetectorData:
    """What a page shows of a detector.

    Attributes
    ----------
    data : dict
        What it gets at each threshold, and more, ready for JSON.
    alarms : ShownAlarms
    dqe : array of float, shape (n_events, n_thresholds)
        DQE of each event at each threshold, ascending.
    """

    data: dict[str, Any]
    alarms: ShownAlarms
    dqe: FloatArray


def detector_data(prepared: Prepared, scored: Scored, explanation: Explanation) -> DetectorData:
    """Return what a page shows of a detector."""
    raw, scores = scored.raw, scored.scores
    sampled = levelling.sample_levels(scores, prepared.regions, THRESHOLDS)
    levels, values = sampled.of_point, values_at_thresholds(sampled)
    early = int(min(prepared.near.points, len(raw)))
    alarms = alarm_curve_of(scored, early=early)
    data = {
        "name": printable(explanation.name),
        "start": explanation.step,
        "startThreshold": explanation.shown_threshold,
        "isScores": not explanation.binary,
        "dqe": [round(1000 * dqe) for dqe in explanation.result.event_columns.dqe.tolist()],
        "costsMost": [_part(event.costs_most) for event in explanation.events],
        "sentences": [event.sentence for event in explanation.events],
        "rawThresholds": _raw_thresholds(raw, scores),
        "scores": packed_scores(scores, levels, levelling.grid(THRESHOLDS)),
        "means": _thousandths(values.mean(axis=0).T),
        "perEvent": _thousandths(values.transpose(0, 2, 1)),
        "outcomes": packed(outcomes_at(*values[:, :, 1:].transpose(2, 0, 1)), "<u1"),
        "alarms": alarm_steps(scored, alarms, levels, THRESHOLDS, early=early).as_json(),
    }
    return DetectorData(data, shown_alarms(explanation.name, alarms, explanation), values[:, :, 0].copy())


def _part(name: str | None) -> int | None:
    """Return which part costs an event most."""
    return None if name is None else PARTS.index(name)


def _intervals(dqe: FloatArray) -> list[list[int]] | None:
    """Return from where to where DQE at each threshold may lie, in thousandths, from its values at each event.

    None if nobody knows.
    """
    # With few events, many thresholds do the same.
    kinds = [column.tobytes() for column in dqe.T]
    one_of = {kind: i for i, kind in enumerate(kinds)}
    values = dqe[:, list(one_of.values())]
    found = mean_intervals(values, resamples=min(RESAMPLES, max(MOST_DRAWS // len(values), 1)))
    if not found[0].is_known:
        return None
    of_kind = dict(zip(one_of, found, strict=True))
    every = [of_kind[kind] for kind in kinds]
    return [[round(1000 * each.low) for each in every], [round(1000 * each.high) for each in every]]


def _scale(scale: TimeScale, resolution: int | None) -> dict[str, Any]:
    """Return how the script finds where a point is drawn, and how long a cell lasts."""
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
    if ends.dtype.kind != "M":
        return [f"{start} – {stop}" for start, stop in ends.T]
    zone = prepared.series.zone if prepared.series.zoned else None
    return [shown_between(start, stop, zone) for start, stop in ends.T]


def _raw_thresholds(raw: FloatArray, scores: FloatArray) -> list[str]:
    """Return the thresholds in the units of the scores, with as many digits as tell each from the next."""
    grid = levelling.grid(THRESHOLDS).tolist()
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


def _thousandths(scores: FloatArray) -> str:
    """Return scores as whole thousandths."""
    return packed(np.rint(1000 * scores), "<u2")
