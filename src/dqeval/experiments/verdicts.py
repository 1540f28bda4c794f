"""How verdicts on the paper's sentences are put: by resamples or seeds, most of some metrics, both forms together."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from dqeval.core.registry import label_of
from dqeval.experiments.outcome import OPEN, OURS, PAPER_METRICS, TOO_FEW, VERDICTS, Claim
from dqeval.experiments.resamples import Resamples, verdict_of


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a sentence holds for the numbers of one form, and these numbers in words.

    Attributes
    ----------
    holds : bool or None
        None where that is open, or there are too few series.
    found : str
    share : float, optional
        Of the resamples in which it holds, where series were drawn again.
    why_untold : str
        Why there is no verdict, where there is none without resamples.
    """

    holds: bool | None
    found: str
    share: float | None = None
    why_untold: str = VERDICTS[None]

    def as_claim(self, section: str, text: str) -> Claim:
        """Return the claim that is decided."""
        return Claim(section, text, self.holds, self.found, self.share, self.why_untold)


def decision(resamples: Resamples, found: str, in_resample: Callable[[int], bool]) -> Decision:
    """Return what is decided of a sentence by the resamples, each told by its number, or why nothing is."""
    if not resamples.enough:
        return Decision(None, found, why_untold=f"{TOO_FEW} ({resamples.series:,})")
    share = resamples.share(in_resample)
    return Decision(verdict_of(share), found, share)


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
        return published.as_claim(section, text)
    turned = "" if published.holds == ours.holds else f", where it {_in_words(ours)}"
    return replace(published, found=f"{published.found}; {OURS}: {ours.found}{turned}").as_claim(section, text)


def with_seeds(claim: Claim, held: Sequence[bool]) -> Claim:
    """Return a claim on one series, judged as published with each of several seeds: it is open if they differ.

    A single series cannot be drawn again, so there is no share of resamples.
    """
    if len(held) < 2:
        return claim
    found = f"{claim.found}; as published, it holds with {sum(held)} of {len(held)} seeds"
    return replace(claim, found=found, holds=held[0] if len(set(held)) == 1 else None, why_untold=OPEN)


def _in_words(decided: Decision) -> str:
    if decided.holds is None:
        return "is open" if decided.share is not None else "cannot be told"
    return "holds" if decided.holds else "does not hold"


def order_of(values: Mapping[str, float]) -> tuple[str, ...]:
    """Return names by their values, the highest first; of equals, the first first.

    Examples
    --------
    >>> order_of({"a": 0.5, "b": 0.7, "c": 0.5})
    ('b', 'a', 'c')
    """
    return tuple(sorted(values, key=lambda name: -values[name]))
