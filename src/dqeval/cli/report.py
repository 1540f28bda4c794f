"""``dqeval report``: the interactive page."""

from __future__ import annotations

from typing import Annotated

import typer

from dqeval.cli import gate
from dqeval.cli.options import FailUnder, Files, Label, Modules, NearRange, Pages, Period, Score, Value, check_page
from dqeval.cli.results import Chosen, each_written, expanded, places_for


def report(
    files: Files,
    path: Pages,
    opened: Annotated[bool, typer.Option("--open", help="Open the report in a browser.")] = False,
    near: NearRange = None,
    period: Period = None,
    label: Label = None,
    value: Value = None,
    score: Score = None,
    fail_under: FailUnder = None,
    module: Modules = None,
) -> None:
    """Write an interactive report: one HTML file per series that needs no server and no network."""
    from dqeval.analysis.several import Several
    from dqeval.render.series_page import report

    limits = gate.limits(fail_under, gate.all_names())
    inputs = expanded(files)
    places = places_for(inputs, path, "html", check_page)
    found = each_written(
        "report",
        inputs,
        places,
        Chosen(label, value, score),
        lambda series, place, tell: report(series, place, near=near, period=period, progress=tell),
    )
    if opened:
        import webbrowser

        webbrowser.open(places[0].resolve().as_uri())
    gate.enforce(limits, Several(tuple(found)).means)
