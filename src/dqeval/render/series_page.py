"""The interactive report: one HTML file with everything in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dqeval.analysis.check import findings_of_scores, findings_of_series
from dqeval.analysis.compare import comparison_of
from dqeval.analysis.compare_result import Comparison
from dqeval.analysis.each_detector import of_each_detector
from dqeval.analysis.explain import THRESHOLDS
from dqeval.analysis.explain_result import TROUBLE
from dqeval.analysis.findings import Finding
from dqeval.analysis.near_profile import profile_of
from dqeval.analysis.pitfalls import rescaled_dqe
from dqeval.core import arguments
from dqeval.core.durations import Length
from dqeval.core.prepared import Labelled, Prepared, Scored
from dqeval.core.sampling import Clock
from dqeval.core.types import Progress
from dqeval.datasets.door import Data, prepare
from dqeval.render.drawing import COLOURS, UNOBSERVED
from dqeval.render.event_outcomes import OUTCOME_KEYS, OUTCOME_MEANINGS
from dqeval.render.explorer import colours_of
from dqeval.render.html import fill_template, source_of
from dqeval.render.page_data import DetectorData, detector_data, page_data
from dqeval.render.summary import summary_rows
from dqeval.render.tables import count_of
from dqeval.render.time_scale import size_in_words
from dqeval.render.trust import trust_lines
from dqeval.support import extras
from dqeval.support.writing import write_text

SCRIPT = "explorer.js"  # beside pages that share it
PARTS_OF_SCRIPT = (  # each uses those before it
    *("ascending.js", "page_state.js", "page_data.js", "time_axis.js", "page_numbers.js", "page_link.js"),
    *("series_plots.js", "event_table.js", "event_filters.js", "alarm_budget.js", "event_scores.js", "label_edits.js"),
    *("label_files.js", "label_store.js", "label_lane.js", "label_views.js", "label_editor.js", "series_page.js"),
)


def report(
    data: Data | Prepared,
    path: str | Path,
    *,
    near: Length | None = None,
    period: Length | None = None,
    times: Any = None,
    resolution: Length | None = None,
    max_gap: Length | None = None,
    part: Literal["all", "test"] = "all",
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
        with neither, it is the period that the series has, or that is estimated from its values. In cells of a clock
        nothing is estimated, and ``near`` is the median length of an event.
    times : array-like, shape (n,), optional
        When each point is, in ascending order, if the series does not say so: dates of any kind, or numbers. Then, and
        with ``resolution``, ``max_gap`` or a duration, time is counted in cells: a cell has the highest score of the
        samples in it.
    resolution : str, timedelta or number, optional
        The length of a cell, such as "1min", or in seconds; the median step of the times by default. DQE depends on it.
    max_gap : int, str or timedelta, default 3
        Over how many cells without a sample, or how long, the one before stands for them. What is missing longer was
        not observed: no region crosses it, and nothing in it is scored.
    part : "all" or "test", default "all"
        Whether to take the whole series, as TSB-AD does, or its test part, where the series says where training ends.
        The near range is that of the whole series.
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
    prepared = prepare(data, near=near, period=period, clock=clock, part=part, name=place.stem)
    comparison = comparison_of(prepared, metrics=metrics, progress=progress, workers=workers)
    write_text(place, page(prepared, comparison, workers=workers))
    return comparison


def page(prepared: Prepared, comparison: Comparison, *, back: str = "", workers: int | None = None) -> str:
    """Return the HTML of the report; with a link back, if it is one of many, which share the file of `SCRIPT`."""
    inline = "" if back else script()
    profile = profile_of(prepared, every_flip=False, workers=workers)
    each = _each_detector(prepared, comparison, workers)
    findings = [*findings_of_series(prepared), *(found for one in each.values() for found in one.findings)]
    rescaled = {name: one.rescaled for name, one in each.items()}
    return fill_template(
        "series_page.html",
        back=back,
        title=prepared.name,
        verdict=comparison.verdict,
        warnings=comparison.warnings,
        summary=summary_rows(comparison),
        alarms=comparison.alarm_table(),
        panel=comparison.panel_table(),
        trust=trust_lines(comparison, profile, findings, rescaled),
        profile=profile,
        near=str(profile.near),
        has_thresholds=comparison.has_thresholds,
        unit=next(iter(each.values())).shown.alarms.unit,
        outcomes=list(zip(OUTCOME_KEYS, OUTCOME_MEANINGS.items(), strict=True)),
        trouble=TROUBLE,
        gaps=len(prepared.labelled.breaks) > 0,
        lonely=_has_stretch_without_event(prepared.labelled),
        unobserved=UNOBSERVED,
        detectors=colours_of(comparison.panels),
        colours=COLOURS,
        footer=_footer(prepared, comparison),
        data=page_data(prepared, comparison.explanations, profile, [one.shown for one in each.values()]),
        script=SCRIPT,
        inline=inline,
    )


@dataclass(frozen=True, slots=True)
class _Detector:
    """What a page says of a detector besides the comparison: see `detector_data`, `check` and `rescaled_dqe`."""

    shown: DetectorData
    findings: list[Finding]
    rescaled: dict[str, float]


def _each_detector(prepared: Prepared, comparison: Comparison, workers: int | None) -> dict[str, _Detector]:
    """Return what a page says of each detector, the best first."""
    near = prepared.near

    def work(name: str, scored: Scored) -> _Detector:
        explanation = comparison.explanations[name]
        return _Detector(
            detector_data(prepared, scored, explanation),
            findings_of_scores(name, scored, near, scored.raw >= explanation.threshold),
            {} if scored.binary else rescaled_dqe(scored, near.points),
        )

    found = dict(of_each_detector(prepared, work, workers=workers))
    return {name: found[name] for name in comparison.panels}


def script() -> str:
    """Return what pages of the explorer run: Bokeh, and what fills and moves its plots."""
    try:
        from bokeh.resources import INLINE
    except ImportError:
        raise ValueError(missing_bokeh()) from None
    return "\n".join([*INLINE.clone(components=["bokeh"]).js_raw, *map(source_of, PARTS_OF_SCRIPT)])


def missing_bokeh() -> str:
    """Say what to install where Bokeh is missing."""
    return f"the report needs Bokeh: {extras.install('report')}"


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
