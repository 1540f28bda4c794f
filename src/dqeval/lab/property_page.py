"""The matrix of metrics and properties as an HTML page on which a click shows the counter-example."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dqeval.lab.answers import NO, YES, Answer
from dqeval.lab.judge import ERROR, TOO_SLOW
from dqeval.render.html import fill_template
from dqeval.render.tables import count_of
from dqeval.support.versions import made_with

if TYPE_CHECKING:
    from dqeval.lab.matrix_result import PropertyMatrix

_KINDS = {YES: "yes", NO: "no", ERROR: "trouble", TOO_SLOW: "trouble"}  # how words are coloured


def page_of(matrix: PropertyMatrix) -> str:
    """Return the page."""
    groups = [
        {
            "title": title,
            "questions": questions,
            "rows": [
                {"label": label, "cells": [_cell(matrix.answer(metric, each.name)) for each in questions]}
                for metric, label in matrix.labels.items()
            ],
        }
        for title, questions in matrix.groups.items()
    ]
    details = [_detail(matrix.labels[answer.metric], answer) for answer in matrix.answers]
    counted = count_of(len(matrix.labels), "metric")
    return fill_template(
        "property_page.html", groups=groups, details=details, metrics=counted, version=made_with()["dqeval"]
    )


def _cell(answer: Answer) -> dict[str, str]:
    return {"id": _id(answer), "word": answer.cell, "kind": _KINDS.get(answer.word, "words")}


def _detail(label: str, answer: Answer) -> dict[str, Any]:
    most = max((abs(point.mean) for point in answer.curve), default=0.0) or 1.0
    return {
        "id": _id(answer),
        "label": label,
        "question": answer.question,
        "word": answer.word,
        "sentence": answer.sentence,
        "scope": answer.scope,
        "examples": [example.lines() for example in answer.examples],
        "curve": [
            {"at": point.at, "mean": point.mean, "deviation": point.deviation, "width": 100 * max(point.mean, 0) / most}
            for point in answer.curve
        ],
    }


def _id(answer: Answer) -> str:
    return f"{answer.metric}--{answer.question}"
