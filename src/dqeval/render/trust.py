"""How far the numbers of a page can be trusted: what was found in the data, and what DQE depends on, a line each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from dqeval.analysis.compare_result import Comparison
from dqeval.analysis.findings import Finding, errors_first
from dqeval.analysis.near_profile import WEAK, NearProfile
from dqeval.analysis.pitfalls import MOVES
from dqeval.analysis.score_result import dqe_of
from dqeval.core.confidence import FEWEST
from dqeval.core.near import BY_DEFAULT, Near
from dqeval.render.tables import count_of, in_words

DOCUMENTATION = "https://dqeval.github.io/dqeval/"
# Pages of the documentation and their sections, by what they are about.
DOCS = {
    "check": ("Quickstart", "Check the data", "quickstart.md#check-the-data"),
    "near": (
        "When DQE misleads",
        "A near range that is not half a period",
        "pitfalls.md#a-near-range-that-is-not-half-a-period",
    ),
    "profile": ("Concepts", "Near range", "concepts.md#near-range"),
    "scale": ("When DQE misleads", "The scale of the scores", "pitfalls.md#the-scale-of-the-scores"),
    "choices": ("When DQE misleads", "What would move a verdict", "pitfalls.md#what-would-move-a-verdict"),
    "events": ("Uncertainty", "How they are computed", "uncertainty.md#how-they-are-computed"),
}


@dataclass(frozen=True, slots=True)
class TrustLine:
    """One thing that decides how far numbers can be trusted.

    Attributes
    ----------
    title : str
    level : "fine", "look" or "wrong"
        Whether there is something to look at, or wrong.
    text : str
        What was found, in a sentence or two.
    details : tuple of str
        What else there is to say, folded away.
    about : str
        What it is about: a key of `DOCS`.
    """

    title: str
    level: Literal["fine", "look", "wrong"]
    text: str
    about: str
    details: tuple[str, ...] = ()

    @property
    def docs(self) -> tuple[str, str, str]:
        """The page of the documentation, its section, and where that is."""
        return DOCS[self.about]

    @property
    def link(self) -> str:
        """The address of that section. The page is complete without it: it loads nothing from there."""
        page, _, section = self.docs[2].partition("#")
        return f"{DOCUMENTATION}{page.removesuffix('.md')}.html#{section}"


def trust_lines(
    comparison: Comparison,
    profile: NearProfile,
    findings: Sequence[Finding],
    rescaled: Mapping[str, Mapping[str, float]],
) -> list[TrustLine]:
    """Return how far the numbers of a comparison can be trusted.

    Parameters
    ----------
    comparison : Comparison
    profile : NearProfile
    findings : sequence of Finding
        What `check` finds in the series and its scores.
    rescaled : mapping of str to mapping of str to float
        By detector, DQE of its scores on other scales; empty for detections.
    """
    return [
        _data(findings),
        _near(comparison.near),
        *_profile(profile),
        *_scale(comparison, rescaled),
        *_other_choices(comparison.moves),
        _events(comparison),
    ]


def _data(findings: Sequence[Finding]) -> TrustLine:
    if not findings:
        return TrustLine("Data", "fine", "dqeval check finds no problem in labels, values, times and scores.", "check")
    errors = sum(finding.level == "error" for finding in findings)
    counts = [count_of(n, what) for n, what in ((errors, "error"), (len(findings) - errors, "warning")) if n]
    details = tuple(f"{finding.column}: {finding.message}" for finding in errors_first(findings))
    return TrustLine("Data", "wrong" if errors else "look", f"dqeval check has {in_words(counts)}.", "check", details)


def _near(near: Near) -> TrustLine:
    said = f"{str(near)[0].upper()}{str(near)[1:]}"
    if near.is_fallback or near.source == BY_DEFAULT:
        return TrustLine("Near range", "look", f"{said}: it has nothing to do with this series.", "near")
    if near.points == 0:
        return TrustLine("Near range", "look", f"{said}: an alarm one point early is a false alarm.", "near")
    weak = near.strength is not None and near.strength < WEAK
    if near.strength is not None:
        said += f" (autocorrelation {near.strength:.2f}{', which is weak' if weak else ''})"
    said += f", which is hardly a period: {near.doubt}" if near.doubt else ""
    return TrustLine("Near range", "look" if weak or near.doubt else "fine", f"{said}.", "near")


def _profile(profile: NearProfile) -> Iterator[TrustLine]:
    if order := profile.about_the_order:
        yield TrustLine("Other near ranges", "look" if profile.decides_the_order else "fine", order, "profile")
        return
    for name, values in profile.dqe.items():
        span = f"DQE of {name} is {values.min():.3f} to {values.max():.3f}"
        said = f"{span} with near from 0 to {profile.shown(profile.ranges[-1])}."
        level: Literal["fine", "look"] = "look" if values.max() - values.min() > MOVES else "fine"
        yield TrustLine("Other near ranges", level, said, "profile")


def _scale(comparison: Comparison, rescaled: Mapping[str, Mapping[str, float]]) -> Iterator[TrustLine]:
    """Yield what other scales of the scores do to DQE, and to who is best."""
    now = {name: dqe_of(panel).dqe for name, panel in comparison.panels.items()}
    moves = [
        (abs(value - now[name]), name, words) for name, found in rescaled.items() for words, value in found.items()
    ]
    if not moves:
        return
    by, name, words = max(moves)
    numbers = f"that of {name} is {now[name]:.3f}, and would be {rescaled[name][words]:.3f} with {words}"
    said = f"DQE depends on how high scores are, and not only on their order: {numbers}"
    scales = dict.fromkeys(words for found in rescaled.values() for words in found)
    others = {words: best for words in scales if (best := _best(now, rescaled, words)) != comparison.best}
    if others:
        said += f"; {in_words([f'with {words}, {best} would be best' for words, best in others.items()])}"
    elif len(now) > 1:
        said += f"; {comparison.best} would stay the best"
    each = (
        f"{name}: {now[name]:.3f}; {', '.join(f'{value:.3f} with {words}' for words, value in found.items())}"
        for name, found in rescaled.items()
        if found
    )
    yield TrustLine("Scale of scores", "look" if others or by > MOVES else "fine", f"{said}.", "scale", tuple(each))


def _best(now: Mapping[str, float], rescaled: Mapping[str, Mapping[str, float]], words: str) -> str:
    """Return the best detector if all scores were on another scale; where that is not tried, on their own."""
    then = {name: rescaled[name].get(words, dqe) for name, dqe in now.items()}
    return max(then, key=lambda name: then[name])


def _other_choices(moves: Sequence[str]) -> Iterator[TrustLine]:
    """Yield what else than the scale would move the verdict."""
    others = [sentence for sentence in moves if DOCS["scale"][2].partition("#")[2] not in sentence]
    if others:
        said, *more = (sentence.partition(f": {DOCUMENTATION}")[0] for sentence in others)
        yield TrustLine("Other choices", "look", f"{said[0].upper()}{said[1:]}.", "choices", tuple(more))


def _events(comparison: Comparison) -> TrustLine:
    count = len(comparison.winners)
    if count < FEWEST:
        none = f"from fewer than {FEWEST} there is no interval, and nothing is told apart"
        return TrustLine("Number of events", "look", f"Only {count_of(count, 'event')}: {none}.", "events")
    result = dqe_of(comparison.panels[comparison.best])
    said = f"DQE of {comparison.best} is {result.dqe:.3f} {result.interval()} (95 % interval, {count:,} events)"
    alike = [name for name, behind in comparison.differences.items() if not behind.is_told_apart]
    if alike:
        return TrustLine("Number of events", "look", f"{said}; not told apart from {in_words(alike)}.", "events")
    apart = "; told apart from all others" if comparison.differences else ""
    return TrustLine("Number of events", "fine", f"{said}{apart}.", "events")
