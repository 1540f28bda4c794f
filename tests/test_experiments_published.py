"""DQE as the authors' code computed it: against its description, and where it is the same as here."""

import math
from itertools import pairwise
from math import floor, log2, sqrt

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import dqeval
from dqeval.experiments.published import published_dqe
from strategies import labelled, labels, scores


class TestPublishedDQE:
    """Of DQE as the authors' code computed it."""

    @given(labelled(scores).filter(lambda both: (np.diff(both[0], prepend=0) == 1).sum() == 1), st.integers(0, 40))
    @example((np.array([1, 0]), np.array([0.5, 1.0])), 0)  # false alarms have a single point
    def test_one_event_differs_only_in_the_near_range(self, both, period):
        y_true, y_score = both
        found = published_dqe(y_true, y_score, period=period)
        ours = dqeval.evaluate(y_true, y_score, near=floor(period / 2))
        for one, other in zip((found.mean, *found.per_event), (ours, *ours.per_event), strict=True):
            assert four(one) == pytest.approx(four(other), abs=1e-7)

    @given(labelled(scores, most=10), st.integers(2, 20))
    @pytest.mark.unmeasured
    def test_is_what_its_description_says(self, both, period):
        y_true, y_score = both
        found = published_dqe(y_true, y_score, period=period)
        assert [four(event) for event in found.per_event] == pytest.approx(np.array(slow(*both, period // 2)), abs=1e-7)
        assert four(found.mean) == pytest.approx(np.mean([four(event) for event in found.per_event], axis=0))

    @given(labels())
    @pytest.mark.unmeasured
    def test_constant_scores_are_worth_nothing(self, y_true):
        assert four(published_dqe(y_true, np.full(len(y_true), 3.0), period=4).mean) == (0, 0, 0, 0)

    @pytest.mark.parametrize(
        ("late", "early", "first", "second"),
        [
            # 18 and 17 points of false-alarm pieces around the first event, 17 and 16 around the second. What is merged
            # lasts from the start of one part to the end of the other.
            ((30, 33), (44, 45), 1 - 15 / 17.5, 1),
            ((38, 39), (44, 47), 1, 1 - 9 / 16.5),
            ((30, 31), (44, 45), 1 - 15 / 17.5, 1),
            ((38, 41), (41, 45), 1, 1 - 7 / 16.5),
            ((30, 33), None, 1 - 3 / 17.5, 1),
            (None, (44, 47), 1, 1 - 3 / 16.5),
        ],
        ids=["late is longer", "early is longer", "tie", "across the border", "late alone", "early alone"],
    )
    def test_false_alarms_are_merged_across_the_border(self, late, early, first, second):
        y_true, detected = np.zeros(80, int), np.zeros(80)
        for start in (20, 60):
            y_true[start : start + 2] = detected[start : start + 2] = 1
        for span in (late, early):
            if span is not None:
                detected[slice(*span)] = 1
        found = published_dqe(y_true, detected, period=5)
        assert [event.false_alarm for event in found.per_event] == pytest.approx([first, second])
        # Where there are false alarms, an empty near range is worth nothing.
        assert [event.dqe for event in found.per_event] == pytest.approx(
            [sqrt((1 + (fa == 1)) / 2 * fa) for fa in (first, second)]
        )

    def test_more_false_alarms_stay_apart(self):
        y_true, detected = np.zeros(80, int), np.zeros(80)
        y_true[[20, 21, 60, 61]] = detected[[20, 60]] = 1
        detected[[28, 34, 35, 44, 50]] = 1  # the last before the border and the first after it become one
        found = published_dqe(y_true, detected, period=4)
        first, second = (event.false_alarm for event in found.per_event)
        assert first == pytest.approx((1 - 1 / log2(35)) * (1 - (1 + 11) / 17.5))
        assert second == pytest.approx(1 - 1 / 16.5)

    def test_near_pieces_overlap(self):
        y_true, detected = np.zeros(50, int), np.zeros(50)
        y_true[[20, 21, 26, 27]] = 1
        detected[24] = 1  # two points after the one event, one point before the other
        first, second = published_dqe(y_true, detected, period=9).per_event
        assert first.near_miss == pytest.approx((1 - 2 / 4) * (1 - 2.5 / 4) * (1 - 1 / 8))
        assert second.near_miss == pytest.approx((1 - 1 / 4) * (1 - 1.5 / 4) * (1 - 1 / 8))
        assert (first.false_alarm, second.false_alarm) == (1, 1)
        ours = dqeval.evaluate(y_true, detected, near=4)
        assert ours.per_event[0].near_miss == 0


def four(found):
    return found.dqe, found.capture, found.near_miss, found.false_alarm


def slow(y_true, y_score, near):
    """Return DQE as published, point by point of its description: intervals in lists, cut one border at a time."""
    span = max(y_score) - min(y_score)
    scaled = [(score - min(y_score)) / span if span else 0.0 for score in y_score]
    events, length = intervals(y_true), len(y_true)
    pieces = []
    for i, (start, stop) in enumerate(events):
        before = events[i - 1][1] if i else 0
        after = events[i + 1][0] if i + 1 < len(events) else length
        pieces.append({"early": max(start - near, before), "late": min(stop + near, after)})
    for i, piece in enumerate(pieces):
        piece["left"] = (pieces[i - 1]["late"] + piece["early"]) / 2 if i else 0
        piece["right"] = (piece["late"] + pieces[i + 1]["early"]) / 2 if i + 1 < len(pieces) else length
    borders = {border for piece, event in zip(pieces, events, strict=True) for border in (*piece.values(), *event)}
    rows = []
    for threshold in np.linspace(1, 0, 101)[:-1]:
        parts = intervals([score >= threshold for score in scaled])
        for border in borders:
            parts = [cut for a, b in parts for cut in ([(a, border), (border, b)] if a < border < b else [(a, b)])]
        groups = [grouped(parts, piece, event) for piece, event in zip(pieces, events, strict=True)]
        for one, other in pairwise(groups):
            if one["late fa"] and other["early fa"]:
                (a1, b1), (a2, b2) = one["late fa"].pop(), other["early fa"].pop(0)
                if b1 - a1 >= b2 - a2:
                    one["late fa"].append((a1, b2))
                else:
                    other["early fa"].insert(0, (a1, b2))
        rows.append([rated(*each, near) for each in zip(groups, pieces, events, strict=True)])
    return np.mean(rows, axis=0)


def intervals(flags):
    points = [t for t, flag in enumerate(flags) if flag]
    starts = [t for t in points if t - 1 not in points]
    return [(start, next(t for t in range(start, len(flags) + 1) if t not in points)) for start in starts]


def grouped(parts, piece, event):
    spans = {
        "early fa": (piece["left"], piece["early"]),
        "early nm": (piece["early"], event[0]),
        "cap": event,
        "late nm": (event[1], piece["late"]),
        "late fa": (piece["late"], piece["right"]),
    }
    return {name: sorted((a, b) for a, b in parts if low <= a < b <= high) for name, (low, high) in spans.items()}


def rated(group, piece, event, near):
    captured, near_miss, false_alarm = float(bool(group["cap"])), 1.0, 1.0
    lasts = [b - a for a, b in group["early nm"] + group["late nm"]]
    if lasts:
        gaps = [event[0] - b for _, b in group["early nm"]] + [a - event[1] for a, _ in group["late nm"]]
        middles = [event[0] - (a + b) / 2 for a, b in group["early nm"]]
        middles += [(a + b) / 2 - event[1] for a, b in group["late nm"]]
        near_miss = max(0, 1 - min(gaps) / near) * max(0, 1 - np.mean(middles) / near)
        near_miss *= max(0, 1 - sum(lasts) / (2 * near))
    alarms = group["early fa"] + group["late fa"]
    if alarms:
        before, after = max(0, piece["early"] - piece["left"]), max(0, piece["right"] - piece["late"])
        false_alarm = max(0, 1 - sum(b - a for a, b in alarms) / ((before + after) / 2))
        if before + after > 1:
            bins = math.ceil(before + after)
            signed = [(a + b) / 2 - piece["early"] for a, b in group["early fa"]]
            signed += [(a + b) / 2 - piece["late"] for a, b in group["late fa"]]
            edges = np.linspace(-before, after, bins + 1)
            held = {min(max(sum(edge <= x for edge in edges) - 1, 0), bins - 1) for x in signed}
            false_alarm *= 1 - log2(len(held)) / log2(bins)
    if not lasts and (not captured or alarms):
        near_miss = 0.0
    if not captured and not lasts and not alarms:
        false_alarm = 0.0
    return sqrt((captured + near_miss) / 2 * false_alarm), captured, near_miss, false_alarm
