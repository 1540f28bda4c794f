"""What changed from one run of a detector to another, in all the forms in which it is shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from dqeval.analysis.result import Result
from dqeval.analysis.score_result import part_label
from dqeval.core.confidence import Interval
from dqeval.core.registry import label_of
from dqeval.core.types import PARTS
from dqeval.render.tables import Page, Part, Table, count_of, in_words
from dqeval.support.frames import Framed

SHOWN = 10  # series, warnings, and events of each kind, in text; other formats have all
MOST_NAMED = 4  # of what is missing, in the verdict
SAME = 1e-9
CAPTURED = 0.5  # of the thresholds
MEANING = "An event counts as captured if that is so at half of the thresholds or more."
NOT_TOLD_APART = "not told apart"


@dataclass(frozen=True, slots=True)
class Change:
    """How a metric of a detector changed.

    Attributes
    ----------
    detector, metric : str
    before, after : float
        Means over the series that both sides have, or over their events.
    over : "series" or "event"
        What the means are over, and what the interval is drawn from.
    interval : Interval
        Of the mean difference: the same series, or events, on both sides.
    """

    detector: str
    metric: str
    before: float
    after: float
    over: str
    interval: Interval

    @property
    def difference(self) -> float:
        """How much higher it is after."""
        return self.after - self.before

    @property
    def direction(self) -> int:
        """1 if it is higher beyond its interval, -1 if it is lower, 0 if the two are not told apart."""
        if not self.interval.is_known or 0 in self.interval:
            return 0
        return 1 if self.difference > 0 else -1

    @property
    def verdict(self) -> str:
        """The direction in words."""
        if abs(self.difference) <= SAME:
            return "same"
        return {1: "higher", -1: "lower", 0: NOT_TOLD_APART if self.interval.is_known else ""}[self.direction]

    @property
    def label(self) -> str:
        """What the metric is called in tables."""
        return f"  {part_label(self.metric)}" if self.metric in PARTS else label_of(self.metric)

    def record(self) -> dict[str, Any]:
        """Return all of it as a flat row."""
        interval = {"low": self.interval.low, "high": self.interval.high}
        row = {name: value for name, value in asdict(self).items() if name != "interval"}
        return row | {"difference": self.difference, **interval, "verdict": self.verdict}


@dataclass(frozen=True, slots=True)
class SeriesChange:
    """How DQE of a detector changed on one series; or another metric, if both sides lack DQE."""

    series: str
    detector: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class EventChange:
    """An event that a detector captures on one side only.

    Attributes
    ----------
    series, detector, place : str
    capture : tuple of float
        At which share of the thresholds it is captured, before and after.
    dqe : tuple of float
        Its DQE, before and after.
    """

    series: str
    detector: str
    place: str
    capture: tuple[float, float]
    dqe: tuple[float, float]

    def record(self) -> dict[str, Any]:
        """Return all of it as a flat row."""
        names = {"series": self.series, "detector": self.detector, "event": self.place}
        pairs = {"capture": self.capture, "dqe": self.dqe}
        return names | {f"{name}_{side}": value for name, pair in pairs.items() for side, value in _sides(pair)}


def _sides(pair: tuple[float, float]) -> Iterator[tuple[str, float]]:
    return zip(("before", "after"), pair, strict=True)


@dataclass(frozen=True, slots=True, eq=False)
class Diff(Framed, Result):
    """What changed from one side to the other.

    ``to_frame()`` has a row per detector and metric.

    Attributes
    ----------
    before, after : str
        What the sides are called.
    n_series, n_events : int
        How many series both sides have, and how many events of them; 0 if nothing is known of events.
    changes : tuple of Change
        By detector, then by metric.
    series : tuple of SeriesChange
        Those of which the number is not the same, the largest changes first.
    gained, lost : tuple of EventChange
        Captured only after, and only before; the largest changes of DQE first.
    missing : tuple of str
        Series and detectors that only the side before has, in words.
    new : tuple of str
        Those that only the side after has.
    warnings : tuple of str
        What may make the two sides differ for other reasons.
    """

    before: str
    after: str
    n_series: int
    n_events: int
    changes: tuple[Change, ...]
    series: tuple[SeriesChange, ...]
    gained: tuple[EventChange, ...]
    lost: tuple[EventChange, ...]
    missing: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def detectors(self) -> tuple[str, ...]:
        """The detectors that both sides have."""
        return tuple(dict.fromkeys(change.detector for change in self.changes))

    @property
    def lower(self) -> tuple[Change, ...]:
        """The metrics that are lower, beyond their intervals."""
        return tuple(change for change in self.changes if change.direction < 0)

    @property
    def has_loss(self) -> bool:
        """Whether an event is lost, a metric is lower beyond its interval, or something is missing after."""
        return bool(self.lost or self.lower or self.missing)

    @property
    def title(self) -> str:
        """What was compared, in a line."""
        events = f", {count_of(self.n_events, 'event')}" if self.n_events else ""
        return f"{self.before} → {self.after}: {self.n_series:,} series{events}"

    @property
    def verdict(self) -> str:
        """What changed, in a sentence or two per detector."""
        return " ".join(self._sentences())

    def _sentences(self) -> Iterator[str]:
        same = []
        for detector in self.detectors:
            changes = [change for change in self.changes if change.detector == detector]
            if all(change.verdict == "same" for change in changes):
                same.append(detector)
            else:
                yield f"{detector}: {self._told(changes[0])}{self._of_events(detector)}."
        if same:
            yield f"{in_words(same, most=len(same))}: every number is the same."
        if self.missing:
            yield f"Missing after: {in_words(self.missing, most=MOST_NAMED)}."

    def _told(self, change: Change) -> str:
        numbers = f"{change.label.strip()} {change.before:.3f} → {change.after:.3f}"
        if change.verdict in ("", "same"):
            return numbers
        return f"{numbers}, {change.verdict} ({change.difference:+.3f}, 95 % interval {_between(change.interval)})"

    def _of_events(self, detector: str) -> str:
        if not self.n_events:
            return ""
        gained, lost = (sum(event.detector == detector for event in events) for events in (self.gained, self.lost))
        return f"; {count_of(gained, 'event')} gained, {lost:,} lost"

    def page(self) -> Page:
        """Return what changed as paragraphs and tables."""
        parts: list[Part] = [self.title, self.verdict]
        parts += [self.table(detector) for detector in self.detectors]
        for title, events in (("lost", self.lost), ("gained", self.gained)):
            if events:
                parts.append(self.event_table(title, most=SHOWN))
        if self.series and self.n_series > 1:
            parts.append(self.series_table(most=SHOWN))
        return Page([*parts, "\n".join(self.notes(most=SHOWN))])

    def table(self, detector: str) -> Table:
        """Return the metrics of a detector on both sides, with intervals of their differences."""
        header = (detector, "before", "after", "difference", "95 % interval", "")
        found = [change for change in self.changes if change.detector == detector]
        rows = [
            (
                change.label,
                f"{change.before:.3f}",
                f"{change.after:.3f}",
                f"{change.difference:+.3f}",
                _between(change.interval),
                change.verdict,
            )
            for change in found
        ]
        marked = {(i, 5) for i, change in enumerate(found) if change.direction}
        return Table(header, rows, marked=marked, whole=True)

    def event_table(self, which: str, most: int | None = None) -> Table:
        """Return the events that are "gained" or "lost"."""
        events = self.gained if which == "gained" else self.lost
        rows = [
            (
                *((event.series,) if self.n_series > 1 else ()),
                *((event.detector,) if len(self.detectors) > 1 else ()),
                event.place,
                *(f"{one:.2f} → {other:.2f}" for one, other in (event.capture, event.dqe)),
            )
            for event in events[:most]
        ]
        more = [*(("series",) if self.n_series > 1 else ()), *(("detector",) if len(self.detectors) > 1 else ())]
        left = len(events) - len(rows)
        note = f"{left:,} more: --format csv or json has all" if left else ""
        return Table((*more, f"event {which}", "captured at", "DQE"), rows, note=note)

    def series_table(self, most: int | None = None) -> Table:
        """Return the series on which detectors changed most."""
        rows = [
            (each.series, each.detector, f"{each.before:.3f}", f"{each.after:.3f}", f"{each.after - each.before:+.3f}")
            for each in self.series[:most]
        ]
        left = len(self.series) - len(rows)
        note = f"{left:,} more: --format csv or json has all" if left else ""
        return Table(("series", "detector", "before", "after", "difference"), rows, note=note)

    def notes(self, most: int | None = None) -> Iterator[str]:
        """Yield what the numbers mean, what was left out, and the warnings, or the first of them."""
        overs = {change.over for change in self.changes}
        if overs == {"series"}:
            yield "Numbers are means over series; intervals, of the mean difference on the same series, need five."
        else:
            what = "DQE and its parts are means over events, with intervals of the mean difference at the same events"
            yield f"{what}; other metrics are means over series, whose intervals need five series."
        few = [each.interval for each in self.changes if each.over == "event" and not each.interval.is_known]
        if few:
            yield f"DQE and its parts have no interval ({few[0]}), so that no change of them counts as a loss."
        yield MEANING if self.n_events else _NO_EVENTS
        if len(self.missing) > MOST_NAMED:  # fewer are all in the verdict
            yield f"All that is missing after: {', '.join(self.missing)}."
        if self.new:
            yield f"New: {', '.join(self.new)}."
        shown = self.warnings[:most]
        for warning in shown:
            yield f"Warning: {warning}."
        if left := len(self.warnings) - len(shown):
            yield f"{count_of(left, 'more warning')}: --format json has all."

    def records(self) -> list[dict[str, Any]]:
        """Return one row per detector and metric, per series that changed, and per event gained or lost."""
        changes = [{"kind": "metric", **change.record()} for change in self.changes]
        series = [{"kind": "series", **asdict(each)} for each in self.series]
        gained = [{"kind": "gained", **event.record()} for event in self.gained]
        return [*changes, *series, *gained, *({"kind": "lost", **event.record()} for event in self.lost)]

    def numbers(self) -> dict[str, Any]:
        """Return everything, ready for JSON."""
        return {
            "before": self.before,
            "after": self.after,
            "series": self.n_series,
            "events": self.n_events,
            "verdict": self.verdict,
            "has_loss": self.has_loss,
            "changes": [change.record() for change in self.changes],
            "changed_series": [asdict(each) for each in self.series],
            "gained": [event.record() for event in self.gained],
            "lost": [event.record() for event in self.lost],
            "missing": list(self.missing),
            "new": list(self.new),
            "warnings": list(self.warnings),
        }

    def _columns(self) -> dict[str, Any]:
        rows = [change.record() for change in self.changes]
        return {name: [row[name] for row in rows] for name in (rows[0] if rows else ())}

    def __str__(self) -> str:
        return self.page().text()

    def _repr_html_(self) -> str:
        return self.page().html()


_NO_EVENTS = "No event is known on both sides: a receipt has events with --per-event."


def _between(interval: Interval) -> str:
    return f"[{interval.low:+.3f}, {interval.high:+.3f}]" if interval.is_known else "–"
