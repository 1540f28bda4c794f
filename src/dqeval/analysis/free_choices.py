"""Choices that nobody made and that may decide who is ahead by DQE: scale, sampling, split labels, and the like."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from dqeval.analysis.pitfalls import MOVES, WIDEST_GAP, with_wrong_scores
from dqeval.core.prepared import Labelled, Scored
from dqeval.core.registry import METRICS
from dqeval.core.types import BoolArray
from dqeval.metrics.dqe import dqe_at

PAGE = "https://dqeval.github.io/dqeval/pitfalls.html"
SAME = 0.005  # of DQE: whoever is ahead by less is not ahead
AROUND, FEWEST_AROUND = 10, 100  # near ranges, and points, around each event, beyond which a region is long
# By choice: what it is in words, and where it is explained.
CHOICES = {
    "roots": ("with the square roots of the scores", "the-scale-of-the-scores"),
    "squares": ("with the squares of the scores", "the-scale-of-the-scores"),
    "order": ("by the order of the scores alone (DQE-LR)", "the-scale-of-the-scores"),
    "joined": (f"with labels joined that are at most {WIDEST_GAP} points apart", "missing-labels-inside-an-event"),
    "halved": ("with every two points taken together", "the-sampling-rate"),
    "around": (
        f"with only the points up to {AROUND} near ranges (at least {FEWEST_AROUND} points) from an event",
        "false-alarms-get-cheaper-in-longer-regions",
    ),
    "test": ("without the training part (--part test)", "a-training-part-that-is-scored"),
}
WRONG, CHANCE = "a-wrong-point-that-raises-dqe", "chance-depends-on-how-much-is-detected"
DRAWS = 5  # of random scores
LOW = 0.5  # DQE, above which random scores hardly come


def dqe_by_choice(scored: Scored, near: float) -> dict[str, float]:
    """Return DQE as it is ("now"), and by the name of each choice that changes anything about a series.

    Where it is low, "chance" is the highest of random scores.
    """
    labelled, scores = scored.labelled, scored.scores
    values = {"now": dqe_at(scored, near)}
    if not scored.binary:
        values |= {
            "roots": dqe_at(Scored(labelled, np.sqrt(scores)), near),
            "squares": dqe_at(Scored(labelled, np.square(scores)), near),
            "order": METRICS["dqe_log_rank"].compute(scored, near=near),
            "wrong": max(dqe_at(Scored(labelled, changed), near) for changed in with_wrong_scores(scored)),
        }
        if values["now"] < LOW:
            random = np.random.default_rng(0)
            draws = (Scored(labelled, random.random(len(scores))) for _ in range(DRAWS))
            values["chance"] = max(dqe_at(drawn, near) for drawn in draws)
    if len(labelled.breaks):
        return values
    for name, change in _CHANGES.items():
        if (changed := change(scored, near)) is not None:
            values[name] = dqe_at(*changed)
    return values


def moves(by_detector: Mapping[str, Mapping[str, float]]) -> tuple[str, ...]:
    """Return what would move the verdict, a sentence each: who is ahead, or DQE of a single detector by a lot."""
    sentences: dict[str, str] = {}  # one for each section of the page
    for name, (words, section) in CHOICES.items():
        then = {detector: values.get(name, values["now"]) for detector, values in by_detector.items()}
        if said := _moved({detector: values["now"] for detector, values in by_detector.items()}, then):
            sentences.setdefault(section, f"{words}, {said}")
    if said := _wrong_points(by_detector):
        sentences[WRONG] = said
    best = max(by_detector, key=lambda detector: by_detector[detector]["now"])
    now, chance = by_detector[best]["now"], by_detector[best].get("chance", -1.0)
    if now <= chance:
        sentences[CHANCE] = (
            f"random scores get a DQE of up to {chance:.3f}, and {best or 'this detector'} has {now:.3f}"
        )
    return tuple(f"{sentence}: {PAGE}#{section}" for section, sentence in sentences.items())


def moves_of_one(scored: Scored, near: float, *, chance: bool = False) -> tuple[str, ...]:
    """Return what would move DQE of one detector, besides the scale and wrong points, which are pitfalls."""
    told = {"now", *_CHANGES} - {"test"} | ({"chance"} if chance else set())  # the training part is a pitfall, too
    return moves({"": {name: value for name, value in dqe_by_choice(scored, near).items() if name in told}})


def _moved(now: Mapping[str, float], then: Mapping[str, float]) -> str:
    best, first = max(now, key=lambda name: now[name]), max(then, key=lambda name: then[name])
    if len(now) == 1:
        return f"DQE is {then[best]:.3f}, and not {now[best]:.3f}" if abs(then[best] - now[best]) > MOVES else ""
    return f"{first} is ahead ({then[first]:.3f}; {best} {then[best]:.3f})" if then[first] - then[best] > SAME else ""


def _wrong_points(by_detector: Mapping[str, Mapping[str, float]]) -> str:
    now = {name: values["now"] for name, values in by_detector.items()}
    best = max(now, key=lambda name: now[name])
    raised = {name: values.get("wrong", values["now"]) for name, values in by_detector.items() if name != best}
    name = max(raised, key=lambda each: raised[each], default=best)
    if name == best or raised[name] - now[best] <= SAME:
        return ""
    what = f"one more wrong point right beside each event would put {name} ahead"
    return f"{what} ({raised[name]:.3f}; {best} {now[best]:.3f})"


def _joined(scored: Scored, near: float) -> tuple[Scored, float] | None:
    events, labels = scored.events, scored.labels.copy()
    for stop, start in zip(events.stops[:-1].tolist(), events.starts[1:].tolist(), strict=True):
        if start - stop <= WIDEST_GAP:
            labels[stop:start] = True
    return None if np.array_equal(labels, scored.labels) else (Scored(Labelled(labels), scored.raw), near)


def _halved(scored: Scored, near: float) -> tuple[Scored, float]:
    starts = np.arange(0, len(scored.labels), 2)
    labels, scores = (np.maximum.reduceat(column, starts) for column in (scored.labels, scored.raw))
    return Scored(Labelled(labels), scores), near / 2


def _around(scored: Scored, near: float) -> tuple[Scored, float] | None:
    kept = _near_events(scored, int(min(max(FEWEST_AROUND, AROUND * near), len(scored.labels))))
    return None if kept.all() else (Scored(Labelled(scored.labels[kept]), scored.raw[kept]), near)


def _near_events(scored: Scored, reach: int) -> BoolArray:
    """Return which points are so near to an event, or in one."""
    ends = np.zeros(len(scored.labels) + 1, dtype=np.intp)
    np.add.at(ends, np.maximum(scored.events.starts - reach, 0), 1)
    np.add.at(ends, np.minimum(scored.events.stops + reach, len(scored.labels)), -1)
    return np.asarray(np.cumsum(ends)[:-1] > 0)


def _test_part(scored: Scored, near: float) -> tuple[Scored, float] | None:
    stop = scored.labelled.train_stop
    if stop is None or not scored.labels[stop:].any():
        return None
    return Scored(Labelled(scored.labels[stop:]), scored.raw[stop:]), near


_CHANGES: dict[str, Callable[[Scored, float], tuple[Scored, float] | None]] = {
    "joined": _joined,
    "halved": _halved,
    "around": _around,
    "test": _test_part,
}


def paragraph(sentences: tuple[str, ...], *, several: bool) -> Iterator[str]:
    """Yield a paragraph on what would move the verdict; nothing where nothing would."""
    if sentences:
        title = "What would change who is ahead by DQE:" if several else f"What would change DQE by more than {MOVES}:"
        yield "\n".join([title, "", *(f"- {sentence}" for sentence in sentences)])
