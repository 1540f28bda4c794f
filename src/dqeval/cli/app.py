"""The application: all commands, in the order of the help.

A new one is a function in a module of its own, a line below, and examples in `dqeval.cli.examples`: a test asks for
them. A subcommand goes to `dqeval.cli.bench` or `dqeval.cli.datasets` instead, and has examples too.

If its JSON is a receipt, which `dqeval verify` makes again, it calls `dqeval.cli.results.show`, and has a line in
`dqeval.analysis.receipt_commands`; `explain` is a short one. ``show`` needs a `Result` of `dqeval.analysis.result`,
usually a class in a new ``analysis/…_result.py``. Otherwise it calls `dqeval.cli.output.emit` with a `Shown`, as
`diff` does, or ``write_each`` of `dqeval.cli.results`, as `report` and `plot` do.
"""

from __future__ import annotations

from typing import Annotated

import typer

from dqeval.cli import (
    bench,
    check,
    compare,
    datasets,
    demo,
    detect,
    detectors,
    diff,
    explain,
    metrics,
    near,
    output,
    plot,
    properties,
    rank,
    report,
    reproduce,
    score,
    stress,
    verify,
)
from dqeval.cli.help import App

app = App(pretty_exceptions_enable=False)


def _print_version(wanted: bool) -> None:
    if wanted:
        output.say_version()
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and exit.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """How good a time-series anomaly detector is, event by event, and why."""
    if context.invoked_subcommand is None:
        output.say(context.get_help())


app.command()(demo.demo)
app.command()(score.score)
app.command()(compare.compare)
app.command()(diff.diff)
app.command()(rank.rank)
app.command()(explain.explain)
app.command()(near.near)
app.command()(stress.stress)
app.command()(report.report)
app.command()(plot.plot)
app.command()(check.check)
app.command()(verify.verify)
app.command()(metrics.metrics)
app.command()(properties.properties)
app.command()(detect.detect)
app.command()(detectors.detectors)
app.add_typer(datasets.datasets, name="datasets")
app.add_typer(bench.bench, name="bench")
app.command()(reproduce.reproduce)
