"""What the paper says of its two case studies, each with the numbers that decide it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dqeval.core.registry import label_of
from dqeval.core.types import PARTS
from dqeval.experiments.case_study.numbers import Form, event_row
from dqeval.experiments.outcome import PAPER_METRICS, Claim
from dqeval.experiments.verdicts import Decision, is_majority, metrics_in_words, of_both_forms, order_of, with_seeds

OTHERS = PAPER_METRICS[:-1]  # the metrics that DQE is compared with
WSD_SHOWN, UCR_SHOWN = ("CNN", "Sub-LOF", "TimesNet", "FFT"), ("CNN", "KMeansAD")
_WSD, _UCR, _APPENDIX = "4.3.1", "4.3.2", "appendix B"
_LOW, _SMALL = 0.05, 0.05  # what counts as close to zero, and as a small difference
_WELL, _FAR = 0.3, 0.2  # what counts as well above zero, and as far apart
_MANY = 5  # times as many are many more


@dataclass(frozen=True, slots=True)
class Statement:
    """A claim of the paper, and how numbers decide it.

    Attributes
    ----------
    section, text : str
    needs : tuple of str
        The detectors that it is about.
    holds : callable
        `Form` to bool.
    found : callable
        `Form` to the numbers that decide it, in words.
    """

    section: str
    text: str
    needs: tuple[str, ...]
    holds: Callable[[Form], bool]
    found: Callable[[Form], str]


def decide(statement: Statement, published: Form, ours: Form, by_seed: Sequence[Form] = ()) -> Claim:
    """Return a claim with its verdict from the numbers as published, and what this library's numbers say of it.

    ``by_seed`` has the numbers as published with every seed.
    """
    missing = [name for name in statement.needs if name not in published.values]
    if missing:
        return Claim(statement.section, statement.text, None, f"{' and '.join(missing)} did not run")
    both = (Decision(statement.holds(form), statement.found(form)) for form in (published, ours))
    claim = of_both_forms(statement.section, statement.text, *both)
    return with_seeds(claim, [statement.holds(form) for form in by_seed])


def _values_of(detectors: Sequence[str], *metrics: str) -> Callable[[Form], str]:
    """Return what tells the values of some metrics for some detectors."""

    def tell(form: Form) -> str:
        return "; ".join(
            f"{label_of(metric)} " + ", ".join(f"{name} {form.values[name][metric]:.2f}" for name in detectors)
            for metric in metrics
        )

    return tell


def _in_order(detectors: Sequence[str], metric: str) -> Callable[[Form], str]:
    """Return what tells the values of a metric, the best detector first."""

    def tell(form: Form) -> str:
        order = order_of({name: form.values[name][metric] for name in detectors})
        return _values_of(order, metric)(form)

    return tell


def _first(detector: str, detectors: Sequence[str], *metrics: str) -> Callable[[Form], bool]:
    """Return what tells whether some metrics rank a detector first."""
    return lambda form: all(
        order_of({name: form.values[name][metric] for name in detectors})[0] == detector for metric in metrics
    )


def _count(holds: Callable[[Form, str], bool]) -> Callable[[Form], list[str]]:
    """Return what lists the other metrics for which something holds."""
    return lambda form: [metric for metric in OTHERS if holds(form, metric)]


def _events(detector: str, part: str) -> Callable[[Form], list[float]]:
    """Return what lists a part of DQE event by event."""

    def each(form: Form) -> list[float]:
        rows = (event_row(detector, i) for i in range(1, len(form.parts) + 1))
        return [getattr(form.parts[row], part) for row in rows if row in form.parts]

    return each


def _by_event(part: str, *detectors: str) -> Callable[[Form], str]:
    """Return what tells a part of DQE event by event."""

    def tell(form: Form) -> str:
        each = (f"{name} {' '.join(f'{v:.2f}' for v in _events(name, part)(form))}" for name in detectors)
        return f"{label_of(part)} of the events: {', '.join(each)}"

    return tell


def _lower(one: str, other: str, part: str) -> Callable[[Form], bool]:
    """Return what tells whether a part of DQE is lower for one detector than for another at each event."""
    return lambda form: all(a < b for a, b in zip(_events(one, part)(form), _events(other, part)(form), strict=True))


def _parts(detector: str, *parts: str) -> Callable[[Form], str]:
    return lambda form: (
        f"{detector}: " + ", ".join(f"{label_of(part)} {getattr(form.parts[detector], part):.2f}" for part in parts)
    )


_above = _count(lambda form, m: form.values["FFT"][m] > min(form.values["CNN"][m], form.values["Sub-LOF"][m]))
_near_zero = _count(lambda form, m: form.values["TimesNet"][m] <= _LOW)
_no_penalty = _count(lambda form, m: form.values["KMeansAD"][m] > form.values["CNN"][m] - _SMALL)

WSD_STATEMENTS = (
    Statement(
        _WSD,
        "CNN finds almost all events: all but one at most, at more than half of the thresholds.",
        ("CNN",),
        lambda form: sum(share <= 0.5 for share in _events("CNN", "capture")(form)) <= 1,
        _by_event("capture", "CNN"),
    ),
    Statement(
        _WSD,
        "Sub-LOF finds every event, at more than half of the thresholds, but answers more widely than CNN: its "
        "near-miss part is lower at each event.",
        ("CNN", "Sub-LOF"),
        lambda form: min(_events("Sub-LOF", "capture")(form)) > 0.5 and _lower("Sub-LOF", "CNN", "near_miss")(form),
        lambda form: f"{_by_event('capture', 'Sub-LOF')(form)}; {_by_event('near_miss', 'Sub-LOF', 'CNN')(form)}",
    ),
    Statement(
        _WSD,
        f"FFT almost misses two of the events: it finds them at less than {_WELL} of the thresholds.",
        ("FFT",),
        lambda form: sum(share < _WELL for share in _events("FFT", "capture")(form)) == 2,
        _by_event("capture", "FFT"),
    ),
    Statement(
        _WSD,
        "Most of the other metrics rank FFT, which misses most events, above CNN or above Sub-LOF.",
        ("CNN", "Sub-LOF", "FFT"),
        lambda form: is_majority(_above(form), OTHERS),
        lambda form: metrics_in_words(_above(form), OTHERS),
    ),
    Statement(_WSD, "PATE ranks FFT first.", WSD_SHOWN, _first("FFT", WSD_SHOWN, "pate"), _in_order(WSD_SHOWN, "pate")),
    Statement(
        _WSD,
        "AUC-ROC and VUS-ROC rank Sub-LOF first.",
        WSD_SHOWN,
        _first("Sub-LOF", WSD_SHOWN, "auc_roc", "vus_roc"),
        lambda form: "; ".join(_in_order(WSD_SHOWN, metric)(form) for metric in ("auc_roc", "vus_roc")),
    ),
    Statement(
        _WSD,
        "AUC-ROC, VUS-ROC and AF call Sub-LOF, which is not perfect, nearly so: 0.99.",
        ("Sub-LOF",),
        lambda form: min(form.values["Sub-LOF"][m] for m in ("auc_roc", "vus_roc", "affiliation_f1")) >= 0.985,
        _values_of(("Sub-LOF",), "auc_roc", "vus_roc", "affiliation_f1"),
    ),
    Statement(
        _WSD,
        "AF is high for every detector: 0.75 or more.",
        WSD_SHOWN,
        lambda form: min(form.values[name]["affiliation_f1"] for name in WSD_SHOWN) >= 0.75,
        _in_order(WSD_SHOWN, "affiliation_f1"),
    ),
    Statement(
        _WSD,
        "AF gives even FFT 0.81.",
        ("FFT",),
        lambda form: f"{form.values['FFT']['affiliation_f1']:.2f}" == "0.81",
        lambda form: f"AF FFT {form.values['FFT']['affiliation_f1']:.3f}",
    ),
    Statement(
        _WSD,
        "AUC-PR is low, below 0.25, for CNN and Sub-LOF, which do well.",
        ("CNN", "Sub-LOF"),
        lambda form: max(form.values[name]["auc_pr"] for name in ("CNN", "Sub-LOF")) < 0.25,
        _values_of(("CNN", "Sub-LOF"), "auc_pr"),
    ),
    Statement(
        _WSD,
        "VUS-PR gives CNN no more than 0.04.",
        ("CNN",),
        lambda form: round(form.values["CNN"]["vus_pr"], 2) <= 0.04,
        _values_of(("CNN",), "vus_pr"),
    ),
    Statement(
        _WSD,
        "TimesNet detects none of the events, but points very close to them.",
        ("TimesNet",),
        lambda form: max(_events("TimesNet", "capture")(form)) < _LOW and form.parts["TimesNet"].near_miss > 0.5,
        _parts("TimesNet", "capture", "near_miss", "false_alarm"),
    ),
    Statement(
        _WSD,
        "Most of the other metrics are next to zero (0.05 or less) for TimesNet.",
        ("TimesNet",),
        lambda form: is_majority(_near_zero(form), OTHERS),
        lambda form: metrics_in_words(_near_zero(form), OTHERS),
    ),
    Statement(
        _WSD,
        "DQE ranks them CNN, Sub-LOF, TimesNet, FFT.",
        WSD_SHOWN,
        lambda form: order_of({name: form.values[name]["dqe"] for name in WSD_SHOWN}) == WSD_SHOWN,
        _in_order(WSD_SHOWN, "dqe"),
    ),
    Statement(
        _WSD,
        f"DQE marks wide answers down: Sub-LOF captures as much as CNN (to {_SMALL}), but its DQE is lower by {_FAR} "
        "or more.",
        ("CNN", "Sub-LOF"),
        lambda form: (
            abs(form.parts["CNN"].capture - form.parts["Sub-LOF"].capture) <= _SMALL
            and form.parts["CNN"].dqe - form.parts["Sub-LOF"].dqe >= _FAR
        ),
        lambda form: "; ".join(_parts(name, "capture", "dqe")(form) for name in ("CNN", "Sub-LOF")),
    ),
    Statement(
        f"{_WSD}, {_APPENDIX}",
        f"DQE rewards TimesNet's near misses though it captures no event (capture below {_LOW}): its DQE, and its "
        f"near-miss and false-alarm parts at each event, are above {_WELL}.",
        ("TimesNet",),
        lambda form: (
            max(_events("TimesNet", "capture")(form)) < _LOW
            and form.parts["TimesNet"].dqe > _WELL
            and min(_events("TimesNet", "near_miss")(form) + _events("TimesNet", "false_alarm")(form)) > _WELL
        ),
        lambda form: "; ".join(
            (_parts("TimesNet", "dqe")(form), *(_by_event(part, "TimesNet")(form) for part in PARTS))
        ),
    ),
    Statement(
        _APPENDIX,
        "FFT does badly on the first (0.12) and the third (0.00) event, which makes its DQE low (0.34).",
        ("FFT",),
        lambda form: max(_events("FFT", "dqe")(form)[::2]) < 0.2 and form.parts["FFT"].dqe < 0.4,
        _by_event("dqe", "FFT"),
    ),
    Statement(
        _APPENDIX,
        "Sub-LOF is marked down for the width of its answers: its near-miss part is the lowest of the four.",
        WSD_SHOWN,
        lambda form: min(WSD_SHOWN, key=lambda name: form.parts[name].near_miss) == "Sub-LOF",
        lambda form: "; ".join(_parts(name, "near_miss")(form) for name in WSD_SHOWN),
    ),
)

UCR_STATEMENTS = (
    Statement(
        _UCR,
        "Both CNN and KMeansAD find the event.",
        UCR_SHOWN,
        lambda form: min(form.parts[name].capture for name in UCR_SHOWN) > 0.9,
        lambda form: "; ".join(_parts(name, "capture")(form) for name in UCR_SHOWN),
    ),
    Statement(
        _UCR,
        f"KMeansAD gives many more false alarms than CNN: {_MANY} times as many or more, as detections beyond the near "
        "range at a threshold halfway between the lowest score and the highest.",
        UCR_SHOWN,
        lambda form: form.alarms["KMeansAD"] >= _MANY * max(form.alarms["CNN"], 1),
        lambda form: ", ".join(f"{name} {form.alarms[name]}" for name in UCR_SHOWN),
    ),
    Statement(
        _UCR,
        "Most of the other metrics do not mark KMeansAD down for its many false alarms: above CNN, or less than 0.05 "
        "below it.",
        UCR_SHOWN,
        lambda form: is_majority(_no_penalty(form), OTHERS),
        lambda form: metrics_in_words(_no_penalty(form), OTHERS),
    ),
    Statement(
        _UCR,
        f"DQE ranks CNN above KMeansAD, and far from it: by {_FAR} or more.",
        UCR_SHOWN,
        lambda form: form.values["CNN"]["dqe"] - form.values["KMeansAD"]["dqe"] >= _FAR,
        _in_order(UCR_SHOWN, "dqe"),
    ),
    Statement(
        _APPENDIX,
        "KMeansAD has low parts for false alarms (0.53) and near misses (0.13), both far below those of CNN.",
        UCR_SHOWN,
        lambda form: all(
            getattr(form.parts["KMeansAD"], part) < getattr(form.parts["CNN"], part) - _FAR
            for part in ("false_alarm", "near_miss")
        ),
        lambda form: "; ".join(_parts(name, "near_miss", "false_alarm")(form) for name in UCR_SHOWN),
    ),
)
STATEMENTS = {"WSD": WSD_STATEMENTS, "UCR": UCR_STATEMENTS}
