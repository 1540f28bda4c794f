"""How verdicts on the paper's sentences are put: most of some metrics, and both forms beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dqeval.core.registry import label_of
from dqeval.experiments.outcome import OURS, PAPER_METRICS, Claim


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a sentence holds for the numbers of one form, and these numbers in words."""

    holds: bool
    found: str


def is_majority(metrics: Sequence[str], of: Sequence[str] = PAPER_METRICS) -> bool:
    """Return whether some metrics are more than half of those that they are counted among."""
    return len(metrics) > len(of) / 2


def metrics_in_words(metrics: Sequence[str], of: Sequence[str] = PAPER_METRICS) -> str:
    """Return how many metrics there are of those that they are counted among, and which.

    Examples
    --------
    >>> metrics_in_words(["dqe", "range_f1"]), metrics_in_words([], of=["pate"])
    ('2 of 11 metrics: DQE, RF', '0 of 1 metrics')
    """
    names = f": {', '.join(map(label_of, metrics))}" if metrics else ""
    return f"{len(metrics)} of {len(of)} metrics{names}"


def of_both_forms(section: str, text: str, published: Decision, ours: Decision) -> Claim:
    """Return a claim with the verdict of the published form, and where the other form's numbers differ, these too."""
    if published == ours:
        return Claim(section, text, published.holds, published.found)
    turned = "" if published.holds == ours.holds else ", where it holds" if ours.holds else ", where it does not hold"
    return Claim(section, text, published.holds, f"{published.found}; {OURS}: {ours.found}{turned}")


def order_of(values: Mapping[str, float]) -> tuple[str, ...]:
    """Return names by their values, the highest first; of equals, the first first.

    Examples
    --------
    >>> order_of({"a": 0.5, "b": 0.7, "c": 0.5})
    ('b', 'a', 'c')
    """
    return tuple(sorted(values, key=lambda name: -values[name]))
