"""What keywords are given that they do not take, and what some of them do take."""

import math

import numpy as np
import pytest

WRONG = {
    "text": "anything",
    "nothing": None,
    "truth": True,
    "timedelta": np.timedelta64(3, "s"),
    "date": np.datetime64("2024-01-01"),
    "nan": math.nan,
    "infinite": math.inf,
    "negative": -1.5,
    "huge": 10**30,
    "beyond floats": 10**400,
    "too long to print": 10**5000,
    "list": [1, 2],
    "object": object(),
    "mapping": {"a": 1},
    "complex": 1j,
    "bytes": b"x",
}
# What is right for some keywords, by what each takes.
RIGHT = {
    "near": {"huge", "nothing"},
    "period": {"huge", "nothing"},
    "seed": {"huge"},
    "values": {"nothing"},
    "metrics": {"nothing"},
    "kinds": {"nothing"},
    "questions": {"nothing"},
    "progress": {"nothing"},
    "scale": {"truth"},
    "name": {"text"},
    "series": {"text", "nothing"},
    "per_event": {"truth"},
    "window": {"nothing"},
    "workers": {"nothing"},
    "resamples": {"nothing"},
    "offsets": {"nothing"},
    "ids": {"nothing"},
    "train_stop": {"nothing"},
    "early": {"huge", "beyond floats", "too long to print"},
    "late": {"huge", "beyond floats", "too long to print"},
    "delta": {"huge", "beyond floats", "too long to print"},
    "at_once": {"huge", "beyond floats", "too long to print"},
    "neighbours": {"huge", "beyond floats", "too long to print"},
    "most_compared": {"nothing", "huge", "beyond floats", "too long to print"},
    "thresholds": set(),
    "span": {"nothing", "list"},
    "resolution": {"nothing", "timedelta"},
    "times": {"nothing"},
    "time": {"nothing"},
    "incidents": {"nothing", "text"},
    "timezone": {"nothing"},
    "max_gap": {"nothing"},
    "false_alarms_per_day": {"nothing"},
    "false_alarms_per_1000": {"huge"},
    "label": {"nothing"},
    "by": {"nothing"},
    "value": {"nothing"},
    "scores": {"nothing"},
    "groups": {"nothing"},
    "seeds": {"nothing"},
    "higher_is_better": {"truth"},
    "max_delay": {"nothing", "huge", "beyond floats", "too long to print"},
    "delay": {"nothing", "huge", "beyond floats", "too long to print"},
    "k": {"huge", "beyond floats", "too long to print"},
    "tolerance": {"huge", "beyond floats", "too long to print"},
    "pred": {"nothing"},
    "metric": {"text"},  # which is refused with a longer list of those there are
    "margin": {"nothing", "huge", "beyond floats", "too long to print"},
}
# Where there is a clock, lengths may be durations.
ON_A_CLOCK = RIGHT | {keyword: RIGHT[keyword] | {"timedelta"} for keyword in ("near", "period", "max_gap")}


def check_keyword(function, given, options, keyword, right=None):
    """Check that a keyword refuses everything that is wrong, in a sentence that names it."""
    for what, wrong in WRONG.items():
        if what in (RIGHT.get(keyword, set()) if right is None else right):
            continue
        with pytest.raises(ValueError, match=keyword) as caught:
            function(*given, **{**options, keyword: wrong})
        assert "\n" not in str(caught.value), what
        assert len(str(caught.value)) < 300, what
