"""The commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dqeval.cli import benching, detection, gate, output, reproducing
from dqeval.cli.options import (
    FailUnder,
    Figure,
    File,
    Files,
    Form,
    Format,
    Label,
    NearRange,
    Output,
    Page,
    Period,
    Score,
    Value,
)
from dqeval.cli.work import Chosen, about, show, spare

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


def _print_version(wanted: bool) -> None:
    if wanted:
        import dqeval

        form = "compiled" if dqeval.kernels.compiled else "interpreted"
        output.say(f"dqeval {dqeval.__version__} (kernels {form})")
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


@app.command()
def score(
    files: Files,
    metrics: Annotated[str, typer.Option(help="Metrics, comma-separated: dqeval metrics lists them.")] = "all",
    near: NearRange = None,
    period: Period = None,
    exact: Annotated[bool, typer.Option("--exact", help="Integrate DQE over all thresholds, not 100.")] = False,
    per_event: Annotated[bool, typer.Option("--per-event", help="Show every event too.")] = False,
    label: Label = None,
    value: Value = None,
    score: Score = None,
    form: Form = Format.TABLE,
    path: Output = None,
    fail_under: FailUnder = None,
) -> None:
    """Score every detector in one or several files with every metric."""
    names = _metric_names(metrics)
    limits = gate.limits(fail_under, gate.names_with(names))
    parameters = {
        "metrics": names,
        "near": near,
        "period": period,
        "thresholds": "exact" if exact else 100,
        "per_event": per_event,
    }
    result = show("score", files, Chosen(label, value, score), parameters, form=form, output=path)
    gate.enforce(limits, gate.values_of(result))


@app.command()
def compare(
    file: File,
    near: NearRange = None,
    period: Period = None,
    label: Label = None,
    value: Value = None,
    score: Score = None,
    form: Form = Format.TABLE,
    path: Output = None,
    fail_under: FailUnder = None,
) -> None:
    """Compare the detectors in a file: side by side, at each event, with chance, and where metrics disagree."""
    limits = gate.limits(fail_under, _all_names())
    parameters = {"near": near, "period": period}
    result = show("compare", [file], Chosen(label, value, score), parameters, form=form, output=path)
    gate.enforce(limits, gate.values_of(result))


@app.command()
def explain(
    file: File,
    near: NearRange = None,
    period: Period = None,
    label: Label = None,
    value: Value = None,
    score: Score = None,
    form: Form = Format.TABLE,
    path: Output = None,
    fail_under: FailUnder = None,
) -> None:
    """Say in plain words what a detector does at each event, what costs most, and what would mend it."""
    limits = gate.limits(fail_under, gate.names_with(["dqe"]))
    parameters = {"near": near, "period": period}
    result = show("explain", [file], Chosen(label, value, score), parameters, form=form, output=path)
    gate.enforce(limits, gate.values_of(result))


@app.command()
def report(
    file: File,
    path: Page,
    opened: Annotated[bool, typer.Option("--open", help="Open the report in a browser.")] = False,
    near: NearRange = None,
    period: Period = None,
    label: Label = None,
    value: Value = None,
    score: Score = None,
    fail_under: FailUnder = None,
) -> None:
    """Write an interactive report: one HTML file that needs no server and no network."""
    from dqeval.report import report

    limits = gate.limits(fail_under, _all_names())
    spare([file], path)
    with output.progress("report") as tell, output.written(path) as place:
        series = Chosen(label, value, score).read_only(file, tell)
        with about(series.name):
            comparison = report(series, place, near=near, period=period, progress=tell)
    if opened:
        import webbrowser

        webbrowser.open(path.resolve().as_uri())
    gate.enforce(limits, gate.values_of(comparison))


@app.command()
def plot(
    file: File,
    path: Figure,
    near: NearRange = None,
    period: Period = None,
    label: Label = None,
    value: Value = None,
    score: Score = None,
    fail_under: FailUnder = None,
) -> None:
    """Draw the figure for a paper: series, labels, regions, scores, DQE against the threshold."""
    from dqeval.report.figure import draw, ending
    from dqeval.scoring import named_values

    limits = gate.limits(fail_under, gate.names_with(["dqe"]))
    ending(path)
    spare([file], path)
    with output.progress("plot") as tell, output.written(path) as place:
        series = Chosen(label, value, score).read_only(file, tell)
        with about(series.name):
            found = draw(series, place, near=near, period=period)
    gate.enforce(limits, {name: named_values(panel) for name, panel in found.items()})


@app.command()
def check(
    file: File,
    label: Label = None,
    value: Value = None,
    score: Score = None,
    form: Form = Format.TABLE,
    path: Output = None,
) -> None:
    """Find trouble in labels and scores before anyone trusts a number: exit code 1 if there is an error."""
    from dqeval.check import Checked

    result = show("check", [file], Chosen(label, value, score), {}, form=form, output=path)
    if isinstance(result, Checked) and result.failed:
        raise typer.Exit(1)


@app.command()
def verify(
    receipt: Annotated[Path, typer.Argument(help="What a command wrote with --format json.", metavar="RECEIPT")],
    files: Annotated[list[Path], typer.Argument(help="The files it was made from, in the same order.", metavar="FILE")],
    form: Form = Format.TABLE,
    path: Output = None,
) -> None:
    """Make the numbers of a receipt again, and compare: exit code 1 if they, or the files, are not the same."""
    from dqeval.receipts import read_receipt, verify

    content = read_receipt(receipt)
    with output.progress("verify") as tell:
        found = verify(content, files, progress=tell)
    output.emit(found, form, path, found.numbers)
    if not found.holds:
        raise typer.Exit(1)


@app.command()
def metrics(form: Form = Format.TABLE, path: Output = None) -> None:
    """Say what each metric is, takes, follows and costs."""
    from dqeval.cli.listing import Metrics

    found = Metrics()
    output.emit(found, form, path, found.numbers)


app.command()(detection.detect)
app.command()(detection.detectors)
app.add_typer(detection.datasets, name="datasets")
app.add_typer(benching.bench, name="bench")
app.command()(reproducing.reproduce)


@app.command()
def demo() -> None:
    """Show what dqeval tells about three detectors on a generated series."""
    from dqeval.cli.demo import screen

    output.say(screen())


def _metric_names(given: str) -> list[str]:
    """Return the names in a list separated by commas, or all."""
    from dqeval.registry import METRICS

    names = [name.strip() for name in given.split(",") if name.strip()]
    return list(METRICS.names) if names == ["all"] else [METRICS[name].name for name in names]


def _all_names() -> list[str]:
    return gate.names_with(_metric_names("all"))
