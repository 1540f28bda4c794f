"""What a metric says of short series: each is computed once, and what goes wrong is an answer too."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from dqeval.analysis.panel import value_of_metric, values_of_metric
from dqeval.bench.pool import errors_of_work
from dqeval.core.entries import Metric
from dqeval.core.prepared import Labelled, Scored
from dqeval.core.validate import UndefinedError
from dqeval.lab.cases import Case, Levels

ERROR, TOO_SLOW = "error", "too slow"
TOLERANCE = 1e-9  # what differs less is equal: metrics add up floats in another order


# Metrics with a number of points by default that is longer than the short series, where it would never matter: there it
# is the near range.
_IN_POINTS = {"delay_point_adjusted_f1": "k", "ucr_score": "tolerance"}


class CannotJudgeError(Exception):
    """A metric that cannot be judged any further.

    Attributes
    ----------
    word : str
        As it stands in the matrix: "error" or "too slow".
    sentence : str
    """

    def __init__(self, word: str, sentence: str) -> None:
        super().__init__(sentence)
        self.word, self.sentence = word, sentence


class Judge:
    """A metric that is asked about many short series, for as long as there is time.

    Parameters
    ----------
    metric : Metric
    seconds : float
        How much time of the processor it may take, all in all: answers must not depend on what else the machine does.
    clock : callable
        Seconds since some moment.
    """

    def __init__(self, metric: Metric, seconds: float, clock: Callable[[], float] = time.process_time) -> None:
        self.metric = metric
        self.seconds = seconds
        self._clock = clock
        self._end = self._until = clock() + seconds
        self._values: dict[Case, float] = {}
        self._ahead: dict[Case, float] = {}

    def allow(self, seconds: float) -> None:
        """Let the next question take so long, if that much time is left."""
        self._until = min(self._end, self._clock() + seconds)

    def value(self, case: Case) -> float:
        """Return the metric's value; NaN where it is undefined, or takes detections at every point for none."""
        known = self._values.get(case)
        if known is None:
            silenced = set(case.found) == {1} and self._takes_all_for_none
            known = self._values[case] = math.nan if silenced else self._found(case)
        else:
            self._check_time()
        return known

    def look_ahead(self, cases: Iterable[Case]) -> None:
        """Compute what will be asked for soon, many short series at once; where that fails, it is asked one by one."""
        if self.metric.joined is None or self.metric.name in _IN_POINTS:
            return
        unknown = [case for case in dict.fromkeys(cases) if case not in self._values and any(case.labels)]
        self._check_time()
        values = values_of_metric(self.metric, [(_scored(case), float(case.near)) for case in unknown])
        for case, value in zip(unknown, values, strict=True):
            if value is not None:
                self._ahead[case] = value

    def confirm(self, case: Case) -> None:
        """Raise an error if the metric gives another value when it is asked again."""
        first, again = self.value(case), self._computed(case)
        if not abs(again - first) <= TOLERANCE:
            why = f"{self.metric.label} gives {first:g} for {_called(case)}, and {again:g} when it is asked again"
            raise CannotJudgeError(ERROR, why)

    def _found(self, case: Case) -> float:
        ahead = self._ahead.pop(case, None)
        return self._computed(case) if ahead is None else ahead

    def _computed(self, case: Case) -> float:
        own = {_IN_POINTS[self.metric.name]: case.near} if self.metric.name in _IN_POINTS else {}
        return self.value_of(_scored(case), case.near, lambda: _called(case), own)

    @cached_property
    def _takes_all_for_none(self) -> bool:
        """Whether the metric is one of scores, to which detections at every point are a constant, as silence is."""
        everywhere, nowhere = (Case((0, 1, 1), (found,) * 3, near=2) for found in (1, 0))
        return self.metric.takes == "scores" and abs(self._computed(everywhere) - self._computed(nowhere)) <= TOLERANCE

    def value_of(
        self, scored: Scored, near: float, called: Callable[[], str], own: Mapping[str, Any] | None = None
    ) -> float:
        """Return the metric's value of any series; NaN where it is undefined.

        ``called`` is what errors call the series, ``own`` has parameters that are not the metric's defaults.
        """
        self._check_time()
        try:
            return value_of_metric(self.metric, scored, float(near), own or {})
        except UndefinedError:
            return math.nan
        except errors_of_work() as error:
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            raise CannotJudgeError(ERROR, f"{self.metric.label} fails for {called()}: {reason}") from error

    def values_of(self, several: Iterable[Scored], near: float, called: Callable[[], str]) -> list[float]:
        """Return the same of several series, which are computed together if they are short."""
        self._check_time()
        drawn = list(several)
        known = values_of_metric(self.metric, [(scored, float(near)) for scored in drawn])
        pairs = zip(drawn, known, strict=True)
        return [self.value_of(scored, near, called) if value is None else value for scored, value in pairs]

    def _check_time(self) -> None:
        if self._clock() > self._until:
            why = f"{self.metric.label} took more than {self.seconds:g} s, so the rest was left out"
            raise CannotJudgeError(TOO_SLOW, why)


def _called(case: Case) -> str:
    labels, found = case.drawn()
    return f"labels {labels} and {found}, near {case.near}"


def _scored(case: Case) -> Scored:
    found = np.array(case.found, dtype=np.float64)
    return Scored(_labelled(case.labels), found, binary=set(case.found) <= {0, 1})


@lru_cache(maxsize=4096)
def _labelled(labels: Levels) -> Labelled:
    return Labelled(Case(labels, labels, 0).arrays()[0])
