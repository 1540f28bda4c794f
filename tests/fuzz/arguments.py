"""Calls of the library with arguments that people should not give: only a ValueError may come of them."""

import math
import warnings
from decimal import Decimal

import numpy as np

import dqeval

ODD = (
    *(None, True, 0, 1, -1, 2.5, 1e308, math.nan, math.inf, 10**400, "x", "", b"x", [], [0], [0, 1], [[0, 1]], {}),
    *(
        (),
        {"a": 1},
        object(),
        int,
        Decimal("sNaN"),
        1j,
        np.array(1.0),
        np.zeros(0),
        np.zeros((3, 0)),
        np.zeros(3, "M8[s]"),
    ),
    *(np.timedelta64(5, "s"), np.ma.masked, np.array(["a", "b"]), np.array([1, None]), range(3), "exact", ["dqe", 5]),
)
NUMBERS = (0, 1, 0.5, -1, 1e308, -1e308, 1.7e308, 5e-324, 1e-310, math.nan, math.inf, True, 2)


def _series(rng):
    n = rng.choice((1, 2, 3, 10, 60))
    if rng.random() < 0.1:
        return rng.choice(ODD), rng.choice(ODD)
    labels = np.array([n // 3 <= t <= n // 2 for t in range(n)], dtype=rng.choice(("?", "i8", "f8")))
    few = rng.choices(NUMBERS[: rng.randrange(1, len(NUMBERS))], k=n)
    scores = np.array([rng.random() for _ in range(n)] if rng.random() < 0.4 else few)
    return labels, scores


def _many(rng, labels, scores):
    """Return the series as one, as several, or with several detectors."""
    forms = (labels, scores), ([labels] * 2, [scores, rng.choice((scores, rng.choice(ODD)))]), (labels, {"a": scores})
    return rng.choice(forms)


def _borders(rng, labels):
    """Return where series begin, if anything."""
    ids = np.arange(np.size(labels)) // 2
    good = rng.choice(({}, {"offsets": [0, 2]}, {"ids": ids}, {"workers": 2}, {"scale": "log-rank"}))
    return {name: rng.choice(ODD) if rng.random() < 0.3 else value for name, value in good.items()}


def call(rng):
    """Call one of the functions with what is right, but for some of it."""
    labels, scores = _series(rng)
    options = {"near": 3, "period": 20, "undefined": "nan", "thresholds": 50}
    given = {
        name: rng.choice(ODD) if rng.random() < 0.3 else good for name, good in options.items() if rng.random() < 0.3
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dqeval.UndefinedWarning)
        which = rng.randrange(7)
        if which == 0:
            dqeval.evaluate(labels, scores, **given)
        elif which == 1:
            metrics = rng.choice((None, ["dqe"], rng.choice(ODD)))
            dqeval.panel(labels, scores, metrics=metrics, **{k: v for k, v in given.items() if k != "thresholds"})
        elif which == 2:
            dqeval.evaluate_detections(labels, scores, **{k: v for k, v in given.items() if k != "thresholds"})
        elif which == 3:
            dqeval.find_period(scores)
        elif which == 6:
            dqeval.evaluate_many(*_many(rng, labels, scores), **given | _borders(rng, labels))
        elif (
            which == 4
            and len(np.shape(scores)) == len(np.shape(labels)) == 1
            and np.size(labels) == np.size(scores) > 0
        ):
            dqeval.check(
                dqeval.Series(
                    "s", np.asarray(labels, float), {"mine": np.asarray(scores, float)}, np.asarray(scores, float)
                )
            )
        else:
            dqeval.best_threshold(rng.choice(("f1", "pa_f1", rng.choice(ODD))), labels, scores)
