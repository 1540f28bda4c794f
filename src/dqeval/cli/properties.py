"""``dqeval properties``: which properties metrics have, with counter-examples."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dqeval.cli import output
from dqeval.cli.bench_work import Workers, processes
from dqeval.cli.options import SEVERAL, Modules, Output, PlainForm, check_page, complete_metrics
from dqeval.cli.output_formats import OutputFormat
from dqeval.support.modules import found_from_anywhere
from dqeval.support.writing import write_text


def properties(
    metrics: Annotated[
        list[str] | None,
        typer.Argument(
            help="Metrics, or groups of them; all that are registered if none is named.",
            metavar="METRIC",
            show_default=False,
            autocompletion=complete_metrics,
        ),
    ] = None,
    question: Annotated[
        list[str] | None, typer.Option(help=f"Ask for these properties only. {SEVERAL}", metavar="NAMES")
    ] = None,
    examples: Annotated[
        int, typer.Option(help="Random series per property, beside all short ones.", min=0, metavar="NUMBER")
    ] = 200,
    seconds: Annotated[
        float,
        typer.Option(
            help="The most processor time that a metric may take; if it hangs, it is stopped after five times as long.",
            metavar="SECONDS",
        ),
    ] = 30,
    html: Annotated[
        Path | None,
        typer.Option(help="Also write an HTML page, on which a click shows the counter-example.", metavar="FILE"),
    ] = None,
    workers: Workers = None,
    form: PlainForm = OutputFormat.TABLE,
    path: Output = None,
    module: Modules = None,
) -> None:
    """Show which properties metrics have, and a counter-example for each that they lack."""
    from dqeval.core.registry import split_names
    from dqeval.lab.matrix import QUESTIONS, properties

    if html is not None:
        check_page(html)
    asked = None if question is None else split_names(question, QUESTIONS)
    names = split_names(metrics or ["all"], ())
    with output.progress("examining") as tell:
        found = properties(
            names,
            questions=asked,
            examples=examples,
            seconds=seconds,
            workers=processes(workers),
            modules=found_from_anywhere(module or ()),
            progress=tell,
        )
    if html is not None:
        write_text(html, found.html_page())
        output.tell(f"wrote {html}")
    if html is None or path is not None or form is not OutputFormat.TABLE:
        output.emit(found, form, path, found.numbers)
