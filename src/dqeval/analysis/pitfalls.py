"""Where DQE itself can mislead: what labels, the near range, the scale of scores and single points do to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from dqeval.analysis.suggestion import suggested_threshold
from dqeval.core import levels as levelling
from dqeval.core.confidence import FEWEST
from dqeval.core.matching import highest_in_events
from dqeval.core.near import BY_DEFAULT, Near
from dqeval.core.prepared import Labelled, Scored
from dqeval.core.types import BoolArray, Events, FloatArray, IntArray, Partition
from dqeval.metrics import dqe
from dqeval.render.tables import count_of, percent

MOVES = 0.1  # of DQE: less is no reason for a warning
CLIPPED = 99.9  # per cent of the scores
CLIPPED_SCORES = f"the scores clipped at their {CLIPPED}th percentile"
BY_ORDER = "DQE-LR (dqe_log_rank) depends on their order alone"
LOW = 0.3  # of the range of all scores, above which most events are missed
APART = 2  # times as high is the highest event
WIDEST_GAP = 3  # points between two events that may be one
RISES = 0.005  # of DQE of an event at one threshold
TRAINING = 0.01  # of DQE
ROUNDED = 5e-5  # of DQE: it would show in four digits
THRESHOLDS = 100  # of DQE
HIGHEST = 1e9  # score whose hundredths, times thresholds, are whole numbers without rounding
FIRST_LOOK = 1000  # points that tell of most scores that they have more decimals
_OTHER_NEAR = "`dqeval near` looks for longer periods; choose one with --period, or a near range with --near"


@dataclass(frozen=True, slots=True)
class Pitfall:
    """A way in which DQE may mislead here.

    Attributes
    ----------
    kind : str
        "few events", "gaps", "near 0", "default", "fallback", "smooth", "training", "scale", "rounding", "lone score",
        "event heights" or "wrong point".
    message : str
        What it is, with its number.
    """

    kind: str
    message: str


def of_labels(labelled: Labelled, near: Near) -> Iterator[Pitfall]:
    """Yield what labels and the near range do to every detector."""
    events = labelled.events
    if 0 < len(events) < FEWEST:
        what = f"only {count_of(len(events), 'event')}: from fewer than {FEWEST} there is no confidence interval"
        yield Pitfall("few events", f"{what}, and one more event may change every number")
    yield from _gaps(events, labelled.breaks)
    if near.points == 0:
        yield Pitfall("near 0", "near is 0: an alarm that is a single point early or late is a false alarm")
    if near.source == BY_DEFAULT:
        what = f"near {near.points:g} is the default, and has nothing to do with the series"
        yield Pitfall("default", f"{what}: give its values, its period or a near range")
    if near.is_fallback:
        what = f"no period was found, so near {near.points:g} is {near.source}"
        yield Pitfall("fallback", f"{what}; {_OTHER_NEAR}")
    yield from of_period(near)


def of_period(near: Near) -> Iterator[Pitfall]:
    """Yield that a near range is half of what may be no period."""
    if near.doubt:
        what = f"near {near.points:g} is half of a period that is hardly one: {near.doubt}"
        yield Pitfall("smooth", f"{what}; {_OTHER_NEAR}")


def of_scores(scored: Scored, near: float, detections: BoolArray | None = None) -> Iterator[Pitfall]:
    """Yield what the scale of scores, or a single point, does to DQE of one detector.

    Parameters
    ----------
    scored : Scored
    near : float
    detections : array of bool, optional
        What is detected at the suggested threshold, if that is known already.
    """
    if not len(scored.events):
        return
    regions = scored.labelled.regions(near)
    if not scored.binary:
        now = dqe.dqe_at(scored, near)
        yield from _training(scored, near, now)
        yield from _scale(scored, near, now)
        yield from _rounding(scored, near, now)
        yield from _lone_score(scored, near, now)
        yield from _event_heights(scored)
    said = list(_wrong_point(scored, regions, _suggested(scored, regions) if detections is None else detections))
    yield from said or _wrong_scores(scored, near)


def _gaps(events: Events, breaks: IntArray) -> Iterator[Pitfall]:
    gaps = events.starts[1:] - events.stops[:-1]
    # Between the parts of one that was not observed all the time there is no point at all.
    seen = np.searchsorted(breaks, events.starts[1:], side="right") == np.searchsorted(breaks, events.stops[:-1])
    close = np.flatnonzero((gaps <= WIDEST_GAP) & seen)
    if len(close):
        pairs = f"{count_of(len(close), 'pair')} of neighbouring events at most {WIDEST_GAP} points apart"
        first = f"the first at point {int(events.stops[close[0]]):,}"
        yield Pitfall("gaps", f"{pairs}, {first}: is that one event, with labels missing in it? Each counts by itself")


def _training(scored: Scored, near: float, now: float) -> Iterator[Pitfall]:
    stop, labels = scored.labelled.train_stop, scored.labels
    if stop is None or not labels[stop:].any():
        return
    without = dqe.dqe_at(Scored(Labelled(labels[stop:]), scored.raw[stop:]), near)
    if abs(without - now) > TRAINING:
        what = f"the training part, the first {count_of(stop, 'point')}, is scored like the rest, as in TSB-AD"
        yield Pitfall("training", f"{what}: DQE is {now:.3f}, and {without:.3f} of the test part alone (--part test)")


def _scale(scored: Scored, near: float, now: float) -> Iterator[Pitfall]:
    moved = rescaled_dqe(scored, near)
    most = max(moved, key=lambda words: abs(moved[words] - now))
    if abs(moved[most] - now) > MOVES:
        numbers = f"it is {now:.3f}, and {moved[most]:.3f} with {most}"
        why = "a few very high scores decide" if most == CLIPPED_SCORES else BY_ORDER
        yield Pitfall("scale", f"DQE depends on the scale of these scores: {numbers}; {why}")


def rescaled_dqe(scored: Scored, near: float) -> dict[str, float]:
    """Return DQE of scores on other scales, by what the scales are in words; the order of the points stays the same."""
    return scored.once(("rescaled DQE", near), lambda: _rescaled_dqe(scored, near))


def _rescaled_dqe(scored: Scored, near: float) -> dict[str, float]:
    scores = scored.scores
    scales: dict[str, Callable[[FloatArray], FloatArray]] = {
        "the square roots of the scores": np.sqrt,
        "the squares of the scores": np.square,
    }
    # Of a detector that tells all events from all normal points, this would cut off what is right.
    if event_heights(scored).min() <= scores[~scored.labels].max(initial=0.0):
        scales[CLIPPED_SCORES] = partial(np.minimum, np.percentile(scores, CLIPPED))
    return {words: _dqe_of(scored, changed(scores), near) for words, changed in scales.items()}


def _rounding(scored: Scored, near: float, now: float) -> Iterator[Pitfall]:
    exact = dqe_without_rounding(scored, near)
    if exact is not None and abs(exact - now) > ROUNDED:
        what = "the scores have at most two decimals, so that thresholds fall on scores and rounding decides"
        yield Pitfall("rounding", f"{what}: DQE is {now:.4f}, and {exact:.4f} in exact arithmetic")


def dqe_without_rounding(scored: Scored, near: float) -> float | None:
    """Return DQE as exact arithmetic would have it, of scores with at most two decimals; None for others."""
    for scores in (scored.raw[:FIRST_LOOK], scored.raw):
        if np.abs(scores).max() > HIGHEST or not ((hundredths := np.rint(scores * 100)) / 100 == scores).all():
            return None
    whole = (hundredths - hundredths.min()).astype(np.int64)
    if not whole.any():
        return None
    levels = whole * THRESHOLDS // whole.max()
    between = np.where((levels > 0) & (levels < THRESHOLDS), levels + 0.5, levels)  # no threshold falls on these
    return _dqe_of(scored, between / THRESHOLDS, near)


def _lone_score(scored: Scored, near: float, now: float) -> Iterator[Pitfall]:
    top, lowered = int(np.argmax(scored.scores)), scored.scores.copy()
    lowered[top] = 0.0
    lowered[top] = lowered.max()  # of the others
    without = _dqe_of(scored, lowered, near)
    if without - now > MOVES:
        where = " in an event" if scored.labels[top] else ""
        what = f"the highest score, {scored.raw[top]:g} at point {top:,}{where}, dwarfs all others"
        yield Pitfall("lone score", f"{what}: DQE is {now:.3f}, and {without:.3f} if it were only as high as the next")


def _event_heights(scored: Scored) -> Iterator[Pitfall]:
    heights = np.sort(event_heights(scored))
    middle, lowest, highest = (float(heights[i]) for i in (len(heights) // 2, 0, -1))
    if middle < LOW and highest > APART * middle:
        share = f"at {percent(1 - middle)} of the thresholds of DQE most events are missed"
        spread = f"the highest scores in the events lie from {lowest:.2f} to {highest:.2f} of the range of all scores"
        yield Pitfall("event heights", f"{share}: {spread}")


def event_heights(scored: Scored) -> FloatArray:
    """Return the highest score in each event, of scores in [0, 1]."""
    return highest_in_events(scored.scores, scored.events)


def _suggested(scored: Scored, regions: Partition) -> BoolArray:
    """Return what is detected at the suggested threshold."""
    return scored.scores >= suggested_threshold(*dqe.dqe_at_every_score(scored.scores, regions))[0]


def _wrong_point(scored: Scored, regions: Partition, detections: BoolArray) -> Iterator[Pitfall]:
    before = _scores_of(detections, regions)
    breaks = scored.labelled.breaks
    changed = (_with_wrong_points(detections, scored.events, breaks, behind=behind) for behind in (True, False))
    after = np.maximum.reduce([_scores_of(each, regions)[:, 0] for each in changed])
    # Beside an event that is missed a near miss is meant to count.
    rise = np.where(highest_in_events(detections, scored.events), after - before[:, 0], 0.0)
    most = int(np.argmax(rise))
    if rise[most] > RISES:
        event = scored.labelled.place(most)
        where = "" if scored.binary else "at the suggested threshold, "
        what = f"one more wrong point right beside the event {event} raises its DQE from {before[most, 0]:.3f} to"
        none = before[most, 2] == 0
        why = "with false alarms, the near-miss score is 0 until there is a near miss" if none else "it is so close"
        yield Pitfall("wrong point", f"{where}{what} {after[most]:.3f}: {why}")


def _wrong_scores(scored: Scored, near: float) -> Iterator[Pitfall]:
    """Look at all thresholds: the point beside each event gets a score as high as the highest in the event."""
    if scored.binary:
        return
    regions = scored.labelled.regions(near)
    before = _scores_at_all_thresholds(scored.scores, regions)
    rise = np.zeros(len(scored.events))
    for changed in with_wrong_scores(scored):
        rise = np.maximum(rise, _scores_at_all_thresholds(changed, regions) - before)
    most = int(np.argmax(rise))
    if rise[most] > MOVES:
        event, after = scored.labelled.place(most), before[most] + rise[most]
        what = f"one more wrong point right beside the event {event}, as high as the event, raises its DQE"
        yield Pitfall("wrong point", f"over all thresholds, {what} from {before[most]:.3f} to {after:.3f}")


def with_wrong_scores(scored: Scored) -> Iterator[FloatArray]:
    """Yield the scores, in [0, 1], with the points right behind all events as high as these, and with those before."""
    heights = event_heights(scored)
    for behind in (True, False):
        points, of_event = _points_beside(scored.events, scored.labelled.breaks, behind=behind)
        changed = scored.scores.copy()
        changed[points] = np.maximum(changed[points], heights[of_event])
        yield changed


def _scores_at_all_thresholds(scores: FloatArray, regions: Partition) -> FloatArray:
    """Return DQE of each event over all thresholds of scores in [0, 1]."""
    return dqe.local_scores(levelling.sample_levels(scores, regions, THRESHOLDS), dqe_only=True)[:, 0]


def _points_beside(events: Events, breaks: IntArray, *, behind: bool) -> tuple[IntArray, IntArray]:
    """Return the points right behind, or before, the events, where there is one, and of which event each is."""
    borders = events.stops if behind else events.starts
    of_event = np.flatnonzero((borders > 0) & (borders < events.length) & ~np.isin(borders, breaks))
    return borders[of_event] - (not behind), of_event


def _with_wrong_points(detections: BoolArray, events: Events, breaks: IntArray, *, behind: bool) -> BoolArray:
    """Return the detections, and one point more right behind, or before, each event, where there is one."""
    found = detections.copy()
    found[_points_beside(events, breaks, behind=behind)[0]] = True
    return found


def _dqe_of(scored: Scored, scores: FloatArray, near: float) -> float:
    return dqe.dqe_at(Scored(scored.labelled, scores), near)


def _scores_of(detections: BoolArray, regions: Partition) -> FloatArray:
    """Return SDQE and its three parts, one row per event."""
    return dqe.local_scores(levelling.detection_levels(detections, regions))
