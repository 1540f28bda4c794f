"""Beside the rankings: whether means over events are fairer than means over series, and detectors beyond the paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from dqeval.core.types import FloatArray
from dqeval.experiments.outcome import Claim
from dqeval.experiments.ranked import LEVELS, Ranked
from dqeval.experiments.verdicts import decision
from dqeval.render.tables import Table

_SECTION = "appendix C"
HEAVIEST = 0.1  # of the series, those with most events


def has_levels(ranked: Ranked) -> bool:
    """Return whether some series have several events, so that the levels differ."""
    return ranked.by_event.n > ranked.by_series.n


def errors_table(ranked: Ranked) -> Table:
    """Return the standard error of each mean by series and by event, from whole series drawn again."""
    found, rows = _errors(ranked), []
    for detector in ranked.by_series.detectors:
        means, errors = [ranked.mean(detector, "dqe", level) for level in LEVELS], found[detector]
        rows.append((detector, *(f"{value:.3f}" for value in (*means, *errors)), f"{errors[1] / errors[0]:.2f}"))
    header = ("detector", "DQE by series", "by event", "standard error by series", "by event", "ratio")
    return Table(header, rows, note=weights_sentence(events_per_series(ranked)))


def events_per_series(ranked: Ranked) -> FloatArray:
    """Return how many events each series has."""
    counts = Counter(series for series, _ in {row["unit"] for row in ranked.rows["event"]})
    return np.sort(np.array(list(counts.values()), dtype=np.float64))[::-1]


def weights_sentence(counts: FloatArray) -> str:
    """Say how unequal the weights of series are, if each event counts once."""
    heavy = max(1, round(HEAVIEST * len(counts)))
    share, effective = counts[:heavy].sum() / counts.sum(), float(counts.sum() ** 2 / (counts**2).sum())
    return (
        f"if each event counts once, the {heavy:,} series with most events have {100 * share:.0f} % of the weight, and "
        f"{len(counts):,} series are worth {effective:.0f} that weigh alike"
    )


def level_claims(dataset: str, ranked: Ranked) -> Iterator[Claim]:
    """Decide what the paper says of means over events."""
    by_series, by_event = (ranked.resampled("dqe", level) for level in LEVELS)
    off = np.mean([by_series[name] - by_event[name] for name in by_series], axis=0)
    higher = np.mean([ranked.mean(name, "dqe", "series") - ranked.mean(name, "dqe", "event") for name in by_series])
    found = f"by series higher by {higher:.3f}, on average over the detectors"
    text = f"on {dataset}, means over series are biased by how many events each has: they are higher than over events"
    yield decision(ranked.resamples, found, lambda i: bool(off[i] > 0)).as_claim(_SECTION, text)
    text = (
        f"on {dataset}, means over events are statistically fairer: more certain than means over series (their "
        "standard error, with whole series as the unit, is smaller for most detectors)"
    )
    errors = [ranked.errors("dqe", level) for level in LEVELS]
    smaller = np.mean([errors[1][name] < errors[0][name] for name in by_series], axis=0)
    fairer = decision(ranked.resamples, _ratios_in_words(ranked), lambda i: bool(smaller[i] > 0.5))
    yield fairer.as_claim(_SECTION, text)


def _ratios_in_words(ranked: Ranked) -> str:
    if not ranked.resamples.enough:
        return "no standard errors, of so few series"
    ratios = {name: by_event / by_series for name, (by_series, by_event) in _errors(ranked).items()}
    return f"ratio of the standard errors: {', '.join(f'{name} {ratio:.2f}' for name, ratio in ratios.items())}"


def _errors(ranked: Ranked) -> dict[str, tuple[float, float]]:
    """Return the standard errors of each detector's mean DQE by series and by event, from whole series drawn again."""
    by_series, by_event = (ranked.resampled("dqe", level) for level in LEVELS)
    return {name: (float(np.std(by_series[name])), float(np.std(by_event[name]))) for name in by_series}


def beyond_table(ranked: Ranked, beyond: Sequence[str]) -> Table:
    """Return how detectors beyond the paper stand beside the others by DQE, with intervals of the differences."""
    drawn = ranked.resampled("dqe")
    rows = []
    for name in ranked.by_series.detectors:
        differences = [_difference(ranked, drawn, name, other) for other in beyond]
        rows.append((name, f"{ranked.mean(name, 'dqe'):.3f}", *differences))
    few = "" if ranked.resamples.enough else f"; too few series for intervals: {ranked.resamples.series:,}"
    note = f"{ranked.by_series.n:,} series; in brackets, 95 % of resamples of whole series{few}"
    return Table(("detector", "DQE", *(f"less that of {other}" for other in beyond)), rows, note=note)


def _difference(ranked: Ranked, drawn: dict[str, FloatArray], name: str, other: str) -> str:
    if name == other:
        return ""
    off = ranked.mean(name, "dqe") - ranked.mean(other, "dqe")
    if not ranked.resamples.enough:
        return f"{off:+.3f}"
    low, high = np.quantile(drawn[name] - drawn[other], [0.025, 0.975])
    return f"{off:+.3f} [{low:+.3f}, {high:+.3f}]"
